/* Clients: careful and plain, timeouts, work, locks made of keys. */
#include "plan_builder_test.h"

#include <criterion/criterion.h>

Test(client, a_careful_one_stops_by_itself_at_its_deadline_and_a_plain_one_does_not) {
    for (int careful = 0; careful < 2; careful++) {
        static struct sketch sketch;
        sketch_begin(&sketch);
        int32_t w = sketch_actor(&sketch, "w", careful == 1);
        sketch.actors[w].margin.ns = S(2);
        int32_t report = sketch_resource(&sketch, "r", false);
        int32_t task = sketch_task(&sketch, w, true);
        sketch_line_at(&sketch, task, sketch_acquire(&sketch, w, "l", S(30), 0), 0);
        struct lapse_plan_step *in_time = sketch_write(&sketch, w, report, 0);
        sketch_line_at(&sketch, task, in_time, S(28) - 1);
        struct lapse_plan_step *late = sketch_write(&sketch, w, report, 0);
        sketch_on(&sketch, late, LAPSE_HANDLED_BIT(LAPSE_TOO_LATE), LAPSE_ACTION_NEXT, 0);
        sketch_line_at(&sketch, task, late, S(28));
        struct stage stage = stage_run(&sketch);
        const struct lapse_history_event *reply =
            stage_find(&stage, LAPSE_HISTORY_REPLY, sketch_number_of(&sketch, in_time), 0);
        cr_assert_eq(reply->u.reply.answer.status, LAPSE_OK);
        reply = stage_find(&stage, LAPSE_HISTORY_REPLY, sketch_number_of(&sketch, late), 0);
        cr_assert_eq(reply->u.reply.answer.status, careful == 1 ? LAPSE_TOO_LATE : LAPSE_OK);
        cr_assert_eq(reply->u.reply.sent, careful == 0);
        const struct lapse_history_event *ended =
            stage_find(&stage, LAPSE_HISTORY_BELIEF_END, -1, 0);
        cr_assert_eq(ended != NULL, careful == 1);
        cr_assert(careful == 0 || ended->u.belief.why == LAPSE_BELIEF_DEADLINE);
        stage_close(&stage);
    }
}

Test(client, a_timeout_gives_unknown_and_the_call_is_applied_all_the_same) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false);
    int32_t task = sketch_task(&sketch, a, true);
    sketch_pause(&sketch, -1, S(1), S(10));
    struct lapse_plan_step *acquire = sketch_acquire(&sketch, a, "l", S(30), 0);
    acquire->has_timeout = true;
    acquire->timeout_ns = S(3);
    sketch_on(&sketch, acquire, LAPSE_HANDLED_BIT(LAPSE_UNKNOWN), LAPSE_ACTION_NEXT, 0);
    sketch_line_at(&sketch, task, acquire, S(2));
    struct lapse_plan_step *left = sketch_probe(&sketch, LAPSE_PROBE_LEFT, -1, "l", S(12));
    struct stage stage = stage_run(&sketch);
    int32_t number = sketch_number_of(&sketch, acquire);
    const struct lapse_history_event *reply = stage_find(&stage, LAPSE_HISTORY_REPLY, number, 0);
    cr_assert_eq(reply->at.ns, S(5));
    cr_assert_eq(reply->u.reply.answer.status, LAPSE_UNKNOWN);
    cr_assert_null(stage_find(&stage, LAPSE_HISTORY_REPLY, number, 1));
    const struct lapse_history_event *apply = stage_find(&stage, LAPSE_HISTORY_APPLY, number, 0);
    cr_assert_eq(apply->at.ns, S(11));
    cr_assert_null(stage_find(&stage, LAPSE_HISTORY_BELIEF_BEGIN, -1, 0));
    const struct lapse_history_event *probe =
        stage_find(&stage, LAPSE_HISTORY_PROBE, sketch_number_of(&sketch, left), 0);
    cr_assert_eq(probe->u.probe.answers[0].answer.left.ns, S(29));
    stage_close(&stage);
}

/* The store sleeps until 5 s; a call sent at 3 s waits for its answer. */
Test(client, a_reply_at_exactly_the_timeout_wins) {
    struct {
        int64_t timeout_ns;
        enum lapse_status status;
        int64_t at_ns;
    } cases[] = {{S(2) - 1, LAPSE_UNKNOWN, S(5) - 1}, {S(2), LAPSE_OK, S(5)}};
    for (size_t i = 0; i < 2; i++) {
        for (int32_t paused = 0; paused < 2; paused++) { /* the client too, until 6 s */
            static struct sketch sketch;
            sketch_begin(&sketch);
            int32_t a = sketch_actor(&sketch, "a", false);
            int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
            int32_t task = sketch_task(&sketch, a, true);
            sketch_pause(&sketch, -1, 0, S(5));
            if (paused == 1) {
                sketch_pause(&sketch, a, S(4), S(2));
            }
            struct lapse_plan_step *set = sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "x");
            set->has_timeout = true;
            set->timeout_ns = cases[i].timeout_ns;
            sketch_line_at(&sketch, task, set, S(3));
            struct stage stage = stage_run(&sketch);
            const struct lapse_history_event *reply =
                stage_find(&stage, LAPSE_HISTORY_REPLY, -1, 0);
            cr_assert_eq(reply->u.reply.answer.status, cases[i].status);
            cr_assert_eq(reply->at.ns, paused == 1 ? S(6) : cases[i].at_ns);
            cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_REPLY, -1), 1);
            stage_close(&stage);
        }
    }
}

Test(client, a_pause_stretches_work_and_delays_what_comes_after) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false);
    int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
    int32_t task = sketch_task(&sketch, a, false);
    struct lapse_plan_step *work = sketch_step(&sketch, LAPSE_STEP_WORK, a);
    work->u.work = sketch_number(LAPSE_OPERAND_SPAN, S(10));
    sketch_line(&sketch, task, work);
    struct lapse_plan_step *after = sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "k");
    after->when = (struct lapse_when){LAPSE_WHEN_AFTER, S(1), 0};
    sketch_line(&sketch, task, after);
    sketch_pause(&sketch, a, S(4), S(7));
    struct stage stage = stage_run(&sketch);
    cr_assert_eq(stage_find(&stage, LAPSE_HISTORY_REPLY, sketch_number_of(&sketch, work), 0)->at.ns,
                 S(17));
    cr_assert_eq(
        stage_find(&stage, LAPSE_HISTORY_INVOKE, sketch_number_of(&sketch, after), 0)->at.ns,
        S(18));
    stage_close(&stage);
}

Test(client, work_under_a_grant_ends_too_late_with_the_belief_or_at_the_deadline) {
    for (int careful = 0; careful < 2; careful++) {
        static struct sketch sketch;
        sketch_begin(&sketch);
        int32_t a = sketch_actor(&sketch, "a", careful == 1);
        int32_t task = sketch_task(&sketch, a, false), steps = sketch_task(&sketch, a, true);
        sketch_line(&sketch, task, sketch_acquire(&sketch, a, "l", S(30), 0));
        struct lapse_plan_step *work = sketch_step(&sketch, LAPSE_STEP_WORK, a);
        work->u.work = sketch_number(LAPSE_OPERAND_SPAN, S(100));
        work->has_under = true;
        sketch_line(&sketch, task, work);
        /* The plain client learns it from a lost extend; the careful one sees its own clock. */
        struct lapse_plan_step *extend = sketch_extend(&sketch, a, "l", S(30), 0);
        sketch_on(&sketch, extend,
                  LAPSE_HANDLED_BIT(LAPSE_LOST) | LAPSE_HANDLED_BIT(LAPSE_TOO_LATE),
                  LAPSE_ACTION_NEXT, 0);
        sketch_line_at(&sketch, steps, extend, S(40));
        struct stage stage = stage_run(&sketch);
        const struct lapse_history_event *reply =
            stage_find(&stage, LAPSE_HISTORY_REPLY, sketch_number_of(&sketch, work), 0);
        cr_assert_eq(reply->u.reply.answer.status, LAPSE_TOO_LATE);
        cr_assert_eq(reply->at.ns, careful == 1 ? S(30) : S(40));
        cr_assert(reply->u.reply.sent);
        stage_close(&stage);
    }
}

Test(client, a_lock_made_of_a_key_is_believed_from_its_create_to_a_conflict) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false), b = sketch_actor(&sketch, "b", false);
    int32_t locks = sketch_bucket(&sketch, "locks", S(30), true);
    int32_t one = sketch_task(&sketch, a, true), two = sketch_task(&sketch, b, true);
    struct lapse_plan_step *create = sketch_call(&sketch, a, LAPSE_VERB_CREATE, locks, "job");
    create->has_save = true;
    sketch.plan.the_case.slot_count = 1;
    sketch.slot_names[0] = "l";
    sketch_line_at(&sketch, one, create, 0);
    sketch_line_at(&sketch, two, sketch_call(&sketch, b, LAPSE_VERB_CREATE, locks, "job"), S(30));
    struct lapse_plan_step *holder = sketch_probe(&sketch, LAPSE_PROBE_HOLDER, locks, "job", S(31));
    struct lapse_plan_step *believes =
        sketch_probe(&sketch, LAPSE_PROBE_BELIEVES, locks, "job", S(31));
    struct lapse_plan_step *update = sketch_call(&sketch, a, LAPSE_VERB_UPDATE, locks, "job");
    update->u.call.if_version = sketch_slot(0);
    sketch_line_at(&sketch, one, update, S(32));
    struct stage stage = stage_run(&sketch);
    const struct lapse_history_event *begins =
        stage_find(&stage, LAPSE_HISTORY_BELIEF_BEGIN, -1, 0);
    cr_assert(begins->u.belief.grant.key_lock);
    cr_assert(lapse_bytes_equal(begins->u.belief.grant.name, lapse_bytes_of("locks/job")));
    const struct lapse_history_event *probe =
        stage_find(&stage, LAPSE_HISTORY_PROBE, sketch_number_of(&sketch, holder), 0);
    cr_assert(lapse_bytes_equal(probe->u.probe.answers[0].answer.owner, lapse_bytes_of("b")));
    probe = stage_find(&stage, LAPSE_HISTORY_PROBE, sketch_number_of(&sketch, believes), 0);
    cr_assert_eq(probe->u.probe.who_count, 2);
    const struct lapse_history_event *invoke =
        stage_find(&stage, LAPSE_HISTORY_INVOKE, sketch_number_of(&sketch, update), 0);
    cr_assert(invoke->u.invoke.grant.given);
    const struct lapse_history_event *ended = stage_find(&stage, LAPSE_HISTORY_BELIEF_END, -1, 0);
    cr_assert_eq(ended->actor, a);
    cr_assert_eq(ended->u.belief.why, LAPSE_BELIEF_DENIED);
    stage_close(&stage);
}

Test(client, many_calls_of_one_line_are_sent_at_one_instant_each_after_the_last) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false);
    int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
    int32_t task = sketch_task(&sketch, a, true);
    struct lapse_plan_step *step = sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "k");
    static const struct lapse_text_part parts[] = {
        {.kind = LAPSE_PART_LITERAL, .literal = {(const unsigned char *)"k", 1}},
        {.kind = LAPSE_PART_N}};
    step->u.call.key = (struct lapse_text){2, parts};
    step->times = 12;
    sketch_line_at(&sketch, task, step, S(1));
    struct stage stage = stage_run(&sketch);
    for (int32_t n = 1; n <= 12; n++) {
        const struct lapse_history_event *invoke =
            stage_find(&stage, LAPSE_HISTORY_INVOKE, -1, (size_t)n - 1);
        cr_assert_eq(invoke->n, n);
        cr_assert_eq(invoke->at.ns, S(1));
        cr_assert_eq(lapse_history_at(stage.history, (size_t)invoke->seq + 1)->kind,
                     LAPSE_HISTORY_APPLY);
    }
    const struct lapse_history_event *last = stage_find(&stage, LAPSE_HISTORY_INVOKE, -1, 11);
    cr_assert(lapse_bytes_equal(last->u.invoke.request.command.key, lapse_bytes_of("k12")));
    stage_close(&stage);
}
