/* Log commands are a function of the durable part: a store that is fed the log commands of another,
 * with the FLUSHes and MARKs that the other issued of itself, answers them alike and has the same
 * durable digest after each, whatever was read, watched or put off in between. */
#include "testing.h"

#include <criterion/criterion.h>

struct random {
    uint64_t state;
};

static uint32_t below(struct random *random, uint32_t n) {
    random->state = random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random->state >> 33) % n;
}

static const char *const names[] = {"a", "b", "c", "d"};
static const char *const buckets[] = {"idle", "ttl"};

static struct lapse_command draw(struct random *random, struct lapse_wall wall) {
    static const enum lapse_verb verbs[] = {
        LAPSE_VERB_SET,     LAPSE_VERB_SET,     LAPSE_VERB_CREATE, LAPSE_VERB_UPDATE,
        LAPSE_VERB_DELETE,  LAPSE_VERB_EXPIRE,  LAPSE_VERB_REAP,   LAPSE_VERB_ACQUIRE,
        LAPSE_VERB_RELEASE, LAPSE_VERB_GET,     LAPSE_VERB_GET,    LAPSE_VERB_ENTRY,
        LAPSE_VERB_GET,     LAPSE_VERB_GET,     LAPSE_VERB_HAS,    LAPSE_VERB_COUNT,
        LAPSE_VERB_WATCH,   LAPSE_VERB_INSPECT, LAPSE_VERB_MARK,   LAPSE_VERB_OPEN};
    static const unsigned terms[] = {0, 0, 0, LAPSE_TERM_TTL, LAPSE_TERM_EXPIRES_AT};
    struct lapse_command command = {.verb = verbs[below(random, 20)],
                                    .bucket = lapse_bytes_of(buckets[below(random, 2)]),
                                    .key = lapse_bytes_of(names[below(random, 4)])};
    int64_t span = S(2 + below(random, 9));
    struct lapse_term term = {.given = terms[below(random, 5)], .ttl = {span}, .idle = {span}};
    term.expires_at.ns = wall.ns + S(below(random, 20));
    switch (command.verb) {
    case LAPSE_VERB_OPEN:
        command.bucket = lapse_bytes_of(names[below(random, 4)]);
        command.u.open.config.term.ttl.ns = span; /* not given: must not count */
        break;
    case LAPSE_VERB_REAP:
        command.u.reap.rows_max = 1 + below(random, 3);
        break;
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_RELEASE:
        command.u.lease.owner = lapse_bytes_of(names[below(random, 2)]);
        command.u.lease.durability = below(random, 3) == 0 ? LAPSE_EPHEMERAL : LAPSE_PERSISTENT;
        command.u.lease.span.ns = span;
        break;
    case LAPSE_VERB_WATCH:
    case LAPSE_VERB_MARK:
        break;
    case LAPSE_VERB_GET:
    case LAPSE_VERB_ENTRY:
    case LAPSE_VERB_HAS:
    case LAPSE_VERB_COUNT:
    case LAPSE_VERB_INSPECT:
        break;
    default:
        if (lapse_command_class(&command) != LAPSE_CLASS_LOG) {
            break;
        }
        command.u.write.term = term;
        command.u.write.value = lapse_bytes_of(names[below(random, 4)]);
        command.u.write.has_if_version = command.verb == LAPSE_VERB_UPDATE;
        command.u.write.if_version = 1 + below(random, 40);
        break;
    }
    return command;
}

static void feed(struct lapse_testing *leader, struct lapse_testing *replica,
                 const struct lapse_command *command) {
    struct lapse_digest digests[2];
    enum lapse_class klass = lapse_command_class(command);
    (void)lapse_resolve_class(leader->store, command, &klass, NULL);
    bool logged = klass == LAPSE_CLASS_LOG;
    /* The replica first: what a flush borrows from the leader is the leader's until it moves on. */
    for (int k = logged ? 0 : 1; k < 2; k++) {
        struct lapse_testing *each = k == 0 ? replica : leader;
        lapse_digest_begin(&digests[k]);
        (void)lapse_apply(each->store, command, &each->r, &each->err);
        lapse_testing_answer(&digests[k], &each->r);
        lapse_testing_check(each);
    }
    cr_assert(!logged || lapse_digest_value(&digests[0]) == lapse_digest_value(&digests[1]),
              "%s is answered otherwise by the log alone", lapse_verb_word(command->verb));
    cr_assert_eq(lapse_testing_digest(leader->store, LAPSE_PART_DURABLE),
                 lapse_testing_digest(replica->store, LAPSE_PART_DURABLE),
                 "after %s the durable parts differ", lapse_verb_word(command->verb));
}

Test(log, stores_fed_the_same_log_are_alike_whatever_was_read) {
    int issued[2] = {0, 0};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct random random = {seed};
        struct lapse_testing_journal journal;
        struct lapse_testing leader;
        struct lapse_testing replica;
        lapse_testing_journal_init(&journal);
        lapse_testing_open_with(&leader, &journal, 4);
        lapse_testing_open(&replica);
        struct lapse_command first = {.verb = LAPSE_VERB_INSPECT, .key = lapse_bytes_of("a")};
        struct lapse_command mark;
        cr_assert_eq(lapse_preceding(leader.store, &first, &mark, &leader.err), LAPSE_OK,
                     "nothing is durable yet, so no instant may be shown");
        feed(&leader, &replica, &mark);
        for (int k = 0; k < 2; k++) {
            struct lapse_testing *each = k == 0 ? &leader : &replica;
            lapse_testing_bucket(each, "idle", LAPSE_TERM_IDLE, S(8), S(60));
            lapse_testing_bucket(each, "ttl", LAPSE_TERM_TTL, S(5), 0);
        }
        for (int i = 0; i < 400; i++) {
            lapse_testing_at(&leader, leader.clock.now.raw_ns + S(below(&random, 7)) / 5);
            if (below(&random, 12) == 0) {
                struct lapse_span step = {S(below(&random, 120)) - S(60)};
                lapse_clock_manual_step_wall(&leader.clock, step);
            }
            replica.clock = leader.clock;
            struct lapse_command command = draw(&random, leader.clock.now.wall);
            struct lapse_command before;
            while (lapse_preceding(leader.store, &command, &before, &leader.err) == LAPSE_OK) {
                issued[before.verb == LAPSE_VERB_FLUSH ? 0 : 1]++;
                feed(&leader, &replica, &before);
            }
            int64_t seq = leader.r.command_seq;
            feed(&leader, &replica, &command);
            cr_assert_eq(leader.r.command_seq, seq + 1, "something was issued that was not told");
        }
        lapse_testing_journal_same(&journal, leader.store);
        lapse_testing_close(&leader);
        lapse_testing_close(&replica);
        lapse_testing_journal_finish(&journal);
    }
    cr_expect_gt(issued[0], 100, "only %d flushes", issued[0]);
    cr_expect_gt(issued[1], 50, "only %d marks", issued[1]);
}

Test(log, what_precedes_is_carried_out_by_apply_as_well) {
    struct lapse_testing t;
    struct lapse_command command = {.verb = LAPSE_VERB_UPDATE,
                                    .bucket = lapse_bytes_of("b"),
                                    .key = lapse_bytes_of("k"),
                                    .u.write = {.has_if_version = true, .if_version = 1}};
    struct lapse_command before;
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", LAPSE_TERM_IDLE, S(100), 0);
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", 0, 0);
    lapse_testing_at(&t, S(20));
    lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", NULL, 0, 0);
    lapse_testing_at(&t, S(105));
    cr_assert_eq(lapse_preceding(t.store, &command, &before, &t.err), LAPSE_OK);
    cr_expect_eq(before.verb, LAPSE_VERB_FLUSH);
    cr_expect(lapse_testing_is(before.bucket, "b") && lapse_testing_is(before.key, "k"));
    cr_expect_eq(before.u.flush.used.ns, S(20));
    cr_expect_eq(before.u.flush.revision, 1);
    cr_expect_eq(before.u.flush.end.ns, S(100));
    int64_t seq = t.r.command_seq;
    cr_expect_eq(lapse_apply(t.store, &command, &t.r, &t.err), LAPSE_OK);
    cr_expect_eq(t.r.command_seq, seq + 2, "a flush and the update");
    cr_expect_eq(lapse_preceding(t.store, &command, &before, &t.err), LAPSE_ABSENT);
    command.bucket = lapse_bytes_of("none");
    cr_expect_eq(lapse_preceding(t.store, &command, &before, &t.err), LAPSE_INVALID);
    lapse_testing_close(&t);
}

Test(log, the_durable_part_does_not_tell_reads_or_words_that_were_not_given) {
    uint64_t digests[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        struct lapse_testing t;
        lapse_testing_open(&t);
        struct lapse_bucket_config config = {
            .term = {.given = LAPSE_TERM_IDLE, .ttl = {k}, .idle = {S(9)}, .expires_at = {k}}};
        cr_assert_eq(lapse_bucket_open(t.store, lapse_bytes_of("b"), &config, &t.r, &t.err),
                     LAPSE_OK);
        for (int i = 0; i < k; i++) {
            lapse_testing_do(&t, LAPSE_VERB_COUNT, "b", "", NULL, 0, 0);
        }
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", LAPSE_TERM_EXPIRES_AT, S(1100));
        digests[k] = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
        lapse_testing_close(&t);
    }
    cr_expect_eq(digests[0], digests[1]);
}

Test(log, the_class_of_a_command_is_told_by_what_it_touches) {
    struct lapse_command command = {.verb = LAPSE_VERB_ACQUIRE};
    cr_expect_eq(lapse_command_class(&command), LAPSE_CLASS_LOG);
    command.u.lease.durability = LAPSE_EPHEMERAL;
    cr_expect_eq(lapse_command_class(&command), LAPSE_CLASS_LOCAL);
    command = (struct lapse_command){.verb = LAPSE_VERB_GET};
    cr_expect_eq(lapse_command_class(&command), LAPSE_CLASS_READ);
    command.verb = LAPSE_VERB_POLL;
    cr_expect_eq(lapse_command_class(&command), LAPSE_CLASS_LOCAL);
    command.verb = LAPSE_VERB_FLUSH;
    cr_expect_eq(lapse_command_class(&command), LAPSE_CLASS_LOG);
    command.verb = (enum lapse_verb)99;
    cr_expect_eq(lapse_command_class(&command), LAPSE_CLASS_READ);
}
