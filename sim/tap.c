/* A commit is told before it begins; that something ends, before the first row that says so. What a
 * process that falls there does next reaches nothing, so each member goes on to the journal behind,
 * which answers for itself. */
#include "tap.h"

static enum lapse_status load(void *ctx, lapse_row_visit visit, void *visit_ctx,
                              struct lapse_error *err);
static enum lapse_status begin(void *ctx, struct lapse_error *err);
static enum lapse_status put(void *ctx, const struct lapse_row *row, struct lapse_error *err);
static enum lapse_status drop(void *ctx, const struct lapse_row *row, struct lapse_error *err);
static enum lapse_status commit(void *ctx, enum lapse_sync sync, int64_t *ret_point,
                                struct lapse_error *err);
static void rollback(void *ctx);
static void close_it(void *ctx);
static void tell_expire(struct lapse_sim_tap *tap);

void lapse_sim_tap_init(struct lapse_sim_tap *tap, struct lapse_sim_trouble *trouble,
                           const bool *housekeeping, lapse_journal *journal) {
    *tap = (struct lapse_sim_tap){*journal, trouble, housekeeping, false};
    if (journal->load != NULL) {
        *journal = (lapse_journal){load, begin, put, drop, commit, rollback, close_it, tap};
    }
}

static enum lapse_status load(void *ctx, lapse_row_visit visit, void *visit_ctx,
                              struct lapse_error *err) {
    struct lapse_sim_tap *tap = ctx;
    return tap->inner.load(tap->inner.ctx, visit, visit_ctx, err);
}

static enum lapse_status begin(void *ctx, struct lapse_error *err) {
    struct lapse_sim_tap *tap = ctx;
    tap->told = false;
    return tap->inner.begin(tap->inner.ctx, err);
}

static enum lapse_status put(void *ctx, const struct lapse_row *row, struct lapse_error *err) {
    struct lapse_sim_tap *tap = ctx;
    if (row->kind == LAPSE_ROW_RECORD && row->record.kind == LAPSE_RECORD_MARKER) {
        tell_expire(tap);
    }
    return tap->inner.put(tap->inner.ctx, row, err);
}

static enum lapse_status drop(void *ctx, const struct lapse_row *row, struct lapse_error *err) {
    struct lapse_sim_tap *tap = ctx;
    bool ends = row->kind == LAPSE_ROW_RECORD || row->kind == LAPSE_ROW_LEASE ||
                row->kind == LAPSE_ROW_SESSION;
    if (ends && *tap->housekeeping) {
        tell_expire(tap);
    }
    return tap->inner.drop(tap->inner.ctx, row, err);
}

static enum lapse_status commit(void *ctx, enum lapse_sync sync, int64_t *ret_point,
                                struct lapse_error *err) {
    struct lapse_sim_tap *tap = ctx;
    (void)lapse_sim_trouble_reach(tap->trouble, LAPSE_POINT_COMMIT);
    return tap->inner.commit(tap->inner.ctx, sync, ret_point, err);
}

static void rollback(void *ctx) {
    struct lapse_sim_tap *tap = ctx;
    tap->inner.rollback(tap->inner.ctx);
}

static void close_it(void *ctx) {
    struct lapse_sim_tap *tap = ctx;
    tap->inner.close(tap->inner.ctx);
}

static void tell_expire(struct lapse_sim_tap *tap) {
    if (!tap->told) {
        tap->told = true;
        (void)lapse_sim_trouble_reach(tap->trouble, LAPSE_POINT_EXPIRE);
    }
}
