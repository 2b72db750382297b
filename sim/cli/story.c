/* One run, or one recorded history, from its steps to its digest. */
#include "story.h"

#include <stdio.h>

#include "check.h"

static const char *senseless(const struct lapse_cli_options *options);
static int tell_recorded(const struct lapse_cli_options *options, const char *path);

int lapse_cli_story(const struct lapse_result_view *view, bool again,
                    const struct lapse_style *style, struct lapse_out *out) {
    bool passed = lapse_view_passed(view);
    if (passed) {
        lapse_out_text(out, "PASS  ");
        (void)lapse_out_safe_text(out, view->file);
        lapse_out_text(out, "\n");
    }
    lapse_format_find("pretty")->scenario(out, style, view);
    if (passed) {
        lapse_out_text(out, "\n");
        lapse_timeline_draw(out, view, -1, style);
        lapse_out_format(out, "\n    digest    %016llx%s\n",
                         (unsigned long long)lapse_history_digest(view->history),
                         again ? ", and the same again" : "");
    }
    if (view->broken) {
        return LAPSE_EXIT_BUG;
    }
    return passed                                    ? LAPSE_EXIT_PASSED
           : lapse_view_parted(view)                 ? LAPSE_EXIT_PARTED
           : view->outcome == LAPSE_OUTCOME_VIOLATED ? LAPSE_EXIT_VIOLATED
                                                     : LAPSE_EXIT_INCONCLUSIVE;
}

int lapse_cli_replay_told(const struct lapse_cli_options *options, const char *path) {
    char whole[LAPSE_CLI_PATH_MAX];
    char *paths[] = {whole};
    struct lapse_cli_options told = *options;
    (void)snprintf(whole, sizeof whole, "%s", path);
    told.paths = paths;
    told.has_row = false;
    told.match = NULL;
    return lapse_cli_replay(&told);
}

bool lapse_cli_replay_recorded(const struct lapse_cli_options *options,
                               const struct lapse_cli_target *target, int *ret_code) {
    enum { HEAD_BYTES = 65536 };
    const char *path = target->path, *option = senseless(options);
    struct lapse_cli_bytes head = {0};
    bool recorded =
        lapse_cli_bytes_read(path, "a scenario or a history", HEAD_BYTES, &head, NULL) ==
            LAPSE_OK &&
        lapse_recorded_looks(head.data, head.count);
    lapse_cli_bytes_free(&head);
    if (recorded && option != NULL) {
        *ret_code = lapse_cli_complain(LAPSE_EXIT_USAGE,
                                       "%s is for a scenario, and %s is a recorded history, which "
                                       "is not run again: leave it out",
                                       option, path);
    } else if (recorded && target->line_count > 0) {
        *ret_code = lapse_cli_complain(LAPSE_EXIT_USAGE,
                                       "%s is a recorded history, which is told whole: write it "
                                       "without :%d",
                                       path, target->lines[0]);
    } else if (recorded) {
        *ret_code = tell_recorded(options, path);
    }
    return recorded;
}

/* The first option that says how a scenario is run; NULL: there is none. */
static const char *senseless(const struct lapse_cli_options *options) {
    return options->seed_given          ? "--seed"
           : options->has_row           ? "--row"
           : options->compare_model     ? "--model"
           : options->check_determinism ? "--check-determinism"
           : options->promise_strict    ? "--promise"
                                        : NULL;
}

static int tell_recorded(const struct lapse_cli_options *options, const char *path) {
    struct lapse_style style = lapse_cli_style(options);
    struct lapse_cli_checked checked;
    struct lapse_out out;
    style.verbose = options->verbose > 0 ? 2 : 1;
    lapse_out_init(&out, lapse_alloc_libc());
    enum lapse_status status = lapse_cli_check_file(options, path, &checked);
    int code = LAPSE_EXIT_MISTAKES;
    if (status == LAPSE_NOMEM) {
        code = lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
    } else if (!checked.ready) {
        const struct lapse_diag_list *diags = lapse_cli_checked_diags(&checked);
        for (size_t i = 0; i < diags->count; i++) {
            lapse_excerpt_draw(&out, &checked.recorded.source, diags->items[i], &style);
            lapse_out_text(&out, "\n");
        }
    } else {
        code = lapse_cli_story(&checked.view, false, &style, &out);
    }
    lapse_cli_print(&out);
    lapse_out_free(&out);
    lapse_cli_checked_free(&checked);
    return code;
}
