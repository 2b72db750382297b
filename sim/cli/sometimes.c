/* `sometimes`: what must come true once over all rows of a document. Only whoever ran them all can
 * say that it did not. */
#include <stdio.h>
#include <string.h>

#include "runner.h"

static void document_begin(const struct lapse_cli_file *file, size_t index,
                           struct lapse_cli_choice choice, struct lapse_cli_document *document);
static void note_rows(struct lapse_cli_result *result, const struct lapse_cli_document *document);
static void lower(struct lapse_cli_result *result, const struct lapse_cli_document *document);
static void pattern_print(const struct lapse_setup *setup, const struct lapse_pattern *pattern,
                          struct lapse_out *out);
static void put_name(struct lapse_out *out, struct lapse_bytes name);

/* A pattern must come true over all rows together, so the last row of a document answers for it,
 * and only if every row ran and none failed. */
void lapse_cli_document_follow(const struct lapse_cli_file *file, size_t index,
                               struct lapse_cli_choice choice, bool last,
                               struct lapse_cli_document *document,
                               struct lapse_cli_result *result) {
    if (!result->ran) {
        return;
    }
    const struct lapse_plan *plan = file->loaded.plans[index];
    const struct lapse_verdict *verdict = result->view.verdict;
    if (document->number != plan->document) {
        document_begin(file, index, choice, document);
    }
    document->rows_run += last;
    document->failed = document->failed || result->view.outcome != LAPSE_OUTCOME_PASSED;
    LAPSE_ASSERT(plan->the_case.sometimes_count <= LAPSE_SOMETIMES_MAX);
    for (size_t i = 0; i < plan->the_case.sometimes_count; i++) {
        document->came_true[i] = document->came_true[i] || verdict->sometimes[i];
    }
    if (!last || document->failed || document->rows_run < document->rows_chosen) {
        return;
    }
    if (document->rows_chosen == document->rows) {
        lower(result, document);
    } else {
        note_rows(result, document);
    }
}

/* The rows of a document are plans that lie side by side. */
static void document_begin(const struct lapse_cli_file *file, size_t index,
                           struct lapse_cli_choice choice, struct lapse_cli_document *document) {
    struct lapse_plan *const *plans = file->loaded.plans;
    memset(document, 0, sizeof *document);
    document->number = plans[index]->document;
    size_t at = index;
    while (at > 0 && plans[at - 1]->document == document->number) {
        at--;
    }
    for (; at < file->loaded.plan_count && plans[at]->document == document->number; at++) {
        document->rows++;
        document->rows_chosen += lapse_cli_chosen(choice.options, choice.target, plans[at]);
    }
}

/* What did not come true may do so in a row that was not asked for. */
static void note_rows(struct lapse_cli_result *result, const struct lapse_cli_document *document) {
    bool open = false;
    for (size_t i = 0; i < result->view.the_case->sometimes_count; i++) {
        open = open || !document->came_true[i];
    }
    if (!open) {
        return;
    }
    if (document->rows_chosen == 1) {
        (void)snprintf(result->note, sizeof result->note,
                       "`sometimes` was not judged: only row %d of %zu rows ran",
                       (int)result->view.row, document->rows);
    } else {
        (void)snprintf(result->note, sizeof result->note,
                       "`sometimes` was not judged: only %zu of %zu rows ran",
                       document->rows_chosen, document->rows);
    }
    result->view.note = result->note;
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
        struct lapse_out text;
        lapse_out_init(&text, lapse_alloc_libc());
        pattern_print(the_case->setup, pattern, &text);
        struct lapse_diag *diag =
            lapse_diag_add(&result->lowered.diags, "W001", pattern->place, "never came true",
                           "%s never came true, so the scenario did not show what it is for",
                           text.text != NULL ? text.text : "a pattern");
        lapse_out_free(&text);
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

/* As it is written in the scenario: "held jobs/n by b at 30s". */
static void pattern_print(const struct lapse_setup *setup, const struct lapse_pattern *pattern,
                          struct lapse_out *out) {
    static const char *const words[] = {
        "",        "granted", "extended", "held",   "denied", "released", "believes", "two_believe",
        "written", "expired", "accepted", "fenced", "crash",  "wakes",    "stopped"};
    lapse_out_format(out, "%s ", words[pattern->kind]);
    switch (pattern->kind) {
    case LAPSE_PATTERN_ACCEPTED:
    case LAPSE_PATTERN_FENCED:
        put_name(out, setup->resources[pattern->subject].name);
        break;
    case LAPSE_PATTERN_CRASH:
    case LAPSE_PATTERN_WAKES:
    case LAPSE_PATTERN_STOPPED:
        put_name(out, setup->actors[pattern->subject].name);
        break;
    default:
        put_name(out, pattern->bucket);
        lapse_out_text(out, pattern->bucket.len > 0 ? "/" : "");
        put_name(out, pattern->name);
        break;
    }
    if (pattern->by >= 0) {
        lapse_out_text(out, " by ");
        put_name(out, setup->actors[pattern->by].name);
    }
    if (pattern->has_at) {
        char at[LAPSE_TIME_TEXT_MAX];
        lapse_out_format(out, " at %s", lapse_span_print((struct lapse_span){pattern->at.ns}, at));
    }
}

static void put_name(struct lapse_out *out, struct lapse_bytes name) {
    char shown[LAPSE_EXPECT_TEXT_MAX];
    lapse_out_text(out, lapse_bytes_print(name, shown, sizeof shown));
}
