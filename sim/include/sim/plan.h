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
    LAPSE_WHEN_AFTER = 2 /* tasks: this long after the end of the step before */
};
struct lapse_when {
    enum lapse_when_kind kind;
    int64_t ns;
    int64_t jitter_ns; /* 0, or a chosen 0..jitter_ns is added */
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

struct lapse_plan_fault {
    enum lapse_fault_kind kind;
    bool ends;               /* `resume:` of a pause (RESTART needs no flag) */
    int32_t actor;           /* -1: a node */
    int32_t node;            /* -1: an actor */
    bool has_for;
    int64_t for_ns;
    bool machine;            /* CRASH RESTART of a node: its machine too, so another boot */
    bool has_to;             /* CLOCK: the wall is set to this */
    struct lapse_operand to; /* CLOCK: WALL, fixed */
    int64_t wall_ns;         /* CLOCK: else the wall is moved by this, either way */
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

enum lapse_await_kind { LAPSE_AWAIT_SAVE = 1, LAPSE_AWAIT_EVENT = 2 };
struct lapse_plan_await {
    enum lapse_await_kind kind;
    struct lapse_slot_ref slot;     /* SAVE: until it is bound */
    enum lapse_event_kind event;    /* EVENT: of one of the actor's own watches */
    int32_t bucket;
    struct lapse_text key;
};

enum lapse_step_kind {
    LAPSE_STEP_CALL = 1,
    LAPSE_STEP_WORK,
    LAPSE_STEP_AWAIT,
    LAPSE_STEP_LOOP,
    LAPSE_STEP_PROBE,
    LAPSE_STEP_FAULT,
    LAPSE_STEP_REAP /* an operator's: the store reaps all that has ended */
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
    bool has_run_for;
    int64_t run_for_ns;
    size_t watch_count;      /* names of watches (`as:`) */
    const char *const *watch_names;
    enum lapse_store_kind store; /* sync is setup.sync */
    bool promise_strict;         /* a break of what the profile does not promise is a violation */
    struct lapse_setup setup;
    struct lapse_case the_case; /* setup points at `setup` above */
    void *pool;              /* private to the loader's pool */
};

/* A final without `at:` is due at the end of the run. */
#define LAPSE_FINAL_AT_END INT64_MAX

#endif
