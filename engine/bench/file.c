/* The store in a file, beside raw prepared statements that write the same rows into the same tables
 * of a second store file, with the same pragmas: a set over a key takes the old record away, puts
 * the new one, and puts the bucket's row and the mark with each transaction. What the engine adds
 * is what it decides, checks and keeps in memory. Wall time, for most of it is the sync. */
#define _DEFAULT_SOURCE

#include "bench.h"
#include "lapse/sqlite.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEYS = 10000, VALUE_BYTES = 16, BATCH = 100, PATH_BYTES = 64, TERM_S = 3600 };
/* A block is a few syncs long, so a slow moment of the disk meets both sides or one round. */
enum { SINGLES = 10, ROUNDS = 81, BATCH_ROUNDS = 15 };
#define REACH 1.25

struct file_bench {
    char folder[PATH_BYTES];
    struct lapse_clock_manual manual;
    struct lapse *store;
    struct lapse_result result;
    struct lapse_command *calls;
    char (*keys)[BENCH_KEY_BYTES + 1];
    size_t next; /* the key to write next */
    sqlite3 *db;
    sqlite3_stmt *drop, *record, *bucket, *mark, *begin, *commit;
    sqlite3_int64 *revisions; /* of the raw file's records */
    sqlite3_int64 revision, seq;
    size_t raw_next;
};

static const unsigned char value[VALUE_BYTES] = "0123456789abcde";

static void open_all(struct file_bench *bench);
static struct lapse *open_store(struct file_bench *bench, const char *name);
static void open_raw(struct file_bench *bench);
static void close_all(struct file_bench *bench);
static void prepare(struct file_bench *bench, const char *sql, sqlite3_stmt **ret);
static void ours_single(void *ctx, size_t count);
static void ours_batch(void *ctx, size_t count);
static void raw_single(void *ctx, size_t count);
static void raw_batch(void *ctx, size_t count);
static void raw_transaction(struct file_bench *bench, size_t count);
static void raw_record(struct file_bench *bench);
static void raw_step(sqlite3_stmt *stmt);
static void bind(sqlite3_stmt *stmt, int from, const sqlite3_int64 *values, int count);
static const char *key_at(struct file_bench *bench, size_t *next);

bool bench_file(void) {
    struct file_bench bench = {.folder = "bench-XXXXXX"};
    open_all(&bench);
    /* Both files hold all keys before the first round. */
    ours_batch(&bench, KEYS);
    raw_batch(&bench, KEYS);
    struct bench_pair pair = {.what = "durable set, 1 a transaction, raw SQLite",
                              .count = SINGLES,
                              .rounds = ROUNDS,
                              .ours = ours_single,
                              .reference = raw_single,
                              .ctx = &bench,
                              .reach = REACH,
                              .wall = true};
    bool met = bench_run(&pair);
    /* Printed beside: what either does but wait. */
    pair.what = "(durable set, 1 a transaction, without the waiting, raw SQLite)";
    pair.wall = false;
    pair.reach = 0;
    pair.rounds = BATCH_ROUNDS;
    (void)bench_run(&pair);
    pair.wall = true;
    pair.reach = REACH;
    pair.what = "durable set, 100 a transaction, raw SQLite";
    pair.count = 20 * BATCH;
    pair.ours = ours_batch;
    pair.reference = raw_batch;
    met = bench_run(&pair) && met;
    close_all(&bench);
    return met;
}

static void open_all(struct file_bench *bench) {
    bench_need(mkdtemp(bench->folder) != NULL, "no folder for the store files can be made here");
    lapse_clock_manual_init(&bench->manual, (struct lapse_wall){0});
    lapse_result_init(&bench->result, NULL);
    bench->keys = calloc(KEYS, sizeof(*bench->keys));
    bench->calls = calloc(BATCH, sizeof(*bench->calls));
    bench->revisions = calloc(KEYS, sizeof(*bench->revisions));
    bench_need(bench->keys != NULL && bench->calls != NULL && bench->revisions != NULL,
               "no memory for the keys");
    for (size_t i = 0; i < KEYS; i++) {
        bench_key(bench_order(i, KEYS), bench->keys[i]);
    }
    lapse_close(open_store(bench, "raw"));
    bench->store = open_store(bench, "ours");
    open_raw(bench);
}

static struct lapse *open_store(struct file_bench *bench, const char *name) {
    char path[2 * PATH_BYTES];
    struct lapse *store = NULL;
    struct lapse_options options = {.clock = lapse_clock_manual_vtable(&bench->manual),
                                    .sync = LAPSE_SYNC_FULL,
                                    .unlocked = true};
    struct lapse_bucket_config config = {
        .term = {.given = LAPSE_TERM_TTL, .ttl = {TERM_S * LAPSE_NS_PER_S}}};
    (void)snprintf(path, sizeof(path), "%s/%s", bench->folder, name);
    bench_need(lapse_open_file(path, &options, &store, NULL) == LAPSE_OK &&
                   lapse_bucket_open(store, lapse_bytes_of("b"), &config, &bench->result, NULL) ==
                       LAPSE_OK,
               "a store file does not open");
    return store;
}

static void open_raw(struct file_bench *bench) {
    char path[2 * PATH_BYTES];
    (void)snprintf(path, sizeof(path), "%s/raw", bench->folder);
    /* Neither store locks. */
    bench_need(sqlite3_open_v2(path, &bench->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                               NULL) == SQLITE_OK &&
                   sqlite3_exec(bench->db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                                "PRAGMA cell_size_check = ON; PRAGMA cache_size = -8000;"
                                "PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 67108864",
                                NULL, NULL, NULL) == SQLITE_OK,
               "SQLite does not open the second file");
    prepare(bench, "DELETE FROM record_rows WHERE (bucket, key, revision) = (?,?,?)", &bench->drop);
    prepare(bench, "REPLACE INTO record_rows VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            &bench->record);
    prepare(bench, "REPLACE INTO bucket_rows VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", &bench->bucket);
    prepare(bench, "REPLACE INTO mark_rows VALUES (?,?,?,?,?,?,?,?,?,?,?)", &bench->mark);
    prepare(bench, "BEGIN IMMEDIATE", &bench->begin);
    prepare(bench, "COMMIT", &bench->commit);
}

static void prepare(struct file_bench *bench, const char *sql, sqlite3_stmt **ret) {
    bench_need(sqlite3_prepare_v3(bench->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL) ==
                   SQLITE_OK,
               "the tables are not those that the benchmark writes");
}

static void close_all(struct file_bench *bench) {
    static const char *const endings[] = {"ours", "ours-wal", "ours-shm", "ours-lock",
                                          "raw",  "raw-wal",  "raw-shm",  "raw-lock"};
    sqlite3_stmt *const stmts[] = {bench->drop, bench->record, bench->bucket,
                                   bench->mark, bench->begin,  bench->commit};
    for (size_t i = 0; i < sizeof(stmts) / sizeof(stmts[0]); i++) {
        (void)sqlite3_finalize(stmts[i]);
    }
    (void)sqlite3_close(bench->db);
    lapse_close(bench->store);
    lapse_result_free(&bench->result);
    free(bench->keys);
    free(bench->calls);
    free(bench->revisions);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        char path[2 * PATH_BYTES];
        (void)snprintf(path, sizeof(path), "%s/%s", bench->folder, endings[i]);
        (void)unlink(path);
    }
    bench_need(rmdir(bench->folder) == 0, "the folder of the store files is not empty");
}

static void ours_single(void *ctx, size_t count) {
    struct file_bench *bench = ctx;
    for (size_t i = 0; i < count; i++) {
        struct lapse_bytes key = lapse_bytes_of(key_at(bench, &bench->next));
        bench_need(lapse_set(bench->store, lapse_bytes_of("b"), key,
                             (struct lapse_bytes){value, VALUE_BYTES}, NULL, NULL, &bench->result,
                             NULL) == LAPSE_OK,
                   "a set fails");
    }
}

static void ours_batch(void *ctx, size_t count) {
    struct file_bench *bench = ctx;
    for (size_t done = 0; done < count; done += BATCH) {
        for (size_t i = 0; i < BATCH; i++) {
            struct lapse_command *call = &bench->calls[i];
            *call = (struct lapse_command){.verb = LAPSE_VERB_SET,
                                           .bucket = lapse_bytes_of("b"),
                                           .key = lapse_bytes_of(key_at(bench, &bench->next))};
            call->u.write.value = (struct lapse_bytes){value, VALUE_BYTES};
        }
        bench_need(lapse_batch(bench->store, bench->calls, BATCH, &bench->result, NULL) == LAPSE_OK,
                   "a batch fails");
    }
}

static void raw_single(void *ctx, size_t count) {
    for (size_t i = 0; i < count; i++) {
        raw_transaction(ctx, 1);
    }
}

static void raw_batch(void *ctx, size_t count) {
    for (size_t done = 0; done < count; done += BATCH) {
        raw_transaction(ctx, BATCH);
    }
}

static void raw_transaction(struct file_bench *bench, size_t count) {
    raw_step(bench->begin);
    for (size_t i = 0; i < count; i++) {
        raw_record(bench);
    }
    const sqlite3_int64 words[] = {bench->revision, LAPSE_TERM_TTL, TERM_S * LAPSE_NS_PER_S,
                                   0, 0, 0, 1, 1, 0, 0, bench->revision * 7919};
    (void)sqlite3_bind_text(bench->bucket, 1, "b", 1, SQLITE_STATIC);
    bind(bench->bucket, 2, words, 11);
    raw_step(bench->bucket);
    bench->seq++;
    const sqlite3_int64 reading[] = {0, bench->seq, bench->seq, 1, bench->seq,
                                     bench->seq, bench->seq, 0, 0, bench->seq * 7919};
    (void)sqlite3_bind_text(bench->mark, 1, "", 0, SQLITE_STATIC);
    bind(bench->mark, 2, reading, 10);
    raw_step(bench->mark);
    raw_step(bench->commit);
}

static void raw_record(struct file_bench *bench) {
    size_t at = bench->raw_next;
    const char *key = key_at(bench, &bench->raw_next);
    sqlite3_stmt *const keyed[] = {bench->drop, bench->record};
    for (int i = 0; i < 2; i++) {
        (void)sqlite3_bind_text(keyed[i], 1, "b", 1, SQLITE_STATIC);
        (void)sqlite3_bind_text(keyed[i], 2, key, BENCH_KEY_BYTES, SQLITE_STATIC);
    }
    if (bench->revisions[at] > 0) {
        bind(bench->drop, 3, &bench->revisions[at], 1);
        raw_step(bench->drop);
    }
    bench->revisions[at] = ++bench->revision;
    const sqlite3_int64 fields[] = {bench->revision, LAPSE_RECORD_VALUE, LAPSE_END_STEADY,
                                    TERM_S * LAPSE_NS_PER_S, 2, TERM_S * LAPSE_NS_PER_S,
                                    0, 0, 0, 0, 0, 0, 0, bench->revision * 7919};
    bind(bench->record, 3, fields, 14);
    (void)sqlite3_bind_text(bench->record, 17, (const char *)value, VALUE_BYTES, SQLITE_STATIC);
    raw_step(bench->record);
}

static void raw_step(sqlite3_stmt *stmt) {
    bench_need(sqlite3_step(stmt) == SQLITE_DONE, "a raw statement fails");
    (void)sqlite3_reset(stmt);
}

static void bind(sqlite3_stmt *stmt, int from, const sqlite3_int64 *values, int count) {
    for (int i = 0; i < count; i++) {
        bench_need(sqlite3_bind_int64(stmt, from + i, values[i]) == SQLITE_OK, "a bind fails");
    }
}

static const char *key_at(struct file_bench *bench, size_t *next) {
    const char *key = bench->keys[*next];
    *next = (*next + 1) % KEYS;
    return key;
}
