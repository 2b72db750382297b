/* Open addressing over an array of states. Two states are the same iff all their words are: the
 * hash only says where to look. */
#include "set.h"

#include <string.h>

enum { FIRST_CAP = 1024, TABLE_PER_STATE = 2 };

#if defined(__GNUC__)
#define FETCH(address) __builtin_prefetch(address)
#else
#define FETCH(address) ((void)(address))
#endif

static enum lapse_status add_one(struct set *set, const struct batch *batch, size_t which);
static uint64_t hash_of(const uint64_t *state, size_t words);
static enum lapse_status grow(struct set *set);
static bool grow_array(const struct set *set, void **array, size_t cap, size_t item_bytes);
static void put_all(struct set *set);

void lapse_explore_set_init(struct set *set, const lapse_alloc *alloc, size_t words,
                            uint64_t bytes_max) {
    *set = (struct set){.alloc = alloc, .words = words, .bytes_max = bytes_max};
}

void lapse_explore_set_finish(struct set *set) {
    lapse_alloc_free(set->alloc, set->states, set->cap * set->words * sizeof(*set->states));
    lapse_alloc_free(set->alloc, set->parents, set->cap * sizeof(*set->parents));
    lapse_alloc_free(set->alloc, set->moves, set->cap * sizeof(*set->moves));
    lapse_alloc_free(set->alloc, set->table, set->table_cap * sizeof(*set->table));
    *set = (struct set){0};
}

void lapse_explore_set_batch(const struct set *set, struct batch *batch, move_code move) {
    uint64_t hash = hash_of(batch->states[batch->count], set->words);
    batch->hashes[batch->count] = hash;
    batch->moves[batch->count] = move;
    batch->count++;
    if (set->table_cap > 0) {
        FETCH(&set->table[hash & (set->table_cap - 1)]);
    }
}

enum lapse_status lapse_explore_set_add(struct set *set, struct batch *batch) {
    size_t count = batch->count;
    batch->count = 0;
    for (size_t i = 0; i < count && set->table_cap > 0; i++) {
        uint32_t place = set->table[batch->hashes[i] & (set->table_cap - 1)];
        if (place != 0) {
            FETCH(lapse_explore_set_at(set, place - 1));
        }
    }
    for (size_t i = 0; i < count; i++) {
        enum lapse_status status = add_one(set, batch, i);
        if (status != LAPSE_OK) {
            return status;
        }
    }
    return LAPSE_OK;
}

static enum lapse_status add_one(struct set *set, const struct batch *batch, size_t which) {
    if (set->count == set->cap) {
        enum lapse_status status = grow(set);
        if (status != LAPSE_OK) {
            return status;
        }
    }
    size_t words = set->words;
    const uint64_t *state = batch->states[which];
    size_t at = (size_t)batch->hashes[which] & (set->table_cap - 1);
    for (; set->table[at] != 0; at = (at + 1) & (set->table_cap - 1)) {
        const uint64_t *seen = lapse_explore_set_at(set, set->table[at] - 1);
        size_t same = 0;
        while (same < words && seen[same] == state[same]) {
            same++;
        }
        if (same == words) {
            return LAPSE_OK;
        }
    }
    memcpy(&set->states[set->count * words], state, words * sizeof(*state));
    set->parents[set->count] = batch->parent;
    set->moves[set->count] = batch->moves[which];
    set->table[at] = (uint32_t)++set->count;
    set->digest += batch->hashes[which]; /* a sum does not depend on the order */
    return LAPSE_OK;
}

static uint64_t hash_of(const uint64_t *state, size_t words) {
    uint64_t hash = 0;
    for (size_t i = 0; i < words; i++) {
        hash = (hash ^ state[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
        hash *= UINT64_C(0xbf58476d1ce4e5b9);
        hash ^= hash >> 29;
    }
    return hash;
}

/* Twice as many. The old arrays stand beside the new ones for a moment, and count. */
static enum lapse_status grow(struct set *set) {
    size_t cap = set->cap == 0 ? FIRST_CAP : set->cap * 2;
    size_t state_bytes = set->words * sizeof(*set->states);
    uint64_t each = state_bytes + sizeof(*set->parents) + sizeof(*set->moves) +
                    TABLE_PER_STATE * sizeof(*set->table);
    if (cap > UINT32_MAX / 2 || cap * each + set->cap * state_bytes > set->bytes_max) {
        return LAPSE_LIMIT;
    }
    size_t table_cap = cap * TABLE_PER_STATE;
    uint32_t *table = lapse_alloc_zero(set->alloc, table_cap * sizeof(*table));
    void *states = set->states, *parents = set->parents, *moves = set->moves;
    /* An array that has grown while another has not is only larger than it need be. */
    bool grown = table != NULL && grow_array(set, &states, cap, state_bytes);
    set->states = states;
    bool all = grown && grow_array(set, &parents, cap, sizeof(*set->parents));
    set->parents = parents;
    all = all && grow_array(set, &moves, cap, sizeof(*set->moves));
    set->moves = moves;
    if (!all) {
        lapse_alloc_free(set->alloc, table, table_cap * sizeof(*table));
        return LAPSE_NOMEM;
    }
    lapse_alloc_free(set->alloc, set->table, set->table_cap * sizeof(*set->table));
    set->table = table;
    set->table_cap = table_cap;
    set->cap = cap;
    put_all(set);
    return LAPSE_OK;
}

static bool grow_array(const struct set *set, void **array, size_t cap, size_t item_bytes) {
    void *grown =
        set->alloc->resize(set->alloc->ctx, *array, set->cap * item_bytes, cap * item_bytes);
    *array = grown == NULL ? *array : grown;
    return grown != NULL;
}

static void put_all(struct set *set) {
    for (size_t i = 0; i < set->count; i++) {
        size_t at =
            (size_t)hash_of(lapse_explore_set_at(set, i), set->words) & (set->table_cap - 1);
        while (set->table[at] != 0) {
            at = (at + 1) & (set->table_cap - 1);
        }
        set->table[at] = (uint32_t)i + 1;
    }
}
