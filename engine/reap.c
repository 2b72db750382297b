/* The reaper: it deletes what has ended and writes the markers. Nothing depends on when it comes,
 * but the numbers of later revisions (REAP-01): an ended row is absent to every call before. */
#include "decide.h"

static void hold_back(const struct lapse_state *state, const struct lapse_now *now,
                      struct lapse_due *ret);
static size_t work_of(const struct lapse_job *job);
static bool next_due(struct lapse_state *state, const struct lapse_now *now, size_t *work,
                     struct lapse_node **ret);
static bool may_owe(const struct lapse_state *state, const struct lapse_now *now);
static struct lapse_node *earlier(const struct lapse_state *state, struct lapse_node *a,
                                  struct lapse_node *b, const struct lapse_now *now);
static struct lapse_node *next_date(const struct lapse_state *state, const struct lapse_now *now);
static int64_t ended_at(const struct lapse_node *node, const struct lapse_now *now);
static void look_ahead(const struct lapse_state *state, const struct lapse_node *node);
static enum lapse_status remove_row(struct lapse_job *job, struct lapse_node *node);

enum lapse_status lapse_reap_rows(struct lapse_job *job) {
    size_t rows_max = job->command->u.reap.rows_max;
    size_t work = work_of(job);
    size_t count = 0;
    lapse_result_count(job->result, 0);
    if (job->now.store.ns < job->state->held_until.ns) {
        return LAPSE_OK;
    }
    if (lapse_decide_notes_sweeps(job->state)) {
        if (!lapse_reap_owed(job->state, &job->now)) {
            return LAPSE_OK;
        }
        job->state->swept = job->now.store.ns;
    }
    if (lapse_decide_sees_late(job->state)) {
        /* This sweep is what ends the keys that are due, be they taken now or later. */
        job->now = lapse_decide_sweep(&job->now);
    }
    struct lapse_node *node = NULL;
    while (count < rows_max && next_due(job->state, &job->now, &work, &node) && node != NULL) {
        /* A renewal is put off only while more than its second is left, and what is due has been
         * flushed before: no row that comes here has been renewed. */
        LAPSE_ASSERT(!lapse_idle_live(job->state, node, &job->now));
        look_ahead(job->state, node);
        enum lapse_status status = remove_row(job, node);
        if (status != LAPSE_OK) {
            return status;
        }
        count++;
    }
    job->result->item_count = count;
    return LAPSE_OK;
}

bool lapse_reap_before(const struct lapse_state *state, const struct lapse_node *a,
                       const struct lapse_node *b, const struct lapse_now *now) {
    bool dates = a->now.end_kind == LAPSE_END_WALL && b->now.end_kind == LAPSE_END_WALL;
    int64_t a_at = dates ? a->now.end_ns : ended_at(a, now);
    int64_t b_at = dates ? b->now.end_ns : ended_at(b, now);
    if (a_at != b_at) {
        return a_at < b_at;
    }
    return lapse_heap_before_at_once(&state->by_index, a, b);
}

bool lapse_reap_owed(struct lapse_state *state, const struct lapse_now *now) {
    size_t work = SIZE_MAX;
    struct lapse_node *first = NULL;
    /* After this the wheel knows its earliest end, or that it lies ahead. */
    return may_owe(state, now) && lapse_wheel_first(&state->steady, now->due_ns, &work, &first) &&
           may_owe(state, now);
}

size_t lapse_reap_work(size_t rows_max) {
    const size_t a_row = 8;
    const size_t least = 1024;
    return rows_max > (SIZE_MAX - least) / a_row ? SIZE_MAX : rows_max * a_row + least;
}

/* What a step may do to find its rows. A sweep takes all that has come by its instant, so it has to
 * know all of it. */
static size_t work_of(const struct lapse_job *job) {
    bool bounded = job->step && !lapse_decide_sees_late(job->state);
    return bounded ? lapse_reap_work(job->command->u.reap.rows_max) : SIZE_MAX;
}

/* The same as lapse_reap_owed, or true where the wheel does not know yet. */
static bool may_owe(const struct lapse_state *state, const struct lapse_now *now) {
    int64_t end = 0;
    if (!lapse_decide_sweeps(state, now)) {
        return false;
    }
    bool session = state->sessions_due.count > 0 &&
                   state->sessions_due.items[0]->now.end_ns <= now->due_ns;
    return session || next_date(state, now) != NULL ||
           (lapse_wheel_min(&state->steady, &end) && end <= now->due_ns);
}

void lapse_reap_due(const struct lapse_state *state, struct lapse_due *ret) {
    struct lapse_now now =
        lapse_decide_now(state, state->last.store, state->last.reading.wall, 0);
    *ret = (struct lapse_due){0};
    ret->has_steady = lapse_wheel_min(&state->steady, &ret->steady.ns);
    if (state->sessions_due.count > 0) {
        int64_t end_ns = state->sessions_due.items[0]->now.end_ns;
        if (!ret->has_steady || end_ns < ret->steady.ns) {
            ret->has_steady = true;
            ret->steady.ns = end_ns;
        }
    }
    bool held = state->last.store.ns < state->held_until.ns;
    if (!held && may_owe(state, &now)) {
        ret->has_steady = true;
        ret->steady = state->last.store;
        return;
    }
    if (ret->has_steady || next_date(state, &now) != NULL) {
        int64_t end_ns = next_date(state, &now) != NULL ? INT64_MIN : ret->steady.ns;
        ret->has_steady = true;
        ret->steady.ns = lapse_decide_reap_at(state, end_ns);
    }
    if (held) {
        hold_back(state, &now, ret);
    }
    struct lapse_steady flush;
    if (lapse_idle_flush_at(state, &flush) && (!ret->has_steady || flush.ns < ret->steady.ns)) {
        ret->has_steady = true;
        ret->steady = flush;
    }
    int64_t ephemeral = 0;
    if (lapse_wheel_min(&state->ephemeral.ends, &ephemeral)) {
        ephemeral = lapse_decide_come_at(state, ephemeral);
        if (!ret->has_steady || ephemeral < ret->steady.ns) {
            ret->has_steady = true;
            ret->steady.ns = ephemeral;
        }
    }
    if (ret->has_steady && ret->steady.ns < state->last.store.ns) {
        ret->steady = state->last.store;
    }
    if (state->wall.count > 0 && !held) {
        ret->has_wall = true;
        ret->wall.ns = lapse_decide_come_at(state, state->wall.items[0]->now.end_ns);
    }
}

/* What is due before is so once it is held back no more. */
static void hold_back(const struct lapse_state *state, const struct lapse_now *now,
                      struct lapse_due *ret) {
    bool any = ret->has_steady || state->wall.count > 0 || next_date(state, now) != NULL;
    if (any && (!ret->has_steady || ret->steady.ns < state->held_until.ns)) {
        ret->has_steady = true;
        ret->steady = state->held_until;
    }
}

/* The row whose end came first, or NULL when none has come. Rows that ended at one instant go in a
 * total order, what ended with a session in its place among them, and the session's own row after
 * them. False: the work allowed was not enough to find it. */
static bool next_due(struct lapse_state *state, const struct lapse_now *now, size_t *work,
                     struct lapse_node **ret) {
    struct lapse_node *due = next_date(state, now);
    struct lapse_node *first = NULL;
    if (!lapse_wheel_first(&state->steady, now->due_ns, work, &first)) {
        return false;
    }
    if (first != NULL) {
        due = earlier(state, due, first, now);
    }
    if (state->sessions_due.count > 0) {
        const struct lapse_node *row = state->sessions_due.items[0];
        if (row->now.end_ns <= now->due_ns) {
            due = earlier(state, due, lapse_session_lead(row->now.aux.session), now);
        }
    }
    *ret = due;
    return true;
}

/* The one of two ended rows that goes first; `a` may be NULL. */
static struct lapse_node *earlier(const struct lapse_state *state, struct lapse_node *a,
                                  struct lapse_node *b, const struct lapse_now *now) {
    if (a == NULL) {
        return b;
    }
    return lapse_reap_before(state, a, b, now) ? a : b;
}

/* The first of the dates reached, be it by what is durable or by `now`. */
static struct lapse_node *next_date(const struct lapse_state *state, const struct lapse_now *now) {
    struct lapse_node *reached = state->reached.count > 0 ? state->reached.items[0] : NULL;
    struct lapse_node *waiting = lapse_peaks_due(state, now) ? state->wall.items[0] : NULL;
    if (reached == NULL || waiting == NULL) {
        return reached == NULL ? waiting : reached;
    }
    return lapse_heap_before(&state->by_index, waiting, reached) ? waiting : reached;
}

/* The end on store time. A date's is reckoned by how long ago the wall showed it. */
static int64_t ended_at(const struct lapse_node *node, const struct lapse_now *now) {
    struct lapse_end end = lapse_state_end(&node->now);
    if (end.kind == LAPSE_END_STEADY) {
        return end.ns;
    }
    struct lapse_span ago = lapse_wall_between((struct lapse_wall){end.ns}, now->wall);
    int64_t at = 0;
    return ago.ns > 0 && lapse_ns_sub(now->store.ns, ago.ns, &at) ? at : now->store.ns;
}

/* Rows that ended together lie apart in memory: asks for what the next three need, each for what
 * those before have asked for allows: the row, its chain, the row that its chain begins with. */
static void look_ahead(const struct lapse_state *state, const struct lapse_node *node) {
    if (node->kind != LAPSE_ROW_RECORD || node->now.end_kind != LAPSE_END_STEADY) {
        return;
    }
    const struct lapse_node *next = node->at.wheel.next;
    const struct lapse_node *second = next->at.wheel.next;
    lapse_node_prefetch(second->at.wheel.next);
    if (second->kind == LAPSE_ROW_RECORD) {
        lapse_table_prefetch(&lapse_node_bucket(state, second)->records, second->hash);
    }
    if (next->kind == LAPSE_ROW_RECORD) {
        lapse_table_prefetch_chain(&lapse_node_bucket(state, next)->records, next->hash);
    }
    if (next->next != NULL) {
        lapse_node_prefetch(next->next);
    }
}

/* Takes one row. Of an ended key the older records go first, one by one, and the newest last: it
 * alone is due, and while it stands the key is absent all the same. */
static enum lapse_status remove_row(struct lapse_job *job, struct lapse_node *node) {
    bool newest = node->kind == LAPSE_ROW_RECORD && !node->now.older;
    if (newest && lapse_decide_stays(job->state, node, &job->now)) {
        return lapse_record_end(job, node);
    }
    bool alone = lapse_decide_older_lives(job->state);
    struct lapse_node *older = newest && !alone ? lapse_table_older(node) : NULL;
    if (newest && older == NULL) {
        return lapse_record_end(job, node);
    }
    if (older != NULL) {
        node = older;
    }
    if (node->kind == LAPSE_ROW_LEASE && lapse_decide_keeps_name(job->state, LAPSE_PERSISTENT)) {
        return lapse_lease_over(job, node);
    }
    if (!lapse_txn_touch(job->state, node)) {
        return lapse_error_set(job->err, LAPSE_NOMEM, "no memory to reap; nothing was changed");
    }
    lapse_txn_remove(job->state, node);
    return LAPSE_OK;
}
