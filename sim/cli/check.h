/* Judging a recorded history: what `check` does with one file. */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include "contracts/linear_problem.h"
#include "reports/recorded.h"
#include "runner.h"
#include "sinks.h"

enum lapse_cli_form { LAPSE_FORM_LAPSE = 1, LAPSE_FORM_ETCD, LAPSE_FORM_KV };

/* One file as judged. */
struct lapse_cli_checked {
    const char *path;
    bool tally; /* nothing ends the judging: the breaks are counted by rule */
    enum lapse_cli_form form;
    struct lapse_cli_bytes bytes;
    struct lapse_recorded recorded;        /* of a log of another form: without events */
    struct lapse_diag_list unread;         /* used if the file cannot be read */
    struct lapse_linear_problems problems; /* what a search is asked for each name; may be none */
    struct lapse_judge *judge;
    struct lapse_verdict verdict; /* the judge's, with what the search found */
    struct lapse_diag_list diags; /* of `verdict` */
    struct lapse_out judged;      /* lines: which contracts were judged, which not, and why */
    struct lapse_out certificate; /* JSON lines */
    struct lapse_error err;
    struct lapse_result_view view;
    bool ready; /* there is a view; else mistakes */
};

/* Sums over the files, and where the reports go. */
struct lapse_cli_check_work {
    const struct lapse_cli_options *options;
    struct lapse_cli_sinks sinks;
    struct lapse_totals totals;
    struct lapse_tally *tallies; /* by rule */
    struct lapse_out replay;       /* of the first failure */
    struct lapse_out certificates; /* of all files */
};
/* check_sum.c: adds a file that was judged, or that has mistakes. */
void lapse_cli_check_sum(struct lapse_cli_check_work *work,
                         const struct lapse_cli_checked *checked);

/* certificate.c: whether --certificate may be written; complains if not. Then, writes it (NULL:
 * nothing is asked for); complains, and returns false, if that fails. */
bool lapse_cli_certificate_free(const struct lapse_cli_options *options);
bool lapse_cli_certificate_write(const char *path, const struct lapse_out *text);

/* Reads and judges. Returns OK; INVALID: mistakes (lapse_cli_checked_diags); NOMEM. */
enum lapse_status lapse_cli_check_file(const struct lapse_cli_options *options, const char *path,
                                       struct lapse_cli_checked *ret);
const struct lapse_diag_list *lapse_cli_checked_diags(const struct lapse_cli_checked *checked);
void lapse_cli_checked_free(struct lapse_cli_checked *checked);
/* check_linear.c: looks for an order of the calls of each problem. What it finds goes into verdict,
 * `judged` and `certificate`. Returns OK or NOMEM. */
enum lapse_status lapse_cli_check_linear(struct lapse_cli_checked *checked);
/* The form called `name` (NULL: as the bytes look); 0: none. */
enum lapse_cli_form lapse_cli_form_find(const char *name, const char *bytes, size_t count);

#endif
