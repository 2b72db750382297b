/* Stories of loops: how often they fire, and that what is free is taken in the end. */
#include <criterion/criterion.h>

#include "history_builder_test.h"

#define JOB "jobs/nightly"

/* The loop asks for a lease and has its answer at once; firing `n`. */
static void ask(struct builder *b, int32_t n, const char *name, struct lapse_answer answer) {
    b->loop = LOOP;
    b->n = n;
    converse(b, C1, lease_call(LAPSE_VERB_ACQUIRE, name, "c1", 30 * SECOND), answer);
    b->loop = NO_LOOP;
    b->n = 0;
}

static struct lapse_answer held(const struct builder *b, int64_t end_ns) {
    struct lapse_answer answer = until(b, LAPSE_HELD, end_ns);
    answer.owner = lapse_bytes_of("w2");
    return answer;
}

/* w2 holds the lease until 10 s; the loop, whose period is 1 s (and a fifth of it for two slow
 * clocks, rounded up), asks at 9.5 s. */
static void wait_for_the_end(struct builder *b) {
    grant(b, W2, JOB, "w2", 10 * SECOND, 1);
    b->at = 8500 * LAPSE_NS_PER_MS;
    ask(b, 1, "other", holds_lease(b, "c1", 2, b->at + 30 * SECOND));
    b->at = 9500 * LAPSE_NS_PER_MS;
    ask(b, 2, JOB, held(b, 10 * SECOND));
}

static void live_01(struct builder *b, bool broken) {
    wait_for_the_end(b);
    b->at = broken ? 12 * SECOND : 11 * SECOND;
    plain_event(b, LAPSE_HISTORY_END, -1);
}

/* A fault that stands keeps the loop from asking. */
static void a_fault_excuses(struct builder *b, bool broken) {
    wait_for_the_end(b);
    client_fault(b, broken ? LAPSE_FAULT_RESTART : LAPSE_FAULT_PAUSE, C1);
    b->at = 60 * SECOND;
    plain_event(b, LAPSE_HISTORY_END, -1);
}

/* Released before its end, it is free from then on. */
static void a_release_frees(struct builder *b, bool broken) {
    grant(b, W2, JOB, "w2", 60 * SECOND, 1);
    b->at = SECOND;
    ask(b, 1, JOB, held(b, 60 * SECOND));
    b->at = 1500 * LAPSE_NS_PER_MS;
    converse(b, W2, lease_call(LAPSE_VERB_RELEASE, JOB, "w2", 0), answered(b, LAPSE_OK));
    b->at = broken ? 4 * SECOND : 2 * SECOND;
    plain_event(b, LAPSE_HISTORY_END, -1);
}

/* A firing that was late may be followed soon by the next, but three never lie within a period. */
static void live_02(struct builder *b, bool broken) {
    b->at = SECOND;
    ask(b, 1, JOB, holds_lease(b, "c1", 1, b->at + 30 * SECOND));
    b->at = 1900 * LAPSE_NS_PER_MS;
    ask(b, 2, "other", holds_lease(b, "c1", 2, b->at + 30 * SECOND));
    b->at = broken ? 2 * SECOND - 1 : 2 * SECOND;
    b->loop = LOOP;
    b->n = 3;
    invoke(b, C1, lease_call(LAPSE_VERB_INSPECT, JOB, "c1", 0));
}

static void a_loop_that_stalls(struct builder *b, bool broken) {
    b->at = SECOND;
    ask(b, 1, JOB, holds_lease(b, "c1", 1, b->at + 30 * SECOND));
    b->at = broken ? 2 * SECOND + 1 : 2 * SECOND;
    b->loop = LOOP;
    b->n = 2;
    invoke(b, C1, lease_call(LAPSE_VERB_INSPECT, JOB, "c1", 0));
}

/* What was paused meanwhile has not stalled. */
static void a_pause_excuses(struct builder *b, bool broken) {
    b->at = SECOND;
    ask(b, 1, JOB, holds_lease(b, "c1", 1, b->at + 30 * SECOND));
    if (!broken) {
        client_fault(b, LAPSE_FAULT_PAUSE, C1);
    }
    b->at = 5 * SECOND;
    b->loop = LOOP;
    b->n = 2;
    invoke(b, C1, lease_call(LAPSE_VERB_INSPECT, JOB, "c1", 0));
}

const struct rule_pair *live_pairs(size_t *ret_count) {
    static const struct rule_pair pairs[] = {
        {.id = "LIVE-01", .story = live_01},
        {.id = "LIVE-02", .story = live_02},
    };
    *ret_count = sizeof pairs / sizeof pairs[0];
    return pairs;
}

Test(rules_live, judge_what_comes_about_in_the_end) {
    static const struct twist twists[] = {
        {"a fault in the way", NULL, a_fault_excuses, 0},
        {"a release", "LIVE-01", a_release_frees, 0},
        {"a loop that stalls", "LIVE-02", a_loop_that_stalls, 0},
        {"a pause", "LIVE-02", a_pause_excuses, 0},
    };
    check_twists(twists, sizeof twists / sizeof twists[0]);
}
