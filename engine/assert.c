/* What a failed assertion does. It is a function, so that every check costs one call site and a
 * debugger has one place to stop. */
#include "lapse/base.h"

#include <stdio.h>
#include <stdlib.h>

void lapse_assert_failed(const char *condition, const char *file, int line) {
    (void)fprintf(stderr, "lapse: a bug of its own: `%s` does not hold at %s:%d\n", condition, file,
                  line);
    abort();
}
