/* An old copy opened as one: CAS-04 and FENCE-01 hold against what the lost store has given, and no
 * event tells of an end that a lost renewal may have moved. */
#include "testing.h"

#include <criterion/criterion.h>

#define SHIFT (INT64_C(1) << 40)

static int64_t acquire(struct lapse_testing *t, const char *name, bool ephemeral) {
    struct lapse_bytes lease = lapse_bytes_of(name);
    struct lapse_bytes owner = lapse_bytes_of("w");
    struct lapse_span span = {S(5)};
    enum lapse_status status =
        ephemeral ? lapse_acquire_ephemeral(t->store, lease, owner, span, &t->r, &t->err)
                  : lapse_acquire(t->store, lease, owner, span, &t->r, &t->err);
    cr_assert_eq(status, LAPSE_OK, "%s", t->err.message);
    return t->r.token;
}

static void reopen(struct lapse_testing *t, struct lapse_testing_journal *journal, bool restored) {
    lapse_close(t->store);
    journal->closed = false;
    t->options.restored = restored;
    cr_assert_eq(lapse_open(&t->options, &t->store, &t->err), LAPSE_OK, "%s", t->err.message);
    lapse_testing_check(t);
}

/* The numbers are durable at once: a crash right after the open takes none of them back. */
Test(restored, numbers_begin_again_above_all_that_the_lost_store_gave) {
    for (int i = 0; i < 2; i++) {
        struct lapse_testing t;
        static struct lapse_testing_journal journal;
        lapse_testing_journal_init(&journal);
        lapse_testing_open_with(&t, &journal, 0);
        lapse_testing_bucket(&t, "b", 0, 0, 0);
        lapse_testing_bucket(&t, "c", 0, 0, 0);
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", 0, 0);
        int64_t revision = t.r.revision;
        int64_t token = acquire(&t, "l", false);
        reopen(&t, &journal, true);
        if (i == 1) {
            reopen(&t, &journal, false);
        }
        cr_expect_geq(acquire(&t, "m", false), token + SHIFT);
        cr_expect_geq(acquire(&t, "n", true), token + SHIFT + 1);
        cr_assert_eq(lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", 0, 0), LAPSE_OK);
        cr_expect_geq(t.r.revision, revision + SHIFT);
        cr_assert_eq(lapse_testing_do(&t, LAPSE_VERB_SET, "c", "k", "v", 0, 0), LAPSE_OK);
        cr_expect_geq(t.r.revision, SHIFT);
        cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", NULL, 0, 0), LAPSE_OK);
        lapse_testing_close(&t);
        lapse_testing_journal_finish(&journal);
    }
}

/* Two stores begin from one copy, one after the other, and give the same numbers unless the second
 * is told how far the first has come; a bucket made in both keeps to that too. */
Test(restored, numbers_of_a_store_known_to_be_lost_are_not_given_again) {
    for (int known = 0; known < 2; known++) {
        struct lapse_testing t;
        static struct lapse_testing_journal journal;
        int64_t highest[2] = {0, 0};
        int64_t given[2][3];
        for (int i = 0; i < 2; i++) {
            lapse_testing_journal_init(&journal);
            lapse_testing_open_with(&t, &journal, 0);
            lapse_testing_bucket(&t, "b", 0, 0, 0);
            t.options.restored_above = known == 1 ? highest[0] : 0;
            reopen(&t, &journal, true);
            lapse_testing_bucket(&t, "made later", 0, 0, 0);
            lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", 0, 0);
            given[i][0] = t.r.revision;
            lapse_testing_do(&t, LAPSE_VERB_SET, "made later", "k", "v", 0, 0);
            given[i][1] = t.r.revision;
            given[i][2] = acquire(&t, "l", i == 0);
            cr_assert_eq(lapse_numbers_highest(t.store, &highest[i], &t.err), LAPSE_OK);
            for (int n = 0; n < 3; n++) {
                cr_expect_leq(given[i][n], highest[i]);
                cr_expect_gt(given[i][n], known * i * highest[0], "%d: %d", i, n);
            }
            lapse_testing_close(&t);
            lapse_testing_journal_finish(&journal);
        }
        cr_expect_eq(given[1][0] == given[0][0], known == 0);
        cr_expect_eq(given[1][1] == given[0][1], known == 0);
    }
}

/* A key of 10 s, written at 0; the copy is opened at 4 s: its event comes at 14 s, not at 10 s,
 * while the key is absent from 10 s on. */
Test(restored, no_end_is_told_for_one_longest_span) {
    struct lapse_testing t;
    static struct lapse_testing_journal journal;
    struct lapse_due due;
    lapse_testing_journal_init(&journal);
    lapse_testing_open_with(&t, &journal, 0);
    lapse_testing_bucket(&t, "b", 0, 0, S(3600));
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", LAPSE_TERM_TTL, S(10));
    lapse_testing_at(&t, S(4));
    reopen(&t, &journal, true);
    lapse_next_due(t.store, &due);
    lapse_testing_at(&t, S(12));
    cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", NULL, 0, 0), LAPSE_ABSENT);
    cr_assert_eq(lapse_step(t.store, 10, &t.r, &due, &t.err), LAPSE_OK);
    cr_expect_eq(t.r.event_count, 0);
    lapse_testing_at(&t, S(14) - 1);
    cr_assert_eq(lapse_step(t.store, 10, &t.r, &due, &t.err), LAPSE_OK);
    cr_expect_eq(t.r.event_count, 0);
    cr_expect(due.has_steady && due.steady.ns <= S(14));
    lapse_testing_at(&t, S(14));
    cr_assert_eq(lapse_step(t.store, 10, &t.r, NULL, &t.err), LAPSE_OK);
    cr_expect_eq(t.r.event_count, 1);
    lapse_testing_close(&t);
    lapse_testing_journal_finish(&journal);
}

Test(restored, numbers_at_the_end_of_their_range_are_refused) {
    struct lapse_testing t;
    static struct lapse_testing_journal journal;
    lapse_testing_journal_init(&journal);
    lapse_testing_open_with(&t, &journal, 0);
    struct lapse_command mark = {.verb = LAPSE_VERB_MARK, .u.mark.token = INT64_MAX - SHIFT + 1};
    cr_assert_eq(lapse_apply(t.store, &mark, &t.r, &t.err), LAPSE_OK);
    lapse_close(t.store);
    journal.closed = false;
    t.options.restored = true;
    cr_expect_eq(lapse_open(&t.options, &t.store, &t.err), LAPSE_RANGE);
    t.options.restored_above = -1;
    cr_expect_eq(lapse_open(&t.options, &t.store, &t.err), LAPSE_INVALID);
    t.options.restored = false;
    cr_assert_eq(lapse_open(&t.options, &t.store, &t.err), LAPSE_OK);
    lapse_testing_close(&t);
    lapse_testing_journal_finish(&journal);
}
