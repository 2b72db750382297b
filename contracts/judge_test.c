/* The judge: which runs pass, what ends one, and what its one error says. */
#include "contracts/judge.h"
#include "sketch.h"

#include <criterion/criterion.h>
#include <string.h>

#define S LAPSE_NS_PER_S
#define M (60 * S)
#define NAME(text) \
    { (const unsigned char *)(text), sizeof(text) - 1 }

static const struct lapse_setup_actor actors[] = {{.name = NAME("w1")}, {.name = NAME("w2")}};
static const struct lapse_setup_bucket buckets[] = {
    {.name = NAME("codes"), .config = {.term = {.given = LAPSE_TERM_TTL, .ttl = {15 * M}}}}};
static const struct lapse_setup_resource resources[] = {{.name = NAME("report")}};
static const struct lapse_bytes nodes[] = {NAME("n1")};
static const struct lapse_setup setup = {.bucket_count = 1,
                                         .buckets = buckets,
                                         .resource_count = 1,
                                         .resources = resources,
                                         .actor_count = 2,
                                         .actors = actors,
                                         .node_count = 1,
                                         .nodes = nodes,
                                         .reap_bound = {S}};
static const struct lapse_expect first = {.kind = LAPSE_EXPECT_FIRST};

/* A case of four steps, on lines 1 to 4 of a file. */
struct bench {
    struct lapse_step_check checks[4];
    struct lapse_case the_case;
    struct lapse_judge *judge;
    bool stopped;
};

static void bench_init(struct bench *bench) {
    memset(bench, 0, sizeof(*bench));
    for (int i = 0; i < 4; i++) {
        bench->checks[i] = (struct lapse_step_check){.place = {"s.yaml", i + 1, 9, 3},
                                                     .contract = "KV-01",
                                                     .verb = "get",
                                                     .object = "codes/c1",
                                                     .expect = &first,
                                                     .must_run = true,
                                                     .measure = -1};
    }
    bench->the_case = (struct lapse_case){
        .setup = &setup, .check_count = 4, .checks = bench->checks, .place = {"s.yaml", 1, 1, 1}};
}

static const struct lapse_verdict *bench_run(struct bench *bench, const struct sketch *sketch) {
    cr_assert_eq(lapse_judge_open(lapse_alloc_libc(), &bench->the_case, &bench->judge, NULL),
                 LAPSE_OK);
    for (size_t i = 0; i < lapse_history_count(sketch->history); i++) {
        bool stop = false;
        const struct lapse_history_event *event = lapse_history_at(sketch->history, i);
        cr_assert_eq(lapse_judge_event(bench->judge, event, &stop), LAPSE_OK);
        bench->stopped = stop;
    }
    return lapse_judge_verdict(bench->judge);
}

static void finish(struct bench *bench, struct sketch *sketch) {
    lapse_judge_close(bench->judge);
    lapse_history_close(sketch->history);
}

static void sketch_code_under(struct sketch *sketch, const struct lapse_setup *its, int64_t at,
                              enum lapse_status got);

/* set codes/c1 at 0 (step 0), get it at `at` (step 1). */
static void sketch_code(struct sketch *sketch, int64_t at, enum lapse_status got) {
    sketch_code_under(sketch, &setup, at, got);
}

static void sketch_code_under(struct sketch *sketch, const struct lapse_setup *its, int64_t at,
                              enum lapse_status got) {
    sketch_open(sketch, its);
    struct lapse_request set = sketch_key(LAPSE_VERB_SET, "codes", "c1", "user-42");
    struct lapse_request get = sketch_key(LAPSE_VERB_GET, "codes", "c1", "");
    struct lapse_answer written = sketch_answer(LAPSE_OK, 15 * M, 15 * M);
    written.revision = 1;
    struct lapse_answer read = sketch_answer(got, 0, 0);
    if (got == LAPSE_OK) {
        read = sketch_answer(LAPSE_OK, 15 * M, 15 * M - at);
        read.revision = 1;
        read.value = lapse_bytes_of("user-42");
    }
    struct lapse_history_event emit = sketch_event(LAPSE_HISTORY_EMIT, 0, -1, 0);
    emit.u.emit.event = (struct lapse_event){.kind = LAPSE_EVENT_PUT,
                                             .bucket = set.command.bucket,
                                             .key = set.command.key,
                                             .value = set.command.u.write.value,
                                             .revision = 1};
    sketch_invoke(sketch, 0, 0, 0, &set, 0);
    emit.call = sketch->calls;
    sketch_apply(sketch, 0, 0, 0, &written);
    sketch_add(sketch, &emit);
    sketch_reply(sketch, 0, 0, 0, LAPSE_VERB_SET, &written);
    sketch_call(sketch, at, 0, 1, &get, &read);
}

static const char *label(const struct lapse_verdict *verdict, size_t index) {
    cr_assert_eq(verdict->diags.count, 1);
    cr_assert_lt(index, verdict->diags.items[0]->label_count);
    return verdict->diags.items[0]->labels[index].text;
}

static bool has_note(const struct lapse_verdict *verdict, const char *head, const char *part) {
    const struct lapse_diag *diag = verdict->diags.items[0];
    for (size_t i = 0; i < diag->note_count; i++) {
        if (strcmp(diag->notes[i].head, head) == 0 && strstr(diag->notes[i].text, part) != NULL) {
            return true;
        }
    }
    return false;
}

Test(judge, a_run_that_keeps_its_promises_passes) {
    struct bench bench;
    struct sketch sketch;
    bench_init(&bench);
    sketch_code(&sketch, 15 * M - 1, LAPSE_OK);
    sketch_bare(&sketch, LAPSE_HISTORY_END, 15 * M, -1, -1);
    const struct lapse_verdict *verdict = bench_run(&bench, &sketch);
    cr_assert_eq(verdict->outcome, LAPSE_OUTCOME_PASSED);
    cr_assert_eq(verdict->diags.count, 0);
    cr_assert_null(verdict->id);
    cr_assert_eq(verdict->event, -1);
    cr_assert_eq(verdict->uses, LAPSE_USE_KEYS | LAPSE_USE_TERMS);
    int64_t premises = 0;
    for (size_t i = 0; i < verdict->rule_count; i++) {
        premises += verdict->judged[i].premises;
    }
    cr_assert_gt(premises, 0);
    finish(&bench, &sketch);
}

Test(judge, an_unmet_expectation_says_what_was_set_up_and_when_it_ended) {
    struct bench bench;
    struct sketch sketch;
    bench_init(&bench);
    sketch_code(&sketch, 15 * M, LAPSE_ABSENT);
    const struct lapse_verdict *verdict = bench_run(&bench, &sketch);
    cr_assert(bench.stopped);
    cr_assert_eq(verdict->outcome, LAPSE_OUTCOME_VIOLATED);
    cr_assert_str_eq(verdict->id, "KV-01");
    cr_assert_eq(verdict->event, 7);
    const struct lapse_diag *diag = verdict->diags.items[0];
    cr_assert_str_eq(diag->code, "KV-01");
    cr_assert_str_eq(diag->message, "get codes/c1: expected value, got absent");
    cr_assert_str_eq(label(verdict, 0), "got absent");
    cr_assert_eq(diag->labels[0].place.line, 2);
    cr_assert_str_eq(label(verdict, 1), "written at 0s, until 15m");
    cr_assert_eq(diag->labels[1].place.line, 1);
    cr_assert(has_note(verdict, "note", "the entry ended at 15m, the call was decided at 15m"));
    cr_assert(has_note(verdict, "contract", "KV-01  "));
    finish(&bench, &sketch);
}

Test(judge, an_answer_counts_as_met_if_it_is_handled_and_not_asked_for) {
    static const struct lapse_expect_word ok = {.status = LAPSE_OK};
    static const struct lapse_expect_word absent = {.status = LAPSE_ABSENT};
    static const struct lapse_expect_word conflict = {.status = LAPSE_CONFLICT};
    static const struct lapse_expect need = {.kind = LAPSE_EXPECT_FIRST};
    static const struct lapse_compare never = {.field = LAPSE_FIELD_REV, .op = LAPSE_OP_EQ};
    static const struct {
        struct lapse_expect expect;
        uint32_t handled;
        enum lapse_outcome outcome;
        bool need;
    } cases[] = {
        {{.kind = LAPSE_EXPECT_FIRST}, 0, LAPSE_OUTCOME_VIOLATED, false},
        {{.kind = LAPSE_EXPECT_FIRST},
         LAPSE_HANDLED_BIT(LAPSE_ABSENT),
         LAPSE_OUTCOME_PASSED,
         false},
        {{.kind = LAPSE_EXPECT_FIRST},
         LAPSE_HANDLED_BIT(LAPSE_CONFLICT),
         LAPSE_OUTCOME_VIOLATED,
         false},
        {{.kind = LAPSE_EXPECT_ANY, .word_count = 1, .words = &ok},
         LAPSE_HANDLED_BIT(LAPSE_ABSENT),
         LAPSE_OUTCOME_PASSED,
         false},
        {{.kind = LAPSE_EXPECT_ANY, .word_count = 1, .words = &absent},
         0,
         LAPSE_OUTCOME_PASSED,
         false},
        {{.kind = LAPSE_EXPECT_FIELDS,
          .word_count = 1,
          .words = &absent,
          .compare_count = 1,
          .compares = &never},
         LAPSE_HANDLED_BIT(LAPSE_ABSENT),
         LAPSE_OUTCOME_VIOLATED,
         false},
        {{.kind = LAPSE_EXPECT_FIRST}, 0, LAPSE_OUTCOME_PASSED, true},
        {{.kind = LAPSE_EXPECT_ANY, .word_count = 1, .words = &conflict},
         0,
         LAPSE_OUTCOME_VIOLATED,
         true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench bench;
        struct sketch sketch;
        bench_init(&bench);
        bench.checks[1].expect = &cases[i].expect;
        bench.checks[1].written = cases[i].expect.kind != LAPSE_EXPECT_FIRST;
        bench.checks[1].handled = cases[i].handled;
        bench.checks[1].need = cases[i].need ? &need : NULL;
        sketch_code(&sketch, 15 * M, LAPSE_ABSENT);
        sketch_bare(&sketch, LAPSE_HISTORY_END, 15 * M, -1, -1);
        cr_assert_eq(bench_run(&bench, &sketch)->outcome, cases[i].outcome, "case %zu", i);
        finish(&bench, &sketch);
    }
}

static void sketch_write(struct sketch *sketch, int64_t at, int64_t due, int32_t actor,
                         int32_t step, int64_t token) {
    struct lapse_request write = {.verb = LAPSE_CALL_WRITE, .has_token = true, .token = token};
    struct lapse_history_event event = sketch_event(LAPSE_HISTORY_RESOURCE, at, actor, step);
    sketch_invoke(sketch, at, actor, step, &write, due);
    event.call = sketch->calls;
    event.u.resource.verb = LAPSE_CALL_WRITE;
    event.u.resource.has_token = true;
    event.u.resource.token = token;
    event.u.resource.has_highest = true;
    event.u.resource.highest = token;
    sketch_add(sketch, &event);
}

/* w1, paused from 10 s to 50 s, writes with token 1 after w2 wrote with token 2. */
static void sketch_late_write(struct sketch *sketch) {
    sketch_open(sketch, &setup);
    sketch_fault(sketch, LAPSE_HISTORY_FAULT_BEGIN, 10 * S, 0, LAPSE_FAULT_PAUSE);
    sketch_write(sketch, 35 * S, 35 * S, 1, 2, 2);
    sketch_fault(sketch, LAPSE_HISTORY_FAULT_END, 50 * S, 0, LAPSE_FAULT_PAUSE);
    sketch_write(sketch, 50 * S, 12 * S, 0, 1, 1);
    sketch_bare(sketch, LAPSE_HISTORY_END, 60 * S, -1, -1);
}

Test(judge, a_broken_rule_points_at_the_late_step_and_at_what_set_it_up) {
    struct bench bench;
    struct sketch sketch;
    bench_init(&bench);
    sketch_late_write(&sketch);
    const struct lapse_verdict *verdict = bench_run(&bench, &sketch);
    cr_assert_eq(verdict->outcome, LAPSE_OUTCOME_VIOLATED);
    cr_assert_str_eq(verdict->id, "FENCE-03");
    cr_assert_eq(verdict->event, 6);
    const char *late = "due at 12s, ran at 50s when w1 woke: ";
    cr_assert_eq(strncmp(label(verdict, 0), late, strlen(late)), 0, "%s", label(verdict, 0));
    const struct lapse_diag *diag = verdict->diags.items[0];
    cr_assert_eq(diag->labels[0].place.line, 2);
    cr_assert_eq(diag->labels[1].place.line, 3);
    cr_assert(has_note(verdict, "contract", "FENCE-03  "));
    cr_assert(has_note(verdict, "state", "highest token 2, last token 1"), "as the write left it");
    finish(&bench, &sketch);
}

Test(judge, a_listed_id_without_a_rule_is_not_called_kept) {
    static const char *const ids[] = {"KV-10"};
    static const struct lapse_place places[] = {{"s.yaml", 7, 12, 5}};
    struct bench bench;
    struct sketch sketch;
    bench_init(&bench);
    bench.the_case.violates_count = 1;
    bench.the_case.violates = ids;
    bench.the_case.violates_places = places;
    sketch_open(&sketch, &setup);
    sketch_bare(&sketch, LAPSE_HISTORY_END, 1 * S, -1, -1);
    const struct lapse_verdict *verdict = bench_run(&bench, &sketch);
    cr_assert_eq(verdict->outcome, LAPSE_OUTCOME_VIOLATED);
    cr_assert_str_eq(verdict->diags.items[0]->message, "nothing can be seen to violate KV-10");
    cr_assert_str_eq(label(verdict, 0), "no rule judges it yet");
    finish(&bench, &sketch);
}

Test(judge, a_listed_violation_is_counted_and_must_come) {
    static const char *const ids[] = {"FENCE-03", "LEASE-10"};
    static const struct lapse_place places[] = {{"s.yaml", 7, 12, 8}, {"s.yaml", 7, 22, 8}};
    for (size_t listed = 1; listed <= 2; listed++) {
        struct bench bench;
        struct sketch sketch;
        bench_init(&bench);
        bench.the_case.violates_count = listed;
        bench.the_case.violates = ids;
        bench.the_case.violates_places = places;
        sketch_late_write(&sketch);
        const struct lapse_verdict *verdict = bench_run(&bench, &sketch);
        int64_t violations = 0;
        for (size_t i = 0; i < verdict->rule_count; i++) {
            violations += verdict->judged[i].violations;
        }
        cr_assert_eq(violations, 1);
        if (listed == 1) {
            cr_assert_eq(verdict->outcome, LAPSE_OUTCOME_PASSED);
        } else {
            cr_assert_eq(verdict->outcome, LAPSE_OUTCOME_VIOLATED);
            cr_assert_str_eq(verdict->id, "LEASE-10");
            cr_assert_str_eq(verdict->diags.items[0]->message, "did not violate LEASE-10");
            cr_assert_eq(verdict->diags.items[0]->labels[0].place.column, 22);
        }
        finish(&bench, &sketch);
    }
}

/* What a document shows of a fault is not there once the fault is taken out: it says so at once. */
Test(judge, an_unmet_expectation_tells_what_was_listed_and_has_not_come) {
    static const char *const ids[] = {"LEASE-10", "KV-03"};
    static const struct lapse_place places[] = {{"s.yaml", 7, 12, 8}, {"s.yaml", 7, 22, 5}};
    struct bench bench;
    struct sketch sketch;
    bench_init(&bench);
    bench.the_case.violates_count = 2;
    bench.the_case.violates = ids;
    bench.the_case.violates_places = places;
    sketch_code(&sketch, 15 * M, LAPSE_ABSENT);
    const struct lapse_verdict *verdict = bench_run(&bench, &sketch);
    cr_assert_str_eq(verdict->id, "KV-01");
    cr_assert_str_eq(label(verdict, 1), "did not violate LEASE-10 before this");
    cr_assert_str_eq(label(verdict, 2), "did not violate KV-03 before this");
    cr_assert_eq(verdict->diags.items[0]->labels[2].place.column, 22);
    finish(&bench, &sketch);
}

/* A key is live at its end, twice; where that is not promised, it is noted and the run goes on. */
Test(judge, a_break_that_is_not_promised_is_noted_and_fails_only_if_all_must_hold) {
    static const char *const ids[] = {"KV-03", "KV-04"};
    static const struct lapse_place places[] = {{"s.yaml", 1, 2, 3}, {"s.yaml", 1, 5, 3}};
    static const struct {
        uint8_t at_end;
        bool strict;
        size_t listed;
        enum lapse_outcome outcome;
        int64_t violations, unpromised;
    } cases[] = {
        {0, false, 0, LAPSE_OUTCOME_VIOLATED, 0, 0}, {1, false, 0, LAPSE_OUTCOME_PASSED, 0, 2},
        {1, true, 0, LAPSE_OUTCOME_VIOLATED, 0, 0},  {1, false, 1, LAPSE_OUTCOME_PASSED, 2, 0},
        {1, true, 1, LAPSE_OUTCOME_PASSED, 2, 0},    {1, false, 2, LAPSE_OUTCOME_VIOLATED, 2, 0},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct lapse_setup its = setup;
        struct bench bench;
        struct sketch sketch;
        its.policies.value[LAPSE_POLICY_AT_END] = cases[c].at_end;
        bench_init(&bench);
        bench.the_case.setup = &its;
        bench.the_case.promise_strict = cases[c].strict;
        bench.the_case.violates_count = cases[c].listed;
        bench.the_case.violates = ids;
        bench.the_case.violates_places = places;
        sketch_code_under(&sketch, &its, 15 * M, LAPSE_OK);
        struct lapse_request get = sketch_key(LAPSE_VERB_GET, "codes", "c1", "");
        struct lapse_answer read = sketch_answer(LAPSE_OK, 15 * M, 0);
        read.revision = 1;
        read.value = lapse_bytes_of("user-42");
        sketch_call(&sketch, 15 * M, 0, 2, &get, &read);
        sketch_bare(&sketch, LAPSE_HISTORY_END, 16 * M, -1, -1);
        const struct lapse_verdict *verdict = bench_run(&bench, &sketch);
        cr_expect_eq(verdict->outcome, cases[c].outcome, "case %zu", c);
        int64_t violations = 0, unpromised = 0, earliest = INT64_MAX;
        for (size_t i = 0; i < verdict->rule_count; i++) {
            violations += verdict->judged[i].violations;
            unpromised += verdict->judged[i].unpromised.times;
            const struct lapse_breaks *broke = &verdict->judged[i].unpromised;
            cr_assert_eq(broke->times > 0, broke->first >= 0);
            if (broke->times > 0 && broke->first < earliest)
                earliest = broke->first;
        }
        cr_expect_eq(violations, cases[c].violations, "case %zu", c);
        cr_expect_eq(unpromised, cases[c].unpromised, "case %zu", c);
        if (unpromised > 0) {
            const struct lapse_history_event *event =
                lapse_history_at(sketch.history, (size_t)earliest);
            cr_expect_eq(event->kind, LAPSE_HISTORY_APPLY);
            cr_expect_eq(event->step, 1, "the first of them");
        }
        finish(&bench, &sketch);
    }
}

/* The same key, and nothing is given up: each rule that does not hold counts, and none ends the
 * run. */
Test(judge, a_tally_counts_what_each_rule_alone_would_find) {
    struct bench bench;
    struct sketch sketch;
    bench_init(&bench);
    bench.the_case.tally = true;
    sketch_code(&sketch, 15 * M, LAPSE_OK);
    struct lapse_request get = sketch_key(LAPSE_VERB_GET, "codes", "c1", "");
    struct lapse_answer read = sketch_answer(LAPSE_OK, 15 * M, 0);
    read.revision = 1;
    read.value = lapse_bytes_of("user-42");
    sketch_call(&sketch, 15 * M, 0, 2, &get, &read);
    sketch_bare(&sketch, LAPSE_HISTORY_END, 16 * M, -1, -1);
    const struct lapse_verdict *verdict = bench_run(&bench, &sketch);
    cr_assert_eq(verdict->outcome, LAPSE_OUTCOME_PASSED);
    size_t count, found = 0;
    const struct lapse_rule *rules = lapse_rule_table(&count);
    for (size_t i = 0; i < count; i++) {
        bool broke = verdict->judged[i].tallied.first >= 0;
        cr_expect_eq(verdict->judged[i].tallied.times > 0, broke, "%s", rules[i].id);
        if (broke) {
            const struct lapse_history_event *event =
                lapse_history_at(sketch.history, (size_t)verdict->judged[i].tallied.first);
            cr_expect(event->kind == LAPSE_HISTORY_APPLY && event->step == 1, "%s", rules[i].id);
            found += verdict->judged[i].tallied.times == 2;
        }
    }
    cr_expect_eq(found, 4, "KV-01, KV-03, KV-13 and LIN-01, twice each");
    finish(&bench, &sketch);
}

Test(judge, one_error_where_rule_and_expectation_fail_together) {
    struct bench bench;
    struct sketch sketch;
    bench_init(&bench);
    sketch_code(&sketch, 1 * M, LAPSE_OK);
    struct lapse_probe_answer tried = {LAPSE_VERB_GET, sketch_answer(LAPSE_OK, 15 * M, 1)};
    tried.answer.at.ns = 15 * M;
    tried.answer.revision = 1;
    tried.answer.value = lapse_bytes_of("user-42");
    struct lapse_history_event event = sketch_event(LAPSE_HISTORY_PROBE, 15 * M, -1, 2);
    event.u.probe = (struct lapse_probe){.kind = LAPSE_PROBE_GONE,
                                         .bucket = lapse_bytes_of("codes"),
                                         .name = lapse_bytes_of("c1"),
                                         .answer_count = 1,
                                         .answers = &tried};
    sketch_add(&sketch, &event);
    const struct lapse_verdict *verdict = bench_run(&bench, &sketch);
    cr_assert_eq(verdict->diags.count, 1);
    cr_assert_str_eq(verdict->id, "KV-03");
    cr_assert_str_eq(label(verdict, 1), "expected absent to every call, got get still holds it");
    finish(&bench, &sketch);
}

/* A look at a store that is down has read no clock, so nothing is said of when it was. */
Test(judge, a_look_at_a_store_that_is_down_tells_no_time) {
    for (int up = 0; up < 2; up++) {
        struct bench bench;
        struct sketch sketch;
        bench_init(&bench);
        sketch_code(&sketch, 1 * M, LAPSE_OK);
        struct lapse_probe_answer tried = {LAPSE_VERB_GET, {.status = LAPSE_UNAVAILABLE}};
        if (up == 1) {
            tried.answer = sketch_answer(LAPSE_OK, 15 * M, 13 * M);
            tried.answer.at.ns = 2 * M;
            tried.answer.revision = 1;
            tried.answer.value = lapse_bytes_of("user-42");
        }
        struct lapse_history_event event = sketch_event(LAPSE_HISTORY_PROBE, 2 * M, -1, 2);
        event.u.probe = (struct lapse_probe){.kind = LAPSE_PROBE_GONE,
                                             .bucket = lapse_bytes_of("codes"),
                                             .name = lapse_bytes_of("c1"),
                                             .answer_count = 1,
                                             .answers = &tried};
        sketch_add(&sketch, &event);
        const struct lapse_verdict *verdict = bench_run(&bench, &sketch);
        cr_assert_eq(verdict->diags.count, 1);
        cr_expect_eq(has_note(verdict, "note", "the look was at"), up == 1);
        finish(&bench, &sketch);
    }
}

/* A rule that breaks at the decision ends the run before the reply: what the step expected is said
 * all the same, unless nothing was written or a word takes the answer. */
Test(judge, a_rule_broken_at_the_decision_carries_the_expectation) {
    static const struct lapse_expect_word fenced = {.status = LAPSE_FENCED};
    static const struct lapse_expect expect = {
        .kind = LAPSE_EXPECT_ANY, .place = {"s.yaml", 2, 40, 6}, .word_count = 1, .words = &fenced};
    static const struct {
        bool written;
        uint32_t handled;
        bool said;
    } cases[] = {{true, 0, true}, {false, 0, false}, {true, LAPSE_HANDLED_BIT(LAPSE_OK), false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench bench;
        struct sketch sketch;
        bench_init(&bench);
        bench.checks[1].expect = &expect;
        bench.checks[1].written = cases[i].written;
        bench.checks[1].handled = cases[i].handled;
        sketch_late_write(&sketch);
        const struct lapse_verdict *verdict = bench_run(&bench, &sketch);
        cr_assert_str_eq(verdict->id, "FENCE-03");
        bool said = strcmp(label(verdict, 1), "expected fenced, got ok") == 0;
        cr_assert_eq(said, cases[i].said, "case %zu: %s", i, label(verdict, 1));
        if (said) {
            cr_assert_eq(verdict->diags.items[0]->labels[1].place.column, 40);
        }
        finish(&bench, &sketch);
    }
}

Test(judge, a_rule_broken_by_the_store_carries_the_expectation_of_its_call) {
    static const struct lapse_expect_word conflict = {.status = LAPSE_CONFLICT};
    static const struct lapse_expect expect = {
        .kind = LAPSE_EXPECT_ANY, .word_count = 1, .words = &conflict};
    struct bench bench;
    struct sketch sketch;
    bench_init(&bench);
    bench.checks[2].expect = &expect;
    bench.checks[2].written = true;
    sketch_code(&sketch, 1 * M, LAPSE_OK);
    struct lapse_request update = sketch_key(LAPSE_VERB_UPDATE, "codes", "c1", "x");
    update.command.u.write.has_if_version = true;
    update.command.u.write.if_version = 7;
    struct lapse_answer ok = sketch_answer(LAPSE_OK, 17 * M, 15 * M);
    ok.revision = 2;
    sketch_call(&sketch, 2 * M, 0, 2, &update, &ok);
    const struct lapse_verdict *verdict = bench_run(&bench, &sketch);
    cr_assert_str_eq(verdict->id, "CAS-01");
    cr_assert_str_eq(label(verdict, 1), "expected conflict, got ok");
    cr_assert(has_note(verdict, "state", "codes/c1: x, revision 2, ends at 17m"), "after it");
    finish(&bench, &sketch);
}

Test(judge, lines_that_did_not_run_or_were_not_answered_are_unmet) {
    static const char *const slot_names[] = {"t1"};
    static const struct lapse_place slot_places[] = {{"s.yaml", 4, 30, 2}};
    static const struct {
        enum lapse_history_kind kind;
        bool must;
        const char *message;
    } cases[] = {
        {LAPSE_HISTORY_UNBOUND, true, "$t1 was not bound when this step ran"},
        {LAPSE_HISTORY_NOT_RUN, true, "get codes/c1: this line had not run when the run ended"},
        {LAPSE_HISTORY_WAITING, true, "get codes/c1: still waiting for an answer at the end"},
        {LAPSE_HISTORY_NOT_RUN, false, NULL},
        {LAPSE_HISTORY_WAITING, false, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench bench;
        struct sketch sketch;
        bench_init(&bench);
        bench.checks[1].written = bench.checks[1].must_run = cases[i].must;
        bench.the_case.slot_count = 1;
        bench.the_case.slot_names = slot_names;
        bench.the_case.slot_places = slot_places;
        sketch_open(&sketch, &setup);
        sketch_bare(&sketch, cases[i].kind, 9 * S, 0, 1);
        sketch_bare(&sketch, LAPSE_HISTORY_END, 9 * S, -1, -1);
        const struct lapse_verdict *verdict = bench_run(&bench, &sketch);
        cr_assert_eq(verdict->diags.count, cases[i].must ? 1 : 0);
        if (cases[i].must) {
            cr_assert_str_eq(verdict->diags.items[0]->message, cases[i].message);
        }
        if (cases[i].kind == LAPSE_HISTORY_UNBOUND) {
            cr_assert_str_eq(label(verdict, 1), "this line should have bound it");
        }
        finish(&bench, &sketch);
    }
}

/* Step 0 saves the reply of an entry or of an acquire that was held as $t; step 1 uses it. */
static void sketch_misfit(struct sketch *sketch, int verb, const struct lapse_answer *saved,
                          int why, int field) {
    sketch_open(sketch, &setup);
    struct lapse_history_event reply = sketch_event(LAPSE_HISTORY_REPLY, 1 * S, 0, 0);
    reply.u.reply.verb = verb;
    reply.u.reply.answer = *saved;
    reply.u.reply.save_slot = 0;
    sketch_add(sketch, &reply);
    struct lapse_history_event unbound = sketch_event(LAPSE_HISTORY_UNBOUND, 2 * S, 0, 1);
    unbound.u.unbound.why = why;
    unbound.u.unbound.field = field;
    sketch_add(sketch, &unbound);
    sketch_bare(sketch, LAPSE_HISTORY_END, 3 * S, -1, -1);
}

Test(judge, a_saved_reply_that_gives_no_fitting_value_is_named_with_what_it_has) {
    static const char *const slot_names[] = {"t"};
    static const struct lapse_place slot_places[] = {{"s.yaml", 1, 30, 1}};
    static const struct {
        int verb;
        enum lapse_status status;
        int why, field;
        const char *message, *label;
    } cases[] = {
        {LAPSE_VERB_ACQUIRE, LAPSE_HELD, LAPSE_UNBOUND_FIELD, LAPSE_FIELD_REV,
         "$t.rev: the saved reply has no rev", "this line saved: held by w2"},
        {LAPSE_VERB_ACQUIRE, LAPSE_HELD, LAPSE_UNBOUND_FIELD, LAPSE_FIELD_DEFAULT,
         "$t: the saved reply has no token", "this line saved: held by w2"},
        {LAPSE_VERB_GET, LAPSE_ABSENT, LAPSE_UNBOUND_FIELD, LAPSE_FIELD_DEFAULT,
         "$t: the saved reply has no value", "this line saved: absent"},
        {LAPSE_VERB_DELETE, LAPSE_ABSENT, LAPSE_UNBOUND_FIELD, LAPSE_FIELD_DEFAULT,
         "$t: the saved reply has no rev", "this line saved: absent"},
        {LAPSE_VERB_ACQUIRE, LAPSE_OK, LAPSE_UNBOUND_KIND, LAPSE_FIELD_END,
         "$t.end is a span from the start, a date or a number is wanted here",
         "this line saved: granted"},
        {LAPSE_VERB_ACQUIRE, LAPSE_OK, LAPSE_UNBOUND_KIND, LAPSE_FIELD_LEFT,
         "$t.left is a span, a date or a number is wanted here", "this line saved: granted"},
        {LAPSE_VERB_ACQUIRE, LAPSE_OK, LAPSE_UNBOUND_KIND, LAPSE_FIELD_DEFAULT,
         "$t is a number, a span or a date is wanted here", "this line saved: granted"},
        {LAPSE_VERB_ACQUIRE, LAPSE_OK, LAPSE_UNBOUND_KIND, LAPSE_FIELD_OWNER,
         "$t.owner is a text, a number or a time is wanted here", "this line saved: granted"},
        {LAPSE_VERB_ACQUIRE, LAPSE_OK, LAPSE_UNBOUND_KIND, LAPSE_FIELD_REV,
         "$t.rev is of a kind that does not fit here", "this line saved: granted"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench bench;
        struct sketch sketch;
        bench_init(&bench);
        bench.checks[0].handled = LAPSE_HANDLED_BIT(LAPSE_HELD) | LAPSE_HANDLED_BIT(LAPSE_ABSENT);
        bench.the_case.slot_count = 1;
        bench.the_case.slot_names = slot_names;
        bench.the_case.slot_places = slot_places;
        struct lapse_answer saved = sketch_answer(cases[i].status, 30 * S, 29 * S);
        saved.owner = lapse_bytes_of("w2");
        sketch_misfit(&sketch, cases[i].verb, &saved, cases[i].why, cases[i].field);
        const struct lapse_verdict *verdict = bench_run(&bench, &sketch);
        cr_assert_eq(verdict->diags.count, 1);
        cr_assert_str_eq(verdict->diags.items[0]->message, cases[i].message);
        cr_assert_str_eq(label(verdict, 0), "this step was not sent");
        cr_assert_str_eq(label(verdict, 1), cases[i].label);
        finish(&bench, &sketch);
    }
}

static void sketch_waits(struct sketch *sketch, int32_t actor, int32_t step, int64_t call) {
    struct lapse_history_event event = sketch_event(LAPSE_HISTORY_WAITING, 9 * S, actor, step);
    event.call = call;
    sketch_add(sketch, &event);
}

/* Lines are steps plus one: of what the actor of line 4 waits for, the last before it is told. */
Test(judge, a_line_that_did_not_run_points_at_what_its_actor_waits_for) {
    static const char answer[] = "this line still waits for its answer";
    static const char await[] = "this line still waits for what never came";
    static const struct {
        struct {
            int32_t actor, step;
            int64_t call;
        } waits[3];
        size_t count;
        int32_t not_run;
        int line; /* 0: no second label */
        const char *label;
    } cases[] = {
        {{{0, 1, 5}}, 1, 3, 2, answer},
        {{{0, 1, 0}}, 1, 3, 2, await},
        {{{0, 2, 6}, {0, 1, 5}, {1, 0, 7}}, 3, 3, 3, answer},
        {{{0, 3, 6}, {0, 2, 5}}, 2, 1, 3, answer},
        {{{0, 3, 6}, {0, 0, 5}, {0, 2, 0}}, 3, 1, 1, answer},
        {{{1, 1, 5}}, 1, 3, 0, NULL},
        {{{0, 0, 0}}, 0, 3, 0, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench bench;
        struct sketch sketch;
        bench_init(&bench);
        sketch_open(&sketch, &setup);
        for (size_t k = 0; k < cases[i].count; k++) {
            sketch_waits(&sketch, cases[i].waits[k].actor, cases[i].waits[k].step,
                         cases[i].waits[k].call);
        }
        sketch_bare(&sketch, LAPSE_HISTORY_NOT_RUN, 9 * S, 0, cases[i].not_run);
        sketch_bare(&sketch, LAPSE_HISTORY_END, 9 * S, -1, -1);
        const struct lapse_verdict *verdict = bench_run(&bench, &sketch);
        cr_assert_eq(verdict->diags.count, 1);
        const struct lapse_diag *diag = verdict->diags.items[0];
        cr_assert_eq(diag->label_count, cases[i].line == 0 ? 1 : 2, "case %zu", i);
        if (cases[i].line > 0) {
            cr_assert_eq(diag->labels[1].place.line, cases[i].line, "case %zu", i);
            cr_assert_str_eq(diag->labels[1].text, cases[i].label);
        }
        finish(&bench, &sketch);
    }
}

Test(judge, a_waiting_line_with_an_expectation_is_the_error_before_those_behind_it) {
    struct bench bench;
    struct sketch sketch;
    bench_init(&bench);
    bench.checks[1].written = true;
    sketch_open(&sketch, &setup);
    sketch_waits(&sketch, 0, 1, 5);
    sketch_bare(&sketch, LAPSE_HISTORY_NOT_RUN, 9 * S, 0, 3);
    sketch_bare(&sketch, LAPSE_HISTORY_END, 9 * S, -1, -1);
    const struct lapse_verdict *verdict = bench_run(&bench, &sketch);
    cr_assert_eq(verdict->diags.count, 1);
    cr_assert_str_eq(verdict->diags.items[0]->message,
                     "get codes/c1: still waiting for an answer at the end");
    finish(&bench, &sketch);
}

Test(judge, counts_and_measures_are_answered_from_the_history) {
    static const struct lapse_pattern fenced = {
        .kind = LAPSE_PATTERN_ACCEPTED, .subject = 0, .by = -1};
    static const struct lapse_measure measure = {
        .kind = LAPSE_MEASURE_BETWEEN,
        .from = {.kind = LAPSE_PATTERN_WAKES, .subject = 0, .by = -1},
        .to = {.kind = LAPSE_PATTERN_STOPPED, .subject = 0, .by = -1}};
    for (int wanted = 0; wanted < 2; wanted++) {
        struct lapse_operand operand = {.kind = LAPSE_OPERAND_NUMBER, .number = wanted};
        struct lapse_compare compare = {
            .op = LAPSE_OP_EQ, .operand_count = 1, .operands = &operand};
        struct lapse_expect is = {
            .kind = LAPSE_EXPECT_IS, .compare_count = 1, .compares = &compare};
        struct bench bench;
        struct sketch sketch;
        bench_init(&bench);
        bench.checks[3].expect = &is;
        bench.checks[3].count = &fenced;
        bench.checks[3].verb = "count";
        bench.checks[3].object = "accepted: report";
        bench.the_case.measure_count = 1;
        bench.the_case.measures = &measure;
        bench.the_case.sometimes_count = 1;
        bench.the_case.sometimes = &fenced;
        sketch_open(&sketch, &setup);
        sketch_write(&sketch, 1 * S, 1 * S, 0, 0, 1);
        struct lapse_history_event event = sketch_event(LAPSE_HISTORY_PROBE, 2 * S, -1, 3);
        event.u.probe.kind = LAPSE_PROBE_COUNT;
        sketch_add(&sketch, &event);
        sketch_bare(&sketch, LAPSE_HISTORY_END, 3 * S, -1, -1);
        const struct lapse_verdict *verdict = bench_run(&bench, &sketch);
        cr_assert_eq(verdict->outcome == LAPSE_OUTCOME_PASSED, wanted == 1);
        if (wanted == 0) {
            cr_assert_str_eq(verdict->diags.items[0]->message,
                             "count accepted: report: expected 0, got 1");
        }
        cr_assert(verdict->sometimes[0]);
        cr_assert_not(verdict->measured[0].known);
        finish(&bench, &sketch);
    }
}

Test(judge, a_truncated_history_is_inconclusive) {
    struct bench bench;
    struct sketch sketch;
    bench_init(&bench);
    sketch_open(&sketch, &setup);
    sketch_bare(&sketch, LAPSE_HISTORY_TRUNCATED, 5 * S, -1, -1);
    const struct lapse_verdict *verdict = bench_run(&bench, &sketch);
    cr_assert(bench.stopped);
    cr_assert_eq(verdict->outcome, LAPSE_OUTCOME_INCONCLUSIVE);
    finish(&bench, &sketch);
}

/* An allocator that fails from the n-th request for memory on. */
struct stingy {
    int left;
};

static void *stingy_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    struct stingy *stingy = ctx;
    if (new_bytes > 0 && stingy->left-- <= 0) {
        return NULL;
    }
    return lapse_alloc_libc()->resize(NULL, ptr, old_bytes, new_bytes);
}

Test(judge, without_memory_it_says_so_and_leaks_nothing) {
    struct bench bench;
    struct sketch sketch;
    bench_init(&bench);
    sketch_late_write(&sketch);
    bool done = false;
    for (int allowed = 0; !done; allowed++) {
        struct stingy stingy = {allowed};
        lapse_alloc alloc = {stingy_resize, &stingy};
        enum lapse_status status = lapse_judge_open(&alloc, &bench.the_case, &bench.judge, NULL);
        bool opened = status == LAPSE_OK;
        bool stop = false;
        size_t count = lapse_history_count(sketch.history);
        for (size_t i = 0; opened && i < count && status == LAPSE_OK; i++) {
            status = lapse_judge_event(bench.judge, lapse_history_at(sketch.history, i), &stop);
        }
        if (opened) {
            lapse_judge_close(bench.judge);
        }
        cr_assert(status == LAPSE_OK || status == LAPSE_NOMEM);
        done = status == LAPSE_OK;
        cr_assert_lt(allowed, 1000);
    }
    lapse_history_close(sketch.history);
}
