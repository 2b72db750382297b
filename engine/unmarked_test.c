/* Revisions that begin late and run out: a bucket gives its first and its last, refuses what needs
 * another, and, where a policy says so, keeps readable what ends without a marker. */
#include "testing.h"

#include <criterion/criterion.h>
#include <string.h>

#define DO(t, verb, key, given, span)                                                              \
    lapse_testing_do((t), LAPSE_VERB_##verb, "b", (key), "v", (given), (span))
#define TTL LAPSE_TERM_TTL
#define DATE LAPSE_TERM_EXPIRES_AT
#define LAST INT64_MAX

static enum lapse_status words(struct lapse_testing *t, enum lapse_verb verb, const char *bucket,
                               struct lapse_bucket_config config) {
    struct lapse_command command = {
        .verb = verb, .bucket = lapse_bytes_of(bucket), .u.open.config = config};
    enum lapse_status status = lapse_apply(t->store, &command, &t->r, &t->err);
    lapse_testing_check(t);
    return status;
}

/* A store where what has no marker stays; older values live on by themselves or not. */
static void open_staying(struct lapse_testing *t, struct lapse_testing_journal *journal,
                         bool older_lives, struct lapse_bucket_config config) {
    struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_STRICT);
    policies.value[LAPSE_POLICY_MARKER_UNSTORED] = 1;
    policies.value[LAPSE_POLICY_OLDER] = older_lives ? 1 : 0;
    if (journal != NULL) {
        lapse_testing_journal_init(journal);
    }
    lapse_testing_open_policies(t, journal, 0, &policies);
    cr_assert_eq(words(t, LAPSE_VERB_OPEN, "b", config), LAPSE_OK, "%s", t->err.message);
}

static struct lapse_bucket_config marked(int64_t first, uint32_t history) {
    return (struct lapse_bucket_config){
        .markers = {S(60)}, .history = history, .first_revision = first};
}

static enum lapse_status get(struct lapse_testing *t, const char *key) {
    enum lapse_status status = DO(t, GET, key, 0, 0);
    lapse_testing_check(t);
    return status;
}

static enum lapse_status count_record(void *ctx, const struct lapse_row *row) {
    *(size_t *)ctx += row->kind == LAPSE_ROW_RECORD ? 1 : 0;
    return LAPSE_OK;
}

static size_t rows(const struct lapse *store) {
    size_t count = 0;
    cr_assert_eq(lapse_walk(store, count_record, &count, NULL), LAPSE_OK);
    return count;
}

static void reopen(struct lapse_testing *t, struct lapse_testing_journal *journal) {
    lapse_close(t->store);
    journal->closed = false;
    cr_assert_eq(lapse_open(&t->options, &t->store, &t->err), LAPSE_OK, "%s", t->err.message);
    lapse_testing_check(t);
}

Test(unmarked, the_first_revision_is_the_one_that_the_bucket_was_opened_with) {
    static const int64_t firsts[] = {0, 1, 2, 1000, LAST - 1, LAST};
    for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++) {
        struct lapse_testing t;
        struct lapse_testing_journal journal;
        int64_t first = firsts[i] == 0 ? 1 : firsts[i];
        lapse_testing_journal_init(&journal);
        lapse_testing_open_with(&t, &journal, 0);
        cr_assert_eq(words(&t, LAPSE_VERB_OPEN, "b", marked(firsts[i], 1)), LAPSE_OK);
        cr_expect_eq(words(&t, LAPSE_VERB_OPEN, "b", marked(first, 1)), LAPSE_OK, "equal words");
        int64_t other = first == 1 ? 2 : first - 1;
        cr_expect_eq(words(&t, LAPSE_VERB_OPEN, "b", marked(other, 1)), LAPSE_INVALID);
        cr_expect_not_null(strstr(t.err.message, "first revision "), "%s", t.err.message);
        reopen(&t, &journal);
        cr_assert_eq(DO(&t, SET, "k", 0, 0), LAPSE_OK, "%s", t.err.message);
        cr_expect_eq(t.r.revision, first);
        lapse_testing_journal_same(&journal, t.store);
        lapse_testing_close(&t);
        lapse_testing_journal_finish(&journal);
    }
}

Test(unmarked, a_first_revision_is_set_for_good) {
    struct lapse_testing t;
    lapse_testing_open(&t);
    cr_assert_eq(words(&t, LAPSE_VERB_OPEN, "b", marked(-1, 1)), LAPSE_INVALID);
    cr_expect_not_null(strstr(t.err.message, "-1"), "%s", t.err.message);
    cr_assert_eq(words(&t, LAPSE_VERB_OPEN, "b", marked(1000, 1)), LAPSE_OK);
    DO(&t, SET, "k", 0, 0);
    uint64_t before = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
    cr_expect_eq(words(&t, LAPSE_VERB_ALTER, "b", marked(2000, 4)), LAPSE_INVALID);
    cr_expect_not_null(strstr(t.err.message, "began at 1000 and alter asks for 2000"), "%s",
                       t.err.message);
    cr_expect_eq(words(&t, LAPSE_VERB_ALTER, "b", marked(-1, 4)), LAPSE_INVALID);
    cr_expect_eq(words(&t, LAPSE_VERB_ALTER, "b", marked(0, 1)), LAPSE_OK, "as it is");
    cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), before);
    cr_expect_eq(words(&t, LAPSE_VERB_ALTER, "b", marked(1000, 4)), LAPSE_OK);
    cr_expect_eq(words(&t, LAPSE_VERB_ALTER, "b", marked(0, 5)), LAPSE_OK);
    cr_expect_eq(words(&t, LAPSE_VERB_OPEN, "b", marked(1000, 5)), LAPSE_OK, "it stays");
    DO(&t, SET, "k", 0, 0);
    cr_expect_eq(t.r.revision, 1001);
    lapse_testing_close(&t);
}

/* Where the store or each key counts, a bucket has no first revision of its own. */
Test(unmarked, a_first_revision_is_refused_where_buckets_count_none) {
    static const enum lapse_profile profiles[] = {LAPSE_PROFILE_TINYSTORE, LAPSE_PROFILE_KAHUNA};
    for (int i = 0; i < 2; i++) {
        struct lapse_policies policies = lapse_policies_of(profiles[i]);
        struct lapse_testing t;
        struct lapse_testing_journal journal;
        lapse_testing_journal_init(&journal);
        lapse_testing_open_policies(&t, &journal, 0, &policies);
        struct lapse_bucket_config config = {.first_revision = 7};
        cr_expect_eq(words(&t, LAPSE_VERB_OPEN, "b", config), LAPSE_INVALID);
        cr_expect_not_null(strstr(t.err.message, "by bucket"), "%s", t.err.message);
        config.first_revision = 1;
        cr_expect_eq(words(&t, LAPSE_VERB_OPEN, "b", config), LAPSE_OK);
        config.first_revision = 7;
        cr_expect_eq(words(&t, LAPSE_VERB_ALTER, "b", config), LAPSE_INVALID);
        lapse_close(t.store);
        journal.closed = false;
        for (size_t k = 0; k < journal.row_count; k++) {
            if (journal.rows[k].kind == LAPSE_ROW_BUCKET) {
                journal.rows[k].revision = 9;
                journal.rows[k].bucket_row.config.first_revision = 7;
            }
        }
        cr_expect_eq(lapse_open(&t.options, &t.store, &t.err), LAPSE_CORRUPT, "nor has a row one");
        lapse_result_free(&t.r);
        lapse_testing_journal_finish(&journal);
    }
}

/* Nothing is changed by a call that would need one more; what needs none is carried out. */
Test(unmarked, a_call_that_needs_a_revision_when_none_is_left_is_out_of_range) {
    static const enum lapse_verb verbs[] = {LAPSE_VERB_SET, LAPSE_VERB_DELETE, LAPSE_VERB_PURGE};
    for (int staying = 0; staying < 2; staying++) {
        struct lapse_testing t;
        if (staying == 1) {
            open_staying(&t, NULL, false, marked(LAST - 1, 3));
        } else {
            lapse_testing_open(&t);
            cr_assert_eq(words(&t, LAPSE_VERB_OPEN, "b", marked(LAST - 1, 3)), LAPSE_OK);
        }
        DO(&t, SET, "k", 0, 0);
        DO(&t, SET, "k", TTL, S(9));
        cr_assert_eq(t.r.revision, LAST);
        uint64_t before = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
        for (int i = 0; i < 3; i++) {
            cr_expect_eq(lapse_testing_do(&t, verbs[i], "b", "k", "w", 0, 0), LAPSE_RANGE);
            cr_expect_not_null(strstr(t.err.message, "`b` has given its last revision, 9223372"),
                               "%s", t.err.message);
        }
        cr_expect_eq(DO(&t, CREATE, "n", 0, 0), LAPSE_RANGE);
        cr_expect_eq(DO(&t, CREATE, "k", 0, 0), LAPSE_EXISTS, "which is not out of range");
        cr_expect_eq(DO(&t, DELETE, "n", 0, 0), LAPSE_ABSENT);
        struct lapse_command set = {.verb = LAPSE_VERB_SET,
                                    .bucket = lapse_bytes_of("b"),
                                    .key = lapse_bytes_of("k")};
        cr_expect_eq(lapse_batch(t.store, &set, 1, &t.r, &t.err), LAPSE_RANGE);
        lapse_testing_check(&t);
        cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), before);
        cr_expect_eq(DO(&t, EXPIRE, "k", TTL, S(5)), LAPSE_OK);
        cr_expect_eq(DO(&t, PERSIST, "k", 0, 0), LAPSE_OK);
        lapse_testing_close(&t);
    }
}

/* ---- What has no marker stays. */

static void expect_there(struct lapse_testing *t, const char *key, int64_t end, const char *when) {
    cr_expect_eq(get(t, key), LAPSE_OK, "%s %s", key, when);
    cr_expect_eq(t->r.end.ns, end, "%s %s", key, when);
    cr_expect_eq(t->r.left.ns, 0, "%s %s", key, when);
    cr_expect_not(t->r.renewed, "%s %s", key, when);
    cr_expect_eq(DO(t, HAS, key, 0, 0), LAPSE_OK, "%s %s", key, when);
    cr_expect_eq(DO(t, CREATE, key, 0, 0), LAPSE_EXISTS, "%s %s", key, when);
    cr_expect_eq(DO(t, SET, key, 0, 0), LAPSE_RANGE, "%s %s", key, when);
    cr_expect_eq(DO(t, DELETE, key, 0, 0), LAPSE_RANGE, "%s %s", key, when);
    enum lapse_status status =
        lapse_history(t->store, lapse_bytes_of("b"), lapse_bytes_of(key), &t->r, &t->err);
    cr_expect_eq(status, LAPSE_OK, "%s %s", key, when);
    lapse_testing_check(t);
}

/* Four values that end at 5 s, each in its own way: all are there afterwards, and only what ends
 * with a session is not. */
static void expect_all_there(struct lapse_testing *t, const char *when) {
    expect_there(t, "own", S(5), when);
    expect_there(t, "date", S(1005), when);
    expect_there(t, "idle", S(5), when);
    expect_there(t, "past", S(1000), when);
    cr_expect_eq(DO(t, COUNT, NULL, 0, 0), LAPSE_OK);
    cr_expect_eq(t->r.item_count, 4, "%s", when);
    cr_expect_eq(DO(t, LIST, NULL, 0, 0), LAPSE_OK);
    cr_expect_eq(t->r.item_count, 4, "%s", when);
    cr_expect_eq(get(t, "member"), LAPSE_ABSENT, "%s", when);
    cr_expect_eq(lapse_watch(t->store, lapse_bytes_of("b"), lapse_bytes_of(""), LAPSE_WATCH_LIVE,
                             &t->r, &t->err),
                 LAPSE_OK);
    cr_expect_eq(t->r.item_count, 4, "%s", when);
    lapse_unwatch(t->store, t->r.watcher, &t->r, &t->err);
}

static void write_ends(struct lapse_testing *t) {
    cr_assert_eq(lapse_session_open(t->store, lapse_bytes_of("s"), lapse_bytes_of("w1"),
                                    (struct lapse_span){S(5)}, &t->r, &t->err),
                 LAPSE_OK);
    struct lapse_command member = {
        .verb = LAPSE_VERB_SET,
        .bucket = lapse_bytes_of("b"),
        .key = lapse_bytes_of("member"),
        .u.write.term = {.given = LAPSE_TERM_SESSION, .session = lapse_bytes_of("s")}};
    cr_assert_eq(lapse_apply(t->store, &member, &t->r, &t->err), LAPSE_OK);
    DO(t, SET, "own", TTL, S(5));
    DO(t, SET, "date", DATE, S(1005));
    DO(t, SET, "idle", LAPSE_TERM_IDLE, S(5));
    DO(t, SET, "past", DATE, S(1));
    cr_assert_eq(t->r.revision, LAST);
    lapse_testing_check(t);
}

Test(unmarked, a_value_whose_end_cannot_be_told_stays_to_every_call_and_over_a_restart) {
    for (int older_lives = 0; older_lives < 2; older_lives++) {
        struct lapse_testing t;
        struct lapse_testing_journal journal;
        struct lapse_due due;
        struct lapse *fork = NULL;
        open_staying(&t, &journal, older_lives == 1, marked(LAST - 4, 2));
        write_ends(&t);
        lapse_testing_at(&t, S(5));
        expect_all_there(&t, "before the reaper");
        lapse_testing_step(&t, &due);
        cr_expect_eq(t.r.event_count, 0);
        cr_expect_eq(rows(t.store), 4);
        expect_all_there(&t, "after it");
        lapse_testing_step(&t, &due);
        cr_expect_not(due.has_steady || due.has_wall, "the reaper has nothing more to do");
        lapse_testing_journal_same(&journal, t.store);
        cr_assert_eq(lapse_fork(t.store, &t.alloc.vtable, t.options.clock, &fork, &t.err),
                     LAPSE_OK, "%s", t.err.message);
        struct lapse *store = t.store;
        t.store = fork;
        expect_all_there(&t, "in a fork");
        cr_expect_eq(lapse_testing_digest(fork, LAPSE_PART_DURABLE),
                     lapse_testing_digest(store, LAPSE_PART_DURABLE));
        lapse_close(fork);
        t.store = store;
        uint64_t before = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
        reopen(&t, &journal);
        cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE), before);
        lapse_testing_step(&t, &due);
        cr_expect_eq(t.r.item_count, 0, "what stays has no place by its end");
        expect_all_there(&t, "after a restart");
        lapse_testing_close(&t);
        lapse_testing_journal_finish(&journal);
    }
}

/* A new term is an end like any other, and the value outlives it again; without one it is a value
 * without a term. */
Test(unmarked, a_value_that_stays_can_be_given_another_term) {
    for (int reaped = 0; reaped < 2; reaped++) {
        struct lapse_testing t;
        open_staying(&t, NULL, false, marked(LAST, 1));
        DO(&t, SET, "k", TTL, S(5));
        lapse_testing_at(&t, S(6));
        if (reaped == 1) {
            lapse_testing_step(&t, NULL);
        }
        cr_expect_eq(DO(&t, EXPIRE, "k", TTL, S(2)), LAPSE_OK, "%s", t.err.message);
        cr_expect_eq(get(&t, "k"), LAPSE_OK);
        cr_expect_eq(t.r.left.ns, S(2));
        lapse_testing_at(&t, S(8));
        lapse_testing_step(&t, NULL);
        expect_there(&t, "k", S(8), "past its second end");
        cr_expect_eq(DO(&t, PERSIST, "k", 0, 0), LAPSE_OK);
        cr_expect_eq(get(&t, "k"), LAPSE_OK);
        cr_expect_eq(t.r.end.kind, LAPSE_END_NONE);
        lapse_testing_close(&t);
    }
}

/* What had ended when the last revision was given does not come back (KV-04), whoever took it: a
 * write of another key, or the marker of one that ended before. */
Test(unmarked, what_had_ended_before_the_last_revision_was_given_is_gone) {
    for (int by_marker = 0; by_marker < 2; by_marker++) {
        struct lapse_testing t;
        struct lapse_testing_journal journal;
        open_staying(&t, &journal, false, marked(LAST - 4, 3));
        DO(&t, SET, "first", TTL, S(1));
        DO(&t, SET, "second", 0, 0);
        DO(&t, SET, "second", TTL, S(2));
        DO(&t, SET, "later", TTL, S(9));
        lapse_testing_at(&t, S(3));
        cr_expect_eq(get(&t, "second"), LAPSE_ABSENT);
        if (by_marker == 1) {
            lapse_testing_step(&t, NULL);
            cr_expect_eq(t.r.event_count, 1, "of the one that ended first");
        } else {
            cr_assert_eq(DO(&t, SET, "k", 0, 0), LAPSE_OK, "%s", t.err.message);
            cr_assert_eq(t.r.revision, LAST);
        }
        cr_expect_eq(get(&t, "first"), LAPSE_ABSENT);
        cr_expect_eq(get(&t, "second"), LAPSE_ABSENT);
        lapse_testing_at(&t, S(10));
        cr_expect_eq(rows(t.store), 2, "the key that ended later, and what took the revision");
        cr_expect_eq(get(&t, "later"), LAPSE_OK);
        lapse_testing_journal_same(&journal, t.store);
        reopen(&t, &journal);
        cr_expect_eq(get(&t, "second"), LAPSE_ABSENT);
        cr_expect_eq(get(&t, "later"), LAPSE_OK);
        lapse_watch_revision(t.store, lapse_bytes_of("b"), lapse_bytes_of("second"), LAST - 3,
                             &t.r, &t.err);
        int64_t watcher = t.r.watcher;
        lapse_poll(t.store, watcher, 9, &t.r, &t.err);
        cr_expect_eq(t.r.delivery_count, 1);
        cr_expect_eq(t.r.deliveries[0].kind, LAPSE_EVENT_GAP, "its put is lost");
        lapse_testing_close(&t);
        lapse_testing_journal_finish(&journal);
    }
}

/* Where older values live on by themselves, the one that ends last is what stays, whether the
 * reaper has come or not; a tombstone that ends last leaves nothing. */
Test(unmarked, of_a_key_with_older_values_the_last_to_end_stays) {
    static const struct {
        unsigned given[3]; /* of the value written 1st, 2nd, 3rd; 0: a delete */
        int64_t end[3];
        int64_t stays; /* its place, from 0; -1: none */
    } cases[] = {
        {{TTL, TTL, TTL}, {S(7), S(5), S(6)}, 0},
        {{TTL, TTL, TTL}, {S(5), S(7), S(6)}, 1},
        {{TTL, TTL, TTL}, {S(5), S(6), S(7)}, 2},
        {{TTL, TTL, TTL}, {S(7), S(7), S(7)}, 2},
        {{DATE, DATE, DATE}, {S(1007), S(1005), S(1006)}, 0},
        {{DATE, DATE, DATE}, {S(1006), S(1007), S(1007)}, 2},
        {{TTL, DATE, TTL}, {S(7), S(1006), S(5)}, 0},
        {{TTL, DATE, TTL}, {S(6), S(1007), S(5)}, 1},
        {{TTL, TTL, 0}, {S(5), S(7), 0}, -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int reaped = 0; reaped < 3; reaped++) {
            struct lapse_testing t;
            open_staying(&t, NULL, true, marked(LAST - 2, 3));
            for (int k = 0; k < 3; k++) {
                bool value = cases[i].given[k] != 0;
                lapse_testing_do(&t, value ? LAPSE_VERB_SET : LAPSE_VERB_DELETE, "b", "k", "v",
                                 cases[i].given[k], cases[i].end[k]);
            }
            cr_assert_eq(t.r.revision, LAST);
            for (int64_t at = reaped == 2 ? S(5) : S(60); at <= S(60); at += S(1)) {
                lapse_testing_at(&t, at);
                if (reaped > 0) {
                    lapse_testing_step(&t, NULL);
                    lapse_testing_check(&t);
                }
            }
            bool stays = cases[i].stays >= 0;
            cr_expect_eq(get(&t, "k"), stays ? LAPSE_OK : LAPSE_ABSENT, "case %zu, %d", i, reaped);
            cr_expect_eq(t.r.revision, stays ? LAST - 2 + cases[i].stays : 0, "case %zu, %d", i,
                         reaped);
            struct lapse_command read = {.verb = LAPSE_VERB_GET,
                                         .bucket = lapse_bytes_of("b"),
                                         .key = lapse_bytes_of("k"),
                                         .u.read = {.has_revision = true,
                                                    .revision = LAST - 2 + cases[i].stays}};
            cr_expect_eq(lapse_apply(t.store, &read, &t.r, &t.err),
                         stays ? LAPSE_OK : LAPSE_ABSENT, "case %zu, %d", i, reaped);
            enum lapse_status status =
                lapse_history(t.store, lapse_bytes_of("b"), lapse_bytes_of("k"), &t.r, &t.err);
            cr_expect_eq(status, stays ? LAPSE_OK : LAPSE_ABSENT, "case %zu, %d", i, reaped);
            cr_expect_eq(t.r.item_count, stays ? 1 : 0, "case %zu, %d", i, reaped);
            lapse_testing_close(&t);
        }
    }
}

/* No marker is wanted any more: the value goes at once, and so does its row. */
Test(unmarked, what_stays_goes_when_its_bucket_loses_its_markers) {
    for (int reaped = 0; reaped < 2; reaped++) {
        struct lapse_testing t;
        struct lapse_testing_journal journal;
        open_staying(&t, &journal, false, marked(LAST - 3, 2));
        DO(&t, SET, "k", 0, 0);
        DO(&t, SET, "k", TTL, S(5));
        DO(&t, SET, "date", DATE, S(1005));
        DO(&t, SET, "live", TTL, S(90));
        lapse_testing_at(&t, S(6));
        if (reaped == 1) {
            lapse_testing_step(&t, NULL);
        }
        struct lapse_bucket_config longer = {.markers = {S(90)}, .history = 2};
        cr_expect_eq(words(&t, LAPSE_VERB_ALTER, "b", longer), LAPSE_OK);
        cr_expect_eq(get(&t, "k"), LAPSE_OK, "it still has markers");
        struct lapse_bucket_config none = {.history = 2};
        cr_expect_eq(words(&t, LAPSE_VERB_ALTER, "b", none), LAPSE_OK, "%s", t.err.message);
        cr_expect_eq(get(&t, "k"), LAPSE_ABSENT);
        cr_expect_eq(get(&t, "date"), LAPSE_ABSENT);
        cr_expect_eq(get(&t, "live"), LAPSE_OK);
        cr_expect_eq(rows(t.store), 1);
        lapse_testing_journal_same(&journal, t.store);
        cr_expect_eq(words(&t, LAPSE_VERB_ALTER, "b", marked(0, 2)), LAPSE_OK);
        cr_expect_eq(get(&t, "k"), LAPSE_ABSENT, "it does not come back");
        lapse_testing_at(&t, S(90));
        lapse_testing_step(&t, NULL);
        expect_there(&t, "live", S(90), "which ends with markers on again");
        lapse_testing_close(&t);
        lapse_testing_journal_finish(&journal);
    }
}

/* Where store time is the wall's, an end that has come may lie ahead again. The value is there
 * either way; once its bucket has no markers, it is so until its end comes again. */
Test(unmarked, an_end_that_lies_ahead_again_counts_again_without_markers) {
    for (int restarts = 0; restarts < 2; restarts++) {
        struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_NATS);
        struct lapse_testing t;
        struct lapse_testing_journal journal;
        struct lapse_bucket_config config = marked(LAST - 2, 1);
        lapse_testing_journal_init(&journal);
        lapse_testing_open_policies(&t, &journal, 0, &policies);
        cr_assert_eq(words(&t, LAPSE_VERB_OPEN, "b", config), LAPSE_OK);
        DO(&t, SET, "k", TTL, S(50));
        DO(&t, SET, "date", DATE, S(1050));
        DO(&t, SET, "other", 0, 0);
        lapse_testing_at(&t, S(60));
        lapse_testing_step(&t, NULL);
        cr_expect_eq(t.r.item_count, 2);
        lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){-S(40)});
        cr_expect_eq(get(&t, "k"), LAPSE_OK);
        DO(&t, PERSIST, "other", 0, 0);
        if (restarts == 1) {
            reopen(&t, &journal);
        }
        config.markers.ns = config.first_revision = 0;
        cr_expect_eq(words(&t, LAPSE_VERB_ALTER, "b", config), LAPSE_OK, "%s", t.err.message);
        cr_expect_eq(get(&t, "k"), LAPSE_OK, "its end lies ahead");
        cr_expect_eq(get(&t, "date"), LAPSE_OK, "its date too");
        lapse_testing_at(&t, S(89));
        cr_expect_eq(get(&t, "k"), LAPSE_OK);
        lapse_testing_at(&t, S(90));
        cr_expect_eq(get(&t, "k"), LAPSE_ABSENT);
        lapse_testing_step(&t, NULL);
        cr_expect_eq(t.r.item_count, 2);
        lapse_testing_check(&t);
        lapse_testing_close(&t);
        lapse_testing_journal_finish(&journal);
    }
}

/* A renewal that is owed counts for whether a key had ended when another took the last revision. */
Test(unmarked, a_key_that_was_used_in_time_is_not_taken_with_the_last_revision) {
    for (int batch = 0; batch < 2; batch++) {
        struct lapse_testing t;
        open_staying(&t, NULL, false, marked(LAST - 2, 1));
        DO(&t, SET, "used", LAPSE_TERM_IDLE, S(60));
        DO(&t, SET, "idle", LAPSE_TERM_IDLE, S(60));
        lapse_testing_at(&t, S(20));
        cr_assert_eq(get(&t, "used"), LAPSE_OK);
        lapse_testing_at(&t, S(70));
        struct lapse_command set = {.verb = LAPSE_VERB_SET,
                                    .bucket = lapse_bytes_of("b"),
                                    .key = lapse_bytes_of("k")};
        struct lapse_command both = {.verb = LAPSE_VERB_BATCH,
                                     .u.batch = {.count = 1, .commands = &set}};
        cr_assert_eq(lapse_apply(t.store, batch == 1 ? &both : &set, &t.r, &t.err), LAPSE_OK);
        lapse_testing_check(&t);
        cr_expect_eq(get(&t, "idle"), LAPSE_ABSENT);
        cr_expect_eq(get(&t, "used"), LAPSE_OK);
        cr_expect_eq(t.r.end.ns, S(80) + (t.r.renewed ? S(50) : 0));
        lapse_testing_close(&t);
    }
}

/* A key whose older values live on by themselves is gone as one, whichever of them ended last. */
Test(unmarked, all_values_of_a_key_that_had_ended_go_with_the_last_revision) {
    struct lapse_testing t;
    open_staying(&t, NULL, true, marked(LAST - 4, 3));
    DO(&t, SET, "k", TTL, S(3));
    DO(&t, SET, "k", TTL, S(1));
    DO(&t, SET, "half", TTL, S(9));
    DO(&t, SET, "half", TTL, S(1));
    lapse_testing_at(&t, S(4));
    cr_assert_eq(DO(&t, SET, "n", 0, 0), LAPSE_OK);
    cr_expect_eq(get(&t, "k"), LAPSE_ABSENT);
    cr_expect_eq(rows(t.store), 3, "the new one, and both values of a key that lives");
    lapse_testing_at(&t, S(10));
    cr_expect_eq(get(&t, "half"), LAPSE_OK);
    cr_expect_eq(t.r.revision, LAST - 2);
    lapse_testing_close(&t);
}

/* Fails each allocation of a call in turn: it changes nothing. Then it is carried out. Returns how
 * many there were. */
static size_t fail_each(struct lapse_testing *t, const struct lapse_command *command) {
    uint64_t before = lapse_testing_digest(t->store, LAPSE_PART_DURABLE);
    enum lapse_status status = LAPSE_NOMEM;
    size_t nth = 0;
    while (status == LAPSE_NOMEM) {
        cr_expect_eq(lapse_testing_digest(t->store, LAPSE_PART_DURABLE), before, "%zu", nth);
        lapse_result_free(&t->r);
        t->alloc.calls = 0;
        t->alloc.fail_at = ++nth;
        status = lapse_apply(t->store, command, &t->r, &t->err);
        t->alloc.fail_at = 0;
        lapse_testing_check(t);
    }
    cr_assert_eq(status, LAPSE_OK, "%s", t->err.message);
    return nth - 1;
}

/* Many keys go at once, more than the list of what is to be taken back has room for. */
Test(unmarked, without_memory_no_key_goes_and_none_stays) {
    enum { KEYS = 40 };
    struct lapse_testing t;
    char name[] = "k00";
    open_staying(&t, NULL, false, marked(LAST - 2 * KEYS, 1));
    for (int i = 0; i < 2 * KEYS; i++) {
        name[1] = (char)('0' + i / 10);
        name[2] = (char)('0' + i % 10);
        DO(&t, SET, name, TTL, i < KEYS ? S(1) : S(3));
    }
    lapse_testing_at(&t, S(2));
    struct lapse_command set = {.verb = LAPSE_VERB_SET,
                                .bucket = lapse_bytes_of("b"),
                                .key = lapse_bytes_of("n")};
    cr_expect_gt(fail_each(&t, &set), 3);
    cr_expect_eq(rows(t.store), KEYS + 1);
    lapse_testing_at(&t, S(4));
    struct lapse_command reap = {.verb = LAPSE_VERB_REAP, .u.reap.rows_max = 2 * KEYS};
    (void)fail_each(&t, &reap); /* which by now needs none */
    cr_expect_eq(rows(t.store), KEYS + 1);
    struct lapse_command alter = {.verb = LAPSE_VERB_ALTER, .bucket = lapse_bytes_of("b")};
    cr_expect_gt(fail_each(&t, &alter), 1);
    cr_expect_eq(rows(t.store), 1);
    lapse_testing_close(&t);
}

/* A term past the range ends at once and is not stored, so nothing is there to stay. */
Test(unmarked, what_is_over_as_it_is_written_does_not_stay) {
    struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_NATS);
    struct lapse_testing t;
    lapse_testing_open_policies(&t, NULL, 0, &policies);
    cr_assert_eq(words(&t, LAPSE_VERB_OPEN, "b", marked(LAST - 1, 1)), LAPSE_OK);
    DO(&t, SET, "k", 0, 0);
    lapse_testing_at(&t, S(1));
    cr_expect_eq(DO(&t, SET, "over", TTL, LAST), LAPSE_OK);
    cr_expect_eq(get(&t, "over"), LAPSE_ABSENT);
    cr_expect_eq(DO(&t, EXPIRE, "k", TTL, LAST), LAPSE_OK);
    cr_expect_eq(get(&t, "k"), LAPSE_ABSENT);
    cr_expect_eq(rows(t.store), 0);
    lapse_testing_close(&t);
}
