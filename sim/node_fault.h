/* Faults of the store node: of its process and of its machine. */
#ifndef SIM_NODE_FAULT_H
#define SIM_NODE_FAULT_H

#include "state.h"

/* The FAULT step `step`, of the node, is due: its beginning, or the end of an earlier one. */
void lapse_sim_node_fault_step(struct lapse_world *world, int32_t step,
                               const struct lapse_plan_fault *fault);
/* One with `for:` ends. */
void lapse_sim_node_fault_end(struct lapse_world *world, const struct lapse_queue_item *item);

#endif
