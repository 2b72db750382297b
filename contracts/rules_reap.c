/* REAP-01, REAP-02, WATCH-05 and KV-12: what storage holds, and who writes to it. */
#include "rules.h"
#include "track.h"

/* What the trackers know of the rows of one bucket. */
struct rows {
    bool known;
    int64_t most, least;                    /* that may be there, that must be */
    size_t ended;                           /* keys whose rows should be gone */
    size_t marks;                           /* tombstones and markers that should be gone */
    int64_t kept;                           /* newest ones that should be there yet */
    const struct lapse_history_event *term; /* of one that should be gone */
};

static void count_rows(const struct lapse_trackers *trackers,
                       const struct lapse_history_event *event, struct rows *ret);
static void count_key(const struct lapse_trackers *trackers,
                      const struct lapse_history_event *event,
                      const struct lapse_tracked_bucket *bucket,
                      const struct lapse_tracked_key *key, size_t due, struct rows *ret);
static bool say_rows(const struct lapse_history_event *event, const struct rows *rows,
                     struct lapse_violation *ret, const char *what);
static const struct lapse_tracked_record *stale_mark(const struct lapse_trackers *trackers,
                                                     const struct lapse_history_event *event,
                                                     bool shown);
static bool rides(const struct lapse_trackers *trackers, const struct lapse_history_event *event);
static const struct lapse_tracked_key *read_key(const struct lapse_trackers *trackers,
                                                const struct lapse_history_event *event,
                                                enum lapse_tracked_state *ret_state);

/* ---- REAP-01: what has ended is removed in time, and nothing that lives. */

bool lapse_rule_reap_01_premise(const struct lapse_trackers *trackers,
                                const struct lapse_history_event *event) {
    struct rows rows;
    if (event->u.probe.kind != LAPSE_PROBE_ROWS)
        return false;
    count_rows(trackers, event, &rows);
    return rows.known && (rows.ended > 0 || event->u.probe.row_count < rows.least);
}

bool lapse_rule_reap_01_holds(const struct lapse_trackers *trackers,
                              const struct lapse_history_event *event,
                              struct lapse_violation *ret) {
    struct rows rows;
    count_rows(trackers, event, &rows);
    if (event->u.probe.row_count < rows.least)
        return say_rows(event, &rows, ret, "live rows are missing");
    return event->u.probe.row_count <= rows.most ||
           say_rows(event, &rows, ret, "rows that have ended were not reaped in time");
}

/* ---- WATCH-05: markers and tombstones go away after their own term. */

bool lapse_rule_watch_05_premise(const struct lapse_trackers *trackers,
                                 const struct lapse_history_event *event) {
    struct rows rows;
    if (event->kind == LAPSE_HISTORY_EMIT)
        return lapse_rule_marks_trace(trackers, event);
    if (event->kind == LAPSE_HISTORY_APPLY)
        return stale_mark(trackers, event, false) != NULL;
    if (event->u.probe.kind != LAPSE_PROBE_ROWS)
        return false;
    count_rows(trackers, event, &rows);
    return rows.known && (rows.marks > 0 || rows.kept > 0) && rows.ended == 0;
}

bool lapse_rule_marks_trace(const struct lapse_trackers *trackers,
                            const struct lapse_history_event *event) {
    const struct lapse_event *made = &event->u.emit.event;
    const struct lapse_tracked_key *key =
        lapse_tracked_key_find(lapse_tracked_bucket_find(trackers, made->bucket), made->key);
    if (made->kind != LAPSE_EVENT_EXPIRED || key == NULL || key->unsure || key->maybe != NULL ||
        key->record_count == 0)
        return false;
    const struct lapse_tracked_record *last = &key->records[key->record_count - 1];
    return last->revision == made->old_revision &&
           (last->kind == LAPSE_RECORD_TOMBSTONE || last->kind == LAPSE_RECORD_PURGE);
}

bool lapse_rule_watch_05_holds(const struct lapse_trackers *trackers,
                               const struct lapse_history_event *event,
                               struct lapse_violation *ret) {
    if (event->kind == LAPSE_HISTORY_PROBE) {
        struct rows rows;
        count_rows(trackers, event, &rows);
        if (event->u.probe.row_count > rows.most)
            return say_rows(event, &rows, ret, "a marker or tombstone outlived its own term");
        return event->u.probe.row_count >= rows.least + rows.kept ||
               say_rows(event, &rows, ret, "a marker or tombstone went before its own term");
    }
    if (event->kind == LAPSE_HISTORY_EMIT) {
        struct lapse_rule_text name =
            lapse_text_key(event->u.emit.event.bucket, event->u.emit.event.key);
        lapse_violation_label(ret, event, "expired %s", name.text);
        return lapse_violation_say(ret, "the end of a tombstone of %s made an event", name.text);
    }
    const struct lapse_tracked_record *record = stale_mark(trackers, event, true);
    if (record == NULL)
        return true;
    struct lapse_rule_text end = lapse_text_end(record->end);
    lapse_violation_label(ret, event, "shows revision %lld", (long long)record->revision);
    lapse_violation_label(ret, record->by, "made here, until %s", end.text);
    return lapse_violation_say(ret, "a history shows a marker or tombstone past its own term (%s)",
                               end.text);
}

/* ---- REAP-02: no call writes because a term has ended, but the key's next write. */

bool lapse_rule_reap_02_premise(const struct lapse_trackers *trackers,
                                const struct lapse_history_event *event) {
    if (event->kind == LAPSE_HISTORY_EMIT)
        return event->call != 0 && event->u.emit.event.kind == LAPSE_EVENT_EXPIRED;
    enum lapse_tracked_state state = LAPSE_TRACKED_NEVER;
    return event->u.apply.durable_point != 0 && read_key(trackers, event, &state) != NULL &&
           state == LAPSE_TRACKED_ENDED;
}

bool lapse_rule_reap_02_holds(const struct lapse_trackers *trackers,
                              const struct lapse_history_event *event,
                              struct lapse_violation *ret) {
    if (event->kind == LAPSE_HISTORY_EMIT) {
        if (rides(trackers, event))
            return true;
        struct lapse_rule_text name =
            lapse_text_key(event->u.emit.event.bucket, event->u.emit.event.key);
        lapse_violation_label(ret, event, "written by a call that does not write %s", name.text);
        return lapse_violation_say(ret, "a call marked the end of %s, which it does not write",
                                   name.text);
    }
    if (!lapse_track_commit_unexplained(trackers, event))
        return true;
    lapse_violation_label(ret, event, "found it ended, and something was committed");
    return lapse_violation_say(ret, "a read wrote to storage because a term had ended");
}

/* ---- KV-12: a use costs a durable write no more often than it renews. */

bool lapse_rule_kv_12_premise(const struct lapse_trackers *trackers,
                              const struct lapse_history_event *event) {
    enum lapse_tracked_state state = LAPSE_TRACKED_NEVER;
    const struct lapse_tracked_key *key = read_key(trackers, event, &state);
    return event->u.apply.durable_point != 0 && key != NULL && state == LAPSE_TRACKED_LIVE &&
           key->entry.why == LAPSE_WHY_IDLE && event->u.apply.answer.status == LAPSE_OK &&
           lapse_command_uses(lapse_rule_command(trackers, event));
}

bool lapse_rule_kv_12_holds(const struct lapse_trackers *trackers,
                            const struct lapse_history_event *event, struct lapse_violation *ret) {
    enum lapse_tracked_state state = LAPSE_TRACKED_NEVER;
    const struct lapse_tracked_key *key = read_key(trackers, event, &state);
    if (!lapse_track_commit_unexplained(trackers, event))
        return true;
    lapse_violation_label(ret, event, "renewed nothing, and something was committed");
    lapse_violation_label(ret, key->entry.renewal != NULL ? key->entry.renewal : key->entry.term,
                          "its last use that counts");
    return lapse_violation_say(ret, "a use of an idle key was written to storage before a "
                                    "thirtieth of its span had passed");
}

static void count_rows(const struct lapse_trackers *trackers,
                       const struct lapse_history_event *event, struct rows *ret) {
    const struct lapse_tracked_bucket *bucket =
        lapse_tracked_bucket_find(trackers, event->u.probe.bucket);
    *ret = (struct rows){.known = bucket != NULL && !bucket->unsure && bucket->opened == NULL &&
                                  event->u.probe.answer_count == 0};
    struct lapse_steady store = lapse_tracked_store_time(trackers, event->at);
    size_t due = 0;
    for (size_t i = 0; ret->known && i < bucket->key_count; i++) {
        const struct lapse_tracked_key *key = bucket->keys[i];
        bool open = key->unsure || key->maybe != NULL || key->entry.lossy;
        struct lapse_end end = key->entry.end;
        ret->known = !open;
        due += key->present && end.kind == LAPSE_END_STEADY && end.ns <= store.ns ? 1 : 0;
    }
    for (size_t i = 0; ret->known && i < bucket->key_count; i++)
        count_key(trackers, event, bucket, bucket->keys[i], due, ret);
}

static void count_key(const struct lapse_trackers *trackers,
                      const struct lapse_history_event *event,
                      const struct lapse_tracked_bucket *bucket,
                      const struct lapse_tracked_key *key, size_t due, struct rows *ret) {
    struct lapse_steady store = lapse_tracked_store_time(trackers, event->at);
    struct lapse_wall none = {INT64_MIN};
    bool ended = key->present && key->expired == NULL &&
                 lapse_reap_overdue(trackers, event->at, store, key->entry.end, due);
    if (ended) {
        ret->ended++;
        ret->term = key->entry.term;
        /* Its marker, if a revision was left for one. */
        ret->most += bucket->config.markers.ns > 0 && bucket->revision < INT64_MAX ? 1 : 0;
        return;
    }
    for (size_t i = 0; i < key->record_count; i++) {
        const struct lapse_tracked_record *record = &key->records[i];
        bool gone = lapse_reap_overdue(trackers, event->at, store, record->end, due);
        ret->marks += gone ? 1 : 0;
        ret->most += gone ? 0 : 1;
        if (gone && ret->term == NULL)
            ret->term = record->by;
    }
    const struct lapse_tracked_record *last =
        key->record_count > 0 ? &key->records[key->record_count - 1] : NULL;
    if (last != NULL && last->end.kind == LAPSE_END_STEADY && store.ns < last->end.ns)
        ret->kept++;
    struct lapse_steady most = lapse_tracked_store_most(trackers, event->at);
    bool live = lapse_tracked_key_known(trackers, key, most, none) == LAPSE_TRACKED_LIVE;
    ret->least += live && key->entry.end.kind != LAPSE_END_WALL ? 1 : 0;
    if ((key->present && key->record_count == 0) || key->records_from > 0)
        ret->most += bucket->config.history + 1; /* a crash settled it: its rows are not known */
}

static bool say_rows(const struct lapse_history_event *event, const struct rows *rows,
                     struct lapse_violation *ret, const char *what) {
    struct lapse_rule_text name = lapse_text_name(event->u.probe.bucket);
    lapse_violation_label(ret, event, "%lld rows, and from %lld to %lld may be there",
                          (long long)event->u.probe.row_count, (long long)rows->least,
                          (long long)rows->most);
    lapse_violation_label(ret, rows->term, "one that should be gone");
    return lapse_violation_say(ret, "%s: %s", name.text, what);
}

/* A tombstone or marker whose own term has passed, of the key whose history is read; with `shown`
 * only if the answer shows it. */
static const struct lapse_tracked_record *stale_mark(const struct lapse_trackers *trackers,
                                                     const struct lapse_history_event *event,
                                                     bool shown) {
    const struct lapse_command *command = lapse_rule_command(trackers, event);
    const struct lapse_answer *answer = &event->u.apply.answer;
    if (command == NULL || command->verb != LAPSE_VERB_HISTORY || answer->status != LAPSE_OK)
        return NULL;
    const struct lapse_tracked_key *key =
        lapse_tracked_key_find(lapse_tracked_bucket_find(trackers, command->bucket), command->key);
    for (size_t i = 0; key != NULL && i < key->record_count; i++) {
        const struct lapse_tracked_record *record = &key->records[i];
        if (record->end.kind != LAPSE_END_STEADY || answer->at.ns < record->end.ns)
            continue;
        bool found = !shown;
        for (size_t k = 0; k < answer->item_count; k++)
            found = found || answer->items[k].revision == record->revision;
        if (found)
            return record;
    }
    return NULL;
}

/* Whether the call of an expired event is an accepted write of the key that has ended. */
static bool rides(const struct lapse_trackers *trackers, const struct lapse_history_event *event) {
    const struct lapse_tracked_call *call = lapse_tracked_call_find(trackers, event->call);
    if (call == NULL || call->apply == NULL || !lapse_call_makes_events(call))
        return call == NULL || call->apply == NULL;
    const struct lapse_request *request = &call->invoke->u.invoke.request;
    const struct lapse_answer *answer = &call->apply->u.apply.answer;
    for (size_t i = 0; i < lapse_member_count(request, answer); i++) {
        struct lapse_member member;
        lapse_member_at(trackers, request, answer, i, &member);
        if (lapse_verb_takes_revision((int)member.command->verb) &&
            lapse_bytes_equal(member.command->bucket, event->u.emit.event.bucket) &&
            lapse_bytes_equal(member.command->key, event->u.emit.event.key))
            return true;
    }
    return false;
}

/* The key that a decision reads, and what stands there. */
static const struct lapse_tracked_key *read_key(const struct lapse_trackers *trackers,
                                                const struct lapse_history_event *event,
                                                enum lapse_tracked_state *ret_state) {
    const struct lapse_command *command = lapse_rule_command(trackers, event);
    const struct lapse_answer *answer = &event->u.apply.answer;
    if (command == NULL || answer->status < 0 || !lapse_verb_reads_key((int)command->verb))
        return NULL;
    const struct lapse_tracked_key *key =
        lapse_tracked_key_find(lapse_tracked_bucket_find(trackers, command->bucket), command->key);
    *ret_state = lapse_tracked_key_state(trackers, key, answer->at, answer->wall);
    return key;
}
