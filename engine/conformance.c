/* The list, and how an answer is told as text: every field that is not zero, so that a step's
 * expected answer is all of it. To add a step, write its command and run the list: the message
 * shows the answer, which is then to be judged, not copied. */
#include "conformance.h"

#include "lapse/sqlite.h"

#include <stdio.h>
#include <string.h>

#define S(n) ((int64_t)(n)*LAPSE_NS_PER_S)
#define B(text) {(const unsigned char *)(text), sizeof(text) - 1}

/* The list's first lines open the buckets; `at` is store time, `wall` a step of the wall. A step
 * that is `held` is not followed by a reopen: what it leaves lives as long as the handle. */
struct step {
    int64_t at;
    struct lapse_command command;
    const char *answer;
    int64_t wall;
    bool held;
};

enum { CONFORMANCE_ANSWER_MAX = CONFORMANCE_MESSAGE_MAX / 4 };

struct text {
    char *buf;
    size_t len;
};

#define CALL(word, bucket_, key_) .verb = LAPSE_VERB_##word, .bucket = B(bucket_), .key = B(key_)
#define LEASE(word, name, owner_, ns_)                                                             \
    {.verb = LAPSE_VERB_##word, .key = B(name), .u.lease = {.owner = B(owner_), .span = {ns_}}}
#define SET(bucket_, key_, value_)                                                                 \
    {CALL(SET, bucket_, key_), .u.write = {.value = B(value_)}}

static size_t step_count(void);
static bool run_step(struct lapse *store, struct lapse_clock_manual *clock,
                     const struct step *step, char *ret_answer);
static void tell(struct text *text, const struct lapse_result *result);
static void tell_event(struct text *text, const struct lapse_event *event);
static void tell_number(struct text *text, const char *name, int64_t number);
static void tell_span(struct text *text, const char *name, int64_t ns);
static void tell_bytes(struct text *text, const char *name, struct lapse_bytes bytes);
static void add(struct text *text, const char *more);

static const struct step steps[] = {
    {0, {CALL(SET, "b", "k")}, "invalid", 0, false},
    {0, {CALL(OPEN, "b", "")}, "ok", 0, false},
    {0, {CALL(OPEN, "b", "")}, "ok", 0, false},
    {0, {CALL(OPEN, "ttl", ""), .u.open.config = {.term = {.given = LAPSE_TERM_TTL, .ttl = {S(20)}},
                                                  .markers = {S(60)}}}, "ok", 0, false},
    {0, {CALL(OPEN, "idle", ""), .u.open.config = {.term = {.given = LAPSE_TERM_IDLE,
                                                            .idle = {S(60)}}}}, "ok", 0, false},
    {0, {CALL(OPEN, "ttl", ""), .u.open.config = {.term = {.given = LAPSE_TERM_TTL,
                                                           .ttl = {S(21)}}}}, "invalid", 0, false},
    {0, {CALL(WATCH, "b", "")}, "ok watcher=1", 0, true},
    {0, SET("b", "k", "one"), "ok revision=1 +put(k=one @1)", 0, true},
    {0, {CALL(POLL, "", ""), .u.watch = {.watcher = 1, .events_max = 8}}, "ok -put(k=one @1)", 0,
     true},
    {0, {CALL(UNWATCH, "", ""), .u.watch = {.watcher = 1}}, "ok", 0, false},
    {0, {CALL(GET, "b", "k")}, "ok revision=1 value=one", 0, false},
    {0, {CALL(GET, "b", "none")}, "absent", 0, false},
    {0, {CALL(CREATE, "b", "k"), .u.write.value = B("no")}, "exists", 0, false},
    {0, {CALL(CREATE, "b", "n\0l"), .u.write.value = B("\xff\0")},
     "ok revision=2 +put(n\\x00l=\\xff\\x00 @2)", 0, false},
    {0, {CALL(HAS, "b", "n\0l")}, "ok revision=2", 0, false},
    {0, {CALL(UPDATE, "b", "k"), .u.write = {.value = B("two"), .has_if_version = true,
                                             .if_version = 1}},
     "ok revision=3 +put(k=two @3)", 0, false},
    {0, {CALL(UPDATE, "b", "k"), .u.write = {.value = B("no"), .has_if_version = true,
                                             .if_version = 1}},
     "conflict revision=3", 0, false},
    {0, {CALL(LIST, "b", "")}, "ok items=2 [k @3] [n\\x00l @2]", 0, false},
    {0, {CALL(ALL, "b", "")}, "ok items=2 [k=two @3] [n\\x00l=\\xff\\x00 @2]", 0, false},
    {0, {CALL(COUNT, "b", "")}, "ok items=2", 0, false},
    {S(1), SET("ttl", "d", "x"), "ok revision=1 end=21s left=20s +put(d=x @1)", 0, false},
    {S(1), {CALL(SET, "ttl", "own"), .u.write = {.value = B("x"), .term = {.given = LAPSE_TERM_TTL,
                                                                           .ttl = {S(5)}}}},
     "ok revision=2 end=6s left=5s +put(own=x @2)", 0, false},
    {S(1), {CALL(SET, "ttl", "two"), .u.write = {.value = B("x"),
                                                 .term = {.given = LAPSE_TERM_TTL | LAPSE_TERM_IDLE,
                                                          .ttl = {S(5)}, .idle = {S(5)}}}},
     "invalid", 0, false},
    {S(1), {CALL(SET, "b", "date"), .u.write = {.value = B("x"),
                                                .term = {.given = LAPSE_TERM_EXPIRES_AT,
                                                         .expires_at = {S(1008)}}}},
     "ok revision=4 date=16m48s left=7s +put(date=x @4)", 0, false},
    {S(6) - 1, {CALL(ENTRY, "ttl", "own")}, "ok revision=2 value=x end=6s left=1ns", 0,
     false},
    {S(6), {CALL(ENTRY, "ttl", "own")}, "absent", 0, false},
    {S(6), {CALL(DELETE, "ttl", "own")}, "absent", 0, false},
    {S(6), {CALL(EXPIRE, "ttl", "own"), .u.write.term = {.given = LAPSE_TERM_TTL, .ttl = {S(5)}}},
     "absent", 0, false},
    {S(6), SET("ttl", "own", "y"),
     "ok revision=4 end=26s left=20s +expired(own @3 old=2 own) +put(own=y @4)", 0, false},
    {S(7), {CALL(EXPIRE, "ttl", "own"), .u.write.term = {.given = LAPSE_TERM_TTL, .ttl = {S(3)}}},
     "ok revision=4 end=10s left=3s", 0, false},
    {S(7), {CALL(PERSIST, "ttl", "own")}, "ok revision=4", 0, false},
    {S(7), {CALL(GET, "b", "date")}, "absent", S(5), false},
    {S(7), {CALL(GET, "b", "date")}, "absent", -S(5), false},
    {S(7), {CALL(PURGE, "b", "k")}, "ok revision=5 +purge(k @5 old=3)", 0, false},
    {S(7), {CALL(DELETE, "b", "n\0l"), .u.write = {.has_if_version = true, .if_version = 2}},
     "ok revision=6 +delete(n\\x00l @6 old=2)", 0, false},
    {S(8), LEASE(ACQUIRE, "jobs/1", "w1", S(10)), "ok end=18s left=10s token=1 owner=w1", 0, false},
    {S(8), LEASE(ACQUIRE, "jobs/1", "w2", S(10)), "held end=18s left=10s owner=w1", 0, false},
    {S(9), LEASE(ACQUIRE, "jobs/1", "w1", S(10)),
     "ok end=18s left=9s token=1 owner=w1 renewed", 0, false},
    {S(9), LEASE(EXTEND, "jobs/1", "w1", S(12)), "ok end=21s left=12s token=1 owner=w1", 0, false},
    {S(9), LEASE(EXTEND, "jobs/1", "w2", S(12)), "not_owner", 0, false},
    {S(9), LEASE(ACQUIRE, "jobs/2", "w2", S(3)), "ok end=12s left=3s token=2 owner=w2", 0, false},
    {S(10), LEASE(INSPECT, "jobs/2", "", 0), "ok end=12s left=2s token=2 owner=w2", 0, false},
    {S(10), LEASE(RELEASE, "jobs/2", "w1", 0), "not_owner", 0, false},
    {S(10), LEASE(RELEASE, "jobs/2", "w2", 0), "ok", 0, false},
    {S(10), LEASE(RELEASE, "jobs/2", "w2", 0), "absent", 0, false},
    {S(21), LEASE(EXTEND, "jobs/1", "w1", S(12)), "lost", 0, false},
    {S(21), LEASE(ACQUIRE, "jobs/1", "w3", S(90)),
     "ok end=1m51s left=1m30s token=3 owner=w3", 0, false},
    {S(21), SET("idle", "i", "used"), "ok revision=1 end=1m21s left=1m +put(i=used @1)", 0, true},
    {S(24), {CALL(GET, "idle", "i")},
     "ok revision=1 value=used end=1m24s left=1m renewed", 0, true},
    {S(25), {CALL(MARK, "", "")}, "ok", 0, true},
    {S(26), {CALL(REAP, "", ""), .u.reap.rows_max = 100},
     "ok items=2 +expired(d @5 old=1 default)", 0, false},
    {S(30), {CALL(FLUSH, "idle", "i"), .u.flush = {.used = {S(29)}, .revision = 1,
                                                   .end = {LAPSE_END_STEADY, S(84)}}},
     "ok renewed", 0, false},
    {S(88), {CALL(HAS, "idle", "i")}, "ok revision=1 renewed", 0, false},
    {S(200), {CALL(COUNT, "idle", "")}, "ok", 0, false},
    {S(200), {CALL(REAP, "", ""), .u.reap.rows_max = 100}, "ok items=3", 0, false},
    {S(200), {CALL(LIST, "ttl", "")}, "ok items=1 [own @4]", 0, false},
};

bool conformance_run(const struct conformance_store *store, char *message) {
    struct lapse_clock_manual clock;
    struct lapse_error err = {.status = LAPSE_OK};
    struct lapse *open = NULL;
    bool right = true;
    lapse_clock_manual_init(&clock, (struct lapse_wall){S(1000)});
    struct lapse_options options = {.clock = lapse_clock_manual_vtable(&clock)};
    enum lapse_status status = store->open(store->ctx, &options, &open, &err);
    for (size_t i = 0; i < step_count() && right && status == LAPSE_OK; i++) {
        char answer[CONFORMANCE_ANSWER_MAX] = "";
        right = run_step(open, &clock, &steps[i], answer) &&
                lapse_check(open, &err) == LAPSE_OK;
        (void)snprintf(message, CONFORMANCE_MESSAGE_MAX,
                       "step %zu, a %s at %lld ns: wanted `%s`, got `%s` %s", i,
                       lapse_verb_word(steps[i].command.verb), (long long)steps[i].at,
                       steps[i].answer, answer, err.message);
        if (right && store->reopens && !steps[i].held) {
            lapse_close(open);
            open = NULL;
            status = store->open(store->ctx, &options, &open, &err);
        }
    }
    if (status != LAPSE_OK) {
        (void)snprintf(message, CONFORMANCE_MESSAGE_MAX, "it does not open: %s", err.message);
    }
    lapse_close(open);
    return right && status == LAPSE_OK;
}

enum lapse_status conformance_memory(void *ctx, const struct lapse_options *options,
                                     struct lapse **ret, struct lapse_error *err) {
    (void)ctx;
    return lapse_open(options, ret, err);
}

enum lapse_status conformance_file(void *ctx, const struct lapse_options *options,
                                   struct lapse **ret, struct lapse_error *err) {
    return lapse_open_file(ctx, options, ret, err);
}

uint64_t conformance_verbs(void) {
    uint64_t verbs = 0;
    for (size_t i = 0; i < step_count(); i++) {
        verbs |= UINT64_C(1) << steps[i].command.verb;
    }
    return verbs;
}

static size_t step_count(void) {
    return sizeof(steps) / sizeof(steps[0]);
}

static bool run_step(struct lapse *store, struct lapse_clock_manual *clock,
                     const struct step *step, char *ret_answer) {
    struct lapse_result result;
    struct lapse_span wait = {step->at - clock->now.raw_ns};
    struct text text = {ret_answer, 0};
    (void)lapse_clock_manual_advance(clock, wait);
    (void)lapse_clock_manual_step_wall(clock, (struct lapse_span){step->wall});
    lapse_result_init(&result, NULL);
    (void)lapse_apply(store, &step->command, &result, NULL);
    tell(&text, &result);
    lapse_result_free(&result);
    return strcmp(ret_answer, step->answer) == 0;
}

static void tell(struct text *text, const struct lapse_result *result) {
    add(text, lapse_status_word(result->status));
    tell_number(text, " watcher=", result->watcher);
    tell_number(text, " items=", (int64_t)result->item_count);
    tell_number(text, " revision=", result->revision);
    tell_bytes(text, " value=", result->value);
    tell_span(text, result->end.kind == LAPSE_END_WALL ? " date=" : " end=", result->end.ns);
    tell_span(text, " left=", result->left.ns);
    tell_number(text, " token=", result->token);
    tell_bytes(text, " owner=", result->owner);
    add(text, result->renewed ? " renewed" : "");
    add(text, result->repeated ? " repeated" : "");
    add(text, result->more ? " more" : "");
    for (size_t i = 0; result->items != NULL && i < result->item_count; i++) {
        tell_bytes(text, " [", result->items[i].key);
        tell_bytes(text, "=", result->items[i].value);
        tell_number(text, " @", result->items[i].revision);
        add(text, "]");
    }
    for (size_t i = 0; i < result->answer_count; i++) {
        add(text, " {");
        add(text, lapse_status_word(result->answers[i].status));
        tell_number(text, " revision=", result->answers[i].revision);
        tell_number(text, " token=", result->answers[i].token);
        tell_span(text, " left=", result->answers[i].left.ns);
        add(text, "}");
    }
    for (size_t i = 0; i < result->event_count; i++) {
        add(text, " +");
        tell_event(text, &result->events[i]);
    }
    for (size_t i = 0; i < result->delivery_count; i++) {
        add(text, " -");
        tell_event(text, &result->deliveries[i]);
    }
}

static void tell_event(struct text *text, const struct lapse_event *event) {
    add(text, lapse_event_word(event->kind));
    tell_bytes(text, "(", event->key);
    tell_bytes(text, "=", event->value);
    tell_number(text, " @", event->revision);
    tell_number(text, " old=", event->old_revision);
    if (event->why != LAPSE_WHY_NONE) {
        add(text, " ");
        add(text, lapse_why_word(event->why));
    }
    add(text, ")");
}

static void tell_number(struct text *text, const char *name, int64_t number) {
    if (number != 0) {
        char digits[24];
        (void)snprintf(digits, sizeof(digits), "%lld", (long long)number);
        add(text, name);
        add(text, digits);
    }
}

static void tell_span(struct text *text, const char *name, int64_t ns) {
    if (ns != 0) {
        char span[LAPSE_TIME_TEXT_MAX];
        add(text, name);
        add(text, lapse_span_print((struct lapse_span){ns}, span));
    }
}

static void tell_bytes(struct text *text, const char *name, struct lapse_bytes bytes) {
    if (bytes.len > 0) {
        char printed[80];
        add(text, name);
        add(text, lapse_bytes_print(bytes, printed, sizeof(printed)));
    }
}

/* What does not fit is cut: the answer is then not the one wanted. */
static void add(struct text *text, const char *more) {
    size_t left = CONFORMANCE_ANSWER_MAX - text->len;
    int len = snprintf(text->buf + text->len, left, "%s", more);
    text->len += (size_t)len < left ? (size_t)len : left - 1;
}
