/* The world: runs one plan under one source of choices and appends to a history.
 *
 * It does not know what should happen. All its mutable state, the store nodes' engines included,
 * lies in one arena that is mapped once, so a snapshot is a copy out and a restore a copy back;
 * plan, choices and history lie outside, the last two are cut to a mark. Same plan, same choices:
 * the same history, byte for byte. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "contracts/judge.h"
#include "sim/arena.h"
#include "sim/choice.h"
#include "sim/plan.h"

struct lapse_world;

/* Told of each fault that chance draws, just before it befalls. */
typedef void lapse_world_drawn(void *ctx, struct lapse_true_time at,
                               const struct lapse_plan_fault *fault);

struct lapse_world_options {
    const struct lapse_plan *plan;      /* borrowed */
    struct lapse_choices *choices;      /* borrowed */
    struct lapse_history *history;      /* borrowed; empty */
    struct lapse_judge *judge;          /* borrowed; NULL: not judged, never stopped early */
    struct lapse_arena *arena;          /* borrowed, empty, and cleared at the end; NULL: its own */
    uint64_t events_max;                /* queue events; 0: 10,000,000. Reached: the run is cut */
    lapse_world_drawn *drawn;           /* NULL: nobody is told */
    void *drawn_ctx;
    bool check_often;                   /* lapse_check of each store after every command */
    bool orders;                        /* what is due at one instant comes in an order that is
                                           drawn (ORDER); 0: as in every other run */
};

/* Writes BEGIN to the history. Returns OK, NOMEM, INVALID (the plan does not fit together). */
enum lapse_status lapse_world_open(const struct lapse_world_options *options,
                                   struct lapse_world **ret, struct lapse_error *err);
void lapse_world_close(struct lapse_world *world);

/* Runs one queue event. *ret_over is set once END has been written. Returns OK; NOMEM; BUG (an
 * invariant of the store or the world is broken; err says which). */
enum lapse_status lapse_world_step(struct lapse_world *world, bool *ret_over,
                                   struct lapse_error *err);
/* Steps until the run is over. */
enum lapse_status lapse_world_run(struct lapse_world *world, struct lapse_error *err);

/* Queue events run so far. */
uint64_t lapse_world_events(const struct lapse_world *world);

/* A copy of all mutable state. Restoring it makes the next steps give the same events again. With
 * a judge a world cannot be restored (INVALID): judges do not go back. One whose store lies in a
 * file cannot be copied (INVALID). */
struct lapse_snapshot;
enum lapse_status lapse_world_snapshot(const struct lapse_world *world, const lapse_alloc *alloc,
                                       struct lapse_snapshot **ret);
enum lapse_status lapse_world_restore(struct lapse_world *world, const struct lapse_snapshot *from);
void lapse_snapshot_free(struct lapse_snapshot *snapshot);

struct lapse_drawn {
    struct lapse_true_time at;
    struct lapse_plan_fault fault;
};

/* ---- A whole run in one call: world, history, judge and choices, opened and kept for reports. */
struct lapse_run {
    struct lapse_history *history;
    struct lapse_judge *judge;
    struct lapse_choices *choices;
    uint64_t events;
    struct lapse_drawn *drawn; /* the faults that chance drew, as they came */
    size_t drawn_count, drawn_cap;
    bool drawn_lost; /* memory ran out for one of them */
};
/* `arena` as in lapse_world_options. */
enum lapse_status lapse_run_plan(const struct lapse_plan *plan, uint64_t seed,
                                 struct lapse_arena *arena, struct lapse_run *ret,
                                 struct lapse_error *err);
/* The same, cut after `events_max` queue events (0: as in lapse_world_options). */
enum lapse_status lapse_run_within(const struct lapse_plan *plan, uint64_t seed,
                                   struct lapse_arena *arena, uint64_t events_max,
                                   struct lapse_run *ret, struct lapse_error *err);
/* The same, and orders are drawn too. */
enum lapse_status lapse_run_orders(const struct lapse_plan *plan, uint64_t seed,
                                   struct lapse_arena *arena, uint64_t events_max,
                                   struct lapse_run *ret, struct lapse_error *err);
/* The same, with the choices of `list` and 0 for all that are not in it, and with orders drawn. */
enum lapse_status lapse_run_choices(const struct lapse_plan *plan, const struct lapse_choice *list,
                                    size_t count, struct lapse_arena *arena, struct lapse_run *ret,
                                    struct lapse_error *err);
void lapse_run_free(struct lapse_run *run);

/* A second run of a plan beside its first. */
struct lapse_again {
    struct lapse_history *history; /* of the second run */
    bool differs;
    bool restored; /* it went on from a copy of its middle when it differed */
    size_t at;     /* the first event that differs, or that one of the two lacks */
};
/* Runs a plan again, unjudged, and compares with `first`, event by event. In the middle the world
 * is copied; once the run is over the copy is put back, run to the end again and compared again
 * (not with a store in a file). What a judge has cut off of `first` is not compared. OK; NOMEM;
 * BUG. */
enum lapse_status lapse_run_again(const struct lapse_plan *plan, uint64_t seed,
                                  const struct lapse_run *first, struct lapse_again *ret,
                                  struct lapse_error *err);
void lapse_again_free(struct lapse_again *again);

/* Runs a plan twice, the second time snapshotted in the middle, finished, restored and finished
 * again; with a store in a file, three times from the start. Returns OK with three digests (equal
 * iff deterministic). */
enum lapse_status lapse_run_twice(const struct lapse_plan *plan, uint64_t seed,
                                  uint64_t ret_digests[3], struct lapse_error *err);

#endif
