/* Request ids (ONCE-01): a call sent again within two minutes takes effect once and answers the
 * same, over crash and fault; another call under the same id is refused. */
#include "testing.h"

#include <criterion/criterion.h>
#include <string.h>

enum { CALLS = 14 };

/* A call of each verb that is remembered, each of which changes the store that `prepare` makes. */
static struct lapse_command command_of(int i) {
    static const enum lapse_verb verbs[CALLS] = {
        LAPSE_VERB_OPEN,    LAPSE_VERB_SET,      LAPSE_VERB_CREATE,  LAPSE_VERB_UPDATE,
        LAPSE_VERB_DELETE,  LAPSE_VERB_PURGE,    LAPSE_VERB_EXPIRE,  LAPSE_VERB_PERSIST,
        LAPSE_VERB_ACQUIRE, LAPSE_VERB_EXTEND,   LAPSE_VERB_RELEASE, LAPSE_VERB_SESSION,
        LAPSE_VERB_CLOSE,   LAPSE_VERB_KEEPALIVE};
    static const char *const keys[CALLS] = {"",  "k", "new", "k",    "k",   "k", "k",
                                            "k", "j", "job", "job2", "new", "s", "s"};
    struct lapse_command command = {.verb = verbs[i], .key = lapse_bytes_of(keys[i])};
    command.request = lapse_bytes_of("id-1");
    if (verbs[i] == LAPSE_VERB_OPEN) {
        command.bucket = lapse_bytes_of("other");
        command.u.open.config.markers.ns = S(60);
    } else if (i >= 11) {
        command.u.session.owner = lapse_bytes_of("w1");
        command.u.session.span.ns = S(30);
    } else if (i >= 8) {
        command.u.lease.owner = lapse_bytes_of("w1");
        command.u.lease.span.ns = S(30);
    } else {
        command.bucket = lapse_bytes_of("b");
        command.u.write.value = lapse_bytes_of("v");
        command.u.write.term.given = LAPSE_TERM_TTL;
        command.u.write.term.ttl.ns = S(40);
        command.u.write.has_if_version = verbs[i] == LAPSE_VERB_UPDATE;
        command.u.write.if_version = 1;
    }
    return command;
}

static void prepare(struct lapse_testing *t, struct lapse_testing_journal *journal) {
    struct lapse_bytes owner = lapse_bytes_of("w1");
    if (journal != NULL) {
        lapse_testing_journal_init(journal);
    }
    lapse_testing_open_with(t, journal, 0);
    lapse_testing_bucket(t, "b", 0, 0, S(60));
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "k", "v", 0, 0);
    lapse_testing_lease(t, LAPSE_VERB_ACQUIRE, "job", "w1", S(99));
    lapse_testing_lease(t, LAPSE_VERB_ACQUIRE, "job2", "w1", S(99));
    lapse_session_open(t->store, lapse_bytes_of("s"), owner, (struct lapse_span){S(99)}, &t->r,
                       &t->err);
}

static enum lapse_status apply(struct lapse_testing *t, const struct lapse_command *command) {
    return lapse_apply(t->store, command, &t->r, &t->err);
}

/* What an answer says, but for what is left. */
static uint64_t answer(const struct lapse_result *r) {
    struct lapse_digest digest;
    lapse_digest_begin(&digest);
    lapse_digest_i64(&digest, (int64_t)r->status);
    lapse_digest_i64(&digest, r->revision);
    lapse_digest_i64(&digest, r->token);
    lapse_digest_i64(&digest, (int64_t)r->end.kind);
    lapse_digest_i64(&digest, r->end.ns);
    lapse_digest_bytes(&digest, r->owner);
    return lapse_digest_value(&digest);
}

static void reopen(struct lapse_testing *t, struct lapse_testing_journal *journal) {
    lapse_close(t->store);
    journal->closed = false;
    cr_assert_eq(lapse_open(&t->options, &t->store, &t->err), LAPSE_OK, "%s", t->err.message);
}

Test(request, a_call_sent_again_takes_effect_once_and_answers_the_same) {
    for (int i = 0; i < CALLS; i++) {
        struct lapse_command command = command_of(i);
        const char *word = lapse_verb_word(command.verb);
        struct lapse_testing t;
        struct lapse_testing_journal journal;
        prepare(&t, &journal);
        lapse_testing_at(&t, S(1));
        cr_assert_eq(apply(&t, &command), LAPSE_OK, "%s: %s", word, t.err.message);
        cr_expect(!t.r.repeated, "%s", word);
        uint64_t first = answer(&t.r);
        uint64_t durable = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
        for (int again = 0; again < 3; again++) {
            int64_t commits = journal.commits;
            lapse_testing_at(&t, S(20) * (again + 1));
            cr_expect_eq(apply(&t, &command), LAPSE_OK, "%s: %s", word, t.err.message);
            cr_expect(t.r.repeated && t.r.event_count == 0 && answer(&t.r) == first, "%s", word);
            int64_t left = t.r.end.kind == LAPSE_END_NONE ? 0 : t.r.end.ns - t.clock.now.raw_ns;
            cr_expect_eq(t.r.left.ns, left < 0 ? 0 : left, "%s, time %d", word, again);
            /* The mark that a call so late is preceded by, and nothing of its own. */
            cr_expect_eq(journal.commits, commits + 1, "%s committed again", word);
            cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), durable);
            lapse_testing_journal_same(&journal, t.store);
            reopen(&t, &journal);
        }
        lapse_testing_close(&t);
        lapse_testing_journal_finish(&journal);
    }
}

Test(request, after_two_minutes_an_id_is_free) {
    for (int stepped = 0; stepped < 2; stepped++) {
        struct lapse_testing t;
        prepare(&t, NULL);
        struct lapse_command command = command_of(1);
        lapse_testing_at(&t, S(5));
        cr_assert_eq(apply(&t, &command), LAPSE_OK);
        int64_t revision = t.r.revision;
        lapse_testing_at(&t, S(125) - 1);
        cr_expect_eq(apply(&t, &command), LAPSE_OK);
        cr_expect(t.r.repeated && t.r.revision == revision && t.r.left.ns == 0);
        lapse_testing_at(&t, S(125));
        if (stepped == 1) {
            lapse_testing_step(&t, NULL);
            cr_expect_eq(t.r.event_count, 1, "the key has an event, the request has none");
            revision++;
        } else {
            revision++; /* of the end, which the write writes first */
        }
        cr_expect_eq(apply(&t, &command), LAPSE_OK);
        cr_expect(!t.r.repeated && t.r.revision == revision + 1);
        cr_expect_eq(apply(&t, &command), LAPSE_OK);
        cr_expect(t.r.repeated && t.r.revision == revision + 1);
        lapse_testing_close(&t);
    }
}

/* Each way changes one thing that the verb takes. */
static bool vary(struct lapse_command *command, int way) {
    switch (way) {
    case 0:
        command->u.write.value = lapse_bytes_of("w");
        return true;
    case 1:
        command->key = lapse_bytes_of("l");
        return true;
    case 2:
        command->bucket = lapse_bytes_of("c");
        return true;
    case 3:
        command->u.write.term.ttl.ns++;
        return true;
    case 4:
        command->u.write.term.given = LAPSE_TERM_IDLE;
        command->u.write.term.idle.ns = S(40);
        return true;
    case 5:
        command->u.write.term.given = LAPSE_TERM_EXPIRES_AT;
        return true;
    case 6:
        command->u.write.term.given = LAPSE_TERM_SESSION;
        command->u.write.term.session = lapse_bytes_of("s");
        return true;
    case 7:
        command->u.write.has_if_version = true;
        return true;
    case 8:
        command->verb = LAPSE_VERB_CREATE;
        return true;
    default:
        return false;
    }
}

Test(request, another_call_under_the_same_id_is_refused_and_named) {
    struct lapse_testing t;
    prepare(&t, NULL);
    lapse_testing_bucket(&t, "c", 0, 0, 0);
    struct lapse_command first = command_of(1);
    cr_assert_eq(apply(&t, &first), LAPSE_OK);
    uint64_t before = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
    struct lapse_command other = first;
    int ways = 0;
    for (; vary(&other, ways); ways++, other = first) {
        cr_expect_eq(apply(&t, &other), LAPSE_INVALID, "way %d", ways);
        cr_expect_not_null(strstr(t.err.message, "`id-1`"), "%s", t.err.message);
        cr_expect_not_null(strstr(t.err.message, "of the verb set"), "%s", t.err.message);
    }
    cr_expect_eq(ways, 9);
    for (int i = 0; i < CALLS; i++) {
        other = command_of(i);
        cr_expect_eq(apply(&t, &other), i == 1 ? LAPSE_OK : LAPSE_INVALID, "call %d", i);
    }
    /* What the verb does not look at is no difference. */
    other = first;
    other.u.write.if_version = 7;
    other.u.write.term.idle.ns = 5;
    cr_expect_eq(apply(&t, &other), LAPSE_OK);
    cr_expect(t.r.repeated);
    cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), before);
    other.request = lapse_bytes_of("id-2");
    cr_expect_eq(apply(&t, &other), LAPSE_OK);
    cr_expect(!t.r.repeated);
    lapse_testing_close(&t);
}

Test(request, leases_and_sessions_tell_their_calls_apart) {
    struct lapse_testing t;
    prepare(&t, NULL);
    static const int calls[] = {0, 8, 9, 11};
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct lapse_command first = command_of(calls[i]);
        struct lapse_command other = first;
        first.request = other.request = lapse_bytes_of(lapse_verb_word(first.verb));
        cr_assert_eq(apply(&t, &first), LAPSE_OK, "%s", t.err.message);
        if (i == 0) {
            other.u.open.config.markers.ns++;
        } else if (i == 3) {
            other.u.session.span.ns++;
        } else {
            other.u.lease.span.ns++;
        }
        cr_expect_eq(apply(&t, &other), LAPSE_INVALID, "%zu", i);
        other = first;
        if (i == 3) {
            other.u.session.owner = lapse_bytes_of("w2");
        } else if (i > 0) {
            other.u.lease.owner = lapse_bytes_of("w2");
        }
        cr_expect_eq(apply(&t, &other), i == 0 ? LAPSE_OK : LAPSE_INVALID, "%zu", i);
    }
    struct lapse_command extend = command_of(9);
    extend.u.lease.has_token = true;
    extend.u.lease.token = 1;
    extend.request = lapse_bytes_of("extend");
    cr_expect_eq(apply(&t, &extend), LAPSE_INVALID, "the first was without a token");
    lapse_testing_close(&t);
}

Test(request, a_refusal_is_not_remembered) {
    struct lapse_testing t;
    prepare(&t, NULL);
    struct lapse_command create = command_of(2);
    create.key = lapse_bytes_of("k");
    uint64_t before = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(apply(&t, &create), LAPSE_EXISTS);
        cr_expect_not(t.r.repeated);
    }
    struct lapse_command same = command_of(8); /* granted already: it changes nothing */
    same.key = lapse_bytes_of("job");
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(apply(&t, &same), LAPSE_OK);
        cr_expect(t.r.renewed && !t.r.repeated);
    }
    cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), before);
    lapse_testing_do(&t, LAPSE_VERB_DELETE, "b", "k", "", 0, 0);
    cr_expect_eq(apply(&t, &create), LAPSE_OK);
    cr_expect_not(t.r.repeated);
    lapse_testing_close(&t);
}

Test(request, an_attempt_that_failed_had_no_effect_and_the_next_one_has) {
    int failures = 0;
    for (int i = 0; i < CALLS; i++) {
        struct lapse_command command = command_of(i);
        struct lapse_testing t;
        struct lapse_testing_journal journal;
        prepare(&t, &journal);
        uint64_t before = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
        enum lapse_status status = LAPSE_NOMEM;
        for (size_t nth = 1; status < LAPSE_OK && nth < 100; nth++, failures++) {
            /* Memory first, for as long as the call asks for some; then the writes. */
            lapse_result_free(&t.r);
            t.alloc.calls = 0;
            t.alloc.fail_at = nth;
            journal.calls = 0;
            journal.fail_at = nth % 2 == 0 ? (int)(nth / 2) : 0;
            journal.fail_with = LAPSE_IO;
            status = apply(&t, &command);
            t.alloc.fail_at = 0;
            journal.fail_at = 0;
            lapse_testing_check(&t);
            cr_expect(status == LAPSE_OK ||
                      lapse_testing_digest(t.store, LAPSE_PART_DURABLE) == before);
        }
        cr_expect_eq(status, LAPSE_OK);
        cr_expect(!t.r.repeated, "%s failed and had an effect", lapse_verb_word(command.verb));
        cr_expect_eq(apply(&t, &command), LAPSE_OK);
        cr_expect(t.r.repeated);
        lapse_testing_journal_same(&journal, t.store);
        lapse_testing_close(&t);
        lapse_testing_journal_finish(&journal);
    }
    cr_expect_gt(failures, 5 * CALLS, "only %d attempts failed", failures);
}

Test(request, an_unknown_outcome_is_told_by_sending_the_call_again) {
    for (int written = 0; written < 2; written++) {
        struct lapse_command command = command_of(1);
        struct lapse_testing t;
        struct lapse_testing_journal journal;
        prepare(&t, &journal);
        int64_t revision = 2;
        if (written == 1) {
            journal.calls = 0;
            journal.fail_at = 7; /* begin, drop, record, bucket, request, mark, commit */
            journal.fail_with = LAPSE_UNKNOWN;
            cr_expect_eq(apply(&t, &command), LAPSE_UNKNOWN);
        }
        reopen(&t, &journal);
        cr_expect_eq(apply(&t, &command), LAPSE_OK);
        cr_expect(t.r.repeated == (written == 1) && t.r.revision == revision);
        cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", "", 0, 0), LAPSE_OK);
        cr_expect_eq(t.r.revision, revision);
        lapse_testing_close(&t);
        lapse_testing_journal_finish(&journal);
    }
}

Test(request, only_what_a_client_changes_carries_an_id) {
    static const enum lapse_verb verbs[] = {
        LAPSE_VERB_GET,   LAPSE_VERB_ENTRY,   LAPSE_VERB_HAS,  LAPSE_VERB_LIST, LAPSE_VERB_COUNT,
        LAPSE_VERB_WATCH, LAPSE_VERB_INSPECT, LAPSE_VERB_REAP, LAPSE_VERB_MARK, LAPSE_VERB_FLUSH};
    struct lapse_testing t;
    prepare(&t, NULL);
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        struct lapse_command command = {
            .verb = verbs[i], .bucket = lapse_bytes_of("b"), .key = lapse_bytes_of("k")};
        command.request = lapse_bytes_of("id-1");
        cr_expect_eq(apply(&t, &command), LAPSE_INVALID, "%s", lapse_verb_word(verbs[i]));
        cr_expect_not_null(strstr(t.err.message, "`id-1`"), "%s", t.err.message);
    }
    unsigned char bytes[LAPSE_REQUEST_BYTES_MAX + 1];
    memset(bytes, 0, sizeof(bytes));
    struct lapse_command command = command_of(1);
    command.request = (struct lapse_bytes){bytes, sizeof(bytes)};
    cr_expect_eq(apply(&t, &command), LAPSE_INVALID);
    cr_expect_not_null(strstr(t.err.message, "256 bytes"), "%s", t.err.message);
    command.request.len--;
    cr_expect_eq(apply(&t, &command), LAPSE_OK);
    lapse_testing_close(&t);
}

/* What the tenure alone holds is not remembered, so nothing of it is done under an id; another's
 * lease is not_owner with an id as without. */
Test(request, an_ephemeral_lease_is_changed_under_no_id) {
    struct lapse_testing t;
    struct lapse_span span = {S(99)};
    prepare(&t, NULL);
    lapse_acquire_ephemeral(t.store, lapse_bytes_of("e"), lapse_bytes_of("w1"), span, &t.r, &t.err);
    for (int i = 9; i < 11; i++) {
        struct lapse_command command = command_of(i);
        command.request = lapse_bytes_of("id-2");
        command.key = lapse_bytes_of("e");
        uint64_t before = lapse_testing_digest(t.store, LAPSE_PART_TENURE);
        cr_expect_eq(apply(&t, &command), LAPSE_INVALID, "%s", lapse_verb_word(command.verb));
        cr_expect_not_null(strstr(t.err.message, "`id-2`"), "%s", t.err.message);
        cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_TENURE), before);
        command.u.lease.owner = lapse_bytes_of("w2");
        cr_expect_eq(apply(&t, &command), LAPSE_NOT_OWNER);
    }
    /* A call that is remembered is answered, whoever holds the name by now. */
    struct lapse_command release = command_of(10);
    cr_assert_eq(apply(&t, &release), LAPSE_OK);
    lapse_acquire_ephemeral(t.store, release.key, lapse_bytes_of("w1"), span, &t.r, &t.err);
    cr_expect_eq(apply(&t, &release), LAPSE_OK);
    cr_expect(t.r.repeated);
    cr_expect_eq(lapse_testing_lease(&t, LAPSE_VERB_INSPECT, "job2", "", 0), LAPSE_OK);
    lapse_testing_close(&t);
}
