/* Taking expectations out. What a scenario expects holds for the faults that it has; with others
 * added, only contracts can judge. */
#include "fuzz/shape.h"

#include "tree.h"

#include <string.h>

static void shape_lines(struct lapse_pool *pool, struct lapse_node *node);
static void shape_line(struct lapse_pool *pool, struct lapse_node *line);

void lapse_shape(struct lapse_pool *pool, struct lapse_node *document) {
    static const char *const out[] = {"expect", "sometimes", "measure", "about", "tags", "chaos"};
    for (size_t i = 0; i < sizeof out / sizeof *out; i++) {
        lapse_tree_drop(document, out[i]);
    }
    shape_lines(pool, lapse_node_get(document, "steps"));
    struct lapse_node *actors = lapse_node_get(document, "actors");
    for (size_t i = 0; actors != NULL && actors->kind == LAPSE_NODE_MAP && i < actors->count; i++) {
        struct lapse_node *tasks = lapse_node_get(actors->items[i], "tasks");
        if (actors->items[i]->kind == LAPSE_NODE_SEQ) {
            shape_lines(pool, actors->items[i]);
        }
        for (size_t k = 0; tasks != NULL && k < tasks->count; k++) {
            shape_lines(pool, tasks->items[k]);
        }
    }
}

/* Observers go, for what they would see is not told. */
static void shape_lines(struct lapse_pool *pool, struct lapse_node *node) {
    static const char *const observers[] = {"gone", "present", "left", "holder", "believes",
                                            "may",  "stopped", "events", "rows"};
    for (size_t i = 0; node != NULL && i < node->count;) {
        struct lapse_node *line = node->items[i];
        bool looks = false;
        for (size_t k = 0; k < sizeof observers / sizeof *observers; k++) {
            looks = looks || lapse_node_get(line, observers[k]) != NULL;
        }
        if (looks) {
            lapse_tree_remove(node, i);
            continue;
        }
        shape_line(pool, line);
        i++;
    }
}

static void shape_line(struct lapse_pool *pool, struct lapse_node *line) {
    struct lapse_node *body = lapse_node_get(line, "do");
    lapse_tree_drop(line, "expect");
    if (body != NULL) {
        shape_lines(pool, body);
        return;
    }
    if (lapse_shape_calls(line) && lapse_node_get(line, "on_any") == NULL) {
        lapse_tree_say(pool, line, "on_any", "stop");
    }
}

bool lapse_shape_calls(const struct lapse_node *line) {
    static const char *const verbs[] = {
        "set",    "create", "update",  "get",     "entry",   "has",       "delete", "purge",
        "expire", "persist", "list",   "all",     "count",   "history",   "batch",  "acquire",
        "extend", "release", "inspect", "session", "keepalive", "close",  "write",  "read"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (lapse_node_get(line, verbs[i]) != NULL) {
            return true;
        }
    }
    return false;
}
