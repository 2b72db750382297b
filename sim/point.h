/* Points: moments of a run that faults wait for.
 *
 * Whoever reaches such a moment says so; a fault that waits for it happens there and then, in the
 * middle of what is in hand, which goes on afterwards only as far as the fault has left it. Whoever
 * cannot be interrupted takes the two parts one by one: it notes the moment at once, and lets the
 * faults happen as soon as its own work is out of the way. A plan without such faults pays one
 * comparison. */
#ifndef SIM_POINT_H
#define SIM_POINT_H

#include "state.h"

/* The moment is here: notes it, and lets happen what waits for it. `step` is that of a call (SENT
 * to REPLIED) and `node` a node's number (SYNC to EXPIRE); the other is -1. */
void lapse_sim_point_reached(struct lapse_world *world, enum lapse_point_kind kind, int32_t step,
                             int32_t node);
/* Notes the moment alone. Whether some fault is due by it. */
bool lapse_sim_point_note(struct lapse_world *world, enum lapse_point_kind kind, int32_t step,
                          int32_t node);
/* Lets happen, in file order, all that moments noted have made due. */
void lapse_sim_point_fire(struct lapse_world *world);

/* The table of a plan's points; false: memory ran out. */
bool lapse_sim_point_open(struct lapse_world *world);

#endif
