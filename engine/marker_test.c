/* Tombstones, purge records and markers: absent to every call, kept for watchers for the span that
 * the bucket said when they were written, then gone without a trace (WATCH-05). */
#include "testing.h"

#include <criterion/criterion.h>

#define DO(verb, key, value) lapse_testing_do(&t, LAPSE_VERB_##verb, "b", key, value, 0, 0)

static void alter(struct lapse_testing *t, int64_t markers) {
    struct lapse_bucket_config config = {.markers = {markers}};
    cr_assert_eq(lapse_bucket_alter(t->store, lapse_bytes_of("b"), &config, &t->r, &t->err),
                 LAPSE_OK, "%s", t->err.message);
}

static enum lapse_status count_row(void *ctx, const struct lapse_row *row) {
    *(size_t *)ctx += row->kind == LAPSE_ROW_RECORD ? 1 : 0;
    return LAPSE_OK;
}

static size_t rows(struct lapse_testing *t) {
    size_t count = 0;
    cr_assert_eq(lapse_walk(t->store, count_row, &count, NULL), LAPSE_OK);
    return count;
}

/* Leaves a record of each kind under the key `k` at revision 2, whose entry was revision 1. */
static void leave(struct lapse_testing *t, enum lapse_record_kind kind, uint32_t history) {
    struct lapse_bucket_config config = {.markers = {S(60)}, .history = history};
    lapse_testing_open(t);
    lapse_bucket_open(t->store, lapse_bytes_of("b"), &config, &t->r, &t->err);
    bool ends = kind == LAPSE_RECORD_MARKER;
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "k", "v", ends ? LAPSE_TERM_TTL : 0, S(1));
    if (kind == LAPSE_RECORD_TOMBSTONE || kind == LAPSE_RECORD_PURGE) {
        lapse_testing_do(t, kind == LAPSE_RECORD_PURGE ? LAPSE_VERB_PURGE : LAPSE_VERB_DELETE, "b",
                         "k", NULL, 0, 0);
        cr_expect_eq(t->r.revision, 2);
    }
    lapse_testing_at(t, S(1));
    lapse_testing_step(t, NULL);
}

Test(marker, a_key_of_which_one_is_the_newest_is_absent_to_every_call) {
    static const enum lapse_record_kind kinds[] = {LAPSE_RECORD_TOMBSTONE, LAPSE_RECORD_PURGE,
                                                   LAPSE_RECORD_MARKER};
    for (uint32_t way = 0; way < 6; way++) {
        struct lapse_testing t;
        struct lapse_bytes b = lapse_bytes_of("b");
        struct lapse_bytes k = lapse_bytes_of("k");
        leave(&t, kinds[way % 3], 1 + way / 3);
        cr_expect_eq(DO(GET, "k", NULL), LAPSE_ABSENT);
        cr_expect_eq(DO(ENTRY, "k", NULL), LAPSE_ABSENT);
        cr_expect_eq(DO(HAS, "k", NULL), LAPSE_ABSENT);
        cr_expect_eq(DO(HISTORY, "k", NULL), LAPSE_ABSENT);
        cr_expect_eq(lapse_peek(t.store, b, k, &t.r, &t.err), LAPSE_ABSENT);
        DO(ALL, NULL, NULL);
        cr_expect_eq(t.r.item_count, 0);
        DO(COUNT, NULL, NULL);
        cr_expect_eq(t.r.item_count, 0);
        lapse_watch(t.store, b, lapse_bytes_of(""), LAPSE_WATCH_LIVE, &t.r, &t.err);
        cr_expect_eq(t.r.item_count, 0);
        lapse_watch(t.store, b, k, LAPSE_WATCH_LIVE, &t.r, &t.err);
        cr_expect_eq(t.r.item_count, 0);
        cr_expect_eq(DO(DELETE, "k", NULL), LAPSE_ABSENT);
        cr_expect_eq(DO(PURGE, "k", NULL), LAPSE_ABSENT);
        cr_expect_eq(DO(PERSIST, "k", NULL), LAPSE_ABSENT);
        for (int64_t version = 0; version < 3; version++) {
            cr_expect_eq(lapse_get_revision(t.store, b, k, version, &t.r, &t.err), LAPSE_ABSENT);
            cr_expect_eq(lapse_delete(t.store, b, k, &version, &t.r, &t.err), LAPSE_CONFLICT);
            cr_expect_eq(lapse_update(t.store, b, k, k, version, NULL, &t.r, &t.err),
                         LAPSE_CONFLICT, "if_version met a record that is no live entry");
            cr_expect_eq(t.r.revision, 0);
        }
        cr_expect_eq(DO(CREATE, "k", "new"), LAPSE_OK);
        cr_expect_eq(t.r.revision, 3);
        cr_expect_eq(t.r.event_count, 1);
        lapse_testing_check(&t);
        lapse_testing_close(&t);
    }
}

Test(marker, leaves_silently_at_its_own_end) {
    static const enum lapse_record_kind kinds[] = {LAPSE_RECORD_TOMBSTONE, LAPSE_RECORD_PURGE,
                                                   LAPSE_RECORD_MARKER};
    for (uint32_t way = 0; way < 6; way++) {
        struct lapse_testing t;
        struct lapse_due due;
        bool marker = way % 3 == 2;
        int64_t end = marker ? S(61) : S(60);
        leave(&t, kinds[way % 3], 1 + way / 3);
        lapse_next_due(t.store, &due);
        cr_expect(due.has_steady && due.steady.ns == end, "it is due at %lld",
                  (long long)due.steady.ns);
        lapse_testing_at(&t, end - 1);
        lapse_testing_step(&t, NULL);
        cr_expect_eq(t.r.item_count, 0);
        lapse_testing_at(&t, end);
        size_t stored = rows(&t);
        lapse_testing_step(&t, NULL);
        cr_expect_eq(t.r.item_count, stored);
        cr_expect_eq(t.r.event_count, 0);
        cr_expect_eq(rows(&t), 0);
        cr_expect_eq(DO(CREATE, "k", "v"), LAPSE_OK);
        cr_expect_eq(t.r.revision, 3);
        lapse_testing_close(&t);
    }
}

/* A span so long that it cannot be added to store time ends with time itself: no end and no delete
 * is refused for it. */
Test(marker, an_endless_span_is_cut_at_the_end_of_time) {
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    struct lapse_bucket_config config = {.markers = {INT64_MAX}};
    lapse_testing_journal_init(&journal);
    lapse_testing_open_with(&t, &journal, 0);
    lapse_testing_at(&t, S(5));
    lapse_bucket_open(t.store, lapse_bytes_of("b"), &config, &t.r, &t.err);
    DO(SET, "k", "v");
    cr_expect_eq(DO(DELETE, "k", NULL), LAPSE_OK);
    DO(SET, "l", "v");
    lapse_testing_do(&t, LAPSE_VERB_EXPIRE, "b", "l", NULL, LAPSE_TERM_TTL, S(1));
    lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){-S(1006)});
    lapse_testing_at(&t, INT64_MAX);
    lapse_testing_check(&t);
    lapse_testing_step(&t, NULL);
    lapse_testing_check(&t);
    lapse_testing_journal_same(&journal, t.store);
    lapse_close(t.store);
    journal.closed = false;
    cr_assert_eq(lapse_open(&t.options, &t.store, &t.err), LAPSE_OK, "%s", t.err.message);
    lapse_testing_close(&t);
    lapse_testing_journal_finish(&journal);
}

/* An end is marked as the bucket says when it comes, whatever it says when the reaper does. */
Test(marker, an_altered_bucket_marks_the_ends_that_come_from_then_on) {
    for (int way = 0; way < 4; way++) {
        bool marked = way % 2 == 1;
        struct lapse_testing t;
        struct lapse_command command = {.verb = LAPSE_VERB_ALTER, .bucket = lapse_bytes_of("b")};
        struct lapse_command before;
        lapse_testing_open(&t);
        lapse_testing_bucket(&t, "b", 0, 0, marked ? S(60) : 0);
        lapse_watch(t.store, lapse_bytes_of("b"), lapse_bytes_of(""), LAPSE_WATCH_NOW, &t.r,
                    &t.err);
        int64_t watcher = t.r.watcher;
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "before", "v", LAPSE_TERM_TTL, S(1));
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "after", "v", LAPSE_TERM_TTL, S(2));
        lapse_testing_at(&t, S(1));
        command.u.open.config.markers.ns = marked ? 0 : S(60);
        if (way > 1) {
            cr_assert_eq(lapse_preceding(t.store, &command, &before, &t.err), LAPSE_OK);
            cr_expect_eq(before.verb, LAPSE_VERB_REAP);
            cr_assert_eq(lapse_apply(t.store, &before, &t.r, &t.err), LAPSE_OK);
            cr_expect_eq(lapse_preceding(t.store, &command, &before, &t.err), LAPSE_ABSENT);
        }
        cr_assert_eq(lapse_apply(t.store, &command, &t.r, &t.err), LAPSE_OK);
        lapse_testing_at(&t, S(2));
        lapse_testing_step(&t, NULL);
        lapse_poll(t.store, watcher, 9, &t.r, &t.err);
        cr_assert_eq(t.r.delivery_count, 3);
        cr_expect_eq(t.r.deliveries[2].kind, LAPSE_EVENT_EXPIRED);
        cr_expect(lapse_testing_is(t.r.deliveries[2].key, marked ? "before" : "after"));
        lapse_testing_close(&t);
    }
}

/* A key that was renewed after its stored end has not ended: its renewal precedes the reap. */
Test(marker, an_alter_does_not_end_what_a_use_has_renewed) {
    struct lapse_testing t;
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", LAPSE_TERM_IDLE, S(60));
    lapse_testing_at(&t, S(10));
    DO(GET, "k", NULL);
    lapse_testing_at(&t, S(65));
    alter(&t, S(10));
    DO(GET, "k", NULL);
    cr_expect_eq(t.r.status, LAPSE_OK);
    lapse_testing_close(&t);
}

/* The span of one that is written stays; that of the next is the new one. */
Test(marker, an_altered_span_counts_for_those_written_from_then_on) {
    struct lapse_testing t;
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", 0, 0, S(60));
    DO(SET, "k", "v");
    DO(SET, "l", "v");
    DO(DELETE, "k", NULL);
    alter(&t, S(10));
    DO(DELETE, "l", NULL);
    lapse_testing_at(&t, S(10));
    lapse_testing_step(&t, NULL);
    cr_expect_eq(rows(&t), 1);
    alter(&t, 0);
    cr_expect_eq(rows(&t), 1);
    lapse_testing_at(&t, S(60));
    lapse_testing_step(&t, NULL);
    cr_expect_eq(rows(&t), 0);
    lapse_testing_close(&t);
}

/* REAP-02: reads and refusals of an ended key write nothing. */
Test(marker, only_the_reaper_and_writes_of_the_key_write_that_it_ended) {
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    lapse_testing_journal_init(&journal);
    lapse_testing_open_with(&t, &journal, 0);
    lapse_testing_bucket(&t, "b", LAPSE_TERM_TTL, S(1), S(60));
    DO(SET, "k", "v");
    lapse_testing_at(&t, S(1));
    int64_t commits = journal.commits;
    DO(GET, "k", NULL);
    DO(DELETE, "k", NULL);
    DO(PURGE, "k", NULL);
    DO(PERSIST, "k", NULL);
    DO(HISTORY, "k", NULL);
    DO(ALL, NULL, NULL);
    lapse_watch_revision(t.store, lapse_bytes_of("b"), lapse_bytes_of(""), 1, &t.r, &t.err);
    cr_expect_eq(journal.commits, commits);
    DO(SET, "k", "v");
    cr_expect_eq(journal.commits, commits + 1);
    cr_expect_eq(t.r.event_count, 2);
    lapse_testing_close(&t);
    lapse_testing_journal_finish(&journal);
}

/* What ended with a session had its end under the words of before, too. */
Test(marker, an_alter_comes_after_the_ends_of_a_session) {
    for (int way = 0; way < 4; way++) {
        bool marked = way % 2 == 1;
        struct lapse_testing t;
        struct lapse_command set = {
            .verb = LAPSE_VERB_SET, .bucket = lapse_bytes_of("b"), .key = lapse_bytes_of("k")};
        set.u.write.term.given = LAPSE_TERM_SESSION;
        set.u.write.term.session = lapse_bytes_of("s");
        lapse_testing_open(&t);
        lapse_testing_bucket(&t, "b", 0, 0, marked ? S(60) : 0);
        lapse_watch(t.store, lapse_bytes_of("b"), lapse_bytes_of(""), LAPSE_WATCH_NOW, &t.r,
                    &t.err);
        int64_t watcher = t.r.watcher;
        lapse_session_open(t.store, lapse_bytes_of("s"), lapse_bytes_of("w1"),
                           (struct lapse_span){S(5)}, &t.r, &t.err);
        cr_assert_eq(lapse_apply(t.store, &set, &t.r, &t.err), LAPSE_OK, "%s", t.err.message);
        lapse_testing_at(&t, S(5));
        if (way > 1) {
            lapse_testing_step(&t, NULL);
        }
        alter(&t, marked ? 0 : S(60));
        lapse_testing_step(&t, NULL);
        lapse_poll(t.store, watcher, 9, &t.r, &t.err);
        cr_expect_eq(t.r.delivery_count, marked ? 2 : 1, "way %d", way);
        lapse_testing_close(&t);
    }
}

/* A bucket whose revisions are used up still loses its ended keys, and holds up no other. */
Test(marker, an_end_without_a_revision_left_is_an_end_all_the_same) {
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    struct lapse_command mark = {.verb = LAPSE_VERB_MARK, .bucket = lapse_bytes_of("b")};
    mark.u.mark.ceiling_revision = INT64_MAX - 2;
    lapse_testing_journal_init(&journal);
    lapse_testing_open_with(&t, &journal, 0);
    lapse_testing_bucket(&t, "b", 0, 0, S(60));
    lapse_testing_bucket(&t, "other", 0, 0, S(60));
    cr_assert_eq(lapse_apply(t.store, &mark, &t.r, &t.err), LAPSE_OK);
    lapse_close(t.store);
    journal.closed = false;
    cr_assert_eq(lapse_open(&t.options, &t.store, &t.err), LAPSE_OK, "%s", t.err.message);
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", LAPSE_TERM_TTL, S(1));
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "l", "v", LAPSE_TERM_TTL, S(1));
    cr_assert_eq(t.r.revision, INT64_MAX);
    lapse_testing_do(&t, LAPSE_VERB_SET, "other", "k", "v", LAPSE_TERM_TTL, S(2));
    lapse_testing_at(&t, S(2));
    cr_expect_eq(DO(GET, "k", NULL), LAPSE_ABSENT);
    lapse_testing_step(&t, NULL);
    cr_expect_eq(t.r.item_count, 3);
    cr_expect_eq(t.r.event_count, 1, "the other bucket has revisions left");
    cr_expect_eq(rows(&t), 1);
    cr_expect_eq(DO(GET, "k", NULL), LAPSE_ABSENT);
    cr_expect_eq(DO(SET, "k", "v"), LAPSE_RANGE);
    alter(&t, 0);
    lapse_testing_check(&t);
    lapse_testing_close(&t);
    lapse_testing_journal_finish(&journal);
}
