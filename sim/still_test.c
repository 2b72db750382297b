/* How long a key must have stood still, and what counts as a change. */
#include "plan_builder_test.h"

#include <criterion/criterion.h>

/* `w` writes; `o` waits from 0 s until "k" has stood still for 10 s, then takes "l". */
struct scene {
    struct sketch sketch;
    int32_t bucket, writer, observer, task, takes;
};

static void scene_begin(struct scene *scene) {
    struct sketch *sketch = &scene->sketch;
    sketch_begin(sketch);
    scene->bucket = sketch_bucket(sketch, "b", 0, false);
    scene->writer = sketch_actor(sketch, "w", false);
    scene->observer = sketch_actor(sketch, "o", false);
    scene->task = sketch_task(sketch, scene->writer, true);
    int32_t waits = sketch_task(sketch, scene->observer, false);
    struct lapse_plan_step *still = sketch_step(sketch, LAPSE_STEP_AWAIT, scene->observer);
    still->u.await.kind = LAPSE_AWAIT_UNCHANGED;
    still->u.await.bucket = scene->bucket;
    still->u.await.key = sketch_text(sketch, "k");
    still->u.await.still = sketch_number(LAPSE_OPERAND_SPAN, S(10));
    sketch_line(sketch, waits, still);
    struct lapse_plan_step *takes = sketch_acquire(sketch, scene->observer, "l", S(1), 0);
    sketch_line(sketch, waits, takes);
    scene->takes = sketch_number_of(sketch, takes);
}

static void write_at(struct scene *scene, int verb, int64_t ttl_ns, int64_t at_ns) {
    struct lapse_plan_step *step =
        sketch_call(&scene->sketch, scene->writer, verb, scene->bucket, "k");
    if (ttl_ns > 0) {
        step->u.call.ttl = sketch_number(LAPSE_OPERAND_SPAN, ttl_ns);
    }
    sketch_line_at(&scene->sketch, scene->task, step, at_ns);
}

static int64_t taken_at(const struct scene *scene) {
    struct stage stage = stage_run(&scene->sketch);
    const struct lapse_history_event *invoke =
        stage_find(&stage, LAPSE_HISTORY_INVOKE, scene->takes, 0);
    int64_t at = invoke == NULL ? -1 : invoke->at.ns;
    stage_close(&stage);
    return at;
}

Test(still, each_change_begins_the_span_anew) {
    static struct scene scene;
    scene_begin(&scene);
    cr_assert_eq(taken_at(&scene), S(10), "nothing is there, and that stands still");
    static const struct {
        int verb;
        int64_t ttl_s, at_s, taken_s;
    } cases[] = {{LAPSE_VERB_SET, 0, 4, 14},    /* a write */
                 {LAPSE_VERB_SET, 5, 4, 19},    /* its end too, though no event tells of it */
                 {LAPSE_VERB_EXPIRE, 99, 4, 13}, /* another term is no change */
                 {LAPSE_VERB_EXPIRE, 2, 4, 16}, /* but the earlier end is */
                 {LAPSE_VERB_DELETE, 0, 4, 14}, {LAPSE_VERB_GET, 0, 4, 13}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        scene_begin(&scene);
        write_at(&scene, LAPSE_VERB_SET, S(60), S(3));
        write_at(&scene, cases[i].verb, S(cases[i].ttl_s), S(cases[i].at_s));
        cr_assert_eq(taken_at(&scene), S(cases[i].taken_s), "case %zu", i);
    }
}

Test(still, a_client_that_sleeps_sees_the_change_when_it_wakes) {
    static const struct {
        int64_t from_s, for_s, taken_s;
    } cases[] = {{1, 1, 15}, {1, 7, 18}, {1, 40, 51}, {6, 40, 46}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static struct scene scene;
        scene_begin(&scene);
        write_at(&scene, LAPSE_VERB_SET, 0, S(5));
        (void)sketch_pause(&scene.sketch, scene.observer, S(cases[i].from_s), S(cases[i].for_s));
        cr_assert_eq(taken_at(&scene), S(cases[i].taken_s), "case %zu", i);
    }
}
