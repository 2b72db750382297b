/* The calls inside a batch, looked at one by one: each is the act, the grant or the renewal that it
 * would be alone. */
#ifndef SIM_MEMBER_H
#define SIM_MEMBER_H

#include "state.h"

/* How many calls a batch holds; 0 for any other call. */
size_t lapse_sim_member_count(const struct lapse_sim_call *call);
/* Call `index` of a batch, told apart: its own request, plan words, and, once the batch has been
 * answered, its own answer. It is a copy; its bytes are those of the batch. */
struct lapse_sim_call lapse_sim_member_at(const struct lapse_sim_call *call, size_t index);
/* The plan's words for a call, or for one inside a batch; NULL: the step is no call. */
const struct lapse_plan_call *lapse_sim_member_plan(const struct lapse_world *world,
                                                    const struct lapse_sim_call *call);
/* Notes that call `index` of an accepted batch made its client the creator of a lock key. */
void lapse_sim_member_grant(struct lapse_world *world, struct lapse_sim_call *call, size_t index);

#endif
