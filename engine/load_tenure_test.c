/* A fork is loaded from what a walk shows, the tenure too. Each field of each row of the tenure is
 * spoiled in turn: the load must call it corrupt, and say which row, rather than take in a state
 * that no tenure has. */
#include "handle.h"
#include "testing.h"

#include <criterion/criterion.h>
#include <string.h>

enum { ROWS_MAX = 64 };

struct rows {
    struct lapse_row rows[ROWS_MAX];
    size_t count;
};

static enum lapse_status keep(void *ctx, const struct lapse_row *row) {
    struct rows *rows = ctx;
    cr_assert_lt(rows->count, (size_t)ROWS_MAX);
    rows->rows[rows->count++] = *row;
    return LAPSE_OK;
}

/* Two deferred renewals, two ephemeral leases. */
static void open_all(struct lapse_testing *t, struct rows *rows) {
    struct lapse_span span = {S(100)};
    struct lapse_bytes w = lapse_bytes_of("w");
    lapse_testing_open(t);
    lapse_testing_bucket(t, "b", LAPSE_TERM_IDLE, S(60), 0);
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "i", "v", 0, 0);
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "j", "v", 0, 0);
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "t", "v", LAPSE_TERM_TTL, S(60));
    lapse_acquire(t->store, lapse_bytes_of("long"), w, span, &t->r, &t->err);
    lapse_testing_at(t, S(10));
    lapse_acquire_ephemeral(t->store, lapse_bytes_of("a"), w, span, &t->r, &t->err);
    lapse_acquire_ephemeral(t->store, lapse_bytes_of("b"), w, span, &t->r, &t->err);
    lapse_testing_do(t, LAPSE_VERB_GET, "b", "j", NULL, 0, 0);
    lapse_testing_at(t, S(10) + 1);
    lapse_testing_do(t, LAPSE_VERB_GET, "b", "i", NULL, 0, 0);
    *rows = (struct rows){.count = 0};
    cr_assert_eq(lapse_walk(t->store, keep, rows, &t->err), LAPSE_OK);
}

/* Loads the rows as a fork does; what stays must be sound. */
static enum lapse_status load_all(struct lapse_testing *t, const struct rows *rows) {
    struct lapse *fork = lapse_handle_make(&t->alloc.vtable, t->options.clock, 0, true);
    cr_assert_not_null(fork);
    struct lapse_load load = {.state = &fork->state, .err = &t->err, .forking = true};
    enum lapse_status status = LAPSE_OK;
    for (size_t i = 0; i < rows->count && status == LAPSE_OK; i++) {
        status = lapse_load_row(&load, &rows->rows[i]);
    }
    status = lapse_load_finish(&load, status);
    if (status == LAPSE_OK) {
        cr_expect_eq(lapse_check(fork, &t->err), LAPSE_OK, "%s", t->err.message);
        cr_expect_eq(lapse_testing_digest(fork, LAPSE_PART_TENURE),
                     lapse_testing_digest(t->store, LAPSE_PART_TENURE));
    }
    lapse_handle_free(fork);
    return status;
}

static struct lapse_row *find(struct rows *rows, enum lapse_row_kind kind, const char *key) {
    for (size_t i = 0; i < rows->count; i++) {
        struct lapse_row *row = &rows->rows[i];
        if (row->part == LAPSE_PART_TENURE && row->kind == kind &&
            lapse_bytes_equal(row->key, lapse_bytes_of(key))) {
            return row;
        }
    }
    cr_assert_fail("the walk shows no %s", key);
    return NULL;
}

/* One field of one row; the renewals are of revision 1 and 2, the tokens 2 and 3. */
struct spoiled {
    enum lapse_row_kind kind;
    const char *key;
    void (*spoil)(struct lapse_row *row);
};

static const unsigned char big[LAPSE_KEY_BYTES_MAX + 1];

#define SPOIL(name, ...)                                                                           \
    static void name(struct lapse_row *row) {                                                      \
        __VA_ARGS__;                                                                               \
    }
SPOIL(other_key, row->key = lapse_bytes_of("session"))
SPOIL(no_key, row->key.len = 0)
SPOIL(zero, row->revision = 0)
SPOIL(no_owner, row->lease.owner.len = 0)
SPOIL(long_owner, row->lease.owner = (struct lapse_bytes){big, LAPSE_OWNER_BYTES_MAX + 1})
SPOIL(persistent, row->lease.durability = LAPSE_PERSISTENT)
SPOIL(dated, row->lease.end.kind = LAPSE_END_WALL)
SPOIL(no_token, row->lease.token = 0)
SPOIL(next_token, row->lease.token = 4)
SPOIL(no_span, row->lease.span.ns = 0)
SPOIL(below_all, row->lease.end.ns = INT64_MIN)
SPOIL(before_0, row->lease.end.ns = row->lease.span.ns - 1)
SPOIL(after_now, row->lease.end.ns = row->lease.span.ns + S(11))
SPOIL(twice, row->key = lapse_bytes_of("a"))
SPOIL(other_bucket, row->bucket = lapse_bytes_of("none"))
SPOIL(other_revision, row->revision = 7)
SPOIL(deferred_twice, (row->key = lapse_bytes_of("i"), row->revision = 1))
SPOIL(used_before, row->record.last.ns = row->mark.store.ns - 1)
SPOIL(used_late, row->record.last.ns = S(60))
SPOIL(no_idle, (row->key = lapse_bytes_of("t"), row->revision = 3))
SPOIL(before_mark, row->mark.store.ns = -1)
SPOIL(early_number, row->revision = 0)
SPOIL(long_key, row->key = (struct lapse_bytes){big, LAPSE_KEY_BYTES_MAX + 1})
SPOIL(long_bucket, row->bucket = (struct lapse_bytes){big, LAPSE_BUCKET_NAME_MAX + 1})
SPOIL(no_part, row->part = (enum lapse_part)7)
SPOIL(a_bucket, row->kind = LAPSE_ROW_BUCKET)

static const struct spoiled all[] = {
    {LAPSE_ROW_COUNTER, "token", other_key}, {LAPSE_ROW_COUNTER, "token", zero},
    {LAPSE_ROW_LEASE, "b", no_key},          {LAPSE_ROW_LEASE, "b", no_owner},
    {LAPSE_ROW_LEASE, "b", long_owner},      {LAPSE_ROW_LEASE, "b", persistent},
    {LAPSE_ROW_LEASE, "b", dated},           {LAPSE_ROW_LEASE, "b", no_token},
    {LAPSE_ROW_LEASE, "b", next_token},      {LAPSE_ROW_LEASE, "b", no_span},
    {LAPSE_ROW_LEASE, "b", below_all},       {LAPSE_ROW_LEASE, "b", before_0},
    {LAPSE_ROW_LEASE, "b", after_now},       {LAPSE_ROW_LEASE, "b", twice},
    {LAPSE_ROW_LEASE, "b", long_key},        {LAPSE_ROW_LEASE, "b", no_part},
    {LAPSE_ROW_LEASE, "b", a_bucket},        {LAPSE_ROW_RECORD, "j", other_bucket},
    {LAPSE_ROW_RECORD, "j", other_revision}, {LAPSE_ROW_RECORD, "j", no_key},
    {LAPSE_ROW_RECORD, "j", used_before},    {LAPSE_ROW_RECORD, "j", used_late},
    {LAPSE_ROW_RECORD, "j", deferred_twice}, {LAPSE_ROW_RECORD, "j", no_idle},
    {LAPSE_ROW_RECORD, "j", long_bucket},    {LAPSE_ROW_MARK, "now", before_mark},
    {LAPSE_ROW_MARK, "now", early_number},
};

Test(load_tenure, a_row_that_no_tenure_has_is_corrupt) {
    struct lapse_testing t;
    struct rows rows;
    open_all(&t, &rows);
    cr_assert_eq(load_all(&t, &rows), LAPSE_OK, "%s", t.err.message);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct rows spoiled = rows;
        struct lapse_row *row = find(&spoiled, all[i].kind, all[i].key);
        all[i].spoil(row);
        t.err = (struct lapse_error){.status = LAPSE_OK};
        cr_expect_eq(load_all(&t, &spoiled), LAPSE_CORRUPT, "case %zu was taken in", i);
        cr_expect_not_null(strstr(t.err.message, "not what was written"), "case %zu: %s", i,
                           t.err.message);
    }
    lapse_testing_close(&t);
}

/* The counter of the tenure comes once, and the durable rows come before those of the tenure. */
Test(load_tenure, rows_twice_or_out_of_order_are_corrupt) {
    struct lapse_testing t;
    struct rows rows;
    open_all(&t, &rows);
    for (size_t i = 0; i < rows.count; i++) {
        struct rows twice = rows;
        memmove(&twice.rows[i + 1], &twice.rows[i], (rows.count - i) * sizeof(rows.rows[0]));
        twice.count++;
        bool again = rows.rows[i].kind == LAPSE_ROW_MARK && rows.rows[i].key.len > 0;
        cr_expect_eq(load_all(&t, &twice), again ? LAPSE_OK : LAPSE_CORRUPT, "row %zu of %zu", i,
                     rows.count);
    }
    struct rows headless = rows;
    headless.rows[0] = headless.rows[1];
    cr_expect_eq(load_all(&t, &headless), LAPSE_CORRUPT);
    lapse_testing_close(&t);
}

/* Each allocation of a load, a walk and a digest fails in turn: nothing is left, and the store that
 * was looked at has not changed. */
Test(load_tenure, a_fork_that_runs_out_of_memory_leaves_nothing) {
    struct lapse_testing t;
    struct rows rows;
    size_t failed = 0;
    open_all(&t, &rows);
    uint64_t was = lapse_testing_digest(t.store, LAPSE_PART_TENURE);
    size_t out = t.alloc.bytes_out;
    for (size_t nth = 1;; nth++) {
        struct lapse *fork = NULL;
        t.alloc.calls = 0;
        t.alloc.fail_at = nth;
        enum lapse_status status = lapse_fork(t.store, NULL, t.options.clock, &fork, &t.err);
        t.alloc.fail_at = 0;
        if (status == LAPSE_OK) {
            lapse_close(fork);
            break;
        }
        failed++;
        cr_assert_eq(status, LAPSE_NOMEM, "allocation %zu: %s", nth, t.err.message);
        cr_assert_null(fork);
        cr_assert_eq(t.alloc.bytes_out, out, "allocation %zu leaks", nth);
    }
    cr_expect_gt(failed, 20, "only %zu allocations were failed", failed);
    for (size_t nth = 1; nth <= 3; nth++) {
        uint64_t digest = 7;
        t.alloc.calls = 0;
        t.alloc.fail_at = nth;
        cr_expect_eq(lapse_digest(t.store, LAPSE_PART_TENURE, &digest), LAPSE_NOMEM);
        cr_expect_eq(digest, 7, "a digest that failed was given");
        t.alloc.fail_at = 0;
        cr_assert_eq(t.alloc.bytes_out, out);
    }
    cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_TENURE), was);
    lapse_testing_close(&t);
}

static enum lapse_status stop_at(void *ctx, const struct lapse_row *row) {
    size_t *left = ctx;
    (void)row;
    return (*left)-- == 0 ? LAPSE_LIMIT : LAPSE_OK;
}

Test(load_tenure, a_walk_stops_where_it_is_told_to) {
    struct lapse_testing t;
    struct rows rows;
    open_all(&t, &rows);
    for (size_t n = 0; n < rows.count; n++) {
        size_t left = n;
        cr_expect_eq(lapse_walk(t.store, stop_at, &left, &t.err), LAPSE_LIMIT, "row %zu", n);
        cr_expect_eq(left, SIZE_MAX, "row %zu: the walk went on", n);
    }
    lapse_testing_close(&t);
}

/* What a walk shows of the last command comes after the mark that it is reckoned from. */
Test(load_tenure, the_last_command_is_not_taken_for_the_mark) {
    struct lapse_testing t;
    struct rows rows;
    open_all(&t, &rows);
    struct rows moved = rows;
    moved.rows[0] = *find(&rows, LAPSE_ROW_MARK, "now");
    cr_expect_eq(load_all(&t, &moved), LAPSE_CORRUPT);
    cr_expect_not_null(strstr(t.err.message, "no mark is stored before it"), "%s", t.err.message);
    cr_expect_eq(load_all(&t, &rows), LAPSE_OK, "%s", t.err.message);
    lapse_testing_close(&t);
}
