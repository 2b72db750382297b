/* Clients with tasks: each loop is a safe use of leases, with its renewals, its checks and its end.
 * What they hold is called jobs/z, so that lines about other leases do not make a client break its
 * own loop's rules. */
#include "generator.h"

#include <string.h>

enum {
    SECONDS_MAX = 60, /* a term of more is not renewed each second */
    ENDLESS_SPANS = 4
};

/* A task being drawn. */
struct loop {
    struct lapse_node *tasks, *lines;
    int64_t span_ns, period_ns, until_ns;
    bool endless; /* it ends with the run */
    const char *denied; /* what comes of a denial: "stop", or, where the world sees to it, "next" */
};

static void draw_task(struct lapse_generator *g, struct lapse_node *actor,
                      struct lapse_node *tasks, const char *kind);
static void mark_deadlines(struct lapse_generator *g, const struct lapse_node *actor,
                           const struct loop *loop);
static void answer_late(struct lapse_generator *g, const struct loop *loop, int64_t margin_ns);
static void name_token(struct lapse_generator *g, struct lapse_node *line);
static struct lapse_node *line_of(struct lapse_generator *g, const char *verb, const char *object);
static struct lapse_node *every(struct lapse_generator *g, const struct loop *loop);
static void ask_until(struct lapse_generator *g, struct lapse_node *line, const char *no);
static void renew(struct lapse_generator *g, const struct loop *loop);
static void write(struct lapse_generator *g, const struct loop *loop);
static void take(struct lapse_generator *g, const struct loop *loop);
static void take_and_give(struct lapse_generator *g, const struct loop *loop);
static void gap(struct lapse_generator *g, const struct loop *loop);
static void lock(struct lapse_generator *g, const struct loop *loop);
static void beside(struct lapse_generator *g, const struct loop *loop);
static void batches(struct lapse_generator *g, const struct loop *loop);
static void lock_and_work(struct lapse_generator *g, const struct loop *loop);
static void work_beside(struct lapse_generator *g, const struct loop *loop);
static struct lapse_node *hold(struct lapse_generator *g, const struct loop *loop);
static int64_t period(struct lapse_generator *g);

void lapse_gen_loops(struct lapse_generator *g) {
    for (int i = 0; i < g->client_count; i++) {
        struct lapse_node *tasks = lapse_tree_map(g->pool);
        struct lapse_node *actor = lapse_node_get(g->actors, g->clients[i]);
        draw_task(g, actor, tasks, lapse_gen_word(g, LAPSE_TRAIT_LOOP));
        lapse_tree_put(g->pool, actor, "tasks", tasks);
    }
}

static void draw_task(struct lapse_generator *g, struct lapse_node *actor,
                      struct lapse_node *tasks, const char *kind) {
    static const struct {
        const char *word;
        void (*draw)(struct lapse_generator *g, const struct loop *loop);
    } kinds[] = {
        {"renew", renew},  {"write", write}, {"take", take},     {"take and give", take_and_give},
        {"gap", gap},      {"lock", lock},   {"beside", beside}, {"batches", batches},
        {"lock and work", lock_and_work},
    };
    struct loop loop = {.tasks = tasks, .lines = lapse_tree_seq(g->pool), .span_ns = g->span_ns};
    loop.period_ns = period(g);
    bool careful = actor != NULL && lapse_node_get(actor, "careful") != NULL;
    loop.denied = careful ? lapse_gen_word(g, LAPSE_TRAIT_DENIED) : "stop";
    const char *lives = lapse_gen_word(g, LAPSE_TRAIT_LIVES);
    loop.endless = lives[0] == '0';
    g->endless = g->endless || loop.endless;
    loop.until_ns = (loop.endless ? ENDLESS_SPANS : lives[0] - '0') * g->span_ns + 1;
    g->last_ns = loop.until_ns > g->last_ns ? loop.until_ns : g->last_ns;
    lapse_gen_landmark(g, loop.period_ns);
    lapse_gen_landmark(g, loop.span_ns);
    lapse_gen_landmark(g, loop.period_ns + loop.span_ns);
    mark_deadlines(g, actor, &loop);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].word, kind) == 0) {
            kinds[i].draw(g, &loop);
        }
    }
    lapse_tree_put(g->pool, tasks, "main", loop.lines);
}

/* Where a careful client's deadlines come before the ends that they belong to. */
static void mark_deadlines(struct lapse_generator *g, const struct lapse_node *actor,
                           const struct loop *loop) {
    const struct lapse_node *margin = actor != NULL ? lapse_node_get(actor, "margin") : NULL;
    int64_t margin_ns = 0;
    if (lapse_tree_read_span(margin, &margin_ns) && margin_ns < loop->span_ns) {
        lapse_gen_landmark(g, loop->span_ns - margin_ns);
        lapse_gen_landmark(g, loop->period_ns + loop->span_ns - margin_ns);
        lapse_gen_landmark(g, 2 * loop->period_ns + loop->span_ns - margin_ns);
        answer_late(g, loop, margin_ns);
    }
}

/* The store answers a renewal in time for itself, and past the deadline of its client. */
static void answer_late(struct lapse_generator *g, const struct loop *loop, int64_t margin_ns) {
    const char *which = lapse_gen_word(g, LAPSE_TRAIT_LATE);
    int64_t from_ns = loop->period_ns, to_ns = loop->span_ns - margin_ns + 1;
    if (strcmp(which, "second") == 0) {
        from_ns += loop->period_ns;
        to_ns += loop->period_ns;
    }
    bool held = lapse_node_get(g->document, "faults") != NULL;
    if (held || strcmp(which, "none") == 0 || from_ns >= to_ns) {
        return;
    }
    struct lapse_node *line = lapse_tree_map(g->pool), *faults = lapse_tree_seq(g->pool);
    lapse_gen_say_span(g, line, "at", from_ns);
    lapse_gen_say(g, line, "pause", "n1");
    lapse_gen_say_span(g, line, "for", to_ns - from_ns);
    lapse_tree_add(g->pool, faults, line);
    lapse_tree_put(g->pool, g->document, "faults", faults);
    g->patient = false;
}

/* A token names the grant; without one its owner does. */
static void name_token(struct lapse_generator *g, struct lapse_node *line) {
    if (lapse_gen_is(g, LAPSE_TRAIT_NAMED, "by token")) {
        lapse_gen_say(g, line, "token", "$t");
    }
}

static struct lapse_node *line_of(struct lapse_generator *g, const char *verb,
                                  const char *object) {
    struct lapse_node *line = lapse_tree_map(g->pool);
    lapse_gen_say(g, line, verb, object);
    return line;
}

static struct lapse_node *every(struct lapse_generator *g, const struct loop *loop) {
    struct lapse_node *line = lapse_tree_map(g->pool);
    lapse_gen_say_span(g, line, "every", loop->period_ns);
    if (!loop->endless) {
        lapse_gen_say_span(g, line, "until", loop->until_ns);
    }
    return line;
}

/* Silence and a store that is down are no denial; what else comes is `no`. */
static void ask_until(struct lapse_generator *g, struct lapse_node *line, const char *no) {
    lapse_gen_trouble_call(g, line);
    lapse_gen_say(g, line, "on_unknown", "next");
    lapse_gen_say(g, line, "on_unavailable", "next");
    lapse_gen_say(g, line, "on_any", no);
}

static struct lapse_node *hold(struct lapse_generator *g, const struct loop *loop) {
    struct lapse_node *line = line_of(g, "acquire", "jobs/z");
    lapse_gen_say_span(g, line, "for", loop->span_ns);
    lapse_gen_say(g, line, "save", "t");
    lapse_gen_trouble_call(g, line);
    lapse_gen_say(g, line, "on_any", "stop");
    return line;
}

static void renew(struct lapse_generator *g, const struct loop *loop) {
    struct lapse_node *line = every(g, loop);
    lapse_gen_say(g, line, "extend", "jobs/z");
    lapse_gen_say_span(g, line, "for", loop->span_ns);
    name_token(g, line);
    ask_until(g, line, loop->denied);
    lapse_tree_add(g->pool, loop->lines, hold(g, loop));
    lapse_tree_add(g->pool, loop->lines, line);
}

static void write(struct lapse_generator *g, const struct loop *loop) {
    struct lapse_node *line = every(g, loop);
    lapse_gen_say(g, line, "write", "res");
    lapse_gen_say(g, line, "value", "v");
    lapse_gen_say(g, line, "token", "$t");
    ask_until(g, line, "stop");
    lapse_tree_add(g->pool, loop->lines, hold(g, loop));
    lapse_tree_add(g->pool, loop->lines, line);
}

static void take(struct lapse_generator *g, const struct loop *loop) {
    struct lapse_node *line = every(g, loop);
    lapse_gen_say(g, line, "acquire", "jobs/z");
    lapse_gen_say_span(g, line, "for", loop->span_ns);
    ask_until(g, line, "next");
    lapse_tree_add(g->pool, loop->lines, line);
}

static void take_and_give(struct lapse_generator *g, const struct loop *loop) {
    struct lapse_node *line = every(g, loop), *body = lapse_tree_seq(g->pool);
    struct lapse_node *first = hold(g, loop), *write = line_of(g, "write", "res");
    struct lapse_node *last = line_of(g, "release", "jobs/z");
    lapse_gen_say(g, first, "on_any", "skip");
    lapse_gen_say(g, write, "value", "v");
    lapse_gen_say(g, write, "token", "$t");
    lapse_gen_say(g, last, "token", "$t");
    ask_until(g, write, "skip");
    ask_until(g, last, "skip");
    lapse_tree_add(g->pool, body, first);
    lapse_tree_add(g->pool, body, write);
    lapse_tree_add(g->pool, body, last);
    lapse_tree_put(g->pool, line, "do", body);
    lapse_tree_add(g->pool, loop->lines, line);
}

static void gap(struct lapse_generator *g, const struct loop *loop) {
    struct lapse_node *line = lapse_tree_map(g->pool), *body = lapse_tree_seq(g->pool);
    struct lapse_node *work = lapse_tree_map(g->pool), *set = line_of(g, "set", "b/k");
    lapse_gen_say_span(g, line, "gap", loop->period_ns);
    lapse_gen_say(g, line, "times", "4");
    lapse_gen_say_span(g, work, "work", loop->period_ns / 2);
    lapse_gen_say(g, set, "value", "v");
    ask_until(g, set, "next");
    lapse_tree_add(g->pool, body, work);
    lapse_tree_add(g->pool, body, set);
    lapse_tree_put(g->pool, line, "do", body);
    lapse_tree_add(g->pool, loop->lines, line);
}

static void lock(struct lapse_generator *g, const struct loop *loop) {
    struct lapse_node *first = line_of(g, "create", "l/z"), *line = every(g, loop);
    lapse_gen_say(g, first, "value", "v");
    lapse_gen_say(g, first, "save", "v");
    lapse_gen_trouble_call(g, first);
    lapse_gen_say(g, first, "on_any", "stop");
    lapse_gen_say(g, line, "update", "l/z");
    lapse_gen_say(g, line, "value", "v");
    lapse_gen_say(g, line, "if_version", "$v");
    lapse_gen_say(g, line, "save", "v");
    ask_until(g, line, loop->denied);
    lapse_tree_add(g->pool, loop->lines, first);
    lapse_tree_add(g->pool, loop->lines, line);
}

/* One task keeps a lock, another works as long as it holds: that one sees the deadline come while
 * the first waits for an answer. */
static void lock_and_work(struct lapse_generator *g, const struct loop *loop) {
    lock(g, loop);
    work_beside(g, loop);
}

static void work_beside(struct lapse_generator *g, const struct loop *loop) {
    struct lapse_node *lines = lapse_tree_seq(g->pool), *work = lapse_tree_map(g->pool);
    struct loop working = *loop;
    working.period_ns = period(g);
    struct lapse_node *line = every(g, &working);
    lapse_gen_say_span(g, work, "work", working.period_ns / 10 * 9);
    lapse_gen_say(g, work, "on_any", "next");
    lapse_tree_add(g->pool, lines, work);
    lapse_tree_put(g->pool, line, "do", lines);
    lines = lapse_tree_seq(g->pool);
    lapse_tree_add(g->pool, lines, line_of(g, "await", "$v"));
    lapse_tree_add(g->pool, lines, line);
    lapse_tree_put(g->pool, loop->tasks, "act", lines);
}

/* One task renews, another acts. */
static void beside(struct lapse_generator *g, const struct loop *loop) {
    struct lapse_node *lines = lapse_tree_seq(g->pool);
    struct loop acting = *loop;
    acting.period_ns = period(g);
    renew(g, loop);
    lapse_tree_add(g->pool, lines, line_of(g, "await", "$t"));
    struct lapse_node *line = every(g, &acting);
    lapse_gen_say(g, line, "write", "res");
    lapse_gen_say(g, line, "value", "v");
    lapse_gen_say(g, line, "token", "$t");
    ask_until(g, line, "stop");
    lapse_tree_add(g->pool, lines, line);
    lapse_tree_put(g->pool, loop->tasks, "act", lines);
}

static void batches(struct lapse_generator *g, const struct loop *loop) {
    struct lapse_node *line = every(g, loop), *body = lapse_tree_seq(g->pool);
    struct lapse_node *check = line_of(g, "extend", "jobs/z"), *set = line_of(g, "set", "b/k");
    lapse_gen_say_span(g, check, "for", loop->span_ns);
    lapse_gen_say(g, check, "token", "$t");
    ask_until(g, check, "stop");
    lapse_gen_say(g, set, "value", "v");
    ask_until(g, set, "skip");
    lapse_tree_add(g->pool, body, check);
    lapse_tree_add(g->pool, body, set);
    lapse_tree_put(g->pool, line, "do", body);
    lapse_tree_add(g->pool, loop->lines, hold(g, loop));
    lapse_tree_add(g->pool, loop->lines, line);
}

static int64_t period(struct lapse_generator *g) {
    const char *word = lapse_gen_word(g, LAPSE_TRAIT_PERIOD);
    return strcmp(word, "half") == 0          ? g->span_ns / 2
           : strcmp(word, "tenth") == 0       ? g->span_ns / 10
           : strcmp(word, "second") == 0 && g->span_ns <= SECONDS_MAX * LAPSE_NS_PER_S
               ? LAPSE_NS_PER_S
           : strcmp(word, "nine tenths") == 0 ? g->span_ns / 10 * 9
           : strcmp(word, "span") == 0        ? g->span_ns
           : strcmp(word, "just before") == 0 ? g->span_ns - LAPSE_NS_PER_MS
                                              : g->span_ns / 3;
}
