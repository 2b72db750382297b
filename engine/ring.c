/* The ring of a bucket's events. Only buckets that somebody watches keep one; it grows by doubling
 * to its bound, then the oldest event makes room. Revisions in it are consecutive (S7), so a
 * watcher that asks for a revision below the first knows that it has lost something.
 *
 * Who still waits for what is counted and never searched: each event counts the watchers that are
 * told it next, the bucket those that have seen all and those that have lost events. A poll moves
 * one watcher from one count to another, however many there are. */
#include "state.h"

#include <string.h>

static size_t *counter_of(struct lapse_bucket *bucket, int64_t seen);
static void drop_first(const lapse_alloc *alloc, struct lapse_ring *ring);

bool lapse_ring_reserve(const struct lapse_state *state, struct lapse_bucket *bucket) {
    struct lapse_ring *ring = &bucket->ring;
    size_t wanted = ring->count + bucket->pending + 1;
    if (wanted > state->watch_events_max) {
        wanted = state->watch_events_max;
    }
    if (wanted <= ring->cap) {
        return true;
    }
    struct lapse_ring grown = {NULL, 0, ring->count, 0};
    void *items = NULL;
    if (!lapse_alloc_grow(state->alloc, &items, &grown.cap, wanted, sizeof(*grown.items))) {
        return false;
    }
    grown.items = items;
    for (size_t i = 0; i < ring->count; i++) {
        grown.items[i] = ring->items[(ring->first + i) % ring->cap];
    }
    lapse_alloc_free(state->alloc, ring->items, ring->cap * sizeof(*ring->items));
    *ring = grown;
    return true;
}

void lapse_ring_push(const struct lapse_state *state, struct lapse_bucket *bucket,
                     struct lapse_kept *kept) {
    struct lapse_ring *ring = &bucket->ring;
    LAPSE_ASSERT(ring->cap > 0);
    while (ring->count >= state->watch_events_max || ring->count == ring->cap) {
        bucket->behind += ring->items[ring->first]->waiting;
        drop_first(state->alloc, ring);
    }
    kept->waiting = bucket->told;
    bucket->told = 0;
    ring->items[(ring->first + ring->count) % ring->cap] = kept;
    ring->count++;
}

const struct lapse_kept *lapse_ring_at(const struct lapse_ring *ring, size_t index) {
    LAPSE_ASSERT(index < ring->count);
    return ring->items[(ring->first + index) % ring->cap];
}

void lapse_ring_enter(struct lapse_bucket *bucket, int64_t seen) {
    ++*counter_of(bucket, seen);
}

void lapse_ring_leave(struct lapse_bucket *bucket, int64_t seen) {
    size_t *counter = counter_of(bucket, seen);
    LAPSE_ASSERT(*counter > 0);
    --*counter;
}

void lapse_ring_trim(const lapse_alloc *alloc, struct lapse_bucket *bucket) {
    struct lapse_ring *ring = &bucket->ring;
    while (bucket->behind == 0 && ring->count > 0 && ring->items[ring->first]->waiting == 0) {
        drop_first(alloc, ring);
    }
}

void lapse_ring_finish(const lapse_alloc *alloc, struct lapse_ring *ring) {
    while (ring->count > 0) {
        drop_first(alloc, ring);
    }
    lapse_alloc_free(alloc, ring->items, ring->cap * sizeof(*ring->items));
    *ring = (struct lapse_ring){NULL, 0, 0, 0};
}

struct lapse_kept *lapse_kept_make(const lapse_alloc *alloc, struct lapse_bucket *bucket,
                                   const struct lapse_event *event) {
    size_t bytes = sizeof(struct lapse_kept) + event->key.len + event->value.len;
    struct lapse_kept *kept = lapse_alloc_zero(alloc, bytes);
    if (kept == NULL) {
        return NULL;
    }
    kept->bucket = bucket;
    kept->kind = event->kind;
    kept->why = event->why;
    kept->revision = event->revision;
    kept->old_revision = event->old_revision;
    kept->at = event->at;
    kept->key_len = event->key.len;
    kept->value_len = event->value.len;
    memcpy(kept->bytes, event->key.data, event->key.len);
    if (event->value.len > 0) {
        memcpy(kept->bytes + event->key.len, event->value.data, event->value.len);
    }
    return kept;
}

void lapse_kept_free(const lapse_alloc *alloc, struct lapse_kept *kept) {
    if (kept != NULL) {
        lapse_alloc_free(alloc, kept, sizeof(*kept) + kept->key_len + kept->value_len);
    }
}

static size_t *counter_of(struct lapse_bucket *bucket, int64_t seen) {
    struct lapse_ring *ring = &bucket->ring;
    if (ring->count == 0 || seen >= bucket->row->now.revision) {
        return &bucket->told;
    }
    int64_t first = lapse_ring_at(ring, 0)->revision;
    if (seen < first - 1) {
        return &bucket->behind;
    }
    size_t at = ring->first + (size_t)(seen + 1 - first);
    return &ring->items[at % ring->cap]->waiting;
}

static void drop_first(const lapse_alloc *alloc, struct lapse_ring *ring) {
    lapse_kept_free(alloc, ring->items[ring->first]);
    ring->first = (ring->first + 1) % ring->cap;
    ring->count--;
}
