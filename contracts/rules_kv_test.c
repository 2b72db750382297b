/* Stories of the KV rules. Each breaks its contract, when asked to, in its last event. */
#include "history_builder_test.h"

static struct lapse_request get(const char *bucket, const char *key) {
    return key_call(LAPSE_VERB_GET, bucket, key);
}

/* The end is a nanosecond late. */
static void kv_01(struct builder *b, bool broken) {
    decide(b, W1, put_call(LAPSE_VERB_SET, "codes", "c1", "v"),
           wrote(b, 1, 15 * MINUTE + (broken ? 1 : 0)));
}

/* The call's own term loses against the bucket's. */
static void kv_02(struct builder *b, bool broken) {
    decide(b, W1, with_ttl(put_call(LAPSE_VERB_SET, "codes", "c1", "v"), MINUTE),
           wrote(b, 1, broken ? 15 * MINUTE : MINUTE));
}

/* At its end exactly, the key is still read. */
static void kv_03(struct builder *b, bool broken) {
    put(b, W1, "codes", "c1", "v", 1, 15 * MINUTE);
    b->at = 15 * MINUTE - 1;
    decide(b, W1, get("codes", "c1"), read_value(b, "v", 1, 15 * MINUTE));
    b->at = 15 * MINUTE;
    struct lapse_answer answer = answered(b, LAPSE_ABSENT);
    if (broken)
        answer.status = LAPSE_OK;
    probe(b, LAPSE_PROBE_GONE, "codes", "c1", LAPSE_VERB_HAS, answer);
}

/* A key found ended is back. */
static void kv_04(struct builder *b, bool broken) {
    put(b, W1, "codes", "c1", "v", 1, 15 * MINUTE);
    b->at = 15 * MINUTE;
    decide(b, W1, get("codes", "c1"), answered(b, LAPSE_ABSENT));
    b->at = 16 * MINUTE;
    struct lapse_answer answer = answered(b, LAPSE_ABSENT);
    if (broken)
        answer.status = LAPSE_OK;
    probe(b, LAPSE_PROBE_GONE, "codes", "c1", LAPSE_VERB_HAS, answer);
}

/* A nanosecond before its end the key is gone. */
static void kv_05(struct builder *b, bool broken) {
    put(b, W1, "codes", "c1", "v", 1, 15 * MINUTE);
    b->at = 15 * MINUTE - 1;
    struct lapse_answer answer = answered(b, LAPSE_ABSENT);
    if (!broken)
        answer = read_value(b, "v", 1, 15 * MINUTE);
    decide(b, W1, get("codes", "c1"), answer);
}

/* Expire takes a revision. */
static void kv_06(struct builder *b, bool broken) {
    put(b, W1, "codes", "c1", "v", 1, 15 * MINUTE);
    b->at = SECOND;
    decide(b, W1, with_ttl(key_call(LAPSE_VERB_EXPIRE, "codes", "c1"), MINUTE),
           wrote(b, broken ? 2 : 1, MINUTE + SECOND));
}

/* A plain set keeps the old end. */
static void kv_07(struct builder *b, bool broken) {
    put(b, W1, "codes", "c1", "v", 1, 15 * MINUTE);
    b->at = MINUTE;
    decide(b, W1, put_call(LAPSE_VERB_SET, "codes", "c1", "w"),
           wrote(b, 2, broken ? 15 * MINUTE : 16 * MINUTE));
}

/* A read after floor(S/30) does not renew. */
static void kv_08(struct builder *b, bool broken) {
    put(b, W1, "idle", "k", "v", 1, 30 * MINUTE);
    b->at = MINUTE - 1;
    decide(b, W1, get("idle", "k"), read_value(b, "v", 1, 30 * MINUTE));
    b->at = MINUTE;
    struct lapse_answer answer = read_value(b, "v", 1, 31 * MINUTE);
    answer.renewed = !broken;
    decide(b, W1, get("idle", "k"), answer);
}

/* A renewal of the entry before moves the end of the new one. */
static void kv_09(struct builder *b, bool broken) {
    put(b, W1, "idle", "k", "v", 1, 30 * MINUTE);
    b->at = 2 * MINUTE;
    struct lapse_answer answer = read_value(b, "v", 1, 32 * MINUTE);
    answer.renewed = true;
    decide(b, W1, get("idle", "k"), answer);
    accept(b, W1, with_ttl(put_call(LAPSE_VERB_SET, "idle", "k", "w"), MINUTE),
           wrote(b, 2, 3 * MINUTE));
    answer = read_value(b, "w", 2, broken ? 32 * MINUTE : 3 * MINUTE);
    decide(b, W1, get("idle", "k"), answer);
}

/* A listing leaves a live key out. */
static void kv_11(struct builder *b, bool broken) {
    put(b, W1, "codes", "b", "2", 1, 15 * MINUTE);
    put(b, W1, "codes", "a", "1", 2, 15 * MINUTE);
    const struct lapse_item items[] = {
        {.key = lapse_bytes_of("a"), .value = lapse_bytes_of("1"), .revision = 2},
        {.key = lapse_bytes_of("b"), .value = lapse_bytes_of("2"), .revision = 1},
    };
    list(b, "codes", broken ? 1 : 2, items);
}

/* A nanosecond too much is shown as left. */
static void kv_13(struct builder *b, bool broken) {
    put(b, W1, "codes", "c1", "v", 1, 15 * MINUTE);
    b->at = MINUTE;
    struct lapse_answer answer = read_value(b, "v", 1, 15 * MINUTE);
    answer.left.ns += broken ? 1 : 0;
    decide(b, W1, get("codes", "c1"), answer);
}

/* A set that keeps the term starts it afresh. */
static void kv_14(struct builder *b, bool broken) {
    put(b, W1, "codes", "c1", "v", 1, 15 * MINUTE);
    b->at = MINUTE;
    struct lapse_request set = put_call(LAPSE_VERB_SET, "codes", "c1", "w");
    set.command.u.write.term.given = LAPSE_TERM_KEEP;
    decide(b, W1, set, wrote(b, 2, broken ? 16 * MINUTE : 15 * MINUTE));
}

const struct rule_pair *kv_pairs(size_t *ret_count) {
    static const struct rule_pair pairs[] = {
        {.id = "KV-01", .story = kv_01}, {.id = "KV-02", .story = kv_02},
        {.id = "KV-03", .story = kv_03}, {.id = "KV-04", .story = kv_04},
        {.id = "KV-05", .story = kv_05}, {.id = "KV-06", .story = kv_06},
        {.id = "KV-07", .story = kv_07}, {.id = "KV-08", .story = kv_08},
        {.id = "KV-09", .story = kv_09}, {.id = "KV-11", .story = kv_11},
        {.id = "KV-13", .story = kv_13}, {.id = "KV-14", .story = kv_14},
    };
    *ret_count = sizeof pairs / sizeof pairs[0];
    return pairs;
}
