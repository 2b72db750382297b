/* Mistakes of a file: their codes, and how one is noted. */
#ifndef SCENARIOS_MISTAKES_H
#define SCENARIOS_MISTAKES_H

#include "contracts/diag.h"

enum { LAPSE_MISTAKES_MAX = 200 }; /* of one file; what comes after is left out and said so */

/* Notes a mistake; the same one at the same place is noted once (rows and copies find it again).
 * Returns it, or NULL when it is left out; diag.h's functions accept NULL. */
struct lapse_diag *lapse_mistake_add(struct lapse_diag_list *diags, const char *code,
                                     struct lapse_place place, const char *label,
                                     const char *format, ...) LAPSE_PRINTF(5, 6);

#endif
