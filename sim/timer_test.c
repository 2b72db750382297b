/* Timers of one actor under all that can happen to its clock: each kind of timer is set for 10 s at
 * the start, and the clock is disturbed from 5 s to 25 s. */
#include "plan_builder_test.h"

#include <criterion/criterion.h>

/* One actor; its steps that wait for its clock. */
struct scene {
    struct sketch sketch;
    int32_t actor;
    struct lapse_plan_step *after, *ticked, *called, *worked, *until, *held_up;
};

struct disturbance {
    const char *name;
    enum lapse_fault_kind kind;
    bool timer_boot, stop;
    int64_t rate_ppb;
    int64_t timer_ns, work_ns; /* when what waits for a reading comes, and when work ends */
};

static void add_loops(struct scene *scene) {
    struct sketch *sketch = &scene->sketch;
    struct lapse_plan_step *loop = sketch_loop(sketch, scene->actor, S(10), false);
    loop->u.loop.times = 1;
    scene->ticked = sketch_acquire(sketch, scene->actor, "tick", S(1), -1);
    sketch_body(sketch, loop, scene->ticked);
    sketch_line(sketch, sketch_task(sketch, scene->actor, false), loop);

    struct lapse_plan_step *ends = sketch_loop(sketch, scene->actor, S(10), false);
    ends->u.loop.until = LAPSE_UNTIL_INSTANT;
    ends->u.loop.until_ns = S(12);
    scene->until = sketch_acquire(sketch, scene->actor, "until", S(1), -1);
    scene->until->nowait = true;
    sketch_body(sketch, ends, scene->until);
    scene->held_up = sketch_acquire(sketch, scene->actor, "held up", S(1), -1);
    int32_t task = sketch_task(sketch, scene->actor, false);
    sketch_line(sketch, task, ends);
    sketch_line(sketch, task, scene->held_up);
}

static void make(struct scene *scene, const struct disturbance *by) {
    struct sketch *sketch = &scene->sketch;
    sketch_begin(sketch);
    scene->actor = sketch_actor(sketch, "a", false);
    sketch->actors[0].timer_boot = by->timer_boot;
    (void)sketch_node_fault(sketch, LAPSE_FAULT_PAUSE, 0, 0);
    scene->after = sketch_acquire(sketch, scene->actor, "after", S(1), -1);
    scene->after->when = (struct lapse_when){LAPSE_WHEN_AFTER, S(10), 0};
    sketch_line(sketch, sketch_task(sketch, scene->actor, false), scene->after);
    scene->called = sketch_acquire(sketch, scene->actor, "called", S(1), -1);
    scene->called->has_timeout = true;
    scene->called->timeout_ns = S(10);
    sketch_line(sketch, sketch_task(sketch, scene->actor, false), scene->called);
    scene->worked = sketch_step(sketch, LAPSE_STEP_WORK, scene->actor);
    scene->worked->u.work = sketch_number(LAPSE_OPERAND_SPAN, S(10));
    sketch_line(sketch, sketch_task(sketch, scene->actor, false), scene->worked);
    add_loops(scene);
    struct lapse_plan_step *fault = sketch_pause(sketch, scene->actor, S(5), S(20));
    fault->u.fault.kind = by->kind;
    fault->u.fault.clock.whose = (struct lapse_party){LAPSE_PARTY_ACTOR, scene->actor};
    fault->u.fault.clock.has_rate = by->rate_ppb != 0;
    fault->u.fault.clock.rate_ppb = by->rate_ppb;
    fault->u.fault.clock.has_mono = fault->u.fault.clock.mono_stop = by->stop;
    sketch_run_for(sketch, S(60));
}

static int64_t time_of(const struct scene *scene, const struct stage *stage,
                       enum lapse_history_kind kind, const struct lapse_plan_step *step) {
    const struct lapse_history_event *event =
        stage_find(stage, kind, sketch_number_of(&scene->sketch, step), 0);
    return event == NULL ? -1 : event->at.ns;
}

static const struct disturbance disturbances[] = {
    {"none", LAPSE_FAULT_CLOCK, false, false, 0, S(10), S(10)},
    {"half as fast again", LAPSE_FAULT_CLOCK, false, false, 500000000, 8333333334, 8333333334},
    {"half as fast", LAPSE_FAULT_CLOCK, false, false, -500000000, S(15), S(15)},
    {"a stop", LAPSE_FAULT_CLOCK, false, true, 0, S(30), S(30)},
    {"a stop of boot", LAPSE_FAULT_CLOCK, true, true, 0, S(30), S(30)},
    {"a pause", LAPSE_FAULT_PAUSE, false, false, 0, S(25), S(30)},
    {"a sleep", LAPSE_FAULT_SUSPEND, false, false, 0, S(30), S(30)},
    {"a sleep that counts", LAPSE_FAULT_SUSPEND, true, false, 0, S(25), S(30)},
    {"a freeze", LAPSE_FAULT_FREEZE, false, false, 0, S(30), S(30)},
    {"a freeze of boot", LAPSE_FAULT_FREEZE, true, false, 0, S(30), S(30)},
};

Test(timer, each_comes_when_its_clock_reads_what_it_waits_for) {
    for (size_t i = 0; i < sizeof(disturbances) / sizeof(disturbances[0]); i++) {
        const struct disturbance *by = &disturbances[i];
        static struct scene scene;
        make(&scene, by);
        struct stage stage = stage_run(&scene.sketch);
        bool held = by->kind != LAPSE_FAULT_CLOCK;
        int64_t until = by->timer_ns < S(12) ? by->timer_ns : -1;
        cr_expect_eq(time_of(&scene, &stage, LAPSE_HISTORY_INVOKE, scene.after), by->timer_ns,
                     "after: %s", by->name);
        cr_expect_eq(time_of(&scene, &stage, LAPSE_HISTORY_INVOKE, scene.ticked), by->timer_ns,
                     "every: %s", by->name);
        cr_expect_eq(time_of(&scene, &stage, LAPSE_HISTORY_REPLY, scene.called), by->timer_ns,
                     "timeout: %s", by->name);
        cr_expect_eq(time_of(&scene, &stage, LAPSE_HISTORY_REPLY, scene.worked), by->work_ns,
                     "work: %s", by->name);
        cr_expect_eq(time_of(&scene, &stage, LAPSE_HISTORY_INVOKE, scene.until), until,
                     "until: %s", by->name);
        cr_expect_eq(time_of(&scene, &stage, LAPSE_HISTORY_INVOKE, scene.held_up),
                     held ? S(25) : S(12), "what a loop holds up: %s", by->name);
        stage_close(&stage);
    }
}

Test(timer, one_that_never_comes_holds_up_no_run) {
    static struct scene scene;
    struct disturbance stop = {.kind = LAPSE_FAULT_CLOCK, .stop = true};
    make(&scene, &stop);
    scene.sketch.plan.has_run_for = false;
    scene.sketch.steps[scene.sketch.plan.step_count - 1].u.fault.has_for = false;
    struct stage stage = stage_run(&scene.sketch);
    cr_assert_eq(time_of(&scene, &stage, LAPSE_HISTORY_INVOKE, scene.after), -1);
    cr_assert_eq(time_of(&scene, &stage, LAPSE_HISTORY_INVOKE, scene.held_up), S(12));
    const struct lapse_history_event *end = stage_find(&stage, LAPSE_HISTORY_END, -1, 0);
    cr_assert_eq(end->at.ns, S(12));
    cr_assert_not(end->u.end.cut);
    stage_close(&stage);
}

/* A pause, a sleep and a freeze that overlap: the actor goes on when the last of them ends. */
Test(timer, holds_that_overlap_end_one_by_one) {
    static struct scene scene;
    make(&scene, &(struct disturbance){.kind = LAPSE_FAULT_PAUSE});
    struct lapse_plan_step *sleep = sketch_pause(&scene.sketch, scene.actor, S(7), S(23));
    sleep->u.fault.kind = LAPSE_FAULT_SUSPEND;
    struct lapse_plan_step *freeze = sketch_pause(&scene.sketch, scene.actor, S(8), S(2));
    freeze->u.fault.kind = LAPSE_FAULT_FREEZE;
    struct stage stage = stage_run(&scene.sketch);
    /* 7 s were counted when it fell asleep; the rest comes after 30 s. */
    cr_assert_eq(time_of(&scene, &stage, LAPSE_HISTORY_INVOKE, scene.after), S(33));
    cr_assert_eq(time_of(&scene, &stage, LAPSE_HISTORY_REPLY, scene.worked), S(35));
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_FAULT_END, -1), 3);
    stage_close(&stage);
}

/* The same world copied out in the middle of a disturbance goes on as it did. */
Test(timer, a_world_is_copied_out_and_back_amid_a_change_of_clocks) {
    static struct scene scene;
    make(&scene, &disturbances[2]);
    struct stage stage = stage_open(&scene.sketch, 1);
    struct lapse_error err = {0};
    bool over = false;
    struct lapse_snapshot *snapshot = NULL;
    while (!over && stage_find(&stage, LAPSE_HISTORY_CLOCK, -1, 0) == NULL) {
        cr_assert_eq(lapse_world_step(stage.world, &over, &err), LAPSE_OK);
    }
    cr_assert_eq(lapse_world_snapshot(stage.world, lapse_alloc_libc(), &snapshot), LAPSE_OK);
    cr_assert_eq(lapse_world_run(stage.world, &err), LAPSE_OK);
    size_t count = lapse_history_count(stage.history);
    uint64_t digest = lapse_history_digest(stage.history);
    cr_assert_eq(lapse_world_restore(stage.world, snapshot), LAPSE_OK);
    cr_assert_lt(lapse_history_count(stage.history), count);
    cr_assert_eq(lapse_world_run(stage.world, &err), LAPSE_OK);
    cr_assert_eq(lapse_history_digest(stage.history), digest);
    lapse_snapshot_free(snapshot);
    stage_close(&stage);
}
