/* A store's life from open to crash. What outlives it lies in the world's memory: as rows, or as
 * the files of a disk, on which the real SQLite store keeps them. */
#include "tenure.h"

#include "disk_fault.h"
#include "keylock.h"
#include "node.h"
#include "point.h"
#include "watcher.h"
#include "world_events.h"

#include <stdio.h>

enum { NOTE_MAX = 400 };

static enum lapse_status read_clock(void *ctx, struct lapse_reading *ret);
static enum lapse_status read_and_note(void *ctx, struct lapse_reading *ret);
static enum lapse_status open_store(struct lapse_world *world, struct lapse_error *err);
static enum lapse_status make_copies(struct lapse_world *world, struct lapse_error *err);
static void reach(void *ctx, enum lapse_point_kind kind);

enum lapse_status lapse_sim_tenure_open(struct lapse_world *world, struct lapse_error *err) {
    struct lapse_sim_node *node = &world->node;
    node->world = world;
    node->housekeep_ns = INT64_MAX;
    node->trouble = (struct lapse_sim_trouble){.ctx = node};
    lapse_sim_rows_init(&node->rows, world->alloc, &node->trouble);
    lapse_sim_disk_init(&node->disk, world->alloc, &node->trouble);
    lapse_result_init(&node->result, world->alloc);
    enum lapse_status status = make_copies(world, err);
    if (status == LAPSE_OK && world->plan->store == LAPSE_STORE_SQLITE) {
        node->vfs = lapse_sim_vfs_make(&node->disk);
        status = node->vfs != NULL ? LAPSE_OK
                                   : lapse_error_set(err, LAPSE_NOMEM, "no memory for a disk");
    }
    if (status == LAPSE_OK) {
        status = open_store(world, err);
    }
    for (size_t i = 0; status == LAPSE_OK && i < world->plan->setup.bucket_count; i++) {
        const struct lapse_setup_bucket *bucket = &world->plan->setup.buckets[i];
        status = lapse_bucket_open(node->store, bucket->name, &bucket->config, &node->result, err);
    }
    node->trouble.reach = reach; /* moments count from here on: what was before is no part of it */
    return status;
}

void lapse_sim_tenure_close(struct lapse_world *world) {
    if (world->node.vfs != NULL) {
        lapse_sim_tenure_end(world);
    }
}

/* SQLite must give its memory back, but nothing that its end would write may reach the disk. */
void lapse_sim_tenure_end(struct lapse_world *world) {
    struct lapse_sim_node *node = &world->node;
    node->trouble.dead = true;
    lapse_close(node->store);
    node->trouble.dead = false;
    node->store = NULL;
}

bool lapse_sim_tenure_reopen(struct lapse_world *world, int32_t step) {
    struct lapse_sim_node *node = &world->node;
    struct lapse_error err = {0};
    node->rests_until_ns = 0;
    enum lapse_status status = open_store(world, &err);
    if (status == LAPSE_OK) {
        return true;
    }
    lapse_sim_disk_left(world);
    node->fell_opening = node->trouble.dead;
    node->trouble.dead = false; /* a crash that was placed inside the opening is over with it */
    if (status != LAPSE_IO && status != LAPSE_CORRUPT && status != LAPSE_VERSION &&
        status != LAPSE_UNKNOWN && !(status == LAPSE_RANGE && node->shifts)) {
        lapse_world_fail(world, status, "the store does not open again: %s", err.message);
        return false;
    }
    char text[NOTE_MAX];
    (void)snprintf(text, sizeof(text), "n1 does not start, its store is %s: %.*s",
                   lapse_status_word(status), NOTE_MAX - 100, err.message);
    struct lapse_history_event event = lapse_world_event(world, LAPSE_HISTORY_NOTE, -1, step);
    event.u.note.text = lapse_bytes_of(text);
    event.u.note.status = status;
    (void)lapse_world_emit(world, &event);
    return false;
}

/* Declared buckets are opened again in case a crash has lost them; one that goes by other words
 * since an `alter` is there, and the store says so. */
void lapse_sim_tenure_begin(struct lapse_world *world, int32_t step) {
    struct lapse_sim_node *node = &world->node;
    struct lapse_error err = {0};
    struct lapse_history_event event = lapse_world_event(world, LAPSE_HISTORY_TENURE, -1, step);
    event.u.tenure.node = 0;
    event.u.tenure.machine = node->machine_down;
    event.u.tenure.reading = lapse_sim_clock_read(&node->clock, world->now);
    event.u.tenure.store = lapse_store_time(node->store);
    event.u.tenure.restored = node->restored;
    node->restored = LAPSE_RESTORED_NO; /* a start that fails leaves it to the next */
    node->shifts = false;
    (void)lapse_world_emit(world, &event);
    for (size_t i = 0; i < world->plan->setup.bucket_count; i++) {
        const struct lapse_setup_bucket *bucket = &world->plan->setup.buckets[i];
        enum lapse_status status =
            lapse_bucket_open(node->store, bucket->name, &bucket->config, &node->result, &err);
        if (status < 0 && status != LAPSE_INVALID && !lapse_sim_node_excuses(world, status)) {
            lapse_world_fail(world, status, "a bucket does not open again: %s", err.message);
        }
    }
    lapse_sim_keylock_reload(world);
    lapse_sim_watcher_resume(world);
    lapse_sim_node_schedule(world);
}

/* Whoever reads the files of a store that is down is no part of the node: nothing that may befall
 * the node's own work on its disk befalls him. */
enum lapse_status lapse_sim_tenure_highest(struct lapse_world *world, int64_t *ret,
                                           struct lapse_error *err) {
    struct lapse_sim_node *node = &world->node;
    struct lapse_sim_trouble trouble = node->trouble;
    struct lapse *store = NULL;
    struct lapse_options options = {.alloc = world->alloc,
                                    .clock = {read_clock, node},
                                    .sync = world->plan->setup.sync,
                                    .unlocked = true,
                                    .policies = world->plan->setup.policies};
    LAPSE_ASSERT(node->vfs != NULL && node->store == NULL);
    node->trouble = (struct lapse_sim_trouble){.ctx = node};
    enum lapse_status status = lapse_sim_vfs_open(node->vfs, &options.journal, err);
    if (status == LAPSE_OK) {
        status = lapse_open(&options, &store, err);
        if (status != LAPSE_OK) {
            options.journal.close(options.journal.ctx);
        }
    }
    if (status == LAPSE_OK) {
        status = lapse_numbers_highest(store, ret, err);
        lapse_close(store);
    }
    node->trouble = trouble;
    return status;
}

struct lapse *lapse_sim_tenure_fork(struct lapse_world *world) {
    struct lapse *fork = NULL;
    struct lapse_error err = {0};
    lapse_clock clock = {read_clock, &world->node};
    if (world->node.store == NULL) {
        return NULL;
    }
    enum lapse_status status = lapse_fork(world->node.store, world->alloc, clock, &fork, &err);
    if (lapse_sim_node_excuses(world, status)) {
        return NULL; /* the store has given up after a failed sync: there is nobody to ask */
    }
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
        .restored = node->shifts,
        .restored_above = node->restored_above,
    };
    if (world->plan->store == LAPSE_STORE_MEMORY) {
        options.journal = lapse_sim_rows_journal(&node->rows);
    }
    enum lapse_status status = LAPSE_OK;
    if (node->vfs != NULL) {
        status = lapse_sim_vfs_open(node->vfs, &options.journal, err);
    }
    lapse_sim_tap_init(&node->tap, &node->trouble, &node->housekeeping, &options.journal);
    if (status == LAPSE_OK) {
        status = lapse_open(&options, &node->store, err);
        if (status != LAPSE_OK && options.journal.close != NULL) {
            options.journal.close(options.journal.ctx);
        }
    }
    if (status == LAPSE_OK) {
        node->tenure++;
        node->watcher_base = node->watcher_top;
    }
    return status;
}

static enum lapse_status make_copies(struct lapse_world *world, struct lapse_error *err) {
    struct lapse_sim_node *node = &world->node;
    size_t count = (size_t)world->plan->copy_count;
    node->copies = lapse_alloc_zero(world->alloc, (count + 1) * sizeof(*node->copies));
    node->copied = lapse_alloc_zero(world->alloc, (count + 1) * sizeof(*node->copied));
    if (node->copies == NULL || node->copied == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for copies of a disk");
    }
    for (size_t i = 0; i < count; i++) {
        lapse_sim_disk_init(&node->copies[i], world->alloc, &node->trouble);
    }
    return LAPSE_OK;
}

/* A point of the store's own: what waits for it comes now, inside what the store is doing. */
static void reach(void *ctx, enum lapse_point_kind kind) {
    struct lapse_sim_node *node = ctx;
    node->inside = true;
    lapse_sim_point_reached(node->world, kind, -1, 0);
    node->inside = false;
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
