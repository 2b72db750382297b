/* Private: ceilings, the bounds synced ahead of what may be shown. The invariants are in
 * ceiling.c. */
#ifndef ENGINE_CEILING_H
#define ENGINE_CEILING_H

#include "handle.h"

/* The MARK that must precede the checked command, and true; else false. */
bool lapse_ceiling_asks(const struct lapse *store, const struct lapse_job *job,
                        struct lapse_command *ret);
/* The same, having seen at once that a store in memory owes none. */
static inline bool lapse_ceiling_owed(const struct lapse *store, const struct lapse_job *job,
                                      struct lapse_command *ret) {
    bool overtaken = job->state->ephemeral.token > job->state->token;
    return (store->journaled || overtaken) && lapse_ceiling_asks(store, job, ret);
}
/* How the commit of an applied command is synced. */
enum lapse_sync lapse_ceiling_sync(const struct lapse *store, const struct lapse_job *job);
/* Of a synced commit under way: raises the ceilings that it makes durable. The undo list takes it
 * back. */
void lapse_ceiling_raise(const struct lapse *store, struct lapse_state *state);
/* Carries out a MARK: what it makes durable beside the reading. */
enum lapse_status lapse_ceiling_mark(struct lapse_job *job);
/* Of a loaded state: the time and the numbers that this tenure goes on from. False past the range
 * of time. */
bool lapse_ceiling_resume(struct lapse_state *state, const struct lapse_reading *reading);

/* Numbers go on above their ceilings. */
void lapse_ceiling_numbers(struct lapse_state *state);

#endif
