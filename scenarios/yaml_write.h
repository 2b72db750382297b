/* A tree as YAML text, as a person would write it. */
#ifndef SCENARIOS_YAML_WRITE_H
#define SCENARIOS_YAML_WRITE_H

#include "node.h"
#include "scenarios/emit.h"

enum { LAPSE_YAML_WIDTH = 100 };

/* Appends the document, a map. OK; NOMEM; INVALID: a text holds what no file may. */
enum lapse_status lapse_yaml_write(const struct lapse_node *document, struct lapse_emitted *ret,
                                   struct lapse_error *err);
/* Appends bytes; false: memory ran out. */
bool lapse_emitted_append(struct lapse_emitted *emitted, const char *text, size_t len);

#endif
