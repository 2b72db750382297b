/* The queue's order is total: time, phase, rank, sequence. */
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
