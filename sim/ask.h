/* An acquire that waits: after `held` it asks again each `retry` until `wait` has passed. Each ask
 * is a call of its own; the line has one answer, that of the last, or `timed_out`. */
#ifndef SIM_ASK_H
#define SIM_ASK_H

#include "state.h"

/* A strand's line is sent: the first time, its wait begins. */
void lapse_sim_ask_begin(struct lapse_world *world, int32_t strand,
                         const struct lapse_plan_call *call);
/* Whether the answer is not the line's: it asks again, or gives up. */
bool lapse_sim_ask_waits(const struct lapse_world *world, const struct lapse_sim_call *call);
/* After such an answer: sets when it does. */
void lapse_sim_ask_again(struct lapse_world *world, const struct lapse_sim_call *call);
/* ASK: it does. */
void lapse_sim_ask_event(struct lapse_world *world, const struct lapse_queue_item *item);
/* True time at which the line of a call was first sent. */
int64_t lapse_sim_ask_since(const struct lapse_world *world, const struct lapse_sim_call *call);

#endif
