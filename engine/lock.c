/* The only place that knows threads: a plain mutex behind four functions. A mutex that cannot be
 * taken or given back is a mistake of ours, since nobody takes it twice or gives back another's. */
#include "lock.h"

#include <pthread.h>

struct lapse_lock {
    pthread_mutex_t mutex;
};

struct lapse_lock *lapse_lock_make(const lapse_alloc *alloc) {
    struct lapse_lock *lock = lapse_alloc_zero(alloc, sizeof(*lock));
    if (lock != NULL && pthread_mutex_init(&lock->mutex, NULL) != 0) {
        lapse_alloc_free(alloc, lock, sizeof(*lock));
        return NULL;
    }
    return lock;
}

void lapse_lock_free(const lapse_alloc *alloc, struct lapse_lock *lock) {
    if (lock == NULL) {
        return;
    }
    int failed = pthread_mutex_destroy(&lock->mutex);
    LAPSE_ASSERT(failed == 0);
    lapse_alloc_free(alloc, lock, sizeof(*lock));
}

void lapse_lock_take(struct lapse_lock *lock) {
    int failed = pthread_mutex_lock(&lock->mutex);
    LAPSE_ASSERT(failed == 0);
}

void lapse_lock_give(struct lapse_lock *lock) {
    int failed = pthread_mutex_unlock(&lock->mutex);
    LAPSE_ASSERT(failed == 0);
}
