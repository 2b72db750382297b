/* `lapse version`. */
#include <stdio.h>

#include "args.h"

int lapse_cli_version(const struct lapse_cli_options *options) {
    (void)options;
    printf("lapse %s\n", LAPSE_CLI_VERSION);
    return LAPSE_EXIT_PASSED;
}
