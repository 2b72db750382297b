/* Faults at named moments: what is in hand goes on only as far as the fault leaves it. */
#include "plan_builder_test.h"

#include <criterion/criterion.h>

struct scene {
    struct sketch sketch;
    int32_t actor, bucket, resource, task;
    struct lapse_plan_step *call, *next;
};

/* A client `w` that sets b/k at 10 s and, with its answer, goes on to read it. */
static void scene_begin(struct scene *scene) {
    sketch_begin(&scene->sketch);
    scene->actor = sketch_actor(&scene->sketch, "w", false);
    scene->bucket = sketch_bucket(&scene->sketch, "b", 0, false);
    scene->task = sketch_task(&scene->sketch, scene->actor, false);
    scene->call = sketch_call(&scene->sketch, scene->actor, LAPSE_VERB_SET, scene->bucket, "k");
    sketch_line_at(&scene->sketch, scene->task, scene->call, S(10));
    scene->next = sketch_call(&scene->sketch, scene->actor, LAPSE_VERB_GET, scene->bucket, "k");
    sketch_line(&scene->sketch, scene->task, scene->next);
    scene->sketch.plan.store = LAPSE_STORE_MEMORY;
    scene->sketch.plan.setup.durable = true;
    scene->sketch.plan.setup.sync = LAPSE_SYNC_FULL;
}

static struct lapse_plan_step *fault_at(struct scene *scene, enum lapse_fault_kind kind,
                                        bool of_node, enum lapse_point_kind point) {
    struct lapse_plan_step *step =
        sketch_pause(&scene->sketch, of_node ? -1 : scene->actor, 0, S(5));
    step->u.fault.kind = kind;
    step->when = (struct lapse_when){.kind = LAPSE_WHEN_POINT};
    step->u.fault.point = (struct lapse_point){
        point, sketch_number_of(&scene->sketch, scene->call), -1, 1};
    return step;
}

static int64_t time_of(const struct scene *scene, const struct stage *stage,
                       enum lapse_history_kind kind, const struct lapse_plan_step *step) {
    const struct lapse_history_event *event =
        stage_find(stage, kind, sketch_number_of(&scene->sketch, step), 0);
    return event == NULL ? -1 : event->at.ns;
}

/* The instants at which a call is decided, answered and followed; -1: never. */
struct moment_case {
    enum lapse_fault_kind kind;
    bool of_node;
    enum lapse_point_kind point;
    int64_t applied, replied, next;
};

Test(point, what_is_in_hand_goes_on_as_far_as_the_fault_leaves_it) {
    static const struct moment_case cases[] = {
        {LAPSE_FAULT_PAUSE, false, LAPSE_POINT_SENT, S(10), S(15), S(15)},
        {LAPSE_FAULT_PAUSE, false, LAPSE_POINT_ARRIVED, S(10), S(15), S(15)},
        {LAPSE_FAULT_PAUSE, false, LAPSE_POINT_APPLIED, S(10), S(15), S(15)},
        {LAPSE_FAULT_PAUSE, false, LAPSE_POINT_REPLIED, S(10), S(10), S(15)},
        {LAPSE_FAULT_PAUSE, true, LAPSE_POINT_SENT, S(15), S(15), S(15)},
        {LAPSE_FAULT_PAUSE, true, LAPSE_POINT_ARRIVED, S(15), S(15), S(15)},
        {LAPSE_FAULT_PAUSE, true, LAPSE_POINT_APPLIED, S(10), S(15), S(15)},
        {LAPSE_FAULT_PAUSE, true, LAPSE_POINT_REPLIED, S(10), S(10), S(10)},
        {LAPSE_FAULT_CRASH, false, LAPSE_POINT_SENT, S(10), S(15), S(15)},
        {LAPSE_FAULT_CRASH, false, LAPSE_POINT_ARRIVED, S(10), S(15), S(15)},
        {LAPSE_FAULT_CRASH, false, LAPSE_POINT_APPLIED, S(10), S(15), S(15)},
        {LAPSE_FAULT_CRASH, false, LAPSE_POINT_REPLIED, S(10), S(10), S(15)},
        {LAPSE_FAULT_CRASH, true, LAPSE_POINT_ARRIVED, -1, -1, -1},
        {LAPSE_FAULT_CRASH, true, LAPSE_POINT_APPLIED, S(10), -1, -1},
        {LAPSE_FAULT_CRASH, true, LAPSE_POINT_REPLIED, S(10), S(10), S(10)},
        {LAPSE_FAULT_RESTART, true, LAPSE_POINT_ARRIVED, -1, -1, -1},
        {LAPSE_FAULT_RESTART, true, LAPSE_POINT_APPLIED, S(10), -1, -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static struct scene scene;
        const struct moment_case *now = &cases[i];
        scene_begin(&scene);
        struct lapse_plan_step *fault = fault_at(&scene, now->kind, now->of_node, now->point);
        struct stage stage = stage_run(&scene.sketch);
        cr_expect_eq(time_of(&scene, &stage, LAPSE_HISTORY_APPLY, scene.call), now->applied,
                     "case %zu: applied", i);
        cr_expect_eq(time_of(&scene, &stage, LAPSE_HISTORY_REPLY, scene.call), now->replied,
                     "case %zu: replied", i);
        /* A client that begins again is past the instant of its first line, and runs it late: the
         * answer is then that of its second call. */
        cr_expect_eq(time_of(&scene, &stage, LAPSE_HISTORY_INVOKE, scene.next), now->next,
                     "case %zu: next", i);
        cr_expect(stage_find(&stage, LAPSE_HISTORY_FAULT_END, -1, 0) != NULL, "case %zu", i);
        cr_expect_geq(time_of(&scene, &stage, LAPSE_HISTORY_FAULT_END, fault), S(10));
        stage_close(&stage);
    }
}

Test(point, a_client_that_begins_again_where_it_sent_without_waiting_runs_each_line_once) {
    static struct scene scene;
    scene_begin(&scene);
    scene.call->nowait = true;
    (void)fault_at(&scene, LAPSE_FAULT_RESTART, false, LAPSE_POINT_SENT);
    struct stage stage = stage_run(&scene.sketch);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_INVOKE,
                             sketch_number_of(&scene.sketch, scene.call)), 2);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_INVOKE,
                             sketch_number_of(&scene.sketch, scene.next)), 1);
    stage_close(&stage);
}

Test(point, only_the_nth_time_counts_and_a_point_that_never_comes_is_not_run) {
    for (int64_t nth = 1; nth <= 4; nth++) {
        static struct scene scene;
        scene_begin(&scene);
        scene.call->times = 3;
        struct lapse_plan_step *fault =
            fault_at(&scene, LAPSE_FAULT_PAUSE, false, LAPSE_POINT_REPLIED);
        fault->u.fault.point.nth = nth;
        int32_t number = sketch_number_of(&scene.sketch, fault);
        scene.sketch.checks[number].must_run = true;
        struct stage stage = stage_run(&scene.sketch);
        const struct lapse_history_event *begin =
            stage_find(&stage, LAPSE_HISTORY_FAULT_BEGIN, number, 0);
        const struct lapse_history_event *reply = stage_find(
            &stage, LAPSE_HISTORY_REPLY, sketch_number_of(&scene.sketch, scene.call),
            (size_t)(nth < 4 ? nth - 1 : 0));
        cr_assert_eq(begin != NULL, nth < 4);
        cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_NOT_RUN, number), nth < 4 ? 0 : 1);
        cr_assert(begin == NULL || begin->seq == reply->seq + 1);
        stage_close(&stage);
    }
}
