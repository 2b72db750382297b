/* Leases and fencing tokens: one table of calls and answers a story (LEASE-01..09, FENCE-01..02).
 */
#include "testing.h"

#include <criterion/criterion.h>

struct call {
    int64_t at;
    enum lapse_verb verb;
    const char *owner;
    int64_t span;
    int64_t token; /* given with the call; 0: none */
    enum lapse_status want;
    int64_t want_token, want_end; /* 0: not looked at */
};

static enum lapse_status apply_call(struct lapse_testing *t, const struct call *call) {
    struct lapse_command command = {.verb = call->verb, .key = lapse_bytes_of("jobs/nightly")};
    command.u.lease.owner = lapse_bytes_of(call->owner);
    command.u.lease.span.ns = call->span;
    command.u.lease.has_token = call->token != 0;
    command.u.lease.token = call->token;
    lapse_testing_at(t, call->at);
    return lapse_apply(t->store, &command, &t->r, &t->err);
}

static void play(const struct call *calls, size_t count, bool stepped) {
    struct lapse_testing t;
    lapse_testing_open(&t);
    for (size_t i = 0; i < count; i++) {
        enum lapse_status status = apply_call(&t, &calls[i]);
        cr_expect_eq(status, calls[i].want, "call %zu: %s", i, lapse_status_word(status));
        if (calls[i].want_token != 0) {
            cr_expect_eq(t.r.token, calls[i].want_token, "call %zu: token %d", i, (int)t.r.token);
        }
        if (calls[i].want_end != 0) {
            cr_expect_eq(t.r.end.ns, calls[i].want_end, "call %zu", i);
            cr_expect_eq(t.r.left.ns, calls[i].want_end - calls[i].at, "call %zu", i);
        }
        cr_expect(status >= LAPSE_OK && (status == LAPSE_OK || t.r.token == 0),
                  "a refusal carried a token");
        cr_expect_eq(t.r.event_count, 0, "a lease made an event");
        if (stepped) {
            lapse_testing_step(&t, NULL);
        }
        lapse_testing_check(&t);
    }
    lapse_testing_close(&t);
}

#define PLAY(calls)                                       \
    play(calls, sizeof(calls) / sizeof(calls[0]), false); \
    play(calls, sizeof(calls) / sizeof(calls[0]), true)

Test(lease, a_grant_is_held_until_exactly_its_end) {
    static const struct call calls[] = {
        {0, LAPSE_VERB_ACQUIRE, "w1", S(30), 0, LAPSE_OK, 1, S(30)},
        {S(10), LAPSE_VERB_ACQUIRE, "w2", S(30), 0, LAPSE_HELD, 0, S(30)},
        {S(30) - 1, LAPSE_VERB_ACQUIRE, "w2", S(30), 0, LAPSE_HELD, 0, S(30)},
        {S(30) - 1, LAPSE_VERB_INSPECT, "", 0, 0, LAPSE_OK, 1, S(30)},
        {S(30), LAPSE_VERB_INSPECT, "", 0, 0, LAPSE_ABSENT, 0, 0},
        {S(30), LAPSE_VERB_EXTEND, "w1", S(30), 0, LAPSE_LOST, 0, 0},
        {S(30), LAPSE_VERB_EXTEND, "w1", S(30), 1, LAPSE_LOST, 0, 0},
        {S(30), LAPSE_VERB_RELEASE, "w1", 0, 1, LAPSE_ABSENT, 0, 0},
        {S(30), LAPSE_VERB_ACQUIRE, "w2", S(30), 0, LAPSE_OK, 2, S(60)},
        {S(31), LAPSE_VERB_EXTEND, "w1", S(30), 0, LAPSE_NOT_OWNER, 0, 0},
        {S(31), LAPSE_VERB_RELEASE, "w1", 0, 0, LAPSE_NOT_OWNER, 0, 0},
        {S(32), LAPSE_VERB_INSPECT, "", 0, 0, LAPSE_OK, 2, S(60)},
    };
    PLAY(calls);
}

Test(lease, extend_counts_from_the_call_and_keeps_owner_and_token) {
    static const struct call calls[] = {
        {0, LAPSE_VERB_ACQUIRE, "w1", S(30), 0, LAPSE_OK, 1, S(30)},
        {S(20), LAPSE_VERB_EXTEND, "w1", S(30), 0, LAPSE_OK, 1, S(50)},
        {S(21), LAPSE_VERB_EXTEND, "w1", S(5), 1, LAPSE_OK, 1, S(26)}, /* it may shorten */
        {S(26) - 1, LAPSE_VERB_INSPECT, "", 0, 0, LAPSE_OK, 1, S(26)},
        {S(26), LAPSE_VERB_EXTEND, "w1", S(30), 0, LAPSE_LOST, 0, 0},
        {S(27), LAPSE_VERB_ACQUIRE, "w1", S(30), 0, LAPSE_OK, 2, S(57)},
    };
    PLAY(calls);
}

Test(lease, a_token_alone_names_its_grant) {
    static const struct call calls[] = {
        {0, LAPSE_VERB_ACQUIRE, "w1", S(30), 0, LAPSE_OK, 1, S(30)},
        {1, LAPSE_VERB_EXTEND, "someone", S(30), 1, LAPSE_OK, 1, S(30) + 1},
        {2, LAPSE_VERB_EXTEND, "", S(30), 1, LAPSE_OK, 1, S(30) + 2},
        {3, LAPSE_VERB_EXTEND, "w1", S(30), 7, LAPSE_NOT_OWNER, 0, 0},
        {4, LAPSE_VERB_RELEASE, "w1", 0, 7, LAPSE_NOT_OWNER, 0, 0},
        {5, LAPSE_VERB_RELEASE, "", 0, 1, LAPSE_OK, 0, 0},
        {5, LAPSE_VERB_RELEASE, "", 0, 1, LAPSE_ABSENT, 0, 0},
        {5, LAPSE_VERB_ACQUIRE, "w1", S(30), 0, LAPSE_OK, 2, S(30) + 5}, /* the old token is dead */
        {6, LAPSE_VERB_EXTEND, "w1", S(30), 1, LAPSE_NOT_OWNER, 0, 0},
    };
    PLAY(calls);
}

Test(lease, the_live_owner_gets_the_same_grant_again) {
    static const struct call calls[] = {
        {0, LAPSE_VERB_ACQUIRE, "w1", S(30), 0, LAPSE_OK, 1, S(30)},
        {S(10), LAPSE_VERB_ACQUIRE, "w1", S(90), 0, LAPSE_OK, 1, S(30)},
        {S(30), LAPSE_VERB_ACQUIRE, "w1", S(30), 0, LAPSE_OK, 2, S(60)},
    };
    PLAY(calls);
}

Test(lease, tokens_are_one_counter_of_the_store) {
    struct lapse_testing t;
    lapse_testing_open(&t);
    int64_t last = 0;
    for (int i = 0; i < 20; i++) {
        char name[] = "name-0";
        name[5] = (char)('0' + i % 3);
        lapse_testing_lease(&t, LAPSE_VERB_ACQUIRE, name, "w1", S(1));
        cr_expect_eq(t.r.token, last + 1);
        last = t.r.token;
        cr_expect_eq(lapse_testing_lease(&t, LAPSE_VERB_ACQUIRE, name, "w2", S(1)), LAPSE_HELD);
        lapse_testing_lease(&t, LAPSE_VERB_RELEASE, name, "w1", 0);
    }
    cr_expect_eq(lapse_testing_lease(&t, LAPSE_VERB_ACQUIRE, "e", "w1", 0), LAPSE_INVALID);
    lapse_testing_at(&t, 1);
    cr_expect_eq(lapse_testing_lease(&t, LAPSE_VERB_ACQUIRE, "e", "w1", INT64_MAX), LAPSE_RANGE);
    lapse_testing_lease(&t, LAPSE_VERB_ACQUIRE, "e", "w1", S(1));
    cr_expect_eq(t.r.token, last + 1, "a refused call took a token");
    lapse_testing_close(&t);
}
