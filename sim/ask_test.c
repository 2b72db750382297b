/* An acquire that waits: when it asks, when it gives up, what its line is told. */
#include "plan_builder_test.h"

#include <criterion/criterion.h>

/* `h` holds "l" for 10 s; `w` asks at 1 s. */
struct scene {
    struct sketch sketch;
    int32_t holder, waiter, task, asks;
};

static void scene_begin(struct scene *scene, int64_t wait_ns, int64_t retry_ns) {
    struct sketch *sketch = &scene->sketch;
    sketch_begin(sketch);
    scene->holder = sketch_actor(sketch, "h", false);
    scene->waiter = sketch_actor(sketch, "w", false);
    int32_t holds = sketch_task(sketch, scene->holder, true);
    sketch_line_at(sketch, holds, sketch_acquire(sketch, scene->holder, "l", S(10), 0), 0);
    scene->task = sketch_task(sketch, scene->waiter, true);
    struct lapse_plan_step *asks = sketch_acquire(sketch, scene->waiter, "l", S(10), 1);
    asks->u.call.has_wait = true;
    asks->u.call.wait_ns = wait_ns;
    asks->u.call.retry_ns = retry_ns;
    sketch_line_at(sketch, scene->task, asks, S(1));
    scene->asks = sketch_number_of(sketch, asks);
}

Test(ask, each_ask_is_a_call_and_the_line_has_one_answer) {
    static const struct {
        int64_t wait_s, retry_s;
        size_t calls;
        enum lapse_status status;
        int64_t took_s;
    } cases[] = {{30, 3, 4, LAPSE_OK, 9},        {30, 2, 6, LAPSE_OK, 10},
                 {5, 2, 3, LAPSE_TIMED_OUT, 5},  {4, 2, 2, LAPSE_TIMED_OUT, 4},
                 {0, 1, 1, LAPSE_TIMED_OUT, 0},  {9, 100, 1, LAPSE_TIMED_OUT, 9},
                 {9, 9, 1, LAPSE_TIMED_OUT, 9}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static struct scene scene;
        scene_begin(&scene, S(cases[i].wait_s), S(cases[i].retry_s));
        struct stage stage = stage_run(&scene.sketch);
        cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_INVOKE, scene.asks), cases[i].calls,
                     "case %zu", i);
        cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_REPLY, scene.asks), 1, "case %zu", i);
        const struct lapse_history_event *reply =
            stage_find(&stage, LAPSE_HISTORY_REPLY, scene.asks, 0);
        cr_assert_eq(reply->u.reply.answer.status, cases[i].status, "case %zu", i);
        cr_assert_eq(reply->u.reply.answer.took.ns, S(cases[i].took_s), "case %zu", i);
        cr_assert_eq(reply->u.reply.save_slot, cases[i].status == LAPSE_OK ? 1 : -1);
        stage_close(&stage);
    }
}

Test(ask, a_pause_makes_asks_late_and_past_the_wait_there_are_none) {
    static const struct {
        int64_t from_s, for_s;
        size_t calls;
        int64_t took_s;
    } cases[] = {{2, 1, 2, 5}, {2, 3, 2, 5}, {2, 4, 1, 5}, {2, 14, 1, 15}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static struct scene scene;
        scene_begin(&scene, S(5), S(3));
        (void)sketch_pause(&scene.sketch, scene.waiter, S(cases[i].from_s), S(cases[i].for_s));
        struct stage stage = stage_run(&scene.sketch);
        cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_INVOKE, scene.asks), cases[i].calls,
                     "case %zu", i);
        const struct lapse_history_event *reply =
            stage_find(&stage, LAPSE_HISTORY_REPLY, scene.asks, 0);
        cr_assert_eq(reply->u.reply.answer.status, LAPSE_TIMED_OUT, "case %zu", i);
        cr_assert_eq(reply->u.reply.answer.took.ns, S(cases[i].took_s), "case %zu", i);
        stage_close(&stage);
    }
}

Test(ask, each_turn_of_a_line_has_a_wait_of_its_own) {
    static struct scene scene;
    scene_begin(&scene, S(2), S(1));
    scene.sketch.steps[scene.asks].times = 3;
    sketch_on(&scene.sketch, &scene.sketch.steps[scene.asks],
              LAPSE_HANDLED_BIT(LAPSE_TIMED_OUT), LAPSE_ACTION_NEXT, 0);
    struct stage stage = stage_run(&scene.sketch);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_REPLY, scene.asks), 3);
    for (size_t i = 0; i < 3; i++) {
        const struct lapse_history_event *reply =
            stage_find(&stage, LAPSE_HISTORY_REPLY, scene.asks, i);
        cr_assert_eq(reply->at.ns, S(3 + 2 * (int64_t)i));
        cr_assert_eq(reply->u.reply.answer.took.ns, S(2));
    }
    stage_close(&stage);
}

Test(ask, a_client_that_crashes_asks_no_more) {
    static struct scene scene;
    scene_begin(&scene, S(30), S(2));
    struct lapse_plan_step *crash = sketch_pause(&scene.sketch, scene.waiter, S(4), 0);
    crash->u.fault.kind = LAPSE_FAULT_CRASH;
    struct stage stage = stage_run(&scene.sketch);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_INVOKE, scene.asks), 2);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_REPLY, scene.asks), 0);
    stage_close(&stage);
}
