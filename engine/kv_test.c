/* Keys: every verb's answer one nanosecond before the end and at it (KV-01, KV-03), the choice of
 * the term, conditional writes, and what a refused call leaves alone. */
#include "testing.h"

#include <criterion/criterion.h>
#include <string.h>

#define DO(verb, key, value) lapse_testing_do(&t, LAPSE_VERB_##verb, "b", key, value, 0, 0)

static void open_b(struct lapse_testing *t, unsigned given, int64_t span) {
    lapse_testing_open(t);
    lapse_testing_bucket(t, "b", given, span, 0);
}

static enum lapse_status at_version(struct lapse_testing *t, enum lapse_verb verb, const char *key,
                                    int64_t version) {
    struct lapse_command command = {
        .verb = verb, .bucket = lapse_bytes_of("b"), .key = lapse_bytes_of(key)};
    command.u.write.has_if_version = true;
    command.u.write.if_version = version;
    if (verb == LAPSE_VERB_EXPIRE) {
        command.u.write.term = (struct lapse_term){.given = LAPSE_TERM_TTL, .ttl = {S(9)}};
    }
    return lapse_apply(t->store, &command, &t->r, &t->err);
}

Test(kv, every_verb_sees_the_end_exactly) {
    static const struct {
        enum lapse_verb verb;
        enum lapse_status before, at;
    } cases[] = {
        {LAPSE_VERB_GET, LAPSE_OK, LAPSE_ABSENT},    {LAPSE_VERB_ENTRY, LAPSE_OK, LAPSE_ABSENT},
        {LAPSE_VERB_HAS, LAPSE_OK, LAPSE_ABSENT},    {LAPSE_VERB_SET, LAPSE_OK, LAPSE_OK},
        {LAPSE_VERB_CREATE, LAPSE_EXISTS, LAPSE_OK}, {LAPSE_VERB_DELETE, LAPSE_OK, LAPSE_ABSENT},
        {LAPSE_VERB_PURGE, LAPSE_OK, LAPSE_ABSENT},  {LAPSE_VERB_PERSIST, LAPSE_OK, LAPSE_ABSENT},
        {LAPSE_VERB_EXPIRE, LAPSE_OK, LAPSE_ABSENT},
    };
    static const unsigned terms[] = {LAPSE_TERM_TTL, LAPSE_TERM_IDLE, LAPSE_TERM_EXPIRES_AT};
    for (size_t i = 0; i < 3 * sizeof(cases) / sizeof(cases[0]); i++) {
        enum lapse_verb verb = cases[i / 3].verb;
        unsigned given = terms[i % 3];
        int64_t term = given == LAPSE_TERM_EXPIRES_AT ? S(1000) + S(15) : S(15);
        unsigned expire = verb == LAPSE_VERB_EXPIRE ? LAPSE_TERM_TTL : 0;
        for (int late = 0; late < 2; late++) {
            struct lapse_testing t;
            open_b(&t, 0, 0);
            lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", given, term);
            cr_assert_eq(t.r.left.ns, S(15));
            lapse_testing_at(&t, late ? S(15) : S(15) - 1);
            enum lapse_status status = lapse_testing_do(&t, verb, "b", "k", "w", expire, S(1));
            enum lapse_status want = late ? cases[i / 3].at : cases[i / 3].before;
            cr_expect_eq(status, want, "%s with term %u, late %d: %s", lapse_verb_word(verb), given,
                         late, lapse_status_word(status));
            lapse_testing_close(&t);
        }
    }
}

Test(kv, an_ended_key_conflicts_with_every_version) {
    static const enum lapse_verb verbs[] = {LAPSE_VERB_SET,    LAPSE_VERB_UPDATE,
                                            LAPSE_VERB_DELETE, LAPSE_VERB_PURGE,
                                            LAPSE_VERB_EXPIRE, LAPSE_VERB_PERSIST};
    struct lapse_testing t;
    open_b(&t, LAPSE_TERM_TTL, S(15));
    DO(SET, "k", "v");
    DO(SET, "k", "v");
    cr_assert_eq(t.r.revision, 2);
    uint64_t before = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
    for (int i = 0; i < 6; i++) {
        cr_expect_eq(at_version(&t, verbs[i], "k", 1), LAPSE_CONFLICT);
        cr_expect_eq(t.r.revision, 2, "a conflict says the live revision");
        cr_expect_eq(at_version(&t, verbs[i], "absent", 1), LAPSE_CONFLICT);
        cr_expect_eq(t.r.revision, 0);
    }
    lapse_testing_at(&t, S(15));
    for (int i = 0; i < 6; i++) {
        cr_expect_eq(at_version(&t, verbs[i], "k", 2), LAPSE_CONFLICT);
        cr_expect_eq(t.r.revision, 0);
    }
    cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), before,
                 "a refused call changed the state (CAS-05)");
    DO(CREATE, "k", "again");
    cr_expect_eq(t.r.revision, 3, "refused calls took revisions");
    cr_expect_eq(at_version(&t, LAPSE_VERB_UPDATE, "k", 3), LAPSE_OK);
    cr_expect_eq(at_version(&t, LAPSE_VERB_UPDATE, "k", 3), LAPSE_CONFLICT);
    lapse_testing_close(&t);
}

Test(kv, the_term_is_the_calls_own_else_the_default_else_none) {
    struct lapse_testing t;
    open_b(&t, LAPSE_TERM_TTL, S(15));
    lapse_testing_bucket(&t, "plain", 0, 0, 0);
    DO(SET, "default", "v");
    cr_expect_eq(t.r.end.ns, S(15));
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "own", "v", LAPSE_TERM_TTL, S(60));
    cr_expect_eq(t.r.end.ns, S(60));
    lapse_testing_do(&t, LAPSE_VERB_SET, "plain", "none", "v", 0, 0);
    cr_expect_eq(t.r.end.kind, LAPSE_END_NONE);
    cr_expect_eq(t.r.left.ns, 0);
    lapse_testing_at(&t, S(10));
    DO(SET, "own", "v");
    cr_expect_eq(t.r.end.ns, S(25), "a plain set starts a fresh default term (KV-07)");
    lapse_testing_do(&t, LAPSE_VERB_EXPIRE, "b", "own", NULL, LAPSE_TERM_IDLE, S(5));
    cr_expect_eq(t.r.end.ns, S(15), "expire may shorten");
    cr_expect_eq(t.r.revision, 3, "expire keeps the revision (KV-06)");
    DO(PERSIST, "own", NULL);
    cr_expect_eq(t.r.end.kind, LAPSE_END_NONE);
    lapse_testing_at(&t, S(1000000));
    cr_expect_eq(DO(GET, "own", NULL), LAPSE_OK);
    cr_expect(lapse_testing_is(t.r.value, "v"));
    cr_expect_eq(t.r.revision, 3);
    lapse_testing_close(&t);
}

Test(kv, impossible_arguments_are_refused_and_named) {
    static const struct {
        enum lapse_verb verb;
        const char *bucket, *key;
        unsigned given;
        int64_t term;
        enum lapse_status want;
        const char *said;
    } cases[] = {
        {LAPSE_VERB_SET, "b", "k", LAPSE_TERM_TTL, 0, LAPSE_INVALID, "0s"},
        {LAPSE_VERB_SET, "b", "k", LAPSE_TERM_IDLE, -1, LAPSE_INVALID, "-1ns"},
        {LAPSE_VERB_SET, "b", "k", LAPSE_TERM_TTL | LAPSE_TERM_IDLE, 5, LAPSE_INVALID, "ttl idle"},
        {LAPSE_VERB_SET, "b", "k", 64, 5, LAPSE_INVALID, "more than one"},
        {LAPSE_VERB_SET, "b", "k", LAPSE_TERM_SESSION, 5, LAPSE_INVALID, "has 0 bytes"},
        {LAPSE_VERB_SET, "b", "k", LAPSE_TERM_SESSION | LAPSE_TERM_TTL, 5, LAPSE_INVALID,
         "ttl session"},
        {LAPSE_VERB_SET, "b", "k", LAPSE_TERM_TTL, INT64_MAX, LAPSE_RANGE, "range"},
        {LAPSE_VERB_SET, "b", "", 0, 0, LAPSE_INVALID, "key is empty"},
        {LAPSE_VERB_GET, "", "k", 0, 0, LAPSE_INVALID, "bucket name is empty"},
        {LAPSE_VERB_GET, "no", "k", 0, 0, LAPSE_INVALID, "`no`"},
        {LAPSE_VERB_UPDATE, "b", "k", 0, 0, LAPSE_INVALID, "if_version"},
        {LAPSE_VERB_EXPIRE, "b", "k", 0, 0, LAPSE_INVALID, "no term"},
        {LAPSE_VERB_REAP, "", "", 0, 0, LAPSE_INVALID, "rows"},
        {LAPSE_VERB_POLL, "", "", 0, 0, LAPSE_INVALID, "events_max"},
        {LAPSE_VERB_UNWATCH, "", "", 0, 0, LAPSE_INVALID, "no watch"},
        {LAPSE_VERB_ACQUIRE, "", "name", 0, 0, LAPSE_INVALID, "owner"},
        {LAPSE_VERB_INSPECT, "", "", 0, 0, LAPSE_INVALID, "lease name"},
        {LAPSE_VERB_NONE, "b", "k", 0, 0, LAPSE_INVALID, "not the number of a verb"},
    };
    struct lapse_testing t;
    open_b(&t, 0, 0);
    lapse_testing_at(&t, 1);
    uint64_t before = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lapse_command command = {.verb = cases[i].verb,
                                        .bucket = lapse_bytes_of(cases[i].bucket),
                                        .key = lapse_bytes_of(cases[i].key)};
        if (cases[i].given != 0) {
            command.u.write.term = (struct lapse_term){.given = cases[i].given,
                                                       .ttl = {cases[i].term},
                                                       .idle = {cases[i].term},
                                                       .expires_at = {cases[i].term}};
        }
        enum lapse_status status = lapse_apply(t.store, &command, &t.r, &t.err);
        cr_expect_eq(status, cases[i].want, "case %zu: %s", i, lapse_status_word(status));
        cr_expect_not_null(strstr(t.err.message, cases[i].said), "case %zu: %s", i, t.err.message);
    }
    cr_expect_eq(at_version(&t, LAPSE_VERB_CREATE, "k", 1), LAPSE_INVALID);
    cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), before);
    lapse_testing_close(&t);
}

Test(kv, a_bucket_opens_again_with_the_same_words_only) {
    static const struct {
        struct lapse_bucket_config config;
        enum lapse_status want;
    } cases[] = {
        {{.term = {.given = LAPSE_TERM_TTL, .ttl = {S(15)}}}, LAPSE_OK},
        {{.term = {.given = LAPSE_TERM_TTL, .ttl = {S(15)}, .idle = {7}, .expires_at = {7}}},
         LAPSE_OK},
        {{.term = {.given = LAPSE_TERM_TTL, .ttl = {S(16)}}}, LAPSE_INVALID},
        {{.term = {.given = LAPSE_TERM_IDLE, .idle = {S(15)}}}, LAPSE_INVALID},
        {{.term = {.given = LAPSE_TERM_TTL, .ttl = {S(15)}}, .markers = {S(1)}}, LAPSE_INVALID},
        {{.term = {.given = 0}}, LAPSE_INVALID},
        {{.term = {.given = LAPSE_TERM_TTL | LAPSE_TERM_IDLE, .ttl = {1}, .idle = {1}}},
         LAPSE_INVALID},
        {{.term = {.given = LAPSE_TERM_EXPIRES_AT, .expires_at = {S(1)}}}, LAPSE_INVALID},
        {{.term = {.given = 0}, .markers = {-1}}, LAPSE_INVALID},
    };
    struct lapse_testing t;
    open_b(&t, LAPSE_TERM_TTL, S(15));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum lapse_status status =
            lapse_bucket_open(t.store, lapse_bytes_of("b"), &cases[i].config, &t.r, &t.err);
        cr_expect_eq(status, cases[i].want, "case %zu: %s", i, t.err.message);
    }
    lapse_testing_bucket(&t, "c", LAPSE_TERM_IDLE, S(7200), S(60));
    struct lapse_bucket_config other = {.term = {.given = LAPSE_TERM_TTL, .ttl = {S(60)}}};
    lapse_bucket_open(t.store, lapse_bytes_of("c"), &other, &t.r, &t.err);
    cr_expect_not_null(strstr(t.err.message, "idle 2h and markers 1m"), "%s", t.err.message);
    cr_expect_not_null(strstr(t.err.message, "ttl 1m and no markers"), "%s", t.err.message);
    lapse_testing_close(&t);
}

Test(kv, listings_show_live_keys_in_byte_order) {
    static const char *const keys[] = {"b", "a", "\xff", "ab", "B", "c", "d", "e", "f", "g"};
    static const char *const want[] = {"B", "a", "ab", "b", "d", "e", "f", "g", "\xff"};
    struct lapse_testing t;
    open_b(&t, LAPSE_TERM_TTL, S(15));
    for (int i = 0; i < 10; i++) {
        DO(SET, keys[i], keys[i]);
    }
    lapse_testing_do(&t, LAPSE_VERB_EXPIRE, "b", "c", NULL, LAPSE_TERM_TTL, S(5));
    lapse_testing_at(&t, S(5));
    cr_assert_eq(DO(ALL, NULL, NULL), LAPSE_OK);
    cr_assert_eq(t.r.item_count, 9);
    for (int i = 0; i < 9; i++) {
        cr_expect(lapse_testing_is(t.r.items[i].key, want[i]));
        cr_expect(lapse_testing_is(t.r.items[i].value, want[i]));
    }
    DO(LIST, NULL, NULL);
    cr_expect_eq(t.r.item_count, 9);
    cr_expect_eq(t.r.items[8].revision, 3);
    cr_expect_eq(t.r.items[8].value.len, 0);
    DO(COUNT, NULL, NULL);
    cr_expect_eq(t.r.item_count, 9);
    cr_expect_null(t.r.items);
    lapse_testing_at(&t, S(15));
    DO(LIST, NULL, NULL);
    cr_expect_eq(t.r.item_count, 0);
    lapse_testing_close(&t);
}

Test(kv, a_fresh_store_with_a_lease_is_small) {
    struct lapse_testing t;
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", LAPSE_TERM_TTL, S(15), 0);
    lapse_result_free(&t.r);
    DO(SET, "k", "v");
    lapse_testing_lease(&t, LAPSE_VERB_ACQUIRE, "jobs/nightly", "w1", S(30));
    lapse_result_free(&t.r);
    cr_expect_leq(t.alloc.bytes_out, 4096, "%zu bytes", t.alloc.bytes_out);
    lapse_testing_close(&t);
}
