/* Memory of the loader: a pool that is freed whole, lists that grow, and a table of names.
 *
 * A plan lives in one pool; so does the tree of a file. Every function that can run out of memory
 * says so with NULL or false, and marks its pool, so that a decoder may look once at the end. */
#ifndef SCENARIOS_POOL_H
#define SCENARIOS_POOL_H

#include "contracts/lookup.h"

struct lapse_pool_chunk;
struct lapse_pool {
    const lapse_alloc *alloc;
    struct lapse_pool_chunk *chunks;
    bool failed; /* memory ran out at least once */
};

void lapse_pool_init(struct lapse_pool *pool, const lapse_alloc *alloc);
void lapse_pool_free(struct lapse_pool *pool);
/* Takes `bytes` (0 counts as 1) zeroed bytes, aligned for any object. NULL: memory ran out. */
void *lapse_pool_take(struct lapse_pool *pool, size_t bytes);
/* Copies text[0..len) and ends it with NUL. NULL: memory ran out. */
char *lapse_pool_text(struct lapse_pool *pool, const char *text, size_t len);

/* A growing array outside of any pool. Set item_bytes, the rest is zero. */
struct lapse_list {
    void *items;
    size_t count, cap, item_bytes;
};
/* Appends one zeroed item and returns it, or NULL. Earlier items may move. */
void *lapse_list_add(const lapse_alloc *alloc, struct lapse_list *list);
/* Item `index` < count. */
void *lapse_list_at(const struct lapse_list *list, size_t index);
/* Copies the items into the pool. NULL: none, or memory ran out (the pool is marked). */
void *lapse_list_seal(const struct lapse_list *list, struct lapse_pool *pool);
void lapse_list_free(const lapse_alloc *alloc, struct lapse_list *list);

#endif
