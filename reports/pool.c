/* Blocks in a chain, each with its own size before it, so that all can be given back. */
#include "pool.h"

#include <string.h>

enum { ALIGNMENT = 16, BLOCK_BYTES = 64 * 1024 };

struct lapse_pool_block {
    struct lapse_pool_block *before;
    size_t bytes; /* with this head */
};

static bool block_add(struct lapse_pool *pool, size_t bytes);

void lapse_pool_init(struct lapse_pool *pool, const lapse_alloc *alloc) {
    *pool = (struct lapse_pool){.alloc = alloc};
}

void lapse_pool_free(struct lapse_pool *pool) {
    for (struct lapse_pool_block *block = pool->last; block != NULL;) {
        struct lapse_pool_block *before = block->before;
        lapse_alloc_free(pool->alloc, block, block->bytes);
        block = before;
    }
    lapse_pool_init(pool, pool->alloc);
}

void *lapse_pool_take(struct lapse_pool *pool, size_t bytes) {
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

static bool block_add(struct lapse_pool *pool, size_t bytes) {
    const size_t head = (sizeof(struct lapse_pool_block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t whole = head + bytes < BLOCK_BYTES ? BLOCK_BYTES : head + bytes;
    struct lapse_pool_block *block = pool->alloc->resize(pool->alloc->ctx, NULL, 0, whole);
    if (block == NULL) {
        return false;
    }
    *block = (struct lapse_pool_block){pool->last, whole};
    pool->last = block;
    pool->used = head;
    pool->bytes = whole;
    return true;
}
