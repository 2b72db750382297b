/* Bad input: arguments at their documented limits are taken, one past them are refused with a
 * sentence that names what was seen and what is wanted, and a refusal changes nothing, durable or
 * not. */
#include "testing.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define B(text) {(const unsigned char *)(text), sizeof(text) - 1}
#define CALL(word, bucket_, key_) .verb = LAPSE_VERB_##word, .bucket = B(bucket_), .key = B(key_)
#define LEASE(word, owner_, ns_)                                                                   \
    .verb = LAPSE_VERB_##word, .key = B("job"), .u.lease.owner = B(owner_), .u.lease.span = {ns_}

struct refusal {
    struct lapse_command command;
    enum lapse_status status;
    const char *seen, *wanted;
};

static const unsigned char big[LAPSE_KEY_BYTES_MAX + 1];
static const struct lapse_command nested[] = {{.verb = LAPSE_VERB_BATCH}};
static const struct lapse_command reading[] = {{CALL(GET, "b", "k")}};
static const struct lapse_command asking[] = {{CALL(SET, "b", "k"), .request = B("id")}};
static const struct lapse_command brief[] = {
    {LEASE(ACQUIRE, "w", S(1)), .u.lease.durability = LAPSE_EPHEMERAL}};
static const struct lapse_command half[] = {
    {CALL(SET, "b", "k"), .u.write.value = B("no")},
    {CALL(SET, "b", "k"), .u.write.term = {.given = LAPSE_TERM_TTL, .ttl = {-1}}},
};

#define TERM(bit, ...) .u.write.term = {.given = LAPSE_TERM_##bit, __VA_ARGS__}

static const struct refusal refusals[] = {
    {{.verb = LAPSE_VERB_NONE}, LAPSE_INVALID, "0", ""},
    {{.verb = (enum lapse_verb)31}, LAPSE_INVALID, "31", ""},
    {{.verb = (enum lapse_verb)-1}, LAPSE_INVALID, "", ""},
    {{CALL(SET, "none", "k")}, LAPSE_INVALID, "none", "open"},
    {{CALL(SET, "", "k")}, LAPSE_INVALID, "empty", "at least one byte"},
    {{CALL(SET, "b", "")}, LAPSE_INVALID, "key is empty", "at least one byte"},
    {{.verb = LAPSE_VERB_SET, .bucket = B("b"), .key = {big, sizeof(big)}}, LAPSE_INVALID, "4097",
     "4096"},
    {{.verb = LAPSE_VERB_OPEN, .bucket = {big, 256}}, LAPSE_INVALID, "256", "255"},
    {{CALL(SET, "b", "k"), .u.write.value = {big, LAPSE_VALUE_BYTES_MAX + 1}}, LAPSE_INVALID,
     "16777217", "16777216"},
    {{CALL(SET, "b", "k"), TERM(TTL, .ttl = {0})}, LAPSE_INVALID, "0", "above 0"},
    {{CALL(SET, "b", "k"), TERM(TTL, .ttl = {-1})}, LAPSE_INVALID, "-1ns", "above 0"},
    {{CALL(SET, "b", "k"), TERM(TTL, .ttl = {INT64_MIN})}, LAPSE_INVALID, "-", "above 0"},
    {{CALL(SET, "b", "k"), TERM(TTL, .ttl = {INT64_MAX})}, LAPSE_RANGE, "", ""},
    {{CALL(SET, "b", "k"), TERM(IDLE, .idle = {INT64_MAX})}, LAPSE_RANGE, "", ""},
    {{CALL(SET, "b", "k"), TERM(IDLE, .idle = {INT64_MIN})}, LAPSE_INVALID, "-", "above 0"},
    {{CALL(SET, "b", "k"), TERM(TTL, .ttl = {5}, .cap = {9})}, LAPSE_INVALID, "cap", "idle"},
    {{CALL(SET, "b", "k"), TERM(IDLE, .idle = {5}, .cap = {-1})}, LAPSE_INVALID, "-1ns", ""},
    {{CALL(SET, "b", "k"), TERM(TTL | LAPSE_TERM_IDLE, .ttl = {5}, .idle = {5})}, LAPSE_INVALID,
     "ttl idle", "one of"},
    {{CALL(SET, "b", "k"), TERM(TTL | LAPSE_TERM_EXPIRES_AT, .ttl = {5})}, LAPSE_INVALID,
     "ttl expires_at", "one of"},
    {{CALL(SET, "b", "k"), TERM(SESSION, .cap = {0})}, LAPSE_INVALID, "", ""},
    {{CALL(SET, "b", "k"), TERM(SESSION, .session = {big, sizeof(big)})}, LAPSE_INVALID, "4097",
     "4096"},
    {{CALL(CREATE, "b", "n"), TERM(KEEP, .cap = {0})}, LAPSE_INVALID, "keep", ""},
    {{CALL(CREATE, "b", "n"), .u.write.has_if_version = true}, LAPSE_INVALID, "if_version",
     "update"},
    {{CALL(UPDATE, "b", "k")}, LAPSE_INVALID, "no if_version", "use set"},
    {{CALL(EXPIRE, "b", "k")}, LAPSE_INVALID, "", ""},
    {{CALL(OPEN, "n", ""), .u.open.config.markers = {-1}}, LAPSE_INVALID, "-1ns", "above 0"},
    {{CALL(OPEN, "n", ""), .u.open.config.history = 65}, LAPSE_INVALID, "65", "64"},
    {{CALL(OPEN, "n", ""), .u.open.config.term = {.given = LAPSE_TERM_EXPIRES_AT}}, LAPSE_INVALID,
     "a date", "a ttl or an idle span"},
    {{CALL(OPEN, "b", ""), .u.open.config.history = 2}, LAPSE_INVALID, "history 1", "history 2"},
    {{CALL(ALTER, "b", ""), .u.open.config.markers = {INT64_MIN}}, LAPSE_INVALID, "-", "above 0"},
    {{.verb = LAPSE_VERB_LIST, .bucket = B("b"), .u.page.after = {big, sizeof(big)}},
     LAPSE_INVALID, "4097", "4096"},
    {{LEASE(ACQUIRE, "", S(1))}, LAPSE_INVALID, "owner is empty", "at least one byte"},
    {{LEASE(ACQUIRE, "w", 0)}, LAPSE_INVALID, "0", "above 0"},
    {{LEASE(ACQUIRE, "w", INT64_MIN)}, LAPSE_INVALID, "-", "above 0"},
    {{LEASE(ACQUIRE, "w", INT64_MAX)}, LAPSE_RANGE, "", ""},
    {{LEASE(ACQUIRE, "w", -1), .u.lease.durability = LAPSE_EPHEMERAL}, LAPSE_INVALID, "-1ns",
     "above 0"},
    {{LEASE(ACQUIRE, "w", INT64_MAX), .u.lease.durability = LAPSE_EPHEMERAL}, LAPSE_RANGE, "", ""},
    {{LEASE(ACQUIRE, "w", S(1)), .u.lease.durability = (enum lapse_durability)7}, LAPSE_INVALID,
     "7", "lapse_durability"},
    {{LEASE(ACQUIRE, "w", S(1)), .u.lease.session = B("s")}, LAPSE_INVALID, "1s", "span 0"},
    {{LEASE(ACQUIRE, "w", 0), .u.lease.session = B("s"), .u.lease.durability = LAPSE_EPHEMERAL},
     LAPSE_INVALID, "ephemeral", "persistent"},
    {{LEASE(EXTEND, "w", -5)}, LAPSE_INVALID, "-5ns", "above 0"},
    {{LEASE(EXTEND, "", 5)}, LAPSE_INVALID, "owner is empty", ""},
    {{LEASE(RELEASE, "", 0)}, LAPSE_INVALID, "owner is empty", ""},
    {{.verb = LAPSE_VERB_SESSION, .key = B("s"), .u.session.owner = B("w")}, LAPSE_INVALID, "0",
     "above 0"},
    {{.verb = LAPSE_VERB_SESSION, .key = B("s"), .u.session = {B("w"), {INT64_MAX}}}, LAPSE_RANGE,
     "", ""},
    {{.verb = LAPSE_VERB_SESSION, .key = B("s"), .u.session.span = {5}}, LAPSE_INVALID,
     "owner is empty", ""},
    {{.verb = LAPSE_VERB_KEEPALIVE, .key = B("s"), .u.session = {B("w"), {-3}}}, LAPSE_INVALID,
     "-3ns", ""},
    {{CALL(WATCH, "b", ""), .u.watch.from = (enum lapse_watch_from)9}, LAPSE_INVALID, "9", ""},
    {{CALL(WATCH, "b", ""), .u.watch.from = LAPSE_WATCH_REVISION}, LAPSE_INVALID, "revision 0",
     "begin at 1"},
    {{CALL(WATCH, "b", ""), .u.watch = {.from = LAPSE_WATCH_REVISION, .revision = INT64_MIN}},
     LAPSE_INVALID, "-9223372036854775808", "begin at 1"},
    {{.verb = LAPSE_VERB_POLL, .u.watch = {.watcher = 1}}, LAPSE_INVALID, "0 events", "above 0"},
    {{.verb = LAPSE_VERB_POLL, .u.watch = {.watcher = -1, .events_max = 1}}, LAPSE_INVALID, "-1",
     ""},
    {{.verb = LAPSE_VERB_UNWATCH, .u.watch.watcher = INT64_MAX}, LAPSE_INVALID,
     "9223372036854775807", ""},
    {{.verb = LAPSE_VERB_REAP}, LAPSE_INVALID, "0 rows", "above 0"},
    {{.verb = LAPSE_VERB_MARK, .u.mark.token = -1}, LAPSE_INVALID, "-1", "give 0"},
    {{.verb = LAPSE_VERB_MARK, .u.mark.ceiling_store = {-2}}, LAPSE_INVALID, "-2", "give 0"},
    {{.verb = LAPSE_VERB_MARK, .u.mark.ceiling_token = -3}, LAPSE_INVALID, "-3", "give 0"},
    {{.verb = LAPSE_VERB_MARK, .u.mark.ceiling_revision = 3}, LAPSE_INVALID, "no bucket", "name"},
    {{.verb = LAPSE_VERB_BATCH}, LAPSE_INVALID, "0", ""},
    {{.verb = LAPSE_VERB_BATCH, .u.batch = {LAPSE_BATCH_MAX + 1, half}}, LAPSE_INVALID, "4097",
     "4096"},
    {{.verb = LAPSE_VERB_BATCH, .u.batch = {1, nested}}, LAPSE_INVALID, "batch", ""},
    {{.verb = LAPSE_VERB_BATCH, .u.batch = {1, reading}}, LAPSE_INVALID, "get", ""},
    {{.verb = LAPSE_VERB_BATCH, .u.batch = {1, asking}}, LAPSE_INVALID, "request", ""},
    {{.verb = LAPSE_VERB_BATCH, .u.batch = {1, brief}}, LAPSE_INVALID, "ephemeral", ""},
    {{.verb = LAPSE_VERB_BATCH, .u.batch = {2, half}}, LAPSE_INVALID, "-1ns", "above 0"},
    {{CALL(GET, "b", "k"), .request = B("id")}, LAPSE_INVALID, "get", ""},
    {{CALL(SET, "b", "k"), .request = {big, 256}}, LAPSE_INVALID, "256", "255"},
};

static void open_store(struct lapse_testing *t) {
    lapse_testing_open(t);
    lapse_testing_bucket(t, "b", 0, 0, 0);
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "k", "v", LAPSE_TERM_IDLE, S(60));
    lapse_testing_lease(t, LAPSE_VERB_ACQUIRE, "held", "w", S(60));
    lapse_session_open(t->store, lapse_bytes_of("open"), lapse_bytes_of("w"),
                       (struct lapse_span){S(60)}, &t->r, &t->err);
    lapse_testing_at(t, S(10));
}

Test(limits, what_is_refused_says_what_was_seen_and_changes_nothing) {
    struct lapse_testing t;
    open_store(&t);
    uint64_t durable = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
    uint64_t tenure = lapse_testing_digest(t.store, LAPSE_PART_TENURE);
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const struct refusal *refusal = &refusals[i];
        t.err = (struct lapse_error){.status = LAPSE_OK};
        enum lapse_status status = lapse_apply(t.store, &refusal->command, &t.r, &t.err);
        cr_expect_eq(status, refusal->status, "case %zu, a %s: %s %s", i,
                     lapse_verb_word(refusal->command.verb), lapse_status_word(status),
                     t.err.message);
        cr_expect(t.err.status == status && t.err.message[0] != '\0', "case %zu says nothing", i);
        cr_expect(strstr(t.err.message, refusal->seen) != NULL &&
                      strstr(t.err.message, refusal->wanted) != NULL,
                  "case %zu wants `%s` and `%s`: %s", i, refusal->seen, refusal->wanted,
                  t.err.message);
        cr_expect(t.r.event_count == 0 && t.r.revision == 0 && t.r.token == 0);
        cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), durable, "case %zu", i);
        cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_TENURE), tenure, "case %zu", i);
        lapse_testing_check(&t);
    }
    lapse_testing_close(&t);
}

/* Any bytes, NUL among them, at every length that is allowed. */
Test(limits, what_is_at_its_limit_is_taken_whole) {
    static const size_t lens[] = {1, 2, 255, LAPSE_KEY_BYTES_MAX};
    struct lapse_testing t;
    unsigned char key[LAPSE_KEY_BYTES_MAX];
    unsigned char *value = malloc(LAPSE_VALUE_BYTES_MAX);
    cr_assert_not_null(value);
    memset(value, 0xee, LAPSE_VALUE_BYTES_MAX);
    open_store(&t);
    for (size_t i = 0; i < sizeof(key); i++) {
        key[i] = (unsigned char)(i * 31 % 256);
    }
    for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
        struct lapse_bytes name = {key, lens[i]};
        struct lapse_bytes stored = {value, i == 3 ? LAPSE_VALUE_BYTES_MAX : i};
        struct lapse_bytes b = lapse_bytes_of("b");
        cr_assert_eq(lapse_set(t.store, b, name, stored, NULL, NULL, &t.r, &t.err), LAPSE_OK);
        cr_assert_eq(lapse_get(t.store, b, name, &t.r, &t.err), LAPSE_OK);
        cr_expect(lapse_bytes_equal(t.r.value, stored));
        cr_assert_eq(lapse_acquire(t.store, name, name, (struct lapse_span){1}, &t.r, &t.err),
                     LAPSE_OK);
        cr_expect(lapse_bytes_equal(t.r.owner, name));
    }
    cr_assert_eq(lapse_list(t.store, lapse_bytes_of("b"), &t.r, &t.err), LAPSE_OK);
    cr_expect_eq(t.r.item_count, 5);
    lapse_testing_close(&t);
    free(value);
}

Test(limits, as_many_buckets_as_are_documented) {
    struct lapse_testing t;
    struct lapse_bucket_config config = {.history = 0};
    char name[16];
    lapse_testing_open(&t);
    for (int i = 0; i <= LAPSE_BUCKETS_MAX; i++) {
        (void)snprintf(name, sizeof(name), "b%d", i);
        enum lapse_status status =
            lapse_bucket_open(t.store, lapse_bytes_of(name), &config, &t.r, &t.err);
        cr_assert_eq(status, i < LAPSE_BUCKETS_MAX ? LAPSE_OK : LAPSE_INVALID, "bucket %d", i);
    }
    cr_expect_not_null(strstr(t.err.message, "4096 buckets are open"), "%s", t.err.message);
    lapse_testing_close(&t);
}

Test(limits, as_many_watches_as_are_documented) {
    struct lapse_testing t;
    struct lapse_bytes b = lapse_bytes_of("b");
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    for (int i = 0; i <= LAPSE_WATCHERS_MAX; i++) {
        enum lapse_status status =
            lapse_watch(t.store, b, lapse_bytes_of(""), LAPSE_WATCH_NOW, &t.r, &t.err);
        cr_assert_eq(status, i < LAPSE_WATCHERS_MAX ? LAPSE_OK : LAPSE_INVALID, "watch %d", i);
    }
    cr_expect_not_null(strstr(t.err.message, "65536 watches run"), "%s", t.err.message);
    lapse_testing_close(&t);
}

/* Numbers that have all been given: the next call is out of range, and nothing is half done. */
Test(limits, the_last_number_is_given_once) {
    struct lapse_testing t;
    struct lapse_span span = {S(60)};
    struct lapse_bytes w = lapse_bytes_of("w");
    open_store(&t);
    struct lapse_command mark = {.verb = LAPSE_VERB_MARK, .u.mark.token = INT64_MAX - 1};
    cr_assert_eq(lapse_apply(t.store, &mark, &t.r, &t.err), LAPSE_OK, "%s", t.err.message);
    cr_expect_eq(lapse_acquire(t.store, lapse_bytes_of("last"), w, span, &t.r, &t.err), LAPSE_OK);
    cr_expect_eq(t.r.token, INT64_MAX);
    uint64_t durable = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
    uint64_t tenure = lapse_testing_digest(t.store, LAPSE_PART_TENURE);
    cr_expect_eq(lapse_acquire(t.store, lapse_bytes_of("n"), w, span, &t.r, &t.err), LAPSE_RANGE);
    cr_expect_eq(lapse_acquire_ephemeral(t.store, lapse_bytes_of("n"), w, span, &t.r, &t.err),
                 LAPSE_RANGE);
    cr_expect_eq(lapse_acquire(t.store, lapse_bytes_of("last"), w, span, &t.r, &t.err), LAPSE_OK);
    cr_expect_eq(t.r.token, INT64_MAX);
    cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), durable);
    cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_TENURE), tenure);
    lapse_testing_close(&t);
}

static enum lapse_status broken(void *ctx, struct lapse_reading *ret) {
    struct lapse_clock_manual *manual = ctx;
    *ret = manual->now;
    return manual->now.boot == 0 ? LAPSE_IO : LAPSE_OK;
}

/* A clock that cannot be read: io, and nothing has happened; an open or a fork without one is told
 * what is missing. */
Test(limits, a_clock_that_cannot_be_read_is_io) {
    struct lapse_testing t;
    struct lapse *other = NULL;
    lapse_testing_open(&t);
    lapse_close(t.store);
    t.options.clock = (lapse_clock){broken, &t.clock};
    cr_assert_eq(lapse_open(&t.options, &t.store, &t.err), LAPSE_OK);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    uint64_t durable = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
    struct lapse_command set = {CALL(SET, "b", "k")};
    struct lapse_command before;
    enum lapse_class klass;
    t.clock.now.boot = 0;
    cr_expect_eq(lapse_apply(t.store, &set, &t.r, &t.err), LAPSE_IO);
    cr_expect_eq(lapse_step(t.store, 8, &t.r, NULL, &t.err), LAPSE_IO);
    cr_expect_eq(lapse_preceding(t.store, &set, &before, &t.err), LAPSE_IO);
    cr_expect_eq(lapse_resolve_class(t.store, &set, &klass, &t.err), LAPSE_IO);
    cr_expect_eq(lapse_open(&t.options, &other, &t.err), LAPSE_IO);
    cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), durable);
    t.clock.now.boot = 1;
    cr_expect_eq(lapse_apply(t.store, &set, &t.r, &t.err), LAPSE_OK);
    cr_expect_eq(lapse_fork(t.store, NULL, (lapse_clock){NULL, NULL}, &other, &t.err),
                 LAPSE_INVALID);
    cr_expect_not_null(strstr(t.err.message, "clock"));
    t.options.clock.read = NULL;
    cr_expect_eq(lapse_open(&t.options, &other, &t.err), LAPSE_INVALID);
    t.options.clock.read = broken;
    t.options.sync = (enum lapse_sync)9;
    cr_expect_eq(lapse_open(&t.options, &other, &t.err), LAPSE_INVALID);
    cr_expect_not_null(strstr(t.err.message, "9"), "%s", t.err.message);
    cr_expect_null(other);
    lapse_testing_close(&t);
}
