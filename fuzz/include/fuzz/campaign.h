/* A campaign: many documents, drawn or made by changing earlier ones, each run and judged.
 *
 * Runs are numbered from 0 and come in rounds. What a run does hangs on the seed, its number and on
 * what the campaign knew when its round began; after a round its attempts are taken in by rising
 * number. So a campaign is the same however many processes share its rounds, and whoever makes the
 * attempts needs no word with the others. */
#ifndef FUZZ_CAMPAIGN_H
#define FUZZ_CAMPAIGN_H

#include "fuzz/generate.h"
#include "fuzz/reach.h"
#include "fuzz/states.h"
#include "fuzz/trial.h"

enum { LAPSE_CAMPAIGN_ROUND = 256, LAPSE_CAMPAIGN_CORPUS_MAX = 20000 };

struct lapse_campaign_options {
    const lapse_alloc *alloc; /* borrowed */
    uint64_t seed;
    bool promise_strict; /* as in a trial */
    const char *profile; /* of all that is drawn, borrowed; NULL: it is drawn too */
    /* Counted against all that can be reached (NULL: not). Every run then is one of `plan`: of a
     * protocol a walk by its moves, of a scenario another order and other draws. Both borrowed. */
    const struct lapse_reach *against;
    const struct lapse_plan *plan;
};

/* What came of one run. */
struct lapse_attempt {
    uint64_t run;
    int64_t parent; /* the document of the corpus that was changed; -1: drawn anew */
    enum lapse_trial_outcome outcome;
    struct lapse_trial_signature signature;
    uint64_t events;              /* of its history */
    int64_t simulated_ns;
    int64_t slack_ns[LAPSE_SLACKS]; /* -1: nothing came near */
    size_t state_count;
    uint64_t *states; /* new ones, as far as the campaign knew */
    size_t reached_count;
    uint32_t *reached; /* new ones of `against`: numbers of states, and behind them transitions */
    size_t keep, own;  /* of a walk: moves taken over from `parent`, and moves of its own */
    size_t text_bytes;
    char *text; /* the document, if it is worth keeping; NUL-terminated */
    char why[LAPSE_ERROR_MESSAGE_MAX]; /* REFUSED BROKEN */
};

struct lapse_campaign_totals {
    uint64_t runs, drawn, events;
    uint64_t simulated_s;
    uint64_t outcomes[LAPSE_TRIAL_BROKEN + 1];
    uint64_t unmet; /* VIOLATED, but only an expectation was not met */
    int64_t slack_ns[LAPSE_SLACKS];
    uint64_t states_at; /* the run that showed the last new state */
};

struct lapse_campaign;

/* OK; NOMEM; INVALID: the language has no words for `plan` (err). */
enum lapse_status lapse_campaign_open(const struct lapse_campaign_options *options,
                                      struct lapse_campaign **ret, struct lapse_error *err);
void lapse_campaign_close(struct lapse_campaign *campaign);
/* A plan that runs start from: with one, none is drawn anew, and only what happens to its clients
 * is changed, never what they do. What it expects of answers is left out: a client that gets
 * another one stops. `document` (NULL: the plan is written out) is what it was loaded from, whose
 * `vary` is drawn. OK; NOMEM; INVALID: the language has no words for it (err). */
enum lapse_status lapse_campaign_shape(struct lapse_campaign *campaign,
                                       const struct lapse_plan *plan,
                                       const struct lapse_node *document,
                                       struct lapse_error *err);

/* Makes run number `run` of the present round; counts what it draws in `diversity`. `arena` as in a
 * trial. OK or NOMEM; free *ret in both cases. */
enum lapse_status lapse_campaign_attempt(const struct lapse_campaign *campaign, uint64_t run,
                                         struct lapse_arena *arena,
                                         struct lapse_diversity *diversity,
                                         struct lapse_attempt *ret);
/* The document of that run alone, appended to `ret`. OK, NOMEM or INVALID. */
enum lapse_status lapse_campaign_document(const struct lapse_campaign *campaign, uint64_t run,
                                          struct lapse_emitted *ret);
void lapse_attempt_free(const lapse_alloc *alloc, struct lapse_attempt *attempt);
/* Takes an attempt in. OK or NOMEM. */
enum lapse_status lapse_campaign_take(struct lapse_campaign *campaign,
                                      const struct lapse_attempt *attempt);
const struct lapse_campaign_totals *lapse_campaign_totals(const struct lapse_campaign *campaign);
/* How many states it has shown; where it is counted against all: states and transitions. */
size_t lapse_campaign_states(const struct lapse_campaign *campaign);
/* Of those that there are. False: it is not counted against them. */
struct lapse_campaign_share {
    size_t states, states_all, moves, moves_all;
};
bool lapse_campaign_share(const struct lapse_campaign *campaign, struct lapse_campaign_share *ret);
/* Whether a state of `against` was reached. */
bool lapse_campaign_reached(const struct lapse_campaign *campaign, size_t state);
size_t lapse_campaign_corpus(const struct lapse_campaign *campaign);

#endif
