/* The executable model: the plainest meaning of every command that a store takes.
 *
 * A key is the list of what was written under it, newest first; a lease is its last grant; a name
 * of a session is its last opening. A call looks at these, says what it must answer, and writes.
 * Nothing is reaped, nothing is indexed by its end: what has ended is found so by comparing. It
 * shares no code with the engine.
 *
 * Where the contract leaves a choice, the model is told what was chosen and checks that it may be:
 * when the reaper tells an end (lapse_model_emit), how far numbers jump over a start, and what a
 * crash has left of calls that nobody was answered. Of the last it knows nothing (`open`) until an
 * answer tells.
 *
 * It borrows every byte string that it is given, for its own life, as from a history. One store,
 * one model. Not thread-safe. Once memory ran out it answers NOMEM for good. */
#ifndef CONTRACTS_MODEL_H
#define CONTRACTS_MODEL_H

#include "contracts/history.h"

struct lapse_model;

/* Whether the model speaks for a store with these policies: strict ones, and others that differ in
 * a small way (model_policy.c). Of the rest it says nothing, and is not to be asked. */
bool lapse_model_covers(const struct lapse_policies *policies);

/* A model of a fresh store with the buckets of `setup` (borrowed, as is alloc). OK or NOMEM. */
enum lapse_status lapse_model_open(const lapse_alloc *alloc, const struct lapse_setup *setup,
                                   struct lapse_model **ret);
/* NULL is allowed. */
void lapse_model_close(struct lapse_model *model);

/* What a call must be answered. */
struct lapse_model_answer {
    bool open;    /* a crash has left it open, or a fault that the contract allows came: any will do
                     and `answer` is not filled */
    bool partial; /* of the items those of keys that a crash has left open are not told */
    struct lapse_answer answer; /* at and wall are those that were told; no watcher's number */
    int64_t by; /* the call that wrote what it shows, as numbered by lapse_model_apply; -1: none */
};

/* Carries out a command at the instant of `told`, which is what the store answered: of that only
 * the times and the numbers that the store is free to choose are looked at, and, where it answers
 * otherwise than it must or what it must is open, what it has told of its state. `by` numbers the
 * call. *ret borrows from the model until the next call. OK or NOMEM. */
enum lapse_status lapse_model_apply(struct lapse_model *model, const struct lapse_command *command,
                                    const struct lapse_answer *told, int64_t by,
                                    struct lapse_model_answer *ret);

/* ---- Where a store and the model differ: what it is about, what must be, what was told. */
enum { LAPSE_MODEL_TEXT_MAX = 100 };
struct lapse_model_difference {
    char what[LAPSE_MODEL_TEXT_MAX]; /* "revision of codes/c1" */
    char expected[LAPSE_MODEL_TEXT_MAX];
    char got[LAPSE_MODEL_TEXT_MAX];
    int64_t by; /* the call that wrote it; -1 */
    bool of_event; /* of an answer: it is a number that an event of the call tells too */
};

/* Whether an answer is the one that must be; false: *ret is the first field that differs. */
bool lapse_model_agrees(struct lapse_model *model, const struct lapse_command *command,
                        const struct lapse_model_answer *must, const struct lapse_answer *told,
                        struct lapse_model_difference *ret);
/* Takes in an event that the store wrote: in the last call that was applied (`of_call`), or in its
 * housekeeping. Whether it may be. */
bool lapse_model_emit(struct lapse_model *model, const struct lapse_event *event, bool of_call,
                      struct lapse_model_difference *ret);
/* Whether all events of the last call have come. Asked once, before the next call or step. */
bool lapse_model_told_all(struct lapse_model *model, struct lapse_model_difference *ret);

/* ---- What happens to the store beside calls. */
/* Housekeeping read the clock. */
void lapse_model_step(struct lapse_model *model, struct lapse_steady store, struct lapse_wall wall);
/* The node's wall clock, which read `before`, was set back: any reading up to that may have been
 * seen. */
void lapse_model_wall_back(struct lapse_model *model, struct lapse_wall before);
/* A call may have been done, but nobody was told: what it is about is open. */
void lapse_model_maybe(struct lapse_model *model, const struct lapse_command *command);
/* The store was opened again. `lost`: its last commits, or all of them, may be gone. */
void lapse_model_tenure(struct lapse_model *model, struct lapse_steady store,
                        struct lapse_wall wall, bool lost);
/* Another node of the store leads from here on: a tenure that goes on where the last one was. */
void lapse_model_lead(struct lapse_model *model);

/* ---- The live view: all that calls could see now, compared with the rows of a walk.
 * begin, then take for every row, then end. */
void lapse_model_view_begin(struct lapse_model *model);
/* A lapse_row_visit; ctx is the model. OK or NOMEM. */
enum lapse_status lapse_model_view_take(void *ctx, const struct lapse_row *row);
/* Whether the rows show what the model has; false: *ret is the first that differs. What was open
 * is taken over as the rows show it. */
bool lapse_model_view_end(struct lapse_model *model, struct lapse_model_difference *ret);

#endif
