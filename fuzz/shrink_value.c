/* Numbers: each drawn to the plainest value at which the scenario still fails. Candidates are round
 * values and landmarks, which are the other numbers of the document and what lies 1 ns beside
 * them; one is tried iff it reads easier than what stands there, so the search comes to an end. */
#include "shrink_parts.h"

#include <string.h>

enum { LANDMARKS_MAX = 48, CANDIDATES_MAX = 4 * LANDMARKS_MAX + 64 };

struct candidates {
    size_t count;
    int64_t values[CANDIDATES_MAX];
};

static void shrink_number(struct lapse_shrinker *s, size_t at);
static void gather(const struct lapse_shrinker *s, const struct lapse_shrink_number *number,
                   struct candidates *ret);
static void offer(struct candidates *candidates, int64_t value);
static void offer_round(struct candidates *candidates, int64_t value, int64_t unit);
static bool try_number(struct lapse_shrinker *s, size_t at, int64_t value);
static void close_gaps(struct lapse_shrinker *s);
static size_t instants(const struct lapse_shrinker *s, int64_t *ret, size_t cap);
static bool is_instant(const struct lapse_shrink_spot *spot);
static bool try_shift(struct lapse_shrinker *s, int64_t from, int64_t by);

void lapse_shrink_values(struct lapse_shrinker *s) {
    if (s->target.unmet || s->options->as_written || !lapse_shrink_draft(s)) {
        return;
    }
    close_gaps(s);
    for (size_t i = s->spots.count; i-- > 0;) {
        shrink_number(s, i);
    }
}

static void shrink_number(struct lapse_shrinker *s, size_t at) {
    struct lapse_shrink_number number;
    struct candidates candidates = {0};
    if (!lapse_shrink_draft(s) || !lapse_shrink_number_at(s, at, &number)) {
        return;
    }
    gather(s, &number, &candidates);
    bool kept = false;
    for (size_t i = 0; i < candidates.count && !kept; i++) {
        kept = try_number(s, at, candidates.values[i]);
    }
}

bool lapse_shrink_number_at(const struct lapse_shrinker *s, size_t at,
                            struct lapse_shrink_number *ret) {
    if (at >= s->spots.count) {
        return false;
    }
    const struct lapse_shrink_spot *spot = lapse_shrink_spot(s, at);
    bool text = strcmp(spot->word, "value") == 0 || strcmp(spot->word, "lapse") == 0 ||
                strcmp(spot->word, "seed") == 0 || strcmp(spot->word, "name") == 0;
    return !text && lapse_shrink_number(lapse_shrink_at(spot), ret);
}

/* In rising order of what they cost to read. */
static void gather(const struct lapse_shrinker *s, const struct lapse_shrink_number *number,
                   struct candidates *ret) {
    static const int64_t units[] = {1,
                                    LAPSE_NS_PER_US,
                                    LAPSE_NS_PER_MS,
                                    LAPSE_NS_PER_S,
                                    10 * LAPSE_NS_PER_S,
                                    60 * LAPSE_NS_PER_S,
                                    600 * LAPSE_NS_PER_S,
                                    3600 * LAPSE_NS_PER_S,
                                    24 * 3600 * LAPSE_NS_PER_S};
    offer(ret, 0);
    if (number->unit != LAPSE_SHRINK_SPAN) {
        for (int64_t i = 1; i <= 3; i++) {
            offer(ret, i);
        }
        offer_round(ret, number->value, 1000);
        offer_round(ret, number->value, 1000000);
        offer(ret, number->value / 2);
        offer(ret, number->value - 1);
        return;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        offer(ret, units[i]);
    }
    for (size_t i = sizeof(units) / sizeof(units[0]); i-- > 0;) {
        offer_round(ret, number->value, units[i]);
    }
    for (size_t i = 0; i < s->spots.count && ret->count + 4 < CANDIDATES_MAX; i++) {
        struct lapse_shrink_number other;
        if (lapse_shrink_number_at(s, i, &other) && other.unit == LAPSE_SHRINK_SPAN &&
            other.value < INT64_MAX && other.value > INT64_MIN) {
            offer(ret, other.value);
            offer(ret, other.value - 1);
            offer(ret, other.value + 1);
        }
    }
    offer(ret, number->value / 2);
}

static void offer(struct candidates *candidates, int64_t value) {
    for (size_t i = 0; i < candidates->count; i++) {
        if (candidates->values[i] == value) {
            return;
        }
    }
    if (candidates->count < CANDIDATES_MAX) {
        candidates->values[candidates->count++] = value;
    }
}

/* The multiples of the unit next to the value. */
static void offer_round(struct candidates *candidates, int64_t value, int64_t unit) {
    int64_t up = 0;
    int64_t down = value - value % unit;
    offer(candidates, down);
    if (lapse_ns_add(down, value < 0 ? -unit : unit, &up)) {
        offer(candidates, up);
    }
}

static bool try_number(struct lapse_shrinker *s, size_t at, int64_t value) {
    struct lapse_shrink_number number;
    char text[LAPSE_SHRINK_NUMBER_MAX];
    if (!lapse_shrink_draft(s) || !lapse_shrink_number_at(s, at, &number)) {
        return false;
    }
    struct lapse_node *scalar = lapse_shrink_at(lapse_shrink_spot(s, at));
    uint64_t before = lapse_shrink_cost(scalar);
    number.value = value;
    lapse_shrink_number_text(scalar, &number, text);
    return lapse_shrink_set_text(s, scalar, text) && lapse_shrink_cost(scalar) < before &&
           lapse_shrink_keep(s);
}

/* All instants from one on come earlier, up to the one before it, or to a round distance. */
static void close_gaps(struct lapse_shrinker *s) {
    int64_t times[LANDMARKS_MAX];
    size_t count = instants(s, times, LANDMARKS_MAX);
    for (size_t i = count; i-- > 0;) {
        int64_t gap = times[i] - (i > 0 ? times[i - 1] : 0);
        bool kept = gap > 0 && try_shift(s, times[i], gap);
        for (int64_t round = LAPSE_NS_PER_S; !kept && round < gap && round <= INT64_MAX / 10;
             round *= 10) {
            kept = try_shift(s, times[i], gap - round);
        }
    }
}

/* Distinct, rising. */
static size_t instants(const struct lapse_shrinker *s, int64_t *ret, size_t cap) {
    size_t count = 0;
    for (size_t i = 0; i < s->spots.count; i++) {
        struct lapse_shrink_number number;
        const struct lapse_shrink_spot *spot = lapse_shrink_spot(s, i);
        if (!is_instant(spot) || !lapse_shrink_number(lapse_shrink_at(spot), &number)) {
            continue;
        }
        size_t at = 0;
        while (at < count && ret[at] < number.value) {
            at++;
        }
        if ((at < count && ret[at] == number.value) || count == cap) {
            continue;
        }
        memmove(ret + at + 1, ret + at, (count - at) * sizeof(*ret));
        ret[at] = number.value;
        count++;
    }
    return count;
}

static bool is_instant(const struct lapse_shrink_spot *spot) {
    struct lapse_shrink_number number;
    bool timed = strcmp(spot->word, "at") == 0 || strcmp(spot->word, "run_for") == 0 ||
                 strcmp(spot->word, "until") == 0 || strcmp(spot->word, "stop_at") == 0;
    return timed && spot->parent->kind == LAPSE_NODE_MAP &&
           lapse_shrink_number(lapse_shrink_at(spot), &number) && number.prefix == 0 &&
           number.unit == LAPSE_SHRINK_SPAN;
}

static bool try_shift(struct lapse_shrinker *s, int64_t from, int64_t by) {
    if (!lapse_shrink_draft(s)) {
        return false;
    }
    uint64_t before = lapse_shrink_cost(s->draft);
    for (size_t i = 0; i < s->spots.count; i++) {
        struct lapse_shrink_number number;
        char text[LAPSE_SHRINK_NUMBER_MAX];
        const struct lapse_shrink_spot *spot = lapse_shrink_spot(s, i);
        struct lapse_node *scalar = lapse_shrink_at(spot);
        if (!is_instant(spot) || !lapse_shrink_number(scalar, &number) || number.value < from) {
            continue;
        }
        number.value -= by;
        lapse_shrink_number_text(scalar, &number, text);
        if (!lapse_shrink_set_text(s, scalar, text)) {
            return false;
        }
    }
    return lapse_shrink_cost(s->draft) < before && lapse_shrink_keep(s);
}
