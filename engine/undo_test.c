/* All or nothing: every call of the story is failed at each of its allocations. The state must be
 * as before, save for the log commands that preceded the call, every invariant must hold, nothing
 * may leak, and what comes after must be answered as if the failed call had never been made. */
#include "testing.h"

#include <criterion/criterion.h>

/* What a store is and will answer before a call of the story, n of its preceding log commands
 * carried out. */
struct before {
    uint64_t durable, tenure, rest;
};

enum { PRECEDING_MAX = 3 };

static size_t look(size_t call, size_t preceding, struct before *ret);
static uint64_t play_rest(struct lapse_testing *t, size_t from);
static size_t fail_at(size_t call, size_t nth, const struct before *before);

Test(undo, a_call_that_runs_out_of_memory_changes_nothing) {
    size_t failures = 0;
    size_t preceded = 0;
    for (size_t i = 0; i < lapse_testing_story_length(); i++) {
        struct before before[PRECEDING_MAX + 1];
        size_t count = 0;
        while (look(i, count, &before[count]) == count) {
            count++;
            cr_assert_lt(count, PRECEDING_MAX + 1);
        }
        size_t nth = 1;
        while (fail_at(i, nth, before) > 0) {
            nth++;
            cr_assert_lt(nth, 100);
        }
        failures += nth - 1;
        preceded += count - 1;
    }
    cr_expect_gt(failures, 100, "only %zu allocations were failed", failures);
    cr_expect_gt(preceded, 3, "only %zu log commands preceded", preceded);
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

/* How many commands preceded, at most `preceding`. */
static size_t look(size_t call, size_t preceding, struct before *ret) {
    struct lapse_testing t;
    lapse_testing_open(&t);
    for (size_t k = 0; k < call; k++) {
        lapse_testing_story(&t, k);
    }
    lapse_testing_story_enter(&t, call);
    size_t count = lapse_testing_story_precede(&t, call, preceding);
    ret->durable = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
    ret->tenure = lapse_testing_digest(t.store, LAPSE_PART_TENURE);
    ret->rest = play_rest(&t, call);
    lapse_testing_close(&t);
    return count;
}

/* Plays the story from call `from` on, whose time it is; the digest of all answers. */
static uint64_t play_rest(struct lapse_testing *t, size_t from) {
    struct lapse_digest answers;
    lapse_digest_begin(&answers);
    for (size_t i = from; i < lapse_testing_story_length(); i++) {
        if (i > from) {
            lapse_testing_story_enter(t, i);
        }
        lapse_testing_story_call(t, i);
        lapse_testing_answer(&answers, &t->r);
        lapse_testing_check(t);
    }
    return lapse_digest_value(&answers);
}

/* Fails the nth allocation of a call; 0 when it has fewer. */
static size_t fail_at(size_t call, size_t nth, const struct before *before) {
    struct lapse_testing t;
    lapse_testing_open(&t);
    for (size_t k = 0; k < call; k++) {
        lapse_testing_story(&t, k);
    }
    lapse_testing_story_enter(&t, call);
    int64_t seq = t.r.command_seq;
    lapse_result_free(&t.r);
    t.alloc.calls = 0;
    t.alloc.fail_at = nth;
    enum lapse_status status = lapse_testing_story_call(&t, call);
    bool failed = t.alloc.calls >= nth;
    t.alloc.fail_at = 0;
    cr_assert_eq(status == LAPSE_NOMEM, failed, "call %zu, allocation %zu: %s", call, nth,
                 lapse_status_word(status));
    if (failed) {
        /* The last of the numbers given is that of the command that failed. */
        const struct before *want = &before[t.r.command_seq - seq - 1];
        lapse_testing_check(&t);
        cr_assert_eq(t.r.event_count + t.r.item_count + t.r.delivery_count, 0);
        cr_assert_eq(t.r.revision, 0);
        cr_assert_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), want->durable,
                     "call %zu, allocation %zu changed the durable part", call, nth);
        cr_assert_eq(lapse_testing_digest(t.store, LAPSE_PART_TENURE), want->tenure,
                     "call %zu, allocation %zu changed the tenure", call, nth);
        cr_assert_eq(play_rest(&t, call), want->rest, "call %zu, allocation %zu left a trace", call,
                     nth);
    }
    lapse_testing_close(&t);
    return failed ? nth : 0;
}
