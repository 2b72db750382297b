/* Bags of configurations. Those that are equal but for the open calls used form a chain, on which
 * none has used all that another one has: the thriftier one can do whatever the other can. */
#include "linear_parts.h"

#include <string.h>

/* So many of a chain are looked at in the time of a step. */
enum { TABLE_MIN = 64, MEMBERS_PER_STEP = 32 };

static uint64_t key_hash(const struct lapse_linear_bag *bag,
                         const struct lapse_linear_config *config, const uint64_t *bits);
static bool key_equal(const struct lapse_linear_bag *bag, uint32_t index,
                      const struct lapse_linear_config *config, const uint64_t *bits);
static bool table_grow(struct lapse_linear_bag *bag);
static bool stands_for(const struct lapse_linear_bag *bag, const uint64_t *less,
                       const uint64_t *more);
static bool append(struct lapse_linear_bag *bag, const struct lapse_linear_config *config,
                   const uint64_t *bits);
static size_t place_of(const struct lapse_linear_bag *bag, const struct lapse_linear_config *config,
                       const uint64_t *bits);
static bool thin_chain(struct lapse_linear_bag *bag, size_t place, const uint64_t *bits,
                       uint64_t *ret_looked_at);
static bool charge(struct lapse_linear_steps *steps, uint64_t looked_at);
static uint64_t entry_of(const struct lapse_linear_bag *bag, uint32_t index);
static uint32_t index_of(uint64_t entry);
static bool fresh(const struct lapse_linear_bag *bag, uint64_t entry);

void lapse_linear_bag_init(struct lapse_linear_bag *bag, const lapse_alloc *alloc,
                           const struct lapse_linear_plan *plan, struct lapse_linear_steps *steps) {
    *bag = (struct lapse_linear_bag){.alloc = alloc, .plan = plan, .steps = steps, .stamp = 1};
}

void lapse_linear_bag_free(struct lapse_linear_bag *bag) {
    lapse_alloc_free(bag->alloc, bag->items, bag->items_cap * sizeof(*bag->items));
    lapse_alloc_free(bag->alloc, bag->bits, bag->bits_cap * bag->plan->words * sizeof(*bag->bits));
    lapse_alloc_free(bag->alloc, bag->table, bag->table_cap * sizeof(*bag->table));
}

/* Old entries of the table are told by their stamp, so that a small bag costs little. */
void lapse_linear_bag_clear(struct lapse_linear_bag *bag) {
    bag->count = bag->live = bag->chains = 0;
    if (++bag->stamp == UINT32_MAX) {
        memset(bag->table, 0, bag->table_cap * sizeof(*bag->table));
        bag->stamp = 1;
    }
}

bool lapse_linear_bag_put(struct lapse_linear_bag *bag, const struct lapse_linear_config *config,
                          const uint64_t *bits, bool *ret_taken) {
    *ret_taken = false;
    if ((bag->chains + 1) * 2 > bag->table_cap && !table_grow(bag)) {
        return false;
    }
    size_t place = place_of(bag, config, bits);
    bool chained = fresh(bag, bag->table[place]);
    uint64_t looked_at = 0;
    bool wanted = !chained || thin_chain(bag, place, bits, &looked_at);
    if (!charge(bag->steps, looked_at)) {
        return false;
    }
    if (!wanted) {
        return true;
    }
    if (!append(bag, config, bits)) {
        return false;
    }
    uint32_t index = (uint32_t)bag->count - 1;
    bag->items[index].next = chained ? index_of(bag->table[place]) : LAPSE_LINEAR_NONE;
    bag->table[place] = entry_of(bag, index);
    bag->chains += chained ? 0 : 1;
    *ret_taken = true;
    return true;
}

static size_t place_of(const struct lapse_linear_bag *bag, const struct lapse_linear_config *config,
                       const uint64_t *bits) {
    size_t mask = bag->table_cap - 1;
    size_t at = key_hash(bag, config, bits) & mask;
    while (fresh(bag, bag->table[at]) && !key_equal(bag, index_of(bag->table[at]), config, bits)) {
        at = (at + 1) & mask;
    }
    return at;
}

/* Takes from a chain what the newcomer stands for; false if one of it stands for the newcomer. The
 * first of a chain stays in the table, dead or not, until another one takes its place. */
static bool thin_chain(struct lapse_linear_bag *bag, size_t place, const uint64_t *bits,
                       uint64_t *ret_looked_at) {
    size_t words = bag->plan->words;
    uint32_t first = index_of(bag->table[place]);
    for (uint32_t at = first; at != LAPSE_LINEAR_NONE; at = bag->items[at].next) {
        ++*ret_looked_at;
        if (!bag->items[at].dead && stands_for(bag, bag->bits + at * words, bits)) {
            return false;
        }
    }
    uint32_t last = first;
    for (uint32_t at = first; at != LAPSE_LINEAR_NONE; at = bag->items[at].next) {
        bool dies = !bag->items[at].dead && stands_for(bag, bits, bag->bits + at * words);
        if (dies) {
            bag->items[at].dead = true;
            bag->live--;
        }
        if (dies && at != first) {
            bag->items[last].next = bag->items[at].next;
        } else {
            last = at;
        }
    }
    return true;
}

/* Chains can grow long while the model is asked little. */
static bool charge(struct lapse_linear_steps *steps, uint64_t looked_at) {
    uint64_t cost = looked_at / MEMBERS_PER_STEP, left = steps->max - steps->taken;
    steps->taken += cost < left ? cost : left;
    return cost <= left;
}

static bool stands_for(const struct lapse_linear_bag *bag, const uint64_t *less,
                       const uint64_t *more) {
    for (size_t i = bag->plan->answered_words; i < bag->plan->words; i++) {
        if ((less[i] & ~more[i]) != 0) {
            return false;
        }
    }
    return true;
}

static bool append(struct lapse_linear_bag *bag, const struct lapse_linear_config *config,
                   const uint64_t *bits) {
    size_t words = bag->plan->words;
    if (bag->count + 1 >= LAPSE_LINEAR_NONE ||
        !lapse_alloc_grow(bag->alloc, (void **)&bag->items, &bag->items_cap, bag->count + 1,
                          sizeof(*bag->items)) ||
        !lapse_alloc_grow(bag->alloc, (void **)&bag->bits, &bag->bits_cap, bag->count + 1,
                          words * sizeof(*bits))) {
        return false;
    }
    bag->items[bag->count] = *config;
    bag->items[bag->count].dead = false;
    memcpy(bag->bits + bag->count * words, bits, words * sizeof(*bits));
    bag->count++;
    bag->live++;
    return true;
}

static bool key_equal(const struct lapse_linear_bag *bag, uint32_t index,
                      const struct lapse_linear_config *config, const uint64_t *bits) {
    const struct lapse_linear_config *other = &bag->items[index];
    return other->state == config->state && other->passed == config->passed &&
           memcmp(bag->bits + index * bag->plan->words, bits,
                  bag->plan->answered_words * sizeof(*bits)) == 0;
}

static uint64_t key_hash(const struct lapse_linear_bag *bag,
                         const struct lapse_linear_config *config, const uint64_t *bits) {
    uint64_t hash = ((uint64_t)config->passed << 32 | config->state) + 1;
    for (size_t i = 0; i <= bag->plan->answered_words; i++) {
        hash *= UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
        hash ^= i < bag->plan->answered_words ? bits[i] : 0;
    }
    return hash;
}

static bool table_grow(struct lapse_linear_bag *bag) {
    size_t cap = bag->table_cap == 0 ? TABLE_MIN : bag->table_cap * 2;
    uint64_t *table = lapse_alloc_zero(bag->alloc, cap * sizeof(*table));
    if (table == NULL) {
        return false;
    }
    for (size_t i = 0; i < bag->table_cap; i++) {
        if (!fresh(bag, bag->table[i])) {
            continue;
        }
        uint32_t index = index_of(bag->table[i]);
        size_t at = key_hash(bag, &bag->items[index], bag->bits + index * bag->plan->words);
        at &= cap - 1;
        while (table[at] != 0) {
            at = (at + 1) & (cap - 1);
        }
        table[at] = bag->table[i];
    }
    lapse_alloc_free(bag->alloc, bag->table, bag->table_cap * sizeof(*table));
    bag->table = table;
    bag->table_cap = cap;
    return true;
}

static uint64_t entry_of(const struct lapse_linear_bag *bag, uint32_t index) {
    return (uint64_t)bag->stamp << 32 | index;
}

static uint32_t index_of(uint64_t entry) {
    return (uint32_t)entry;
}

static bool fresh(const struct lapse_linear_bag *bag, uint64_t entry) {
    return entry >> 32 == bag->stamp;
}
