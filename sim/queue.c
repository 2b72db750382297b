/* A binary heap in the arena. Its comparison is total: no two items have one sequence number. */
#include "queue.h"

static int class_of(enum lapse_queue_kind kind);
static void sift_up(struct lapse_queue_item *items, size_t at);
static void sift_down(struct lapse_queue_item *items, size_t count, size_t at);

void lapse_queue_init(struct lapse_queue *queue, const lapse_alloc *alloc) {
    *queue = (struct lapse_queue){.alloc = alloc};
}

bool lapse_queue_push(struct lapse_queue *queue, const struct lapse_queue_item *item) {
    struct lapse_queue_item stamped = *item;
    stamped.seq = queue->next_seq;
    if (!lapse_queue_list_add(&queue->heap, queue->alloc, &stamped)) {
        return false;
    }
    queue->next_seq++;
    sift_up(queue->heap.items, queue->heap.count - 1);
    return true;
}

const struct lapse_queue_item *lapse_queue_first(const struct lapse_queue *queue) {
    return queue->heap.count == 0 ? NULL : &queue->heap.items[0];
}

struct lapse_queue_item lapse_queue_pop(struct lapse_queue *queue) {
    return lapse_queue_take(queue, 0);
}

struct lapse_queue_item lapse_queue_take(struct lapse_queue *queue, size_t place) {
    LAPSE_ASSERT(place < queue->heap.count);
    struct lapse_queue_item *items = queue->heap.items;
    struct lapse_queue_item taken = items[place];
    size_t count = --queue->heap.count;
    if (place < count) {
        items[place] = items[count];
        sift_down(items, count, place);
        sift_up(items, place);
    }
    return taken;
}

bool lapse_queue_list_add(struct lapse_queue_list *list, const lapse_alloc *alloc,
                          const struct lapse_queue_item *item) {
    void *items = list->items;
    if (!lapse_alloc_grow(alloc, &items, &list->cap, list->count + 1, sizeof(*item))) {
        return false;
    }
    list->items = items;
    list->items[list->count++] = *item;
    return true;
}

void lapse_queue_restore(struct lapse_queue *queue) {
    for (size_t i = queue->heap.count / 2; i > 0; i--) {
        sift_down(queue->heap.items, queue->heap.count, i - 1);
    }
}

enum lapse_status lapse_queue_check(const struct lapse_queue *queue, struct lapse_error *err) {
    for (size_t i = 1; i < queue->heap.count; i++) {
        if (lapse_queue_before(&queue->heap.items[i], &queue->heap.items[(i - 1) / 2])) {
            return lapse_error_set(err, LAPSE_BUG, "the queue's heap is out of order at %zu", i);
        }
    }
    return LAPSE_OK;
}

bool lapse_queue_before(const struct lapse_queue_item *a, const struct lapse_queue_item *b) {
    if (a->at_ns != b->at_ns) {
        return a->at_ns < b->at_ns;
    }
    if (a->phase != b->phase) {
        return a->phase < b->phase;
    }
    if (a->rank != b->rank) {
        return a->rank < b->rank;
    }
    if (class_of(a->kind) != class_of(b->kind)) {
        return class_of(a->kind) < class_of(b->kind);
    }
    return a->seq < b->seq;
}

/* What is on its way comes before what only waits for the clock: a reply that arrives at the very
 * instant of its timeout is in time. */
static int class_of(enum lapse_queue_kind kind) {
    switch (kind) {
    case LAPSE_QUEUE_REQUEST:
    case LAPSE_QUEUE_DELIVER:
        return 0;
    case LAPSE_QUEUE_REPLY:
        return 1;
    default:
        return 2;
    }
}

static void sift_up(struct lapse_queue_item *items, size_t at) {
    struct lapse_queue_item moving = items[at];
    while (at > 0 && lapse_queue_before(&moving, &items[(at - 1) / 2])) {
        items[at] = items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    items[at] = moving;
}

static void sift_down(struct lapse_queue_item *items, size_t count, size_t at) {
    struct lapse_queue_item moving = items[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count) {
            break;
        }
        if (child + 1 < count && lapse_queue_before(&items[child + 1], &items[child])) {
            child++;
        }
        if (!lapse_queue_before(&items[child], &moving)) {
            break;
        }
        items[at] = items[child];
        at = child;
    }
    items[at] = moving;
}
