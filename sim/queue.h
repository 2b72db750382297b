/* The queue: what is still to happen in a world, ordered by (time, phase, rank, class of its kind,
 * sequence).
 *
 * Phases and ranks are the order inside one instant:
 *   1 faults     ends and wakes before beginnings, each by step number
 *   2 under way  housekeeping, then what is oldest due; at one due instant what is delivered (a
 *                request to a node, an event to a watcher) before replies before timers
 *   3 steps      lines and ticks in file order
 *   4 finals     the entries of the top-level `expect`, in file order
 * An item that is pushed at the present instant with an earlier phase comes first, which is how a
 * step has all its effects before the next step. */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include "lapse/base.h"

enum lapse_queue_phase {
    LAPSE_PHASE_FAULTS = 1,
    LAPSE_PHASE_UNDER_WAY = 2,
    LAPSE_PHASE_STEPS = 3,
    LAPSE_PHASE_FINALS = 4
};

enum lapse_queue_kind {
    LAPSE_QUEUE_FAULT = 1, /* index: the world step */
    LAPSE_QUEUE_WAKE,      /* the end of a pause, suspend or freeze with `for:`; id is the kind of
                              fault; of a node when actor is -1 */
    LAPSE_QUEUE_RESTART,   /* the end of a crash with `for:`; incarnation: of a node, its tenure */
    LAPSE_QUEUE_HOUSEKEEP, /* index: node */
    LAPSE_QUEUE_REQUEST,   /* a call arrives; index, id: the call */
    LAPSE_QUEUE_REPLY,     /* its answer arrives */
    LAPSE_QUEUE_TIMEOUT,   /* its timeout passes */
    LAPSE_QUEUE_DELIVER,   /* payload: a delivery to a watcher */
    LAPSE_QUEUE_STEP,      /* index, id: a strand and its generation; its line is due */
    LAPSE_QUEUE_TICK,      /* a loop fires */
    LAPSE_QUEUE_UNTIL,     /* a loop's last instant */
    LAPSE_QUEUE_WORK_END,  /* the work is done */
    LAPSE_QUEUE_WORK_LOOK, /* a careful client looks at its clock during work */
    LAPSE_QUEUE_WORK_CUT,  /* the belief under which the work runs has ended */
    LAPSE_QUEUE_ASK,       /* an acquire that waits asks again, or gives up */
    LAPSE_QUEUE_STILL,     /* a key may have stood still long enough, or have ended */
    LAPSE_QUEUE_AWAITED,   /* what a strand waited for has come */
    LAPSE_QUEUE_PROBE,     /* index: the world step */
    LAPSE_QUEUE_FINAL,     /* index: the step */
    LAPSE_QUEUE_REAP,      /* an operator's act; index: the world step */
    LAPSE_QUEUE_PROGRAM,   /* a timer of a client program; index: its strand, id: the timer */
    LAPSE_QUEUE_CLOCK,     /* index: the world step whose change of a clock ends */
    LAPSE_QUEUE_CHAOS,     /* the next fault drawn by chance, or the end of them all */
    LAPSE_QUEUE_HEAL,      /* the end of a cut or link with `for:`; index: its step, or -1 */
    LAPSE_QUEUE_RELIEF     /* the end of a starve or slow with `for:`; index: its step */
};

/* Ranks in phase 2 are the instants at which things were due, so that overdue ones come first. */
#define LAPSE_RANK_HOUSEKEEP INT64_MIN
/* Ranks in phase 1: ends lie below, beginnings from here on. */
#define LAPSE_RANK_BEGINNING (INT64_C(1) << 32)

struct lapse_queue_item {
    int64_t at_ns; /* true time */
    enum lapse_queue_phase phase;
    enum lapse_queue_kind kind;
    int64_t rank;
    int64_t seq;         /* set by push */
    int64_t due_ns;      /* when it was due first; below at_ns iff late */
    bool timed;          /* a timer of its actor: due when that one's steady clock reads ... */
    int64_t reading_ns;  /* ... this; at_ns follows each change of the clock (timer.c) */
    int32_t actor;       /* whose it is; -1: the world's, a node's */
    int32_t incarnation; /* of that actor */
    int32_t index;
    int64_t id;
    void *payload; /* in the arena; NULL */
};

/* A list of items in order of arrival: what waits for a paused actor or node. */
struct lapse_queue_list {
    struct lapse_queue_item *items;
    size_t count, cap;
};

struct lapse_queue {
    const lapse_alloc *alloc;
    struct lapse_queue_list heap;
    int64_t next_seq;
};

void lapse_queue_init(struct lapse_queue *queue, const lapse_alloc *alloc);
/* Copies *item in, with its sequence number set. False: memory ran out, nothing changed. */
bool lapse_queue_push(struct lapse_queue *queue, const struct lapse_queue_item *item);
/* The first item, or NULL. Valid until the next push or pop. */
const struct lapse_queue_item *lapse_queue_first(const struct lapse_queue *queue);
/* Takes the first item out; the queue must not be empty. */
struct lapse_queue_item lapse_queue_pop(struct lapse_queue *queue);
/* Takes out the item at this place of the heap. */
struct lapse_queue_item lapse_queue_take(struct lapse_queue *queue, size_t place);
/* Whether `a` comes before `b`: a total order. */
bool lapse_queue_before(const struct lapse_queue_item *a, const struct lapse_queue_item *b);
/* Appends to a list. False: memory ran out. */
bool lapse_queue_list_add(struct lapse_queue_list *list, const lapse_alloc *alloc,
                          const struct lapse_queue_item *item);
/* Makes a heap again of items whose order was changed where they lie. */
void lapse_queue_restore(struct lapse_queue *queue);
/* Walks the heap order: OK, or BUG. */
enum lapse_status lapse_queue_check(const struct lapse_queue *queue, struct lapse_error *err);

#endif
