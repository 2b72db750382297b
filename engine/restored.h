/* Private: opening an old copy of a store. */
#ifndef ENGINE_RESTORED_H
#define ENGINE_RESTORED_H

#include "handle.h"

/* Moves all numbers up, durably, and holds events of ends back. No number of the lost store lies
 * above `above`; 0: not known. OK, INVALID (below 0), RANGE, or a fault of a commit. */
enum lapse_status lapse_restored_begin(struct lapse *store, int64_t above,
                                       struct lapse_error *err);
/* The revision above which those of a new bucket begin: a bucket of that name may have been made,
 * and lost, after the copy. 0 unless the store was restored. */
int64_t lapse_restored_floor(const struct lapse_state *state);

#endif
