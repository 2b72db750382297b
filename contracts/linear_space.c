/* The space that both searches walk: states by number, bags of configurations in which one may
 * stand for others, and the moves from one configuration to the next. */
#include "linear_parts.h"

#include <string.h>

enum { WORD_BITS = 64 };

static uint64_t mixed(uint64_t hash, uint64_t word);
static bool states_grow(struct lapse_linear_states *states);
static uint64_t state_hash(const int64_t *words, size_t count);
static bool has_effect(const struct lapse_linear_plan *plan, uint32_t passed, const uint64_t *bits,
                       uint32_t call);

void lapse_linear_states_init(struct lapse_linear_states *states, const lapse_alloc *alloc,
                              size_t words) {
    *states = (struct lapse_linear_states){.alloc = alloc, .words = words};
}

void lapse_linear_states_free(struct lapse_linear_states *states) {
    lapse_alloc_free(states->alloc, states->items,
                     states->cap * states->words * sizeof(*states->items));
    lapse_alloc_free(states->alloc, states->table, states->table_cap * sizeof(*states->table));
}

uint32_t lapse_linear_states_find(struct lapse_linear_states *states, const int64_t *words) {
    if ((states->count + 1) * 2 > states->table_cap && !states_grow(states)) {
        return LAPSE_LINEAR_NONE;
    }
    size_t bytes = states->words * sizeof(*words);
    size_t mask = states->table_cap - 1;
    size_t at = state_hash(words, states->words) & mask;
    for (; states->table[at] != 0; at = (at + 1) & mask) {
        uint32_t number = states->table[at] - 1;
        if (memcmp(states->items + number * states->words, words, bytes) == 0) {
            return number;
        }
    }
    if (states->count + 1 >= LAPSE_LINEAR_NONE ||
        !lapse_alloc_grow(states->alloc, (void **)&states->items, &states->cap, states->count + 1,
                          bytes)) {
        return LAPSE_LINEAR_NONE;
    }
    memcpy(states->items + states->count * states->words, words, bytes);
    states->table[at] = (uint32_t)++states->count;
    return (uint32_t)states->count - 1;
}

enum lapse_linear_move lapse_linear_ask(struct lapse_linear_search *search, uint32_t state,
                                        uint32_t call, unsigned branch, uint32_t *ret) {
    const lapse_linear_model *model = search->plan->model;
    int64_t next[LAPSE_LINEAR_STATE_WORDS_MAX];
    if (search->steps.taken >= search->steps.max) {
        return LAPSE_LINEAR_FULL;
    }
    search->steps.taken++;
    const int64_t *words = search->states.items + state * search->states.words;
    if (!model->step(model->ctx, words, &search->plan->calls[call], branch, next)) {
        return LAPSE_LINEAR_CANNOT;
    }
    if (memcmp(words, next, search->states.words * sizeof(*words)) == 0) {
        *ret = state;
        return LAPSE_LINEAR_CAN;
    }
    *ret = lapse_linear_states_find(&search->states, next);
    return *ret == LAPSE_LINEAR_NONE ? LAPSE_LINEAR_FULL : LAPSE_LINEAR_CAN;
}

bool lapse_linear_ready(const struct lapse_linear_plan *plan, uint32_t passed, const uint64_t *bits,
                        uint32_t call) {
    uint32_t bit = plan->bit[call];
    if (lapse_linear_bit(bits, bit)) {
        return false;
    }
    int32_t after = plan->calls[call].after;
    if (after >= 0 && !has_effect(plan, passed, bits, (uint32_t)after)) {
        return false;
    }
    if (!plan->calls[call].open || plan->calls[call].lapses) {
        return true;
    }
    uint32_t twin = plan->twin[call];
    return twin == LAPSE_LINEAR_NONE || lapse_linear_bit(bits, plan->bit[twin]);
}

bool lapse_linear_idle(const struct lapse_linear_plan *plan, uint32_t call, uint32_t before,
                       uint32_t after) {
    return before == after && plan->calls[call].open && !plan->bound[call];
}

bool lapse_linear_settle(struct lapse_linear_search *search, struct lapse_linear_log *log,
                         struct lapse_linear_config *config, uint64_t *bits) {
    const struct lapse_linear_plan *plan = search->plan;
    uint32_t to = plan->pend_to[config->passed];
    for (uint32_t i = plan->pend_from[config->passed]; i < to; i++) {
        uint32_t call = plan->pend[i];
        uint32_t state;
        const int64_t *words = search->states.items + config->state * search->states.words;
        if (plan->calls[call].open || lapse_linear_bit(bits, plan->bit[call]) ||
            !plan->model->looks(plan->model->ctx, words, &plan->calls[call]) ||
            !lapse_linear_ready(plan, config->passed, bits, call)) {
            continue;
        }
        enum lapse_linear_move move = lapse_linear_ask(search, config->state, call, 0, &state);
        if (move == LAPSE_LINEAR_FULL) {
            return false;
        }
        if (move == LAPSE_LINEAR_CAN && state == config->state &&
            !lapse_linear_take(search, log, config, bits, call, 0)) {
            return false;
        }
    }
    return true;
}

bool lapse_linear_take(struct lapse_linear_search *search, struct lapse_linear_log *log,
                       struct lapse_linear_config *config, uint64_t *bits, uint32_t call,
                       unsigned branch) {
    if (log->count + 1 >= LAPSE_LINEAR_NONE ||
        !lapse_alloc_grow(log->alloc, (void **)&log->items, &log->cap, log->count + 1,
                          sizeof(*log->items))) {
        return false;
    }
    uint32_t bit = search->plan->bit[call];
    bits[bit / WORD_BITS] |= UINT64_C(1) << (bit % WORD_BITS);
    log->items[log->count] = (struct lapse_linear_step){config->log, call, branch};
    config->log = (uint32_t)log->count++;
    return true;
}

uint32_t lapse_linear_candidate(const struct lapse_linear_plan *plan, uint32_t passed, size_t n) {
    size_t pending = plan->pend_to[passed] - plan->pend_from[passed];
    if (n < pending) {
        return plan->pend[plan->pend_from[passed] + n];
    }
    n -= pending;
    return n < plan->open_before[passed] ? plan->opens[n] : LAPSE_LINEAR_NONE;
}

bool lapse_linear_bit(const uint64_t *bits, uint32_t bit) {
    return (bits[bit / WORD_BITS] >> (bit % WORD_BITS) & 1) != 0;
}

void lapse_linear_bit_clear(uint64_t *bits, uint32_t bit) {
    bits[bit / WORD_BITS] &= ~(UINT64_C(1) << (bit % WORD_BITS));
}

static bool has_effect(const struct lapse_linear_plan *plan, uint32_t passed, const uint64_t *bits,
                       uint32_t call) {
    uint32_t reply = plan->answered[call];
    if (plan->calls[call].lapses || (reply != LAPSE_LINEAR_NONE && reply < passed)) {
        return true;
    }
    if (plan->bit[call] == LAPSE_LINEAR_NONE || plan->sent[call] > plan->answered_at[passed]) {
        return false; /* left out, or not sent yet: its bit may be another's */
    }
    return lapse_linear_bit(bits, plan->bit[call]);
}

static uint64_t state_hash(const int64_t *words, size_t count) {
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++) {
        hash = mixed(hash, (uint64_t)words[i]);
    }
    return hash;
}

static uint64_t mixed(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 32);
}

static bool states_grow(struct lapse_linear_states *states) {
    size_t cap = states->table_cap == 0 ? 16 : states->table_cap * 2;
    uint32_t *table = lapse_alloc_zero(states->alloc, cap * sizeof(*table));
    if (table == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < states->count; i++) {
        size_t at = state_hash(states->items + i * states->words, states->words) & (cap - 1);
        while (table[at] != 0) {
            at = (at + 1) & (cap - 1);
        }
        table[at] = i + 1;
    }
    lapse_alloc_free(states->alloc, states->table, states->table_cap * sizeof(*table));
    states->table = table;
    states->table_cap = cap;
    return true;
}
