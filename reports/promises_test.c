/* Breaks of what is not promised, in each format: which contract, by which policies, how often, and
 * where first. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "contracts/tracker.h"
#include "draw.h"

enum { RULES_MAX = 128 };

/* A run in which two contracts broke that its policies give up. */
struct run {
    struct lapse_setup setup;
    struct lapse_step_check checks[2];
    struct lapse_case the_case;
    struct lapse_judged judged[RULES_MAX];
    struct lapse_verdict verdict;
    struct lapse_history *history;
    struct lapse_result_view view;
};

static void break_rule(struct run *run, const char *id, int64_t times, int64_t event) {
    const struct lapse_rule *rules = lapse_rule_table(&run->verdict.rule_count);
    cr_assert_leq(run->verdict.rule_count, (size_t)RULES_MAX);
    for (size_t i = 0; i < run->verdict.rule_count; i++) {
        if (strcmp(rules[i].id, id) == 0) {
            run->judged[i].unpromised = (struct lapse_breaks){times, event};
        }
    }
}

static void run_make(struct run *run, enum lapse_outcome outcome) {
    memset(run, 0, sizeof *run);
    run->setup.profile = lapse_bytes_of("nats");
    run->setup.policies.value[LAPSE_POLICY_IF_VERSION] = 1;
    run->setup.policies.value[LAPSE_POLICY_OLDER] = 1;
    run->setup.policies.value[LAPSE_POLICY_AT_END] = 1;
    run->checks[1] = (struct lapse_step_check){
        .place = {"s.yaml", 7, 3, 3}, .verb = "update", .object = "b/k\x1b"};
    run->the_case = (struct lapse_case){
        .setup = &run->setup, .check_count = 2, .checks = run->checks};
    run->verdict.outcome = outcome;
    run->verdict.event = -1;
    run->verdict.judged = run->judged;
    lapse_diag_list_init(&run->verdict.diags, lapse_alloc_libc());
    cr_assert_eq(lapse_history_open(lapse_alloc_libc(), 0, &run->history, NULL), LAPSE_OK);
    for (int32_t i = 0; i < 2; i++) {
        struct lapse_history_event event = {
            .kind = LAPSE_HISTORY_STOPPED, .at = {12 * LAPSE_NS_PER_S}, .actor = -1};
        event.step = i == 0 ? -1 : 1;
        cr_assert_not_null(lapse_history_append(run->history, &event));
    }
    break_rule(run, "CAS-01", 2, 1);
    break_rule(run, "LEASE-02", 1, 0);
    run->view = (struct lapse_result_view){.file = "s.yaml",
                                           .line = 3,
                                           .row = -1,
                                           .name = "a name",
                                           .history = run->history,
                                           .verdict = &run->verdict,
                                           .the_case = &run->the_case,
                                           .outcome = outcome};
}

static void run_free(struct run *run) {
    lapse_diag_list_free(&run->verdict.diags);
    lapse_history_close(run->history);
}

static void expect_text(const char *format, struct run *run, int verbose, const char *wanted) {
    const struct lapse_style style = {.width = 80, .verbose = verbose};
    struct lapse_out out;
    lapse_out_init(&out, lapse_alloc_libc());
    lapse_format_find(format)->scenario(&out, &style, &run->view);
    cr_assert_not(out.failed);
    const char *text = out.text != NULL ? out.text : "";
    cr_expect_not_null(strstr(text, wanted), "%s: no\n%sin\n%s", format, wanted, text);
    lapse_out_free(&out);
}

#define BY_LEASE "not promised: LEASE-02 (live_at_end: yes), 1 time"
#define BY_CAS "not promised by nats: CAS-01 (if_version: last, older_value: current), 2 times"
#define WHERE ", at 12s in line 7: update b/k\\x1b"

Test(promises, are_told_of_a_run_in_every_format) {
    static const struct {
        const char *format;
        enum lapse_outcome outcome;
        int verbose;
        const char *wanted;
    } cases[] = {
        {"pretty", LAPSE_OUTCOME_PASSED, 0,
         "        line 3: " BY_LEASE "\n        line 3: " BY_CAS "\n"},
        {"pretty", LAPSE_OUTCOME_PASSED, 1, BY_LEASE ", at 12s\n        line 3: " BY_CAS WHERE},
        {"pretty", LAPSE_OUTCOME_VIOLATED, 0,
         "    " BY_LEASE ", at 12s\n    " BY_CAS WHERE "\n    replay "},
        {"tap", LAPSE_OUTCOME_PASSED, 0, ": a name\n# " BY_LEASE ", at 12s\n# " BY_CAS WHERE "\n"},
        {"tap", LAPSE_OUTCOME_VIOLATED, 0, "  ...\n# " BY_LEASE ", at 12s\n# " BY_CAS WHERE "\n"},
        {"junit", LAPSE_OUTCOME_PASSED, 0,
         " time=\"0\">\n      <system-out>" BY_LEASE ", at 12s\n" BY_CAS WHERE
         "</system-out>\n    </testcase>\n"},
        {"junit", LAPSE_OUTCOME_VIOLATED, 0,
         "</failure>\n      <system-out>" BY_LEASE ", at 12s\n" BY_CAS WHERE
         "</system-out>\n    </testcase>\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run run;
        run_make(&run, cases[i].outcome);
        expect_text(cases[i].format, &run, cases[i].verbose, cases[i].wanted);
        run_free(&run);
    }
}

Test(promises, do_not_hold_outside_the_contract_and_every_format_says_so) {
    static const char *const formats[] = {"pretty", "tap", "junit"};
    static const char *const wanted[] = {
        "        line 3: outside contract: n1 frozen from 12s\n        line 3: not promised",
        ": a name\n# outside contract: n1 frozen from 12s\n# not promised",
        "<system-out>outside contract: n1 frozen from 12s\nnot promised"};
    static const struct lapse_bytes nodes[] = {{(const unsigned char *)"n1", 2}};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct run run;
        run_make(&run, LAPSE_OUTCOME_PASSED);
        run.setup.nodes = nodes;
        struct lapse_trackers trackers = {.outside = {.setup = &run.setup, .count = 1}};
        trackers.outside.marks[LAPSE_OUTSIDE_FROZEN] = (struct lapse_outside_mark){
            lapse_history_at(run.history, 0), {LAPSE_PARTY_NODE, 0}};
        run.verdict.trackers = &trackers;
        expect_text(formats[i], &run, 0, wanted[i]);
        run_free(&run);
    }
}

Test(promises, that_all_held_are_not_mentioned) {
    static const char *const formats[] = {"pretty", "tap", "junit"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        const struct lapse_style style = {.width = 80, .verbose = 1};
        struct run run;
        struct lapse_out out;
        run_make(&run, LAPSE_OUTCOME_PASSED);
        memset(run.judged, 0, sizeof run.judged);
        lapse_out_init(&out, lapse_alloc_libc());
        lapse_format_find(formats[i])->scenario(&out, &style, &run.view);
        cr_expect_null(strstr(out.text, "promised"), "%s", out.text);
        lapse_out_free(&out);
        run_free(&run);
    }
}

Test(promises, are_summed_up_at_the_end) {
    static const struct lapse_total_unpromised sums[] = {{"not promised by nats: CAS-01", 3},
                                                         {"not promised: KV-01", 1}};
    static const struct {
        const char *format, *wanted;
    } cases[] = {
        {"pretty", "\nnot promised by nats: CAS-01, 3 times\nnot promised: KV-01, 1 time\n"},
        {"tap", "\n# not promised by nats: CAS-01, 3 times\n# not promised: KV-01, 1 time\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct lapse_style style = {.width = 80};
        const struct lapse_totals totals = {
            .files = 1, .scenarios = 1, .passed = 1, .unpromised_count = 2, .unpromised = sums};
        struct lapse_out out;
        lapse_out_init(&out, lapse_alloc_libc());
        lapse_format_find(cases[i].format)->end(&out, &style, &totals, NULL);
        cr_expect_not_null(strstr(out.text, cases[i].wanted), "%s", out.text);
        cr_expect_null(strstr(out.text, " held,"), "not all contracts held: %s", out.text);
        lapse_out_free(&out);
    }
}
