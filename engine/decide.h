/* Private: the one place where policies are asked for (lapse/policy.h).
 *
 * Where systems differ, the engine asks a question of this file, and asks for a policy, never for a
 * profile. 0 is strict's value of each, so a strict store pays a comparison that is always false.
 * What is asked on every call is inline. */
#ifndef ENGINE_DECIDE_H
#define ENGINE_DECIDE_H

#include "mark.h"

/* The values of the policies, in the order of their words. */
enum {
    LAPSE_RESOLUTION_MS = 1,
    LAPSE_RESOLUTION_S = 2,
    LAPSE_PLAIN_SET_KEEP = 1,
    LAPSE_PLAIN_SET_CALL = 2,
    LAPSE_ZERO_SPAN_ENDED = 1,
    LAPSE_ZERO_SPAN_NEVER = 2,
    LAPSE_OVERFLOW_ENDED = 1,
    LAPSE_OVERFLOW_SATURATE = 2,
    LAPSE_OWN_TERM_REFUSED = 1,
    LAPSE_OWN_TERM_IGNORED = 2,
    LAPSE_REVISION_RECORDS = 1,
    LAPSE_REVISION_STORE = 2,
    LAPSE_REVISION_KEY = 3,
    LAPSE_IF_VERSION_LAST = 1,
    LAPSE_IF_VERSION_REMEMBERED = 2,
    LAPSE_TOKEN_NAME = 1,
    LAPSE_TOKEN_WRITE = 2,
    LAPSE_RELEASE_ENDED_RELEASED = 1,
    LAPSE_RELEASE_ENDED_CONFLICT = 2,
    LAPSE_DELETE_ENDED_TOMBSTONE = 1,
    LAPSE_DELETE_ENDED_DELETED = 2,
    LAPSE_WALL_BACK_MOVES = 1,
    LAPSE_WALL_BACK_FROZEN = 2
};

static inline unsigned lapse_policy(const struct lapse_state *state, enum lapse_policy policy) {
    return state->policies.value[policy];
}

/* ---- Time. */

/* The instant of a command, as ends are compared with it: at the store's resolution. */
struct lapse_now lapse_decide_now_by_policy(const struct lapse_state *state,
                                            struct lapse_steady store, struct lapse_wall wall,
                                            int64_t log_seq);
static inline struct lapse_now lapse_decide_now(const struct lapse_state *state,
                                                struct lapse_steady store, struct lapse_wall wall,
                                                int64_t log_seq) {
    if (!state->strict) {
        return lapse_decide_now_by_policy(state, store, wall, log_seq);
    }
    return (struct lapse_now){.store = store,
                              .wall = wall,
                              .log_seq = log_seq,
                              .due_keys_ns = store.ns,
                              .due_ns = store.ns,
                              .due_wall_ns = wall.ns};
}
/* The wall reading at or below which dates have come, when the clock shows `wall`. */
int64_t lapse_decide_wall_due(const struct lapse_state *state, struct lapse_wall wall);
/* Whether a REAP at `now` takes anything; it then does so at lapse_decide_sweep's instant. */
bool lapse_decide_sweeps(const struct lapse_state *state, const struct lapse_now *now);
struct lapse_now lapse_decide_sweep(const struct lapse_now *now);
/* Whether sweeps lie apart, so that the store keeps when the last one was. */
bool lapse_decide_notes_sweeps(const struct lapse_state *state);
/* Whether the ends of keys are seen by a REAP alone. */
bool lapse_decide_sees_late(const struct lapse_state *state);
/* The first reading, of store time or of the wall, at which an end has come; and the first store
 * time at which the reaper then takes its row. */
int64_t lapse_decide_come_at(const struct lapse_state *state, int64_t end_ns);
int64_t lapse_decide_reap_at(const struct lapse_state *state, int64_t end_ns);
/* Store time and reading that follow `from` when the clock shows `reading`; M1 to M4 of mark.c.
 * False past the range. */
bool lapse_decide_advance_by_policy(const struct lapse_state *state, const struct lapse_mark *from,
                                    const struct lapse_reading *reading, struct lapse_mark *ret);
static inline bool lapse_decide_advance(const struct lapse_state *state,
                                        const struct lapse_mark *from,
                                        const struct lapse_reading *reading,
                                        struct lapse_mark *ret) {
    return state->strict ? lapse_mark_advance(from, reading, ret)
                         : lapse_decide_advance_by_policy(state, from, reading, ret);
}
/* Whether an open at `reading` knows the time without the ceiling. */
bool lapse_decide_time_known(const struct lapse_state *state, const struct lapse_reading *reading);
/* Whether store time may go back, so that rows may have been written after the mark. */
bool lapse_decide_time_returns(const struct lapse_state *state);

/* ---- Terms. Each works on what a call or a bucket gives. */

/* Cuts a span to the resolution; `own`: a key's own ttl. INVALID if nothing is left. */
enum lapse_status lapse_decide_span(const struct lapse_state *state, bool own,
                                    struct lapse_span *span, struct lapse_error *err);
/* A date at the resolution. */
struct lapse_wall lapse_decide_date(const struct lapse_state *state, struct lapse_wall date);
/* The term that a write of a key has of its own: as given, or none where the bucket allows none.
 * INVALID: it is refused. */
enum lapse_status lapse_decide_own_term_by_policy(const struct lapse_state *state,
                                                  const struct lapse_bucket *bucket,
                                                  const struct lapse_term *given,
                                                  const struct lapse_term **ret,
                                                  struct lapse_error *err);
static inline enum lapse_status lapse_decide_own_term(const struct lapse_state *state,
                                                      const struct lapse_bucket *bucket,
                                                      const struct lapse_term *given,
                                                      const struct lapse_term **ret,
                                                      struct lapse_error *err) {
    if (state->strict) {
        *ret = given;
        return LAPSE_OK;
    }
    return lapse_decide_own_term_by_policy(state, bucket, given, ret, err);
}
/* The default that a write without a term of its own falls back to. */
const struct lapse_term *lapse_decide_default_by_policy(const struct lapse_state *state,
                                                        const struct lapse_bucket *bucket);
static inline const struct lapse_term *lapse_decide_default(const struct lapse_state *state,
                                                            const struct lapse_bucket *bucket) {
    return state->strict ? &bucket->config.term : lapse_decide_default_by_policy(state, bucket);
}
/* Whether a write without a term of its own keeps a live key's end. */
bool lapse_decide_keeps_end_by_policy(const struct lapse_state *state,
                                      const struct lapse_bucket *bucket,
                                      const struct lapse_term *own);
static inline bool lapse_decide_keeps_end(const struct lapse_state *state,
                                          const struct lapse_bucket *bucket,
                                          const struct lapse_term *own) {
    return own->given == LAPSE_TERM_KEEP ||
           (!state->strict && lapse_decide_keeps_end_by_policy(state, bucket, own));
}
/* Brings the end of a key's own ttl into its bucket's bounds: the bucket's ttl is the most, and
 * where older records are kept the markers' span the least. */
void lapse_decide_bounds_by_policy(const struct lapse_state *state,
                                   const struct lapse_bucket *bucket, const struct lapse_now *now,
                                   struct lapse_image *image);
static inline void lapse_decide_bounds(const struct lapse_state *state,
                                       const struct lapse_bucket *bucket,
                                       const struct lapse_now *now, struct lapse_image *image) {
    if (!state->strict) {
        lapse_decide_bounds_by_policy(state, bucket, now, image);
    }
}
/* Completes the own term of a key in an idle bucket: where reads lose it, they renew it by the
 * bucket's span. */
void lapse_decide_idle_own_by_policy(const struct lapse_state *state,
                                     const struct lapse_bucket *bucket,
                                     const struct lapse_now *now, struct lapse_image *image);
static inline void lapse_decide_idle_own(const struct lapse_state *state,
                                         const struct lapse_bucket *bucket,
                                         const struct lapse_now *now, struct lapse_image *image) {
    if (!state->strict) {
        lapse_decide_idle_own_by_policy(state, bucket, now, image);
    }
}
/* OK, or INVALID: no bucket of this store has such words. */
enum lapse_status lapse_decide_words(const struct lapse_state *state,
                                     const struct lapse_bucket_config *config,
                                     struct lapse_error *err);

/* ---- Revisions and records. */

/* Whether older records of a key live on by themselves under a newer one. */
static inline bool lapse_decide_older_lives(const struct lapse_state *state) {
    return lapse_policy(state, LAPSE_POLICY_OLDER) != 0;
}
/* The first revision that a key may have; the same of a bucket's keys. */
int64_t lapse_decide_first_revision(const struct lapse_state *state);
static inline int64_t lapse_decide_first_of(const struct lapse_state *state,
                                            const struct lapse_bucket *bucket) {
    int64_t first = lapse_decide_first_revision(state);
    return first == 0 ? first : bucket->config.first_revision;
}
/* Whether a tombstone, purge or marker of `revision` may tell of an entry of `old_revision`. */
bool lapse_decide_tells(const struct lapse_state *state, int64_t revision, int64_t old_revision);
/* Whether revisions are numbers of the bucket, so that one names one event of it. */
static inline bool lapse_decide_by_bucket(const struct lapse_state *state) {
    return lapse_policy(state, LAPSE_POLICY_REVISION) < LAPSE_REVISION_STORE;
}
/* The revision of the next event of a key. False: the last one has been given. */
bool lapse_decide_next_revision_by_policy(const struct lapse_state *state,
                                          const struct lapse_bucket *bucket,
                                          struct lapse_bytes key, int64_t *ret);
static inline bool lapse_decide_next_revision(const struct lapse_state *state,
                                              const struct lapse_bucket *bucket,
                                              struct lapse_bytes key, int64_t *ret) {
    return state->strict ? lapse_exact_add(bucket->row->now.revision, 1, ret)
                         : lapse_decide_next_revision_by_policy(state, bucket, key, ret);
}
/* Whether an event takes a revision; one that does not has that of the entry. */
bool lapse_decide_takes_revision_by_policy(const struct lapse_state *state,
                                           const struct lapse_bucket *bucket,
                                           enum lapse_event_kind kind);
static inline bool lapse_decide_takes_revision(const struct lapse_state *state,
                                               const struct lapse_bucket *bucket,
                                               enum lapse_event_kind kind) {
    return state->strict || lapse_decide_takes_revision_by_policy(state, bucket, kind);
}
/* Whether a delete or purge leaves a record. */
bool lapse_decide_leaves_trace(const struct lapse_state *state, const struct lapse_bucket *bucket);
/* How long a trace lives; 0: it has no end. */
int64_t lapse_decide_trace_ns(const struct lapse_state *state, const struct lapse_bucket *bucket,
                              enum lapse_record_kind kind);
/* Whether a record's end becomes a marker, if nothing else is left of its key. */
bool lapse_decide_marks_end(const struct lapse_state *state, const struct lapse_bucket *bucket,
                            enum lapse_record_kind kind);
/* Whether a value that has ended, by its own word, stays all the same: live to every call, and the
 * reaper takes only its end off the wheel. Asked of rows whose end has come alone.
 *
 * That is so in a bucket with markers whose last revision has been given: its end cannot be told,
 * and by the policy an end that cannot be told is none. It holds until a term is given anew that
 * ends later, which then stays likewise, or until the bucket is altered to have no markers, which
 * needs no revision: then the value goes. What ends with a session goes with it, what is over as it
 * is written is not kept, and tombstones go without a trace. Where older records live on by
 * themselves, it is the last of the key to end that stays. Revisions that are not counted by bucket
 * have no last one in this sense.
 *
 * What had ended before the last revision was given, and had no marker yet, does not come back
 * (KV-04): the event that takes the last revision takes all such keys of the bucket with it,
 * unmarked. So whether a value stays follows from the durable rows alone. The exception is a number
 * that nobody saw: where `sync: normal` lets a crash skip revisions up to the last, what had ended
 * and was not yet reaped is back after it. */
bool lapse_decide_stays_by_policy(const struct lapse_state *state, const struct lapse_node *node,
                                  const struct lapse_now *now);
static inline bool lapse_decide_keeps_unmarked(const struct lapse_state *state) {
    return lapse_policy(state, LAPSE_POLICY_MARKER_UNSTORED) != 0;
}
/* Whether it does if nothing else is left of its key. */
bool lapse_decide_may_stay(const struct lapse_state *state, const struct lapse_node *node);
static inline bool lapse_decide_stays(const struct lapse_state *state,
                                      const struct lapse_node *node, const struct lapse_now *now) {
    return lapse_decide_keeps_unmarked(state) && lapse_decide_stays_by_policy(state, node, now);
}
/* Whether the newest record of a key (NULL: it has none) is a live value by what is stored; the
 * same with a deferred renewal counted. */
static inline bool lapse_record_live(const struct lapse_state *state,
                                     const struct lapse_node *newest,
                                     const struct lapse_now *now) {
    return newest != NULL && newest->now.record == LAPSE_RECORD_VALUE &&
           (lapse_state_live(newest, now) || lapse_decide_stays(state, newest, now));
}
static inline bool lapse_record_shown(const struct lapse_state *state,
                                      const struct lapse_node *newest,
                                      const struct lapse_now *now) {
    return newest != NULL && newest->now.record == LAPSE_RECORD_VALUE &&
           (lapse_idle_live(state, newest, now) || lapse_decide_stays(state, newest, now));
}
/* Whether the revision of a key that is gone is remembered for ever. */
static inline bool lapse_decide_remembers(const struct lapse_state *state) {
    return lapse_policy(state, LAPSE_POLICY_REVISION) == LAPSE_REVISION_KEY ||
           lapse_policy(state, LAPSE_POLICY_IF_VERSION) == LAPSE_IF_VERSION_REMEMBERED ||
           lapse_policy(state, LAPSE_POLICY_DELETE_ENDED) == LAPSE_DELETE_ENDED_DELETED;
}
/* Whether the command's if_version is right for a key; *ret_found is the revision it should have
 * been, as a conflict tells it. */
bool lapse_decide_version(const struct lapse_job *job, const struct lapse_node *live,
                          struct lapse_node *newest, int64_t *ret_found);
/* Whether a delete or purge of a key that is not live is carried out. */
bool lapse_decide_deletes_ended(const struct lapse_state *state, const struct lapse_node *newest);
/* Whether a call sent again is judged by its condition before its request id is looked at. */
bool lapse_decide_condition_first(const struct lapse_state *state);

/* ---- Idle terms. */

/* Whether a renewal counts from the use on, before it is written: then it is written before
 * anything else is done to its key. */
static inline bool lapse_decide_shows_renewal(const struct lapse_state *state) {
    return lapse_policy(state, LAPSE_POLICY_IDLE_SHOWN) == 0;
}
/* Whether a use at `used_ns` came before an end at `end_ns`. */
bool lapse_decide_used_in_time(const struct lapse_state *state, int64_t used_ns, int64_t end_ns);
/* Whether a renewal whose use came in time is still taken at `now`. */
bool lapse_decide_takes_flush(const struct lapse_state *state, const struct lapse_node *node,
                              const struct lapse_now *now);
/* With less than this left, a renewal is made durable before the answer. */
int64_t lapse_decide_little_ns(const struct lapse_state *state, int64_t span_ns);

/* ---- Leases. */

/* Whether tokens of a durability are counted by name, from 0, or by the store, from 1. */
static inline bool lapse_decide_token_by_name(const struct lapse_state *state,
                                              enum lapse_durability durability) {
    return lapse_policy(state, durability == LAPSE_PERSISTENT ? LAPSE_POLICY_TOKEN
                                                              : LAPSE_POLICY_EPHEMERAL_TOKEN) ==
           LAPSE_TOKEN_NAME;
}
/* Whether an extend is a write that takes the next token, as a grant does. Ephemeral leases, which
 * no write stores, keep theirs. */
static inline bool lapse_decide_extend_takes_token(const struct lapse_state *state) {
    return lapse_policy(state, LAPSE_POLICY_TOKEN) == LAPSE_TOKEN_WRITE;
}
/* Whether the live owner that acquires again is told its own grant. */
static inline bool lapse_decide_owner_again(const struct lapse_state *state) {
    return lapse_policy(state, LAPSE_POLICY_ACQUIRE_AGAIN) == 0;
}
/* The answer to a release of a name under which nothing is live. */
static inline enum lapse_status lapse_decide_nothing_to_release(const struct lapse_state *state) {
    bool conflict = lapse_policy(state, LAPSE_POLICY_RELEASE_ENDED) == LAPSE_RELEASE_ENDED_CONFLICT;
    return conflict ? LAPSE_CONFLICT : LAPSE_ABSENT;
}
/* Whether the last owner may release a lease that has ended. */
static inline bool lapse_decide_releases_ended(const struct lapse_state *state) {
    return lapse_policy(state, LAPSE_POLICY_RELEASE_ENDED) == LAPSE_RELEASE_ENDED_RELEASED;
}
/* Whether a name is remembered once its lease is over. */
static inline bool lapse_decide_keeps_name(const struct lapse_state *state,
                                           enum lapse_durability durability) {
    return lapse_decide_token_by_name(state, durability) || lapse_decide_releases_ended(state);
}
/* Whether one name can be held once for each durability. */
static inline bool lapse_decide_independent(const struct lapse_state *state) {
    return lapse_policy(state, LAPSE_POLICY_DURABILITY) != 0;
}
/* Whether ephemeral leases that nobody uses are dropped; when they are looked at, and which. */
static inline bool lapse_decide_drops_unused(const struct lapse_state *state) {
    return lapse_policy(state, LAPSE_POLICY_EPHEMERAL_UNUSED) != 0;
}
bool lapse_decide_looks_unused(const struct lapse_state *state);
bool lapse_decide_unused(const struct lapse_now *now, int64_t used_ns);

/* ---- The store. */

/* Puts the code of a stored mark beside the policies asked for. OK, INVALID, CORRUPT. */
enum lapse_status lapse_decide_same_policies(const struct lapse_state *state, uint64_t code,
                                             struct lapse_error *err);

#endif
