/* The timeline: exact edges on the axis, belief beside truth, a picture that always fits. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline.h"

#define S LAPSE_NS_PER_S

static const struct lapse_setup_actor actors[] = {{.name = {(const unsigned char *)"w1", 2}},
                                                  {.name = {(const unsigned char *)"w2", 2}}};
static const struct lapse_setup_resource resources[] = {
    {.name = {(const unsigned char *)"report", 6}, .fenced = true}};

struct story {
    struct lapse_setup setup;
    struct lapse_case the_case;
    struct lapse_verdict verdict;
    struct lapse_history *history;
    int64_t call;
};

static void story_begin(struct story *story) {
    memset(story, 0, sizeof *story);
    story->setup.actor_count = 2;
    story->setup.actors = actors;
    story->setup.resource_count = 1;
    story->setup.resources = resources;
    story->the_case.setup = &story->setup;
    cr_assert_eq(lapse_history_open(lapse_alloc_libc(), 0, &story->history, NULL), LAPSE_OK);
    struct lapse_history_event begin = {.kind = LAPSE_HISTORY_BEGIN, .actor = -1, .step = -1};
    begin.u.begin = &story->setup;
    cr_assert_not_null(lapse_history_append(story->history, &begin));
}

static void tell(struct story *story, struct lapse_history_event event) {
    event.step = -1;
    cr_assert_not_null(lapse_history_append(story->history, &event));
}

/* An acquire that is granted at once, and the belief in it. */
static void granted(struct story *story, int32_t actor, int64_t at, int64_t span, int64_t token) {
    struct lapse_history_event event = {
        .kind = LAPSE_HISTORY_INVOKE, .at = {at}, .actor = actor, .call = ++story->call};
    event.u.invoke.request.verb = LAPSE_VERB_ACQUIRE;
    event.u.invoke.request.command.verb = LAPSE_VERB_ACQUIRE;
    event.u.invoke.request.command.key = lapse_bytes_of("job");
    event.u.invoke.due.ns = at;
    event.u.invoke.loop = -1;
    tell(story, event);
    struct lapse_history_event apply = {
        .kind = LAPSE_HISTORY_APPLY, .at = {at}, .actor = -1, .call = story->call};
    struct lapse_answer *answer = &apply.u.apply.answer;
    answer->owner = actors[actor].name;
    answer->has_token = true;
    answer->token = token;
    answer->end = (struct lapse_end){LAPSE_END_STEADY, at + span};
    answer->left.ns = span;
    tell(story, apply);
    struct lapse_history_event belief = {
        .kind = LAPSE_HISTORY_BELIEF_BEGIN, .at = {at}, .actor = actor};
    belief.u.belief.grant = (struct lapse_grant_ref){true, false, lapse_bytes_of("job"), token};
    tell(story, belief);
}

static void paused(struct story *story, int64_t at, bool begins) {
    struct lapse_history_event event = {
        .kind = begins ? LAPSE_HISTORY_FAULT_BEGIN : LAPSE_HISTORY_FAULT_END, .at = {at}};
    event.u.fault.kind = LAPSE_FAULT_PAUSE;
    event.u.fault.node = -1;
    tell(story, event);
}

static void written(struct story *story, int32_t actor, int64_t at, int64_t token) {
    struct lapse_history_event event = {
        .kind = LAPSE_HISTORY_INVOKE, .at = {at}, .actor = actor, .call = ++story->call};
    event.u.invoke.request.verb = LAPSE_CALL_WRITE;
    event.u.invoke.loop = -1;
    tell(story, event);
    struct lapse_history_event decided = {
        .kind = LAPSE_HISTORY_RESOURCE, .at = {at}, .actor = actor, .call = story->call};
    decided.u.resource.verb = LAPSE_CALL_WRITE;
    decided.u.resource.has_token = true;
    decided.u.resource.token = token;
    tell(story, decided);
}

static char *drawn(struct story *story, const char *id, int width) {
    const struct lapse_style style = {.width = width};
    const struct lapse_result_view view = {
        .history = story->history, .verdict = &story->verdict, .the_case = &story->the_case};
    story->verdict.id = id;
    struct lapse_out out;
    lapse_out_init(&out, lapse_alloc_libc());
    int64_t last = (int64_t)lapse_history_count(story->history) - 1;
    lapse_timeline_draw(&out, &view, id != NULL ? last : -1, &style);
    cr_assert(!out.failed && out.text != NULL);
    lapse_history_close(story->history);
    return out.text; /* from realloc: the caller frees it */
}

Test(timeline, paused_holder_is_drawn_with_belief_beside_truth) {
    struct story story;
    story_begin(&story);
    granted(&story, 0, 0, 30 * S, 1);
    paused(&story, 10 * S, true);
    granted(&story, 1, 30 * S, 30 * S, 2);
    written(&story, 1, 35 * S, 2);
    paused(&story, 50 * S, false);
    written(&story, 0, 50 * S, 1);
    char *text = drawn(&story, "FENCE-03", 100);
    cr_assert_str_eq(text,
                     "          0s        10s       20s       30s       40s       50s       1m\n"
                     "  job     [w1 token 1 =================][w2 token 2 =================]\n"
                     "  w1      A#########....................????????????????????W\n"
                     "  w2                                    A####W###############\n"
                     "  report                                     2              1\n"
                     "                                                            ^ FENCE-03\n"
                     "  # holds and runs   . paused, still holds   ? believes it holds, does not\n"
                     "  1 write taken with token 1 (* without)   A acquire   W write\n");
    free(text);
}

Test(timeline, an_instant_before_the_edge_has_a_column_of_its_own) {
    const int64_t instants[] = {0, 900 * S - 1, 900 * S};
    struct lapse_axis axis;
    lapse_axis_fit(&axis, instants, 3, 80);
    cr_assert_eq(lapse_axis_column(&axis, 900 * S - 1) + 1, lapse_axis_column(&axis, 900 * S));
    cr_assert_eq(axis.part_count, 1);
}

Test(timeline, time_in_which_nothing_happens_is_cut_only_where_it_must_be) {
    const int64_t instants[] = {
        0, S, 2 * S, INT64_C(2592000) * S, INT64_C(2592001) * S, INT64_C(2592002) * S};
    struct lapse_axis axis;
    lapse_axis_fit(&axis, instants, 6, 80);
    cr_assert_eq(axis.part_count, 2);
    cr_assert_leq(axis.columns, 80);
    for (size_t i = 1; i < 6; i++) {
        cr_assert_lt(lapse_axis_column(&axis, instants[i - 1]),
                     lapse_axis_column(&axis, instants[i]));
    }
    cr_assert_eq(lapse_axis_instant(&axis, lapse_axis_column(&axis, 1000 * S)), -1);
}

Test(timeline, any_axis_fits_and_keeps_order) {
    static const int64_t ends[] = {1, 9, 10, 999, 12345, S, 61 * S, 86401 * S, INT64_MAX};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const int64_t instants[] = {0, ends[i]};
        struct lapse_axis axis;
        lapse_axis_fit(&axis, instants, 2, 60);
        cr_assert_leq(axis.columns, 60);
        cr_assert_eq(lapse_axis_column(&axis, 0), 0);
        cr_assert_lt(lapse_axis_column(&axis, ends[i]), axis.columns, "end %zu", i);
        cr_assert_gt(lapse_axis_column(&axis, ends[i]), 0, "end %zu", i);
    }
}

Test(timeline, a_break_says_its_length_and_leaves_labels_whole) {
    struct story story;
    story_begin(&story);
    granted(&story, 0, 0, 86400 * S, 1);
    written(&story, 0, S, 1);
    written(&story, 0, 43200 * S, 1);
    written(&story, 0, 43201 * S, 1);
    char *text = drawn(&story, "FENCE-03", 70);
    cr_assert_str_eq(text,
                     "          0s        1s        2s  //11h59m//   12h       12h1s\n"
                     "  job     [w1 token 1 =========== //      // ============>\n"
                     "  w1      A#########W############ //      // ##W#########W\n"
                     "  report            1             //      //   1         1\n"
                     "                                                         ^ FENCE-03\n"
                     "  # holds and runs   1 write taken with token 1 (* without)\n"
                     "  A acquire   W write   //1h// time left out   (1 more lane not shown)\n");
    free(text);
}

/* What the failing event is not about is folded away, and counted. */
Test(timeline, lanes_beside_the_violation_are_folded) {
    struct story story;
    story_begin(&story);
    granted(&story, 0, 0, 30 * S, 1);
    granted(&story, 1, 30 * S, 30 * S, 2);
    struct lapse_history_event probe = {.kind = LAPSE_HISTORY_PROBE, .at = {40 * S}, .actor = -1};
    probe.u.probe.kind = LAPSE_PROBE_GONE;
    probe.u.probe.bucket = lapse_bytes_of("codes");
    probe.u.probe.name = lapse_bytes_of("cl\xC3\xA9");
    tell(&story, probe);
    char *text = drawn(&story, "KV-03", 70);
    cr_assert_not_null(strstr(text, "\n  codes/cl\xC3\xA9\n"), "%s", text);
    cr_assert_not_null(strstr(text, "^ KV-03\n"), "%s", text);
    cr_assert_not_null(strstr(text, "(4 more lanes not shown)"), "%s", text);
    cr_assert_null(strstr(text, "job"), "%s", text);
    free(text);
}

/* Labels of the axis have a blank between them and end inside the width, at any scale. */
Test(timeline, labels_of_the_axis_never_touch) {
    static const int64_t gaps[] = {1,       999,         S - 1,         S,          59 * S,
                                   899 * S, 900 * S - 1, 86399 * S + 1, 2591999 * S};
    const size_t count = sizeof gaps / sizeof *gaps;
    for (size_t i = 0; i < count * count * count; i++) {
        struct story story;
        story_begin(&story);
        int64_t at = 0;
        granted(&story, 0, 0, 1, 1);
        for (size_t rest = i, k = 0; k < 3; k++, rest /= count) {
            at += gaps[rest % count];
            written(&story, 0, at, 1);
        }
        char *text = drawn(&story, "FENCE-03", 80);
        size_t len = strcspn(text, "\n");
        cr_assert_leq(len, 80, "%s", text);
        for (const char *word = text; word < text + len;) {
            word += strspn(word, " ");
            size_t bytes = strcspn(word, " \n");
            const char *mark = strstr(word, "//");
            bool plain = mark == NULL || mark >= word + bytes;
            cr_assert(plain || (mark == word && strncmp(word + bytes - 2, "//", 2) == 0 &&
                                strstr(word + 2, "//") == word + bytes - 2),
                      "%s", text);
            word += bytes;
        }
        free(text);
    }
}

Test(timeline, a_long_run_stays_on_a_screen) {
    struct story story;
    story_begin(&story);
    for (int i = 0; i < 3000; i++) {
        granted(&story, i % 2, i * 40 * S, 30 * S, i + 1);
        written(&story, i % 2, (i * 40 + 7) * S, i + 1);
    }
    char *text = drawn(&story, "FENCE-03", 80);
    int lines = 0;
    for (const char *at = text; *at != '\0'; lines++) {
        size_t len = strcspn(at, "\n");
        cr_assert_leq(len, 80, "%s", text);
        at += len + 1;
    }
    cr_assert_leq(lines, 20, "%s", text);
    cr_assert_not_null(strstr(text, "FENCE-03"), "%s", text);
    free(text);
}

Test(timeline, lane_of_a_name_is_found_among_many) {
    enum { COUNT = 5000 };
    struct lapse_setup setup;
    memset(&setup, 0, sizeof setup);
    const struct lapse_setup_bucket buckets[] = {{.name = lapse_bytes_of("a/b"), .locks = true}};
    setup.bucket_count = 1;
    setup.buckets = buckets;
    struct lapse_lanes lanes = {.alloc = lapse_alloc_libc(), .setup = &setup};
    static char names[COUNT][8];
    const struct lapse_bytes none = {NULL, 0};
    cr_assert_null(lapse_lane_seek(&lanes, none, lapse_bytes_of("0")));
    for (int turn = 0; turn < 2; turn++) { /* the second finds what the first made */
        for (size_t i = 0; i < COUNT; i++) {
            (void)snprintf(names[i], sizeof names[i], "%zu", i / 2);
            struct lapse_bytes bucket = i % 2 == 0 ? none : buckets[0].name;
            cr_assert_eq(lapse_lane_find(&lanes, lapse_lanes_kind(&lanes, bucket), bucket,
                                         lapse_bytes_of(names[i])),
                         i);
        }
    }
    cr_assert_eq(lanes.lane_count, COUNT);
    const struct {
        struct lapse_grant_ref grant;
        ptrdiff_t lane;
    } cases[] = {
        {{true, false, lapse_bytes_of("7"), 1}, 14},
        {{true, true, lapse_bytes_of("a/b/7"), 1}, 15},
        {{true, true, lapse_bytes_of("a/7"), 1}, -1},
        {{true, false, lapse_bytes_of("a/b/7"), 1}, -1},
        {{false, false, lapse_bytes_of("7"), 1}, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct lapse_lane *lane = lapse_lane_of_grant(&lanes, &cases[i].grant);
        cr_assert_eq(lane == NULL ? -1 : lane - lanes.lanes, cases[i].lane, "case %zu", i);
    }
    lapse_lanes_free(&lanes);
}
