/* Loading, choosing, running, judging: the work itself, whoever asks for it. */
#include "runner.h"

#include <stdio.h>
#include <string.h>

static void document_follow(const struct lapse_cli_file *file, size_t index,
                            struct lapse_cli_document *document, struct lapse_cli_result *result);
static bool document_whole(const struct lapse_cli_file *file, size_t index,
                           const struct lapse_cli_document *document);
static void lower(struct lapse_cli_result *result, const struct lapse_cli_document *document);
static const char *pattern_word(enum lapse_pattern_kind kind);

enum lapse_status lapse_cli_file_open(const char *path, struct lapse_cli_file *ret) {
    struct lapse_error err = {0};
    memset(ret, 0, sizeof *ret);
    lapse_diag_list_init(&ret->unread, lapse_alloc_libc());
    enum lapse_status status = lapse_file_read(lapse_alloc_libc(), path, &ret->loaded, &err);
    ret->readable = status == LAPSE_OK || status == LAPSE_INVALID;
    if (ret->readable) {
        bool text = ret->loaded.text != NULL;
        ret->source = (struct lapse_source){ret->loaded.name, text ? ret->loaded.text : "",
                                            text ? ret->loaded.text_bytes : 0};
        return status;
    }
    struct lapse_place place = {path, 0, 0, 0};
    struct lapse_diag *diag =
        lapse_diag_add(&ret->unread, "Y000", place, "", "the file cannot be read: %s", err.message);
    return diag == NULL || status == LAPSE_NOMEM ? LAPSE_NOMEM : LAPSE_INVALID;
}

void lapse_cli_file_close(struct lapse_cli_file *file) {
    lapse_diag_list_free(&file->unread);
    if (file->readable) {
        lapse_file_free(&file->loaded);
    }
}

const struct lapse_diag_list *lapse_cli_file_diags(const struct lapse_cli_file *file) {
    return file->readable ? &file->loaded.diags : &file->unread;
}

void lapse_cli_diags_show(const struct lapse_cli_file *file, const struct lapse_diag_list *diags,
                          const struct lapse_style *style) {
    struct lapse_out out;
    lapse_out_init(&out, lapse_alloc_libc());
    for (size_t i = 0; i < diags->count; i++) {
        lapse_excerpt_draw(&out, file->readable ? &file->source : NULL, diags->items[i], style);
        lapse_out_text(&out, "\n");
    }
    if (out.len > 0) {
        (void)fwrite(out.text, 1, out.len, stdout);
    }
    lapse_out_free(&out);
}

bool lapse_cli_chosen(const struct lapse_cli_options *options,
                      const struct lapse_cli_target *target, const struct lapse_plan *plan) {
    bool line = target->whole;
    for (size_t i = 0; i < target->line_count; i++) {
        line =
            line || (target->lines[i] >= plan->line_first && target->lines[i] <= plan->line_last);
    }
    bool row = !options->has_row || plan->row == options->row;
    return line && row && (options->match == NULL || lapse_cli_match(options->match, plan->name));
}

void lapse_cli_plan_run(const struct lapse_cli_file *file, size_t index, uint64_t seed,
                        struct lapse_cli_document *document, struct lapse_cli_result *ret) {
    const struct lapse_plan *plan = file->loaded.plans[index];
    memset(ret, 0, sizeof *ret);
    ret->view = (struct lapse_result_view){
        .file = file->source.name,
        .line = plan->line_first,
        .row = plan->row,
        .name = plan->name,
        .seed = seed,
        .source = &file->source,
        .the_case = &plan->the_case,
    };
    enum lapse_status status = lapse_run_plan(plan, seed, &ret->run, &ret->err);
    if (status != LAPSE_OK) {
        (void)snprintf(ret->why, sizeof ret->why, "lapse itself failed (%s): %s",
                       lapse_status_word(status), ret->err.message);
        ret->view.broken = true;
        ret->view.why = ret->why;
        return;
    }
    ret->ran = true;
    ret->view.history = ret->run.history;
    ret->view.verdict = lapse_judge_verdict(ret->run.judge);
    ret->view.outcome = ret->view.verdict->outcome;
    if (ret->view.outcome == LAPSE_OUTCOME_INCONCLUSIVE) {
        (void)snprintf(ret->why, sizeof ret->why,
                       "the run came to its bound before it was over: shorten it with run_for");
        ret->view.why = ret->why;
    }
    document_follow(file, index, document, ret);
}

void lapse_cli_result_free(struct lapse_cli_result *result) {
    if (result->lowered.diags.alloc != NULL) {
        lapse_diag_list_free(&result->lowered.diags);
    }
    if (result->ran) {
        lapse_run_free(&result->run);
    }
    memset(result, 0, sizeof *result);
}

int64_t lapse_cli_result_ns(const struct lapse_cli_result *result) {
    size_t count = result->ran ? lapse_history_count(result->run.history) : 0;
    return count == 0 ? 0 : lapse_history_at(result->run.history, count - 1)->at.ns;
}

/* A pattern must come true over all rows together, so the last row of a document answers for it,
 * and only if every row ran and none failed. */
static void document_follow(const struct lapse_cli_file *file, size_t index,
                            struct lapse_cli_document *document, struct lapse_cli_result *result) {
    const struct lapse_plan *plan = file->loaded.plans[index];
    const struct lapse_verdict *verdict = result->view.verdict;
    if (document->number != plan->document) {
        memset(document, 0, sizeof *document);
        document->number = plan->document;
    }
    document->rows_run++;
    document->failed = document->failed || result->view.outcome != LAPSE_OUTCOME_PASSED;
    LAPSE_ASSERT(plan->the_case.sometimes_count <= LAPSE_SOMETIMES_MAX);
    for (size_t i = 0; i < plan->the_case.sometimes_count; i++) {
        document->came_true[i] = document->came_true[i] || verdict->sometimes[i];
    }
    if (!document->failed && document_whole(file, index, document)) {
        lower(result, document);
    }
}

static bool document_whole(const struct lapse_cli_file *file, size_t index,
                           const struct lapse_cli_document *document) {
    size_t rows = 0;
    for (size_t i = 0; i < file->loaded.plan_count; i++) {
        rows += file->loaded.plans[i]->document == file->loaded.plans[index]->document;
    }
    return rows == document->rows_run;
}

static void lower(struct lapse_cli_result *result, const struct lapse_cli_document *document) {
    const struct lapse_case *the_case = result->view.the_case;
    for (size_t i = 0; i < the_case->sometimes_count; i++) {
        if (document->came_true[i]) {
            continue;
        }
        const struct lapse_pattern *pattern = &the_case->sometimes[i];
        if (result->lowered.diags.alloc == NULL) {
            result->lowered = *result->view.verdict;
            lapse_diag_list_init(&result->lowered.diags, lapse_alloc_libc());
        }
        struct lapse_diag *diag =
            lapse_diag_add(&result->lowered.diags, "W001", pattern->place, "never came true",
                           "%s never came true, so the scenario did not show what it is for",
                           pattern_word(pattern->kind));
        lapse_diag_note(&result->lowered.diags, diag, "note",
                        "no contract was violated; bring the moment about, or drop the line");
    }
    if (result->lowered.diags.alloc != NULL) {
        (void)snprintf(result->why, sizeof result->why, "a pattern of `sometimes` never came true");
        result->lowered.outcome = LAPSE_OUTCOME_INCONCLUSIVE;
        result->view.verdict = &result->lowered;
        result->view.outcome = LAPSE_OUTCOME_INCONCLUSIVE;
        result->view.why = result->why;
        result->view.row = -1; /* it is the whole document that did not show it */
    }
}

static const char *pattern_word(enum lapse_pattern_kind kind) {
    static const char *const words[] = {
        "",        "granted", "extended", "held",   "denied", "released", "believes", "two_believe",
        "written", "expired", "accepted", "fenced", "crash",  "wakes",    "stopped"};
    return words[kind];
}
