/* All abstract states and transitions that there are: what a campaign's are counted against.
 *
 * `lapse explore --states` collects them while it tries everything, and writes them down only if it
 * has. A file of them is text, in lines:
 *
 *   lapse-states 1 protocol 0123456789abcdef   (or: scenario; the digest of what was explored)
 *   states 1204 transitions 5113
 *   s 00f3a2... the words of a state           (the states, by number from 0)
 *   t 0 1                                      (the transitions, between states of other numbers)
 *   end 0123456789abcdef                       (the digest of all bytes before this line)
 *
 * Both sides have their states from the same function: for a protocol lapse_explore_view, for a
 * scenario lapse_states_trail. */
#ifndef FUZZ_REACH_H
#define FUZZ_REACH_H

#include "contracts/history.h"
#include "scenarios/emit.h"
#include "scenarios/pool.h"

enum {
    LAPSE_REACH_STATES_MAX = 1 << 20,
    LAPSE_REACH_MOVES_MAX = 1 << 24,
    LAPSE_REACH_BYTES_MAX = 512 << 20
};

struct lapse_reach_table {
    uint64_t *keys;   /* in the order of adding */
    uint32_t *places; /* open addressing: 1 + place; 0: free */
    size_t count, cap, place_cap;
};
struct lapse_reach {
    const lapse_alloc *alloc;
    bool protocol;
    uint64_t digest; /* of what was explored */
    struct lapse_reach_table states;
    struct lapse_reach_table moves; /* number of a state, then that of another */
    struct lapse_list words;        /* of size_t: where each state's begin in `text` */
    char *text;                     /* NUL after each */
    size_t text_bytes, text_cap;
};

/* The digest of a plan as it is written out, but for its name. OK, NOMEM, or INVALID: the language
 * has no words for it (err). */
enum lapse_status lapse_reach_digest(const lapse_alloc *alloc, const struct lapse_plan *plan,
                                     uint64_t *ret, struct lapse_error *err);

void lapse_reach_init(struct lapse_reach *reach, const lapse_alloc *alloc, bool protocol,
                      uint64_t digest);
void lapse_reach_free(struct lapse_reach *reach);
/* Adds a state, or finds it: its number. A new one has to be given its words next. OK, NOMEM, or
 * LIMIT. */
enum lapse_status lapse_reach_state(struct lapse_reach *reach, uint64_t state, uint32_t *ret,
                                    bool *ret_new);
enum lapse_status lapse_reach_words(struct lapse_reach *reach, const char *words, size_t bytes);
/* Adds a transition between two numbers; none where they are the same. OK, NOMEM, or LIMIT. */
enum lapse_status lapse_reach_move(struct lapse_reach *reach, uint32_t from, uint32_t to);
/* The number of a state or of a transition; -1: it is not there. */
int64_t lapse_reach_find_state(const struct lapse_reach *reach, uint64_t state);
int64_t lapse_reach_find_move(const struct lapse_reach *reach, uint32_t from, uint32_t to);
const char *lapse_reach_tell(const struct lapse_reach *reach, size_t state);

/* Appends the file's text. OK or NOMEM. */
enum lapse_status lapse_reach_write(const struct lapse_reach *reach, struct lapse_emitted *ret);
/* Reads it. OK; NOMEM; VERSION: of another version; INVALID: it is damaged, or none (err says
 * where). Free *ret with lapse_reach_free, after OK only. */
enum lapse_status lapse_reach_read(const lapse_alloc *alloc, const char *text, size_t bytes,
                                   struct lapse_reach *ret, struct lapse_error *err);

/* ---- The states of one run, in their order. `seen` is called with each. */
struct lapse_reach_seer {
    const struct lapse_plan *plan;
    void (*seen)(struct lapse_reach_seer *seer, uint64_t state, const void *moment);
};
/* OK; INVALID: the history is none of the protocol's (err). */
enum lapse_status lapse_reach_look(struct lapse_reach_seer *seer,
                                   const struct lapse_history *history, struct lapse_error *err);
/* A state in words, by pieces; of a scenario only from `seen`, with its moment. */
void lapse_reach_say(const struct lapse_plan *plan, uint64_t state, const void *moment,
                     void (*put)(void *ctx, const char *text), void *ctx);

/* ---- Collecting a set. */
struct lapse_reach_builder {
    struct lapse_reach_seer seer; /* first */
    struct lapse_reach reach;
    int64_t from; /* of a run: the number of its last state; -1: none yet */
    enum lapse_status status; /* OK, NOMEM, LIMIT: too many; then nothing more is taken in */
    struct lapse_emitted words;
};
/* An empty set of the plan's (borrowed). OK; NOMEM; INVALID: the language has no words for it,
 * or a protocol's grain is too short or too long to be walked by. */
enum lapse_status lapse_reach_begin(struct lapse_reach_builder *builder, const lapse_alloc *alloc,
                                    const struct lapse_plan *plan, struct lapse_error *err);
void lapse_reach_finish(struct lapse_reach_builder *builder);
/* One move of a protocol, as lapse_explore tells it (ctx: the builder); all states of a run. */
void lapse_reach_take_move(void *ctx, uint64_t from, uint64_t to);
void lapse_reach_take_run(struct lapse_reach_builder *builder,
                          const struct lapse_history *history);

#endif
