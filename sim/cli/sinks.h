/* Where reports go. Each chosen format has one sink; a worker renders for all of them. */
#ifndef CLI_SINKS_H
#define CLI_SINKS_H

#include "args.h"
#include "select.h"

struct lapse_cli_sink {
    const lapse_format *format;
    const char *path; /* NULL: stdout */
    struct lapse_style style;
    struct lapse_out body; /* all files' bytes, joined */
    size_t index;          /* entries numbered so far */
};
struct lapse_cli_sinks {
    size_t count;
    struct lapse_cli_sink items[LAPSE_CLI_REPORTS_MAX];
};

/* Before any work: whether each report can be written where it is to go. If not, says so on
 * stderr. */
bool lapse_cli_sinks_check(const struct lapse_cli_options *options);
/* The chosen reports, and pretty on stdout unless another report goes there. */
void lapse_cli_sinks_open(const struct lapse_cli_options *options,
                          const struct lapse_cli_selection *selection, struct lapse_cli_sinks *ret);
void lapse_cli_sinks_close(struct lapse_cli_sinks *sinks);
/* Writes begin, body and end of each. False when one could not be written (said on stderr). */
bool lapse_cli_sinks_write(struct lapse_cli_sinks *sinks, const struct lapse_totals *totals,
                           const char *replay);

#endif
