/* Private to the trackers: each family's part of taking in an event, and of giving memory back. */
#ifndef CONTRACTS_TRACK_H
#define CONTRACTS_TRACK_H

#include "contracts/tracker.h"

/* Each returns OK or NOMEM. `call` is the call of an APPLY or REPLY and is never NULL there. */
enum lapse_status lapse_track_kv_begin(struct lapse_trackers *trackers);
enum lapse_status lapse_track_kv_apply(struct lapse_trackers *trackers,
                                       struct lapse_tracked_call *call,
                                       const struct lapse_history_event *event);
enum lapse_status lapse_track_kv_emit(struct lapse_trackers *trackers,
                                      const struct lapse_history_event *event);
void lapse_track_kv_free(struct lapse_trackers *trackers);

enum lapse_status lapse_track_lease_apply(struct lapse_trackers *trackers,
                                          const struct lapse_command *command,
                                          const struct lapse_history_event *event);
void lapse_track_lease_free(struct lapse_trackers *trackers);

enum lapse_status lapse_track_watch_apply(struct lapse_trackers *trackers,
                                          const struct lapse_command *command,
                                          const struct lapse_history_event *event);
void lapse_track_watch_reply(struct lapse_trackers *trackers,
                             const struct lapse_history_event *event);
void lapse_track_watch_deliver(struct lapse_trackers *trackers,
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

/* The verbs that read a key and so renew an idle one; that change a key; that list. */
bool lapse_verb_reads_key(int verb);
bool lapse_verb_writes_key(int verb);
bool lapse_verb_lists(int verb);
/* The verbs whose acceptance takes a revision and makes an event. */
bool lapse_verb_takes_revision(int verb);
/* The event that an accepted call of such a verb makes. */
enum lapse_event_kind lapse_verb_event(int verb);

#endif
