/* A long history of leases as clients saw it, for the test and the benchmark of the search: calls
 * overlap, terms end, some calls are never answered. No decision is in it. */
#ifndef CONTRACTS_LINEAR_LEASES_TEST_H
#define CONTRACTS_LINEAR_LEASES_TEST_H

#include "contracts/history.h"

struct leases_plan {
    int clients, leases, calls;
    int unanswered; /* in a thousand */
    int planted;    /* the call from which on the first refusal is told as a grant; -1: none */
    uint64_t seed;
};

/* Appends the history to an empty one. False when memory ran out. */
bool leases_tell(const struct leases_plan *plan, struct lapse_history *history);

#endif
