/* Exhaustive search: every state that a closed lease protocol can come to, on the engine's own
 * code.
 *
 * A protocol is a handful of numbers: clients that ask one store for one lease and may write to one
 * guarded resource, and what may go wrong meanwhile. Nothing in it says how long it runs. A state
 * holds no date and no number that grows: ends and deadlines are what is left of them, tokens are
 * their order, clients are sorted. So the states are finitely many, and once all have been seen
 * nothing is left out: the claim has no bound on time or on calls.
 *
 * The search goes breadth first, so what it finds first takes the fewest moves. Same protocol, same
 * states, same counts and digest, under any compiler. Not thread-safe; all memory is its own. */
#ifndef SIM_EXPLORE_H
#define SIM_EXPLORE_H

#include "sim/plan.h"

/* What can be found. Each is charged to one contract. */
enum lapse_explore_break {
    LAPSE_BREAK_NONE = 0,
    LAPSE_BREAK_TWO_ACT,  /* two clients may act under the lease at one instant */
    LAPSE_BREAK_LOWER,    /* the resource applied a token lower than one it had applied */
    LAPSE_BREAK_TWO_HOLD, /* the store granted a lease that it had given and not got back */
    LAPSE_BREAK_SHORT,    /* a grant ended early, or was given another term than asked for */
    LAPSE_BREAK_HELD,     /* a refused acquire changed something */
    LAPSE_BREAK_CLOSED,   /* a free name was refused */
    LAPSE_BREAK_KEPT,     /* a released name was not free, or a release was refused */
    LAPSE_BREAK_EXTENDED, /* an extend in time did not make the end now + span */
    LAPSE_BREAK_REVIVED,  /* an extend after the end was not lost, or changed something */
    LAPSE_BREAK_AGAIN,    /* acquire by the live owner was not answered as it should */
    LAPSE_BREAK_FOREIGN,  /* an extend or release touched the grant of another token */
    LAPSE_BREAK_TOKEN,    /* a grant's token did not rise */
    LAPSE_BREAK_UNREAPED, /* a row that had ended was there after the reaper's work */
    LAPSE_BREAK_RENAMED,  /* an extend or release changed a token */
    LAPSE_BREAKS
};
/* The contract's id, and what happened as a clause. Static texts. */
const char *lapse_explore_break_id(enum lapse_explore_break what);
const char *lapse_explore_break_sentence(enum lapse_explore_break what);

enum { LAPSE_EXPLORE_CLIENTS_MAX = 4, LAPSE_EXPLORE_TICKS_MAX = 63, LAPSE_EXPLORE_BOUND_MAX = 3 };

/* A move: what takes one state to the next. */
enum lapse_explore_kind {
    LAPSE_MOVE_ACQUIRE = 1, /* a client asks for the lease */
    LAPSE_MOVE_EXTEND,
    LAPSE_MOVE_RELEASE,
    LAPSE_MOVE_WRITE,     /* it writes to the resource under its token */
    LAPSE_MOVE_ARRIVE,    /* its request reaches the store and is decided */
    LAPSE_MOVE_REPLY,     /* the answer reaches it */
    LAPSE_MOVE_LATE,      /* a request that it has given up reaches the store */
    LAPSE_MOVE_LAND,      /* its write reaches the resource */
    LAPSE_MOVE_LOSE_CALL, /* its request or the answer is lost */
    LAPSE_MOVE_LOSE_LATE,
    LAPSE_MOVE_LOSE_WRITE,
    LAPSE_MOVE_GIVE_UP, /* it waits no longer; the request may still arrive */
    LAPSE_MOVE_PAUSE,
    LAPSE_MOVE_WAKE,
    LAPSE_MOVE_CRASH, /* it begins again as another incarnation */
    LAPSE_MOVE_TICK,  /* time moves on by one grain */
    LAPSE_MOVES
};

/* One move of a path, told with names that stay: clients and tokens are numbered from the start. */
struct lapse_explore_step {
    enum lapse_explore_kind kind;
    int32_t client;           /* from 0; -1: TICK */
    int64_t tick;             /* when: so many grains from the start */
    enum lapse_verb verb;     /* of the call that arrives, is told, is lost or is given up */
    bool asked;               /* it changes what the store or the resource holds, or asks it */
    enum lapse_status status; /* what was answered */
    int64_t token;            /* the grant that the call is about, or was given; 0: none */
    bool reply_lost;          /* the call was carried out at once and its answer lost */
    int8_t clock[LAPSE_EXPLORE_CLIENTS_MAX]; /* TICK: how far each client's clock moves */
};

struct lapse_explore_counts {
    uint64_t states;      /* distinct, in canonical form */
    uint64_t transitions; /* moves out of them */
    uint64_t two_act;     /* states in which two clients may act */
    uint64_t digest;      /* of the set of states, whatever their order */
    uint64_t calls;       /* the engine was asked */
    uint64_t waiting;     /* states whose moves are still to be made, as last told; 0: ALL */
    int64_t depth;        /* moves to the state that is farthest from the start */
};

enum lapse_explore_end {
    LAPSE_EXPLORE_ALL = 0, /* every state has been seen: the claim is exhaustive */
    LAPSE_EXPLORE_FOUND,   /* something unlisted broke */
    LAPSE_EXPLORE_MEMORY,  /* the bound on memory was reached: the claim is bounded */
    LAPSE_EXPLORE_STOPPED  /* the caller stopped it */
};

struct lapse_explore_options {
    const lapse_alloc *alloc; /* borrowed until the result is freed; NULL: the C library's */
    const struct lapse_plan_explore *protocol; /* borrowed */
    int32_t faults_max;                        /* at most so many; -1: any number */
    uint32_t listed;    /* bits by enum lapse_explore_break: found, noted and gone on from */
    uint64_t bytes_max; /* of the set of states; 0: 1 GB */
    bool every_call;    /* ask the engine at every move. Without, each pair of a stored state and
                           a command is asked once, and its answer kept */
    /* Called now and then; false stops the search. May be NULL. */
    bool (*progress)(void *ctx, const struct lapse_explore_counts *so_far);
    void *progress_ctx;
    /* Called with the abstract states of each move, of which there are many; those of the start
     * first, as a move to itself. May be NULL. */
    void (*abstract)(void *ctx, uint64_t from, uint64_t to);
    void *abstract_ctx;
};

struct lapse_explore_found {
    enum lapse_explore_break what;
    size_t step_count;
    struct lapse_explore_step *steps; /* the last one breaks it */
};

struct lapse_explored {
    const lapse_alloc *alloc;
    enum lapse_explore_end end;
    struct lapse_explore_counts counts;
    size_t found_count;
    struct lapse_explore_found found[LAPSE_BREAKS]; /* the shortest of each kind, in order of
                                                       finding; an unlisted one is the last */
};

/* Whether a protocol can be explored: all spans are whole numbers of grains, and within bounds.
 * OK, or INVALID with the word that is wrong (a static text). */
enum lapse_status lapse_explore_check(const struct lapse_plan_explore *protocol,
                                      const char **ret_word, struct lapse_error *err);
/* Explores. OK (ret->end says how far), INVALID, NOMEM, BUG (the engine's state is not one that the
 * canonical form tells whole). Free *ret with lapse_explored_free, after OK only. */
enum lapse_status lapse_explore(const struct lapse_explore_options *options,
                                struct lapse_explored *ret, struct lapse_error *err);
void lapse_explored_free(struct lapse_explored *explored);

/* ---- Abstract states: a state with its durations cut down to a few, for who counts how many of
 * all that there are he has seen. */
/* Tells one in words, by pieces. */
typedef void (*lapse_explore_put)(void *ctx, const char *text);
void lapse_explore_abstract_tell(const struct lapse_plan_explore *protocol, uint64_t state,
                                 lapse_explore_put put, void *ctx);

struct lapse_history;
/* The abstract states that an ordinary run of a protocol's clients went through, by what its
 * history tells: actors are the clients, in their order, and the lease is the one that they ask
 * for. One call of `seen` for the start and for each move that changed something. OK; NOMEM;
 * INVALID: the history is none of such a run (err). */
enum lapse_status lapse_explore_view(const struct lapse_plan_explore *protocol,
                                     const struct lapse_history *history,
                                     void (*seen)(void *ctx, uint64_t state), void *ctx,
                                     struct lapse_error *err);

/* One stretch of a walk: what it does is drawn from the seed. */
struct lapse_explore_leg {
    uint64_t seed;
    size_t moves; /* at most */
};
/* A walk by the moves of a protocol, drawn leg by leg; ret->what is NONE. Left out is what the
 * scenario language has no words for. OK, INVALID, NOMEM, BUG. Free *ret with lapse_explore_unwalk,
 * after OK only; alloc is borrowed until then. */
enum lapse_status lapse_explore_walk(const lapse_alloc *alloc,
                                     const struct lapse_plan_explore *protocol,
                                     const struct lapse_explore_leg *legs, size_t leg_count,
                                     struct lapse_explore_found *ret, struct lapse_error *err);
void lapse_explore_unwalk(const lapse_alloc *alloc, struct lapse_explore_found *walk);

#endif
