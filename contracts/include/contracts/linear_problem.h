/* Problems: what a recorded history becomes for the search, one for each register, key, lease name
 * or session, since calls on one of them tell nothing of the others. */
#ifndef CONTRACTS_LINEAR_PROBLEM_H
#define CONTRACTS_LINEAR_PROBLEM_H

#include "contracts/linearize.h"

struct lapse_linear_store;

enum lapse_linear_kind {
    LAPSE_LINEAR_REGISTER = 0, /* read, write, cas; it starts as nil */
    LAPSE_LINEAR_STRING,       /* get, put, append; it starts empty */
    LAPSE_LINEAR_KEY,          /* a key of a bucket, with its terms */
    LAPSE_LINEAR_LEASE,
    LAPSE_LINEAR_KINDS
};

struct lapse_linear_problem {
    enum lapse_linear_kind kind;
    struct lapse_bytes name; /* "bucket/key", a lease's name; may be empty */
    lapse_linear_model model;
    size_t count;
    struct lapse_linear_call *calls;
    size_t cap;                             /* private, as the next */
    const struct lapse_linear_store *store; /* of its texts */
};

struct lapse_linear_problems {
    size_t count;
    struct lapse_linear_problem *items; /* in the order of their first calls */
    size_t call_count;                  /* of all of them */
    size_t sent_count; /* of a log: calls that were sent, those that tell nothing included */
    const char *not_judged; /* static text: why nothing was made of the history; NULL: all was, */
    const char *left_out;   /* but for "keys, as ..", or leases; NULL: nothing was left out */
    size_t cap;             /* private, as the next two */
    const lapse_alloc *alloc;
    struct lapse_linear_store *store; /* of names and other texts */
};

void lapse_linear_problems_free(struct lapse_linear_problems *problems);

/* "register", "string", "key", "lease". */
const char *lapse_linear_kind_word(enum lapse_linear_kind kind);

enum { LAPSE_LINEAR_CALL_TEXT_MAX = 512 };
/* A call in words, "cas 1 to 3, failed", into buf of that size; returns buf. */
char *lapse_linear_call_print(const struct lapse_linear_problem *problem, size_t call, char *buf);

/* How the problems of one history came out, taken together. */
struct lapse_linear_sum {
    enum lapse_linear_verdict verdict; /* NO if any is, else GAVE_UP if any is */
    size_t problem;                    /* NO, GAVE_UP: the first such one */
    struct lapse_linear_result result; /* of that one; free it */
    uint64_t steps;                    /* of all */
};
/* Judges problems in their order, each within `budget`, and stops at the first "no". Returns OK,
 * INVALID or NOMEM, as lapse_linear_check. */
enum lapse_status lapse_linear_judge(const lapse_alloc *alloc,
                                     const struct lapse_linear_problems *problems,
                                     const struct lapse_linear_budget *budget,
                                     struct lapse_linear_sum *ret, struct lapse_error *err);

#endif
