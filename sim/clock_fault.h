/* Clocks of machines as the plan sets and moves them. */
#ifndef SIM_CLOCK_FAULT_H
#define SIM_CLOCK_FAULT_H

#include "state.h"

/* Before the store opens: every clock at its start. */
void lapse_sim_clock_start(struct lapse_world *world);
/* After BEGIN: tells of each clock that does not start as a plain one does. */
void lapse_sim_clock_tell_starts(struct lapse_world *world);
/* A CLOCK fault of the plan step `step` is due (-1: drawn by chance, and without `for:`); its
 * `for:` is over. */
void lapse_sim_clock_fault_do(struct lapse_world *world, int32_t step,
                              const struct lapse_plan_fault *fault);
void lapse_sim_clock_fault_end(struct lapse_world *world, int32_t step);
/* Whether the end of a change is none any more: the clock has been given another rate, and been
 * stopped or let go on, since. */
bool lapse_sim_clock_fault_stale(const struct lapse_world *world, int32_t step);
/* The clock of a party, which must be one of the plan's. */
struct lapse_sim_clock *lapse_sim_clock_of(const struct lapse_world *world,
                                           struct lapse_party whose);
/* A clock of this party has changed: what waits for a reading of it is due anew. */
void lapse_sim_clock_changed(struct lapse_world *world, struct lapse_party whose);

#endif
