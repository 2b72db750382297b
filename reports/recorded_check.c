/* Whether the events of a recorded history fit each other: a reply belongs to a call, a key to a
 * bucket. The rules take that for granted of a world's history, and a file may say anything. */
#include "recorded_reading.h"

#include <stdio.h>
#include <string.h>

static const int64_t TICK_NS_MAX = 3600 * LAPSE_NS_PER_S;

/* Of numbers that tables are as long as. */
enum { STEPS_MAX = 1000000, CALLS_MAX = 1000000, SAID_MAX = 160 };

/* What is known of the calls sent so far, by number. */
struct sent {
    const struct lapse_history_event **invokes;
    bool *replied;
    size_t count;
    char said[SAID_MAX]; /* a message that is made up */
};

static bool check_order(struct lapse_reading_file *file);
static const char *check_bounds(const struct lapse_setup *setup);
static const char *check_event(const struct lapse_reading_file *file, struct sent *sent,
                               const struct lapse_history_event *event);
static const char *check_head(const struct lapse_history_event *event);
static const char *check_invoke(const struct lapse_reading_file *file, struct sent *sent,
                                const struct lapse_history_event *event);
static const char *check_command(const struct lapse_reading_file *file,
                                 const struct lapse_command *command);
static const char *check_answered(struct sent *sent, const struct lapse_history_event *event);
static const char *check_reply(struct sent *sent, const struct lapse_history_event *invoke,
                               const struct lapse_history_event *event);
static const char *answer_fault(struct sent *sent, const struct lapse_history_event *invoke,
                                int verb, const struct lapse_answer *answer);
static const char *store_fault(int verb, const struct lapse_answer *answer);
static const char *check_body(const struct lapse_history_event *event);
static const char *check_role(const struct lapse_history_event *event);
static const char *check_probe(const struct lapse_probe *probe);
static const char *check_fault(const struct lapse_history_event *event);
static bool has_bucket(const struct lapse_reading_file *file, struct lapse_bytes name);

bool lapse_reading_check(struct lapse_reading_file *file) {
    const char *bounds = check_bounds(&file->setup);
    if (bounds != NULL) {
        const struct lapse_json at = {.column = 1, .span = 1};
        file->line = 1;
        (void)lapse_reading_mistake(file, "J110", &at, "", "%s", bounds);
        return false;
    }
    if (!check_order(file)) {
        return false;
    }
    int64_t most = 0;
    for (size_t i = 0; i < file->count; i++) {
        int64_t call = file->events[i].event.call;
        most = call > most && call <= (int64_t)CALLS_MAX ? call : most;
    }
    struct sent sent = {.count = (size_t)most + 1};
    sent.invokes = lapse_reading_take(file, sent.count * sizeof(*sent.invokes));
    sent.replied = lapse_reading_take(file, sent.count * sizeof(*sent.replied));
    bool taken = sent.invokes != NULL && sent.replied != NULL;
    for (size_t i = 0; taken && i < file->count; i++) {
        const struct lapse_reading_event *read = &file->events[i];
        const char *wrong = check_event(file, &sent, &read->event);
        if (wrong != NULL) {
            const struct lapse_json at = {.column = read->place.column, .span = read->place.span};
            file->line = read->place.line;
            (void)lapse_reading_mistake(file, "J110", &at, "", "%s", wrong);
            return false;
        }
    }
    return taken;
}

/* Events stand in the order in which they happened, as nothing else says which of one instant came
 * first. What lapse writes is in its own: a decision that hung in a sync comes after later ones. */
static bool check_order(struct lapse_reading_file *file) {
    for (size_t i = 1; i < file->count && file->closed == 0 && !file->calls; i++) {
        const struct lapse_reading_event *read = &file->events[i], *before = read - 1;
        if (read->event.at.ns < before->event.at.ns) {
            const struct lapse_json at = {.column = read->place.column, .span = read->place.span};
            file->line = read->place.line;
            struct lapse_diag *diag = lapse_reading_mistake(
                file, "J110", &at, "this is earlier",
                "events stand in the order of time, and line %d, of %lld ns, comes after line %d, "
                "of %lld ns",
                read->place.line,
                (long long)read->event.at.ns, before->place.line, (long long)before->event.at.ns);
            lapse_diag_label(&file->ret->diags, diag, before->place, "this is later");
            return false;
        }
    }
    return true;
}

static const char *check_bounds(const struct lapse_setup *setup) {
    if (setup->rate_ppb < 0 || setup->rate_ppb >= LAPSE_NS_PER_S) {
        return "`rate` of `bounds` is from 0 to below 1000000000 ppb";
    }
    return setup->wall_bound.ns < 0 ? "`wall` of `bounds` is a span of at least 0" : NULL;
}

static const char *check_event(const struct lapse_reading_file *file, struct sent *sent,
                               const struct lapse_history_event *event) {
    const char *wrong = check_head(event);
    if (wrong != NULL) {
        return wrong;
    }
    switch (event->kind) {
    case LAPSE_HISTORY_INVOKE:
        return check_invoke(file, sent, event);
    case LAPSE_HISTORY_APPLY:
    case LAPSE_HISTORY_REPLY:
    case LAPSE_HISTORY_EMIT:
    case LAPSE_HISTORY_MESSAGE:
        return check_answered(sent, event);
    case LAPSE_HISTORY_FAULT_BEGIN:
    case LAPSE_HISTORY_FAULT_END:
        return check_fault(event);
    default:
        return check_body(event);
    }
}

static const char *check_head(const struct lapse_history_event *event) {
    if (event->call < 0 || event->call > (int64_t)CALLS_MAX) {
        return "`call` is a number from 1 to 1000000";
    }
    if (event->step < -1 || event->step >= (int32_t)STEPS_MAX) {
        return "`step` is a number from 0 to 999999";
    }
    if (event->incarnation < 0 || (event->actor >= 0) != (event->incarnation > 0)) {
        return "`life` counts an actor's lives from 1";
    }
    return NULL;
}

static const char *check_invoke(const struct lapse_reading_file *file, struct sent *sent,
                                const struct lapse_history_event *event) {
    const struct lapse_request *request = &event->u.invoke.request;
    if (event->call == 0) {
        return "`call` is missing: a call that is sent has a number";
    }
    if (sent->invokes[event->call] != NULL) {
        return "a call of this number was sent before";
    }
    if (event->u.invoke.loop < -1 || event->u.invoke.loop >= (int32_t)file->setup.loop_count) {
        return "`loop` is the number of a loop that the first line lists";
    }
    sent->invokes[event->call] = event;
    if (request->verb >= (int)LAPSE_CALL_WRITE) {
        return request->verb != (int)LAPSE_CALL_WORK && request->resource < 0
                   ? "`resource` is missing"
                   : NULL;
    }
    const char *wrong = check_command(file, &request->command);
    size_t members = request->verb == LAPSE_VERB_BATCH ? request->command.u.batch.count : 0;
    for (size_t i = 0; wrong == NULL && i < members; i++) {
        wrong = check_command(file, &request->command.u.batch.commands[i]);
    }
    return wrong;
}

static const char *check_command(const struct lapse_reading_file *file,
                                 const struct lapse_command *command) {
    switch (command->verb) {
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
    case LAPSE_VERB_INSPECT:
    case LAPSE_VERB_SESSION:
    case LAPSE_VERB_KEEPALIVE:
    case LAPSE_VERB_CLOSE:
    case LAPSE_VERB_BATCH:
    case LAPSE_VERB_UNWATCH:
    case LAPSE_VERB_POLL:
    case LAPSE_VERB_REAP:
    case LAPSE_VERB_MARK:
    case LAPSE_VERB_OPEN:
    case LAPSE_VERB_ALTER:
        return NULL;
    default:
        return has_bucket(file, command->bucket)
                   ? NULL
                   : "`bucket` is not one that the first line lists: add it there, or leave "
                     "`buckets` out there";
    }
}

static bool has_bucket(const struct lapse_reading_file *file, struct lapse_bytes name) {
    for (size_t i = 0; i < file->setup.bucket_count; i++) {
        if (lapse_bytes_equal(file->setup.buckets[i].name, name)) {
            return true;
        }
    }
    return false;
}

static const char *check_answered(struct sent *sent, const struct lapse_history_event *event) {
    const struct lapse_history_event *invoke = sent->invokes[event->call];
    bool reply = event->kind == LAPSE_HISTORY_REPLY;
    if (event->call > 0 && invoke == NULL && !(reply && !event->u.reply.sent)) {
        return "no call of this number was sent before";
    }
    if (reply && event->u.reply.sent) {
        return invoke == NULL ? "`call` is missing: the call that it answers"
                              : check_reply(sent, invoke, event);
    }
    if (event->kind != LAPSE_HISTORY_APPLY) {
        return NULL;
    }
    return invoke == NULL ? "`call` is missing: the call that it decides"
                          : answer_fault(sent, invoke, invoke->u.invoke.request.verb,
                                         &event->u.apply.answer);
}

static const char *check_reply(struct sent *sent, const struct lapse_history_event *invoke,
                               const struct lapse_history_event *event) {
    if (sent->replied[event->call]) {
        return "the call has its answer already";
    }
    sent->replied[event->call] = true;
    return event->at.ns < invoke->at.ns    ? "the answer comes before the call was sent"
           : invoke->actor != event->actor ? "the call was sent by another actor"
           : invoke->u.invoke.request.verb != event->u.reply.verb
               ? "the call was another verb"
               : answer_fault(sent, invoke, event->u.reply.verb, &event->u.reply.answer);
}

/* What an answer to a call cannot say. */
static const char *answer_fault(struct sent *sent, const struct lapse_history_event *invoke,
                                int verb, const struct lapse_answer *answer) {
    const struct lapse_request *request = &invoke->u.invoke.request;
    const char *wrong = store_fault(verb, answer);
    if (wrong != NULL) {
        return wrong;
    }
    if (!lapse_reading_can_answer(request, answer->status)) {
        bool writes = verb >= LAPSE_VERB_SET && verb <= LAPSE_VERB_PERSIST;
        (void)snprintf(sent->said, sizeof(sent->said), "`%s`%s is never answered `%s`",
                       lapse_call_word(verb),
                       answer->status != LAPSE_CONFLICT || !writes ? "" : " without `if_version`",
                       lapse_status_word(answer->status));
        return sent->said;
    }
    const struct lapse_command *command = &request->command;
    if (verb != LAPSE_VERB_ACQUIRE || answer->status != LAPSE_OK) {
        return NULL;
    }
    if (command->u.lease.owner.len == 0) {
        return "it was granted, and `owner` is missing at the call: who holds it";
    }
    return command->u.lease.span.ns == 0 && command->u.lease.session.len == 0
               ? "it was granted, and `for` is missing at the call: for how long"
               : NULL;
}

/* What no answer can say, to a call or to an observer. */
static const char *store_fault(int verb, const struct lapse_answer *answer) {
    if (answer->at.ns < 0) {
        return "`store` is below 0: store time begins at 0";
    }
    return answer->item_count > 0 && answer->items == NULL && verb != LAPSE_VERB_COUNT
               ? "`count` without `items` is an answer of `count` alone"
               : NULL;
}

static const char *check_body(const struct lapse_history_event *event) {
    switch (event->kind) {
    case LAPSE_HISTORY_BELIEF_BEGIN:
    case LAPSE_HISTORY_BELIEF_END:
    case LAPSE_HISTORY_STOPPED:
        return event->actor < 0 ? "`actor` is missing" : NULL;
    case LAPSE_HISTORY_RESOURCE:
        return event->u.resource.resource < 0 ? "`resource` is missing" : NULL;
    case LAPSE_HISTORY_PROBE:
        return check_probe(&event->u.probe);
    case LAPSE_HISTORY_STEP:
        return event->u.step.store.ns < 0 ? "`store` is below 0: store time begins at 0" : NULL;
    case LAPSE_HISTORY_TENURE:
        return event->u.tenure.store.ns < 0 ? "`store` is below 0: store time begins at 0" : NULL;
    case LAPSE_HISTORY_ROLE:
        return check_role(event);
    case LAPSE_HISTORY_CLOCK:
        return event->u.clock.tick_ns < 1 || event->u.clock.tick_ns > TICK_NS_MAX
                   ? "`tick` is a span from 1ns to 1h"
                   : NULL;
    default:
        return NULL;
    }
}

static const char *check_role(const struct lapse_history_event *event) {
    if (event->u.role.epoch < 0 || event->u.role.index < 0) {
        return "`epoch` and `index` count from 1";
    }
    if (event->u.role.role == LAPSE_ROLE_LEADER && event->u.role.epoch == 0) {
        return "`epoch` is missing: the number of the election that made it the leader";
    }
    return event->u.role.digest.len > 0 && event->u.role.index == 0
               ? "`index` is missing: which entry of the log the `digest` is taken after"
               : NULL;
}

static const char *check_probe(const struct lapse_probe *probe) {
    const char *wrong = NULL;
    for (size_t i = 0; wrong == NULL && i < probe->answer_count; i++) {
        wrong = store_fault(probe->answers[i].verb, &probe->answers[i].answer);
    }
    return wrong;
}

static const char *check_fault(const struct lapse_history_event *event) {
    bool link = event->u.fault.kind == LAPSE_FAULT_CUT || event->u.fault.kind == LAPSE_FAULT_LINK;
    return !link && event->u.fault.node < 0 && event->actor < 0
               ? "`actor` or `node` is missing: who has the fault"
               : NULL;
}
