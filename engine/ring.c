/* The ring of a bucket's events. Only buckets that somebody watches keep one; it grows by doubling
 * to its bound, then the oldest event makes room. Revisions in it are consecutive (S7), so a
 * watcher that asks for a revision below the first knows that it has lost something. */
#include "state.h"

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
        drop_first(state->alloc, ring);
    }
    ring->items[(ring->first + ring->count) % ring->cap] = kept;
    ring->count++;
}

const struct lapse_kept *lapse_ring_at(const struct lapse_ring *ring, size_t index) {
    LAPSE_ASSERT(index < ring->count);
    return ring->items[(ring->first + index) % ring->cap];
}

void lapse_ring_trim(const lapse_alloc *alloc, struct lapse_ring *ring, int64_t seen) {
    while (ring->count > 0 && lapse_ring_at(ring, 0)->revision <= seen) {
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

void lapse_kept_free(const lapse_alloc *alloc, struct lapse_kept *kept) {
    if (kept != NULL) {
        lapse_alloc_free(alloc, kept, sizeof(*kept) + kept->key_len + kept->value_len);
    }
}

static void drop_first(const lapse_alloc *alloc, struct lapse_ring *ring) {
    lapse_kept_free(alloc, ring->items[ring->first]);
    ring->first = (ring->first + 1) % ring->cap;
    ring->count--;
}
