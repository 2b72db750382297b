/* Patterns: most are one event; believes and two_believe also last, and are looked at as stretches
 * [begin, end) of true time. */
#include "pattern.h"

static bool feed_state(struct lapse_pattern_run *run, const struct lapse_scene *scene,
                       const struct lapse_fact *fact, const struct lapse_history_event *event);
static bool feed_instant(struct lapse_pattern_run *run, const struct lapse_history_event *event);
static bool holds_now(const struct lapse_pattern *pattern, const struct lapse_scene *scene);
static bool is_point(const struct lapse_pattern *pattern, const struct lapse_fact *fact);
static bool names_grant(const struct lapse_pattern *pattern, bool key_lock,
                        struct lapse_bytes name);
static bool names_it(const struct lapse_pattern *pattern, const struct lapse_fact *fact);

void lapse_pattern_start(struct lapse_pattern_run *run, const struct lapse_pattern *pattern) {
    *run = (struct lapse_pattern_run){.pattern = pattern};
}

bool lapse_pattern_feed(struct lapse_pattern_run *run, const struct lapse_scene *scene,
                        const struct lapse_fact *fact, const struct lapse_history_event *event) {
    const struct lapse_pattern *pattern = run->pattern;
    bool came = false;
    if (lapse_pattern_lasts(pattern)) {
        came = feed_state(run, scene, fact, event);
    } else {
        came = is_point(pattern, fact) && (!pattern->has_at || pattern->at.ns == event->at.ns);
    }
    run->count += came ? 1 : 0;
    return came;
}

bool lapse_pattern_lasts(const struct lapse_pattern *pattern) {
    return pattern->kind == LAPSE_PATTERN_BELIEVES || pattern->kind == LAPSE_PATTERN_TWO_BELIEVE;
}

int64_t lapse_pattern_total(const struct lapse_pattern_run *run, struct lapse_true_time now) {
    int64_t open = 0;
    int64_t total = run->total_ns;
    if (run->holds && lapse_ns_sub(now.ns, run->since.ns, &open)) {
        (void)lapse_ns_add(total, open, &total);
    }
    return total;
}

static bool feed_state(struct lapse_pattern_run *run, const struct lapse_scene *scene,
                       const struct lapse_fact *fact, const struct lapse_history_event *event) {
    const struct lapse_pattern *pattern = run->pattern;
    bool held_at = feed_instant(run, event);
    bool now = holds_now(pattern, scene);
    bool begins = now && !run->holds;
    if (begins) {
        run->since = event->at;
    } else if (run->holds && !now) {
        run->total_ns = lapse_pattern_total(run, event->at);
    }
    run->holds = now;
    if (pattern->has_at) {
        return held_at;
    }
    return pattern->kind == LAPSE_PATTERN_TWO_BELIEVE ? begins : is_point(pattern, fact);
}

/* With `at:` the question is whether it held at that instant: known once time has passed it. */
static bool feed_instant(struct lapse_pattern_run *run, const struct lapse_history_event *event) {
    const struct lapse_pattern *pattern = run->pattern;
    bool passed = event->at.ns > pattern->at.ns || event->kind == LAPSE_HISTORY_END;
    if (!pattern->has_at || run->at_done || !passed) {
        return false;
    }
    run->at_done = true;
    return run->holds && run->since.ns <= pattern->at.ns && event->at.ns >= pattern->at.ns;
}

static bool holds_now(const struct lapse_pattern *pattern, const struct lapse_scene *scene) {
    size_t believers = 0;
    bool by_seen = pattern->by < 0;
    for (size_t i = 0; i < scene->belief_count; i++) {
        const struct lapse_scene_belief *belief = &scene->beliefs[i];
        if (names_grant(pattern, belief->key_lock, belief->name)) {
            believers++;
            by_seen = by_seen || belief->actor == pattern->by;
        }
    }
    return by_seen && believers >= (pattern->kind == LAPSE_PATTERN_TWO_BELIEVE ? 2U : 1U);
}

static bool is_point(const struct lapse_pattern *pattern, const struct lapse_fact *fact) {
    if ((fact->kinds & LAPSE_FACT(pattern->kind)) == 0 ||
        (pattern->by >= 0 && pattern->by != fact->actor)) {
        return false;
    }
    return names_it(pattern, fact);
}

static bool names_it(const struct lapse_pattern *pattern, const struct lapse_fact *fact) {
    switch (pattern->kind) {
    case LAPSE_PATTERN_ACCEPTED:
    case LAPSE_PATTERN_FENCED:
    case LAPSE_PATTERN_CRASH:
    case LAPSE_PATTERN_WAKES:
    case LAPSE_PATTERN_STOPPED:
        return pattern->subject == fact->subject;
    case LAPSE_PATTERN_BELIEVES:
    case LAPSE_PATTERN_TWO_BELIEVE:
    case LAPSE_PATTERN_DENIED:
        return names_grant(pattern, fact->key_lock, fact->name);
    case LAPSE_PATTERN_WRITTEN:
    case LAPSE_PATTERN_EXPIRED:
        return lapse_bytes_equal(pattern->bucket, fact->bucket) &&
               lapse_bytes_equal(pattern->name, fact->name);
    default:
        return pattern->key_lock == fact->key_lock &&
               lapse_bytes_equal(pattern->bucket, fact->bucket) &&
               lapse_bytes_equal(pattern->name, fact->name);
    }
}

/* A belief in a key's lock is named "bucket/key". */
static bool names_grant(const struct lapse_pattern *pattern, bool key_lock,
                        struct lapse_bytes name) {
    if (pattern->key_lock != key_lock) {
        return false;
    }
    if (!key_lock) {
        return lapse_bytes_equal(pattern->name, name);
    }
    size_t head = pattern->bucket.len;
    if (name.len != head + 1 + pattern->name.len || name.data[head] != '/') {
        return false;
    }
    struct lapse_bytes bucket = {name.data, head};
    struct lapse_bytes key = {name.data + head + 1, pattern->name.len};
    return lapse_bytes_equal(bucket, pattern->bucket) && lapse_bytes_equal(key, pattern->name);
}
