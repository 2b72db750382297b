/* The parts of the search for an order: its meter of memory, the plan of what is pending when, the
 * space of states and configurations, and the two searches in it. Private to contracts.
 *
 * A configuration is: the number of replies passed (all calls answered by then have taken effect),
 * a state, and one bit for each pending or open call that has taken effect besides. */
#ifndef CONTRACTS_LINEAR_PARTS_H
#define CONTRACTS_LINEAR_PARTS_H

#include "contracts/linearize.h"

#define LAPSE_LINEAR_NONE UINT32_MAX

/* ---- An allocator with a bound, over another one. It must not move while memory is out. */
struct lapse_meter {
    const lapse_alloc *outer;
    lapse_alloc alloc; /* hand this one on */
    size_t used, peak, limit;
    bool over;  /* the bound was hit */
    bool nomem; /* the outer one gave nothing */
};
void lapse_meter_init(struct lapse_meter *meter, const lapse_alloc *outer, size_t limit);

/* ---- The plan: which calls may take effect before which reply. */
struct lapse_linear_plan {
    const lapse_alloc *alloc;
    const lapse_linear_model *model;
    const struct lapse_linear_call *calls;
    size_t count;
    size_t return_count;
    uint32_t *returns; /* answered calls, by reply */
    size_t pend_count, pend_cap;
    uint32_t *pend;      /* for each reply, the calls pending then, by reply: its own is first */
    uint32_t *pend_from; /* by reply: where in pend they begin; */
    uint32_t *pend_to;   /* and end. Lists may lie within others */
    size_t open_count;
    uint32_t *opens;       /* open calls that may change something, by sending */
    uint32_t *open_before; /* by reply: how many of them have been sent then */
    uint32_t *twin;        /* by call: the open one alike before it, or NONE */
    bool *bound;           /* by call: another call than the end of its term is after it */
    uint32_t *bit;         /* by call: its bit, or NONE */
    uint32_t *sent;        /* by call: its rank among all sendings and replies */
    uint32_t *answered;    /* by call: which reply it has; NONE if open */
    uint32_t *answered_at; /* by reply: its rank among all sendings and replies */
    size_t answered_words; /* of bits that must be equal; those of open calls follow, of which one
                              configuration may have used fewer than another: but bound ones */
    size_t words;
};
/* Fills *ret from calls that are valid. Returns false when memory ran out; free it all the same. */
bool lapse_linear_plan_make(struct lapse_linear_plan *ret, const lapse_alloc *alloc,
                            const lapse_linear_model *model, const struct lapse_linear_call *calls,
                            size_t count);
void lapse_linear_plan_free(struct lapse_linear_plan *plan);

/* ---- States, numbered as they are met. */
struct lapse_linear_states {
    const lapse_alloc *alloc;
    size_t words; /* of one */
    int64_t *items;
    size_t count, cap;
    uint32_t *table; /* number + 1; 0: free */
    size_t table_cap;
};
void lapse_linear_states_init(struct lapse_linear_states *states, const lapse_alloc *alloc,
                              size_t words);
void lapse_linear_states_free(struct lapse_linear_states *states);
/* The number of a state; NONE when memory ran out. */
uint32_t lapse_linear_states_find(struct lapse_linear_states *states, const int64_t *words);

/* ---- The log of who took effect, each entry after its parent: a tree of orders. */
struct lapse_linear_step {
    uint32_t parent; /* NONE: the first */
    uint32_t call;
    uint32_t branch;
};
struct lapse_linear_log {
    const lapse_alloc *alloc;
    struct lapse_linear_step *items;
    size_t count, cap;
};

/* ---- Steps, against their bound. */
struct lapse_linear_steps {
    uint64_t taken; /* never above max */
    uint64_t max;
};

/* ---- A bag of configurations, in the order of their coming. One that another stands for (equal
 * but for open calls, of which that one has used no other) is not taken, or is marked dead. */
struct lapse_linear_config {
    uint32_t state;
    uint32_t log;  /* its last entry in the log; NONE: nothing has taken effect */
    uint32_t next; /* private: the next one equal but for open calls */
    uint32_t passed;
    bool dead;
};
struct lapse_linear_bag {
    const lapse_alloc *alloc;
    const struct lapse_linear_plan *plan;
    struct lapse_linear_steps *steps;
    struct lapse_linear_config *items;
    size_t items_cap;
    uint64_t *bits; /* plan->words for each */
    size_t bits_cap;
    size_t count, live;
    uint64_t *table; /* stamp and number + 1 of the first of a chain */
    size_t table_cap, chains;
    uint32_t stamp;
};
void lapse_linear_bag_init(struct lapse_linear_bag *bag, const lapse_alloc *alloc,
                           const struct lapse_linear_plan *plan, struct lapse_linear_steps *steps);
void lapse_linear_bag_free(struct lapse_linear_bag *bag);
void lapse_linear_bag_clear(struct lapse_linear_bag *bag);
/* Takes a copy of a configuration. Returns false when memory ran out, or the steps, of which it
 * takes some where it is to be compared with many; *ret_taken says whether no other stood for it.
 */
bool lapse_linear_bag_put(struct lapse_linear_bag *bag, const struct lapse_linear_config *config,
                          const uint64_t *bits, bool *ret_taken);

/* ---- What the two searches share: one plan, one space of states, one counter of steps. */
struct lapse_linear_search {
    const struct lapse_linear_plan *plan;
    struct lapse_linear_states states;
    uint32_t start;                  /* the number of the first state */
    struct lapse_linear_steps steps; /* taken by both */
};

enum lapse_linear_move {
    LAPSE_LINEAR_CANNOT = 0, /* the call cannot take effect there */
    LAPSE_LINEAR_CAN,
    LAPSE_LINEAR_FULL /* memory ran out, or no step is left */
};
/* Whether a call may take effect in a configuration, as far as others decide it: it has not yet,
 * the one that it is after has, and no open call alike was sent before it and is still unused. */
bool lapse_linear_ready(const struct lapse_linear_plan *plan, uint32_t passed, const uint64_t *bits,
                        uint32_t call);
/* Asks the model. CAN: *ret is the state after it. */
enum lapse_linear_move lapse_linear_ask(struct lapse_linear_search *search, uint32_t state,
                                        uint32_t call, unsigned branch, uint32_t *ret);
/* Whether an open call that changed nothing is better kept for later. */
bool lapse_linear_idle(const struct lapse_linear_plan *plan, uint32_t call, uint32_t before,
                       uint32_t after);
/* Lets every pending call take effect that can and that only looks: no order is lost by it. False
 * when memory ran out, or no step is left. */
bool lapse_linear_settle(struct lapse_linear_search *search, struct lapse_linear_log *log,
                         struct lapse_linear_config *config, uint64_t *bits);
/* Appends an entry and makes it the configuration's last; sets the call's bit. */
bool lapse_linear_take(struct lapse_linear_search *search, struct lapse_linear_log *log,
                       struct lapse_linear_config *config, uint64_t *bits, uint32_t call,
                       unsigned branch);
/* The n-th call that may take effect before reply `passed`; NONE: no more. */
uint32_t lapse_linear_candidate(const struct lapse_linear_plan *plan, uint32_t passed, size_t n);
bool lapse_linear_bit(const uint64_t *bits, uint32_t bit);
void lapse_linear_bit_clear(uint64_t *bits, uint32_t bit);

/* ---- The two searches. Each runs in slices, as many steps as it is told. */
enum lapse_linear_found {
    LAPSE_LINEAR_RUNNING = 0,
    LAPSE_LINEAR_FOUND,   /* an order: its last entry in the log is `last` */
    LAPSE_LINEAR_NOWHERE, /* there is none: `furthest` is the reply that none of them passes */
    LAPSE_LINEAR_SPENT    /* memory ran out, or no step is left */
};

/* Reply by reply, all configurations at once. */
struct lapse_linear_wide {
    struct lapse_meter meter;
    struct lapse_linear_search *search;
    struct lapse_linear_log log;
    struct lapse_linear_bag bags[2]; /* before this reply, and after it, by turns */
    struct lapse_linear_bag work;    /* those that have not passed it yet */
    int before;                      /* which of the two bags */
    size_t settled, worked;          /* how many of each have been looked at */
    size_t kept;                     /* entries in the log after it was last cut */
    uint32_t passed;
    uint64_t *bits;
    uint32_t last, furthest;
};
bool lapse_linear_wide_init(struct lapse_linear_wide *wide, const lapse_alloc *alloc, size_t limit,
                            struct lapse_linear_search *search);
void lapse_linear_wide_free(struct lapse_linear_wide *wide);
enum lapse_linear_found lapse_linear_wide_run(struct lapse_linear_wide *wide, uint64_t steps);

/* One order at a time, as Wing and Gong did it, remembering what failed, as Lowe did. */
struct lapse_linear_frame {
    uint32_t config; /* in the bag */
    uint32_t candidate, branch;
    bool passed_by; /* the call that lapses here has been let go */
};
struct lapse_linear_deep {
    struct lapse_meter meter;
    struct lapse_linear_search *search;
    struct lapse_linear_log log;
    struct lapse_linear_bag seen;
    struct lapse_linear_frame *frames;
    size_t frame_count, frame_cap;
    uint64_t *bits;
    uint32_t last, furthest;
    bool begun;
};
bool lapse_linear_deep_init(struct lapse_linear_deep *deep, const lapse_alloc *alloc, size_t limit,
                            struct lapse_linear_search *search);
void lapse_linear_deep_free(struct lapse_linear_deep *deep);
enum lapse_linear_found lapse_linear_deep_run(struct lapse_linear_deep *deep, uint64_t steps);

/* ---- One verdict, and the core of a "no". */
/* As lapse_linear_check without a core; the calls are valid. NOMEM only if the outer allocator gave
 * nothing. *result is zeroed but for its allocator, which counts what the witness takes. */
enum lapse_status lapse_linear_decide(const lapse_alloc *alloc, const lapse_linear_model *model,
                                      const struct lapse_linear_call *calls, size_t count,
                                      uint64_t steps, size_t bytes,
                                      struct lapse_linear_result *result);
/* Finds the core of a "no" that ended at result->stuck. */
enum lapse_status lapse_linear_core(const lapse_linear_model *model,
                                    const struct lapse_linear_call *calls, size_t count,
                                    const struct lapse_linear_budget *budget,
                                    struct lapse_linear_result *result);

#endif
