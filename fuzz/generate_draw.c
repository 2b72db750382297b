/* Traits: the table, drawing from it, and how often each option came. */
#include "generator.h"

#include <stdlib.h>
#include <string.h>

static const struct lapse_trait_row rows[] = {
#define LAPSE_TRAIT_ROW(id, word, options) {word, options},
    LAPSE_TRAIT_TABLE(LAPSE_TRAIT_ROW)
#undef LAPSE_TRAIT_ROW
};

_Static_assert((int)LAPSE_TRAITS <= (int)LAPSE_TRAITS_MAX, "traits are counted in rows of a table");

static uint64_t known_of(struct lapse_generator *g, enum lapse_trait trait);
static bool next_option(const char **at, size_t *ret_weight, struct lapse_bytes *ret);

const struct lapse_trait_row *lapse_trait_row(size_t at) {
    return at < LAPSE_TRAITS ? &rows[at] : NULL;
}

bool lapse_trait_option(const struct lapse_trait_row *row, size_t at, struct lapse_bytes *ret) {
    const char *text = row->options;
    size_t weight = 0;
    bool there = next_option(&text, &weight, ret);
    for (; there && at > 0; at--) {
        there = next_option(&text, &weight, ret);
    }
    return there;
}

void lapse_diversity_join(struct lapse_diversity *diversity, const struct lapse_diversity *other) {
    for (size_t i = 0; i < LAPSE_TRAITS; i++) {
        for (size_t k = 0; k < LAPSE_TRAIT_OPTIONS_MAX; k++) {
            diversity->counts[i][k] += other->counts[i][k];
        }
    }
}

size_t lapse_gen_pick(struct lapse_generator *g, enum lapse_trait trait) {
    struct lapse_bytes option;
    uint64_t known = known_of(g, trait);
    size_t weight = 0, total = 0, at = 0, drawn_at = 0;
    for (const char *text = rows[trait].options; next_option(&text, &weight, &option); at++) {
        total += (known >> at & 1) != 0 ? weight : 0;
    }
    uint64_t drawn = lapse_choose(g->choices, total, LAPSE_CHOICE_GENERATE, (int32_t)trait);
    const char *text = rows[trait].options;
    for (at = 0; next_option(&text, &weight, &option); at++) {
        weight = (known >> at & 1) != 0 ? weight : 0;
        if (drawn < weight) {
            drawn_at = at;
            break;
        }
        drawn -= weight;
    }
    g->diversity->counts[trait][drawn_at]++;
    return drawn_at;
}

/* The options that the document knows, as bits. A narrow one draws them once, about half of each
 * trait's: with few kinds of lines, those that belong together meet. */
static uint64_t known_of(struct lapse_generator *g, enum lapse_trait trait) {
    struct lapse_bytes option;
    size_t count = 0, weight = 0;
    if (!g->narrow) {
        return UINT64_MAX;
    }
    for (const char *text = rows[trait].options; next_option(&text, &weight, &option);) {
        count++;
    }
    for (size_t at = 0; g->known[trait] == 0 && at < count; at++) {
        g->known[trait] |= lapse_choose(g->choices, 2, LAPSE_CHOICE_GENERATE,
                                        (int32_t)LAPSE_TRAITS_MAX + 8) == 0
                               ? UINT64_C(1) << at
                               : 0;
    }
    g->known[trait] = g->known[trait] == 0 ? UINT64_MAX : g->known[trait];
    return g->known[trait];
}

const char *lapse_gen_word(struct lapse_generator *g, enum lapse_trait trait) {
    struct lapse_bytes option = {0};
    (void)lapse_trait_option(&rows[trait], lapse_gen_pick(g, trait), &option);
    const char *word = lapse_pool_text(g->pool, (const char *)option.data, option.len);
    return word != NULL ? word : "";
}

bool lapse_gen_is(struct lapse_generator *g, enum lapse_trait trait, const char *word) {
    return strcmp(lapse_gen_word(g, trait), word) == 0;
}

int64_t lapse_gen_span(struct lapse_generator *g, enum lapse_trait trait) {
    const char *word = lapse_gen_word(g, trait);
    struct lapse_span span = {LAPSE_NS_PER_S};
    size_t used = 0;
    (void)lapse_span_scan(word, strlen(word), &span, &used);
    return span.ns;
}

bool lapse_gen_has(const struct lapse_gen_words *words, const char *word) {
    bool has = false;
    for (size_t i = 0; i < words->count; i++) {
        has = has || strcmp(words->words[i], word) == 0;
    }
    return has;
}

/* `3*word|other`: the weight is 1 unless it is written. */
static bool next_option(const char **at, size_t *ret_weight, struct lapse_bytes *ret) {
    const char *text = *at;
    if (*text == '\0') {
        return false;
    }
    size_t digits = strspn(text, "0123456789");
    *ret_weight = 1;
    if (digits > 0 && text[digits] == '*') {
        *ret_weight = (size_t)strtoul(text, NULL, 10);
        text += digits + 1;
    }
    size_t len = strcspn(text, "|");
    *ret = (struct lapse_bytes){(const unsigned char *)text, len};
    *at = text + len + (text[len] == '|');
    return true;
}
