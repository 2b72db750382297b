/* Private: what can happen in a state of a protocol, and what it leads to. */
#ifndef EXPLORE_MOVE_H
#define EXPLORE_MOVE_H

#include "store.h"

/* A move as a number: kind, client, whether the answer is lost; of TICK how far each clock moves,
 * three bits a client. */
typedef uint32_t move_code;
enum { MOVE_CLIENT_AT = 5, MOVE_LOST_AT = 7, MOVE_CLOCK_AT = 8, MOVE_CLOCK_BITS = 3 };

static inline enum lapse_explore_kind move_kind(move_code move) {
    return (enum lapse_explore_kind)(move & 31);
}
static inline int32_t move_client(move_code move) {
    return (int32_t)(move >> MOVE_CLIENT_AT & 3);
}
static inline bool move_loses(move_code move) {
    return (move >> MOVE_LOST_AT & 1) != 0;
}
static inline int32_t move_clock(move_code move, int32_t client) {
    return (int32_t)(move >> (MOVE_CLOCK_AT + MOVE_CLOCK_BITS * client) & 7);
}

/* Moves out of one state: each client has at most 12 others, and clocks 2B+1 ways each. */
enum { MOVES_MAX = 12 * LAPSE_EXPLORE_CLIENTS_MAX + 7 * 7 * 7 * 7 };

/* Answers of the store, kept by question where the search asks each only once. */
struct answers;

struct mover {
    const struct scope *scope;
    struct store *store;     /* borrowed */
    struct answers *answers; /* NULL: the engine is asked at every move */
};
enum lapse_status lapse_explore_answers_open(const lapse_alloc *alloc, const struct scope *scope,
                                             struct answers **ret);
void lapse_explore_answers_close(struct answers *answers);

/* What a move did, for who tells it. */
struct told {
    enum lapse_verb verb; /* of the call that it is about */
    bool asked;           /* the store or the resource was asked */
    enum lapse_status status;
    bool about_token; /* `token` is the rank, before the move, of the grant it is about */
    uint8_t token;
    bool granted; /* a new grant was given */
};

/* All moves that are possible in `state`; returns how many. */
size_t lapse_explore_moves(const struct scope *scope, const struct state *state,
                           move_code moves[MOVES_MAX]);
/* Makes a move of `state`, which changes it in place (not yet canonical), and writes what broke and
 * what is told. OK, NOMEM, BUG. After a break of the store's the state is not to be gone on from.
 */
enum lapse_status lapse_explore_move(const struct mover *mover, struct state *state, move_code move,
                                     enum lapse_explore_break *ret_break, struct told *ret_told,
                                     struct lapse_error *err);

#endif
