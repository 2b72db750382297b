/* A benchmark is a pair of pieces of work that do the same: the engine's and a reference's, run by
 * turns in one process. Each round gives one ratio, of two blocks of work that lie next to each
 * other in time, so what else the machine does meets both. What is printed is the median of the
 * ratios, with the quartiles around it, beside the reach that was asked for; how long either takes
 * on this machine says little by itself. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "lapse/lapse.h"

#include <stdio.h>

enum { BENCH_ROUNDS = 5, BENCH_ROUNDS_MAX = 101, BENCH_KEY_BYTES = 12 };

/* One piece of work over `count` items; its time is taken by the caller. */
typedef void (*bench_work)(void *ctx, size_t count);

struct bench_pair {
    const char *what;
    size_t count;
    size_t rounds; /* at most BENCH_ROUNDS_MAX; 0: BENCH_ROUNDS */
    bench_work ours, reference;
    void (*before)(void *ctx); /* untimed, before each of our rounds; may be NULL */
    void *ctx;
    double reach; /* ours / reference must be at most this; 0: printed only */
    bool wall;    /* take the time that passed; else the processor's, which other work on the
                     machine moves less */
    bool faster;  /* reach is how many times faster than the reference we must be */
};

/* Runs a pair and prints its row. False: the reach was missed. */
bool bench_run(const struct bench_pair *pair);
void bench_heading(void);
/* Nanoseconds of wall time, or of the processor's. */
double bench_now(bool wall);
/* A row that is no pair: a number beside its reach. */
bool bench_number(const char *what, double ours, const char *unit, double reach);
/* Ends the process with a sentence: a benchmark that does not do its work measures nothing. */
void bench_need(bool holds, const char *what);
/* The i-th key, always BENCH_KEY_BYTES long; i below 10^9. */
void bench_key(size_t i, char ret[BENCH_KEY_BYTES + 1]);
/* An order of 0 .. count - 1 that caches cannot foresee, the same in every run; count is a power of
 * ten. */
size_t bench_order(size_t i, size_t count);

/* Keys and leases (memory.c), the reaper and the footprint (reap.c), the store in a file (file.c),
 * ten million keys (scale.c).
 * Each prints its rows and answers whether every reach was met. */
bool bench_memory(void);
bool bench_reap(void);
bool bench_file(void);
bool bench_scale(void);

#endif
