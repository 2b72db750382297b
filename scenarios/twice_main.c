/* The test that a plan gives one history and no other.
 *
 * Every plan of the files named on the command line runs twice; the second run is snapshotted in
 * the middle, finished, restored and finished again. Three digests that are not equal mean that
 * something outside the snapshot was changed, or that something outside plan and choices was read.
 * Output is TAP, one test a plan. It is a plain main so that leaks fail it. */
#include <inttypes.h>
#include <stdio.h>

#include "scenarios/load.h"
#include "sim/world.h"

enum { SEED = 1 };

struct tally {
    int tests;
    int failed;
};

static void run_file(const char *path, struct tally *tally);
static void run_plan(const struct lapse_plan *plan, struct tally *tally);
static void report(struct tally *tally, bool passed, const char *file, int line, const char *name);

int main(int argc, char **argv) {
    struct tally tally = {0};
    for (int i = 1; i < argc; i++) {
        run_file(argv[i], &tally);
    }
    printf("1..%d\n", tally.tests);
    return tally.failed != 0 || tally.tests == 0 ? 1 : 0;
}

static void run_file(const char *path, struct tally *tally) {
    struct lapse_file file = {0};
    struct lapse_error err = {0};
    enum lapse_status status = lapse_file_read(lapse_alloc_libc(), path, &file, &err);
    if (status != LAPSE_OK) {
        report(tally, false, path, 1, "the file loads");
        printf("# status %d: %s\n", (int)status, err.message);
    }
    for (size_t i = 0; status == LAPSE_OK && i < file.plan_count; i++) {
        run_plan(file.plans[i], tally);
    }
    if (status != LAPSE_IO) {
        lapse_file_free(&file);
    }
}

static void run_plan(const struct lapse_plan *plan, struct tally *tally) {
    uint64_t digests[3] = {0};
    struct lapse_error err = {0};
    enum lapse_status status = lapse_run_twice(plan, SEED, digests, &err);
    bool same = digests[0] == digests[1] && digests[1] == digests[2];
    report(tally, status == LAPSE_OK && same, plan->file, plan->line_first, plan->name);
    if (status != LAPSE_OK) {
        printf("# status %d: %s\n", (int)status, err.message);
    } else if (!same) {
        printf("# first run %016" PRIx64 ", second %016" PRIx64 ", restored %016" PRIx64 "\n",
               digests[0], digests[1], digests[2]);
    }
}

/* A `#` in a name would start a TAP directive, so it is printed as a dot. */
static void report(struct tally *tally, bool passed, const char *file, int line, const char *name) {
    tally->tests++;
    tally->failed += passed ? 0 : 1;
    printf("%sok %d - %s:%d ", passed ? "" : "not ", tally->tests, file, line);
    for (const char *c = name; *c != '\0'; c++) {
        putchar(*c == '#' ? '.' : *c);
    }
    putchar('\n');
}
