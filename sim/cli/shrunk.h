/* Findings: what a shrunk failure is saved as, and what is said of it. `shrink` and whoever finds
 * failures share this. */
#ifndef CLI_SHRUNK_H
#define CLI_SHRUNK_H

#include "args.h"
#include "fuzz/shrink.h"
#include "small.h"

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
/* Whether it needs a fault, its thresholds, its stability, and what else was met: a line each.
 * Lines are numbered as in the finding's file. */
void lapse_cli_shrunk_draw(struct lapse_out *out, const struct lapse_shrunk *shrunk);
/* The finding's file: the document with these lines as comments, and sealed. */
void lapse_cli_shrunk_text(struct lapse_out *out, const struct lapse_shrunk *shrunk);

/* shrink_tell.c: saves what `lapse shrink` has made and tells all of it. Returns an exit code. */
int lapse_cli_shrink_tell(const struct lapse_cli_options *options, const struct lapse_plan *plan,
                          const struct lapse_cli_made *made, const struct lapse_out *text,
                          const struct lapse_out *told);

/* Where findings go unless a command says otherwise. */
#define LAPSE_CLI_FINDINGS "findings"

/* ---- finding.c. A finding ends with a seal, which no longer fits once somebody has changed it:
 * then it is not overwritten. */

/* Appends the seal of all that is there. */
void lapse_cli_finding_seal(struct lapse_out *out);
/* Whether a finding may be put at `path`; if not, err says why. */
bool lapse_cli_finding_may(const char *path, struct lapse_error *err);
/* Puts it there. OK; IO: it cannot be written, or something else stands there (err). */
enum lapse_status lapse_cli_finding_put(const struct lapse_out *text, const char *path,
                                        struct lapse_error *err);
/* Whether a folder can take findings; it need not be there yet. */
bool lapse_cli_finding_folder(const char *folder, struct lapse_error *err);
/* Saves it in the folder, which is made, as ID-DIGITS.yaml, or if other texts have that name
 * already as ID-DIGITS-2.yaml and so on. *ret_path, of `cap` bytes, is where it went, or was
 * already. OK; IO, LIMIT with a sentence. */
enum lapse_status lapse_cli_finding_add(const struct lapse_out *text, const char *folder,
                                        const char *id, char *ret_path, size_t cap,
                                        struct lapse_error *err);

#endif
