/* The judge: reads a history event by event and says whether it kept its promises and met what the
 * scenario expects. It works live (the world hands it each event and stops when told) and on a
 * stored history alike. It never looks at the world. */
#ifndef CONTRACTS_JUDGE_H
#define CONTRACTS_JUDGE_H

#include "contracts/expect.h"
#include "contracts/model.h"
#include "contracts/rule.h"
#include "contracts/slack.h"

/* Patterns that one document's `sometimes` may list. */
enum { LAPSE_SOMETIMES_MAX = 64 };

/* What one scenario wants judged; borrowed from the plan. */
struct lapse_case {
    const struct lapse_setup *setup;
    size_t check_count;
    const struct lapse_step_check *checks; /* by step number */
    size_t slot_count;
    const char *const *slot_names;         /* for messages; "t1" */
    const struct lapse_place *slot_places; /* where each is saved */
    size_t violates_count;
    const char *const *violates; /* contract ids that must break */
    const struct lapse_place *violates_places;
    bool promise_strict; /* a break of what the setup's policies give up fails the run too */
    bool tally;          /* nothing ends the run: each rule's breaks are counted, as if it judged
                            alone, and expectations are not looked at */
    size_t sometimes_count;
    const struct lapse_pattern *sometimes;
    size_t measure_count;
    const struct lapse_measure *measures;
    struct lapse_place place; /* the scenario's name */
    /* Of a history that was read from a file: */
    bool rules_only;   /* what the scenario expects is not known; steps have places alone */
    bool no_decisions; /* no store's decision was recorded: only rules that need none judge */
    size_t event_place_count;
    const struct lapse_place *event_places; /* by event: its line */
};

enum lapse_outcome {
    LAPSE_OUTCOME_PASSED = 0,
    LAPSE_OUTCOME_VIOLATED = 1,    /* a promise broke, or an expectation was not met */
    LAPSE_OUTCOME_INCONCLUSIVE = 2 /* history truncated; unmet `sometimes` is the runner's to say */
};

/* A measure's value in this run. */
struct lapse_measured {
    bool known;   /* false: the pattern never came true */
    bool is_span; /* else a plain number */
    int64_t number;
};

/* Breaks of a rule that end no run. */
struct lapse_breaks {
    int64_t times;
    int64_t first; /* the event of the first of them; -1: none came */
};
/* How a rule fared. */
struct lapse_judged {
    int64_t premises;               /* how often its premise was true */
    int64_t violations;             /* listed ones that came */
    struct lapse_breaks unpromised; /* not listed, of what the policies give up */
    struct lapse_breaks tallied;    /* with case->tally: that nothing announced */
};

struct lapse_verdict {
    enum lapse_outcome outcome;
    struct lapse_diag_list diags; /* the error; more than one only for several "did not violate" */
    int64_t event;                /* the event that failed the run; -1 */
    const char *id;               /* the contract charged; NULL: passed */
    bool unmet;                   /* no rule broke: what the scenario expects did not come */
    size_t rule_count;
    const struct lapse_judged *judged; /* by rule */
    uint32_t uses;                     /* of enum lapse_use */
    const bool *sometimes;     /* by case->sometimes: came true */
    const struct lapse_measured *measured;
    const struct lapse_slack *slacks; /* LAPSE_SLACKS of them */
    const struct lapse_trackers *trackers;
};

struct lapse_judge;

enum lapse_status lapse_judge_open(const lapse_alloc *alloc, const struct lapse_case *the_case,
                                   struct lapse_judge **ret, struct lapse_error *err);
void lapse_judge_close(struct lapse_judge *judge);
/* Takes the next event. *ret_stop is set when the run has failed and need not go on (the END event
 * must still be appended and handed in). Returns OK or NOMEM. */
enum lapse_status lapse_judge_event(struct lapse_judge *judge,
                                    const struct lapse_history_event *event, bool *ret_stop);
/* Takes in that the store's rows differ from the model's after the last event: a violation of
 * LIN-01, judged like a rule's. *ret_stop as above. OK or NOMEM. */
enum lapse_status lapse_judge_object(struct lapse_judge *judge,
                                     const struct lapse_model_difference *odd, bool *ret_stop);
/* The model that is replayed beside the store; NULL: there is none for these policies. */
struct lapse_model *lapse_judge_model(struct lapse_judge *judge);
/* The verdict so far; final after END. Valid until close. */
const struct lapse_verdict *lapse_judge_verdict(const struct lapse_judge *judge);

#endif
