/* Opening a world: is the plan sound, where does everything lie, what is due first. */
#ifndef SIM_OPEN_H
#define SIM_OPEN_H

#include "state.h"

/* Whether indices of the plan lie in their ranges. OK or INVALID. */
enum lapse_status lapse_sim_plan_check(const struct lapse_plan *plan, struct lapse_error *err);

#endif
