/* The order of a bucket's keys: a list of chunks of sorted rows. A change moves at most one chunk,
 * and the list of chunks only when one is split or emptied. */
#include "order.h"

#include <string.h>

enum { FILL = LAPSE_ORDER_CHUNK * 3 / 4 };

static bool fill(const lapse_alloc *alloc, struct lapse_order *order, struct lapse_node **nodes,
                 size_t count);
static bool find(const struct lapse_order *order, struct lapse_bytes key,
                 struct lapse_order_at *ret);
static bool add_chunk(const lapse_alloc *alloc, struct lapse_order *order, size_t at);
static bool split(const lapse_alloc *alloc, struct lapse_order *order, size_t at);
static void drop_chunk(const lapse_alloc *alloc, struct lapse_order *order, size_t at);
static void join_next(const lapse_alloc *alloc, struct lapse_order *order, size_t at);

bool lapse_order_make(const lapse_alloc *alloc, struct lapse_order *order,
                      const struct lapse_table *table) {
    if (order->made) {
        return true;
    }
    struct lapse_node **nodes = NULL;
    lapse_order_finish(alloc, order);
    if (!lapse_table_sorted(alloc, table, &nodes)) {
        return false;
    }
    order->made = true;
    bool made = fill(alloc, order, nodes, table->count);
    lapse_alloc_free(alloc, nodes, table->count * sizeof(struct lapse_node *));
    if (!made) {
        lapse_order_finish(alloc, order);
    }
    return made;
}

void lapse_order_put(const lapse_alloc *alloc, struct lapse_order *order, struct lapse_node *node) {
    struct lapse_order_at at;
    if (find(order, lapse_node_key(node), &at)) {
        order->chunks[at.chunk]->nodes[at.index] = node;
        return;
    }
    if (order->chunk_count == 0 && !add_chunk(alloc, order, 0)) {
        lapse_order_finish(alloc, order);
        return;
    }
    if (order->chunks[at.chunk]->count == LAPSE_ORDER_CHUNK) {
        if (!split(alloc, order, at.chunk)) {
            lapse_order_finish(alloc, order);
            return;
        }
        (void)find(order, lapse_node_key(node), &at);
    }
    struct lapse_order_chunk *chunk = order->chunks[at.chunk];
    memmove(&chunk->nodes[at.index + 1], &chunk->nodes[at.index],
            (chunk->count - at.index) * sizeof(struct lapse_node *));
    chunk->nodes[at.index] = node;
    chunk->count++;
    order->count++;
}

void lapse_order_remove(const lapse_alloc *alloc, struct lapse_order *order,
                        struct lapse_bytes key) {
    struct lapse_order_at at;
    bool found = find(order, key, &at);
    LAPSE_ASSERT(found);
    struct lapse_order_chunk *chunk = order->chunks[at.chunk];
    chunk->count--;
    order->count--;
    memmove(&chunk->nodes[at.index], &chunk->nodes[at.index + 1],
            (chunk->count - at.index) * sizeof(struct lapse_node *));
    if (chunk->count == 0) {
        drop_chunk(alloc, order, at.chunk);
        return;
    }
    if (at.chunk + 1 < order->chunk_count) {
        join_next(alloc, order, at.chunk);
    }
    if (at.chunk > 0) {
        join_next(alloc, order, at.chunk - 1);
    }
}

struct lapse_order_at lapse_order_above(const struct lapse_order *order,
                                        const struct lapse_bytes *after) {
    struct lapse_order_at at = {0, 0};
    if (after != NULL && find(order, *after, &at)) {
        at.index++;
    }
    return at;
}

struct lapse_node *lapse_order_next(const struct lapse_order *order,
                                          struct lapse_order_at *at) {
    if (at->chunk < order->chunk_count && at->index == order->chunks[at->chunk]->count) {
        at->chunk++;
        at->index = 0;
    }
    return at->chunk == order->chunk_count ? NULL : order->chunks[at->chunk]->nodes[at->index++];
}

void lapse_order_finish(const lapse_alloc *alloc, struct lapse_order *order) {
    while (order->chunk_count > 0) {
        drop_chunk(alloc, order, order->chunk_count - 1);
    }
    lapse_alloc_free(alloc, order->chunks, order->chunk_cap * sizeof(*order->chunks));
    *order = (struct lapse_order){0};
}

enum lapse_status lapse_order_check(const struct lapse_order *order,
                                    const struct lapse_table *table, struct lapse_error *err) {
    const struct lapse_node *before = NULL;
    size_t count = 0;
    for (size_t i = 0; i < order->chunk_count; i++) {
        const struct lapse_order_chunk *chunk = order->chunks[i];
        if (chunk->count == 0 || chunk->count > LAPSE_ORDER_CHUNK) {
            return lapse_error_set(err, LAPSE_BUG, "chunk %zu of an order holds %zu rows (O1)", i,
                                   chunk->count);
        }
        for (size_t k = 0; k < chunk->count; k++) {
            const struct lapse_node *node = chunk->nodes[k];
            struct lapse_bytes key = lapse_node_key(node);
            if ((before != NULL && lapse_bytes_compare(lapse_node_key(before), key) >= 0) ||
                !order->made || lapse_table_find(table, key) != node) {
                return lapse_error_set(err, LAPSE_BUG,
                                       "a row in chunk %zu of an order is out of it, or not the "
                                       "newest of its key (O1, O2)",
                                       i);
            }
            before = node;
            count++;
        }
    }
    size_t keys = 0;
    const struct lapse_node *node = order->made ? lapse_table_any(table) : NULL;
    for (; node != NULL; node = lapse_table_after(table, node)) {
        keys += lapse_table_find(table, lapse_node_key(node)) == node ? 1 : 0;
    }
    if (count != order->count || count != keys) {
        return lapse_error_set(err, LAPSE_BUG,
                               "an order counts %zu keys and holds %zu; there are %zu (O2)",
                               order->count, count, keys);
    }
    return LAPSE_OK;
}

/* Chunks are left some room. Of a key's rows the newest stays. */
static bool fill(const lapse_alloc *alloc, struct lapse_order *order, struct lapse_node **nodes,
                 size_t count) {
    struct lapse_order_chunk *chunk = NULL;
    const struct lapse_node *before = NULL;
    for (size_t i = 0; i < count; i++) {
        if (before != NULL && lapse_bytes_equal(lapse_node_key(before), lapse_node_key(nodes[i]))) {
            before = nodes[i];
            chunk->nodes[chunk->count - 1] = nodes[i];
            continue;
        }
        if (chunk == NULL || chunk->count == FILL) {
            if (!add_chunk(alloc, order, order->chunk_count)) {
                return false;
            }
            chunk = order->chunks[order->chunk_count - 1];
        }
        before = chunk->nodes[chunk->count++] = nodes[i];
        order->count++;
    }
    return true;
}

/* Where a key stands, and true; or where it belongs, in the last chunk that begins below it. */
static bool find(const struct lapse_order *order, struct lapse_bytes key,
                 struct lapse_order_at *ret) {
    size_t low = 0;
    size_t high = order->chunk_count;
    *ret = (struct lapse_order_at){0, 0};
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        bool above = lapse_bytes_compare(lapse_node_key(order->chunks[middle]->nodes[0]), key) > 0;
        *(above ? &high : &low) = middle;
    }
    if (order->chunk_count == 0) {
        return false;
    }
    const struct lapse_order_chunk *chunk = order->chunks[low];
    ret->chunk = low;
    low = 0;
    high = chunk->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int compared = lapse_bytes_compare(lapse_node_key(chunk->nodes[middle]), key);
        if (compared == 0) {
            ret->index = middle;
            return true;
        }
        if (compared < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    ret->index = low;
    return false;
}

/* An empty chunk at a place in the list. */
static bool add_chunk(const lapse_alloc *alloc, struct lapse_order *order, size_t at) {
    void *chunks = order->chunks;
    if (!lapse_alloc_grow(alloc, &chunks, &order->chunk_cap, order->chunk_count + 1,
                          sizeof(*order->chunks))) {
        return false;
    }
    order->chunks = chunks;
    struct lapse_order_chunk *chunk = alloc->resize(alloc->ctx, NULL, 0, sizeof(*chunk));
    if (chunk == NULL) {
        return false;
    }
    chunk->count = 0;
    memmove(&order->chunks[at + 1], &order->chunks[at],
            (order->chunk_count - at) * sizeof(*order->chunks));
    order->chunks[at] = chunk;
    order->chunk_count++;
    return true;
}

static bool split(const lapse_alloc *alloc, struct lapse_order *order, size_t at) {
    if (!add_chunk(alloc, order, at + 1)) {
        return false;
    }
    struct lapse_order_chunk *lower = order->chunks[at];
    struct lapse_order_chunk *upper = order->chunks[at + 1];
    /* Keys that come in order leave full chunks behind. */
    lower->count = at + 2 == order->chunk_count ? FILL : LAPSE_ORDER_CHUNK / 2;
    upper->count = LAPSE_ORDER_CHUNK - lower->count;
    memcpy(upper->nodes, &lower->nodes[lower->count], upper->count * sizeof(struct lapse_node *));
    return true;
}

static void drop_chunk(const lapse_alloc *alloc, struct lapse_order *order, size_t at) {
    lapse_alloc_free(alloc, order->chunks[at], sizeof(*order->chunks[at]));
    order->chunk_count--;
    memmove(&order->chunks[at], &order->chunks[at + 1],
            (order->chunk_count - at) * sizeof(*order->chunks));
}

/* Two chunks that are half full together become one, so that few keys do not hold many chunks. */
static void join_next(const lapse_alloc *alloc, struct lapse_order *order, size_t at) {
    struct lapse_order_chunk *chunk = order->chunks[at];
    const struct lapse_order_chunk *next = order->chunks[at + 1];
    if (chunk->count + next->count > LAPSE_ORDER_CHUNK / 2) {
        return;
    }
    memcpy(&chunk->nodes[chunk->count], next->nodes, next->count * sizeof(struct lapse_node *));
    chunk->count += next->count;
    drop_chunk(alloc, order, at + 1);
}
