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

#include "contracts/rule.h"

/* ---- Calls: what was asked, decided and answered under one id. Kept after the reply, because a
 * paused store decides a call after its client has given up. */
struct lapse_tracked_call {
    int64_t id;
    const struct lapse_history_event *invoke;
    const struct lapse_history_event *apply;
    bool lock_granted; /* the write made its client the creator of a lock made of a key */
};

/* ---- Keys. */
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
};

struct lapse_tracked_key {
    struct lapse_bytes name;
    bool present; /* an entry was written and not removed; its end may have passed */
    struct lapse_tracked_entry entry;              /* the last one, also after its removal */
    const struct lapse_history_event *removed;     /* APPLY of the delete or purge */
    const struct lapse_history_event *expired;     /* EMIT of its expired event */
    const struct lapse_history_event *found_ended; /* the first APPLY that saw its end passed */
    const struct lapse_history_event *refused;     /* the last refused call since the last write */
    const struct lapse_history_event *old_renewal; /* of an entry before the present one */
    bool owes_marker;                              /* `ended` was overwritten, its marker is due */
    struct lapse_tracked_entry ended;
    int64_t spent_revision; /* the last revision a conditional write used up */
    const struct lapse_history_event *spent;
    int32_t creator; /* buckets with locks: actor and incarnation; -1: nobody */
    int32_t creator_incarnation;
    const struct lapse_history_event *created; /* APPLY that made it the creator */
};

struct lapse_tracked_bucket {
    struct lapse_bytes name;
    struct lapse_bucket_config config;
    bool locks;
    size_t key_count, key_cap;
    struct lapse_tracked_key **keys; /* in byte order */
    size_t event_count, event_cap;
    const struct lapse_history_event **events; /* every EMIT, in order */
    int64_t revision; /* the highest seen in an accepted write or an event */
    const struct lapse_history_event *revision_by;
    int64_t event_revision;                       /* the last event's */
    const struct lapse_history_event *unnumbered; /* the last call since then that takes none */
    const struct lapse_history_event *listing;    /* the last list, all, count or watch from live */
    const struct lapse_history_event *marker;     /* the last expired event that the reaper wrote */
    struct lapse_tracked_entry marker_entry;
};

enum lapse_tracked_state {
    LAPSE_TRACKED_NEVER = 0, /* no write was accepted */
    LAPSE_TRACKED_LIVE,
    LAPSE_TRACKED_ENDED,  /* its term has ended */
    LAPSE_TRACKED_REMOVED /* deleted or purged */
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
};
struct lapse_tracked_lease {
    struct lapse_bytes name;
    int64_t token_highest;
    size_t grant_count, grant_cap;
    struct lapse_tracked_grant *grants; /* all, in order; the last is the present one */
};

/* ---- Watches. `next` indexes the bucket's events: the first not yet delivered or passed over. */
struct lapse_tracked_watch {
    int64_t watcher;
    struct lapse_bytes bucket;
    struct lapse_bytes key; /* empty: the whole bucket */
    enum lapse_watch_from from;
    int64_t start_revision;                  /* of the bucket when the watch began */
    const struct lapse_history_event *began; /* APPLY */
    const struct lapse_history_event *heard; /* REPLY that told its client of it */
    const struct lapse_history_event *ended; /* APPLY of the unwatch, or its client's crash */
    bool waits;                              /* its client is paused: events wait for it */
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

/* ---- One step of the wall clock's falling list of peaks: no later reading was above `wall`. */
struct lapse_tracked_peak {
    int64_t seq;
    int64_t wall_ns;
};

struct lapse_trackers {
    const lapse_alloc *alloc;
    const struct lapse_setup *setup; /* NULL before BEGIN */
    size_t call_count, call_cap;
    struct lapse_tracked_call *calls; /* by rising id */
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
    size_t peak_count, peak_cap;
    struct lapse_tracked_peak *peaks;
    /* APPLY of the accepted write whose event has not come yet: it must be the next event. */
    const struct lapse_history_event *open_write;
    struct lapse_true_time seen_at; /* when the store last said what time it has ... */
    struct lapse_steady seen_store; /* ... and what it said */
    bool node_paused;
    struct lapse_true_time node_woke; /* the end of the last pause of a store node */
    bool node_was_paused;
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
/* Whether a request renews the grant that it is about: extend, or a write of a key that is a lock
 * (which `belief` says). */
bool lapse_tracked_request_renews(const struct lapse_request *request);
/* Store time at a true time, as far as answers tell: the store's clock is taken to keep pace. */
struct lapse_steady lapse_tracked_store_time(const struct lapse_trackers *trackers,
                                             struct lapse_true_time at);
/* The term that an accepted write, expire or persist must have left: its end (for a decision with
 * these readings), span and kind. */
void lapse_tracked_term_of(const struct lapse_bucket_config *config,
                           const struct lapse_command *command, const struct lapse_answer *answer,
                           struct lapse_end *ret_end, struct lapse_span *ret_span,
                           enum lapse_why *ret_why);

#endif
