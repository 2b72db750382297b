/* The state as a whole: walk, digest, check and fork, all over the one walk. */
#include "handle.h"

struct digesting {
    struct lapse_digest digest;
    enum lapse_part part;
};

static enum lapse_status digest_row(void *ctx, const struct lapse_row *row);

enum lapse_status lapse_walk(const struct lapse *store, lapse_row_visit visit, void *ctx,
                             struct lapse_error *err) {
    lapse_lock_enter(store->lock);
    enum lapse_status status = lapse_state_walk(&store->state, visit, ctx, err);
    lapse_lock_leave(store->lock);
    return status;
}

enum lapse_status lapse_digest(const struct lapse *store, enum lapse_part part,
                               uint64_t *ret_digest) {
    struct digesting digesting = {.part = part};
    lapse_digest_begin(&digesting.digest);
    lapse_lock_enter(store->lock);
    enum lapse_status status = lapse_state_walk(&store->state, digest_row, &digesting, NULL);
    lapse_lock_leave(store->lock);
    if (status == LAPSE_OK) {
        *ret_digest = lapse_digest_value(&digesting.digest);
    }
    return status;
}

enum lapse_status lapse_check(const struct lapse *store, struct lapse_error *err) {
    lapse_lock_enter(store->lock);
    enum lapse_status status = lapse_state_check(&store->state, err);
    lapse_lock_leave(store->lock);
    return status;
}

enum lapse_status lapse_fork(const struct lapse *store, const lapse_alloc *alloc, lapse_clock clock,
                             struct lapse **ret, struct lapse_error *err) {
    if (clock.read == NULL) {
        return lapse_error_set(err, LAPSE_INVALID,
                               "the fork is given no clock; set clock.read to "
                               "one that reads what the original's reads");
    }
    struct lapse *fork = lapse_handle_make(alloc == NULL ? store->state.alloc : alloc, clock,
                                           store->state.watch_events_max, store->lock == NULL);
    if (fork == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for a fork");
    }
    fork->state.policies = store->state.policies;
    fork->state.strict = store->state.strict;
    struct lapse_load load = {.state = &fork->state, .err = err, .forking = true};
    lapse_lock_enter(store->lock);
    enum lapse_status status = lapse_state_walk(&store->state, lapse_load_row, &load, err);
    status = lapse_load_finish(&load, status);
    fork->durable_point = store->durable_point;
    fork->unavailable = store->unavailable;
    lapse_lock_leave(store->lock);
    if (status != LAPSE_OK) {
        lapse_handle_free(fork);
        return status;
    }
    *ret = fork;
    return LAPSE_OK;
}

/* Marks tell when, not what: they are left out, so that two stores with the same rows agree
 * whenever they were asked last. */
static enum lapse_status digest_row(void *ctx, const struct lapse_row *row) {
    struct digesting *digesting = ctx;
    bool peak = row->kind == LAPSE_ROW_MARK && lapse_bytes_equal(row->key, lapse_bytes_of("peak"));
    if (row->part != digesting->part || (row->kind == LAPSE_ROW_MARK && !peak)) {
        return LAPSE_OK;
    }
    struct lapse_row told = *row;
    /* What a ceiling holds back is not yet given: stores that gave the same agree. */
    told.bucket_row.ceiling_revision = 0;
    lapse_row_digest(&told, &digesting->digest);
    return LAPSE_OK;
}
