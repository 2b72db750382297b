/* Dates and store time against a wall that steps (CLOCK-01, CLOCK-02, KV-04). */
#include "testing.h"

#include <criterion/criterion.h>

static enum lapse_status set_date(struct lapse_testing *t, const char *key, int64_t wall_ns) {
    return lapse_testing_do(t, LAPSE_VERB_SET, "b", key, "v", LAPSE_TERM_EXPIRES_AT, wall_ns);
}

static enum lapse_status get(struct lapse_testing *t, const char *key) {
    return lapse_testing_do(t, LAPSE_VERB_GET, "b", key, NULL, 0, 0);
}

static void open_b(struct lapse_testing *t, int64_t markers) {
    lapse_testing_open(t);
    lapse_testing_bucket(t, "b", 0, 0, markers);
}

Test(date, a_date_once_reached_stays_reached) {
    struct lapse_testing t;
    open_b(&t, 0);
    set_date(&t, "k", S(1100));
    set_date(&t, "far", S(9000));
    lapse_testing_at(&t, S(50));
    lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){S(50)});
    cr_expect_eq(get(&t, "far"), LAPSE_OK); /* the command that reaches 1100 */
    lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){-S(500)});
    cr_expect_eq(get(&t, "k"), LAPSE_ABSENT, "a step back revived a date that was reached");
    cr_expect_eq(get(&t, "far"), LAPSE_OK);
    /* A date written after the step back is not ended by what the wall showed before. */
    set_date(&t, "new", S(700));
    cr_expect_eq(get(&t, "new"), LAPSE_OK);
    cr_expect_eq(t.r.left.ns, S(100));
    struct lapse_due due;
    lapse_next_due(t.store, &due);
    cr_expect(due.has_steady && due.steady.ns == S(50), "what was reached is due now");
    lapse_testing_step(&t, &due);
    cr_expect_eq(t.r.item_count, 1);
    cr_expect(due.has_wall && due.wall.ns == S(700));
    cr_expect_not(due.has_steady);
    lapse_testing_at(&t, S(150));
    cr_expect_eq(get(&t, "new"), LAPSE_ABSENT);
    lapse_testing_close(&t);
}

Test(date, dates_reached_before_a_step_back_are_reaped_in_order_of_end) {
    struct lapse_testing t;
    open_b(&t, S(60));
    static const char *const keys[] = {"h", "d", "g", "b", "f", "c", "e", "a"};
    for (int i = 0; i < 8; i++) {
        set_date(&t, keys[i], S(1010) + S(keys[i][0] - 'a'));
    }
    lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){S(50)});
    cr_expect_eq(get(&t, "a"), LAPSE_ABSENT);
    lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){-S(400)});
    /* Earlier dates that have not been reached stand above them all in the heap. */
    set_date(&t, "x", S(700));
    set_date(&t, "y", S(1015));
    lapse_testing_step(&t, NULL);
    cr_assert_eq(t.r.event_count, 8);
    for (int i = 0; i < 8; i++) {
        const char want[] = {(char)('a' + i), '\0'};
        cr_expect(lapse_testing_is(t.r.events[i].key, want), "event %d", i);
    }
    lapse_testing_close(&t);
}

Test(date, a_wall_that_no_command_saw_ends_nothing) {
    struct lapse_testing t;
    open_b(&t, 0);
    set_date(&t, "k", S(1100));
    lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){S(500)});
    lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){-S(500)});
    cr_expect_eq(get(&t, "k"), LAPSE_OK);
    lapse_testing_close(&t);
}

Test(date, spans_do_not_move_with_the_wall) {
    struct lapse_testing t;
    open_b(&t, 0);
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", LAPSE_TERM_TTL, S(15));
    static const int64_t steps[] = {S(3600), -S(7200), INT64_C(1) << 60};
    for (int i = 0; i < 3; i++) {
        lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){steps[i]});
        cr_expect_eq(get(&t, "k"), LAPSE_OK);
        cr_expect_eq(t.r.left.ns, S(15) - i * S(5));
        lapse_testing_at(&t, (i + 1) * S(5));
    }
    cr_expect_eq(get(&t, "k"), LAPSE_ABSENT);
    lapse_testing_close(&t);
}

Test(date, a_past_date_is_absent_at_once) {
    for (int marked = 0; marked < 2; marked++) {
        struct lapse_testing t;
        open_b(&t, marked ? S(60) : 0);
        for (int64_t wall = S(1000) - 1; wall <= S(1000); wall++) {
            cr_expect_eq(set_date(&t, "k", wall), LAPSE_OK);
            cr_expect_eq(t.r.end.kind, LAPSE_END_WALL);
            cr_expect_eq(t.r.end.ns, S(1000), "the end is the instant of the call");
            cr_expect_eq(t.r.event_count, marked ? 2 : 1);
            cr_expect_eq(t.r.events[0].kind, LAPSE_EVENT_PUT);
            cr_expect_eq(t.r.events[0].revision, t.r.revision);
            cr_expect(!marked || t.r.events[1].kind == LAPSE_EVENT_EXPIRED);
            cr_expect(!marked || t.r.events[1].old_revision == t.r.revision);
            lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){-S(10)});
            cr_expect_eq(get(&t, "k"), LAPSE_ABSENT);
            lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){S(10)});
        }
        /* An expire to the past ends the key; its marker is the reaper's. */
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "e", "v", 0, 0);
        int64_t revision = t.r.revision;
        cr_expect_eq(
            lapse_testing_do(&t, LAPSE_VERB_EXPIRE, "b", "e", NULL, LAPSE_TERM_EXPIRES_AT, 5),
            LAPSE_OK);
        cr_expect_eq(t.r.event_count, 0);
        cr_expect_eq(get(&t, "e"), LAPSE_ABSENT);
        lapse_testing_step(&t, NULL);
        cr_expect_eq(t.r.item_count, marked ? 1 : 2);
        cr_expect_eq(t.r.event_count, marked ? 1 : 0);
        cr_expect(!marked || t.r.events[0].old_revision == revision);
        lapse_testing_close(&t);
    }
}

static enum lapse_status count_peak(void *ctx, const struct lapse_row *row) {
    bool peak = row->kind == LAPSE_ROW_MARK && row->part == LAPSE_PART_DURABLE && row->key.len > 0;
    *(int *)ctx += peak ? 1 : 0;
    return LAPSE_OK;
}

static int peaks_of(const struct lapse_testing *t) {
    int count = 0;
    cr_assert_eq(lapse_walk(t->store, count_peak, &count, NULL), LAPSE_OK);
    return count;
}

Test(date, the_list_of_peaks_stays_short) {
    struct lapse_testing t;
    open_b(&t, 0);
    lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){S(100000)});
    set_date(&t, "old", S(101500));
    set_date(&t, "seen", S(101001));
    lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){S(2)});
    cr_assert_eq(get(&t, "seen"), LAPSE_ABSENT);
    for (int i = 0; i < 2000; i++) {
        lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){-S(1)});
        if (i == 999) {
            set_date(&t, "middle", S(100200));
        }
        lapse_testing_do(&t, LAPSE_VERB_MARK, "", "", NULL, 0, 0);
        cr_assert_eq(get(&t, "old"), LAPSE_OK);
        cr_assert_eq(get(&t, "seen"), LAPSE_ABSENT, "a peak was forgotten");
        cr_assert_eq(lapse_check(t.store, &t.err), LAPSE_OK, "%s", t.err.message);
        cr_assert(peaks_of(&t) >= 1 && peaks_of(&t) <= 10, "%d peaks", peaks_of(&t));
    }
    cr_expect_lt(t.alloc.bytes_out, 8192, "%zu bytes", t.alloc.bytes_out);
    /* Both still know the greatest reading since their own write. */
    lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){S(1300)});
    cr_expect_eq(get(&t, "old"), LAPSE_OK);
    cr_expect_eq(get(&t, "middle"), LAPSE_ABSENT);
    lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){-S(1000)});
    cr_expect_eq(get(&t, "middle"), LAPSE_ABSENT);
    cr_expect_eq(get(&t, "old"), LAPSE_OK);
    lapse_testing_step(&t, NULL);
    cr_expect_eq(t.r.item_count, 2);
    cr_expect_eq(peaks_of(&t), 0, "no date rests on a peak, and one is kept");
    lapse_testing_close(&t);
}

Test(date, store_time_goes_on_over_a_reboot_by_the_wall_and_never_back) {
    struct lapse_testing t;
    open_b(&t, 0);
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", LAPSE_TERM_TTL, S(100));
    lapse_clock_manual_reboot(&t.clock, (struct lapse_wall){S(1040)});
    cr_expect_eq(get(&t, "k"), LAPSE_OK);
    cr_expect_eq(t.r.left.ns, S(60), "the wall passed 40 s while the machine was down");
    lapse_clock_manual_reboot(&t.clock, (struct lapse_wall){S(500)});
    get(&t, "k");
    cr_expect_eq(t.r.left.ns, S(60), "a wall set back takes nothing from store time");
    lapse_testing_at(&t, S(60) - 1);
    cr_expect_eq(get(&t, "k"), LAPSE_OK);
    cr_expect_eq(lapse_store_time(t.store).ns, S(100) - 1);
    lapse_clock_manual_advance(&t.clock, (struct lapse_span){1});
    cr_expect_eq(get(&t, "k"), LAPSE_ABSENT);
    lapse_clock_manual_reboot(&t.clock, (struct lapse_wall){INT64_MAX});
    cr_expect_eq(get(&t, "k"), LAPSE_ABSENT);
    lapse_clock_manual_reboot(&t.clock, (struct lapse_wall){0});
    get(&t, "k");
    lapse_clock_manual_reboot(&t.clock, (struct lapse_wall){INT64_MAX});
    cr_expect_eq(get(&t, "k"), LAPSE_RANGE, "store time wrapped");
    lapse_testing_close(&t);
}

Test(date, what_is_due_next_after_a_step_back_is_what_was_reached) {
    struct lapse_testing t;
    struct lapse_due due;
    open_b(&t, 0);
    set_date(&t, "seen", S(1100));
    lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){S(150)});
    cr_expect_eq(get(&t, "seen"), LAPSE_ABSENT);
    lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){-S(150)});
    /* Dates below the peak that are not reached: none of them may hide the one that is. */
    for (int i = 0; i < 2000; i++) {
        char key[] = {'k',
                      (char)('0' + i / 1000),
                      (char)('0' + i / 100 % 10),
                      (char)('0' + i / 10 % 10),
                      (char)('0' + i % 10),
                      '\0'};
        set_date(&t, key, S(1010) + i);
        lapse_next_due(t.store, &due);
        cr_assert(due.has_steady && due.steady.ns == 0);
    }
    lapse_testing_step(&t, &due);
    cr_expect_eq(t.r.item_count, 1);
    cr_expect(!due.has_steady && due.has_wall && due.wall.ns == S(1010));
    lapse_testing_close(&t);
}
