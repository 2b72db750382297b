/* A pool: memory that is handed out piece by piece and given back all at once. What is read of a
 * recorded history lies in one, and the line in hand in another. Private to reports. */
#ifndef REPORTS_POOL_H
#define REPORTS_POOL_H

#include "lapse/base.h"

struct lapse_reading_block;
struct lapse_reading_pool {
    const lapse_alloc *alloc; /* borrowed */
    struct lapse_reading_block *last;
    size_t used, bytes; /* of the last block */
};

void lapse_reading_pool_init(struct lapse_reading_pool *pool, const lapse_alloc *alloc);
void lapse_reading_pool_free(struct lapse_reading_pool *pool);
/* Takes all back that was handed out, and keeps a block for what comes next. */
void lapse_reading_pool_reset(struct lapse_reading_pool *pool);
/* Zeroed memory for any object, or NULL when memory runs out. bytes may be 0: an address that holds
 * nothing, and no NULL. */
void *lapse_reading_pool_take(struct lapse_reading_pool *pool, size_t bytes);

#endif
