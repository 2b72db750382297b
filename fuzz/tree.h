/* Building and editing the trees of documents: what generator and campaign write lines with.
 *
 * Nodes live in a pool and die with it. A builder goes on after memory has run out, and whoever
 * called looks at the pool's mark once at the end; what was built is then not used. */
#ifndef FUZZ_TREE_H
#define FUZZ_TREE_H

#include "scenarios/node.h"

#include "lapse/time.h"

enum { LAPSE_TREE_TEXT_MAX = 256 };

struct lapse_node *lapse_tree_map(struct lapse_pool *pool);
struct lapse_node *lapse_tree_seq(struct lapse_pool *pool);
/* A scalar: the text is copied, and cut at LAPSE_TREE_TEXT_MAX. */
struct lapse_node *lapse_tree_text(struct lapse_pool *pool, const char *format, ...)
    LAPSE_PRINTF(2, 3);
/* A duration as a person would write it: 30s, 15m-1ns. */
struct lapse_node *lapse_tree_span(struct lapse_pool *pool, int64_t ns);
/* Puts a value under a word, replacing; NULL nodes are put nowhere. */
void lapse_tree_put(struct lapse_pool *pool, struct lapse_node *map, const char *word,
                    struct lapse_node *value);
/* The same for a text. */
void lapse_tree_say(struct lapse_pool *pool, struct lapse_node *map, const char *word,
                    const char *text);
/* Takes a word out of a map; nothing happens where it is not. */
void lapse_tree_drop(struct lapse_node *map, const char *word);
/* Puts an item before the at-th (or last), and takes the at-th out. */
void lapse_tree_insert(struct lapse_pool *pool, struct lapse_node *seq, size_t at,
                       struct lapse_node *item);
void lapse_tree_add(struct lapse_pool *pool, struct lapse_node *seq, struct lapse_node *item);
void lapse_tree_remove(struct lapse_node *seq, size_t at);
/* Reads a duration as it is written in a document, sums and differences too: 15m-1ns. False: it is
 * none, or holds a name. */
bool lapse_tree_read_span(const struct lapse_node *node, int64_t *ret_ns);

#endif
