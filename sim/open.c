/* From plan to the first instant: tables in the arena, the store, the first items of the queue. */
#include "open.h"

#include "chaos.h"
#include "clock_fault.h"
#include "fault.h"
#include "link.h"
#include "point.h"
#include "program_run.h"
#include "tenure.h"
#include "world_events.h"

static const uint64_t events_max_default = UINT64_C(10000000);

static bool make_tables(struct lapse_world *world);
static void *table(struct lapse_world *world, size_t count, size_t item_bytes, bool *ok);
static void number_loops(struct lapse_world *world);
static enum lapse_status begin(struct lapse_world *world, struct lapse_error *err);
static void push_world_steps(struct lapse_world *world);
static void push_finals(struct lapse_world *world);
static enum lapse_status check_step(const struct lapse_plan *plan, size_t index,
                                    struct lapse_error *err);
static bool fault_fits(const struct lapse_plan *plan, const struct lapse_plan_fault *fault);
static bool link_fits(const struct lapse_plan *plan, const struct lapse_plan_fault *fault);
static bool copy_fits(const struct lapse_plan *plan, const struct lapse_plan_operator *act);
static bool clock_fits(const struct lapse_plan *plan, const struct lapse_plan_clock *clock);
static bool in_range(int32_t index, size_t count);

enum lapse_status lapse_world_open(const struct lapse_world_options *options,
                                   struct lapse_world **ret, struct lapse_error *err) {
    enum lapse_status status = lapse_sim_plan_check(options->plan, err);
    if (status < 0) {
        return status;
    }
    struct lapse_arena *arena = options->arena != NULL ? options->arena : lapse_arena_open();
    struct lapse_world *world =
        arena == NULL ? NULL : lapse_alloc_zero(lapse_arena_alloc(arena), sizeof(*world));
    if (world == NULL) {
        lapse_arena_close(options->arena == NULL ? arena : NULL);
        return lapse_error_set(err, LAPSE_NOMEM, "no address space for a world");
    }
    world->arena = arena;
    world->arena_lent = options->arena != NULL;
    world->alloc = lapse_arena_alloc(arena);
    world->plan = options->plan;
    world->choices = options->choices;
    world->history = options->history;
    world->judge = options->judge;
    world->drawn = options->drawn;
    world->drawn_ctx = options->drawn_ctx;
    world->events_max = options->events_max == 0 ? events_max_default : options->events_max;
    world->check_often = options->check_often;
    world->orders = options->orders;
    lapse_queue_init(&world->queue, world->alloc);
    if (make_tables(world)) {
        status = begin(world, err);
    } else {
        status = lapse_error_set(err, LAPSE_NOMEM, "no memory for a world's tables");
    }
    if (status < 0) {
        lapse_world_close(world);
        return status;
    }
    *ret = world;
    return LAPSE_OK;
}

/* All that the world owns lies in the arena, but for a store in a file: nothing else is closed one
 * by one. */
void lapse_world_close(struct lapse_world *world) {
    if (world != NULL) {
        lapse_sim_tenure_close(world);
        if (world->arena_lent) {
            lapse_arena_clear(world->arena);
        } else {
            lapse_arena_close(world->arena);
        }
    }
}

enum lapse_status lapse_sim_plan_check(const struct lapse_plan *plan, struct lapse_error *err) {
    if (plan->setup.node_count != 1) {
        return lapse_error_set(err, LAPSE_INVALID, "a world has one store node, the plan %zu",
                               plan->setup.node_count);
    }
    for (size_t i = 0; i < plan->task_count; i++) {
        if (!in_range(plan->tasks[i].actor, plan->setup.actor_count)) {
            return lapse_error_set(err, LAPSE_INVALID, "task %zu has no actor", i);
        }
        for (size_t k = 0; k < plan->tasks[i].step_count; k++) {
            if (!in_range(plan->tasks[i].steps[k], plan->step_count)) {
                return lapse_error_set(err, LAPSE_INVALID, "task %zu has no line %zu", i, k);
            }
        }
    }
    for (size_t i = 0; i < plan->clock_count; i++) {
        if (!clock_fits(plan, &plan->clocks[i])) {
            return lapse_error_set(err, LAPSE_INVALID, "clock %zu does not fit the plan", i);
        }
    }
    for (size_t i = 0; i < plan->step_count; i++) {
        enum lapse_status status = check_step(plan, i, err);
        if (status < 0) {
            return status;
        }
    }
    return LAPSE_OK;
}

static bool make_tables(struct lapse_world *world) {
    const struct lapse_plan *plan = world->plan;
    bool ok = true;
    for (size_t i = 0; i < plan->step_count; i++) {
        world->strand_count += plan->steps[i].kind == LAPSE_STEP_LOOP ? 1 : 0;
    }
    world->strand_count += plan->task_count;
    world->actors = table(world, plan->setup.actor_count, sizeof(*world->actors), &ok);
    world->tasks = table(world, plan->task_count, sizeof(*world->tasks), &ok);
    world->strands = table(world, world->strand_count, sizeof(*world->strands), &ok);
    world->strand_of = table(world, plan->step_count, sizeof(*world->strand_of), &ok);
    world->ran = table(world, plan->step_count, sizeof(*world->ran), &ok);
    world->slot_grants = table(world, plan->the_case.slot_count, sizeof(*world->slot_grants), &ok);
    world->loop_renews = table(world, plan->setup.loop_count, sizeof(*world->loop_renews), &ok);
    world->seen = table(world, plan->watch_count, sizeof(*world->seen), &ok);
    world->resources = table(world, plan->setup.resource_count, sizeof(*world->resources), &ok);
    ok = ok && lapse_slots_init(&world->slots, world->alloc, plan->the_case.slot_count) == LAPSE_OK;
    if (ok) {
        number_loops(world);
    }
    return ok && lapse_sim_point_open(world) && lapse_sim_link_open(world) &&
           lapse_sim_program_open(world);
}

static void *table(struct lapse_world *world, size_t count, size_t item_bytes, bool *ok) {
    void *made = *ok ? lapse_alloc_zero(world->alloc, (count > 0 ? count : 1) * item_bytes) : NULL;
    *ok = made != NULL;
    return made;
}

static void number_loops(struct lapse_world *world) {
    int32_t next = (int32_t)world->plan->task_count;
    for (size_t i = 0; i < world->strand_count; i++) {
        world->strands[i].actor = -1; /* nobody's, until its task or loop begins */
    }
    for (size_t i = 0; i < world->plan->step_count; i++) {
        const struct lapse_plan_step *step = &world->plan->steps[i];
        bool loop = step->kind == LAPSE_STEP_LOOP;
        world->has_still = world->has_still || (step->kind == LAPSE_STEP_AWAIT &&
                                                step->u.await.kind == LAPSE_AWAIT_UNCHANGED);
        world->strand_of[i] = loop ? next : -1;
        next += loop ? 1 : 0;
    }
}

static enum lapse_status begin(struct lapse_world *world, struct lapse_error *err) {
    lapse_sim_clock_start(world);
    enum lapse_status status = lapse_sim_tenure_open(world, err);
    if (status != LAPSE_OK) {
        lapse_error_context(err, "the plan's store");
        return status < 0 ? status : LAPSE_INVALID;
    }
    struct lapse_history_event event = lapse_world_event(world, LAPSE_HISTORY_BEGIN, -1, -1);
    event.u.begin = &world->plan->setup;
    (void)lapse_world_emit(world, &event);
    lapse_sim_clock_tell_starts(world);
    lapse_sim_chaos_begin(world);
    push_world_steps(world);
    push_finals(world);
    for (size_t i = 0; i < world->plan->setup.actor_count; i++) {
        lapse_sim_fault_incarnate(world, (int32_t)i);
    }
    if (world->status < 0) {
        return lapse_error_set(err, world->status, "%s", world->error.message);
    }
    return LAPSE_OK;
}

static void push_world_steps(struct lapse_world *world) {
    for (size_t i = 0; i < world->plan->world_step_count; i++) {
        int32_t number = world->plan->world_steps[i];
        const struct lapse_plan_step *step = &world->plan->steps[number];
        if (step->when.kind == LAPSE_WHEN_POINT) {
            continue; /* it is in nobody's queue */
        }
        struct lapse_queue_item item = {.at_ns = step->when.ns,
                                        .due_ns = step->when.ns,
                                        .phase = LAPSE_PHASE_STEPS,
                                        .kind = LAPSE_QUEUE_PROBE,
                                        .rank = number,
                                        .actor = -1,
                                        .index = number};
        if (step->kind == LAPSE_STEP_OPERATOR) {
            item.kind = LAPSE_QUEUE_REAP;
        } else if (step->kind == LAPSE_STEP_FAULT) {
            const struct lapse_plan_fault *fault = &step->u.fault;
            bool ends = fault->ends || fault->kind == LAPSE_FAULT_RESTART;
            item.phase = LAPSE_PHASE_FAULTS;
            item.kind = LAPSE_QUEUE_FAULT;
            item.rank = ends ? number : LAPSE_RANK_BEGINNING + number;
        }
        lapse_world_push(world, &item);
    }
}

static void push_finals(struct lapse_world *world) {
    for (size_t i = 0; i < world->plan->final_count; i++) {
        int32_t number = world->plan->finals[i];
        int64_t at = world->plan->steps[number].when.ns;
        if (at == LAPSE_FINAL_AT_END) {
            continue;
        }
        lapse_world_push(world, &(struct lapse_queue_item){.at_ns = at,
                                                           .due_ns = at,
                                                           .phase = LAPSE_PHASE_FINALS,
                                                           .kind = LAPSE_QUEUE_FINAL,
                                                           .rank = number,
                                                           .actor = -1,
                                                           .index = number});
    }
}

static enum lapse_status check_step(const struct lapse_plan *plan, size_t index,
                                    struct lapse_error *err) {
    const struct lapse_plan_step *step = &plan->steps[index];
    bool sound = true;
    switch (step->kind) {
    case LAPSE_STEP_CALL:
        sound = in_range(step->actor, plan->setup.actor_count) &&
                step->u.call.bucket < (int32_t)plan->setup.bucket_count &&
                step->u.call.watch < (int32_t)plan->watch_count;
        for (size_t i = 0; i < step->u.call.batch_count; i++) {
            sound = sound && step->u.call.batch[i].bucket < (int32_t)plan->setup.bucket_count &&
                    step->u.call.batch[i].verb != LAPSE_VERB_BATCH;
        }
        if (step->u.call.verb == LAPSE_CALL_WRITE || step->u.call.verb == LAPSE_CALL_READ) {
            sound = sound && in_range(step->u.call.resource, plan->setup.resource_count);
        }
        break;
    case LAPSE_STEP_LOOP:
        sound = step->u.loop.period_ns > 0 && step->u.loop.body_count > 0;
        break;
    case LAPSE_STEP_PROBE:
        sound = step->u.probe.bucket < (int32_t)plan->setup.bucket_count;
        if (step->u.probe.kind == LAPSE_PROBE_STOPPED) {
            sound = sound && in_range(step->u.probe.actor, plan->setup.actor_count);
        } else if (step->u.probe.kind == LAPSE_PROBE_EVENTS) {
            sound = sound && in_range(step->u.probe.watch, plan->watch_count);
        }
        break;
    case LAPSE_STEP_FAULT:
        sound = fault_fits(plan, &step->u.fault);
        break;
    case LAPSE_STEP_OPERATOR:
        sound = step->actor < 0 && copy_fits(plan, &step->u.operator_act);
        break;
    case LAPSE_STEP_PROGRAM:
        sound = in_range(step->u.program, plan->program_count) &&
                plan->programs[step->u.program].actor == step->actor &&
                in_range(step->actor, plan->setup.actor_count);
        break;
    case LAPSE_STEP_WORK:
    case LAPSE_STEP_AWAIT:
        sound = in_range(step->actor, plan->setup.actor_count);
        break;
    }
    if (!sound) {
        return lapse_error_set(err, LAPSE_INVALID, "step %zu names what the plan does not have",
                               index);
    }
    return LAPSE_OK;
}

/* The node may fall only where the plan says what becomes of its rows. */
static bool fault_fits(const struct lapse_plan *plan, const struct lapse_plan_fault *fault) {
    bool falls = fault->kind == LAPSE_FAULT_CRASH || fault->kind == LAPSE_FAULT_RESTART;
    bool holds = fault->kind == LAPSE_FAULT_PAUSE || fault->kind == LAPSE_FAULT_SUSPEND ||
                 fault->kind == LAPSE_FAULT_FREEZE || fault->kind == LAPSE_FAULT_STARVE ||
                 fault->kind == LAPSE_FAULT_SLOW;
    if (fault->kind == LAPSE_FAULT_CUT || fault->kind == LAPSE_FAULT_LINK) {
        return link_fits(plan, fault);
    }
    if (fault->kind == LAPSE_FAULT_CLOCK) {
        return clock_fits(plan, &fault->clock);
    }
    bool slows = fault->kind == LAPSE_FAULT_SLOW && !fault->ends && fault->actor >= 0;
    bool starves = fault->kind == LAPSE_FAULT_STARVE && !fault->ends;
    if ((slows && fault->factor < 1) ||
        (starves && fault->task >= (int32_t)plan->task_count)) {
        return false;
    }
    bool of_disk = fault->kind == LAPSE_FAULT_DISK || fault->kind == LAPSE_FAULT_STALL;
    if (fault->actor >= 0) {
        return in_range(fault->actor, plan->setup.actor_count) && (holds || falls);
    }
    if (fault->kind == LAPSE_FAULT_DISK && !fault->ends) {
        bool files = fault->disk > LAPSE_DISK_SYNC_STALLS;
        bool fits = fault->disk >= LAPSE_DISK_SYNC_FAIL && fault->disk <= LAPSE_DISK_ROT;
        if (!fits || fault->disk_bits < 0 || (files && plan->store != LAPSE_STORE_SQLITE)) {
            return false;
        }
    }
    return fault->node == 0 && ((!falls && !of_disk) || plan->store != LAPSE_STORE_NONE);
}

static bool copy_fits(const struct lapse_plan *plan, const struct lapse_plan_operator *act) {
    bool copies = act->verb == LAPSE_OPERATOR_BACKUP || act->verb == LAPSE_OPERATOR_RESTORE;
    return !copies || (plan->store == LAPSE_STORE_SQLITE &&
                       in_range(act->copy, (size_t)plan->copy_count));
}

static bool clock_fits(const struct lapse_plan *plan, const struct lapse_plan_clock *clock) {
    size_t count = clock->whose.kind == LAPSE_PARTY_ACTOR      ? plan->setup.actor_count
                   : clock->whose.kind == LAPSE_PARTY_RESOURCE ? plan->setup.resource_count
                   : clock->whose.kind == LAPSE_PARTY_NODE     ? plan->setup.node_count
                                                               : 0;
    bool date = !clock->has_to || clock->to.kind == LAPSE_OPERAND_DATE;
    bool rate = clock->rate_ppb >= -LAPSE_SIM_RATE_PPB_MAX &&
                clock->rate_ppb <= LAPSE_SIM_RATE_PPB_MAX;
    bool tick = !clock->has_tick || clock->tick_ns >= 1;
    bool origin = !clock->has_origin || clock->origin_ns >= 0;
    return in_range(clock->whose.index, count) && date && rate && tick && origin;
}

/* Between an actor and another party; an end may name none, for all. */
static bool link_fits(const struct lapse_plan *plan, const struct lapse_plan_fault *fault) {
    const struct lapse_plan_link *link = &fault->link;
    bool back = link->to.kind == LAPSE_PARTY_ACTOR;
    struct lapse_party actor = back ? link->to : link->from;
    struct lapse_party peer = back ? link->from : link->to;
    if (link->from.kind == 0) {
        return fault->ends;
    }
    bool known = peer.kind == LAPSE_PARTY_NODE
                     ? peer.index == 0
                     : peer.kind == LAPSE_PARTY_RESOURCE &&
                           in_range(peer.index, plan->setup.resource_count);
    return known && actor.kind == LAPSE_PARTY_ACTOR &&
           in_range(actor.index, plan->setup.actor_count) &&
           link->latency_ns_min <= link->latency_ns_max;
}

static bool in_range(int32_t index, size_t count) {
    return index >= 0 && (size_t)index < count;
}
