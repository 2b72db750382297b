/* The journal is driven as promised: rows written are the rows of the state, a failed write takes
 * the change back, an unknown commit closes the handle, and what was written is what is loaded. */
#include "testing.h"

#include <criterion/criterion.h>

static void reopen(struct lapse_testing *t, struct lapse_testing_journal *journal) {
    lapse_close(t->store);
    cr_assert(journal->closed);
    journal->closed = false;
    cr_assert_eq(lapse_open(&t->options, &t->store, &t->err), LAPSE_OK, "%s", t->err.message);
}

Test(journal, holds_the_rows_of_the_state_after_every_call) {
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    int preceded = 0;
    lapse_testing_journal_init(&journal);
    lapse_testing_open_with(&t, &journal, 0);
    for (size_t i = 0; i < lapse_testing_story_length(); i++) {
        uint64_t before = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
        lapse_testing_story_enter(&t, i);
        lapse_testing_story_precede(&t, i, SIZE_MAX);
        uint64_t between = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
        int64_t commits = journal.commits;
        enum lapse_status status = lapse_testing_story_call(&t, i);
        lapse_testing_journal_same(&journal, t.store);
        bool changed = lapse_testing_digest(t.store, LAPSE_PART_DURABLE) != between;
        preceded += before != between ? 1 : 0;
        bool marked = t.r.verb == LAPSE_VERB_MARK || t.r.verb == LAPSE_VERB_REAP;
        cr_expect(changed ? journal.commits == commits + 1 : marked || journal.commits == commits,
                  "call %zu committed for nothing, or twice", i);
        cr_expect(status < LAPSE_OK || t.r.durable_point == journal.commits);
    }
    cr_expect_gt(preceded, 1, "only %d calls were preceded by a flush", preceded);
    struct lapse *fork = NULL;
    struct lapse_result r;
    lapse_result_init(&r, NULL);
    cr_assert_eq(lapse_fork(t.store, NULL, t.options.clock, &fork, &t.err), LAPSE_OK);
    cr_expect_eq(lapse_count(fork, lapse_bytes_of("ttl"), &r, &t.err), LAPSE_OK);
    cr_expect_eq(r.durable_point, journal.commits, "what a fork shows depends on the same commit");
    lapse_result_free(&r);
    lapse_close(fork);
    lapse_testing_close(&t);
    lapse_testing_journal_finish(&journal);
}

Test(journal, a_failed_write_takes_the_change_back) {
    static const enum lapse_status faults[] = {LAPSE_IO, LAPSE_NOMEM, LAPSE_CORRUPT, LAPSE_LOCKED};
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    int failures = 0;
    lapse_testing_journal_init(&journal);
    lapse_testing_open_with(&t, &journal, 0);
    for (size_t i = 0; i < lapse_testing_story_length(); i++) {
        enum lapse_status status = LAPSE_IO;
        lapse_testing_story_enter(&t, i);
        for (int nth = 1; status < LAPSE_OK && nth < 40; nth++) {
            int64_t seq = t.r.command_seq;
            uint64_t durable = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
            uint64_t tenure = lapse_testing_digest(t.store, LAPSE_PART_TENURE);
            journal.calls = 0;
            journal.fail_at = nth;
            journal.fail_with = faults[nth % 4];
            status = lapse_testing_story_call(&t, i);
            bool failed = journal.calls >= nth;
            journal.fail_at = 0;
            if (!failed) {
                break;
            }
            bool committing = status == LAPSE_UNKNOWN;
            cr_assert(!committing);
            cr_assert_eq(status, faults[nth % 4]);
            /* A log command that preceded stays carried out. */
            bool alone = t.r.command_seq == seq + 1;
            cr_assert(!alone || lapse_testing_digest(t.store, LAPSE_PART_DURABLE) == durable);
            cr_assert(!alone || lapse_testing_digest(t.store, LAPSE_PART_TENURE) == tenure);
            lapse_testing_check(&t);
            lapse_testing_journal_same(&journal, t.store);
            failures++;
        }
        lapse_testing_journal_same(&journal, t.store);
    }
    cr_expect_gt(failures, 60, "only %d writes were failed", failures);
    lapse_testing_close(&t);
    lapse_testing_journal_finish(&journal);
}

Test(journal, after_an_unknown_commit_the_handle_is_unavailable) {
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    lapse_testing_journal_init(&journal);
    lapse_testing_open_with(&t, &journal, 0);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    journal.calls = 0;
    journal.fail_at = 5; /* begin, record, bucket, mark, commit */
    journal.fail_with = LAPSE_UNKNOWN;
    cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", 0, 0), LAPSE_UNKNOWN);
    cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", NULL, 0, 0), LAPSE_UNAVAILABLE);
    cr_expect_eq(lapse_step(t.store, 1, NULL, NULL, &t.err), LAPSE_UNAVAILABLE);
    cr_expect_eq(lapse_check(t.store, &t.err), LAPSE_OK);
    reopen(&t, &journal);
    cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", NULL, 0, 0), LAPSE_OK,
                 "the testing journal had written it");
    lapse_testing_close(&t);
    lapse_testing_journal_finish(&journal);
}

Test(journal, a_restart_keeps_all_but_the_tenure) {
    for (int machine = 0; machine < 2; machine++) {
        struct lapse_testing t;
        struct lapse_testing_journal journal;
        lapse_testing_journal_init(&journal);
        lapse_testing_open_with(&t, &journal, 0);
        lapse_testing_bucket(&t, "b", LAPSE_TERM_TTL, S(100), S(60));
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", 0, 0);
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "d", "v", LAPSE_TERM_EXPIRES_AT, S(1060));
        lapse_testing_at(&t, S(10));
        lapse_testing_lease(&t, LAPSE_VERB_ACQUIRE, "jobs/1", "w1", S(30));
        uint64_t durable = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
        if (machine) {
            lapse_clock_manual_reboot(&t.clock, (struct lapse_wall){S(1030)});
        } else {
            lapse_testing_at(&t, S(30));
        }
        reopen(&t, &journal);
        lapse_testing_check(&t);
        cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), durable);
        cr_expect_eq(lapse_store_time(t.store).ns, S(30), "20 s passed by either clock");
        lapse_testing_lease(&t, LAPSE_VERB_INSPECT, "jobs/1", "", 0);
        cr_expect_eq(t.r.token, 1);
        cr_expect_eq(t.r.end.ns, S(40));
        cr_expect_eq(t.r.left.ns, S(10), "the lease kept running (DUR-04)");
        cr_expect(lapse_testing_is(t.r.owner, "w1"));
        lapse_testing_lease(&t, LAPSE_VERB_ACQUIRE, "jobs/2", "w1", S(30));
        cr_expect_eq(t.r.token, 2, "a token was given twice (FENCE-01)");
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "new", "v", 0, 0);
        cr_expect_eq(t.r.revision, 3, "a revision was given twice (CAS-04)");
        lapse_clock_manual_advance(&t.clock, (struct lapse_span){S(30)});
        cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "b", "d", NULL, 0, 0), LAPSE_ABSENT);
        /* What was found ended before the restart stays ended, although the wall went back. */
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "other", "v", 0, 0);
        lapse_clock_manual_reboot(&t.clock, (struct lapse_wall){S(1050)});
        reopen(&t, &journal);
        cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "b", "d", NULL, 0, 0), LAPSE_ABSENT);
        lapse_testing_close(&t);
        lapse_testing_journal_finish(&journal);
    }
}

Test(journal, half_a_journal_and_no_clock_are_refused) {
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    lapse_testing_journal_init(&journal);
    lapse_testing_open_with(&t, &journal, 0);
    struct lapse_options half = t.options;
    half.journal.put = NULL;
    struct lapse *other = NULL;
    cr_expect_eq(lapse_open(&half, &other, &t.err), LAPSE_INVALID);
    half = t.options;
    half.clock.read = NULL;
    cr_expect_eq(lapse_open(&half, &other, &t.err), LAPSE_INVALID);
    lapse_testing_close(&t);
    lapse_testing_journal_finish(&journal);
}

Test(journal, a_mark_is_written_each_second_of_use) {
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    struct lapse_due due;
    lapse_testing_journal_init(&journal);
    lapse_testing_open_with(&t, &journal, 0);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    int64_t commits = journal.commits;
    lapse_testing_at(&t, LAPSE_NS_PER_S / 2);
    lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", NULL, 0, 0);
    lapse_testing_step(&t, &due);
    cr_expect_eq(journal.commits, commits);
    cr_expect(due.has_steady && due.steady.ns == S(1));
    lapse_testing_at(&t, S(1));
    lapse_testing_step(&t, &due);
    cr_expect_eq(journal.commits, commits + 1);
    cr_expect_not(due.has_steady, "an unused store is left alone");
    lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){LAPSE_NS_PER_S / 10});
    lapse_testing_step(&t, NULL);
    cr_expect_eq(journal.commits, commits + 2, "the wall parted and no mark was written");
    lapse_testing_close(&t);
    lapse_testing_journal_finish(&journal);
}

/* KV-04, CLOCK-02: what any call found ended by its date stays so over a reopen on the same boot.
 */
Test(journal, a_date_shown_as_ended_is_ended_after_a_reopen) {
    static const enum lapse_verb verbs[] = {LAPSE_VERB_GET,     LAPSE_VERB_COUNT, LAPSE_VERB_WATCH,
                                            LAPSE_VERB_INSPECT, LAPSE_VERB_REAP,  LAPSE_VERB_CREATE,
                                            LAPSE_VERB_EXPIRE,  LAPSE_VERB_PURGE};
    for (size_t i = 0; i < 2 * sizeof(verbs) / sizeof(verbs[0]); i++) {
        struct lapse_testing t;
        struct lapse_testing_journal journal;
        bool written = i % 2 == 1;
        lapse_testing_journal_init(&journal);
        lapse_testing_open_with(&t, &journal, 0);
        lapse_testing_bucket(&t, "b", 0, 0, 0);
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", LAPSE_TERM_EXPIRES_AT, S(1100));
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k2", "v", 0, 0);
        lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){S(200)});
        int64_t commits = journal.commits;
        struct lapse_command command = {.verb = verbs[i / 2], .bucket = lapse_bytes_of("b")};
        /* Another key's call, or a refusal: the reading is what counts. */
        command.key = lapse_bytes_of(command.verb == LAPSE_VERB_CREATE ? "k2" : "k");
        if (command.verb == LAPSE_VERB_REAP) {
            command.u.reap.rows_max = 1;
        } else if (command.verb == LAPSE_VERB_EXPIRE) {
            command.u.write.term = (struct lapse_term){.given = LAPSE_TERM_TTL, .ttl = {S(5)}};
        }
        cr_assert_geq(lapse_apply(t.store, &command, &t.r, &t.err), LAPSE_OK, "%s", t.err.message);
        cr_expect_eq(journal.commits, commits + 1, "%s", lapse_verb_word(command.verb));
        cr_expect_eq(t.r.durable_point, journal.commits, "the answer rests on that commit");
        lapse_testing_do(&t, LAPSE_VERB_COUNT, "b", "", NULL, 0, 0);
        cr_expect_eq(journal.commits, commits + 1, "once is enough");
        lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){-S(200)});
        if (written) {
            /* The mark is back at 1000: a peak must remember. */
            lapse_testing_do(&t, LAPSE_VERB_SET, "b", "z", "v", LAPSE_TERM_EXPIRES_AT, S(1100));
        }
        lapse_testing_journal_same(&journal, t.store);
        reopen(&t, &journal);
        cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", NULL, 0, 0), LAPSE_ABSENT,
                     "%s, then a reopen, revived a date", lapse_verb_word(command.verb));
        cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "b", "z", NULL, 0, 0),
                     written ? LAPSE_OK : LAPSE_ABSENT, "an older reading ended a newer date");
        lapse_testing_journal_same(&journal, t.store);
        lapse_testing_close(&t);
        lapse_testing_journal_finish(&journal);
    }
}
