/* Keys and leases in memory, beside a bare table and beside SQLite's own memory. */
#include "bench.h"
#include "reference.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* A block of work goes on among the keys where the last one of its side ended. */
enum side { OURS, REFERENCE, SIDES };

enum { VALUE_BYTES = 16, FAR_S = 3600, LEASES = 100000, ROUNDS = 15 };

struct memory_bench {
    struct lapse_clock_manual manual;
    struct lapse *store;
    struct lapse_result result;
    struct reference_table table;
    sqlite3 *db;
    sqlite3_stmt *upsert, *select;
    size_t keys;
    size_t next[SIDES];
    char *texts; /* the keys one after another, in an order that no cache foresees */
};

static const unsigned char value[VALUE_BYTES] = "0123456789abcde";

static void open_all(struct memory_bench *bench, size_t keys, lapse_clock clock, bool unlocked);
static void open_sqlite(struct memory_bench *bench);
static void close_all(struct memory_bench *bench);
static bool bench_keys(size_t keys, double reach);
static bool bench_real(size_t keys);
static bool bench_leases(void);
static struct lapse_bytes key_of(const struct memory_bench *bench, size_t i);
static struct lapse_bytes key_next(struct memory_bench *bench, enum side side);
static void ours_set(void *ctx, size_t count);
static void ours_get(void *ctx, size_t count);
static void ours_extend(void *ctx, size_t count);
static void table_set(void *ctx, size_t count);
static void table_get(void *ctx, size_t count);
static void sqlite_fill(struct memory_bench *bench, size_t keys);
static void sqlite_set(void *ctx, size_t count);
static void sqlite_get(void *ctx, size_t count);

bool bench_memory(void) {
    bool met = bench_keys(10000, 4);
    met = bench_keys(1000000, 2) && met;
    met = bench_real(10000) && met;
    return bench_leases() && met;
}

static bool bench_keys(size_t keys, double reach) {
    struct memory_bench bench = {0};
    char what[80];
    lapse_clock_manual_init(&bench.manual, (struct lapse_wall){0});
    open_all(&bench, keys, lapse_clock_manual_vtable(&bench.manual), true);
    open_sqlite(&bench);
    ours_set(&bench, keys);
    table_set(&bench, keys);
    sqlite_fill(&bench, keys);
    size_t count = keys < 100000 ? 5 * keys : keys / 4;
    struct bench_pair pair = {
        .what = what, .count = count, .rounds = ROUNDS, .ctx = &bench, .reach = reach};
    (void)snprintf(what, sizeof(what), "set with ttl, %zu keys, bare table", keys);
    pair.ours = ours_set;
    pair.reference = table_set;
    bool met = bench_run(&pair);
    (void)snprintf(what, sizeof(what), "get, %zu keys, bare table", keys);
    pair.ours = ours_get;
    pair.reference = table_get;
    met = bench_run(&pair) && met;
    pair.faster = true;
    pair.reach = 10;
    pair.count = keys < 100000 ? 5 * keys : 20000;
    (void)snprintf(what, sizeof(what), "set with ttl, %zu keys, SQLite :memory:", keys);
    pair.ours = ours_set;
    pair.reference = sqlite_set;
    met = bench_run(&pair) && met;
    (void)snprintf(what, sizeof(what), "get, %zu keys, SQLite :memory:", keys);
    pair.ours = ours_get;
    pair.reference = sqlite_get;
    met = bench_run(&pair) && met;
    /* What nothing could pass: the table does no more than find the key. */
    (void)snprintf(what, sizeof(what), "(the bare table's get, %zu keys, SQLite :memory:)", keys);
    pair.ours = table_get;
    pair.reach = 0;
    (void)bench_run(&pair);
    close_all(&bench);
    return met;
}

/* Printed beside: what the machine's own clock and the mutex cost. */
static bool bench_real(size_t keys) {
    struct memory_bench bench = {0};
    open_all(&bench, keys, lapse_clock_system(), false);
    ours_set(&bench, keys);
    table_set(&bench, keys);
    struct bench_pair pair = {.what = "set with ttl, 10000 keys, system clock and mutex",
                              .count = 5 * keys,
                              .rounds = ROUNDS,
                              .ours = ours_set,
                              .reference = table_set,
                              .ctx = &bench};
    bool met = bench_run(&pair);
    pair.what = "get, 10000 keys, system clock and mutex";
    pair.ours = ours_get;
    pair.reference = table_get;
    met = bench_run(&pair) && met;
    close_all(&bench);
    return met;
}

static bool bench_leases(void) {
    struct memory_bench bench = {0};
    lapse_clock_manual_init(&bench.manual, (struct lapse_wall){0});
    open_all(&bench, LEASES, lapse_clock_manual_vtable(&bench.manual), true);
    for (size_t i = 0; i < LEASES; i++) {
        struct lapse_bytes name = key_of(&bench, i);
        bench_need(lapse_acquire(bench.store, name, lapse_bytes_of("w1"),
                                 (struct lapse_span){FAR_S * LAPSE_NS_PER_S}, &bench.result,
                                 NULL) == LAPSE_OK,
                   "a lease is not granted");
    }
    table_set(&bench, LEASES);
    struct bench_pair pair = {.what = "extend, 100000 leases, bare table",
                              .count = LEASES,
                              .rounds = ROUNDS,
                              .ours = ours_extend,
                              .reference = table_set,
                              .ctx = &bench,
                              .reach = 4};
    bool met = bench_run(&pair);
    close_all(&bench);
    return met;
}

static void open_all(struct memory_bench *bench, size_t keys, lapse_clock clock, bool unlocked) {
    struct lapse_options options = {.clock = clock, .unlocked = unlocked};
    bench->keys = keys;
    bench->texts = malloc(keys * BENCH_KEY_BYTES);
    bench_need(bench->texts != NULL, "no memory for the keys");
    for (size_t i = 0; i < keys; i++) {
        char buf[BENCH_KEY_BYTES + 1];
        bench_key(bench_order(i, keys), buf);
        memcpy(bench->texts + i * BENCH_KEY_BYTES, buf, BENCH_KEY_BYTES);
    }
    bench_need(lapse_open(&options, &bench->store, NULL) == LAPSE_OK, "the store does not open");
    lapse_result_init(&bench->result, NULL);
    struct lapse_bucket_config config = {.term = {.given = LAPSE_TERM_TTL}};
    config.term.ttl.ns = FAR_S * LAPSE_NS_PER_S;
    bench_need(lapse_bucket_open(bench->store, lapse_bytes_of("b"), &config, &bench->result,
                                 NULL) == LAPSE_OK,
               "the bucket does not open");
    bench_need(reference_table_init(&bench->table, keys), "no memory for the table");
}

static void open_sqlite(struct memory_bench *bench) {
    static const char *const schema =
        "create table kv(k blob primary key, v blob, rev, expires_at) without rowid;"
        "create index ends on kv(expires_at);";
    static const char *const upsert = "insert into kv values(?1, ?2, ?3, ?4) on conflict(k) do "
                                      "update set v = ?2, rev = ?3, expires_at = ?4";
    static const char *const select =
        "select v, rev, expires_at from kv where k = ?1 and expires_at > ?2";
    /* Neither store locks. */
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    bench_need(sqlite3_open_v2(":memory:", &bench->db, flags, NULL) == SQLITE_OK &&
                   sqlite3_exec(bench->db, schema, NULL, NULL, NULL) == SQLITE_OK &&
                   sqlite3_prepare_v2(bench->db, upsert, -1, &bench->upsert, NULL) == SQLITE_OK &&
                   sqlite3_prepare_v2(bench->db, select, -1, &bench->select, NULL) == SQLITE_OK,
               "SQLite does not open");
}

static void close_all(struct memory_bench *bench) {
    lapse_result_free(&bench->result);
    lapse_close(bench->store);
    reference_table_finish(&bench->table);
    free(bench->texts);
    (void)sqlite3_finalize(bench->upsert);
    (void)sqlite3_finalize(bench->select);
    (void)sqlite3_close(bench->db);
}

static struct lapse_bytes key_of(const struct memory_bench *bench, size_t i) {
    const char *text = bench->texts + i * BENCH_KEY_BYTES;
    return (struct lapse_bytes){(const unsigned char *)text, BENCH_KEY_BYTES};
}

static struct lapse_bytes key_next(struct memory_bench *bench, enum side side) {
    size_t i = bench->next[side];
    bench->next[side] = i + 1 == bench->keys ? 0 : i + 1;
    return key_of(bench, i);
}

static void ours_set(void *ctx, size_t count) {
    struct memory_bench *bench = ctx;
    for (size_t i = 0; i < count; i++) {
        enum lapse_status status = lapse_set(
            bench->store, lapse_bytes_of("b"), key_next(bench, OURS),
            (struct lapse_bytes){value, VALUE_BYTES}, NULL, NULL, &bench->result, NULL);
        bench_need(status == LAPSE_OK, "a set fails");
    }
}

static void ours_get(void *ctx, size_t count) {
    struct memory_bench *bench = ctx;
    for (size_t i = 0; i < count; i++) {
        enum lapse_status status = lapse_get(bench->store, lapse_bytes_of("b"),
                                             key_next(bench, OURS), &bench->result, NULL);
        bench_need(status == LAPSE_OK && bench->result.value.len == VALUE_BYTES, "a get fails");
    }
}

static void ours_extend(void *ctx, size_t count) {
    struct memory_bench *bench = ctx;
    (void)lapse_clock_manual_advance(&bench->manual, (struct lapse_span){LAPSE_NS_PER_S});
    for (size_t i = 0; i < count; i++) {
        enum lapse_status status = lapse_extend(
            bench->store, key_next(bench, OURS), lapse_bytes_of("w1"),
            (struct lapse_span){FAR_S * LAPSE_NS_PER_S}, NULL, &bench->result, NULL);
        bench_need(status == LAPSE_OK, "an extend fails");
    }
}

static void table_set(void *ctx, size_t count) {
    struct memory_bench *bench = ctx;
    for (size_t i = 0; i < count; i++) {
        struct lapse_bytes key = key_next(bench, REFERENCE);
        reference_table_set(&bench->table, key.data, key.len, value, VALUE_BYTES,
                            FAR_S * LAPSE_NS_PER_S);
    }
}

static void table_get(void *ctx, size_t count) {
    struct memory_bench *bench = ctx;
    unsigned char copy[VALUE_BYTES];
    for (size_t i = 0; i < count; i++) {
        struct lapse_bytes key = key_next(bench, REFERENCE);
        struct reference_slot *slot = reference_table_get(&bench->table, key.data, key.len, 1);
        bench_need(slot != NULL, "the table has lost a key");
        memcpy(copy, slot->value, sizeof(copy));
        bench_need(copy[0] == value[0], "the table has lost a value");
    }
}

/* All keys in their own order and one transaction, or the filling would take most of the time. */
static void sqlite_fill(struct memory_bench *bench, size_t keys) {
    bench_need(sqlite3_exec(bench->db, "begin", NULL, NULL, NULL) == SQLITE_OK, "no transaction");
    for (size_t i = 0; i < keys; i++) {
        char key[BENCH_KEY_BYTES + 1];
        bench_key(i, key);
        (void)sqlite3_bind_blob(bench->upsert, 1, key, BENCH_KEY_BYTES, SQLITE_STATIC);
        (void)sqlite3_bind_blob(bench->upsert, 2, value, VALUE_BYTES, SQLITE_STATIC);
        (void)sqlite3_bind_int64(bench->upsert, 3, (sqlite3_int64)i);
        (void)sqlite3_bind_int64(bench->upsert, 4, FAR_S * LAPSE_NS_PER_S);
        bench_need(sqlite3_step(bench->upsert) == SQLITE_DONE, "an upsert fails");
        (void)sqlite3_reset(bench->upsert);
    }
    bench_need(sqlite3_exec(bench->db, "commit", NULL, NULL, NULL) == SQLITE_OK, "no commit");
}

static void sqlite_set(void *ctx, size_t count) {
    struct memory_bench *bench = ctx;
    for (size_t i = 0; i < count; i++) {
        struct lapse_bytes key = key_next(bench, REFERENCE);
        (void)sqlite3_bind_blob(bench->upsert, 1, key.data, (int)key.len, SQLITE_STATIC);
        (void)sqlite3_bind_blob(bench->upsert, 2, value, VALUE_BYTES, SQLITE_STATIC);
        (void)sqlite3_bind_int64(bench->upsert, 3, (sqlite3_int64)i);
        (void)sqlite3_bind_int64(bench->upsert, 4, FAR_S * LAPSE_NS_PER_S);
        bench_need(sqlite3_step(bench->upsert) == SQLITE_DONE, "an upsert fails");
        (void)sqlite3_reset(bench->upsert);
    }
}

/* Answers what ours does: the value, copied, its revision and its end. */
static void sqlite_get(void *ctx, size_t count) {
    struct memory_bench *bench = ctx;
    unsigned char copy[VALUE_BYTES];
    for (size_t i = 0; i < count; i++) {
        struct lapse_bytes key = key_next(bench, REFERENCE);
        (void)sqlite3_bind_blob(bench->select, 1, key.data, (int)key.len, SQLITE_STATIC);
        (void)sqlite3_bind_int64(bench->select, 2, 1);
        bench_need(sqlite3_step(bench->select) == SQLITE_ROW, "a select fails");
        const void *found = sqlite3_column_blob(bench->select, 0);
        bench_need(sqlite3_column_bytes(bench->select, 0) == VALUE_BYTES && found != NULL,
                   "SQLite has lost a value");
        memcpy(copy, found, sizeof(copy));
        bench_need(copy[0] == value[0] && sqlite3_column_int64(bench->select, 1) >= 0 &&
                       sqlite3_column_int64(bench->select, 2) > 1,
                   "SQLite has lost a key");
        (void)sqlite3_reset(bench->select);
    }
}
