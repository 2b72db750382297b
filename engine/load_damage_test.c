/* Stored rows of every profile, damaged one field at a time: the open must call the row corrupt and
 * say what is wrong with it, and, mended, be sound again. What only one profile writes, such as a
 * key that is remembered or a tombstone of nothing, is damage in the store of another. */
#include "handle.h"
#include "testing.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_MAX = 48 };

struct stored {
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    struct lapse_row rows[ROWS_MAX], saved[ROWS_MAX];
    size_t count;
    int damaged;
};

#define V(word) LAPSE_VERB_##word
#define TTL LAPSE_TERM_TTL
#define DO(s, verb, key, given, span)                                                              \
    lapse_testing_do(&(s)->t, V(verb), "b", (key), "value", (given), (span))

/* Makes one change of the rows, expects the sentence, and mends them. */
#define DAMAGE(s, change, sentence)                                                                \
    do {                                                                                           \
        size_t count = (s)->count;                                                                 \
        memcpy((s)->saved, (s)->rows, sizeof((s)->rows));                                          \
        change;                                                                                    \
        expect_corrupt((s), #change, (sentence));                                                  \
        memcpy((s)->rows, (s)->saved, sizeof((s)->rows));                                          \
        (s)->count = count;                                                                        \
    } while (0)

static enum lapse_status keep(void *ctx, const struct lapse_row *row) {
    struct stored *s = ctx;
    cr_assert_lt(s->count, (size_t)ROWS_MAX);
    s->rows[s->count++] = *row;
    return LAPSE_OK;
}

static enum lapse_status load(void *ctx, lapse_row_visit visit, void *visit_ctx,
                              struct lapse_error *err) {
    const struct stored *s = ctx;
    enum lapse_status status = LAPSE_OK;
    (void)err;
    for (size_t i = 0; i < s->count && status == LAPSE_OK; i++) {
        status = visit(visit_ctx, &s->rows[i]);
    }
    return status;
}

static void nothing(void *ctx) {
    (void)ctx;
}

static enum lapse_status open_rows(struct stored *s) {
    struct lapse *other = NULL;
    struct lapse_options options = s->t.options;
    options.journal = (lapse_journal){.load = load, .close = nothing, .ctx = s};
    options.journal.begin = s->t.options.journal.begin;
    options.journal.put = s->t.options.journal.put;
    options.journal.drop = s->t.options.journal.drop;
    options.journal.commit = s->t.options.journal.commit;
    options.journal.rollback = s->t.options.journal.rollback;
    enum lapse_status status = lapse_open(&options, &other, &s->t.err);
    if (status == LAPSE_OK) {
        cr_expect_eq(lapse_check(other, &s->t.err), LAPSE_OK, "%s", s->t.err.message);
    }
    lapse_close(other);
    return status;
}

static void expect_corrupt(struct stored *s, const char *change, const char *sentence) {
    s->t.err.message[0] = '\0';
    cr_expect_eq(open_rows(s), LAPSE_CORRUPT, "nobody sees %s", change);
    cr_expect_not_null(strstr(s->t.err.message, sentence), "%s: %s", change, s->t.err.message);
    s->damaged++;
}

static void open_store(struct stored *s, const struct lapse_policies *policies,
                       struct lapse_bucket_config words) {
    *s = (struct stored){.count = 0};
    lapse_testing_journal_init(&s->journal);
    lapse_testing_open_policies(&s->t, &s->journal, 0, policies);
    cr_assert_eq(lapse_bucket_open(s->t.store, lapse_bytes_of("b"), &words, &s->t.r, &s->t.err),
                 LAPSE_OK, "%s", s->t.err.message);
}

/* What has been written so far is what the rows say. */
static void take_rows(struct stored *s) {
    s->count = 0;
    cr_assert_eq(s->t.options.journal.load(&s->journal, keep, s, &s->t.err), LAPSE_OK);
    cr_assert_eq(open_rows(s), LAPSE_OK, "%s", s->t.err.message);
}

static void close_store(struct stored *s, int least) {
    cr_expect_geq(s->damaged, least);
    cr_expect_eq(open_rows(s), LAPSE_OK, "%s", s->t.err.message);
    lapse_testing_close(&s->t);
    lapse_testing_journal_finish(&s->journal);
}

static struct lapse_row *row_of(struct stored *s, enum lapse_row_kind kind, const char *key) {
    for (size_t i = 0; i < s->count; i++) {
        if (s->rows[i].kind == kind && lapse_testing_is(s->rows[i].key, key)) {
            return &s->rows[i];
        }
    }
    cr_assert_fail("no row of kind %d, key `%s`", (int)kind, key);
    return NULL;
}

static struct lapse_row *newest_of(struct stored *s, const char *key) {
    struct lapse_row *found = row_of(s, LAPSE_ROW_RECORD, key);
    for (size_t i = 0; i < s->count; i++) {
        bool of_key = s->rows[i].kind == found->kind &&
                      lapse_bytes_equal(s->rows[i].key, found->key);
        found = of_key && s->rows[i].revision > found->revision ? &s->rows[i] : found;
    }
    return found;
}

/* Puts a row at a place of its own, before that of another. */
static void insert(struct stored *s, const struct lapse_row *row, const struct lapse_row *before) {
    struct lapse_row copy = *row;
    size_t at = (size_t)(before - s->rows);
    memmove(&s->rows[at + 1], &s->rows[at], (s->count - at) * sizeof(copy));
    s->rows[at] = copy;
    s->count++;
}

static void drop(struct stored *s, const struct lapse_row *row) {
    size_t at = (size_t)(row - s->rows);
    memmove(&s->rows[at], &s->rows[at + 1], (s->count - at - 1) * sizeof(*row));
    s->count--;
}

/* Takes a row out and puts it behind another. */
static void move_behind(struct stored *s, struct lapse_row *row, const struct lapse_row *other) {
    struct lapse_row copy = *row;
    size_t at = (size_t)(other - s->rows);
    drop(s, row);
    insert(s, &copy, &s->rows[at]);
}

Test(load_damage, what_a_strict_store_writes_is_told_from_what_it_does_not) {
    struct stored s;
    open_store(&s, NULL, (struct lapse_bucket_config){.markers = {S(60)}, .history = 3});
    DO(&s, SET, "a", 0, 0);
    DO(&s, SET, "v", TTL, S(100));
    DO(&s, SET, "v", TTL, S(100));
    DO(&s, SET, "d", 0, 0);
    DO(&s, DELETE, "d", 0, 0);
    DO(&s, SET, "m", TTL, S(1));
    lapse_testing_lease(&s.t, V(ACQUIRE), "l", "w", S(100));
    lapse_testing_at(&s.t, S(1));
    lapse_testing_step(&s.t, NULL);
    take_rows(&s);
    struct lapse_row *bucket = row_of(&s, LAPSE_ROW_BUCKET, "");
    struct lapse_row *a = row_of(&s, LAPSE_ROW_RECORD, "a");
    struct lapse_row *v = row_of(&s, LAPSE_ROW_RECORD, "v");
    struct lapse_row *m = row_of(&s, LAPSE_ROW_RECORD, "m");
    struct lapse_row *lease = row_of(&s, LAPSE_ROW_LEASE, "l");
    DAMAGE(&s, bucket->key = lapse_bytes_of("k"), "no bucket has such a name, key");
    DAMAGE(&s, a->record.value.len = LAPSE_VALUE_BYTES_MAX + 1, "or its value too long");
    DAMAGE(&s, a->revision = v->revision, "another key of the bucket has the same revision");
    DAMAGE(&s, v[1].record.end.ns = 0, "do not fit each other, or lie after the mark");
    DAMAGE(&s, a->record.kind = LAPSE_RECORD_GONE, "and what does has no value and an older");
    DAMAGE(&s, m->record.why = LAPSE_WHY_NONE, "a value tells of no end");
    DAMAGE(&s, insert(&s, a, &m[1]); m[1].key = m->key; m[1].revision = m->revision + 1;
           bucket->revision = m[1].revision, "a marker stands alone");
    DAMAGE(&s, lease->bucket = lapse_bytes_of("b"), "no stored lease has such a name");
    DAMAGE(&s, lease->lease.owner.len = LAPSE_OWNER_BYTES_MAX + 1, "no stored lease has such");
    struct lapse_row sweep = {.kind = LAPSE_ROW_COUNTER, .key = lapse_bytes_of("swept")};
    DAMAGE(&s, insert(&s, &sweep, bucket), "the store has no sweeps");
    close_store(&s, 10);
}

/* Three rows before, so that the twins are not the last that are looked at. */
Test(load_damage, the_first_of_several_twins_is_named) {
    struct stored s;
    open_store(&s, NULL, (struct lapse_bucket_config){.history = 1});
    DO(&s, SET, "a", 0, 0);
    DO(&s, SET, "b", 0, 0);
    DO(&s, SET, "c", 0, 0);
    DO(&s, SET, "d", 0, 0);
    take_rows(&s);
    DAMAGE(&s, row_of(&s, LAPSE_ROW_RECORD, "b")->revision = 1, "revision 1 is not what");
    DAMAGE(&s, row_of(&s, LAPSE_ROW_RECORD, "c")->revision = 2, "revision 2 is not what");
    close_store(&s, 2);
}

Test(load_damage, marks_peaks_and_sessions_come_in_their_order) {
    struct stored s;
    open_store(&s, NULL, (struct lapse_bucket_config){.history = 1});
    DO(&s, SET, "e", LAPSE_TERM_EXPIRES_AT, S(1001));
    DO(&s, SET, "f", LAPSE_TERM_EXPIRES_AT, S(1001));
    lapse_testing_at(&s.t, S(2));
    for (int i = 0; i < 3; i++) {
        DO(&s, SET, "v", 0, 0);
        cr_assert_eq(lapse_clock_manual_step_wall(&s.t.clock, (struct lapse_span){-S(1) / 8}),
                     LAPSE_OK);
    }
    struct lapse_bytes w = lapse_bytes_of("w");
    struct lapse_command asked = {.verb = V(SET), .bucket = lapse_bytes_of("b"), .key = w};
    asked.request = lapse_bytes_of("id");
    lapse_apply(s.t.store, &asked, &s.t.r, &s.t.err);
    lapse_session_open(s.t.store, w, w, (struct lapse_span){S(9)}, &s.t.r, &s.t.err);
    lapse_testing_lease(&s.t, V(ACQUIRE), "l", "w", S(100));
    take_rows(&s);
    struct lapse_row *peak = row_of(&s, LAPSE_ROW_MARK, "peak");
    struct lapse_row *session = row_of(&s, LAPSE_ROW_SESSION, "w");
    struct lapse_row *numbers = row_of(&s, LAPSE_ROW_COUNTER, "session");
    struct lapse_row *bucket = row_of(&s, LAPSE_ROW_BUCKET, "");
    struct lapse_row *request = row_of(&s, LAPSE_ROW_REQUEST, "id");
    struct lapse_row *lease = row_of(&s, LAPSE_ROW_LEASE, "l");
    cr_assert_eq(peak[1].kind, LAPSE_ROW_MARK, "two peaks are stored");
    DAMAGE(&s, peak[1].revision = peak[0].revision, "those of the peak before it");
    DAMAGE(&s, peak[1].mark.reading.wall = peak[0].mark.reading.wall, "those of the peak");
    DAMAGE(&s, move_behind(&s, peak, numbers), "a peak comes right after the mark");
    DAMAGE(&s, move_behind(&s, peak, row_of(&s, LAPSE_ROW_COUNTER, "token")),
           "a peak comes right after the mark");
    DAMAGE(&s, move_behind(&s, session, bucket), "a session comes before all");
    /* A request alone is enough, and so is a lease or a bucket. */
    DAMAGE(&s, insert(&s, request, session), "a session comes before all");
    DAMAGE(&s, insert(&s, lease, session), "a session comes before all");
    DAMAGE(&s, insert(&s, bucket, peak), "a peak comes right after the mark");
    DAMAGE(&s, insert(&s, request, request), "the request is stored twice");
    close_store(&s, 9);
}

Test(load_damage, a_batch_that_is_remembered_has_no_more_answers_than_calls) {
    static unsigned char answers[(LAPSE_BATCH_MAX + 1) * 27];
    struct stored s;
    struct lapse_command set = {
        .verb = V(SET), .bucket = lapse_bytes_of("b"), .key = lapse_bytes_of("k")};
    struct lapse_command batch = {.verb = V(BATCH), .request = lapse_bytes_of("id")};
    open_store(&s, NULL, (struct lapse_bucket_config){.history = 1});
    batch.u.batch.count = 1;
    batch.u.batch.commands = &set;
    cr_assert_eq(lapse_apply(s.t.store, &batch, &s.t.r, &s.t.err), LAPSE_OK);
    take_rows(&s);
    struct lapse_row *request = row_of(&s, LAPSE_ROW_REQUEST, "id");
    cr_assert_eq(request->request.answers.len, 27);
    for (size_t i = 0; i <= LAPSE_BATCH_MAX; i++) {
        memcpy(answers + i * 27, request->request.answers.data, 27);
    }
    DAMAGE(&s, request->request.answers.data = answers;
           request->request.answers.len = sizeof(answers), "its answer is not one");
    request->request.answers.data = answers;
    request->request.answers.len = sizeof(answers) - 27;
    close_store(&s, 1);
}

Test(load_damage, what_is_remembered_of_a_key_is_its_revision_alone) {
    struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_KAHUNA);
    struct stored s;
    open_store(&s, &policies, (struct lapse_bucket_config){.history = 3});
    DO(&s, SET, "gone", TTL, S(1));
    DO(&s, SET, "there", 0, 0);
    DO(&s, SET, "there", 0, 0);
    lapse_testing_lease(&s.t, V(ACQUIRE), "held", "w", S(100));
    lapse_testing_lease(&s.t, V(ACQUIRE), "over", "w", S(1));
    lapse_testing_lease(&s.t, V(ACQUIRE), "free", "w", S(100));
    lapse_testing_lease(&s.t, V(RELEASE), "free", "w", 0);
    lapse_testing_at(&s.t, S(2));
    lapse_testing_step(&s.t, NULL);
    take_rows(&s);
    struct lapse_row *gone = row_of(&s, LAPSE_ROW_RECORD, "gone");
    struct lapse_row *there = row_of(&s, LAPSE_ROW_RECORD, "there");
    struct lapse_row *held = row_of(&s, LAPSE_ROW_LEASE, "held");
    struct lapse_row *bucket = row_of(&s, LAPSE_ROW_BUCKET, "");
    struct lapse_row peak = {.kind = LAPSE_ROW_MARK, .key = lapse_bytes_of("peak"), .revision = 1};
    peak.mark.reading.wall.ns = S(5000);
    cr_assert_eq(gone->record.kind, LAPSE_RECORD_GONE);
    DAMAGE(&s, gone->record.value = there->record.value, "what does has no value");
    DAMAGE(&s, gone->record.old_revision = 1, "what does has no value");
    struct lapse_row *newest = newest_of(&s, "there");
    DAMAGE(&s, newest->record.kind = LAPSE_RECORD_GONE; newest->record.value.len = 0,
           "a marker stands alone");
    DAMAGE(&s, there[0].record.kind = LAPSE_RECORD_GONE; there[0].record.value.len = 0,
           "a marker stands alone");
    DAMAGE(&s, there[0].revision = -1, "its bucket has not given its revision");
    DAMAGE(&s, held->lease.token = -1, "the counter has not given its token");
    DAMAGE(&s, insert(&s, &peak, bucket); insert(&s, held, bucket), "a peak comes right after");
    DAMAGE(&s, row_of(&s, LAPSE_ROW_LEASE, "over")->lease.end.ns = 1, "do not fit each other");
    close_store(&s, 8);
}

/* A reader's eye for detail: nats keeps tombstones of keys that never were, without an end. */
Test(load_damage, a_trace_without_an_end_has_no_other_word_of_one) {
    struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_NATS);
    struct stored s;
    policies.value[LAPSE_POLICY_OWN_BOUNDS] = 0; /* a term may be shorter than a marker's */
    open_store(&s, &policies, (struct lapse_bucket_config){.markers = {S(60)}, .history = 3});
    DO(&s, DELETE, "never", 0, 0);
    DO(&s, SET, "dated", LAPSE_TERM_EXPIRES_AT, S(1001));
    DO(&s, SET, "dated", 0, 0);
    DO(&s, SET, "m", TTL, S(1));
    lapse_testing_at(&s.t, S(1));
    lapse_testing_step(&s.t, NULL);
    take_rows(&s);
    struct lapse_row *trace = row_of(&s, LAPSE_ROW_RECORD, "never");
    struct lapse_row *m = row_of(&s, LAPSE_ROW_RECORD, "m");
    cr_assert_eq(trace->record.end.kind, LAPSE_END_NONE);
    cr_assert_eq(trace->record.old_revision, 0);
    DAMAGE(&s, trace->record.source = LAPSE_SOURCE_SESSION, "is not one that its source gives");
    DAMAGE(&s, trace->record.old_revision = trace->revision, "and an older revision");
    DAMAGE(&s, trace->record.old_revision = -1, "and an older revision");
    DAMAGE(&s, trace->record.idle = true, "do not fit each other");
    DAMAGE(&s, m->record.idle = true; m->record.old_revision = 0; m->record.last.ns = S(1),
           "its source gives");
    close_store(&s, 5);
}

/* An older value that is current again is one that ends, and a date that has come stays so. */
Test(load_damage, an_older_date_that_was_reached_is_reached_after_a_reopen) {
    struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_NATS);
    struct stored s;
    open_store(&s, &policies, (struct lapse_bucket_config){.markers = {S(60)}, .history = 3});
    DO(&s, SET, "k", LAPSE_TERM_EXPIRES_AT, S(1001));
    DO(&s, SET, "k", TTL, S(5));
    lapse_testing_at(&s.t, S(2));
    DO(&s, SET, "other", 0, 0);
    take_rows(&s);
    struct lapse *other = NULL;
    lapse_testing_at(&s.t, S(5));
    cr_assert_eq(lapse_clock_manual_step_wall(&s.t.clock, (struct lapse_span){-S(5)}), LAPSE_OK);
    cr_assert_eq(lapse_open(&s.t.options, &other, &s.t.err), LAPSE_OK, "%s", s.t.err.message);
    cr_expect_eq(lapse_check(other, &s.t.err), LAPSE_OK, "%s", s.t.err.message);
    cr_expect_eq(lapse_history(other, lapse_bytes_of("b"), lapse_bytes_of("k"), &s.t.r, &s.t.err),
                 LAPSE_OK);
    cr_expect_eq(s.t.r.item_count, 1, "its date has come, whatever the wall shows since");
    lapse_close(other);
    s.journal.closed = false;
    close_store(&s, 0);
}

Test(load_damage, a_sweep_lies_before_the_mark) {
    struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_STRICT);
    struct stored s;
    policies.value[LAPSE_POLICY_END_SEEN] = 1;
    open_store(&s, &policies, (struct lapse_bucket_config){.history = 1});
    DO(&s, SET, "k", TTL, S(1));
    lapse_testing_at(&s.t, S(2));
    lapse_testing_step(&s.t, NULL);
    take_rows(&s);
    struct lapse_row *swept = row_of(&s, LAPSE_ROW_COUNTER, "swept");
    cr_assert_eq(swept->revision, S(2));
    DAMAGE(&s, swept->revision = s.rows[0].mark.store.ns + 1, "or it lies after the mark");
    DAMAGE(&s, insert(&s, swept, swept), "the counter is stored twice");
    close_store(&s, 2);
}

/* Store time that follows the wall may go back below what was written. */
Test(load_damage, where_time_returns_rows_may_lie_after_the_mark_but_not_past_the_range) {
    struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_TINYSTORE);
    struct lapse_bytes w = lapse_bytes_of("w");
    struct stored s;
    open_store(&s, &policies, (struct lapse_bucket_config){.history = 1});
    char name[8];
    for (int i = 0; i < 20; i++) {
        (void)snprintf(name, sizeof(name), "s%d", i);
        lapse_session_open(s.t.store, lapse_bytes_of(name), w, (struct lapse_span){S(5)}, &s.t.r,
                           &s.t.err);
    }
    lapse_testing_at(&s.t, S(9));
    struct lapse_command asked = {.verb = V(SET), .bucket = lapse_bytes_of("b"), .key = w};
    asked.request = lapse_bytes_of("id");
    lapse_apply(s.t.store, &asked, &s.t.r, &s.t.err);
    for (int i = 0; i < 20; i++) {
        (void)snprintf(name, sizeof(name), "s%d", i);
        cr_assert_eq(lapse_session_open(s.t.store, lapse_bytes_of(name), w,
                                        (struct lapse_span){S(5)}, &s.t.r, &s.t.err),
                     LAPSE_OK);
    }
    cr_assert_eq(lapse_clock_manual_step_wall(&s.t.clock, (struct lapse_span){-S(8)}), LAPSE_OK);
    DO(&s, SET, "k", TTL, S(1));
    lapse_testing_check(&s.t);
    take_rows(&s);
    struct lapse_row *request = row_of(&s, LAPSE_ROW_REQUEST, "id");
    struct lapse_row *first = row_of(&s, LAPSE_ROW_SESSION, "s0");
    cr_assert_gt(request->request.at.ns, s.rows[0].mark.store.ns);
    cr_assert_gt(first->session.end.ns, s.rows[0].mark.store.ns);
    DAMAGE(&s, request->request.at.ns = INT64_MAX, "before store time, or after the mark");
    DAMAGE(&s, request->request.at.ns = -1, "before store time, or after the mark");
    DAMAGE(&s, first->session.end.ns = -1, "do not fit each other");
    close_store(&s, 3);
}
