/* ONCE-01 and CLOCK-05: a call sent again takes effect once, and no sum of times wraps. */
#include "feed.h"
#include "rules.h"
#include "track.h"

static const struct lapse_tracked_once *earlier(const struct lapse_trackers *trackers,
                                                const struct lapse_history_event *event);
static bool same_call(const struct lapse_tracked_once *once, const struct lapse_command *command);
static bool same_answer(const struct lapse_answer *a, const struct lapse_answer *b);
static bool has_span(const struct lapse_command *command, struct lapse_span *ret);

bool lapse_rule_once_01_premise(const struct lapse_trackers *trackers,
                                const struct lapse_history_event *event) {
    const struct lapse_tracked_call *call = lapse_tracked_call_find(trackers, event->call);
    if (event->kind == LAPSE_HISTORY_EMIT)
        return call != NULL && call->apply != NULL && call->apply->u.apply.answer.repeated &&
               event->u.emit.event.kind != LAPSE_EVENT_EXPIRED;
    if (event->u.apply.answer.repeated)
        return true;
    const struct lapse_tracked_once *once = earlier(trackers, event);
    return once != NULL && once->sure && event->u.apply.answer.status >= 0;
}

/* Another call under a known id must be refused, and a refusal shows nothing more. */
bool lapse_rule_once_01_holds(const struct lapse_trackers *trackers,
                              const struct lapse_history_event *event,
                              struct lapse_violation *ret) {
    const struct lapse_command *command = lapse_rule_command(trackers, event);
    const char *word = command != NULL ? lapse_call_word((int)command->verb) : "a call";
    if (event->kind == LAPSE_HISTORY_EMIT) {
        lapse_violation_label(ret, event, "made by a call that had been done before");
        return lapse_violation_say(ret, "%s, sent again under its request id, took effect twice",
                                   word);
    }
    const struct lapse_answer *answer = &event->u.apply.answer;
    const struct lapse_tracked_once *once = earlier(trackers, event);
    lapse_violation_label(ret, event, "answered %s%s", lapse_status_word(answer->status),
                          answer->repeated ? ", as said before" : "");
    if (once == NULL) {
        bool open = trackers->tenure != NULL;
        return open || lapse_violation_say(ret,
                                           "%s was answered as one sent again, but no such "
                                           "call was accepted",
                                           word);
    }
    lapse_violation_label(ret, once->apply, "first accepted here, under the same request id");
    if (!same_call(once, command))
        return lapse_violation_say(ret, "another call was accepted under the request id of %s",
                                   word);
    if (!answer->repeated)
        return lapse_violation_say(ret, "%s, sent again under its request id, was done again",
                                   word);
    if (once->apply->u.apply.answer.status == LAPSE_OK &&
        !same_answer(answer, &once->apply->u.apply.answer))
        return lapse_violation_say(ret,
                                   "%s, sent again under its request id, was answered "
                                   "otherwise than before",
                                   word);
    ret->label_count = 0;
    return true;
}

bool lapse_rule_clock_05_premise(const struct lapse_trackers *trackers,
                                 const struct lapse_history_event *event) {
    const struct lapse_command *command = lapse_rule_command(trackers, event);
    const struct lapse_answer *answer = &event->u.apply.answer;
    struct lapse_steady at = answer->status >= 0 ? answer->at : trackers->store_highest;
    struct lapse_span span = {0};
    struct lapse_steady end;
    return command != NULL && !answer->repeated && has_span(command, &span) &&
           (span.ns <= 0 || !lapse_steady_add(at, span, &end));
}

/* A refusal by what stands there comes before the sum is made. */
bool lapse_rule_clock_05_holds(const struct lapse_trackers *trackers,
                               const struct lapse_history_event *event,
                               struct lapse_violation *ret) {
    const struct lapse_command *command = lapse_rule_command(trackers, event);
    struct lapse_span span = {0};
    (void)has_span(command, &span);
    if (event->u.apply.answer.status != LAPSE_OK)
        return true;
    struct lapse_rule_text text = lapse_text_ns(span.ns);
    struct lapse_rule_text at = lapse_text_ns(event->u.apply.answer.at.ns);
    lapse_violation_label(ret, event, "accepted a term of %s at %s", text.text, at.text);
    return lapse_violation_say(ret, "%s was accepted, but its end cannot be reckoned",
                               lapse_call_word((int)command->verb));
}

static const struct lapse_tracked_once *earlier(const struct lapse_trackers *trackers,
                                                const struct lapse_history_event *event) {
    const struct lapse_command *command = lapse_rule_command(trackers, event);
    if (command == NULL)
        return NULL;
    return lapse_tracked_once_find(trackers, command->request, event->u.apply.answer.at);
}

static bool same_call(const struct lapse_tracked_once *once, const struct lapse_command *command) {
    struct lapse_digest digest;
    lapse_digest_begin(&digest);
    lapse_feed_command(&digest, command);
    return lapse_digest_value(&digest) == once->digest;
}

/* All but the time left, which is reckoned anew. */
static bool same_answer(const struct lapse_answer *a, const struct lapse_answer *b) {
    if (a->status != b->status || a->revision != b->revision || a->token != b->token ||
        a->end.kind != b->end.kind || a->end.ns != b->end.ns ||
        !lapse_bytes_equal(a->owner, b->owner) || a->answer_count != b->answer_count)
        return false;
    for (size_t i = 0; i < a->answer_count; i++) {
        const struct lapse_batch_answer *one = &a->answers[i], *other = &b->answers[i];
        if (one->status != other->status || one->revision != other->revision ||
            one->token != other->token || one->end.ns != other->end.ns)
            return false;
    }
    return true;
}

/* The span that a call gives a term of its own. */
static bool has_span(const struct lapse_command *command, struct lapse_span *ret) {
    const struct lapse_term *term = &command->u.write.term;
    switch (command->verb) {
    case LAPSE_VERB_ACQUIRE:
        *ret = command->u.lease.span;
        return command->u.lease.session.len == 0;
    case LAPSE_VERB_EXTEND:
        *ret = command->u.lease.span;
        return true;
    case LAPSE_VERB_SET:
    case LAPSE_VERB_CREATE:
    case LAPSE_VERB_UPDATE:
    case LAPSE_VERB_EXPIRE:
        *ret = term->given == LAPSE_TERM_TTL ? term->ttl : term->idle;
        return term->given == LAPSE_TERM_TTL ||
               (term->given == LAPSE_TERM_IDLE && term->cap.ns == 0);
    default:
        return false;
    }
}
