/* Observers: what can be seen without disturbing anything. They look at forks of the store. */
#ifndef SIM_PROBE_H
#define SIM_PROBE_H

#include "state.h"

/* Looks as PROBE step `step` says and writes the PROBE event. */
void lapse_sim_probe_look(struct lapse_world *world, int32_t step);

#endif
