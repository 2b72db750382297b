/* Chunks: memory that only grows, handed out at addresses that never move, and that can be cut back
 * to a mark. History and diagnostics keep their texts here. Private to contracts. */
#ifndef CONTRACTS_CHUNKS_H
#define CONTRACTS_CHUNKS_H

#include "lapse/base.h"

enum { LAPSE_CHUNK_BYTES = 32 * 1024 };

struct lapse_chunk {
    unsigned char *data;
    size_t used, bytes;
};

struct lapse_chunks {
    const lapse_alloc *alloc; /* borrowed */
    struct lapse_chunk *items;
    size_t count, cap;
    size_t current; /* the chunk being filled; those behind it are empty */
};

void lapse_chunks_init(struct lapse_chunks *chunks, const lapse_alloc *alloc);
void lapse_chunks_free(struct lapse_chunks *chunks);
/* Memory for any object, uninitialised; bytes > 0. NULL when memory runs out. */
void *lapse_chunks_take(struct lapse_chunks *chunks, size_t bytes);
/* Takes back all that was handed out since the current chunk was `current`, filled to `used`. */
void lapse_chunks_cut(struct lapse_chunks *chunks, size_t current, size_t used);
/* How far the current chunk is filled. */
size_t lapse_chunks_used(const struct lapse_chunks *chunks);

#endif
