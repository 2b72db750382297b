/* Programs unrolled: what the clients' tasks and loops did until the failure becomes lines of
 * `steps`, each at its instant. From there it shrinks again; what comes of it is kept only if it
 * has no more lines than before, for one loop may say more plainly what ten lines do. */
#include "shrink_parts.h"

#include <stdio.h>
#include <string.h>

enum { LINES_MAX = 2000 };

struct line {
    int64_t at_ns;
    struct lapse_node *node;
};
struct lines {
    size_t count;
    struct line items[LINES_MAX];
};

static bool has_programs(const struct lapse_node *tree);
static bool has_links(const struct lapse_node *tree);
static bool is_loop_contract(const char *id);
static bool unroll(struct lapse_shrinker *s, bool messages);
static bool put_messages(struct lapse_shrinker *s, const struct lapse_history *history,
                         const struct lapse_history_event *invoke, struct lapse_node *line);
static bool put_message(struct lapse_shrinker *s, const struct lapse_history_event *event,
                        struct lapse_node *line);
static bool cut_links(struct lapse_shrinker *s);
static bool take_steps(struct lapse_shrinker *s, struct lines *lines);
static bool take_calls(struct lapse_shrinker *s, const struct lapse_trial *trial, bool messages,
                       struct lines *lines);
static struct lapse_node *flat_line(struct lapse_shrinker *s, const struct lapse_node *line,
                                    const struct lapse_history_event *invoke, const char *by);
static bool fill_n(struct lapse_shrinker *s, struct lapse_node *node, int32_t n);
static bool insert(struct lines *lines, int64_t at_ns, struct lapse_node *node);
static bool put_lines(struct lapse_shrinker *s, const struct lines *lines);
static bool put_actors(struct lapse_shrinker *s);
static struct lapse_node *make_list(struct lapse_shrinker *s, size_t count);

void lapse_shrink_flat(struct lapse_shrinker *s) {
    struct lapse_pool kept;
    if (s->target.unmet || is_loop_contract(s->target.id) ||
        (!has_programs(s->tree) && !has_links(s->tree))) {
        return;
    }
    lapse_pool_init(&kept, s->options->alloc);
    struct lapse_node *before = lapse_shrink_copy(&kept, s->tree);
    const struct lapse_shrink_size size = s->size;
    bool changed = s->changed;
    if (before == NULL) {
        s->status = LAPSE_NOMEM;
    } else if (unroll(s, true) || unroll(s, false)) {
        lapse_shrink_structure(s);
        bool better = s->size.steps < size.steps ||
                      (s->size.steps == size.steps && s->size.weight <= size.weight);
        if (!better) {
            lapse_shrink_take(s, &kept, before);
            s->size = size;
            s->changed = changed;
        }
    }
    lapse_pool_free(&kept);
}

/* Whether a client has lines of its own. */
static bool has_programs(const struct lapse_node *tree) {
    const struct lapse_node *actors = lapse_node_get(tree, "actors");
    if (actors == NULL || actors->kind != LAPSE_NODE_MAP) {
        return false;
    }
    for (size_t i = 0; i < actors->count; i++) {
        const struct lapse_node *actor = actors->items[i];
        if (lapse_node_get(actor, "tasks") != NULL ||
            (actor->kind == LAPSE_NODE_SEQ && actor->count > 0)) {
            return true;
        }
    }
    return false;
}

static bool has_links(const struct lapse_node *tree) {
    const struct lapse_node *faults = lapse_node_get(tree, "faults");
    for (size_t i = 0; faults != NULL && i < faults->count; i++) {
        if (lapse_node_get(faults->items[i], "link") != NULL) {
            return true;
        }
    }
    return false;
}

/* These judge loops, and a line is none. */
static bool is_loop_contract(const char *id) {
    return strncmp(id, "RENEW-", 6) == 0 || strncmp(id, "LIVE-", 5) == 0;
}

/* With `messages` what links did by chance to those of each call is written beside it, and the
 * links are cut out. */
static bool unroll(struct lapse_shrinker *s, bool messages) {
    struct lapse_trial trial;
    struct lines *lines = lapse_alloc_zero(s->options->alloc, sizeof(*lines));
    s->status = lines == NULL ? LAPSE_NOMEM : s->status;
    if (lines == NULL || !lapse_shrink_draft(s)) {
        lapse_alloc_free(s->options->alloc, lines, sizeof(*lines));
        return false;
    }
    s->status = lapse_shrink_run(s, s->tree, &trial);
    bool flat = s->status == LAPSE_OK && trial.outcome == LAPSE_TRIAL_VIOLATED &&
                trial.plan->program_count == 0 && lapse_shrink_parse(s, &trial.text) &&
                take_steps(s, lines) && take_calls(s, &trial, messages, lines) &&
                (!messages || cut_links(s)) && put_lines(s, lines) && put_actors(s) &&
                lapse_shrink_keep(s);
    lapse_trial_free(&trial);
    lapse_alloc_free(s->options->alloc, lines, sizeof(*lines));
    return flat;
}

static bool take_steps(struct lapse_shrinker *s, struct lines *lines) {
    const struct lapse_node *steps = lapse_node_get(s->draft, "steps");
    int64_t at_ns = 0;
    for (size_t i = 0; steps != NULL && i < steps->count; i++) {
        const struct lapse_node *at = lapse_node_get(steps->items[i], "at");
        struct lapse_shrink_number number;
        if (at != NULL && lapse_shrink_number(at, &number)) {
            at_ns = number.value;
        }
        if (!insert(lines, at_ns, steps->items[i])) {
            return false;
        }
    }
    return true;
}

static bool take_calls(struct lapse_shrinker *s, const struct lapse_trial *trial, bool messages,
                       struct lines *lines) {
    const struct lapse_history *history = trial->run.history;
    for (size_t i = 0; i < lapse_history_count(history); i++) {
        const struct lapse_history_event *event = lapse_history_at(history, i);
        bool task = false;
        if (event->kind != LAPSE_HISTORY_INVOKE ||
            event->u.invoke.request.verb == LAPSE_CALL_WORK || event->step < 0) {
            continue;
        }
        const struct lapse_plan_step *step = &trial->plan->steps[event->step];
        struct lapse_place place = trial->plan->the_case.checks[event->step].place;
        struct lapse_node *line = lapse_shrink_line_at(s, place, &task);
        if (line == NULL || (!task && messages && !put_messages(s, history, event, line))) {
            return false;
        }
        if (!task || (step->times > 0 && event->n > 1)) {
            continue;
        }
        struct lapse_bytes name = trial->plan->setup.actors[event->actor].name;
        char by[128];
        (void)snprintf(by, sizeof(by), "%.*s", (int)name.len, (const char *)name.data);
        struct lapse_node *flat = flat_line(s, line, event, by);
        if (flat == NULL || (messages && !put_messages(s, history, event, flat)) ||
            !insert(lines, event->at.ns, flat)) {
            return false;
        }
    }
    return true;
}

static struct lapse_node *flat_line(struct lapse_shrinker *s, const struct lapse_node *line,
                                    const struct lapse_history_event *invoke, const char *by) {
    static const char *const loops[] = {"every", "gap", "until", "jitter", "after", "at", "nowait"};
    bool loop = lapse_node_get(line, "every") != NULL || lapse_node_get(line, "gap") != NULL;
    char at[LAPSE_SPAN_TEXT_MAX];
    struct lapse_node *flat = lapse_node_copy(&s->draft_pool, line);
    struct lapse_node *head = lapse_pool_take(&s->draft_pool, sizeof(*head));
    if (flat == NULL || head == NULL) {
        s->status = LAPSE_NOMEM;
        return NULL;
    }
    for (size_t i = flat->count; i-- > 0;) {
        bool cut = loop && strcmp(flat->keys[i]->text, "times") == 0;
        for (size_t k = 0; k < sizeof(loops) / sizeof(loops[0]); k++) {
            cut = cut || strcmp(flat->keys[i]->text, loops[k]) == 0;
        }
        if (cut) {
            lapse_shrink_cut(flat, i, 1);
        }
    }
    head->kind = LAPSE_NODE_MAP;
    lapse_span_write(invoke->at.ns, at);
    bool made = lapse_shrink_put(s, head, "at", lapse_shrink_scalar(s, at, strlen(at))) &&
                lapse_shrink_put(s, head, "by", lapse_shrink_scalar(s, by, strlen(by)));
    head = made ? lapse_node_merge(&s->draft_pool, head, flat) : NULL;
    head = head == NULL ? NULL : lapse_shrink_copy(&s->draft_pool, head);
    return head != NULL && fill_n(s, head, invoke->n) ? head : NULL;
}

static bool put_messages(struct lapse_shrinker *s, const struct lapse_history *history,
                         const struct lapse_history_event *invoke, struct lapse_node *line) {
    for (size_t i = (size_t)invoke->seq; i < lapse_history_count(history); i++) {
        const struct lapse_history_event *event = lapse_history_at(history, i);
        if (event->kind == LAPSE_HISTORY_MESSAGE && event->call == invoke->call &&
            !put_message(s, event, line)) {
            return false;
        }
    }
    return true;
}

/* A line says one thing of a message: that it is lost, or comes twice, before that it is late. */
static bool put_message(struct lapse_shrinker *s, const struct lapse_history_event *event,
                        struct lapse_node *line) {
    const char *word = event->u.message.reply ? "reply" : "request";
    char late[LAPSE_SPAN_TEXT_MAX];
    const char *text = late;
    lapse_span_write(event->u.message.latency.ns, late);
    switch (event->u.message.fate) {
    case LAPSE_MESSAGE_LOST:
        text = "lost";
        break;
    case LAPSE_MESSAGE_TWICE:
        text = "twice";
        break;
    case LAPSE_MESSAGE_LATE:
        break;
    default:
        return true;
    }
    bool told = text == late && lapse_node_get(line, word) != NULL;
    return told || lapse_shrink_put(s, line, word, lapse_shrink_scalar(s, text, strlen(text)));
}

/* False: no link has a part in it, or no memory. */
static bool cut_links(struct lapse_shrinker *s) {
    struct lapse_node *faults = lapse_node_get(s->draft, "faults");
    size_t before = faults == NULL ? 0 : faults->count;
    for (size_t i = before; i-- > 0;) {
        if (lapse_node_get(faults->items[i], "link") != NULL) {
            lapse_shrink_cut(faults, i, 1);
        }
    }
    return before > 0 && faults->count < before;
}

/* The firing's number in the place of $n. */
static bool fill_n(struct lapse_shrinker *s, struct lapse_node *node, int32_t n) {
    for (size_t i = 0; i < node->count; i++) {
        struct lapse_node *item = node->items[i];
        const char *at = item->kind == LAPSE_NODE_SCALAR ? strstr(item->text, "$n") : NULL;
        if (at != NULL && item->len < 100) {
            char text[128];
            (void)snprintf(text, sizeof(text), "%.*s%d%s", (int)(at - item->text), item->text,
                           (int)n, at + 2);
            if (!lapse_shrink_set_text(s, item, text)) {
                return false;
            }
        } else if (!fill_n(s, item, n)) {
            return false;
        }
    }
    return true;
}

/* Behind all lines of its instant. */
static bool insert(struct lines *lines, int64_t at_ns, struct lapse_node *node) {
    size_t at = lines->count;
    if (at == LINES_MAX) {
        return false;
    }
    while (at > 0 && lines->items[at - 1].at_ns > at_ns) {
        lines->items[at] = lines->items[at - 1];
        at--;
    }
    lines->items[at] = (struct line){at_ns, node};
    lines->count++;
    return true;
}

static bool put_lines(struct lapse_shrinker *s, const struct lines *lines) {
    struct lapse_node *steps = make_list(s, lines->count);
    for (size_t i = 0; steps != NULL && i < lines->count; i++) {
        steps->items[i] = lines->items[i].node;
    }
    return steps != NULL && lapse_shrink_put(s, s->draft, "steps", steps);
}

/* Clients keep the words that are not lines; where none has any, a list of names is enough. */
static bool put_actors(struct lapse_shrinker *s) {
    struct lapse_node *actors = lapse_node_get(s->draft, "actors");
    bool plain = true;
    if (actors == NULL || actors->kind != LAPSE_NODE_MAP) {
        return true;
    }
    for (size_t i = 0; i < actors->count; i++) {
        struct lapse_node *actor = actors->items[i];
        int64_t tasks = lapse_node_index(actor, "tasks");
        if (tasks >= 0) {
            lapse_shrink_cut(actor, (size_t)tasks, 1);
        }
        if (actor->kind == LAPSE_NODE_SEQ) {
            actor->count = 0;
        }
        plain = plain && actor->count == 0;
    }
    if (!plain) {
        return true;
    }
    struct lapse_node *names = make_list(s, actors->count);
    for (size_t i = 0; names != NULL && i < actors->count; i++) {
        names->items[i] = actors->keys[i];
    }
    return names != NULL && lapse_shrink_put(s, s->draft, "actors", names);
}

static struct lapse_node *make_list(struct lapse_shrinker *s, size_t count) {
    struct lapse_node *list = lapse_pool_take(&s->draft_pool, sizeof(*list));
    if (list != NULL) {
        list->kind = LAPSE_NODE_SEQ;
        list->count = count;
        list->items = lapse_pool_take(&s->draft_pool, (count + 1) * sizeof(struct lapse_node *));
    }
    if (list == NULL || list->items == NULL) {
        s->status = LAPSE_NOMEM;
        return NULL;
    }
    return list;
}
