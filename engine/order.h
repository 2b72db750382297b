/* Private: the keys of a bucket in byte order, so that a page of a listing costs no more than what
 * it shows. It is kept in step from when it is made, one row for each key: the newest. It is a
 * cache: it is given up when memory runs out and when nobody has asked for it for a while, and no
 * answer depends on whether it is there.
 *
 * Of few keys it is made at the first listing. Of many the first page is selected, by one look at
 * every row of the table, and the second makes it: who asks for one page alone does not wait for a
 * sort of all.
 *
 * Cost, for n keys and a page of m: O(m + log n) once it is made, O(n log n) for the page that
 * makes it, O(n + m log m) for a page that is selected.
 *
 * Invariants, walked by lapse_order_check:
 *   O1  keys rise strictly through the chunks, and no chunk is empty
 *   O2  once made, it holds exactly the newest row of each key of the table; before, none */
#ifndef ENGINE_ORDER_H
#define ENGINE_ORDER_H

#include "table.h"

enum { LAPSE_ORDER_CHUNK = 512 };
#define LAPSE_ORDER_UNUSED_NS (60 * LAPSE_NS_PER_S)

struct lapse_order_chunk {
    size_t count;
    struct lapse_node *nodes[LAPSE_ORDER_CHUNK];
};

struct lapse_order {
    struct lapse_order_chunk **chunks;
    size_t chunk_count, chunk_cap;
    size_t count;
    bool made;
    bool asked; /* a page has been selected: the next one makes it */
    struct lapse_steady used; /* when a listing last asked for it */
};

/* A place in the order; it holds until the next change. */
struct lapse_order_at {
    size_t chunk, index;
};

/* Makes the order of a table, unless it is made. False, and it is given up, when memory runs out.
 */
bool lapse_order_make(const lapse_alloc *alloc, struct lapse_order *order,
                      const struct lapse_table *table);
/* Takes in the newest row of a key, in place of an older one. Gives the order up when memory runs
 * out. */
void lapse_order_put(const lapse_alloc *alloc, struct lapse_order *order, struct lapse_node *node);
/* Forgets a key that it holds. */
void lapse_order_remove(const lapse_alloc *alloc, struct lapse_order *order,
                        struct lapse_bytes key);
/* The place of the first key above `after`; NULL: of the first. */
struct lapse_order_at lapse_order_above(const struct lapse_order *order,
                                        const struct lapse_bytes *after);
/* The row at a place, and the place of the next; NULL at the end. */
struct lapse_node *lapse_order_next(const struct lapse_order *order, struct lapse_order_at *at);
void lapse_order_finish(const lapse_alloc *alloc, struct lapse_order *order);
enum lapse_status lapse_order_check(const struct lapse_order *order,
                                    const struct lapse_table *table, struct lapse_error *err);

#endif
