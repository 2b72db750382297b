/* Private: a hierarchical timing wheel of the rows that end on store time.
 *
 * It has no clock: it holds ends and gives the first that has come. Rows are filed by the highest
 * group of six bits in which their end differs from the position, so level 0 tells apart single
 * nanoseconds and each level above 64 slots of the one below. A slot whose rows happen to stand in
 * the order of the reaper, as they do where all terms are alike, gives them as they are. Any other
 * is spread over lower levels when its time has come, and the rows of one instant are sorted; both
 * go on for as many moves of a row as the caller allows, and are taken up again where they were
 * left. So no call has to take long, however many rows there are. A row goes down at most one path
 * of levels. The position moves on to a slot when it is spread, and goes back, at the price of
 * joining slots, when a row comes that ends before it: a rollback may bring one back.
 *
 * Rows are linked through themselves, so filing one cannot fail. Levels are made when they are
 * first missed; until the next reserve the rows that miss one wait beyond, in a single slot.
 *
 * Invariants, walked by lapse_wheel_check:
 *   W1  a row stands in the slot that its end and the position name, but for W4 and W5; none ends
 *       before the position
 *   W2  a level knows which of its slots hold rows, the wheel which of its levels do
 *   W3  a slot marked as sorted stands in the order of the reaper
 *   W4  the rest of a slot that is being spread stands in no order
 *   W5  rows that are being sorted end at the position; each run is in order */
#ifndef ENGINE_WHEEL_H
#define ENGINE_WHEEL_H

#include "runs.h"

enum {
    LAPSE_WHEEL_BITS = 6,
    LAPSE_WHEEL_SLOTS = 64,
    LAPSE_WHEEL_LEVELS = 11,
    LAPSE_WHEEL_BEYOND = LAPSE_WHEEL_LEVELS /* of one slot: above all levels that there are */
};

struct lapse_wheel_level {
    uint64_t used, sorted; /* a bit for each slot */
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
    struct lapse_node *rest; /* of a slot that is being spread */
    struct lapse_runs runs;  /* the rows of one instant, while they are being sorted */
};

/* Room for any number of rows. False, nothing changed, when memory runs out. */
bool lapse_wheel_reserve(const lapse_alloc *alloc, struct lapse_wheel *wheel);
/* Needs reserved room; the row has a steady end. */
void lapse_wheel_insert(struct lapse_wheel *wheel, struct lapse_node *node);
void lapse_wheel_remove(struct lapse_wheel *wheel, struct lapse_node *node);
/* Finds the row that the reaper takes first of those that end at or before `due_ns`: *ret, NULL
 * when none has come. Takes off *work each row that it had to look at or to move for that. False:
 * *work has been used up before; the next call goes on. */
bool lapse_wheel_first(struct lapse_wheel *wheel, int64_t due_ns, size_t *work,
                       struct lapse_node **ret);
/* The earliest end, and true; false when there is no row. Where many rows stand in no order yet, it
 * is an instant before the earliest end; at it, lapse_wheel_first has something to do. */
bool lapse_wheel_min(const struct lapse_wheel *wheel, int64_t *ret);
/* Frees the levels, not the rows. */
void lapse_wheel_finish(const lapse_alloc *alloc, struct lapse_wheel *wheel);
enum lapse_status lapse_wheel_check(const struct lapse_wheel *wheel, struct lapse_error *err);

#endif
