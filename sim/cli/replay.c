/* `lapse replay FILE:LINE`: one scenario in this very process, told in full; and a history that was
 * recorded, as far as it tells. */
#include <stdio.h>
#include <string.h>

#include "runner.h"
#include "story.h"

static int replay_target(const struct lapse_cli_options *options,
                         const struct lapse_cli_target *target);
static int replay_file(const struct lapse_cli_options *options,
                       const struct lapse_cli_target *target);
static int show_mistakes(const struct lapse_cli_file *file, const struct lapse_style *style);
static int replay_chosen(const struct lapse_cli_options *options,
                         const struct lapse_cli_target *target, const struct lapse_cli_file *file,
                         const struct lapse_style *style);

int lapse_cli_replay(const struct lapse_cli_options *options) {
    static const char wanted[] = "replay runs one scenario: write FILE:LINE";
    return lapse_cli_one_target(options, wanted, replay_target);
}

static int replay_target(const struct lapse_cli_options *options,
                         const struct lapse_cli_target *target) {
    int code;
    return lapse_cli_replay_recorded(options, target, &code) ? code
                                                             : replay_file(options, target);
}

static int replay_file(const struct lapse_cli_options *options,
                       const struct lapse_cli_target *target) {
    struct lapse_style style = lapse_cli_style(options);
    style.verbose = options->verbose > 0 ? 2 : 1;
    struct lapse_cli_file file;
    enum lapse_status status = lapse_cli_file_open(target->path, &file);
    int code;
    if (status == LAPSE_NOMEM) {
        code = lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
    } else if (status != LAPSE_OK) {
        code = show_mistakes(&file, &style);
    } else {
        code = replay_chosen(options, target, &file, &style);
    }
    lapse_cli_file_close(&file);
    return code;
}

static int show_mistakes(const struct lapse_cli_file *file, const struct lapse_style *style) {
    const struct lapse_diag_list *diags = lapse_cli_file_diags(file);
    lapse_cli_diags_show(file, diags, style);
    printf("%zu mistake%s; nothing was run\nexit     %s\n", diags->count,
           diags->count == 1 ? "" : "s", lapse_exit_sentence(LAPSE_EXIT_MISTAKES));
    return LAPSE_EXIT_MISTAKES;
}

/* All rows of the document that were not named run too: a pattern that must come true sometimes
 * speaks of all of them. */
static int replay_chosen(const struct lapse_cli_options *options,
                         const struct lapse_cli_target *target, const struct lapse_cli_file *file,
                         const struct lapse_style *style) {
    struct lapse_cli_document document;
    memset(&document, 0, sizeof document);
    document.number = -1;
    struct lapse_out out;
    lapse_out_init(&out, lapse_alloc_libc());
    int32_t first = -1;
    int code = LAPSE_EXIT_NOTHING;
    for (size_t i = 0; i < file->loaded.plan_count; i++) {
        const struct lapse_plan *plan = file->loaded.plans[i];
        bool other = first >= 0 && plan->document != first;
        if (other || !lapse_cli_chosen(options, target, plan)) {
            continue;
        }
        if (plan->explore.on) {
            return lapse_cli_complain(LAPSE_EXIT_NOTHING,
                                      "a protocol has no run: write lapse explore %s:%d",
                                      target->path, plan->line_first);
        }
        first = plan->document;
        struct lapse_cli_result result;
        const struct lapse_cli_choice choice = {.options = options, .target = target};
        lapse_cli_plan_run(file, i, choice, options->seed, &result);
        lapse_cli_document_follow(file, i, choice, true, &document, &result);
        int shown = lapse_cli_story(&result.view, result.again.history != NULL, style, &out);
        code = lapse_cli_exit_worse(code, shown);
        lapse_cli_result_free(&result);
    }
    if (code == LAPSE_EXIT_NOTHING) {
        (void)lapse_cli_complain_place(options, target, file);
    }
    if (out.failed) {
        code = lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
    }
    lapse_cli_print(&out);
    lapse_out_free(&out);
    return code;
}

