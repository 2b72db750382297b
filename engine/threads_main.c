/* One handle shared by threads: a plain program, since the thread sanitizer does not run under the
 * test harness. Every thread sets, reads, acquires, watches and steps; what comes out must be what
 * some order of the calls gives: each fencing token once, each key by its last write.
 *
 * Usage: threads [unlocked]. With `unlocked` the handle has no mutex: a race that the sanitizer has
 * to report, which shows that it looks. */
#include "lapse/lapse.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 400, TOKENS = THREADS * ROUNDS * 2 };

struct worker {
    pthread_t thread;
    struct lapse *store;
    int number;
    int64_t tokens[ROUNDS * 2]; /* of the grants that this thread got */
    size_t token_count;
    size_t told; /* events of the bucket that its watch gave */
    const char *wrong; /* the first thing that was not as it should be, or NULL */
};

static const struct lapse_span second = {LAPSE_NS_PER_S};

static void *work(void *ctx);
static void one_round(struct worker *worker, int round, int64_t watcher,
                      struct lapse_result *result);
static void use_lease(struct worker *worker, bool ephemeral, struct lapse_result *result);
static void expect(struct worker *worker, bool holds, const char *what);
static const char *judge(struct lapse *store, struct worker *workers);
static const char *judge_tokens(const struct worker *workers);
static int compare(const void *a, const void *b);

int main(int argc, char **argv) {
    static struct worker workers[THREADS];
    struct lapse_options options = {.clock = lapse_clock_system()};
    struct lapse_bucket_config config = {.markers = second};
    struct lapse_error err = {0};
    struct lapse *store = NULL;
    struct lapse_result result;
    options.unlocked = argc > 1 && strcmp(argv[1], "unlocked") == 0;
    lapse_result_init(&result, NULL);
    if (lapse_open(&options, &store, &err) != LAPSE_OK ||
        lapse_bucket_open(store, lapse_bytes_of("b"), &config, &result, &err) != LAPSE_OK) {
        (void)fprintf(stderr, "not ok: %s\n", err.message);
        return 1;
    }
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.store = store, .number = i};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            (void)fprintf(stderr, "not ok: no thread could be made\n");
            return 1;
        }
    }
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(workers[i].thread, NULL);
    }
    const char *wrong = judge(store, workers);
    lapse_result_free(&result);
    lapse_close(store);
    printf("%s: %d threads shared a handle%s%s\n", wrong == NULL ? "ok" : "not ok", (int)THREADS,
           wrong == NULL ? "" : ", but ", wrong == NULL ? "" : wrong);
    return wrong == NULL ? 0 : 1;
}

static void *work(void *ctx) {
    struct worker *worker = ctx;
    struct lapse_result result;
    lapse_result_init(&result, NULL);
    expect(worker,
           lapse_watch(worker->store, lapse_bytes_of("b"), lapse_bytes_of(""), LAPSE_WATCH_NOW,
                       &result, NULL) == LAPSE_OK,
           "a watch was refused");
    int64_t watcher = result.watcher;
    for (int i = 0; i < ROUNDS; i++) {
        one_round(worker, i, watcher, &result);
    }
    expect(worker, lapse_unwatch(worker->store, watcher, &result, NULL) == LAPSE_OK,
           "a watch could not be ended");
    lapse_result_free(&result);
    return NULL;
}

static void one_round(struct worker *worker, int round, int64_t watcher,
                      struct lapse_result *result) {
    struct lapse *store = worker->store;
    char key[16];
    char value[16];
    (void)snprintf(key, sizeof(key), "own%d", worker->number);
    (void)snprintf(value, sizeof(value), "%d", round);
    struct lapse_bytes bucket = lapse_bytes_of("b");
    expect(worker,
           lapse_set(store, bucket, lapse_bytes_of(key), lapse_bytes_of(value), NULL, NULL, result,
                     NULL) == LAPSE_OK,
           "a set was refused");
    expect(worker,
           lapse_get(store, bucket, lapse_bytes_of(key), result, NULL) == LAPSE_OK &&
               lapse_bytes_equal(result->value, lapse_bytes_of(value)),
           "a get gave another value than the one set");
    struct lapse_term brief = {.given = LAPSE_TERM_TTL, .ttl = {LAPSE_NS_PER_US}};
    expect(worker,
           lapse_set(store, bucket, lapse_bytes_of("brief"), lapse_bytes_of(value), &brief, NULL,
                     result, NULL) == LAPSE_OK,
           "a set with a term was refused");
    use_lease(worker, false, result);
    use_lease(worker, true, result);
    expect(worker, lapse_poll(store, watcher, 64, result, NULL) == LAPSE_OK, "a poll failed");
    int64_t last = 0;
    for (size_t i = 0; i < result->delivery_count; i++) {
        expect(worker, result->deliveries[i].revision > last, "events came out of order");
        last = result->deliveries[i].revision;
    }
    worker->told += result->delivery_count;
    if (round % 16 == 0) {
        struct lapse_due due;
        uint64_t digest = 0;
        expect(worker, lapse_step(store, 8, NULL, &due, NULL) == LAPSE_OK, "a step failed");
        expect(worker, lapse_check(store, NULL) == LAPSE_OK, "an invariant did not hold");
        expect(worker, lapse_digest(store, LAPSE_PART_DURABLE, &digest) == LAPSE_OK,
               "a digest failed");
    }
}

/* Takes a lease that all threads want, and gives it back. */
static void use_lease(struct worker *worker, bool ephemeral, struct lapse_result *result) {
    char owner[16];
    (void)snprintf(owner, sizeof(owner), "w%d", worker->number);
    struct lapse_bytes name = lapse_bytes_of("shared");
    struct lapse_bytes by = lapse_bytes_of(owner);
    struct lapse_span span = {60 * LAPSE_NS_PER_S};
    enum lapse_status status =
        ephemeral ? lapse_acquire_ephemeral(worker->store, name, by, span, result, NULL)
                  : lapse_acquire(worker->store, name, by, span, result, NULL);
    if (status != LAPSE_OK) {
        expect(worker, status == LAPSE_HELD, "an acquire failed");
        return;
    }
    int64_t token = result->token;
    worker->tokens[worker->token_count++] = token;
    expect(worker, lapse_release(worker->store, name, by, &token, result, NULL) == LAPSE_OK,
           "a holder could not release");
}

static void expect(struct worker *worker, bool holds, const char *what) {
    if (!holds && worker->wrong == NULL) {
        worker->wrong = what;
    }
}

static const char *judge(struct lapse *store, struct worker *workers) {
    struct lapse_result result;
    const char *wrong = judge_tokens(workers);
    lapse_result_init(&result, NULL);
    for (int i = 0; i < THREADS; i++) {
        char key[16];
        char value[16];
        (void)snprintf(key, sizeof(key), "own%d", i);
        (void)snprintf(value, sizeof(value), "%d", ROUNDS - 1);
        wrong = workers[i].wrong != NULL ? workers[i].wrong : wrong;
        if (lapse_get(store, lapse_bytes_of("b"), lapse_bytes_of(key), &result, NULL) != LAPSE_OK ||
            !lapse_bytes_equal(result.value, lapse_bytes_of(value))) {
            wrong = "a thread's last write is lost";
        }
        if (workers[i].told == 0) {
            wrong = "a thread saw no event";
        }
    }
    if (lapse_check(store, NULL) != LAPSE_OK) {
        wrong = "an invariant does not hold";
    }
    lapse_result_free(&result);
    return wrong;
}

/* No token was given twice (FENCE-01). */
static const char *judge_tokens(const struct worker *workers) {
    static int64_t all[TOKENS];
    size_t count = 0;
    for (int i = 0; i < THREADS; i++) {
        memcpy(all + count, workers[i].tokens, workers[i].token_count * sizeof(int64_t));
        count += workers[i].token_count;
    }
    qsort(all, count, sizeof(int64_t), compare);
    if (count == 0) {
        return "nobody got a grant";
    }
    for (size_t i = 1; i < count; i++) {
        if (all[i] == all[i - 1]) {
            return "a fencing token was given twice";
        }
    }
    return NULL;
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}
