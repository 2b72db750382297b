/* The one document that a command is about. */
#include <string.h>

#include "explore.h"

static int choose(const struct lapse_cli_options *options, const char *option,
                  const struct lapse_cli_target *target, struct lapse_cli_file *file,
                  size_t *ret_index);

int lapse_cli_only_plan(const struct lapse_cli_options *options, const char *option,
                        struct lapse_cli_file *ret, size_t *ret_index) {
    struct lapse_cli_selection selection;
    struct lapse_error err = {0};
    enum lapse_status status =
        lapse_cli_select(options->paths, options->path_count, &selection, &err);
    int code;
    if (status != LAPSE_OK) {
        code = lapse_cli_complain(LAPSE_EXIT_MISTAKES, "%s", err.message);
    } else if (selection.count != 1) {
        code = lapse_cli_complain(LAPSE_EXIT_USAGE, "%s is of one document, and %zu files are "
                                                    "named; name one, as FILE:LINE",
                                  option, selection.count);
    } else {
        code = choose(options, option, &selection.targets[0], ret, ret_index);
    }
    lapse_cli_selection_free(&selection);
    return code;
}

static int choose(const struct lapse_cli_options *options, const char *option,
                  const struct lapse_cli_target *target, struct lapse_cli_file *file,
                  size_t *ret_index) {
    enum lapse_status status = lapse_cli_file_open(target->path, file);
    int code = LAPSE_EXIT_PASSED;
    size_t count = 0;
    if (status == LAPSE_NOMEM) {
        code = lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
    } else if (status != LAPSE_OK) {
        const struct lapse_style style = lapse_cli_style(options);
        lapse_cli_diags_show(file, lapse_cli_file_diags(file), &style);
        code = LAPSE_EXIT_MISTAKES;
    }
    for (size_t i = 0; code == LAPSE_EXIT_PASSED && i < file->loaded.plan_count; i++) {
        if (lapse_cli_chosen(options, target, file->loaded.plans[i])) {
            *ret_index = i;
            count++;
        }
    }
    if (code == LAPSE_EXIT_PASSED && count == 0) {
        code = lapse_cli_complain_place(options, target, file);
    } else if (code == LAPSE_EXIT_PASSED && count > 1) {
        code = lapse_cli_complain(LAPSE_EXIT_USAGE,
                                  "%s is of one document, and %zu are chosen; name one, as "
                                  "%s:LINE, or a row of it with --row",
                                  option, count, target->path);
    }
    if (code != LAPSE_EXIT_PASSED) {
        lapse_cli_file_close(file);
    }
    return code;
}
