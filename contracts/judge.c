/* The judge: for each event first the rules, then the expectation of its step, then what remembers
 * it. One error ends a run; what is listed as bound to break is counted and the run goes on. */
#include "judge_parts.h"

#include "contracts/promise.h"
#include "contracts/tracker.h"

#include "rules.h"

#include <string.h>

static void sort_rules(struct lapse_judge *judge);
static bool make_arrays(struct lapse_judge *judge);
static enum lapse_status start_runs(struct lapse_judge *judge);
static enum lapse_status start_measure(struct lapse_judge *judge, size_t at, size_t follower);
static bool remember(struct lapse_judge *judge, const struct lapse_history_event *event);
static bool run_rules(struct lapse_judge *judge, const struct lapse_history_event *event,
                      struct lapse_violation *ret);
static bool charge(struct lapse_judge *judge, size_t rule, int64_t event);
static void add_break(struct lapse_breaks *breaks, int64_t event);
static bool is_judged(const struct lapse_judge *judge, const char *id);
static bool is_listed(const struct lapse_case *the_case, const char *id);
static enum lapse_status follow(struct lapse_judge *judge, const struct lapse_history_event *event);
static void feed(struct lapse_judge *judge, size_t follower, const struct lapse_fact *fact,
                 const struct lapse_history_event *event);
static void finish(struct lapse_judge *judge, const struct lapse_history_event *event);

enum lapse_status lapse_judge_open(const lapse_alloc *alloc, const struct lapse_case *the_case,
                                   struct lapse_judge **ret, struct lapse_error *err) {
    struct lapse_judge *judge = lapse_alloc_zero(alloc, sizeof(*judge));
    if (judge == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for the judge");
    }
    judge->alloc = alloc;
    judge->the_case = the_case;
    judge->rules = lapse_rule_table(&judge->rule_count);
    sort_rules(judge);
    lapse_scene_init(&judge->scene, alloc);
    lapse_follow_init(&judge->follow, alloc);
    lapse_diag_list_init(&judge->verdict.diags, alloc);
    if (!make_arrays(judge) ||
        lapse_slots_init(&judge->slots, alloc, the_case->slot_count) != LAPSE_OK ||
        lapse_trackers_open(alloc, &judge->trackers, err) != LAPSE_OK ||
        start_runs(judge) != LAPSE_OK) {
        lapse_judge_close(judge);
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for the judge");
    }
    judge->verdict.event = -1;
    judge->verdict.rule_count = judge->rule_count;
    judge->verdict.judged = judge->judged;
    judge->verdict.sometimes = judge->sometimes;
    judge->verdict.measured = judge->measured;
    lapse_slack_init(judge->slacks);
    judge->verdict.slacks = judge->slacks;
    judge->verdict.trackers = judge->trackers;
    *ret = judge;
    return LAPSE_OK;
}

void lapse_judge_close(struct lapse_judge *judge) {
    if (judge == NULL) {
        return;
    }
    const lapse_alloc *alloc = judge->alloc;
    const struct lapse_case *the_case = judge->the_case;
    size_t rules = judge->rule_count + 1;
    size_t wishes = the_case->sometimes_count + 1;
    size_t measures = the_case->measure_count + 1;
    lapse_trackers_close(judge->trackers);
    lapse_scene_free(&judge->scene);
    lapse_follow_free(&judge->follow);
    lapse_slots_free(&judge->slots);
    lapse_diag_list_free(&judge->verdict.diags);
    lapse_alloc_free(alloc, judge->events, judge->events_cap * sizeof(*judge->events));
    lapse_alloc_free(alloc, judge->judged, rules * sizeof(*judge->judged));
    lapse_alloc_free(alloc, judge->sometimes, wishes * sizeof(*judge->sometimes));
    lapse_alloc_free(alloc, judge->sometimes_runs, wishes * sizeof(*judge->sometimes_runs));
    lapse_alloc_free(alloc, judge->measured, measures * sizeof(*judge->measured));
    lapse_alloc_free(alloc, judge->measure_runs, measures * sizeof(*judge->measure_runs));
    lapse_alloc_free(alloc, judge->counts, (judge->count_count + 1) * sizeof(*judge->counts));
    lapse_alloc_free(alloc, judge, sizeof(*judge));
}

enum lapse_status lapse_judge_event(struct lapse_judge *judge,
                                    const struct lapse_history_event *event, bool *ret_stop) {
    *ret_stop = judge->failed || judge->over;
    if (judge->over) {
        return LAPSE_OK;
    }
    if (!remember(judge, event)) {
        return LAPSE_NOMEM;
    }
    struct lapse_violation violation = {0};
    enum lapse_status status = lapse_trackers_look(judge->trackers, event);
    bool broken = status == LAPSE_OK && !judge->failed && run_rules(judge, event, &violation);
    status = status == LAPSE_OK ? follow(judge, event) : status;
    if (status != LAPSE_OK) {
        return status;
    }
    struct lapse_finding finding = {0};
    if (!judge->failed && !judge->the_case->tally) {
        lapse_judge_check(judge, event, &finding);
    }
    if (broken && !finding.unmet) {
        lapse_judge_check_decision(judge, event, &finding);
    }
    /* Before anything is said: the state line shows what the event has left behind. */
    status = lapse_trackers_absorb(judge->trackers, event);
    if (broken) {
        lapse_judge_say_violation(judge, event, &violation, &finding);
    } else if (finding.unmet) {
        lapse_judge_say_unmet(judge, event, &finding);
    }
    bool saves = event->kind == LAPSE_HISTORY_REPLY && event->u.reply.save_slot >= 0 &&
                 !judge->the_case->rules_only;
    if (status == LAPSE_OK && saves) {
        status = lapse_slots_bind(&judge->slots, event->u.reply.save_slot, event->u.reply.verb,
                                  &event->u.reply.answer);
    }
    finish(judge, event);
    *ret_stop = judge->failed || judge->over;
    return judge->verdict.diags.failed ? LAPSE_NOMEM : status;
}

enum lapse_status lapse_judge_object(struct lapse_judge *judge,
                                     const struct lapse_model_difference *odd, bool *ret_stop) {
    struct lapse_violation violation = {.id = "LIN-01"};
    size_t rule = 0;
    LAPSE_ASSERT(judge->event_count > 0);
    const struct lapse_history_event *event = judge->events[judge->event_count - 1];
    while (rule < judge->rule_count && strcmp(judge->rules[rule].id, violation.id) != 0) {
        rule++;
    }
    if (!judge->failed && !judge->over && is_judged(judge, violation.id) &&
        charge(judge, rule, event->seq)) {
        const struct lapse_finding nothing = {0};
        (void)lapse_violation_say(&violation, "the store's rows have %s as %s, the model's as %s",
                                  odd->what, odd->got, odd->expected);
        lapse_violation_label(&violation, event, "got %s, expected %s", odd->got, odd->expected);
        lapse_judge_say_violation(judge, event, &violation, &nothing);
    }
    *ret_stop = judge->failed || judge->over;
    return judge->verdict.diags.failed ? LAPSE_NOMEM : LAPSE_OK;
}

struct lapse_model *lapse_judge_model(struct lapse_judge *judge) {
    return judge->trackers->lin->model;
}

const struct lapse_verdict *lapse_judge_verdict(const struct lapse_judge *judge) {
    return &judge->verdict;
}

const struct lapse_step_check *lapse_judge_step(const struct lapse_judge *judge, int32_t step) {
    bool known = step >= 0 && (size_t)step < judge->the_case->check_count;
    return known ? &judge->the_case->checks[step] : NULL;
}

bool lapse_judge_came(const struct lapse_judge *judge, const char *id) {
    for (size_t i = 0; i < judge->rule_count; i++) {
        if (judge->judged[i].violations > 0 && strcmp(judge->rules[i].id, id) == 0) {
            return true;
        }
    }
    return false;
}

/* Most events concern few rules: each kind has the list of its own. */
static void sort_rules(struct lapse_judge *judge) {
    LAPSE_ASSERT(judge->rule_count <= LAPSE_RULES_MAX);
    for (size_t kind = 0; kind < LAPSE_HISTORY_KINDS; kind++) {
        for (size_t i = 0; i < judge->rule_count; i++) {
            if ((judge->rules[i].kinds & LAPSE_RULE_KIND(kind)) != 0) {
                judge->kind_rules[kind][judge->kind_rule_counts[kind]++] = (uint8_t)i;
            }
        }
    }
}

static bool make_arrays(struct lapse_judge *judge) {
    const lapse_alloc *alloc = judge->alloc;
    const struct lapse_case *the_case = judge->the_case;
    size_t rules = judge->rule_count + 1;
    size_t wishes = the_case->sometimes_count + 1;
    size_t measures = the_case->measure_count + 1;
    for (size_t i = 0; i < the_case->check_count; i++) {
        judge->count_count += the_case->checks[i].count != NULL ? 1 : 0;
    }
    judge->judged = lapse_alloc_zero(alloc, rules * sizeof(*judge->judged));
    for (size_t i = 0; judge->judged != NULL && i < rules; i++) {
        judge->judged[i].unpromised.first = judge->judged[i].tallied.first = -1;
    }
    judge->sometimes = lapse_alloc_zero(alloc, wishes * sizeof(*judge->sometimes));
    judge->sometimes_runs = lapse_alloc_zero(alloc, wishes * sizeof(*judge->sometimes_runs));
    judge->measured = lapse_alloc_zero(alloc, measures * sizeof(*judge->measured));
    judge->measure_runs = lapse_alloc_zero(alloc, measures * sizeof(*judge->measure_runs));
    judge->counts = lapse_alloc_zero(alloc, (judge->count_count + 1) * sizeof(*judge->counts));
    return judge->judged != NULL && judge->sometimes != NULL && judge->sometimes_runs != NULL &&
           judge->measured != NULL && judge->measure_runs != NULL && judge->counts != NULL;
}

static enum lapse_status start_runs(struct lapse_judge *judge) {
    const struct lapse_case *the_case = judge->the_case;
    enum lapse_status status = LAPSE_OK;
    size_t follower = 0;
    for (size_t i = 0; status == LAPSE_OK && i < the_case->check_count; i++) {
        const struct lapse_pattern *count = the_case->checks[i].count;
        if (count != NULL) {
            judge->counts[follower].step = (int32_t)i;
            lapse_pattern_start(&judge->counts[follower].run, count);
            status = lapse_follow_add(&judge->follow, follower, count);
            follower++;
        }
    }
    for (size_t i = 0; status == LAPSE_OK && i < the_case->sometimes_count; i++) {
        lapse_pattern_start(&judge->sometimes_runs[i], &the_case->sometimes[i]);
        status = lapse_follow_add(&judge->follow, follower++, &the_case->sometimes[i]);
    }
    for (size_t i = 0; status == LAPSE_OK && i < the_case->measure_count; i++) {
        status = start_measure(judge, i, follower++);
    }
    return status == LAPSE_OK ? lapse_follow_ready(&judge->follow, follower) : status;
}

static enum lapse_status start_measure(struct lapse_judge *judge, size_t at, size_t follower) {
    struct lapse_measure_run *run = &judge->measure_runs[at];
    lapse_measure_start(run, &judge->the_case->measures[at]);
    enum lapse_status status = lapse_follow_add(&judge->follow, follower, run->from.pattern);
    if (status == LAPSE_OK && run->to.pattern != run->from.pattern) {
        status = lapse_follow_add(&judge->follow, follower, run->to.pattern);
    }
    return status;
}

/* Events come in the order of their numbers, from 0. */
static bool remember(struct lapse_judge *judge, const struct lapse_history_event *event) {
    LAPSE_ASSERT(event->seq == (int64_t)judge->event_count);
    if (!lapse_alloc_grow(judge->alloc, (void **)&judge->events, &judge->events_cap,
                          judge->event_count + 1, sizeof(*judge->events))) {
        return false;
    }
    judge->events[judge->event_count++] = event;
    return true;
}

/* Every rule sees the event, so that premises are counted in full; the first of the table that does
 * not hold is charged. True: it is not one that the scenario lists. */
static bool run_rules(struct lapse_judge *judge, const struct lapse_history_event *event,
                      struct lapse_violation *ret) {
    bool charged = false;
    bool broken = false;
    lapse_slack_take(judge->slacks, judge->trackers, event);
    for (size_t k = 0; k < judge->kind_rule_counts[event->kind]; k++) {
        size_t i = judge->kind_rules[event->kind][k];
        const struct lapse_rule *rule = &judge->rules[i];
        if (!is_judged(judge, rule->id) || !rule->premise(judge->trackers, event)) {
            continue;
        }
        judge->judged[i].premises++;
        struct lapse_violation violation = {0};
        if (rule->holds(judge->trackers, event, &violation) || charged) {
            continue;
        }
        charged = !judge->the_case->tally;
        if (charge(judge, i, event->seq)) {
            broken = true;
            *ret = violation;
            ret->id = rule->id;
        }
    }
    return broken;
}

/* Whether the break of a rule fails the run; if not, it is counted. */
static bool charge(struct lapse_judge *judge, size_t rule, int64_t event) {
    const char *id = judge->rules[rule].id;
    if (is_listed(judge->the_case, id)) {
        judge->judged[rule].violations++;
        return false;
    }
    if (!judge->the_case->promise_strict && !lapse_promised(judge->scene.setup, id)) {
        add_break(&judge->judged[rule].unpromised, event);
        return false;
    }
    if (judge->the_case->tally) {
        add_break(&judge->judged[rule].tallied, event);
    }
    return !judge->the_case->tally;
}

static void add_break(struct lapse_breaks *breaks, int64_t event) {
    breaks->first = breaks->times++ == 0 ? event : breaks->first;
}

/* Outside the contract a few rules are left, and those that are listed as bound to break. */
static bool is_judged(const struct lapse_judge *judge, const char *id) {
    if (judge->the_case->no_decisions && !lapse_rule_needs_no_decision(id)) {
        return false;
    }
    return lapse_outside_judges(&judge->trackers->outside, id) || is_listed(judge->the_case, id);
}

static bool is_listed(const struct lapse_case *the_case, const char *id) {
    for (size_t i = 0; i < the_case->violates_count; i++) {
        if (strcmp(the_case->violates[i], id) == 0) {
            return true;
        }
    }
    return false;
}

/* Lets the patterns and measures that the event may concern see it. */
static enum lapse_status follow(struct lapse_judge *judge,
                                const struct lapse_history_event *event) {
    struct lapse_fact fact;
    enum lapse_status status = lapse_scene_absorb(&judge->scene, event, &fact);
    if (status != LAPSE_OK) {
        return status;
    }
    lapse_follow_find(&judge->follow, &fact, event);
    for (size_t i = 0; i < judge->follow.found_count; i++) {
        feed(judge, judge->follow.found[i], &fact, event);
    }
    judge->verdict.uses |= lapse_judge_uses(&judge->scene, event);
    return LAPSE_OK;
}

/* Followers are numbered through: counts, then sometimes, then measures. */
static void feed(struct lapse_judge *judge, size_t follower, const struct lapse_fact *fact,
                 const struct lapse_history_event *event) {
    size_t wish = follower - judge->count_count;
    size_t wishes = judge->the_case->sometimes_count;
    if (follower < judge->count_count) {
        (void)lapse_pattern_feed(&judge->counts[follower].run, &judge->scene, fact, event);
    } else if (wish < wishes) {
        (void)lapse_pattern_feed(&judge->sometimes_runs[wish], &judge->scene, fact, event);
        judge->sometimes[wish] = judge->sometimes_runs[wish].count > 0;
    } else {
        lapse_measure_feed(&judge->measure_runs[wish - wishes], &judge->scene, fact, event);
    }
}

/* A listed violation can be missed only by a run that was seen whole. */
static void finish(struct lapse_judge *judge, const struct lapse_history_event *event) {
    bool truncated = event->kind == LAPSE_HISTORY_TRUNCATED;
    if (event->kind != LAPSE_HISTORY_END && !truncated) {
        return;
    }
    const struct lapse_case *the_case = judge->the_case;
    judge->over = true;
    for (size_t i = 0; i < the_case->measure_count; i++) {
        judge->measured[i] = lapse_measure_value(&judge->measure_runs[i], event->at);
    }
    if (judge->failed) {
        return;
    }
    if (truncated || event->u.end.cut) {
        judge->verdict.outcome = LAPSE_OUTCOME_INCONCLUSIVE;
        return;
    }
    for (size_t i = 0; i < the_case->violates_count; i++) {
        if (!lapse_judge_came(judge, the_case->violates[i])) {
            lapse_judge_say_missing(judge, i);
        }
    }
}
