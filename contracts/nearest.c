/* How far two words lie apart, and which of many lies nearest. */
#include "contracts/nearest.h"

#include <stdbool.h>
#include <string.h>

enum { NEAR_MAX = 2, LONG_WORD = 32 };

static size_t distance_of(const char *a, const char *b);

void lapse_nearest_begin(struct lapse_nearest *nearest, const char *seen) {
    *nearest = (struct lapse_nearest){.seen = seen, .distance = NEAR_MAX + 1};
}

void lapse_nearest_offer(struct lapse_nearest *nearest, const char *word) {
    size_t distance = distance_of(nearest->seen, word);
    if (distance < nearest->distance && 2 * distance < strlen(nearest->seen) + 1) {
        nearest->distance = distance;
        nearest->best = word;
    }
}

/* How many letters must be added, taken away or changed, or two neighbours swapped; NEAR_MAX + 1
 * stands for "too many". */
static size_t distance_of(const char *a, const char *b) {
    size_t a_len = strlen(a);
    size_t b_len = strlen(b);
    size_t apart = a_len > b_len ? a_len - b_len : b_len - a_len;
    if (apart > NEAR_MAX || a_len > LONG_WORD || b_len > LONG_WORD) {
        return NEAR_MAX + 1;
    }
    size_t rows[3][LONG_WORD + 1]; /* the row two above, the one above, this one */
    for (size_t j = 0; j <= b_len; j++) {
        rows[1][j] = j;
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_len; i++) {
        rows[2][0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t change = rows[1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            size_t take = rows[1][j] + 1;
            size_t add = rows[2][j - 1] + 1;
            size_t best = change < take ? change : take;
            best = best < add ? best : add;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && rows[0][j - 2] + 1 < best) {
                best = rows[0][j - 2] + 1;
            }
            rows[2][j] = best;
        }
        memcpy(rows[0], rows[1], sizeof(rows[0]));
        memcpy(rows[1], rows[2], sizeof(rows[1]));
    }
    return rows[1][b_len];
}
