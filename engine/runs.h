/* Private: a merge sort of a ring of rows that end at one instant, in pieces as small as one likes:
 * a million of them are put in the order of the reaper without holding the store up. Rows may leave
 * while it goes on. It needs no memory: runs that are in order are rings, and the bins hold one run
 * of about each power of two of the least.
 *
 * Cost: n rows in r runs take about n * (1 + log2(r)) moves of one row. Rows mostly come in order
 * already, and are one run. */
#ifndef ENGINE_RUNS_H
#define ENGINE_RUNS_H

#include "node.h"

enum {
    LAPSE_RUNS_INPUT, /* not looked at */
    LAPSE_RUNS_A,     /* what is left of two runs that are merged */
    LAPSE_RUNS_B,
    LAPSE_RUNS_OUT, /* the run that grows: out of the input, or out of both */
    LAPSE_RUNS_BINS,
    LAPSE_RUNS_COUNT = LAPSE_RUNS_BINS + 20
};

struct lapse_runs {
    bool active;
    bool merging;
    unsigned bin; /* where the run that grows belongs */
    struct lapse_node *rings[LAPSE_RUNS_COUNT];
};

/* Takes over a ring. */
void lapse_runs_start(struct lapse_runs *runs, struct lapse_node *ring);
/* Goes on for at most *work moves, which it takes off. True when it is done: *ret_ring, NULL when
 * all rows have left, is in order, and `runs` holds nothing any more. */
bool lapse_runs_sort(struct lapse_runs *runs, const struct lapse_buckets *buckets, size_t *work,
                     struct lapse_node **ret_ring);
/* Forgets a row that is about to leave, if a ring here begins with it. */
void lapse_runs_skip(struct lapse_runs *runs, const struct lapse_node *node);
/* Gives all rows back in no order; NULL when there are none. */
struct lapse_node *lapse_runs_give_up(struct lapse_runs *runs);

#endif
