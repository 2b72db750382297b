/* Private: a hierarchical timing wheel of the rows that end on store time.
 *
 * It has no clock: it holds ends and gives the first. Its position is an end that it has held; rows
 * are filed by the highest group of six bits in which their end differs from the position, so level
 * 0 tells apart single nanoseconds and each level above 64 slots of the one below. The position
 * goes on when the first row is asked for and goes back, at the price of joining slots, when a row
 * comes that ends before it: a rollback may bring one back. Rows are linked through themselves, so
 * filing one cannot fail. Levels are made when they are first missed; until the next reserve the
 * rows that miss one wait beyond, in a single slot.
 *
 * Invariants, walked by lapse_wheel_check:
 *   W1  a row stands in the slot that its end and the position name; none ends before the position
 *   W2  a level knows which of its slots hold rows, the wheel which of its levels do
 *   W3  a slot marked as ordered begins with a row of its earliest end; at level 0, where all its
 *       rows have one end, it is sorted by the order of the reaper */
#ifndef ENGINE_WHEEL_H
#define ENGINE_WHEEL_H

#include "node.h"

enum {
    LAPSE_WHEEL_BITS = 6,
    LAPSE_WHEEL_SLOTS = 64,
    LAPSE_WHEEL_LEVELS = 11,
    LAPSE_WHEEL_BEYOND = LAPSE_WHEEL_LEVELS /* of one slot: above all levels that there are */
};

struct lapse_wheel_level {
    uint64_t used, ordered; /* a bit for each slot */
    struct lapse_node *first[];
};

struct lapse_wheel {
    const struct lapse_buckets *buckets; /* for the order of names */
    struct lapse_wheel_level *levels[LAPSE_WHEEL_LEVELS + 1];
    unsigned level_count; /* made so far, from the lowest; 0 until first use */
    unsigned missed;      /* how many there should be */
    unsigned used;        /* a bit for each level */
    uint64_t at;          /* the position; the lowest end is 0 */
    size_t count;
};

/* Room for any number of rows. False, nothing changed, when memory runs out. */
bool lapse_wheel_reserve(const lapse_alloc *alloc, struct lapse_wheel *wheel);
/* Needs reserved room; the row has a steady end. */
void lapse_wheel_insert(struct lapse_wheel *wheel, struct lapse_node *node);
void lapse_wheel_remove(struct lapse_wheel *wheel, struct lapse_node *node);
/* The row that the reaper takes first, or NULL when there is none. A row goes down at most one path
 * of levels on its way here, unless rows that end earlier keep coming in between. */
struct lapse_node *lapse_wheel_first(struct lapse_wheel *wheel);
/* Finds the earliest end, so that lapse_wheel_min need not search. After removals, before asking.
 */
void lapse_wheel_settle(struct lapse_wheel *wheel);
/* The earliest end, and true; false when there is no row. */
bool lapse_wheel_min(const struct lapse_wheel *wheel, int64_t *ret);
/* Frees the levels, not the rows. */
void lapse_wheel_finish(const lapse_alloc *alloc, struct lapse_wheel *wheel);
enum lapse_status lapse_wheel_check(const struct lapse_wheel *wheel, struct lapse_error *err);

#endif
