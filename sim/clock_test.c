/* Clocks against a model that counts true time one nanosecond at a time. */
#include "clock.h"

#include <criterion/criterion.h>

enum { PPB = 1000000000, RUN_NS = 1500 };

/* The three readings, as a machine would count them. */
struct model {
    int64_t reading[LAPSE_FACES], rest[LAPSE_FACES];
};

static uint64_t draw(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static int64_t draw_rate(uint64_t *state) {
    static const int64_t rates[] = {
        0, 1, -1, 200000, -200000, 500000000, -500000000, 999999999, -999999999, 333333333};
    return rates[draw(state) % (sizeof(rates) / sizeof(rates[0]))];
}

static void count_one(struct model *model, const struct lapse_sim_clock *clock) {
    for (int i = 0; i < LAPSE_FACES; i++) {
        bool still = clock->frozen || (clock->stopped && i != LAPSE_FACE_WALL) ||
                     (clock->asleep && i == LAPSE_FACE_MONO);
        model->rest[i] += still ? 0 : PPB + clock->rate_ppb;
        model->reading[i] += model->rest[i] / PPB;
        model->rest[i] %= PPB;
    }
}

static int64_t floor_to(int64_t reading, int64_t tick) {
    while (reading % tick != 0) {
        reading--;
    }
    return reading;
}

static void change(struct lapse_sim_clock *clock, struct model *model, int64_t now,
                   uint64_t *state) {
    struct lapse_true_time at = {now};
    bool flag = draw(state) % 2 == 0;
    int64_t span = (int64_t)(draw(state) % 200) - 100;
    switch (draw(state) % 7) {
    case 0:
        lapse_sim_clock_set_rate(clock, at, draw_rate(state));
        break;
    case 1:
        lapse_sim_clock_set_stopped(clock, at, flag);
        break;
    case 2:
        lapse_sim_clock_set_asleep(clock, at, flag);
        break;
    case 3:
        lapse_sim_clock_set_frozen(clock, at, flag);
        break;
    case 4:
        lapse_sim_clock_step_wall(clock, span);
        model->reading[LAPSE_FACE_WALL] += span;
        break;
    case 5:
        lapse_sim_clock_set_wall(clock, at, (struct lapse_wall){span});
        model->reading[LAPSE_FACE_WALL] = span;
        model->rest[LAPSE_FACE_WALL] = 0;
        break;
    default:
        lapse_sim_clock_reboot(clock, at);
        model->reading[LAPSE_FACE_BOOT] = model->reading[LAPSE_FACE_MONO] = 0;
        model->rest[LAPSE_FACE_BOOT] = model->rest[LAPSE_FACE_MONO] = 0;
        break;
    }
}

static void expect_reads(const struct lapse_sim_clock *clock, const struct model *model,
                         int64_t now) {
    struct lapse_true_time at = {now};
    int64_t got[LAPSE_FACES] = {lapse_sim_clock_wall(clock, at).ns,
                                lapse_sim_clock_boot(clock, at).ns,
                                lapse_sim_clock_mono(clock, at).ns};
    for (int i = 0; i < LAPSE_FACES; i++) {
        cr_assert_eq(got[i], floor_to(model->reading[i], clock->tick_ns), "face %d at %lld", i,
                     (long long)now);
    }
    cr_assert_eq(lapse_sim_clock_steady(clock, at).ns,
                 clock->timer_boot ? got[LAPSE_FACE_BOOT] : got[LAPSE_FACE_MONO]);
    cr_assert_eq(lapse_sim_clock_read(clock, at).raw_ns, got[LAPSE_FACE_BOOT]);
    cr_assert_eq(lapse_sim_clock_check(clock, at, NULL), LAPSE_OK);
}

Test(clock, readings_are_what_counting_each_nanosecond_gives) {
    uint64_t state = 7;
    for (int run = 0; run < 60; run++) {
        struct lapse_sim_clock clock =
            lapse_sim_clock_make((struct lapse_wall){-50}, run % 2 == 0);
        struct model model = {{-50, 0, 0}, {0}};
        static const int64_t ticks[] = {1, 1, 7, 100};
        clock.tick_ns = ticks[run % 4];
        for (int64_t now = 0; now < RUN_NS; now++) {
            if (draw(&state) % 40 == 0) {
                change(&clock, &model, now, &state);
            }
            expect_reads(&clock, &model, now);
            count_one(&model, &clock);
        }
    }
}

/* The first instant from the last change on, found by trying each. */
static int64_t try_each(const struct lapse_sim_clock *clock, int64_t reading) {
    for (int64_t t = clock->hands[LAPSE_FACE_BOOT].from_ns; t < RUN_NS; t++) {
        if (lapse_sim_clock_boot(clock, (struct lapse_true_time){t}).ns >= reading) {
            return t;
        }
    }
    return RUN_NS;
}

Test(clock, a_reading_is_reached_at_the_first_instant_that_shows_it) {
    uint64_t state = 11;
    for (int run = 0; run < 400; run++) {
        struct lapse_sim_clock clock = lapse_sim_clock_make((struct lapse_wall){0}, true);
        struct lapse_true_time at = {(int64_t)(draw(&state) % 40)};
        lapse_sim_clock_set_rate(&clock, (struct lapse_true_time){0}, draw_rate(&state));
        lapse_sim_clock_set_rate(&clock, at, draw_rate(&state));
        clock.tick_ns = run % 3 == 0 ? 5 : 1;
        int64_t before = 0;
        for (int64_t reading = -3; reading < 200; reading += 7) {
            int64_t reached =
                lapse_sim_clock_at_boot(&clock, (struct lapse_steady){reading}).ns;
            int64_t tried = try_each(&clock, reading);
            cr_assert_eq(reached < RUN_NS ? reached : RUN_NS, tried, "run %d reading %lld", run,
                         (long long)reading);
            cr_assert_geq(reached, before, "later readings come later");
            before = reached;
        }
    }
}

Test(clock, the_ends_of_the_range_are_exact_and_never_wrap) {
    static const int64_t rates[] = {0, 1, -1, 200000, -200000, 999999999, -999999999};
    static const int64_t spans[] = {1, 999999999, INT64_C(1) << 31, INT64_C(2147483648999999999),
                                    INT64_MAX - 1};
    for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++) {
        struct lapse_sim_clock clock = lapse_sim_clock_make((struct lapse_wall){0}, true);
        lapse_sim_clock_set_rate(&clock, (struct lapse_true_time){0}, rates[r]);
        for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
            int64_t wanted = INT64_MAX;
            (void)lapse_ns_scale(spans[i], PPB + rates[r], PPB, &wanted);
            struct lapse_steady read =
                lapse_sim_clock_boot(&clock, (struct lapse_true_time){spans[i]});
            cr_assert_eq(read.ns, wanted);
            int64_t at = lapse_sim_clock_at_boot(&clock, (struct lapse_steady){spans[i]}).ns;
            if (at < INT64_MAX && at > 0) {
                struct lapse_true_time there = {at}, just_before = {at - 1};
                cr_assert_geq(lapse_sim_clock_boot(&clock, there).ns, spans[i]);
                cr_assert_lt(lapse_sim_clock_boot(&clock, just_before).ns, spans[i]);
            }
        }
    }
}

Test(clock, a_clock_that_stands_still_never_reaches_a_later_reading) {
    struct lapse_sim_clock clock = lapse_sim_clock_make((struct lapse_wall){0}, false);
    struct lapse_true_time at = {100};
    lapse_sim_clock_set_stopped(&clock, at, true);
    cr_assert_eq(lapse_sim_clock_at_steady(&clock, (struct lapse_steady){100}).ns, 100);
    cr_assert_eq(lapse_sim_clock_at_steady(&clock, (struct lapse_steady){101}).ns, INT64_MAX);
    cr_assert_eq(lapse_sim_clock_at_wall(&clock, (struct lapse_wall){150}).ns, 150,
                 "the wall runs on");
}

Test(clock, a_wall_goes_over_every_edge_of_its_range) {
    struct lapse_sim_clock clock = lapse_sim_clock_make((struct lapse_wall){INT64_MAX - 5}, false);
    cr_assert_eq(lapse_sim_clock_wall(&clock, (struct lapse_true_time){4}).ns, INT64_MAX - 1);
    cr_assert_eq(lapse_sim_clock_wall(&clock, (struct lapse_true_time){9}).ns, INT64_MAX);
    lapse_sim_clock_step_wall(&clock, 10);
    cr_assert_eq(lapse_sim_clock_wall(&clock, (struct lapse_true_time){0}).ns, INT64_MAX);
    lapse_sim_clock_set_wall(&clock, (struct lapse_true_time){9}, (struct lapse_wall){INT64_MIN});
    lapse_sim_clock_step_wall(&clock, -10);
    cr_assert_eq(lapse_sim_clock_wall(&clock, (struct lapse_true_time){9}).ns, INT64_MIN);
    lapse_sim_clock_set_rate(&clock, (struct lapse_true_time){9}, 999999999);
    cr_assert_eq(lapse_sim_clock_wall(&clock, (struct lapse_true_time){INT64_MAX}).ns,
                 INT64_C(9223372027631403751));
    lapse_sim_clock_step_wall(&clock, INT64_MAX);
    lapse_sim_clock_step_wall(&clock, -1);
    cr_assert_eq(lapse_sim_clock_at_wall(&clock, (struct lapse_wall){-1}).ns, 10);
}
