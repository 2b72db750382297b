/* Stories of the LEASE and FENCE rules. */
#include "history_builder_test.h"

#define JOB "jobs/nightly"
#define SPAN (30 * SECOND)

static struct lapse_request acquire(const char *owner) {
    return lease_call(LAPSE_VERB_ACQUIRE, JOB, owner, SPAN);
}

static struct lapse_request extend(const char *owner) {
    return lease_call(LAPSE_VERB_EXTEND, JOB, owner, SPAN);
}

static struct lapse_request release(const char *owner) {
    return lease_call(LAPSE_VERB_RELEASE, JOB, owner, 0);
}

static struct lapse_request inspect(void) {
    return lease_call(LAPSE_VERB_INSPECT, JOB, "", 0);
}

static struct lapse_answer held(const struct builder *b, const char *owner, int64_t end_ns) {
    struct lapse_answer answer = until(b, LAPSE_HELD, end_ns);
    answer.owner = lapse_bytes_of(owner);
    return answer;
}

/* Two holders: inspect names another than the one who holds it. */
static void lease_01(struct builder *b, bool broken) {
    grant(b, W1, JOB, "w1", SPAN, 1);
    b->at = SECOND;
    decide(b, W2, inspect(), holds_lease(b, broken ? "w2" : "w1", 1, SPAN));
}

/* A nanosecond before its end nobody holds it. */
static void lease_02(struct builder *b, bool broken) {
    grant(b, W1, JOB, "w1", SPAN, 1);
    b->at = SPAN - 1;
    struct lapse_answer answer = answered(b, LAPSE_ABSENT);
    if (!broken)
        answer = holds_lease(b, "w1", 1, SPAN);
    decide(b, W2, inspect(), answer);
}

/* A held name is granted to another. */
static void lease_03(struct builder *b, bool broken) {
    grant(b, W1, JOB, "w1", SPAN, 1);
    b->at = SPAN - 1;
    struct lapse_answer answer = held(b, "w1", SPAN);
    if (broken)
        answer = holds_lease(b, "w2", 2, b->at + SPAN);
    decide(b, W2, acquire("w2"), answer);
}

/* At the end exactly, the name is still said to be held. */
static void lease_04(struct builder *b, bool broken) {
    grant(b, W1, JOB, "w1", SPAN, 1);
    b->at = SPAN;
    struct lapse_answer answer = holds_lease(b, "w2", 2, 2 * SPAN);
    if (broken)
        answer = held(b, "w1", SPAN + 1);
    decide(b, W2, acquire("w2"), answer);
}

/* A released name is not free. */
static void lease_05(struct builder *b, bool broken) {
    grant(b, W1, JOB, "w1", SPAN, 1);
    decide(b, W1, release("w1"), answered(b, LAPSE_OK));
    struct lapse_answer answer = holds_lease(b, "w2", 2, SPAN);
    if (broken)
        answer = held(b, "w1", SPAN);
    decide(b, W2, acquire("w2"), answer);
}

/* An extend adds its span to the end instead of to the call. */
static void lease_06(struct builder *b, bool broken) {
    grant(b, W1, JOB, "w1", SPAN, 1);
    b->at = 10 * SECOND;
    struct lapse_answer answer = holds_lease(b, "w1", 1, 40 * SECOND);
    if (broken)
        answer.end.ns = 2 * SPAN;
    decide(b, W1, extend("w1"), answer);
}

/* An extend at the end brings the grant back. */
static void lease_07(struct builder *b, bool broken) {
    grant(b, W1, JOB, "w1", SPAN, 1);
    b->at = SPAN;
    struct lapse_answer answer = answered(b, LAPSE_LOST);
    if (broken)
        answer = holds_lease(b, "w1", 1, 2 * SPAN);
    decide(b, W1, extend("w1"), answer);
}

/* The holder asks again and gets a longer term. */
static void lease_08(struct builder *b, bool broken) {
    grant(b, W1, JOB, "w1", SPAN, 1);
    b->at = SECOND;
    struct lapse_answer answer = holds_lease(b, "w1", 1, broken ? SPAN + SECOND : SPAN);
    answer.renewed = true;
    decide(b, W1, acquire("w1"), answer);
}

/* A release takes away another's grant. */
static void lease_09(struct builder *b, bool broken) {
    grant(b, W1, JOB, "w1", SPAN, 1);
    decide(b, W2, release("w2"), answered(b, broken ? LAPSE_OK : LAPSE_NOT_OWNER));
}

/* A client that did not create the lock writes it without if_version. */
static void lease_10(struct builder *b, bool broken) {
    struct lapse_request set = put_call(LAPSE_VERB_SET, "locks", "job", "a");
    accept(b, W1, put_call(LAPSE_VERB_CREATE, "locks", "job", "a"), wrote(b, 1, SPAN));
    b->at = SECOND;
    int64_t call = invoke(b, broken ? W2 : W1, set);
    apply(b, call, wrote(b, 2, SPAN + SECOND));
}

/* A takeover gets a lower token than the grant before it. */
static void fence_01(struct builder *b, bool broken) {
    grant(b, W1, JOB, "w1", SPAN, 5);
    b->at = SPAN;
    decide(b, W2, acquire("w2"), holds_lease(b, "w2", broken ? 4 : 6, 2 * SPAN));
}

/* A token comes twice, under two names. */
static void fence_02(struct builder *b, bool broken) {
    grant(b, W1, JOB, "w1", SPAN, 1);
    decide(b, W2, lease_call(LAPSE_VERB_ACQUIRE, "other", "w2", SPAN),
           holds_lease(b, "w2", broken ? 1 : 2, SPAN));
}

/* The late write of a former holder is applied. */
static void fence_03(struct builder *b, bool broken) {
    grant(b, W1, JOB, "w1", SPAN, 1);
    b->at = SPAN;
    grant(b, W2, JOB, "w2", SPAN, 2);
    b->at = 35 * SECOND;
    struct lapse_request write = {.verb = LAPSE_CALL_WRITE, .resource = REPORT};
    resource(b, W2, invoke(b, W2, write), LAPSE_OK, 2);
    b->at = 50 * SECOND;
    resource(b, W1, invoke(b, W1, write), broken ? LAPSE_OK : LAPSE_FENCED, 1);
}

const struct rule_pair *lease_pairs(size_t *ret_count) {
    static const struct rule_pair pairs[] = {
        {.id = "LEASE-01", .story = lease_01}, {.id = "LEASE-02", .story = lease_02},
        {.id = "LEASE-03", .story = lease_03}, {.id = "LEASE-04", .story = lease_04},
        {.id = "LEASE-05", .story = lease_05}, {.id = "LEASE-06", .story = lease_06},
        {.id = "LEASE-07", .story = lease_07}, {.id = "LEASE-08", .story = lease_08},
        {.id = "LEASE-09", .story = lease_09}, {.id = "LEASE-10", .story = lease_10},
        {.id = "FENCE-01", .story = fence_01}, {.id = "FENCE-02", .story = fence_02},
        {.id = "FENCE-03", .story = fence_03},
    };
    *ret_count = sizeof pairs / sizeof pairs[0];
    return pairs;
}
