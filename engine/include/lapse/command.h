/* Commands and results: every request that the engine takes, as data, and what it answers.
 *
 * The engine is apply(state, command, now) -> result, events. Typed calls (lapse.h) only build
 * commands. All byte strings in a command are borrowed for the call; all in a result point into the
 * result's own buffer and live until its next use or lapse_result_free: no command may borrow from
 * the result it is answered in. */
#ifndef LAPSE_COMMAND_H
#define LAPSE_COMMAND_H

#include "lapse/time.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a command may touch. A `log` command reads and changes durable state alone, so stores that
 * carry out the same log commands at the same readings have the same durable part, whatever was
 * read between. `local` touches only this tenure's state (watchers, ephemeral leases); `read`
 * touches nothing, except that a use of an idle key puts a deferred renewal into the tenure.
 * Whatever a command needs made durable before it is decided is a log command of its own, a FLUSH
 * or a MARK, that precedes it: see lapse_preceding. */
enum lapse_class { LAPSE_CLASS_LOG = 0, LAPSE_CLASS_LOCAL = 1, LAPSE_CLASS_READ = 2 };

/* X(CONSTANT, value, word, class). Numbers are never changed. */
#define LAPSE_VERB_TABLE(X)                                                                        \
    X(OPEN, 1, "open", LOG)                                                                        \
    X(SET, 2, "set", LOG)                                                                          \
    X(CREATE, 3, "create", LOG)                                                                    \
    X(UPDATE, 4, "update", LOG)                                                                    \
    X(GET, 5, "get", READ)                                                                         \
    X(ENTRY, 6, "entry", READ)                                                                     \
    X(HAS, 7, "has", READ)                                                                         \
    X(DELETE, 8, "delete", LOG)                                                                    \
    X(PURGE, 9, "purge", LOG)                                                                      \
    X(EXPIRE, 10, "expire", LOG)                                                                   \
    X(PERSIST, 11, "persist", LOG)                                                                 \
    X(LIST, 12, "list", READ)                                                                      \
    X(ALL, 13, "all", READ)                                                                        \
    X(COUNT, 14, "count", READ)                                                                    \
    X(ACQUIRE, 15, "acquire", LOG)                                                                 \
    X(EXTEND, 16, "extend", LOG)                                                                   \
    X(RELEASE, 17, "release", LOG)                                                                 \
    X(INSPECT, 18, "inspect", READ)                                                                \
    X(WATCH, 19, "watch", LOCAL)                                                                   \
    X(UNWATCH, 20, "unwatch", LOCAL)                                                               \
    X(POLL, 21, "poll", LOCAL)                                                                     \
    X(REAP, 22, "reap", LOG)                                                                       \
    X(FLUSH, 23, "flush", LOG)                                                                     \
    X(MARK, 24, "mark", LOG)                                                                       \
    X(HISTORY, 25, "history", READ)                                                                \
    X(BATCH, 26, "batch", LOG)                                                                     \
    X(SESSION, 27, "session", LOG)                                                                 \
    X(KEEPALIVE, 28, "keepalive", LOG)                                                             \
    X(CLOSE, 29, "close", LOG)                                                                     \
    X(ALTER, 30, "alter", LOG)

enum lapse_verb {
    LAPSE_VERB_NONE = 0,
#define LAPSE_VERB_ENUM(id, value, word, klass) LAPSE_VERB_##id = (value),
    LAPSE_VERB_TABLE(LAPSE_VERB_ENUM)
#undef LAPSE_VERB_ENUM
};

/* The word of a verb, or "?". */
const char *lapse_verb_word(enum lapse_verb verb);
struct lapse_command;
/* The class of a command by its words: its verb's, but an ephemeral acquire is LOCAL. READ for no
 * verb. Which durability a held name has is not in the words: see lapse_resolve_class. A store that
 * is fed a log holds no ephemeral leases of its own: who stops deciding closes its store and opens
 * it again, which ends the tenure. */
enum lapse_class lapse_command_class(const struct lapse_command *command);

/* ---- Terms. A call may be handed any combination, so that the refusal of two can be shown:
 * more than one bit is INVALID (KV-02). A span <= 0 is INVALID; a sum past the range is RANGE. */
enum lapse_term_bit {
    LAPSE_TERM_TTL = 1,
    LAPSE_TERM_IDLE = 2,
    LAPSE_TERM_EXPIRES_AT = 4,
    LAPSE_TERM_SESSION = 8, /* SET CREATE UPDATE EXPIRE: ends with the session; never of a bucket */
    LAPSE_TERM_KEEP = 16    /* SET UPDATE: a live key keeps its end; else no term of its own */
};

struct lapse_term {
    unsigned given;            /* of enum lapse_term_bit; 0: none, so the bucket's default holds */
    struct lapse_span ttl;     /* from the write, on store time */
    struct lapse_span idle;    /* from the last use, on store time */
    struct lapse_wall expires_at; /* a date, on the wall clock; a past one ends it at once */
    struct lapse_span cap;     /* with idle: no use moves the end past the write + cap; 0: none */
    struct lapse_bytes session; /* the session's name; a write with one that is not live is LOST */
};

/* Where an entry or a grant ends. */
enum lapse_end_kind { LAPSE_END_NONE = 0, LAPSE_END_STEADY = 1, LAPSE_END_WALL = 2 };

struct lapse_end {
    enum lapse_end_kind kind;
    int64_t ns; /* store time or Unix time by kind; 0 for NONE */
};

/* ---- Bucket configuration. */
struct lapse_bucket_config {
    struct lapse_term term;      /* ttl or idle, never both, never a date (INVALID) */
    struct lapse_span markers;   /* > 0: an end becomes one expired event; markers and tombstones
                                    live this long */
    uint32_t history;            /* records kept of a key, 1 to LAPSE_HISTORY_MAX; 0 says 1 */
    int64_t first_revision;      /* the first revision that the bucket gives, 1 to INT64_MAX; 0 says
                                    1, and of ALTER: as it is. It is set for good, and a store
                                    whose revisions are not counted by bucket takes 1 alone. Once
                                    INT64_MAX has been given, a call that needs a revision answers
                                    RANGE and changes nothing */
};

enum lapse_durability { LAPSE_PERSISTENT = 0, LAPSE_EPHEMERAL = 1 };
/* REVISION: at least the last event >= `revision` of each key that has one, or a gap first. */
enum lapse_watch_from { LAPSE_WATCH_NOW = 0, LAPSE_WATCH_LIVE = 1, LAPSE_WATCH_REVISION = 2 };

/* What a record of a key is. A key is the list of its retained records, newest last. */
enum lapse_record_kind {
    LAPSE_RECORD_VALUE = 1,
    LAPSE_RECORD_TOMBSTONE = 2, /* a delete */
    LAPSE_RECORD_MARKER = 3,    /* an end */
    LAPSE_RECORD_PURGE = 4,     /* a purge */
    LAPSE_RECORD_GONE = 5       /* where a policy has keys remembered that are gone: the last
                                   revision of one; no call shows it */
};

/* Documented limits; past them a call answers INVALID and names the value seen. */
enum {
    LAPSE_BUCKET_NAME_MAX = 255,
    LAPSE_KEY_BYTES_MAX = 4096,
    LAPSE_VALUE_BYTES_MAX = 16 * 1024 * 1024,
    LAPSE_OWNER_BYTES_MAX = 4096,
    LAPSE_BUCKETS_MAX = 4096,
    LAPSE_WATCHERS_MAX = 65536,
    LAPSE_HISTORY_MAX = 64,      /* records kept of a key */
    LAPSE_BATCH_MAX = 4096,      /* calls in a batch */
    LAPSE_REQUEST_BYTES_MAX = 255
};

/* How long a request id is remembered: 2 min of store time from the first call. */
#define LAPSE_REQUEST_SPAN_NS (120 * LAPSE_NS_PER_S)

/* ---- A command: a tagged union over `verb`. Zero it, then fill what the verb takes. */
struct lapse_command {
    enum lapse_verb verb;
    struct lapse_bytes bucket; /* all but the lease verbs, UNWATCH, POLL, REAP, MARK */
    struct lapse_bytes key;    /* key, lease name or session name (free text); WATCH: empty = whole
                                  bucket */
    struct lapse_bytes request; /* the request id of a log command of a client; empty: none. Sent
                                   again within LAPSE_REQUEST_SPAN_NS, the call takes effect once
                                   and answers the same (ONCE-01); another call under the same id
                                   is INVALID. What had no effect is not remembered: refusals, and
                                   an OK that changed nothing (an acquire by the live owner, a
                                   bucket opened with equal words); sent again it is a new call.
                                   EXTEND and RELEASE of an ephemeral lease take none: INVALID */
    union {
        struct { /* SET CREATE UPDATE DELETE PURGE EXPIRE PERSIST */
            struct lapse_bytes value; /* SET CREATE UPDATE */
            struct lapse_term term;   /* SET CREATE UPDATE; EXPIRE: exactly one */
            bool has_if_version;      /* UPDATE: must be set; CREATE: must not */
            int64_t if_version;
        } write;
        struct { /* ACQUIRE EXTEND RELEASE */
            struct lapse_bytes owner; /* must not be empty, except with a token */
            struct lapse_span span;   /* ACQUIRE EXTEND: > 0; ACQUIRE with a session: 0 */
            struct lapse_bytes session; /* ACQUIRE: the lease ends with it; empty: none */
            bool has_token;           /* EXTEND RELEASE: a token alone names the grant */
            int64_t token;
            enum lapse_durability durability; /* ACQUIRE; where a policy has the durabilities
                                                 independent, EXTEND RELEASE INSPECT too */
        } lease;
        struct { /* GET ENTRY HAS */
            bool peek;        /* renews nothing */
            bool has_revision; /* the value record of this revision, if the key is live; renews
                                  nothing */
            int64_t revision;
        } read;
        struct { /* LIST ALL COUNT HISTORY (HISTORY: the key's records, oldest first) */
            bool has_after;
            struct lapse_bytes after; /* LIST ALL COUNT: only keys above it */
            size_t limit;             /* LIST ALL HISTORY: at most so many, 0: all */
        } page;
        struct { /* BATCH: writes of keys, leases and sessions; all at one instant, or none */
            size_t count; /* 1 to LAPSE_BATCH_MAX */
            const struct lapse_command *commands; /* borrowed; no batch in a batch, no request id
                                                     inside, no ephemeral lease */
        } batch;
        struct { /* SESSION KEEPALIVE CLOSE; `key` is the session's name */
            struct lapse_bytes owner; /* not empty */
            struct lapse_span span;   /* SESSION: > 0; KEEPALIVE: a new span, 0: the one it has */
        } session;
        struct { /* MARK: what it also makes durable; 0: nothing */
            int64_t token;            /* the counter of tokens is raised to this */
            struct lapse_steady ceiling_store;
            int64_t ceiling_token;
            int64_t ceiling_revision; /* of the bucket that the command names */
        } mark;
        struct { /* OPEN: creates the bucket, or, with equal words, answers OK again.
                    ALTER: gives it other words; terms already given stay */
            struct lapse_bucket_config config;
        } open;
        struct { /* WATCH; UNWATCH and POLL name the watcher */
            enum lapse_watch_from from;
            int64_t revision; /* WATCH from REVISION, > 0 */
            int64_t watcher; /* id > 0 */
            size_t events_max; /* POLL: at most so many, > 0 */
        } watch;
        struct { /* FLUSH: a deferred renewal of `key` */
            struct lapse_steady used; /* the instant of use */
            int64_t revision;         /* the incarnation it was read from */
            struct lapse_end end;     /* the end it had then */
        } flush;
        struct { /* REAP: at most so many ended rows, > 0 */
            size_t rows_max;
        } reap;
    } u;
};

/* ---- Events of a bucket (WATCH-01..04). Each has a revision of its own. */
enum lapse_event_kind {
    LAPSE_EVENT_PUT = 1,
    LAPSE_EVENT_DELETE = 2,
    LAPSE_EVENT_PURGE = 3,
    LAPSE_EVENT_EXPIRED = 4,
    LAPSE_EVENT_GAP = 5 /* to one watcher: events up to `revision` were lost */
};

/* Which term ended the key: its own ttl or date, the bucket's default ttl, an idle span, a session.
 */
enum lapse_why {
    LAPSE_WHY_NONE = 0,
    LAPSE_WHY_OWN = 1,
    LAPSE_WHY_DEFAULT = 2,
    LAPSE_WHY_IDLE = 3,
    LAPSE_WHY_SESSION = 4
};

/* "put" .. "gap"; "own" "default" "idle" "session". */
const char *lapse_event_word(enum lapse_event_kind kind);
const char *lapse_why_word(enum lapse_why why);

struct lapse_event {
    enum lapse_event_kind kind;
    enum lapse_why why;         /* EXPIRED */
    struct lapse_bytes bucket, key;
    struct lapse_bytes value;   /* PUT */
    int64_t revision;
    int64_t old_revision;       /* EXPIRED DELETE PURGE: the entry's revision before */
    struct lapse_steady at;     /* store time at which it was written; 0 for a put that a watch
                                   from a revision tells again */
};

/* One row of a listing. */
struct lapse_item {
    struct lapse_bytes key;
    struct lapse_bytes value; /* ALL, HISTORY, the first keys of a watch */
    int64_t revision;
    enum lapse_record_kind kind; /* VALUE, but for HISTORY */
};

/* The answer to one call of a batch. */
struct lapse_batch_answer {
    enum lapse_verb verb;
    enum lapse_status status;
    int64_t revision;
    int64_t token;
    struct lapse_end end;
    struct lapse_span left;
};

/* ---- A result. The status says which fields are filled; all others are zero.
 *
 *   verb                     status      fields
 *   every one                any >= 0    at, wall, command_seq, durable_point, events
 *   OPEN                     OK          -
 *   SET CREATE UPDATE        OK          revision end left
 *   EXPIRE PERSIST           OK          revision end left
 *   SET UPDATE DELETE PURGE
 *   EXPIRE PERSIST           CONFLICT    revision (the live entry's, 0 if there is none)
 *   CREATE                   EXISTS      -
 *   GET                      OK          value revision end left renewed
 *   ENTRY                    OK          value revision end left renewed
 *   HAS                      OK          revision renewed
 *   DELETE PURGE             OK          revision (of the event)
 *   LIST ALL HISTORY         OK          items item_count more
 *   HISTORY                  ABSENT      -
 *   COUNT                    OK          item_count (items stays NULL)
 *   SET CREATE UPDATE EXPIRE
 *   ACQUIRE                  LOST        - (the session it names is not live; this is asked before
 *                                        all else)
 *   BATCH                    OK          answers answer_count
 *   BATCH                    CONFLICT    answers answer_count (up to the one refused, which is
 *                                        the last; none took effect, so those before it have verb
 *                                        and status alone. The refused one saw what they had done:
 *                                        revision is 0 where it was given by one of them)
 *   SESSION                  OK          token (names the incarnation) end left renewed (= open
 *                                        already, unchanged)
 *   SESSION                  HELD        owner end left (another owner has it open)
 *   KEEPALIVE                OK          token end left
 *   KEEPALIVE CLOSE          LOST        - (no live session of that name and owner)
 *   CLOSE ALTER              OK          -
 *   ACQUIRE                  OK          owner token end left renewed (= a grant held already)
 *   ACQUIRE                  HELD        owner end left
 *   EXTEND                   OK          owner token end left
 *   INSPECT                  OK          owner token end left
 *   WATCH                    OK          watcher; LIVE: items (the first keys, with values)
 *   POLL                     OK          deliveries delivery_count
 *   REAP                     OK          item_count (rows removed, and those that stay though they
 *                                        have ended: lapse/policy.h)
 *   FLUSH                    OK          renewed (whether it was accepted)
 *
 * `events` are those that this command wrote, in revision order (a put over an ended key in a
 * bucket with markers writes two). `left` is end minus the decision's instant, > 0, never above the
 * span (KV-13); it is 0 where there is no end, and after a write whose date had passed: its end is
 * the instant of the call. A gap is a delivery of its own kind and the poll still answers OK. */
struct lapse_result {
    enum lapse_status status;
    enum lapse_verb verb;
    struct lapse_steady at;  /* store time of the decision: all of it happens at this instant */
    struct lapse_wall wall;  /* the wall reading of the decision */
    int64_t command_seq;     /* counts commands, with those that the handle issues of itself */
    int64_t durable_point;   /* the commit that must be durable before this is shown; 0: none */
    int64_t revision;
    struct lapse_end end;
    struct lapse_span left;  /* see above */
    bool renewed; /* of a read: by this call, with the FLUSH that it may have carried out before
                     itself; one that was carried out alone, by who keeps a log, says so itself */
    bool repeated; /* the answer of an earlier call with this request id; `left` is what is left of
                      its end now, 0 once that has come */
    int64_t token;
    int64_t watcher;
    struct lapse_bytes value;
    struct lapse_bytes owner;
    size_t item_count;
    struct lapse_item *items;
    bool more; /* the limit cut the listing: ask again after the last key */
    size_t answer_count;
    struct lapse_batch_answer *answers;
    size_t event_count;
    struct lapse_event *events;
    size_t delivery_count;
    struct lapse_event *deliveries;
    /* The result's own memory; private to the engine. */
    const lapse_alloc *alloc;
    unsigned char *buffer;
    size_t buffer_len, buffer_cap;
    size_t items_cap, events_cap, deliveries_cap, answers_cap;
};

/* An empty result that takes memory from alloc (borrowed; NULL: the C library's). */
void lapse_result_init(struct lapse_result *result, const lapse_alloc *alloc);
/* Gives its memory back; NULL is allowed. The result is empty then and can be used again. */
void lapse_result_free(struct lapse_result *result);

#ifdef __cplusplus
}
#endif
#endif
