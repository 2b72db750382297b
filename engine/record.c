/* Records: a key is the list of those that are kept of it, newest first in its table.
 *
 * The newest is the key's state: a live value, or not live. A newer record covers the older ones,
 * which have no say in anything but history and get by revision. In a bucket with markers a delete
 * leaves a tombstone, a purge a purge record and an end a marker, which tell a watcher what
 * happened last and leave silently at an end of their own (WATCH-05). Each change that takes the
 * record of a key's last event away says so in the bucket's `forgotten`, or a watcher that starts
 * below it would miss that event without a gap (WATCH-06).
 *
 * What ended is treated alike whether the reaper has come or not (REAP-01): a write first clears
 * it away. A marker goes when its key is written again, for when it was made is the reaper's affair
 * and must not show in the new key's history. */
#include "decide.h"

static enum lapse_status cover(struct lapse_job *job, struct lapse_node *newest);
static enum lapse_status trim(struct lapse_job *job, struct lapse_node *newest, size_t room);
static enum lapse_status push_new(struct lapse_job *job, struct lapse_bytes key,
                                  const struct lapse_image *image);
static enum lapse_status remove_one(struct lapse_job *job, struct lapse_node *node);
static enum lapse_status remove_older(struct lapse_job *job, struct lapse_node *newest);
static enum lapse_status uncover(struct lapse_job *job, struct lapse_node *node);
static enum lapse_status end_unmarked(struct lapse_job *job, struct lapse_node *newest);
static enum lapse_status let_stay(struct lapse_job *job, struct lapse_node *node);
static enum lapse_status count_end(struct lapse_job *job, struct lapse_node *node);
static enum lapse_why why_gone(const struct lapse_image *image);
static bool covers_older(const struct lapse_node *newest, const struct lapse_image *image);

struct lapse_node *lapse_record_current_by_policy(const struct lapse_state *state,
                                                  struct lapse_node *newest,
                                                  const struct lapse_now *now, bool deferred) {
    if (!lapse_decide_older_lives(state)) {
        return newest;
    }
    struct lapse_node *stays = NULL;
    for (struct lapse_node *node = newest; node != NULL; node = lapse_table_older(node)) {
        if (deferred ? lapse_idle_live(state, node, now) : lapse_state_live(node, now)) {
            return node;
        }
        stays = lapse_decide_stays(state, node, now) ? node : stays;
    }
    return stays;
}

struct lapse_node *lapse_record_numbered(const struct lapse_state *state, struct lapse_node *newest,
                                         int64_t revision) {
    struct lapse_node *node = newest;
    while (lapse_decide_older_lives(state) && node != NULL && node->now.revision != revision) {
        node = lapse_table_older(node);
    }
    return node != NULL && node->now.revision == revision ? node : NULL;
}

enum lapse_status lapse_record_push(struct lapse_job *job, struct lapse_bytes key,
                                    struct lapse_node *newest, const struct lapse_image *image) {
    struct lapse_state *state = job->state;
    if (!lapse_state_reserve_end(state, image)) {
        return lapse_job_no_memory(job);
    }
    if (newest == NULL) {
        return push_new(job, key, image);
    }
    size_t history = lapse_node_bucket(state, newest)->config.history;
    if (history > 1 && covers_older(newest, image)) {
        enum lapse_status status = trim(job, newest, history - 1);
        if (status == LAPSE_OK) {
            status = cover(job, newest);
        }
        return status == LAPSE_OK ? push_new(job, lapse_node_key(newest), image) : status;
    }
    /* Nothing of the key stays: its newest row becomes the new record. */
    enum lapse_status status = remove_older(job, newest);
    if (status == LAPSE_OK && !lapse_txn_touch(state, newest)) {
        status = lapse_job_no_memory(job);
    }
    if (status == LAPSE_OK) {
        lapse_txn_set(state, newest, image);
    }
    return status;
}

struct lapse_image lapse_record_trace(const struct lapse_job *job, enum lapse_record_kind kind,
                                      const struct lapse_bucket *bucket,
                                      const struct lapse_image *of, int64_t revision) {
    struct lapse_image image = {.revision = revision,
                                .record = (uint8_t)kind,
                                .aux.old_revision = of->revision,
                                .end_kind = LAPSE_END_STEADY,
                                .source = LAPSE_SOURCE_MARKERS,
                                .span_ns = lapse_decide_trace_ns(job->state, bucket, kind),
                                .present = true};
    if (kind == LAPSE_RECORD_MARKER) {
        bool value = of->record == LAPSE_RECORD_VALUE;
        image.why = (unsigned)(value ? lapse_image_why(of) : LAPSE_WHY_DEFAULT) & 7u;
    }
    if (image.span_ns == 0) {
        image.end_kind = LAPSE_END_NONE;
        image.source = LAPSE_SOURCE_NONE;
        return image;
    }
    /* An end past the range is the range's last instant: no end may be refused its marker. */
    int64_t at = job->now.store.ns;
    if (!lapse_ns_add(at, image.span_ns, &image.end_ns)) {
        image.end_ns = INT64_MAX;
        image.span_ns = at == INT64_MAX ? 1 : INT64_MAX - at;
    }
    return image;
}

enum lapse_status lapse_record_mark_end(struct lapse_job *job, struct lapse_node *newest) {
    struct lapse_bucket *bucket = lapse_node_bucket(job->state, newest);
    int64_t revision = 0;
    enum lapse_status status = remove_older(job, newest);
    if (status == LAPSE_OK && !lapse_txn_touch(job->state, newest)) {
        status = lapse_job_no_memory(job);
    }
    if (status == LAPSE_OK) {
        status = lapse_txn_event(job, LAPSE_EVENT_EXPIRED, bucket, lapse_node_key(newest),
                                 &newest->now, &revision);
    }
    if (status == LAPSE_OK) {
        struct lapse_image marker = lapse_record_trace(job, LAPSE_RECORD_MARKER, bucket,
                                                       &newest->now, revision);
        lapse_txn_set(job->state, newest, &marker);
    }
    return status;
}

enum lapse_status lapse_record_end(struct lapse_job *job, struct lapse_node *node) {
    struct lapse_bucket *bucket = lapse_node_bucket(job->state, node);
    struct lapse_image ended = node->now;
    struct lapse_node *below =
        lapse_decide_older_lives(job->state) ? lapse_table_older(node) : NULL;
    if (node->now.older) {
        return remove_one(job, node);
    }
    if (lapse_decide_stays(job->state, node, &job->now)) {
        return let_stay(job, node);
    }
    /* Where the last revision has been given there is none for a marker. Keys go without one, or
     * they would hold up the reaper of the whole store. */
    int64_t revision = 0;
    if (below == NULL &&
        lapse_decide_marks_end(job->state, bucket, (enum lapse_record_kind)ended.record) &&
        lapse_decide_next_revision(job->state, bucket, lapse_node_key(node), &revision)) {
        return lapse_record_mark_end(job, node);
    }
    if (below == NULL) {
        return end_unmarked(job, node);
    }
    enum lapse_status status = lapse_record_forget(job, bucket, ended.revision);
    if (status == LAPSE_OK) {
        status = remove_one(job, node);
    }
    return status == LAPSE_OK ? uncover(job, below) : status;
}

enum lapse_status lapse_record_last_given(struct lapse_job *job, struct lapse_bucket *bucket,
                                          struct lapse_bytes key) {
    const lapse_alloc *alloc = job->state->alloc;
    size_t count = bucket->records.count;
    struct lapse_node **nodes = NULL;
    if (!lapse_table_by_revision(alloc, &bucket->records, &nodes)) {
        return lapse_job_no_memory(job);
    }
    enum lapse_status status = LAPSE_OK;
    for (size_t i = 0; i < count && status == LAPSE_OK; i++) {
        struct lapse_node *node = nodes[i];
        bool ended = node->now.present && !lapse_state_live(node, &job->now);
        if (ended && !lapse_bytes_equal(lapse_node_key(node), key) &&
            lapse_decide_stays(job->state, node, &job->now)) {
            status = end_unmarked(job, lapse_table_find(&bucket->records, lapse_node_key(node)));
        }
    }
    lapse_alloc_free(alloc, nodes, count * sizeof(struct lapse_node *));
    return status;
}

enum lapse_status lapse_record_end_stayed(struct lapse_job *job) {
    const lapse_alloc *alloc = job->state->alloc;
    const struct lapse_table *records = &job->bucket->records;
    size_t count = records->count;
    struct lapse_node **nodes = NULL;
    if (!lapse_table_by_revision(alloc, records, &nodes)) {
        return lapse_job_no_memory(job);
    }
    enum lapse_status status = LAPSE_OK;
    for (size_t i = 0; i < count && status == LAPSE_OK; i++) {
        struct lapse_node *node = nodes[i];
        if (node->now.covered && !node->now.older) {
            bool ended = !lapse_state_live(node, &job->now) ||
                         (node->now.end_kind == LAPSE_END_WALL &&
                          lapse_peaks_reached(job->state, &node->now));
            status = ended ? end_unmarked(job, node) : count_end(job, node);
        }
    }
    lapse_alloc_free(alloc, nodes, count * sizeof(struct lapse_node *));
    return status;
}

enum lapse_status lapse_record_remember(struct lapse_job *job, struct lapse_node *newest,
                                        int64_t revision, enum lapse_why why) {
    struct lapse_image gone = {.revision = revision,
                               .record = LAPSE_RECORD_GONE,
                               .why = (unsigned)why & 7u,
                               .present = true};
    if (newest == NULL) {
        return push_new(job, job->command->key, &gone);
    }
    enum lapse_status status = remove_older(job, newest);
    if (status == LAPSE_OK && !lapse_txn_touch(job->state, newest)) {
        status = lapse_job_no_memory(job);
    }
    if (status == LAPSE_OK) {
        lapse_txn_set(job->state, newest, &gone);
    }
    return status;
}

enum lapse_status lapse_record_clear_ended(struct lapse_job *job, struct lapse_node *newest,
                                           struct lapse_node **ret) {
    enum lapse_status status = LAPSE_OK;
    *ret = newest;
    while (newest != NULL && lapse_decide_older_lives(job->state) &&
           !lapse_state_live(newest, &job->now) && lapse_table_older(newest) != NULL) {
        *ret = lapse_table_older(newest);
        status = lapse_record_end(job, newest);
        if (status != LAPSE_OK) {
            return status;
        }
        newest = *ret;
    }
    if (newest == NULL || lapse_state_live(newest, &job->now)) {
        return LAPSE_OK;
    }
    if (lapse_decide_remembers(job->state)) {
        return lapse_record_end(job, newest);
    }
    *ret = NULL;
    struct lapse_bucket *bucket = lapse_node_bucket(job->state, newest);
    if (lapse_decide_marks_end(job->state, bucket, (enum lapse_record_kind)newest->now.record)) {
        /* The end has no marker yet: its event is written first (WATCH-03). */
        int64_t revision = 0;
        status = lapse_txn_event(job, LAPSE_EVENT_EXPIRED, bucket, lapse_node_key(newest),
                                 &newest->now, &revision);
    } else {
        status = lapse_record_forget(job, bucket, newest->now.revision);
    }
    return status == LAPSE_OK ? lapse_record_remove_all(job, newest) : status;
}

enum lapse_status lapse_record_remove_all(struct lapse_job *job, struct lapse_node *newest) {
    enum lapse_status status = remove_older(job, newest);
    return status == LAPSE_OK ? remove_one(job, newest) : status;
}

enum lapse_status lapse_record_forget(struct lapse_job *job, struct lapse_bucket *bucket,
                                      int64_t revision) {
    struct lapse_image row = bucket->row->now;
    if (row.aux.forgotten >= revision) {
        return LAPSE_OK;
    }
    if (!bucket->row->listed && !lapse_txn_touch(job->state, bucket->row)) {
        return lapse_job_no_memory(job);
    }
    row.aux.forgotten = revision;
    lapse_txn_set(job->state, bucket->row, &row);
    return LAPSE_OK;
}

/* Whether the key's records stay below a new one: all but a marker or what is remembered, and
 * nothing below a purge. */
static bool covers_older(const struct lapse_node *newest, const struct lapse_image *image) {
    return newest->now.record != LAPSE_RECORD_MARKER &&
           newest->now.record != LAPSE_RECORD_GONE && image->record != LAPSE_RECORD_PURGE;
}

/* Takes a key whose end nobody is told of. */
static enum lapse_status end_unmarked(struct lapse_job *job, struct lapse_node *newest) {
    struct lapse_image ended = newest->now;
    enum lapse_status status =
        lapse_record_forget(job, lapse_node_bucket(job->state, newest), ended.revision);
    if (status != LAPSE_OK) {
        return status;
    }
    return lapse_decide_remembers(job->state)
               ? lapse_record_remember(job, newest, ended.revision, why_gone(&ended))
               : lapse_record_remove_all(job, newest);
}

/* Takes the end of a value that stays out of its place, so that the reaper is done with it (S13).
 * That a date was reached is then of no account either. */
static enum lapse_status let_stay(struct lapse_job *job, struct lapse_node *node) {
    if (!lapse_txn_touch(job->state, node)) {
        return lapse_job_no_memory(job);
    }
    struct lapse_image image = node->now;
    image.covered = true;
    image.reached = false;
    lapse_txn_set(job->state, node, &image);
    return LAPSE_OK;
}

/* The reverse, of an end that lies ahead again because store time or the wall has gone back. */
static enum lapse_status count_end(struct lapse_job *job, struct lapse_node *node) {
    if (!lapse_state_reserve_end(job->state, &node->now) || !lapse_txn_touch(job->state, node)) {
        return lapse_job_no_memory(job);
    }
    struct lapse_image image = node->now;
    image.covered = false;
    lapse_txn_set(job->state, node, &image);
    return LAPSE_OK;
}

/* Which term ended what is remembered; none: it was deleted. */
static enum lapse_why why_gone(const struct lapse_image *image) {
    return image->record == LAPSE_RECORD_VALUE ? lapse_image_why(image)
                                               : (enum lapse_why)image->why;
}

/* Makes an older record the newest. */
static enum lapse_status uncover(struct lapse_job *job, struct lapse_node *node) {
    if (!lapse_txn_touch(job->state, node)) {
        return lapse_job_no_memory(job);
    }
    struct lapse_image image = node->now;
    image.older = false;
    lapse_txn_set(job->state, node, &image);
    return LAPSE_OK;
}

/* Leaves the newest and, of those below it, at most room - 1 that have not ended. The lowered
 * history of an altered bucket comes to bear here, at the key's next write: so an ALTER of any
 * bucket is a small change. */
static enum lapse_status trim(struct lapse_job *job, struct lapse_node *newest, size_t room) {
    size_t kept = 1;
    struct lapse_node *node = lapse_table_older(newest);
    while (node != NULL) {
        struct lapse_node *older = lapse_table_older(node);
        bool ends =
            node->now.record != LAPSE_RECORD_VALUE || lapse_decide_older_lives(job->state);
        bool ended = ends && !lapse_state_live(node, &job->now);
        if (ended || kept >= room) {
            enum lapse_status status = remove_one(job, node);
            if (status != LAPSE_OK) {
                return status;
            }
        } else {
            kept++;
        }
        node = older;
    }
    return LAPSE_OK;
}

static enum lapse_status cover(struct lapse_job *job, struct lapse_node *newest) {
    if (!lapse_txn_touch(job->state, newest)) {
        return lapse_job_no_memory(job);
    }
    struct lapse_image image = newest->now;
    image.older = true;
    if (lapse_decide_older_lives(job->state)) {
        lapse_txn_set(job->state, newest, &image);
        return LAPSE_OK;
    }
    image.covered = image.record == LAPSE_RECORD_VALUE;
    image.reached = false;
    if (image.source == LAPSE_SOURCE_SESSION) {
        /* The session may be gone before it, and it has no end to ask for any more. */
        image.source = LAPSE_SOURCE_NONE;
        image.aux.session = NULL;
    }
    lapse_txn_set(job->state, newest, &image);
    return LAPSE_OK;
}

static enum lapse_status push_new(struct lapse_job *job, struct lapse_bytes key,
                                  const struct lapse_image *image) {
    struct lapse_node *node = lapse_node_make(job->state->alloc, LAPSE_ROW_RECORD, key);
    if (node == NULL) {
        return lapse_job_no_memory(job);
    }
    node->bucket = job->bucket->index;
    if (!lapse_txn_touch(job->state, node)) {
        lapse_node_free(job->state->alloc, node);
        return lapse_job_no_memory(job);
    }
    lapse_txn_set(job->state, node, image);
    return LAPSE_OK;
}

static enum lapse_status remove_one(struct lapse_job *job, struct lapse_node *node) {
    if (!lapse_txn_touch(job->state, node)) {
        return lapse_job_no_memory(job);
    }
    lapse_txn_remove(job->state, node);
    return LAPSE_OK;
}

static enum lapse_status remove_older(struct lapse_job *job, struct lapse_node *newest) {
    struct lapse_node *older = lapse_table_older(newest);
    while (older != NULL) {
        enum lapse_status status = remove_one(job, older);
        if (status != LAPSE_OK) {
            return status;
        }
        older = lapse_table_older(newest);
    }
    return LAPSE_OK;
}
