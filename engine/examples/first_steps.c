/* First steps: a code that ends after 15 minutes, written, read at its last nanosecond, and gone at
 * the next. The clock is moved by hand, so the example needs no waiting.
 *
 *   cc first_steps.c $(pkg-config --cflags --libs lapse) */
#include <lapse/lapse.h>

#include <stdio.h>

static const int64_t minute_ns = 60 * LAPSE_NS_PER_S;

static int failed(const char *what, const struct lapse_error *err) {
    fprintf(stderr, "%s: %s\n", what, err->message);
    return 1;
}

int main(void) {
    struct lapse_error err = {0};
    struct lapse_clock_manual clock;
    lapse_clock_manual_init(&clock, (struct lapse_wall){0});

    /* A store in memory. One in a file is opened by lapse_open_file, on lapse_clock_system(). */
    struct lapse_options options = {.clock = lapse_clock_manual_vtable(&clock)};
    struct lapse *store = NULL;
    if (lapse_open(&options, &store, &err) != LAPSE_OK) {
        return failed("open", &err);
    }

    /* A result holds an answer. It is the caller's, and can be used again and again. */
    struct lapse_result result;
    lapse_result_init(&result, NULL);

    /* Every key of the bucket lives for 15 minutes from its write. */
    struct lapse_bytes codes = lapse_bytes_of("codes");
    struct lapse_bytes key = lapse_bytes_of("c1");
    struct lapse_bucket_config config = {.term = {.given = LAPSE_TERM_TTL}};
    config.term.ttl.ns = 15 * minute_ns;
    if (lapse_bucket_open(store, codes, &config, &result, &err) != LAPSE_OK ||
        lapse_set(store, codes, key, lapse_bytes_of("user-42"), NULL, NULL, &result, &err) !=
            LAPSE_OK) {
        return failed("set", &err);
    }

    /* The last nanosecond of its life, and the first after it. */
    int bad = 0;
    (void)lapse_clock_manual_advance(&clock, (struct lapse_span){15 * minute_ns - 1});
    enum lapse_status status = lapse_get(store, codes, key, &result, &err);
    printf("after 15m-1ns: %s, value %.*s, %lld ns left\n", lapse_status_word(status),
           (int)result.value.len, (const char *)result.value.data, (long long)result.left.ns);
    bad += status != LAPSE_OK || result.left.ns != 1;

    (void)lapse_clock_manual_advance(&clock, (struct lapse_span){1});
    status = lapse_get(store, codes, key, &result, &err);
    printf("after 15m: %s\n", lapse_status_word(status));
    bad += status != LAPSE_ABSENT;

    lapse_result_free(&result);
    lapse_close(store);
    return bad;
}
