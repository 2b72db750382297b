/* The judge's own state, shared by the files that make its verdict and its messages. Private. */
#ifndef CONTRACTS_JUDGE_PARTS_H
#define CONTRACTS_JUDGE_PARTS_H

#include "contracts/judge.h"
#include "follow.h"
#include "pattern.h"
#include "scene.h"

enum { LAPSE_RULES_MAX = 128 };

/* A `{count: ..}` line of `expect`, followed from the start. */
struct lapse_judge_count {
    int32_t step;
    struct lapse_pattern_run run;
};

struct lapse_judge {
    const lapse_alloc *alloc;
    const struct lapse_case *the_case;
    const struct lapse_rule *rules;
    size_t rule_count;
    uint8_t kind_rules[LAPSE_HISTORY_KINDS][LAPSE_RULES_MAX]; /* by kind: the rules it concerns */
    size_t kind_rule_counts[LAPSE_HISTORY_KINDS];
    struct lapse_trackers *trackers;
    struct lapse_scene scene;
    struct lapse_slots slots;
    const struct lapse_history_event **events; /* by seq, for labels */
    size_t event_count, events_cap;
    struct lapse_judged *judged; /* by rule */
    bool *sometimes;
    struct lapse_measured *measured;
    struct lapse_slack slacks[LAPSE_SLACKS];
    struct lapse_pattern_run *sometimes_runs;
    struct lapse_measure_run *measure_runs;
    struct lapse_judge_count *counts;
    size_t count_count;
    struct lapse_follow follow; /* counts, then sometimes, then measures */
    bool failed, over;
    struct lapse_verdict verdict;
};

/* An expectation that an event does not meet. */
struct lapse_finding {
    bool unmet;
    const struct lapse_step_check *check;
    struct lapse_place place; /* the narrowest one that asks for it */
    char expected[LAPSE_EXPECT_TEXT_MAX], got[LAPSE_EXPECT_TEXT_MAX];
};

/* Whether the event's step got what it expects. Fills *ret. */
void lapse_judge_check(const struct lapse_judge *judge, const struct lapse_history_event *event,
                       struct lapse_finding *ret);
/* The same at the decision of a call (APPLY, RESOURCE), for an `expect` that was written: a rule
 * that breaks there ends the run before the reply comes. Fills *ret; elsewhere nothing is unmet. */
void lapse_judge_check_decision(const struct lapse_judge *judge,
                                const struct lapse_history_event *event, struct lapse_finding *ret);
/* The step of an event as the judge sees it, or NULL. */
const struct lapse_step_check *lapse_judge_step(const struct lapse_judge *judge, int32_t step);

/* Make the run's error out of a broken rule (with an unmet expectation, if any, as a label), out of
 * an unmet expectation, or out of a listed violation that never came. */
void lapse_judge_say_violation(struct lapse_judge *judge, const struct lapse_history_event *event,
                               const struct lapse_violation *violation,
                               const struct lapse_finding *finding);
void lapse_judge_say_unmet(struct lapse_judge *judge, const struct lapse_history_event *event,
                           const struct lapse_finding *finding);
void lapse_judge_say_missing(struct lapse_judge *judge, size_t listed);
/* Whether a violation of a listed contract has come. */
bool lapse_judge_came(const struct lapse_judge *judge, const char *id);
/* Labels each listed contract that nothing has violated yet: an expectation that is written for the
 * fault that a document shows fails when that fault is not there. */
void lapse_judge_label_missing(struct lapse_judge *judge, struct lapse_diag *diag);
/* The part of say_unmet on UNBOUND, NOT_RUN and WAITING. */
void lapse_judge_say_unsent(struct lapse_judge *judge, const struct lapse_history_event *event,
                            const struct lapse_finding *finding);
/* The run has failed by `event` (-1: by none), and diag says so. */
void lapse_judge_fail(struct lapse_judge *judge, const struct lapse_diag *diag, int64_t event);

/* The bits of enum lapse_use that an event stands for. */
uint32_t lapse_judge_uses(const struct lapse_scene *scene, const struct lapse_history_event *event);

#endif
