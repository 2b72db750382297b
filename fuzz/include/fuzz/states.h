/* Abstract states: what a run has shown, with numbers and names left out.
 *
 * * Each event of a history is seen as what a person would say of it: which call got which
 * answer, how near the end of what it is about, what was done to that last, and which faults
 * were on. A run that shows a new one is worth changing further. Sets of states are sets of
 * digests. */
#ifndef FUZZ_STATES_H
#define FUZZ_STATES_H

#include "contracts/history.h"

struct lapse_states {
    const lapse_alloc *alloc;
    uint64_t *slots; /* hash table, at most half full; 0: free */
    size_t count, cap;
};
void lapse_states_init(struct lapse_states *states, const lapse_alloc *alloc);
void lapse_states_free(struct lapse_states *states);
bool lapse_states_has(const struct lapse_states *states, uint64_t state);
/* Adds one; *ret_new: it was not there. False: memory ran out. */
bool lapse_states_add(struct lapse_states *states, uint64_t state, bool *ret_new);

/* Adds those of a history to `ret` that `known` has not. False: memory ran out. */
bool lapse_states_collect(const struct lapse_history *history, const struct lapse_states *known,
                          struct lapse_states *ret);

/* ---- The same in their order, one an event, each with what it was seen from. */
struct lapse_moment {
    const struct lapse_history_event *event;
    const struct lapse_history_event *invoke; /* of a decision; else NULL */
    uint64_t near;   /* how a decision lies to the end of what it is about */
    uint32_t last;   /* what was decided about that before: verb and status; 0: nothing */
    bool live, own;  /* it was there after that; that was asked for by the same client */
    uint32_t faults; /* that are on */
};
void lapse_states_trail(const struct lapse_history *history,
                        void (*seen)(void *ctx, uint64_t state, const struct lapse_moment *moment),
                        void *ctx);
/* states_tell.c: what a moment is, in words, by pieces. */
void lapse_moment_tell(const struct lapse_moment *moment, void (*put)(void *ctx, const char *text),
                       void *ctx);

#endif
