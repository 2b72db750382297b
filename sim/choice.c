/* The two makers of choices, and the record that both keep.
 *
 * The k-th draw of a (label, who) pair depends on nothing but that pair and k, so the position in
 * the list never matters: cutting the list back is all that a snapshot needs. */
#include "sim/choice.h"

struct lapse_choices {
    const lapse_alloc *alloc;
    bool seeded;
    uint64_t seed;
    struct lapse_choice *source; /* the recorded maker's list */
    uint64_t *source_order;      /* which of its pair each entry is, from 0 */
    size_t source_count;
    struct lapse_choice *drawn;
    uint64_t *drawn_order;
    size_t drawn_count, drawn_cap, order_cap;
    bool broken;
};

static bool same_pair(const struct lapse_choice *choice, enum lapse_choice_label label,
                      int32_t who);
static bool copy_source(struct lapse_choices *choices, const struct lapse_choice *list,
                        size_t count);
static bool reserve_draw(struct lapse_choices *choices);
static uint64_t order_in(const struct lapse_choice *list, const uint64_t *order, size_t count,
                         enum lapse_choice_label label, int32_t who);
static uint64_t recorded(const struct lapse_choices *choices, enum lapse_choice_label label,
                         int32_t who, uint64_t k);
static uint64_t hashed(uint64_t seed, enum lapse_choice_label label, int32_t who, uint64_t k);
static uint64_t mix(uint64_t x);

const char *lapse_choice_word(enum lapse_choice_label label) {
    switch (label) {
#define CHOICE_CASE(id, value, word) \
    case LAPSE_CHOICE_##id:          \
        return word;
        LAPSE_CHOICE_TABLE(CHOICE_CASE)
#undef CHOICE_CASE
    }
    return "?";
}

enum lapse_status lapse_choices_open_seed(const lapse_alloc *alloc, uint64_t seed,
                                          struct lapse_choices **ret) {
    struct lapse_choices *choices = lapse_alloc_zero(alloc, sizeof(*choices));
    if (choices == NULL) {
        return LAPSE_NOMEM;
    }
    choices->alloc = alloc;
    choices->seeded = true;
    choices->seed = seed;
    *ret = choices;
    return LAPSE_OK;
}

enum lapse_status lapse_choices_open_list(const lapse_alloc *alloc, const struct lapse_choice *list,
                                          size_t count, struct lapse_choices **ret) {
    struct lapse_choices *choices = lapse_alloc_zero(alloc, sizeof(*choices));
    if (choices == NULL) {
        return LAPSE_NOMEM;
    }
    choices->alloc = alloc;
    if (count > 0 && !copy_source(choices, list, count)) {
        lapse_choices_close(choices);
        return LAPSE_NOMEM;
    }
    *ret = choices;
    return LAPSE_OK;
}

void lapse_choices_close(struct lapse_choices *choices) {
    if (choices == NULL) {
        return;
    }
    const lapse_alloc *alloc = choices->alloc;
    lapse_alloc_free(alloc, choices->source, choices->source_count * sizeof(*choices->source));
    lapse_alloc_free(alloc, choices->source_order,
                     choices->source_count * sizeof(*choices->source_order));
    lapse_alloc_free(alloc, choices->drawn, choices->drawn_cap * sizeof(*choices->drawn));
    lapse_alloc_free(alloc, choices->drawn_order,
                     choices->order_cap * sizeof(*choices->drawn_order));
    lapse_alloc_free(alloc, choices, sizeof(*choices));
}

uint64_t lapse_choose(struct lapse_choices *choices, uint64_t n, enum lapse_choice_label label,
                      int32_t who) {
    LAPSE_ASSERT(n > 0);
    if (!reserve_draw(choices)) {
        choices->broken = true;
        return 0;
    }
    uint64_t k = order_in(choices->drawn, choices->drawn_order, choices->drawn_count, label, who);
    uint64_t value = choices->seeded ? hashed(choices->seed, label, who, k) % n
                                     : recorded(choices, label, who, k);
    if (value >= n) {
        value = 0;
    }
    choices->drawn_order[choices->drawn_count] = k;
    choices->drawn[choices->drawn_count++] =
        (struct lapse_choice){.label = label, .who = who, .n = n, .value = value};
    return value;
}

bool lapse_choices_broken(const struct lapse_choices *choices) {
    return choices->broken;
}

const struct lapse_choice *lapse_choices_list(const struct lapse_choices *choices,
                                              size_t *ret_count) {
    *ret_count = choices->drawn_count;
    return choices->drawn;
}

void lapse_choices_cut(struct lapse_choices *choices, size_t count) {
    LAPSE_ASSERT(count <= choices->drawn_count);
    choices->drawn_count = count;
}

static bool same_pair(const struct lapse_choice *choice, enum lapse_choice_label label,
                      int32_t who) {
    return choice->label == label && choice->who == who;
}

static bool copy_source(struct lapse_choices *choices, const struct lapse_choice *list,
                        size_t count) {
    choices->source = lapse_alloc_zero(choices->alloc, count * sizeof(*list));
    choices->source_count = choices->source == NULL ? 0 : count;
    if (choices->source == NULL) {
        return false;
    }
    choices->source_order = lapse_alloc_zero(choices->alloc, count * sizeof(uint64_t));
    if (choices->source_order == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        choices->source[i] = list[i];
        choices->source_order[i] =
            order_in(choices->source, choices->source_order, i, list[i].label, list[i].who);
    }
    return true;
}

static bool reserve_draw(struct lapse_choices *choices) {
    void *drawn = choices->drawn;
    bool fits = lapse_alloc_grow(choices->alloc, &drawn, &choices->drawn_cap,
                                 choices->drawn_count + 1, sizeof(*choices->drawn));
    choices->drawn = drawn;
    void *order = choices->drawn_order;
    fits = fits && lapse_alloc_grow(choices->alloc, &order, &choices->order_cap,
                                    choices->drawn_count + 1, sizeof(*choices->drawn_order));
    choices->drawn_order = order;
    return fits;
}

/* How many entries of the pair the first `count` hold: the last one knows. */
static uint64_t order_in(const struct lapse_choice *list, const uint64_t *order, size_t count,
                         enum lapse_choice_label label, int32_t who) {
    for (size_t i = count; i > 0; i--) {
        if (same_pair(&list[i - 1], label, who)) {
            return order[i - 1] + 1;
        }
    }
    return 0;
}

/* The k-th entry of the pair in the recorded list; 0, the plainest outcome, if there is none. */
static uint64_t recorded(const struct lapse_choices *choices, enum lapse_choice_label label,
                         int32_t who, uint64_t k) {
    /* In a replay the entry mostly stands where the draw does, so looking starts there. */
    for (size_t i = 0; i < choices->source_count; i++) {
        size_t at = (choices->drawn_count + i) % choices->source_count;
        if (same_pair(&choices->source[at], label, who) && choices->source_order[at] == k) {
            return choices->source[at].value;
        }
    }
    return 0;
}

static uint64_t hashed(uint64_t seed, enum lapse_choice_label label, int32_t who, uint64_t k) {
    uint64_t x = mix(seed + UINT64_C(0x9e3779b97f4a7c15));
    x = mix(x ^ (uint64_t)label);
    x = mix(x ^ (uint64_t)(uint32_t)who);
    return mix(x ^ k);
}

/* The finalizer of splitmix64: every input bit moves every output bit. */
static uint64_t mix(uint64_t x) {
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}
