/* `lapse check FILE...`: judge recorded histories, each by what it tells. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static bool check_one(struct lapse_cli_check_work *work, const char *path);
static int finish(struct lapse_cli_check_work *work);
static int exit_code(const struct lapse_totals *totals);

int lapse_cli_check(const struct lapse_cli_options *options) {
    if (options->form != NULL && lapse_cli_form_find(options->form, NULL, 0) == 0) {
        return lapse_cli_complain(LAPSE_EXIT_USAGE, "--format takes lapse, etcd or kv, not '%s'",
                                  options->form);
    }
    if (!lapse_cli_certificate_free(options) || !lapse_cli_sinks_check(options)) {
        return LAPSE_EXIT_USAGE;
    }
    struct lapse_cli_check_work work = {.options = options};
    struct lapse_cli_selection selection = {.count = options->path_count};
    selection.targets = calloc(options->path_count + 1, sizeof *selection.targets);
    (void)lapse_rule_table(&work.totals.rule_count);
    work.tallies = calloc(work.totals.rule_count + 1, sizeof *work.tallies);
    bool whole = selection.targets != NULL && work.tallies != NULL;
    for (size_t i = 0; whole && i < options->path_count; i++) {
        selection.targets[i].path = options->paths[i];
    }
    lapse_out_init(&work.replay, lapse_alloc_libc());
    lapse_out_init(&work.certificates, lapse_alloc_libc());
    int code = LAPSE_EXIT_BUG;
    if (whole) {
        lapse_cli_sinks_open(options, &selection, &work.sinks);
        for (size_t i = 0; whole && i < options->path_count; i++) {
            whole = check_one(&work, options->paths[i]);
        }
        code = whole ? finish(&work) : LAPSE_EXIT_BUG;
        lapse_cli_sinks_close(&work.sinks);
    }
    if (!whole) {
        (void)lapse_cli_complain(code, "memory ran out");
    }
    lapse_out_free(&work.replay);
    lapse_out_free(&work.certificates);
    free(selection.targets);
    free(work.tallies);
    return code;
}

/* False: memory ran out. */
static bool check_one(struct lapse_cli_check_work *work, const char *path) {
    struct lapse_cli_checked checked;
    enum lapse_status status = lapse_cli_check_file(work->options, path, &checked);
    if (status != LAPSE_NOMEM) {
        lapse_cli_check_sum(work, &checked);
    }
    lapse_cli_checked_free(&checked);
    return status != LAPSE_NOMEM;
}

static int finish(struct lapse_cli_check_work *work) {
    struct lapse_totals *totals = &work->totals;
    totals->tallies = work->tallies;
    totals->program = "lapse " LAPSE_CLI_VERSION;
    totals->recorded = true;
    totals->seed = work->options->seed;
    totals->exit_code = exit_code(totals);
    bool written = lapse_cli_certificate_write(work->options->certificate, &work->certificates);
    int code = written ? totals->exit_code : LAPSE_EXIT_BUG;
    const char *replay = work->replay.len > 0 ? work->replay.text : NULL;
    return lapse_cli_sinks_write(&work->sinks, totals, replay) ? code : LAPSE_EXIT_BUG;
}

static int exit_code(const struct lapse_totals *totals) {
    return totals->failed > 0           ? LAPSE_EXIT_VIOLATED
           : totals->mistaken_files > 0 ? LAPSE_EXIT_MISTAKES
           : totals->inconclusive > 0   ? LAPSE_EXIT_INCONCLUSIVE
                                        : LAPSE_EXIT_PASSED;
}
