/* Any bytes as the rows of a store. Each is read and written back as it was, or is not a row; a
 * journal that hands them all to an opening store is refused, or gives a store that is sound, that
 * can be forked, and that takes calls without losing its footing.
 *
 * Bytes: one that picks the profile; then rows one after the other, before each its length in two
 * bytes, low one first. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "lapse/lapse.h"

enum { ROWS_MAX = 64, PROFILES = 4, STEPS = 4, STEP_ROWS = 16 };

struct journal {
    struct lapse_policies policies;
    struct lapse_row rows[ROWS_MAX];
    size_t count;
};

static void read_rows(const unsigned char *data, size_t size, struct journal *journal,
                      struct lapse_digest *digest);
static bool read_row(struct lapse_bytes bytes, struct lapse_row *row);
static void open_store(struct journal *journal, struct lapse_digest *digest);
static void use_store(struct lapse *store, struct lapse_clock_manual *clock,
                      struct lapse_digest *digest);
static void fork_store(const struct lapse *store, struct lapse_clock_manual *clock,
                       struct lapse_digest *digest);
static enum lapse_status load(void *ctx, lapse_row_visit visit, void *visit_ctx,
                              struct lapse_error *err);
static enum lapse_status begin(void *ctx, struct lapse_error *err);
static enum lapse_status put(void *ctx, const struct lapse_row *row, struct lapse_error *err);
static enum lapse_status commit(void *ctx, enum lapse_sync sync, int64_t *ret_durable_point,
                                struct lapse_error *err);
static void nothing(void *ctx);

uint64_t lapse_harness_run(const unsigned char *data, size_t size) {
    struct journal *journal = calloc(1, sizeof(*journal));
    struct lapse_digest digest;
    LAPSE_ASSERT(journal != NULL);
    lapse_digest_begin(&digest);
    if (size > 0) {
        journal->policies = lapse_policies_of((enum lapse_profile)(data[0] % PROFILES));
        read_rows(data + 1, size - 1, journal, &digest);
        open_store(journal, &digest);
    }
    free(journal);
    return lapse_digest_value(&digest);
}

/* Stops at the first that is none: a store does too. */
static void read_rows(const unsigned char *data, size_t size, struct journal *journal,
                      struct lapse_digest *digest) {
    size_t at = 0;
    while (journal->count < ROWS_MAX && size - at >= 2) {
        size_t len = (size_t)data[at] | (size_t)data[at + 1] << 8;
        at += 2;
        len = len > size - at ? size - at : len;
        struct lapse_row *row = &journal->rows[journal->count];
        if (!read_row((struct lapse_bytes){data + at, len}, row)) {
            break;
        }
        lapse_row_digest(row, digest);
        journal->count++;
        at += len;
    }
}

static bool read_row(struct lapse_bytes bytes, struct lapse_row *row) {
    struct lapse_error err = {0};
    size_t len = 0;
    enum lapse_status status = lapse_row_decode(bytes, row, &err);
    LAPSE_ASSERT(status == LAPSE_OK || status == LAPSE_CORRUPT);
    if (status != LAPSE_OK) {
        return false;
    }
    LAPSE_ASSERT(lapse_row_encode(row, NULL, 0, &len) == LAPSE_LIMIT);
    LAPSE_ASSERT(len == bytes.len);
    unsigned char *again = malloc(len);
    LAPSE_ASSERT(again != NULL);
    LAPSE_ASSERT(lapse_row_encode(row, again, len, &len) == LAPSE_OK);
    LAPSE_ASSERT(memcmp(again, bytes.data, len) == 0);
    free(again);
    return true;
}

static void open_store(struct journal *journal, struct lapse_digest *digest) {
    struct lapse_clock_manual clock;
    struct lapse *store = NULL;
    struct lapse_error err = {0};
    lapse_clock_manual_init(&clock, (struct lapse_wall){LAPSE_NS_PER_S});
    struct lapse_options options = {.clock = lapse_clock_manual_vtable(&clock),
                                    .policies = journal->policies,
                                    .journal = {load, begin, put, put, commit, nothing, nothing,
                                                journal}};
    enum lapse_status status = lapse_open(&options, &store, &err);
    lapse_digest_i64(digest, status);
    LAPSE_ASSERT(status != LAPSE_BUG && status != LAPSE_NOMEM);
    LAPSE_ASSERT(status >= 0 || err.message[0] != '\0');
    if (status == LAPSE_OK) {
        use_store(store, &clock, digest);
    }
    lapse_close(store);
}

/* What was loaded is sound at once, after time has gone, and after housekeeping. */
static void use_store(struct lapse *store, struct lapse_clock_manual *clock,
                      struct lapse_digest *digest) {
    struct lapse_error err = {0};
    struct lapse_result result;
    lapse_result_init(&result, NULL);
    LAPSE_ASSERT(lapse_check(store, &err) == LAPSE_OK);
    for (int i = 0; i < STEPS; i++) {
        fork_store(store, clock, digest);
        enum lapse_status status = lapse_step(store, STEP_ROWS, &result, NULL, &err);
        lapse_digest_i64(digest, status);
        LAPSE_ASSERT(status != LAPSE_BUG && status != LAPSE_CORRUPT);
        status = lapse_acquire(store, lapse_bytes_of("k"), lapse_bytes_of("w"),
                               (struct lapse_span){LAPSE_NS_PER_S}, &result, &err);
        lapse_digest_i64(digest, status);
        LAPSE_ASSERT(status != LAPSE_BUG && status != LAPSE_CORRUPT);
        LAPSE_ASSERT(lapse_check(store, &err) == LAPSE_OK);
        lapse_clock_manual_advance(clock, (struct lapse_span){LAPSE_NS_PER_S << (10 * i)});
    }
    lapse_result_free(&result);
}

/* A fork is loaded from a walk, so it shows what the store has. */
static void fork_store(const struct lapse *store, struct lapse_clock_manual *clock,
                       struct lapse_digest *digest) {
    struct lapse *fork = NULL;
    struct lapse_error err = {0};
    uint64_t values[2] = {0};
    LAPSE_ASSERT(lapse_fork(store, NULL, lapse_clock_manual_vtable(clock), &fork, &err) ==
                 LAPSE_OK);
    LAPSE_ASSERT(lapse_digest(store, LAPSE_PART_DURABLE, &values[0]) == LAPSE_OK);
    LAPSE_ASSERT(lapse_digest(fork, LAPSE_PART_DURABLE, &values[1]) == LAPSE_OK);
    LAPSE_ASSERT(values[0] == values[1]);
    lapse_digest_u64(digest, values[0]);
    lapse_close(fork);
}

static enum lapse_status load(void *ctx, lapse_row_visit visit, void *visit_ctx,
                              struct lapse_error *err) {
    const struct journal *journal = ctx;
    (void)err;
    for (size_t i = 0; i < journal->count; i++) {
        enum lapse_status status = visit(visit_ctx, &journal->rows[i]);
        if (status != LAPSE_OK) {
            return status;
        }
    }
    return LAPSE_OK;
}

static enum lapse_status begin(void *ctx, struct lapse_error *err) {
    (void)ctx;
    (void)err;
    return LAPSE_OK;
}

/* What a store would write must be a row that can be written. */
static enum lapse_status put(void *ctx, const struct lapse_row *row, struct lapse_error *err) {
    size_t len = 0;
    (void)ctx;
    (void)err;
    LAPSE_ASSERT(lapse_row_encode(row, NULL, 0, &len) == LAPSE_LIMIT);
    return LAPSE_OK;
}

static enum lapse_status commit(void *ctx, enum lapse_sync sync, int64_t *ret_durable_point,
                                struct lapse_error *err) {
    (void)ctx;
    (void)sync;
    (void)err;
    *ret_durable_point = 1;
    return LAPSE_OK;
}

static void nothing(void *ctx) {
    (void)ctx;
}
