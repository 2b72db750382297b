/* Links: what becomes of messages between an actor and the store's node, or a guarded resource. */
#ifndef SIM_LINK_H
#define SIM_LINK_H

#include "state.h"

/* The lanes of a plan that has links at all; false: memory ran out. */
bool lapse_sim_link_open(struct lapse_world *world);

/* The call at place `index` has been sent. */
void lapse_sim_link_request(struct lapse_world *world, int32_t index);
/* A call is decided, and its answer sent. `item` is the request that arrived. */
void lapse_sim_link_reply(struct lapse_world *world, const struct lapse_queue_item *item,
                          struct lapse_sim_call *call);
/* When an event that is sent to a watcher now arrives. *ret_lost: by chance, so that a gap arrives
 * then instead. False: its lane is cut. */
bool lapse_sim_link_deliver(struct lapse_world *world, const struct lapse_sim_watcher *watcher,
                            int64_t *ret_at_ns, bool *ret_lost);
/* A second copy of a request is about to be decided. */
void lapse_sim_link_again(struct lapse_world *world, const struct lapse_sim_call *call);

/* A cut or a shaped link begins, or is healed. */
void lapse_sim_link_fault_step(struct lapse_world *world, int32_t step,
                               const struct lapse_plan_fault *fault);
/* One with `for:` ends; whether it has been ended, or made longer, before. */
void lapse_sim_link_fault_end(struct lapse_world *world, const struct lapse_queue_item *item);
bool lapse_sim_link_stale(const struct lapse_world *world, const struct lapse_queue_item *item);

#endif
