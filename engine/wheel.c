/* The timing wheel: radix by the end's bits, as G. Varghese and T. Lauck's hierarchical wheels, but
 * moved by what is asked of it rather than by ticks. */
#include "wheel.h"

#include "heap.h"
#include "state.h"

#include <string.h>

enum { BINS = 64 };

static uint64_t key_of(const struct lapse_node *node);
static unsigned level_of(uint64_t apart);
static unsigned level_in(const struct lapse_wheel *wheel, uint64_t key);
static unsigned level_for(struct lapse_wheel *wheel, uint64_t key);
static unsigned slot_of(uint64_t key, unsigned level);
static bool make_level(const lapse_alloc *alloc, struct lapse_wheel *wheel, unsigned level);
static size_t level_bytes(unsigned level);
static unsigned lowest(uint64_t bits);
static void file(struct lapse_wheel *wheel, struct lapse_node *node);
static void add(const struct lapse_wheel *wheel, unsigned level, unsigned slot,
                struct lapse_node *node);
static struct lapse_node *take_slot(struct lapse_wheel *wheel, unsigned level, unsigned slot);
static void join(struct lapse_node *ring, struct lapse_node *after);
static void go_back(struct lapse_wheel *wheel, uint64_t key);
static void spread(struct lapse_wheel *wheel, unsigned level, unsigned slot, uint64_t to);
static uint64_t earliest(const struct lapse_node *first);
static bool known(const struct lapse_wheel *wheel, unsigned level, unsigned slot);
static void sort_slot(struct lapse_wheel *wheel, unsigned slot);
static struct lapse_node *take_run(const struct lapse_buckets *buckets, struct lapse_node **rest);
static struct lapse_node *merge(const struct lapse_buckets *buckets, struct lapse_node *a,
                                struct lapse_node *b);
static enum lapse_status check_slot(const struct lapse_wheel *wheel, unsigned level, unsigned slot,
                                    size_t *count, struct lapse_error *err);

bool lapse_wheel_reserve(const lapse_alloc *alloc, struct lapse_wheel *wheel) {
    if (wheel->level_count > 0 && wheel->level_count >= wheel->missed) {
        return true;
    }
    if (!make_level(alloc, wheel, LAPSE_WHEEL_BEYOND) || !make_level(alloc, wheel, 0)) {
        return false;
    }
    unsigned count = 1;
    for (; count < wheel->missed; count++) {
        if (!make_level(alloc, wheel, count)) {
            return false;
        }
    }
    wheel->level_count = count;
    if (wheel->levels[LAPSE_WHEEL_BEYOND]->used != 0) {
        spread(wheel, LAPSE_WHEEL_BEYOND, 0, wheel->at);
    }
    return true;
}

void lapse_wheel_insert(struct lapse_wheel *wheel, struct lapse_node *node) {
    LAPSE_ASSERT(wheel->level_count > 0);
    LAPSE_ASSERT(!node->placed);
    uint64_t key = key_of(node);
    if (wheel->count == 0) {
        wheel->at = key;
    } else if (key < wheel->at) {
        go_back(wheel, key);
    }
    file(wheel, node);
    node->placed = true;
    wheel->count++;
}

void lapse_wheel_remove(struct lapse_wheel *wheel, struct lapse_node *node) {
    LAPSE_ASSERT(node->placed);
    uint64_t key = key_of(node);
    unsigned level = level_in(wheel, key);
    unsigned slot = slot_of(key, level);
    struct lapse_wheel_level *in = wheel->levels[level];
    struct lapse_node *next = node->at.wheel.next;
    if (next == node) {
        LAPSE_ASSERT(in->first[slot] == node);
        (void)take_slot(wheel, level, slot);
    } else {
        node->at.wheel.prev->at.wheel.next = next;
        next->at.wheel.prev = node->at.wheel.prev;
        if (in->first[slot] == node) {
            in->first[slot] = next;
            if (next->now.end_ns != node->now.end_ns) {
                in->ordered &= ~(UINT64_C(1) << slot);
            }
        }
    }
    node->at.wheel.next = node->at.wheel.prev = NULL;
    node->placed = false;
    wheel->count--;
}

struct lapse_node *lapse_wheel_first(struct lapse_wheel *wheel) {
    if (wheel->count == 0) {
        return NULL;
    }
    unsigned level = lowest(wheel->used);
    unsigned slot = lowest(wheel->levels[level]->used);
    if (level > 0) {
        uint64_t to = known(wheel, level, slot) ? key_of(wheel->levels[level]->first[slot])
                                                : earliest(wheel->levels[level]->first[slot]);
        spread(wheel, level, slot, to);
        slot = slot_of(to, 0);
    }
    if (!known(wheel, 0, slot)) {
        sort_slot(wheel, slot);
    }
    return wheel->levels[0]->first[slot];
}

void lapse_wheel_settle(struct lapse_wheel *wheel) {
    if (wheel->count == 0) {
        return;
    }
    unsigned level = lowest(wheel->used);
    unsigned slot = lowest(wheel->levels[level]->used);
    if (level > 0 && !known(wheel, level, slot)) {
        /* Spread rather than only searched: the next one to be asked for is then near. */
        spread(wheel, level, slot, earliest(wheel->levels[level]->first[slot]));
    }
}

bool lapse_wheel_min(const struct lapse_wheel *wheel, int64_t *ret) {
    if (wheel->count == 0) {
        return false;
    }
    unsigned level = lowest(wheel->used);
    unsigned slot = lowest(wheel->levels[level]->used);
    LAPSE_ASSERT(level == 0 || known(wheel, level, slot));
    *ret = wheel->levels[level]->first[slot]->now.end_ns;
    return true;
}

void lapse_wheel_finish(const lapse_alloc *alloc, struct lapse_wheel *wheel) {
    for (unsigned level = 0; level <= LAPSE_WHEEL_BEYOND; level++) {
        lapse_alloc_free(alloc, wheel->levels[level], level_bytes(level));
    }
    *wheel = (struct lapse_wheel){0};
}

enum lapse_status lapse_wheel_check(const struct lapse_wheel *wheel, struct lapse_error *err) {
    size_t count = 0;
    for (unsigned level = 0; level <= LAPSE_WHEEL_BEYOND; level++) {
        if (wheel->levels[level] == NULL) {
            continue;
        }
        bool used = (wheel->used >> level & 1) != 0;
        if (used != (wheel->levels[level]->used != 0)) {
            return lapse_error_set(err, LAPSE_BUG, "the wheel is wrong about its level %u (W2)",
                                   level);
        }
        unsigned slots = level == LAPSE_WHEEL_BEYOND ? 1 : LAPSE_WHEEL_SLOTS;
        for (unsigned slot = 0; slot < slots; slot++) {
            enum lapse_status status = check_slot(wheel, level, slot, &count, err);
            if (status != LAPSE_OK) {
                return status;
            }
        }
    }
    if (count != wheel->count) {
        return lapse_error_set(err, LAPSE_BUG, "the wheel counts %zu rows and links %zu",
                               wheel->count, count);
    }
    return LAPSE_OK;
}

/* The end as an unsigned number in the same order. */
static uint64_t key_of(const struct lapse_node *node) {
    return (uint64_t)node->now.end_ns ^ UINT64_C(1) << 63;
}

static unsigned level_of(uint64_t apart) {
    return apart == 0 ? 0 : (63 - (unsigned)__builtin_clzll(apart)) / LAPSE_WHEEL_BITS;
}

/* Where a row with this end is filed: its level, if that has been made. */
static unsigned level_in(const struct lapse_wheel *wheel, uint64_t key) {
    unsigned level = level_of(key ^ wheel->at);
    return level < wheel->level_count ? level : LAPSE_WHEEL_BEYOND;
}

/* The same, noting that a level is missed. */
static unsigned level_for(struct lapse_wheel *wheel, uint64_t key) {
    unsigned wanted = level_of(key ^ wheel->at) + 1;
    wheel->missed = wanted > wheel->missed ? wanted : wheel->missed;
    return level_in(wheel, key);
}

static unsigned slot_of(uint64_t key, unsigned level) {
    return level == LAPSE_WHEEL_BEYOND
               ? 0
               : (unsigned)(key >> (level * LAPSE_WHEEL_BITS)) & (LAPSE_WHEEL_SLOTS - 1);
}

static bool make_level(const lapse_alloc *alloc, struct lapse_wheel *wheel, unsigned level) {
    if (wheel->levels[level] == NULL) {
        wheel->levels[level] = lapse_alloc_zero(alloc, level_bytes(level));
    }
    return wheel->levels[level] != NULL;
}

static size_t level_bytes(unsigned level) {
    size_t slots = level == LAPSE_WHEEL_BEYOND ? 1 : LAPSE_WHEEL_SLOTS;
    return sizeof(struct lapse_wheel_level) + slots * sizeof(struct lapse_node *);
}

static unsigned lowest(uint64_t bits) {
    return (unsigned)__builtin_ctzll(bits);
}

static void file(struct lapse_wheel *wheel, struct lapse_node *node) {
    uint64_t key = key_of(node);
    unsigned level = level_for(wheel, key);
    unsigned slot = slot_of(key, level);
    struct lapse_wheel_level *in = wheel->levels[level];
    if (in->first[slot] != NULL) {
        add(wheel, level, slot, node);
        return;
    }
    node->at.wheel.next = node->at.wheel.prev = node;
    in->first[slot] = node;
    in->used |= UINT64_C(1) << slot;
    in->ordered |= UINT64_C(1) << slot;
    wheel->used |= 1U << level;
}

/* Adds a row to a slot that has some: at its end, or before the first where that keeps it ordered.
 */
static void add(const struct lapse_wheel *wheel, unsigned level, unsigned slot,
                struct lapse_node *node) {
    struct lapse_wheel_level *in = wheel->levels[level];
    struct lapse_node *first = in->first[slot];
    struct lapse_node *last = first->at.wheel.prev;
    node->at.wheel.next = first;
    node->at.wheel.prev = last;
    last->at.wheel.next = node;
    first->at.wheel.prev = node;
    if (!known(wheel, level, slot)) {
        return;
    }
    if (level > 0) {
        in->first[slot] = node->now.end_ns < first->now.end_ns ? node : first;
    } else if (lapse_heap_before(wheel->buckets, node, first)) {
        in->first[slot] = node;
    } else if (lapse_heap_before(wheel->buckets, node, last)) {
        in->ordered &= ~(UINT64_C(1) << slot);
    }
}

/* Empties a slot; its rows stay linked in their ring. */
static struct lapse_node *take_slot(struct lapse_wheel *wheel, unsigned level, unsigned slot) {
    struct lapse_wheel_level *in = wheel->levels[level];
    struct lapse_node *first = in->first[slot];
    in->first[slot] = NULL;
    in->used &= ~(UINT64_C(1) << slot);
    in->ordered &= ~(UINT64_C(1) << slot);
    if (in->used == 0) {
        wheel->used &= ~(1U << level);
    }
    return first;
}

/* Makes one ring of two: `after` follows the last of `ring`. */
static void join(struct lapse_node *ring, struct lapse_node *after) {
    struct lapse_node *last = ring->at.wheel.prev;
    struct lapse_node *end = after->at.wheel.prev;
    last->at.wheel.next = after;
    after->at.wheel.prev = last;
    end->at.wheel.next = ring;
    ring->at.wheel.prev = end;
}

/* Moves the position back. What differs from it now at a level where it did not before is what lies
 * below that level, all of which shares one slot there; beyond, it comes before what waits. */
static void go_back(struct lapse_wheel *wheel, uint64_t key) {
    unsigned level = level_for(wheel, key);
    unsigned slot = slot_of(wheel->at, level);
    struct lapse_node *all = NULL;
    bool ordered = false;
    for (unsigned below = 0; below < level && below < wheel->level_count; below++) {
        while (wheel->levels[below]->used != 0) {
            unsigned from = lowest(wheel->levels[below]->used);
            bool begins = below == 0 || known(wheel, below, from);
            struct lapse_node *first = take_slot(wheel, below, from);
            if (all == NULL) {
                all = first;
                ordered = begins;
            } else {
                join(all, first);
            }
        }
    }
    wheel->at = key;
    if (all == NULL) {
        return;
    }
    struct lapse_wheel_level *in = wheel->levels[level];
    if (in->first[slot] != NULL) {
        LAPSE_ASSERT(level == LAPSE_WHEEL_BEYOND);
        join(all, take_slot(wheel, level, slot));
    }
    in->first[slot] = all;
    in->used |= UINT64_C(1) << slot;
    in->ordered |= (ordered ? UINT64_C(1) : 0) << slot;
    wheel->used |= 1U << level;
}

/* Empties a slot into lower ones, the position having moved on to `to`: the earliest end of all,
 * which stands in this slot, or the position that it had. */
static void spread(struct lapse_wheel *wheel, unsigned level, unsigned slot, uint64_t to) {
    struct lapse_node *node = take_slot(wheel, level, slot);
    node->at.wheel.prev->at.wheel.next = NULL;
    wheel->at = to;
    while (node != NULL) {
        struct lapse_node *next = node->at.wheel.next;
        file(wheel, node);
        node = next;
    }
}

static uint64_t earliest(const struct lapse_node *first) {
    uint64_t least = key_of(first);
    const struct lapse_node *node = first->at.wheel.next;
    for (; node != first; node = node->at.wheel.next) {
        least = key_of(node) < least ? key_of(node) : least;
    }
    return least;
}

static bool known(const struct lapse_wheel *wheel, unsigned level, unsigned slot) {
    return (wheel->levels[level]->ordered >> slot & 1) != 0;
}

/* A natural merge sort of a slot of one instant: rows mostly come in order already. */
static void sort_slot(struct lapse_wheel *wheel, unsigned slot) {
    struct lapse_node *bins[BINS] = {NULL};
    struct lapse_node *rest = wheel->levels[0]->first[slot];
    rest->at.wheel.prev->at.wheel.next = NULL;
    while (rest != NULL) {
        struct lapse_node *run = take_run(wheel->buckets, &rest);
        unsigned bin = 0;
        for (; bins[bin] != NULL; bin++) {
            run = merge(wheel->buckets, bins[bin], run);
            bins[bin] = NULL;
        }
        bins[bin] = run;
    }
    struct lapse_node *all = NULL;
    for (unsigned bin = 0; bin < BINS; bin++) {
        if (bins[bin] != NULL) {
            all = all == NULL ? bins[bin] : merge(wheel->buckets, bins[bin], all);
        }
    }
    wheel->levels[0]->first[slot] = all;
    wheel->levels[0]->ordered |= UINT64_C(1) << slot;
    struct lapse_node *node = all;
    for (; node->at.wheel.next != NULL; node = node->at.wheel.next) {
        node->at.wheel.next->at.wheel.prev = node;
    }
    node->at.wheel.next = all;
    all->at.wheel.prev = node;
}

/* Cuts the longest run that is in order off the list. */
static struct lapse_node *take_run(const struct lapse_buckets *buckets, struct lapse_node **rest) {
    struct lapse_node *run = *rest;
    struct lapse_node *last = run;
    while (last->at.wheel.next != NULL && !lapse_heap_before(buckets, last->at.wheel.next, last)) {
        last = last->at.wheel.next;
    }
    *rest = last->at.wheel.next;
    last->at.wheel.next = NULL;
    return run;
}

static struct lapse_node *merge(const struct lapse_buckets *buckets, struct lapse_node *a,
                                struct lapse_node *b) {
    struct lapse_node *all = NULL;
    struct lapse_node **link = &all;
    while (a != NULL && b != NULL) {
        struct lapse_node **from = lapse_heap_before(buckets, b, a) ? &b : &a;
        *link = *from;
        *from = (*from)->at.wheel.next;
        link = &(*link)->at.wheel.next;
    }
    *link = a != NULL ? a : b;
    return all;
}

static enum lapse_status check_slot(const struct lapse_wheel *wheel, unsigned level, unsigned slot,
                                    size_t *count, struct lapse_error *err) {
    const struct lapse_node *first = wheel->levels[level]->first[slot];
    bool used = (wheel->levels[level]->used >> slot & 1) != 0;
    if (used != (first != NULL) || (known(wheel, level, slot) && !used)) {
        return lapse_error_set(err, LAPSE_BUG, "level %u is wrong about its slot %u (W2)", level,
                               slot);
    }
    bool ordered = known(wheel, level, slot);
    const struct lapse_node *node = first;
    while (node != NULL) {
        const struct lapse_node *next = node->at.wheel.next;
        uint64_t key = key_of(node);
        *count += 1;
        if (!node->placed || next->at.wheel.prev != node || key < wheel->at || !node->now.present ||
            node->now.end_kind != LAPSE_END_STEADY || level_in(wheel, key) != level ||
            slot_of(key, level) != slot) {
            return lapse_error_set(err, LAPSE_BUG,
                                   "a row in slot %u of level %u does not belong there (W1)", slot,
                                   level);
        }
        next = next == first ? NULL : next;
        bool late = level > 0 ? key < key_of(first)
                              : next != NULL && !lapse_heap_before(wheel->buckets, node, next);
        if (ordered && late) {
            return lapse_error_set(err, LAPSE_BUG,
                                   "slot %u of level %u is not in the order it is said to be (W3)",
                                   slot, level);
        }
        node = next;
    }
    return LAPSE_OK;
}
