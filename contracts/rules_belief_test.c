/* Stories of the BELIEF and RENEW rules, told of c1, the careful client. */
#include "history_builder_test.h"

#define JOB "jobs/nightly"
#define SPAN (30 * SECOND)

static void hold(struct builder *b) {
    grant(b, C1, JOB, "c1", SPAN, 1);
    b->grant = (struct lapse_grant_ref){.given = true, .name = lapse_bytes_of(JOB), .token = 1};
}

static void write(struct builder *b, int64_t look_ns) {
    struct lapse_request request = {.verb = LAPSE_CALL_WRITE, .resource = REPORT};
    b->looked = true;
    b->last_look = look_ns;
    invoke(b, C1, request);
}

/* A write goes out though the clock had shown the deadline: 30 s, less a tenth slow and fast, less
 * the margin of 1 s. */
static void belief_01(struct builder *b, bool broken) {
    hold(b);
    b->at = 25 * SECOND;
    int64_t deadline = INT64_C(24545454545) - SECOND;
    write(b, broken ? deadline : deadline - 1);
}

/* A write goes out after the store has said that the lease is lost. */
static void belief_02(struct builder *b, bool broken) {
    hold(b);
    b->at = SECOND;
    struct lapse_request extend = lease_call(LAPSE_VERB_EXTEND, JOB, "c1", SPAN);
    b->looked = true;
    b->last_look = SECOND;
    int64_t call = invoke(b, C1, extend);
    reply(b, C1, call, LAPSE_VERB_EXTEND, answered(b, broken ? LAPSE_LOST : LAPSE_UNAVAILABLE));
    write(b, SECOND);
}

/* The loop renews once more after its client was told that another holds the lease. */
static void renew_01(struct builder *b, bool broken) {
    hold(b);
    struct lapse_request extend = lease_call(LAPSE_VERB_EXTEND, JOB, "c1", SPAN);
    b->loop = LOOP;
    b->at = SECOND;
    converse(b, C1, extend, holds_lease(b, "c1", 1, SPAN + SECOND));
    b->at = 2 * SECOND;
    int64_t call = invoke(b, C1, extend);
    reply(b, C1, call, LAPSE_VERB_EXTEND, answered(b, broken ? LAPSE_NOT_OWNER : LAPSE_UNKNOWN));
    b->at = 3 * SECOND;
    invoke(b, C1, extend);
}

const struct rule_pair *belief_pairs(size_t *ret_count) {
    static const struct rule_pair pairs[] = {
        {.id = "BELIEF-01", .story = belief_01},
        {.id = "BELIEF-02", .story = belief_02},
        {.id = "RENEW-01", .story = renew_01},
    };
    *ret_count = sizeof pairs / sizeof pairs[0];
    return pairs;
}
