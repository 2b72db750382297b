/* The watchers of the one store: who is polled after a decision, what is on its way to whom, and
 * which of them have lost their client.
 *
 * A watch counts for its client from the reply that told of it. One that the client gave up waiting
 * for, or did not live to be told of, is ended in the store, where it would keep a ring full. */
#include "watcher.h"

#include "await.h"
#include "link.h"
#include "member.h"
#include "node.h"
#include "program_run.h"
#include "world_events.h"

#include <string.h>

enum { POLL_EVENTS_MAX = 256 };

/* The newest revision of a bucket. */
struct newest {
    struct lapse_bytes bucket;
    int64_t revision;
};

static void add_watcher(struct lapse_world *world, const struct lapse_sim_call *call);
static void remove_watcher(struct lapse_world *world, int64_t id);
static size_t watcher_place(const struct lapse_world *world, int64_t id);
static bool is_alive(const struct lapse_world *world, int32_t actor, int32_t incarnation);
static void end_watcher(struct lapse_world *world, int64_t store_id);
static void watch_again(struct lapse_world *world, struct lapse_sim_watcher *watcher);
static enum lapse_status find_newest(void *ctx, const struct lapse_row *row);
static void sweep_watchers(struct lapse_world *world);
static void poll_watcher(struct lapse_world *world, struct lapse_sim_watcher *watcher);
static void send_event(struct lapse_world *world, struct lapse_sim_watcher *watcher,
                       const struct lapse_event *event, bool first);
static void miss(struct lapse_sim_watcher *watcher, const struct lapse_event *event);
static void push_gap(struct lapse_world *world, const struct lapse_sim_watcher *watcher,
                     int64_t revision, struct lapse_steady made, int64_t at_ns);
static void push_event(struct lapse_world *world, const struct lapse_sim_watcher *watcher,
                       const struct lapse_event *event, bool first, int64_t at_ns);
static unsigned char *place(struct lapse_bytes *bytes, unsigned char *at);

/* A watch that nobody will be told of ends where it begins. */
void lapse_sim_watcher_called(struct lapse_world *world, const struct lapse_sim_call *call) {
    if (call->answer.status != LAPSE_OK) {
        return;
    }
    if (call->request.verb == LAPSE_VERB_UNWATCH) {
        remove_watcher(world, call->request.command.u.watch.watcher);
    }
    if (call->request.verb != LAPSE_VERB_WATCH) {
        return;
    }
    if (!call->answered && is_alive(world, call->actor, call->incarnation)) {
        add_watcher(world, call);
    } else {
        end_watcher(world, call->answer.watcher - world->node.watcher_base);
    }
}

/* Marks the watchers of the buckets that the last result wrote to, which alone have anything to
 * poll. */
void lapse_sim_watcher_note_events(struct lapse_world *world) {
    const struct lapse_result *result = &world->node.result;
    for (size_t e = 0; world->watcher_count > 0 && e < result->event_count; e++) {
        struct lapse_bytes bucket = result->events[e].bucket;
        if (e > 0 && lapse_bytes_equal(bucket, result->events[e - 1].bucket)) {
            continue;
        }
        for (size_t i = 0; i < world->watcher_count; i++) {
            struct lapse_sim_watcher *watcher = &world->watchers[i];
            watcher->pending = watcher->pending || lapse_bytes_equal(bucket, watcher->bucket);
        }
        world->node.polls = true;
    }
}

void lapse_sim_watcher_poll_all(struct lapse_world *world) {
    if (world->node.sweep) {
        sweep_watchers(world);
    }
    for (size_t i = 0; world->node.polls && i < world->watcher_count; i++) {
        struct lapse_sim_watcher *watcher = &world->watchers[i];
        if (watcher->pending && !watcher->ended) {
            poll_watcher(world, watcher);
        }
        watcher->pending = false;
    }
    world->node.polls = false;
}

void lapse_sim_watcher_deliver(struct lapse_world *world, const struct lapse_queue_item *item) {
    struct lapse_sim_delivery *delivery = item->payload;
    struct lapse_history_event event =
        lapse_world_event(world, LAPSE_HISTORY_DELIVER, item->actor, -1);
    event.u.deliver.watch = delivery->watch;
    event.u.deliver.watcher = delivery->watcher;
    event.u.deliver.first = delivery->first;
    event.u.deliver.event = delivery->event;
    const struct lapse_history_event *stored = lapse_world_emit(world, &event);
    if (stored != NULL && delivery->watch >= 0) {
        struct lapse_sim_seen *seen = &world->seen[delivery->watch];
        void *events = seen->events;
        if (lapse_world_grow(world, &events, &seen->cap, seen->count + 1, sizeof(int64_t))) {
            seen->events = events;
            seen->events[seen->count++] = stored->seq;
        }
    }
    if (stored != NULL) {
        lapse_sim_await_delivered(world, item->actor, &stored->u.deliver.event);
        lapse_sim_program_told(world, item->actor, &stored->u.deliver.event);
    }
    lapse_sim_watcher_drop(world, delivery);
}

void lapse_sim_watcher_drop(struct lapse_world *world, struct lapse_sim_delivery *delivery) {
    lapse_alloc_free(world->alloc, delivery, delivery->bytes);
}

void lapse_sim_watcher_abandon(struct lapse_world *world, const struct lapse_sim_call *call) {
    if (call->request.verb != LAPSE_VERB_WATCH || call->answer.status != LAPSE_OK) {
        return;
    }
    size_t at = watcher_place(world, call->answer.watcher);
    if (at < world->watcher_count && world->watchers[at].id == call->answer.watcher) {
        world->watchers[at].orphan = true;
        world->node.sweep = true;
    }
}

/* Its watches end also where it comes back as the one that it was. */
void lapse_sim_watcher_client_gone(struct lapse_world *world, int32_t actor) {
    for (size_t i = 0; i < world->watcher_count; i++) {
        struct lapse_sim_watcher *watcher = &world->watchers[i];
        bool its = watcher->actor == actor;
        watcher->orphan = watcher->orphan || (its && world->actors[actor].keeps);
    }
    world->node.sweep = true;
}

void lapse_sim_watcher_lose(struct lapse_world *world, struct lapse_sim_delivery *delivery) {
    size_t at = watcher_place(world, delivery->watcher);
    delivery->lost = true;
    if (at < world->watcher_count && world->watchers[at].id == delivery->watcher) {
        miss(&world->watchers[at], &delivery->event);
    }
}

void lapse_sim_watcher_reconnect(struct lapse_world *world, int32_t actor) {
    if (world->node.store == NULL || lapse_sim_node_held(world)) {
        return;
    }
    for (size_t i = 0; i < world->watcher_count; i++) {
        struct lapse_sim_watcher *watcher = &world->watchers[i];
        int64_t missed = watcher->missed;
        if ((actor >= 0 && watcher->actor != actor) || missed == 0 || watcher->orphan ||
            !is_alive(world, watcher->actor, watcher->incarnation)) {
            continue;
        }
        watcher->missed = 0;
        struct lapse_event gap = {.kind = LAPSE_EVENT_GAP,
                                  .bucket = watcher->bucket,
                                  .revision = missed,
                                  .at = watcher->missed_at};
        send_event(world, watcher, &gap, false);
    }
}

bool lapse_sim_watcher_unheard(const struct lapse_world *world,
                               const struct lapse_sim_delivery *delivery) {
    size_t at = watcher_place(world, delivery->watcher);
    if (delivery->lost) {
        return true;
    }
    return at < world->watcher_count && world->watchers[at].id == delivery->watcher &&
           world->watchers[at].orphan;
}

void lapse_sim_watcher_resume(struct lapse_world *world) {
    size_t kept = 0;
    for (size_t i = 0; i < world->watcher_count; i++) {
        struct lapse_sim_watcher watcher = world->watchers[i];
        if (!is_alive(world, watcher.actor, watcher.incarnation)) {
            continue;
        }
        if (!watcher.orphan) {
            watch_again(world, &watcher);
        } else {
            watcher.ended = true;
        }
        world->watchers[kept++] = watcher;
    }
    world->watcher_count = kept;
    world->node.sweep = false;
}

int64_t lapse_sim_watcher_in_store(const struct lapse_world *world, int64_t id) {
    size_t at = watcher_place(world, id);
    if (at < world->watcher_count && world->watchers[at].id == id) {
        return world->watchers[at].store_id;
    }
    return id > world->node.watcher_base ? id - world->node.watcher_base : 0;
}

/* A bucket that the crash has taken is watched no more: its client has heard of the gap. */
static void watch_again(struct lapse_world *world, struct lapse_sim_watcher *watcher) {
    struct lapse_result *result = &world->node.result;
    struct lapse_error err = {0};
    struct newest newest = {.bucket = watcher->bucket};
    enum lapse_status status = lapse_walk(world->node.store, find_newest, &newest, &err);
    if (status == LAPSE_OK) {
        /* Of what is still to come, it goes on to get only what it asked for. */
        status = watcher->from > newest.revision
                     ? lapse_watch_revision(world->node.store, watcher->bucket, watcher->key,
                                            watcher->from, result, &err)
                     : lapse_watch(world->node.store, watcher->bucket, watcher->key,
                                   LAPSE_WATCH_NOW, result, &err);
    }
    /* The number that it had is nobody's here, or will be another's. */
    watcher->ended = status != LAPSE_OK;
    watcher->store_id = status == LAPSE_OK ? result->watcher : 0;
    if (lapse_sim_node_excuses(world, status)) {
        return; /* its client is told of the gap when the store has been opened anew */
    }
    if (status < 0 && status != LAPSE_INVALID) {
        lapse_world_fail(world, status, "watching on after a crash: %s", err.message);
        return;
    }
    struct lapse_event gap = {.kind = LAPSE_EVENT_GAP,
                              .bucket = watcher->bucket,
                              .revision = newest.revision,
                              .at = lapse_store_time(world->node.store)};
    send_event(world, watcher, &gap, false);
}

static enum lapse_status find_newest(void *ctx, const struct lapse_row *row) {
    struct newest *newest = ctx;
    if (row->kind == LAPSE_ROW_BUCKET && lapse_bytes_equal(row->bucket, newest->bucket)) {
        newest->revision = row->revision;
    }
    return LAPSE_OK;
}

static void add_watcher(struct lapse_world *world, const struct lapse_sim_call *call) {
    void *watchers = world->watchers;
    if (!lapse_world_grow(world, &watchers, &world->watcher_cap, world->watcher_count + 1,
                          sizeof(*world->watchers))) {
        return;
    }
    world->watchers = watchers;
    LAPSE_ASSERT(watcher_place(world, call->answer.watcher) == world->watcher_count);
    struct lapse_sim_watcher *watcher = &world->watchers[world->watcher_count++];
    *watcher = (struct lapse_sim_watcher){
        .id = call->answer.watcher,
        .store_id = call->answer.watcher - world->node.watcher_base,
        .actor = call->actor,
        .incarnation = call->incarnation,
        .watch = lapse_sim_member_plan(world, call)->watch,
        .step = call->step,
        .bucket = call->request.command.bucket,
        .key = call->request.command.key,
    };
    if (call->request.command.u.watch.from == LAPSE_WATCH_REVISION) {
        watcher->from = call->request.command.u.watch.revision;
        watcher->pending = true;
    }
    /* What such a watch is owed from before it, the store has for it at once. */
    world->node.polls = world->node.polls || watcher->pending;
    for (size_t i = 0; call->answer.items != NULL && i < call->answer.item_count; i++) {
        const struct lapse_item *item = &call->answer.items[i];
        struct lapse_event event = {.kind = LAPSE_EVENT_PUT,
                                    .bucket = call->request.command.bucket,
                                    .key = item->key,
                                    .value = item->value,
                                    .revision = item->revision,
                                    .at = call->answer.at};
        send_event(world, watcher, &event, true);
    }
}

static void remove_watcher(struct lapse_world *world, int64_t id) {
    size_t at = watcher_place(world, id);
    if (at == world->watcher_count || world->watchers[at].id != id) {
        return;
    }
    world->watcher_count--;
    for (size_t i = at; i < world->watcher_count; i++) {
        world->watchers[i] = world->watchers[i + 1];
    }
}

static size_t watcher_place(const struct lapse_world *world, int64_t id) {
    size_t low = 0;
    size_t high = world->watcher_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (world->watchers[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool is_alive(const struct lapse_world *world, int32_t actor, int32_t incarnation) {
    return world->actors[actor].up && world->actors[actor].incarnation == incarnation;
}

/* Tells the store to forget a watcher, so that its ring does not fill for nobody. It stands for a
 * connection that is gone, so there is no call. */
static void end_watcher(struct lapse_world *world, int64_t store_id) {
    struct lapse_error err = {0};
    enum lapse_status status =
        lapse_unwatch(world->node.store, store_id, &world->node.result, &err);
    if (status < 0 && !lapse_sim_node_excuses(world, status)) {
        lapse_world_fail(world, status, "ending a watcher: %s", err.message);
    }
}

/* The watchers of a client that is gone are forgotten. An orphan is remembered as long as its
 * client, which may still be sent what was on its way. */
static void sweep_watchers(struct lapse_world *world) {
    size_t kept = 0;
    for (size_t i = 0; i < world->watcher_count; i++) {
        struct lapse_sim_watcher watcher = world->watchers[i];
        bool alive = is_alive(world, watcher.actor, watcher.incarnation);
        if (!watcher.ended && (watcher.orphan || !alive)) {
            end_watcher(world, watcher.store_id);
            watcher.ended = true;
        }
        if (alive) {
            world->watchers[kept++] = watcher;
        }
    }
    world->watcher_count = kept;
    world->node.sweep = false;
}

static void poll_watcher(struct lapse_world *world, struct lapse_sim_watcher *watcher) {
    struct lapse_result *result = &world->node.result;
    do {
        struct lapse_error err = {0};
        enum lapse_status status =
            lapse_poll(world->node.store, watcher->store_id, POLL_EVENTS_MAX, result, &err);
        if (lapse_sim_node_excuses(world, status)) {
            return;
        }
        if (status < 0) {
            lapse_world_fail(world, status, "polling a watcher: %s", err.message);
            return;
        }
        for (size_t i = 0; i < result->delivery_count; i++) {
            send_event(world, watcher, &result->deliveries[i], false);
        }
    } while (result->delivery_count == POLL_EVENTS_MAX);
}

/* Over its link, if the plan has any: what a cut takes is remembered, and what is lost by chance
 * becomes a gap. Where the lane was healed while the node stood still, nobody has been told yet of
 * what the cut took: that goes ahead of what comes after it. */
static void send_event(struct lapse_world *world, struct lapse_sim_watcher *watcher,
                       const struct lapse_event *event, bool first) {
    int64_t at = world->now.ns;
    bool lost = false;
    if (world->lanes == NULL) {
        push_event(world, watcher, event, first, at);
    } else if (!lapse_sim_link_deliver(world, watcher, &at, &lost)) {
        miss(watcher, event);
    } else {
        bool gap = lost || event->kind == LAPSE_EVENT_GAP;
        if (watcher->missed > (gap ? event->revision : 0)) {
            push_gap(world, watcher, watcher->missed, watcher->missed_at, at);
        }
        watcher->missed = 0;
        if (lost) {
            push_gap(world, watcher, event->revision, event->at, at);
        } else {
            push_event(world, watcher, event, first, at);
        }
    }
}

static void miss(struct lapse_sim_watcher *watcher, const struct lapse_event *event) {
    if (event->revision >= watcher->missed) {
        watcher->missed = event->revision;
        watcher->missed_at = event->at;
    }
}

static void push_gap(struct lapse_world *world, const struct lapse_sim_watcher *watcher,
                     int64_t revision, struct lapse_steady made, int64_t at_ns) {
    struct lapse_event gap = {.kind = LAPSE_EVENT_GAP,
                              .bucket = watcher->bucket,
                              .revision = revision,
                              .at = made};
    push_event(world, watcher, &gap, false, at_ns);
}

static void push_event(struct lapse_world *world, const struct lapse_sim_watcher *watcher,
                       const struct lapse_event *event, bool first, int64_t at_ns) {
    size_t bytes =
        sizeof(struct lapse_sim_delivery) + event->bucket.len + event->key.len + event->value.len;
    struct lapse_sim_delivery *delivery = lapse_alloc_zero(world->alloc, bytes);
    if (delivery == NULL) {
        lapse_world_fail(world, LAPSE_NOMEM, "no memory for a watch event");
        return;
    }
    delivery->watcher = watcher->id;
    delivery->watch = watcher->watch;
    delivery->first = first;
    delivery->event = *event;
    delivery->bytes = bytes;
    unsigned char *at = (unsigned char *)(delivery + 1);
    at = place(&delivery->event.bucket, at);
    at = place(&delivery->event.key, at);
    (void)place(&delivery->event.value, at);
    lapse_world_push(world, &(struct lapse_queue_item){.at_ns = at_ns,
                                                       .phase = LAPSE_PHASE_UNDER_WAY,
                                                       .kind = LAPSE_QUEUE_DELIVER,
                                                       .rank = at_ns,
                                                       .due_ns = at_ns,
                                                       .actor = watcher->actor,
                                                       .incarnation = watcher->incarnation,
                                                       .payload = delivery});
}

static unsigned char *place(struct lapse_bytes *bytes, unsigned char *at) {
    if (bytes->len > 0) {
        memcpy(at, bytes->data, bytes->len);
        bytes->data = at;
    }
    return at + bytes->len;
}
