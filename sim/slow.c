/* Starvation and slowness. The timers of a starved task (its due lines, ticks, timeouts) fire when
 * it is fed again, oldest due first, while its work and what it is sent go on. A slow actor needs a
 * multiple of the running time that its work asks for; a slow node lets each call that arrives wait
 * before it looks at it. */
#include "slow.h"

#include "fault.h"
#include "work.h"
#include "world_events.h"

/* Where the parts of an end's id lie. */
enum { ACTOR_AT = 8, TASK_AT = 34, INDEX_MASK = (1 << 26) - 1 };

static int64_t pack(const struct lapse_plan_fault *fault);
static struct lapse_plan_fault unpack(int64_t id);
static struct lapse_sim_hold *hold_of(struct lapse_world *world,
                                      const struct lapse_plan_fault *fault, int32_t task);
static void begin(struct lapse_world *world, int32_t step, const struct lapse_plan_fault *fault);
static void end(struct lapse_world *world, enum lapse_fault_kind kind, int32_t actor, int32_t task,
                int32_t step, int64_t until_ns);
static bool names_task(const struct lapse_world *world, const struct lapse_plan_fault *fault,
                       size_t task);
static void feed(struct lapse_world *world, struct lapse_sim_task *task);
static void set_pace(struct lapse_world *world, const struct lapse_plan_fault *fault);
static int64_t times(int64_t span_ns, int32_t factor);
static void emit(struct lapse_world *world, bool begins, enum lapse_fault_kind kind, int32_t actor,
                 int32_t task, int32_t step, int64_t until_ns);

void lapse_sim_slow_fault_step(struct lapse_world *world, int32_t step,
                               const struct lapse_plan_fault *fault) {
    if (fault->ends) {
        end(world, fault->kind, fault->actor, fault->task, step, -1);
    } else if (fault->actor >= 0 ? world->actors[fault->actor].up : world->node.store != NULL) {
        begin(world, step, fault);
    }
}

void lapse_sim_slow_fault_end(struct lapse_world *world, const struct lapse_queue_item *item) {
    struct lapse_plan_fault fault = unpack(item->id);
    end(world, fault.kind, fault.actor, fault.task, item->index, item->at_ns);
}

bool lapse_sim_slow_stale(const struct lapse_world *world, const struct lapse_queue_item *item) {
    struct lapse_plan_fault fault = unpack(item->id);
    bool stands = false;
    if (fault.kind == LAPSE_FAULT_SLOW) {
        const struct lapse_sim_hold *hold =
            fault.actor >= 0 ? &world->actors[fault.actor].slow : &world->node.slow;
        return !hold->on || hold->until_ns != item->at_ns;
    }
    for (size_t i = 0; i < world->plan->task_count; i++) {
        const struct lapse_sim_hold *hold = &world->tasks[i].starved;
        stands = stands || (names_task(world, &fault, i) && hold->on &&
                            hold->until_ns == item->at_ns);
    }
    return !stands;
}

void lapse_sim_slow_crashed(struct lapse_world *world, int32_t actor, int32_t step) {
    for (size_t i = 0; actor >= 0 && i < world->plan->task_count; i++) {
        if (world->plan->tasks[i].actor == actor) {
            world->tasks[i].parked.count = 0; /* its timers died with it */
        }
    }
    if (actor >= 0) {
        end(world, LAPSE_FAULT_STARVE, actor, -1, step, -1);
    }
    end(world, LAPSE_FAULT_SLOW, actor, -1, step, -1);
}

bool lapse_sim_slow_parks(struct lapse_world *world, const struct lapse_queue_item *item) {
    int32_t strand = item->index;
    if (item->kind == LAPSE_QUEUE_TIMEOUT) {
        strand = world->calls[item->index].strand;
    } else if (item->kind != LAPSE_QUEUE_STEP && item->kind != LAPSE_QUEUE_TICK &&
               item->kind != LAPSE_QUEUE_UNTIL && item->kind != LAPSE_QUEUE_ASK &&
               item->kind != LAPSE_QUEUE_STILL && item->kind != LAPSE_QUEUE_PROGRAM) {
        return false;
    }
    struct lapse_sim_task *task = &world->tasks[world->strands[strand].task];
    if (!task->starved.on) {
        return false;
    }
    if (!lapse_queue_list_add(&task->parked, world->alloc, item)) {
        lapse_world_fail(world, LAPSE_NOMEM, "no memory for a starved task's timers");
    }
    return true;
}

int64_t lapse_sim_slow_work(const struct lapse_world *world, int32_t actor, int64_t span_ns) {
    const struct lapse_sim_actor *who = &world->actors[actor];
    return who->slow.on ? times(span_ns, who->slow_factor) : span_ns;
}

static struct lapse_sim_hold *hold_of(struct lapse_world *world,
                                      const struct lapse_plan_fault *fault, int32_t task) {
    if (fault->kind == LAPSE_FAULT_STARVE) {
        return &world->tasks[task].starved;
    }
    return fault->actor >= 0 ? &world->actors[fault->actor].slow : &world->node.slow;
}

/* Within another one it can only make it longer; how slow, is what was said last. */
static void begin(struct lapse_world *world, int32_t step, const struct lapse_plan_fault *fault) {
    bool starve = fault->kind == LAPSE_FAULT_STARVE;
    int64_t until = lapse_sim_fault_until(world, fault);
    size_t count = starve ? world->plan->task_count : 1;
    if (!starve) {
        set_pace(world, fault);
    }
    for (size_t i = 0; i < count; i++) {
        if (starve && !names_task(world, fault, i)) {
            continue;
        }
        struct lapse_sim_hold *hold = hold_of(world, fault, (int32_t)i);
        world->starved += starve && !hold->on ? 1 : 0;
        bool longer = hold->on && hold->until_ns > until;
        *hold = (struct lapse_sim_hold){true, longer ? hold->until_ns : until};
    }
    emit(world, true, fault->kind, fault->actor, fault->task, step, until);
    if (until < INT64_MAX) {
        lapse_world_push(world, &(struct lapse_queue_item){.at_ns = until,
                                                           .phase = LAPSE_PHASE_FAULTS,
                                                           .kind = LAPSE_QUEUE_RELIEF,
                                                           .rank = step,
                                                           .due_ns = until,
                                                           .actor = -1,
                                                           .index = step,
                                                           .id = pack(fault)});
    }
}

/* until_ns -1: whatever was said of its end. */
static void end(struct lapse_world *world, enum lapse_fault_kind kind, int32_t actor, int32_t task,
                int32_t step, int64_t until_ns) {
    struct lapse_plan_fault fault = {.kind = kind, .actor = actor, .task = task};
    bool starve = kind == LAPSE_FAULT_STARVE;
    bool ended = false;
    size_t count = starve ? world->plan->task_count : 1;
    for (size_t i = 0; i < count; i++) {
        struct lapse_sim_hold *hold = hold_of(world, &fault, (int32_t)i);
        bool its = (!starve || names_task(world, &fault, i)) && hold->on &&
                   (until_ns < 0 || hold->until_ns == until_ns);
        if (!its) {
            continue;
        }
        hold->on = false;
        ended = true;
        if (starve) {
            world->starved--;
            feed(world, &world->tasks[i]);
        } else if (actor >= 0) {
            lapse_sim_work_pace(world, actor, 1, world->actors[actor].slow_factor);
        }
    }
    if (ended) {
        emit(world, false, kind, actor, task, step, INT64_MAX);
    }
}

/* An end is about what its beginning named, which may be no line of the plan: it carries that. */
static int64_t pack(const struct lapse_plan_fault *fault) {
    return (int64_t)fault->kind | (int64_t)(fault->actor + 1) << ACTOR_AT |
           (int64_t)(fault->task + 1) << TASK_AT;
}

static struct lapse_plan_fault unpack(int64_t id) {
    return (struct lapse_plan_fault){
        .kind = (enum lapse_fault_kind)(id & ((1 << ACTOR_AT) - 1)),
        .actor = (int32_t)(id >> ACTOR_AT & INDEX_MASK) - 1,
        .task = (int32_t)(id >> TASK_AT & INDEX_MASK) - 1};
}

static bool names_task(const struct lapse_world *world, const struct lapse_plan_fault *fault,
                       size_t task) {
    return world->plan->tasks[task].actor == fault->actor &&
           (fault->task < 0 || fault->task == (int32_t)task);
}

static void feed(struct lapse_world *world, struct lapse_sim_task *task) {
    for (size_t i = 0; i < task->parked.count; i++) {
        struct lapse_queue_item item = task->parked.items[i];
        item.at_ns = world->now.ns;
        item.phase = LAPSE_PHASE_UNDER_WAY;
        item.rank = item.due_ns;
        lapse_world_push(world, &item);
    }
    task->parked.count = 0;
}

/* What is left of work in hand takes as much longer. */
static void set_pace(struct lapse_world *world, const struct lapse_plan_fault *fault) {
    if (fault->actor < 0) {
        world->node.slow_ns = fault->link.latency_ns_min;
        return;
    }
    struct lapse_sim_actor *who = &world->actors[fault->actor];
    int32_t before = who->slow.on ? who->slow_factor : 1;
    who->slow_factor = fault->factor;
    lapse_sim_work_pace(world, fault->actor, fault->factor, before);
}

static int64_t times(int64_t span_ns, int32_t factor) {
    int64_t longer = 0;
    return lapse_ns_mul(span_ns, factor, &longer) ? longer : INT64_MAX;
}

static void emit(struct lapse_world *world, bool begins, enum lapse_fault_kind kind, int32_t actor,
                 int32_t task, int32_t step, int64_t until_ns) {
    struct lapse_history_event event = lapse_world_event(
        world, begins ? LAPSE_HISTORY_FAULT_BEGIN : LAPSE_HISTORY_FAULT_END, actor, step);
    event.u.fault.kind = kind;
    event.u.fault.node = actor < 0 ? 0 : -1;
    event.u.fault.task = kind == LAPSE_FAULT_STARVE ? task + 1 : 0;
    event.u.fault.has_until = until_ns < INT64_MAX;
    event.u.fault.until.ns = event.u.fault.has_until ? until_ns : 0;
    (void)lapse_world_emit(world, &event);
}
