/* The store node: calls are decided, its housekeeping runs. */
#ifndef SIM_NODE_H
#define SIM_NODE_H

#include "state.h"

/* A call has arrived: it is decided, or waits while the node is held, or finds the process down. */
void lapse_sim_node_request(struct lapse_world *world, const struct lapse_queue_item *item);
/* Housekeeping is due. */
void lapse_sim_node_housekeep(struct lapse_world *world);
/* An operator's `reap` is due: all that has ended goes. It waits while the node is held. */
void lapse_sim_node_reap(struct lapse_world *world, const struct lapse_queue_item *item);
/* An operator's `revoke` is due: the lease is released, whoever holds it. It waits as well. */
void lapse_sim_node_revoke(struct lapse_world *world, const struct lapse_queue_item *item);
/* The node is held no more: housekeeping first, then what waits, oldest first. */
void lapse_sim_node_wake(struct lapse_world *world);
/* Whether its process is paused or hangs, or its machine sleeps. */
bool lapse_sim_node_held(const struct lapse_world *world);
/* Whether the reason of a node's item is gone. */
bool lapse_sim_node_stale(const struct lapse_world *world, const struct lapse_queue_item *item);
/* Puts housekeeping into the queue where the store, on the clock as it is now, wants it. */
void lapse_sim_node_schedule(struct lapse_world *world);
/* The first true time at which either of the node's clocks has reached its due; INT64_MAX: none
 * is due, or a clock that stands still never reaches it. */
int64_t lapse_sim_node_due(const struct lapse_world *world, const struct lapse_due *due);
/* Tells what it had done when it stopped, and could not tell then. */
void lapse_sim_node_tell(struct lapse_world *world);
/* Whether a fault of its disk, or a crash in the midst of it, explains that the store gives
 * this. */
bool lapse_sim_node_excuses(const struct lapse_world *world, enum lapse_status status);
/* After whatever the store has done: a sync that hangs stops its process, and a crash that was
 * placed inside it comes now. */
void lapse_sim_node_after(struct lapse_world *world);

#endif
