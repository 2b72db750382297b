/* Records of a live key: history, get by revision, and what a delete, an end or an altered bucket
 * does to them. An answer never depends on whether the reaper has come. */
#include "testing.h"

#include <criterion/criterion.h>

#define DO(verb, key, value) lapse_testing_do(&t, LAPSE_VERB_##verb, "b", key, value, 0, 0)

static void open_b(struct lapse_testing *t, uint32_t history, int64_t ttl, int64_t markers) {
    struct lapse_bucket_config config = {
        .term = {.given = ttl > 0 ? LAPSE_TERM_TTL : 0, .ttl = {ttl}},
        .markers = {markers},
        .history = history};
    lapse_testing_open(t);
    cr_assert_eq(lapse_bucket_open(t->store, lapse_bytes_of("b"), &config, &t->r, &t->err),
                 LAPSE_OK, "%s", t->err.message);
}

/* The key's history as kinds and revisions: "v1 t2 v3". */
static const char *told(struct lapse_testing *t, const char *key, char *buf) {
    static const char kinds[] = "?vtmp";
    size_t len = 0;
    enum lapse_status status = lapse_history(t->store, lapse_bytes_of("b"), lapse_bytes_of(key),
                                             &t->r, &t->err);
    if (status != LAPSE_OK) {
        return lapse_status_word(status);
    }
    for (size_t i = 0; i < t->r.item_count && len < 50; i++) {
        buf[len++] = kinds[t->r.items[i].kind];
        int64_t revision = t->r.items[i].revision;
        if (revision > 9) {
            buf[len++] = (char)('0' + revision / 10);
        }
        buf[len++] = (char)('0' + revision % 10);
        buf[len++] = ' ';
    }
    buf[len > 0 ? len - 1 : 0] = '\0';
    return buf;
}

#define EXPECT_TOLD(key, want) \
    do { \
        char buf[64]; \
        cr_expect_str_eq(told(&t, key, buf), want); \
    } while (0)

static size_t rows(struct lapse_testing *t);

static enum lapse_status count_row(void *ctx, const struct lapse_row *row) {
    *(size_t *)ctx += row->kind == LAPSE_ROW_RECORD && row->part == LAPSE_PART_DURABLE ? 1 : 0;
    return LAPSE_OK;
}

/* How many records are stored. */
static size_t rows(struct lapse_testing *t) {
    size_t count = 0;
    cr_assert_eq(lapse_walk(t->store, count_row, &count, NULL), LAPSE_OK);
    return count;
}

Test(history, keeps_as_many_records_as_the_bucket_says_oldest_first) {
    static const uint32_t limits[] = {0, 1, 2, 64};
    for (size_t k = 0; k < 4; k++) {
        struct lapse_testing t;
        size_t most = limits[k] == 0 ? 1 : limits[k];
        open_b(&t, limits[k], 0, 0);
        for (int i = 0; i < 70; i++) {
            char value[2] = {(char)('0' + i), '\0'};
            DO(SET, "k", value);
        }
        cr_assert_eq(DO(HISTORY, "k", NULL), LAPSE_OK);
        cr_assert_eq(t.r.item_count, most);
        cr_expect_eq(rows(&t), most);
        for (size_t i = 0; i < most; i++) {
            cr_expect_eq(t.r.items[i].revision, (int64_t)(71 - most + i));
            cr_expect_eq(t.r.items[i].kind, LAPSE_RECORD_VALUE);
            cr_expect_eq(t.r.items[i].value.data[0], '0' + 70 - most + i);
        }
        cr_expect_eq(DO(HISTORY, "other", NULL), LAPSE_ABSENT);
        DO(COUNT, NULL, NULL);
        cr_expect_eq(t.r.item_count, 1, "older records are no keys");
        DO(ALL, NULL, NULL);
        cr_expect_eq(t.r.item_count, 1);
        cr_expect_eq(t.r.items[0].revision, 70);
        lapse_testing_close(&t);
    }
}

Test(history, a_limit_cuts_it_and_says_more) {
    struct lapse_testing t;
    struct lapse_command command = {.verb = LAPSE_VERB_HISTORY,
                                    .bucket = lapse_bytes_of("b"),
                                    .key = lapse_bytes_of("k")};
    open_b(&t, 5, 0, 0);
    for (int i = 0; i < 3; i++) {
        DO(SET, "k", "v");
    }
    for (size_t limit = 1; limit < 5; limit++) {
        command.u.page.limit = limit;
        cr_expect_eq(lapse_apply(t.store, &command, &t.r, &t.err), LAPSE_OK);
        cr_expect_eq(t.r.item_count, limit < 3 ? limit : 3);
        cr_expect_eq(t.r.items[t.r.item_count - 1].revision, limit < 3 ? (int64_t)limit : 3);
        cr_expect_eq(t.r.more, limit < 3);
    }
    lapse_testing_close(&t);
}

Test(history, get_by_revision_finds_value_records_of_a_live_key) {
    struct lapse_testing t;
    struct lapse_bytes b = lapse_bytes_of("b");
    struct lapse_bytes k = lapse_bytes_of("k");
    open_b(&t, 4, S(10), S(60));
    DO(SET, "k", "one");
    DO(DELETE, "k", NULL);
    cr_expect_eq(lapse_get_revision(t.store, b, k, 1, &t.r, &t.err), LAPSE_ABSENT);
    DO(SET, "k", "three");
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "four", LAPSE_TERM_TTL, S(20));
    DO(SET, "l", "five");
    cr_expect_eq(lapse_get_revision(t.store, b, k, 1, &t.r, &t.err), LAPSE_OK);
    cr_expect(lapse_testing_is(t.r.value, "one"));
    cr_expect_eq(t.r.revision, 1);
    cr_expect_eq(t.r.end.ns, S(20), "it can be read as long as the key lives");
    cr_expect_eq(lapse_get_revision(t.store, b, k, 2, &t.r, &t.err), LAPSE_ABSENT,
                 "a tombstone has no value");
    cr_expect_eq(lapse_get_revision(t.store, b, k, 4, &t.r, &t.err), LAPSE_OK);
    cr_expect(lapse_testing_is(t.r.value, "four"));
    cr_expect_eq(lapse_get_revision(t.store, b, k, 5, &t.r, &t.err), LAPSE_ABSENT,
                 "it is another key's");
    cr_expect_eq(lapse_get_revision(t.store, b, k, 0, &t.r, &t.err), LAPSE_ABSENT);
    struct lapse_command has = {.verb = LAPSE_VERB_HAS, .bucket = b, .key = k};
    has.u.read.has_revision = true;
    has.u.read.revision = 3;
    cr_expect_eq(lapse_apply(t.store, &has, &t.r, &t.err), LAPSE_OK);
    lapse_testing_at(&t, S(15));
    cr_expect_eq(lapse_get_revision(t.store, b, k, 3, &t.r, &t.err), LAPSE_OK,
                 "an older record's own term is over, the key's is not");
    lapse_testing_at(&t, S(20));
    for (int64_t revision = 1; revision <= 4; revision++) {
        cr_expect_eq(lapse_get_revision(t.store, b, k, revision, &t.r, &t.err), LAPSE_ABSENT);
    }
    cr_expect_eq(DO(HISTORY, "k", NULL), LAPSE_ABSENT);
    lapse_testing_close(&t);
}

/* KV-03: what ended is gone with all its records, be it reaped or not. */
Test(history, an_end_takes_the_older_records_along) {
    for (int way = 0; way < 8; way++) {
        bool reaped = (way & 1) != 0;
        bool marked = (way & 2) != 0;
        bool dated = (way & 4) != 0;
        struct lapse_testing t;
        open_b(&t, 3, S(10), marked ? S(60) : 0);
        DO(SET, "k", "one");
        DO(SET, "k", "two");
        DO(EXPIRE, "k", NULL);
        if (dated) {
            lapse_testing_do(&t, LAPSE_VERB_EXPIRE, "b", "k", NULL, LAPSE_TERM_EXPIRES_AT, S(1010));
        }
        EXPECT_TOLD("k", "v1 v2");
        lapse_testing_at(&t, S(10));
        if (reaped) {
            lapse_testing_step(&t, NULL);
            cr_expect_eq(rows(&t), marked ? 1 : 0);
            cr_expect_eq(t.r.event_count, marked ? 1 : 0);
        }
        EXPECT_TOLD("k", "absent");
        cr_expect_eq(DO(GET, "k", NULL), LAPSE_ABSENT);
        DO(COUNT, NULL, NULL);
        cr_expect_eq(t.r.item_count, 0);
        cr_expect_eq(DO(CREATE, "k", "new"), LAPSE_OK);
        cr_expect_eq(t.r.event_count, marked && !reaped ? 2 : 1);
        if (marked && !reaped) {
            cr_expect_eq(t.r.events[0].kind, LAPSE_EVENT_EXPIRED);
            cr_expect_eq(t.r.events[0].old_revision, 2);
        }
        EXPECT_TOLD("k", marked ? "v4" : "v3");
        cr_expect_eq(rows(&t), 1);
        lapse_testing_close(&t);
    }
}

Test(history, a_tombstone_lies_in_it_until_its_own_end) {
    for (int reaped = 0; reaped < 2; reaped++) {
        struct lapse_testing t;
        open_b(&t, 3, 0, S(10));
        DO(SET, "k", "one");
        DO(DELETE, "k", NULL);
        EXPECT_TOLD("k", "absent");
        lapse_testing_at(&t, S(5));
        DO(SET, "k", "three");
        EXPECT_TOLD("k", "v1 t2 v3");
        lapse_testing_at(&t, S(10));
        if (reaped) {
            lapse_testing_step(&t, NULL);
            cr_expect_eq(t.r.item_count, 1);
            cr_expect_eq(t.r.event_count, 0, "it leaves silently (WATCH-05)");
        }
        EXPECT_TOLD("k", "v1 v3");
        DO(SET, "k", "four");
        EXPECT_TOLD("k", "v1 v3 v4");
        DO(DELETE, "k", NULL);
        DO(SET, "k", "six");
        EXPECT_TOLD("k", "v4 t5 v6");
        lapse_testing_close(&t);
    }
}

/* A tombstone's end, or that of a marker, takes all that lies below it; one row after the other. */
Test(history, what_lies_below_a_tombstone_leaves_with_it) {
    for (int reaped = 0; reaped < 2; reaped++) {
        struct lapse_testing t;
        open_b(&t, 3, 0, S(10));
        DO(SET, "k", "one");
        DO(SET, "k", "two");
        DO(DELETE, "k", NULL);
        cr_expect_eq(rows(&t), 3);
        lapse_testing_at(&t, S(10));
        for (size_t i = 0; i < 3 && reaped; i++) {
            cr_expect_eq(lapse_step(t.store, 1, &t.r, NULL, &t.err), LAPSE_OK);
            cr_expect_eq(t.r.item_count, 1);
            cr_expect_eq(rows(&t), 2 - i);
            EXPECT_TOLD("k", "absent");
        }
        DO(SET, "k", "four");
        EXPECT_TOLD("k", "v4");
        cr_expect_eq(rows(&t), 1);
        lapse_testing_close(&t);
    }
}

Test(history, a_purge_drops_it_and_leaves_one_record) {
    struct lapse_testing t;
    open_b(&t, 5, 0, S(10));
    DO(SET, "k", "one");
    DO(DELETE, "k", NULL);
    DO(SET, "k", "three");
    cr_expect_eq(DO(PURGE, "k", NULL), LAPSE_OK);
    cr_expect_eq(rows(&t), 1);
    cr_expect_eq(DO(PURGE, "k", NULL), LAPSE_ABSENT);
    cr_expect_eq(DO(CREATE, "k", "five"), LAPSE_OK);
    EXPECT_TOLD("k", "p4 v5");
    lapse_testing_close(&t);
}

/* A lowered history comes to bear at each key's next write, and what a write dropped does not come
 * back when it is raised. */
Test(history, an_altered_bucket_keeps_what_it_says_from_the_next_write_on) {
    struct lapse_testing t;
    struct lapse_bytes b = lapse_bytes_of("b");
    struct lapse_bucket_config config = {.history = 2};
    open_b(&t, 5, 0, 0);
    for (int i = 0; i < 5; i++) {
        DO(SET, "k", "v");
        DO(SET, "l", "v");
    }
    cr_assert_eq(lapse_bucket_alter(t.store, b, &config, &t.r, &t.err), LAPSE_OK);
    EXPECT_TOLD("k", "v1 v3 v5 v7 v9");
    DO(SET, "k", "v");
    EXPECT_TOLD("k", "v9 v11");
    config.history = 1;
    cr_assert_eq(lapse_bucket_alter(t.store, b, &config, &t.r, &t.err), LAPSE_OK);
    cr_assert_eq(lapse_bucket_alter(t.store, b, &config, &t.r, &t.err), LAPSE_OK, "the same words");
    DO(SET, "l", "v");
    EXPECT_TOLD("l", "v12");
    config.history = 3;
    cr_assert_eq(lapse_bucket_alter(t.store, b, &config, &t.r, &t.err), LAPSE_OK);
    EXPECT_TOLD("l", "v12");
    cr_expect_eq(lapse_bucket_open(t.store, b, &config, &t.r, &t.err), LAPSE_OK);
    config.history = 65;
    cr_expect_eq(lapse_bucket_alter(t.store, b, &config, &t.r, &t.err), LAPSE_INVALID);
    cr_expect_eq(lapse_bucket_open(t.store, lapse_bytes_of("c"), &config, &t.r, &t.err),
                 LAPSE_INVALID);
    config.history = 2;
    cr_expect_eq(lapse_bucket_open(t.store, b, &config, &t.r, &t.err), LAPSE_INVALID);
    cr_expect_eq(lapse_bucket_alter(t.store, lapse_bytes_of("none"), &config, &t.r, &t.err),
                 LAPSE_INVALID);
    lapse_testing_close(&t);
}

Test(history, terms_already_given_stay_when_a_bucket_is_altered) {
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    struct lapse_bytes b = lapse_bytes_of("b");
    struct lapse_bucket_config config = {.term = {.given = LAPSE_TERM_TTL, .ttl = {S(10)}}};
    lapse_testing_journal_init(&journal);
    lapse_testing_open_with(&t, &journal, 0);
    lapse_bucket_open(t.store, b, &config, &t.r, &t.err);
    DO(SET, "k", "v");
    config.term = (struct lapse_term){.given = LAPSE_TERM_IDLE, .idle = {S(40)}, .cap = {S(90)}};
    cr_assert_eq(lapse_bucket_alter(t.store, b, &config, &t.r, &t.err), LAPSE_OK);
    DO(SET, "l", "v");
    cr_expect_eq(t.r.end.ns, S(40));
    lapse_close(t.store);
    journal.closed = false;
    cr_assert_eq(lapse_open(&t.options, &t.store, &t.err), LAPSE_OK, "%s", t.err.message);
    cr_expect_eq(lapse_bucket_open(t.store, b, &config, &t.r, &t.err), LAPSE_OK,
                 "the words were not stored");
    DO(GET, "k", NULL);
    cr_expect_eq(t.r.end.ns, S(10));
    lapse_testing_close(&t);
    lapse_testing_journal_finish(&journal);
}

/* KV-11: a listing in pages shows each live key once, in order. */
Test(history, pages_together_are_the_whole_listing) {
    struct lapse_testing t;
    open_b(&t, 2, 0, S(60));
    for (char key = 'a'; key < 'h'; key++) {
        char name[2] = {key, '\0'};
        DO(SET, name, "v");
        DO(SET, name, name);
    }
    DO(DELETE, "d", NULL);
    for (size_t limit = 1; limit < 8; limit++) {
        char seen[16] = "";
        size_t count = 0;
        struct lapse_bytes after = lapse_bytes_of(seen);
        do {
            enum lapse_status status = lapse_page(t.store, lapse_bytes_of("b"),
                                                  count == 0 ? NULL : &after, limit, limit == 2,
                                                  &t.r, &t.err);
            cr_assert_eq(status, LAPSE_OK);
            cr_assert_leq(t.r.item_count, limit);
            for (size_t i = 0; i < t.r.item_count; i++) {
                cr_expect_eq(t.r.items[i].value.len, limit == 2 ? 1 : 0);
                seen[count++] = (char)t.r.items[i].key.data[0];
            }
            after = (struct lapse_bytes){(const unsigned char *)&seen[count - 1], 1};
        } while (t.r.more);
        seen[count] = '\0';
        cr_expect_str_eq(seen, "abcefg");
    }
    struct lapse_command command = {.verb = LAPSE_VERB_COUNT, .bucket = lapse_bytes_of("b")};
    command.u.page.has_after = true;
    command.u.page.after = lapse_bytes_of("c");
    lapse_apply(t.store, &command, &t.r, &t.err);
    cr_expect_eq(t.r.item_count, 3);
    lapse_testing_close(&t);
}
