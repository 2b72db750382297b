/* Sessions, judged under the contracts of leases: a session is held by its owner from its opening
 * to its end, and a keepalive is to it what an extend is to a lease. */
#include <string.h>

#include "rules.h"
#include "track.h"

/* What a call on a session must be answered, and which contract says so. */
struct due {
    const char *id;
    enum lapse_status status;
    bool renewed;
    bool fresh; /* its end is the instant of the call plus the span */
};

static struct due due_of(const struct lapse_tracked_session *session,
                         const struct lapse_look *look);
static bool say(const struct lapse_look *look, const struct lapse_tracked_session *session,
                struct lapse_violation *ret, const char *what);

bool lapse_session_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look,
                            const char *id) {
    const struct lapse_tracked_session *session =
        lapse_tracked_session_find(trackers, look->key_name);
    if (look->command == NULL || (session == NULL && trackers->leases_unsure) ||
        (session != NULL && session->unsure))
        return false;
    struct due due = due_of(session, look);
    bool opened = look->verb == LAPSE_VERB_SESSION && due.fresh;
    return strcmp(due.id, id) == 0 || (opened && strcmp(id, "LEASE-02") == 0);
}

bool lapse_session_right(const struct lapse_trackers *trackers, const struct lapse_look *look,
                         const char *id, struct lapse_violation *ret) {
    const struct lapse_tracked_session *session =
        lapse_tracked_session_find(trackers, look->key_name);
    struct due due = due_of(session, look);
    /* As of a lease: that it is opened anew is LEASE-04's, for how long LEASE-02's. */
    bool fresh = due.fresh && strcmp(id, "LEASE-04") != 0;
    const struct lapse_answer *answer = look->answer;
    if (answer->status != due.status)
        return say(look, session, ret, "was not answered as it stands");
    if (look->verb == LAPSE_VERB_SESSION && due.status == LAPSE_OK &&
        answer->renewed != due.renewed)
        return say(look, session, ret,
                   due.renewed ? "was opened anew while it was live"
                               : "was taken for one that has ended");
    if (due.renewed && (answer->token != session->token || answer->end.ns != session->end.ns))
        return say(look, session, ret, "was opened again by its owner and did not stay as it was");
    if (due.status == LAPSE_HELD && answer->end.ns != session->end.ns)
        return say(look, session, ret, "was refused with a wrong end");
    if (look->verb == LAPSE_VERB_KEEPALIVE && due.status == LAPSE_OK &&
        answer->token != session->token)
        return say(look, session, ret, "became another session by a keepalive");
    struct lapse_span span = look->command->u.session.span;
    if (span.ns == 0 && session != NULL)
        span = session->span;
    struct lapse_steady end;
    if (!fresh || (lapse_steady_add(answer->at, span, &end) &&
                       answer->end.kind == LAPSE_END_STEADY && answer->end.ns == end.ns))
        return true;
    return say(look, session, ret, "does not end at the call plus its span");
}

static struct due due_of(const struct lapse_tracked_session *session,
                         const struct lapse_look *look) {
    bool live = lapse_tracked_session_live(session, look->answer->at);
    bool own = live && lapse_bytes_equal(session->owner, look->command->u.session.owner);
    if (look->verb == LAPSE_VERB_SESSION) {
        if (live)
            return own ? (struct due){"LEASE-08", LAPSE_OK, true, false}
                       : (struct due){"LEASE-03", LAPSE_HELD, false, false};
        bool ended = session != NULL && session->closed == NULL;
        return (struct due){ended ? "LEASE-04" : "LEASE-02", LAPSE_OK, false, true};
    }
    if (!own)
        return (struct due){"LEASE-07", LAPSE_LOST, false, false};
    bool keeps = look->verb == LAPSE_VERB_KEEPALIVE;
    return (struct due){keeps ? "LEASE-06" : "LEASE-05", LAPSE_OK, false, keeps};
}

static bool say(const struct lapse_look *look, const struct lapse_tracked_session *session,
                struct lapse_violation *ret, const char *what) {
    struct lapse_rule_text name = lapse_text_name(look->key_name);
    struct lapse_rule_text at = lapse_text_ns(look->answer->at.ns);
    lapse_violation_label(ret, look->event, "%s answered %s at %s", lapse_call_word(look->verb),
                          lapse_status_word(look->answer->status), at.text);
    if (session != NULL) {
        struct lapse_rule_text end = lapse_text_end(session->end);
        lapse_violation_label(ret, session->opened, "opened here");
        lapse_violation_label(ret, session->term, "this gave it its end: %s", end.text);
    }
    return lapse_violation_say(ret, "session %s %s", name.text, what);
}
