/* `lapse shrink FILE[:LINE]`: the first of the chosen scenarios that fails, made small, saved and
 * told. */
#include <stdio.h>
#include <string.h>

#include "runner.h"
#include "shrunk.h"
#include "story.h"

static int shrink_file(const struct lapse_cli_options *options,
                       const struct lapse_cli_target *target);
static int shrink_chosen(const struct lapse_cli_options *options,
                         const struct lapse_cli_target *target, const struct lapse_cli_file *file);
static int shrink_plan(const struct lapse_cli_options *options, struct lapse_plan *plan);
static int tell(const struct lapse_cli_options *options, const struct lapse_shrunk *shrunk,
                const struct lapse_cli_sizes *sizes);

int lapse_cli_shrink(const struct lapse_cli_options *options) {
    struct lapse_cli_selection selection;
    struct lapse_error err = {0};
    enum lapse_status status = lapse_cli_select(options->paths, 1, &selection, &err);
    int code;
    if (status != LAPSE_OK) {
        code = lapse_cli_complain(LAPSE_EXIT_MISTAKES, "%s", err.message);
    } else if (options->output != NULL && !lapse_cli_finding_may(options->output, &err)) {
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
               (unsigned long long)options->seed,
               chosen == 1 ? "the scenario does" : "the scenarios do");
    }
    return code;
}

static int shrink_plan(const struct lapse_cli_options *options, struct lapse_plan *plan) {
    struct lapse_cli_sizes sizes = {.count = 0};
    struct lapse_arena *arena = lapse_arena_open();
    struct lapse_shrunk shrunk;
    struct lapse_error err = {0};
    plan->promise_strict = plan->the_case.promise_strict = options->promise_strict;
    const struct lapse_shrink_options wanted = {.alloc = lapse_alloc_libc(),
                                                .arena = arena,
                                                .seed = options->seed,
                                                .promise_strict = options->promise_strict,
                                                .as_written = options->as_written,
                                                .no_model = !options->compare_model,
                                                .progress = lapse_cli_sizes_take,
                                                .ctx = &sizes};
    enum lapse_status status = lapse_shrink_plan(plan, &wanted, &shrunk, &err);
    int code = LAPSE_EXIT_PASSED;
    if (status != LAPSE_OK) {
        code = lapse_cli_complain(status == LAPSE_INVALID ? LAPSE_EXIT_MISTAKES : LAPSE_EXIT_BUG,
                                  "%s", err.message);
    } else if (shrunk.fails) {
        code = tell(options, &shrunk, &sizes);
    }
    lapse_shrunk_free(&shrunk);
    lapse_arena_close(arena);
    return code;
}

static int tell(const struct lapse_cli_options *options, const struct lapse_shrunk *shrunk,
                const struct lapse_cli_sizes *sizes) {
    char path[LAPSE_CLI_PATH_MAX];
    struct lapse_error err = {0};
    if (lapse_cli_finding_save(shrunk, options->output, path, &err) != LAPSE_OK) {
        return lapse_cli_complain(LAPSE_EXIT_MISTAKES, "%s", err.message);
    }
    struct lapse_out out;
    lapse_out_init(&out, lapse_alloc_libc());
    lapse_out_text(&out, "  ");
    lapse_cli_sizes_draw(&out, sizes, shrunk);
    lapse_out_text(&out, "\n");
    lapse_cli_print(&out);
    lapse_out_free(&out);
    int code = lapse_cli_replay_told(options, path);
    lapse_out_init(&out, lapse_alloc_libc());
    lapse_cli_shrunk_draw(&out, shrunk);
    lapse_out_text(&out, "\nsaved    ");
    (void)lapse_out_safe_text(&out, path);
    lapse_out_format(&out, "     a scenario: `lapse run%s` fails on it until this is mended\n"
                           "exit     %s\nreplay   lapse replay ",
                     options->promise_strict ? " --promise strict" : "",
                     lapse_exit_sentence(LAPSE_EXIT_VIOLATED));
    (void)lapse_out_safe_text(&out, path);
    lapse_out_format(&out, ":1 --seed %llu%s%s\n", (unsigned long long)options->seed,
                     options->promise_strict ? " --promise strict" : "",
                     options->compare_model ? " --model" : "");
    lapse_cli_print(&out);
    lapse_out_free(&out);
    return code == LAPSE_EXIT_VIOLATED ? LAPSE_EXIT_VIOLATED
                                       : lapse_cli_complain(LAPSE_EXIT_BUG,
                                                            "the shrunk scenario does not fail");
}
