/* What the engine is measured against: the barest things that could do the same work. They check no
 * argument, keep no order, undo nothing, and are never part of the library. */
#ifndef BENCH_REFERENCE_H
#define BENCH_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REFERENCE_BYTES_MAX = 20 };

/* An open-addressing table with linear probing: one cache line a key, key and value inside. */
struct reference_slot {
    uint64_t hash; /* 0: empty */
    int64_t end_ns;
    uint32_t key_len, value_len;
    unsigned char key[REFERENCE_BYTES_MAX], value[REFERENCE_BYTES_MAX];
};

struct reference_table {
    struct reference_slot *slots;
    size_t mask;
};

/* Room for `keys` at most half full. False when memory runs out. */
bool reference_table_init(struct reference_table *table, size_t keys);
void reference_table_finish(struct reference_table *table);
void reference_table_set(struct reference_table *table, const void *key, size_t key_len,
                         const void *value, size_t value_len, int64_t end_ns);
/* The slot of a key whose end lies after now_ns, or NULL. */
struct reference_slot *reference_table_get(const struct reference_table *table, const void *key,
                                           size_t key_len, int64_t now_ns);

/* A binary heap of deadlines, each with the number of what ends. */
struct reference_deadline {
    int64_t end_ns;
    uint64_t id;
};

void reference_heap_push(struct reference_deadline *heap, size_t *count,
                         struct reference_deadline deadline);
struct reference_deadline reference_heap_pop(struct reference_deadline *heap, size_t *count);

#endif
