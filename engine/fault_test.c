/* A failed sync: the outcome is unknown, so the handle shows nothing more until it is opened again;
 * then the call is there whole or not at all (DUR-02). At every commit of a workload over all verbs.
 */
#include "testing_loss.h"

#include <criterion/criterion.h>

/* Every verb is refused, and no answer carries anything. */
static void expect_unavailable(struct lapse_testing *t, uint64_t durable) {
    struct lapse_due due;
    struct lapse *fork = NULL;
    for (int verb = LAPSE_VERB_OPEN; verb <= LAPSE_VERB_MARK; verb++) {
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
        lapse_testing_loss_crash(&t, &loss, !written);
        loss.commit_fail_at = 0;
        lapse_testing_loss_reopen(&t);
        lapse_testing_check(&t);
        if (loss.journal.row_count > 0 && loss.journal.commits > 0) {
            lapse_testing_journal_same(&loss.journal, t.store);
        }
        cr_assert(written || lapse_testing_digest(t.store, LAPSE_PART_DURABLE) == durable,
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
