/* `lapse run`: choose, run in workers, print in file order. */
#include <stdio.h>
#include <string.h>

#include "save.h"
#include "worker.h"

static int run_selection(const struct lapse_cli_options *options,
                         const struct lapse_cli_selection *selection);
static int report(const struct lapse_cli_pool *pool, struct lapse_cli_sinks *sinks);

int lapse_cli_run(const struct lapse_cli_options *options) {
    char folder[] = "scenarios";
    char *const usual[] = {folder};
    bool named = options->path_count > 0;
    struct lapse_cli_selection selection;
    struct lapse_error err = {0};
    enum lapse_status status = lapse_cli_select(named ? options->paths : usual,
                                                named ? options->path_count : 1, &selection, &err);
    int code;
    if (status != LAPSE_OK) {
        code = lapse_cli_complain(status == LAPSE_NOMEM ? LAPSE_EXIT_BUG : LAPSE_EXIT_MISTAKES,
                                  "%s", err.message);
    } else {
        code = run_selection(options, &selection);
    }
    lapse_cli_selection_free(&selection);
    return code;
}

static int run_selection(const struct lapse_cli_options *options,
                         const struct lapse_cli_selection *selection) {
    struct lapse_cli_sinks sinks;
    struct lapse_cli_pool pool;
    struct lapse_error err = {0};
    if (!lapse_cli_sinks_check(options)) {
        return LAPSE_EXIT_USAGE;
    }
    if (options->save_folder != NULL &&
        lapse_cli_save_folder(options->save_folder, &err) != LAPSE_OK) {
        return lapse_cli_complain(LAPSE_EXIT_USAGE, "%s", err.message);
    }
    lapse_cli_sinks_open(options, selection, &sinks);
    int code = LAPSE_EXIT_BUG;
    if (lapse_cli_pool_run(options, selection, &sinks, &pool, &err) != LAPSE_OK) {
        code = lapse_cli_complain(LAPSE_EXIT_BUG, "%s", err.message);
    } else {
        code = report(&pool, &sinks);
    }
    lapse_cli_pool_free(&pool);
    lapse_cli_sinks_close(&sinks);
    return code;
}

static void complain_nothing(const struct lapse_cli_pool *pool, size_t protocols) {
    if (protocols > 0) {
        (void)lapse_cli_complain(LAPSE_EXIT_NOTHING,
                                 "nothing was run: protocols have no run; write lapse explore");
        return;
    }
    (void)lapse_cli_complain_nothing(pool->options, pool->selection);
}

static int report(const struct lapse_cli_pool *pool, struct lapse_cli_sinks *sinks) {
    struct lapse_cli_summary summary;
    lapse_cli_summary_make(pool, sinks, &summary);
    int code = summary.totals.exit_code;
    if (pool->interrupted != 0) {
        code = 128 + pool->interrupted;
        summary.totals.exit_code = code;
        (void)lapse_cli_complain(code, "interrupted: %zu of %zu files were run", pool->usable,
                                 pool->selection->count);
    } else if (code == LAPSE_EXIT_NOTHING) {
        complain_nothing(pool, summary.totals.protocols);
    }
    const char *replay = summary.replay.len > 0 ? summary.replay.text : NULL;
    if (!lapse_cli_sinks_write(sinks, &summary.totals, replay)) {
        code = LAPSE_EXIT_BUG;
    }
    lapse_cli_summary_free(&summary);
    return code;
}
