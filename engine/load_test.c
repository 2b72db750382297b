/* What is loaded is not trusted: rows that no store writes are `corrupt`, with a sentence that
 * names the row, and rows of a later version are `version`. None may reach an assertion. */
#include "testing.h"

#include <criterion/criterion.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct loading {
    struct lapse_row rows[8];
    size_t count;
    struct lapse_row last; /* visited last, `extra` times, as bucket after bucket */
    size_t extra;
};

static enum lapse_status load(void *ctx, lapse_row_visit visit, void *visit_ctx,
                              struct lapse_error *err) {
    const struct loading *loading = ctx;
    (void)err;
    enum lapse_status status = LAPSE_OK;
    for (size_t i = 0; i < loading->count && status == LAPSE_OK; i++) {
        status = visit(visit_ctx, &loading->rows[i]);
    }
    for (size_t i = 0; i < loading->extra && status == LAPSE_OK; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "extra-%zu", i);
        struct lapse_row row = loading->last;
        row.bucket = lapse_bytes_of(name);
        status = visit(visit_ctx, &row);
    }
    return status;
}

static enum lapse_status refuse(void *ctx, struct lapse_error *err) {
    (void)ctx;
    (void)err;
    return LAPSE_IO;
}

static enum lapse_status refuse_row(void *ctx, const struct lapse_row *row,
                                    struct lapse_error *err) {
    (void)row;
    return refuse(ctx, err);
}

static enum lapse_status refuse_commit(void *ctx, enum lapse_sync sync, int64_t *ret_point,
                                       struct lapse_error *err) {
    (void)sync;
    (void)ret_point;
    return refuse(ctx, err);
}

static void nothing(void *ctx) {
    (void)ctx;
}

/* The rows of a small store that is as it should be, at store time 100 s, in order. */
enum { MARK, PEAK, COUNTER, BUCKET, DATED, SPANNED, TERMLESS, LEASE, ROWS };

static void good_rows(struct loading *ret) {
    memset(ret, 0, sizeof(*ret));
    ret->count = ROWS;
    ret->rows[MARK].kind = LAPSE_ROW_MARK;
    ret->rows[MARK].revision = 9;
    ret->rows[MARK].mark.store.ns = S(100);
    ret->rows[MARK].mark.reading = (struct lapse_reading){1, 0, {S(1000)}};
    ret->rows[MARK].mark.ceiling_store.ns = S(101);
    ret->rows[PEAK].kind = LAPSE_ROW_MARK;
    ret->rows[PEAK].key = lapse_bytes_of("peak");
    ret->rows[PEAK].revision = 5;
    ret->rows[PEAK].mark.reading.wall.ns = S(1200);
    ret->rows[COUNTER].kind = LAPSE_ROW_COUNTER;
    ret->rows[COUNTER].key = lapse_bytes_of("token");
    ret->rows[COUNTER].revision = 7;
    ret->rows[BUCKET].kind = LAPSE_ROW_BUCKET;
    ret->rows[BUCKET].revision = 3;
    ret->rows[BUCKET].bucket_row.config.term.given = LAPSE_TERM_IDLE;
    ret->rows[BUCKET].bucket_row.config.term.idle.ns = S(60);
    static const char *const keys[] = {"dated", "spanned", "termless"};
    for (int i = 0; i < 3; i++) {
        struct lapse_row *row = &ret->rows[DATED + i];
        row->kind = LAPSE_ROW_RECORD;
        row->key = lapse_bytes_of(keys[i]);
        row->revision = i + 1;
        row->record.kind = LAPSE_RECORD_VALUE;
    }
    ret->rows[SPANNED].record.last.ns = S(90);
    ret->rows[DATED].record.end = (struct lapse_end){LAPSE_END_WALL, S(1100)};
    ret->rows[DATED].record.source = LAPSE_SOURCE_OWN;
    ret->rows[DATED].record.written_seq = 4;
    ret->rows[SPANNED].record.end = (struct lapse_end){LAPSE_END_STEADY, S(150)};
    ret->rows[SPANNED].record.source = LAPSE_SOURCE_DEFAULT;
    ret->rows[SPANNED].record.span.ns = S(60);
    ret->rows[SPANNED].record.idle = true;
    for (int i = BUCKET; i <= TERMLESS; i++) {
        ret->rows[i].bucket = lapse_bytes_of("b");
    }
    ret->rows[LEASE].kind = LAPSE_ROW_LEASE;
    ret->rows[LEASE].key = lapse_bytes_of("jobs/1");
    ret->rows[LEASE].lease.owner = lapse_bytes_of("w1");
    ret->rows[LEASE].lease.token = 7;
    ret->rows[LEASE].lease.end = (struct lapse_end){LAPSE_END_STEADY, S(130)};
    ret->rows[LEASE].lease.span.ns = S(30);
}

static enum lapse_status open_from(struct lapse_testing *t, struct loading *loading,
                                   struct lapse **ret) {
    struct lapse_options options = t->options;
    options.journal = (lapse_journal){load,          refuse,  refuse_row, refuse_row,
                                      refuse_commit, nothing, nothing,    loading};
    return lapse_open(&options, ret, &t->err);
}

/* Opens from the rows, checks and closes. */
static enum lapse_status open_rows(struct lapse_testing *t, struct loading *loading) {
    struct lapse *store = NULL;
    enum lapse_status status = open_from(t, loading, &store);
    if (status == LAPSE_OK) {
        cr_assert_eq(lapse_check(store, &t->err), LAPSE_OK, "%s", t->err.message);
    }
    lapse_close(store);
    return status;
}

/* One field of one row set to what no store writes. */
struct spoiled {
    int row;
    size_t offset, bytes;
    int64_t value;
};

#define SPOIL(row, field, value) \
    { row, offsetof(struct lapse_row, field), sizeof(((struct lapse_row *)0)->field), value }

static const struct spoiled spoils[] = {
    SPOIL(MARK, revision, -1),
    SPOIL(MARK, revision, INT64_MAX),
    SPOIL(MARK, revision, 3), /* below the date's commit, and the peak's */
    SPOIL(MARK, mark.store.ns, -1),
    SPOIL(MARK, mark.ceiling_store.ns, -1),
    SPOIL(MARK, mark.ceiling_token, -1),
    SPOIL(BUCKET, bucket_row.ceiling_revision, -1),
    SPOIL(MARK, part, LAPSE_PART_TENURE),
    SPOIL(MARK, part, 9),
    SPOIL(PEAK, revision, 0),
    SPOIL(PEAK, revision, 9),
    SPOIL(PEAK, mark.reading.wall.ns, S(1000)),
    SPOIL(PEAK, part, LAPSE_PART_TENURE),
    SPOIL(PEAK, key.len, 3),
    SPOIL(COUNTER, revision, -1),
    SPOIL(COUNTER, revision, 6), /* below the lease's token */
    SPOIL(COUNTER, key.len, 0),
    SPOIL(COUNTER, part, LAPSE_PART_TENURE),
    SPOIL(BUCKET, revision, -1),
    SPOIL(BUCKET, revision, 2), /* below a record's */
    SPOIL(BUCKET, bucket.len, 0),
    SPOIL(BUCKET, part, LAPSE_PART_TENURE),
    SPOIL(BUCKET, bucket_row.config.term.given, 77),
    SPOIL(BUCKET, bucket_row.config.term.given, LAPSE_TERM_EXPIRES_AT),
    SPOIL(BUCKET, bucket_row.config.term.idle.ns, 0),
    SPOIL(BUCKET, bucket_row.config.term.idle.ns, -S(60)),
    SPOIL(BUCKET, bucket_row.config.markers.ns, -1),
    SPOIL(BUCKET, bucket_row.config.history, LAPSE_HISTORY_MAX + 1),
    SPOIL(BUCKET, bucket_row.config.term.cap.ns, -1),
    SPOIL(BUCKET, bucket_row.config.first_revision, -1),
    SPOIL(BUCKET, bucket_row.config.first_revision, 2), /* above a record's */
    SPOIL(BUCKET, bucket_row.config.first_revision, INT64_MAX), /* above the one to come */
    SPOIL(BUCKET, bucket_row.forgotten, -1),
    SPOIL(BUCKET, bucket_row.forgotten, 4),
    SPOIL(DATED, record.cap.ns, S(2000)),
    SPOIL(DATED, record.end.kind, 3),
    SPOIL(DATED, record.source, LAPSE_SOURCE_DEFAULT),
    SPOIL(DATED, record.source, LAPSE_SOURCE_NONE),
    SPOIL(DATED, record.span.ns, 1),
    SPOIL(DATED, record.idle, 1),
    SPOIL(DATED, record.written_seq, 0),
    SPOIL(DATED, record.written_seq, 10),
    SPOIL(DATED, record.written_seq, INT64_MAX),
    SPOIL(SPANNED, record.end.kind, LAPSE_END_NONE),
    SPOIL(SPANNED, record.end.ns, S(150) + 1),
    SPOIL(SPANNED, record.source, LAPSE_SOURCE_NONE),
    SPOIL(SPANNED, record.span.ns, -S(60)),
    SPOIL(SPANNED, record.cap.ns, S(150) - 1),
    SPOIL(SPANNED, record.cap.ns, -1),
    SPOIL(SPANNED, record.written_seq, 4),
    SPOIL(TERMLESS, record.end.kind, LAPSE_END_STEADY),
    SPOIL(TERMLESS, record.end.ns, 1),
    SPOIL(TERMLESS, record.source, LAPSE_SOURCE_OWN),
    SPOIL(TERMLESS, record.span.ns, 1),
    SPOIL(TERMLESS, record.idle, 1),
    SPOIL(TERMLESS, record.written_seq, 4),
    SPOIL(LEASE, lease.token, 0),
    SPOIL(LEASE, lease.token, 8),
    SPOIL(LEASE, key.len, 0),
    SPOIL(LEASE, lease.owner.len, 0),
    SPOIL(LEASE, lease.durability, LAPSE_EPHEMERAL),
    SPOIL(LEASE, lease.durability, 7),
    SPOIL(LEASE, lease.end.kind, LAPSE_END_WALL),
    SPOIL(LEASE, lease.end.ns, S(130) + 1), /* begun after the mark */
    SPOIL(LEASE, lease.end.ns, INT64_MIN),
    SPOIL(LEASE, lease.span.ns, 0),
    SPOIL(LEASE, lease.span.ns, -1),
    SPOIL(LEASE, lease.span.ns, S(131)), /* begun before store time */
    SPOIL(LEASE, part, LAPSE_PART_TENURE),
};

/* The same for every record. */
static const struct spoiled record_spoils[] = {
    SPOIL(0, revision, 0),
    SPOIL(0, revision, 4),
    SPOIL(0, key.len, 0),
    SPOIL(0, bucket.len, 0),
    SPOIL(0, part, 1),
    SPOIL(0, record.kind, 0),
    SPOIL(0, record.kind, 77),
    SPOIL(0, record.kind, LAPSE_RECORD_TOMBSTONE),
    SPOIL(0, record.kind, LAPSE_RECORD_MARKER),
    SPOIL(0, record.old_revision, 1),
    SPOIL(0, record.why, LAPSE_WHY_OWN),
    SPOIL(0, record.source, 3),
    SPOIL(0, record.end.kind, 77),
    SPOIL(0, record.last.ns, S(100) + 1),
    SPOIL(0, record.last.ns, -1),
    SPOIL(0, record.written_seq, -1),
    SPOIL(0, record.source, -1),
};

static void spoil(struct lapse_row *row, const struct spoiled *spoiled) {
    unsigned char *field = (unsigned char *)row + spoiled->offset;
    int32_t narrow = (int32_t)spoiled->value;
    if (spoiled->bytes == sizeof(int64_t)) {
        memcpy(field, &spoiled->value, sizeof(int64_t));
    } else if (spoiled->bytes == sizeof(int32_t)) {
        memcpy(field, &narrow, sizeof(narrow));
    } else {
        *field = (unsigned char)spoiled->value;
    }
}

static void expect_corrupt(struct lapse_testing *t, struct loading *loading, int row) {
    static const char *const kinds[] = {"kind 6", "kind 6", "kind 5", "kind 1",
                                        "kind 2", "kind 2", "kind 2", "kind 3"};
    enum lapse_status status = open_rows(t, loading);
    cr_expect_eq(status, LAPSE_CORRUPT, "%s", lapse_status_word(status));
    cr_expect(row < 0 || strstr(t->err.message, kinds[row]) != NULL, "%s", t->err.message);
}

Test(load, rows_that_no_store_writes_are_corrupt) {
    struct lapse_testing t;
    struct loading loading;
    lapse_testing_open(&t);
    good_rows(&loading);
    cr_assert_eq(open_rows(&t, &loading), LAPSE_OK, "%s", t.err.message);
    for (size_t i = 0; i < sizeof(spoils) / sizeof(spoils[0]); i++) {
        good_rows(&loading);
        spoil(&loading.rows[spoils[i].row], &spoils[i]);
        t.err.message[0] = '\0';
        expect_corrupt(&t, &loading, -1);
        cr_expect_not_null(strstr(t.err.message, "the stored row of kind"), "field %zu", i);
    }
    for (size_t i = 0; i < sizeof(record_spoils) / sizeof(record_spoils[0]); i++) {
        for (int row = DATED; row <= TERMLESS; row++) {
            good_rows(&loading);
            spoil(&loading.rows[row], &record_spoils[i]);
            expect_corrupt(&t, &loading, row);
        }
    }
    lapse_testing_close(&t);
}

Test(load, rows_out_of_order_or_twice_are_corrupt) {
    static const struct {
        int from, to; /* this row comes at the place of that one */
        int named;
        bool stays; /* and at its own */
    } cases[] = {
        {MARK, PEAK, PEAK, false},       {MARK, LEASE, PEAK, false},
        {MARK, PEAK, MARK, true},        {PEAK, COUNTER, PEAK, false},
        {PEAK, LEASE, PEAK, false},      {PEAK, COUNTER, PEAK, true},
        {COUNTER, LEASE, LEASE, false},  {COUNTER, BUCKET, COUNTER, true},
        {COUNTER, LEASE, COUNTER, true}, {BUCKET, DATED, DATED, false},
        {BUCKET, SPANNED, BUCKET, true}, {DATED, SPANNED, DATED, true},
        {LEASE, COUNTER, LEASE, false},  {LEASE, TERMLESS, LEASE, true},
    };
    struct lapse_testing t;
    struct loading loading;
    lapse_testing_open(&t);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        good_rows(&loading);
        struct lapse_row row = loading.rows[cases[i].from];
        int step = cases[i].to > cases[i].from ? 1 : -1;
        for (int at = cases[i].from; at != cases[i].to && !cases[i].stays; at += step) {
            loading.rows[at] = loading.rows[at + step];
        }
        loading.rows[cases[i].to] = row;
        expect_corrupt(&t, &loading, cases[i].named);
    }
    good_rows(&loading);
    memmove(&loading.rows[MARK], &loading.rows[PEAK], (ROWS - 1) * sizeof(loading.rows[0]));
    loading.count = ROWS - 1;
    expect_corrupt(&t, &loading, PEAK);
    lapse_testing_close(&t);
}

Test(load, two_rows_with_one_token_or_one_revision_are_corrupt) {
    struct lapse_testing t;
    struct loading loading;
    lapse_testing_open(&t);
    good_rows(&loading);
    loading.rows[TERMLESS] = loading.rows[LEASE];
    loading.rows[TERMLESS].key = lapse_bytes_of("jobs/2");
    expect_corrupt(&t, &loading, LEASE);
    cr_expect_not_null(strstr(t.err.message, "jobs/2"), "%s", t.err.message);
    good_rows(&loading);
    loading.rows[DATED].revision = 3;
    expect_corrupt(&t, &loading, TERMLESS);
    good_rows(&loading);
    loading.rows[TERMLESS] = loading.rows[SPANNED];
    loading.rows[TERMLESS].key = lapse_bytes_of("spanned2");
    expect_corrupt(&t, &loading, SPANNED);
    cr_expect_not_null(strstr(t.err.message, "spanned2"), "%s", t.err.message);
    lapse_testing_close(&t);
}

Test(load, a_store_has_no_more_buckets_than_can_be_opened) {
    struct lapse_testing t;
    struct loading loading;
    lapse_testing_open(&t);
    for (int more = 0; more < 2; more++) {
        good_rows(&loading);
        loading.last = loading.rows[BUCKET];
        loading.extra = LAPSE_BUCKETS_MAX - 1 + (size_t)more;
        cr_expect_eq(open_rows(&t, &loading), more == 0 ? LAPSE_OK : LAPSE_CORRUPT);
    }
    lapse_testing_close(&t);
}

Test(load, rows_of_a_later_version_are_left_to_it) {
    struct lapse_testing t;
    struct loading loading;
    lapse_testing_open(&t);
    for (int way = 4; way < 6; way++) {
        good_rows(&loading);
        struct lapse_row *rows = loading.rows;
        if (way == 4) {
            continue;
        }
        rows[LEASE].kind = way == 5 ? (enum lapse_row_kind)8 : LAPSE_ROW_LEASE;
        cr_expect_eq(open_rows(&t, &loading), LAPSE_VERSION, "way %d", way);
    }
    lapse_testing_close(&t);
}

Test(load, the_last_number_that_is_loaded_is_the_last_that_is_given) {
    struct lapse_testing t;
    struct loading loading;
    lapse_testing_open(&t);
    for (int more = 0; more < 2; more++) {
        good_rows(&loading);
        loading.rows[MARK].revision = INT64_MAX - 2 + more;
        struct lapse *store = NULL;
        cr_assert_eq(open_from(&t, &loading, &store), LAPSE_OK, "%s", t.err.message);
        cr_expect_eq(lapse_count(store, lapse_bytes_of("b"), &t.r, &t.err),
                     more == 0 ? LAPSE_OK : LAPSE_RANGE);
        lapse_close(store);
    }
    lapse_testing_close(&t);
}
