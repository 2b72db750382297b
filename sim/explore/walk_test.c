/* Walks: the same from the same seeds, one that goes on from another begins as it did, and at their
 * end everybody is awake. */
#include "sim/explore.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

enum { SEEDS = 40, MOVES = 40, EARLY = 15 };

struct meter {
    int64_t left, out; /* calls that still succeed; blocks that are out */
};

static struct lapse_plan_explore rich_protocol(void);
static struct lapse_explore_found walk(const struct lapse_explore_leg *legs, size_t count);
static void *meter_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes);

Test(explore_walk, a_walk_hangs_on_its_seeds_alone) {
    size_t differ = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const struct lapse_explore_leg whole = {seed, MOVES};
        const struct lapse_explore_leg legs[] = {{seed, EARLY}, {seed + SEEDS, MOVES - EARLY}};
        struct lapse_explore_found one = walk(&whole, 1), again = walk(&whole, 1);
        struct lapse_explore_found other = walk(legs, 2);
        cr_assert_eq(one.step_count, again.step_count);
        cr_expect(memcmp(one.steps, again.steps, one.step_count * sizeof *one.steps) == 0);
        cr_expect(memcmp(one.steps, other.steps, EARLY * sizeof *one.steps) == 0);
        differ += one.step_count != other.step_count ||
                  memcmp(one.steps, other.steps, one.step_count * sizeof *one.steps) != 0;
        lapse_explore_unwalk(lapse_alloc_libc(), &one);
        lapse_explore_unwalk(lapse_alloc_libc(), &again);
        lapse_explore_unwalk(lapse_alloc_libc(), &other);
    }
    cr_expect_gt(differ, SEEDS / 2);
}

Test(explore_walk, all_kinds_of_moves_come_and_nobody_stays_paused) {
    size_t kinds[LAPSE_MOVES] = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const struct lapse_explore_leg leg = {seed, MOVES};
        struct lapse_explore_found found = walk(&leg, 1);
        bool paused[LAPSE_EXPLORE_CLIENTS_MAX] = {false};
        for (size_t i = 0; i < found.step_count; i++) {
            const struct lapse_explore_step *step = &found.steps[i];
            kinds[step->kind]++;
            if (step->client >= 0) {
                bool wakes = step->kind == LAPSE_MOVE_WAKE || step->kind == LAPSE_MOVE_CRASH;
                bool pauses = step->kind == LAPSE_MOVE_PAUSE;
                paused[step->client] = pauses || (paused[step->client] && !wakes);
            }
        }
        cr_expect(!paused[0] && !paused[1], "seed %" PRIu64, seed);
        lapse_explore_unwalk(lapse_alloc_libc(), &found);
    }
    for (int kind = LAPSE_MOVE_ACQUIRE; kind < LAPSE_MOVES; kind++) {
        cr_expect_gt(kinds[kind], 0, "kind %d", kind);
    }
}

Test(explore_walk, memory_may_run_out_anywhere) {
    struct lapse_plan_explore protocol = rich_protocol();
    const struct lapse_explore_leg leg = {1, MOVES};
    bool done = false;
    for (int64_t nth = 0; !done; nth++) {
        struct meter meter = {.left = nth};
        lapse_alloc alloc = {meter_resize, &meter};
        struct lapse_explore_found found;
        struct lapse_error err = {0};
        enum lapse_status status = lapse_explore_walk(&alloc, &protocol, &leg, 1, &found, &err);
        done = status == LAPSE_OK;
        cr_assert(done || status == LAPSE_NOMEM, "%s: %s", lapse_status_word(status), err.message);
        if (done) {
            lapse_explore_unwalk(&alloc, &found);
        }
        cr_assert_eq(meter.out, 0, "after %" PRId64 " calls %" PRId64 " blocks are out", nth,
                     meter.out);
    }
}

static struct lapse_plan_explore rich_protocol(void) {
    return (struct lapse_plan_explore){.on = true,
                                       .clients = 2,
                                       .span_ns = 3 * LAPSE_NS_PER_S,
                                       .grain_ns = LAPSE_NS_PER_S,
                                       .faults_max = -1,
                                       .delay = true,
                                       .loss = true,
                                       .crash = true,
                                       .pause = true,
                                       .resource = LAPSE_EXPLORE_FENCED};
}

static struct lapse_explore_found walk(const struct lapse_explore_leg *legs, size_t count) {
    struct lapse_plan_explore protocol = rich_protocol();
    struct lapse_explore_found found;
    struct lapse_error err = {0};
    cr_assert_eq(lapse_explore_walk(lapse_alloc_libc(), &protocol, legs, count, &found, &err),
                 LAPSE_OK, "%s", err.message);
    cr_assert_geq(found.step_count, (size_t)EARLY);
    return found;
}

static void *meter_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    struct meter *meter = ctx;
    const lapse_alloc *libc = lapse_alloc_libc();
    if (new_bytes > 0 && meter->left-- <= 0) {
        return NULL;
    }
    meter->out += (ptr == NULL && new_bytes > 0) - (ptr != NULL && new_bytes == 0);
    return libc->resize(libc->ctx, ptr, old_bytes, new_bytes);
}
