/* The test that every run of the suites can be put in order as seen from outside.
 *
 * Every plan of the files named on the command line runs under some seeds; its history, without the
 * store's decisions, is split into problems and searched. One without an order, in a run that lists
 * nothing under `violates`, is a fault of the store, the split or the models; so is a search that
 * gives up. Each witness is verified. Output is TAP, one test a plan; then what was judged. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "contracts/certificate.h"
#include "contracts/linear_history.h"
#include "scenarios/load.h"
#include "sim/world.h"

struct tally {
    int tests, failed;
    int judged, not_judged; /* runs */
    size_t calls, problems;
    uint64_t steps;
};

static void run_file(const char *path, int seeds, struct tally *tally);
static void run_plan(const struct lapse_plan *plan, int seeds, struct tally *tally);
static bool run_seed(const struct lapse_plan *plan, uint64_t seed, struct tally *tally);
static bool judge(const struct lapse_linear_problems *problems, struct tally *tally);
static bool search(const struct lapse_linear_problem *problem, struct tally *tally);
static void report(struct tally *tally, bool passed, const struct lapse_plan *plan);

int main(int argc, char **argv) {
    struct tally tally = {0};
    int seeds = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 2; i < argc; i++) {
        run_file(argv[i], seeds, &tally);
    }
    printf("# %d runs judged, %d not judged; %zu problems, %zu calls, %" PRIu64 " steps\n",
           tally.judged, tally.not_judged, tally.problems, tally.calls, tally.steps);
    printf("1..%d\n", tally.tests);
    return tally.failed != 0 || tally.judged == 0 ? 1 : 0;
}

static void run_file(const char *path, int seeds, struct tally *tally) {
    struct lapse_file file = {0};
    struct lapse_error err = {0};
    enum lapse_status status = lapse_file_read(lapse_alloc_libc(), path, &file, &err);
    if (status != LAPSE_OK) {
        printf("# %s: status %d: %s\n", path, (int)status, err.message);
        tally->failed++;
    }
    for (size_t i = 0; status == LAPSE_OK && i < file.plan_count; i++) {
        run_plan(file.plans[i], seeds, tally);
    }
    if (status != LAPSE_IO) {
        lapse_file_free(&file);
    }
}

static void run_plan(const struct lapse_plan *plan, int seeds, struct tally *tally) {
    bool passed = true;
    for (int seed = 1; passed && seed <= seeds; seed++) {
        passed = run_seed(plan, (uint64_t)seed, tally);
    }
    report(tally, passed, plan);
}

static bool run_seed(const struct lapse_plan *plan, uint64_t seed, struct tally *tally) {
    struct lapse_run run = {0};
    struct lapse_linear_problems problems = {0};
    struct lapse_error err = {0};
    bool passed = true;
    if (plan->the_case.violates_count > 0) {
        return true;
    }
    if (lapse_run_plan(plan, seed, NULL, &run, &err) != LAPSE_OK ||
        lapse_linear_history_read(lapse_alloc_libc(), run.history, &problems, &err) != LAPSE_OK) {
        printf("# %s\n", err.message);
        passed = false;
    } else if (problems.not_judged != NULL) {
        tally->not_judged++;
    } else {
        tally->judged++;
        passed = judge(&problems, tally);
    }
    if (!passed) {
        printf("# under seed %" PRIu64 "\n", seed);
    }
    lapse_linear_problems_free(&problems);
    lapse_run_free(&run);
    return passed;
}

static bool judge(const struct lapse_linear_problems *problems, struct tally *tally) {
    bool passed = true;
    for (size_t i = 0; i < problems->count; i++) {
        passed = search(&problems->items[i], tally) && passed;
    }
    tally->problems += problems->count;
    tally->calls += problems->call_count;
    return passed;
}

static bool search(const struct lapse_linear_problem *problem, struct tally *tally) {
    struct lapse_linear_budget budget = lapse_linear_budget_default();
    struct lapse_linear_result result;
    struct lapse_error err = {0};
    char name[128], text[LAPSE_LINEAR_CALL_TEXT_MAX];
    if (lapse_linear_check(lapse_alloc_libc(), &problem->model, problem->calls, problem->count,
                           &budget, &result, &err) != LAPSE_OK) {
        printf("# %s\n", err.message);
        return false;
    }
    bool passed = result.verdict == LAPSE_LINEAR_YES;
    if (passed && lapse_certificate_verify(lapse_alloc_libc(), &problem->model, problem->calls,
                                           problem->count, result.witness, result.witness_count,
                                           &err) != LAPSE_OK) {
        printf("# the verifier says: %s\n", err.message);
        passed = false;
    }
    if (!passed) {
        printf("# %s %s: %s\n", lapse_linear_kind_word(problem->kind),
               lapse_bytes_print(problem->name, name, sizeof name),
               lapse_linear_verdict_word(result.verdict));
    }
    for (size_t i = 0; i < result.core_count; i++) {
        const struct lapse_linear_call *call = &problem->calls[result.core[i]];
        printf("#   call %" PRId64 " at %" PRId64 "..%" PRId64 " %s\n", call->source,
               call->invoke_ns, call->return_ns,
               lapse_linear_call_print(problem, result.core[i], text));
    }
    tally->steps += result.steps;
    lapse_linear_result_free(&result);
    return passed;
}

/* A `#` in a name would start a TAP directive, so it is printed as a dot. */
static void report(struct tally *tally, bool passed, const struct lapse_plan *plan) {
    tally->tests++;
    tally->failed += passed ? 0 : 1;
    printf("%sok %d - %s:%d ", passed ? "" : "not ", tally->tests, plan->file, plan->line_first);
    for (const char *c = plan->name; *c != '\0'; c++) {
        putchar(*c == '#' ? '.' : *c);
    }
    putchar('\n');
}
