/* Loops: grids, pauses, ends, answers. */
#include "plan_builder_test.h"

#include <criterion/criterion.h>

static void assert_times(const struct stage *stage, int32_t step, const int64_t *seconds,
                         size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct lapse_history_event *invoke = stage_find(stage, LAPSE_HISTORY_INVOKE, step, i);
        cr_assert_not_null(invoke, "firing %zu is missing", i + 1);
        cr_assert_eq(invoke->at.ns, S(seconds[i]), "firing %zu came at %lld s", i + 1,
                     (long long)(invoke->at.ns / LAPSE_NS_PER_S));
        cr_assert_eq(invoke->n, (int32_t)i + 1);
    }
    cr_assert_eq(stage_count(stage, LAPSE_HISTORY_INVOKE, step), count);
}

Test(loop, firings_missed_in_a_pause_become_one_and_then_the_grid_goes_on) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false);
    int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
    int32_t task = sketch_task(&sketch, a, false);
    struct lapse_plan_step *loop = sketch_loop(&sketch, a, S(10), true);
    struct lapse_plan_step *body = sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "k");
    sketch_body(&sketch, loop, body);
    sketch_line(&sketch, task, loop);
    sketch_pause(&sketch, a, S(25), S(40));
    sketch_run_for(&sketch, S(80));
    struct stage stage = stage_run(&sketch);
    int64_t times[] = {10, 20, 65, 70, 80};
    assert_times(&stage, sketch_number_of(&sketch, body), times, 5);
    cr_assert_eq(stage_find(&stage, LAPSE_HISTORY_INVOKE, -1, 2)->u.invoke.due.ns, S(30));
    stage_close(&stage);
}

Test(loop, firings_missed_while_the_body_runs_become_one) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false);
    int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
    int32_t task = sketch_task(&sketch, a, false);
    struct lapse_plan_step *loop = sketch_loop(&sketch, a, S(10), false);
    loop->u.loop.times = 3;
    struct lapse_plan_step *body = sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "k");
    struct lapse_plan_step *work = sketch_step(&sketch, LAPSE_STEP_WORK, a);
    work->u.work = sketch_number(LAPSE_OPERAND_SPAN, S(25));
    sketch_body(&sketch, loop, body);
    sketch_body(&sketch, loop, work);
    sketch_line(&sketch, task, loop);
    struct lapse_plan_step *after = sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "end");
    sketch_line(&sketch, task, after);
    struct stage stage = stage_run(&sketch);
    int64_t times[] = {10, 35, 60};
    assert_times(&stage, sketch_number_of(&sketch, body), times, 3);
    cr_assert_eq(
        stage_find(&stage, LAPSE_HISTORY_INVOKE, sketch_number_of(&sketch, after), 0)->at.ns,
        S(85));
    stage_close(&stage);
}

Test(loop, a_gap_is_waited_after_the_body_and_until_ends_it) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false);
    int32_t task = sketch_task(&sketch, a, false);
    int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
    struct lapse_plan_step *loop = sketch_loop(&sketch, a, S(5), false);
    loop->u.loop.gap = true;
    loop->u.loop.until = LAPSE_UNTIL_INSTANT;
    loop->u.loop.until_ns = S(12);
    struct lapse_plan_step *body = sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "k");
    sketch_body(&sketch, loop, body);
    sketch_line(&sketch, task, loop);
    struct lapse_plan_step *after = sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "end");
    sketch_line(&sketch, task, after);
    struct stage stage = stage_run(&sketch);
    int64_t times[] = {0, 5, 10};
    assert_times(&stage, sketch_number_of(&sketch, body), times, 3);
    cr_assert_eq(
        stage_find(&stage, LAPSE_HISTORY_INVOKE, sketch_number_of(&sketch, after), 0)->at.ns,
        S(12));
    stage_close(&stage);
}

/* One holder; a second client that asks every 5 s until it is granted, then goes on. */
Test(loop, until_an_answer_ends_a_loop_with_that_answer) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false), b = sketch_actor(&sketch, "b", false);
    int32_t one = sketch_task(&sketch, a, true), two = sketch_task(&sketch, b, false);
    sketch_line_at(&sketch, one, sketch_acquire(&sketch, a, "l", S(12), 0), 0);
    struct lapse_plan_step *loop = sketch_loop(&sketch, b, S(5), false);
    loop->u.loop.until = LAPSE_UNTIL_ANSWER;
    loop->u.loop.until_statuses = LAPSE_HANDLED_BIT(LAPSE_OK);
    struct lapse_plan_step *body = sketch_acquire(&sketch, b, "l", S(30), 1);
    sketch_on(&sketch, body, LAPSE_HANDLED_BIT(LAPSE_HELD), LAPSE_ACTION_NEXT, 0);
    sketch_body(&sketch, loop, body);
    sketch_line(&sketch, two, loop);
    struct lapse_plan_step *waits = sketch_step(&sketch, LAPSE_STEP_AWAIT, a);
    waits->u.await.kind = LAPSE_AWAIT_SAVE;
    waits->u.await.slot.base = 1;
    int32_t three = sketch_task(&sketch, a, false);
    sketch_line(&sketch, three, waits);
    struct lapse_plan_step *lost = sketch_extend(&sketch, a, "l", S(30), 0);
    sketch_on(&sketch, lost, LAPSE_HANDLED_BIT(LAPSE_NOT_OWNER), LAPSE_ACTION_STOP, 0);
    sketch_line(&sketch, three, lost);
    struct stage stage = stage_run(&sketch);
    int64_t times[] = {5, 10, 15};
    assert_times(&stage, sketch_number_of(&sketch, body), times, 3);
    const struct lapse_history_event *invoke =
        stage_find(&stage, LAPSE_HISTORY_INVOKE, sketch_number_of(&sketch, lost), 0);
    cr_assert_eq(invoke->at.ns, S(15), "await goes on when the name is bound");
    const struct lapse_history_event *stopped = stage_find(&stage, LAPSE_HISTORY_STOPPED, -1, 0);
    cr_assert_eq(stopped->actor, a);
    cr_assert_eq(stopped->at.ns, S(15));
    stage_close(&stage);
}

Test(loop, again_repeats_a_line_later_and_stop_ends_the_task_with_its_loops) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false), b = sketch_actor(&sketch, "b", false);
    int32_t one = sketch_task(&sketch, a, true), two = sketch_task(&sketch, b, false);
    sketch_line_at(&sketch, one, sketch_acquire(&sketch, a, "l", S(6), 0), 0);
    struct lapse_plan_step *acquire = sketch_acquire(&sketch, b, "l", S(10), 1);
    sketch_on(&sketch, acquire, LAPSE_HANDLED_BIT(LAPSE_HELD), LAPSE_ACTION_AGAIN, S(4));
    sketch_line(&sketch, two, acquire);
    struct lapse_plan_step *loop = sketch_loop(&sketch, b, S(15), true);
    struct lapse_plan_step *extend = sketch_extend(&sketch, b, "l", S(10), 1);
    sketch_on(&sketch, extend, LAPSE_HANDLED_BIT(LAPSE_LOST), LAPSE_ACTION_STOP, 0);
    sketch_body(&sketch, loop, extend);
    sketch_line(&sketch, two, loop);
    sketch_run_for(&sketch, S(100));
    struct stage stage = stage_run(&sketch);
    int32_t number = sketch_number_of(&sketch, acquire);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_INVOKE, number), 3);
    cr_assert_eq(stage_find(&stage, LAPSE_HISTORY_INVOKE, number, 2)->at.ns, S(8));
    number = sketch_number_of(&sketch, extend);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_INVOKE, number), 1);
    cr_assert_eq(stage_find(&stage, LAPSE_HISTORY_STOPPED, -1, 0)->at.ns, S(23));
    cr_assert_eq(stage_find(&stage, LAPSE_HISTORY_BELIEF_END, -1, 0)->u.belief.why,
                 LAPSE_BELIEF_DENIED);
    stage_close(&stage);
}
