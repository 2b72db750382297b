/* Ten million keys with terms in memory: what they take, how long one bounded step of the reaper
 * may hold the store up, and how long one page of a listing does while writes go on. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEYS = 10000000,
    LISTED = 1000000,
    VALUE_BYTES = 16,
    STEP_ROWS = 10000,
    PAGE_KEYS = 1000,
    TERM_S = 60,
    SPREAD_S = 1000,
    WRITES_A_PAGE = 100
};

/* How the ends of keys written one after another lie. */
enum ends { RISING, SCATTERED, ONE_INSTANT };

struct scale {
    size_t bytes;
    lapse_alloc alloc;
    struct lapse_clock_manual manual;
    struct lapse *store;
    struct lapse_result result;
    enum ends ends;
    const char *bucket;
};

static void open_store(struct scale *scale);
static void close_store(struct scale *scale);
static void set(struct scale *scale, size_t i, size_t count);
static bool bench_terms(enum ends ends, const char *how);
static bool bench_fill(struct scale *scale);
static bool bench_steps(struct scale *scale, const char *how);
static bool bench_instant(size_t buckets, const char *how);
static size_t step(struct scale *scale, double *worst, double *whole);
static bool bench_pages(void);
static void *count_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes);

bool bench_scale(void) {
    bool met = bench_terms(RISING, "in the order of their ends");
    met = bench_terms(SCATTERED, "in no order") && met;
    met = bench_instant(1, "of one bucket") && met;
    met = bench_instant(2, "of two buckets by turns") && met;
    return bench_pages() && met;
}

static bool bench_terms(enum ends ends, const char *how) {
    struct scale scale = {.ends = ends};
    open_store(&scale);
    bool met = ends != RISING || bench_fill(&scale);
    for (size_t i = 0; i < KEYS && ends != RISING; i++) {
        set(&scale, i, KEYS);
    }
    met = bench_steps(&scale, how) && met;
    close_store(&scale);
    return met;
}

static bool bench_fill(struct scale *scale) {
    size_t empty = scale->bytes;
    double begin = bench_now(false);
    for (size_t i = 0; i < KEYS; i++) {
        set(scale, i, KEYS);
    }
    double each = (bench_now(false) - begin) / KEYS;
    double payload = (double)KEYS * (BENCH_KEY_BYTES + VALUE_BYTES);
    double beyond = ((double)(scale->bytes - empty) - payload) / KEYS;
    bool met = bench_number("set of a new key with ttl, up to 10000000 keys", each, "ns", 0);
    return bench_number("memory a live key beyond key and value, 10000000 keys", beyond, "bytes",
                        96) &&
           met;
}

/* Every second's ends are reaped in steps of at most STEP_ROWS rows. */
static bool bench_steps(struct scale *scale, const char *how) {
    char what[120];
    size_t reaped = 0;
    double worst = 0;
    double whole = 0;
    while (reaped < KEYS) {
        struct lapse_due due;
        (void)lapse_clock_manual_advance(&scale->manual, (struct lapse_span){LAPSE_NS_PER_S});
        do {
            reaped += step(scale, &worst, &whole);
            lapse_next_due(scale->store, &due);
        } while (due.has_steady && due.steady.ns <= lapse_store_time(scale->store).ns);
    }
    (void)snprintf(what, sizeof(what), "reap over 1000 s, written %s, a row", how);
    bool met = bench_number(what, whole / KEYS, "ns", 0);
    (void)snprintf(what, sizeof(what), "worst step of 10000 rows, written %s", how);
    return bench_number(what, worst / 1e6, "ms", 0) && met;
}

/* A million keys due at one instant: revisions of two buckets are in the order of the reaper in
 * runs of few rows alone. */
static bool bench_instant(size_t buckets, const char *how) {
    struct scale scale = {.ends = ONE_INSTANT};
    char what[120];
    double worst = 0;
    double whole = 0;
    open_store(&scale);
    for (size_t i = 0; i < LISTED; i++) {
        scale.bucket = i > LISTED / 10 && i % buckets == 1 ? "c" : "b";
        set(&scale, i, LISTED);
    }
    (void)lapse_clock_manual_advance(&scale.manual,
                                     (struct lapse_span){TERM_S * LAPSE_NS_PER_S});
    for (size_t reaped = 0; reaped < LISTED;) {
        reaped += step(&scale, &worst, &whole);
    }
    (void)snprintf(what, sizeof(what), "reap 1000000 keys due at one instant, %s, a row", how);
    bool met = bench_number(what, whole / LISTED, "ns", 0);
    (void)snprintf(what, sizeof(what), "worst step of 10000 rows among them");
    met = bench_number(what, worst / 1e6, "ms", 0) && met;
    close_store(&scale);
    return met;
}

static size_t step(struct scale *scale, double *worst, double *whole) {
    double begin = bench_now(false);
    bench_need(lapse_step(scale->store, STEP_ROWS, &scale->result, NULL, NULL) == LAPSE_OK,
               "a step fails");
    double took = bench_now(false) - begin;
    *worst = took > *worst ? took : *worst;
    *whole += took;
    return scale->result.item_count;
}

static bool bench_pages(void) {
    struct scale scale = {0};
    open_store(&scale);
    for (size_t i = 0; i < LISTED; i++) {
        set(&scale, i, LISTED);
    }
    unsigned char last[BENCH_KEY_BYTES];
    struct lapse_bytes after = {last, 0};
    double first = 0;
    double second = 0;
    double worst = 0;
    double whole = 0;
    size_t seen = 0;
    size_t pages = 0;
    do {
        double begin = bench_now(false);
        bench_need(lapse_page(scale.store, lapse_bytes_of("b"), pages == 0 ? NULL : &after,
                              PAGE_KEYS, false, &scale.result, NULL) == LAPSE_OK,
                   "a page fails");
        double took = bench_now(false) - begin;
        first = pages == 0 ? took : first;
        second = pages == 1 ? took : second;
        worst = pages > 1 && took > worst ? took : worst;
        whole += took;
        struct lapse_bytes key = scale.result.items[scale.result.item_count - 1].key;
        memcpy(last, key.data, key.len);
        after.len = key.len;
        seen += scale.result.item_count;
        for (size_t i = 0; i < WRITES_A_PAGE; i++) {
            set(&scale, pages * WRITES_A_PAGE + i, LISTED);
        }
        pages++;
    } while (seen < LISTED);
    bench_need(seen == LISTED, "a listing shows a key twice");
    bool met = bench_number("first page of 1000 over 1000000 keys", first / 1e6, "ms", 0);
    met = bench_number("second page, which makes the order", second / 1e6, "ms", 0) && met;
    met = bench_number("worst page after it, 100 writes between two", worst / 1e3, "us", 0) && met;
    met = bench_number("all pages of the listing", whole / 1e6, "ms", 0) && met;
    close_store(&scale);
    return met;
}

static void set(struct scale *scale, size_t i, size_t count) {
    static const unsigned char value[VALUE_BYTES] = "0123456789abcde";
    char buf[BENCH_KEY_BYTES + 1];
    struct lapse_term term = {.given = LAPSE_TERM_TTL};
    /* Ends lie all over their time, no two at one instant, or all at one. */
    size_t places[] = {[RISING] = i,
                       [SCATTERED] = bench_order(bench_order(i, count), count),
                       [ONE_INSTANT] = 0};
    term.ttl.ns = TERM_S * LAPSE_NS_PER_S +
                  (int64_t)places[scale->ends] * (SPREAD_S * LAPSE_NS_PER_S / KEYS);
    bench_key(bench_order(i, count), buf);
    bench_need(lapse_set(scale->store, lapse_bytes_of(scale->bucket),
                         (struct lapse_bytes){(unsigned char *)buf, BENCH_KEY_BYTES},
                         (struct lapse_bytes){value, VALUE_BYTES}, &term, NULL, &scale->result,
                         NULL) == LAPSE_OK,
               "a set fails");
}

static void open_store(struct scale *scale) {
    struct lapse_bucket_config config = {0};
    scale->alloc = (lapse_alloc){count_resize, &scale->bytes};
    lapse_clock_manual_init(&scale->manual, (struct lapse_wall){0});
    struct lapse_options options = {.alloc = &scale->alloc,
                                    .clock = lapse_clock_manual_vtable(&scale->manual),
                                    .unlocked = true};
    lapse_result_init(&scale->result, NULL);
    scale->bucket = "b";
    bench_need(lapse_open(&options, &scale->store, NULL) == LAPSE_OK &&
                   lapse_bucket_open(scale->store, lapse_bytes_of("b"), &config, &scale->result,
                                     NULL) == LAPSE_OK &&
                   lapse_bucket_open(scale->store, lapse_bytes_of("c"), &config, &scale->result,
                                     NULL) == LAPSE_OK,
               "the store does not open");
}

static void close_store(struct scale *scale) {
    lapse_result_free(&scale->result);
    lapse_close(scale->store);
    bench_need(scale->bytes == 0, "the store has kept memory");
}

static void *count_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    size_t *bytes = ctx;
    void *moved = NULL;
    if (new_bytes == 0) {
        free(ptr);
    } else {
        moved = realloc(ptr, new_bytes);
        bench_need(moved != NULL, "no memory");
    }
    *bytes += new_bytes - old_bytes;
    return moved;
}
