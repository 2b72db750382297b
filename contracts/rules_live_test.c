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
    b->at = 11200 * LAPSE_NS_PER_MS + 2; /* each of the two parts is rounded up */
    b->at += broken ? 1 : 0;
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

static void look(struct builder *b, int32_t n) {
    b->loop = SLACK_LOOP;
    b->n = n;
    converse(b, C1, lease_call(LAPSE_VERB_INSPECT, JOB, "c1", 0), answered(b, LAPSE_ABSENT));
    b->loop = NO_LOOP;
    b->n = 0;
}

/* The first call of a firing, which a pause held up, may lie soon before the next firings: here the
 * one of 2 s begins at 2.9 s. */
static void a_late_beginning(struct builder *b, bool broken) {
    b->at = SECOND;
    look(b, 1);
    client_fault(b, LAPSE_FAULT_PAUSE, broken ? W2 : C1);
    b->at = 2900 * LAPSE_NS_PER_MS;
    end_client_fault(b, LAPSE_FAULT_PAUSE, broken ? W2 : C1);
    look(b, 2);
    b->at = 3000 * LAPSE_NS_PER_MS;
    look(b, 3);
    b->at = 3100 * LAPSE_NS_PER_MS;
    look(b, 4);
}

/* What is free, and asked for when no fault stands, is had at the first try. */
static void a_try_that_fails(struct builder *b, bool broken) {
    wait_for_the_end(b);
    b->at = 10500 * LAPSE_NS_PER_MS;
    ask(b, 3, JOB, broken ? answered(b, LAPSE_UNAVAILABLE)
                          : holds_lease(b, "c1", 3, b->at + 30 * SECOND));
}

/* A disk that is well again does not open a store that has shut itself. */
static void a_disk_that_was_ill(struct builder *b, bool broken) {
    wait_for_the_end(b);
    node_fault(b, LAPSE_HISTORY_FAULT_BEGIN, LAPSE_FAULT_DISK);
    node_fault(b, LAPSE_HISTORY_FAULT_END, LAPSE_FAULT_DISK);
    if (broken) {
        decide(b, W2, lease_call(LAPSE_VERB_INSPECT, "third", "w2", 0),
               answered(b, LAPSE_ABSENT));
    }
    b->at = 10500 * LAPSE_NS_PER_MS;
    ask(b, 3, JOB, answered(b, LAPSE_UNAVAILABLE));
}

/* One pause within another is one pause, with one end: what comes after it is judged. */
static void a_pause_within_a_pause(struct builder *b, bool broken) {
    wait_for_the_end(b);
    client_fault(b, LAPSE_FAULT_PAUSE, C1);
    client_fault(b, LAPSE_FAULT_PAUSE, C1);
    if (broken) {
        end_client_fault(b, LAPSE_FAULT_PAUSE, C1);
    }
    b->at = 60 * SECOND;
    plain_event(b, LAPSE_HISTORY_END, -1);
}

/* A crash ends a pause without a word, and its own end is then the last. */
static void a_pause_that_crashes(struct builder *b, bool broken) {
    wait_for_the_end(b);
    client_fault(b, LAPSE_FAULT_PAUSE, W2);
    client_fault(b, LAPSE_FAULT_CRASH, W2);
    if (broken) {
        end_client_fault(b, LAPSE_FAULT_CRASH, W2);
    }
    b->at = 60 * SECOND;
    plain_event(b, LAPSE_HISTORY_END, -1);
}

/* A link is whole once both of its ways are. */
static void a_link_left_cut(struct builder *b, bool broken) {
    wait_for_the_end(b);
    cut(b, LAPSE_HISTORY_FAULT_BEGIN, C1);
    cut(b, LAPSE_HISTORY_FAULT_BEGIN, C1);
    cut(b, LAPSE_HISTORY_FAULT_BEGIN, W2);
    cut(b, LAPSE_HISTORY_FAULT_END, C1);
    if (broken) {
        cut(b, LAPSE_HISTORY_FAULT_END, W2);
    }
    b->at = 60 * SECOND;
    plain_event(b, LAPSE_HISTORY_END, -1);
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
        {"a fault in the way", "LIVE-01", a_fault_excuses, 0},
        {"a release", "LIVE-01", a_release_frees, 0},
        {"a loop that stalls", "LIVE-02", a_loop_that_stalls, 0},
        {"a pause", "LIVE-02", a_pause_excuses, 0},
        {"a try that fails", "LIVE-01", a_try_that_fails, 0},
        {"a disk that was ill", "LIVE-01", a_disk_that_was_ill, 0},
        {"a late beginning", "LIVE-02", a_late_beginning, 0},
        {"a pause within a pause", "LIVE-01", a_pause_within_a_pause, 0},
        {"a pause that crashes", "LIVE-01", a_pause_that_crashes, 0},
        {"a link left cut", "LIVE-01", a_link_left_cut, 0},
    };
    check_twists(twists, sizeof twists / sizeof twists[0]);
}
