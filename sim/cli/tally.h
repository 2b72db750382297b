/* What `--report tally` writes, read back. */
#ifndef CLI_TALLY_H
#define CLI_TALLY_H

#include "lapse/base.h"

/* One scenario's line. The texts point into the line and end at a tab, or at its end. */
struct lapse_cli_tally {
    struct lapse_bytes outcome, id, rules, file, name;
    int64_t event, events;
    int line;
};

/* Reads the line at *at and moves on. False at the end; a line that cannot be read has the outcome
 * "unread". */
bool lapse_cli_tally_read(const char *text, size_t len, size_t *at, struct lapse_cli_tally *ret);
/* Whether the rules of the line have one of this contract. *ret_event is the first event that broke
 * it. */
bool lapse_cli_tally_has(const struct lapse_cli_tally *tally, const char *id, int64_t *ret_event);
/* The next "ID=count@event" of rules at *at; false: no more. */
bool lapse_cli_tally_next(const struct lapse_cli_tally *tally, size_t *at, struct lapse_bytes *ret,
                          int64_t *ret_event);
/* Whether it is the document called `name`, or a row of it. */
bool lapse_cli_tally_named(const struct lapse_cli_tally *tally, const char *file, const char *name);
bool lapse_cli_tally_is(struct lapse_bytes word, const char *text);

#endif
