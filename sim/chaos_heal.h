/* The end of all faults: what chaos has drawn, and what lines of the plan have brought. */
#ifndef SIM_CHAOS_HEAL_H
#define SIM_CHAOS_HEAL_H

#include "state.h"

/* Nobody stands still, is down, starves or is slow; every link is whole; the disk is well, and a
 * store that a failed sync has shut is opened again; every clock runs at the rate of its start.
 * Walls stay where they are: a wall that is off is no fault that ends. */
void lapse_sim_chaos_heal(struct lapse_world *world);

#endif
