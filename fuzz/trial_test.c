/* A document on its way to a verdict: each outcome, and what its failure is known by. */
#include "fuzz/trial.h"

#include <criterion/criterion.h>
#include <string.h>

/* Runs one document's text. */
static void try_text(const char *text, int32_t row, struct lapse_trial *ret) {
    struct lapse_pool pool;
    struct lapse_list documents = {.item_bytes = sizeof(struct lapse_document)};
    struct lapse_diag_list diags;
    const struct lapse_trial_options options = {
        .alloc = lapse_alloc_libc(), .seed = 1, .row = row};
    lapse_pool_init(&pool, lapse_alloc_libc());
    lapse_diag_list_init(&diags, lapse_alloc_libc());
    cr_assert(lapse_yaml_parse(&pool, "x.yaml", text, strlen(text), &documents, &diags));
    cr_assert_eq(diags.count, 0);
    const struct lapse_document *document = lapse_list_at(&documents, 0);
    cr_assert_eq(lapse_trial_run(document->root, &options, ret, NULL), LAPSE_OK);
    lapse_list_free(lapse_alloc_libc(), &documents);
    lapse_diag_list_free(&diags);
    lapse_pool_free(&pool);
}

#define STEALS                                                                                     \
    "lapse: 1\nname: x\nactors: [a, b]\nbuckets: {l: {ttl: 30s, locks: true}}\nsteps:\n"           \
    "- {at: 0s, by: a, create: l/k, value: a}\n"

Test(trial, gives_each_outcome) {
    static const struct {
        const char *text;
        int32_t row;
        enum lapse_trial_outcome outcome;
        const char *id;
        int verb;
        enum lapse_status status;
    } cases[] = {
        {"lapse: 1\nname: x\nsteps: [{at: 0s, acquire: j, for: 3s}]", 0, LAPSE_TRIAL_PASSED, NULL,
         0, 0},
        {STEALS "- {at: 1s, by: b, set: l/k, value: b}", 0, LAPSE_TRIAL_VIOLATED, "LEASE-10",
         LAPSE_VERB_SET, LAPSE_OK},
        {STEALS "- {at: 1s, by: b, create: l/k, value: b}", 0, LAPSE_TRIAL_VIOLATED, "CAS-03",
         LAPSE_VERB_CREATE, LAPSE_EXISTS},
        {STEALS "- {at: 1s, by: c, create: l/k, value: b}", 0, LAPSE_TRIAL_REFUSED, NULL, 0, 0},
        {"lapse: 1\nname: x\nvary: {d: [3s, 5s]}\nsteps: [{at: 0s, acquire: j, for: $d},"
         " {at: 4s, acquire: j, for: $d, expect: {left: 5s}}]",
         0, LAPSE_TRIAL_VIOLATED, "LEASE-03", LAPSE_VERB_ACQUIRE, LAPSE_OK},
        {"lapse: 1\nname: x\nvary: {d: [3s, 5s]}\nsteps: [{at: 0s, acquire: j, for: $d}]", 2,
         LAPSE_TRIAL_REFUSED, NULL, 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lapse_trial trial;
        try_text(cases[i].text, cases[i].row, &trial);
        cr_expect_eq(trial.outcome, cases[i].outcome, "case %zu: %d %s", i, trial.outcome,
                     trial.err.message);
        cr_expect_eq(trial.signature.id == NULL, cases[i].id == NULL, "case %zu", i);
        cr_expect(cases[i].id == NULL || strcmp(trial.signature.id, cases[i].id) == 0,
                  "case %zu: %s", i, trial.signature.id);
        cr_expect_eq(trial.signature.verb, cases[i].verb, "case %zu", i);
        cr_expect_eq(trial.signature.status, cases[i].status, "case %zu", i);
        lapse_trial_free(&trial);
    }
}

Test(trial, of_one_fault_has_one_signature) {
    struct lapse_trial first, later, other;
    try_text(STEALS "- {at: 1s, by: b, set: l/k, value: b}", 0, &first);
    try_text(STEALS "- {at: 29s, by: b, set: l/k, value: c}", 0, &later);
    try_text(STEALS "- {at: 1s, by: b, delete: l/k}", 0, &other);
    cr_expect(lapse_trial_same(&first.signature, &later.signature));
    cr_expect_str_eq(other.signature.id, first.signature.id);
    cr_expect_not(lapse_trial_same(&first.signature, &other.signature));
    lapse_trial_free(&first);
    lapse_trial_free(&later);
    lapse_trial_free(&other);
}
