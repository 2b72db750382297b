/* Codes that a user types: kv-01, Y104, W002. */
#ifndef CLI_CODES_H
#define CLI_CODES_H

#include "contracts/rule.h"
#include "scenarios/load.h"

/* Each finds its own kind in any case of letters, or returns NULL or false. */
const struct lapse_contract *lapse_cli_contract_find(const char *code);
bool lapse_cli_mistake_find(const char *code, struct lapse_mistake *ret);
/* What may have been meant, or NULL. */
const char *lapse_cli_code_nearest(const char *code, bool contracts_only);

#endif
