/* Every scenario of the folders that are named: its history is written and read back, and must be
 * the same one, to the digest; judged again it must come to the same verdict, rule by rule. Then
 * once more with nothing listed as bound to break, so that runs that fail are compared too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/recorded.h"
#include "runner.h"

struct tally {
    size_t runs, violated, bytes, bad;
};

static bool same_verdict(const struct lapse_verdict *a, const struct lapse_verdict *b) {
    bool ids = (a->id == NULL) == (b->id == NULL) && (a->id == NULL || strcmp(a->id, b->id) == 0);
    return a->outcome == b->outcome && a->event == b->event && ids && a->uses == b->uses &&
           memcmp(a->judged, b->judged, a->rule_count * sizeof *a->judged) == 0;
}

/* Whether an expectation of the scenario failed it: no history tells of those. */
static bool by_expectation(const struct lapse_verdict *verdict) {
    return verdict->outcome == LAPSE_OUTCOME_VIOLATED && !lapse_rule_exists(verdict->id);
}

static const char *compare(const struct lapse_result_view *view, struct lapse_recorded *recorded,
                           const struct lapse_out *text) {
    struct lapse_error err = {0};
    const lapse_alloc *alloc = lapse_alloc_libc();
    if (lapse_recorded_read(alloc, "h", text->text, text->len, recorded, &err) != LAPSE_OK) {
        return recorded->diags.count > 0 ? recorded->diags.items[0]->message : "memory ran out";
    }
    if (!recorded->complete ||
        lapse_history_digest(recorded->history) != lapse_history_digest(view->history)) {
        return "another digest";
    }
    struct lapse_judge *judge = NULL;
    bool stop = false;
    if (lapse_judge_open(alloc, &recorded->the_case, &judge, &err) != LAPSE_OK) {
        return "no judge";
    }
    for (size_t i = 0; i < lapse_history_count(recorded->history); i++) {
        (void)lapse_judge_event(judge, lapse_history_at(recorded->history, i), &stop);
    }
    bool same = same_verdict(view->verdict, lapse_judge_verdict(judge));
    lapse_judge_close(judge);
    return same || by_expectation(view->verdict) ? NULL : "another verdict";
}

static void try_plan(const struct lapse_cli_options *options, const struct lapse_cli_file *file,
                     size_t index, struct tally *tally) {
    const struct lapse_cli_target target = {.whole = true};
    struct lapse_cli_result result;
    if (file->loaded.plans[index]->explore.on) {
        return; /* a protocol has no run */
    }
    struct lapse_out text;
    struct lapse_error err = {0};
    struct lapse_recorded recorded = {.memory = NULL};
    const struct lapse_cli_choice choice = {.options = options, .target = &target};
    lapse_cli_plan_run(file, index, choice, 1, &result);
    lapse_out_init(&text, lapse_alloc_libc());
    const char *wrong = "it did not run";
    if (result.ran) {
        bool written = lapse_recorded_write(&text, &result.view, &err) == LAPSE_OK;
        wrong = written ? compare(&result.view, &recorded, &text) : err.message;
        tally->violated += result.view.outcome == LAPSE_OUTCOME_VIOLATED;
    }
    tally->runs++;
    tally->bytes += text.len;
    if (wrong != NULL) {
        tally->bad++;
        printf("# %s:%d row %d: %s\n", file->source.name, result.view.line, (int)result.view.row,
               wrong);
    }
    lapse_recorded_free(&recorded);
    lapse_out_free(&text);
    lapse_cli_result_free(&result);
}

static void try_file(const struct lapse_cli_options *options, const char *path,
                     struct tally *tally) {
    struct lapse_cli_file file;
    if (lapse_cli_file_open(path, &file) == LAPSE_OK) {
        for (size_t i = 0; i < file.loaded.plan_count; i++) {
            struct lapse_plan *plan = file.loaded.plans[i];
            try_plan(options, &file, i, tally);
            if (plan->the_case.violates_count > 0) {
                plan->the_case.violates_count = 0;
                try_plan(options, &file, i, tally);
            }
        }
    } else {
        printf("# %s cannot be loaded\n", path);
        tally->bad++;
    }
    lapse_cli_file_close(&file);
}

int main(int argc, char **argv) {
    struct lapse_cli_options options = {.seed = 1, .runs = 1};
    struct lapse_cli_selection selection;
    struct lapse_error err = {0};
    struct tally tally = {0, 0, 0, 0};
    if (lapse_cli_select(argv + 1, (size_t)(argc - 1), &selection, &err) != LAPSE_OK) {
        printf("Bail out! %s\n", err.message);
        return 1;
    }
    printf("1..1\n");
    for (size_t i = 0; i < selection.count; i++) {
        try_file(&options, selection.targets[i].path, &tally);
    }
    lapse_cli_selection_free(&selection);
    bool fine = tally.bad == 0 && tally.runs > 0 && tally.violated > 0;
    printf("%sok 1 - %zu histories read back alike, %zu of them violated\n", fine ? "" : "not ",
           tally.runs, tally.violated);
    printf("# %zu bytes\n", tally.bytes);
    return fine ? 0 : 1;
}
