/* "Did you mean": how far two words lie apart, counted in letters changed, added, left out or
 * swapped with their neighbour. */
#include <string.h>

#include "args.h"

enum { WORD_MAX = 40 };

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

bool lapse_cli_near(const char *word, const char *known, size_t *ret_distance) {
    size_t rows = strlen(word), columns = strlen(known);
    if (rows == 0 || rows >= WORD_MAX || columns >= WORD_MAX) {
        return false;
    }
    size_t cost[WORD_MAX][WORD_MAX];
    for (size_t i = 0; i <= rows; i++) {
        for (size_t k = 0; k <= columns; k++) {
            if (i == 0 || k == 0) {
                cost[i][k] = i + k;
                continue;
            }
            size_t change = cost[i - 1][k - 1] + (word[i - 1] != known[k - 1]);
            cost[i][k] = least(change, least(cost[i - 1][k], cost[i][k - 1]) + 1);
            bool swapped =
                i > 1 && k > 1 && word[i - 1] == known[k - 2] && word[i - 2] == known[k - 1];
            if (swapped) {
                cost[i][k] = least(cost[i][k], cost[i - 2][k - 2] + 1);
            }
        }
    }
    *ret_distance = cost[rows][columns];
    return *ret_distance <= (columns <= 3 ? 1 : 2) || strncmp(word, known, rows) == 0;
}
