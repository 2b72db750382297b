/* Stories of what a store has done and nobody was told of: writes that a crash left without an
 * answer, and housekeeping whose sync has failed. What they leave is not held against it. */
#include <criterion/criterion.h>

#include "history_builder_test.h"

static void crash(struct builder *b) {
    node_fault(b, LAPSE_HISTORY_FAULT_BEGIN, LAPSE_FAULT_CRASH);
    tenure(b, false, b->at);
}

static void drop(struct builder *b, struct lapse_request request) {
    (void)invoke(b, W1, request);
    crash(b);
}

static void show_records(struct builder *b, const char *bucket, const struct lapse_item *items,
                         size_t count) {
    struct lapse_answer answer = answered(b, LAPSE_OK);
    answer.item_count = count;
    answer.items = items;
    decide(b, W2, key_call(LAPSE_VERB_HISTORY, bucket, "k"), answer);
}

static void show_history(struct builder *b, const char *value, int64_t revision) {
    struct lapse_item item = {.kind = LAPSE_RECORD_VALUE,
                              .key = lapse_bytes_of("k"),
                              .value = lapse_bytes_of(value),
                              .revision = revision};
    show_records(b, "plain", &item, 1);
}

static void history_of_a_write_found_done(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    drop(b, put_call(LAPSE_VERB_SET, "plain", "k", "new"));
    decide(b, W2, key_call(LAPSE_VERB_GET, "plain", "k"), read_value(b, "new", 2, 0));
    show_history(b, "new", broken ? 3 : 2);
}

/* A read finds a delete without an answer done: its tombstone, revision 2, stands below what is
 * written next, and none above that. */
static void history_over_a_delete_found_done(struct builder *b, bool broken) {
    put(b, W1, "kept", "k", "v", 1, 0);
    drop(b, key_call(LAPSE_VERB_DELETE, "kept", "k"));
    decide(b, W2, key_call(LAPSE_VERB_GET, "kept", "k"), answered(b, LAPSE_ABSENT));
    put(b, W1, "kept", "k", "w", 3, 0);
    struct lapse_item items[] = {
        {.kind = LAPSE_RECORD_TOMBSTONE, .key = lapse_bytes_of("k"), .revision = broken ? 4 : 2},
        {.kind = LAPSE_RECORD_VALUE,
         .key = lapse_bytes_of("k"),
         .value = lapse_bytes_of("w"),
         .revision = 3}};
    show_records(b, "kept", items, 2);
}

/* Two writes without an answer: which was the last, the read says. */
static void value_of_one_of_two_writes(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    (void)invoke(b, W1, put_call(LAPSE_VERB_SET, "plain", "k", "one"));
    drop(b, put_call(LAPSE_VERB_SET, "plain", "k", "two"));
    decide(b, W2, key_call(LAPSE_VERB_GET, "plain", "k"), read_value(b, "one", 3, 0));
    decide(b, W2, key_call(LAPSE_VERB_GET, "plain", "k"), read_value(b, "one", 3, 0));
    put(b, W1, "plain", "k", "w", 4, 0);
    decide(b, W2, key_call(LAPSE_VERB_GET, "plain", "k"),
           read_value(b, broken ? "one" : "w", 4, 0));
}

/* A delete without an answer leaves no end to mark, if it was done. */
static void delete_before_an_end(struct builder *b, bool broken) {
    put(b, W1, "marked", "k", "v", 1, MINUTE);
    if (!broken)
        drop(b, key_call(LAPSE_VERB_DELETE, "marked", "k"));
    b->at = 2 * MINUTE;
    decide(b, W2, key_call(LAPSE_VERB_GET, "marked", "k"), answered(b, LAPSE_ABSENT));
    plain_event(b, LAPSE_HISTORY_END, -1);
}

/* Of the two copies of a request the first may have been done; the second surely was not. */
static void copy_that_found_the_store_given_up(struct builder *b, bool broken) {
    int64_t call = invoke(b, W1, put_call(LAPSE_VERB_CREATE, "marked", "k", "v"));
    apply(b, call, answered(b, broken ? LAPSE_UNAVAILABLE : LAPSE_UNKNOWN));
    apply(b, call, answered(b, LAPSE_UNAVAILABLE));
    crash(b);
    b->at = 2 * MINUTE;
    struct lapse_request create = put_call(LAPSE_VERB_CREATE, "marked", "k", "v");
    struct lapse_event expired = bucket_event(b, LAPSE_EVENT_EXPIRED, &create.command, 2);
    expired.why = LAPSE_WHY_DEFAULT;
    expired.old_revision = 1;
    emit(b, 0, expired);
}

/* Its marker, revision 2, was written in a commit whose sync failed. */
static void end_marked_by_failed_housekeeping(struct builder *b, bool broken) {
    put(b, W1, "marked", "k", "v", 1, MINUTE);
    b->at = MINUTE;
    if (!broken)
        failed_step(b);
    crash(b);
    b->at = MINUTE + 1;
    put(b, W1, "marked", "k", "w", 3, 2 * MINUTE + 1);
}

/* Between a sync that fails and the next start nothing can be written. */
static void end_while_the_store_has_given_up(struct builder *b, bool broken) {
    put(b, W1, "marked", "k", "v", 1, MINUTE);
    if (!broken)
        failed_step(b);
    b->at = 2 * MINUTE;
    plain_event(b, LAPSE_HISTORY_END, -1);
}

static void renewed_at_ten_minutes(struct builder *b) {
    put(b, W1, "idle", "k", "v", 1, 30 * MINUTE);
    b->at = 10 * MINUTE;
    struct lapse_answer answer = read_value(b, "v", 1, 40 * MINUTE);
    answer.renewed = true;
    decide(b, W1, key_call(LAPSE_VERB_GET, "idle", "k"), answer);
}

/* The renewal was to be kept within a second, in which the store gave up. What its clock does after
 * that makes the crash no earlier. */
static void renewal_before_the_store_gives_up(struct builder *b, bool broken) {
    renewed_at_ten_minutes(b);
    if (!broken)
        failed_step(b);
    b->at = 11 * MINUTE;
    wall_step(b, SECOND);
    b->at = 12 * MINUTE;
    crash(b);
    b->at = 35 * MINUTE;
    decide(b, W2, key_call(LAPSE_VERB_GET, "idle", "k"), answered(b, LAPSE_ABSENT));
}

/* What a store that has given up does not answer is not found absent. */
static void no_answer_after_a_renewal(struct builder *b, bool broken) {
    renewed_at_ten_minutes(b);
    b->at = 35 * MINUTE;
    decide(b, W2, key_call(LAPSE_VERB_GET, "idle", "k"),
           answered(b, broken ? LAPSE_ABSENT : LAPSE_UNAVAILABLE));
}

static void watch_that_is_handed_an_untold_write(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    struct lapse_request set = put_call(LAPSE_VERB_SET, "plain", "k", "new");
    if (!broken)
        drop(b, set);
    struct lapse_request watch = key_call(LAPSE_VERB_WATCH, "plain", "");
    watch.command.u.watch.from = LAPSE_WATCH_REVISION;
    watch.command.u.watch.revision = 1;
    struct lapse_answer answer = answered(b, LAPSE_OK);
    answer.watcher = 1;
    converse(b, W1, watch, answer);
    deliver(b, false, bucket_event(b, LAPSE_EVENT_PUT, &set.command, 2));
}

Test(rules, hold_nothing_against_a_store_that_could_not_tell) {
    static const struct twist twists[] = {
        {"the history of a write found done", "KV-11", history_of_a_write_found_done, 0},
        {"the history over a delete found done", "KV-11", history_over_a_delete_found_done, 0},
        {"the value of one of two writes", "KV-11", value_of_one_of_two_writes, 0},
        {"a delete before an end", "WATCH-03", delete_before_an_end, 0},
        {"a copy that found the store given up", "WATCH-03", copy_that_found_the_store_given_up, 0},
        {"an end marked by failed housekeeping", "WATCH-03", end_marked_by_failed_housekeeping, 0},
        {"an end while the store has given up", "WATCH-03", end_while_the_store_has_given_up, 0},
        {"a renewal before the store gives up", "DUR-03", renewal_before_the_store_gives_up, 0},
        {"no answer after a renewal", "KV-08", no_answer_after_a_renewal, 0},
        {"a watch that is handed an untold write", "WATCH-06", watch_that_is_handed_an_untold_write,
         0},
    };
    check_twists(twists, sizeof twists / sizeof twists[0]);
}
