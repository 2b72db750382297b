/* Clocks: how they start (`clocks`), how well they are promised to keep time (`bounds`), and what a
 * line does to one. */
#include <string.h>

#include "decode.h"

#define RATE_PPB_MAX INT64_C(999999999)

static void read_start(struct lapse_decoder *d, const struct lapse_node *map,
                       struct lapse_plan_clock *clock);
static bool read_party(struct lapse_decoder *d, const struct lapse_node *node,
                       struct lapse_party *ret);
static void read_moves(struct lapse_decoder *d, const struct lapse_node *map,
                       struct lapse_plan_clock *clock);
static void read_date(struct lapse_decoder *d, const struct lapse_node *node,
                      struct lapse_plan_clock *clock);
static void read_mono(struct lapse_decoder *d, const struct lapse_node *node,
                      struct lapse_plan_clock *clock);
static bool read_signed(struct lapse_decoder *d, const struct lapse_node *node, int64_t *ret);
static bool count_ppb(const char *text, size_t len, int64_t *ret, bool *ret_unit);
static void check_words(struct lapse_decoder *d, const struct lapse_node *map,
                        const struct lapse_plan_clock *clock);
static void check_for(struct lapse_decoder *d, const struct lapse_node *map,
                      const struct lapse_plan_clock *clock);

void lapse_decode_clocks(struct lapse_decoder *d, const struct lapse_node *map) {
    if (!lapse_shape_is(d, map, LAPSE_NODE_MAP, "a map of clocks ({w1: {wall: +2s}})")) {
        return;
    }
    struct lapse_plan_clock *clocks = lapse_decoder_take(d, map->count * sizeof(*clocks));
    size_t count = 0;
    for (size_t i = 0; clocks != NULL && i < map->count; i++) {
        struct lapse_plan_clock *clock = &clocks[count];
        *clock = (struct lapse_plan_clock){.tick_ns = 1};
        bool named = read_party(d, map->keys[i], &clock->whose);
        read_start(d, map->items[i], clock);
        count += named ? 1 : 0;
    }
    d->plan->clocks = clocks;
    d->plan->clock_count = count;
}

void lapse_decode_bounds(struct lapse_decoder *d, const struct lapse_node *map) {
    struct lapse_setup *setup = &d->plan->setup;
    if (!lapse_shape_is(d, map, LAPSE_NODE_MAP, "a map of `rate` and `wall`")) {
        return;
    }
    for (size_t i = 0; i < map->count; i++) {
        const struct lapse_node *key = map->keys[i];
        if (!lapse_shape_word(d, key, LAPSE_WORD_BOUND, "`bounds`")) {
            continue;
        }
        if (lapse_node_is(key, "wall")) {
            (void)lapse_number_span(d, map->items[i], 0, &setup->wall_bound.ns);
        } else if (lapse_decode_rate(d, map->items[i], &setup->rate_ppb) && setup->rate_ppb < 0) {
            lapse_mistake_add(d->diags, "Y109", map->items[i]->place, "",
                              "a bound holds both ways and is not below 0");
        }
    }
}

void lapse_decode_clock(struct lapse_decoder *d, const struct lapse_node *map,
                        struct lapse_plan_fault *fault) {
    struct lapse_plan_clock *clock = &fault->clock;
    clock->tick_ns = 1;
    if (read_party(d, lapse_node_get(map, "clock"), &clock->whose)) {
        fault->actor = clock->whose.kind == LAPSE_PARTY_ACTOR ? clock->whose.index : -1;
        fault->node = clock->whose.kind == LAPSE_PARTY_NODE ? clock->whose.index : -1;
    }
    read_moves(d, map, clock);
    check_words(d, map, clock);
    check_for(d, map, clock);
}

static void read_start(struct lapse_decoder *d, const struct lapse_node *map,
                       struct lapse_plan_clock *clock) {
    if (!lapse_shape_is(d, map, LAPSE_NODE_MAP, "a map of a clock's words")) {
        return;
    }
    for (size_t i = 0; i < map->count; i++) {
        const struct lapse_node *value = map->items[i];
        if (!lapse_shape_word(d, map->keys[i], LAPSE_WORD_CLOCK, "a clock")) {
            continue;
        }
        if (lapse_node_is(map->keys[i], "tick")) {
            clock->has_tick = lapse_number_span(d, value, 1, &clock->tick_ns);
        } else if (lapse_node_is(map->keys[i], "origin")) {
            clock->has_origin = lapse_number_span(d, value, 0, &clock->origin_ns);
        }
    }
    read_moves(d, map, clock);
    if (clock->has_wall && clock->has_to) {
        lapse_mistake_add(d->diags, "Y120", map->place, "",
                          "`wall` and `to` cannot stand in one line");
    }
}

/* An actor, the store's node, or a resource. */
static bool read_party(struct lapse_decoder *d, const struct lapse_node *node,
                       struct lapse_party *ret) {
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "an actor, a resource, or n1")) {
        return false;
    }
    if (lapse_node_is(node, "n1")) {
        *ret = (struct lapse_party){LAPSE_PARTY_NODE, 0};
        return true;
    }
    int32_t resource = lapse_decoder_find(d, LAPSE_SPACE_RESOURCE, node->text, node->len);
    int32_t actor = lapse_decoder_find(d, LAPSE_SPACE_ACTOR, node->text, node->len);
    if (actor >= 0 && resource >= 0) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y119", node->place, "",
                              "`%.60s` is an actor and a resource", node->text);
        lapse_diag_note(d->diags, diag, "help", "to set a clock give one of them another name");
        return false;
    }
    if (resource >= 0) {
        *ret = (struct lapse_party){LAPSE_PARTY_RESOURCE, resource};
        return true;
    }
    *ret = (struct lapse_party){LAPSE_PARTY_ACTOR,
                                lapse_resolve_name(d, node, LAPSE_SPACE_ACTOR)};
    return ret->index >= 0;
}

static void read_moves(struct lapse_decoder *d, const struct lapse_node *map,
                       struct lapse_plan_clock *clock) {
    const struct lapse_node *wall = lapse_node_get(map, "wall");
    const struct lapse_node *to = lapse_node_get(map, "to");
    const struct lapse_node *rate = lapse_node_get(map, "rate");
    const struct lapse_node *mono = lapse_node_get(map, "mono");
    if (wall != NULL) {
        clock->has_wall = true;
        (void)read_signed(d, wall, &clock->wall_ns);
    }
    if (to != NULL) {
        read_date(d, to, clock);
    }
    if (rate != NULL) {
        clock->has_rate = true;
        (void)lapse_decode_rate(d, rate, &clock->rate_ppb);
    }
    if (mono != NULL) {
        read_mono(d, mono, clock);
    }
}

static void read_date(struct lapse_decoder *d, const struct lapse_node *node,
                      struct lapse_plan_clock *clock) {
    clock->has_to = lapse_number_date(d, node, &clock->to);
    if (clock->has_to && clock->to.kind == LAPSE_OPERAND_NOW) {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y107", node->place, "",
                                                    "a clock is set to a date of its own");
        lapse_diag_note(d->diags, diag, "help", "to move it write `wall: +15s` or `wall: -15s`");
    }
}

static void read_mono(struct lapse_decoder *d, const struct lapse_node *node,
                      struct lapse_plan_clock *clock) {
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "stop or run")) {
        return;
    }
    clock->has_mono = true;
    clock->mono_stop = lapse_node_is(node, "stop");
    if (!clock->mono_stop && !lapse_node_is(node, "run")) {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y127", node->place, "",
                                                    "`%.60s` is not stop or run", node->text);
        lapse_diag_note(d->diags, diag, "help",
                        "`mono: stop`: the monotonic and the boot clock stand still; `mono: run`: "
                        "they go on");
    }
}

/* A span with its sign; + may be left out. */
static bool read_signed(struct lapse_decoder *d, const struct lapse_node *node, int64_t *ret) {
    return lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "a duration with its sign (+1h)") &&
           lapse_number_span_part(d, node, node->text[0] == '+' ? 1 : 0, ret);
}

/* 200ppm, +50ppb, -200ppm or 0. */
bool lapse_decode_rate(struct lapse_decoder *d, const struct lapse_node *node, int64_t *ret) {
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "a rate (+200ppm)")) {
        return false;
    }
    bool minus = node->text[0] == '-';
    size_t from = minus || node->text[0] == '+' ? 1 : 0;
    int64_t ppb = 0;
    bool unit = false;
    if (!count_ppb(node->text + from, node->len - from, &ppb, &unit)) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y108", node->place, "",
                              unit ? "`%.60s` is no rate: a whole number is wanted"
                                   : "`%.60s` is no rate: it needs its unit, ppm or ppb",
                              node->text);
        lapse_diag_note(d->diags, diag, "help",
                        "write +200ppm, -200ppm or 50ppb (1ppm is 1000ppb), or 0");
        return false;
    }
    if (ppb > RATE_PPB_MAX) {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y109", node->place, "",
                                                    "a rate must lie below 1000000ppm");
        lapse_diag_note(d->diags, diag, "help",
                        "a clock that stands still is `mono: stop`, or a `freeze`");
        return false;
    }
    *ret = minus ? -ppb : ppb;
    return true;
}

static bool count_ppb(const char *text, size_t len, int64_t *ret, bool *ret_unit) {
    int64_t number = 0;
    bool exact = true;
    size_t digits = strspn(text, "0123456789");
    for (size_t i = 0; i < digits; i++) {
        exact = exact && lapse_ns_mul(number, 10, &number) &&
                lapse_ns_add(number, text[i] - '0', &number);
    }
    const char *unit = text + digits;
    bool million = len >= 3 && strcmp(text + len - 3, "ppm") == 0;
    *ret_unit = million || (len >= 3 && strcmp(text + len - 3, "ppb") == 0);
    if (digits == 0 || (unit != text + len - 3 && !(digits == len && number == 0))) {
        return false;
    }
    if (*ret_unit && (!exact || !lapse_ns_mul(number, million ? 1000 : 1, &number))) {
        number = INT64_MAX;
    }
    *ret = number;
    return *ret_unit || digits == len;
}

static void check_words(struct lapse_decoder *d, const struct lapse_node *map,
                        const struct lapse_plan_clock *clock) {
    bool wall = lapse_node_index(map, "wall") >= 0, to = lapse_node_index(map, "to") >= 0;
    const struct lapse_node *key = map->keys[lapse_node_index(map, "clock")];
    struct lapse_diag *diag = NULL;
    if (wall && to) {
        diag = lapse_mistake_add(d->diags, "Y120", key->place, "",
                                 "`wall` and `to` cannot stand in one line");
    } else if (!wall && !to && !clock->has_rate && lapse_node_index(map, "mono") < 0) {
        diag = lapse_mistake_add(d->diags, "Y125", key->place, "",
                                 "`clock` needs `wall`, `to`, `rate` or `mono`");
    }
    if (diag != NULL) {
        lapse_diag_note(d->diags, diag, "help",
                        "write `wall: +1h` (moved by that), `to: 2026-01-31T00:00:00Z`, `rate: "
                        "+200ppm` or `mono: stop`");
    }
}

/* A rate, or a stop, has an end; a step is done once. */
static void check_for(struct lapse_decoder *d, const struct lapse_node *map,
                      const struct lapse_plan_clock *clock) {
    int64_t span = lapse_node_index(map, "for");
    bool runs = clock->has_mono && !clock->mono_stop;
    if (span < 0 || (!clock->has_wall && !clock->has_to && !runs)) {
        return;
    }
    struct lapse_diag *diag =
        lapse_mistake_add(d->diags, "Y120", map->keys[span]->place, "",
                          "`for` goes with `rate` or `mono: stop`, which end; this is done once");
    lapse_diag_note(d->diags, diag, "help",
                    "write a second line that moves the clock back, or lets it run");
}
