/* Timers of actors: what waits for a reading of an actor's steady clock. Each is an item of the
 * queue that carries the reading; when the clock is changed, its true time is worked out anew. A
 * reading that the clock never reaches, as it goes now, is due at INT64_MAX, which never comes. */
#ifndef SIM_TIMER_H
#define SIM_TIMER_H

#include "state.h"

/* What the actor's steady clock reads now; the same with a span added, at most INT64_MAX. */
int64_t lapse_sim_timer_now(const struct lapse_world *world, int32_t actor);
int64_t lapse_sim_timer_in(const struct lapse_world *world, int32_t actor, int64_t span_ns);
/* Makes an item (with its actor, kind and phase) due at a reading, which may be past: at, due and,
 * among what is under way, rank. */
void lapse_sim_timer_set(const struct lapse_world *world, struct lapse_queue_item *item,
                         int64_t reading_ns);
/* The actor's clock has been changed: its timers in the queue are set again. */
void lapse_sim_timer_reset_all(struct lapse_world *world, int32_t actor);

#endif
