/* Private: the way from the start to a state, told with names that stay. */
#ifndef EXPLORE_TRACE_H
#define EXPLORE_TRACE_H

#include "set.h"

/* A path from the start, as far as it has been followed. */
struct path {
    const struct mover *mover;
    struct state state;
    uint8_t names[LAPSE_EXPLORE_CLIENTS_MAX];   /* of the clients in the state's order */
    int64_t tokens[LAPSE_EXPLORE_CLIENTS_MAX];  /* by name: of its belief, ... */
    int64_t asked[LAPSE_EXPLORE_CLIENTS_MAX];   /* ... its call, */
    int64_t late[LAPSE_EXPLORE_CLIENTS_MAX];    /* ... its request given up, */
    int64_t written[LAPSE_EXPLORE_CLIENTS_MAX]; /* ... its write */
    int64_t token;                              /* the last one given */
    int64_t tick;
    enum lapse_explore_break broken; /* by the last move */
};
void lapse_explore_path_begin(struct path *path, const struct mover *mover);
/* Makes a move of the path's state and tells it. OK, NOMEM, BUG. */
enum lapse_status lapse_explore_path_follow(struct path *path, move_code move,
                                            struct lapse_explore_step *ret,
                                            struct lapse_error *err);

/* Writes the moves to the state at `at`, and then `last`, into *ret (but not what was found). OK,
 * NOMEM, BUG. */
enum lapse_status lapse_explore_trace(const lapse_alloc *alloc, const struct mover *mover,
                                      const struct set *set, size_t at, move_code last,
                                      struct lapse_explore_found *ret, struct lapse_error *err);
void lapse_explore_trace_free(const lapse_alloc *alloc, struct lapse_explore_found *found);

#endif
