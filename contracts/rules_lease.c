/* LEASE-01..10: who holds a name, from when to when, and what may change that. LEASE-10 speaks of
 * locks made of keys, the others of leases alone. */
#include "rules.h"
#include "track.h"

static const struct lapse_tracked_grant *live(const struct lapse_look *look);
static bool names(const struct lapse_look *look, const struct lapse_tracked_grant *grant);
static bool same_owner(const struct lapse_look *look, const struct lapse_tracked_grant *grant);
static bool end_is_sessions(const struct lapse_trackers *trackers, const struct lapse_look *look);
static bool lost_its_session(const struct lapse_trackers *trackers, const struct lapse_look *look);
static bool ended_by_time(const struct lapse_look *look);
static bool end_is_from_now(const struct lapse_look *look);
static bool fail(const struct lapse_look *look, const struct lapse_tracked_grant *grant,
                 struct lapse_violation *ret, const char *what);

static bool lease_01_concerns(const struct lapse_trackers *trackers,
                              const struct lapse_look *look) {
    (void)trackers;
    bool grants = look->verb == LAPSE_VERB_ACQUIRE;
    if (live(look) == NULL)
        return grants && look->answer->status == LAPSE_OK;
    return grants || look->verb == LAPSE_VERB_INSPECT;
}

static bool lease_01_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                           struct lapse_violation *ret) {
    (void)trackers;
    const struct lapse_tracked_grant *grant = live(look);
    const struct lapse_answer *answer = look->answer;
    bool right = true;
    if (grant == NULL)
        return true;
    if (look->verb == LAPSE_VERB_ACQUIRE && answer->status == LAPSE_OK)
        right = same_owner(look, grant);
    else if ((answer->status == LAPSE_OK || answer->status == LAPSE_HELD) && !look->in_batch)
        right = lapse_bytes_equal(answer->owner, grant->owner);
    if (right && look->verb == LAPSE_VERB_INSPECT && answer->status == LAPSE_OK)
        right = answer->token == grant->token;
    return right || fail(look, grant, ret, "has two holders at once");
}
LAPSE_RULE_BY_LOOKS(lease_01, lease_01_concerns, lease_01_check)

static bool lease_02_concerns(const struct lapse_trackers *trackers,
                              const struct lapse_look *look) {
    if (lapse_verb_of_session(look->verb))
        return lapse_session_concerns(trackers, look, "LEASE-02");
    if (look->verb == LAPSE_VERB_INSPECT) {
        const struct lapse_tracked_grant *last = lapse_tracked_grant_last(look->lease);
        return last != NULL && last->released == NULL;
    }
    return look->verb == LAPSE_VERB_ACQUIRE && look->answer->status == LAPSE_OK &&
           !look->answer->renewed;
}

static bool lease_02_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                           struct lapse_violation *ret) {
    const struct lapse_tracked_grant *grant = live(look);
    if (lapse_verb_of_session(look->verb))
        return lapse_session_right(trackers, look, "LEASE-02", ret);
    if (look->verb == LAPSE_VERB_ACQUIRE && look->command->u.lease.session.len > 0)
        return end_is_sessions(trackers, look) ||
               fail(look, NULL, ret, "was granted, but not for as long as its session");
    if (look->verb == LAPSE_VERB_ACQUIRE)
        return end_is_from_now(look) ||
               fail(look, NULL, ret, "was granted, but not for the span asked for");
    bool shown = look->answer->status == LAPSE_OK;
    if (shown != (grant != NULL))
        return fail(look, lapse_tracked_grant_last(look->lease), ret,
                    shown ? "is still held at its end" : "is not held, though its end is to come");
    if (shown && look->answer->end.ns != grant->end.ns)
        return fail(look, grant, ret, "shows another end than its holder was given");
    const struct lapse_tracked_grant *last = lapse_tracked_grant_last(look->lease);
    bool spans = last->lost == NULL && last->session == 0;
    return !spans ||
           lapse_true_says(look, lapse_true_span(trackers, last->term, last->span, look->event->at),
                           shown, ret);
}
LAPSE_RULE_BY_LOOKS(lease_02, lease_02_concerns, lease_02_check)

static bool lease_03_concerns(const struct lapse_trackers *trackers,
                              const struct lapse_look *look) {
    if (lapse_verb_of_session(look->verb))
        return lapse_session_concerns(trackers, look, "LEASE-03");
    return look->verb == LAPSE_VERB_ACQUIRE && !lost_its_session(trackers, look) &&
           live(look) != NULL && !same_owner(look, live(look));
}

static bool lease_03_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                           struct lapse_violation *ret) {
    if (lapse_verb_of_session(look->verb))
        return lapse_session_right(trackers, look, "LEASE-03", ret);
    const struct lapse_tracked_grant *grant = live(look);
    const struct lapse_answer *answer = look->answer;
    if (answer->status != LAPSE_HELD)
        return fail(look, grant, ret, "was granted to another while it was held");
    if (answer->end.ns != grant->end.ns ||
        (!look->in_batch && !lapse_bytes_equal(answer->owner, grant->owner)))
        return fail(look, grant, ret, "was refused with a wrong holder or end");
    return true;
}
LAPSE_RULE_BY_LOOKS(lease_03, lease_03_concerns, lease_03_check)

static bool lease_04_concerns(const struct lapse_trackers *trackers,
                              const struct lapse_look *look) {
    if (lapse_verb_of_session(look->verb))
        return lapse_session_concerns(trackers, look, "LEASE-04");
    return look->verb == LAPSE_VERB_ACQUIRE && !lost_its_session(trackers, look) &&
           ended_by_time(look);
}

static bool lease_04_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                           struct lapse_violation *ret) {
    if (lapse_verb_of_session(look->verb))
        return lapse_session_right(trackers, look, "LEASE-04", ret);
    const struct lapse_tracked_grant *last = lapse_tracked_grant_last(look->lease);
    if (look->answer->status == LAPSE_OK && !look->answer->renewed)
        return true;
    return fail(look, last, ret, "was not granted anew, though its lease had ended");
}
LAPSE_RULE_BY_LOOKS(lease_04, lease_04_concerns, lease_04_check)

static bool lease_05_concerns(const struct lapse_trackers *trackers,
                              const struct lapse_look *look) {
    if (lapse_verb_of_session(look->verb))
        return lapse_session_concerns(trackers, look, "LEASE-05");
    if (look->verb == LAPSE_VERB_RELEASE)
        return live(look) != NULL && names(look, live(look));
    const struct lapse_tracked_grant *last = lapse_tracked_grant_last(look->lease);
    bool acquires = look->verb == LAPSE_VERB_ACQUIRE && !lost_its_session(trackers, look);
    return (acquires || look->verb == LAPSE_VERB_INSPECT) && last != NULL &&
           last->released != NULL;
}

static bool lease_05_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                           struct lapse_violation *ret) {
    if (lapse_verb_of_session(look->verb))
        return lapse_session_right(trackers, look, "LEASE-05", ret);
    const struct lapse_tracked_grant *last = lapse_tracked_grant_last(look->lease);
    enum lapse_status status = look->answer->status;
    if (look->verb == LAPSE_VERB_RELEASE)
        return status == LAPSE_OK || fail(look, last, ret, "was not released by its holder");
    bool free = look->verb == LAPSE_VERB_INSPECT ? status == LAPSE_ABSENT
                                                 : status == LAPSE_OK && !look->answer->renewed;
    return free || fail(look, last, ret, "is still held after its release");
}
LAPSE_RULE_BY_LOOKS(lease_05, lease_05_concerns, lease_05_check)

static bool lease_06_concerns(const struct lapse_trackers *trackers,
                              const struct lapse_look *look) {
    if (lapse_verb_of_session(look->verb))
        return lapse_session_concerns(trackers, look, "LEASE-06");
    return look->verb == LAPSE_VERB_EXTEND && live(look) != NULL && names(look, live(look));
}

static bool lease_06_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                           struct lapse_violation *ret) {
    if (lapse_verb_of_session(look->verb))
        return lapse_session_right(trackers, look, "LEASE-06", ret);
    const struct lapse_tracked_grant *grant = live(look);
    if (look->answer->status != LAPSE_OK)
        return fail(look, grant, ret, "was not extended, though its holder asked in time");
    if (look->answer->token != grant->token ||
        (!look->in_batch && !lapse_bytes_equal(look->answer->owner, grant->owner)))
        return fail(look, grant, ret, "changed owner or token when it was extended");
    return end_is_from_now(look) ||
           fail(look, grant, ret, "was extended, but not to the call plus its span");
}
LAPSE_RULE_BY_LOOKS(lease_06, lease_06_concerns, lease_06_check)

/* A token that is not the live grant's is LEASE-09's to judge. */
static bool lease_07_concerns(const struct lapse_trackers *trackers,
                              const struct lapse_look *look) {
    if (lapse_verb_of_session(look->verb))
        return lapse_session_concerns(trackers, look, "LEASE-07");
    if (look->verb != LAPSE_VERB_EXTEND)
        return false;
    return live(look) == NULL || (!look->command->u.lease.has_token && !names(look, live(look)));
}

static bool lease_07_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                           struct lapse_violation *ret) {
    if (lapse_verb_of_session(look->verb))
        return lapse_session_right(trackers, look, "LEASE-07", ret);
    const struct lapse_tracked_grant *grant = live(look);
    if (look->answer->status == (grant == NULL ? LAPSE_LOST : LAPSE_NOT_OWNER))
        return true;
    return fail(look, lapse_tracked_grant_last(look->lease), ret,
                grant == NULL ? "has no live grant: extend must answer lost"
                              : "is another's: extend must answer not_owner");
}
LAPSE_RULE_BY_LOOKS(lease_07, lease_07_concerns, lease_07_check)

static bool lease_08_concerns(const struct lapse_trackers *trackers,
                              const struct lapse_look *look) {
    if (lapse_verb_of_session(look->verb))
        return lapse_session_concerns(trackers, look, "LEASE-08");
    return look->verb == LAPSE_VERB_ACQUIRE && !lost_its_session(trackers, look) &&
           live(look) != NULL && same_owner(look, live(look));
}

static bool lease_08_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                           struct lapse_violation *ret) {
    if (lapse_verb_of_session(look->verb))
        return lapse_session_right(trackers, look, "LEASE-08", ret);
    const struct lapse_tracked_grant *grant = live(look);
    const struct lapse_answer *answer = look->answer;
    if (answer->status == LAPSE_OK && answer->renewed && answer->token == grant->token &&
        answer->end.ns == grant->end.ns)
        return true;
    return fail(look, grant, ret, "was asked for by its holder and did not stay as it was");
}
LAPSE_RULE_BY_LOOKS(lease_08, lease_08_concerns, lease_08_check)

static bool lease_09_concerns(const struct lapse_trackers *trackers,
                              const struct lapse_look *look) {
    (void)trackers;
    const struct lapse_tracked_grant *grant = live(look);
    if (look->verb == LAPSE_VERB_RELEASE)
        return grant == NULL || !names(look, grant);
    return look->verb == LAPSE_VERB_EXTEND && look->command->u.lease.has_token && grant != NULL &&
           !names(look, grant);
}

static bool lease_09_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                           struct lapse_violation *ret) {
    (void)trackers;
    const struct lapse_tracked_grant *grant = live(look);
    if (look->answer->status == (grant == NULL ? LAPSE_ABSENT : LAPSE_NOT_OWNER))
        return true;
    return fail(look, lapse_tracked_grant_last(look->lease), ret,
                grant == NULL ? "is held by nobody: release must answer absent"
                              : "is held under another grant than the call names");
}
LAPSE_RULE_BY_LOOKS(lease_09, lease_09_concerns, lease_09_check)

static bool lease_10_concerns(const struct lapse_trackers *trackers,
                              const struct lapse_look *look) {
    (void)trackers;
    return look->bucket != NULL && look->bucket->locks && look->state == LAPSE_TRACKED_LIVE &&
           look->answer->status == LAPSE_OK && lapse_verb_writes_key(look->verb) &&
           look->command != NULL && !look->command->u.write.has_if_version;
}

static bool lease_10_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                           struct lapse_violation *ret) {
    const struct lapse_tracked_key *key = look->key;
    const struct lapse_history_event *invoke =
        lapse_tracked_call_find(trackers, look->event->call)->invoke;
    if (key->creator == invoke->actor && key->creator_incarnation == invoke->incarnation)
        return true;
    struct lapse_rule_text name = lapse_text_key(look->bucket->name, key->name);
    struct lapse_rule_text thief = lapse_text_actor(trackers, look->event);
    const char *word = lapse_call_word(look->verb);
    lapse_violation_label(ret, look->event, "%s by %s, without if_version", word, thief.text);
    if (key->created == NULL)
        return lapse_violation_say(ret, "%s was changed by %s, who did not create it", name.text,
                                   thief.text);
    struct lapse_rule_text holder = lapse_text_actor(trackers, key->created);
    lapse_violation_label(ret, key->created, "%s made the lock its own", holder.text);
    return lapse_violation_say(ret, "%s of %s by %s took the lock from %s", word, name.text,
                               thief.text, holder.text);
}
LAPSE_RULE_BY_LOOKS(lease_10, lease_10_concerns, lease_10_check)

static const struct lapse_tracked_grant *live(const struct lapse_look *look) {
    return lapse_tracked_grant_live(look->lease, look->answer->at);
}

/* A token alone names its grant; without one, the owner does. */
static bool names(const struct lapse_look *look, const struct lapse_tracked_grant *grant) {
    if (look->command->u.lease.has_token)
        return look->command->u.lease.token == grant->token;
    return same_owner(look, grant);
}

static bool same_owner(const struct lapse_look *look, const struct lapse_tracked_grant *grant) {
    return look->command != NULL && lapse_bytes_equal(look->command->u.lease.owner, grant->owner);
}

/* A lease with a session ends when that does, so the session must be live. */
/* Whether an acquire was refused because the session that it names is not live, or may not be: that
 * is asked before all else. */
static bool lost_its_session(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    struct lapse_bytes name = look->command->u.lease.session;
    if (look->answer->status != LAPSE_LOST || name.len == 0)
        return false;
    const struct lapse_tracked_session *session = lapse_tracked_session_find(trackers, name);
    return session == NULL || session->unsure ||
           !lapse_tracked_session_live(session, look->answer->at);
}

static bool end_is_sessions(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    const struct lapse_tracked_session *session =
        lapse_tracked_session_find(trackers, look->command->u.lease.session);
    if (trackers->leases_unsure || (session != NULL && session->unsure))
        return true;
    return lapse_tracked_session_live(session, look->answer->at) &&
           look->answer->end.kind == LAPSE_END_STEADY && look->answer->end.ns == session->end.ns;
}

static bool ended_by_time(const struct lapse_look *look) {
    const struct lapse_tracked_grant *last = lapse_tracked_grant_last(look->lease);
    return last != NULL && last->released == NULL && live(look) == NULL;
}

static bool end_is_from_now(const struct lapse_look *look) {
    struct lapse_steady end;
    return lapse_steady_add(look->answer->at, look->command->u.lease.span, &end) &&
           look->answer->end.kind == LAPSE_END_STEADY && look->answer->end.ns == end.ns;
}

static bool fail(const struct lapse_look *look, const struct lapse_tracked_grant *grant,
                 struct lapse_violation *ret, const char *what) {
    struct lapse_rule_text name = lapse_text_name(look->key_name);
    struct lapse_rule_text at = lapse_text_ns(look->answer->at.ns);
    lapse_violation_label(ret, look->event, "%s answered %s at %s", lapse_call_word(look->verb),
                          lapse_status_word(look->answer->status), at.text);
    if (grant != NULL) {
        struct lapse_rule_text owner = lapse_text_name(grant->owner);
        struct lapse_rule_text end = lapse_text_end(grant->end);
        lapse_violation_label(ret, grant->granted, "%s was granted token %lld", owner.text,
                              (long long)grant->token);
        if (grant->term != grant->granted)
            lapse_violation_label(ret, grant->term, "extended until %s", end.text);
        lapse_violation_label(ret, grant->released, "released here");
    }
    return lapse_violation_say(ret, "%s %s", name.text, what);
}
