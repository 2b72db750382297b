/* Ephemeral leases: one name space and one order of tokens with the persistent ones, no trace in
 * the durable part (LEASE-01..09, FENCE-01, DUR-05). */
#include "testing_loss.h"

#include <criterion/criterion.h>

enum { PERSISTENT, EPHEMERAL };

struct call {
    int64_t at;
    enum lapse_verb verb;
    int durability;
    const char *owner;
    int64_t span;
    int64_t token; /* given with the call; 0: none */
    enum lapse_status want;
    int64_t want_token, want_end; /* 0: not looked at */
    enum lapse_class want_class;
};

static struct lapse_command command_of(const struct call *call) {
    struct lapse_command command = {.verb = call->verb, .key = lapse_bytes_of("jobs/1")};
    command.u.lease.owner = lapse_bytes_of(call->owner);
    command.u.lease.span.ns = call->span;
    command.u.lease.has_token = call->token != 0;
    command.u.lease.token = call->token;
    command.u.lease.durability =
        call->durability == EPHEMERAL ? LAPSE_EPHEMERAL : LAPSE_PERSISTENT;
    return command;
}

#define ACQUIRE LAPSE_VERB_ACQUIRE
#define EXTEND LAPSE_VERB_EXTEND
#define RELEASE LAPSE_VERB_RELEASE
#define INSPECT LAPSE_VERB_INSPECT
#define LOG LAPSE_CLASS_LOG
#define LOCAL LAPSE_CLASS_LOCAL
#define READ LAPSE_CLASS_READ

static const struct call calls[] = {
    {0, ACQUIRE, EPHEMERAL, "w1", S(30), 0, LAPSE_OK, 1, S(30), LOCAL},
    {1, ACQUIRE, PERSISTENT, "w2", S(30), 0, LAPSE_HELD, 0, S(30), LOCAL},
    {1, ACQUIRE, EPHEMERAL, "w2", S(30), 0, LAPSE_HELD, 0, S(30), LOCAL},
    {1, ACQUIRE, PERSISTENT, "w1", S(90), 0, LAPSE_OK, 1, S(30), LOCAL},
    {1, ACQUIRE, EPHEMERAL, "w1", 0, 0, LAPSE_INVALID, 0, 0, LOCAL},
    {1, ACQUIRE, EPHEMERAL, "w1", INT64_MAX, 0, LAPSE_RANGE, 0, 0, LOCAL},
    {2, INSPECT, EPHEMERAL, "", 0, 0, LAPSE_OK, 1, S(30), READ},
    {3, EXTEND, EPHEMERAL, "w2", S(30), 0, LAPSE_NOT_OWNER, 0, 0, LOCAL},
    {3, EXTEND, EPHEMERAL, "w1", S(30), 7, LAPSE_NOT_OWNER, 0, 0, LOCAL},
    {3, EXTEND, EPHEMERAL, "", S(30), 1, LAPSE_OK, 1, S(30) + 3, LOCAL},
    {3, EXTEND, EPHEMERAL, "w1", S(10), 0, LAPSE_OK, 1, S(10) + 3, LOCAL},
    {4, RELEASE, EPHEMERAL, "w2", 0, 0, LAPSE_NOT_OWNER, 0, 0, LOCAL},
    {S(10) + 2, INSPECT, EPHEMERAL, "", 0, 0, LAPSE_OK, 1, S(10) + 3, READ},
    {S(10) + 3, INSPECT, EPHEMERAL, "", 0, 0, LAPSE_ABSENT, 0, 0, READ},
    {S(10) + 3, EXTEND, EPHEMERAL, "w1", S(30), 1, LAPSE_LOST, 0, 0, LOG},
    {S(10) + 3, RELEASE, EPHEMERAL, "w1", 0, 1, LAPSE_ABSENT, 0, 0, LOG},
    /* The grants of both durabilities share one order of tokens. */
    {S(11), ACQUIRE, PERSISTENT, "w2", S(30), 0, LAPSE_OK, 2, S(41), LOG},
    {S(12), ACQUIRE, EPHEMERAL, "w1", S(30), 0, LAPSE_HELD, 0, S(41), LOCAL},
    {S(12), ACQUIRE, EPHEMERAL, "w2", S(90), 0, LAPSE_OK, 2, S(41), LOCAL},
    {S(13), EXTEND, PERSISTENT, "w2", S(30), 0, LAPSE_OK, 2, S(43), LOG},
    {S(14), RELEASE, PERSISTENT, "w2", 0, 0, LAPSE_OK, 0, 0, LOG},
    {S(14), ACQUIRE, EPHEMERAL, "w1", S(30), 0, LAPSE_OK, 3, S(44), LOCAL},
    {S(14), RELEASE, EPHEMERAL, "w1", 0, 3, LAPSE_OK, 0, 0, LOCAL},
    {S(14), ACQUIRE, EPHEMERAL, "w1", S(1), 0, LAPSE_OK, 4, S(15), LOCAL},
    {S(15), ACQUIRE, EPHEMERAL, "w2", S(1), 0, LAPSE_OK, 5, S(16), LOCAL},
    {S(16), ACQUIRE, PERSISTENT, "w1", S(1), 0, LAPSE_OK, 6, S(17), LOG},
    {S(17), ACQUIRE, PERSISTENT, "w1", S(1), 0, LAPSE_OK, 7, S(18), LOG},
};

enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

static void expect_answer(struct lapse_testing *t, size_t i) {
    const struct call *call = &calls[i];
    cr_expect_eq(t->r.status, call->want, "call %zu: %s", i, lapse_status_word(t->r.status));
    cr_expect(t->r.token == call->want_token, "call %zu: token %d", i, (int)t->r.token);
    if (call->want_end != 0) {
        cr_expect_eq(t->r.end.ns, call->want_end, "call %zu", i);
        cr_expect_eq(t->r.left.ns, call->want_end - call->at, "call %zu", i);
    }
}

Test(ephemeral, a_name_has_one_holder_whatever_the_durability) {
    for (int way = 0; way < 4; way++) {
        struct lapse_testing t;
        struct lapse_testing_loss loss;
        bool stepped = way % 2 == 1;
        lapse_testing_loss_open(&t, &loss, way < 2 ? LAPSE_SYNC_FULL : LAPSE_SYNC_NONE);
        for (size_t i = 0; i < CALLS; i++) {
            struct lapse_command command = command_of(&calls[i]);
            enum lapse_class klass = LAPSE_CLASS_READ;
            struct lapse_command before;
            lapse_testing_at(&t, calls[i].at);
            if (stepped) {
                lapse_testing_step(&t, NULL);
            }
            while (lapse_preceding(t.store, &command, &before, &t.err) == LAPSE_OK) {
                cr_assert_eq(before.verb, LAPSE_VERB_MARK);
                cr_assert_eq(lapse_apply(t.store, &before, &t.r, &t.err), LAPSE_OK);
            }
            cr_assert_eq(lapse_resolve_class(t.store, &command, &klass, &t.err), LAPSE_OK);
            cr_expect_eq(klass, calls[i].want_class, "call %zu", i);
            uint64_t durable = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
            uint64_t tenure = lapse_testing_digest(t.store, LAPSE_PART_TENURE);
            (void)lapse_apply(t.store, &command, &t.r, &t.err);
            expect_answer(&t, i);
            uint64_t other = lapse_testing_digest(
                t.store, klass == LAPSE_CLASS_LOG ? LAPSE_PART_TENURE : LAPSE_PART_DURABLE);
            cr_expect_eq(other, klass == LAPSE_CLASS_LOG ? tenure : durable,
                         "call %zu touched the part that is not its own", i);
            lapse_testing_check(&t);
        }
        lapse_testing_close(&t);
        lapse_testing_loss_finish(&loss);
    }
}

Test(ephemeral, a_failed_call_leaves_the_tenure_as_it_was) {
    struct lapse_testing t;
    int failures = 0;
    lapse_testing_open(&t);
    for (size_t i = 0; i < CALLS; i++) {
        struct lapse_command command = command_of(&calls[i]);
        enum lapse_status status = LAPSE_NOMEM;
        lapse_testing_at(&t, calls[i].at);
        for (size_t nth = 1; status == LAPSE_NOMEM && nth < 40; nth++) {
            uint64_t tenure = lapse_testing_digest(t.store, LAPSE_PART_TENURE);
            lapse_result_free(&t.r);
            t.alloc.calls = 0;
            t.alloc.fail_at = nth;
            status = lapse_apply(t.store, &command, &t.r, &t.err);
            t.alloc.fail_at = 0;
            if (status != LAPSE_NOMEM) {
                break;
            }
            cr_assert_eq(lapse_testing_digest(t.store, LAPSE_PART_TENURE), tenure);
            lapse_testing_check(&t);
            failures++;
        }
        expect_answer(&t, i);
    }
    cr_expect_gt(failures, 20, "only %d allocations were failed", failures);
    lapse_testing_close(&t);
}

/* They go by the step alone, as due, and a fork has them. */
Test(ephemeral, what_ended_is_reaped_by_the_step_and_carried_by_a_fork) {
    struct lapse_testing t;
    struct lapse_due due;
    struct lapse *fork = NULL;
    lapse_testing_open(&t);
    for (int i = 0; i < 20; i++) {
        char name[] = "e-a";
        name[2] = (char)('a' + i);
        struct lapse_span span = {S(1 + i % 5)};
        cr_assert_eq(lapse_acquire_ephemeral(t.store, lapse_bytes_of(name), lapse_bytes_of("w1"),
                                             span, &t.r, &t.err),
                     LAPSE_OK);
    }
    cr_assert_eq(lapse_fork(t.store, NULL, t.options.clock, &fork, &t.err), LAPSE_OK, "%s",
                 t.err.message);
    cr_expect_eq(lapse_testing_digest(fork, LAPSE_PART_TENURE),
                 lapse_testing_digest(t.store, LAPSE_PART_TENURE));
    cr_expect_eq(lapse_check(fork, &t.err), LAPSE_OK, "%s", t.err.message);
    cr_assert_eq(lapse_acquire(fork, lapse_bytes_of("p"), lapse_bytes_of("w1"),
                               (struct lapse_span){S(1)}, &t.r, &t.err),
                 LAPSE_OK);
    cr_expect_eq(t.r.token, 21, "a fork gave a token twice");
    lapse_close(fork);
    lapse_next_due(t.store, &due);
    cr_expect(due.has_steady && due.steady.ns == S(1));
    lapse_testing_at(&t, S(2));
    cr_assert_eq(lapse_step(t.store, 3, &t.r, &due, &t.err), LAPSE_OK);
    cr_expect_eq(t.r.item_count, 3);
    cr_expect(due.has_steady && due.steady.ns == S(2), "five more are due now");
    lapse_testing_step(&t, &due);
    cr_expect_eq(t.r.item_count, 5);
    cr_expect(due.has_steady && due.steady.ns == S(3));
    lapse_testing_at(&t, S(60));
    lapse_testing_step(&t, &due);
    cr_expect_eq(t.r.item_count, 12);
    cr_expect_not(due.has_steady);
    lapse_testing_close(&t);
}

/* Tokens that a lost tenure gave are not given again, and the ceiling costs one mark in 65,536. */
Test(ephemeral, tokens_rise_over_tenures_at_the_price_of_few_marks) {
    static const enum lapse_sync syncs[] = {LAPSE_SYNC_FULL, LAPSE_SYNC_NORMAL, LAPSE_SYNC_NONE};
    for (int i = 0; i < 3; i++) {
        struct lapse_testing t;
        struct lapse_testing_loss loss;
        int64_t last = 0;
        lapse_testing_loss_open(&t, &loss, syncs[i]);
        for (int tenure = 0; tenure < 3; tenure++) {
            int64_t commits = loss.journal.commits;
            for (int k = 0; k < 300; k++) {
                struct call call = {0, ACQUIRE, EPHEMERAL, "w1", 1, 0, LAPSE_OK, 0, 0, LOCAL};
                struct lapse_command command = command_of(&call);
                cr_assert_eq(lapse_apply(t.store, &command, &t.r, &t.err), LAPSE_OK);
                cr_assert(k == 0 || t.r.token == last + 1);
                cr_assert_gt(t.r.token, last, "a token came twice (FENCE-01)");
                last = t.r.token;
                lapse_testing_lease(&t, RELEASE, "jobs/1", "w1", 0);
            }
            cr_expect_leq(loss.journal.commits, commits + 2);
            lapse_testing_loss_crash(&t, &loss, syncs[i] != LAPSE_SYNC_NONE);
            lapse_testing_loss_reopen(&t);
        }
        lapse_testing_close(&t);
        lapse_testing_loss_finish(&loss);
    }
}

/* LEASE-03: the name is held, however the lease that is asked for would end. */
Test(ephemeral, a_name_so_held_is_held_to_a_call_with_a_session) {
    struct lapse_testing t;
    struct lapse_span span = {S(50)};
    struct lapse_bytes job = lapse_bytes_of("jobs/1");
    lapse_testing_open(&t);
    lapse_session_open(t.store, lapse_bytes_of("s"), lapse_bytes_of("w2"), span, &t.r, &t.err);
    lapse_acquire_ephemeral(t.store, job, lapse_bytes_of("w1"), span, &t.r, &t.err);
    static const struct {
        const char *owner, *session;
        enum lapse_status want;
    } asked[] = {{"w2", "s", LAPSE_HELD}, {"w2", "none", LAPSE_LOST}, {"w1", "s", LAPSE_OK}};
    for (size_t i = 0; i < 3; i++) {
        enum lapse_status status =
            lapse_acquire_session(t.store, job, lapse_bytes_of(asked[i].owner),
                                  lapse_bytes_of(asked[i].session), &t.r, &t.err);
        cr_expect_eq(status, asked[i].want, "call %zu: %s", i, lapse_status_word(status));
        cr_expect_eq(t.r.token, status == LAPSE_OK ? 1 : 0);
        cr_expect_eq(t.r.end.ns, status == LAPSE_LOST ? 0 : S(50));
    }
    lapse_testing_close(&t);
}

/* The counter of tokens may be raised to what leaves one to give, and the log gives the last. */
Test(ephemeral, the_last_token_is_left_to_the_log) {
    struct lapse_testing t;
    struct lapse_command mark = {.verb = LAPSE_VERB_MARK};
    struct call call = {0, ACQUIRE, EPHEMERAL, "w1", 1, 0, LAPSE_OK, 0, 0, LOCAL};
    lapse_testing_open(&t);
    mark.u.mark.token = INT64_MAX;
    cr_expect_eq(lapse_apply(t.store, &mark, &t.r, &t.err), LAPSE_INVALID);
    cr_expect_eq(lapse_testing_lease(&t, ACQUIRE, "jobs/0", "w1", S(1)), LAPSE_OK);
    mark.u.mark.token = INT64_MAX - 2;
    cr_assert_eq(lapse_apply(t.store, &mark, &t.r, &t.err), LAPSE_OK);
    struct lapse_command command = command_of(&call);
    cr_assert_eq(lapse_apply(t.store, &command, &t.r, &t.err), LAPSE_OK, "%s", t.err.message);
    cr_expect_eq(t.r.token, INT64_MAX - 1);
    command.key = lapse_bytes_of("jobs/2");
    cr_expect_eq(lapse_apply(t.store, &command, &t.r, &t.err), LAPSE_RANGE);
    cr_expect_eq(lapse_testing_lease(&t, ACQUIRE, "jobs/2", "w1", S(1)), LAPSE_OK);
    cr_expect_eq(t.r.token, INT64_MAX);
    cr_expect_eq(lapse_testing_lease(&t, ACQUIRE, "jobs/3", "w1", S(1)), LAPSE_RANGE);
    lapse_testing_close(&t);
}
