/* Stories of sessions, batches and capped idle terms: what shares a term ends with it, what was
 * asked at once is judged call by call. */
#include <criterion/criterion.h>

#include "history_builder_test.h"

#define SPAN (30 * SECOND)
#define NAME "s1"

/* Opens a session for SPAN; its token is 1. */
static void open_session(struct builder *b) {
    decide(b, W1, session_call(LAPSE_VERB_SESSION, NAME, "w1", SPAN),
           holds_lease(b, "", 1, b->at + SPAN));
}

static struct lapse_request in_session(struct lapse_request request) {
    if (request.verb == LAPSE_VERB_ACQUIRE) {
        request.command.u.lease.session = lapse_bytes_of(NAME);
        return request;
    }
    request.command.u.write.term.given = LAPSE_TERM_SESSION;
    request.command.u.write.term.session = lapse_bytes_of(NAME);
    return request;
}

static void put_in_session(struct builder *b) {
    accept(b, W1, in_session(put_call(LAPSE_VERB_SET, "plain", "k", "v")), wrote(b, 1, SPAN));
}

static struct lapse_request get(const char *bucket) {
    return key_call(LAPSE_VERB_GET, bucket, "k");
}

static struct lapse_request keepalive(const char *owner) {
    return session_call(LAPSE_VERB_KEEPALIVE, NAME, owner, 0);
}

/* ---- Sessions. */

static void entry_ends_with_its_session(struct builder *b, bool broken) {
    open_session(b);
    put_in_session(b);
    b->at = SPAN;
    decide(b, W2, get("plain"),
           broken ? read_value(b, "v", 1, SPAN + 1) : answered(b, LAPSE_ABSENT));
}

static void entry_lives_on_with_its_session(struct builder *b, bool broken) {
    open_session(b);
    put_in_session(b);
    b->at = SPAN - 1;
    decide(b, W1, keepalive("w1"), holds_lease(b, "", 1, 2 * SPAN - 1));
    b->at = 2 * SPAN - 2;
    decide(b, W2, get("plain"),
           broken ? answered(b, LAPSE_ABSENT) : read_value(b, "v", 1, 2 * SPAN - 1));
}

static void entry_ends_when_its_session_is_closed(struct builder *b, bool broken) {
    open_session(b);
    put_in_session(b);
    b->at = SECOND;
    decide(b, W1, session_call(LAPSE_VERB_CLOSE, NAME, "w1", 0), answered(b, LAPSE_OK));
    decide(b, W2, get("plain"), broken ? read_value(b, "v", 1, SPAN) : answered(b, LAPSE_ABSENT));
}

static void lease_ends_with_its_session(struct builder *b, bool broken) {
    open_session(b);
    decide(b, W1, in_session(lease_call(LAPSE_VERB_ACQUIRE, "job", "w1", 0)),
           holds_lease(b, "w1", 2, SPAN));
    b->at = SPAN;
    decide(b, W2, lease_call(LAPSE_VERB_INSPECT, "job", "", 0),
           broken ? holds_lease(b, "w1", 2, SPAN + 1) : answered(b, LAPSE_ABSENT));
}

static void lease_gets_the_end_of_its_session(struct builder *b, bool broken) {
    open_session(b);
    b->at = SECOND;
    decide(b, W1, in_session(lease_call(LAPSE_VERB_ACQUIRE, "job", "w1", 0)),
           holds_lease(b, "w1", 2, broken ? SPAN + SECOND : SPAN));
}

static void keepalive_after_the_end_is_lost(struct builder *b, bool broken) {
    open_session(b);
    b->at = SPAN;
    decide(b, W1, keepalive("w1"),
           broken ? holds_lease(b, "", 1, 2 * SPAN) : answered(b, LAPSE_LOST));
}

static void keepalive_of_another_is_lost(struct builder *b, bool broken) {
    open_session(b);
    decide(b, W2, keepalive("w2"), broken ? holds_lease(b, "", 1, SPAN) : answered(b, LAPSE_LOST));
}

static void keepalive_moves_the_end_to_now_plus_the_span(struct builder *b, bool broken) {
    open_session(b);
    b->at = SECOND;
    decide(b, W1, keepalive("w1"), holds_lease(b, "", 1, broken ? SPAN : SPAN + SECOND));
}

static void open_session_is_refused_to_another(struct builder *b, bool broken) {
    struct lapse_request open = session_call(LAPSE_VERB_SESSION, NAME, "w2", SPAN);
    open_session(b);
    b->at = SECOND;
    struct lapse_answer held = until(b, LAPSE_HELD, SPAN);
    held.owner = lapse_bytes_of("w1");
    decide(b, W2, open, broken ? holds_lease(b, "", 2, SPAN + SECOND) : held);
}

static void session_opened_again_stays_as_it_was(struct builder *b, bool broken) {
    open_session(b);
    b->at = SECOND;
    struct lapse_answer same = holds_lease(b, "", broken ? 2 : 1, SPAN);
    same.renewed = true;
    decide(b, W1, session_call(LAPSE_VERB_SESSION, NAME, "w1", SPAN), same);
}

static void write_with_an_ended_session_is_lost(struct builder *b, bool broken) {
    open_session(b);
    b->at = SPAN;
    decide(b, W1, in_session(put_call(LAPSE_VERB_SET, "plain", "k", "v")),
           broken ? wrote(b, 1, 2 * SPAN) : answered(b, LAPSE_LOST));
}

/* The next session of the name does not bring back what ended with the one before. */
static void entry_is_not_the_next_sessions(struct builder *b, bool broken) {
    open_session(b);
    put_in_session(b);
    b->at = SPAN;
    decide(b, W1, session_call(LAPSE_VERB_SESSION, NAME, "w1", SPAN),
           holds_lease(b, "", 2, 2 * SPAN));
    decide(b, W2, get("plain"),
           broken ? read_value(b, "v", 1, 2 * SPAN) : answered(b, LAPSE_ABSENT));
}

static void session_opened_after_its_end_has_its_span(struct builder *b, bool broken) {
    open_session(b);
    b->at = SPAN;
    decide(b, W1, session_call(LAPSE_VERB_SESSION, NAME, "w1", SPAN),
           holds_lease(b, "", 2, broken ? 2 * SPAN - 1 : 2 * SPAN));
}

static void session_is_opened_anew_after_its_end(struct builder *b, bool broken) {
    open_session(b);
    b->at = SPAN;
    struct lapse_answer same = holds_lease(b, "", 1, SPAN);
    same.renewed = true;
    decide(b, W1, session_call(LAPSE_VERB_SESSION, NAME, "w1", SPAN),
           broken ? same : holds_lease(b, "", 2, 2 * SPAN));
}

Test(rules, judge_what_ends_with_a_session) {
    static const struct twist twists[] = {
        {"an entry at its session's end", "KV-03", entry_ends_with_its_session, 0},
        {"an entry after a keepalive", "KV-05", entry_lives_on_with_its_session, 0},
        {"an entry after a close", "KV-03", entry_ends_when_its_session_is_closed, 0},
        {"a lease at its session's end", "LEASE-02", lease_ends_with_its_session, 0},
        {"a lease's end", "LEASE-02", lease_gets_the_end_of_its_session, 0},
        {"a keepalive at the end", "LEASE-07", keepalive_after_the_end_is_lost, 0},
        {"a keepalive by another", "LEASE-07", keepalive_of_another_is_lost, 0},
        {"a keepalive's end", "LEASE-06", keepalive_moves_the_end_to_now_plus_the_span, 0},
        {"a session of another", "LEASE-03", open_session_is_refused_to_another, 0},
        {"a session opened twice", "LEASE-08", session_opened_again_stays_as_it_was, 0},
        {"a write with an ended session", "KV-02", write_with_an_ended_session_is_lost, 0},
        {"the next session's end", "LEASE-02", session_opened_after_its_end_has_its_span, 0},
        {"the next session", "LEASE-04", session_is_opened_anew_after_its_end, 0},
        {"an entry and the next session", "KV-03", entry_is_not_the_next_sessions, 0},
    };
    check_twists(twists, sizeof twists / sizeof twists[0]);
}

/* ---- Batches. */

/* Sets two keys of `plain` at once. */
static int64_t batch_of_two(struct builder *b, struct lapse_command *members,
                            enum lapse_status status, int64_t second) {
    members[0] = put_call(LAPSE_VERB_SET, "plain", "a", "1").command;
    members[1] = put_call(LAPSE_VERB_CREATE, "plain", "b", "2").command;
    struct lapse_batch_answer answers[] = {
        {.verb = LAPSE_VERB_SET, .status = LAPSE_OK, .revision = second - 1},
        {.verb = LAPSE_VERB_CREATE, .status = status, .revision = status == LAPSE_OK ? second : 0},
    };
    struct lapse_answer answer = answered(b, status == LAPSE_OK ? LAPSE_OK : LAPSE_CONFLICT);
    answer.answer_count = 2;
    answer.answers = answers;
    return decide(b, W1, batch_call(members, 2), answer);
}

static void batch_makes_its_events_in_order(struct builder *b, bool broken) {
    struct lapse_command members[2];
    int64_t call = batch_of_two(b, members, LAPSE_OK, 2);
    emit(b, call, bucket_event(b, LAPSE_EVENT_PUT, &members[0], 1));
    if (!broken)
        emit(b, call, bucket_event(b, LAPSE_EVENT_PUT, &members[1], 2));
    decide(b, W2, key_call(LAPSE_VERB_COUNT, "codes", ""), answered(b, LAPSE_OK));
}

static void refused_batch_changes_nothing(struct builder *b, bool broken) {
    struct lapse_command members[2];
    put(b, W1, "plain", "b", "0", 1, 0);
    (void)batch_of_two(b, members, LAPSE_EXISTS, 2);
    decide(b, W2, key_call(LAPSE_VERB_GET, "plain", "a"),
           broken ? read_value(b, "1", 2, 0) : answered(b, LAPSE_ABSENT));
}

static void refused_batch_makes_no_event(struct builder *b, bool broken) {
    struct lapse_command members[2];
    put(b, W1, "plain", "b", "0", 1, 0);
    int64_t call = batch_of_two(b, members, LAPSE_EXISTS, 2);
    if (broken)
        emit(b, call, bucket_event(b, LAPSE_EVENT_PUT, &members[0], 2));
}

static void batch_is_refused_for_a_reason(struct builder *b, bool broken) {
    struct lapse_command members[2];
    if (!broken)
        put(b, W1, "plain", "b", "0", 1, 0);
    (void)batch_of_two(b, members, LAPSE_EXISTS, 2);
}

static void batch_is_read_back_whole(struct builder *b, bool broken) {
    struct lapse_command members[2];
    int64_t call = batch_of_two(b, members, LAPSE_OK, 2);
    emit(b, call, bucket_event(b, LAPSE_EVENT_PUT, &members[0], 1));
    emit(b, call, bucket_event(b, LAPSE_EVENT_PUT, &members[1], 2));
    decide(b, W2, key_call(LAPSE_VERB_GET, "plain", "b"),
           broken ? answered(b, LAPSE_ABSENT) : read_value(b, "2", 2, 0));
}

static void batch_grants_a_lease_once(struct builder *b, bool broken) {
    const struct lapse_command members[] = {
        lease_call(LAPSE_VERB_ACQUIRE, "one", "w1", SPAN).command,
        lease_call(LAPSE_VERB_ACQUIRE, "two", "w1", SPAN).command,
    };
    const struct lapse_batch_answer answers[] = {
        {.verb = LAPSE_VERB_ACQUIRE, .token = 1, .end = {LAPSE_END_STEADY, SPAN}, .left = {SPAN}},
        {.verb = LAPSE_VERB_ACQUIRE,
         .token = broken ? 1 : 2,
         .end = {LAPSE_END_STEADY, SPAN},
         .left = {SPAN}},
    };
    struct lapse_answer answer = answered(b, LAPSE_OK);
    answer.answer_count = 2;
    answer.answers = answers;
    decide(b, W1, batch_call(members, 2), answer);
    decide(b, W2, lease_call(LAPSE_VERB_INSPECT, "two", "", 0),
           holds_lease(b, "w1", broken ? 1 : 2, SPAN));
}

Test(rules, judge_batches_call_by_call) {
    static const struct twist twists[] = {
        {"the second event of a batch", "WATCH-02", batch_makes_its_events_in_order, 0},
        {"a refused batch, read", "KV-11", refused_batch_changes_nothing, 0},
        {"a refused batch, its events", "CAS-05", refused_batch_makes_no_event, 0},
        {"a batch refused for nothing", "CAS-03", batch_is_refused_for_a_reason, 0},
        {"a batch, read", "KV-05", batch_is_read_back_whole, 0},
        {"one token in a batch", "FENCE-02", batch_grants_a_lease_once, 0},
    };
    check_twists(twists, sizeof twists / sizeof twists[0]);
}

/* ---- Idle terms with a cap. */

/* Idle for 20 s, at most 30 s in all; used at 15 s. */
static void use_capped(struct builder *b, int64_t end) {
    struct lapse_request set = put_call(LAPSE_VERB_SET, "plain", "k", "v");
    set.command.u.write.term.given = LAPSE_TERM_IDLE;
    set.command.u.write.term.idle.ns = 20 * SECOND;
    set.command.u.write.term.cap.ns = 30 * SECOND;
    accept(b, W1, set, wrote(b, 1, 20 * SECOND));
    b->at = 15 * SECOND;
    struct lapse_answer answer = read_value(b, "v", 1, end);
    answer.renewed = true;
    decide(b, W1, get("plain"), answer);
}

static void use_moves_no_end_past_the_cap(struct builder *b, bool broken) {
    use_capped(b, broken ? 35 * SECOND : 30 * SECOND);
}

static void use_at_the_cap_renews_nothing(struct builder *b, bool broken) {
    use_capped(b, 30 * SECOND);
    b->at = 25 * SECOND;
    struct lapse_answer answer = read_value(b, "v", 1, 30 * SECOND);
    answer.renewed = broken;
    decide(b, W1, get("plain"), answer);
}

static void capped_key_ends_at_the_cap(struct builder *b, bool broken) {
    use_capped(b, 30 * SECOND);
    b->at = 30 * SECOND;
    struct lapse_answer answer = read_value(b, "v", 1, 50 * SECOND);
    answer.renewed = true;
    decide(b, W1, get("plain"), broken ? answer : answered(b, LAPSE_ABSENT));
}

Test(rules, judge_the_cap_of_an_idle_term) {
    static const struct twist twists[] = {
        {"a use", "KV-08", use_moves_no_end_past_the_cap, 0},
        {"a use at the cap", "KV-08", use_at_the_cap_renews_nothing, 0},
        {"the end", "KV-03", capped_key_ends_at_the_cap, 0},
    };
    check_twists(twists, sizeof twists / sizeof twists[0]);
}
