/* One list of calls and answers that every store must give, whatever keeps its rows. It needs no
 * test framework, so it runs under any sanitizer. */
#ifndef ENGINE_CONFORMANCE_H
#define ENGINE_CONFORMANCE_H

#include "lapse/lapse.h"

enum { CONFORMANCE_MESSAGE_MAX = 2048 };

/* How to open the store under test; a second open finds what the first has left. */
struct conformance_store {
    enum lapse_status (*open)(void *ctx, const struct lapse_options *options, struct lapse **ret,
                              struct lapse_error *err);
    void *ctx;
    bool reopens; /* close and open again after each step that allows it */
};

/* Runs the list. True, or false with a message that names the step, the answer wanted and the
 * answer seen. */
bool conformance_run(const struct conformance_store *store, char *message);
/* lapse_open; ctx is not used. */
enum lapse_status conformance_memory(void *ctx, const struct lapse_options *options,
                                     struct lapse **ret, struct lapse_error *err);
/* lapse_open_file on the path ctx. */
enum lapse_status conformance_file(void *ctx, const struct lapse_options *options,
                                   struct lapse **ret, struct lapse_error *err);
/* A step: `at` is store time, `wall` a step of the wall before it. One that is `held` is not
 * followed by a reopen: what it leaves lives as long as the handle. A poll and an unwatch are of
 * the last watcher, whatever number it has. */
struct conformance_step {
    int64_t at;
    struct lapse_command command;
    const char *answer;
    int64_t wall;
    bool held;
};

extern const struct conformance_step conformance_steps[];
extern const size_t conformance_step_count;

/* Which verbs the list calls: a bit each, 1 << verb. */
uint64_t conformance_verbs(void);

#endif
