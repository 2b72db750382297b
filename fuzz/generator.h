/* A document being drawn: what its lines have said so far, as far as it guides the next.
 *
 * * The generator keeps a rough notion of the store (which revision a key has, who holds a lease
 * until when), so that versions and tokens are often right and times lie beside ends. It may be
 * wrong, and under faults it is: nothing rests on it. */
#ifndef FUZZ_GENERATOR_H
#define FUZZ_GENERATOR_H

#include "fuzz/generate.h"
#include "lapse/policy.h"
#include "traits.h"
#include "tree.h"

enum {
    LAPSE_GEN_LANDMARKS_MAX = 64,
    LAPSE_GEN_CLIENTS_MAX = 8,
    LAPSE_GEN_BUCKETS_MAX = 3,
    LAPSE_GEN_KEYS = 3,
    LAPSE_GEN_NAMES = 2,
    LAPSE_GEN_REQUESTS_MAX = 4,
    LAPSE_GEN_WORDS_MAX = 24
};

/* Something with an end: a key, a lease or a session. */
struct lapse_gen_thing {
    bool there;
    bool idle;
    int64_t span_ns, end_ns; /* end: INT64_MAX: none */
    int64_t number;          /* revision or token; 0: never written */
    int64_t counted;         /* numbers that it has taken, where each name counts for itself */
    int owner;
};

struct lapse_gen_bucket {
    const char *name;
    bool markers, locks, idle;
    int64_t span_ns; /* of its own term; 0: none */
    int64_t revision;
    struct lapse_gen_thing keys[LAPSE_GEN_KEYS];
};

/* The options that a document has of a trait: words of `word_count` draws. */
struct lapse_gen_words {
    size_t count;
    const char *words[LAPSE_GEN_WORDS_MAX];
};

struct lapse_generator {
    struct lapse_pool *pool;
    struct lapse_choices *choices;
    struct lapse_diversity *diversity;
    struct lapse_node *document, *steps, *buckets, *resources, *actors, *clocks;
    struct lapse_gen_words subjects, faults;
    int64_t now_ns, span_ns, last_ns; /* last: the greatest time of a loop */
    int64_t inside_ns; /* the end of the last fault, in which the next `inside` lines lie */
    size_t inside;
    int64_t landmarks[LAPSE_GEN_LANDMARKS_MAX]; /* rising */
    size_t landmark_count;
    const char *clients[LAPSE_GEN_CLIENTS_MAX];
    int client_count, client; /* the one who called last */
    struct lapse_policies policies;
    bool sqlite, patient; /* patient: nothing can hold an answer back, calls need no timeout */
    struct lapse_gen_bucket of_buckets[LAPSE_GEN_BUCKETS_MAX];
    size_t bucket_count;
    struct lapse_gen_thing leases[LAPSE_GEN_NAMES], sessions[LAPSE_GEN_NAMES];
    int64_t token;
    struct lapse_node *requests[LAPSE_GEN_REQUESTS_MAX];
    size_t request_count;
    int64_t numbered; /* watches, labels, copies, request ids so far */
    const char *watch; /* the last watch; NULL: none */
    int watcher;       /* whose it is */
    bool copied, names_lease;
    int64_t idiom_keys; /* so far */
    bool over;          /* nothing comes after what was drawn last */
    bool endless; /* a loop ends with the run alone */
    bool anywhere; /* lines come in no order: any landmark may be the next */
    bool narrow;   /* of each trait only `known` may be drawn, as bits; 0: not drawn yet */
    uint64_t known[LAPSE_TRAITS_MAX];
};

/* ---- Chance (generate_draw.c). The text lives as long as the pool. */
size_t lapse_gen_pick(struct lapse_generator *g, enum lapse_trait trait);
const char *lapse_gen_word(struct lapse_generator *g, enum lapse_trait trait);
bool lapse_gen_is(struct lapse_generator *g, enum lapse_trait trait, const char *word);
/* A duration among the options. */
int64_t lapse_gen_span(struct lapse_generator *g, enum lapse_trait trait);
bool lapse_gen_has(const struct lapse_gen_words *words, const char *word);

/* ---- Time (generate_time.c). */
void lapse_gen_landmark(struct lapse_generator *g, int64_t at_ns);
/* Moves on to the next line's instant. */
void lapse_gen_advance(struct lapse_generator *g);
/* An instant that a thing's life, of this span from now on, makes worth looking at. */
void lapse_gen_landmarks_of(struct lapse_generator *g, int64_t span_ns, bool idle);
/* The at-th landmark from now on, or a span later where there is none. */
int64_t lapse_gen_ahead(struct lapse_generator *g, size_t at);

/* ---- Lines (generate_line.c). */
/* A line at the next instant, of any client; its map is not added yet. */
struct lapse_node *lapse_gen_call(struct lapse_generator *g, const char *verb, const char *object);
void lapse_gen_add(struct lapse_generator *g, struct lapse_node *line);
void lapse_gen_say(struct lapse_generator *g, struct lapse_node *line, const char *word,
                   const char *text);
void lapse_gen_say_span(struct lapse_generator *g, struct lapse_node *line, const char *word,
                        int64_t ns);
void lapse_gen_say_number(struct lapse_generator *g, struct lapse_node *line, const char *word,
                          int64_t number);
/* What a call may be given besides: a timeout, a fate of its messages. */
void lapse_gen_name_watch(struct lapse_generator *g, struct lapse_node *line);
void lapse_gen_trouble_call(struct lapse_generator *g, struct lapse_node *line);

/* ---- Whose store it is (generate_policy.c). `profile`: NULL: any. */
void lapse_gen_policies(struct lapse_generator *g, const char *profile);
/* Whether each bucket counts its revisions itself; whether each key does, from 0. */
bool lapse_gen_counts_alone(const struct lapse_generator *g);
bool lapse_gen_counts_keys(const struct lapse_generator *g);
/* The token of a new grant, or of an extend where that takes one. */
int64_t lapse_gen_token(struct lapse_generator *g, struct lapse_gen_thing *lease);
bool lapse_gen_extend_counts(const struct lapse_generator *g);

/* ---- Subjects: each adds a line or more. */
void lapse_gen_keys(struct lapse_generator *g);
/* This of some key: "set", "delete"; see the traits of verbs. */
void lapse_gen_key_verb(struct lapse_generator *g, const char *verb);
void lapse_gen_idle(struct lapse_generator *g);
void lapse_gen_dates(struct lapse_generator *g);
void lapse_gen_records(struct lapse_generator *g);
void lapse_gen_watches(struct lapse_generator *g);
void lapse_gen_leases(struct lapse_generator *g);
void lapse_gen_sessions(struct lapse_generator *g);
void lapse_gen_locks(struct lapse_generator *g);
void lapse_gen_resources(struct lapse_generator *g);
void lapse_gen_requests(struct lapse_generator *g);
void lapse_gen_batches(struct lapse_generator *g);
void lapse_gen_buckets(struct lapse_generator *g);
void lapse_gen_edges(struct lapse_generator *g);
void lapse_gen_flood(struct lapse_generator *g);
/* Some lines in a row (generate_idiom.c). */
void lapse_gen_idioms(struct lapse_generator *g);
/* A line of the subject: whichever. */
void lapse_gen_fault(struct lapse_generator *g);
/* Clients with tasks, before the lines. */
void lapse_gen_loops(struct lapse_generator *g);
/* The words of a bucket: declares it. `wish`: "ttl", "idle", "locks" or "any". */
struct lapse_gen_bucket *lapse_gen_bucket(struct lapse_generator *g, const char *name,
                                          const char *wish);
/* Takes its next revision. */
void lapse_gen_number(struct lapse_gen_bucket *bucket);
/* The same for a change of that key, whose revision it is. */
int64_t lapse_gen_revision(const struct lapse_generator *g, struct lapse_gen_bucket *bucket,
                           struct lapse_gen_thing *key);
/* A bucket that fits. */
struct lapse_gen_bucket *lapse_gen_some_bucket(struct lapse_generator *g, bool locks);

#endif
