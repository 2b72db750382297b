/* Edges that no other test reaches by itself: what a caller may hand in empty, a journal that
 * answers what none may, a walk that is stopped, the next time that a stored store asks for, and
 * the last number of a session. */
#include "testing.h"

#include <criterion/criterion.h>
#include <string.h>

Test(edges, what_is_empty_can_be_given_back) {
    struct lapse_result result;
    memset(&result, 0, sizeof(result));
    lapse_result_free(NULL);
    lapse_result_free(&result);
    lapse_result_init(&result, NULL);
    lapse_result_free(&result);
    lapse_close(NULL);
}

Test(edges, a_span_in_no_unit_is_refused_whatever_letters_it_has) {
    static const char *const texts[] = {"5S",  "5_",  "5[", "5`", "5{",   "5@", "5Zz",
                                        "05_", "1s0", "00", "5s5_", "0s0"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct lapse_span span = {7};
        size_t used = 0;
        enum lapse_status status = lapse_span_scan(texts[i], strlen(texts[i]), &span, &used);
        bool zero = strcmp(texts[i], "00") == 0;
        cr_expect_eq(status, zero ? LAPSE_OK : LAPSE_INVALID, "%s", texts[i]);
        cr_expect_eq(span.ns, zero ? 0 : 7, "%s", texts[i]);
    }
}

/* The one call of a journal that answers `strange`, without a sentence. */
struct stranger {
    enum lapse_status strange;
    int call; /* 0 begin, 1 put, 2 drop, 3 commit */
};

static enum lapse_status answer(void *ctx, int call) {
    const struct stranger *stranger = ctx;
    return stranger->call == call ? stranger->strange : LAPSE_OK;
}

static enum lapse_status load(void *ctx, lapse_row_visit visit, void *visit_ctx,
                              struct lapse_error *err) {
    (void)ctx;
    (void)visit;
    (void)visit_ctx;
    (void)err;
    return LAPSE_OK;
}

static enum lapse_status begin(void *ctx, struct lapse_error *err) {
    (void)err;
    return answer(ctx, 0);
}

static enum lapse_status put(void *ctx, const struct lapse_row *row, struct lapse_error *err) {
    (void)row;
    (void)err;
    return answer(ctx, 1);
}

static enum lapse_status drop(void *ctx, const struct lapse_row *row, struct lapse_error *err) {
    (void)row;
    (void)err;
    return answer(ctx, 2);
}

static enum lapse_status commit(void *ctx, enum lapse_sync sync, int64_t *ret_point,
                                struct lapse_error *err) {
    (void)sync;
    (void)err;
    *ret_point = 1;
    return answer(ctx, 3);
}

static void nothing(void *ctx) {
    (void)ctx;
}

/* What it may not answer is a storage that failed, and never an answer to the caller's call. */
Test(edges, a_journal_that_answers_what_none_may_has_failed) {
    static const enum lapse_status strange[] = {LAPSE_ABSENT, LAPSE_CONFLICT, LAPSE_RANGE,
                                                LAPSE_INVALID, LAPSE_BUG};
    for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
        for (int call = 0; call < 4; call++) {
            struct stranger stranger = {.strange = LAPSE_OK};
            struct lapse_testing t;
            lapse_testing_open(&t);
            lapse_close(t.store);
            t.options.journal =
                (lapse_journal){load, begin, put, drop, commit, nothing, nothing, &stranger};
            cr_assert_eq(lapse_open(&t.options, &t.store, &t.err), LAPSE_OK);
            lapse_testing_bucket(&t, "b", 0, 0, 0);
            lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", 0, 0);
            stranger = (struct stranger){strange[i], call};
            enum lapse_status want = call == 3 ? LAPSE_UNKNOWN : LAPSE_IO;
            bool quiet = i % 2 == 0; /* without a place for the sentence */
            struct lapse_command gone = {.verb = LAPSE_VERB_DELETE,
                                         .bucket = lapse_bytes_of("b"),
                                         .key = lapse_bytes_of("k")};
            cr_expect_eq(lapse_apply(t.store, &gone, &t.r, quiet ? NULL : &t.err), want,
                         "call %d answers %s", call, lapse_status_word(strange[i]));
            cr_expect(quiet || strstr(t.err.message, "the journal failed") != NULL, "%s",
                      t.err.message);
            lapse_testing_close(&t);
        }
    }
}

struct stopping {
    size_t seen, stop_at;
};

static enum lapse_status stop(void *ctx, const struct lapse_row *row) {
    struct stopping *stopping = ctx;
    (void)row;
    return ++stopping->seen == stopping->stop_at ? LAPSE_IO : LAPSE_OK;
}

/* At each of its rows: the visitor is not called again, and its status is the walk's. */
Test(edges, a_walk_stops_where_its_visitor_says) {
    struct lapse_testing t;
    struct stopping stopping = {0, SIZE_MAX};
    lapse_testing_open(&t);
    for (size_t i = 0; i < 70; i++) {
        (void)lapse_testing_story(&t, i);
    }
    cr_assert_eq(lapse_walk(t.store, stop, &stopping, &t.err), LAPSE_OK);
    size_t rows = stopping.seen;
    cr_expect_gt(rows, 20);
    for (size_t at = 1; at <= rows; at++) {
        stopping = (struct stopping){0, at};
        cr_expect_eq(lapse_walk(t.store, stop, &stopping, &t.err), LAPSE_IO);
        cr_expect_eq(stopping.seen, at);
    }
    lapse_testing_close(&t);
}

/* A mark goes each second of use, whatever else is due. */
Test(edges, a_store_that_is_used_asks_for_a_step_a_second_after_its_last_commit) {
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    struct lapse_due due;
    lapse_testing_journal_init(&journal);
    lapse_testing_open_with(&t, &journal, 0);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    lapse_testing_at(&t, S(5));
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", 0, 0);
    lapse_next_due(t.store, &due);
    cr_expect_not(due.has_steady, "nothing was used since the commit");
    lapse_testing_at(&t, S(5) + S(1) / 2);
    lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", "", 0, 0);
    lapse_next_due(t.store, &due);
    cr_expect(due.has_steady && due.steady.ns == S(6), "%lld", (long long)due.steady.ns);
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "later", "v", LAPSE_TERM_TTL, S(9));
    lapse_testing_at(&t, S(6));
    lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", "", 0, 0);
    lapse_next_due(t.store, &due);
    cr_expect_eq(due.steady.ns, S(6) + S(1) / 2, "before what ends later");
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "sooner", "v", LAPSE_TERM_TTL, S(1) / 4);
    lapse_testing_at(&t, S(6) + 1);
    lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", "", 0, 0);
    lapse_next_due(t.store, &due);
    cr_expect_eq(due.steady.ns, S(6) + S(1) / 4, "and after what ends sooner");
    lapse_testing_step(&t, &due);
    lapse_testing_at(&t, INT64_MAX - S(1001));
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", 0, 0);
    cr_assert_eq(lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){-S(1000)}), LAPSE_OK);
    lapse_testing_at(&t, INT64_MAX - S(1) / 2);
    lapse_testing_step(&t, NULL);
    lapse_testing_at(&t, INT64_MAX);
    lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", "", 0, 0);
    lapse_next_due(t.store, &due);
    cr_expect_not(due.has_steady, "there is no second left");
    lapse_testing_close(&t);
    lapse_testing_journal_finish(&journal);
}

Test(edges, the_last_number_of_a_session_is_given_and_none_after_it) {
    struct lapse_bytes w = lapse_bytes_of("w");
    struct lapse_span span = {S(9)};
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    lapse_testing_journal_init(&journal);
    lapse_testing_open_with(&t, &journal, 0);
    lapse_session_open(t.store, lapse_bytes_of("a"), w, span, &t.r, &t.err);
    lapse_close(t.store);
    journal.closed = false;
    for (size_t i = 0; i < journal.row_count; i++) {
        struct lapse_row *row = &journal.rows[i];
        bool numbers = row->kind == LAPSE_ROW_COUNTER && lapse_testing_is(row->key, "session");
        row->revision = numbers ? INT64_MAX - 1 : row->revision;
    }
    cr_assert_eq(lapse_open(&t.options, &t.store, &t.err), LAPSE_OK, "%s", t.err.message);
    cr_expect_eq(lapse_session_open(t.store, lapse_bytes_of("b"), w, span, &t.r, &t.err), LAPSE_OK);
    cr_expect_eq(t.r.token, INT64_MAX);
    cr_expect_eq(lapse_session_open(t.store, lapse_bytes_of("c"), w, span, &t.r, &t.err),
                 LAPSE_RANGE);
    cr_expect_eq(lapse_session_keepalive(t.store, lapse_bytes_of("b"), w, span, &t.r,
                                         &t.err), LAPSE_OK);
    lapse_testing_close(&t);
    lapse_testing_journal_finish(&journal);
}

/* What a bucket is open with is told in words, each of them. */
Test(edges, a_bucket_that_is_asked_for_with_other_words_tells_both) {
    struct lapse_bucket_config idle = {
        .term = {.given = LAPSE_TERM_IDLE, .idle = {S(60)}, .cap = {S(90)}}};
    struct lapse_bucket_config ttl = {.term = {.given = LAPSE_TERM_TTL, .ttl = {S(30)}},
                                      .markers = {S(5)},
                                      .history = 7};
    struct lapse_testing t;
    lapse_testing_open(&t);
    lapse_bucket_open(t.store, lapse_bytes_of("b"), &idle, &t.r, &t.err);
    cr_expect_eq(lapse_bucket_open(t.store, lapse_bytes_of("b"), &ttl, &t.r, &t.err),
                 LAPSE_INVALID);
    cr_expect_not_null(
        strstr(t.err.message, "open with idle 1m cap 1m30s and no markers, history 1"), "%s",
        t.err.message);
    cr_expect_not_null(strstr(t.err.message, "asked for with ttl 30s and markers 5s, history 7"),
                       "%s", t.err.message);
    lapse_testing_close(&t);
}
