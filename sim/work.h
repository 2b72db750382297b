/* Work: running time that a task spends. A pause stretches it; work under a grant ends early, too
 * late, when the belief ends or a careful client's deadline comes. */
#ifndef SIM_WORK_H
#define SIM_WORK_H

#include "task.h"

/* Begins the WORK step of a strand's current line. */
enum lapse_sim_flow lapse_sim_work_begin(struct lapse_world *world, int32_t strand, int64_t due_ns);
/* The same for a client program, which waits: tied to the grant with this token, or not. */
void lapse_sim_work_spend(struct lapse_world *world, int32_t strand, struct lapse_span span,
                          bool tied, int64_t token);
/* WORK_END, WORK_LOOK or WORK_CUT. */
void lapse_sim_work_event(struct lapse_world *world, const struct lapse_queue_item *item);
/* An actor wakes: its work goes on for what was left when it was paused. */
void lapse_sim_work_stretch(struct lapse_world *world, int32_t actor);
/* What is left of an actor's work takes `factor` times as long, where it took `before` times. */
void lapse_sim_work_pace(struct lapse_world *world, int32_t actor, int32_t factor, int32_t before);
/* A belief has ended: work under it ends at this instant. */
void lapse_sim_work_cut(struct lapse_world *world, int32_t actor,
                        const struct lapse_sim_grant *grant);

#endif
