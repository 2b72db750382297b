/* One line: when, who, what, and what is done with the answer. Its verb's own words are in
 * emit_call.c and emit_world.c. */
#include <string.h>

#include "emitter.h"

static const struct lapse_word *row_of(const struct lapse_emitter *e,
                                       const struct lapse_plan_step *step,
                                       const struct lapse_step_check *check);
static const struct lapse_word *call_row(int verb);
static struct lapse_node *emit_loop(struct lapse_emitter *e, enum lapse_where where,
                                    int32_t number);
static bool shares_line(const struct lapse_emitter *e, const struct lapse_plan_step *loop);
static struct lapse_node *emit_words(struct lapse_emitter *e, const struct lapse_emit_line *line);
static void emit_part(struct lapse_emitter *e, const struct lapse_emit_line *line, bool head,
                      struct lapse_node *map);
static void emit_arguments(struct lapse_emitter *e, const struct lapse_emit_line *line,
                           struct lapse_node *map);
static const struct lapse_plan_step *timed(const struct lapse_emit_line *line);
static bool is_client(const struct lapse_plan_step *step);
static bool until_of(struct lapse_emitter *e, const struct lapse_plan_loop *loop, const char *word);
static const char *until_word(struct lapse_emitter *e, const struct lapse_plan_loop *loop);
static struct lapse_node *emit_message(struct lapse_emitter *e,
                                       const struct lapse_plan_message *message);
static struct lapse_node *emit_action(struct lapse_emitter *e, const struct lapse_action *action);
static void emit_handlers(struct lapse_emitter *e, struct lapse_node *map,
                          const struct lapse_emit_line *line, const char *word);

struct lapse_node *lapse_emit_line(struct lapse_emitter *e, enum lapse_where where,
                                   int32_t number) {
    if (!lapse_emit_take_step(e, number)) {
        return NULL;
    }
    const struct lapse_plan_step *step = &e->plan->steps[number];
    if (step->kind == LAPSE_STEP_LOOP) {
        return emit_loop(e, where, number);
    }
    struct lapse_emit_line line = {
        .where = where, .number = number, .step = step, .check = &e->plan->the_case.checks[number]};
    line.row = row_of(e, step, line.check);
    line.call = step->kind == LAPSE_STEP_CALL ? &step->u.call : NULL;
    if (line.row == NULL) {
        lapse_emit_refuse(e, "no word of the language does what it does");
        return NULL;
    }
    return emit_words(e, &line);
}

struct lapse_node *lapse_emit_member(struct lapse_emitter *e, const struct lapse_plan_call *call) {
    struct lapse_emit_line line = {.number = -1, .row = call_row(call->verb), .call = call};
    struct lapse_node *map = lapse_emit_map(e);
    if (line.row == NULL) {
        lapse_emit_refuse(e, "a batch has a call that no word stands for");
        return NULL;
    }
    lapse_emit_one(e, line.row->kind, line.row->word, map, &line);
    emit_arguments(e, &line, map);
    return map;
}

struct lapse_node *lapse_emit_label(struct lapse_emitter *e, int32_t step, const char *moment) {
    if (step < 0 || (size_t)step >= e->plan->step_count ||
        e->plan->steps[step].kind != LAPSE_STEP_CALL) {
        lapse_emit_refuse(e, "it waits for a moment of step %d, which is no call", (int)step);
        return NULL;
    }
    const struct lapse_word *row = call_row(e->plan->steps[step].u.call.verb);
    const struct lapse_node *number = lapse_emit_number(e, step);
    if (row == NULL || number == NULL) {
        return NULL;
    }
    const struct lapse_node *label = lapse_emit_join(e, row->word, "-", number->text);
    return label == NULL ? NULL
                         : lapse_emit_join(e, label->text, moment[0] == '\0' ? "" : ".", moment);
}

/* The row of the word that the step's verb, observer or fault has. */
static const struct lapse_word *row_of(const struct lapse_emitter *e,
                                       const struct lapse_plan_step *step,
                                       const struct lapse_step_check *check) {
    static const char *const acts[] = {"", "reap", "revoke", "backup", "restore"};
    const char *word = NULL;
    switch (step->kind) {
    case LAPSE_STEP_CALL:
        return call_row(step->u.call.verb);
    case LAPSE_STEP_WORK:
        return lapse_word_find(LAPSE_WORD_VERB, "work");
    case LAPSE_STEP_AWAIT:
        return lapse_word_find(LAPSE_WORD_VERB,
                               step->u.await.kind == LAPSE_AWAIT_UNCHANGED ? "unchanged" : "await");
    case LAPSE_STEP_PROBE:
        if (step->u.probe.kind == LAPSE_PROBE_READ) {
            return call_row(step->u.probe.verb);
        }
        if (step->u.probe.kind == LAPSE_PROBE_COUNT && check->count != NULL) {
            return lapse_word_find(LAPSE_WORD_VERB, "count");
        }
        word = lapse_decode_probe_word(step->u.probe.kind);
        return word == NULL ? NULL : lapse_word_find(LAPSE_WORD_OBSERVER, word);
    case LAPSE_STEP_FAULT:
        word = lapse_decode_fault_word(step->u.fault.kind, step->u.fault.ends);
        /* What stands still, sleeps or is late is let go by one word; a disk is healed. */
        if (word == NULL && step->u.fault.ends) {
            word = step->u.fault.kind == LAPSE_FAULT_DISK ? "heal" : "resume";
        }
        return word == NULL ? NULL : lapse_word_find(LAPSE_WORD_FAULT, word);
    case LAPSE_STEP_OPERATOR:
        if (step->u.operator_act.verb < LAPSE_OPERATOR_REAP ||
            step->u.operator_act.verb > LAPSE_OPERATOR_RESTORE) {
            return NULL;
        }
        return lapse_word_find(LAPSE_WORD_FAULT, acts[step->u.operator_act.verb]);
    case LAPSE_STEP_LOOP:
    case LAPSE_STEP_PROGRAM:
        break;
    }
    (void)e;
    return NULL;
}

static const struct lapse_word *call_row(int verb) {
    const char *word = lapse_decode_verb_word(verb);
    return word == NULL ? NULL : lapse_word_find(LAPSE_WORD_VERB, word);
}

/* A loop stands in the line of its body's one call if their words do not meet. */
static struct lapse_node *emit_loop(struct lapse_emitter *e, enum lapse_where where,
                                    int32_t number) {
    const struct lapse_plan_step *loop = &e->plan->steps[number];
    struct lapse_emit_line line = {.where = where,
                                   .number = number,
                                   .step = loop,
                                   .check = &e->plan->the_case.checks[number],
                                   .loop = loop};
    if (shares_line(e, loop)) {
        line.number = loop->u.loop.body[0];
        if (!lapse_emit_take_step(e, line.number)) {
            return NULL;
        }
        line.step = &e->plan->steps[line.number];
        line.check = &e->plan->the_case.checks[line.number];
        line.call = line.step->kind == LAPSE_STEP_CALL ? &line.step->u.call : NULL;
        line.row = row_of(e, line.step, line.check);
    }
    struct lapse_node *map = emit_words(e, &line);
    e->step = number;
    return map;
}

static bool shares_line(const struct lapse_emitter *e, const struct lapse_plan_step *loop) {
    int32_t first = loop->u.loop.body_count == 1 ? loop->u.loop.body[0] : -1;
    if (first < 0 || (size_t)first >= e->plan->step_count) {
        return false;
    }
    const struct lapse_plan_step *body = &e->plan->steps[first];
    bool listed = body->kind == LAPSE_STEP_CALL && body->u.call.has_after;
    return is_client(body) && body->when.kind == LAPSE_WHEN_SAME && body->times == 0 && !listed &&
           row_of(e, body, &e->plan->the_case.checks[first]) != NULL;
}

/* The words before the verb, the verb with its own, and those of the answer. */
static struct lapse_node *emit_words(struct lapse_emitter *e, const struct lapse_emit_line *line) {
    struct lapse_node *map = lapse_emit_map(e);
    emit_part(e, line, true, map);
    if (line->row != NULL) {
        lapse_emit_one(e, line->row->kind, line->row->word, map, line);
        emit_arguments(e, line, map);
    }
    emit_part(e, line, false, map);
    return map;
}

/* Words of any line, in the order of the table: up to `gap` they come before the verb. */
static void emit_part(struct lapse_emitter *e, const struct lapse_emit_line *line, bool head,
                      struct lapse_node *map) {
    size_t count = 0;
    const struct lapse_word *table = lapse_word_table(&count);
    bool before = true;
    for (size_t i = 0; i < count; i++) {
        if (table[i].kind != LAPSE_WORD_STEP || table[i].stage > LAPSE_STAGE_NOW) {
            continue;
        }
        if (before == head) {
            lapse_emit_one(e, LAPSE_WORD_STEP, table[i].word, map, line);
        }
        before = before && strcmp(table[i].word, "gap") != 0;
    }
}

static void emit_arguments(struct lapse_emitter *e, const struct lapse_emit_line *line,
                           struct lapse_node *map) {
    char word[32];
    const char *rest = line->row->arguments;
    while ((rest = lapse_words_next(rest, word, sizeof(word))) != NULL) {
        const struct lapse_word *argument = lapse_word_find(LAPSE_WORD_ARGUMENT, word);
        if (argument != NULL && argument->stage <= LAPSE_STAGE_NOW) {
            lapse_emit_one(e, LAPSE_WORD_ARGUMENT, argument->word, map, line);
        }
    }
}

/* A line must get the number that its step has. */
bool lapse_emit_take_step(struct lapse_emitter *e, int32_t number) {
    e->step = number;
    if (number != e->next_step || (size_t)number >= e->plan->step_count) {
        lapse_emit_refuse(e, "it would be step %d where it stands in a file", (int)e->next_step);
        return false;
    }
    e->next_step++;
    return true;
}

/* ---- The words of a line. `thing` is a struct lapse_emit_line. */
static const struct lapse_plan_step *timed(const struct lapse_emit_line *line) {
    return line->loop != NULL ? line->loop : line->step;
}

static bool is_client(const struct lapse_plan_step *step) {
    return step->kind == LAPSE_STEP_CALL || step->kind == LAPSE_STEP_WORK ||
           step->kind == LAPSE_STEP_AWAIT;
}

static void emit_at(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                    const void *thing) {
    const struct lapse_emit_line *line = thing;
    const struct lapse_when *when = &timed(line)->when;
    bool end = line->where == LAPSE_WHERE_EXPECT && when->ns == LAPSE_FINAL_AT_END;
    if (when->kind == LAPSE_WHEN_AT && !end) {
        lapse_emit_put(e, map, word, lapse_emit_span(e, when->ns));
    }
}

static void emit_after(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_when *when = &timed(thing)->when;
    if (when->kind == LAPSE_WHEN_AFTER) {
        lapse_emit_put(e, map, word, lapse_emit_span(e, when->ns));
    }
}

static void emit_when(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_emit_line *line = thing;
    if (line->step->kind != LAPSE_STEP_FAULT || line->step->when.kind != LAPSE_WHEN_POINT) {
        return;
    }
    const struct lapse_point *point = &line->step->u.fault.point;
    const char *moment = lapse_decode_point_word(point->kind);
    if (moment == NULL) {
        lapse_emit_refuse(e, "there is no moment of kind %d", (int)point->kind);
    } else if (point->kind < LAPSE_POINT_SYNC) {
        lapse_emit_put(e, map, word, lapse_emit_label(e, point->step, moment));
    } else {
        struct lapse_node *of = lapse_emit_map(e);
        lapse_emit_put(e, of, "n1", lapse_emit_text(e, moment));
        lapse_emit_put(e, map, word, of);
    }
}

static void emit_nth(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                     const void *thing) {
    const struct lapse_emit_line *line = thing;
    if (line->step->kind != LAPSE_STEP_FAULT) {
        return;
    }
    const struct lapse_plan_fault *fault = &line->step->u.fault;
    bool point = line->step->when.kind == LAPSE_WHEN_POINT;
    int64_t nth = point ? fault->point.nth : fault->disk_nth;
    if (nth != (point ? 1 : 0)) {
        lapse_emit_put(e, map, word, lapse_emit_number(e, nth));
    }
}

static void emit_by(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                    const void *thing) {
    const struct lapse_emit_line *line = thing;
    bool who = line->loop != NULL || is_client(line->step);
    if (who && line->where == LAPSE_WHERE_STEPS && e->plan->setup.actor_count > 1) {
        lapse_emit_put(e, map, word, lapse_emit_actor(e, timed(line)->actor));
    }
}

static void emit_every(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_emit_line *line = thing;
    if (line->loop != NULL && line->loop->u.loop.gap == (strcmp(word, "gap") == 0)) {
        lapse_emit_put(e, map, word, lapse_emit_span(e, line->loop->u.loop.period_ns));
    }
}

static void emit_times(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_emit_line *line = thing;
    int64_t times = line->loop != NULL ? line->loop->u.loop.times : line->step->times;
    if (times > 0) {
        lapse_emit_put(e, map, word, lapse_emit_number(e, times));
    }
}

static void emit_until(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_emit_line *line = thing;
    const struct lapse_plan_loop *loop = line->loop == NULL ? NULL : &line->loop->u.loop;
    if (loop != NULL && loop->until == LAPSE_UNTIL_INSTANT) {
        lapse_emit_put(e, map, word, lapse_emit_span(e, loop->until_ns));
    } else if (loop != NULL && loop->until == LAPSE_UNTIL_ANSWER) {
        lapse_emit_put(e, map, word, lapse_emit_text(e, until_word(e, loop)));
    }
}

/* The answer that stands for these statuses with the verbs of the body. */
static const char *until_word(struct lapse_emitter *e, const struct lapse_plan_loop *loop) {
    for (size_t i = 0; i < loop->body_count; i++) {
        int32_t number = loop->body[i];
        bool known = number >= 0 && (size_t)number < e->plan->step_count;
        const struct lapse_word *row =
            known ? row_of(e, &e->plan->steps[number], &e->plan->the_case.checks[number]) : NULL;
        for (int bit = 0; row != NULL && bit < 32; bit++) {
            if ((loop->until_statuses & UINT32_C(1) << bit) == 0) {
                continue;
            }
            char first[32];
            const char *word = lapse_status_word((enum lapse_status)(bit - 16));
            if (bit == 16 && lapse_words_next(row->answers, first, sizeof(first)) != NULL) {
                word = first;
            }
            if (until_of(e, loop, word)) {
                const struct lapse_node *kept = lapse_emit_text(e, word);
                return kept == NULL ? NULL : kept->text;
            }
        }
    }
    lapse_emit_refuse(e, "no answer of its calls is what the loop waits for");
    return NULL;
}

static bool until_of(struct lapse_emitter *e, const struct lapse_plan_loop *loop,
                     const char *word) {
    uint32_t mask = 0;
    for (size_t i = 0; i < loop->body_count; i++) {
        int32_t number = loop->body[i];
        enum lapse_status status = LAPSE_OK;
        bool known = number >= 0 && (size_t)number < e->plan->step_count;
        const struct lapse_word *row =
            known ? row_of(e, &e->plan->steps[number], &e->plan->the_case.checks[number]) : NULL;
        if (row != NULL && lapse_decode_answer(row, word, &status)) {
            mask |= LAPSE_HANDLED_BIT(status);
        }
    }
    return mask == loop->until_statuses;
}

static void emit_save(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_emit_line *line = thing;
    if (line->row != NULL && line->step->has_save) {
        lapse_emit_put(e, map, word, lapse_emit_slot(e, line->step->save, true));
    }
}

static void emit_expect(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                        const void *thing) {
    const struct lapse_emit_line *line = thing;
    bool events =
        line->step->kind == LAPSE_STEP_PROBE && line->step->u.probe.kind == LAPSE_PROBE_EVENTS;
    bool read = is_client(line->step) || (line->step->kind == LAPSE_STEP_PROBE &&
                                          line->step->u.probe.kind == LAPSE_PROBE_READ);
    if (line->row == NULL || !line->check->written || (!events && !read)) {
        return;
    }
    e->listed = line->call != NULL                     ? line->call->bucket
                : line->step->kind == LAPSE_STEP_PROBE ? line->step->u.probe.bucket
                                                       : -1;
    lapse_emit_put(e, map, word, lapse_emit_expect(e, line->row, line->check->expect));
}

static void emit_need(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_emit_line *line = thing;
    if (line->row != NULL && line->step->need != NULL) {
        e->listed = line->call != NULL ? line->call->bucket : -1;
        lapse_emit_put(e, map, word, lapse_emit_expect(e, line->row, line->step->need));
    }
}

static void emit_else(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_emit_line *line = thing;
    if (line->row != NULL && line->step->need != NULL &&
        line->step->need_else.kind != LAPSE_ACTION_STOP) {
        lapse_emit_put(e, map, word, emit_action(e, &line->step->need_else));
    }
}

static void emit_timeout(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                         const void *thing) {
    const struct lapse_emit_line *line = thing;
    if (line->row != NULL && line->step->has_timeout) {
        lapse_emit_put(e, map, word, lapse_emit_span(e, line->step->timeout_ns));
    }
}

static void emit_nowait(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                        const void *thing) {
    const struct lapse_emit_line *line = thing;
    lapse_emit_put(e, map, word, lapse_emit_flag(e, line->row != NULL && line->step->nowait));
}

static void emit_jitter(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                        const void *thing) {
    const struct lapse_emit_line *line = thing;
    if (line->step->when.jitter_ns > 0) {
        lapse_emit_put(e, map, word, lapse_emit_span(e, line->step->when.jitter_ns));
    }
}

static void emit_under(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_emit_line *line = thing;
    if (line->row != NULL && line->step->has_under) {
        lapse_emit_put(e, map, word, lapse_emit_slot(e, line->step->under, false));
    }
}

static void emit_request(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                         const void *thing) {
    const struct lapse_emit_line *line = thing;
    lapse_emit_put(e, map, word, emit_message(e, &line->step->request));
}

/* The answer `lost` is told apart from a reply that is lost. */
static void emit_reply(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_emit_line *line = thing;
    if (line->row == NULL || !line->step->forged) {
        lapse_emit_put(e, map, word, emit_message(e, &line->step->reply));
        return;
    }
    struct lapse_node *answer =
        lapse_emit_text(e, lapse_emit_answer(e, line->row, line->step->forged_status));
    if (!lapse_node_is(answer, "lost")) {
        lapse_emit_put(e, map, word, answer);
        return;
    }
    struct lapse_node *of = lapse_emit_map(e);
    lapse_emit_put(e, of, "answer", answer);
    lapse_emit_put(e, map, word, of);
}

static struct lapse_node *emit_message(struct lapse_emitter *e,
                                       const struct lapse_plan_message *message) {
    switch (message->kind) {
    case LAPSE_MESSAGE_TAKES:
        return lapse_emit_span(e, message->ns);
    case LAPSE_MESSAGE_IS_LOST:
        return lapse_emit_text(e, "lost");
    case LAPSE_MESSAGE_IS_TWICE:
        return lapse_emit_text(e, "twice");
    case LAPSE_MESSAGE_PLAIN:
        break;
    }
    return NULL;
}

static void emit_label(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_emit_line *line = thing;
    if (line->number >= 0 && e->labelled[line->number]) {
        lapse_emit_put(e, map, word, lapse_emit_label(e, line->number, ""));
    }
}

static struct lapse_node *emit_action(struct lapse_emitter *e, const struct lapse_action *action) {
    if (action->kind != LAPSE_ACTION_AGAIN) {
        const char *word = lapse_decode_action_word(action->kind);
        if (word == NULL) {
            lapse_emit_refuse(e, "there is no action of kind %d", (int)action->kind);
        }
        return lapse_emit_text(e, word);
    }
    struct lapse_node *map = lapse_emit_map(e);
    lapse_emit_put(e, map, "again", lapse_emit_span(e, action->again_ns));
    return map;
}

/* on_refused and on_any; before the first, the handlers of single answers. */
static void emit_on(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                    const void *thing) {
    const struct lapse_emit_line *line = thing;
    if (line->row == NULL || line->row->kind != LAPSE_WORD_VERB) {
        return;
    }
    if (strcmp(word, "on_refused") == 0) {
        emit_handlers(e, map, line, NULL);
    }
    emit_handlers(e, map, line, word);
}

/* The handlers with the mask of `word`; NULL: of single answers, and what is none of the three. */
static void emit_handlers(struct lapse_emitter *e, struct lapse_node *map,
                          const struct lapse_emit_line *line, const char *word) {
    uint32_t refused = 0, any = 0, wanted = 0;
    int rank = 0;
    (void)lapse_decode_handled(line->row, "refused", &refused, &rank);
    (void)lapse_decode_handled(line->row, "any", &any, &rank);
    wanted = word == NULL ? 0 : strcmp(word, "on_any") == 0 ? any : refused;
    for (size_t i = 0; i < line->step->handler_count; i++) {
        const struct lapse_handler *handler = &line->step->handlers[i];
        uint32_t mask = handler->statuses;
        if (word != NULL && mask == wanted) {
            lapse_emit_put(e, map, word, emit_action(e, &handler->action));
        }
        if (word != NULL || mask == refused || mask == any) {
            continue;
        }
        int bit = 0;
        while (bit < 31 && (mask & UINT32_C(1) << bit) == 0) {
            bit++;
        }
        if (mask != UINT32_C(1) << bit) {
            lapse_emit_refuse(e, "it handles answers together that no word has together");
            return;
        }
        const char *answer = lapse_emit_answer(e, line->row, (enum lapse_status)(bit - 16));
        const struct lapse_node *on = answer == NULL ? NULL : lapse_emit_join(e, "on_", answer, "");
        if (on != NULL) {
            lapse_emit_put(e, map, on->text, emit_action(e, &handler->action));
        }
    }
}

static void emit_do(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                    const void *thing) {
    const struct lapse_emit_line *line = thing;
    if (line->loop == NULL || line->row != NULL) {
        return;
    }
    struct lapse_node *list = lapse_emit_seq(e);
    for (size_t i = 0; i < line->loop->u.loop.body_count; i++) {
        lapse_emit_add(e, list, lapse_emit_line(e, LAPSE_WHERE_BODY, line->loop->u.loop.body[i]));
    }
    lapse_emit_put(e, map, word, list);
}

const struct lapse_emit_row *lapse_emit_line_rows(size_t *ret_count) {
    static const struct lapse_emit_row rows[] = {
        {LAPSE_WORD_STEP, "at", emit_at},         {LAPSE_WORD_STEP, "after", emit_after},
        {LAPSE_WORD_STEP, "when", emit_when},     {LAPSE_WORD_STEP, "nth", emit_nth},
        {LAPSE_WORD_STEP, "by", emit_by},         {LAPSE_WORD_STEP, "every", emit_every},
        {LAPSE_WORD_STEP, "gap", emit_every},     {LAPSE_WORD_STEP, "times", emit_times},
        {LAPSE_WORD_STEP, "until", emit_until},   {LAPSE_WORD_STEP, "save", emit_save},
        {LAPSE_WORD_STEP, "expect", emit_expect}, {LAPSE_WORD_STEP, "timeout", emit_timeout},
        {LAPSE_WORD_STEP, "nowait", emit_nowait}, {LAPSE_WORD_STEP, "jitter", emit_jitter},
        {LAPSE_WORD_STEP, "need", emit_need},     {LAPSE_WORD_STEP, "else", emit_else},
        {LAPSE_WORD_STEP, "under", emit_under},   {LAPSE_WORD_STEP, "request", emit_request},
        {LAPSE_WORD_STEP, "reply", emit_reply},   {LAPSE_WORD_STEP, "label", emit_label},
        {LAPSE_WORD_STEP, "on_refused", emit_on}, {LAPSE_WORD_STEP, "on_any", emit_on},
        {LAPSE_WORD_STEP, "do", emit_do},
    };
    *ret_count = sizeof(rows) / sizeof(rows[0]);
    return rows;
}
