/* What else a term can say: a cap on idle renewals, keeping the end that is there, and reads that
 * look without using. */
#include "testing.h"

#include <criterion/criterion.h>
#include <string.h>

static struct lapse_term idle(int64_t span, int64_t cap) {
    return (struct lapse_term){.given = LAPSE_TERM_IDLE, .idle = {span}, .cap = {cap}};
}

static enum lapse_status set(struct lapse_testing *t, enum lapse_verb verb, const char *key,
                             struct lapse_term term) {
    struct lapse_command command = {
        .verb = verb, .bucket = lapse_bytes_of("b"), .key = lapse_bytes_of(key)};
    command.u.write.value = lapse_bytes_of("v");
    command.u.write.term = term;
    return lapse_apply(t->store, &command, &t->r, &t->err);
}

static enum lapse_status get(struct lapse_testing *t, const char *key) {
    return lapse_testing_do(t, LAPSE_VERB_GET, "b", key, NULL, 0, 0);
}

static void open_b(struct lapse_testing *t, struct lapse_testing_journal *journal,
                   struct lapse_term term) {
    struct lapse_bucket_config config = {.term = term};
    lapse_testing_open_with(t, journal, 0);
    cr_assert_eq(lapse_bucket_open(t->store, lapse_bytes_of("b"), &config, &t->r, &t->err),
                 LAPSE_OK, "%s", t->err.message);
}

/* The term may come from the bucket, from the write, or from an expire at 5 s. */
Test(cap, no_use_moves_the_end_past_the_write_plus_cap) {
    for (int way = 0; way < 6; way++) {
        struct lapse_testing t;
        struct lapse_testing_journal journal;
        int64_t from = way % 3 == 2 ? S(5) : 0;
        struct lapse_term none = {.given = 0};
        lapse_testing_journal_init(&journal);
        open_b(&t, &journal, way % 3 == 0 ? idle(S(30), S(70)) : none);
        set(&t, LAPSE_VERB_SET, "k", way % 3 == 1 ? idle(S(30), S(70)) : none);
        lapse_testing_at(&t, from);
        if (way % 3 == 2) {
            set(&t, LAPSE_VERB_EXPIRE, "k", idle(S(30), S(70)));
        }
        static const int64_t uses[] = {20, 40, 41, 55, 56, 69};
        static const int64_t ends[] = {50, 70, 70, 70, 70, 70};
        for (int i = 0; i < 6; i++) {
            lapse_testing_at(&t, from + S(uses[i]));
            cr_assert_eq(get(&t, "k"), LAPSE_OK);
            cr_expect_eq(t.r.end.ns, from + S(ends[i]), "use %d", i);
            cr_expect_eq(t.r.left.ns, S(ends[i] - uses[i]));
            cr_expect_eq(t.r.renewed, i < 2, "use %d", i);
            if (way >= 3) {
                lapse_testing_at(&t, from + S(uses[i]) + LAPSE_NS_PER_S / 2);
                lapse_close(t.store);
                journal.closed = false;
                cr_assert_eq(lapse_open(&t.options, &t.store, &t.err), LAPSE_OK, "%s",
                             t.err.message);
            }
            lapse_testing_check(&t);
            /* A renewal put off is lost at a close unless little was left; write the first. */
            if (way >= 3 && i == 0) {
                get(&t, "k");
                lapse_testing_at(&t, from + S(22));
                lapse_testing_step(&t, NULL);
            }
            if (way >= 3 && i == 1) {
                break;
            }
        }
        lapse_testing_at(&t, from + S(70));
        cr_expect_eq(get(&t, "k"), LAPSE_ABSENT);
        lapse_testing_step(&t, NULL);
        cr_expect_eq(t.r.item_count, 1);
        lapse_testing_close(&t);
        lapse_testing_journal_finish(&journal);
    }
}

Test(cap, a_cap_shorter_than_the_idle_span_is_the_end) {
    struct lapse_testing t;
    open_b(&t, NULL, idle(S(30), S(10)));
    set(&t, LAPSE_VERB_SET, "k", (struct lapse_term){.given = 0});
    cr_expect_eq(t.r.end.ns, S(10));
    lapse_testing_at(&t, S(9));
    cr_expect_eq(get(&t, "k"), LAPSE_OK);
    cr_expect_not(t.r.renewed);
    lapse_testing_at(&t, S(10));
    cr_expect_eq(get(&t, "k"), LAPSE_ABSENT);
    lapse_testing_close(&t);
}

Test(cap, a_flush_keeps_the_cap) {
    struct lapse_testing t;
    open_b(&t, NULL, idle(S(100), S(110)));
    set(&t, LAPSE_VERB_SET, "k", (struct lapse_term){.given = 0});
    struct lapse_command flush = {
        .verb = LAPSE_VERB_FLUSH, .bucket = lapse_bytes_of("b"), .key = lapse_bytes_of("k")};
    flush.u.flush.revision = 1;
    flush.u.flush.used.ns = S(50);
    flush.u.flush.end = (struct lapse_end){LAPSE_END_STEADY, S(100)};
    lapse_testing_at(&t, S(60));
    lapse_apply(t.store, &flush, &t.r, &t.err);
    cr_expect(t.r.renewed);
    flush.u.flush.used.ns = S(55);
    flush.u.flush.end.ns = S(110);
    lapse_apply(t.store, &flush, &t.r, &t.err);
    cr_expect_not(t.r.renewed, "it moves no end");
    lapse_testing_at(&t, S(109));
    get(&t, "k");
    cr_expect_eq(t.r.end.ns, S(110));
    lapse_testing_close(&t);
}

Test(cap, caps_that_cannot_be_are_refused_and_named) {
    static const struct {
        struct lapse_term term;
        enum lapse_status want;
        const char *said;
    } cases[] = {
        {{.given = LAPSE_TERM_IDLE, .idle = {S(1)}, .cap = {-1}}, LAPSE_INVALID, "-1ns"},
        {{.given = LAPSE_TERM_TTL, .ttl = {S(1)}, .cap = {S(9)}}, LAPSE_INVALID, "9s"},
        {{.given = LAPSE_TERM_EXPIRES_AT, .cap = {S(9)}}, LAPSE_INVALID, "without an idle span"},
        {{.given = 0, .cap = {S(9)}}, LAPSE_INVALID, "without an idle span"},
        {{.given = LAPSE_TERM_IDLE, .idle = {S(1)}, .cap = {INT64_MAX}}, LAPSE_RANGE, "shorter"},
        {{.given = LAPSE_TERM_IDLE, .idle = {0}, .cap = {S(9)}}, LAPSE_INVALID, "0s"},
        {{.given = LAPSE_TERM_KEEP | LAPSE_TERM_TTL, .ttl = {S(1)}}, LAPSE_INVALID, "keep"},
    };
    struct lapse_testing t;
    open_b(&t, NULL, (struct lapse_term){.given = 0});
    lapse_testing_at(&t, S(1));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_expect_eq(set(&t, LAPSE_VERB_SET, "k", cases[i].term), cases[i].want, "case %zu", i);
        cr_expect_not_null(strstr(t.err.message, cases[i].said), "case %zu: %s", i, t.err.message);
        struct lapse_bucket_config config = {.term = cases[i].term};
        if (cases[i].want == LAPSE_INVALID) {
            cr_expect_eq(lapse_bucket_open(t.store, lapse_bytes_of("c"), &config, &t.r, &t.err),
                         LAPSE_INVALID, "case %zu", i);
        }
    }
    struct lapse_bucket_config keep = {.term = {.given = LAPSE_TERM_KEEP}};
    cr_expect_eq(lapse_bucket_open(t.store, lapse_bytes_of("c"), &keep, &t.r, &t.err),
                 LAPSE_INVALID);
    lapse_testing_close(&t);
}

/* KV-14: every kind of end stays as it is, its span, its source and an idle one's last use too. */
Test(keep, a_write_on_a_live_key_keeps_its_end) {
    static const struct lapse_term keep = {.given = LAPSE_TERM_KEEP};
    const struct lapse_term terms[] = {
        {.given = 0},
        {.given = LAPSE_TERM_TTL, .ttl = {S(40)}},
        {.given = LAPSE_TERM_EXPIRES_AT, .expires_at = {S(1040)}},
        idle(S(40), 0),
        idle(S(40), S(60)),
    };
    for (uint32_t way = 0; way < 10; way++) {
        struct lapse_testing t;
        const struct lapse_term *term = &terms[way % 5];
        struct lapse_bucket_config config = {.term = {.given = LAPSE_TERM_TTL, .ttl = {S(5)}},
                                             .history = 1 + way / 5};
        lapse_testing_open(&t);
        lapse_bucket_open(t.store, lapse_bytes_of("b"), &config, &t.r, &t.err);
        set(&t, LAPSE_VERB_SET, "k", *term);
        if (term->given == 0) {
            lapse_testing_do(&t, LAPSE_VERB_PERSIST, "b", "k", NULL, 0, 0);
        }
        struct lapse_end end = t.r.end;
        lapse_testing_at(&t, S(4));
        cr_expect_eq(set(&t, LAPSE_VERB_SET, "k", keep), LAPSE_OK);
        cr_expect_eq(t.r.revision, 2);
        cr_expect_eq(t.r.end.kind, end.kind);
        cr_expect_eq(t.r.end.ns, end.ns, "way %u", (unsigned)way);
        struct lapse_command update = {.verb = LAPSE_VERB_UPDATE, .bucket = lapse_bytes_of("b"),
                                       .key = lapse_bytes_of("k")};
        update.u.write.term = keep;
        update.u.write.has_if_version = true;
        update.u.write.if_version = 2;
        cr_expect_eq(lapse_apply(t.store, &update, &t.r, &t.err), LAPSE_OK);
        cr_expect_eq(t.r.end.ns, end.ns);
        lapse_testing_at(&t, S(30));
        get(&t, "k");
        bool idles = term->given == LAPSE_TERM_IDLE;
        cr_expect_eq(t.r.end.ns, !idles ? end.ns : term->cap.ns > 0 ? S(60) : S(70));
        cr_expect_eq(t.r.renewed, idles);
        lapse_testing_close(&t);
    }
}

Test(keep, on_an_absent_key_it_counts_as_no_term_of_its_own) {
    static const struct lapse_term keep = {.given = LAPSE_TERM_KEEP};
    struct lapse_testing t;
    struct lapse_bucket_config config = {.term = {.given = LAPSE_TERM_TTL, .ttl = {S(5)}},
                                         .markers = {S(60)}};
    lapse_testing_open(&t);
    lapse_bucket_open(t.store, lapse_bytes_of("b"), &config, &t.r, &t.err);
    set(&t, LAPSE_VERB_SET, "k", keep);
    cr_expect_eq(t.r.end.ns, S(5));
    lapse_testing_at(&t, S(5));
    set(&t, LAPSE_VERB_SET, "k", keep);
    cr_expect_eq(t.r.end.ns, S(10), "it kept the end of a key that had ended");
    lapse_testing_do(&t, LAPSE_VERB_DELETE, "b", "k", NULL, 0, 0);
    set(&t, LAPSE_VERB_SET, "k", keep);
    cr_expect_eq(t.r.end.ns, S(10), "it kept the end of a tombstone");
    cr_expect_eq(set(&t, LAPSE_VERB_CREATE, "new", keep), LAPSE_INVALID);
    cr_expect_eq(set(&t, LAPSE_VERB_EXPIRE, "k", keep), LAPSE_INVALID);
    lapse_testing_close(&t);
}

/* KV-08: what only looks shows the end with all renewals counted and changes nothing. */
Test(peek, renews_nothing) {
    struct lapse_testing t;
    struct lapse_bytes b = lapse_bytes_of("b");
    struct lapse_bytes k = lapse_bytes_of("k");
    open_b(&t, NULL, idle(S(60), 0));
    set(&t, LAPSE_VERB_SET, "k", (struct lapse_term){.given = 0});
    lapse_testing_at(&t, S(20));
    for (int i = 0; i < 2; i++) {
        int64_t end = i == 0 ? S(60) : S(80);
        uint64_t tenure = lapse_testing_digest(t.store, LAPSE_PART_TENURE);
        cr_expect_eq(lapse_peek(t.store, b, k, &t.r, &t.err), LAPSE_OK);
        cr_expect(lapse_testing_is(t.r.value, "v"));
        cr_expect_eq(t.r.end.ns, end);
        cr_expect_eq(t.r.left.ns, end - S(20));
        cr_expect_not(t.r.renewed);
        lapse_get_revision(t.store, b, k, 1, &t.r, &t.err);
        cr_expect_eq(t.r.end.ns, end);
        lapse_history(t.store, b, k, &t.r, &t.err);
        cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_TENURE), tenure);
        get(&t, "k");
        cr_expect_eq(t.r.end.ns, S(80));
    }
    /* Little is left: a use would have to be durable first, a look not. */
    lapse_testing_at(&t, S(79));
    int64_t seq = t.r.command_seq;
    lapse_peek(t.store, b, k, &t.r, &t.err);
    cr_expect_eq(t.r.command_seq, seq + 1);
    cr_expect_eq(t.r.left.ns, S(1));
    lapse_testing_at(&t, S(80));
    cr_expect_eq(lapse_peek(t.store, b, k, &t.r, &t.err), LAPSE_ABSENT);
    lapse_testing_close(&t);
}
