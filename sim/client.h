/* Clients: how an actor's call is sent and what its reply does. */
#ifndef SIM_CLIENT_H
#define SIM_CLIENT_H

#include "task.h"

/* Sends the CALL step of a strand's current line; a careful client may not. */
enum lapse_sim_flow lapse_sim_client_send(struct lapse_world *world, int32_t strand,
                                          int64_t due_ns);
void lapse_sim_client_reply(struct lapse_world *world, const struct lapse_queue_item *item);
void lapse_sim_client_timeout(struct lapse_world *world, const struct lapse_queue_item *item);
/* Sends a call that is made but for its request, from these words: a client program's, or the
 * step's own. */
enum lapse_sim_flow lapse_sim_client_send_made(struct lapse_world *world,
                                               struct lapse_sim_call *call,
                                               const struct lapse_plan_call *words,
                                               int64_t due_ns);
/* A reply that nobody takes: the call's place is free. */
void lapse_sim_client_drop(struct lapse_world *world, const struct lapse_queue_item *item);

/* A free place for a call; NULL: memory ran out. Places may move. */
struct lapse_sim_call *lapse_sim_client_place(struct lapse_world *world, int32_t *ret_index);
/* Nothing of the call reaches its client any more: it waits until its timeout, or to the end. */
void lapse_sim_client_lose(struct lapse_world *world, struct lapse_sim_call *call);
/* An actor has crashed: what it waited for is not for it any more. */
void lapse_sim_client_gone(struct lapse_world *world, int32_t actor);
/* Frees a call's place: nothing more comes of it. */
void lapse_sim_client_forget(struct lapse_world *world, struct lapse_sim_call *call);

/* For work, which is framed like a call: a call of the strand's current line that is in no table.
 */
struct lapse_sim_call lapse_sim_client_call(const struct lapse_world *world, int32_t strand,
                                            int verb);
/* The INVOKE of such a call; NULL: the run is ending. */
const struct lapse_history_event *lapse_sim_client_invoke(struct lapse_world *world,
                                                          const struct lapse_sim_call *call,
                                                          int64_t due_ns);
/* Writes REPLY and binds the save of an accepted one. */
void lapse_sim_client_answer(struct lapse_world *world, const struct lapse_sim_call *call,
                             bool sent);
/* The line is answered without being sent. */
enum lapse_sim_flow lapse_sim_client_refuse(struct lapse_world *world, struct lapse_sim_call *call,
                                            enum lapse_status status);
/* The line uses a name that gives nothing that fits: it is not sent and counts as done. */
enum lapse_sim_flow lapse_sim_client_unbound(struct lapse_world *world,
                                             const struct lapse_sim_call *call,
                                             const struct lapse_sim_miss *miss);
/* Whether the name of `under` is bound, if there is one; if not, *ret_miss says so. */
bool lapse_sim_client_under_bound(const struct lapse_world *world,
                                  const struct lapse_plan_step *step, int32_t n,
                                  struct lapse_sim_miss *ret_miss);

#endif
