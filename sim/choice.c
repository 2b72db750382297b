/* The makers of choices, and the record that all keep.
 *
 * The k-th draw of a (label, who) pair depends on nothing but that pair and k, so the position in
 * the list never matters: cutting the list back is all that a snapshot needs. Both the number of
 * draws that a pair has made and its k-th recorded entry are found by hash. */
#include "sim/choice.h"

enum { WHO_BYTES = 3, WHO_BOUND = 1 << 23 };

/* How many draws a pair has made. */
struct tally {
    bool used;
    enum lapse_choice_label label;
    int32_t who;
    uint64_t count;
};

struct lapse_choices {
    const lapse_alloc *alloc;
    bool seeded;
    uint64_t seed;
    bool wraps; /* a recorded value out of range is taken modulo n, not as 0 */
    struct lapse_choice *source; /* the recorded maker's list */
    uint64_t *source_order;      /* which of its pair each entry is, from 0 */
    size_t source_count;
    size_t *index; /* hash table of 1 + place in source, by pair and order; 0: free */
    size_t index_cap;
    struct lapse_choice *drawn;
    size_t drawn_count, drawn_cap;
    struct tally *tallies; /* hash table, at most half full */
    size_t tally_count, tally_cap;
    bool broken;
};

static struct lapse_choice decode(const unsigned char *bytes);
static bool same_pair(const struct lapse_choice *choice, enum lapse_choice_label label,
                      int32_t who);
static bool copy_source(struct lapse_choices *choices, const struct lapse_choice *list,
                        size_t count);
static bool reserve_draw(struct lapse_choices *choices);
static struct tally *tally_of(const struct lapse_choices *choices, enum lapse_choice_label label,
                              int32_t who);
static bool reserve_tally(struct lapse_choices *choices);
static uint64_t count_one(struct lapse_choices *choices, enum lapse_choice_label label,
                          int32_t who);
static size_t *index_of(const struct lapse_choices *choices, enum lapse_choice_label label,
                        int32_t who, uint64_t k);
static uint64_t recorded(const struct lapse_choices *choices, enum lapse_choice_label label,
                         int32_t who, uint64_t k);
static uint64_t hashed(uint64_t seed, enum lapse_choice_label label, int32_t who, uint64_t k);
static uint64_t mix(uint64_t x);

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

enum lapse_status lapse_choices_open_bytes(const lapse_alloc *alloc, struct lapse_bytes bytes,
                                           struct lapse_choices **ret) {
    size_t count = bytes.len / LAPSE_CHOICE_BYTES;
    struct lapse_choice *list = NULL;
    if (count > 0) {
        list = lapse_alloc_zero(alloc, count * sizeof(*list));
        if (list == NULL) {
            return LAPSE_NOMEM;
        }
    }
    for (size_t i = 0; i < count; i++) {
        list[i] = decode(bytes.data + i * LAPSE_CHOICE_BYTES);
    }
    enum lapse_status status = lapse_choices_open_list(alloc, list, count, ret);
    lapse_alloc_free(alloc, list, count * sizeof(*list));
    if (status == LAPSE_OK) {
        (*ret)->wraps = true;
    }
    return status;
}

void lapse_choice_encode(const struct lapse_choice *choice,
                         unsigned char ret_bytes[LAPSE_CHOICE_BYTES]) {
    LAPSE_ASSERT(choice->who >= -WHO_BOUND);
    LAPSE_ASSERT(choice->who < WHO_BOUND);
    uint64_t who = (uint64_t)(choice->who + WHO_BOUND);
    ret_bytes[0] = (unsigned char)choice->label;
    for (int i = 0; i < WHO_BYTES; i++) {
        ret_bytes[1 + i] = (unsigned char)(who >> (8 * i));
    }
    for (int i = 0; i < 8; i++) {
        ret_bytes[1 + WHO_BYTES + i] = (unsigned char)(choice->value >> (8 * i));
    }
}

void lapse_choices_close(struct lapse_choices *choices) {
    if (choices == NULL) {
        return;
    }
    const lapse_alloc *alloc = choices->alloc;
    lapse_alloc_free(alloc, choices->source, choices->source_count * sizeof(*choices->source));
    lapse_alloc_free(alloc, choices->source_order,
                     choices->source_count * sizeof(*choices->source_order));
    lapse_alloc_free(alloc, choices->index, choices->index_cap * sizeof(*choices->index));
    lapse_alloc_free(alloc, choices->tallies, choices->tally_cap * sizeof(*choices->tallies));
    lapse_alloc_free(alloc, choices->drawn, choices->drawn_cap * sizeof(*choices->drawn));
    lapse_alloc_free(alloc, choices, sizeof(*choices));
}

uint64_t lapse_choose(struct lapse_choices *choices, uint64_t n, enum lapse_choice_label label,
                      int32_t who) {
    LAPSE_ASSERT(n > 0);
    if (!reserve_draw(choices)) {
        choices->broken = true;
        return 0;
    }
    uint64_t k = count_one(choices, label, who);
    uint64_t value = choices->seeded ? hashed(choices->seed, label, who, k) % n
                                     : recorded(choices, label, who, k);
    if (value >= n) {
        value = choices->wraps ? value % n : 0;
    }
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
    for (size_t i = choices->drawn_count; i > count; i--) {
        const struct lapse_choice *taken_back = &choices->drawn[i - 1];
        tally_of(choices, taken_back->label, taken_back->who)->count--;
    }
    choices->drawn_count = count;
}

bool lapse_choices_next(struct lapse_choice *list, size_t *count, uint64_t wide,
                        bool *ret_narrowed) {
    for (size_t i = *count; i > 0; i--) {
        struct lapse_choice *last = &list[i - 1];
        bool narrowed = last->n > wide;
        *ret_narrowed = *ret_narrowed || narrowed;
        if (last->value + 1 < last->n) {
            last->value = narrowed ? last->n - 1 : last->value + 1;
            *count = i;
            return true;
        }
    }
    *count = 0;
    return false;
}

static struct lapse_choice decode(const unsigned char *bytes) {
    struct lapse_choice choice = {.label = (enum lapse_choice_label)bytes[0]};
    uint64_t who = 0;
    for (int i = 0; i < WHO_BYTES; i++) {
        who |= (uint64_t)bytes[1 + i] << (8 * i);
    }
    for (int i = 0; i < 8; i++) {
        choice.value |= (uint64_t)bytes[1 + WHO_BYTES + i] << (8 * i);
    }
    choice.who = (int32_t)who - WHO_BOUND;
    return choice;
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
    size_t cap = 16;
    while (cap < 2 * count) {
        cap *= 2;
    }
    choices->index = lapse_alloc_zero(choices->alloc, cap * sizeof(*choices->index));
    choices->index_cap = choices->index == NULL ? 0 : cap;
    if (choices->source_order == NULL || choices->index == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!reserve_tally(choices)) {
            return false;
        }
        choices->source[i] = list[i];
        choices->source_order[i] = count_one(choices, list[i].label, list[i].who);
        *index_of(choices, list[i].label, list[i].who, choices->source_order[i]) = i + 1;
    }
    for (size_t i = 0; i < choices->tally_cap; i++) {
        choices->tallies[i].count = 0;
    }
    return true;
}

static bool reserve_draw(struct lapse_choices *choices) {
    void *drawn = choices->drawn;
    bool fits = lapse_alloc_grow(choices->alloc, &drawn, &choices->drawn_cap,
                                 choices->drawn_count + 1, sizeof(*choices->drawn));
    choices->drawn = drawn;
    return fits && reserve_tally(choices);
}

/* The pair's tally, or the free one where it belongs. */
static struct tally *tally_of(const struct lapse_choices *choices, enum lapse_choice_label label,
                              int32_t who) {
    size_t at = (size_t)hashed(0, label, who, 0) & (choices->tally_cap - 1);
    for (;;) {
        struct tally *tally = &choices->tallies[at];
        if (!tally->used || (tally->label == label && tally->who == who)) {
            return tally;
        }
        at = (at + 1) & (choices->tally_cap - 1);
    }
}

/* Room for one more pair. */
static bool reserve_tally(struct lapse_choices *choices) {
    if ((choices->tally_count + 1) * 2 <= choices->tally_cap) {
        return true;
    }
    struct tally *old = choices->tallies;
    size_t old_cap = choices->tally_cap;
    size_t cap = old_cap == 0 ? 16 : old_cap * 2;
    struct tally *tallies = lapse_alloc_zero(choices->alloc, cap * sizeof(*tallies));
    if (tallies == NULL) {
        return false;
    }
    choices->tallies = tallies;
    choices->tally_cap = cap;
    for (size_t i = 0; i < old_cap; i++) {
        if (old[i].used) {
            *tally_of(choices, old[i].label, old[i].who) = old[i];
        }
    }
    lapse_alloc_free(choices->alloc, old, old_cap * sizeof(*old));
    return true;
}

/* How many draws the pair has made before this one. */
static uint64_t count_one(struct lapse_choices *choices, enum lapse_choice_label label,
                          int32_t who) {
    struct tally *tally = tally_of(choices, label, who);
    if (!tally->used) {
        *tally = (struct tally){.used = true, .label = label, .who = who};
        choices->tally_count++;
    }
    return tally->count++;
}

/* Where the k-th entry of the pair is noted, or would be. */
static size_t *index_of(const struct lapse_choices *choices, enum lapse_choice_label label,
                        int32_t who, uint64_t k) {
    size_t at = (size_t)hashed(0, label, who, k) & (choices->index_cap - 1);
    for (;;) {
        size_t *place = &choices->index[at];
        if (*place == 0 || (same_pair(&choices->source[*place - 1], label, who) &&
                            choices->source_order[*place - 1] == k)) {
            return place;
        }
        at = (at + 1) & (choices->index_cap - 1);
    }
}

/* The k-th entry of the pair in the recorded list; 0, the plainest outcome, if there is none. */
static uint64_t recorded(const struct lapse_choices *choices, enum lapse_choice_label label,
                         int32_t who, uint64_t k) {
    size_t place = choices->index_cap == 0 ? 0 : *index_of(choices, label, who, k);
    return place == 0 ? 0 : choices->source[place - 1].value;
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
