/* The queue's order is total: time, phase, rank, class of the kind, sequence. */
#include "queue.h"

#include <criterion/criterion.h>

Test(queue, items_come_by_time_phase_rank_and_then_as_pushed) {
    struct lapse_queue queue;
    struct lapse_error err = {0};
    lapse_queue_init(&queue, lapse_alloc_libc());
    int64_t pushed = 0;
    /* Every combination of three times, phases and ranks, twice, in an order of no meaning. */
    for (int i = 0; i < 54; i++) {
        int x = (i * 23) % 54;
        struct lapse_queue_item item = {.at_ns = x % 3,
                                        .phase = (enum lapse_queue_phase)(1 + x / 3 % 3),
                                        .rank = x / 9 % 3 - 1,
                                        .kind = LAPSE_QUEUE_PROBE};
        cr_assert(lapse_queue_push(&queue, &item));
        pushed++;
        cr_assert_eq(lapse_queue_check(&queue, &err), LAPSE_OK);
    }
    struct lapse_queue_item last = {.at_ns = -1};
    while (lapse_queue_first(&queue) != NULL) {
        struct lapse_queue_item item = lapse_queue_pop(&queue);
        bool same_rank =
            item.at_ns == last.at_ns && item.phase == last.phase && item.rank == last.rank;
        bool later =
            item.at_ns > last.at_ns || (item.at_ns == last.at_ns && item.phase > last.phase) ||
            (item.at_ns == last.at_ns && item.phase == last.phase && item.rank > last.rank);
        cr_assert(later || (same_rank && item.seq > last.seq));
        last = item;
        pushed--;
    }
    cr_assert_eq(pushed, 0);
    lapse_alloc_free(queue.alloc, queue.heap.items, queue.heap.cap * sizeof(*queue.heap.items));
}

Test(queue, a_broken_heap_is_told) {
    struct lapse_queue queue;
    lapse_queue_init(&queue, lapse_alloc_libc());
    for (int i = 0; i < 8; i++) {
        cr_assert(lapse_queue_push(&queue, &(struct lapse_queue_item){.at_ns = i}));
    }
    queue.heap.items[6].at_ns = -1;
    cr_assert_eq(lapse_queue_check(&queue, NULL), LAPSE_BUG);
    lapse_alloc_free(queue.alloc, queue.heap.items, queue.heap.cap * sizeof(*queue.heap.items));
}

Test(queue, at_one_due_instant_deliveries_come_before_replies_before_timers) {
    static const enum lapse_queue_kind pushed[] = {
        LAPSE_QUEUE_TIMEOUT, LAPSE_QUEUE_REPLY,   LAPSE_QUEUE_STEP,  LAPSE_QUEUE_DELIVER,
        LAPSE_QUEUE_REQUEST, LAPSE_QUEUE_AWAITED, LAPSE_QUEUE_REPLY, LAPSE_QUEUE_HOUSEKEEP};
    static const size_t order[] = {7, 3, 4, 1, 6, 0, 2, 5};
    struct lapse_queue queue;
    lapse_queue_init(&queue, lapse_alloc_libc());
    for (int i = 0; i < 8; i++) {
        struct lapse_queue_item item = {
            .at_ns = 9, .phase = LAPSE_PHASE_UNDER_WAY, .kind = pushed[i], .rank = 5};
        item.rank = item.kind == LAPSE_QUEUE_HOUSEKEEP ? LAPSE_RANK_HOUSEKEEP : item.rank;
        cr_assert(lapse_queue_push(&queue, &item));
    }
    /* What was due before all of them, though only a timer, comes first but for housekeeping. */
    struct lapse_queue_item overdue = {
        .at_ns = 9, .phase = LAPSE_PHASE_UNDER_WAY, .kind = LAPSE_QUEUE_TIMEOUT, .rank = 4};
    cr_assert(lapse_queue_push(&queue, &overdue));
    cr_assert_eq(lapse_queue_check(&queue, NULL), LAPSE_OK);
    for (size_t i = 0; i < 8; i++) {
        cr_assert_eq(lapse_queue_pop(&queue).seq, (int64_t)order[i], "place %zu", i);
        cr_assert(i > 0 || lapse_queue_pop(&queue).seq == 8);
    }
    lapse_alloc_free(queue.alloc, queue.heap.items, queue.heap.cap * sizeof(*queue.heap.items));
}
