/* When lines happen: mostly at, or a nanosecond beside, what earlier lines have made a landmark. */
#include "generator.h"

#include <string.h>

enum { THIRTIETH = 30, FAR_SPANS = 7, MOMENT_NS = 1000 };
#define REAP_NS LAPSE_NS_PER_S
#define REQUEST_NS (120 * LAPSE_NS_PER_S)

static int64_t later(int64_t at_ns, int64_t by_ns);
static int64_t part_of(struct lapse_generator *g);
static int64_t landmark_beside(struct lapse_generator *g, const char *when);
static void age(struct lapse_generator *g);
static void age_bucket(const struct lapse_generator *g, struct lapse_gen_bucket *bucket);

void lapse_gen_landmark(struct lapse_generator *g, int64_t at_ns) {
    size_t at = 0;
    if (at_ns <= g->now_ns || at_ns > 366 * 86400 * LAPSE_NS_PER_S) {
        return;
    }
    while (at < g->landmark_count && g->landmarks[at] < at_ns) {
        at++;
    }
    bool known = at < g->landmark_count && g->landmarks[at] == at_ns;
    if (known || g->landmark_count == LAPSE_GEN_LANDMARKS_MAX) {
        return;
    }
    memmove(&g->landmarks[at + 1], &g->landmarks[at],
            (g->landmark_count - at) * sizeof(g->landmarks[0]));
    g->landmarks[at] = at_ns;
    g->landmark_count++;
}

void lapse_gen_landmarks_of(struct lapse_generator *g, int64_t span_ns, bool idle) {
    lapse_gen_landmark(g, later(g->now_ns, span_ns));
    if (idle) {
        lapse_gen_landmark(g, later(g->now_ns, span_ns / THIRTIETH));
    }
}

int64_t lapse_gen_ahead(struct lapse_generator *g, size_t at) {
    size_t first = 0;
    while (first < g->landmark_count && g->landmarks[first] <= g->now_ns) {
        first++;
    }
    size_t ahead = g->landmark_count - first;
    if (ahead == 0) {
        return later(g->now_ns, g->span_ns);
    }
    if (g->anywhere) {
        at = (size_t)lapse_choose(g->choices, ahead, LAPSE_CHOICE_GENERATE, LAPSE_TRAITS_MAX + 6);
    }
    return g->landmarks[first + (at < ahead ? at : ahead - 1)];
}

void lapse_gen_advance(struct lapse_generator *g) {
    bool inside = g->inside > 0 && g->inside_ns > g->now_ns;
    const char *when = g->anywhere || inside ? "now" : lapse_gen_word(g, LAPSE_TRAIT_WHEN);
    int64_t to = g->now_ns;
    if (inside) {
        to += (g->inside_ns - g->now_ns) / 3;
        g->inside--;
    }
    if (strncmp(when, "landmark", 8) == 0) {
        to = landmark_beside(g, when + 8);
    } else if (strcmp(when, "part") == 0) {
        to = later(to, part_of(g));
    } else if (strcmp(when, "second") == 0) {
        to = later(to, LAPSE_NS_PER_S);
    } else if (strcmp(when, "moment") == 0) {
        to = later(to, MOMENT_NS);
    } else if (strcmp(when, "span") == 0) {
        to = later(to, g->span_ns);
    } else if (strcmp(when, "far") == 0) {
        to = later(to, lapse_gen_has(&g->subjects, "requests") ? REQUEST_NS
                                                               : FAR_SPANS * g->span_ns);
    }
    g->now_ns = to > g->now_ns ? to : g->now_ns;
    age(g);
}

static int64_t later(int64_t at_ns, int64_t by_ns) {
    int64_t to = at_ns;
    return lapse_ns_add(at_ns, by_ns, &to) ? to : INT64_MAX;
}

static int64_t part_of(struct lapse_generator *g) {
    static const struct {
        const char *word;
        int64_t num, den, more;
    } parts[] = {
        {"1/2", 1, 2, 0},       {"1/3", 1, 3, 0},       {"1/30", 1, 30, 0}, {"1/30-1ns", 1, 30, -1},
        {"1/30+1ns", 1, 30, 1}, {"2/3", 2, 3, 0},       {"9/10", 9, 10, 0}, {"3/2", 3, 2, 0},
        {"2", 2, 1, 0},
    };
    const char *word = lapse_gen_word(g, LAPSE_TRAIT_PART);
    int64_t ns = g->span_ns;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(parts[i].word, word) == 0 &&
            lapse_ns_scale(g->span_ns, parts[i].num, parts[i].den, &ns)) {
            ns += parts[i].more;
        }
    }
    return ns;
}

/* `beside`: "", "-1ns", "+1s". */
static int64_t landmark_beside(struct lapse_generator *g, const char *beside) {
    int64_t to = lapse_gen_ahead(g, lapse_gen_pick(g, LAPSE_TRAIT_WHICH));
    struct lapse_span span = {0};
    size_t used = 0;
    if (*beside != '\0' &&
        lapse_span_scan(beside + 1, strlen(beside + 1), &span, &used) == LAPSE_OK) {
        to = *beside == '-' ? to - span.ns : later(to, span.ns);
    }
    lapse_gen_landmark(g, later(to, REAP_NS));
    return to;
}

/* What has ended by now. */
static void age(struct lapse_generator *g) {
    for (size_t i = 0; i < g->bucket_count; i++) {
        age_bucket(g, &g->of_buckets[i]);
    }
    for (size_t i = 0; i < LAPSE_GEN_NAMES; i++) {
        g->leases[i].there = g->leases[i].there && g->leases[i].end_ns > g->now_ns;
        g->sessions[i].there = g->sessions[i].there && g->sessions[i].end_ns > g->now_ns;
    }
}

/* Where ends are events, each takes a revision. */
static void age_bucket(const struct lapse_generator *g, struct lapse_gen_bucket *bucket) {
    for (size_t i = 0; i < LAPSE_GEN_KEYS; i++) {
        struct lapse_gen_thing *key = &bucket->keys[i];
        if (key->there && key->end_ns <= g->now_ns) {
            key->there = false;
            if (bucket->markers) {
                lapse_gen_number(bucket);
            }
        }
    }
}
