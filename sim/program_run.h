/* Client programs as the world runs them. What programs themselves may do is in sim/program.h. */
#ifndef SIM_PROGRAM_RUN_H
#define SIM_PROGRAM_RUN_H

#include "sim/program.h"
#include "task.h"

/* The table of a plan's programs; false: memory ran out. */
bool lapse_sim_program_open(struct lapse_world *world);
/* The strand's line is a program: it begins, with fresh state. */
enum lapse_sim_flow lapse_sim_program_begin(struct lapse_world *world, int32_t strand);
/* A call of a program has its answer. */
void lapse_sim_program_replied(struct lapse_world *world, const struct lapse_sim_call *call);
/* The work of a program's strand is over. */
void lapse_sim_program_worked(struct lapse_world *world, int32_t strand, enum lapse_status status);
/* A timer of a program fires; whether it was set anew, or stopped, since. */
void lapse_sim_program_fired(struct lapse_world *world, const struct lapse_queue_item *item);
bool lapse_sim_program_stale(const struct lapse_world *world, const struct lapse_queue_item *item);
/* An actor was handed an event of one of its watches. */
void lapse_sim_program_told(struct lapse_world *world, int32_t actor,
                            const struct lapse_event *event);
/* Whether the strand runs a program. */
bool lapse_sim_program_is(const struct lapse_world *world, int32_t strand);

#endif
