/* Private: what the contracts say of a question to the store, in a few lines that share no code
 * with the engine; and which contract an answer breaks. */
#ifndef EXPLORE_MODEL_H
#define EXPLORE_MODEL_H

#include "store.h"

/* What a reply breaks, or NONE. */
enum lapse_explore_break lapse_explore_judge(const struct scope *scope, struct holding before,
                                             const struct question *question,
                                             const struct reply *reply);

#endif
