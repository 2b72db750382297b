/* The wheel against a plain list: whatever comes and goes, and wherever the position has to go back
 * to, it gives its rows in the reaper's order. */
#include "state.h"
#include "testing.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 300, BUCKETS = 3, MANY = 100000, ALLOWED = 500 };

struct random {
    uint64_t state;
};

static uint32_t below(struct random *random, uint32_t n);
static int64_t draw_end(struct random *random);
static void make_rows(struct lapse_state *state, struct random *random, struct lapse_node **nodes);
static struct lapse_node *make_row(struct lapse_state *state, struct random *random, int order,
                                   size_t i);
static struct lapse_node *least(const struct lapse_state *state, struct lapse_node **nodes,
                                bool by_end_alone);
static struct lapse_node *first_of(struct lapse_wheel *wheel);
static bool same_first(struct lapse_state *state, struct lapse_node **nodes, int64_t due_ns,
                       size_t work);
static void same_min(struct lapse_state *state, struct lapse_node **nodes);
static void check(const struct lapse_state *state);
static void free_rows(struct lapse_state *state, struct lapse_node **nodes, size_t count);

/* What has come is asked for with an allowance that is mostly too small, and rows come and go while
 * it is at work. */
Test(wheel, rows_leave_in_the_reapers_order_whatever_came_and_went) {
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct random random = {seed};
        struct lapse_state state;
        struct lapse_node *nodes[ROWS];
        uint32_t left = 0;
        lapse_state_init(&state, lapse_alloc_libc(), 8);
        make_rows(&state, &random, nodes);
        for (int i = 0; i < 4000; i++) {
            struct lapse_node *node = nodes[below(&random, ROWS)];
            if (below(&random, 8) == 0) {
                int64_t due_ns = below(&random, 3) == 0 ? INT64_MAX : draw_end(&random);
                left += same_first(&state, nodes, due_ns, below(&random, 12)) ? 0 : 1;
            } else if (node->placed) {
                lapse_wheel_remove(&state.steady, node);
            } else {
                node->now.end_ns = draw_end(&random);
                lapse_wheel_insert(&state.steady, node);
            }
            if (below(&random, 50) == 0) {
                cr_assert(lapse_wheel_reserve(state.alloc, &state.steady));
            }
            if (below(&random, 3) == 0) {
                same_min(&state, nodes);
            }
            check(&state);
        }
        cr_expect_gt(left, 20, "work was left undone %d times", (int)left);
        while (state.steady.count > 0) {
            struct lapse_node *first = first_of(&state.steady);
            cr_assert_eq(first, least(&state, nodes, false));
            lapse_wheel_remove(&state.steady, first);
        }
        int64_t none = 0;
        cr_expect_null(first_of(&state.steady));
        cr_expect_not(lapse_wheel_min(&state.steady, &none));
        free_rows(&state, nodes, ROWS);
    }
}

/* A hundred thousand rows in many orders, of one instant and of many. Each call is allowed little,
 * and the sum is what a merge sort, or one path down the levels, takes. */
Test(wheel, no_call_does_more_than_it_is_allowed) {
    static const char *const orders[] = {"rising",   "falling",   "two runs", "mixed",
                                         "all ends", "near ends", "two ends"};
    static const size_t log_max[] = {0, 0, 14, 17, 12, 12, 12};
    static struct lapse_node *nodes[MANY];
    for (int order = 0; order < 7; order++) {
        struct random random = {(uint64_t)order};
        struct lapse_state state;
        size_t sum = 0;
        size_t refused = 0;
        lapse_state_init(&state, lapse_alloc_libc(), 8);
        cr_assert(lapse_wheel_reserve(state.alloc, &state.steady));
        for (size_t i = 0; i < MANY; i++) {
            nodes[i] = make_row(&state, &random, order, i);
            cr_assert(lapse_wheel_reserve(state.alloc, &state.steady));
            lapse_wheel_insert(&state.steady, nodes[i]);
        }
        const struct lapse_node *before = NULL;
        while (state.steady.count > 0) {
            struct lapse_node *first = NULL;
            size_t work = ALLOWED;
            bool ready = lapse_wheel_first(&state.steady, INT64_MAX, &work, &first);
            sum += ALLOWED - work;
            refused += ready ? 0 : 1;
            cr_assert(ready || work == 0);
            if (!ready) {
                continue;
            }
            cr_assert(before == NULL || lapse_heap_before(&state.by_index, before, first));
            if (before != NULL) {
                lapse_node_free(state.alloc, (struct lapse_node *)before);
            }
            lapse_wheel_remove(&state.steady, first);
            before = first;
        }
        lapse_node_free(state.alloc, (struct lapse_node *)before);
        cr_expect_leq(sum, MANY * (log_max[order] + (order < 2 ? 0 : 3)), "%s: %zu", orders[order],
                      sum);
        cr_expect(order < 2 ? refused == 0 : refused > 100, "%s: %zu", orders[order], refused);
        lapse_state_finish(&state);
    }
}

/* Nothing has to be done for rows that came in the order in which they end. */
Test(wheel, rows_that_came_in_order_are_given_as_they_are) {
    struct lapse_state state;
    static struct lapse_node *nodes[1000];
    size_t none = 0;
    lapse_state_init(&state, lapse_alloc_libc(), 8);
    for (size_t i = 0; i < 1000; i++) {
        nodes[i] = lapse_node_make(state.alloc, LAPSE_ROW_LEASE, lapse_bytes_of("lease"));
        cr_assert_not_null(nodes[i]);
        nodes[i]->now = (struct lapse_image){.present = true, .end_kind = LAPSE_END_STEADY};
        nodes[i]->now.revision = (int64_t)i + 1;
        nodes[i]->now.end_ns = S(30) + (int64_t)(i / 10) * S(1) / 2;
        if (i < 3) {
            cr_assert(lapse_wheel_reserve(state.alloc, &state.steady));
        }
    }
    /* Those that came before the levels were made wait for them. */
    for (size_t i = 0; i < 1000; i++) {
        cr_assert(lapse_wheel_reserve(state.alloc, &state.steady));
        lapse_wheel_insert(&state.steady, nodes[i]);
    }
    size_t few = 200;
    struct lapse_node *first = NULL;
    cr_assert(lapse_wheel_first(&state.steady, S(30), &few, &first));
    for (size_t i = 0; i < 1000; i++) {
        cr_assert(lapse_wheel_first(&state.steady, nodes[i]->now.end_ns, &none, &first));
        cr_assert_eq(first, nodes[i], "%zu", i);
        lapse_wheel_remove(&state.steady, first);
    }
    free_rows(&state, nodes, 1000);
}

Test(wheel, its_checker_finds_a_row_in_the_wrong_place) {
    struct random random = {7};
    struct lapse_state state;
    struct lapse_error err;
    struct lapse_node *nodes[ROWS];
    lapse_state_init(&state, lapse_alloc_libc(), 8);
    make_rows(&state, &random, nodes);
    for (int i = 0; i < 4; i++) {
        nodes[i]->now.end_ns = i < 2 ? S(1) : S(i);
        nodes[i]->now.revision = 10 - i;
        lapse_wheel_insert(&state.steady, nodes[i]);
        cr_assert(lapse_wheel_reserve(state.alloc, &state.steady));
    }
    check(&state);
    int64_t end = nodes[3]->now.end_ns;
    nodes[3]->now.end_ns = S(5000);
    cr_expect_eq(lapse_wheel_check(&state.steady, &err), LAPSE_BUG, "an end that was moved");
    nodes[3]->now.end_ns = end;
    state.steady.count++;
    cr_expect_eq(lapse_wheel_check(&state.steady, &err), LAPSE_BUG, "a row that is not there");
    state.steady.count--;
    state.steady.used ^= 1;
    cr_expect_eq(lapse_wheel_check(&state.steady, &err), LAPSE_BUG, "a level that is not seen");
    state.steady.used ^= 1;
    struct lapse_node *first = first_of(&state.steady);
    cr_expect_eq(first, least(&state, nodes, false));
    int64_t revision = first->now.revision;
    first->now.revision += 1000;
    cr_expect_eq(lapse_wheel_check(&state.steady, &err), LAPSE_BUG, "a slot that is not sorted");
    first->now.revision = revision;
    state.steady.levels[0]->sorted ^= UINT64_C(1) << 63;
    cr_expect_eq(lapse_wheel_check(&state.steady, &err), LAPSE_BUG, "a mark on an empty slot");
    state.steady.levels[0]->sorted ^= UINT64_C(1) << 63;
    check(&state);
    free_rows(&state, nodes, ROWS);
}

/* Work that was left half done is walked too: the rest of a slot, and the runs of an instant. */
Test(wheel, its_checker_walks_what_is_half_done) {
    for (int sorting = 0; sorting < 2; sorting++) {
        struct random random = {9};
        struct lapse_state state;
        struct lapse_error err;
        struct lapse_node *nodes[ROWS];
        struct lapse_node *first = NULL;
        size_t work = 180;
        lapse_state_init(&state, lapse_alloc_libc(), 8);
        make_rows(&state, &random, nodes);
        for (int i = 0; i < ROWS; i++) {
            nodes[i]->now.end_ns = i == 0 || sorting ? S(1) : S(99) + i * 7919 % 4096;
            cr_assert(lapse_wheel_reserve(state.alloc, &state.steady));
            lapse_wheel_insert(&state.steady, nodes[i]);
        }
        lapse_wheel_remove(&state.steady, nodes[0]);
        cr_assert_not(lapse_wheel_first(&state.steady, INT64_MAX, &work, &first));
        struct lapse_node **ring = sorting ? &state.steady.runs.rings[LAPSE_RUNS_INPUT]
                                           : &state.steady.rest;
        cr_assert_eq(state.steady.runs.active, sorting == 1);
        cr_assert_not_null(*ring);
        check(&state);
        int64_t end = (*ring)->now.end_ns;
        (*ring)->now.end_ns = sorting ? S(2) : 0;
        cr_expect_eq(lapse_wheel_check(&state.steady, &err), LAPSE_BUG);
        cr_expect_not_null(strstr(err.message, sorting ? "(W5)" : "(W4)"), "%s", err.message);
        (*ring)->now.end_ns = end;
        if (sorting) {
            struct lapse_node **out = &state.steady.runs.rings[LAPSE_RUNS_OUT];
            for (int bin = 0; *out == NULL || (*out)->at.wheel.next == *out; bin++) {
                out = &state.steady.runs.rings[LAPSE_RUNS_BINS + bin];
            }
            *out = (*out)->at.wheel.next;
            cr_expect_eq(lapse_wheel_check(&state.steady, &err), LAPSE_BUG, "a run that is turned");
            *out = (*out)->at.wheel.prev;
        }
        check(&state);
        free_rows(&state, nodes, ROWS);
    }
}

static uint32_t below(struct random *random, uint32_t n) {
    random->state = random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random->state >> 33) % n;
}

/* Few ends that many share, neighbours, all magnitudes, and the edges of the range. */
static int64_t draw_end(struct random *random) {
    static const int64_t edges[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    int64_t any = (int64_t)below(random, INT32_MAX) << below(random, 32);
    switch (below(random, 5)) {
    case 0:
        return edges[below(random, sizeof(edges) / sizeof(edges[0]))];
    case 1:
        return S(below(random, 4));
    case 2:
        return S(1) + below(random, 130);
    case 3:
        return -any;
    default:
        return any;
    }
}

static void make_rows(struct lapse_state *state, struct random *random, struct lapse_node **nodes) {
    static const char *const names[BUCKETS] = {"c", "a", "b"};
    cr_assert(lapse_wheel_reserve(state->alloc, &state->steady));
    for (int i = 0; i < BUCKETS; i++) {
        cr_assert_not_null(lapse_bucket_make(state, lapse_bytes_of(names[i])));
    }
    for (int i = 0; i < ROWS; i++) {
        char key[16];
        (void)snprintf(key, sizeof(key), "%d", i);
        bool lease = below(random, 3) == 0;
        nodes[i] = lapse_node_make(state->alloc, lease ? LAPSE_ROW_LEASE : LAPSE_ROW_RECORD,
                                   lapse_bytes_of(key));
        cr_assert_not_null(nodes[i]);
        nodes[i]->bucket = lease ? LAPSE_BUCKET_NONE : (uint16_t)below(random, BUCKETS);
        nodes[i]->now = (struct lapse_image){
            .present = true, .end_kind = LAPSE_END_STEADY, .revision = 1 + below(random, 20)};
    }
}

/* The i-th of many, for the orders of the test that counts. */
static struct lapse_node *make_row(struct lapse_state *state, struct random *random, int order,
                                   size_t i) {
    size_t mixed = i * 7919 % MANY;
    size_t ranks[] = {i, MANY - i, i % 2 == 0 ? i / 2 : MANY - 1 - i / 2, mixed, i, i, mixed};
    int64_t ends[] = {0, 0, 0, 0, below(random, INT32_MAX), below(random, 5000), (int64_t)i % 2};
    char key[16];
    (void)snprintf(key, sizeof(key), "%zu", i);
    struct lapse_node *node = lapse_node_make(state->alloc, LAPSE_ROW_LEASE, lapse_bytes_of(key));
    cr_assert_not_null(node);
    node->now = (struct lapse_image){.present = true,
                                     .end_kind = LAPSE_END_STEADY,
                                     .end_ns = S(30) + ends[order],
                                     .revision = (int64_t)ranks[order] + 1};
    return node;
}

static struct lapse_node *least(const struct lapse_state *state, struct lapse_node **nodes,
                                bool by_end_alone) {
    struct lapse_node *found = NULL;
    for (int i = 0; i < ROWS; i++) {
        if (nodes[i]->placed &&
            (found == NULL ||
             (by_end_alone ? nodes[i]->now.end_ns < found->now.end_ns
                           : lapse_heap_before(&state->by_index, nodes[i], found)))) {
            found = nodes[i];
        }
    }
    return found;
}

static struct lapse_node *first_of(struct lapse_wheel *wheel) {
    size_t work = SIZE_MAX;
    struct lapse_node *first = NULL;
    cr_assert(lapse_wheel_first(wheel, INT64_MAX, &work, &first));
    return first;
}

/* Whether the allowance was enough; then the row found is the right one, and the wheel knows that
 * no row is due when it finds none. */
static bool same_first(struct lapse_state *state, struct lapse_node **nodes, int64_t due_ns,
                       size_t work) {
    struct lapse_node *found = NULL;
    struct lapse_node *first = least(state, nodes, false);
    bool ready = lapse_wheel_first(&state->steady, due_ns, &work, &found);
    if (!ready) {
        cr_assert_eq(work, 0);
        return false;
    }
    cr_assert_eq(found, first != NULL && first->now.end_ns <= due_ns ? first : NULL);
    int64_t end = 0;
    cr_assert(found != NULL || !lapse_wheel_min(&state->steady, &end) || end > due_ns);
    return true;
}

/* The earliest end, or an instant before it where many rows wait. */
static void same_min(struct lapse_state *state, struct lapse_node **nodes) {
    int64_t end = 0;
    const struct lapse_node *first = least(state, nodes, true);
    cr_assert_eq(lapse_wheel_min(&state->steady, &end), first != NULL);
    cr_assert(first == NULL || end <= first->now.end_ns);
    cr_assert(first == NULL || state->steady.count > 64 || state->steady.runs.active ||
              end == first->now.end_ns);
}

static void check(const struct lapse_state *state) {
    struct lapse_error err;
    cr_assert_eq(lapse_wheel_check(&state->steady, &err), LAPSE_OK, "%s", err.message);
}

static void free_rows(struct lapse_state *state, struct lapse_node **nodes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (nodes[i]->placed) {
            lapse_wheel_remove(&state->steady, nodes[i]);
        }
        lapse_node_free(state->alloc, nodes[i]);
    }
    while (state->by_index.count > 0) {
        lapse_bucket_free(state, state->by_index.items[state->by_index.count - 1]);
    }
    lapse_state_finish(state);
}
