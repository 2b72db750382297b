/* Stories of buckets whose revisions begin late or run out, and of listings that leave a key out.
 */
#include "history_builder_test.h"

#include <criterion/criterion.h>

static void open_late(struct builder *b, int64_t first) {
    struct lapse_request request = key_call(LAPSE_VERB_OPEN, "late", "");
    request.command.u.open.config =
        (struct lapse_bucket_config){.markers = {60 * MINUTE}, .first_revision = first};
    decide(b, W1, request, answered(b, LAPSE_OK));
}

/* The bucket's first event has another number than its first. */
static void begins_lower(struct builder *b, bool broken) {
    open_late(b, 1000);
    put(b, W1, "late", "k", "v", broken ? 999 : 1000, 0);
}

/* A call that takes no number has taken one. */
static void begins_higher(struct builder *b, bool broken) {
    open_late(b, 1000);
    decide(b, W1, key_call(LAPSE_VERB_DELETE, "late", "k"), answered(b, LAPSE_ABSENT));
    put(b, W1, "late", "k", "v", broken ? 1001 : 1000, 0);
}

/* An alter says nothing of the first number, and it holds on. */
static void begins_as_before_an_alter(struct builder *b, bool broken) {
    open_late(b, 1000);
    struct lapse_request request = key_call(LAPSE_VERB_ALTER, "late", "");
    decide(b, W1, request, answered(b, LAPSE_OK));
    put(b, W1, "late", "k", "v", broken ? 999 : 1000, 0);
}

static void put_ending(struct builder *b, int64_t revision) {
    struct lapse_request request =
        with_ttl(put_call(LAPSE_VERB_SET, "late", "k", "v"), MINUTE);
    accept(b, W1, request, wrote(b, revision, b->at + MINUTE));
}

/* An end has no event, though a number is left for one. */
static void end_without_a_number(struct builder *b, bool broken) {
    int64_t last = broken ? INT64_MAX - 1 : INT64_MAX;
    open_late(b, last);
    put_ending(b, last);
    b->at = 10 * MINUTE;
    plain_event(b, LAPSE_HISTORY_END, -1);
}

/* A row is there though its end could have no marker. */
static void row_without_a_number(struct builder *b, bool broken) {
    open_late(b, INT64_MAX);
    put_ending(b, INT64_MAX);
    b->at = 10 * MINUTE;
    rows(b, "late", broken ? 1 : 0);
}

Test(number, a_bucket_begins_with_its_first_and_ends_with_its_last) {
    static const struct twist twists[] = {
        {"a first number below it", "CAS-04", begins_lower, 0},
        {"a first number above it", "CAS-05", begins_higher, 0},
        {"a first number below it, after an alter", "CAS-04", begins_as_before_an_alter, 0},
        {"an end that has no event", "WATCH-03", end_without_a_number, 0},
        {"a row that stays", "REAP-01", row_without_a_number, 0},
    };
    check_twists(twists, sizeof twists / sizeof twists[0]);
}

/* Two keys: `a` ends at 15 min, `b` does not. At that end a listing is shown, then `a` is read. */
static void read_after(struct builder *b, struct lapse_request request, size_t count, bool shown) {
    put(b, W1, "codes", "a", "v", 1, 15 * MINUTE);
    b->at = MINUTE;
    put(b, W1, "codes", "b", "v", 2, 16 * MINUTE);
    b->at = 15 * MINUTE;
    struct lapse_answer answer = answered(b, LAPSE_OK);
    answer.item_count = count;
    decide(b, W1, request, answer);
    decide(b, W1, key_call(LAPSE_VERB_GET, "codes", "a"),
           shown ? read_value(b, "v", 1, 15 * MINUTE) : answered(b, LAPSE_ABSENT));
}

static void counted_without(struct builder *b, bool broken) {
    read_after(b, key_call(LAPSE_VERB_COUNT, "codes", ""), 1, broken);
}

static void counted_above(struct builder *b, bool broken) {
    struct lapse_request request = key_call(LAPSE_VERB_COUNT, "codes", "");
    request.command.u.page.has_after = true;
    request.command.u.page.after = lapse_bytes_of("a");
    read_after(b, request, 1, broken);
}

static void watched_another(struct builder *b, bool broken) {
    struct lapse_request request = key_call(LAPSE_VERB_WATCH, "codes", "c");
    request.command.u.watch.from = LAPSE_WATCH_LIVE;
    read_after(b, request, 0, broken);
}

Test(number, a_listing_finds_ended_what_it_goes_over_and_leaves_out) {
    static const struct twist twists[] = {
        {"a count of the other key", "KV-04", counted_without, 0},
        {"a count of the keys above it", "KV-03", counted_above, 0},
        {"a watch of another key", "KV-03", watched_another, 0},
    };
    check_twists(twists, sizeof twists / sizeof twists[0]);
}
