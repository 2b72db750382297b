/* The store node: an engine in the arena on a clock of its own, its housekeeping and its watchers.
 */
#ifndef SIM_NODE_H
#define SIM_NODE_H

#include "state.h"

/* Opens the store with the plan's buckets. OK, NOMEM, INVALID (a bucket is not one). */
enum lapse_status lapse_sim_node_open(struct lapse_world *world, struct lapse_error *err);
/* A call has arrived: it is decided, or waits while the node is paused. */
void lapse_sim_node_request(struct lapse_world *world, const struct lapse_queue_item *item);
/* Housekeeping is due. */
void lapse_sim_node_housekeep(struct lapse_world *world);
/* The node wakes: housekeeping first, then what waits, oldest first. */
void lapse_sim_node_wake(struct lapse_world *world);
/* A store equal to the node's, at this instant, for observers; NULL: the world has failed. */
struct lapse *lapse_sim_node_fork(struct lapse_world *world);
/* The fields of a result as an answer; bytes are borrowed. */
struct lapse_answer lapse_sim_node_answer(const struct lapse_result *result);

#endif
