/* The store file: rows of every kind come back, a person reads them, damage is told or harmless,
 * and a file that is not ours is left as it was. */
#include "testing.h"

#include "lapse/sqlite.h"
#include "testing_files.h"
#include "testing_vfs.h"

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 240, BYTES_MAX = 6000 };

struct chance {
    uint64_t state;
};

/* A sum, because texts come before other bytes when a file is read. */
struct gathered {
    uint64_t sum;
    size_t count;
};

static uint64_t draw(struct chance *chance, uint64_t n) {
    chance->state = chance->state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (chance->state >> 33) % n;
}

/* Numbers near the ends of their range, small ones, and ones in between. */
static int64_t number(struct chance *chance) {
    static const int64_t edges[] = {0, 1, -1, INT64_MAX, INT64_MIN, 127, 128, 1 << 23, S(1)};
    return edges[draw(chance, sizeof(edges) / sizeof(edges[0]))];
}

static struct lapse_bytes some_bytes(struct chance *chance, unsigned char *buf, size_t max) {
    static const char *const samples[] = {"",     "a",        "key",         "\xc3\xa4",
                                          "\xff", "\xc0\x80", "\xed\xa0\x80"};
    size_t len = 0;
    if (draw(chance, 3) > 0) {
        const char *sample = samples[draw(chance, sizeof(samples) / sizeof(samples[0]))];
        len = strlen(sample);
        memcpy(buf, sample, len);
    }
    size_t more = (size_t)draw(chance, draw(chance, 8) == 0 ? max - 16 : 12);
    uint64_t wide = draw(chance, 2) == 0 ? 256 : 90;
    for (size_t i = 0; i < more; i++) {
        buf[len++] = (unsigned char)(wide == 256 ? draw(chance, 256) : 33 + draw(chance, 90));
    }
    return (struct lapse_bytes){buf, len};
}

static struct lapse_end some_end(struct chance *chance) {
    return (struct lapse_end){(enum lapse_end_kind)draw(chance, 3), number(chance)};
}

static void fill_record(struct lapse_row *row, struct chance *chance, unsigned char *buf) {
    row->record.kind = (enum lapse_record_kind)(1 + draw(chance, LAPSE_RECORD_PURGE));
    row->record.value = some_bytes(chance, buf, BYTES_MAX);
    row->record.end = some_end(chance);
    row->record.source = (enum lapse_term_source)draw(chance, LAPSE_SOURCE_MARKERS + 1);
    row->record.span.ns = number(chance);
    row->record.idle = draw(chance, 2) == 1;
    row->record.cap.ns = number(chance);
    row->record.session = (int64_t)draw(chance, 3);
    row->record.last.ns = number(chance);
    row->record.written_seq = number(chance);
    row->record.old_revision = number(chance);
    row->record.why = (enum lapse_why)draw(chance, LAPSE_WHY_SESSION + 1);
}

/* The nth row of a set that holds every kind, in the order of load; its key is its own. */
static struct lapse_row row_at(size_t n, unsigned char *buf) {
    static const enum lapse_row_kind order[] = {LAPSE_ROW_MARK,   LAPSE_ROW_COUNTER,
                                                LAPSE_ROW_SESSION, LAPSE_ROW_BUCKET,
                                                LAPSE_ROW_RECORD,  LAPSE_ROW_LEASE,
                                                LAPSE_ROW_REQUEST};
    struct chance chance = {n};
    char name[24];
    struct lapse_row row = {.kind = order[n * 7 / ROWS], .revision = (int64_t)n};
    size_t len = (size_t)snprintf(name, sizeof(name), "%04zu", n);
    memcpy(buf, name, len);
    struct lapse_bytes tail = some_bytes(&chance, buf + len, 200);
    struct lapse_bytes own = {buf, len + tail.len};
    row.key = own;
    unsigned char *more = buf + BYTES_MAX;
    switch (row.kind) {
    case LAPSE_ROW_MARK:
        row.key = lapse_bytes_of(n == 0 ? "" : "peak");
        row.mark.store.ns = number(&chance);
        row.mark.reading = (struct lapse_reading){UINT64_MAX - n, number(&chance), {S(1000)}};
        row.mark.ceiling_store.ns = number(&chance);
        row.mark.ceiling_token = number(&chance);
        row.mark.policies = UINT64_MAX / (n + 1);
        break;
    case LAPSE_ROW_COUNTER:
        break;
    case LAPSE_ROW_SESSION:
        row.session.owner = some_bytes(&chance, more, 100);
        row.session.end = some_end(&chance);
        row.session.span.ns = number(&chance);
        break;
    case LAPSE_ROW_BUCKET:
        row.bucket = own;
        row.key = (struct lapse_bytes){NULL, 0};
        row.bucket_row.config.term.given = (unsigned)draw(&chance, 3);
        row.bucket_row.config.term.ttl.ns = number(&chance);
        row.bucket_row.config.term.cap.ns = number(&chance);
        row.bucket_row.config.markers.ns = number(&chance);
        row.bucket_row.config.history = (uint32_t)draw(&chance, LAPSE_HISTORY_MAX + 1);
        row.bucket_row.ceiling_revision = number(&chance);
        row.bucket_row.forgotten = number(&chance);
        break;
    case LAPSE_ROW_RECORD:
        row.bucket = lapse_bytes_of("b");
        fill_record(&row, &chance, more);
        break;
    case LAPSE_ROW_LEASE:
        row.revision = 0;
        row.lease.owner = some_bytes(&chance, more, 300);
        row.lease.token = number(&chance);
        row.lease.end = some_end(&chance);
        row.lease.span.ns = number(&chance);
        row.lease.session = number(&chance);
        break;
    case LAPSE_ROW_REQUEST:
        row.revision = 0;
        row.request.verb = (enum lapse_verb)draw(&chance, 256);
        row.request.digest = UINT64_MAX - n;
        row.request.status = (enum lapse_status)draw(&chance, 12);
        row.request.at.ns = number(&chance);
        row.request.end = some_end(&chance);
        row.request.owner = some_bytes(&chance, more, 100);
        row.request.answers = some_bytes(&chance, more + BYTES_MAX, BYTES_MAX);
        break;
    }
    return row;
}

static void write_rows(const lapse_journal *journal, size_t first, size_t last, bool drops) {
    static unsigned char buf[3 * BYTES_MAX];
    struct lapse_error err;
    int64_t point = 0;
    cr_assert_eq(journal->begin(journal->ctx, &err), LAPSE_OK, "%s", err.message);
    for (size_t n = first; n < last; n++) {
        struct lapse_row row = row_at(n, buf);
        enum lapse_status status = drops ? journal->drop(journal->ctx, &row, &err)
                                         : journal->put(journal->ctx, &row, &err);
        cr_assert_eq(status, LAPSE_OK, "row %zu: %s", n, err.message);
    }
    cr_assert_eq(journal->commit(journal->ctx, LAPSE_SYNC_FULL, &point, &err), LAPSE_OK, "%s",
                 err.message);
}

static enum lapse_status gather(void *ctx, const struct lapse_row *row) {
    struct gathered *gathered = ctx;
    struct lapse_digest digest;
    lapse_digest_begin(&digest);
    lapse_row_digest(row, &digest);
    gathered->sum += lapse_digest_value(&digest);
    gathered->count++;
    return LAPSE_OK;
}

/* Opens a file, loads it and closes it: a digest of what it holds. */
static enum lapse_status digest_file(const char *path, struct gathered *ret,
                                     struct lapse_error *err) {
    struct lapse_testing_vfs vfs; /* syncs take most of the time, and show nothing here */
    struct lapse_sqlite_options options = {.vfs = "quick"};
    lapse_journal journal;
    lapse_testing_vfs_init(&vfs, "quick");
    *ret = (struct gathered){0, 0};
    enum lapse_status status = lapse_sqlite_open(path, &options, &journal, err);
    if (status == LAPSE_OK) {
        status = journal.load(journal.ctx, gather, ret, err);
        journal.close(journal.ctx);
    }
    lapse_testing_vfs_finish(&vfs);
    return status;
}

/* The digest of rows first to last - 1, as the file should give them. */
static uint64_t digest_rows(size_t first, size_t last) {
    static unsigned char buf[3 * BYTES_MAX];
    struct gathered got = {0, 0};
    for (size_t n = first; n < last; n++) {
        struct lapse_row row = row_at(n, buf);
        (void)gather(&got, &row);
    }
    return got.sum;
}

static void open_fresh(const struct lapse_testing_dir *dir, lapse_journal *ret) {
    struct lapse_error err;
    struct gathered none = {0, 0};
    cr_assert_eq(lapse_sqlite_open(dir->file, NULL, ret, &err), LAPSE_OK, "%s", err.message);
    cr_assert_eq(ret->load(ret->ctx, gather, &none, &err), LAPSE_OK, "%s", err.message);
    cr_assert_eq(none.count, 0);
}

Test(sqlite, rows_of_every_kind_come_back_as_they_were) {
    struct lapse_testing_dir dir;
    struct lapse_error err;
    struct gathered got;
    lapse_journal journal;
    lapse_testing_dir_make(&dir);
    open_fresh(&dir, &journal);
    write_rows(&journal, 0, ROWS, false);
    write_rows(&journal, 40, ROWS, false); /* again: each replaces itself */
    journal.close(journal.ctx);
    cr_assert_eq(digest_file(dir.file, &got, &err), LAPSE_OK, "%s", err.message);
    cr_expect_eq(got.count, ROWS);
    cr_expect_eq(got.sum, digest_rows(0, ROWS));
    cr_assert_eq(lapse_sqlite_open(dir.file, NULL, &journal, &err), LAPSE_OK);
    cr_assert_eq(journal.load(journal.ctx, gather, &got, &err), LAPSE_OK);
    write_rows(&journal, 100, ROWS, true);
    cr_assert_eq(journal.begin(journal.ctx, &err), LAPSE_OK);
    unsigned char buf[3 * BYTES_MAX];
    struct lapse_row row = row_at(100, buf);
    cr_expect_eq(journal.drop(journal.ctx, &row, &err), LAPSE_CORRUPT, "dropped twice");
    journal.rollback(journal.ctx);
    journal.close(journal.ctx);
    cr_assert_eq(digest_file(dir.file, &got, &err), LAPSE_OK, "%s", err.message);
    cr_expect_eq(got.sum, digest_rows(0, 100));
    cr_expect_not(lapse_testing_file_exists(dir.file, "-wal"), "a close left its log behind");
    cr_expect_eq(sqlite3_memory_used(), 0);
    lapse_testing_dir_remove(&dir);
}

static char *ask(const char *path, const char *sql) {
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    cr_assert_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK, "%s: %s", sql,
                 sqlite3_errmsg(db));
    static char answer[400];
    answer[0] = '\0';
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(stmt); i++) {
            const char *text = (const char *)sqlite3_column_text(stmt, i);
            size_t len = strlen(answer);
            (void)snprintf(answer + len, sizeof(answer) - len, "%s%s", i == 0 ? "" : "|",
                           text == NULL ? "-" : text);
        }
        size_t len = strlen(answer);
        (void)snprintf(answer + len, sizeof(answer) - len, "\n");
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return answer;
}

/* What a person reads with the shell while the process writes. */
Test(sqlite, a_person_reads_keys_and_leases_while_it_is_open) {
    static const unsigned char binary[] = {'a', 0, 'b'};
    struct lapse_testing_dir dir;
    struct lapse_testing t;
    lapse_testing_dir_make(&dir);
    lapse_testing_open(&t);
    struct lapse *memory = t.store;
    cr_assert_eq(lapse_open_file(dir.file, &t.options, &t.store, &t.err), LAPSE_OK, "%s",
                 t.err.message);
    lapse_testing_bucket(&t, "b", LAPSE_TERM_TTL, S(60), 0);
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "one", 0, 0);
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "dated", "", LAPSE_TERM_EXPIRES_AT, S(4000));
    struct lapse_bytes key = {binary, sizeof(binary)};
    cr_assert_eq(lapse_set(t.store, lapse_bytes_of("b"), key, key, NULL, NULL, &t.r, &t.err),
                 LAPSE_OK);
    lapse_testing_at(&t, S(90));
    lapse_testing_lease(&t, LAPSE_VERB_ACQUIRE, "jobs/1", "w1", S(30));
    cr_expect_str_eq(ask(dir.file, "SELECT key, value, ends_store_s, ends_at, ended FROM keys"),
                     "dated||-|1970-01-01T01:06:40.000Z|0\n"
                     "k|one|60.000000000|1970-01-01T00:17:40.000Z|1\n"
                     "X'610062'|X'610062'|60.000000000|1970-01-01T00:17:40.000Z|1\n");
    cr_expect_str_eq(ask(dir.file, "SELECT name, owner, token, span_s, ends_at FROM leases"),
                     "jobs/1|w1|1|30.000000000|1970-01-01T00:18:40.000Z\n");
    cr_expect_str_eq(ask(dir.file, "SELECT bucket, revision, term, term_s FROM buckets"),
                     "b|3|ttl|60.000000000\n");
    cr_expect_str_eq(ask(dir.file, "SELECT mark, store_s, wall FROM marks"),
                     "mark|90.000000000|1970-01-01T00:18:10.000Z\n");
    cr_expect_str_eq(ask(dir.file, "SELECT name, value FROM counters"), "token|1\n");
    cr_expect_str_eq(ask(dir.file, "SELECT count(*) FROM records"), "3\n");
    cr_expect_str_eq(ask(dir.file, "SELECT * FROM sessions UNION ALL "
                                   "SELECT id, owner, token, at, at_store_s, verb, status"
                                   " FROM requests"),
                     "");
    /* Reading is free; writing is found at the next commit, and no answer was wrong. */
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "two", 0, 0);
    cr_expect_eq(t.r.status, LAPSE_OK, "a reader shut the writer out: %s", t.err.message);
    ask(dir.file, "DELETE FROM record_rows WHERE key = 'k'");
    lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", NULL, 0, 0);
    cr_expect(t.r.status == LAPSE_OK && lapse_testing_is(t.r.value, "two"));
    cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_SET, "b", "z", "", 0, 0), LAPSE_CORRUPT);
    cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_SET, "b", "z", "", 0, 0), LAPSE_IO);
    lapse_close(t.store);
    t.store = memory;
    lapse_testing_close(&t);
    lapse_testing_dir_remove(&dir);
}

static void expect_left_alone(const struct lapse_testing_dir *dir, enum lapse_status want,
                              const unsigned char *bytes, size_t len, const char *what) {
    struct lapse_error err;
    struct gathered got;
    size_t now = 0;
    enum lapse_status status = digest_file(dir->file, &got, &err);
    cr_expect_eq(status, want, "%s gave %s: %s", what, lapse_status_word(status),
                 status == LAPSE_OK ? "" : err.message);
    unsigned char *after = lapse_testing_file_read(dir->file, "", &now);
    cr_expect(now == len && memcmp(after, bytes, len) == 0, "%s was changed", what);
    free(after);
    cr_expect_not(lapse_testing_file_exists(dir->file, "-wal"), "%s: a log was left", what);
    cr_expect_not(lapse_testing_file_exists(dir->file, "-shm"), "%s: an index was left", what);
    cr_expect_not(lapse_testing_file_exists(dir->file, "-lock"), "%s: a lock was left", what);
}

Test(sqlite, a_file_that_is_not_a_store_is_told_and_left_alone) {
    static const struct {
        const char *sql;
        enum lapse_status want;
    } files[] = {
        {"CREATE TABLE t(a)", LAPSE_VERSION},
        {"PRAGMA application_id = 7; PRAGMA journal_mode = WAL; CREATE TABLE t(a)", LAPSE_VERSION},
        {"PRAGMA application_id = 1818325107; PRAGMA user_version = 1; CREATE TABLE t(a)",
         LAPSE_VERSION},
        {"PRAGMA application_id = 1818325107; PRAGMA user_version = 3; CREATE TABLE t(a)",
         LAPSE_VERSION},
        {"PRAGMA application_id = 1818325107; CREATE TABLE t(a)", LAPSE_CORRUPT},
        {"PRAGMA page_size = 512; PRAGMA application_id = 1818325107; PRAGMA user_version = 2;"
         "CREATE TABLE t(a)",
         LAPSE_CORRUPT},
    };
    struct lapse_testing_dir dir;
    size_t len = 0;
    lapse_testing_dir_make(&dir);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        sqlite3 *db = NULL;
        cr_assert_eq(sqlite3_open(dir.file, &db), SQLITE_OK);
        cr_assert_eq(sqlite3_exec(db, files[i].sql, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        unsigned char *bytes = lapse_testing_file_read(dir.file, "", &len);
        expect_left_alone(&dir, files[i].want, bytes, len, files[i].sql);
        free(bytes);
        lapse_testing_dir_empty(&dir);
    }
    static const unsigned char text[] = "a letter, and no database at all; it is left as it was. "
                                        "It is longer than a header, which has 100 bytes of it.";
    for (size_t cut = 1; cut < sizeof(text); cut += 13) {
        lapse_testing_file_write(dir.file, "", text, cut);
        expect_left_alone(&dir, LAPSE_CORRUPT, text, cut, "a text");
    }
    lapse_testing_dir_remove(&dir);
}

Test(sqlite, what_cannot_be_opened_is_told) {
    struct lapse_testing_dir dir;
    struct lapse_error err;
    lapse_journal journal;
    lapse_journal second;
    lapse_testing_dir_make(&dir);
    cr_expect_eq(lapse_sqlite_open(NULL, NULL, &journal, &err), LAPSE_INVALID);
    cr_expect_eq(lapse_sqlite_open("", NULL, &journal, &err), LAPSE_INVALID);
    struct lapse_sqlite_options options = {.vfs = "no such vfs"};
    cr_expect_eq(lapse_sqlite_open(dir.file, &options, &journal, &err), LAPSE_INVALID);
    cr_expect_eq(lapse_sqlite_open("no/such/folder/store.db", NULL, &journal, &err), LAPSE_IO);
    cr_expect_eq(lapse_sqlite_open(dir.path, NULL, &journal, &err), LAPSE_IO, "a folder");
    open_fresh(&dir, &journal);
    cr_expect_eq(lapse_sqlite_open(dir.file, NULL, &second, &err), LAPSE_LOCKED);
    write_rows(&journal, 0, 10, false);
    journal.close(journal.ctx);
    struct lapse_testing_alloc alloc;
    lapse_testing_alloc_init(&alloc);
    options = (struct lapse_sqlite_options){.alloc = &alloc.vtable};
    enum lapse_status status = LAPSE_NOMEM;
    for (size_t nth = 1; status == LAPSE_NOMEM && nth < 20; nth++) {
        alloc.calls = 0;
        alloc.fail_at = nth;
        status = lapse_sqlite_open(dir.file, &options, &journal, &err);
        cr_expect(status == LAPSE_OK || alloc.bytes_out == 0);
    }
    cr_assert_eq(status, LAPSE_OK);
    journal.close(journal.ctx);
    cr_expect_eq(alloc.bytes_out, 0);
    /* Emptied, or gone with a log left: never taken for a new one. */
    lapse_testing_file_write(dir.file, "", (const unsigned char *)"", 0);
    cr_expect_eq(lapse_sqlite_open(dir.file, NULL, &journal, &err), LAPSE_CORRUPT);
    lapse_testing_file_write(dir.file, "", NULL, 0);
    lapse_testing_file_write(dir.file, "-wal", (const unsigned char *)"frames", 6);
    cr_expect_eq(lapse_sqlite_open(dir.file, NULL, &journal, &err), LAPSE_CORRUPT);
    lapse_testing_file_write(dir.file, "-wal", NULL, 0);
    open_fresh(&dir, &journal);
    journal.close(journal.ctx);
    lapse_testing_dir_remove(&dir);
}

/* Opens what lies in dir->copy: the right rows, or a fault that leaves it as it was. */
static bool told_or_harmless(const struct lapse_testing_dir *dir, const unsigned char *bytes,
                             size_t len, uint64_t right) {
    struct lapse_error err;
    struct gathered got;
    size_t now = 0;
    lapse_testing_file_write(dir->copy, "", bytes, len);
    enum lapse_status status = digest_file(dir->copy, &got, &err);
    if (status == LAPSE_OK) {
        return got.sum == right;
    }
    unsigned char *after = lapse_testing_file_read(dir->copy, "", &now);
    bool same = now == len && (len == 0 || memcmp(after, bytes, len) == 0);
    free(after);
    return same && !lapse_testing_file_exists(dir->copy, "-wal") &&
           !lapse_testing_file_exists(dir->copy, "-shm") &&
           (status == LAPSE_CORRUPT || status == LAPSE_VERSION || status == LAPSE_IO);
}

/* DUR-06 */
Test(sqlite, damage_to_the_file_is_told_or_harmless) {
    struct lapse_testing_dir dir;
    lapse_journal journal;
    size_t len = 0;
    lapse_testing_dir_make(&dir);
    open_fresh(&dir, &journal);
    write_rows(&journal, 0, ROWS, false);
    write_rows(&journal, ROWS / 2, ROWS / 2 + 40, true);
    write_rows(&journal, ROWS / 2, ROWS / 2 + 40, false);
    journal.close(journal.ctx);
    unsigned char *bytes = lapse_testing_file_read(dir.file, "", &len);
    uint64_t right = digest_rows(0, ROWS);
    cr_assert(told_or_harmless(&dir, bytes, len, right), "the copy itself");
    for (size_t bit = 0; bit < 8 * len; bit += bit < 800 ? 3 : 1999) {
        bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
        cr_expect(told_or_harmless(&dir, bytes, len, right), "bit %zu of byte %zu", bit % 8,
                  bit / 8);
        bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
    }
    for (size_t cut = 0; cut < len; cut += 4096) {
        cr_expect(told_or_harmless(&dir, bytes, cut, right), "cut at %zu", cut);
        cr_expect(told_or_harmless(&dir, bytes, cut + 100, right), "cut at %zu", cut + 100);
    }
    free(bytes);
    cr_expect_eq(sqlite3_memory_used(), 0);
    lapse_testing_dir_remove(&dir);
}

/* Damage to the log looks like an unfinished write: some commits of its end are not there. */
Test(sqlite, damage_to_the_log_loses_its_end_alone) {
    enum { COMMITS = 8, EACH = ROWS / COMMITS };
    struct lapse_testing_dir dir;
    lapse_journal journal;
    size_t file_len = 0;
    size_t log_len = 0;
    uint64_t after[COMMITS + 1];
    lapse_testing_dir_make(&dir);
    open_fresh(&dir, &journal);
    after[0] = digest_rows(0, 0);
    for (size_t i = 0; i < COMMITS; i++) {
        write_rows(&journal, i * EACH, (i + 1) * EACH, false);
        after[i + 1] = digest_rows(0, (i + 1) * EACH);
    }
    unsigned char *file = lapse_testing_file_read(dir.file, "", &file_len);
    unsigned char *log = lapse_testing_file_read(dir.file, "-wal", &log_len);
    journal.close(journal.ctx);
    size_t whole = 0;
    for (size_t at = 0; at < log_len; at += 1601) {
        struct lapse_error err;
        struct gathered got;
        log[at] ^= 4;
        lapse_testing_file_write(dir.copy, "", file, file_len);
        lapse_testing_file_write(dir.copy, "-wal", log, at % 2 == 0 ? log_len : at);
        log[at] ^= 4;
        cr_assert_eq(digest_file(dir.copy, &got, &err), LAPSE_OK, "byte %zu: %s", at, err.message);
        size_t commit = 0;
        while (commit <= COMMITS && got.sum != after[commit]) {
            commit++;
        }
        cr_expect_leq(commit, COMMITS, "damage at %zu gave rows that never stood together", at);
        cr_expect_geq(commit, whole, "later damage lost more");
        whole = commit;
    }
    cr_expect_gt(whole, COMMITS / 2, "no damage left most of the commits");
    free(file);
    free(log);
    lapse_testing_dir_remove(&dir);
}

/* A reader holds the log back while it reads; once it ends, the log is begun anew. */
Test(sqlite, a_long_reader_holds_the_log_back_only_while_it_reads) {
    struct lapse_testing_dir dir;
    lapse_journal journal;
    sqlite3 *reader = NULL;
    size_t log_len[3] = {0};
    lapse_testing_dir_make(&dir);
    open_fresh(&dir, &journal);
    for (int i = 0; i < 3; i++) {
        if (i == 1) {
            cr_assert_eq(sqlite3_open(dir.file, &reader), SQLITE_OK);
            cr_assert_eq(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM keys", NULL, NULL, NULL),
                         SQLITE_OK);
        }
        for (int k = 0; k < 40; k++) {
            write_rows(&journal, 0, ROWS, false);
        }
        free(lapse_testing_file_read(dir.file, "-wal", &log_len[i]));
        sqlite3_close(reader);
        reader = NULL;
    }
    cr_expect_lt(log_len[0], 3 * 1000 * 4120, "%zu bytes of log", log_len[0]);
    cr_expect_gt(log_len[1], log_len[0], "a reader held nothing back");
    cr_expect_lt(log_len[2], log_len[1] + 2 * 1000 * 4120, "the log grows when nobody reads");
    journal.close(journal.ctx);
    lapse_testing_dir_remove(&dir);
}

/* Somebody's index would make the put of one row take another away. What is beside ours may be. */
Test(sqlite, what_was_added_to_its_tables_is_told) {
    static const struct {
        const char *sql;
        enum lapse_status want;
    } added[] = {
        {"CREATE VIEW mine AS SELECT key FROM record_rows", LAPSE_OK},
        {"CREATE TABLE mine(a UNIQUE); CREATE INDEX mine_too ON mine(a)", LAPSE_OK},
        {"CREATE UNIQUE INDEX u ON Record_Rows(value)", LAPSE_CORRUPT},
        {"CREATE INDEX i ON lease_rows(owner)", LAPSE_CORRUPT},
        {"CREATE TRIGGER r AFTER INSERT ON mark_rows BEGIN DELETE FROM lease_rows; END",
         LAPSE_CORRUPT},
    };
    for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++) {
        struct lapse_testing_dir dir;
        struct lapse_error err;
        struct gathered got;
        lapse_journal journal;
        sqlite3 *db = NULL;
        lapse_testing_dir_make(&dir);
        open_fresh(&dir, &journal);
        write_rows(&journal, 0, ROWS, false);
        journal.close(journal.ctx);
        cr_assert_eq(sqlite3_open(dir.file, &db), SQLITE_OK);
        cr_assert_eq(sqlite3_exec(db, added[i].sql, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        enum lapse_status status = digest_file(dir.file, &got, &err);
        cr_expect_eq(status, added[i].want, "%s gave %s", added[i].sql, lapse_status_word(status));
        lapse_testing_dir_remove(&dir);
    }
}

/* A file that another journal's mode was given to is damaged like any other: nothing is written
 * into it before all of it has passed. */
Test(sqlite, a_damaged_file_without_a_log_is_left_alone) {
    struct lapse_testing_dir dir;
    lapse_journal journal;
    size_t len = 0;
    lapse_testing_dir_make(&dir);
    open_fresh(&dir, &journal);
    write_rows(&journal, 0, ROWS, false);
    journal.close(journal.ctx);
    cr_assert_str_eq(ask(dir.file, "PRAGMA journal_mode = DELETE"), "delete\n");
    unsigned char *bytes = lapse_testing_file_read(dir.file, "", &len);
    int told = 0;
    for (size_t at = 4096; at < len; at += 1013) {
        bytes[at] ^= 4;
        cr_expect(told_or_harmless(&dir, bytes, len, digest_rows(0, ROWS)), "byte %zu", at);
        unsigned char *after = lapse_testing_file_read(dir.copy, "", &len);
        told += after[18] == 1 ? 1 : 0;
        free(after);
        bytes[at] ^= 4;
    }
    cr_expect_gt(told, 10, "no damage was told");
    cr_expect(told_or_harmless(&dir, bytes, len, digest_rows(0, ROWS)));
    cr_expect_str_eq(ask(dir.copy, "PRAGMA journal_mode"), "wal\n");
    free(bytes);
    lapse_testing_dir_remove(&dir);
}

Test(sqlite, what_is_no_plain_file_is_told_and_nothing_is_made_beside_it) {
    struct lapse_testing_dir dir;
    struct lapse_error err;
    lapse_journal journal;
    lapse_testing_dir_make(&dir);
    lapse_testing_pipe_make(dir.file, "");
    cr_expect_eq(lapse_sqlite_open(dir.file, NULL, &journal, &err), LAPSE_IO);
    cr_expect_not_null(strstr(err.message, "a pipe"), "%s", err.message);
    cr_expect_not(lapse_testing_file_exists(dir.file, "-lock"));
    lapse_testing_dir_empty(&dir);
    cr_expect_eq(lapse_sqlite_open(dir.path, NULL, &journal, &err), LAPSE_IO);
    cr_expect_not_null(strstr(err.message, "a folder"), "%s", err.message);
    cr_expect_not(lapse_testing_file_exists(dir.path, "-lock"));
    for (int way = 0; way < 3; way++) {
        if (way == 0) {
            lapse_testing_pipe_make(dir.file, "-lock");
        } else {
            lapse_testing_link_make(dir.file, "-lock", dir.copy);
        }
        if (way == 2) {
            lapse_testing_file_write(dir.copy, "", (const unsigned char *)"", 0);
        }
        cr_expect_eq(lapse_sqlite_open(dir.file, NULL, &journal, &err), LAPSE_IO, "way %d", way);
        cr_expect_not_null(strstr(err.message, "-lock"), "%s", err.message);
        cr_expect_not(lapse_testing_file_exists(dir.file, ""));
        cr_expect_eq(lapse_testing_file_exists(dir.copy, ""), way == 2);
        lapse_testing_dir_empty(&dir);
    }
    lapse_testing_dir_remove(&dir);
}

/* Writes and closes in a forked child; 1 if the write was refused as it should be. */
static int write_in_child(void *ctx) {
    struct lapse_testing *t = ctx;
    enum lapse_status status = lapse_testing_do(t, LAPSE_VERB_SET, "b", "child", "v", 0, 0);
    bool told = status == LAPSE_LOCKED && strstr(t->err.message, "fork") != NULL;
    bool read = lapse_testing_do(t, LAPSE_VERB_GET, "b", "k", NULL, 0, 0) == LAPSE_OK;
    lapse_close(t->store);
    return told && read ? 1 : 0;
}

/* Both would write the same numbers over each other: the lock is the parent's. */
Test(sqlite, a_forked_child_writes_nothing) {
    struct lapse_testing_dir dir;
    struct lapse_testing t;
    struct lapse *second = NULL;
    lapse_testing_dir_make(&dir);
    lapse_testing_open(&t);
    lapse_close(t.store);
    cr_assert_eq(lapse_open_file(dir.file, &t.options, &t.store, &t.err), LAPSE_OK, "%s",
                 t.err.message);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", 0, 0);
    cr_expect_eq(lapse_testing_in_child(write_in_child, &t), 1);
    cr_expect_eq(lapse_open_file(dir.file, &t.options, &second, &t.err), LAPSE_LOCKED,
                 "the child took the lock away");
    cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_SET, "b", "l", "v", 0, 0), LAPSE_OK, "%s",
                 t.err.message);
    lapse_close(t.store);
    cr_assert_eq(lapse_open_file(dir.file, &t.options, &t.store, &t.err), LAPSE_OK, "%s",
                 t.err.message);
    lapse_testing_do(&t, LAPSE_VERB_COUNT, "b", "", NULL, 0, 0);
    cr_expect_eq(t.r.item_count, 2);
    lapse_testing_close(&t);
    lapse_testing_dir_remove(&dir);
}
