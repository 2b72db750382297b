/* Idioms: a few lines in a row that show something only together, and that seldom fall together
 * by chance. Each is the plain shape of a use, with its keys, its instants and what stands in it
 * drawn: a read behind a purge, a watch of what is past, a watch that a cut has hidden something
 * from, uses close together, an end in the batch that writes over it, a write that hangs in a sync,
 * a date that was reached before a start.
 *
 * Where a bucket has a name of a key, idioms have keys of their own (i0, i1, i2): no other line
 * spoils them, and they may well be spoiled by a change. */
#include "generator.h"

#include <string.h>

enum { USES_MAX = 4, IDIOM_KEYS = 3, HANGING_PARTS = 2 };
#define IDIOM_SPAN_MAX (60 * LAPSE_NS_PER_S)

static struct lapse_node *next(struct lapse_generator *g, const char *verb, const char *object);
static struct lapse_node *by_another(struct lapse_generator *g, const char *verb,
                                     const char *object);
static void step(struct lapse_generator *g, int64_t by_ns);
static void add_fault(struct lapse_generator *g, const char *word, const char *object,
                      const char *detail, const char *value, int64_t for_ns);
static const char *a_key(struct lapse_generator *g, struct lapse_gen_bucket **ret);
static void put(struct lapse_generator *g, struct lapse_gen_bucket *bucket, const char *object,
                const char *term, int64_t span_ns);
static void look(struct lapse_generator *g, const char *object);
static int64_t span_of(const struct lapse_generator *g);
static void purged(struct lapse_generator *g);
static void past(struct lapse_generator *g);
static void missed(struct lapse_generator *g);
static void uses(struct lapse_generator *g);
static void ended_in_batch(struct lapse_generator *g);
static void hanging(struct lapse_generator *g);
static void date_and_start(struct lapse_generator *g);
static void slow_reaper(struct lapse_generator *g);

void lapse_gen_idioms(struct lapse_generator *g) {
    static const struct {
        const char *word;
        void (*add)(struct lapse_generator *g);
    } idioms[] = {
        {"purged", purged},   {"past", past},
        {"missed", missed},   {"uses", uses},
        {"hanging", hanging}, {"ended in a batch", ended_in_batch},
        {"date and start", date_and_start},
    };
    const char *word = lapse_gen_word(g, LAPSE_TRAIT_IDIOM);
    lapse_gen_advance(g);
    for (size_t i = 0; i < sizeof idioms / sizeof *idioms; i++) {
        if (strcmp(idioms[i].word, word) == 0) {
            idioms[i].add(g);
        }
    }
    g->over = g->over || lapse_gen_is(g, LAPSE_TRAIT_IDIOM_THEN, "the end");
}

/* What was written before it, read after it. */
static void purged(struct lapse_generator *g) {
    struct lapse_gen_bucket *bucket;
    const char *object = a_key(g, &bucket);
    put(g, bucket, object, NULL, 0);
    int64_t first = bucket->revision;
    lapse_gen_add(g, next(g, lapse_gen_word(g, LAPSE_TRAIT_REMOVED), object));
    lapse_gen_number(bucket);
    if (lapse_gen_is(g, LAPSE_TRAIT_ONCE_MORE, "yes")) {
        put(g, bucket, object, NULL, 0);
    }
    const char *how = lapse_gen_word(g, LAPSE_TRAIT_PAST);
    struct lapse_node *line = next(g, strcmp(how, "rev") == 0 ? "get" : how, object);
    if (strcmp(how, "rev") == 0) {
        lapse_gen_say_number(g, line, "rev", first > 0 ? first : 1);
    }
    lapse_gen_add(g, line);
}

/* A watch from a revision on, of what has happened to a key since. */
static void past(struct lapse_generator *g) {
    struct lapse_gen_bucket *bucket;
    const char *object = a_key(g, &bucket);
    put(g, bucket, object, NULL, 0);
    int64_t from = bucket->revision;
    const char *removed = lapse_gen_word(g, LAPSE_TRAIT_REMOVED);
    lapse_gen_add(g, next(g, removed, object));
    lapse_gen_number(bucket);
    bool whole = lapse_gen_is(g, LAPSE_TRAIT_WATCHES, "bucket");
    struct lapse_node *line = by_another(g, "watch", whole ? bucket->name : object);
    from = lapse_gen_is(g, LAPSE_TRAIT_FROM, "last") ? bucket->revision : from;
    lapse_gen_say_number(g, line, "from", from > 0 ? from : 1);
    lapse_gen_name_watch(g, line);
    lapse_gen_add(g, line);
}

/* A watcher is cut off, and nothing is there to tell it once it hears again. */
static void missed(struct lapse_generator *g) {
    struct lapse_gen_bucket *bucket;
    const char *object = a_key(g, &bucket);
    struct lapse_node *watch = by_another(g, "watch", bucket->name);
    const char *watcher = g->clients[g->client];
    lapse_gen_name_watch(g, watch);
    lapse_gen_add(g, watch);
    bool both = lapse_gen_is(g, LAPSE_TRAIT_CUT, "both ways");
    struct lapse_node *link =
        lapse_tree_text(g->pool, both ? "n1-%s" : "n1>%s", watcher);
    step(g, 0);
    add_fault(g, "cut", link != NULL ? link->text : "n1-w1", NULL, NULL, 3 * span_of(g));
    struct lapse_node *write = by_another(g, "set", object);
    lapse_gen_say(g, write, "value", "v");
    lapse_gen_number(bucket);
    lapse_gen_add(g, write);
}

/* Of a key that ends when it is not used, faster than its end is moved on for. */
static void uses(struct lapse_generator *g) {
    struct lapse_gen_bucket *bucket;
    const char *object = a_key(g, &bucket);
    put(g, bucket, object, "idle", g->span_ns);
    for (size_t i = 0; i < USES_MAX; i++) {
        lapse_gen_add(g, next(g, lapse_gen_word(g, LAPSE_TRAIT_USE), object));
    }
}

/* An end that nobody has told yet is written over at its instant. */
static void ended_in_batch(struct lapse_generator *g) {
    struct lapse_gen_bucket *bucket;
    const char *object = a_key(g, &bucket);
    struct lapse_node *open = next(g, "session", "i"), *line = next(g, "batch", "");
    struct lapse_node *members = lapse_tree_seq(g->pool), *close = lapse_tree_map(g->pool);
    struct lapse_node *write = lapse_tree_map(g->pool), *set = lapse_tree_map(g->pool);
    lapse_gen_say_span(g, open, "for", span_of(g));
    lapse_gen_say(g, set, "set", object);
    lapse_gen_say(g, set, "value", "v");
    lapse_gen_say(g, set, "session", "i");
    lapse_gen_say(g, close, "close", "i");
    lapse_gen_say(g, write, lapse_gen_is(g, LAPSE_TRAIT_WRITTEN, "set") ? "set" : "create", object);
    lapse_gen_say(g, write, "value", "w");
    g->token++;
    lapse_tree_add(g->pool, members, set);
    lapse_tree_add(g->pool, members, close);
    lapse_tree_add(g->pool, members, write);
    lapse_tree_put(g->pool, line, "batch", members);
    lapse_gen_add(g, open);
    lapse_gen_add(g, line);
    lapse_gen_number(bucket);
    lapse_gen_number(bucket);
}

/* A write that hangs in a sync and is answered once that ends, a disk that fails from then on, and
 * a start. */
static void hanging(struct lapse_generator *g) {
    struct lapse_gen_bucket *bucket;
    const char *object = a_key(g, &bucket);
    int64_t part_ns = span_of(g) / HANGING_PARTS;
    if (lapse_node_get(g->document, "store") == NULL) {
        look(g, object);
        return;
    }
    bool stalls = lapse_gen_is(g, LAPSE_TRAIT_HANGS, "in a stall");
    add_fault(g, stalls ? "stall" : "disk", "n1", stalls ? "in" : "sync",
              stalls ? "sync" : "stalls", HANGING_PARTS * part_ns);
    struct lapse_node *write = next(g, "set", object);
    lapse_gen_say(g, write, "value", "v");
    lapse_gen_say_span(g, write, "timeout", 2 * HANGING_PARTS * part_ns);
    lapse_gen_add(g, write);
    step(g, part_ns);
    add_fault(g, "disk", "n1", "sync", "fail", HANGING_PARTS * part_ns);
    step(g, HANGING_PARTS * part_ns + LAPSE_NS_PER_MS);
    add_fault(g, "crash", "n1", "machine", "true", LAPSE_NS_PER_S);
    step(g, 2 * LAPSE_NS_PER_S);
    look(g, object);
}

/* A date is reached and seen, the wall goes back, and another process comes to it. What ends before
 * lets the reaper come, so that a slow one leaves the date alone. */
static void date_and_start(struct lapse_generator *g) {
    struct lapse_gen_bucket *bucket;
    const char *object = a_key(g, &bucket);
    int64_t span_ns = span_of(g);
    slow_reaper(g);
    put(g, bucket, object, "ttl", span_ns);
    step(g, span_ns);
    object = a_key(g, &bucket);
    put(g, bucket, object, "expires_at", span_ns);
    step(g, span_ns);
    look(g, object);
    add_fault(g, "clock", "n1", "wall", lapse_gen_word(g, LAPSE_TRAIT_WALL_BACK), 0);
    const char *other = a_key(g, &bucket);
    put(g, bucket, other, NULL, 0);
    bool machine = lapse_gen_is(g, LAPSE_TRAIT_MACHINE, "yes");
    add_fault(g, "restart", "n1", machine ? "machine" : NULL, "true", 0);
    look(g, object);
}

/* The reaper is the document's: it is slow from the beginning. */
static void slow_reaper(struct lapse_generator *g) {
    struct lapse_node *policies = lapse_node_get(g->document, "policy");
    if (lapse_gen_is(g, LAPSE_TRAIT_SLOW, "as it is")) {
        return;
    }
    policies = policies != NULL ? policies : lapse_tree_map(g->pool);
    lapse_gen_say(g, policies, "reaper", "minute");
    lapse_tree_put(g->pool, g->document, "policy", policies);
}

/* The next line, of whoever called last or of any client, a drawn step later. */
static struct lapse_node *next(struct lapse_generator *g, const char *verb, const char *object) {
    struct lapse_node *line = lapse_tree_map(g->pool);
    step(g, 0);
    lapse_gen_say_span(g, line, "at", g->now_ns);
    lapse_gen_say(g, line, "by", g->clients[g->client]);
    lapse_gen_say(g, line, verb, object);
    return line;
}

static struct lapse_node *by_another(struct lapse_generator *g, const char *verb,
                                     const char *object) {
    g->client = (g->client + 1) % g->client_count;
    return next(g, verb, object);
}

/* So long, or (0) a drawn moment. */
static void step(struct lapse_generator *g, int64_t by_ns) {
    const char *word = by_ns > 0 ? "given" : lapse_gen_word(g, LAPSE_TRAIT_STEP);
    int64_t ns = strcmp(word, "given") == 0    ? by_ns
                 : strcmp(word, "moment") == 0 ? LAPSE_NS_PER_MS
                 : strcmp(word, "tenth") == 0  ? LAPSE_NS_PER_S / 10
                 : strcmp(word, "second") == 0 ? LAPSE_NS_PER_S
                                               : 0;
    (void)lapse_ns_add(g->now_ns, ns, &g->now_ns);
}

/* `detail`: NULL: none; `for_ns`: 0: it is over at once, or stays. */
static void add_fault(struct lapse_generator *g, const char *word, const char *object,
                      const char *detail, const char *value, int64_t for_ns) {
    struct lapse_node *line = lapse_tree_map(g->pool);
    lapse_gen_say_span(g, line, "at", g->now_ns);
    lapse_gen_say(g, line, word, object);
    if (detail != NULL) {
        lapse_gen_say(g, line, detail, value);
    }
    if (for_ns > 0) {
        lapse_gen_say_span(g, line, "for", for_ns);
    }
    lapse_gen_add(g, line);
}

static const char *a_key(struct lapse_generator *g, struct lapse_gen_bucket **ret) {
    *ret = lapse_gen_some_bucket(g, false);
    struct lapse_node *object = lapse_tree_text(g->pool, "%s/i%d", (*ret)->name,
                                                (int)(g->idiom_keys++ % IDIOM_KEYS));
    return object != NULL ? object->text : "b/k";
}

/* `term`: NULL: the bucket's. */
static void put(struct lapse_generator *g, struct lapse_gen_bucket *bucket, const char *object,
                const char *term, int64_t span_ns) {
    struct lapse_node *line = next(g, "set", object);
    char text[LAPSE_TIME_TEXT_MAX];
    lapse_gen_say(g, line, "value", "v");
    if (term != NULL && strcmp(term, "expires_at") == 0) {
        lapse_tree_put(g->pool, line, term,
                       lapse_tree_text(g->pool, "now+%s",
                                       lapse_span_print((struct lapse_span){span_ns}, text)));
    } else if (term != NULL) {
        lapse_gen_say_span(g, line, term, span_ns);
    }
    int64_t life_ns = term != NULL ? span_ns : bucket->span_ns;
    lapse_gen_number(bucket);
    if (life_ns > 0) {
        lapse_gen_landmarks_of(g, life_ns, term != NULL && strcmp(term, "idle") == 0);
    }
    lapse_gen_add(g, line);
}

static void look(struct lapse_generator *g, const char *object) {
    lapse_gen_add(g, next(g, lapse_gen_word(g, LAPSE_TRAIT_USE), object));
}

/* What an idiom waits for. */
static int64_t span_of(const struct lapse_generator *g) {
    return g->span_ns < IDIOM_SPAN_MAX ? g->span_ns : IDIOM_SPAN_MAX;
}
