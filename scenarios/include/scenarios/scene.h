/* A path that an exploration found, as an ordinary scenario: the calls of its clients at their
 * instants, with what became of their messages.
 *
 * A path goes by moves, and many may be made at one instant. A scenario has an order of its own
 * inside an instant; where that is another, the path can be spread: each move comes a few
 * nanoseconds after the one before, and grants are shorter by more than that, so that all ends stay
 * where they were. */
#ifndef SCENARIOS_SCENE_H
#define SCENARIOS_SCENE_H

#include "scenarios/emit.h"
#include "sim/explore.h"

/* Writes the scenario under the name `name`. OK; NOMEM; INVALID: the language has no words for a
 * move of the path (err names it). Free *ret with lapse_emitted_free, after OK only. */
enum lapse_status lapse_scene_write(const lapse_alloc *alloc,
                                    const struct lapse_plan_explore *protocol,
                                    const struct lapse_explore_found *found, const char *name,
                                    bool spread, struct lapse_emitted *ret,
                                    struct lapse_error *err);

#endif
