/* The search under policies: what a system may answer that strict may not, and what neither may. */
#include "contracts/linear_history.h"
#include "history_builder_test.h"

#include <criterion/criterion.h>
#include <string.h>

#define S(n) ((n)*SECOND)
#define MS (SECOND / 1000)

#define TEXT(text) \
    { (const unsigned char *)(text), sizeof(text) - 1 }

static const struct lapse_setup_bucket buckets[] = {
    {.name = TEXT("plain")},
    {.name = TEXT("aged"), .config = {.term = {.given = LAPSE_TERM_TTL, .ttl = {S(60)}}}},
    {.name = TEXT("marked"),
     .config = {.term = {.given = LAPSE_TERM_TTL, .ttl = {S(60)}}, .markers = {S(600)}}},
};

static void talk(struct builder *b, int64_t at, struct lapse_request request,
                 struct lapse_answer answer) {
    b->at = at;
    int64_t call = invoke(b, W1, request);
    reply(b, W1, call, request.verb, answer);
}

static struct lapse_answer says(enum lapse_status status, int64_t revision) {
    return (struct lapse_answer){.status = status, .revision = revision};
}

static struct lapse_answer shows(const char *value, int64_t revision) {
    return (struct lapse_answer){.revision = revision, .value = lapse_bytes_of(value)};
}

static struct lapse_request of(enum lapse_verb verb, const char *bucket) {
    struct lapse_request request = key_call(verb, bucket, "k");
    if (verb == LAPSE_VERB_SET || verb == LAPSE_VERB_CREATE || verb == LAPSE_VERB_UPDATE) {
        request.command.u.write.value = lapse_bytes_of("v");
    }
    return request;
}

static void update(struct builder *b, int64_t at, const char *bucket, int64_t version,
                   int64_t revision) {
    talk(b, at, versioned(of(LAPSE_VERB_UPDATE, bucket), version),
         revision > 0 ? says(LAPSE_OK, revision) : says(LAPSE_CONFLICT, 0));
}

static void create(struct builder *b, int64_t at, const char *bucket, int64_t revision) {
    talk(b, at, of(LAPSE_VERB_CREATE, bucket), says(LAPSE_OK, revision));
}

static void read_at(struct builder *b, int64_t at, const char *bucket, int64_t revision) {
    talk(b, at, of(LAPSE_VERB_GET, bucket),
         revision > 0 ? shows("v", revision) : says(LAPSE_ABSENT, 0));
}

static void tombstone_is_a_version(struct builder *b) {
    create(b, S(1), "aged", 1);
    talk(b, S(2), of(LAPSE_VERB_DELETE, "aged"), says(LAPSE_OK, 2));
    update(b, S(3), "aged", 2, 3);
}

static void tombstone_stands_in_the_way(struct builder *b) {
    create(b, S(1), "aged", 1);
    talk(b, S(2), of(LAPSE_VERB_DELETE, "aged"), says(LAPSE_OK, 2));
    update(b, S(3), "aged", 1, 3);
}

static void two_of_one_version(struct builder *b) {
    create(b, S(1), "aged", 1);
    update(b, S(2), "aged", 1, 2);
    update(b, S(3), "aged", 1, 3);
}

static void ended_is_no_version(struct builder *b) {
    create(b, S(1), "aged", 1);
    update(b, S(70), "aged", 1, 2);
}

static void nothing_is_version_zero(struct builder *b) {
    create(b, S(1), "aged", 1);
    update(b, S(70), "aged", 0, 2);
}

static void a_marker_is_a_version(struct builder *b) {
    create(b, S(1), "marked", 1);
    update(b, S(70), "marked", 2, 3);
}

static void an_ended_entry_is_not_its_marker(struct builder *b) {
    create(b, S(1), "marked", 1);
    update(b, S(70), "marked", 1, 3);
}

static void zero_conflicts_with_nothing(struct builder *b) {
    create(b, S(1), "aged", 1);
    update(b, S(70), "aged", 0, 0);
}

static void a_delete_of_nothing_is_done(struct builder *b) {
    talk(b, S(1), of(LAPSE_VERB_DELETE, "plain"), says(LAPSE_OK, 1));
}

static void swept_in_time(struct builder *b) {
    create(b, 0, "aged", 1);
    read_at(b, S(60) + 250 * MS - 1, "aged", 1);
    read_at(b, S(60) + 250 * MS, "aged", 0);
}

static void never_swept(struct builder *b) {
    create(b, 0, "aged", 1);
    read_at(b, S(60) + 250 * MS, "aged", 1);
}

static void swept_too_soon(struct builder *b) {
    create(b, 0, "aged", 1);
    read_at(b, S(60) - 1, "aged", 0);
}

static void own_term_is_bounded(struct builder *b) {
    talk(b, 0, with_ttl(of(LAPSE_VERB_SET, "marked"), S(90)), says(LAPSE_OK, 1));
    read_at(b, S(60), "marked", 0);
}

static void own_term_is_cut_down(struct builder *b) {
    talk(b, 0, with_ttl(of(LAPSE_VERB_SET, "marked"), 1900 * MS), says(LAPSE_OK, 1));
    read_at(b, S(1), "marked", 0);
}

static void live_at_its_end(struct builder *b) {
    talk(b, 0, with_ttl(of(LAPSE_VERB_SET, "plain"), S(10)), says(LAPSE_OK, 1));
    read_at(b, S(10), "plain", 1);
}

static void live_past_its_end(struct builder *b) {
    talk(b, 0, with_ttl(of(LAPSE_VERB_SET, "plain"), S(10)), says(LAPSE_OK, 1));
    read_at(b, S(10) + 2 * MS, "plain", 1);
}

static void plain_set_has_no_term(struct builder *b) {
    talk(b, 0, of(LAPSE_VERB_SET, "aged"), says(LAPSE_OK, 1));
    read_at(b, S(600), "aged", 1);
}

static void plain_set_keeps_the_end(struct builder *b) {
    talk(b, 0, of(LAPSE_VERB_SET, "aged"), says(LAPSE_OK, 1));
    talk(b, S(30), of(LAPSE_VERB_SET, "aged"), says(LAPSE_OK, 2));
    read_at(b, S(60) + MS, "aged", 0);
}

static void plain_set_is_fresh(struct builder *b) {
    talk(b, 0, of(LAPSE_VERB_SET, "aged"), says(LAPSE_OK, 1));
    talk(b, S(30), of(LAPSE_VERB_SET, "aged"), says(LAPSE_OK, 2));
    read_at(b, S(61), "aged", 2);
}

static void no_span_ends_at_once(struct builder *b) {
    talk(b, 0, with_ttl(of(LAPSE_VERB_SET, "plain"), 0), says(LAPSE_OK, 1));
    read_at(b, S(1), "plain", 0);
}

static void no_span_never_ends(struct builder *b) {
    talk(b, 0, with_ttl(of(LAPSE_VERB_SET, "plain"), 0), says(LAPSE_OK, 1));
    read_at(b, S(600), "plain", 1);
}

static void negative_span(struct builder *b) {
    talk(b, 0, with_ttl(of(LAPSE_VERB_SET, "plain"), -1), says(LAPSE_OK, 1));
}

static void released_past_its_end(struct builder *b) {
    talk(b, 0, lease_call(LAPSE_VERB_ACQUIRE, "job", "a", S(10)),
         (struct lapse_answer){.has_token = true, .token = 0});
    talk(b, S(20), lease_call(LAPSE_VERB_RELEASE, "job", "a", 0), says(LAPSE_OK, 0));
    talk(b, S(21), lease_call(LAPSE_VERB_ACQUIRE, "job", "b", S(10)),
         (struct lapse_answer){.has_token = true, .token = 1});
}

static void two_holders(struct builder *b) {
    talk(b, 0, lease_call(LAPSE_VERB_ACQUIRE, "job", "a", S(10)), says(LAPSE_OK, 0));
    talk(b, S(1), lease_call(LAPSE_VERB_ACQUIRE, "job", "b", S(10)), says(LAPSE_OK, 0));
}

struct case_of {
    const char *name;
    void (*tell)(struct builder *b);
    enum lapse_profile profile;
    bool accepted, accepted_strict;
    bool sweeps; /* with end_seen: sweep */
};

/* Whether every problem has an order. */
static bool has_order(struct builder *b, const char **ret_left_out) {
    struct lapse_linear_problems problems;
    struct lapse_linear_budget budget = lapse_linear_budget_default();
    struct lapse_linear_sum sum;
    cr_assert_eq(lapse_linear_history_read(lapse_alloc_libc(), b->history, &problems, NULL),
                 LAPSE_OK);
    cr_assert_null(problems.not_judged, "%s", problems.not_judged);
    cr_assert_eq(lapse_linear_judge(lapse_alloc_libc(), &problems, &budget, &sum, NULL), LAPSE_OK);
    cr_assert_neq(sum.verdict, LAPSE_LINEAR_GAVE_UP);
    *ret_left_out = problems.left_out;
    lapse_linear_result_free(&sum.result);
    lapse_linear_problems_free(&problems);
    builder_close(b);
    return sum.verdict == LAPSE_LINEAR_YES;
}

static void open_under(struct builder *b, struct lapse_setup *setup, enum lapse_profile profile,
                       bool sweeps) {
    *setup = *builder_setup();
    setup->rate_ppb = 0;
    setup->reap_bound.ns = 0;
    setup->buckets = buckets;
    setup->bucket_count = sizeof buckets / sizeof *buckets;
    setup->policies = lapse_policies_of(profile);
    setup->policies.value[LAPSE_POLICY_END_SEEN] = sweeps ? 1 : 0;
    builder_open_with(b, setup);
}

Test(linear_policy, lets_pass_what_a_system_may_answer_and_no_more) {
    static const struct case_of cases[] = {
        {"tombstone", tombstone_is_a_version, LAPSE_PROFILE_NATS, true, false, false},
        {"tombstone in the way", tombstone_stands_in_the_way, LAPSE_PROFILE_NATS, false, false,
         false},
        {"two of one version", two_of_one_version, LAPSE_PROFILE_NATS, false, false, false},
        {"ended", ended_is_no_version, LAPSE_PROFILE_NATS, false, false, false},
        {"zero", nothing_is_version_zero, LAPSE_PROFILE_NATS, true, false, false},
        {"marker", a_marker_is_a_version, LAPSE_PROFILE_NATS, true, false, false},
        {"no marker", an_ended_entry_is_not_its_marker, LAPSE_PROFILE_NATS, false, false, false},
        {"zero conflicts", zero_conflicts_with_nothing, LAPSE_PROFILE_NATS, false, true, false},
        {"delete", a_delete_of_nothing_is_done, LAPSE_PROFILE_NATS, true, false, false},
        {"swept", swept_in_time, LAPSE_PROFILE_NATS, true, false, true},
        {"exact", swept_in_time, LAPSE_PROFILE_NATS, false, false, false},
        {"not swept", never_swept, LAPSE_PROFILE_NATS, false, false, true},
        {"swept too soon", swept_too_soon, LAPSE_PROFILE_NATS, false, false, true},
        {"bounded", own_term_is_bounded, LAPSE_PROFILE_NATS, true, false, false},
        {"whole seconds", own_term_is_cut_down, LAPSE_PROFILE_NATS, true, false, false},
        {"at its end", live_at_its_end, LAPSE_PROFILE_KAHUNA, true, false, false},
        {"past its end", live_past_its_end, LAPSE_PROFILE_KAHUNA, false, false, false},
        {"no term", plain_set_has_no_term, LAPSE_PROFILE_KAHUNA, true, false, false},
        {"kept", plain_set_keeps_the_end, LAPSE_PROFILE_TINYSTORE, true, false, false},
        {"fresh", plain_set_is_fresh, LAPSE_PROFILE_TINYSTORE, false, true, false},
        {"no span, ended", no_span_ends_at_once, LAPSE_PROFILE_TINYSTORE, true, false, false},
        {"no span, lives", no_span_never_ends, LAPSE_PROFILE_KAHUNA, true, false, false},
        {"no span, nats", no_span_ends_at_once, LAPSE_PROFILE_NATS, false, false, false},
        {"negative", negative_span, LAPSE_PROFILE_KAHUNA, false, false, false},
        {"released", released_past_its_end, LAPSE_PROFILE_KAHUNA, true, false, false},
        {"two holders", two_holders, LAPSE_PROFILE_KAHUNA, false, false, false},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const struct case_of *c = &cases[i / 2];
        bool strict = i % 2 == 1;
        struct lapse_setup setup;
        struct builder b;
        const char *left_out;
        open_under(&b, &setup, strict ? LAPSE_PROFILE_STRICT : c->profile, !strict && c->sweeps);
        c->tell(&b);
        cr_expect_eq(has_order(&b, &left_out), strict ? c->accepted_strict : c->accepted,
                     "%s%s", c->name, strict ? ", strict" : "");
        cr_expect_null(left_out, "%s: %s", c->name, left_out);
    }
}

/* Where a term may be over, to the nanosecond: absent from `from` and not a nanosecond sooner, live
 * up to `to` and not at it. Terms of 10 s that begin at once or within 11 s; of a date, at 10 s and
 * a part of a millisecond. */
struct edge {
    const char *name;
    uint8_t at_end, resolution;
    int64_t rate_ppb, began, returned, span, date, from, to;
};

static bool edge_accepts(const struct edge *edge, int64_t at, bool live) {
    struct lapse_setup setup;
    struct builder b;
    const char *left_out;
    setup = *builder_setup();
    setup.rate_ppb = edge->rate_ppb;
    setup.buckets = buckets;
    setup.bucket_count = sizeof buckets / sizeof *buckets;
    setup.policies.value[LAPSE_POLICY_AT_END] = edge->at_end;
    setup.policies.value[LAPSE_POLICY_RESOLUTION] = edge->resolution;
    builder_open_with(&b, &setup);
    struct lapse_request sets = of(LAPSE_VERB_SET, "plain");
    if (edge->date > 0) {
        sets.command.u.write.term = (struct lapse_term){
            .given = LAPSE_TERM_EXPIRES_AT, .expires_at = {setup.epoch.ns + edge->date}};
    } else {
        sets = with_ttl(sets, edge->span);
    }
    b.at = edge->began;
    int64_t call = invoke(&b, W1, sets);
    b.at = edge->returned;
    reply(&b, W1, call, LAPSE_VERB_SET, says(LAPSE_OK, 1));
    read_at(&b, at, "plain", live ? 1 : 0);
    return has_order(&b, &left_out);
}

Test(linear_policy, a_term_is_over_in_its_window_to_the_nanosecond) {
    static const struct edge edges[] = {
        {"strict", 0, 0, 0, S(1), S(2), S(10), 0, S(11), S(12)},
        {"at end", 1, 0, 0, S(1), S(2), S(10), 0, S(11) + 1, S(12) + 1},
        {"ms", 0, 1, 0, S(1), S(2), S(10), 0, S(11) - MS + 1, S(12)},
        {"ms, at end", 1, 1, 0, S(1), S(2), S(10), 0, S(11) + 1, S(12) + MS},
        {"ms, span cut", 0, 1, 0, S(1), S(2), S(10) + MS - 1, 0, S(11) - MS + 1, S(12)},
        {"ms, at end, span cut", 1, 1, 0, S(1), S(2), S(10) + MS - 1, 0, S(11) + 1, S(12) + MS},
        /* Of 10 s and a unit, by clocks that run a tenth faster or slower. */
        {"rate, ms, at end", 1, 1, S(1) / 10, S(1), S(2), S(11) - MS, 0, S(1) + INT64_C(9999090910),
         S(2) + (S(11) * 10 + 8) / 9},
        {"date", 0, 0, 0, S(1), S(2), 0, S(10) + 7, S(10) + 7, S(10) + 7},
        {"date, at end", 1, 0, 0, S(1), S(2), 0, S(10) + 7, S(10) + 8, S(10) + 8},
        {"date, ms", 0, 1, 0, S(1), S(2), 0, S(10) + 7, S(10), S(10)},
        {"date, ms, at end", 1, 1, 0, S(1), S(2), 0, S(10) + 7, S(10) + MS, S(10) + MS},
    };
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        const struct edge *edge = &edges[i];
        cr_expect(!edge_accepts(edge, edge->from - 1, false), "%s: absent too early", edge->name);
        cr_expect(edge_accepts(edge, edge->from, false), "%s: the earliest end", edge->name);
        cr_expect(edge_accepts(edge, edge->to - 1, true), "%s: the latest life", edge->name);
        cr_expect(!edge_accepts(edge, edge->to, true), "%s: live too late", edge->name);
    }
}

Test(linear_policy, says_what_it_leaves_out) {
    struct lapse_setup setup;
    struct builder b;
    const char *left_out;
    open_under(&b, &setup, LAPSE_PROFILE_NATS, false);
    two_holders(&b);
    cr_assert(has_order(&b, &left_out));
    cr_assert_str_eq(left_out, "leases, as their tokens are revisions of writes (lease_token: "
                               "write)");
    open_under(&b, &setup, LAPSE_PROFILE_TINYSTORE, false);
    struct lapse_request idle = of(LAPSE_VERB_SET, "plain");
    idle.command.u.write.term.given = LAPSE_TERM_IDLE;
    idle.command.u.write.term.idle.ns = S(10);
    talk(&b, 0, idle, says(LAPSE_OK, 1));
    read_at(&b, S(1), "plain", 0);
    cr_assert(has_order(&b, &left_out));
    cr_assert_not_null(strstr(left_out, "own_term_in_idle"));
}
