/* The one target of a command, and what stands at an address where nothing that was asked for
 * does. */
#include <stdio.h>

#include "runner.h"

static void say_no_file(const struct lapse_cli_options *options,
                        const struct lapse_cli_selection *selection, const char *path);

int lapse_cli_complain_place(const struct lapse_cli_options *options,
                             const struct lapse_cli_target *target,
                             const struct lapse_cli_file *file) {
    int line = target->line_count > 0 ? target->lines[0] : 1;
    int32_t rows = 0;
    for (size_t i = 0; i < file->loaded.plan_count; i++) {
        const struct lapse_plan *plan = file->loaded.plans[i];
        bool here = line >= plan->line_begin && line <= plan->line_last;
        rows = here && plan->row >= rows ? plan->row + 1 : rows;
    }
    if (options->match != NULL) {
        return lapse_cli_complain(LAPSE_EXIT_NOTHING,
                                  "no scenario at %s:%d has a name that matches -k %s; `lapse run "
                                  "-v %s` lists them",
                                  target->path, line, options->match, target->path);
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

int lapse_cli_complain_nothing(const struct lapse_cli_options *options,
                               const struct lapse_cli_selection *selection) {
    const char *path = options->path_count > 0 ? options->paths[0] : "scenarios";
    const struct lapse_cli_target *first = selection->targets;
    if (selection->count == 0) {
        say_no_file(options, selection, path);
        return LAPSE_EXIT_NOTHING;
    }
    const char *more = options->path_count > 1 ? " and the other paths" : "";
    const char *list = first->whole ? path : first->path;
    char files[32];
    (void)snprintf(files, sizeof files, "%zu file%s", selection->count,
                   selection->count == 1 ? "" : "s");
    if (options->match != NULL) {
        (void)lapse_cli_complain(0,
                                 "nothing was selected: no name in %s%s (%s) matches -k %s; `lapse "
                                 "run -v %s` lists them",
                                 path, more, files, options->match, list);
    } else if (options->margin) {
        (void)lapse_cli_complain(0,
                                 "nothing was selected: no document in %s%s (%s) is a protocol, "
                                 "and --margin is for those; see lapse help explore",
                                 path, more, files);
    } else if (options->has_row) {
        (void)lapse_cli_complain(0,
                                 "nothing was selected: no scenario in %s%s (%s) has a row %d; "
                                 "`lapse run -v %s` lists them, with rows from 0",
                                 path, more, files, (int)options->row, list);
    } else {
        (void)lapse_cli_complain(0,
                                 "nothing was selected: no scenario stands at %s%s; `lapse run -v "
                                 "%s` lists them",
                                 path, more, list);
    }
    return LAPSE_EXIT_NOTHING;
}

static void say_no_file(const struct lapse_cli_options *options,
                        const struct lapse_cli_selection *selection, const char *path) {
    size_t skipped = selection->skipped_folders;
    if (skipped == 0) {
        (void)lapse_cli_complain(0,
                                 "nothing was selected: no file in %s%s ends in .yaml or .yml; "
                                 "name a file, or a folder of scenarios",
                                 path, options->path_count > 1 ? " or the other paths" : "");
        return;
    }
    (void)lapse_cli_complain(0,
                             "nothing was selected: %zu folder%s skipped for the .lapse-skip in "
                             "%s; name the folder itself: lapse %s %s",
                             skipped, skipped == 1 ? " was" : "s were",
                             skipped == 1 ? "it" : "them", options->command->name,
                             selection->skipped_first);
}

int lapse_cli_one_target(const struct lapse_cli_options *options, const char *wanted,
                         int (*work)(const struct lapse_cli_options *options,
                                     const struct lapse_cli_target *target)) {
    struct lapse_cli_selection selection;
    struct lapse_error err = {0};
    enum lapse_status status = lapse_cli_select(options->paths, 1, &selection, &err);
    int code;
    if (status != LAPSE_OK) {
        code = lapse_cli_complain(LAPSE_EXIT_MISTAKES, "%s", err.message);
    } else if (selection.count != 1) {
        code = lapse_cli_complain(LAPSE_EXIT_USAGE, "%s", wanted);
    } else {
        code = work(options, &selection.targets[0]);
    }
    lapse_cli_selection_free(&selection);
    return code;
}
