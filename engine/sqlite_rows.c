/* Rows as columns. One list of columns a kind says what is bound and what is read, so the two
 * cannot part; its order is that of the table in sqlite_schema.c. What is read is trusted no more
 * than any file: types and checksum are compared, the meaning is for load.c. */
#include "sqlite_store.h"

#include <sqlite3.h>
#include <string.h>

struct columns {
    sqlite3_stmt *stmt;
    bool reads;
    int at;   /* the next column (reads: from 0) or parameter (from 1) */
    int code; /* of the first bind that failed */
    bool bad; /* reads: a value is not one that a store writes there */
};

struct kind {
    enum lapse_row_kind kind;
    const char *table;
    const char *key; /* its primary key's columns, which are the table's first */
    int keys, columns;
};

/* In the order of load. */
static const struct kind kinds[] = {
    {LAPSE_ROW_MARK, "mark_rows", "key, peak", 2, 11},
    {LAPSE_ROW_COUNTER, "counter_rows", "name", 1, 3},
    {LAPSE_ROW_SESSION, "session_rows", "name, incarnation", 2, 7},
    {LAPSE_ROW_BUCKET, "bucket_rows", "bucket", 1, 12},
    {LAPSE_ROW_RECORD, "record_rows", "bucket, key, revision", 3, 17},
    {LAPSE_ROW_LEASE, "lease_rows", "name", 1, 9},
    {LAPSE_ROW_REQUEST, "request_rows", "id", 1, 12},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), SQL_MAX = 200 };

static const struct kind *kind_of(enum lapse_row_kind kind);
static enum lapse_status load_kind(struct lapse_sqlite *store, const struct kind *kind,
                                   lapse_row_visit visit, void *visit_ctx,
                                   struct lapse_error *err);
static enum lapse_status read_row(const struct lapse_sqlite *store, const struct kind *kind,
                                  sqlite3_stmt *stmt, struct lapse_row *ret,
                                  struct lapse_error *err);
static enum lapse_status run(struct lapse_sqlite *store, sqlite3_stmt *stmt, int bound,
                             struct lapse_error *err);
static enum lapse_status statement(struct lapse_sqlite *store, const struct kind *kind, bool drops,
                                   sqlite3_stmt **ret, struct lapse_error *err);
static int64_t checksum_of(const struct lapse_row *row);
static int64_t peak_of(const struct lapse_row *row);
static void code_keys(struct columns *c, struct lapse_row *row);
static void code_rest(struct columns *c, struct lapse_row *row, int64_t *checksum);
static void code_bucket(struct columns *c, struct lapse_row *row);
static void code_record(struct columns *c, struct lapse_row *row, int64_t *checksum);
static void code_lease(struct columns *c, struct lapse_row *row);
static void code_request(struct columns *c, struct lapse_row *row, int64_t *checksum);
static void code_mark(struct columns *c, struct lapse_row *row);
static void code_end(struct columns *c, struct lapse_end *end);
static void code_i64(struct columns *c, int64_t *value);
static void code_u64(struct columns *c, uint64_t *value);
static int code_int(struct columns *c, int value, int max);
static void code_bytes(struct columns *c, struct lapse_bytes *bytes);
static bool is_text(struct lapse_bytes bytes);
static size_t character(const unsigned char *at, size_t left);

enum lapse_status lapse_sqlite_load_rows(struct lapse_sqlite *store, lapse_row_visit visit,
                                         void *visit_ctx, struct lapse_error *err) {
    enum lapse_status status = LAPSE_OK;
    for (size_t i = 0; i < KINDS && status == LAPSE_OK; i++) {
        status = load_kind(store, &kinds[i], visit, visit_ctx, err);
    }
    return status;
}

enum lapse_status lapse_sqlite_put(struct lapse_sqlite *store, const struct lapse_row *row,
                                   struct lapse_error *err) {
    LAPSE_ASSERT(row->part == LAPSE_PART_DURABLE);
    /* Neither has a revision of its own, so no column holds one. */
    bool numbered = row->kind != LAPSE_ROW_LEASE && row->kind != LAPSE_ROW_REQUEST;
    LAPSE_ASSERT(numbered || row->revision == 0);
    struct lapse_row copy = *row;
    struct columns c = {.at = 1};
    enum lapse_status status = statement(store, kind_of(row->kind), false, &c.stmt, err);
    if (status != LAPSE_OK) {
        return status;
    }
    int64_t checksum = checksum_of(row);
    code_keys(&c, &copy);
    code_rest(&c, &copy, &checksum);
    if (row->kind == LAPSE_ROW_MARK && row->key.len == 0) {
        store->point = row->revision;
    }
    return run(store, c.stmt, c.code, err);
}

enum lapse_status lapse_sqlite_drop(struct lapse_sqlite *store, const struct lapse_row *row,
                                    struct lapse_error *err) {
    LAPSE_ASSERT(row->part == LAPSE_PART_DURABLE);
    struct lapse_row copy = *row;
    struct columns c = {.at = 1};
    enum lapse_status status = statement(store, kind_of(row->kind), true, &c.stmt, err);
    if (status != LAPSE_OK) {
        return status;
    }
    code_keys(&c, &copy);
    status = run(store, c.stmt, c.code, err);
    if (status == LAPSE_OK && sqlite3_changes(store->db) != 1) {
        return lapse_error_set(err, LAPSE_CORRUPT,
                               "a row of `%s` is gone from %s; something else has written the file",
                               store->path, kind_of(row->kind)->table);
    }
    return status;
}

static const struct kind *kind_of(enum lapse_row_kind kind) {
    const struct kind *found = kinds;
    while (found->kind != kind) {
        found++;
        LAPSE_ASSERT(found < kinds + KINDS);
    }
    return found;
}

static enum lapse_status load_kind(struct lapse_sqlite *store, const struct kind *kind,
                                   lapse_row_visit visit, void *visit_ctx,
                                   struct lapse_error *err) {
    char sql[SQL_MAX];
    sqlite3_stmt *stmt = NULL;
    (void)sqlite3_snprintf(sizeof(sql), sql, "SELECT * FROM %s ORDER BY %s", kind->table,
                           kind->key);
    enum lapse_status status = lapse_sqlite_prepare(store, sql, &stmt, err);
    while (status == LAPSE_OK) {
        struct lapse_row row;
        int code = sqlite3_step(stmt);
        if (code != SQLITE_ROW) {
            status = code == SQLITE_DONE ? LAPSE_OK
                                         : lapse_sqlite_fault(store, code, "be read", err);
            break;
        }
        status = read_row(store, kind, stmt, &row, err);
        if (status == LAPSE_OK) {
            status = visit(visit_ctx, &row);
        }
        if (status == LAPSE_OK && row.kind == LAPSE_ROW_MARK && row.key.len == 0) {
            store->point = row.revision;
        }
    }
    (void)sqlite3_finalize(stmt);
    return status;
}

static enum lapse_status read_row(const struct lapse_sqlite *store, const struct kind *kind,
                                  sqlite3_stmt *stmt, struct lapse_row *ret,
                                  struct lapse_error *err) {
    struct columns c = {.stmt = stmt, .reads = true};
    int64_t checksum = 0;
    *ret = (struct lapse_row){.kind = kind->kind, .part = LAPSE_PART_DURABLE};
    code_keys(&c, ret);
    code_rest(&c, ret, &checksum);
    if (c.code == SQLITE_NOMEM) {
        return lapse_sqlite_fault(store, c.code, "be read", err);
    }
    if (c.bad || checksum != checksum_of(ret)) {
        char name[80];
        return lapse_error_set(err, LAPSE_CORRUPT,
                               "the row `%s` of %s in `%s` is not what was written: %s; restore an "
                               "older copy",
                               lapse_bytes_print(ret->key.len == 0 ? ret->bucket : ret->key, name,
                                                 sizeof(name)),
                               kind->table, store->path,
                               c.bad ? "a value is not of its kind" : "its checksum differs");
    }
    return LAPSE_OK;
}

static enum lapse_status run(struct lapse_sqlite *store, sqlite3_stmt *stmt, int bound,
                             struct lapse_error *err) {
    int code = bound == SQLITE_OK ? sqlite3_step(stmt) : bound;
    enum lapse_status status =
        code == SQLITE_DONE ? LAPSE_OK : lapse_sqlite_fault(store, code, "be written", err);
    /* What was bound is borrowed, and the next call binds each of them anew. */
    (void)sqlite3_reset(stmt);
    return status;
}

/* The statement of a kind, prepared at its first use and kept. */
static enum lapse_status statement(struct lapse_sqlite *store, const struct kind *kind, bool drops,
                                   sqlite3_stmt **ret, struct lapse_error *err) {
    char sql[SQL_MAX];
    sqlite3_stmt **kept = drops ? &store->drops[kind->kind] : &store->puts[kind->kind];
    enum lapse_status status = LAPSE_OK;
    if (*kept == NULL) {
        const char *more = ",?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?";
        int chars = 2 * ((drops ? kind->keys : kind->columns) - 1);
        LAPSE_ASSERT((size_t)chars <= strlen(more));
        (void)(drops ? sqlite3_snprintf(sizeof(sql), sql, "DELETE FROM %s WHERE (%s) = (?%.*s)",
                                        kind->table, kind->key, chars, more)
                     : sqlite3_snprintf(sizeof(sql), sql, "REPLACE INTO %s VALUES (?%.*s)",
                                        kind->table, chars, more));
        status = lapse_sqlite_prepare(store, sql, kept, err);
    }
    *ret = *kept;
    return status;
}

static int64_t checksum_of(const struct lapse_row *row) {
    struct lapse_digest digest;
    lapse_digest_begin(&digest);
    lapse_row_digest(row, &digest);
    uint64_t bits = lapse_digest_value(&digest);
    return bits <= INT64_MAX ? (int64_t)bits : -(int64_t)(UINT64_MAX - bits) - 1;
}

/* The mark is one row whatever its number; a peak is named by its number. */
static int64_t peak_of(const struct lapse_row *row) {
    return row->key.len == 0 ? 0 : row->revision;
}

static void code_keys(struct columns *c, struct lapse_row *row) {
    if (row->kind == LAPSE_ROW_BUCKET || row->kind == LAPSE_ROW_RECORD) {
        code_bytes(c, &row->bucket);
    }
    if (row->kind != LAPSE_ROW_BUCKET) {
        code_bytes(c, &row->key);
    }
    if (row->kind == LAPSE_ROW_RECORD || row->kind == LAPSE_ROW_SESSION) {
        code_i64(c, &row->revision);
    }
    if (row->kind == LAPSE_ROW_MARK) {
        int64_t peak = peak_of(row);
        code_i64(c, &peak);
        row->revision = c->reads ? peak : row->revision;
    }
}

static void code_rest(struct columns *c, struct lapse_row *row, int64_t *checksum) {
    switch (row->kind) {
    case LAPSE_ROW_BUCKET:
        code_bucket(c, row);
        break;
    case LAPSE_ROW_RECORD:
        code_record(c, row, checksum);
        return;
    case LAPSE_ROW_LEASE:
        code_lease(c, row);
        break;
    case LAPSE_ROW_SESSION:
        code_bytes(c, &row->session.owner);
        code_end(c, &row->session.end);
        code_i64(c, &row->session.span.ns);
        break;
    case LAPSE_ROW_COUNTER:
        code_i64(c, &row->revision);
        break;
    case LAPSE_ROW_MARK:
        code_mark(c, row);
        break;
    case LAPSE_ROW_REQUEST:
        code_request(c, row, checksum);
        return;
    }
    code_i64(c, checksum);
}

static void code_bucket(struct columns *c, struct lapse_row *row) {
    struct lapse_bucket_config *config = &row->bucket_row.config;
    code_i64(c, &row->revision);
    config->term.given =
        (unsigned)code_int(c, (int)config->term.given, LAPSE_TERM_TTL | LAPSE_TERM_IDLE);
    code_i64(c, &config->term.ttl.ns);
    code_i64(c, &config->term.idle.ns);
    code_i64(c, &config->term.cap.ns);
    code_i64(c, &config->markers.ns);
    config->history = (uint32_t)code_int(c, (int)config->history, LAPSE_HISTORY_MAX);
    code_i64(c, &config->first_revision);
    code_i64(c, &row->bucket_row.ceiling_revision);
    code_i64(c, &row->bucket_row.forgotten);
}

/* The value comes last, and the checksum before it: a long value lies on pages of its own. */
static void code_record(struct columns *c, struct lapse_row *row, int64_t *checksum) {
    row->record.kind =
        (enum lapse_record_kind)code_int(c, (int)row->record.kind, LAPSE_RECORD_GONE);
    code_end(c, &row->record.end);
    row->record.source =
        (enum lapse_term_source)code_int(c, (int)row->record.source, LAPSE_SOURCE_MARKERS);
    code_i64(c, &row->record.span.ns);
    row->record.idle = code_int(c, row->record.idle ? 1 : 0, 1) == 1;
    code_i64(c, &row->record.cap.ns);
    code_i64(c, &row->record.session);
    code_i64(c, &row->record.last.ns);
    code_i64(c, &row->record.written_seq);
    code_i64(c, &row->record.old_revision);
    row->record.why = (enum lapse_why)code_int(c, (int)row->record.why, LAPSE_WHY_SESSION);
    code_i64(c, checksum);
    code_bytes(c, &row->record.value);
}

static void code_lease(struct columns *c, struct lapse_row *row) {
    code_bytes(c, &row->lease.owner);
    code_i64(c, &row->lease.token);
    code_end(c, &row->lease.end);
    code_i64(c, &row->lease.span.ns);
    row->lease.durability =
        (enum lapse_durability)code_int(c, (int)row->lease.durability, LAPSE_EPHEMERAL);
    code_i64(c, &row->lease.session);
}

static void code_request(struct columns *c, struct lapse_row *row, int64_t *checksum) {
    row->request.verb = (enum lapse_verb)code_int(c, (int)row->request.verb, UINT8_MAX);
    code_u64(c, &row->request.digest);
    row->request.status = (enum lapse_status)code_int(c, (int)row->request.status, UINT8_MAX);
    code_i64(c, &row->request.at.ns);
    code_i64(c, &row->request.revision);
    code_i64(c, &row->request.token);
    code_end(c, &row->request.end);
    code_i64(c, checksum);
    code_bytes(c, &row->request.owner);
    code_bytes(c, &row->request.answers);
}

static void code_mark(struct columns *c, struct lapse_row *row) {
    int64_t peak = row->revision;
    code_i64(c, &row->revision);
    c->bad = c->bad || (c->reads && peak != peak_of(row));
    code_i64(c, &row->mark.store.ns);
    code_u64(c, &row->mark.reading.boot);
    code_i64(c, &row->mark.reading.raw_ns);
    code_i64(c, &row->mark.reading.wall.ns);
    code_i64(c, &row->mark.ceiling_store.ns);
    code_i64(c, &row->mark.ceiling_token);
    code_u64(c, &row->mark.policies);
}

static void code_end(struct columns *c, struct lapse_end *end) {
    end->kind = (enum lapse_end_kind)code_int(c, (int)end->kind, LAPSE_END_WALL);
    code_i64(c, &end->ns);
}

static void code_i64(struct columns *c, int64_t *value) {
    int at = c->at++;
    if (!c->reads) {
        int code = sqlite3_bind_int64(c->stmt, at, *value);
        c->code = c->code == SQLITE_OK ? code : c->code;
        return;
    }
    c->bad = c->bad || sqlite3_column_type(c->stmt, at) != SQLITE_INTEGER;
    *value = sqlite3_column_int64(c->stmt, at);
}

/* Two's complement, by value: no cast out of range. */
static void code_u64(struct columns *c, uint64_t *value) {
    int64_t number = *value <= INT64_MAX ? (int64_t)*value : -(int64_t)(UINT64_MAX - *value) - 1;
    code_i64(c, &number);
    *value = (uint64_t)number;
}

static int code_int(struct columns *c, int value, int max) {
    int64_t number = value;
    code_i64(c, &number);
    if (number < 0 || number > max) {
        c->bad = true;
        return 0;
    }
    return (int)number;
}

static void code_bytes(struct columns *c, struct lapse_bytes *bytes) {
    int at = c->at++;
    if (!c->reads) {
        /* SQLite takes a null pointer for NULL, not for no bytes. */
        const void *data = bytes->len == 0 ? "" : (const void *)bytes->data;
        int code = is_text(*bytes) ? sqlite3_bind_text64(c->stmt, at, data, bytes->len,
                                                         SQLITE_STATIC, SQLITE_UTF8)
                                   : sqlite3_bind_blob64(c->stmt, at, data, bytes->len,
                                                         SQLITE_STATIC);
        c->code = c->code == SQLITE_OK ? code : c->code;
        return;
    }
    int type = sqlite3_column_type(c->stmt, at);
    bytes->data = sqlite3_column_blob(c->stmt, at);
    bytes->len = (size_t)sqlite3_column_bytes(c->stmt, at);
    if (bytes->data == NULL) {
        bytes->len = 0;
        c->code = sqlite3_errcode(sqlite3_db_handle(c->stmt)) == SQLITE_NOMEM ? SQLITE_NOMEM
                                                                              : c->code;
    }
    /* Bytes in the other form would be another value to SQLite, and be found no more. */
    c->bad = c->bad || type != (is_text(*bytes) ? SQLITE_TEXT : SQLITE_BLOB);
}

/* Whether the bytes are UTF-8 without a NUL. */
static bool is_text(struct lapse_bytes bytes) {
    size_t at = 0;
    while (at < bytes.len) {
        size_t len = character(bytes.data + at, bytes.len - at);
        if (len == 0) {
            return false;
        }
        at += len;
    }
    return true;
}

/* The length of one character of UTF-8 in its shortest form, 0 if there is none. */
static size_t character(const unsigned char *at, size_t left) {
    unsigned lead = at[0];
    if (lead < 0x80) {
        return lead == 0 ? 0 : 1;
    }
    size_t len = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || left < len) {
        return 0;
    }
    unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (at[1] < low || at[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < len; i++) {
        if (at[i] < 0x80 || at[i] > 0xbf) {
            return 0;
        }
    }
    return len;
}
