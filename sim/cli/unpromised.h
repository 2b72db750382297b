/* Breaks of what profiles do not promise, added up over runs: a text each, and how often. */
#ifndef CLI_UNPROMISED_H
#define CLI_UNPROMISED_H

#include "reports/report.h"

/* All zero at first; items[i].text is owned. */
struct lapse_cli_unpromised {
    size_t count, cap;
    struct lapse_total_unpromised *items; /* in the order of first mention */
    bool failed;                          /* memory ran out */
};

/* Adds what one run broke. */
void lapse_cli_unpromised_add(struct lapse_cli_unpromised *sums,
                              const struct lapse_result_view *view);
/* As lines of text, for the record of a file; and back, added to what is there. */
void lapse_cli_unpromised_write(const struct lapse_cli_unpromised *sums, struct lapse_out *out);
void lapse_cli_unpromised_read(struct lapse_cli_unpromised *sums, const char *text, size_t len);
void lapse_cli_unpromised_free(struct lapse_cli_unpromised *sums);

#endif
