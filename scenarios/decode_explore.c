/* `explore`: a closed lease protocol that `lapse explore` searches, or the word `all`. */
#include "decode.h"

#include "sim/explore.h"

enum { FAULTS_MAX = 100 };
#define GRAIN_NS LAPSE_NS_PER_S

static void decode_protocol(struct lapse_decoder *d, const struct lapse_node *map);
static void read_word(struct lapse_decoder *d, const struct lapse_node *key,
                      const struct lapse_node *value, struct lapse_plan_explore *explore);
static void read_flag(struct lapse_decoder *d, const struct lapse_node *key,
                      const struct lapse_node *value, struct lapse_plan_explore *explore);
static void read_resource(struct lapse_decoder *d, const struct lapse_node *node,
                          struct lapse_plan_explore *explore);
static void check_alone(struct lapse_decoder *d);
static void check_whole(struct lapse_decoder *d, const struct lapse_node *map);
static void check_margin(struct lapse_decoder *d, const struct lapse_node *map);

void lapse_decode_explore(struct lapse_decoder *d) {
    const struct lapse_node *node = lapse_node_get(d->root, "explore");
    if (lapse_node_is_null(node)) {
        return;
    }
    if (node->kind == LAPSE_NODE_MAP) {
        decode_protocol(d, node);
    } else if (lapse_node_is(node, "all")) {
        d->plan->explore.all = true;
    } else {
        struct lapse_diag *diag = lapse_mistake_add(
            d->diags, "Y127", node->place, "", "`explore` is `all`, or a map of a protocol");
        lapse_diag_note(d->diags, diag, "help",
                        "write `explore: all` for every order and choice of this scenario, or "
                        "`explore: {clients: 2, for: 10s}`");
    }
}

static void decode_protocol(struct lapse_decoder *d, const struct lapse_node *map) {
    struct lapse_plan_explore *explore = &d->plan->explore;
    size_t before = d->diags->count;
    explore->on = true;
    explore->grain_ns = GRAIN_NS;
    explore->faults_max = -1;
    for (size_t i = 0; i < map->count; i++) {
        if (lapse_shape_word(d, map->keys[i], LAPSE_WORD_EXPLORE, "`explore`")) {
            read_word(d, map->keys[i], map->items[i], explore);
        }
    }
    check_alone(d);
    if (d->diags->count == before) {
        check_whole(d, map);
    }
}

static void read_word(struct lapse_decoder *d, const struct lapse_node *key,
                      const struct lapse_node *value, struct lapse_plan_explore *explore) {
    const struct {
        const char *word;
        int64_t *ns;
        int64_t min;
    } spans[] = {{"for", &explore->span_ns, 1},
                 {"grain", &explore->grain_ns, 1},
                 {"margin", &explore->margin_ns, 0},
                 {"clock", &explore->clock_ns, 0},
                 {"renew", &explore->renew_ns, 1}};
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        if (lapse_node_is(key, spans[i].word)) {
            (void)lapse_number_span(d, value, spans[i].min, spans[i].ns);
            return;
        }
    }
    int64_t number = 0;
    if (lapse_node_is(key, "clients")) {
        (void)lapse_number_count(d, value, 1, LAPSE_EXPLORE_CLIENTS_MAX, &number);
        explore->clients = (int32_t)number;
    } else if (lapse_node_is(key, "faults")) {
        (void)lapse_number_count(d, value, 0, FAULTS_MAX, &number);
        explore->faults_max = (int32_t)number;
    } else if (lapse_node_is(key, "resource")) {
        read_resource(d, value, explore);
    } else {
        read_flag(d, key, value, explore);
    }
}

static void read_flag(struct lapse_decoder *d, const struct lapse_node *key,
                      const struct lapse_node *value, struct lapse_plan_explore *explore) {
    const struct {
        const char *word;
        bool *flag;
    } flags[] = {{"careful", &explore->careful}, {"fresh_owner", &explore->fresh_owner},
                 {"delay", &explore->delay},     {"loss", &explore->loss},
                 {"crash", &explore->crash},     {"pause", &explore->pause}};
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (lapse_node_is(key, flags[i].word)) {
            (void)lapse_shape_flag(d, value, flags[i].flag);
        }
    }
}

static void read_resource(struct lapse_decoder *d, const struct lapse_node *node,
                          struct lapse_plan_explore *explore) {
    if (lapse_node_is(node, "fenced")) {
        explore->resource = LAPSE_EXPLORE_FENCED;
    } else if (lapse_node_is(node, "unfenced")) {
        explore->resource = LAPSE_EXPLORE_UNFENCED;
    } else {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y127", node->place, "",
                                                    "a protocol's resource is fenced or unfenced");
        lapse_diag_note(d->diags, diag, "help", "leave the word out where nothing is written to");
    }
}

/* A protocol is no run: nothing of it has a time, and nothing happens beside it. */
static void check_alone(struct lapse_decoder *d) {
    static const char *const with[] = {"lapse", "name", "about",  "tags", "explore", "violates",
                                       "vary",  "like", "change", "drop", "add"};
    for (size_t i = 0; i < d->root->count; i++) {
        const struct lapse_node *key = d->root->keys[i];
        bool fits = lapse_node_is_null(d->root->items[i]);
        for (size_t k = 0; k < sizeof(with) / sizeof(with[0]); k++) {
            fits = fits || lapse_node_is(key, with[k]);
        }
        if (!fits) {
            struct lapse_diag *diag =
                lapse_mistake_add(d->diags, "Y120", key->place, "",
                                  "`%.60s` does not go with the protocol in `explore`", key->text);
            lapse_diag_note(d->diags, diag, "help",
                            "a protocol has `name`, `about`, `tags`, `vary` and `violates` beside "
                            "it; for a scenario with lines write `explore: all`");
        }
    }
}

static void check_whole(struct lapse_decoder *d, const struct lapse_node *map) {
    static const char *const needed[] = {"clients", "for"};
    struct lapse_error err = {0};
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        if (lapse_node_is_null(lapse_node_get(map, needed[i]))) {
            struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y125", map->place, "",
                                                        "a protocol says `%s`", needed[i]);
            lapse_diag_note(d->diags, diag, "help", "write `explore: {clients: 2, for: 10s}`");
            return;
        }
    }
    check_margin(d, map);
    const char *word = "";
    if (lapse_explore_check(&d->plan->explore, &word, &err) != LAPSE_OK) {
        const struct lapse_node *wrong = lapse_node_get(map, word);
        lapse_mistake_add(d->diags, "Y109", wrong == NULL ? map->place : wrong->place, "", "%s",
                          err.message);
    }
}

/* Who never looks at a clock has no deadline that could be earlier. */
static void check_margin(struct lapse_decoder *d, const struct lapse_node *map) {
    const struct lapse_node *margin = lapse_node_get(map, "margin");
    if (lapse_node_is_null(margin) || d->plan->explore.careful) {
        return;
    }
    struct lapse_diag *diag =
        lapse_mistake_add(d->diags, "Y120", margin->place, "",
                          "`margin` goes with `careful: true`: only a client that looks at its "
                          "clock has a deadline");
    lapse_diag_note(d->diags, diag, "help", "add `careful: true`, or leave `margin` out");
}
