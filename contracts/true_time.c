/* Ends in true time. Where bounds are declared, what a store on clocks within them shows must also
 * be right by true time, which no machine reads: within rho a span d has not ended before
 * d / (1 + rho) and has ended from d / (1 - rho) on; a date is reached within epsilon of itself.
 * What lies between is open: there the store's own clock decides. */
#include "rules.h"
#include "track.h"

static bool by_wall(const struct lapse_trackers *trackers);

/* In a restart of the machine the wall has its say in what passes; where store time is the wall's,
 * always. */
enum lapse_tracked_state lapse_true_span(const struct lapse_trackers *trackers,
                                         const struct lapse_history_event *since,
                                         struct lapse_span span, struct lapse_true_time at) {
    int64_t rate = trackers->setup != NULL ? trackers->setup->rate_ppb : 0;
    int64_t least = 0, most = 0;
    if (rate <= 0 || by_wall(trackers) || since == NULL || span.ns <= 0 ||
        !lapse_outside_judges(&trackers->outside, "KV-01") ||
        (trackers->machine_tenure != NULL && trackers->machine_tenure->seq > since->seq))
        return LAPSE_TRACKED_UNSURE;
    int64_t passed = at.ns - since->at.ns;
    int64_t slack = trackers->tick_ns + 1; /* readings are rounded down */
    (void)lapse_ns_scale(span.ns, LAPSE_NS_PER_S, LAPSE_NS_PER_S + rate, &least);
    if (passed < least - slack)
        return LAPSE_TRACKED_LIVE;
    bool comes = lapse_ns_scale(span.ns, LAPSE_NS_PER_S, LAPSE_NS_PER_S - rate, &most) &&
                 lapse_ns_add(most, slack, &most);
    return comes && passed > most ? LAPSE_TRACKED_ENDED : LAPSE_TRACKED_UNSURE;
}

static bool by_wall(const struct lapse_trackers *trackers) {
    return trackers->setup->policies.value[LAPSE_POLICY_WALL_BACK] != 0;
}

/* A date is reached at the first command that sees it: so it has not been before, but may be later
 * than the wall shows only if nobody looked, and then the present one does. */
enum lapse_tracked_state lapse_true_date(const struct lapse_trackers *trackers,
                                         struct lapse_wall date, struct lapse_true_time at) {
    const struct lapse_setup *setup = trackers->setup;
    int64_t bound = setup != NULL ? setup->wall_bound.ns : 0;
    int64_t wall = 0, latest = 0, earliest = 0;
    if (bound <= 0 || trackers->outside.node_wall ||
        !lapse_ns_add(setup->epoch.ns, at.ns, &wall) ||
        !lapse_ns_add(wall, bound + trackers->tick_ns, &latest) ||
        !lapse_ns_sub(wall, bound + trackers->tick_ns, &earliest))
        return LAPSE_TRACKED_UNSURE;
    if (latest < date.ns)
        return LAPSE_TRACKED_LIVE;
    return earliest >= date.ns ? LAPSE_TRACKED_ENDED : LAPSE_TRACKED_UNSURE;
}

bool lapse_true_says(const struct lapse_look *look, enum lapse_tracked_state truth, bool shown,
                     struct lapse_violation *ret) {
    if (truth == LAPSE_TRACKED_UNSURE || (truth == LAPSE_TRACKED_LIVE) == shown)
        return true;
    struct lapse_rule_text name = lapse_text_name(look->key_name);
    struct lapse_rule_text at = lapse_text_ns(look->event->at.ns);
    lapse_violation_label(ret, look->event, "found it %s", shown ? "live" : "ended");
    return lapse_violation_say(ret, "by true time %s %s at %s, whatever clocks within their bounds "
                                    "read",
                               name.text, shown ? "had ended" : "had not ended", at.text);
}
