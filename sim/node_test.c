/* The node's own doings: housekeeping is told with what it read, an operator's reap, the look at
 * rows. */
#include "plan_builder_test.h"

#include <criterion/criterion.h>

static struct lapse_plan_step *reap_at(struct sketch *sketch, int64_t at_ns) {
    struct lapse_plan_step *step = sketch_step(sketch, LAPSE_STEP_OPERATOR, -1);
    step->u.operator_act = (struct lapse_plan_operator){.verb = LAPSE_OPERATOR_REAP};
    step->when = (struct lapse_when){LAPSE_WHEN_AT, at_ns, 0};
    sketch->world_steps[sketch->plan.world_step_count++] = sketch_number_of(sketch, step);
    return step;
}

static struct lapse_plan_step *set_for(struct sketch *sketch, int32_t actor, int32_t bucket,
                                       const char *key, int64_t ttl_ns) {
    struct lapse_plan_step *set = sketch_call(sketch, actor, LAPSE_VERB_SET, bucket, key);
    set->u.call.ttl = sketch_number(LAPSE_OPERAND_SPAN, ttl_ns);
    return set;
}

Test(node, housekeeping_tells_its_reading_before_the_events_that_it_wrote) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t w = sketch_actor(&sketch, "w", false);
    int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
    sketch.buckets[bucket].config.markers.ns = S(3600);
    int32_t task = sketch_task(&sketch, w, true);
    sketch_line_at(&sketch, task, set_for(&sketch, w, bucket, "k", S(5)), S(2));
    sketch_run_for(&sketch, S(10));
    struct stage stage = stage_run(&sketch);

    const struct lapse_history_event *step = stage_find(&stage, LAPSE_HISTORY_STEP, -1, 0);
    const struct lapse_history_event *expired = stage_find(&stage, LAPSE_HISTORY_EMIT, -1, 1);
    cr_assert_not_null(step);
    cr_assert_eq(step->at.ns, S(7));
    cr_assert_eq(step->u.step.store.ns, S(7));
    cr_assert_eq(step->u.step.reading.raw_ns, S(7));
    cr_assert_eq(step->u.step.reading.wall.ns, sketch.plan.setup.epoch.ns + S(7));
    cr_assert_eq(expired->u.emit.event.kind, LAPSE_EVENT_EXPIRED);
    cr_assert_lt(step->seq, expired->seq);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_STEP, -1), 1);
    stage_close(&stage);
}

Test(node, an_operators_reap_waits_for_a_held_node_and_does_not_run_on_a_fallen_one) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t w = sketch_actor(&sketch, "w", false);
    int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
    int32_t task = sketch_task(&sketch, w, true);
    sketch_line_at(&sketch, task, set_for(&sketch, w, bucket, "k", S(5)), 0);
    sketch_pause(&sketch, -1, S(3), S(7));
    struct lapse_plan_step *waits = reap_at(&sketch, S(6));
    struct lapse_plan_step *runs = reap_at(&sketch, S(12));
    sketch_node_fault(&sketch, LAPSE_FAULT_CRASH, S(20), S(5));
    struct lapse_plan_step *down = reap_at(&sketch, S(21));
    sketch.checks[sketch_number_of(&sketch, down)].must_run = true;
    sketch.checks[sketch_number_of(&sketch, waits)].must_run = true;
    struct stage stage = stage_run(&sketch);

    const struct lapse_history_event *woken =
        stage_find(&stage, LAPSE_HISTORY_STEP, sketch_number_of(&sketch, waits), 0);
    cr_assert_not_null(woken);
    cr_assert_eq(woken->at.ns, S(10));
    cr_assert_eq(stage_find(&stage, LAPSE_HISTORY_STEP, sketch_number_of(&sketch, runs), 0)->at.ns,
                 S(12));
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_STEP, sketch_number_of(&sketch, down)), 0);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_NOT_RUN, sketch_number_of(&sketch, down)), 1);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_NOT_RUN, -1), 1);
    stage_close(&stage);
}

Test(node, rows_are_counted_live_or_not_and_while_the_process_is_down) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t w = sketch_actor(&sketch, "w", false);
    int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
    int32_t other = sketch_bucket(&sketch, "c", 0, false);
    int32_t task = sketch_task(&sketch, w, true);
    sketch_line_at(&sketch, task, set_for(&sketch, w, bucket, "j", S(5)), 0);
    sketch_line_at(&sketch, task, set_for(&sketch, w, bucket, "k", S(8)), 0);
    sketch_line_at(&sketch, task, set_for(&sketch, w, other, "k", S(8)), 0);
    sketch_node_fault(&sketch, LAPSE_FAULT_CRASH, S(6), S(1));
    sketch_pause(&sketch, -1, S(7) + 1, S(10));
    static const struct {
        int64_t at_ns, wanted;
    } looks[] = {{S(1), 2}, {S(5), 1}, {S(6) + 1, 1}, {S(7), 1}, {S(9), 1}, {S(18), 0}};
    int32_t numbers[sizeof(looks) / sizeof(looks[0])];
    for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
        struct lapse_plan_step *rows =
            sketch_probe(&sketch, LAPSE_PROBE_ROWS, bucket, "", looks[i].at_ns);
        numbers[i] = sketch_number_of(&sketch, rows);
    }
    struct stage stage = stage_run(&sketch);
    for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
        const struct lapse_history_event *seen =
            stage_find(&stage, LAPSE_HISTORY_PROBE, numbers[i], 0);
        cr_assert_eq(seen->u.probe.row_count, looks[i].wanted, "look %zu", i);
        cr_assert(lapse_bytes_equal(seen->u.probe.bucket, lapse_bytes_of("b")));
    }
    stage_close(&stage);
}
