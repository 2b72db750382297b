/* Sessions: what is written with one ends with it, at that instant and for every call; a keepalive
 * moves the end of all that hangs on it; the reaper takes it in the one order of all ends. */
#include "handle.h"
#include "testing.h"

#include <criterion/criterion.h>
#include <string.h>

static enum lapse_status session(struct lapse_testing *t, enum lapse_verb verb, const char *name,
                                 const char *owner, int64_t span) {
    struct lapse_command command = {.verb = verb, .key = lapse_bytes_of(name)};
    command.u.session.owner = lapse_bytes_of(owner);
    command.u.session.span.ns = span;
    return lapse_apply(t->store, &command, &t->r, &t->err);
}

/* Writes or retimes a key of bucket b with a session as its term. */
static enum lapse_status with(struct lapse_testing *t, enum lapse_verb verb, const char *bucket,
                              const char *key, const char *name) {
    struct lapse_command command = {
        .verb = verb, .bucket = lapse_bytes_of(bucket), .key = lapse_bytes_of(key)};
    command.u.write.value = lapse_bytes_of("v");
    command.u.write.term.given = LAPSE_TERM_SESSION;
    command.u.write.term.session = lapse_bytes_of(name);
    return lapse_apply(t->store, &command, &t->r, &t->err);
}

static enum lapse_status acquire(struct lapse_testing *t, const char *name, const char *owner,
                                 const char *of) {
    return lapse_acquire_session(t->store, lapse_bytes_of(name), lapse_bytes_of(owner),
                                 lapse_bytes_of(of), &t->r, &t->err);
}

static enum lapse_status call(struct lapse_testing *t, enum lapse_verb verb, const char *key) {
    return lapse_testing_do(t, verb, "b", key, "w", 0, 0);
}

/* A session `s` of 10 s with the keys k and l and the lease `job` of w1. */
static void open_s(struct lapse_testing *t, int64_t markers) {
    lapse_testing_open(t);
    lapse_testing_bucket(t, "b", LAPSE_TERM_TTL, S(500), markers);
    cr_assert_eq(session(t, LAPSE_VERB_SESSION, "s", "w1", S(10)), LAPSE_OK);
    cr_assert_eq(with(t, LAPSE_VERB_SET, "b", "k", "s"), LAPSE_OK);
    cr_assert(t->r.end.kind == LAPSE_END_STEADY && t->r.end.ns == S(10) && t->r.left.ns == S(10));
    cr_assert_eq(with(t, LAPSE_VERB_CREATE, "b", "l", "s"), LAPSE_OK);
    cr_assert_eq(acquire(t, "job", "w1", "s"), LAPSE_OK);
    cr_assert(t->r.token == 1 && t->r.end.ns == S(10) && lapse_testing_is(t->r.owner, "w1"));
}

static void expect_live(struct lapse_testing *t, int64_t left) {
    static const enum lapse_verb reads[] = {LAPSE_VERB_GET, LAPSE_VERB_ENTRY};
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(call(t, reads[i], "k"), LAPSE_OK);
        cr_expect_eq(t->r.left.ns, left, "%s shows %lld", lapse_verb_word(reads[i]),
                     (long long)t->r.left.ns);
    }
    cr_expect_eq(call(t, LAPSE_VERB_COUNT, ""), LAPSE_OK);
    cr_expect_eq(t->r.item_count, 2);
    cr_expect_eq(call(t, LAPSE_VERB_CREATE, "k"), LAPSE_EXISTS);
    cr_expect_eq(lapse_testing_lease(t, LAPSE_VERB_INSPECT, "job", "", 0), LAPSE_OK);
    cr_expect(t->r.left.ns == left && t->r.token == 1);
    cr_expect_eq(lapse_testing_lease(t, LAPSE_VERB_ACQUIRE, "job", "w2", S(1)), LAPSE_HELD);
    cr_expect_eq(t->r.left.ns, left);
    cr_expect_eq(acquire(t, "job", "w1", "s"), LAPSE_OK);
    cr_expect(t->r.renewed && t->r.left.ns == left);
}

static void expect_ended(struct lapse_testing *t) {
    static const enum lapse_verb absent[] = {LAPSE_VERB_GET,   LAPSE_VERB_ENTRY,
                                             LAPSE_VERB_HAS,   LAPSE_VERB_DELETE,
                                             LAPSE_VERB_PURGE, LAPSE_VERB_PERSIST};
    static const enum lapse_verb lists[] = {LAPSE_VERB_LIST, LAPSE_VERB_ALL, LAPSE_VERB_COUNT};
    for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
        cr_expect_eq(call(t, absent[i], "k"), LAPSE_ABSENT, "%s", lapse_verb_word(absent[i]));
    }
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        cr_expect_eq(call(t, lists[i], ""), LAPSE_OK);
        cr_expect_eq(t->r.item_count, 0, "%s", lapse_verb_word(lists[i]));
    }
    cr_expect_eq(lapse_watch(t->store, lapse_bytes_of("b"), lapse_bytes_of(""), LAPSE_WATCH_LIVE,
                             &t->r, &t->err),
                 LAPSE_OK);
    cr_expect_eq(t->r.item_count, 0);
    cr_expect_eq(lapse_testing_do(t, LAPSE_VERB_EXPIRE, "b", "k", "", LAPSE_TERM_TTL, S(9)),
                 LAPSE_ABSENT);
    cr_expect_eq(lapse_testing_lease(t, LAPSE_VERB_INSPECT, "job", "", 0), LAPSE_ABSENT);
    cr_expect_eq(lapse_testing_lease(t, LAPSE_VERB_EXTEND, "job", "w1", S(9)), LAPSE_LOST);
    cr_expect_eq(lapse_testing_lease(t, LAPSE_VERB_RELEASE, "job", "w1", 0), LAPSE_ABSENT);
    cr_expect_eq(session(t, LAPSE_VERB_KEEPALIVE, "s", "w1", 0), LAPSE_LOST);
    cr_expect_eq(session(t, LAPSE_VERB_CLOSE, "s", "w1", 0), LAPSE_LOST);
    cr_expect_eq(with(t, LAPSE_VERB_SET, "b", "k", "s"), LAPSE_LOST);
    cr_expect_eq(call(t, LAPSE_VERB_CREATE, "k"), LAPSE_OK);
    cr_expect_eq(lapse_testing_lease(t, LAPSE_VERB_ACQUIRE, "job", "w2", S(9)), LAPSE_OK);
    cr_expect_eq(t->r.token, 2);
}

Test(session, what_is_written_with_it_ends_with_it_for_every_call) {
    for (int way = 0; way < 8; way++) {
        bool closed = (way & 1) != 0;
        struct lapse_testing t;
        open_s(&t, (way & 2) != 0 ? S(60) : 0);
        int64_t end = closed ? S(4) : S(10);
        lapse_testing_at(&t, closed ? S(4) : S(10) - 1);
        expect_live(&t, S(10) - t.clock.now.raw_ns);
        struct lapse_due due;
        lapse_next_due(t.store, &due);
        cr_expect(due.has_steady && due.steady.ns == S(10));
        if (closed) {
            cr_expect_eq(session(&t, LAPSE_VERB_CLOSE, "s", "w1", 0), LAPSE_OK);
        }
        lapse_testing_at(&t, end);
        if ((way & 4) != 0) {
            lapse_testing_step(&t, NULL);
            cr_expect_eq(t.r.item_count, 4, "two keys, a lease and the session");
        }
        expect_ended(&t);
        lapse_testing_close(&t);
    }
}

Test(session, a_keepalive_moves_the_end_of_all_that_hangs_on_it_and_of_nothing_else) {
    struct lapse_testing t;
    open_s(&t, 0);
    cr_assert_eq(session(&t, LAPSE_VERB_SESSION, "other", "w1", S(10)), LAPSE_OK);
    cr_expect_eq(t.r.token, 2, "another session has another number");
    cr_assert_eq(with(&t, LAPSE_VERB_SET, "b", "o", "other"), LAPSE_OK);
    lapse_testing_at(&t, S(6));
    cr_expect_eq(session(&t, LAPSE_VERB_KEEPALIVE, "s", "w1", 0), LAPSE_OK);
    cr_expect(t.r.token == 1 && t.r.end.ns == S(16) && t.r.left.ns == S(10) && !t.r.renewed);
    lapse_testing_at(&t, S(10));
    cr_expect_eq(call(&t, LAPSE_VERB_GET, "o"), LAPSE_ABSENT);
    lapse_testing_step(&t, NULL);
    cr_expect_eq(t.r.item_count, 2);
    expect_live(&t, S(6));
    cr_expect_eq(session(&t, LAPSE_VERB_KEEPALIVE, "s", "w1", S(3)), LAPSE_OK, "it may shorten");
    expect_live(&t, S(3));
    lapse_testing_at(&t, S(12));
    cr_expect_eq(session(&t, LAPSE_VERB_KEEPALIVE, "s", "w1", 0), LAPSE_OK);
    cr_expect_eq(t.r.end.ns, S(15), "the span it has is the last one given");
    lapse_testing_at(&t, S(15) - 1);
    expect_live(&t, 1);
    lapse_testing_at(&t, S(15));
    expect_ended(&t);
    lapse_testing_close(&t);
}

Test(session, an_entry_of_an_ended_session_never_counts_as_the_next_ones) {
    for (int stepped = 0; stepped < 2; stepped++) {
        struct lapse_testing t;
        open_s(&t, 0);
        for (int64_t i = 2; i < 6; i++) {
            lapse_testing_at(&t, S(10) * (i - 1));
            cr_assert_eq(session(&t, LAPSE_VERB_SESSION, "s", "w1", S(10)), LAPSE_OK);
            cr_expect(t.r.token == i && t.r.end.ns == S(10) * i && !t.r.renewed);
            cr_expect_eq(call(&t, LAPSE_VERB_HAS, "k"), i == 2 ? LAPSE_ABSENT : LAPSE_OK);
            cr_expect_eq(call(&t, LAPSE_VERB_HAS, "l"), LAPSE_ABSENT);
            cr_expect_eq(lapse_testing_lease(&t, LAPSE_VERB_INSPECT, "job", "", 0), LAPSE_ABSENT);
            cr_expect_eq(session(&t, LAPSE_VERB_KEEPALIVE, "s", "w1", 0), LAPSE_OK);
            cr_expect_eq(call(&t, LAPSE_VERB_HAS, "l"), LAPSE_ABSENT, "a keepalive revived it");
            if (stepped == 1) {
                lapse_testing_step(&t, NULL);
            }
            cr_expect_eq(call(&t, LAPSE_VERB_SET, "k"), LAPSE_OK);
            lapse_testing_check(&t);
        }
        lapse_testing_at(&t, S(400));
        lapse_testing_step(&t, NULL);
        cr_expect_eq(t.r.item_count, stepped == 1 ? 1 : 7, "%zu", t.r.item_count);
        lapse_testing_close(&t);
    }
}

Test(session, a_name_is_open_to_one_owner) {
    struct lapse_testing t;
    open_s(&t, 0);
    lapse_testing_at(&t, S(1));
    uint64_t before = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
    cr_expect_eq(session(&t, LAPSE_VERB_SESSION, "s", "w1", S(99)), LAPSE_OK);
    cr_expect(t.r.renewed && t.r.token == 1 && t.r.end.ns == S(10) && t.r.left.ns == S(9));
    cr_expect_eq(session(&t, LAPSE_VERB_SESSION, "s", "w2", S(99)), LAPSE_HELD);
    cr_expect(!t.r.renewed && t.r.token == 0 && t.r.left.ns == S(9));
    cr_expect(lapse_testing_is(t.r.owner, "w1"));
    cr_expect_eq(session(&t, LAPSE_VERB_KEEPALIVE, "s", "w2", S(99)), LAPSE_LOST);
    cr_expect_eq(session(&t, LAPSE_VERB_CLOSE, "s", "w2", 0), LAPSE_LOST);
    cr_expect_eq(session(&t, LAPSE_VERB_KEEPALIVE, "never", "w1", 0), LAPSE_LOST);
    cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), before);
    lapse_testing_at(&t, S(10));
    cr_expect_eq(session(&t, LAPSE_VERB_SESSION, "s", "w2", S(5)), LAPSE_OK);
    cr_expect(t.r.token == 2 && t.r.left.ns == S(5));
    lapse_testing_close(&t);
}

Test(session, a_write_with_one_that_is_not_live_is_lost_and_changes_nothing) {
    static const enum lapse_verb verbs[] = {LAPSE_VERB_SET, LAPSE_VERB_CREATE, LAPSE_VERB_UPDATE,
                                            LAPSE_VERB_EXPIRE};
    static const char *const names[] = {"never", "closed", "ended"};
    struct lapse_testing t;
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", 0, 0, S(60));
    cr_assert_eq(session(&t, LAPSE_VERB_SESSION, "closed", "w1", S(90)), LAPSE_OK);
    cr_assert_eq(session(&t, LAPSE_VERB_SESSION, "ended", "w1", S(3)), LAPSE_OK);
    cr_assert_eq(call(&t, LAPSE_VERB_SET, "live"), LAPSE_OK);
    lapse_testing_at(&t, S(3));
    cr_assert_eq(session(&t, LAPSE_VERB_CLOSE, "closed", "w1", 0), LAPSE_OK);
    uint64_t before = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
    for (int n = 0; n < 3; n++) {
        for (int v = 0; v < 4; v++) {
            for (int k = 0; k < 2; k++) {
                struct lapse_command command = {.verb = verbs[v],
                                                .bucket = lapse_bytes_of("b"),
                                                .key = lapse_bytes_of(k == 0 ? "live" : "none")};
                command.u.write.term.given = LAPSE_TERM_SESSION;
                command.u.write.term.session = lapse_bytes_of(names[n]);
                command.u.write.has_if_version = verbs[v] == LAPSE_VERB_UPDATE;
                command.u.write.if_version = 1;
                enum lapse_status status = lapse_apply(t.store, &command, &t.r, &t.err);
                cr_expect_eq(status, LAPSE_LOST, "%s: %s", lapse_verb_word(verbs[v]),
                             lapse_status_word(status));
                cr_expect(t.r.revision == 0 && t.r.event_count == 0);
            }
        }
        cr_expect_eq(acquire(&t, "job", "w1", names[n]), LAPSE_LOST);
        cr_expect_eq(t.r.token, 0);
    }
    cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), before);
    lapse_testing_close(&t);
}

Test(session, another_term_takes_a_row_off_its_session) {
    static const struct {
        enum lapse_verb verb;
        unsigned given;
        enum lapse_status after; /* the close */
    } cases[] = {
        {LAPSE_VERB_SET, 0, LAPSE_OK},
        {LAPSE_VERB_SET, LAPSE_TERM_TTL, LAPSE_OK},
        {LAPSE_VERB_SET, LAPSE_TERM_EXPIRES_AT, LAPSE_OK},
        {LAPSE_VERB_EXPIRE, LAPSE_TERM_TTL, LAPSE_OK},
        {LAPSE_VERB_EXPIRE, LAPSE_TERM_IDLE, LAPSE_OK},
        {LAPSE_VERB_PERSIST, 0, LAPSE_OK},
        {LAPSE_VERB_DELETE, 0, LAPSE_ABSENT},
        {LAPSE_VERB_GET, 0, LAPSE_ABSENT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lapse_testing t;
        open_s(&t, S(60));
        lapse_testing_at(&t, S(1));
        cr_assert_eq(lapse_testing_do(&t, cases[i].verb, "b", "k", "v", cases[i].given, S(2000)),
                     LAPSE_OK, "%s", t.err.message);
        lapse_testing_check(&t);
        cr_assert_eq(session(&t, LAPSE_VERB_CLOSE, "s", "w1", 0), LAPSE_OK);
        cr_expect_eq(call(&t, LAPSE_VERB_HAS, "k"), cases[i].after, "case %zu", i);
        cr_expect_eq(call(&t, LAPSE_VERB_HAS, "l"), LAPSE_ABSENT);
        lapse_testing_close(&t);
    }
    struct lapse_testing t;
    open_s(&t, 0);
    lapse_testing_at(&t, S(1));
    cr_expect_eq(lapse_testing_lease(&t, LAPSE_VERB_EXTEND, "job", "w1", S(30)), LAPSE_OK);
    cr_expect(t.r.token == 1 && t.r.end.ns == S(31) && t.r.left.ns == S(30));
    cr_expect_eq(session(&t, LAPSE_VERB_CLOSE, "s", "w1", 0), LAPSE_OK);
    cr_expect_eq(lapse_testing_lease(&t, LAPSE_VERB_INSPECT, "job", "", 0), LAPSE_OK);
    cr_expect(t.r.token == 1 && t.r.end.ns == S(31));
    lapse_testing_at(&t, S(31));
    cr_expect_eq(lapse_testing_lease(&t, LAPSE_VERB_INSPECT, "job", "", 0), LAPSE_ABSENT);
    lapse_testing_close(&t);
}

Test(session, an_end_is_one_expired_event_of_the_reaper_or_of_the_next_write) {
    for (int written = 0; written < 2; written++) {
        struct lapse_testing t;
        open_s(&t, S(60));
        lapse_testing_at(&t, S(12));
        if (written == 1) {
            cr_assert_eq(call(&t, LAPSE_VERB_SET, "k"), LAPSE_OK);
            cr_assert(t.r.event_count == 2 && t.r.events[1].kind == LAPSE_EVENT_PUT);
        } else {
            lapse_testing_step(&t, NULL);
            cr_assert(t.r.event_count == 2 && lapse_testing_is(t.r.events[1].key, "l"));
        }
        const struct lapse_event *event = &t.r.events[0];
        cr_expect(event->kind == LAPSE_EVENT_EXPIRED && event->why == LAPSE_WHY_SESSION);
        cr_expect(lapse_testing_is(event->key, "k") && event->old_revision == 1);
        cr_expect_eq(event->revision, 3);
        lapse_testing_step(&t, NULL);
        cr_expect_eq(t.r.event_count, written == 1 ? 1 : 0);
        lapse_testing_close(&t);
    }
}

/* Rows that all end at 10 s, in an order of writing that is not the order of reaping: two sessions
 * over two buckets, a ttl, a date, leases. */
static void write_ends(struct lapse_testing *t) {
    lapse_testing_bucket(t, "b", 0, 0, S(60));
    lapse_testing_bucket(t, "a", 0, 0, S(60));
    session(t, LAPSE_VERB_SESSION, "s1", "w1", S(10));
    session(t, LAPSE_VERB_SESSION, "s2", "w1", S(20));
    acquire(t, "j1", "w1", "s2");
    with(t, LAPSE_VERB_SET, "b", "k1", "s2");
    with(t, LAPSE_VERB_SET, "a", "k1", "s1");
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "k2", "v", LAPSE_TERM_TTL, S(10));
    lapse_testing_do(t, LAPSE_VERB_SET, "a", "k2", "v", LAPSE_TERM_EXPIRES_AT, S(1010));
    with(t, LAPSE_VERB_SET, "a", "k3", "s2");
    with(t, LAPSE_VERB_SET, "b", "k3", "s1");
    lapse_testing_lease(t, LAPSE_VERB_ACQUIRE, "j2", "w1", S(10));
    acquire(t, "j3", "w1", "s1");
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "first", "v", LAPSE_TERM_TTL, S(9));
    lapse_testing_at(t, S(10));
    session(t, LAPSE_VERB_CLOSE, "s2", "w1", 0);
}

Test(session, its_rows_are_reaped_in_the_order_of_all_ends_and_it_goes_last) {
    static const char *const order[] = {"first", "k1", "k1", "k2", "k2", "k3", "k3"};
    static const char *const buckets[] = {"b", "a", "b", "a", "b", "a", "b"};
    enum { ROWS = 12, EVENTS = 7 }; /* 7 keys, 3 leases, 2 sessions */
    for (size_t most = 1; most <= ROWS; most++) {
        struct lapse_testing t;
        struct lapse_testing_journal journal;
        lapse_testing_journal_init(&journal);
        lapse_testing_open_with(&t, &journal, 0);
        write_ends(&t);
        size_t rows = 0;
        size_t events = 0;
        while (rows < ROWS) {
            cr_assert_eq(lapse_step(t.store, most, &t.r, NULL, &t.err), LAPSE_OK);
            cr_assert_eq(t.r.item_count, ROWS - rows < most ? ROWS - rows : most);
            rows += t.r.item_count;
            for (size_t i = 0; i < t.r.event_count; i++, events++) {
                cr_assert_lt(events, EVENTS);
                cr_expect(lapse_testing_is(t.r.events[i].key, order[events]) &&
                              lapse_testing_is(t.r.events[i].bucket, buckets[events]),
                          "event %zu in steps of %zu", events, most);
            }
            cr_expect_eq(session(&t, LAPSE_VERB_KEEPALIVE, "s1", "w1", 0), LAPSE_LOST);
            cr_expect_eq(call(&t, LAPSE_VERB_COUNT, ""), LAPSE_OK);
            cr_expect_eq(t.r.item_count, 0, "what had ended came back (KV-04)");
            lapse_testing_check(&t);
            lapse_testing_journal_same(&journal, t.store);
            lapse_close(t.store);
            journal.closed = false;
            cr_assert_eq(lapse_open(&t.options, &t.store, &t.err), LAPSE_OK, "%s", t.err.message);
        }
        cr_expect_eq(events, EVENTS);
        lapse_testing_step(&t, NULL);
        cr_expect_eq(t.r.item_count, 0);
        lapse_testing_close(&t);
        lapse_testing_journal_finish(&journal);
    }
}

Test(session, impossible_arguments_are_refused_and_named) {
    static const struct {
        enum lapse_verb verb;
        const char *name, *owner;
        int64_t span;
        enum lapse_status want;
        const char *said;
    } cases[] = {
        {LAPSE_VERB_SESSION, "", "w1", S(1), LAPSE_INVALID, "session name is empty"},
        {LAPSE_VERB_SESSION, "n", "", S(1), LAPSE_INVALID, "owner is empty"},
        {LAPSE_VERB_SESSION, "n", "w1", 0, LAPSE_INVALID, "0s"},
        {LAPSE_VERB_SESSION, "n", "w1", -1, LAPSE_INVALID, "-1ns"},
        {LAPSE_VERB_SESSION, "n", "w1", INT64_MAX, LAPSE_RANGE, "range"},
        {LAPSE_VERB_KEEPALIVE, "s", "", S(1), LAPSE_INVALID, "owner is empty"},
        {LAPSE_VERB_KEEPALIVE, "s", "w1", -1, LAPSE_INVALID, "-1ns"},
        {LAPSE_VERB_KEEPALIVE, "s", "w1", INT64_MAX, LAPSE_RANGE, "range"},
        {LAPSE_VERB_CLOSE, "", "w1", 0, LAPSE_INVALID, "session name is empty"},
    };
    struct lapse_testing t;
    open_s(&t, 0);
    lapse_testing_at(&t, 1);
    uint64_t before = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum lapse_status status =
            session(&t, cases[i].verb, cases[i].name, cases[i].owner, cases[i].span);
        cr_expect_eq(status, cases[i].want, "case %zu: %s", i, lapse_status_word(status));
        cr_expect_not_null(strstr(t.err.message, cases[i].said), "case %zu: %s", i, t.err.message);
    }
    struct lapse_command both = {.verb = LAPSE_VERB_ACQUIRE, .key = lapse_bytes_of("job")};
    both.u.lease.owner = lapse_bytes_of("w1");
    both.u.lease.session = lapse_bytes_of("s");
    both.u.lease.span.ns = S(5);
    cr_expect_eq(lapse_apply(t.store, &both, &t.r, &t.err), LAPSE_INVALID);
    cr_expect_not_null(strstr(t.err.message, "5s and a session"), "%s", t.err.message);
    both.u.lease.span.ns = 0;
    both.u.lease.durability = LAPSE_EPHEMERAL;
    cr_expect_eq(lapse_apply(t.store, &both, &t.r, &t.err), LAPSE_INVALID);
    struct lapse_bucket_config config = {.term = {.given = LAPSE_TERM_SESSION}};
    config.term.session = lapse_bytes_of("s");
    cr_expect_eq(lapse_bucket_open(t.store, lapse_bytes_of("n"), &config, &t.r, &t.err),
                 LAPSE_INVALID);
    cr_expect_not_null(strstr(t.err.message, "session"), "%s", t.err.message);
    cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), before);
    lapse_testing_close(&t);
}

/* A batch may write a key, open a session and write the key again with it; the undo list holds the
 * key before the session then. */
Test(session, a_rollback_frees_it_after_what_was_to_end_with_it) {
    struct lapse_testing t;
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", LAPSE_TERM_TTL, S(50), 0);
    cr_assert_eq(call(&t, LAPSE_VERB_SET, "k"), LAPSE_OK);
    uint64_t before = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
    struct lapse_state *state = &t.store->state;
    struct lapse_bucket *bucket = lapse_state_bucket(state, lapse_bytes_of("b"));
    struct lapse_node *key = lapse_table_find(&bucket->records, lapse_bytes_of("k"));
    lapse_txn_begin(state);
    cr_assert(lapse_txn_touch(state, key));
    struct lapse_command command = {.verb = LAPSE_VERB_SESSION, .key = lapse_bytes_of("n")};
    command.u.session.owner = lapse_bytes_of("w1");
    command.u.session.span.ns = S(9);
    struct lapse_job job = {.state = state, .command = &command, .result = &t.r};
    cr_assert_eq(lapse_session_begin(&job), LAPSE_OK);
    struct lapse_image image = {.present = true, .revision = key->now.revision};
    image.source = LAPSE_SOURCE_SESSION;
    image.blob = key->now.blob;
    image.blob_len = key->now.blob_len;
    cr_assert_eq(lapse_session_join(&job, command.key, &image), LAPSE_OK);
    cr_assert(lapse_state_reserve_end(state, &image));
    lapse_txn_set(state, key, &image);
    cr_expect_eq(lapse_state_end(&key->now).ns, S(9));
    lapse_txn_rollback(state);
    cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), before);
    cr_expect_eq(state->session, 0);
    lapse_testing_close(&t);
}
