/* What the parts of the shrinker share: the tree at hand, drafts of it, and one way to try them.
 *
 * A pass makes a draft, edits it in place and asks whether it fails alike; if so the draft is the
 * tree from then on. Texts live as long as the shrinker, the nodes of a tree only until the next
 * one is kept. */
#ifndef FUZZ_SHRINK_PARTS_H
#define FUZZ_SHRINK_PARTS_H

#include "fuzz/shrink.h"
#include "scenarios/span.h"

/* Where a value hangs: in a map or a list. */
struct lapse_shrink_spot {
    struct lapse_node *parent;
    size_t index;
    const char *section; /* the top word that it stands under */
    const char *word;    /* its key, or that of the list that it is in */
};

enum lapse_shrink_unit { LAPSE_SHRINK_SPAN = 1, LAPSE_SHRINK_COUNT, LAPSE_SHRINK_RATE };
enum { LAPSE_SHRINK_NUMBER_MAX = LAPSE_SPAN_TEXT_MAX + 16 };
struct lapse_shrink_number {
    enum lapse_shrink_unit unit;
    int64_t value;
    size_t prefix; /* bytes of its text before the number: `now+` */
    bool sign;     /* a plus is written */
};

/* A set of texts, by digest, that were tried and not kept. */
struct lapse_shrink_seen {
    uint64_t *slots; /* 0: free */
    size_t count, cap;
};

struct lapse_shrinker {
    const struct lapse_shrink_options *options;
    struct lapse_shrunk *ret;
    struct lapse_error *err;
    struct lapse_trial_signature target;
    const char *object;    /* of a line that expects something else: what it names; NULL: all */
    uint64_t about_object; /* what happened to it, where an expectation is to stay right */
    size_t acts;           /* steps that are no calls, of the first run */
    struct lapse_pool texts;
    struct lapse_pool tree_pool, draft_pool;
    struct lapse_node *tree, *draft;
    uint64_t tree_digest; /* of its text */
    struct lapse_shrink_size size;
    struct lapse_list spots; /* of struct lapse_shrink_spot: of the draft */
    struct lapse_list lines; /* of struct lapse_shrink_spot: its lines */
    struct lapse_shrink_seen seen;
    size_t tries, tries_max;
    uint64_t seed;
    uint64_t events_max; /* of each run's queue: a loop may be made endless */
    uint64_t rounds_max; /* of all loops, should nothing break: more, and what is mended is cut */
    bool changed; /* a draft was kept since this was cleared */
    bool spent;   /* no tries are left */
    bool as_is;   /* nothing of the document is changed, its name neither */
    enum lapse_status status; /* NOMEM: nothing more is tried */
};

/* ---- shrink_try.c */

/* Makes a fresh draft of the tree, with its spots. False: no memory, or no tries are left. */
bool lapse_shrink_draft(struct lapse_shrinker *s);
/* Runs the draft. True: it fails as the first run did, and is the tree now. */
bool lapse_shrink_keep(struct lapse_shrinker *s);
/* Runs a document. OK; NOMEM, which s->status keeps from then on: nothing runs any more. */
enum lapse_status lapse_shrink_run(struct lapse_shrinker *s, const struct lapse_node *document,
                                   struct lapse_trial *ret);
/* Runs a document as options say, apart if they do: then one that dies is BROKEN. OK or NOMEM. */
enum lapse_status lapse_shrink_trial(const struct lapse_shrink_options *options,
                                     const struct lapse_node *document,
                                     const struct lapse_trial_options *how,
                                     struct lapse_trial *ret, struct lapse_error *err);
/* How often the loops of a plan fire at most. */
uint64_t lapse_shrink_rounds(const struct lapse_plan *plan);
/* Whether a trial failed as the first run did. */
bool lapse_shrink_alike(const struct lapse_shrinker *s, const struct lapse_trial *trial);
struct lapse_shrink_size lapse_shrink_size_of(const struct lapse_trial *trial,
                                              const struct lapse_node *tree);
/* What happened to the object of the line that failed, as a number: each event in full. */
uint64_t lapse_shrink_object(const struct lapse_shrinker *s, const struct lapse_trial *trial);
/* How many of its steps are neither calls nor observers. */
size_t lapse_shrink_acts(const struct lapse_trial *trial);
/* Puts another tree, whose nodes live in `pool`, in the place of the tree. Takes the pool. */
void lapse_shrink_take(struct lapse_shrinker *s, struct lapse_pool *pool, struct lapse_node *tree);

/* ---- shrink_tree.c: all that is made lives in the draft's pool, texts in `texts`. */

struct lapse_node *lapse_shrink_copy(struct lapse_pool *pool, const struct lapse_node *node);
/* Lists the spots of a tree in the order of its text, its lines among them. False: no memory. */
bool lapse_shrink_list(struct lapse_shrinker *s, struct lapse_node *tree);
struct lapse_shrink_spot *lapse_shrink_spot(const struct lapse_shrinker *s, size_t index);
struct lapse_shrink_spot *lapse_shrink_line(const struct lapse_shrinker *s, size_t index);
struct lapse_node *lapse_shrink_at(const struct lapse_shrink_spot *spot);
/* Makes the draft anew from a trial's text, so that places of its plan find their lines. */
bool lapse_shrink_parse(struct lapse_shrinker *s, const struct lapse_emitted *text);
/* The line of such a draft that a step's check names; whether it stands in a client's task. NULL:
 * none does. */
struct lapse_node *lapse_shrink_line_at(const struct lapse_shrinker *s, struct lapse_place place,
                                        bool *ret_task);
/* Takes `count` items out of a map or a list, from `index` on. */
void lapse_shrink_cut(struct lapse_node *parent, size_t index, size_t count);
/* A text of the draft, or a new one; NULL: no memory (the pool is marked). */
struct lapse_node *lapse_shrink_scalar(struct lapse_shrinker *s, const char *text, size_t len);
bool lapse_shrink_put(struct lapse_shrinker *s, struct lapse_node *map, const char *word,
                      struct lapse_node *value);
bool lapse_shrink_set_text(struct lapse_shrinker *s, struct lapse_node *scalar, const char *text);
/* What a tree costs to read: each text its length, and a long duration more than a short one. */
uint64_t lapse_shrink_cost(const struct lapse_node *node);
/* The number that a scalar is: a duration (also of a date, behind its first word), a count, or a
 * rate in parts per billion. False: it is none of them. */
bool lapse_shrink_number(const struct lapse_node *scalar, struct lapse_shrink_number *ret);
/* Writes it as `like` is written; buf has LAPSE_SHRINK_NUMBER_MAX bytes. */
void lapse_shrink_number_text(const struct lapse_node *like,
                              const struct lapse_shrink_number *number, char *buf);

/* Whether a line is a client's call, by the words of the language. */
bool lapse_shrink_is_call(const struct lapse_node *line);

/* ---- The passes. Each goes on until nothing more of its kind can be kept. */

void lapse_shrink_lines(struct lapse_shrinker *s);  /* shrink_drop.c: lines and items of lists */
void lapse_shrink_words(struct lapse_shrinker *s);  /* and words with their values */
bool lapse_shrink_guarded(const struct lapse_shrinker *s, const char *word);
void lapse_shrink_names(struct lapse_shrinker *s);  /* shrink_name.c: all that names one thing */
void lapse_shrink_rename(struct lapse_shrinker *s); /* plain names */
void lapse_shrink_values(struct lapse_shrinker *s); /* shrink_value.c: numbers and texts */
/* The number at a spot, if it is one that may be changed. */
bool lapse_shrink_number_at(const struct lapse_shrinker *s, size_t at,
                            struct lapse_shrink_number *ret);
void lapse_shrink_faults(struct lapse_shrinker *s); /* shrink_fault.c: all faults at once */
void lapse_shrink_chance(struct lapse_shrinker *s); /* shrink_chance.c: what chance drew */
void lapse_shrink_flat(struct lapse_shrinker *s);   /* shrink_flat.c: loops as single lines */
void lapse_shrink_structure(struct lapse_shrinker *s); /* shrink.c: those that leave things out */

/* ---- shrink_tell.c: why it fails. */
bool lapse_shrink_is_fault(const struct lapse_shrink_spot *spot);
enum lapse_status lapse_shrink_tell(struct lapse_shrinker *s);

#endif
