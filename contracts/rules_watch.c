/* WATCH-01..04: what changes become events, and what a watcher is handed. */
#include "rules.h"
#include "track.h"
#include "words.h"

static const struct lapse_tracked_watch *find_unserved(const struct lapse_trackers *trackers,
                                                       const struct lapse_history_event *event);
static bool say_unserved(const struct lapse_trackers *trackers,
                         const struct lapse_tracked_watch *watch, struct lapse_violation *ret);
static bool untold(const struct lapse_trackers *trackers, const struct lapse_tracked_watch *watch,
                   const struct lapse_event *handed);
static bool refused(const struct lapse_trackers *trackers, const struct lapse_history_event *event);
static bool made_right(const struct lapse_trackers *trackers,
                       const struct lapse_history_event *event, struct lapse_violation *ret);
static bool handed_right(const struct lapse_trackers *trackers,
                         const struct lapse_history_event *event, struct lapse_violation *ret);
static const struct lapse_history_event *handed_event(const struct lapse_trackers *trackers,
                                                      const struct lapse_history_event *event);
static bool marked(const struct lapse_history_event *event, const struct lapse_tracked_bucket *in);
static bool marker_right(const struct lapse_trackers *trackers,
                         const struct lapse_history_event *event,
                         const struct lapse_tracked_bucket *bucket, struct lapse_violation *ret);
static const struct lapse_tracked_entry *marked_entry(const struct lapse_tracked_key *key,
                                                      const struct lapse_event *made);
static struct lapse_end surely_ended(const struct lapse_tracked_entry *entry);
static bool marker_in_order(const struct lapse_history_event *event,
                            const struct lapse_tracked_bucket *bucket,
                            const struct lapse_tracked_entry *entry, struct lapse_violation *ret);
static const struct lapse_tracked_key *find_unmarked(const struct lapse_trackers *trackers,
                                                     const struct lapse_history_event *event,
                                                     bool markers, bool late,
                                                     const struct lapse_tracked_bucket **ret);
static const struct lapse_tracked_key *shown_ended(const struct lapse_trackers *trackers,
                                                   const struct lapse_history_event *event);

/* ---- WATCH-01: in order, once, or a gap. */

bool lapse_rule_watch_01_premise(const struct lapse_trackers *trackers,
                                 const struct lapse_history_event *event) {
    if (event->kind == LAPSE_HISTORY_END)
        return find_unserved(trackers, event) != NULL;
    const struct lapse_tracked_watch *watch =
        lapse_tracked_watch_find(trackers, event->u.deliver.watcher);
    return !event->u.deliver.first && watch != NULL && !watch->renumbered;
}

bool lapse_rule_watch_01_holds(const struct lapse_trackers *trackers,
                               const struct lapse_history_event *event,
                               struct lapse_violation *ret) {
    if (event->kind == LAPSE_HISTORY_END)
        return say_unserved(trackers, find_unserved(trackers, event), ret);
    const struct lapse_event *handed = &event->u.deliver.event;
    if (handed->kind == LAPSE_EVENT_GAP)
        return true;
    const struct lapse_tracked_watch *watch =
        lapse_tracked_watch_find(trackers, event->u.deliver.watcher);
    size_t index;
    const struct lapse_history_event *next = lapse_tracked_watch_next(trackers, watch, &index);
    int64_t wanted = next != NULL ? next->u.emit.event.revision : 0;
    if (next != NULL && handed->revision == wanted)
        return true;
    if (watch->from == LAPSE_WATCH_REVISION &&
        (next != NULL && handed->revision > wanted
             ? index < watch->start
             : lapse_tracked_watch_event(trackers, watch, handed->revision) != NULL))
        return true; /* one that it may have; or it lost one, which WATCH-06 says */
    if ((next == NULL || handed->revision < wanted) && untold(trackers, watch, handed))
        return true;
    long long revision = (long long)handed->revision;
    lapse_violation_label(ret, event, "was handed revision %lld", revision);
    if (next != NULL && handed->revision > wanted) {
        lapse_violation_label(ret, next, "revision %lld was made here", (long long)wanted);
        return lapse_violation_say(ret, "a watcher lost revision %lld and no gap was reported",
                                   (long long)wanted);
    }
    lapse_violation_label(ret, watch->delivered_by, "it was handed revision %lld here",
                          (long long)watch->delivered);
    lapse_violation_label(ret, watch->began, "the watch began at revision %lld",
                          (long long)watch->start_revision);
    return lapse_violation_say(ret, "a watcher was handed revision %lld twice or out of order",
                               revision);
}

/* ---- WATCH-06: from a revision on, the last event of each key, or a gap first. */

bool lapse_rule_watch_06_premise(const struct lapse_trackers *trackers,
                                 const struct lapse_history_event *event) {
    const struct lapse_tracked_watch *watch =
        lapse_tracked_watch_find(trackers, event->u.deliver.watcher);
    size_t index;
    return watch != NULL && watch->from == LAPSE_WATCH_REVISION && !event->u.deliver.first &&
           !watch->renumbered &&
           lapse_tracked_watch_next(trackers, watch, &index) != NULL && index < watch->start;
}

bool lapse_rule_watch_06_holds(const struct lapse_trackers *trackers,
                               const struct lapse_history_event *event,
                               struct lapse_violation *ret) {
    const struct lapse_tracked_watch *watch =
        lapse_tracked_watch_find(trackers, event->u.deliver.watcher);
    const struct lapse_event *handed = &event->u.deliver.event;
    size_t index;
    const struct lapse_history_event *owed = lapse_tracked_watch_next(trackers, watch, &index);
    const struct lapse_event *made = &owed->u.emit.event;
    if (handed->kind == LAPSE_EVENT_GAP || handed->revision <= made->revision)
        return true;
    if (untold(trackers, watch, handed) && lapse_bytes_equal(handed->key, made->key))
        return true; /* it is the last one */
    struct lapse_rule_text name = lapse_text_key(made->bucket, made->key);
    lapse_violation_label(ret, event, "was handed revision %lld", (long long)handed->revision);
    lapse_violation_label(ret, owed, "the last event of %s, revision %lld", name.text,
                          (long long)made->revision);
    lapse_violation_label(ret, watch->began, "the watch from an older revision began here");
    return lapse_violation_say(ret, "a watch from an older revision was not handed the last event "
                                    "of %s, nor a gap",
                               name.text);
}

/* An event of an earlier tenure that was written, but that nobody was told of: the call or the
 * housekeeping that wrote it had no answer. */
static bool untold(const struct lapse_trackers *trackers, const struct lapse_tracked_watch *watch,
                   const struct lapse_event *handed) {
    return trackers->tenure != NULL && watch->from == LAPSE_WATCH_REVISION &&
           handed->revision > watch->delivered && handed->revision >= watch->from_revision &&
           lapse_tracked_watch_event(trackers, watch, handed->revision) == NULL;
}

/* ---- WATCH-02: one event of its own kind for each accepted write. */

bool lapse_rule_watch_02_premise(const struct lapse_trackers *trackers,
                                 const struct lapse_history_event *event) {
    if (event->kind == LAPSE_HISTORY_EMIT)
        return event->u.emit.event.kind != LAPSE_EVENT_EXPIRED && !refused(trackers, event);
    if (event->kind == LAPSE_HISTORY_DELIVER && handed_event(trackers, event) != NULL)
        return true;
    return trackers->open_write != NULL;
}

bool lapse_rule_watch_02_holds(const struct lapse_trackers *trackers,
                               const struct lapse_history_event *event,
                               struct lapse_violation *ret) {
    if (event->kind == LAPSE_HISTORY_EMIT)
        return made_right(trackers, event, ret);
    const struct lapse_history_event *write = trackers->open_write;
    if (write == NULL)
        return handed_right(trackers, event, ret);
    struct lapse_member member;
    lapse_member_at(trackers, lapse_tracked_request(trackers, write), &write->u.apply.answer,
                    trackers->open_member, &member);
    const struct lapse_command *command = member.command;
    struct lapse_rule_text name = lapse_text_key(command->bucket, command->key);
    lapse_violation_label(ret, write, "accepted, and no event was made");
    return lapse_violation_say(ret, "%s of %s was accepted but made no event",
                               lapse_call_word((int)command->verb), name.text);
}

/* ---- WATCH-03: with markers, one expired event for each end. */

bool lapse_rule_watch_03_premise(const struct lapse_trackers *trackers,
                                 const struct lapse_history_event *event) {
    const struct lapse_tracked_bucket *bucket;
    if (event->kind == LAPSE_HISTORY_END)
        return find_unmarked(trackers, event, true, false, &bucket) != NULL;
    const struct lapse_event *made = &event->u.emit.event;
    bucket = lapse_tracked_bucket_find(trackers, made->bucket);
    if (bucket == NULL || bucket->config.markers.ns <= 0 ||
        lapse_rule_marks_trace(trackers, event))
        return false;
    const struct lapse_tracked_key *key = lapse_tracked_key_find(bucket, made->key);
    return made->kind == LAPSE_EVENT_EXPIRED ||
           (key != NULL && key->owes_marker && !key->ended.mark_open &&
            made->revision > key->ended.revision && bucket->opened == NULL);
}

bool lapse_rule_watch_03_holds(const struct lapse_trackers *trackers,
                               const struct lapse_history_event *event,
                               struct lapse_violation *ret) {
    const struct lapse_tracked_bucket *bucket;
    const struct lapse_tracked_key *key;
    const struct lapse_tracked_entry *entry;
    if (event->kind == LAPSE_HISTORY_END) {
        key = find_unmarked(trackers, event, true, true, &bucket);
        if (key == NULL)
            return true;
        entry = &key->entry;
    } else {
        bucket = lapse_tracked_bucket_find(trackers, event->u.emit.event.bucket);
        if (event->u.emit.event.kind == LAPSE_EVENT_EXPIRED)
            return marker_right(trackers, event, bucket, ret);
        key = lapse_tracked_key_find(bucket, event->u.emit.event.key);
        entry = &key->ended;
        lapse_violation_label(ret, event, "written over it without its expired event");
    }
    struct lapse_rule_text name = lapse_text_key(bucket->name, key->name);
    struct lapse_rule_text end = lapse_text_end(entry->end);
    lapse_violation_label(ret, entry->term, "this gave it a term that ends: %s", end.text);
    return lapse_violation_say(ret, "%s ended (%s) and no expired event was written in time",
                               name.text, end.text);
}

/* ---- WATCH-04: without markers, an end makes no event, and later watchers do not see the key. */

bool lapse_rule_watch_04_premise(const struct lapse_trackers *trackers,
                                 const struct lapse_history_event *event) {
    const struct lapse_tracked_bucket *bucket;
    switch (event->kind) {
    case LAPSE_HISTORY_EMIT:
        bucket = lapse_tracked_bucket_find(trackers, event->u.emit.event.bucket);
        return marked(event, bucket);
    case LAPSE_HISTORY_DELIVER:
        return event->u.deliver.first && shown_ended(trackers, event) != NULL;
    case LAPSE_HISTORY_END:
        return find_unmarked(trackers, event, false, false, &bucket) != NULL;
    default:
        return false;
    }
}

bool lapse_rule_watch_04_holds(const struct lapse_trackers *trackers,
                               const struct lapse_history_event *event,
                               struct lapse_violation *ret) {
    (void)trackers;
    if (event->kind == LAPSE_HISTORY_END)
        return true;
    const struct lapse_event *made =
        event->kind == LAPSE_HISTORY_EMIT ? &event->u.emit.event : &event->u.deliver.event;
    struct lapse_rule_text name = lapse_text_key(made->bucket, made->key);
    if (event->kind == LAPSE_HISTORY_DELIVER) {
        lapse_violation_label(ret, event, "a late watcher was shown %s", name.text);
        return lapse_violation_say(ret, "a watch that began after its end was shown %s", name.text);
    }
    lapse_violation_label(ret, event, "expired %s", name.text);
    return lapse_violation_say(ret, "%s ended with an event, but its bucket has no markers",
                               name.text);
}

/* A watch that its client was told of, whose client and store run, and which was not handed all
 * that was made for it. A run that was cut short says nothing of what was still to come. */
static const struct lapse_tracked_watch *find_unserved(const struct lapse_trackers *trackers,
                                                       const struct lapse_history_event *event) {
    if (event->u.end.cut || trackers->node_paused)
        return NULL;
    for (size_t i = 0; i < trackers->watch_count; i++) {
        const struct lapse_tracked_watch *watch = &trackers->watches[i];
        size_t index;
        bool waits = watch->waits || watch->cut || watch->under_way.ns > event->at.ns;
        if (watch->heard != NULL && watch->ended == NULL && !waits &&
            lapse_tracked_watch_next(trackers, watch, &index) != NULL)
            return watch;
    }
    return NULL;
}

static bool say_unserved(const struct lapse_trackers *trackers,
                         const struct lapse_tracked_watch *watch, struct lapse_violation *ret) {
    size_t index;
    const struct lapse_history_event *next = lapse_tracked_watch_next(trackers, watch, &index);
    long long revision = (long long)next->u.emit.event.revision;
    lapse_violation_label(ret, next, "revision %lld was made here", revision);
    lapse_violation_label(ret, watch->began, "the watch began at revision %lld",
                          (long long)watch->start_revision);
    return lapse_violation_say(ret, "a watcher was never handed revision %lld, nor a gap",
                               revision);
}

/* An event under a call that may make none: CAS-05 says so. */
static bool refused(const struct lapse_trackers *trackers,
                    const struct lapse_history_event *event) {
    const struct lapse_tracked_call *call = lapse_tracked_call_find(trackers, event->call);
    return call != NULL && call->apply != NULL &&
           !lapse_call_makes_events(call);
}

static bool made_right(const struct lapse_trackers *trackers,
                       const struct lapse_history_event *event, struct lapse_violation *ret) {
    const struct lapse_event *made = &event->u.emit.event;
    struct lapse_rule_text name = lapse_text_key(made->bucket, made->key);
    const char *word = lapse_words_of_event(made->kind);
    const struct lapse_tracked_call *call = lapse_tracked_call_find(trackers, event->call);
    lapse_violation_label(ret, event, "made: %s %s", word, name.text);
    if (call == NULL || call->apply == NULL)
        return lapse_violation_say(ret, "%s %s was written, but no call asked for it", word,
                                   name.text);
    struct lapse_member member;
    size_t place = trackers->open_write == call->apply ? trackers->open_member : 0;
    lapse_member_at(trackers, &call->invoke->u.invoke.request, &call->apply->u.apply.answer, place,
                    &member);
    const struct lapse_command *command = member.command;
    const char *verb = lapse_call_word((int)command->verb);
    if (trackers->open_write != call->apply)
        return lapse_violation_say(ret, "%s of %s made an event more than it should", verb,
                                   name.text);
    bool valued = made->kind == LAPSE_EVENT_PUT;
    if (made->kind != lapse_verb_event((int)command->verb))
        return lapse_violation_say(ret, "%s of %s became the event %s", verb, name.text, word);
    if (made->revision != member.answer.revision || !lapse_bytes_equal(made->key, command->key) ||
        (valued && !lapse_bytes_equal(made->value, command->u.write.value)))
        return lapse_violation_say(ret, "the event of %s does not say what was written to %s", verb,
                                   name.text);
    ret->label_count = 0;
    return true;
}

static bool handed_right(const struct lapse_trackers *trackers,
                         const struct lapse_history_event *event, struct lapse_violation *ret) {
    const struct lapse_history_event *source = handed_event(trackers, event);
    if (source == NULL)
        return true;
    const struct lapse_event *made = &source->u.emit.event;
    const struct lapse_event *handed = &event->u.deliver.event;
    if (made->kind == handed->kind && lapse_bytes_equal(made->key, handed->key) &&
        lapse_bytes_equal(made->value, handed->value))
        return true;
    struct lapse_rule_text wrote = lapse_text_key(made->bucket, made->key);
    struct lapse_rule_text got = lapse_text_key(handed->bucket, handed->key);
    lapse_violation_label(ret, event, "was handed: %s %s", lapse_words_of_event(handed->kind),
                          got.text);
    lapse_violation_label(ret, source, "was made as: %s %s", lapse_words_of_event(made->kind),
                          wrote.text);
    return lapse_violation_say(ret, "a watcher was handed %s %s for %s %s",
                               lapse_words_of_event(handed->kind), got.text,
                               lapse_words_of_event(made->kind), wrote.text);
}

/* The bucket's event that a delivery shows: the next one of the watch, if it has that number. */
static const struct lapse_history_event *handed_event(const struct lapse_trackers *trackers,
                                                      const struct lapse_history_event *event) {
    const struct lapse_event *handed = &event->u.deliver.event;
    const struct lapse_tracked_watch *watch =
        lapse_tracked_watch_find(trackers, event->u.deliver.watcher);
    if (watch == NULL || event->u.deliver.first || handed->kind == LAPSE_EVENT_GAP ||
        watch->renumbered)
        return NULL;
    return lapse_tracked_watch_event(trackers, watch, handed->revision);
}

static bool marked(const struct lapse_history_event *event, const struct lapse_tracked_bucket *in) {
    return in != NULL && in->config.markers.ns <= 0 && in->opened == NULL &&
           event->u.emit.event.kind == LAPSE_EVENT_EXPIRED;
}

static bool marker_right(const struct lapse_trackers *trackers,
                         const struct lapse_history_event *event,
                         const struct lapse_tracked_bucket *bucket, struct lapse_violation *ret) {
    const struct lapse_event *made = &event->u.emit.event;
    const struct lapse_tracked_key *key = lapse_tracked_key_find(bucket, made->key);
    const struct lapse_tracked_entry *entry = marked_entry(key, made);
    struct lapse_rule_text name = lapse_text_key(made->bucket, made->key);
    struct lapse_rule_text at = lapse_text_ns(made->at.ns);
    if (key != NULL && (key->unsure || key->maybe != NULL))
        return true; /* a crash may have left another entry, or another term */
    if (entry == NULL) {
        lapse_violation_label(ret, event, "expired %s", name.text);
        lapse_violation_label(ret, key != NULL ? key->expired : NULL, "it expired here already");
        return lapse_violation_say(ret, "%s expired a second time, or has no such entry",
                                   name.text);
    }
    struct lapse_rule_text end = lapse_text_end(entry->end);
    bool early = entry->end.kind == LAPSE_END_NONE ||
                 (entry->end.kind == LAPSE_END_STEADY && made->at.ns < surely_ended(entry).ns);
    bool late = lapse_reap_overdue(trackers, event->at, made->at, entry->end, 0) &&
                bucket->opened == NULL;
    if (early || late) {
        lapse_violation_label(ret, event, "expired %s at %s", name.text, at.text);
        lapse_violation_label(ret, entry->term, "this gave it a term that ends: %s", end.text);
        return lapse_violation_say(ret, "the expired event of %s came too %s: its end is %s",
                                   name.text, early ? "early" : "late", end.text);
    }
    if (made->why != entry->why) {
        lapse_violation_label(ret, event, "says: %s", lapse_words_of_why(made->why));
        lapse_violation_label(ret, entry->term, "this gave it its term");
        return lapse_violation_say(ret, "%s expired by its %s term, the event says %s", name.text,
                                   lapse_words_of_why(entry->why), lapse_words_of_why(made->why));
    }
    return entry->lossy || marker_in_order(event, bucket, entry, ret);
}

/* The earliest end that an entry may have, after a crash that could lose renewals. */
static struct lapse_end surely_ended(const struct lapse_tracked_entry *entry) {
    return entry->lossy ? entry->end_kept : entry->end;
}

/* The entry whose end an expired event marks, NULL if that has been marked or never was. */
static const struct lapse_tracked_entry *marked_entry(const struct lapse_tracked_key *key,
                                                      const struct lapse_event *made) {
    if (key == NULL)
        return NULL;
    if (key->owes_marker && key->ended.revision == made->old_revision)
        return &key->ended;
    bool standing = key->present && key->expired == NULL;
    return standing && key->entry.revision == made->old_revision ? &key->entry : NULL;
}

/* Of two ends that the reaper marks, the earlier comes first; at one end the lower revision. */
static bool marker_in_order(const struct lapse_history_event *event,
                            const struct lapse_tracked_bucket *bucket,
                            const struct lapse_tracked_entry *entry, struct lapse_violation *ret) {
    const struct lapse_tracked_entry *before = &bucket->marker_entry;
    if (event->call != 0 || bucket->marker == NULL || entry->end.kind != LAPSE_END_STEADY ||
        before->end.kind != LAPSE_END_STEADY || before->end.ns < entry->end.ns ||
        (before->end.ns == entry->end.ns && before->revision < entry->revision))
        return true;
    struct lapse_rule_text name = lapse_text_key(bucket->name, event->u.emit.event.key);
    lapse_violation_label(ret, event, "ended before");
    lapse_violation_label(ret, bucket->marker, "marked first");
    return lapse_violation_say(ret, "the expired event of %s stands behind a later one", name.text);
}

/* The first key that has ended and has no expired event, in buckets with or without markers; with
 * `late` only those past the reap bound. */
static const struct lapse_tracked_key *find_unmarked(const struct lapse_trackers *trackers,
                                                     const struct lapse_history_event *event,
                                                     bool markers, bool late,
                                                     const struct lapse_tracked_bucket **ret) {
    struct lapse_steady store = lapse_tracked_store_time(trackers, event->at);
    for (size_t b = 0; b < trackers->bucket_count; b++) {
        const struct lapse_tracked_bucket *bucket = &trackers->buckets[b];
        /* Where the last revision has been given there is none for an event. */
        bool over = markers && bucket->revision == INT64_MAX;
        if ((bucket->config.markers.ns > 0) != markers || over)
            continue;
        *ret = bucket;
        for (size_t k = 0; k < bucket->key_count; k++) {
            const struct lapse_tracked_key *key = bucket->keys[k];
            struct lapse_end end = key->entry.end;
            bool ended = key->present && key->expired == NULL && end.kind == LAPSE_END_STEADY &&
                         end.ns <= store.ns;
            bool sure = !key->unsure && !key->entry.mark_open && key->maybe == NULL &&
                        !key->entry.lossy && bucket->opened == NULL;
            if (ended && sure && (!late || lapse_reap_overdue(trackers, event->at, store, end, 0)))
                return key;
        }
    }
    return NULL;
}

/* The key of a first delivery, if it had ended when its watch began. */
static const struct lapse_tracked_key *shown_ended(const struct lapse_trackers *trackers,
                                                   const struct lapse_history_event *event) {
    const struct lapse_tracked_watch *watch =
        lapse_tracked_watch_find(trackers, event->u.deliver.watcher);
    if (watch == NULL)
        return NULL;
    const struct lapse_tracked_key *key = lapse_tracked_key_find(
        lapse_tracked_bucket_find(trackers, watch->bucket), event->u.deliver.event.key);
    const struct lapse_answer *began = &watch->began->u.apply.answer;
    bool same = key != NULL && key->entry.revision == event->u.deliver.event.revision;
    /* An end that was told since is no end of then: a store that hangs hands out late. */
    same = same && (key->expired == NULL || key->expired->seq < watch->began->seq);
    bool ended = same && lapse_tracked_key_state(trackers, key, began->at, began->wall) ==
                             LAPSE_TRACKED_ENDED;
    return ended ? key : NULL;
}
