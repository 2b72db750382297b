/* Faults as lines: explicit ones, at landmarks, and as long as it takes to pass one. */
#include "generator.h"

#include <stdlib.h>
#include <string.h>

/* What a fault is drawn with. */
struct trouble {
    struct lapse_node *line;
    const char *node;   /* "n1" where the kind says so, else a client */
    const char *client; /* always a client */
};

static void hold_up(struct lapse_generator *g, struct trouble t, const char *kind);
static void fall(struct lapse_generator *g, struct trouble t, const char *kind);
static void wall(struct lapse_generator *g, struct trouble t, const char *kind);
static void rate(struct lapse_generator *g, struct trouble t, const char *kind);
static void cut(struct lapse_generator *g, struct trouble t, const char *kind);
static void link(struct lapse_generator *g, struct trouble t, const char *kind);
static void disk(struct lapse_generator *g, struct trouble t, const char *kind);
static void stall(struct lapse_generator *g, struct trouble t, const char *kind);
static void copy(struct lapse_generator *g, struct trouble t, const char *kind);
static void operate(struct lapse_generator *g, struct trouble t, const char *kind);
static void slow(struct lapse_generator *g, struct trouble t, const char *kind);
static void boot(struct lapse_generator *g, struct trouble t, const char *kind);
static void write_between(struct lapse_generator *g, const char *client);
static void last_for(struct lapse_generator *g, struct lapse_node *line);
static const char *first_word(struct lapse_generator *g, const char *kind);

void lapse_gen_fault(struct lapse_generator *g) {
    static const struct {
        const char *kind;
        void (*draw)(struct lapse_generator *g, struct trouble t, const char *kind);
    } kinds[] = {
        {"pause", hold_up},   {"pause n1", hold_up}, {"suspend", hold_up}, {"suspend n1", hold_up},
        {"freeze", hold_up},  {"starve", hold_up},   {"crash", fall},      {"crash n1", fall},
        {"restart n1", fall}, {"wall", wall},        {"wall n1", wall},    {"rate", rate},
        {"rate n1", rate},    {"cut", cut},          {"cut one way", cut}, {"disk", disk},
        {"stall", stall},     {"copy", copy},        {"reap", operate},    {"revoke", operate},
        {"slow", slow},       {"boot", boot},        {"link", link},
    };
    const char *kind = g->faults.words[lapse_choose(g->choices, g->faults.count,
                                                    LAPSE_CHOICE_GENERATE, LAPSE_TRAITS_MAX + 3)];
    struct trouble t = {.line = lapse_tree_map(g->pool)};
    t.client = g->clients[lapse_choose(g->choices, (uint64_t)g->client_count,
                                       LAPSE_CHOICE_GENERATE, LAPSE_TRAITS_MAX + 4)];
    t.node = strstr(kind, "n1") != NULL ? "n1" : t.client;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].kind, kind) == 0) {
            lapse_gen_advance(g);
            lapse_gen_say_span(g, t.line, "at", g->now_ns);
            kinds[i].draw(g, t, kind);
            lapse_gen_add(g, t.line);
        }
    }
}

static void hold_up(struct lapse_generator *g, struct trouble t, const char *kind) {
    lapse_gen_say(g, t.line, first_word(g, kind), t.node);
    last_for(g, t.line);
}

/* A node that has fallen always comes back. */
static void fall(struct lapse_generator *g, struct trouble t, const char *kind) {
    lapse_gen_say(g, t.line, first_word(g, kind), t.node);
    if (strncmp(kind, "crash", 5) == 0) {
        last_for(g, t.line);
    }
    if (strcmp(t.node, "n1") == 0 && lapse_gen_is(g, LAPSE_TRAIT_MACHINE, "yes")) {
        lapse_gen_say(g, t.line, "machine", "true");
    }
}

static void wall(struct lapse_generator *g, struct trouble t, const char *kind) {
    const char *by = lapse_gen_word(g, LAPSE_TRAIT_WALL_BY);
    char text[LAPSE_TIME_TEXT_MAX];
    (void)kind;
    lapse_gen_say(g, t.line, "clock", t.node);
    if (strcmp(by, "to epoch") == 0) {
        lapse_gen_say(g, t.line, "to", "epoch");
    } else if (strcmp(by, "to later") == 0) {
        struct lapse_span later = {g->now_ns + g->span_ns};
        lapse_tree_put(g->pool, t.line, "to",
                       lapse_tree_text(g->pool, "epoch+%s", lapse_span_print(later, text)));
    } else if (strcmp(by + 1, "span") == 0) {
        lapse_tree_put(g->pool, t.line, "wall",
                       lapse_tree_text(g->pool, "%c%s", by[0],
                                       lapse_span_print((struct lapse_span){g->span_ns}, text)));
    } else {
        lapse_gen_say(g, t.line, "wall", by);
    }
}

/* Within what the document's bounds promise. */
static void rate(struct lapse_generator *g, struct trouble t, const char *kind) {
    const struct lapse_node *bounds = lapse_node_get(g->document, "bounds");
    const struct lapse_node *bound = lapse_node_get(bounds, "rate");
    const char *drift = lapse_gen_word(g, LAPSE_TRAIT_DRIFT);
    bool half = strncmp(drift, "half", 4) == 0;
    long number = bound != NULL ? strtol(bound->text, NULL, 10) : 0;
    (void)kind;
    lapse_gen_say(g, t.line, "clock", t.node);
    lapse_tree_put(g->pool, t.line, "rate",
                   lapse_tree_text(g->pool, "%c%ld%s", strstr(drift, "slow") != NULL ? '-' : '+',
                                   half ? number / 2 : number,
                                   bound != NULL ? bound->text + strspn(bound->text, "0123456789")
                                                 : "ppm"));
}

static void cut(struct lapse_generator *g, struct trouble t, const char *kind) {
    bool back = lapse_choose(g->choices, 2, LAPSE_CHOICE_GENERATE, LAPSE_TRAITS_MAX + 5) != 0;
    bool both = strcmp(kind, "cut") == 0;
    if (g->watch != NULL && lapse_gen_is(g, LAPSE_TRAIT_CUT_OFF, "who watches")) {
        t.client = g->clients[g->watcher];
    }
    lapse_tree_put(g->pool, t.line, "cut",
                   lapse_tree_text(g->pool, "%s%c%s", back && !both ? "n1" : t.client,
                                   both ? '-' : '>', back && !both ? t.client : "n1"));
    last_for(g, t.line);
}

/* Shares are whole, so that chance has no part in them. */
static void link(struct lapse_generator *g, struct trouble t, const char *kind) {
    const char *how = lapse_gen_word(g, LAPSE_TRAIT_LINK);
    const char *word = lapse_pool_text(g->pool, how, strcspn(how, ":"));
    const char *value = strchr(how, ' ');
    (void)kind;
    lapse_tree_put(g->pool, t.line, "link", lapse_tree_text(g->pool, "%s-n1", t.client));
    if (word != NULL && value != NULL) {
        lapse_gen_say(g, t.line, word, value + 1);
    }
    last_for(g, t.line);
}

static void disk(struct lapse_generator *g, struct trouble t, const char *kind) {
    const char *how = lapse_gen_word(g, LAPSE_TRAIT_DISK);
    (void)kind;
    lapse_gen_say(g, t.line, "disk", "n1");
    if (strncmp(how, "sync", 4) == 0) {
        lapse_gen_say(g, t.line, "sync", how + 5);
        lapse_gen_say(g, t.line, "nth", lapse_gen_word(g, LAPSE_TRAIT_NTH));
    } else if (g->sqlite) {
        lapse_gen_say(g, t.line, how, strcmp(how, "rot") == 0 ? "40" : "true");
    } else {
        lapse_gen_say(g, t.line, "sync", "fail");
    }
    if (lapse_node_get(t.line, "rot") == NULL) {
        last_for(g, t.line);
    }
}

static void stall(struct lapse_generator *g, struct trouble t, const char *kind) {
    (void)kind;
    lapse_gen_say(g, t.line, "stall", "n1");
    lapse_gen_say(g, t.line, "in", "sync");
    last_for(g, t.line);
}

static void copy(struct lapse_generator *g, struct trouble t, const char *kind) {
    if (!g->sqlite) {
        operate(g, t, "reap");
        return;
    }
    bool back = g->copied && lapse_gen_is(g, LAPSE_TRAIT_COPY, "restore");
    (void)kind;
    lapse_gen_say(g, t.line, back ? "restore" : "backup", "n1");
    lapse_gen_say(g, t.line, back ? "from" : "as", "copy");
    if (back) {
        lapse_gen_say(g, t.line, "restored", "true");
    }
    g->copied = true;
}

static void operate(struct lapse_generator *g, struct trouble t, const char *kind) {
    bool loops = lapse_gen_has(&g->subjects, "loops");
    bool revoke = strcmp(kind, "revoke") == 0 && (loops || g->leases[0].number > 0);
    lapse_gen_say(g, t.line, revoke ? "revoke" : "reap", !revoke ? "n1"
                                                         : loops ? "jobs/z"
                                                                 : "jobs/x");
}

static void slow(struct lapse_generator *g, struct trouble t, const char *kind) {
    (void)kind;
    lapse_gen_say(g, t.line, "slow", "n1");
    lapse_gen_say(g, t.line, "latency", "5ms");
    last_for(g, t.line);
}

/* A start of the store under another wall, with a look at one thing before and after it, all at one
 * instant. */
static void boot(struct lapse_generator *g, struct trouble t, const char *kind) {
    struct lapse_node *start = lapse_tree_map(g->pool), *look = lapse_tree_map(g->pool);
    bool lease = g->leases[0].number > 0 || g->bucket_count == 0;
    lapse_gen_say_span(g, look, "at", g->now_ns);
    lapse_gen_say(g, look, "by", t.client);
    lapse_gen_say(g, look, lease ? "inspect" : "entry", lease ? "jobs/x" : "b/k");
    lapse_gen_add(g, lapse_node_deep_copy(g->pool, look));
    t.node = "n1";
    wall(g, t, kind);
    lapse_gen_add(g, lapse_node_deep_copy(g->pool, t.line));
    write_between(g, t.client);
    lapse_gen_say_span(g, start, "at", g->now_ns);
    lapse_gen_say(g, start, "restart", "n1");
    if (lapse_gen_is(g, LAPSE_TRAIT_MACHINE, "yes")) {
        lapse_gen_say(g, start, "machine", "true");
    }
    lapse_gen_add(g, start);
    *t.line = *look;
}

static void write_between(struct lapse_generator *g, const char *client) {
    const char *what = lapse_gen_word(g, LAPSE_TRAIT_BETWEEN);
    if (strcmp(what, "nothing") == 0) {
        return;
    }
    struct lapse_node *line = lapse_tree_map(g->pool);
    lapse_gen_say_span(g, line, "at", g->now_ns);
    lapse_gen_say(g, line, "by", client);
    lapse_gen_say(g, line, "set", "b/p");
    lapse_gen_say(g, line, "value", "v");
    if (strcmp(what, "date") == 0) {
        lapse_gen_say(g, line, "expires_at", "now+10m");
    }
    lapse_gen_number(&g->of_buckets[0]);
    g->of_buckets[0].keys[2].number = g->of_buckets[0].revision;
    lapse_gen_add(g, line);
}

static void last_for(struct lapse_generator *g, struct lapse_node *line) {
    const char *word = lapse_gen_word(g, LAPSE_TRAIT_FAULT_FOR);
    int64_t ns = strcmp(word, "span") == 0     ? g->span_ns
                 : strcmp(word, "double") == 0 ? 2 * g->span_ns
                 : strcmp(word, "half") == 0   ? g->span_ns / 2
                 : strcmp(word, "moment") == 0 ? LAPSE_NS_PER_MS
                 : strcmp(word, "second") == 0 || strcmp(word, "none") == 0
                     ? LAPSE_NS_PER_S
                     : lapse_gen_ahead(g, lapse_gen_pick(g, LAPSE_TRAIT_WHICH)) - g->now_ns + 1;
    lapse_gen_say_span(g, line, "for", ns);
    g->inside = lapse_gen_pick(g, LAPSE_TRAIT_INSIDE);
    g->inside_ns = g->now_ns + ns;
    lapse_gen_landmark(g, g->now_ns + ns);
}

static const char *first_word(struct lapse_generator *g, const char *kind) {
    const char *word = lapse_pool_text(g->pool, kind, strcspn(kind, " "));
    return word != NULL ? word : "pause";
}
