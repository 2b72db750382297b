/* What the engine's tests share: a store on a manual clock, an allocator that fails on request and
 * counts what is out, and a journal that keeps rows in memory and fails on request. Not part of any
 * library. */
#ifndef ENGINE_TESTING_H
#define ENGINE_TESTING_H

#include "lapse/lapse.h"

#define S(n) ((int64_t)(n)*LAPSE_NS_PER_S)

/* ---- An allocator. */
struct lapse_testing_alloc {
    lapse_alloc vtable;
    size_t bytes_out; /* asked for and not given back */
    size_t calls;     /* that may fail, since the last reset */
    size_t fail_at;   /* the call that fails; 0: none */
};
void lapse_testing_alloc_init(struct lapse_testing_alloc *alloc);

/* ---- A journal. */
enum { LAPSE_TESTING_ROWS_MAX = 512 };
struct lapse_testing_journal {
    struct lapse_row rows[LAPSE_TESTING_ROWS_MAX], staged[LAPSE_TESTING_ROWS_MAX];
    bool staged_drop[LAPSE_TESTING_ROWS_MAX];
    size_t row_count, staged_count;
    bool open, closed; /* a transaction runs; close was called */
    int64_t commits, rollbacks;
    int calls;   /* of begin, put, drop and commit since the last reset */
    int fail_at; /* the call that fails; 0: none */
    enum lapse_status fail_with;
};
void lapse_testing_journal_init(struct lapse_testing_journal *journal);
void lapse_testing_journal_finish(struct lapse_testing_journal *journal);
lapse_journal lapse_testing_journal_vtable(struct lapse_testing_journal *journal);
/* Fails the test unless the journal holds exactly the durable rows of `store`. */
void lapse_testing_journal_same(const struct lapse_testing_journal *journal,
                                const struct lapse *store);

/* ---- A store. */
struct lapse_testing {
    struct lapse_clock_manual clock;
    struct lapse_testing_alloc alloc;
    struct lapse_options options;
    struct lapse *store;
    struct lapse_result r;
    struct lapse_error err;
};
/* Opens a memory store at wall 1000 s, on a counting allocator. */
void lapse_testing_open(struct lapse_testing *t);
void lapse_testing_open_with(struct lapse_testing *t, struct lapse_testing_journal *journal,
                             size_t watch_events_max);
/* policies NULL: strict. */
void lapse_testing_open_policies(struct lapse_testing *t, struct lapse_testing_journal *journal,
                                 size_t watch_events_max, const struct lapse_policies *policies);
/* Checks, closes, and fails the test if memory is out. */
void lapse_testing_close(struct lapse_testing *t);
/* Fails the test unless every invariant holds. */
void lapse_testing_check(struct lapse_testing *t);
/* Moves the clock so that store time is `ns`. */
void lapse_testing_at(struct lapse_testing *t, int64_t ns);
void lapse_testing_bucket(struct lapse_testing *t, const char *name, unsigned given, int64_t span,
                          int64_t markers);
/* Builds and applies a command by its verb; terms as a bit and its number (0: none). */
enum lapse_status lapse_testing_do(struct lapse_testing *t, enum lapse_verb verb,
                                   const char *bucket, const char *key, const char *value,
                                   unsigned given, int64_t term);
enum lapse_status lapse_testing_lease(struct lapse_testing *t, enum lapse_verb verb,
                                      const char *name, const char *owner, int64_t span);
/* A step with all rows; *ret_due may be NULL. */
void lapse_testing_step(struct lapse_testing *t, struct lapse_due *ret_due);
uint64_t lapse_testing_digest(const struct lapse *store, enum lapse_part part);
bool lapse_testing_is(struct lapse_bytes bytes, const char *text);

/* ---- A story: a fixed list of calls that holds every verb, most answers and all kinds of end. */
size_t lapse_testing_story_length(void);
/* The command of call `i`. */
struct lapse_command lapse_testing_story_command(size_t i);
/* Makes call `i` at its own time: moves the clock, then calls. */
enum lapse_status lapse_testing_story(struct lapse_testing *t, size_t i);
void lapse_testing_story_enter(struct lapse_testing *t, size_t i);
enum lapse_status lapse_testing_story_call(struct lapse_testing *t, size_t i);
/* Carries out up to `most` of the log commands that precede call `i`; how many there were. */
size_t lapse_testing_story_precede(struct lapse_testing *t, size_t i, size_t most);
/* Feeds what a caller can see of an answer, but its times and numbers of command. */
void lapse_testing_answer(struct lapse_digest *digest, const struct lapse_result *result);

#endif
