/* "Did you mean": the one way in which a mistyped word is compared with known ones, in scenarios,
 * in recorded histories and on the command line. */
#ifndef CONTRACTS_NEAREST_H
#define CONTRACTS_NEAREST_H

#include <stddef.h>

/* Keeps the nearest of the words it was shown: at most two letters away, and nearer than half of
 * the word. Ties go to the one shown first. */
struct lapse_nearest {
    const char *seen;
    const char *best;
    size_t distance;
};
void lapse_nearest_begin(struct lapse_nearest *nearest, const char *seen);
/* `word` must outlive the use of `best`. */
void lapse_nearest_offer(struct lapse_nearest *nearest, const char *word);

#endif
