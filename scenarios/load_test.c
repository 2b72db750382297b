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

Test(load, a_loop_says_how_soon_it_asks_again) {
    struct lapse_file file;
    load_text("lapse: 1\nname: a\nrun_for: 60s\nactors:\n  a: [{every: 10s, acquire: j, for: 5s,"
              " timeout: 2s, on_held: {again: 3s}, on_unknown: {again: 1s}}]\n"
              "  b: [{every: 10s, acquire: j, for: 5s, on_held: next}]\n",
              &file);
    cr_assert_eq(file.plan_count, 1);
    const struct lapse_setup *setup = &file.plans[0]->setup;
    cr_assert_eq(setup->loop_count, 2);
    cr_expect_eq(setup->loops[0].retry.ns, S);
    cr_expect_eq(setup->loops[1].retry.ns, 0);
    cr_expect(lapse_bytes_equal(setup->profile, lapse_bytes_of("strict")));
    lapse_file_free(&file);
}

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
    cr_expect_eq(step_of(&file, 0, 6)->times, 0);
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

Test(load, a_range_takes_every_duration_of_the_document_also_those_of_other_names) {
    struct lapse_file file;
    load_text("name: v\n"
              "vary: {p: 0s..30s, q: [5s, 7s], r: 1s..2s, w: [a, 29s]}\n"
              "buckets: {b: {ttl: 20s}}\n"
              "steps:\n"
              "  - {at: 10s+$q, acquire: x-$w, for: 1h}\n"
              "  - {at: 1m+$p, acquire: y, for: $r}\n"
              "  - {at: 2m, set: b/k, value: 3s, expires_at: now+$q}\n"
              "  - {at: 2m, set: b/k, value: '4s'}\n",
              &file);
    static const int64_t inside[] = {3, 5, 7, 15, 17, 20, 29};
    int64_t want[23] = {0};
    size_t count = 1;
    for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++) {
        for (int64_t by = -1; by <= 1; by++) {
            want[count++] = inside[i] * S + by;
        }
    }
    want[count++] = 30 * S;
    /* Of each value of p: two of q, two of r (nothing lies inside), two of w. */
    cr_assert_eq(file.plan_count, count * 8);
    for (size_t i = 0; i < file.plan_count; i++) {
        cr_expect_eq(step_of(&file, i, 1)->when.ns, 60 * S + want[i / 8]);
    }
    lapse_file_free(&file);
}

Test(load, times_is_0_where_the_word_is_not_written_and_1_where_1_is) {
    struct lapse_file file;
    load_text("name: t\n"
              "buckets: {b: {}}\n"
              "steps:\n"
              "  - {at: 0s, set: b/x, value: v}\n"
              "  - {at: 0s, set: b/k$n, value: v, times: 1, save: s$n}\n"
              "  - {at: 0s, set: b/k$n, value: v, times: 2}\n"
              "  - {every: 1s, times: 1, set: b/l$n, value: v}\n",
              &file);
    static const int32_t times[] = {0, 1, 2, 0, 0};
    for (size_t i = 0; i < 5; i++) {
        cr_expect_eq(step_of(&file, 0, i)->times, times[i], "step %zu", i);
    }
    cr_expect_eq(step_of(&file, 0, 3)->u.loop.times, 1);
    lapse_file_free(&file);
}

Test(load, keys_of_a_listing_are_bare_or_of_their_bucket) {
    struct lapse_file file;
    load_text("name: k\n"
              "buckets: {b: {}, c: {}}\n"
              "steps:\n"
              "  - {at: 0s, list: b, expect: [b/k, k, b/c/k, d/k]}\n"
              "  - {at: 0s, all: b, expect: {keys: [b/k, k, b/c/k, d/k]}}\n"
              "expect:\n"
              "  - {list: b, expect: [b/k, k, b/c/k, d/k]}\n",
              &file);
    static const char *const keys[] = {"k", "k", "c/k", "d/k"};
    for (size_t i = 0; i < 3; i++) {
        const struct lapse_expect *expect = file.plans[0]->the_case.checks[i].expect;
        const struct lapse_operand *operands =
            i == 1 ? expect->compares[0].operands : expect->operands;
        for (size_t j = 0; j < 4; j++) {
            cr_expect(lapse_bytes_equal(operands[j].text.parts[0].literal, lapse_bytes_of(keys[j])),
                      "step %zu, key %zu", i, j);
        }
    }
    lapse_file_free(&file);
}

Test(load, what_vary_moves_is_no_mistake_where_another_row_is_right) {
    struct lapse_file file;
    load_text("name: m\n"
              "vary: {keep: [true, false], when: [5s, 15s], who: [w, v]}\n"
              "buckets: {b: {ttl: 5s, markers: $keep}}\n"
              "actors: [w, v]\n"
              "steps: [{at: 0s, by: w, set: b/k, value: x}]\n"
              "faults:\n"
              "  - {at: $when, pause: w}\n"
              "  - {at: 10s, resume: w}\n"
              "  - {at: 1s, crash: $who}\n"
              "  - {at: 2s, restart: w}\n"
              "expect: [{count: {expired: b/k}, is: {le: 1}}]\n"
              "run_for: 20s\n",
              &file);
    cr_expect_eq(file.plan_count, 8);
    lapse_file_free(&file);
}

Test(load, a_line_changed_in_a_copy_is_shown_in_the_copy) {
    struct lapse_file file;
    load_text("name: base\n"
              "steps:\n"
              "  - {at: 0s, acquire: x, for: 1s, label: a}\n"
              "  - {at: 1s, inspect: x, expect: absent, label: b}\n"
              "  - {at: 2s, inspect: x, expect: absent, label: c}\n"
              "---\n"
              "# Not a word yet.\n"
              "name: copy\n"
              "like: base\n"
              "change:\n"
              "  a: {for: 9s}\n"
              "  b: {at: 1s, inspect: x, expect: held_by}\n"
              "  c: {expect: {owner: client}}\n",
              &file);
    static const struct lapse_place places[] = {
        {NULL, 11, 6, 9}, {NULL, 12, 15, 10}, {NULL, 13, 6, 25}};
    const struct lapse_plan *copy = file.plans[1];
    for (size_t i = 0; i < 3; i++) {
        const struct lapse_step_check *check = &copy->the_case.checks[i];
        cr_expect_eq(check->place.line, places[i].line);
        cr_expect_eq(check->place.column, places[i].column);
        cr_expect_eq(check->place.span, places[i].span);
        cr_expect_eq(check->who.line, 3 + (int)i);
    }
    cr_expect_eq(copy->the_case.checks[2].expect->compares[0].place.line, 13);
    cr_expect_eq(file.plans[0]->the_case.checks[2].place.line, 5);
    cr_expect(file.plans[0]->line_begin == 1 && file.plans[0]->line_first == 1 &&
              file.plans[0]->line_last == 5);
    cr_expect(copy->line_begin == 6 && copy->line_first == 8 && copy->line_last == 13);
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
    cr_expect(copy->has_run_for && copy->line_begin == 18 && copy->line_first == 19);
    lapse_file_free(&file);
}

/* Words of the engine's stage, each in a line of its own. */
static const char engine_story[] =
    "name: engine\n"
    "profile: nats\n"
    "policy: {wall_back: frozen, older_value: absent}\n"
    "store: {kind: sqlite, sync: normal}\n"
    "buckets: {b: {idle: 1h, cap: 1d, history: 64, markers: 2h}, c: {}}\n"
    "steps:\n"
    "  - {at: 0s, session: s1, for: 30s, id: r1, save: s}\n"
    "  - {set: b/k, value: x, session: s1, id: r-$s, save: v, expect: {repeated: false}}\n"
    "  - {set: c/k, value: x, term: keep, if_version: $v}\n"
    "  - {create: c/i, value: x, idle: 10s, cap: 1m, expect: [ok, lost]}\n"
    "  - {get: b/k, rev: $v, peek: true}\n"
    "  - {history: b/k, limit: 3, expect: [x, delete, purge, expired, {value: purge}, 'delete']}\n"
    "  - {list: b, after: b/j$n, limit: 2, times: 2, expect: {keys: [k], more: true}}\n"
    "  - {after: 1s, count: b}\n"
    "  - {acquire: jobs/x, session: s1, durability: ephemeral, expect: lost}\n"
    "  - batch: [{set: b/k, value: y, if_version: $v}, {acquire: jobs/y, session: s1},\n"
    "            {close: s1}]\n"
    "    id: r2\n"
    "    expect: [ok, conflict]\n"
    "  - {keepalive: s1, expect: lost}\n"
    "  - {alter: c, ttl: 1h, history: 65, markers: true, expect: invalid}\n"
    "  - {watch: b, from: $v, as: w}\n"
    "  - {watch: c, from: 7}\n"
    "  - {reap: n1}\n"
    "  - {rows: b, is: {le: 3}}\n"
    "  - {events: w, expect: [{expired: k, why: session}]}\n"
    "  - {at: 2s, crash: n1, for: 1s}\n"
    "  - {at: 5s, suspend: n1}\n"
    "  - {at: 6s, resume: n1}\n"
    "  - {at: 7s, clock: n1, wall: -200s}\n"
    "  - {at: 7s, clock: n1, to: epoch+1h}\n"
    "  - {at: 8s, restart: n1, machine: true}\n"
    "expect: [{history: b/k, expect: absent}, {rows: c, is: 0}]\n";

Test(load, a_plan_has_the_words_of_records_sessions_and_batches) {
    struct lapse_file file;
    load_text(engine_story, &file);
    cr_assert_eq(file.plan_count, 1);
    const struct lapse_plan_call *call = &step_of(&file, 0, 0)->u.call;
    cr_expect(call->verb == LAPSE_VERB_SESSION && call->span.number == 30 * S);
    cr_expect(call->request.part_count == 1 && call->session.part_count == 0);
    call = &step_of(&file, 0, 1)->u.call;
    cr_expect(call->session.part_count == 1 && call->request.part_count == 2);
    cr_expect(step_of(&file, 0, 2)->u.call.keep && !call->keep);
    call = &step_of(&file, 0, 3)->u.call;
    cr_expect(call->idle.number == 10 * S && call->cap.number == 60 * S);
    call = &step_of(&file, 0, 4)->u.call;
    cr_expect(call->peek && call->rev.kind == LAPSE_OPERAND_SLOT);
    call = &step_of(&file, 0, 6)->u.call;
    cr_expect(call->has_after && call->after.part_count == 2 && call->limit == 2);
    cr_expect_eq(step_of(&file, 0, 6)->when.ns, 0);
    cr_expect_eq(step_of(&file, 0, 7)->when.ns, S);
    cr_expect_not(step_of(&file, 0, 7)->u.call.has_after);
    call = &step_of(&file, 0, 8)->u.call;
    cr_expect(call->durability == LAPSE_EPHEMERAL && call->span.kind == 0);
    call = &step_of(&file, 0, 9)->u.call;
    cr_assert(call->verb == LAPSE_VERB_BATCH && call->batch_count == 3);
    cr_expect(call->batch[0].if_version.kind == LAPSE_OPERAND_SLOT && call->batch[0].bucket == 0);
    cr_expect(call->batch[1].session.part_count == 1 && call->batch[2].verb == LAPSE_VERB_CLOSE);
    cr_expect_eq(step_of(&file, 0, 10)->u.call.span.kind, 0);
    call = &step_of(&file, 0, 11)->u.call;
    cr_expect(call->verb == LAPSE_VERB_ALTER && call->config.history == 65 && call->bucket == 1);
    call = &step_of(&file, 0, 12)->u.call;
    cr_expect(call->from == LAPSE_WATCH_REVISION && call->rev.kind == LAPSE_OPERAND_SLOT);
    cr_expect_eq(step_of(&file, 0, 13)->u.call.rev.number, 7);
    lapse_file_free(&file);
}

Test(load, a_history_lists_values_and_what_other_records_are) {
    struct lapse_file file;
    load_text(engine_story, &file);
    const struct lapse_expect *expect = file.plans[0]->the_case.checks[5].expect;
    static const int64_t kinds[] = {
        0, LAPSE_RECORD_TOMBSTONE, LAPSE_RECORD_PURGE, LAPSE_RECORD_MARKER, 0, 0};
    cr_assert(expect->kind == LAPSE_EXPECT_KEYS && expect->operand_count == 6);
    for (size_t i = 0; i < 6; i++) {
        const struct lapse_operand *operand = &expect->operands[i];
        cr_expect_eq(operand->number, kinds[i], "record %zu", i);
        cr_expect_eq(operand->kind, kinds[i] == 0 ? LAPSE_OPERAND_TEXT : LAPSE_OPERAND_RECORD);
    }
    lapse_file_free(&file);
}

Test(load, a_plan_has_its_profile_its_store_and_the_faults_of_its_node) {
    struct lapse_file file;
    load_text(engine_story, &file);
    const struct lapse_plan *plan = file.plans[0];
    struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_NATS);
    policies.value[LAPSE_POLICY_WALL_BACK] = 2;
    policies.value[LAPSE_POLICY_OLDER] = 0;
    cr_expect(lapse_bytes_equal(plan->setup.profile, lapse_bytes_of("nats")));
    cr_expect_eq(lapse_policies_code(&plan->setup.policies), lapse_policies_code(&policies));
    cr_expect(plan->store == LAPSE_STORE_SQLITE && plan->setup.durable);
    cr_expect_eq(plan->setup.sync, LAPSE_SYNC_NORMAL);
    const struct lapse_bucket_config *config = &plan->setup.buckets[0].config;
    cr_expect(config->history == 64 && config->term.cap.ns == 86400 * S);
    cr_expect(step_of(&file, 0, 14)->kind == LAPSE_STEP_OPERATOR &&
              step_of(&file, 0, 14)->actor == -1);
    cr_expect_eq(step_of(&file, 0, 15)->u.probe.kind, LAPSE_PROBE_ROWS);
    cr_expect_eq(plan->the_case.checks[16].expect->events[0].why, LAPSE_WHY_SESSION);
    const struct lapse_plan_fault *fault = &step_of(&file, 0, 17)->u.fault;
    cr_expect(fault->kind == LAPSE_FAULT_CRASH && fault->node == 0 && fault->for_ns == S);
    cr_expect_eq(step_of(&file, 0, 18)->u.fault.kind, LAPSE_FAULT_SUSPEND);
    fault = &step_of(&file, 0, 19)->u.fault;
    cr_expect(fault->kind == LAPSE_FAULT_SUSPEND && fault->ends);
    cr_expect_eq(step_of(&file, 0, 20)->u.fault.clock.wall_ns, -200 * S);
    fault = &step_of(&file, 0, 21)->u.fault;
    cr_expect(fault->clock.has_to && fault->clock.to.number == (INT64_C(946684800) + 3600) * S);
    fault = &step_of(&file, 0, 22)->u.fault;
    cr_expect(fault->kind == LAPSE_FAULT_RESTART && fault->machine && fault->node == 0);
    cr_expect_eq(step_of(&file, 0, 23)->u.probe.verb, LAPSE_VERB_HISTORY);
    cr_expect_eq(plan->world_step_count, 9);
    lapse_file_free(&file);
}

Test(load, a_store_that_falls_keeps_its_rows_in_memory_unless_told) {
    static const struct {
        const char *words;
        enum lapse_store_kind store;
        enum lapse_sync sync;
    } cases[] = {
        {"steps: [{pause: n1, for: 1s}]\n", LAPSE_STORE_NONE, LAPSE_SYNC_NONE},
        {"steps: [{crash: client}]\n", LAPSE_STORE_NONE, LAPSE_SYNC_NONE},
        {"steps: [{crash: n1, for: 1s}]\n", LAPSE_STORE_MEMORY, LAPSE_SYNC_FULL},
        {"steps: [{reap: n1}]\nfaults: [{at: 0s, restart: n1}]\n", LAPSE_STORE_MEMORY,
         LAPSE_SYNC_FULL},
        {"store: {}\nsteps: [{reap: n1}]\n", LAPSE_STORE_MEMORY, LAPSE_SYNC_FULL},
        {"store: {sync: none}\nsteps: [{restart: n1}]\n", LAPSE_STORE_MEMORY, LAPSE_SYNC_NONE},
        {"store: {kind: sqlite}\nsteps: [{reap: n1}]\n", LAPSE_STORE_SQLITE, LAPSE_SYNC_FULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lapse_file file;
        load_text(cases[i].words, &file);
        const struct lapse_plan *plan = file.plans[0];
        cr_expect_eq(plan->store, cases[i].store, "case %zu", i);
        cr_expect_eq(plan->setup.sync, cases[i].sync, "case %zu", i);
        cr_expect_eq(plan->setup.durable, plan->store != LAPSE_STORE_NONE, "case %zu", i);
        cr_expect_eq(lapse_policies_code(&plan->setup.policies), 0);
        lapse_file_free(&file);
    }
}

Test(load, a_resume_ends_what_began_last) {
    struct lapse_file file;
    load_text("faults:\n"
              "  - {at: 4s, resume: n1}\n"
              "  - {at: 1s, suspend: n1}\n"
              "  - {at: 2s, pause: n1}\n"
              "  - {at: 3s, pause: client}\n"
              "  - {at: 9s, suspend: n1}\n"
              "steps: [{at: 5s, resume: client}, {at: 20s, resume: n1}]\n",
              &file);
    cr_expect_eq(step_of(&file, 0, 0)->u.fault.kind, LAPSE_FAULT_PAUSE);
    cr_expect_eq(step_of(&file, 0, 5)->u.fault.kind, LAPSE_FAULT_PAUSE);
    cr_expect_eq(step_of(&file, 0, 6)->u.fault.kind, LAPSE_FAULT_SUSPEND);
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
    const char *const stories[] = {story, engine_story};
    for (size_t i = 0; i < 2; i++) {
        enum lapse_status status = LAPSE_NOMEM;
        for (long n = 0; status == LAPSE_NOMEM; n++) {
            struct meter meter = {n, 0};
            lapse_alloc alloc = {meter_resize, &meter};
            struct lapse_file file;
            status = lapse_file_load(&alloc, "story.yaml", stories[i], strlen(stories[i]), &file);
            cr_assert(status == LAPSE_NOMEM || n > 50);
            cr_assert(status == LAPSE_NOMEM ? file.plan_count == 0 : file.plan_count == 1);
            lapse_file_free(&file);
            cr_assert_eq(meter.held, 0, "after %ld requests %ld are held", n, meter.held);
        }
        cr_assert_eq(status, LAPSE_OK);
    }
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
