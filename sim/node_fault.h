/* Faults of the store node: of its process and of its machine. Those of its disk are in
 * disk_fault.h. */
#ifndef SIM_NODE_FAULT_H
#define SIM_NODE_FAULT_H

#include "state.h"

/* The FAULT step `step`, of the node, is due: its beginning, or the end of an earlier one. */
void lapse_sim_node_fault_step(struct lapse_world *world, int32_t step,
                               const struct lapse_plan_fault *fault);
/* One with `for:` ends. */
void lapse_sim_node_fault_end(struct lapse_world *world, const struct lapse_queue_item *item);

/* The process, or its machine, crashes, by a fault of kind CRASH; of kind RESTART it starts again
 * at once. */
void lapse_sim_node_fall(struct lapse_world *world, int32_t step,
                         const struct lapse_plan_fault *fault);
/* Begins a stop of the node, or makes it longer. */
void lapse_sim_node_stop(struct lapse_world *world, int32_t step, enum lapse_fault_kind kind,
                         int64_t until_ns);

#endif
