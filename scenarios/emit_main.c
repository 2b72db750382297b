/* The test that what is written says the same: every plan of the files named on the command line is
 * written back, with the others of its file, loaded again and compared; then both run, and their
 * histories must have one digest.
 *
 * Output is TAP, one test a file. It is a plain main so that leaks fail it. */
#include <inttypes.h>
#include <stdio.h>

#include "scenarios/emit.h"
#include "scenarios/load.h"
#include "sim/world.h"

enum { SEED = 1 };

struct tally {
    int tests, failed;
    size_t plans;
};

static void check_file(const char *path, struct tally *tally);
static bool check_plans(const struct lapse_file *file, struct lapse_error *err);
static bool check_runs(const struct lapse_file *file, const struct lapse_file *again,
                       struct lapse_error *err);
static bool digest_of(const struct lapse_plan *plan, uint64_t *ret, struct lapse_error *err);
static void report(struct tally *tally, bool passed, const char *path,
                   const struct lapse_error *err);

int main(int argc, char **argv) {
    struct tally tally = {0};
    for (int i = 1; i < argc; i++) {
        check_file(argv[i], &tally);
    }
    printf("1..%d\n# %zu plans\n", tally.tests, tally.plans);
    return tally.failed != 0 || tally.tests == 0 ? 1 : 0;
}

static void check_file(const char *path, struct tally *tally) {
    struct lapse_file file = {0};
    struct lapse_error err = {0};
    enum lapse_status status = lapse_file_read(lapse_alloc_libc(), path, &file, &err);
    bool passed = status == LAPSE_OK && check_plans(&file, &err);
    tally->plans += file.plan_count;
    report(tally, passed, path, &err);
    if (status != LAPSE_IO) {
        lapse_file_free(&file);
    }
}

static bool check_plans(const struct lapse_file *file, struct lapse_error *err) {
    const struct lapse_plan *const *plans = (const struct lapse_plan *const *)file->plans;
    struct lapse_emitted emitted = {0};
    struct lapse_file again = {0};
    if (lapse_plans_emit_proved(lapse_alloc_libc(), plans, file->plan_count, &emitted, err) !=
        LAPSE_OK) {
        return false;
    }
    bool same = lapse_file_load(lapse_alloc_libc(), "written.yaml", emitted.text, emitted.bytes,
                                &again) == LAPSE_OK &&
                check_runs(file, &again, err);
    lapse_file_free(&again);
    lapse_emitted_free(&emitted);
    return same;
}

static bool check_runs(const struct lapse_file *file, const struct lapse_file *again,
                       struct lapse_error *err) {
    for (size_t i = 0; i < file->plan_count; i++) {
        uint64_t before = 0, after = 0;
        if (!digest_of(file->plans[i], &before, err) || !digest_of(again->plans[i], &after, err)) {
            return false;
        }
        if (before != after) {
            (void)lapse_error_set(err, LAPSE_INVALID,
                                  "`%.200s` runs as %016" PRIx64 ", written back as %016" PRIx64,
                                  file->plans[i]->name, before, after);
            return false;
        }
    }
    return true;
}

static bool digest_of(const struct lapse_plan *plan, uint64_t *ret, struct lapse_error *err) {
    struct lapse_run run = {0};
    if (lapse_run_plan(plan, SEED, NULL, &run, err) != LAPSE_OK) {
        return false;
    }
    *ret = lapse_history_digest(run.history);
    lapse_run_free(&run);
    return true;
}

static void report(struct tally *tally, bool passed, const char *path,
                   const struct lapse_error *err) {
    tally->tests++;
    tally->failed += passed ? 0 : 1;
    printf("%sok %d - %s\n", passed ? "" : "not ", tally->tests, path);
    if (!passed) {
        printf("# %s\n", err->message);
    }
}
