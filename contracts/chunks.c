/* Chunks: one list of blocks, filled in order. A cut keeps the blocks behind it for the next use,
 * because a snapshot is cut back to many times. */
#include "chunks.h"

enum { ALIGNMENT = 16 };

static bool chunk_make(struct lapse_chunks *chunks, size_t index, size_t bytes);

void lapse_chunks_init(struct lapse_chunks *chunks, const lapse_alloc *alloc) {
    *chunks = (struct lapse_chunks){.alloc = alloc};
}

void lapse_chunks_free(struct lapse_chunks *chunks) {
    for (size_t i = 0; i < chunks->count; i++) {
        lapse_alloc_free(chunks->alloc, chunks->items[i].data, chunks->items[i].bytes);
    }
    lapse_alloc_free(chunks->alloc, chunks->items, chunks->cap * sizeof(*chunks->items));
    lapse_chunks_init(chunks, chunks->alloc);
}

void *lapse_chunks_take(struct lapse_chunks *chunks, size_t bytes) {
    LAPSE_ASSERT(bytes > 0);
    if (bytes > SIZE_MAX - ALIGNMENT) {
        return NULL;
    }
    size_t need = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t index = chunks->current;
    if (index < chunks->count && need > chunks->items[index].bytes - chunks->items[index].used) {
        index++;
    }
    if (!chunk_make(chunks, index, need)) {
        return NULL;
    }
    struct lapse_chunk *chunk = &chunks->items[index];
    void *taken = chunk->data + chunk->used;
    chunk->used += need;
    chunks->current = index;
    return taken;
}

void lapse_chunks_cut(struct lapse_chunks *chunks, size_t current, size_t used) {
    for (size_t i = current; i < chunks->count; i++) {
        chunks->items[i].used = i == current ? used : 0;
    }
    chunks->current = current;
}

size_t lapse_chunks_used(const struct lapse_chunks *chunks) {
    return chunks->current < chunks->count ? chunks->items[chunks->current].used : 0;
}

/* Sees to it that chunk `index`, the current one or the next, has room for `bytes`. */
static bool chunk_make(struct lapse_chunks *chunks, size_t index, size_t bytes) {
    if (index == chunks->count) {
        if (!lapse_alloc_grow(chunks->alloc, (void **)&chunks->items, &chunks->cap,
                              chunks->count + 1, sizeof(*chunks->items))) {
            return false;
        }
        chunks->items[chunks->count++] = (struct lapse_chunk){0};
    }
    struct lapse_chunk *chunk = &chunks->items[index];
    if (bytes <= chunk->bytes - chunk->used) {
        return true;
    }
    LAPSE_ASSERT(chunk->used == 0);
    size_t wanted = bytes < LAPSE_CHUNK_BYTES ? LAPSE_CHUNK_BYTES : bytes;
    unsigned char *data = chunks->alloc->resize(chunks->alloc->ctx, NULL, 0, wanted);
    if (data == NULL) {
        return false;
    }
    lapse_alloc_free(chunks->alloc, chunk->data, chunk->bytes);
    *chunk = (struct lapse_chunk){data, 0, wanted};
    return true;
}
