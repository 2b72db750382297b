/* The clocks by themselves: the manual one moves as told or not at all, the machine's rises. */
#include "testing.h"

#include <criterion/criterion.h>

static void expect_still(const struct lapse_clock_manual *manual, struct lapse_reading was) {
    cr_expect(manual->now.boot == was.boot && manual->now.raw_ns == was.raw_ns &&
              manual->now.wall.ns == was.wall.ns);
}

Test(clock, the_manual_clock_moves_whole_or_not_at_all) {
    static const struct {
        int64_t raw, wall, span;
        enum lapse_status status;
    } moves[] = {
        {0, 0, 0, LAPSE_OK},
        {0, 0, INT64_MAX, LAPSE_OK},
        {5, -7, 9, LAPSE_OK},
        {0, 0, -1, LAPSE_INVALID},
        {0, 0, INT64_MIN, LAPSE_INVALID},
        {1, 0, INT64_MAX, LAPSE_RANGE},
        {0, 1, INT64_MAX, LAPSE_RANGE},
        {INT64_MAX, 0, 1, LAPSE_RANGE},
        {0, INT64_MAX, 1, LAPSE_RANGE},
    };
    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
        struct lapse_clock_manual manual;
        lapse_clock_manual_init(&manual, (struct lapse_wall){moves[i].wall});
        manual.now.raw_ns = moves[i].raw;
        struct lapse_reading was = manual.now;
        cr_expect_eq(lapse_clock_manual_advance(&manual, (struct lapse_span){moves[i].span}),
                     moves[i].status, "move %zu", i);
        if (moves[i].status != LAPSE_OK) {
            expect_still(&manual, was);
            continue;
        }
        cr_expect_eq(manual.now.raw_ns, was.raw_ns + moves[i].span);
        cr_expect_eq(manual.now.wall.ns, was.wall.ns + moves[i].span);
        cr_expect_eq(manual.now.boot, was.boot);
    }
}

Test(clock, a_step_moves_the_wall_alone_and_a_reboot_begins_raw_anew) {
    struct lapse_clock_manual manual;
    lapse_clock_manual_init(&manual, (struct lapse_wall){S(10)});
    lapse_clock clock = lapse_clock_manual_vtable(&manual);
    struct lapse_reading now;
    cr_expect_eq(lapse_clock_manual_advance(&manual, (struct lapse_span){S(3)}), LAPSE_OK);
    cr_expect_eq(lapse_clock_manual_step_wall(&manual, (struct lapse_span){-S(20)}), LAPSE_OK);
    cr_assert_eq(clock.read(clock.ctx, &now), LAPSE_OK);
    cr_expect(now.boot == 1 && now.raw_ns == S(3) && now.wall.ns == -S(7));
    cr_expect_eq(lapse_clock_manual_step_wall(&manual, (struct lapse_span){INT64_MIN}),
                 LAPSE_RANGE);
    expect_still(&manual, now);
    lapse_clock_manual_reboot(&manual, (struct lapse_wall){S(50)});
    cr_assert_eq(clock.read(clock.ctx, &now), LAPSE_OK);
    cr_expect(now.boot == 2 && now.raw_ns == 0 && now.wall.ns == S(50));
}

Test(clock, the_machine_s_clock_rises_within_one_boot) {
    lapse_clock clock = lapse_clock_system();
    struct lapse_reading before = {0};
    cr_assert_eq(clock.read(clock.ctx, &before), LAPSE_OK);
    uint64_t boot = before.boot;
    bool moved = false;
    for (int i = 0; i < 1000; i++) {
        struct lapse_reading now = {0};
        lapse_clock again = lapse_clock_system();
        cr_assert_eq(again.read(again.ctx, &now), LAPSE_OK);
        cr_assert_eq(now.boot, boot);
        cr_assert_geq(now.raw_ns, before.raw_ns);
        moved = moved || now.raw_ns > before.raw_ns;
        before = now;
    }
    cr_expect(moved, "a thousand reads, and no time has passed");
}
