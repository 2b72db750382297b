/* Stories of LIN-01: told to the last number, as a store tells them. */
#include "history_builder_test.h"

#include <criterion/criterion.h>
#include <string.h>

#include "contracts/rule.h"

#define JOB "jobs/nightly"
#define SPAN (30 * SECOND)

static struct lapse_request get(const char *bucket, const char *key) {
    return key_call(LAPSE_VERB_GET, bucket, key);
}

/* The client is told another revision than was decided. */
static void lin_01(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    struct lapse_answer answer = read_value(b, "v", 1, 0);
    int64_t call = decide(b, W1, get("plain", "k"), answer);
    answer.revision = broken ? 2 : 1;
    reply(b, W1, call, LAPSE_VERB_GET, answer);
}

/* A call is decided once more after its client was answered. */
static void after_the_reply(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    int64_t call = converse(b, W1, get("plain", "k"), read_value(b, "v", 1, 0));
    b->at = SECOND;
    apply(b, broken ? call : invoke(b, W1, get("plain", "k")), read_value(b, "v", 1, 0));
}

static void without_decision(struct builder *b, bool broken) {
    int64_t call = invoke(b, W1, get("plain", "k"));
    reply(b, W1, call, LAPSE_VERB_GET, answered(b, broken ? LAPSE_ABSENT : LAPSE_UNKNOWN));
}

/* A page that was not cut says that there is more. */
static void more_than_there_is(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    struct lapse_item item = {
        .key = lapse_bytes_of("k"), .revision = 1, .kind = LAPSE_RECORD_VALUE};
    struct lapse_answer answer = answered(b, LAPSE_OK);
    answer.item_count = 1;
    answer.items = &item;
    answer.more = broken;
    decide(b, W1, key_call(LAPSE_VERB_LIST, "plain", ""), answer);
}

/* The first revision of a bucket is 1. */
static void a_number_left_out(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", broken ? 2 : 1, 0);
}

/* A session's number is the store's next. */
static void a_session_number_left_out(struct builder *b, bool broken) {
    struct lapse_answer answer = until(b, LAPSE_OK, SPAN);
    answer.has_token = true;
    answer.token = broken ? 2 : 1;
    decide(b, W1, session_call(LAPSE_VERB_SESSION, "s", "w1", SPAN), answer);
}

/* An event tells which entry it ended. */
static void of_another_entry(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    struct lapse_request request = key_call(LAPSE_VERB_DELETE, "plain", "k");
    int64_t call = decide(b, W1, request, wrote(b, 2, 0));
    struct lapse_event event = bucket_event(b, LAPSE_EVENT_DELETE, &request.command, 2);
    event.old_revision = broken ? 0 : 1;
    emit(b, call, event);
}

/* After a crash a write without an answer may be there or not: nothing is said of it. */
static void open_over_a_crash(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    if (!broken)
        (void)invoke(b, W1, put_call(LAPSE_VERB_SET, "plain", "other", "w"));
    node_fault(b, LAPSE_HISTORY_FAULT_BEGIN, LAPSE_FAULT_CRASH);
    tenure(b, false, b->at);
    struct lapse_item items[] = {
        {.key = lapse_bytes_of("k"), .revision = 1, .kind = LAPSE_RECORD_VALUE}};
    struct lapse_answer answer = answered(b, LAPSE_OK);
    answer.item_count = 1;
    answer.items = items;
    answer.more = broken;
    decide(b, W1, key_call(LAPSE_VERB_LIST, "plain", ""), answer);
}

/* Tokens may jump over a start, and go on one by one. */
static void after_a_jump(struct builder *b, bool broken) {
    grant(b, W1, JOB, "w1", SPAN, 1);
    tenure(b, true, b->at);
    grant(b, W1, "other", "w1", SPAN, 70000);
    grant(b, W1, "third", "w1", SPAN, broken ? 70002 : 70001);
}

const struct rule_pair *lin_pairs(size_t *ret_count) {
    static const struct rule_pair pairs[] = {{.id = "LIN-01", .story = lin_01}};
    *ret_count = sizeof pairs / sizeof pairs[0];
    return pairs;
}

Test(rules_lin, compare_what_no_other_rule_looks_at) {
    static const struct twist twists[] = {
        {"after the reply", "LIN-01", after_the_reply, 0},
        {"without decision", "LIN-01", without_decision, 0},
        {"more than there is", "LIN-01", more_than_there_is, 0},
        {"a number left out", "LIN-01", a_number_left_out, 0},
        {"a session's number", "LIN-01", a_session_number_left_out, 0},
        {"of another entry", "LIN-01", of_another_entry, 0},
        {"open over a crash", "LIN-01", open_over_a_crash, 0},
        {"after a jump", "LIN-01", after_a_jump, 0},
    };
    check_twists(twists, sizeof twists / sizeof twists[0]);
}

/* Where the rule alone first finds a history broken; its length: nowhere. */
static size_t broken_at(const struct builder *b) {
    struct lapse_trackers *trackers = NULL;
    size_t rule = 0, count, at = 0;
    const struct lapse_rule *rules = lapse_rule_table(&count);
    while (strcmp(rules[rule].id, "LIN-01") != 0)
        rule++;
    cr_assert_eq(lapse_trackers_open(lapse_alloc_libc(), &trackers, NULL), LAPSE_OK);
    for (bool broken = false; !broken && at < lapse_history_count(b->history); at++) {
        const struct lapse_history_event *event = lapse_history_at(b->history, at);
        struct lapse_violation violation = {0};
        cr_assert_eq(lapse_trackers_look(trackers, event), LAPSE_OK);
        broken = (rules[rule].kinds & LAPSE_RULE_KIND(event->kind)) != 0 &&
                 rules[rule].premise(trackers, event) &&
                 !rules[rule].holds(trackers, event, &violation);
        if (broken)
            break;
        cr_assert_eq(lapse_trackers_absorb(trackers, event), LAPSE_OK);
    }
    lapse_trackers_close(trackers);
    return at;
}

/* Rules that know more of numbers look at the event first: a number that differs waits for it, and
 * is told with it, or after it if the event has the right one. */
Test(rules_lin, a_number_is_told_when_its_event_has_been_looked_at) {
    for (int64_t twist = 0; twist < 4; twist++) {
        struct lapse_request set = put_call(LAPSE_VERB_SET, "plain", "k", "v");
        struct builder b;
        builder_open(&b);
        int64_t call = decide(&b, W1, set, wrote(&b, twist % 2 == 1 ? 2 : 1, 0));
        emit(&b, call, bucket_event(&b, LAPSE_EVENT_PUT, &set.command, twist >= 2 ? 2 : 1));
        plain_event(&b, LAPSE_HISTORY_NOTE, -1);
        plain_event(&b, LAPSE_HISTORY_END, -1);
        static const size_t wanted[] = {6, 5, 3, 3}; /* BEGIN, INVOKE, APPLY, EMIT, NOTE, END */
        size_t at = broken_at(&b);
        cr_assert_eq(at, wanted[twist], "twist %d: event %zu", (int)twist, at);
        builder_close(&b);
    }
}
