/* Chance made explicit: the faults that `chaos` drew in the first run become lines of `faults`,
 * each at its instant, so that they can be left out one by one. They end where all would have
 * healed. If the run then fails alike, chance has that much less to say. */
#include "shrink_parts.h"

#include <string.h>

static bool draws(struct lapse_shrinker *s, bool *ret_links);
static void name_faults(struct lapse_shrinker *s);
static struct lapse_node *drawn_faults(struct lapse_shrinker *s, const struct lapse_trial *trial);
static bool fill_plan(const struct lapse_trial *trial, struct lapse_plan *plan,
                      struct lapse_plan_step *steps, struct lapse_step_check *checks,
                      int32_t *numbers);
static bool does_nothing(const struct lapse_plan *plan, const struct lapse_plan_fault *fault);
static void clear_unused(struct lapse_plan_fault *fault);
static void end_with_chaos(struct lapse_plan_step *step, int64_t stop_ns);
static struct lapse_node *read_faults(struct lapse_shrinker *s, const struct lapse_plan *plan);
static bool join(struct lapse_shrinker *s, struct lapse_node *faults);
static bool take_any_answer(struct lapse_shrinker *s);

void lapse_shrink_chance(struct lapse_shrinker *s) {
    bool drawn = false;
    if (lapse_node_get(s->tree, "chaos") != NULL) {
        name_faults(s);
    }
    if (draws(s, &drawn) && drawn) {
        lapse_shrink_flat(s);
    }
}

/* Whether chance has a part in the run. False: no memory. */
static bool draws(struct lapse_shrinker *s, bool *ret_links) {
    struct lapse_trial trial;
    s->status = s->status == LAPSE_OK ? lapse_shrink_run(s, s->tree, &trial) : s->status;
    if (s->status != LAPSE_OK) {
        return false;
    }
    size_t count = 0;
    if (trial.run.choices != NULL) {
        (void)lapse_choices_list(trial.run.choices, &count);
    }
    *ret_links = count > 0;
    lapse_trial_free(&trial);
    return true;
}

static void name_faults(struct lapse_shrinker *s) {
    struct lapse_trial trial;
    if (!lapse_shrink_draft(s)) {
        return;
    }
    s->status = lapse_shrink_run(s, s->tree, &trial);
    struct lapse_node *faults = NULL;
    if (s->status == LAPSE_OK && trial.outcome == LAPSE_TRIAL_VIOLATED) {
        faults = drawn_faults(s, &trial);
    }
    lapse_trial_free(&trial);
    if (faults != NULL && join(s, faults) && take_any_answer(s)) {
        (void)lapse_shrink_keep(s);
    }
}

/* The drawn faults as lines: a plan of them alone is written. NULL: no words for them, or no
 * memory. */
static struct lapse_node *drawn_faults(struct lapse_shrinker *s, const struct lapse_trial *trial) {
    const lapse_alloc *alloc = s->options->alloc;
    size_t count = trial->run.drawn_count;
    struct lapse_plan plan = *trial->plan;
    struct lapse_plan_step *steps = lapse_alloc_zero(alloc, (count + 1) * sizeof(*steps));
    struct lapse_step_check *checks = lapse_alloc_zero(alloc, (count + 1) * sizeof(*checks));
    int32_t *numbers = lapse_alloc_zero(alloc, (count + 1) * sizeof(*numbers));
    struct lapse_node *faults = NULL;
    if (steps == NULL || checks == NULL || numbers == NULL) {
        s->status = LAPSE_NOMEM;
    } else if (fill_plan(trial, &plan, steps, checks, numbers)) {
        faults = read_faults(s, &plan);
    }
    lapse_alloc_free(alloc, steps, (count + 1) * sizeof(*steps));
    lapse_alloc_free(alloc, checks, (count + 1) * sizeof(*checks));
    lapse_alloc_free(alloc, numbers, (count + 1) * sizeof(*numbers));
    return faults;
}

static bool fill_plan(const struct lapse_trial *trial, struct lapse_plan *plan,
                      struct lapse_plan_step *steps, struct lapse_step_check *checks,
                      int32_t *numbers) {
    static const struct lapse_expect nothing = {.kind = LAPSE_EXPECT_FIRST};
    size_t count = 0;
    for (size_t k = 0; k < trial->run.drawn_count; k++) {
        size_t i = count;
        if (does_nothing(plan, &trial->run.drawn[k].fault)) {
            continue;
        }
        count++;
        steps[i] = (struct lapse_plan_step){.kind = LAPSE_STEP_FAULT, .actor = -1, .loop = -1};
        steps[i].when = (struct lapse_when){.kind = LAPSE_WHEN_AT,
                                            .ns = trial->run.drawn[k].at.ns};
        steps[i].u.fault = trial->run.drawn[k].fault;
        clear_unused(&steps[i].u.fault);
        end_with_chaos(&steps[i], plan->chaos.stop_at_ns);
        checks[i] = (struct lapse_step_check){
            .contract = "", .verb = "", .object = "", .expect = &nothing, .measure = -1};
        numbers[i] = (int32_t)i;
    }
    plan->steps = steps;
    plan->step_count = plan->world_step_count = plan->the_case.check_count = count;
    plan->world_steps = numbers;
    plan->the_case.checks = checks;
    plan->task_count = plan->final_count = plan->program_count = plan->clock_count = 0;
    plan->the_case.sometimes_count = plan->the_case.measure_count = 0;
    plan->setup.loop_count = 0;
    plan->chaos = (struct lapse_plan_chaos){.on = false};
    plan->setup.chaos = false;
    return count > 0;
}

/* What a store in memory has no use for, and delays of nothing: no line may say them. */
static bool does_nothing(const struct lapse_plan *plan, const struct lapse_plan_fault *fault) {
    bool files = fault->disk == LAPSE_DISK_TEAR || fault->disk == LAPSE_DISK_ROT ||
                 fault->disk == LAPSE_DISK_FULL;
    bool slow = fault->kind == LAPSE_FAULT_SLOW && fault->node >= 0;
    return (fault->kind == LAPSE_FAULT_DISK && files && plan->store != LAPSE_STORE_SQLITE) ||
           (slow && fault->link.latency_ns_min == 0);
}

/* Chance draws more numbers than each kind of fault has a use for, and words. */
static void clear_unused(struct lapse_plan_fault *fault) {
    bool slow = fault->kind == LAPSE_FAULT_SLOW;
    if (fault->disk != LAPSE_DISK_SYNC_FAIL && fault->disk != LAPSE_DISK_SYNC_LIES &&
        fault->disk != LAPSE_DISK_SYNC_STALLS) {
        fault->disk_nth = 0;
    }
    if (fault->disk != LAPSE_DISK_ROT) {
        fault->disk_bits = 0;
    }
    if (fault->kind != LAPSE_FAULT_LINK && !(slow && fault->node >= 0)) {
        fault->link.latency_ns_min = 0;
    }
    if (!slow || fault->node >= 0) {
        fault->factor = 1;
    }
}

/* A step of the wall is over at once; all else ends when chance does. */
static void end_with_chaos(struct lapse_plan_step *step, int64_t stop_ns) {
    struct lapse_plan_fault *fault = &step->u.fault;
    int64_t left = stop_ns - step->when.ns;
    if (fault->kind == LAPSE_FAULT_CLOCK && !fault->clock.has_rate) {
        return;
    }
    if (!fault->has_for || fault->for_ns > left) {
        fault->has_for = true;
        fault->for_ns = left;
    }
}

static struct lapse_node *read_faults(struct lapse_shrinker *s, const struct lapse_plan *plan) {
    struct lapse_emitted text = {.alloc = s->options->alloc};
    struct lapse_list documents = {.item_bytes = sizeof(struct lapse_document)};
    struct lapse_diag_list diags;
    struct lapse_node *faults = NULL;
    enum lapse_status status = lapse_plans_emit(s->options->alloc, &plan, 1, &text, NULL);
    lapse_diag_list_init(&diags, s->options->alloc);
    if (status == LAPSE_OK &&
        !lapse_yaml_parse(&s->texts, "", text.text, text.bytes, &documents, &diags)) {
        status = LAPSE_NOMEM;
    }
    if (status == LAPSE_OK && diags.count == 0 && documents.count == 1) {
        const struct lapse_document *document = lapse_list_at(&documents, 0);
        const struct lapse_node *found = lapse_node_get(document->root, "faults");
        faults = found == NULL ? NULL : lapse_shrink_copy(&s->draft_pool, found);
    }
    s->status = status == LAPSE_NOMEM ? LAPSE_NOMEM : s->status;
    lapse_list_free(s->options->alloc, &documents);
    lapse_diag_list_free(&diags);
    lapse_emitted_free(&text);
    return faults;
}

/* Behind the document's own, or as its last word, so that its steps keep their numbers. */
static bool join(struct lapse_shrinker *s, struct lapse_node *faults) {
    struct lapse_node *own = lapse_node_get(s->draft, "faults");
    lapse_shrink_cut(s->draft, (size_t)lapse_node_index(s->draft, "chaos"), 1);
    if (own == NULL) {
        return lapse_shrink_put(s, s->draft, "faults", faults);
    }
    struct lapse_node **items =
        lapse_pool_take(&s->draft_pool, (own->count + faults->count) * sizeof(*items));
    if (items == NULL) {
        s->status = LAPSE_NOMEM;
        return false;
    }
    for (size_t i = 0; i < own->count + faults->count; i++) {
        items[i] = i < own->count ? own->items[i] : faults->items[i - own->count];
    }
    own->items = items;
    own->count += faults->count;
    return true;
}

/* Under `chaos` any answer may come to any line; now the lines have to say so. */
static bool take_any_answer(struct lapse_shrinker *s) {
    for (size_t i = 0; i < s->lines.count; i++) {
        const struct lapse_shrink_spot *spot = lapse_shrink_line(s, i);
        struct lapse_node *line = lapse_shrink_at(spot);
        bool call = strcmp(spot->section, "steps") == 0 || strcmp(spot->section, "actors") == 0;
        bool handled = lapse_node_get(line, "do") != NULL;
        for (size_t k = 0; k < line->count; k++) {
            handled = handled || strcmp(line->keys[k]->text, "on_any") == 0;
        }
        if (call && !handled && lapse_shrink_is_call(line) &&
            !lapse_shrink_put(s, line, "on_any", lapse_shrink_scalar(s, "next", 4))) {
            return false;
        }
    }
    return true;
}
