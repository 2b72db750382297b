/* `vary` on trees: the values of each name, and a copy of the document for each combination, in
 * which `$name` is replaced by the value's text. A duration is put in as one literal, so that it
 * stays whole inside arithmetic. */
#include "vary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"

/* The search for durations inside a range. */
struct gatherer {
    struct lapse_vary *vary;
    int64_t low, high;
    struct lapse_list *found; /* of int64_t */
};

static bool read_name(struct lapse_vary *vary, const struct lapse_node *key,
                      const struct lapse_node *value);
static bool read_ranges(struct lapse_vary *vary, const struct lapse_node *root,
                        const struct lapse_node *map);
static bool count_rows(struct lapse_vary *vary, bool ranges);
static bool read_list(struct lapse_vary *vary, const struct lapse_node *list,
                      struct lapse_vary_name *ret);
static bool read_range(struct lapse_vary *vary, const struct lapse_node *root,
                       const struct lapse_node *range, struct lapse_vary_name *ret);
static bool gather(const struct gatherer *g, const struct lapse_node *node);
static bool gather_scalar(const struct gatherer *g, const struct lapse_node *node);
static size_t names_in(const struct lapse_vary *vary, const struct lapse_node *node,
                       size_t *ret_names);
static bool gather_text(const struct gatherer *g, const char *text, size_t len);
static bool offer(const struct gatherer *g, int64_t ns);
static int compare_ns(const void *a, const void *b);
static const char *span_text(struct lapse_pool *pool, int64_t ns);
static struct lapse_node *fill(struct lapse_vary *vary, struct lapse_pool *pool,
                               const struct lapse_node *node, const size_t *picks);
static void check_save(struct lapse_vary *vary, const struct lapse_node *save);
static void mark_used(struct lapse_vary *vary, const struct lapse_node *node);
static struct lapse_node *fill_scalar(const struct lapse_vary *vary, struct lapse_pool *pool,
                                      const struct lapse_node *node, const size_t *picks);
static int64_t match(const struct lapse_vary *vary, const char *text, size_t *ret_len);

bool lapse_vary_read(struct lapse_vary *vary, const struct lapse_node *root) {
    const struct lapse_node *map = lapse_node_get(root, "vary");
    vary->name_count = 0;
    vary->row_count = 0;
    if (lapse_node_is_null(map)) {
        return true;
    }
    if (map->kind != LAPSE_NODE_MAP) {
        lapse_mistake_add(vary->diags, "Y103", map->place, "",
                          "a map of lists or ranges is wanted here");
        return true;
    }
    if (map->count > (size_t)LAPSE_VARY_NAMES_MAX) {
        lapse_mistake_add(vary->diags, "Y006", map->keys[LAPSE_VARY_NAMES_MAX]->place, "",
                          "`vary` has at most %d names", (int)LAPSE_VARY_NAMES_MAX);
        return true;
    }
    for (size_t i = 0; i < map->count; i++) {
        if (!read_name(vary, map->keys[i], map->items[i])) {
            return false;
        }
    }
    /* The lists are known before the ranges are read: their durations are tried in ranges too. */
    if (!count_rows(vary, false)) {
        return true;
    }
    return read_ranges(vary, root, map);
}

/* The search for durations fills in each combination of the lists, so it is bounded as rows are. */
static bool read_ranges(struct lapse_vary *vary, const struct lapse_node *root,
                        const struct lapse_node *map) {
    int64_t unfolded = 0;
    bool fits = lapse_ns_mul(vary->row_count, (int64_t)lapse_node_weight(root), &unfolded) &&
                unfolded <= vary->budget;
    for (size_t i = 0; i < map->count; i++) {
        if (!vary->names[i].range) {
            continue;
        }
        if (!fits) {
            struct lapse_diag *diag =
                lapse_mistake_add(vary->diags, "Y006", map->place, "",
                                  "`vary` unfolds this document to more than a file may hold");
            lapse_diag_note(vary->diags, diag, "help", "vary fewer names at once");
            vary->row_count = 0;
            return true;
        }
        if (!read_range(vary, root, map->items[i], &vary->names[i])) {
            return false;
        }
    }
    (void)count_rows(vary, true);
    return true;
}

/* Multiplies the values of the names; those of ranges only when they are known. */
static bool count_rows(struct lapse_vary *vary, bool ranges) {
    int64_t rows = 1;
    for (size_t i = 0; i < vary->name_count; i++) {
        if (vary->names[i].range && !ranges) {
            continue;
        }
        rows *= (int64_t)vary->names[i].value_count;
        if (rows > LAPSE_VARY_ROWS_MAX) {
            struct lapse_diag *diag =
                lapse_mistake_add(vary->diags, "Y006", vary->names[i].name->place, "",
                                  "`vary` makes more than %d rows", (int)LAPSE_VARY_ROWS_MAX);
            lapse_diag_note(vary->diags, diag, "help", "lists multiply: vary fewer names at once");
            vary->row_count = 0;
            return false;
        }
    }
    vary->row_count = rows;
    return true;
}

struct lapse_node *lapse_vary_row(struct lapse_vary *vary, struct lapse_pool *pool,
                                  const struct lapse_node *root, int64_t row, char **ret_text) {
    size_t picks[LAPSE_VARY_NAMES_MAX] = {0};
    int64_t rest = row;
    size_t cap = 3;
    for (size_t i = vary->name_count; i > 0; i--) {
        const struct lapse_vary_name *name = &vary->names[i - 1];
        picks[i - 1] = (size_t)(rest % (int64_t)name->value_count);
        rest /= (int64_t)name->value_count;
        cap += name->name->len + strlen(name->values[picks[i - 1]]) + 3;
    }
    char *text = lapse_pool_take(pool, cap);
    struct lapse_node *filled = fill(vary, pool, root, picks);
    if (text == NULL || filled == NULL) {
        return NULL;
    }
    size_t used = 0;
    for (size_t i = 0; i < vary->name_count; i++) {
        used += (size_t)snprintf(text + used, cap - used, "%s%s=%s", i == 0 ? "[" : ", ",
                                 vary->names[i].name->text, vary->names[i].values[picks[i]]);
    }
    text[used] = ']';
    *ret_text = text;
    return filled;
}

void lapse_vary_check_used(const struct lapse_vary *vary) {
    for (size_t i = 0; i < vary->name_count; i++) {
        if (!vary->names[i].used) {
            struct lapse_diag *diag =
                lapse_mistake_add(vary->diags, "Y122", vary->names[i].name->place, "",
                                  "`$%s` stands nowhere in this "
                                  "document",
                                  vary->names[i].name->text);
            lapse_diag_note(vary->diags, diag, "help", "use it, or take it out of `vary`");
        }
    }
}

static bool read_name(struct lapse_vary *vary, const struct lapse_node *key,
                      const struct lapse_node *value) {
    struct lapse_vary_name *name = &vary->names[vary->name_count++];
    *name = (struct lapse_vary_name){.name = key};
    const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    bool digit_first = key->text[0] >= '0' && key->text[0] <= '9';
    if (strspn(key->text, letters) != key->len || key->len == 0 || digit_first ||
        lapse_node_is(key, "n")) {
        lapse_mistake_add(vary->diags, "Y129", key->place, "", "`%.60s` cannot be a name of `vary`",
                          key->text);
    }
    if (value->kind == LAPSE_NODE_SEQ && value->count > 0) {
        return read_list(vary, value, name);
    }
    if (value->kind == LAPSE_NODE_SCALAR && strstr(value->text, "..") != NULL) {
        name->range = true;
        return true;
    }
    struct lapse_diag *diag = lapse_mistake_add(vary->diags, "Y122", value->place, "",
                                                "`%.60s` has no values", key->text);
    lapse_diag_note(vary->diags, diag, "help", "write a list, [5s, 30s], or a range, 0s..60s");
    return true;
}

static bool read_list(struct lapse_vary *vary, const struct lapse_node *list,
                      struct lapse_vary_name *ret) {
    ret->values = lapse_pool_take(vary->pool, list->count * sizeof(*ret->values));
    if (ret->values == NULL) {
        return false;
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct lapse_node *node = list->items[i];
        if (node->kind != LAPSE_NODE_SCALAR || node->len == 0) {
            lapse_mistake_add(vary->diags, "Y103", node->place, "",
                              "a single value is wanted here");
            continue;
        }
        int64_t ns = 0;
        size_t at = 0;
        bool sums = strpbrk(node->text, "+-*") != NULL &&
                    lapse_number_scan(node->text, node->len, &ns, &at) == LAPSE_SPAN_FINE;
        ret->values[ret->value_count] = sums ? span_text(vary->pool, ns) : node->text;
        if (ret->values[ret->value_count] == NULL) {
            return false;
        }
        ret->value_count++;
    }
    return true;
}

/* Both ends, and each duration of the document inside, with 1ns less and more. */
static bool read_range(struct lapse_vary *vary, const struct lapse_node *root,
                       const struct lapse_node *range, struct lapse_vary_name *ret) {
    const char *dots = strstr(range->text, "..");
    int64_t low = 0;
    int64_t high = 0;
    size_t at = 0;
    if (lapse_number_scan(range->text, (size_t)(dots - range->text), &low, &at) !=
            LAPSE_SPAN_FINE ||
        lapse_number_scan(dots + 2, strlen(dots + 2), &high, &at) != LAPSE_SPAN_FINE ||
        low > high) {
        struct lapse_diag *diag = lapse_mistake_add(vary->diags, "Y105", range->place, "",
                                                    "`%.60s` is not a range", range->text);
        lapse_diag_note(vary->diags, diag, "help", "write two durations, the lower first: 0s..60s");
        return true;
    }
    const lapse_alloc *alloc = vary->pool->alloc;
    struct lapse_list found = {.item_bytes = sizeof(int64_t)};
    const struct gatherer g = {vary, low, high, &found};
    bool fine = offer(&g, low) && offer(&g, high) && gather(&g, root);
    if (fine) {
        qsort(found.items, found.count, sizeof(int64_t), compare_ns);
        ret->values = lapse_pool_take(vary->pool, found.count * sizeof(*ret->values));
        fine = ret->values != NULL;
    }
    const int64_t *sorted = found.items;
    for (size_t i = 0; fine && i < found.count; i++) {
        if (i == 0 || sorted[i] != sorted[i - 1]) {
            ret->values[ret->value_count] = span_text(vary->pool, sorted[i]);
            fine = ret->values[ret->value_count++] != NULL;
        }
    }
    lapse_list_free(alloc, &found);
    return fine;
}

/* Every single value of the document, the lists of `vary` included; a range is no duration. */
static bool gather(const struct gatherer *g, const struct lapse_node *node) {
    for (size_t i = 0; i < node->count; i++) {
        if (!gather(g, node->items[i])) {
            return false;
        }
    }
    return node->kind != LAPSE_NODE_SCALAR || node->quoted || gather_scalar(g, node);
}

/* With each combination of the names that are lists filled in. A name of a range is left as it is,
 * and then the text is no duration. */
static bool gather_scalar(const struct gatherer *g, const struct lapse_node *node) {
    struct lapse_vary *vary = g->vary;
    size_t names[LAPSE_VARY_NAMES_MAX];
    size_t picks[LAPSE_VARY_NAMES_MAX] = {0};
    size_t count = names_in(vary, node, names);
    if (count == 0) {
        return gather_text(g, node->text, node->len);
    }
    for (bool more = true; more;) {
        struct lapse_pool pool;
        lapse_pool_init(&pool, vary->pool->alloc);
        const struct lapse_node *filled = fill_scalar(vary, &pool, node, picks);
        bool fine = filled != NULL && gather_text(g, filled->text, filled->len);
        lapse_pool_free(&pool);
        if (!fine) {
            return false;
        }
        more = false;
        for (size_t i = 0; i < count && !more; i++) {
            more = ++picks[names[i]] < vary->names[names[i]].value_count;
            picks[names[i]] = more ? picks[names[i]] : 0;
        }
    }
    return true;
}

/* The lists that the text names, each once; 0 too if it names a range. */
static size_t names_in(const struct lapse_vary *vary, const struct lapse_node *node,
                       size_t *ret_names) {
    size_t count = 0;
    size_t len = 0;
    for (size_t at = 0; at < node->len; at += len) {
        int64_t name = match(vary, node->text + at, &len);
        bool known = name < 0;
        for (size_t i = 0; i < count; i++) {
            known = known || ret_names[i] == (size_t)name;
        }
        if (name >= 0 && (vary->names[name].range || vary->names[name].value_count == 0)) {
            return 0;
        }
        if (!known) {
            ret_names[count++] = (size_t)name;
        }
    }
    return count;
}

/* A duration, or the one that a date counts from `epoch` or `now`. */
static bool gather_text(const struct gatherer *g, const char *text, size_t len) {
    int64_t ns = 0;
    size_t at = 0;
    size_t word = strncmp(text, "epoch+", 6) == 0 ? 6 : strncmp(text, "now+", 4) == 0 ? 4 : 0;
    if (lapse_number_scan(text + word, len - word, &ns, &at) != LAPSE_SPAN_FINE || ns <= g->low ||
        ns >= g->high) {
        return true;
    }
    return offer(g, ns - 1) && offer(g, ns) && offer(g, ns + 1);
}

static bool offer(const struct gatherer *g, int64_t ns) {
    if (ns < g->low || ns > g->high) {
        return true;
    }
    int64_t *item = lapse_list_add(g->vary->pool->alloc, g->found);
    if (item != NULL) {
        *item = ns;
    }
    return item != NULL;
}

static int compare_ns(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static const char *span_text(struct lapse_pool *pool, int64_t ns) {
    char text[LAPSE_TIME_TEXT_MAX];
    (void)lapse_span_print((struct lapse_span){ns}, text);
    return lapse_pool_text(pool, text, strlen(text));
}

static struct lapse_node *fill(struct lapse_vary *vary, struct lapse_pool *pool,
                               const struct lapse_node *node, const size_t *picks) {
    if (node->kind == LAPSE_NODE_SCALAR) {
        mark_used(vary, node);
        return fill_scalar(vary, pool, node, picks);
    }
    struct lapse_node *copy = lapse_node_copy(pool, node);
    for (size_t i = 0; copy != NULL && i < node->count; i++) {
        if (node->kind == LAPSE_NODE_MAP && lapse_node_is(node->keys[i], "vary")) {
            continue;
        }
        if (node->kind == LAPSE_NODE_MAP && lapse_node_is(node->keys[i], "save")) {
            check_save(vary, node->items[i]);
        }
        copy->items[i] = fill(vary, pool, node->items[i], picks);
        if (copy->items[i] == NULL) {
            return NULL;
        }
    }
    return copy;
}

/* A saved name that is a name of `vary` too could never be read. */
static void check_save(struct lapse_vary *vary, const struct lapse_node *save) {
    for (size_t i = 0; i < vary->name_count; i++) {
        if (save->kind == LAPSE_NODE_SCALAR && lapse_node_is(save, vary->names[i].name->text)) {
            struct lapse_diag *diag =
                lapse_mistake_add(vary->diags, "Y119", save->place, "",
                                  "`%.60s` is a name of `vary`, and cannot be saved", save->text);
            lapse_diag_label(vary->diags, diag, vary->names[i].name->place, "varied here");
            lapse_diag_note(vary->diags, diag, "help", "give one of them another name");
        }
    }
}

static void mark_used(struct lapse_vary *vary, const struct lapse_node *node) {
    size_t len = 0;
    for (size_t at = 0; at < node->len; at += len) {
        int64_t name = match(vary, node->text + at, &len);
        if (name >= 0) {
            vary->names[name].used = true;
        }
    }
}

static struct lapse_node *fill_scalar(const struct lapse_vary *vary, struct lapse_pool *pool,
                                      const struct lapse_node *node, const size_t *picks) {
    size_t cap = 1;
    size_t len = 0;
    bool found = false;
    for (size_t at = 0; at < node->len; at += len) {
        int64_t name = match(vary, node->text + at, &len);
        found = found || name >= 0;
        cap += name < 0 ? len : strlen(vary->names[name].values[picks[name]]);
    }
    struct lapse_node *copy = lapse_node_copy(pool, node);
    char *text = found ? lapse_pool_take(pool, cap) : NULL;
    if (copy == NULL || !found || text == NULL) {
        return found && text == NULL ? NULL : copy;
    }
    size_t used = 0;
    for (size_t at = 0; at < node->len; at += len) {
        int64_t name = match(vary, node->text + at, &len);
        const char *from = name < 0 ? node->text + at : vary->names[name].values[picks[name]];
        size_t bytes = name < 0 ? len : strlen(from);
        memcpy(text + used, from, bytes);
        used += bytes;
    }
    copy->text = text;
    copy->len = used;
    copy->varied = true;
    return copy;
}

/* The name of `vary` that `$..` names at text, or -1; *ret_len: how many bytes were looked at. */
static int64_t match(const struct lapse_vary *vary, const char *text, size_t *ret_len) {
    *ret_len = 1;
    if (text[0] != '$') {
        return -1;
    }
    const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t len = strspn(text + 1, letters);
    for (size_t i = 0; i < vary->name_count; i++) {
        const struct lapse_node *name = vary->names[i].name;
        if (name->len == len && memcmp(name->text, text + 1, len) == 0) {
            *ret_len = len + 1;
            return (int64_t)i;
        }
    }
    return -1;
}
