/* The plainest search there is, for tests: tries every order. Draws for them come from a small
 * generator, so that each failure is found again by its seed. */
#ifndef CONTRACTS_LINEAR_BRUTE_TEST_H
#define CONTRACTS_LINEAR_BRUTE_TEST_H

#include "contracts/linearize.h"

enum { BRUTE_CALLS_MAX = 8 };

/* Whether some order of at most BRUTE_CALLS_MAX calls is accepted. */
bool brute_linearizable(const lapse_linear_model *model, const struct lapse_linear_call *calls,
                        size_t count);

struct draw {
    uint64_t state;
};
/* 0 <= drawn < n. */
int64_t draw_below(struct draw *draw, int64_t n);

/* An allocator that fails from the nth request on, and counts what is held. */
struct scarce {
    lapse_alloc alloc;
    int64_t left; /* requests that are still served */
    size_t held;
};
void scarce_init(struct scarce *scarce, int64_t left);

/* Checks one small history in every way: the verdict is that of trying all orders; a witness is
 * accepted by the verifier; without the core's answers there is an order, and with them none.
 * Returns whether there is one. */
bool check_against_brute(const lapse_linear_model *model, const struct lapse_linear_call *calls,
                         size_t count, int64_t seed);

#endif
