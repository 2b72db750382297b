/* The string with get, put and append: a state is a place in the tree of the texts that were read.
 */
#include "linear_models.h"

#include <stdio.h>
#include <string.h>

/* A text with which none that was read begins. */
enum { UNREAD = -1 };

static void start(const void *ctx, int64_t *ret_state);
static bool step(const void *ctx, const int64_t *state, const struct lapse_linear_call *call,
                 unsigned branch, int64_t *ret_state);
static bool same(const void *ctx, const struct lapse_linear_call *a,
                 const struct lapse_linear_call *b);
static bool looks(const void *ctx, const int64_t *state, const struct lapse_linear_call *call);
static bool changes(const void *ctx, const struct lapse_linear_call *call);
static int64_t descend(const struct lapse_string_tree *tree, int64_t place,
                       struct lapse_bytes text);
static uint32_t child_of(const struct lapse_string_tree *tree, uint32_t node, unsigned char byte);

struct lapse_string_tree *lapse_string_tree_open(const struct lapse_linear_store *store) {
    struct lapse_string_tree *tree = lapse_alloc_zero(store->alloc, sizeof(*tree));
    if (tree == NULL) {
        return NULL;
    }
    *tree = (struct lapse_string_tree){.alloc = store->alloc, .store = store, .count = 1};
    if (!lapse_alloc_grow(tree->alloc, (void **)&tree->nodes, &tree->cap, 1,
                          sizeof(*tree->nodes))) {
        lapse_string_tree_close(tree);
        return NULL;
    }
    tree->nodes[0] = (struct lapse_string_node){0};
    return tree;
}

void lapse_string_tree_close(struct lapse_string_tree *tree) {
    if (tree != NULL) {
        lapse_alloc_free(tree->alloc, tree->nodes, tree->cap * sizeof(*tree->nodes));
        lapse_alloc_free(tree->alloc, tree, sizeof(*tree));
    }
}

int64_t lapse_string_tree_add(struct lapse_string_tree *tree, struct lapse_bytes text) {
    uint32_t at = 0;
    for (size_t i = 0; i < text.len; i++) {
        uint32_t child = child_of(tree, at, text.data[i]);
        if (child == 0) {
            if (tree->count + 1 >= UINT32_MAX ||
                !lapse_alloc_grow(tree->alloc, (void **)&tree->nodes, &tree->cap, tree->count + 1,
                                  sizeof(*tree->nodes))) {
                return -1;
            }
            child = (uint32_t)tree->count++;
            tree->nodes[child] = (struct lapse_string_node){0, tree->nodes[at].child, text.data[i]};
            tree->nodes[at].child = child;
        }
        at = child;
    }
    return at;
}

lapse_linear_model lapse_string_model(const struct lapse_string_tree *tree) {
    return (lapse_linear_model){.ctx = tree,
                                .state_words = 1,
                                .start = start,
                                .step = step,
                                .same = same,
                                .looks = looks,
                                .changes = changes};
}

static void start(const void *ctx, int64_t *ret_state) {
    (void)ctx;
    ret_state[0] = 0;
}

static bool step(const void *ctx, const int64_t *state, const struct lapse_linear_call *call,
                 unsigned branch, int64_t *ret_state) {
    const struct lapse_string_tree *tree = ctx;
    (void)branch;
    ret_state[0] = state[0];
    if (call->op == LAPSE_STRING_GET) {
        return call->open || state[0] == call->arg[LAPSE_STRING_PLACE];
    }
    struct lapse_bytes text = tree->store->texts[call->arg[LAPSE_STRING_TEXT]];
    ret_state[0] = descend(tree, call->op == LAPSE_STRING_PUT ? 0 : state[0], text);
    return true;
}

static bool same(const void *ctx, const struct lapse_linear_call *a,
                 const struct lapse_linear_call *b) {
    (void)ctx;
    return a->op == b->op && a->arg[LAPSE_STRING_TEXT] == b->arg[LAPSE_STRING_TEXT];
}

static bool looks(const void *ctx, const int64_t *state, const struct lapse_linear_call *call) {
    (void)ctx;
    (void)state;
    return call->op == LAPSE_STRING_GET;
}

static bool changes(const void *ctx, const struct lapse_linear_call *call) {
    (void)ctx;
    return call->op != LAPSE_STRING_GET;
}

static int64_t descend(const struct lapse_string_tree *tree, int64_t place,
                       struct lapse_bytes text) {
    for (size_t i = 0; place != UNREAD && i < text.len; i++) {
        uint32_t child = child_of(tree, (uint32_t)place, text.data[i]);
        place = child == 0 ? UNREAD : (int64_t)child;
    }
    return place;
}

static uint32_t child_of(const struct lapse_string_tree *tree, uint32_t node, unsigned char byte) {
    uint32_t at = tree->nodes[node].child;
    while (at != 0 && tree->nodes[at].byte != byte) {
        at = tree->nodes[at].sibling;
    }
    return at;
}

char *lapse_string_print(const struct lapse_string_tree *tree, const struct lapse_linear_call *call,
                         char *buf) {
    static const char *const words[] = {"get", "put", "append"};
    char text[160];
    (void)lapse_bytes_print(tree->store->texts[call->arg[LAPSE_STRING_TEXT]], text, sizeof text);
    size_t cap = LAPSE_LINEAR_CALL_TEXT_MAX;
    if (call->op != LAPSE_STRING_GET) {
        (void)snprintf(buf, cap, "%s \"%s\": %s", words[call->op], text,
                       call->open ? "no answer" : "ok");
    } else if (call->open) {
        (void)snprintf(buf, cap, "get: no answer");
    } else {
        (void)snprintf(buf, cap, "get: \"%s\"", text);
    }
    return buf;
}
