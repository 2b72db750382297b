/* Tasks: strands of lines and how they go on, stop and end. */
#ifndef SIM_TASK_H
#define SIM_TASK_H

#include "state.h"

/* What a strand does after a line. */
enum lapse_sim_flow {
    LAPSE_FLOW_ON = 0, /* the line is done: the next one */
    LAPSE_FLOW_WAIT,   /* something in the queue goes on with it */
    LAPSE_FLOW_SKIP,   /* leaves the body: the next firing */
    LAPSE_FLOW_ENDS,   /* the loop is over: its `until` came */
    LAPSE_FLOW_STOPPED /* the strand does not run any more */
};

/* Begins all tasks of an actor: at the start of the run, and as a new incarnation. */
void lapse_sim_task_begin_all(struct lapse_world *world, int32_t actor);
/* The current line of the strand is due: runs it and what follows at once. */
void lapse_sim_task_run(struct lapse_world *world, int32_t strand, int64_t due_ns);
/* A loop fires: its body runs from its first line. */
void lapse_sim_task_run_body(struct lapse_world *world, int32_t strand, int64_t due_ns);
/* Goes on after a line. */
void lapse_sim_task_go_on(struct lapse_world *world, int32_t strand, enum lapse_sim_flow flow);
/* Of a paused actor: the strand, between two lines, goes on at its wake. Whether it is paused. */
bool lapse_sim_task_hold(struct lapse_world *world, int32_t strand);
/* A strand has run its last line or firing. */
void lapse_sim_task_strand_over(struct lapse_world *world, int32_t strand);
/* What an answer to the strand's current line makes it do. */
enum lapse_sim_flow lapse_sim_task_answered(struct lapse_world *world, int32_t strand,
                                            const struct lapse_plan_step *step, int32_t n, int verb,
                                            const struct lapse_answer *answer);
/* Stops one task with its loops, or (task -1) all of an actor. */
void lapse_sim_task_stop(struct lapse_world *world, int32_t actor, int32_t task);
/* Ends every strand of an actor without a word: a crash. */
void lapse_sim_task_kill_all(struct lapse_world *world, int32_t actor);
/* The number that `$n` and events show for a strand's current line: which of its own `times`, else
 * which firing of its loop; 0: neither. */
int32_t lapse_sim_task_n(const struct lapse_world *world, int32_t strand);
/* The plan step of its current line. */
int32_t lapse_sim_task_step(const struct lapse_world *world, int32_t strand);
/* A queue item of the strand's present generation, at `at_ns`. */
struct lapse_queue_item lapse_sim_task_item(const struct lapse_world *world, int32_t strand,
                                            enum lapse_queue_kind kind, int64_t at_ns,
                                            enum lapse_queue_phase phase);

#endif
