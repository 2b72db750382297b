/* Watches and markers (WATCH-01..04): order, once, or a reported gap. */
#include "testing.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 1024 };

static int64_t watch(struct lapse_testing *t, const char *key, enum lapse_watch_from from) {
    enum lapse_status status =
        lapse_watch(t->store, lapse_bytes_of("b"), lapse_bytes_of(key), from, &t->r, &t->err);
    cr_assert_eq(status, LAPSE_OK, "%s", t->err.message);
    return t->r.watcher;
}

static void set(struct lapse_testing *t, const char *key, const char *value) {
    cr_assert_eq(lapse_testing_do(t, LAPSE_VERB_SET, "b", key, value, 0, 0), LAPSE_OK);
}

/* "put a 1; expired a 2<1 default; gap 9" */
static const char *poll_text(struct lapse_testing *t, int64_t watcher, size_t most, char *text) {
    enum lapse_status status = lapse_poll(t->store, watcher, most, &t->r, &t->err);
    cr_assert_eq(status, LAPSE_OK, "%s", t->err.message);
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < t->r.delivery_count; i++) {
        const struct lapse_event *event = &t->r.deliveries[i];
        char key[32];
        char old[32] = "";
        if (event->old_revision != 0) {
            (void)snprintf(old, sizeof(old), "<%lld", (long long)event->old_revision);
        }
        bool expired = event->kind == LAPSE_EVENT_EXPIRED;
        used += (size_t)snprintf(text + used, TEXT_MAX - used, "%s%s %s %lld%s%s%s",
                                 i == 0 ? "" : "; ", lapse_event_word(event->kind),
                                 lapse_bytes_print(event->key, key, sizeof(key)),
                                 (long long)event->revision, old, expired ? " " : "",
                                 expired ? lapse_why_word(event->why) : "");
    }
    return text;
}

static void open_b(struct lapse_testing *t, int64_t markers, size_t events_max) {
    lapse_testing_open_with(t, NULL, events_max);
    lapse_testing_bucket(t, "b", LAPSE_TERM_TTL, S(10), markers);
}

Test(watch, every_change_is_one_event_and_a_refusal_is_none) {
    struct lapse_testing t;
    char text[TEXT_MAX];
    open_b(&t, S(60), 0);
    set(&t, "before", "v");
    int64_t all = watch(&t, "", LAPSE_WATCH_NOW);
    int64_t one = watch(&t, "a", LAPSE_WATCH_NOW);
    set(&t, "a", "1");
    set(&t, "a", "2");
    lapse_testing_do(&t, LAPSE_VERB_CREATE, "b", "a", "3", 0, 0);
    lapse_testing_do(&t, LAPSE_VERB_EXPIRE, "b", "a", NULL, LAPSE_TERM_TTL, S(5));
    lapse_testing_do(&t, LAPSE_VERB_DELETE, "b", "a", NULL, 0, 0);
    lapse_testing_do(&t, LAPSE_VERB_DELETE, "b", "a", NULL, 0, 0);
    lapse_testing_do(&t, LAPSE_VERB_PURGE, "b", "before", NULL, 0, 0);
    cr_expect_str_eq(poll_text(&t, all, 2, text), "put a 2; put a 3");
    cr_expect(lapse_testing_is(t.r.deliveries[1].value, "2"));
    cr_expect(lapse_testing_is(t.r.deliveries[1].bucket, "b"));
    cr_expect_str_eq(poll_text(&t, all, 9, text), "delete a 4<3; purge before 5<1");
    cr_expect_str_eq(poll_text(&t, all, 9, text), "");
    cr_expect_str_eq(poll_text(&t, one, 9, text), "put a 2; put a 3; delete a 4<3");
    lapse_testing_close(&t);
}

Test(watch, markers_come_in_order_of_end_and_before_the_next_write) {
    for (int marked = 0; marked < 2; marked++) {
        struct lapse_testing t;
        char text[TEXT_MAX];
        open_b(&t, marked ? S(60) : 0, 0);
        int64_t all = watch(&t, "", LAPSE_WATCH_NOW);
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "late", "v", LAPSE_TERM_TTL, S(9));
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "idle", "v", LAPSE_TERM_IDLE, S(7));
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "date", "v", LAPSE_TERM_EXPIRES_AT, S(1008));
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "twin2", "v", LAPSE_TERM_TTL, S(6));
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "twin1", "v", LAPSE_TERM_TTL, S(5));
        set(&t, "again", "v");
        /* Into the heap after its twin, although its revision is lower. */
        lapse_testing_do(&t, LAPSE_VERB_EXPIRE, "b", "twin2", NULL, LAPSE_TERM_TTL, S(5));
        poll_text(&t, all, 99, text);
        lapse_testing_at(&t, S(10));
        cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_UPDATE, "b", "again", "w", 0, 0),
                     LAPSE_INVALID);
        cr_expect_str_eq(poll_text(&t, all, 99, text), "", "an end needs no event");
        lapse_testing_do(&t, LAPSE_VERB_CREATE, "b", "again", "w", 0, 0);
        cr_expect_str_eq(poll_text(&t, all, 99, text),
                         marked ? "expired again 7<6 default; put again 8" : "put again 7");
        lapse_step(t.store, 2, &t.r, NULL, &t.err);
        cr_expect_eq(t.r.item_count, 2);
        lapse_testing_step(&t, NULL);
        cr_expect_eq(t.r.item_count, 3);
        cr_expect_str_eq(poll_text(&t, all, 99, text),
                         marked ? "expired twin2 9<4 own; expired twin1 10<5 own; "
                                  "expired idle 11<2 idle; expired date 12<3 own; "
                                  "expired late 13<1 own"
                                : "");
        cr_expect_str_eq(poll_text(&t, watch(&t, "", LAPSE_WATCH_NOW), 9, text), "");
        lapse_testing_close(&t);
    }
}

Test(watch, an_overrun_is_one_reported_gap) {
    struct lapse_testing t;
    char text[TEXT_MAX];
    open_b(&t, 0, 3);
    int64_t slow = watch(&t, "", LAPSE_WATCH_NOW);
    int64_t other = watch(&t, "nothing", LAPSE_WATCH_NOW);
    for (int i = 0; i < 3; i++) {
        set(&t, "a", "v");
    }
    cr_expect_str_eq(poll_text(&t, slow, 1, text), "put a 1");
    for (int i = 0; i < 4; i++) {
        set(&t, "a", "v");
    }
    lapse_testing_check(&t);
    cr_expect_str_eq(poll_text(&t, slow, 2, text), "gap  4; put a 5");
    cr_expect_str_eq(poll_text(&t, slow, 9, text), "put a 6; put a 7");
    cr_expect_str_eq(poll_text(&t, slow, 9, text), "");
    cr_expect_str_eq(poll_text(&t, other, 9, text), "gap nothing 4");
    cr_expect_str_eq(poll_text(&t, other, 9, text), "");
    lapse_testing_close(&t);
}

Test(watch, a_ring_that_grows_keeps_its_order) {
    struct lapse_testing t;
    char text[TEXT_MAX];
    open_b(&t, 0, 0);
    int64_t all = watch(&t, "", LAPSE_WATCH_NOW);
    int64_t seen = 0;
    /* Reading on at another pace than writing moves the start of the ring about as it grows. */
    for (int round = 1; round < 8; round++) {
        for (int i = 0; i < 3 * round; i++) {
            set(&t, "a", "v");
        }
        poll_text(&t, all, (size_t)(2 * round), text);
        for (size_t i = 0; i < t.r.delivery_count; i++) {
            cr_expect_eq(t.r.deliveries[i].revision, ++seen);
        }
        lapse_testing_check(&t);
    }
    cr_expect_eq(seen, 56);
    lapse_testing_close(&t);
}

Test(watch, the_hand_over_from_live_keys_loses_and_repeats_nothing) {
    struct lapse_testing t;
    char text[TEXT_MAX];
    open_b(&t, S(60), 0);
    set(&t, "b", "2");
    set(&t, "a", "1");
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "ended", "v", LAPSE_TERM_TTL, S(1));
    lapse_testing_at(&t, S(1));
    int64_t live = watch(&t, "", LAPSE_WATCH_LIVE);
    cr_assert_eq(t.r.item_count, 2);
    cr_expect(lapse_testing_is(t.r.items[0].key, "a") && lapse_testing_is(t.r.items[0].value, "1"));
    cr_expect_eq(t.r.items[0].revision, 2);
    watch(&t, "b", LAPSE_WATCH_LIVE);
    cr_assert_eq(t.r.item_count, 1);
    cr_expect(lapse_testing_is(t.r.items[0].value, "2"));
    watch(&t, "ended", LAPSE_WATCH_LIVE);
    cr_expect_eq(t.r.item_count, 0);
    set(&t, "c", "3");
    cr_expect_str_eq(poll_text(&t, live, 9, text), "put c 4");
    lapse_testing_close(&t);
}

Test(watch, an_ended_watch_is_gone_and_keeps_nothing) {
    struct lapse_testing t;
    open_b(&t, 0, 0);
    size_t quiet = t.alloc.bytes_out;
    int64_t first = watch(&t, "", LAPSE_WATCH_NOW);
    int64_t second = watch(&t, "a", LAPSE_WATCH_NOW);
    for (int i = 0; i < 100; i++) {
        set(&t, "a", "value");
    }
    lapse_testing_check(&t);
    cr_expect_eq(lapse_unwatch(t.store, first, &t.r, &t.err), LAPSE_OK);
    cr_expect_eq(lapse_unwatch(t.store, first, &t.r, &t.err), LAPSE_INVALID);
    cr_expect_eq(lapse_poll(t.store, first, 1, &t.r, &t.err), LAPSE_INVALID);
    cr_expect_eq(lapse_poll(t.store, second, 999, &t.r, &t.err), LAPSE_OK);
    cr_expect_eq(t.r.delivery_count, 100);
    cr_expect_eq(lapse_unwatch(t.store, second, &t.r, &t.err), LAPSE_OK);
    lapse_testing_do(&t, LAPSE_VERB_DELETE, "b", "a", NULL, 0, 0);
    lapse_result_free(&t.r);
    lapse_testing_check(&t);
    cr_expect_lt(t.alloc.bytes_out, quiet + 2048);
    lapse_testing_close(&t);
}

Test(watch, many_watchers_at_different_events_are_each_told_all) {
    enum { WATCHERS = 4000, ROUNDS = 6 };
    struct lapse_testing t;
    int64_t ids[WATCHERS];
    open_b(&t, 0, 4);
    for (int i = 0; i < WATCHERS; i++) {
        ids[i] = watch(&t, i % 3 == 0 ? "a" : "", LAPSE_WATCH_NOW);
    }
    for (int round = 1; round <= ROUNDS; round++) {
        set(&t, "a", "v");
        for (int i = 0; i < WATCHERS; i++) {
            /* One in a thousand never asks, one in ten every other time. */
            if (i % 1000 == 999 || (i % 10 == 3 && round % 2 == 1)) {
                continue;
            }
            cr_assert_eq(lapse_poll(t.store, ids[i], 9, &t.r, &t.err), LAPSE_OK);
            cr_assert_eq(t.r.delivery_count, i % 10 == 3 ? 2 : 1);
            cr_assert_eq(t.r.deliveries[t.r.delivery_count - 1].revision, round);
        }
        lapse_testing_check(&t);
    }
    cr_assert_eq(lapse_poll(t.store, ids[999], 9, &t.r, &t.err), LAPSE_OK);
    cr_expect_eq(t.r.deliveries[0].kind, LAPSE_EVENT_GAP);
    cr_expect_eq(t.r.deliveries[0].revision, ROUNDS - 4);
    cr_expect_eq(t.r.delivery_count, 5);
    for (int i = 0; i < WATCHERS; i += 2) {
        cr_assert_eq(lapse_unwatch(t.store, ids[i], &t.r, &t.err), LAPSE_OK);
    }
    lapse_testing_check(&t);
    lapse_testing_close(&t);
}
