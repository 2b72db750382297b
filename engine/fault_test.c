/* A failed sync: the outcome is unknown, so the handle shows nothing more until it is opened again;
 * then the call is there whole or not at all (DUR-02). At every commit of a workload over all
 * verbs. */
#include "testing_loss.h"

#include <criterion/criterion.h>

/* Every verb is refused, and no answer carries anything. */
static void expect_unavailable(struct lapse_testing *t, uint64_t durable) {
    struct lapse_due due;
    struct lapse *fork = NULL;
    for (int verb = LAPSE_VERB_OPEN; verb <= LAPSE_VERB_ALTER; verb++) {
        struct lapse_command command = {
            .verb = (enum lapse_verb)verb, .bucket = lapse_bytes_of("ttl")};
        command.key = lapse_bytes_of("a");
        cr_assert_eq(lapse_apply(t->store, &command, &t->r, &t->err), LAPSE_UNAVAILABLE);
        cr_assert(t->r.delivery_count == 0 && t->r.event_count == 0 && t->r.item_count == 0 &&
                  t->r.value.len == 0 && t->r.token == 0 && t->r.revision == 0);
        cr_assert_eq(lapse_preceding(t->store, &command, &command, &t->err), LAPSE_UNAVAILABLE);
    }
    for (int64_t watcher = 1; watcher <= 2; watcher++) {
        cr_assert_eq(lapse_poll(t->store, watcher, 8, &t->r, &t->err), LAPSE_UNAVAILABLE);
        cr_assert_eq(t->r.delivery_count, 0);
    }
    cr_assert_eq(lapse_step(t->store, 8, &t->r, &due, &t->err), LAPSE_UNAVAILABLE);
    cr_assert_eq(lapse_fork(t->store, NULL, t->options.clock, &fork, &t->err), LAPSE_OK);
    cr_assert_eq(lapse_count(fork, lapse_bytes_of("ttl"), &t->r, &t->err), LAPSE_UNAVAILABLE);
    lapse_close(fork);
    cr_assert_eq(lapse_testing_digest(t->store, LAPSE_PART_DURABLE), durable);
    lapse_testing_check(t);
}

static enum lapse_status digest_row(void *ctx, const struct lapse_row *row) {
    bool numbers = row->kind == LAPSE_ROW_MARK || row->kind == LAPSE_ROW_COUNTER;
    if (row->part == LAPSE_PART_DURABLE && !numbers) {
        lapse_row_digest(row, ctx);
    }
    return LAPSE_OK;
}

/* What is stored of buckets, keys and leases: the counter goes on above its ceiling. */
static uint64_t digest_rows(const struct lapse *store) {
    struct lapse_digest digest;
    lapse_digest_begin(&digest);
    cr_assert_eq(lapse_walk(store, digest_row, &digest, NULL), LAPSE_OK);
    return lapse_digest_value(&digest);
}

/* Plays the story up to call `i` and has its nth commit fail. False: there was no such commit. */
static bool fail_one(size_t i, int nth, bool written) {
    struct lapse_testing t;
    struct lapse_testing_loss loss;
    lapse_testing_loss_open(&t, &loss, LAPSE_SYNC_FULL);
    for (size_t k = 0; k < i; k++) {
        (void)lapse_testing_story(&t, k);
    }
    lapse_testing_story_enter(&t, i);
    uint64_t before = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
    loss.commit_fail_at = loss.synced + loss.unsynced + nth;
    enum lapse_status status = lapse_testing_story_call(&t, i);
    bool failed = status == LAPSE_UNKNOWN;
    if (failed) {
        uint64_t durable = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
        cr_assert(nth > 1 || durable == before, "call %zu: the state changed", i);
        expect_unavailable(&t, durable);
        uint64_t rows = digest_rows(t.store);
        lapse_testing_loss_crash(&t, &loss, !written);
        loss.commit_fail_at = 0;
        lapse_testing_loss_reopen(&t);
        lapse_testing_check(&t);
        cr_assert(written || digest_rows(t.store) == rows,
                  "call %zu: it was not written, and yet it is there", i);
        /* The rest of the story goes on, whatever it answers. */
        for (size_t k = i; k < lapse_testing_story_length(); k++) {
            (void)lapse_testing_story(&t, k);
            lapse_testing_check(&t);
        }
    }
    lapse_testing_close(&t);
    lapse_testing_loss_finish(&loss);
    return failed;
}

Test(fault, after_an_unknown_commit_nothing_is_shown_until_reopened) {
    int failures = 0;
    for (size_t i = 0; i < lapse_testing_story_length(); i++) {
        for (int written = 0; written < 2; written++) {
            int nth = 1;
            while (fail_one(i, nth, written == 1)) {
                nth++;
                failures++;
            }
        }
    }
    cr_expect_gt(failures, 50, "only %d commits were failed", failures);
}

static enum lapse_status digest_durable(void *ctx, const struct lapse_row *row) {
    if (row->part == LAPSE_PART_DURABLE) {
        lapse_row_digest(row, ctx);
    }
    return LAPSE_OK;
}

/* All that a journal holds, with marks and ceilings. */
static uint64_t digest_stored(const struct lapse *store) {
    struct lapse_digest digest;
    lapse_digest_begin(&digest);
    cr_assert_eq(lapse_walk(store, digest_durable, &digest, NULL), LAPSE_OK);
    return lapse_digest_value(&digest);
}

/* Each of begin, put, drop and commit, at each of its positions: nothing that is stored has moved,
 * the ceilings neither. */
Test(fault, a_failed_write_moves_no_mark_and_no_ceiling) {
    static const enum lapse_status faults[] = {LAPSE_IO, LAPSE_NOMEM, LAPSE_CORRUPT, LAPSE_LOCKED};
    struct lapse_testing t;
    struct lapse_testing_loss loss;
    int failures = 0;
    lapse_testing_loss_open(&t, &loss, LAPSE_SYNC_NORMAL);
    for (size_t i = 0; i < lapse_testing_story_length(); i++) {
        bool failed = true;
        lapse_testing_story_enter(&t, i);
        for (int nth = 1; failed && nth < 60; nth++) {
            uint64_t stored = digest_stored(t.store);
            int64_t seq = t.r.command_seq;
            loss.journal.calls = 0;
            loss.journal.fail_at = nth;
            loss.journal.fail_with = faults[nth % 4];
            enum lapse_status status = lapse_testing_story_call(&t, i);
            failed = loss.journal.calls >= nth;
            loss.journal.fail_at = 0;
            cr_assert(!failed || status == faults[nth % 4]);
            if (failed && t.r.command_seq == seq + 1) {
                cr_assert_eq(digest_stored(t.store), stored, "call %zu, write %d", i, nth);
            }
            failures += failed ? 1 : 0;
            lapse_testing_check(&t);
        }
    }
    cr_expect_gt(failures, 100, "only %d writes were failed", failures);
    lapse_testing_close(&t);
    lapse_testing_loss_finish(&loss);
}
