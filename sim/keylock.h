/* Locks made of keys, as the world knows them: who made the live entry of a key in a bucket with
 * `locks`. The store ignores that word, and a reply does not say whether a key was absent, so the
 * world keeps this beside it for beliefs and for the `holder` observer. */
#ifndef SIM_KEYLOCK_H
#define SIM_KEYLOCK_H

#include "state.h"

/* Takes in a call that has been decided, or each call of an accepted batch: marks those that made
 * their client the creator of a key as granted. */
void lapse_sim_keylock_apply(struct lapse_world *world, struct lapse_sim_call *call);
/* The store has been opened again: entries that it has lost are there no more. */
void lapse_sim_keylock_reload(struct lapse_world *world);
/* Owner text of the creator of a live entry; empty if none is known. */
struct lapse_bytes lapse_sim_keylock_owner(const struct lapse_world *world,
                                           struct lapse_bytes bucket, struct lapse_bytes key);

#endif
