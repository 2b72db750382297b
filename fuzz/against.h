/* Private: a campaign counted against all that can be reached. */
#ifndef FUZZ_AGAINST_H
#define FUZZ_AGAINST_H

#include "fuzz/campaign.h"
#include "sim/explore.h"

struct lapse_against {
    const lapse_alloc *alloc;
    const struct lapse_reach *reach; /* NULL: the campaign is an ordinary one */
    const struct lapse_plan *plan;
    struct lapse_emitted text; /* of a scenario: its document, without a seed */
    unsigned char *seen;       /* by number: states, then transitions */
    size_t seen_bytes;
    size_t states, moves;
};

/* OK, NOMEM, or INVALID: the language has no words for the plan (err). */
enum lapse_status lapse_against_open(struct lapse_against *against, const lapse_alloc *alloc,
                                     const struct lapse_reach *reach,
                                     const struct lapse_plan *plan, struct lapse_error *err);
void lapse_against_close(struct lapse_against *against);
/* The document of a run: the scenario under a seed, or a walk of the protocol. NULL: memory ran
 * out. */
struct lapse_node *lapse_against_scenario(const struct lapse_against *against,
                                          struct lapse_pool *pool, uint64_t seed);
struct lapse_node *lapse_against_walk(const struct lapse_against *against, struct lapse_pool *pool,
                                      const struct lapse_explore_leg *legs, size_t count);
/* What a run has reached that was not, into ret->reached; a state that the exploration has not
 * makes of its outcome that lapse is broken. OK or NOMEM. */
enum lapse_status lapse_against_look(const struct lapse_against *against,
                                     const struct lapse_trial *trial, struct lapse_attempt *ret);
/* Takes up what one has reached; returns how much of it is new. */
size_t lapse_against_take(struct lapse_against *against, const struct lapse_attempt *attempt);

#endif
