/* The hash table. Chains rather than probing: unlinking leaves nothing behind, and linking back at
 * a rollback needs no memory. */
#include "table.h"

#include <string.h>

struct ranked {
    uint64_t rank;
    struct lapse_node *node;
};

static size_t slot_of(const struct lapse_table *table, uint32_t hash);
static bool same_key(const struct lapse_node *a, const struct lapse_node *b);
static bool first_of_key(const struct lapse_table *table, const struct lapse_node *node);
static bool sorted(const lapse_alloc *alloc, const struct lapse_table *table, bool by_key,
                   struct lapse_node ***ret);
static bool sort_nodes(const lapse_alloc *alloc, struct lapse_node **nodes, size_t count,
                       bool by_key);
static void rank(struct lapse_node **nodes, size_t count, bool by_key, struct ranked *ret);
static const struct ranked *merge_sort(struct ranked *from, struct ranked *to, size_t count,
                                       bool by_key);
static bool ranks_before(const struct ranked *a, const struct ranked *b, bool by_key);

bool lapse_table_reserve(const lapse_alloc *alloc, struct lapse_table *table) {
    if (lapse_table_has_room(table)) {
        return true;
    }
    if (table->slot_count > SIZE_MAX / (4 * sizeof(struct lapse_node *))) {
        return false;
    }
    struct lapse_table grown = {NULL, table->slot_count == 0 ? 8 : table->slot_count * 2, 0};
    grown.slots = lapse_alloc_zero(alloc, grown.slot_count * sizeof(struct lapse_node *));
    if (grown.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < table->slot_count; i++) {
        while (table->slots[i] != NULL) {
            struct lapse_node *node = table->slots[i];
            table->slots[i] = node->next;
            lapse_table_link(&grown, node);
        }
    }
    LAPSE_ASSERT(grown.count == table->count);
    lapse_table_finish(alloc, table);
    *table = grown;
    return true;
}

struct lapse_node *lapse_table_find(const struct lapse_table *table, struct lapse_bytes key) {
    if (table->slot_count == 0) {
        return NULL;
    }
    uint32_t hash = lapse_node_hash(key);
    struct lapse_node *node = table->slots[slot_of(table, hash)];
    while (node != NULL) {
        lapse_node_prefetch(node);
        if (node->hash == hash) {
            LAPSE_PREFETCH(node->now.blob);
            if (lapse_node_has_key(node, key)) {
                break;
            }
        }
        node = node->next;
    }
    return node;
}

void lapse_table_prefetch(const struct lapse_table *table, uint32_t hash) {
    if (table->slot_count > 0) {
        LAPSE_PREFETCH(&table->slots[slot_of(table, hash)]);
    }
}

void lapse_table_prefetch_chain(const struct lapse_table *table, uint32_t hash) {
    if (table->slot_count > 0 && table->slots[slot_of(table, hash)] != NULL) {
        lapse_node_prefetch(table->slots[slot_of(table, hash)]);
    }
}

void lapse_table_link(struct lapse_table *table, struct lapse_node *node) {
    LAPSE_ASSERT(table->slot_count > 0);
    struct lapse_node **head = &table->slots[slot_of(table, node->hash)];
    struct lapse_node **link = head;
    while (*link != NULL && !same_key(*link, node)) {
        link = &(*link)->next;
    }
    if (*link == NULL) {
        link = head;
    }
    while (*link != NULL && same_key(*link, node) && (*link)->now.revision > node->now.revision) {
        link = &(*link)->next;
    }
    node->next = *link;
    *link = node;
    table->count++;
}

void lapse_table_unlink(struct lapse_table *table, struct lapse_node *node) {
    struct lapse_node **link = &table->slots[slot_of(table, node->hash)];
    while (*link != node) {
        LAPSE_ASSERT(*link != NULL);
        link = &(*link)->next;
    }
    *link = node->next;
    node->next = NULL;
    table->count--;
}

struct lapse_node *lapse_table_any(const struct lapse_table *table) {
    for (size_t i = 0; i < table->slot_count; i++) {
        if (table->slots[i] != NULL) {
            return table->slots[i];
        }
    }
    return NULL;
}

struct lapse_node *lapse_table_after(const struct lapse_table *table,
                                     const struct lapse_node *node) {
    if (node->next != NULL) {
        return node->next;
    }
    enum { AHEAD = 8 };
    for (size_t i = slot_of(table, node->hash) + 1; i < table->slot_count; i++) {
        if (i + AHEAD < table->slot_count && table->slots[i + AHEAD] != NULL) {
            lapse_node_prefetch(table->slots[i + AHEAD]);
        }
        if (table->slots[i] != NULL) {
            return table->slots[i];
        }
    }
    return NULL;
}

bool lapse_table_sorted(const lapse_alloc *alloc, const struct lapse_table *table,
                        struct lapse_node ***ret) {
    return sorted(alloc, table, true, ret);
}

bool lapse_table_by_revision(const lapse_alloc *alloc, const struct lapse_table *table,
                             struct lapse_node ***ret) {
    return sorted(alloc, table, false, ret);
}

void lapse_table_finish(const lapse_alloc *alloc, struct lapse_table *table) {
    lapse_alloc_free(alloc, table->slots, table->slot_count * sizeof(struct lapse_node *));
    *table = (struct lapse_table){NULL, 0, 0};
}

enum lapse_status lapse_table_check(const struct lapse_table *table, struct lapse_error *err) {
    size_t count = 0;
    for (size_t i = 0; i < table->slot_count; i++) {
        for (const struct lapse_node *node = table->slots[i]; node != NULL; node = node->next) {
            count++;
            if (slot_of(table, node->hash) != i ||
                node->hash != lapse_node_hash(lapse_node_key(node))) {
                return lapse_error_set(err, LAPSE_BUG,
                                       "a row stands in chain %zu of %zu, which "
                                       "is not the chain of its hash",
                                       i, table->slot_count);
            }
            const struct lapse_node *older = lapse_table_older(node);
            if (older != NULL && older->now.revision >= node->now.revision) {
                return lapse_error_set(err, LAPSE_BUG,
                                       "a key's rows do not fall in revision in chain %zu", i);
            }
            if (older == NULL && !first_of_key(table, node)) {
                return lapse_error_set(err, LAPSE_BUG, "a key stands twice in chain %zu", i);
            }
        }
    }
    if (count != table->count) {
        return lapse_error_set(err, LAPSE_BUG, "a table counts %zu rows and links %zu",
                               table->count, count);
    }
    return LAPSE_OK;
}

static size_t slot_of(const struct lapse_table *table, uint32_t hash) {
    return (size_t)hash & (table->slot_count - 1);
}

static bool same_key(const struct lapse_node *a, const struct lapse_node *b) {
    return a->hash == b->hash && lapse_node_has_key(a, lapse_node_key(b));
}

/* Whether the first row of the node's key leads to the node by way of its twins alone. */
static bool first_of_key(const struct lapse_table *table, const struct lapse_node *node) {
    const struct lapse_node *twin = lapse_table_find(table, lapse_node_key(node));
    while (twin != NULL && twin != node) {
        twin = lapse_table_older(twin);
    }
    return twin == node;
}

static bool sorted(const lapse_alloc *alloc, const struct lapse_table *table, bool by_key,
                   struct lapse_node ***ret) {
    size_t count = 0;
    *ret = NULL;
    if (table->count == 0) {
        return true;
    }
    if (table->count > SIZE_MAX / (2 * sizeof(struct ranked))) {
        return false;
    }
    size_t bytes = table->count * sizeof(struct lapse_node *);
    struct lapse_node **nodes = alloc->resize(alloc->ctx, NULL, 0, bytes);
    if (nodes == NULL) {
        return false;
    }
    struct lapse_node *node = lapse_table_any(table);
    for (; node != NULL; node = lapse_table_after(table, node)) {
        nodes[count++] = node;
    }
    LAPSE_ASSERT(count == table->count);
    if (!sort_nodes(alloc, nodes, count, by_key)) {
        lapse_alloc_free(alloc, nodes, bytes);
        return false;
    }
    *ret = nodes;
    return true;
}

static bool sort_nodes(const lapse_alloc *alloc, struct lapse_node **nodes, size_t count,
                       bool by_key) {
    if (count == 1) {
        return true;
    }
    size_t bytes = 2 * count * sizeof(struct ranked);
    struct ranked *ranked = alloc->resize(alloc->ctx, NULL, 0, bytes);
    if (ranked == NULL) {
        return false;
    }
    rank(nodes, count, by_key, ranked);
    const struct ranked *order = merge_sort(ranked, ranked + count, count, by_key);
    for (size_t i = 0; i < count; i++) {
        nodes[i] = order[i].node;
    }
    lapse_alloc_free(alloc, ranked, bytes);
    return true;
}

/* Sorting a million rows by looking at each of them again and again would mostly wait for memory.
 * So each gets a number that decides nearly always: its revision, or the eight bytes of its key
 * that follow what all keys begin with. */
static void rank(struct lapse_node **nodes, size_t count, bool by_key, struct ranked *ret) {
    struct lapse_bytes model = lapse_node_key(nodes[0]);
    size_t common = model.len;
    for (size_t i = 0; i < count; i++) {
        struct lapse_bytes key = lapse_node_key(nodes[i]);
        common = key.len < common ? key.len : common;
        while (common > 0 && memcmp(key.data, model.data, common) != 0) {
            common--;
        }
        ret[i] = (struct ranked){(uint64_t)nodes[i]->now.revision, nodes[i]};
    }
    for (size_t i = 0; i < count && by_key; i++) {
        struct lapse_bytes key = lapse_node_key(ret[i].node);
        ret[i].rank = 0;
        for (size_t k = common; k < common + sizeof(uint64_t); k++) {
            ret[i].rank = ret[i].rank << 8 | (k < key.len ? key.data[k] : 0);
        }
    }
}

/* Bottom up, between two arrays; returns the one that the result is in. A sort of our own: the C
 * library's may allocate behind the allocator's back. */
static const struct ranked *merge_sort(struct ranked *from, struct ranked *to, size_t count,
                                       bool by_key) {
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            size_t middle = count - start < width ? count : start + width;
            size_t end = count - middle < width ? count : middle + width;
            size_t a = start;
            size_t b = middle;
            for (size_t i = start; i < end; i++) {
                bool second = a == middle || (b < end && ranks_before(&from[b], &from[a], by_key));
                to[i] = from[second ? b++ : a++];
            }
        }
        struct ranked *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

static bool ranks_before(const struct ranked *a, const struct ranked *b, bool by_key) {
    if (a->rank != b->rank) {
        return a->rank < b->rank;
    }
    int order = lapse_bytes_compare(lapse_node_key(a->node), lapse_node_key(b->node));
    return order < 0 || (by_key && order == 0 && a->node->now.revision < b->node->now.revision);
}
