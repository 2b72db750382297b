/* Private: the set of states that have been seen, in the order of finding, each with the state and
 * the move that led to it. Breadth first search walks over it while it grows. */
#ifndef EXPLORE_SET_H
#define EXPLORE_SET_H

#include "move.h"

struct set {
    const lapse_alloc *alloc;
    size_t words; /* of a state */
    uint64_t bytes_max;
    uint64_t *states;
    uint32_t *parents; /* of the first, itself */
    move_code *moves;
    size_t count, cap;
    uint32_t *table;  /* open addressing: 1 + place; 0: free */
    size_t table_cap; /* a power of two */
    uint64_t digest;
};

void lapse_explore_set_init(struct set *set, const lapse_alloc *alloc, size_t words,
                            uint64_t bytes_max);
void lapse_explore_set_finish(struct set *set);
/* States about to be put in. They are looked up together, so that memory answers for all of them
 * while it would for one. */
enum { BATCH_MAX = 32 };
struct batch {
    size_t count;
    uint32_t parent;
    uint64_t states[BATCH_MAX][WORDS_MAX];
    uint64_t hashes[BATCH_MAX];
    move_code moves[BATCH_MAX];
};

/* Adds the state in batch->states[batch->count] to a batch that is not full. */
void lapse_explore_set_batch(const struct set *set, struct batch *batch, move_code move);
/* Puts the states of a batch in that are not there, in their order, and empties it. OK; LIMIT: the
 * bound on memory; NOMEM. */
enum lapse_status lapse_explore_set_add(struct set *set, struct batch *batch);
static inline const uint64_t *lapse_explore_set_at(const struct set *set, size_t i) {
    return &set->states[i * set->words];
}

#endif
