/* JUnit XML as CI systems read it: one suite, one case a scenario. Times are 0: the same run must
 * give the same file. */
#include <string.h>

#include "draw.h"

enum { BODY_LINES_MAX = 60, BODY_TAIL_LINES = 3 };

static void junit_begin(struct lapse_out *out, const struct lapse_style *style,
                        const struct lapse_totals *totals);
static void junit_scenario(struct lapse_out *out, const struct lapse_style *style,
                           const struct lapse_result_view *view);
static void junit_file(struct lapse_out *out, const struct lapse_style *style,
                       const struct lapse_file_view *view);
static void junit_end(struct lapse_out *out, const struct lapse_style *style,
                      const struct lapse_totals *totals, const char *replay);
static void put_failed(struct lapse_out *out, const struct lapse_style *style,
                       const struct lapse_result_view *view);
static void put_case(struct lapse_out *out, const char *file, const char *name,
                     const struct lapse_result_view *view);
static void put_class(struct lapse_out *out, const char *file);
static void put_attribute(struct lapse_out *out, const char *text, size_t len);
static void put_problem(struct lapse_out *out, const char *element, const char *type,
                        const char *message, const struct lapse_out *body);
static void put_body(struct lapse_out *out, const char *text, size_t len);
static void put_xml(struct lapse_out *out, const char *text, size_t len);

const lapse_format lapse_format_junit = {"junit",    junit_begin, junit_scenario,
                                         junit_file, junit_end,   false};

static void junit_begin(struct lapse_out *out, const struct lapse_style *style,
                        const struct lapse_totals *totals) {
    (void)style;
    size_t tests = totals->scenarios + totals->mistaken_files;
    size_t errors = totals->inconclusive + totals->parted + totals->broken + totals->mistaken_files;
    lapse_out_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    lapse_out_format(out,
                     "<testsuites name=\"lapse\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
                     "time=\"0\">\n",
                     tests, totals->failed, errors);
    lapse_out_format(out,
                     "  <testsuite name=\"lapse\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
                     "skipped=\"0\" time=\"0\">\n",
                     tests, totals->failed, errors);
}

static void junit_scenario(struct lapse_out *out, const struct lapse_style *style,
                           const struct lapse_result_view *view) {
    put_case(out, view->file, view->name, view);
    bool passed = lapse_view_passed(view);
    struct lapse_out told;
    lapse_out_init(&told, out->alloc);
    if (passed && view->note != NULL) {
        lapse_out_format(&told, "%s\n", view->note);
    }
    lapse_unpromised_lines(&told, view, "", true);
    lapse_out_text(out, passed && told.len == 0 ? "/>\n" : ">\n");
    if (!passed) {
        put_failed(out, style, view);
    }
    if (told.len > 0) {
        lapse_out_text(out, "      <system-out>");
        put_xml(out, told.text, told.len - 1);
        lapse_out_text(out, "</system-out>\n");
    }
    lapse_out_text(out, passed && told.len == 0 ? "" : "    </testcase>\n");
    out->failed = out->failed || told.failed;
    lapse_out_free(&told);
}

static void put_failed(struct lapse_out *out, const struct lapse_style *style,
                       const struct lapse_result_view *view) {
    const struct lapse_style plain = {.width = style->width};
    struct lapse_out body;
    lapse_out_init(&body, out->alloc);
    if (view->why != NULL) {
        (void)lapse_out_safe_text(&body, view->why);
        lapse_out_text(&body, "\n\n");
    }
    struct lapse_out said;
    lapse_out_init(&said, out->alloc);
    bool parted = lapse_view_parted(view);
    if (view->parting != NULL) {
        lapse_parting_say(&said, view->parting);
        lapse_out_text(&body, said.text != NULL ? said.text : "");
        lapse_out_text(&body, "\n\n");
        lapse_parting_draw(&body, view, "    ");
    }
    if (!view->broken && !parted) {
        lapse_failure_draw(&body, view, &plain);
    }
    lapse_out_text(&body, "    replay    ");
    lapse_replay_line(&body, view);
    lapse_out_text(&body, "\n");
    const struct lapse_diag *diag = lapse_view_diag(view);
    bool failed = !view->broken && view->outcome == LAPSE_OUTCOME_VIOLATED;
    const char *type = view->starved  ? "memory"
                       : view->broken ? "bug"
                       : parted       ? "not-deterministic"
                       : !failed      ? "inconclusive"
                                      : "violated";
    const char *message = parted && said.text != NULL ? said.text
                          : view->why != NULL         ? view->why
                          : diag != NULL              ? diag->message
                                                      : "";
    put_problem(out, failed ? "failure" : "error", failed && diag != NULL ? diag->code : type,
                message, &body);
    out->failed = out->failed || said.failed;
    lapse_out_free(&said);
    lapse_out_free(&body);
}

static void junit_file(struct lapse_out *out, const struct lapse_style *style,
                       const struct lapse_file_view *view) {
    if (view->diags == NULL || view->diags->count == 0) {
        return;
    }
    const struct lapse_style plain = {.width = style->width};
    put_case(out, view->file, "mistakes in the file", NULL);
    lapse_out_text(out, ">\n");
    struct lapse_out body;
    lapse_out_init(&body, out->alloc);
    for (size_t i = 0; i < view->diags->count; i++) {
        lapse_excerpt_draw(&body, view->source, view->diags->items[i], &plain);
        lapse_out_text(&body, "\n");
    }
    put_problem(out, "error", view->diags->items[0]->code, view->diags->items[0]->message, &body);
    lapse_out_free(&body);
    lapse_out_text(out, "    </testcase>\n");
}

static void junit_end(struct lapse_out *out, const struct lapse_style *style,
                      const struct lapse_totals *totals, const char *replay) {
    (void)style;
    (void)totals;
    (void)replay;
    lapse_out_text(out, "  </testsuite>\n</testsuites>\n");
}

/* With the class the name is unique: where it alone does not say which scenario it is, its place
 * does. */
static void put_case(struct lapse_out *out, const char *file, const char *name,
                     const struct lapse_result_view *view) {
    lapse_out_text(out, "    <testcase classname=\"");
    put_class(out, file);
    lapse_out_text(out, "\" name=\"");
    put_attribute(out, name, strlen(name));
    if (view != NULL && view->name_repeats) {
        lapse_out_format(out, " (line %d", view->line);
        if (view->row >= 0) {
            lapse_out_format(out, " row %d", view->row);
        }
        lapse_out_text(out, ")");
    }
    lapse_out_text(out, "\" time=\"0\"");
}

/* The class is the file's path without its ending, and no two paths have the same: another ending
 * stays, so does .yaml behind another one; what has none ends in a slash, as no path of a file
 * does; a backslash is shown like what is shown by one. */
static void put_class(struct lapse_out *out, const char *file) {
    const char *slash = strrchr(file, '/');
    const char *base = slash == NULL ? file : slash + 1;
    const char *dot = strchr(base, '.');
    size_t len = strlen(file);
    if (dot != NULL && dot > base && strcmp(dot, ".yaml") == 0) {
        len = (size_t)(dot - file);
    }
    for (size_t i = 0; i < len;) {
        size_t plain = 0;
        while (i + plain < len && file[i + plain] != '\\') {
            plain++;
        }
        put_attribute(out, file + i, plain);
        i += plain;
        if (i < len) {
            lapse_out_text(out, "\\x5c");
            i++;
        }
    }
    lapse_out_text(out, dot == NULL ? "/" : "");
}

static void put_problem(struct lapse_out *out, const char *element, const char *type,
                        const char *message, const struct lapse_out *body) {
    lapse_out_format(out, "      <%s type=\"%s\" message=\"", element, type);
    put_attribute(out, message, strlen(message));
    lapse_out_text(out, "\">");
    put_body(out, body->text != NULL ? body->text : "", body->len);
    lapse_out_format(out, "</%s>\n", element);
    out->failed = out->failed || body->failed;
}

/* A body that is too long keeps its head and its last lines, where the replay command stands. */
static void put_body(struct lapse_out *out, const char *text, size_t len) {
    size_t lines = 0, head = len, tail = 0;
    for (size_t i = 0; i < len; i++) {
        lines += text[i] == '\n';
        if (lines == BODY_LINES_MAX - BODY_TAIL_LINES - 2 && head == len) {
            head = i + 1;
        }
    }
    if (lines <= BODY_LINES_MAX - 1) {
        put_xml(out, text, len);
        return;
    }
    size_t last = 0;
    for (tail = len; tail > 0 && last <= BODY_TAIL_LINES; tail--) {
        last += text[tail - 1] == '\n';
    }
    put_xml(out, text, head);
    lapse_out_text(out, "...\n");
    put_xml(out, text + tail + 1, len - tail - 1);
}

/* In an attribute a reader takes a line break for a blank, so it is shown like a control. */
static void put_attribute(struct lapse_out *out, const char *text, size_t len) {
    for (size_t i = 0; i < len;) {
        size_t line = 0;
        while (i + line < len && text[i + line] != '\n') {
            line++;
        }
        put_xml(out, text + i, line);
        i += line;
        if (i < len) {
            (void)lapse_out_safe(out, "\n", 1, INT32_MAX);
            i++;
        }
    }
}

/* Escapes markup; what XML 1.0 cannot carry is shown as \xNN. */
static void put_xml(struct lapse_out *out, const char *text, size_t len) {
    static const char *const markup[][2] = {
        {"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"\n", "\n"}};
    for (size_t i = 0; i < len;) {
        bool plain;
        size_t step = lapse_character_bytes(text + i, len - i, &plain);
        const char *shown = NULL;
        for (size_t k = 0; k < sizeof markup / sizeof *markup; k++) {
            shown = text[i] == markup[k][0][0] ? markup[k][1] : shown;
        }
        if (shown != NULL) {
            lapse_out_text(out, shown);
        } else {
            (void)lapse_out_safe(out, text + i, step, INT32_MAX);
        }
        i += step;
    }
}
