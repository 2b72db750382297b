/* The model says what differs, field by field and row by row; it leaves open what a crash has left;
 * and it stands every failed allocation. That it answers as a store does is sim's to test. */
#include "contracts/model.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define S(seconds) ((int64_t)(seconds) * LAPSE_NS_PER_S)
#define TEXT(text)                                     \
    {                                                  \
        (const unsigned char *)(text), sizeof(text) - 1 \
    }

static const struct lapse_setup_bucket buckets[] = {
    {.name = TEXT("b"), .config = {.term = {.given = LAPSE_TERM_TTL, .ttl = {S(60)}}}},
    {.name = TEXT("marked"), .config = {.markers = {S(60)}, .history = 3}},
    {.name = TEXT("idle"), .config = {.term = {.given = LAPSE_TERM_IDLE, .idle = {S(60)}}}},
};
static const struct lapse_setup setup = {
    .epoch = {S(1000)}, .bucket_count = 3, .buckets = buckets};

struct bench {
    struct lapse_model *model;
    struct lapse_model_answer must;
    struct lapse_model_difference odd;
    int64_t at;
};

static void open_bench(struct bench *bench) {
    *bench = (struct bench){.at = S(1)};
    cr_assert_eq(lapse_model_open(lapse_alloc_libc(), &setup, &bench->model), LAPSE_OK);
}

static struct lapse_command on(enum lapse_verb verb, const char *bucket, const char *key) {
    struct lapse_command command = {.verb = verb};
    command.bucket = lapse_bytes_of(bucket);
    command.key = lapse_bytes_of(key);
    return command;
}

static struct lapse_answer told(const struct bench *bench, enum lapse_status status) {
    return (struct lapse_answer){
        .status = status, .at = {bench->at}, .wall = {setup.epoch.ns + bench->at}};
}

/* Whether the model takes the answer for right. */
static bool right(struct bench *bench, const struct lapse_command *command,
                  const struct lapse_answer *answer) {
    cr_assert_eq(lapse_model_apply(bench->model, command, answer, 7, &bench->must), LAPSE_OK);
    return lapse_model_agrees(bench->model, command, &bench->must, answer, &bench->odd);
}

/* A set whose answer is taken as the model has it. */
static void put(struct bench *bench, const char *bucket, const char *key, const char *value) {
    struct lapse_command command = on(LAPSE_VERB_SET, bucket, key);
    command.u.write.value = lapse_bytes_of(value);
    struct lapse_answer answer = told(bench, LAPSE_OK);
    (void)right(bench, &command, &answer);
    cr_assert_eq(bench->must.answer.status, LAPSE_OK);
}

static void expect_what(const struct bench *bench, const char *what) {
    cr_assert(strncmp(bench->odd.what, what, strlen(what)) == 0, "%s: wanted %s, found %s", what,
              what, bench->odd.what);
}

Test(model, names_the_field_in_which_an_answer_differs) {
    static const struct {
        const char *what;
        struct lapse_answer twist; /* added to the right answer */
    } cases[] = {
        {NULL, {.status = LAPSE_OK}},
        {"the answer of b/k", {.status = LAPSE_ABSENT}},
        {"the revision of b/k", {.revision = 1}},
        {"the end of b/k", {.end = {LAPSE_END_STEADY, 1}}},
        {"what is left of b/k", {.left = {1}}},
        {"whether it was renewed of b/k", {.renewed = true}},
        {"whether it was answered before of b/k", {.repeated = true}},
        {"the token of b/k", {.token = 3}},
        {"the owner of b/k", {.owner = TEXT("w")}},
        {"the value of b/k", {.value = TEXT("other")}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct lapse_answer *twist = &cases[i].twist;
        struct bench bench;
        open_bench(&bench);
        put(&bench, "b", "k", "v");
        struct lapse_command get = on(LAPSE_VERB_GET, "b", "k");
        struct lapse_answer answer = told(&bench, twist->status);
        answer.revision = 1 + twist->revision;
        answer.end = (struct lapse_end){LAPSE_END_STEADY, S(61) + twist->end.ns};
        answer.left.ns = S(60) + twist->left.ns;
        answer.renewed = twist->renewed;
        answer.repeated = twist->repeated;
        answer.token = twist->token;
        answer.owner = twist->owner;
        answer.value = twist->value.len > 0 ? twist->value : lapse_bytes_of("v");
        bool same = right(&bench, &get, &answer);
        cr_assert_eq(same, cases[i].what == NULL, "%s", bench.odd.what);
        if (!same) {
            expect_what(&bench, cases[i].what);
            cr_assert_eq(bench.odd.by, 7);
        }
        lapse_model_close(bench.model);
    }
}

Test(model, asks_for_every_event_of_a_call_and_allows_no_other) {
    struct bench bench;
    open_bench(&bench);
    put(&bench, "marked", "k", "v");
    struct lapse_event event = {.kind = LAPSE_EVENT_PUT,
                                .bucket = lapse_bytes_of("marked"),
                                .key = lapse_bytes_of("k"),
                                .value = lapse_bytes_of("v"),
                                .revision = 1,
                                .at = {bench.at}};
    cr_assert(lapse_model_emit(bench.model, &event, true, &bench.odd));
    cr_assert(lapse_model_told_all(bench.model, &bench.odd));
    cr_assert_not(lapse_model_emit(bench.model, &event, true, &bench.odd), "told twice");
    put(&bench, "marked", "k", "w");
    cr_assert_not(lapse_model_told_all(bench.model, &bench.odd), "not told");
    struct lapse_event expired = {.kind = LAPSE_EVENT_EXPIRED,
                                  .bucket = lapse_bytes_of("marked"),
                                  .key = lapse_bytes_of("k"),
                                  .revision = 3,
                                  .old_revision = 2,
                                  .at = {bench.at}};
    cr_assert_not(lapse_model_emit(bench.model, &expired, false, &bench.odd), "nothing has ended");
    lapse_model_close(bench.model);
}

Test(model, lets_the_reaper_tell_an_end_once_and_after_it_has_come) {
    struct bench bench;
    open_bench(&bench);
    struct lapse_command set = on(LAPSE_VERB_SET, "marked", "k");
    set.u.write.term = (struct lapse_term){.given = LAPSE_TERM_TTL, .ttl = {S(5)}};
    struct lapse_answer answer = told(&bench, LAPSE_OK);
    (void)right(&bench, &set, &answer);
    struct lapse_event expired = {.kind = LAPSE_EVENT_EXPIRED,
                                  .why = LAPSE_WHY_OWN,
                                  .bucket = lapse_bytes_of("marked"),
                                  .key = lapse_bytes_of("k"),
                                  .revision = 2,
                                  .old_revision = 1,
                                  .at = {S(6)}};
    struct lapse_event early = expired;
    early.at.ns = S(6) - 1;
    lapse_model_step(bench.model, early.at, (struct lapse_wall){setup.epoch.ns + early.at.ns});
    cr_assert_not(lapse_model_emit(bench.model, &early, false, &bench.odd));
    lapse_model_close(bench.model);

    open_bench(&bench);
    (void)right(&bench, &set, &answer);
    lapse_model_step(bench.model, expired.at, (struct lapse_wall){setup.epoch.ns + expired.at.ns});
    cr_assert(lapse_model_emit(bench.model, &expired, false, &bench.odd), "%s", bench.odd.expected);
    expired.revision = 3;
    cr_assert_not(lapse_model_emit(bench.model, &expired, false, &bench.odd));
    lapse_model_close(bench.model);
}

/* The rows of a store that has taken the calls of `fill`. */
enum { ROWS = 6 };
static void make_rows(struct lapse_row *rows) {
    for (size_t i = 0; i < 3; i++) {
        rows[i] = (struct lapse_row){.kind = LAPSE_ROW_BUCKET, .bucket = buckets[i].name};
        rows[i].bucket_row.config = buckets[i].config;
    }
    rows[0].revision = 1;
    rows[3] = (struct lapse_row){.kind = LAPSE_ROW_COUNTER, .revision = 1};
    rows[3].key = lapse_bytes_of("token");
    rows[4] = (struct lapse_row){.kind = LAPSE_ROW_RECORD, .revision = 1};
    rows[4].bucket = lapse_bytes_of("b");
    rows[4].key = lapse_bytes_of("k");
    rows[4].record.kind = LAPSE_RECORD_VALUE;
    rows[4].record.value = lapse_bytes_of("v");
    rows[4].record.end = (struct lapse_end){LAPSE_END_STEADY, S(61)};
    rows[4].record.source = LAPSE_SOURCE_DEFAULT;
    rows[4].record.span.ns = S(60);
    rows[5] = (struct lapse_row){.kind = LAPSE_ROW_LEASE};
    rows[5].key = lapse_bytes_of("job");
    rows[5].lease.owner = lapse_bytes_of("w1");
    rows[5].lease.token = 1;
    rows[5].lease.end = (struct lapse_end){LAPSE_END_STEADY, S(31)};
    rows[5].lease.span.ns = S(30);
}

static void fill(struct bench *bench) {
    open_bench(bench);
    put(bench, "b", "k", "v");
    struct lapse_command acquire = on(LAPSE_VERB_ACQUIRE, "", "job");
    acquire.u.lease.owner = lapse_bytes_of("w1");
    acquire.u.lease.span.ns = S(30);
    struct lapse_answer answer = told(bench, LAPSE_OK);
    (void)right(bench, &acquire, &answer);
}

static bool same_rows(struct bench *bench, const struct lapse_row *rows, size_t left_out) {
    lapse_model_view_begin(bench->model);
    for (size_t i = 0; i < ROWS; i++) {
        if (i != left_out) {
            cr_assert_eq(lapse_model_view_take(bench->model, &rows[i]), LAPSE_OK);
        }
    }
    return lapse_model_view_end(bench->model, &bench->odd);
}

Test(model, names_the_row_in_which_a_store_differs) {
    struct lapse_row rows[ROWS];
    struct bench bench;
    fill(&bench);
    make_rows(rows);
    cr_assert(same_rows(&bench, rows, ROWS), "%s", bench.odd.what);
    static const char *const missing[ROWS] = {"a bucket", "a bucket",   "a bucket",
                                              "the last", "a live key", "a lease"};
    for (size_t i = 0; i < ROWS; i++) {
        cr_assert_not(same_rows(&bench, rows, i), "without row %zu", i);
        expect_what(&bench, missing[i]);
    }
    for (int twist = 0; twist < 9; twist++) {
        make_rows(rows);
        rows[0].revision += twist == 0 ? 1 : 0;
        rows[1].bucket_row.config.markers.ns += twist == 1 ? 1 : 0;
        rows[3].revision += twist == 2 ? 1 : 0;
        rows[4].revision += twist == 3 ? 1 : 0;
        rows[4].record.end.ns += twist == 4 ? 1 : 0;
        rows[4].record.value = lapse_bytes_of(twist == 5 ? "w" : "v");
        rows[5].lease.token += twist == 6 ? 1 : 0;
        rows[5].lease.end.ns += twist == 7 ? 1 : 0;
        rows[5].lease.owner = lapse_bytes_of(twist == 8 ? "w2" : "w1");
        cr_assert_not(same_rows(&bench, rows, ROWS), "twist %d", twist);
    }
    struct lapse_row unknown = rows[4];
    unknown.key = lapse_bytes_of("other");
    lapse_model_view_begin(bench.model);
    (void)lapse_model_view_take(bench.model, &unknown);
    cr_assert_not(lapse_model_view_end(bench.model, &bench.odd));
    expect_what(&bench, "a key that nobody wrote");
    lapse_model_close(bench.model);
}

/* What has ended may still lie in storage, until the reaper comes. */
Test(model, lets_a_row_stay_that_has_ended) {
    struct lapse_row rows[ROWS];
    struct bench bench;
    fill(&bench);
    make_rows(rows);
    lapse_model_step(bench.model, (struct lapse_steady){S(61)}, (struct lapse_wall){S(1061)});
    cr_assert(same_rows(&bench, rows, ROWS), "%s", bench.odd.what);
    rows[4].record.end.ns++;
    cr_assert_not(same_rows(&bench, rows, ROWS));
    expect_what(&bench, "a key that is over");
    lapse_model_close(bench.model);
}

Test(model, leaves_open_what_a_crash_has_and_learns_from_answers) {
    struct bench bench;
    open_bench(&bench);
    put(&bench, "b", "k", "v");
    struct lapse_command set = on(LAPSE_VERB_SET, "b", "k");
    struct lapse_command get = on(LAPSE_VERB_GET, "b", "k");
    struct lapse_answer absent = told(&bench, LAPSE_ABSENT);
    lapse_model_tenure(bench.model, (struct lapse_steady){bench.at}, setup.epoch, false);
    lapse_model_maybe(bench.model, &set);
    struct lapse_answer answer = told(&bench, LAPSE_OK);
    answer.revision = 9;
    cr_assert(right(&bench, &get, &answer), "it may have been done");
    cr_assert(bench.must.open);
    cr_assert(right(&bench, &get, &absent), "or be gone: deleted by the same that wrote it");
    answer = told(&bench, LAPSE_OK);
    answer.revision = 12;
    answer.end = (struct lapse_end){LAPSE_END_STEADY, S(61)};
    answer.left.ns = S(60);
    cr_assert(right(&bench, &set, &answer), "%s", bench.odd.what);
    cr_assert_not(right(&bench, &get, &absent), "what was written since is known");
    lapse_model_close(bench.model);
}

/* ---- Memory that runs out at the nth call. */
struct scarce {
    size_t left;
};

/* By a policy the condition of a call is looked at before its request id. Of a refusal the wall
 * ends nothing for later calls, but the refused call itself has seen it. */
Test(model, looks_at_a_date_by_the_wall_of_the_call_in_hand) {
    struct lapse_setup newer = setup;
    struct bench bench = {.at = S(1)};
    newer.policies.value[LAPSE_POLICY_REQUEST] = 1;
    cr_assert_eq(lapse_model_open(lapse_alloc_libc(), &newer, &bench.model), LAPSE_OK);
    struct lapse_command set = on(LAPSE_VERB_SET, "marked", "k");
    set.request = lapse_bytes_of("r");
    set.u.write.term =
        (struct lapse_term){.given = LAPSE_TERM_EXPIRES_AT, .expires_at = {setup.epoch.ns + S(9)}};
    struct lapse_answer answer = told(&bench, LAPSE_OK);
    (void)right(&bench, &set, &answer);
    cr_assert_eq(bench.must.answer.status, LAPSE_OK);
    struct lapse_command create = on(LAPSE_VERB_CREATE, "marked", "k");
    create.request = set.request;
    for (int late = 0; late < 2; late++) {
        bench.at = S(8 + late);
        answer = told(&bench, late == 1 ? LAPSE_INVALID : LAPSE_EXISTS);
        cr_expect(right(&bench, &create, &answer), "%s", bench.odd.what);
    }
    lapse_model_close(bench.model);
}

static void *scarce_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    struct scarce *scarce = ctx;
    const lapse_alloc *libc = lapse_alloc_libc();
    if (new_bytes > old_bytes) {
        if (scarce->left == 0) {
            return NULL;
        }
        scarce->left--;
    }
    return libc->resize(libc->ctx, ptr, old_bytes, new_bytes);
}

/* Every path that takes memory; whether all went well. */
static bool use_all(const lapse_alloc *alloc) {
    struct bench bench = {.at = S(1)};
    if (lapse_model_open(alloc, &setup, &bench.model) != LAPSE_OK) {
        return false;
    }
    struct lapse_command calls[] = {
        on(LAPSE_VERB_SET, "marked", "k"), on(LAPSE_VERB_SET, "marked", "k"),
        on(LAPSE_VERB_ALL, "marked", ""),  on(LAPSE_VERB_HISTORY, "marked", "k"),
        on(LAPSE_VERB_ACQUIRE, "", "job"), on(LAPSE_VERB_SESSION, "", "s"),
        on(LAPSE_VERB_BATCH, "", ""),      on(LAPSE_VERB_BATCH, "", ""),
        on(LAPSE_VERB_SET, "idle", "k"),   on(LAPSE_VERB_GET, "idle", "k")};
    const struct lapse_command member = on(LAPSE_VERB_SET, "b", "k");
    calls[4].u.lease.owner = calls[5].u.session.owner = lapse_bytes_of("w1");
    calls[4].u.lease.span.ns = calls[5].u.session.span.ns = S(30);
    calls[6].u.batch.count = calls[7].u.batch.count = 1;
    calls[6].u.batch.commands = calls[7].u.batch.commands = &member;
    calls[6].request = calls[7].request = lapse_bytes_of("r1");
    enum lapse_status status = LAPSE_OK;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct lapse_answer answer = told(&bench, LAPSE_OK);
        bench.at += S(3);
        enum lapse_status came = lapse_model_apply(bench.model, &calls[i], &answer, 1, &bench.must);
        cr_assert(came == LAPSE_NOMEM || status == LAPSE_OK, "it recovered");
        status = came;
    }
    struct lapse_row rows[ROWS];
    make_rows(rows);
    lapse_model_view_begin(bench.model);
    for (size_t i = 0; i < ROWS; i++) {
        (void)lapse_model_view_take(bench.model, &rows[i]);
    }
    (void)lapse_model_view_end(bench.model, &bench.odd);
    lapse_model_close(bench.model);
    return status == LAPSE_OK;
}

Test(model, stands_every_failed_allocation) {
    struct scarce scarce = {0};
    const lapse_alloc alloc = {scarce_resize, &scarce};
    size_t needs = 0;
    for (scarce.left = 0; !use_all(&alloc); scarce.left = needs) {
        needs++;
        cr_assert_lt(needs, (size_t)500);
    }
    cr_assert_gt(needs, (size_t)5);
}

Test(model, speaks_for_strict_policies_and_for_those_that_differ_little) {
    struct lapse_policies policies = {{0}};
    cr_assert(lapse_model_covers(&policies));
    int covered = 0;
    for (size_t i = 0; i < LAPSE_POLICIES; i++) {
        policies.value[i] = 1;
        covered += lapse_model_covers(&policies) ? 1 : 0;
        policies.value[i] = 0;
    }
    cr_assert_eq(covered, 6);
    policies.value[LAPSE_POLICY_OLDER] = 1;
    cr_assert_not(lapse_model_covers(&policies));
}
