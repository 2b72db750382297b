/* Trees: looking up, copying and merging. Merging is what `like` and `change` are made of. */
#include "scenarios/node.h"

#include <string.h>

enum { TEXT_BYTES_PER_NODE = 16 };

bool lapse_node_is_null(const struct lapse_node *node) {
    if (node == NULL) {
        return true;
    }
    return node->kind == LAPSE_NODE_SCALAR && !node->quoted &&
           (node->len == 0 || lapse_node_is(node, "~") || lapse_node_is(node, "null"));
}

bool lapse_node_is(const struct lapse_node *node, const char *text) {
    return node != NULL && node->kind == LAPSE_NODE_SCALAR && strcmp(node->text, text) == 0;
}

struct lapse_bytes lapse_node_bytes(const struct lapse_node *scalar) {
    return (struct lapse_bytes){(const unsigned char *)scalar->text, scalar->len};
}

struct lapse_node *lapse_node_get(const struct lapse_node *node, const char *key) {
    int64_t index = lapse_node_index(node, key);
    return index < 0 ? NULL : node->items[index];
}

int64_t lapse_node_index(const struct lapse_node *node, const char *key) {
    if (node == NULL || node->kind != LAPSE_NODE_MAP) {
        return -1;
    }
    for (size_t i = 0; i < node->count; i++) {
        if (strcmp(node->keys[i]->text, key) == 0) {
            return (int64_t)i;
        }
    }
    return -1;
}

size_t lapse_node_weight(const struct lapse_node *node) {
    size_t total = 1 + node->len / TEXT_BYTES_PER_NODE;
    for (size_t i = 0; i < node->count; i++) {
        total += lapse_node_weight(node->items[i]) + (node->kind == LAPSE_NODE_MAP ? 1 : 0);
    }
    return total;
}

struct lapse_node *lapse_node_copy(struct lapse_pool *pool, const struct lapse_node *node) {
    struct lapse_node *copy = lapse_pool_take(pool, sizeof(*copy));
    if (copy == NULL) {
        return NULL;
    }
    *copy = *node;
    if (node->count == 0) {
        return copy;
    }
    copy->items = lapse_pool_take(pool, node->count * sizeof(struct lapse_node *));
    if (copy->items == NULL) {
        return NULL;
    }
    memcpy(copy->items, node->items, node->count * sizeof(struct lapse_node *));
    if (node->kind != LAPSE_NODE_MAP) {
        return copy;
    }
    copy->keys = lapse_pool_take(pool, node->count * sizeof(struct lapse_node *));
    if (copy->keys == NULL) {
        return NULL;
    }
    memcpy(copy->keys, node->keys, node->count * sizeof(struct lapse_node *));
    return copy;
}

struct lapse_node *lapse_node_deep_copy(struct lapse_pool *pool, const struct lapse_node *node) {
    struct lapse_node *copy = lapse_node_copy(pool, node);
    for (size_t i = 0; copy != NULL && i < node->count; i++) {
        copy->items[i] = lapse_node_deep_copy(pool, node->items[i]);
        if (copy->items[i] == NULL) {
            return NULL;
        }
    }
    return copy;
}

struct lapse_node *lapse_node_merge(struct lapse_pool *pool, struct lapse_node *base,
                                    struct lapse_node *over) {
    if (base == NULL || over == NULL) {
        return base == NULL ? over : base;
    }
    if (base->kind != LAPSE_NODE_MAP || over->kind != LAPSE_NODE_MAP) {
        return over;
    }
    size_t room = base->count + over->count;
    struct lapse_node *merged = lapse_pool_take(pool, sizeof(*merged));
    struct lapse_node **keys = lapse_pool_take(pool, room * sizeof(*keys));
    struct lapse_node **items = lapse_pool_take(pool, room * sizeof(*items));
    if (merged == NULL || keys == NULL || items == NULL) {
        return NULL;
    }
    *merged = *base;
    merged->keys = keys;
    merged->items = items;
    merged->count = 0;
    for (size_t i = 0; i < base->count; i++) {
        struct lapse_node *upon = lapse_node_get(over, base->keys[i]->text);
        if (upon != NULL && lapse_node_is_null(upon)) {
            continue;
        }
        struct lapse_node *item = lapse_node_merge(pool, base->items[i], upon);
        if (item == NULL) {
            return NULL;
        }
        bool replaced = upon != NULL && item == upon;
        keys[merged->count] =
            replaced ? over->keys[lapse_node_index(over, base->keys[i]->text)] : base->keys[i];
        items[merged->count++] = item;
    }
    for (size_t i = 0; i < over->count; i++) {
        if (lapse_node_index(base, over->keys[i]->text) < 0 &&
            !lapse_node_is_null(over->items[i])) {
            keys[merged->count] = over->keys[i];
            items[merged->count++] = over->items[i];
        }
    }
    return merged;
}

bool lapse_node_put(struct lapse_pool *pool, struct lapse_node *map, struct lapse_node *key,
                    struct lapse_node *value) {
    int64_t index = lapse_node_index(map, key->text);
    if (index >= 0) {
        map->items[index] = value;
        return true;
    }
    struct lapse_node **keys = lapse_pool_take(pool, (map->count + 1) * sizeof(*keys));
    struct lapse_node **items = lapse_pool_take(pool, (map->count + 1) * sizeof(*items));
    if (keys == NULL || items == NULL) {
        return false;
    }
    for (size_t i = 0; i < map->count; i++) {
        keys[i] = map->keys[i];
        items[i] = map->items[i];
    }
    keys[map->count] = key;
    items[map->count] = value;
    map->keys = keys;
    map->items = items;
    map->count++;
    return true;
}
