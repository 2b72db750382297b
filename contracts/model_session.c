/* Sessions: a term that keys and leases share. An ended one is never opened again: its name is, by
 * another. */
#include "model_parts.h"

static void open_session(struct lapse_model *model, const struct lapse_command *command,
                         const struct lapse_answer *told, struct lapse_model_session *session,
                         struct lapse_model_answer *ret);
static void keep(struct lapse_model *model, const struct lapse_command *command,
                 struct lapse_model_opening *live, struct lapse_model_answer *ret);
static void show(const struct lapse_model *model, const struct lapse_model_opening *opening,
                 struct lapse_model_answer *ret);

struct lapse_model_opening *lapse_model_opening(struct lapse_model *model,
                                                struct lapse_bytes name) {
    struct lapse_model_session *session = lapse_model_session(model, name, true);
    if (session == NULL) {
        return NULL;
    }
    if (lapse_model_unsure(model, &session->name)) {
        if (session->opening == NULL) {
            session->opening = lapse_model_take(model, sizeof(*session->opening));
        }
        if (session->opening != NULL) {
            session->opening->unsure = true;
        }
        return session->opening;
    }
    bool live = session->opening != NULL && model->store.ns < session->opening->end.ns;
    return live ? session->opening : NULL;
}

void lapse_model_session_call(struct lapse_model *model, const struct lapse_command *command,
                              const struct lapse_answer *told, struct lapse_model_answer *ret) {
    struct lapse_model_session *session = lapse_model_session(model, command->key, true);
    struct lapse_model_opening *live = lapse_model_opening(model, command->key);
    if (session == NULL) {
        return;
    }
    ret->open = live != NULL && live->unsure;
    if (command->verb == LAPSE_VERB_SESSION) {
        open_session(model, command, told, session, ret);
        return;
    }
    bool own = live != NULL && lapse_bytes_equal(live->owner, command->u.session.owner);
    if (ret->open && told->status != LAPSE_OK) {
        return;
    }
    if (!own && !ret->open) {
        ret->answer.status = LAPSE_LOST;
        return;
    }
    if (command->verb == LAPSE_VERB_KEEPALIVE) {
        if (ret->open) {
            /* Which opening it was is told, but not what has joined it meanwhile. */
            return;
        }
        keep(model, command, live, ret);
        return;
    }
    lapse_model_touch(model, live, sizeof(*live));
    live->end = model->store;
    live->unsure = false;
    lapse_model_touch(model, session, sizeof(*session));
    lapse_model_sure(model, &session->name);
}

static void open_session(struct lapse_model *model, const struct lapse_command *command,
                         const struct lapse_answer *told, struct lapse_model_session *session,
                         struct lapse_model_answer *ret) {
    struct lapse_steady end = {0};
    struct lapse_model_opening *live = lapse_model_opening(model, command->key);
    if (!lapse_steady_add(model->store, command->u.session.span, &end)) {
        ret->answer.status = LAPSE_RANGE;
        return;
    }
    bool opened = told->status == LAPSE_OK && !told->renewed;
    if (ret->open && !opened) {
        return;
    }
    if (live != NULL && !ret->open) {
        bool own = lapse_bytes_equal(live->owner, command->u.session.owner);
        show(model, live, ret);
        ret->answer.renewed = own;
        ret->answer.status = own ? LAPSE_OK : LAPSE_HELD;
        ret->answer.has_token = own;
        ret->answer.token = own ? live->number : 0;
        ret->answer.owner = own ? (struct lapse_bytes){0} : live->owner;
        return;
    }
    struct lapse_model_opening *made = lapse_model_take(model, sizeof(*made));
    struct lapse_model_counters *counters = &model->counters;
    if (made == NULL || counters->session == INT64_MAX) {
        ret->answer.status = LAPSE_RANGE;
        return;
    }
    lapse_model_touch(model, counters, sizeof(*counters));
    counters->session = counters->session_loose && told->token > counters->session
                            ? told->token
                            : counters->session + 1;
    counters->session_loose = false;
    *made = (struct lapse_model_opening){.number = counters->session,
                                         .owner = command->u.session.owner,
                                         .end = end,
                                         .span = command->u.session.span};
    lapse_model_touch(model, session, sizeof(*session));
    session->opening = made;
    lapse_model_sure(model, &session->name);
    show(model, made, ret);
}

/* A new span, or the one it has, from now on: for all that hangs on it. */
static void keep(struct lapse_model *model, const struct lapse_command *command,
                 struct lapse_model_opening *live, struct lapse_model_answer *ret) {
    struct lapse_span span =
        command->u.session.span.ns > 0 ? command->u.session.span : live->span;
    struct lapse_steady end = {0};
    if (!lapse_steady_add(model->store, span, &end)) {
        ret->answer.status = LAPSE_RANGE;
        return;
    }
    lapse_model_touch(model, live, sizeof(*live));
    live->span = span;
    live->end = end;
    show(model, live, ret);
}

static void show(const struct lapse_model *model, const struct lapse_model_opening *opening,
                 struct lapse_model_answer *ret) {
    ret->answer.has_token = true;
    ret->answer.token = opening->number;
    ret->answer.end = (struct lapse_end){LAPSE_END_STEADY, opening->end.ns};
    ret->answer.left = lapse_model_left(model, ret->answer.end);
}
