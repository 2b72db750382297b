/* The handle: open, close, and the one loop that every command goes through, `carry_out`. It reads
 * the clock once, lets the state machine work, makes the change durable or takes it back. */
#include "handle.h"

#include "mark.h"

#include <string.h>

struct loading {
    struct lapse_state *state;
    struct lapse_error *err;
    bool marked;
};

static enum lapse_status open_state(struct lapse *store, struct lapse_error *err);
static enum lapse_status load_row(void *ctx, const struct lapse_row *row);
static enum lapse_status carry_out(struct lapse *store, const struct lapse_command *command,
                                   bool commit_anyway, struct lapse_result *result,
                                   struct lapse_error *err);
static enum lapse_status enter(struct lapse *store, struct lapse_job *job);
static enum lapse_status run(struct lapse *store, struct lapse_job *job, bool commit_anyway);
static enum lapse_status commit(struct lapse *store, struct lapse_error *err);

enum { WATCH_EVENTS_DEFAULT = 1024 };

enum lapse_status lapse_open(const struct lapse_options *options, struct lapse **ret,
                             struct lapse_error *err) {
    bool journaled = false;
    enum lapse_status status = lapse_journal_check(&options->journal, &journaled, err);
    if (status != LAPSE_OK) {
        return status;
    }
    if (options->clock.read == NULL) {
        return lapse_error_set(err, LAPSE_INVALID,
                               "the options name no clock; set clock.read, for "
                               "instance from lapse_clock_manual_vtable");
    }
    const lapse_alloc *alloc = options->alloc == NULL ? lapse_alloc_libc() : options->alloc;
    struct lapse *store = lapse_handle_make(alloc, options->clock, options->watch_events_max);
    if (store == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for a store");
    }
    store->journal = options->journal;
    store->journaled = journaled;
    store->sync = options->sync;
    status = open_state(store, err);
    if (status != LAPSE_OK) {
        /* The journal stays the caller's when the open fails. */
        store->journaled = false;
        lapse_close(store);
        return status;
    }
    *ret = store;
    return LAPSE_OK;
}

struct lapse *lapse_handle_make(const lapse_alloc *alloc, lapse_clock clock,
                                size_t watch_events_max) {
    struct lapse *store = lapse_alloc_zero(alloc, sizeof(*store));
    if (store == NULL) {
        return NULL;
    }
    store->clock = clock;
    lapse_state_init(&store->state, alloc,
                     watch_events_max == 0 ? WATCH_EVENTS_DEFAULT : watch_events_max);
    return store;
}

void lapse_close(struct lapse *store) {
    if (store == NULL) {
        return;
    }
    const lapse_alloc *alloc = store->state.alloc;
    if (store->journaled) {
        store->journal.close(store->journal.ctx);
    }
    lapse_state_finish(&store->state);
    lapse_alloc_free(alloc, store, sizeof(*store));
}

enum lapse_status lapse_apply(struct lapse *store, const struct lapse_command *command,
                              struct lapse_result *result, struct lapse_error *err) {
    return carry_out(store, command, command->verb == LAPSE_VERB_MARK, result, err);
}

enum lapse_status lapse_step(struct lapse *store, size_t rows_max, struct lapse_result *result,
                             struct lapse_due *ret_due, struct lapse_error *err) {
    struct lapse_command reap = {.verb = LAPSE_VERB_REAP, .u.reap.rows_max = rows_max};
    struct lapse_result own;
    lapse_result_init(&own, store->state.alloc);
    enum lapse_status status = carry_out(store, &reap, false, result == NULL ? &own : result, err);
    lapse_result_free(&own);
    if (status >= LAPSE_OK && ret_due != NULL) {
        lapse_next_due(store, ret_due);
    }
    return status;
}

void lapse_next_due(const struct lapse *store, struct lapse_due *ret_due) {
    const struct lapse_state *state = &store->state;
    lapse_reap_due(state, ret_due);
    struct lapse_steady mark_at;
    if (!store->journaled || state->last.store.ns == state->mark.store.ns ||
        !lapse_steady_add(state->mark.store, (struct lapse_span){LAPSE_NS_PER_S}, &mark_at)) {
        return;
    }
    if (mark_at.ns < state->last.store.ns) {
        mark_at = state->last.store;
    }
    if (!ret_due->has_steady || mark_at.ns < ret_due->steady.ns) {
        ret_due->has_steady = true;
        ret_due->steady = mark_at;
    }
}

struct lapse_steady lapse_store_time(const struct lapse *store) {
    return store->state.last.store;
}

/* Loads what the journal holds and finds out what time it is. */
static enum lapse_status open_state(struct lapse *store, struct lapse_error *err) {
    struct lapse_state *state = &store->state;
    struct loading loading = {state, err, false};
    if (store->journaled) {
        enum lapse_status status = store->journal.load(store->journal.ctx, load_row, &loading, err);
        if (status != LAPSE_OK) {
            return status;
        }
    }
    struct lapse_reading reading;
    if (store->clock.read(store->clock.ctx, &reading) != LAPSE_OK) {
        return lapse_error_set(err, LAPSE_IO,
                               "the clock could not be read; the store stays "
                               "closed");
    }
    if (!loading.marked) {
        state->mark = (struct lapse_mark){{0}, reading};
    }
    if (!lapse_mark_advance(&state->mark, &reading, &state->last)) {
        return lapse_error_set(err, LAPSE_RANGE, "store time would leave its range");
    }
    /* The mark's reading came with the last commit, so every date stored has seen it. */
    struct lapse_now marked = {state->mark.store, state->mark.reading.wall, state->seq};
    lapse_peaks_note(state, &marked);
    return LAPSE_OK;
}

static enum lapse_status load_row(void *ctx, const struct lapse_row *row) {
    struct loading *loading = ctx;
    if (row->part != LAPSE_PART_DURABLE) {
        return lapse_error_set(loading->err, LAPSE_CORRUPT,
                               "the journal holds a row of kind %d "
                               "that belongs to a tenure; it is not one that lapse wrote",
                               (int)row->kind);
    }
    loading->marked = loading->marked || row->kind == LAPSE_ROW_MARK;
    return lapse_state_load(loading->state, row, loading->err);
}

/* The main loop's body: one command, from the door to the answer. */
static enum lapse_status carry_out(struct lapse *store, const struct lapse_command *command,
                                   bool commit_anyway, struct lapse_result *result,
                                   struct lapse_error *err) {
    struct lapse_state *state = &store->state;
    struct lapse_job job = {.state = state, .command = command, .result = result, .err = err};
    lapse_result_begin(result, command->verb);
    enum lapse_status status = enter(store, &job);
    if (status == LAPSE_OK) {
        lapse_txn_begin(state);
        status = run(store, &job, commit_anyway);
    }
    if (status < LAPSE_OK) {
        lapse_result_clear(result);
    } else {
        lapse_peaks_note(state, &job.now);
        result->durable_point = store->durable_point;
    }
    result->at = job.now.store;
    result->wall = job.now.wall;
    result->command_seq = job.now.seq;
    result->status = status;
    return status;
}

/* The door: the clock is read here, once, and store time goes on from the last command's. */
static enum lapse_status enter(struct lapse *store, struct lapse_job *job) {
    struct lapse_state *state = &store->state;
    struct lapse_reading reading;
    struct lapse_mark next;
    job->now = (struct lapse_now){state->last.store, state->last.reading.wall, state->seq};
    if (store->unavailable) {
        return lapse_error_set(job->err, LAPSE_UNAVAILABLE,
                               "the outcome of an earlier commit is "
                               "unknown; close this store and open it again");
    }
    if (store->clock.read(store->clock.ctx, &reading) != LAPSE_OK) {
        return lapse_error_set(job->err, LAPSE_IO,
                               "the clock could not be read; nothing was "
                               "changed");
    }
    if (state->seq == INT64_MAX || !lapse_mark_advance(&state->last, &reading, &next)) {
        return lapse_error_set(job->err, LAPSE_RANGE,
                               "store time or the number of commands would "
                               "leave its range");
    }
    /* A dated row may need the peak of this command. */
    if (state->wall.count > 0 && !lapse_peaks_reserve(state)) {
        return lapse_error_set(job->err, LAPSE_NOMEM, "no memory for the reading of a clock");
    }
    state->last = next;
    state->seq++;
    job->now = (struct lapse_now){next.store, next.reading.wall, state->seq};
    return LAPSE_OK;
}

/* Applies the command and makes it durable, or leaves the state as it was. A refused call takes
 * back even the flush that came before it: it changes nothing (CAS-05). */
static enum lapse_status run(struct lapse *store, struct lapse_job *job, bool commit_anyway) {
    struct lapse_state *state = &store->state;
    enum lapse_status status = lapse_job_check(job);
    if (status == LAPSE_OK) {
        status = lapse_job_prepare(job);
    }
    size_t prepared = job->command->verb == LAPSE_VERB_REAP ? 0 : state->txn.changes;
    if (status == LAPSE_OK) {
        status = lapse_job_apply(job);
    }
    bool housekeeping = job->command->verb == LAPSE_VERB_REAP && store->journaled &&
                        lapse_mark_due(&state->mark, &state->last);
    bool changed = state->txn.changes > prepared || commit_anyway || housekeeping;
    if (status < LAPSE_OK || !changed) {
        lapse_txn_rollback(state);
        return status;
    }
    enum lapse_status committed = commit(store, job->err);
    return committed == LAPSE_OK ? status : committed;
}

static enum lapse_status commit(struct lapse *store, struct lapse_error *err) {
    struct lapse_state *state = &store->state;
    struct lapse_mark before = state->mark;
    state->mark = state->last;
    if (store->journaled) {
        enum lapse_status status =
            lapse_journal_write(&store->journal, store->sync, state, &store->durable_point, err);
        if (status != LAPSE_OK) {
            store->unavailable = status == LAPSE_UNKNOWN;
            state->mark = before;
            lapse_txn_rollback(state);
            return status;
        }
    }
    lapse_txn_finish(state);
    return LAPSE_OK;
}
