/* Private: the mutex of a handle. It lies in an allocation of its own, so that a handle without one
 * holds nothing that may not be copied with its memory. */
#ifndef ENGINE_LOCK_H
#define ENGINE_LOCK_H

#include "lapse/base.h"

struct lapse_lock;

/* NULL when memory runs out, or when the system has no mutex left to give. */
struct lapse_lock *lapse_lock_make(const lapse_alloc *alloc);
/* NULL is allowed. Nobody may hold it. */
void lapse_lock_free(const lapse_alloc *alloc, struct lapse_lock *lock);
/* Waits for the mutex, and gives it back. */
void lapse_lock_take(struct lapse_lock *lock);
void lapse_lock_give(struct lapse_lock *lock);
/* The same; of NULL, nothing: one thread at a time is there. */
static inline void lapse_lock_enter(struct lapse_lock *lock) {
    if (lock != NULL) {
        lapse_lock_take(lock);
    }
}
static inline void lapse_lock_leave(struct lapse_lock *lock) {
    if (lock != NULL) {
        lapse_lock_give(lock);
    }
}

#endif
