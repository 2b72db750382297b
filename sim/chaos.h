/* Faults drawn by chance: `chaos:` of a plan.
 *
 * A run first draws which kinds of fault it has and how often one comes, so that some runs have one
 * kind alone and others all of them. Then it draws each fault as its instant comes, half of them
 * about the deadlines that clients act by and the ends of terms. At `stop_at` all faults end, also
 * those that lines of the plan have brought (chaos_heal.h). Choices: 0 always means no fault, or
 * the smallest. */
#ifndef SIM_CHAOS_H
#define SIM_CHAOS_H

#include "state.h"

/* Draws the run's kinds, and puts the first fault and the end of all into the queue. */
void lapse_sim_chaos_begin(struct lapse_world *world);
/* The next fault is due, or the end of all. */
void lapse_sim_chaos_event(struct lapse_world *world);

#endif
