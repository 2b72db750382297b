/* The judge's messages: what broke, on which line, which line set it up, and what stood at that
 * moment. */
#include "judge_parts.h"

#include "line.h"

enum { TEXT_MAX = 512 };

static void put_late(const struct lapse_judge *judge, const struct lapse_history_event *event,
                     struct lapse_line *line);
static struct lapse_place place_of_event(const struct lapse_judge *judge, int64_t seq);
static void say_answer(struct lapse_judge *judge, const struct lapse_history_event *event,
                       const struct lapse_finding *finding);
static void note_contract(struct lapse_judge *judge, struct lapse_diag *diag, const char *id);
static void note_state(struct lapse_judge *judge, struct lapse_diag *diag,
                       const struct lapse_history_event *event);
static void label_set_up(struct lapse_judge *judge, struct lapse_diag *diag,
                         const struct lapse_history_event *event);
static void label_resource(struct lapse_judge *judge, struct lapse_diag *diag,
                           const struct lapse_history_event *event, int32_t resource);
static const struct lapse_scene_name *name_of(const struct lapse_judge *judge,
                                              const struct lapse_history_event *event);
static const struct lapse_stand *stand_of(const struct lapse_scene_name *name,
                                          const struct lapse_history_event *event);
static void put_stand(const struct lapse_judge *judge, const struct lapse_stand *stand,
                      struct lapse_line *line);
static const char *stand_word(int verb);
static void put_end(struct lapse_line *line, struct lapse_end end);
static bool decision_of(const struct lapse_history_event *event, struct lapse_answer *ret);
static void note_times(struct lapse_judge *judge, struct lapse_diag *diag,
                       const struct lapse_history_event *event);

void lapse_judge_say_violation(struct lapse_judge *judge, const struct lapse_history_event *event,
                               const struct lapse_violation *violation,
                               const struct lapse_finding *finding) {
    bool labelled = violation->label_count > 0;
    int64_t first = labelled ? violation->labels[0].event : event->seq;
    LAPSE_ASSERT(first >= 0);
    LAPSE_ASSERT((size_t)first < judge->event_count);
    char text[TEXT_MAX];
    struct lapse_line line;
    lapse_line_begin(&line, text, sizeof(text));
    put_late(judge, judge->events[first], &line);
    lapse_line_add(&line, "%s", labelled ? violation->labels[0].text : "");

    struct lapse_place place = place_of_event(judge, first);
    if (place.file == NULL) {
        place = place_of_event(judge, event->seq);
    }
    if (place.file == NULL) {
        place = judge->the_case->place;
    }
    struct lapse_diag *diag =
        lapse_diag_add(&judge->verdict.diags, violation->id, place, text, "%s", violation->message);
    if (finding->unmet && finding->expected[0] != '\0') {
        lapse_diag_label(&judge->verdict.diags, diag, finding->place, "expected %s, got %s",
                         finding->expected, finding->got);
    }
    for (size_t i = 1; i < violation->label_count; i++) {
        struct lapse_place other = place_of_event(judge, violation->labels[i].event);
        if (other.file != NULL) {
            lapse_diag_label(&judge->verdict.diags, diag, other, "%s", violation->labels[i].text);
        }
    }
    note_contract(judge, diag, violation->id);
    note_state(judge, diag, event);
    judge->verdict.id = violation->id;
    lapse_judge_fail(judge, diag, event->seq);
}

void lapse_judge_say_unmet(struct lapse_judge *judge, const struct lapse_history_event *event,
                           const struct lapse_finding *finding) {
    judge->verdict.unmet = true;
    switch (event->kind) {
    case LAPSE_HISTORY_UNBOUND:
    case LAPSE_HISTORY_NOT_RUN:
    case LAPSE_HISTORY_WAITING:
        lapse_judge_say_unsent(judge, event, finding);
        break;
    default:
        say_answer(judge, event, finding);
        break;
    }
}

void lapse_judge_say_missing(struct lapse_judge *judge, size_t listed) {
    const struct lapse_case *the_case = judge->the_case;
    const char *id = the_case->violates[listed];
    bool judged = lapse_rule_exists(id);
    const char *label = judged ? "listed here, and kept throughout" : "no rule judges it yet";
    struct lapse_diag *diag =
        lapse_diag_add(&judge->verdict.diags, id, the_case->violates_places[listed], label,
                       judged ? "did not violate %s" : "nothing can be seen to violate %s", id);
    note_contract(judge, diag, id);
    if (judge->verdict.id == NULL) {
        judge->verdict.id = id;
    }
    judge->verdict.unmet = true;
    lapse_judge_fail(judge, diag, -1);
}

void lapse_judge_label_missing(struct lapse_judge *judge, struct lapse_diag *diag) {
    const struct lapse_case *the_case = judge->the_case;
    for (size_t i = 0; i < the_case->violates_count; i++) {
        const char *id = the_case->violates[i];
        if (!lapse_judge_came(judge, id)) {
            lapse_diag_label(&judge->verdict.diags, diag, the_case->violates_places[i],
                             "did not violate %s before this", id);
        }
    }
}

void lapse_judge_fail(struct lapse_judge *judge, const struct lapse_diag *diag, int64_t event) {
    judge->failed = true;
    judge->verdict.outcome = LAPSE_OUTCOME_VIOLATED;
    judge->verdict.event = event;
    LAPSE_ASSERT(diag != NULL || judge->verdict.diags.failed);
}

/* A line that ran later than it was due: what was sent in between is why it looks out of order. */
static void put_late(const struct lapse_judge *judge, const struct lapse_history_event *event,
                     struct lapse_line *line) {
    const struct lapse_history_event *invoke = event->kind == LAPSE_HISTORY_INVOKE
                                                   ? event
                                                   : lapse_scene_invoke(&judge->scene, event->call);
    if (invoke == NULL || invoke->u.invoke.due.ns >= invoke->at.ns) {
        return;
    }
    lapse_line_add(line, "due at ");
    lapse_line_span(line, invoke->u.invoke.due.ns);
    lapse_line_add(line, ", ran at ");
    lapse_line_span(line, invoke->at.ns);
    if (invoke->actor >= 0) {
        const struct lapse_scene_actor *actor = &judge->scene.actors[invoke->actor];
        if (actor->woke && actor->woke_at.ns == invoke->at.ns) {
            lapse_line_add(line, " when ");
            lapse_line_bytes(line, judge->scene.setup->actors[invoke->actor].name);
            lapse_line_add(line, " woke");
        }
    }
    lapse_line_add(line, ": ");
}

static struct lapse_place place_of_event(const struct lapse_judge *judge, int64_t seq) {
    LAPSE_ASSERT(seq >= 0);
    LAPSE_ASSERT((size_t)seq < judge->event_count);
    if ((size_t)seq < judge->the_case->event_place_count) {
        return judge->the_case->event_places[seq];
    }
    const struct lapse_step_check *check = lapse_judge_step(judge, judge->events[seq]->step);
    return check == NULL ? (struct lapse_place){0} : check->place;
}

static void say_answer(struct lapse_judge *judge, const struct lapse_history_event *event,
                       const struct lapse_finding *finding) {
    const struct lapse_step_check *check = finding->check;
    char text[TEXT_MAX];
    struct lapse_line line;
    lapse_line_begin(&line, text, sizeof(text));
    put_late(judge, event, &line);
    lapse_line_add(&line, "got %s", finding->got);
    if (event->n > 1) {
        lapse_line_add(&line, " (n = %d)", (int)event->n);
    }
    struct lapse_diag *diag = lapse_diag_add(&judge->verdict.diags, check->contract, finding->place,
                                             text, "%s %s: expected %s, got %s", check->verb,
                                             check->object, finding->expected, finding->got);
    if (check->who.file == NULL && finding->place.line != check->place.line) {
        lapse_diag_label(&judge->verdict.diags, diag, check->place, "of this line");
    } else if (check->who.file != NULL && check->who.line != check->place.line) {
        /* A copy's change stands apart from the line that it changes: show the other one too. */
        bool change = finding->place.line == check->place.line;
        lapse_diag_label(&judge->verdict.diags, diag, change ? check->who : check->place,
                         change ? "of this line" : "as changed here");
    }
    lapse_judge_label_missing(judge, diag);
    label_set_up(judge, diag, event);
    note_times(judge, diag, event);
    note_contract(judge, diag, check->contract);
    note_state(judge, diag, event);
    judge->verdict.id = check->contract;
    lapse_judge_fail(judge, diag, event->seq);
}

static void note_contract(struct lapse_judge *judge, struct lapse_diag *diag, const char *id) {
    const struct lapse_contract *contract = lapse_contract_find(id);
    if (contract != NULL) {
        lapse_diag_note(&judge->verdict.diags, diag, "contract", "%s  %s", id, contract->sentence);
    }
}

static void note_state(struct lapse_judge *judge, struct lapse_diag *diag,
                       const struct lapse_history_event *event) {
    char text[TEXT_MAX];
    (void)lapse_trackers_describe(judge->trackers, event, text, sizeof(text));
    if (text[0] != '\0') {
        lapse_diag_note(&judge->verdict.diags, diag, "state", "%s", text);
    }
}

/* The line that left what this event found: the last accepted write or grant under the name. */
static void label_set_up(struct lapse_judge *judge, struct lapse_diag *diag,
                         const struct lapse_history_event *event) {
    const struct lapse_history_event *invoke = lapse_scene_invoke(&judge->scene, event->call);
    if (invoke != NULL && (invoke->u.invoke.request.verb == LAPSE_CALL_WRITE ||
                           invoke->u.invoke.request.verb == LAPSE_CALL_READ)) {
        label_resource(judge, diag, event, invoke->u.invoke.request.resource);
        return;
    }
    const struct lapse_scene_name *name = name_of(judge, event);
    const struct lapse_stand *stand = name == NULL ? NULL : stand_of(name, event);
    if (stand == NULL || stand->event == NULL || stand->event->step == event->step) {
        return;
    }
    struct lapse_place place = place_of_event(judge, stand->event->seq);
    char text[TEXT_MAX];
    struct lapse_line line;
    lapse_line_begin(&line, text, sizeof(text));
    put_stand(judge, stand, &line);
    if (place.file != NULL) {
        lapse_diag_label(&judge->verdict.diags, diag, place, "%s", text);
    }
}

static void label_resource(struct lapse_judge *judge, struct lapse_diag *diag,
                           const struct lapse_history_event *event, int32_t resource) {
    if (resource < 0 || (size_t)resource >= judge->scene.setup->resource_count) {
        return;
    }
    const struct lapse_history_event *last = judge->scene.writes[resource];
    if (last != NULL && last->call == event->call) {
        last = judge->scene.writes_before[resource];
    }
    struct lapse_place place = {0};
    if (last != NULL && last->step != event->step) {
        place = place_of_event(judge, last->seq);
    }
    if (place.file == NULL) {
        return;
    }
    char at[LAPSE_TIME_TEXT_MAX];
    (void)lapse_span_print((struct lapse_span){last->at.ns}, at);
    if (last->u.resource.has_token) {
        lapse_diag_label(&judge->verdict.diags, diag, place, "took token %lld at %s",
                         (long long)last->u.resource.token, at);
    } else {
        lapse_diag_label(&judge->verdict.diags, diag, place, "took a write without a token at %s",
                         at);
    }
}

/* The key or lease that an event is about. */
static const struct lapse_scene_name *name_of(const struct lapse_judge *judge,
                                              const struct lapse_history_event *event) {
    if (event->kind == LAPSE_HISTORY_PROBE) {
        const struct lapse_probe *probe = &event->u.probe;
        return lapse_scene_find(&judge->scene, probe->bucket.len == 0, probe->bucket, probe->name);
    }
    const struct lapse_history_event *invoke = lapse_scene_invoke(&judge->scene, event->call);
    if (invoke == NULL) {
        return NULL;
    }
    const struct lapse_command *command = &invoke->u.invoke.request.command;
    bool lease = lapse_verb_is_lease(invoke->u.invoke.request.verb);
    struct lapse_bytes bucket = lease ? (struct lapse_bytes){0} : command->bucket;
    return lapse_scene_find(&judge->scene, lease, bucket, command->key);
}

/* What stood before the event's own call, if that was accepted itself. */
static const struct lapse_stand *stand_of(const struct lapse_scene_name *name,
                                          const struct lapse_history_event *event) {
    bool own = name->now.event != NULL && event->call > 0 && name->now.event->call == event->call;
    return own ? &name->before : &name->now;
}

static void put_stand(const struct lapse_judge *judge, const struct lapse_stand *stand,
                      struct lapse_line *line) {
    const struct lapse_answer *answer = &stand->event->u.apply.answer;
    lapse_line_add(line, "%s", stand_word(stand->verb));
    if (stand->verb == LAPSE_VERB_ACQUIRE && stand->actor >= 0) {
        lapse_line_add(line, " to ");
        lapse_line_bytes(line, judge->scene.setup->actors[stand->actor].name);
        lapse_line_add(line, ", token %lld,", (long long)answer->token);
    }
    lapse_line_add(line, " at ");
    lapse_line_span(line, answer->at.ns);
    if (stand->live && stand->end.kind != LAPSE_END_NONE) {
        lapse_line_add(line, ", until ");
        put_end(line, stand->end);
    }
}

static const char *stand_word(int verb) {
    switch (verb) {
    case LAPSE_VERB_ACQUIRE:
        return "granted";
    case LAPSE_VERB_EXTEND:
        return "extended";
    case LAPSE_VERB_RELEASE:
        return "released";
    case LAPSE_VERB_DELETE:
        return "deleted";
    case LAPSE_VERB_PURGE:
        return "purged";
    case LAPSE_VERB_EXPIRE:
    case LAPSE_VERB_PERSIST:
        return "its term was changed";
    default:
        return "written";
    }
}

static void put_end(struct lapse_line *line, struct lapse_end end) {
    char text[LAPSE_TIME_TEXT_MAX];
    if (end.kind == LAPSE_END_WALL) {
        lapse_line_add(line, "%s", lapse_wall_print((struct lapse_wall){end.ns}, text));
    } else {
        lapse_line_span(line, end.ns);
    }
}

/* The answer whose instant decided the event, if a store decided it. */
static bool decision_of(const struct lapse_history_event *event, struct lapse_answer *ret) {
    if (event->kind == LAPSE_HISTORY_PROBE) {
        if (event->u.probe.answer_count == 0) {
            return false;
        }
        *ret = event->u.probe.answers[0].answer;
        return ret->status >= 0; /* a store that is down looks at no clock */
    }
    *ret = event->u.reply.answer;
    return event->u.reply.sent && ret->status >= 0 && ret->status != LAPSE_TOO_LATE;
}

static void note_times(struct lapse_judge *judge, struct lapse_diag *diag,
                       const struct lapse_history_event *event) {
    const struct lapse_scene_name *name = name_of(judge, event);
    const struct lapse_stand *stand = name == NULL ? NULL : stand_of(name, event);
    struct lapse_answer answer = {0};
    if (stand == NULL || !stand->live || stand->end.kind == LAPSE_END_NONE ||
        !decision_of(event, &answer)) {
        return;
    }
    bool dated = stand->end.kind == LAPSE_END_WALL;
    struct lapse_end now = {stand->end.kind, dated ? answer.wall.ns : answer.at.ns};
    char text[TEXT_MAX];
    struct lapse_line line;
    lapse_line_begin(&line, text, sizeof(text));
    lapse_line_add(&line, "the %s %s at ", name->lease ? "grant" : "entry",
                   now.ns >= stand->end.ns ? "ended" : "ends");
    put_end(&line, stand->end);
    lapse_line_add(&line, ", the %s at ",
                   event->kind == LAPSE_HISTORY_PROBE ? "look was" : "call was decided");
    put_end(&line, now);
    lapse_diag_note(&judge->verdict.diags, diag, "note", "%s", text);
}
