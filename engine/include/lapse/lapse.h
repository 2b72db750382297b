/* liblapse: keys that expire, leases and fencing tokens, exact to the nanosecond.
 *
 * One opaque handle. Clock, storage and allocator are handed in; the core does no I/O, reads no
 * clock of its own and has no global state. Expiry is a comparison made by every call, so answers
 * are right even if lapse_step is never called; lapse_step only cleans up and writes markers.
 *
 * Time. Store time is state: it begins at 0 and goes on from the last mark by the raw clock (same
 * boot) or by the wall clock (another boot), and never goes back. Spans run on store time, dates on
 * the wall clock. An entry with end e is live at t iff t < e.
 *
 * Ownership. Arguments are borrowed for the call. Results live in the caller's lapse_result.
 * Threads. A handle may be shared by threads: a mutex of its own is held for each call that takes
 * it, from before the clock is read, so calls have one order and it is that of their instants.
 * With `unlocked` there is none, and one thread at a time uses the handle. Open and close are for
 * one thread: no other may be in a call then. Clock, journal and a walk's visitor are called with
 * the mutex held and must not call the handle. A result and an error belong to one thread. What
 * lapse_preceding tells borrows from the store, so whoever asks for it keeps other threads out
 * until it has been carried out. Different handles are independent, but for an allocator that they
 * share: it must be one that threads may share.
 * Faults. A negative status leaves the state as it was before the call (lapse_check still holds),
 * save that log commands which preceded it stay carried out: they change no answer.
 */
#ifndef LAPSE_LAPSE_H
#define LAPSE_LAPSE_H

#include "lapse/clock.h"
#include "lapse/command.h"
#include "lapse/journal.h"
#include "lapse/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Not LAPSE_VERSION: that is a status. */
#define LAPSE_VERSION_TEXT "0.1.0"

struct lapse;

struct lapse_options {
    const lapse_alloc *alloc;     /* borrowed until close; NULL: the C library's */
    lapse_clock clock;            /* copied; its ctx is borrowed until close; read must be set */
    lapse_journal journal;        /* copied; all NULL: the memory store */
    enum lapse_sync sync;
    size_t watch_events_max;      /* ring of events a bucket keeps for watchers; 0: 1024 */
    bool unlocked;                /* no mutex: one thread at a time uses the handle */
    bool restored;                /* the journal holds an older copy of a store that has gone on
                                     since: revisions and tokens move up by 2^40 before anything is
                                     given, and for the longest span that the copy knows, counted
                                     from the open, lapse_step removes nothing that has ended and
                                     writes no marker. Each open with it moves them again. A bucket
                                     that is made later begins above them too */
    int64_t restored_above;       /* with `restored`: no revision and no token of the store that is
                                     lost lies above this, which lapse_numbers_highest told of it:
                                     they move up from here, or from the copy's own where those are
                                     higher. 0: not known. What the lost store has given is then
                                     surely passed only if it was not itself made from the same
                                     copy in this way: both begin at the same numbers */
    struct lapse_policies policies; /* all 0: strict. A store keeps those it was first opened with;
                                       others are INVALID */
};

/* Opens a store (a fresh one on the memory store). Writes *ret on OK.
 * When it fails the journal stays the caller's to close.
 * Returns OK, NOMEM, INVALID (no clock, half a journal), IO, CORRUPT, LOCKED, VERSION, RANGE. */
enum lapse_status lapse_open(const struct lapse_options *options, struct lapse **ret,
                             struct lapse_error *err);
/* Closes the journal and the store; NULL is allowed. */
void lapse_close(struct lapse *store);

/* Carries out any command. Returns result->status; every answer and fault of the typed calls below.
 * On a fault nothing in *result but status, verb and the times is filled. */
enum lapse_status lapse_apply(struct lapse *store, const struct lapse_command *command,
                              struct lapse_result *result, struct lapse_error *err);

/* The log command that lapse_apply would carry out of itself before `command`, at the same instant:
 * a FLUSH that makes a renewal durable, or a MARK: of the wall reading which the answer is the
 * first to show a date ended by; of an instant or an ephemeral token above its ceiling; of a wall
 * that has parted from store time by 100 ms; of the tokens given to ephemeral leases, before a
 * persistent grant. OK: it is in *ret, which borrows from the store
 * until the next command. ABSENT: there is none. For who keeps a log of commands: carry out and log
 * what this gives until it is ABSENT, then the command itself, all at one reading of the clock.
 * Changes nothing. Also INVALID, IO, RANGE, UNAVAILABLE as the command itself would. */
enum lapse_status lapse_preceding(struct lapse *store, const struct lapse_command *command,
                                  struct lapse_command *ret, struct lapse_error *err);

/* The class of `command` by what is live now. An extend, a release, a persistent acquire, and a
 * batch with one of these, look like log commands; where an ephemeral lease is live under the name,
 * this tenure alone answers, so they are LOCAL and have no place in a log. For who keeps a log: ask
 * this at the reading at which the command is carried out, and log what is LOG. Changes nothing.
 * OK; also INVALID, IO, RANGE, UNAVAILABLE as the command itself would. */
enum lapse_status lapse_resolve_class(struct lapse *store, const struct lapse_command *command,
                                      enum lapse_class *ret, struct lapse_error *err);

/* When housekeeping is next due. Either may be absent (has_* false). */
struct lapse_due {
    bool has_steady;
    struct lapse_steady steady; /* store time */
    bool has_wall;
    struct lapse_wall wall;     /* a date: due at the first wall reading at or past it */
};

/* Housekeeping: flushes deferred renewals that are due, then reaps at most rows_max ended rows,
 * writing markers where a bucket has them, in (end, revision) order. Changes no answer but the
 * numbers of later revisions (REAP-01). `result` (may be NULL) gets the events written and
 * item_count, the rows removed. Its work is O(rows_max), whatever the number of rows: where many
 * are still to be put in the order of their ends it takes fewer, or none, and goes on at the next
 * call. *ret_due (may be NULL) says when to call again; "now" if more is due or is being put in
 * order. With a journal it also writes a mark when one is due.
 * Returns OK, INVALID (rows_max is 0), NOMEM, IO, RANGE, UNAVAILABLE, UNKNOWN. */
enum lapse_status lapse_step(struct lapse *store, size_t rows_max, struct lapse_result *result,
                             struct lapse_due *ret_due, struct lapse_error *err);

/* When housekeeping is next due, without doing any. It may be before the earliest end where many
 * rows end at about one time; a step then finds out more, and takes nothing too early. */
void lapse_next_due(const struct lapse *store, struct lapse_due *ret_due);

/* ---- Typed calls. Each builds one command; see the table at struct lapse_result for the fields.
 * Beside the answers named, every call can return NOMEM, INVALID (an argument past a limit, an
 * unknown bucket, a span <= 0), RANGE, IO, UNAVAILABLE, UNKNOWN. */

/* Declares a bucket. OK also if it exists with the same words; INVALID if with others, or if it is
 * given ttl and idle at once (KV-02). */
enum lapse_status lapse_bucket_open(struct lapse *store, struct lapse_bytes bucket,
                                    const struct lapse_bucket_config *config,
                                    struct lapse_result *result, struct lapse_error *err);
/* Writes. A plain set starts a fresh term (KV-07). term NULL: the bucket's default (KV-02).
 * if_version NULL: unconditional. OK or CONFLICT (CAS-01). */
enum lapse_status lapse_set(struct lapse *store, struct lapse_bytes bucket, struct lapse_bytes key,
                            struct lapse_bytes value, const struct lapse_term *term,
                            const int64_t *if_version, struct lapse_result *result,
                            struct lapse_error *err);
/* Writes iff nothing live is there (CAS-03). OK or EXISTS. */
enum lapse_status lapse_create(struct lapse *store, struct lapse_bytes bucket,
                               struct lapse_bytes key, struct lapse_bytes value,
                               const struct lapse_term *term, struct lapse_result *result,
                               struct lapse_error *err);
/* Writes iff the live entry has this revision (CAS-01). OK or CONFLICT. */
enum lapse_status lapse_update(struct lapse *store, struct lapse_bytes bucket,
                               struct lapse_bytes key, struct lapse_bytes value, int64_t if_version,
                               const struct lapse_term *term, struct lapse_result *result,
                               struct lapse_error *err);
/* Reads; renew an idle term (KV-08). OK or ABSENT (KV-03). */
enum lapse_status lapse_get(struct lapse *store, struct lapse_bytes bucket, struct lapse_bytes key,
                            struct lapse_result *result, struct lapse_error *err);
enum lapse_status lapse_entry(struct lapse *store, struct lapse_bytes bucket,
                              struct lapse_bytes key, struct lapse_result *result,
                              struct lapse_error *err);
enum lapse_status lapse_has(struct lapse *store, struct lapse_bytes bucket, struct lapse_bytes key,
                            struct lapse_result *result, struct lapse_error *err);
/* The same without renewing (KV-08). */
enum lapse_status lapse_peek(struct lapse *store, struct lapse_bytes bucket, struct lapse_bytes key,
                             struct lapse_result *result, struct lapse_error *err);
/* The value record of `revision` of a live key; renews nothing. OK or ABSENT. */
enum lapse_status lapse_get_revision(struct lapse *store, struct lapse_bytes bucket,
                                     struct lapse_bytes key, int64_t revision,
                                     struct lapse_result *result, struct lapse_error *err);
/* The retained records of a live key, oldest first; renews nothing. OK or ABSENT. */
enum lapse_status lapse_history(struct lapse *store, struct lapse_bytes bucket,
                                struct lapse_bytes key, struct lapse_result *result,
                                struct lapse_error *err);
/* Removes. OK, ABSENT, CONFLICT. purge drops the key's history too. */
enum lapse_status lapse_delete(struct lapse *store, struct lapse_bytes bucket,
                               struct lapse_bytes key, const int64_t *if_version,
                               struct lapse_result *result, struct lapse_error *err);
enum lapse_status lapse_purge(struct lapse *store, struct lapse_bytes bucket,
                              struct lapse_bytes key, const int64_t *if_version,
                              struct lapse_result *result, struct lapse_error *err);
/* Changes the term only; value and revision stay (KV-06). OK, ABSENT, CONFLICT. */
enum lapse_status lapse_expire(struct lapse *store, struct lapse_bytes bucket,
                               struct lapse_bytes key, const struct lapse_term *term,
                               const int64_t *if_version, struct lapse_result *result,
                               struct lapse_error *err);
enum lapse_status lapse_persist(struct lapse *store, struct lapse_bytes bucket,
                                struct lapse_bytes key, const int64_t *if_version,
                                struct lapse_result *result, struct lapse_error *err);
/* Live keys in byte order; renew nothing (KV-03, KV-08, KV-11). */
enum lapse_status lapse_list(struct lapse *store, struct lapse_bytes bucket,
                             struct lapse_result *result, struct lapse_error *err);
enum lapse_status lapse_all(struct lapse *store, struct lapse_bytes bucket,
                            struct lapse_result *result, struct lapse_error *err);
enum lapse_status lapse_count(struct lapse *store, struct lapse_bytes bucket,
                              struct lapse_result *result, struct lapse_error *err);
/* One page of lapse_list, or with `values` of lapse_all: at most `limit` live keys above `after`
 * (NULL: from the first). result->more says whether to ask again after the last key. A key that is
 * live throughout appears once (KV-11). */
enum lapse_status lapse_page(struct lapse *store, struct lapse_bytes bucket,
                             const struct lapse_bytes *after, size_t limit, bool values,
                             struct lapse_result *result, struct lapse_error *err);
/* Gives a bucket other words; terms already given stay. OK; INVALID as lapse_bucket_open. */
enum lapse_status lapse_bucket_alter(struct lapse *store, struct lapse_bytes bucket,
                                     const struct lapse_bucket_config *config,
                                     struct lapse_result *result, struct lapse_error *err);
/* Carries out `count` writes at one instant, or none. OK, or CONFLICT: the last of result->answers
 * is the one that was refused. */
enum lapse_status lapse_batch(struct lapse *store, const struct lapse_command *commands,
                              size_t count, struct lapse_result *result, struct lapse_error *err);
/* Sessions: a term that entries and leases share. What is written with one ends with it, at that
 * instant, and shows its end as its own; any client may write with any session. Another term takes
 * a row off its session: a set, expire or persist of a key, an extend of a lease. An ended session
 * is never revived: opening its name again makes another, with a number of its own. OK (renewed: it
 * was open already and is unchanged) or HELD. */
enum lapse_status lapse_session_open(struct lapse *store, struct lapse_bytes name,
                                     struct lapse_bytes owner, struct lapse_span span,
                                     struct lapse_result *result, struct lapse_error *err);
/* The end becomes now + span, for all that hangs on the session at once; it may shorten. span 0:
 * the one it has. OK or LOST. */
enum lapse_status lapse_session_keepalive(struct lapse *store, struct lapse_bytes name,
                                          struct lapse_bytes owner, struct lapse_span span,
                                          struct lapse_result *result, struct lapse_error *err);
/* Ends it, and what was written with it, at this instant. OK or LOST. */
enum lapse_status lapse_session_close(struct lapse *store, struct lapse_bytes name,
                                      struct lapse_bytes owner, struct lapse_result *result,
                                      struct lapse_error *err);
/* Leases. Names are free text, apart from keys. OK or HELD (LEASE-03, LEASE-08). */
enum lapse_status lapse_acquire(struct lapse *store, struct lapse_bytes name,
                                struct lapse_bytes owner, struct lapse_span span,
                                struct lapse_result *result, struct lapse_error *err);
/* The same for a lease of one tenure: it ends with this handle (LEASE-01, DUR-05). One name space
 * holds both: a name held either way is held. Its token lies above all given before, by this handle
 * or an earlier one (FENCE-01). */
enum lapse_status lapse_acquire_ephemeral(struct lapse *store, struct lapse_bytes name,
                                          struct lapse_bytes owner, struct lapse_span span,
                                          struct lapse_result *result, struct lapse_error *err);
/* The same for a lease that ends with a session, be it opened by the same owner or not. Also LOST:
 * the session is not live. */
enum lapse_status lapse_acquire_session(struct lapse *store, struct lapse_bytes name,
                                        struct lapse_bytes owner, struct lapse_bytes session,
                                        struct lapse_result *result, struct lapse_error *err);
/* token NULL: the owner names the grant. A lease that was acquired with a session leaves it: its
 * end is now + span, whatever becomes of the session; to prolong both, keep the session alive. OK,
 * LOST, NOT_OWNER (LEASE-06, LEASE-07). */
enum lapse_status lapse_extend(struct lapse *store, struct lapse_bytes name,
                               struct lapse_bytes owner, struct lapse_span span,
                               const int64_t *token, struct lapse_result *result,
                               struct lapse_error *err);
/* OK, ABSENT, NOT_OWNER (LEASE-05, LEASE-09). */
enum lapse_status lapse_release(struct lapse *store, struct lapse_bytes name,
                                struct lapse_bytes owner, const int64_t *token,
                                struct lapse_result *result, struct lapse_error *err);
/* OK or ABSENT. */
enum lapse_status lapse_inspect(struct lapse *store, struct lapse_bytes name,
                                struct lapse_result *result, struct lapse_error *err);
/* Watches a bucket, or one key of it (key empty: all). result->watcher names it. A watch is
 * pulled: poll gives what has come since, in revision order, once, or a gap (WATCH-01). */
enum lapse_status lapse_watch(struct lapse *store, struct lapse_bytes bucket,
                              struct lapse_bytes key, enum lapse_watch_from from,
                              struct lapse_result *result, struct lapse_error *err);
/* Watches from `revision` > 0 on: at least the last event >= revision of each key that has one, or
 * a gap first (WATCH-06). */
enum lapse_status lapse_watch_revision(struct lapse *store, struct lapse_bytes bucket,
                                       struct lapse_bytes key, int64_t revision,
                                       struct lapse_result *result, struct lapse_error *err);
enum lapse_status lapse_poll(struct lapse *store, int64_t watcher, size_t events_max,
                             struct lapse_result *result, struct lapse_error *err);
enum lapse_status lapse_unwatch(struct lapse *store, int64_t watcher, struct lapse_result *result,
                                struct lapse_error *err);

/* ---- The state as a whole. */

/* Visits every row in a fixed order: mark, peaks, counters, sessions, buckets, records, leases,
 * requests, each by byte order of their keys, then by revision; rows of the durable part, then of
 * the tenure. */
enum lapse_status lapse_walk(const struct lapse *store, lapse_row_visit visit, void *ctx,
                             struct lapse_error *err);
/* The greatest revision or token that the store has given, or may have shown: for `restored_above`
 * of who will put an older copy in its place. */
enum lapse_status lapse_numbers_highest(const struct lapse *store, int64_t *ret,
                                        struct lapse_error *err);
/* Digest of the stored state of one part: all that the walk shows of it but the marks (the last
 * commit's and the last command's time and number), so it does not depend on `now`.
 * OK or NOMEM. */
enum lapse_status lapse_digest(const struct lapse *store, enum lapse_part part,
                               uint64_t *ret_digest);
/* Walks all invariants: indexes, heap order, row against table. OK, or BUG with a sentence. */
enum lapse_status lapse_check(const struct lapse *store, struct lapse_error *err);
/* A handle without journal that has the same state and answers alike, watchers left out; loaded
 * from a walk through the recovery path. `clock` is its own clock (copied), which should read what
 * the original's reads. `alloc` NULL: the original's. */
enum lapse_status lapse_fork(const struct lapse *store, const lapse_alloc *alloc, lapse_clock clock,
                             struct lapse **ret, struct lapse_error *err);
/* The store time last seen by a command; reads no clock. */
struct lapse_steady lapse_store_time(const struct lapse *store);

#ifdef __cplusplus
}
#endif
#endif
