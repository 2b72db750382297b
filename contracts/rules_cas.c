/* CAS-01..05: conditional writes, create, and the revisions that they turn on. */
#include "contracts/promise.h"
#include "rules.h"
#include "track.h"
#include "words.h"

static bool conditional(const struct lapse_look *look);
static bool lost_its_session(const struct lapse_look *look);
static bool revision_rises(const struct lapse_history_event *event,
                           const struct lapse_tracked_bucket *bucket, int64_t revision,
                           int64_t floor, struct lapse_violation *ret);
static bool refused_emit(const struct lapse_trackers *trackers,
                         const struct lapse_history_event *event);
static bool makes_event(const struct lapse_trackers *trackers,
                        const struct lapse_history_event *event);
static bool unchanged(const struct lapse_trackers *trackers,
                      const struct lapse_history_event *event, struct lapse_look *ret);

static bool cas_01_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    (void)trackers;
    return conditional(look) && look->answer->status >= 0 && !lost_its_session(look);
}

static bool cas_01_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                         struct lapse_violation *ret) {
    (void)trackers;
    int64_t asked = look->command->u.write.if_version;
    bool live = look->state == LAPSE_TRACKED_LIVE;
    int64_t stands = live ? look->key->entry.revision : 0;
    bool match = live && asked == stands;
    enum lapse_status status = look->answer->status;
    struct lapse_rule_text name = lapse_text_key(look->bucket->name, look->key_name);
    const char *word = lapse_call_word(look->verb);
    if (match ? status == LAPSE_OK : status == LAPSE_CONFLICT) {
        if (match || look->answer->revision == stands)
            return true;
        lapse_violation_label(ret, look->event, "says revision %lld",
                              (long long)look->answer->revision);
        return lapse_violation_say(ret, "a conflict on %s named revision %lld, it has %lld",
                                   name.text, (long long)look->answer->revision, (long long)stands);
    }
    lapse_violation_label(ret, look->event, "asked for revision %lld: %s", (long long)asked,
                          lapse_status_word(status));
    if (live)
        lapse_violation_label(ret, look->key->entry.write, "wrote revision %lld",
                              (long long)stands);
    if (match)
        return lapse_violation_say(ret, "%s of %s was refused, yet it has revision %lld", word,
                                   name.text, (long long)asked);
    if (status == LAPSE_OK)
        return lapse_violation_say(ret, "%s of %s was done on revision %lld, which it has not",
                                   word, name.text, (long long)asked);
    return lapse_violation_say(ret, "%s of %s on revision %lld must answer conflict", word,
                               name.text, (long long)asked);
}
LAPSE_RULE_BY_LOOKS(cas_01, cas_01_concerns, cas_01_check)

static bool cas_02_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    (void)trackers;
    bool revision = conditional(look) && look->command->u.write.if_version > 0; /* 0 names none */
    return revision && lapse_verb_takes_revision(look->verb) && look->key != NULL &&
           look->key->spent != NULL &&
           look->key->spent_revision == look->command->u.write.if_version;
}

static bool cas_02_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                         struct lapse_violation *ret) {
    (void)trackers;
    if (look->answer->status != LAPSE_OK)
        return true;
    struct lapse_rule_text name = lapse_text_key(look->bucket->name, look->key->name);
    long long revision = (long long)look->key->spent_revision;
    lapse_violation_label(ret, look->event, "the second write on revision %lld", revision);
    lapse_violation_label(ret, look->key->spent, "the first write on revision %lld", revision);
    return lapse_violation_say(ret, "two writes on revision %lld of %s succeeded", revision,
                               name.text);
}
LAPSE_RULE_BY_LOOKS(cas_02, cas_02_concerns, cas_02_check)

static bool cas_03_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    (void)trackers;
    return look->verb == LAPSE_VERB_CREATE && look->command != NULL && look->bucket != NULL &&
           look->answer->status >= 0 && !lost_its_session(look);
}

static bool cas_03_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                         struct lapse_violation *ret) {
    (void)trackers;
    bool live = look->state == LAPSE_TRACKED_LIVE;
    if (live ? look->answer->status == LAPSE_EXISTS : look->answer->status == LAPSE_OK)
        return true;
    struct lapse_rule_text name = lapse_text_key(look->bucket->name, look->key_name);
    lapse_violation_label(ret, look->event, "create answered %s",
                          lapse_status_word(look->answer->status));
    if (look->key != NULL)
        lapse_violation_label(ret, live ? look->key->entry.write : look->key->removed,
                              live ? "this entry is live" : "removed here");
    return lapse_violation_say(ret,
                               live ? "%s was created while an entry was live"
                                    : "create of %s was refused, but nothing is live there",
                               name.text);
}
LAPSE_RULE_BY_LOOKS(cas_03, cas_03_concerns, cas_03_check)

bool lapse_rule_cas_04_premise(const struct lapse_trackers *trackers,
                               const struct lapse_history_event *event) {
    if (event->kind == LAPSE_HISTORY_EMIT) {
        const struct lapse_tracked_bucket *bucket =
            lapse_tracked_bucket_find(trackers, event->u.emit.event.bucket);
        return bucket != NULL && bucket->event_revision > 0;
    }
    const struct lapse_request *request = lapse_tracked_request(trackers, event);
    const struct lapse_answer *answer = &event->u.apply.answer;
    if (request == NULL || answer->status != LAPSE_OK || answer->repeated)
        return false;
    size_t count = lapse_member_count(request, answer);
    for (size_t i = lapse_member_next_event(request, answer, 0); i < count;
         i = lapse_member_next_event(request, answer, i + 1)) {
        struct lapse_member member;
        lapse_member_at(trackers, request, answer, i, &member);
        const struct lapse_tracked_bucket *bucket =
            lapse_tracked_bucket_find(trackers, member.command->bucket);
        if (bucket != NULL && bucket->revision > 0)
            return true;
    }
    return false;
}

bool lapse_rule_cas_04_holds(const struct lapse_trackers *trackers,
                             const struct lapse_history_event *event, struct lapse_violation *ret) {
    if (event->kind == LAPSE_HISTORY_EMIT) {
        const struct lapse_tracked_bucket *bucket =
            lapse_tracked_bucket_find(trackers, event->u.emit.event.bucket);
        /* A call's own events carry numbers up to its answer's, which is counted already. */
        int64_t floor = event->call == 0 ? bucket->revision : bucket->event_revision;
        return revision_rises(event, bucket, event->u.emit.event.revision, floor, ret);
    }
    const struct lapse_request *request = lapse_tracked_request(trackers, event);
    const struct lapse_answer *answer = &event->u.apply.answer;
    size_t count = lapse_member_count(request, answer);
    for (size_t i = lapse_member_next_event(request, answer, 0); i < count;
         i = lapse_member_next_event(request, answer, i + 1)) {
        struct lapse_member member;
        lapse_member_at(trackers, request, answer, i, &member);
        const struct lapse_tracked_bucket *bucket =
            lapse_tracked_bucket_find(trackers, member.command->bucket);
        if (bucket != NULL && !revision_rises(event, bucket, member.answer.revision,
                                              bucket->revision, ret))
            return false;
    }
    return true;
}

static bool revision_rises(const struct lapse_history_event *event,
                           const struct lapse_tracked_bucket *bucket, int64_t revision,
                           int64_t floor, struct lapse_violation *ret) {
    if (revision > floor)
        return true;
    struct lapse_rule_text name = lapse_text_name(bucket->name);
    lapse_violation_label(ret, event, "took revision %lld", (long long)revision);
    lapse_violation_label(ret, bucket->revision_by, "%s had revision %lld here", name.text,
                          (long long)floor);
    return lapse_violation_say(ret, "%s went from revision %lld to %lld", name.text,
                               (long long)floor, (long long)revision);
}

bool lapse_rule_cas_05_premise(const struct lapse_trackers *trackers,
                               const struct lapse_history_event *event) {
    struct lapse_look look;
    if (event->kind == LAPSE_HISTORY_APPLY)
        return unchanged(trackers, event, &look);
    const struct lapse_tracked_bucket *bucket =
        lapse_tracked_bucket_find(trackers, event->u.emit.event.bucket);
    return bucket != NULL && (refused_emit(trackers, event) ||
                              (bucket->unnumbered != NULL && !bucket->renumbered));
}

bool lapse_rule_cas_05_holds(const struct lapse_trackers *trackers,
                             const struct lapse_history_event *event, struct lapse_violation *ret) {
    struct lapse_look look;
    if (event->kind == LAPSE_HISTORY_APPLY) {
        (void)unchanged(trackers, event, &look);
        const struct lapse_tracked_entry *entry = &look.key->entry;
        if (look.answer->revision == entry->revision &&
            lapse_bytes_equal(look.answer->value, entry->value))
            return true;
        struct lapse_rule_text key = lapse_text_key(look.bucket->name, look.key->name);
        lapse_violation_label(ret, event, "shows something else");
        lapse_violation_label(ret, look.key->refused, "this call was refused");
        lapse_violation_label(ret, entry->write, "the last accepted write");
        return lapse_violation_say(ret, "%s was changed by a call that was refused", key.text);
    }
    const struct lapse_event *made = &event->u.emit.event;
    const struct lapse_tracked_bucket *bucket = lapse_tracked_bucket_find(trackers, made->bucket);
    struct lapse_rule_text name = lapse_text_key(made->bucket, made->key);
    if (refused_emit(trackers, event)) {
        lapse_violation_label(ret, event, "makes no event of its own");
        return lapse_violation_say(ret, "a call that changes no value made an event: %s %s",
                                   lapse_words_of_event(made->kind), name.text);
    }
    /* Where a bucket's numbers need not rise (CAS-04), a gap among them tells nothing. */
    if (made->revision <= bucket->event_revision + 1 || !lapse_promised(trackers->setup, "CAS-04"))
        return true;
    lapse_violation_label(ret, event, "took revision %lld, not %lld", (long long)made->revision,
                          (long long)(bucket->event_revision + 1));
    lapse_violation_label(ret, bucket->unnumbered, "this call takes no revision");
    return lapse_violation_say(ret, "%s skipped a revision after a call that takes none",
                               name.text);
}

static bool conditional(const struct lapse_look *look) {
    return look->command != NULL && look->bucket != NULL && lapse_verb_writes_key(look->verb) &&
           look->verb != LAPSE_VERB_CREATE && look->command->u.write.has_if_version;
}

/* A write with a session is lost, whatever stands under the key, if the session is not live.
 * Whether it is, KV-02 asks. */
static bool lost_its_session(const struct lapse_look *look) {
    return look->answer->status == LAPSE_LOST &&
           (look->command->u.write.term.given & LAPSE_TERM_SESSION) != 0;
}

/* An event under a call that may make none. An end found on the way may be marked by any. */
static bool refused_emit(const struct lapse_trackers *trackers,
                         const struct lapse_history_event *event) {
    return event->call != 0 && event->u.emit.event.kind != LAPSE_EVENT_EXPIRED &&
           !makes_event(trackers, event);
}

static bool makes_event(const struct lapse_trackers *trackers,
                        const struct lapse_history_event *event) {
    const struct lapse_tracked_call *call = lapse_tracked_call_find(trackers, event->call);
    if (call == NULL || call->apply == NULL)
        return true;
    return lapse_call_makes_events(call);
}

/* Whether the decision reads a live key on which a call was refused since its last write. */
static bool unchanged(const struct lapse_trackers *trackers,
                      const struct lapse_history_event *event, struct lapse_look *ret) {
    const struct lapse_command *command = lapse_rule_command(trackers, event);
    if (command == NULL || event->u.apply.answer.status != LAPSE_OK ||
        (command->verb != LAPSE_VERB_GET && command->verb != LAPSE_VERB_ENTRY) ||
        command->u.read.has_revision)
        return false;
    *ret = (struct lapse_look){.event = event, .answer = &event->u.apply.answer};
    ret->bucket = lapse_tracked_bucket_find(trackers, command->bucket);
    ret->key = lapse_tracked_key_find(ret->bucket, command->key);
    return ret->key != NULL && ret->key->refused != NULL &&
           lapse_look_state_of(trackers, ret, ret->key) == LAPSE_TRACKED_LIVE;
}
