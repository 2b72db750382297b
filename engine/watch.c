/* Watches: a watcher is a cursor over its bucket's ring, pulled and never called back (WATCH-01).
 * One that starts from a revision is first told its past (past.c), and may be overtaken by the ring
 * meanwhile like any other. All of it is a matter of this tenure. */
#include "decide.h"

#include <string.h>

static enum lapse_status start_live(struct lapse_job *job);
static enum lapse_status start_revision(struct lapse_job *job);
static enum lapse_status add(struct lapse_job *job);
static size_t place_of(const struct lapse_state *state, int64_t id);
static enum lapse_status no_watcher(struct lapse_job *job);
static enum lapse_status deliver_past(struct lapse_job *job, const struct lapse_watcher *watcher,
                                      size_t *ret_at);
static enum lapse_status deliver(struct lapse_job *job, const struct lapse_watcher *watcher,
                                 int64_t *ret_seen);
static bool deliver_gap(struct lapse_job *job, const struct lapse_watcher *watcher,
                        int64_t revision);
static bool deliver_kept(struct lapse_job *job, const struct lapse_watcher *watcher,
                         const struct lapse_kept *kept);

enum lapse_status lapse_watch_start(struct lapse_job *job) {
    const struct lapse_command *command = job->command;
    if (!lapse_decide_by_bucket(job->state)) {
        return lapse_error_set(job->err, LAPSE_INVALID,
                               "this store counts revisions by %s, so its events have no order in "
                               "a bucket that a watch could follow; read the keys instead",
                               lapse_decide_first_revision(job->state) == 0 ? "key" : "store");
    }
    if (job->state->watcher_count >= LAPSE_WATCHERS_MAX) {
        return lapse_error_set(job->err, LAPSE_INVALID,
                               "%zu watches run and at most %d can; end "
                               "one with unwatch",
                               job->state->watcher_count, (int)LAPSE_WATCHERS_MAX);
    }
    switch (command->u.watch.from) {
    case LAPSE_WATCH_NOW:
        return add(job);
    case LAPSE_WATCH_LIVE:
        return start_live(job);
    case LAPSE_WATCH_REVISION:
        return start_revision(job);
    }
    return lapse_error_set(job->err, LAPSE_INVALID,
                           "a watch cannot start from %d; it starts from now, from the live keys "
                           "or from a revision",
                           (int)command->u.watch.from);
}

enum lapse_status lapse_watch_stop(struct lapse_job *job) {
    struct lapse_state *state = job->state;
    size_t at = place_of(state, job->command->u.watch.watcher);
    if (at == state->watcher_count) {
        return no_watcher(job);
    }
    struct lapse_watcher *watcher = state->watchers[at];
    struct lapse_bucket *bucket = watcher->bucket;
    lapse_ring_leave(bucket, watcher->seen);
    state->watcher_count--;
    memmove(&state->watchers[at], &state->watchers[at + 1],
            (state->watcher_count - at) * sizeof(struct lapse_watcher *));
    lapse_watcher_free(state->alloc, watcher);
    LAPSE_ASSERT(bucket->watcher_count > 0);
    bucket->watcher_count--;
    if (bucket->watcher_count == 0) {
        lapse_ring_finish(state->alloc, &bucket->ring);
    } else {
        lapse_ring_trim(state->alloc, bucket);
    }
    return LAPSE_OK;
}

enum lapse_status lapse_watch_poll(struct lapse_job *job) {
    struct lapse_state *state = job->state;
    size_t at = place_of(state, job->command->u.watch.watcher);
    if (at == state->watcher_count) {
        return no_watcher(job);
    }
    struct lapse_watcher *watcher = state->watchers[at];
    int64_t seen = watcher->seen;
    size_t past_at = watcher->past_at;
    enum lapse_status status = deliver_past(job, watcher, &past_at);
    if (status == LAPSE_OK && past_at == watcher->past_count) {
        status = deliver(job, watcher, &seen);
    }
    if (status != LAPSE_OK) {
        return status;
    }
    watcher->gap = 0;
    lapse_past_told(state->alloc, watcher, past_at);
    if (seen != watcher->seen) {
        lapse_ring_leave(watcher->bucket, watcher->seen);
        watcher->seen = seen;
        lapse_ring_enter(watcher->bucket, seen);
        lapse_ring_trim(state->alloc, watcher->bucket);
    }
    return LAPSE_OK;
}

void lapse_watcher_free(const lapse_alloc *alloc, struct lapse_watcher *watcher) {
    lapse_past_told(alloc, watcher, watcher->past_count);
    lapse_alloc_free(alloc, watcher, sizeof(*watcher) + watcher->key_len);
}

static enum lapse_status start_live(struct lapse_job *job) {
    const struct lapse_command *command = job->command;
    if (command->key.len == 0) {
        enum lapse_status status = lapse_kv_list_all(job);
        return status == LAPSE_OK ? add(job) : status;
    }
    const struct lapse_node *node =
        lapse_record_current(job->state, lapse_table_find(&job->bucket->records, command->key),
                             &job->now, true);
    if (lapse_record_shown(job->state, node, &job->now)) {
        struct lapse_item item = {.key = lapse_node_key(node),
                                  .value = lapse_image_blob(&node->now),
                                  .revision = node->now.revision,
                                  .kind = (enum lapse_record_kind)node->now.record};
        if (!lapse_result_item(job->result, &item)) {
            return lapse_job_no_memory(job);
        }
    }
    return add(job);
}

static enum lapse_status start_revision(struct lapse_job *job) {
    struct lapse_state *state = job->state;
    int64_t from = job->command->u.watch.revision;
    if (from < 1) {
        return lapse_error_set(job->err, LAPSE_INVALID,
                               "a watch from revision %lld; revisions begin at 1, so give that or "
                               "more, or watch from now",
                               (long long)from);
    }
    struct lapse_watcher past = {.bucket = job->bucket, .from = from};
    if (!lapse_past_find(state, &past, job->command->key, &job->now)) {
        return lapse_job_no_memory(job);
    }
    enum lapse_status status = add(job);
    if (status != LAPSE_OK) {
        lapse_past_told(state->alloc, &past, past.past_count);
        return status;
    }
    struct lapse_watcher *watcher = state->watchers[state->watcher_count - 1];
    watcher->from = from;
    watcher->gap = past.gap;
    watcher->past = past.past;
    watcher->past_count = past.past_count;
    watcher->past_cap = past.past_cap;
    return LAPSE_OK;
}

static enum lapse_status add(struct lapse_job *job) {
    struct lapse_state *state = job->state;
    struct lapse_bytes key = job->command->key;
    void *watchers = state->watchers;
    if (!lapse_alloc_grow(state->alloc, &watchers, &state->watcher_cap, state->watcher_count + 1,
                          sizeof(struct lapse_watcher *))) {
        return lapse_job_no_memory(job);
    }
    state->watchers = watchers;
    struct lapse_watcher *watcher = lapse_alloc_zero(state->alloc, sizeof(*watcher) + key.len);
    if (watcher == NULL) {
        return lapse_job_no_memory(job);
    }
    state->watcher_id++;
    watcher->id = state->watcher_id;
    watcher->bucket = job->bucket;
    watcher->seen = job->bucket->row->now.revision;
    watcher->key_len = key.len;
    if (key.len > 0) {
        memcpy(watcher->key, key.data, key.len);
    }
    state->watchers[state->watcher_count++] = watcher;
    job->bucket->watcher_count++;
    lapse_ring_enter(job->bucket, watcher->seen);
    job->result->watcher = watcher->id;
    return LAPSE_OK;
}

/* Where the watcher stands in the list, which is by id; watcher_count if there is none. */
static size_t place_of(const struct lapse_state *state, int64_t id) {
    size_t low = 0;
    size_t high = state->watcher_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (state->watchers[middle]->id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < state->watcher_count && state->watchers[low]->id == id;
    return found ? low : state->watcher_count;
}

static enum lapse_status no_watcher(struct lapse_job *job) {
    return lapse_error_set(job->err, LAPSE_INVALID,
                           "%s: no watch has the number %lld; a watch is "
                           "named by the number it was given at its start",
                           lapse_verb_word(job->command->verb),
                           (long long)job->command->u.watch.watcher);
}

/* Delivers, up to events_max, what is told before the events of the ring: a gap, then the past from
 * *ret_at on, which it moves. */
static enum lapse_status deliver_past(struct lapse_job *job, const struct lapse_watcher *watcher,
                                      size_t *ret_at) {
    size_t most = job->command->u.watch.events_max;
    if (watcher->gap > 0 && !deliver_gap(job, watcher, watcher->gap)) {
        return lapse_job_no_memory(job);
    }
    for (; *ret_at < watcher->past_count && job->result->delivery_count < most; ++*ret_at) {
        if (!deliver_kept(job, watcher, watcher->past[*ret_at])) {
            return lapse_job_no_memory(job);
        }
    }
    return LAPSE_OK;
}

/* Delivers up to events_max events that came after *ret_seen, and moves it. */
static enum lapse_status deliver(struct lapse_job *job, const struct lapse_watcher *watcher,
                                 int64_t *ret_seen) {
    const struct lapse_ring *ring = &watcher->bucket->ring;
    size_t most = job->command->u.watch.events_max;
    if (ring->count == 0 || *ret_seen == watcher->bucket->row->now.revision) {
        return LAPSE_OK;
    }
    int64_t first = lapse_ring_at(ring, 0)->revision;
    if (first > *ret_seen + 1 && job->result->delivery_count == most) {
        return LAPSE_OK;
    }
    if (first > *ret_seen + 1) {
        /* A gap below what it watches from is none of its own. */
        if (first - 1 >= watcher->from && !deliver_gap(job, watcher, first - 1)) {
            return lapse_job_no_memory(job);
        }
        *ret_seen = first - 1;
    }
    /* Revisions in a ring are consecutive (S7), so the next one's place is a subtraction. */
    size_t at = (size_t)(*ret_seen + 1 - first);
    for (; at < ring->count && job->result->delivery_count < most; at++) {
        const struct lapse_kept *kept = lapse_ring_at(ring, at);
        if (!deliver_kept(job, watcher, kept)) {
            return lapse_job_no_memory(job);
        }
        *ret_seen = kept->revision;
    }
    return LAPSE_OK;
}

static bool deliver_gap(struct lapse_job *job, const struct lapse_watcher *watcher,
                        int64_t revision) {
    struct lapse_event event = {.kind = LAPSE_EVENT_GAP,
                                .bucket = lapse_node_key(watcher->bucket->row),
                                .key = {watcher->key, watcher->key_len},
                                .revision = revision,
                                .at = job->now.store};
    return lapse_result_delivery(job->result, &event);
}

/* True also for an event that is not watched. */
static bool deliver_kept(struct lapse_job *job, const struct lapse_watcher *watcher,
                         const struct lapse_kept *kept) {
    struct lapse_bytes watched = {watcher->key, watcher->key_len};
    struct lapse_event event = {.kind = kept->kind,
                                .why = kept->why,
                                .bucket = lapse_node_key(watcher->bucket->row),
                                .key = {kept->bytes, kept->key_len},
                                .value = {kept->bytes + kept->key_len, kept->value_len},
                                .revision = kept->revision,
                                .old_revision = kept->old_revision,
                                .at = kept->at};
    if (kept->revision < watcher->from ||
        (watched.len > 0 && !lapse_bytes_equal(watched, event.key))) {
        return true;
    }
    return lapse_result_delivery(job->result, &event);
}
