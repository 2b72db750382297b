/* DUR-01..05: what a crash of the store may take and what it may not. Where commits are not synced
 * in full, what was lost is not known, and nothing is judged that hangs on it. */
#include "rules.h"
#include "track.h"

/* What a read shows of a call that had no answer before a crash. */
enum outcome { OUTCOME_OPEN = 0, OUTCOME_DONE, OUTCOME_NOT_DONE, OUTCOME_PARTLY };

static bool before_tenure(const struct lapse_trackers *trackers,
                          const struct lapse_history_event *event);
static bool reads_value(const struct lapse_look *look);
static bool is_plain_read(const struct lapse_look *look);
static const struct lapse_tracked_grant *old_grant(const struct lapse_trackers *trackers,
                                                   const struct lapse_look *look);
static enum outcome outcome_of(const struct lapse_trackers *trackers,
                               const struct lapse_look *look);
static bool say_lost(const struct lapse_trackers *trackers, const struct lapse_look *look,
                     struct lapse_violation *ret, const char *what);
static bool say_lease(const struct lapse_trackers *trackers, const struct lapse_look *look,
                      struct lapse_violation *ret, const char *what);

/* ---- DUR-01: what an answer has shown survives. */

static bool dur_01_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    if (trackers->tenure == NULL || look->key == NULL ||
        lapse_look_shows(look) == LAPSE_SHOWN_NOTHING)
        return false;
    if (look->state == LAPSE_TRACKED_REMOVED)
        return before_tenure(trackers, look->key->removed);
    return look->state == LAPSE_TRACKED_LIVE && before_tenure(trackers, look->key->entry.term);
}

static bool dur_01_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                         struct lapse_violation *ret) {
    const struct lapse_tracked_entry *entry = &look->key->entry;
    bool present = lapse_look_shows(look) == LAPSE_SHOWN_PRESENT;
    if (look->state == LAPSE_TRACKED_REMOVED)
        return !present ||
               say_lost(trackers, look, ret, "was removed, and a crash brought it back");
    if (!present)
        return say_lost(trackers, look, ret, "was lost in a crash");
    if (is_plain_read(look) && look->answer->revision != entry->revision)
        return say_lost(trackers, look, ret, "has another revision since a crash");
    if (reads_value(look) && !lapse_bytes_equal(look->answer->value, entry->value))
        return say_lost(trackers, look, ret, "has another value since a crash");
    bool same = look->answer->end.kind == entry->end.kind && look->answer->end.ns == entry->end.ns;
    if (reads_value(look) && entry->why != LAPSE_WHY_IDLE && !same)
        return say_lost(trackers, look, ret, "has another end since a crash");
    return true;
}

/* What was answered has not survived either where the store says of its own file that it is no
 * store, though no fault of the disk has touched it: then only DUR-06 is judged. */
static bool refuses_its_file(const struct lapse_trackers *trackers,
                             const struct lapse_history_event *event) {
    return event->kind == LAPSE_HISTORY_NOTE && trackers->setup->sync != LAPSE_SYNC_NONE &&
           (event->u.note.status == LAPSE_CORRUPT || event->u.note.status == LAPSE_VERSION);
}

bool lapse_rule_dur_01_premise(const struct lapse_trackers *trackers,
                               const struct lapse_history_event *event) {
    return refuses_its_file(trackers, event) ||
           lapse_looks_any(trackers, event, false, dur_01_concerns);
}

bool lapse_rule_dur_01_holds(const struct lapse_trackers *trackers,
                             const struct lapse_history_event *event,
                             struct lapse_violation *ret) {
    if (!refuses_its_file(trackers, event))
        return lapse_looks_all(trackers, event, false, dur_01_concerns, dur_01_check, ret);
    lapse_violation_label(ret, event, "does not open");
    return lapse_violation_say(ret, "after a crash the store takes its own file for %s",
                               event->u.note.status == LAPSE_CORRUPT ? "damaged"
                                                                     : "another program's");
}

/* ---- DUR-02: a write without an answer is done whole or not at all. */

static bool dur_02_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    return look->key != NULL && look->key->maybe != NULL && !look->key->unsure &&
           is_plain_read(look) && outcome_of(trackers, look) != OUTCOME_OPEN;
}

static bool dur_02_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                         struct lapse_violation *ret) {
    enum outcome outcome = outcome_of(trackers, look);
    const struct lapse_tracked_key *key = look->key;
    const struct lapse_tracked_call *call = lapse_tracked_call_find(trackers, key->maybe->call);
    int known = call != NULL ? call->resolved : 0;
    bool torn =
        (outcome == OUTCOME_DONE && known < 0) || (outcome == OUTCOME_NOT_DONE && known > 0);
    if (outcome != OUTCOME_PARTLY && !torn)
        return true;
    struct lapse_rule_text name = lapse_text_key(look->bucket->name, key->name);
    lapse_violation_label(ret, look->event, "shows neither what was nor what was asked");
    lapse_violation_label(ret, key->maybe, "this call had no answer");
    lapse_violation_label(ret, key->entry.write, "the last write that had one");
    return lapse_violation_say(ret,
                               torn ? "a batch without an answer is there in part: %s"
                                    : "a write of %s without an answer is there in part",
                               name.text);
}
LAPSE_RULE_BY_OPEN_LOOKS(dur_02, dur_02_concerns, dur_02_check)

/* ---- DUR-03: only the idle renewals of the last second may go. */

static bool dur_03_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    const struct lapse_tracked_key *key = look->key;
    return trackers->tenure != NULL && key != NULL && !key->unsure && key->maybe == NULL &&
           before_tenure(trackers, key->entry.renewal) &&
           lapse_tracked_key_known(trackers, key, look->answer->at, look->answer->wall) ==
               LAPSE_TRACKED_LIVE &&
           lapse_look_shows(look) != LAPSE_SHOWN_NOTHING;
}

static bool dur_03_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                         struct lapse_violation *ret) {
    const struct lapse_tracked_entry *entry = &look->key->entry;
    struct lapse_end least = entry->lossy ? entry->end_kept : entry->end;
    bool present = lapse_look_shows(look) == LAPSE_SHOWN_PRESENT;
    bool absent_too_soon = !present && look->answer->at.ns < least.ns;
    bool shorter = present && reads_value(look) && look->answer->end.ns < least.ns;
    if (!absent_too_soon && !shorter)
        return true;
    struct lapse_rule_text name = lapse_text_key(look->bucket->name, look->key->name);
    struct lapse_rule_text end = lapse_text_end(least);
    lapse_violation_label(ret, look->event, present ? "shows an earlier end" : "found nothing");
    lapse_violation_label(ret, entry->renewal, "this use renewed it");
    lapse_violation_label(ret, trackers->tenure, "the store was started again");
    return lapse_violation_say(ret,
                               "a crash lost a renewal of %s that was durable: it ends at %s "
                               "or later",
                               name.text, end.text);
}
LAPSE_RULE_BY_OPEN_LOOKS(dur_03, dur_03_concerns, dur_03_check)

/* ---- DUR-04: a persistent lease comes back as it was. */

static bool dur_04_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    const struct lapse_tracked_grant *grant = old_grant(trackers, look);
    /* What is lost to an acquire is the session that it names. */
    bool of_session = look->verb == LAPSE_VERB_ACQUIRE && look->answer->status == LAPSE_LOST;
    return grant != NULL && !grant->ephemeral && !of_session &&
           lapse_tracked_grant_live(look->lease, look->answer->at) != NULL;
}

static bool dur_04_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                         struct lapse_violation *ret) {
    const struct lapse_tracked_grant *grant = lapse_tracked_grant_last(look->lease);
    const struct lapse_answer *answer = look->answer;
    bool shown =
        answer->status == LAPSE_HELD ||
        (answer->status == LAPSE_OK && (look->verb != LAPSE_VERB_ACQUIRE || answer->renewed));
    bool denied = answer->status == LAPSE_ABSENT || answer->status == LAPSE_LOST ||
                  (answer->status == LAPSE_OK && !shown);
    if (denied)
        return say_lease(trackers, look, ret, "was lost in a crash");
    if (!shown || look->verb == LAPSE_VERB_RELEASE)
        return true;
    if (!look->in_batch && !lapse_bytes_equal(answer->owner, grant->owner))
        return say_lease(trackers, look, ret, "has another owner since a crash");
    if (answer->status == LAPSE_OK && answer->token != grant->token)
        return say_lease(trackers, look, ret, "has another token since a crash");
    if (look->verb != LAPSE_VERB_EXTEND && answer->end.ns != grant->end.ns)
        return say_lease(trackers, look, ret, "has another end since a crash");
    return true;
}
LAPSE_RULE_BY_LOOKS(dur_04, dur_04_concerns, dur_04_check)

/* ---- DUR-05: an ephemeral lease is gone with its tenure. */

static bool dur_05_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    (void)trackers;
    const struct lapse_tracked_grant *grant = lapse_tracked_grant_last(look->lease);
    return grant != NULL && grant->lost != NULL && grant->released == NULL;
}

static bool dur_05_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                         struct lapse_violation *ret) {
    const struct lapse_answer *answer = look->answer;
    bool shown =
        answer->status == LAPSE_HELD ||
        (answer->status == LAPSE_OK && (look->verb != LAPSE_VERB_ACQUIRE || answer->renewed));
    return !shown || say_lease(trackers, look, ret, "is ephemeral and outlived its tenure");
}
LAPSE_RULE_BY_LOOKS(dur_05, dur_05_concerns, dur_05_check)

static bool before_tenure(const struct lapse_trackers *trackers,
                          const struct lapse_history_event *event) {
    return event != NULL && event->seq < trackers->tenure->seq;
}

static bool is_plain_read(const struct lapse_look *look) {
    return lapse_verb_reads_key(look->verb) &&
           (look->command == NULL || !look->command->u.read.has_revision);
}

static bool reads_value(const struct lapse_look *look) {
    return is_plain_read(look) && look->verb != LAPSE_VERB_HAS && look->answer->status == LAPSE_OK;
}

/* The last grant, if it was there before the store's last start. */
static const struct lapse_tracked_grant *old_grant(const struct lapse_trackers *trackers,
                                                   const struct lapse_look *look) {
    const struct lapse_tracked_grant *grant = lapse_tracked_grant_last(look->lease);
    bool old = grant != NULL && trackers->tenure != NULL && before_tenure(trackers, grant->term);
    return old ? grant : NULL;
}

static enum outcome outcome_of(const struct lapse_trackers *trackers,
                               const struct lapse_look *look) {
    const struct lapse_tracked_key *key = look->key;
    const struct lapse_answer *answer = look->answer;
    const struct lapse_command *asked = key->maybe_command;
    bool live =
        lapse_tracked_key_known(trackers, key, answer->at, answer->wall) == LAPSE_TRACKED_LIVE;
    bool puts = lapse_verb_event((int)asked->verb) == LAPSE_EVENT_PUT;
    bool removes = lapse_verb_takes_revision((int)asked->verb) && !puts;
    if (answer->status != LAPSE_OK && answer->status != LAPSE_ABSENT)
        return OUTCOME_OPEN;
    if (answer->status == LAPSE_ABSENT && live)
        return removes ? OUTCOME_DONE : OUTCOME_OPEN;
    if (answer->status == LAPSE_ABSENT || look->verb == LAPSE_VERB_HAS)
        return OUTCOME_OPEN;
    if (live && answer->revision == key->entry.revision &&
        lapse_bytes_equal(answer->value, key->entry.value))
        return removes || puts ? OUTCOME_NOT_DONE : OUTCOME_OPEN;
    bool done = puts && answer->revision > key->entry.revision &&
                lapse_bytes_equal(answer->value, asked->u.write.value);
    return done ? OUTCOME_DONE : OUTCOME_PARTLY;
}

static bool say_lost(const struct lapse_trackers *trackers, const struct lapse_look *look,
                     struct lapse_violation *ret, const char *what) {
    struct lapse_rule_text name = lapse_text_key(look->bucket->name, look->key->name);
    const struct lapse_history_event *removed =
        look->state == LAPSE_TRACKED_REMOVED ? look->key->removed : look->key->entry.term;
    lapse_violation_label(ret, look->event, "%s answered %s", lapse_call_word(look->verb),
                          lapse_status_word(look->answer->status));
    lapse_violation_label(ret, removed, "this was answered before the crash");
    lapse_violation_label(ret, trackers->tenure, "the store was started again");
    return lapse_violation_say(ret, "%s %s", name.text, what);
}

static bool say_lease(const struct lapse_trackers *trackers, const struct lapse_look *look,
                      struct lapse_violation *ret, const char *what) {
    struct lapse_rule_text name = lapse_text_name(look->key_name);
    const struct lapse_tracked_grant *grant = lapse_tracked_grant_last(look->lease);
    struct lapse_rule_text owner = lapse_text_name(grant->owner);
    lapse_violation_label(ret, look->event, "%s answered %s", lapse_call_word(look->verb),
                          lapse_status_word(look->answer->status));
    lapse_violation_label(ret, grant->granted, "%s was granted token %lld", owner.text,
                          (long long)grant->token);
    lapse_violation_label(ret, trackers->tenure, "the store was started again");
    return lapse_violation_say(ret, "%s %s", name.text, what);
}
