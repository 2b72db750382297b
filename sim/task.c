/* Strands of lines. A line that is due at once runs within what runs now; any other wait is an item
 * of the queue with the strand's generation, so that whatever stops a strand makes its timers stale
 * by counting up. */
#include "task.h"

#include "await.h"
#include "belief.h"
#include "client.h"
#include "loop.h"
#include "program_run.h"
#include "timer.h"
#include "work.h"
#include "world_events.h"

static void begin(struct lapse_world *world, int32_t task);
static size_t line_count(const struct lapse_world *world, int32_t strand);
static bool next_line(struct lapse_world *world, int32_t strand, enum lapse_sim_flow flow);
static bool due_at_once(struct lapse_world *world, int32_t strand, bool begins, int64_t *ret_due);
static int64_t jitter(struct lapse_world *world, const struct lapse_when *when, int32_t step);
static enum lapse_sim_flow start_line(struct lapse_world *world, int32_t strand, int64_t due_ns);
static struct lapse_action action_for(struct lapse_world *world, int32_t strand,
                                      const struct lapse_plan_step *step, int32_t n, int verb,
                                      const struct lapse_answer *answer, bool *ret_need_failed);
static bool need_met(const struct lapse_world *world, int32_t actor,
                     const struct lapse_plan_step *step, int32_t n, int verb,
                     const struct lapse_answer *answer);
static bool until_came(const struct lapse_world *world, int32_t strand,
                       const struct lapse_answer *answer);
static void tell_if_stopped(struct lapse_world *world, int32_t actor);

void lapse_sim_task_begin_all(struct lapse_world *world, int32_t actor) {
    for (size_t i = 0; i < world->plan->task_count; i++) {
        if (world->plan->tasks[i].actor == actor) {
            world->tasks[i].stopped = false;
            begin(world, (int32_t)i);
        }
    }
}

void lapse_sim_task_run(struct lapse_world *world, int32_t strand, int64_t due_ns) {
    lapse_sim_task_go_on(world, strand, start_line(world, strand, due_ns));
}

void lapse_sim_task_run_body(struct lapse_world *world, int32_t strand, int64_t due_ns) {
    int64_t line_due = due_ns;
    if (due_at_once(world, strand, false, &line_due)) {
        lapse_sim_task_run(world, strand, due_ns);
    }
}

void lapse_sim_task_go_on(struct lapse_world *world, int32_t strand, enum lapse_sim_flow flow) {
    while (next_line(world, strand, flow)) {
        int64_t due = 0;
        if (!due_at_once(world, strand, false, &due)) {
            return;
        }
        flow = start_line(world, strand, due);
    }
}

bool lapse_sim_task_hold(struct lapse_world *world, int32_t strand) {
    struct lapse_sim_strand *held = &world->strands[strand];
    if (!world->actors[held->actor].paused) {
        return false;
    }
    held->wait = LAPSE_WAIT_TIMER;
    struct lapse_queue_item item = lapse_sim_task_item(world, strand, LAPSE_QUEUE_AWAITED,
                                                       world->now.ns, LAPSE_PHASE_UNDER_WAY);
    lapse_world_push(world, &item);
    return true;
}

void lapse_sim_task_strand_over(struct lapse_world *world, int32_t strand) {
    struct lapse_sim_strand *over = &world->strands[strand];
    over->running = false;
    over->wait = LAPSE_WAIT_NONE;
    over->gen++;
    if (over->parent >= 0 && world->strands[over->parent].wait == LAPSE_WAIT_LOOP) {
        lapse_sim_task_go_on(world, over->parent, LAPSE_FLOW_ON);
    }
    tell_if_stopped(world, over->actor);
}

enum lapse_sim_flow lapse_sim_task_answered(struct lapse_world *world, int32_t strand,
                                            const struct lapse_plan_step *step, int32_t n, int verb,
                                            const struct lapse_answer *answer) {
    const struct lapse_sim_strand *of = &world->strands[strand];
    bool need_failed = false;
    struct lapse_action action = action_for(world, strand, step, n, verb, answer, &need_failed);
    if (action.kind == LAPSE_ACTION_STOP || action.kind == LAPSE_ACTION_STOP_ALL) {
        lapse_sim_task_stop(world, of->actor, action.kind == LAPSE_ACTION_STOP ? of->task : -1);
        return LAPSE_FLOW_STOPPED;
    }
    if (!need_failed && until_came(world, strand, answer)) {
        return LAPSE_FLOW_ENDS;
    }
    if (step->nowait) {
        return LAPSE_FLOW_WAIT; /* the strand has gone on already */
    }
    if (action.kind == LAPSE_ACTION_AGAIN) {
        world->strands[strand].wait = LAPSE_WAIT_TIMER;
        struct lapse_queue_item again = lapse_sim_task_item(world, strand, LAPSE_QUEUE_STEP,
                                                            world->now.ns, LAPSE_PHASE_UNDER_WAY);
        lapse_sim_timer_set(world, &again, lapse_sim_timer_in(world, of->actor, action.again_ns));
        lapse_world_push(world, &again);
        return LAPSE_FLOW_WAIT;
    }
    return action.kind == LAPSE_ACTION_SKIP ? LAPSE_FLOW_SKIP : LAPSE_FLOW_ON;
}

/* Lines of `steps` that will not run for it are no fault of the scenario. */
void lapse_sim_task_stop(struct lapse_world *world, int32_t actor, int32_t task) {
    for (size_t i = 0; i < world->strand_count; i++) {
        struct lapse_sim_strand *strand = &world->strands[i];
        if (strand->actor != actor || !strand->running || (task >= 0 && strand->task != task)) {
            continue;
        }
        strand->running = false;
        strand->wait = LAPSE_WAIT_NONE;
        strand->gen++;
        const struct lapse_plan_task *plan = &world->plan->tasks[strand->task];
        world->tasks[strand->task].stopped = true;
        for (size_t k = 0; k < plan->step_count; k++) {
            enum lapse_sim_ran *ran = &world->ran[plan->steps[k]];
            *ran = *ran == LAPSE_RAN_NOT ? LAPSE_RAN_EXCUSED : *ran;
        }
    }
    tell_if_stopped(world, actor);
}

void lapse_sim_task_kill_all(struct lapse_world *world, int32_t actor) {
    for (size_t i = 0; i < world->strand_count; i++) {
        struct lapse_sim_strand *strand = &world->strands[i];
        if (strand->actor == actor && strand->running) {
            strand->running = false;
            strand->wait = LAPSE_WAIT_NONE;
            strand->gen++;
        }
    }
}

int32_t lapse_sim_task_n(const struct lapse_world *world, int32_t strand) {
    const struct lapse_sim_strand *of = &world->strands[strand];
    if (world->plan->steps[lapse_sim_task_step(world, strand)].times > 0) {
        return of->turn; /* of its own, within a loop too */
    }
    return of->loop_step >= 0 ? of->firing : 0;
}

int32_t lapse_sim_task_step(const struct lapse_world *world, int32_t strand) {
    const struct lapse_sim_strand *of = &world->strands[strand];
    if (of->loop_step >= 0) {
        return world->plan->steps[of->loop_step].u.loop.body[of->line];
    }
    return world->plan->tasks[of->task].steps[of->line];
}

struct lapse_queue_item lapse_sim_task_item(const struct lapse_world *world, int32_t strand,
                                            enum lapse_queue_kind kind, int64_t at_ns,
                                            enum lapse_queue_phase phase) {
    const struct lapse_sim_strand *of = &world->strands[strand];
    return (struct lapse_queue_item){
        .at_ns = at_ns,
        .phase = phase,
        .kind = kind,
        .rank = at_ns,
        .due_ns = at_ns,
        .actor = of->actor,
        .incarnation = world->actors[of->actor].incarnation,
        .index = strand,
        .id = of->gen,
    };
}

/* A new incarnation starts at the first line, except in the lines of `steps`: it goes on with those
 * that are due from now on. */
static void begin(struct lapse_world *world, int32_t task) {
    const struct lapse_plan_task *plan = &world->plan->tasks[task];
    struct lapse_sim_strand *strand = &world->strands[task];
    *strand = (struct lapse_sim_strand){.actor = plan->actor,
                                        .task = task,
                                        .loop_step = -1,
                                        .parent = -1,
                                        .running = true,
                                        .gen = strand->gen + 1,
                                        .turn = 1};
    while (plan->from_steps && strand->line < plan->step_count) {
        int32_t step = plan->steps[strand->line];
        if (world->ran[step] == LAPSE_RAN_NOT &&
            world->plan->steps[step].when.ns >= world->now.ns) {
            break;
        }
        if (world->ran[step] == LAPSE_RAN_NOT) {
            world->ran[step] = LAPSE_RAN_EXCUSED;
        }
        strand->line++;
    }
    int64_t due = 0;
    if (strand->line >= plan->step_count) {
        lapse_sim_task_strand_over(world, task);
    } else {
        (void)due_at_once(world, task, true, &due);
    }
}

static size_t line_count(const struct lapse_world *world, int32_t strand) {
    const struct lapse_sim_strand *of = &world->strands[strand];
    return of->loop_step >= 0 ? world->plan->steps[of->loop_step].u.loop.body_count
                              : world->plan->tasks[of->task].step_count;
}

/* Moves to the line that comes after; false: none does now. */
static bool next_line(struct lapse_world *world, int32_t strand, enum lapse_sim_flow flow) {
    struct lapse_sim_strand *of = &world->strands[strand];
    bool ending = world->stop || world->status < 0;
    if (flow == LAPSE_FLOW_WAIT || flow == LAPSE_FLOW_STOPPED || !of->running || ending) {
        return false;
    }
    if (flow == LAPSE_FLOW_ENDS) {
        lapse_sim_task_strand_over(world, strand);
        return false;
    }
    bool loop = of->loop_step >= 0;
    if (flow == LAPSE_FLOW_SKIP && loop) {
        of->line = line_count(world, strand);
    } else if (of->turn < world->plan->steps[lapse_sim_task_step(world, strand)].times) {
        of->turn++;
        return true;
    } else {
        of->line++;
        of->turn = 1;
    }
    if (of->line < line_count(world, strand)) {
        return true;
    }
    if (loop) {
        lapse_sim_loop_body_over(world, strand);
    } else {
        lapse_sim_task_strand_over(world, strand);
    }
    return false;
}

/* Whether the current line runs within what runs now; if not, it is put in the queue: a line with
 * `at` in file order, one with `after` among the timers. A task that begins always waits its turn
 * in file order. */
static bool due_at_once(struct lapse_world *world, int32_t strand, bool begins, int64_t *ret_due) {
    struct lapse_sim_strand *of = &world->strands[strand];
    int32_t number = lapse_sim_task_step(world, strand);
    const struct lapse_plan_step *step = &world->plan->steps[number];
    int64_t now = world->now.ns;
    *ret_due = now;
    if (of->turn > 1) {
        return true;
    }
    int64_t extra = jitter(world, &step->when, number);
    bool at = step->when.kind == LAPSE_WHEN_AT;
    bool same = step->when.kind == LAPSE_WHEN_SAME && extra == 0;
    enum lapse_queue_phase phase = at || same ? LAPSE_PHASE_STEPS : LAPSE_PHASE_UNDER_WAY;
    struct lapse_queue_item item =
        lapse_sim_task_item(world, strand, LAPSE_QUEUE_STEP, now, phase);
    if (at) {
        item.due_ns = lapse_ns_add(step->when.ns, extra, &item.due_ns) ? item.due_ns : INT64_MAX;
        item.at_ns = item.due_ns < now ? now : item.due_ns;
    } else if (!same) {
        int64_t wait = step->when.kind == LAPSE_WHEN_AFTER ? step->when.ns : 0;
        wait = lapse_ns_add(wait, extra, &wait) ? wait : INT64_MAX;
        lapse_sim_timer_set(world, &item, lapse_sim_timer_in(world, of->actor, wait));
        item.due_ns = item.at_ns; /* set now, it cannot have been due before */
    }
    *ret_due = item.due_ns;
    if (!begins && (same || item.due_ns < now)) {
        return true;
    }
    item.rank = phase == LAPSE_PHASE_STEPS ? number : item.due_ns;
    of->wait = LAPSE_WAIT_TIMER;
    lapse_world_push(world, &item);
    return false;
}

static int64_t jitter(struct lapse_world *world, const struct lapse_when *when, int32_t step) {
    if (when->jitter_ns <= 0) {
        return 0;
    }
    return (int64_t)lapse_choose(world->choices, (uint64_t)when->jitter_ns + 1, LAPSE_CHOICE_JITTER,
                                 step);
}

static enum lapse_sim_flow start_line(struct lapse_world *world, int32_t strand, int64_t due_ns) {
    struct lapse_sim_strand *of = &world->strands[strand];
    int32_t step = lapse_sim_task_step(world, strand);
    of->gen++;
    of->wait = LAPSE_WAIT_NONE;
    of->asks = false;
    world->ran[step] = LAPSE_RAN_YES;
    switch (world->plan->steps[step].kind) {
    case LAPSE_STEP_CALL:
        return lapse_sim_client_send(world, strand, due_ns);
    case LAPSE_STEP_WORK:
        return lapse_sim_work_begin(world, strand, due_ns);
    case LAPSE_STEP_AWAIT:
        return lapse_sim_await_begin(world, strand);
    case LAPSE_STEP_LOOP:
        return lapse_sim_loop_begin(world, strand);
    case LAPSE_STEP_PROGRAM:
        return lapse_sim_program_begin(world, strand);
    case LAPSE_STEP_PROBE:
    case LAPSE_STEP_FAULT:
    case LAPSE_STEP_OPERATOR:
        break;
    }
    lapse_world_fail(world, LAPSE_BUG, "step %d belongs to the world, not to a task", (int)step);
    return LAPSE_FLOW_WAIT;
}

/* A word for a refusal comes before `need`, which judges what was accepted; a word for the first
 * answer comes after it. */
static struct lapse_action action_for(struct lapse_world *world, int32_t strand,
                                      const struct lapse_plan_step *step, int32_t n, int verb,
                                      const struct lapse_answer *answer, bool *ret_need_failed) {
    struct lapse_action handled = {LAPSE_ACTION_NONE, 0};
    bool found = false;
    for (size_t i = 0; i < step->handler_count && !found; i++) {
        found = (step->handlers[i].statuses & LAPSE_HANDLED_BIT(answer->status)) != 0;
        handled = found ? step->handlers[i].action : handled;
    }
    bool refused = answer->status != LAPSE_OK;
    *ret_need_failed = step->need != NULL && !(refused && found) &&
                       !need_met(world, world->strands[strand].actor, step, n, verb, answer);
    return *ret_need_failed ? step->need_else : handled;
}

static bool need_met(const struct lapse_world *world, int32_t actor,
                     const struct lapse_plan_step *step, int32_t n, int verb,
                     const struct lapse_answer *answer) {
    char expected[LAPSE_EXPECT_TEXT_MAX], got[LAPSE_EXPECT_TEXT_MAX];
    struct lapse_place place;
    struct lapse_expect_context context = {
        .setup = &world->plan->setup,
        .slots = &world->slots,
        .n = n,
        .wall = lapse_sim_clock_wall(&world->actors[actor].clock, world->now),
    };
    return lapse_expect_answer(step->need, verb, answer, &context, expected, got, &place);
}

static bool until_came(const struct lapse_world *world, int32_t strand,
                       const struct lapse_answer *answer) {
    int32_t step = world->strands[strand].loop_step;
    if (step < 0) {
        return false;
    }
    const struct lapse_plan_loop *loop = &world->plan->steps[step].u.loop;
    return loop->until == LAPSE_UNTIL_ANSWER &&
           (loop->until_statuses & LAPSE_HANDLED_BIT(answer->status)) != 0;
}

static void tell_if_stopped(struct lapse_world *world, int32_t actor) {
    struct lapse_sim_actor *who = &world->actors[actor];
    bool any_stopped = false;
    for (size_t i = 0; i < world->strand_count; i++) {
        if (world->strands[i].actor == actor && world->strands[i].running) {
            return;
        }
    }
    for (size_t i = 0; i < world->plan->task_count; i++) {
        any_stopped =
            any_stopped || (world->plan->tasks[i].actor == actor && world->tasks[i].stopped);
    }
    if (!any_stopped || who->stopped || !who->up) {
        return;
    }
    who->stopped = true;
    struct lapse_history_event event = lapse_world_event(world, LAPSE_HISTORY_STOPPED, actor, -1);
    (void)lapse_world_emit(world, &event);
    lapse_sim_belief_end_all(world, actor, LAPSE_BELIEF_STOPPED, -1);
}
