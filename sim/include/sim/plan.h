/* The plan: one run as data. The first waist.
 *
 * The scenario loader makes plans (later also generator and shrinker); the world runs one. Names
 * are resolved to indices, durations to nanoseconds, `like` and `vary` are gone. Everything in a
 * plan lives in its own pool and is read-only once built. Places name the line written, also in
 * copies, and count in nothing.
 *
 * A step's number is its index in `steps`; events, checks and choices use it. */
#ifndef SIM_PLAN_H
#define SIM_PLAN_H

#include "contracts/judge.h"

/* ---- When a step is due. */
enum lapse_when_kind {
    LAPSE_WHEN_SAME = 0, /* tasks: at once after the step before */
    LAPSE_WHEN_AT = 1,   /* true time from the start. Every line of `steps` has this: the loader
                            resolves `after` and "same instant" there */
    LAPSE_WHEN_AFTER = 2, /* tasks: this long after the end of the step before */
    LAPSE_WHEN_POINT = 3  /* faults: just when their `point` is reached */
};
/* A point in a run that a fault waits for. What is in hand at that moment goes on after it only as
 * far as the fault allows: a client that crashes at SENT has sent; a node that crashes at ARRIVED
 * has not decided; one that crashes at APPLIED has decided and answers nobody. */
enum lapse_point_kind {
    LAPSE_POINT_SENT = 1, /* of the call of `step`: the request has left */
    LAPSE_POINT_ARRIVED,  /* it is at the node or resource, not yet decided */
    LAPSE_POINT_APPLIED,  /* it is decided, the reply not yet sent */
    LAPSE_POINT_REPLIED,  /* the client has the answer, and has not yet gone on */
    LAPSE_POINT_SYNC,     /* of `node`: a sync begins */
    LAPSE_POINT_COMMIT,   /* a transaction is about to be committed */
    LAPSE_POINT_REAP,     /* housekeeping begins */
    LAPSE_POINT_EXPIRE    /* a marker, or the deletion of what has ended, is about to be written */
};
struct lapse_point {
    enum lapse_point_kind kind;
    int32_t step; /* SENT to REPLIED: the labelled step */
    int32_t node; /* SYNC to EXPIRE */
    int64_t nth;  /* which time, from 1 */
};
struct lapse_when {
    enum lapse_when_kind kind;
    int64_t ns;
    int64_t jitter_ns; /* 0, or a chosen 0..jitter_ns is added */
};

/* ---- A message of a call, as the step asks for it. */
enum lapse_message_kind {
    LAPSE_MESSAGE_PLAIN = 0, /* as the link has it */
    LAPSE_MESSAGE_TAKES,     /* it takes `ns`, whatever the link says */
    LAPSE_MESSAGE_IS_LOST,
    LAPSE_MESSAGE_IS_TWICE   /* a second copy follows at once, after the first */
};
struct lapse_plan_message {
    enum lapse_message_kind kind;
    int64_t ns;
};

/* ---- What is done with an answer. */
enum lapse_action_kind {
    LAPSE_ACTION_NONE = 0,
    LAPSE_ACTION_STOP,     /* ends the task with its loops */
    LAPSE_ACTION_STOP_ALL, /* ends every task of the actor */
    LAPSE_ACTION_NEXT,     /* goes on with the next line */
    LAPSE_ACTION_SKIP,     /* leaves the body: the next firing */
    LAPSE_ACTION_AGAIN     /* repeats the step `again_ns` later */
};
struct lapse_action {
    enum lapse_action_kind kind;
    int64_t again_ns;
};
/* The first handler whose mask has the answer's bit (LAPSE_HANDLED_BIT) is taken. The loader turns
 * on_refused (every definite no of the verb) and on_any (all but the first word) into masks, exact
 * words first. A handler for a refusal comes before `need`; one for the first answer after it. */
struct lapse_handler {
    uint32_t statuses;
    struct lapse_action action;
};

/* ---- A call. Operands may name slots; unused ones have kind 0. */
struct lapse_plan_call {
    int verb;                    /* enum lapse_verb or enum lapse_call_verb */
    int32_t bucket;              /* index in setup.buckets; -1: none */
    struct lapse_text bucket_name; /* OPEN: the name (it may be undeclared) */
    struct lapse_text key;       /* key or lease name; WATCH: empty = whole bucket */
    bool key_lock;               /* the bucket has locks */
    int32_t resource;            /* WRITE READ; -1 */
    struct lapse_text value;
    bool has_value;
    struct lapse_operand ttl, idle, expires_at; /* any may be given; a span or date, or SLOT: one
                                                   that gives another kind is not sent */
    struct lapse_operand cap;    /* with idle */
    bool keep;                   /* `term: keep` */
    struct lapse_text session;   /* of a write or acquire; empty: none. The session verbs: key */
    struct lapse_text request;   /* `id:`; empty: none */
    struct lapse_operand rev;    /* GET ENTRY HAS `rev:`; WATCH `from: $rev` */
    bool peek;
    bool has_after;              /* LIST ALL COUNT */
    struct lapse_text after;
    size_t limit;                /* LIST ALL HISTORY; 0: all */
    enum lapse_durability durability; /* ACQUIRE */
    size_t batch_count;          /* BATCH */
    const struct lapse_plan_call *batch;
    struct lapse_operand span;   /* `for:` of acquire, extend and the session verbs */
    bool has_wait;               /* ACQUIRE: after `held` ask again each retry_ns until wait_ns */
    int64_t wait_ns, retry_ns;   /* have passed since the first was sent, by the actor's timers */
    struct lapse_operand not_after; /* WRITE: a date */
    struct lapse_operand if_version, token;
    struct lapse_bucket_config config; /* OPEN; given bits may be both */
    enum lapse_watch_from from;
    int32_t watch;               /* WATCH UNWATCH: index of the watch's name; -1 unnamed */
};

/* ---- Observers, and entries of the top-level `expect`. */
struct lapse_plan_probe {
    enum lapse_probe_kind kind;
    int verb;                /* READ: which read */
    int32_t bucket;          /* keys; -1: a lease name */
    bool key_lock;
    struct lapse_text name;  /* key or lease name */
    int32_t actor;           /* STOPPED */
    int32_t watch;           /* EVENTS */
};

/* What is done to the clocks of one machine; each part that is not given stays as it was. */
struct lapse_plan_clock {
    struct lapse_party whose;
    bool has_wall;           /* the wall is moved by this, either way */
    int64_t wall_ns;
    bool has_to;             /* the wall is set to this */
    struct lapse_operand to; /* WALL, fixed */
    bool has_rate;           /* all clocks run at 1 + rate_ppb / 1e9 of true time */
    int64_t rate_ppb;
    bool has_mono, mono_stop; /* monotonic and boot stand still; false: they run again */
    bool has_tick;           /* readings are cut down to a multiple of this */
    int64_t tick_ns;         /* > 0 */
    bool has_origin;         /* at the start only: what the monotonic and boot clocks read then */
    int64_t origin_ns;
};

/* What a link does to each message; the part that is not given is 0. Chances are in millionths. */
struct lapse_plan_link {
    struct lapse_party from, to;
    bool both; /* and back */
    int64_t latency_ns_min, latency_ns_max;
    int32_t loss_ppm, duplicate_ppm;
    bool reorder; /* a later message may arrive before an earlier one; else it waits for it */
};

struct lapse_plan_fault {
    enum lapse_fault_kind kind;
    struct lapse_point point; /* where the step's `when` is a POINT */
    bool ends;               /* `resume:` of a pause, `heal` (RESTART needs no flag) */
    int32_t actor;           /* -1: a node, or a link */
    int32_t node;            /* -1: an actor, or a link */
    int32_t task;            /* STARVE: index in `tasks`; -1: all of the actor's */
    bool has_for;
    int64_t for_ns;
    bool machine;            /* CRASH RESTART of a node: its machine too, so another boot */
    bool keeps;              /* CRASH of an actor `with: memory`: beliefs and saves outlive it */
    int32_t factor;          /* SLOW: work takes this many times as long, >= 1 */
    struct lapse_plan_clock clock; /* CLOCK */
    struct lapse_plan_link link;   /* CUT LINK; of an end by `heal`: from.kind 0 is every link */
    enum lapse_disk_fault disk;    /* DISK */
    int64_t disk_nth;        /* DISK: from the nth sync on, counted from now; 0: from now on */
    int64_t disk_bits;       /* ROT: how many bits flip */
};

/* ---- Faults drawn by chance until stop_at, each kind up to its greatest; 0 or false: none. Then
 * all heal, and progress is required. A run first draws which kinds there are. */
struct lapse_plan_chaos {
    bool on;
    int64_t stop_at_ns;
    size_t pause_count; /* who may be paused; 0: everybody, the node too */
    const struct lapse_party *pause_who;
    int64_t pause_ns_min, pause_ns_max; /* max 0: nobody is paused */
    int32_t crashes;      /* of clients and of the node, at most so many in a run */
    int64_t down_ns_max;  /* how long after a crash the restart comes at most */
    int32_t loss_ppm, duplicate_ppm;
    bool cuts, reorder;
    int64_t latency_ns_max;
    int64_t wall_ns;      /* a wall step, either way, up to this */
    int64_t rate_ppb;     /* a clock's rate, either way, up to this */
    bool suspend, machine;
    bool starve, slow;    /* timers that come late; clients and a node that need more time */
    bool freeze;          /* machines that stand still: outside contract */
    uint32_t disk;        /* bits by enum lapse_disk_fault; LIES and ROT are outside contract */
};

/* Where the store keeps its rows over a crash of its process. MEMORY: in the world, as a disk that
 * never fails; SQLITE: in a file. Without `store:` and without a crash of n1 there is no journal.
 * */
enum lapse_store_kind { LAPSE_STORE_NONE = 0, LAPSE_STORE_MEMORY = 1, LAPSE_STORE_SQLITE = 2 };

enum lapse_until_kind { LAPSE_UNTIL_NONE = 0, LAPSE_UNTIL_ANSWER = 1, LAPSE_UNTIL_INSTANT = 2 };
struct lapse_plan_loop {
    bool gap;
    int64_t period_ns;       /* > 0 */
    int64_t times;           /* 0: no bound */
    enum lapse_until_kind until;
    uint32_t until_statuses; /* ANSWER: of any step of the body; a mask of LAPSE_HANDLED_BIT. The
                                rest of the body is left */
    int64_t until_ns;        /* INSTANT: firings before it; holds up what follows until then */
    size_t body_count;       /* steps of the body, in order; their `when` is SAME or AFTER */
    const int32_t *body;
    bool beside;             /* neither until nor times: runs beside what follows */
    int32_t loop;            /* index in setup.loops */
};

enum lapse_await_kind {
    LAPSE_AWAIT_SAVE = 1,
    LAPSE_AWAIT_EVENT = 2,
    LAPSE_AWAIT_UNCHANGED = 3 /* the key's revision, or its absence, stood still for `still_ns` by
                                 the actor's timer clock; it looks at each change, without calls */
};
struct lapse_plan_await {
    enum lapse_await_kind kind;
    struct lapse_slot_ref slot;     /* SAVE: until it is bound */
    enum lapse_event_kind event;    /* EVENT: of one of the actor's own watches */
    int32_t bucket;
    struct lapse_text key;
    struct lapse_operand still;     /* UNCHANGED: a span > 0 */
};

/* ---- An operator's act: no actor, no network. */
enum lapse_operator_verb {
    LAPSE_OPERATOR_REAP = 1, /* the store reaps all that has ended */
    LAPSE_OPERATOR_REVOKE,   /* the lease is released, whoever holds it */
    LAPSE_OPERATOR_BACKUP,   /* the node's durable store is copied under a name */
    LAPSE_OPERATOR_RESTORE   /* the node restarts from that copy */
};
struct lapse_plan_operator {
    enum lapse_operator_verb verb;
    int32_t node;
    struct lapse_text lease; /* REVOKE: fixed */
    int32_t copy;            /* BACKUP RESTORE: which, from 0 */
    bool restored;           /* RESTORE: the store is told that it is an old copy */
};

enum lapse_step_kind {
    LAPSE_STEP_CALL = 1,
    LAPSE_STEP_WORK,
    LAPSE_STEP_AWAIT,
    LAPSE_STEP_LOOP,
    LAPSE_STEP_PROBE,
    LAPSE_STEP_FAULT,
    LAPSE_STEP_OPERATOR,
    LAPSE_STEP_PROGRAM /* the only line of a task: a client written in C runs, until it ends */
};
struct lapse_plan_step {
    enum lapse_step_kind kind;
    struct lapse_when when;
    int32_t actor;           /* -1: observers and faults */
    int32_t loop;            /* the loop whose body it is in (index in setup.loops); -1 */
    int32_t times;           /* CALL: N calls at one instant, `$n` is which, from 1. 0: no `times`
                                was written, one call, `$n` is the firing of the loop around */
    bool has_save;           /* binds the reply iff its status is OK: a refused one leaves the name
                                as it was */
    struct lapse_slot_ref save;
    bool has_timeout;
    int64_t timeout_ns;
    struct lapse_plan_message request, reply; /* of its call */
    bool forged;             /* the reply tells this instead of the answer; the call is applied */
    enum lapse_status forged_status;
    bool nowait;
    bool has_under;
    struct lapse_slot_ref under;
    size_t handler_count;
    const struct lapse_handler *handlers;
    const struct lapse_expect *need; /* the client's own check; NULL */
    struct lapse_action need_else;
    union {
        struct lapse_plan_call call;
        struct lapse_operand work;   /* SPAN or SLOT */
        struct lapse_plan_await await;
        struct lapse_plan_loop loop;
        struct lapse_plan_probe probe;
        struct lapse_plan_fault fault;
        struct lapse_plan_operator operator_act;
        int32_t program; /* index in `programs` */
    } u;
};

/* ---- A task: lines that one actor runs in order, one call in flight. */
struct lapse_plan_task {
    int32_t actor;
    struct lapse_bytes name; /* "main", ...; "steps" for the actor's lines in `steps` */
    bool from_steps;         /* each line is due at its own instant; after a restart go on with
                                the lines due then; lines due while down are not run */
    size_t step_count;
    const int32_t *steps;
};

/* ---- A closed lease protocol: what `lapse explore` searches instead of running. Clients ask the
 * store for one lease, by ordinary calls. All spans are whole numbers of `grain_ns`. */
enum lapse_explore_resource {
    LAPSE_EXPLORE_NO_RESOURCE = 0,
    LAPSE_EXPLORE_FENCED,
    LAPSE_EXPLORE_UNFENCED
};
struct lapse_plan_explore {
    bool on;              /* a protocol stands in the document */
    bool all;             /* `explore: all`: every order and every choice of an ordinary scenario */
    int32_t clients;
    int64_t span_ns;      /* of each grant */
    int64_t grain_ns;     /* what time moves by */
    bool careful;         /* clients look at their clocks before they act */
    int64_t margin_ns;    /* their deadlines are this much earlier */
    int64_t clock_ns;     /* their clocks are off by up to this, either way */
    int64_t renew_ns;     /* a holder that runs extends once this has passed; 0: when it likes */
    bool fresh_owner;     /* after a release without an answer a client asks under another owner
                             text; else under the one it had */
    bool delay;           /* messages take any time; else all arrives at once */
    bool loss, crash, pause; /* the faults that there are */
    int32_t faults_max;   /* at most so many; -1: any number */
    enum lapse_explore_resource resource;
};

/* ---- A value for a client program: `with: {name: value}`. */
struct lapse_plan_with {
    struct lapse_bytes name;
    struct lapse_operand number; /* a span or a number; kind 0: `text` */
    struct lapse_text text;
};
struct lapse_plan_program {
    int32_t actor;
    struct lapse_bytes name;
    struct lapse_place place; /* of the name, for errors */
    size_t with_count;
    const struct lapse_plan_with *with;
};

struct lapse_plan {
    const char *file;        /* as given to the loader */
    const char *name;        /* the document's name, with its row: "name [span=5s]" */
    int line_begin;          /* of the `---` above it, or 1: from here to line_last every line is an
                                address of this document */
    int line_first;          /* of its first word: what is printed */
    int line_last;
    int32_t row;             /* 0-based row of `vary`; -1: no rows */
    int32_t document;        /* 0-based document in the file */
    size_t step_count;
    const struct lapse_plan_step *steps;
    size_t task_count;
    const struct lapse_plan_task *tasks;
    size_t world_step_count; /* faults, observers and final checks without a task: step numbers */
    const int32_t *world_steps;
    size_t final_count;      /* of `expect:`; `when` is AT; due in phase 4 */
    const int32_t *finals;
    bool has_seed; /* all chance of the run comes from `seed`, whatever its runner asks for */
    int64_t seed;  /* >= 0 */
    bool has_run_for;
    int64_t run_for_ns;
    size_t watch_count;      /* names of watches (`as:`) */
    const char *const *watch_names;
    size_t clock_count;          /* of `clocks:`: how clocks start */
    const struct lapse_plan_clock *clocks;
    size_t program_count;
    const struct lapse_plan_program *programs;
    int32_t copy_count;          /* backups that steps name */
    struct lapse_plan_chaos chaos;
    struct lapse_plan_explore explore;
    enum lapse_store_kind store; /* sync is setup.sync */
    bool compare_model;          /* after every call and reap the store's rows are compared with
                                    the model's */
    bool promise_strict;         /* a break of what the profile does not promise is a violation */
    struct lapse_setup setup;
    struct lapse_case the_case; /* setup points at `setup` above */
    void *pool;              /* private to the loader's pool */
};

/* What the seed of a run of the plan is where its runner asks for `seed`. */
uint64_t lapse_plan_seed(const struct lapse_plan *plan, uint64_t seed);

/* A final without `at:` is due at the end of the run. */
#define LAPSE_FINAL_AT_END INT64_MAX

#endif
