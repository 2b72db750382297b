/* A generator for a document that is there already: whom and what its faults may befall. */
#include "generator.h"
#include "mutate.h"

#include <string.h>

static void find_clients(struct lapse_generator *g);
static bool is_sqlite(const struct lapse_node *document);

void lapse_gen_from(struct lapse_generator *g, struct lapse_node *document) {
    g->document = document;
    g->steps = lapse_node_get(document, "steps");
    g->span_ns = lapse_gen_span(g, LAPSE_TRAIT_SPAN);
    if (g->steps == NULL || g->steps->kind != LAPSE_NODE_SEQ) {
        g->steps = lapse_tree_seq(g->pool);
        lapse_tree_put(g->pool, document, "steps", g->steps);
    }
    find_clients(g);
    g->sqlite = is_sqlite(document);
    g->copied = false;
}

static void find_clients(struct lapse_generator *g) {
    const struct lapse_node *actors = lapse_node_get(g->document, "actors");
    for (size_t i = 0; actors != NULL && i < actors->count; i++) {
        const struct lapse_node *name = actors->kind == LAPSE_NODE_MAP ? actors->keys[i]
                                                                       : actors->items[i];
        if (g->client_count < LAPSE_GEN_CLIENTS_MAX && name->kind == LAPSE_NODE_SCALAR) {
            g->clients[g->client_count++] = name->text;
        }
    }
    if (g->client_count == 0) {
        g->clients[g->client_count++] = "client";
    }
}

static bool is_sqlite(const struct lapse_node *document) {
    return lapse_node_is(lapse_node_get(lapse_node_get(document, "store"), "kind"), "sqlite");
}
