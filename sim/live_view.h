/* The store's rows beside the model's, where the plan asks for it. */
#ifndef SIM_LIVE_VIEW_H
#define SIM_LIVE_VIEW_H

#include "state.h"

/* After a call or housekeeping was told: compares all that the store holds with what the model
 * does, and hands a difference to the judge as a violation of LIN-01. Nothing without a judge, or
 * after a fault, which may have left the store as it was or not. */
void lapse_sim_live_view_compare(struct lapse_world *world);

#endif
