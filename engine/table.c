/* The hash table. Chains rather than probing: unlinking leaves nothing behind, and linking back at
 * a rollback needs no memory. */
#include "table.h"

typedef bool (*node_before)(const struct lapse_node *a, const struct lapse_node *b);

static size_t slot_of(const struct lapse_table *table, uint32_t hash);
static bool sorted(const lapse_alloc *alloc, const struct lapse_table *table, node_before before,
                   struct lapse_node ***ret);
static void sink(struct lapse_node **nodes, size_t root, size_t count, node_before before);
static bool key_before(const struct lapse_node *a, const struct lapse_node *b);
static bool revision_before(const struct lapse_node *a, const struct lapse_node *b);

bool lapse_table_reserve(const lapse_alloc *alloc, struct lapse_table *table) {
    if (table->count < table->slot_count) {
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
    while (node != NULL && (node->hash != hash || !lapse_bytes_equal(lapse_node_key(node), key))) {
        node = node->next;
    }
    return node;
}

void lapse_table_link(struct lapse_table *table, struct lapse_node *node) {
    LAPSE_ASSERT(table->slot_count > 0);
    struct lapse_node **head = &table->slots[slot_of(table, node->hash)];
    node->next = *head;
    *head = node;
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
    for (size_t i = slot_of(table, node->hash) + 1; i < table->slot_count; i++) {
        if (table->slots[i] != NULL) {
            return table->slots[i];
        }
    }
    return NULL;
}

bool lapse_table_sorted(const lapse_alloc *alloc, const struct lapse_table *table,
                        struct lapse_node ***ret) {
    return sorted(alloc, table, key_before, ret);
}

bool lapse_table_by_revision(const lapse_alloc *alloc, const struct lapse_table *table,
                             struct lapse_node ***ret) {
    return sorted(alloc, table, revision_before, ret);
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
            if (lapse_table_find(table, lapse_node_key(node)) != node) {
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

static bool sorted(const lapse_alloc *alloc, const struct lapse_table *table, node_before before,
                   struct lapse_node ***ret) {
    *ret = NULL;
    if (table->count == 0) {
        return true;
    }
    struct lapse_node **nodes =
        alloc->resize(alloc->ctx, NULL, 0, table->count * sizeof(struct lapse_node *));
    if (nodes == NULL) {
        return false;
    }
    size_t count = 0;
    struct lapse_node *node = lapse_table_any(table);
    for (; node != NULL; node = lapse_table_after(table, node)) {
        nodes[count++] = node;
    }
    LAPSE_ASSERT(count == table->count);
    /* A heap sort of our own: the C library's may allocate behind the allocator's back. */
    for (size_t root = count / 2; root > 0; root--) {
        sink(nodes, root - 1, count, before);
    }
    for (size_t left = count - 1; left > 0; left--) {
        struct lapse_node *last = nodes[left];
        nodes[left] = nodes[0];
        nodes[0] = last;
        sink(nodes, 0, left, before);
    }
    *ret = nodes;
    return true;
}

static void sink(struct lapse_node **nodes, size_t root, size_t count, node_before before) {
    for (size_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
        if (child + 1 < count && before(nodes[child], nodes[child + 1])) {
            child++;
        }
        if (!before(nodes[root], nodes[child])) {
            return;
        }
        struct lapse_node *lower = nodes[child];
        nodes[child] = nodes[root];
        nodes[root] = lower;
        root = child;
    }
}

static bool key_before(const struct lapse_node *a, const struct lapse_node *b) {
    return lapse_bytes_compare(lapse_node_key(a), lapse_node_key(b)) < 0;
}

static bool revision_before(const struct lapse_node *a, const struct lapse_node *b) {
    if (a->now.revision != b->now.revision) {
        return a->now.revision < b->now.revision;
    }
    return key_before(a, b);
}
