/* The heap of dates. */
#include "heap.h"

#include "state.h"

static void rise(struct lapse_heap *heap, size_t at);
static void sink(struct lapse_heap *heap, size_t at);
static void put(struct lapse_heap *heap, size_t at, struct lapse_node *node);
static const struct lapse_node *lead(const struct lapse_node *node);

bool lapse_heap_reserve(const lapse_alloc *alloc, struct lapse_heap *heap, size_t more) {
    void *items = heap->items;
    if (more > UINT32_MAX - 1 || heap->count > UINT32_MAX - 1 - more ||
        !lapse_alloc_grow(alloc, &items, &heap->cap, heap->count + more, sizeof(*heap->items))) {
        return false;
    }
    heap->items = items;
    return true;
}

void lapse_heap_insert(struct lapse_heap *heap, struct lapse_node *node) {
    LAPSE_ASSERT(heap->count < heap->cap);
    LAPSE_ASSERT(!node->placed);
    node->placed = true;
    put(heap, heap->count, node);
    heap->count++;
    rise(heap, heap->count - 1);
}

void lapse_heap_remove(struct lapse_heap *heap, struct lapse_node *node) {
    size_t at = node->at.heap_pos;
    LAPSE_ASSERT(node->placed);
    LAPSE_ASSERT(at < heap->count);
    LAPSE_ASSERT(heap->items[at] == node);
    heap->count--;
    node->placed = false;
    if (at == heap->count) {
        return;
    }
    put(heap, at, heap->items[heap->count]);
    rise(heap, at);
    sink(heap, at);
}

void lapse_heap_moved(struct lapse_heap *heap, struct lapse_node *node) {
    LAPSE_ASSERT(node->placed);
    LAPSE_ASSERT(node->at.heap_pos < heap->count);
    rise(heap, node->at.heap_pos);
    sink(heap, node->at.heap_pos);
}

void lapse_heap_finish(const lapse_alloc *alloc, struct lapse_heap *heap) {
    lapse_alloc_free(alloc, heap->items, heap->cap * sizeof(*heap->items));
    *heap = (struct lapse_heap){0};
}

bool lapse_heap_before(const struct lapse_buckets *buckets, const struct lapse_node *a,
                       const struct lapse_node *b) {
    if (a->now.end_ns != b->now.end_ns) {
        return a->now.end_ns < b->now.end_ns;
    }
    return lapse_heap_before_at_once(buckets, lead(a), lead(b));
}

bool lapse_heap_before_at_once(const struct lapse_buckets *buckets, const struct lapse_node *a,
                               const struct lapse_node *b) {
    if (a->kind != b->kind) {
        return a->kind < b->kind;
    }
    if (a->now.revision != b->now.revision) {
        return a->now.revision < b->now.revision;
    }
    if (a->bucket != b->bucket) {
        /* Of records alone: nothing else has a bucket. */
        return lapse_bytes_compare(lapse_node_key(buckets->items[a->bucket]->row),
                                   lapse_node_key(buckets->items[b->bucket]->row)) < 0;
    }
    return lapse_bytes_compare(lapse_node_key(a), lapse_node_key(b)) < 0;
}

enum lapse_status lapse_heap_check(const struct lapse_heap *heap, enum lapse_end_kind kind,
                                   struct lapse_error *err) {
    for (size_t i = 0; i < heap->count; i++) {
        const struct lapse_node *node = heap->items[i];
        if (!node->placed || node->at.heap_pos != i) {
            return lapse_error_set(err, LAPSE_BUG, "the row at heap place %zu believes to be at %u",
                                   i, (unsigned)node->at.heap_pos);
        }
        if (!lapse_image_timed(&node->now) || node->now.end_kind != kind) {
            return lapse_error_set(err, LAPSE_BUG,
                                   "the row at heap place %zu has no end of kind %d", i,
                                   (int)kind);
        }
        if (i > 0 && lapse_heap_before(heap->buckets, node, heap->items[(i - 1) / 2])) {
            return lapse_error_set(err, LAPSE_BUG,
                                   "the row at heap place %zu ends before its "
                                   "parent",
                                   i);
        }
    }
    return LAPSE_OK;
}

static void rise(struct lapse_heap *heap, size_t at) {
    struct lapse_node *node = heap->items[at];
    while (at > 0 && lapse_heap_before(heap->buckets, node, heap->items[(at - 1) / 2])) {
        put(heap, at, heap->items[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(heap, at, node);
}

static void sink(struct lapse_heap *heap, size_t at) {
    struct lapse_node *node = heap->items[at];
    for (size_t child = 2 * at + 1; child < heap->count; child = 2 * at + 1) {
        if (child + 1 < heap->count &&
            lapse_heap_before(heap->buckets, heap->items[child + 1], heap->items[child])) {
            child++;
        }
        if (!lapse_heap_before(heap->buckets, heap->items[child], node)) {
            break;
        }
        put(heap, at, heap->items[child]);
        at = child;
    }
    put(heap, at, node);
}

/* The row that the reaper takes for `node`: of a session, the first that ends with it. */
static const struct lapse_node *lead(const struct lapse_node *node) {
    return node->kind == LAPSE_ROW_SESSION ? lapse_session_lead(node->now.aux.session) : node;
}

static void put(struct lapse_heap *heap, size_t at, struct lapse_node *node) {
    heap->items[at] = node;
    node->at.heap_pos = (uint32_t)at;
}
