/* The reaper beside a heap of deadlines, and what a live key takes. */
#include "bench.h"
#include "reference.h"

#include <stdlib.h>

enum { DUE = 1000000, STEP_ROWS = 10000, VALUE_BYTES = 16, TERM_S = 60 };

struct counting {
    size_t bytes;
};

struct reap_bench {
    struct counting counting;
    lapse_alloc alloc;
    struct lapse_clock_manual manual;
    struct lapse *store;
    struct lapse_result result;
    struct reference_deadline *heap;
    size_t heap_count;
};

static void open_store(struct reap_bench *bench);
static void close_store(struct reap_bench *bench);
static void fill(struct reap_bench *bench, size_t count);
static bool bench_bytes(size_t count);
static void before(void *ctx);
static void ours_reap(void *ctx, size_t count);
static void heap_pop_all(void *ctx, size_t count);
static void *count_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes);

bool bench_reap(void) {
    struct reap_bench bench = {0};
    open_store(&bench);
    bench.heap = malloc(DUE * sizeof(*bench.heap));
    bench_need(bench.heap != NULL, "no memory for the heap");
    struct bench_pair pair = {.what = "reap 1000000 keys due at one instant, binary heap",
                              .count = DUE,
                              .ours = ours_reap,
                              .reference = heap_pop_all,
                              .before = before,
                              .ctx = &bench,
                              .reach = 1};
    bool met = bench_run(&pair);
    free(bench.heap);
    close_store(&bench);
    met = bench_bytes(10000) && met;
    return bench_bytes(1000000) && met;
}

/* What is asked of the allocator, key and value bytes taken off. */
static bool bench_bytes(size_t count) {
    struct reap_bench bench = {0};
    char what[80];
    open_store(&bench);
    size_t empty = bench.counting.bytes;
    fill(&bench, count);
    size_t payload = count * (BENCH_KEY_BYTES + VALUE_BYTES);
    double each = (double)(bench.counting.bytes - empty - payload) / (double)count;
    (void)snprintf(what, sizeof(what), "memory a live key beyond key and value, %zu keys", count);
    close_store(&bench);
    return bench_number(what, each, "bytes", 96);
}

static void open_store(struct reap_bench *bench) {
    bench->alloc = (lapse_alloc){count_resize, &bench->counting};
    lapse_clock_manual_init(&bench->manual, (struct lapse_wall){0});
    struct lapse_options options = {.alloc = &bench->alloc,
                                    .clock = lapse_clock_manual_vtable(&bench->manual),
                                    .unlocked = true};
    bench_need(lapse_open(&options, &bench->store, NULL) == LAPSE_OK, "the store does not open");
    lapse_result_init(&bench->result, NULL);
    struct lapse_bucket_config config = {.term = {.given = LAPSE_TERM_TTL}};
    config.term.ttl.ns = TERM_S * LAPSE_NS_PER_S;
    bench_need(lapse_bucket_open(bench->store, lapse_bytes_of("b"), &config, &bench->result,
                                 NULL) == LAPSE_OK,
               "the bucket does not open");
}

static void close_store(struct reap_bench *bench) {
    lapse_result_free(&bench->result);
    lapse_close(bench->store);
    bench_need(bench->counting.bytes == 0, "the store has kept memory");
}

static void fill(struct reap_bench *bench, size_t count) {
    static const unsigned char value[VALUE_BYTES] = "0123456789abcde";
    char buf[BENCH_KEY_BYTES + 1];
    for (size_t i = 0; i < count; i++) {
        bench_key(bench_order(i, count), buf);
        bench_need(lapse_set(bench->store, lapse_bytes_of("b"),
                             (struct lapse_bytes){(unsigned char *)buf, BENCH_KEY_BYTES},
                             (struct lapse_bytes){value, VALUE_BYTES}, NULL, NULL, &bench->result,
                             NULL) == LAPSE_OK,
                   "a set fails");
    }
}

/* All keys are written at one instant, so all end at one instant. */
static void before(void *ctx) {
    struct reap_bench *bench = ctx;
    fill(bench, DUE);
    (void)lapse_clock_manual_advance(&bench->manual, (struct lapse_span){TERM_S * LAPSE_NS_PER_S});
    bench->heap_count = 0;
    for (size_t i = 0; i < DUE; i++) {
        reference_heap_push(bench->heap, &bench->heap_count,
                            (struct reference_deadline){(int64_t)bench_order(i, DUE), i});
    }
}

static void ours_reap(void *ctx, size_t count) {
    struct reap_bench *bench = ctx;
    size_t reaped = 0;
    while (reaped < count) {
        bench_need(lapse_step(bench->store, STEP_ROWS, &bench->result, NULL, NULL) == LAPSE_OK,
                   "a step fails");
        bench_need(bench->result.item_count > 0, "a step removes nothing");
        reaped += bench->result.item_count;
    }
}

/* A million deadlines that differ, as a heap has them: were they equal, none would sink, and a pop
 * would cost nothing. */
static void heap_pop_all(void *ctx, size_t count) {
    struct reap_bench *bench = ctx;
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += reference_heap_pop(bench->heap, &bench->heap_count).id;
    }
    bench_need(sum == (uint64_t)count * (count - 1) / 2, "the heap has lost a deadline");
}

static void *count_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    struct counting *counting = ctx;
    void *moved = NULL;
    if (new_bytes == 0) {
        free(ptr);
    } else {
        moved = realloc(ptr, new_bytes);
        bench_need(moved != NULL, "no memory");
    }
    counting->bytes += new_bytes - old_bytes;
    return moved;
}
