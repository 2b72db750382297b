/* Shrinking as a program does it: in a process of its own, so that what a run dies of, or what it
 * takes too long for, ends nothing else. */
#ifndef CLI_SMALL_H
#define CLI_SMALL_H

#include "args.h"
#include "fuzz/shrink.h"

enum { LAPSE_CLI_ID_BYTES = 16 };

struct lapse_cli_small_job {
    /* Shrinks `what` by these options, of which process and arena are the callee's to use. */
    enum lapse_status (*make)(const void *what, const struct lapse_shrink_options *options,
                              struct lapse_shrunk *ret, struct lapse_error *err);
    const void *what;
    uint64_t seed;
    size_t tries_max;
    unsigned seconds_max; /* of processor time; 0: no bound */
    bool no_model, promise_strict, as_written;
};

/* What it came to. */
struct lapse_cli_made {
    enum lapse_status status; /* of the shrinker; BUG: it died, or took too long */
    struct lapse_error err;
    bool fails, minimal, needs_fault, stable, pinned;
    char id[LAPSE_CLI_ID_BYTES]; /* the contract charged */
    size_t thresholds, tries;
    struct lapse_shrink_size before, after;
};

/* Fills *ret and appends to `text` the finding's file, and to `told` a line of sizes and the lines
 * that say why it fails. OK; NOMEM; IO: no process could be made (err). */
enum lapse_status lapse_cli_small(const struct lapse_cli_small_job *job, struct lapse_out *text,
                                  struct lapse_out *told, struct lapse_cli_made *ret,
                                  struct lapse_error *err);

#endif
