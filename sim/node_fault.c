/* What is done to the store node.
 *
 * While its process is paused, or its machine sleeps or is frozen, calls wait. The clock that its
 * store goes by runs on in a pause and in a sleep, and stands still in a freeze. A crash of the
 * process loses what lies in memory: the calls that wait are lost with it, and since their clients
 * cannot know whether they were taken, no answer comes. A call that arrives while the process is
 * down is answered `unavailable`. A crash of the machine also loses what no sync has reached, and
 * the machine comes up on another boot. */
#include "node_fault.h"

#include "client.h"
#include "clock_fault.h"
#include "disk_fault.h"
#include "fault.h"
#include "node.h"
#include "slow.h"
#include "tenure.h"
#include "world_events.h"

#include <string.h>

static void end_by_line(struct lapse_world *world, int32_t step, enum lapse_fault_kind kind);
static void end_hold(struct lapse_world *world, enum lapse_fault_kind kind, int32_t step);
static void crash(struct lapse_world *world, int32_t step, const struct lapse_plan_fault *fault);
static void lose_parked(struct lapse_world *world);
static void restart(struct lapse_world *world, int32_t step, bool machine);
static void hold_clock(struct lapse_world *world, enum lapse_fault_kind kind, bool on);
static void push_end(struct lapse_world *world, enum lapse_queue_kind kind, int32_t step,
                     enum lapse_fault_kind ended, int64_t at_ns);
static void emit(struct lapse_world *world, bool begins, enum lapse_fault_kind kind, int32_t step,
                 int64_t until_ns);

void lapse_sim_node_fault_step(struct lapse_world *world, int32_t step,
                               const struct lapse_plan_fault *fault) {
    if (fault->ends) {
        end_by_line(world, step, fault->kind);
        return;
    }
    switch (fault->kind) {
    case LAPSE_FAULT_PAUSE:
    case LAPSE_FAULT_SUSPEND:
    case LAPSE_FAULT_FREEZE:
        lapse_sim_node_stop(world, step, fault->kind, lapse_sim_fault_until(world, fault));
        break;
    case LAPSE_FAULT_STALL:
    case LAPSE_FAULT_DISK:
        lapse_sim_disk_fault_step(world, step, fault);
        break;
    case LAPSE_FAULT_CRASH:
    case LAPSE_FAULT_RESTART:
        lapse_sim_node_fall(world, step, fault);
        break;
    default:
        break;
    }
}

/* A disk that is healed lets go of a sync that it holds; a process that goes on does so whatever
 * held it, and a stall that has not come yet does not come. */
static void end_by_line(struct lapse_world *world, int32_t step, enum lapse_fault_kind kind) {
    if (kind == LAPSE_FAULT_DISK) {
        lapse_sim_disk_heal(world, step);
        end_hold(world, LAPSE_FAULT_STALL, step);
        return;
    }
    world->node.trouble.stall = false;
    end_hold(world, LAPSE_FAULT_PAUSE, step);
    end_hold(world, LAPSE_FAULT_SUSPEND, step);
    end_hold(world, LAPSE_FAULT_STALL, step);
    end_hold(world, LAPSE_FAULT_FREEZE, step);
}

void lapse_sim_node_fault_end(struct lapse_world *world, const struct lapse_queue_item *item) {
    if (item->kind == LAPSE_QUEUE_WAKE && item->id >= LAPSE_SIM_DISK_ENDS) {
        lapse_sim_disk_fault_end(world, item);
    } else if (item->kind == LAPSE_QUEUE_WAKE) {
        end_hold(world, (enum lapse_fault_kind)item->id, item->index);
    } else {
        restart(world, item->index, false);
    }
}

/* A pause within a pause, or a sleep within a sleep, can only make it longer. */
void lapse_sim_node_stop(struct lapse_world *world, int32_t step, enum lapse_fault_kind kind,
                         int64_t until) {
    struct lapse_sim_node *node = &world->node;
    struct lapse_sim_hold *held = &node->stops[lapse_sim_fault_stop(kind)];
    if (node->store == NULL) {
        return;
    }
    if (held->on && held->until_ns > until) {
        until = held->until_ns;
    }
    *held = (struct lapse_sim_hold){true, until};
    emit(world, true, kind, step, until);
    hold_clock(world, kind, true);
    push_end(world, LAPSE_QUEUE_WAKE, step, kind, until);
}

static void end_hold(struct lapse_world *world, enum lapse_fault_kind kind, int32_t step) {
    struct lapse_sim_hold *held = &world->node.stops[lapse_sim_fault_stop(kind)];
    if (!held->on) {
        return;
    }
    held->on = false;
    if (kind == LAPSE_FAULT_STALL) {
        lapse_sim_disk_let_go_all(world); /* first: to tell may take a sync of its own */
    }
    if (!lapse_sim_node_held(world)) {
        lapse_sim_node_tell(world); /* it was done before the node stopped */
    }
    emit(world, false, kind, step, INT64_MAX);
    hold_clock(world, kind, false);
    if (!lapse_sim_node_held(world)) {
        lapse_sim_node_wake(world);
    }
}

static void crash(struct lapse_world *world, int32_t step, const struct lapse_plan_fault *fault) {
    struct lapse_sim_node *node = &world->node;
    int64_t until = lapse_sim_fault_until(world, fault);
    bool was_up = node->store != NULL;
    if (fault->machine) {
        node->machine_down = true;
    }
    if (was_up) {
        emit(world, true, LAPSE_FAULT_CRASH, step, until);
        memset(node->stops, 0, sizeof node->stops);
        hold_clock(world, LAPSE_FAULT_SUSPEND, false);
        hold_clock(world, LAPSE_FAULT_FREEZE, false);
        node->housekeep_ns = INT64_MAX;
        lose_parked(world);
        lapse_sim_slow_crashed(world, -1, step);
        lapse_sim_tenure_end(world);
    }
    lapse_sim_disk_left(world);
    if (was_up || node->fell_opening) {
        push_end(world, LAPSE_QUEUE_RESTART, step, LAPSE_FAULT_CRASH, until);
    }
    node->fell_opening = false;
    if (fault->machine) {
        lapse_sim_disk_lose_unsynced(world, step);
    }
}

/* What was taken by nobody, or told to nobody, is not answered: of a call without `timeout` the end
 * of the run tells. An operator's act that waited has not run. */
static void lose_parked(struct lapse_world *world) {
    struct lapse_queue_list *parked = &world->node.parked;
    if (world->node.untold.on && world->node.untold.is_call) {
        lapse_sim_client_lose(world, &world->calls[world->node.untold.item.index]);
    }
    world->node.untold.on = false;
    for (size_t i = 0; i < parked->count; i++) {
        if (parked->items[i].kind != LAPSE_QUEUE_REQUEST) {
            continue;
        }
        struct lapse_sim_call *call = &world->calls[parked->items[i].index];
        if (call->id == parked->items[i].id) {
            lapse_sim_client_lose(world, call);
        }
    }
    parked->count = 0;
}

/* A store that does not open leaves the process down: it may be started again. */
static void restart(struct lapse_world *world, int32_t step, bool machine) {
    struct lapse_sim_node *node = &world->node;
    node->machine_down = node->machine_down || machine;
    if (node->machine_down) {
        lapse_sim_clock_reboot(&node->clock, world->now);
    }
    if (lapse_sim_tenure_reopen(world, step)) {
        emit(world, false, LAPSE_FAULT_CRASH, step, INT64_MAX);
        lapse_sim_tenure_begin(world, step);
        node->machine_down = false;
    }
}

/* At a point inside what the store is doing, the disk takes nothing more, and the rest comes when
 * the store has given up. */
void lapse_sim_node_fall(struct lapse_world *world, int32_t step,
                         const struct lapse_plan_fault *fault) {
    if (world->node.inside) {
        world->node.trouble.dead = true;
        world->node.fall = (struct lapse_sim_fall){true, step};
        return;
    }
    crash(world, step, fault);
    if (fault->kind == LAPSE_FAULT_RESTART) {
        restart(world, step, fault->machine);
    }
}

/* Housekeeping is set again when the node wakes. */
static void hold_clock(struct lapse_world *world, enum lapse_fault_kind kind, bool on) {
    if (kind == LAPSE_FAULT_SUSPEND) {
        lapse_sim_clock_set_asleep(&world->node.clock, world->now, on);
    } else if (kind == LAPSE_FAULT_FREEZE) {
        lapse_sim_clock_set_frozen(&world->node.clock, world->now, on);
    }
}

/* Where the end is known. */
static void push_end(struct lapse_world *world, enum lapse_queue_kind kind, int32_t step,
                     enum lapse_fault_kind ended, int64_t at_ns) {
    if (at_ns == INT64_MAX) {
        return;
    }
    lapse_world_push(world, &(struct lapse_queue_item){.at_ns = at_ns,
                                                       .phase = LAPSE_PHASE_FAULTS,
                                                       .kind = kind,
                                                       .rank = step,
                                                       .due_ns = at_ns,
                                                       .actor = -1,
                                                       .incarnation = world->node.tenure,
                                                       .index = step,
                                                       .id = (int64_t)ended});
}

static void emit(struct lapse_world *world, bool begins, enum lapse_fault_kind kind, int32_t step,
                 int64_t until_ns) {
    struct lapse_history_event event = lapse_world_event(
        world, begins ? LAPSE_HISTORY_FAULT_BEGIN : LAPSE_HISTORY_FAULT_END, -1, step);
    event.u.fault.kind = kind;
    event.u.fault.node = 0;
    event.u.fault.machine = kind == LAPSE_FAULT_CRASH && world->node.machine_down;
    event.u.fault.has_until = until_ns < INT64_MAX;
    event.u.fault.until.ns = event.u.fault.has_until ? until_ns : 0;
    (void)lapse_world_emit(world, &event);
}
