/* The past of a watcher that starts from a revision (WATCH-06): the last event of each key, as far
 * as the records kept tell it and it is one that the watcher asked for, in revision order. It is
 * copied at the start: what happens to the records later is the ring's to tell.
 *
 * An event is lost when it was its key's last and its record is gone, which is what the bucket has
 * `forgotten`. What has ended counts as gone, reaped or not: so the answer does not depend on the
 * reaper (REAP-01). The exception is an end that is still to be told: its key's last event is the
 * put, and the expired event comes when it is written. Of a bucket without markers none comes, and
 * a late watcher does not see the key (WATCH-04). */
#include "state.h"

/* What a key's newest record is to a watcher that starts now. */
enum standing { TOLD, LOST };

static enum standing standing_of(const struct lapse_state *state, const struct lapse_node *node,
                                 const struct lapse_now *now);
static bool find_key(const struct lapse_state *state, struct lapse_watcher *watcher,
                     struct lapse_bytes key, const struct lapse_now *now);
static int64_t last_lost(const struct lapse_state *state, const struct lapse_bucket *bucket,
                         const struct lapse_now *now);
static bool find_all(const struct lapse_state *state, struct lapse_watcher *watcher,
                     const struct lapse_now *now);
static bool keep_event(const lapse_alloc *alloc, struct lapse_watcher *watcher,
                       const struct lapse_node *node);
static struct lapse_event event_of(const struct lapse_node *node);
static void drop_all(const lapse_alloc *alloc, struct lapse_watcher *watcher);

bool lapse_past_find(const struct lapse_state *state, struct lapse_watcher *watcher,
                     struct lapse_bytes key, const struct lapse_now *now) {
    bool found = key.len > 0 ? find_key(state, watcher, key, now) : find_all(state, watcher, now);
    if (!found) {
        drop_all(state->alloc, watcher);
    }
    return found;
}

void lapse_past_told(const lapse_alloc *alloc, struct lapse_watcher *watcher, size_t told) {
    LAPSE_ASSERT(told <= watcher->past_count);
    for (; watcher->past_at < told; watcher->past_at++) {
        lapse_kept_free(alloc, watcher->past[watcher->past_at]);
    }
    if (watcher->past_at == watcher->past_count) {
        drop_all(alloc, watcher);
    }
}

/* A key that has a record has lost nothing: the record tells its last event. */
static bool find_key(const struct lapse_state *state, struct lapse_watcher *watcher,
                     struct lapse_bytes key, const struct lapse_now *now) {
    const struct lapse_node *newest = lapse_table_find(&watcher->bucket->records, key);
    if (newest != NULL && standing_of(state, newest, now) == TOLD) {
        return newest->now.revision < watcher->from || keep_event(state->alloc, watcher, newest);
    }
    int64_t lost = last_lost(state, watcher->bucket, now);
    watcher->gap = lost >= watcher->from ? lost : 0;
    return true;
}

/* The newest event that was its key's last and is gone. What the reaper has taken tells no keys
 * apart, so neither does what it will take. */
static int64_t last_lost(const struct lapse_state *state, const struct lapse_bucket *bucket,
                         const struct lapse_now *now) {
    int64_t lost = bucket->row->now.aux.forgotten;
    const struct lapse_node *node = lapse_table_any(&bucket->records);
    for (; node != NULL; node = lapse_table_after(&bucket->records, node)) {
        bool gone = !node->now.older && standing_of(state, node, now) == LOST;
        lost = gone && node->now.revision > lost ? node->now.revision : lost;
    }
    return lost;
}

static bool find_all(const struct lapse_state *state, struct lapse_watcher *watcher,
                     const struct lapse_now *now) {
    const lapse_alloc *alloc = state->alloc;
    const struct lapse_table *records = &watcher->bucket->records;
    struct lapse_node **nodes = NULL;
    if (!lapse_table_by_revision(alloc, records, &nodes)) {
        return false;
    }
    int64_t lost = last_lost(state, watcher->bucket, now);
    /* What a gap covers is not told after it: revisions would fall. */
    watcher->gap = lost >= watcher->from ? lost : 0;
    bool room = true;
    for (size_t i = 0; i < records->count && room; i++) {
        const struct lapse_node *node = nodes[i];
        bool wanted = !node->now.older && node->now.revision >= watcher->from &&
                      node->now.revision > watcher->gap;
        room = !wanted || keep_event(alloc, watcher, node);
    }
    lapse_alloc_free(alloc, nodes, records->count * sizeof(struct lapse_node *));
    return room;
}

static enum standing standing_of(const struct lapse_state *state, const struct lapse_node *node,
                                 const struct lapse_now *now) {
    if (node->now.record == LAPSE_RECORD_VALUE) {
        bool marks = lapse_node_bucket(state, node)->config.markers.ns > 0;
        bool told = marks || lapse_idle_live(state, node, now);
        return told ? TOLD : LOST;
    }
    bool gone = node->now.record == LAPSE_RECORD_GONE;
    return !gone && lapse_state_live(node, now) ? TOLD : LOST;
}

static bool keep_event(const lapse_alloc *alloc, struct lapse_watcher *watcher,
                       const struct lapse_node *node) {
    struct lapse_event event = event_of(node);
    void *past = watcher->past;
    if (!lapse_alloc_grow(alloc, &past, &watcher->past_cap, watcher->past_count + 1,
                          sizeof(*watcher->past))) {
        return false;
    }
    watcher->past = past;
    struct lapse_kept *kept = lapse_kept_make(alloc, watcher->bucket, &event);
    if (kept == NULL) {
        return false;
    }
    watcher->past[watcher->past_count++] = kept;
    return true;
}

static struct lapse_event event_of(const struct lapse_node *node) {
    const struct lapse_image *image = &node->now;
    struct lapse_event event = {.key = lapse_node_key(node), .revision = image->revision};
    switch ((enum lapse_record_kind)image->record) {
    case LAPSE_RECORD_VALUE:
        event.kind = LAPSE_EVENT_PUT;
        event.value = lapse_image_blob(image);
        return event;
    case LAPSE_RECORD_TOMBSTONE:
        event.kind = LAPSE_EVENT_DELETE;
        break;
    case LAPSE_RECORD_PURGE:
        event.kind = LAPSE_EVENT_PURGE;
        break;
    case LAPSE_RECORD_MARKER:
        event.kind = LAPSE_EVENT_EXPIRED;
        event.why = (enum lapse_why)image->why;
        break;
    case LAPSE_RECORD_GONE:
        break; /* lost, and so never told */
    }
    event.old_revision = image->aux.old_revision;
    event.at.ns = lapse_image_last(image);
    return event;
}

static void drop_all(const lapse_alloc *alloc, struct lapse_watcher *watcher) {
    for (size_t i = watcher->past_at; i < watcher->past_count; i++) {
        lapse_kept_free(alloc, watcher->past[i]);
    }
    lapse_alloc_free(alloc, watcher->past, watcher->past_cap * sizeof(*watcher->past));
    watcher->past = NULL;
    watcher->past_count = watcher->past_at = watcher->past_cap = 0;
}
