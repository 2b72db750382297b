/* The one target of a command, and what stands at an address where nothing that was asked for
 * does. */
#include "runner.h"

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
    if (options->has_row && rows > 0) {
        return lapse_cli_complain(LAPSE_EXIT_NOTHING,
                                  "the scenario at %s:%d has the rows 0 to %d, not %d",
                                  target->path, line, (int)rows - 1, (int)options->row);
    }
    return lapse_cli_complain(
        LAPSE_EXIT_NOTHING, "no scenario%s stands at %s:%d; `lapse run -v %s` lists them",
        options->has_row ? " with rows" : "", target->path, line, target->path);
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
