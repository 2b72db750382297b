/* Idle terms (KV-08, KV-09, KV-12): when a use renews, when the renewal is durable, and what a
 * flush must not do. Durable is what the durable digest shows. */
#include "testing.h"

#include <criterion/criterion.h>

static void open_b(struct lapse_testing *t, int64_t span) {
    lapse_testing_open(t);
    lapse_testing_bucket(t, "b", LAPSE_TERM_IDLE, span, 0);
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "k", "v", 0, 0);
}

static enum lapse_status use(struct lapse_testing *t, enum lapse_verb verb) {
    return lapse_testing_do(t, verb, "b", "k", NULL, 0, 0);
}

static uint64_t durable(struct lapse_testing *t) {
    return lapse_testing_digest(t->store, LAPSE_PART_DURABLE);
}

static bool deferred(struct lapse_testing *t) {
    struct lapse_testing fresh;
    lapse_testing_open(&fresh);
    uint64_t none = lapse_testing_digest(fresh.store, LAPSE_PART_TENURE);
    lapse_testing_close(&fresh);
    return lapse_testing_digest(t->store, LAPSE_PART_TENURE) != none;
}

Test(idle, a_use_renews_from_a_thirtieth_of_the_span_on) {
    static const enum lapse_verb verbs[] = {LAPSE_VERB_GET,  LAPSE_VERB_ENTRY, LAPSE_VERB_HAS,
                                            LAPSE_VERB_LIST, LAPSE_VERB_ALL,   LAPSE_VERB_COUNT};
    for (int i = 0; i < 6; i++) {
        struct lapse_testing t;
        open_b(&t, S(30) + 29);
        lapse_testing_at(&t, S(1) - 1);
        use(&t, verbs[i]);
        cr_expect_not(t.r.renewed, "%s renewed early", lapse_verb_word(verbs[i]));
        lapse_testing_at(&t, S(1));
        use(&t, verbs[i]);
        cr_expect_eq(t.r.renewed, i < 3, "%s", lapse_verb_word(verbs[i]));
        lapse_testing_at(&t, S(30) + 29);
        cr_expect_eq(use(&t, LAPSE_VERB_COUNT), LAPSE_OK);
        cr_expect_eq(t.r.item_count, i < 3 ? 1 : 0, "%s", lapse_verb_word(verbs[i]));
        lapse_testing_close(&t);
    }
}

Test(idle, a_renewal_is_deferred_or_durable_by_what_was_left) {
    static const struct {
        int64_t span, at;
        bool durable;
    } cases[] = {
        {S(10), S(5), false},
        {S(10), S(5) + 1, true}, /* half the span */
        {S(600), S(540), false},
        {S(600), S(540) + 1, true}, /* 60 s */
        {S(3), S(1), false},
        {S(3), S(1) + 1, true}, /* 2 s */
        {S(1), LAPSE_NS_PER_S / 2, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lapse_testing t;
        open_b(&t, cases[i].span);
        uint64_t before = durable(&t);
        lapse_testing_at(&t, cases[i].at);
        use(&t, LAPSE_VERB_GET);
        cr_expect(t.r.renewed);
        cr_expect_eq(t.r.end.ns, cases[i].at + cases[i].span, "the new end holds at once");
        cr_expect_eq(t.r.left.ns, cases[i].span);
        cr_expect_eq(durable(&t) != before, cases[i].durable, "case %zu", i);
        cr_expect_eq(deferred(&t), !cases[i].durable, "case %zu", i);
        lapse_testing_close(&t);
    }
}

Test(idle, a_deferred_renewal_is_flushed_within_a_second) {
    struct lapse_testing t;
    open_b(&t, S(60));
    struct lapse_due due;
    lapse_testing_at(&t, S(10));
    use(&t, LAPSE_VERB_GET);
    lapse_next_due(t.store, &due);
    cr_expect(due.has_steady && due.steady.ns == S(11));
    uint64_t before = durable(&t);
    lapse_testing_at(&t, S(11) - 1);
    lapse_testing_step(&t, &due);
    cr_expect_eq(durable(&t), before);
    lapse_testing_at(&t, S(11));
    lapse_testing_step(&t, &due);
    cr_expect_neq(durable(&t), before);
    cr_expect_not(deferred(&t));
    cr_expect_eq(due.steady.ns, S(70), "the flush carries the instant of use");
    lapse_testing_at(&t, S(70) - 1);
    cr_expect_eq(use(&t, LAPSE_VERB_COUNT), LAPSE_OK);
    cr_expect_eq(t.r.item_count, 1);
    lapse_testing_at(&t, S(70));
    cr_expect_eq(use(&t, LAPSE_VERB_GET), LAPSE_ABSENT);
    lapse_testing_close(&t);
}

Test(idle, a_flush_precedes_every_write_and_reap_of_its_key) {
    static const struct {
        enum lapse_verb verb;
        unsigned given;
    } cases[] = {
        {LAPSE_VERB_SET, 0},     {LAPSE_VERB_EXPIRE, LAPSE_TERM_TTL},
        {LAPSE_VERB_PERSIST, 0}, {LAPSE_VERB_DELETE, 0},
        {LAPSE_VERB_PURGE, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lapse_testing t;
        open_b(&t, S(60));
        lapse_testing_at(&t, S(30));
        use(&t, LAPSE_VERB_GET);
        cr_expect(deferred(&t));
        /* Past the stored end, within the renewed one: the write must find the key live. */
        lapse_testing_at(&t, S(60) + 5);
        cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_CREATE, "b", "k", "w", 0, 0), LAPSE_EXISTS);
        cr_expect_not(deferred(&t), "a replica that is fed the call would find the key ended");
        enum lapse_status status =
            lapse_testing_do(&t, cases[i].verb, "b", "k", "w", cases[i].given, S(100));
        cr_expect_eq(status, LAPSE_OK, "%s: %s", lapse_verb_word(cases[i].verb),
                     lapse_status_word(status));
        cr_expect_not(deferred(&t));
        lapse_testing_close(&t);
    }
    struct lapse_testing t;
    open_b(&t, S(60));
    lapse_testing_at(&t, S(30));
    use(&t, LAPSE_VERB_GET);
    lapse_testing_at(&t, S(60) + 5);
    lapse_testing_step(&t, NULL);
    cr_expect_eq(t.r.item_count, 0, "the reaper took a renewed key (KV-05)");
    cr_expect_eq(use(&t, LAPSE_VERB_GET), LAPSE_OK);
    lapse_testing_close(&t);
}

Test(idle, a_flush_that_does_not_fit_changes_nothing) {
    static const struct {
        int64_t used, revision, end;
        bool fits;
    } cases[] = {
        {S(30), 1, S(60), true},      {S(60) - 1, 1, S(60), true}, {S(60), 1, S(60), false},
        {S(30), 2, S(60), false},     {S(30), 1, S(61), false},    {0, 1, S(60), false},
        {INT64_MAX, 1, S(60), false}, {-5, 1, S(60), false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lapse_testing t;
        open_b(&t, S(60));
        uint64_t before = durable(&t);
        lapse_testing_at(&t, S(90)); /* the instant of use decides, not that of the flush */
        struct lapse_command flush = {
            .verb = LAPSE_VERB_FLUSH, .bucket = lapse_bytes_of("b"), .key = lapse_bytes_of("k")};
        flush.u.flush.used.ns = cases[i].used;
        flush.u.flush.revision = cases[i].revision;
        flush.u.flush.end = (struct lapse_end){LAPSE_END_STEADY, cases[i].end};
        cr_expect_eq(lapse_apply(t.store, &flush, &t.r, &t.err), LAPSE_OK);
        cr_expect_eq(t.r.renewed, cases[i].fits, "case %zu", i);
        cr_expect_eq(durable(&t) != before, cases[i].fits, "case %zu", i);
        lapse_testing_close(&t);
    }
}

Test(idle, a_key_with_its_own_term_is_not_renewed) {
    struct lapse_testing t;
    open_b(&t, S(60));
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", LAPSE_TERM_TTL, S(20));
    lapse_testing_at(&t, S(19));
    use(&t, LAPSE_VERB_GET);
    cr_expect_not(t.r.renewed);
    lapse_testing_at(&t, S(20));
    cr_expect_eq(use(&t, LAPSE_VERB_GET), LAPSE_ABSENT);
    lapse_testing_close(&t);
}

Test(idle, uses_write_at_most_once_a_thirtieth) {
    struct lapse_testing t;
    open_b(&t, S(30));
    uint64_t digest = durable(&t);
    int writes = 0;
    for (int64_t ns = 0; ns < S(60); ns += 100 * LAPSE_NS_PER_MS) {
        lapse_testing_at(&t, ns);
        cr_assert_eq(use(&t, LAPSE_VERB_GET), LAPSE_OK);
        lapse_testing_step(&t, NULL);
        writes += durable(&t) != digest;
        digest = durable(&t);
    }
    cr_expect_leq(writes, 60);
    cr_expect_geq(writes, 25);
    lapse_testing_close(&t);
}
