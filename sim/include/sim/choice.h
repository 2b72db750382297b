/* Choice: the only source of chance in the project.
 *
 * Every draw is choose(n, label, who) -> 0..n-1, where 0 is always the plainest outcome, and every
 * draw is recorded as (label, who, n, value). The makers differ only in where the value comes from:
 * a seed, a recorded list, or such a list in bytes. By seed, the k-th draw of a (label, who) pair
 * is a hash of seed, label, who and k, so a new draw in one place does not shift the others. From a
 * record, the k-th draw of a pair takes the k-th entry of that pair; 0 if it is missing or out of
 * range. Bytes are a recorded list whose entries are all in range, so that whatever a fuzzer writes
 * is a choice. */
#ifndef SIM_CHOICE_H
#define SIM_CHOICE_H

#include "lapse/base.h"

/* X(CONSTANT, value, word). Numbers are never changed: recorded lists name them. */
#define LAPSE_CHOICE_TABLE(X)                                                      \
    X(JITTER, 1, "jitter")                                                         \
    X(CHAOS_KIND, 2, "chaos kind")   /* whether a run has this kind of fault */     \
    X(CHAOS_RATE, 3, "chaos rate")   /* how often */                                \
    X(CHAOS_WHEN, 4, "chaos when")   /* the next fault's instant */                 \
    X(CHAOS_FAULT, 5, "chaos fault") /* which of the run's kinds it is */           \
    X(CHAOS_WHO, 6, "chaos who")                                                   \
    X(CHAOS_SPAN, 7, "chaos span")   /* how long, or how far */                      \
    X(LATENCY, 8, "latency")                                                       \
    X(LOSS, 9, "loss")                                                             \
    X(DUPLICATE, 10, "duplicate")                                                  \
    X(TEAR, 20, "tear")              /* whether a crash keeps this unsynced thing */  \
    X(ROT, 21, "rot")                /* which bit flips */                            \
    X(GENERATE, 30, "generate")      /* what a document is given; who: a trait */     \
    X(MUTATE, 31, "mutate")          /* what of a document is changed, and how */     \
    X(ORDER, 40, "order")            /* who comes first at one instant */

enum lapse_choice_label {
#define LAPSE_CHOICE_ENUM(id, value, word) LAPSE_CHOICE_##id = (value),
    LAPSE_CHOICE_TABLE(LAPSE_CHOICE_ENUM)
#undef LAPSE_CHOICE_ENUM
};

struct lapse_choice {
    enum lapse_choice_label label;
    int32_t who;    /* a plan id: step number */
    uint64_t n;     /* > 0 */
    uint64_t value; /* < n */
};

struct lapse_choices;

/* The seeded maker, and the recorded one (copies `list`). alloc borrowed. OK or NOMEM. */
enum lapse_status lapse_choices_open_seed(const lapse_alloc *alloc, uint64_t seed,
                                          struct lapse_choices **ret);
enum lapse_status lapse_choices_open_list(const lapse_alloc *alloc, const struct lapse_choice *list,
                                          size_t count, struct lapse_choices **ret);
void lapse_choices_close(struct lapse_choices *choices);

/* ---- A recorded list in bytes: LAPSE_CHOICE_BYTES an entry, its label in one, `who` in three and
 * the value in eight, low ones first. A tail that is no whole entry is left out. */
enum { LAPSE_CHOICE_BYTES = 12 };
/* The maker of bytes, which are not kept: a value out of range is taken modulo n. OK or NOMEM. */
enum lapse_status lapse_choices_open_bytes(const lapse_alloc *alloc, struct lapse_bytes bytes,
                                           struct lapse_choices **ret);
/* Writes one entry: `who` must lie in -2^23 .. 2^23 - 1. */
void lapse_choice_encode(const struct lapse_choice *choice,
                         unsigned char ret_bytes[LAPSE_CHOICE_BYTES]);

/* Draws 0..n-1 (n > 0) and records it. When memory for the record runs out it returns 0 and the
 * list is marked broken (lapse_choices_broken). */
uint64_t lapse_choose(struct lapse_choices *choices, uint64_t n, enum lapse_choice_label label,
                      int32_t who);
bool lapse_choices_broken(const struct lapse_choices *choices);

/* All draws so far, in order; and cutting back to the first `count` of them. */
const struct lapse_choice *lapse_choices_list(const struct lapse_choices *choices,
                                              size_t *ret_count);
void lapse_choices_cut(struct lapse_choices *choices, size_t count);

/* The odometer: makes the list of a run that of the next one, by counting up its last draw that has
 * a value left and leaving out what follows, which that run draws anew from 0. Runs of all lists,
 * from the empty one on, are all that chance can do. A draw of more than `wide` outcomes counts
 * its first and its last alone, and *ret_narrowed says so. False: there is no next. */
bool lapse_choices_next(struct lapse_choice *list, size_t *count, uint64_t wide,
                        bool *ret_narrowed);

#endif
