/* `lapse replay FILE:LINE`: one scenario in this very process, told in full. */
#include <stdio.h>
#include <string.h>

#include "runner.h"

static int replay_file(const struct lapse_cli_options *options,
                       const struct lapse_cli_target *target);
static int show_mistakes(const struct lapse_cli_file *file, const struct lapse_style *style);
static int replay_chosen(const struct lapse_cli_options *options,
                         const struct lapse_cli_target *target, const struct lapse_cli_file *file,
                         const struct lapse_style *style);
static int complain_place(const struct lapse_cli_options *options,
                          const struct lapse_cli_target *target, const struct lapse_cli_file *file);
static int show_result(const struct lapse_cli_result *result, const struct lapse_style *style,
                       struct lapse_out *out);

int lapse_cli_replay(const struct lapse_cli_options *options) {
    struct lapse_cli_selection selection;
    struct lapse_error err = {0};
    enum lapse_status status = lapse_cli_select(options->paths, 1, &selection, &err);
    int code;
    if (status != LAPSE_OK) {
        code = lapse_cli_complain(LAPSE_EXIT_MISTAKES, "%s", err.message);
    } else if (selection.count != 1) {
        code = lapse_cli_complain(LAPSE_EXIT_USAGE, "replay runs one scenario: write FILE:LINE");
    } else {
        code = replay_file(options, &selection.targets[0]);
    }
    lapse_cli_selection_free(&selection);
    return code;
}

int lapse_cli_replay_told(const struct lapse_cli_options *options, const char *path) {
    char *paths[] = {(char *)path};
    struct lapse_cli_options told = *options;
    told.paths = paths;
    told.has_row = false;
    return lapse_cli_replay(&told);
}

static int replay_file(const struct lapse_cli_options *options,
                       const struct lapse_cli_target *target) {
    struct lapse_style style = lapse_cli_style(options);
    style.verbose = options->verbose > 0 ? 2 : 1;
    struct lapse_cli_file file;
    enum lapse_status status = lapse_cli_file_open(target->path, &file);
    int code;
    if (status == LAPSE_NOMEM) {
        code = lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
    } else if (status != LAPSE_OK) {
        code = show_mistakes(&file, &style);
    } else {
        code = replay_chosen(options, target, &file, &style);
    }
    lapse_cli_file_close(&file);
    return code;
}

static int show_mistakes(const struct lapse_cli_file *file, const struct lapse_style *style) {
    const struct lapse_diag_list *diags = lapse_cli_file_diags(file);
    lapse_cli_diags_show(file, diags, style);
    printf("%zu mistake%s; nothing was run\nexit     %s\n", diags->count,
           diags->count == 1 ? "" : "s", lapse_exit_sentence(LAPSE_EXIT_MISTAKES));
    return LAPSE_EXIT_MISTAKES;
}

/* All rows of the document that were not named run too: a pattern that must come true sometimes
 * speaks of all of them. */
static int replay_chosen(const struct lapse_cli_options *options,
                         const struct lapse_cli_target *target, const struct lapse_cli_file *file,
                         const struct lapse_style *style) {
    struct lapse_cli_document document;
    memset(&document, 0, sizeof document);
    document.number = -1;
    struct lapse_out out;
    lapse_out_init(&out, lapse_alloc_libc());
    int32_t first = -1;
    int code = LAPSE_EXIT_NOTHING;
    for (size_t i = 0; i < file->loaded.plan_count; i++) {
        const struct lapse_plan *plan = file->loaded.plans[i];
        bool other = first >= 0 && plan->document != first;
        if (other || !lapse_cli_chosen(options, target, plan)) {
            continue;
        }
        first = plan->document;
        struct lapse_cli_result result;
        const struct lapse_cli_choice choice = {options, target, NULL};
        lapse_cli_plan_run(file, i, choice, options->seed, &result);
        lapse_cli_document_follow(file, i, choice, true, &document, &result);
        int shown = show_result(&result, style, &out);
        code = lapse_cli_exit_worse(code, shown);
        lapse_cli_result_free(&result);
    }
    if (code == LAPSE_EXIT_NOTHING) {
        (void)complain_place(options, target, file);
    }
    if (out.failed) {
        code = lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
    }
    lapse_cli_print(&out);
    lapse_out_free(&out);
    return code;
}

/* Nothing stands at the address: says what does. */
static int complain_place(const struct lapse_cli_options *options,
                          const struct lapse_cli_target *target,
                          const struct lapse_cli_file *file) {
    int line = target->line_count > 0 ? target->lines[0] : 1;
    int32_t rows = 0;
    for (size_t i = 0; i < file->loaded.plan_count; i++) {
        const struct lapse_plan *plan = file->loaded.plans[i];
        bool here = line >= plan->line_begin && line <= plan->line_last;
        rows = here && plan->row >= rows ? plan->row + 1 : rows;
    }
    if (options->has_row && rows > 0) {
        return lapse_cli_complain(LAPSE_EXIT_NOTHING,
                                  "the scenario at %s:%d has the rows 0 to %d, not %d",
                                  target->path, line, (int)rows - 1, (int)options->row);
    }
    return lapse_cli_complain(
        LAPSE_EXIT_NOTHING, "no scenario%s stands at %s:%d; `lapse run -v %s` lists them",
        options->has_row ? " with rows" : "", target->path, line, target->path);
}

static int show_result(const struct lapse_cli_result *result, const struct lapse_style *style,
                       struct lapse_out *out) {
    const struct lapse_result_view *view = &result->view;
    bool passed = lapse_view_passed(view);
    if (passed) {
        lapse_out_text(out, "PASS  ");
        (void)lapse_out_safe_text(out, view->file);
        lapse_out_text(out, "\n");
    }
    lapse_format_find("pretty")->scenario(out, style, view);
    if (passed) {
        lapse_out_text(out, "\n");
        lapse_timeline_draw(out, view, -1, style);
        lapse_out_format(out, "\n    digest    %016llx%s\n",
                         (unsigned long long)lapse_history_digest(view->history),
                         result->again.history != NULL ? ", and the same again" : "");
    }
    if (view->broken) {
        return LAPSE_EXIT_BUG;
    }
    return passed                                    ? LAPSE_EXIT_PASSED
           : lapse_view_parted(view)                 ? LAPSE_EXIT_PARTED
           : view->outcome == LAPSE_OUTCOME_VIOLATED ? LAPSE_EXIT_VIOLATED
                                                     : LAPSE_EXIT_INCONCLUSIVE;
}
