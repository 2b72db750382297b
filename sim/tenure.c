/* A store's life from open to crash. The rows that outlive it lie in the world's memory, or in a
 * file: then a crash of the machine loses none of them, since the system that keeps it stands. */
#include "tenure.h"

#include "keylock.h"
#include "lapse/sqlite.h"
#include "node.h"
#include "watcher.h"
#include "world_events.h"

static enum lapse_status read_clock(void *ctx, struct lapse_reading *ret);
static enum lapse_status read_and_note(void *ctx, struct lapse_reading *ret);
static enum lapse_status open_store(struct lapse_world *world, struct lapse_error *err);
static enum lapse_status make_file(struct lapse_world *world, struct lapse_error *err);

enum lapse_status lapse_sim_tenure_open(struct lapse_world *world, struct lapse_error *err) {
    struct lapse_sim_node *node = &world->node;
    node->world = world;
    node->housekeep_ns = INT64_MAX;
    lapse_sim_rows_init(&node->rows, world->alloc);
    lapse_result_init(&node->result, world->alloc);
    enum lapse_status status = LAPSE_OK;
    if (world->plan->store == LAPSE_STORE_SQLITE) {
        status = make_file(world, err);
    }
    if (status == LAPSE_OK) {
        status = open_store(world, err);
    }
    for (size_t i = 0; status == LAPSE_OK && i < world->plan->setup.bucket_count; i++) {
        const struct lapse_setup_bucket *bucket = &world->plan->setup.buckets[i];
        status = lapse_bucket_open(node->store, bucket->name, &bucket->config, &node->result, err);
    }
    return status;
}

void lapse_sim_tenure_close(struct lapse_world *world) {
    if (world->node.file != NULL) {
        lapse_sim_tenure_end(world);
        lapse_sim_store_file_remove(world->node.file);
    }
}

void lapse_sim_tenure_end(struct lapse_world *world) {
    lapse_close(world->node.store);
    world->node.store = NULL;
}

/* Declared buckets are opened again in case a crash has lost them; one that goes by other words
 * since an `alter` is there, and the store says so. */
void lapse_sim_tenure_begin(struct lapse_world *world, int32_t step) {
    struct lapse_sim_node *node = &world->node;
    struct lapse_error err = {0};
    enum lapse_status status = open_store(world, &err);
    if (status < 0) {
        lapse_world_fail(world, status, "the store does not open again: %s", err.message);
        return;
    }
    struct lapse_history_event event = lapse_world_event(world, LAPSE_HISTORY_TENURE, -1, step);
    event.u.tenure.node = 0;
    event.u.tenure.machine = node->machine_down;
    event.u.tenure.reading = lapse_sim_clock_read(&node->clock, world->now);
    event.u.tenure.store = lapse_store_time(node->store);
    (void)lapse_world_emit(world, &event);
    for (size_t i = 0; i < world->plan->setup.bucket_count; i++) {
        const struct lapse_setup_bucket *bucket = &world->plan->setup.buckets[i];
        status = lapse_bucket_open(node->store, bucket->name, &bucket->config, &node->result, &err);
        if (status < 0 && status != LAPSE_INVALID) {
            lapse_world_fail(world, status, "a bucket does not open again: %s", err.message);
        }
    }
    lapse_sim_keylock_reload(world);
    lapse_sim_watcher_resume(world);
    lapse_sim_node_schedule(world);
}

struct lapse *lapse_sim_tenure_fork(struct lapse_world *world) {
    struct lapse *fork = NULL;
    struct lapse_error err = {0};
    lapse_clock clock = {read_clock, &world->node};
    if (world->node.store == NULL) {
        return NULL;
    }
    enum lapse_status status = lapse_fork(world->node.store, world->alloc, clock, &fork, &err);
    if (status < 0) {
        lapse_world_fail(world, status, "a fork of the store: %s", err.message);
        return NULL;
    }
    return fork;
}

static enum lapse_status open_store(struct lapse_world *world, struct lapse_error *err) {
    struct lapse_sim_node *node = &world->node;
    const struct lapse_setup *setup = &world->plan->setup;
    /* The handle lies in the arena, which is copied: no mutex may be in it. */
    struct lapse_options options = {
        .alloc = world->alloc,
        .clock = {read_and_note, node},
        .sync = setup->sync,
        .unlocked = true,
        .policies = setup->policies,
    };
    if (world->plan->store == LAPSE_STORE_MEMORY) {
        options.journal = lapse_sim_rows_journal(&node->rows);
    }
    enum lapse_status status = LAPSE_OK;
    if (node->file == NULL) {
        status = lapse_open(&options, &node->store, err);
    } else {
        status = lapse_open_file(node->file->path, &options, &node->store, NULL);
        if (status < 0) { /* what it says names the file, which is chance */
            (void)lapse_error_set(err, status, "the store's file does not open: %s",
                                  lapse_status_sentence(status));
        }
    }
    if (status == LAPSE_OK) {
        node->tenure++;
        node->watcher_base = node->watcher_top;
    }
    return status;
}

static enum lapse_status make_file(struct lapse_world *world, struct lapse_error *err) {
    world->node.file = lapse_alloc_zero(world->alloc, sizeof(*world->node.file));
    if (world->node.file == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for the name of the store's file");
    }
    return lapse_sim_store_file_make(world->node.file, err);
}

static enum lapse_status read_clock(void *ctx, struct lapse_reading *ret) {
    const struct lapse_sim_node *node = ctx;
    *ret = lapse_sim_clock_read(&node->clock, node->world->now);
    return LAPSE_OK;
}

/* The store's own: its store time is what it was at the reading that it took last. */
static enum lapse_status read_and_note(void *ctx, struct lapse_reading *ret) {
    struct lapse_sim_node *node = ctx;
    enum lapse_status status = read_clock(ctx, ret);
    node->read_ns = ret->raw_ns;
    return status;
}
