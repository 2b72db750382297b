/* Windows of ends in true time, in integers, rounded outwards. A window has the instants from which
 * an entry may be absent: its end, or, where it is live at exactly its end, the next unit of the
 * store's clock. Such a clock was cut down when the term began, by less than a unit. */
#include "linear_split.h"

/* A machine that begins anew goes on from a mark of at most a second ago. */
#define MARK_NS LAPSE_NS_PER_S

static struct lapse_linear_window widen(const struct lapse_linear_terms *terms,
                                        const struct lapse_linear_call *call,
                                        struct lapse_linear_window window, bool date);
static int64_t sum(int64_t a, int64_t b);
static int64_t difference(int64_t a, int64_t b);
static bool scale_up(int64_t ns, int64_t num, int64_t den, int64_t *ret);

struct lapse_linear_window lapse_linear_span_window(const struct lapse_linear_terms *terms,
                                                    const struct lapse_linear_call *call,
                                                    int64_t span_ns) {
    struct lapse_linear_window window = {call->invoke_ns, 0, true};
    int64_t least, most;
    /* A wall may be set while the span runs, from one edge of its bound to the other. */
    int64_t walls = terms->by_wall ? sum(terms->bound_ns, terms->bound_ns) : 0;
    int64_t early = sum(terms->slack_ns, walls);
    int64_t late = sum(sum(terms->slack_ns, terms->late_ns), walls);
    span_ns = sum(span_ns - span_ns % terms->unit_ns, terms->last_ns);
    if (terms->by_wall && !terms->walls) {
        return window;
    }
    if (lapse_ns_scale(difference(span_ns, terms->unit_ns - 1), LAPSE_NS_PER_S,
                       LAPSE_NS_PER_S + terms->rate_ppb, &least)) {
        window.from = difference(sum(call->invoke_ns, least), early);
    }
    if (!call->open && scale_up(span_ns, LAPSE_NS_PER_S, LAPSE_NS_PER_S - terms->rate_ppb, &most)) {
        window.to = sum(sum(call->return_ns, most), late);
        window.to_open = window.to == INT64_MAX;
    }
    return widen(terms, call, window, false);
}

struct lapse_linear_window lapse_linear_date_window(const struct lapse_linear_terms *terms,
                                                    const struct lapse_linear_call *call,
                                                    int64_t date_ns, bool *ret_ended) {
    struct lapse_linear_window window = {call->invoke_ns, 0, true};
    int64_t slack = sum(terms->bound_ns, terms->slack_ns);
    int64_t over = date_ns % terms->unit_ns;
    int64_t cut_ns = difference(date_ns, over < 0 ? over + terms->unit_ns : over);
    int64_t true_ns = sum(difference(cut_ns, terms->epoch_ns), terms->last_ns);
    int64_t earliest = difference(true_ns, slack);
    int64_t latest = sum(sum(true_ns, slack), terms->late_ns);
    *ret_ended = false;
    if (!terms->walls) {
        return window;
    }
    *ret_ended = latest <= call->invoke_ns;
    window.from = earliest > call->invoke_ns ? earliest : call->invoke_ns;
    if (!call->open) {
        /* A date that passes while its call runs ends the entry then, or right after. */
        int64_t more = sum(terms->last_ns, terms->late_ns);
        int64_t after = sum(call->return_ns, more > 0 ? more : 1);
        window.to = earliest > call->return_ns || latest > after ? latest : after;
        window.to_open = window.to == INT64_MAX;
    }
    return widen(terms, call, window, true);
}

/* Of a machine's restart: early by at most a second and what the wall ran ahead, late by what it
 * ran behind, each at most twice epsilon; dates are early only. A process that begins anew errs by
 * nothing. A widened end may reach further restarts. */
static struct lapse_linear_window widen(const struct lapse_linear_terms *terms,
                                        const struct lapse_linear_call *call,
                                        struct lapse_linear_window window, bool date) {
    for (size_t i = 0; i < terms->restart_count; i++) {
        const struct lapse_linear_restart *restart = &terms->restarts[i];
        if (!restart->machine || restart->to < call->invoke_ns ||
            (!window.to_open && restart->from > window.to)) {
            continue;
        }
        if (!terms->walls) {
            return (struct lapse_linear_window){call->invoke_ns, 0, true};
        }
        int64_t ran = sum(terms->bound_ns, terms->bound_ns);
        window.from = difference(window.from, date ? MARK_NS : sum(MARK_NS, ran));
        window.to = window.to_open || date ? window.to : sum(window.to, ran);
    }
    window.from = window.from < call->invoke_ns ? call->invoke_ns : window.from;
    return window;
}

static int64_t sum(int64_t a, int64_t b) {
    int64_t result;
    return lapse_ns_add(a, b, &result) ? result : a < 0 ? INT64_MIN : INT64_MAX;
}

static int64_t difference(int64_t a, int64_t b) {
    int64_t result;
    return lapse_ns_sub(a, b, &result) ? result : a < 0 ? INT64_MIN : INT64_MAX;
}

/* ceil(ns * num / den); num is a second. */
static bool scale_up(int64_t ns, int64_t num, int64_t den, int64_t *ret) {
    if (den <= 0 || !lapse_ns_scale(ns, num, den, ret)) {
        return false;
    }
    /* ns * num = whole + rest * num; the first divides, and rest * num stays below 10^18. */
    int64_t rest = ns % den;
    return rest * num % den == 0 || lapse_ns_add(*ret, 1, ret);
}
