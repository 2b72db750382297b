/* A trial: one document, written, loaded, run under one seed and judged.
 *
 * Generator, campaign and shrinker work on documents as trees and learn all that they know from
 * trials, so that whatever they find is a scenario from the start. A document that the loader
 * refuses is an outcome like any other: an edit that makes no sense is not tried further. */
#ifndef FUZZ_TRIAL_H
#define FUZZ_TRIAL_H

#include "scenarios/load.h"
#include "scenarios/yaml.h"
#include "sim/world.h"

enum lapse_trial_outcome {
    LAPSE_TRIAL_PASSED = 0,
    LAPSE_TRIAL_VIOLATED,     /* a contract broke, or an expectation was not met */
    LAPSE_TRIAL_INCONCLUSIVE, /* the run was cut at a bound */
    LAPSE_TRIAL_REFUSED,      /* the loader found mistakes: nothing ran */
    LAPSE_TRIAL_BROKEN        /* lapse itself failed: `err` says how */
};

/* What a failure is known by while its document changes: the contract that was charged and the kind
 * of event that broke it. Two failures with one signature count as the same fault. */
struct lapse_trial_signature {
    const char *id;               /* of the contract charged; static. NULL: nothing failed */
    enum lapse_history_kind kind; /* of the event that failed; 0: none did, something is missing */
    int verb;                     /* of its call; 0: it has none */
    enum lapse_status status;     /* of its answer, where it has one */
    bool unmet;                   /* no rule broke: what the document expects did not come */
};

struct lapse_trial_options {
    const lapse_alloc *alloc;  /* borrowed */
    struct lapse_arena *arena; /* borrowed, lent to each run; NULL: each maps its own */
    uint64_t seed;
    uint64_t events_max;       /* queue events after which the run is cut; 0: the world's bound */
    int32_t row;               /* which of the document's plans runs, from 0 */
    bool promise_strict;       /* a break of what the profile does not promise fails it too */
    bool orders;               /* the seed draws who comes first at one instant, too */
    bool no_model;             /* rows are not compared with the model's after every call */
};

struct lapse_trial {
    enum lapse_trial_outcome outcome;
    struct lapse_trial_signature signature; /* VIOLATED */
    struct lapse_error err;                 /* REFUSED, BROKEN */
    int death;                              /* BROKEN: the signal, if a process was made for it */
    struct lapse_emitted text;              /* the document as it was loaded */
    struct lapse_file file;
    const struct lapse_plan *plan;          /* NULL: REFUSED */
    struct lapse_run run;                   /* its history and judge; empty unless it ran */
    size_t plan_count;
};

/* Runs one. Returns OK whatever the outcome is, or NOMEM. In both cases *ret is filled, and freed
 * with lapse_trial_free. */
enum lapse_status lapse_trial_run(const struct lapse_node *document,
                                  const struct lapse_trial_options *options,
                                  struct lapse_trial *ret, struct lapse_error *err);
void lapse_trial_free(struct lapse_trial *trial);

/* Whether two failures have one signature. */
bool lapse_trial_same(const struct lapse_trial_signature *a,
                      const struct lapse_trial_signature *b);

#endif
