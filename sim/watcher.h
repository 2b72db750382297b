/* Watchers: the store's cursors on the world's side. */
#ifndef SIM_WATCHER_H
#define SIM_WATCHER_H

#include "state.h"

/* A call has been decided: a watch begins or ends by it. */
void lapse_sim_watcher_called(struct lapse_world *world, const struct lapse_sim_call *call);
/* Marks the watchers of the buckets that the node's last result wrote to: they alone have anything
 * to poll. */
void lapse_sim_watcher_note_events(struct lapse_world *world);
/* Ends the watchers that have lost their clients and sends what the marked ones have. */
void lapse_sim_watcher_poll_all(struct lapse_world *world);
/* One event arrives at a watching actor. */
void lapse_sim_watcher_deliver(struct lapse_world *world, const struct lapse_queue_item *item);
/* Frees what a delivery that nobody takes holds. */
void lapse_sim_watcher_drop(struct lapse_world *world, struct lapse_sim_delivery *delivery);
/* The client of a call has given it up after it was decided: a watch that it began is nobody's. */
void lapse_sim_watcher_abandon(struct lapse_world *world, const struct lapse_sim_call *call);
/* A client has crashed: its watchers, if it has any, end when the store next decides. */
void lapse_sim_watcher_client_gone(struct lapse_world *world, int32_t actor);
/* The store has been opened again, which begins its watches anew: each client that is there is told
 * of a gap up to the newest revision of the bucket and watches on from now. */
void lapse_sim_watcher_resume(struct lapse_world *world);
/* The store's number of a watcher that clients know by `id`; 0: it has none of this tenure. */
int64_t lapse_sim_watcher_in_store(const struct lapse_world *world, int64_t id);
/* A delivery under way is lost to a cut. */
void lapse_sim_watcher_lose(struct lapse_world *world, struct lapse_sim_delivery *delivery);
/* The node can reach an actor (-1: all) again: who has missed events is told of a gap, unless the
 * node stands still, which then tells them when it goes on. */
void lapse_sim_watcher_reconnect(struct lapse_world *world, int32_t actor);
/* Whether a delivery is lost, or for a watcher whose client knows nothing of it. */
bool lapse_sim_watcher_unheard(const struct lapse_world *world,
                               const struct lapse_sim_delivery *delivery);

#endif
