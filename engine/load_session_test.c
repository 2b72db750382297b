/* Sessions, what ends with them and remembered requests, as damaged storage may hand them over:
 * `corrupt`, with a sentence that names the row, and never an assertion. */
#include "testing.h"

#include <criterion/criterion.h>
#include <stddef.h>
#include <string.h>

/* A small store at 5 s: session 1 of the name s has ended and left a key, session 2 of that name is
 * live with a key and a lease. */
static void write_rows(struct lapse_testing *t, struct lapse_testing_journal *journal) {
    struct lapse_bytes s = lapse_bytes_of("s");
    struct lapse_bytes owner = lapse_bytes_of("w1");
    struct lapse_bytes b = lapse_bytes_of("b");
    struct lapse_term term = {.given = LAPSE_TERM_SESSION, .session = s};
    struct lapse_result *r = &t->r;
    lapse_testing_journal_init(journal);
    lapse_testing_open_with(t, journal, 0);
    lapse_testing_bucket(t, "b", 0, 0, S(60));
    lapse_session_open(t->store, s, owner, (struct lapse_span){S(3)}, r, &t->err);
    lapse_set(t->store, b, lapse_bytes_of("old"), owner, &term, NULL, r, &t->err);
    lapse_testing_at(t, S(5));
    lapse_session_open(t->store, s, owner, (struct lapse_span){S(9)}, r, &t->err);
    lapse_set(t->store, b, lapse_bytes_of("new"), owner, &term, NULL, r, &t->err);
    struct lapse_command acquire = {.verb = LAPSE_VERB_ACQUIRE, .key = lapse_bytes_of("job")};
    acquire.request = lapse_bytes_of("id-1");
    acquire.u.lease.owner = owner;
    acquire.u.lease.session = s;
    cr_assert_eq(lapse_apply(t->store, &acquire, r, &t->err), LAPSE_OK, "%s", t->err.message);
    lapse_close(t->store);
    t->store = NULL;
    journal->closed = false;
}

enum name { COUNTER, OLD_SESSION, SESSION, OLD_KEY, KEY, LEASE, REQUEST };

static struct lapse_row *row_of(struct lapse_testing_journal *journal, enum name name) {
    static const enum lapse_row_kind kinds[] = {
        LAPSE_ROW_COUNTER, LAPSE_ROW_SESSION, LAPSE_ROW_SESSION, LAPSE_ROW_RECORD,
        LAPSE_ROW_RECORD,  LAPSE_ROW_LEASE,   LAPSE_ROW_REQUEST};
    static const char *const keys[] = {"session", "s", "s", "old", "new", "job", "id-1"};
    static const int64_t revisions[] = {2, 1, 2, 1, 2, 0, 0};
    for (size_t i = 0; i < journal->row_count; i++) {
        struct lapse_row *row = &journal->rows[i];
        if (row->kind == kinds[name] && lapse_testing_is(row->key, keys[name]) &&
            row->revision == revisions[name]) {
            return row;
        }
    }
    cr_assert_fail("row %d is not stored", (int)name);
    return NULL;
}

static enum lapse_status reopen(struct lapse_testing *t, struct lapse_testing_journal *journal) {
    struct lapse *store = NULL;
    t->err.message[0] = '\0';
    enum lapse_status status = lapse_open(&t->options, &store, &t->err);
    t->alloc.fail_at = 0;
    if (status == LAPSE_OK) {
        cr_assert_eq(lapse_check(store, &t->err), LAPSE_OK, "%s", t->err.message);
        lapse_testing_journal_same(journal, store);
        lapse_close(store);
        journal->closed = false;
    }
    return status;
}

/* One field of one row set to what no store writes. */
struct spoiled {
    enum name row;
    size_t offset, bytes;
    int64_t value;
};

#define SPOIL(row, field, value) \
    { row, offsetof(struct lapse_row, field), sizeof(((struct lapse_row *)0)->field), value }

static const struct spoiled spoils[] = {
    SPOIL(COUNTER, revision, 1), /* below a session's number */
    SPOIL(COUNTER, revision, -1),
    SPOIL(SESSION, revision, 0),
    SPOIL(SESSION, revision, 1), /* twice */
    SPOIL(SESSION, revision, 3),
    SPOIL(SESSION, key.len, 0),
    SPOIL(SESSION, bucket.len, 1),
    SPOIL(SESSION, part, LAPSE_PART_TENURE),
    SPOIL(SESSION, session.owner.len, 0),
    SPOIL(SESSION, session.owner.len, LAPSE_OWNER_BYTES_MAX + 1),
    SPOIL(SESSION, session.end.kind, LAPSE_END_WALL),
    SPOIL(SESSION, session.end.kind, LAPSE_END_NONE),
    SPOIL(SESSION, session.end.kind, 77),
    SPOIL(SESSION, session.end.ns, -1),
    SPOIL(SESSION, session.end.ns, S(14) + 1), /* begun after the mark */
    SPOIL(SESSION, session.span.ns, 0),
    SPOIL(SESSION, session.span.ns, -1),
    SPOIL(OLD_SESSION, session.end.ns, S(5) + 1), /* two are live */
    SPOIL(KEY, record.session, 0),
    SPOIL(KEY, record.session, 3),
    SPOIL(KEY, record.session, -1),
    SPOIL(KEY, record.source, LAPSE_SOURCE_NONE),
    SPOIL(KEY, record.source, LAPSE_SOURCE_OWN),
    SPOIL(KEY, record.source, LAPSE_SOURCE_MARKERS),
    SPOIL(KEY, record.end.kind, LAPSE_END_STEADY),
    SPOIL(KEY, record.end.ns, S(14)),
    SPOIL(KEY, record.span.ns, 1),
    SPOIL(KEY, record.idle, 1),
    SPOIL(KEY, record.written_seq, 1),
    SPOIL(LEASE, lease.session, 0),
    SPOIL(LEASE, lease.session, 7),
    SPOIL(LEASE, lease.end.kind, LAPSE_END_STEADY),
    SPOIL(LEASE, lease.end.kind, LAPSE_END_WALL),
    SPOIL(LEASE, lease.end.ns, S(14)),
    SPOIL(LEASE, lease.span.ns, 1),
    SPOIL(REQUEST, key.len, 0),
    SPOIL(REQUEST, key.len, LAPSE_REQUEST_BYTES_MAX + 1),
    SPOIL(REQUEST, bucket.len, 1),
    SPOIL(REQUEST, revision, 1),
    SPOIL(REQUEST, part, LAPSE_PART_TENURE),
    SPOIL(REQUEST, request.verb, 0),
    SPOIL(REQUEST, request.verb, LAPSE_VERB_GET),
    SPOIL(REQUEST, request.verb, LAPSE_VERB_REAP),
    SPOIL(REQUEST, request.verb, LAPSE_VERB_BATCH), /* without answers */
    SPOIL(REQUEST, request.verb, 99),
    SPOIL(REQUEST, request.verb, 1024 + LAPSE_VERB_SET),
    SPOIL(REQUEST, request.status, LAPSE_ABSENT),
    SPOIL(REQUEST, request.status, LAPSE_IO),
    SPOIL(REQUEST, request.at.ns, -1),
    SPOIL(REQUEST, request.at.ns, S(5) + 1),
    SPOIL(REQUEST, request.end.kind, 77),
    SPOIL(REQUEST, request.end.kind, LAPSE_END_NONE), /* with an instant */
    SPOIL(REQUEST, request.revision, -1),
    SPOIL(REQUEST, request.token, -1),
    SPOIL(REQUEST, request.owner.len, LAPSE_OWNER_BYTES_MAX + 1),
    SPOIL(REQUEST, request.answers.len, 1),
    SPOIL(REQUEST, request.answers.len, 27), /* of a verb that has none */
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

Test(load_session, rows_that_no_store_writes_are_corrupt) {
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    /* Long enough for every length that a row is given here. */
    unsigned char bytes[LAPSE_OWNER_BYTES_MAX + 1];
    memset(bytes, 0, sizeof(bytes));
    write_rows(&t, &journal);
    cr_assert_eq(reopen(&t, &journal), LAPSE_OK, "%s", t.err.message);
    for (size_t i = 0; i < sizeof(spoils) / sizeof(spoils[0]); i++) {
        struct lapse_row *row = row_of(&journal, spoils[i].row);
        struct lapse_row before = *row;
        row->request.owner.data = row->request.answers.data = bytes;
        row->session.owner.data = row->bucket.data = bytes;
        row->bucket.data = before.bucket.len > 0 ? before.bucket.data : bytes;
        if (spoils[i].offset == offsetof(struct lapse_row, key.len)) {
            row->key.data = bytes;
        }
        spoil(row, &spoils[i]);
        enum lapse_status status = reopen(&t, &journal);
        cr_expect_eq(status, LAPSE_CORRUPT, "field %zu: %s", i, lapse_status_word(status));
        cr_expect_not_null(strstr(t.err.message, "the stored row of kind"), "field %zu", i);
        *row = before;
    }
    cr_assert_eq(reopen(&t, &journal), LAPSE_OK, "%s", t.err.message);
    lapse_result_free(&t.r);
    cr_expect_eq(t.alloc.bytes_out, 0);
    lapse_testing_journal_finish(&journal);
}

Test(load_session, the_answers_of_a_batch_are_read_one_by_one) {
    enum { ANSWER = 27 };
    static const struct {
        size_t at; /* in the second answer */
        unsigned char value;
        enum lapse_status want;
    } cases[] = {
        {0, LAPSE_VERB_SET, LAPSE_OK},
        {0, LAPSE_VERB_CLOSE, LAPSE_OK},
        {0, LAPSE_VERB_GET, LAPSE_CORRUPT},
        {0, LAPSE_VERB_BATCH, LAPSE_CORRUPT},
        {0, 0, LAPSE_CORRUPT},
        {0, 99, LAPSE_CORRUPT},
        {1, LAPSE_ABSENT, LAPSE_CORRUPT},
        {1, 0xfe, LAPSE_CORRUPT},
        {9, 0x80, LAPSE_CORRUPT} /* a revision below 0 */,
        {17, 0x80, LAPSE_CORRUPT} /* a token */,
        {18, LAPSE_END_WALL, LAPSE_OK},
        {18, 3, LAPSE_CORRUPT},
        {26, 0x80, LAPSE_OK} /* a date before 1970 */,
    };
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    write_rows(&t, &journal);
    struct lapse_row *row = row_of(&journal, REQUEST);
    struct lapse_row before = *row;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsigned char answers[2 * ANSWER] = {[0] = LAPSE_VERB_SET, [ANSWER] = LAPSE_VERB_DELETE};
        answers[ANSWER + cases[i].at] = cases[i].value;
        row->request.verb = LAPSE_VERB_BATCH;
        row->request.answers = (struct lapse_bytes){answers, sizeof(answers)};
        cr_expect_eq(reopen(&t, &journal), cases[i].want, "case %zu: %s", i, t.err.message);
        row->request.answers.len--;
        cr_expect_eq(reopen(&t, &journal), LAPSE_CORRUPT);
        *row = before;
    }
    lapse_result_free(&t.r);
    lapse_testing_journal_finish(&journal);
}

/* Hands over the journal's rows with one moved behind all others. */
struct moved {
    struct lapse_testing_journal *journal;
    enum name name;
    bool stays; /* and at its own place */
};

static enum lapse_status load_moved(void *ctx, lapse_row_visit visit, void *visit_ctx,
                                    struct lapse_error *err) {
    const struct moved *moved = ctx;
    static const enum lapse_row_kind order[] = {
        LAPSE_ROW_MARK,   LAPSE_ROW_COUNTER, LAPSE_ROW_SESSION, LAPSE_ROW_BUCKET,
        LAPSE_ROW_RECORD, LAPSE_ROW_LEASE,   LAPSE_ROW_REQUEST};
    const struct lapse_row *late = row_of(moved->journal, moved->name);
    enum lapse_status status = LAPSE_OK;
    (void)err;
    for (size_t k = 0; k < 7; k++) {
        for (size_t i = 0; i < moved->journal->row_count && status == LAPSE_OK; i++) {
            const struct lapse_row *row = &moved->journal->rows[i];
            if (row->kind == order[k] && (row != late || moved->stays)) {
                status = visit(visit_ctx, row);
            }
        }
    }
    return status == LAPSE_OK ? visit(visit_ctx, late) : status;
}

Test(load_session, rows_out_of_order_or_twice_are_corrupt) {
    static const enum name names[] = {COUNTER, OLD_SESSION, SESSION, KEY, LEASE, REQUEST};
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    write_rows(&t, &journal);
    struct lapse_options options = t.options;
    for (size_t i = 0; i < 2 * sizeof(names) / sizeof(names[0]); i++) {
        struct moved moved = {&journal, names[i / 2], i % 2 == 1};
        if (names[i / 2] >= KEY && !moved.stays) {
            continue; /* the rows of keys, leases and requests stand on nothing that follows */
        }
        options.journal.load = load_moved;
        options.journal.ctx = &moved;
        struct lapse *store = NULL;
        enum lapse_status status = lapse_open(&options, &store, &t.err);
        cr_expect_eq(status, LAPSE_CORRUPT, "row %zu: %s", i, lapse_status_word(status));
    }
    lapse_result_free(&t.r);
    cr_expect_eq(t.alloc.bytes_out, 0);
    lapse_testing_journal_finish(&journal);
}

Test(load_session, a_load_that_runs_out_of_memory_leaves_nothing) {
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    write_rows(&t, &journal);
    lapse_result_free(&t.r);
    size_t nth = 0;
    enum lapse_status status = LAPSE_NOMEM;
    while (status == LAPSE_NOMEM) {
        t.alloc.calls = 0;
        t.alloc.fail_at = ++nth;
        status = reopen(&t, &journal);
        cr_expect_eq(t.alloc.bytes_out, 0, "allocation %zu", nth);
        cr_assert_lt(nth, 200);
    }
    cr_expect(status == LAPSE_OK && nth > 20, "%s", lapse_status_word(status));
    lapse_testing_journal_finish(&journal);
}
