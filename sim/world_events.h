/* Writing history: every event of a world is made and appended here, then shown to the judge. */
#ifndef SIM_WORLD_EVENTS_H
#define SIM_WORLD_EVENTS_H

#include "state.h"

/* An event at the present instant, with the actor's clocks (actor -1: none). */
struct lapse_history_event lapse_world_event(const struct lapse_world *world,
                                             enum lapse_history_kind kind, int32_t actor,
                                             int32_t step);
/* The same, for a call: its id, actor, incarnation, step and n. */
struct lapse_history_event lapse_world_call_event(const struct lapse_world *world,
                                                  enum lapse_history_kind kind,
                                                  const struct lapse_sim_call *call);
/* Appends it and hands it to the judge. Returns the stored event; NULL once the run is ending (the
 * judge has stopped it, the history is full, or the world has failed): nothing is written then. */
const struct lapse_history_event *lapse_world_emit(struct lapse_world *world,
                                                   const struct lapse_history_event *event);
/* The events that the store wrote in one command; call NULL: housekeeping, by plan step `step`. */
void lapse_world_emit_written(struct lapse_world *world, const struct lapse_sim_call *call,
                              int32_t step, const struct lapse_result *result);
/* An UNBOUND event, filled but for what the miss says. */
void lapse_world_emit_unbound(struct lapse_world *world, struct lapse_history_event *event,
                              const struct lapse_sim_miss *miss);
/* A fault of an actor begins or ends. */
void lapse_world_emit_fault(struct lapse_world *world, bool begins, enum lapse_fault_kind kind,
                            int32_t actor, int32_t step, const int64_t *until_ns);
/* What the run leaves (not when it was cut short): calls and awaits that still wait, then lines
 * that never ran, which may be so because of them; then END. */
void lapse_world_emit_end(struct lapse_world *world, bool cut);

#endif
