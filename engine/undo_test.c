/* All or nothing: every call of the story is failed at each of its allocations. The state must be
 * as before, every invariant must hold, nothing may leak, and what comes after must be answered as
 * if the failed call had never been made. */
#include "testing.h"

#include <criterion/criterion.h>

static uint64_t play_rest(struct lapse_testing *t, size_t from);
static size_t fail_at(size_t call, size_t nth, const uint64_t *want);

Test(undo, a_call_that_runs_out_of_memory_changes_nothing) {
    size_t length = lapse_testing_story_length();
    struct lapse_testing t;
    size_t failures = 0;
    for (size_t i = 0; i < length; i++) {
        lapse_testing_open(&t);
        for (size_t k = 0; k < i; k++) {
            lapse_testing_story(&t, k);
        }
        uint64_t want = play_rest(&t, i);
        lapse_testing_close(&t);
        size_t nth = 1;
        while (fail_at(i, nth, &want) > 0) {
            nth++;
            cr_assert_lt(nth, 100);
        }
        failures += nth - 1;
    }
    cr_expect_gt(failures, 100, "only %zu allocations were failed", failures);
}

Test(undo, an_open_that_runs_out_of_memory_leaves_nothing) {
    struct lapse_testing t;
    lapse_testing_open(&t);
    size_t before = t.alloc.bytes_out;
    struct lapse *other = NULL;
    t.alloc.calls = 0;
    t.alloc.fail_at = 1;
    cr_expect_eq(lapse_open(&t.options, &other, &t.err), LAPSE_NOMEM);
    cr_expect_null(other);
    cr_expect_eq(t.alloc.bytes_out, before);
    lapse_testing_close(&t);
}

/* Plays the story from call `from` on; the digest of all answers. */
static uint64_t play_rest(struct lapse_testing *t, size_t from) {
    struct lapse_digest answers;
    lapse_digest_begin(&answers);
    for (size_t i = from; i < lapse_testing_story_length(); i++) {
        lapse_testing_story(t, i);
        lapse_testing_answer(&answers, &t->r);
        lapse_testing_check(t);
    }
    return lapse_digest_value(&answers);
}

/* Fails the nth allocation of a call; 0 when it has fewer. */
static size_t fail_at(size_t call, size_t nth, const uint64_t *want) {
    struct lapse_testing t;
    lapse_testing_open(&t);
    for (size_t k = 0; k < call; k++) {
        lapse_testing_story(&t, k);
    }
    lapse_result_free(&t.r);
    uint64_t durable = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
    uint64_t tenure = lapse_testing_digest(t.store, LAPSE_PART_TENURE);
    t.alloc.calls = 0;
    t.alloc.fail_at = nth;
    enum lapse_status status = lapse_testing_story(&t, call);
    bool failed = t.alloc.calls >= nth;
    t.alloc.fail_at = 0;
    cr_assert_eq(status == LAPSE_NOMEM, failed, "call %zu, allocation %zu: %s", call, nth,
                 lapse_status_word(status));
    if (failed) {
        lapse_testing_check(&t);
        cr_assert_eq(t.r.event_count + t.r.item_count + t.r.delivery_count, 0);
        cr_assert_eq(t.r.revision, 0);
        cr_assert_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), durable,
                     "call %zu, allocation %zu changed the durable part", call, nth);
        cr_assert_eq(lapse_testing_digest(t.store, LAPSE_PART_TENURE), tenure,
                     "call %zu, allocation %zu changed the tenure", call, nth);
        cr_assert_eq(play_rest(&t, call), *want, "call %zu, allocation %zu left a trace", call,
                     nth);
    }
    lapse_testing_close(&t);
    return failed ? nth : 0;
}
