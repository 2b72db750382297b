/* The generator: documents drawn from a seed.
 *
 * A document first draws which subjects, clients and kinds of faults it has, few or many, and then
 * its lines; their times lean to landmarks, the instants at which something written so far ends or
 * is due, and a nanosecond beside. All chance comes through a choice, so that a seed and a document
 * are one. Lines hold no chance of their own and expect nothing: contracts judge, not answers. What
 * a document does lies within what is promised, so that a broken rule is a finding. */
#ifndef FUZZ_GENERATE_H
#define FUZZ_GENERATE_H

#include "scenarios/node.h"
#include "sim/choice.h"

enum { LAPSE_TRAITS_MAX = 128, LAPSE_TRAIT_OPTIONS_MAX = 40 };

/* How often each option of each trait was drawn. */
struct lapse_diversity {
    uint64_t counts[LAPSE_TRAITS_MAX][LAPSE_TRAIT_OPTIONS_MAX];
};
void lapse_diversity_join(struct lapse_diversity *diversity, const struct lapse_diversity *other);

/* A trait's word and the words of its options, parted by bars; `3*x` is drawn three times as often
 * as `x`. NULL: there are not so many traits. */
struct lapse_trait_row {
    const char *word, *options;
};
const struct lapse_trait_row *lapse_trait_row(size_t at);
/* The at-th option's word; false: there are not so many. */
bool lapse_trait_option(const struct lapse_trait_row *row, size_t at, struct lapse_bytes *ret);

/* Draws one document of the pool. `profile`: its word; NULL: it is drawn too. NULL: memory ran
 * out. */
struct lapse_node *lapse_generate(struct lapse_pool *pool, struct lapse_choices *choices,
                                  const char *profile, struct lapse_diversity *diversity);

#endif
