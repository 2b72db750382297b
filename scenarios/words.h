/* Looking things up in the table of words, and "did you mean". */
#ifndef SCENARIOS_WORDS_H
#define SCENARIOS_WORDS_H

#include "scenarios/load.h"
#include "contracts/nearest.h"

/* The word of this kind, or NULL. */
const struct lapse_word *lapse_word_find(enum lapse_word_kind kind, const char *word);
/* Whether `word` stands in a list of words parted by spaces (NULL: empty). */
bool lapse_words_have(const char *words, const char *word);
/* Copies the next word of such a list into buf and returns what is left, or NULL at the end. */
const char *lapse_words_next(const char *words, char *buf, size_t cap);

/* Offers all words of one kind that run now. */
void lapse_nearest_offer_kind(struct lapse_nearest *nearest, enum lapse_word_kind kind);

#endif
