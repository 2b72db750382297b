/* Healing everything: each kind of fault by the way in which a line of a plan would end it. */
#include "chaos_heal.h"

#include "clock_fault.h"
#include "disk_fault.h"
#include "fault.h"

enum { NO_STEP = -1, NODE = 0 };

static void heal_actor(struct lapse_world *world, int32_t actor);
static void heal_node(struct lapse_world *world);
static void heal_clock(struct lapse_world *world, struct lapse_party whose);
static void end_of(struct lapse_world *world, enum lapse_fault_kind kind, int32_t actor);

/* Links come last: by then everybody can hear again. */
void lapse_sim_chaos_heal(struct lapse_world *world) {
    const struct lapse_setup *setup = &world->plan->setup;
    heal_node(world);
    for (size_t i = 0; i < setup->actor_count; i++) {
        heal_actor(world, (int32_t)i);
    }
    for (size_t i = 0; i < setup->resource_count; i++) {
        heal_clock(world, (struct lapse_party){LAPSE_PARTY_RESOURCE, (int32_t)i});
    }
    end_of(world, LAPSE_FAULT_CUT, -1); /* every link, and both of its faults */
}

/* A store on a disk that was not well is opened anew, as it may have shut itself. */
static void heal_node(struct lapse_world *world) {
    bool was_ill = world->node.troubled;
    lapse_sim_disk_heal(world, NO_STEP);
    end_of(world, LAPSE_FAULT_PAUSE, -1);
    end_of(world, LAPSE_FAULT_SLOW, -1);
    if (world->node.store == NULL || was_ill) {
        struct lapse_plan_fault anew = {
            .kind = LAPSE_FAULT_RESTART, .actor = -1, .node = NODE, .task = -1, .factor = 1};
        lapse_sim_fault_do(world, NO_STEP, &anew);
    }
    heal_clock(world, (struct lapse_party){LAPSE_PARTY_NODE, NODE});
}

static void heal_actor(struct lapse_world *world, int32_t actor) {
    end_of(world, LAPSE_FAULT_PAUSE, actor); /* a sleep and a freeze too */
    end_of(world, LAPSE_FAULT_STARVE, actor);
    end_of(world, LAPSE_FAULT_SLOW, actor);
    if (!world->actors[actor].up) {
        struct lapse_plan_fault anew = {.kind = LAPSE_FAULT_RESTART,
                                        .actor = actor,
                                        .node = -1,
                                        .task = -1,
                                        .factor = 1,
                                        .keeps = world->actors[actor].keeps};
        lapse_sim_fault_do(world, NO_STEP, &anew);
    }
    heal_clock(world, (struct lapse_party){LAPSE_PARTY_ACTOR, actor});
}

static void heal_clock(struct lapse_world *world, struct lapse_party whose) {
    const struct lapse_sim_clock *clock = lapse_sim_clock_of(world, whose);
    struct lapse_plan_fault fault = {
        .kind = LAPSE_FAULT_CLOCK, .actor = -1, .node = -1, .task = -1, .factor = 1};
    fault.clock.whose = whose;
    fault.clock.has_rate = clock->rate_ppb != clock->rate_start_ppb;
    fault.clock.rate_ppb = clock->rate_start_ppb;
    fault.clock.has_mono = clock->stopped;
    if (fault.clock.has_rate || fault.clock.has_mono) {
        lapse_sim_fault_do(world, NO_STEP, &fault);
    }
}

/* Actor -1: of the node, or of every link. */
static void end_of(struct lapse_world *world, enum lapse_fault_kind kind, int32_t actor) {
    struct lapse_plan_fault fault = {.kind = kind,
                                     .actor = actor,
                                     .node = actor < 0 ? NODE : -1,
                                     .task = -1,
                                     .factor = 1,
                                     .ends = true};
    lapse_sim_fault_do(world, NO_STEP, &fault);
}
