/* Tests of the loader: what a document becomes in the plan, copies and rows, and that no failing
 * allocation does harm. Broken files are the matter of bad_main.c. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load.h"

#define S LAPSE_NS_PER_S

/* An allocator that fails from its n-th request on, and counts what is held. */
struct meter {
    long left; /* requests that still succeed; below 0: all */
    long held;
};

static void *meter_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes);
static void load_text(const char *text, struct lapse_file *ret);
static const struct lapse_plan_step *step_of(const struct lapse_file *file, size_t plan,
                                             size_t step);

static const char story[] =
    "name: base\n"
    "actors:\n"
    "  a: [{acquire: jobs/x, for: 30s, save: t},\n"
    "      {every: 10s, extend: jobs/x, for: 30s, token: $t, until: lost, on_any: stop}]\n"
    "  b: {careful: true, margin: 1s, tasks: {main: [{await: $t}, {work: 5s, under: $t}]}}\n"
    "buckets: {k: {ttl: 1h}, locks: {ttl: 30s, locks: true}}\n"
    "resources: {r: {fenced: true}}\n"
    "steps:\n"
    "  - {at: 1s, by: a, set: k/c$n, value: v$n, times: 3, save: c$n, label: many}\n"
    "  - {after: 2s, by: b, update: k/c2, value: x, if_version: $c2, expect: {rev: {gt: $c3}}}\n"
    "  - {by: b, write: r, value: by-$t, token: $t, label: late}\n"
    "  - {at: 9s, pause: a, for: 4s}\n"
    "  - {at: 10s, holder: locks/l, is: absent}\n"
    "run_for: 60s\n"
    "expect: [{at: 20s, count: {granted: jobs/x, by: a}, is: {ge: 1}}, {gone: k/q}]\n"
    "violates: [FENCE-03]\n"
    "sometimes: [{written: locks/l}]\n";

Test(load, a_plan_has_what_the_document_says) {
    struct lapse_file file;
    load_text(story, &file);
    cr_assert_eq(file.plan_count, 1);
    const struct lapse_plan *plan = file.plans[0];
    const struct lapse_case *the_case = &plan->the_case;
    cr_expect_str_eq(plan->name, "base");
    cr_expect_eq(plan->row, -1);
    cr_expect_eq(plan->task_count, 4);
    cr_expect(plan->tasks[2].from_steps && plan->tasks[2].actor == 0);
    cr_expect(plan->setup.actors[1].careful && plan->setup.actors[1].margin.ns == S);
    cr_expect(plan->setup.buckets[1].locks && plan->setup.resources[0].fenced);
    cr_expect_eq(plan->setup.reap_bound.ns, S);
    cr_expect_eq(plan->setup.epoch.ns, INT64_C(946684800) * S);
    cr_expect_eq(the_case->slot_count, 4);
    cr_expect_str_eq(the_case->slot_names[3], "c3");
    const struct lapse_plan_step *loop = step_of(&file, 0, 1);
    cr_expect_eq(loop->kind, LAPSE_STEP_LOOP);
    cr_expect(!loop->u.loop.beside && loop->u.loop.body_count == 1 && loop->u.loop.body[0] == 2);
    cr_expect_eq(loop->u.loop.until_statuses, LAPSE_HANDLED_BIT(LAPSE_LOST));
    cr_expect(step_of(&file, 0, 2)->loop == 0 &&
              step_of(&file, 0, 2)->u.call.token.kind == LAPSE_OPERAND_SLOT);
    cr_expect((the_case->checks[2].handled & LAPSE_HANDLED_BIT(LAPSE_UNKNOWN)) != 0);
    cr_expect((the_case->checks[2].handled & LAPSE_HANDLED_BIT(LAPSE_OK)) == 0);
    cr_expect_eq(step_of(&file, 0, 5)->times, 3);
    cr_expect(step_of(&file, 0, 5)->save.indexed);
    cr_expect_eq(step_of(&file, 0, 6)->when.ns, 3 * S);
    cr_expect_eq(step_of(&file, 0, 6)->u.call.if_version.slot.base, 2);
    cr_expect_eq(step_of(&file, 0, 7)->when.ns, 3 * S);
    cr_expect_eq(step_of(&file, 0, 7)->u.call.value.part_count, 2);
    cr_expect_eq(step_of(&file, 0, 8)->u.fault.for_ns, 4 * S);
    cr_expect(step_of(&file, 0, 9)->u.probe.key_lock);
    cr_expect(plan->world_step_count == 2 && plan->final_count == 2);
    cr_expect_eq(step_of(&file, 0, 10)->when.ns, 20 * S);
    cr_expect_eq(step_of(&file, 0, 11)->when.ns, LAPSE_FINAL_AT_END);
    cr_expect(the_case->checks[10].count != NULL && the_case->checks[5].must_run);
    cr_expect_str_eq(the_case->checks[5].contract, "KV-01");
    cr_expect_eq(the_case->checks[6].place.line, 10);
    cr_expect_str_eq(the_case->violates[0], "FENCE-03");
    for (size_t i = 0; i < plan->step_count; i++) {
        cr_expect_not_null(the_case->checks[i].expect, "step %zu", i);
    }
    lapse_file_free(&file);
}

Test(load, vary_tries_both_ends_and_each_duration_inside_with_a_nanosecond_less_and_more) {
    struct lapse_file file;
    load_text("name: v\n"
              "vary: {p: 0s..60s, q: [a, b]}\n"
              "steps:\n"
              "  - {at: 10s, pause: client, for: $p}\n"
              "  - {at: 10s+$p, acquire: $q, for: 2*$p}\n"
              "  - {at: 90s, acquire: x, for: 60s}\n",
              &file);
    static const int64_t want[] = {0, 10 * S - 1, 10 * S, 10 * S + 1, 60 * S};
    cr_assert_eq(file.plan_count, 10);
    for (size_t i = 0; i < 10; i++) {
        cr_expect_eq(step_of(&file, i, 0)->u.fault.for_ns, want[i / 2]);
        cr_expect_eq(step_of(&file, i, 1)->u.call.span.number, 2 * want[i / 2]);
        cr_expect_eq(step_of(&file, i, 1)->when.ns, 10 * S + want[i / 2]);
        cr_expect_eq(file.plans[i]->row, (int32_t)i);
    }
    cr_expect_str_eq(file.plans[3]->name, "v [p=9s999ms999us999ns, q=b]");
    lapse_file_free(&file);
}

Test(load, like_copies_and_change_drop_and_add_edit_the_copy) {
    struct lapse_file file;
    char text[2048];
    int len = snprintf(text, sizeof(text), "%s%s", story,
                       "---\n"
                       "name: copy\n"
                       "like: base\n"
                       "drop: [many]\n"
                       "change: {late: {value: y, token: null}}\n"
                       "buckets: {k: null, z: {idle: 1h}, locks: {ttl: 5s}}\n"
                       "steps:\n"
                       "  - {at: 1s, by: b, acquire: j, for: 1s, label: many}\n"
                       "  - {after: 2s, by: b, write: r, value: x, token: 3, label: late}\n"
                       "  - {by: b, inspect: j}\n"
                       "add: [{at: 3s, by: b, release: j}, {at: 2s, by: b, extend: j, for: 1s}]\n"
                       "expect: []\n");
    cr_assert(len > 0 && (size_t)len < sizeof(text));
    load_text(text, &file);
    cr_assert_eq(file.plan_count, 2);
    const struct lapse_plan *copy = file.plans[1];
    const struct lapse_plan_task *task = &copy->tasks[copy->task_count - 1];
    static const int verbs[] = {LAPSE_VERB_EXTEND, LAPSE_CALL_WRITE, LAPSE_VERB_INSPECT,
                                LAPSE_VERB_RELEASE};
    static const int64_t times[] = {2 * S, 3 * S, 3 * S, 3 * S};
    cr_assert_eq(task->step_count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct lapse_plan_step *step = &copy->steps[task->steps[i]];
        cr_expect_eq(step->u.call.verb, verbs[i]);
        cr_expect_eq(step->when.ns, times[i]);
    }
    const struct lapse_plan_step *late = &copy->steps[task->steps[1]];
    cr_expect(late->u.call.token.kind == 0 && late->u.call.value.parts[0].literal.data[0] == 'y');
    cr_expect_eq(copy->setup.bucket_count, 2);
    cr_expect(copy->setup.buckets[0].locks && copy->setup.buckets[0].config.term.ttl.ns == 5 * S);
    cr_expect(copy->the_case.violates_count == 0 && copy->the_case.sometimes_count == 0);
    cr_expect(copy->has_run_for && copy->line_first == 18);
    lapse_file_free(&file);
}

Test(load, a_single_quoted_text_is_what_yaml_says) {
    static const struct {
        const char *written, *text;
    } cases[] = {
        {"'it''s'", "it's"},
        {"'''''e\n '", "''e "},
        {"' a  b '", " a  b "},
        {"'a  \n\n\n  b'", "a\n\nb"},
        {"'\n  b''''  \n  xa'", " b'' xa"},
        {"'a\n  b'", "a b"},
        {"'\\n'", "\\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lapse_file file;
        char text[256];
        (void)snprintf(text, sizeof(text), "name: %s\nsteps: [{acquire: '%s', for: 1s}]\n",
                       cases[i].written, "''''''''''''''''''''''''''''''''''''''''''''''''");
        load_text(text, &file);
        cr_expect_str_eq(file.plans[0]->name, cases[i].text);
        lapse_file_free(&file);
    }
}

Test(load, a_failing_allocation_is_nomem_and_leaks_nothing) {
    enum lapse_status status = LAPSE_NOMEM;
    for (long n = 0; status == LAPSE_NOMEM; n++) {
        struct meter meter = {n, 0};
        lapse_alloc alloc = {meter_resize, &meter};
        struct lapse_file file;
        status = lapse_file_load(&alloc, "story.yaml", story, strlen(story), &file);
        cr_assert(status == LAPSE_NOMEM || n > 50);
        cr_assert(status == LAPSE_NOMEM ? file.plan_count == 0 : file.plan_count == 1);
        lapse_file_free(&file);
        cr_assert_eq(meter.held, 0, "after %ld requests %ld are held", n, meter.held);
    }
    cr_assert_eq(status, LAPSE_OK);
}

Test(load, a_file_that_is_not_there_is_io) {
    struct lapse_file file;
    struct lapse_error err = {0};
    cr_expect_eq(lapse_file_read(lapse_alloc_libc(), "no-such.yaml", &file, &err), LAPSE_IO);
    cr_expect_not_null(strstr(err.message, "no-such.yaml"));
    lapse_file_free(&file);
}

static void *meter_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    struct meter *meter = ctx;
    (void)old_bytes;
    if (new_bytes == 0) {
        meter->held -= ptr == NULL ? 0 : 1;
        free(ptr);
        return NULL;
    }
    if (meter->left == 0) {
        return NULL;
    }
    meter->left--;
    void *moved = realloc(ptr, new_bytes);
    meter->held += ptr == NULL && moved != NULL ? 1 : 0;
    return moved;
}

static void load_text(const char *text, struct lapse_file *ret) {
    enum lapse_status status =
        lapse_file_load(lapse_alloc_libc(), "test.yaml", text, strlen(text), ret);
    for (size_t i = 0; i < ret->diags.count; i++) {
        const struct lapse_diag *diag = ret->diags.items[i];
        cr_log_error("%d:%d %s %s", diag->labels[0].place.line, diag->labels[0].place.column,
                     diag->code, diag->message);
    }
    cr_assert_eq(status, LAPSE_OK);
}

static const struct lapse_plan_step *step_of(const struct lapse_file *file, size_t plan,
                                             size_t step) {
    cr_assert(plan < file->plan_count && step < file->plans[plan]->step_count);
    return &file->plans[plan]->steps[step];
}
