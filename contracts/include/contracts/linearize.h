/* Linearizability: can calls with times be put into one order, each between its sending and its
 * reply, in which a model accepts every answer? (LIN-01, black box.)
 *
 * The search knows nothing of keys or leases: a model is a state of a few numbers and a step. It is
 * two searches that take turns by counted steps, so no clock and no thread decides which of them
 * answers: one goes reply by reply and carries every configuration that is still possible, the
 * other goes depth first and remembers where it failed. In both, calls that only look are placed as
 * soon as they fit, unanswered calls that are alike are taken in the order of their sending, and a
 * configuration that another one can stand for is dropped.
 *
 * A term that ends is a call as well, with `end` set: a synthetic one, whose sending and reply are
 * the window in which the end must lie, and that takes effect before all other calls of its
 * instant. That is how an entry can be read up to, but not at, its end.
 *
 * All memory comes from the allocator given and is bounded, as the steps are. Thread-safe. */
#ifndef CONTRACTS_LINEARIZE_H
#define CONTRACTS_LINEARIZE_H

#include "lapse/base.h"

enum {
    LAPSE_LINEAR_ARGS = 8,
    LAPSE_LINEAR_STATE_WORDS_MAX = 8,
    LAPSE_LINEAR_BRANCHES_MAX = 4,
    LAPSE_LINEAR_CALLS_MAX = 1 << 20
};

/* One call. What it was and what it answered is the model's affair: op and arg. */
struct lapse_linear_call {
    int64_t invoke_ns;
    int64_t return_ns; /* not below invoke_ns; without meaning if open, unless it lapses */
    /* The order of what happens at one instant, where it is known: a call whose reply has a lower
     * one was answered before a call of that instant was sent. Equal ones leave it open. */
    int64_t invoke_seq, return_seq;
    bool open;        /* its answer is not known: it takes effect at any time from invoke_ns on, or
                         never, and the model must not look at its answer */
    bool lapses;      /* open, and what it did it did by return_ns, or never; what is `after` it
                         need not wait for it */
    bool end;         /* a synthetic end of a term: at an instant it comes before all calls */
    uint8_t branches; /* ways in which it may take effect, 1 to LAPSE_LINEAR_BRANCHES_MAX */
    uint8_t op;       /* what the model takes it for */
    int32_t after;    /* the call, by index, that must have taken effect before; -1: none. With
                         `end` it is what begins the term: at a state that it did not leave, and
                         that the model still calls by another's term, the end changes nothing */
    int32_t actor;    /* who sent it, for reports; -1: nobody */
    int64_t source;   /* where it comes from, for reports: a line, or the number of a call */
    int64_t arg[LAPSE_LINEAR_ARGS];
};

/* What decides which answers are right. Functions without side effects; ctx is borrowed. */
typedef struct lapse_linear_model {
    const void *ctx;
    size_t state_words; /* of a state: 1 to LAPSE_LINEAR_STATE_WORDS_MAX; states are equal iff
                           all their words are */
    void (*start)(const void *ctx, int64_t *ret_state);
    /* The call takes effect, in its `branch`-th way: writes the state after it. False: it cannot
     * have been here with this answer (ret_state is then anything). */
    bool (*step)(const void *ctx, const int64_t *state, const struct lapse_linear_call *call,
                 unsigned branch, int64_t *ret_state);
    /* Whether two open calls are alike but for when they were sent. It is an equivalence; only
     * calls that no other call is `after` are asked about. */
    bool (*same)(const void *ctx, const struct lapse_linear_call *a,
                 const struct lapse_linear_call *b);
    /* Whether a call, if it can take effect at `state`, changes neither this state nor any that may
     * follow: it only looks, or what it would end has been replaced. A search places it at once. */
    bool (*looks)(const void *ctx, const int64_t *state, const struct lapse_linear_call *call);
    /* Whether an open call can change any state. One that cannot is left out of the search. */
    bool (*changes)(const void *ctx, const struct lapse_linear_call *call);
} lapse_linear_model;

/* Bounds. A step is one question to the model, or other work that takes as long. */
struct lapse_linear_budget {
    uint64_t steps;      /* for the verdict */
    size_t bytes;        /* of memory at any time, the result included */
    uint64_t core_steps; /* for the core of a "no", on top; 0: no core is wanted */
};

#define LAPSE_LINEAR_STEPS UINT64_C(20000000)
#define LAPSE_LINEAR_BYTES ((size_t)256 * 1024 * 1024)
#define LAPSE_LINEAR_CORE_STEPS UINT64_C(20000000)

/* The bounds above. */
struct lapse_linear_budget lapse_linear_budget_default(void);

enum lapse_linear_verdict {
    LAPSE_LINEAR_YES = 0,
    LAPSE_LINEAR_NO = 1,
    LAPSE_LINEAR_GAVE_UP = 2 /* a bound was reached first */
};

/* One place in a witness: a call, and the way in which it took effect there. */
struct lapse_linear_place {
    uint32_t call;
    uint32_t branch;
};

struct lapse_linear_result {
    enum lapse_linear_verdict verdict;
    /* YES: an order of all answered calls and of those open ones that took effect. */
    size_t witness_count;
    struct lapse_linear_place *witness;
    /* NO: the call at whose reply no order was left; calls sent later play no part. */
    uint32_t stuck;
    /* NO, if asked for: the core, rising: calls whose answers cannot all be right, whatever the
     * others were told: each call outside it did what it did between its sending and its reply, or
     * never. Minimal: let the answer of any one in it be unknown too, and there is an order. */
    size_t core_count;
    uint32_t *core;
    bool core_minimal;        /* each of these has been proven; false: the budget did not suffice */
    uint64_t steps;           /* taken, the core's included */
    size_t bytes;             /* the most memory held at a time */
    const lapse_alloc *alloc; /* private */
};

/* Judges `count` calls. Returns OK with *ret filled (free it), INVALID where a call breaks what its
 * fields ask for (the message names it), or NOMEM when the allocator gave nothing; then *ret is
 * empty. The same calls give the same result, to the byte and to the step. */
enum lapse_status lapse_linear_check(const lapse_alloc *alloc, const lapse_linear_model *model,
                                     const struct lapse_linear_call *calls, size_t count,
                                     const struct lapse_linear_budget *budget,
                                     struct lapse_linear_result *ret, struct lapse_error *err);
/* Gives its memory back; NULL is allowed. */
void lapse_linear_result_free(struct lapse_linear_result *result);

/* "yes", "no", "gave up". */
const char *lapse_linear_verdict_word(enum lapse_linear_verdict verdict);

#endif
