/* Private: the way from the start to a state, told with names that stay. */
#ifndef EXPLORE_TRACE_H
#define EXPLORE_TRACE_H

#include "set.h"

/* Writes the moves to the state at `at`, and then `last`, into *ret (but not what was found). OK,
 * NOMEM, BUG. */
enum lapse_status lapse_explore_trace(const lapse_alloc *alloc, const struct mover *mover,
                                      const struct set *set, size_t at, move_code last,
                                      struct lapse_explore_found *ret, struct lapse_error *err);
void lapse_explore_trace_free(const lapse_alloc *alloc, struct lapse_explore_found *found);

#endif
