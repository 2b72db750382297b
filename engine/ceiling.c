/* Ceilings: what may be shown before it is durable.
 *
 * A store that shows store time 100, crashes and comes back at 99 has taken something back: a lease
 * seen as ended would be held again. Syncing each reading would cost a sync a read, so a bound is
 * synced beforehand and nothing above it is shown. The same holds for numbers that are given before
 * they are durable.
 *
 *   C1  with `sync: full` or `normal`, no command is decided at a store time above the ceiling of
 *       store time: a MARK precedes it, or its own synced commit has raised the ceiling. While
 *       nothing is durable no instant lies below it, the first one either
 *   C2  every synced commit raises that ceiling to 1 s above its instant; no other commit does, so
 *       what is lost with an unsynced tail never held a ceiling up
 *   C3  an ephemeral token lies at or below the ceiling of tokens, which a MARK raises beforehand
 *   C4  with `sync: normal`, a revision or a durable token above its ceiling is given by a synced
 *       commit, which raises the ceiling: those up to it are given by commits that may be lost.
 *       The numbers of sessions have no ceiling: each is given by a synced commit
 *   C5  the first command to show that a date was reached rests on a synced commit of its reading
 *   C6  a tenure on another boot starts at or above the ceiling of store time, on the same boot
 *       exactly where the raw clock says; each tenure starts above the ceilings of numbers
 *   C7  a persistent grant takes a token above all that this tenure gave to ephemeral ones: a MARK
 *       raises the durable counter first, so that the log alone decides the token */
#include "ceiling.h"

#include "decide.h"
#include "ephemeral.h"
#include "mark.h"

enum { NUMBERS_AHEAD = 65536 };

static bool above(const struct lapse_job *job);
static bool reap_marks(const struct lapse_job *job);
static bool token_owed(const struct lapse_job *job);
static bool takes_token(const struct lapse_state *state, const struct lapse_command *command);
static bool numbers_pass(const struct lapse_state *state);
static int64_t ahead(int64_t number, int64_t by);

bool lapse_ceiling_asks(const struct lapse *store, const struct lapse_job *job,
                        struct lapse_command *ret) {
    const struct lapse_state *state = job->state;
    if (job->command->verb == LAPSE_VERB_MARK) {
        return false;
    }
    struct lapse_command mark = {.verb = LAPSE_VERB_MARK};
    bool owed = false;
    /* A reap that is late enough commits its instant of itself. */
    bool itself = job->command->verb == LAPSE_VERB_REAP && reap_marks(job);
    if (store->journaled && !itself) {
        bool passed = store->sync != LAPSE_SYNC_NONE && above(job);
        owed = passed || lapse_mark_parted(&state->mark, &job->now);
        mark.u.mark.ceiling_store.ns = passed ? ahead(job->now.store.ns, LAPSE_NS_PER_S) : 0;
    }
    int64_t token = lapse_ephemeral_token(state);
    bool counted = !lapse_decide_token_by_name(state, LAPSE_EPHEMERAL);
    if (store->journaled && counted && token >= state->ceilings.token &&
        lapse_ephemeral_grants(job)) {
        mark.u.mark.ceiling_token = ahead(token, NUMBERS_AHEAD);
        owed = owed || mark.u.mark.ceiling_token > state->ceilings.token;
    }
    if (token_owed(job)) {
        mark.u.mark.token = token;
        owed = true;
    }
    if (owed) {
        *ret = mark;
    }
    return owed;
}

enum lapse_sync lapse_ceiling_sync(const struct lapse *store, const struct lapse_job *job) {
    const struct lapse_state *state = job->state;
    if (store->sync != LAPSE_SYNC_NORMAL) {
        return store->sync;
    }
    bool synced = job->command->verb == LAPSE_VERB_MARK || above(job) ||
                  lapse_peaks_due(state, &job->now) || numbers_pass(state);
    return synced ? LAPSE_SYNC_FULL : LAPSE_SYNC_NORMAL;
}

void lapse_ceiling_raise(const struct lapse *store, struct lapse_state *state) {
    int64_t until = ahead(state->last.store.ns, LAPSE_NS_PER_S);
    if (until > state->ceilings.store.ns) {
        state->ceilings.store.ns = until;
    }
    if (store->sync != LAPSE_SYNC_NORMAL) {
        return;
    }
    if (state->token > state->ceilings.token) {
        state->ceilings.token = ahead(state->token, NUMBERS_AHEAD);
    }
    for (size_t i = 0; i < state->txn.count; i++) {
        struct lapse_node *node = state->txn.entries[i].node;
        if (node->kind == LAPSE_ROW_BUCKET && node->now.revision > node->now.span_ns) {
            node->now.span_ns = ahead(node->now.revision, NUMBERS_AHEAD);
        }
    }
}

enum lapse_status lapse_ceiling_mark(struct lapse_job *job) {
    const struct lapse_command *command = job->command;
    struct lapse_state *state = job->state;
    if (command->u.mark.ceiling_store.ns > state->ceilings.store.ns) {
        state->ceilings.store = command->u.mark.ceiling_store;
    }
    if (command->u.mark.ceiling_token > state->ceilings.token) {
        state->ceilings.token = command->u.mark.ceiling_token;
    }
    if (command->u.mark.token > state->token) {
        state->token = command->u.mark.token;
    }
    if (job->bucket == NULL || command->u.mark.ceiling_revision <= job->bucket->row->now.span_ns) {
        return LAPSE_OK;
    }
    if (!lapse_txn_touch(state, job->bucket->row)) {
        return lapse_error_set(job->err, LAPSE_NOMEM, "no memory to raise a ceiling");
    }
    struct lapse_image image = job->bucket->row->now;
    image.span_ns = command->u.mark.ceiling_revision;
    lapse_txn_set(state, job->bucket->row, &image);
    return LAPSE_OK;
}

bool lapse_ceiling_resume(struct lapse_state *state, const struct lapse_reading *reading) {
    bool exact = lapse_decide_time_known(state, reading);
    if (!lapse_decide_advance(state, &state->mark, reading, &state->last)) {
        return false;
    }
    if (!exact && state->last.store.ns < state->ceilings.store.ns) {
        state->last.store = state->ceilings.store;
    }
    lapse_ceiling_numbers(state);
    return true;
}

void lapse_ceiling_numbers(struct lapse_state *state) {
    if (state->token < state->ceilings.token) {
        state->token = state->ceilings.token;
    }
    struct lapse_node *row = lapse_table_any(&state->buckets);
    for (; row != NULL; row = lapse_table_after(&state->buckets, row)) {
        if (row->now.revision < row->now.span_ns) {
            row->now.revision = row->now.span_ns;
        }
        if (row->now.revision > state->revision) {
            state->revision = row->now.revision;
        }
    }
}

/* Whether the instant lies above what may be shown. Of a store that has made nothing durable no
 * instant may: it would begin again at 0 when it is opened anew. */
static bool above(const struct lapse_job *job) {
    int64_t ceiling = job->state->ceilings.store.ns;
    return ceiling == 0 || job->now.store.ns > ceiling;
}

/* What precedes a reap must itself need nothing before it, so where a flush is owed the mark comes
 * first. */
static bool reap_marks(const struct lapse_job *job) {
    struct lapse_mark now = {job->now.store, {.wall = job->now.wall}};
    struct lapse_command flush;
    return lapse_mark_due(&job->state->mark, &now) &&
           !lapse_idle_owed_due(job->state, &job->now, &flush);
}

/* Whether a persistent grant may come that ephemeral ones of this tenure have overtaken (C7). */
static bool token_owed(const struct lapse_job *job) {
    const struct lapse_state *state = job->state;
    if (job->klass != LAPSE_CLASS_LOG || lapse_ephemeral_token(state) <= state->token ||
        lapse_decide_token_by_name(state, LAPSE_PERSISTENT)) {
        return false;
    }
    if (job->command->verb != LAPSE_VERB_BATCH) {
        return takes_token(state, job->command);
    }
    bool found = false;
    for (size_t i = 0; i < job->command->u.batch.count && !found; i++) {
        found = takes_token(state, &job->command->u.batch.commands[i]);
    }
    return found;
}

static bool takes_token(const struct lapse_state *state, const struct lapse_command *command) {
    return command->verb == LAPSE_VERB_ACQUIRE ||
           (command->verb == LAPSE_VERB_EXTEND && lapse_decide_extend_takes_token(state));
}

/* Whether the running command gives numbers above their ceilings (C4). */
static bool numbers_pass(const struct lapse_state *state) {
    if (state->token > state->ceilings.token || state->session != state->txn.session_before) {
        return true;
    }
    for (size_t i = 0; i < state->txn.count; i++) {
        const struct lapse_node *node = state->txn.entries[i].node;
        if (node->kind == LAPSE_ROW_BUCKET && node->now.revision > node->now.span_ns) {
            return true;
        }
    }
    return false;
}

/* number + by, or the end of the range. */
static int64_t ahead(int64_t number, int64_t by) {
    int64_t sum = INT64_MAX;
    (void)lapse_ns_add(number, by, &sum);
    return sum;
}
