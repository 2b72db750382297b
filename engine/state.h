/* Private: the state that commands change.
 *
 * Two parts. The durable part is what the journal holds: the mark with its number, its peaks and
 * its ceilings (ceiling.c), the counters, sessions, buckets, records, leases, requests. The tenure
 * part ends with the handle: deferred renewals, ephemeral leases, watchers with their rings, the
 * last command's time and number. Tables and heaps are indexes over both and say nothing of their
 * own.
 *
 * Invariants, cited where they are upheld and walked by lapse_check:
 *   S1  a node is linked in its table iff its image is present
 *   S2  a node is in the wheel or in the heap of its end's kind iff it is present and has an end
 *       that counts; a date is in the heap of those reached iff the mark or a peak since its write
 *       has come to it
 *   S3  between commands the undo list is empty and no node is marked as listed or fresh
 *   S4  a steady end is one span after a last use that the mark has seen, or the cap of its idle
 *       term; a record's revision is at most its bucket's
 *   S5  a deferred renewal lies after the row's last use and before the row's end
 *   S6  peaks rise in number and fall strictly in wall reading, towards the mark
 *   S7  a ring holds consecutive revisions, the newest being the bucket's
 *   S8  every watcher is counted once: at the event it is told next, at the ring's end, or as one
 *       that has lost events
 *   S9  an ephemeral lease stands in the table and the wheel of its kind and in no other; its token
 *       is at most the last that the tenure gave
 *   S10 a row whose source is SESSION is among the members of that session, which is present; a
 *       session is in the heap of sessions, at its end and its first member's place
 *   S11 a key has at most LAPSE_HISTORY_MAX records, rising in revision; all but the newest are
 *       `older`. A marker has no other beside it and a purge no older one
 *   S12 a tombstone, purge or marker has no value, the revision of the entry before it, and an end
 *       of its own
 *   S13 a newest record whose end does not count is a value that a policy has stay because no
 *       marker can be stored for its end (lapse_decide_stays) */
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H

#include "exact.h"
#include "heap.h"
#include "lapse/lapse.h"
#include "order.h"
#include "table.h"
#include "wheel.h"

/* The instant of a command: read once at the door, a parameter below it. */
struct lapse_now {
    struct lapse_steady store;
    struct lapse_wall wall;
    int64_t log_seq; /* the number of a log command, if it is committed */
    /* Ends at or before these have come: of a key's record, of any other row, of a date. They are
     * the instant itself, but where a policy says otherwise (decide.c). */
    int64_t due_keys_ns, due_ns, due_wall_ns;
};

/* A renewal that was answered and is not yet durable. */
struct lapse_deferred {
    struct lapse_deferred *prev, *next; /* by `queued` */
    struct lapse_deferred *chain;       /* in the side table, by the node's hash */
    struct lapse_node *node;
    struct lapse_steady used;   /* the newest use: the term runs from here */
    struct lapse_steady queued; /* the oldest use not yet durable: flushed 1 s after it */
};

/* Store time and the readings it was reckoned from. */
struct lapse_mark {
    struct lapse_steady store;
    struct lapse_reading reading;
};

/* The reading of an earlier commit, above the mark's, that some date was reached by. */
struct lapse_peak {
    int64_t seq;
    struct lapse_wall wall;
    /* Of the commit under way; false between commands. */
    bool fresh;   /* to be put */
    bool leaving; /* to be dropped */
};

/* What may be shown beyond what is durable; 0: nothing. A bucket's is its row's `span_ns`. */
struct lapse_ceilings {
    struct lapse_steady store;
    int64_t token;
};

/* Leases of this tenure alone. */
struct lapse_ephemeral {
    struct lapse_table names;
    struct lapse_wheel ends;
    int64_t token; /* the last given to one of them; 0: none */
    int64_t messages; /* calls that came to them, where the unused are dropped; else 0 */
};

struct lapse_peaks {
    struct lapse_peak *items;
    size_t count, cap;
};

/* An event kept for watchers; key and value follow it in one allocation. */
struct lapse_kept {
    struct lapse_kept *next; /* in the list of the running command */
    struct lapse_bucket *bucket;
    enum lapse_event_kind kind;
    enum lapse_why why;
    int64_t revision, old_revision;
    struct lapse_steady at;
    size_t waiting; /* watchers that are told this event next */
    size_t key_len, value_len;
    unsigned char bytes[];
};

/* The events of a bucket that some watcher has not seen; the oldest go first when it is full. */
struct lapse_ring {
    struct lapse_kept **items;
    size_t first, count, cap;
};

struct lapse_bucket {
    struct lapse_node *row; /* its name, its last revision, its words */
    uint16_t index;         /* its place among all buckets */
    struct lapse_bucket_config config; /* the row's words, taken from it when they change */
    struct lapse_table records;
    struct lapse_order order; /* of the keys of `records`, while somebody lists them */
    struct lapse_ring ring;
    size_t watcher_count;
    size_t told, behind; /* watchers that have seen all; that have lost events (S8) */
    size_t pending;      /* events of the running command that will enter the ring */
};

/* One incarnation of a session. What ends with it has no end of its own: it asks here. */
struct lapse_session {
    struct lapse_node *row; /* its name, owner (the blob), end and span */
    int64_t id;             /* its row's revision, also when the row is gone */
    struct lapse_heap members; /* the rows that end with it, in the order they are reaped */
};

struct lapse_watcher {
    int64_t id;
    struct lapse_bucket *bucket;
    int64_t seen; /* revision up to which it has been told; while it has a past, up to where that
                     reaches */
    int64_t from; /* events below this revision are not for it */
    int64_t gap;  /* events up to here were lost before it began, not yet said; 0: none */
    struct lapse_kept **past; /* from a revision: what the records told at the start, in order */
    size_t past_count, past_at, past_cap; /* told are those below past_at, which are freed */
    size_t key_len;
    unsigned char key[]; /* empty: the whole bucket */
};

struct lapse_undo {
    struct lapse_node *node;
    struct lapse_image before;
};

/* What the running command has changed. A node is listed once, with the image it had first: that
 * takes back any number of changes, and read forwards it is what the journal writes. */
struct lapse_txn {
    struct lapse_undo *entries;
    size_t count, cap;
    size_t changes; /* every change, also of a node already listed */
    int64_t token_before, session_before, swept_before, revision_before;
    struct lapse_ceilings ceilings_before;
    struct lapse_kept *events, *events_tail;
};

struct lapse_state {
    const lapse_alloc *alloc;
    size_t watch_events_max;
    struct lapse_policies policies; /* as the mark says; never changed */
    bool strict;                    /* known to be all 0: what is asked most is answered at once */
    /* The durable part. */
    struct lapse_mark mark;
    int64_t log_seq; /* log commands committed: the mark's number */
    struct lapse_peaks peaks;
    struct lapse_ceilings ceilings;
    int64_t token; /* the last fencing token given durably */
    int64_t session; /* the last session's number */
    int64_t swept; /* store time of the last sweep, where they lie apart; else 0 */
    struct lapse_table buckets, leases, sessions, requests;
    /* The tenure part. */
    struct lapse_mark last; /* of the last command */
    int64_t seq;            /* of the last command */
    struct lapse_steady held_until; /* before it nothing that has ended is reaped; 0: no such */
    struct lapse_deferred *deferred_first, *deferred_last;
    struct lapse_ephemeral ephemeral;
    struct lapse_deferred **deferred_slots; /* a power of two of chains; NULL until first use */
    size_t deferred_slot_count, deferred_count;
    struct lapse_watcher **watchers; /* by id */
    size_t watcher_count, watcher_cap;
    int64_t watcher_id; /* the last one given */
    /* Indexes and the running command. */
    int64_t revision; /* the greatest that any bucket has given */
    struct lapse_buckets by_index; /* the buckets that nodes name by their index */
    struct lapse_bucket *recent;   /* the one that a command named last, tried first; or NULL */
    struct lapse_wheel steady;
    struct lapse_heap wall, reached;
    struct lapse_heap sessions_due; /* by end, then as heap.h says */
    struct lapse_txn txn;
};

struct lapse_verb_row;

/* One command under way. */
struct lapse_job {
    struct lapse_state *state;
    const struct lapse_command *command;
    const struct lapse_verb_row *row; /* of the checked command's verb, in apply.c */
    struct lapse_now now;
    struct lapse_result *result;
    struct lapse_error *err;
    struct lapse_bucket *bucket; /* the open bucket that the command names, or NULL */
    bool step;                   /* a step's own REAP: it may take fewer rows (lapse_reap_work) */
    bool used;                   /* a read: a FLUSH of this very use has preceded it */
    bool looked;                 /* the key has been looked up, and nothing has changed since: */
    struct lapse_node *found;
    enum lapse_class klass;      /* of the checked command, by what is live at `now` */
};

/* ---- state.c */
void lapse_state_init(struct lapse_state *state, const lapse_alloc *alloc, size_t watch_events_max);
void lapse_state_finish(struct lapse_state *state);
struct lapse_bucket *lapse_state_bucket(const struct lapse_state *state, struct lapse_bytes name);
/* A bucket with an index and a row that stands in no table; NULL when memory runs out. */
struct lapse_bucket *lapse_bucket_make(struct lapse_state *state, struct lapse_bytes name);
/* Makes a bucket's words the blob of its row's image. False when memory runs out. */
bool lapse_bucket_words(const lapse_alloc *alloc, const struct lapse_bucket_config *config,
                        struct lapse_image *image);
void lapse_bucket_free(struct lapse_state *state, struct lapse_bucket *bucket);
/* The bucket of a record, or that whose row this is. */
static inline struct lapse_bucket *lapse_node_bucket(const struct lapse_state *state,
                                                     const struct lapse_node *node) {
    return state->by_index.items[node->bucket];
}
/* The row that says about `node` what `image` says; it borrows from both. */
void lapse_node_row(const struct lapse_state *state, const struct lapse_node *node,
                    const struct lapse_image *image, struct lapse_row *ret);
/* Frees a node of any kind that stands in no table, and what hangs on it. */
void lapse_state_drop_node(struct lapse_state *state, struct lapse_node *node);
/* Room for `node` in its table and for one more row with an end on store time, whatever the undo
 * list may bring back. False when memory runs out. */
bool lapse_state_reserve(struct lapse_state *state, struct lapse_node *node);
/* The same for one more row with a date. */
bool lapse_state_reserve_date(struct lapse_state *state);
/* The same for one more row with the end of `image`, of whatever kind. */
bool lapse_state_reserve_end(struct lapse_state *state, const struct lapse_image *image);
/* Gives the node another image and puts table, wheel and heaps right (S1, S2). Needs reserved
 * room. */
void lapse_state_place(struct lapse_state *state, struct lapse_node *node,
                       const struct lapse_image *image);
/* Gives up the orders of keys that no listing has asked for lately. */
void lapse_state_trim_orders(struct lapse_state *state);
/* Where a stored row ends: by its own word, or by its session's. */
static inline struct lapse_end lapse_state_end(const struct lapse_image *image) {
    const struct lapse_session *session = lapse_image_session(image);
    return lapse_image_end(session == NULL ? image : &session->row->now);
}
/* Whether the stored row is live; a deferred renewal is not looked at. */
static inline bool lapse_state_live(const struct lapse_node *node, const struct lapse_now *now) {
    const struct lapse_session *session = lapse_image_session(&node->now);
    if (session != NULL) {
        node = session->row;
    }
    int64_t due_ns = node->kind == LAPSE_ROW_RECORD ? now->due_keys_ns : now->due_ns;
    const struct lapse_image *image = &node->now;
    if (!image->present) {
        return false;
    }
    switch (image->end_kind) {
    case LAPSE_END_STEADY:
        return due_ns < image->end_ns;
    case LAPSE_END_WALL:
        return !image->reached && now->due_wall_ns < image->end_ns;
    default:
        return true;
    }
}
/* end minus now on the end's own clock; 0 where there is no end or it has come. */
static inline struct lapse_span lapse_state_left(const struct lapse_now *now,
                                                 struct lapse_end end) {
    int64_t left_ns = 0;
    if (end.kind == LAPSE_END_STEADY) {
        left_ns = lapse_exact_between(now->store.ns, end.ns);
    } else if (end.kind == LAPSE_END_WALL) {
        left_ns = lapse_exact_between(now->wall.ns, end.ns);
    }
    return (struct lapse_span){left_ns > 0 ? left_ns : 0};
}

/* ---- session.c */
/* A session without a row in a table. NULL when memory runs out. */
struct lapse_session *lapse_session_make(struct lapse_state *state, struct lapse_bytes name,
                                         int64_t id);
void lapse_session_free(const lapse_alloc *alloc, struct lapse_session *session);
/* The live session of a name, or NULL. */
struct lapse_session *lapse_session_find(const struct lapse_state *state, struct lapse_bytes name,
                                         const struct lapse_now *now);
/* The row that the reaper takes next of an ended session: a member, the session's own row last. */
struct lapse_node *lapse_session_lead(const struct lapse_session *session);
/* Completes an image whose term was resolved: one that names a session gets it. OK or LOST. */
enum lapse_status lapse_session_join(const struct lapse_job *job, struct lapse_bytes name,
                                     struct lapse_image *image);
enum lapse_status lapse_session_begin(struct lapse_job *job);
enum lapse_status lapse_session_keep(struct lapse_job *job);
enum lapse_status lapse_session_end(struct lapse_job *job);

/* ---- request.c: calls that are remembered by their request id (ONCE-01). */
/* Whether the command's id, length and class are such as can be remembered. OK or INVALID. */
enum lapse_status lapse_request_check(const struct lapse_job *job);
/* INVALID: the call changes nothing that is stored, so its id could not be remembered. */
enum lapse_status lapse_request_unkept(const struct lapse_job *job);
/* Answers a call that was carried out before under its id, and true; also INVALID: another call
 * was. False: it is a new call. */
bool lapse_request_recall(struct lapse_job *job, enum lapse_status *ret_status);
/* Remembers what the running transaction answers. OK, NOMEM, RANGE. */
enum lapse_status lapse_request_note(struct lapse_job *job);
/* The blob of a request's row, and back. False when memory runs out. */
bool lapse_request_pack(const lapse_alloc *alloc, const struct lapse_row *row,
                        struct lapse_image *image);
void lapse_request_unpack(const struct lapse_image *image, struct lapse_row *ret);
/* Whether bytes are the answers that a request row of `verb` holds: of a batch, of nothing else. */
bool lapse_request_answers_fit(enum lapse_verb verb, struct lapse_bytes answers);
/* Whether calls of this verb are remembered. */
bool lapse_request_is_kept(enum lapse_verb verb);

/* ---- command_code.c */
/* A digest of what a command asks for: of all fields that its verb takes and of no other, the
 * request id left out. */
uint64_t lapse_command_digest(const struct lapse_command *command);

/* ---- peaks.c: the wall readings that still count for some date. */
/* Whether a date's row has been reached by what is durable: the mark or a peak. */
bool lapse_peaks_reached(const struct lapse_state *state, const struct lapse_image *image);
/* Whether `now` is the first to reach some date: then a commit must precede the answer. */
static inline bool lapse_peaks_due(const struct lapse_state *state, const struct lapse_now *now) {
    return state->wall.count > 0 && state->wall.items[0]->now.end_ns <= now->due_wall_ns;
}
/* Whether a commit has to do with peaks at all: some are kept, or some date may be reached. */
static inline bool lapse_peaks_matter(const struct lapse_state *state) {
    return state->peaks.count > 0 || state->wall.count > 0 || state->reached.count > 0;
}
/* Finds the peaks that a commit at `next` puts and drops. False when memory runs out. */
bool lapse_peaks_plan(struct lapse_state *state, const struct lapse_mark *next);
/* Makes the plan true, after the commit, or forgets it. Neither can fail. */
void lapse_peaks_keep(struct lapse_state *state);
void lapse_peaks_undo(struct lapse_state *state);
/* Used by load: one peak at its place by number. */
enum lapse_status lapse_peaks_load(struct lapse_state *state, int64_t seq, struct lapse_wall wall);

/* ---- txn.c: all or nothing. */
void lapse_txn_begin(struct lapse_state *state);
/* Lists the node with its present image, unless it is listed, and reserves all room that changing
 * it may need. False when memory runs out. */
bool lapse_txn_touch(struct lapse_state *state, struct lapse_node *node);
/* Changes a touched node; takes over image->blob. Cannot fail. */
void lapse_txn_set(struct lapse_state *state, struct lapse_node *node,
                   const struct lapse_image *image);
void lapse_txn_remove(struct lapse_state *state, struct lapse_node *node);
/* Takes the next revision of the bucket and notes one event; NOMEM, RANGE. `image` is the row of
 * the event (its blob is a put's value), `old_revision` as in struct lapse_event. */
enum lapse_status lapse_txn_event(struct lapse_job *job, enum lapse_event_kind kind,
                                  struct lapse_bucket *bucket, struct lapse_bytes key,
                                  const struct lapse_image *image, int64_t *ret_revision);
/* Back to the state at begin. Cannot fail. */
void lapse_txn_rollback(struct lapse_state *state);
/* Makes the changes final, after they are durable: frees what they replaced, hands the events to
 * the rings. Cannot fail. */
void lapse_txn_finish(struct lapse_state *state);

/* ---- idle.c */
/* Where a row whose renewal may be deferred ends for every call, and whether it is live. */
struct lapse_end lapse_idle_end_deferred(const struct lapse_state *state,
                                         const struct lapse_node *node);
bool lapse_idle_live_deferred(const struct lapse_state *state, const struct lapse_node *node,
                              const struct lapse_now *now);
/* The same of any row. */
static inline struct lapse_end lapse_idle_end(const struct lapse_state *state,
                                              const struct lapse_node *node) {
    return node->deferred ? lapse_idle_end_deferred(state, node) : lapse_state_end(&node->now);
}
static inline bool lapse_idle_live(const struct lapse_state *state, const struct lapse_node *node,
                                   const struct lapse_now *now) {
    return node->deferred ? lapse_idle_live_deferred(state, node, now)
                          : lapse_state_live(node, now);
}
/* Whether a use at `used_ns` moves the end of the row by what is stored (S5). */
bool lapse_idle_moves(const struct lapse_state *state, const struct lapse_image *image,
                      int64_t used_ns);
/* A use of a live row: renews it, deferred unless a FLUSH of this use has preceded. */
enum lapse_status lapse_idle_use(struct lapse_job *job, struct lapse_node *node, bool *ret_renewed,
                                 struct lapse_end *ret_end);
/* The FLUSH that is owed, if one is, and true: the deferred renewal of a key that is about to be
 * changed; the first that is due; what must be durable before a read of the node is answered. */
bool lapse_idle_owed(const struct lapse_state *state, const struct lapse_node *newest,
                     struct lapse_command *ret);
bool lapse_idle_owed_due(const struct lapse_state *state, const struct lapse_now *now,
                         struct lapse_command *ret);
/* When the first of them is due, and true, if one is deferred. */
bool lapse_idle_flush_at(const struct lapse_state *state, struct lapse_steady *ret);
bool lapse_idle_owed_use(const struct lapse_state *state, const struct lapse_node *node,
                         const struct lapse_now *now, struct lapse_command *ret, bool *ret_use);
enum lapse_status lapse_idle_flush(struct lapse_job *job); /* FLUSH */
/* The deferred renewal of a node, or NULL. */
struct lapse_deferred *lapse_idle_deferred(const struct lapse_state *state,
                                           const struct lapse_node *node);
/* Forgets a deferred renewal that the row, which was as `before` says, has caught up with or
 * outlived. */
void lapse_idle_settle(struct lapse_state *state, struct lapse_node *node,
                       const struct lapse_image *before);
/* Forgets the deferred renewals that came too late to be written. */
void lapse_idle_drop_late(struct lapse_state *state, const struct lapse_now *now);
void lapse_idle_forget(struct lapse_state *state, struct lapse_node *node);
/* Used by load: notes a renewal at its place by `queued`. */
bool lapse_idle_defer(struct lapse_state *state, struct lapse_node *node, struct lapse_steady used,
                      struct lapse_steady queued);

/* ---- apply.c: the state machine. Changes go through the running txn, which the caller finishes
 * or rolls back. */
/* Checks the arguments, finds the bucket and the class: job->bucket, job->klass. OK, INVALID. */
enum lapse_status lapse_job_check(struct lapse_job *job);
/* The log command that must precede the checked command at the same instant, and true; else false.
 * Asked again after that one, until there is none. It borrows from the state. Sets job->used. */
bool lapse_job_precede(struct lapse_job *job, struct lapse_command *ret);
/* The row of the command's key, or NULL: as looked up before the command was carried out. */
static inline struct lapse_node *lapse_job_find(struct lapse_job *job) {
    if (!job->looked) {
        job->looked = true;
        job->found = lapse_table_find(&job->bucket->records, job->command->key);
    }
    return job->found;
}
/* NOMEM, with a sentence that names the verb. */
enum lapse_status lapse_job_no_memory(const struct lapse_job *job);
/* Carries the checked command out. */
enum lapse_status lapse_job_apply(struct lapse_job *job);

/* ---- term.c */
/* Fills the term fields of a key's *ret by own term, else the bucket's, else none. INVALID, RANGE.
 */
enum lapse_status lapse_term_resolve(const struct lapse_job *job, const struct lapse_term *own,
                                     const struct lapse_term *fallback, struct lapse_image *ret);
/* The same of a row that is no key's and has a ttl. */
enum lapse_status lapse_term_resolve_ttl(const struct lapse_job *job, struct lapse_span ttl,
                                         struct lapse_image *ret);
/* Whether a resolved term has ended at the instant of the call: a past date, or a span that a
 * policy has end at once. */
static inline bool lapse_term_past(const struct lapse_image *image, const struct lapse_now *now) {
    return image->end_kind == LAPSE_END_WALL ? image->end_ns <= now->due_wall_ns
                                             : image->end_kind == LAPSE_END_STEADY &&
                                                   image->span_ns == 0;
}
/* The words alone: spans that `given` does not name are 0. */
struct lapse_bucket_config lapse_term_config_plain(const struct lapse_bucket_config *config);
/* The end of `from` and all that goes with it (KV-14). */
void lapse_term_keep(const struct lapse_image *from, struct lapse_image *ret);
/* Checks a bucket's words. */
enum lapse_status lapse_term_check_config(const struct lapse_bucket_config *config,
                                          struct lapse_error *err);
bool lapse_term_config_equal(const struct lapse_bucket_config *a,
                             const struct lapse_bucket_config *b);
enum { LAPSE_CONFIG_TEXT_MAX = 320 };
char *lapse_term_config_print(const struct lapse_bucket_config *config, char *buf);

/* ---- record.c: the records of a key. All answer OK, NOMEM or RANGE, and leave it to the caller's
 * rollback to take back what was done. */
/* The record that is the key's state: the newest, or, where older ones live on by themselves, the
 * newest that has not ended, with or without deferred renewals counted, or the one that stays
 * though it has ended; NULL if none is left. */
struct lapse_node *lapse_record_current_by_policy(const struct lapse_state *state,
                                                  struct lapse_node *newest,
                                                  const struct lapse_now *now, bool deferred);
static inline struct lapse_node *lapse_record_current(const struct lapse_state *state,
                                                      struct lapse_node *newest,
                                                      const struct lapse_now *now, bool deferred) {
    return state->strict ? newest : lapse_record_current_by_policy(state, newest, now, deferred);
}
/* The record of `revision` that may be a key's state, or NULL. */
struct lapse_node *lapse_record_numbered(const struct lapse_state *state, struct lapse_node *newest,
                                         int64_t revision);
/* Takes a record whose end has come: alone, with its key, or with a marker in its place; one that
 * stays all the same, off its place by its end. */
enum lapse_status lapse_record_end(struct lapse_job *job, struct lapse_node *node);
/* The bucket's last revision has gone to an event of `key`: takes all other keys of it that have
 * ended and have no marker yet, so that what is left had not ended by then. */
enum lapse_status lapse_record_last_given(struct lapse_job *job, struct lapse_bucket *bucket,
                                          struct lapse_bytes key);
/* The job's bucket is about to lose its markers: what has stayed for want of one goes. */
enum lapse_status lapse_record_end_stayed(struct lapse_job *job);
/* Puts in place of all records of a key what is remembered of it. */
enum lapse_status lapse_record_remember(struct lapse_job *job, struct lapse_node *newest,
                                        int64_t revision, enum lapse_why why);
/* Puts `image`, whose event it is, on top of a key's records and drops those that the history has
 * no place for. `newest` may be NULL, then `key` names the new one. Takes image->blob over on OK.
 */
enum lapse_status lapse_record_push(struct lapse_job *job, struct lapse_bytes key,
                                    struct lapse_node *newest, const struct lapse_image *image);
/* The image of a tombstone, purge or marker: an event of `revision` about `of`. */
struct lapse_image lapse_record_trace(const struct lapse_job *job, enum lapse_record_kind kind,
                                      const struct lapse_bucket *bucket,
                                      const struct lapse_image *of, int64_t revision);
/* Writes the marker of an ended key in place of all its records. */
enum lapse_status lapse_record_mark_end(struct lapse_job *job, struct lapse_node *newest);
/* Clears an ended key for a write: with markers its event comes first, then nothing of it is left.
 * *ret is the newest record that is still there, a live one, or NULL. */
enum lapse_status lapse_record_clear_ended(struct lapse_job *job, struct lapse_node *newest,
                                           struct lapse_node **ret);
enum lapse_status lapse_record_remove_all(struct lapse_job *job, struct lapse_node *newest);
/* Notes that the event of `revision`, its key's last, is kept no more. */
enum lapse_status lapse_record_forget(struct lapse_job *job, struct lapse_bucket *bucket,
                                      int64_t revision);

/* ---- The verbs: kv.c, kv_read.c, kv_history.c, batch.c, lease.c, watch.c, reap.c. Arguments are
 * checked before. */
enum lapse_status lapse_kv_open(struct lapse_job *job);
enum lapse_status lapse_kv_alter(struct lapse_job *job);
enum lapse_status lapse_kv_write(struct lapse_job *job);
enum lapse_status lapse_kv_remove(struct lapse_job *job);
enum lapse_status lapse_kv_retime(struct lapse_job *job);
/* False iff the command is a write of a key whose if_version, or a create, would be refused. */
bool lapse_kv_condition_holds(struct lapse_job *job);
enum lapse_status lapse_kv_read(struct lapse_job *job);
enum lapse_status lapse_kv_list(struct lapse_job *job);
/* All live keys of the job's bucket with their values. */
enum lapse_status lapse_kv_list_all(struct lapse_job *job);
enum lapse_status lapse_kv_history(struct lapse_job *job);
/* GET ENTRY HAS of one revision. */
enum lapse_status lapse_kv_read_revision(struct lapse_job *job);
/* BATCH: its calls, checked; a FLUSH owed by one of them; carried out. */
enum lapse_status lapse_batch_check(struct lapse_job *job);
bool lapse_batch_owed(const struct lapse_job *job, struct lapse_command *ret);
enum lapse_status lapse_batch_run(struct lapse_job *job);
enum lapse_status lapse_lease_acquire(struct lapse_job *job);
enum lapse_status lapse_lease_extend(struct lapse_job *job);
enum lapse_status lapse_lease_release(struct lapse_job *job);
enum lapse_status lapse_lease_inspect(struct lapse_job *job);
/* Leaves of a lease that is over what its name is remembered by. */
enum lapse_status lapse_lease_over(struct lapse_job *job, struct lapse_node *node);
/* Whether the call names this grant: by its token, or without one by its owner (LEASE-09). */
bool lapse_lease_named(const struct lapse_job *job, const struct lapse_node *node);
/* Fills owner, end and left, and the token unless another holds the name. `status`, or NOMEM. */
enum lapse_status lapse_lease_show(struct lapse_job *job, const struct lapse_image *image,
                                   enum lapse_status status);
/* Whether a persistent lease of the command's name is live. */
bool lapse_lease_held(const struct lapse_job *job);
enum lapse_status lapse_watch_start(struct lapse_job *job);
enum lapse_status lapse_watch_stop(struct lapse_job *job);
enum lapse_status lapse_watch_poll(struct lapse_job *job);
enum lapse_status lapse_reap_rows(struct lapse_job *job);
/* How many rows a step that takes at most rows_max may look at or move to find them (wheel.h). */
size_t lapse_reap_work(size_t rows_max);
/* Whether the reaper takes `a` before `b`, two rows that have ended. */
bool lapse_reap_before(const struct lapse_state *state, const struct lapse_node *a,
                       const struct lapse_node *b, const struct lapse_now *now);
/* Whether a row has ended that the reaper has not taken. */
bool lapse_reap_owed(struct lapse_state *state, const struct lapse_now *now);
/* When the state next needs the reaper or a flush. */
void lapse_reap_due(const struct lapse_state *state, struct lapse_due *ret);

/* ---- past.c: what a watcher from a revision is told first. */
/* Finds what the records of the watcher's bucket, or of one key of it, tell from watcher->from on,
 * and whether something is lost: its past and its gap. False, nothing held, without memory. */
bool lapse_past_find(const struct lapse_state *state, struct lapse_watcher *watcher,
                     struct lapse_bytes key, const struct lapse_now *now);
/* Frees the past below `told`. */
void lapse_past_told(const lapse_alloc *alloc, struct lapse_watcher *watcher, size_t told);
void lapse_watcher_free(const lapse_alloc *alloc, struct lapse_watcher *watcher);

/* ---- ring.c */
/* An event to keep for watchers. NULL when memory runs out. */
struct lapse_kept *lapse_kept_make(const lapse_alloc *alloc, struct lapse_bucket *bucket,
                                   const struct lapse_event *event);
bool lapse_ring_reserve(const struct lapse_state *state, struct lapse_bucket *bucket);
void lapse_ring_push(const struct lapse_state *state, struct lapse_bucket *bucket,
                     struct lapse_kept *kept);
const struct lapse_kept *lapse_ring_at(const struct lapse_ring *ring, size_t index);
/* Counts a watcher of the bucket, which has seen `seen`, in or out (S8). */
void lapse_ring_enter(struct lapse_bucket *bucket, int64_t seen);
void lapse_ring_leave(struct lapse_bucket *bucket, int64_t seen);
/* Frees the oldest events that no watcher waits for. */
void lapse_ring_trim(const lapse_alloc *alloc, struct lapse_bucket *bucket);
void lapse_ring_finish(const lapse_alloc *alloc, struct lapse_ring *ring);
void lapse_kept_free(const lapse_alloc *alloc, struct lapse_kept *kept);

/* ---- walk.c, load.c, check.c */
enum lapse_status lapse_state_walk(const struct lapse_state *state, lapse_row_visit visit,
                                   void *ctx, struct lapse_error *err);
void lapse_state_mark_row(const struct lapse_state *state, struct lapse_row *ret);
void lapse_state_peak_row(const struct lapse_peak *peak, struct lapse_row *ret);
/* The row of a counter: "session" or "token". */
void lapse_state_counter_row(const char *name, int64_t value, struct lapse_row *ret);
/* A load under way. */
struct lapse_load {
    struct lapse_state *state;
    struct lapse_error *err;
    bool forking; /* from a walk, which shows the tenure too */
    bool marked, counted, numbered; /* the mark, the counters of tokens and of sessions have come */
    bool timed;                     /* the last sweep has come */
    struct lapse_node **sessions; /* by number, made when the first row asks for one */
    size_t session_count;
    const char *fault; /* why the row is CORRUPT, from load_session.c */
};
/* Takes in one row; `ctx` is the struct lapse_load. */
enum lapse_status lapse_load_row(void *ctx, const struct lapse_row *row);
/* ---- load_session.c: each answers OK, NOMEM or CORRUPT, with load->fault. */
enum lapse_status lapse_load_session(struct lapse_load *load, const struct lapse_row *row);
enum lapse_status lapse_load_request(struct lapse_load *load, const struct lapse_row *row);
/* Finds the session number `id` that a row ends with, 0: none, and puts it into its image. */
enum lapse_status lapse_load_join(struct lapse_load *load, int64_t id, struct lapse_image *image);
/* What only all rows together can show. `status` is what the rows themselves came to. */
enum lapse_status lapse_load_finish(struct lapse_load *load, enum lapse_status status);
enum lapse_status lapse_state_check(const struct lapse_state *state, struct lapse_error *err);

/* ---- result.c: filling results. Each copies; false when memory runs out. */
void lapse_result_begin(struct lapse_result *result, enum lapse_verb verb);
/* Empties all but status, verb and the times. */
void lapse_result_clear(struct lapse_result *result);
bool lapse_result_value(struct lapse_result *result, struct lapse_bytes value);
bool lapse_result_owner(struct lapse_result *result, struct lapse_bytes owner);
bool lapse_result_answer(struct lapse_result *result, const struct lapse_batch_answer *answer);
bool lapse_result_item(struct lapse_result *result, const struct lapse_item *item);
/* A count without items. */
void lapse_result_count(struct lapse_result *result, size_t count);
bool lapse_result_event(struct lapse_result *result, const struct lapse_event *event);
bool lapse_result_answer(struct lapse_result *result, const struct lapse_batch_answer *answer);
/* Empties the fields of one call, so that the next of a batch can fill them. */
void lapse_result_next(struct lapse_result *result);
bool lapse_result_delivery(struct lapse_result *result, const struct lapse_event *event);

#endif
