/* Starved tasks, slow actors, a slow node; and what a crash leaves in memory. */
#include "plan_builder_test.h"

#include <criterion/criterion.h>

static struct lapse_plan_step *fault_of(struct sketch *sketch, enum lapse_fault_kind kind,
                                        int32_t actor, int64_t at_ns, int64_t for_ns) {
    struct lapse_plan_step *step = sketch_pause(sketch, actor, at_ns, for_ns);
    step->u.fault.kind = kind;
    step->u.fault.task = -1;
    step->u.fault.factor = 1;
    return step;
}

static int64_t told_at(const struct sketch *sketch, const struct stage *stage,
                       enum lapse_history_kind kind, const struct lapse_plan_step *step, size_t k) {
    const struct lapse_history_event *event =
        stage_find(stage, kind, sketch_number_of(sketch, step), k);
    return event == NULL ? -1 : event->at.ns;
}

Test(slow, a_starved_tasks_timers_fire_when_it_is_fed_and_another_tasks_in_time) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t actor = sketch_actor(&sketch, "w", false);
    int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
    struct lapse_plan_step *loops[2], *bodies[2];
    for (int i = 0; i < 2; i++) {
        int32_t task = sketch_task(&sketch, actor, false);
        loops[i] = sketch_loop(&sketch, actor, S(10), true);
        bodies[i] = sketch_call(&sketch, actor, LAPSE_VERB_GET, bucket, "k");
        sketch_body(&sketch, loops[i], bodies[i]);
        sketch_line(&sketch, task, loops[i]);
    }
    struct lapse_plan_step *starve =
        fault_of(&sketch, LAPSE_FAULT_STARVE, actor, S(15), S(30));
    starve->u.fault.task = 1;
    (void)fault_of(&sketch, LAPSE_FAULT_STARVE, actor, S(16), S(2)); /* within it; of both tasks */
    sketch_run_for(&sketch, S(60));
    struct stage stage = stage_run(&sketch);
    static const int64_t fed[] = {10, 20, 30, 40, 50, 60}, starved[] = {10, 45, 50, 60};
    for (size_t k = 0; k < 6; k++) {
        cr_expect_eq(told_at(&sketch, &stage, LAPSE_HISTORY_INVOKE, bodies[0], k), S(fed[k]));
    }
    for (size_t k = 0; k < 4; k++) {
        cr_expect_eq(told_at(&sketch, &stage, LAPSE_HISTORY_INVOKE, bodies[1], k), S(starved[k]));
    }
    int32_t late = sketch_number_of(&sketch, bodies[1]);
    cr_expect_eq(stage_count(&stage, LAPSE_HISTORY_INVOKE, late), 4);
    stage_close(&stage);
}

Test(slow, work_takes_as_many_times_as_long_while_its_actor_is_slow) {
    /* When it is slow, by how much, and when work of 10 s from 0 s on ends. */
    static const int64_t cases[][4] = {
        {0, 100, 3, 30}, {4, 100, 3, 22}, {4, 6, 3, 14}, {4, 6, 1, 10}, {20, 5, 9, 10},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static struct sketch sketch;
        sketch_begin(&sketch);
        int32_t actor = sketch_actor(&sketch, "w", false);
        int32_t task = sketch_task(&sketch, actor, false);
        struct lapse_plan_step *work = sketch_step(&sketch, LAPSE_STEP_WORK, actor);
        work->u.work = sketch_number(LAPSE_OPERAND_SPAN, S(10));
        sketch_line(&sketch, task, work);
        struct lapse_plan_step *slow =
            fault_of(&sketch, LAPSE_FAULT_SLOW, actor, S(cases[i][0]), S(cases[i][1]));
        slow->u.fault.factor = (int32_t)cases[i][2];
        struct stage stage = stage_run(&sketch);
        cr_expect_eq(told_at(&sketch, &stage, LAPSE_HISTORY_REPLY, work, 0), S(cases[i][3]),
                     "case %zu", i);
        stage_close(&stage);
    }
}

Test(slow, a_slow_node_looks_at_each_call_later) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t actor = sketch_actor(&sketch, "w", false);
    int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
    int32_t task = sketch_task(&sketch, actor, true);
    struct lapse_plan_step *calls[3];
    for (int i = 0; i < 3; i++) {
        calls[i] = sketch_call(&sketch, actor, LAPSE_VERB_GET, bucket, "k");
        sketch_line_at(&sketch, task, calls[i], S(10 * (i + 1)));
    }
    struct lapse_plan_step *slow = fault_of(&sketch, LAPSE_FAULT_SLOW, -1, S(15), S(10));
    slow->u.fault.link.latency_ns_min = slow->u.fault.link.latency_ns_max = S(2);
    struct stage stage = stage_run(&sketch);
    cr_expect_eq(told_at(&sketch, &stage, LAPSE_HISTORY_APPLY, calls[0], 0), S(10));
    cr_expect_eq(told_at(&sketch, &stage, LAPSE_HISTORY_APPLY, calls[1], 0), S(22));
    cr_expect_eq(told_at(&sketch, &stage, LAPSE_HISTORY_APPLY, calls[2], 0), S(30));
    stage_close(&stage);
}

Test(slow, a_client_that_keeps_its_memory_keeps_its_beliefs_and_its_name) {
    for (int keeps = 0; keeps < 2; keeps++) {
        static struct sketch sketch;
        sketch_begin(&sketch);
        int32_t actor = sketch_actor(&sketch, "w", false);
        int32_t task = sketch_task(&sketch, actor, false);
        struct lapse_plan_step *take = sketch_acquire(&sketch, actor, "l", S(60), 0);
        sketch_line(&sketch, task, take);
        struct lapse_plan_step *crash = fault_of(&sketch, LAPSE_FAULT_CRASH, actor, S(10), S(5));
        crash->u.fault.keeps = keeps == 1;
        struct stage stage = stage_run(&sketch);
        cr_expect_eq(stage_count(&stage, LAPSE_HISTORY_BELIEF_END, -1), keeps == 1 ? 0 : 1);
        const struct lapse_history_event *again = stage_find(
            &stage, LAPSE_HISTORY_REPLY, sketch_number_of(&sketch, take), 1);
        cr_expect_eq(again->incarnation, keeps == 1 ? 1 : 2);
        cr_expect_eq(again->u.reply.answer.status, keeps == 1 ? LAPSE_OK : LAPSE_HELD);
        stage_close(&stage);
    }
}

/* An answer that was under way when its client fell finds nobody, also where it comes back as the
 * one that it was. */
Test(slow, no_answer_reaches_a_client_over_its_crash) {
    for (int keeps = 0; keeps < 2; keeps++) {
        static struct sketch sketch;
        sketch_begin(&sketch);
        int32_t actor = sketch_actor(&sketch, "w", false);
        int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
        int32_t task = sketch_task(&sketch, actor, true);
        struct lapse_plan_step *calls[2];
        for (int i = 0; i < 2; i++) {
            calls[i] = sketch_call(&sketch, actor, LAPSE_VERB_SET, bucket, "k");
            calls[i]->nowait = true;
            sketch_line_at(&sketch, task, calls[i], S(1 + i));
        }
        calls[0]->request = (struct lapse_plan_message){LAPSE_MESSAGE_TAKES, S(20)};
        calls[1]->reply = (struct lapse_plan_message){LAPSE_MESSAGE_TAKES, S(20)};
        calls[0]->has_timeout = calls[1]->has_timeout = true;
        calls[0]->timeout_ns = calls[1]->timeout_ns = S(15);
        struct lapse_plan_step *crash = fault_of(&sketch, LAPSE_FAULT_CRASH, actor, S(10), S(2));
        crash->u.fault.keeps = keeps == 1;
        struct stage stage = stage_run(&sketch);
        cr_expect_eq(stage_count(&stage, LAPSE_HISTORY_REPLY, -1), 0);
        cr_expect_eq(stage_count(&stage, LAPSE_HISTORY_APPLY, -1), 2);
        cr_expect_eq(stage_count(&stage, LAPSE_HISTORY_WAITING, -1), 0);
        stage_close(&stage);
    }
}
