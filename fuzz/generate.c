/* A document: its subjects and troubles, what it declares, its clients with loops, its lines. */
#include "generator.h"

#include <stdlib.h>
#include <string.h>

enum { BURST_MORE = 3, BURST_PARTS = 100, LAST_LINES = 2 };

static void draw_words(struct lapse_generator *g, enum lapse_trait many, enum lapse_trait trait,
                       struct lapse_gen_words *ret);
static void add_companion(struct lapse_generator *g);
static void add_starts(struct lapse_generator *g);
static void add_dates(struct lapse_generator *g);
static void draw_setup(struct lapse_generator *g);
static void draw_store(struct lapse_generator *g);
static void draw_clocks(struct lapse_generator *g);
static void draw_clock(struct lapse_generator *g, const char *whose);
static void draw_clients(struct lapse_generator *g);
static void draw_buckets(struct lapse_generator *g);
static void draw_resource(struct lapse_generator *g);
static void draw_lines(struct lapse_generator *g);
static void draw_line(struct lapse_generator *g);
static void read_again(struct lapse_generator *g);

struct lapse_node *lapse_generate(struct lapse_pool *pool, struct lapse_choices *choices,
                                  const char *profile, struct lapse_diversity *diversity) {
    struct lapse_generator g = {.pool = pool, .choices = choices, .diversity = diversity};
    g.document = lapse_tree_map(pool);
    g.steps = lapse_tree_seq(pool);
    g.buckets = lapse_tree_map(pool);
    g.resources = lapse_tree_map(pool);
    g.actors = lapse_tree_map(pool);
    g.clocks = lapse_tree_map(pool);
    if (pool->failed) {
        return NULL;
    }
    lapse_gen_say(&g, g.document, "lapse", "1");
    lapse_gen_say(&g, g.document, "name", "drawn");
    draw_words(&g, LAPSE_TRAIT_BREADTH, LAPSE_TRAIT_SUBJECT, &g.subjects);
    draw_words(&g, LAPSE_TRAIT_TROUBLE, LAPSE_TRAIT_FAULT, &g.faults);
    g.span_ns = lapse_gen_span(&g, LAPSE_TRAIT_SPAN);
    lapse_gen_policies(&g, profile);
    draw_setup(&g);
    g.narrow = lapse_gen_is(&g, LAPSE_TRAIT_WIDTH, "narrow");
    draw_clients(&g);
    draw_lines(&g);
    lapse_tree_put(pool, g.document, "actors", g.actors);
    if (g.clocks->count > 0) {
        lapse_tree_put(pool, g.document, "clocks", g.clocks);
    }
    if (g.endless) {
        int64_t last_ns = g.last_ns > g.now_ns ? g.last_ns : g.now_ns;
        lapse_gen_say_span(&g, g.document, "run_for", last_ns + LAPSE_NS_PER_S);
    }
    lapse_tree_put(pool, g.document, "steps", g.steps);
    return pool->failed ? NULL : g.document;
}

/* So many draws; what is drawn twice is there once. */
static void draw_words(struct lapse_generator *g, enum lapse_trait many, enum lapse_trait trait,
                       struct lapse_gen_words *ret) {
    for (long left = strtol(lapse_gen_word(g, many), NULL, 10); left > 0; left--) {
        const char *word = lapse_gen_word(g, trait);
        if (!lapse_gen_has(ret, word)) {
            ret->words[ret->count++] = word;
        }
    }
}

/* Watches and loops are little without something that comes between. */
static void add_companion(struct lapse_generator *g) {
    static const char *const wanting[] = {"watches", "loops", "careful"};
    bool wants = false;
    for (size_t i = 0; i < sizeof wanting / sizeof *wanting; i++) {
        wants = wants || lapse_gen_has(&g->subjects, wanting[i]);
    }
    const char *word = wants ? lapse_gen_word(g, LAPSE_TRAIT_COMPANION) : "none";
    if (strcmp(word, "none") != 0 && !lapse_gen_has(&g->faults, word)) {
        g->faults.words[g->faults.count++] = word;
    }
}

/* What a disk has done to a store is seen once it is started again. */
static void add_starts(struct lapse_generator *g) {
    bool disk = lapse_gen_has(&g->faults, "disk") || lapse_gen_has(&g->faults, "stall") ||
                lapse_gen_has(&g->faults, "copy");
    if (disk && !lapse_gen_has(&g->faults, "restart n1")) {
        g->faults.words[g->faults.count++] = "restart n1";
    }
    if (disk && !lapse_gen_has(&g->faults, "crash n1")) {
        g->faults.words[g->faults.count++] = "crash n1";
    }
}

/* Steps of a wall are little without dates. */
static void add_dates(struct lapse_generator *g) {
    bool steps = lapse_gen_has(&g->faults, "boot") || lapse_gen_has(&g->faults, "wall n1");
    if (steps && !lapse_gen_has(&g->subjects, "dates") &&
        lapse_gen_is(g, LAPSE_TRAIT_DATED, "yes")) {
        g->subjects.words[g->subjects.count++] = "dates";
    }
}

static void draw_setup(struct lapse_generator *g) {
    static const char *const quick[] = {"crash", "restart n1", "wall",    "wall n1", "rate",
                                        "copy",  "reap",       "rate n1", "revoke", "boot"};
    add_companion(g);
    add_starts(g);
    add_dates(g);
    g->patient = !lapse_gen_has(&g->subjects, "idioms");
    for (size_t i = 0; i < g->faults.count; i++) {
        bool is_quick = false;
        for (size_t k = 0; k < sizeof quick / sizeof *quick; k++) {
            is_quick = is_quick || strcmp(quick[k], g->faults.words[i]) == 0;
        }
        g->patient = g->patient && is_quick;
    }
    draw_store(g);
    draw_clocks(g);
    draw_buckets(g);
    draw_resource(g);
}

/* Copies and what only a file can suffer need a disk. */
static void draw_store(struct lapse_generator *g) {
    const char *kind = lapse_gen_word(g, LAPSE_TRAIT_STORE);
    bool disk = lapse_gen_has(&g->faults, "disk");
    g->sqlite = strcmp(kind, "sqlite") == 0 || lapse_gen_has(&g->faults, "copy");
    if (!g->sqlite && !disk && strcmp(kind, "none") == 0) {
        return;
    }
    struct lapse_node *store = lapse_tree_map(g->pool);
    lapse_gen_say(g, store, "kind", g->sqlite ? "sqlite" : "memory");
    lapse_gen_say(g, store, "sync", lapse_gen_word(g, LAPSE_TRAIT_SYNC));
    lapse_tree_put(g->pool, g->document, "store", store);
}

static void draw_clocks(struct lapse_generator *g) {
    bool rate = lapse_gen_has(&g->faults, "rate") || lapse_gen_has(&g->faults, "rate n1");
    bool wall = lapse_gen_has(&g->faults, "wall") || lapse_gen_has(&g->faults, "wall n1");
    struct lapse_node *bounds = lapse_tree_map(g->pool);
    if (rate) {
        lapse_gen_say(g, bounds, "rate", lapse_gen_word(g, LAPSE_TRAIT_RATE));
    }
    if (wall) {
        lapse_gen_say(g, bounds, "wall", lapse_gen_word(g, LAPSE_TRAIT_WALLS));
    }
    if (rate || wall) {
        lapse_tree_put(g->pool, g->document, "bounds", bounds);
    }
    draw_clock(g, "n1");
    draw_clock(g, "w1");
}

static void draw_clock(struct lapse_generator *g, const char *whose) {
    static const struct {
        const char *word, *key, *value;
    } starts[] = {
        {"wall ahead", "wall", "+2s"},
        {"wall behind", "wall", "-1h"},
        {"tick", "tick", "1ms"},
        {"origin", "origin", "500s"},
    };
    const char *origin = lapse_gen_word(g, LAPSE_TRAIT_ORIGIN);
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        if (strcmp(starts[i].word, origin) == 0) {
            struct lapse_node *clock = lapse_tree_map(g->pool);
            lapse_gen_say(g, clock, starts[i].key, starts[i].value);
            lapse_tree_put(g->pool, g->clocks, whose, clock);
        }
    }
}

static void draw_clients(struct lapse_generator *g) {
    static const char *const names[] = {"w1", "w2", "w3"};
    g->client_count = (int)strtol(lapse_gen_word(g, LAPSE_TRAIT_CLIENTS), NULL, 10);
    for (int i = 0; i < g->client_count; i++) {
        g->clients[i] = names[i];
        struct lapse_node *actor = lapse_tree_map(g->pool);
        bool may = lapse_gen_has(&g->subjects, "careful") || lapse_gen_has(&g->subjects, "loops");
        if (may && lapse_gen_is(g, LAPSE_TRAIT_CAREFUL, "yes")) {
            const char *margin = lapse_gen_word(g, LAPSE_TRAIT_MARGIN);
            lapse_gen_say(g, actor, "careful", "true");
            if (strcmp(margin, "half") == 0) {
                lapse_gen_say_span(g, actor, "margin", g->span_ns / 2);
            } else if (strcmp(margin, "none") != 0) {
                lapse_gen_say(g, actor, "margin", margin);
            }
            if (lapse_gen_is(g, LAPSE_TRAIT_TIMER, "boot")) {
                lapse_gen_say(g, actor, "timer", "boot");
            }
        }
        lapse_tree_put(g->pool, g->actors, g->clients[i], actor);
    }
    if (lapse_gen_has(&g->subjects, "loops")) {
        lapse_gen_loops(g);
    }
}

static void draw_buckets(struct lapse_generator *g) {
    (void)lapse_gen_bucket(g, "b", lapse_gen_has(&g->subjects, "idle") ? "idle" : "any");
    if (lapse_gen_is(g, LAPSE_TRAIT_BUCKETS, "2")) {
        (void)lapse_gen_bucket(g, "c", "any");
    }
    if (lapse_gen_has(&g->subjects, "locks") || lapse_gen_has(&g->subjects, "loops")) {
        (void)lapse_gen_bucket(g, "l", "locks");
    }
    lapse_tree_put(g->pool, g->document, "buckets", g->buckets);
}

static void draw_resource(struct lapse_generator *g) {
    if (!lapse_gen_has(&g->subjects, "resources") && !lapse_gen_has(&g->subjects, "loops") &&
        !lapse_gen_has(&g->subjects, "careful")) {
        return;
    }
    struct lapse_node *resource = lapse_tree_map(g->pool);
    const char *kind = lapse_gen_word(g, LAPSE_TRAIT_RESOURCE);
    lapse_gen_say(g, resource, "fenced", "true");
    if (strcmp(kind, "lease") == 0 || strcmp(kind, "ends") == 0) {
        lapse_gen_say(g, resource, "lease", "jobs/x");
        g->names_lease = true;
    }
    if (strcmp(kind, "ends") == 0) {
        lapse_gen_say(g, resource, "bar", "ends");
    }
    if (strcmp(kind, "once") == 0) {
        lapse_gen_say(g, resource, "once", "true");
    }
    lapse_tree_put(g->pool, g->resources, "res", resource);
    lapse_tree_put(g->pool, g->document, "resources", g->resources);
}

static void draw_lines(struct lapse_generator *g) {
    if (g->names_lease) {
        lapse_gen_add(g, lapse_gen_call(g, "inspect", "jobs/x"));
    }
    long lines = strtol(lapse_gen_word(g, LAPSE_TRAIT_LINES), NULL, 10);
    for (; lines > 0 && !g->over; lines--) {
        if (g->faults.count > 0 && lapse_gen_is(g, LAPSE_TRAIT_FAULTY, "yes")) {
            lapse_gen_fault(g);
        } else {
            draw_line(g);
            read_again(g);
        }
    }
    if (g->faults.count > 0 && lapse_gen_is(g, LAPSE_TRAIT_LAST, "in a fault")) {
        lapse_gen_fault(g);
        g->inside = LAST_LINES;
        draw_line(g);
        draw_line(g);
    }
}

static void draw_line(struct lapse_generator *g) {
    static const struct {
        const char *word;
        void (*add)(struct lapse_generator *g);
    } subjects[] = {
        {"keys", lapse_gen_keys},           {"idle", lapse_gen_idle},
        {"dates", lapse_gen_dates},         {"watches", lapse_gen_watches},
        {"leases", lapse_gen_leases},       {"sessions", lapse_gen_sessions},
        {"locks", lapse_gen_locks},         {"resources", lapse_gen_resources},
        {"requests", lapse_gen_requests},   {"batches", lapse_gen_batches},
        {"records", lapse_gen_records},     {"buckets", lapse_gen_buckets},
        {"edges", lapse_gen_edges},         {"flood", lapse_gen_flood},
        {"loops", lapse_gen_leases},        {"careful", lapse_gen_resources},
        {"idioms", lapse_gen_idioms},
    };
    size_t at = (size_t)lapse_choose(g->choices, g->subjects.count, LAPSE_CHOICE_GENERATE,
                                     LAPSE_TRAITS_MAX + 1);
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        if (strcmp(subjects[i].word, g->subjects.words[at]) == 0) {
            subjects[i].add(g);
        }
    }
}

/* What may be done once in a while is seen where it is done at once, again and again. */
static void read_again(struct lapse_generator *g) {
    static const char *const reads[] = {"get", "entry", "has", "list", "inspect", "read"};
    const char *burst = lapse_gen_word(g, LAPSE_TRAIT_BURST);
    const struct lapse_node *line =
        g->steps->count > 0 ? g->steps->items[g->steps->count - 1] : NULL;
    bool reads_only = false;
    for (size_t i = 0; line != NULL && i < sizeof reads / sizeof *reads; i++) {
        reads_only = reads_only || lapse_node_get(line, reads[i]) != NULL;
    }
    for (int left = BURST_MORE; reads_only && strcmp(burst, "none") != 0 && left > 0; left--) {
        struct lapse_node *again = lapse_node_deep_copy(g->pool, line);
        if (again != NULL) {
            g->now_ns += burst[0] == 'm' ? LAPSE_NS_PER_MS : g->span_ns / BURST_PARTS;
            lapse_gen_say_span(g, again, "at", g->now_ns);
            lapse_tree_add(g->pool, g->steps, again);
        }
    }
}
