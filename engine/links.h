/* Private: rings of rows, linked through the rows themselves. A ring is named by a pointer to its
 * first row, NULL when it is empty. */
#ifndef ENGINE_LINKS_H
#define ENGINE_LINKS_H

#include "node.h"

/* Adds a row after the last. */
static inline void lapse_links_append(struct lapse_node **ring, struct lapse_node *node) {
    struct lapse_node *first = *ring;
    if (first == NULL) {
        node->at.wheel.next = node->at.wheel.prev = node;
        *ring = node;
        return;
    }
    struct lapse_node *last = first->at.wheel.prev;
    node->at.wheel.next = first;
    node->at.wheel.prev = last;
    last->at.wheel.next = node;
    first->at.wheel.prev = node;
}

/* Adds the rows of another ring, which may be empty, after the last. */
static inline void lapse_links_join(struct lapse_node **ring, struct lapse_node *after) {
    struct lapse_node *first = *ring;
    if (first == NULL || after == NULL) {
        *ring = first == NULL ? after : first;
        return;
    }
    struct lapse_node *last = first->at.wheel.prev;
    struct lapse_node *end = after->at.wheel.prev;
    last->at.wheel.next = after;
    after->at.wheel.prev = last;
    end->at.wheel.next = first;
    first->at.wheel.prev = end;
}

/* If the ring begins with `node`, makes it begin with the next; true then. For a row that is about
 * to leave. */
static inline bool lapse_links_skip(struct lapse_node **ring, const struct lapse_node *node) {
    if (*ring != node) {
        return false;
    }
    *ring = node->at.wheel.next == node ? NULL : node->at.wheel.next;
    return true;
}

/* Takes a row out from between its neighbours. */
static inline void lapse_links_cut(struct lapse_node *node) {
    node->at.wheel.prev->at.wheel.next = node->at.wheel.next;
    node->at.wheel.next->at.wheel.prev = node->at.wheel.prev;
    node->at.wheel.next = node->at.wheel.prev = NULL;
}

/* Takes the first row of a ring that has some. */
static inline struct lapse_node *lapse_links_pop(struct lapse_node **ring) {
    struct lapse_node *node = *ring;
    (void)lapse_links_skip(ring, node);
    lapse_links_cut(node);
    return node;
}

#endif
