/* Private: a binary heap of dated rows, with each row's position kept in the row, so that a changed
 * end costs a logarithm. It tells what is due; it decides nothing. */
#ifndef ENGINE_HEAP_H
#define ENGINE_HEAP_H

#include "node.h"

struct lapse_heap {
    const struct lapse_buckets *buckets; /* for the order of names */
    struct lapse_node **items;
    size_t count, cap;
};

/* Room for `more` rows beyond those held. False, nothing changed, when memory runs out. */
bool lapse_heap_reserve(const lapse_alloc *alloc, struct lapse_heap *heap, size_t more);
/* Needs reserved room. */
void lapse_heap_insert(struct lapse_heap *heap, struct lapse_node *node);
void lapse_heap_remove(struct lapse_heap *heap, struct lapse_node *node);
/* Puts a row right whose place in the order has changed. */
void lapse_heap_moved(struct lapse_heap *heap, struct lapse_node *node);
void lapse_heap_finish(const lapse_alloc *alloc, struct lapse_heap *heap);
/* Whether a comes before b: by end, then records before leases before sessions, then revision,
 * bucket, key. A session stands where the first of the rows that end with it does. */
bool lapse_heap_before(const struct lapse_buckets *buckets, const struct lapse_node *a,
                       const struct lapse_node *b);
/* The same among rows that end at one instant. */
bool lapse_heap_before_at_once(const struct lapse_buckets *buckets, const struct lapse_node *a,
                               const struct lapse_node *b);
/* Order and positions hold, and every row has an end of `kind`. */
enum lapse_status lapse_heap_check(const struct lapse_heap *heap, enum lapse_end_kind kind,
                                   struct lapse_error *err);

#endif
