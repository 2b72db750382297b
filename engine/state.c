/* The state: rows in tables, and the wheel and heaps that follow them. One function places a row,
 * so tables, wheel and heaps cannot part from the images. */
#include "decide.h"
#include "ephemeral.h"

#include <string.h>

static void free_table(struct lapse_state *state, struct lapse_table *table);
static struct lapse_table *table_of(struct lapse_state *state, const struct lapse_node *node);
static struct lapse_heap *heap_of(struct lapse_state *state, const struct lapse_node *node);
static void unindex(struct lapse_state *state, struct lapse_node *node);
static void index_end(struct lapse_state *state, struct lapse_node *node);
static void move_session(struct lapse_state *state, const struct lapse_node *node);
static bool in_wheel(const struct lapse_node *node);
static void follow_order(struct lapse_state *state, const struct lapse_node *node);

void lapse_state_init(struct lapse_state *state, const lapse_alloc *alloc,
                      size_t watch_events_max) {
    memset(state, 0, sizeof(*state));
    state->alloc = alloc;
    state->watch_events_max = watch_events_max;
    state->steady.buckets = state->wall.buckets = state->reached.buckets = &state->by_index;
    state->sessions_due.buckets = &state->by_index;
}

void lapse_state_finish(struct lapse_state *state) {
    LAPSE_ASSERT(state->txn.count == 0);
    while (state->deferred_first != NULL) {
        lapse_idle_forget(state, state->deferred_first->node);
    }
    for (size_t i = 0; i < state->watcher_count; i++) {
        lapse_watcher_free(state->alloc, state->watchers[i]);
    }
    lapse_alloc_free(state->alloc, state->watchers, state->watcher_cap * sizeof(*state->watchers));
    lapse_ephemeral_finish(state);
    free_table(state, &state->leases);
    free_table(state, &state->buckets);
    free_table(state, &state->sessions); /* after what ends with them */
    free_table(state, &state->requests);
    lapse_heap_finish(state->alloc, &state->sessions_due);
    lapse_wheel_finish(state->alloc, &state->steady);
    lapse_heap_finish(state->alloc, &state->wall);
    lapse_heap_finish(state->alloc, &state->reached);
    lapse_alloc_free(state->alloc, state->by_index.items,
                     state->by_index.cap * sizeof(*state->by_index.items));
    lapse_alloc_free(state->alloc, state->deferred_slots,
                     state->deferred_slot_count * sizeof(*state->deferred_slots));
    lapse_alloc_free(state->alloc, state->peaks.items,
                     state->peaks.cap * sizeof(*state->peaks.items));
    lapse_alloc_free(state->alloc, state->txn.entries,
                     state->txn.cap * sizeof(*state->txn.entries));
    memset(state, 0, sizeof(*state));
}

struct lapse_bucket *lapse_state_bucket(const struct lapse_state *state, struct lapse_bytes name) {
    struct lapse_node *node = lapse_table_find(&state->buckets, name);
    return node == NULL ? NULL : lapse_node_bucket(state, node);
}

struct lapse_bucket *lapse_bucket_make(struct lapse_state *state, struct lapse_bytes name) {
    const lapse_alloc *alloc = state->alloc;
    struct lapse_buckets *all = &state->by_index;
    void *items = all->items;
    LAPSE_ASSERT(all->count < LAPSE_BUCKETS_MAX);
    if (!lapse_alloc_grow(alloc, &items, &all->cap, all->count + 1, sizeof(*all->items))) {
        return NULL;
    }
    all->items = items;
    struct lapse_node *row = lapse_node_make(alloc, LAPSE_ROW_BUCKET, name);
    struct lapse_bucket *bucket = lapse_alloc_zero(alloc, sizeof(*bucket));
    if (row == NULL || bucket == NULL) {
        lapse_node_free(alloc, row);
        lapse_alloc_free(alloc, bucket, sizeof(*bucket));
        return NULL;
    }
    bucket->row = row;
    bucket->index = row->bucket = (uint16_t)all->count;
    all->items[all->count++] = bucket;
    return bucket;
}

bool lapse_bucket_words(const lapse_alloc *alloc, const struct lapse_bucket_config *config,
                        struct lapse_image *image) {
    struct lapse_bucket_config plain = lapse_term_config_plain(config);
    const unsigned char *bytes = (const unsigned char *)&plain;
    return lapse_image_copy_blob(alloc, image, (struct lapse_bytes){bytes, sizeof(plain)});
}

void lapse_bucket_free(struct lapse_state *state, struct lapse_bucket *bucket) {
    const lapse_alloc *alloc = state->alloc;
    struct lapse_buckets *all = &state->by_index;
    LAPSE_ASSERT(bucket->records.count == 0);
    LAPSE_ASSERT(all->items[bucket->index] == bucket);
    all->items[bucket->index] = NULL;
    if (state->recent == bucket) {
        state->recent = NULL;
    }
    while (all->count > 0 && all->items[all->count - 1] == NULL) {
        all->count--;
    }
    lapse_table_finish(alloc, &bucket->records);
    lapse_order_finish(alloc, &bucket->order);
    lapse_ring_finish(alloc, &bucket->ring);
    lapse_node_free(alloc, bucket->row);
    lapse_alloc_free(alloc, bucket, sizeof(*bucket));
}

void lapse_state_drop_node(struct lapse_state *state, struct lapse_node *node) {
    LAPSE_ASSERT(!node->now.present);
    if (node->kind == LAPSE_ROW_BUCKET) {
        lapse_bucket_free(state, lapse_node_bucket(state, node));
        return;
    }
    if (node->kind == LAPSE_ROW_SESSION) {
        lapse_session_free(state->alloc, node->now.aux.session);
        return;
    }
    lapse_idle_forget(state, node);
    lapse_node_free(state->alloc, node);
}

bool lapse_state_reserve(struct lapse_state *state, struct lapse_node *node) {
    struct lapse_table *table = table_of(state, node);
    if (!lapse_table_has_room(table) && !lapse_table_reserve(state->alloc, table)) {
        return false;
    }
    if (node->kind == LAPSE_ROW_SESSION) {
        /* A rollback may bring back every listed row beside those that are there now. */
        return lapse_heap_reserve(state->alloc, &state->sessions_due, state->txn.count + 1);
    }
    return node->kind == LAPSE_ROW_BUCKET || lapse_wheel_reserve(state->alloc, &state->steady);
}

bool lapse_state_reserve_date(struct lapse_state *state) {
    /* A rollback may bring back every listed row beside those that are there now, and every date
     * may yet be reached, by a commit that can no longer fail. */
    size_t more = state->txn.count + 1;
    return lapse_heap_reserve(state->alloc, &state->wall, more) &&
           lapse_heap_reserve(state->alloc, &state->reached, state->wall.count + more);
}

bool lapse_state_reserve_end(struct lapse_state *state, const struct lapse_image *image) {
    struct lapse_session *session = lapse_image_session(image);
    if (session != NULL) {
        return lapse_heap_reserve(state->alloc, &session->members, state->txn.count + 1);
    }
    return image->end_kind != LAPSE_END_WALL || lapse_state_reserve_date(state);
}

void lapse_state_place(struct lapse_state *state, struct lapse_node *node,
                       const struct lapse_image *image) {
    unindex(state, node);
    bool came = image->present && !node->now.present;
    bool went = node->now.present && !image->present;
    const unsigned char *blob_before = node->now.blob;
    int64_t revision_before = node->now.revision;
    node->now = *image;
    if (went) {
        lapse_table_unlink(table_of(state, node), node);
    }
    if (image->present && !came && image->revision < revision_before) {
        /* A row that stays keeps its place among its twins. */
        const struct lapse_node *older = lapse_table_older(node);
        LAPSE_ASSERT(older == NULL || older->now.revision < image->revision);
    }
    if (came) {
        lapse_table_link(table_of(state, node), node);
    }
    if (came || went) {
        follow_order(state, node);
    }
    if (node->kind == LAPSE_ROW_BUCKET && image->present &&
        image->blob != blob_before) {
        struct lapse_bucket *bucket = lapse_node_bucket(state, node);
        LAPSE_ASSERT(image->blob_len == sizeof(bucket->config));
        memcpy(&bucket->config, image->blob, sizeof(bucket->config));
    }
    index_end(state, node);
}

void lapse_state_trim_orders(struct lapse_state *state) {
    for (size_t i = 0; i < state->by_index.count; i++) {
        struct lapse_order *order = &state->by_index.items[i]->order;
        struct lapse_span unused = lapse_steady_between(order->used, state->last.store);
        if (order->asked && unused.ns >= LAPSE_ORDER_UNUSED_NS) {
            lapse_order_finish(state->alloc, order);
        }
    }
}

static void free_table(struct lapse_state *state, struct lapse_table *table) {
    struct lapse_node *node = lapse_table_any(table);
    while (node != NULL) {
        struct lapse_node *next = lapse_table_after(table, node);
        if (node->kind == LAPSE_ROW_BUCKET) {
            lapse_order_finish(state->alloc, &lapse_node_bucket(state, node)->order);
            free_table(state, &lapse_node_bucket(state, node)->records);
        }
        unsigned char *blob = node->now.blob;
        size_t blob_len = node->now.blob_len;
        struct lapse_image absent = lapse_node_absent(node);
        lapse_state_place(state, node, &absent);
        lapse_alloc_free(state->alloc, blob, blob_len);
        lapse_state_drop_node(state, node);
        node = next;
    }
    lapse_table_finish(state->alloc, table);
}

static struct lapse_table *table_of(struct lapse_state *state, const struct lapse_node *node) {
    switch (node->kind) {
    case LAPSE_ROW_RECORD:
        return &lapse_node_bucket(state, node)->records;
    case LAPSE_ROW_LEASE:
        return &state->leases;
    case LAPSE_ROW_SESSION:
        return &state->sessions;
    case LAPSE_ROW_REQUEST:
        return &state->requests;
    case LAPSE_ROW_BUCKET:
    case LAPSE_ROW_COUNTER:
    case LAPSE_ROW_MARK:
        break;
    }
    LAPSE_ASSERT(node->kind == LAPSE_ROW_BUCKET);
    return &state->buckets;
}

/* After a row of a key has come or gone: the order holds the newest that is left. */
static void follow_order(struct lapse_state *state, const struct lapse_node *node) {
    if (node->kind != LAPSE_ROW_RECORD) {
        return;
    }
    struct lapse_bucket *bucket = lapse_node_bucket(state, node);
    if (!bucket->order.made) {
        return;
    }
    struct lapse_node *newest = lapse_table_find(&bucket->records, lapse_node_key(node));
    if (newest == NULL) {
        lapse_order_remove(state->alloc, &bucket->order, lapse_node_key(node));
    } else {
        lapse_order_put(state->alloc, &bucket->order, newest);
    }
}

/* The heap that the node stands in, or has its place in, by its present image; not that of what
 * the wheel holds. */
static struct lapse_heap *heap_of(struct lapse_state *state, const struct lapse_node *node) {
    const struct lapse_image *image = &node->now;
    struct lapse_session *session = lapse_image_session(image);
    if (session != NULL) {
        return &session->members;
    }
    if (node->kind == LAPSE_ROW_SESSION) {
        return &state->sessions_due;
    }
    LAPSE_ASSERT(image->end_kind == LAPSE_END_WALL);
    return image->reached ? &state->reached : &state->wall;
}

/* Rows that end by their own word on store time; a session has a heap of its own. */
static bool in_wheel(const struct lapse_node *node) {
    return node->now.end_kind == LAPSE_END_STEADY && node->kind != LAPSE_ROW_SESSION;
}

static void unindex(struct lapse_state *state, struct lapse_node *node) {
    if (!node->placed) {
        return;
    }
    if (in_wheel(node)) {
        lapse_wheel_remove(&state->steady, node);
        return;
    }
    lapse_heap_remove(heap_of(state, node), node);
    move_session(state, node);
}

static void index_end(struct lapse_state *state, struct lapse_node *node) {
    if (!lapse_image_timed(&node->now)) {
        return;
    }
    if (in_wheel(node)) {
        lapse_wheel_insert(&state->steady, node);
        return;
    }
    lapse_heap_insert(heap_of(state, node), node);
    move_session(state, node);
}

/* A session that gains or loses a member may stand elsewhere among the sessions (S10). While a
 * rollback puts rows back, a member may still name a session that is gone again. */
static void move_session(struct lapse_state *state, const struct lapse_node *node) {
    const struct lapse_session *session = lapse_image_session(&node->now);
    if (session != NULL && session->row->placed) {
        lapse_heap_moved(&state->sessions_due, session->row);
    }
}
