/* Whole runs: snapshots, replay by record, three equal digests, bounds. */
#include "plan_builder_test.h"

#include <criterion/criterion.h>

/* Two clients with jittered loops around one lease, a pause, a watcher and a resource. */
static void busy(struct sketch *sketch) {
    sketch_begin(sketch);
    int32_t a = sketch_actor(sketch, "a", true), b = sketch_actor(sketch, "b", false);
    int32_t report = sketch_resource(sketch, "r", true);
    int32_t bucket = sketch_bucket(sketch, "b", S(7), false);
    sketch->buckets[bucket].config.markers.ns = S(60);
    sketch->plan.watch_count = 1;
    sketch->watch_names[0] = "w";
    for (int32_t actor = a; actor <= b; actor++) {
        int32_t task = sketch_task(sketch, actor, false);
        struct lapse_plan_step *watch = sketch_call(sketch, actor, LAPSE_VERB_WATCH, bucket, "");
        watch->u.call.key = (struct lapse_text){0};
        sketch_line(sketch, task, watch);
        struct lapse_plan_step *loop = sketch_loop(sketch, actor, S(5), true);
        struct lapse_plan_step *acquire = sketch_acquire(sketch, actor, "l", S(9), actor);
        acquire->when.jitter_ns = S(3);
        sketch_on(sketch, acquire, ~LAPSE_HANDLED_BIT(LAPSE_OK), LAPSE_ACTION_SKIP, 0);
        sketch_body(sketch, loop, acquire);
        struct lapse_plan_step *write = sketch_write(sketch, actor, report, actor);
        sketch_on(sketch, write, ~UINT32_C(0), LAPSE_ACTION_NEXT, 0);
        sketch_body(sketch, loop, write);
        sketch_body(sketch, loop, sketch_call(sketch, actor, LAPSE_VERB_SET, bucket, "k"));
        sketch_line(sketch, task, loop);
    }
    sketch_pause(sketch, a, S(22), S(30));
    sketch_run_for(sketch, S(300));
}

Test(run, a_snapshot_restored_goes_on_to_the_same_history) {
    static struct sketch sketch;
    busy(&sketch);
    struct lapse_error err = {0};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        uint64_t digests[3] = {0};
        cr_assert_eq(lapse_run_twice(&sketch.plan, seed, digests, &err), LAPSE_OK);
        cr_assert_eq(digests[0], digests[1]);
        cr_assert_eq(digests[0], digests[2]);
        uint64_t other[3] = {0};
        cr_assert_eq(lapse_run_twice(&sketch.plan, seed + 100, other, &err), LAPSE_OK);
        cr_assert_neq(digests[0], other[0], "the seed changes nothing");
    }
}

/* The planted nondeterminism is chance of another seed: all is the same until it is drawn. */
Test(run, another_history_is_found_at_its_first_event_that_differs) {
    static struct sketch sketch;
    busy(&sketch);
    struct lapse_error err = {0};
    struct lapse_run first = {0};
    struct lapse_again again = {0};
    cr_assert_eq(lapse_run_plan(&sketch.plan, 1, NULL, &first, &err), LAPSE_OK);
    cr_assert_eq(lapse_run_again(&sketch.plan, 1, &first, &again, &err), LAPSE_OK);
    cr_assert(!again.differs && again.restored, "a run is not what it was");
    cr_assert_eq(lapse_history_count(again.history), lapse_history_count(first.history));
    lapse_again_free(&again);

    cr_assert_eq(lapse_run_again(&sketch.plan, 2, &first, &again, &err), LAPSE_OK);
    cr_assert(again.differs && !again.restored);
    cr_assert(again.at > 0 && again.at < lapse_history_count(first.history));
    for (size_t i = 0; i <= again.at; i++) {
        uint64_t one = lapse_history_event_digest(lapse_history_at(first.history, i));
        uint64_t other = lapse_history_event_digest(lapse_history_at(again.history, i));
        cr_assert_eq(one == other, i < again.at, "event %zu", i);
    }
    lapse_again_free(&again);
    lapse_run_free(&first);
}

/* 40 events and an END that says that it was cut: so a judge leaves a run that it stops. */
Test(run, what_a_judge_has_cut_off_is_not_compared) {
    static struct sketch sketch;
    busy(&sketch);
    struct lapse_error err = {0};
    struct lapse_run whole = {0}, cut = {0};
    struct lapse_again again = {0};
    struct lapse_history_event end = {.kind = LAPSE_HISTORY_END, .actor = -1, .step = -1};
    end.u.end.cut = true;
    cr_assert_eq(lapse_run_plan(&sketch.plan, 1, NULL, &whole, &err), LAPSE_OK);
    for (int changed = 0; changed <= 1; changed++) {
        cr_assert_eq(lapse_history_open(lapse_alloc_libc(), 0, &cut.history, &err), LAPSE_OK);
        for (size_t i = 0; i < 40; i++) {
            struct lapse_history_event event = *lapse_history_at(whole.history, i);
            event.n += changed == 1 && i == 39 ? 1 : 0;
            (void)lapse_history_append(cut.history, &event);
        }
        (void)lapse_history_append(cut.history, &end);
        cut.events = 40;
        cr_assert_eq(lapse_run_again(&sketch.plan, 1, &cut, &again, &err), LAPSE_OK);
        cr_assert_eq(again.differs, changed == 1);
        cr_assert_eq(again.at, changed == 1 ? 39 : SIZE_MAX);
        lapse_again_free(&again);
        lapse_history_close(cut.history);
    }
    lapse_run_free(&whole);
}

Test(run, the_record_of_a_seeded_run_replays_it) {
    static struct sketch sketch;
    busy(&sketch);
    struct lapse_error err = {0};
    struct stage seeded = stage_open(&sketch, 42);
    cr_assert_eq(lapse_world_run(seeded.world, &err), LAPSE_OK);
    size_t count = 0;
    const struct lapse_choice *list = lapse_choices_list(seeded.choices, &count);
    cr_assert_gt(count, 20);
    struct stage replay = {0};
    cr_assert_eq(lapse_history_open(lapse_alloc_libc(), 0, &replay.history, &err), LAPSE_OK);
    cr_assert_eq(lapse_choices_open_list(lapse_alloc_libc(), list, count, &replay.choices),
                 LAPSE_OK);
    struct lapse_world_options options = {
        .plan = &sketch.plan, .choices = replay.choices, .history = replay.history};
    cr_assert_eq(lapse_world_open(&options, &replay.world, &err), LAPSE_OK);
    cr_assert_eq(lapse_world_run(replay.world, &err), LAPSE_OK);
    cr_assert_eq(lapse_history_digest(replay.history), lapse_history_digest(seeded.history));
    stage_close(&replay);
    stage_close(&seeded);
}

Test(run, a_run_past_its_bound_is_cut) {
    static struct sketch sketch;
    busy(&sketch);
    struct lapse_error err = {0};
    struct stage stage = {0};
    cr_assert_eq(lapse_history_open(lapse_alloc_libc(), 0, &stage.history, &err), LAPSE_OK);
    cr_assert_eq(lapse_choices_open_seed(lapse_alloc_libc(), 1, &stage.choices), LAPSE_OK);
    struct lapse_world_options options = {
        .plan = &sketch.plan, .choices = stage.choices, .history = stage.history, .events_max = 50};
    cr_assert_eq(lapse_world_open(&options, &stage.world, &err), LAPSE_OK);
    cr_assert_eq(lapse_world_run(stage.world, &err), LAPSE_OK);
    cr_assert_eq(lapse_world_events(stage.world), 50);
    cr_assert(stage_find(&stage, LAPSE_HISTORY_END, -1, 0)->u.end.cut);
    stage_close(&stage);
}

Test(run, a_judged_run_cannot_go_back_and_a_broken_plan_does_not_open) {
    static struct sketch sketch;
    busy(&sketch);
    struct lapse_error err = {0};
    struct lapse_run run;
    cr_assert_eq(lapse_run_plan(&sketch.plan, 1, NULL, &run, &err), LAPSE_OK, "%s", err.message);
    cr_assert_gt(run.events, 100);
    const struct lapse_verdict *verdict = lapse_judge_verdict(run.judge);
    cr_assert_eq(verdict->outcome, LAPSE_OUTCOME_PASSED, "%s: %s", verdict->id,
                 verdict->diags.count > 0 ? verdict->diags.items[0]->message : "");
    lapse_run_free(&run);
    sketch.steps[0].u.call.bucket = 17;
    cr_assert_eq(lapse_run_plan(&sketch.plan, 1, NULL, &run, &err), LAPSE_INVALID);
}

Test(run, a_snapshot_may_be_taken_after_any_event) {
    static struct sketch sketch;
    busy(&sketch);
    struct lapse_error err = {0};
    struct stage straight = stage_run(&sketch);
    uint64_t events = lapse_world_events(straight.world);
    uint64_t digest = lapse_history_digest(straight.history);
    struct stage stage = stage_open(&sketch, 1);
    for (uint64_t at = 0; at < events; at += 23) {
        bool over = false;
        while (lapse_world_events(stage.world) < at) {
            cr_assert_eq(lapse_world_step(stage.world, &over, &err), LAPSE_OK);
        }
        struct lapse_snapshot *snapshot = NULL;
        cr_assert_eq(lapse_world_snapshot(stage.world, lapse_alloc_libc(), &snapshot), LAPSE_OK);
        cr_assert_eq(lapse_world_run(stage.world, &err), LAPSE_OK);
        cr_assert_eq(lapse_history_digest(stage.history), digest, "a snapshot disturbs");
        cr_assert_eq(lapse_world_restore(stage.world, snapshot), LAPSE_OK);
        cr_assert_eq(lapse_world_events(stage.world), at);
        lapse_snapshot_free(snapshot);
    }
    stage_close(&stage);
    stage_close(&straight);
}
