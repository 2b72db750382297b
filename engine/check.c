/* The check: walks every invariant of the state (S1 to S12 in state.h). It finds our own mistakes,
 * so what it answers is BUG with a sentence. */
#include "ephemeral.h"

#include "decide.h"

static enum lapse_status check_buckets(const struct lapse_state *state, size_t *ret_steady,
                                       size_t *ret_wall, struct lapse_error *err);
static enum lapse_status check_bucket(const struct lapse_state *state,
                                      const struct lapse_bucket *bucket, size_t *steady,
                                      size_t *wall, struct lapse_error *err);
static enum lapse_status check_record(const struct lapse_state *state,
                                      const struct lapse_node *node, struct lapse_error *err);
static bool lasts(const struct lapse_state *state, const struct lapse_image *image);
static enum lapse_status check_twins(const struct lapse_node *newest, size_t *count,
                                     struct lapse_error *err);
static enum lapse_status check_leases(const struct lapse_state *state, size_t *steady,
                                      struct lapse_error *err);
static enum lapse_status check_sessions(const struct lapse_state *state, struct lapse_error *err);
static enum lapse_status check_session(const struct lapse_state *state,
                                       const struct lapse_node *row, struct lapse_error *err);
static enum lapse_status check_requests(const struct lapse_state *state, size_t *steady,
                                        struct lapse_error *err);
static enum lapse_status check_node(const struct lapse_state *state, const struct lapse_node *node,
                                    size_t *steady, size_t *wall, struct lapse_error *err);
static enum lapse_status check_ring(const struct lapse_state *state,
                                    const struct lapse_bucket *bucket, struct lapse_error *err);
static enum lapse_status check_deferred(const struct lapse_state *state, struct lapse_error *err);
static enum lapse_status check_peaks(const struct lapse_state *state, struct lapse_error *err);
static enum lapse_status check_watchers(const struct lapse_state *state, struct lapse_error *err);
static enum lapse_status bug(const struct lapse_node *node, const char *what,
                             struct lapse_error *err);

enum lapse_status lapse_state_check(const struct lapse_state *state, struct lapse_error *err) {
    size_t steady = 0;
    size_t wall = 0;
    if (state->txn.count != 0 || state->txn.events != NULL) {
        return lapse_error_set(err, LAPSE_BUG, "the undo list holds %zu rows between commands",
                               state->txn.count);
    }
    enum lapse_status status = check_buckets(state, &steady, &wall, err);
    if (status == LAPSE_OK) {
        status = check_leases(state, &steady, err);
    }
    if (status == LAPSE_OK) {
        status = check_sessions(state, err);
    }
    if (status == LAPSE_OK) {
        status = check_requests(state, &steady, err);
    }
    size_t dates = state->wall.count + state->reached.count;
    if (status == LAPSE_OK && (steady != state->steady.count || wall != dates)) {
        status = lapse_error_set(err, LAPSE_BUG,
                                 "%zu rows end on store time and %zu on a date, "
                                 "but the wheel and the heaps hold %zu and %zu",
                                 steady, wall, state->steady.count, dates);
    }
    if (status == LAPSE_OK) {
        status = lapse_wheel_check(&state->steady, err);
    }
    if (status == LAPSE_OK) {
        status = lapse_heap_check(&state->wall, LAPSE_END_WALL, err);
    }
    if (status == LAPSE_OK) {
        status = lapse_heap_check(&state->reached, LAPSE_END_WALL, err);
    }
    if (status == LAPSE_OK) {
        status = check_deferred(state, err);
    }
    if (status == LAPSE_OK) {
        status = check_peaks(state, err);
    }
    if (status == LAPSE_OK) {
        status = lapse_ephemeral_check(state, err);
    }
    return status == LAPSE_OK ? check_watchers(state, err) : status;
}

static enum lapse_status check_buckets(const struct lapse_state *state, size_t *ret_steady,
                                       size_t *ret_wall, struct lapse_error *err) {
    enum lapse_status status = lapse_table_check(&state->buckets, err);
    const struct lapse_node *row = lapse_table_any(&state->buckets);
    for (; row != NULL && status == LAPSE_OK; row = lapse_table_after(&state->buckets, row)) {
        if (row->kind != LAPSE_ROW_BUCKET || row->bucket >= state->by_index.count ||
            lapse_node_bucket(state, row) == NULL || lapse_node_bucket(state, row)->row != row) {
            return bug(row, "is not the row of its bucket", err);
        }
        status = check_node(state, row, ret_steady, ret_wall, err);
        if (status == LAPSE_OK) {
            status = check_bucket(state, lapse_node_bucket(state, row), ret_steady, ret_wall, err);
        }
    }
    return status;
}

static enum lapse_status check_bucket(const struct lapse_state *state,
                                      const struct lapse_bucket *bucket, size_t *steady,
                                      size_t *wall, struct lapse_error *err) {
    const struct lapse_table *records = &bucket->records;
    size_t counted = 0;
    enum lapse_status status = lapse_table_check(records, err);
    const struct lapse_image *row = &bucket->row->now;
    if (row->revision < bucket->config.first_revision - 1) {
        return bug(bucket->row, "has given no revision below its first (S4)", err);
    }
    if (row->aux.forgotten < 0 || row->aux.forgotten > row->revision) {
        return bug(bucket->row, "has forgotten an event that it never had", err);
    }
    const struct lapse_node *node = lapse_table_any(records);
    for (; node != NULL && status == LAPSE_OK; node = lapse_table_after(records, node)) {
        if (node->bucket != bucket->index || node->kind != LAPSE_ROW_RECORD) {
            return bug(node, "stands in a bucket that is not its own", err);
        }
        if (node->now.revision < lapse_decide_first_of(state, bucket) ||
            node->now.revision > bucket->row->now.revision) {
            return bug(node, "has a revision that its bucket never gave (S4)", err);
        }
        status = check_node(state, node, steady, wall, err);
        if (status == LAPSE_OK) {
            status = check_record(state, node, err);
        }
        if (status == LAPSE_OK && !node->now.older) {
            status = check_twins(node, &counted, err);
        }
    }
    if (status == LAPSE_OK && counted != records->count) {
        return bug(bucket->row, "has records that are older than none (S11)", err);
    }
    if (status == LAPSE_OK) {
        status = lapse_order_check(&bucket->order, records, err);
    }
    return status == LAPSE_OK ? check_ring(state, bucket, err) : status;
}

/* The kind of a record and what it may say (S12). */
static enum lapse_status check_record(const struct lapse_state *state,
                                      const struct lapse_node *node, struct lapse_error *err) {
    const struct lapse_image *image = &node->now;
    if (image->record == LAPSE_RECORD_GONE) {
        bool empty = image->blob_len == 0 && image->end_kind == LAPSE_END_NONE && !image->older;
        return empty && lapse_decide_remembers(state)
                   ? LAPSE_OK
                   : bug(node, "is remembered, and is more than that (S12)", err);
    }
    bool marker = image->record == LAPSE_RECORD_MARKER;
    if (marker != (image->why != LAPSE_WHY_NONE)) {
        return bug(node, "gives a reason for an end that is none, or none for one (S12)", err);
    }
    if (image->record == LAPSE_RECORD_VALUE) {
        int64_t cap = lapse_image_cap(image);
        bool capped = cap == 0 || cap >= image->end_ns;
        bool own = image->source != LAPSE_SOURCE_MARKERS;
        if (image->covered && !image->older && !lapse_decide_may_stay(state, node)) {
            return bug(node, "has an end that does not count, and is the newest (S13)", err);
        }
        return capped && own ? LAPSE_OK : bug(node, "is a value with another's term", err);
    }
    bool ends = image->end_kind == LAPSE_END_STEADY && image->source == LAPSE_SOURCE_MARKERS;
    bool bare = image->blob_len == 0 && !image->idle && (ends || lasts(state, image));
    bool after = lapse_decide_tells(state, image->revision, image->aux.old_revision);
    bool known = marker || image->record == LAPSE_RECORD_TOMBSTONE ||
                 image->record == LAPSE_RECORD_PURGE;
    return bare && after && known ? LAPSE_OK : bug(node, "tells of no known end (S12)", err);
}

/* Whether a trace may have no end: where it ages as values do. */
static bool lasts(const struct lapse_state *state, const struct lapse_image *image) {
    return image->end_kind == LAPSE_END_NONE &&
           lapse_policy(state, LAPSE_POLICY_REVISION) == LAPSE_REVISION_RECORDS;
}

/* The records of one key, from its newest on; adds how many there are (S11). */
static enum lapse_status check_twins(const struct lapse_node *newest, size_t *count,
                                     struct lapse_error *err) {
    size_t records = 1;
    bool alone = newest->now.record == LAPSE_RECORD_MARKER ||
                 newest->now.record == LAPSE_RECORD_PURGE ||
                 newest->now.record == LAPSE_RECORD_GONE;
    const struct lapse_node *node = lapse_table_older(newest);
    for (; node != NULL; node = lapse_table_older(node)) {
        records++;
        if (alone || !node->now.older || node->now.record == LAPSE_RECORD_MARKER) {
            return bug(node, "is covered by a newer record and should not be there (S11)", err);
        }
        alone = node->now.record == LAPSE_RECORD_PURGE;
    }
    *count += records;
    return records <= LAPSE_HISTORY_MAX ? LAPSE_OK : bug(newest, "has too long a history", err);
}

static enum lapse_status check_leases(const struct lapse_state *state, size_t *steady,
                                      struct lapse_error *err) {
    size_t wall = 0;
    enum lapse_status status = lapse_table_check(&state->leases, err);
    const struct lapse_node *node = lapse_table_any(&state->leases);
    for (; node != NULL && status == LAPSE_OK; node = lapse_table_after(&state->leases, node)) {
        bool by_name = lapse_decide_token_by_name(state, LAPSE_PERSISTENT);
        if (node->now.revision < (by_name ? 0 : 1) ||
            (node->now.revision > state->token && !by_name)) {
            return bug(node, "has a token that the store never gave", err);
        }
        bool held = lapse_image_timed(&node->now);
        bool over = !held && lapse_decide_keeps_name(state, LAPSE_PERSISTENT);
        bool owned = node->now.blob_len > 0 || (over && by_name);
        if ((held && lapse_state_end(&node->now).kind != LAPSE_END_STEADY) || !owned ||
            (!held && !over)) {
            return bug(node, "is a lease without an owner or an end", err);
        }
        status = check_node(state, node, steady, &wall, err);
    }
    return status;
}

static enum lapse_status check_sessions(const struct lapse_state *state, struct lapse_error *err) {
    enum lapse_status status = lapse_table_check(&state->sessions, err);
    const struct lapse_node *row = lapse_table_any(&state->sessions);
    for (; row != NULL && status == LAPSE_OK; row = lapse_table_after(&state->sessions, row)) {
        status = check_session(state, row, err);
    }
    if (status == LAPSE_OK && state->sessions_due.count != state->sessions.count) {
        return lapse_error_set(err, LAPSE_BUG, "%zu sessions are stored and %zu are in the heap",
                               state->sessions.count, state->sessions_due.count);
    }
    return status == LAPSE_OK ? lapse_heap_check(&state->sessions_due, LAPSE_END_STEADY, err)
                              : status;
}

/* A session's own row, and its list; that each member belongs there is checked with the member. */
static enum lapse_status check_session(const struct lapse_state *state,
                                       const struct lapse_node *row, struct lapse_error *err) {
    const struct lapse_session *session = row->now.aux.session;
    const struct lapse_image *image = &row->now;
    if (row->kind != LAPSE_ROW_SESSION || session->row != row || session->id != image->revision ||
        session->id < 1 || session->id > state->session) {
        return bug(row, "is not the row of its session, or of a number never given", err);
    }
    if (!image->present || row->listed || row->fresh || image->blob_len == 0 ||
        image->end_kind != LAPSE_END_STEADY || image->span_ns <= 0) {
        return bug(row, "is a session without an owner, a span or an end (S1, S3)", err);
    }
    if (!row->placed || row->at.heap_pos >= state->sessions_due.count ||
        state->sessions_due.items[row->at.heap_pos] != row) {
        return bug(row, "is not in the heap of sessions (S10)", err);
    }
    for (size_t i = 0; i < session->members.count; i++) {
        if (lapse_image_session(&session->members.items[i]->now) != session) {
            return bug(session->members.items[i], "is listed by a session not its own (S10)", err);
        }
    }
    return lapse_heap_check(&session->members, LAPSE_END_NONE, err);
}

static enum lapse_status check_requests(const struct lapse_state *state, size_t *steady,
                                        struct lapse_error *err) {
    size_t wall = 0;
    enum lapse_status status = lapse_table_check(&state->requests, err);
    const struct lapse_node *node = lapse_table_any(&state->requests);
    for (; node != NULL && status == LAPSE_OK; node = lapse_table_after(&state->requests, node)) {
        if (node->now.end_kind != LAPSE_END_STEADY || node->now.blob_len == 0) {
            return bug(node, "is a request without an answer or an end", err);
        }
        status = check_node(state, node, steady, &wall, err);
    }
    return status;
}

/* What holds for every row (S1 to S4, S10). */
static enum lapse_status check_node(const struct lapse_state *state, const struct lapse_node *node,
                                    size_t *steady, size_t *wall, struct lapse_error *err) {
    const struct lapse_image *image = &node->now;
    if (!image->present || node->listed || node->fresh) {
        return bug(node, "is linked but absent, or still on the undo list (S1, S3)", err);
    }
    if ((image->blob == NULL) != (image->blob_len == 0)) {
        return bug(node, "has a value and a length that do not fit", err);
    }
    const struct lapse_session *session = lapse_image_session(image);
    if (session != NULL) {
        bool listed = node->placed && node->at.heap_pos < session->members.count &&
                      session->members.items[node->at.heap_pos] == node;
        bool bare = image->end_kind == LAPSE_END_NONE && image->end_ns == 0 && !image->idle;
        return listed && bare && session->row->now.present
                   ? LAPSE_OK
                   : bug(node, "is not a member of its session, or has an end beside (S10)", err);
    }
    if (image->end_kind == LAPSE_END_NONE) {
        bool bare = !node->placed && image->end_ns == 0 && !image->idle;
        return bare ? LAPSE_OK : bug(node, "has no term but a trace of one (S2)", err);
    }
    bool dated = image->end_kind == LAPSE_END_WALL;
    if (!lapse_image_timed(image)) {
        bool out = !node->placed && !image->reached;
        return out ? LAPSE_OK : bug(node, "is covered by a newer record and has a place (S2)", err);
    }
    const struct lapse_heap *heap = image->reached ? &state->reached : &state->wall;
    size_t pos = node->at.heap_pos;
    *(dated ? wall : steady) += 1;
    if (!node->placed || (dated && (pos >= heap->count || heap->items[pos] != node))) {
        return bug(node, "is not in the wheel or heap of its end (S2)", err);
    }
    bool capped = image->end_ns == lapse_image_cap(image);
    int64_t last = 0;
    bool borrowed = image->idle && image->source == LAPSE_SOURCE_OWN &&
                    lapse_policy(state, LAPSE_POLICY_IDLE_OWN) != 0;
    bool returns = lapse_decide_time_returns(state);
    if (!dated && !capped && !borrowed &&
        (!lapse_ns_sub(image->end_ns, image->span_ns, &last) || last < 0 ||
         (last > state->mark.store.ns && !returns))) {
        return bug(node, "does not end one span after a last use before the mark (S4)", err);
    }
    if (dated && (image->aux.written_seq < 1 || image->aux.written_seq > state->log_seq)) {
        return bug(node, "has a date set by a command that never came", err);
    }
    if (image->reached != (dated && lapse_peaks_reached(state, image))) {
        return bug(node, "is reached by its own word, or by that of the peaks, alone (S2)", err);
    }
    return LAPSE_OK;
}

static enum lapse_status check_ring(const struct lapse_state *state,
                                    const struct lapse_bucket *bucket, struct lapse_error *err) {
    const struct lapse_ring *ring = &bucket->ring;
    size_t watchers = 0;
    size_t told = 0;
    for (size_t i = 0; i < state->watcher_count && bucket->watcher_count > 0; i++) {
        const struct lapse_watcher *watcher = state->watchers[i];
        watchers += watcher->bucket == bucket ? 1 : 0;
        told += watcher->bucket == bucket && watcher->seen == bucket->row->now.revision ? 1 : 0;
    }
    if (watchers != bucket->watcher_count || bucket->pending != 0) {
        return bug(bucket->row, "miscounts its watchers or its pending events", err);
    }
    size_t waiting = bucket->told + bucket->behind;
    for (size_t i = 0; i < ring->count; i++) {
        waiting += lapse_ring_at(ring, i)->waiting;
    }
    if (waiting != watchers || told != bucket->told) {
        return bug(bucket->row, "counts a watcher twice, nowhere, or at another event (S8)", err);
    }
    if (ring->count > state->watch_events_max || (watchers == 0 && ring->cap != 0)) {
        return bug(bucket->row, "keeps a ring that is too long or that nobody watches", err);
    }
    for (size_t i = 0; i < ring->count; i++) {
        int64_t back = (int64_t)(ring->count - 1 - i);
        if (lapse_ring_at(ring, i)->revision != bucket->row->now.revision - back) {
            return bug(bucket->row, "keeps events whose revisions have holes (S7)", err);
        }
    }
    return LAPSE_OK;
}

static enum lapse_status check_deferred(const struct lapse_state *state, struct lapse_error *err) {
    const struct lapse_deferred *prev = NULL;
    size_t count = 0;
    const struct lapse_deferred *deferred = state->deferred_first;
    for (; deferred != NULL; deferred = deferred->next) {
        const struct lapse_node *node = deferred->node;
        if (deferred->prev != prev || lapse_idle_deferred(state, node) != deferred ||
            (prev != NULL && prev->queued.ns > deferred->queued.ns)) {
            return bug(node, "has a renewal out of its place in the queue", err);
        }
        if (!node->now.present || deferred->queued.ns > deferred->used.ns ||
            !lapse_idle_moves(state, &node->now, deferred->used.ns)) {
            return bug(node, "has a renewal from outside its term (S5)", err);
        }
        prev = deferred;
        count++;
    }
    if (state->deferred_last != prev || state->deferred_count != count) {
        return lapse_error_set(err, LAPSE_BUG, "the queue of renewals does not end at its end");
    }
    return LAPSE_OK;
}

static enum lapse_status check_peaks(const struct lapse_state *state, struct lapse_error *err) {
    const struct lapse_peaks *peaks = &state->peaks;
    for (size_t i = 0; i < peaks->count; i++) {
        const struct lapse_peak *peak = &peaks->items[i];
        if (peak->fresh || peak->leaving || peak->seq >= state->log_seq ||
            peak->wall.ns <= state->mark.reading.wall.ns ||
            (i > 0 && (peak->seq <= peak[-1].seq || peak->wall.ns >= peak[-1].wall.ns))) {
            return lapse_error_set(err, LAPSE_BUG,
                                   "wall peak %zu of %zu does not lie between the "
                                   "one before it and the mark (S6)",
                                   i, peaks->count);
        }
    }
    return LAPSE_OK;
}

static enum lapse_status check_watchers(const struct lapse_state *state, struct lapse_error *err) {
    for (size_t i = 0; i < state->watcher_count; i++) {
        const struct lapse_watcher *watcher = state->watchers[i];
        int64_t before = i == 0 ? 0 : state->watchers[i - 1]->id;
        if (watcher->id <= before || watcher->id > state->watcher_id ||
            watcher->seen > watcher->bucket->row->now.revision ||
            (watcher->past_at >= watcher->past_count && watcher->past != NULL)) {
            return lapse_error_set(err, LAPSE_BUG,
                                   "watcher %lld is out of order, or has seen what "
                                   "was never written",
                                   (long long)watcher->id);
        }
    }
    return LAPSE_OK;
}

static enum lapse_status bug(const struct lapse_node *node, const char *what,
                             struct lapse_error *err) {
    char key[80];
    return lapse_error_set(err, LAPSE_BUG, "the row `%s` of kind %d %s",
                           lapse_bytes_print(lapse_node_key(node), key, sizeof(key)),
                           (int)node->kind, what);
}
