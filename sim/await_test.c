/* Awaits: what they wait for, how long they keep a run going, and what is told of those in vain. */
#include "plan_builder_test.h"

#include <criterion/criterion.h>

static struct lapse_plan_step *watch_line(struct sketch *sketch, int32_t task, int32_t actor,
                                          int32_t bucket) {
    struct lapse_plan_step *watch = sketch_call(sketch, actor, LAPSE_VERB_WATCH, bucket, "");
    watch->u.call.key = (struct lapse_text){0};
    sketch_line(sketch, task, watch);
    return watch;
}

static struct lapse_plan_step *await_line(struct sketch *sketch, int32_t task, int32_t actor,
                                          int32_t bucket, enum lapse_event_kind event) {
    struct lapse_plan_step *waits = sketch_step(sketch, LAPSE_STEP_AWAIT, actor);
    waits->u.await.kind = LAPSE_AWAIT_EVENT;
    waits->u.await.event = event;
    waits->u.await.bucket = bucket;
    waits->u.await.key = sketch_text(sketch, "k");
    sketch_line(sketch, task, waits);
    return waits;
}

Test(await, goes_on_with_an_event_of_the_actors_own_watch) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false), b = sketch_actor(&sketch, "b", false);
    int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
    int32_t one = sketch_task(&sketch, a, false), two = sketch_task(&sketch, b, true);
    (void)watch_line(&sketch, one, a, bucket);
    (void)await_line(&sketch, one, a, bucket, LAPSE_EVENT_DELETE);
    struct lapse_plan_step *after = sketch_call(&sketch, a, LAPSE_VERB_GET, bucket, "k");
    sketch_on(&sketch, after, LAPSE_HANDLED_BIT(LAPSE_ABSENT), LAPSE_ACTION_NEXT, 0);
    sketch_line(&sketch, one, after);
    sketch_line_at(&sketch, two, sketch_call(&sketch, b, LAPSE_VERB_SET, bucket, "k"), S(1));
    sketch_line_at(&sketch, two, sketch_call(&sketch, b, LAPSE_VERB_SET, bucket, "x"), S(2));
    sketch_line_at(&sketch, two, sketch_call(&sketch, b, LAPSE_VERB_DELETE, bucket, "k"), S(3));
    struct stage stage = stage_run(&sketch);
    cr_assert_eq(
        stage_find(&stage, LAPSE_HISTORY_INVOKE, sketch_number_of(&sketch, after), 0)->at.ns, S(3));
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_WAITING, -1), 0);
    stage_close(&stage);
}

/* A client waits for the end of a key that lives 10 s; nothing else is left to happen. Only where
 * the end will be written as an event and handed to it does the run go on until then. */
Test(await, for_an_end_keeps_the_run_going_iff_housekeeping_can_bring_it) {
    struct {
        bool markers, watches;
        int64_t ttl_ns;
        int64_t pause_ns; /* of the client, for ever; 0: none */
        bool comes;
    } cases[] = {{true, true, S(10), 0, true},
                 {false, true, S(10), 0, false},
                 {true, false, S(10), 0, false},
                 {true, true, 0, 0, false},
                 {true, true, S(10), S(1), false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static struct sketch sketch;
        sketch_begin(&sketch);
        int32_t a = sketch_actor(&sketch, "a", false), c = sketch_actor(&sketch, "c", false);
        int32_t bucket = sketch_bucket(&sketch, "b", cases[i].ttl_ns, false);
        int32_t other = sketch_bucket(&sketch, "o", S(7), false);
        sketch.buckets[bucket].config.markers.ns = cases[i].markers ? S(3600) : 0;
        sketch.buckets[other].config.markers.ns = S(3600);
        int32_t one = sketch_task(&sketch, a, false), two = sketch_task(&sketch, c, false);
        if (cases[i].watches) {
            (void)watch_line(&sketch, one, a, bucket);
        }
        struct lapse_plan_step *waits = await_line(&sketch, one, a, bucket, LAPSE_EVENT_EXPIRED);
        struct lapse_plan_step *after = sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "x");
        sketch_line(&sketch, one, after);
        sketch_line(&sketch, two, sketch_call(&sketch, c, LAPSE_VERB_SET, other, "k"));
        sketch_line(&sketch, two, sketch_call(&sketch, c, LAPSE_VERB_SET, bucket, "k"));
        if (cases[i].pause_ns > 0) {
            sketch_pause(&sketch, a, cases[i].pause_ns, 0);
        }
        struct stage stage = stage_run(&sketch);
        const struct lapse_history_event *sent =
            stage_find(&stage, LAPSE_HISTORY_INVOKE, sketch_number_of(&sketch, after), 0);
        const struct lapse_history_event *end = stage_find(&stage, LAPSE_HISTORY_END, -1, 0);
        const struct lapse_history_event *told =
            stage_find(&stage, LAPSE_HISTORY_WAITING, sketch_number_of(&sketch, waits), 0);
        cr_assert_eq(sent != NULL, cases[i].comes, "case %zu", i);
        cr_assert_eq(told == NULL, cases[i].comes, "case %zu", i);
        cr_assert_eq(end->at.ns, cases[i].comes ? S(10) : cases[i].pause_ns, "case %zu", i);
        cr_assert(sent == NULL || sent->at.ns == S(10));
        stage_close(&stage);
    }
}

/* In vain: for a name, in a loop with its number, and for an event, all told before the line that
 * never ran because of it. */
Test(await, in_vain_is_told_at_the_end_before_the_lines_that_never_ran) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false), b = sketch_actor(&sketch, "b", false);
    int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
    sketch.plan.the_case.slot_count = 1;
    sketch.slot_names[0] = "t";
    int32_t one = sketch_task(&sketch, a, true), two = sketch_task(&sketch, b, false);
    struct lapse_plan_step *event = await_line(&sketch, one, a, bucket, LAPSE_EVENT_PUT);
    event->when = (struct lapse_when){LAPSE_WHEN_AT, S(1), 0};
    struct lapse_plan_step *never = sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "k");
    sketch_line_at(&sketch, one, never, S(2));
    sketch.checks[sketch_number_of(&sketch, never)].must_run = true;
    struct lapse_plan_step *loop = sketch_loop(&sketch, b, S(3), false);
    loop->u.loop.times = 2;
    struct lapse_plan_step *name = sketch_step(&sketch, LAPSE_STEP_AWAIT, b);
    name->u.await.kind = LAPSE_AWAIT_SAVE;
    sketch_body(&sketch, loop, name);
    sketch_line(&sketch, two, loop);
    struct stage stage = stage_run(&sketch);
    const struct lapse_history_event *told[] = {
        stage_find(&stage, LAPSE_HISTORY_WAITING, sketch_number_of(&sketch, event), 0),
        stage_find(&stage, LAPSE_HISTORY_WAITING, sketch_number_of(&sketch, name), 0),
        stage_find(&stage, LAPSE_HISTORY_NOT_RUN, sketch_number_of(&sketch, never), 0)};
    cr_assert(told[0] != NULL && told[1] != NULL && told[2] != NULL);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_WAITING, -1), 2);
    cr_assert(told[0]->seq < told[2]->seq && told[1]->seq < told[2]->seq);
    cr_assert_eq(told[0]->actor, a);
    cr_assert_eq(told[0]->call, 0);
    cr_assert_eq(told[0]->n, 0);
    cr_assert_eq(told[1]->n, 1);
    stage_close(&stage);
}
