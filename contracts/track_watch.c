/* The tracker of watches: what each watcher asked for, and how far it has been served. The events
 * themselves are the bucket's; a watch keeps only its place among them. That place is where the
 * store began the watch, but its client is owed nothing before a reply has told it of the watch. */
#include "contracts/tracker.h"

#include "track.h"

static bool holds_client(enum lapse_fault_kind kind);
static enum lapse_status take_watch(struct lapse_trackers *trackers,
                                    const struct lapse_command *command,
                                    const struct lapse_history_event *event);
static void take_link(struct lapse_trackers *trackers, const struct lapse_history_event *event,
                      bool begins);
static bool is_of(const struct lapse_trackers *trackers, const struct lapse_tracked_watch *watch,
                  struct lapse_party party);
static size_t watch_place(const struct lapse_trackers *trackers, int64_t watcher);
static struct lapse_tracked_watch *find_watch(const struct lapse_trackers *trackers,
                                              int64_t watcher);
static bool owed(const struct lapse_trackers *trackers, const struct lapse_tracked_bucket *bucket,
                 const struct lapse_tracked_watch *watch, size_t index);
static size_t first_from(const struct lapse_tracked_bucket *bucket, int64_t revision);
static void pass_up_to(const struct lapse_trackers *trackers, struct lapse_tracked_watch *watch,
                       int64_t revision);

enum lapse_status lapse_track_watch_apply(struct lapse_trackers *trackers,
                                          const struct lapse_command *command,
                                          const struct lapse_history_event *event) {
    if (event->u.apply.answer.status != LAPSE_OK)
        return LAPSE_OK;
    if (command->verb == LAPSE_VERB_WATCH)
        return take_watch(trackers, command, event);
    if (command->verb == LAPSE_VERB_UNWATCH) {
        struct lapse_tracked_watch *watch = find_watch(trackers, command->u.watch.watcher);
        if (watch != NULL)
            watch->ended = event;
    }
    return LAPSE_OK;
}

/* A reply of `unknown`, or none at all, leaves a watch that its client knows nothing of. */
void lapse_track_watch_reply(struct lapse_trackers *trackers,
                             const struct lapse_history_event *event) {
    if (event->u.reply.verb != LAPSE_VERB_WATCH || event->u.reply.answer.status != LAPSE_OK)
        return;
    struct lapse_tracked_watch *watch = find_watch(trackers, event->u.reply.answer.watcher);
    if (watch != NULL && watch->began->call == event->call && watch->heard == NULL)
        watch->heard = event;
}

void lapse_track_watch_deliver(struct lapse_trackers *trackers,
                               const struct lapse_history_event *event) {
    struct lapse_tracked_watch *watch = find_watch(trackers, event->u.deliver.watcher);
    if (watch == NULL || event->u.deliver.first)
        return;
    int64_t revision = event->u.deliver.event.revision;
    pass_up_to(trackers, watch, revision);
    if (revision <= watch->delivered)
        return;
    watch->delivered = revision;
    watch->delivered_by = event;
}

/* A watch ends with the client that asked for it; a pause only holds its events back, and late
 * timers or slow work do not. */
void lapse_track_watch_fault(struct lapse_trackers *trackers,
                             const struct lapse_history_event *event) {
    bool begins = event->kind == LAPSE_HISTORY_FAULT_BEGIN;
    unsigned bit = 1U << (unsigned)event->u.fault.kind;
    if (event->u.fault.kind == LAPSE_FAULT_CUT || event->u.fault.kind == LAPSE_FAULT_LINK)
        take_link(trackers, event, begins);
    if (!holds_client(event->u.fault.kind))
        return;
    for (size_t i = 0; i < trackers->watch_count; i++) {
        struct lapse_tracked_watch *watch = &trackers->watches[i];
        const struct lapse_tracked_call *call =
            lapse_tracked_call_find(trackers, watch->began->call);
        if (watch->ended != NULL || call == NULL || call->invoke->actor != event->actor)
            continue;
        watch->waits = begins ? watch->waits | bit : watch->waits & ~bit;
        if (begins && event->u.fault.kind == LAPSE_FAULT_CRASH)
            watch->ended = event;
    }
}

/* An event on its way to a watcher has no call. */
void lapse_track_watch_message(struct lapse_trackers *trackers,
                               const struct lapse_history_event *event) {
    struct lapse_true_time arrives = event->at;
    if (event->call != 0 || event->u.message.fate != LAPSE_MESSAGE_LATE)
        return;
    if (!lapse_ns_add(event->at.ns, event->u.message.latency.ns, &arrives.ns))
        arrives.ns = INT64_MAX;
    for (size_t i = 0; i < trackers->watch_count; i++) {
        struct lapse_tracked_watch *watch = &trackers->watches[i];
        if (is_of(trackers, watch, event->u.message.to) && watch->under_way.ns < arrives.ns)
            watch->under_way = arrives;
    }
}

/* Whether events wait for a client while such a fault lasts. */
static bool holds_client(enum lapse_fault_kind kind) {
    return kind == LAPSE_FAULT_PAUSE || kind == LAPSE_FAULT_SUSPEND ||
           kind == LAPSE_FAULT_FREEZE || kind == LAPSE_FAULT_CRASH;
}

/* Watchers live in a tenure: none outlives it. */
void lapse_track_watch_tenure(struct lapse_trackers *trackers,
                              const struct lapse_history_event *event, bool all) {
    for (size_t i = 0; i < trackers->watch_count; i++) {
        trackers->watches[i].renumbered = trackers->watches[i].renumbered || all;
        if (trackers->watches[i].ended == NULL)
            trackers->watches[i].ended = event;
    }
}

void lapse_track_watch_free(struct lapse_trackers *trackers) {
    lapse_alloc_free(trackers->alloc, trackers->watches,
                     trackers->watch_cap * sizeof *trackers->watches);
}

const struct lapse_tracked_watch *lapse_tracked_watch_find(const struct lapse_trackers *trackers,
                                                           int64_t watcher) {
    return find_watch(trackers, watcher);
}

const struct lapse_history_event *lapse_tracked_watch_next(const struct lapse_trackers *trackers,
                                                           const struct lapse_tracked_watch *watch,
                                                           size_t *ret_index) {
    const struct lapse_tracked_bucket *bucket = lapse_tracked_bucket_find(trackers, watch->bucket);
    if (bucket == NULL)
        return NULL;
    for (size_t i = watch->next; i < bucket->event_count; i++) {
        const struct lapse_event *made = &bucket->events[i]->u.emit.event;
        if (watch->key.len > 0 && !lapse_bytes_equal(watch->key, made->key))
            continue;
        if (made->revision < watch->from_revision)
            continue;
        if (i < watch->start && !owed(trackers, bucket, watch, i))
            continue;
        *ret_index = i;
        return bucket->events[i];
    }
    return NULL;
}

const struct lapse_history_event *
lapse_tracked_watch_event(const struct lapse_trackers *trackers,
                          const struct lapse_tracked_watch *watch, int64_t revision) {
    const struct lapse_tracked_bucket *bucket = lapse_tracked_bucket_find(trackers, watch->bucket);
    for (size_t i = watch->next; bucket != NULL && i < bucket->event_count; i++) {
        const struct lapse_event *made = &bucket->events[i]->u.emit.event;
        if (made->revision > revision)
            break;
        if (made->revision == revision &&
            (watch->key.len == 0 || lapse_bytes_equal(watch->key, made->key)))
            return bucket->events[i];
    }
    return NULL;
}

/* Of the events before a watch from a revision began, its client is owed the last one of each key;
 * not that of an entry that had ended without a trace, nor one that a crash may have lost. */
static bool owed(const struct lapse_trackers *trackers, const struct lapse_tracked_bucket *bucket,
                 const struct lapse_tracked_watch *watch, size_t index) {
    const struct lapse_event *made = &bucket->events[index]->u.emit.event;
    bool before = trackers->tenure != NULL && bucket->events[index]->seq < trackers->tenure->seq;
    if (before && trackers->setup->sync != LAPSE_SYNC_FULL)
        return false;
    for (size_t i = index + 1; i < watch->start; i++) {
        if (lapse_bytes_equal(bucket->events[i]->u.emit.event.key, made->key))
            return false;
    }
    const struct lapse_tracked_key *key = lapse_tracked_key_find(bucket, made->key);
    const struct lapse_answer *began = &watch->began->u.apply.answer;
    return key == NULL || key->entry.revision != made->revision ||
           lapse_tracked_key_state(trackers, key, began->at, began->wall) == LAPSE_TRACKED_LIVE;
}

/* A lane from the node to a client is cut, or healed. */
static void take_link(struct lapse_trackers *trackers, const struct lapse_history_event *event,
                      bool begins) {
    struct lapse_party to = event->u.fault.to, from = event->u.fault.from;
    if (event->u.fault.both && to.kind == LAPSE_PARTY_NODE) {
        to = from;
        from = event->u.fault.to;
    }
    for (size_t i = 0; from.kind == LAPSE_PARTY_NODE && i < trackers->watch_count; i++) {
        struct lapse_tracked_watch *watch = &trackers->watches[i];
        if (!is_of(trackers, watch, to))
            continue;
        if (event->u.fault.kind == LAPSE_FAULT_CUT)
            watch->cut = begins;
        else if (!begins && watch->under_way.ns > event->at.ns)
            watch->under_way = event->at; /* what a slow way still carried comes now */
    }
}

static bool is_of(const struct lapse_trackers *trackers, const struct lapse_tracked_watch *watch,
                  struct lapse_party party) {
    const struct lapse_tracked_call *call = lapse_tracked_call_find(trackers, watch->began->call);
    return party.kind == LAPSE_PARTY_ACTOR && call != NULL &&
           call->invoke->actor == party.index;
}

static enum lapse_status take_watch(struct lapse_trackers *trackers,
                                    const struct lapse_command *command,
                                    const struct lapse_history_event *event) {
    const struct lapse_tracked_bucket *bucket =
        lapse_tracked_bucket_find(trackers, command->bucket);
    void *watches = trackers->watches;
    if (!lapse_alloc_grow(trackers->alloc, &watches, &trackers->watch_cap,
                          trackers->watch_count + 1, sizeof *trackers->watches))
        return LAPSE_NOMEM;
    trackers->watches = watches;
    size_t at = watch_place(trackers, event->u.apply.answer.watcher);
    for (size_t i = trackers->watch_count++; i > at; i--)
        trackers->watches[i] = trackers->watches[i - 1];
    trackers->watches[at] =
        (struct lapse_tracked_watch){.watcher = event->u.apply.answer.watcher,
                                     .bucket = command->bucket,
                                     .key = command->key,
                                     .from = command->u.watch.from,
                                     .start_revision = bucket != NULL ? bucket->revision : 0,
                                     .start = bucket != NULL ? bucket->event_count : 0,
                                     .next = bucket != NULL ? bucket->event_count : 0,
                                     .began = event};
    if (command->u.watch.from != LAPSE_WATCH_REVISION)
        return LAPSE_OK;
    trackers->watches[at].from_revision = command->u.watch.revision;
    if (bucket != NULL) {
        trackers->watches[at].next = first_from(bucket, command->u.watch.revision);
        /* What is left from before, of a store that syncs nothing, nobody knows. */
        trackers->watches[at].renumbered = bucket->event_base > 0;
    }
    return LAPSE_OK;
}

/* The place of the first event from a revision on. */
static size_t first_from(const struct lapse_tracked_bucket *bucket, int64_t revision) {
    size_t at = bucket->event_count;
    while (at > bucket->event_base && bucket->events[at - 1]->u.emit.event.revision >= revision)
        at--;
    return at;
}

/* The place after all watches up to this number, and so after the newest with it: a store that
 * starts again may give a number twice. */
static size_t watch_place(const struct lapse_trackers *trackers, int64_t watcher) {
    size_t low = 0, high = trackers->watch_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (trackers->watches[middle].watcher <= watcher)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct lapse_tracked_watch *find_watch(const struct lapse_trackers *trackers,
                                              int64_t watcher) {
    size_t after = watch_place(trackers, watcher);
    if (after == 0 || trackers->watches[after - 1].watcher != watcher)
        return NULL;
    return &trackers->watches[after - 1];
}

static void pass_up_to(const struct lapse_trackers *trackers, struct lapse_tracked_watch *watch,
                       int64_t revision) {
    const struct lapse_tracked_bucket *bucket = lapse_tracked_bucket_find(trackers, watch->bucket);
    if (bucket == NULL)
        return;
    while (watch->next < bucket->event_count &&
           bucket->events[watch->next]->u.emit.event.revision <= revision)
        watch->next++;
}
