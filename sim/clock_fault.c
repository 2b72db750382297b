/* A clock that is moved is the machine's: it may be done while its process is down. A change with
 * `for:` ends by giving back the rate of the start, or by letting the clock go on, each only if
 * nothing else has set it since. */
#include "clock_fault.h"

#include "fault.h"
#include "node.h"
#include "timer.h"
#include "world_events.h"

static struct lapse_sim_clock plain(const struct lapse_world *world, struct lapse_party whose);
static void start(struct lapse_world *world, const struct lapse_plan_clock *plan);
static void change(struct lapse_world *world, int32_t step, const struct lapse_plan_clock *plan);
static void tell(struct lapse_world *world, int32_t step, struct lapse_party whose,
                 const struct lapse_sim_clock *before);

void lapse_sim_clock_start(struct lapse_world *world) {
    const struct lapse_plan *plan = world->plan;
    for (size_t i = 0; i < plan->setup.actor_count; i++) {
        world->actors[i].clock = plain(world, (struct lapse_party){LAPSE_PARTY_ACTOR, (int32_t)i});
    }
    for (size_t i = 0; i < plan->setup.resource_count; i++) {
        world->resources[i].clock =
            plain(world, (struct lapse_party){LAPSE_PARTY_RESOURCE, (int32_t)i});
    }
    world->node.clock = plain(world, (struct lapse_party){LAPSE_PARTY_NODE, 0});
    for (size_t i = 0; i < plan->clock_count; i++) {
        start(world, &plan->clocks[i]);
    }
}

void lapse_sim_clock_tell_starts(struct lapse_world *world) {
    for (size_t i = 0; i < world->plan->clock_count; i++) {
        struct lapse_party whose = world->plan->clocks[i].whose;
        struct lapse_sim_clock before = plain(world, whose);
        tell(world, -1, whose, &before);
    }
}

void lapse_sim_clock_fault_do(struct lapse_world *world, int32_t step,
                              const struct lapse_plan_fault *fault) {
    int64_t until = lapse_sim_fault_until(world, fault);
    change(world, step, &fault->clock);
    if (step >= 0 && until < INT64_MAX) {
        lapse_world_push(world, &(struct lapse_queue_item){.at_ns = until,
                                                           .phase = LAPSE_PHASE_FAULTS,
                                                           .kind = LAPSE_QUEUE_CLOCK,
                                                           .rank = step,
                                                           .due_ns = until,
                                                           .actor = -1,
                                                           .index = step});
    }
}

void lapse_sim_clock_fault_end(struct lapse_world *world, int32_t step) {
    struct lapse_party whose = world->plan->steps[step].u.fault.clock.whose;
    const struct lapse_sim_clock *clock = lapse_sim_clock_of(world, whose);
    struct lapse_plan_clock back = {.whose = whose};
    back.has_rate = clock->rate_by_step == step;
    back.rate_ppb = clock->rate_start_ppb;
    back.has_mono = clock->stop_by_step == step;
    change(world, step, &back);
}

bool lapse_sim_clock_fault_stale(const struct lapse_world *world, int32_t step) {
    const struct lapse_sim_clock *clock =
        lapse_sim_clock_of(world, world->plan->steps[step].u.fault.clock.whose);
    return clock->rate_by_step != step && clock->stop_by_step != step;
}

struct lapse_sim_clock *lapse_sim_clock_of(const struct lapse_world *world,
                                           struct lapse_party whose) {
    switch (whose.kind) {
    case LAPSE_PARTY_ACTOR:
        return &world->actors[whose.index].clock;
    case LAPSE_PARTY_RESOURCE:
        return &world->resources[whose.index].clock;
    case LAPSE_PARTY_NODE:
        break;
    }
    return (struct lapse_sim_clock *)&world->node.clock;
}

void lapse_sim_clock_changed(struct lapse_world *world, struct lapse_party whose) {
    if (whose.kind == LAPSE_PARTY_ACTOR) {
        lapse_sim_timer_reset_all(world, whose.index);
    } else if (whose.kind == LAPSE_PARTY_NODE) {
        lapse_sim_node_schedule(world);
    }
}

/* A node's steady clock is the one that its store goes by, which counts suspend. */
static struct lapse_sim_clock plain(const struct lapse_world *world, struct lapse_party whose) {
    const struct lapse_setup *setup = &world->plan->setup;
    bool boot = whose.kind == LAPSE_PARTY_NODE ||
                (whose.kind == LAPSE_PARTY_ACTOR && setup->actors[whose.index].timer_boot);
    return lapse_sim_clock_make(setup->epoch, boot);
}

static void start(struct lapse_world *world, const struct lapse_plan_clock *plan) {
    struct lapse_sim_clock *clock = lapse_sim_clock_of(world, plan->whose);
    if (plan->has_tick) {
        clock->tick_ns = plan->tick_ns;
    }
    if (plan->has_origin) {
        clock->hands[LAPSE_FACE_BOOT].base_ns = plan->origin_ns;
        clock->hands[LAPSE_FACE_MONO].base_ns = plan->origin_ns;
    }
    if (plan->has_to) {
        lapse_sim_clock_set_wall(clock, world->now, (struct lapse_wall){plan->to.number});
    }
    if (plan->has_wall) {
        lapse_sim_clock_step_wall(clock, plan->wall_ns);
    }
    if (plan->has_rate) {
        lapse_sim_clock_set_rate(clock, world->now, plan->rate_ppb);
        clock->rate_start_ppb = plan->rate_ppb;
    }
    if (plan->has_mono) {
        lapse_sim_clock_set_stopped(clock, world->now, plan->mono_stop);
    }
}

static void change(struct lapse_world *world, int32_t step, const struct lapse_plan_clock *plan) {
    struct lapse_sim_clock *clock = lapse_sim_clock_of(world, plan->whose);
    struct lapse_sim_clock before = *clock;
    if (plan->has_to) {
        lapse_sim_clock_set_wall(clock, world->now, (struct lapse_wall){plan->to.number});
    }
    if (plan->has_wall) {
        lapse_sim_clock_step_wall(clock, plan->wall_ns);
    }
    if (plan->has_rate) {
        lapse_sim_clock_set_rate(clock, world->now, plan->rate_ppb);
        clock->rate_by_step = step;
    }
    if (plan->has_mono) {
        lapse_sim_clock_set_stopped(clock, world->now, plan->mono_stop);
        clock->stop_by_step = step;
    }
    tell(world, step, plan->whose, &before);
    lapse_sim_clock_changed(world, plan->whose);
}

static void tell(struct lapse_world *world, int32_t step, struct lapse_party whose,
                 const struct lapse_sim_clock *before) {
    const struct lapse_sim_clock *clock = lapse_sim_clock_of(world, whose);
    struct lapse_history_event event = lapse_world_event(world, LAPSE_HISTORY_CLOCK, -1, step);
    event.u.clock.whose = whose;
    event.u.clock.before = lapse_sim_clock_read(before, world->now);
    event.u.clock.after = lapse_sim_clock_read(clock, world->now);
    event.u.clock.mono_before = lapse_sim_clock_mono(before, world->now);
    event.u.clock.mono_after = lapse_sim_clock_mono(clock, world->now);
    event.u.clock.rate_ppb = clock->rate_ppb;
    event.u.clock.stopped = clock->stopped;
    event.u.clock.tick_ns = clock->tick_ns;
    (void)lapse_world_emit(world, &event);
}
