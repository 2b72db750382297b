/* Loops: `every` on a fixed grid, `gap` after the body. */
#ifndef SIM_LOOP_H
#define SIM_LOOP_H

#include "task.h"

/* Begins the LOOP step of a strand's current line. */
enum lapse_sim_flow lapse_sim_loop_begin(struct lapse_world *world, int32_t strand);
/* TICK or UNTIL. */
void lapse_sim_loop_event(struct lapse_world *world, const struct lapse_queue_item *item);
/* The body has run: the next firing is set, or the loop is over. */
void lapse_sim_loop_body_over(struct lapse_world *world, int32_t strand);

/* The actor's clock has been changed: a TICK or UNTIL that waits is set again, where it lies. */
void lapse_sim_loop_reset(const struct lapse_world *world, struct lapse_queue_item *item);

#endif
