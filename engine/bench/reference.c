/* The bare table and the bare heap. */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const unsigned char *key, size_t len);
static struct reference_slot *slot_of(const struct reference_table *table, const void *key,
                                      size_t key_len);

bool reference_table_init(struct reference_table *table, size_t keys) {
    size_t count = 16;
    while (count < 2 * keys) {
        count *= 2;
    }
    table->mask = count - 1;
    table->slots = calloc(count, sizeof(*table->slots));
    return table->slots != NULL;
}

void reference_table_finish(struct reference_table *table) {
    free(table->slots);
    table->slots = NULL;
}

void reference_table_set(struct reference_table *table, const void *key, size_t key_len,
                         const void *value, size_t value_len, int64_t end_ns) {
    struct reference_slot *slot = slot_of(table, key, key_len);
    slot->hash = hash_of(key, key_len);
    slot->key_len = (uint32_t)key_len;
    slot->value_len = (uint32_t)value_len;
    memcpy(slot->key, key, key_len);
    memcpy(slot->value, value, value_len);
    slot->end_ns = end_ns;
}

struct reference_slot *reference_table_get(const struct reference_table *table, const void *key,
                                           size_t key_len, int64_t now_ns) {
    struct reference_slot *slot = slot_of(table, key, key_len);
    return slot->hash != 0 && now_ns < slot->end_ns ? slot : NULL;
}

void reference_heap_push(struct reference_deadline *heap, size_t *count,
                         struct reference_deadline deadline) {
    size_t at = (*count)++;
    while (at > 0 && deadline.end_ns < heap[(at - 1) / 2].end_ns) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = deadline;
}

struct reference_deadline reference_heap_pop(struct reference_deadline *heap, size_t *count) {
    struct reference_deadline top = heap[0];
    struct reference_deadline last = heap[--*count];
    size_t at = 0;
    for (size_t child = 1; child < *count; child = 2 * at + 1) {
        if (child + 1 < *count && heap[child + 1].end_ns < heap[child].end_ns) {
            child++;
        }
        if (last.end_ns <= heap[child].end_ns) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return top;
}

/* Eight bytes at a time, multiplied and folded: quick, and good enough for keys that are no attack.
 */
static uint64_t hash_of(const unsigned char *key, size_t len) {
    uint64_t hash = (uint64_t)len * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t at = 0; at < len; at += 8) {
        uint64_t word = 0;
        memcpy(&word, key + at, len - at < 8 ? len - at : 8);
        hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    return hash == 0 ? 1 : hash;
}

/* Where the key stands, or the empty slot where it would. */
static struct reference_slot *slot_of(const struct reference_table *table, const void *key,
                                      size_t key_len) {
    uint64_t hash = hash_of(key, key_len);
    size_t at = (size_t)hash & table->mask;
    while (table->slots[at].hash != 0 &&
           (table->slots[at].hash != hash || table->slots[at].key_len != key_len ||
            memcmp(table->slots[at].key, key, key_len) != 0)) {
        at = (at + 1) & table->mask;
    }
    return &table->slots[at];
}
