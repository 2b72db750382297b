/* Drawing a document. A line draws a verb, an observer or a fault, an object by what the row says
 * that it takes, and some of its arguments, each by what its own row takes; so a new word is drawn
 * without a change here, or found to be one that never was. Most documents are sound. */
#include "random.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINES_MAX = 6, WORD_MAX = 64 };

/* What stands where a row says that it takes this: one of several, parted by bars. */
struct takes {
    const char *takes, *values;
};
static const struct takes all_takes[] = {
    {"a duration (30s, 15m-1ns)", "30s|15m-1ns|1h30m|3*10s|500ms|1ns|2w|1d+1us|90m|0s+1s|250us"},
    {"a number or $name", "1|7|$t|$t+1|$r-2|$r|9223372036854775807"},
    {"a key (bucket/key)", "b/k|b/k|m/x y|locks/l|b/a/b|m/it's|b/key-$t|b/{odd}, [key]: #1"},
    {"a bucket", "b|m|locks"},
    {"a lease name", "jobs/x|jobs/x|jobs/y|jobs/$r"},
    {"a text", "v|user-42|null|~|a: b|a #b|- x|'q'|\"d\"|[x]|{y}|caf\303\251|$5|a$|%|true|1.5|k:|?|"
               "!t|&a|*a|>x|...|---|with, comma|by $t and $r.end|$t$r|two  spaces| edges |x\\y"},
    {"a name", "w"},
    {"true", "true"},
    {"true or false", "true|false"},
    {"a number", "1|2|5"},
    {"a number (1 to 64)", "1|5|64"},
    {"a duration or true (1h)", "true|10m|1h"},
    {"a date (now+15s)", "now+15s|now|now-1s|epoch+1h|2000-01-01T00:00:30Z|2026-01-31T00:00:00Z"},
    {"a date", "2026-01-31T00:00:00Z|2000-01-01T00:00:00.5Z|1999-12-31T23:59:59Z"},
    {"keep", "keep"},
    {"a session", "s"},
    {"persistent or ephemeral", "persistent|ephemeral"},
    {"sync", "sync"},
    {"fail, lies or stalls", "fail|lies|stalls"},
    {"a signed duration (+1h, -200s)", "+1h|-200s|+1ns"},
    {"a signed duration (+2s)", "+2s|-15m+1ns"},
    {"200ppm", "200ppm|50ppb|0"},
    {"+200ppm, -50ppb or 0", "+200ppm|-50ppb|0"},
    {"stop or run", "stop|run"},
    {"memory", "memory"},
    {"boot", "boot"},
    {"writes or ends", "writes|ends"},
    {"full, normal or none", "full|normal|none"},
    {"a share (20%)", "20%|0.5%|100%|0.0001%"},
    {"a share (1%)", "1%|33.3333%"},
    {"a duration or a range (5ms..40ms)", "5ms..40ms|3ms|0s..1s"},
    {"now, live or a revision ($rev)", "now|live|$r|3"},
    {"an actor or n1", "a1|a2|n1"},
    {"an actor", "a1|a2"},
    {"an actor, or one of its tasks (w1.main)", "a1|a2.main"},
    {"an actor, a resource or n1", "a1|res|n1"},
    {"n1", "n1"},
    {"a link (a-n1, a>n1)", "a1-n1|a2>n1|res>a1|n1-a2"},
    {"a link, n1 or all", "all|a1-n1"},
    {"a number (1 to 2^63-1)", "1|5|9223372036854775807"},
    {"a key or a lease name", "b/k|jobs/x|locks/l|b/key-$t"},
    {"a watch", "w"},
    {"a bucket or a key", "b|m|locks/l"},
    {"a bucket, a key or a watch", "w"},
    {"a resource", "res"},
    {"a measure", "took|many|held"},
    {"$name", "$t|$r"},
    {"$name, or {expired: key}", "$t|$r"},
    {"a list of actors", "a1|a2"},
    {"a duration, lost or twice", "5ms|lost|twice"},
    {"a duration, lost, twice or an answer", "5ms|lost|twice|unknown"},
    {"an action", "stop|stop_all|next"},
    {"an actor, or n1", "a1|n1"},
};

/* What a line cannot be without: one of these words. */
static const struct takes all_needs[] = {
    {"acquire", "for"},
    {"extend", "for"},
    {"session", "for"},
    {"unchanged", "for"},
    {"update", "if_version"},
    {"expire", "ttl|idle|expires_at"},
    {"stall", "in"},
    {"slow", "factor"},
    {"clock", "wall|to|rate|mono"},
    {"disk", "sync|tear|full|rot"},
    {"link", "latency|loss|duplicate|reorder"},
    {"backup", "as"},
    {"restore", "from"},
    {"left", "is"},
    {"holder", "is"},
    {"rows", "is"},
    {"measured", "is"},
    {"believes", "who"},
    {"may", "who"},
};
/* Words that a line gets by all_needs alone, or that go with another one. */
#define BY_NEED                                                                                    \
    "in factor wall to rate mono sync tear full rot latency loss duplicate reorder is who expect " \
    "at after when nth label cap wait retry"

static size_t pick(struct lapse_draw *d, size_t count);
static bool one_in(struct lapse_draw *d, size_t count);
static const char *pick_bar(struct lapse_draw *d, const char *values);
static const char *find_takes(const struct takes *rows, size_t count, const char *what);
static struct lapse_node *text(struct lapse_draw *d, const char *value);
static struct lapse_node *pair(struct lapse_draw *d, const char *word, const char *value);
static void put(struct lapse_draw *d, struct lapse_node *map, const char *word,
                struct lapse_node *value);
static void mark(struct lapse_draw *d, enum lapse_word_kind kind, const char *word);
static void draw_setup(struct lapse_draw *d, struct lapse_node *document);
static struct lapse_node *draw_words(struct lapse_draw *d, enum lapse_word_kind kind,
                                     size_t one_of);
static void draw_clients(struct lapse_draw *d, struct lapse_node *document);
static struct lapse_node *draw_loop(struct lapse_draw *d);
static void begin_steps(struct lapse_draw *d, struct lapse_node *steps);
static void begin_faults(struct lapse_draw *d, struct lapse_node *faults);
static void draw_verdict(struct lapse_draw *d, struct lapse_node *document);
static struct lapse_node *draw_line(struct lapse_draw *d, enum lapse_word_kind kind, bool timed);
static const struct lapse_word *draw_row(struct lapse_draw *d, enum lapse_word_kind kind);
static bool fits(const struct lapse_draw *d, const struct lapse_word *row);
static void draw_arguments(struct lapse_draw *d, const struct lapse_word *row,
                           struct lapse_node *line);
static void draw_client_words(struct lapse_draw *d, const struct lapse_word *row,
                              struct lapse_node *line);
static struct lapse_node *draw_events(struct lapse_draw *d);
static struct lapse_node *draw_expect(struct lapse_draw *d, const struct lapse_word *row);
static struct lapse_node *draw_field(struct lapse_draw *d, const char *word);
static const char *draw_answer(struct lapse_draw *d, const struct lapse_word *row);
static struct lapse_node *draw_object(struct lapse_draw *d, const struct lapse_word *row);
static struct lapse_node *draw_value(struct lapse_draw *d, const struct lapse_word *row,
                                     const struct lapse_word *word);
static struct lapse_node *draw_pattern(struct lapse_draw *d);

/* ---- The document. */
struct lapse_node *lapse_draw_document(struct lapse_draw *d) {
    struct lapse_node *document = lapse_emit_map(&d->e);
    struct lapse_node *steps = lapse_emit_seq(&d->e);
    struct lapse_node *faults = lapse_emit_seq(&d->e);
    put(d, document, "lapse", text(d, "1"));
    put(d, document, "name", text(d, one_in(d, 4) ? "it's: a \"name\", with #signs" : "drawn"));
    bool alone = one_in(d, 40); /* a protocol has no lines beside it */
    if (alone || one_in(d, 9)) {
        put(d, document, "explore", alone ? lapse_draw_protocol(d) : text(d, "all"));
    }
    if (alone) {
        return document;
    }
    draw_setup(d, document);
    begin_steps(d, steps);
    begin_faults(d, faults);
    for (size_t i = pick(d, LINES_MAX); i > 0; i--) {
        enum lapse_word_kind kind = one_in(d, 3)   ? LAPSE_WORD_FAULT
                                    : one_in(d, 3) ? LAPSE_WORD_OBSERVER
                                                   : LAPSE_WORD_VERB;
        lapse_emit_add(&d->e, steps, draw_line(d, kind, true));
    }
    for (size_t i = pick(d, 3); i > 0; i--) {
        lapse_emit_add(&d->e, faults, draw_line(d, LAPSE_WORD_FAULT, true));
    }
    /* Steps are numbered as the sections stand, so they stand in any order. */
    bool first = one_in(d, 2);
    put(d, document, first ? "steps" : "faults", first ? steps : faults);
    draw_clients(d, document);
    put(d, document, first ? "faults" : "steps", first ? faults : steps);
    if (one_in(d, 4)) {
        put(d, document, "seed", text(d, "7"));
    }
    put(d, document, "run_for", text(d, "60d"));
    draw_verdict(d, document);
    return document;
}

static void draw_setup(struct lapse_draw *d, struct lapse_node *document) {
    struct lapse_node *buckets = lapse_emit_map(&d->e);
    struct lapse_node *resources = lapse_emit_map(&d->e);
    struct lapse_node *b = draw_words(d, LAPSE_WORD_BUCKET, 3);
    if (lapse_node_get(b, "ttl") != NULL || lapse_node_get(b, "idle") == NULL) {
        b = pair(d, one_in(d, 2) ? "ttl" : "idle", "1h");
        mark(d, LAPSE_WORD_BUCKET, b->keys[0]->text);
    }
    if (one_in(d, 6)) {
        struct lapse_node *tags = lapse_emit_seq(&d->e);
        lapse_emit_add(&d->e, tags, text(d, "drawn"));
        put(d, document, "tags", tags);
        put(d, document, "about", text(d, "nothing of it is kept"));
        put(d, document, "epoch", text(d, "2026-01-31T00:00:00Z"));
    }
    if (one_in(d, 4)) {
        put(d, document, "profile", text(d, pick_bar(d, "strict|nats|tinystore|kahuna")));
        put(d, document, "policy", lapse_draw_policies(d));
    }
    d->in_memory = one_in(d, 4);
    if (d->in_memory || one_in(d, 4)) {
        struct lapse_node *store = pair(d, "kind", d->in_memory ? "memory" : "sqlite");
        mark(d, LAPSE_WORD_STORE, "kind");
        if (one_in(d, 2)) {
            mark(d, LAPSE_WORD_STORE, "sync");
            lapse_emit_put(&d->e, store, "sync", text(d, pick_bar(d, "full|normal|none")));
        }
        put(d, document, "store", store);
    }
    if (one_in(d, 4)) {
        put(d, document, "bounds", draw_words(d, LAPSE_WORD_BOUND, 2));
        struct lapse_node *clocks = lapse_emit_map(&d->e);
        struct lapse_node *clock = draw_words(d, LAPSE_WORD_CLOCK, 3);
        bool both = lapse_node_get(clock, "wall") != NULL && lapse_node_get(clock, "to") != NULL;
        lapse_emit_put(&d->e, clocks, pick_bar(d, "a1|res|n1"), both ? NULL : clock);
        put(d, document, "clocks", clocks);
    }
    if (one_in(d, 4)) {
        struct lapse_node *chaos = draw_words(d, LAPSE_WORD_CHAOS, 3);
        put(d, document, "chaos", one_in(d, 4) ? text(d, "true") : chaos);
    }
    lapse_emit_put(&d->e, buckets, "b", b);
    lapse_emit_put(&d->e, buckets, "m", pair(d, "markers", "true"));
    lapse_emit_put(&d->e, buckets, "locks", pair(d, "locks", "true"));
    mark(d, LAPSE_WORD_BUCKET, "locks");
    put(d, document, "buckets", buckets);
    struct lapse_node *resource = draw_words(d, LAPSE_WORD_RESOURCE, 3);
    bool barred =
        lapse_node_get(resource, "bar") != NULL &&
        (lapse_node_get(resource, "fenced") == NULL || lapse_node_get(resource, "lease") == NULL);
    lapse_emit_put(&d->e, resources, "res", barred ? pair(d, "fenced", "true") : resource);
    put(d, document, "resources", resources);
}

/* Each word of the kind, one time in so many. */
static struct lapse_node *draw_words(struct lapse_draw *d, enum lapse_word_kind kind,
                                     size_t one_of) {
    struct lapse_node *map = lapse_emit_map(&d->e);
    size_t count = 0;
    const struct lapse_word *table = lapse_word_table(&count);
    for (size_t i = 0; i < count; i++) {
        bool late = strcmp(table[i].word, "cap") == 0 && lapse_node_get(map, "idle") == NULL;
        if (table[i].kind != kind || table[i].stage > LAPSE_STAGE_NOW || late ||
            pick(d, one_of) != 0) {
            continue;
        }
        struct lapse_node *value = NULL;
        if (kind == LAPSE_WORD_CHAOS && lapse_words_have("pause crash disk", table[i].word)) {
            value = text(d, "true");
        } else if (strcmp(table[i].word, "lease") == 0) {
            value = text(d, "jobs/x");
        } else if (find_takes(all_takes, sizeof(all_takes) / sizeof(all_takes[0]),
                              table[i].takes) != NULL) {
            value = draw_value(d, NULL, &table[i]);
        }
        if (value != NULL) {
            mark(d, kind, table[i].word);
            lapse_emit_put(&d->e, map, table[i].word, value);
        }
    }
    return map;
}

static void draw_clients(struct lapse_draw *d, struct lapse_node *document) {
    struct lapse_node *actors = lapse_emit_map(&d->e);
    struct lapse_node *one = lapse_emit_map(&d->e);
    struct lapse_node *tasks = lapse_emit_map(&d->e);
    struct lapse_node *two = lapse_emit_seq(&d->e);
    if (one_in(d, 2)) {
        lapse_emit_put(&d->e, one, "careful", text(d, "true"));
        lapse_emit_put(&d->e, one, "margin", text(d, "500ms"));
        lapse_emit_put(&d->e, one, "owner", text(d, "it's me"));
        lapse_emit_put(&d->e, one, "timer", text(d, "boot"));
        mark(d, LAPSE_WORD_ACTOR, "careful");
        mark(d, LAPSE_WORD_ACTOR, "margin");
        mark(d, LAPSE_WORD_ACTOR, "owner");
        mark(d, LAPSE_WORD_ACTOR, "timer");
    }
    if (one_in(d, 4)) {
        lapse_emit_put(&d->e, one, "program", text(d, "quorum_lock"));
        lapse_emit_put(&d->e, one, "with", pair(d, "name", pick_bar(d, "q|null|a: b")));
        mark(d, LAPSE_WORD_ACTOR, "program");
        mark(d, LAPSE_WORD_ACTOR, "with");
    } else {
        struct lapse_node *lines = lapse_emit_seq(&d->e);
        lapse_emit_add(&d->e, lines, draw_loop(d));
        lapse_emit_put(&d->e, tasks, pick_bar(d, "main|other"), lines);
        lapse_emit_put(&d->e, one, "tasks", tasks);
        mark(d, LAPSE_WORD_ACTOR, "tasks");
    }
    for (size_t i = 1 + pick(d, 3); i > 0; i--) {
        lapse_emit_add(&d->e, two,
                       one_in(d, 3) ? draw_loop(d) : draw_line(d, LAPSE_WORD_VERB, false));
    }
    lapse_emit_put(&d->e, actors, "a1", one);
    lapse_emit_put(&d->e, actors, "a2", two);
    put(d, document, "actors", actors);
}

static struct lapse_node *draw_loop(struct lapse_draw *d) {
    struct lapse_node *loop = pair(d, one_in(d, 2) ? "every" : "gap", pick_bar(d, "10s|15m-1ns"));
    struct lapse_node *body = lapse_emit_seq(&d->e);
    mark(d, LAPSE_WORD_STEP, loop->keys[0]->text);
    if (one_in(d, 3)) {
        put(d, loop, "times", text(d, "3"));
        mark(d, LAPSE_WORD_STEP, "times");
    } else if (one_in(d, 2)) {
        put(d, loop, "until", text(d, "60s"));
        mark(d, LAPSE_WORD_STEP, "until");
    }
    for (size_t i = 1 + pick(d, 2); i > 0; i--) {
        lapse_emit_add(&d->e, body, draw_line(d, LAPSE_WORD_VERB, false));
    }
    struct lapse_node *only = body->count == 1 ? body->items[0] : NULL;
    bool meets = only == NULL || lapse_node_get(only, "after") != NULL ||
                 lapse_node_get(only, "times") != NULL || one_in(d, 3);
    if (meets) {
        put(d, loop, "do", body);
        mark(d, LAPSE_WORD_STEP, "do");
        return loop;
    }
    for (size_t i = 0; i < only->count; i++) {
        put(d, loop, only->keys[i]->text, only->items[i]);
    }
    return loop;
}

/* What other lines name: saves, a watch, a session, a labelled call, a copy of the disk. */
static void begin_steps(struct lapse_draw *d, struct lapse_node *steps) {
    static const char *const lines[][10] = {
        {"at", "0s", "by", "a2", "acquire", "jobs/x", "for", "30s", "save", "t"},
        {"at", "0s", "by", "a2", "set", "b/k", "value", "v", "save", "r"},
        {"at", "0s", "by", "a2", "watch", "b", "as", "w", "label", "first"},
        {"at", "0s", "by", "a2", "session", "s", "for", "1m", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct lapse_node *line = lapse_emit_map(&d->e);
        for (size_t k = 0; k < 10 && lines[i][k] != NULL; k += 2) {
            put(d, line, lines[i][k], text(d, lines[i][k + 1]));
        }
        lapse_emit_add(&d->e, steps, line);
    }
    mark(d, LAPSE_WORD_STEP, "label");
    if (!d->in_memory) {
        struct lapse_node *line = pair(d, "at", "0s");
        put(d, line, "backup", text(d, "n1"));
        put(d, line, "as", text(d, "w"));
        lapse_emit_add(&d->e, steps, line);
    }
}

/* What `resume`, `restart` and `heal` end. */
static void begin_faults(struct lapse_draw *d, struct lapse_node *faults) {
    static const char *const lines[][2] = {
        {"pause", "a1"}, {"pause", "a2"},  {"crash", "a1"},
        {"crash", "a2"}, {"cut", "a1-n1"}, {"pause", "n1"},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct lapse_node *line = pair(d, "at", "0s");
        put(d, line, lines[i][0], text(d, lines[i][1]));
        lapse_emit_add(&d->e, faults, line);
    }
    struct lapse_node *line = lapse_emit_map(&d->e);
    bool call = one_in(d, 2);
    put(d, line, "when",
        call ? text(d, pick_bar(d, "first.sent|first.arrived|first.applied|first.replied"))
             : pair(d, "n1", pick_bar(d, "sync|commit|reap|expire")));
    put(d, line, "pause", text(d, "a1"));
    put(d, line, "for", text(d, "5s"));
    put(d, line, "nth", text(d, "2"));
    mark(d, LAPSE_WORD_STEP, "when");
    mark(d, LAPSE_WORD_STEP, "nth");
    lapse_emit_add(&d->e, faults, line);
}

static void draw_verdict(struct lapse_draw *d, struct lapse_node *document) {
    struct lapse_node *measures = lapse_emit_map(&d->e);
    struct lapse_node *took = lapse_emit_map(&d->e);
    struct lapse_node *sometimes = lapse_emit_seq(&d->e);
    struct lapse_node *violates = lapse_emit_seq(&d->e);
    struct lapse_node *expect = lapse_emit_seq(&d->e);
    struct lapse_node *held = lapse_emit_map(&d->e);
    struct lapse_node *many = lapse_emit_map(&d->e);
    put(d, took, "from", draw_pattern(d));
    put(d, took, "to", draw_pattern(d));
    put(d, many, "count", draw_pattern(d));
    put(d, held, "total", pair(d, "believes", "jobs/x"));
    lapse_emit_put(&d->e, measures, "took", took);
    lapse_emit_put(&d->e, measures, "many", many);
    lapse_emit_put(&d->e, measures, "held", held);
    for (size_t i = 0; i < 3; i++) {
        static const char *const words[] = {"from", "to", "count"};
        mark(d, LAPSE_WORD_MEASURE, words[i]);
    }
    mark(d, LAPSE_WORD_MEASURE, "total");
    put(d, document, "measure", measures);
    d->expect = true;
    for (size_t i = pick(d, 4); i > 0; i--) {
        lapse_emit_add(&d->e, expect, draw_line(d, LAPSE_WORD_OBSERVER, one_in(d, 2)));
    }
    if (one_in(d, 2)) {
        struct lapse_node *line = lapse_emit_map(&d->e);
        put(d, line, "count", draw_pattern(d));
        put(d, line, "is", one_in(d, 2) ? text(d, "3") : pair(d, "ge", "$r"));
        lapse_emit_add(&d->e, expect, line);
    }
    put(d, document, "expect", expect);
    if (one_in(d, 3)) {
        lapse_emit_add(&d->e, sometimes, draw_pattern(d));
        put(d, document, "sometimes", sometimes);
        lapse_emit_add(&d->e, violates, text(d, pick_bar(d, "KV-01|LEASE-10|FENCE-03")));
        put(d, document, "violates", violates);
    }
}

static struct lapse_node *draw_pattern(struct lapse_draw *d) {
    const struct lapse_word *row = NULL;
    do {
        row = draw_row(d, LAPSE_WORD_PATTERN);
    } while (lapse_words_have("by at", row->word));
    bool markers = strcmp(row->word, "expired") == 0;
    struct lapse_node *pattern =
        pair(d, row->word,
             markers                                   ? "m/x"
             : strcmp(row->takes, "a lease name") == 0 ? pick_bar(d, "jobs/x|locks/l")
             : strcmp(row->takes, "a key (bucket/key)") == 0
                 ? "b/k"
                 : pick_bar(d, find_takes(all_takes, sizeof(all_takes) / sizeof(all_takes[0]),
                                          row->takes)));
    mark(d, LAPSE_WORD_PATTERN, row->word);
    if (one_in(d, 3)) {
        put(d, pattern, "at", text(d, "30s"));
        mark(d, LAPSE_WORD_PATTERN, "at");
    }
    if (one_in(d, 3) && !lapse_words_have("two_believe expired crash wakes stopped", row->word)) {
        put(d, pattern, "by", text(d, "a1"));
        mark(d, LAPSE_WORD_PATTERN, "by");
    }
    return pattern;
}

/* ---- A line. */
static struct lapse_node *draw_line(struct lapse_draw *d, enum lapse_word_kind kind, bool timed) {
    struct lapse_node *line = lapse_emit_map(&d->e);
    const struct lapse_word *row = draw_row(d, kind);
    d->now_s += (int64_t)pick(d, 3);
    if (timed) {
        char at[32];
        (void)snprintf(at, sizeof(at), "%" PRId64 "s", d->now_s + 1);
        put(d, line, "at", text(d, at));
        mark(d, LAPSE_WORD_STEP, "at");
    } else if (kind == LAPSE_WORD_VERB && one_in(d, 3) &&
               !lapse_words_have("list all count", row->word)) {
        put(d, line, "after", text(d, "5s"));
        mark(d, LAPSE_WORD_STEP, "after");
    }
    if (timed && kind == LAPSE_WORD_VERB) {
        put(d, line, "by", text(d, pick_bar(d, "a1|a2")));
        mark(d, LAPSE_WORD_STEP, "by");
    }
    mark(d, kind, row->word);
    put(d, line, row->word, draw_object(d, row));
    draw_arguments(d, row, line);
    if (kind == LAPSE_WORD_VERB) {
        draw_client_words(d, row, line);
    }
    return line;
}

static const struct lapse_word *draw_row(struct lapse_draw *d, enum lapse_word_kind kind) {
    size_t count = 0;
    const struct lapse_word *table = lapse_word_table(&count);
    for (;;) {
        const struct lapse_word *row = &table[pick(d, count)];
        if (row->kind == kind && row->stage <= LAPSE_STAGE_NOW && fits(d, row)) {
            return row;
        }
    }
}

static bool fits(const struct lapse_draw *d, const struct lapse_word *row) {
    bool measured = strcmp(row->word, "measured") == 0;
    return (!measured || d->expect) &&
           !(d->in_memory && lapse_words_have("backup restore", row->word) &&
             row->kind == LAPSE_WORD_FAULT);
}

static void draw_arguments(struct lapse_draw *d, const struct lapse_word *row,
                           struct lapse_node *line) {
    const char *need = find_takes(all_needs, sizeof(all_needs) / sizeof(all_needs[0]), row->word);
    const char *needed = need == NULL ? NULL : pick_bar(d, need);
    if (needed != NULL && d->in_memory && lapse_words_have("tear full rot", needed)) {
        needed = "sync";
    }
    char word[WORD_MAX];
    const char *rest = row->arguments;
    while ((rest = lapse_words_next(rest, word, sizeof(word))) != NULL) {
        const struct lapse_word *argument = lapse_word_find(LAPSE_WORD_ARGUMENT, word);
        bool is = needed != NULL && strcmp(word, needed) == 0;
        bool mine = !lapse_words_have(BY_NEED, word) ||
                    (strcmp(word, "after") == 0 && line != NULL && row->kind == LAPSE_WORD_VERB);
        bool clock = strcmp(row->word, "clock") == 0;
        if (argument == NULL || argument->stage > LAPSE_STAGE_NOW || clock != (clock && is) ||
            !(is || (mine && !d->expect && one_in(d, 4)))) {
            continue;
        }
        bool actor =
            row->kind == LAPSE_WORD_FAULT && !lapse_node_is(line->items[line->count - 1], "n1");
        if ((strcmp(word, "machine") == 0 && actor) ||
            (strcmp(word, "with") == 0 && !lapse_node_is(lapse_node_get(line, row->word), "a1"))) {
            continue;
        }
        mark(d, LAPSE_WORD_ARGUMENT, word);
        struct lapse_node *value = draw_value(d, row, argument);
        if (strcmp(word, "after") == 0) {
            value = lapse_emit_join(&d->e, lapse_node_get(line, row->word)->text, "/", "k 1");
        } else if (strcmp(row->word, "restore") == 0 && strcmp(word, "from") == 0) {
            value = text(d, "w");
        }
        put(d, line, word, value);
        if (strcmp(word, "idle") == 0 && one_in(d, 2)) {
            mark(d, LAPSE_WORD_ARGUMENT, "cap");
            put(d, line, "cap", text(d, "2h"));
        }
    }
    if (strcmp(row->word, "acquire") == 0 && lapse_node_get(line, "id") == NULL && one_in(d, 4)) {
        put(d, line, "wait", text(d, "30s"));
        put(d, line, "retry", text(d, "1s"));
        mark(d, LAPSE_WORD_ARGUMENT, "wait");
        mark(d, LAPSE_WORD_ARGUMENT, "retry");
    }
    if (strcmp(row->word, "events") == 0) {
        put(d, line, "expect", draw_events(d));
    }
}

static struct lapse_node *draw_events(struct lapse_draw *d) {
    static const char *const words[] = {"put", "delete", "purge", "expired", "gap"};
    struct lapse_node *events = lapse_emit_seq(&d->e);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        bool gap = strcmp(words[i], "gap") == 0;
        const char *key = gap ? "true" : strcmp(words[i], "expired") == 0 ? "m/x" : "b/it's: k$t";
        struct lapse_node *event = pair(d, words[i], key);
        bool whole = false;
        for (size_t k = 0; k < 3; k++) {
            static const char *const more[][2] = {
                {"at", "30s|$t.left"}, {"rev", "3|$r|$r-1"}, {"why", "own|default|idle|session"}};
            if (one_in(d, 3)) {
                put(d, event, more[k][0], text(d, pick_bar(d, more[k][1])));
                mark(d, LAPSE_WORD_FIELD, more[k][0]);
                whole = true;
            }
        }
        mark(d, LAPSE_WORD_FIELD, words[i]);
        const char *space = gap ? "" : " ";
        lapse_emit_add(&d->e, events,
                       whole ? event : lapse_emit_join(&d->e, words[i], space, gap ? "" : key));
    }
    return events;
}

/* What any call can have beside its own. */
static void draw_client_words(struct lapse_draw *d, const struct lapse_word *row,
                              struct lapse_node *line) {
    static const char *const words[] = {"timeout", "jitter", "under", "request", "reply"};
    bool waits = lapse_words_have("work await unchanged", row->word);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const struct lapse_word *word = lapse_word_find(LAPSE_WORD_STEP, words[i]);
        if (one_in(d, 6) && !(waits && i > 2)) {
            mark(d, LAPSE_WORD_STEP, word->word);
            put(d, line, word->word, draw_value(d, row, word));
        }
    }
    if (one_in(d, 3)) {
        mark(d, LAPSE_WORD_STEP, "expect");
        put(d, line, "expect", draw_expect(d, row));
    }
    if (one_in(d, 6)) {
        mark(d, LAPSE_WORD_STEP, "need");
        put(d, line, "need", draw_expect(d, row));
        mark(d, LAPSE_WORD_STEP, "else");
        put(d, line, "else", one_in(d, 3) ? pair(d, "again", "2s") : text(d, "next"));
        mark(d, LAPSE_WORD_ACTION, "again");
    }
    if (one_in(d, 6) && lapse_node_get(line, "wait") == NULL) {
        mark(d, LAPSE_WORD_STEP, "nowait");
        put(d, line, "nowait", text(d, "true"));
    }
    if (one_in(d, 6) && lapse_words_have("set create acquire", row->word)) {
        mark(d, LAPSE_WORD_STEP, "save");
        put(d, line, "save", text(d, strcmp(row->word, "acquire") == 0 ? "t" : "r"));
    }
    if (one_in(d, 6)) {
        mark(d, LAPSE_WORD_STEP, "on_refused");
        put(d, line, "on_refused", text(d, pick_bar(d, "stop|stop_all|next")));
    }
    if (one_in(d, 6)) {
        mark(d, LAPSE_WORD_STEP, "on_any");
        put(d, line, "on_any", one_in(d, 2) ? pair(d, "again", "1s") : text(d, "stop"));
        put(d, line, "on_unknown", text(d, "next"));
    }
    static const char *const actions[] = {"stop", "stop_all", "next", "skip"};
    for (size_t i = 0; i < 4; i++) {
        mark(d, LAPSE_WORD_ACTION, actions[i]);
    }
}

/* An answer, a list, or fields that the first answer has. */
static struct lapse_node *draw_expect(struct lapse_draw *d, const struct lapse_word *row) {
    int verb = lapse_decode_verb(row->word);
    struct lapse_node *fields = lapse_emit_map(&d->e);
    struct lapse_node *list = lapse_emit_seq(&d->e);
    if (one_in(d, 3)) {
        return text(d, draw_answer(d, row));
    }
    if (one_in(d, 3)) {
        bool keys = lapse_words_have("list all history", row->word);
        lapse_emit_add(&d->e, list, text(d, keys ? "k1" : draw_answer(d, row)));
        lapse_emit_add(&d->e, list, text(d, keys ? "delete" : "unknown"));
        return list;
    }
    for (int i = LAPSE_FIELD_VALUE; i < LAPSE_FIELDS; i++) {
        enum lapse_field field = (enum lapse_field)i;
        const char *word = lapse_field_word(field);
        if (field == LAPSE_FIELD_KEYS || !lapse_field_answered(verb, LAPSE_OK, field) ||
            one_in(d, 2)) {
            continue;
        }
        put(d, fields, word, draw_field(d, word));
        mark(d, LAPSE_WORD_FIELD, word);
    }
    if (lapse_words_have("list all", row->word)) {
        lapse_emit_add(&d->e, list, text(d, pick_bar(d, "k1|b: c|null|key-$t")));
        put(d, fields, "keys", list);
        mark(d, LAPSE_WORD_FIELD, "keys");
    }
    if (one_in(d, 3)) {
        char first[WORD_MAX] = "";
        (void)lapse_words_next(row->answers, first, sizeof(first));
        put(d, fields, "answer", text(d, first));
        mark(d, LAPSE_WORD_FIELD, "answer");
    }
    return fields;
}

/* A value, or comparisons with some. */
static struct lapse_node *draw_field(struct lapse_draw *d, const char *word) {
    bool flag = lapse_words_have("repeated more", word);
    const char *values = flag                                        ? "true|false"
                         : lapse_words_have("rev token count", word) ? "3|$t|$r+1|$r-9"
                         : lapse_words_have("left took", word) ? "30s|$t.left|$t.left-1ns|15m-1ns"
                         : strcmp(word, "end") == 0
                             ? "30s|none|$t.end+1s|2000-01-01T00:00:30Z|epoch+15m-1ns"
                             : "v|a: b|by-$t|null|3";
    struct lapse_node *map = lapse_emit_map(&d->e);
    if (one_in(d, 2)) {
        return text(d, pick_bar(d, values));
    }
    for (size_t i = 1 + pick(d, 2); i > 0; i--) {
        const char *op = pick_bar(d, "eq|ne|lt|le|gt|ge|in");
        struct lapse_node *value = text(d, pick_bar(d, values));
        struct lapse_node *list = lapse_emit_seq(&d->e);
        lapse_emit_add(&d->e, list, value);
        lapse_emit_add(&d->e, list, text(d, pick_bar(d, values)));
        put(d, map, op, strcmp(op, "in") == 0 ? list : value);
        mark(d, LAPSE_WORD_FIELD, op);
    }
    return map;
}

static const char *draw_answer(struct lapse_draw *d, const struct lapse_word *row) {
    char words[16][WORD_MAX];
    size_t count = 0;
    const char *rest = row->answers;
    while (count < 16 && (rest = lapse_words_next(rest, words[count], WORD_MAX)) != NULL) {
        count++;
    }
    const struct lapse_node *kept = text(d, count == 0 ? "ok" : words[pick(d, count)]);
    return kept == NULL ? "ok" : kept->text;
}

static struct lapse_node *draw_object(struct lapse_draw *d, const struct lapse_word *row) {
    if (strcmp(row->word, "batch") == 0) {
        struct lapse_node *list = lapse_emit_seq(&d->e);
        struct lapse_node *member = pair(d, "set", "b/k2");
        put(d, member, "value", text(d, "a, b"));
        lapse_emit_add(&d->e, list, member);
        lapse_emit_add(&d->e, list, pair(d, "release", "jobs/x"));
        return list;
    }
    if (strcmp(row->word, "await") == 0 && one_in(d, 2)) {
        return pair(d, "expired", "m/x");
    }
    if (strcmp(row->word, "session") == 0) {
        return text(d, "s");
    }
    if (lapse_words_have("resume restart with", row->word)) {
        return text(d, pick_bar(d, "a1|a2"));
    }
    if (lapse_words_have("slow crash", row->word)) {
        return text(d, pick_bar(d, strcmp(row->word, "slow") == 0 ? "a1|a2" : "a1|n1"));
    }
    if (strcmp(row->word, "revoke") == 0) {
        return text(d, "jobs/x");
    }
    if (strcmp(row->word, "heal") == 0) {
        return text(d, pick_bar(d, "all|a1-n1"));
    }
    if (row->kind == LAPSE_WORD_OBSERVER && strcmp(row->takes, "a lease name") == 0) {
        return text(d, pick_bar(d, "jobs/x|locks/l"));
    }
    return draw_value(d, NULL, row);
}

/* What the word takes; `row` is the line's, where it matters. */
static struct lapse_node *draw_value(struct lapse_draw *d, const struct lapse_word *row,
                                     const struct lapse_word *word) {
    const char *values =
        find_takes(all_takes, sizeof(all_takes) / sizeof(all_takes[0]), word->takes);
    if (strcmp(word->word, "who") == 0) {
        struct lapse_node *list = lapse_emit_seq(&d->e);
        lapse_emit_add(&d->e, list, text(d, "a1"));
        return list;
    }
    if (strcmp(word->word, "is") == 0 && row != NULL) {
        const char *value = strcmp(row->word, "left") == 0       ? "15m-1ns"
                            : strcmp(row->word, "holder") == 0   ? pick_bar(d, "a1|absent|a2#2")
                            : strcmp(row->word, "measured") == 0 ? "0"
                                                                 : "3";
        return one_in(d, 2) ? text(d, value) : pair(d, pick_bar(d, "eq|ne"), value);
    }
    return text(d, values == NULL ? "x" : pick_bar(d, values));
}

/* ---- Small things. */
/* Xorshift: any spread will do, and it is the same everywhere. */
size_t lapse_draw_pick(struct lapse_draw *d, size_t count) {
    d->state ^= d->state << 13;
    d->state ^= d->state >> 7;
    d->state ^= d->state << 17;
    return (size_t)((d->state >> 11) % count);
}

static size_t pick(struct lapse_draw *d, size_t count) {
    return lapse_draw_pick(d, count);
}

static bool one_in(struct lapse_draw *d, size_t count) {
    return pick(d, count) == 0;
}

/* One of the texts between bars. */
static const char *pick_bar(struct lapse_draw *d, const char *values) {
    size_t count = 1;
    for (const char *at = values; *at != '\0'; at++) {
        count += *at == '|' ? 1 : 0;
    }
    const char *from = values;
    for (size_t left = pick(d, count); left > 0; left--) {
        from = strchr(from, '|') + 1;
    }
    const char *kept = lapse_pool_text(d->e.pool, from, strcspn(from, "|"));
    return kept == NULL ? "" : kept;
}

static const char *find_takes(const struct takes *rows, size_t count, const char *what) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].takes, what) == 0) {
            return rows[i].values;
        }
    }
    return NULL;
}

/* A text that is read as a number or a word is drawn without quotes. */
static struct lapse_node *text(struct lapse_draw *d, const char *value) {
    return lapse_emit_text(&d->e, value);
}

static struct lapse_node *pair(struct lapse_draw *d, const char *word, const char *value) {
    struct lapse_node *map = lapse_emit_map(&d->e);
    lapse_emit_put(&d->e, map, word, text(d, value));
    return map;
}

/* Puts a word that is not there yet; a word of the document's own is marked. */
static void put(struct lapse_draw *d, struct lapse_node *map, const char *word,
                struct lapse_node *value) {
    if (lapse_node_get(map, word) == NULL) {
        lapse_emit_put(&d->e, map, word, value);
        mark(d, LAPSE_WORD_TOP, word);
    }
}

static void mark(struct lapse_draw *d, enum lapse_word_kind kind, const char *word) {
    size_t count = 0;
    const struct lapse_word *table = lapse_word_table(&count);
    for (size_t i = 0; i < count && i < LAPSE_DRAWN_MAX; i++) {
        if (table[i].kind == kind && table[i].word[0] == word[0] &&
            strcmp(table[i].word, word) == 0) {
            d->drawn[i] = true;
            return;
        }
    }
}
