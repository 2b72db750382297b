/* Certificates: a second look at a witness order, by code that has nothing in common with the
 * search that found it, and that can be read in one sitting. */
#ifndef CONTRACTS_CERTIFICATE_H
#define CONTRACTS_CERTIFICATE_H

#include "contracts/linearize.h"

/* Whether `order` proves that the calls are linearizable: no call comes before one that had been
 * answered when it was sent, every answered call stands in it once, every open one at most once, a
 * call comes after the one that it is `after`, and the model's step accepts each in turn.
 *
 * Returns OK; CONFLICT, with the first thing that is wrong in *err; NOMEM. */
enum lapse_status lapse_certificate_verify(const lapse_alloc *alloc,
                                           const lapse_linear_model *model,
                                           const struct lapse_linear_call *calls, size_t count,
                                           const struct lapse_linear_place *order,
                                           size_t order_count, struct lapse_error *err);

#endif
