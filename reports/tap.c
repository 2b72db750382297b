/* TAP 14: one test point a scenario, and one a file that could not run. */
#include <string.h>

#include "draw.h"

static void tap_begin(struct lapse_out *out, const struct lapse_style *style,
                      const struct lapse_totals *totals);
static void tap_scenario(struct lapse_out *out, const struct lapse_style *style,
                         const struct lapse_result_view *view);
static void tap_file(struct lapse_out *out, const struct lapse_style *style,
                     const struct lapse_file_view *view);
static void tap_end(struct lapse_out *out, const struct lapse_style *style,
                    const struct lapse_totals *totals, const char *replay);
static void put_parting(struct lapse_out *out, const struct lapse_result_view *view);
static void put_description(struct lapse_out *out, const char *text);
static void put_quoted(struct lapse_out *out, const char *key, const char *text);
static void put_diag(struct lapse_out *out, const struct lapse_diag *diag, const char *indent);

const lapse_format lapse_format_tap = {"tap", tap_begin, tap_scenario, tap_file, tap_end, false};

static void tap_begin(struct lapse_out *out, const struct lapse_style *style,
                      const struct lapse_totals *totals) {
    (void)style;
    size_t points = totals->scenarios + totals->mistaken_files;
    lapse_out_format(out, "TAP version 14\n1..%zu%s\n", points,
                     points == 0 ? " # SKIP nothing was selected" : "");
}

static void tap_scenario(struct lapse_out *out, const struct lapse_style *style,
                         const struct lapse_result_view *view) {
    (void)style;
    bool ok = lapse_view_passed(view);
    lapse_out_text(out, ok ? "ok " LAPSE_FORMAT_INDEX " - " : "not ok " LAPSE_FORMAT_INDEX " - ");
    put_description(out, view->file);
    lapse_out_format(out, ":%d: ", view->line);
    put_description(out, view->name);
    lapse_out_text(out, "\n");
    if (ok && view->note != NULL) {
        lapse_out_format(out, "# %s\n", view->note);
    }
    if (ok) {
        lapse_unpromised_lines(out, view, "# ", true);
        lapse_judged_lines(out, view, "# ");
        return;
    }
    const struct lapse_diag *diag = lapse_view_diag(view);
    lapse_out_text(out, "  ---\n");
    lapse_out_format(out, "  severity: %s\n",
                     view->starved                                 ? "memory"
                     : view->broken                                ? "bug"
                     : lapse_view_parted(view)                     ? "nondeterminism"
                     : view->outcome == LAPSE_OUTCOME_INCONCLUSIVE ? "inconclusive"
                                                                   : "fail");
    if (view->why != NULL) {
        put_quoted(out, "  why", view->why);
    }
    if (diag != NULL) {
        put_diag(out, diag, "  ");
    }
    if (view->parting != NULL) {
        put_parting(out, view);
    }
    struct lapse_out replay;
    lapse_out_init(&replay, out->alloc);
    lapse_replay_line(&replay, view);
    put_quoted(out, "  replay", replay.text != NULL ? replay.text : "");
    lapse_out_free(&replay);
    lapse_out_text(out, "  ...\n");
    lapse_unpromised_lines(out, view, "# ", true);
    lapse_judged_lines(out, view, "# ");
}

static void put_parting(struct lapse_out *out, const struct lapse_result_view *view) {
    static const char *const keys[] = {"  parting", "  first", "  again"};
    for (int i = 0; i < 3; i++) {
        struct lapse_out text;
        lapse_out_init(&text, out->alloc);
        if (i == 0) {
            lapse_parting_say(&text, view->parting);
        } else {
            lapse_parting_event(&text, view, i == 2);
        }
        put_quoted(out, keys[i], text.text != NULL ? text.text : "");
        out->failed = out->failed || text.failed;
        lapse_out_free(&text);
    }
}

static void tap_file(struct lapse_out *out, const struct lapse_style *style,
                     const struct lapse_file_view *view) {
    (void)style;
    if (view->diags == NULL || view->diags->count == 0) {
        return;
    }
    lapse_out_text(out, "not ok " LAPSE_FORMAT_INDEX " - ");
    put_description(out, view->file);
    lapse_out_text(out, ": mistakes in the file\n  ---\n  severity: mistake\n  mistakes:\n");
    for (size_t i = 0; i < view->diags->count; i++) {
        lapse_out_text(out, "    -\n");
        put_diag(out, view->diags->items[i], "      ");
    }
    lapse_out_text(out, "  ...\n");
}

static void tap_end(struct lapse_out *out, const struct lapse_style *style,
                    const struct lapse_totals *totals, const char *replay) {
    (void)style;
    (void)replay;
    lapse_out_format(out, "# %zu passed, %zu failed", totals->passed, totals->failed);
    if (totals->inconclusive > 0) {
        lapse_out_format(out, ", %zu inconclusive", totals->inconclusive);
    }
    if (totals->parted > 0) {
        lapse_out_format(out, ", %zu not deterministic", totals->parted);
    }
    if (totals->broken > 0) {
        lapse_out_format(out, ", %zu broken off", totals->broken);
    }
    lapse_out_text(out, "\n");
    lapse_unpromised_sums(out, totals, "# ");
}

/* '#' begins a directive and '\' escapes it. */
static void put_description(struct lapse_out *out, const char *text) {
    lapse_out_escaped(out, text, "#");
}

static void put_quoted(struct lapse_out *out, const char *key, const char *text) {
    lapse_out_format(out, "%s: \"", key);
    lapse_out_escaped(out, text, "\"");
    lapse_out_text(out, "\"\n");
}

static void put_diag(struct lapse_out *out, const struct lapse_diag *diag, const char *indent) {
    bool own = lapse_code_numbered(diag->code, 'Y') || lapse_code_numbered(diag->code, 'J') ||
               lapse_code_numbered(diag->code, 'W');
    lapse_out_format(out, "%s%s: %s\n%s", indent, own ? "code" : "contract", diag->code, indent);
    put_quoted(out, "message", diag->message);
    if (diag->label_count == 0 || diag->labels[0].place.file == NULL) {
        return;
    }
    const struct lapse_place *place = &diag->labels[0].place;
    lapse_out_format(out, "%sat:\n%s  ", indent, indent);
    put_quoted(out, "file", place->file);
    lapse_out_format(out, "%s  line: %d\n%s  column: %d\n", indent, place->line, indent,
                     place->column);
}
