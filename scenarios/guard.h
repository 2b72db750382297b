/* The guard before the YAML library: it turns away every input that the library was seen to crash,
 * hang or swell on, and everything that could hide text from a reader. */
#ifndef SCENARIOS_GUARD_H
#define SCENARIOS_GUARD_H

#include "contracts/diag.h"

enum {
    LAPSE_GUARD_DEPTH_MAX = 32,     /* brackets open at one place */
    LAPSE_GUARD_NODES_MAX = 100000, /* commas, colons, brackets and lines of a file */
    LAPSE_GUARD_DOCUMENTS_MAX = 1000
};

/* True if the bytes may be parsed; else one mistake was noted, the first by place. */
bool lapse_guard_check(const char *file, const char *bytes, size_t byte_count,
                       struct lapse_diag_list *diags);

#endif
