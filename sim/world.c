/* The world: opened from a plan, run one queue item at a time. The main loop is lapse_world_run,
 * its body lapse_world_step with dispatch below it; what each item does is in the file named for
 * who it happens to. */
#include "sim/world.h"

#include "ask.h"
#include "await.h"
#include "belief.h"
#include "chaos.h"
#include "client.h"
#include "clock_fault.h"
#include "disk_fault.h"
#include "fault.h"
#include "link.h"
#include "loop.h"
#include "node.h"
#include "open.h"
#include "order.h"
#include "probe.h"
#include "program_run.h"
#include "slow.h"
#include "still.h"
#include "watcher.h"
#include "work.h"
#include "world_events.h"

#include <stdarg.h>
#include <stdio.h>

enum { CHECK_EVERY = 1024, FIRST_BYTES = 1024, FEWEST = 2, USUAL = 8 };

static void check_clocks(struct lapse_world *world);
static bool take_next(struct lapse_world *world, struct lapse_queue_item *ret);
static bool is_over(const struct lapse_world *world, const struct lapse_queue_item *first);
static bool is_stale(const struct lapse_world *world, const struct lapse_queue_item *item);
static bool is_of_strand(enum lapse_queue_kind kind);
static void drop(struct lapse_world *world, const struct lapse_queue_item *item);
static bool park(struct lapse_world *world, const struct lapse_queue_item *item);
static void dispatch(struct lapse_world *world, const struct lapse_queue_item *item);
static void operate(struct lapse_world *world, const struct lapse_queue_item *item);
static void finish(struct lapse_world *world);

enum lapse_status lapse_world_run(struct lapse_world *world, struct lapse_error *err) {
    bool over = false;
    enum lapse_status status = LAPSE_OK;
    while (status == LAPSE_OK && !over) {
        status = lapse_world_step(world, &over, err);
    }
    return status;
}

enum lapse_status lapse_world_step(struct lapse_world *world, bool *ret_over,
                                   struct lapse_error *err) {
    struct lapse_queue_item item;
    if (!world->over && take_next(world, &item)) {
        world->now.ns = item.at_ns;
        world->events++;
        if (!park(world, &item)) {
            dispatch(world, &item);
            lapse_sim_node_after(world);
        }
        if (world->events % CHECK_EVERY == 0) {
            lapse_world_check(world);
        }
    } else if (!world->over) {
        finish(world);
    }
    *ret_over = world->over;
    if (world->status < 0) {
        return lapse_error_set(err, world->status, "%s", world->error.message);
    }
    return LAPSE_OK;
}

uint64_t lapse_world_events(const struct lapse_world *world) {
    return world->events;
}

void lapse_world_fail(struct lapse_world *world, enum lapse_status status, const char *format,
                      ...) {
    if (world->status < 0) {
        return;
    }
    va_list args;
    va_start(args, format);
    (void)vsnprintf(world->error.message, sizeof(world->error.message), format, args);
    va_end(args);
    world->status = status;
    world->error.status = status;
}

void lapse_world_push(struct lapse_world *world, const struct lapse_queue_item *item) {
    if (!lapse_queue_push(&world->queue, item)) {
        lapse_world_fail(world, LAPSE_NOMEM, "no memory for the queue");
    }
}

bool lapse_world_grow(struct lapse_world *world, void **array, size_t *cap, size_t count,
                      size_t item_bytes) {
    /* A table of large items begins with fewer of them: most worlds need no more. */
    size_t few = FIRST_BYTES / item_bytes < FEWEST ? FEWEST : FIRST_BYTES / item_bytes;
    if (*cap == 0 && count <= few && few < USUAL) {
        *array = lapse_alloc_zero(world->alloc, few * item_bytes);
        *cap = *array == NULL ? 0 : few;
    }
    if (!lapse_alloc_grow(world->alloc, array, cap, count, item_bytes)) {
        lapse_world_fail(world, LAPSE_NOMEM, "the world's memory is full");
        return false;
    }
    return true;
}

void lapse_world_check(struct lapse_world *world) {
    struct lapse_error err = {0};
    bool idle = world->node.store != NULL && !world->node.inside;
    enum lapse_status store =
        idle ? lapse_check(world->node.store, &err) : LAPSE_OK;
    if (store < 0 || lapse_queue_check(&world->queue, &err) < 0) {
        lapse_world_fail(world, LAPSE_BUG, "a broken invariant at true time %lld ns: %s",
                         (long long)world->now.ns, err.message);
    }
    check_clocks(world);
}

static void check_clocks(struct lapse_world *world) {
    const struct lapse_setup *setup = &world->plan->setup;
    bool sound = lapse_sim_clock_check(&world->node.clock, world->now, NULL) == LAPSE_OK;
    for (size_t i = 0; i < setup->actor_count; i++) {
        sound = sound &&
                lapse_sim_clock_check(&world->actors[i].clock, world->now, NULL) == LAPSE_OK;
    }
    for (size_t i = 0; i < setup->resource_count; i++) {
        sound = sound &&
                lapse_sim_clock_check(&world->resources[i].clock, world->now, NULL) == LAPSE_OK;
    }
    if (!sound) {
        lapse_world_fail(world, LAPSE_BUG, "a clock is out of its bounds at true time %lld ns",
                         (long long)world->now.ns);
    }
}

/* Stale items are dropped here, before time moves to them: a timeout that no longer matters must
 * not prolong the run. */
static bool take_next(struct lapse_world *world, struct lapse_queue_item *ret) {
    for (;;) {
        const struct lapse_queue_item *first = lapse_queue_first(&world->queue);
        if (first == NULL || world->stop || world->status < 0) {
            return false;
        }
        if (is_stale(world, first)) {
            struct lapse_queue_item stale = lapse_queue_pop(&world->queue);
            drop(world, &stale);
            continue;
        }
        if (is_over(world, first)) {
            return false;
        }
        if (world->events >= world->events_max) {
            world->stop = true;
            return false;
        }
        *ret = world->orders ? lapse_sim_order_take(world, is_stale)
                             : lapse_queue_pop(&world->queue);
        return true;
    }
}

/* With run_for a run ends after all that is due at that instant. Without it, when nothing but
 * housekeeping is left that nobody waits for, and what waits for a reading that its clock never
 * reaches. */
static bool is_over(const struct lapse_world *world, const struct lapse_queue_item *first) {
    if (world->plan->has_run_for) {
        return first->at_ns > world->plan->run_for_ns;
    }
    if (first->at_ns == INT64_MAX) {
        return true;
    }
    if (first->kind != LAPSE_QUEUE_HOUSEKEEP || first->at_ns == world->now.ns) {
        return false;
    }
    for (size_t i = 0; i < world->queue.heap.count; i++) {
        const struct lapse_queue_item *item = &world->queue.heap.items[i];
        if (item->kind != LAPSE_QUEUE_HOUSEKEEP && item->at_ns < INT64_MAX &&
            !is_stale(world, item)) {
            return false;
        }
    }
    return !lapse_sim_await_hopes(world);
}

static bool is_stale(const struct lapse_world *world, const struct lapse_queue_item *item) {
    const struct lapse_sim_actor *actor = item->actor < 0 ? NULL : &world->actors[item->actor];
    if (actor == NULL) {
        return lapse_sim_node_stale(world, item);
    }
    if (item->kind == LAPSE_QUEUE_WAKE) {
        return lapse_sim_fault_wake_stale(actor, item);
    }
    if (actor->incarnation != item->incarnation ||
        actor->up == (item->kind == LAPSE_QUEUE_RESTART)) {
        return true;
    }
    if (item->kind == LAPSE_QUEUE_DELIVER) {
        return lapse_sim_watcher_unheard(world, item->payload);
    }
    if (item->kind == LAPSE_QUEUE_REPLY || item->kind == LAPSE_QUEUE_TIMEOUT) {
        const struct lapse_sim_call *call = &world->calls[item->index];
        bool late = item->kind == LAPSE_QUEUE_TIMEOUT && call->answered;
        return call->id != item->id || late;
    }
    if (item->kind == LAPSE_QUEUE_PROGRAM) {
        return lapse_sim_program_stale(world, item);
    }
    return is_of_strand(item->kind) && world->strands[item->index].gen != item->id;
}

static bool is_of_strand(enum lapse_queue_kind kind) {
    return kind >= LAPSE_QUEUE_STEP && kind <= LAPSE_QUEUE_AWAITED;
}

static void drop(struct lapse_world *world, const struct lapse_queue_item *item) {
    if (item->kind == LAPSE_QUEUE_REPLY) {
        lapse_sim_client_drop(world, item);
    } else if (item->kind == LAPSE_QUEUE_DELIVER) {
        lapse_sim_watcher_drop(world, item->payload);
    }
}

/* What comes due for a paused actor waits for its wake; faults do not ask. */
static bool park(struct lapse_world *world, const struct lapse_queue_item *item) {
    bool fault = item->kind == LAPSE_QUEUE_WAKE || item->kind == LAPSE_QUEUE_RESTART;
    if (item->actor < 0 || fault) {
        return false;
    }
    if (!world->actors[item->actor].paused) {
        return world->starved > 0 && lapse_sim_slow_parks(world, item);
    }
    if (!lapse_queue_list_add(&world->actors[item->actor].parked, world->alloc, item)) {
        lapse_world_fail(world, LAPSE_NOMEM, "no memory for what waits for a wake");
    }
    return true;
}

static void dispatch(struct lapse_world *world, const struct lapse_queue_item *item) {
    switch (item->kind) {
    case LAPSE_QUEUE_FAULT:
        world->ran[item->index] = LAPSE_RAN_YES;
        lapse_sim_fault_step(world, item->index);
        break;
    case LAPSE_QUEUE_WAKE:
    case LAPSE_QUEUE_RESTART:
        lapse_sim_fault_end(world, item);
        break;
    case LAPSE_QUEUE_HOUSEKEEP:
        lapse_sim_node_housekeep(world);
        break;
    case LAPSE_QUEUE_RELIEF:
        lapse_sim_slow_fault_end(world, item);
        break;
    case LAPSE_QUEUE_HEAL:
        lapse_sim_link_fault_end(world, item);
        break;
    case LAPSE_QUEUE_REAP:
        operate(world, item);
        break;
    case LAPSE_QUEUE_REQUEST:
        lapse_sim_node_request(world, item);
        break;
    case LAPSE_QUEUE_REPLY:
        lapse_sim_client_reply(world, item);
        break;
    case LAPSE_QUEUE_TIMEOUT:
        lapse_sim_client_timeout(world, item);
        break;
    case LAPSE_QUEUE_DELIVER:
        lapse_sim_watcher_deliver(world, item);
        break;
    case LAPSE_QUEUE_STEP:
        lapse_sim_task_run(world, item->index, item->due_ns);
        break;
    case LAPSE_QUEUE_TICK:
    case LAPSE_QUEUE_UNTIL:
        lapse_sim_loop_event(world, item);
        break;
    case LAPSE_QUEUE_WORK_END:
    case LAPSE_QUEUE_WORK_LOOK:
    case LAPSE_QUEUE_WORK_CUT:
        lapse_sim_work_event(world, item);
        break;
    case LAPSE_QUEUE_ASK:
        lapse_sim_ask_event(world, item);
        break;
    case LAPSE_QUEUE_STILL:
        lapse_sim_still_event(world, item->index);
        break;
    case LAPSE_QUEUE_PROGRAM:
        lapse_sim_program_fired(world, item);
        break;
    case LAPSE_QUEUE_AWAITED:
        lapse_sim_task_go_on(world, item->index, LAPSE_FLOW_ON);
        break;
    case LAPSE_QUEUE_CLOCK:
        lapse_sim_clock_fault_end(world, item->index);
        break;
    case LAPSE_QUEUE_CHAOS:
        lapse_sim_chaos_event(world);
        break;
    case LAPSE_QUEUE_PROBE:
    case LAPSE_QUEUE_FINAL:
        lapse_sim_probe_look(world, item->index);
        break;
    }
}

/* An operator's act. */
static void operate(struct lapse_world *world, const struct lapse_queue_item *item) {
    switch (world->plan->steps[item->index].u.operator_act.verb) {
    case LAPSE_OPERATOR_REAP:
        lapse_sim_node_reap(world, item);
        break;
    case LAPSE_OPERATOR_REVOKE:
        lapse_sim_node_revoke(world, item);
        break;
    case LAPSE_OPERATOR_BACKUP:
    case LAPSE_OPERATOR_RESTORE:
        lapse_sim_disk_operate(world, item->index);
        break;
    }
}

/* The finals without an instant of their own look at the end; a run that is cut short has none. */
static void finish(struct lapse_world *world) {
    const struct lapse_plan *plan = world->plan;
    bool cut = world->stop;
    if (!cut && plan->has_run_for) {
        world->now.ns = plan->run_for_ns;
    }
    for (size_t i = 0; i < plan->final_count && !world->stop; i++) {
        if (plan->steps[plan->finals[i]].when.ns == LAPSE_FINAL_AT_END) {
            lapse_sim_probe_look(world, plan->finals[i]);
        }
    }
    lapse_world_check(world);
    if (world->status == LAPSE_OK) {
        lapse_world_emit_end(world, cut);
    }
    world->over = true;
}
