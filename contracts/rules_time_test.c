/* Stories of the CLOCK and REAP rules, and of what storage holds and costs. */
#include "history_builder_test.h"

static struct lapse_request get(const char *bucket, const char *key) {
    return key_call(LAPSE_VERB_GET, bucket, key);
}

static struct lapse_answer set_back(struct lapse_answer answer, int64_t ns) {
    answer.wall.ns -= ns;
    return answer;
}

/* The wall is set an hour ahead, and a key of 15 minutes is gone at once. */
static void clock_01(struct builder *b, bool broken) {
    put(b, W1, "codes", "c1", "v", 1, 15 * MINUTE);
    b->at = MINUTE;
    wall_step(b, 60 * MINUTE);
    decide(b, W1, get("codes", "c1"),
           set_back(broken ? answered(b, LAPSE_ABSENT) : read_value(b, "v", 1, 15 * MINUTE),
                    -60 * MINUTE));
}

/* A date was reached, the wall is set back, and the key is there again. */
static void clock_02(struct builder *b, bool broken) {
    struct lapse_request set = put_call(LAPSE_VERB_SET, "plain", "k", "v");
    struct lapse_answer answer = wrote(b, 1, 0);
    set.command.u.write.term.given = LAPSE_TERM_EXPIRES_AT;
    set.command.u.write.term.expires_at.ns = builder_setup()->epoch.ns + MINUTE;
    answer.end = (struct lapse_end){LAPSE_END_WALL, builder_setup()->epoch.ns + MINUTE};
    answer.left.ns = MINUTE;
    accept(b, W1, set, answer);
    b->at = MINUTE;
    step(b, 0);
    wall_step(b, -30 * SECOND);
    answer = set_back(answered(b, broken ? LAPSE_OK : LAPSE_ABSENT), 30 * SECOND);
    probe(b, LAPSE_PROBE_GONE, "plain", "k", LAPSE_VERB_HAS, answer);
}

/* After a machine's restart store time begins a second lower. */
static void clock_03(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    b->at = MINUTE;
    step(b, 0);
    tenure(b, true, broken ? MINUTE - SECOND : MINUTE);
}

/* The machine slept for an hour, and the store counted none of it. */
static void clock_04(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    b->at = SECOND;
    node_fault(b, LAPSE_HISTORY_FAULT_BEGIN, LAPSE_FAULT_SUSPEND);
    b->at = 60 * MINUTE;
    node_fault(b, LAPSE_HISTORY_FAULT_END, LAPSE_FAULT_SUSPEND);
    struct lapse_answer answer = read_value(b, "v", 1, 0);
    answer.at.ns = broken ? SECOND : b->at;
    decide(b, W1, get("plain", "k"), answer);
}

/* A term that ends past the end of time is accepted. */
static void clock_05(struct builder *b, bool broken) {
    struct lapse_request set = with_ttl(put_call(LAPSE_VERB_SET, "plain", "k", "v"), INT64_MAX);
    b->at = SECOND;
    put(b, W1, "plain", "k", "v", 1, 0);
    decide(b, W1, set, broken ? wrote(b, 2, INT64_MAX) : answered(b, LAPSE_RANGE));
}

/* Store time runs twice as fast as it should. */
static void clock_06(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    b->at = MINUTE;
    struct lapse_answer answer = read_value(b, "v", 1, 0);
    answer.at.ns = broken ? 2 * MINUTE : MINUTE;
    decide(b, W1, get("plain", "k"), answer);
}

/* The process starts again on the same boot, and the minute that it was down is not counted. */
static void clock_06_start(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    b->at = MINUTE;
    tenure(b, false, broken ? 0 : MINUTE);
}

/* A row is still stored two seconds after its end. */
static void reap_01(struct builder *b, bool broken) {
    put(b, W1, "codes", "c1", "v", 1, 15 * MINUTE);
    b->at = 15 * MINUTE + 2 * SECOND;
    rows(b, "codes", broken ? 1 : 0);
}

/* A write of one key marks the end of another. */
static void reap_02(struct builder *b, bool broken) {
    put(b, W1, "marked", "a", "v", 1, MINUTE);
    b->at = MINUTE;
    struct lapse_request set = put_call(LAPSE_VERB_SET, "marked", broken ? "b" : "a", "w");
    struct lapse_event event = bucket_event(b, LAPSE_EVENT_EXPIRED, &set.command, 2);
    event.key = lapse_bytes_of("a");
    event.value = (struct lapse_bytes){0};
    event.old_revision = 1;
    event.why = LAPSE_WHY_DEFAULT;
    int64_t call = invoke(b, W1, set);
    apply(b, call, wrote(b, 3, 2 * MINUTE));
    emit(b, call, event);
}

/* A tombstone is still stored after its own hour. */
static void watch_05(struct builder *b, bool broken) {
    put(b, W1, "marked", "a", "v", 1, MINUTE);
    accept(b, W1, key_call(LAPSE_VERB_DELETE, "marked", "a"), wrote(b, 2, 0));
    b->at = 60 * MINUTE + 2 * SECOND;
    rows(b, "marked", broken ? 1 : 0);
}

/* Each use of an idle key is written to storage. */
static void kv_12(struct builder *b, bool broken) {
    put(b, W1, "idle", "k", "v", 1, 30 * MINUTE);
    for (int i = 1; i <= 3; i++) {
        b->at = i * SECOND / 2;
        b->durable_point = i < 3 || broken ? i : 2;
        decide(b, W1, get("idle", "k"), read_value(b, "v", 1, 30 * MINUTE));
    }
}

const struct rule_pair *time_pairs(size_t *ret_count) {
    static const struct rule_pair pairs[] = {
        {.id = "CLOCK-01", .story = clock_01},
        {.id = "CLOCK-02", .story = clock_02},
        {.id = "CLOCK-03", .story = clock_03},
        {.id = "CLOCK-04", .story = clock_04},
        {.id = "CLOCK-05", .story = clock_05},
        {.id = "CLOCK-06", .story = clock_06},
        {.id = "CLOCK-06", .story = clock_06_start},
        {.id = "REAP-01", .story = reap_01},
        {.id = "REAP-02", .story = reap_02},
        {.id = "WATCH-05", .story = watch_05},
        {.id = "KV-12", .story = kv_12},
    };
    *ret_count = sizeof pairs / sizeof pairs[0];
    return pairs;
}
