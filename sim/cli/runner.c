/* Loading, choosing, running, judging: the work itself, whoever asks for it. */
#include "runner.h"

#include <stdio.h>
#include <string.h>

static enum lapse_status take_loaded(struct lapse_cli_file *file, enum lapse_status status);
static bool names_look(struct lapse_cli_file *file);
static void tell_fault(struct lapse_cli_result *result, enum lapse_status status);
static void run_again(const struct lapse_plan *plan, uint64_t seed,
                      struct lapse_cli_result *result);
static void tell_bound(struct lapse_cli_result *result);

enum lapse_status lapse_cli_file_open(const char *path, struct lapse_cli_file *ret) {
    struct lapse_error err = {0};
    memset(ret, 0, sizeof *ret);
    lapse_diag_list_init(&ret->unread, lapse_alloc_libc());
    enum lapse_status status = lapse_cli_read(path, &ret->loaded, &err);
    if (status == LAPSE_OK || status == LAPSE_INVALID) {
        return take_loaded(ret, status);
    }
    struct lapse_place place = {path, 0, 0, 0};
    struct lapse_diag *diag =
        lapse_diag_add(&ret->unread, "Y000", place, "", "the file cannot be read: %s", err.message);
    return diag == NULL || status == LAPSE_NOMEM ? LAPSE_NOMEM : LAPSE_INVALID;
}

enum lapse_status lapse_cli_file_text(const char *name, const char *text, size_t bytes,
                                      struct lapse_cli_file *ret) {
    memset(ret, 0, sizeof *ret);
    lapse_diag_list_init(&ret->unread, lapse_alloc_libc());
    enum lapse_status status =
        lapse_file_load(lapse_alloc_libc(), name, text, bytes, &ret->loaded);
    return status == LAPSE_NOMEM ? status : take_loaded(ret, status);
}

static enum lapse_status take_loaded(struct lapse_cli_file *file, enum lapse_status status) {
    const struct lapse_file *loaded = &file->loaded;
    bool text = loaded->text != NULL;
    file->readable = true;
    file->source = (struct lapse_source){loaded->name, text ? loaded->text : "",
                                         text ? loaded->text_bytes : 0};
    return names_look(file) ? status : LAPSE_NOMEM;
}

static bool names_look(struct lapse_cli_file *file) {
    size_t count = file->loaded.plan_count;
    const char **names = lapse_alloc_zero(lapse_alloc_libc(), (count + 1) * sizeof *names);
    file->repeats = lapse_alloc_zero(lapse_alloc_libc(), (count + 1) * sizeof *file->repeats);
    bool whole = names != NULL && file->repeats != NULL;
    for (size_t i = 0; whole && i < count; i++) {
        names[i] = file->loaded.plans[i]->name;
    }
    whole =
        whole && lapse_names_repeat(lapse_alloc_libc(), names, count, file->repeats) == LAPSE_OK;
    lapse_alloc_free(lapse_alloc_libc(), names, (count + 1) * sizeof *names);
    return whole;
}

void lapse_cli_file_close(struct lapse_cli_file *file) {
    lapse_diag_list_free(&file->unread);
    lapse_alloc_free(lapse_alloc_libc(), file->repeats,
                     (file->loaded.plan_count + 1) * sizeof *file->repeats);
    file->repeats = NULL;
    if (file->readable) {
        lapse_file_free(&file->loaded);
    }
}

const struct lapse_diag_list *lapse_cli_file_diags(const struct lapse_cli_file *file) {
    return file->readable ? &file->loaded.diags : &file->unread;
}

void lapse_cli_diags_show(const struct lapse_cli_file *file, const struct lapse_diag_list *diags,
                          const struct lapse_style *style) {
    struct lapse_out out;
    lapse_out_init(&out, lapse_alloc_libc());
    for (size_t i = 0; i < diags->count; i++) {
        lapse_excerpt_draw(&out, file->readable ? &file->source : NULL, diags->items[i], style);
        lapse_out_text(&out, "\n");
    }
    lapse_cli_print(&out);
    lapse_out_free(&out);
}

bool lapse_cli_chosen(const struct lapse_cli_options *options,
                      const struct lapse_cli_target *target, const struct lapse_plan *plan) {
    bool line = target->whole;
    for (size_t i = 0; i < target->line_count; i++) {
        line =
            line || (target->lines[i] >= plan->line_begin && target->lines[i] <= plan->line_last);
    }
    bool row = !options->has_row || plan->row == options->row;
    return line && row && (options->match == NULL || lapse_cli_match(options->match, plan->name));
}

void lapse_cli_plan_run(const struct lapse_cli_file *file, size_t index,
                        struct lapse_cli_choice choice, uint64_t seed,
                        struct lapse_cli_result *ret) {
    struct lapse_plan *plan = file->loaded.plans[index];
    plan->compare_model = choice.options->compare_model;
    plan->promise_strict = choice.options->promise_strict;
    plan->the_case.promise_strict = plan->promise_strict;
    plan->the_case.tally = choice.options->tally;
    memset(ret, 0, sizeof *ret);
    ret->view = (struct lapse_result_view){
        .file = file->source.name,
        .line = plan->line_first,
        .row = plan->row,
        .name = plan->name,
        .name_repeats = file->repeats[index],
        .promise_strict = plan->promise_strict,
        .compare_model = plan->compare_model,
        .seed = lapse_plan_seed(plan, seed),
        .source = &file->source,
        .the_case = &plan->the_case,
    };
    enum lapse_status status =
        choice.listed ? lapse_run_choices(plan, choice.list, choice.list_count, choice.arena,
                                          &ret->run, &ret->err)
                      : lapse_run_plan(plan, seed, choice.arena, &ret->run, &ret->err);
    if (status != LAPSE_OK) {
        tell_fault(ret, status);
        return;
    }
    ret->ran = true;
    ret->pinned = plan->has_seed;
    ret->view.history = ret->run.history;
    ret->view.verdict = lapse_judge_verdict(ret->run.judge);
    ret->view.outcome = ret->view.verdict->outcome;
    ret->view.slacks = ret->view.verdict->slacks;
    if (ret->view.outcome == LAPSE_OUTCOME_INCONCLUSIVE) {
        tell_bound(ret);
    }
    if (choice.options->check_determinism) {
        run_again(plan, seed, ret);
    }
}

static void run_again(const struct lapse_plan *plan, uint64_t seed,
                      struct lapse_cli_result *result) {
    struct lapse_again *again = &result->again;
    enum lapse_status status = lapse_run_again(plan, seed, &result->run, again, &result->err);
    if (status != LAPSE_OK) {
        tell_fault(result, status);
    } else if (again->differs) {
        result->parting = (struct lapse_parting){again->at, again->history, again->restored};
        result->view.parting = &result->parting;
    }
}

bool lapse_cli_result_varies(const struct lapse_cli_result *result) {
    size_t choices = 0;
    if (!result->ran || result->pinned || !lapse_view_passed(&result->view)) {
        return false;
    }
    (void)lapse_choices_list(result->run.choices, &choices);
    return choices > 0;
}

void lapse_cli_result_free(struct lapse_cli_result *result) {
    if (result->lowered.diags.alloc != NULL) {
        lapse_diag_list_free(&result->lowered.diags);
    }
    lapse_again_free(&result->again);
    if (result->ran) {
        lapse_run_free(&result->run);
    }
    memset(result, 0, sizeof *result);
}

int64_t lapse_cli_result_ns(const struct lapse_cli_result *result) {
    size_t count = result->ran ? lapse_history_count(result->run.history) : 0;
    return count == 0 ? 0 : lapse_history_at(result->run.history, count - 1)->at.ns;
}

int lapse_cli_exit_worse(int a, int b) {
    static const int falling[] = {LAPSE_EXIT_BUG,      LAPSE_EXIT_VIOLATED,
                                  LAPSE_EXIT_PARTED,   LAPSE_EXIT_MISTAKES,
                                  LAPSE_EXIT_USAGE,    LAPSE_EXIT_INCONCLUSIVE,
                                  LAPSE_EXIT_PASSED};
    for (size_t i = 0; i < sizeof falling / sizeof *falling; i++) {
        if (a == falling[i] || b == falling[i]) {
            return falling[i];
        }
    }
    return a;
}

/* Memory that runs out is of this machine, not a bug of lapse. */
static void tell_fault(struct lapse_cli_result *result, enum lapse_status status) {
    if (status == LAPSE_NOMEM) {
        (void)snprintf(result->why, sizeof result->why, "memory ran out in this scenario: %s",
                       result->err.message);
    } else {
        (void)snprintf(result->why, sizeof result->why, "lapse itself failed (%s): %s",
                       lapse_status_word(status), result->err.message);
    }
    result->view.broken = true;
    result->view.starved = status == LAPSE_NOMEM;
    result->view.why = result->why;
}

/* Which bound, where, and what to do. Of the two bounds of a history the one by bytes is reached
 * with fewer events. */
static void tell_bound(struct lapse_cli_result *result) {
    const struct lapse_history *history = result->run.history;
    size_t count = lapse_history_count(history);
    const struct lapse_history_event *last = lapse_history_at(history, count - 1);
    bool full = last->kind == LAPSE_HISTORY_TRUNCATED;
    bool by_count = full && count > LAPSE_HISTORY_EVENTS_MAX;
    char at[LAPSE_TIME_TEXT_MAX], bound[80];
    if (!full) {
        (void)snprintf(bound, sizeof bound, "%llu turns of its queue",
                       (unsigned long long)result->run.events);
    } else if (by_count) {
        (void)snprintf(bound, sizeof bound, "%d,%03d events", LAPSE_HISTORY_EVENTS_MAX / 1000,
                       LAPSE_HISTORY_EVENTS_MAX % 1000);
    } else {
        (void)snprintf(bound, sizeof bound, "%d MiB of events",
                       (int)LAPSE_HISTORY_BYTES_MAX / (1024 * 1024));
    }
    (void)snprintf(result->why, sizeof result->why,
                   "the run was cut at %s, at its bound of %s, and what came later was not judged: "
                   "shorten `run_for`, lengthen `every`, or write fewer `times`",
                   lapse_span_print((struct lapse_span){last->at.ns}, at), bound);
    result->view.why = result->why;
}
