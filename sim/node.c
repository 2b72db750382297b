/* One store: requests in, decisions to the history, replies out. Its watchers are in watcher.c, its
 * openings in tenure.c, what is done to it in node_fault.c.
 *
 * Its clock reads the world's true time, so nothing has to be advanced. Housekeeping is one item of
 * the queue at the instant that the store names; an older item that is no longer the right one is
 * stale. */
#include "node.h"

#include "client.h"
#include "clock_fault.h"
#include "disk_fault.h"
#include "fault.h"
#include "keylock.h"
#include "link.h"
#include "live_view.h"
#include "node_fault.h"
#include "point.h"
#include "resource.h"
#include "slow.h"
#include "still.h"
#include "watcher.h"
#include "world_events.h"

enum { REAP_ROWS_MAX = 10000, IDLE_STEPS_MAX = 1000 };

static void park(struct lapse_world *world, const struct lapse_queue_item *item);
static bool keep_house(struct lapse_world *world, int32_t step);
static void delay(struct lapse_world *world, const struct lapse_queue_item *item);
static void tell_house(struct lapse_world *world, const struct lapse_sim_untold *untold);
static void tell_failed_house(struct lapse_world *world, int32_t step);
static void take(struct lapse_world *world, const struct lapse_queue_item *item,
                 struct lapse_sim_call *call);
static bool decide(struct lapse_world *world, const struct lapse_sim_call *call);
static void tell_call(struct lapse_world *world, const struct lapse_sim_untold *untold);
static void swap_clock(struct lapse_world *world, int32_t client, struct lapse_sim_clock *clock);
static bool keep_untold(struct lapse_world *world, struct lapse_sim_untold untold);
static void answer(struct lapse_world *world, const struct lapse_queue_item *item,
                   struct lapse_sim_call *call);
static bool falls_at(struct lapse_world *world, enum lapse_point_kind kind,
                     const struct lapse_sim_call *call);
static void reply(struct lapse_world *world, const struct lapse_queue_item *item,
                  struct lapse_sim_call *call);

void lapse_sim_node_request(struct lapse_world *world, const struct lapse_queue_item *item) {
    struct lapse_sim_call *call = &world->calls[item->index];
    bool at_node = call->request.verb < LAPSE_CALL_WRITE;
    LAPSE_ASSERT(call->id == item->id);
    if (call->applied && !lapse_sim_node_held(world)) { /* it was held before it could answer */
        answer(world, item, call);
        return;
    }
    if (!call->arrived) {
        call->arrived = true;
        if (falls_at(world, LAPSE_POINT_ARRIVED, call) && at_node) {
            lapse_sim_client_lose(world, call);
            return;
        }
    }
    if (at_node && world->node.slow.on && !call->waited) {
        call->waited = true;
        delay(world, item);
        return;
    }
    bool decided = !at_node || (world->node.store != NULL && !lapse_sim_node_held(world));
    if (call->copy && decided) {
        lapse_sim_link_again(world, call);
    }
    if (!at_node) {
        lapse_sim_resource_decide(world, call);
        call->applied = true;
        lapse_sim_point_reached(world, LAPSE_POINT_APPLIED, call->step, -1);
        reply(world, item, call);
    } else if (lapse_sim_node_held(world)) {
        park(world, item);
    } else if (world->node.store == NULL) {
        call->applied = true;
        call->answer = (struct lapse_answer){.status = LAPSE_UNAVAILABLE};
        reply(world, item, call);
    } else {
        take(world, item, call);
    }
}

void lapse_sim_node_housekeep(struct lapse_world *world) {
    struct lapse_sim_node *node = &world->node;
    node->housekeep_ns = INT64_MAX;
    bool did = keep_house(world, -1);
    node->idle_steps = did ? 0 : node->idle_steps + 1;
    lapse_sim_node_schedule(world);
    if (node->housekeep_ns > world->now.ns) {
        node->idle_steps = 0;
    }
    if (node->idle_steps > IDLE_STEPS_MAX) {
        lapse_world_fail(world, LAPSE_BUG, "the store's housekeeping is due but does nothing");
    }
}

void lapse_sim_node_reap(struct lapse_world *world, const struct lapse_queue_item *item) {
    struct lapse_sim_node *node = &world->node;
    if (lapse_sim_node_held(world)) {
        park(world, item);
        return;
    }
    if (node->store == NULL) {
        return; /* nobody is there to do it: the line has not run */
    }
    world->ran[item->index] = LAPSE_RAN_YES;
    struct lapse_due due = {0};
    bool did = true;
    do {
        did = keep_house(world, item->index);
        lapse_next_due(node->store, &due);
    } while (did && !world->stop && !lapse_sim_node_held(world) &&
             lapse_sim_node_due(world, &due) <= world->now.ns);
    lapse_sim_node_schedule(world);
}

/* What the operator knows of the live grant is its token, which names it whoever sends it. Nobody
 * waits for the answer. */
void lapse_sim_node_revoke(struct lapse_world *world, const struct lapse_queue_item *item) {
    const struct lapse_text *lease = &world->plan->steps[item->index].u.operator_act.lease;
    struct lapse_queue_item sent = {.kind = LAPSE_QUEUE_REQUEST, .actor = -1};
    if (lapse_sim_node_held(world)) {
        park(world, item);
        return;
    }
    if (world->node.store == NULL) {
        return; /* nobody is there to do it: the line has not run */
    }
    world->ran[item->index] = LAPSE_RAN_YES;
    struct lapse_sim_call *call = lapse_sim_client_place(world, &sent.index);
    if (call == NULL) {
        return;
    }
    sent.id = ++world->next_call;
    *call = (struct lapse_sim_call){
        .id = sent.id, .step = item->index, .actor = -1, .strand = -1, .answered = true};
    struct lapse_command *command = &call->request.command;
    call->request.verb = command->verb = LAPSE_VERB_RELEASE;
    call->request.resource = -1;
    command->key = lease->part_count > 0 ? lease->parts[0].literal : command->key;
    command->u.lease.owner = lapse_bytes_of("operator");
    command->u.lease.has_token =
        lapse_sim_resource_holder(world, command->key, &command->u.lease.token);
    struct lapse_history_event event = lapse_world_call_event(world, LAPSE_HISTORY_INVOKE, call);
    event.u.invoke.request = call->request;
    event.u.invoke.loop = -1;
    event.u.invoke.due.ns = item->due_ns;
    if (lapse_world_emit(world, &event) != NULL) {
        take(world, &sent, call);
    }
}

void lapse_sim_node_wake(struct lapse_world *world) {
    struct lapse_sim_node *node = &world->node;
    node->housekeep_ns = INT64_MAX;
    lapse_sim_node_schedule(world);
    for (size_t i = 0; i < node->parked.count; i++) {
        struct lapse_queue_item item = node->parked.items[i];
        item.at_ns = world->now.ns;
        item.phase = LAPSE_PHASE_UNDER_WAY;
        item.rank = item.due_ns;
        lapse_world_push(world, &item);
    }
    node->parked.count = 0;
    lapse_sim_watcher_poll_all(world);
    if (world->lanes != NULL) {
        lapse_sim_watcher_reconnect(world, -1);
    }
}

bool lapse_sim_node_held(const struct lapse_world *world) {
    return lapse_sim_fault_stopped(world->node.stops, LAPSE_SIM_STOPS);
}

bool lapse_sim_node_excuses(const struct lapse_world *world, enum lapse_status status) {
    bool of_disk = status == LAPSE_IO || status == LAPSE_UNKNOWN || status == LAPSE_UNAVAILABLE;
    return of_disk && (world->node.troubled || world->node.trouble.dead);
}

void lapse_sim_node_after(struct lapse_world *world) {
    struct lapse_sim_fall fall = world->node.fall;
    lapse_sim_node_hang(world);
    if (fall.on && !world->node.inside) {
        world->node.fall.on = false;
        lapse_sim_node_fault_step(world, fall.step, &world->plan->steps[fall.step].u.fault);
    }
}

bool lapse_sim_node_stale(const struct lapse_world *world, const struct lapse_queue_item *item) {
    const struct lapse_sim_node *node = &world->node;
    switch (item->kind) {
    case LAPSE_QUEUE_REQUEST:
        return world->calls[item->index].id != item->id;
    case LAPSE_QUEUE_HOUSEKEEP:
        return node->store == NULL || lapse_sim_node_held(world) ||
               item->at_ns != node->housekeep_ns;
    case LAPSE_QUEUE_WAKE: {
        if (item->id >= LAPSE_SIM_DISK_ENDS) {
            return node->disk_until_ns[item->id - LAPSE_SIM_DISK_ENDS] != item->at_ns;
        }
        enum lapse_sim_stop stop = lapse_sim_fault_stop((enum lapse_fault_kind)item->id);
        const struct lapse_sim_hold *held = &node->stops[stop];
        return !held->on || held->until_ns != item->at_ns || item->incarnation != node->tenure;
    }
    case LAPSE_QUEUE_RELIEF:
        return lapse_sim_slow_stale(world, item);
    case LAPSE_QUEUE_HEAL:
        return lapse_sim_link_stale(world, item);
    case LAPSE_QUEUE_CLOCK:
        return lapse_sim_clock_fault_stale(world, item->index);
    case LAPSE_QUEUE_RESTART:
        return node->store != NULL || item->incarnation != node->tenure;
    default:
        return false;
    }
}

void lapse_sim_node_schedule(struct lapse_world *world) {
    struct lapse_sim_node *node = &world->node;
    struct lapse_due due = {0};
    lapse_sim_still_look(world);
    if (node->store == NULL || lapse_sim_node_held(world)) {
        return;
    }
    lapse_next_due(node->store, &due);
    int64_t at = lapse_sim_node_due(world, &due);
    at = at < node->rests_until_ns ? node->rests_until_ns : at;
    if (at == node->housekeep_ns) {
        return;
    }
    node->housekeep_ns = at;
    if (at < INT64_MAX) {
        lapse_world_push(world, &(struct lapse_queue_item){.at_ns = at,
                                                           .phase = LAPSE_PHASE_UNDER_WAY,
                                                           .kind = LAPSE_QUEUE_HOUSEKEEP,
                                                           .rank = LAPSE_RANK_HOUSEKEEP,
                                                           .due_ns = at,
                                                           .actor = -1});
    }
}

/* Store time runs with the boot clock from where the last command saw it. */
int64_t lapse_sim_node_due(const struct lapse_world *world, const struct lapse_due *due) {
    const struct lapse_sim_node *node = &world->node;
    int64_t at = INT64_MAX;
    if (due->has_steady) {
        struct lapse_span wait = lapse_steady_between(lapse_store_time(node->store), due->steady);
        struct lapse_steady reading = {0};
        if (lapse_ns_add(node->read_ns, wait.ns, &reading.ns)) {
            at = lapse_sim_clock_at_boot(&node->clock, reading).ns;
        }
    }
    if (due->has_wall) {
        int64_t wall = lapse_sim_clock_at_wall(&node->clock, due->wall).ns;
        at = wall < at ? wall : at;
    }
    return at < world->now.ns ? world->now.ns : at;
}

/* A slow node looks at it later. */
static void delay(struct lapse_world *world, const struct lapse_queue_item *item) {
    struct lapse_queue_item later = *item;
    int64_t at = 0;
    at = lapse_ns_add(world->now.ns, world->node.slow_ns, &at) ? at : INT64_MAX;
    later.at_ns = later.due_ns = later.rank = at;
    lapse_world_push(world, &later);
}

/* A call in which the process falls is lost with it: whether it was taken, nobody knows. */
static void take(struct lapse_world *world, const struct lapse_queue_item *item,
                 struct lapse_sim_call *call) {
    struct lapse_sim_node *node = &world->node;
    struct lapse_sim_untold untold = {.is_call = true,
                                      .item = *item,
                                      .at = world->now,
                                      .reading = lapse_sim_clock_read(&node->clock, world->now)};
    if (!decide(world, call)) {
        lapse_sim_client_lose(world, call);
    } else if (!keep_untold(world, untold)) {
        tell_call(world, &untold);
    }
}

static void answer(struct lapse_world *world, const struct lapse_queue_item *item,
                   struct lapse_sim_call *call) {
    reply(world, item, call);
    lapse_sim_watcher_poll_all(world);
    lapse_sim_node_schedule(world);
}

/* Whether the point ends the tenure in which the call is in hand. */
static bool falls_at(struct lapse_world *world, enum lapse_point_kind kind,
                     const struct lapse_sim_call *call) {
    int32_t tenure = world->node.tenure;
    bool up = world->node.store != NULL;
    lapse_sim_point_reached(world, kind, call->step, -1);
    return up && (world->node.store == NULL || world->node.tenure != tenure);
}

static void park(struct lapse_world *world, const struct lapse_queue_item *item) {
    if (!lapse_queue_list_add(&world->node.parked, world->alloc, item)) {
        lapse_world_fail(world, LAPSE_NOMEM, "no memory for a waiting call");
    }
}

/* One round of housekeeping; whether it did anything. What a disk that fails does not let it do is
 * tried again a second later, and no more once the store itself has given up. */
static bool keep_house(struct lapse_world *world, int32_t step) {
    struct lapse_sim_node *node = &world->node;
    struct lapse_error err = {0};
    node->housekeeping = true;
    enum lapse_status status = LAPSE_UNAVAILABLE;
    if (lapse_sim_trouble_reach(&node->trouble, LAPSE_POINT_REAP)) {
        status = lapse_step(node->store, REAP_ROWS_MAX, &node->result, NULL, &err);
    }
    node->housekeeping = false;
    if (lapse_sim_node_excuses(world, status)) {
        if (status == LAPSE_UNKNOWN && !node->trouble.dead) {
            tell_failed_house(world, step);
        }
        bool gone = status != LAPSE_IO || node->trouble.dead;
        node->rests_until_ns = gone ? INT64_MAX : world->now.ns + LAPSE_NS_PER_S;
        return false;
    }
    if (status < 0) {
        lapse_world_fail(world, status, "housekeeping: %s", err.message);
        return false;
    }
    bool did = node->result.item_count > 0 || node->result.event_count > 0;
    struct lapse_sim_untold untold = {
        .step = step, .at = world->now, .reading = lapse_sim_clock_read(&node->clock, world->now)};
    if (!keep_untold(world, untold)) {
        tell_house(world, &untold);
    }
    return did;
}

/* Told before the events that it wrote. */
static void tell_house(struct lapse_world *world, const struct lapse_sim_untold *untold) {
    struct lapse_sim_node *node = &world->node;
    int32_t step = untold->step;
    struct lapse_true_time now = world->now;
    world->now = untold->at; /* what was done then is told of then */
    struct lapse_history_event event = lapse_world_event(world, LAPSE_HISTORY_STEP, -1, step);
    event.u.step.node = 0;
    event.u.step.reading = untold->reading;
    event.u.step.store = node->result.at;
    event.u.step.row_count = node->result.item_count;
    (void)lapse_world_emit(world, &event);
    lapse_world_emit_written(world, NULL, step, &node->result);
    lapse_sim_live_view_compare(world);
    world->now = now;
    lapse_sim_watcher_note_events(world);
    lapse_sim_watcher_poll_all(world);
}

/* Its sync has failed: what it did may be there or not, and nobody is told of it. */
static void tell_failed_house(struct lapse_world *world, int32_t step) {
    struct lapse_sim_node *node = &world->node;
    struct lapse_history_event event = lapse_world_event(world, LAPSE_HISTORY_STEP, -1, step);
    event.u.step.node = 0;
    event.u.step.reading = lapse_sim_clock_read(&node->clock, world->now);
    event.u.step.store = lapse_store_time(node->store);
    event.u.step.status = LAPSE_UNKNOWN;
    (void)lapse_world_emit(world, &event);
}

/* False: the process falls in it, or the world has failed. */
static bool decide(struct lapse_world *world, const struct lapse_sim_call *call) {
    struct lapse_sim_node *node = &world->node;
    struct lapse_error err = {0};
    struct lapse_command command = call->request.command;
    if (command.verb == LAPSE_VERB_UNWATCH) {
        command.u.watch.watcher = lapse_sim_watcher_in_store(world, command.u.watch.watcher);
    }
    enum lapse_status status = lapse_apply(node->store, &command, &node->result, &err);
    if (status == LAPSE_BUG) {
        lapse_world_fail(world, status, "the store: %s", err.message);
        return false;
    }
    return !node->trouble.dead;
}

/* The answer that travels back borrows its bytes from the stored decision. What waits for it may
 * fell the node before it answers. */
static void tell_call(struct lapse_world *world, const struct lapse_sim_untold *untold) {
    struct lapse_sim_node *node = &world->node;
    struct lapse_sim_call *call = &world->calls[untold->item.index];
    struct lapse_true_time now = world->now;
    struct lapse_sim_clock clock = untold->client_clock;
    int32_t client = untold->on ? call->actor : -1;
    call->applied = true;
    world->now = untold->at; /* what was decided then is told of then, by the clocks of then */
    swap_clock(world, client, &clock);
    struct lapse_history_event event = lapse_world_call_event(world, LAPSE_HISTORY_APPLY, call);
    event.u.apply.reading = untold->reading;
    event.u.apply.durable_point = node->result.durable_point;
    event.u.apply.answer = lapse_answer_of(&node->result);
    if (node->result.watcher > 0) {
        node->watcher_top = node->watcher_base + node->result.watcher;
        event.u.apply.answer.watcher = node->watcher_top;
    }
    const struct lapse_history_event *stored = lapse_world_emit(world, &event);
    if (stored != NULL) {
        call->answer = stored->u.apply.answer;
        lapse_sim_keylock_apply(world, call);
        lapse_sim_resource_granted(world, call);
        lapse_world_emit_written(world, call, -1, &node->result);
        lapse_sim_live_view_compare(world);
    }
    world->now = now;
    swap_clock(world, client, &clock);
    if (stored != NULL && world->check_often) {
        lapse_world_check(world);
    }
    lapse_sim_watcher_note_events(world);
    lapse_sim_watcher_called(world, call);
    bool falls = falls_at(world, LAPSE_POINT_APPLIED, call);
    if (falls && call->id == untold->item.id) {
        lapse_sim_client_lose(world, call);
    } else if (falls) {
        return;
    } else if (lapse_sim_node_held(world)) {
        park(world, &untold->item);
    } else {
        answer(world, &untold->item, call);
    }
}

/* Nobody's with a client below 0. */
static void swap_clock(struct lapse_world *world, int32_t client, struct lapse_sim_clock *clock) {
    if (client >= 0) {
        struct lapse_sim_clock its = world->actors[client].clock;
        world->actors[client].clock = *clock;
        *clock = its;
    }
}

/* Whether the process has stopped in what it did; then it is told when it goes on. */
static bool keep_untold(struct lapse_world *world, struct lapse_sim_untold untold) {
    lapse_sim_node_hang(world);
    if (!lapse_sim_node_held(world)) {
        return false;
    }
    untold.on = true;
    int32_t client = untold.is_call ? world->calls[untold.item.index].actor : -1;
    if (client >= 0) { /* an operator has no clock */
        untold.client_clock = world->actors[client].clock;
    }
    world->node.untold = untold;
    return true;
}

void lapse_sim_node_tell(struct lapse_world *world) {
    struct lapse_sim_untold untold = world->node.untold;
    world->node.untold.on = false;
    if (untold.on && untold.is_call) {
        tell_call(world, &untold);
    } else if (untold.on) {
        tell_house(world, &untold);
    }
}

/* A client that has been told `unknown` by its own timeout hears nothing more of the call; nor does
 * one that has crashed since it was decided, whose place is free. */
static void reply(struct lapse_world *world, const struct lapse_queue_item *item,
                  struct lapse_sim_call *call) {
    if (call->id != item->id) {
        return;
    }
    if (call->answered) {
        lapse_sim_client_forget(world, call);
        return;
    }
    const struct lapse_plan_step *step = &world->plan->steps[call->step];
    if (world->lanes != NULL || step->forged || step->reply.kind != LAPSE_MESSAGE_PLAIN) {
        lapse_sim_link_reply(world, item, call);
        return;
    }
    struct lapse_queue_item back = *item;
    back.at_ns = world->now.ns;
    back.phase = LAPSE_PHASE_UNDER_WAY;
    back.kind = LAPSE_QUEUE_REPLY;
    back.rank = world->now.ns;
    back.due_ns = world->now.ns;
    back.actor = call->actor;
    back.incarnation = call->incarnation;
    lapse_world_push(world, &back);
}
