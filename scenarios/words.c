/* Lookups over the one table of words. The table is small, so a walk is as good as an index. */
#include "words.h"

#include <string.h>

enum { NEAR_MAX = 2, LONG_WORD = 32 };

static size_t distance_of(const char *a, const char *b);

const struct lapse_word *lapse_word_find(enum lapse_word_kind kind, const char *word) {
    size_t count = 0;
    const struct lapse_word *table = lapse_word_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (table[i].kind == kind && table[i].word[0] == word[0] &&
            strcmp(table[i].word, word) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

bool lapse_words_have(const char *words, const char *word) {
    size_t len = strlen(word);
    const char *at = words;
    while (at != NULL && len > 0) {
        at = strstr(at, word);
        if (at == NULL) {
            return false;
        }
        bool begins = at == words || at[-1] == ' ';
        bool ends = at[len] == ' ' || at[len] == '\0';
        if (begins && ends) {
            return true;
        }
        at++;
    }
    return false;
}

const char *lapse_words_next(const char *words, char *buf, size_t cap) {
    if (words == NULL || *words == '\0') {
        return NULL;
    }
    size_t len = strcspn(words, " ");
    LAPSE_ASSERT(len < cap);
    memcpy(buf, words, len);
    buf[len] = '\0';
    return words[len] == ' ' ? words + len + 1 : words + len;
}

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

void lapse_nearest_offer_kind(struct lapse_nearest *nearest, enum lapse_word_kind kind) {
    size_t count = 0;
    const struct lapse_word *table = lapse_word_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (table[i].kind == kind && table[i].stage == 1) {
            lapse_nearest_offer(nearest, table[i].word);
        }
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
