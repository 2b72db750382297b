/* Chance as a source of faults: kinds, instants, and whom each befalls. */
#include "chaos.h"

#include "chaos_heal.h"
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
    CHAOS_FREEZE,
    CHAOS_STARVE,
    CHAOS_SLOW,
    CHAOS_KINDS
};
enum { GAPS = 6, LATE_KINDS = 5, NODE = 0, FACTOR_MAX = 10, SYNCS_MAX = 3, BITS_MAX = 3,
       AIMS_MAX = 8 };
#define SLOW_NODE_NS LAPSE_NS_PER_S
#define RESTARTS ((UINT32_C(1) << LAPSE_DISK_SYNC_FAIL) | (UINT32_C(1) << LAPSE_DISK_FULL))

/* The last instants of a run that a drawn one may lie off a deadline. */
static const int64_t offsets[LATE_KINDS] = {0, -1, 1, -LAPSE_NS_PER_MS, LAPSE_NS_PER_MS};

static bool has_kind(const struct lapse_plan *plan, enum chaos_kind kind);
static void push(struct lapse_world *world, int64_t at_ns);
static int64_t next_instant(struct lapse_world *world);
static bool aim_at(struct lapse_world *world, int64_t off_ns, int64_t *ret_at_ns);
static int64_t aim_again(struct lapse_world *world);
static int64_t some_deadline(struct lapse_world *world);
static int64_t deadline_of(const struct lapse_world *world, size_t belief);
static void draw_fault(struct lapse_world *world);
static bool draw_of_kind(struct lapse_world *world, enum chaos_kind kind,
                         struct lapse_plan_fault *ret);
static bool draw_pause(struct lapse_world *world, struct lapse_plan_fault *ret);
static bool draw_crash(struct lapse_world *world, struct lapse_plan_fault *ret);
static bool draw_hold(struct lapse_world *world, enum lapse_fault_kind kind,
                      struct lapse_plan_fault *ret);
static bool draw_late(struct lapse_world *world, bool starve, struct lapse_plan_fault *ret);
static bool draw_disk(struct lapse_world *world, struct lapse_plan_fault *ret);
static bool draw_clock(struct lapse_world *world, bool wall, struct lapse_plan_fault *ret);
static int64_t wall_most(const struct lapse_world *world);
static struct lapse_party draw_clocked(struct lapse_world *world);
static bool draw_link(struct lapse_world *world, bool cut, struct lapse_plan_fault *ret);
static struct lapse_party draw_party(struct lapse_world *world);
static void aim(struct lapse_plan_fault *fault, struct lapse_party whom);
static void set_for(struct lapse_world *world, struct lapse_plan_fault *fault, int64_t min_ns,
                    int64_t max_ns);
static int64_t wall_off(const struct lapse_world *world, struct lapse_party whose);
static int64_t either_way(struct lapse_world *world, int64_t most);
static int64_t up_to(struct lapse_world *world, int64_t most);

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
    int64_t first_ns = world->chaos.kinds != 0 ? next_instant(world) : INT64_MAX;
    if (first_ns < chaos->stop_at_ns) {
        push(world, first_ns);
    }
}

void lapse_sim_chaos_event(struct lapse_world *world) {
    if (world->now.ns >= world->plan->chaos.stop_at_ns) {
        lapse_sim_chaos_heal(world);
        return;
    }
    int64_t again_ns = aim_again(world);
    if (again_ns < INT64_MAX) {
        push(world, again_ns);
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
        return chaos->disk != 0;
    case CHAOS_FREEZE:
        return chaos->freeze;
    case CHAOS_STARVE:
        return chaos->starve && plan->setup.actor_count > 0;
    case CHAOS_SLOW:
        return chaos->slow;
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
    world->chaos.aims = 0;
    if (near >= LATE_KINDS && aim_at(world, offsets[near - LATE_KINDS], &at)) {
        world->chaos.aims = AIMS_MAX;
        world->chaos.off_ns = offsets[near - LATE_KINDS];
        return at;
    }
    /* Nothing chosen is the longest gap, so a list of choices that is cut has few faults more. */
    int64_t gap =
        (int64_t)lapse_choose(world->choices, 2 * (uint64_t)mean, LAPSE_CHOICE_CHAOS_WHEN, 1);
    return lapse_ns_add(world->now.ns, gap == 0 ? 2 * mean : 1 + gap, &at) ? at : INT64_MAX;
}

/* False: there is none, or that instant is over. */
static bool aim_at(struct lapse_world *world, int64_t off_ns, int64_t *ret_at_ns) {
    int64_t deadline = some_deadline(world);
    return deadline < INT64_MAX && lapse_ns_add(deadline, off_ns, ret_at_ns) &&
           *ret_at_ns > world->now.ns;
}

/* A deadline that was aimed at may have moved since: each renewal moves it. INT64_MAX: it has not,
 * or it has too often. */
static int64_t aim_again(struct lapse_world *world) {
    struct lapse_sim_chaos *chaos = &world->chaos;
    int64_t hit = world->now.ns - chaos->off_ns;
    int64_t at = INT64_MAX;
    bool stands = hit == world->node.housekeep_ns;
    for (size_t i = 0; i < world->belief_count; i++) {
        stands = stands || deadline_of(world, i) == hit;
    }
    if (chaos->aims == 0 || stands) {
        return INT64_MAX;
    }
    chaos->aims--;
    return aim_at(world, chaos->off_ns, &at) ? at : INT64_MAX;
}

/* Of a belief, as its client will reckon it, or what the store has to do next: mostly the end of a
 * term. INT64_MAX: nothing lies ahead. */
static int64_t some_deadline(struct lapse_world *world) {
    size_t ahead = 0;
    for (size_t i = 0; i < world->belief_count; i++) {
        ahead += deadline_of(world, i) > world->now.ns ? 1 : 0;
    }
    uint64_t which = lapse_choose(world->choices, ahead + 1, LAPSE_CHOICE_CHAOS_WHEN, 2);
    if (which == 0) {
        return world->node.housekeep_ns;
    }
    size_t at = 0;
    for (size_t i = 0; which > 0; i++) {
        which -= deadline_of(world, i) > world->now.ns ? 1 : 0;
        at = i;
    }
    return deadline_of(world, at);
}

/* In true time, if its client's clock goes on as it does; -1: it has none. */
static int64_t deadline_of(const struct lapse_world *world, size_t belief) {
    const struct lapse_sim_belief *its = &world->beliefs[belief];
    return its->has_deadline
               ? lapse_sim_clock_at_steady(&world->actors[its->actor].clock, its->deadline).ns
               : -1;
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
        if (world->drawn != NULL) {
            world->drawn(world->drawn_ctx, world->now, &fault);
        }
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
        return draw_hold(world, LAPSE_FAULT_SUSPEND, ret);
    case CHAOS_FREEZE:
        return draw_hold(world, LAPSE_FAULT_FREEZE, ret);
    case CHAOS_STARVE:
    case CHAOS_SLOW:
        return draw_late(world, kind == CHAOS_STARVE, ret);
    case CHAOS_WALL:
    case CHAOS_RATE:
        return draw_clock(world, kind == CHAOS_WALL, ret);
    case CHAOS_CUT:
    case CHAOS_LINK:
        return draw_link(world, kind == CHAOS_CUT, ret);
    case CHAOS_DISK:
        return draw_disk(world, ret);
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

static bool draw_hold(struct lapse_world *world, enum lapse_fault_kind kind,
                      struct lapse_plan_fault *ret) {
    ret->kind = kind;
    aim(ret, draw_party(world));
    set_for(world, ret, 1, world->plan->chaos.down_ns_max);
    return true;
}

/* Only a client's tasks starve: all of them, so that none gets ahead by chance alone. */
static bool draw_late(struct lapse_world *world, bool starve, struct lapse_plan_fault *ret) {
    struct lapse_party whom = draw_party(world);
    if (starve && whom.kind != LAPSE_PARTY_ACTOR) {
        return false;
    }
    ret->kind = starve ? LAPSE_FAULT_STARVE : LAPSE_FAULT_SLOW;
    aim(ret, whom);
    ret->factor = 1 + (int32_t)up_to(world, FACTOR_MAX - 1);
    ret->link.latency_ns_min = up_to(world, SLOW_NODE_NS);
    set_for(world, ret, 1, world->plan->chaos.down_ns_max);
    return true;
}

/* A store whose sync has failed answers nobody before it is opened again: so a start of its
 * process may be drawn too. A disk that tears does so until all heals, as its crash comes later. */
static bool draw_disk(struct lapse_world *world, struct lapse_plan_fault *ret) {
    uint32_t may = world->plan->chaos.disk;
    enum lapse_disk_fault kinds[LAPSE_DISK_ROT + 1] = {0};
    size_t count = 0;
    for (int kind = LAPSE_DISK_SYNC_FAIL; kind <= LAPSE_DISK_ROT; kind++) {
        if ((may >> kind & 1) != 0) {
            kinds[count++] = (enum lapse_disk_fault)kind;
        }
    }
    count += (may & RESTARTS) != 0 ? 1 : 0; /* 0 at the end of kinds */
    ret->node = NODE;
    ret->disk = kinds[lapse_choose(world->choices, count, LAPSE_CHOICE_CHAOS_FAULT, 1)];
    if (ret->disk == 0) {
        ret->kind = LAPSE_FAULT_CRASH;
        set_for(world, ret, 1, world->plan->chaos.down_ns_max);
        return true;
    }
    ret->kind = LAPSE_FAULT_DISK;
    ret->disk_nth = 1 + up_to(world, SYNCS_MAX);
    ret->disk_bits = 1 + up_to(world, BITS_MAX - 1);
    if (ret->disk != LAPSE_DISK_TEAR) {
        set_for(world, ret, 1, world->plan->chaos.down_ns_max);
    }
    return true;
}

static bool draw_clock(struct lapse_world *world, bool wall, struct lapse_plan_fault *ret) {
    ret->kind = LAPSE_FAULT_CLOCK;
    ret->clock.whose = draw_clocked(world);
    if (wall) {
        ret->clock.has_wall = true;
        int64_t to = either_way(world, wall_most(world));
        if (!lapse_ns_sub(to, wall_off(world, ret->clock.whose), &ret->clock.wall_ns)) {
            ret->clock.wall_ns = 0;
        }
    } else {
        ret->clock.has_rate = true;
        ret->clock.rate_ppb = either_way(world, world->plan->chaos.rate_ppb);
    }
    return true;
}

/* A wall that may go no further than its bound leaves room for what its rate can add until all
 * heals. */
static int64_t wall_most(const struct lapse_world *world) {
    const struct lapse_plan_chaos *chaos = &world->plan->chaos;
    int64_t bound = world->plan->setup.wall_bound.ns;
    int64_t drift = 0, room = 0;
    if (chaos->wall_ns > bound) {
        return chaos->wall_ns;
    }
    if (!lapse_ns_scale(chaos->stop_at_ns, chaos->rate_ppb, LAPSE_NS_PER_S, &drift) ||
        !lapse_ns_sub(bound, drift + 1, &room)) {
        return 0;
    }
    return room < chaos->wall_ns ? room : chaos->wall_ns;
}

/* A client, a resource, or the node. */
static struct lapse_party draw_clocked(struct lapse_world *world) {
    uint64_t actors = world->plan->setup.actor_count;
    uint64_t resources = world->plan->setup.resource_count;
    uint64_t which =
        lapse_choose(world->choices, actors + resources + 1, LAPSE_CHOICE_CHAOS_WHO, 2);
    if (which < actors) {
        return (struct lapse_party){LAPSE_PARTY_ACTOR, (int32_t)which};
    }
    which -= actors;
    return which < resources ? (struct lapse_party){LAPSE_PARTY_RESOURCE, (int32_t)which}
                             : (struct lapse_party){LAPSE_PARTY_NODE, NODE};
}

/* Of some client to the node or a resource. A cut may be one way. */
static bool draw_link(struct lapse_world *world, bool cut, struct lapse_plan_fault *ret) {
    const struct lapse_plan_chaos *chaos = &world->plan->chaos;
    struct lapse_party client = {
        LAPSE_PARTY_ACTOR, (int32_t)lapse_choose(world->choices, world->plan->setup.actor_count,
                                                 LAPSE_CHOICE_CHAOS_WHO, 1)};
    uint64_t peer = lapse_choose(world->choices, world->plan->setup.resource_count + 1,
                                 LAPSE_CHOICE_CHAOS_WHO, 3);
    struct lapse_party node = {LAPSE_PARTY_NODE, NODE};
    if (peer > 0) {
        node = (struct lapse_party){LAPSE_PARTY_RESOURCE, (int32_t)peer - 1};
    }
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
