/* The shape of a scenario: its document without what it expects. */
#ifndef FUZZ_SHAPE_H
#define FUZZ_SHAPE_H

#include "scenarios/node.h"

/* Changes the document in place: nothing is expected, no verdict but `violates` is left, and
 * where a line says nothing of other answers its client stops. */
void lapse_shape(struct lapse_pool *pool, struct lapse_node *document);

/* Whether a line is a call, which gets an answer. */
bool lapse_shape_calls(const struct lapse_node *line);

#endif
