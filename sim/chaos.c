/* Chance as a source of faults: kinds, instants, and whom each befalls. */
#include "chaos.h"

#include "clock_fault.h"
#include "fault.h"

enum chaos_kind {
    CHAOS_PAUSE = 0,
    CHAOS_CRASH,
    CHAOS_SUSPEND,
    CHAOS_WALL,
    CHAOS_RATE,
    CHAOS_CUT,
    CHAOS_LINK,
    CHAOS_DISK,
    CHAOS_KINDS
};
enum { GAPS = 6, LATE_KINDS = 5, NODE = 0 };
/* The last instants of a run that a drawn one may lie off a deadline. */
static const int64_t offsets[LATE_KINDS] = {0, -1, 1, -LAPSE_NS_PER_MS, LAPSE_NS_PER_MS};

static bool has_kind(const struct lapse_plan *plan, enum chaos_kind kind);
static void push(struct lapse_world *world, int64_t at_ns);
static int64_t next_instant(struct lapse_world *world);
static int64_t some_deadline(struct lapse_world *world);
static void draw_fault(struct lapse_world *world);
static bool draw_of_kind(struct lapse_world *world, enum chaos_kind kind,
                         struct lapse_plan_fault *ret);
static bool draw_pause(struct lapse_world *world, struct lapse_plan_fault *ret);
static bool draw_crash(struct lapse_world *world, struct lapse_plan_fault *ret);
static bool draw_clock(struct lapse_world *world, bool wall, struct lapse_plan_fault *ret);
static bool draw_link(struct lapse_world *world, bool cut, struct lapse_plan_fault *ret);
static struct lapse_party draw_party(struct lapse_world *world);
static void aim(struct lapse_plan_fault *fault, struct lapse_party whom);
static void set_for(struct lapse_world *world, struct lapse_plan_fault *fault, int64_t min_ns,
                    int64_t max_ns);
static int64_t wall_off(const struct lapse_world *world, struct lapse_party whose);
static int64_t either_way(struct lapse_world *world, int64_t most);
static int64_t up_to(struct lapse_world *world, int64_t most);
static void heal_all(struct lapse_world *world);

void lapse_sim_chaos_begin(struct lapse_world *world) {
    const struct lapse_plan_chaos *chaos = &world->plan->chaos;
    if (!chaos->on) {
        return;
    }
    for (int32_t kind = 0; kind < CHAOS_KINDS; kind++) {
        if (has_kind(world->plan, (enum chaos_kind)kind) &&
            lapse_choose(world->choices, 2, LAPSE_CHOICE_CHAOS_KIND, kind) == 1) {
            world->chaos.kinds |= UINT32_C(1) << kind;
        }
    }
    uint64_t gap = lapse_choose(world->choices, GAPS, LAPSE_CHOICE_CHAOS_RATE, 0);
    world->chaos.mean_ns = chaos->stop_at_ns / (INT64_C(4) << gap);
    world->chaos.crashes = chaos->crashes;
    push(world, chaos->stop_at_ns);
    if (world->chaos.kinds != 0) {
        push(world, next_instant(world));
    }
}

void lapse_sim_chaos_event(struct lapse_world *world) {
    if (world->now.ns >= world->plan->chaos.stop_at_ns) {
        heal_all(world);
        return;
    }
    draw_fault(world);
    push(world, next_instant(world));
}

static bool has_kind(const struct lapse_plan *plan, enum chaos_kind kind) {
    const struct lapse_plan_chaos *chaos = &plan->chaos;
    switch (kind) {
    case CHAOS_PAUSE:
        return chaos->pause_ns_max > 0;
    case CHAOS_CRASH:
        return chaos->crashes > 0;
    case CHAOS_SUSPEND:
        return chaos->suspend;
    case CHAOS_WALL:
        return chaos->wall_ns > 0;
    case CHAOS_RATE:
        return chaos->rate_ppb > 0;
    case CHAOS_CUT:
        return chaos->cuts && plan->setup.actor_count > 0;
    case CHAOS_LINK:
        return (chaos->loss_ppm > 0 || chaos->duplicate_ppm > 0 || chaos->latency_ns_max > 0) &&
               plan->setup.actor_count > 0;
    case CHAOS_DISK:
        return chaos->disk_fail;
    case CHAOS_KINDS:
        break;
    }
    return false;
}

/* The end of all is an end of faults, so it comes before what begins at its instant. */
static void push(struct lapse_world *world, int64_t at_ns) {
    int64_t stop_ns = world->plan->chaos.stop_at_ns;
    bool end = at_ns >= stop_ns;
    if (end && world->now.ns > 0) {
        return; /* it lies in the queue already */
    }
    lapse_world_push(world, &(struct lapse_queue_item){
                                .at_ns = end ? stop_ns : at_ns,
                                .phase = LAPSE_PHASE_FAULTS,
                                .kind = LAPSE_QUEUE_CHAOS,
                                .rank = LAPSE_RANK_BEGINNING + INT32_MAX * (int64_t)!end,
                                .due_ns = at_ns,
                                .actor = -1});
}

/* Half of the faults come about a deadline that lies ahead, where there is one. */
static int64_t next_instant(struct lapse_world *world) {
    int64_t mean = world->chaos.mean_ns > 0 ? world->chaos.mean_ns : 1;
    int64_t at = INT64_MAX;
    uint64_t near =
        lapse_choose(world->choices, 2 * (uint64_t)LATE_KINDS, LAPSE_CHOICE_CHAOS_WHEN, 0);
    int64_t deadline = near < LATE_KINDS ? INT64_MAX : some_deadline(world);
    if (deadline < INT64_MAX && lapse_ns_add(deadline, offsets[near - LATE_KINDS], &at) &&
        at > world->now.ns) {
        return at;
    }
    int64_t gap = 1 + (int64_t)lapse_choose(world->choices, 2 * (uint64_t)mean,
                                            LAPSE_CHOICE_CHAOS_WHEN, 1);
    return lapse_ns_add(world->now.ns, gap, &at) ? at : INT64_MAX;
}

/* Of a belief, as its client will reckon it; INT64_MAX: nobody believes, or none has one. */
static int64_t some_deadline(struct lapse_world *world) {
    if (world->belief_count == 0) {
        return INT64_MAX;
    }
    const struct lapse_sim_belief *belief =
        &world->beliefs[lapse_choose(world->choices, world->belief_count,
                                     LAPSE_CHOICE_CHAOS_WHEN, 2)];
    if (!belief->has_deadline) {
        return INT64_MAX;
    }
    return lapse_sim_clock_at_steady(&world->actors[belief->actor].clock, belief->deadline).ns;
}

static void draw_fault(struct lapse_world *world) {
    enum chaos_kind kinds[CHAOS_KINDS];
    size_t count = 0;
    for (int32_t kind = 0; kind < CHAOS_KINDS; kind++) {
        if ((world->chaos.kinds >> kind & 1) != 0) {
            kinds[count++] = (enum chaos_kind)kind;
        }
    }
    struct lapse_plan_fault fault = {.actor = -1, .node = -1, .task = -1, .factor = 1};
    uint64_t which = lapse_choose(world->choices, count, LAPSE_CHOICE_CHAOS_FAULT, 0);
    if (draw_of_kind(world, kinds[which], &fault)) {
        lapse_sim_fault_do(world, -1, &fault);
    }
}

static bool draw_of_kind(struct lapse_world *world, enum chaos_kind kind,
                         struct lapse_plan_fault *ret) {
    switch (kind) {
    case CHAOS_PAUSE:
        return draw_pause(world, ret);
    case CHAOS_CRASH:
        return draw_crash(world, ret);
    case CHAOS_SUSPEND:
        ret->kind = LAPSE_FAULT_SUSPEND;
        aim(ret, draw_party(world));
        set_for(world, ret, 1, world->plan->chaos.down_ns_max);
        return true;
    case CHAOS_WALL:
    case CHAOS_RATE:
        return draw_clock(world, kind == CHAOS_WALL, ret);
    case CHAOS_CUT:
    case CHAOS_LINK:
        return draw_link(world, kind == CHAOS_CUT, ret);
    case CHAOS_DISK:
        ret->kind = LAPSE_FAULT_DISK;
        ret->node = NODE;
        ret->disk = LAPSE_DISK_SYNC_FAIL;
        ret->disk_nth = 1 + up_to(world, 3);
        set_for(world, ret, 1, world->plan->chaos.down_ns_max);
        return true;
    case CHAOS_KINDS:
        break;
    }
    return false;
}

static bool draw_pause(struct lapse_world *world, struct lapse_plan_fault *ret) {
    const struct lapse_plan_chaos *chaos = &world->plan->chaos;
    struct lapse_party whom;
    if (chaos->pause_count > 0) {
        whom = chaos->pause_who[lapse_choose(world->choices, chaos->pause_count,
                                             LAPSE_CHOICE_CHAOS_WHO, 0)];
    } else {
        whom = draw_party(world);
    }
    ret->kind = LAPSE_FAULT_PAUSE;
    aim(ret, whom);
    set_for(world, ret, chaos->pause_ns_min, chaos->pause_ns_max);
    return true;
}

/* A restart comes by itself; with `machine` a crash of the node may take its machine too. */
static bool draw_crash(struct lapse_world *world, struct lapse_plan_fault *ret) {
    if (world->chaos.crashes == 0) {
        return false;
    }
    world->chaos.crashes--;
    ret->kind = LAPSE_FAULT_CRASH;
    aim(ret, draw_party(world));
    if (ret->node == NODE && world->plan->chaos.machine) {
        ret->machine = up_to(world, 1) == 1;
    }
    set_for(world, ret, 1, world->plan->chaos.down_ns_max);
    return true;
}

static bool draw_clock(struct lapse_world *world, bool wall, struct lapse_plan_fault *ret) {
    ret->kind = LAPSE_FAULT_CLOCK;
    aim(ret, draw_party(world));
    ret->clock.whose = ret->node >= 0 ? (struct lapse_party){LAPSE_PARTY_NODE, ret->node}
                                      : (struct lapse_party){LAPSE_PARTY_ACTOR, ret->actor};
    if (wall) {
        ret->clock.has_wall = true;
        ret->clock.wall_ns = either_way(world, world->plan->chaos.wall_ns) -
                             wall_off(world, ret->clock.whose);
    } else {
        ret->clock.has_rate = true;
        ret->clock.rate_ppb = either_way(world, world->plan->chaos.rate_ppb);
    }
    return true;
}

/* Of some client to the node. A cut may be one way. */
static bool draw_link(struct lapse_world *world, bool cut, struct lapse_plan_fault *ret) {
    const struct lapse_plan_chaos *chaos = &world->plan->chaos;
    struct lapse_party client = {
        LAPSE_PARTY_ACTOR, (int32_t)lapse_choose(world->choices, world->plan->setup.actor_count,
                                                 LAPSE_CHOICE_CHAOS_WHO, 1)};
    struct lapse_party node = {LAPSE_PARTY_NODE, NODE};
    int64_t way = cut ? up_to(world, 2) : 0;
    ret->kind = cut ? LAPSE_FAULT_CUT : LAPSE_FAULT_LINK;
    ret->link.from = way == 2 ? node : client;
    ret->link.to = way == 2 ? client : node;
    ret->link.both = way == 0;
    if (!cut) {
        ret->link.loss_ppm = (int32_t)up_to(world, chaos->loss_ppm);
        ret->link.duplicate_ppm = (int32_t)up_to(world, chaos->duplicate_ppm);
        ret->link.latency_ns_max = up_to(world, chaos->latency_ns_max);
        ret->link.reorder = chaos->reorder && up_to(world, 1) == 1;
    }
    set_for(world, ret, 1, chaos->down_ns_max);
    return true;
}

/* Any client, or the node. */
static struct lapse_party draw_party(struct lapse_world *world) {
    uint64_t actors = world->plan->setup.actor_count;
    uint64_t which = lapse_choose(world->choices, actors + 1, LAPSE_CHOICE_CHAOS_WHO, 0);
    if (which == actors) {
        return (struct lapse_party){LAPSE_PARTY_NODE, NODE};
    }
    return (struct lapse_party){LAPSE_PARTY_ACTOR, (int32_t)which};
}

static void aim(struct lapse_plan_fault *fault, struct lapse_party whom) {
    bool actor = whom.kind == LAPSE_PARTY_ACTOR;
    fault->actor = actor ? whom.index : -1;
    fault->node = actor ? -1 : whom.index;
}

/* One time in four the fault ends about a deadline, else after a drawn span. */
static void set_for(struct lapse_world *world, struct lapse_plan_fault *fault, int64_t min_ns,
                    int64_t max_ns) {
    fault->has_for = true;
    fault->for_ns = min_ns + up_to(world, max_ns - min_ns);
    if (lapse_choose(world->choices, 4, LAPSE_CHOICE_CHAOS_SPAN, 1) != 3) {
        return;
    }
    int64_t deadline = some_deadline(world);
    int64_t end = 0;
    uint64_t off = lapse_choose(world->choices, LATE_KINDS, LAPSE_CHOICE_CHAOS_SPAN, 2);
    if (deadline < INT64_MAX && lapse_ns_add(deadline, offsets[off], &end) &&
        end - world->now.ns >= min_ns && end - world->now.ns <= max_ns) {
        fault->for_ns = end - world->now.ns;
    }
}

/* How far a wall clock is from right, so that steps do not add up past what is allowed. */
static int64_t wall_off(const struct lapse_world *world, struct lapse_party whose) {
    int64_t shown = lapse_sim_clock_wall(lapse_sim_clock_of(world, whose), world->now).ns;
    int64_t right = 0;
    int64_t off = 0;
    bool known = lapse_ns_add(world->plan->setup.epoch.ns, world->now.ns, &right) &&
                 lapse_ns_sub(shown, right, &off);
    return known ? off : 0;
}

static int64_t either_way(struct lapse_world *world, int64_t most) {
    int64_t span = up_to(world, most);
    return up_to(world, 1) == 1 ? -span : span;
}

static int64_t up_to(struct lapse_world *world, int64_t most) {
    if (most <= 0) {
        return 0;
    }
    return (int64_t)lapse_choose(world->choices, (uint64_t)most + 1, LAPSE_CHOICE_CHAOS_SPAN, 0);
}

/* All that may have been drawn ends; what stands by a line of the plan ends with it, as there is
 * one state of standing still, not two. */
static void heal_all(struct lapse_world *world) {
    struct lapse_plan_fault fault = {.task = -1, .factor = 1, .ends = true};
    for (int32_t i = -1; i < (int32_t)world->plan->setup.actor_count; i++) {
        bool node = i < 0;
        bool up = node ? world->node.store != NULL : world->actors[i].up;
        fault.actor = i;
        fault.node = node ? NODE : -1;
        fault.kind = LAPSE_FAULT_PAUSE;
        lapse_sim_fault_do(world, -1, &fault);
        if (!up || (node && (world->chaos.kinds >> CHAOS_DISK & 1) != 0)) {
            struct lapse_plan_fault anew = {
                .kind = LAPSE_FAULT_RESTART, .actor = fault.actor, .node = fault.node, .task = -1};
            lapse_sim_fault_do(world, -1, &anew);
        }
        if ((world->chaos.kinds >> CHAOS_RATE & 1) != 0) {
            struct lapse_plan_fault clock = {.kind = LAPSE_FAULT_CLOCK, .actor = fault.actor,
                                             .node = fault.node, .task = -1};
            clock.clock.whose = node ? (struct lapse_party){LAPSE_PARTY_NODE, NODE}
                                     : (struct lapse_party){LAPSE_PARTY_ACTOR, i};
            clock.clock.has_rate = true;
            clock.clock.rate_ppb =
                lapse_sim_clock_of(world, clock.clock.whose)->rate_start_ppb;
            lapse_sim_fault_do(world, -1, &clock);
        }
    }
    fault = (struct lapse_plan_fault){
        .kind = LAPSE_FAULT_CUT, .actor = -1, .node = -1, .task = -1, .ends = true};
    lapse_sim_fault_do(world, -1, &fault); /* every link */
}
