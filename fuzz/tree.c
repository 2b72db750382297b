/* Trees of documents. Lists and maps grow by copies: they are short, and a pool forgets nothing. */
#include "tree.h"

#include "scenarios/span.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct lapse_node *make(struct lapse_pool *pool, enum lapse_node_kind kind);

struct lapse_node *lapse_tree_map(struct lapse_pool *pool) {
    return make(pool, LAPSE_NODE_MAP);
}

struct lapse_node *lapse_tree_seq(struct lapse_pool *pool) {
    return make(pool, LAPSE_NODE_SEQ);
}

struct lapse_node *lapse_tree_text(struct lapse_pool *pool, const char *format, ...) {
    char text[LAPSE_TREE_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    struct lapse_node *node = make(pool, LAPSE_NODE_SCALAR);
    if (node != NULL) {
        node->len = strlen(text);
        node->text = lapse_pool_text(pool, text, node->len);
    }
    return node == NULL || node->text == NULL ? NULL : node;
}

/* What lies a nanosecond beside a whole millisecond is written so. */
struct lapse_node *lapse_tree_span(struct lapse_pool *pool, int64_t ns) {
    char text[LAPSE_SPAN_TEXT_MAX];
    lapse_span_write(ns, text);
    return lapse_tree_text(pool, "%s", text);
}

void lapse_tree_put(struct lapse_pool *pool, struct lapse_node *map, const char *word,
                    struct lapse_node *value) {
    if (map == NULL || value == NULL) {
        return;
    }
    struct lapse_node *key = lapse_tree_text(pool, "%s", word);
    if (key != NULL) {
        (void)lapse_node_put(pool, map, key, value);
    }
}

void lapse_tree_say(struct lapse_pool *pool, struct lapse_node *map, const char *word,
                    const char *text) {
    lapse_tree_put(pool, map, word, lapse_tree_text(pool, "%s", text));
}

void lapse_tree_drop(struct lapse_node *map, const char *word) {
    int64_t at = lapse_node_index(map, word);
    if (at < 0) {
        return;
    }
    size_t behind = map->count - (size_t)at - 1;
    memmove(&map->items[at], &map->items[at + 1], behind * sizeof(map->items[0]));
    memmove(&map->keys[at], &map->keys[at + 1], behind * sizeof(map->keys[0]));
    map->count--;
}

void lapse_tree_insert(struct lapse_pool *pool, struct lapse_node *seq, size_t at,
                       struct lapse_node *item) {
    if (seq == NULL || item == NULL) {
        return;
    }
    at = at < seq->count ? at : seq->count;
    struct lapse_node **items =
        lapse_pool_take(pool, (seq->count + 1) * sizeof(struct lapse_node *));
    if (items == NULL) {
        return;
    }
    for (size_t i = 0; i < seq->count; i++) {
        items[i < at ? i : i + 1] = seq->items[i];
    }
    items[at] = item;
    seq->items = items;
    seq->count++;
}

void lapse_tree_add(struct lapse_pool *pool, struct lapse_node *seq, struct lapse_node *item) {
    lapse_tree_insert(pool, seq, SIZE_MAX, item);
}

void lapse_tree_remove(struct lapse_node *seq, size_t at) {
    memmove(&seq->items[at], &seq->items[at + 1], (seq->count - at - 1) * sizeof(seq->items[0]));
    seq->count--;
}

bool lapse_tree_read_span(const struct lapse_node *node, int64_t *ret_ns) {
    if (node == NULL || node->kind != LAPSE_NODE_SCALAR) {
        return false;
    }
    int64_t total = 0;
    bool minus = false, open = true;
    for (size_t at = 0; at < node->len;) {
        struct lapse_span span;
        size_t used = 0;
        if (lapse_span_scan(node->text + at, node->len - at, &span, &used) != LAPSE_OK ||
            used == 0) {
            return false;
        }
        bool fits = minus ? lapse_ns_sub(total, span.ns, &total)
                          : lapse_ns_add(total, span.ns, &total);
        if (!fits) {
            return false;
        }
        at += used;
        minus = at < node->len && node->text[at] == '-';
        if (at < node->len && !minus && node->text[at] != '+') {
            return false;
        }
        open = at < node->len;
        at += open;
    }
    *ret_ns = total;
    return !open;
}

static struct lapse_node *make(struct lapse_pool *pool, enum lapse_node_kind kind) {
    struct lapse_node *node = lapse_pool_take(pool, sizeof(*node));
    if (node != NULL) {
        node->kind = kind;
    }
    return node;
}
