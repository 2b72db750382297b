/* Calls that may wait for ever: what lint warns of. */
#ifndef CLI_WAITS_H
#define CLI_WAITS_H

#include "contracts/diag.h"
#include "sim/plan.h"

/* Adds one warning for each call without `timeout:` that may find the store's node paused and
 * never resumed. A pause with `for:` ends. */
void lapse_cli_waits_find(const struct lapse_plan *plan, struct lapse_diag_list *diags);

#endif
