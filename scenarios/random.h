/* Documents drawn from the table of words, for tests. */
#ifndef SCENARIOS_RANDOM_H
#define SCENARIOS_RANDOM_H

#include "emitter.h"

enum { LAPSE_DRAWN_MAX = 512 };

/* A document being drawn. */
struct lapse_draw {
    struct lapse_emitter e; /* for its nodes and its pool */
    uint64_t state;         /* where chance stands; not 0 */
    int64_t now_s;
    bool expect;    /* the line stands in `expect` */
    bool in_memory; /* the store has no disk of files */
    bool *drawn;    /* LAPSE_DRAWN_MAX, by word of the table: it has been drawn */
};
/* Draws one; pool, state and drawn are set. */
struct lapse_node *lapse_draw_document(struct lapse_draw *d);
/* A map of `explore` (random_explore.c). */
struct lapse_node *lapse_draw_protocol(struct lapse_draw *d);
/* A map of `policy` (random_policy.c). */
struct lapse_node *lapse_draw_policies(struct lapse_draw *d);
/* One of 0 to count - 1. */
size_t lapse_draw_pick(struct lapse_draw *d, size_t count);

#endif
