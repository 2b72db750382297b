/* A fixed workload for counting instructions: `engine_count WHAT` prepares, then does one thing
 * COUNT times in a function of that name, which callgrind is told to collect alone. Time on a
 * machine that does other things too says little about a change; this number is the same in every
 * run. .ci/instructions prints it and holds it against a limit. */
#include "lapse/lapse.h"

#include <stdio.h>
#include <string.h>

enum { COUNT = 10000, STEP_ROWS = 1000, KEY_BYTES = 8, TERM_S = 60 };

struct workload {
    struct lapse_clock_manual manual;
    struct lapse *store;
    struct lapse_result result;
};

bool count_get(struct workload *load);
bool count_set(struct workload *load);
bool count_extend(struct workload *load);
bool count_reap(struct workload *load);
static bool prepare(struct workload *load);
static struct lapse_bytes key_of(size_t i, unsigned char buf[KEY_BYTES]);

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        bool (*run)(struct workload *load);
    } parts[] = {{"get", count_get},
                 {"set", count_set},
                 {"extend", count_extend},
                 {"reap", count_reap}};
    struct workload load = {0};
    bool done = prepare(&load);
    bool ran = false;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (argc == 2 && strcmp(argv[1], parts[i].name) == 0) {
            ran = true;
            done = done && parts[i].run(&load);
        }
    }
    lapse_result_free(&load.result);
    lapse_close(load.store);
    if (!ran || !done) {
        (void)fprintf(stderr, "engine_count: give one of get, set, extend and reap%s\n",
                      ran ? "; it failed" : "");
        return 1;
    }
    return 0;
}

bool count_get(struct workload *load) {
    unsigned char buf[KEY_BYTES];
    bool done = true;
    for (size_t i = 0; i < COUNT && done; i++) {
        done = lapse_get(load->store, lapse_bytes_of("b"), key_of(i, buf), &load->result, NULL) ==
               LAPSE_OK;
    }
    return done;
}

bool count_set(struct workload *load) {
    unsigned char buf[KEY_BYTES];
    struct lapse_term term = {.given = LAPSE_TERM_TTL, .ttl = {TERM_S * LAPSE_NS_PER_S}};
    bool done = true;
    for (size_t i = 0; i < COUNT && done; i++) {
        done = lapse_set(load->store, lapse_bytes_of("b"), key_of(i, buf),
                         lapse_bytes_of("0123456789abcdef"), &term, NULL, &load->result,
                         NULL) == LAPSE_OK;
    }
    return done;
}

bool count_extend(struct workload *load) {
    unsigned char buf[KEY_BYTES];
    bool done = true;
    for (size_t i = 0; i < COUNT && done; i++) {
        done = lapse_extend(load->store, key_of(i, buf), lapse_bytes_of("w1"),
                            (struct lapse_span){TERM_S * LAPSE_NS_PER_S}, NULL, &load->result,
                            NULL) == LAPSE_OK;
    }
    return done;
}

/* All keys have ended by then, at one instant. */
bool count_reap(struct workload *load) {
    size_t rows = 0;
    bool done = lapse_clock_manual_advance(&load->manual,
                                           (struct lapse_span){TERM_S * LAPSE_NS_PER_S}) ==
                LAPSE_OK;
    while (rows < COUNT && done) {
        done = lapse_step(load->store, STEP_ROWS, &load->result, NULL, NULL) == LAPSE_OK &&
               load->result.item_count > 0;
        rows += load->result.item_count;
    }
    return done;
}

static bool prepare(struct workload *load) {
    unsigned char buf[KEY_BYTES];
    lapse_clock_manual_init(&load->manual, (struct lapse_wall){0});
    lapse_result_init(&load->result, NULL);
    struct lapse_options options = {.clock = lapse_clock_manual_vtable(&load->manual),
                                    .unlocked = true};
    struct lapse_bucket_config config = {
        .term = {.given = LAPSE_TERM_TTL, .ttl = {TERM_S * LAPSE_NS_PER_S}}};
    bool done = lapse_open(&options, &load->store, NULL) == LAPSE_OK &&
                lapse_bucket_open(load->store, lapse_bytes_of("b"), &config, &load->result,
                                  NULL) == LAPSE_OK;
    for (size_t i = 0; i < COUNT && done; i++) {
        done = lapse_set(load->store, lapse_bytes_of("b"), key_of(i, buf),
                         lapse_bytes_of("0123456789abcdef"), NULL, NULL, &load->result,
                         NULL) == LAPSE_OK;
    }
    for (size_t i = 0; i < COUNT && done; i++) {
        done = lapse_acquire(load->store, key_of(i, buf), lapse_bytes_of("w1"),
                             (struct lapse_span){2 * TERM_S * LAPSE_NS_PER_S}, &load->result,
                             NULL) == LAPSE_OK;
    }
    return done;
}

static struct lapse_bytes key_of(size_t i, unsigned char buf[KEY_BYTES]) {
    memcpy(buf, "key00000", KEY_BYTES);
    for (size_t at = KEY_BYTES; i > 0; i /= 10) {
        buf[--at] = (unsigned char)('0' + i % 10);
    }
    return (struct lapse_bytes){buf, KEY_BYTES};
}
