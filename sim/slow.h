/* Who lives, but late: starved tasks, slow actors, a slow node. */
#ifndef SIM_SLOW_H
#define SIM_SLOW_H

#include "state.h"

/* A STARVE or SLOW begins, or what stands of either is ended. */
void lapse_sim_slow_fault_step(struct lapse_world *world, int32_t step,
                               const struct lapse_plan_fault *fault);
/* One with `for:` ends; whether it has been ended, or made longer, before. */
void lapse_sim_slow_fault_end(struct lapse_world *world, const struct lapse_queue_item *item);
bool lapse_sim_slow_stale(const struct lapse_world *world, const struct lapse_queue_item *item);
/* A process that crashes is starved no more, nor slow. actor -1: the node's. */
void lapse_sim_slow_crashed(struct lapse_world *world, int32_t actor, int32_t step);
/* Keeps back what comes due for a starved task, if it is one of its timers. */
bool lapse_sim_slow_parks(struct lapse_world *world, const struct lapse_queue_item *item);
/* How long an actor needs for work of this span. */
int64_t lapse_sim_slow_work(const struct lapse_world *world, int32_t actor, int64_t span_ns);

#endif
