/* Loading a file and running one plan of it: what `run`, `replay` and `lint` share. */
#ifndef CLI_RUNNER_H
#define CLI_RUNNER_H

#include "args.h"
#include "reports/report.h"
#include "scenarios/load.h"
#include "select.h"
#include "sim/world.h"

/* read.c: reads a regular file and loads it. Returns as lapse_file_load does; or IO: it cannot be
 * read (err says why, ret is as it was). */
enum lapse_status lapse_cli_read(const char *path, struct lapse_file *ret, struct lapse_error *err);

/* The bytes of a regular file, or its first `most`; `what` it should be is for messages. Returns
 * OK, IO or NOMEM; free *ret in each case. */
struct lapse_cli_bytes {
    char *data;
    size_t count, cap;
};
enum lapse_status lapse_cli_bytes_read(const char *path, const char *what, size_t most,
                                       struct lapse_cli_bytes *ret, struct lapse_error *err);
void lapse_cli_bytes_free(struct lapse_cli_bytes *bytes);

/* A file as loaded. If it cannot be read, diags has one mistake with code Y000. */
struct lapse_cli_file {
    struct lapse_file loaded;
    struct lapse_diag_list unread; /* used if the loader could not read it */
    bool readable;
    struct lapse_source source;
    bool *repeats; /* by plan: lapse_names_repeat says so */
};
/* Returns OK, INVALID (mistakes: see lapse_cli_file_diags) or NOMEM. */
enum lapse_status lapse_cli_file_open(const char *path, struct lapse_cli_file *ret);
/* The same for a text in memory. */
enum lapse_status lapse_cli_file_text(const char *name, const char *text, size_t bytes,
                                      struct lapse_cli_file *ret);
void lapse_cli_file_close(struct lapse_cli_file *file);
const struct lapse_diag_list *lapse_cli_file_diags(const struct lapse_cli_file *file);
/* Draws each diagnostic on stdout, with its lines if the file could be read. */
void lapse_cli_diags_show(const struct lapse_cli_file *file, const struct lapse_diag_list *diags,
                          const struct lapse_style *style);

/* Whether a plan is chosen by the target's lines and by --row and -k. */
bool lapse_cli_chosen(const struct lapse_cli_options *options,
                      const struct lapse_cli_target *target, const struct lapse_plan *plan);

/* place.c: nothing stands at the target's address; says what does, on stderr. Returns NOTHING. */
int lapse_cli_complain_place(const struct lapse_cli_options *options,
                             const struct lapse_cli_target *target,
                             const struct lapse_cli_file *file);
/* Nothing was selected: says on stderr where was looked and for what, and the way out. Returns
 * NOTHING. */
int lapse_cli_complain_nothing(const struct lapse_cli_options *options,
                               const struct lapse_cli_selection *selection);

/* Patterns of `sometimes` that came true over the runs of one document so far. */
struct lapse_cli_document {
    int32_t number; /* -1: none yet */
    size_t rows_run;
    bool failed;
    bool came_true[LAPSE_SOMETIMES_MAX];
    size_t rows, rows_chosen; /* of them all */
};

enum { LAPSE_CLI_NOTE_MAX = 96 };
/* One finished run. Its memory is in `run`, `again` and `lowered`. */
struct lapse_cli_result {
    struct lapse_run run;
    struct lapse_again again; /* --check-determinism; no history: not asked for */
    struct lapse_parting parting;
    struct lapse_result_view view;
    struct lapse_verdict lowered; /* the verdict, where an unmet `sometimes` lowers it */
    struct lapse_error err;
    char why[LAPSE_ERROR_MESSAGE_MAX + 64];
    char note[LAPSE_CLI_NOTE_MAX];
    bool ran;
    bool pinned; /* the document has a seed of its own */
};
/* Which plans of a file run: what lapse_cli_chosen looks at. */
struct lapse_cli_choice {
    const struct lapse_cli_options *options;
    const struct lapse_cli_target *target;
    struct lapse_arena *arena; /* as in lapse_world_options */
    bool listed;               /* the seed draws nothing: these are the choices, and 0 the rest */
    const struct lapse_choice *list;
    size_t list_count;
};
/* Runs plans[index] of the file under one seed and judges it. */
void lapse_cli_plan_run(const struct lapse_cli_file *file, size_t index,
                        struct lapse_cli_choice choice, uint64_t seed,
                        struct lapse_cli_result *ret);
/* Whether another seed could tell more: the run passed, and chance had a part in it. */
bool lapse_cli_result_varies(const struct lapse_cli_result *result);
/* sometimes.c: takes a run of a row up in its document (zeroed but for number -1 at first). `last`:
 * no other seed of this row runs; the document's last row then has its verdict lowered, or a note
 * that rows are missing. */
void lapse_cli_document_follow(const struct lapse_cli_file *file, size_t index,
                               struct lapse_cli_choice choice, bool last,
                               struct lapse_cli_document *document,
                               struct lapse_cli_result *result);
void lapse_cli_result_free(struct lapse_cli_result *result);
/* Selects what options->paths[0] names, which must be one file, and has `work` do the rest; else
 * complains, with `wanted` where it is not one. Returns an exit code. */
int lapse_cli_one_target(const struct lapse_cli_options *options, const char *wanted,
                         int (*work)(const struct lapse_cli_options *options,
                                     const struct lapse_cli_target *target));
/* Which of two exit codes of runs is told: the one of the higher rank. */
int lapse_cli_exit_worse(int a, int b);
/* True time at the end of the run. */
int64_t lapse_cli_result_ns(const struct lapse_cli_result *result);

#endif
