/* Stories of clocks that run fast or slow: what is within their bound is accepted, and what lies a
 * nanosecond beyond it is not. The builder's world promises a tenth. */
#include <criterion/criterion.h>

#include "history_builder_test.h"
#include "rules.h"

static struct lapse_request get(const char *bucket, const char *key) {
    return key_call(LAPSE_VERB_GET, bucket, key);
}

static void tick_of_node(struct builder *b, int64_t rate_ppb, int64_t tick_ns) {
    struct lapse_history_event event = {
        .kind = LAPSE_HISTORY_CLOCK, .at = {b->at}, .actor = -1, .step = -1};
    event.u.clock.whose = (struct lapse_party){LAPSE_PARTY_NODE, 0};
    event.u.clock.rate_ppb = rate_ppb;
    event.u.clock.tick_ns = tick_ns;
    cr_assert_not_null(lapse_history_append(b->history, &event));
}

/* A minute of true time after the first answer, store time has advanced by this. */
static void counts(struct builder *b, int64_t store_ns) {
    put(b, W1, "plain", "k", "v", 1, 0);
    b->at = MINUTE;
    struct lapse_answer answer = read_value(b, "v", 1, 0);
    answer.at.ns = store_ns;
    decide(b, W1, get("plain", "k"), answer);
}

static void fast_store(struct builder *b, bool broken) {
    counts(b, MINUTE + MINUTE / 10 + 1 + (broken ? 1 : 0));
}

static void slow_store(struct builder *b, bool broken) {
    counts(b, MINUTE - MINUTE / 10 - 1 - (broken ? 1 : 0));
}

static void coarse_store(struct builder *b, bool broken) {
    tick_of_node(b, 0, 1000);
    counts(b, MINUTE - MINUTE / 10 - 1000 - (broken ? 1 : 0));
}

/* Asleep for a minute, on a raw clock that is a tenth slow and counts it. */
static void slow_sleep(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    node_fault(b, LAPSE_HISTORY_FAULT_BEGIN, LAPSE_FAULT_SUSPEND);
    b->at = MINUTE;
    node_fault(b, LAPSE_HISTORY_FAULT_END, LAPSE_FAULT_SUSPEND);
    struct lapse_answer answer = read_value(b, "v", 1, 0);
    answer.at.ns = MINUTE - MINUTE / 10 - 1 - (broken ? 1 : 0);
    decide(b, W1, get("plain", "k"), answer);
}

/* The store's clock is said to run a tenth slow: a row has its second of store time, which is more
 * than one of true time. */
static void slow_reaper(struct builder *b, bool broken) {
    tick_of_node(b, -100000000, 1);
    put(b, W1, "codes", "c", "v", 1, 15 * MINUTE);
    /* Store time 15m1s, and a nanosecond more. */
    b->at = 1001111111112 + (broken ? 1 : 0);
    rows(b, "codes", 1);
}

/* It runs a tenth fast: a row is gone at its end, which comes before a minute of true time. */
static void fast_reaper(struct builder *b, bool broken) {
    tick_of_node(b, broken ? 0 : 100000000, 1);
    put(b, W1, "codes", "c", "v", 1, 15 * MINUTE);
    b->at = 14 * MINUTE;
    rows(b, "codes", 0);
}

/* From one answer to the next store time gains what rounding may explain, a nanosecond; over fifty
 * of them that adds up to what no clock within its bound reads. */
static void gain(struct builder *b, bool gains) {
    for (int64_t i = 1; i <= 50; i++) {
        b->at++;
        struct lapse_answer answer = read_value(b, "v", 1, 0);
        answer.at.ns = gains ? 2 * i : i;
        decide(b, W1, get("plain", "k"), answer);
    }
}

static void key_ended_early(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    accept(b, W1, with_ttl(put_call(LAPSE_VERB_SET, "plain", "t", "v"), 100), wrote(b, 2, 100));
    gain(b, broken);
    struct lapse_answer answer = broken ? answered(b, LAPSE_ABSENT) : read_value(b, "v", 2, 100);
    answer.at.ns = broken ? 100 : 50;
    decide(b, W1, get("plain", "t"), answer);
}

static void lease_ended_early(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    grant(b, W1, "jobs/x", "w1", 100, 1);
    gain(b, broken);
    struct lapse_answer answer =
        broken ? answered(b, LAPSE_ABSENT) : holds_lease(b, "w1", 1, 100);
    answer.at.ns = broken ? 100 : 50;
    decide(b, W1, lease_call(LAPSE_VERB_INSPECT, "jobs/x", "", 0), answer);
}

Test(rules, judge_ends_in_true_time_too) {
    static const struct twist twists[] = {
        {"a key", "KV-01", key_ended_early, 0},
        {"a lease", "LEASE-02", lease_ended_early, 0},
    };
    check_twists(twists, sizeof twists / sizeof twists[0]);
}

Test(rules, leave_open_what_clocks_within_their_bounds_may_read) {
    struct lapse_setup setup = *builder_setup();
    struct lapse_trackers trackers = {.setup = &setup};
    const struct lapse_history_event since = {.seq = 5, .at = {1000}};
    const struct lapse_history_event machine = {.seq = 6};
    const struct lapse_span span = {1100};
    setup.rate_ppb = 100000000;
    static const struct {
        int64_t passed;
        enum lapse_tracked_state truth;
    } spans[] = {{0, LAPSE_TRACKED_LIVE},      {998, LAPSE_TRACKED_LIVE},
                 {999, LAPSE_TRACKED_UNSURE},  {1223, LAPSE_TRACKED_UNSURE},
                 {1224, LAPSE_TRACKED_ENDED}};
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        struct lapse_true_time at = {1000 + spans[i].passed};
        cr_expect_eq(lapse_true_span(&trackers, &since, span, at), spans[i].truth, "%zu", i);
    }
    trackers.machine_tenure = &machine;
    cr_expect_eq(lapse_true_span(&trackers, &since, span, (struct lapse_true_time){1000}),
                 LAPSE_TRACKED_UNSURE);
    const struct lapse_wall date = {setup.epoch.ns + 1000};
    cr_expect_eq(lapse_true_date(&trackers, date, (struct lapse_true_time){0}),
                 LAPSE_TRACKED_UNSURE, "no bound is declared");
    setup.wall_bound.ns = 100;
    static const struct {
        int64_t at;
        enum lapse_tracked_state truth;
    } dates[] = {{899, LAPSE_TRACKED_LIVE},
                 {900, LAPSE_TRACKED_UNSURE},
                 {1099, LAPSE_TRACKED_UNSURE},
                 {1100, LAPSE_TRACKED_ENDED}};
    for (size_t i = 0; i < sizeof dates / sizeof dates[0]; i++)
        cr_expect_eq(lapse_true_date(&trackers, date, (struct lapse_true_time){dates[i].at}),
                     dates[i].truth, "%zu", i);
    trackers.outside.node_wall = true;
    cr_expect_eq(lapse_true_date(&trackers, date, (struct lapse_true_time){0}),
                 LAPSE_TRACKED_UNSURE, "a wall was beyond its bound");
}

Test(rules, take_drift_within_the_bound_and_nothing_beyond_it) {
    static const struct twist twists[] = {
        {"a fast store", "CLOCK-06", fast_store, 0},
        {"a slow store", "CLOCK-06", slow_store, 0},
        {"a store with a coarse clock", "CLOCK-06", coarse_store, 0},
        {"a sleep on a slow clock", "CLOCK-04", slow_sleep, 0},
        {"a reaper on a slow clock", "REAP-01", slow_reaper, 0},
        {"a reaper on a fast clock", "REAP-01", fast_reaper, 0},
    };
    check_twists(twists, sizeof twists / sizeof twists[0]);
}
