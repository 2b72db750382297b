/* `lapse explore FILE`: all that can happen, instead of one run of it. A signal is held back, so
 * that what is known by then is told. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore.h"

static int explore_file(const struct lapse_cli_options *options,
                        const struct lapse_cli_target *target);
static int explore_chosen(const struct lapse_cli_options *options,
                          const struct lapse_cli_target *target, const struct lapse_cli_file *file);
static int explore_one(struct lapse_cli_choice choice, const struct lapse_cli_file *file,
                       size_t index, struct lapse_cli_document *document,
                       struct lapse_cli_states *states);
static int explore_all(const struct lapse_cli_options *options);

/* A signal is told as the exit code, unless something broke by then. */
int lapse_cli_explore(const struct lapse_cli_options *options) {
    lapse_cli_hold_signals(true);
    int code = options->states != NULL ? lapse_cli_explore_with_states(options)
                                       : explore_all(options);
    int signal = lapse_cli_interrupted();
    lapse_cli_hold_signals(false);
    if (signal != 0 && code != LAPSE_EXIT_VIOLATED && code != LAPSE_EXIT_BUG) {
        code = 128 + signal;
    }
    if (code != LAPSE_EXIT_NOTHING && code != LAPSE_EXIT_USAGE) {
        printf("exit     %s\n", lapse_exit_sentence(code));
    }
    return code;
}

static int explore_all(const struct lapse_cli_options *options) {
    struct lapse_cli_selection selection;
    struct lapse_error err = {0};
    enum lapse_status status =
        lapse_cli_select(options->paths, options->path_count, &selection, &err);
    int code = LAPSE_EXIT_NOTHING;
    if (status != LAPSE_OK) {
        code = lapse_cli_complain(LAPSE_EXIT_MISTAKES, "%s", err.message);
    }
    for (size_t i = 0; status == LAPSE_OK && i < selection.count && lapse_cli_interrupted() == 0;
         i++) {
        code = lapse_cli_exit_worse(code, explore_file(options, &selection.targets[i]));
    }
    if (code == LAPSE_EXIT_NOTHING && lapse_cli_interrupted() == 0) {
        (void)lapse_cli_complain_nothing(options, &selection);
    }
    lapse_cli_selection_free(&selection);
    return code;
}

static int explore_file(const struct lapse_cli_options *options,
                        const struct lapse_cli_target *target) {
    struct lapse_style style = lapse_cli_style(options);
    struct lapse_cli_file file;
    enum lapse_status status = lapse_cli_file_open(target->path, &file);
    int code;
    if (status == LAPSE_NOMEM) {
        code = lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
    } else if (status != LAPSE_OK) {
        lapse_cli_diags_show(&file, lapse_cli_file_diags(&file), &style);
        code = LAPSE_EXIT_MISTAKES;
    } else {
        code = explore_chosen(options, target, &file);
    }
    lapse_cli_file_close(&file);
    return code;
}

static int explore_chosen(const struct lapse_cli_options *options,
                          const struct lapse_cli_target *target,
                          const struct lapse_cli_file *file) {
    const struct lapse_cli_choice choice = {.options = options, .target = target};
    struct lapse_cli_document document = {.number = -1};
    int code = LAPSE_EXIT_NOTHING;
    for (size_t i = 0; i < file->loaded.plan_count && lapse_cli_interrupted() == 0; i++) {
        if (lapse_cli_chosen(options, target, file->loaded.plans[i])) {
            code = lapse_cli_exit_worse(code, explore_one(choice, file, i, &document, NULL));
            (void)fflush(stdout);
        }
    }
    return code;
}

int lapse_cli_explore_plan(const struct lapse_cli_options *options,
                           const struct lapse_cli_file *file, size_t index,
                           struct lapse_cli_states *states) {
    /* Of its document no other row is chosen. */
    int line = file->loaded.plans[index]->line_first;
    const struct lapse_cli_target target = {.line_count = 1, .lines = &line};
    const struct lapse_cli_choice choice = {.options = options, .target = &target};
    struct lapse_cli_document document = {.number = -1};
    return explore_one(choice, file, index, &document, states);
}

static int explore_one(struct lapse_cli_choice choice, const struct lapse_cli_file *file,
                       size_t index, struct lapse_cli_document *document,
                       struct lapse_cli_states *states) {
    const struct lapse_cli_options *options = choice.options;
    const struct lapse_plan *plan = file->loaded.plans[index];
    if (plan->explore.on && options->has_nth) {
        return lapse_cli_complain(LAPSE_EXIT_USAGE,
                                  "%s:%d: --nth tells one order of a scenario, and a protocol has "
                                  "states and no orders; leave it out",
                                  plan->file, plan->line_first);
    }
    if (plan->explore.on && options->margin) {
        return lapse_cli_explore_margins(options, plan);
    }
    if (plan->explore.on) {
        return lapse_cli_explore_protocol(options, plan, states);
    }
    if (options->margin) {
        return LAPSE_EXIT_NOTHING;
    }
    return lapse_cli_explore_orders(choice, file, index, document, states);
}
