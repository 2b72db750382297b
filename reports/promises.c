/* Breaks of what a run's policies do not promise, and what put a run outside the contract: they
 * fail nothing, but are told wherever a result is, so that nobody takes a profile, or a run of
 * which little was judged, for the contracts themselves. */
#include "contracts/promise.h"
#include "contracts/tracker.h"

#include <string.h>

#include "draw.h"

static void put_outside(struct lapse_out *out, const struct lapse_trackers *trackers,
                        const char *indent);
static void put_where(struct lapse_out *out, const struct lapse_result_view *view, int64_t seq);
static void put_times(struct lapse_out *out, int64_t times);

/* Several rules may judge one contract: it is told at the first that was broken. */
bool lapse_unpromised_next(const struct lapse_verdict *verdict, size_t *at,
                           struct lapse_unpromised *ret) {
    size_t count;
    const struct lapse_rule *rules = lapse_rule_table(&count);
    count = verdict->judged == NULL ? 0 : verdict->rule_count;
    for (; *at < count; ++*at) {
        bool said = verdict->judged[*at].unpromised.times == 0;
        for (size_t k = 0; k < *at; k++) {
            said = said || (verdict->judged[k].unpromised.times > 0 &&
                            strcmp(rules[k].id, rules[*at].id) == 0);
        }
        if (said) {
            continue;
        }
        *ret = (struct lapse_unpromised){rules[*at].id, 0, verdict->judged[*at].unpromised.first};
        for (size_t k = *at; k < count; k++) {
            const struct lapse_breaks *broke = &verdict->judged[k].unpromised;
            bool same = broke->times > 0 && strcmp(rules[k].id, ret->id) == 0;
            ret->times += same ? broke->times : 0;
            ret->event = same && broke->first < ret->event ? broke->first : ret->event;
        }
        ++*at;
        return true;
    }
    return false;
}

void lapse_unpromised_draw(struct lapse_out *out, const struct lapse_setup *setup, const char *id) {
    bool by_profile = false;
    const struct lapse_promise *promise = NULL;
    while ((promise = lapse_promise_break(&setup->policies, id, promise)) != NULL) {
        by_profile = by_profile || lapse_promise_of_profile(promise, setup->profile);
    }
    lapse_out_text(out, "not promised");
    if (by_profile) {
        lapse_out_format(out, " by %.*s", (int)setup->profile.len,
                         (const char *)setup->profile.data);
    }
    lapse_out_format(out, ": %s", id);
    const char *sign = " (";
    while ((promise = lapse_promise_break(&setup->policies, id, promise)) != NULL) {
        struct lapse_bytes value = lapse_promise_value(promise);
        lapse_out_format(out, "%s%s: %.*s", sign, lapse_promise_policy(promise), (int)value.len,
                         (const char *)value.data);
        sign = ", ";
    }
    lapse_out_text(out, sign[0] == ',' ? ")" : "");
}

void lapse_unpromised_lines(struct lapse_out *out, const struct lapse_result_view *view,
                            const char *indent, bool where) {
    if (view->broken || view->verdict == NULL) {
        return;
    }
    put_outside(out, view->verdict->trackers, indent);
    struct lapse_unpromised unpromised;
    for (size_t at = 0; lapse_unpromised_next(view->verdict, &at, &unpromised);) {
        lapse_out_text(out, indent);
        lapse_unpromised_draw(out, view->the_case->setup, unpromised.id);
        put_times(out, unpromised.times);
        if (where) {
            put_where(out, view, unpromised.event);
        }
        lapse_out_text(out, "\n");
    }
}

void lapse_unpromised_sums(struct lapse_out *out, const struct lapse_totals *totals,
                           const char *indent) {
    for (size_t i = 0; i < totals->unpromised_count; i++) {
        lapse_out_format(out, "%s%s", indent, totals->unpromised[i].text);
        put_times(out, totals->unpromised[i].times);
        lapse_out_text(out, "\n");
    }
}

/* What was done that promises do not rest on. */
static void put_outside(struct lapse_out *out, const struct lapse_trackers *trackers,
                        const char *indent) {
    char buf[LAPSE_OUTSIDE_TEXT_MAX];
    for (int i = 0; trackers != NULL && i < LAPSE_OUTSIDE_KINDS; i++) {
        if (trackers->outside.marks[i].by != NULL) {
            lapse_out_format(out, "%soutside contract: ", indent);
            (void)lapse_out_safe_text(
                out, lapse_outside_say(&trackers->outside, (enum lapse_outside_kind)i, buf));
            lapse_out_text(out, "\n");
        }
    }
}

/* ", at 12s in line 7": what a store does by itself has no line. */
static void put_where(struct lapse_out *out, const struct lapse_result_view *view, int64_t seq) {
    const struct lapse_history_event *event = lapse_history_at(view->history, (size_t)seq);
    char buf[LAPSE_TIME_TEXT_MAX];
    lapse_out_format(out, ", at %s", lapse_span_print((struct lapse_span){event->at.ns}, buf));
    if (event->step >= 0 && (size_t)event->step < view->the_case->check_count) {
        const struct lapse_step_check *check = &view->the_case->checks[event->step];
        lapse_out_format(out, " in line %d: %s ", check->place.line, check->verb);
        (void)lapse_out_safe_text(out, check->object != NULL ? check->object : "");
    }
}

static void put_times(struct lapse_out *out, int64_t times) {
    lapse_out_format(out, ", %lld time%s", (long long)times, times == 1 ? "" : "s");
}
