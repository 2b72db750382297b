/* Tests of emission: what is written, what cannot be, and that equality looks at every field. That
 * all suites come back equal is the matter of emit_main.c, drawn documents that of random_main.c.
 */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emitter.h"
#include "equal.h"
#include "scenarios/emit.h"

/* An allocator that fails from its n-th request on, and counts what is held. */
struct meter {
    long left; /* requests that still succeed; below 0: all */
    long held;
};

static void *meter_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes);
static void load(const char *text, struct lapse_file *ret);
static enum lapse_status emit(const struct lapse_file *file, struct lapse_emitted *ret,
                              struct lapse_error *err);
static void spoil(struct lapse_plan *plan, size_t what);
static bool follows(size_t end, size_t at);
static void add_types(const struct lapse_shape_field *field, const struct lapse_shape_type **seen,
                      size_t *count, size_t most);
static void flip_all(const struct lapse_shape_type *type, unsigned char *thing,
                     const struct lapse_plan *plan, const struct lapse_plan *same, size_t *flips);
static void flip_leaf(const struct lapse_shape_type *type, unsigned char *leaf,
                      const struct lapse_plan *plan, const struct lapse_plan *same, size_t *flips);

static const char story[] =
    "lapse: 1\n"
    "name: the whole of it\n"
    "profile: nats\n"
    "policy: {acquire_again: same}\n"
    "store: {kind: sqlite, sync: normal}\n"
    "epoch: 2026-01-31T00:00:00Z\n"
    "bounds: {rate: 200ppm, wall: 1s}\n"
    "clocks: {a: {wall: +2s, tick: 1ms}, r: {rate: -50ppb}}\n"
    "chaos: {stop_at: 30s, pause: {who: [b], for: 1s..5s}, loss: 0.5%, disk: [fail, rot]}\n"
    "buckets: {k: {ttl: 1h, markers: true}, locks: {ttl: 30s, locks: true}}\n"
    "resources: {r: {fenced: true, lease: jobs/x, bar: ends}}\n"
    "actors:\n"
    "  a: [{acquire: jobs/x, for: 30s, save: t},\n"
    "      {every: 10s, extend: jobs/x, for: 30s, token: $t, until: lost, on_any: stop}]\n"
    "  b: {careful: true, margin: 1s, owner: me, timer: boot,\n"
    "      tasks: {main: [{await: $t}, {work: 5s, under: $t}], more: [{every: 7s, times: 2,\n"
    "      do: [{get: k/c$n, peek: true}, {after: 1s, unchanged: k/c1, for: 2s}]}]}}\n"
    "  c: {program: quorum_lock, with: {name: q}}\n"
    "steps:\n"
    "  - {at: 1s, by: a, set: k/c$n, value: v$n, times: 3, save: c$n}\n"
    "  - {after: 2s, by: b, update: k/c2, value: x, if_version: $c2, expect: {rev: {gt: $c3}}}\n"
    "  - {by: b, write: r, value: by-$t.end, token: $t, label: late, reply: lost}\n"
    "  - {at: 9s, pause: a, for: 4s}\n"
    "  - {at: 9s, by: a, watch: k, as: w, from: live}\n"
    "  - {at: 9s, by: a, batch: [{set: k/b, value: x}, {release: jobs/x}], id: r1}\n"
    "  - {at: 9s, by: b, get: k/b, expect: [x, absent], need: x, else: {again: 1s}}\n"
    "  - {at: 9s, by: b, list: k, limit: 2, after: k/a, expect: {keys: [b], more: true}}\n"
    "  - {at: 10s, holder: locks/l, is: absent}\n"
    "  - {at: 10s, believes: jobs/x, who: [a, b]}\n"
    "  - {at: 10s, events: w, expect: [put k/b, {expired: k/c1, at: 1h, why: own}]}\n"
    "  - {at: 11s, backup: n1, as: B}\n"
    "  - {at: 12s, restore: n1, from: B, restored: true}\n"
    "faults:\n"
    "  - {when: late.arrived, nth: 2, crash: n1, for: 1s}\n"
    "  - {at: 5s, link: a-n1, latency: 5ms..40ms, for: 9s}\n"
    "  - {at: 5s, clock: b, to: 2026-02-01T00:00:00Z}\n"
    "  - {at: 6s, starve: b.more, for: 1s}\n"
    "run_for: 60s\n"
    "expect: [{at: 20s, count: {granted: jobs/x, by: a}, is: {ge: 1}}, {gone: k/q},\n"
    "         {measured: m, is: {le: 5s}}]\n"
    "measure: {m: {from: {crash: a}, to: {granted: jobs/x, at: 3s}}}\n"
    "violates: [FENCE-03]\n"
    "sometimes: [{written: locks/l}]\n";

static const char short_story[] =
    "name: short\n"
    "buckets: {b: {ttl: 1h}}\n"
    "actors:\n"
    "  a: [{acquire: jobs/x, for: 30s, save: t, on_held: next},\n"
    "      {every: 10s, until: lost, do: [{extend: jobs/x, for: 30s}, {get: b/k}]}]\n"
    "  b: {}\n"
    "steps:\n"
    "  - {at: 1s, by: a, set: b/k, value: v}\n"
    "  - {at: 2s, holder: jobs/x, is: a}\n"
    "  - {at: 3s, gone: b/k}\n"
    "run_for: 60s\n";

Test(emit, every_word_that_runs_can_be_written) {
    size_t count = 0;
    const struct lapse_word *table = lapse_word_table(&count);
    for (size_t i = 0; i < count; i++) {
        cr_expect(table[i].stage > LAPSE_STAGE_NOW ||
                      lapse_emit_knows(table[i].kind, table[i].word),
                  "`%s` of kind %d", table[i].word, (int)table[i].kind);
        char word[64];
        const char *rest = table[i].arguments;
        while ((rest = lapse_words_next(rest, word, sizeof(word))) != NULL) {
            const struct lapse_word *argument = lapse_word_find(LAPSE_WORD_ARGUMENT, word);
            argument = argument == NULL ? lapse_word_find(LAPSE_WORD_STEP, word) : argument;
            cr_expect_not_null(argument, "`%s` takes `%s`, which has no row", table[i].word, word);
        }
    }
    cr_expect_not(lapse_emit_knows(LAPSE_WORD_VERB, "put"));
    cr_expect_not(lapse_emit_knows(LAPSE_WORD_FIELD, "put_off"));
}

Test(emit, a_document_is_written_as_a_person_would) {
    static const struct {
        const char *text, *written;
    } rows[] = {
        {"lapse: 1\nname: a code\nabout: gone\nbuckets: {codes: {ttl: 900s}, b: }\nsteps:\n"
         "- {at: 0s, set: codes/c1, value: user-42}\n"
         "- {after: 899999999999ns, get: codes/c1, expect: user-42}\n- {after: 1ns, gone: "
         "codes/c1}\n",
         "lapse: 1\nname: a code\nbuckets: {codes: {ttl: 15m}, b: {}}\nsteps:\n"
         "  - {at: 0s, set: codes/c1, value: user-42}\n"
         "  - {at: 15m-1ns, get: codes/c1, expect: user-42}\n  - {at: 15m, gone: codes/c1}\n"},
        {"name: one row\nvary: {end: [1d]}\nrun_for: $end\nactors:\n  a: {tasks: {main: [{every: "
         "10s,\n"
         "   do: [{create: locks/job, value: a, on_exists: next}], until: ok}]}}\n"
         "buckets: {locks: {ttl: 30s, locks: true}}\nviolates: [LEASE-10]\n",
         "lapse: 1\nname: one row [end=1d]\nbuckets: {locks: {ttl: 30s, locks: true}}\n"
         "actors: {a: [{every: 10s, create: locks/job, value: a, until: ok, on_exists: next}]}\n"
         "run_for: 1d\nviolates: [LEASE-10]\n"},
        {"name: long\nbuckets: {b: {}}\nsteps: [{set: b/k, value: "
         "a long text that fills most of the line, ttl: 1000000000ns, save: a_long_name_too,\n"
         " expect: {end: 1s, rev: {gt: 3}}}]\n",
         "lapse: 1\nname: long\nbuckets: {b: {}}\nsteps:\n  - at: 0s\n    set: b/k\n"
         "    value: a long text that fills most of the line\n    ttl: 1s\n"
         "    save: a_long_name_too\n    expect: {end: 1s, rev: {gt: 3}}\n"},
        {"name: names\nactors: [a, b]\nsteps: [{by: b, acquire: j, for: 1s}, {gone: x/y}]\n"
         "buckets: {x: {}}\nexpect: [{holder: j, is: absent}]\nrun_for: 2s\n",
         "lapse: 1\nname: names\nbuckets: {x: {}}\nactors: [a, b]\nsteps:\n"
         "  - {at: 0s, by: b, acquire: j, for: 1s}\n  - {at: 0s, gone: x/y}\nrun_for: 2s\n"
         "expect: [{holder: j, is: absent}]\n"},
        {"name: nothing\nsteps: []\n", "lapse: 1\nname: nothing\nsteps: []\n"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct lapse_file file;
        struct lapse_emitted emitted = {0};
        struct lapse_error err = {0};
        load(rows[i].text, &file);
        cr_assert_eq(emit(&file, &emitted, &err), LAPSE_OK, "%s", err.message);
        cr_expect_str_eq(emitted.text, rows[i].written);
        lapse_emitted_free(&emitted);
        lapse_file_free(&file);
    }
}

Test(emit, what_is_written_is_read_as_itself) {
    static const char *const texts[] = {
        "",    "null", "~",   "true",       "a: b",    "a:b",     "k:",    "a #b",      "#a",
        "- x", "-",    "-1",  "---",        "...",     "'q'",     "it's",  "\\\"",      "\\\\",
        "? x", "!t",   "&a",  "*a",         "|",       ">",       "%",     "@x",        "`",
        "[x]", "{y}",  ", ",  " a ",        "a  b",    "\\n",     "a\\nb", "a$",        "$5",
        "$$",  "1e3",  "0x1", "2001-01-01", "\\u00e9", "\\u2028", "x\\ty", "x\\u0085y",
    };
    size_t refused = 0;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char text[400];
        struct lapse_file file;
        struct lapse_emitted emitted = {0};
        struct lapse_error err = {0};
        (void)snprintf(text, sizeof(text),
                       "name: \"n %s\"\nbuckets: {b: {}}\nsteps:\n  - {set: b/k, value: \"%s\"}\n"
                       "  - {get: b/k, expect: {value: {in: [\"%s\", x]}}}\n"
                       "  - {inspect: \"l %s\", expect: absent}\n",
                       texts[i], texts[i], texts[i], texts[i]);
        if (lapse_file_load(lapse_alloc_libc(), "t", text, strlen(text), &file) != LAPSE_OK) {
            refused++; /* a control character, which no file may hold */
        } else {
            cr_expect_eq(emit(&file, &emitted, &err), LAPSE_OK, "%s: %s", texts[i], err.message);
        }
        lapse_emitted_free(&emitted);
        lapse_file_free(&file);
    }
    cr_expect_leq(refused, 2);
}

Test(emit, what_the_language_cannot_say_is_named) {
    static const char *const said[] = {
        "step 4: a text holds `$` and a letter",
        "step 5: an owner whose text is `none` is read as nobody",
        "the text `a\\x01b` cannot be written",
        "step 1: it would be step 0 where it stands in a file",
        "step 0: it handles answers together that no word has together",
        "6 checks stand beside 7 steps",
        "step 4: there is no actor 9",
        "1 of its 7 steps stand in no task and no list",
        "step 1: no answer of its calls is what the loop waits for",
        "step 0: `acquire` never answers `fenced`",
        "it would be read as another plan: setup.durable: 1 in the first plan, 0 in the second",
        "this step is earlier than the one before it",
        "step 6: there is no bucket 3",
        "step 0: there is no saved name 7",
        "a list names step 70, and there are 7",
    };
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        struct lapse_file file;
        struct lapse_emitted emitted = {0};
        struct lapse_error err = {0};
        load(short_story, &file);
        cr_assert_eq(emit(&file, &emitted, &err), LAPSE_OK, "%s", err.message);
        lapse_emitted_free(&emitted);
        spoil(file.plans[0], i);
        cr_expect_eq(emit(&file, &emitted, &err), LAPSE_INVALID, "%s", said[i]);
        cr_expect_not_null(strstr(err.message, said[i]), "`%s` is not `%s`", err.message, said[i]);
        cr_expect_eq(strncmp(err.message, "`short` cannot be written: ", 27), 0);
        cr_expect_null(emitted.text);
        lapse_file_free(&file);
    }
}

/* A field that a table lacks leaves a hole; only what is smaller than padding could hide in it. */
Test(emit, the_tables_of_equality_cover_their_structs) {
    const struct lapse_shape_type *seen[64] = {lapse_shape_plan()};
    size_t count = 1;
    for (size_t i = 0; i < count; i++) {
        size_t end = 0;
        for (size_t k = 0; k < seen[i]->field_count; k++) {
            const struct lapse_shape_field *field = &seen[i]->fields[k];
            cr_expect(field->held == LAPSE_HELD_NOT || field->name != NULL);
            cr_expect(follows(end, field->at), "%s.%s", seen[i]->name, field->name);
            cr_expect(field->held != LAPSE_HELD_HERE || field->bytes == field->type->bytes, "%s.%s",
                      seen[i]->name, field->name);
            end = field->at + field->bytes;
            add_types(field, seen, &count, sizeof(seen) / sizeof(seen[0]));
        }
        cr_expect(seen[i]->leaf != LAPSE_LEAF_NONE || follows(end, seen[i]->bytes), "%s",
                  seen[i]->name);
    }
    cr_expect_gt(count, 40);
}

Test(emit, equality_looks_at_every_field) {
    struct lapse_file file, same;
    struct lapse_error err = {0};
    size_t flips = 0;
    load(story, &file);
    load(story, &same);
    cr_assert(lapse_plan_equal(file.plans[0], same.plans[0], &err), "%s", err.message);
    flip_all(lapse_shape_plan(), (unsigned char *)file.plans[0], file.plans[0], same.plans[0],
             &flips);
    cr_expect_gt(flips, 3000);
    cr_expect(lapse_plan_equal(file.plans[0], same.plans[0], NULL));
    lapse_file_free(&file);
    lapse_file_free(&same);
}

Test(emit, a_failing_allocation_is_nomem_and_leaks_nothing) {
    struct lapse_file file;
    load(story, &file);
    struct meter meter = {-1, 0};
    const lapse_alloc alloc = {meter_resize, &meter};
    enum lapse_status status = LAPSE_NOMEM;
    for (long nth = 0; status == LAPSE_NOMEM; nth++) {
        struct lapse_emitted emitted = {0};
        struct lapse_error err = {0};
        meter.left = nth;
        status = lapse_plans_emit_proved(&alloc, (const struct lapse_plan *const *)file.plans,
                                         file.plan_count, &emitted, &err);
        cr_assert(status == LAPSE_NOMEM || status == LAPSE_OK, "%ld: %s", nth, err.message);
        cr_expect(status == LAPSE_OK || emitted.text == NULL);
        lapse_emitted_free(&emitted);
        cr_assert_eq(meter.held, 0, "request %ld", nth);
    }
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
    meter->left -= meter->left > 0 ? 1 : 0;
    void *grown = realloc(ptr, new_bytes);
    meter->held += ptr == NULL && grown != NULL ? 1 : 0;
    return grown;
}

static void load(const char *text, struct lapse_file *ret) {
    enum lapse_status status =
        lapse_file_load(lapse_alloc_libc(), "t.yaml", text, strlen(text), ret);
    cr_assert_eq(status, LAPSE_OK, "line %d: %s",
                 ret->diags.count > 0 ? ret->diags.items[0]->labels[0].place.line : 0,
                 ret->diags.count > 0 ? ret->diags.items[0]->message : "");
}

static enum lapse_status emit(const struct lapse_file *file, struct lapse_emitted *ret,
                              struct lapse_error *err) {
    return lapse_plans_emit_proved(lapse_alloc_libc(),
                                   (const struct lapse_plan *const *)file->plans, file->plan_count,
                                   ret, err);
}

/* A plan is read only, but for a test that makes it what no file says. */
static void spoil(struct lapse_plan *plan, size_t what) {
    struct lapse_plan_step *steps = (struct lapse_plan_step *)(uintptr_t)plan->steps;
    struct lapse_text_part *value =
        (struct lapse_text_part *)(uintptr_t)steps[4].u.call.value.parts;
    struct lapse_operand *owner =
        (struct lapse_operand *)(uintptr_t)plan->the_case.checks[5].expect->compares[0].operands;
    int32_t *task = (int32_t *)(uintptr_t)plan->tasks[0].steps;
    int32_t *world = (int32_t *)(uintptr_t)plan->world_steps;
    switch (what) {
    case 0:
        value->literal = lapse_bytes_of("a$x");
        break;
    case 1:
        ((struct lapse_text_part *)(uintptr_t)owner->text.parts)->literal = lapse_bytes_of("none");
        break;
    case 2:
        value->literal = lapse_bytes_of("a\x01"
                                        "b");
        break;
    case 3:
        task[0] = 1;
        break;
    case 4:
        ((struct lapse_handler *)(uintptr_t)steps[0].handlers)->statuses |= 1;
        break;
    case 5:
        plan->the_case.check_count--;
        break;
    case 6:
        steps[4].actor = 9;
        break;
    case 7:
        plan->world_step_count--;
        break;
    case 8:
        steps[1].u.loop.until_statuses = 3;
        break;
    case 9:
        steps[0].forged = true;
        steps[0].forged_status = LAPSE_FENCED;
        break;
    case 10:
        plan->setup.durable = true;
        break;
    case 11:
        steps[4].when.ns = 100 * LAPSE_NS_PER_S;
        break;
    case 12:
        steps[6].u.probe.bucket = 3;
        break;
    case 13:
        steps[0].save.base = 7;
        break;
    default:
        world[1] = 70;
        break;
    }
}

/* Whether what is at `at` follows what ends at `end`, but for padding. */
static bool follows(size_t end, size_t at) {
    for (size_t align = 1; align <= 8; align *= 2) {
        if ((end + align - 1) / align * align == at) {
            return true;
        }
    }
    return false;
}

/* The types that the field leads to, each once; of a choice those of its members. */
static void add_types(const struct lapse_shape_field *field, const struct lapse_shape_type **seen,
                      size_t *count, size_t most) {
    bool choice = field->held == LAPSE_HELD_CHOICE;
    size_t members = field->type == NULL ? 0 : choice ? field->type->field_count : 1;
    for (size_t i = 0; i < members; i++) {
        const struct lapse_shape_type *type = choice ? field->type->fields[i].type : field->type;
        bool known = type == NULL;
        for (size_t k = 0; k < *count; k++) {
            known = known || seen[k] == type;
        }
        if (!known) {
            cr_assert_lt(*count, most);
            seen[(*count)++] = type;
        }
        cr_expect(!choice || type == NULL || field->type->fields[i].bytes == type->bytes, "%s",
                  type == NULL ? "" : type->name);
    }
}

/* Changes each leaf in turn, looks whether the plans still seem equal, and changes it back. */
static void flip_all(const struct lapse_shape_type *type, unsigned char *thing,
                     const struct lapse_plan *plan, const struct lapse_plan *same, size_t *flips) {
    if (type->leaf != LAPSE_LEAF_NONE) {
        flip_leaf(type, thing, plan, same, flips);
        return;
    }
    for (size_t i = 0; i < type->field_count; i++) {
        const struct lapse_shape_field *field = &type->fields[i];
        unsigned char *at = thing + field->at;
        unsigned char *behind = NULL;
        size_t count = field->held == LAPSE_HELD_HERE ? 1 : 0;
        if (field->held == LAPSE_HELD_BEHIND || field->held == LAPSE_HELD_LIST) {
            memcpy(&behind, at, sizeof(behind));
            count = behind == NULL ? 0 : 1;
            at = behind;
        }
        if (field->held == LAPSE_HELD_LIST) {
            memcpy(&count, thing + field->count, sizeof(count));
            /* Lists are compared up to a number that has been found equal. */
            bool counted = false;
            for (size_t k = 0; k < i; k++) {
                counted = counted || type->fields[k].at == field->count;
            }
            cr_expect(counted, "%s.%s", type->name, field->name);
        } else if (field->held == LAPSE_HELD_ROW) {
            count = field->count;
        } else if (field->held == LAPSE_HELD_CHOICE) {
            int kind = 0;
            memcpy(&kind, thing + field->count, sizeof(kind));
            flip_all(field->type->fields[kind].type, at, plan, same, flips);
        }
        for (size_t k = 0; k < count; k++) {
            flip_all(field->type, at + k * field->type->bytes, plan, same, flips);
        }
    }
}

static void flip_leaf(const struct lapse_shape_type *type, unsigned char *leaf,
                      const struct lapse_plan *plan, const struct lapse_plan *same, size_t *flips) {
    unsigned char kept[16];
    const char *other = "some other text";
    struct lapse_error err = {0};
    cr_assert_leq(type->bytes, sizeof(kept));
    memcpy(kept, leaf, type->bytes);
    if (type->leaf == LAPSE_LEAF_TEXT) {
        memcpy(leaf, &other, sizeof(other));
    } else if (type->leaf == LAPSE_LEAF_BYTES) {
        const struct lapse_bytes bytes = lapse_bytes_of(other);
        memcpy(leaf, &bytes, sizeof(bytes));
    } else {
        leaf[0] = (unsigned char)(leaf[0] ^ 1U);
    }
    cr_expect_not(lapse_plan_equal(plan, same, &err), "flip %zu of a %s", *flips, type->name);
    cr_expect(strstr(err.message, "in the first plan") != NULL);
    memcpy(leaf, kept, type->bytes);
    ++*flips;
}
