/* What a crash leaves of keys: idle renewals of the last second that may be gone, writes without an
 * answer that may have been done, and, without full sync, changes that may be lost. What a later
 * answer shows settles it. */
#include "track.h"

static void lose_renewals(struct lapse_tracked_entry *entry, struct lapse_steady crashed);
static enum lapse_status maybe_key(struct lapse_trackers *trackers,
                                   const struct lapse_command *command,
                                   const struct lapse_history_event *event);
static void maybe_used(struct lapse_trackers *trackers, const struct lapse_command *command);
static void take_shown_end(struct lapse_tracked_entry *entry, const struct lapse_answer *answer);
static void settle_key(struct lapse_trackers *trackers, const struct lapse_command *command,
                       int64_t call);
static void resolve_maybe(struct lapse_trackers *trackers, struct lapse_tracked_bucket *bucket,
                          struct lapse_tracked_key *key, const struct lapse_answer *answer);
static void resolve_done(struct lapse_trackers *trackers, struct lapse_tracked_bucket *bucket,
                         struct lapse_tracked_key *key, const struct lapse_answer *answer);

void lapse_track_kv_tenure(struct lapse_trackers *trackers, const struct lapse_history_event *event,
                           bool lost) {
    struct lapse_steady crashed = lapse_tracked_store_time(trackers, event->at);
    if (trackers->node_crashed)
        crashed = trackers->node_crashed_at;
    else if (trackers->node_stops != 0)
        crashed = trackers->node_stopped;
    for (size_t b = 0; b < trackers->bucket_count; b++) {
        struct lapse_tracked_bucket *bucket = &trackers->buckets[b];
        bucket->unnumbered = NULL;
        bucket->renumbered = true;
        bucket->unsure = bucket->unsure || lost;
        bucket->config_open = bucket->config_open || (lost && bucket->opened != NULL);
        if (lost)
            bucket->marker = NULL;
        for (size_t k = 0; k < bucket->key_count; k++) {
            bucket->keys[k]->unsure = bucket->keys[k]->unsure || lost;
            if (lost) /* a conditional write may be undone, and its revision be there again */
                bucket->keys[k]->spent = NULL;
            lose_renewals(&bucket->keys[k]->entry, crashed);
        }
    }
}

void lapse_track_kv_untold(struct lapse_trackers *trackers, struct lapse_steady store,
                           struct lapse_wall wall, bool housekeeping) {
    for (size_t b = 0; b < trackers->bucket_count; b++) {
        const struct lapse_tracked_bucket *bucket = &trackers->buckets[b];
        bool marks = housekeeping && (bucket->config.markers.ns > 0 || bucket->opened != NULL);
        for (size_t k = 0; k < bucket->key_count; k++) {
            struct lapse_tracked_key *key = bucket->keys[k];
            enum lapse_tracked_state state = lapse_tracked_key_known(trackers, key, store, wall);
            if (state != LAPSE_TRACKED_ENDED || key->expired != NULL)
                continue;
            key->entry.mark_open = key->entry.mark_open || marks;
            key->unsure = key->unsure || key->entry.end.kind == LAPSE_END_WALL;
        }
    }
}

enum lapse_status lapse_track_kv_maybe(struct lapse_trackers *trackers,
                                       const struct lapse_command *command,
                                       const struct lapse_history_event *event) {
    enum lapse_status status = LAPSE_OK;
    if (command->verb != LAPSE_VERB_BATCH)
        return maybe_key(trackers, command, event);
    for (size_t i = 0; status == LAPSE_OK && i < command->u.batch.count; i++)
        status = maybe_key(trackers, &command->u.batch.commands[i], event);
    return status;
}

void lapse_track_kv_session_maybe(struct lapse_trackers *trackers, struct lapse_bytes session) {
    for (size_t b = 0; b < trackers->bucket_count; b++) {
        const struct lapse_tracked_bucket *bucket = &trackers->buckets[b];
        for (size_t k = 0; k < bucket->key_count; k++) {
            size_t its = bucket->keys[k]->entry.session;
            if (its > 0 && lapse_bytes_equal(trackers->sessions[its - 1].name, session))
                bucket->keys[k]->unsure = true;
        }
    }
}

void lapse_track_kv_settle(struct lapse_trackers *trackers, const struct lapse_command *command,
                           int64_t call) {
    if (command->verb != LAPSE_VERB_BATCH) {
        settle_key(trackers, command, call);
        return;
    }
    for (size_t i = 0; i < command->u.batch.count; i++)
        settle_key(trackers, &command->u.batch.commands[i], call);
}

void lapse_track_kv_resolve(struct lapse_trackers *trackers, struct lapse_tracked_bucket *bucket,
                            struct lapse_tracked_key *key, const struct lapse_command *command,
                            const struct lapse_answer *answer) {
    struct lapse_tracked_entry *entry = &key->entry;
    bool valued = command->verb != LAPSE_VERB_HAS;
    if (key->maybe != NULL && valued)
        resolve_maybe(trackers, bucket, key, answer);
    if (key->unsure && !entry->term_open && valued && answer->status == LAPSE_OK &&
        entry->write != NULL &&
        key->present && answer->revision == entry->revision) {
        key->unsure = false;
        take_shown_end(entry, answer);
    }
    if (!entry->lossy || key->unsure || key->maybe != NULL)
        return;
    if (answer->status == LAPSE_ABSENT && answer->at.ns >= entry->end_kept.ns) {
        entry->lossy = false;
        entry->end = entry->end_kept;
        entry->last = entry->last_kept;
    }
    if (answer->status != LAPSE_OK)
        return;
    if (answer->renewed || (valued && answer->end.ns == entry->end.ns)) {
        entry->lossy = false; /* a renewal now counts from this use, whatever was lost */
        if (answer->renewed)
            entry->last = entry->last_kept;
    } else if (valued && answer->end.ns == entry->end_kept.ns) {
        entry->lossy = false;
        entry->end = entry->end_kept;
        entry->last = entry->last_kept;
    }
}

/* Nothing older than a second is lost; of two renewals within it, either may be. */
static void lose_renewals(struct lapse_tracked_entry *entry, struct lapse_steady crashed) {
    if (entry->why != LAPSE_WHY_IDLE || entry->renewal == NULL || entry->lossy ||
        entry->end_kept.ns == entry->end.ns)
        return;
    if (lapse_steady_between(entry->last, crashed).ns > LAPSE_NS_PER_S) {
        entry->end_kept = entry->end;
        entry->last_kept = entry->last;
        return;
    }
    if (lapse_steady_between(entry->last_unrenewed, crashed).ns > LAPSE_NS_PER_S) {
        entry->end_kept = entry->end_unrenewed;
        entry->last_kept = entry->last_unrenewed;
    }
    entry->lossy = true;
}

static enum lapse_status maybe_key(struct lapse_trackers *trackers,
                                   const struct lapse_command *command,
                                   const struct lapse_history_event *event) {
    bool known;
    if (lapse_command_uses(command))
        maybe_used(trackers, command);
    if (!lapse_verb_writes_key((int)command->verb))
        return LAPSE_OK;
    struct lapse_tracked_key *key = lapse_track_kv_make(trackers, command, &known);
    if (key == NULL)
        return known ? LAPSE_NOMEM : LAPSE_OK;
    key->unsure = key->unsure || key->maybe != NULL; /* two of them: no telling */
    key->maybe = event;
    key->maybe_command = command;
    return LAPSE_OK;
}

/* A use may have renewed an idle key: how long it lives is open until a read shows it. */
static void maybe_used(struct lapse_trackers *trackers, const struct lapse_command *command) {
    const struct lapse_tracked_key *found = lapse_tracked_key_find(
        lapse_tracked_bucket_find(trackers, command->bucket), command->key);
    bool known;
    if (found == NULL || found->entry.why != LAPSE_WHY_IDLE)
        return;
    struct lapse_tracked_key *key = lapse_track_kv_make(trackers, command, &known);
    if (key != NULL)
        key->unsure = true;
}

/* What stood open is as the read shows it. */
static void take_shown_end(struct lapse_tracked_entry *entry, const struct lapse_answer *answer) {
    entry->end = answer->end;
    if (entry->why != LAPSE_WHY_IDLE || answer->end.kind != LAPSE_END_STEADY)
        return;
    if (answer->renewed)
        entry->last = answer->at;
    else if (entry->cap.kind == LAPSE_END_NONE || answer->end.ns < entry->cap.ns)
        (void)lapse_ns_sub(answer->end.ns, entry->span.ns, &entry->last.ns);
    entry->end_kept = entry->end_unrenewed = entry->end;
    entry->last_kept = entry->last_unrenewed = entry->last;
    entry->lossy = false;
}

static void settle_key(struct lapse_trackers *trackers, const struct lapse_command *command,
                       int64_t call) {
    const struct lapse_tracked_bucket *bucket =
        lapse_tracked_bucket_find(trackers, command->bucket);
    if (!lapse_verb_writes_key((int)command->verb) ||
        lapse_tracked_key_find(bucket, command->key) == NULL)
        return;
    bool known;
    struct lapse_tracked_key *key = lapse_track_kv_make(trackers, command, &known);
    if (key != NULL && key->maybe != NULL && key->maybe->call == call)
        key->maybe = NULL;
}

static void resolve_maybe(struct lapse_trackers *trackers, struct lapse_tracked_bucket *bucket,
                          struct lapse_tracked_key *key, const struct lapse_answer *answer) {
    const struct lapse_command *command = key->maybe_command;
    bool live =
        lapse_tracked_key_known(trackers, key, answer->at, answer->wall) == LAPSE_TRACKED_LIVE;
    bool removes = lapse_verb_event((int)command->verb) == LAPSE_EVENT_DELETE ||
                   lapse_verb_event((int)command->verb) == LAPSE_EVENT_PURGE;
    if (answer->status == LAPSE_OK && lapse_verb_event((int)command->verb) == LAPSE_EVENT_PUT &&
        answer->revision != key->entry.revision) {
        resolve_done(trackers, bucket, key, answer);
    } else if (answer->status == LAPSE_OK) {
        bool moved =
            !lapse_verb_takes_revision((int)command->verb) &&
            (answer->end.kind != key->entry.end.kind || answer->end.ns != key->entry.end.ns);
        if (moved)
            key->entry.end = answer->end;
        lapse_track_call_resolved(trackers, key->maybe->call, moved ? 1 : -1);
        key->maybe = NULL;
    } else if (answer->status == LAPSE_ABSENT && live && removes) {
        lapse_track_call_resolved(trackers, key->maybe->call, 1);
        key->present = false;
        key->removed = key->maybe;
        key->maybe = NULL;
        lapse_track_record_none(key, INT64_MAX); /* its tombstone may stand on the others */
    } else if (answer->status == LAPSE_ABSENT && !live && removes) {
        key->maybe = NULL; /* it has ended, or was removed before that: then no marker is owed */
        key->entry.mark_open = true;
        lapse_track_record_none(key, INT64_MAX);
    }
}

/* The write was done: its entry is what the read shows. */
static void resolve_done(struct lapse_trackers *trackers, struct lapse_tracked_bucket *bucket,
                         struct lapse_tracked_key *key, const struct lapse_answer *answer) {
    struct lapse_tracked_term term;
    const struct lapse_command *command = key->maybe_command;
    lapse_track_call_resolved(trackers, key->maybe->call, 1);
    const struct lapse_history_event *event = key->maybe;
    bool several = key->unsure; /* which of them was done last, no read says */
    key->maybe = NULL;
    lapse_tracked_term_of(trackers, bucket, key, command, answer, &term);
    key->entry = (struct lapse_tracked_entry){.write = event,
                                              .term = event,
                                              .revision = answer->revision,
                                              .value = answer->value,
                                              .end = answer->end,
                                              .end_kept = answer->end,
                                              .span = term.span,
                                              .why = term.why,
                                              .cap = term.cap,
                                              .session = term.session};
    if (term.why == LAPSE_WHY_IDLE && answer->end.kind == LAPSE_END_STEADY)
        (void)lapse_ns_sub(answer->end.ns, term.span.ns, &key->entry.last.ns);
    key->present = true;
    key->removed = key->expired = key->found_ended = NULL;
    key->told_absent = NULL;
    key->unsure = key->entry.term_open = term.open || several;
    lapse_track_record_none(key, answer->revision + 1);
    if (answer->revision > bucket->revision)
        bucket->revision = answer->revision;
}
