/* The scenarios that a campaign starts from, as shapes: each document, or each of its rows. */
#include <stdio.h>

#include "fuzz.h"
#include "runner.h"

static int take_file(struct lapse_cli_fuzz *fuzz, const char *path,
                     const struct lapse_cli_target *target, size_t *taken);

int lapse_cli_fuzz_shapes(struct lapse_cli_fuzz *fuzz, char *const *paths, size_t count) {
    struct lapse_cli_selection selection;
    struct lapse_error err = {0};
    if (count == 0) {
        return LAPSE_EXIT_PASSED;
    }
    enum lapse_status status = lapse_cli_select(paths, count, &selection, &err);
    int code = LAPSE_EXIT_PASSED;
    size_t taken = 0;
    if (status != LAPSE_OK) {
        code = lapse_cli_complain(status == LAPSE_NOMEM ? LAPSE_EXIT_BUG : LAPSE_EXIT_MISTAKES,
                                  "%s", err.message);
    }
    for (size_t i = 0; code == LAPSE_EXIT_PASSED && i < selection.count; i++) {
        code = take_file(fuzz, selection.targets[i].path, &selection.targets[i], &taken);
    }
    if (code == LAPSE_EXIT_PASSED && taken == 0) {
        code = lapse_cli_complain(LAPSE_EXIT_NOTHING,
                                  "nothing was selected: no scenario there; name a file, a line of "
                                  "one, or a folder");
    }
    lapse_cli_selection_free(&selection);
    return code;
}

static int take_file(struct lapse_cli_fuzz *fuzz, const char *path,
                     const struct lapse_cli_target *target, size_t *taken) {
    struct lapse_cli_file file;
    struct lapse_error err = {0};
    int code = LAPSE_EXIT_PASSED;
    enum lapse_status status = lapse_cli_file_open(path, &file);
    if (status == LAPSE_INVALID) {
        const struct lapse_style style = lapse_cli_style(fuzz->options);
        lapse_cli_diags_show(&file, lapse_cli_file_diags(&file), &style);
        code = LAPSE_EXIT_MISTAKES;
    } else if (status != LAPSE_OK) {
        code = lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
    }
    for (size_t i = 0; code == LAPSE_EXIT_PASSED && i < file.loaded.plan_count; i++) {
        const struct lapse_plan *plan = file.loaded.plans[i];
        if (!lapse_cli_chosen(fuzz->options, target, plan)) {
            continue;
        }
        status = lapse_campaign_shape(fuzz->campaign, plan, &err);
        if (status == LAPSE_NOMEM) {
            code = lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
        } else if (status != LAPSE_OK) {
            (void)lapse_cli_complain(LAPSE_EXIT_PASSED, "%s: left out: %s", path, err.message);
        }
        *taken += status == LAPSE_OK;
    }
    lapse_cli_file_close(&file);
    return code;
}
