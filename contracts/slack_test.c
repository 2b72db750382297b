/* Slack: the distance that a run kept from the edge of a promise, and nothing where no edge was
 * near. */
#include <criterion/criterion.h>
#include <string.h>

#include "contracts/slack.h"
#include "history_builder_test.h"

#define JOB "jobs/nightly"
#define SPAN (30 * SECOND)

struct near {
    const char *name;
    const char *id;
    bool known;
    int64_t least_ns;
    void (*story)(struct builder *b);
};

static void measure(const struct builder *b, struct lapse_slack ret[LAPSE_SLACKS]);

static struct lapse_request acquire(const char *owner) {
    return lease_call(LAPSE_VERB_ACQUIRE, JOB, owner, SPAN);
}

/* Granted to another 2 s after the end, and then, a release later, 1 s after that. */
static void after_an_end(struct builder *b) {
    grant(b, W1, JOB, "w1", SPAN, 1);
    b->at = SPAN + 2 * SECOND;
    decide(b, W2, acquire("w2"), holds_lease(b, "w2", 2, b->at + SPAN));
}

static void after_a_release(struct builder *b) {
    after_an_end(b);
    b->at = SPAN + 3 * SECOND;
    decide(b, W2, lease_call(LAPSE_VERB_RELEASE, JOB, "w2", 0), answered(b, LAPSE_OK));
    b->at = SPAN + 4 * SECOND;
    decide(b, W1, acquire("w1"), holds_lease(b, "w1", 3, b->at + SPAN));
}

/* The owner itself comes back at once: nobody else was near. */
static void its_own_owner(struct builder *b) {
    grant(b, W1, JOB, "w1", SPAN, 1);
    b->at = SPAN;
    decide(b, W1, acquire("w1"), holds_lease(b, "w1", 2, b->at + SPAN));
}

static void a_look_before_the_deadline(struct builder *b) {
    grant(b, C1, JOB, "c1", SPAN, 1);
    b->grant = (struct lapse_grant_ref){.given = true, .name = lapse_bytes_of(JOB), .token = 1};
    b->at = 20 * SECOND;
    b->looked = true;
    b->last_look = INT64_C(24545454545) - SECOND - 7;
    invoke(b, C1, (struct lapse_request){.verb = LAPSE_CALL_WRITE, .resource = REPORT});
}

static void a_read_before_the_end(struct builder *b) {
    put(b, W1, "codes", "c1", "v", 1, 15 * MINUTE);
    b->at = 15 * MINUTE - 5;
    decide(b, W1, key_call(LAPSE_VERB_GET, "codes", "c1"), read_value(b, "v", 1, 15 * MINUTE));
}

/* What is absent shows nothing, however near the end is. */
static void a_read_at_the_end(struct builder *b) {
    put(b, W1, "codes", "c1", "v", 1, 15 * MINUTE);
    b->at = 15 * MINUTE;
    decide(b, W1, key_call(LAPSE_VERB_GET, "codes", "c1"), answered(b, LAPSE_ABSENT));
}

/* A read that a rule rejects lies beyond the edge. */
static void a_read_after_the_end(struct builder *b) {
    put(b, W1, "codes", "c1", "v", 1, 15 * MINUTE);
    b->at = 15 * MINUTE + 3;
    struct lapse_answer answer = read_value(b, "v", 1, 15 * MINUTE);
    answer.left.ns = 1;
    decide(b, W1, key_call(LAPSE_VERB_GET, "codes", "c1"), answer);
}

Test(slack, is_the_least_distance_to_the_edge) {
    static const struct near all[] = {
        {"after an end", "LEASE-01", true, 2 * SECOND, after_an_end},
        {"after a release", "LEASE-01", true, SECOND, after_a_release},
        {"its own owner", "LEASE-01", false, 0, its_own_owner},
        {"a look", "BELIEF-01", true, 7, a_look_before_the_deadline},
        {"a read before", "KV-03", true, 5, a_read_before_the_end},
        {"a read at", "KV-03", false, 0, a_read_at_the_end},
        {"a read after", "KV-03", true, -3, a_read_after_the_end},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct builder b;
        builder_open(&b);
        all[i].story(&b);
        struct lapse_slack slacks[LAPSE_SLACKS];
        measure(&b, slacks);
        for (size_t k = 0; k < LAPSE_SLACKS; k++) {
            bool meant = strcmp(slacks[k].id, all[i].id) == 0;
            cr_expect_eq(slacks[k].known, meant && all[i].known, "%s: %s", all[i].name,
                         slacks[k].id);
            if (meant && all[i].known) {
                cr_expect_eq(slacks[k].least.ns, all[i].least_ns, "%s: %lld", all[i].name,
                             (long long)slacks[k].least.ns);
                cr_expect_geq(slacks[k].event, 0);
            }
        }
        builder_close(&b);
    }
}

Test(slack, of_two_runs_is_the_lesser) {
    struct lapse_slack all[LAPSE_SLACKS], one[LAPSE_SLACKS];
    lapse_slack_init(all);
    lapse_slack_init(one);
    lapse_slack_join(all, one);
    cr_assert_not(all[0].known);
    one[0].known = true;
    one[0].least.ns = 5;
    lapse_slack_join(all, one);
    cr_assert(all[0].known);
    one[0].least.ns = 7;
    lapse_slack_join(all, one);
    cr_assert_eq(all[0].least.ns, 5);
    one[0].least.ns = -2;
    lapse_slack_join(all, one);
    cr_assert_eq(all[0].least.ns, -2);
}

static void measure(const struct builder *b, struct lapse_slack ret[LAPSE_SLACKS]) {
    struct lapse_trackers *trackers;
    cr_assert_eq(lapse_trackers_open(lapse_alloc_libc(), &trackers, NULL), LAPSE_OK);
    lapse_slack_init(ret);
    for (size_t i = 0; i < lapse_history_count(b->history); i++) {
        const struct lapse_history_event *event = lapse_history_at(b->history, i);
        cr_assert_eq(lapse_trackers_look(trackers, event), LAPSE_OK);
        lapse_slack_take(ret, trackers, event);
        cr_assert_eq(lapse_trackers_absorb(trackers, event), LAPSE_OK);
    }
    lapse_trackers_close(trackers);
}
