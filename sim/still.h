/* Keys that stand still: a strand waits until the revision of a key, or its absence, has not
 * changed for a span of the actor's own time. It looks at each change, and makes no calls. */
#ifndef SIM_STILL_H
#define SIM_STILL_H

#include "task.h"

/* Begins an UNCHANGED of a strand's current line. */
enum lapse_sim_flow lapse_sim_still_begin(struct lapse_world *world, int32_t strand);
/* STILL: the span may be over, or the key may have ended. */
void lapse_sim_still_event(struct lapse_world *world, int32_t strand);
/* The store has decided, opened, or had its clock moved: all who wait look, but for those that are
 * held, who look when they wake. */
void lapse_sim_still_look(struct lapse_world *world);

#endif
