/* Private: the handle. Everything it holds lies in memory from its allocator, so that a caller who
 * copies that memory has copied the store. */
#ifndef ENGINE_HANDLE_H
#define ENGINE_HANDLE_H

#include "lock.h"
#include "state.h"

struct lapse {
    struct lapse_state state;
    struct lapse_lock *lock; /* NULL: unlocked */
    lapse_clock clock;
    lapse_journal journal;
    enum lapse_sync sync;
    bool journaled;
    bool unavailable; /* a commit's outcome is unknown: only the file knows the state */
    int64_t durable_point;
};

/* A handle with an empty state and no journal. NULL when memory runs out. */
struct lapse *lapse_handle_make(const lapse_alloc *alloc, lapse_clock clock,
                                size_t watch_events_max, bool unlocked);
/* Frees all but the journal. */
void lapse_handle_free(struct lapse *store);

/* ---- journal.c */
/* OK, or INVALID when some members are set and others are not. *ret_journaled: all are. */
enum lapse_status lapse_journal_check(const lapse_journal *journal, bool *ret_journaled,
                                      struct lapse_error *err);
/* Writes the undo list read forwards, the counters, the mark and its peaks, as one
 * transaction. On a fault nothing is written, except UNKNOWN: then it may be. */
enum lapse_status lapse_journal_write(const lapse_journal *journal, enum lapse_sync sync,
                                      const struct lapse_state *state, int64_t *ret_point,
                                      struct lapse_error *err);

#endif
