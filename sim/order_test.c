/* Every order of one instant, each once, and the odometer that counts through them. */
#include "plan_builder_test.h"

#include <criterion/criterion.h>

enum { RUNS_MAX = 200, DRAWS_MAX = 64, WIDE = 16 };

static size_t run_all(const struct lapse_plan *plan, uint64_t digests[RUNS_MAX]);

/* Three clients with two lines each: 6! / (2! 2! 2!) orders that keep each client's own. */
Test(order, every_order_that_keeps_each_actors_own_comes_once) {
    static struct sketch sketch;
    static uint64_t digests[RUNS_MAX];
    sketch_begin(&sketch);
    int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
    static const char *const names[] = {"a", "b", "c"};
    int32_t actors[3];
    for (int i = 0; i < 3; i++) {
        actors[i] = sketch_actor(&sketch, names[i], false);
    }
    for (int i = 0; i < 3; i++) {
        int32_t task = sketch_task(&sketch, actors[i], true);
        for (int k = 0; k < 2; k++) {
            struct lapse_plan_step *set =
                sketch_call(&sketch, actors[i], LAPSE_VERB_SET, bucket, names[i]);
            sketch_line_at(&sketch, task, set, S(1));
        }
    }
    sketch_run_for(&sketch, S(2));
    size_t runs = run_all(&sketch.plan, digests);
    cr_assert_eq(runs, 90, "%zu runs", runs);
    for (size_t i = 0; i < runs; i++) {
        for (size_t k = 0; k < i; k++) {
            cr_assert_neq(digests[i], digests[k], "runs %zu and %zu are the same", k, i);
        }
    }
    struct stage stage = stage_run(&sketch);
    cr_assert_eq(lapse_history_digest(stage.history), digests[0], "0 is not the usual order");
    stage_close(&stage);
}

Test(order, an_odometer_shows_every_list_once_and_says_what_it_narrowed) {
    struct lapse_choice list[3] = {{LAPSE_CHOICE_ORDER, -1, 2, 0},
                                   {LAPSE_CHOICE_TEAR, 1, 3, 0},
                                   {LAPSE_CHOICE_JITTER, 2, 1000, 0}};
    const uint64_t first[3] = {2, 3, 1000};
    size_t count = 3, runs = 1;
    bool narrowed = false;
    while (lapse_choices_next(list, &count, WIDE, &narrowed)) {
        for (; count < 3; count++) {
            list[count].value = 0; /* a run draws on, and draws 0 */
        }
        cr_assert(list[2].value == 0 || list[2].value == first[2] - 1);
        runs++;
    }
    cr_assert_eq(runs, 2 * 3 * 2);
    cr_assert(narrowed);
    cr_assert_eq(count, 0);
}

static size_t run_all(const struct lapse_plan *plan, uint64_t digests[RUNS_MAX]) {
    struct lapse_choice list[DRAWS_MAX];
    size_t count = 0, runs = 0;
    bool narrowed = false, more = true;
    while (more) {
        struct lapse_run run;
        struct lapse_error err = {0};
        cr_assert_eq(lapse_run_choices(plan, list, count, NULL, &run, &err), LAPSE_OK, "%s",
                     err.message);
        cr_assert_lt(runs, RUNS_MAX);
        digests[runs++] = lapse_history_digest(run.history);
        const struct lapse_choice *drawn = lapse_choices_list(run.choices, &count);
        cr_assert_leq(count, DRAWS_MAX);
        for (size_t i = 0; i < count; i++) {
            list[i] = drawn[i];
        }
        lapse_run_free(&run);
        more = lapse_choices_next(list, &count, WIDE, &narrowed);
    }
    cr_assert_not(narrowed);
    return runs;
}
