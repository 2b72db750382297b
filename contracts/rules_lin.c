/* LIN-01, where a history carries decision instants: each decision lies between the sending and the
 * reply of its call, and replayed in their order against the model the decisions give exactly the
 * answers that were told. What differs and is some other rule's affair is charged to that one. */
#include <stdio.h>

#include "rules.h"
#include "track.h"

static const struct lapse_tracked_call *call_of(const struct lapse_trackers *trackers,
                                                const struct lapse_history_event *event);
static bool tells_a_decision(const struct lapse_history_event *event);
static bool is_decided(const struct lapse_tracked_call *call,
                       const struct lapse_history_event *event, struct lapse_violation *ret);
static bool decided_in_time(const struct lapse_tracked_call *call,
                            const struct lapse_history_event *event, struct lapse_violation *ret);

bool lapse_rule_lin_01_premise(const struct lapse_trackers *trackers,
                               const struct lapse_history_event *event) {
    if (trackers->lin->model == NULL)
        return false;
    bool replied = event->kind == LAPSE_HISTORY_REPLY && tells_a_decision(event) &&
                   call_of(trackers, event) != NULL;
    return replied || trackers->lin->at == event->seq;
}

bool lapse_rule_lin_01_holds(const struct lapse_trackers *trackers,
                             const struct lapse_history_event *event,
                             struct lapse_violation *ret) {
    const struct lapse_tracked_model *lin = trackers->lin;
    const struct lapse_tracked_call *call = call_of(trackers, event);
    if (event->kind == LAPSE_HISTORY_REPLY && lin->at != event->seq)
        return is_decided(call, event, ret);
    if (event->kind == LAPSE_HISTORY_APPLY && call != NULL && !decided_in_time(call, event, ret))
        return false;
    if (lin->agrees)
        return true;
    lapse_violation_label(ret, event, "got %s", lin->odd.got);
    if (lin->odd.by >= 0 && lin->odd.by != event->seq) {
        ret->labels[ret->label_count].event = lin->odd.by;
        (void)snprintf(ret->labels[ret->label_count].text, LAPSE_VIOLATION_TEXT_MAX,
                       "written here");
        ret->label_count++;
    }
    return lapse_violation_say(ret, "all calls in the order of their decisions make %s %s, not %s",
                               lin->odd.what, lin->odd.expected, lin->odd.got);
}

static const struct lapse_tracked_call *call_of(const struct lapse_trackers *trackers,
                                                const struct lapse_history_event *event) {
    const struct lapse_tracked_call *call = lapse_tracked_call_find(trackers, event->call);
    bool of_store = call != NULL && call->invoke->u.invoke.request.verb < LAPSE_CALL_WRITE;
    return of_store ? call : NULL;
}

/* An answer that the store has given, and not one that a client gave itself. */
static bool tells_a_decision(const struct lapse_history_event *event) {
    enum lapse_status status = event->u.reply.answer.status;
    return event->u.reply.sent && status >= LAPSE_OK && status != LAPSE_TIMED_OUT &&
           status != LAPSE_TOO_LATE;
}

static bool is_decided(const struct lapse_tracked_call *call,
                       const struct lapse_history_event *event, struct lapse_violation *ret) {
    const struct lapse_answer *told = &event->u.reply.answer;
    const char *word = lapse_call_word(call->invoke->u.invoke.request.verb);
    if (call->forged || call->decided > 1)
        return true;
    if (call->apply == NULL) {
        lapse_violation_label(ret, event, "answered %s", lapse_status_word(told->status));
        lapse_violation_label(ret, call->invoke, "sent here");
        return lapse_violation_say(ret, "%s was answered before it was decided", word);
    }
    const struct lapse_answer *decided = &call->apply->u.apply.answer;
    if (told->status == decided->status && told->revision == decided->revision &&
        told->token == decided->token)
        return true;
    lapse_violation_label(ret, event, "answered %s", lapse_status_word(told->status));
    lapse_violation_label(ret, call->apply, "decided %s", lapse_status_word(decided->status));
    return lapse_violation_say(ret, "the answer to %s is not the one that was decided", word);
}

/* Of a request that went out twice the second decision may follow the reply to the first. */
static bool decided_in_time(const struct lapse_tracked_call *call,
                            const struct lapse_history_event *event, struct lapse_violation *ret) {
    bool late = call->reply != NULL && tells_a_decision(call->reply) && !call->copied &&
                !call->forged;
    if (call->invoke->at.ns <= event->at.ns && !late)
        return true;
    lapse_violation_label(ret, event, "decided here");
    lapse_violation_label(ret, late ? call->reply : call->invoke, late ? "answered" : "sent");
    return lapse_violation_say(ret, "%s was decided outside its call",
                               lapse_call_word(call->invoke->u.invoke.request.verb));
}
