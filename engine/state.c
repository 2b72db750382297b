/* The state: rows in tables, and the heaps that follow them. One function places a row, so tables
 * and heaps cannot part from the images. */
#include "ephemeral.h"

#include <string.h>

static void free_table(struct lapse_state *state, struct lapse_table *table);
static struct lapse_table *table_of(struct lapse_state *state, const struct lapse_node *node);
static struct lapse_heap *heap_of(struct lapse_state *state, const struct lapse_image *image);

void lapse_state_init(struct lapse_state *state, const lapse_alloc *alloc,
                      size_t watch_events_max) {
    memset(state, 0, sizeof(*state));
    state->alloc = alloc;
    state->watch_events_max = watch_events_max;
}

void lapse_state_finish(struct lapse_state *state) {
    LAPSE_ASSERT(state->txn.count == 0);
    while (state->deferred_first != NULL) {
        lapse_idle_forget(state, state->deferred_first->node);
    }
    for (size_t i = 0; i < state->watcher_count; i++) {
        struct lapse_watcher *watcher = state->watchers[i];
        lapse_alloc_free(state->alloc, watcher, sizeof(*watcher) + watcher->key_len);
    }
    lapse_alloc_free(state->alloc, state->watchers, state->watcher_cap * sizeof(*state->watchers));
    lapse_ephemeral_finish(state);
    free_table(state, &state->leases);
    free_table(state, &state->buckets);
    lapse_heap_finish(state->alloc, &state->steady);
    lapse_heap_finish(state->alloc, &state->wall);
    lapse_heap_finish(state->alloc, &state->reached);
    lapse_alloc_free(state->alloc, state->peaks.items,
                     state->peaks.cap * sizeof(*state->peaks.items));
    lapse_alloc_free(state->alloc, state->txn.entries,
                     state->txn.cap * sizeof(*state->txn.entries));
    memset(state, 0, sizeof(*state));
}

struct lapse_bucket *lapse_state_bucket(const struct lapse_state *state, struct lapse_bytes name) {
    struct lapse_node *node = lapse_table_find(&state->buckets, name);
    return node == NULL ? NULL : node->bucket;
}

struct lapse_bucket *lapse_bucket_make(const lapse_alloc *alloc, struct lapse_bytes name,
                                       const struct lapse_bucket_config *config) {
    struct lapse_node *row = lapse_node_make(alloc, LAPSE_ROW_BUCKET, name);
    struct lapse_bucket *bucket = lapse_alloc_zero(alloc, sizeof(*bucket));
    if (row == NULL || bucket == NULL) {
        lapse_node_free(alloc, row);
        lapse_alloc_free(alloc, bucket, sizeof(*bucket));
        return NULL;
    }
    bucket->row = row;
    bucket->config = lapse_term_config_plain(config);
    row->bucket = bucket;
    return bucket;
}

void lapse_bucket_free(const lapse_alloc *alloc, struct lapse_bucket *bucket) {
    LAPSE_ASSERT(bucket->records.count == 0);
    lapse_table_finish(alloc, &bucket->records);
    lapse_ring_finish(alloc, &bucket->ring);
    lapse_node_free(alloc, bucket->row);
    lapse_alloc_free(alloc, bucket, sizeof(*bucket));
}

void lapse_state_drop_node(struct lapse_state *state, struct lapse_node *node) {
    LAPSE_ASSERT(!node->now.present);
    if (node->kind == LAPSE_ROW_BUCKET) {
        lapse_bucket_free(state->alloc, node->bucket);
        return;
    }
    lapse_idle_forget(state, node);
    lapse_node_free(state->alloc, node);
}

bool lapse_state_reserve(struct lapse_state *state, struct lapse_node *node) {
    /* A rollback may bring back every listed row beside those that are there now. */
    size_t more = state->txn.count + 1;
    return lapse_table_reserve(state->alloc, table_of(state, node)) &&
           lapse_heap_reserve(state->alloc, &state->steady, more);
}

bool lapse_state_reserve_date(struct lapse_state *state) {
    /* Every date may yet be reached, by a commit that can no longer fail. */
    size_t more = state->txn.count + 1;
    return lapse_heap_reserve(state->alloc, &state->wall, more) &&
           lapse_heap_reserve(state->alloc, &state->reached, state->wall.count + more);
}

void lapse_state_place(struct lapse_state *state, struct lapse_node *node,
                       const struct lapse_image *image) {
    if (node->heap_pos != LAPSE_POS_NONE) {
        lapse_heap_remove(heap_of(state, &node->now), node);
    }
    if (node->now.present && !image->present) {
        lapse_table_unlink(table_of(state, node), node);
    }
    if (!node->now.present && image->present) {
        lapse_table_link(table_of(state, node), node);
    }
    node->now = *image;
    if (image->present && image->end_kind != LAPSE_END_NONE) {
        lapse_heap_insert(heap_of(state, image), node);
    }
}

bool lapse_state_live(const struct lapse_node *node, const struct lapse_now *now) {
    const struct lapse_image *image = &node->now;
    if (!image->present) {
        return false;
    }
    switch (image->end_kind) {
    case LAPSE_END_STEADY:
        return now->store.ns < image->end_ns;
    case LAPSE_END_WALL:
        return !image->reached && now->wall.ns < image->end_ns;
    case LAPSE_END_NONE:
        break;
    }
    return true;
}

struct lapse_span lapse_state_left(const struct lapse_now *now, struct lapse_end end) {
    struct lapse_span left = {0};
    if (end.kind == LAPSE_END_STEADY) {
        left = lapse_steady_between(now->store, (struct lapse_steady){end.ns});
    } else if (end.kind == LAPSE_END_WALL) {
        left = lapse_wall_between(now->wall, (struct lapse_wall){end.ns});
    }
    return left.ns > 0 ? left : (struct lapse_span){0};
}

static void free_table(struct lapse_state *state, struct lapse_table *table) {
    static const struct lapse_image absent = {0};
    struct lapse_node *node = lapse_table_any(table);
    while (node != NULL) {
        struct lapse_node *next = lapse_table_after(table, node);
        if (node->kind == LAPSE_ROW_BUCKET) {
            free_table(state, &node->bucket->records);
        }
        unsigned char *blob = node->now.blob;
        size_t blob_len = node->now.blob_len;
        lapse_state_place(state, node, &absent);
        lapse_alloc_free(state->alloc, blob, blob_len);
        lapse_state_drop_node(state, node);
        node = next;
    }
    lapse_table_finish(state->alloc, table);
}

static struct lapse_table *table_of(struct lapse_state *state, const struct lapse_node *node) {
    if (node->kind == LAPSE_ROW_RECORD) {
        return &node->bucket->records;
    }
    return node->kind == LAPSE_ROW_LEASE ? &state->leases : &state->buckets;
}

static struct lapse_heap *heap_of(struct lapse_state *state, const struct lapse_image *image) {
    LAPSE_ASSERT(image->end_kind != LAPSE_END_NONE);
    if (image->end_kind == LAPSE_END_STEADY) {
        return &state->steady;
    }
    return image->reached ? &state->reached : &state->wall;
}
