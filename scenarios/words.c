/* Lookups over the one table of words. The table is small, so a walk is as good as an index. */
#include "words.h"

#include <string.h>

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

void lapse_nearest_offer_kind(struct lapse_nearest *nearest, enum lapse_word_kind kind) {
    size_t count = 0;
    const struct lapse_word *table = lapse_word_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (table[i].kind == kind && table[i].stage <= LAPSE_STAGE_NOW) {
            lapse_nearest_offer(nearest, table[i].word);
        }
    }
}
