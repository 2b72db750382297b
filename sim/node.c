/* One store: requests in, decisions to the history, replies out. Its watchers are in watcher.c.
 *
 * Its clock reads the world's true time, so nothing has to be advanced. Housekeeping is one item of
 * the queue at the instant that the store names; an older item that is no longer the right one is
 * stale. */
#include "node.h"

#include "keylock.h"
#include "resource.h"
#include "watcher.h"
#include "world_events.h"

enum { REAP_ROWS_MAX = 10000, IDLE_STEPS_MAX = 1000 };

static enum lapse_status read_clock(void *ctx, struct lapse_reading *ret);
static void decide(struct lapse_world *world, struct lapse_sim_call *call);
static void reply(struct lapse_world *world, const struct lapse_queue_item *item,
                  struct lapse_sim_call *call);
static void schedule(struct lapse_world *world);
static int64_t due_time(const struct lapse_world *world, const struct lapse_due *due);

enum lapse_status lapse_sim_node_open(struct lapse_world *world, struct lapse_error *err) {
    struct lapse_sim_node *node = &world->node;
    node->world = world;
    node->clock = (struct lapse_sim_clock){.epoch = world->plan->setup.epoch, .boot = 1};
    node->housekeep_ns = INT64_MAX;
    lapse_result_init(&node->result, world->alloc);
    /* The handle lies in the arena, which is copied: no mutex may be in it. */
    struct lapse_options options = {
        .alloc = world->alloc, .clock = {read_clock, node}, .unlocked = true};
    enum lapse_status status = lapse_open(&options, &node->store, err);
    for (size_t i = 0; status == LAPSE_OK && i < world->plan->setup.bucket_count; i++) {
        const struct lapse_setup_bucket *bucket = &world->plan->setup.buckets[i];
        status = lapse_bucket_open(node->store, bucket->name, &bucket->config, &node->result, err);
    }
    return status;
}

void lapse_sim_node_request(struct lapse_world *world, const struct lapse_queue_item *item) {
    struct lapse_sim_call *call = &world->calls[item->index];
    LAPSE_ASSERT(call->id == item->id);
    bool store = call->request.verb < LAPSE_CALL_WRITE;
    if (store && world->node.paused) {
        if (!lapse_queue_list_add(&world->node.parked, world->alloc, item)) {
            lapse_world_fail(world, LAPSE_NOMEM, "no memory for a waiting call");
        }
        return;
    }
    if (store) {
        decide(world, call);
    } else {
        lapse_sim_resource_decide(world, call);
    }
    call->applied = true;
    if (store) {
        lapse_sim_watcher_note_events(world);
        lapse_sim_watcher_called(world, call);
    }
    reply(world, item, call);
    if (store) {
        lapse_sim_watcher_poll_all(world);
        schedule(world);
    }
}

void lapse_sim_node_housekeep(struct lapse_world *world) {
    struct lapse_sim_node *node = &world->node;
    struct lapse_error err = {0};
    node->housekeep_ns = INT64_MAX;
    enum lapse_status status = lapse_step(node->store, REAP_ROWS_MAX, &node->result, NULL, &err);
    if (status < 0) {
        lapse_world_fail(world, status, "housekeeping: %s", err.message);
        return;
    }
    lapse_world_emit_written(world, NULL, &node->result);
    bool nothing = node->result.item_count == 0 && node->result.event_count == 0;
    node->idle_steps = nothing ? node->idle_steps + 1 : 0;
    lapse_sim_watcher_note_events(world);
    lapse_sim_watcher_poll_all(world);
    schedule(world);
    if (node->housekeep_ns > world->now.ns) {
        node->idle_steps = 0;
    }
    if (node->idle_steps > IDLE_STEPS_MAX) {
        lapse_world_fail(world, LAPSE_BUG, "the store's housekeeping is due but does nothing");
    }
}

void lapse_sim_node_wake(struct lapse_world *world) {
    struct lapse_sim_node *node = &world->node;
    node->paused = false;
    node->housekeep_ns = INT64_MAX;
    schedule(world);
    for (size_t i = 0; i < node->parked.count; i++) {
        struct lapse_queue_item item = node->parked.items[i];
        item.at_ns = world->now.ns;
        item.rank = item.due_ns;
        lapse_world_push(world, &item);
    }
    node->parked.count = 0;
}

struct lapse *lapse_sim_node_fork(struct lapse_world *world) {
    struct lapse *fork = NULL;
    struct lapse_error err = {0};
    lapse_clock clock = {read_clock, &world->node};
    enum lapse_status status = lapse_fork(world->node.store, world->alloc, clock, &fork, &err);
    if (status < 0) {
        lapse_world_fail(world, status, "a fork of the store: %s", err.message);
        return NULL;
    }
    return fork;
}

struct lapse_answer lapse_sim_node_answer(const struct lapse_result *result) {
    bool lease = result->verb == LAPSE_VERB_ACQUIRE || result->verb == LAPSE_VERB_EXTEND ||
                 result->verb == LAPSE_VERB_INSPECT;
    return (struct lapse_answer){
        .status = result->status,
        .at = result->at,
        .wall = result->wall,
        .revision = result->revision,
        .end = result->end,
        .left = result->left,
        .renewed = result->renewed,
        .has_token = lease && result->status == LAPSE_OK,
        .token = result->token,
        .watcher = result->watcher,
        .value = result->value,
        .owner = result->owner,
        .item_count = result->item_count,
        .items = result->items,
    };
}

static enum lapse_status read_clock(void *ctx, struct lapse_reading *ret) {
    const struct lapse_sim_node *node = ctx;
    *ret = lapse_sim_clock_read(&node->clock, node->world->now);
    return LAPSE_OK;
}

/* The answer that travels back borrows its bytes from the stored decision. */
static void decide(struct lapse_world *world, struct lapse_sim_call *call) {
    struct lapse_sim_node *node = &world->node;
    struct lapse_error err = {0};
    enum lapse_status status =
        lapse_apply(node->store, &call->request.command, &node->result, &err);
    if (status == LAPSE_BUG) {
        lapse_world_fail(world, status, "the store: %s", err.message);
        return;
    }
    struct lapse_history_event event = lapse_world_call_event(world, LAPSE_HISTORY_APPLY, call);
    event.u.apply.reading = lapse_sim_clock_read(&node->clock, world->now);
    event.u.apply.durable_point = node->result.durable_point;
    event.u.apply.answer = lapse_sim_node_answer(&node->result);
    const struct lapse_history_event *stored = lapse_world_emit(world, &event);
    if (stored == NULL) {
        return;
    }
    call->answer = stored->u.apply.answer;
    lapse_sim_keylock_apply(world, call, &node->result);
    lapse_world_emit_written(world, call, &node->result);
    if (world->check_often) {
        lapse_world_check(world);
    }
}

/* A client that has been told `unknown` by its own timeout hears nothing more of the call. */
static void reply(struct lapse_world *world, const struct lapse_queue_item *item,
                  struct lapse_sim_call *call) {
    if (call->answered) {
        call->id = 0;
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

static void schedule(struct lapse_world *world) {
    struct lapse_sim_node *node = &world->node;
    struct lapse_due due = {0};
    lapse_next_due(node->store, &due);
    int64_t at = due_time(world, &due);
    if (at == node->housekeep_ns || node->paused) {
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

/* The first true time at which either clock has reached its due; INT64_MAX: nothing is due. */
static int64_t due_time(const struct lapse_world *world, const struct lapse_due *due) {
    const struct lapse_sim_clock *clock = &world->node.clock;
    int64_t at = INT64_MAX;
    if (due->has_steady) {
        at = lapse_sim_clock_at_steady(clock, due->steady).ns;
    }
    if (due->has_wall) {
        int64_t wall = lapse_sim_clock_at_wall(clock, due->wall).ns;
        at = wall < at ? wall : at;
    }
    return at < world->now.ns ? world->now.ns : at;
}
