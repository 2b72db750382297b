/* The state of a world: everything that changes while it runs. All of it lies in the arena.
 *
 * Texts (keys, values, names of grants) are borrowed from the history, whose stored events keep
 * their addresses; a snapshot cuts the history to its mark, so a restored world finds them there.
 * Parts of the world reach each other through the small headers of this folder; there are no
 * callbacks, and a fault of ours is kept in `status` and ends the run. */
#ifndef SIM_STATE_H
#define SIM_STATE_H

#include "sim/arena.h"
#include "clock.h"
#include "lapse/lapse.h"
#include "tap.h"
#include "queue.h"
#include "rows.h"
#include "sim/world.h"
#include "vfs.h"

/* What stands between a strand and its next line. */
enum lapse_sim_wait {
    LAPSE_WAIT_NONE = 0,
    LAPSE_WAIT_TIMER, /* the line's due time, or the loop's next firing */
    LAPSE_WAIT_CALL,
    LAPSE_WAIT_WORK,
    LAPSE_WAIT_AWAIT, /* a name, or an event of its own watch */
    LAPSE_WAIT_LOOP,  /* a loop that holds up what follows */
    LAPSE_WAIT_PROGRAM /* nothing: a client program decides */
};

/* A grant that a step is under. `first` is the token that the grant began with; a lock made of a
 * key tells newer ones (its revisions), so the pair (name, first) is what names a grant. */
struct lapse_sim_grant {
    struct lapse_grant_ref ref;
    int64_t first;
};

/* A strand runs lines in order, one call in flight: the lines of a task, or the body of a loop. */
struct lapse_sim_strand {
    int32_t actor, task;
    int32_t loop_step; /* the plan step of the loop; -1: the task's own lines */
    int32_t parent;    /* the strand that this loop holds up; -1 */
    bool running;
    enum lapse_sim_wait wait;
    int64_t gen;     /* timers of an older generation are stale */
    size_t line;     /* the line that runs or is next */
    int32_t turn;    /* which of `times: N` runs, from 1 */
    int32_t firing;  /* which firing of the loop runs, from 1 */
    int64_t grid_ns; /* loops: the last point of the grid that has fired, a reading of the actor's
                        steady clock */
    int64_t sent_ns; /* work: when it began */
    int64_t work_end_ns; /* a reading of that clock */
    int64_t work_call;
    bool work_tied; /* to its grant: it ends with the belief in it */
    struct lapse_sim_grant work_grant;
    bool asks;         /* an acquire that waits has been sent, and may be again */
    int64_t ask_until; /* until that clock reads this */
    int64_t asked_ns;  /* when it was sent first */
    int64_t still_since;    /* `unchanged`: since that clock read this */
    int64_t still_revision; /* the key's; 0: it is absent */
};

/* A state that lasts until an instant: a pause of a process, a sleep of its machine, or a machine
 * that stands still; a starved task, a link that is cut. */
struct lapse_sim_hold {
    bool on;
    int64_t until_ns; /* INT64_MAX: until it is ended */
};

/* What an actor's process, or its machine, or the node's may be held by, each by itself. */
enum lapse_sim_stop {
    LAPSE_SIM_STOP_PAUSE,
    LAPSE_SIM_STOP_SUSPEND,
    LAPSE_SIM_STOP_FREEZE,
    LAPSE_SIM_STOP_STALL, /* in a sync: of the node alone */
    LAPSE_SIM_STOPS,
    LAPSE_SIM_STOPS_ACTOR = LAPSE_SIM_STOP_STALL
};

struct lapse_sim_task {
    bool stopped;                  /* by an answer */
    struct lapse_sim_hold starved; /* its timers fire when this ends */
    struct lapse_queue_list parked;
};

struct lapse_sim_actor {
    int32_t incarnation; /* from 1 */
    bool up, stopped;
    bool keeps;  /* it is down, and its memory is not lost */
    bool paused; /* any of these holds it */
    struct lapse_sim_hold stops[LAPSE_SIM_STOPS_ACTOR];
    int64_t paused_at_ns; /* what its steady clock read then */
    struct lapse_sim_clock clock;
    bool has_look;
    struct lapse_steady last_look;
    struct lapse_bytes owner;
    struct lapse_queue_list parked; /* what came due while paused */
    struct lapse_sim_hold slow;
    int32_t slow_factor; /* its work takes this many times as long */
};

struct lapse_sim_belief {
    int32_t actor;
    uint64_t hash; /* of the grant's name: a client may hold very many */
    struct lapse_sim_grant grant;
    int64_t since_call; /* the call that began it */
    struct lapse_bytes session; /* that the grant ends with; empty: none */
    bool own;           /* of its client's own making: no call is about it */
    int64_t sent_ns;    /* send time of the last success */
    bool has_deadline;
    struct lapse_steady deadline;
};

/* Why a step cannot be sent: what a name in it lacks. */
struct lapse_sim_miss {
    int32_t slot;
    enum lapse_unbound_why why;
    enum lapse_field field;
};

/* A call in flight; its request and answer lie in the history. */
struct lapse_sim_call {
    int64_t id; /* 0: the place is free */
    int32_t step, actor, incarnation, strand;
    int64_t strand_gen;
    int32_t n;
    bool nowait;
    bool program; /* of a client program, to which its answer goes */
    int32_t tag;  /* by which that one knows it */
    const struct lapse_plan_call *shape; /* what is kept of its words; else they are the step's */
    bool has_timeout;
    int64_t timeout_ns;
    bool answered; /* the client has a reply, if only `unknown` */
    bool copy;     /* the second copy of a request: nobody waits for its answer */
    bool told;     /* the reply is taken, but its client was paused before it went on */
    bool arrived;
    bool waited; /* at a slow node */
    bool applied;
    bool lost;    /* nothing more comes of it */
    bool granted; /* a lock made of a key: this write made the caller its creator */
    bool *members_granted; /* of a batch: the same, for each of its calls; NULL: of none */
    size_t member_count;   /* places in members_granted */
    int32_t member; /* from 1: this is that call of a batch, told apart; 0: a call of its own */
    int64_t sent_ns;
    struct lapse_steady sent_reading; /* of its client's steady clock */
    struct lapse_sim_grant grant;
    struct lapse_request request;
    struct lapse_answer answer;
};

struct lapse_sim_watcher {
    int64_t id;       /* as its client was told */
    int64_t store_id; /* the store's, of this tenure */
    int32_t actor, incarnation;
    int32_t watch;                  /* index of its name in the plan; -1 */
    int32_t step;                   /* of its call */
    int64_t missed; /* the newest revision that a cut has taken from it; 0: none */
    struct lapse_steady missed_at; /* when that was written */
    struct lapse_bytes bucket, key; /* borrowed from its INVOKE */
    int64_t from;              /* the revision that it watches from; 0: none was named */
    bool pending;              /* its bucket has new events, to be polled */
    bool orphan;               /* its client was told `unknown`: what is on its way is dropped */
    bool ended;                /* an orphan that the store has been told to forget */
};

/* One event on its way to a watcher; the bytes follow it in the same block. */
struct lapse_sim_delivery {
    int64_t watcher;
    int32_t watch;
    bool first;
    bool lost; /* to a cut */
    struct lapse_event event;
    size_t bytes; /* of the whole block */
};

/* History indices of what a named watch was handed since an observer last looked. */
struct lapse_sim_seen {
    int64_t *events;
    size_t count, cap;
};

/* A key of a bucket with locks, as the store left it. */
struct lapse_sim_keylock {
    int32_t bucket;
    struct lapse_bytes key;
    bool there;
    struct lapse_end end;
    struct lapse_bytes session; /* that it ends with; empty: none */
    int32_t actor, incarnation; /* the creator */
    struct lapse_bytes owner;   /* its owner text */
};

/* Tokens, rising. */
struct lapse_sim_tokens {
    int64_t *items;
    size_t count, cap;
};

struct lapse_sim_resource {
    struct lapse_sim_clock clock;
    struct lapse_sim_tokens granted; /* of its lease, if it serves one alone */
    struct lapse_sim_tokens used;    /* those that wrote, where each may write once */
    bool has_highest;
    int64_t highest;
    bool has_token; /* of the last write applied */
    int64_t token;
    struct lapse_bytes value;
};

/* What the store has decided, or done of itself, and cannot tell yet: its process stopped in it.
 * Its result is kept in the node's. */
struct lapse_sim_untold {
    bool on, is_call;
    struct lapse_queue_item item; /* of the call that was decided */
    int32_t step;                 /* of an operator who asked for it; -1 */
    struct lapse_true_time at;    /* when it was decided */
    struct lapse_reading reading;
    struct lapse_sim_clock client_clock; /* of a call: as its client's was then */
};

/* A crash that was placed inside what the store is doing: it comes once that is over, and until
 * then nothing more reaches the disk. */
struct lapse_sim_fall {
    bool on;
    int32_t step;
};

struct lapse_sim_node {
    struct lapse_world *world; /* for its clock */
    struct lapse *store;       /* NULL: the process is down */
    struct lapse_result result;
    struct lapse_sim_clock clock;
    struct lapse_sim_rows rows;       /* its disk, where the plan has one of rows */
    struct lapse_sim_disk disk;       /* where the plan has one of files */
    struct lapse_sim_vfs *vfs;        /* of the disk; NULL */
    struct lapse_sim_disk *copies;    /* by number: backups */
    bool *copied;                     /* by number: whether it was made */
    struct lapse_sim_tap tap;      /* before the journal of either */
    struct lapse_sim_trouble trouble; /* of either disk */
    int64_t disk_until_ns[LAPSE_DISK_ROT + 1]; /* by kind; INT64_MAX: to the end; 0: well */
    enum lapse_restored restored;     /* what it opens next is an old copy */
    bool shifts;                      /* and its numbers move up */
    bool was_shifted;                 /* those of a store before have */
    int64_t restored_above;           /* from here, if that is above the copy's own */
    bool troubled;                    /* its disk has misbehaved at some time */
    bool inside;                      /* a point is told: the store is at work */
    bool housekeeping;                /* what it is at is its own housekeeping */
    struct lapse_sim_fall fall;
    bool fell_opening;                /* it fell while it opened its store */
    struct lapse_sim_untold untold;
    struct lapse_plan_fault stall;    /* what the next sync hangs by */
    int32_t stall_step;
    int32_t tenure;       /* how often its store has been opened */
    bool machine_down;    /* it comes up on another boot */
    struct lapse_sim_hold stops[LAPSE_SIM_STOPS]; /* calls wait while any is on */
    struct lapse_sim_hold slow;
    int64_t slow_ns;      /* each call waits this long before it is looked at */
    int64_t read_ns;      /* what its boot clock read when the store last looked */
    int64_t watcher_base; /* added to a watcher's number in the store: its number for clients */
    int64_t watcher_top;  /* the greatest number of a watcher that clients were told */
    int64_t housekeep_ns; /* true time of the item in the queue; INT64_MAX: none */
    int64_t idle_steps;   /* housekeeping that did nothing, at one instant */
    int64_t rests_until_ns; /* housekeeping has failed and is not tried before */
    bool polls;           /* some watcher is `pending` */
    bool sweep;           /* a watcher has lost its client since the store last decided */
    struct lapse_queue_list parked;
};

/* One direction of a link. */
struct lapse_sim_lane {
    struct lapse_sim_hold cut, shaped;
    int64_t latency_ns_min, latency_ns_max;
    int32_t loss_ppm, duplicate_ppm;
    bool reorder;
    int64_t last_ns; /* when the latest of what was sent over it arrives */
};

/* A fault that waits for a moment of the run. */
struct lapse_sim_point {
    int32_t step;
    int64_t reached; /* how often its moment has come */
    bool due;        /* it has come for the nth time, and the fault has not happened yet */
};

/* What a run's chance has drawn of `chaos`. */
struct lapse_sim_chaos {
    uint32_t kinds;  /* of faults that this run has: bits by kind */
    int64_t mean_ns; /* between two of them */
    int32_t crashes; /* so many are left */
    int32_t aims;    /* the next one is aimed at a deadline: how often it may still follow that */
    int64_t off_ns;  /* ... and lies off it by this */
};

/* What became of a plan step. */
enum lapse_sim_ran { LAPSE_RAN_NOT = 0, LAPSE_RAN_YES, LAPSE_RAN_EXCUSED };

struct lapse_world {
    struct lapse_arena *arena;
    bool arena_lent; /* it is the caller's, and cleared for the next world */
    const lapse_alloc *alloc;
    const struct lapse_plan *plan;
    struct lapse_choices *choices;
    struct lapse_history *history;
    struct lapse_judge *judge;
    lapse_world_drawn *drawn;
    void *drawn_ctx;
    uint64_t events_max;
    bool check_often;
    bool orders; /* of one instant: chance has a say */

    struct lapse_true_time now;
    uint64_t events;
    bool over, stop;          /* stop: the judge, or a bound, ends the run */
    enum lapse_status status; /* below 0: broken, for the reason in `error` */
    struct lapse_error error;
    struct lapse_queue queue;
    int64_t next_call;

    struct lapse_sim_actor *actors;
    struct lapse_sim_task *tasks;
    size_t strand_count;
    struct lapse_sim_strand *strands; /* one a task, in order, then one a loop */
    int32_t *strand_of;               /* by step: the strand of a loop; -1 */
    enum lapse_sim_ran *ran;          /* by step */
    struct lapse_slots slots;
    struct lapse_sim_grant *slot_grants; /* by slot */
    uint64_t *loop_renews; /* by setup.loops: hash of the name it has renewed; 0: none */
    struct lapse_sim_seen *seen;         /* by watch name */
    struct lapse_sim_resource *resources;
    struct lapse_sim_node node;
    struct lapse_sim_chaos chaos;
    struct lapse_sim_belief *beliefs; /* in the order in which they began */
    size_t belief_count, belief_cap;
    struct lapse_sim_call *calls;
    size_t call_count, call_cap;
    struct lapse_sim_watcher *watchers; /* by rising id */
    size_t watcher_count, watcher_cap;
    struct lapse_sim_keylock *keylocks;
    size_t keylock_count, keylock_cap;
    struct lapse_sim_lane *lanes; /* by actor, peer (the node, then resources), direction; NULL: the
                                     plan has no links */
    int32_t starved; /* how many tasks are */
    struct lapse_sim_point *points; /* in file order; NULL: the plan has none */
    size_t point_count;
    struct lapse_program *programs; /* by the plan's; NULL: it has none */
    bool has_still;                 /* some line waits for a key to stand still */
};

/* Keeps the first fault; the run ends with it. */
void lapse_world_fail(struct lapse_world *world, enum lapse_status status, const char *format, ...)
    LAPSE_PRINTF(3, 4);
/* Pushes an item; a full memory fails the world. */
void lapse_world_push(struct lapse_world *world, const struct lapse_queue_item *item);
/* Room for one more of an array; false: the world has failed. */
bool lapse_world_grow(struct lapse_world *world, void **array, size_t *cap, size_t count,
                      size_t item_bytes);
/* Walks the store's and the queue's invariants; a broken one fails the world. */
void lapse_world_check(struct lapse_world *world);

#endif
