/* Plans to one file: each is made a tree by the table of words, the tree is made text, and, if
 * asked, the text is loaded and compared. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emitter.h"
#include "scenarios/yaml.h"

static enum lapse_status emit_plan(const lapse_alloc *alloc, const struct lapse_plan *plan,
                                   bool first, struct lapse_emitted *out, struct lapse_error *err);
static bool begin(struct lapse_emitter *e);
static void mark_steps(struct lapse_emitter *e);
static void mark(struct lapse_emitter *e, const int32_t *steps, size_t count, int section);
static void order_sections(struct lapse_emitter *e);
static int32_t begins_at(const struct lapse_emitter *e, enum lapse_emit_section section);
static const struct lapse_emit_row *find_row(enum lapse_word_kind kind, const char *word);
static enum lapse_status prove(const struct lapse_emitted *emitted,
                               const struct lapse_plan *const *plans, size_t count,
                               struct lapse_error *err);
static size_t plan_at(const struct lapse_emitted *emitted, int line);
static enum lapse_status compare(const struct lapse_file *file,
                                 const struct lapse_plan *const *plans, size_t count,
                                 struct lapse_error *err);

enum lapse_status lapse_plans_emit(const lapse_alloc *alloc, const struct lapse_plan *const *plans,
                                   size_t count, struct lapse_emitted *ret,
                                   struct lapse_error *err) {
    struct lapse_emitted out = {.alloc = alloc};
    enum lapse_status status = LAPSE_OK;
    for (size_t i = 0; status == LAPSE_OK && i < count; i++) {
        if (i > 0 && !lapse_emitted_append(&out, "---\n", 4)) {
            status = lapse_error_set(err, LAPSE_NOMEM, "memory ran out");
            break;
        }
        status = emit_plan(alloc, plans[i], i == 0, &out, err);
        if (status == LAPSE_INVALID) {
            lapse_error_context(err, "`%.120s` cannot be written", plans[i]->name);
        }
    }
    if (status != LAPSE_OK) {
        lapse_emitted_free(&out);
        return status;
    }
    *ret = out;
    return LAPSE_OK;
}

enum lapse_status lapse_plans_emit_proved(const lapse_alloc *alloc,
                                          const struct lapse_plan *const *plans, size_t count,
                                          struct lapse_emitted *ret, struct lapse_error *err) {
    struct lapse_emitted out = {0};
    enum lapse_status status = lapse_plans_emit(alloc, plans, count, &out, err);
    if (status == LAPSE_OK) {
        status = prove(&out, plans, count, err);
    }
    if (status != LAPSE_OK) {
        lapse_emitted_free(&out);
        return status;
    }
    *ret = out;
    return LAPSE_OK;
}

void lapse_emitted_free(struct lapse_emitted *emitted) {
    if (emitted != NULL && emitted->alloc != NULL) {
        lapse_alloc_free(emitted->alloc, emitted->text, emitted->cap);
        *emitted = (struct lapse_emitted){0};
    }
}

bool lapse_emit_knows(enum lapse_word_kind kind, const char *word) {
    if (kind == LAPSE_WORD_FIELD) {
        bool op = false;
        for (int i = LAPSE_OP_EQ; i <= LAPSE_OP_IN; i++) {
            op = op || strcmp(lapse_decode_op_word((enum lapse_op)i), word) == 0;
        }
        return op || lapse_field_find(word, strlen(word)) != LAPSE_FIELD_DEFAULT ||
               lapse_decode_event_kind(word, strlen(word)) != 0 ||
               lapse_words_have("answer at why", word);
    }
    if (kind == LAPSE_WORD_PATTERN) {
        bool pattern = lapse_words_have("by at", word);
        for (int i = LAPSE_PATTERN_GRANTED; i <= LAPSE_PATTERN_STOPPED; i++) {
            pattern =
                pattern || strcmp(lapse_decode_pattern_word((enum lapse_pattern_kind)i), word) == 0;
        }
        return pattern;
    }
    if (kind == LAPSE_WORD_ACTION) {
        bool action = strcmp(word, "again") == 0;
        for (int i = LAPSE_ACTION_STOP; i <= LAPSE_ACTION_SKIP; i++) {
            action =
                action || strcmp(lapse_decode_action_word((enum lapse_action_kind)i), word) == 0;
        }
        return action;
    }
    return find_row(kind, word) != NULL;
}

void lapse_emit_one(struct lapse_emitter *e, enum lapse_word_kind kind, const char *word,
                    struct lapse_node *map, const void *thing) {
    const struct lapse_emit_row *row = find_row(kind, word);
    LAPSE_ASSERT(row != NULL);
    if (row->emit != NULL && map != NULL) {
        row->emit(e, map, row->word, thing);
    }
}

void lapse_emit_all(struct lapse_emitter *e, enum lapse_word_kind kind, struct lapse_node *map,
                    const void *thing) {
    size_t count = 0;
    const struct lapse_word *table = lapse_word_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (table[i].kind == kind && table[i].stage <= LAPSE_STAGE_NOW) {
            lapse_emit_one(e, kind, table[i].word, map, thing);
        }
    }
}

void lapse_emit_refuse(struct lapse_emitter *e, const char *format, ...) {
    char message[LAPSE_ERROR_MESSAGE_MAX / 2];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (e->status != LAPSE_OK) {
        return;
    }
    e->status = lapse_error_set(e->err, LAPSE_INVALID, "%s", message);
    if (e->step >= 0) {
        lapse_error_context(e->err, "step %d", (int)e->step);
    }
}

void lapse_emit_take_task(struct lapse_emitter *e, size_t task) {
    if (task != e->next_task) {
        e->step = -1;
        lapse_emit_refuse(e, "task %zu would be task %zu where it stands in a file", task,
                          e->next_task);
    }
    e->next_task++;
}

static const struct lapse_emit_row *find_row(enum lapse_word_kind kind, const char *word) {
    static const struct lapse_emit_row *(*const tables[])(size_t *) = {
        lapse_emit_setup_rows, lapse_emit_client_rows, lapse_emit_line_rows,
        lapse_emit_call_rows,  lapse_emit_world_rows,  lapse_emit_explore_rows,
    };
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        size_t count = 0;
        const struct lapse_emit_row *rows = tables[i](&count);
        for (size_t k = 0; k < count; k++) {
            if (rows[k].kind == kind && rows[k].word[0] == word[0] &&
                strcmp(rows[k].word, word) == 0) {
                return &rows[k];
            }
        }
    }
    return NULL;
}

static enum lapse_status emit_plan(const lapse_alloc *alloc, const struct lapse_plan *plan,
                                   bool first, struct lapse_emitted *out, struct lapse_error *err) {
    struct lapse_pool pool;
    lapse_pool_init(&pool, alloc);
    struct lapse_emitter e = {.pool = &pool,
                              .plan = plan,
                              .err = err,
                              .status = LAPSE_OK,
                              .first = first,
                              .step = -1,
                              .listed = -1};
    if (plan->the_case.check_count != plan->step_count) {
        return lapse_error_set(err, LAPSE_INVALID, "%zu checks stand beside %zu steps",
                               plan->the_case.check_count, plan->step_count);
    }
    struct lapse_node *document = begin(&e) ? lapse_emit_map(&e) : NULL;
    if (document != NULL) {
        mark_steps(&e);
        order_sections(&e);
        lapse_emit_all(&e, LAPSE_WORD_TOP, document, plan);
        e.step = -1;
        if ((size_t)e.next_step != plan->step_count) {
            lapse_emit_refuse(&e, "%zu of its %zu steps stand in no task and no list",
                              plan->step_count - (size_t)e.next_step, plan->step_count);
        }
    }
    enum lapse_status status = e.status;
    if (pool.failed || document == NULL) {
        status = lapse_error_set(err, LAPSE_NOMEM, "memory ran out");
    } else if (status == LAPSE_OK) {
        status = lapse_yaml_write(document, out, err);
    }
    lapse_pool_free(&pool);
    return status;
}

static bool begin(struct lapse_emitter *e) {
    const struct lapse_plan *plan = e->plan;
    e->section_of = lapse_pool_take(e->pool, plan->step_count);
    e->labelled = lapse_pool_take(e->pool, plan->step_count * sizeof(bool));
    e->indexed = lapse_pool_take(e->pool, plan->the_case.slot_count * sizeof(bool));
    return e->section_of != NULL && e->labelled != NULL && e->indexed != NULL;
}

/* Where each step stands, which lines need a label, and which names have $n. */
static void mark_steps(struct lapse_emitter *e) {
    const struct lapse_plan *plan = e->plan;
    memset(e->section_of, -1, plan->step_count);
    for (size_t i = 0; i < plan->task_count; i++) {
        mark(e, plan->tasks[i].steps, plan->tasks[i].step_count,
             plan->tasks[i].from_steps ? LAPSE_EMIT_STEPS : LAPSE_EMIT_ACTORS);
    }
    for (size_t i = 0; i < plan->world_step_count; i++) {
        int32_t step = plan->world_steps[i];
        bool known = step >= 0 && (size_t)step < plan->step_count;
        mark(e, &step, 1,
             known && !plan->the_case.checks[step].must_run ? LAPSE_EMIT_FAULTS : LAPSE_EMIT_STEPS);
    }
    mark(e, plan->finals, plan->final_count, LAPSE_EMIT_EXPECT);
    for (size_t i = 0; i < plan->step_count; i++) {
        const struct lapse_plan_step *step = &plan->steps[i];
        int32_t waited = step->kind == LAPSE_STEP_FAULT && step->when.kind == LAPSE_WHEN_POINT
                             ? step->u.fault.point.step
                             : -1;
        if (waited >= 0 && (size_t)waited < plan->step_count) {
            e->labelled[waited] = true;
        }
        if (step->has_save && step->save.indexed && step->save.base >= 0 &&
            (size_t)step->save.base < plan->the_case.slot_count) {
            e->indexed[step->save.base] = true;
        }
    }
}

static void mark(struct lapse_emitter *e, const int32_t *steps, size_t count, int section) {
    for (size_t i = 0; i < count; i++) {
        if (steps[i] < 0 || (size_t)steps[i] >= e->plan->step_count) {
            lapse_emit_refuse(e, "a list names step %d, and there are %zu", (int)steps[i],
                              e->plan->step_count);
        } else {
            e->section_of[steps[i]] = (int8_t)section;
        }
    }
}

/* Rising by the first step of each; those without steps keep their place in front. */
static void order_sections(struct lapse_emitter *e) {
    for (int i = 0; i < LAPSE_EMIT_SECTIONS; i++) {
        enum lapse_emit_section section = (enum lapse_emit_section)i;
        int at = i;
        while (at > 0 && begins_at(e, e->sections[at - 1]) > begins_at(e, section)) {
            e->sections[at] = e->sections[at - 1];
            at--;
        }
        e->sections[at] = section;
    }
}

static int32_t begins_at(const struct lapse_emitter *e, enum lapse_emit_section section) {
    for (size_t i = 0; i < e->plan->step_count; i++) {
        if (e->section_of[i] == (int8_t)section) {
            return (int32_t)i;
        }
    }
    /* Tasks without lines are counted all the same, before or behind those of `steps`. */
    bool tasks = false;
    for (size_t i = 0; i < e->plan->task_count; i++) {
        tasks = tasks || !e->plan->tasks[i].from_steps;
    }
    return section == LAPSE_EMIT_ACTORS && tasks && e->plan->tasks[0].from_steps ? INT32_MAX : -1;
}

static enum lapse_status prove(const struct lapse_emitted *emitted,
                               const struct lapse_plan *const *plans, size_t count,
                               struct lapse_error *err) {
    struct lapse_file file = {0};
    enum lapse_status status =
        lapse_file_load(emitted->alloc, "written.yaml", emitted->text == NULL ? "" : emitted->text,
                        emitted->bytes, &file);
    if (status == LAPSE_NOMEM) {
        (void)lapse_error_set(err, LAPSE_NOMEM, "memory ran out");
    } else if (status != LAPSE_OK) {
        const struct lapse_diag *diag = file.diags.items[0];
        size_t plan = plan_at(emitted, diag->labels[0].place.line);
        (void)lapse_error_set(
            err, LAPSE_INVALID,
            "`%.120s` cannot be written: in line %d of it the loader finds: %.250s",
            plans[plan < count ? plan : 0]->name, diag->labels[0].place.line, diag->message);
    } else {
        status = compare(&file, plans, count, err);
    }
    lapse_file_free(&file);
    return status;
}

/* Whose document the line of what was written is in. */
static size_t plan_at(const struct lapse_emitted *emitted, int line) {
    size_t plan = 0;
    const char *at = emitted->text;
    for (int i = 1; i < line && at != NULL; i++) {
        at = strchr(at, '\n');
        at = at == NULL ? NULL : at + 1;
        plan += at != NULL && strncmp(at, "---\n", 4) == 0 ? 1 : 0;
    }
    return plan;
}

static enum lapse_status compare(const struct lapse_file *file,
                                 const struct lapse_plan *const *plans, size_t count,
                                 struct lapse_error *err) {
    if (file->plan_count != count) {
        return lapse_error_set(err, LAPSE_INVALID, "%zu plans were written, and %zu are read",
                               count, file->plan_count);
    }
    for (size_t i = 0; i < count; i++) {
        if (!lapse_plan_equal(plans[i], file->plans[i], err)) {
            lapse_error_context(err, "`%.120s` cannot be written: it would be read as another plan",
                                plans[i]->name);
            return LAPSE_INVALID;
        }
    }
    return LAPSE_OK;
}
