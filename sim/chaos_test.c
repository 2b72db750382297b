/* Chaos: which faults come, that they keep to what is allowed, and that all of them end. */
#include "contracts/rule.h"
#include "node.h"
#include "plan_builder_test.h"
#include "state.h"

#include <criterion/criterion.h>
#include <string.h>

#define STOP_NS S(60)
#define RUN_NS S(90)

enum { SEEDS = 60, FAULTS = LAPSE_FAULT_DISK + 1, NEAR_ONE_IN = 4 };

/* Two clients that ask for one lease, w1 careful; every kind of fault on both disks' terms. */
static void scene_begin(struct sketch *sketch) {
    sketch_begin(sketch);
    for (int i = 0; i < 2; i++) {
        int32_t actor = sketch_actor(sketch, i == 0 ? "w1" : "w2", i == 0);
        int32_t task = sketch_task(sketch, actor, false);
        struct lapse_plan_step *loop = sketch_loop(sketch, actor, S(2 + i), true);
        struct lapse_plan_step *ask = sketch_acquire(sketch, actor, "jobs/n", S(5), i);
        ask->has_timeout = true;
        ask->timeout_ns = S(1);
        sketch_on(sketch, ask, ~UINT32_C(0), LAPSE_ACTION_SKIP, 0);
        sketch_body(sketch, loop, ask);
        sketch_line(sketch, task, loop);
        sketch->loops[i].steady = true;
    }
    (void)sketch_resource(sketch, "report", true);
    sketch_run_for(sketch, RUN_NS);
    sketch->plan.store = LAPSE_STORE_MEMORY;
    sketch->plan.setup.durable = true;
    sketch->plan.setup.sync = LAPSE_SYNC_FULL;
    sketch->plan.setup.rate_ppb = 200000;
    sketch->plan.setup.wall_bound.ns = S(2);
    sketch->plan.setup.chaos = true;
    sketch->plan.chaos = (struct lapse_plan_chaos){
        .on = true, .stop_at_ns = STOP_NS, .down_ns_max = S(10)};
}

static void allow_all(struct lapse_plan_chaos *chaos) {
    chaos->pause_ns_max = S(20);
    chaos->crashes = 4;
    chaos->loss_ppm = 200000;
    chaos->duplicate_ppm = 50000;
    chaos->latency_ns_max = S(1) / 10;
    chaos->wall_ns = S(2);
    chaos->rate_ppb = 200000;
    chaos->cuts = chaos->reorder = chaos->suspend = chaos->machine = true;
    chaos->starve = chaos->slow = chaos->freeze = true;
    chaos->disk = ~UINT32_C(0) << LAPSE_DISK_SYNC_FAIL;
}

static struct stage run_seed(const struct sketch *sketch, uint64_t seed) {
    struct stage stage = stage_open(sketch, seed);
    struct lapse_error err = {0};
    cr_assert_eq(lapse_world_run(stage.world, &err), LAPSE_OK, "seed %d: %s", (int)seed,
                 err.message);
    return stage;
}

/* Which kinds a run has had: a bit each of enum lapse_fault_kind, and from 16 on of its disk's. */
static uint32_t kinds_of(const struct stage *stage) {
    uint32_t kinds = 0;
    for (size_t i = 0; i < lapse_history_count(stage->history); i++) {
        const struct lapse_history_event *event = lapse_history_at(stage->history, i);
        if (event->kind == LAPSE_HISTORY_CLOCK) {
            kinds |= UINT32_C(1) << LAPSE_FAULT_CLOCK;
        } else if (event->kind == LAPSE_HISTORY_FAULT_BEGIN) {
            kinds |= UINT32_C(1) << event->u.fault.kind;
            kinds |= event->u.fault.kind == LAPSE_FAULT_DISK
                         ? UINT32_C(1) << (16 + event->u.fault.disk)
                         : 0;
        }
    }
    return kinds;
}

static uint32_t kinds_of_seeds(const struct sketch *sketch) {
    uint32_t kinds = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct stage stage = run_seed(sketch, seed);
        kinds |= kinds_of(&stage);
        stage_close(&stage);
    }
    return kinds;
}

Test(chaos, every_kind_that_is_allowed_comes) {
    static struct sketch sketch;
    scene_begin(&sketch);
    allow_all(&sketch.plan.chaos);
    uint32_t kinds = kinds_of_seeds(&sketch);
    for (int kind = LAPSE_FAULT_PAUSE; kind < FAULTS; kind++) {
        bool told = kind != LAPSE_FAULT_RESTART; /* told as the end of a crash */
        cr_expect(!told || (kinds >> kind & 1) != 0, "no %s came",
                  lapse_fault_word((enum lapse_fault_kind)kind));
    }
    for (int disk = LAPSE_DISK_SYNC_FAIL; disk <= LAPSE_DISK_ROT; disk++) {
        cr_expect((kinds >> (16 + disk) & 1) != 0, "no disk fault %d came", disk);
    }
}

static void allow_nothing(struct lapse_plan_chaos *chaos) {
    (void)chaos;
}
static void allow_cuts(struct lapse_plan_chaos *chaos) {
    chaos->cuts = true;
}
static void allow_rates(struct lapse_plan_chaos *chaos) {
    chaos->rate_ppb = 200000;
}
static void allow_pauses(struct lapse_plan_chaos *chaos) {
    chaos->pause_ns_max = S(1);
}
static void allow_starving(struct lapse_plan_chaos *chaos) {
    chaos->starve = true;
}

Test(chaos, what_is_not_allowed_does_not_come) {
    static const struct {
        void (*allow)(struct lapse_plan_chaos *chaos);
        uint32_t kinds;
    } cases[] = {
        {allow_nothing, 0},
        {allow_cuts, UINT32_C(1) << LAPSE_FAULT_CUT},
        {allow_rates, UINT32_C(1) << LAPSE_FAULT_CLOCK},
        {allow_pauses, UINT32_C(1) << LAPSE_FAULT_PAUSE},
        {allow_starving, UINT32_C(1) << LAPSE_FAULT_STARVE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static struct sketch sketch;
        scene_begin(&sketch);
        cases[i].allow(&sketch.plan.chaos);
        cr_expect_eq(kinds_of_seeds(&sketch), cases[i].kinds, "case %zu", i);
    }
}

static void expect_clock_within(const struct sketch *sketch, const struct lapse_sim_clock *clock,
                                int64_t at_ns) {
    int64_t right = sketch->plan.setup.epoch.ns + at_ns;
    int64_t off = lapse_sim_clock_wall(clock, (struct lapse_true_time){at_ns}).ns - right;
    cr_expect(off <= S(2) && off >= -S(2), "a wall is off by %lld", (long long)off);
    cr_expect(clock->rate_ppb <= 200000 && clock->rate_ppb >= -200000);
}

/* Walls are looked at where they have drifted longest: at the end of all. */
static void expect_clocks_within(const struct sketch *sketch, const struct lapse_world *world) {
    for (size_t i = 0; i < sketch->plan.setup.actor_count; i++) {
        expect_clock_within(sketch, &world->actors[i].clock, world->now.ns);
    }
    expect_clock_within(sketch, &world->resources[0].clock, world->now.ns);
    expect_clock_within(sketch, &world->node.clock, world->now.ns);
}

Test(chaos, clocks_keep_to_their_bounds) {
    static struct sketch sketch;
    scene_begin(&sketch);
    sketch.plan.chaos.wall_ns = S(2);
    sketch.plan.chaos.rate_ppb = 200000;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct stage stage = stage_open(&sketch, seed);
        bool over = false;
        while (!over) {
            cr_assert_eq(lapse_world_step(stage.world, &over, NULL), LAPSE_OK);
            expect_clocks_within(&sketch, stage.world);
        }
        stage_close(&stage);
    }
}

static void expect_well(const struct lapse_world *world, int seed) {
    const struct lapse_sim_node *node = &world->node;
    size_t lanes = world->plan->setup.actor_count * 2 * (1 + world->plan->setup.resource_count);
    bool well = node->store != NULL && !lapse_sim_node_held(world) && !node->slow.on &&
                world->starved == 0 &&
                node->trouble.sync == 0 && !node->trouble.tear && !node->trouble.full &&
                node->clock.rate_ppb == 0;
    cr_expect(well, "seed %d: the node is not well", seed);
    for (size_t i = 0; i < world->plan->setup.actor_count; i++) {
        const struct lapse_sim_actor *actor = &world->actors[i];
        cr_expect(actor->up && !actor->paused && !actor->slow.on && actor->clock.rate_ppb == 0,
                  "seed %d: client %zu is not well", seed, i);
    }
    for (size_t i = 0; i < lanes; i++) {
        const struct lapse_sim_lane *lane = &world->lanes[i];
        cr_expect(!lane->cut.on && !lane->shaped.on && lane->loss_ppm == 0 &&
                      lane->latency_ns_max == 0,
                  "seed %d: lane %zu is not well", seed, i);
    }
}

static void run_until(struct stage *stage, int64_t past_ns) {
    bool over = false;
    while (!over && stage->world->now.ns <= past_ns) {
        cr_assert_eq(lapse_world_step(stage->world, &over, NULL), LAPSE_OK);
    }
}

/* On a disk of rows and on one of files; a link that a line has cut for ever is whole again too. */
Test(chaos, all_heals_at_the_end) {
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        static struct sketch sketch;
        scene_begin(&sketch);
        allow_all(&sketch.plan.chaos);
        sketch.plan.chaos.disk &= ~(UINT32_C(1) << LAPSE_DISK_ROT); /* it may not open again */
        sketch.plan.store = seed % 4 == 0 ? LAPSE_STORE_SQLITE : LAPSE_STORE_MEMORY;
        struct lapse_plan_step *cut = sketch_pause(&sketch, 0, S(50), 0);
        cut->u.fault.kind = LAPSE_FAULT_CUT;
        cut->u.fault.actor = -1;
        cut->u.fault.link = (struct lapse_plan_link){
            .from = {LAPSE_PARTY_ACTOR, 0}, .to = {LAPSE_PARTY_NODE, 0}, .both = true};
        struct stage stage = stage_open(&sketch, seed);
        run_until(&stage, STOP_NS);
        expect_well(stage.world, (int)seed);
        size_t begun = stage_count(&stage, LAPSE_HISTORY_FAULT_BEGIN, -1);
        run_until(&stage, RUN_NS);
        cr_expect_eq(stage_count(&stage, LAPSE_HISTORY_FAULT_BEGIN, -1), begun,
                     "seed %d: a fault came after the end of all", (int)seed);
        expect_well(stage.world, (int)seed);
        stage_close(&stage);
    }
}

/* A whole run by a recorded list. */
static struct stage run_list(struct sketch *sketch, const struct lapse_choice *list, size_t count) {
    struct stage stage = stage_open(sketch, 7);
    lapse_world_close(stage.world);
    lapse_history_close(stage.history);
    lapse_choices_close(stage.choices);
    cr_assert_eq(lapse_choices_open_list(lapse_alloc_libc(), list, count, &stage.choices),
                 LAPSE_OK);
    struct lapse_world_options options = {.plan = &sketch->plan, .choices = stage.choices};
    cr_assert_eq(lapse_history_open(lapse_alloc_libc(), 0, &stage.history, NULL), LAPSE_OK);
    options.history = stage.history;
    cr_assert_eq(lapse_world_open(&options, &stage.world, NULL), LAPSE_OK);
    cr_assert_eq(lapse_world_run(stage.world, NULL), LAPSE_OK);
    return stage;
}

/* What a shrinker or a fuzzer leaves of a list: which kinds there are, and nothing else. */
Test(chaos, kinds_without_instants_are_few_faults) {
    static struct sketch sketch;
    scene_begin(&sketch);
    allow_all(&sketch.plan.chaos);
    struct lapse_choice kinds[16];
    for (int32_t kind = 0; kind < 16; kind++) {
        kinds[kind] = (struct lapse_choice){LAPSE_CHOICE_CHAOS_KIND, kind, 2, 1};
    }
    struct stage stage = run_list(&sketch, kinds, 16);
    cr_expect_gt(stage_count(&stage, LAPSE_HISTORY_FAULT_BEGIN, -1), 0);
    cr_expect_lt(lapse_history_count(stage.history), 1000);
    stage_close(&stage);
}

Test(chaos, a_run_is_told_by_its_seed_and_choosing_nothing_is_no_fault) {
    static struct sketch sketch;
    scene_begin(&sketch);
    allow_all(&sketch.plan.chaos);
    struct stage first = run_seed(&sketch, 7), again = run_seed(&sketch, 7);
    struct stage other = run_seed(&sketch, 8);
    uint64_t digest = lapse_history_digest(first.history);
    cr_expect_eq(lapse_history_digest(again.history), digest);
    cr_expect_neq(lapse_history_digest(other.history), digest);
    stage_close(&again);
    stage_close(&other);

    stage_close(&first);
    again = run_list(&sketch, NULL, 0);
    cr_expect_eq(kinds_of(&again), 0);
    cr_expect_eq(stage_count(&again, LAPSE_HISTORY_FAULT_END, -1), 0);
    stage_close(&again);
}

static bool has_fault_near(const struct stage *stage, int64_t deadline_ns) {
    for (size_t i = 0; i < lapse_history_count(stage->history); i++) {
        const struct lapse_history_event *event = lapse_history_at(stage->history, i);
        int64_t off = event->at.ns - deadline_ns;
        if (event->kind == LAPSE_HISTORY_FAULT_BEGIN && off >= -1 && off <= 1) {
            return true;
        }
    }
    return false;
}

/* Pauses too short to be in anybody's way: how many deadlines of a careful client have one begin
 * within 1 ns of them. */
Test(chaos, faults_come_about_deadlines) {
    static struct sketch sketch;
    size_t near = 0, all = 0;
    scene_begin(&sketch);
    sketch.plan.setup.rate_ppb = 0;
    sketch.plan.chaos.pause_ns_max = LAPSE_NS_PER_MS;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct stage stage = run_seed(&sketch, seed);
        for (size_t i = 0; kinds_of(&stage) != 0 && i < lapse_history_count(stage.history); i++) {
            const struct lapse_history_event *event = lapse_history_at(stage.history, i);
            if (event->kind != LAPSE_HISTORY_BELIEF_BEGIN || !event->u.belief.has_deadline ||
                event->u.belief.deadline.ns >= STOP_NS) {
                continue;
            }
            all++;
            near += has_fault_near(&stage, event->u.belief.deadline.ns) ? 1 : 0;
        }
        stage_close(&stage);
    }
    cr_log_info("%zu of %zu deadlines have a fault within 1 ns", near, all);
    cr_expect_gt(all, 0);
    cr_expect_gt(near * NEAR_ONE_IN, all, "%zu of %zu", near, all);
}

/* The end of a run whose links, by a fault of ours, did not all heal: what is free, nobody gets. */
static const char *judge_with(const struct sketch *sketch, uint64_t seed, bool planted,
                              int64_t *ret_premises) {
    struct stage stage = stage_open(sketch, seed);
    struct lapse_judge *judge = NULL;
    bool stop = false;
    run_until(&stage, STOP_NS);
    for (size_t i = 0; planted && i < 8; i++) {
        stage.world->lanes[i].cut = (struct lapse_sim_hold){true, INT64_MAX};
    }
    cr_assert_eq(lapse_world_run(stage.world, NULL), LAPSE_OK);
    cr_assert_eq(lapse_judge_open(lapse_alloc_libc(), &sketch->plan.the_case, &judge, NULL),
                 LAPSE_OK);
    for (size_t i = 0; !stop && i < lapse_history_count(stage.history); i++) {
        cr_assert_eq(lapse_judge_event(judge, lapse_history_at(stage.history, i), &stop),
                     LAPSE_OK);
    }
    const struct lapse_verdict *verdict = lapse_judge_verdict(judge);
    const char *id = verdict->id;
    size_t count = 0;
    const struct lapse_rule *rules = lapse_rule_table(&count);
    for (size_t i = 0; i < count; i++) {
        *ret_premises += strcmp(rules[i].id, "LIVE-01") == 0 ? verdict->judged[i].premises : 0;
    }
    lapse_judge_close(judge);
    stage_close(&stage);
    return id;
}

Test(chaos, progress_is_asked_for_once_all_has_healed) {
    static struct sketch sketch;
    int64_t premises = 0, others = 0;
    size_t missed = 0;
    scene_begin(&sketch);
    allow_all(&sketch.plan.chaos);
    sketch.plan.chaos.freeze = false;
    sketch.plan.chaos.disk = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const char *id = judge_with(&sketch, seed, false, &premises);
        cr_expect_null(id, "seed %d breaks %s", (int)seed, id);
        id = judge_with(&sketch, seed, true, &others);
        missed += id == NULL || strcmp(id, "LIVE-01") != 0 ? 1 : 0;
    }
    cr_expect_geq(premises, SEEDS, "LIVE-01 is judged %lld times", (long long)premises);
    cr_expect_eq(missed, 0, "%zu of %d runs without progress pass", missed, SEEDS);
}
