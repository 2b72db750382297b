/* Stories of what a crash of the store leaves: renewals that it may take, what each level of sync
 * promises, and calls that it dropped without an answer, which may have been done. */
#include <criterion/criterion.h>

#include "history_builder_test.h"

#define SPAN (30 * SECOND)

static struct lapse_request get(const char *bucket) {
    return key_call(LAPSE_VERB_GET, bucket, "k");
}

static struct lapse_request inspect(void) {
    return lease_call(LAPSE_VERB_INSPECT, "job", "", 0);
}

/* The process of the store dies and is there again, at the same instant. */
static void crash(struct builder *b) {
    node_fault(b, LAPSE_HISTORY_FAULT_BEGIN, LAPSE_FAULT_CRASH);
    tenure(b, false, b->at);
}

/* A use that renews is seen, then the crash comes `later`. */
static void renew_and_crash(struct builder *b, int64_t used, int64_t later) {
    put(b, W1, "idle", "k", "v", 1, 30 * MINUTE);
    b->at = used;
    struct lapse_answer answer = read_value(b, "v", 1, used + 30 * MINUTE);
    answer.renewed = true;
    decide(b, W1, get("idle"), answer);
    b->at += later;
    crash(b);
}

/* ---- Lost renewals. */

static void renewal_of_the_last_second_may_go(struct builder *b, bool broken) {
    renew_and_crash(b, 10 * MINUTE, broken ? SECOND + 1 : SECOND);
    b->at = 30 * MINUTE;
    decide(b, W1, get("idle"), answered(b, LAPSE_ABSENT));
}

static void renewal_of_the_last_second_may_stay(struct builder *b, bool broken) {
    renew_and_crash(b, 10 * MINUTE, SECOND);
    b->at = 40 * MINUTE - 1;
    struct lapse_answer answer = read_value(b, "v", 1, 70 * MINUTE - 1);
    answer.renewed = true;
    b->at += broken ? 1 : 0;
    decide(b, W1, get("idle"), broken ? read_value(b, "v", 1, 70 * MINUTE) : answer);
}

/* Less than a minute was left: the renewal was durable before its answer. */
static void renewal_near_the_end_stays(struct builder *b, bool broken) {
    renew_and_crash(b, 29 * MINUTE + (broken ? 1 : 0), 0);
    b->at = 30 * MINUTE;
    decide(b, W1, get("idle"), answered(b, LAPSE_ABSENT));
}

Test(rules, let_a_crash_take_renewals_of_the_last_second_alone) {
    static const struct twist twists[] = {
        {"a second old, or older", "DUR-03", renewal_of_the_last_second_may_go, 0},
        {"what a crash left, until its end", "KV-03", renewal_of_the_last_second_may_stay, 0},
        {"with a minute left, or less", "DUR-03", renewal_near_the_end_stays, 0},
    };
    check_twists(twists, sizeof twists / sizeof twists[0]);
}

/* ---- Levels of sync. */

static void write_is_gone_after_a_crash(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    crash(b);
    decide(b, W1, get("plain"), broken ? answered(b, LAPSE_ABSENT) : read_value(b, "v", 1, 0));
}

static void lease_is_gone_after_a_crash(struct builder *b, bool broken) {
    grant(b, W1, "job", "w1", SPAN, 1);
    crash(b);
    decide(b, W2, inspect(), broken ? answered(b, LAPSE_ABSENT) : holds_lease(b, "w1", 1, SPAN));
}

/* A number that was shown before a crash is given again after it. */
static void revision_comes_again(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 7, 0);
    crash(b);
    put(b, W1, "plain", "other", "v", broken ? 7 : 8, 0);
}

static void token_comes_again(struct builder *b, bool broken) {
    grant(b, W1, "job", "w1", SPAN, 7);
    crash(b);
    b->at = SPAN;
    grant(b, W2, "job", "w2", SPAN, broken ? 7 : 8);
}

static void request_is_done_twice(struct builder *b, bool broken) {
    struct lapse_request set = put_call(LAPSE_VERB_SET, "plain", "k", "v");
    set.command.request = lapse_bytes_of("r1");
    accept(b, W1, set, wrote(b, 1, 0));
    crash(b);
    struct lapse_answer answer = wrote(b, broken ? 2 : 1, 0);
    answer.repeated = !broken;
    decide(b, W1, set, answer);
}

Test(rules, hold_a_store_to_its_level_of_sync) {
    static const struct twist twists[] = {
        {"a write, full", "DUR-01", write_is_gone_after_a_crash, LAPSE_SYNC_FULL},
        {"a write, normal", NULL, write_is_gone_after_a_crash, LAPSE_SYNC_NORMAL},
        {"a write, none", NULL, write_is_gone_after_a_crash, LAPSE_SYNC_NONE},
        {"a lease, full", "DUR-04", lease_is_gone_after_a_crash, LAPSE_SYNC_FULL},
        {"a lease, normal", NULL, lease_is_gone_after_a_crash, LAPSE_SYNC_NORMAL},
        {"a revision, full", "CAS-04", revision_comes_again, LAPSE_SYNC_FULL},
        {"a revision, normal", "CAS-04", revision_comes_again, LAPSE_SYNC_NORMAL},
        {"a revision, none", NULL, revision_comes_again, LAPSE_SYNC_NONE},
        {"a token, full", "FENCE-01", token_comes_again, LAPSE_SYNC_FULL},
        {"a token, normal", "FENCE-01", token_comes_again, LAPSE_SYNC_NORMAL},
        {"a token, none", NULL, token_comes_again, LAPSE_SYNC_NONE},
        {"a request, full", "ONCE-01", request_is_done_twice, LAPSE_SYNC_FULL},
        {"a request, normal", NULL, request_is_done_twice, LAPSE_SYNC_NORMAL},
    };
    check_twists(twists, sizeof twists / sizeof twists[0]);
}

/* ---- Calls that the crash dropped. Each is told both ways: it was done, and it was not. */

static void drop(struct builder *b, struct lapse_request request) {
    (void)invoke(b, W1, request);
    crash(b);
}

static void dropped_write(struct builder *b, bool done) {
    put(b, W1, "plain", "k", "v", 1, 0);
    drop(b, put_call(LAPSE_VERB_SET, "plain", "k", "new"));
    decide(b, W2, get("plain"), read_value(b, done ? "new" : "v", done ? 2 : 1, 0));
}

/* What its client is told when it has waited long enough says no more. */
static void dropped_write_with_a_timeout(struct builder *b, bool done) {
    put(b, W1, "plain", "k", "v", 1, 0);
    int64_t call = invoke(b, W1, put_call(LAPSE_VERB_SET, "plain", "k", "new"));
    b->at = SECOND;
    if (done)
        reply(b, W1, call, LAPSE_VERB_SET, answered(b, LAPSE_UNKNOWN));
    crash(b);
    b->at = 2 * SECOND;
    if (!done)
        reply(b, W1, call, LAPSE_VERB_SET, answered(b, LAPSE_UNKNOWN));
    decide(b, W2, get("plain"), read_value(b, "new", 2, 0));
}

/* Settled by a read, it stays settled over the next crash. */
static void dropped_write_before_two_crashes(struct builder *b, bool done) {
    dropped_write(b, done);
    crash(b);
    decide(b, W2, get("plain"), read_value(b, done ? "new" : "v", done ? 2 : 1, 0));
}

static void dropped_write_is_settled(struct builder *b, bool broken) {
    dropped_write(b, false);
    crash(b);
    decide(b, W2, get("plain"), read_value(b, broken ? "new" : "v", broken ? 2 : 1, 0));
}

/* The store said for certain that nothing had happened. */
static void refused_write_is_not_done(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    node_fault(b, LAPSE_HISTORY_FAULT_BEGIN, LAPSE_FAULT_CRASH);
    int64_t call = invoke(b, W1, put_call(LAPSE_VERB_SET, "plain", "k", "new"));
    reply(b, W1, call, LAPSE_VERB_SET, answered(b, LAPSE_UNAVAILABLE));
    tenure(b, false, b->at);
    decide(b, W2, get("plain"), read_value(b, broken ? "new" : "v", broken ? 2 : 1, 0));
}

static void dropped_delete(struct builder *b, bool done) {
    put(b, W1, "plain", "k", "v", 1, 0);
    drop(b, key_call(LAPSE_VERB_DELETE, "plain", "k"));
    decide(b, W2, get("plain"), done ? answered(b, LAPSE_ABSENT) : read_value(b, "v", 1, 0));
}

static void dropped_expire(struct builder *b, bool done) {
    put(b, W1, "codes", "k", "v", 1, 15 * MINUTE);
    drop(b, with_ttl(key_call(LAPSE_VERB_EXPIRE, "codes", "k"), MINUTE));
    b->at = SECOND;
    decide(b, W2, get("codes"), read_value(b, "v", 1, done ? MINUTE : 15 * MINUTE));
}

static void dropped_use(struct builder *b, bool done) {
    put(b, W1, "idle", "k", "v", 1, 30 * MINUTE);
    b->at = 29 * MINUTE;
    drop(b, get("idle"));
    b->at = 30 * MINUTE;
    struct lapse_answer answer = read_value(b, "v", 1, 60 * MINUTE);
    answer.renewed = true;
    decide(b, W2, get("idle"), done ? answer : answered(b, LAPSE_ABSENT));
}

/* A look just after it: a use was at 29 min, or none. */
static void dropped_use_seen_at_once(struct builder *b, bool done) {
    put(b, W1, "idle", "k", "v", 1, 30 * MINUTE);
    b->at = 29 * MINUTE;
    drop(b, get("idle"));
    struct lapse_answer answer = read_value(b, "v", 1, 59 * MINUTE);
    answer.renewed = !done;
    b->at += SECOND;
    answer.at.ns = b->at;
    answer.wall.ns += SECOND;
    answer.end.ns += done ? 0 : SECOND;
    answer.left.ns = answer.end.ns - b->at;
    decide(b, W2, get("idle"), answer);
    b->at = answer.end.ns;
    decide(b, W2, get("idle"), answered(b, LAPSE_ABSENT));
}

static void dropped_acquire(struct builder *b, bool done) {
    drop(b, lease_call(LAPSE_VERB_ACQUIRE, "job", "w1", SPAN));
    decide(b, W2, inspect(), done ? holds_lease(b, "w1", 1, SPAN) : answered(b, LAPSE_ABSENT));
    b->at = SPAN;
    grant(b, W2, "job", "w2", SPAN, done ? 2 : 1);
}

static void dropped_extend(struct builder *b, bool done) {
    grant(b, W1, "job", "w1", SPAN, 1);
    b->at = 10 * SECOND;
    drop(b, lease_call(LAPSE_VERB_EXTEND, "job", "w1", SPAN));
    decide(b, W2, inspect(), holds_lease(b, "w1", 1, done ? 40 * SECOND : SPAN));
}

static void dropped_release(struct builder *b, bool done) {
    grant(b, W1, "job", "w1", SPAN, 1);
    drop(b, lease_call(LAPSE_VERB_RELEASE, "job", "w1", 0));
    decide(b, W2, inspect(), done ? answered(b, LAPSE_ABSENT) : holds_lease(b, "w1", 1, SPAN));
}

/* What was written with a session hangs on its calls too. */
static void write_with_session(struct builder *b) {
    struct lapse_request set = put_call(LAPSE_VERB_SET, "plain", "k", "v");
    struct lapse_request acquire = lease_call(LAPSE_VERB_ACQUIRE, "job", "w1", 0);
    set.command.u.write.term.given = LAPSE_TERM_SESSION;
    set.command.u.write.term.session = lapse_bytes_of("s");
    acquire.command.u.lease.session = lapse_bytes_of("s");
    decide(b, W1, session_call(LAPSE_VERB_SESSION, "s", "w1", SPAN),
           holds_lease(b, "", 1, SPAN));
    accept(b, W1, set, wrote(b, 1, SPAN));
    decide(b, W1, acquire, holds_lease(b, "w1", 2, SPAN));
}

static void dropped_keepalive(struct builder *b, bool done) {
    write_with_session(b);
    b->at = 10 * SECOND;
    drop(b, session_call(LAPSE_VERB_KEEPALIVE, "s", "w1", 0));
    b->at = SPAN;
    decide(b, W2, get("plain"),
           done ? read_value(b, "v", 1, 40 * SECOND) : answered(b, LAPSE_ABSENT));
    decide(b, W2, inspect(),
           done ? holds_lease(b, "w1", 2, 40 * SECOND) : answered(b, LAPSE_ABSENT));
}

static void dropped_close(struct builder *b, bool done) {
    write_with_session(b);
    drop(b, session_call(LAPSE_VERB_CLOSE, "s", "w1", 0));
    decide(b, W2, inspect(), done ? answered(b, LAPSE_ABSENT) : holds_lease(b, "w1", 2, SPAN));
    decide(b, W2, get("plain"), done ? answered(b, LAPSE_ABSENT) : read_value(b, "v", 1, SPAN));
}

static void drop_batch(struct builder *b) {
    const struct lapse_command members[] = {
        put_call(LAPSE_VERB_SET, "plain", "k", "new").command,
        put_call(LAPSE_VERB_SET, "plain", "l", "new").command,
    };
    put(b, W1, "plain", "k", "v", 1, 0);
    put(b, W1, "plain", "l", "v", 2, 0);
    drop(b, batch_call(members, 2));
}

static void dropped_batch(struct builder *b, bool done) {
    drop_batch(b);
    decide(b, W2, get("plain"), read_value(b, done ? "new" : "v", done ? 3 : 1, 0));
    decide(b, W2, key_call(LAPSE_VERB_GET, "plain", "l"),
           read_value(b, done ? "new" : "v", done ? 4 : 2, 0));
}

static void half_of_a_dropped_batch(struct builder *b, bool broken) {
    drop_batch(b);
    decide(b, W2, get("plain"), read_value(b, "new", 3, 0));
    decide(b, W2, key_call(LAPSE_VERB_GET, "plain", "l"),
           read_value(b, broken ? "v" : "new", broken ? 2 : 4, 0));
}

/* Its end is marked, under a revision that no answer has shown. */
static void dropped_write_is_marked(struct builder *b, bool done) {
    struct lapse_request set = put_call(LAPSE_VERB_SET, "marked", "k", "new");
    put(b, W1, "marked", "k", "v", 1, MINUTE);
    b->at = SECOND;
    drop(b, set);
    b->at = MINUTE + (done ? SECOND : 0);
    struct lapse_event event = bucket_event(b, LAPSE_EVENT_EXPIRED, &set.command, done ? 3 : 2);
    event.value = (struct lapse_bytes){0};
    event.old_revision = done ? 2 : 1;
    event.why = LAPSE_WHY_DEFAULT;
    emit(b, 0, event);
    step(b, 1);
    b->at = 2 * MINUTE;
    plain_event(b, LAPSE_HISTORY_END, -1);
}

/* Sent again under its request id, it is answered as done before, or done now. */
static void dropped_request(struct builder *b, bool done) {
    struct lapse_request set = put_call(LAPSE_VERB_SET, "plain", "k", "v");
    set.command.request = lapse_bytes_of("r1");
    drop(b, set);
    struct lapse_answer answer = wrote(b, 1, 0);
    answer.repeated = done;
    int64_t call = decide(b, W1, set, answer);
    if (!done)
        emit(b, call, bucket_event(b, LAPSE_EVENT_PUT, &set.command, 1));
    decide(b, W2, get("plain"), read_value(b, "v", 1, 0));
}

static void dropped_create(struct builder *b, bool done) {
    drop(b, put_call(LAPSE_VERB_CREATE, "plain", "k", "v"));
    struct lapse_request create = put_call(LAPSE_VERB_CREATE, "plain", "k", "w");
    if (done)
        decide(b, W2, create, answered(b, LAPSE_EXISTS));
    else
        accept(b, W2, create, wrote(b, 1, 0));
}

static void dropped_write_is_counted(struct builder *b, bool done) {
    struct lapse_answer answer = answered(b, LAPSE_OK);
    drop(b, put_call(LAPSE_VERB_SET, "plain", "k", "v"));
    answer.item_count = done ? 1 : 0;
    decide(b, W2, key_call(LAPSE_VERB_COUNT, "plain", ""), answer);
    rows(b, "plain", done ? 1 : 0);
}

Test(rules, take_a_call_that_a_crash_dropped_for_one_that_may_be_done) {
    static const struct twist twists[] = {
        {"a write", NULL, dropped_write, 0},
        {"a write with a timeout", NULL, dropped_write_with_a_timeout, 0},
        {"a write, then two crashes", NULL, dropped_write_before_two_crashes, 0},
        {"a write that a read has settled", "DUR-01", dropped_write_is_settled, 0},
        {"a write refused for certain", "DUR-01", refused_write_is_not_done, 0},
        {"a delete", NULL, dropped_delete, 0},
        {"an expire", NULL, dropped_expire, 0},
        {"a use", NULL, dropped_use, 0},
        {"a use, seen at once", NULL, dropped_use_seen_at_once, 0},
        {"an acquire", NULL, dropped_acquire, 0},
        {"an extend", NULL, dropped_extend, 0},
        {"a release", NULL, dropped_release, 0},
        {"a keepalive", NULL, dropped_keepalive, 0},
        {"a close", NULL, dropped_close, 0},
        {"a batch", NULL, dropped_batch, 0},
        {"half a batch", "DUR-02", half_of_a_dropped_batch, 0},
        {"a write whose end is marked", NULL, dropped_write_is_marked, 0},
        {"a call sent again", NULL, dropped_request, 0},
        {"a create", NULL, dropped_create, 0},
        {"a write that is counted", NULL, dropped_write_is_counted, 0},
    };
    check_twists(twists, sizeof twists / sizeof twists[0]);
}
