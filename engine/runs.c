/* The sort that can be left and taken up again. All it knows lies in its rings, so a row that
 * leaves has at most to be taken off the head of one. */
#include "runs.h"

#include "heap.h"
#include "links.h"

enum { BIN_LAST = LAPSE_RUNS_COUNT - LAPSE_RUNS_BINS - 1 };

static void merge_on(struct lapse_runs *runs, const struct lapse_buckets *buckets);
static void read_on(struct lapse_runs *runs, const struct lapse_buckets *buckets);
static void store_run(struct lapse_runs *runs);
static bool join_bins(struct lapse_runs *runs, struct lapse_node **ret_ring);

void lapse_runs_start(struct lapse_runs *runs, struct lapse_node *ring) {
    *runs = (struct lapse_runs){.active = true};
    runs->rings[LAPSE_RUNS_INPUT] = ring;
}

bool lapse_runs_sort(struct lapse_runs *runs, const struct lapse_buckets *buckets, size_t *work,
                     struct lapse_node **ret_ring) {
    LAPSE_ASSERT(runs->active);
    while (*work > 0) {
        *work -= 1;
        if (runs->merging) {
            merge_on(runs, buckets);
        } else if (runs->rings[LAPSE_RUNS_INPUT] != NULL) {
            read_on(runs, buckets);
        } else if (runs->rings[LAPSE_RUNS_OUT] != NULL) {
            store_run(runs);
        } else if (!join_bins(runs, ret_ring)) {
            runs->active = false;
            return true;
        }
    }
    return false;
}

void lapse_runs_skip(struct lapse_runs *runs, const struct lapse_node *node) {
    for (unsigned i = 0; i < LAPSE_RUNS_COUNT && !lapse_links_skip(&runs->rings[i], node); i++) {
    }
}

struct lapse_node *lapse_runs_give_up(struct lapse_runs *runs) {
    struct lapse_node *all = NULL;
    for (unsigned i = 0; runs->active && i < LAPSE_RUNS_COUNT; i++) {
        lapse_links_join(&all, runs->rings[i]);
    }
    runs->active = false;
    return all;
}

/* Moves the lesser of two first rows, or, when one run is used up, all that is left. */
static void merge_on(struct lapse_runs *runs, const struct lapse_buckets *buckets) {
    struct lapse_node **a = &runs->rings[LAPSE_RUNS_A];
    struct lapse_node **b = &runs->rings[LAPSE_RUNS_B];
    if (*a != NULL && *b != NULL) {
        struct lapse_node **lesser = lapse_heap_before(buckets, *b, *a) ? b : a;
        lapse_links_append(&runs->rings[LAPSE_RUNS_OUT], lapse_links_pop(lesser));
        return;
    }
    lapse_links_join(&runs->rings[LAPSE_RUNS_OUT], *a == NULL ? *b : *a);
    *a = *b = NULL;
    store_run(runs);
}

/* Moves the first row of the input, if it goes on the run that grows. */
static void read_on(struct lapse_runs *runs, const struct lapse_buckets *buckets) {
    struct lapse_node **input = &runs->rings[LAPSE_RUNS_INPUT];
    struct lapse_node **out = &runs->rings[LAPSE_RUNS_OUT];
    if (*out != NULL && lapse_heap_before(buckets, *input, (*out)->at.wheel.prev)) {
        store_run(runs);
        return;
    }
    lapse_links_append(out, lapse_links_pop(input));
}

/* Puts the run that has grown into its bin, or begins to merge it with the run that is there. */
static void store_run(struct lapse_runs *runs) {
    struct lapse_node **in = &runs->rings[LAPSE_RUNS_BINS + runs->bin];
    struct lapse_node *run = runs->rings[LAPSE_RUNS_OUT];
    runs->rings[LAPSE_RUNS_OUT] = NULL;
    runs->merging = *in != NULL;
    if (!runs->merging) {
        *in = run;
        runs->bin = 0;
        return;
    }
    runs->rings[LAPSE_RUNS_A] = *in;
    runs->rings[LAPSE_RUNS_B] = run;
    *in = NULL;
    runs->bin += runs->bin < BIN_LAST ? 1 : 0;
}

/* All has been read: begins to merge the two lowest runs. False: there is at most one, the result.
 */
static bool join_bins(struct lapse_runs *runs, struct lapse_node **ret_ring) {
    struct lapse_node *low = NULL;
    for (unsigned bin = 0; bin <= BIN_LAST; bin++) {
        struct lapse_node *run = runs->rings[LAPSE_RUNS_BINS + bin];
        if (run == NULL) {
            continue;
        }
        runs->rings[LAPSE_RUNS_BINS + bin] = NULL;
        if (low != NULL) {
            runs->rings[LAPSE_RUNS_A] = low;
            runs->rings[LAPSE_RUNS_B] = run;
            runs->bin = bin;
            runs->merging = true;
            return true;
        }
        low = run;
    }
    *ret_ring = low;
    return false;
}
