/* Patterns and measures over short histories. */
#include "follow.h"
#include "pattern.h"
#include "sketch.h"

#include <criterion/criterion.h>
#include <stdio.h>

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

/* Follows one measure through a whole history: by every event, and by those alone that the index
 * finds for it, which must come to the same. */
static struct lapse_measured measure_in(const struct sketch *sketch,
                                        const struct lapse_measure *measure) {
    struct lapse_scene scene;
    struct lapse_measure_run run, found;
    struct lapse_follow follow;
    struct lapse_true_time now = {0};
    lapse_scene_init(&scene, lapse_alloc_libc());
    lapse_follow_init(&follow, lapse_alloc_libc());
    lapse_measure_start(&run, measure);
    lapse_measure_start(&found, measure);
    cr_assert_eq(lapse_follow_add(&follow, 0, found.from.pattern), LAPSE_OK);
    cr_assert_eq(lapse_follow_add(&follow, 0, found.to.pattern), LAPSE_OK);
    cr_assert_eq(lapse_follow_ready(&follow, 1), LAPSE_OK);
    for (size_t i = 0; i < lapse_history_count(sketch->history); i++) {
        const struct lapse_history_event *event = lapse_history_at(sketch->history, i);
        struct lapse_fact fact;
        cr_assert_eq(lapse_scene_absorb(&scene, event, &fact), LAPSE_OK);
        lapse_measure_feed(&run, &scene, &fact, event);
        lapse_follow_find(&follow, &fact, event);
        cr_assert_leq(follow.found_count, 1);
        if (follow.found_count == 1) {
            lapse_measure_feed(&found, &scene, &fact, event);
        }
        now = event->at;
    }
    struct lapse_measured value = lapse_measure_value(&run, now);
    struct lapse_measured same = lapse_measure_value(&found, now);
    cr_assert_eq(value.known, same.known);
    cr_assert_eq(value.number, same.number);
    lapse_scene_free(&scene);
    lapse_follow_free(&follow);
    return value;
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
    cr_assert_eq(count_in(&sketch, lease_pattern(LAPSE_PATTERN_DENIED, -1)), 0, "no beliefs");
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

Test(pattern, denied_is_the_end_of_a_belief_by_a_reply) {
    struct sketch sketch;
    sketch_open(&sketch, &setup);
    sketch_belief(&sketch, LAPSE_HISTORY_BELIEF_END, 1 * S, 0, "jobs/x", false);
    sketch_belief(&sketch, LAPSE_HISTORY_BELIEF_END, 2 * S, 1, "locks/k", true);
    for (int why = LAPSE_BELIEF_RELEASED; why <= LAPSE_BELIEF_DEADLINE; why++) {
        struct lapse_history_event end = sketch_event(LAPSE_HISTORY_BELIEF_END, 3 * S, 0, -1);
        end.u.belief.grant = (struct lapse_grant_ref){true, false, NAME("jobs/x"), 1};
        end.u.belief.why = (enum lapse_belief_why)why;
        sketch_add(&sketch, &end);
    }
    cr_assert_eq(count_in(&sketch, lease_pattern(LAPSE_PATTERN_DENIED, -1)), 1);
    cr_assert_eq(count_in(&sketch, lease_pattern(LAPSE_PATTERN_DENIED, 0)), 1);
    cr_assert_eq(count_in(&sketch, lease_pattern(LAPSE_PATTERN_DENIED, 1)), 0);
    cr_assert_eq(count_in(&sketch, key_pattern(LAPSE_PATTERN_DENIED, true, 1)), 1);
    cr_assert_eq(count_in(&sketch, key_pattern(LAPSE_PATTERN_DENIED, true, 0)), 0);
    struct lapse_pattern other = lease_pattern(LAPSE_PATTERN_DENIED, -1);
    other.name = NAME("jobs/y");
    cr_assert_eq(count_in(&sketch, other), 0);
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

Test(follow, finds_no_one_that_an_event_does_not_concern) {
    enum { MANY = 500 };
    static struct lapse_pattern patterns[MANY];
    static char names[MANY][8];
    struct lapse_follow follow;
    lapse_follow_init(&follow, lapse_alloc_libc());
    for (size_t i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "k%d", (int)i);
        patterns[i] = key_pattern(LAPSE_PATTERN_WRITTEN, false, -1);
        patterns[i].name = lapse_bytes_of(names[i]);
        cr_assert_eq(lapse_follow_add(&follow, i, &patterns[i]), LAPSE_OK);
    }
    cr_assert_eq(lapse_follow_ready(&follow, MANY), LAPSE_OK);
    size_t found = 0;
    for (size_t i = 0; i < MANY; i++) {
        struct lapse_fact fact = {.kinds = LAPSE_FACT(LAPSE_PATTERN_WRITTEN),
                                  .bucket = NAME("codes"),
                                  .name = patterns[i].name,
                                  .subject = -1};
        struct lapse_history_event event = sketch_event(LAPSE_HISTORY_APPLY, 0, -1, -1);
        event.seq = (int64_t)i;
        lapse_follow_find(&follow, &fact, &event);
        bool itself = false;
        for (size_t f = 0; f < follow.found_count; f++) {
            itself = itself || follow.found[f] == i;
        }
        cr_assert(itself, "%s was not found", names[i]);
        found += follow.found_count;
        fact.kinds = LAPSE_FACT(LAPSE_PATTERN_HELD);
        event.seq += MANY;
        lapse_follow_find(&follow, &fact, &event);
        found += follow.found_count;
    }
    cr_assert_lt(found, 4 * MANY, "a few share a place, and no more");
    lapse_follow_free(&follow);
}
