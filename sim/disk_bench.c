/* A life and a death on the crash disk: open, 20 writes of one transaction each, a crash of the
 * machine, open again, check. Ours is the engine's store; the reference is SQLite alone, on the
 * same disk and from the same file, with the same pragmas: it writes the rows that the engine
 * writes, and checks the file as a careful program would, when it opens it. By turns in one
 * process; printed is the ratio of the medians of the processor's time. */
#define _POSIX_C_SOURCE 200809L

#include "sim/arena.h"
#include "lapse/lapse.h"
#include "vfs.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 9, LIVES = 100, WRITES = 20, KEYS = 10, TERM_S = 3600 };

struct bench {
    struct lapse_arena *arena;
    struct lapse_sim_trouble trouble;
    struct lapse_sim_disk disk, begun; /* `begun`: a store that has been made, and closed */
    struct lapse_sim_vfs *vfs;
    struct lapse_clock_manual clock;
    struct lapse_result result;
};

static void begin(struct bench *bench);
static void reset(struct bench *bench);
static struct lapse *open_ours(struct bench *bench);
static void ours(struct bench *bench);
static sqlite3 *open_raw(struct bench *bench);
static void raw(struct bench *bench);
static void write_raw(sqlite3 *db);
static void bind(sqlite3_stmt *stmt, int from, int count, sqlite3_int64 value);
static void step(sqlite3_stmt *stmt);
static double median(struct bench *bench, void (*life)(struct bench *bench), double *times,
                     int round);
static int compare(const void *a, const void *b);
static void need(bool holds, const char *what);

int main(void) {
    static struct bench bench;
    double mine[ROUNDS], theirs[ROUNDS];
    double us = 0, reference = 1;
    begin(&bench);
    for (int round = 0; round < ROUNDS; round++) {
        us = median(&bench, ours, mine, round);
        reference = median(&bench, raw, theirs, round);
    }
    double ratio = us / reference;
    printf("%-50s %8.1f us %8.1f us  ratio %.2f  (reach 1.50)  %s\n",
           "open, 20 writes, crash, reopen, check; raw SQLite", us, reference, ratio,
           ratio <= 1.5 ? "met" : "MISSED");
    return ratio <= 1.5 ? 0 : 1;
}

static void begin(struct bench *bench) {
    bench->arena = lapse_arena_open();
    need(bench->arena != NULL, "memory");
    lapse_clock_manual_init(&bench->clock, (struct lapse_wall){0});
    lapse_result_init(&bench->result, NULL);
    lapse_sim_disk_init(&bench->disk, lapse_arena_alloc(bench->arena), &bench->trouble);
    lapse_sim_disk_init(&bench->begun, lapse_arena_alloc(bench->arena), &bench->trouble);
    bench->vfs = lapse_sim_vfs_make(&bench->disk);
    need(bench->vfs != NULL, "memory");
    struct lapse_bucket_config config = {.history = 1};
    struct lapse *store = open_ours(bench);
    need(lapse_bucket_open(store, lapse_bytes_of("b"), &config, &bench->result, NULL) == LAPSE_OK,
         "a bucket");
    lapse_close(store);
    need(lapse_sim_disk_copy(&bench->begun, &bench->disk, false), "memory");
}

static void reset(struct bench *bench) {
    lapse_sim_disk_wipe(&bench->disk);
    need(lapse_sim_disk_copy(&bench->disk, &bench->begun, false), "memory");
}

static struct lapse *open_ours(struct bench *bench) {
    struct lapse_options options = {.clock = lapse_clock_manual_vtable(&bench->clock),
                                    .unlocked = true};
    struct lapse *store = NULL;
    struct lapse_error err = {0};
    need(lapse_sim_vfs_open(bench->vfs, &options.journal, &err) == LAPSE_OK, err.message);
    need(lapse_open(&options, &store, &err) == LAPSE_OK, err.message);
    return store;
}

static void ours(struct bench *bench) {
    static const char *const keys[KEYS] = {"k0", "k1", "k2", "k3", "k4",
                                           "k5", "k6", "k7", "k8", "k9"};
    struct lapse_term term = {.given = LAPSE_TERM_TTL, .ttl = {TERM_S * LAPSE_NS_PER_S}};
    reset(bench);
    struct lapse *store = open_ours(bench);
    for (int i = 0; i < WRITES; i++) {
        need(lapse_set(store, lapse_bytes_of("b"), lapse_bytes_of(keys[i % KEYS]),
                       lapse_bytes_of("0123456789abcdef"), &term, NULL, &bench->result,
                       NULL) == LAPSE_OK,
             "a write");
    }
    bench->trouble.dead = true;
    lapse_close(store);
    bench->trouble.dead = false;
    need(lapse_sim_disk_crash(&bench->disk, NULL, 0), "memory");
    store = open_ours(bench);
    need(lapse_check(store, NULL) == LAPSE_OK, "the store is broken");
    need(lapse_count(store, lapse_bytes_of("b"), &bench->result, NULL) == LAPSE_OK &&
             bench->result.item_count == KEYS,
         "a key is gone");
    lapse_close(store);
}

static sqlite3 *open_raw(struct bench *bench) {
    sqlite3 *db = NULL;
    int code = sqlite3_open_v2(LAPSE_SIM_STORE_PATH, &db,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                               lapse_sim_vfs_enter(bench->vfs));
    lapse_sim_vfs_leave(bench->vfs);
    need(code == SQLITE_OK, "the file does not open");
    need(sqlite3_exec(db,
                      "PRAGMA cell_size_check = ON; PRAGMA cache_size = -8000;"
                      "PRAGMA temp_store = MEMORY; PRAGMA synchronous = FULL;"
                      "PRAGMA journal_mode = WAL; PRAGMA integrity_check(1)",
                      NULL, NULL, NULL) == SQLITE_OK,
         "the pragmas fail");
    return db;
}

static void raw(struct bench *bench) {
    sqlite3_stmt *count = NULL;
    reset(bench);
    sqlite3 *db = open_raw(bench);
    write_raw(db);
    bench->trouble.dead = true;
    need(sqlite3_close(db) == SQLITE_OK, "the file does not close");
    bench->trouble.dead = false;
    need(lapse_sim_disk_crash(&bench->disk, NULL, 0), "memory");
    db = open_raw(bench);
    need(sqlite3_prepare_v2(db, "SELECT count(*) FROM record_rows", -1, &count, NULL) ==
             SQLITE_OK,
         "the rows cannot be counted");
    need(sqlite3_step(count) == SQLITE_ROW && sqlite3_column_int(count, 0) == KEYS,
         "a row is gone");
    (void)sqlite3_finalize(count);
    need(sqlite3_close(db) == SQLITE_OK, "the file does not close");
}

/* Of a set: the old record goes, the new one, the bucket and the mark are put. */
static void write_raw(sqlite3 *db) {
    static const char *const texts[] = {
        "BEGIN IMMEDIATE",
        "DELETE FROM record_rows WHERE (bucket, key, revision) = ('b',?,?)",
        "REPLACE INTO record_rows VALUES ('b',?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,'0123456789abcdef')",
        "REPLACE INTO bucket_rows VALUES ('b',?,?,?,?,?,?,?,?,?,?,?)",
        "REPLACE INTO mark_rows VALUES ('',0,?,?,?,?,?,?,?,?,?)",
        "COMMIT",
    };
    enum { STEPS = sizeof(texts) / sizeof(texts[0]) };
    sqlite3_stmt *stmts[STEPS];
    for (int i = 0; i < STEPS; i++) {
        need(sqlite3_prepare_v3(db, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &stmts[i], NULL) ==
                 SQLITE_OK,
             sqlite3_errmsg(db));
    }
    for (int i = 0; i < WRITES; i++) {
        char key[3] = {'k', (char)('0' + i % KEYS), '\0'};
        (void)sqlite3_bind_text(stmts[1], 1, key, 2, SQLITE_STATIC);
        (void)sqlite3_bind_text(stmts[2], 1, key, 2, SQLITE_STATIC);
        bind(stmts[1], 2, 1, i - KEYS + 1);
        bind(stmts[2], 2, 14, i + 1);
        bind(stmts[3], 1, 11, i + 1);
        bind(stmts[4], 1, 9, i + 1);
        for (int k = 0; k < STEPS; k++) {
            if (k != 1 || i >= KEYS) {
                step(stmts[k]);
            }
        }
    }
    for (int i = 0; i < STEPS; i++) {
        (void)sqlite3_finalize(stmts[i]);
    }
}

static void bind(sqlite3_stmt *stmt, int from, int count, sqlite3_int64 value) {
    for (int i = 0; i < count; i++) {
        need(sqlite3_bind_int64(stmt, from + i, value) == SQLITE_OK, "a bind fails");
    }
}

static void step(sqlite3_stmt *stmt) {
    need(sqlite3_step(stmt) == SQLITE_DONE, "a raw statement fails");
    (void)sqlite3_reset(stmt);
}

/* Runs a round, and gives the median of all so far, in microseconds a life. */
static double median(struct bench *bench, void (*life)(struct bench *bench), double *times,
                     int round) {
    struct timespec from, to;
    double sorted[ROUNDS];
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    for (int i = 0; i < LIVES; i++) {
        life(bench);
    }
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    times[round] = ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) /
                   LIVES / 1000;
    memcpy(sorted, times, (size_t)(round + 1) * sizeof(sorted[0]));
    qsort(sorted, (size_t)round + 1, sizeof(sorted[0]), compare);
    return sorted[round / 2];
}

static int compare(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void need(bool holds, const char *what) {
    if (!holds) {
        printf("cannot go on: %s\n", what);
        exit(1);
    }
}
