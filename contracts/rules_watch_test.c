/* Stories of the WATCH rules. */
#include "history_builder_test.h"

static struct lapse_event made(const struct builder *b, enum lapse_event_kind kind,
                               const char *bucket, const char *key, int64_t revision) {
    struct lapse_request request = put_call(LAPSE_VERB_SET, bucket, key, "v");
    return bucket_event(b, kind, &request.command, revision);
}

static void watch(struct builder *b, const char *bucket, enum lapse_watch_from from) {
    struct lapse_request request = key_call(LAPSE_VERB_WATCH, bucket, "");
    request.command.u.watch.from = from;
    struct lapse_answer answer = answered(b, LAPSE_OK);
    answer.watcher = 1;
    decide(b, W2, request, answer);
}

/* The watcher is handed the second event and never sees the first. */
static void watch_01(struct builder *b, bool broken) {
    watch(b, "plain", LAPSE_WATCH_NOW);
    put(b, W1, "plain", "a", "v", 1, 0);
    put(b, W1, "plain", "a", "v", 2, 0);
    deliver(b, false, made(b, LAPSE_EVENT_PUT, "plain", "a", broken ? 2 : 1));
}

/* A delete is announced as a purge. */
static void watch_02(struct builder *b, bool broken) {
    put(b, W1, "plain", "a", "v", 1, 0);
    int64_t call = decide(b, W1, key_call(LAPSE_VERB_DELETE, "plain", "a"), wrote(b, 2, 0));
    emit(b, call, made(b, broken ? LAPSE_EVENT_PURGE : LAPSE_EVENT_DELETE, "plain", "a", 2));
}

/* The next write comes and the end before it was never marked. */
static void watch_03(struct builder *b, bool broken) {
    put(b, W1, "marked", "a", "v", 1, MINUTE);
    b->at = MINUTE;
    int64_t call =
        decide(b, W1, put_call(LAPSE_VERB_SET, "marked", "a", "v"), wrote(b, 3, 2 * MINUTE));
    struct lapse_event event = made(b, LAPSE_EVENT_EXPIRED, "marked", "a", 2);
    event.old_revision = 1;
    event.why = LAPSE_WHY_DEFAULT;
    if (!broken)
        emit(b, call, event);
    emit(b, call, made(b, LAPSE_EVENT_PUT, "marked", "a", 3));
}

/* An end makes an event in a bucket without markers. */
static void watch_04(struct builder *b, bool broken) {
    put(b, W1, "codes", "a", "v", 1, 15 * MINUTE);
    b->at = 15 * MINUTE;
    struct lapse_event event = made(b, LAPSE_EVENT_EXPIRED, "codes", "a", 2);
    event.old_revision = 1;
    event.why = LAPSE_WHY_DEFAULT;
    if (broken)
        emit(b, 0, event);
    plain_event(b, LAPSE_HISTORY_END, -1);
}

/* A watch from revision 1 is handed the second key's event and never the first key's. */
static void watch_06(struct builder *b, bool broken) {
    put(b, W1, "plain", "a", "v", 1, 0);
    put(b, W1, "plain", "b", "v", 2, 0);
    struct lapse_request request = key_call(LAPSE_VERB_WATCH, "plain", "");
    request.command.u.watch.from = LAPSE_WATCH_REVISION;
    request.command.u.watch.revision = 1;
    struct lapse_answer answer = answered(b, LAPSE_OK);
    answer.watcher = 1;
    decide(b, W2, request, answer);
    deliver(b, false, made(b, LAPSE_EVENT_PUT, "plain", broken ? "b" : "a", broken ? 2 : 1));
}

const struct rule_pair *watch_pairs(size_t *ret_count) {
    static const struct rule_pair pairs[] = {
        {.id = "WATCH-01", .story = watch_01},
        {.id = "WATCH-02", .story = watch_02},
        {.id = "WATCH-03", .story = watch_03},
        {.id = "WATCH-04", .story = watch_04},
        {.id = "WATCH-06", .story = watch_06},
    };
    *ret_count = sizeof pairs / sizeof pairs[0];
    return pairs;
}
