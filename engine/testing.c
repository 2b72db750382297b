/* The helpers of testing.h. */
#include "testing.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct same {
    const struct lapse_testing_journal *journal;
    size_t seen;
};

static void *resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes);
static enum lapse_status journal_load(void *ctx, lapse_row_visit visit, void *visit_ctx,
                                      struct lapse_error *err);
static bool loads_before(const struct lapse_row *a, const struct lapse_row *b);
static enum lapse_status journal_begin(void *ctx, struct lapse_error *err);
static enum lapse_status journal_put(void *ctx, const struct lapse_row *row,
                                     struct lapse_error *err);
static enum lapse_status journal_drop(void *ctx, const struct lapse_row *row,
                                      struct lapse_error *err);
static enum lapse_status journal_commit(void *ctx, enum lapse_sync sync, int64_t *ret_point,
                                        struct lapse_error *err);
static void journal_rollback(void *ctx);
static void journal_close(void *ctx);
static enum lapse_status tick(struct lapse_testing_journal *journal, struct lapse_error *err);
static void stage(struct lapse_testing_journal *journal, const struct lapse_row *row, bool drop);
static struct lapse_bytes keep(struct lapse_bytes bytes);
static void free_row(struct lapse_row *row);
static bool same_key(const struct lapse_row *a, const struct lapse_row *b);
static size_t find(const struct lapse_testing_journal *journal, const struct lapse_row *row);
static enum lapse_status compare_row(void *ctx, const struct lapse_row *row);

void lapse_testing_alloc_init(struct lapse_testing_alloc *alloc) {
    *alloc = (struct lapse_testing_alloc){.vtable = {resize, alloc}};
}

void lapse_testing_journal_init(struct lapse_testing_journal *journal) {
    memset(journal, 0, sizeof(*journal));
}

void lapse_testing_journal_finish(struct lapse_testing_journal *journal) {
    for (size_t i = 0; i < journal->row_count; i++) {
        free_row(&journal->rows[i]);
    }
    journal->row_count = 0;
}

lapse_journal lapse_testing_journal_vtable(struct lapse_testing_journal *journal) {
    return (lapse_journal){journal_load,   journal_begin,    journal_put,   journal_drop,
                           journal_commit, journal_rollback, journal_close, journal};
}

void lapse_testing_journal_same(const struct lapse_testing_journal *journal,
                                const struct lapse *store) {
    struct same same = {journal, 0};
    cr_assert_eq(lapse_walk(store, compare_row, &same, NULL), LAPSE_OK);
    cr_assert_eq(same.seen, journal->row_count, "the journal holds %zu rows, the store %zu",
                 journal->row_count, same.seen);
}

void lapse_testing_open(struct lapse_testing *t) {
    lapse_testing_open_with(t, NULL, 0);
}

void lapse_testing_open_with(struct lapse_testing *t, struct lapse_testing_journal *journal,
                             size_t watch_events_max) {
    lapse_testing_open_policies(t, journal, watch_events_max, NULL);
}

void lapse_testing_open_policies(struct lapse_testing *t, struct lapse_testing_journal *journal,
                                 size_t watch_events_max, const struct lapse_policies *policies) {
    memset(t, 0, sizeof(*t));
    lapse_clock_manual_init(&t->clock, (struct lapse_wall){S(1000)});
    lapse_testing_alloc_init(&t->alloc);
    t->options.alloc = &t->alloc.vtable;
    t->options.clock = lapse_clock_manual_vtable(&t->clock);
    t->options.watch_events_max = watch_events_max;
    if (policies != NULL) {
        t->options.policies = *policies;
    }
    if (journal != NULL) {
        t->options.journal = lapse_testing_journal_vtable(journal);
    }
    cr_assert_eq(lapse_open(&t->options, &t->store, &t->err), LAPSE_OK, "%s", t->err.message);
    lapse_result_init(&t->r, &t->alloc.vtable);
}

void lapse_testing_close(struct lapse_testing *t) {
    lapse_testing_check(t);
    lapse_close(t->store);
    lapse_result_free(&t->r);
    cr_assert_eq(t->alloc.bytes_out, 0, "%zu bytes were not given back", t->alloc.bytes_out);
}

void lapse_testing_check(struct lapse_testing *t) {
    cr_assert_eq(lapse_check(t->store, &t->err), LAPSE_OK, "%s", t->err.message);
}

void lapse_testing_at(struct lapse_testing *t, int64_t ns) {
    struct lapse_span span = {ns - t->clock.now.raw_ns};
    cr_assert_eq(lapse_clock_manual_advance(&t->clock, span), LAPSE_OK);
}

void lapse_testing_bucket(struct lapse_testing *t, const char *name, unsigned given, int64_t span,
                          int64_t markers) {
    struct lapse_bucket_config config = {.term = {.given = given, .ttl = {span}, .idle = {span}},
                                         .markers = {markers}};
    enum lapse_status status =
        lapse_bucket_open(t->store, lapse_bytes_of(name), &config, &t->r, &t->err);
    cr_assert_eq(status, LAPSE_OK, "%s", t->err.message);
}

enum lapse_status lapse_testing_do(struct lapse_testing *t, enum lapse_verb verb,
                                   const char *bucket, const char *key, const char *value,
                                   unsigned given, int64_t term) {
    struct lapse_command command = {
        .verb = verb, .bucket = lapse_bytes_of(bucket), .key = lapse_bytes_of(key)};
    if (lapse_command_class(&command) == LAPSE_CLASS_LOG) {
        command.u.write.value = lapse_bytes_of(value);
        command.u.write.term = (struct lapse_term){
            .given = given, .ttl = {term}, .idle = {term}, .expires_at = {term}};
    }
    return lapse_apply(t->store, &command, &t->r, &t->err);
}

enum lapse_status lapse_testing_lease(struct lapse_testing *t, enum lapse_verb verb,
                                      const char *name, const char *owner, int64_t span) {
    struct lapse_command command = {.verb = verb, .key = lapse_bytes_of(name)};
    command.u.lease.owner = lapse_bytes_of(owner);
    command.u.lease.span.ns = span;
    return lapse_apply(t->store, &command, &t->r, &t->err);
}

void lapse_testing_step(struct lapse_testing *t, struct lapse_due *ret_due) {
    enum lapse_status status = lapse_step(t->store, 1000, &t->r, ret_due, &t->err);
    cr_assert_eq(status, LAPSE_OK, "%s", t->err.message);
}

uint64_t lapse_testing_digest(const struct lapse *store, enum lapse_part part) {
    uint64_t digest = 0;
    cr_assert_eq(lapse_digest(store, part, &digest), LAPSE_OK);
    return digest;
}

bool lapse_testing_is(struct lapse_bytes bytes, const char *text) {
    return lapse_bytes_equal(bytes, lapse_bytes_of(text));
}

static void *resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    struct lapse_testing_alloc *alloc = ctx;
    if (new_bytes == 0) {
        alloc->bytes_out -= old_bytes;
        free(ptr);
        return NULL;
    }
    alloc->calls++;
    if (alloc->calls == alloc->fail_at) {
        return NULL;
    }
    /* Always another place, so that a stale pointer shows under the address sanitizer. */
    unsigned char *moved = malloc(new_bytes);
    cr_assert_not_null(moved);
    memset(moved, 0xa5, new_bytes);
    if (ptr != NULL) {
        memcpy(moved, ptr, old_bytes < new_bytes ? old_bytes : new_bytes);
        free(ptr);
    }
    alloc->bytes_out += new_bytes - old_bytes;
    return moved;
}

static enum lapse_status journal_load(void *ctx, lapse_row_visit visit, void *visit_ctx,
                                      struct lapse_error *err) {
    const struct lapse_testing_journal *journal = ctx;
    const struct lapse_row *order[LAPSE_TESTING_ROWS_MAX];
    enum lapse_status status = LAPSE_OK;
    (void)err;
    for (size_t i = 0; i < journal->row_count; i++) {
        size_t at = i;
        for (; at > 0 && loads_before(&journal->rows[i], order[at - 1]); at--) {
            order[at] = order[at - 1];
        }
        order[at] = &journal->rows[i];
    }
    for (size_t i = 0; i < journal->row_count && status == LAPSE_OK; i++) {
        status = visit(visit_ctx, order[i]);
    }
    return status;
}

/* The order that load asks for: the mark, its peaks by number, counters, sessions by number,
 * buckets, the rest. */
static bool loads_before(const struct lapse_row *a, const struct lapse_row *b) {
    static const int rank[] = {9, 3, 4, 5, 2, 1, 0, 6};
    int rank_a = (unsigned)a->kind < 8 ? rank[a->kind] : 9;
    int rank_b = (unsigned)b->kind < 8 ? rank[b->kind] : 9;
    if (rank_a != rank_b) {
        return rank_a < rank_b;
    }
    if (a->kind == LAPSE_ROW_RECORD || a->kind == LAPSE_ROW_SESSION) {
        return a->revision < b->revision; /* a key's records and a name's sessions rise in it */
    }
    if (a->kind != LAPSE_ROW_MARK || (a->key.len == 0) != (b->key.len == 0)) {
        return a->kind == LAPSE_ROW_MARK && a->key.len == 0;
    }
    return a->revision < b->revision;
}

static enum lapse_status journal_begin(void *ctx, struct lapse_error *err) {
    struct lapse_testing_journal *journal = ctx;
    cr_assert(!journal->open, "begin inside a transaction");
    enum lapse_status status = tick(journal, err);
    journal->open = status == LAPSE_OK;
    return status;
}

static enum lapse_status journal_put(void *ctx, const struct lapse_row *row,
                                     struct lapse_error *err) {
    struct lapse_testing_journal *journal = ctx;
    enum lapse_status status = tick(journal, err);
    if (status == LAPSE_OK) {
        stage(journal, row, false);
    }
    return status;
}

static enum lapse_status journal_drop(void *ctx, const struct lapse_row *row,
                                      struct lapse_error *err) {
    struct lapse_testing_journal *journal = ctx;
    enum lapse_status status = tick(journal, err);
    if (status == LAPSE_OK) {
        cr_assert_lt(find(journal, row), journal->row_count, "a row is dropped that is not there");
        stage(journal, row, true);
    }
    return status;
}

static enum lapse_status journal_commit(void *ctx, enum lapse_sync sync, int64_t *ret_point,
                                        struct lapse_error *err) {
    struct lapse_testing_journal *journal = ctx;
    cr_assert_eq(sync, LAPSE_SYNC_FULL);
    enum lapse_status status = tick(journal, err);
    journal->open = false;
    for (size_t i = 0; i < journal->staged_count; i++) {
        struct lapse_row *row = &journal->staged[i];
        size_t at = find(journal, row);
        bool failed = status != LAPSE_OK && status != LAPSE_UNKNOWN;
        if (failed || (journal->staged_drop[i] && at == journal->row_count)) {
            free_row(row);
            continue;
        }
        if (at < journal->row_count) {
            free_row(&journal->rows[at]);
            journal->rows[at] = journal->rows[--journal->row_count];
        }
        if (journal->staged_drop[i]) {
            free_row(row);
        } else {
            cr_assert_lt(journal->row_count, LAPSE_TESTING_ROWS_MAX);
            journal->rows[journal->row_count++] = *row;
        }
    }
    journal->staged_count = 0;
    journal->commits += status == LAPSE_OK ? 1 : 0;
    *ret_point = journal->commits;
    return status;
}

static void journal_rollback(void *ctx) {
    struct lapse_testing_journal *journal = ctx;
    cr_assert(journal->open, "rollback outside a transaction");
    journal->open = false;
    journal->rollbacks++;
    for (size_t i = 0; i < journal->staged_count; i++) {
        free_row(&journal->staged[i]);
    }
    journal->staged_count = 0;
}

static void journal_close(void *ctx) {
    struct lapse_testing_journal *journal = ctx;
    cr_assert(!journal->open && !journal->closed);
    journal->closed = true;
}

static enum lapse_status tick(struct lapse_testing_journal *journal, struct lapse_error *err) {
    cr_assert(!journal->closed);
    journal->calls++;
    if (journal->calls == journal->fail_at) {
        return lapse_error_set(err, journal->fail_with, "the testing journal fails here");
    }
    return LAPSE_OK;
}

static void stage(struct lapse_testing_journal *journal, const struct lapse_row *row, bool drop) {
    cr_assert(journal->open, "a row outside a transaction");
    cr_assert_eq(row->part, LAPSE_PART_DURABLE);
    cr_assert_lt(journal->staged_count, LAPSE_TESTING_ROWS_MAX);
    journal->staged_drop[journal->staged_count] = drop;
    struct lapse_row *kept = &journal->staged[journal->staged_count++];
    *kept = *row;
    kept->bucket = keep(row->bucket);
    kept->key = keep(row->key);
    kept->record.value = keep(row->record.value);
    kept->lease.owner = keep(row->lease.owner);
    kept->session.owner = keep(row->session.owner);
    kept->request.owner = keep(row->request.owner);
    kept->request.answers = keep(row->request.answers);
}

static struct lapse_bytes keep(struct lapse_bytes bytes) {
    unsigned char *data = malloc(bytes.len + 1);
    cr_assert_not_null(data);
    if (bytes.len > 0) {
        memcpy(data, bytes.data, bytes.len);
    }
    return (struct lapse_bytes){data, bytes.len};
}

static void free_row(struct lapse_row *row) {
    free((void *)(uintptr_t)row->bucket.data);
    free((void *)(uintptr_t)row->key.data);
    free((void *)(uintptr_t)row->record.value.data);
    free((void *)(uintptr_t)row->lease.owner.data);
    free((void *)(uintptr_t)row->session.owner.data);
    free((void *)(uintptr_t)row->request.owner.data);
    free((void *)(uintptr_t)row->request.answers.data);
}

static bool same_key(const struct lapse_row *a, const struct lapse_row *b) {
    bool numbered = a->kind == LAPSE_ROW_RECORD || a->kind == LAPSE_ROW_SESSION ||
                    (a->kind == LAPSE_ROW_MARK && a->key.len > 0);
    return a->kind == b->kind && lapse_bytes_equal(a->bucket, b->bucket) &&
           lapse_bytes_equal(a->key, b->key) && (!numbered || a->revision == b->revision);
}

static size_t find(const struct lapse_testing_journal *journal, const struct lapse_row *row) {
    size_t i = 0;
    while (i < journal->row_count && !same_key(&journal->rows[i], row)) {
        i++;
    }
    return i;
}

static enum lapse_status compare_row(void *ctx, const struct lapse_row *row) {
    struct same *same = ctx;
    bool unwritten = row->kind == LAPSE_ROW_COUNTER && row->revision == 0;
    bool unmarked = row->kind == LAPSE_ROW_MARK && same->journal->commits == 0;
    if (row->part != LAPSE_PART_DURABLE || unwritten || unmarked) {
        return LAPSE_OK;
    }
    size_t at = find(same->journal, row);
    cr_assert_lt(at, same->journal->row_count, "a row of kind %d is missing", (int)row->kind);
    const struct lapse_row *kept = &same->journal->rows[at];
    cr_assert_eq(kept->revision, row->revision);
    cr_assert(lapse_bytes_equal(kept->record.value, row->record.value));
    cr_assert_eq(kept->record.end.kind, row->record.end.kind);
    cr_assert_eq(kept->record.end.ns, row->record.end.ns);
    cr_assert_eq(kept->record.last.ns, row->record.last.ns);
    cr_assert_eq(kept->record.written_seq, row->record.written_seq);
    cr_assert(lapse_bytes_equal(kept->lease.owner, row->lease.owner));
    cr_assert_eq(kept->lease.token, row->lease.token);
    cr_assert_eq(kept->lease.end.ns, row->lease.end.ns);
    cr_assert_eq(kept->mark.store.ns, row->mark.store.ns);
    cr_assert_eq(kept->mark.reading.wall.ns, row->mark.reading.wall.ns);
    struct lapse_digest digests[2];
    for (int k = 0; k < 2; k++) {
        lapse_digest_begin(&digests[k]);
        lapse_row_digest(k == 0 ? kept : row, &digests[k]);
    }
    cr_assert_eq(lapse_digest_value(&digests[0]), lapse_digest_value(&digests[1]),
                 "a row of kind %d is stored otherwise than it is told", (int)row->kind);
    same->seen++;
    return LAPSE_OK;
}
