/* Lists of lines: `steps` with what `add` sorts in, `faults`, the tasks of actors, `expect`. */
#include <stdlib.h>
#include <string.h>

#include "decode.h"

/* A line of `steps` with the instant it is due. */
struct due_line {
    const struct lapse_node *node;
    int64_t at_ns;
    bool added;
    size_t order;
};

static void find_times(struct lapse_decoder *d, const struct lapse_node *steps,
                       struct lapse_list *lines);
static int64_t line_time(struct lapse_decoder *d, const struct lapse_node *line, int64_t before,
                         const struct lapse_node *before_at);
static void find_added(struct lapse_decoder *d, const struct lapse_node *add,
                       struct lapse_list *lines);
static int compare_due(const void *a, const void *b);
static void add_world_step(struct lapse_decoder *d, int32_t step);
static void make_step_tasks(struct lapse_decoder *d, const struct lapse_list *numbers);
static void decode_actor(struct lapse_decoder *d, int32_t actor, const struct lapse_node *words);
static void decode_task(struct lapse_decoder *d, int32_t actor, struct lapse_bytes name,
                        const struct lapse_node *list);

void lapse_decode_steps(struct lapse_decoder *d, const struct lapse_node *steps,
                        const struct lapse_node *add) {
    struct lapse_list lines = {.item_bytes = sizeof(struct due_line)};
    struct lapse_list numbers = {.item_bytes = sizeof(int32_t)};
    find_times(d, steps, &lines);
    find_added(d, add, &lines);
    if (lines.count > 0 && add != NULL) {
        qsort(lines.items, lines.count, sizeof(struct due_line), compare_due);
    }
    for (size_t i = 0; i < lines.count && !d->nomem; i++) {
        const struct due_line *due = lapse_list_at(&lines, i);
        struct lapse_line line = {.node = due->node,
                                  .where = LAPSE_WHERE_STEPS,
                                  .actor = -1,
                                  .loop = -1,
                                  .at_ns = due->at_ns};
        int32_t step = -1;
        if (!due->node->dropped) {
            lapse_decode_line(d, &line, &step);
        }
        if (step < 0) {
            continue;
        }
        enum lapse_step_kind kind = lapse_decode_step_at(d, step)->kind;
        if (kind == LAPSE_STEP_PROBE || kind == LAPSE_STEP_FAULT || kind == LAPSE_STEP_OPERATOR) {
            add_world_step(d, step);
            continue;
        }
        int32_t *number = lapse_decoder_add(d, &numbers);
        if (number != NULL) {
            *number = step;
        }
    }
    make_step_tasks(d, &numbers);
    lapse_list_free(d->alloc, &lines);
    lapse_list_free(d->alloc, &numbers);
}

void lapse_decode_faults(struct lapse_decoder *d, const struct lapse_node *faults) {
    if (!lapse_shape_is(d, faults, LAPSE_NODE_SEQ, "a list of faults")) {
        return;
    }
    for (size_t i = 0; i < faults->count && !d->nomem; i++) {
        struct lapse_line line = {
            .node = faults->items[i], .where = LAPSE_WHERE_FAULTS, .actor = -1, .loop = -1};
        const struct lapse_node *at = lapse_node_get(line.node, "at");
        if (line.node->dropped) {
            continue;
        }
        if (at != NULL) {
            (void)lapse_number_span(d, at, 0, &line.at_ns);
        } else if (line.node->kind == LAPSE_NODE_MAP && lapse_node_get(line.node, "when") == NULL) {
            struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y125", line.node->place, "",
                                                        "a line of `faults` needs `at` or `when`");
            lapse_diag_note(d->diags, diag, "help", "say when: `at: 25s`, or `when: LABEL.sent`");
        }
        int32_t step = -1;
        lapse_decode_line(d, &line, &step);
        if (step >= 0) {
            add_world_step(d, step);
        }
    }
}

void lapse_decode_finals(struct lapse_decoder *d, const struct lapse_node *expect) {
    if (!lapse_shape_is(d, expect, LAPSE_NODE_SEQ, "a list of observers, reads and counts")) {
        return;
    }
    for (size_t i = 0; i < expect->count && !d->nomem; i++) {
        struct lapse_line line = {
            .node = expect->items[i], .where = LAPSE_WHERE_EXPECT, .actor = -1, .loop = -1};
        int32_t step = -1;
        lapse_decode_line(d, &line, &step);
        int32_t *kept = step < 0 ? NULL : lapse_decoder_add(d, &d->finals);
        if (kept == NULL) {
            continue;
        }
        *kept = step;
        const struct lapse_node *at = lapse_node_get(line.node, "at");
        if (at != NULL) {
            (void)lapse_number_span(d, at, 0, &lapse_decode_step_at(d, step)->when.ns);
        }
    }
}

void lapse_decode_tasks(struct lapse_decoder *d, const struct lapse_node *actors) {
    if (actors->kind != LAPSE_NODE_MAP) {
        return;
    }
    for (size_t i = 0; i < actors->count && !d->nomem; i++) {
        const struct lapse_node *name = actors->keys[i];
        int32_t actor = lapse_decoder_find(d, LAPSE_SPACE_ACTOR, name->text, name->len);
        if (actor >= 0) {
            decode_actor(d, actor, actors->items[i]);
        }
    }
}

/* The absolute time of each line: its own `at`, or `after` the line before, or that line's. */
static void find_times(struct lapse_decoder *d, const struct lapse_node *steps,
                       struct lapse_list *lines) {
    if (steps == NULL || !lapse_shape_is(d, steps, LAPSE_NODE_SEQ, "a list of steps")) {
        return;
    }
    int64_t now = 0;
    const struct lapse_node *last_at = NULL;
    for (size_t i = 0; i < steps->count; i++) {
        const struct lapse_node *node = steps->items[i];
        struct due_line *line = lapse_decoder_add(d, lines);
        if (line == NULL) {
            return;
        }
        now = line_time(d, node, now, last_at);
        const struct lapse_node *at = lapse_node_get(node, "at");
        at = at == NULL ? lapse_decode_after(node) : at;
        last_at = at == NULL ? last_at : at;
        *line = (struct due_line){node, now, false, i};
    }
}

static int64_t line_time(struct lapse_decoder *d, const struct lapse_node *line, int64_t before,
                         const struct lapse_node *before_at) {
    const struct lapse_node *at = lapse_node_get(line, "at");
    const struct lapse_node *after = lapse_decode_after(line);
    int64_t now = before;
    char text[LAPSE_TIME_TEXT_MAX];
    if (at != NULL && after != NULL) {
        lapse_decode_note_after(d, line, after);
        return before;
    }
    if (after != NULL && lapse_number_span(d, after, 0, &now) && !lapse_ns_add(before, now, &now)) {
        lapse_mistake_add(d->diags, "Y109", after->place, "", "this time is out of range");
        return before;
    }
    if (after != NULL || at == NULL || !lapse_number_span(d, at, 0, &now)) {
        return now;
    }
    if (now >= before) {
        return now;
    }
    struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y110", at->place,
                                                lapse_span_print((struct lapse_span){now}, text),
                                                "this step is earlier than the one before it");
    if (before_at != NULL) {
        lapse_diag_label(d->diags, diag, before_at->place, "the clock is at %s here",
                         lapse_span_print((struct lapse_span){before}, text));
    }
    lapse_diag_note(d->diags, diag, "help",
                    "steps run in file order and time never goes back: move the line up, or write "
                    "`after: %.40s`",
                    at->text);
    return before;
}

static void find_added(struct lapse_decoder *d, const struct lapse_node *add,
                       struct lapse_list *lines) {
    if (add == NULL || !lapse_shape_is(d, add, LAPSE_NODE_SEQ, "a list of steps")) {
        return;
    }
    for (size_t i = 0; i < add->count; i++) {
        const struct lapse_node *node = add->items[i];
        const struct lapse_node *at = lapse_node_get(node, "at");
        const struct lapse_node *after = lapse_decode_after(node);
        struct due_line *line = lapse_decoder_add(d, lines);
        if (line == NULL) {
            return;
        }
        *line = (struct due_line){node, 0, true, i};
        if (at != NULL && after == NULL) {
            (void)lapse_number_span(d, at, 0, &line->at_ns);
        } else if (node->kind == LAPSE_NODE_MAP && lapse_node_get(node, "when") == NULL) {
            struct lapse_diag *diag =
                lapse_mistake_add(d->diags, "Y125", node->place, "", "a line of `add` needs `at`");
            lapse_diag_note(d->diags, diag, "help",
                            "it is sorted in by its time, behind the lines of the same instant");
        }
    }
}

static int compare_due(const void *a, const void *b) {
    const struct due_line *x = a;
    const struct due_line *y = b;
    if (x->at_ns != y->at_ns) {
        return x->at_ns < y->at_ns ? -1 : 1;
    }
    if (x->added != y->added) {
        return x->added ? 1 : -1;
    }
    return (x->order > y->order) - (x->order < y->order);
}

static void add_world_step(struct lapse_decoder *d, int32_t step) {
    int32_t *number = lapse_decoder_add(d, &d->world);
    if (number != NULL) {
        *number = step;
    }
}

/* One more task for each actor that has lines in `steps`, in the order of actors. */
static void make_step_tasks(struct lapse_decoder *d, const struct lapse_list *numbers) {
    size_t actors = d->actors.count;
    if (numbers->count == 0 || actors == 0) {
        return;
    }
    size_t *counts = lapse_decoder_take(d, actors * sizeof(*counts));
    int32_t **lists = lapse_decoder_take(d, actors * sizeof(*lists));
    const int32_t *steps = numbers->items;
    if (counts == NULL || lists == NULL) {
        return;
    }
    for (size_t i = 0; i < numbers->count; i++) {
        int32_t actor = lapse_decode_step_at(d, steps[i])->actor;
        counts[actor < 0 ? 0 : actor]++;
    }
    for (size_t i = 0; i < actors; i++) {
        struct lapse_plan_task *task = counts[i] == 0 ? NULL : lapse_decoder_add(d, &d->tasks);
        if (task == NULL) {
            continue;
        }
        lists[i] = lapse_decoder_take(d, counts[i] * sizeof(int32_t));
        *task = (struct lapse_plan_task){.actor = (int32_t)i,
                                         .name = lapse_bytes_of("steps"),
                                         .from_steps = true,
                                         .step_count = counts[i],
                                         .steps = lists[i]};
        counts[i] = 0;
    }
    for (size_t i = 0; i < numbers->count && !d->nomem; i++) {
        int32_t actor = lapse_decode_step_at(d, steps[i])->actor;
        size_t to = (size_t)(actor < 0 ? 0 : actor);
        lists[to][counts[to]++] = steps[i];
    }
}

static void decode_actor(struct lapse_decoder *d, int32_t actor, const struct lapse_node *words) {
    if (lapse_node_is_null(words)) {
        return;
    }
    if (words->kind == LAPSE_NODE_SEQ) {
        decode_task(d, actor, lapse_bytes_of("main"), words);
        return;
    }
    const struct lapse_node *tasks = lapse_node_get(words, "tasks");
    if (words->kind == LAPSE_NODE_MAP && lapse_node_get(words, "program") != NULL) {
        lapse_decode_program(d, actor, words);
        return;
    }
    if (!lapse_shape_is(d, words, LAPSE_NODE_MAP, "a list of steps or a map of an actor's words") ||
        tasks == NULL || !lapse_shape_is(d, tasks, LAPSE_NODE_MAP, "a map of tasks")) {
        return;
    }
    for (size_t i = 0; i < tasks->count; i++) {
        if (lapse_node_is(tasks->keys[i], "steps")) {
            struct lapse_diag *diag =
                lapse_mistake_add(d->diags, "Y119", tasks->keys[i]->place, "",
                                  "the task `steps` is made of the actor's lines in `steps`");
            lapse_diag_note(d->diags, diag, "help", "give the task another name");
        } else if (lapse_shape_name(d, tasks->keys[i], "a task's name")) {
            decode_task(d, actor, lapse_decoder_bytes(d, tasks->keys[i]), tasks->items[i]);
        }
    }
}

static void decode_task(struct lapse_decoder *d, int32_t actor, struct lapse_bytes name,
                        const struct lapse_node *list) {
    if (!lapse_shape_is(d, list, LAPSE_NODE_SEQ, "a list of steps")) {
        return;
    }
    struct lapse_list numbers = {.item_bytes = sizeof(int32_t)};
    for (size_t i = 0; i < list->count && !d->nomem; i++) {
        struct lapse_line line = {
            .node = list->items[i], .where = LAPSE_WHERE_TASK, .actor = actor, .loop = -1};
        int32_t step = -1;
        if (!line.node->dropped) {
            lapse_decode_line(d, &line, &step);
        }
        int32_t *number = step < 0 ? NULL : lapse_decoder_add(d, &numbers);
        if (number != NULL) {
            *number = step;
        }
    }
    struct lapse_plan_task *task = lapse_decoder_add(d, &d->tasks);
    if (task != NULL) {
        *task = (struct lapse_plan_task){.actor = actor, .name = name, .step_count = numbers.count};
        task->steps = lapse_list_seal(&numbers, d->pool);
    }
    lapse_list_free(d->alloc, &numbers);
}
