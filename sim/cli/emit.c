/* `lapse emit FILE[:LINE]`: scenarios written out as the loader understood them, each row of `vary`
 * a document of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "scenarios/emit.h"

static int emit_file(const struct lapse_cli_options *options,
                     const struct lapse_cli_target *target);
static int emit_chosen(const struct lapse_cli_options *options,
                       const struct lapse_cli_target *target, const struct lapse_cli_file *file);
static int print_plans(const struct lapse_plan *const *plans, size_t count);

int lapse_cli_emit(const struct lapse_cli_options *options) {
    return lapse_cli_one_target(options, "emit writes one file: name it, or FILE:LINE", emit_file);
}

/* Stdout is the new file's alone, so mistakes are only counted here. */
static int emit_file(const struct lapse_cli_options *options,
                     const struct lapse_cli_target *target) {
    struct lapse_cli_file file;
    enum lapse_status status = lapse_cli_file_open(target->path, &file);
    int code;
    if (status == LAPSE_NOMEM) {
        code = lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
    } else if (status != LAPSE_OK) {
        const struct lapse_diag_list *diags = lapse_cli_file_diags(&file);
        code = lapse_cli_complain(LAPSE_EXIT_MISTAKES, "%s has %zu mistake%s: see lapse lint %s",
                                  target->path, diags->count, diags->count == 1 ? "" : "s",
                                  target->path);
    } else {
        code = emit_chosen(options, target, &file);
    }
    lapse_cli_file_close(&file);
    return code;
}

static int emit_chosen(const struct lapse_cli_options *options,
                       const struct lapse_cli_target *target, const struct lapse_cli_file *file) {
    const struct lapse_plan **plans = calloc(file->loaded.plan_count + 1, sizeof(*plans));
    size_t count = 0;
    if (plans == NULL) {
        return lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
    }
    for (size_t i = 0; i < file->loaded.plan_count; i++) {
        if (lapse_cli_chosen(options, target, file->loaded.plans[i])) {
            plans[count++] = file->loaded.plans[i];
        }
    }
    int code = count > 0 ? print_plans(plans, count) : LAPSE_EXIT_NOTHING;
    if (count == 0 && options->match != NULL) {
        (void)lapse_cli_complain(code,
                                 "nothing was selected: no name there matches -k %s; `lapse run "
                                 "-v %s` lists them",
                                 options->match, target->path);
    } else if (count == 0) {
        (void)lapse_cli_complain_place(options, target, file);
    }
    free(plans);
    return code;
}

static int print_plans(const struct lapse_plan *const *plans, size_t count) {
    struct lapse_emitted emitted = {0};
    struct lapse_error err = {0};
    enum lapse_status status =
        lapse_plans_emit_proved(lapse_alloc_libc(), plans, count, &emitted, &err);
    if (status != LAPSE_OK) {
        return lapse_cli_complain(status == LAPSE_NOMEM ? LAPSE_EXIT_BUG : LAPSE_EXIT_MISTAKES,
                                  "%s", err.message);
    }
    (void)fwrite(emitted.text, 1, emitted.bytes, stdout);
    lapse_emitted_free(&emitted);
    return LAPSE_EXIT_PASSED;
}
