/* Loading a file and running one plan of it: what `run`, `replay` and `lint` share. */
#ifndef CLI_RUNNER_H
#define CLI_RUNNER_H

#include "args.h"
#include "reports/report.h"
#include "scenarios/load.h"
#include "select.h"
#include "sim/world.h"

/* A file as loaded. If it cannot be read, diags has one mistake with code Y000. */
struct lapse_cli_file {
    struct lapse_file loaded;
    struct lapse_diag_list unread; /* used if the loader could not read it */
    bool readable;
    struct lapse_source source;
};
/* Returns OK, INVALID (mistakes: see lapse_cli_file_diags) or NOMEM. */
enum lapse_status lapse_cli_file_open(const char *path, struct lapse_cli_file *ret);
void lapse_cli_file_close(struct lapse_cli_file *file);
const struct lapse_diag_list *lapse_cli_file_diags(const struct lapse_cli_file *file);
/* Draws each diagnostic on stdout, with its lines if the file could be read. */
void lapse_cli_diags_show(const struct lapse_cli_file *file, const struct lapse_diag_list *diags,
                          const struct lapse_style *style);

/* Whether a plan is chosen by the target's lines and by --row and -k. */
bool lapse_cli_chosen(const struct lapse_cli_options *options,
                      const struct lapse_cli_target *target, const struct lapse_plan *plan);

/* Patterns of `sometimes` that came true over the runs of one document so far. */
struct lapse_cli_document {
    int32_t number; /* -1: none yet */
    size_t rows_run;
    bool failed;
    bool came_true[LAPSE_SOMETIMES_MAX];
};

/* One finished run. Its memory is in `run` and `lowered`. */
struct lapse_cli_result {
    struct lapse_run run;
    struct lapse_result_view view;
    struct lapse_verdict lowered; /* the verdict, where an unmet `sometimes` lowers it */
    struct lapse_error err;
    char why[LAPSE_ERROR_MESSAGE_MAX + 64];
    bool ran;
};
/* Runs plans[index] of the file and judges it, together with the rows of its document that ran
 * before (document is carried from run to run, zeroed but for number -1). */
void lapse_cli_plan_run(const struct lapse_cli_file *file, size_t index, uint64_t seed,
                        struct lapse_cli_document *document, struct lapse_cli_result *ret);
void lapse_cli_result_free(struct lapse_cli_result *result);
/* True time at the end of the run. */
int64_t lapse_cli_result_ns(const struct lapse_cli_result *result);

#endif
