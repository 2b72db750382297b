/* The handle: open, close, and the one way that every command goes, `carry_out`. It reads the clock
 * once, carries out the log commands that must precede, lets the state machine work, and makes the
 * change durable or takes it back. */
#include "ceiling.h"
#include "decide.h"
#include "ephemeral.h"
#include "mark.h"
#include "restored.h"

#include <string.h>

static enum lapse_status open_state(struct lapse *store, struct lapse_error *err);
static enum lapse_status carry_out(struct lapse *store, struct lapse_job *job);
static enum lapse_status carry_out_locked(struct lapse *store, struct lapse_job *job);
static inline enum lapse_status enter(const struct lapse *store, struct lapse_job *job,
                                      struct lapse_mark *ret);
static enum lapse_status turn_away(const struct lapse_job *job, enum lapse_status status);
static inline bool precede(const struct lapse *store, struct lapse_job *job,
                           struct lapse_command *ret);
static enum lapse_status tell_preceding(struct lapse *store, const struct lapse_command *command,
                                        struct lapse_command *ret, struct lapse_error *err);
static void make_levels(const lapse_alloc *alloc, struct lapse_wheel *wheel);
static void tell_due(const struct lapse *store, struct lapse_due *ret_due);
static enum lapse_status issue(struct lapse *store, struct lapse_job *job);
static inline enum lapse_status run(struct lapse *store, struct lapse_job *job);
static bool must_commit(const struct lapse_job *job);
static enum lapse_status commit(struct lapse *store, struct lapse_job *job);
static struct lapse_steady shown_time(const struct lapse *store, const struct lapse_job *job);

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
    if (options->sync != LAPSE_SYNC_FULL && options->sync != LAPSE_SYNC_NORMAL &&
        options->sync != LAPSE_SYNC_NONE) {
        return lapse_error_set(err, LAPSE_INVALID,
                               "the options ask for sync %d; give one of enum lapse_sync",
                               (int)options->sync);
    }
    status = lapse_policies_check(&options->policies, err);
    if (status != LAPSE_OK) {
        return status;
    }
    struct lapse *store = lapse_handle_make(alloc, options->clock, options->watch_events_max,
                                            options->unlocked);
    if (store == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for a store");
    }
    store->state.policies = options->policies;
    store->state.strict = lapse_policies_code(&options->policies) == 0;
    store->journal = options->journal;
    store->journaled = journaled;
    store->sync = options->sync;
    status = open_state(store, err);
    if (status == LAPSE_OK && options->restored) {
        status = lapse_restored_begin(store, options->restored_above, err);
    }
    if (status != LAPSE_OK) {
        /* The journal stays the caller's when the open fails. */
        lapse_handle_free(store);
        return status;
    }
    *ret = store;
    return LAPSE_OK;
}

struct lapse *lapse_handle_make(const lapse_alloc *alloc, lapse_clock clock,
                                size_t watch_events_max, bool unlocked) {
    struct lapse *store = lapse_alloc_zero(alloc, sizeof(*store));
    if (store == NULL) {
        return NULL;
    }
    store->lock = unlocked ? NULL : lapse_lock_make(alloc);
    if (!unlocked && store->lock == NULL) {
        lapse_alloc_free(alloc, store, sizeof(*store));
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
    if (store->journaled) {
        store->journal.close(store->journal.ctx);
    }
    lapse_handle_free(store);
}

void lapse_handle_free(struct lapse *store) {
    const lapse_alloc *alloc = store->state.alloc;
    lapse_lock_free(alloc, store->lock);
    lapse_state_finish(&store->state);
    lapse_alloc_free(alloc, store, sizeof(*store));
}

enum lapse_status lapse_apply(struct lapse *store, const struct lapse_command *command,
                              struct lapse_result *result, struct lapse_error *err) {
    struct lapse_job job = {
        .state = &store->state, .command = command, .result = result, .err = err};
    return store->lock == NULL ? carry_out(store, &job) : carry_out_locked(store, &job);
}

enum lapse_status lapse_preceding(struct lapse *store, const struct lapse_command *command,
                                  struct lapse_command *ret, struct lapse_error *err) {
    lapse_lock_enter(store->lock);
    enum lapse_status status = tell_preceding(store, command, ret, err);
    lapse_lock_leave(store->lock);
    return status;
}

enum lapse_status lapse_resolve_class(struct lapse *store, const struct lapse_command *command,
                                      enum lapse_class *ret, struct lapse_error *err) {
    struct lapse_job job = {.state = &store->state, .command = command, .err = err};
    struct lapse_mark mark;
    lapse_lock_enter(store->lock);
    enum lapse_status status = enter(store, &job, &mark);
    if (status == LAPSE_OK) {
        status = lapse_job_check(&job);
    }
    if (status == LAPSE_OK) {
        *ret = job.klass;
    }
    lapse_lock_leave(store->lock);
    return status;
}

enum lapse_status lapse_step(struct lapse *store, size_t rows_max, struct lapse_result *result,
                             struct lapse_due *ret_due, struct lapse_error *err) {
    struct lapse_command reap = {.verb = LAPSE_VERB_REAP, .u.reap.rows_max = rows_max};
    struct lapse_state *state = &store->state;
    struct lapse_result own;
    lapse_result_init(&own, state->alloc);
    struct lapse_result *told = result == NULL ? &own : result;
    struct lapse_job job = {
        .state = state, .command = &reap, .result = told, .err = err, .step = true};
    lapse_lock_enter(store->lock);
    make_levels(state->alloc, &state->steady);
    make_levels(state->alloc, &state->ephemeral.ends);
    enum lapse_status status = carry_out(store, &job);
    if (status >= LAPSE_OK) {
        /* What ended in the tenure goes without the log's knowing. */
        struct lapse_now now =
            lapse_decide_now(state, state->last.store, state->last.reading.wall, 0);
        lapse_idle_drop_late(state, &now);
        told->item_count += lapse_ephemeral_reap(state, &now, rows_max);
    }
    lapse_state_trim_orders(state);
    if (status >= LAPSE_OK && ret_due != NULL) {
        tell_due(store, ret_due);
    }
    /* Before the lock is left: the allocator is the store's. */
    lapse_result_free(&own);
    lapse_lock_leave(store->lock);
    return status;
}

void lapse_next_due(const struct lapse *store, struct lapse_due *ret_due) {
    lapse_lock_enter(store->lock);
    tell_due(store, ret_due);
    lapse_lock_leave(store->lock);
}

struct lapse_steady lapse_store_time(const struct lapse *store) {
    lapse_lock_enter(store->lock);
    const struct lapse_state *state = &store->state;
    struct lapse_now now =
        lapse_decide_now(state, state->last.store, state->last.reading.wall, 0);
    lapse_lock_leave(store->lock);
    return now.store; /* at the store's resolution, as answers tell it */
}

static enum lapse_status tell_preceding(struct lapse *store, const struct lapse_command *command,
                                        struct lapse_command *ret, struct lapse_error *err) {
    struct lapse_job job = {.state = &store->state, .command = command, .err = err};
    struct lapse_mark mark;
    enum lapse_status status = enter(store, &job, &mark);
    if (status == LAPSE_OK) {
        status = lapse_job_check(&job);
    }
    if (status != LAPSE_OK) {
        return status;
    }
    return precede(store, &job, ret) ? LAPSE_OK : LAPSE_ABSENT;
}

/* A wheel does without a level that it misses, but then what a step does is not bounded. */
static void make_levels(const lapse_alloc *alloc, struct lapse_wheel *wheel) {
    if (wheel->count > 0) {
        (void)lapse_wheel_reserve(alloc, wheel);
    }
}

static void tell_due(const struct lapse *store, struct lapse_due *ret_due) {
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

/* Loads what the journal holds and finds out what time it is. */
static enum lapse_status open_state(struct lapse *store, struct lapse_error *err) {
    struct lapse_state *state = &store->state;
    struct lapse_load load = {.state = state, .err = err};
    if (store->journaled) {
        enum lapse_status status =
            store->journal.load(store->journal.ctx, lapse_load_row, &load, err);
        status = lapse_load_finish(&load, status);
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
    if (!load.marked) {
        state->mark = (struct lapse_mark){{0}, reading};
    }
    state->seq = state->log_seq;
    if (!lapse_ceiling_resume(state, &reading)) {
        return lapse_error_set(err, LAPSE_RANGE, "store time would leave its range");
    }
    return LAPSE_OK;
}

/* The main loop's body: one command, from the door to the answer. */
static enum lapse_status carry_out(struct lapse *store, struct lapse_job *job) {
    struct lapse_state *state = job->state;
    struct lapse_result *result = job->result;
    lapse_result_begin(result, job->command->verb);
    enum lapse_status status = enter(store, job, &state->last);
    if (status == LAPSE_OK) {
        status = lapse_job_check(job);
    }
    if (status == LAPSE_OK) {
        status = issue(store, job);
    }
    if (status == LAPSE_OK) {
        status = run(store, job);
    }
    if (status < LAPSE_OK) {
        lapse_result_clear(result);
    } else {
        result->durable_point = store->durable_point;
    }
    result->at = shown_time(store, job);
    result->wall = job->now.wall;
    result->command_seq = state->seq;
    result->status = status;
    return status;
}

static enum lapse_status carry_out_locked(struct lapse *store, struct lapse_job *job) {
    lapse_lock_take(store->lock);
    enum lapse_status status = carry_out(store, job);
    lapse_lock_give(store->lock);
    return status;
}

/* The instant of the decision. A call that failed before its instant was made durable tells the
 * ceiling instead (C1). */
static struct lapse_steady shown_time(const struct lapse *store, const struct lapse_job *job) {
    struct lapse_steady ceiling = job->state->ceilings.store;
    bool bound = store->journaled && store->sync != LAPSE_SYNC_NONE;
    return bound && ceiling.ns < job->now.store.ns ? ceiling : job->now.store;
}

/* The door: the clock is read here, once, and store time goes on from the last command's. */
static inline enum lapse_status enter(const struct lapse *store, struct lapse_job *job,
                                      struct lapse_mark *ret) {
    const struct lapse_state *state = &store->state;
    struct lapse_reading reading;
    enum lapse_status status = LAPSE_OK;
    struct lapse_mark next = state->last;
    if (store->unavailable) {
        status = LAPSE_UNAVAILABLE;
    } else if (store->clock.read(store->clock.ctx, &reading) != LAPSE_OK) {
        status = LAPSE_IO;
    } else if (!lapse_decide_advance(state, &state->last, &reading, &next)) {
        next = state->last;
        status = LAPSE_RANGE;
    }
    job->now = lapse_decide_now(state, next.store, next.reading.wall, 0);
    *ret = next;
    return status == LAPSE_OK ? LAPSE_OK : turn_away(job, status);
}

/* Why a command does not get past the door. */
static enum lapse_status turn_away(const struct lapse_job *job, enum lapse_status status) {
    switch (status) {
    case LAPSE_UNAVAILABLE:
        return lapse_error_set(job->err, status,
                               "the outcome of an earlier commit is unknown; close this store and "
                               "open it again");
    case LAPSE_IO:
        return lapse_error_set(job->err, status,
                               "the clock could not be read; nothing was changed");
    default:
        return lapse_error_set(job->err, status, "store time would leave its range");
    }
}

/* The next log command that must precede: what the instant itself asks for, then what the rows
 * that the command looks at ask for. */
static inline bool precede(const struct lapse *store, struct lapse_job *job,
                           struct lapse_command *ret) {
    return lapse_ceiling_owed(store, job, ret) || lapse_job_precede(job, ret);
}

/* The log commands that must precede: each goes its own way, at the instant of the call. */
static enum lapse_status issue(struct lapse *store, struct lapse_job *job) {
    struct lapse_command command;
    while (precede(store, job, &command)) {
        struct lapse_result result;
        struct lapse_job own = {.state = &store->state,
                                .command = &command,
                                .now = job->now,
                                .result = &result,
                                .err = job->err};
        lapse_result_init(&result, store->state.alloc);
        lapse_result_begin(&result, command.verb);
        enum lapse_status status = lapse_job_check(&own);
        if (status == LAPSE_OK) {
            status = run(store, &own);
        }
        bool carried =
            command.verb == LAPSE_VERB_MARK || result.renewed || result.item_count > 0;
        lapse_result_free(&result);
        if (status != LAPSE_OK) {
            return status;
        }
        /* A flush that the state owes fits the state and a reap that is owed finds a row, or this
         * loop would have no end. */
        LAPSE_ASSERT(carried);
    }
    return LAPSE_OK;
}

/* Gives the command its number, applies it and makes it durable, or leaves the state as it was. */
static inline enum lapse_status run(struct lapse *store, struct lapse_job *job) {
    struct lapse_state *state = &store->state;
    /* What is stored as a number must be one that a load takes. */
    if (state->seq >= INT64_MAX - 1) {
        return lapse_error_set(job->err, LAPSE_RANGE,
                               "the number of commands would leave its range");
    }
    state->seq++;
    if (job->klass == LAPSE_CLASS_READ) {
        /* It changes no row, so there is nothing to make durable and nothing to take back. */
        return lapse_job_apply(job);
    }
    job->now.log_seq = state->log_seq + 1;
    lapse_txn_begin(state);
    enum lapse_status status = lapse_job_apply(job);
    if (status < LAPSE_OK || !must_commit(job)) {
        lapse_txn_rollback(state);
        return status;
    }
    enum lapse_status committed = commit(store, job);
    return committed == LAPSE_OK ? status : committed;
}

/* Whether an applied command must be made durable: what it changed, and what it is the first to
 * show, which is a date that its reading has come to. Says the same with and without a journal, so
 * that commits are a function of the log commands. */
static bool must_commit(const struct lapse_job *job) {
    const struct lapse_state *state = job->state;
    enum lapse_verb verb = job->command->verb;
    if (job->klass != LAPSE_CLASS_LOG) {
        LAPSE_ASSERT(state->txn.changes == 0);
        return false;
    }
    return state->txn.changes > 0 || verb == LAPSE_VERB_MARK ||
           (verb == LAPSE_VERB_REAP && lapse_mark_due(&state->mark, &state->last)) ||
           lapse_peaks_due(state, &job->now);
}

static enum lapse_status commit(struct lapse *store, struct lapse_job *job) {
    struct lapse_state *state = &store->state;
    struct lapse_error *err = job->err;
    enum lapse_sync sync = lapse_ceiling_sync(store, job);
    struct lapse_mark before = state->mark;
    enum lapse_status status = LAPSE_OK;
    if (lapse_peaks_matter(state) && !lapse_peaks_plan(state, &state->last)) {
        status = lapse_error_set(err, LAPSE_NOMEM, "no memory for the reading of a clock");
    }
    state->mark = state->last;
    state->log_seq++;
    if (store->journaled && sync == LAPSE_SYNC_FULL) {
        lapse_ceiling_raise(store, state);
    }
    if (status == LAPSE_OK && store->journaled) {
        status = lapse_journal_write(&store->journal, sync, state, &store->durable_point, err);
    }
    if (status != LAPSE_OK) {
        store->unavailable = status == LAPSE_UNKNOWN;
        state->log_seq--;
        state->mark = before;
        lapse_peaks_undo(state);
        lapse_txn_rollback(state);
        return status;
    }
    lapse_txn_finish(state);
    if (lapse_peaks_matter(state)) {
        lapse_peaks_keep(state);
    }
    return LAPSE_OK;
}
