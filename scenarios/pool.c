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
static size_t find_slot(const struct lapse_names *names, int kind, struct lapse_bytes text);
static bool grow_names(const lapse_alloc *alloc, struct lapse_names *names);

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

bool lapse_names_add(const lapse_alloc *alloc, struct lapse_names *names, int kind,
                     struct lapse_bytes text, int32_t number) {
    LAPSE_ASSERT(kind > 0);
    if (2 * (names->count + 1) > names->cap && !grow_names(alloc, names)) {
        return false;
    }
    size_t slot = find_slot(names, kind, text);
    LAPSE_ASSERT(names->slots[slot].kind == 0);
    names->slots[slot] = (struct lapse_name){text, kind, number};
    names->count++;
    return true;
}

int32_t lapse_names_find(const struct lapse_names *names, int kind, struct lapse_bytes text) {
    if (names->cap == 0) {
        return -1;
    }
    size_t slot = find_slot(names, kind, text);
    return names->slots[slot].kind == 0 ? -1 : names->slots[slot].number;
}

void lapse_names_free(const lapse_alloc *alloc, struct lapse_names *names) {
    lapse_alloc_free(alloc, names->slots, names->cap * sizeof(*names->slots));
    *names = (struct lapse_names){0};
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

/* The slot that holds the name, or the free one where it belongs. */
static size_t find_slot(const struct lapse_names *names, int kind, struct lapse_bytes text) {
    size_t slot = (size_t)(lapse_bytes_hash(text) + (uint64_t)kind) & (names->cap - 1);
    while (names->slots[slot].kind != 0 &&
           (names->slots[slot].kind != kind || !lapse_bytes_equal(names->slots[slot].text, text))) {
        slot = (slot + 1) & (names->cap - 1);
    }
    return slot;
}

static bool grow_names(const lapse_alloc *alloc, struct lapse_names *names) {
    struct lapse_names grown = {NULL, names->count, names->cap == 0 ? 16 : names->cap * 2};
    grown.slots = lapse_alloc_zero(alloc, grown.cap * sizeof(*grown.slots));
    if (grown.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < names->cap; i++) {
        const struct lapse_name *name = &names->slots[i];
        if (name->kind != 0) {
            grown.slots[find_slot(&grown, name->kind, name->text)] = *name;
        }
    }
    lapse_alloc_free(alloc, names->slots, names->cap * sizeof(*names->slots));
    *names = grown;
    return true;
}
