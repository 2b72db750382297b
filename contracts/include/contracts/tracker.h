/* Trackers: what the accepted answers of a history amount to, family by family.
 *
 * A tracker believes the store: it takes in what the store answered and never works out what it
 * should have answered (but for the renewal of idle keys, which a read does without saying so).
 * Rules compare the next event with it; reports draw the timeline and the state line from it.
 *
 * Everything here is read-only to all but the track_*.c files. Byte strings and event pointers are
 * borrowed from the history. An event pointer that is NULL means "this has not happened". */
#ifndef CONTRACTS_TRACKER_H
#define CONTRACTS_TRACKER_H

#include "contracts/model.h"
#include "contracts/outside.h"
#include "contracts/rule.h"

/* ---- Calls: what was asked, decided and answered under one id. Kept after the reply, because a
 * paused store decides a call after its client has given up. */
struct lapse_tracked_call {
    int64_t id;
    const struct lapse_history_event *invoke;
    const struct lapse_history_event *apply; /* its last decision */
    const struct lapse_history_event *reply;
    int decided;       /* how often: a request may arrive twice */
    int resolved;      /* without an answer over a crash: found done (1) or not done (-1) */
    bool copied;       /* its request went out twice */
    bool forged;       /* its reply told something else than the decision */
    bool lock_granted; /* the write made its client the creator of a lock made of a key */
};

/* ---- Keys. */
/* The term of an entry or a grant. */
struct lapse_tracked_term {
    bool known; /* false: of a session that is not known to be live, or open */
    bool open;  /* which term it is hangs on what a crash has left */
    struct lapse_end end;
    struct lapse_span span; /* 0: a date, or none */
    enum lapse_why why;     /* NONE: no term */
    struct lapse_end cap;   /* idle with a cap: no use moves the end past this */
    size_t session;         /* 1 + its place in sessions; 0: none */
};

/* A record that is kept of a key. */
struct lapse_tracked_record {
    enum lapse_record_kind kind;
    int64_t revision; /* 0: a marker that is still to be told */
    struct lapse_bytes value;
    struct lapse_end end; /* of a tombstone, a marker or a purge: its own */
    const struct lapse_history_event *by;
};

struct lapse_tracked_entry {
    const struct lapse_history_event *write;   /* APPLY of the set, create or update */
    const struct lapse_history_event *term;    /* APPLY that gave the present term */
    const struct lapse_history_event *renewal; /* APPLY of the last use that renewed it */
    int64_t revision;
    struct lapse_bytes value;
    struct lapse_end end;
    struct lapse_span span;         /* of the term; 0: a date, or none */
    enum lapse_why why;             /* NONE: no term */
    struct lapse_steady last;       /* idle: the last write or renewal */
    struct lapse_end end_unrenewed; /* idle: the end before the last renewal */
    struct lapse_steady last_unrenewed;
    struct lapse_end cap;
    size_t session;
    struct lapse_end end_kept; /* idle: of the last write or renewal that no crash can lose */
    struct lapse_steady last_kept;
    bool mark_open; /* its end may have been marked without anybody being told */
    bool term_open; /* which term it has hangs on what a crash has left */
    bool lossy; /* a crash may have lost renewals: the end is `end`, or as early as `end_kept` */
};

struct lapse_tracked_key {
    struct lapse_bytes name;
    bool present; /* an entry was written and not removed; its end may have passed */
    struct lapse_tracked_entry entry;              /* the last one, also after its removal */
    const struct lapse_history_event *removed;     /* APPLY of the delete or purge */
    const struct lapse_history_event *expired;     /* EMIT of its expired event */
    const struct lapse_history_event *found_ended; /* the first APPLY that saw its end passed */
    const struct lapse_history_event *told_absent; /* one that did not find it before its end */
    const struct lapse_history_event *refused;     /* the last refused call since the last write */
    const struct lapse_history_event *old_renewal; /* of an entry before the present one */
    bool owes_marker;                              /* `ended` was overwritten, its marker is due */
    struct lapse_tracked_entry ended;
    int64_t spent_revision; /* the last revision a conditional write used up */
    const struct lapse_history_event *spent;
    int32_t creator; /* buckets with locks: actor and incarnation; -1: nobody */
    int32_t creator_incarnation;
    const struct lapse_history_event *created; /* APPLY that made it the creator */
    size_t record_count, record_cap;
    struct lapse_tracked_record *records; /* oldest first; none: its rows are gone, or to go */
    int64_t records_from; /* which older ones there are hangs on what a crash has left */
    bool unsure; /* a crash may have lost its last changes: nothing is known */
    const struct lapse_history_event *maybe; /* a write without an answer, since a crash or a
                                                failed sync: done whole, or not at all */
    const struct lapse_command *maybe_command;
};

struct lapse_tracked_bucket {
    struct lapse_bytes name;
    struct lapse_bucket_config config;
    bool locks;
    size_t key_count, key_cap;
    struct lapse_tracked_key **keys; /* in byte order */
    size_t event_count, event_cap;
    const struct lapse_history_event **events; /* every EMIT, in order */
    size_t event_base; /* where its numbers began anew: a crash took all */
    int64_t revision; /* the highest seen in an accepted write or an event */
    const struct lapse_history_event *revision_by;
    int64_t event_revision;                       /* the last event's */
    const struct lapse_history_event *unnumbered; /* the last call since then that takes none */
    const struct lapse_history_event *listing;    /* the last list, all, count or watch from live */
    const struct lapse_history_event *marker;     /* the last expired event that the reaper wrote */
    struct lapse_tracked_entry marker_entry;
    bool unsure;                              /* a crash may have lost its last changes */
    bool renumbered;                          /* no event since a tenure began */
    const struct lapse_history_event *opened; /* APPLY of the open or alter that gave `config` */
    bool config_open;                         /* a crash may have lost that one */
};

enum lapse_tracked_state {
    LAPSE_TRACKED_NEVER = 0, /* no write was accepted */
    LAPSE_TRACKED_LIVE,
    LAPSE_TRACKED_ENDED,  /* its term has ended */
    LAPSE_TRACKED_REMOVED, /* deleted or purged */
    LAPSE_TRACKED_UNSURE   /* what a crash has left is not known yet */
};

/* ---- Sessions: one for each time that a name was opened. */
struct lapse_tracked_session {
    struct lapse_bytes name, owner;
    int64_t token;
    struct lapse_end end;
    struct lapse_span span;
    const struct lapse_history_event *opened; /* APPLY */
    const struct lapse_history_event *term;   /* APPLY that gave the present end */
    const struct lapse_history_event *closed;
    bool unsure;
};

/* ---- Calls by request id: the last that was accepted, or may have been, under each. */
struct lapse_tracked_once {
    struct lapse_bytes request;
    uint64_t digest; /* of the command */
    bool sure;       /* it changed something, so it must be remembered */
    const struct lapse_history_event *apply;
};

/* ---- Leases. */
struct lapse_tracked_grant {
    int64_t token;
    struct lapse_bytes owner;
    struct lapse_steady from;
    struct lapse_end end;
    struct lapse_span span;
    const struct lapse_history_event *granted;  /* APPLY of the acquire */
    const struct lapse_history_event *term;     /* APPLY that gave the present end */
    const struct lapse_history_event *released; /* APPLY of the release */
    bool ephemeral;
    size_t session;                         /* 1 + its place in sessions; 0: none */
    const struct lapse_history_event *lost; /* ephemeral: TENURE that began after its own */
};
struct lapse_tracked_lease {
    struct lapse_bytes name;
    int64_t token_highest;
    size_t grant_count, grant_cap;
    struct lapse_tracked_grant *grants; /* all, in order; the last is the present one */
    bool unsure; /* a crash may have lost its last changes, or kept one without an answer */
};

/* ---- Watches. `next` indexes the bucket's events: the first not yet delivered or passed over. */
struct lapse_tracked_watch {
    int64_t watcher;
    struct lapse_bytes bucket;
    struct lapse_bytes key; /* empty: the whole bucket */
    enum lapse_watch_from from;
    int64_t from_revision;                   /* lower numbers are not asked for */
    int64_t start_revision;                  /* of the bucket when the watch began */
    size_t start;                            /* events of the bucket when the watch began */
    const struct lapse_history_event *began; /* APPLY */
    const struct lapse_history_event *heard; /* REPLY that told its client of it */
    const struct lapse_history_event *ended; /* APPLY of the unwatch, or its client's crash */
    unsigned waits; /* what holds its client, a bit per enum lapse_fault_kind: events wait */
    bool cut;       /* no event reaches it: of those lost a gap will tell */
    struct lapse_true_time under_way; /* until then something is on its way to it */
    bool renumbered;                         /* a crash took all, and numbers began anew */
    size_t next;
    int64_t delivered; /* highest revision handed over; 0: none */
    const struct lapse_history_event *delivered_by;
};

/* ---- Beliefs: one for each client (one incarnation) and name. */
struct lapse_tracked_belief {
    int32_t actor, incarnation;
    bool key_lock;
    struct lapse_bytes bucket; /* key locks */
    struct lapse_bytes name;   /* lease name, or key */
    uint64_t hash;             /* of the name: a client may hold very many */
    int64_t token;
    const struct lapse_history_event *granted; /* REPLY of the grant */
    const struct lapse_history_event *success; /* REPLY of the last grant or renewal */
    bool has_deadline;                         /* careful clients, grants that end */
    struct lapse_steady deadline;              /* by the client's own steady clock */
    const struct lapse_history_event *ended;   /* NULL: it still believes */
    enum lapse_belief_why why;                 /* of the end */
    const struct lapse_history_event *denied;  /* REPLY of the last denial */
    int64_t denied_token;
    size_t loop_count, loop_cap;
    int32_t *loops; /* loops that have renewed it */
};

/* ---- Guarded resources. */
struct lapse_tracked_resource {
    int64_t write_count;
    struct lapse_bytes value;                /* of the last accepted write */
    const struct lapse_history_event *write; /* RESOURCE of the last accepted write */
    bool has_highest;
    int64_t highest;                              /* token applied */
    const struct lapse_history_event *highest_by; /* RESOURCE that applied it first */
};

/* ---- Nodes of a replicated store: who has led in each epoch, and what was applied at each place
 * of the log. Both by rising number; the first that told of it stands. */
struct lapse_tracked_role {
    int64_t number; /* the epoch, or the index */
    const struct lapse_history_event *by; /* ROLE */
};
struct lapse_tracked_roles {
    size_t epoch_count, epoch_cap;
    struct lapse_tracked_role *epochs;
    size_t index_count, index_cap;
    struct lapse_tracked_role *indexes;
    const struct lapse_history_event *leads;   /* ROLE of the last leader */
    const struct lapse_history_event *changed; /* the same, if another led before it */
};

/* ---- Loops of clients, by the setup's numbers. */
struct lapse_tracked_loop {
    bool blind;     /* a line of it sent nothing: the next call may lie amid a firing */
    int32_t part_n; /* that firing, whose beginning is not known */
    const struct lapse_history_event *starts[2]; /* INVOKEs that began its last firings, newest
                                                    first */
    bool held_up[2]; /* its actor stood still before that one: the firing may be older than it */
    bool woke;       /* its actor has stood still since its last INVOKE */
    const struct lapse_history_event *last;      /* its last INVOKE or REPLY */
    const struct lapse_history_event *refused;   /* REPLY that denied its last call, an acquire */
    struct lapse_bytes name;                     /* of that lease */
    int32_t in_flight;                           /* calls without a reply */
};

/* ---- The executable model beside the store (LIN-01): it takes each event in before the rules look
 * at it, so that what it foresaw can be compared. */
struct lapse_tracked_model {
    struct lapse_model *model; /* NULL: before BEGIN, or it does not speak for these policies */
    int64_t next;              /* the first event that it has not taken in */
    int64_t at;                /* the last event that it was asked about; -1 */
    bool agrees;               /* that event is as the model foresaw */
    struct lapse_model_difference odd; /* ... or differs in this */
    bool waits; /* the last decision differs in a number that its event tells: that is looked at by
                   rules that know more of it, and comes first */
    struct lapse_model_difference waiting;
    size_t calls_from;         /* all calls before this place have been decided */
    bool failed;               /* memory ran out */
};

/* ---- A fault that stands. One within another of its kind is the same fault. */
struct lapse_tracked_fault {
    enum lapse_fault_kind kind;
    enum lapse_disk_fault disk;
    bool over; /* DISK: it is well again, but the store may have shut itself */
    int32_t actor, node, task;
    struct lapse_party from, to; /* one way */
};

/* ---- One step of the wall clock's falling list of peaks: no later reading was above `wall`. */
struct lapse_tracked_peak {
    int64_t seq;
    int64_t wall_ns;
};

struct lapse_trackers {
    const lapse_alloc *alloc;
    const struct lapse_setup *setup; /* NULL before BEGIN */
    struct lapse_outside outside;
    const struct lapse_history_event *looked; /* what `looks` shows; NULL: nothing */
    size_t look_count, look_cap;
    struct lapse_look *looks; /* private to the rules */
    size_t call_count, call_cap;
    struct lapse_tracked_call *calls; /* by rising id */
    size_t calls_before; /* so many were sent before the last tenure began */
    size_t bucket_count, bucket_cap;
    struct lapse_tracked_bucket *buckets;
    size_t lease_count, lease_cap;
    struct lapse_tracked_lease *leases; /* in the order of their first grants */
    size_t lease_index_cap;
    uint32_t *lease_index; /* hash table of 1 + index in leases; 0: free */
    int64_t token_highest; /* over all names */
    size_t watch_count, watch_cap;
    struct lapse_tracked_watch *watches; /* by rising watcher */
    size_t belief_count, belief_cap;
    struct lapse_tracked_belief *beliefs;
    size_t resource_count;
    struct lapse_tracked_resource *resources; /* by the setup's numbers */
    struct lapse_tracked_roles roles;
    size_t peak_count, peak_cap;
    struct lapse_tracked_peak *peaks;
    /* APPLY of the accepted write whose event has not come yet: it must be the next event. */
    const struct lapse_history_event *open_write;
    size_t open_member; /* of a batch: which of its members */
    size_t session_count, session_cap;
    struct lapse_tracked_session *sessions; /* in the order of their opening */
    size_t once_count, once_cap;
    struct lapse_tracked_once *once;
    size_t loop_count;
    struct lapse_tracked_loop *loops;
    size_t faults_open, fault_cap;
    struct lapse_tracked_fault *faults;
    const struct lapse_history_event *fault; /* the last that began or ended, or moved a clock */
    struct lapse_span took;                  /* the longest round trip without a fault */
    int64_t coarse_ns; /* how far a reading of a client's clock may pass what a timer waits for */
    struct lapse_true_time seen_at; /* when the store last said what time it has ... */
    struct lapse_steady seen_store; /* ... and what it said */
    const struct lapse_history_event *seen; /* the event that said so; NULL: none yet */
    struct lapse_steady store_highest;      /* the highest store time seen */
    const struct lapse_history_event *highest_by;
    unsigned node_stops; /* a bit per enum lapse_fault_kind that holds a store node now; DISK: its
                            disk fails, or has, and the store has not shown since that it works */
    unsigned disk_faults; /* a bit per enum lapse_disk_fault by which its writes may fail now */
    bool node_paused;    /* any of them */
    struct lapse_steady node_stopped; /* store time as the last stop began, which no later move of a
                                         clock changes */
    bool node_crashed;                   /* since the last start */
    struct lapse_steady node_crashed_at;
    struct lapse_true_time node_woke;    /* the end of the last stop of a store node */
    bool node_was_paused;
    const struct lapse_history_event *slept;  /* FAULT_END of the last pause or suspend of a node */
    const struct lapse_history_event *tenure; /* the last TENURE */
    const struct lapse_history_event *rot;    /* FAULT_BEGIN: bits of a node's disk flipped */
    const struct lapse_history_event *machine_tenure; /* the last on another boot */
    bool leases_unsure;                       /* a crash may have lost leases, or sessions */
    size_t wall_move_count, wall_move_cap;
    const struct lapse_history_event **wall_moves; /* CLOCK of a node, all */
    int64_t rate_ppb; /* of the node's clocks, as their last CLOCK says */
    int64_t tick_ns;  /* of them, less 1 */
    struct lapse_true_time pace_at; /* when store time was last told, or the rate set ... */
    struct lapse_steady pace_store; /* ... and what it was then */
    struct lapse_tracked_model *lin; /* never NULL */
    bool dated;           /* a date was given: a read that reaches it may commit that */
    int64_t durable_seen; /* the highest durable point shown in this tenure */
    bool mark_known;      /* a commit that no renewal explains was shown in this tenure ... */
    struct lapse_steady mark_at; /* ... last at this store time */
};

/* ---- Looking things up. Each returns NULL when there is none. */
const struct lapse_tracked_call *lapse_tracked_call_find(const struct lapse_trackers *trackers,
                                                         int64_t id);
/* The request that an INVOKE, APPLY, EMIT or REPLY belongs to. */
const struct lapse_request *lapse_tracked_request(const struct lapse_trackers *trackers,
                                                  const struct lapse_history_event *event);
const struct lapse_tracked_bucket *lapse_tracked_bucket_find(const struct lapse_trackers *trackers,
                                                             struct lapse_bytes name);
const struct lapse_tracked_key *lapse_tracked_key_find(const struct lapse_tracked_bucket *bucket,
                                                       struct lapse_bytes name);
const struct lapse_tracked_lease *lapse_tracked_lease_find(const struct lapse_trackers *trackers,
                                                           struct lapse_bytes name);
const struct lapse_tracked_watch *lapse_tracked_watch_find(const struct lapse_trackers *trackers,
                                                           int64_t watcher);
/* The belief of one client in the name that `grant` gives. */
const struct lapse_tracked_belief *lapse_tracked_belief_find(const struct lapse_trackers *trackers,
                                                             int32_t actor, int32_t incarnation,
                                                             const struct lapse_grant_ref *grant);
/* The belief of one client in the lease or lock that a request is about. */
const struct lapse_tracked_belief *lapse_tracked_belief_about(const struct lapse_trackers *trackers,
                                                              int32_t actor, int32_t incarnation,
                                                              const struct lapse_request *request);

/* What stands under a key (NULL: never written) for a command decided at these readings. A date
 * that any command since its write has reached stays reached. */
enum lapse_tracked_state lapse_tracked_key_state(const struct lapse_trackers *trackers,
                                                 const struct lapse_tracked_key *key,
                                                 struct lapse_steady at, struct lapse_wall wall);
/* The grant of a lease (NULL is allowed) that is live at `at`, or NULL. */
const struct lapse_tracked_grant *lapse_tracked_grant_live(const struct lapse_tracked_lease *lease,
                                                           struct lapse_steady at);
/* The present grant, live or not. */
const struct lapse_tracked_grant *lapse_tracked_grant_last(const struct lapse_tracked_lease *lease);
/* Whether a use at `at` moves the end of an idle entry. */
bool lapse_tracked_entry_renews(const struct lapse_tracked_entry *entry, struct lapse_steady at);
/* The first event of a watch not yet delivered, or NULL; *ret_index is its place. */
const struct lapse_history_event *lapse_tracked_watch_next(const struct lapse_trackers *trackers,
                                                           const struct lapse_tracked_watch *watch,
                                                           size_t *ret_index);
/* The event of this revision, if the watch may still be handed it: one that it is owed, or any of
 * those before a watch from a revision began. */
const struct lapse_history_event *
lapse_tracked_watch_event(const struct lapse_trackers *trackers,
                          const struct lapse_tracked_watch *watch, int64_t revision);
/* Whether a request renews the grant that it is about: extend, or a write of a key that is a lock
 * (which `belief` says). */
bool lapse_tracked_request_renews(const struct lapse_request *request);
/* How far a node's raw clock within its bound may be off after so long, its tick included. */
int64_t lapse_tracked_drift(const struct lapse_trackers *trackers, int64_t elapsed_ns);
/* The least, and the most, that store time is at a true time, as far as answers tell: the store's
 * clock is taken to run as it was last said to. */
struct lapse_steady lapse_tracked_store_time(const struct lapse_trackers *trackers,
                                             struct lapse_true_time at);
struct lapse_steady lapse_tracked_store_most(const struct lapse_trackers *trackers,
                                             struct lapse_true_time at);
/* The same, as if no call were without an answer and no crash had lost a thing. */
enum lapse_tracked_state lapse_tracked_key_known(const struct lapse_trackers *trackers,
                                                 const struct lapse_tracked_key *key,
                                                 struct lapse_steady at, struct lapse_wall wall);
/* The term that an accepted write, expire or persist of a key (NULL: never written) must leave. */
void lapse_tracked_term_of(const struct lapse_trackers *trackers,
                           const struct lapse_tracked_bucket *bucket,
                           const struct lapse_tracked_key *key, const struct lapse_command *command,
                           const struct lapse_answer *answer, struct lapse_tracked_term *ret);
/* The end that a use at `at` gives an idle entry. */
struct lapse_end lapse_tracked_entry_renewed(const struct lapse_tracked_entry *entry,
                                             struct lapse_steady at);
/* The newest session of a name, or NULL; whether it lives at `at`. */
const struct lapse_tracked_session *lapse_tracked_session_find(
    const struct lapse_trackers *trackers, struct lapse_bytes name);
bool lapse_tracked_session_live(const struct lapse_tracked_session *session,
                                struct lapse_steady at);
/* How far the wall clock of a store node has been moved by hand since an event. */
int64_t lapse_tracked_wall_moved(const struct lapse_trackers *trackers,
                                 const struct lapse_history_event *since);
/* Since when nobody has held the lease; false: somebody does at `at`, or that is not known. */
bool lapse_tracked_free_since(const struct lapse_trackers *trackers, struct lapse_bytes name,
                              struct lapse_true_time at, struct lapse_true_time *ret);
/* What was accepted under a request id and is still remembered at `at`, or NULL. */
const struct lapse_tracked_once *lapse_tracked_once_find(const struct lapse_trackers *trackers,
                                                         struct lapse_bytes request,
                                                         struct lapse_steady at);

#endif
