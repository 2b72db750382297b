/* Histories seen from outside: where ends may lie, to the nanosecond, and what each kind of call
 * tells. */
#include "contracts/certificate.h"
#include "contracts/linear_history.h"
#include "history_builder_test.h"
#include "linear_brute_test.h"
#include "linear_leases_test.h"

#include <criterion/criterion.h>

#define S(n) ((n)*SECOND)

/* A call that was sent, and is told its answer, at these times. */
static void talk(struct builder *b, int64_t sent, int64_t told, struct lapse_request request,
                 struct lapse_answer answer) {
    b->at = sent;
    int64_t call = invoke(b, W1, request);
    b->at = told;
    reply(b, W1, call, request.verb, answer);
}

static int64_t send(struct builder *b, int64_t sent, struct lapse_request request) {
    b->at = sent;
    return invoke(b, W2, request);
}

static struct lapse_answer says(enum lapse_status status, int64_t revision) {
    return (struct lapse_answer){.status = status, .revision = revision};
}

static struct lapse_answer shows(const char *value, int64_t revision) {
    return (struct lapse_answer){.revision = revision, .value = lapse_bytes_of(value)};
}

static struct lapse_answer holds(enum lapse_status status, const char *owner, int64_t token) {
    return (struct lapse_answer){
        .status = status, .owner = lapse_bytes_of(owner), .has_token = token > 0, .token = token};
}

static struct lapse_request get(const char *key) {
    return key_call(LAPSE_VERB_GET, "plain", key);
}

static struct lapse_request set(const char *key, const char *value) {
    return put_call(LAPSE_VERB_SET, "plain", key, value);
}

static struct lapse_request dated(struct lapse_request request, int64_t at) {
    request.command.u.write.term.given = LAPSE_TERM_EXPIRES_AT;
    request.command.u.write.term.expires_at.ns = builder_setup()->epoch.ns + at;
    return request;
}

static struct lapse_setup bounded(int64_t rate_ppb, int64_t wall_ns) {
    struct lapse_setup setup = *builder_setup();
    setup.rate_ppb = rate_ppb;
    setup.wall_bound.ns = wall_ns;
    return setup;
}

/* Judges and closes. */
static enum lapse_linear_verdict verdict_of(struct builder *b) {
    struct lapse_linear_problems problems;
    struct lapse_linear_budget budget = lapse_linear_budget_default();
    enum lapse_linear_verdict verdict = LAPSE_LINEAR_YES;
    cr_assert_eq(lapse_linear_history_read(lapse_alloc_libc(), b->history, &problems, NULL),
                 LAPSE_OK);
    cr_assert_null(problems.not_judged, "%s", problems.not_judged);
    for (size_t i = 0; i < problems.count; i++) {
        struct lapse_linear_problem *p = &problems.items[i];
        struct lapse_linear_result result;
        struct lapse_error err = {0};
        cr_assert_eq(lapse_linear_check(lapse_alloc_libc(), &p->model, p->calls, p->count, &budget,
                                        &result, &err),
                     LAPSE_OK, "%s", err.message);
        cr_assert_neq(result.verdict, LAPSE_LINEAR_GAVE_UP);
        if (result.verdict == LAPSE_LINEAR_YES) {
            cr_assert_eq(lapse_certificate_verify(lapse_alloc_libc(), &p->model, p->calls, p->count,
                                                  result.witness, result.witness_count, &err),
                         LAPSE_OK, "%s", err.message);
        } else {
            cr_assert(result.core_minimal);
            verdict = LAPSE_LINEAR_NO;
        }
        lapse_linear_result_free(&result);
    }
    lapse_linear_problems_free(&problems);
    builder_close(b);
    return verdict;
}

/* What gives a term between 10 s and 11 s, and what then asks at an instant. */
struct edge {
    const char *name;
    int64_t rate_ppb, wall_ns;
    void (*begin)(struct builder *b);
    bool lease;
    int64_t from, to; /* absent from, at the earliest; live before, at the latest */
};

static void begin_span(struct builder *b) {
    talk(b, S(10), S(11), with_ttl(set("k", "v"), S(30)), says(LAPSE_OK, 1));
}

static void begin_date(struct builder *b) {
    talk(b, S(10), S(11), dated(set("k", "v"), S(60)), says(LAPSE_OK, 1));
}

static void begin_expire(struct builder *b) {
    talk(b, S(0), S(0), with_ttl(set("k", "v"), S(5)), says(LAPSE_OK, 1));
    talk(b, S(1), S(1), with_ttl(key_call(LAPSE_VERB_EXPIRE, "plain", "k"), S(100)),
         says(LAPSE_OK, 1));
    talk(b, S(10), S(11), with_ttl(key_call(LAPSE_VERB_EXPIRE, "plain", "k"), S(30)),
         says(LAPSE_OK, 1));
}

static void begin_restarted(struct builder *b) {
    begin_span(b);
    b->at = S(20);
    node_fault(b, LAPSE_HISTORY_FAULT_BEGIN, LAPSE_FAULT_CRASH);
    b->at = S(21);
    tenure(b, true, S(21));
}

static void begin_date_restarted(struct builder *b) {
    begin_date(b);
    b->at = S(20);
    node_fault(b, LAPSE_HISTORY_FAULT_BEGIN, LAPSE_FAULT_CRASH);
    b->at = S(21);
    tenure(b, true, S(21));
}

static void begin_process_restarted(struct builder *b) {
    begin_span(b);
    b->at = S(20);
    node_fault(b, LAPSE_HISTORY_FAULT_BEGIN, LAPSE_FAULT_CRASH);
    b->at = S(21);
    tenure(b, false, S(21));
}

static void begin_idle(struct builder *b) {
    struct lapse_request idle = set("k", "v");
    idle.command.u.write.term.given = LAPSE_TERM_IDLE;
    idle.command.u.write.term.idle.ns = S(30);
    talk(b, S(0), S(0), idle, says(LAPSE_OK, 1));
    struct lapse_answer renewed = shows("v", 1);
    renewed.renewed = true;
    talk(b, S(10), S(11), get("k"), renewed);
}

static void begin_lease(struct builder *b) {
    talk(b, S(10), S(11), lease_call(LAPSE_VERB_ACQUIRE, "job", "a", S(30)),
         holds(LAPSE_OK, "a", 1));
}

static void begin_extended(struct builder *b) {
    talk(b, S(0), S(0), lease_call(LAPSE_VERB_ACQUIRE, "job", "a", S(20)), holds(LAPSE_OK, "a", 1));
    talk(b, S(10), S(11), lease_call(LAPSE_VERB_EXTEND, "job", "a", S(30)),
         holds(LAPSE_OK, "a", 1));
}

static bool edge_accepts(const struct edge *edge, int64_t at, bool live) {
    struct builder b;
    struct lapse_setup setup = bounded(edge->rate_ppb, edge->wall_ns);
    builder_open_with(&b, &setup);
    edge->begin(&b);
    if (edge->lease) {
        talk(&b, at, at, lease_call(LAPSE_VERB_ACQUIRE, "job", "b", S(30)),
             live ? holds(LAPSE_HELD, "a", 0) : holds(LAPSE_OK, "b", 2));
    } else {
        struct lapse_request peeks = get("k");
        peeks.command.u.read.peek = true;
        talk(&b, at, at, peeks, live ? shows("v", 1) : says(LAPSE_ABSENT, 0));
    }
    return verdict_of(&b) == LAPSE_LINEAR_YES;
}

/* floor(30 s / 1.1) and ceil(30 s / 0.9). */
#define LEAST INT64_C(27272727272)
#define MOST INT64_C(33333333334)
#define TENTH INT64_C(100000000)

Test(linear_history, an_end_lies_in_its_window_to_the_nanosecond) {
    static const struct edge edges[] = {
        {"span", 0, 0, begin_span, false, S(40), S(41)},
        {"span, rate", TENTH, 0, begin_span, false, S(10) + LEAST, S(11) + MOST},
        {"expire", TENTH, 0, begin_expire, false, S(10) + LEAST, S(11) + MOST},
        {"date", 0, 0, begin_date, false, S(60), S(60)},
        {"date, bound", TENTH, S(2), begin_date, false, S(58), S(62)},
        {"restart", 0, S(2), begin_restarted, false, S(35), S(45)},
        {"restart, rate", TENTH, S(2), begin_restarted, false, S(5) + LEAST, S(15) + MOST},
        {"date, restart", 0, S(2), begin_date_restarted, false, S(57), S(62)},
        {"process", 0, S(2), begin_process_restarted, false, S(40), S(41)},
        {"idle", TENTH, 0, begin_idle, false, S(10) + LEAST, S(11) + MOST},
        {"lease", TENTH, 0, begin_lease, true, S(10) + LEAST, S(11) + MOST},
        {"extend", TENTH, 0, begin_extended, true, S(10) + LEAST, S(11) + MOST},
    };
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        const struct edge *edge = &edges[i];
        cr_expect(!edge_accepts(edge, edge->from - 1, false), "%s: absent too early", edge->name);
        cr_expect(edge_accepts(edge, edge->from, false), "%s: the earliest end", edge->name);
        cr_expect(edge_accepts(edge, edge->to - 1, true), "%s: the latest life", edge->name);
        cr_expect(!edge_accepts(edge, edge->to, true), "%s: live too late", edge->name);
    }
}

/* A story, and the verdict on it. */
struct story {
    const char *name;
    void (*tell)(struct builder *b);
    enum lapse_linear_verdict verdict;
};

static void rewritten(struct builder *b) {
    begin_span(b);
    talk(b, S(20), S(20), set("k", "w"), says(LAPSE_OK, 2));
    talk(b, S(90), S(90), get("k"), shows("w", 2));
}

static void resurrected(struct builder *b) {
    begin_span(b);
    talk(b, S(41), S(41), get("k"), says(LAPSE_ABSENT, 0));
    talk(b, S(42), S(42), get("k"), shows("v", 1));
}

static void persisted(struct builder *b) {
    begin_span(b);
    talk(b, S(20), S(20), key_call(LAPSE_VERB_PERSIST, "plain", "k"), says(LAPSE_OK, 1));
    talk(b, S(90), S(90), get("k"), shows("v", 1));
}

static void kept(struct builder *b) {
    struct lapse_request keeps = set("k", "w");
    keeps.command.u.write.term.given = LAPSE_TERM_KEEP;
    begin_span(b);
    talk(b, S(20), S(20), keeps, says(LAPSE_OK, 2));
    talk(b, S(41), S(41), get("k"), shows("w", 2));
}

static void default_term(struct builder *b) {
    talk(b, 0, 0, put_call(LAPSE_VERB_SET, "codes", "k", "v"), says(LAPSE_OK, 1));
    talk(b, S(1100), S(1100), key_call(LAPSE_VERB_GET, "codes", "k"), shows("v", 1));
}

static void unanswered_may_come_late(struct builder *b) {
    send(b, 0, set("k", "v"));
    talk(b, S(5), S(5), get("k"), says(LAPSE_ABSENT, 0));
    talk(b, S(6), S(6), get("k"), shows("v", 7));
}

static void unanswered_comes_once(struct builder *b) {
    send(b, 0, set("k", "v"));
    talk(b, S(5), S(5), get("k"), shows("v", 7));
    talk(b, S(6), S(6), key_call(LAPSE_VERB_DELETE, "plain", "k"), says(LAPSE_OK, 8));
    talk(b, S(7), S(7), get("k"), shows("v", 7));
}

static void unanswered_ends_when_it_will(struct builder *b) {
    send(b, 0, with_ttl(set("k", "v"), S(1)));
    talk(b, S(500), S(500), get("k"), shows("v", 7));
    talk(b, S(600), S(600), get("k"), says(LAPSE_ABSENT, 0));
}

static void unanswered_ends_too_early(struct builder *b) {
    send(b, 0, with_ttl(set("k", "v"), S(100)));
    talk(b, S(5), S(5), get("k"), shows("v", 7));
    talk(b, S(6), S(6), get("k"), says(LAPSE_ABSENT, 0));
}

static void unavailable_did_nothing(struct builder *b) {
    talk(b, 0, S(1), set("k", "v"), says(LAPSE_UNAVAILABLE, 0));
    talk(b, S(5), S(5), get("k"), shows("v", 7));
}

static void unknown_may_have(struct builder *b) {
    talk(b, 0, S(1), set("k", "v"), says(LAPSE_UNKNOWN, 0));
    talk(b, S(5), S(5), get("k"), shows("v", 7));
}

static void revision_falls(struct builder *b) {
    talk(b, 0, 0, set("k", "v"), says(LAPSE_OK, 5));
    talk(b, S(1), S(1), set("k", "v"), says(LAPSE_OK, 4));
}

static void two_updates_of_one_revision(struct builder *b) {
    talk(b, 0, 0, set("k", "v"), says(LAPSE_OK, 1));
    talk(b, S(1), S(1), versioned(put_call(LAPSE_VERB_UPDATE, "plain", "k", "w"), 1),
         says(LAPSE_OK, 2));
    talk(b, S(2), S(2), versioned(put_call(LAPSE_VERB_UPDATE, "plain", "k", "x"), 1),
         says(LAPSE_OK, 3));
}

static void conflict_tells_the_revision(struct builder *b) {
    talk(b, 0, 0, set("k", "v"), says(LAPSE_OK, 2));
    talk(b, S(1), S(1), versioned(put_call(LAPSE_VERB_UPDATE, "plain", "k", "w"), 1),
         says(LAPSE_CONFLICT, 3));
}

static void conflict_on_nothing(struct builder *b) {
    talk(b, S(1), S(1), versioned(put_call(LAPSE_VERB_UPDATE, "plain", "k", "w"), 1),
         says(LAPSE_CONFLICT, 0));
    talk(b, S(2), S(2), put_call(LAPSE_VERB_CREATE, "plain", "k", "v"), says(LAPSE_OK, 2));
    talk(b, S(3), S(3), put_call(LAPSE_VERB_CREATE, "plain", "k", "v"), says(LAPSE_EXISTS, 0));
}

static void list_of(struct builder *b, int64_t at, size_t count, const char *const *keys) {
    struct lapse_item items[4] = {{.key = {NULL, 0}}};
    for (size_t i = 0; i < count; i++) {
        items[i].key = lapse_bytes_of(keys[i]);
    }
    struct lapse_answer answer = {.item_count = count, .items = items};
    talk(b, at, at, key_call(LAPSE_VERB_LIST, "plain", ""), answer);
}

static void listed(struct builder *b) {
    static const char *const both[] = {"j", "k"};
    talk(b, 0, 0, set("k", "v"), says(LAPSE_OK, 1));
    talk(b, 0, 0, set("j", "v"), says(LAPSE_OK, 2));
    list_of(b, S(1), 2, both);
}

static void left_out_of_a_list(struct builder *b) {
    static const char *const one[] = {"j"};
    talk(b, 0, 0, set("k", "v"), says(LAPSE_OK, 1));
    talk(b, 0, 0, set("j", "v"), says(LAPSE_OK, 2));
    list_of(b, S(1), 1, one);
}

static void listed_from_nowhere(struct builder *b) {
    static const char *const one[] = {"j"};
    list_of(b, S(1), 1, one);
}

static void counted(struct builder *b, size_t count) {
    struct lapse_answer answer = {.item_count = count};
    talk(b, 0, 0, set("k", "v"), says(LAPSE_OK, 1));
    talk(b, S(1), S(1), key_call(LAPSE_VERB_COUNT, "plain", ""), answer);
}

static void counted_none(struct builder *b) {
    counted(b, 0);
}

static void counted_all(struct builder *b) {
    counted(b, 1);
}

static void batch(struct builder *b, bool done, const char *then) {
    struct lapse_command members[2] = {set("k", "v").command, set("k", "w").command};
    struct lapse_batch_answer answers[2] = {{.verb = LAPSE_VERB_SET, .revision = 1},
                                            {.verb = LAPSE_VERB_SET, .revision = 2}};
    struct lapse_answer answer = {.answer_count = 2, .answers = answers};
    answer.status = done ? LAPSE_OK : LAPSE_CONFLICT;
    talk(b, 0, 0, batch_call(members, 2), answer);
    talk(b, S(1), S(1), get("k"), then == NULL ? says(LAPSE_ABSENT, 0) : shows(then, 2));
}

static void batch_done(struct builder *b) {
    batch(b, true, "w");
}

static void batch_out_of_order(struct builder *b) {
    batch(b, true, "v");
}

static void batch_refused(struct builder *b) {
    batch(b, false, NULL);
}

static void batch_half_done(struct builder *b) {
    batch(b, false, "w");
}

static void repeat(struct builder *b, bool told) {
    struct lapse_request request = set("k", "v");
    struct lapse_answer answer = says(LAPSE_OK, 1);
    request.command.request = lapse_bytes_of("once");
    if (told) {
        talk(b, 0, 0, request, answer);
    } else {
        send(b, 0, request);
    }
    talk(b, S(1), S(1), key_call(LAPSE_VERB_DELETE, "plain", "k"),
         told ? says(LAPSE_OK, 2) : says(LAPSE_ABSENT, 0));
    answer.repeated = true;
    talk(b, S(2), S(2), request, answer);
}

static void repeated_did_nothing(struct builder *b) {
    repeat(b, true);
    talk(b, S(3), S(3), get("k"), says(LAPSE_ABSENT, 0));
}

static void repeated_told_the_first(struct builder *b) {
    repeat(b, false);
    talk(b, S(3), S(3), get("k"), says(LAPSE_ABSENT, 0));
}

static void idle_not_renewed(struct builder *b) {
    begin_idle(b);
    talk(b, S(45), S(45), get("k"), shows("v", 1));
}

static void idle_renewed_by_rule(struct builder *b) {
    struct lapse_request idle = set("k", "v");
    idle.command.u.write.term.given = LAPSE_TERM_IDLE;
    idle.command.u.write.term.idle.ns = S(30);
    talk(b, S(0), S(0), idle, says(LAPSE_OK, 1));
    for (int i = 1; i < 5; i++) {
        talk(b, S(20 * i), S(20 * i), get("k"), shows("v", 1));
    }
}

static void idle_used_too_soon(struct builder *b) {
    struct lapse_request idle = set("k", "v");
    idle.command.u.write.term.given = LAPSE_TERM_IDLE;
    idle.command.u.write.term.idle.ns = S(30);
    talk(b, S(0), S(0), idle, says(LAPSE_OK, 1));
    /* Too soon for the slowest clock: a renewal is due after a thirtieth of the span. */
    talk(b, S(1) / 2, S(1) / 2, get("k"), shows("v", 1));
    talk(b, MOST + S(1) / 4, MOST + S(1) / 4, get("k"), shows("v", 1));
}

static void two_owners(struct builder *b) {
    begin_lease(b);
    talk(b, S(12), S(12), lease_call(LAPSE_VERB_ACQUIRE, "job", "b", S(30)),
         holds(LAPSE_OK, "b", 2));
}

static void token_falls(struct builder *b) {
    talk(b, S(0), S(0), lease_call(LAPSE_VERB_ACQUIRE, "job", "a", S(30)), holds(LAPSE_OK, "a", 5));
    talk(b, S(1), S(1), lease_call(LAPSE_VERB_RELEASE, "job", "a", 0), says(LAPSE_OK, 0));
    talk(b, S(2), S(2), lease_call(LAPSE_VERB_ACQUIRE, "job", "b", S(30)), holds(LAPSE_OK, "b", 4));
}

static void lease_life(struct builder *b) {
    begin_lease(b);
    struct lapse_answer again = holds(LAPSE_OK, "a", 1);
    again.renewed = true;
    talk(b, S(12), S(12), lease_call(LAPSE_VERB_ACQUIRE, "job", "a", S(90)), again);
    talk(b, S(13), S(13), lease_call(LAPSE_VERB_INSPECT, "job", "", 0), holds(LAPSE_OK, "a", 1));
    talk(b, S(14), S(14), lease_call(LAPSE_VERB_EXTEND, "job", "b", S(9)),
         says(LAPSE_NOT_OWNER, 0));
    talk(b, S(15), S(15), lease_call(LAPSE_VERB_RELEASE, "job", "b", 0), says(LAPSE_NOT_OWNER, 0));
    talk(b, S(60), S(60), lease_call(LAPSE_VERB_EXTEND, "job", "a", S(9)), says(LAPSE_LOST, 0));
    talk(b, S(61), S(61), lease_call(LAPSE_VERB_RELEASE, "job", "a", 0), says(LAPSE_ABSENT, 0));
    talk(b, S(62), S(62), lease_call(LAPSE_VERB_INSPECT, "job", "", 0), says(LAPSE_ABSENT, 0));
}

static void lost_though_held(struct builder *b) {
    begin_lease(b);
    talk(b, S(14), S(14), lease_call(LAPSE_VERB_EXTEND, "job", "a", S(9)), says(LAPSE_LOST, 0));
}

static void ephemeral(struct builder *b, bool held) {
    struct lapse_request acquire = lease_call(LAPSE_VERB_ACQUIRE, "job", "a", S(900));
    acquire.command.u.lease.durability = LAPSE_EPHEMERAL;
    talk(b, S(0), S(0), acquire, holds(LAPSE_OK, "a", 1));
    b->at = S(1);
    node_fault(b, LAPSE_HISTORY_FAULT_BEGIN, LAPSE_FAULT_CRASH);
    b->at = S(2);
    tenure(b, false, S(2));
    talk(b, S(3), S(3), lease_call(LAPSE_VERB_INSPECT, "job", "", 0),
         held ? holds(LAPSE_OK, "a", 1) : says(LAPSE_ABSENT, 0));
}

static void ephemeral_gone(struct builder *b) {
    ephemeral(b, false);
}

static void ephemeral_stays(struct builder *b) {
    ephemeral(b, true);
}

Test(linear_history, takes_each_call_for_what_it_tells) {
    static const struct story stories[] = {
        {"rewritten", rewritten, LAPSE_LINEAR_YES},
        {"resurrected", resurrected, LAPSE_LINEAR_NO},
        {"persisted", persisted, LAPSE_LINEAR_YES},
        {"kept", kept, LAPSE_LINEAR_YES},
        {"default term", default_term, LAPSE_LINEAR_NO},
        {"unanswered, late", unanswered_may_come_late, LAPSE_LINEAR_YES},
        {"unanswered, once", unanswered_comes_once, LAPSE_LINEAR_NO},
        {"unanswered, ends", unanswered_ends_when_it_will, LAPSE_LINEAR_YES},
        {"unanswered, early", unanswered_ends_too_early, LAPSE_LINEAR_NO},
        {"unavailable", unavailable_did_nothing, LAPSE_LINEAR_NO},
        {"unknown", unknown_may_have, LAPSE_LINEAR_YES},
        {"revision", revision_falls, LAPSE_LINEAR_NO},
        {"two updates", two_updates_of_one_revision, LAPSE_LINEAR_NO},
        {"conflict", conflict_tells_the_revision, LAPSE_LINEAR_NO},
        {"conflict, none", conflict_on_nothing, LAPSE_LINEAR_YES},
        {"listed", listed, LAPSE_LINEAR_YES},
        {"left out", left_out_of_a_list, LAPSE_LINEAR_NO},
        {"listed, never set", listed_from_nowhere, LAPSE_LINEAR_NO},
        {"counted, none", counted_none, LAPSE_LINEAR_NO},
        {"counted, all", counted_all, LAPSE_LINEAR_YES},
        {"batch", batch_done, LAPSE_LINEAR_YES},
        {"batch, order", batch_out_of_order, LAPSE_LINEAR_NO},
        {"batch, refused", batch_refused, LAPSE_LINEAR_YES},
        {"batch, half", batch_half_done, LAPSE_LINEAR_NO},
        {"repeated", repeated_did_nothing, LAPSE_LINEAR_YES},
        {"repeated, first", repeated_told_the_first, LAPSE_LINEAR_NO},
        {"idle", idle_not_renewed, LAPSE_LINEAR_NO},
        {"idle, rule", idle_renewed_by_rule, LAPSE_LINEAR_YES},
        {"idle, soon", idle_used_too_soon, LAPSE_LINEAR_NO},
        {"two owners", two_owners, LAPSE_LINEAR_NO},
        {"token", token_falls, LAPSE_LINEAR_NO},
        {"lease", lease_life, LAPSE_LINEAR_YES},
        {"lost", lost_though_held, LAPSE_LINEAR_NO},
        {"ephemeral", ephemeral_gone, LAPSE_LINEAR_YES},
        {"ephemeral, stays", ephemeral_stays, LAPSE_LINEAR_NO},
    };
    for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
        struct builder b;
        builder_open(&b);
        stories[i].tell(&b);
        cr_expect_eq(verdict_of(&b), stories[i].verdict, "%s", stories[i].name);
    }
}

Test(linear_history, ten_thousand_calls_on_leases_have_an_order_until_one_is_wrong) {
    static const struct leases_plan plans[] = {{10, 20, 10000, 0, -1, 1},
                                               {10, 20, 10000, 10, -1, 2},
                                               {4, 3, 2000, 100, -1, 3},
                                               {10, 20, 10000, 10, 5000, 4}};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct builder b = {.calls = 0};
        cr_assert_eq(lapse_history_open(lapse_alloc_libc(), 0, &b.history, NULL), LAPSE_OK);
        cr_assert(leases_tell(&plans[i], b.history));
        cr_expect_eq(verdict_of(&b), plans[i].planted < 0 ? LAPSE_LINEAR_YES : LAPSE_LINEAR_NO,
                     "%zu", i);
    }
}

Test(linear_history, leaves_nothing_behind_when_memory_runs_out) {
    struct builder b;
    enum lapse_status status = LAPSE_NOMEM;
    builder_open(&b);
    begin_idle(&b);
    begin_lease(&b);
    batch(&b, true, "w");
    listed(&b);
    ephemeral(&b, false);
    for (int64_t n = 0; status == LAPSE_NOMEM; n++) {
        struct scarce scarce;
        struct lapse_linear_problems problems;
        scarce_init(&scarce, n);
        status = lapse_linear_history_read(&scarce.alloc, b.history, &problems, NULL);
        cr_assert(status == LAPSE_OK || status == LAPSE_NOMEM);
        lapse_linear_problems_free(&problems);
        cr_assert_eq(scarce.held, 0);
    }
    builder_close(&b);
}

/* Changes a setup, or a run, so that it is not judged. */
static void no_bound(struct lapse_setup *setup) {
    setup->rate_ppb = SECOND;
}

static void keeps_nothing(struct lapse_setup *setup) {
    setup->durable = false;
}

static void syncs_at_times(struct lapse_setup *setup) {
    setup->sync = LAPSE_SYNC_NORMAL;
}

Test(linear_history, says_why_it_does_not_judge) {
    static void (*const changes[])(struct lapse_setup *) = {no_bound, keeps_nothing,
                                                            syncs_at_times};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct builder b;
        struct lapse_linear_problems problems;
        struct lapse_setup setup = *builder_setup();
        changes[i](&setup);
        builder_open_with(&b, &setup);
        begin_process_restarted(&b);
        cr_assert_eq(lapse_linear_history_read(lapse_alloc_libc(), b.history, &problems, NULL),
                     LAPSE_OK);
        cr_assert_not_null(problems.not_judged, "%zu", i);
        cr_assert_eq(problems.count, 0);
        lapse_linear_problems_free(&problems);
        builder_close(&b);
    }
}
