/* Lines that gather or bend others: requests sent again, batches, words of buckets, edges of the
 * range of numbers, many at once. */
#include "generator.h"

#include <string.h>

static void again(struct lapse_generator *g);
static struct lapse_node *member(struct lapse_generator *g, struct lapse_gen_bucket *bucket);
static void edge_term(struct lapse_generator *g, struct lapse_node *line, const char *edge);

void lapse_gen_requests(struct lapse_generator *g) {
    const char *what = lapse_gen_word(g, LAPSE_TRAIT_REQUEST);
    if (strcmp(what, "again") == 0 && g->request_count > 0) {
        again(g);
        return;
    }
    size_t before = g->steps->count;
    if (strcmp(what, "batch") == 0) {
        lapse_gen_batches(g);
    } else if (strcmp(what, "acquire") == 0) {
        lapse_gen_leases(g);
    } else {
        lapse_gen_keys(g);
    }
    struct lapse_node *line = before < g->steps->count ? g->steps->items[before] : NULL;
    static const char *const takers[] = {
        "set",     "create", "update",  "delete", "purge",  "expire",
        "persist", "batch",  "acquire", "extend", "release",
    };
    for (size_t i = 0; line != NULL && i < sizeof takers / sizeof *takers; i++) {
        if (lapse_node_get(line, takers[i]) != NULL && lapse_node_get(line, "wait") == NULL) {
            lapse_tree_put(g->pool, line, "id",
                           lapse_tree_text(g->pool, "q%d", (int)++g->numbered));
            g->requests[g->request_count++ % LAPSE_GEN_REQUESTS_MAX] = line;
            lapse_gen_landmark(g, g->now_ns + 120 * LAPSE_NS_PER_S);
        }
    }
}

/* The same call, word for word, later. */
static void again(struct lapse_generator *g) {
    size_t known = g->request_count < LAPSE_GEN_REQUESTS_MAX ? g->request_count
                                                             : LAPSE_GEN_REQUESTS_MAX;
    size_t at = (size_t)lapse_choose(g->choices, known, LAPSE_CHOICE_GENERATE,
                                     LAPSE_TRAITS_MAX + 2);
    struct lapse_node *line = lapse_node_deep_copy(g->pool, g->requests[at]);
    if (line == NULL) {
        return;
    }
    lapse_gen_advance(g);
    lapse_gen_say_span(g, line, "at", g->now_ns);
    lapse_tree_drop(line, "request");
    lapse_tree_drop(line, "reply");
    lapse_tree_add(g->pool, g->steps, line);
}

void lapse_gen_batches(struct lapse_generator *g) {
    size_t size = 1 + lapse_gen_pick(g, LAPSE_TRAIT_BATCHED);
    struct lapse_node *line = lapse_gen_call(g, "batch", "");
    struct lapse_node *members = lapse_tree_seq(g->pool);
    struct lapse_gen_bucket *bucket = lapse_gen_some_bucket(g, false);
    for (; size > 0; size--) {
        lapse_tree_add(g->pool, members, member(g, bucket));
    }
    lapse_tree_put(g->pool, line, "batch", members);
    lapse_gen_add(g, line);
}

static struct lapse_node *member(struct lapse_generator *g, struct lapse_gen_bucket *bucket) {
    static const char *const names[] = {"k", "m", "p"};
    struct lapse_node *call = lapse_tree_map(g->pool);
    const char *verb = lapse_gen_word(g, LAPSE_TRAIT_BATCH);
    if (strcmp(verb, "release") == 0 || strcmp(verb, "close") == 0) {
        lapse_gen_say(g, call, verb, verb[0] == 'r' ? "jobs/x" : "s");
        return call;
    }
    size_t at = lapse_gen_pick(g, LAPSE_TRAIT_KEY);
    struct lapse_gen_thing *key = &bucket->keys[at];
    bool end = strcmp(verb, "end") == 0;
    lapse_tree_put(g->pool, call, end ? "expire" : verb,
                   lapse_tree_text(g->pool, "%s/%s", bucket->name, names[at]));
    if (end) {
        lapse_gen_say(g, call, "expires_at", "now-1s");
        return call;
    }
    if (strcmp(verb, "delete") == 0 || strcmp(verb, "purge") == 0) {
        key->there = false;
        (void)lapse_gen_revision(g, bucket, key);
        return call;
    }
    lapse_gen_say(g, call, "value", "x");
    if (strcmp(verb, "update") == 0) {
        lapse_gen_say_number(g, call, "if_version", key->number > 0 ? key->number : 1);
    }
    key->there = true;
    key->end_ns = bucket->span_ns > 0 ? g->now_ns + bucket->span_ns : INT64_MAX;
    key->number = lapse_gen_revision(g, bucket, key);
    lapse_gen_landmark(g, key->end_ns);
    return call;
}

void lapse_gen_buckets(struct lapse_generator *g) {
    const char *verb = lapse_gen_word(g, LAPSE_TRAIT_BUCKETED);
    if (strcmp(verb, "set") == 0 || strcmp(verb, "get") == 0) {
        lapse_gen_keys(g);
        return;
    }
    struct lapse_gen_bucket *bucket = lapse_gen_some_bucket(g, false);
    struct lapse_node *line = lapse_gen_call(g, verb, bucket->name);
    const char *term = lapse_gen_word(g, LAPSE_TRAIT_TERM);
    if (strcmp(term, "none") != 0) {
        lapse_gen_say_span(g, line, term, lapse_gen_span(g, LAPSE_TRAIT_SPAN));
    }
    const char *markers = lapse_gen_word(g, LAPSE_TRAIT_MARKERS);
    if (strcmp(markers, "none") != 0) {
        lapse_gen_say(g, line, "markers", markers);
    }
    lapse_gen_add(g, line);
}

void lapse_gen_edges(struct lapse_generator *g) {
    const char *edge = lapse_gen_word(g, LAPSE_TRAIT_EDGE);
    if (strstr(edge, "lease") != NULL) {
        struct lapse_node *line = lapse_gen_call(g, "acquire", "jobs/y");
        lapse_gen_say(g, line, "for", edge[0] == 'z' ? "0s" : "9223372036854775807ns");
        lapse_gen_add(g, line);
        return;
    }
    struct lapse_node *line = lapse_gen_call(g, "set", "b/p");
    lapse_gen_say(g, line, "value", "v");
    edge_term(g, line, edge);
    lapse_gen_add(g, line);
    lapse_gen_number(&g->of_buckets[0]);
    struct lapse_node *look = lapse_gen_call(g, "entry", "b/p");
    lapse_gen_add(g, look);
}

static void edge_term(struct lapse_generator *g, struct lapse_node *line, const char *edge) {
    static const struct {
        const char *edge, *word, *value;
    } terms[] = {
        {"zero", "ttl", "0s"},
        {"huge", "ttl", "9223372036854775807ns"},
        {"largest", "ttl", "9223372036000000000ns"},
        {"two terms", "ttl", "5s"},
        {"two terms", "expires_at", "now+9s"},
        {"past", "expires_at", "now-1s"},
        {"huge idle", "idle", "9223372036854775807ns"},
    };
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        if (strcmp(terms[i].edge, edge) == 0) {
            lapse_gen_say(g, line, terms[i].word, terms[i].value);
        }
    }
}

/* Many keys at one instant, whose ends come at one instant too. */
void lapse_gen_flood(struct lapse_generator *g) {
    struct lapse_gen_bucket *bucket = lapse_gen_some_bucket(g, false);
    if (g->numbered > 0) {
        lapse_gen_watches(g);
        return;
    }
    struct lapse_node *watch = lapse_gen_call(g, "watch", bucket->name);
    lapse_gen_name_watch(g, watch);
    lapse_gen_add(g, watch);
    struct lapse_node *object = lapse_tree_text(g->pool, "%s/f$n", bucket->name);
    struct lapse_node *line = lapse_gen_call(g, "set", object != NULL ? object->text : "b/f$n");
    const char *many = lapse_gen_word(g, LAPSE_TRAIT_FLOOD);
    lapse_gen_say(g, line, "value", "v");
    lapse_gen_say_span(g, line, "ttl", g->span_ns);
    lapse_gen_say(g, line, "times", many);
    lapse_gen_landmarks_of(g, g->span_ns, false);
    lapse_gen_add(g, line);
}
