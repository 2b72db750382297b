/* Private: opening an old copy of a store. */
#ifndef ENGINE_RESTORED_H
#define ENGINE_RESTORED_H

#include "handle.h"

/* Moves all numbers up, durably, and holds events of ends back. OK, RANGE, or a fault of a commit.
 */
enum lapse_status lapse_restored_begin(struct lapse *store, struct lapse_error *err);

#endif
