/* Patterns and measures as they are followed through a history. Private to the judge's files. */
#ifndef CONTRACTS_PATTERN_H
#define CONTRACTS_PATTERN_H

#include "contracts/judge.h"
#include "scene.h"

/* One pattern followed from the start of a run. */
struct lapse_pattern_run {
    const struct lapse_pattern *pattern;
    int64_t count; /* how often it came true */
    /* Patterns that last, believes and two_believe: */
    bool holds;
    struct lapse_true_time since;
    int64_t total_ns; /* of the stretches that are over */
    bool at_done;     /* the instant of `at:` has been looked at */
};

struct lapse_measure_run {
    const struct lapse_measure *measure;
    struct lapse_pattern_run from, to; /* COUNT, TOTAL: `from` alone */
    bool has_from, has_to, known;
    struct lapse_true_time from_at, to_at;
};

void lapse_pattern_start(struct lapse_pattern_run *run, const struct lapse_pattern *pattern);
/* Takes the next event, which the scene has absorbed. True: the pattern came true now. */
bool lapse_pattern_feed(struct lapse_pattern_run *run, const struct lapse_scene *scene,
                        const struct lapse_fact *fact, const struct lapse_history_event *event);
/* Whether it holds for a stretch of time, and does not just come. */
bool lapse_pattern_lasts(const struct lapse_pattern *pattern);
/* How long it has held in all, up to `now`. */
int64_t lapse_pattern_total(const struct lapse_pattern_run *run, struct lapse_true_time now);

void lapse_measure_start(struct lapse_measure_run *run, const struct lapse_measure *measure);
void lapse_measure_feed(struct lapse_measure_run *run, const struct lapse_scene *scene,
                        const struct lapse_fact *fact, const struct lapse_history_event *event);
struct lapse_measured lapse_measure_value(const struct lapse_measure_run *run,
                                          struct lapse_true_time now);

#endif
