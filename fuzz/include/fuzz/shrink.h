/* The shrinker: from a scenario that fails to the smallest one that fails alike.
 *
 * It edits the tree of one document and keeps an edit iff the run still fails with the signature
 * that it had at first. A failure of another kind that an edit uncovers is set apart and never
 * followed. What is left is an ordinary scenario; what depended on chance is written out in it, or
 * pinned by `seed`. Then it says why the scenario fails: whether it needs a fault, at which value
 * of each of its numbers the verdict flips, and whether replays agree. */
#ifndef FUZZ_SHRINK_H
#define FUZZ_SHRINK_H

#include "fuzz/trial.h"

enum {
    LAPSE_SHRINK_TRIES_MAX = 20000, /* where none is asked for */
    LAPSE_SHRINK_OTHERS_MAX = 16,   /* other violations that are kept; more are counted alone */
    LAPSE_SHRINK_REPLAYS = 3
};

/* How large a document is. */
struct lapse_shrink_size {
    size_t events; /* of its run's history */
    size_t steps;  /* lines that act: calls, waits, observers, operator's acts, faults */
    size_t faults; /* of these, with what `clocks`, `chaos` and messages of calls add */
    size_t weight; /* of its tree */
};

/* Called after each edit that was kept. */
typedef void lapse_shrink_progress(void *ctx, const struct lapse_shrink_size *size, size_t tries);

/* Calls run(arg) where its death is that of nobody else. Returns the signal that it died of; 0: it
 * lived. */
typedef int lapse_shrink_apart(void (*run)(void *arg), void *arg);

struct lapse_shrink_options {
    const lapse_alloc *alloc;        /* borrowed */
    struct lapse_arena *arena;       /* borrowed, lent to each run; NULL: each maps its own */
    uint64_t seed;                   /* of all chance in the first run */
    size_t tries_max;                /* 0: LAPSE_SHRINK_TRIES_MAX */
    bool no_model, promise_strict;   /* as in a trial */
    bool as_written;                 /* numbers and names stay: thresholds are then those of the
                                        document that was given */
    lapse_shrink_apart *apart;       /* each document is run there first, and one that dies is
                                        a failure of another kind; NULL: it ends the program */
    lapse_shrink_progress *progress; /* NULL: nobody looks on */
    void *ctx;                       /* for progress */
};

/* The value of one number at which the verdict flips, on one side of what is written: found by
 * steps that double and then halve, so nothing is said of what lies beyond. All other numbers stay
 * as they are. */
struct lapse_shrink_threshold {
    struct lapse_place place; /* in the text, without a file */
    const char *word;         /* what it is the value of: "for" */
    const char *value;        /* as it stands: "40s" */
    const char *fails;        /* the last value that fails */
    const char *passes;       /* the first one, 1 unit further, that passes */
    bool above;               /* it fails down to `fails`; else up to it */
};

/* A failure with another signature that was met on the way. Its id is `lapse` where the run
 * died. */
struct lapse_shrink_other {
    struct lapse_trial_signature signature;
    const char *message; /* what went wrong there */
    const char *text;    /* the document */
};

struct lapse_shrunk {
    bool fails; /* false: nothing failed in the first run, and the rest is empty */
    struct lapse_trial_signature signature;
    const char *message;               /* what goes wrong in the shrunk document */
    const struct lapse_node *document; /* its tree, of the text below */
    struct lapse_emitted text;         /* one document, with its comment line */
    struct lapse_shrink_size before, after;
    size_t tries;
    bool minimal; /* no line, word, fault or actor can be left out: each was tried, but for words
                     that make clients and resources careful where the contract is theirs to
                     keep; false: the tries ran out before */
    bool pinned;  /* chance has a part in it: `seed` is in the document */
    bool loose;   /* chance has a part in it, and no document can say so high a seed: */
    uint64_t seed;
    bool unmet;   /* an expectation is not met, and nobody but its author knows what is right:
                     faults and acts stay as they were, and no threshold is looked for */
    bool promise_strict; /* it was judged so */
    bool shaped;  /* only what was added to a shape was taken away; `minimal` speaks of that */
    bool needs_fault; /* it has faults; those it needs, each by itself: */
    size_t fault_count;
    const char *const *faults; /* "pause: w1" */
    size_t threshold_count;
    const struct lapse_shrink_threshold *thresholds;
    bool stable; /* all replays had one digest: */
    uint64_t digest;
    size_t other_count, other_seen; /* kept, met */
    struct lapse_shrink_other *others;
    struct lapse_pool pool; /* of all that hangs here */
};

/* Shrinks what the plan does under options->seed. OK, also if nothing fails; NOMEM; INVALID: the
 * language has no words for the plan; BUG: lapse failed in the first run (err says how). In each
 * case *ret is filled, and freed with lapse_shrunk_free. */
enum lapse_status lapse_shrink_plan(const struct lapse_plan *plan,
                                    const struct lapse_shrink_options *options,
                                    struct lapse_shrunk *ret, struct lapse_error *err);
/* The same for row `row` of a document; INVALID also where the loader refuses it. */
enum lapse_status lapse_shrink(const struct lapse_node *document, int32_t row,
                               const struct lapse_shrink_options *options,
                               struct lapse_shrunk *ret, struct lapse_error *err);
/* Says why a document fails and leaves it as it is: `before` and `after` are one, `minimal` is
 * false. Returns what lapse_shrink does. */
enum lapse_status lapse_shrink_explain(const struct lapse_node *document,
                                       const struct lapse_shrink_options *options,
                                       struct lapse_shrunk *ret, struct lapse_error *err);
void lapse_shrunk_free(struct lapse_shrunk *shrunk);

#endif
