/* Documents that are drawn and changed, what a campaign learns from them, and that none of it hangs
 * on who makes the runs. */
#include "fuzz/campaign.h"

#include "fuzz/finding.h"
#include "fuzz/shape.h"
#include "fuzz/skeleton.h"
#include "mutate.h"
#include "traits.h"
#include "tree.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* The first document of a text. */
static struct lapse_node *parsed(struct lapse_pool *pool, const char *text) {
    struct lapse_list documents = {.item_bytes = sizeof(struct lapse_document)};
    struct lapse_diag_list diags;
    lapse_diag_list_init(&diags, lapse_alloc_libc());
    cr_assert(lapse_yaml_parse(pool, "x", text, strlen(text), &documents, &diags));
    cr_assert_eq(documents.count, 1);
    struct lapse_node *root = ((struct lapse_document *)lapse_list_at(&documents, 0))->root;
    lapse_list_free(lapse_alloc_libc(), &documents);
    lapse_diag_list_free(&diags);
    return root;
}

/* The document of a seed, as text. */
static void drawn(uint64_t seed, struct lapse_diversity *diversity, struct lapse_emitted *ret) {
    struct lapse_choices *choices = NULL;
    struct lapse_pool pool;
    lapse_pool_init(&pool, lapse_alloc_libc());
    cr_assert_eq(lapse_choices_open_seed(lapse_alloc_libc(), seed, &choices), LAPSE_OK);
    struct lapse_node *document = lapse_generate(&pool, choices, NULL, diversity);
    cr_assert_not_null(document);
    *ret = (struct lapse_emitted){.alloc = lapse_alloc_libc()};
    cr_assert_eq(lapse_yaml_write(document, ret, NULL), LAPSE_OK);
    lapse_choices_close(choices);
    lapse_pool_free(&pool);
}

Test(campaign, a_seed_is_a_document_and_each_option_comes) {
    static struct lapse_diversity diversity;
    size_t alike = 0, missing = 0;
    for (uint64_t seed = 1; seed <= 1600; seed++) {
        struct lapse_emitted one, again;
        drawn(seed, &diversity, &one);
        drawn(seed % 40 == 0 ? seed - 1 : seed, &diversity, &again);
        alike += strcmp(one.text, again.text) == 0;
        lapse_emitted_free(&one);
        lapse_emitted_free(&again);
    }
    cr_expect_eq(alike, 1560, "%zu of 1560 are the same, and others differ", alike);
    const struct lapse_trait_row *row;
    for (size_t i = 0; (row = lapse_trait_row(i)) != NULL; i++) {
        struct lapse_bytes option;
        if (i >= LAPSE_TRAIT_CHANGE && i <= LAPSE_TRAIT_NEAR)
            continue; /* of changes, not of documents */
        for (size_t k = 0; lapse_trait_option(row, k, &option); k++) {
            missing += diversity.counts[i][k] == 0;
            cr_expect(diversity.counts[i][k] > 0, "%s: %.*s never came", row->word,
                      (int)option.len, (const char *)option.data);
        }
    }
    cr_expect_eq(missing, 0);
}

/* Takes in a round whose attempts were made in another order. */
static void run_round(struct lapse_campaign *campaign, uint64_t first, size_t count, bool turned) {
    static struct lapse_diversity diversity;
    struct lapse_attempt attempts[40];
    for (size_t i = 0; i < count; i++) {
        size_t at = turned ? count - 1 - i : i;
        cr_assert_eq(lapse_campaign_attempt(campaign, first + at, NULL, &diversity, &attempts[at]),
                     LAPSE_OK);
    }
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(lapse_campaign_take(campaign, &attempts[i]), LAPSE_OK);
        lapse_attempt_free(lapse_alloc_libc(), &attempts[i]);
    }
}

Test(campaign, is_the_same_however_its_rounds_are_shared) {
    struct lapse_campaign *campaigns[2];
    const struct lapse_campaign_options options = {.alloc = lapse_alloc_libc(), .seed = 3};
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(lapse_campaign_open(&options, &campaigns[i], NULL), LAPSE_OK);
        run_round(campaigns[i], 0, 40, i == 1);
        run_round(campaigns[i], 40, 40, i == 1);
    }
    const struct lapse_campaign_totals *one = lapse_campaign_totals(campaigns[0]);
    const struct lapse_campaign_totals *other = lapse_campaign_totals(campaigns[1]);
    cr_expect_eq(memcmp(one, other, sizeof *one), 0);
    cr_expect_eq(one->runs, 80);
    cr_expect_eq(one->outcomes[LAPSE_TRIAL_VIOLATED] + one->outcomes[LAPSE_TRIAL_BROKEN], 0);
    cr_expect_lt(one->outcomes[LAPSE_TRIAL_REFUSED], 8, "most documents make sense");
    cr_expect_lt(one->drawn, 80, "the second round changes what the first has kept");
    cr_expect_gt(lapse_campaign_corpus(campaigns[0]), 10);
    cr_expect_eq(lapse_campaign_states(campaigns[0]), lapse_campaign_states(campaigns[1]));
    lapse_campaign_close(campaigns[0]);
    lapse_campaign_close(campaigns[1]);
}

Test(tree, spans_read_back_as_they_are_written) {
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        {0, "0s"},
        {1, "1ns"},
        {30 * LAPSE_NS_PER_S, "30s"},
        {30 * LAPSE_NS_PER_S - 1, "30s-1ns"},
        {90 * LAPSE_NS_PER_S + 1, "1m30s1ns"},
        {INT64_MAX, "106751d23h47m16s854ms775us807ns"},
    };
    struct lapse_pool pool;
    int64_t ns = -1;
    lapse_pool_init(&pool, lapse_alloc_libc());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lapse_node *node = lapse_tree_span(&pool, cases[i].ns);
        cr_expect_str_eq(node->text, cases[i].text);
        cr_expect(lapse_tree_read_span(node, &ns));
        cr_expect_eq(ns, cases[i].ns);
    }
    static const char *const none[] = {"", "x", "30", "30s-", "$d", "1s+x", "5ms..40ms"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        cr_expect_not(lapse_tree_read_span(lapse_tree_text(&pool, "%s", none[i]), &ns), "%s",
                      none[i]);
    }
    lapse_pool_free(&pool);
}

#define STEPS "lapse: 1\nname: x\nactors: [a, b]\nbuckets: {b: {}}\nsteps:\n"

Test(skeleton, keeps_words_and_not_numbers) {
    static const struct {
        const char *one, *other;
        bool same;
    } cases[] = {
        {"- {at: 0s, by: a, set: b/k, ttl: 5s}", "- {at: 3s, by: b, set: b/m, ttl: 1s}", true},
        {"- {at: 0s, by: a, set: b/k, ttl: 5s}", "- {at: 0s, by: a, set: b/k}", false},
        {"- {at: 0s, by: a, set: b/k}", "- {at: 0s, by: a, get: b/k}", false},
        {"- {at: 0s, by: a, get: b/k}",
         "- {at: 0s, by: a, get: b/k}\n- {at: 0s, by: a, get: b/k}", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char one[300], other[300];
        (void)snprintf(one, sizeof one, "%s%s\n", STEPS, cases[i].one);
        (void)snprintf(other, sizeof other, "%s%s\n", STEPS, cases[i].other);
        bool same = lapse_skeleton_digest(one, strlen(one)) ==
                    lapse_skeleton_digest(other, strlen(other));
        cr_expect_eq(same, cases[i].same, "case %zu", i);
    }
}

Test(shape, expects_nothing_and_stops_at_other_answers) {
    struct lapse_pool pool;
    struct lapse_emitted text = {.alloc = lapse_alloc_libc()};
    lapse_pool_init(&pool, lapse_alloc_libc());
    struct lapse_node *document =
        parsed(&pool, STEPS "- {at: 0s, by: a, set: b/k, expect: ok}\n- {at: 1s, present: b/k}\n"
                            "- {at: 2s, by: a, get: b/k, on_any: next}\n- {at: 3s, pause: a}\n"
                            "expect: [{present: b/k}]\nsometimes: [{written: b/k}]\n");
    lapse_shape(&pool, document);
    cr_assert_eq(lapse_yaml_write(document, &text, NULL), LAPSE_OK);
    cr_expect_not_null(strstr(text.text, "set: b/k, on_any: stop"));
    cr_expect_not_null(strstr(text.text, "get: b/k, on_any: next"));
    cr_expect_not_null(strstr(text.text, "pause: a"));
    cr_expect_null(strstr(text.text, "present"));
    cr_expect_null(strstr(text.text, "sometimes"));
    lapse_emitted_free(&text);
    lapse_pool_free(&pool);
}

#define STOLEN                                                                                     \
    "lapse: 1\nname: x\nbuckets: {l: {ttl: 30s, locks: true}}\nactors:\n"                         \
    "  a: [{create: l/k, value: a}, {every: 10s, set: l/k, value: a, on_any: stop}]\n"            \
    "  b: [{every: 5s, create: l/k, value: b, until: ok, on_any: next}]\nrun_for: 80s\nsteps:\n"   \
    "- {at: 1s, pause: b, for: 1s}\n- {at: 25s, pause: a, for: 40s}\n"

Test(finding, of_a_shape_loses_only_what_was_added) {
    const struct lapse_shrink_options options = {
        .alloc = lapse_alloc_libc(), .seed = 1, .tries_max = 100};
    struct lapse_shrunk made;
    cr_assert_eq(lapse_finding_make(STOLEN, strlen(STOLEN), true, &options, &made), LAPSE_OK);
    cr_assert(made.fails && made.shaped && made.minimal && made.stable);
    cr_expect_eq(made.before.faults, 2);
    cr_expect_eq(made.after.faults, 1);
    cr_expect_not_null(strstr(made.text.text, "pause: a"));
    cr_expect_not_null(strstr(made.text.text, "every: 10s"));
    cr_expect_not_null(strstr(made.text.text, "\nname: x\n"));
    cr_expect_null(strstr(made.text.text, "pause: b"));
    lapse_shrunk_free(&made);
}

/* The pause from 25 s on must last beyond 50 s, where the other gets the lock. */
Test(finding, of_a_shape_says_why_it_fails) {
    const struct lapse_shrink_options options = {.alloc = lapse_alloc_libc(), .seed = 1};
    struct lapse_shrunk made;
    bool found = false;
    cr_assert_eq(lapse_finding_make(STOLEN, strlen(STOLEN), true, &options, &made), LAPSE_OK);
    cr_assert(made.needs_fault);
    cr_assert_eq(made.fault_count, 1);
    cr_expect_str_eq(made.faults[0], "pause: a");
    for (size_t i = 0; i < made.threshold_count; i++) {
        const struct lapse_shrink_threshold *threshold = &made.thresholds[i];
        found = found || (strcmp(threshold->value, "40s") == 0 && threshold->above &&
                          strcmp(threshold->fails, "25s1ns") == 0 &&
                          strcmp(threshold->passes, "25s") == 0);
    }
    cr_expect(found, "none of the pause in\n%s", made.text.text);
    lapse_shrunk_free(&made);
}
