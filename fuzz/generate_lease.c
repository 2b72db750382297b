/* Lines about leases, sessions, resources and watches. */
#include "generator.h"

#include <stdlib.h>
#include <string.h>

static const char *const lease_names[LAPSE_GEN_NAMES] = {"jobs/x", "jobs/y"};
static const char *const session_names[LAPSE_GEN_NAMES] = {"s", "r"};

static int64_t span_for(struct lapse_generator *g);
static int64_t token_for(struct lapse_generator *g, const struct lapse_gen_thing *lease);
static void acquire(struct lapse_generator *g, size_t at, struct lapse_node *line);
static void granted(struct lapse_generator *g, struct lapse_gen_thing *thing, int64_t span_ns,
                    int64_t number);
static void with_session(struct lapse_generator *g, size_t at, const char *verb);

void lapse_gen_leases(struct lapse_generator *g) {
    size_t at = lapse_gen_pick(g, LAPSE_TRAIT_LEASE);
    const char *verb = lapse_gen_word(g, LAPSE_TRAIT_LEASES);
    struct lapse_gen_thing *lease = &g->leases[at];
    bool waits = strcmp(verb, "wait") == 0;
    struct lapse_node *line = lapse_gen_call(g, waits ? "acquire" : verb, lease_names[at]);
    if (waits) {
        lapse_gen_say_span(g, line, "wait", g->span_ns);
        lapse_gen_say_span(g, line, "retry", g->span_ns / 3);
    }
    if (waits || strcmp(verb, "acquire") == 0) {
        acquire(g, at, line);
    } else if (strcmp(verb, "inspect") != 0) {
        int64_t token = token_for(g, lease), span_ns = 0;
        if (strcmp(verb, "extend") == 0) {
            span_ns = span_for(g);
            lapse_gen_say_span(g, line, "for", span_ns);
        }
        if (token >= 0) {
            lapse_gen_say_number(g, line, "token", token);
        }
        bool named = token >= 0 ? token == lease->number : lease->owner == g->client;
        if (lease->there && named) {
            lease->number = span_ns > 0 && lapse_gen_extend_counts(g) ? ++g->token : lease->number;
            lease->there = span_ns > 0;
            lease->end_ns = g->now_ns + span_ns;
            lapse_gen_landmark(g, lease->end_ns);
        }
    }
    lapse_gen_add(g, line);
}

void lapse_gen_resources(struct lapse_generator *g) {
    const char *verb = lapse_gen_word(g, LAPSE_TRAIT_RESOURCES);
    if (strcmp(verb, "acquire") == 0) {
        size_t at = lapse_gen_pick(g, LAPSE_TRAIT_LEASE);
        struct lapse_node *line = lapse_gen_call(g, "acquire", lease_names[at]);
        acquire(g, at, line);
        lapse_gen_add(g, line);
        return;
    }
    struct lapse_node *line = lapse_gen_call(g, verb, "res");
    if (strcmp(verb, "write") == 0) {
        int64_t token = token_for(g, &g->leases[lapse_gen_pick(g, LAPSE_TRAIT_LEASE)]);
        lapse_gen_say(g, line, "value", g->clients[g->client]);
        lapse_gen_say_number(g, line, "token", token >= 0 ? token : 1);
    }
    lapse_gen_add(g, line);
}

void lapse_gen_sessions(struct lapse_generator *g) {
    size_t at = lapse_gen_pick(g, LAPSE_TRAIT_SESSION);
    const char *verb = lapse_gen_word(g, LAPSE_TRAIT_SESSIONS);
    struct lapse_gen_thing *session = &g->sessions[at];
    verb = session->number == 0 ? "session" : verb;
    if (strstr("set acquire get inspect expire", verb) != NULL) {
        with_session(g, at, verb);
        return;
    }
    struct lapse_node *line = lapse_gen_call(g, verb, session_names[at]);
    if (strcmp(verb, "close") == 0) {
        session->there = session->there && session->owner != g->client;
    } else {
        int64_t span_ns = span_for(g);
        lapse_gen_say_span(g, line, "for", span_ns);
        if (!session->there || session->owner == g->client) {
            granted(g, session, span_ns, session->there ? session->number : ++g->token);
        }
    }
    lapse_gen_add(g, line);
}

void lapse_gen_watches(struct lapse_generator *g) {
    struct lapse_gen_bucket *bucket = lapse_gen_some_bucket(g, false);
    const char *verb = lapse_gen_word(g, LAPSE_TRAIT_WATCHED);
    if (strcmp(verb, "delete") == 0 || strcmp(verb, "purge") == 0) {
        lapse_gen_key_verb(g, verb);
        return;
    }
    if (strcmp(verb, "watch") != 0 && (strcmp(verb, "unwatch") != 0 || g->watch == NULL)) {
        lapse_gen_keys(g);
        return;
    }
    bool whole = lapse_gen_is(g, LAPSE_TRAIT_WATCHES, "bucket");
    if (strcmp(verb, "unwatch") == 0) {
        lapse_gen_add(g, lapse_gen_call(g, verb, g->watch));
        return;
    }
    struct lapse_node *object = lapse_tree_text(g->pool, whole ? "%s" : "%s/k", bucket->name);
    struct lapse_node *line = lapse_gen_call(g, verb, object != NULL ? object->text : "b");
    if (strcmp(verb, "watch") == 0) {
        const char *from = lapse_gen_word(g, LAPSE_TRAIT_FROM);
        bool number = strcmp(from, "now") != 0 && strcmp(from, "live") != 0;
        int64_t last = strcmp(from, "first") == 0  ? 1
                       : strcmp(from, "last") == 0 ? bucket->revision
                                                   : bucket->revision - 1;
        if (number) {
            lapse_gen_say_number(g, line, "from", last > 0 ? last : 1);
        } else {
            lapse_gen_say(g, line, "from", from);
        }
        lapse_gen_name_watch(g, line);
    }
    lapse_gen_add(g, line);
}

void lapse_gen_name_watch(struct lapse_generator *g, struct lapse_node *line) {
    struct lapse_node *name = lapse_tree_text(g->pool, "r%d", (int)++g->numbered);
    lapse_tree_put(g->pool, line, "as", name);
    g->watch = name != NULL ? name->text : g->watch;
    g->watcher = g->client;
}

static int64_t span_for(struct lapse_generator *g) {
    const char *word = lapse_gen_word(g, LAPSE_TRAIT_FOR);
    if (strcmp(word, "any") == 0) {
        return lapse_gen_span(g, LAPSE_TRAIT_SPAN);
    }
    return strcmp(word, "half") == 0     ? g->span_ns / 2
           : strcmp(word, "double") == 0 ? 2 * g->span_ns
           : strcmp(word, "second") == 0 ? LAPSE_NS_PER_S
                                         : g->span_ns;
}

/* -1: none. */
static int64_t token_for(struct lapse_generator *g, const struct lapse_gen_thing *lease) {
    const char *which = lapse_gen_word(g, LAPSE_TRAIT_TOKEN);
    int64_t first = lease->counted > 0 ? 0 : 1;
    int64_t number = lease->number > first ? lease->number : first;
    return strcmp(which, "none") == 0  ? -1
           : strcmp(which, "old") == 0 ? (number > first ? number - 1 : first)
           : strcmp(which, "next") == 0 ? number + 1
                                        : number;
}

static void acquire(struct lapse_generator *g, size_t at, struct lapse_node *line) {
    const char *durability = lapse_gen_word(g, LAPSE_TRAIT_DURABILITY);
    int64_t span_ns = span_for(g);
    lapse_gen_say_span(g, line, "for", span_ns);
    if (strcmp(durability, "none") != 0) {
        lapse_gen_say(g, line, "durability", durability);
    }
    if (!g->leases[at].there) {
        granted(g, &g->leases[at], span_ns, lapse_gen_token(g, &g->leases[at]));
    }
}

/* Sessions and leases share a counter of tokens, if not each name counts for itself. */
static void granted(struct lapse_generator *g, struct lapse_gen_thing *thing, int64_t span_ns,
                    int64_t number) {
    *thing = (struct lapse_gen_thing){.there = true,
                                      .span_ns = span_ns,
                                      .end_ns = g->now_ns + span_ns,
                                      .number = number,
                                      .counted = thing->counted,
                                      .owner = g->client};
    lapse_gen_landmark(g, thing->end_ns);
}

static void with_session(struct lapse_generator *g, size_t at, const char *verb) {
    bool lease = strcmp(verb, "acquire") == 0 || strcmp(verb, "inspect") == 0;
    struct lapse_node *line = lapse_gen_call(g, verb, lease ? "jobs/x" : "b/k");
    if (strcmp(verb, "set") == 0) {
        lapse_gen_say(g, line, "value", "v");
        lapse_gen_number(&g->of_buckets[0]);
        g->of_buckets[0].keys[0] = (struct lapse_gen_thing){
            .there = true, .end_ns = g->sessions[at].end_ns, .number = g->of_buckets[0].revision};
    }
    if (strcmp(verb, "acquire") == 0 && !g->leases[0].there && g->sessions[at].there) {
        granted(g, &g->leases[0], g->sessions[at].end_ns - g->now_ns,
                lapse_gen_token(g, &g->leases[0]));
    }
    if (strcmp(verb, "get") != 0 && strcmp(verb, "inspect") != 0) {
        lapse_gen_say(g, line, "session", session_names[at]);
    }
    lapse_gen_add(g, line);
}
