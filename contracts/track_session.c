/* The tracker of sessions: each time that a name is opened is a session of its own, and what was
 * written with one ends with it. */
#include "track.h"

static struct lapse_tracked_session *newest(struct lapse_trackers *trackers,
                                            struct lapse_bytes name);
static enum lapse_status open_session(struct lapse_trackers *trackers,
                                      const struct lapse_command *command,
                                      const struct lapse_answer *answer,
                                      const struct lapse_history_event *event);
static void move_end(struct lapse_trackers *trackers, struct lapse_tracked_session *session,
                     struct lapse_end end, const struct lapse_history_event *event);

enum lapse_status lapse_track_session_apply(struct lapse_trackers *trackers,
                                            const struct lapse_command *command,
                                            const struct lapse_answer *answer,
                                            const struct lapse_history_event *event) {
    if (answer->status != LAPSE_OK || !lapse_verb_of_session((int)command->verb))
        return LAPSE_OK;
    struct lapse_tracked_session *session = newest(trackers, command->key);
    bool live = lapse_tracked_session_live(session, answer->at);
    if (command->verb == LAPSE_VERB_SESSION && answer->renewed && live) {
        if (session->unsure && answer->token == session->token)
            move_end(trackers, session, answer->end, event);
        return LAPSE_OK;
    }
    if (command->verb == LAPSE_VERB_SESSION)
        return open_session(trackers, command, answer, event);
    if (session == NULL)
        return LAPSE_OK;
    if (session->unsure && command->verb == LAPSE_VERB_KEEPALIVE &&
        answer->token != session->token) /* one that a call without an answer has opened */
        return open_session(trackers, command, answer, event);
    if (command->verb == LAPSE_VERB_CLOSE) {
        session->closed = event;
        move_end(trackers, session, (struct lapse_end){LAPSE_END_STEADY, answer->at.ns}, event);
        return LAPSE_OK;
    }
    if (command->u.session.span.ns > 0)
        session->span = command->u.session.span;
    move_end(trackers, session, answer->end, event);
    return LAPSE_OK;
}

void lapse_track_session_free(struct lapse_trackers *trackers) {
    lapse_alloc_free(trackers->alloc, trackers->sessions,
                     trackers->session_cap * sizeof *trackers->sessions);
}

const struct lapse_tracked_session *lapse_tracked_session_find(
    const struct lapse_trackers *trackers, struct lapse_bytes name) {
    for (size_t i = trackers->session_count; i > 0; i--) {
        if (lapse_bytes_equal(trackers->sessions[i - 1].name, name))
            return &trackers->sessions[i - 1];
    }
    return NULL;
}

bool lapse_tracked_session_live(const struct lapse_tracked_session *session,
                                struct lapse_steady at) {
    return session != NULL && session->closed == NULL && at.ns < session->end.ns;
}

static struct lapse_tracked_session *newest(struct lapse_trackers *trackers,
                                            struct lapse_bytes name) {
    const struct lapse_tracked_session *found = lapse_tracked_session_find(trackers, name);
    return found != NULL ? &trackers->sessions[found - trackers->sessions] : NULL;
}

static enum lapse_status open_session(struct lapse_trackers *trackers,
                                      const struct lapse_command *command,
                                      const struct lapse_answer *answer,
                                      const struct lapse_history_event *event) {
    void *sessions = trackers->sessions;
    if (!lapse_alloc_grow(trackers->alloc, &sessions, &trackers->session_cap,
                          trackers->session_count + 1, sizeof *trackers->sessions))
        return LAPSE_NOMEM;
    trackers->sessions = sessions;
    trackers->sessions[trackers->session_count++] =
        (struct lapse_tracked_session){.name = command->key,
                                       .owner = command->u.session.owner,
                                       .token = answer->token,
                                       .end = answer->end,
                                       .span = command->u.session.span,
                                       .opened = event,
                                       .term = event};
    return LAPSE_OK;
}

static void move_end(struct lapse_trackers *trackers, struct lapse_tracked_session *session,
                     struct lapse_end end, const struct lapse_history_event *event) {
    session->end = end;
    session->term = event;
    session->unsure = false;
    size_t place = (size_t)(session - trackers->sessions) + 1;
    lapse_track_kv_session(trackers, place);
    lapse_track_lease_session(trackers, place);
}
