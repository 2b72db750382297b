/* Leaving out: lines by halves, then one by one, and every word with its value. */
#include "shrink_parts.h"

#include <string.h>

/* What a client looks at before it goes on. */
#define LOOK_WORDS " careful margin need else until under token if_version bounds owner by "

static void drop_items(struct lapse_shrinker *s, size_t list);
static bool find_list(const struct lapse_shrinker *s, size_t list, struct lapse_node **ret);
static bool is_claim(const struct lapse_shrink_spot *spot, const struct lapse_node *root);
static bool try_cut(struct lapse_shrinker *s, size_t list, size_t index, size_t count);

/* From the last list to the first: what comes last is most often what nothing else needs. */
void lapse_shrink_lines(struct lapse_shrinker *s) {
    struct lapse_node *node = NULL;
    size_t lists = 0;
    if (!lapse_shrink_draft(s)) {
        return;
    }
    while (find_list(s, lists, &node)) {
        lists++;
    }
    while (lists-- > 0) {
        drop_items(s, lists);
    }
}

/* Where no rule broke, any word may be what the line that failed is about. */
void lapse_shrink_words(struct lapse_shrinker *s) {
    if (s->target.unmet || !lapse_shrink_draft(s)) {
        return;
    }
    for (size_t i = s->spots.count; i-- > 0;) {
        if (!lapse_shrink_draft(s)) {
            return;
        }
        if (i >= s->spots.count) {
            continue;
        }
        struct lapse_shrink_spot *spot = lapse_shrink_spot(s, i);
        if (spot->parent->kind == LAPSE_NODE_MAP && !lapse_shrink_guarded(s, spot->word)) {
            lapse_shrink_cut(spot->parent, spot->index, 1);
            (void)lapse_shrink_keep(s);
        }
    }
}

/* A client or a resource that is made careless breaks such a contract by itself, whatever the
 * store does: that would be another failure under the same name. */
bool lapse_shrink_guarded(const struct lapse_shrinker *s, const char *word) {
    static const struct {
        const char *contract; /* an id, or how some begin */
        const char *words;
    } guards[] = {
        {"", " lapse name "},
        {"FENCE-03", " fenced lease bar once not_after bounds locks by "},
        {"LEASE-10", " if_version locks by "},
        {"BELIEF-", LOOK_WORDS},
        {"RENEW-", LOOK_WORDS},
        {"LIVE-", LOOK_WORDS},
    };
    size_t len = strlen(word);
    if (s->options->as_written && strcmp(word, "at") == 0) {
        return true; /* without it the line comes at another instant */
    }
    bool handles = strncmp(word, "on_", 3) == 0;
    for (size_t i = 0; i < sizeof(guards) / sizeof(guards[0]); i++) {
        const char *words = guards[i].words;
        bool here = strncmp(s->target.id, guards[i].contract, strlen(guards[i].contract)) == 0;
        for (const char *at = words; here && (at = strstr(at, word)) != NULL; at++) {
            if (at[-1] == ' ' && at[len] == ' ') {
                return true;
            }
        }
        if (here && handles && strcmp(words, LOOK_WORDS) == 0) {
            return true;
        }
    }
    return false;
}

static void drop_items(struct lapse_shrinker *s, size_t list) {
    struct lapse_node *node = NULL;
    if (!lapse_shrink_draft(s) || !find_list(s, list, &node)) {
        return;
    }
    size_t left = node->count;
    for (size_t size = (left + 1) / 2; size > 0; size /= 2) {
        for (size_t end = left; end > 0;) {
            size_t from = end > size ? end - size : 0;
            if (try_cut(s, list, from, end - from)) {
                left -= end - from;
            }
            end = from;
        }
    }
}

static bool find_list(const struct lapse_shrinker *s, size_t list, struct lapse_node **ret) {
    for (size_t i = 0; i < s->spots.count; i++) {
        const struct lapse_shrink_spot *spot = lapse_shrink_spot(s, i);
        struct lapse_node *node = lapse_shrink_at(spot);
        if (node->kind == LAPSE_NODE_SEQ && !is_claim(spot, s->draft) && list-- == 0) {
            *ret = node;
            return true;
        }
    }
    return false;
}

/* A list of what must be answered or seen: without one of its items it claims something else. */
static bool is_claim(const struct lapse_shrink_spot *spot, const struct lapse_node *root) {
    static const char *const words[] = {"expect", "need", "is", "who", "in", "eq", "keys"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (spot->parent != root && strcmp(spot->word, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool try_cut(struct lapse_shrinker *s, size_t list, size_t index, size_t count) {
    struct lapse_node *node = NULL;
    if (!lapse_shrink_draft(s) || !find_list(s, list, &node) || index + count > node->count ||
        count == 0) {
        return false;
    }
    lapse_shrink_cut(node, index, count);
    return lapse_shrink_keep(s);
}
