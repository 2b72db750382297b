/* Time where policies differ: when what has ended is next to be taken, instants before 1970, walls
 * and dates at the ends of the range. */
#include "testing.h"

#include <criterion/criterion.h>
#include <string.h>

#define DO(t, verb, key, given, span)                                                              \
    lapse_testing_do((t), LAPSE_VERB_##verb, "b", (key), "v", (given), (span))
#define TTL LAPSE_TERM_TTL
#define DATE LAPSE_TERM_EXPIRES_AT

static struct lapse_policies but(enum lapse_policy policy, uint8_t value) {
    struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_STRICT);
    policies.value[policy] = value;
    return policies;
}

/* A store whose clock shows `wall` when it is opened. */
static void open_at(struct lapse_testing *t, enum lapse_profile profile, int64_t wall,
                    struct lapse_bucket_config words) {
    struct lapse_policies policies = lapse_policies_of(profile);
    lapse_testing_open_policies(t, NULL, 0, &policies);
    lapse_close(t->store);
    t->store = NULL;
    lapse_clock_manual_init(&t->clock, (struct lapse_wall){wall});
    cr_assert_eq(lapse_open(&t->options, &t->store, &t->err), LAPSE_OK, "%s", t->err.message);
    cr_assert_eq(lapse_bucket_open(t->store, lapse_bytes_of("b"), &words, &t->r, &t->err),
                 LAPSE_OK, "%s", t->err.message);
}

static void step_wall(struct lapse_testing *t, int64_t ns) {
    cr_assert_eq(lapse_clock_manual_step_wall(&t->clock, (struct lapse_span){ns}), LAPSE_OK);
}

static void expect_due(const struct lapse_testing *t, int64_t steady, int64_t wall) {
    struct lapse_due due;
    lapse_next_due(t->store, &due);
    cr_expect_eq(due.has_steady ? due.steady.ns : -1, steady, "due at %lld ns",
                 (long long)due.steady.ns);
    cr_expect_eq(due.has_wall ? due.wall.ns : -1, wall, "due at a wall of %lld ns",
                 (long long)due.wall.ns);
}

/* Where a row is live at exactly its end, the reaper comes a tick of the store's resolution later;
 * early it would find nothing, and be asked for again and again. */
Test(policy_time, the_reaper_is_due_when_an_end_has_come_and_not_before) {
    static const struct {
        uint8_t at_end, resolution;
        int64_t later;
    } cases[] = {{0, 0, 0}, {0, 1, 0}, {1, 0, 1}, {1, 1, LAPSE_NS_PER_MS}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lapse_policies policies = but(LAPSE_POLICY_AT_END, cases[i].at_end);
        struct lapse_testing t;
        policies.value[LAPSE_POLICY_RESOLUTION] = cases[i].resolution;
        lapse_testing_open_policies(&t, NULL, 0, &policies);
        lapse_testing_bucket(&t, "b", 0, 0, 0);
        DO(&t, SET, "k", TTL, S(5));
        DO(&t, SET, "d", DATE, S(1007));
        expect_due(&t, S(5) + cases[i].later, S(1007) + cases[i].later);
        lapse_testing_at(&t, S(5) + cases[i].later - 1);
        lapse_testing_step(&t, NULL);
        cr_expect_eq(t.r.item_count, 0);
        lapse_testing_at(&t, S(5) + cases[i].later);
        lapse_testing_step(&t, NULL);
        cr_expect_eq(t.r.item_count, 1);
        lapse_testing_at(&t, S(7) + cases[i].later);
        cr_expect_eq(DO(&t, GET, "d", 0, 0), LAPSE_ABSENT);
        expect_due(&t, S(7) + cases[i].later, -1);
        lapse_testing_step(&t, NULL);
        cr_expect_eq(t.r.item_count, 1);
        expect_due(&t, -1, -1);
        lapse_testing_close(&t);
    }
}

/* A brief lease is a row of the tenure: its end asks for a step too. */
Test(policy_time, an_ephemeral_lease_is_due_as_a_stored_row_is) {
    for (uint8_t at_end = 0; at_end < 2; at_end++) {
        struct lapse_policies policies = but(LAPSE_POLICY_AT_END, at_end);
        struct lapse_testing t;
        struct lapse_bytes w = lapse_bytes_of("w");
        lapse_testing_open_policies(&t, NULL, 0, &policies);
        lapse_testing_lease(&t, LAPSE_VERB_ACQUIRE, "stored", "w", S(9));
        lapse_acquire_ephemeral(t.store, w, w, (struct lapse_span){S(4)}, &t.r, &t.err);
        expect_due(&t, S(4) + at_end, -1);
        lapse_testing_lease(&t, LAPSE_VERB_ACQUIRE, "sooner", "w", S(3));
        expect_due(&t, S(3) + at_end, -1);
        lapse_testing_close(&t);
    }
}

/* A sweep is not asked for sooner than it may come. */
Test(policy_time, sweeps_are_due_a_quarter_of_a_second_apart) {
    struct lapse_policies policies = but(LAPSE_POLICY_END_SEEN, 1);
    struct lapse_testing t;
    lapse_testing_open_policies(&t, NULL, 0, &policies);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    DO(&t, SET, "a", TTL, S(1));
    DO(&t, SET, "b", TTL, S(1) + 1);
    DO(&t, SET, "c", TTL, S(9));
    expect_due(&t, S(1), -1);
    lapse_testing_at(&t, S(1));
    lapse_testing_step(&t, NULL);
    cr_expect_eq(t.r.item_count, 1);
    expect_due(&t, S(1) + 250 * LAPSE_NS_PER_MS, -1);
    lapse_testing_at(&t, S(2));
    lapse_testing_step(&t, NULL);
    cr_expect_eq(t.r.item_count, 1);
    expect_due(&t, S(9), -1);
    /* A date is seen when the wall shows it; its row waits for the next sweep all the same. */
    DO(&t, DELETE, "c", 0, 0);
    DO(&t, SET, "d", DATE, S(1002) + 1);
    expect_due(&t, -1, S(1002) + 1);
    lapse_testing_at(&t, S(2) + 1);
    cr_expect_eq(DO(&t, GET, "d", 0, 0), LAPSE_ABSENT);
    expect_due(&t, S(2) + 250 * LAPSE_NS_PER_MS, -1);
    lapse_testing_at(&t, S(2) + 250 * LAPSE_NS_PER_MS);
    lapse_testing_step(&t, NULL);
    cr_expect_eq(t.r.item_count, 1);
    expect_due(&t, -1, -1);
    lapse_testing_check(&t);
    lapse_testing_close(&t);
}

/* Of a step back, the last sweep lies ahead: the next one waits for no clock. */
Test(policy_time, a_sweep_of_before_a_step_back_holds_up_none) {
    struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_NATS);
    struct lapse_testing t;
    policies.value[LAPSE_POLICY_END_SEEN] = 1;
    lapse_testing_open_policies(&t, NULL, 0, &policies);
    lapse_testing_bucket(&t, "b", TTL, S(1), 0);
    DO(&t, SET, "a", 0, 0);
    lapse_testing_at(&t, S(1));
    lapse_testing_step(&t, NULL);
    cr_expect_eq(t.r.item_count, 1);
    lapse_testing_at(&t, S(60));
    DO(&t, SET, "b", 0, 0);
    lapse_testing_at(&t, S(61));
    lapse_testing_step(&t, NULL);
    cr_expect_eq(t.r.item_count, 1);
    step_wall(&t, -S(50));
    DO(&t, SET, "c", 0, 0);
    cr_expect_eq(t.r.end.ns, S(12));
    lapse_testing_at(&t, S(62));
    lapse_testing_step(&t, NULL);
    cr_expect_eq(t.r.item_count, 1, "12 s have come, if the wall is right");
    lapse_testing_check(&t);
    lapse_testing_close(&t);
}

/* A date is cut down to the millisecond, before 1970 as after. */
Test(policy_time, instants_before_1970_are_cut_down_as_those_after_are) {
    static const struct {
        int64_t date, cut;
    } cases[] = {{-S(3), -S(3)},
                 {-S(3) + 1, -S(3)},
                 {-S(3) - 1, -S(3) - LAPSE_NS_PER_MS},
                 {-1, -LAPSE_NS_PER_MS},
                 {1, 0},
                 {LAPSE_NS_PER_MS, LAPSE_NS_PER_MS}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lapse_testing t;
        open_at(&t, LAPSE_PROFILE_TINYSTORE, -S(10) + 1, (struct lapse_bucket_config){0});
        cr_expect_eq(DO(&t, SET, "k", DATE, cases[i].date), LAPSE_OK, "%s", t.err.message);
        cr_expect_eq(t.r.end.ns, cases[i].cut, "case %zu: %lld", i, (long long)t.r.end.ns);
        step_wall(&t, cases[i].cut + S(10) - 2);
        cr_expect_eq(DO(&t, GET, "k", 0, 0), LAPSE_OK, "a nanosecond before");
        step_wall(&t, 1);
        cr_expect_eq(DO(&t, GET, "k", 0, 0), LAPSE_ABSENT);
        lapse_testing_check(&t);
        lapse_testing_close(&t);
    }
}

/* The lowest wall that a clock can show is an instant like any other. */
Test(policy_time, the_first_instant_of_the_range_is_none_too_early) {
    for (int p = 0; p < LAPSE_PROFILES; p++) {
        struct lapse_testing t;
        open_at(&t, (enum lapse_profile)p, INT64_MIN, (struct lapse_bucket_config){0});
        DO(&t, SET, "k", 0, 0);
        cr_expect_eq(DO(&t, GET, "k", 0, 0), LAPSE_OK, "%s", t.err.message);
        lapse_testing_step(&t, NULL);
        lapse_testing_check(&t);
        lapse_testing_close(&t);
    }
}

/* Store time that follows the wall is refused where the wall takes it past the range. */
Test(policy_time, store_time_is_told_at_the_resolution_that_answers_have) {
    static const struct {
        enum lapse_profile profile;
        int64_t told;
    } cases[] = {{LAPSE_PROFILE_STRICT, 1234567}, {LAPSE_PROFILE_KAHUNA, 1000000}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lapse_testing t;
        open_at(&t, cases[i].profile, 0, (struct lapse_bucket_config){0});
        cr_assert_eq(lapse_clock_manual_advance(&t.clock, (struct lapse_span){1234567}), LAPSE_OK);
        (void)DO(&t, GET, "k", 0, 0);
        cr_expect_eq(t.r.at.ns, cases[i].told);
        cr_expect_eq(lapse_store_time(t.store).ns, cases[i].told);
        lapse_testing_close(&t);
    }
}

Test(policy_time, a_wall_that_leaves_the_range_of_store_time_is_refused) {
    struct lapse_testing t;
    open_at(&t, LAPSE_PROFILE_TINYSTORE, INT64_MIN, (struct lapse_bucket_config){0});
    DO(&t, SET, "k", 0, 0);
    step_wall(&t, INT64_MAX);
    cr_expect_eq(DO(&t, SET, "k", 0, 0), LAPSE_OK, "%s", t.err.message);
    step_wall(&t, S(1));
    cr_expect_eq(DO(&t, SET, "k", 0, 0), LAPSE_RANGE, "the sum leaves the range");
    step_wall(&t, -S(1));
    cr_expect_eq(DO(&t, GET, "k", 0, 0), LAPSE_OK, "and nothing has happened");
    lapse_testing_close(&t);
    open_at(&t, LAPSE_PROFILE_NATS, INT64_MIN, (struct lapse_bucket_config){0});
    DO(&t, SET, "k", 0, 0);
    step_wall(&t, INT64_MAX);
    step_wall(&t, INT64_MAX);
    cr_expect_eq(DO(&t, SET, "k", 0, 0), LAPSE_RANGE, "the difference does");
    lapse_testing_close(&t);
}

/* A read gives a key of an idle bucket the bucket's span; a date that store time cannot hold is
 * none that a span can follow. */
Test(policy_time, a_date_past_the_range_of_store_time_stays_a_date) {
    static const int64_t walls[] = {-S(10), S(1)};
    for (int i = 0; i < 2; i++) {
        struct lapse_bucket_config idle = {
            .term = {.given = LAPSE_TERM_IDLE, .idle = {S(1800)}}};
        struct lapse_testing t;
        open_at(&t, LAPSE_PROFILE_TINYSTORE, -S(10), idle);
        step_wall(&t, walls[i] + S(10));
        cr_expect_eq(DO(&t, SET, "k", DATE, INT64_MAX), LAPSE_OK, "%s", t.err.message);
        cr_expect_eq(t.r.end.kind, LAPSE_END_WALL);
        cr_expect_eq(DO(&t, SET, "l", DATE, S(3600)), LAPSE_OK);
        cr_expect_eq(t.r.end.kind, LAPSE_END_STEADY);
        cr_expect_eq(t.r.end.ns, S(3610));
        step_wall(&t, S(100));
        cr_expect_eq(DO(&t, GET, "k", 0, 0), LAPSE_OK);
        cr_expect_eq(t.r.end.kind, LAPSE_END_WALL, "it is not lost to a read");
        cr_expect_not(t.r.renewed);
        lapse_testing_check(&t);
        lapse_testing_close(&t);
    }
}

/* What is remembered is remembered for 2 min: where those leave the range, the call is refused. */
Test(policy_time, a_call_that_cannot_be_remembered_long_enough_is_not_made) {
    for (int saturates = 0; saturates < 2; saturates++) {
        struct lapse_policies policies = but(LAPSE_POLICY_OVERFLOW, saturates == 1 ? 2 : 0);
        struct lapse_testing t;
        struct lapse_command set = {.verb = LAPSE_VERB_SET,
                                    .bucket = lapse_bytes_of("b"),
                                    .key = lapse_bytes_of("k"),
                                    .request = lapse_bytes_of("id")};
        lapse_testing_open_policies(&t, NULL, 0, &policies);
        lapse_testing_bucket(&t, "b", 0, 0, 0);
        lapse_testing_at(&t, INT64_MAX - LAPSE_REQUEST_SPAN_NS - S(1001));
        cr_assert_eq(lapse_apply(t.store, &set, &t.r, &t.err), LAPSE_OK, "%s", t.err.message);
        step_wall(&t, -S(1000));
        lapse_testing_at(&t, INT64_MAX - LAPSE_REQUEST_SPAN_NS + 1);
        set.request = lapse_bytes_of("other");
        uint64_t before = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
        cr_expect_eq(lapse_apply(t.store, &set, &t.r, &t.err), LAPSE_RANGE);
        cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), before);
        set.request = lapse_bytes_of("");
        cr_expect_eq(lapse_apply(t.store, &set, &t.r, &t.err), LAPSE_OK, "%s", t.err.message);
        lapse_testing_check(&t);
        lapse_testing_close(&t);
    }
}

/* A lease has no end past the range, whatever keys do; where spans saturate there is room for one
 * until there is none. */
Test(policy_time, a_lease_past_the_range_is_refused_or_ends_with_it) {
    for (uint8_t overflow = 0; overflow < 3; overflow++) {
        struct lapse_policies policies = but(LAPSE_POLICY_OVERFLOW, overflow);
        enum lapse_status want = overflow == 2 ? LAPSE_OK : LAPSE_RANGE;
        struct lapse_testing t;
        lapse_testing_open_policies(&t, NULL, 0, &policies);
        lapse_testing_at(&t, S(1));
        cr_expect_eq(lapse_testing_lease(&t, LAPSE_VERB_ACQUIRE, "l", "w", INT64_MAX), want);
        cr_expect(want != LAPSE_OK || t.r.end.ns == INT64_MAX);
        step_wall(&t, -S(1001));
        lapse_testing_at(&t, INT64_MAX);
        cr_expect_eq(lapse_testing_lease(&t, LAPSE_VERB_ACQUIRE, "m", "w", S(1)), LAPSE_RANGE,
                     "nothing is left of the range");
        lapse_testing_check(&t);
        lapse_testing_close(&t);
    }
}
