/* Lines about keys: writes with terms, conditions and requests, reads, records, dates, idle use. */
#include "generator.h"

#include <string.h>

static const char *const key_names[LAPSE_GEN_KEYS] = {"k", "m", "p"};

/* A key that a line is about. */
struct spot {
    struct lapse_gen_bucket *bucket;
    struct lapse_gen_thing *key;
    const char *object; /* "b/k" */
};

static struct spot some_key(struct lapse_generator *g, bool locks);
static void write_again(struct lapse_generator *g, const struct lapse_node *line);
static void verb_of(struct lapse_generator *g, struct spot spot, const char *verb);
static void write_key(struct lapse_generator *g, struct spot spot, const char *verb);
static void own_term(struct lapse_generator *g, struct spot spot, struct lapse_node *line,
                     bool whole);
static void date_of(struct lapse_generator *g, struct lapse_node *line, int64_t *ret_span);
static int64_t version(struct lapse_generator *g, struct spot spot);
static void written(struct lapse_generator *g, struct spot spot, int64_t span_ns, bool idle);
static void read_key(struct lapse_generator *g, struct spot spot, const char *verb);
static void read_bucket(struct lapse_generator *g, struct spot spot, const char *verb);
static void remove_key(struct lapse_generator *g, struct spot spot, const char *verb);
static void retime(struct lapse_generator *g, struct spot spot, const char *verb);
static void used(struct lapse_generator *g, struct spot spot);

struct lapse_gen_bucket *lapse_gen_bucket(struct lapse_generator *g, const char *name,
                                          const char *wish) {
    struct lapse_gen_bucket *bucket = &g->of_buckets[g->bucket_count++];
    struct lapse_node *words = lapse_tree_map(g->pool);
    const char *term = strcmp(wish, "idle") == 0 ? "idle" : lapse_gen_word(g, LAPSE_TRAIT_TERM);
    *bucket = (struct lapse_gen_bucket){.name = name, .locks = strcmp(wish, "locks") == 0};
    term = bucket->locks ? "ttl" : term;
    bucket->idle = strcmp(term, "idle") == 0;
    if (strcmp(term, "none") != 0) {
        bucket->span_ns = g->span_ns;
        lapse_gen_say_span(g, words, term, g->span_ns);
    }
    const char *cap = bucket->idle ? lapse_gen_word(g, LAPSE_TRAIT_CAP) : "none";
    if (strcmp(cap, "none") != 0) {
        lapse_gen_say_span(g, words, "cap",
                           strcmp(cap, "2 spans") == 0 ? 2 * g->span_ns
                           : strcmp(cap, "span") == 0  ? g->span_ns
                                                       : g->span_ns + g->span_ns / 2);
    }
    const char *markers = lapse_gen_word(g, LAPSE_TRAIT_MARKERS);
    bucket->markers = strcmp(markers, "none") != 0 && g->policies.value[LAPSE_POLICY_MARKERS] == 0;
    if (bucket->markers) {
        lapse_gen_say(g, words, "markers", markers);
    }
    const char *history = lapse_gen_word(g, LAPSE_TRAIT_HISTORY);
    bool past = lapse_gen_has(&g->subjects, "records") || lapse_gen_has(&g->subjects, "idioms");
    if (past || strcmp(history, "2") == 0) {
        lapse_gen_say(g, words, "history", strcmp(history, "1") == 0 ? "4" : history);
    }
    if (bucket->locks) {
        lapse_gen_say(g, words, "locks", "true");
    }
    const char *first = lapse_gen_word(g, LAPSE_TRAIT_FIRST);
    if (strcmp(first, "1") != 0 && lapse_gen_counts_alone(g)) {
        lapse_gen_say(g, words, "first_revision", first);
        bucket->revision = strcmp(first, "100") == 0 ? 99 : 9223372036854775804;
    }
    lapse_tree_put(g->pool, g->buckets, name, words);
    return bucket;
}

void lapse_gen_number(struct lapse_gen_bucket *bucket) {
    bucket->revision += bucket->revision < INT64_MAX - 1;
}

int64_t lapse_gen_revision(const struct lapse_generator *g, struct lapse_gen_bucket *bucket,
                           struct lapse_gen_thing *key) {
    lapse_gen_number(bucket);
    return lapse_gen_counts_keys(g) ? key->counted++ : bucket->revision;
}

struct lapse_gen_bucket *lapse_gen_some_bucket(struct lapse_generator *g, bool locks) {
    if (locks) {
        return &g->of_buckets[g->bucket_count - 1];
    }
    bool last = lapse_gen_pick(g, LAPSE_TRAIT_BUCKET) > 0 && g->bucket_count > 1 &&
                !g->of_buckets[1].locks;
    return &g->of_buckets[last];
}

void lapse_gen_keys(struct lapse_generator *g) {
    verb_of(g, some_key(g, false), lapse_gen_word(g, LAPSE_TRAIT_KEYS));
}

void lapse_gen_key_verb(struct lapse_generator *g, const char *verb) {
    verb_of(g, some_key(g, false), verb);
}

void lapse_gen_records(struct lapse_generator *g) {
    verb_of(g, some_key(g, false), lapse_gen_word(g, LAPSE_TRAIT_RECORDS));
}

void lapse_gen_locks(struct lapse_generator *g) {
    verb_of(g, some_key(g, true), lapse_gen_word(g, LAPSE_TRAIT_LOCKS));
}

void lapse_gen_idle(struct lapse_generator *g) {
    struct spot spot = some_key(g, false);
    if (!spot.key->there) {
        struct lapse_node *line = lapse_gen_call(g, "set", spot.object);
        lapse_gen_say(g, line, "value", "v");
        if (!spot.bucket->idle) {
            lapse_gen_say_span(g, line, "idle", g->span_ns);
        }
        written(g, spot, g->span_ns, true);
        lapse_gen_add(g, line);
        return;
    }
    verb_of(g, spot, lapse_gen_word(g, LAPSE_TRAIT_IDLES));
}

void lapse_gen_dates(struct lapse_generator *g) {
    struct spot spot = some_key(g, false);
    if (spot.key->there) {
        verb_of(g, spot, lapse_gen_word(g, LAPSE_TRAIT_KEYS));
        return;
    }
    struct lapse_node *line = lapse_gen_call(g, "set", spot.object);
    int64_t span_ns = 0;
    lapse_gen_say(g, line, "value", "v");
    date_of(g, line, &span_ns);
    written(g, spot, span_ns, false);
    lapse_gen_add(g, line);
    if (span_ns == 0) {
        write_again(g, line);
    }
}

/* What has ended with its write is written over before anybody has told of that end. */
static void write_again(struct lapse_generator *g, const struct lapse_node *line) {
    struct lapse_node *again = lapse_node_copy(g->pool, line);
    if (again != NULL && lapse_gen_pick(g, LAPSE_TRAIT_CLIENT) > 0) {
        lapse_tree_drop(again, "expires_at");
        lapse_tree_add(g->pool, g->steps, again);
    }
}

static struct spot some_key(struct lapse_generator *g, bool locks) {
    struct lapse_gen_bucket *bucket = lapse_gen_some_bucket(g, locks);
    size_t at = lapse_gen_pick(g, LAPSE_TRAIT_KEY);
    struct lapse_node *object = lapse_tree_text(g->pool, "%s/%s", bucket->name, key_names[at]);
    return (struct spot){bucket, &bucket->keys[at], object != NULL ? object->text : "b/k"};
}

static void verb_of(struct lapse_generator *g, struct spot spot, const char *verb) {
    static const struct {
        const char *words;
        void (*add)(struct lapse_generator *g, struct spot spot, const char *verb);
    } kinds[] = {
        {" set create update write ", write_key}, {" get entry has peek rev history ", read_key},
        {" list all count rows page watch ", read_bucket}, {" delete purge ", remove_key},
        {" expire persist ", retime},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *found = strstr(kinds[i].words, verb);
        if (found != NULL && found[-1] == ' ' && found[strlen(verb)] == ' ') {
            kinds[i].add(g, spot, verb);
        }
    }
}

/* In a bucket of locks no write goes without a condition: a plain one is a theft. */
static void write_key(struct lapse_generator *g, struct spot spot, const char *verb) {
    struct lapse_node *line = lapse_gen_call(g, strcmp(verb, "write") == 0 ? "set" : verb,
                                             spot.object);
    bool create = strcmp(verb, "create") == 0;
    lapse_gen_say(g, line, "value", lapse_gen_word(g, LAPSE_TRAIT_VALUE));
    int64_t number = create ? -1 : version(g, spot);
    if (strcmp(verb, "update") == 0 || (spot.bucket->locks && !create)) {
        number = number >= 0 ? number : spot.key->number > 0 ? spot.key->number : 1;
    }
    if (number >= 0) {
        lapse_gen_say_number(g, line, "if_version", number);
    }
    bool done = create ? !spot.key->there
                       : number < 0 || (spot.key->there && spot.key->number == number);
    if (done) {
        written(g, spot, spot.bucket->span_ns, spot.bucket->idle);
    }
    own_term(g, spot, line, true);
    lapse_gen_add(g, line);
}

/* `whole`: of a write, which may also keep the end that stands. */
static void own_term(struct lapse_generator *g, struct spot spot, struct lapse_node *line,
                     bool whole) {
    const char *own = lapse_gen_word(g, LAPSE_TRAIT_OWN);
    int64_t span_ns = g->span_ns;
    bool idle = strncmp(own, "idle", 4) == 0;
    if (strcmp(own, "ttl") == 0 || idle) {
        span_ns = lapse_gen_span(g, LAPSE_TRAIT_SPAN);
        lapse_gen_say_span(g, line, idle ? "idle" : "ttl", span_ns);
    } else if (strcmp(own, "date") == 0) {
        date_of(g, line, &span_ns);
    } else if (strcmp(own, "keep") == 0 && whole && lapse_node_get(line, "set") != NULL) {
        lapse_gen_say(g, line, "term", "keep");
        return;
    } else if (whole) {
        return;
    } else {
        lapse_gen_say_span(g, line, "ttl", span_ns);
    }
    if (strcmp(own, "idle cap") == 0) {
        lapse_gen_say_span(g, line, "cap", span_ns + span_ns / 2);
    }
    if (spot.key->there) {
        spot.key->span_ns = span_ns;
        spot.key->idle = idle;
        spot.key->end_ns = g->now_ns + span_ns;
        lapse_gen_landmarks_of(g, span_ns, idle);
    }
}

static void date_of(struct lapse_generator *g, struct lapse_node *line, int64_t *ret_span) {
    const char *kind = lapse_gen_word(g, LAPSE_TRAIT_DATE);
    char text[LAPSE_TIME_TEXT_MAX];
    *ret_span = g->span_ns;
    const char *from = "now+";
    int64_t ns = g->span_ns;
    if (strcmp(kind, "epoch+") == 0 || strcmp(kind, "clock") == 0) {
        from = "epoch+";
        ns = g->now_ns + g->span_ns;
    } else if (strncmp(kind, "past", 4) == 0) {
        from = "now-";
        ns = strcmp(kind, "past") == 0 ? LAPSE_NS_PER_S : 1;
        *ret_span = 0;
    }
    lapse_tree_put(g->pool, line, "expires_at",
                   lapse_tree_text(g->pool, "%s%s", from,
                                   lapse_span_print((struct lapse_span){ns}, text)));
}

/* -1: none. */
static int64_t version(struct lapse_generator *g, struct spot spot) {
    const char *which = lapse_gen_word(g, LAPSE_TRAIT_VERSION);
    int64_t number = spot.key->number, first = lapse_gen_counts_keys(g) ? 0 : 1;
    if (strcmp(which, "none") == 0) {
        return -1;
    }
    if (strcmp(which, "old") == 0) {
        return number > first ? number - 1 : first;
    }
    if (strcmp(which, "next") == 0) {
        return number < INT64_MAX ? number + 1 : number;
    }
    return strcmp(which, "far") == 0 ? 1000 : number > first ? number : first;
}

static void written(struct lapse_generator *g, struct spot spot, int64_t span_ns, bool idle) {
    int64_t number = lapse_gen_revision(g, spot.bucket, spot.key);
    *spot.key = (struct lapse_gen_thing){.there = true,
                                         .idle = idle,
                                         .span_ns = span_ns,
                                         .end_ns = span_ns > 0 ? g->now_ns + span_ns : INT64_MAX,
                                         .number = number,
                                         .counted = spot.key->counted,
                                         .owner = g->client};
    if (span_ns > 0) {
        lapse_gen_landmarks_of(g, span_ns, idle);
    }
}

static void read_key(struct lapse_generator *g, struct spot spot, const char *verb) {
    bool peek = strcmp(verb, "peek") == 0, rev = strcmp(verb, "rev") == 0;
    struct lapse_node *line = lapse_gen_call(g, peek || rev ? "entry" : verb, spot.object);
    if (peek) {
        lapse_gen_say(g, line, "peek", "true");
    }
    if (rev) {
        int64_t number = version(g, spot);
        lapse_gen_say_number(g, line, "rev", number >= 0 ? number : 1);
    }
    if (!peek && !rev && strcmp(verb, "history") != 0) {
        used(g, spot);
    }
    lapse_gen_add(g, line);
}

static void used(struct lapse_generator *g, struct spot spot) {
    if (spot.key->there && spot.key->idle) {
        spot.key->end_ns = g->now_ns + spot.key->span_ns;
        lapse_gen_landmarks_of(g, spot.key->span_ns, true);
    }
}

static void read_bucket(struct lapse_generator *g, struct spot spot, const char *verb) {
    bool page = strcmp(verb, "page") == 0;
    struct lapse_node *line = lapse_gen_call(g, page ? "list" : verb, spot.bucket->name);
    if (page) {
        lapse_gen_say(g, line, "limit", "1");
    }
    if (strcmp(verb, "watch") == 0) {
        lapse_gen_name_watch(g, line);
    }
    if (strcmp(verb, "rows") == 0) {
        struct lapse_node *least = lapse_tree_map(g->pool);
        lapse_gen_say(g, least, "ge", "0");
        lapse_tree_drop(line, "by");
        lapse_tree_put(g->pool, line, "is", least);
    }
    lapse_gen_add(g, line);
}

static void remove_key(struct lapse_generator *g, struct spot spot, const char *verb) {
    struct lapse_node *line = lapse_gen_call(g, verb, spot.object);
    int64_t number = version(g, spot);
    number = number < 0 && spot.bucket->locks ? spot.key->number + 1 : number;
    if (number >= 0) {
        lapse_gen_say_number(g, line, "if_version", number);
    }
    if (spot.key->there && (number < 0 || number == spot.key->number)) {
        (void)lapse_gen_revision(g, spot.bucket, spot.key);
        spot.key->there = false;
    }
    lapse_gen_add(g, line);
}

static void retime(struct lapse_generator *g, struct spot spot, const char *verb) {
    struct lapse_node *line = lapse_gen_call(g, verb, spot.object);
    int64_t number = version(g, spot);
    number = number < 0 && spot.bucket->locks ? spot.key->number + 1 : number;
    if (number >= 0) {
        lapse_gen_say_number(g, line, "if_version", number);
    }
    bool done = spot.key->there && (number < 0 || number == spot.key->number);
    if (strcmp(verb, "expire") == 0) {
        own_term(g, done ? spot : (struct spot){spot.bucket, &(struct lapse_gen_thing){0}, NULL},
                 line, false);
    } else if (done) {
        spot.key->end_ns = INT64_MAX;
        spot.key->idle = false;
    }
    lapse_gen_add(g, line);
}
