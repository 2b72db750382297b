/* Private to the trackers: each family's part of taking in an event, and of giving memory back. */
#ifndef CONTRACTS_TRACK_H
#define CONTRACTS_TRACK_H

#include "contracts/tracker.h"

/* Each returns OK or NOMEM. `call` is the call of an APPLY or REPLY and is never NULL there. */
enum lapse_status lapse_track_kv_begin(struct lapse_trackers *trackers);
enum lapse_status lapse_track_kv_apply(struct lapse_trackers *trackers,
                                       struct lapse_tracked_call *call,
                                       const struct lapse_command *command,
                                       const struct lapse_answer *answer,
                                       const struct lapse_history_event *event);
enum lapse_status lapse_track_kv_emit(struct lapse_trackers *trackers,
                                      const struct lapse_history_event *event);
void lapse_track_kv_free(struct lapse_trackers *trackers);
/* What lapse_trackers_look made. */
void lapse_looks_free(struct lapse_trackers *trackers);

/* What came of a call that a crash had left open: 1 it was done, -1 it was not. */
void lapse_track_call_resolved(struct lapse_trackers *trackers, int64_t id, int resolved);
enum lapse_status lapse_track_live_begin(struct lapse_trackers *trackers);
enum lapse_status lapse_track_live_event(struct lapse_trackers *trackers,
                            const struct lapse_history_event *event);
void lapse_track_live_free(struct lapse_trackers *trackers);
/* Which faults stand: a beginning or an end of one. */
enum lapse_status lapse_track_fault_event(struct lapse_trackers *trackers,
                                          const struct lapse_history_event *event);
/* The store has answered, or opened again. */
void lapse_track_fault_opened(struct lapse_trackers *trackers,
                              const struct lapse_history_event *event);
void lapse_track_fault_free(struct lapse_trackers *trackers);

enum lapse_status lapse_track_lease_apply(struct lapse_trackers *trackers,
                                          const struct lapse_command *command,
                                          const struct lapse_answer *answer,
                                          const struct lapse_history_event *event);
/* A session has another end: so have the grants and the entries that end with it. */
void lapse_track_lease_session(struct lapse_trackers *trackers, size_t session);
void lapse_track_kv_session(struct lapse_trackers *trackers, size_t session);
/* A tenure begins. `lost`: the store may have lost its last changes, or all of them. */
void lapse_track_lease_tenure(struct lapse_trackers *trackers,
                              const struct lapse_history_event *event, bool lost);
void lapse_track_kv_tenure(struct lapse_trackers *trackers, const struct lapse_history_event *event,
                           bool lost);
/* The store had these readings in a commit of which nobody was told. What had ended by then may be
 * found ended for good; of `housekeeping` it may have its marker. */
void lapse_track_kv_untold(struct lapse_trackers *trackers, struct lapse_steady store,
                           struct lapse_wall wall, bool housekeeping);
/* Nothing is known of a bucket's numbers but where they begin. */
void lapse_track_first_number(struct lapse_tracked_bucket *bucket);
/* `all`: its numbers begin anew. */
void lapse_track_watch_tenure(struct lapse_trackers *trackers,
                              const struct lapse_history_event *event, bool all);
/* A call has no answer, and whether it was done is not known (`event` is its INVOKE or APPLY); or
 * it has one after all. */
enum lapse_status lapse_track_kv_maybe(struct lapse_trackers *trackers,
                                       const struct lapse_command *command,
                                       const struct lapse_history_event *event);
void lapse_track_kv_settle(struct lapse_trackers *trackers, const struct lapse_command *command,
                           int64_t call);
/* A read shows what a crash has left of a key: takes it over. */
void lapse_track_kv_resolve(struct lapse_trackers *trackers, struct lapse_tracked_bucket *bucket,
                            struct lapse_tracked_key *key, const struct lapse_command *command,
                            const struct lapse_answer *answer);
/* The key of this name, made if it is new; NULL: no memory, or no such bucket. */
struct lapse_tracked_key *lapse_track_kv_make(struct lapse_trackers *trackers,
                                              const struct lapse_command *command,
                                              bool *ret_known);
/* A keepalive or a close without an answer: what ends with the session may end at another time. */
void lapse_track_kv_session_maybe(struct lapse_trackers *trackers, struct lapse_bytes session);
enum lapse_status lapse_track_lease_maybe(struct lapse_trackers *trackers,
                                          const struct lapse_command *command);
void lapse_track_lease_free(struct lapse_trackers *trackers);

enum lapse_status lapse_track_watch_apply(struct lapse_trackers *trackers,
                                          const struct lapse_command *command,
                                          const struct lapse_history_event *event);
void lapse_track_watch_reply(struct lapse_trackers *trackers,
                             const struct lapse_history_event *event);
void lapse_track_watch_deliver(struct lapse_trackers *trackers,
                               const struct lapse_history_event *event);
void lapse_track_watch_message(struct lapse_trackers *trackers,
                               const struct lapse_history_event *event);
void lapse_track_watch_fault(struct lapse_trackers *trackers,
                             const struct lapse_history_event *event);
void lapse_track_watch_free(struct lapse_trackers *trackers);

enum lapse_status lapse_track_belief_event(struct lapse_trackers *trackers,
                                           const struct lapse_history_event *event);
void lapse_track_belief_free(struct lapse_trackers *trackers);

enum lapse_status lapse_track_resource_begin(struct lapse_trackers *trackers);
void lapse_track_resource_event(struct lapse_trackers *trackers,
                                const struct lapse_history_event *event);
void lapse_track_resource_free(struct lapse_trackers *trackers);

enum lapse_status lapse_track_session_apply(struct lapse_trackers *trackers,
                                            const struct lapse_command *command,
                                            const struct lapse_answer *answer,
                                            const struct lapse_history_event *event);
void lapse_track_session_free(struct lapse_trackers *trackers);

/* Calls by request id. */
enum lapse_status lapse_track_once_apply(struct lapse_trackers *trackers,
                                         const struct lapse_command *command,
                                         const struct lapse_history_event *event);
void lapse_track_once_free(struct lapse_trackers *trackers);

/* What nodes tell of their roles. */
enum lapse_status lapse_track_role_event(struct lapse_trackers *trackers,
                                         const struct lapse_history_event *event);
void lapse_track_role_free(struct lapse_trackers *trackers);
/* Whether this ROLE makes another leader than the one known, in a later epoch. */
bool lapse_tracked_lead_passes(const struct lapse_trackers *trackers,
                               const struct lapse_history_event *event);
/* The ROLE that told first of a number; NULL: none did. */
const struct lapse_history_event *lapse_tracked_role_find(const struct lapse_tracked_role *items,
                                                          size_t count, int64_t number);

/* The model takes an event in, once: before the rules look at it, or where none do, with the
 * trackers. OK or NOMEM. */
enum lapse_status lapse_track_model_event(const struct lapse_trackers *trackers,
                                          const struct lapse_history_event *event);
enum lapse_status lapse_track_model_open(struct lapse_trackers *trackers);
void lapse_track_model_free(struct lapse_trackers *trackers);

/* What a node's clocks, stops, starts and commits tell of time. */
enum lapse_status lapse_track_time_event(struct lapse_trackers *trackers,
                                         const struct lapse_history_event *event);
void lapse_track_time_free(struct lapse_trackers *trackers);
/* Whether a read, which renewed nothing, shows a commit that none has shown before and that time's
 * own marks, one a second, do not explain. */
bool lapse_track_commit_unexplained(const struct lapse_trackers *trackers,
                                    const struct lapse_history_event *event);

/* Puts a record, written at `at`, on top of a key's. Returns OK or NOMEM. */
enum lapse_status lapse_track_record_add(struct lapse_trackers *trackers,
                                         const struct lapse_tracked_bucket *bucket,
                                         struct lapse_tracked_key *key, struct lapse_steady at,
                                         struct lapse_tracked_record record);
/* No record of a key is known. Those below revision `from` may be there all the same; 0: none. */
void lapse_track_record_none(struct lapse_tracked_key *key, int64_t from);

/* ---- A call as its members: those of a batch that was done, the refused one of a batch that was
 * not, or the call itself. */
struct lapse_member {
    const struct lapse_command *command;
    struct lapse_answer answer; /* its own; a batch does not say owners */
    bool in_batch;
};
size_t lapse_member_count(const struct lapse_request *request, const struct lapse_answer *answer);
/* Member `index` < count. */
void lapse_member_at(const struct lapse_trackers *trackers, const struct lapse_request *request,
                     const struct lapse_answer *answer, size_t index, struct lapse_member *ret);
/* Whether a member before this one names the same thing, so that what it finds is not what the
 * trackers believe. */
bool lapse_member_hidden(const struct lapse_request *request, const struct lapse_answer *answer,
                         size_t index);
/* The place among a call's members of the first, from `from` on, whose acceptance makes an event;
 * the count if there is none. */
size_t lapse_member_next_event(const struct lapse_request *request,
                               const struct lapse_answer *answer, size_t from);

/* The verbs that read a key and so renew an idle one; that change a key; that list. */
bool lapse_verb_reads_key(int verb);
bool lapse_verb_writes_key(int verb);
bool lapse_verb_lists(int verb);
/* Whether a command is a use: a read that renews an idle key. */
bool lapse_command_uses(const struct lapse_command *command);
bool lapse_verb_of_lease(int verb);
bool lapse_verb_of_session(int verb);
/* The verbs whose acceptance takes a revision and makes an event. */
bool lapse_verb_takes_revision(int verb);
/* The event that an accepted call of such a verb makes. */
enum lapse_event_kind lapse_verb_event(int verb);

#endif
