/* Blocks in a chain, each with its own size before it, so that all can be given back. */
#include "pool.h"

#include <string.h>

enum { ALIGNMENT = 16, BLOCK_BYTES = 64 * 1024 };

struct lapse_reading_block {
    struct lapse_reading_block *before;
    size_t bytes; /* with this head */
};

enum {
    BLOCK_HEAD = (sizeof(struct lapse_reading_block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT
};

static bool block_add(struct lapse_reading_pool *pool, size_t bytes);

void lapse_reading_pool_init(struct lapse_reading_pool *pool, const lapse_alloc *alloc) {
    *pool = (struct lapse_reading_pool){.alloc = alloc};
}

void lapse_reading_pool_free(struct lapse_reading_pool *pool) {
    for (struct lapse_reading_block *block = pool->last; block != NULL;) {
        struct lapse_reading_block *before = block->before;
        lapse_alloc_free(pool->alloc, block, block->bytes);
        block = before;
    }
    lapse_reading_pool_init(pool, pool->alloc);
}

void lapse_reading_pool_reset(struct lapse_reading_pool *pool) {
    if (pool->last != NULL && pool->last->before == NULL && pool->last->bytes <= BLOCK_BYTES) {
        pool->used = BLOCK_HEAD;
    } else {
        lapse_reading_pool_free(pool);
    }
}

void *lapse_reading_pool_take(struct lapse_reading_pool *pool, size_t bytes) {
    if (bytes > SIZE_MAX / 2) {
        return NULL;
    }
    size_t need = (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    if (need > pool->bytes - pool->used && !block_add(pool, need)) {
        return NULL;
    }
    unsigned char *taken = (unsigned char *)pool->last + pool->used;
    pool->used += need;
    memset(taken, 0, need);
    return taken;
}

static bool block_add(struct lapse_reading_pool *pool, size_t bytes) {
    size_t whole = BLOCK_HEAD + bytes < BLOCK_BYTES ? BLOCK_BYTES : BLOCK_HEAD + bytes;
    struct lapse_reading_block *block = pool->alloc->resize(pool->alloc->ctx, NULL, 0, whole);
    if (block == NULL) {
        return false;
    }
    *block = (struct lapse_reading_block){pool->last, whole};
    pool->last = block;
    pool->used = BLOCK_HEAD;
    pool->bytes = whole;
    return true;
}
