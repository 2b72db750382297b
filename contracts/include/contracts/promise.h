/* Promises: which contracts a store does not keep because of a policy that it follows.
 *
 * `strict` keeps all. Each other value of a policy gives up some contracts; a profile gives up what
 * its policies do. What is given up is judged all the same, and reported as not promised. */
#ifndef CONTRACTS_PROMISE_H
#define CONTRACTS_PROMISE_H

#include "contracts/rule.h"

struct lapse_promise {
    enum lapse_policy policy;
    uint8_t value;   /* not strict's */
    const char *ids; /* "KV-01 KV-03": what it gives up; "": nothing that a rule judges */
};

/* Every value of every policy that is not strict's, in the order of the policies. */
const struct lapse_promise *lapse_promise_table(size_t *ret_count);
/* The first entry behind `after` (NULL: of all) by which these policies give up a contract; NULL:
 * there is none. */
const struct lapse_promise *lapse_promise_break(const struct lapse_policies *policies,
                                                const char *id, const struct lapse_promise *after);
/* Whether a run's store promises a contract. */
bool lapse_promised(const struct lapse_setup *setup, const char *id);
/* Whether the profile of that name has this value: else a single policy over it was set. */
bool lapse_promise_of_profile(const struct lapse_promise *promise, struct lapse_bytes profile);
/* "live_at_end"; "yes". */
const char *lapse_promise_policy(const struct lapse_promise *promise);
struct lapse_bytes lapse_promise_value(const struct lapse_promise *promise);

#endif
