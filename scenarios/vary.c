/* `vary` on trees: the values of each name, and a copy of the document for each combination, in
 * which `$name` is replaced by the value's text. A duration is put in as one literal, so that it
 * stays whole inside arithmetic. */
#include "vary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"

static bool read_name(struct lapse_vary *vary, const struct lapse_node *root,
                      const struct lapse_node *key, const struct lapse_node *value);
static bool read_list(struct lapse_vary *vary, const struct lapse_node *list,
                      struct lapse_vary_name *ret);
static bool read_range(struct lapse_vary *vary, const struct lapse_node *root,
                       const struct lapse_node *range, struct lapse_vary_name *ret);
static bool gather(const lapse_alloc *alloc, const struct lapse_node *node, int64_t low,
                   int64_t high, struct lapse_list *ret);
static bool offer(const lapse_alloc *alloc, int64_t ns, int64_t low, int64_t high,
                  struct lapse_list *ret);
static int compare_ns(const void *a, const void *b);
static const char *span_text(struct lapse_pool *pool, int64_t ns);
static struct lapse_node *fill(struct lapse_vary *vary, struct lapse_pool *pool,
                               const struct lapse_node *node, const size_t *picks);
static void check_save(struct lapse_vary *vary, const struct lapse_node *save);
static struct lapse_node *fill_scalar(struct lapse_vary *vary, struct lapse_pool *pool,
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
    int64_t rows = 1;
    for (size_t i = 0; i < map->count; i++) {
        if (i == LAPSE_VARY_NAMES_MAX) {
            lapse_mistake_add(vary->diags, "Y006", map->keys[i]->place, "",
                              "`vary` has at most %d names", (int)LAPSE_VARY_NAMES_MAX);
            return true;
        }
        if (!read_name(vary, root, map->keys[i], map->items[i])) {
            return false;
        }
        rows *= (int64_t)vary->names[i].value_count;
        if (rows > LAPSE_VARY_ROWS_MAX) {
            struct lapse_diag *diag =
                lapse_mistake_add(vary->diags, "Y006", map->keys[i]->place, "",
                                  "`vary` makes more than %d rows", (int)LAPSE_VARY_ROWS_MAX);
            lapse_diag_note(vary->diags, diag, "help", "lists multiply: vary fewer names at once");
            return true;
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

static bool read_name(struct lapse_vary *vary, const struct lapse_node *root,
                      const struct lapse_node *key, const struct lapse_node *value) {
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
        return read_range(vary, root, value, name);
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
    bool fine = offer(alloc, low, low, high, &found) && offer(alloc, high, low, high, &found) &&
                gather(alloc, root, low, high, &found);
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

static bool gather(const lapse_alloc *alloc, const struct lapse_node *node, int64_t low,
                   int64_t high, struct lapse_list *ret) {
    for (size_t i = 0; i < node->count; i++) {
        if (node->kind == LAPSE_NODE_MAP && lapse_node_is(node->keys[i], "vary")) {
            continue;
        }
        if (!gather(alloc, node->items[i], low, high, ret)) {
            return false;
        }
    }
    int64_t ns = 0;
    size_t at = 0;
    if (node->kind != LAPSE_NODE_SCALAR || node->quoted ||
        lapse_number_scan(node->text, node->len, &ns, &at) != LAPSE_SPAN_FINE || ns <= low ||
        ns >= high) {
        return true;
    }
    return offer(alloc, ns - 1, low, high, ret) && offer(alloc, ns, low, high, ret) &&
           offer(alloc, ns + 1, low, high, ret);
}

static bool offer(const lapse_alloc *alloc, int64_t ns, int64_t low, int64_t high,
                  struct lapse_list *ret) {
    if (ns < low || ns > high) {
        return true;
    }
    int64_t *item = lapse_list_add(alloc, ret);
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

static struct lapse_node *fill_scalar(struct lapse_vary *vary, struct lapse_pool *pool,
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
        if (name >= 0) {
            vary->names[name].used = true;
        }
    }
    copy->text = text;
    copy->len = used;
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
