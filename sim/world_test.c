/* The world end to end: keys, leases, resources, pauses, crashes and observers, and the order of
 * things inside one instant. */
#include "plan_builder_test.h"
#include "state.h"

#include <criterion/criterion.h>

Test(world, a_key_is_there_to_the_last_nanosecond_and_then_gone) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t w = sketch_actor(&sketch, "client", false);
    int32_t codes = sketch_bucket(&sketch, "codes", S(900), false);
    int32_t task = sketch_task(&sketch, w, true);
    sketch_line_at(&sketch, task, sketch_call(&sketch, w, LAPSE_VERB_SET, codes, "c1"), 0);
    struct lapse_plan_step *get = sketch_call(&sketch, w, LAPSE_VERB_GET, codes, "c1");
    sketch_line_at(&sketch, task, get, S(900) - 1);
    sketch_probe(&sketch, LAPSE_PROBE_PRESENT, codes, "c1", S(900) - 1);
    struct lapse_plan_step *gone = sketch_probe(&sketch, LAPSE_PROBE_GONE, codes, "c1", S(900));
    struct stage stage = stage_run(&sketch);

    const struct lapse_history_event *reply =
        stage_find(&stage, LAPSE_HISTORY_REPLY, sketch_number_of(&sketch, get), 0);
    cr_assert_not_null(reply);
    cr_assert_eq(reply->u.reply.answer.status, LAPSE_OK);
    cr_assert_eq(reply->u.reply.answer.left.ns, 1);
    const struct lapse_history_event *probe =
        stage_find(&stage, LAPSE_HISTORY_PROBE, sketch_number_of(&sketch, gone), 0);
    cr_assert_eq(probe->u.probe.answer_count, 11);
    for (size_t i = 0; i < probe->u.probe.answer_count; i++) {
        const struct lapse_probe_answer *tried = &probe->u.probe.answers[i];
        bool lists = tried->verb == LAPSE_VERB_LIST || tried->verb == LAPSE_VERB_ALL ||
                     tried->verb == LAPSE_VERB_COUNT;
        bool writes = tried->verb == LAPSE_VERB_CREATE;
        enum lapse_status wanted = lists || writes ? LAPSE_OK : LAPSE_ABSENT;
        wanted = tried->verb == LAPSE_VERB_UPDATE ? LAPSE_CONFLICT : wanted;
        cr_assert_eq(tried->answer.status, wanted, "%s", lapse_call_word(tried->verb));
        cr_assert_eq(tried->answer.item_count, 0);
    }
    const struct lapse_history_event *last =
        lapse_history_at(stage.history, lapse_history_count(stage.history) - 1);
    cr_assert_eq(last->kind, LAPSE_HISTORY_END);
    cr_assert_eq(last->at.ns, S(900), "housekeeping must not prolong the run");
    cr_assert_not(last->u.end.cut);
    stage_close(&stage);
}

Test(world, a_paused_holders_write_lands_when_it_wakes_and_is_fenced) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t w1 = sketch_actor(&sketch, "w1", false), w2 = sketch_actor(&sketch, "w2", false);
    int32_t report = sketch_resource(&sketch, "report", true);
    int32_t one = sketch_task(&sketch, w1, true), two = sketch_task(&sketch, w2, true);
    sketch_line_at(&sketch, one, sketch_acquire(&sketch, w1, "jobs/n", S(30), 0), 0);
    sketch_pause(&sketch, w1, S(10), S(40));
    struct lapse_plan_step *late = sketch_write(&sketch, w1, report, 0);
    sketch_line_at(&sketch, one, late, S(12));
    sketch_line_at(&sketch, two, sketch_acquire(&sketch, w2, "jobs/n", S(30), 1), S(30));
    struct lapse_plan_step *believes =
        sketch_probe(&sketch, LAPSE_PROBE_BELIEVES, -1, "jobs/n", S(31));
    struct lapse_plan_step *may = sketch_probe(&sketch, LAPSE_PROBE_MAY, -1, "jobs/n", S(31));
    sketch_line_at(&sketch, two, sketch_write(&sketch, w2, report, 1), S(35));
    struct stage stage = stage_run(&sketch);

    const struct lapse_history_event *invoke =
        stage_find(&stage, LAPSE_HISTORY_INVOKE, sketch_number_of(&sketch, late), 0);
    cr_assert_eq(invoke->at.ns, S(50));
    cr_assert_eq(invoke->u.invoke.due.ns, S(12));
    cr_assert(invoke->u.invoke.grant.given);
    cr_assert_eq(invoke->u.invoke.grant.token, 1);
    const struct lapse_history_event *decided =
        stage_find(&stage, LAPSE_HISTORY_RESOURCE, sketch_number_of(&sketch, late), 0);
    cr_assert_eq(decided->u.resource.status, LAPSE_FENCED);
    cr_assert_eq(decided->u.resource.highest, 2);
    const struct lapse_history_event *who =
        stage_find(&stage, LAPSE_HISTORY_PROBE, sketch_number_of(&sketch, believes), 0);
    cr_assert_eq(who->u.probe.who_count, 2);
    who = stage_find(&stage, LAPSE_HISTORY_PROBE, sketch_number_of(&sketch, may), 0);
    cr_assert_eq(who->u.probe.who_count, 1);
    cr_assert_eq(who->u.probe.who[0], w2);
    stage_close(&stage);
}

Test(world, an_unfenced_resource_takes_the_late_write_and_keeps_the_highest_token) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t w = sketch_actor(&sketch, "w", false), v = sketch_actor(&sketch, "v", false);
    int32_t report = sketch_resource(&sketch, "report", false);
    int32_t one = sketch_task(&sketch, w, true), two = sketch_task(&sketch, v, true);
    sketch_line_at(&sketch, one, sketch_acquire(&sketch, w, "l", S(10), 0), 0);
    sketch_line_at(&sketch, two, sketch_acquire(&sketch, v, "l", S(10), 1), S(10));
    sketch_line_at(&sketch, two, sketch_write(&sketch, v, report, 1), S(11));
    struct lapse_plan_step *late = sketch_write(&sketch, w, report, 0);
    sketch_line_at(&sketch, one, late, S(12));
    struct stage stage = stage_run(&sketch);
    const struct lapse_history_event *decided =
        stage_find(&stage, LAPSE_HISTORY_RESOURCE, sketch_number_of(&sketch, late), 0);
    cr_assert_eq(decided->u.resource.status, LAPSE_OK);
    cr_assert_eq(decided->u.resource.token, 1);
    cr_assert_eq(decided->u.resource.highest, 2);
    stage_close(&stage);
}

Test(world, one_instant_has_faults_then_timers_then_steps_in_file_order_then_finals) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false), b = sketch_actor(&sketch, "b", false);
    int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
    int32_t one = sketch_task(&sketch, a, true), two = sketch_task(&sketch, b, false);
    struct lapse_plan_step *step = sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "first");
    sketch_line_at(&sketch, one, step, S(5));
    struct lapse_plan_step *timer = sketch_call(&sketch, b, LAPSE_VERB_SET, bucket, "timer");
    timer->when = (struct lapse_when){LAPSE_WHEN_AFTER, S(5), 0};
    sketch_line(&sketch, two, timer);
    struct lapse_plan_step *second = sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "second");
    sketch_line_at(&sketch, one, second, S(5));
    struct lapse_plan_step *begins = sketch_pause(&sketch, -1, S(5), S(1));
    sketch_pause(&sketch, -1, S(4), S(1));
    struct lapse_plan_step *final =
        sketch_probe(&sketch, LAPSE_PROBE_PRESENT, bucket, "first", S(5));
    sketch.plan.world_step_count--;
    sketch.finals[sketch.plan.final_count++] = sketch_number_of(&sketch, final);
    struct stage stage = stage_run(&sketch);

    enum lapse_history_kind kinds[] = {LAPSE_HISTORY_FAULT_END, LAPSE_HISTORY_FAULT_BEGIN,
                                       LAPSE_HISTORY_INVOKE, LAPSE_HISTORY_INVOKE,
                                       LAPSE_HISTORY_PROBE};
    int32_t steps[] = {sketch_number_of(&sketch, begins) + 1, sketch_number_of(&sketch, begins),
                       sketch_number_of(&sketch, timer), sketch_number_of(&sketch, step),
                       sketch_number_of(&sketch, final)};
    size_t next = 0;
    for (size_t i = 0; i < lapse_history_count(stage.history); i++) {
        const struct lapse_history_event *event = lapse_history_at(stage.history, i);
        if (event->at.ns == S(5)) {
            cr_assert_lt(next, 5);
            cr_assert_eq(event->kind, kinds[next]);
            cr_assert_eq(event->step, steps[next]);
            next++;
        }
    }
    cr_assert_eq(next, 5);
    /* The node was paused: both calls are decided at its wake, and `second`, whose task had a call
     * in flight, is sent late. */
    const struct lapse_history_event *sent =
        stage_find(&stage, LAPSE_HISTORY_INVOKE, sketch_number_of(&sketch, second), 0);
    cr_assert_eq(sent->at.ns, S(6));
    cr_assert_eq(sent->u.invoke.due.ns, S(5));
    stage_close(&stage);
}

Test(world, a_step_has_all_its_effects_before_the_next_of_the_same_instant) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false), b = sketch_actor(&sketch, "b", false);
    int32_t one = sketch_task(&sketch, a, true), two = sketch_task(&sketch, b, true);
    sketch_line_at(&sketch, one, sketch_acquire(&sketch, a, "l", S(10), 0), 0);
    struct lapse_plan_step *held = sketch_acquire(&sketch, b, "l", S(10), -1);
    sketch_line_at(&sketch, two, held, 0);
    struct lapse_plan_step *release = sketch_call(&sketch, a, LAPSE_VERB_RELEASE, -1, "l");
    release->u.call.token = sketch_slot(0);
    sketch_line_at(&sketch, one, release, 0);
    struct lapse_plan_step *granted = sketch_acquire(&sketch, b, "l", S(10), 1);
    sketch_line_at(&sketch, two, granted, 0);
    struct stage stage = stage_run(&sketch);
    const struct lapse_history_event *reply =
        stage_find(&stage, LAPSE_HISTORY_REPLY, sketch_number_of(&sketch, held), 0);
    cr_assert_eq(reply->u.reply.answer.status, LAPSE_HELD);
    cr_assert_eq(reply->u.reply.save_slot, -1, "a refused reply is not saved");
    reply = stage_find(&stage, LAPSE_HISTORY_REPLY, sketch_number_of(&sketch, granted), 0);
    cr_assert_eq(reply->u.reply.answer.status, LAPSE_OK);
    cr_assert_eq(reply->u.reply.answer.token, 2);
    const struct lapse_history_event *ended = stage_find(&stage, LAPSE_HISTORY_BELIEF_END, -1, 0);
    cr_assert_eq(ended->u.belief.why, LAPSE_BELIEF_RELEASED);
    stage_close(&stage);
}

Test(world, a_crashed_client_comes_back_as_another_incarnation_without_beliefs) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "w1", false);
    int32_t main_task = sketch_task(&sketch, a, false), steps = sketch_task(&sketch, a, true);
    int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
    struct lapse_plan_step *acquire = sketch_acquire(&sketch, a, "l", S(100), 0);
    sketch_on(&sketch, acquire, LAPSE_HANDLED_BIT(LAPSE_HELD), LAPSE_ACTION_NEXT, 0);
    sketch_line(&sketch, main_task, acquire);
    struct lapse_plan_step *down = sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "down");
    sketch_line_at(&sketch, steps, down, S(11));
    struct lapse_plan_step *later = sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "later");
    sketch_line_at(&sketch, steps, later, S(30));
    struct lapse_plan_step *crash = sketch_pause(&sketch, a, S(10), S(10));
    crash->u.fault.kind = LAPSE_FAULT_CRASH;
    sketch.checks[sketch_number_of(&sketch, down)].must_run = true;
    sketch.checks[sketch_number_of(&sketch, later)].must_run = true;
    struct stage stage = stage_run(&sketch);

    int32_t number = sketch_number_of(&sketch, acquire);
    const struct lapse_history_event *again = stage_find(&stage, LAPSE_HISTORY_INVOKE, number, 1);
    cr_assert_eq(again->at.ns, S(20));
    cr_assert_eq(again->incarnation, 2);
    struct lapse_bytes owner = again->u.invoke.request.command.u.lease.owner;
    cr_assert(lapse_bytes_equal(owner, lapse_bytes_of("w1#2")));
    cr_assert_eq(stage_find(&stage, LAPSE_HISTORY_REPLY, number, 1)->u.reply.answer.status,
                 LAPSE_HELD);
    const struct lapse_history_event *ended = stage_find(&stage, LAPSE_HISTORY_BELIEF_END, -1, 0);
    cr_assert_eq(ended->at.ns, S(10));
    cr_assert_eq(ended->u.belief.why, LAPSE_BELIEF_CRASHED);
    cr_assert_null(stage_find(&stage, LAPSE_HISTORY_INVOKE, sketch_number_of(&sketch, down), 0));
    cr_assert_not_null(
        stage_find(&stage, LAPSE_HISTORY_INVOKE, sketch_number_of(&sketch, later), 0));
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_NOT_RUN, -1), 0, "it was down then");
    stage_close(&stage);
}

Test(world, what_never_ran_and_what_still_waits_is_told_at_the_end) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false);
    int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
    int32_t task = sketch_task(&sketch, a, true);
    sketch_pause(&sketch, -1, 0, 0);
    struct lapse_plan_step *waits = sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "k");
    sketch_line_at(&sketch, task, waits, S(1));
    struct lapse_plan_step *never = sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "k");
    sketch_line_at(&sketch, task, never, S(2));
    sketch.checks[sketch_number_of(&sketch, never)].must_run = true;
    struct lapse_plan_step *unbound = sketch_write(&sketch, a, 0, 0);
    (void)sketch_resource(&sketch, "r", false);
    sketch.plan.the_case.slot_count = 1;
    int32_t other = sketch_task(&sketch, a, true);
    sketch_line_at(&sketch, other, unbound, S(1));
    struct stage stage = stage_run(&sketch);
    cr_assert_not_null(
        stage_find(&stage, LAPSE_HISTORY_NOT_RUN, sketch_number_of(&sketch, never), 0));
    cr_assert_not_null(
        stage_find(&stage, LAPSE_HISTORY_WAITING, sketch_number_of(&sketch, waits), 0));
    const struct lapse_history_event *missing =
        stage_find(&stage, LAPSE_HISTORY_UNBOUND, sketch_number_of(&sketch, unbound), 0);
    cr_assert_not_null(missing);
    cr_assert_eq(missing->u.unbound.slot, 0);
    stage_close(&stage);
}

Test(world, watchers_are_handed_events_at_once_and_paused_ones_at_their_wake) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false), b = sketch_actor(&sketch, "b", false);
    int32_t bucket = sketch_bucket(&sketch, "b", S(10), false);
    sketch.buckets[bucket].config.markers.ns = S(3600);
    sketch.plan.watch_count = 1;
    sketch.watch_names[0] = "w";
    int32_t one = sketch_task(&sketch, a, true), two = sketch_task(&sketch, b, true);
    sketch_line_at(&sketch, one, sketch_call(&sketch, a, LAPSE_VERB_SET, bucket, "k"), 0);
    struct lapse_plan_step *watch = sketch_call(&sketch, b, LAPSE_VERB_WATCH, bucket, "");
    watch->u.call.key = (struct lapse_text){0};
    watch->u.call.from = LAPSE_WATCH_LIVE;
    watch->u.call.watch = 0;
    sketch_line_at(&sketch, two, watch, S(1));
    sketch_pause(&sketch, b, S(9), S(3));
    struct lapse_plan_step *events = sketch_probe(&sketch, LAPSE_PROBE_EVENTS, -1, "", S(12));
    events->u.probe.watch = 0;
    struct stage stage = stage_run(&sketch);
    const struct lapse_history_event *first = stage_find(&stage, LAPSE_HISTORY_DELIVER, -1, 0);
    cr_assert(first->u.deliver.first);
    cr_assert_eq(first->at.ns, S(1));
    const struct lapse_history_event *ended = stage_find(&stage, LAPSE_HISTORY_DELIVER, -1, 1);
    cr_assert_not_null(ended);
    cr_assert_eq(ended->at.ns, S(12));
    cr_assert_eq(ended->u.deliver.event.kind, LAPSE_EVENT_EXPIRED);
    cr_assert_eq(ended->u.deliver.event.at.ns, S(10));
    const struct lapse_history_event *seen =
        stage_find(&stage, LAPSE_HISTORY_PROBE, sketch_number_of(&sketch, events), 0);
    cr_assert_eq(seen->u.probe.event_count, 2);
    stage_close(&stage);
}

static struct lapse_plan_step *watch_all(struct sketch *sketch, int32_t actor, int32_t bucket) {
    struct lapse_plan_step *watch = sketch_call(sketch, actor, LAPSE_VERB_WATCH, bucket, "");
    watch->u.call.key = (struct lapse_text){0};
    watch->u.call.watch = 0;
    sketch->plan.watch_count = 1;
    sketch->watch_names[0] = "w";
    return watch;
}

/* The store sleeps until 5 s; what becomes of a watch that was sent to it meanwhile. */
Test(world, a_watch_that_its_client_was_never_told_of_hands_it_nothing) {
    static const struct {
        const char *name;
        int64_t timeout, crash, pause_for; /* of the client, at 2 s */
        size_t handed;
        bool ended; /* in the store, whose first watch it is */
    } cases[] = {
        {"the client waits", 0, 0, 0, 2, false},
        {"its call times out", S(1), 0, 0, 0, true},
        {"it crashes", 0, S(2), 0, 0, true},
        {"it crashes and comes back", 0, S(1), 0, 2, true}, /* its first line is the watch */
        {"it sleeps through reply and timeout", S(2), 0, S(10), 0, true},
        {"it sleeps through the reply", S(20), 0, S(10), 2, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static struct sketch sketch;
        sketch_begin(&sketch);
        int32_t a = sketch_actor(&sketch, "a", false), c = sketch_actor(&sketch, "c", false);
        int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
        struct lapse_plan_step *watch = watch_all(&sketch, a, bucket);
        watch->has_timeout = cases[i].timeout > 0;
        watch->timeout_ns = cases[i].timeout;
        sketch_on(&sketch, watch, LAPSE_HANDLED_BIT(LAPSE_UNKNOWN), LAPSE_ACTION_NEXT, 0);
        sketch_line_at(&sketch, sketch_task(&sketch, a, i != 3), watch, S(1));
        int32_t task = sketch_task(&sketch, c, true);
        for (int at = 6; at < 30; at += 15) {
            sketch_line_at(&sketch, task, sketch_call(&sketch, c, LAPSE_VERB_SET, bucket, "k"),
                           S(at));
        }
        sketch_pause(&sketch, -1, 0, S(5));
        if (cases[i].pause_for > 0) {
            sketch_pause(&sketch, a, S(2), cases[i].pause_for);
        }
        if (cases[i].crash > 0) {
            struct lapse_plan_step *crash = sketch_pause(&sketch, a, S(2), cases[i].crash);
            crash->u.fault.kind = LAPSE_FAULT_CRASH;
            crash->u.fault.has_for = i == 3;
        }
        sketch_run_for(&sketch, S(30));
        struct stage stage = stage_run(&sketch);
        cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_DELIVER, -1), cases[i].handed, "%s",
                     cases[i].name);
        struct lapse_result result;
        lapse_result_init(&result, lapse_alloc_libc());
        enum lapse_status polled = lapse_poll(stage.world->node.store, 1, 1, &result, NULL);
        cr_assert_eq(polled, cases[i].ended ? LAPSE_INVALID : LAPSE_OK, "%s", cases[i].name);
        lapse_result_free(&result);
        stage_close(&stage);
    }
}

Test(world, an_unwatch_that_was_given_up_has_ended_the_watch_all_the_same) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t a = sketch_actor(&sketch, "a", false), c = sketch_actor(&sketch, "c", false);
    int32_t bucket = sketch_bucket(&sketch, "b", 0, false);
    int32_t task = sketch_task(&sketch, a, true);
    sketch_line_at(&sketch, task, watch_all(&sketch, a, bucket), S(1));
    struct lapse_plan_step *unwatch = watch_all(&sketch, a, bucket);
    unwatch->u.call.verb = LAPSE_VERB_UNWATCH;
    unwatch->has_timeout = true;
    unwatch->timeout_ns = S(1);
    sketch_on(&sketch, unwatch, LAPSE_HANDLED_BIT(LAPSE_UNKNOWN), LAPSE_ACTION_NEXT, 0);
    sketch_line_at(&sketch, task, unwatch, S(3));
    sketch_line_at(&sketch, sketch_task(&sketch, c, true),
                   sketch_call(&sketch, c, LAPSE_VERB_SET, bucket, "k"), S(12));
    sketch_pause(&sketch, -1, S(2), S(8));
    struct stage stage = stage_run(&sketch);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_DELIVER, -1), 0);
    stage_close(&stage);
}
