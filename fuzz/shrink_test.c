/* Shrinking: what comes out fails as what went in, and no part of it can be left out; the values at
 * which the verdict flips; and failures that are met beside it. */
#include "fuzz/shrink.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* A document with more in it than its failure needs, in each way in which it can have more. */
#define LONG_STEAL                                                                                 \
    "lapse: 1\nname: steals\nbuckets: {locks: {ttl: 30s, locks: true}, other: {history: 3}}\n"     \
    "resources: {report: {fenced: true}}\nactors:\n"                                               \
    "  a: [{create: locks/job, value: a}, {every: 10s, set: locks/job, value: a}]\n"               \
    "  b: [{every: 5s, create: locks/job, value: b, until: ok, on_exists: next}]\n"                \
    "  c: [{every: 7s, set: other/k$n, value: x, times: 5}]\n"                                     \
    "faults: [{at: 25s, pause: a, for: 40s}, {at: 3s, pause: c, for: 2s}]\nrun_for: 80s\n"
#define LATE_WRITE                                                                                 \
    "lapse: 1\nname: late\nactors: [w1, w2]\nresources: {report: {}}\nsteps:\n"                    \
    "- {at: 0s, by: w1, acquire: jobs/nightly, for: 30s, save: t1}\n"                              \
    "- {at: 10s, pause: w1, for: 40s}\n"                                                           \
    "- {at: 12s, by: w1, write: report, value: from-w1, token: $t1}\n"                             \
    "- {at: 30s, by: w2, acquire: jobs/nightly, for: 30s, save: t2}\n"                             \
    "- {at: 35s, by: w2, write: report, value: from-w2, token: $t2}\n"
#define CHANCE                                                                                     \
    "lapse: 1\nname: chance\nresources: {report: {}}\nactors:\n"                                   \
    "  a: [{every: 3s, jitter: 1s, do: [{acquire: j, for: 4s, save: t, on_any: skip},"             \
    " {work: 2s}, {write: report, token: $t, on_any: skip}]}]\n"                                   \
    "  b: [{every: 4s, jitter: 1s, do: [{acquire: j, for: 4s, save: u, on_any: skip},"             \
    " {write: report, token: $u, on_any: skip}]}]\n"                                               \
    "run_for: 3m\nchaos: {stop_at: 2m, pause: true, latency: 100ms, loss: 5%}\n"

/* No rule breaks: a line is not answered as it was written. */
#define UNMET                                                                                      \
    "lapse: 1\nname: unmet\nbuckets: {b: {ttl: 1m}, c: {}}\nsteps:\n"                              \
    "- {at: 0s, set: c/k, value: x}\n- {at: 1s, set: b/k, value: x}\n"                             \
    "- {at: 1s, crash: n1, for: 1s}\n- {at: 2s, get: c/k}\n"                                       \
    "- {at: 3s, get: b/k, expect: other}\n- {at: 4s, delete: c/k}\n"
/* It lists what does not break. */
#define MISSING                                                                                    \
    "lapse: 1\nname: missing\nbuckets: {b: {ttl: 1m}}\nsteps:\n"                                  \
    "- {at: 0s, set: b/k, value: x}\n- {at: 3s, get: b/k}\nviolates: [KV-03]\n"

static const char *const failing[] = {
    LONG_STEAL,
    LATE_WRITE,
    CHANCE,
    UNMET,
    MISSING,
};
enum { FAILING = sizeof(failing) / sizeof(failing[0]) };

static struct lapse_arena *arena;

static void open_arena(void) {
    arena = lapse_arena_open();
}

static void close_arena(void) {
    lapse_arena_close(arena);
}

TestSuite(shrink, .init = open_arena, .fini = close_arena);

static struct lapse_node *parse(struct lapse_pool *pool, const char *text) {
    struct lapse_list documents = {.item_bytes = sizeof(struct lapse_document)};
    struct lapse_diag_list diags;
    lapse_diag_list_init(&diags, lapse_alloc_libc());
    cr_assert(lapse_yaml_parse(pool, "x.yaml", text, strlen(text), &documents, &diags));
    cr_assert_eq(diags.count, 0, "%s", diags.count > 0 ? diags.items[0]->message : "");
    struct lapse_node *root = ((struct lapse_document *)lapse_list_at(&documents, 0))->root;
    lapse_list_free(lapse_alloc_libc(), &documents);
    lapse_diag_list_free(&diags);
    return root;
}

static void shrink(const char *text, uint64_t seed, bool as_written, struct lapse_shrunk *ret) {
    struct lapse_pool pool;
    struct lapse_error err = {0};
    const struct lapse_shrink_options options = {
        .alloc = lapse_alloc_libc(), .arena = arena, .seed = seed, .as_written = as_written};
    lapse_pool_init(&pool, lapse_alloc_libc());
    enum lapse_status status = lapse_shrink(parse(&pool, text), 0, &options, ret, &err);
    cr_assert_eq(status, LAPSE_OK, "%s", err.message);
    lapse_pool_free(&pool);
}

static void run(const struct lapse_node *document, uint64_t seed, struct lapse_trial *ret) {
    const struct lapse_trial_options options = {
        .alloc = lapse_alloc_libc(), .arena = arena, .seed = seed};
    cr_assert_eq(lapse_trial_run(document, &options, ret, NULL), LAPSE_OK);
}

/* Whether no item of the list can be left out of the document. */
static void expect_each_needed(struct lapse_shrunk *shrunk, struct lapse_node *list,
                               const char *text) {
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        struct lapse_node all = *list;
        struct lapse_node *rest[64];
        struct lapse_trial trial;
        size_t count = 0;
        for (size_t k = 0; k < list->count && count < 64; k++) {
            if (k != i) {
                rest[count++] = list->items[k];
            }
        }
        list->items = rest;
        list->count = count;
        run(shrunk->document, 1, &trial);
        bool same = trial.outcome == LAPSE_TRIAL_VIOLATED &&
                    lapse_trial_same(&trial.signature, &shrunk->signature);
        cr_expect(!same, "line %zu of %s", i, text);
        lapse_trial_free(&trial);
        *list = all;
    }
}

Test(shrink, keeps_the_failure_and_nothing_else) {
    for (size_t i = 0; i < FAILING; i++) {
        struct lapse_shrunk shrunk;
        struct lapse_trial trial;
        shrink(failing[i], 1, false, &shrunk);
        cr_assert(shrunk.fails, "case %zu", i);
        run(shrunk.document, 2, &trial); /* another seed: chance is gone or pinned */
        cr_expect(lapse_trial_same(&trial.signature, &shrunk.signature), "case %zu: %s", i,
                  shrunk.text.text);
        cr_expect(shrunk.minimal && shrunk.stable, "case %zu", i);
        cr_expect_leq(shrunk.after.steps, shrunk.before.steps, "case %zu", i);
        cr_expect_leq(shrunk.after.faults, shrunk.before.faults + (i == 2 ? 1 : 0), "case %zu", i);
        if (!shrunk.signature.unmet) {
            expect_each_needed(&shrunk, lapse_node_get(shrunk.document, "steps"),
                               shrunk.text.text);
            expect_each_needed(&shrunk, lapse_node_get(shrunk.document, "faults"),
                               shrunk.text.text);
        }
        lapse_trial_free(&trial);
        lapse_shrunk_free(&shrunk);
    }
}

Test(shrink, of_what_is_shrunk_changes_nothing) {
    for (size_t i = 0; i < FAILING; i++) {
        struct lapse_shrunk first, again;
        shrink(failing[i], 1, false, &first);
        shrink(first.text.text, 1, false, &again);
        cr_expect_str_eq(again.text.text, first.text.text, "case %zu", i);
        lapse_shrunk_free(&first);
        lapse_shrunk_free(&again);
    }
}

Test(shrink, leaves_a_passing_document_alone) {
    struct lapse_shrunk shrunk;
    shrink("lapse: 1\nname: x\nsteps: [{at: 0s, acquire: j, for: 3s}]", 1, false, &shrunk);
    cr_expect_not(shrunk.fails);
    cr_expect_eq(shrunk.tries, 0);
    lapse_shrunk_free(&shrunk);
}

/* The threshold of a word that stands in a line with this text, or NULL. */
static const struct lapse_shrink_threshold *find(const struct lapse_shrunk *shrunk,
                                                 const char *word, const char *line, bool above) {
    for (size_t i = 0; i < shrunk->threshold_count; i++) {
        const struct lapse_shrink_threshold *threshold = &shrunk->thresholds[i];
        const char *at = shrunk->text.text;
        for (int k = 1; k < threshold->place.line; k++) {
            at = strchr(at, '\n') + 1;
        }
        const char *found = strstr(at, line);
        bool here = found != NULL && found < strchr(at, '\n');
        if (here && strcmp(threshold->word, word) == 0 && threshold->above == above) {
            return threshold;
        }
    }
    return NULL;
}

static void expect_threshold(const struct lapse_shrunk *shrunk, const char *word, const char *line,
                             bool above, const char *fails, const char *passes) {
    const struct lapse_shrink_threshold *found = find(shrunk, word, line, above);
    cr_assert(found != NULL, "%s in %s: none in\n%s", word, line, shrunk->text.text);
    cr_expect_str_eq(found->fails, fails, "%s in %s", word, line);
    cr_expect_str_eq(found->passes, passes, "%s in %s", word, line);
}

Test(shrink, finds_the_value_at_which_the_verdict_flips) {
    struct lapse_shrunk plain, written;
    shrink(LATE_WRITE, 1, false, &plain);
    expect_threshold(&plain, "for", "pause: a", true, "1ns", "0s");
    expect_threshold(&plain, "at", "write: r, token: $t2", false, "2s-1ns", "2s");
    /* The pause from 10 s on must last beyond the other's write at 35 s. */
    shrink(LATE_WRITE, 1, true, &written);
    cr_expect(written.needs_fault);
    cr_assert_eq(written.fault_count, 1);
    cr_expect_str_eq(written.faults[0], "pause: w1");
    expect_threshold(&written, "for", "pause: w1", true, "25s1ns", "25s");
    expect_threshold(&written, "at", "by: w2, write", false, "50s-1ns", "50s");
    lapse_shrunk_free(&plain);
    lapse_shrunk_free(&written);
}

Test(shrink, files_another_failure_apart_and_does_not_follow_it) {
    /* The steal is listed; where the list is left out, it is what fails first. */
    struct lapse_shrunk shrunk;
    shrink("lapse: 1\nname: two\nactors: [w1, w2]\nresources: {report: {}}\n"
           "buckets: {l: {locks: true}}\nsteps:\n- {at: 0s, by: w1, create: l/k, save: v}\n"
           "- {at: 1s, by: w2, set: l/k, value: x, save: u}\n"
           "- {at: 2s, by: w2, write: report, value: x, token: $u}\n"
           "- {at: 3s, by: w1, write: report, value: x, token: $v}\nviolates: [LEASE-10]\n",
           1, false, &shrunk);
    cr_expect_str_eq(shrunk.signature.id, "FENCE-03");
    cr_assert_eq(shrunk.other_count, 1);
    cr_expect_str_eq(shrunk.others[0].signature.id, "LEASE-10");
    cr_expect(strstr(shrunk.others[0].text, "set: l/k") != NULL);
    for (size_t i = 0; i < shrunk.other_count; i++) {
        cr_expect_not(lapse_trial_same(&shrunk.others[i].signature, &shrunk.signature));
        cr_expect_not(shrunk.others[i].signature.unmet);
    }
    lapse_shrunk_free(&shrunk);
}

static size_t runs_apart; /* of the document at hand */

/* Runs 3 to 6 die; the shrinker's own first run and its last ones live. */
static int die_for_a_while(void (*run_it)(void *arg), void *arg) {
    runs_apart++;
    bool dies = runs_apart >= 3 && runs_apart <= 6;
    if (!dies) {
        run_it(arg);
    }
    return dies ? 6 : 0;
}

Test(shrink, goes_on_where_a_run_dies_and_files_that_apart) {
    for (size_t i = 0; i < FAILING; i++) {
        struct lapse_pool pool;
        struct lapse_shrunk whole, shrunk;
        const struct lapse_shrink_options options = {.alloc = lapse_alloc_libc(), .arena = arena,
                                                     .seed = 1, .apart = die_for_a_while};
        lapse_pool_init(&pool, lapse_alloc_libc());
        runs_apart = 0;
        shrink(failing[i], 1, false, &whole);
        cr_assert_eq(lapse_shrink(parse(&pool, failing[i]), 0, &options, &shrunk, NULL), LAPSE_OK);
        cr_assert_gt(runs_apart, 9, "case %zu", i);
        cr_expect(shrunk.fails && lapse_trial_same(&shrunk.signature, &whole.signature) &&
                      shrunk.stable && shrunk.after.steps <= shrunk.before.steps,
                  "case %zu", i);
        size_t died = 0;
        for (size_t k = 0; k < shrunk.other_count; k++) {
            bool here = strcmp(shrunk.others[k].signature.id, "lapse") == 0;
            died += here ? 1 : 0;
            cr_expect(!here || (strstr(shrunk.others[k].message, "signal 6") != NULL &&
                                strstr(shrunk.others[k].text, "lapse: 1") != NULL),
                      "case %zu", i);
        }
        cr_expect_eq(died, 1, "case %zu", i);
        lapse_shrunk_free(&whole);
        lapse_shrunk_free(&shrunk);
        lapse_pool_free(&pool);
    }
}

Test(shrink, of_what_dies_by_itself_says_so) {
    struct lapse_pool pool;
    struct lapse_shrunk shrunk;
    struct lapse_error err = {0};
    const struct lapse_shrink_options options = {.alloc = lapse_alloc_libc(), .arena = arena,
                                                 .seed = 1, .apart = die_for_a_while};
    lapse_pool_init(&pool, lapse_alloc_libc());
    runs_apart = 2;
    enum lapse_status status = lapse_shrink(parse(&pool, UNMET), 0, &options, &shrunk, &err);
    cr_expect_eq(status, LAPSE_BUG);
    cr_expect_str_eq(err.message, "the run died of signal 6");
    lapse_shrunk_free(&shrunk);
    lapse_pool_free(&pool);
}

/* What is mended would not end: a document of 100 firings must not become one of a billion. */
Test(shrink, makes_no_loop_that_hardly_ends) {
    struct lapse_shrunk shrunk;
    struct lapse_trial trial;
    shrink("lapse: 1\nname: x\nactors:\n"
           "  a: [{acquire: j, for: 700ms}, {every: 600ms, extend: j, for: 1ns, on_lost: next}]\n"
           "run_for: 1m\n",
           1, false, &shrunk);
    run(shrunk.document, 1, &trial);
    cr_expect_str_eq(shrunk.signature.id, "RENEW-01");
    cr_assert_not_null(trial.plan);
    int64_t least = 0;
    for (size_t i = 0; i < trial.plan->step_count; i++) {
        const struct lapse_plan_step *step = &trial.plan->steps[i];
        least = step->kind == LAPSE_STEP_LOOP ? step->u.loop.period_ns : least;
    }
    cr_expect(least > 0 && trial.plan->run_for_ns / least <= 1000, "%s", shrunk.text.text);
    lapse_trial_free(&trial);
    lapse_shrunk_free(&shrunk);
}

Test(shrink, changes_a_seed_that_no_document_can_name) {
    struct lapse_shrunk shrunk;
    struct lapse_trial trial;
    shrink(CHANCE, UINT64_MAX, false, &shrunk);
    cr_assert(shrunk.fails && !shrunk.loose);
    run(shrunk.document, 7, &trial);
    cr_expect(lapse_trial_same(&trial.signature, &shrunk.signature), "%s", shrunk.text.text);
    lapse_trial_free(&trial);
    lapse_shrunk_free(&shrunk);
}

/* Each of its two pauses alone is enough, and it says of neither that it needs it. */
Test(shrink, explains_a_document_and_leaves_it_as_it_is) {
    static const char twice[] =
        "lapse: 1\nname: mine\nactors: [w1, w2]\nresources: {report: {}}\nsteps:\n"
        "  - {at: 0s, by: w1, acquire: j, for: 30s, save: t1}\n"
        "  - {at: 10s, pause: w1, for: 40s}\n  - {at: 11s, pause: w1, for: 39s}\n"
        "  - {at: 12s, by: w1, write: report, value: x, token: $t1}\n"
        "  - {at: 30s, by: w2, acquire: j, for: 30s, save: t2}\n"
        "  - {at: 35s, by: w2, write: report, value: y, token: $t2}\n";
    struct lapse_pool pool;
    struct lapse_shrunk told;
    const struct lapse_shrink_options options = {
        .alloc = lapse_alloc_libc(), .arena = arena, .seed = 1};
    lapse_pool_init(&pool, lapse_alloc_libc());
    cr_assert_eq(lapse_shrink_explain(parse(&pool, twice), &options, &told, NULL), LAPSE_OK);
    cr_assert(told.fails && told.stable && !told.minimal && told.needs_fault);
    cr_expect_str_eq(strchr(told.text.text, '\n') + 1, twice);
    cr_expect_eq(told.fault_count, 0);
    expect_threshold(&told, "at", "by: w2, write", false, "50s-1ns", "50s");
    lapse_shrunk_free(&told);
    lapse_pool_free(&pool);
}

/* Counts what is held, and fails the nth time that memory is asked for; 0: never. */
struct meter {
    size_t asked, fail_at, held;
};

static void *meter_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    struct meter *meter = ctx;
    if (new_bytes > 0 && ++meter->asked == meter->fail_at) {
        return NULL;
    }
    (void)old_bytes;
    if (new_bytes == 0) {
        meter->held -= ptr == NULL ? 0 : 1;
        free(ptr);
        return NULL;
    }
    meter->held += ptr == NULL ? 1 : 0;
    return realloc(ptr, new_bytes);
}

Test(shrink, gives_all_memory_back_wherever_it_runs_out) {
    struct lapse_pool pool;
    struct meter meter = {0};
    const lapse_alloc alloc = {meter_resize, &meter};
    const struct lapse_shrink_options options = {
        .alloc = &alloc, .arena = arena, .seed = 1, .tries_max = 6};
    lapse_pool_init(&pool, lapse_alloc_libc());
    const struct lapse_node *document = parse(&pool, CHANCE);
    size_t all = 1;
    for (size_t nth = 0; nth < all; nth += 1 + nth / 2) {
        struct lapse_shrunk shrunk;
        struct lapse_error err = {0};
        meter = (struct meter){.fail_at = nth};
        enum lapse_status status = lapse_shrink(document, 0, &options, &shrunk, &err);
        all = nth == 0 ? meter.asked : all;
        /* Where less would do, the loader goes on without. */
        cr_expect(status == LAPSE_NOMEM || (status == LAPSE_OK && shrunk.fails),
                  "%zu of %zu: %d", nth, all, status);
        lapse_shrunk_free(&shrunk);
        cr_expect_eq(meter.held, 0, "%zu of %zu: %zu are held", nth, all, meter.held);
    }
    lapse_pool_free(&pool);
}
