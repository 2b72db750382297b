/* Loops, and what is done with answers: every, gap, do, until, times; on_ANSWER, need, else. */
#include <stdio.h>
#include <string.h>

#include "decode.h"

/* Every word that a loop's own line can have when its body is a list. */
#define LIST_LOOP_WORDS "every gap do until times at after by label jitter"
/* Answers that any call can have. */
static void note_retry(struct lapse_decoder *d, const struct lapse_line *line,
                       struct lapse_action action);
static const char every_answers[] =
    "invalid range io corrupt locked version unavailable unknown too_late";
/* Answers that say for certain that the call did nothing. */
static const char sure_refusals[] = "invalid range locked version too_late";

static const char *const simple_actions[] = {"", "stop", "stop_all", "next", "skip"};

static void read_loop(struct lapse_decoder *d, const struct lapse_line *line,
                      struct lapse_plan_loop *loop);
static void read_until(struct lapse_decoder *d, const struct lapse_line *line,
                       struct lapse_plan_loop *loop);
static bool read_until_answer(const struct lapse_node *until, const struct lapse_node *map,
                              struct lapse_plan_loop *loop);
static void read_body(struct lapse_decoder *d, const struct lapse_line *line, int32_t actor,
                      struct lapse_plan_loop *loop);
static int32_t add_body_line(struct lapse_decoder *d, const struct lapse_line *line,
                             const struct lapse_node *node, int32_t actor,
                             const struct lapse_plan_loop *loop);
static int32_t loop_actor(struct lapse_decoder *d, const struct lapse_line *line);
static void note_endless(struct lapse_decoder *d, const struct lapse_node *key,
                         const struct lapse_plan_loop *loop);
static bool handler_mask(struct lapse_decoder *d, const struct lapse_word *row,
                         const struct lapse_node *key, uint32_t *ret_mask, int *ret_rank);
static uint32_t mask_of(const struct lapse_word *row, const char *words, bool leave_first);
static bool read_action(struct lapse_decoder *d, const struct lapse_line *line,
                        const struct lapse_node *node, struct lapse_action *ret);
static bool may_stop(struct lapse_decoder *d, int32_t actor);
static void read_else(struct lapse_decoder *d, const struct lapse_line *line,
                      struct lapse_plan_step *step);

void lapse_decode_loop(struct lapse_decoder *d, const struct lapse_line *line, int32_t *ret_step) {
    const struct lapse_node *map = line->node;
    int64_t every = lapse_node_index(map, "every");
    int64_t gap = lapse_node_index(map, "gap");
    size_t key = (size_t)(every >= 0 ? every : gap);
    if (every >= 0 && gap >= 0) {
        lapse_mistake_add(d->diags, "Y120", map->keys[gap]->place, "",
                          "`every` and `gap` cannot stand in one line");
        return;
    }
    if (line->where == LAPSE_WHERE_BODY || line->where == LAPSE_WHERE_FAULTS ||
        line->where == LAPSE_WHERE_EXPECT) {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y126", map->keys[key]->place, "",
                                                    "a loop cannot stand here");
        lapse_diag_note(d->diags, diag, "help", "loops stand in `steps` and in tasks");
        return;
    }
    const struct lapse_word *row = lapse_word_find(LAPSE_WORD_STEP, map->keys[key]->text);
    int32_t number = lapse_decode_new_step(d, line, row, key);
    struct lapse_setup_loop *setup = lapse_decoder_add(d, &d->loops);
    if (number < 0 || setup == NULL) {
        return;
    }
    struct lapse_plan_step step = {.kind = LAPSE_STEP_LOOP, .loop = -1};
    step.actor = loop_actor(d, line);
    step.u.loop.gap = gap >= 0;
    step.u.loop.loop = (int32_t)d->loops.count - 1;
    *setup = (struct lapse_setup_loop){.actor = step.actor, .step = number, .gap = gap >= 0};
    (void)lapse_number_span(d, map->items[key], 1, &step.u.loop.period_ns);
    setup->period.ns = step.u.loop.period_ns;
    lapse_decode_when(d, line, &step.when);
    step.when.jitter_ns = 0; /* it is of the first line of each firing */
    read_loop(d, line, &step.u.loop);
    read_body(d, line, step.actor, &step.u.loop);
    note_endless(d, map->keys[key], &step.u.loop);
    lapse_decode_check_at(d, number)->expect =
        lapse_decode_first(d, lapse_decode_check_at(d, number)->place);
    *lapse_decode_step_at(d, number) = step;
    lapse_decode_label(d, map, number);
    *ret_step = number;
}

void lapse_decode_loops_end(struct lapse_decoder *d) {
    for (size_t i = 0; i < d->loops.count; i++) {
        struct lapse_setup_loop *setup = lapse_list_at(&d->loops, i);
        const struct lapse_plan_step *its = lapse_decode_step_at(d, setup->step);
        if (its->kind != LAPSE_STEP_LOOP) {
            continue; /* it was a mistake */
        }
        setup->steady = its->u.loop.times == 0 && its->u.loop.until != LAPSE_UNTIL_INSTANT &&
                        !may_stop(d, setup->actor);
        bool told = false;
        for (size_t k = 0; k < its->u.loop.body_count; k++) {
            const struct lapse_plan_step *step = lapse_decode_step_at(d, its->u.loop.body[k]);
            int64_t after = step->when.kind == LAPSE_WHEN_AFTER ? step->when.ns : 0;
            bool adds = lapse_ns_add(setup->slack.ns, after, &setup->slack.ns) &&
                        lapse_ns_add(setup->slack.ns, step->when.jitter_ns, &setup->slack.ns);
            setup->steady = setup->steady && adds && step->kind == LAPSE_STEP_CALL &&
                            !step->u.call.has_wait;
            told = told || step->kind == LAPSE_STEP_CALL || step->kind == LAPSE_STEP_WORK;
            if (step->times > 0 || !told) { /* the number of a call is then that of the turn */
                setup->slack.ns = INT64_MAX;
            }
        }
    }
}

void lapse_decode_handlers(struct lapse_decoder *d, const struct lapse_word *row,
                           const struct lapse_line *line, struct lapse_plan_step *step,
                           struct lapse_step_check *check) {
    struct lapse_list handlers = {.item_bytes = sizeof(struct lapse_handler)};
    /* Exact words come first, then on_refused, then on_any, whatever the order written. */
    for (int rank = 0; rank < 3; rank++) {
        for (size_t i = 0; i < line->node->count; i++) {
            const struct lapse_node *key = line->node->keys[i];
            uint32_t mask = 0;
            int its_rank = 0;
            struct lapse_action action = {LAPSE_ACTION_NONE, 0};
            if (strncmp(key->text, "on_", 3) != 0 || !handler_mask(d, row, key, &mask, &its_rank) ||
                its_rank != rank || !read_action(d, line, line->node->items[i], &action)) {
                continue;
            }
            struct lapse_handler *handler = lapse_decoder_add(d, &handlers);
            if (handler != NULL) {
                *handler = (struct lapse_handler){mask, action};
                check->handled |= mask;
                note_retry(d, line, action);
            }
        }
    }
    step->handler_count = handlers.count;
    step->handlers = lapse_list_seal(&handlers, d->pool);
    lapse_list_free(d->alloc, &handlers);
    read_else(d, line, step);
}

/* What a rule on liveness may expect of the loop: how soon it asks again. */
static void note_retry(struct lapse_decoder *d, const struct lapse_line *line,
                       struct lapse_action action) {
    if (action.kind != LAPSE_ACTION_AGAIN || line->loop < 0) {
        return;
    }
    struct lapse_setup_loop *loop = lapse_list_at(&d->loops, (size_t)line->loop);
    if (loop->retry.ns == 0 || action.again_ns < loop->retry.ns) {
        loop->retry.ns = action.again_ns;
    }
}

bool lapse_decode_answer(const struct lapse_word *row, const char *word, enum lapse_status *ret) {
    if (!lapse_words_have(row->answers, word)) {
        return lapse_words_have(every_answers, word) && lapse_status_find(word, ret) == 1;
    }
    char first[32];
    (void)lapse_words_next(row->answers, first, sizeof(first));
    *ret = LAPSE_OK;
    return strcmp(first, word) == 0 || lapse_status_find(word, ret) == 1;
}

bool lapse_decode_handled(const struct lapse_word *row, const char *word, uint32_t *ret_mask,
                          int *ret_rank) {
    enum lapse_status status = LAPSE_OK;
    *ret_rank = strcmp(word, "refused") == 0 ? 1 : strcmp(word, "any") == 0 ? 2 : 0;
    if (*ret_rank > 0) {
        const char *more = *ret_rank == 1 ? sure_refusals : every_answers;
        *ret_mask = mask_of(row, row->answers, true) | mask_of(row, more, false);
        return true;
    }
    if (!lapse_decode_answer(row, word, &status)) {
        return false;
    }
    *ret_mask = LAPSE_HANDLED_BIT(status);
    return true;
}

const char *lapse_decode_action_word(enum lapse_action_kind kind) {
    return kind >= LAPSE_ACTION_STOP && kind <= LAPSE_ACTION_SKIP ? simple_actions[kind] : NULL;
}

static void read_loop(struct lapse_decoder *d, const struct lapse_line *line,
                      struct lapse_plan_loop *loop) {
    const struct lapse_node *map = line->node;
    const struct lapse_node *times = lapse_node_get(map, "times");
    if (times != NULL) {
        (void)lapse_number_count(d, times, 1, INT32_MAX, &loop->times);
    }
    const struct lapse_node *body = lapse_node_get(map, "do");
    for (size_t i = 0; body != NULL && i < map->count; i++) {
        if (!lapse_words_have(LIST_LOOP_WORDS, map->keys[i]->text)) {
            struct lapse_diag *diag =
                lapse_mistake_add(d->diags, "Y120", map->keys[i]->place, "",
                                  "`%.60s` does not go with `do`", map->keys[i]->text);
            lapse_diag_note(d->diags, diag, "help", "write it on a line of the `do` list");
        }
    }
    read_until(d, line, loop);
    loop->beside = loop->times == 0 && loop->until == LAPSE_UNTIL_NONE;
}

/* An instant begins with a digit; everything else is an answer of a line of the body. */
static void read_until(struct lapse_decoder *d, const struct lapse_line *line,
                       struct lapse_plan_loop *loop) {
    const struct lapse_node *until = lapse_node_get(line->node, "until");
    if (until == NULL || !lapse_shape_is(d, until, LAPSE_NODE_SCALAR, "an answer or an instant")) {
        return;
    }
    if (until->text[0] >= '0' && until->text[0] <= '9') {
        loop->until = LAPSE_UNTIL_INSTANT;
        (void)lapse_number_span(d, until, 0, &loop->until_ns);
        return;
    }
    loop->until = LAPSE_UNTIL_ANSWER;
    const struct lapse_node *body = lapse_node_get(line->node, "do");
    bool found = read_until_answer(until, line->node, loop);
    for (size_t i = 0; body != NULL && body->kind == LAPSE_NODE_SEQ && i < body->count; i++) {
        found = read_until_answer(until, body->items[i], loop) || found;
    }
    if (!found) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y114", until->place, "",
                              "`%.60s` is not an answer of the loop's calls", until->text);
        lapse_diag_note(d->diags, diag, "help",
                        "write an answer of a verb in the body, or an instant (60s)");
    }
}

/* Whether the line's verb has the answer. */
static bool read_until_answer(const struct lapse_node *until, const struct lapse_node *map,
                              struct lapse_plan_loop *loop) {
    if (map->kind != LAPSE_NODE_MAP) {
        return false;
    }
    bool found = false;
    for (size_t i = 0; i < map->count; i++) {
        const struct lapse_word *row = lapse_decode_main_row(map, map->keys[i]->text);
        enum lapse_status status = LAPSE_OK;
        if (row != NULL && row->kind == LAPSE_WORD_VERB &&
            lapse_decode_answer(row, until->text, &status)) {
            loop->until_statuses |= LAPSE_HANDLED_BIT(status);
            found = true;
        }
    }
    return found;
}

static void read_body(struct lapse_decoder *d, const struct lapse_line *line, int32_t actor,
                      struct lapse_plan_loop *loop) {
    const struct lapse_node *body = lapse_node_get(line->node, "do");
    struct lapse_list steps = {.item_bytes = sizeof(int32_t)};
    size_t count = 1;
    if (body != NULL) {
        count = lapse_shape_is(d, body, LAPSE_NODE_SEQ, "a list of steps") ? body->count : 0;
        if (count == 0 && body->kind == LAPSE_NODE_SEQ) {
            lapse_mistake_add(d->diags, "Y124", body->place, "", "this loop's body is empty");
        }
    }
    const struct lapse_node *jitter = lapse_node_get(line->node, "jitter");
    for (size_t i = 0; i < count; i++) {
        int32_t step =
            add_body_line(d, line, body == NULL ? line->node : body->items[i], actor, loop);
        int32_t *kept = step < 0 ? NULL : lapse_decoder_add(d, &steps);
        if (kept == NULL) {
            continue;
        }
        *kept = step;
        if (i == 0 && jitter != NULL) {
            (void)lapse_number_span(d, jitter, 0, &lapse_decode_step_at(d, step)->when.jitter_ns);
        }
    }
    loop->body_count = steps.count;
    loop->body = lapse_list_seal(&steps, d->pool);
    lapse_list_free(d->alloc, &steps);
}

static int32_t add_body_line(struct lapse_decoder *d, const struct lapse_line *line,
                             const struct lapse_node *node, int32_t actor,
                             const struct lapse_plan_loop *loop) {
    if (node->dropped) {
        return -1;
    }
    struct lapse_line inner = {.node = node,
                               .where = LAPSE_WHERE_BODY,
                               .actor = actor,
                               .loop = loop->loop,
                               .shares_line = node == line->node,
                               .times = loop->times};
    int32_t step = -1;
    lapse_decode_line(d, &inner, &step);
    if (step < 0) {
        return -1;
    }
    /* What ends the loop is handled: the answer was waited for. */
    const struct lapse_step_check *check = lapse_decode_check_at(d, step);
    const struct lapse_word *row = lapse_word_find(LAPSE_WORD_VERB, check->verb);
    if (loop->until == LAPSE_UNTIL_ANSWER && row != NULL) {
        lapse_decode_check_at(d, step)->handled |= loop->until_statuses;
    }
    return step;
}

static int32_t loop_actor(struct lapse_decoder *d, const struct lapse_line *line) {
    const struct lapse_node *by = lapse_node_get(line->node, "by");
    if (line->where != LAPSE_WHERE_STEPS) {
        if (by != NULL) {
            lapse_mistake_add(d->diags, "Y126", by->place, "",
                              "the lines of a task are its actor's: `by` cannot stand here");
        }
        return line->actor;
    }
    if (by != NULL) {
        return lapse_resolve_name(d, by, LAPSE_SPACE_ACTOR);
    }
    if (d->actors.count > 1) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y115", line->node->place, "", "who does this?");
        lapse_diag_note(d->diags, diag, "help", "add `by: NAME`; this document has %zu actors",
                        d->actors.count);
    }
    return 0;
}

static void note_endless(struct lapse_decoder *d, const struct lapse_node *key,
                         const struct lapse_plan_loop *loop) {
    if (!d->endless && loop->times == 0 && loop->until != LAPSE_UNTIL_INSTANT) {
        d->endless = true;
        d->endless_place = key->place;
    }
}

/* The statuses of an on_ word. Rank: 0 an answer, 1 on_refused, 2 on_any. */
static bool handler_mask(struct lapse_decoder *d, const struct lapse_word *row,
                         const struct lapse_node *key, uint32_t *ret_mask, int *ret_rank) {
    const char *word = key->text + 3;
    if (lapse_decode_handled(row, word, ret_mask, ret_rank)) {
        return true;
    }
    struct lapse_diag *diag = lapse_mistake_add(
        d->diags, "Y114", key->place, "", "`%.60s` is not an answer of `%s`", word, row->word);
    lapse_diag_note(d->diags, diag, "note", "`%s` answers: %s; any call also: %s", row->word,
                    row->answers, every_answers);
    return false;
}

/* Whether an answer, or a check of one, may end what the actor does. */
static bool may_stop(struct lapse_decoder *d, int32_t actor) {
    for (size_t i = 0; i < d->steps.count; i++) {
        const struct lapse_plan_step *step = lapse_list_at(&d->steps, i);
        bool stops = step->need != NULL && (step->need_else.kind == LAPSE_ACTION_STOP ||
                                            step->need_else.kind == LAPSE_ACTION_STOP_ALL);
        for (size_t k = 0; k < step->handler_count; k++) {
            enum lapse_action_kind kind = step->handlers[k].action.kind;
            stops = stops || kind == LAPSE_ACTION_STOP || kind == LAPSE_ACTION_STOP_ALL;
        }
        if (stops && step->actor == actor) {
            return true;
        }
    }
    return false;
}

static uint32_t mask_of(const struct lapse_word *row, const char *words, bool leave_first) {
    uint32_t mask = 0;
    char word[32];
    const char *rest = words;
    bool first = true;
    while ((rest = lapse_words_next(rest, word, sizeof(word))) != NULL) {
        enum lapse_status status = LAPSE_OK;
        if (!(first && leave_first) && lapse_decode_answer(row, word, &status)) {
            mask |= LAPSE_HANDLED_BIT(status);
        }
        first = false;
    }
    return mask;
}

static bool read_action(struct lapse_decoder *d, const struct lapse_line *line,
                        const struct lapse_node *node, struct lapse_action *ret) {
    if (node->kind == LAPSE_NODE_MAP && node->count == 1 && lapse_node_is(node->keys[0], "again")) {
        ret->kind = LAPSE_ACTION_AGAIN;
        return lapse_number_span(d, node->items[0], 0, &ret->again_ns);
    }
    for (int i = LAPSE_ACTION_STOP; i <= LAPSE_ACTION_SKIP; i++) {
        if (lapse_node_is(node, simple_actions[i])) {
            ret->kind = (enum lapse_action_kind)i;
        }
    }
    if (ret->kind == LAPSE_ACTION_SKIP && line->loop < 0) {
        lapse_mistake_add(d->diags, "Y126", node->place, "",
                          "`skip` leaves a loop's body, and this line is in none");
        return false;
    }
    if (ret->kind != LAPSE_ACTION_NONE) {
        return true;
    }
    struct lapse_nearest nearest;
    lapse_nearest_begin(&nearest, node->kind == LAPSE_NODE_SCALAR ? node->text : "");
    lapse_nearest_offer_kind(&nearest, LAPSE_WORD_ACTION);
    char label[64] = "";
    if (nearest.best != NULL) {
        (void)snprintf(label, sizeof(label), "did you mean `%s`?", nearest.best);
    }
    struct lapse_diag *diag =
        lapse_mistake_add(d->diags, "Y127", node->place, label, "this is not an action");
    lapse_diag_note(d->diags, diag, "help", "write stop, stop_all, next, skip or {again: 1s}");
    return false;
}

static void read_else(struct lapse_decoder *d, const struct lapse_line *line,
                      struct lapse_plan_step *step) {
    int64_t index = lapse_node_index(line->node, "else");
    step->need_else.kind = LAPSE_ACTION_STOP;
    if (index < 0) {
        return;
    }
    if (lapse_node_index(line->node, "need") < 0) {
        lapse_mistake_add(d->diags, "Y120", line->node->keys[index]->place, "",
                          "`else` does nothing without `need`");
    }
    step->need_else.kind = LAPSE_ACTION_NONE;
    (void)read_action(d, line, line->node->items[index], &step->need_else);
}
