/* A fork answers alike: at each step of the story a fork is taken and both go on. Watches are not
 * carried over, so their calls are left out of the comparison. */
#include "testing.h"

#include <criterion/criterion.h>

static bool about_watches(const struct lapse_result *result) {
    return result->verb == LAPSE_VERB_WATCH || result->verb == LAPSE_VERB_POLL ||
           result->verb == LAPSE_VERB_UNWATCH;
}

static void same_digests(const struct lapse *a, const struct lapse *b) {
    for (int part = 0; part < 2; part++) {
        cr_assert_eq(lapse_testing_digest(a, (enum lapse_part)part),
                     lapse_testing_digest(b, (enum lapse_part)part));
    }
}

/* Makes a testing store out of a fork of t's, with a clock of its own that reads the same. */
static void fork_of(struct lapse_testing *t, struct lapse_testing *ret) {
    lapse_testing_open(ret);
    lapse_close(ret->store);
    ret->clock = t->clock;
    enum lapse_status status =
        lapse_fork(t->store, &ret->alloc.vtable, ret->options.clock, &ret->store, &ret->err);
    cr_assert_eq(status, LAPSE_OK, "%s", ret->err.message);
}

Test(fork, a_fork_taken_at_any_time_answers_alike_for_ever) {
    for (size_t i = 0; i < lapse_testing_story_length(); i++) {
        struct lapse_testing t;
        struct lapse_testing fork;
        lapse_testing_open(&t);
        for (size_t k = 0; k < i; k++) {
            lapse_testing_story(&t, k);
        }
        fork_of(&t, &fork);
        same_digests(t.store, fork.store);
        lapse_testing_check(&fork);
        cr_assert_eq(lapse_store_time(fork.store).ns, lapse_store_time(t.store).ns);
        for (size_t k = i; k < lapse_testing_story_length(); k++) {
            struct lapse_digest answers[2];
            lapse_testing_story(&t, k);
            lapse_testing_story(&fork, k);
            if (about_watches(&t.r)) {
                continue;
            }
            lapse_digest_begin(&answers[0]);
            lapse_digest_begin(&answers[1]);
            lapse_testing_answer(&answers[0], &t.r);
            lapse_testing_answer(&answers[1], &fork.r);
            cr_assert_eq(lapse_digest_value(&answers[0]), lapse_digest_value(&answers[1]),
                         "forked before call %zu, call %zu is answered otherwise", i, k);
        }
        same_digests(t.store, fork.store);
        lapse_testing_close(&fork);
        lapse_testing_close(&t);
    }
}

Test(fork, using_a_fork_leaves_the_original_alone) {
    struct lapse_testing t;
    struct lapse_testing fork;
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", LAPSE_TERM_IDLE, S(60), 0);
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", 0, 0);
    lapse_testing_at(&t, S(10));
    uint64_t before = lapse_testing_digest(t.store, LAPSE_PART_TENURE);
    fork_of(&t, &fork);
    lapse_testing_do(&fork, LAPSE_VERB_GET, "b", "k", NULL, 0, 0);
    cr_expect(fork.r.renewed);
    cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_TENURE), before);
    lapse_testing_at(&t, S(60));
    cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", NULL, 0, 0), LAPSE_ABSENT);
    lapse_testing_close(&fork);
    lapse_testing_close(&t);
}

Test(fork, a_fork_that_runs_out_of_memory_leaves_nothing) {
    struct lapse_testing t;
    lapse_testing_open(&t);
    for (size_t k = 0; k < 26; k++) {
        lapse_testing_story(&t, k);
    }
    size_t before = t.alloc.bytes_out;
    enum lapse_status status = LAPSE_NOMEM;
    size_t nth = 1;
    for (; status == LAPSE_NOMEM; nth++) {
        struct lapse *fork = NULL;
        t.alloc.calls = 0;
        t.alloc.fail_at = nth;
        status = lapse_fork(t.store, NULL, t.options.clock, &fork, &t.err);
        t.alloc.fail_at = 0;
        lapse_close(fork);
        cr_assert_eq(t.alloc.bytes_out, before, "%zu bytes leaked", t.alloc.bytes_out - before);
    }
    cr_expect_eq(status, LAPSE_OK);
    cr_expect_gt(nth, 20);
    lapse_testing_close(&t);
}
