/* From a history to problems: the calls that were gathered, and the windows of ends. Private to
 * contracts. */
#ifndef CONTRACTS_LINEAR_SPLIT_H
#define CONTRACTS_LINEAR_SPLIT_H

#include "contracts/linear_history.h"
#include "linear_models.h"

/* A store was down from `from` to `to`. */
struct lapse_linear_restart {
    int64_t from, to;
    bool machine;
};

/* What decides where an end may lie. */
struct lapse_linear_terms {
    int64_t rate_ppb, bound_ns; /* rho, epsilon */
    int64_t slack_ns;
    int64_t epoch_ns;
    bool walls; /* the store's wall tells of true time */
    bool by_wall; /* spans are counted by it */
    bool wall_moved; /* a node's was set, or drifts */
    int64_t unit_ns; /* clocks and terms are cut down to it */
    int64_t last_ns; /* so long after its end an entry is live still: a unit, or 0 */
    int64_t late_ns; /* by policies an end may be seen so much later */
    struct lapse_linear_restart *restarts;
    size_t restart_count, restart_cap;
};

/* A window: never closed where to_open. */
struct lapse_linear_window {
    int64_t from, to;
    bool to_open;
};
/* Of a span that runs from a call, or from any instant in which it may have taken effect. */
struct lapse_linear_window lapse_linear_span_window(const struct lapse_linear_terms *terms,
                                                    const struct lapse_linear_call *call,
                                                    int64_t span_ns);
/* Of a date. *ret_ended: it had surely passed when the call was sent. */
struct lapse_linear_window lapse_linear_date_window(const struct lapse_linear_terms *terms,
                                                    const struct lapse_linear_call *call,
                                                    int64_t date_ns, bool *ret_ended);

/* A call as it was sent and answered. */
struct lapse_linear_sent {
    const struct lapse_history_event *invoke;
    const struct lapse_history_event *reply; /* NULL: none, or none to be relied on */
    int copies;                              /* of its request, decided besides */
    bool forged;
    bool dropped; /* it did nothing, and that is all that is known */
};

struct lapse_linear_id {
    int64_t id;
    size_t sent;
};

struct lapse_linear_split {
    const lapse_alloc *alloc;
    const struct lapse_setup *setup;
    struct lapse_linear_problems *problems;
    struct lapse_linear_terms terms;
    struct lapse_linear_sent *sent; /* by sending */
    size_t sent_count, sent_cap;
    struct lapse_linear_id *ids; /* of all that were sent, rising */
    size_t *words;               /* which of them gave a bucket words: OPEN, ALTER */
    size_t word_count, words_cap;
    bool no_keys, no_leases;                 /* left out */
    const struct lapse_history_event *leads; /* ROLE of the leader, if one was told */
};

/* One command and what it answered; a call of a batch as well. */
struct lapse_linear_part {
    const struct lapse_command *command;
    const struct lapse_answer *answer; /* NULL: open */
    struct lapse_linear_call call;     /* times and source */
    bool batch;                        /* one of a batch: its answer tells less */
};
/* Whether the call is of a key, of a lease, or of neither. */
bool lapse_linear_of_key(enum lapse_verb verb);
bool lapse_linear_of_lease(enum lapse_verb verb);
/* The problem of the part's key or lease; NULL when memory ran out. */
struct lapse_linear_problem *lapse_linear_split_place(struct lapse_linear_split *split,
                                                      const struct lapse_command *command);
/* Puts a part into its problem, with the end of the term that it gives; nothing if it tells
 * nothing. False when memory ran out. */
bool lapse_linear_split_key(struct lapse_linear_split *split, struct lapse_linear_problem *problem,
                            const struct lapse_linear_part *part);
bool lapse_linear_split_lease(struct lapse_linear_split *split,
                              struct lapse_linear_problem *problem,
                              const struct lapse_linear_part *part);
/* Adds a call that the part made, with a number for its own term in arg `self`; and the end of that
 * term. Returns the index of the call, -1 when memory ran out. */
int32_t lapse_linear_split_add(struct lapse_linear_split *split,
                               struct lapse_linear_problem *problem,
                               const struct lapse_linear_call *call, int self);
bool lapse_linear_split_end(struct lapse_linear_split *split, struct lapse_linear_problem *problem,
                            int32_t begun, int op, int self, struct lapse_linear_window window);
/* The words that a bucket has when a call finds it, if they are the same throughout the history. */
bool lapse_linear_split_words(const struct lapse_linear_split *split, struct lapse_bytes bucket,
                              struct lapse_bucket_config *ret);

/* ---- Policies (linear_policy.c): what is left out because of one, as a static text, or NULL. */
unsigned lapse_linear_policy(const struct lapse_linear_split *split, enum lapse_policy policy);
const char *lapse_linear_policy_keys(const struct lapse_linear_split *split);
const char *lapse_linear_policy_leases(const struct lapse_linear_split *split);
/* Fills what windows and models go by. */
void lapse_linear_policy_terms(struct lapse_linear_split *split);
void lapse_linear_policy_clocks(const struct lapse_linear_split *split,
                                struct lapse_linear_clocks *ret);
/* Whether an end in this bucket may leave a marker. */
bool lapse_linear_policy_marks(const struct lapse_linear_split *split, struct lapse_bytes bucket);
/* Whether a revision that is told with this op can be compared. */
bool lapse_linear_policy_tells_rev(const struct lapse_linear_split *split, int op);
/* What becomes of a span of nothing, or less. */
enum lapse_linear_zero { LAPSE_ZERO_REFUSED = 0, LAPSE_ZERO_ENDS, LAPSE_ZERO_NEVER_ENDS };
enum lapse_linear_zero lapse_linear_policy_zero(const struct lapse_linear_split *split,
                                                int64_t span_ns);
/* Whether a bucket looks at a call's own term; whether calls without one get the default; whether a
 * plain set keeps a live key's end. */
bool lapse_linear_policy_own(const struct lapse_linear_split *split,
                             const struct lapse_bucket_config *words);
bool lapse_linear_policy_default(const struct lapse_linear_split *split);
bool lapse_linear_policy_keeps(const struct lapse_linear_split *split,
                               const struct lapse_bucket_config *words);
/* The least and the most that an own span comes to in a bucket. */
void lapse_linear_policy_span(const struct lapse_linear_split *split,
                              const struct lapse_bucket_config *words, int64_t *least,
                              int64_t *most);
/* Whether a release may be done that finds nothing. */
bool lapse_linear_policy_release(const struct lapse_linear_split *split);

/* Adds what listings, counts and watches tell of each key; all keys must have been met. */
bool lapse_linear_split_lists(struct lapse_linear_split *split);
/* Once all calls are in: values that no read shows become one, uses of keys that never idle become
 * plain reads, ends of renewed terms get their windows, ephemeral grants their tenures' ends. */
bool lapse_linear_split_finish(struct lapse_linear_split *split);

#endif
