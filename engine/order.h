/* Private: the keys of a bucket in byte order, so that a page of a listing costs no more than what
 * it shows. It is kept in step from when it is made, one row for each key: the newest. It is a
 * cache: it is given up when memory runs out and when nobody has asked for it for a while, and no
 * answer depends on whether it is there.
 *
 * Of few keys it is made whole at the first listing. Of many it is made in pieces, one at each
 * page after the first, so that no page waits for a sort of all: a piece takes in the keys of a
 * part of the hash values. Until it is whole, pages are selected by one look at every row of the
 * table.
 *
 * Cost, for n keys and a page of m: O(m + log n) once it is whole. Before, O(n + m log m) for a
 * look at every row, and from the second page on O(n / 8 * log n) for a piece: eight pages make it
 * whole. A page of n / 8 keys or more sorts all of them, O(n log n).
 *
 * Invariants, walked by lapse_order_check:
 *   O1  keys rise strictly through the chunks, and no chunk is empty
 *   O2  it holds exactly the newest row of each key of the table whose hash falls in a part that
 *       it has taken */
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
    size_t part_count; /* a power of two, at most the table's slots; 0: not begun */
    size_t taken;      /* parts that it holds, from the lowest; all: it is whole */
    struct lapse_steady used; /* when a listing last asked for it */
};

/* A place in the order; it holds until the next change. */
struct lapse_order_at {
    size_t chunk, index;
};

static inline bool lapse_order_begun(const struct lapse_order *order) {
    return order->part_count > 0;
}
static inline bool lapse_order_whole(const struct lapse_order *order) {
    return lapse_order_begun(order) && order->taken == order->part_count;
}
/* Whether a key with this hash has its place here. */
static inline bool lapse_order_holds(const struct lapse_order *order, uint32_t hash) {
    return lapse_order_begun(order) && (hash & (order->part_count - 1)) < order->taken;
}
/* Makes the order of a table, unless it is whole. False, and it is given up, when memory runs out.
 */
bool lapse_order_make(const lapse_alloc *alloc, struct lapse_order *order,
                      const struct lapse_table *table);
/* Begins to make it in pieces; it holds nothing yet. */
void lapse_order_begin(struct lapse_order *order, const struct lapse_table *table);
/* Takes in a piece of at least `rows` rows, or what is left. Gives the order up when memory runs
 * out. */
void lapse_order_take(const lapse_alloc *alloc, struct lapse_order *order,
                      const struct lapse_table *table, size_t rows);
/* Takes in the newest row of a key that it holds, in place of an older one. Gives the order up when
 * memory runs out. */
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
