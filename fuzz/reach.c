/* The set of all states: a table by number of state, and one by pair of places. */
#include "fuzz/reach.h"
#include "fuzz/states.h"
#include "sim/explore.h"

#include <string.h>

enum { PLACES_FIRST = 256 };

static enum lapse_status add(const lapse_alloc *alloc, struct lapse_reach_table *table,
                             uint64_t key, size_t most, uint32_t *ret, bool *ret_new);
static bool make_room(const lapse_alloc *alloc, struct lapse_reach_table *table);
static size_t slot_of(const struct lapse_reach_table *table, uint64_t key);
static int64_t find(const struct lapse_reach_table *table, uint64_t key);
static void free_table(const lapse_alloc *alloc, struct lapse_reach_table *table);
static void seen_protocol(void *ctx, uint64_t state);
static void seen_scenario(void *ctx, uint64_t state, const struct lapse_moment *moment);

enum lapse_status lapse_reach_digest(const lapse_alloc *alloc, const struct lapse_plan *plan,
                                     uint64_t *ret, struct lapse_error *err) {
    struct lapse_plan nameless = *plan;
    const struct lapse_plan *plans[] = {&nameless};
    struct lapse_emitted text;
    struct lapse_digest digest;
    nameless.name = "explored";
    enum lapse_status status = lapse_plans_emit(alloc, plans, 1, &text, err);
    if (status == LAPSE_OK) {
        lapse_digest_begin(&digest);
        lapse_digest_bytes(&digest,
                           (struct lapse_bytes){(const unsigned char *)text.text, text.bytes});
        *ret = lapse_digest_value(&digest);
        lapse_emitted_free(&text);
    }
    return status;
}

void lapse_reach_init(struct lapse_reach *reach, const lapse_alloc *alloc, bool protocol,
                      uint64_t digest) {
    *reach = (struct lapse_reach){.alloc = alloc, .protocol = protocol, .digest = digest};
    reach->words.item_bytes = sizeof(size_t);
}

void lapse_reach_free(struct lapse_reach *reach) {
    free_table(reach->alloc, &reach->states);
    free_table(reach->alloc, &reach->moves);
    lapse_list_free(reach->alloc, &reach->words);
    lapse_alloc_free(reach->alloc, reach->text, reach->text_cap);
    lapse_reach_init(reach, reach->alloc, reach->protocol, reach->digest);
}

enum lapse_status lapse_reach_state(struct lapse_reach *reach, uint64_t state, uint32_t *ret,
                                    bool *ret_new) {
    return add(reach->alloc, &reach->states, state, LAPSE_REACH_STATES_MAX, ret, ret_new);
}

enum lapse_status lapse_reach_words(struct lapse_reach *reach, const char *words, size_t bytes) {
    void *text = reach->text;
    if (!lapse_alloc_grow(reach->alloc, &text, &reach->text_cap, reach->text_bytes + bytes + 1,
                          1)) {
        return LAPSE_NOMEM;
    }
    reach->text = text;
    size_t *place = lapse_list_add(reach->alloc, &reach->words);
    if (place == NULL) {
        return LAPSE_NOMEM;
    }
    *place = reach->text_bytes;
    memcpy(reach->text + reach->text_bytes, words, bytes);
    reach->text[reach->text_bytes + bytes] = '\0';
    reach->text_bytes += bytes + 1;
    return LAPSE_OK;
}

enum lapse_status lapse_reach_move(struct lapse_reach *reach, uint32_t from, uint32_t to) {
    uint32_t place;
    bool is_new;
    return from == to ? LAPSE_OK
                      : add(reach->alloc, &reach->moves, (uint64_t)from << 32 | to,
                            LAPSE_REACH_MOVES_MAX, &place, &is_new);
}

int64_t lapse_reach_find_state(const struct lapse_reach *reach, uint64_t state) {
    return find(&reach->states, state);
}

int64_t lapse_reach_find_move(const struct lapse_reach *reach, uint32_t from, uint32_t to) {
    return find(&reach->moves, (uint64_t)from << 32 | to);
}

const char *lapse_reach_tell(const struct lapse_reach *reach, size_t state) {
    return reach->text + *(const size_t *)lapse_list_at(&reach->words, state);
}

enum lapse_status lapse_reach_look(struct lapse_reach_seer *seer,
                                   const struct lapse_history *history, struct lapse_error *err) {
    if (seer->plan->explore.on) {
        return lapse_explore_view(&seer->plan->explore, history, seen_protocol, seer, err);
    }
    lapse_states_trail(history, seen_scenario, seer);
    return LAPSE_OK;
}

void lapse_reach_say(const struct lapse_plan *plan, uint64_t state, const void *moment,
                     void (*put)(void *ctx, const char *text), void *ctx) {
    if (plan->explore.on) {
        lapse_explore_abstract_tell(&plan->explore, state, put, ctx);
    } else {
        lapse_moment_tell(moment, put, ctx);
    }
}

static void seen_protocol(void *ctx, uint64_t state) {
    struct lapse_reach_seer *seer = ctx;
    seer->seen(seer, state, NULL);
}

static void seen_scenario(void *ctx, uint64_t state, const struct lapse_moment *moment) {
    struct lapse_reach_seer *seer = ctx;
    seer->seen(seer, state, moment);
}

static enum lapse_status add(const lapse_alloc *alloc, struct lapse_reach_table *table,
                             uint64_t key, size_t most, uint32_t *ret, bool *ret_new) {
    int64_t at = find(table, key);
    *ret_new = at < 0;
    if (at >= 0) {
        *ret = (uint32_t)at;
        return LAPSE_OK;
    }
    if (table->count == most) {
        return LAPSE_LIMIT;
    }
    if (!make_room(alloc, table)) {
        return LAPSE_NOMEM;
    }
    *ret = (uint32_t)table->count;
    table->keys[table->count++] = key;
    table->places[slot_of(table, key)] = (uint32_t)table->count;
    return LAPSE_OK;
}

/* For one more key; the places are at most half in use. */
static bool make_room(const lapse_alloc *alloc, struct lapse_reach_table *table) {
    void *keys = table->keys;
    if (!lapse_alloc_grow(alloc, &keys, &table->cap, table->count + 1, sizeof(*table->keys))) {
        return false;
    }
    table->keys = keys;
    if (2 * (table->count + 1) <= table->place_cap) {
        return true;
    }
    size_t cap = table->place_cap > 0 ? 2 * table->place_cap : PLACES_FIRST;
    uint32_t *places = lapse_alloc_zero(alloc, cap * sizeof(*places));
    if (places == NULL) {
        return false;
    }
    lapse_alloc_free(alloc, table->places, table->place_cap * sizeof(*table->places));
    table->places = places;
    table->place_cap = cap;
    for (size_t i = 0; i < table->count; i++) {
        table->places[slot_of(table, table->keys[i])] = (uint32_t)(i + 1);
    }
    return true;
}

/* Where the key is, or would be. */
static size_t slot_of(const struct lapse_reach_table *table, uint64_t key) {
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash ^ hash >> 29) & (table->place_cap - 1);
    while (table->places[at] != 0 && table->keys[table->places[at] - 1] != key) {
        at = (at + 1) & (table->place_cap - 1);
    }
    return at;
}

static int64_t find(const struct lapse_reach_table *table, uint64_t key) {
    return table->place_cap == 0 ? -1 : (int64_t)table->places[slot_of(table, key)] - 1;
}

static void free_table(const lapse_alloc *alloc, struct lapse_reach_table *table) {
    lapse_alloc_free(alloc, table->keys, table->cap * sizeof(*table->keys));
    lapse_alloc_free(alloc, table->places, table->place_cap * sizeof(*table->places));
    *table = (struct lapse_reach_table){0};
}
