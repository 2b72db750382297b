/* There is no default timeout, so a call that reaches a paused store waits. That is rarely what a
 * scenario means. */
#include "waits.h"

#include <string.h>

static bool may_meet_pause(const struct lapse_plan *plan, const struct lapse_plan_step *step);
static bool is_pause(const struct lapse_plan_step *step);
static bool ends_later(const struct lapse_plan *plan, size_t pause);
static bool instant_known(const struct lapse_plan *plan, const struct lapse_plan_step *step);
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
                           "`%s` may wait for ever: n1 is paused and never resumed", check->verb);
        lapse_diag_note(diags, diag, "help",
                        "write `timeout: 1s` and what an unknown answer means: `on_unknown: stop`");
    }
}

static bool goes_to_store(const struct lapse_plan_step *step) {
    return step->kind == LAPSE_STEP_CALL && step->u.call.verb < LAPSE_CALL_WRITE;
}

/* Whether the call may be sent, or wait, once the store stands still for good. */
static bool may_meet_pause(const struct lapse_plan *plan, const struct lapse_plan_step *step) {
    for (size_t i = 0; i < plan->step_count; i++) {
        int64_t from = plan->steps[i].when.ns;
        bool in_run = !plan->has_run_for || from <= plan->run_for_ns;
        if (is_pause(&plan->steps[i]) && in_run && !ends_later(plan, i) &&
            (!instant_known(plan, step) || step->when.ns >= from)) {
            return true;
        }
    }
    return false;
}

static bool is_pause(const struct lapse_plan_step *step) {
    return step->kind == LAPSE_STEP_FAULT && step->u.fault.node >= 0 && !step->u.fault.ends &&
           (step->u.fault.kind == LAPSE_FAULT_PAUSE || step->u.fault.kind == LAPSE_FAULT_SUSPEND ||
            step->u.fault.kind == LAPSE_FAULT_FREEZE);
}

/* A pause with `for:` ends, and so does one that is resumed later (ends come first at an
 * instant). */
static bool ends_later(const struct lapse_plan *plan, size_t pause) {
    const struct lapse_plan_step *begins = &plan->steps[pause];
    bool ends = begins->u.fault.has_for;
    for (size_t i = 0; i < plan->step_count; i++) {
        const struct lapse_plan_step *step = &plan->steps[i];
        ends =
            ends || (step->kind == LAPSE_STEP_FAULT && step->u.fault.ends &&
                     step->u.fault.node == begins->u.fault.node &&
                     step->u.fault.kind == begins->u.fault.kind && step->when.ns > begins->when.ns);
    }
    return ends;
}

/* A line of `steps` runs at its instant, unless its actor is made to sleep before. */
static bool instant_known(const struct lapse_plan *plan, const struct lapse_plan_step *step) {
    bool known = step->when.kind == LAPSE_WHEN_AT && step->loop < 0;
    for (size_t i = 0; i < plan->step_count; i++) {
        const struct lapse_plan_step *fault = &plan->steps[i];
        known = known && !(fault->kind == LAPSE_STEP_FAULT && fault->u.fault.actor == step->actor &&
                           fault->when.ns <= step->when.ns);
    }
    return known;
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
