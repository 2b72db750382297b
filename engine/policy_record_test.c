/* Records, revisions and terms where policies differ: an older value that is current again is a
 * value like any other, what a bucket keeps of what is gone says no more than it must, and a store
 * says in which words it differs from the one that was asked for. */
#include "testing.h"

#include <criterion/criterion.h>
#include <string.h>

#define DO(t, verb, key, given, span)                                                              \
    lapse_testing_do((t), LAPSE_VERB_##verb, "b", (key), "v", (given), (span))
#define TTL LAPSE_TERM_TTL

static void open_words(struct lapse_testing *t, const struct lapse_policies *policies,
                       struct lapse_bucket_config words) {
    lapse_testing_open_policies(t, NULL, 0, policies);
    cr_assert_eq(lapse_bucket_open(t->store, lapse_bytes_of("b"), &words, &t->r, &t->err),
                 LAPSE_OK, "%s", t->err.message);
}

static enum lapse_status read_revision(struct lapse_testing *t, const char *key, int64_t revision) {
    struct lapse_command get = {.verb = LAPSE_VERB_GET,
                                .bucket = lapse_bytes_of("b"),
                                .key = lapse_bytes_of(key),
                                .u.read = {.has_revision = true, .revision = revision}};
    enum lapse_status status = lapse_apply(t->store, &get, &t->r, &t->err);
    lapse_testing_check(t);
    return status;
}

static size_t history_of(struct lapse_testing *t, const char *key) {
    enum lapse_status status =
        lapse_history(t->store, lapse_bytes_of("b"), lapse_bytes_of(key), &t->r, &t->err);
    lapse_testing_check(t);
    return status == LAPSE_OK ? t->r.item_count : 0;
}

Test(policy_record, each_value_of_a_key_lives_by_its_own_end_where_older_ones_live_on) {
    struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_NATS);
    struct lapse_testing t;
    open_words(&t, &policies, (struct lapse_bucket_config){.markers = {S(1)}, .history = 4});
    DO(&t, SET, "k", 0, 0);
    DO(&t, SET, "k", TTL, S(2));
    DO(&t, SET, "k", TTL, S(9));
    DO(&t, SET, "k", TTL, S(5));
    cr_expect_eq(read_revision(&t, "k", 2), LAPSE_OK);
    cr_expect_eq(t.r.end.ns, S(2), "it can be read as long as it lives, not as long as its key");
    cr_expect_eq(read_revision(&t, "k", 1), LAPSE_OK);
    cr_expect_eq(t.r.end.kind, LAPSE_END_NONE);
    lapse_testing_at(&t, S(2));
    cr_expect_eq(read_revision(&t, "k", 2), LAPSE_ABSENT, "it has ended under a newer one");
    cr_expect_eq(history_of(&t, "k"), 3);
    lapse_testing_step(&t, NULL);
    cr_expect_eq(t.r.item_count, 1, "it alone is reaped, with no marker");
    cr_expect_eq(history_of(&t, "k"), 3);
    lapse_testing_at(&t, S(5));
    cr_expect_eq(DO(&t, GET, "k", 0, 0), LAPSE_OK);
    cr_expect_eq(t.r.revision, 3);
    lapse_testing_close(&t);
}

/* A term past the range ends at once: of an older value that is current, that one alone. */
Test(policy_record, an_older_value_that_is_current_can_be_ended_alone) {
    struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_NATS);
    policies.value[LAPSE_POLICY_OWN_BOUNDS] = 0; /* a term may be shorter than a marker's */
    for (int reaped = 0; reaped < 2; reaped++) {
        struct lapse_testing t;
        open_words(&t, &policies, (struct lapse_bucket_config){.markers = {S(9)}, .history = 4});
        DO(&t, SET, "k", 0, 0);
        DO(&t, SET, "k", 0, 0);
        DO(&t, SET, "k", TTL, S(1));
        lapse_testing_at(&t, S(1));
        if (reaped == 1) {
            lapse_testing_step(&t, NULL);
        }
        cr_expect_eq(DO(&t, EXPIRE, "k", TTL, INT64_MAX), LAPSE_OK, "%s", t.err.message);
        lapse_testing_check(&t);
        cr_expect_eq(DO(&t, GET, "k", 0, 0), LAPSE_OK, "the one below it is current");
        cr_expect_eq(t.r.revision, 1);
        cr_expect_eq(DO(&t, EXPIRE, "k", TTL, INT64_MAX), LAPSE_OK);
        cr_expect_eq(DO(&t, GET, "k", 0, 0), LAPSE_ABSENT, "and after that none");
        lapse_testing_step(&t, NULL);
        lapse_testing_check(&t);
        cr_expect_eq(DO(&t, GET, "k", 0, 0), LAPSE_ABSENT, "reaped or not");
        lapse_testing_close(&t);
    }
}

/* How an aged-out purge is marked is a policy of its own. */
Test(policy_record, a_purge_that_ages_out_is_marked_iff_the_policy_says_so) {
    for (uint8_t none = 0; none < 2; none++) {
        struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_NATS);
        struct lapse_testing t;
        policies.value[LAPSE_POLICY_PURGE_MARKER] = none;
        open_words(&t, &policies,
                   (struct lapse_bucket_config){.term = {.given = TTL, .ttl = {S(60)}},
                                                .markers = {S(5)}});
        DO(&t, SET, "k", 0, 0);
        DO(&t, PURGE, "k", 0, 0);
        lapse_testing_at(&t, S(60));
        lapse_testing_step(&t, NULL);
        lapse_testing_check(&t);
        cr_expect_eq(t.r.event_count, none == 0 ? 1 : 0, "purge_marker %d", (int)none);
        DO(&t, SET, "k", 0, 0);
        cr_expect_eq(t.r.revision, none == 0 ? 4 : 3, "a marker takes a revision");
        lapse_testing_close(&t);
    }
}

/* Sixty-four records and not one more, whichever of them live. */
Test(policy_record, a_long_history_gives_up_its_oldest_value_wherever_older_ones_live_on) {
    struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_NATS);
    struct lapse_testing t;
    open_words(&t, &policies, (struct lapse_bucket_config){.history = LAPSE_HISTORY_MAX});
    for (int i = 0; i < LAPSE_HISTORY_MAX + 2; i++) {
        DO(&t, SET, "k", 0, 0);
    }
    cr_expect_eq(history_of(&t, "k"), LAPSE_HISTORY_MAX);
    cr_expect_eq(read_revision(&t, "k", 2), LAPSE_ABSENT);
    cr_expect_eq(read_revision(&t, "k", 3), LAPSE_OK);
    lapse_testing_close(&t);
}

/* Where a bucket takes no term of a call's own: refused, or looked past, by every verb. */
Test(policy_record, a_term_that_is_looked_past_changes_nothing) {
    for (uint8_t way = 1; way <= 2; way++) {
        struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_NATS);
        struct lapse_testing t;
        policies.value[LAPSE_POLICY_OWN_TERM] = way;
        open_words(&t, &policies,
                   (struct lapse_bucket_config){.term = {.given = TTL, .ttl = {S(60)}}});
        enum lapse_status want = way == 1 ? LAPSE_INVALID : LAPSE_OK;
        DO(&t, SET, "k", 0, 0);
        cr_expect_eq(DO(&t, EXPIRE, "k", TTL, S(5)), want);
        cr_expect(way == 2 || strstr(t.err.message, "takes none") != NULL, "%s", t.err.message);
        cr_expect(way == 1 || t.r.end.ns == S(60), "it shows the end that it has");
        cr_expect_eq(DO(&t, EXPIRE, "q", TTL, S(5)), way == 1 ? want : LAPSE_ABSENT);
        cr_expect_eq(DO(&t, SET, "k", LAPSE_TERM_KEEP, 0), LAPSE_OK, "to keep is not to give");
        cr_expect_eq(DO(&t, PERSIST, "k", 0, 0), LAPSE_OK);
        cr_expect_eq(t.r.end.kind, LAPSE_END_NONE);
        lapse_testing_check(&t);
        lapse_testing_close(&t);
    }
}

Test(policy_record, a_term_below_the_resolution_is_refused_in_its_unit) {
    static const struct {
        enum lapse_profile profile;
        int64_t span;
        const char *unit;
    } cases[] = {
        {LAPSE_PROFILE_TINYSTORE, LAPSE_NS_PER_MS - 1, "1 ms"},
        {LAPSE_PROFILE_KAHUNA, 1, "1 ms"},
        {LAPSE_PROFILE_NATS, LAPSE_NS_PER_S - 1, "1 s"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lapse_policies policies = lapse_policies_of(cases[i].profile);
        struct lapse_testing t;
        int64_t markers = cases[i].profile == LAPSE_PROFILE_NATS ? S(5) : 0;
        open_words(&t, &policies, (struct lapse_bucket_config){.markers = {markers}});
        cr_expect_eq(DO(&t, SET, "k", TTL, cases[i].span), LAPSE_INVALID);
        cr_expect_not_null(strstr(t.err.message, cases[i].unit), "%s", t.err.message);
        cr_expect_eq(DO(&t, SET, "k", TTL, cases[i].span + LAPSE_NS_PER_S), LAPSE_OK);
        cr_expect_eq(t.r.end.ns % LAPSE_NS_PER_MS, 0, "it is cut down");
        if (cases[i].profile != LAPSE_PROFILE_NATS) {
            enum lapse_status status =
                lapse_testing_lease(&t, LAPSE_VERB_ACQUIRE, "l", "w", cases[i].span);
            cr_expect_eq(status, LAPSE_INVALID, "of a lease too");
        }
        lapse_testing_close(&t);
    }
}

/* Policies may be mixed: the sentence names the first that differs, and no profile where none is
 * meant. */
Test(policy_record, a_store_of_policies_of_its_own_says_so) {
    struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_STRICT);
    struct lapse_testing_journal journal;
    struct lapse_testing t;
    struct lapse *other = NULL;
    policies.value[LAPSE_POLICY_OLDER] = 1;
    lapse_testing_journal_init(&journal);
    lapse_testing_open_policies(&t, &journal, 0, &policies);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    t.options.policies = lapse_policies_of(LAPSE_PROFILE_STRICT);
    cr_expect_eq(lapse_open(&t.options, &other, &t.err), LAPSE_INVALID);
    cr_expect_not_null(strstr(t.err.message, "with profile `policies of its own`"), "%s",
                       t.err.message);
    cr_expect_not_null(strstr(t.err.message, "policy older_value: it has `current`"), "%s",
                       t.err.message);
    cr_expect_not_null(strstr(t.err.message, "asked for is `absent`"), "%s", t.err.message);
    lapse_testing_close(&t);
    lapse_testing_journal_finish(&journal);
}

/* A mark that no store writes is damage, whatever is asked for. */
Test(policy_record, a_mark_of_policies_that_there_are_not_is_corrupt) {
    static const uint64_t codes[] = {3, UINT64_C(1) << (2 * LAPSE_POLICIES), UINT64_MAX};
    struct lapse_testing_journal journal;
    struct lapse_testing t;
    lapse_testing_journal_init(&journal);
    lapse_testing_open_with(&t, &journal, 0);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    for (size_t i = 0; i < journal.row_count; i++) {
        struct lapse_row *row = &journal.rows[i];
        uint64_t code = row->mark.policies;
        for (size_t c = 0; row->kind == LAPSE_ROW_MARK && c < 3; c++) {
            struct lapse *other = NULL;
            row->mark.policies = codes[c];
            cr_expect_eq(lapse_open(&t.options, &other, &t.err), LAPSE_CORRUPT, "code %zu", c);
            cr_expect_not_null(strstr(t.err.message, "policies that no store has"));
            row->mark.policies = code;
            journal.closed = false;
        }
    }
    lapse_testing_close(&t);
    lapse_testing_journal_finish(&journal);
}

/* Leases that nobody uses are looked at now and then, and only where there are many. */
Test(policy_record, among_few_ephemeral_leases_none_is_dropped_for_being_unused) {
    struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_KAHUNA);
    struct lapse_testing t;
    lapse_testing_open_policies(&t, NULL, 0, &policies);
    struct lapse_command acquire = {.verb = LAPSE_VERB_ACQUIRE, .key = lapse_bytes_of("first")};
    acquire.u.lease.owner = lapse_bytes_of("w");
    acquire.u.lease.span.ns = S(9000);
    acquire.u.lease.durability = LAPSE_EPHEMERAL;
    cr_assert_eq(lapse_apply(t.store, &acquire, &t.r, &t.err), LAPSE_OK);
    lapse_testing_at(&t, S(1800));
    for (int i = 1; i < 500; i++) {
        char name[2] = {(char)('a' + i % 20), '\0'};
        acquire.key = lapse_bytes_of(name);
        cr_assert_eq(lapse_apply(t.store, &acquire, &t.r, &t.err), LAPSE_OK);
    }
    struct lapse_command inspect = {.verb = LAPSE_VERB_INSPECT, .key = lapse_bytes_of("first")};
    inspect.u.lease.durability = LAPSE_EPHEMERAL;
    cr_expect_eq(lapse_apply(t.store, &inspect, &t.r, &t.err), LAPSE_OK);
    inspect.key = lapse_bytes_of("never");
    cr_expect_eq(lapse_apply(t.store, &inspect, &t.r, &t.err), LAPSE_ABSENT);
    struct lapse_command extend = acquire;
    extend.verb = LAPSE_VERB_EXTEND;
    extend.key = lapse_bytes_of("first");
    extend.u.lease.span.ns = 0;
    cr_expect_eq(lapse_apply(t.store, &extend, &t.r, &t.err), LAPSE_INVALID);
    lapse_testing_check(&t);
    lapse_testing_close(&t);
}
