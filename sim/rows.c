/* Rows as bytes in chains by the hash of their keys. A change is made at once and its inverse kept
 * until a sync has reached it, so that a rollback, and what a crash loses, is one list played back.
 * Order matters to a load alone, which sorts. */
#include "rows.h"

#include <stdlib.h>
#include <string.h>

enum { CHAINS_FIRST = 8 };

struct lapse_sim_row {
    struct lapse_sim_row *next;
    uint64_t hash;
    size_t len;
    unsigned char bytes[];
};

static enum lapse_status rows_load(void *ctx, lapse_row_visit visit, void *visit_ctx,
                                   struct lapse_error *err);
static enum lapse_status visit_all(struct lapse_sim_row **order, size_t count,
                                   lapse_row_visit visit, void *visit_ctx, struct lapse_error *err);
static enum lapse_status rows_begin(void *ctx, struct lapse_error *err);
static enum lapse_status rows_put(void *ctx, const struct lapse_row *row, struct lapse_error *err);
static enum lapse_status rows_drop(void *ctx, const struct lapse_row *row, struct lapse_error *err);
static enum lapse_status rows_commit(void *ctx, enum lapse_sync sync, int64_t *ret_durable_point,
                                     struct lapse_error *err);
static bool sync_rows(struct lapse_sim_rows *rows);
static void rows_rollback(void *ctx);
static void rows_close(void *ctx);
static bool reserve(struct lapse_sim_rows *rows);
static bool grow_chains(struct lapse_sim_rows *rows);
static struct lapse_sim_row **place(const struct lapse_sim_rows *rows, uint64_t hash,
                                    const struct lapse_row *row);
static struct lapse_sim_row *take_out(struct lapse_sim_rows *rows, struct lapse_sim_row **at);
static void put_in(struct lapse_sim_rows *rows, struct lapse_sim_row *row);
static void note(struct lapse_sim_rows *rows, struct lapse_sim_row *row, bool added);
static void play_back(struct lapse_sim_rows *rows, size_t to);
static void forget_undo(struct lapse_sim_rows *rows);
static void free_row(struct lapse_sim_rows *rows, struct lapse_sim_row *row);
static struct lapse_row decoded(const struct lapse_sim_row *row);
static uint64_t hash_of(const struct lapse_row *row);
static bool counts_revision(const struct lapse_row *row);
static int compare_keys(const struct lapse_row *a, const struct lapse_row *b);
static int compare_rows(const void *a, const void *b);
static int load_rank(const struct lapse_row *row);

void lapse_sim_rows_init(struct lapse_sim_rows *rows, const lapse_alloc *alloc,
                         struct lapse_sim_trouble *trouble) {
    *rows = (struct lapse_sim_rows){.alloc = alloc, .trouble = trouble};
}

lapse_journal lapse_sim_rows_journal(struct lapse_sim_rows *rows) {
    return (lapse_journal){rows_load,   rows_begin,    rows_put,   rows_drop,
                           rows_commit, rows_rollback, rows_close, rows};
}

void lapse_sim_rows_crash(struct lapse_sim_rows *rows) {
    play_back(rows, rows->undo_committed);
    rows->open = false;
}

void lapse_sim_rows_let_go(struct lapse_sim_rows *rows) {
    if (rows->hanging) {
        rows->hanging = false;
        forget_undo(rows);
    }
}

void lapse_sim_rows_lose_unsynced(struct lapse_sim_rows *rows) {
    play_back(rows, 0);
    rows->undo_committed = 0;
    rows->open = false;
    rows->hanging = false;
    for (size_t i = 0; rows->never_synced && i < rows->chain_count; i++) {
        while (rows->chains[i] != NULL) {
            free_row(rows, take_out(rows, &rows->chains[i]));
        }
    }
    rows->never_synced = false;
}

static enum lapse_status rows_load(void *ctx, lapse_row_visit visit, void *visit_ctx,
                                   struct lapse_error *err) {
    struct lapse_sim_rows *rows = ctx;
    if (rows->count == 0) {
        return LAPSE_OK;
    }
    size_t bytes = rows->count * sizeof(struct lapse_sim_row *);
    struct lapse_sim_row **order = lapse_alloc_zero(rows->alloc, bytes);
    if (order == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory to sort %zu rows", rows->count);
    }
    size_t count = 0;
    for (size_t i = 0; i < rows->chain_count; i++) {
        for (struct lapse_sim_row *row = rows->chains[i]; row != NULL; row = row->next) {
            order[count++] = row;
        }
    }
    LAPSE_ASSERT(count == rows->count);
    qsort(order, count, sizeof(order[0]), compare_rows);
    enum lapse_status status = visit_all(order, count, visit, visit_ctx, err);
    lapse_alloc_free(rows->alloc, order, bytes);
    return status;
}

static enum lapse_status visit_all(struct lapse_sim_row **order, size_t count,
                                   lapse_row_visit visit, void *visit_ctx,
                                   struct lapse_error *err) {
    enum lapse_status status = LAPSE_OK;
    for (size_t i = 0; i < count && status == LAPSE_OK; i++) {
        struct lapse_row row;
        status = lapse_row_decode((struct lapse_bytes){order[i]->bytes, order[i]->len}, &row, err);
        if (status == LAPSE_OK) {
            status = visit(visit_ctx, &row);
        }
    }
    return status;
}

static enum lapse_status rows_begin(void *ctx, struct lapse_error *err) {
    struct lapse_sim_rows *rows = ctx;
    (void)err;
    LAPSE_ASSERT(!rows->open);
    rows->open = true;
    return LAPSE_OK;
}

static enum lapse_status rows_put(void *ctx, const struct lapse_row *row, struct lapse_error *err) {
    struct lapse_sim_rows *rows = ctx;
    size_t len = 0;
    LAPSE_ASSERT(rows->open);
    (void)lapse_row_encode(row, NULL, 0, &len);
    struct lapse_sim_row *made =
        reserve(rows) ? lapse_alloc_zero(rows->alloc, sizeof(*made) + len) : NULL;
    if (made == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for a row of %zu bytes", len);
    }
    enum lapse_status status = lapse_row_encode(row, made->bytes, len, &len);
    LAPSE_ASSERT(status == LAPSE_OK);
    made->len = len;
    made->hash = hash_of(row);
    struct lapse_sim_row **at = place(rows, made->hash, row);
    if (*at != NULL) {
        note(rows, take_out(rows, at), false);
    }
    note(rows, made, true);
    put_in(rows, made);
    return LAPSE_OK;
}

static enum lapse_status rows_drop(void *ctx, const struct lapse_row *row,
                                   struct lapse_error *err) {
    struct lapse_sim_rows *rows = ctx;
    LAPSE_ASSERT(rows->open);
    if (!reserve(rows)) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory to drop a row");
    }
    struct lapse_sim_row **at = place(rows, hash_of(row), row);
    LAPSE_ASSERT(*at != NULL);
    note(rows, take_out(rows, at), false);
    return LAPSE_OK;
}

static enum lapse_status rows_commit(void *ctx, enum lapse_sync sync, int64_t *ret_durable_point,
                                     struct lapse_error *err) {
    struct lapse_sim_rows *rows = ctx;
    LAPSE_ASSERT(rows->open);
    if (rows->trouble->dead) {
        lapse_sim_rows_crash(rows);
        return lapse_error_set(err, LAPSE_UNKNOWN, "the process falls in the commit");
    }
    rows->open = false;
    rows->never_synced = rows->never_synced || sync == LAPSE_SYNC_NONE;
    rows->undo_committed = rows->undo_count;
    if (sync == LAPSE_SYNC_FULL && !sync_rows(rows)) {
        return lapse_error_set(err, LAPSE_UNKNOWN,
                               "the sync of a commit failed, and it may be there or not; close the "
                               "store and open it again to see");
    }
    if (sync == LAPSE_SYNC_NONE) {
        forget_undo(rows); /* never to be synced, so there is nothing to go back to */
    }
    *ret_durable_point = ++rows->commits;
    return LAPSE_OK;
}

/* What is committed is in the system's hands, and outlives the process, however its sync goes. */
static bool sync_rows(struct lapse_sim_rows *rows) {
    if (!lapse_sim_trouble_reach(rows->trouble, LAPSE_POINT_SYNC)) {
        return false;
    }
    enum lapse_sim_sync went = lapse_sim_trouble_sync(rows->trouble);
    if (went == LAPSE_SIM_SYNC_DONE) {
        forget_undo(rows);
    }
    rows->hanging = went == LAPSE_SIM_SYNC_HANGS;
    return went != LAPSE_SIM_SYNC_FAILS;
}

static void rows_rollback(void *ctx) {
    struct lapse_sim_rows *rows = ctx;
    LAPSE_ASSERT(rows->open);
    lapse_sim_rows_crash(rows);
}

/* The rows outlive the process that wrote them. */
static void rows_close(void *ctx) {
    ((struct lapse_sim_rows *)ctx)->hanging = false;
    lapse_sim_rows_crash(ctx);
}

/* Room for the changes of one put, so that nothing fails once it has begun. */
static bool reserve(struct lapse_sim_rows *rows) {
    void *undo = rows->undo;
    if (!lapse_alloc_grow(rows->alloc, &undo, &rows->undo_cap, rows->undo_count + 2,
                          sizeof(*rows->undo))) {
        return false;
    }
    rows->undo = undo;
    return rows->count < rows->chain_count || grow_chains(rows);
}

static bool grow_chains(struct lapse_sim_rows *rows) {
    size_t wider = rows->chain_count == 0 ? CHAINS_FIRST : rows->chain_count * 2;
    struct lapse_sim_row **chains =
        lapse_alloc_zero(rows->alloc, wider * sizeof(struct lapse_sim_row *));
    if (chains == NULL) {
        return false;
    }
    struct lapse_sim_rows old = *rows;
    rows->chains = chains;
    rows->chain_count = wider;
    rows->count = 0;
    for (size_t i = 0; i < old.chain_count; i++) {
        for (struct lapse_sim_row *row = old.chains[i], *next; row != NULL; row = next) {
            next = row->next;
            put_in(rows, row);
        }
    }
    lapse_alloc_free(rows->alloc, old.chains, old.chain_count * sizeof(struct lapse_sim_row *));
    return true;
}

/* Where the row with this key hangs; points to NULL if there is none. */
static struct lapse_sim_row **place(const struct lapse_sim_rows *rows, uint64_t hash,
                                    const struct lapse_row *row) {
    struct lapse_sim_row **at = &rows->chains[hash % rows->chain_count];
    for (; *at != NULL; at = &(*at)->next) {
        if ((*at)->hash == hash) {
            struct lapse_row found = decoded(*at);
            if (compare_keys(&found, row) == 0) {
                break;
            }
        }
    }
    return at;
}

static struct lapse_sim_row *take_out(struct lapse_sim_rows *rows, struct lapse_sim_row **at) {
    struct lapse_sim_row *row = *at;
    *at = row->next;
    row->next = NULL;
    rows->count--;
    return row;
}

static void put_in(struct lapse_sim_rows *rows, struct lapse_sim_row *row) {
    struct lapse_sim_row **chain = &rows->chains[row->hash % rows->chain_count];
    row->next = *chain;
    *chain = row;
    rows->count++;
}

static void note(struct lapse_sim_rows *rows, struct lapse_sim_row *row, bool added) {
    LAPSE_ASSERT(rows->undo_count < rows->undo_cap);
    rows->undo[rows->undo_count++] = (struct lapse_sim_rows_undo){row, added};
}

static void play_back(struct lapse_sim_rows *rows, size_t to) {
    while (rows->undo_count > to) {
        struct lapse_sim_rows_undo undo = rows->undo[--rows->undo_count];
        if (!undo.added) {
            put_in(rows, undo.row);
            continue;
        }
        struct lapse_sim_row **at = &rows->chains[undo.row->hash % rows->chain_count];
        while (*at != undo.row) {
            at = &(*at)->next;
        }
        free_row(rows, take_out(rows, at));
    }
}

/* What is synced is not gone back on: the rows that were replaced are free. */
static void forget_undo(struct lapse_sim_rows *rows) {
    for (size_t i = 0; i < rows->undo_count; i++) {
        if (!rows->undo[i].added) {
            free_row(rows, rows->undo[i].row);
        }
    }
    rows->undo_count = 0;
    rows->undo_committed = 0;
}

static void free_row(struct lapse_sim_rows *rows, struct lapse_sim_row *row) {
    lapse_alloc_free(rows->alloc, row, sizeof(*row) + row->len);
}

static struct lapse_row decoded(const struct lapse_sim_row *row) {
    struct lapse_row ret = {0};
    enum lapse_status status =
        lapse_row_decode((struct lapse_bytes){row->bytes, row->len}, &ret, NULL);
    LAPSE_ASSERT(status == LAPSE_OK);
    return ret;
}

static uint64_t hash_of(const struct lapse_row *row) {
    struct lapse_digest digest;
    lapse_digest_begin(&digest);
    lapse_digest_u64(&digest, (uint64_t)load_rank(row));
    lapse_digest_bytes(&digest, row->bucket);
    lapse_digest_bytes(&digest, row->key);
    lapse_digest_i64(&digest, counts_revision(row) ? row->revision : 0);
    return lapse_digest_value(&digest);
}

/* Whether the revision is part of the row's key. */
static bool counts_revision(const struct lapse_row *row) {
    return row->kind == LAPSE_ROW_RECORD || row->kind == LAPSE_ROW_SESSION ||
           (row->kind == LAPSE_ROW_MARK && row->key.len > 0);
}

/* By the order in which a load wants rows. */
static int compare_keys(const struct lapse_row *a, const struct lapse_row *b) {
    int order = load_rank(a) - load_rank(b);
    if (order == 0) {
        order = lapse_bytes_compare(a->bucket, b->bucket);
    }
    if (order == 0) {
        order = lapse_bytes_compare(a->key, b->key);
    }
    if (order == 0 && counts_revision(a)) {
        order = (a->revision > b->revision) - (a->revision < b->revision);
    }
    return order;
}

static int compare_rows(const void *a, const void *b) {
    struct lapse_row left = decoded(*(struct lapse_sim_row *const *)a);
    struct lapse_row right = decoded(*(struct lapse_sim_row *const *)b);
    return compare_keys(&left, &right);
}

/* The mark, its peaks, counters, sessions, buckets, records, leases, requests. */
static int load_rank(const struct lapse_row *row) {
    switch (row->kind) {
    case LAPSE_ROW_MARK:
        return row->key.len == 0 ? 0 : 1;
    case LAPSE_ROW_COUNTER:
        return 2;
    case LAPSE_ROW_SESSION:
        return 3;
    case LAPSE_ROW_BUCKET:
        return 4;
    case LAPSE_ROW_RECORD:
        return 5;
    case LAPSE_ROW_LEASE:
        return 6;
    case LAPSE_ROW_REQUEST:
        break;
    }
    return 7;
}
