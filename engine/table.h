/* Private: a chained hash table of rows, for lookup alone. Rows of one key are twins: they stand
 * next to each other by falling revision, so that a lookup finds the newest. Who needs
 * an order asks for the sorted list. Linking and unlinking cannot fail, so that a refused command
 * can be played back; growth is asked for beforehand. */
#ifndef ENGINE_TABLE_H
#define ENGINE_TABLE_H

#include "node.h"

struct lapse_table {
    struct lapse_node **slots; /* a power of two of chains; NULL until first use */
    size_t slot_count;
    size_t count;
};

/* Whether one more row fits at the usual load: three rows for two slots, for a slot costs as much
 * as a pointer in every row. */
static inline bool lapse_table_has_room(const struct lapse_table *table) {
    return table->count < table->slot_count + table->slot_count / 2;
}
/* Makes room for one more row at the usual load. False, nothing changed, when memory runs out. */
bool lapse_table_reserve(const lapse_alloc *alloc, struct lapse_table *table);
/* The newest row of a key, or NULL. */
struct lapse_node *lapse_table_find(const struct lapse_table *table, struct lapse_bytes key);
/* Asks for the memory that finding a row with this hash begins with. */
void lapse_table_prefetch(const struct lapse_table *table, uint32_t hash);
/* The same for what follows, once that memory is there. */
void lapse_table_prefetch_chain(const struct lapse_table *table, uint32_t hash);
/* The next older row of the same key, or NULL. */
static inline struct lapse_node *lapse_table_older(const struct lapse_node *node) {
    struct lapse_node *next = node->next;
    bool same = next != NULL && next->hash == node->hash &&
                lapse_node_has_key(next, lapse_node_key(node));
    return same ? next : NULL;
}
/* Puts the node at the place of its key and present revision. */
void lapse_table_link(struct lapse_table *table, struct lapse_node *node);
void lapse_table_unlink(struct lapse_table *table, struct lapse_node *node);
/* The first row in no meaningful order, and the next: for counting and for freeing alone. */
struct lapse_node *lapse_table_any(const struct lapse_table *table);
struct lapse_node *lapse_table_after(const struct lapse_table *table,
                                     const struct lapse_node *node);
/* All rows by the byte order of their keys, then by revision: an array of table->count pointers
 * from `alloc`, which the caller frees; NULL when empty. False when memory runs out. */
bool lapse_table_sorted(const lapse_alloc *alloc, const struct lapse_table *table,
                        struct lapse_node ***ret);
/* All rows by revision, which for a lease is its token; by key where two have the same. */
bool lapse_table_by_revision(const lapse_alloc *alloc, const struct lapse_table *table,
                             struct lapse_node ***ret);
/* Frees the slots, not the rows. */
void lapse_table_finish(const lapse_alloc *alloc, struct lapse_table *table);
/* Every row stands in the chain of its hash, once, among its twins by falling revision. */
enum lapse_status lapse_table_check(const struct lapse_table *table, struct lapse_error *err);

#endif
