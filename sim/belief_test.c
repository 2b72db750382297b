/* Beliefs against the truth: who made the entry of a lock key, what a release, an inspect and a
 * restart do, and that looking renews nothing. */
#include "plan_builder_test.h"

#include <criterion/criterion.h>

static struct lapse_bytes owner_seen(const struct stage *stage, const struct sketch *sketch,
                                     const struct lapse_plan_step *probe) {
    const struct lapse_history_event *event =
        stage_find(stage, LAPSE_HISTORY_PROBE, sketch_number_of(sketch, probe), 0);
    cr_assert_not_null(event);
    cr_assert_eq(event->u.probe.answer_count, 1);
    return event->u.probe.answers[0].answer.owner;
}

Test(belief, a_plain_set_by_another_leaves_the_creator_and_a_set_by_revision_makes_one) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false), b = sketch_actor(&sketch, "b", false);
    int32_t locks = sketch_bucket(&sketch, "locks", S(30), true);
    int32_t one = sketch_task(&sketch, a, true), two = sketch_task(&sketch, b, true);
    sketch_line_at(&sketch, one, sketch_call(&sketch, a, LAPSE_VERB_SET, locks, "k"), 0);
    sketch_line_at(&sketch, two, sketch_call(&sketch, b, LAPSE_VERB_SET, locks, "k"), S(1));
    struct lapse_plan_step *plain = sketch_probe(&sketch, LAPSE_PROBE_HOLDER, locks, "k", S(1));
    struct lapse_plan_step *update = sketch_call(&sketch, b, LAPSE_VERB_UPDATE, locks, "k");
    update->u.call.if_version = sketch_number(LAPSE_OPERAND_NUMBER, 2);
    sketch_line_at(&sketch, two, update, S(2));
    struct lapse_plan_step *taken = sketch_probe(&sketch, LAPSE_PROBE_HOLDER, locks, "k", S(2));
    struct lapse_plan_step *who = sketch_probe(&sketch, LAPSE_PROBE_BELIEVES, locks, "k", S(2));
    sketch_line_at(&sketch, one, sketch_call(&sketch, a, LAPSE_VERB_SET, locks, "k"), S(32));
    struct lapse_plan_step *again = sketch_probe(&sketch, LAPSE_PROBE_HOLDER, locks, "k", S(32));
    struct stage stage = stage_run(&sketch);
    cr_assert(lapse_bytes_equal(owner_seen(&stage, &sketch, plain), lapse_bytes_of("a")));
    cr_assert(lapse_bytes_equal(owner_seen(&stage, &sketch, taken), lapse_bytes_of("b")));
    cr_assert(lapse_bytes_equal(owner_seen(&stage, &sketch, again), lapse_bytes_of("a")));
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_BELIEF_BEGIN, -1), 2);
    cr_assert_eq(stage_find(&stage, LAPSE_HISTORY_BELIEF_BEGIN, -1, 1)->actor, b);
    const struct lapse_history_event *believers =
        stage_find(&stage, LAPSE_HISTORY_PROBE, sketch_number_of(&sketch, who), 0);
    cr_assert_eq(believers->u.probe.who_count, 2);
    stage_close(&stage);
}

/* An inspect that shows another's grant denies; one that shows its own does not. */
Test(belief, an_inspect_that_shows_another_denies) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false), b = sketch_actor(&sketch, "b", false);
    int32_t one = sketch_task(&sketch, a, true), two = sketch_task(&sketch, b, true);
    sketch_line_at(&sketch, one, sketch_acquire(&sketch, a, "l", S(10), 0), 0);
    sketch_line_at(&sketch, one, sketch_call(&sketch, a, LAPSE_VERB_INSPECT, -1, "l"), S(1));
    sketch_line_at(&sketch, two, sketch_acquire(&sketch, b, "l", S(10), 1), S(10));
    struct lapse_plan_step *shows = sketch_call(&sketch, a, LAPSE_VERB_INSPECT, -1, "l");
    sketch_line_at(&sketch, one, shows, S(11));
    struct stage stage = stage_run(&sketch);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_BELIEF_END, -1), 1);
    const struct lapse_history_event *ended = stage_find(&stage, LAPSE_HISTORY_BELIEF_END, -1, 0);
    cr_assert_eq(ended->step, sketch_number_of(&sketch, shows));
    cr_assert_eq(ended->u.belief.why, LAPSE_BELIEF_DENIED);
    stage_close(&stage);
}

Test(belief, a_renewal_moves_a_careful_clients_deadline_by_what_was_left) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", true);
    sketch.plan.setup.rate_ppb = 200000;
    int32_t report = sketch_resource(&sketch, "r", false);
    int32_t task = sketch_task(&sketch, a, true);
    sketch_line_at(&sketch, task, sketch_acquire(&sketch, a, "l", S(10), 0), 0);
    sketch_line_at(&sketch, task, sketch_extend(&sketch, a, "l", S(10), 0), S(5));
    /* 5 s + floor(10 s * (1 - 200 ppm) / (1 + 200 ppm)) */
    int64_t deadline = S(5) + INT64_C(9996000799);
    struct lapse_plan_step *last = sketch_write(&sketch, a, report, 0);
    sketch_line_at(&sketch, task, last, deadline - 1);
    struct lapse_plan_step *may = sketch_probe(&sketch, LAPSE_PROBE_MAY, -1, "l", deadline - 1);
    struct lapse_plan_step *late = sketch_write(&sketch, a, report, 0);
    sketch_line_at(&sketch, task, late, deadline);
    struct lapse_plan_step *may_not = sketch_probe(&sketch, LAPSE_PROBE_MAY, -1, "l", deadline);
    struct stage stage = stage_run(&sketch);
    const struct lapse_history_event *invoke =
        stage_find(&stage, LAPSE_HISTORY_INVOKE, sketch_number_of(&sketch, last), 0);
    cr_assert(invoke->u.invoke.looked);
    cr_assert_eq(invoke->u.invoke.last_look.ns, deadline - 1);
    cr_assert_null(stage_find(&stage, LAPSE_HISTORY_INVOKE, sketch_number_of(&sketch, late), 0));
    cr_assert_eq(stage_find(&stage, LAPSE_HISTORY_BELIEF_END, -1, 0)->u.belief.deadline.ns,
                 deadline);
    const struct lapse_history_event *seen =
        stage_find(&stage, LAPSE_HISTORY_PROBE, sketch_number_of(&sketch, may), 0);
    cr_assert_eq(seen->u.probe.who_count, 1);
    seen = stage_find(&stage, LAPSE_HISTORY_PROBE, sketch_number_of(&sketch, may_not), 0);
    cr_assert_eq(seen->u.probe.who_count, 0);
    stage_close(&stage);
}

Test(belief, a_restart_of_a_running_client_is_a_crash_and_a_new_incarnation) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false);
    int32_t task = sketch_task(&sketch, a, false);
    struct lapse_plan_step *acquire = sketch_acquire(&sketch, a, "l", S(20), 0);
    sketch_on(&sketch, acquire, LAPSE_HANDLED_BIT(LAPSE_HELD), LAPSE_ACTION_AGAIN, S(10));
    sketch_line(&sketch, task, acquire);
    struct lapse_plan_step *restart = sketch_pause(&sketch, a, S(5), 0);
    restart->u.fault.kind = LAPSE_FAULT_RESTART;
    struct stage stage = stage_run(&sketch);
    cr_assert_eq(stage_find(&stage, LAPSE_HISTORY_FAULT_BEGIN, -1, 0)->incarnation, 1);
    cr_assert_eq(stage_find(&stage, LAPSE_HISTORY_FAULT_END, -1, 0)->incarnation, 2);
    cr_assert_eq(stage_find(&stage, LAPSE_HISTORY_BELIEF_END, -1, 0)->at.ns, S(5));
    const struct lapse_history_event *begins =
        stage_find(&stage, LAPSE_HISTORY_BELIEF_BEGIN, -1, 1);
    cr_assert_eq(begins->at.ns, S(25), "held at 5 s and 15 s, granted at 25 s");
    cr_assert_eq(begins->incarnation, 2);
    stage_close(&stage);
}

Test(belief, looking_at_what_is_left_of_an_idle_key_renews_nothing) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false);
    int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
    sketch.buckets[bucket].config.term.given = LAPSE_TERM_IDLE;
    sketch.buckets[bucket].config.term.idle.ns = S(3000);
    int32_t task = sketch_task(&sketch, a, true);
    sketch_line_at(&sketch, task, sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "k"), 0);
    sketch_line_at(&sketch, task, sketch_call(&sketch, a, LAPSE_VERB_GET, bucket, "k"), S(500));
    /* Before the deferred renewal is flushed, after it, and near the end. */
    int64_t at[] = {S(500), S(600), S(3499)};
    const struct lapse_plan_step *looks[3];
    for (size_t i = 0; i < 3; i++) {
        looks[i] = sketch_probe(&sketch, LAPSE_PROBE_LEFT, bucket, "k", at[i]);
    }
    struct stage stage = stage_run(&sketch);
    for (size_t i = 0; i < 3; i++) {
        const struct lapse_history_event *probe =
            stage_find(&stage, LAPSE_HISTORY_PROBE, sketch_number_of(&sketch, looks[i]), 0);
        cr_assert_eq(probe->u.probe.answers[0].answer.left.ns, S(3500) - at[i]);
    }
    stage_close(&stage);
}
