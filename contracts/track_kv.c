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
};

static struct lapse_tracked_bucket *find_bucket(const struct lapse_trackers *trackers,
                                                struct lapse_bytes name);
static enum lapse_status add_bucket(struct lapse_trackers *trackers, struct lapse_bytes name,
                                    const struct lapse_bucket_config *config, bool locks);
static enum lapse_status open_bucket(struct lapse_trackers *trackers,
                                     const struct lapse_command *command);
static size_t key_place(const struct lapse_tracked_bucket *bucket, struct lapse_bytes name,
                        bool *ret_found);
static struct lapse_tracked_key *add_key(struct lapse_trackers *trackers,
                                         struct lapse_tracked_bucket *bucket,
                                         struct lapse_bytes name);
static void take_listing(struct lapse_trackers *trackers, struct lapse_tracked_bucket *bucket,
                         const struct lapse_history_event *event);
static void take_read(struct lapse_trackers *trackers, struct lapse_tracked_bucket *bucket,
                      struct lapse_tracked_key *key, const struct lapse_history_event *event);
static enum lapse_status take_write(struct lapse_trackers *trackers,
                                    struct lapse_tracked_call *call, struct write *write);
static void take_put(struct lapse_tracked_key *key, const struct write *write);
static bool take_creator(struct lapse_tracked_key *key, const struct write *write);
static void take_term(struct lapse_tracked_entry *entry, const struct write *write);
static void take_refusal(struct lapse_trackers *trackers, struct lapse_tracked_bucket *bucket,
                         struct lapse_tracked_key *key, const struct lapse_history_event *event);
static void take_expired(struct lapse_tracked_bucket *bucket, struct lapse_tracked_key *key,
                         const struct lapse_history_event *event);

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
                                       const struct lapse_history_event *event) {
    const struct lapse_request *request = &call->invoke->u.invoke.request;
    const struct lapse_command *command = &request->command;
    const struct lapse_answer *answer = &event->u.apply.answer;
    if (answer->status < 0)
        return LAPSE_OK;
    if (request->verb == LAPSE_VERB_OPEN)
        return open_bucket(trackers, command);
    struct lapse_tracked_bucket *bucket = find_bucket(trackers, command->bucket);
    if (bucket == NULL)
        return LAPSE_OK;
    if (lapse_verb_lists(request->verb) ||
        (request->verb == LAPSE_VERB_WATCH && command->u.watch.from == LAPSE_WATCH_LIVE)) {
        take_listing(trackers, bucket, event);
        return LAPSE_OK;
    }
    bool found;
    size_t at = key_place(bucket, command->key, &found);
    struct lapse_tracked_key *key = found ? bucket->keys[at] : NULL;
    if (lapse_verb_reads_key(request->verb)) {
        take_read(trackers, bucket, key, event);
    } else if (lapse_verb_writes_key(request->verb) && answer->status == LAPSE_OK) {
        struct write write = {.event = event,
                              .invoke = call->invoke,
                              .command = command,
                              .answer = answer,
                              .bucket = bucket};
        return take_write(trackers, call, &write);
    } else if (lapse_verb_writes_key(request->verb)) {
        take_refusal(trackers, bucket, key, event);
    }
    return LAPSE_OK;
}

enum lapse_status lapse_track_kv_emit(struct lapse_trackers *trackers,
                                      const struct lapse_history_event *event) {
    const struct lapse_event *made = &event->u.emit.event;
    struct lapse_tracked_bucket *bucket = find_bucket(trackers, made->bucket);
    trackers->seen_at = event->at;
    trackers->seen_store = made->at;
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
    if (made->revision > bucket->revision) {
        bucket->revision = made->revision;
        bucket->revision_by = event;
    }
    bool found;
    size_t at = key_place(bucket, made->key, &found);
    if (made->kind == LAPSE_EVENT_EXPIRED) {
        if (found)
            take_expired(bucket, bucket->keys[at], event);
        return LAPSE_OK;
    }
    if (found)
        bucket->keys[at]->owes_marker = false;
    if (trackers->open_write != NULL && trackers->open_write->call == event->call)
        trackers->open_write = NULL;
    return LAPSE_OK;
}

void lapse_track_kv_free(struct lapse_trackers *trackers) {
    const lapse_alloc *alloc = trackers->alloc;
    for (size_t i = 0; i < trackers->bucket_count; i++) {
        struct lapse_tracked_bucket *bucket = &trackers->buckets[i];
        for (size_t k = 0; k < bucket->key_count; k++)
            lapse_alloc_free(alloc, bucket->keys[k], sizeof **bucket->keys);
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

enum lapse_tracked_state lapse_tracked_key_state(const struct lapse_trackers *trackers,
                                                 const struct lapse_tracked_key *key,
                                                 struct lapse_steady at, struct lapse_wall wall) {
    if (key == NULL || key->entry.write == NULL)
        return LAPSE_TRACKED_NEVER;
    if (!key->present)
        return LAPSE_TRACKED_REMOVED;
    const struct lapse_end *end = &key->entry.end;
    if (key->expired != NULL || (end->kind == LAPSE_END_STEADY && at.ns >= end->ns) ||
        (end->kind == LAPSE_END_WALL && wall.ns >= end->ns))
        return LAPSE_TRACKED_ENDED;
    if (end->kind != LAPSE_END_WALL)
        return LAPSE_TRACKED_LIVE;
    /* The first peak since the term was given is the highest reading since then. */
    for (size_t i = 0; i < trackers->peak_count; i++) {
        if (trackers->peaks[i].seq >= key->entry.term->seq)
            return trackers->peaks[i].wall_ns >= end->ns ? LAPSE_TRACKED_ENDED : LAPSE_TRACKED_LIVE;
    }
    return LAPSE_TRACKED_LIVE;
}

/* A use at the very instant of the last one moves nothing, nor does one whose end would not fit. */
bool lapse_tracked_entry_renews(const struct lapse_tracked_entry *entry, struct lapse_steady at) {
    struct lapse_steady end;
    int64_t since = lapse_steady_between(entry->last, at).ns;
    return entry->why == LAPSE_WHY_IDLE && since > 0 && since >= entry->span.ns / 30 &&
           lapse_steady_add(at, entry->span, &end);
}

void lapse_tracked_term_of(const struct lapse_bucket_config *config,
                           const struct lapse_command *command, const struct lapse_answer *answer,
                           struct lapse_end *ret_end, struct lapse_span *ret_span,
                           enum lapse_why *ret_why) {
    const struct lapse_term *own = &command->u.write.term;
    const struct lapse_term *term = own->given != 0 ? own : &config->term;
    *ret_end = (struct lapse_end){.kind = LAPSE_END_NONE};
    *ret_span = (struct lapse_span){0};
    *ret_why = LAPSE_WHY_NONE;
    if (command->verb == LAPSE_VERB_PERSIST || term->given == 0)
        return;
    *ret_why = own->given != 0 ? LAPSE_WHY_OWN : LAPSE_WHY_DEFAULT;
    if ((term->given & LAPSE_TERM_EXPIRES_AT) != 0) {
        *ret_end = (struct lapse_end){.kind = LAPSE_END_WALL, .ns = term->expires_at.ns};
        return;
    }
    *ret_span = term->ttl;
    if ((term->given & LAPSE_TERM_IDLE) != 0) {
        *ret_span = term->idle;
        *ret_why = LAPSE_WHY_IDLE;
    }
    struct lapse_steady end = {INT64_MAX};
    (void)lapse_steady_add(answer->at, *ret_span, &end);
    *ret_end = (struct lapse_end){.kind = LAPSE_END_STEADY, .ns = end.ns};
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
    trackers->buckets[trackers->bucket_count++] =
        (struct lapse_tracked_bucket){.name = name, .config = *config, .locks = locks};
    return LAPSE_OK;
}

static enum lapse_status open_bucket(struct lapse_trackers *trackers,
                                     const struct lapse_command *command) {
    if (find_bucket(trackers, command->bucket) != NULL)
        return LAPSE_OK;
    return add_bucket(trackers, command->bucket, &command->u.open.config, false);
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

static void take_listing(struct lapse_trackers *trackers, struct lapse_tracked_bucket *bucket,
                         const struct lapse_history_event *event) {
    const struct lapse_answer *answer = &event->u.apply.answer;
    bucket->listing = event;
    for (size_t i = 0; i < bucket->key_count; i++) {
        struct lapse_tracked_key *key = bucket->keys[i];
        if (key->found_ended == NULL &&
            lapse_tracked_key_state(trackers, key, answer->at, answer->wall) == LAPSE_TRACKED_ENDED)
            key->found_ended = event;
    }
}

static void take_read(struct lapse_trackers *trackers, struct lapse_tracked_bucket *bucket,
                      struct lapse_tracked_key *key, const struct lapse_history_event *event) {
    const struct lapse_answer *answer = &event->u.apply.answer;
    enum lapse_tracked_state state =
        lapse_tracked_key_state(trackers, key, answer->at, answer->wall);
    if (state == LAPSE_TRACKED_ENDED && answer->status == LAPSE_ABSENT && key->found_ended == NULL)
        key->found_ended = event;
    if (state != LAPSE_TRACKED_LIVE || answer->status != LAPSE_OK ||
        !lapse_tracked_entry_renews(&key->entry, answer->at))
        return;
    struct lapse_tracked_entry *entry = &key->entry;
    struct lapse_steady end = {INT64_MAX};
    (void)lapse_steady_add(answer->at, entry->span, &end);
    entry->end_unrenewed = entry->end;
    entry->end = (struct lapse_end){.kind = LAPSE_END_STEADY, .ns = end.ns};
    entry->last = answer->at;
    entry->renewal = event;
    bucket->unnumbered = event;
}

static enum lapse_status take_write(struct lapse_trackers *trackers,
                                    struct lapse_tracked_call *call, struct write *write) {
    struct lapse_tracked_bucket *bucket = write->bucket;
    const struct lapse_answer *answer = write->answer;
    struct lapse_tracked_key *key = add_key(trackers, bucket, write->command->key);
    if (key == NULL)
        return LAPSE_NOMEM;
    write->before = lapse_tracked_key_state(trackers, key, answer->at, answer->wall);
    if (!lapse_verb_takes_revision((int)write->command->verb)) {
        bucket->unnumbered = write->event;
        take_term(&key->entry, write);
        return LAPSE_OK;
    }
    trackers->open_write = write->event;
    if (answer->revision > bucket->revision) {
        bucket->revision = answer->revision;
        bucket->revision_by = write->event;
    }
    if (write->command->u.write.has_if_version) {
        key->spent_revision = write->command->u.write.if_version;
        key->spent = write->event;
    }
    if (lapse_verb_event((int)write->command->verb) == LAPSE_EVENT_PUT) {
        call->lock_granted = bucket->locks && take_creator(key, write);
        take_put(key, write);
        return LAPSE_OK;
    }
    key->present = false;
    key->removed = write->event;
    key->refused = NULL;
    key->creator = -1;
    return LAPSE_OK;
}

static void take_put(struct lapse_tracked_key *key, const struct write *write) {
    bool unmarked = write->before == LAPSE_TRACKED_ENDED && key->expired == NULL;
    if (unmarked && write->bucket->config.markers.ns > 0) {
        key->owes_marker = true;
        key->ended = key->entry;
    }
    if (key->entry.renewal != NULL)
        key->old_renewal = key->entry.renewal;
    key->present = true;
    key->removed = NULL;
    key->expired = NULL;
    key->found_ended = NULL;
    key->refused = NULL;
    key->entry = (struct lapse_tracked_entry){.write = write->event,
                                              .revision = write->answer->revision,
                                              .value = write->command->u.write.value};
    take_term(&key->entry, write);
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

/* The end is the store's word; what kind of term it is, the request's. */
static void take_term(struct lapse_tracked_entry *entry, const struct write *write) {
    struct lapse_end end;
    lapse_tracked_term_of(&write->bucket->config, write->command, write->answer, &end, &entry->span,
                          &entry->why);
    entry->term = write->event;
    entry->end = write->answer->end;
    entry->last = write->answer->at;
    entry->renewal = NULL;
}

static void take_refusal(struct lapse_trackers *trackers, struct lapse_tracked_bucket *bucket,
                         struct lapse_tracked_key *key, const struct lapse_history_event *event) {
    const struct lapse_answer *answer = &event->u.apply.answer;
    bucket->unnumbered = event;
    if (key == NULL)
        return;
    key->refused = event;
    if (key->found_ended == NULL && answer->status != LAPSE_EXISTS &&
        lapse_tracked_key_state(trackers, key, answer->at, answer->wall) == LAPSE_TRACKED_ENDED)
        key->found_ended = event;
}

static void take_expired(struct lapse_tracked_bucket *bucket, struct lapse_tracked_key *key,
                         const struct lapse_history_event *event) {
    const struct lapse_event *made = &event->u.emit.event;
    if (key->owes_marker && key->ended.revision == made->old_revision) {
        key->owes_marker = false;
        return;
    }
    if (!key->present || key->entry.revision != made->old_revision)
        return;
    key->expired = event;
    if (key->found_ended == NULL)
        key->found_ended = event;
    if (event->call == 0) {
        bucket->marker = event;
        bucket->marker_entry = key->entry;
    }
}
