/* What is done to clients. The node has a file of its own, node_fault.c.
 *
 * A paused actor's clocks run on; while its machine sleeps the monotonic one stands still, and
 * while it is frozen all do. What comes due for it meanwhile is parked in order, and at its wake
 * goes back into the queue, oldest due first. A crashed one loses its tasks, timers and beliefs;
 * what it has sent is on its way all the same. */
#include "fault.h"

#include "belief.h"
#include "client.h"
#include "clock_fault.h"
#include "link.h"
#include "node_fault.h"
#include "slow.h"
#include "still.h"
#include "task.h"
#include "timer.h"
#include "watcher.h"
#include "work.h"
#include "world_events.h"

#include <stdio.h>
#include <string.h>

enum { INCARNATION_TEXT_MAX = 16 };

static void hold(struct lapse_world *world, int32_t step, const struct lapse_plan_fault *fault);
static void end_all_holds(struct lapse_world *world, int32_t actor, int32_t step);
static void end_hold(struct lapse_world *world, int32_t actor, enum lapse_fault_kind kind,
                     int32_t step);
static void wake(struct lapse_world *world, int32_t actor);
static void hold_clock(struct lapse_world *world, int32_t actor, enum lapse_fault_kind kind,
                       bool on);
static void crash(struct lapse_world *world, int32_t step, const struct lapse_plan_fault *fault);
static void emit_crash(struct lapse_world *world, int32_t step,
                       const struct lapse_plan_fault *fault, const int64_t *until_ns);
static void restart(struct lapse_world *world, int32_t actor, int32_t step);
static void drop_parked(struct lapse_world *world, struct lapse_sim_actor *actor);
static struct lapse_bytes owner_text(struct lapse_world *world, int32_t actor);
static void push_end(struct lapse_world *world, enum lapse_queue_kind kind, int32_t step,
                     const struct lapse_plan_fault *fault, int64_t at_ns);

void lapse_sim_fault_step(struct lapse_world *world, int32_t step) {
    lapse_sim_fault_do(world, step, &world->plan->steps[step].u.fault);
}

void lapse_sim_fault_do(struct lapse_world *world, int32_t step,
                        const struct lapse_plan_fault *fault) {
    if (fault->kind == LAPSE_FAULT_CLOCK) {
        lapse_sim_clock_fault_do(world, step, fault);
    } else if (fault->kind == LAPSE_FAULT_CUT || fault->kind == LAPSE_FAULT_LINK) {
        lapse_sim_link_fault_step(world, step, fault);
    } else if (fault->kind == LAPSE_FAULT_STARVE || fault->kind == LAPSE_FAULT_SLOW) {
        lapse_sim_slow_fault_step(world, step, fault);
    } else if (fault->actor < 0) {
        lapse_sim_node_fault_step(world, step, fault);
    } else if (fault->ends) {
        end_all_holds(world, fault->actor, step);
    } else if (fault->kind == LAPSE_FAULT_CRASH) {
        crash(world, step, fault);
    } else if (fault->kind == LAPSE_FAULT_RESTART) {
        crash(world, step,
              &(struct lapse_plan_fault){.actor = fault->actor, .node = -1, .keeps = fault->keeps});
        restart(world, fault->actor, step);
    } else {
        hold(world, step, fault);
    }
    lapse_world_check(world);
}

void lapse_sim_fault_end(struct lapse_world *world, const struct lapse_queue_item *item) {
    if (item->actor < 0) {
        lapse_sim_node_fault_end(world, item);
    } else if (item->kind == LAPSE_QUEUE_WAKE) {
        end_hold(world, item->actor, (enum lapse_fault_kind)item->id, item->index);
    } else {
        restart(world, item->actor, item->index);
    }
    lapse_world_check(world);
}

void lapse_sim_fault_incarnate(struct lapse_world *world, int32_t actor) {
    struct lapse_sim_actor *who = &world->actors[actor];
    bool another = !who->keeps; /* with its memory it is the one that it was */
    who->incarnation += another ? 1 : 0;
    who->up = true;
    who->stopped = false;
    who->has_look = false;
    who->keeps = false;
    if (another) {
        who->owner = owner_text(world, actor);
    }
    lapse_sim_task_begin_all(world, actor);
}

enum lapse_sim_stop lapse_sim_fault_stop(enum lapse_fault_kind kind) {
    switch (kind) {
    case LAPSE_FAULT_PAUSE:
        return LAPSE_SIM_STOP_PAUSE;
    case LAPSE_FAULT_SUSPEND:
        return LAPSE_SIM_STOP_SUSPEND;
    case LAPSE_FAULT_FREEZE:
        return LAPSE_SIM_STOP_FREEZE;
    default:
        LAPSE_ASSERT(kind == LAPSE_FAULT_STALL);
        return LAPSE_SIM_STOP_STALL;
    }
}

bool lapse_sim_fault_stopped(const struct lapse_sim_hold *stops, size_t count) {
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        any = any || stops[i].on;
    }
    return any;
}

bool lapse_sim_fault_wake_stale(const struct lapse_sim_actor *actor,
                                const struct lapse_queue_item *item) {
    enum lapse_sim_stop stop = lapse_sim_fault_stop((enum lapse_fault_kind)item->id);
    const struct lapse_sim_hold *held = &actor->stops[stop];
    return !held->on || held->until_ns != item->at_ns;
}

int64_t lapse_sim_fault_until(const struct lapse_world *world,
                              const struct lapse_plan_fault *fault) {
    int64_t until = INT64_MAX;
    if (fault->has_for && !lapse_ns_add(world->now.ns, fault->for_ns, &until)) {
        until = INT64_MAX;
    }
    return until;
}

/* A pause within a pause, or a sleep within a sleep, can only make it longer. */
static void hold(struct lapse_world *world, int32_t step, const struct lapse_plan_fault *fault) {
    struct lapse_sim_actor *actor = &world->actors[fault->actor];
    struct lapse_sim_hold *held = &actor->stops[lapse_sim_fault_stop(fault->kind)];
    int64_t until = lapse_sim_fault_until(world, fault);
    if (!actor->up) {
        return;
    }
    if (!actor->paused) {
        actor->paused_at_ns = lapse_sim_timer_now(world, fault->actor);
    }
    if (held->on && held->until_ns > until) {
        until = held->until_ns;
    }
    *held = (struct lapse_sim_hold){true, until};
    actor->paused = true;
    bool known = until < INT64_MAX;
    lapse_world_emit_fault(world, true, fault->kind, fault->actor, step, known ? &until : NULL);
    hold_clock(world, fault->actor, fault->kind, true);
    if (known) {
        push_end(world, LAPSE_QUEUE_WAKE, step, fault, until);
    }
}

static void end_all_holds(struct lapse_world *world, int32_t actor, int32_t step) {
    end_hold(world, actor, LAPSE_FAULT_PAUSE, step);
    end_hold(world, actor, LAPSE_FAULT_SUSPEND, step);
    end_hold(world, actor, LAPSE_FAULT_FREEZE, step);
}

static void end_hold(struct lapse_world *world, int32_t actor, enum lapse_fault_kind kind,
                     int32_t step) {
    struct lapse_sim_actor *who = &world->actors[actor];
    struct lapse_sim_hold *held = &who->stops[lapse_sim_fault_stop(kind)];
    if (!held->on) {
        return;
    }
    held->on = false;
    who->paused = lapse_sim_fault_stopped(who->stops, LAPSE_SIM_STOPS_ACTOR);
    lapse_world_emit_fault(world, false, kind, actor, step, NULL);
    hold_clock(world, actor, kind, false);
    if (!who->paused) {
        wake(world, actor);
    }
}

static void wake(struct lapse_world *world, int32_t actor) {
    struct lapse_sim_actor *who = &world->actors[actor];
    for (size_t i = 0; i < who->parked.count; i++) {
        struct lapse_queue_item item = who->parked.items[i];
        item.at_ns = world->now.ns;
        item.phase = LAPSE_PHASE_UNDER_WAY;
        item.rank = item.due_ns;
        lapse_world_push(world, &item);
    }
    who->parked.count = 0;
    lapse_sim_work_stretch(world, actor);
    lapse_sim_still_look(world);
}

/* What a hold does to the machine's clocks. */
static void hold_clock(struct lapse_world *world, int32_t actor, enum lapse_fault_kind kind,
                       bool on) {
    struct lapse_sim_clock *clock = &world->actors[actor].clock;
    if (kind == LAPSE_FAULT_SUSPEND) {
        lapse_sim_clock_set_asleep(clock, world->now, on);
    } else if (kind == LAPSE_FAULT_FREEZE) {
        lapse_sim_clock_set_frozen(clock, world->now, on);
    }
    if (kind != LAPSE_FAULT_PAUSE) {
        lapse_sim_clock_changed(world, (struct lapse_party){LAPSE_PARTY_ACTOR, actor});
    }
}

static void crash(struct lapse_world *world, int32_t step, const struct lapse_plan_fault *fault) {
    struct lapse_sim_actor *who = &world->actors[fault->actor];
    int64_t until = lapse_sim_fault_until(world, fault);
    bool known = until < INT64_MAX;
    if (!who->up) {
        return;
    }
    emit_crash(world, step, fault, known ? &until : NULL);
    lapse_sim_task_kill_all(world, fault->actor);
    if (!fault->keeps) {
        lapse_sim_belief_end_all(world, fault->actor, LAPSE_BELIEF_CRASHED, step);
    }
    drop_parked(world, who);
    who->keeps = fault->keeps;
    who->up = false;
    who->paused = false;
    memset(who->stops, 0, sizeof who->stops);
    lapse_sim_clock_set_asleep(&who->clock, world->now, false);
    lapse_sim_clock_set_frozen(&who->clock, world->now, false);
    lapse_sim_slow_crashed(world, fault->actor, step);
    lapse_sim_client_gone(world, fault->actor);
    lapse_sim_watcher_client_gone(world, fault->actor);
    if (known) {
        push_end(world, LAPSE_QUEUE_RESTART, step, fault, until);
    }
}

static void emit_crash(struct lapse_world *world, int32_t step,
                       const struct lapse_plan_fault *fault, const int64_t *until_ns) {
    struct lapse_history_event event =
        lapse_world_event(world, LAPSE_HISTORY_FAULT_BEGIN, fault->actor, step);
    event.u.fault.kind = LAPSE_FAULT_CRASH;
    event.u.fault.node = -1;
    event.u.fault.keeps = fault->keeps;
    event.u.fault.has_until = until_ns != NULL;
    event.u.fault.until.ns = until_ns == NULL ? 0 : *until_ns;
    (void)lapse_world_emit(world, &event);
}

static void restart(struct lapse_world *world, int32_t actor, int32_t step) {
    lapse_sim_fault_incarnate(world, actor);
    lapse_world_emit_fault(world, false, LAPSE_FAULT_CRASH, actor, step, NULL);
}

static void drop_parked(struct lapse_world *world, struct lapse_sim_actor *actor) {
    for (size_t i = 0; i < actor->parked.count; i++) {
        const struct lapse_queue_item *item = &actor->parked.items[i];
        if (item->kind == LAPSE_QUEUE_REPLY) {
            lapse_sim_client_drop(world, item);
        } else if (item->kind == LAPSE_QUEUE_DELIVER) {
            lapse_sim_watcher_drop(world, item->payload);
        }
    }
    actor->parked.count = 0;
}

/* A fixed text; else the actor's name, with its incarnation after the first: w1, w1#2. */
static struct lapse_bytes owner_text(struct lapse_world *world, int32_t actor) {
    const struct lapse_setup_actor *setup = &world->plan->setup.actors[actor];
    int32_t incarnation = world->actors[actor].incarnation;
    if (setup->owner.len > 0 || incarnation == 1) {
        return setup->owner.len > 0 ? setup->owner : setup->name;
    }
    char *text = lapse_alloc_zero(world->alloc, setup->name.len + INCARNATION_TEXT_MAX);
    if (text == NULL) {
        lapse_world_fail(world, LAPSE_NOMEM, "no memory for an owner's text");
        return setup->name;
    }
    memcpy(text, setup->name.data, setup->name.len);
    int digits = snprintf(text + setup->name.len, INCARNATION_TEXT_MAX, "#%d", (int)incarnation);
    LAPSE_ASSERT(digits > 0);
    return (struct lapse_bytes){(const unsigned char *)text, setup->name.len + (size_t)digits};
}

static void push_end(struct lapse_world *world, enum lapse_queue_kind kind, int32_t step,
                     const struct lapse_plan_fault *fault, int64_t at_ns) {
    int32_t incarnation = world->actors[fault->actor].incarnation;
    lapse_world_push(world, &(struct lapse_queue_item){.at_ns = at_ns,
                                                       .phase = LAPSE_PHASE_FAULTS,
                                                       .kind = kind,
                                                       .rank = step,
                                                       .due_ns = at_ns,
                                                       .actor = fault->actor,
                                                       .incarnation = incarnation,
                                                       .index = step,
                                                       .id = (int64_t)fault->kind});
}
