/* One line of text for a reader, built up in a caller's buffer and cut with "..." where it ends:
 * spans with units, dates as dates, values as they were written. Private to contracts. */
#ifndef CONTRACTS_LINE_H
#define CONTRACTS_LINE_H

#include "contracts/expect.h"

#include <stdarg.h>

struct lapse_line {
    char *buf;
    size_t cap, len;
    bool cut;
};

/* An empty line in buf; cap >= 4. */
void lapse_line_begin(struct lapse_line *line, char *buf, size_t cap);
void lapse_line_add(struct lapse_line *line, const char *format, ...) LAPSE_PRINTF(2, 3);
void lapse_line_bytes(struct lapse_line *line, struct lapse_bytes bytes);
void lapse_line_span(struct lapse_line *line, int64_t ns);
void lapse_line_value(struct lapse_line *line, const struct lapse_value *value);

/* Formats into text (cap >= 4) and ends in "..." what does not fit, never inside a character. */
void lapse_line_format(char *text, size_t cap, const char *format, va_list args) LAPSE_PRINTF(3, 0);

/* A value as the bytes that a text with names gets in its place; may use `scratch`
 * (LAPSE_TIME_TEXT_MAX bytes). */
struct lapse_bytes lapse_value_bytes(const struct lapse_value *value, char *scratch);

#endif
