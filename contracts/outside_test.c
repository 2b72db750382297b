/* What puts a run outside the contract, what is judged there, and what is said of it. */
#include "contracts/outside.h"

#include <criterion/criterion.h>
#include <string.h>

#include "contracts/rule.h"

#define SECOND LAPSE_NS_PER_S

static const struct lapse_setup_actor actors[] = {
    {.name = {(const unsigned char *)"w1", 2}},
    {.name = {(const unsigned char *)"w2", 2}, .owner = {(const unsigned char *)"job", 3}},
    {.name = {(const unsigned char *)"w3", 2}, .owner = {(const unsigned char *)"job", 3}},
};
static const struct lapse_bytes nodes[] = {{(const unsigned char *)"n1", 2}};

static struct lapse_setup setup_with(int64_t rate_ppb, int64_t wall_ns) {
    return (struct lapse_setup){.epoch = {1000 * SECOND},
                                .rate_ppb = rate_ppb,
                                .wall_bound = {wall_ns},
                                .actor_count = 3,
                                .actors = actors,
                                .node_count = 1,
                                .nodes = nodes};
}

static struct lapse_history_event event_at(enum lapse_history_kind kind, int64_t at_ns) {
    return (struct lapse_history_event){.kind = kind, .at = {at_ns}, .actor = -1, .step = -1};
}

static struct lapse_history_event clock_of(struct lapse_party whose, int64_t rate_ppb,
                                           int64_t wall_off_ns) {
    struct lapse_history_event event = event_at(LAPSE_HISTORY_CLOCK, 12 * SECOND);
    event.u.clock.whose = whose;
    event.u.clock.rate_ppb = rate_ppb;
    event.u.clock.tick_ns = 1;
    event.u.clock.before.raw_ns = event.u.clock.after.raw_ns = 12 * SECOND;
    event.u.clock.after.wall.ns = 1012 * SECOND + wall_off_ns;
    return event;
}

/* Takes BEGIN and one event; twice, since that must change nothing. */
static void take(struct lapse_outside *outside, const struct lapse_setup *setup,
                 const struct lapse_history_event *event) {
    struct lapse_history_event begin = event_at(LAPSE_HISTORY_BEGIN, 0);
    begin.u.begin = setup;
    *outside = (struct lapse_outside){0};
    lapse_outside_take(outside, &begin);
    lapse_outside_take(outside, event);
    lapse_outside_take(outside, event);
}

static void expect_said(const struct lapse_outside *outside, enum lapse_outside_kind kind,
                        const char *wanted) {
    char buf[LAPSE_OUTSIDE_TEXT_MAX];
    cr_assert_eq(outside->count, 1);
    cr_assert_not_null(outside->marks[kind].by);
    cr_assert_str_eq(lapse_outside_say(outside, kind, buf), wanted);
}

Test(outside, a_clock_is_judged_by_the_declared_rate_to_the_last_billionth) {
    const struct lapse_party w1 = {LAPSE_PARTY_ACTOR, 0};
    const struct lapse_setup setup = setup_with(200000, 0);
    struct lapse_outside outside;
    for (int sign = -1; sign <= 1; sign += 2) {
        struct lapse_history_event event = clock_of(w1, sign * 200000, 3600 * SECOND);
        take(&outside, &setup, &event);
        cr_assert_eq(outside.count, 0, "a step of a wall without a bound marks nothing");
        event.u.clock.rate_ppb = sign * 200001;
        take(&outside, &setup, &event);
        expect_said(&outside, LAPSE_OUTSIDE_CLOCK, "clock of w1 beyond 200ppm from 12s");
    }
    struct lapse_history_event still = clock_of((struct lapse_party){LAPSE_PARTY_NODE, 0}, 0, 0);
    still.u.clock.stopped = true;
    take(&outside, &setup, &still);
    expect_said(&outside, LAPSE_OUTSIDE_CLOCK, "clock of n1 stands still, from 12s on");
    still.u.clock.stopped = false;
    still.u.clock.after.raw_ns++;
    take(&outside, &setup, &still);
    cr_assert_not_null(outside.marks[LAPSE_OUTSIDE_CLOCK].by, "a raw clock that jumps");
    struct lapse_history_event step = event_at(LAPSE_HISTORY_STEP, 12 * SECOND);
    step.u.step.reading.raw_ns = INT64_MAX - 1;
    take(&outside, &setup, &step);
    cr_assert_eq(outside.count, 0);
    step.u.step.reading.raw_ns++;
    take(&outside, &setup, &step);
    expect_said(&outside, LAPSE_OUTSIDE_CLOCK, "clock of n1 beyond 200ppm from 12s");
}

Test(outside, a_wall_beyond_its_bound_leaves_every_rule_in_judgement) {
    const struct lapse_party n1 = {LAPSE_PARTY_NODE, 0};
    const struct lapse_setup setup = setup_with(0, SECOND);
    struct lapse_outside outside;
    struct lapse_history_event event = clock_of(n1, 0, -SECOND);
    take(&outside, &setup, &event);
    cr_assert_eq(outside.count, 0);
    event.u.clock.after.wall.ns--;
    take(&outside, &setup, &event);
    expect_said(&outside, LAPSE_OUTSIDE_WALL, "wall clock of n1 beyond 1s from 12s");
    cr_assert(outside.node_wall);
    size_t count = 0;
    const struct lapse_contract *table = lapse_contract_table(&count);
    for (size_t i = 0; i < count; i++) {
        cr_assert(lapse_outside_judges(&outside, table[i].id));
    }
}

/* Every kind with all that is left of the catalogue. */
Test(outside, what_is_left_in_judgement_is_what_the_table_says) {
    static const struct {
        enum lapse_outside_kind kind;
        const char *left;
    } cases[] = {{LAPSE_OUTSIDE_CLOCK, "KV-04 FENCE-01 FENCE-03 REPL-01"},
                 {LAPSE_OUTSIDE_FROZEN, "KV-04 FENCE-01 FENCE-03 REPL-01"},
                 {LAPSE_OUTSIDE_LIES, "DUR-06"},
                 {LAPSE_OUTSIDE_ROT, "DUR-06"},
                 {LAPSE_OUTSIDE_OLD, ""},
                 {LAPSE_OUTSIDE_SHIFTED, "FENCE-01 CAS-04"},
                 {LAPSE_OUTSIDE_OWNER, "FENCE-03"}};
    size_t count = 0;
    const struct lapse_contract *table = lapse_contract_table(&count);
    const struct lapse_history_event by = event_at(LAPSE_HISTORY_NOTE, 0);
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct lapse_outside outside = {.count = 1};
        outside.marks[cases[c].kind].by = &by;
        for (size_t i = 0; i < count; i++) {
            bool left = strstr(cases[c].left, table[i].id) != NULL;
            cr_assert_eq(lapse_outside_judges(&outside, table[i].id), left, "case %zu: %s", c,
                         table[i].id);
        }
    }
    struct lapse_outside both = {.count = 2};
    both.marks[LAPSE_OUTSIDE_FROZEN].by = both.marks[LAPSE_OUTSIDE_OWNER].by = &by;
    cr_assert(lapse_outside_judges(&both, "FENCE-03"), "two marks leave what both leave");
    cr_assert_not(lapse_outside_judges(&both, "FENCE-01"));
}

Test(outside, faults_and_old_copies_mark_a_run_where_they_are_told) {
    const struct lapse_setup setup = setup_with(0, 0);
    struct lapse_outside outside;
    struct lapse_history_event fault = event_at(LAPSE_HISTORY_FAULT_BEGIN, 12 * SECOND);
    fault.u.fault.kind = LAPSE_FAULT_FREEZE;
    fault.u.fault.node = -1;
    fault.actor = 0;
    take(&outside, &setup, &fault);
    expect_said(&outside, LAPSE_OUTSIDE_FROZEN, "w1 frozen from 12s");
    fault.u.fault.kind = LAPSE_FAULT_SUSPEND;
    take(&outside, &setup, &fault);
    cr_assert_eq(outside.count, 0, "a sleep is within the contract");
    fault.u.fault.kind = LAPSE_FAULT_DISK;
    fault.u.fault.node = 0;
    static const struct {
        enum lapse_disk_fault disk;
        const char *said;
    } disks[] = {{LAPSE_DISK_SYNC_FAIL, NULL},   {LAPSE_DISK_SYNC_LIES, "syncs of n1 lie from 12s"},
                 {LAPSE_DISK_SYNC_STALLS, NULL}, {LAPSE_DISK_TEAR, NULL},
                 {LAPSE_DISK_FULL, NULL},
                 {LAPSE_DISK_ROT, "bits on the disk of n1 flip from 12s"}};
    for (size_t i = 0; i < sizeof(disks) / sizeof(disks[0]); i++) {
        fault.u.fault.disk = disks[i].disk;
        take(&outside, &setup, &fault);
        cr_assert_eq(outside.count, disks[i].said == NULL ? 0 : 1);
        if (disks[i].said != NULL) {
            expect_said(&outside,
                        disks[i].disk == LAPSE_DISK_ROT ? LAPSE_OUTSIDE_ROT : LAPSE_OUTSIDE_LIES,
                        disks[i].said);
        }
    }
    struct lapse_history_event tenure = event_at(LAPSE_HISTORY_TENURE, 12 * SECOND);
    take(&outside, &setup, &tenure);
    cr_assert_eq(outside.count, 0);
    tenure.u.tenure.restored = LAPSE_RESTORED_OLD;
    take(&outside, &setup, &tenure);
    expect_said(&outside, LAPSE_OUTSIDE_OLD, "n1 runs on an old copy from 12s");
    tenure.u.tenure.restored = LAPSE_RESTORED_SHIFTED;
    take(&outside, &setup, &tenure);
    expect_said(&outside, LAPSE_OUTSIDE_SHIFTED, "n1 runs on an old copy, restored, from 12s");
}

Test(outside, one_owner_text_stands_for_one_incarnation) {
    static const struct {
        int32_t actor, incarnation;
        enum lapse_verb verb;
        bool shared;
    } cases[] = {{0, 1, LAPSE_VERB_ACQUIRE, false},
                 {0, 2, LAPSE_VERB_ACQUIRE, false},
                 {1, 1, LAPSE_VERB_ACQUIRE, true},
                 {2, 1, LAPSE_VERB_SESSION, true},
                 {2, 1, LAPSE_VERB_GET, false}};
    const struct lapse_setup setup = setup_with(0, 0);
    struct lapse_setup two = setup, one = setup;
    two.actor_count = 2;
    one.actor_count = 1;
    struct lapse_outside outside;
    struct lapse_history_event invoke = event_at(LAPSE_HISTORY_INVOKE, 12 * SECOND);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        invoke.actor = cases[i].actor;
        invoke.incarnation = cases[i].incarnation;
        invoke.u.invoke.request.verb = (int)cases[i].verb;
        take(&outside, &setup, &invoke);
        cr_assert_eq(outside.marks[LAPSE_OUTSIDE_OWNER].by != NULL, cases[i].shared, "%zu", i);
    }
    invoke.actor = 1;
    invoke.incarnation = 1;
    invoke.u.invoke.request.verb = LAPSE_VERB_ACQUIRE;
    take(&outside, &two, &invoke);
    cr_assert_eq(outside.count, 0, "alone with its text");
    invoke.incarnation = 2;
    take(&outside, &two, &invoke);
    expect_said(&outside, LAPSE_OUTSIDE_OWNER,
                "owner text of w2 stands for two incarnations from 12s");
    invoke.actor = 0;
    take(&outside, &one, &invoke);
    cr_assert_eq(outside.count, 0);
}
