/* The allocator's conveniences over its one function, and the C library's as an allocator. */
#include "lapse/base.h"

#include <stdlib.h>
#include <string.h>

static void *libc_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes);

static const lapse_alloc libc_alloc = {libc_resize, NULL};

const lapse_alloc *lapse_alloc_libc(void) {
    return &libc_alloc;
}

void *lapse_alloc_zero(const lapse_alloc *alloc, size_t bytes) {
    LAPSE_ASSERT(bytes > 0);
    void *ptr = alloc->resize(alloc->ctx, NULL, 0, bytes);
    if (ptr != NULL) {
        memset(ptr, 0, bytes);
    }
    return ptr;
}

void lapse_alloc_free(const lapse_alloc *alloc, void *ptr, size_t bytes) {
    if (ptr != NULL) {
        (void)alloc->resize(alloc->ctx, ptr, bytes, 0);
    }
}

bool lapse_alloc_grow(const lapse_alloc *alloc, void **array, size_t *cap, size_t count,
                      size_t item_bytes) {
    LAPSE_ASSERT(item_bytes > 0);
    if (count <= *cap) {
        return true;
    }
    size_t grown = *cap < 8 ? 8 : *cap;
    while (grown < count) {
        if (grown > SIZE_MAX / 2) {
            return false;
        }
        grown *= 2;
    }
    if (grown > SIZE_MAX / item_bytes) {
        return false;
    }
    void *moved = alloc->resize(alloc->ctx, *array, *cap * item_bytes, grown * item_bytes);
    if (moved == NULL) {
        return false;
    }
    *array = moved;
    *cap = grown;
    return true;
}

static void *libc_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    (void)ctx;
    (void)old_bytes;
    if (new_bytes == 0) {
        free(ptr);
        return NULL;
    }
    return ptr == NULL ? malloc(new_bytes) : realloc(ptr, new_bytes);
}
