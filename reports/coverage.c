/* How a run used the contracts: how often each was judged, and how near its runs came to breaking
 * it. */
#include <stdio.h>
#include <string.h>

#include "draw.h"

static const struct lapse_slack *slack_of(const struct lapse_slack *slacks, const char *id);
static void put_row(struct lapse_out *out, const struct lapse_totals *totals, const char *id);

struct lapse_tally lapse_tally_of(const struct lapse_totals *totals, const char *id) {
    size_t count;
    const struct lapse_rule *rules = lapse_rule_table(&count);
    struct lapse_tally sum = {0};
    LAPSE_ASSERT(totals->rule_count <= count);
    for (size_t i = 0; i < totals->rule_count; i++) {
        if (strcmp(rules[i].id, id) == 0) {
            sum.premises += totals->tallies[i].premises;
            sum.runs += totals->tallies[i].runs;
            sum.breaks += totals->tallies[i].breaks;
        }
    }
    return sum;
}

enum lapse_touch lapse_touch_of(const struct lapse_totals *totals, const char *id) {
    size_t count;
    const struct lapse_rule *rules = lapse_rule_table(&count);
    bool used = false;
    for (size_t i = 0; i < totals->rule_count && i < count; i++) {
        used = used || (strcmp(rules[i].id, id) == 0 && (rules[i].uses & totals->uses) != 0);
    }
    return lapse_tally_of(totals, id).premises > 0 ? LAPSE_TOUCH_JUDGED
           : used                                  ? LAPSE_TOUCH_IDLE
                                                   : LAPSE_TOUCH_NONE;
}

void lapse_slacks_draw(struct lapse_out *out, const struct lapse_slack *slacks) {
    char span[LAPSE_TIME_TEXT_MAX];
    for (size_t i = 0; i < LAPSE_SLACKS; i++) {
        if (slacks[i].known) {
            lapse_out_format(out, " %s %s", slacks[i].id, lapse_span_print(slacks[i].least, span));
        }
    }
}

void lapse_coverage_draw(struct lapse_out *out, const struct lapse_totals *totals) {
    size_t count;
    const struct lapse_contract *contracts = lapse_contract_table(&count);
    lapse_out_format(out, "\n%-9s %12s %10s %8s  %s\n", "contract", "judged", "in runs", "broken",
                     "slack");
    for (size_t i = 0; i < count; i++) {
        put_row(out, totals, contracts[i].id);
    }
    lapse_out_text(out, "\n");
}

static void put_row(struct lapse_out *out, const struct lapse_totals *totals, const char *id) {
    enum lapse_touch touch = lapse_touch_of(totals, id);
    if (touch != LAPSE_TOUCH_JUDGED) {
        lapse_out_format(out, "%-9s %12s\n", id,
                         !lapse_rule_exists(id)      ? "no rule"
                         : touch == LAPSE_TOUCH_IDLE ? "never"
                                                     : "not touched");
        return;
    }
    struct lapse_tally tally = lapse_tally_of(totals, id);
    const struct lapse_slack *slack = slack_of(totals->slacks, id);
    char span[LAPSE_TIME_TEXT_MAX] = "";
    if (slack != NULL && slack->known) {
        (void)lapse_span_print(slack->least, span);
    }
    lapse_out_format(out, "%-9s %12lld %10lld %8lld  %s\n", id, (long long)tally.premises,
                     (long long)tally.runs, (long long)tally.breaks, span);
}

static const struct lapse_slack *slack_of(const struct lapse_slack *slacks, const char *id) {
    for (size_t i = 0; i < LAPSE_SLACKS; i++) {
        if (slacks[i].id != NULL && strcmp(slacks[i].id, id) == 0) {
            return &slacks[i];
        }
    }
    return NULL;
}
