/* From YAML text to trees. The only place where the YAML library is used is yaml.c. */
#ifndef SCENARIOS_YAML_H
#define SCENARIOS_YAML_H

#include "node.h"

struct lapse_document {
    struct lapse_node *root;               /* NULL: an empty document */
    int line_begin, line_first, line_last; /* as in a plan */
};

/* Parses guarded text into documents, appended to `ret` (items: struct lapse_document). Nodes and
 * texts live in pool; `file` is borrowed by places. Mistakes (syntax, aliases, anchors, tags,
 * duplicate keys, keys that are no words, depth) go to diags. False: memory ran out. */
bool lapse_yaml_parse(struct lapse_pool *pool, const char *file, const char *text, size_t len,
                      struct lapse_list *ret, struct lapse_diag_list *diags);

#endif
