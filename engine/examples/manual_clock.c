/* Testing your own code on a clock that you move.
 *
 * `limiter` is the code under test: at most three tries in ten minutes for each user. It takes a
 * store and knows nothing of clocks. The test below moves the clock to the edges, to the
 * nanosecond, and steps the wall clock too: no waiting, and no doubt about what happens at the very
 * instant. */
#include <lapse/lapse.h>

#include <stdio.h>

enum { TRIES_MAX = 3 };

static const int64_t minute_ns = 60 * LAPSE_NS_PER_S;

/* ---- The code under test. */
struct limiter {
    struct lapse *store;
    struct lapse_result result;
};

/* Each try is a key that lives for ten minutes; those that live are counted. */
static bool limiter_try(struct limiter *limiter, const char *user) {
    struct lapse_error err = {0};
    struct lapse_bytes bucket = lapse_bytes_of(user);
    struct lapse_bucket_config config = {.term = {.given = LAPSE_TERM_TTL}};
    config.term.ttl.ns = 10 * minute_ns;
    if (lapse_bucket_open(limiter->store, bucket, &config, &limiter->result, &err) != LAPSE_OK ||
        lapse_count(limiter->store, bucket, &limiter->result, &err) != LAPSE_OK ||
        limiter->result.item_count >= TRIES_MAX) {
        return false;
    }
    char key[32];
    (void)snprintf(key, sizeof(key), "%lld", (long long)lapse_store_time(limiter->store).ns);
    return lapse_create(limiter->store, bucket, lapse_bytes_of(key), lapse_bytes_of(""), NULL,
                        &limiter->result, &err) == LAPSE_OK;
}

/* ---- The test. */
static int claim(bool holds, const char *what) {
    printf("%s - %s\n", holds ? "ok" : "not ok", what);
    return holds ? 0 : 1;
}

int main(void) {
    struct lapse_clock_manual clock;
    lapse_clock_manual_init(&clock, (struct lapse_wall){0});
    struct lapse_options options = {.clock = lapse_clock_manual_vtable(&clock)};
    struct limiter limiter = {0};
    struct lapse_error err = {0};
    if (lapse_open(&options, &limiter.store, &err) != LAPSE_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    lapse_result_init(&limiter.result, NULL);

    int failed = 0;
    for (int i = 0; i < TRIES_MAX; i++) {
        failed += claim(limiter_try(&limiter, "ann"), "a try within the limit");
        (void)lapse_clock_manual_advance(&clock, (struct lapse_span){minute_ns});
    }
    failed += claim(!limiter_try(&limiter, "ann"), "the fourth try in ten minutes is refused");
    failed += claim(limiter_try(&limiter, "bob"), "another user is not counted");

    /* The first try was at 0: at ten minutes, not a nanosecond before, there is room again. */
    (void)lapse_clock_manual_advance(&clock, (struct lapse_span){7 * minute_ns - 1});
    failed += claim(!limiter_try(&limiter, "ann"), "refused in the last nanosecond");
    (void)lapse_clock_manual_step_wall(&clock, (struct lapse_span){60 * minute_ns});
    failed += claim(!limiter_try(&limiter, "ann"), "a step of the wall clock changes nothing");
    (void)lapse_clock_manual_advance(&clock, (struct lapse_span){1});
    failed += claim(limiter_try(&limiter, "ann"), "allowed at ten minutes");

    lapse_result_free(&limiter.result);
    lapse_close(limiter.store);
    return failed;
}
