/* What is waited for is looked at when it comes, never asked for. A wait that nothing but the
 * store's housekeeping can end keeps a run without `run_for` going, and no other wait does. */
#include "await.h"

#include "client.h"
#include "request.h"
#include "still.h"

/* Whether the end of the key that a strand waits for will be written as an event. */
struct end_search {
    const struct lapse_world *world;
    size_t strand;
    bool marked; /* the bucket writes markers */
    bool ends;   /* the key has a term */
};

static const struct lapse_plan_await *awaited_by(const struct lapse_world *world, size_t strand);
static bool is_key(const struct lapse_world *world, size_t strand, struct lapse_bytes bucket,
                   struct lapse_bytes key);
static bool watches(const struct lapse_world *world, int32_t actor);
static bool ends_with_marker(const struct lapse_world *world, size_t strand);
static enum lapse_status search_end(void *ctx, const struct lapse_row *row);
static void wake(struct lapse_world *world, size_t strand);

enum lapse_sim_flow lapse_sim_await_begin(struct lapse_world *world, int32_t strand) {
    const struct lapse_plan_await *awaited =
        &world->plan->steps[lapse_sim_task_step(world, strand)].u.await;
    int32_t n = lapse_sim_task_n(world, strand);
    struct lapse_sim_miss miss = {0};
    if (awaited->kind == LAPSE_AWAIT_UNCHANGED) {
        return lapse_sim_still_begin(world, strand);
    }
    if (awaited->kind == LAPSE_AWAIT_EVENT &&
        !lapse_sim_text_fits(world, &awaited->key, n, &miss)) {
        struct lapse_sim_call call = lapse_sim_client_call(world, strand, 0);
        return lapse_sim_client_unbound(world, &call, &miss);
    }
    if (awaited->kind == LAPSE_AWAIT_SAVE &&
        lapse_slots_find(&world->slots, awaited->slot, n) != NULL) {
        return LAPSE_FLOW_ON;
    }
    world->strands[strand].wait = LAPSE_WAIT_AWAIT;
    return LAPSE_FLOW_WAIT;
}

void lapse_sim_await_bound(struct lapse_world *world) {
    for (size_t i = 0; i < world->strand_count; i++) {
        const struct lapse_plan_await *awaited = awaited_by(world, i);
        if (awaited != NULL && awaited->kind == LAPSE_AWAIT_SAVE &&
            lapse_slots_find(&world->slots, awaited->slot, lapse_sim_task_n(world, (int32_t)i)) !=
                NULL) {
            wake(world, i);
        }
    }
}

void lapse_sim_await_delivered(struct lapse_world *world, int32_t actor,
                               const struct lapse_event *event) {
    for (size_t i = 0; i < world->strand_count; i++) {
        const struct lapse_plan_await *awaited = awaited_by(world, i);
        if (awaited != NULL && world->strands[i].actor == actor &&
            awaited->kind == LAPSE_AWAIT_EVENT && awaited->event == event->kind &&
            is_key(world, i, event->bucket, event->key)) {
            wake(world, i);
        }
    }
}

bool lapse_sim_await_hopes(const struct lapse_world *world) {
    for (size_t i = 0; i < world->strand_count; i++) {
        const struct lapse_plan_await *awaited = awaited_by(world, i);
        if (awaited != NULL && awaited->kind == LAPSE_AWAIT_EVENT &&
            awaited->event == LAPSE_EVENT_EXPIRED && watches(world, world->strands[i].actor) &&
            ends_with_marker(world, i)) {
            return true;
        }
    }
    return false;
}

/* NULL: the strand does not wait in an await. */
static const struct lapse_plan_await *awaited_by(const struct lapse_world *world, size_t strand) {
    const struct lapse_sim_strand *of = &world->strands[strand];
    if (!of->running || of->wait != LAPSE_WAIT_AWAIT) {
        return NULL;
    }
    return &world->plan->steps[lapse_sim_task_step(world, (int32_t)strand)].u.await;
}

/* Whether it is the key that the strand waits for. */
static bool is_key(const struct lapse_world *world, size_t strand, struct lapse_bytes bucket,
                   struct lapse_bytes key) {
    const struct lapse_plan_await *awaited = awaited_by(world, strand);
    char text[LAPSE_KEY_BYTES_MAX];
    size_t len = 0;
    int32_t slot = -1;
    if (!lapse_bytes_equal(world->plan->setup.buckets[awaited->bucket].name, bucket)) {
        return false;
    }
    enum lapse_status status =
        lapse_text_render(&awaited->key, &world->slots, lapse_sim_task_n(world, (int32_t)strand),
                          text, sizeof(text), &len, &slot);
    struct lapse_bytes named = {(const unsigned char *)text, len};
    return status == LAPSE_OK && len <= sizeof(text) && lapse_bytes_equal(named, key);
}

static bool watches(const struct lapse_world *world, int32_t actor) {
    const struct lapse_sim_actor *who = &world->actors[actor];
    bool found = false;
    for (size_t i = 0; i < world->watcher_count && !found; i++) {
        found =
            world->watchers[i].actor == actor && !world->watchers[i].orphan &&
            world->watchers[i].incarnation == who->incarnation;
    }
    return found && who->up && !who->paused;
}

static bool ends_with_marker(const struct lapse_world *world, size_t strand) {
    struct end_search search = {.world = world, .strand = strand};
    if (world->node.store == NULL) {
        return false;
    }
    enum lapse_status status = lapse_walk(world->node.store, search_end, &search, NULL);
    return status == LAPSE_OK && search.marked && search.ends;
}

static enum lapse_status search_end(void *ctx, const struct lapse_row *row) {
    struct end_search *search = ctx;
    const struct lapse_plan_await *awaited = awaited_by(search->world, search->strand);
    struct lapse_bytes bucket = search->world->plan->setup.buckets[awaited->bucket].name;
    if (row->kind == LAPSE_ROW_BUCKET && lapse_bytes_equal(row->bucket, bucket)) {
        search->marked = row->bucket_row.config.markers.ns > 0;
    }
    if (row->kind == LAPSE_ROW_RECORD && row->record.kind == LAPSE_RECORD_VALUE &&
        row->record.end.kind != LAPSE_END_NONE &&
        is_key(search->world, search->strand, row->bucket, row->key)) {
        search->ends = true;
    }
    return LAPSE_OK;
}

static void wake(struct lapse_world *world, size_t strand) {
    world->strands[strand].wait = LAPSE_WAIT_TIMER;
    struct lapse_queue_item item = lapse_sim_task_item(world, (int32_t)strand, LAPSE_QUEUE_AWAITED,
                                                       world->now.ns, LAPSE_PHASE_UNDER_WAY);
    lapse_world_push(world, &item);
}
