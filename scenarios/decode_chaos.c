/* `chaos`: faults that chance draws, each kind up to what the document allows. */
#include "decode.h"

enum { CRASHES_MAX = 1000, CRASHES = 2, LOSS_PPM = 200000, DUPLICATE_PPM = 50000 };
#define PAUSE_NS (60 * LAPSE_NS_PER_S)
#define LATENCY_NS (100 * LAPSE_NS_PER_MS)
#define WALL_NS (2 * LAPSE_NS_PER_S)
#define BIT(kind) (UINT32_C(1) << (kind))
/* What a disk may do while a sync that answers done is durable. */
#define DISK_WITHIN                                                                        \
    (BIT(LAPSE_DISK_SYNC_FAIL) | BIT(LAPSE_DISK_SYNC_STALLS) | BIT(LAPSE_DISK_TEAR) |      \
     BIT(LAPSE_DISK_FULL))

static const char *const disk_words[] = {
    [LAPSE_DISK_SYNC_FAIL] = "fail", [LAPSE_DISK_SYNC_LIES] = "lies",
    [LAPSE_DISK_SYNC_STALLS] = "stalls", [LAPSE_DISK_TEAR] = "tear",
    [LAPSE_DISK_FULL] = "full", [LAPSE_DISK_ROT] = "rot"};

static void read_word(struct lapse_decoder *d, const struct lapse_node *key,
                      const struct lapse_node *value, struct lapse_plan_chaos *chaos);
static void read_rest(struct lapse_decoder *d, const struct lapse_node *key,
                      const struct lapse_node *value, struct lapse_plan_chaos *chaos);
static void read_disk(struct lapse_decoder *d, const struct lapse_node *node,
                      struct lapse_plan_chaos *chaos);
static void read_pause(struct lapse_decoder *d, const struct lapse_node *node,
                       struct lapse_plan_chaos *chaos);
static void read_who(struct lapse_decoder *d, const struct lapse_node *list,
                     struct lapse_plan_chaos *chaos);
static void allow_all(struct lapse_decoder *d, struct lapse_plan_chaos *chaos);
static void check_end(struct lapse_decoder *d, const struct lapse_node *node,
                      const struct lapse_node *stop_at, struct lapse_plan_chaos *chaos);

/* Comes after bounds, store and run_for, which it leans on. */
void lapse_decode_chaos(struct lapse_decoder *d) {
    int64_t at = lapse_node_index(d->root, "chaos");
    struct lapse_plan_chaos *chaos = &d->plan->chaos;
    if (at < 0 || lapse_node_is_null(d->root->items[at])) {
        return;
    }
    const struct lapse_node *node = d->root->items[at];
    const struct lapse_node *stop_at = NULL;
    bool on = true;
    chaos->down_ns_max = LAPSE_CHAOS_DOWN_NS;
    if (node->kind == LAPSE_NODE_MAP) {
        stop_at = lapse_node_get(node, "stop_at");
        for (size_t i = 0; i < node->count; i++) {
            if (lapse_shape_word(d, node->keys[i], LAPSE_WORD_CHAOS, "`chaos`")) {
                read_word(d, node->keys[i], node->items[i], chaos);
            }
        }
    } else if (lapse_shape_flag(d, node, &on) && on) {
        allow_all(d, chaos);
    }
    if (!on) {
        return;
    }
    chaos->on = true;
    d->plan->setup.chaos = true;
    d->node_falls = d->node_falls || chaos->crashes > 0;
    d->node_falls = d->node_falls || chaos->disk != 0;
    d->wants_rows = d->wants_rows || chaos->disk != 0;
    check_end(d, node, stop_at, chaos);
}

const char *lapse_decode_chaos_disk_word(enum lapse_disk_fault disk) {
    return disk >= LAPSE_DISK_SYNC_FAIL && disk <= LAPSE_DISK_ROT ? disk_words[disk] : NULL;
}

static void read_word(struct lapse_decoder *d, const struct lapse_node *key,
                      const struct lapse_node *value, struct lapse_plan_chaos *chaos) {
    int64_t crashes = 0;
    if (lapse_node_is(key, "stop_at")) {
        (void)lapse_number_span(d, value, 1, &chaos->stop_at_ns);
    } else if (lapse_node_is(key, "pause")) {
        read_pause(d, value, chaos);
    } else if (lapse_node_is(key, "crash") && lapse_node_is(value, "true")) {
        chaos->crashes = CRASHES;
    } else if (lapse_node_is(key, "crash")) {
        (void)lapse_number_count(d, value, 0, CRASHES_MAX, &crashes);
        chaos->crashes = (int32_t)crashes;
    } else if (lapse_node_is(key, "down")) {
        (void)lapse_number_span(d, value, 1, &chaos->down_ns_max);
    } else if (lapse_node_is(key, "disk")) {
        read_disk(d, value, chaos);
    } else {
        read_rest(d, key, value, chaos);
    }
}

static void read_rest(struct lapse_decoder *d, const struct lapse_node *key,
                      const struct lapse_node *value, struct lapse_plan_chaos *chaos) {
    if (lapse_node_is(key, "loss")) {
        lapse_decode_share(d, value, &chaos->loss_ppm);
    } else if (lapse_node_is(key, "duplicate")) {
        lapse_decode_share(d, value, &chaos->duplicate_ppm);
    } else if (lapse_node_is(key, "latency")) {
        (void)lapse_number_span(d, value, 0, &chaos->latency_ns_max);
    } else if (lapse_node_is(key, "wall")) {
        (void)lapse_number_span(d, value, 0, &chaos->wall_ns);
    } else if (lapse_node_is(key, "rate")) {
        (void)lapse_decode_rate(d, value, &chaos->rate_ppb);
        if (chaos->rate_ppb < 0) {
            lapse_mistake_add(d->diags, "Y109", value->place, "",
                              "rates are drawn both ways, up to this: write it without a sign");
        }
    } else if (lapse_node_is(key, "cut")) {
        (void)lapse_shape_flag(d, value, &chaos->cuts);
    } else if (lapse_node_is(key, "reorder")) {
        (void)lapse_shape_flag(d, value, &chaos->reorder);
    } else if (lapse_node_is(key, "suspend")) {
        (void)lapse_shape_flag(d, value, &chaos->suspend);
    } else if (lapse_node_is(key, "machine")) {
        (void)lapse_shape_flag(d, value, &chaos->machine);
    } else if (lapse_node_is(key, "starve")) {
        (void)lapse_shape_flag(d, value, &chaos->starve);
    } else if (lapse_node_is(key, "slow")) {
        (void)lapse_shape_flag(d, value, &chaos->slow);
    } else if (lapse_node_is(key, "freeze")) {
        (void)lapse_shape_flag(d, value, &chaos->freeze);
    }
}

/* `true`, or which of them. */
static void read_disk(struct lapse_decoder *d, const struct lapse_node *node,
                      struct lapse_plan_chaos *chaos) {
    bool yes = false;
    if (node->kind == LAPSE_NODE_SCALAR) {
        chaos->disk = lapse_shape_flag(d, node, &yes) && yes ? DISK_WITHIN : 0;
        return;
    }
    if (!lapse_shape_is(d, node, LAPSE_NODE_SEQ, "true, or a list like [fail, tear]")) {
        return;
    }
    for (size_t i = 0; i < node->count; i++) {
        const struct lapse_node *word = node->items[i];
        int found = 0;
        for (int kind = LAPSE_DISK_SYNC_FAIL; kind <= LAPSE_DISK_ROT; kind++) {
            found = lapse_node_is(word, disk_words[kind]) ? kind : found;
        }
        if (found > 0) {
            chaos->disk |= BIT(found);
            continue;
        }
        struct lapse_diag *diag = lapse_mistake_add(
            d->diags, "Y101", word->place, "", "`%.60s` is nothing that a disk does",
            word->kind == LAPSE_NODE_SCALAR ? word->text : "this");
        lapse_diag_note(d->diags, diag, "help",
                        "write some of fail, lies, stalls, tear, full and rot");
    }
}

static void read_pause(struct lapse_decoder *d, const struct lapse_node *node,
                       struct lapse_plan_chaos *chaos) {
    bool yes = false;
    if (node->kind == LAPSE_NODE_SCALAR) {
        chaos->pause_ns_max = lapse_shape_flag(d, node, &yes) && yes ? PAUSE_NS : 0;
        return;
    }
    if (!lapse_shape_is(d, node, LAPSE_NODE_MAP, "a map of `who` and `for`")) {
        return;
    }
    chaos->pause_ns_max = PAUSE_NS;
    for (size_t i = 0; i < node->count; i++) {
        const struct lapse_node *key = node->keys[i];
        if (lapse_node_is(key, "who")) {
            read_who(d, node->items[i], chaos);
        } else if (lapse_node_is(key, "for")) {
            lapse_decode_range(d, node->items[i], &chaos->pause_ns_min, &chaos->pause_ns_max);
        } else {
            struct lapse_diag *diag = lapse_mistake_add(
                d->diags, "Y101", key->place, "", "`%.60s` is no word of a pause", key->text);
            lapse_diag_note(d->diags, diag, "help", "write `pause: {who: [w1], for: 0s..60s}`");
        }
    }
}

static void read_who(struct lapse_decoder *d, const struct lapse_node *list,
                     struct lapse_plan_chaos *chaos) {
    if (!lapse_shape_is(d, list, LAPSE_NODE_SEQ, "a list of actors, and n1")) {
        return;
    }
    struct lapse_party *who = lapse_decoder_take(d, (list->count + 1) * sizeof(*who));
    for (size_t i = 0; who != NULL && i < list->count; i++) {
        const struct lapse_node *name = list->items[i];
        if (!lapse_shape_is(d, name, LAPSE_NODE_SCALAR, "an actor, or n1")) {
            continue;
        }
        struct lapse_party party = {LAPSE_PARTY_NODE, 0};
        if (!lapse_node_is(name, "n1")) {
            party = (struct lapse_party){LAPSE_PARTY_ACTOR,
                                         lapse_resolve_name(d, name, LAPSE_SPACE_ACTOR)};
        }
        who[chaos->pause_count] = party;
        chaos->pause_count += party.index >= 0 ? 1 : 0;
    }
    chaos->pause_who = who;
}

/* `chaos: true`: every kind that stays within what the document promises. */
static void allow_all(struct lapse_decoder *d, struct lapse_plan_chaos *chaos) {
    chaos->pause_ns_max = PAUSE_NS;
    chaos->crashes = CRASHES;
    chaos->loss_ppm = LOSS_PPM;
    chaos->duplicate_ppm = DUPLICATE_PPM;
    chaos->latency_ns_max = LATENCY_NS;
    chaos->wall_ns = d->plan->setup.wall_bound.ns > 0 ? d->plan->setup.wall_bound.ns : WALL_NS;
    chaos->rate_ppb = d->plan->setup.rate_ppb;
    chaos->cuts = chaos->reorder = chaos->suspend = chaos->machine = true;
    chaos->starve = chaos->slow = true;
    chaos->disk = DISK_WITHIN;
}

/* Faults must end before the run does, or nothing could be said of progress. */
static void check_end(struct lapse_decoder *d, const struct lapse_node *node,
                      const struct lapse_node *stop_at, struct lapse_plan_chaos *chaos) {
    if (stop_at == NULL && d->plan->has_run_for) {
        chaos->stop_at_ns = d->plan->run_for_ns / 2;
    }
    if (stop_at == NULL && !d->plan->has_run_for) {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y125", node->place, "",
                                                    "`chaos` does not say when it stops");
        lapse_diag_note(d->diags, diag, "help",
                        "write `chaos: {stop_at: 5m}`; with `run_for` it is half of that");
    } else if (d->plan->has_run_for && chaos->stop_at_ns > d->plan->run_for_ns) {
        const struct lapse_node *where = stop_at != NULL ? stop_at : node;
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y109", where->place, "",
                              "chaos stops after the run's end, so that nothing heals");
        lapse_diag_note(d->diags, diag, "help", "let it stop before `run_for`, or run longer");
    }
    if (chaos->stop_at_ns < 1) {
        chaos->stop_at_ns = 1;
    }
}
