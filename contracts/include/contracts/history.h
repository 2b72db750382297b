/* The history: an append-only list of everything that happened in one run. The second waist.
 *
 * The world appends, rules and reports read. Each event carries true time, its actor and that
 * actor's clocks, the call it belongs to and the plan step that caused it. The first event, BEGIN,
 * carries all that a rule may need of the plan. The history copies every byte it is given; pointers
 * handed out stay valid until it is cut below them or freed. A running digest covers every field.
 *
 * Bounded: past events_max, or past LAPSE_HISTORY_BYTES_MAX, one TRUNCATED event is appended and
 * nothing more. */
#ifndef CONTRACTS_HISTORY_H
#define CONTRACTS_HISTORY_H

#include "lapse/clock.h"
#include "lapse/command.h"
#include "lapse/journal.h"
#include "lapse/policy.h"

/* What a call is: a verb of the store, or one of these. One number space with enum lapse_verb. */
enum lapse_call_verb {
    LAPSE_CALL_WRITE = 64, /* to a guarded resource */
    LAPSE_CALL_READ = 65,
    LAPSE_CALL_WORK = 66 /* no call: running time spent; INVOKE and REPLY frame it */
};

/* The word of any call verb. */
const char *lapse_call_word(int verb);

/* ---- What rules may know of the plan: carried by BEGIN, borrowed from the plan. */
struct lapse_setup_bucket {
    struct lapse_bytes name;
    struct lapse_bucket_config config;
    bool locks; /* keys are locks: LANGUAGE "locks made of keys" */
};
/* What raises the highest token that a resource knows. */
enum lapse_resource_bar {
    LAPSE_BAR_WRITES = 0, /* each accepted write */
    LAPSE_BAR_ENDS = 1    /* also each end of its lease: the bar then lies above the ended token */
};
struct lapse_setup_resource {
    struct lapse_bytes name;
    bool fenced;
    struct lapse_bytes lease; /* tokens of other names are refused; empty: any name's will do */
    enum lapse_resource_bar bar;
    bool not_after; /* a write past its `not_after` is too late, by the resource's wall clock */
    bool once;      /* a token writes once; then it is `used` */
};
struct lapse_setup_actor {
    struct lapse_bytes name;
    struct lapse_bytes owner; /* fixed owner text; empty: name and incarnation */
    bool careful;
    struct lapse_span margin;
    bool timer_boot; /* its timers and deadlines go by the boot clock, else the monotonic one */
    struct lapse_bytes program; /* a client written in C; empty: its steps are the plan's */
};
struct lapse_setup_loop {
    int32_t actor;
    int32_t step; /* plan step of the loop itself */
    bool gap;     /* gap: D after the body; else a fixed grid */
    struct lapse_span period;
    struct lapse_span retry; /* the shortest `again` of its body; 0: none */
    bool steady;             /* nothing but an answer ends it, and in its body nothing but calls,
                                `after` and `jitter` takes time */
    struct lapse_span slack; /* those two together; INT64_MAX: its calls do not tell its firings,
                                or only after a wait that has no bound */
};
struct lapse_setup {
    struct lapse_bytes scenario;
    struct lapse_bytes profile;   /* whose promises hold: "strict" */
    struct lapse_policies policies; /* of the profile, with those that `policy:` overrides */
    bool chaos;                   /* chance draws faults: any answer may come to any line */
    bool durable;                 /* the store keeps its rows over a crash of its process */
    enum lapse_sync sync;         /* of the store's journal; NONE where it has none */
    struct lapse_wall epoch;      /* wall clock at true time 0 */
    int64_t rate_ppb;             /* rho: raw clocks keep within 1 +- rate_ppb / 1e9 */
    struct lapse_span wall_bound; /* epsilon */
    struct lapse_span reap_bound; /* a due marker or row is handled within this */
    size_t bucket_count, resource_count, actor_count, loop_count, node_count;
    const struct lapse_setup_bucket *buckets;
    const struct lapse_setup_resource *resources;
    const struct lapse_setup_actor *actors;
    const struct lapse_setup_loop *loops;
    const struct lapse_bytes *nodes;
};

/* ---- A grant: of a lease, or of a key in a bucket with locks. */
struct lapse_grant_ref {
    bool given;    /* false: under no grant */
    bool key_lock; /* name is "bucket/key", token the newest revision it was told */
    struct lapse_bytes name;
    int64_t token;
};

/* ---- A request as sent. `command` is filled for store verbs. */
struct lapse_request {
    int verb; /* enum lapse_verb or enum lapse_call_verb */
    struct lapse_command command;
    int32_t resource;         /* WRITE READ */
    struct lapse_bytes value; /* WRITE */
    bool has_token;           /* WRITE */
    int64_t token;
    bool has_not_after; /* WRITE: too late at a resource whose wall clock has passed this */
    struct lapse_wall not_after;
    struct lapse_span work; /* WORK: running time asked for */
};

/* ---- An answer, at the decision (APPLY) or at the client (REPLY). Fields as lapse_result. */
struct lapse_answer {
    enum lapse_status status;
    struct lapse_steady at; /* store time of the decision */
    struct lapse_wall wall;
    int64_t revision;
    struct lapse_end end;
    struct lapse_span left;
    bool renewed;
    bool has_token;
    int64_t token;
    int64_t watcher;
    struct lapse_bytes value, owner;
    size_t item_count; /* LIST ALL COUNT HISTORY, and the first keys of a watch */
    const struct lapse_item *items;
    bool more;     /* LIST ALL HISTORY: the limit cut it */
    bool repeated; /* the answer of an earlier call with this request id */
    size_t answer_count; /* BATCH */
    const struct lapse_batch_answer *answers;
    struct lapse_span took; /* REPLY: from send to reply, true time */
};

/* ---- Probes: what an observer saw (on a fork; nothing was disturbed). */
enum lapse_probe_kind {
    LAPSE_PROBE_GONE = 1,
    LAPSE_PROBE_PRESENT,
    LAPSE_PROBE_LEFT,
    LAPSE_PROBE_HOLDER,
    LAPSE_PROBE_BELIEVES, /* who */
    LAPSE_PROBE_MAY,      /* who */
    LAPSE_PROBE_STOPPED,  /* flag */
    LAPSE_PROBE_EVENTS,   /* events of one watch since the last look */
    LAPSE_PROBE_READ,     /* a read verb of top-level expect: `verb` and answers[0] */
    LAPSE_PROBE_COUNT,    /* a count of a pattern: the judge knows the number */
    LAPSE_PROBE_MEASURED, /* a measure: the judge knows the value */
    LAPSE_PROBE_ROWS      /* records in storage of one bucket, live or not: row_count */
};
struct lapse_probe_answer {
    int verb;
    struct lapse_answer answer;
};
struct lapse_probe {
    enum lapse_probe_kind kind;
    bool key_lock;             /* HOLDER LEFT BELIEVES MAY: name is a key of a locks bucket;
                                  LEFT: also any key */
    struct lapse_bytes bucket; /* keys */
    struct lapse_bytes name;   /* the key, lease name, actor or watch */
    size_t answer_count;       /* GONE PRESENT: one a verb tried; LEFT HOLDER READ: one */
    const struct lapse_probe_answer *answers;
    size_t who_count; /* BELIEVES MAY: actor numbers, rising */
    const int32_t *who;
    bool flag;          /* STOPPED */
    size_t event_count; /* EVENTS */
    const struct lapse_event *events;
    int64_t row_count; /* ROWS */
};

/* ---- Events. A kind is also a bit of a rule's mask, so there are at most 32. Numbers are never
 * changed. */
enum lapse_history_kind {
    LAPSE_HISTORY_BEGIN = 0,
    LAPSE_HISTORY_INVOKE, /* a client sends a call (or begins work) */
    LAPSE_HISTORY_APPLY,  /* a node decides it; its `at` is that instant, also where the node's
                             process hung in a sync meanwhile, so that it comes after later ones */
    LAPSE_HISTORY_EMIT,   /* a node wrote a bucket event: caused by a call, or by the reaper */
    LAPSE_HISTORY_REPLY,  /* the client has its answer; also TOO_LATE, with no INVOKE */
    LAPSE_HISTORY_FAULT_BEGIN,
    LAPSE_HISTORY_FAULT_END,
    LAPSE_HISTORY_BELIEF_BEGIN,
    LAPSE_HISTORY_BELIEF_END,
    LAPSE_HISTORY_RESOURCE, /* a guarded resource decided a write or a read */
    LAPSE_HISTORY_DELIVER,  /* a watcher was handed one event */
    LAPSE_HISTORY_STOPPED,  /* none of the actor's tasks runs any more, and one was stopped */
    LAPSE_HISTORY_PROBE,    /* an observer looked */
    LAPSE_HISTORY_UNBOUND,  /* a step was not sent: a name it uses gives no value that fits */
    LAPSE_HISTORY_NOT_RUN,  /* at the end, last: a line of `steps` or `expect` never ran */
    LAPSE_HISTORY_WAITING,  /* at the end: a call still waits for its reply, or an `await` (call 0)
                               for what never came */
    LAPSE_HISTORY_NOTE,
    LAPSE_HISTORY_TRUNCATED,
    LAPSE_HISTORY_END, /* the run is over */
    LAPSE_HISTORY_STEP = 19,  /* a node's housekeeping, or an operator's `reap`, has run */
    LAPSE_HISTORY_MESSAGE = 20, /* something happened to a message on its way: of a call, or (call
                                   0) an event that is handed to a watcher */
    LAPSE_HISTORY_CLOCK = 21, /* a clock was moved, its rate set, stopped, or let go on */
    LAPSE_HISTORY_ROLE = 22,   /* a node of a replicated store leads, or follows, or tells what it
                                  has applied */
    LAPSE_HISTORY_TENURE = 23, /* a node's store has been opened again */
    LAPSE_HISTORY_KINDS
};

/* All last but RESTART, which ends a crash, and CLOCK, told by a CLOCK event alone. */
enum lapse_fault_kind {
    LAPSE_FAULT_PAUSE = 1,
    LAPSE_FAULT_CRASH = 2,
    LAPSE_FAULT_RESTART = 3,
    LAPSE_FAULT_SUSPEND = 4, /* the machine sleeps: its monotonic clock stops, boot and wall run */
    LAPSE_FAULT_CLOCK = 5,
    LAPSE_FAULT_FREEZE = 6, /* the machine stands still, all its clocks with it */
    LAPSE_FAULT_STARVE = 7, /* the timers of one task of an actor fire late; its work goes on */
    LAPSE_FAULT_STALL = 8,  /* a node's process hangs in its next sync */
    LAPSE_FAULT_SLOW = 9,   /* work takes a multiple of its running time */
    LAPSE_FAULT_CUT = 10,   /* what is sent over a link, or under way on it, is lost */
    LAPSE_FAULT_LINK = 11,  /* a link has latency, loss, duplicates, or changes the order */
    LAPSE_FAULT_DISK = 12   /* a node's disk misbehaves */
};

/* How a disk misbehaves. */
enum lapse_disk_fault {
    LAPSE_DISK_SYNC_FAIL = 1, /* the sync answers that it failed; what it covered may be lost */
    LAPSE_DISK_SYNC_LIES,     /* the sync answers done, and nothing is durable by it */
    LAPSE_DISK_SYNC_STALLS,   /* the sync hangs, and the process with it */
    LAPSE_DISK_TEAR,          /* a crash keeps or drops each unsynced sector by itself */
    LAPSE_DISK_FULL,          /* no write that makes a file longer is taken */
    LAPSE_DISK_ROT            /* bits of what is durable flip */
};

/* Where a message comes from or goes to. */
enum lapse_party_kind { LAPSE_PARTY_ACTOR = 1, LAPSE_PARTY_NODE = 2, LAPSE_PARTY_RESOURCE = 3 };
struct lapse_party {
    enum lapse_party_kind kind; /* 0: none */
    int32_t index;              /* in setup.actors, nodes or resources */
};

/* What became of a message of a call: a request on its way to a node or resource, or its reply.
 * One that arrives in its time has no event. */
enum lapse_message_fate {
    LAPSE_MESSAGE_LOST = 1,
    LAPSE_MESSAGE_LATE,   /* it takes `latency` */
    LAPSE_MESSAGE_TWICE,  /* a second copy is on its way */
    LAPSE_MESSAGE_FORGED, /* a reply that tells `status` instead of the decision's */
    LAPSE_MESSAGE_AGAIN   /* a second copy of a request was decided: the answer of that decision
                             reaches nobody */
};

/* An old copy of its store was put back before a node opened it. */
enum lapse_restored {
    LAPSE_RESTORED_NO = 0,
    LAPSE_RESTORED_OLD = 1,    /* as it was copied: its numbers are given out again */
    LAPSE_RESTORED_SHIFTED = 2 /* opened with `restored`: revisions and tokens moved up by 2^40 */
};

/* What a node of a replicated store is. */
enum lapse_role { LAPSE_ROLE_FOLLOWER = 0, LAPSE_ROLE_LEADER = 1 };

/* Why a belief ended. */
enum lapse_belief_why {
    LAPSE_BELIEF_GRANTED = 0, /* BELIEF_BEGIN */
    LAPSE_BELIEF_DENIED,
    LAPSE_BELIEF_RELEASED,
    LAPSE_BELIEF_STOPPED,
    LAPSE_BELIEF_CRASHED,
    LAPSE_BELIEF_DEADLINE
};

/* Why a step was not sent. */
enum lapse_unbound_why {
    LAPSE_UNBOUND_NAME = 0, /* the name was not bound */
    LAPSE_UNBOUND_FIELD,    /* its saved reply lacks the field */
    LAPSE_UNBOUND_KIND      /* the field is of another kind than the place takes: a span, no date */
};

struct lapse_history_event {
    enum lapse_history_kind kind;
    int64_t seq; /* index in the history; set by append */
    struct lapse_true_time at;
    int32_t actor;                /* index in setup; -1: none (world, node, observer) */
    int32_t incarnation;          /* of the actor: 1, after a restart 2, ... ; 0: no actor */
    struct lapse_wall actor_wall; /* the actor's clocks; 0 without actor */
    struct lapse_steady actor_steady;
    int64_t call; /* id > 0 shared by INVOKE APPLY EMIT REPLY; 0: none */
    int32_t step; /* plan step that caused it; -1: none */
    int32_t n;    /* which of `times: N`, or firing of a loop, from 1; 0: none */
    union {
        const struct lapse_setup *begin;
        struct {
            struct lapse_request request;
            struct lapse_grant_ref grant; /* the grant it is under */
            int32_t loop;                 /* index in setup.loops; -1: none */
            struct lapse_true_time due;   /* when the step was due; later than `at` iff late */
            bool looked;                  /* a careful actor's last look at its clock */
            struct lapse_steady last_look;
        } invoke;
        struct {
            int32_t node;
            struct lapse_reading reading; /* the node's clocks at the decision */
            int64_t durable_point;
            struct lapse_answer answer;
        } apply;
        struct {
            int32_t node;
            struct lapse_event event;
        } emit;
        struct {
            int verb;
            bool sent;         /* false: TOO_LATE, the call was never sent */
            int32_t save_slot; /* -1: not saved */
            struct lapse_grant_ref grant;
            struct lapse_answer answer;
        } reply;
        struct { /* STEP */
            int32_t node;
            struct lapse_reading reading; /* the node's clocks */
            struct lapse_steady store;    /* store time */
            size_t row_count;             /* rows removed */
            enum lapse_status status;     /* OK; UNKNOWN: the store gave up in it, and what it wrote
                                             may be there or not */
        } step;
        struct { /* CLOCK: what it reads just before and just after */
            struct lapse_party whose;
            struct lapse_reading before, after;
            struct lapse_steady mono_before, mono_after; /* does not count suspend */
            int64_t rate_ppb; /* from now on: 1 + rate_ppb / 1e9 of true time */
            bool stopped;     /* monotonic and boot stand still from now on */
            int64_t tick_ns;  /* readings are cut down to a multiple of this; 1: exact */
        } clock;
        struct { /* MESSAGE: of event.call */
            struct lapse_party from, to;
            bool reply;
            enum lapse_message_fate fate;
            struct lapse_span latency;
            enum lapse_status status; /* FORGED */
        } message;
        struct { /* TENURE: a store opens; not written for the first opening */
            int32_t node;
            bool machine;                 /* on another boot of the machine */
            struct lapse_reading reading;
            struct lapse_steady store; /* store time goes on from here */
            enum lapse_restored restored;
        } tenure;
        struct { /* ROLE */
            int32_t node;
            enum lapse_role role;
            int64_t epoch; /* the number of the election that made a leader, from 1; 0: not told */
            int64_t index; /* of the last entry of the log that the node has applied; 0: not told */
            struct lapse_bytes digest; /* of its state just after that entry; empty: not told */
        } role;
        struct {
            enum lapse_fault_kind kind;
            bool machine;   /* CRASH RESTART of a node: the machine's, not the process's alone */
            int32_t node;   /* >= 0: of a node; else of event.actor */
            int32_t task;   /* STARVE: which task of the plan, from 1; 0: all of the actor's */
            struct lapse_party from, to; /* CUT LINK: from one to the other; */
            bool both;                   /* and back */
            enum lapse_disk_fault disk;  /* DISK */
            bool keeps;     /* CRASH of an actor: its memory outlives it */
            bool has_until; /* FAULT_BEGIN with `for:` */
            struct lapse_true_time until;
        } fault;
        struct {
            struct lapse_grant_ref grant;
            enum lapse_belief_why why;
            bool has_deadline; /* careful actors */
            struct lapse_steady deadline;
        } belief;
        struct {
            int32_t resource;
            int verb;                 /* WRITE or READ */
            enum lapse_status status; /* OK FENCED TOO_LATE USED */
            struct lapse_wall wall;   /* of the resource */
            bool has_token;
            int64_t token;
            struct lapse_bytes value;
            bool has_highest; /* the highest token after the decision */
            int64_t highest;
        } resource;
        struct {
            int32_t watch;            /* index of the plan's watch name; -1 unnamed */
            int64_t watcher;          /* the store's id */
            bool first;               /* one of the first keys of a watch from live */
            struct lapse_event event; /* GAP included */
        } deliver;
        struct lapse_probe probe;
        struct {
            int32_t slot; /* the name */
            int why;      /* enum lapse_unbound_why */
            int field;    /* enum lapse_field, as read of the name; DEFAULT: $x alone */
        } unbound;
        struct {
            struct lapse_bytes text;
            enum lapse_status status; /* that a store did not open with; OK: of something else */
        } note;
        struct {
            uint64_t state_digest; /* the stores' durable state */
            bool cut;              /* stopped early by the judge or a bound */
        } end;
    } u;
};

/* What a store's result tells, as an answer; bytes are borrowed. */
struct lapse_answer lapse_answer_of(const struct lapse_result *result);

/* The words of kinds: "invoke", "pause". */
const char *lapse_history_kind_word(enum lapse_history_kind kind);
const char *lapse_fault_word(enum lapse_fault_kind kind);

struct lapse_history;

/* Its bounds, where none are asked for. */
enum { LAPSE_HISTORY_EVENTS_MAX = 200000, LAPSE_HISTORY_BYTES_MAX = 128 * 1024 * 1024 };

/* A place to cut back to. */
struct lapse_history_mark {
    size_t count;
    size_t chunk, chunk_used, bytes; /* private */
    struct lapse_digest digest;
    bool truncated;
};

/* Opens an empty history. alloc is borrowed. events_max >= 2 (0: LAPSE_HISTORY_EVENTS_MAX).
 * Returns OK or NOMEM. */
enum lapse_status lapse_history_open(const lapse_alloc *alloc, size_t events_max,
                                     struct lapse_history **ret, struct lapse_error *err);
void lapse_history_close(struct lapse_history *history);
/* Appends a deep copy of *event with seq set (u.begin is kept as a pointer). Returns the stored
 * event, or NULL when memory ran out. Past the bound it stores one TRUNCATED event and then
 * returns that one. */
const struct lapse_history_event *lapse_history_append(struct lapse_history *history,
                                                       const struct lapse_history_event *event);
size_t lapse_history_count(const struct lapse_history *history);
/* Event `index` < count. Events before a cut keep their addresses. */
const struct lapse_history_event *lapse_history_at(const struct lapse_history *history,
                                                   size_t index);
/* The digest over events [0, count). */
uint64_t lapse_history_digest(const struct lapse_history *history);
/* The digest of one event alone: every field, and all that it points to. */
uint64_t lapse_history_event_digest(const struct lapse_history_event *event);
/* The number of the first event in which two histories differ, or which one of them lacks; SIZE_MAX
 * if none of the first `count` does. */
size_t lapse_history_part(const struct lapse_history *a, const struct lapse_history *b,
                          size_t count);
struct lapse_history_mark lapse_history_mark(const struct lapse_history *history);
void lapse_history_cut(struct lapse_history *history, const struct lapse_history_mark *mark);

#endif
