/* Measures: numbers that a scenario reads off its run. */
#include "pattern.h"

static void feed_between(struct lapse_measure_run *run, bool from, bool to,
                         struct lapse_true_time at);

void lapse_measure_start(struct lapse_measure_run *run, const struct lapse_measure *measure) {
    bool between = measure->kind == LAPSE_MEASURE_BETWEEN;
    *run = (struct lapse_measure_run){.measure = measure};
    lapse_pattern_start(&run->from, between ? &measure->from : &measure->pattern);
    lapse_pattern_start(&run->to, between ? &measure->to : &measure->pattern);
}

void lapse_measure_feed(struct lapse_measure_run *run, const struct lapse_scene *scene,
                        const struct lapse_fact *fact, const struct lapse_history_event *event) {
    bool from = lapse_pattern_feed(&run->from, scene, fact, event);
    if (run->measure->kind == LAPSE_MEASURE_BETWEEN) {
        bool to = lapse_pattern_feed(&run->to, scene, fact, event);
        feed_between(run, from, to, event->at);
    }
}

struct lapse_measured lapse_measure_value(const struct lapse_measure_run *run,
                                          struct lapse_true_time now) {
    struct lapse_measured value = {.known = true, .is_span = true};
    switch (run->measure->kind) {
    case LAPSE_MEASURE_BETWEEN:
        value.known = run->known && lapse_ns_sub(run->to_at.ns, run->from_at.ns, &value.number);
        break;
    case LAPSE_MEASURE_COUNT:
        value.is_span = false;
        value.number = run->from.count;
        break;
    case LAPSE_MEASURE_TOTAL:
        value.number = lapse_pattern_total(&run->from, now);
        break;
    }
    return value;
}

/* "At or after" goes by instants: a `to` that came a line earlier at the same instant counts. */
static void feed_between(struct lapse_measure_run *run, bool from, bool to,
                         struct lapse_true_time at) {
    if (run->known) {
        return;
    }
    if (to) {
        run->has_to = true;
        run->to_at = at;
    }
    if (from && !run->has_from) {
        run->has_from = true;
        run->from_at = at;
    }
    run->known = run->has_from && run->has_to && run->to_at.ns >= run->from_at.ns;
}
