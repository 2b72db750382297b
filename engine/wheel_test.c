/* The wheel against a plain list: whatever comes and goes, and wherever the position has to go back
 * to, it gives its rows in the reaper's order. */
#include "state.h"
#include "testing.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { ROWS = 300, BUCKETS = 3, MANY = 100000 };

struct random {
    uint64_t state;
};

static uint32_t below(struct random *random, uint32_t n);
static int64_t draw_end(struct random *random);
static void make_rows(struct lapse_state *state, struct random *random, struct lapse_node **nodes);
static struct lapse_node *least(const struct lapse_state *state, struct lapse_node **nodes,
                                bool by_end_alone);
static void same_min(struct lapse_state *state, struct lapse_node **nodes);
static void check(const struct lapse_state *state);
static void free_rows(struct lapse_state *state, struct lapse_node **nodes, size_t count);

Test(wheel, rows_leave_in_the_reapers_order_whatever_came_and_went) {
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct random random = {seed};
        struct lapse_state state;
        struct lapse_node *nodes[ROWS];
        lapse_state_init(&state, lapse_alloc_libc(), 8);
        make_rows(&state, &random, nodes);
        for (int i = 0; i < 3000; i++) {
            struct lapse_node *node = nodes[below(&random, ROWS)];
            if (below(&random, 8) == 0) {
                cr_assert_eq(lapse_wheel_first(&state.steady), least(&state, nodes, false),
                             "seed %d, operation %d", (int)seed, i);
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
        while (state.steady.count > 0) {
            struct lapse_node *first = lapse_wheel_first(&state.steady);
            cr_assert_eq(first, least(&state, nodes, false));
            lapse_wheel_remove(&state.steady, first);
        }
        int64_t none = 0;
        cr_expect_null(lapse_wheel_first(&state.steady));
        cr_expect_not(lapse_wheel_min(&state.steady, &none));
        free_rows(&state, nodes, ROWS);
    }
}

Test(wheel, rows_of_one_instant_are_sorted_without_a_search) {
    struct lapse_state state;
    static struct lapse_node *nodes[MANY];
    lapse_state_init(&state, lapse_alloc_libc(), 8);
    cr_assert(lapse_wheel_reserve(state.alloc, &state.steady));
    /* Rising, falling, and in two interleaved runs; a quadratic sort would not come to an end. */
    for (int order = 0; order < 3; order++) {
        for (size_t i = 0; i < MANY; i++) {
            nodes[i] = lapse_node_make(state.alloc, LAPSE_ROW_LEASE, lapse_bytes_of("lease"));
            cr_assert_not_null(nodes[i]);
            size_t mixed = i % 2 == 0 ? i / 2 : MANY - 1 - i / 2;
            size_t rank = order == 0 ? i : order == 1 ? MANY - i : mixed;
            nodes[i]->now = (struct lapse_image){.present = true,
                                                 .end_kind = LAPSE_END_STEADY,
                                                 .end_ns = S(30),
                                                 .revision = (int64_t)rank + 1};
            lapse_wheel_insert(&state.steady, nodes[i]);
        }
        int64_t before = 0;
        for (size_t i = 0; i < MANY; i++) {
            struct lapse_node *first = lapse_wheel_first(&state.steady);
            cr_assert_gt(first->now.revision, before);
            before = first->now.revision;
            lapse_wheel_remove(&state.steady, first);
            lapse_node_free(state.alloc, first);
        }
        cr_assert_eq(state.steady.count, 0);
    }
    lapse_state_finish(&state);
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
        lapse_wheel_insert(&state.steady, nodes[i]);
    }
    cr_assert(lapse_wheel_reserve(state.alloc, &state.steady));
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
    struct lapse_node *first = lapse_wheel_first(&state.steady);
    int64_t revision = first->now.revision;
    first->now.revision += 1000;
    cr_expect_eq(lapse_wheel_check(&state.steady, &err), LAPSE_BUG, "a slot that is not sorted");
    first->now.revision = revision;
    state.steady.levels[0]->ordered ^= UINT64_C(1) << 63;
    cr_expect_eq(lapse_wheel_check(&state.steady, &err), LAPSE_BUG, "a mark on an empty slot");
    state.steady.levels[0]->ordered ^= UINT64_C(1) << 63;
    check(&state);
    free_rows(&state, nodes, ROWS);
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

static void same_min(struct lapse_state *state, struct lapse_node **nodes) {
    int64_t end = 0;
    const struct lapse_node *first = least(state, nodes, true);
    lapse_wheel_settle(&state->steady);
    cr_assert_eq(lapse_wheel_min(&state->steady, &end), first != NULL);
    cr_assert(first == NULL || end == first->now.end_ns);
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
