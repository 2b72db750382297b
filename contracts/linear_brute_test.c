/* Trying every order, and what tests of the search and of its models share. */
#include "linear_brute_test.h"

#include "contracts/certificate.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static bool brute_from(const lapse_linear_model *model, const struct lapse_linear_call *calls,
                       size_t count, unsigned placed, const int64_t *state);
static bool brute_free(const struct lapse_linear_call *calls, size_t count, unsigned placed,
                       size_t next);
static bool answered_before(const struct lapse_linear_call *a, const struct lapse_linear_call *b);
static bool precedes(const struct lapse_linear_call *a, const struct lapse_linear_call *b);
static void check_core(const lapse_linear_model *model, const struct lapse_linear_call *calls,
                       size_t count, const struct lapse_linear_result *result, int64_t seed);
static bool core_linearizable(const lapse_linear_model *model,
                              const struct lapse_linear_call *calls, size_t count,
                              const struct lapse_linear_result *result, size_t without);
static void *scarce_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes);

bool brute_linearizable(const lapse_linear_model *model, const struct lapse_linear_call *calls,
                        size_t count) {
    int64_t state[LAPSE_LINEAR_STATE_WORDS_MAX];
    cr_assert_leq(count, BRUTE_CALLS_MAX);
    model->start(model->ctx, state);
    return brute_from(model, calls, count, 0, state);
}

static bool brute_from(const lapse_linear_model *model, const struct lapse_linear_call *calls,
                       size_t count, unsigned placed, const int64_t *state) {
    bool all = true;
    for (size_t i = 0; i < count; i++) {
        all = all && (calls[i].open || (placed >> i & 1) != 0);
    }
    if (all) {
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        if ((placed >> i & 1) != 0 || !brute_free(calls, count, placed, i)) {
            continue;
        }
        for (unsigned branch = 0; branch < calls[i].branches; branch++) {
            int64_t next[LAPSE_LINEAR_STATE_WORDS_MAX];
            if (model->step(model->ctx, state, &calls[i], branch, next) &&
                brute_from(model, calls, count, placed | 1U << i, next)) {
                return true;
            }
        }
    }
    return false;
}

static bool brute_free(const struct lapse_linear_call *calls, size_t count, unsigned placed,
                       size_t next) {
    for (size_t i = 0; i < count; i++) {
        if (i != next && (placed >> i & 1) == 0 && precedes(&calls[i], &calls[next])) {
            return false;
        }
    }
    /* What lapses had to come before all that was sent after its reply. */
    for (size_t i = 0; calls[next].lapses && i < count; i++) {
        if ((placed >> i & 1) != 0 && answered_before(&calls[next], &calls[i])) {
            return false;
        }
    }
    int32_t after = calls[next].after;
    return after < 0 || (placed >> after & 1) != 0 || calls[after].lapses;
}

static bool precedes(const struct lapse_linear_call *a, const struct lapse_linear_call *b) {
    return !a->open && answered_before(a, b);
}

/* Whether a was answered before b was sent; of one instant, ends come first. */
static bool answered_before(const struct lapse_linear_call *a, const struct lapse_linear_call *b) {
    if (a->return_ns != b->invoke_ns) {
        return a->return_ns < b->invoke_ns;
    }
    return (a->end && !b->end) || (a->end == b->end && a->return_seq < b->invoke_seq);
}

int64_t draw_below(struct draw *draw, int64_t n) {
    draw->state = draw->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((draw->state >> 33) % (uint64_t)n);
}

void scarce_init(struct scarce *scarce, int64_t left) {
    *scarce = (struct scarce){{scarce_resize, scarce}, left, 0};
}

static void *scarce_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    struct scarce *scarce = ctx;
    if (new_bytes > 0 && scarce->left-- <= 0) {
        return NULL;
    }
    scarce->held += new_bytes - old_bytes;
    const lapse_alloc *libc = lapse_alloc_libc();
    return libc->resize(libc->ctx, ptr, old_bytes, new_bytes);
}

bool check_against_brute(const lapse_linear_model *model, const struct lapse_linear_call *calls,
                         size_t count, int64_t seed) {
    struct lapse_linear_budget budget = lapse_linear_budget_default();
    struct lapse_linear_result result;
    struct lapse_error err = {0};
    bool expected = brute_linearizable(model, calls, count);
    cr_assert_eq(
        lapse_linear_check(lapse_alloc_libc(), model, calls, count, &budget, &result, &err),
        LAPSE_OK, "seed %lld: %s", (long long)seed, err.message);
    cr_assert_eq(result.verdict, expected ? LAPSE_LINEAR_YES : LAPSE_LINEAR_NO,
                 "seed %lld: %s, but trying all orders says %s", (long long)seed,
                 lapse_linear_verdict_word(result.verdict), expected ? "yes" : "no");
    if (expected) {
        cr_assert_eq(lapse_certificate_verify(lapse_alloc_libc(), model, calls, count,
                                              result.witness, result.witness_count, &err),
                     LAPSE_OK, "seed %lld: %s", (long long)seed, err.message);
    } else {
        check_core(model, calls, count, &result, seed);
    }
    lapse_linear_result_free(&result);
    return expected;
}

static void check_core(const lapse_linear_model *model, const struct lapse_linear_call *calls,
                       size_t count, const struct lapse_linear_result *result, int64_t seed) {
    cr_assert(result->core_minimal, "seed %lld", (long long)seed);
    cr_assert_gt(result->core_count, 0);
    cr_assert(!core_linearizable(model, calls, count, result, SIZE_MAX),
              "seed %lld: the core alone can be put in order", (long long)seed);
    for (size_t i = 0; i < result->core_count; i++) {
        cr_assert(core_linearizable(model, calls, count, result, i),
                  "seed %lld: call %u of the core is not needed", (long long)seed, result->core[i]);
    }
}

/* With all answers outside the core forgotten, and that of one in it. */
static bool core_linearizable(const lapse_linear_model *model,
                              const struct lapse_linear_call *calls, size_t count,
                              const struct lapse_linear_result *result, size_t without) {
    struct lapse_linear_call kept[BRUTE_CALLS_MAX];
    memcpy(kept, calls, count * sizeof(*kept));
    bool keeps[BRUTE_CALLS_MAX] = {false};
    for (size_t i = 0; i < result->core_count; i++) {
        keeps[result->core[i]] = i != without;
    }
    for (size_t i = 0; i < count; i++) {
        bool follows = kept[i].after >= 0 && kept[kept[i].after].open;
        if (!kept[i].open && (!keeps[i] || follows)) {
            kept[i].open = kept[i].lapses = true;
        }
    }
    return brute_linearizable(model, kept, count);
}
