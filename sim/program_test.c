/* Client programs under faults: each incarnation begins anew, timers and work go as for lines, and
 * a world with one can be copied out and back. */
#include "plan_builder_test.h"

#include "sim/program.h"

#include <criterion/criterion.h>
#include <string.h>

/* An actor `a` that runs `session` with a session of 10 s, renewed each 3 s, and the lease "l". */
struct scene {
    struct sketch sketch;
    struct lapse_plan_program program;
    struct lapse_plan_with with[8];
    size_t with_count;
    int32_t actor, step;
};

static void give(struct scene *scene, const char *name, const char *text, int64_t number) {
    struct lapse_plan_with *with = &scene->with[scene->with_count++];
    *with = (struct lapse_plan_with){.name = lapse_bytes_of(name)};
    if (text != NULL) {
        with->text = sketch_text(&scene->sketch, text);
    } else {
        with->number = sketch_number(LAPSE_OPERAND_SPAN, number);
    }
    scene->program.with_count = scene->with_count;
}

static void scene_begin(struct scene *scene, bool careful) {
    struct sketch *sketch = &scene->sketch;
    sketch_begin(sketch);
    scene->with_count = 0;
    scene->actor = sketch_actor(sketch, "a", careful);
    (void)sketch_resource(sketch, "r", false);
    scene->program = (struct lapse_plan_program){
        .actor = scene->actor, .name = lapse_bytes_of("session"), .with = scene->with};
    give(scene, "name", "s", 0);
    give(scene, "lease", "l", 0);
    give(scene, "resource", "r", 0);
    give(scene, "ttl", NULL, S(10));
    give(scene, "every", NULL, S(3));
    give(scene, "work", NULL, S(5));
    sketch->plan.programs = &scene->program;
    sketch->plan.program_count = 1;
    int32_t task = sketch_task(sketch, scene->actor, false);
    struct lapse_plan_step *step = sketch_step(sketch, LAPSE_STEP_PROGRAM, scene->actor);
    sketch_line(sketch, task, step);
    scene->step = sketch_number_of(sketch, step);
    sketch_run_for(sketch, S(60));
}

static size_t count_calls(const struct stage *stage, int verb, int32_t incarnation) {
    size_t count = 0;
    for (size_t i = 0; i < lapse_history_count(stage->history); i++) {
        const struct lapse_history_event *event = lapse_history_at(stage->history, i);
        count += event->kind == LAPSE_HISTORY_INVOKE &&
                         event->u.invoke.request.verb == verb &&
                         event->incarnation == incarnation
                     ? 1
                     : 0;
    }
    return count;
}

Test(program, all_that_it_does_is_told_under_its_line) {
    static struct scene scene;
    scene_begin(&scene, true);
    struct stage stage = stage_run(&scene.sketch);
    cr_assert_eq(count_calls(&stage, LAPSE_VERB_KEEPALIVE, 1), 20);
    cr_assert_eq(count_calls(&stage, LAPSE_CALL_WRITE, 1), 12);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_INVOKE, scene.step),
                 stage_count(&stage, LAPSE_HISTORY_INVOKE, -1));
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_BELIEF_BEGIN, scene.step), 1);
    stage_close(&stage);
}

Test(program, a_pause_past_the_term_ends_it_and_a_shorter_one_does_not) {
    static const struct {
        int64_t for_s;
        bool careful, stopped;
    } cases[] = {{6, false, false}, {6, true, false}, {11, false, true}, {11, true, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static struct scene scene;
        scene_begin(&scene, cases[i].careful);
        (void)sketch_pause(&scene.sketch, scene.actor, S(12), S(cases[i].for_s));
        struct stage stage = stage_run(&scene.sketch);
        cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_STOPPED, -1), cases[i].stopped ? 1 : 0,
                     "case %zu", i);
        stage_close(&stage);
    }
}

Test(program, a_new_incarnation_begins_anew_and_hears_nothing_of_the_old_one) {
    static struct scene scene;
    scene_begin(&scene, false);
    struct lapse_plan_step *crash = sketch_pause(&scene.sketch, scene.actor, S(20), S(5));
    crash->u.fault.kind = LAPSE_FAULT_CRASH;
    struct stage stage = stage_run(&scene.sketch);
    cr_assert_eq(count_calls(&stage, LAPSE_VERB_KEEPALIVE, 1), 6);
    cr_assert_geq(count_calls(&stage, LAPSE_VERB_SESSION, 2), 2, "the old session is held first");
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_BELIEF_BEGIN, -1), 2);
    stage_close(&stage);
}

Test(program, a_world_with_programs_is_copied_out_and_back) {
    static struct scene scene;
    scene_begin(&scene, true);
    (void)sketch_pause(&scene.sketch, scene.actor, S(30), S(20));
    struct stage stage = stage_open(&scene.sketch, 1);
    struct lapse_snapshot *snapshot = NULL;
    struct lapse_error err = {0};
    bool over = false;
    for (int i = 0; i < 40 && !over; i++) {
        cr_assert_eq(lapse_world_step(stage.world, &over, &err), LAPSE_OK);
    }
    cr_assert_eq(lapse_world_snapshot(stage.world, lapse_alloc_libc(), &snapshot), LAPSE_OK);
    cr_assert_eq(lapse_world_run(stage.world, &err), LAPSE_OK);
    uint64_t first = lapse_history_digest(stage.history);
    cr_assert_eq(lapse_world_restore(stage.world, snapshot), LAPSE_OK);
    cr_assert_eq(lapse_world_run(stage.world, &err), LAPSE_OK);
    cr_assert_eq(lapse_history_digest(stage.history), first);
    lapse_snapshot_free(snapshot);
    stage_close(&stage);
}

Test(program, the_table_names_each_program_once_with_sound_words) {
    size_t count = 0;
    const struct lapse_program_kind *const *table = lapse_program_table(&count);
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(lapse_program_find(table[i]->name, strlen(table[i]->name)), table[i]);
        cr_assert(table[i]->begin != NULL && table[i]->replied != NULL);
        cr_assert_gt(table[i]->state_bytes, 0);
        for (size_t k = 0; k < table[i]->word_count; k++) {
            const struct lapse_program_word *word = &table[i]->words[k];
            cr_assert_eq(lapse_program_word_find(table[i], word->name, strlen(word->name)), word);
            if (word->count != NULL) {
                cr_assert(lapse_program_word_find(table[i], word->count, strlen(word->count)) !=
                          NULL);
            }
        }
    }
}
