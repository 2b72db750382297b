/* Lanes by name. A run may touch as many keys as it has events, and each event asks for its lane,
 * so they are found through a hash table; their order is that in which they were made. */
#include <string.h>

#include "timeline.h"

enum { SLOTS_LEAST = 64 };

static size_t *slot_of(const struct lapse_lanes *lanes, enum lapse_lane_kind kind,
                       struct lapse_bytes bucket, struct lapse_bytes name);
static bool slots_grow(struct lapse_lanes *lanes);

size_t lapse_lane_find(struct lapse_lanes *lanes, enum lapse_lane_kind kind,
                       struct lapse_bytes bucket, struct lapse_bytes name) {
    if (!slots_grow(lanes)) {
        lanes->failed = true;
        return 0;
    }
    size_t *slot = slot_of(lanes, kind, bucket, name);
    if (*slot != 0) {
        return *slot - 1;
    }
    void *array = lanes->lanes;
    if (!lapse_alloc_grow(lanes->alloc, &array, &lanes->lane_cap, lanes->lane_count + 1,
                          sizeof *lanes->lanes)) {
        lanes->failed = true;
        return 0;
    }
    lanes->lanes = array;
    lanes->lanes[lanes->lane_count] = (struct lapse_lane){
        .kind = kind, .bucket = bucket, .name = name, .bar_last = LAPSE_BAR_NONE};
    *slot = ++lanes->lane_count;
    return *slot - 1;
}

struct lapse_lane *lapse_lane_seek(const struct lapse_lanes *lanes, struct lapse_bytes bucket,
                                   struct lapse_bytes name) {
    if (lanes->slot_count == 0) {
        return NULL;
    }
    size_t slot = *slot_of(lanes, lapse_lanes_kind(lanes, bucket), bucket, name);
    return slot == 0 ? NULL : &lanes->lanes[slot - 1];
}

/* The name of a lock is "bucket/key", and either may hold a slash. */
struct lapse_lane *lapse_lane_of_grant(const struct lapse_lanes *lanes,
                                       const struct lapse_grant_ref *grant) {
    const struct lapse_bytes none = {NULL, 0};
    if (!grant->given || !grant->key_lock) {
        return grant->given ? lapse_lane_seek(lanes, none, grant->name) : NULL;
    }
    struct lapse_lane *found = NULL;
    for (size_t i = 1; found == NULL && i < grant->name.len; i++) {
        if (grant->name.data[i] == '/') {
            found = lapse_lane_seek(
                lanes, (struct lapse_bytes){grant->name.data, i},
                (struct lapse_bytes){grant->name.data + i + 1, grant->name.len - i - 1});
        }
    }
    return found;
}

bool lapse_lanes_holds(const struct lapse_lanes *lanes, const struct lapse_grant_ref *grant,
                       struct lapse_bytes actor, int64_t at) {
    const struct lapse_lane *lane = lapse_lane_of_grant(lanes, grant);
    if (lane == NULL || lane->kind == LAPSE_LANE_KEY) {
        return false;
    }
    for (size_t i = lane->bar_last; i != LAPSE_BAR_NONE; i = lanes->bars[i].before) {
        const struct lapse_bar *bar = &lanes->bars[i];
        bool stands = at >= bar->from && (bar->endless || at < bar->to);
        bool own = lane->kind == LAPSE_LANE_LOCK ? lapse_bytes_equal(bar->who, actor)
                                                 : bar->token == grant->token;
        if (stands && own) {
            return true;
        }
    }
    return false;
}

static size_t hash_bytes(size_t hash, struct lapse_bytes bytes) {
    for (size_t i = 0; i < bytes.len; i++) {
        hash = (hash ^ bytes.data[i]) * 16777619U;
    }
    return (hash ^ bytes.len) * 16777619U;
}

/* The slot that holds the lane, or the free one where it belongs. Half of them are free. */
static size_t *slot_of(const struct lapse_lanes *lanes, enum lapse_lane_kind kind,
                       struct lapse_bytes bucket, struct lapse_bytes name) {
    size_t hash = hash_bytes(hash_bytes(2166136261U, bucket), name);
    size_t at = (hash ^ (hash >> 15)) & (lanes->slot_count - 1);
    for (; lanes->slots[at] != 0; at = (at + 1) & (lanes->slot_count - 1)) {
        const struct lapse_lane *lane = &lanes->lanes[lanes->slots[at] - 1];
        if (lane->kind == kind && lapse_bytes_equal(lane->bucket, bucket) &&
            lapse_bytes_equal(lane->name, name)) {
            break;
        }
    }
    return &lanes->slots[at];
}

/* Room for one more lane, with half of the slots free. */
static bool slots_grow(struct lapse_lanes *lanes) {
    if ((lanes->lane_count + 1) * 2 <= lanes->slot_count) {
        return true;
    }
    size_t before = lanes->slot_count;
    size_t *old = lanes->slots;
    size_t count = before == 0 ? SLOTS_LEAST : before * 2;
    size_t *slots = lapse_alloc_zero(lanes->alloc, count * sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    lanes->slots = slots;
    lanes->slot_count = count;
    for (size_t i = 0; i < lanes->lane_count; i++) {
        const struct lapse_lane *lane = &lanes->lanes[i];
        *slot_of(lanes, lane->kind, lane->bucket, lane->name) = i + 1;
    }
    lapse_alloc_free(lanes->alloc, old, before * sizeof *old);
    return true;
}
