/* `lapse lint`: every mistake of every file, and warnings, without running anything. */
#include <stdio.h>
#include <string.h>

#include "runner.h"
#include "waits.h"

struct counts {
    size_t files, mistaken, mistakes, warnings;
};

static bool lint_file(const char *path, const struct lapse_style *style, struct counts *counts);
static int finish(const struct lapse_cli_options *options,
                  const struct lapse_cli_selection *selection, const struct counts *counts);

int lapse_cli_lint(const struct lapse_cli_options *options) {
    char folder[] = "scenarios";
    char *const usual[] = {folder};
    bool named = options->path_count > 0;
    struct lapse_style style = lapse_cli_style(options);
    struct lapse_cli_selection selection;
    struct lapse_error err = {0};
    struct counts counts = {0, 0, 0, 0};
    enum lapse_status status = lapse_cli_select(named ? options->paths : usual,
                                                named ? options->path_count : 1, &selection, &err);
    int code = LAPSE_EXIT_MISTAKES;
    if (status != LAPSE_OK) {
        (void)lapse_cli_complain(code, "%s", err.message);
    }
    for (size_t i = 0; status == LAPSE_OK && i < selection.count; i++) {
        if (!lint_file(selection.targets[i].path, &style, &counts)) {
            status = LAPSE_NOMEM;
            code = lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
        }
    }
    if (status == LAPSE_OK) {
        code = finish(options, &selection, &counts);
    }
    lapse_cli_selection_free(&selection);
    return code;
}

static bool lint_file(const char *path, const struct lapse_style *style, struct counts *counts) {
    struct lapse_cli_file file;
    enum lapse_status status = lapse_cli_file_open(path, &file);
    const struct lapse_diag_list *diags = lapse_cli_file_diags(&file);
    struct lapse_diag_list warnings;
    lapse_diag_list_init(&warnings, lapse_alloc_libc());
    counts->files++;
    counts->mistaken += diags->count > 0;
    counts->mistakes += diags->count;
    for (size_t i = 0; status == LAPSE_OK && i < file.loaded.plan_count; i++) {
        lapse_cli_waits_find(file.loaded.plans[i], &warnings);
    }
    counts->warnings += warnings.count;
    bool whole = status != LAPSE_NOMEM && !diags->failed && !warnings.failed;
    lapse_cli_diags_show(&file, diags, style);
    lapse_cli_diags_show(&file, &warnings, style);
    lapse_diag_list_free(&warnings);
    lapse_cli_file_close(&file);
    return whole;
}

static int finish(const struct lapse_cli_options *options,
                  const struct lapse_cli_selection *selection, const struct counts *counts) {
    if (counts->files == 0) {
        return lapse_cli_complain_nothing(options, selection);
    }
    printf("%zu file%s, %zu mistake%s, %zu warning%s\n", counts->files,
           counts->files == 1 ? "" : "s", counts->mistakes, counts->mistakes == 1 ? "" : "s",
           counts->warnings, counts->warnings == 1 ? "" : "s");
    return counts->mistaken > 0 ? LAPSE_EXIT_MISTAKES : LAPSE_EXIT_PASSED;
}
