/* The loader's memory. Chunks double up to a bound, so that a small plan stays small and a large
 * one takes few of them. */
#include "scenarios/pool.h"

#include <string.h>

enum { CHUNK_BYTES_FIRST = 4096, CHUNK_BYTES_MAX = 65536, ALIGNMENT = 16 };

struct lapse_pool_chunk {
    struct lapse_pool_chunk *next;
    size_t bytes; /* with this header */
    size_t used;
};

static struct lapse_pool_chunk *add_chunk(struct lapse_pool *pool, size_t bytes);

void lapse_pool_init(struct lapse_pool *pool, const lapse_alloc *alloc) {
    pool->alloc = alloc;
    pool->chunks = NULL;
    pool->failed = false;
}

void lapse_pool_free(struct lapse_pool *pool) {
    while (pool->chunks != NULL) {
        struct lapse_pool_chunk *chunk = pool->chunks;
        pool->chunks = chunk->next;
        lapse_alloc_free(pool->alloc, chunk, chunk->bytes);
    }
}

void *lapse_pool_take(struct lapse_pool *pool, size_t bytes) {
    if (bytes > SIZE_MAX / 2) {
        pool->failed = true;
        return NULL;
    }
    size_t rounded = ((bytes == 0 ? 1 : bytes) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct lapse_pool_chunk *chunk = pool->chunks;
    if (chunk == NULL || chunk->bytes - chunk->used < rounded) {
        chunk = add_chunk(pool, rounded);
    }
    if (chunk == NULL) {
        return NULL;
    }
    char *taken = (char *)chunk + chunk->used;
    chunk->used += rounded;
    memset(taken, 0, rounded);
    return taken;
}

char *lapse_pool_text(struct lapse_pool *pool, const char *text, size_t len) {
    char *copy = lapse_pool_take(pool, len + 1);
    if (copy != NULL && len > 0) {
        memcpy(copy, text, len);
    }
    return copy;
}

void *lapse_list_add(const lapse_alloc *alloc, struct lapse_list *list) {
    LAPSE_ASSERT(list->item_bytes > 0);
    if (!lapse_alloc_grow(alloc, &list->items, &list->cap, list->count + 1, list->item_bytes)) {
        return NULL;
    }
    char *item = (char *)list->items + list->count * list->item_bytes;
    memset(item, 0, list->item_bytes);
    list->count++;
    return item;
}

void *lapse_list_at(const struct lapse_list *list, size_t index) {
    LAPSE_ASSERT(index < list->count);
    return (char *)list->items + index * list->item_bytes;
}

void *lapse_list_seal(const struct lapse_list *list, struct lapse_pool *pool) {
    if (list->count == 0) {
        return NULL;
    }
    void *copy = lapse_pool_take(pool, list->count * list->item_bytes);
    if (copy != NULL) {
        memcpy(copy, list->items, list->count * list->item_bytes);
    }
    return copy;
}

void lapse_list_free(const lapse_alloc *alloc, struct lapse_list *list) {
    lapse_alloc_free(alloc, list->items, list->cap * list->item_bytes);
    list->items = NULL;
    list->count = list->cap = 0;
}

static struct lapse_pool_chunk *add_chunk(struct lapse_pool *pool, size_t bytes) {
    size_t header = (sizeof(struct lapse_pool_chunk) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t whole = CHUNK_BYTES_FIRST;
    if (pool->chunks != NULL) {
        whole = pool->chunks->bytes < CHUNK_BYTES_MAX ? pool->chunks->bytes * 2 : CHUNK_BYTES_MAX;
    }
    whole = whole < bytes + header ? bytes + header : whole;
    struct lapse_pool_chunk *chunk = pool->alloc->resize(pool->alloc->ctx, NULL, 0, whole);
    if (chunk == NULL) {
        pool->failed = true;
        return NULL;
    }
    chunk->next = pool->chunks;
    chunk->bytes = whole;
    chunk->used = header;
    pool->chunks = chunk;
    return chunk;
}
