/* Patterns and measures over short histories. */
#include "pattern.h"
#include "sketch.h"

#include <criterion/criterion.h>

#define S LAPSE_NS_PER_S
#define NAME(text) ((struct lapse_bytes){(const unsigned char *)(text), sizeof(text) - 1})

static const struct lapse_setup_actor actors[] = {{.name = {(const unsigned char *)"w1", 2}},
                                                  {.name = {(const unsigned char *)"w2", 2}}};
static const struct lapse_setup_bucket buckets[] = {
    {.name = {(const unsigned char *)"locks", 5}, .locks = true},
    {.name = {(const unsigned char *)"codes", 5}}};
static const struct lapse_setup_resource resources[] = {
    {.name = {(const unsigned char *)"report", 6}}};
static const struct lapse_setup setup = {.bucket_count = 2,
                                         .buckets = buckets,
                                         .actor_count = 2,
                                         .actors = actors,
                                         .resource_count = 1,
                                         .resources = resources};

/* Follows one measure through a whole history. */
static struct lapse_measured measure_in(const struct sketch *sketch,
                                        const struct lapse_measure *measure) {
    struct lapse_scene scene;
    struct lapse_measure_run run;
    struct lapse_true_time now = {0};
    lapse_scene_init(&scene, lapse_alloc_libc());
    lapse_measure_start(&run, measure);
    for (size_t i = 0; i < lapse_history_count(sketch->history); i++) {
        const struct lapse_history_event *event = lapse_history_at(sketch->history, i);
        struct lapse_fact fact;
        cr_assert_eq(lapse_scene_absorb(&scene, event, &fact), LAPSE_OK);
        lapse_measure_feed(&run, &scene, &fact, event);
        now = event->at;
    }
    lapse_scene_free(&scene);
    return lapse_measure_value(&run, now);
}

static int64_t count_in(const struct sketch *sketch, struct lapse_pattern pattern) {
    struct lapse_measure measure = {.kind = LAPSE_MEASURE_COUNT, .pattern = pattern};
    return measure_in(sketch, &measure).number;
}

static struct lapse_pattern lease_pattern(enum lapse_pattern_kind kind, int32_t by) {
    return (struct lapse_pattern){.kind = kind, .name = NAME("jobs/x"), .subject = -1, .by = by};
}

static struct lapse_pattern key_pattern(enum lapse_pattern_kind kind, bool lock, int32_t by) {
    return (struct lapse_pattern){.kind = kind,
                                  .key_lock = lock,
                                  .bucket = lock ? NAME("locks") : NAME("codes"),
                                  .name = NAME("k"),
                                  .subject = -1,
                                  .by = by};
}

static struct lapse_pattern subject_pattern(enum lapse_pattern_kind kind, int32_t subject) {
    return (struct lapse_pattern){.kind = kind, .subject = subject, .by = -1};
}

Test(pattern, lease_acts_are_counted_by_what_the_store_decided) {
    struct sketch sketch;
    sketch_open(&sketch, &setup);
    struct lapse_request acquire = sketch_lease(LAPSE_VERB_ACQUIRE, "jobs/x", "w1", 30 * S);
    struct lapse_request extend = sketch_lease(LAPSE_VERB_EXTEND, "jobs/x", "w1", 30 * S);
    struct lapse_request release = sketch_lease(LAPSE_VERB_RELEASE, "jobs/x", "w1", 0);
    struct lapse_request inspect = sketch_lease(LAPSE_VERB_INSPECT, "jobs/x", "", 0);
    struct lapse_answer ok = sketch_answer(LAPSE_OK, 30 * S, 30 * S);
    ok.owner = lapse_bytes_of("w1");
    struct lapse_answer again = ok;
    again.renewed = true;
    struct lapse_answer held = sketch_answer(LAPSE_HELD, 30 * S, 20 * S);
    struct lapse_answer lost = sketch_answer(LAPSE_LOST, 0, 0);
    sketch_call(&sketch, 0, 0, 0, &acquire, &ok);
    sketch_call(&sketch, 1 * S, 0, 0, &acquire, &again);
    sketch_call(&sketch, 2 * S, 1, 1, &acquire, &held);
    sketch_call(&sketch, 3 * S, 0, 2, &extend, &ok);
    sketch_call(&sketch, 4 * S, 0, 3, &inspect, &ok);
    sketch_call(&sketch, 4 * S, 1, 3, &inspect, &ok);
    sketch_call(&sketch, 5 * S, 0, 4, &release, &ok);
    sketch_call(&sketch, 6 * S, 0, 2, &extend, &lost);
    sketch_bare(&sketch, LAPSE_HISTORY_END, 9 * S, -1, -1);

    cr_assert_eq(count_in(&sketch, lease_pattern(LAPSE_PATTERN_GRANTED, -1)), 1);
    cr_assert_eq(count_in(&sketch, lease_pattern(LAPSE_PATTERN_GRANTED, 1)), 0);
    cr_assert_eq(count_in(&sketch, lease_pattern(LAPSE_PATTERN_HELD, 1)), 1);
    cr_assert_eq(count_in(&sketch, lease_pattern(LAPSE_PATTERN_EXTENDED, 0)), 1);
    cr_assert_eq(count_in(&sketch, lease_pattern(LAPSE_PATTERN_RELEASED, 0)), 1);
    cr_assert_eq(count_in(&sketch, lease_pattern(LAPSE_PATTERN_DENIED, 0)), 1, "lost");
    cr_assert_eq(count_in(&sketch, lease_pattern(LAPSE_PATTERN_DENIED, 1)), 2, "held, held_by");
    struct lapse_pattern at = lease_pattern(LAPSE_PATTERN_EXTENDED, -1);
    at.has_at = true;
    at.at.ns = 3 * S;
    cr_assert_eq(count_in(&sketch, at), 1);
    at.at.ns = 3 * S + 1;
    cr_assert_eq(count_in(&sketch, at), 0);
    struct lapse_pattern other = lease_pattern(LAPSE_PATTERN_GRANTED, -1);
    other.name = NAME("jobs/y");
    cr_assert_eq(count_in(&sketch, other), 0);
    lapse_history_close(sketch.history);
}

Test(pattern, key_locks_are_granted_renewed_and_taken_over) {
    struct sketch sketch;
    sketch_open(&sketch, &setup);
    struct lapse_request create = sketch_key(LAPSE_VERB_CREATE, "locks", "k", "a");
    struct lapse_request set = sketch_key(LAPSE_VERB_SET, "locks", "k", "a");
    struct lapse_request update = sketch_key(LAPSE_VERB_UPDATE, "locks", "k", "b");
    update.command.u.write.has_if_version = true;
    struct lapse_request drop = sketch_key(LAPSE_VERB_DELETE, "locks", "k", "");
    struct lapse_answer until30 = sketch_answer(LAPSE_OK, 30 * S, 30 * S);
    struct lapse_answer until70 = sketch_answer(LAPSE_OK, 70 * S, 30 * S);
    struct lapse_answer exists = sketch_answer(LAPSE_EXISTS, 0, 0);
    sketch_call(&sketch, 0, 0, 0, &create, &until30);
    sketch_call(&sketch, 1 * S, 1, 1, &create, &exists);
    sketch_call(&sketch, 2 * S, 0, 2, &set, &until30);
    sketch_call(&sketch, 3 * S, 1, 3, &set, &until30); /* steals: neither a grant nor a renewal */
    sketch_call(&sketch, 4 * S, 1, 4, &update, &until30); /* takes it over */
    sketch_call(&sketch, 5 * S, 1, 4, &update, &until30);
    sketch_call(&sketch, 40 * S, 0, 2, &set, &until70);  /* ended at 30 s */
    sketch_call(&sketch, 41 * S, 1, 5, &drop, &until70); /* not its creator */
    sketch_call(&sketch, 42 * S, 0, 2, &set, &until70);
    sketch_call(&sketch, 43 * S, 0, 5, &drop, &until70);

    cr_assert_eq(count_in(&sketch, key_pattern(LAPSE_PATTERN_GRANTED, true, 0)), 3);
    cr_assert_eq(count_in(&sketch, key_pattern(LAPSE_PATTERN_GRANTED, true, 1)), 0);
    cr_assert_eq(count_in(&sketch, key_pattern(LAPSE_PATTERN_EXTENDED, true, 0)), 1);
    cr_assert_eq(count_in(&sketch, key_pattern(LAPSE_PATTERN_EXTENDED, true, 1)), 1);
    cr_assert_eq(count_in(&sketch, key_pattern(LAPSE_PATTERN_HELD, true, 1)), 1);
    cr_assert_eq(count_in(&sketch, key_pattern(LAPSE_PATTERN_RELEASED, true, -1)), 1);
    cr_assert_eq(count_in(&sketch, key_pattern(LAPSE_PATTERN_WRITTEN, true, -1)), 7);
    cr_assert_eq(count_in(&sketch, key_pattern(LAPSE_PATTERN_WRITTEN, false, -1)), 0);
    lapse_history_close(sketch.history);
}

Test(pattern, beliefs_last_from_begin_to_end) {
    struct sketch sketch;
    sketch_open(&sketch, &setup);
    sketch_belief(&sketch, LAPSE_HISTORY_BELIEF_BEGIN, 10 * S, 0, "jobs/x", false);
    sketch_belief(&sketch, LAPSE_HISTORY_BELIEF_BEGIN, 30 * S, 1, "jobs/x", false);
    sketch_belief(&sketch, LAPSE_HISTORY_BELIEF_BEGIN, 35 * S, 1, "locks/k", true);
    sketch_belief(&sketch, LAPSE_HISTORY_BELIEF_END, 50 * S, 0, "jobs/x", false);
    sketch_belief(&sketch, LAPSE_HISTORY_BELIEF_BEGIN, 55 * S, 0, "jobs/x", false);
    sketch_bare(&sketch, LAPSE_HISTORY_END, 60 * S, -1, -1);
    struct lapse_pattern two = lease_pattern(LAPSE_PATTERN_TWO_BELIEVE, -1);
    struct lapse_measure total = {.kind = LAPSE_MEASURE_TOTAL, .pattern = two};
    cr_assert_eq(measure_in(&sketch, &total).number, 25 * S, "20 s, and 5 s open at the end");
    cr_assert(measure_in(&sketch, &total).is_span);
    cr_assert_eq(count_in(&sketch, two), 2);
    cr_assert_eq(count_in(&sketch, lease_pattern(LAPSE_PATTERN_BELIEVES, 0)), 2);
    cr_assert_eq(count_in(&sketch, key_pattern(LAPSE_PATTERN_BELIEVES, true, 1)), 1);
    cr_assert_eq(count_in(&sketch, key_pattern(LAPSE_PATTERN_TWO_BELIEVE, true, -1)), 0);
    total.pattern = lease_pattern(LAPSE_PATTERN_BELIEVES, 0);
    cr_assert_eq(measure_in(&sketch, &total).number, 45 * S);
    static const struct {
        int64_t at, came;
    } cases[] = {{29, 0}, {30, 1}, {49, 1}, {50, 0}, {54, 0}, {55, 1}, {60, 1}, {61, 0}};
    two.has_at = true;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        two.at.ns = cases[i].at * S;
        cr_assert_eq(count_in(&sketch, two), cases[i].came, "at %d s", (int)cases[i].at);
    }
    lapse_history_close(sketch.history);
}

Test(pattern, faults_resources_and_markers_are_counted) {
    struct sketch sketch;
    sketch_open(&sketch, &setup);
    sketch_fault(&sketch, LAPSE_HISTORY_FAULT_BEGIN, 1 * S, 0, LAPSE_FAULT_PAUSE);
    sketch_fault(&sketch, LAPSE_HISTORY_FAULT_END, 2 * S, 0, LAPSE_FAULT_PAUSE);
    sketch_fault(&sketch, LAPSE_HISTORY_FAULT_BEGIN, 3 * S, 0, LAPSE_FAULT_CRASH);
    sketch_fault(&sketch, LAPSE_HISTORY_FAULT_END, 4 * S, 0, LAPSE_FAULT_CRASH);
    sketch_fault(&sketch, LAPSE_HISTORY_FAULT_BEGIN, 4 * S, 0, LAPSE_FAULT_RESTART);
    sketch_bare(&sketch, LAPSE_HISTORY_STOPPED, 5 * S, 1, -1);
    struct lapse_history_event write = sketch_event(LAPSE_HISTORY_RESOURCE, 6 * S, 0, 1);
    write.u.resource.verb = LAPSE_CALL_WRITE;
    sketch_add(&sketch, &write);
    write.u.resource.status = LAPSE_FENCED;
    sketch_add(&sketch, &write);
    write.u.resource.verb = LAPSE_CALL_READ;
    write.u.resource.status = LAPSE_OK;
    sketch_add(&sketch, &write);
    struct lapse_history_event emit = sketch_event(LAPSE_HISTORY_EMIT, 7 * S, -1, -1);
    emit.u.emit.event.kind = LAPSE_EVENT_EXPIRED;
    emit.u.emit.event.bucket = lapse_bytes_of("codes");
    emit.u.emit.event.key = lapse_bytes_of("k");
    sketch_add(&sketch, &emit);
    emit.u.emit.event.kind = LAPSE_EVENT_PUT;
    sketch_add(&sketch, &emit);

    cr_assert_eq(count_in(&sketch, subject_pattern(LAPSE_PATTERN_CRASH, 0)), 1);
    cr_assert_eq(count_in(&sketch, subject_pattern(LAPSE_PATTERN_CRASH, 1)), 0);
    cr_assert_eq(count_in(&sketch, subject_pattern(LAPSE_PATTERN_WAKES, 0)), 2);
    cr_assert_eq(count_in(&sketch, subject_pattern(LAPSE_PATTERN_STOPPED, 1)), 1);
    cr_assert_eq(count_in(&sketch, subject_pattern(LAPSE_PATTERN_ACCEPTED, 0)), 1);
    cr_assert_eq(count_in(&sketch, subject_pattern(LAPSE_PATTERN_FENCED, 0)), 1);
    cr_assert_eq(count_in(&sketch, key_pattern(LAPSE_PATTERN_EXPIRED, false, -1)), 1);

    struct lapse_measure takeover = {.kind = LAPSE_MEASURE_BETWEEN,
                                     .from = subject_pattern(LAPSE_PATTERN_CRASH, 0),
                                     .to = subject_pattern(LAPSE_PATTERN_FENCED, 0)};
    cr_assert_eq(measure_in(&sketch, &takeover).number, 3 * S);
    takeover.from = subject_pattern(LAPSE_PATTERN_FENCED, 0);
    takeover.to = subject_pattern(LAPSE_PATTERN_ACCEPTED, 0);
    cr_assert_eq(measure_in(&sketch, &takeover).number, 0, "same instant, a line earlier");
    takeover.to = subject_pattern(LAPSE_PATTERN_CRASH, 0);
    cr_assert_not(measure_in(&sketch, &takeover).known, "before it does not count");
    lapse_history_close(sketch.history);
}
