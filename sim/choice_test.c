/* Draws depend on their own pair alone, and a record replays them. */
#include "sim/choice.h"

#include <criterion/criterion.h>
#include <string.h>

static uint64_t draw(struct lapse_choices *choices, int32_t who) {
    return lapse_choose(choices, 1000000, LAPSE_CHOICE_JITTER, who);
}

Test(choice, a_draw_elsewhere_does_not_shift_the_others) {
    struct lapse_choices *alone, *mixed;
    cr_assert_eq(lapse_choices_open_seed(lapse_alloc_libc(), 7, &alone), LAPSE_OK);
    cr_assert_eq(lapse_choices_open_seed(lapse_alloc_libc(), 7, &mixed), LAPSE_OK);
    uint64_t last = 0, same = 0;
    for (int i = 0; i < 50; i++) {
        uint64_t value = draw(alone, 3);
        (void)draw(mixed, 4);
        cr_assert_eq(draw(mixed, 3), value);
        same += value == last ? 1 : 0;
        last = value;
    }
    cr_assert_lt(same, 5, "the draws of a pair hardly differ");
    lapse_choices_close(alone);
    lapse_choices_close(mixed);
}

Test(choice, a_recorded_list_gives_its_entries_by_pair_and_then_zero) {
    struct lapse_choice list[] = {{LAPSE_CHOICE_JITTER, 1, 10, 4},
                                  {LAPSE_CHOICE_JITTER, 2, 10, 5},
                                  {LAPSE_CHOICE_JITTER, 1, 10, 6}};
    struct lapse_choices *choices;
    cr_assert_eq(lapse_choices_open_list(lapse_alloc_libc(), list, 3, &choices), LAPSE_OK);
    cr_assert_eq(lapse_choose(choices, 10, LAPSE_CHOICE_JITTER, 2), 5);
    cr_assert_eq(lapse_choose(choices, 10, LAPSE_CHOICE_JITTER, 1), 4);
    cr_assert_eq(lapse_choose(choices, 6, LAPSE_CHOICE_JITTER, 1), 0, "out of range is 0");
    cr_assert_eq(lapse_choose(choices, 10, LAPSE_CHOICE_JITTER, 1), 0, "missing is 0");
    lapse_choices_close(choices);
}

Test(choice, a_record_of_a_seeded_run_replays_it_and_can_be_cut) {
    struct lapse_choices *seeded, *replayed;
    cr_assert_eq(lapse_choices_open_seed(lapse_alloc_libc(), 99, &seeded), LAPSE_OK);
    for (int32_t i = 0; i < 60; i++) {
        (void)draw(seeded, i % 7);
    }
    size_t count = 0;
    const struct lapse_choice *list = lapse_choices_list(seeded, &count);
    cr_assert_eq(count, 60);
    cr_assert_eq(lapse_choices_open_list(lapse_alloc_libc(), list, count, &replayed), LAPSE_OK);
    for (int32_t i = 0; i < 60; i++) {
        cr_assert_eq(draw(replayed, i % 7), list[i].value);
    }
    struct lapse_choice before[60];
    memcpy(before, list, sizeof(before));
    for (size_t kept = 60; kept > 0; kept /= 2) {
        lapse_choices_cut(seeded, kept);
        lapse_choices_cut(replayed, kept);
        for (int32_t i = (int32_t)kept; i < 60; i++) {
            cr_assert_eq(draw(seeded, i % 7), before[i].value, "a cut list draws on as it did");
            cr_assert_eq(draw(replayed, i % 7), before[i].value);
        }
    }
    lapse_choices_close(seeded);
    lapse_choices_close(replayed);
}

Test(choice, a_list_in_bytes_gives_the_same_draws_and_any_bytes_are_choices) {
    struct lapse_choice list[] = {{LAPSE_CHOICE_JITTER, -1, 10, 4},
                                  {LAPSE_CHOICE_ROT, 70000, UINT64_MAX, UINT64_MAX - 1},
                                  {LAPSE_CHOICE_JITTER, -1, 10, 6}};
    unsigned char bytes[3 * LAPSE_CHOICE_BYTES + 1] = {0};
    struct lapse_choices *choices;
    for (size_t i = 0; i < 3; i++) {
        lapse_choice_encode(&list[i], bytes + i * LAPSE_CHOICE_BYTES);
    }
    struct lapse_bytes whole = {bytes, sizeof(bytes)};
    cr_assert_eq(lapse_choices_open_bytes(lapse_alloc_libc(), whole, &choices), LAPSE_OK);
    cr_assert_eq(lapse_choose(choices, UINT64_MAX, LAPSE_CHOICE_ROT, 70000), UINT64_MAX - 1);
    cr_assert_eq(lapse_choose(choices, 10, LAPSE_CHOICE_JITTER, -1), 4);
    cr_assert_eq(lapse_choose(choices, 4, LAPSE_CHOICE_JITTER, -1), 2, "out of range wraps");
    cr_assert_eq(lapse_choose(choices, 10, LAPSE_CHOICE_JITTER, -1), 0, "missing is 0");
    lapse_choices_close(choices);
    whole.len = 0;
    cr_assert_eq(lapse_choices_open_bytes(lapse_alloc_libc(), whole, &choices), LAPSE_OK);
    cr_assert_eq(lapse_choose(choices, 10, LAPSE_CHOICE_JITTER, -1), 0);
    lapse_choices_close(choices);
}
