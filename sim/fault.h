/* Faults: pauses, sleeps, crashes and restarts of actors; those of the store node go on to
 * node_fault.h, those of clocks to clock_fault.h. */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include "state.h"

/* The FAULT step `step` is due: its beginning, or the end of an earlier one. */
void lapse_sim_fault_step(struct lapse_world *world, int32_t step);
/* As above for a fault that no line tells (step -1): one drawn by chance. */
void lapse_sim_fault_do(struct lapse_world *world, int32_t step,
                        const struct lapse_plan_fault *fault);
/* A pause, suspend, freeze or crash with `for:` ends. */
void lapse_sim_fault_end(struct lapse_world *world, const struct lapse_queue_item *item);
/* Which of the stops of an actor or of the node a kind of fault is. */
enum lapse_sim_stop lapse_sim_fault_stop(enum lapse_fault_kind kind);
/* Whether any of so many stops is on. */
bool lapse_sim_fault_stopped(const struct lapse_sim_hold *stops, size_t count);
/* Whether what a WAKE of an actor would end has ended, or goes on for longer. */
bool lapse_sim_fault_wake_stale(const struct lapse_sim_actor *actor,
                                const struct lapse_queue_item *item);
/* The true time at which a fault with `for:` ends; INT64_MAX: not by itself. */
int64_t lapse_sim_fault_until(const struct lapse_world *world,
                              const struct lapse_plan_fault *fault);
/* The first incarnation of an actor, and each later one: owner text, clocks and tasks. */
void lapse_sim_fault_incarnate(struct lapse_world *world, int32_t actor);

#endif
