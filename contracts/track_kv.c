/* The tracker of keys: per bucket its revisions and events, per key the last entry and its term.
 *
 * Ends are the store's answers. The one thing worked out here is the renewal of an idle key,
 * because a read that answers `has` renews without showing the new end. */
#include "contracts/tracker.h"

#include "track.h"

/* One accepted write, with all that its parts need. */
struct write {
    const struct lapse_history_event *event;
    const struct lapse_history_event *invoke;
    const struct lapse_command *command;
    const struct lapse_answer *answer;
    struct lapse_tracked_bucket *bucket;
    enum lapse_tracked_state before; /* of the key */
    struct lapse_tracked_term term;  /* that it leaves */
};

static void close_member(struct lapse_trackers *trackers);
static struct lapse_tracked_bucket *find_bucket(const struct lapse_trackers *trackers,
                                                struct lapse_bytes name);
static enum lapse_status add_bucket(struct lapse_trackers *trackers, struct lapse_bytes name,
                                    const struct lapse_bucket_config *config, bool locks);
static enum lapse_status open_bucket(struct lapse_trackers *trackers,
                                     const struct lapse_command *command,
                                     const struct lapse_history_event *event);
static size_t key_place(const struct lapse_tracked_bucket *bucket, struct lapse_bytes name,
                        bool *ret_found);
static struct lapse_tracked_key *add_key(struct lapse_trackers *trackers,
                                         struct lapse_tracked_bucket *bucket,
                                         struct lapse_bytes name);
static void take_listing(struct lapse_trackers *trackers, struct lapse_tracked_bucket *bucket,
                         const struct lapse_command *command,
                         const struct lapse_history_event *event);
static bool counts_live(const struct lapse_trackers *trackers,
                        const struct lapse_tracked_bucket *bucket,
                        const struct lapse_command *command, const struct lapse_answer *answer);
static bool covers(const struct lapse_command *command, const struct lapse_answer *answer,
                   struct lapse_bytes name);
static bool lists_it(const struct lapse_answer *answer, struct lapse_bytes name);
static void take_read(struct lapse_trackers *trackers, struct lapse_tracked_bucket *bucket,
                      struct lapse_tracked_key *key, const struct lapse_command *command,
                      const struct lapse_history_event *event);
static void take_use(struct lapse_tracked_bucket *bucket, struct lapse_tracked_key *key,
                     const struct lapse_history_event *event);
static enum lapse_status take_write(struct lapse_trackers *trackers,
                                    struct lapse_tracked_call *call, struct write *write);
static enum lapse_status take_put(struct lapse_trackers *trackers, struct lapse_tracked_key *key,
                                  const struct write *write);
static enum lapse_status take_removal(struct lapse_trackers *trackers,
                                      struct lapse_tracked_key *key, const struct write *write);
static bool take_creator(struct lapse_tracked_key *key, const struct write *write);
static void take_term(struct lapse_tracked_entry *entry, const struct write *write);
static void take_refusal(struct lapse_trackers *trackers, struct lapse_tracked_bucket *bucket,
                         struct lapse_tracked_key *key, const struct lapse_answer *answer,
                         const struct lapse_history_event *event);
static enum lapse_status take_expired(struct lapse_trackers *trackers,
                                      struct lapse_tracked_bucket *bucket,
                                      struct lapse_tracked_key *key,
                                      const struct lapse_history_event *event);
static struct lapse_end record_end(const struct lapse_tracked_bucket *bucket,
                                   struct lapse_steady at);

enum lapse_status lapse_track_kv_begin(struct lapse_trackers *trackers) {
    const struct lapse_setup *setup = trackers->setup;
    for (size_t i = 0; i < setup->bucket_count; i++) {
        const struct lapse_setup_bucket *bucket = &setup->buckets[i];
        if (add_bucket(trackers, bucket->name, &bucket->config, bucket->locks) < 0)
            return LAPSE_NOMEM;
    }
    return LAPSE_OK;
}

enum lapse_status lapse_track_kv_apply(struct lapse_trackers *trackers,
                                       struct lapse_tracked_call *call,
                                       const struct lapse_command *command,
                                       const struct lapse_answer *answer,
                                       const struct lapse_history_event *event) {
    int verb = (int)command->verb;
    if (answer->status < 0)
        return LAPSE_OK;
    if (verb == LAPSE_VERB_OPEN || verb == LAPSE_VERB_ALTER)
        return open_bucket(trackers, command, event);
    struct lapse_tracked_bucket *bucket = find_bucket(trackers, command->bucket);
    if (bucket == NULL)
        return LAPSE_OK;
    if (lapse_verb_lists(verb) ||
        (verb == LAPSE_VERB_WATCH && command->u.watch.from == LAPSE_WATCH_LIVE)) {
        take_listing(trackers, bucket, command, event);
        return LAPSE_OK;
    }
    bool found;
    size_t at = key_place(bucket, command->key, &found);
    struct lapse_tracked_key *key = found ? bucket->keys[at] : NULL;
    if (lapse_verb_reads_key(verb)) {
        take_read(trackers, bucket, key, command, event);
    } else if (lapse_verb_writes_key(verb) && answer->status == LAPSE_OK) {
        struct write write = {.event = event,
                              .invoke = call->invoke,
                              .command = command,
                              .answer = answer,
                              .bucket = bucket};
        return take_write(trackers, call, &write);
    } else if (lapse_verb_writes_key(verb)) {
        take_refusal(trackers, bucket, key, answer, event);
    }
    return LAPSE_OK;
}

enum lapse_status lapse_track_kv_emit(struct lapse_trackers *trackers,
                                      const struct lapse_history_event *event) {
    const struct lapse_event *made = &event->u.emit.event;
    struct lapse_tracked_bucket *bucket = find_bucket(trackers, made->bucket);
    if (bucket == NULL)
        return LAPSE_OK;
    void *events = bucket->events;
    if (!lapse_alloc_grow(trackers->alloc, &events, &bucket->event_cap, bucket->event_count + 1,
                          sizeof(const struct lapse_history_event *)))
        return LAPSE_NOMEM;
    bucket->events = events;
    bucket->events[bucket->event_count++] = event;
    bucket->event_revision = made->revision;
    bucket->unnumbered = NULL;
    bucket->renumbered = false;
    if (made->revision > bucket->revision) {
        bucket->revision = made->revision;
        bucket->revision_by = event;
    }
    bool found;
    size_t at = key_place(bucket, made->key, &found);
    if (made->kind == LAPSE_EVENT_EXPIRED) {
        return found ? take_expired(trackers, bucket, bucket->keys[at], event) : LAPSE_OK;
    }
    if (found && made->revision > bucket->keys[at]->ended.revision)
        bucket->keys[at]->owes_marker = false;
    if (trackers->open_write != NULL && trackers->open_write->call == event->call)
        close_member(trackers);
    return LAPSE_OK;
}

/* The event of a write has come. A batch makes one for each of its writes, in their order. */
static void close_member(struct lapse_trackers *trackers) {
    const struct lapse_history_event *write = trackers->open_write;
    const struct lapse_request *request = lapse_tracked_request(trackers, write);
    const struct lapse_answer *answer = &write->u.apply.answer;
    trackers->open_member =
        lapse_member_next_event(request, answer, trackers->open_member + 1);
    if (trackers->open_member >= lapse_member_count(request, answer))
        trackers->open_write = NULL;
}

void lapse_track_kv_session(struct lapse_trackers *trackers, size_t session) {
    const struct lapse_tracked_session *moved = &trackers->sessions[session - 1];
    for (size_t b = 0; b < trackers->bucket_count; b++) {
        for (size_t k = 0; k < trackers->buckets[b].key_count; k++) {
            struct lapse_tracked_entry *entry = &trackers->buckets[b].keys[k]->entry;
            if (entry->session != session)
                continue;
            entry->end = moved->end;
            entry->span = moved->span;
        }
    }
}

struct lapse_tracked_key *lapse_track_kv_make(struct lapse_trackers *trackers,
                                              const struct lapse_command *command,
                                              bool *ret_known) {
    struct lapse_tracked_bucket *bucket = find_bucket(trackers, command->bucket);
    *ret_known = bucket != NULL;
    return bucket != NULL ? add_key(trackers, bucket, command->key) : NULL;
}

void lapse_track_kv_free(struct lapse_trackers *trackers) {
    const lapse_alloc *alloc = trackers->alloc;
    for (size_t i = 0; i < trackers->bucket_count; i++) {
        struct lapse_tracked_bucket *bucket = &trackers->buckets[i];
        for (size_t k = 0; k < bucket->key_count; k++) {
            struct lapse_tracked_key *key = bucket->keys[k];
            lapse_alloc_free(alloc, key->records, key->record_cap * sizeof *key->records);
            lapse_alloc_free(alloc, key, sizeof *key);
        }
        lapse_alloc_free(alloc, bucket->keys, bucket->key_cap * sizeof *bucket->keys);
        lapse_alloc_free(alloc, (void *)bucket->events, bucket->event_cap * sizeof *bucket->events);
    }
    lapse_alloc_free(alloc, trackers->buckets, trackers->bucket_cap * sizeof *trackers->buckets);
}

const struct lapse_tracked_bucket *lapse_tracked_bucket_find(const struct lapse_trackers *trackers,
                                                             struct lapse_bytes name) {
    return find_bucket(trackers, name);
}

const struct lapse_tracked_key *lapse_tracked_key_find(const struct lapse_tracked_bucket *bucket,
                                                       struct lapse_bytes name) {
    if (bucket == NULL)
        return NULL;
    bool found;
    size_t at = key_place(bucket, name, &found);
    return found ? bucket->keys[at] : NULL;
}

static struct lapse_tracked_bucket *find_bucket(const struct lapse_trackers *trackers,
                                                struct lapse_bytes name) {
    for (size_t i = 0; i < trackers->bucket_count; i++) {
        if (lapse_bytes_equal(trackers->buckets[i].name, name))
            return &trackers->buckets[i];
    }
    return NULL;
}

static enum lapse_status add_bucket(struct lapse_trackers *trackers, struct lapse_bytes name,
                                    const struct lapse_bucket_config *config, bool locks) {
    void *buckets = trackers->buckets;
    if (!lapse_alloc_grow(trackers->alloc, &buckets, &trackers->bucket_cap,
                          trackers->bucket_count + 1, sizeof *trackers->buckets))
        return LAPSE_NOMEM;
    trackers->buckets = buckets;
    struct lapse_tracked_bucket *bucket = &trackers->buckets[trackers->bucket_count++];
    *bucket = (struct lapse_tracked_bucket){.name = name, .config = *config, .locks = locks};
    lapse_track_first_number(bucket);
    return LAPSE_OK;
}

void lapse_track_first_number(struct lapse_tracked_bucket *bucket) {
    int64_t first = bucket->config.first_revision;
    bucket->revision = bucket->event_revision = first > 1 ? first - 1 : 0;
}

/* Opened again with equal words, a bucket stays as it is. */
static enum lapse_status open_bucket(struct lapse_trackers *trackers,
                                     const struct lapse_command *command,
                                     const struct lapse_history_event *event) {
    struct lapse_tracked_bucket *bucket = find_bucket(trackers, command->bucket);
    if (bucket == NULL)
        return add_bucket(trackers, command->bucket, &command->u.open.config, false);
    if (command->verb == LAPSE_VERB_ALTER) {
        int64_t first = bucket->config.first_revision;
        bucket->config = command->u.open.config;
        bucket->config.first_revision = first; /* set for good */
        bucket->opened = event;
        bucket->config_open = false;
    }
    return LAPSE_OK;
}

/* Where a key stands among the sorted keys, or would stand. */
static size_t key_place(const struct lapse_tracked_bucket *bucket, struct lapse_bytes name,
                        bool *ret_found) {
    size_t low = 0, high = bucket->key_count;
    *ret_found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = lapse_bytes_compare(bucket->keys[middle]->name, name);
        if (order == 0) {
            *ret_found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct lapse_tracked_key *add_key(struct lapse_trackers *trackers,
                                         struct lapse_tracked_bucket *bucket,
                                         struct lapse_bytes name) {
    bool found;
    size_t at = key_place(bucket, name, &found);
    if (found)
        return bucket->keys[at];
    void *keys = (void *)bucket->keys;
    if (!lapse_alloc_grow(trackers->alloc, &keys, &bucket->key_cap, bucket->key_count + 1,
                          sizeof *bucket->keys))
        return NULL;
    bucket->keys = keys;
    struct lapse_tracked_key *key = lapse_alloc_zero(trackers->alloc, sizeof *key);
    if (key == NULL)
        return NULL;
    key->name = name;
    key->creator = -1;
    for (size_t i = bucket->key_count; i > at; i--)
        bucket->keys[i] = bucket->keys[i - 1];
    bucket->keys[at] = key;
    bucket->key_count++;
    return key;
}

/* What a listing leaves out, though it would stand in it, is found ended. One that shows it is
 * KV-03's to judge. A count names no key: it leaves those out if it is the number of the others.
 */
static void take_listing(struct lapse_trackers *trackers, struct lapse_tracked_bucket *bucket,
                         const struct lapse_command *command,
                         const struct lapse_history_event *event) {
    const struct lapse_answer *answer = &event->u.apply.answer;
    bool counted = command->verb == LAPSE_VERB_COUNT &&
                   counts_live(trackers, bucket, command, answer);
    bucket->listing = event;
    for (size_t i = 0; i < bucket->key_count; i++) {
        struct lapse_tracked_key *key = bucket->keys[i];
        bool left_out = command->verb == LAPSE_VERB_COUNT ? counted : !lists_it(answer, key->name);
        if (key->found_ended == NULL && left_out && covers(command, answer, key->name) &&
            lapse_tracked_key_state(trackers, key, answer->at, answer->wall) ==
                LAPSE_TRACKED_ENDED)
            key->found_ended = event;
    }
}

static bool counts_live(const struct lapse_trackers *trackers,
                        const struct lapse_tracked_bucket *bucket,
                        const struct lapse_command *command, const struct lapse_answer *answer) {
    size_t live = 0;
    for (size_t i = 0; i < bucket->key_count; i++) {
        const struct lapse_tracked_key *key = bucket->keys[i];
        bool stands = lapse_tracked_key_state(trackers, key, answer->at, answer->wall) ==
                      LAPSE_TRACKED_LIVE;
        live += stands && covers(command, answer, key->name) ? 1 : 0;
    }
    return answer->item_count == live;
}

/* Whether a listing goes over a key's place: a watch of one key over that alone, a page not before
 * its beginning, nor behind where it was cut. */
static bool covers(const struct lapse_command *command, const struct lapse_answer *answer,
                   struct lapse_bytes name) {
    if (command->verb == LAPSE_VERB_WATCH)
        return command->key.len == 0 || lapse_bytes_equal(command->key, name);
    bool before = command->u.page.has_after &&
                  lapse_bytes_compare(name, command->u.page.after) <= 0;
    bool behind = answer->more && answer->items != NULL && answer->item_count > 0 &&
                  lapse_bytes_compare(name, answer->items[answer->item_count - 1].key) > 0;
    return !before && !behind;
}

static bool lists_it(const struct lapse_answer *answer, struct lapse_bytes name) {
    for (size_t i = 0; answer->items != NULL && i < answer->item_count; i++) {
        if (lapse_bytes_equal(answer->items[i].key, name))
            return true;
    }
    return false;
}

static void take_read(struct lapse_trackers *trackers, struct lapse_tracked_bucket *bucket,
                      struct lapse_tracked_key *key, const struct lapse_command *command,
                      const struct lapse_history_event *event) {
    const struct lapse_answer *answer = &event->u.apply.answer;
    if (key == NULL || command->u.read.has_revision)
        return;
    lapse_track_kv_resolve(trackers, bucket, key, command, answer);
    enum lapse_tracked_state state =
        lapse_tracked_key_state(trackers, key, answer->at, answer->wall);
    if (state == LAPSE_TRACKED_ENDED && answer->status == LAPSE_ABSENT && key->found_ended == NULL)
        key->found_ended = event;
    if (state == LAPSE_TRACKED_LIVE && answer->status == LAPSE_ABSENT && !key->entry.lossy)
        key->told_absent = event;
    if (state == LAPSE_TRACKED_LIVE && answer->status == LAPSE_OK && lapse_command_uses(command) &&
        lapse_tracked_entry_renews(&key->entry, answer->at))
        take_use(bucket, key, event);
}

/* A renewal is durable before its answer if little was left, else within a second. */
static void take_use(struct lapse_tracked_bucket *bucket, struct lapse_tracked_key *key,
                     const struct lapse_history_event *event) {
    struct lapse_steady at = event->u.apply.answer.at;
    struct lapse_tracked_entry *entry = &key->entry;
    int64_t left = entry->end.ns - at.ns;
    int64_t floor = entry->span.ns / 2;
    floor = floor > 60 * LAPSE_NS_PER_S ? 60 * LAPSE_NS_PER_S : floor;
    floor = floor < 2 * LAPSE_NS_PER_S ? 2 * LAPSE_NS_PER_S : floor;
    if (at.ns - entry->last.ns >= LAPSE_NS_PER_S) {
        entry->end_kept = entry->end;
        entry->last_kept = entry->last;
    }
    entry->end_unrenewed = entry->end;
    entry->last_unrenewed = entry->last;
    entry->end = lapse_tracked_entry_renewed(entry, at);
    entry->last = at;
    entry->renewal = event;
    bucket->unnumbered = event;
    if (left >= floor)
        return;
    entry->end_kept = entry->end;
    entry->last_kept = at;
}

static enum lapse_status take_write(struct lapse_trackers *trackers,
                                    struct lapse_tracked_call *call, struct write *write) {
    struct lapse_tracked_bucket *bucket = write->bucket;
    const struct lapse_answer *answer = write->answer;
    struct lapse_tracked_key *key = add_key(trackers, bucket, write->command->key);
    if (key == NULL)
        return LAPSE_NOMEM;
    write->before = lapse_tracked_key_state(trackers, key, answer->at, answer->wall);
    lapse_tracked_term_of(trackers, bucket, key, write->command, answer, &write->term);
    if (answer->end.kind == LAPSE_END_WALL)
        trackers->dated = true;
    if (!lapse_verb_takes_revision((int)write->command->verb)) {
        bucket->unnumbered = write->event;
        if (key->entry.write != NULL)
            take_term(&key->entry, write);
        return LAPSE_OK;
    }
    if (answer->revision > bucket->revision) {
        bucket->revision = answer->revision;
        bucket->revision_by = write->event;
    }
    if (write->command->u.write.has_if_version) {
        key->spent_revision = write->command->u.write.if_version;
        key->spent = write->event;
    }
    key->unsure = false;
    key->maybe = NULL;
    if (lapse_verb_event((int)write->command->verb) == LAPSE_EVENT_PUT) {
        key->unsure = write->term.open;
        bool creates = bucket->locks && take_creator(key, write);
        if (call->decided == 1) /* its client is told of the first decision alone */
            call->lock_granted = creates;
        return take_put(trackers, key, write);
    }
    return take_removal(trackers, key, write);
}

static enum lapse_status take_put(struct lapse_trackers *trackers, struct lapse_tracked_key *key,
                                  const struct write *write) {
    bool ended = write->before == LAPSE_TRACKED_ENDED;
    bool unmarked = ended && key->expired == NULL;
    enum lapse_status status = LAPSE_OK;
    bool marks = unmarked && write->bucket->config.markers.ns > 0;
    if (unmarked)
        lapse_track_record_none(key, key->entry.mark_open ? write->answer->revision : 0);
    if (write->before == LAPSE_TRACKED_UNSURE)
        lapse_track_record_none(key, write->answer->revision);
    if (marks) {
        key->owes_marker = true;
        key->ended = key->entry;
    }
    if (marks && !key->entry.mark_open) {
        status = lapse_track_record_add(
            trackers, write->bucket, key, write->answer->at,
            (struct lapse_tracked_record){.kind = LAPSE_RECORD_MARKER,
                                          .end = record_end(write->bucket, write->answer->at),
                                          .by = write->event});
    }
    if (status >= 0)
        status = lapse_track_record_add(
            trackers, write->bucket, key, write->answer->at,
            (struct lapse_tracked_record){.kind = LAPSE_RECORD_VALUE,
                                          .revision = write->answer->revision,
                                          .value = write->command->u.write.value,
                                          .by = write->event});
    if (key->entry.renewal != NULL)
        key->old_renewal = key->entry.renewal;
    key->present = true;
    key->removed = NULL;
    key->expired = NULL;
    key->found_ended = NULL;
    key->told_absent = NULL;
    key->refused = NULL;
    struct lapse_tracked_entry before = key->entry;
    key->entry = (struct lapse_tracked_entry){.write = write->event,
                                              .revision = write->answer->revision,
                                              .value = write->command->u.write.value};
    take_term(&key->entry, write);
    if ((write->command->u.write.term.given & LAPSE_TERM_KEEP) != 0 &&
        write->before == LAPSE_TRACKED_LIVE) {
        key->entry.last = before.last;
        key->entry.term = before.term;
    }
    return status;
}

/* A tombstone stands on what was there; a purge leaves nothing below it. */
static enum lapse_status take_removal(struct lapse_trackers *trackers,
                                      struct lapse_tracked_key *key, const struct write *write) {
    bool purge = write->command->verb == LAPSE_VERB_PURGE;
    bool marks = write->bucket->config.markers.ns > 0;
    key->present = false;
    key->told_absent = NULL;
    key->removed = write->event;
    key->refused = NULL;
    key->creator = -1;
    if (purge || !marks)
        lapse_track_record_none(key, 0);
    else if (write->before == LAPSE_TRACKED_UNSURE)
        lapse_track_record_none(key, write->answer->revision);
    if (!marks)
        return LAPSE_OK;
    return lapse_track_record_add(
        trackers, write->bucket, key, write->answer->at,
        (struct lapse_tracked_record){.kind = purge ? LAPSE_RECORD_PURGE : LAPSE_RECORD_TOMBSTONE,
                                      .revision = write->answer->revision,
                                      .end = record_end(write->bucket, write->answer->at),
                                      .by = write->event});
}

static struct lapse_end record_end(const struct lapse_tracked_bucket *bucket,
                                   struct lapse_steady at) {
    struct lapse_steady end = {INT64_MAX};
    (void)lapse_steady_add(at, bucket->config.markers, &end);
    return (struct lapse_end){LAPSE_END_STEADY, end.ns};
}

/* Whether this put makes its client the creator of the lock: it found the key absent, or it took
 * over another's entry by naming its revision. */
static bool take_creator(struct lapse_tracked_key *key, const struct write *write) {
    bool own = key->creator == write->invoke->actor &&
               key->creator_incarnation == write->invoke->incarnation;
    bool absent = write->before != LAPSE_TRACKED_LIVE;
    if (!absent && (own || !write->command->u.write.has_if_version))
        return false;
    key->creator = write->invoke->actor;
    key->creator_incarnation = write->invoke->incarnation;
    key->created = write->event;
    return true;
}

/* The end is the store's word; what kind of term it is, the request's. What was given no end at all
 * has no term: no use renews it. */
static void take_term(struct lapse_tracked_entry *entry, const struct write *write) {
    bool endless = write->answer->end.kind == LAPSE_END_NONE;
    entry->span = endless ? (struct lapse_span){0} : write->term.span;
    entry->why = endless ? LAPSE_WHY_NONE : write->term.why;
    entry->cap = write->term.cap;
    entry->session = write->term.session;
    entry->term = write->event;
    entry->end = write->answer->end;
    entry->last = write->answer->at;
    entry->renewal = NULL;
    entry->term_open = write->term.open;
    entry->lossy = false;
    entry->end_kept = entry->end;
    entry->last_kept = entry->last;
}

static void take_refusal(struct lapse_trackers *trackers, struct lapse_tracked_bucket *bucket,
                         struct lapse_tracked_key *key, const struct lapse_answer *answer,
                         const struct lapse_history_event *event) {
    bucket->unnumbered = event;
    if (key == NULL)
        return;
    key->refused = event;
    /* A conflict that names another revision has found something, an older value or a trace; one
     * that a session has lost says nothing of the key. */
    bool nothing = answer->status == LAPSE_CONFLICT
                       ? answer->revision == 0 && key->entry.revision != 0
                       : answer->status == LAPSE_ABSENT;
    if (key->found_ended == NULL && nothing &&
        lapse_tracked_key_state(trackers, key, answer->at, answer->wall) == LAPSE_TRACKED_ENDED)
        key->found_ended = event;
}

static enum lapse_status take_expired(struct lapse_trackers *trackers,
                                      struct lapse_tracked_bucket *bucket,
                                      struct lapse_tracked_key *key,
                                      const struct lapse_history_event *event) {
    const struct lapse_event *made = &event->u.emit.event;
    if (key->owes_marker && key->ended.revision == made->old_revision) {
        key->owes_marker = false;
        if (key->record_count > 1 && key->records[key->record_count - 2].revision == 0)
            key->records[key->record_count - 2].revision = made->revision;
        return LAPSE_OK;
    }
    if (!key->present || key->entry.revision != made->old_revision)
        return LAPSE_OK;
    key->expired = event;
    if (key->found_ended == NULL)
        key->found_ended = event;
    if (event->call == 0) {
        bool known = !key->unsure && key->maybe == NULL && !key->entry.lossy;
        bucket->marker = known ? event : NULL; /* of another its end is not known */
        bucket->marker_entry = key->entry;
    }
    lapse_track_record_none(key, 0);
    return lapse_track_record_add(trackers, bucket, key, made->at,
                                  (struct lapse_tracked_record){.kind = LAPSE_RECORD_MARKER,
                                                                .revision = made->revision,
                                                                .end = record_end(bucket, made->at),
                                                                .by = event});
}
