/* Scenario text to trees and back. The only place where the YAML library is used is yaml.c. */
#ifndef SCENARIOS_YAML_H
#define SCENARIOS_YAML_H

#include "scenarios/emit.h"
#include "scenarios/node.h"

enum { LAPSE_YAML_WIDTH = 100 };

struct lapse_document {
    struct lapse_node *root;               /* NULL: an empty document */
    int line_begin, line_first, line_last; /* as in a plan */
};

/* Parses guarded text into documents, appended to `ret` (items: struct lapse_document). Nodes and
 * texts live in pool; `file` is borrowed by places. Mistakes (syntax, aliases, anchors, tags,
 * duplicate keys, keys that are no words, depth) go to diags. False: memory ran out. */
bool lapse_yaml_parse(struct lapse_pool *pool, const char *file, const char *text, size_t len,
                      struct lapse_list *ret, struct lapse_diag_list *diags);
/* Appends the document, a map, as a person would write it. OK; NOMEM; INVALID: a text holds what no
 * file may. */
enum lapse_status lapse_yaml_write(const struct lapse_node *document, struct lapse_emitted *ret,
                                   struct lapse_error *err);
/* Appends bytes; false: memory ran out. */
bool lapse_emitted_append(struct lapse_emitted *emitted, const char *text, size_t len);

#endif
