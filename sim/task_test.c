/* What answers make tasks do: need, skip, stop; calls that are not waited for; crashes amid all. */
#include "plan_builder_test.h"

#include <criterion/criterion.h>

static const struct lapse_operand five_seconds = {.kind = LAPSE_OPERAND_SPAN, .number = S(5)};

/* A check that asks for more than 5 s left. */
static struct lapse_expect more_than_five(struct lapse_compare *compare) {
    *compare = (struct lapse_compare){.field = LAPSE_FIELD_LEFT,
                                      .op = LAPSE_OP_GT,
                                      .operand_count = 1,
                                      .operands = &five_seconds};
    return (struct lapse_expect){
        .kind = LAPSE_EXPECT_FIELDS, .compare_count = 1, .compares = compare};
}

Test(task, a_need_that_is_not_met_takes_its_else_and_a_word_for_a_refusal_comes_first) {
    struct lapse_compare compare;
    struct lapse_expect need = more_than_five(&compare);
    /* span of the first holder's lease; sends of the second by 20 s; it ends as stopped */
    struct {
        int64_t span_ns;
        size_t sends;
        bool stopped;
    } cases[] = {{S(5), 1, true}, {S(6), 1, false}};
    for (size_t i = 0; i < 2; i++) {
        static struct sketch sketch;
        sketch_begin(&sketch);
        int32_t a = sketch_actor(&sketch, "a", false);
        int32_t task = sketch_task(&sketch, a, false);
        struct lapse_plan_step *step = sketch_acquire(&sketch, a, "l", cases[i].span_ns, 0);
        step->need = &need;
        step->need_else.kind = LAPSE_ACTION_STOP;
        sketch_on(&sketch, step, LAPSE_HANDLED_BIT(LAPSE_HELD), LAPSE_ACTION_AGAIN, S(1));
        sketch_line(&sketch, task, step);
        struct stage stage = stage_run(&sketch);
        cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_INVOKE, -1), cases[i].sends);
        cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_STOPPED, -1), cases[i].stopped ? 1 : 0);
        stage_close(&stage);
    }
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false), b = sketch_actor(&sketch, "b", false);
    int32_t one = sketch_task(&sketch, a, true), two = sketch_task(&sketch, b, false);
    sketch_line_at(&sketch, one, sketch_acquire(&sketch, a, "l", S(3), 0), 0);
    struct lapse_plan_step *step = sketch_acquire(&sketch, b, "l", S(9), 1);
    step->need = &need;
    step->need_else.kind = LAPSE_ACTION_STOP;
    sketch_on(&sketch, step, LAPSE_HANDLED_BIT(LAPSE_HELD), LAPSE_ACTION_AGAIN, S(1));
    sketch_line(&sketch, two, step);
    struct stage stage = stage_run(&sketch);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_INVOKE, sketch_number_of(&sketch, step)), 4);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_STOPPED, -1), 0);
    stage_close(&stage);
}

Test(task, skip_leaves_the_body_and_stop_all_ends_every_task_with_its_beliefs) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false);
    int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
    int32_t one = sketch_task(&sketch, a, false), two = sketch_task(&sketch, a, false);
    sketch_line(&sketch, one, sketch_acquire(&sketch, a, "l", S(100), 0));
    struct lapse_plan_step *loop = sketch_loop(&sketch, a, S(1), false);
    loop->u.loop.times = 3;
    struct lapse_plan_step *create = sketch_call(&sketch, a, LAPSE_VERB_CREATE, bucket, "k");
    sketch_on(&sketch, create, LAPSE_HANDLED_BIT(LAPSE_EXISTS), LAPSE_ACTION_SKIP, 0);
    struct lapse_plan_step *rest = sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "rest");
    sketch_body(&sketch, loop, create);
    sketch_body(&sketch, loop, rest);
    sketch_line(&sketch, one, loop);
    struct lapse_plan_step *last = sketch_call(&sketch, a, LAPSE_VERB_CREATE, bucket, "k");
    sketch_on(&sketch, last, LAPSE_HANDLED_BIT(LAPSE_EXISTS), LAPSE_ACTION_STOP_ALL, 0);
    sketch_line(&sketch, one, last);
    struct lapse_plan_step *beside = sketch_loop(&sketch, a, S(2), true);
    struct lapse_plan_step *tick = sketch_call(&sketch, a, LAPSE_VERB_GET, bucket, "k");
    sketch_body(&sketch, beside, tick);
    sketch_line(&sketch, two, beside);
    struct lapse_plan_step *probe = sketch_probe(&sketch, LAPSE_PROBE_STOPPED, -1, "", S(3) + 1);
    probe->u.probe.actor = a;
    sketch_run_for(&sketch, S(50));
    struct stage stage = stage_run(&sketch);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_INVOKE, sketch_number_of(&sketch, create)), 3);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_INVOKE, sketch_number_of(&sketch, rest)), 1);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_INVOKE, sketch_number_of(&sketch, tick)), 1);
    const struct lapse_history_event *stopped = stage_find(&stage, LAPSE_HISTORY_STOPPED, -1, 0);
    cr_assert_eq(stopped->at.ns, S(3));
    const struct lapse_history_event *ended = stage_find(&stage, LAPSE_HISTORY_BELIEF_END, -1, 0);
    cr_assert_eq(ended->u.belief.why, LAPSE_BELIEF_STOPPED);
    cr_assert(stage_find(&stage, LAPSE_HISTORY_PROBE, -1, 0)->u.probe.flag);
    stage_close(&stage);
}

Test(task, a_call_not_waited_for_lets_its_task_go_on) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false);
    int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
    int32_t task = sketch_task(&sketch, a, false);
    sketch_pause(&sketch, -1, 0, S(5));
    struct lapse_plan_step *first = sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "k");
    first->nowait = true;
    sketch_line(&sketch, task, first);
    struct lapse_plan_step *second = sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "k");
    second->when = (struct lapse_when){LAPSE_WHEN_AFTER, S(1), 0};
    sketch_line(&sketch, task, second);
    struct stage stage = stage_run(&sketch);
    cr_assert_eq(stage_find(&stage, LAPSE_HISTORY_INVOKE, 2, 0)->at.ns, S(1));
    cr_assert_eq(stage_find(&stage, LAPSE_HISTORY_REPLY, 1, 0)->at.ns, S(5));
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_REPLY, 1), 1);
    stage_close(&stage);
}

/* A watcher with a call on its way is paused, crashes in its sleep and comes back at its first
 * line; what it had sent is applied, and nothing of its sleep reaches the new incarnation. */
Test(task, a_crash_in_a_pause_drops_what_waited_but_not_what_was_sent) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false), b = sketch_actor(&sketch, "b", false);
    int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
    sketch.plan.watch_count = 1;
    sketch.watch_names[0] = "w";
    int32_t one = sketch_task(&sketch, a, false), two = sketch_task(&sketch, b, true);
    struct lapse_plan_step *watch = sketch_call(&sketch, a, LAPSE_VERB_WATCH, bucket, "");
    watch->u.call.key = (struct lapse_text){0};
    watch->u.call.watch = 0;
    sketch_line(&sketch, one, watch);
    struct lapse_plan_step *sent = sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "sent");
    sent->when = (struct lapse_when){LAPSE_WHEN_AFTER, S(1), 0};
    sketch_line(&sketch, one, sent);
    sketch_pause(&sketch, -1, S(1), S(2));
    sketch_pause(&sketch, a, S(2), 0);
    sketch_line_at(&sketch, two, sketch_call(&sketch, b, LAPSE_VERB_SET, bucket, "k"), S(4));
    struct lapse_plan_step *crash = sketch_pause(&sketch, a, S(5), S(1));
    crash->u.fault.kind = LAPSE_FAULT_CRASH;
    struct stage stage = stage_run(&sketch);
    int32_t number = sketch_number_of(&sketch, sent);
    cr_assert_eq(stage_find(&stage, LAPSE_HISTORY_APPLY, number, 0)->at.ns, S(3));
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_REPLY, number), 1);
    cr_assert_eq(stage_find(&stage, LAPSE_HISTORY_REPLY, number, 0)->incarnation, 2);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_DELIVER, -1), 1, "only its own second set");
    cr_assert_eq(stage_find(&stage, LAPSE_HISTORY_DELIVER, -1, 0)->at.ns, S(7));
    stage_close(&stage);
}

/* `set: b/x$n`: which of its own `times`, else which firing of its loop. */
Test(task, a_steps_own_times_counts_its_n_even_if_it_is_one_and_in_a_loop) {
    static const struct lapse_text_part parts[] = {
        {.kind = LAPSE_PART_LITERAL, .literal = {(const unsigned char *)"x", 1}},
        {.kind = LAPSE_PART_N}};
    struct {
        int32_t times, firings; /* 0: not in a loop */
        const char *keys[4];
    } cases[] = {{1, 0, {"x1"}},       {2, 0, {"x1", "x2"}}, {0, 2, {"x1", "x2"}},
                 {1, 2, {"x1", "x1"}}, {0, 0, {"x0"}},       {2, 2, {"x1", "x2", "x1", "x2"}}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static struct sketch sketch;
        sketch_begin(&sketch);
        int32_t a = sketch_actor(&sketch, "a", false);
        int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
        int32_t task = sketch_task(&sketch, a, false);
        struct lapse_plan_step *set = sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "");
        set->u.call.key = (struct lapse_text){2, parts};
        set->times = cases[i].times;
        if (cases[i].firings > 0) {
            struct lapse_plan_step *loop = sketch_loop(&sketch, a, S(1), false);
            loop->u.loop.times = cases[i].firings;
            sketch_body(&sketch, loop, set);
            sketch_line(&sketch, task, loop);
        } else {
            sketch_line(&sketch, task, set);
        }
        struct stage stage = stage_run(&sketch);
        size_t count = 0;
        while (count < 4 && cases[i].keys[count] != NULL) {
            const char *key = cases[i].keys[count];
            const struct lapse_history_event *sent =
                stage_find(&stage, LAPSE_HISTORY_INVOKE, -1, count++);
            cr_assert_not_null(sent, "case %zu", i);
            struct lapse_bytes got = sent->u.invoke.request.command.key;
            cr_assert(lapse_bytes_equal(got, lapse_bytes_of(key)), "case %zu: %s", i, key);
            cr_assert_eq(sent->n, key[1] - '0', "case %zu", i);
        }
        cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_INVOKE, -1), count, "case %zu", i);
        stage_close(&stage);
    }
}
