/* Awaits: lines that wait for a name to be bound, or for an event of the actor's own watch. */
#ifndef SIM_AWAIT_H
#define SIM_AWAIT_H

#include "task.h"

/* Begins the AWAIT step of a strand's current line. */
enum lapse_sim_flow lapse_sim_await_begin(struct lapse_world *world, int32_t strand);
/* A name was bound: strands that wait for it go on. */
void lapse_sim_await_bound(struct lapse_world *world);
/* An event was handed to an actor's watch: strands that wait for it go on. */
void lapse_sim_await_delivered(struct lapse_world *world, int32_t actor,
                               const struct lapse_event *event);
/* Whether housekeeping alone can still bring what a strand waits for: the marker of a key that has
 * a term, to an actor that watches and runs. */
bool lapse_sim_await_hopes(const struct lapse_world *world);

#endif
