/* Rows of records that no store writes: each field of each kind of record is spoiled in what a
 * store did write, and the open must say `corrupt`. */
#include "testing.h"

#include <criterion/criterion.h>
#include <string.h>

#define DO(verb, key, value) lapse_testing_do(t, LAPSE_VERB_##verb, "b", key, value, 0, 0)

/* The keys are `k` (value 1, tombstone 2, value 3, value 4), `p` (purge), `m` (marker). */
static void write_all(struct lapse_testing *t, struct lapse_testing_journal *journal) {
    struct lapse_bucket_config config = {.markers = {S(60)}, .history = 4};
    lapse_testing_journal_init(journal);
    lapse_testing_open_with(t, journal, 0);
    lapse_bucket_open(t->store, lapse_bytes_of("b"), &config, &t->r, &t->err);
    DO(SET, "k", "one");
    DO(DELETE, "k", NULL);
    DO(SET, "k", "three");
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "k", "four", LAPSE_TERM_EXPIRES_AT, S(1900));
    DO(SET, "p", "five");
    DO(PURGE, "p", NULL);
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "m", "seven", LAPSE_TERM_IDLE, S(1));
    lapse_testing_at(t, S(1));
    lapse_testing_step(t, NULL);
}

static struct lapse_row *row_of(struct lapse_testing_journal *journal, int64_t revision) {
    for (size_t i = 0; i < journal->row_count; i++) {
        if (journal->rows[i].kind == LAPSE_ROW_RECORD && journal->rows[i].revision == revision) {
            return &journal->rows[i];
        }
    }
    cr_assert_fail("no record %d", (int)revision);
    return NULL;
}

static enum lapse_status reopen(struct lapse_testing *t, struct lapse_testing_journal *journal) {
    struct lapse *other = NULL;
    enum lapse_status status = lapse_open(&t->options, &other, &t->err);
    if (status == LAPSE_OK) {
        cr_expect_eq(lapse_check(other, &t->err), LAPSE_OK, "%s", t->err.message);
    }
    lapse_close(other);
    journal->closed = false;
    return status;
}

struct spoiled {
    int64_t revision;
    void (*spoil)(struct lapse_row *row);
};

#define SPOIL(name, ...) \
    static void name(struct lapse_row *row) { \
        __VA_ARGS__; \
    }
SPOIL(value, row->record.value.len = 1)
SPOIL(no_old, row->record.old_revision = 0)
SPOIL(old_is_own, row->record.old_revision = row->revision)
SPOIL(why, row->record.why = LAPSE_WHY_DEFAULT)
SPOIL(no_why, row->record.why = LAPSE_WHY_NONE)
SPOIL(far_why, row->record.why = (enum lapse_why)9)
SPOIL(no_end, row->record.end = (struct lapse_end){LAPSE_END_NONE, 0}; row->record.span.ns = 0)
SPOIL(moved_end, row->record.end.ns++)
SPOIL(own, row->record.source = LAPSE_SOURCE_OWN)
SPOIL(idle, row->record.idle = true)
SPOIL(cap, row->record.cap.ns = S(9999))
SPOIL(to_value, row->record.kind = LAPSE_RECORD_VALUE)
SPOIL(to_tombstone, row->record.kind = LAPSE_RECORD_TOMBSTONE)
SPOIL(to_marker, row->record.kind = LAPSE_RECORD_MARKER)
SPOIL(to_purge, row->record.kind = LAPSE_RECORD_PURGE)
SPOIL(markers, row->record.source = LAPSE_SOURCE_MARKERS)
SPOIL(same_revision, row->revision = 4)
SPOIL(later, row->record.end.ns = S(62))

Test(record_load, records_that_no_store_writes_are_corrupt) {
    static const struct spoiled spoils[] = {
        {2, value},    {2, no_old},   {2, old_is_own}, {2, why},       {2, no_end},
        {2, own},      {2, idle},       {2, cap},       {2, to_value},
        {2, to_marker}, {2, to_purge}, {2, later},     {6, value},     {6, no_old},
        {6, why},      {6, to_value}, {6, to_marker},  {8, no_why},    {8, far_why},
        {8, to_value}, {8, to_purge}, {8, to_tombstone}, {8, old_is_own}, {3, same_revision},
        {1, why},      {3, to_tombstone}, {4, to_marker}, {3, markers}, {8, moved_end},
    };
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    write_all(&t, &journal);
    lapse_testing_journal_same(&journal, t.store);
    cr_assert_eq(reopen(&t, &journal), LAPSE_OK, "%s", t.err.message);
    for (size_t i = 0; i < sizeof(spoils) / sizeof(spoils[0]); i++) {
        struct lapse_row *row = row_of(&journal, spoils[i].revision);
        struct lapse_row kept = *row;
        spoils[i].spoil(row);
        enum lapse_status status = reopen(&t, &journal);
        cr_expect_eq(status, LAPSE_CORRUPT, "case %zu: %s", i, lapse_status_word(status));
        cr_expect_not_null(strstr(t.err.message, "the stored row of kind 2"), "%s", t.err.message);
        *row = kept;
    }
    cr_assert_eq(reopen(&t, &journal), LAPSE_OK, "%s", t.err.message);
    lapse_testing_close(&t);
    lapse_testing_journal_finish(&journal);
}

/* Moves records between keys, so that what is below or above one does not fit. */
Test(record_load, keys_whose_records_do_not_fit_are_corrupt) {
    static const int64_t moved[][2] = {{3, 6}, {6, 4}, {8, 4}, {6, 8}, {2, 8}};
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    write_all(&t, &journal);
    for (size_t i = 0; i < sizeof(moved) / sizeof(moved[0]); i++) {
        struct lapse_row *row = row_of(&journal, moved[i][0]);
        struct lapse_bytes key = row->key;
        row->key = row_of(&journal, moved[i][1])->key;
        cr_expect_eq(reopen(&t, &journal), LAPSE_CORRUPT, "case %zu", i);
        row->key = key;
    }
    lapse_testing_close(&t);
    lapse_testing_journal_finish(&journal);
}

Test(record_load, a_key_has_as_many_records_as_are_ever_kept_and_no_more) {
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    struct lapse_bucket_config config = {.history = LAPSE_HISTORY_MAX};
    lapse_testing_journal_init(&journal);
    lapse_testing_open_with(&t, &journal, 0);
    lapse_bucket_open(t.store, lapse_bytes_of("b"), &config, &t.r, &t.err);
    for (int i = 0; i < LAPSE_HISTORY_MAX; i++) {
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", 0, 0);
    }
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "l", "v", 0, 0);
    cr_expect_eq(reopen(&t, &journal), LAPSE_OK, "%s", t.err.message);
    struct lapse_row *row = row_of(&journal, LAPSE_HISTORY_MAX + 1);
    struct lapse_bytes key = row->key;
    row->key = row_of(&journal, 1)->key;
    cr_expect_eq(reopen(&t, &journal), LAPSE_CORRUPT);
    row->key = key;
    lapse_testing_close(&t);
    lapse_testing_journal_finish(&journal);
}

/* A record that is covered leaves its place in the wheel while the rows come in; what is the next
 * to end is asked for as soon as they have. */
Test(record_load, what_is_covered_is_not_what_ends_next) {
    static const struct {
        const char *key;
        int64_t ms;
    } writes[] = {{"a", 12279}, {"b", 11024}, {"c", 12329}, {"c", 11379}, {"b", 10451},
                  {"b", 10848}, {"c", 10797}, {"b", 11546}, {"a", 11925}};
    struct lapse_bucket_config config = {.history = 4};
    for (int way = 0; way < 4; way++) {
        struct lapse_testing t;
        struct lapse_testing_journal journal;
        struct lapse *other = NULL;
        struct lapse_due due;
        lapse_testing_journal_init(&journal);
        lapse_testing_open_with(&t, &journal, 0);
        lapse_bucket_open(t.store, lapse_bytes_of("b"), &config, &t.r, &t.err);
        for (size_t i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
            lapse_testing_do(&t, LAPSE_VERB_SET, "b", writes[i].key, "v", LAPSE_TERM_TTL,
                             writes[i].ms * 1000000);
        }
        enum lapse_status status = way % 2 == 0
                                       ? lapse_open(&t.options, &other, &t.err)
                                       : lapse_fork(t.store, NULL, t.options.clock, &other, &t.err);
        cr_assert_eq(status, LAPSE_OK, "%s", t.err.message);
        if (way > 1) {
            struct lapse_bucket_config words = {.markers = {S(1)}, .history = 4};
            status = lapse_bucket_alter(other, lapse_bytes_of("b"), &words, &t.r, &t.err);
            cr_assert_eq(status, LAPSE_OK, "%s", t.err.message);
        }
        lapse_next_due(other, &due);
        cr_expect(due.has_steady);
        cr_expect_eq(due.steady.ns, INT64_C(10797000000), "way %d", way);
        lapse_close(other);
        journal.closed = false;
        lapse_testing_close(&t);
        lapse_testing_journal_finish(&journal);
    }
}
