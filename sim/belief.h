/* Beliefs: what a client holds to be its own, and until when a careful one acts on it.
 *
 * A belief begins with the reply of a grant. It ends with a reply that denies it, with the client's
 * own release as it is sent, when the actor is stopped, when it crashes, and, for a careful client,
 * when it looks at its clock at or past its deadline. */
#ifndef SIM_BELIEF_H
#define SIM_BELIEF_H

#include "state.h"

/* The grant that a call, or one inside a batch, or work is under: by the slot of `under`, else by
 * the token it carries (a batch: the first that one of its calls carries), else the only one that
 * the actor believes in. A slot that is not bound gives none. In grant.c. */
struct lapse_sim_grant lapse_sim_belief_grant(const struct lapse_world *world,
                                              const struct lapse_sim_call *call);
/* The actor's belief in this grant, or NULL. */
struct lapse_sim_belief *lapse_sim_belief_find(const struct lapse_world *world, int32_t actor,
                                               const struct lapse_sim_grant *grant);
/* Looks at the actor's clock: whether it may act under the grant. A belief whose deadline has come
 * ends by that look. */
bool lapse_sim_belief_look(struct lapse_world *world, int32_t actor,
                           const struct lapse_sim_grant *grant, int32_t step);
/* Whether the call is a loop's renewal of a name that its actor no longer believes in: a careful
 * client does not send it (RENEW-01). A create asks for a new grant. */
bool lapse_sim_belief_gone(const struct lapse_world *world, const struct lapse_sim_call *call);
/* A call has been sent: a release ends the belief. */
void lapse_sim_belief_sent(struct lapse_world *world, const struct lapse_sim_call *call);
/* A reply has come. */
void lapse_sim_belief_replied(struct lapse_world *world, const struct lapse_sim_call *call);
/* The grant that a saved reply stands for; not given if it is none. */
struct lapse_sim_grant lapse_sim_belief_of_call(const struct lapse_world *world,
                                                const struct lapse_sim_call *call);
/* A belief of a client program's own making, in what several grants make up together. */
void lapse_sim_belief_own_begin(struct lapse_world *world, int32_t actor, struct lapse_bytes name,
                                int64_t token, int32_t step);
void lapse_sim_belief_own_end(struct lapse_world *world, int32_t actor, struct lapse_bytes name,
                              int32_t step);
void lapse_sim_belief_end_all(struct lapse_world *world, int32_t actor, enum lapse_belief_why why,
                              int32_t step);
/* Actors that believe in a name, rising, into `who` (room for every actor). may_act: only those who
 * would act under it now. */
size_t lapse_sim_belief_who(const struct lapse_world *world, bool key_lock,
                            struct lapse_bytes bucket, struct lapse_bytes name, bool may_act,
                            int32_t *who);

#endif
