/* What is done to the store node, and what its clients see of it. */
#include "plan_builder_test.h"

#include <criterion/criterion.h>

/* A plan of one client `w` with a task of `steps` and a bucket `b`. */
struct scene {
    struct sketch sketch;
    int32_t actor, task, bucket;
};

static void scene_begin(struct scene *scene) {
    sketch_begin(&scene->sketch);
    scene->actor = sketch_actor(&scene->sketch, "w", false);
    scene->bucket = sketch_bucket(&scene->sketch, "b", 0, false);
    scene->task = sketch_task(&scene->sketch, scene->actor, true);
}

static struct lapse_plan_step *call_at(struct scene *scene, int verb, const char *key,
                                       int64_t at_ns) {
    bool lease = verb == LAPSE_VERB_INSPECT;
    struct lapse_plan_step *step =
        sketch_call(&scene->sketch, scene->actor, verb, lease ? -1 : scene->bucket, key);
    sketch_line_at(&scene->sketch, scene->task, step, at_ns);
    step->nowait = true; /* so that one that waits holds up nothing */
    return step;
}

static const struct lapse_answer *answer_to(const struct scene *scene, const struct stage *stage,
                                            const struct lapse_plan_step *step) {
    const struct lapse_history_event *reply =
        stage_find(stage, LAPSE_HISTORY_REPLY, sketch_number_of(&scene->sketch, step), 0);
    return reply == NULL ? NULL : &reply->u.reply.answer;
}

Test(node_fault, a_process_that_crashes_keeps_its_rows_and_its_time) {
    static struct scene scene;
    scene_begin(&scene);
    struct sketch *sketch = &scene.sketch;
    sketch->buckets[scene.bucket].config.markers.ns = S(3600);
    sketch_line_at(sketch, scene.task, sketch_acquire(sketch, scene.actor, "l", S(30), 0), 0);
    struct lapse_plan_step *set = call_at(&scene, LAPSE_VERB_SET, "k", S(1));
    set->u.call.ttl = sketch_number(LAPSE_OPERAND_SPAN, S(11));
    sketch_node_fault(sketch, LAPSE_FAULT_CRASH, S(10), S(5));
    struct lapse_plan_step *down = call_at(&scene, LAPSE_VERB_INSPECT, "l", S(12));
    struct lapse_plan_step *held = call_at(&scene, LAPSE_VERB_INSPECT, "l", S(16));
    struct lapse_plan_step *ended = call_at(&scene, LAPSE_VERB_INSPECT, "l", S(30));
    struct stage stage = stage_run(sketch);

    cr_assert_eq(answer_to(&scene, &stage, down)->status, LAPSE_UNAVAILABLE);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_APPLY, sketch_number_of(sketch, down)), 0);
    const struct lapse_answer *answer = answer_to(&scene, &stage, held);
    cr_assert_eq(answer->status, LAPSE_OK);
    cr_assert_eq(answer->token, 1);
    cr_assert_eq(answer->end.ns, S(30));
    cr_assert_eq(answer->left.ns, S(14));
    cr_assert_eq(answer_to(&scene, &stage, ended)->status, LAPSE_ABSENT);

    const struct lapse_history_event *tenure = stage_find(&stage, LAPSE_HISTORY_TENURE, -1, 0);
    cr_assert_eq(tenure->at.ns, S(15));
    cr_assert_eq(tenure->u.tenure.store.ns, S(15));
    cr_assert_eq(tenure->u.tenure.reading.boot, 1);
    cr_assert_not(tenure->u.tenure.machine);
    const struct lapse_history_event *fell = stage_find(&stage, LAPSE_HISTORY_FAULT_BEGIN, -1, 0);
    const struct lapse_history_event *rose = stage_find(&stage, LAPSE_HISTORY_FAULT_END, -1, 0);
    cr_assert_eq(fell->u.fault.kind, LAPSE_FAULT_CRASH);
    cr_assert_eq(fell->u.fault.node, 0);
    cr_assert(fell->u.fault.has_until);
    cr_assert_eq(rose->at.ns, S(15));
    const struct lapse_history_event *expired = stage_find(&stage, LAPSE_HISTORY_EMIT, -1, 1);
    cr_assert_eq(expired->u.emit.event.kind, LAPSE_EVENT_EXPIRED);
    cr_assert_eq(expired->at.ns, S(15), "housekeeping runs at once after the reopening");
    stage_close(&stage);
}

Test(node_fault, a_machine_that_restarts_is_on_another_boot_and_ends_stay) {
    static struct scene scene;
    scene_begin(&scene);
    struct sketch *sketch = &scene.sketch;
    sketch_line_at(sketch, scene.task, sketch_acquire(sketch, scene.actor, "l", S(30), 0), 0);
    struct lapse_plan_step *restart = sketch_node_fault(sketch, LAPSE_FAULT_RESTART, S(10), 0);
    restart->u.fault.machine = true;
    struct lapse_plan_step *held = call_at(&scene, LAPSE_VERB_INSPECT, "l", S(20));
    struct lapse_plan_step *ended = call_at(&scene, LAPSE_VERB_INSPECT, "l", S(30));
    struct stage stage = stage_run(sketch);

    const struct lapse_history_event *tenure = stage_find(&stage, LAPSE_HISTORY_TENURE, -1, 0);
    cr_assert_eq(tenure->at.ns, S(10));
    cr_assert(tenure->u.tenure.machine);
    cr_assert_eq(tenure->u.tenure.reading.boot, 2);
    cr_assert_eq(tenure->u.tenure.reading.raw_ns, 0);
    cr_assert_geq(tenure->u.tenure.store.ns, S(10));
    cr_assert_leq(tenure->u.tenure.store.ns, S(11));
    cr_assert(stage_find(&stage, LAPSE_HISTORY_FAULT_BEGIN, -1, 0)->u.fault.machine);
    cr_assert_eq(answer_to(&scene, &stage, held)->end.ns, S(30));
    const struct lapse_history_event *applied =
        stage_find(&stage, LAPSE_HISTORY_APPLY, sketch_number_of(sketch, held), 0);
    cr_assert_eq(applied->u.apply.reading.raw_ns, S(10));
    cr_assert_eq(answer_to(&scene, &stage, ended)->status, LAPSE_ABSENT);
    stage_close(&stage);
}

Test(node_fault, what_no_sync_has_reached_goes_with_the_machine_alone) {
    static const struct {
        enum lapse_sync sync;
        bool machine, kept;
    } cases[] = {{LAPSE_SYNC_FULL, true, true},    {LAPSE_SYNC_FULL, false, true},
                 {LAPSE_SYNC_NORMAL, true, false}, {LAPSE_SYNC_NORMAL, false, true},
                 {LAPSE_SYNC_NONE, true, false},   {LAPSE_SYNC_NONE, false, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static struct scene scene;
        scene_begin(&scene);
        /* The first of two may be synced, for the numbers and the time that it shows. */
        (void)call_at(&scene, LAPSE_VERB_SET, "j", S(10) - 2);
        (void)call_at(&scene, LAPSE_VERB_SET, "k", S(10) - 1);
        struct lapse_plan_step *crash =
            sketch_node_fault(&scene.sketch, LAPSE_FAULT_CRASH, S(10), S(1));
        crash->u.fault.machine = cases[i].machine;
        scene.sketch.plan.setup.sync = cases[i].sync;
        struct lapse_plan_step *get = call_at(&scene, LAPSE_VERB_GET, "k", S(12));
        struct stage stage = stage_run(&scene.sketch);
        cr_assert_eq(answer_to(&scene, &stage, get)->status,
                     cases[i].kept ? LAPSE_OK : LAPSE_ABSENT, "case %zu", i);
        cr_assert_eq(stage_find(&stage, LAPSE_HISTORY_TENURE, -1, 0)->u.tenure.machine,
                     cases[i].machine);
        stage_close(&stage);
    }
}

Test(node_fault, calls_that_wait_at_a_crash_are_lost_and_no_answer_comes) {
    static struct scene scene;
    scene_begin(&scene);
    sketch_pause(&scene.sketch, -1, S(1), S(100));
    struct lapse_plan_step *patient = call_at(&scene, LAPSE_VERB_SET, "a", S(2));
    struct lapse_plan_step *timed = call_at(&scene, LAPSE_VERB_SET, "b", S(2));
    timed->has_timeout = true;
    timed->timeout_ns = S(8);
    struct lapse_plan_step *hasty = call_at(&scene, LAPSE_VERB_SET, "c", S(2));
    hasty->has_timeout = true;
    hasty->timeout_ns = S(2);
    sketch_node_fault(&scene.sketch, LAPSE_FAULT_CRASH, S(5), S(1));
    struct lapse_plan_step *count = call_at(&scene, LAPSE_VERB_COUNT, "", S(20));
    struct stage stage = stage_run(&scene.sketch);

    cr_assert_null(answer_to(&scene, &stage, patient));
    cr_assert_eq(
        stage_count(&stage, LAPSE_HISTORY_WAITING, sketch_number_of(&scene.sketch, patient)), 1);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_WAITING, -1), 1);
    cr_assert_eq(answer_to(&scene, &stage, timed)->status, LAPSE_UNKNOWN);
    cr_assert_eq(answer_to(&scene, &stage, timed)->took.ns, S(8));
    cr_assert_eq(answer_to(&scene, &stage, hasty)->status, LAPSE_UNKNOWN);
    cr_assert_eq(answer_to(&scene, &stage, count)->status, LAPSE_OK,
                 "the pause ended by the crash");
    cr_assert_eq(answer_to(&scene, &stage, count)->item_count, 0);
    stage_close(&stage);
}

Test(node_fault, a_restart_by_hand_leaves_nothing_of_the_crash_that_it_ends) {
    static struct scene scene;
    scene_begin(&scene);
    sketch_node_fault(&scene.sketch, LAPSE_FAULT_CRASH, S(1), S(10));
    sketch_node_fault(&scene.sketch, LAPSE_FAULT_RESTART, S(5), 0);
    sketch_node_fault(&scene.sketch, LAPSE_FAULT_CRASH, S(6), 0);
    sketch_node_fault(&scene.sketch, LAPSE_FAULT_CRASH, S(7), S(1)); /* it is down already */
    struct lapse_plan_step *up = call_at(&scene, LAPSE_VERB_COUNT, "", S(5));
    struct lapse_plan_step *down = call_at(&scene, LAPSE_VERB_COUNT, "", S(15));
    struct lapse_plan_step *gone =
        sketch_probe(&scene.sketch, LAPSE_PROBE_GONE, scene.bucket, "k", S(16));
    struct lapse_plan_step *holder =
        sketch_probe(&scene.sketch, LAPSE_PROBE_HOLDER, -1, "l", S(16));
    struct stage stage = stage_run(&scene.sketch);
    cr_assert_eq(answer_to(&scene, &stage, up)->status, LAPSE_OK);
    cr_assert_eq(answer_to(&scene, &stage, down)->status, LAPSE_UNAVAILABLE);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_TENURE, -1), 1);
    const struct lapse_plan_step *looks[] = {gone, holder};
    for (size_t i = 0; i < 2; i++) {
        const struct lapse_history_event *seen =
            stage_find(&stage, LAPSE_HISTORY_PROBE, sketch_number_of(&scene.sketch, looks[i]), 0);
        cr_assert_eq(seen->u.probe.answer_count, 1);
        cr_assert_eq(seen->u.probe.answers[0].answer.status, LAPSE_UNAVAILABLE);
    }
    stage_close(&stage);
}

Test(node_fault, calls_wait_while_the_machine_sleeps_and_its_time_runs_on) {
    static struct scene scene;
    scene_begin(&scene);
    struct sketch *sketch = &scene.sketch;
    sketch_line_at(sketch, scene.task, sketch_acquire(sketch, scene.actor, "l", S(15), 0), 0);
    sketch_node_fault(sketch, LAPSE_FAULT_SUSPEND, S(10), S(10));
    sketch_pause(sketch, -1, S(18), S(4)); /* the process is paused when the machine wakes */
    struct lapse_plan_step *waits = call_at(&scene, LAPSE_VERB_INSPECT, "l", S(12));
    struct stage stage = stage_run(sketch);
    const struct lapse_history_event *applied =
        stage_find(&stage, LAPSE_HISTORY_APPLY, sketch_number_of(sketch, waits), 0);
    cr_assert_eq(applied->at.ns, S(22));
    cr_assert_eq(applied->u.apply.reading.raw_ns, S(22));
    cr_assert_eq(applied->u.apply.answer.at.ns, S(22));
    cr_assert_eq(applied->u.apply.answer.status, LAPSE_ABSENT);
    const struct lapse_history_event *slept = stage_find(&stage, LAPSE_HISTORY_FAULT_BEGIN, -1, 0);
    const struct lapse_history_event *woke = stage_find(&stage, LAPSE_HISTORY_FAULT_END, -1, 0);
    cr_assert_eq(slept->u.fault.kind, LAPSE_FAULT_SUSPEND);
    cr_assert_eq(woke->u.fault.kind, LAPSE_FAULT_SUSPEND);
    cr_assert_eq(woke->at.ns, S(20));
    stage_close(&stage);
}

Test(node_fault, a_step_of_the_wall_clock_is_told_and_moves_dates_alone) {
    static const struct {
        bool has_to;
        int64_t by_ns; /* from what the wall clock reads */
        bool gone;
    } cases[] = {{false, S(3600), true},
                 {true, S(50), true},
                 {true, S(50) - 1, false},
                 {false, -S(3600), false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static struct scene scene;
        scene_begin(&scene);
        struct sketch *sketch = &scene.sketch;
        int64_t epoch = sketch->plan.setup.epoch.ns;
        struct lapse_plan_step *dated = call_at(&scene, LAPSE_VERB_SET, "d", 0);
        dated->u.call.expires_at = sketch_number(LAPSE_OPERAND_DATE, epoch + S(60));
        struct lapse_plan_step *spanned = call_at(&scene, LAPSE_VERB_SET, "s", 0);
        spanned->u.call.ttl = sketch_number(LAPSE_OPERAND_SPAN, S(60));
        struct lapse_plan_step *step = sketch_node_fault(sketch, LAPSE_FAULT_CLOCK, S(10), 0);
        step->u.fault.clock.whose = (struct lapse_party){LAPSE_PARTY_NODE, 0};
        step->u.fault.clock.has_to = cases[i].has_to;
        step->u.fault.clock.to = sketch_number(LAPSE_OPERAND_DATE, epoch + S(10) + cases[i].by_ns);
        step->u.fault.clock.has_wall = !cases[i].has_to;
        step->u.fault.clock.wall_ns = cases[i].by_ns;
        struct lapse_plan_step *date = call_at(&scene, LAPSE_VERB_HAS, "d", S(10));
        struct lapse_plan_step *span = call_at(&scene, LAPSE_VERB_ENTRY, "s", S(10));
        struct stage stage = stage_run(sketch);
        const struct lapse_history_event *moved = stage_find(&stage, LAPSE_HISTORY_CLOCK, -1, 0);
        cr_assert_eq(moved->u.clock.whose.kind, LAPSE_PARTY_NODE);
        cr_assert_eq(moved->u.clock.before.wall.ns, epoch + S(10));
        cr_assert_eq(moved->u.clock.after.wall.ns, epoch + S(10) + cases[i].by_ns);
        cr_assert_eq(moved->u.clock.before.raw_ns, moved->u.clock.after.raw_ns);
        cr_assert_eq(answer_to(&scene, &stage, date)->status,
                     cases[i].gone ? LAPSE_ABSENT : LAPSE_OK, "case %zu", i);
        cr_assert_eq(answer_to(&scene, &stage, span)->left.ns, S(50));
        const struct lapse_history_event *invoked =
            stage_find(&stage, LAPSE_HISTORY_INVOKE, sketch_number_of(sketch, date), 0);
        cr_assert_eq(invoked->actor_wall.ns, epoch + S(10), "the client's clock is its own");
        if (cases[i].gone) {
            const struct lapse_history_event *kept = NULL;
            for (size_t k = 0; kept == NULL || kept->at.ns < S(10); k++) {
                kept = stage_find(&stage, LAPSE_HISTORY_STEP, -1, k);
                cr_assert_not_null(kept);
            }
            cr_assert_eq(kept->at.ns, S(10), "housekeeping is due as soon as the date is reached");
        }
        stage_close(&stage);
    }
}

Test(node_fault, watchers_are_told_of_a_gap_and_watch_on) {
    static struct scene scene;
    scene_begin(&scene);
    struct sketch *sketch = &scene.sketch;
    sketch->plan.watch_count = 1;
    sketch->watch_names[0] = "seen";
    struct lapse_plan_step *watch = call_at(&scene, LAPSE_VERB_WATCH, "", 0);
    watch->u.call.key = (struct lapse_text){0};
    watch->u.call.watch = 0;
    (void)call_at(&scene, LAPSE_VERB_SET, "a", S(1));
    sketch_node_fault(sketch, LAPSE_FAULT_CRASH, S(5), S(5));
    (void)call_at(&scene, LAPSE_VERB_SET, "b", S(11));
    struct lapse_plan_step *second = call_at(&scene, LAPSE_VERB_WATCH, "", S(12));
    second->u.call.key = (struct lapse_text){0};
    struct lapse_plan_step *unwatch = call_at(&scene, LAPSE_VERB_UNWATCH, "", S(13));
    unwatch->u.call.watch = 0;
    (void)call_at(&scene, LAPSE_VERB_SET, "c", S(14));
    struct stage stage = stage_run(sketch);

    static const struct {
        enum lapse_event_kind kind;
        int64_t at_ns, revision;
    } wanted[] = {{LAPSE_EVENT_PUT, S(1), 1},
                  {LAPSE_EVENT_GAP, S(10), 1},
                  {LAPSE_EVENT_PUT, S(11), 2},
                  {LAPSE_EVENT_PUT, S(14), 3}};
    int64_t first = answer_to(&scene, &stage, watch)->watcher;
    int64_t other = answer_to(&scene, &stage, second)->watcher;
    cr_assert_neq(first, other);
    cr_assert_eq(answer_to(&scene, &stage, unwatch)->status, LAPSE_OK);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_DELIVER, -1), 4);
    for (size_t i = 0; i < 4; i++) {
        const struct lapse_history_event *handed = stage_find(&stage, LAPSE_HISTORY_DELIVER, -1, i);
        cr_assert_eq(handed->u.deliver.event.kind, wanted[i].kind, "event %zu", i);
        cr_assert_eq(handed->at.ns, wanted[i].at_ns);
        cr_assert_eq(handed->u.deliver.event.revision, wanted[i].revision);
        cr_assert_eq(handed->u.deliver.watcher, i < 3 ? first : other);
    }
    stage_close(&stage);
}

Test(node_fault, a_lock_key_that_the_crash_took_is_free_again) {
    static const enum lapse_sync syncs[] = {LAPSE_SYNC_FULL, LAPSE_SYNC_NONE};
    for (size_t i = 0; i < 2; i++) {
        static struct scene scene;
        scene_begin(&scene);
        struct sketch *sketch = &scene.sketch;
        sketch->buckets[scene.bucket].locks = true;
        (void)call_at(&scene, LAPSE_VERB_CREATE, "job", S(10) - 1);
        int32_t b = sketch_actor(sketch, "b", false);
        int32_t task = sketch_task(sketch, b, true);
        struct lapse_plan_step *crash = sketch_node_fault(sketch, LAPSE_FAULT_CRASH, S(10), S(1));
        crash->u.fault.machine = true;
        sketch->plan.setup.sync = syncs[i];
        struct lapse_plan_step *set = sketch_call(sketch, b, LAPSE_VERB_SET, scene.bucket, "job");
        sketch_line_at(sketch, task, set, S(12));
        struct stage stage = stage_run(sketch);
        /* A put on a live entry is no grant; on one that is not there it is. */
        cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_BELIEF_BEGIN, sketch_number_of(sketch, set)),
                     i == 0 ? 0 : 1);
        stage_close(&stage);
    }
}

Test(node_fault, a_world_that_falls_is_copied_out_and_back_with_its_disk) {
    static struct scene scene;
    for (int64_t at = 0; at < 4; at++) {
        scene_begin(&scene);
        struct sketch *sketch = &scene.sketch;
        for (int64_t i = 0; i < 8; i++) {
            struct lapse_plan_step *set = call_at(&scene, LAPSE_VERB_SET, "k", S(i));
            set->when.jitter_ns = S(1) / 2;
            set->u.call.ttl = sketch_number(LAPSE_OPERAND_SPAN, S(2));
        }
        struct lapse_plan_step *crash = sketch_node_fault(sketch, LAPSE_FAULT_CRASH, S(at), S(2));
        crash->u.fault.machine = at % 2 == 1;
        sketch->plan.setup.sync = at < 2 ? LAPSE_SYNC_FULL : LAPSE_SYNC_NORMAL;
        uint64_t digests[3] = {0};
        struct lapse_error err = {0};
        cr_assert_eq(lapse_run_twice(&sketch->plan, 7, digests, &err), LAPSE_OK, "%s", err.message);
        cr_assert_eq(digests[0], digests[1]);
        cr_assert_eq(digests[0], digests[2]);
    }
}

Test(node_fault, a_node_may_not_fall_where_no_store_says_what_it_keeps) {
    static struct scene scene;
    scene_begin(&scene);
    sketch_node_fault(&scene.sketch, LAPSE_FAULT_CRASH, S(1), S(1));
    scene.sketch.plan.store = LAPSE_STORE_NONE;
    struct lapse_error err = {0};
    uint64_t digests[3];
    cr_assert_eq(lapse_run_twice(&scene.sketch.plan, 1, digests, &err), LAPSE_INVALID);
}
