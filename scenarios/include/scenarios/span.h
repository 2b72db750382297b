/* Durations as the language writes them: `15m-1ns`, `3*10s`. */
#ifndef SCENARIOS_SPAN_H
#define SCENARIOS_SPAN_H

#include "lapse/time.h"

enum { LAPSE_SPAN_TEXT_MAX = 2 * LAPSE_TIME_TEXT_MAX };

/* Reads a whole text as a duration with arithmetic, of any sign. False: it is none. */
bool lapse_span_read(const char *text, size_t len, int64_t *ret_ns);
/* Writes the shortest text of `ns` to ret, LAPSE_SPAN_TEXT_MAX bytes. */
void lapse_span_write(int64_t ns, char *ret);

#endif
