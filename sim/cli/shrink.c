/* `lapse shrink FILE[:LINE]`: the first of the chosen scenarios that fails, made small, saved and
 * told. */
#include <stdio.h>

#include "runner.h"
#include "shrunk.h"

static int shrink_file(const struct lapse_cli_options *options,
                       const struct lapse_cli_target *target);
static int shrink_chosen(const struct lapse_cli_options *options,
                         const struct lapse_cli_target *target, const struct lapse_cli_file *file);
static enum lapse_status make(const void *what, const struct lapse_shrink_options *options,
                              struct lapse_shrunk *ret, struct lapse_error *err);
static int shrink_plan(const struct lapse_cli_options *options, struct lapse_plan *plan);

int lapse_cli_shrink(const struct lapse_cli_options *options) {
    struct lapse_cli_selection selection;
    struct lapse_error err = {0};
    enum lapse_status status = lapse_cli_select(options->paths, 1, &selection, &err);
    int code;
    if (status != LAPSE_OK) {
        code = lapse_cli_complain(LAPSE_EXIT_MISTAKES, "%s", err.message);
    } else if (!(options->output != NULL ? lapse_cli_finding_may(options->output, &err)
                                         : lapse_cli_finding_folder(LAPSE_CLI_FINDINGS, &err))) {
        code = lapse_cli_complain(LAPSE_EXIT_MISTAKES, "%s", err.message);
    } else if (selection.count != 1) {
        code = lapse_cli_complain(LAPSE_EXIT_USAGE,
                                  "shrink takes one file: name it, or FILE:LINE");
    } else {
        code = shrink_file(options, &selection.targets[0]);
    }
    lapse_cli_selection_free(&selection);
    return code;
}

static int shrink_file(const struct lapse_cli_options *options,
                       const struct lapse_cli_target *target) {
    struct lapse_style style = lapse_cli_style(options);
    struct lapse_cli_file file;
    enum lapse_status status = lapse_cli_file_open(target->path, &file);
    int code;
    if (status == LAPSE_NOMEM) {
        code = lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
    } else if (status != LAPSE_OK) {
        const struct lapse_diag_list *diags = lapse_cli_file_diags(&file);
        lapse_cli_diags_show(&file, diags, &style);
        code = lapse_cli_complain(LAPSE_EXIT_MISTAKES, "%zu mistake%s; nothing was run",
                                  diags->count, diags->count == 1 ? "" : "s");
    } else {
        code = shrink_chosen(options, target, &file);
    }
    lapse_cli_file_close(&file);
    return code;
}

static int shrink_chosen(const struct lapse_cli_options *options,
                         const struct lapse_cli_target *target,
                         const struct lapse_cli_file *file) {
    const struct lapse_plan *last = NULL;
    size_t chosen = 0;
    int code = LAPSE_EXIT_PASSED;
    for (size_t i = 0; i < file->loaded.plan_count && code == LAPSE_EXIT_PASSED; i++) {
        struct lapse_plan *plan = file->loaded.plans[i];
        if (lapse_cli_chosen(options, target, plan)) {
            if (plan->explore.on) {
                return lapse_cli_complain(LAPSE_EXIT_NOTHING,
                                          "a protocol has no run: write lapse explore %s:%d",
                                          target->path, plan->line_first);
            }
            chosen++;
            last = plan;
            code = shrink_plan(options, plan);
        }
    }
    if (chosen == 0) {
        return lapse_cli_complain(LAPSE_EXIT_NOTHING,
                                  "no such scenario stands there; `lapse run -v %s` lists them",
                                  target->path);
    }
    if (code == LAPSE_EXIT_PASSED) {
        printf("nothing to shrink: under seed %llu %s not fail\n",
               (unsigned long long)lapse_plan_seed(last, options->seed),
               chosen == 1 ? "the scenario does" : "the scenarios do");
    }
    return code;
}

static int shrink_plan(const struct lapse_cli_options *options, struct lapse_plan *plan) {
    struct lapse_cli_made made;
    struct lapse_out text, told;
    struct lapse_error err = {0};
    plan->promise_strict = plan->the_case.promise_strict = options->promise_strict;
    const struct lapse_cli_small_job job = {.make = make,
                                            .what = plan,
                                            .seed = options->seed,
                                            .no_model = !options->compare_model,
                                            .promise_strict = options->promise_strict,
                                            .as_written = options->as_written};
    lapse_out_init(&text, lapse_alloc_libc());
    lapse_out_init(&told, lapse_alloc_libc());
    enum lapse_status status = lapse_cli_small(&job, &text, &told, &made, &err);
    const char *why = status == LAPSE_OK ? made.err.message : err.message;
    status = status == LAPSE_OK ? made.status : status;
    int code = LAPSE_EXIT_PASSED;
    if (status != LAPSE_OK) {
        code = lapse_cli_complain(status == LAPSE_INVALID ? LAPSE_EXIT_MISTAKES : LAPSE_EXIT_BUG,
                                  "%s", why);
    } else if (text.failed || told.failed) {
        code = lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
    } else if (made.fails) {
        code = lapse_cli_shrink_tell(options, plan, &made, &text, &told);
    }
    lapse_out_free(&text);
    lapse_out_free(&told);
    return code;
}

static enum lapse_status make(const void *what, const struct lapse_shrink_options *options,
                              struct lapse_shrunk *ret, struct lapse_error *err) {
    return lapse_shrink_plan(what, options, ret, err);
}
