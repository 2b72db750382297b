/* Batches: several writes at one instant, or none of them. */
#include "testing.h"

#include <criterion/criterion.h>
#include <string.h>

static struct lapse_command write(enum lapse_verb verb, const char *key, const char *value) {
    struct lapse_command command = {
        .verb = verb, .bucket = lapse_bytes_of("b"), .key = lapse_bytes_of(key)};
    command.u.write.value = lapse_bytes_of(value);
    return command;
}

static struct lapse_command lease(enum lapse_verb verb, const char *name, int64_t span) {
    struct lapse_command command = {.verb = verb, .key = lapse_bytes_of(name)};
    command.u.lease.owner = lapse_bytes_of("w1");
    command.u.lease.span.ns = span;
    return command;
}

static enum lapse_status send(struct lapse_testing *t, const struct lapse_command *commands,
                              size_t count) {
    return lapse_batch(t->store, commands, count, &t->r, &t->err);
}

Test(batch, does_all_its_calls_at_one_instant_each_after_the_other) {
    struct lapse_testing t;
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", LAPSE_TERM_TTL, S(10), S(60));
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "gone", "v", 0, 0);
    lapse_testing_at(&t, S(10));
    struct lapse_command commands[] = {
        write(LAPSE_VERB_CREATE, "k", "one"),   write(LAPSE_VERB_UPDATE, "k", "two"),
        write(LAPSE_VERB_CREATE, "gone", "v"),  lease(LAPSE_VERB_ACQUIRE, "jobs/1", S(5)),
        lease(LAPSE_VERB_EXTEND, "jobs/1", S(7)), write(LAPSE_VERB_DELETE, "gone", ""),
        write(LAPSE_VERB_PERSIST, "k", ""),
    };
    commands[1].u.write.has_if_version = true;
    commands[1].u.write.if_version = 2;
    cr_assert_eq(send(&t, commands, 7), LAPSE_OK, "%s", t.err.message);
    cr_assert_eq(t.r.answer_count, 7);
    static const int64_t revisions[] = {2, 3, 5, 0, 0, 6, 3};
    for (size_t i = 0; i < 7; i++) {
        cr_expect_eq(t.r.answers[i].verb, commands[i].verb);
        cr_expect_eq(t.r.answers[i].status, LAPSE_OK);
        cr_expect_eq(t.r.answers[i].revision, revisions[i], "call %zu", i);
    }
    cr_expect_eq(t.r.answers[0].end.ns, S(20));
    cr_expect_eq(t.r.answers[3].token, 1);
    cr_expect_eq(t.r.answers[4].left.ns, S(7));
    cr_expect_eq(t.r.revision + t.r.token, 0, "a batch has no answer of its own");
    static const enum lapse_event_kind kinds[] = {LAPSE_EVENT_PUT, LAPSE_EVENT_PUT,
                                                  LAPSE_EVENT_EXPIRED, LAPSE_EVENT_PUT,
                                                  LAPSE_EVENT_DELETE};
    cr_assert_eq(t.r.event_count, 5);
    for (int i = 0; i < 5; i++) {
        cr_expect_eq(t.r.events[i].kind, kinds[i]);
        cr_expect_eq(t.r.events[i].revision, i + 2);
        cr_expect_eq(t.r.events[i].at.ns, S(10));
    }
    lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", NULL, 0, 0);
    cr_expect(lapse_testing_is(t.r.value, "two"));
    cr_expect_eq(t.r.end.kind, LAPSE_END_NONE);
    lapse_testing_close(&t);
}

/* CAS-02, CAS-05: one refusal refuses all, wherever it stands. */
Test(batch, one_refused_call_refuses_them_all) {
    struct lapse_command refused[] = {
        write(LAPSE_VERB_CREATE, "there", "no"), write(LAPSE_VERB_DELETE, "absent", ""),
        write(LAPSE_VERB_EXPIRE, "absent", ""),  lease(LAPSE_VERB_EXTEND, "jobs/none", S(5)),
        write(LAPSE_VERB_UPDATE, "there", "no"), lease(LAPSE_VERB_RELEASE, "jobs/none", 0),
    };
    static const enum lapse_status wants[] = {LAPSE_EXISTS, LAPSE_ABSENT,   LAPSE_ABSENT,
                                              LAPSE_LOST,   LAPSE_CONFLICT, LAPSE_ABSENT};
    refused[2].u.write.term = (struct lapse_term){.given = LAPSE_TERM_TTL, .ttl = {S(1)}};
    refused[4].u.write.has_if_version = true;
    refused[4].u.write.if_version = 77;
    struct lapse_testing t;
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", 0, 0, S(60));
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "there", "v", 0, 0);
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "old", "v", LAPSE_TERM_TTL, S(1));
    struct lapse_command poll = {.verb = LAPSE_VERB_POLL};
    lapse_watch(t.store, lapse_bytes_of("b"), lapse_bytes_of(""), LAPSE_WATCH_NOW, &t.r, &t.err);
    poll.u.watch.watcher = t.r.watcher;
    poll.u.watch.events_max = 9;
    lapse_testing_at(&t, S(2));
    uint64_t before = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
    for (size_t i = 0; i < 6; i++) {
        for (size_t at = 0; at < 4; at++) {
            struct lapse_command commands[4] = {
                write(LAPSE_VERB_SET, "there", "other"), write(LAPSE_VERB_SET, "old", "again"),
                lease(LAPSE_VERB_ACQUIRE, "jobs/1", S(5)), write(LAPSE_VERB_DELETE, "there", "")};
            if (i == 4 && at == 3) {
                commands[0].key = lapse_bytes_of("new");
            }
            memmove(&commands[at + (at < 3 ? 1 : 0)], &commands[at],
                    (at < 3 ? 3 - at : 0) * sizeof(commands[0]));
            commands[at] = refused[i];
            cr_assert_eq(send(&t, commands, 4), LAPSE_CONFLICT, "%s", t.err.message);
            cr_assert_eq(t.r.answer_count, at + 1);
            cr_expect_eq(t.r.answers[at].status, wants[i], "call %zu at %zu: %s", i, at,
                         lapse_status_word(t.r.answers[at].status));
            cr_expect_eq(t.r.event_count, 0);
            lapse_testing_check(&t);
            cr_assert_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), before);
        }
    }
    lapse_apply(t.store, &poll, &t.r, &t.err);
    cr_expect_eq(t.r.delivery_count, 0, "a watcher saw what never was");
    lapse_testing_lease(&t, LAPSE_VERB_ACQUIRE, "jobs/1", "w2", S(5));
    cr_expect_eq(t.r.token, 1, "a refused batch took a token");
    lapse_testing_close(&t);
}

Test(batch, a_fault_inside_names_the_call_and_changes_nothing) {
    struct lapse_command inner = write(LAPSE_VERB_SET, "k", "v");
    struct lapse_command bad[] = {
        write(LAPSE_VERB_GET, "k", ""),    write(LAPSE_VERB_BATCH, "k", ""),
        write(LAPSE_VERB_OPEN, "", ""),    write(LAPSE_VERB_SET, "", "v"),
        write(LAPSE_VERB_SET, "k", "v"),   write(LAPSE_VERB_SET, "k", "v"),
        write(LAPSE_VERB_SET, "k", "v"),   lease(LAPSE_VERB_ACQUIRE, "jobs/1", S(5)),
        lease(LAPSE_VERB_ACQUIRE, "jobs/1", 0), write((enum lapse_verb)99, "k", ""),
        write(LAPSE_VERB_EXPIRE, "k", ""),
    };
    static const enum lapse_status wants[] = {
        LAPSE_INVALID, LAPSE_INVALID, LAPSE_INVALID, LAPSE_INVALID, LAPSE_INVALID, LAPSE_INVALID,
        LAPSE_RANGE,   LAPSE_INVALID, LAPSE_INVALID, LAPSE_INVALID, LAPSE_INVALID};
    bad[1].u.batch.count = 1;
    bad[1].u.batch.commands = &inner;
    bad[4].bucket = lapse_bytes_of("none");
    bad[5].request = lapse_bytes_of("r1");
    bad[6].u.write.term = (struct lapse_term){.given = LAPSE_TERM_TTL, .ttl = {INT64_MAX}};
    bad[7].u.lease.durability = LAPSE_EPHEMERAL;
    struct lapse_testing t;
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    lapse_testing_at(&t, S(1));
    uint64_t before = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct lapse_command commands[] = {write(LAPSE_VERB_SET, "k", "v"), bad[i]};
        t.err.message[0] = '\0';
        enum lapse_status status = send(&t, commands, 2);
        cr_expect_eq(status, wants[i], "case %zu: %s", i, lapse_status_word(status));
        cr_expect_not_null(strstr(t.err.message, "call 1 of the batch"), "case %zu: %s", i,
                           t.err.message);
        cr_expect_eq(t.r.answer_count, 0);
        cr_assert_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), before);
    }
    struct lapse_command many[1] = {inner};
    cr_expect_eq(send(&t, many, 0), LAPSE_INVALID);
    cr_expect_eq(send(&t, many, LAPSE_BATCH_MAX + 1), LAPSE_INVALID);
    cr_expect_not_null(strstr(t.err.message, "4097"), "%s", t.err.message);
    cr_expect_eq(send(&t, NULL, 1), LAPSE_INVALID);
    lapse_testing_close(&t);
}

/* An ephemeral lease is no part of a batch, though a batch may find its name held. */
Test(batch, an_ephemeral_lease_stands_in_none) {
    static const enum lapse_verb verbs[] = {LAPSE_VERB_ACQUIRE, LAPSE_VERB_EXTEND,
                                            LAPSE_VERB_RELEASE};
    struct lapse_testing t;
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    struct lapse_command held = lease(LAPSE_VERB_ACQUIRE, "jobs/1", S(50));
    held.u.lease.durability = LAPSE_EPHEMERAL;
    cr_assert_eq(lapse_apply(t.store, &held, &t.r, &t.err), LAPSE_OK, "%s", t.err.message);
    for (int i = 0; i < 3; i++) {
        struct lapse_command commands[] = {write(LAPSE_VERB_SET, "k", "v"),
                                           lease(verbs[i], "jobs/1", S(5))};
        cr_expect_eq(send(&t, commands, 2), LAPSE_INVALID);
        cr_expect_not_null(strstr(t.err.message, "call 1 of the batch"), "%s", t.err.message);
        commands[1].u.lease.owner = lapse_bytes_of("w2");
        cr_expect_eq(send(&t, commands, 2), i == 0 ? LAPSE_CONFLICT : LAPSE_INVALID);
        lapse_testing_check(&t);
    }
    lapse_testing_do(&t, LAPSE_VERB_COUNT, "b", "", NULL, 0, 0);
    cr_expect_eq(t.r.item_count, 0);
    lapse_testing_lease(&t, LAPSE_VERB_INSPECT, "jobs/1", "", 0);
    cr_expect_eq(t.r.end.ns, S(50));
    lapse_testing_close(&t);
}

/* Renewals owed by the keys it names are made durable first, and are told by lapse_preceding. */
Test(batch, what_its_keys_owe_precedes_it) {
    struct lapse_testing t;
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", LAPSE_TERM_IDLE, S(60), 0);
    static const char *const keys[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", keys[i], "v", 0, 0);
    }
    lapse_testing_at(&t, S(10));
    for (int i = 0; i < 3; i++) {
        lapse_testing_do(&t, LAPSE_VERB_GET, "b", keys[i], NULL, 0, 0);
    }
    lapse_testing_at(&t, S(65));
    struct lapse_command commands[] = {write(LAPSE_VERB_UPDATE, "a", "new"),
                                       write(LAPSE_VERB_DELETE, "c", "")};
    commands[0].u.write.has_if_version = true;
    commands[0].u.write.if_version = 1;
    struct lapse_command batch = {.verb = LAPSE_VERB_BATCH};
    batch.u.batch.count = 2;
    batch.u.batch.commands = commands;
    struct lapse_command before;
    for (int i = 0; i < 3; i += 2) {
        cr_assert_eq(lapse_preceding(t.store, &batch, &before, &t.err), LAPSE_OK);
        cr_expect_eq(before.verb, LAPSE_VERB_FLUSH);
        cr_expect(lapse_testing_is(before.key, keys[i]));
        cr_assert_eq(lapse_apply(t.store, &before, &t.r, &t.err), LAPSE_OK);
    }
    cr_expect_eq(lapse_preceding(t.store, &batch, &before, &t.err), LAPSE_ABSENT);
    cr_expect_eq(lapse_apply(t.store, &batch, &t.r, &t.err), LAPSE_OK, "%s", t.err.message);
    lapse_testing_close(&t);
}

/* Numbers that a refused batch was given are given again: none of them may be shown. */
Test(batch, a_refused_one_shows_no_number_that_it_was_given) {
    struct lapse_testing t;
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", 0, 0);
    struct lapse_command commands[] = {
        write(LAPSE_VERB_SET, "k", "v"), lease(LAPSE_VERB_ACQUIRE, "jobs/1", S(5)),
        {.verb = LAPSE_VERB_SESSION, .key = lapse_bytes_of("s")},
        write(LAPSE_VERB_UPDATE, "k", "no")};
    commands[2].u.session.owner = lapse_bytes_of("w1");
    commands[2].u.session.span.ns = S(5);
    commands[3].u.write.has_if_version = true;
    commands[3].u.write.if_version = 1;
    cr_assert_eq(send(&t, commands, 4), LAPSE_CONFLICT, "%s", t.err.message);
    cr_assert_eq(t.r.answer_count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct lapse_batch_answer *answer = &t.r.answers[i];
        cr_expect_eq(answer->verb, commands[i].verb);
        cr_expect_eq(answer->status, i < 3 ? LAPSE_OK : LAPSE_CONFLICT);
        cr_expect(answer->revision == 0 && answer->token == 0 && answer->end.ns == 0 &&
                      answer->end.kind == LAPSE_END_NONE && answer->left.ns == 0,
                  "call %zu shows what was taken back", i);
    }
    commands[0] = commands[1];
    cr_assert_eq(send(&t, commands, 4), LAPSE_OK, "%s", t.err.message);
    commands[3].u.write.if_version = 9;
    cr_assert_eq(send(&t, commands, 4), LAPSE_CONFLICT);
    cr_expect_eq(t.r.answers[3].revision, 2, "what stood before the batch is told");
    lapse_testing_close(&t);
}
