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
    lapse_testing_journal_init(&journal);
    lapse_testing_open_with(&t, &journal, 0);
    for (size_t i = 0; i < lapse_testing_story_length(); i++) {
        uint64_t before = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
        int64_t commits = journal.commits;
        enum lapse_status status = lapse_testing_story(&t, i);
        lapse_testing_journal_same(&journal, t.store);
        bool changed = lapse_testing_digest(t.store, LAPSE_PART_DURABLE) != before;
        bool marked = t.r.verb == LAPSE_VERB_MARK || t.r.verb == LAPSE_VERB_REAP;
        cr_expect(changed ? journal.commits == commits + 1 : marked || journal.commits == commits,
                  "call %zu committed for nothing, or twice", i);
        cr_expect(status < LAPSE_OK || t.r.durable_point == journal.commits);
    }
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
        for (int nth = 1; status < LAPSE_OK && nth < 40; nth++) {
            uint64_t durable = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
            uint64_t tenure = lapse_testing_digest(t.store, LAPSE_PART_TENURE);
            journal.calls = 0;
            journal.fail_at = nth;
            journal.fail_with = faults[nth % 4];
            status = lapse_testing_story(&t, i);
            bool failed = journal.calls >= nth;
            journal.fail_at = 0;
            if (!failed) {
                break;
            }
            bool committing = status == LAPSE_UNKNOWN;
            cr_assert(!committing);
            cr_assert_eq(status, faults[nth % 4]);
            cr_assert_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), durable);
            cr_assert_eq(lapse_testing_digest(t.store, LAPSE_PART_TENURE), tenure);
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

Test(journal, rows_that_lapse_did_not_write_are_corrupt) {
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    lapse_testing_journal_init(&journal);
    lapse_testing_open_with(&t, &journal, 0);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", LAPSE_TERM_IDLE, S(5));
    lapse_testing_lease(&t, LAPSE_VERB_ACQUIRE, "jobs/1", "w1", S(30));
    for (size_t i = 0; i < journal.row_count; i++) {
        struct lapse_row good = journal.rows[i];
        for (int way = 0; way < 6; way++) {
            struct lapse_row *row = &journal.rows[i];
            row->revision = way == 0 ? -1 : good.revision;
            row->record.end.ns += way == 1 ? 1 : 0;
            row->lease.token = way == 2 ? 99 : good.lease.token;
            row->part = way == 3 ? LAPSE_PART_TENURE : LAPSE_PART_DURABLE;
            row->bucket_row.config.term.given = way == 4 ? 77 : 0;
            row->key.len = way == 5 ? 0 : good.key.len;
            bool matters =
                way == 3 ||
                (way == 0 && good.kind != LAPSE_ROW_MARK && good.kind != LAPSE_ROW_LEASE) ||
                (way == 1 && good.kind == LAPSE_ROW_RECORD) ||
                (way == 2 && good.kind == LAPSE_ROW_LEASE) ||
                (way == 4 && good.kind == LAPSE_ROW_BUCKET) ||
                (way == 5 && good.kind != LAPSE_ROW_MARK && good.kind != LAPSE_ROW_BUCKET);
            struct lapse *other = NULL;
            enum lapse_status status = lapse_open(&t.options, &other, &t.err);
            cr_expect_eq(status, matters ? LAPSE_CORRUPT : LAPSE_OK, "row %zu, way %d: %s", i, way,
                         lapse_status_word(status));
            lapse_close(other);
            journal.closed = false;
            *row = good;
        }
    }
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
