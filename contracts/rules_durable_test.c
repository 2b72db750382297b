/* Stories of the DUR and ONCE rules. */
#include "history_builder_test.h"

#define JOB "jobs/nightly"
#define SPAN (30 * SECOND)

static struct lapse_request get(const char *bucket, const char *key) {
    return key_call(LAPSE_VERB_GET, bucket, key);
}

static struct lapse_request inspect(void) {
    return lease_call(LAPSE_VERB_INSPECT, JOB, "", 0);
}

static struct lapse_request requested(struct lapse_request request, const char *id) {
    request.command.request = lapse_bytes_of(id);
    return request;
}

/* The same set, sent again, is done a second time. */
static void once_01(struct builder *b, bool broken) {
    struct lapse_request set = requested(put_call(LAPSE_VERB_SET, "plain", "k", "v"), "r1");
    accept(b, W1, set, wrote(b, 1, 0));
    b->at = MINUTE;
    struct lapse_answer again = wrote(b, broken ? 2 : 1, 0);
    again.repeated = !broken;
    decide(b, W1, set, again);
}

/* A value that was acknowledged is gone after a crash. */
static void dur_01(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    b->at = SECOND;
    node_fault(b, LAPSE_HISTORY_FAULT_BEGIN, LAPSE_FAULT_CRASH);
    b->at = 2 * SECOND;
    tenure(b, false, b->at);
    decide(b, W1, get("plain", "k"), broken ? answered(b, LAPSE_ABSENT) : read_value(b, "v", 1, 0));
}

/* After a crash the store says that its file is damaged, and nothing has damaged it. */
static void dur_01_refused(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    b->at = SECOND;
    node_fault(b, LAPSE_HISTORY_FAULT_BEGIN, LAPSE_FAULT_CRASH);
    does_not_open(b, broken ? LAPSE_CORRUPT : LAPSE_IO);
    tenure(b, false, b->at);
    decide(b, W1, get("plain", "k"), read_value(b, "v", 1, 0));
}

/* A write without an answer is there with another value than it had. */
static void dur_02(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    (void)invoke(b, W1, put_call(LAPSE_VERB_SET, "plain", "k", "new"));
    node_fault(b, LAPSE_HISTORY_FAULT_BEGIN, LAPSE_FAULT_CRASH);
    tenure(b, false, b->at);
    decide(b, W1, get("plain", "k"), read_value(b, broken ? "ne" : "new", 2, 0));
}

/* A crash takes a renewal that was two seconds old. */
static void dur_03(struct builder *b, bool broken) {
    struct lapse_answer answer;
    put(b, W1, "idle", "k", "v", 1, 30 * MINUTE);
    b->at = 10 * MINUTE;
    answer = read_value(b, "v", 1, 40 * MINUTE);
    answer.renewed = true;
    decide(b, W1, get("idle", "k"), answer);
    b->at += 2 * SECOND;
    node_fault(b, LAPSE_HISTORY_FAULT_BEGIN, LAPSE_FAULT_CRASH);
    tenure(b, false, b->at);
    b->at = 30 * MINUTE;
    answer = read_value(b, "v", 1, 60 * MINUTE);
    answer.renewed = true;
    decide(b, W1, get("idle", "k"), broken ? answered(b, LAPSE_ABSENT) : answer);
}

/* After a crash the lease ends later than its holder was told. */
static void dur_04(struct builder *b, bool broken) {
    grant(b, W1, JOB, "w1", SPAN, 1);
    b->at = SECOND;
    node_fault(b, LAPSE_HISTORY_FAULT_BEGIN, LAPSE_FAULT_CRASH);
    tenure(b, true, b->at);
    struct lapse_request with_session = lease_call(LAPSE_VERB_ACQUIRE, JOB, "w2", 0);
    with_session.command.u.lease.session = lapse_bytes_of("gone");
    decide(b, W2, with_session, answered(b, LAPSE_LOST)); /* of its session, not of the lease */
    decide(b, W2, inspect(), holds_lease(b, "w1", 1, broken ? SPAN + SECOND : SPAN));
}

/* An ephemeral lease is still held in the next tenure. */
static void dur_05(struct builder *b, bool broken) {
    struct lapse_request acquire = lease_call(LAPSE_VERB_ACQUIRE, JOB, "w1", SPAN);
    acquire.command.u.lease.durability = LAPSE_EPHEMERAL;
    converse(b, W1, acquire, holds_lease(b, "w1", 1, SPAN));
    b->at = SECOND;
    node_fault(b, LAPSE_HISTORY_FAULT_BEGIN, LAPSE_FAULT_CRASH);
    tenure(b, false, b->at);
    decide(b, W2, inspect(),
           broken ? holds_lease(b, "w1", 1, SPAN) : answered(b, LAPSE_ABSENT));
}

/* A store on a disk whose bits have flipped shows a value that nobody has written. */
static void dur_06(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    disk_fault(b, LAPSE_DISK_ROT);
    b->at = SECOND;
    node_fault(b, LAPSE_HISTORY_FAULT_BEGIN, LAPSE_FAULT_CRASH);
    tenure(b, true, b->at);
    decide(b, W1, get("plain", "k"), read_value(b, broken ? "w" : "v", 1, 0));
}

const struct rule_pair *durable_pairs(size_t *ret_count) {
    static const struct rule_pair pairs[] = {
        {.id = "ONCE-01", .story = once_01}, {.id = "DUR-01", .story = dur_01},
        {.id = "DUR-01", .story = dur_01_refused},
        {.id = "DUR-02", .story = dur_02},   {.id = "DUR-03", .story = dur_03},
        {.id = "DUR-04", .story = dur_04},   {.id = "DUR-05", .story = dur_05},
        {.id = "DUR-06", .story = dur_06},
    };
    *ret_count = sizeof pairs / sizeof pairs[0];
    return pairs;
}
