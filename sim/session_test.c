/* Grants that share an end: sessions, and batches, as their clients see them. */
#include "plan_builder_test.h"

#include <criterion/criterion.h>

/* A careful client `w` with a session of 10 s, and under it a lease and a lock key. */
struct scene {
    struct sketch sketch;
    int32_t actor, task, locks;
};

static struct lapse_plan_step *session_call(struct scene *scene, int verb, int64_t span_ns,
                                            int64_t at_ns) {
    struct lapse_plan_step *step = sketch_call(&scene->sketch, scene->actor, verb, -1, "s");
    if (span_ns > 0) {
        step->u.call.span = sketch_number(LAPSE_OPERAND_SPAN, span_ns);
    }
    sketch_line_at(&scene->sketch, scene->task, step, at_ns);
    return step;
}

static void scene_begin(struct scene *scene) {
    struct sketch *sketch = &scene->sketch;
    sketch_begin(sketch);
    scene->actor = sketch_actor(sketch, "w", true);
    scene->locks = sketch_bucket(sketch, "locks", 0, true);
    scene->task = sketch_task(sketch, scene->actor, true);
    (void)session_call(scene, LAPSE_VERB_SESSION, S(10), 0);
    struct lapse_plan_step *acquire = sketch_acquire(sketch, scene->actor, "l", 0, 0);
    acquire->u.call.span = (struct lapse_operand){0};
    acquire->u.call.session = sketch_text(sketch, "s");
    sketch_line_at(sketch, scene->task, acquire, S(1));
    struct lapse_plan_step *create =
        sketch_call(sketch, scene->actor, LAPSE_VERB_CREATE, scene->locks, "k");
    create->u.call.session = sketch_text(sketch, "s");
    sketch_line_at(sketch, scene->task, create, S(2));
}

static const struct lapse_history_event *last_end(const struct stage *stage, size_t k) {
    return stage_find(stage, LAPSE_HISTORY_BELIEF_END, -1, k);
}

Test(session, a_keepalive_moves_the_deadline_of_all_that_ends_with_the_session) {
    static struct scene scene;
    for (int kept = 0; kept < 2; kept++) {
        scene_begin(&scene);
        struct sketch *sketch = &scene.sketch;
        if (kept == 1) {
            (void)session_call(&scene, LAPSE_VERB_KEEPALIVE, 0, S(8));
        }
        struct lapse_plan_step *lease = sketch_probe(sketch, LAPSE_PROBE_MAY, -1, "l", S(10) + 1);
        struct lapse_plan_step *key =
            sketch_probe(sketch, LAPSE_PROBE_MAY, scene.locks, "k", S(18) - 1);
        struct lapse_plan_step *late =
            sketch_probe(sketch, LAPSE_PROBE_MAY, scene.locks, "k", S(18));
        struct stage stage = stage_run(sketch);
        const struct lapse_plan_step *looks[] = {lease, key, late};
        const size_t wanted[] = {kept == 1 ? 1 : 0, kept == 1 ? 1 : 0, 0};
        for (size_t i = 0; i < 3; i++) {
            const struct lapse_history_event *seen =
                stage_find(&stage, LAPSE_HISTORY_PROBE, sketch_number_of(sketch, looks[i]), 0);
            cr_assert_eq(seen->u.probe.who_count, wanted[i], "look %zu, kept %d", i, kept);
        }
        stage_close(&stage);
    }
}

Test(session, what_denies_or_closes_it_ends_every_belief_under_it) {
    static const struct {
        int verb;
        int64_t at_ns;
        enum lapse_belief_why why;
    } cases[] = {{LAPSE_VERB_CLOSE, S(5), LAPSE_BELIEF_RELEASED},
                 {LAPSE_VERB_KEEPALIVE, S(10), LAPSE_BELIEF_DENIED},
                 {LAPSE_VERB_SESSION, S(10), LAPSE_BELIEF_DENIED}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static struct scene scene;
        scene_begin(&scene);
        scene.sketch.actors[0].careful = false;
        struct lapse_plan_step *ends = session_call(
            &scene, cases[i].verb, cases[i].verb == LAPSE_VERB_SESSION ? S(10) : 0, cases[i].at_ns);
        struct stage stage = stage_run(&scene.sketch);
        cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_BELIEF_BEGIN, -1), 2, "case %zu", i);
        cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_BELIEF_END, -1), 2, "case %zu", i);
        for (size_t k = 0; k < 2; k++) {
            cr_assert_eq(last_end(&stage, k)->step, sketch_number_of(&scene.sketch, ends));
            cr_assert_eq(last_end(&stage, k)->u.belief.why, cases[i].why, "case %zu", i);
        }
        stage_close(&stage);
    }
}

/* The world's own account of who made a lock key follows the session too. */
Test(session, a_lock_key_lives_with_its_session) {
    static struct scene scene;
    for (int kept = 0; kept < 2; kept++) {
        scene_begin(&scene);
        struct sketch *sketch = &scene.sketch;
        if (kept == 1) {
            (void)session_call(&scene, LAPSE_VERB_KEEPALIVE, 0, S(8));
        }
        int32_t b = sketch_actor(sketch, "b", false);
        int32_t task = sketch_task(sketch, b, true);
        struct lapse_plan_step *set = sketch_call(sketch, b, LAPSE_VERB_SET, scene.locks, "k");
        sketch_line_at(sketch, task, set, S(12));
        struct stage stage = stage_run(sketch);
        cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_BELIEF_BEGIN, sketch_number_of(sketch, set)),
                     kept == 1 ? 0 : 1);
        stage_close(&stage);
    }
}

/* A batch of two grants, then one that gives a lock key back and renews the lease. */
Test(session, each_call_of_a_batch_means_what_it_would_alone) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t w = sketch_actor(&sketch, "w", true);
    int32_t locks = sketch_bucket(&sketch, "locks", S(30), true);
    int32_t task = sketch_task(&sketch, w, true);
    struct lapse_plan_call both[2] = {
        sketch_acquire(&sketch, w, "l", S(10), -1)->u.call,
        sketch_call(&sketch, w, LAPSE_VERB_CREATE, locks, "k")->u.call,
    };
    struct lapse_plan_call then[2] = {
        sketch_call(&sketch, w, LAPSE_VERB_DELETE, locks, "k")->u.call,
        sketch_call(&sketch, w, LAPSE_VERB_EXTEND, -1, "l")->u.call,
    };
    then[1].span = sketch_number(LAPSE_OPERAND_SPAN, S(10));
    struct lapse_plan_step *steps[3];
    const int64_t at[3] = {0, S(5), S(40)};
    for (size_t i = 0; i < 3; i++) {
        steps[i] = sketch_call(&sketch, w, LAPSE_VERB_BATCH, -1, "");
        steps[i]->u.call.batch = i == 0 ? both : then;
        steps[i]->u.call.batch_count = 2;
        sketch_line_at(&sketch, task, steps[i], at[i]);
    }
    struct lapse_plan_step *may = sketch_probe(&sketch, LAPSE_PROBE_MAY, -1, "l", S(15) - 1);
    struct lapse_plan_step *late = sketch_probe(&sketch, LAPSE_PROBE_MAY, -1, "l", S(15));
    struct stage stage = stage_run(&sketch);
    cr_assert_eq(
        stage_count(&stage, LAPSE_HISTORY_BELIEF_BEGIN, sketch_number_of(&sketch, steps[0])), 2);
    const struct lapse_history_event *given = last_end(&stage, 0);
    cr_assert_eq(given->step, sketch_number_of(&sketch, steps[1]));
    cr_assert_eq(given->u.belief.why, LAPSE_BELIEF_RELEASED);
    cr_assert_eq(stage_find(&stage, LAPSE_HISTORY_PROBE, sketch_number_of(&sketch, may), 0)
                     ->u.probe.who_count,
                 1);
    cr_assert_eq(stage_find(&stage, LAPSE_HISTORY_PROBE, sketch_number_of(&sketch, late), 0)
                     ->u.probe.who_count,
                 0);
    /* At 40 s its only belief is past its deadline: the batch has an act in it, and is not sent. */
    const struct lapse_history_event *refused =
        stage_find(&stage, LAPSE_HISTORY_REPLY, sketch_number_of(&sketch, steps[2]), 0);
    cr_assert_eq(refused->u.reply.answer.status, LAPSE_TOO_LATE);
    cr_assert_not(refused->u.reply.sent);
    stage_close(&stage);
}
