/* Watches from a revision (WATCH-06): the last event of each key from the records kept, in order,
 * then what comes, without loss or repetition; a gap where an event may be lost. */
#include "testing.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define DO(verb, key, value) lapse_testing_do(&t, LAPSE_VERB_##verb, "b", key, value, 0, 0)

static int64_t start(struct lapse_testing *t, const char *key, int64_t revision) {
    enum lapse_status status = lapse_watch_revision(
        t->store, lapse_bytes_of("b"), lapse_bytes_of(key), revision, &t->r, &t->err);
    cr_assert_eq(status, LAPSE_OK, "%s", t->err.message);
    cr_expect_eq(t->r.item_count, 0);
    return t->r.watcher;
}

/* What a poll delivers, as "put a1, gap 3". */
static const char *told(struct lapse_testing *t, int64_t watcher, size_t most, char *buf) {
    size_t len = 0;
    cr_assert_eq(lapse_poll(t->store, watcher, most, &t->r, &t->err), LAPSE_OK);
    cr_assert_leq(t->r.delivery_count, most);
    buf[0] = '\0';
    for (size_t i = 0; i < t->r.delivery_count; i++) {
        const struct lapse_event *event = &t->r.deliveries[i];
        const char *key = event->key.len == 0 ? "" : (const char *)event->key.data;
        len += (size_t)snprintf(buf + len, 256 - len, "%s%s %.*s%lld", i == 0 ? "" : ", ",
                                lapse_event_word(event->kind),
                                event->kind == LAPSE_EVENT_GAP ? 0 : (int)event->key.len, key,
                                (long long)event->revision);
    }
    return buf;
}

#define EXPECT_TOLD(watcher, most, want) \
    do { \
        char buf[256]; \
        cr_expect_str_eq(told(&t, watcher, most, buf), want); \
    } while (0)

Test(past, tells_the_last_event_of_each_key_in_order_then_goes_on) {
    for (uint32_t history = 1; history < 4; history += 2) {
        struct lapse_testing t;
        struct lapse_bucket_config config = {.markers = {S(60)}, .history = history};
        lapse_testing_open(&t);
        lapse_bucket_open(t.store, lapse_bytes_of("b"), &config, &t.r, &t.err);
        DO(SET, "a", "v");
        DO(SET, "b", "old");
        DO(SET, "b", "new");
        DO(SET, "c", "v");
        DO(DELETE, "a", NULL);
        DO(PURGE, "c", NULL);
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "e", "v", LAPSE_TERM_TTL, S(1));
        lapse_testing_at(&t, S(1));
        lapse_testing_step(&t, NULL);
        int64_t all = start(&t, "", 1);
        int64_t some = start(&t, "", 6);
        int64_t now = start(&t, "", 9);
        int64_t later = start(&t, "", 11);
        int64_t b = start(&t, "b", 1);
        int64_t b_after = start(&t, "b", 4);
        DO(SET, "b", "newer");
        DO(SET, "a", "again");
        DO(DELETE, "b", NULL);
        EXPECT_TOLD(all, 9, "put b3, delete a5, purge c6, expired e8, put b9, put a10, delete b11");
        cr_expect(lapse_testing_is(t.r.deliveries[0].value, "new"));
        cr_expect_eq(t.r.deliveries[1].old_revision, 1);
        cr_expect_eq(t.r.deliveries[2].old_revision, 4);
        cr_expect_eq(t.r.deliveries[3].old_revision, 7);
        cr_expect_eq(t.r.deliveries[3].why, LAPSE_WHY_OWN);
        cr_expect_eq(t.r.deliveries[3].at.ns, S(1));
        cr_expect_eq(t.r.deliveries[1].at.ns, 0);
        cr_expect(lapse_testing_is(t.r.deliveries[0].bucket, "b"));
        EXPECT_TOLD(all, 9, "");
        EXPECT_TOLD(some, 2, "purge c6, expired e8");
        lapse_testing_check(&t);
        EXPECT_TOLD(some, 2, "put b9, put a10");
        EXPECT_TOLD(some, 2, "delete b11");
        EXPECT_TOLD(now, 9, "put b9, put a10, delete b11");
        EXPECT_TOLD(later, 9, "delete b11");
        EXPECT_TOLD(b, 9, "put b3, put b9, delete b11");
        EXPECT_TOLD(b_after, 9, "put b9, delete b11");
        cr_expect_eq(lapse_watch_revision(t.store, lapse_bytes_of("b"), lapse_bytes_of(""), 0, &t.r,
                                          &t.err),
                     LAPSE_INVALID);
        cr_expect_eq(lapse_unwatch(t.store, all, &t.r, &t.err), LAPSE_OK);
        start(&t, "", 1); /* its past is freed with the store */
        lapse_testing_close(&t);
    }
}

/* What took away a key's last event, and the revision up to which it is then lost. */
struct loss {
    const char *how;
    int64_t markers;
    int64_t lost;
};

static void lose(struct lapse_testing *t, const struct loss *loss, bool reaped) {
    lapse_testing_open(t);
    lapse_testing_bucket(t, "b", 0, 0, loss->markers);
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "a", "v", 0, 0);
    bool ends = strcmp(loss->how, "end") == 0 || strcmp(loss->how, "marker") == 0;
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "k", "v", ends ? LAPSE_TERM_TTL : 0, S(1));
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "z", "v", 0, 0);
    bool purge = strcmp(loss->how, "purge") == 0;
    if (!ends) {
        lapse_testing_do(t, purge ? LAPSE_VERB_PURGE : LAPSE_VERB_DELETE, "b", "k", NULL, 0, 0);
    }
    lapse_testing_at(t, S(1));
    if (strcmp(loss->how, "marker") == 0) {
        lapse_testing_step(t, NULL);
    }
    lapse_testing_at(t, S(11));
    if (reaped) {
        lapse_testing_step(t, NULL);
        cr_expect_eq(t->r.event_count, 0);
    }
}

Test(past, begins_with_a_gap_where_a_last_event_is_kept_no_more) {
    static const struct loss losses[] = {
        {"delete", 0, 4},     {"purge", 0, 4},  {"end", 0, 2},
        {"delete", S(10), 4}, {"purge", S(10), 4}, {"marker", S(10), 4},
    };
    for (size_t i = 0; i < 2 * sizeof(losses) / sizeof(losses[0]); i++) {
        const struct loss *loss = &losses[i / 2];
        struct lapse_testing t;
        char gap[64];
        lose(&t, loss, i % 2 == 1);
        (void)snprintf(gap, sizeof(gap), "gap %lld%s", (long long)loss->lost,
                       loss->lost == 2 ? ", put z3" : "");
        EXPECT_TOLD(start(&t, "", 1), 9, gap);
        EXPECT_TOLD(start(&t, "", loss->lost), 9, gap);
        EXPECT_TOLD(start(&t, "", loss->lost + 1), 9, loss->lost == 2 ? "put z3" : "");
        (void)snprintf(gap, sizeof(gap), "gap %lld", (long long)loss->lost);
        EXPECT_TOLD(start(&t, "k", 1), 9, gap);
        EXPECT_TOLD(start(&t, "k", loss->lost + 1), 9, "");
        EXPECT_TOLD(start(&t, "a", 1), 9, "put a1"); /* its record tells that nothing is lost */
        EXPECT_TOLD(start(&t, "a", 2), 9, "");
        /* A new record of the key is its last event again, and the bucket's memory stays. */
        DO(SET, "k", "v");
        EXPECT_TOLD(start(&t, "k", 1), 9, loss->lost == 2 ? "put k4" : "put k5");
        EXPECT_TOLD(start(&t, "", loss->lost + 2), 9, loss->lost == 2 ? "put k4" : "");
        EXPECT_TOLD(start(&t, "", 1), 9,
                    loss->lost == 2 ? "gap 2, put z3, put k4" : "gap 4, put k5");
        lapse_testing_close(&t);
    }
}

/* An end that is still to be told is no loss: the put is the last event, then the end comes. */
Test(past, an_end_not_yet_written_comes_after_the_put) {
    struct lapse_testing t;
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", LAPSE_TERM_TTL, S(1), S(60));
    DO(SET, "k", "v");
    lapse_testing_at(&t, S(1));
    int64_t watcher = start(&t, "", 1);
    EXPECT_TOLD(watcher, 9, "put k1");
    lapse_testing_step(&t, NULL);
    EXPECT_TOLD(watcher, 9, "expired k2");
    lapse_testing_close(&t);
}

/* What a newer record covers has no end that counts, and is no key's last event. */
Test(past, an_older_record_is_neither_told_nor_lost) {
    struct lapse_testing t;
    struct lapse_bucket_config config = {.history = 3};
    lapse_testing_open(&t);
    lapse_bucket_open(t.store, lapse_bytes_of("b"), &config, &t.r, &t.err);
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", LAPSE_TERM_TTL, S(1));
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", LAPSE_TERM_TTL, S(9));
    lapse_testing_at(&t, S(2));
    EXPECT_TOLD(start(&t, "", 1), 9, "put k2");
    EXPECT_TOLD(start(&t, "k", 1), 9, "put k2");
    lapse_testing_close(&t);
}

/* Overrun while the past is told: first the past, then a gap, never a silent loss. */
Test(past, what_comes_meanwhile_is_told_or_reported_as_a_gap) {
    for (int changes = 1; changes < 8; changes++) {
        struct lapse_testing t;
        lapse_testing_open_with(&t, NULL, 3);
        lapse_testing_bucket(&t, "b", 0, 0, 0);
        DO(SET, "a", "v");
        DO(SET, "b", "v");
        int64_t watcher = start(&t, "", 1);
        EXPECT_TOLD(watcher, 1, "put a1");
        for (int i = 0; i < changes; i++) {
            /* Even the record of what is still to be told. */
            lapse_testing_do(&t, i == 0 ? LAPSE_VERB_DELETE : LAPSE_VERB_SET, "b", "b", "v", 0, 0);
            lapse_testing_check(&t);
        }
        EXPECT_TOLD(watcher, 1, "put b2");
        lapse_testing_check(&t);
        char want[64];
        (void)snprintf(want, sizeof(want), changes <= 3 ? "delete b3" : "gap %d", changes - 1);
        EXPECT_TOLD(watcher, 1, want);
        (void)snprintf(want, sizeof(want), "put b%d", changes <= 3 ? 4 : changes);
        EXPECT_TOLD(watcher, 1, changes > 1 ? want : "");
        lapse_testing_close(&t);
    }
}

/* REAP-01: a watch of one key begins alike whether another's end has been reaped or not. */
Test(past, a_gap_does_not_depend_on_the_reaper) {
    static const char *const keys[] = {"x", "never", "k", ""};
    static const char *const want[] = {"gap 2", "gap 2", "put k1", "gap 2"};
    for (int way = 0; way < 8; way++) {
        struct lapse_testing t;
        lapse_testing_open(&t);
        lapse_testing_bucket(&t, "b", 0, 0, 0);
        DO(SET, "k", "v");
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "x", "v", LAPSE_TERM_TTL, S(1));
        lapse_testing_at(&t, S(1));
        if (way % 2 == 1) {
            lapse_testing_step(&t, NULL);
        }
        EXPECT_TOLD(start(&t, keys[way / 2], 1), 9, want[way / 2]);
        lapse_testing_close(&t);
    }
}
