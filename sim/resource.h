/* Guarded resources: where writes under a token are taken or refused. */
#ifndef SIM_RESOURCE_H
#define SIM_RESOURCE_H

#include "state.h"

/* Decides a WRITE or READ and tells it; the answer is in call->answer. */
void lapse_sim_resource_decide(struct lapse_world *world, struct lapse_sim_call *call);
/* What a read of it would be answered now. */
struct lapse_answer lapse_sim_resource_read(const struct lapse_world *world, int32_t resource);
/* The store has decided a call: resources that serve one lease know its tokens. */
void lapse_sim_resource_granted(struct lapse_world *world, const struct lapse_sim_call *call);
/* The token of a lease's live grant, seen on a fork; false: nobody holds it, or the store is
 * down. */
bool lapse_sim_resource_holder(struct lapse_world *world, struct lapse_bytes name,
                               int64_t *ret_token);

#endif
