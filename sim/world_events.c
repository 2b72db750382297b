/* The writer of the second waist: one way in which events get their time, actor and clocks, one in
 * which they reach history and judge. */
#include "world_events.h"

#include "task.h"

static void show_judge(struct lapse_world *world, const struct lapse_history_event *stored);
static void emit_waiting(struct lapse_world *world);
static void emit_awaiting(struct lapse_world *world);
static void emit_not_run(struct lapse_world *world);

struct lapse_history_event lapse_world_event(const struct lapse_world *world,
                                             enum lapse_history_kind kind, int32_t actor,
                                             int32_t step) {
    struct lapse_history_event event = {
        .kind = kind, .at = world->now, .actor = actor, .step = step};
    if (actor >= 0) {
        const struct lapse_sim_actor *who = &world->actors[actor];
        event.incarnation = who->incarnation;
        event.actor_wall = lapse_sim_clock_wall(&who->clock, world->now);
        event.actor_steady = lapse_sim_clock_steady(&who->clock, world->now);
    }
    return event;
}

struct lapse_history_event lapse_world_call_event(const struct lapse_world *world,
                                                  enum lapse_history_kind kind,
                                                  const struct lapse_sim_call *call) {
    struct lapse_history_event event = lapse_world_event(world, kind, call->actor, call->step);
    event.incarnation = call->incarnation;
    event.call = call->id;
    event.n = call->n;
    return event;
}

const struct lapse_history_event *lapse_world_emit(struct lapse_world *world,
                                                   const struct lapse_history_event *event) {
    if (world->stop || world->status < 0) {
        return NULL;
    }
    const struct lapse_history_event *stored = lapse_history_append(world->history, event);
    if (stored == NULL) {
        lapse_world_fail(world, LAPSE_NOMEM, "no memory for the history");
        return NULL;
    }
    show_judge(world, stored);
    if (stored->kind == LAPSE_HISTORY_TRUNCATED) {
        world->stop = true;
        return NULL;
    }
    return stored;
}

void lapse_world_emit_written(struct lapse_world *world, const struct lapse_sim_call *call,
                              int32_t step, const struct lapse_result *result) {
    for (size_t i = 0; i < result->event_count; i++) {
        struct lapse_history_event event =
            call == NULL ? lapse_world_event(world, LAPSE_HISTORY_EMIT, -1, step)
                         : lapse_world_call_event(world, LAPSE_HISTORY_EMIT, call);
        event.u.emit.node = 0;
        event.u.emit.event = result->events[i];
        (void)lapse_world_emit(world, &event);
    }
}

void lapse_world_emit_unbound(struct lapse_world *world, struct lapse_history_event *event,
                              const struct lapse_sim_miss *miss) {
    event->u.unbound.slot = miss->slot;
    event->u.unbound.why = (int)miss->why;
    event->u.unbound.field = (int)miss->field;
    (void)lapse_world_emit(world, event);
}

void lapse_world_emit_fault(struct lapse_world *world, bool begins, enum lapse_fault_kind kind,
                            int32_t actor, int32_t step, const int64_t *until_ns) {
    struct lapse_history_event event = lapse_world_event(
        world, begins ? LAPSE_HISTORY_FAULT_BEGIN : LAPSE_HISTORY_FAULT_END, actor, step);
    event.u.fault.kind = kind;
    event.u.fault.node = -1;
    event.u.fault.has_until = until_ns != NULL;
    event.u.fault.until.ns = until_ns == NULL ? 0 : *until_ns;
    (void)lapse_world_emit(world, &event);
}

void lapse_world_emit_end(struct lapse_world *world, bool cut) {
    if (!cut) {
        emit_waiting(world);
        emit_awaiting(world);
        emit_not_run(world);
    }
    struct lapse_history_event event = lapse_world_event(world, LAPSE_HISTORY_END, -1, -1);
    event.u.end.cut = cut || world->stop;
    enum lapse_status status = LAPSE_OK;
    if (world->node.store != NULL) { /* a store that is down has no state to tell */
        status = lapse_digest(world->node.store, LAPSE_PART_DURABLE, &event.u.end.state_digest);
    }
    if (status < 0) {
        lapse_world_fail(world, status, "the store gives no digest");
    }
    world->stop = false; /* END is written whatever ended the run */
    (void)lapse_world_emit(world, &event);
}

static void show_judge(struct lapse_world *world, const struct lapse_history_event *stored) {
    bool stop = false;
    if (world->judge == NULL) {
        return;
    }
    enum lapse_status status = lapse_judge_event(world->judge, stored, &stop);
    if (status < 0) {
        lapse_world_fail(world, status, "no memory for the judge");
    }
    world->stop = world->stop || stop;
}

static void emit_waiting(struct lapse_world *world) {
    int64_t last = 0;
    /* Places of calls are used again, so the order of their ids is looked for. */
    for (;;) {
        const struct lapse_sim_call *next = NULL;
        for (size_t i = 0; i < world->call_count; i++) {
            const struct lapse_sim_call *call = &world->calls[i];
            bool lives = call->id > last && !call->answered && !call->copy &&
                         world->actors[call->actor].up &&
                         world->actors[call->actor].incarnation == call->incarnation;
            if (lives && (next == NULL || call->id < next->id)) {
                next = call;
            }
        }
        if (next == NULL) {
            return;
        }
        last = next->id;
        struct lapse_history_event event =
            lapse_world_call_event(world, LAPSE_HISTORY_WAITING, next);
        (void)lapse_world_emit(world, &event);
    }
}

/* An await for a name that was never bound, or an event that was never handed out. */
static void emit_awaiting(struct lapse_world *world) {
    for (size_t i = 0; i < world->strand_count; i++) {
        const struct lapse_sim_strand *strand = &world->strands[i];
        if (!strand->running || strand->wait != LAPSE_WAIT_AWAIT) {
            continue;
        }
        int32_t index = (int32_t)i;
        struct lapse_history_event event = lapse_world_event(
            world, LAPSE_HISTORY_WAITING, strand->actor, lapse_sim_task_step(world, index));
        event.n = lapse_sim_task_n(world, index);
        (void)lapse_world_emit(world, &event);
    }
}

/* A line that the author wrote and that never came is the author's business, except where its
 * actor was down, or stopped by an answer, when it would have run. */
static void emit_not_run(struct lapse_world *world) {
    const struct lapse_plan *plan = world->plan;
    for (size_t i = 0; i < plan->step_count && i < plan->the_case.check_count; i++) {
        if (!plan->the_case.checks[i].must_run || world->ran[i] != LAPSE_RAN_NOT) {
            continue;
        }
        int32_t actor = plan->steps[i].actor;
        if (actor >= 0 && (!world->actors[actor].up || world->actors[actor].stopped)) {
            continue;
        }
        struct lapse_history_event event =
            lapse_world_event(world, LAPSE_HISTORY_NOT_RUN, actor, (int32_t)i);
        (void)lapse_world_emit(world, &event);
    }
}
