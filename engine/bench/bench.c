/* The benchmarks of the engine. `meson test --benchmark` runs them all; BENCH.md keeps a result.
 * With the name of a group only that one runs; `scale`, which takes a minute and 2 GB, only
 * then. */
#define _POSIX_C_SOURCE 200809L

#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static double timed(const struct bench_pair *pair, bench_work work);
static void sort(double *values, size_t count);

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        bool (*run)(void);
        bool asked; /* runs only when it is named: it takes long, and gigabytes */
    } groups[] = {{"memory", bench_memory, false},
                  {"reap", bench_reap, false},
                  {"file", bench_file, false},
                  {"scale", bench_scale, true}};
    bool met = true;
    bool ran = false;
    bench_heading();
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        if (argc < 2 ? !groups[i].asked : strcmp(argv[1], groups[i].name) == 0) {
            met = groups[i].run() && met;
            ran = true;
        }
    }
    bench_need(ran, "no such group; there are memory, reap, file and scale");
    printf("\n%s\n", met ? "every reach met" : "a reach was missed");
    return 0;
}

void bench_heading(void) {
    printf("| what | lapse | reference | ratio | quartiles | reach | |\n");
    printf("|---|---|---|---|---|---|---|\n");
}

bool bench_run(const struct bench_pair *pair) {
    double ours[BENCH_ROUNDS_MAX];
    double reference[BENCH_ROUNDS_MAX];
    double ratios[BENCH_ROUNDS_MAX];
    size_t rounds = pair->rounds == 0 ? BENCH_ROUNDS : pair->rounds;
    bench_need(rounds <= BENCH_ROUNDS_MAX, "a benchmark asks for more rounds than there are");
    for (size_t i = 0; i < rounds; i++) {
        if (pair->before != NULL) {
            pair->before(pair->ctx);
        }
        /* Who goes first takes turns too. */
        if (i % 2 == 1) {
            reference[i] = timed(pair, pair->reference);
        }
        ours[i] = timed(pair, pair->ours);
        if (i % 2 == 0) {
            reference[i] = timed(pair, pair->reference);
        }
        ratios[i] = pair->faster ? reference[i] / ours[i] : ours[i] / reference[i];
    }
    sort(ours, rounds);
    sort(reference, rounds);
    sort(ratios, rounds);
    double ratio = ratios[rounds / 2];
    bool met = pair->reach <= 0 || (pair->faster ? ratio >= pair->reach : ratio <= pair->reach);
    printf("| %s | %.0f ns | %.0f ns | %.2f | %.2f-%.2f | ", pair->what,
           ours[rounds / 2] / (double)pair->count, reference[rounds / 2] / (double)pair->count,
           ratio, ratios[rounds / 4], ratios[rounds - 1 - rounds / 4]);
    if (pair->reach > 0) {
        printf("%s %.2f | %s |\n", pair->faster ? ">=" : "<=", pair->reach,
               met ? "met" : "missed");
    } else {
        printf("- | |\n");
    }
    (void)fflush(stdout);
    return met;
}

bool bench_number(const char *what, double ours, const char *unit, double reach) {
    bool met = reach <= 0 || ours <= reach;
    printf("| %s | %.1f %s | - | - | - | ", what, ours, unit);
    if (reach > 0) {
        printf("<= %.0f | %s |\n", reach, met ? "met" : "missed");
    } else {
        printf("- | |\n");
    }
    return met;
}

void bench_need(bool holds, const char *what) {
    if (!holds) {
        (void)fprintf(stderr, "bench: %s\n", what);
        exit(1);
    }
}

void bench_key(size_t i, char ret[BENCH_KEY_BYTES + 1]) {
    memcpy(ret, "key000000000", BENCH_KEY_BYTES + 1);
    for (size_t at = BENCH_KEY_BYTES; i > 0 && at > 3; i /= 10) {
        ret[--at] = (char)('0' + i % 10);
    }
}

size_t bench_order(size_t i, size_t count) {
    /* Odd and no multiple of 5, so every number comes once. */
    return (size_t)(((uint64_t)i * UINT64_C(7368787) + 123) % count);
}

double bench_now(bool wall) {
    struct timespec now;
    (void)clock_gettime(wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double timed(const struct bench_pair *pair, bench_work work) {
    double begin = bench_now(pair->wall);
    work(pair->ctx, pair->count);
    return bench_now(pair->wall) - begin;
}

static void sort(double *values, size_t count) {
    for (size_t i = 1; i < count; i++) {
        for (size_t k = i; k > 0 && values[k] < values[k - 1]; k--) {
            double swap = values[k];
            values[k] = values[k - 1];
            values[k - 1] = swap;
        }
    }
}
