/* A campaign counted against all that there is: it never leaves it, it is the same however its runs
 * are shared, and where what is run is not what was explored it says so. */
#include "fuzz/campaign.h"
#include "scenarios/load.h"
#include "sim/explore.h"

#include <criterion/criterion.h>
#include <string.h>

enum { ROUND = 60, ROUNDS = 3 };

struct campaign {
    struct lapse_file file;
    struct lapse_reach_builder all;
    struct lapse_campaign *of;
};

static void begin(struct campaign *campaign, const char *explored, const char *run);
static void end(struct campaign *campaign);
static size_t make_round(struct lapse_campaign *campaign, uint64_t first, bool turned,
                         char *ret_why);
static void collect(struct campaign *campaign, const struct lapse_plan *plan);

/* One document for each kind of move, and some with many. */
static const char *const protocols[] = {
    "name: p\nexplore: {clients: 3, for: 4s, careful: true, pause: true, crash: true, loss: true, "
    "fresh_owner: true, resource: fenced}\n",
    "name: p\nexplore: {clients: 2, for: 3s, careful: true, clock: 1s, margin: 2s, pause: true, "
    "crash: true}\n",
    "name: p\nexplore: {clients: 2, for: 3s, careful: true, resource: fenced, fresh_owner: true, "
    "delay: true, loss: true, crash: true}\n",
    "name: p\nexplore: {clients: 2, for: 6s, renew: 2s, pause: true, faults: 2}\n"
    "violates: [BELIEF-01]\n",
    "name: p\nexplore: {clients: 2, for: 3s, careful: true, resource: unfenced, delay: true}\n"
    "violates: [FENCE-03]\n",
    "name: p\nexplore: {clients: 2, for: 3s, careful: true, pause: true, delay: true, "
    "crash: true}\n",
};

Test(against, a_campaign_of_a_protocol_stays_in_the_explored_set) {
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++) {
        struct campaign campaign;
        struct lapse_campaign_share share;
        char why[LAPSE_ERROR_MESSAGE_MAX] = "";
        size_t broken = 0;
        begin(&campaign, protocols[i], protocols[i]);
        for (uint64_t k = 0; k < ROUNDS; k++) {
            broken += make_round(campaign.of, k * ROUND, false, why);
        }
        cr_expect_eq(broken, 0, "protocol %zu: %s", i, why);
        cr_assert(lapse_campaign_share(campaign.of, &share));
        cr_expect(share.states > 10 && share.states <= share.states_all, "protocol %zu", i);
        cr_expect(share.moves > 20 && share.moves <= share.moves_all, "protocol %zu", i);
        cr_expect_eq(lapse_campaign_states(campaign.of), share.states + share.moves);
        cr_expect(lapse_campaign_reached(campaign.of, 0), "the start is always reached");
        end(&campaign);
    }
}

Test(against, it_is_the_same_however_its_rounds_are_shared) {
    struct campaign campaigns[2];
    struct lapse_campaign_share shares[2];
    for (int i = 0; i < 2; i++) {
        begin(&campaigns[i], protocols[2], protocols[2]);
        (void)make_round(campaigns[i].of, 0, i == 1, NULL);
        (void)make_round(campaigns[i].of, ROUND, i == 1, NULL);
        cr_assert(lapse_campaign_share(campaigns[i].of, &shares[i]));
    }
    cr_expect_eq(memcmp(&shares[0], &shares[1], sizeof shares[0]), 0);
    cr_expect_eq(lapse_campaign_corpus(campaigns[0].of), lapse_campaign_corpus(campaigns[1].of));
    end(&campaigns[0]);
    end(&campaigns[1]);
}

/* What is run does more than what was explored, a little each time. */
Test(against, a_state_outside_the_explored_set_is_told_and_not_counted) {
    static const char *const pairs[][2] = {
        {"name: p\nexplore: {clients: 2, for: 3s, careful: true}\n",
         "name: p\nexplore: {clients: 2, for: 3s, careful: true, pause: true}\n"},
        {"name: p\nexplore: {clients: 2, for: 3s, careful: true, pause: true}\n",
         "name: p\nexplore: {clients: 2, for: 3s, careful: true, pause: true, crash: true}\n"},
        {"name: p\nexplore: {clients: 2, for: 3s, careful: true, margin: 1s, clock: 1s}\n"
         "violates: [BELIEF-01]\n",
         "name: p\nexplore: {clients: 2, for: 3s, careful: true, clock: 1s}\n"
         "violates: [BELIEF-01]\n"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct campaign campaign;
        struct lapse_campaign_share share;
        char why[LAPSE_ERROR_MESSAGE_MAX] = "";
        begin(&campaign, pairs[i][0], pairs[i][1]);
        cr_expect_gt(make_round(campaign.of, 0, false, why), 0, "pair %zu", i);
        cr_expect_not_null(strstr(why, "outside the explored set: "), "pair %zu: %s", i, why);
        cr_assert(lapse_campaign_share(campaign.of, &share));
        cr_expect_leq(share.states, share.states_all);
        end(&campaign);
    }
}

/* Three lines at one instant, and a draw: the first order is all that ordinary runs take. */
Test(against, a_campaign_of_a_scenario_draws_orders_and_values) {
    static const char *const scenario =
        "name: s\nexplore: all\nactors: [a, b, c]\nsteps:\n"
        "  - {at: 0s, by: a, acquire: jobs/x, for: 5s, jitter: 1ns, expect: [granted, held]}\n"
        "  - {at: 1ns, by: b, acquire: jobs/x, for: 5s, expect: [granted, held]}\n"
        "  - {at: 1ns, by: c, extend: jobs/x, for: 5s, expect: [lost, not_owner]}\n";
    struct campaign campaign;
    struct lapse_campaign_share share;
    begin(&campaign, scenario, scenario);
    cr_expect_eq(make_round(campaign.of, 0, false, NULL), 0);
    cr_assert(lapse_campaign_share(campaign.of, &share));
    cr_expect_eq(share.states, share.states_all, "%zu of %zu", share.states, share.states_all);
    cr_expect_gt(share.states, 5);
    cr_expect_eq(share.moves, share.moves_all);
    end(&campaign);
}

static void begin(struct campaign *campaign, const char *explored, const char *run) {
    struct lapse_file first;
    struct lapse_error err = {0};
    cr_assert_eq(lapse_file_load(lapse_alloc_libc(), "x", explored, strlen(explored), &first),
                 LAPSE_OK);
    cr_assert_eq(lapse_file_load(lapse_alloc_libc(), "x", run, strlen(run), &campaign->file),
                 LAPSE_OK);
    collect(campaign, first.plans[0]);
    lapse_file_free(&first);
    const struct lapse_campaign_options options = {.alloc = lapse_alloc_libc(),
                                                   .seed = 3,
                                                   .against = &campaign->all.reach,
                                                   .plan = campaign->file.plans[0]};
    cr_assert_eq(lapse_campaign_open(&options, &campaign->of, &err), LAPSE_OK, "%s", err.message);
}

static void end(struct campaign *campaign) {
    lapse_campaign_close(campaign->of);
    lapse_reach_finish(&campaign->all);
    lapse_file_free(&campaign->file);
}

/* Returns how many of its runs were outside; the last of them says why. */
static size_t make_round(struct lapse_campaign *campaign, uint64_t first, bool turned,
                         char *ret_why) {
    static struct lapse_diversity diversity;
    static struct lapse_attempt attempts[ROUND];
    size_t broken = 0;
    for (size_t i = 0; i < ROUND; i++) {
        size_t at = turned ? ROUND - 1 - i : i;
        cr_assert_eq(lapse_campaign_attempt(campaign, first + at, NULL, &diversity, &attempts[at]),
                     LAPSE_OK);
    }
    for (size_t i = 0; i < ROUND; i++) {
        cr_assert_eq(lapse_campaign_take(campaign, &attempts[i]), LAPSE_OK);
        bool outside = attempts[i].outcome == LAPSE_TRIAL_BROKEN;
        cr_expect(outside || attempts[i].outcome == LAPSE_TRIAL_PASSED, "run %zu: %s", i,
                  attempts[i].why);
        if (outside && ret_why != NULL) {
            memcpy(ret_why, attempts[i].why, sizeof attempts[i].why);
        }
        broken += outside;
        lapse_attempt_free(lapse_alloc_libc(), &attempts[i]);
    }
    return broken;
}

static void collect(struct campaign *campaign, const struct lapse_plan *plan) {
    struct lapse_choice kept[64];
    size_t count = 0;
    bool more = true, narrowed = false;
    cr_assert_eq(lapse_reach_begin(&campaign->all, lapse_alloc_libc(), plan, NULL), LAPSE_OK);
    if (plan->explore.on) {
        const struct lapse_explore_options options = {.protocol = &plan->explore,
                                                      .faults_max = plan->explore.faults_max,
                                                      .listed = ~UINT32_C(0),
                                                      .abstract = lapse_reach_take_move,
                                                      .abstract_ctx = &campaign->all};
        struct lapse_explored found;
        cr_assert_eq(lapse_explore(&options, &found, NULL), LAPSE_OK);
        cr_assert_eq(found.end, LAPSE_EXPLORE_ALL);
        lapse_explored_free(&found);
    }
    while (more && !plan->explore.on) {
        struct lapse_run run;
        cr_assert_eq(lapse_run_choices(plan, kept, count, NULL, &run, NULL), LAPSE_OK);
        lapse_reach_take_run(&campaign->all, run.history);
        const struct lapse_choice *drawn = lapse_choices_list(run.choices, &count);
        cr_assert_leq(count, sizeof kept / sizeof *kept);
        memcpy(kept, drawn, count * sizeof *kept);
        more = lapse_choices_next(kept, &count, 16, &narrowed);
        lapse_run_free(&run);
    }
    cr_assert_not(narrowed);
    cr_assert_eq(campaign->all.status, LAPSE_OK);
}
