/* What guarded resources refuse: by lease, by ends, by their clock, by use. */
#include "plan_builder_test.h"

#include <criterion/criterion.h>

/* One actor, two leases "l" (10 s from 0 s, then again from 12 s) and "m", one resource. */
struct scene {
    struct sketch sketch;
    int32_t actor, task, resource;
};

static void scene_begin(struct scene *scene) {
    struct sketch *sketch = &scene->sketch;
    sketch_begin(sketch);
    scene->actor = sketch_actor(sketch, "w", false);
    scene->resource = sketch_resource(sketch, "r", false);
    scene->task = sketch_task(sketch, scene->actor, true);
    sketch_line_at(sketch, scene->task, sketch_acquire(sketch, scene->actor, "l", S(10), 0), 0);
    sketch_line_at(sketch, scene->task, sketch_acquire(sketch, scene->actor, "m", S(99), 1), 0);
}

static int32_t write_at(struct scene *scene, int32_t slot, int64_t at_ns) {
    struct lapse_plan_step *step =
        sketch_write(&scene->sketch, scene->actor, scene->resource, slot);
    sketch_line_at(&scene->sketch, scene->task, step, at_ns);
    return sketch_number_of(&scene->sketch, step);
}

static enum lapse_status status_of(const struct stage *stage, int32_t step) {
    return stage_find(stage, LAPSE_HISTORY_RESOURCE, step, 0)->u.resource.status;
}

Test(resource, one_that_serves_a_lease_takes_its_tokens_alone) {
    static struct scene scene;
    for (int serves = 0; serves < 2; serves++) {
        scene_begin(&scene);
        if (serves == 1) {
            scene.sketch.resources[0].lease = lapse_bytes_of("l");
        }
        int32_t own = write_at(&scene, 0, S(1));
        int32_t other = write_at(&scene, 1, S(1));
        struct stage stage = stage_run(&scene.sketch);
        cr_assert_eq(status_of(&stage, own), LAPSE_OK);
        cr_assert_eq(status_of(&stage, other), serves == 1 ? LAPSE_FENCED : LAPSE_OK);
        stage_close(&stage);
    }
}

Test(resource, an_end_raises_the_bar_from_its_very_instant_if_ends_do) {
    static struct scene scene;
    for (int ends = 0; ends < 2; ends++) {
        scene_begin(&scene);
        scene.sketch.resources[0].fenced = true;
        scene.sketch.resources[0].lease = lapse_bytes_of("l");
        scene.sketch.resources[0].bar = ends == 1 ? LAPSE_BAR_ENDS : LAPSE_BAR_WRITES;
        int32_t before = write_at(&scene, 0, S(10) - 1);
        int32_t after = write_at(&scene, 0, S(10));
        struct lapse_plan_step *again =
            sketch_acquire(&scene.sketch, scene.actor, "l", S(10), 2);
        sketch_line_at(&scene.sketch, scene.task, again, S(12));
        int32_t old = write_at(&scene, 0, S(13));
        int32_t next = write_at(&scene, 2, S(13));
        struct stage stage = stage_run(&scene.sketch);
        enum lapse_status late = ends == 1 ? LAPSE_FENCED : LAPSE_OK;
        cr_assert_eq(status_of(&stage, before), LAPSE_OK);
        cr_assert_eq(status_of(&stage, after), late);
        cr_assert_eq(status_of(&stage, old), late);
        cr_assert_eq(status_of(&stage, next), LAPSE_OK);
        stage_close(&stage);
    }
}

Test(resource, a_write_past_its_not_after_is_too_late_by_the_resources_wall) {
    static const struct {
        int64_t skew_ns, not_after_ns;
        enum lapse_status status;
    } cases[] = {{0, S(5), LAPSE_OK},
                 {0, S(5) - 1, LAPSE_TOO_LATE},
                 {S(2), S(7) - 1, LAPSE_TOO_LATE},
                 {-S(2), S(3), LAPSE_OK}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static struct scene scene;
        scene_begin(&scene);
        struct lapse_plan_clock clock = {.whose = {LAPSE_PARTY_RESOURCE, 0},
                                         .has_wall = true,
                                         .wall_ns = cases[i].skew_ns};
        scene.sketch.plan.clocks = &clock;
        scene.sketch.plan.clock_count = 1;
        scene.sketch.resources[0].not_after = true;
        int32_t step = write_at(&scene, 0, S(5));
        scene.sketch.steps[step].u.call.not_after = sketch_number(
            LAPSE_OPERAND_DATE, scene.sketch.plan.setup.epoch.ns + cases[i].not_after_ns);
        struct stage stage = stage_run(&scene.sketch);
        cr_assert_eq(status_of(&stage, step), cases[i].status, "case %zu", i);
        stage_close(&stage);
    }
}

Test(resource, a_token_writes_once_where_once_is_said) {
    static struct scene scene;
    scene_begin(&scene);
    scene.sketch.resources[0].once = true;
    int32_t first = write_at(&scene, 1, S(1));
    int32_t lower = write_at(&scene, 0, S(2));
    int32_t again = write_at(&scene, 1, S(3));
    struct stage stage = stage_run(&scene.sketch);
    cr_assert_eq(status_of(&stage, first), LAPSE_OK);
    cr_assert_eq(status_of(&stage, lower), LAPSE_OK);
    cr_assert_eq(status_of(&stage, again), LAPSE_USED);
    stage_close(&stage);
}

Test(resource, a_revoked_lease_is_released_by_nobody_and_its_holder_believes_on) {
    static struct scene scene;
    for (int held = 0; held < 2; held++) {
        scene_begin(&scene);
        struct lapse_plan_step *act = sketch_step(&scene.sketch, LAPSE_STEP_OPERATOR, -1);
        act->u.operator_act.verb = LAPSE_OPERATOR_REVOKE;
        act->u.operator_act.lease = sketch_text(&scene.sketch, held == 1 ? "l" : "nobody");
        act->when = (struct lapse_when){LAPSE_WHEN_AT, S(3), 0};
        int32_t number = sketch_number_of(&scene.sketch, act);
        scene.sketch.world_steps[scene.sketch.plan.world_step_count++] = number;
        struct lapse_plan_step *believes =
            sketch_probe(&scene.sketch, LAPSE_PROBE_BELIEVES, -1, "l", S(4));
        struct stage stage = stage_run(&scene.sketch);
        const struct lapse_history_event *invoke =
            stage_find(&stage, LAPSE_HISTORY_INVOKE, number, 0);
        const struct lapse_history_event *apply =
            stage_find(&stage, LAPSE_HISTORY_APPLY, number, 0);
        cr_assert_eq(invoke->actor, -1);
        cr_assert_eq(invoke->u.invoke.request.command.u.lease.has_token, held == 1);
        cr_assert_eq(apply->u.apply.answer.status, held == 1 ? LAPSE_OK : LAPSE_ABSENT);
        cr_assert_eq(stage_find(&stage, LAPSE_HISTORY_PROBE,
                                sketch_number_of(&scene.sketch, believes), 0)
                         ->u.probe.who_count,
                     1);
        stage_close(&stage);
    }
}
