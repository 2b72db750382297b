/* The tree of a document: scalars, maps and lists, each with its place in the file.
 *
 * The YAML library is left behind here: what follows sees only this tree. Nodes live in a pool,
 * are read-only once built, and may be shared between trees. */
#ifndef SCENARIOS_NODE_H
#define SCENARIOS_NODE_H

#include "contracts/diag.h"
#include "scenarios/pool.h"

enum { LAPSE_NODE_DEPTH_MAX = 32 };

enum lapse_node_kind { LAPSE_NODE_SCALAR = 1, LAPSE_NODE_MAP, LAPSE_NODE_SEQ };

struct lapse_node {
    enum lapse_node_kind kind;
    bool quoted;  /* SCALAR: written in quotes or as a block: a text whatever it looks like */
    bool dropped; /* a line that `drop` took out: it keeps its time and is not run */
    bool varied;  /* SCALAR: a name of `vary` was filled in */
    struct lapse_place place;
    struct lapse_place copied; /* a line that `change` changed: where it was written first; `place`
                                  is the change's. Else no file */
    const char *text;          /* SCALAR: NUL-terminated, without NUL inside */
    size_t len;
    size_t count; /* MAP, SEQ */
    struct lapse_node **items;
    struct lapse_node **keys; /* MAP: scalars */
};

/* Whether the node is NULL, an unquoted empty scalar, `~` or `null`. */
bool lapse_node_is_null(const struct lapse_node *node);
/* Whether the node is a scalar with exactly this text. */
bool lapse_node_is(const struct lapse_node *node, const char *text);
struct lapse_bytes lapse_node_bytes(const struct lapse_node *scalar);
/* The value under `key` of a map, or NULL (also when node is no map); the index, or -1. */
struct lapse_node *lapse_node_get(const struct lapse_node *node, const char *key);
int64_t lapse_node_index(const struct lapse_node *node, const char *key);
/* How much a copy of the tree costs: its nodes, keys included, and long texts as several. */
size_t lapse_node_weight(const struct lapse_node *node);
/* A new node that shares its children; a new tree that shares its keys and texts. NULL: memory ran
 * out. */
struct lapse_node *lapse_node_copy(struct lapse_pool *pool, const struct lapse_node *node);
struct lapse_node *lapse_node_deep_copy(struct lapse_pool *pool, const struct lapse_node *node);
/* A new tree, `over` laid upon `base`: maps merge, everything else is replaced, key and value, so
 * that both have the places of `over`; a null of `over` takes the key away. Either may be NULL.
 * NULL: both are, or memory ran out. */
struct lapse_node *lapse_node_merge(struct lapse_pool *pool, struct lapse_node *base,
                                    struct lapse_node *over);
/* Puts `value` under `key` (replacing), in a map from lapse_node_copy or lapse_node_merge. */
bool lapse_node_put(struct lapse_pool *pool, struct lapse_node *map, struct lapse_node *key,
                    struct lapse_node *value);

#endif
