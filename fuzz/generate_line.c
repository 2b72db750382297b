/* Lines: when, who, what, and what may become of a call's messages. Every answer is allowed. */
#include "generator.h"

#include <inttypes.h>
#include <string.h>

static void message(struct lapse_generator *g, struct lapse_node *line);

struct lapse_node *lapse_gen_call(struct lapse_generator *g, const char *verb,
                                  const char *object) {
    struct lapse_node *line = lapse_tree_map(g->pool);
    lapse_gen_advance(g);
    lapse_gen_say_span(g, line, "at", g->now_ns);
    if (lapse_gen_pick(g, LAPSE_TRAIT_CLIENT) > 0) {
        g->client = (int)lapse_choose(g->choices, (uint64_t)g->client_count,
                                      LAPSE_CHOICE_GENERATE, LAPSE_TRAITS_MAX);
    }
    lapse_gen_say(g, line, "by", g->clients[g->client]);
    lapse_gen_say(g, line, verb, object);
    return line;
}

void lapse_gen_add(struct lapse_generator *g, struct lapse_node *line) {
    if (lapse_node_get(line, "by") != NULL) {
        lapse_gen_trouble_call(g, line);
        lapse_gen_say(g, line, "on_any", "next");
    }
    lapse_tree_add(g->pool, g->steps, line);
}

void lapse_gen_say(struct lapse_generator *g, struct lapse_node *line, const char *word,
                   const char *text) {
    lapse_tree_say(g->pool, line, word, text);
}

void lapse_gen_say_span(struct lapse_generator *g, struct lapse_node *line, const char *word,
                        int64_t ns) {
    lapse_tree_put(g->pool, line, word, lapse_tree_span(g->pool, ns));
}

void lapse_gen_say_number(struct lapse_generator *g, struct lapse_node *line, const char *word,
                          int64_t number) {
    lapse_tree_put(g->pool, line, word, lapse_tree_text(g->pool, "%" PRId64, number));
}

void lapse_gen_trouble_call(struct lapse_generator *g, struct lapse_node *line) {
    if (lapse_gen_has(&g->faults, "message") && lapse_gen_is(g, LAPSE_TRAIT_FAULTY, "yes")) {
        message(g, line);
    }
    if (!g->patient && lapse_node_get(line, "timeout") == NULL) {
        const char *timeout = lapse_gen_word(g, LAPSE_TRAIT_TIMEOUT);
        if (strcmp(timeout, "span") == 0 || strcmp(timeout, "double") == 0) {
            lapse_gen_say_span(g, line, "timeout",
                               timeout[0] == 'd' ? 2 * g->span_ns : g->span_ns);
        } else {
            lapse_gen_say(g, line, "timeout", timeout);
        }
    }
}

/* "request lost", "reply late". */
static void message(struct lapse_generator *g, struct lapse_node *line) {
    const char *fate = lapse_gen_word(g, LAPSE_TRAIT_MESSAGE);
    const char *blank = strchr(fate, ' ');
    const char *which = strncmp(fate, "request", 7) == 0 ? "request" : "reply";
    const char *what = blank != NULL ? blank + 1 : "moment";
    if (strcmp(what, "late") == 0) {
        int64_t at = lapse_gen_ahead(g, lapse_gen_pick(g, LAPSE_TRAIT_WHICH));
        lapse_gen_say_span(g, line, which, at - g->now_ns);
        lapse_gen_landmark(g, at);
    } else if (strcmp(what, "moment") == 0) {
        lapse_gen_say(g, line, which, "5ms");
    } else {
        lapse_gen_say(g, line, which, what);
    }
}
