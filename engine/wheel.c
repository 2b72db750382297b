/* The timing wheel: radix by the end's bits, as G. Varghese and T. Lauck's hierarchical wheels, but
 * moved by what is asked of it rather than by ticks. */
#include "wheel.h"

#include "heap.h"
#include "links.h"

/* So many rows are searched for the earliest rather than spread, or taken for earlier than they
 * may be. */
enum { SEARCHED_MAX = 64 };

static uint64_t key_of(const struct lapse_node *node);
static uint64_t key_at(int64_t end_ns);
static int64_t end_of(uint64_t key);
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
static void put_slot(struct lapse_wheel *wheel, unsigned level, unsigned slot,
                     struct lapse_node *ring, bool sorted);
static void go_back(struct lapse_wheel *wheel, uint64_t key);
static bool finish_moves(struct lapse_wheel *wheel, size_t *work);
static bool open_slot(struct lapse_wheel *wheel, unsigned level, unsigned slot, uint64_t due,
                      size_t *work);
static uint64_t slot_begin(const struct lapse_wheel *wheel, unsigned level, unsigned slot);
static bool search(const struct lapse_node *first, size_t rows_max, uint64_t *ret, size_t *work);
static uint64_t earliest(const struct lapse_wheel *wheel, unsigned level, unsigned slot);
static bool is_sorted(const struct lapse_wheel *wheel, unsigned level, unsigned slot);
static enum lapse_status check_rest(const struct lapse_wheel *wheel, size_t *count,
                                    struct lapse_error *err);
static enum lapse_status check_runs(const struct lapse_wheel *wheel, size_t *count,
                                    struct lapse_error *err);
static bool linked(const struct lapse_node *node);
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
        lapse_links_join(&wheel->rest, take_slot(wheel, LAPSE_WHEEL_BEYOND, 0));
    }
    return true;
}

void lapse_wheel_insert(struct lapse_wheel *wheel, struct lapse_node *node) {
    LAPSE_ASSERT(wheel->level_count > 0);
    LAPSE_ASSERT(!node->placed);
    uint64_t key = key_of(node);
    if (wheel->count == 0) {
        wheel->at = key;
        wheel->runs.active = false;
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
    if (in->first[slot] == node) {
        if (node->at.wheel.next == node) {
            (void)take_slot(wheel, level, slot);
        } else {
            in->first[slot] = node->at.wheel.next;
        }
    } else if (!lapse_links_skip(&wheel->rest, node) && wheel->runs.active) {
        lapse_runs_skip(&wheel->runs, node);
    }
    lapse_links_cut(node);
    node->placed = false;
    wheel->count--;
}

bool lapse_wheel_first(struct lapse_wheel *wheel, int64_t due_ns, size_t *work,
                       struct lapse_node **ret) {
    uint64_t due = key_at(due_ns);
    *ret = NULL;
    while (wheel->count > 0) {
        if (!finish_moves(wheel, work)) {
            return false;
        }
        if (wheel->used == 0) {
            break;
        }
        unsigned level = lowest(wheel->used);
        unsigned slot = lowest(wheel->levels[level]->used);
        struct lapse_node *first = wheel->levels[level]->first[slot];
        if (is_sorted(wheel, level, slot)) {
            *ret = key_of(first) <= due ? first : NULL;
            break;
        }
        if (slot_begin(wheel, level, slot) > due) {
            break;
        }
        if (*work == 0) {
            return false;
        }
        if (!open_slot(wheel, level, slot, due, work)) {
            break;
        }
    }
    return true;
}

bool lapse_wheel_min(const struct lapse_wheel *wheel, int64_t *ret) {
    size_t work = SIZE_MAX;
    uint64_t least = UINT64_MAX;
    if (wheel->count == 0) {
        return false;
    }
    if (wheel->used != 0) {
        unsigned level = lowest(wheel->used);
        least = earliest(wheel, level, lowest(wheel->levels[level]->used));
    }
    uint64_t rest = UINT64_MAX;
    if (wheel->runs.active ||
        (wheel->rest != NULL && !search(wheel->rest, SEARCHED_MAX, &rest, &work))) {
        least = wheel->at;
    }
    *ret = end_of(rest < least ? rest : least);
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
    enum lapse_status status = check_rest(wheel, &count, err);
    if (status == LAPSE_OK) {
        status = check_runs(wheel, &count, err);
    }
    if (status != LAPSE_OK) {
        return status;
    }
    if (count != wheel->count) {
        return lapse_error_set(err, LAPSE_BUG, "the wheel counts %zu rows and links %zu",
                               wheel->count, count);
    }
    return LAPSE_OK;
}

/* The end as an unsigned number in the same order. */
static uint64_t key_of(const struct lapse_node *node) {
    return key_at(node->now.end_ns);
}

static uint64_t key_at(int64_t end_ns) {
    return (uint64_t)end_ns ^ UINT64_C(1) << 63;
}

static int64_t end_of(uint64_t key) {
    return key >> 63 != 0 ? (int64_t)(key ^ UINT64_C(1) << 63) : (int64_t)key + INT64_MIN;
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
    if (wheel->levels[level]->first[slot] != NULL) {
        add(wheel, level, slot, node);
        return;
    }
    node->at.wheel.next = node->at.wheel.prev = node;
    put_slot(wheel, level, slot, node, true);
}

/* Adds a row to a slot that has some: at its end, or before the first where that keeps it sorted.
 */
static void add(const struct lapse_wheel *wheel, unsigned level, unsigned slot,
                struct lapse_node *node) {
    struct lapse_wheel_level *in = wheel->levels[level];
    struct lapse_node *first = in->first[slot];
    const struct lapse_node *last = first->at.wheel.prev;
    lapse_links_append(&first, node);
    if (!is_sorted(wheel, level, slot) || !lapse_heap_before(wheel->buckets, node, last)) {
        return;
    }
    if (lapse_heap_before(wheel->buckets, node, first)) {
        in->first[slot] = node;
    } else {
        in->sorted &= ~(UINT64_C(1) << slot);
    }
}

/* Empties a slot; its rows stay linked in their ring. */
static struct lapse_node *take_slot(struct lapse_wheel *wheel, unsigned level, unsigned slot) {
    struct lapse_wheel_level *in = wheel->levels[level];
    struct lapse_node *first = in->first[slot];
    in->first[slot] = NULL;
    in->used &= ~(UINT64_C(1) << slot);
    in->sorted &= ~(UINT64_C(1) << slot);
    if (in->used == 0) {
        wheel->used &= ~(1U << level);
    }
    return first;
}

/* Fills a slot that is empty. */
static void put_slot(struct lapse_wheel *wheel, unsigned level, unsigned slot,
                     struct lapse_node *ring, bool sorted) {
    struct lapse_wheel_level *in = wheel->levels[level];
    in->first[slot] = ring;
    in->used |= UINT64_C(1) << slot;
    in->sorted |= (sorted ? UINT64_C(1) : 0) << slot;
    wheel->used |= 1U << level;
}

/* Moves the position back. What differs from it now at a level where it did not before is what lies
 * below that level, all of which shares one slot there; beyond, it comes before what waits. The
 * rest of a slot stays what it is. */
static void go_back(struct lapse_wheel *wheel, uint64_t key) {
    unsigned level = level_for(wheel, key);
    unsigned slot = slot_of(wheel->at, level);
    struct lapse_node *all = lapse_runs_give_up(&wheel->runs);
    bool sorted = all == NULL;
    for (unsigned below = 0; below < level && below < wheel->level_count; below++) {
        while (wheel->levels[below]->used != 0) {
            unsigned from = lowest(wheel->levels[below]->used);
            sorted = sorted && is_sorted(wheel, below, from);
            lapse_links_join(&all, take_slot(wheel, below, from));
        }
    }
    wheel->at = key;
    if (all == NULL) {
        return;
    }
    if (wheel->levels[level]->first[slot] != NULL) {
        LAPSE_ASSERT(level == LAPSE_WHEEL_BEYOND);
        sorted = sorted && is_sorted(wheel, level, slot);
        lapse_links_join(&all, take_slot(wheel, level, slot));
    }
    put_slot(wheel, level, slot, all, sorted);
}

/* Goes on with what has been begun: the rest of a slot, the rows of an instant. True when it is
 * done. */
static bool finish_moves(struct lapse_wheel *wheel, size_t *work) {
    for (; wheel->rest != NULL; *work -= 1) {
        if (*work == 0) {
            return false;
        }
        file(wheel, lapse_links_pop(&wheel->rest));
    }
    if (!wheel->runs.active) {
        return true;
    }
    struct lapse_node *sorted = NULL;
    if (!lapse_runs_sort(&wheel->runs, wheel->buckets, work, &sorted)) {
        return false;
    }
    unsigned slot = slot_of(wheel->at, 0);
    if (wheel->levels[0]->first[slot] != NULL) {
        /* More rows of this instant have come meanwhile. */
        lapse_links_join(&sorted, take_slot(wheel, 0, slot));
        put_slot(wheel, 0, slot, sorted, false);
    } else if (sorted != NULL) {
        put_slot(wheel, 0, slot, sorted, true);
    }
    return true;
}

/* Begins to spread or to sort the lowest slot, which is not sorted, moving the position to where it
 * begins, or to its earliest end if that is near. False: no row in it has come. */
static bool open_slot(struct lapse_wheel *wheel, unsigned level, unsigned slot, uint64_t due,
                      size_t *work) {
    const struct lapse_node *first = wheel->levels[level]->first[slot];
    uint64_t to = slot_begin(wheel, level, slot);
    uint64_t least = to;
    size_t rows_max = level == LAPSE_WHEEL_BEYOND ? SIZE_MAX : SEARCHED_MAX;
    if (level > 0 && search(first, rows_max, &least, work)) {
        if (least > due) {
            return false;
        }
        to = least;
    }
    struct lapse_node *ring = take_slot(wheel, level, slot);
    wheel->at = to;
    if (level == 0) {
        lapse_runs_start(&wheel->runs, ring);
    } else {
        wheel->rest = ring;
    }
    return true;
}

/* The least end that a row in a slot that is not empty may have. */
static uint64_t slot_begin(const struct lapse_wheel *wheel, unsigned level, unsigned slot) {
    if (level == LAPSE_WHEEL_BEYOND) {
        return wheel->at;
    }
    unsigned below = level * LAPSE_WHEEL_BITS;
    return key_of(wheel->levels[level]->first[slot]) >> below << below;
}

/* The least end of a ring, and true; false when it has more rows. Takes off *work what it looked
 * at. */
static bool search(const struct lapse_node *first, size_t rows_max, uint64_t *ret, size_t *work) {
    uint64_t least = key_of(first);
    const struct lapse_node *node = first->at.wheel.next;
    size_t seen = 1;
    for (; node != first && seen < rows_max; node = node->at.wheel.next) {
        least = key_of(node) < least ? key_of(node) : least;
        seen++;
    }
    *work -= seen < *work ? seen : *work;
    if (node == first) {
        *ret = least;
    }
    return node == first;
}

/* The earliest end in a slot that is not empty, or an instant before it. */
static uint64_t earliest(const struct lapse_wheel *wheel, unsigned level, unsigned slot) {
    const struct lapse_node *first = wheel->levels[level]->first[slot];
    size_t rows_max = level == LAPSE_WHEEL_BEYOND ? SIZE_MAX : SEARCHED_MAX;
    size_t work = SIZE_MAX;
    uint64_t least = 0;
    if (is_sorted(wheel, level, slot)) {
        return key_of(first);
    }
    return search(first, rows_max, &least, &work) ? least : slot_begin(wheel, level, slot);
}

static bool is_sorted(const struct lapse_wheel *wheel, unsigned level, unsigned slot) {
    return (wheel->levels[level]->sorted >> slot & 1) != 0;
}

static enum lapse_status check_slot(const struct lapse_wheel *wheel, unsigned level, unsigned slot,
                                    size_t *count, struct lapse_error *err) {
    const struct lapse_node *first = wheel->levels[level]->first[slot];
    bool used = (wheel->levels[level]->used >> slot & 1) != 0;
    if (used != (first != NULL) || (is_sorted(wheel, level, slot) && !used)) {
        return lapse_error_set(err, LAPSE_BUG, "level %u is wrong about its slot %u (W2)", level,
                               slot);
    }
    bool sorted = is_sorted(wheel, level, slot);
    const struct lapse_node *node = first;
    while (node != NULL) {
        const struct lapse_node *next = node->at.wheel.next;
        uint64_t key = key_of(node);
        *count += 1;
        if (!linked(node) || key < wheel->at || level_in(wheel, key) != level ||
            slot_of(key, level) != slot) {
            return lapse_error_set(err, LAPSE_BUG,
                                   "a row in slot %u of level %u does not belong there (W1)", slot,
                                   level);
        }
        next = next == first ? NULL : next;
        if (sorted && next != NULL && !lapse_heap_before(wheel->buckets, node, next)) {
            return lapse_error_set(err, LAPSE_BUG,
                                   "slot %u of level %u is not in the order it is said to be (W3)",
                                   slot, level);
        }
        node = next;
    }
    return LAPSE_OK;
}

static enum lapse_status check_rest(const struct lapse_wheel *wheel, size_t *count,
                                    struct lapse_error *err) {
    const struct lapse_node *node = wheel->rest;
    while (node != NULL) {
        *count += 1;
        if (!linked(node) || key_of(node) < wheel->at) {
            return lapse_error_set(err, LAPSE_BUG,
                                   "a row that waits for its slot does not belong there (W4)");
        }
        node = node->at.wheel.next == wheel->rest ? NULL : node->at.wheel.next;
    }
    return LAPSE_OK;
}

static enum lapse_status check_runs(const struct lapse_wheel *wheel, size_t *count,
                                    struct lapse_error *err) {
    for (unsigned i = 0; wheel->runs.active && i < LAPSE_RUNS_COUNT; i++) {
        const struct lapse_node *first = wheel->runs.rings[i];
        const struct lapse_node *node = first;
        while (node != NULL) {
            const struct lapse_node *next = node->at.wheel.next;
            *count += 1;
            next = next == first ? NULL : next;
            bool late = i != LAPSE_RUNS_INPUT && next != NULL &&
                        !lapse_heap_before(wheel->buckets, node, next);
            if (!linked(node) || key_of(node) != wheel->at || late) {
                return lapse_error_set(err, LAPSE_BUG,
                                       "a row that is being sorted stands in the wrong run (W5)");
            }
            node = next;
        }
    }
    return LAPSE_OK;
}

/* Whether a row has an end on store time and a place in a ring. */
static bool linked(const struct lapse_node *node) {
    return node->placed && node->now.present && node->now.end_kind == LAPSE_END_STEADY &&
           node->at.wheel.next->at.wheel.prev == node;
}
