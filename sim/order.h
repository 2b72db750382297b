/* The order of what is due at one instant, where a run is to take any of them. */
#ifndef SIM_ORDER_H
#define SIM_ORDER_H

#include "state.h"

/* Takes an item out of the queue that may come next: the first, or one that chance puts before it.
 * Only what is due at the same instant and in the same phase changes places, and only under way and
 * among steps; what concerns one actor keeps its order, and nothing passes what looks (an observer)
 * or works for all (housekeeping, an operator). `stale` tells items that count for nothing. The
 * queue must not be empty, and its first item not stale. */
struct lapse_queue_item lapse_sim_order_take(struct lapse_world *world,
                                             bool (*stale)(const struct lapse_world *world,
                                                           const struct lapse_queue_item *item));

#endif
