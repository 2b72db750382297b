/* Guarded resources: what takes writes with fencing tokens. */
#ifndef SIM_RESOURCE_H
#define SIM_RESOURCE_H

#include "state.h"

/* Decides a WRITE or READ: writes the RESOURCE event and fills call->answer. */
void lapse_sim_resource_decide(struct lapse_world *world, struct lapse_sim_call *call);
/* What a READ answers now. */
struct lapse_answer lapse_sim_resource_read(const struct lapse_world *world, int32_t resource);

#endif
