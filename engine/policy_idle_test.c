/* Renewals where policies differ: one of an older value that is current again, one that came too
 * late, one whose row was given another end, one that a step of the wall has put into the future,
 * and uses at the edge of the range. */
#include "handle.h"
#include "testing.h"

#include <criterion/criterion.h>

#define DO(t, verb, key, given, span)                                                              \
    lapse_testing_do((t), LAPSE_VERB_##verb, "b", (key), "v", (given), (span))
#define TTL LAPSE_TERM_TTL

/* Strict but for one policy. */
static struct lapse_policies but(enum lapse_policy policy, uint8_t value) {
    struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_STRICT);
    policies.value[policy] = value;
    return policies;
}

static void open_idle(struct lapse_testing *t, const struct lapse_policies *policies, int64_t idle,
                      uint32_t history) {
    struct lapse_bucket_config words = {.term = {.given = LAPSE_TERM_IDLE, .idle = {idle}},
                                        .history = history};
    lapse_testing_open_policies(t, NULL, 0, policies);
    cr_assert_eq(lapse_bucket_open(t->store, lapse_bytes_of("b"), &words, &t->r, &t->err),
                 LAPSE_OK, "%s", t->err.message);
}

static void step_wall(struct lapse_testing *t, int64_t ns) {
    cr_assert_eq(lapse_clock_manual_step_wall(&t->clock, (struct lapse_span){ns}), LAPSE_OK);
}

/* What a look that renews nothing shows of a key's end; 0: it is absent. */
static int64_t end_of(struct lapse_testing *t, const char *key) {
    struct lapse_command peek = {.verb = LAPSE_VERB_ENTRY,
                                 .bucket = lapse_bytes_of("b"),
                                 .key = lapse_bytes_of(key),
                                 .u.read.peek = true};
    enum lapse_status status = lapse_apply(t->store, &peek, &t->r, &t->err);
    cr_assert(status == LAPSE_OK || status == LAPSE_ABSENT, "%s", t->err.message);
    lapse_testing_check(t);
    return status == LAPSE_OK ? t->r.end.ns : 0;
}

static bool flush(struct lapse_testing *t, const char *key, int64_t revision, int64_t used,
                  int64_t end) {
    struct lapse_command command = {
        .verb = LAPSE_VERB_FLUSH, .bucket = lapse_bytes_of("b"), .key = lapse_bytes_of(key)};
    command.u.flush.used.ns = used;
    command.u.flush.revision = revision;
    command.u.flush.end = (struct lapse_end){LAPSE_END_STEADY, end};
    cr_assert_eq(lapse_apply(t->store, &command, &t->r, &t->err), LAPSE_OK, "%s", t->err.message);
    lapse_testing_check(t);
    return t->r.renewed;
}

static void expect_due(struct lapse_testing *t, int64_t ns) {
    struct lapse_due due;
    lapse_next_due(t->store, &due);
    cr_expect(due.has_steady && due.steady.ns == ns, "due at %lld ns", (long long)due.steady.ns);
}

Test(policy_idle, an_older_value_that_is_current_is_renewed_and_flushed_as_its_own) {
    struct lapse_policies policies = but(LAPSE_POLICY_OLDER, 1);
    struct lapse_testing t;
    open_idle(&t, &policies, S(60), 3);
    DO(&t, SET, "j", 0, 0);
    DO(&t, SET, "k", 0, 0);
    DO(&t, SET, "k", TTL, S(20));
    lapse_testing_at(&t, S(21));
    cr_expect_eq(DO(&t, GET, "k", 0, 0), LAPSE_OK);
    cr_expect_eq(t.r.end.ns, S(81), "the older value has a term of its own");
    cr_expect_eq(t.r.revision, 2);
    cr_expect_eq(end_of(&t, "k"), S(81), "and it counts from the use on");
    /* A write of the key owes the flush, though the record that it covers is not the newest. */
    struct lapse_command before;
    struct lapse_command set = {
        .verb = LAPSE_VERB_SET, .bucket = lapse_bytes_of("b"), .key = lapse_bytes_of("k")};
    cr_assert_eq(lapse_preceding(t.store, &set, &before, &t.err), LAPSE_OK);
    cr_expect_eq(before.verb, LAPSE_VERB_FLUSH);
    cr_expect_eq(before.u.flush.revision, 2);
    cr_expect_eq(DO(&t, SET, "k", TTL, S(5)), LAPSE_OK);
    cr_expect_eq(end_of(&t, "k"), S(26));
    lapse_testing_at(&t, S(26));
    cr_expect_eq(end_of(&t, "k"), S(81), "it is current again, with its renewed end");
    lapse_testing_step(&t, NULL);
    cr_expect_eq(end_of(&t, "k"), S(81), "reaped or not");
    lapse_testing_at(&t, S(81));
    cr_expect_eq(end_of(&t, "k"), 0);
    lapse_testing_close(&t);
}

Test(policy_idle, a_flush_renews_the_record_of_its_revision_or_none) {
    struct lapse_policies policies = but(LAPSE_POLICY_OLDER, 1);
    struct lapse_testing t;
    open_idle(&t, &policies, S(60), 3);
    DO(&t, SET, "k", 0, 0);
    DO(&t, SET, "k", 0, 0);
    lapse_testing_at(&t, S(10));
    cr_expect_not(flush(&t, "k", 9, S(10), S(60)), "no record has that revision");
    cr_expect_not(flush(&t, "q", 1, S(10), S(60)), "nor has a key that never was one");
    cr_expect(flush(&t, "k", 1, S(10), S(60)));
    lapse_testing_at(&t, S(60));
    cr_expect_eq(end_of(&t, "k"), S(70), "the older one, renewed, outlives the newer");
    lapse_testing_close(&t);
}

/* Only what comes before anything else is flushed: another key's renewal is left alone. */
Test(policy_idle, a_write_owes_the_flush_of_no_other_key) {
    struct lapse_policies policies = but(LAPSE_POLICY_OLDER, 1);
    struct lapse_testing t;
    struct lapse_command before;
    struct lapse_command set = {
        .verb = LAPSE_VERB_SET, .bucket = lapse_bytes_of("b"), .key = lapse_bytes_of("k")};
    open_idle(&t, &policies, S(60), 3);
    DO(&t, SET, "j", 0, 0);
    DO(&t, SET, "k", 0, 0);
    DO(&t, SET, "k", 0, 0);
    lapse_testing_at(&t, S(10));
    cr_expect_eq(DO(&t, GET, "j", 0, 0), LAPSE_OK);
    cr_expect_eq(lapse_preceding(t.store, &set, &before, &t.err), LAPSE_ABSENT);
    cr_expect_eq(DO(&t, SET, "k", 0, 0), LAPSE_OK);
    cr_expect_eq(end_of(&t, "j"), S(70));
    lapse_testing_close(&t);
}

/* The old end is shown and holds, so a renewal that was not written before it is over. */
Test(policy_idle, a_renewal_that_is_not_shown_and_came_too_late_is_dropped) {
    struct lapse_policies policies = but(LAPSE_POLICY_IDLE_SHOWN, 1);
    struct lapse_testing t;
    open_idle(&t, &policies, S(1800), 0);
    DO(&t, SET, "late", 0, 0);
    lapse_testing_at(&t, S(100));
    DO(&t, SET, "early", 0, 0);
    lapse_testing_at(&t, S(1200));
    cr_expect_eq(DO(&t, GET, "late", 0, 0), LAPSE_OK);
    cr_expect_eq(t.r.end.ns, S(1800), "the old end is shown");
    lapse_testing_at(&t, S(1210));
    cr_expect_eq(DO(&t, GET, "early", 0, 0), LAPSE_OK);
    lapse_testing_at(&t, S(1800));
    cr_expect_eq(end_of(&t, "late"), 0);
    cr_expect_eq(t.store->state.deferred_count, 2);
    cr_expect_not(flush(&t, "late", 1, S(1200), S(1800)), "used in time, flushed too late");
    lapse_testing_step(&t, NULL);
    lapse_testing_check(&t);
    cr_expect_eq(t.store->state.deferred_count, 0, "one was flushed, one is over");
    cr_expect_eq(end_of(&t, "late"), 0, "what was seen ended stays absent");
    cr_expect_eq(end_of(&t, "early"), S(3010));
    expect_due(&t, S(3010));
    lapse_testing_close(&t);
}

/* As above, but nothing was reaped: the late renewal goes all the same, the other stays. */
Test(policy_idle, a_late_renewal_holds_up_no_other) {
    struct lapse_policies policies = but(LAPSE_POLICY_IDLE_SHOWN, 1);
    struct lapse_testing t;
    open_idle(&t, &policies, S(1800), 0);
    DO(&t, SET, "late", 0, 0);
    lapse_testing_at(&t, S(1200));
    DO(&t, GET, "late", 0, 0);
    DO(&t, SET, "early", 0, 0);
    lapse_testing_at(&t, S(1800));
    DO(&t, GET, "early", 0, 0);
    cr_assert_eq(t.store->state.deferred_count, 2);
    lapse_testing_step(&t, NULL);
    lapse_testing_check(&t);
    cr_expect_eq(t.store->state.deferred_count, 1);
    lapse_testing_at(&t, S(1801));
    lapse_testing_step(&t, NULL);
    cr_expect_eq(end_of(&t, "early"), S(3600));
    cr_expect_eq(end_of(&t, "late"), 0);
    lapse_testing_close(&t);
}

/* A renewal is of the row that was read: the same revision, and the same end. */
Test(policy_idle, a_renewal_that_waits_is_lost_with_the_end_that_it_was_read_from) {
    static const struct {
        enum lapse_verb verb;
        unsigned given;
        int64_t span, end;
    } cases[] = {
        {LAPSE_VERB_EXPIRE, TTL, S(300), S(1500)},
        {LAPSE_VERB_EXPIRE, TTL, S(600), S(3000)}, /* the end that it had: nothing is another */
        {LAPSE_VERB_PERSIST, 0, 0, 0},
        {LAPSE_VERB_SET, 0, 0, S(3000)},
        {LAPSE_VERB_SET, TTL, S(300), S(1500)},
    };
    struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_TINYSTORE);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lapse_testing t;
        open_idle(&t, &policies, S(1800), 0);
        DO(&t, SET, "k", 0, 0);
        lapse_testing_at(&t, S(1200));
        DO(&t, GET, "k", 0, 0);
        cr_assert_eq(t.r.end.ns, S(1800));
        lapse_testing_do(&t, cases[i].verb, "b", "k", "v", cases[i].given, cases[i].span);
        lapse_testing_check(&t);
        lapse_testing_at(&t, S(1201));
        lapse_testing_step(&t, NULL);
        cr_expect_eq(end_of(&t, "k"), cases[i].end, "case %zu: %lld", i,
                     (long long)end_of(&t, "k"));
        lapse_testing_close(&t);
    }
}

/* The same end, but no idle one any more: there is nothing that a use could renew. */
Test(policy_idle, a_renewal_that_waits_is_lost_with_the_idle_term) {
    struct lapse_policies policies = but(LAPSE_POLICY_IDLE_SHOWN, 1);
    struct lapse_testing t;
    open_idle(&t, &policies, S(1800), 0);
    DO(&t, SET, "k", 0, 0);
    lapse_testing_at(&t, S(1200));
    DO(&t, GET, "k", 0, 0);
    cr_assert_eq(t.store->state.deferred_count, 1);
    DO(&t, EXPIRE, "k", TTL, S(600));
    cr_expect_eq(end_of(&t, "k"), S(1800));
    cr_expect_eq(t.store->state.deferred_count, 0);
    lapse_testing_at(&t, S(1800));
    lapse_testing_step(&t, NULL);
    cr_expect_eq(end_of(&t, "k"), 0);
    lapse_testing_close(&t);
}

Test(policy_idle, a_renewal_that_waits_is_lost_with_the_value_that_is_covered) {
    struct lapse_policies policies = but(LAPSE_POLICY_IDLE_SHOWN, 1);
    struct lapse_testing t;
    open_idle(&t, &policies, S(1800), 2);
    DO(&t, SET, "k", 0, 0);
    lapse_testing_at(&t, S(1200));
    DO(&t, GET, "k", 0, 0);
    cr_assert_eq(t.store->state.deferred_count, 1);
    DO(&t, SET, "k", TTL, S(50));
    lapse_testing_check(&t);
    cr_expect_eq(t.store->state.deferred_count, 0);
    lapse_testing_at(&t, S(1201));
    lapse_testing_step(&t, NULL);
    cr_expect_eq(end_of(&t, "k"), S(1250));
    lapse_testing_close(&t);
}

/* Where spans follow the wall, a use may lie in the future by the time of the next call: it is
 * flushed at the first reap, or before the key is used again. */
Test(policy_idle, a_renewal_of_before_a_step_back_is_flushed_at_once) {
    struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_TINYSTORE);
    for (int again = 0; again < 2; again++) {
        struct lapse_testing t;
        struct lapse *fork = NULL;
        open_idle(&t, &policies, S(1800), 0);
        DO(&t, SET, "k", 0, 0);
        DO(&t, SET, "l", 0, 0);
        lapse_testing_at(&t, S(1200));
        DO(&t, GET, "k", 0, 0);
        cr_expect_eq(end_of(&t, "k"), S(1800));
        expect_due(&t, S(1201));
        step_wall(&t, -S(100));
        DO(&t, GET, again == 1 ? "k" : "l", 0, 0);
        cr_expect_eq(end_of(&t, "k"), again == 1 ? S(3000) : S(1800));
        cr_assert_eq(lapse_fork(t.store, NULL, t.options.clock, &fork, &t.err), LAPSE_OK, "%s",
                     t.err.message);
        lapse_close(fork);
        expect_due(&t, again == 1 ? S(1800) : S(1100));
        lapse_testing_step(&t, NULL);
        cr_expect_eq(end_of(&t, "k"), S(3000));
        cr_expect_eq(end_of(&t, "l"), S(1800), "a second has not passed");
        lapse_testing_at(&t, S(1201));
        lapse_testing_step(&t, NULL);
        cr_expect_eq(end_of(&t, "l"), again == 1 ? S(1800) : S(2900));
        cr_expect_eq(t.store->state.deferred_count, 0);
        lapse_testing_close(&t);
    }
}

/* A use whose sum leaves the range moves no end; where a cap lies in the range, it moves it there.
 */
Test(policy_idle, a_use_past_the_range_moves_the_end_to_the_cap_or_not_at_all) {
    const int64_t span = INT64_MAX - S(20);
    for (int capped = 0; capped < 2; capped++) {
        struct lapse_term term = {.given = LAPSE_TERM_IDLE,
                                  .idle = {span},
                                  .cap = {capped == 1 ? INT64_MAX - 1 : 0}};
        struct lapse_testing t;
        lapse_testing_open(&t);
        lapse_testing_bucket(&t, "b", 0, 0, 0);
        cr_assert_eq(lapse_set(t.store, lapse_bytes_of("b"), lapse_bytes_of("k"),
                               lapse_bytes_of("v"), &term, NULL, &t.r, &t.err),
                     LAPSE_OK, "%s", t.err.message);
        cr_expect_eq(t.r.end.ns, span);
        lapse_testing_at(&t, span / 30);
        DO(&t, GET, "k", 0, 0);
        cr_expect_eq(t.r.status, LAPSE_OK);
        cr_expect_eq(t.r.renewed, capped == 1);
        cr_expect_eq(t.r.end.ns, capped == 1 ? INT64_MAX - 1 : span);
        cr_expect_eq(flush(&t, "k", 1, span / 30, span), capped == 1);
        cr_expect_eq(end_of(&t, "k"), capped == 1 ? INT64_MAX - 1 : span);
        lapse_testing_close(&t);
    }
}
