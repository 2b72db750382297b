/* Faults: pauses of actors and of the store node, crashes and restarts of actors. */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include "state.h"

/* The FAULT step `step` is due: its beginning, or the end of an earlier one. */
void lapse_sim_fault_step(struct lapse_world *world, int32_t step);
/* A pause or crash with `for:` ends. */
void lapse_sim_fault_end(struct lapse_world *world, const struct lapse_queue_item *item);
/* The first incarnation of an actor, and each later one: owner text, clocks and tasks. */
void lapse_sim_fault_incarnate(struct lapse_world *world, int32_t actor);

#endif
