/* `lapse explore FILE`: all that can happen, instead of one run of it. An interrupt is held back,
 * so that what is known by then is told. */
#define _POSIX_C_SOURCE 200809L

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore.h"

static void hold_interrupts(bool hold);
static int explore_file(const struct lapse_cli_options *options,
                        const struct lapse_cli_target *target);
static int explore_chosen(const struct lapse_cli_options *options,
                          const struct lapse_cli_target *target, const struct lapse_cli_file *file);
static int explore_plan(const struct lapse_cli_options *options, const struct lapse_cli_file *file,
                        size_t index);

int lapse_cli_explore(const struct lapse_cli_options *options) {
    struct lapse_cli_selection selection;
    struct lapse_error err = {0};
    enum lapse_status status =
        lapse_cli_select(options->paths, options->path_count, &selection, &err);
    int code = LAPSE_EXIT_NOTHING;
    hold_interrupts(true);
    if (status != LAPSE_OK) {
        code = lapse_cli_complain(LAPSE_EXIT_MISTAKES, "%s", err.message);
    }
    for (size_t i = 0; status == LAPSE_OK && i < selection.count && !lapse_cli_interrupted(); i++) {
        code = lapse_cli_exit_worse(code, explore_file(options, &selection.targets[i]));
    }
    hold_interrupts(false);
    if (code == LAPSE_EXIT_NOTHING) {
        (void)lapse_cli_complain_nothing(options, &selection);
    } else {
        printf("exit     %s\n", lapse_exit_sentence(code));
    }
    lapse_cli_selection_free(&selection);
    return code;
}

bool lapse_cli_interrupted(void) {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGINT) == 1;
}

/* At the end one that has come is taken: it has had its effect. */
static void hold_interrupts(bool hold) {
    sigset_t interrupts;
    int taken;
    (void)sigemptyset(&interrupts);
    (void)sigaddset(&interrupts, SIGINT);
    if (!hold && lapse_cli_interrupted()) {
        (void)sigwait(&interrupts, &taken);
    }
    (void)sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &interrupts, NULL);
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
    int code = LAPSE_EXIT_NOTHING;
    for (size_t i = 0; i < file->loaded.plan_count && !lapse_cli_interrupted(); i++) {
        if (lapse_cli_chosen(options, target, file->loaded.plans[i])) {
            code = lapse_cli_exit_worse(code, explore_plan(options, file, i));
            (void)fflush(stdout);
        }
    }
    return code;
}

static int explore_plan(const struct lapse_cli_options *options, const struct lapse_cli_file *file,
                        size_t index) {
    const struct lapse_plan *plan = file->loaded.plans[index];
    if (plan->explore.on && options->margin) {
        return lapse_cli_explore_margins(options, plan);
    }
    if (plan->explore.on) {
        return lapse_cli_explore_protocol(options, plan);
    }
    if (options->margin) {
        return LAPSE_EXIT_NOTHING;
    }
    return lapse_cli_explore_orders(options, file, index);
}

/* With commas: what is counted here is counted in millions. */
const char *lapse_cli_number(uint64_t number, char buf[32]) {
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    size_t used = 0;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) {
            buf[used++] = ',';
        }
        buf[used++] = digits[i];
    }
    buf[used] = '\0';
    return buf;
}
