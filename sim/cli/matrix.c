/* `lapse self-test --matrix`: every planted bug in every scenario, and what each rule finds there
 * alone. The table is what contracts/README.md carries. */
#include "self.h"

int lapse_cli_matrix(const struct lapse_cli_options *options, const char *planted) {
    (void)options;
    (void)planted;
    return LAPSE_EXIT_BUG;
}
