/* Trees under edit: copies, spots, and what a tree costs to read. */
#include "shrink_parts.h"

#include <stdio.h>
#include <string.h>

/* A byte outweighs any size of a number: 15m is plainer than 14m59s, and 1s than 9s. */
enum { BYTE_COST = 64, NODE_COST = 256 };

static bool list_node(struct lapse_shrinker *s, struct lapse_node *node, const char *section,
                      const char *word);
static bool is_line(const struct lapse_shrink_spot *spot);
static size_t prefix_of(const struct lapse_node *scalar);
static bool is_count(const char *text, size_t len, int64_t *ret);
static uint64_t magnitude(int64_t number);

struct lapse_node *lapse_shrink_copy(struct lapse_pool *pool, const struct lapse_node *node) {
    struct lapse_node *copy = lapse_node_copy(pool, node);
    for (size_t i = 0; copy != NULL && i < node->count; i++) {
        copy->items[i] = lapse_shrink_copy(pool, node->items[i]);
        if (node->kind == LAPSE_NODE_MAP && copy->items[i] != NULL) {
            copy->keys[i] = lapse_node_copy(pool, node->keys[i]);
        }
        if (copy->items[i] == NULL ||
            (node->kind == LAPSE_NODE_MAP && copy->keys[i] == NULL)) {
            return NULL;
        }
    }
    return copy;
}

bool lapse_shrink_list(struct lapse_shrinker *s, struct lapse_node *tree) {
    s->spots.count = s->lines.count = 0;
    for (size_t i = 0; i < tree->count; i++) {
        struct lapse_shrink_spot *spot = lapse_list_add(s->options->alloc, &s->spots);
        const char *word = tree->keys[i]->text;
        if (spot == NULL) {
            s->status = LAPSE_NOMEM;
            return false;
        }
        *spot = (struct lapse_shrink_spot){tree, i, word, word};
        if (!list_node(s, tree->items[i], word, word)) {
            s->status = LAPSE_NOMEM;
            return false;
        }
    }
    return true;
}

struct lapse_shrink_spot *lapse_shrink_spot(const struct lapse_shrinker *s, size_t index) {
    return lapse_list_at(&s->spots, index);
}

struct lapse_shrink_spot *lapse_shrink_line(const struct lapse_shrinker *s, size_t index) {
    return lapse_list_at(&s->lines, index);
}

struct lapse_node *lapse_shrink_at(const struct lapse_shrink_spot *spot) {
    return spot->parent->items[spot->index];
}

bool lapse_shrink_parse(struct lapse_shrinker *s, const struct lapse_emitted *text) {
    struct lapse_list documents = {.item_bytes = sizeof(struct lapse_document)};
    struct lapse_diag_list diags;
    lapse_diag_list_init(&diags, s->options->alloc);
    bool read = lapse_yaml_parse(&s->texts, "", text->text, text->bytes, &documents, &diags);
    bool one = read && diags.count == 0 && documents.count == 1;
    if (one) {
        const struct lapse_document *document = lapse_list_at(&documents, 0);
        s->draft = lapse_shrink_copy(&s->draft_pool, document->root);
    }
    s->status = read && (!one || s->draft != NULL) ? s->status : LAPSE_NOMEM;
    lapse_list_free(s->options->alloc, &documents);
    lapse_diag_list_free(&diags);
    return one && s->status == LAPSE_OK && lapse_shrink_list(s, s->draft);
}

struct lapse_node *lapse_shrink_line_at(const struct lapse_shrinker *s, struct lapse_place place,
                                        bool *ret_task) {
    for (size_t i = 0; i < s->lines.count; i++) {
        const struct lapse_shrink_spot *spot = lapse_shrink_line(s, i);
        struct lapse_node *line = lapse_shrink_at(spot);
        for (size_t k = 0; k < line->count; k++) {
            if (line->keys[k]->place.line == place.line &&
                line->keys[k]->place.column == place.column) {
                *ret_task = strcmp(spot->section, "actors") == 0;
                return line;
            }
        }
    }
    return NULL;
}

void lapse_shrink_cut(struct lapse_node *parent, size_t index, size_t count) {
    LAPSE_ASSERT(index + count <= parent->count);
    for (size_t i = index; i + count < parent->count; i++) {
        parent->items[i] = parent->items[i + count];
        if (parent->kind == LAPSE_NODE_MAP) {
            parent->keys[i] = parent->keys[i + count];
        }
    }
    parent->count -= count;
}

struct lapse_node *lapse_shrink_scalar(struct lapse_shrinker *s, const char *text, size_t len) {
    struct lapse_node *node = lapse_pool_take(&s->draft_pool, sizeof(*node));
    char *copy = lapse_pool_text(&s->texts, text, len);
    if (node == NULL || copy == NULL) {
        s->status = LAPSE_NOMEM;
        return NULL;
    }
    node->kind = LAPSE_NODE_SCALAR;
    node->text = copy;
    node->len = len;
    return node;
}

bool lapse_shrink_put(struct lapse_shrinker *s, struct lapse_node *map, const char *word,
                      struct lapse_node *value) {
    struct lapse_node *key = lapse_shrink_scalar(s, word, strlen(word));
    if (key == NULL || value == NULL || !lapse_node_put(&s->draft_pool, map, key, value)) {
        s->status = LAPSE_NOMEM;
        return false;
    }
    return true;
}

bool lapse_shrink_set_text(struct lapse_shrinker *s, struct lapse_node *scalar, const char *text) {
    size_t len = strlen(text);
    char *copy = lapse_pool_text(&s->texts, text, len);
    if (copy == NULL) {
        s->status = LAPSE_NOMEM;
        return false;
    }
    scalar->text = copy;
    scalar->len = len;
    return true;
}

uint64_t lapse_shrink_cost(const struct lapse_node *node) {
    uint64_t cost = NODE_COST + BYTE_COST * (uint64_t)node->len;
    struct lapse_shrink_number number;
    if (node->kind == LAPSE_NODE_SCALAR && lapse_shrink_number(node, &number)) {
        cost += magnitude(number.value);
    }
    for (size_t i = 0; i < node->count; i++) {
        cost += lapse_shrink_cost(node->items[i]);
        cost += node->kind == LAPSE_NODE_MAP ? lapse_shrink_cost(node->keys[i]) : 0;
    }
    return cost;
}

bool lapse_shrink_number(const struct lapse_node *scalar, struct lapse_shrink_number *ret) {
    if (scalar->kind != LAPSE_NODE_SCALAR || scalar->quoted || scalar->len == 0) {
        return false;
    }
    *ret = (struct lapse_shrink_number){.prefix = prefix_of(scalar)};
    const char *text = scalar->text + ret->prefix;
    size_t len = scalar->len - ret->prefix;
    ret->sign = len > 0 && (text[0] == '+' || text[0] == '-') && ret->prefix == 0;
    bool plus = len > 0 && text[0] == '+';
    text += plus ? 1 : 0;
    len -= plus ? 1 : 0;
    bool digit = len > 0 && ((text[0] >= '0' && text[0] <= '9') || text[0] == '-');
    if (!digit) {
        return false;
    }
    bool ppm = len > 3 && strcmp(text + len - 3, "ppm") == 0;
    if (ppm || (len > 3 && strcmp(text + len - 3, "ppb") == 0)) {
        ret->unit = LAPSE_SHRINK_RATE;
        return is_count(text, len - 3, &ret->value) &&
               lapse_ns_mul(ret->value, ppm ? 1000 : 1, &ret->value);
    }
    if (is_count(text, len, &ret->value)) {
        ret->unit = LAPSE_SHRINK_COUNT;
        return ret->prefix == 0;
    }
    ret->unit = LAPSE_SHRINK_SPAN;
    return lapse_span_read(text, len, &ret->value);
}

void lapse_shrink_number_text(const struct lapse_node *like,
                              const struct lapse_shrink_number *number, char *buf) {
    char span[LAPSE_SPAN_TEXT_MAX];
    const char *plus = number->sign && number->value >= 0 ? "+" : "";
    int64_t value = number->value;
    if (number->unit == LAPSE_SHRINK_SPAN) {
        lapse_span_write(value, span);
    } else if (number->unit == LAPSE_SHRINK_COUNT) {
        (void)snprintf(span, sizeof(span), "%lld", (long long)value);
    } else {
        bool millions = value % 1000 == 0;
        (void)snprintf(span, sizeof(span), "%lld%s", (long long)(millions ? value / 1000 : value),
                       millions ? "ppm" : "ppb");
    }
    (void)snprintf(buf, LAPSE_SHRINK_NUMBER_MAX, "%.*s%s%s", (int)number->prefix, like->text, plus,
                   span);
}

bool lapse_shrink_is_call(const struct lapse_node *line) {
    size_t count = 0;
    const struct lapse_word *words = lapse_word_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (words[i].kind == LAPSE_WORD_VERB && lapse_node_get(line, words[i].word) != NULL) {
            return true;
        }
    }
    return false;
}

static bool list_node(struct lapse_shrinker *s, struct lapse_node *node, const char *section,
                      const char *word) {
    for (size_t i = 0; i < node->count; i++) {
        const char *key = node->kind == LAPSE_NODE_MAP ? node->keys[i]->text : word;
        struct lapse_shrink_spot *spot = lapse_list_add(s->options->alloc, &s->spots);
        if (spot == NULL) {
            return false;
        }
        *spot = (struct lapse_shrink_spot){node, i, section, key};
        if (is_line(spot)) {
            struct lapse_shrink_spot *line = lapse_list_add(s->options->alloc, &s->lines);
            if (line == NULL) {
                return false;
            }
            *line = *spot;
        }
        if (!list_node(s, node->items[i], section, key)) {
            return false;
        }
    }
    return true;
}

/* A map in a list of lines: of `steps`, `faults`, `expect`, a task, or a body. */
static bool is_line(const struct lapse_shrink_spot *spot) {
    static const char *const sections[] = {"steps", "faults", "actors", "expect"};
    bool lined = false;
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        lined = lined || strcmp(spot->section, sections[i]) == 0;
    }
    return lined && spot->parent->kind == LAPSE_NODE_SEQ &&
           lapse_shrink_at(spot)->kind == LAPSE_NODE_MAP && strcmp(spot->word, "who") != 0 &&
           strcmp(spot->word, "batch") != 0;
}

/* `now` and `epoch` with their sign stand before the span of a date. */
static size_t prefix_of(const struct lapse_node *scalar) {
    static const char *const words[] = {"now+", "epoch+"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strncmp(scalar->text, words[i], strlen(words[i])) == 0) {
            return strlen(words[i]);
        }
    }
    return 0;
}

static bool is_count(const char *text, size_t len, int64_t *ret) {
    bool minus = len > 1 && text[0] == '-';
    int64_t value = 0;
    for (size_t i = minus ? 1 : 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || !lapse_ns_mul(value, 10, &value) ||
            !lapse_ns_add(value, text[i] - '0', &value)) {
            return false;
        }
    }
    *ret = minus ? -value : value;
    return len > 0;
}

/* The bits of a number, at most 63: less than a byte costs. */
static uint64_t magnitude(int64_t number) {
    uint64_t bits = 0;
    uint64_t rest = number < 0 ? (uint64_t)0 - (uint64_t)number : (uint64_t)number;
    for (; rest > 0; rest >>= 1) {
        bits++;
    }
    return bits > BYTE_COST - 1 ? BYTE_COST - 1 : bits;
}
