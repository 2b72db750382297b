/* Findings: what a shrunk failure is saved as, and what is said of it. `shrink` and whoever finds
 * failures share this. */
#ifndef CLI_SHRUNK_H
#define CLI_SHRUNK_H

#include "args.h"
#include "fuzz/shrink.h"

/* The sizes that a failure had on its way. */
enum { LAPSE_CLI_SIZES_MAX = 256 };
struct lapse_cli_sizes {
    size_t count;
    struct lapse_shrink_size items[LAPSE_CLI_SIZES_MAX];
};
/* A progress callback whose ctx is a struct lapse_cli_sizes. */
lapse_shrink_progress lapse_cli_sizes_take;
/* "214 > 88 > 31 events, 40 > 9 > 3 steps, 9 > 1 > 0 faults, 402 tries". */
void lapse_cli_sizes_draw(struct lapse_out *out, const struct lapse_cli_sizes *sizes,
                          const struct lapse_shrunk *shrunk);
/* Whether it needs a fault, its thresholds, its stability, and what else was met: a line each. */
void lapse_cli_shrunk_draw(struct lapse_out *out, const struct lapse_shrunk *shrunk);

/* finding.c: whether a finding may be put at `path`; if not, err says why. */
bool lapse_cli_finding_may(const char *path, struct lapse_error *err);
/* finding.c: saves the text at `path`, or, if that is NULL, as findings/ID-....yaml. *ret_path, of
 * LAPSE_CLI_PATH_MAX bytes, is where it went. OK; IO: it cannot be written, or something stands
 * there that is no finding (err says which). */
enum lapse_status lapse_cli_finding_save(const struct lapse_shrunk *shrunk, const char *path,
                                         char *ret_path, struct lapse_error *err);

#endif
