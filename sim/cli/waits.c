/* There is no default timeout, so a call that reaches a paused store waits. That is rarely what a
 * scenario means. */
#include "waits.h"

#include <string.h>

static bool may_meet_pause(const struct lapse_plan *plan, const struct lapse_plan_step *step);
static bool already_said(const struct lapse_diag_list *diags, const struct lapse_place *place);
static bool goes_to_store(const struct lapse_plan_step *step);

void lapse_cli_waits_find(const struct lapse_plan *plan, struct lapse_diag_list *diags) {
    for (size_t i = 0; i < plan->step_count; i++) {
        const struct lapse_plan_step *step = &plan->steps[i];
        if (!goes_to_store(step) || step->has_timeout || !may_meet_pause(plan, step)) {
            continue;
        }
        const struct lapse_step_check *check = &plan->the_case.checks[i];
        if (already_said(diags, &check->place)) {
            continue;
        }
        struct lapse_diag *diag =
            lapse_diag_add(diags, "W002", check->place, "",
                           "`%s` may wait for ever: n1 may be paused", check->verb);
        lapse_diag_note(diags, diag, "help",
                        "write `timeout: 1s` and what an unknown answer means: `on_unknown: stop`");
    }
}

static bool goes_to_store(const struct lapse_plan_step *step) {
    return step->kind == LAPSE_STEP_CALL && step->u.call.verb < LAPSE_CALL_WRITE;
}

/* A line whose instant is known waits only if it falls into a pause; a task's line may. */
static bool may_meet_pause(const struct lapse_plan *plan, const struct lapse_plan_step *step) {
    for (size_t i = 0; i < plan->step_count; i++) {
        const struct lapse_plan_step *fault = &plan->steps[i];
        if (fault->kind != LAPSE_STEP_FAULT || fault->u.fault.node < 0 || fault->u.fault.ends ||
            fault->u.fault.kind != LAPSE_FAULT_PAUSE) {
            continue;
        }
        int64_t from = fault->when.ns, to;
        if (!fault->u.fault.has_for || !lapse_ns_add(from, fault->u.fault.for_ns, &to)) {
            to = INT64_MAX;
        }
        bool known = step->when.kind == LAPSE_WHEN_AT && step->loop < 0;
        if (!known || (step->when.ns >= from && step->when.ns < to)) {
            return true;
        }
    }
    return false;
}

/* Rows of one document have the same places. */
static bool already_said(const struct lapse_diag_list *diags, const struct lapse_place *place) {
    for (size_t i = 0; i < diags->count; i++) {
        const struct lapse_place *other = &diags->items[i]->labels[0].place;
        if (other->line == place->line && other->column == place->column) {
            return true;
        }
    }
    return false;
}
