/* Changing documents. */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include "fuzz/generate.h"

/* A changed copy of `document`, with lines of `other` (NULL: none) spliced in now and then. NULL:
 * memory ran out. */
struct lapse_node *lapse_mutate(struct lapse_pool *pool, struct lapse_choices *choices,
                                struct lapse_diversity *diversity,
                                const struct lapse_node *document, const struct lapse_node *other);
/* The same, but only what happens to the clients is changed, never what they do: faults are added,
 * moved and taken away, times of `steps` move, numbers of `vary` are drawn. */
struct lapse_node *lapse_mutate_world(struct lapse_pool *pool, struct lapse_choices *choices,
                                      struct lapse_diversity *diversity,
                                      const struct lapse_node *document);
/* Adds one fault, or more, to the generator's idea of a document (generate_fault.c). */
struct lapse_generator;
void lapse_gen_from(struct lapse_generator *g, struct lapse_node *document);

#endif
