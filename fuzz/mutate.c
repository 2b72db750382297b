/* Changes of a document: a few at a time, most of them of times. What makes no sense the loader
 * refuses, and nothing is lost but the attempt. */
#include "mutate.h"

#include "generator.h"

#include <string.h>

static const int64_t SPAN_NS_MAX = INT64_MAX / 4;
enum {
    CHANGES_MAX = 4,
    LINES_MAX = 400,
    SPANS_MAX = 256,
    DEPTH_MAX = 8,
    FIRINGS = 3, /* of a loop, that landmarks are put behind */
    MARKED_MAX = 16
};

/* Where the lines and the durations of a document are. */
struct lists {
    struct lapse_node *lines[LINES_MAX];   /* maps of `steps` and `faults` */
    struct lapse_node *homes[LINES_MAX];   /* the list that each stands in */
    size_t line_count;
    struct lapse_node **spans[SPANS_MAX];
    size_t span_count;
};

static size_t draw(struct lapse_generator *g, size_t n, int what);
static void change(struct lapse_generator *g, const struct lapse_node *other);
static void find_spans(struct lists *lists, struct lapse_node *node, size_t depth);
static void find_lines(struct lists *lists, struct lapse_node *seq);
static void find(struct lapse_generator *g, struct lists *lists);
static void retime(struct lapse_generator *g, const struct lists *lists);
static void move(struct lapse_generator *g, const struct lists *lists);
static void drop(struct lapse_generator *g, const struct lists *lists);
static void twice(struct lapse_generator *g, const struct lists *lists);
static void swap_word(struct lapse_generator *g, const struct lists *lists);
static void splice(struct lapse_generator *g, const struct lists *lists,
                   const struct lapse_node *other);
static void add_fault(struct lapse_generator *g, const struct lists *lists);
static void mark(struct lapse_generator *g, const struct lists *lists);
static void settle(struct lapse_generator *g, struct lapse_node *seq);
static int64_t span_near(struct lapse_generator *g, const struct lists *lists, int64_t ns);
static void shake(struct lapse_generator *g);
static void draw_vary(struct lapse_generator *g);

struct lapse_node *lapse_mutate(struct lapse_pool *pool, struct lapse_choices *choices,
                                struct lapse_diversity *diversity,
                                const struct lapse_node *document,
                                const struct lapse_node *other) {
    struct lapse_generator g = {.pool = pool, .choices = choices, .diversity = diversity};
    g.document = lapse_node_deep_copy(pool, document);
    if (g.document == NULL) {
        return NULL;
    }
    lapse_gen_from(&g, g.document);
    for (size_t left = 1 + draw(&g, CHANGES_MAX, 0); left > 0; left--) {
        change(&g, other);
    }
    settle(&g, g.steps);
    return pool->failed ? NULL : g.document;
}

struct lapse_node *lapse_mutate_world(struct lapse_pool *pool, struct lapse_choices *choices,
                                      struct lapse_diversity *diversity,
                                      const struct lapse_node *document) {
    struct lapse_generator g = {.pool = pool, .choices = choices, .diversity = diversity};
    g.document = lapse_node_deep_copy(pool, document);
    if (g.document == NULL) {
        return NULL;
    }
    lapse_gen_from(&g, g.document);
    draw_vary(&g);
    for (size_t left = 1 + draw(&g, CHANGES_MAX, 0); left > 0; left--) {
        shake(&g);
    }
    settle(&g, g.steps);
    return pool->failed ? NULL : g.document;
}

static size_t draw(struct lapse_generator *g, size_t n, int what) {
    return (size_t)lapse_choose(g->choices, n, LAPSE_CHOICE_MUTATE, what);
}

static void change(struct lapse_generator *g, const struct lapse_node *other) {
    struct lists lists = {.line_count = 0};
    find(g, &lists);
    switch (lapse_gen_pick(g, LAPSE_TRAIT_CHANGE)) {
    case 0:
        retime(g, &lists);
        break;
    case 1:
        move(g, &lists);
        break;
    case 2:
        drop(g, &lists);
        break;
    case 3:
        twice(g, &lists);
        break;
    case 4:
        swap_word(g, &lists);
        break;
    case 5:
        splice(g, &lists, other);
        break;
    default:
        add_fault(g, &lists);
        break;
    }
}

static void shake(struct lapse_generator *g) {
    struct lists lists = {.line_count = 0};
    find(g, &lists);
    switch (lapse_gen_pick(g, LAPSE_TRAIT_SHAKE)) {
    case 0:
        move(g, &lists);
        break;
    case 1:
        if (lists.line_count > 0) {
            struct lapse_node *line = lists.lines[draw(g, lists.line_count, 1)];
            bool call = lapse_node_get(line, "by") != NULL;
            if (call) {
                g->faults = (struct lapse_gen_words){1, {"message"}};
                lapse_gen_trouble_call(g, line);
            }
        }
        break;
    default:
        add_fault(g, &lists);
        break;
    }
}

static void find(struct lapse_generator *g, struct lists *lists) {
    find_lines(lists, g->steps);
    find_lines(lists, lapse_node_get(g->document, "faults"));
    find_spans(lists, g->document, 0);
}

static void find_lines(struct lists *lists, struct lapse_node *seq) {
    for (size_t i = 0; seq != NULL && seq->kind == LAPSE_NODE_SEQ && i < seq->count; i++) {
        if (lists->line_count < LINES_MAX && seq->items[i]->kind == LAPSE_NODE_MAP) {
            lists->homes[lists->line_count] = seq;
            lists->lines[lists->line_count++] = seq->items[i];
        }
    }
}

static void find_spans(struct lists *lists, struct lapse_node *node, size_t depth) {
    for (size_t i = 0; i < node->count && depth < DEPTH_MAX; i++) {
        struct lapse_node *item = node->items[i];
        int64_t ns = 0;
        if (item->kind == LAPSE_NODE_SCALAR) {
            bool span = item->len > 1 && lapse_tree_read_span(item, &ns) && ns > 0;
            if (span && lists->span_count < SPANS_MAX) {
                lists->spans[lists->span_count++] = &node->items[i];
            }
        } else {
            find_spans(lists, item, depth + 1);
        }
    }
}

/* Another duration of the document, a sum or difference of two, or one beside. */
static int64_t span_near(struct lapse_generator *g, const struct lists *lists, int64_t ns) {
    int64_t other = ns;
    if (lists->span_count > 0) {
        (void)lapse_tree_read_span(*lists->spans[draw(g, lists->span_count, 2)], &other);
    }
    int64_t to = ns;
    bool good = true;
    switch (lapse_gen_pick(g, LAPSE_TRAIT_NEAR)) {
    case 0:
        to = other;
        break;
    case 1:
        good = lapse_ns_add(ns, other, &to);
        break;
    case 2:
        good = lapse_ns_sub(ns, other, &to);
        break;
    case 3:
        to = ns / 2;
        break;
    case 4:
        good = lapse_ns_mul(ns, 2, &to);
        break;
    case 5:
        to = ns / 30;
        break;
    default:
        break;
    }
    good = good && lapse_ns_add(to, (int64_t)draw(g, 3, 3) - 1, &to) && to > 0;
    return good ? to : ns;
}

static void retime(struct lapse_generator *g, const struct lists *lists) {
    int64_t ns = 0;
    if (lists->span_count == 0) {
        return;
    }
    struct lapse_node **place = lists->spans[draw(g, lists->span_count, 4)];
    (void)lapse_tree_read_span(*place, &ns);
    struct lapse_node *span = lapse_tree_span(g->pool, span_near(g, lists, ns));
    if (span != NULL) {
        *place = span;
    }
}

/* A line to another instant. */
static void move(struct lapse_generator *g, const struct lists *lists) {
    int64_t ns = 0;
    if (lists->line_count == 0) {
        return;
    }
    struct lapse_node *line = lists->lines[draw(g, lists->line_count, 5)];
    if (lapse_tree_read_span(lapse_node_get(line, "at"), &ns)) {
        lapse_gen_say_span(g, line, "at", span_near(g, lists, ns));
    }
}

static void drop(struct lapse_generator *g, const struct lists *lists) {
    if (lists->line_count < 2) {
        return;
    }
    size_t at = draw(g, lists->line_count, 6);
    struct lapse_node *home = lists->homes[at];
    for (size_t i = 0; i < home->count; i++) {
        if (home->items[i] == lists->lines[at]) {
            lapse_tree_remove(home, i);
            return;
        }
    }
}

static void twice(struct lapse_generator *g, const struct lists *lists) {
    if (lists->line_count == 0) {
        return;
    }
    size_t at = draw(g, lists->line_count, 7);
    int64_t ns = 0;
    struct lapse_node *line = lapse_node_deep_copy(g->pool, lists->lines[at]);
    if (line != NULL && lapse_tree_read_span(lapse_node_get(line, "at"), &ns)) {
        lapse_gen_say_span(g, line, "at", span_near(g, lists, ns));
        lapse_tree_drop(line, "as");
        lapse_tree_add(g->pool, lists->homes[at], line);
    }
}

/* The value that another line has under the same word. */
static void swap_word(struct lapse_generator *g, const struct lists *lists) {
    if (lists->line_count < 2) {
        return;
    }
    struct lapse_node *to = lists->lines[draw(g, lists->line_count, 8)];
    const struct lapse_node *from = lists->lines[draw(g, lists->line_count, 9)];
    size_t at = draw(g, from->count, 10);
    if (lapse_node_get(to, from->keys[at]->text) != NULL &&
        strcmp(from->keys[at]->text, "as") != 0) {
        lapse_tree_put(g->pool, to, from->keys[at]->text, from->items[at]);
    }
}

/* A stretch of another document's lines. */
static void splice(struct lapse_generator *g, const struct lists *lists,
                   const struct lapse_node *other) {
    const struct lapse_node *steps = other == NULL ? NULL : lapse_node_get(other, "steps");
    (void)lists;
    if (steps == NULL || steps->count == 0) {
        return;
    }
    size_t first = draw(g, steps->count, 11);
    size_t left = 1 + draw(g, CHANGES_MAX, 12);
    for (; left > 0 && first < steps->count; left--, first++) {
        struct lapse_node *line = lapse_node_deep_copy(g->pool, steps->items[first]);
        if (line != NULL && lapse_node_get(line, "by") != NULL) {
            lapse_gen_say(g, line, "by", g->clients[draw(g, (size_t)g->client_count, 16)]);
        }
        lapse_tree_add(g->pool, g->steps, line);
    }
}

/* What ends, when, is not known here; it is likely a sum of the durations that stand there: a term
 * behind the k-th firing of a loop. */
static void mark(struct lapse_generator *g, const struct lists *lists) {
    int64_t spans[MARKED_MAX], sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < lists->span_count && count < MARKED_MAX; i++) {
        count += lapse_tree_read_span(*lists->spans[i], &spans[count]);
    }
    for (int64_t k = 0; k <= FIRINGS; k++) {
        for (size_t i = 0; i < count * count; i++) {
            if (lapse_ns_mul(spans[i % count], k, &sum) &&
                lapse_ns_add(spans[i / count], sum, &sum)) {
                lapse_gen_landmark(g, sum);
            }
        }
    }
}

static void add_fault(struct lapse_generator *g, const struct lists *lists) {
    mark(g, lists);
    g->faults = (struct lapse_gen_words){1, {lapse_gen_word(g, LAPSE_TRAIT_FAULT)}};
    int64_t now_ns = g->now_ns;
    size_t before = g->steps->count;
    if (g->landmark_count > 0) {
        g->now_ns = g->landmarks[draw(g, g->landmark_count, 13)];
    }
    if (lists->span_count > 0) {
        int64_t span_ns = 0;
        bool read =
            lapse_tree_read_span(*lists->spans[draw(g, lists->span_count, 17)], &span_ns);
        g->span_ns = read && span_ns <= SPAN_NS_MAX ? span_ns : g->span_ns;
    }
    g->anywhere = true;
    lapse_gen_fault(g);
    g->anywhere = false;
    g->now_ns = now_ns;
    if (g->steps->count > before && lapse_node_get(g->steps->items[before], "by") != NULL) {
        lapse_tree_remove(g->steps, before);
    }
}

/* Times of steps may not fall: lines are sorted, those of one instant stay as they stand. A line
 * without a time of its own stays behind the line before. */
static void settle(struct lapse_generator *g, struct lapse_node *seq) {
    (void)g;
    for (size_t i = 1; i < seq->count; i++) {
        int64_t ns = 0, before = 0;
        struct lapse_node *line = seq->items[i];
        size_t at = i;
        if (!lapse_tree_read_span(lapse_node_get(line, "at"), &ns)) {
            continue;
        }
        while (at > 0 && lapse_tree_read_span(lapse_node_get(seq->items[at - 1], "at"), &before) &&
               before > ns) {
            seq->items[at] = seq->items[at - 1];
            at--;
        }
        seq->items[at] = line;
    }
}

/* One value of each range or list of `vary`. */
static void draw_vary(struct lapse_generator *g) {
    struct lapse_node *vary = lapse_node_get(g->document, "vary");
    for (size_t i = 0; vary != NULL && vary->kind == LAPSE_NODE_MAP && i < vary->count; i++) {
        struct lapse_node *values = vary->items[i], *one = lapse_tree_seq(g->pool);
        const char *dots = values->kind == LAPSE_NODE_SCALAR ? strstr(values->text, "..") : NULL;
        if (values->kind == LAPSE_NODE_SEQ && values->count > 0) {
            lapse_tree_add(g->pool, one, values->items[draw(g, values->count, 14)]);
            vary->items[i] = one;
        } else if (dots != NULL) {
            int64_t from = 0, to = 0;
            struct lapse_node *low =
                lapse_tree_text(g->pool, "%.*s", (int)(dots - values->text), values->text);
            if (lapse_tree_read_span(low, &from) &&
                lapse_tree_read_span(lapse_tree_text(g->pool, "%s", dots + 2), &to) && to > from) {
                int64_t step = (to - from) / 60 + 1;
                from += (int64_t)draw(g, 61, 15) * step;
                lapse_tree_add(g->pool, one, lapse_tree_span(g->pool, from < to ? from : to));
                vary->items[i] = one;
            }
        }
    }
}
