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
static void put_case(struct lapse_out *out, const char *file, const char *name);
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
    size_t errors = totals->inconclusive + totals->broken + totals->mistaken_files;
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
    put_case(out, view->file, view->name);
    if (!view->broken && view->outcome == LAPSE_OUTCOME_PASSED) {
        lapse_out_text(out, "/>\n");
        return;
    }
    lapse_out_text(out, ">\n");
    const struct lapse_style plain = {false, style->width, 0, 0};
    struct lapse_out body;
    lapse_out_init(&body, out->alloc);
    if (view->why != NULL) {
        (void)lapse_out_safe_text(&body, view->why);
        lapse_out_text(&body, "\n\n");
    }
    if (!view->broken) {
        lapse_failure_draw(&body, view, &plain);
    }
    lapse_out_text(&body, "    replay    ");
    lapse_replay_line(&body, view);
    lapse_out_text(&body, "\n");
    const struct lapse_diag *diag = lapse_view_diag(view);
    bool failed = !view->broken && view->outcome == LAPSE_OUTCOME_VIOLATED;
    const char *type = view->broken ? "bug" : !failed ? "inconclusive" : "violated";
    const char *message = view->why != NULL ? view->why : diag != NULL ? diag->message : "";
    put_problem(out, failed ? "failure" : "error", failed && diag != NULL ? diag->code : type,
                message, &body);
    lapse_out_free(&body);
    lapse_out_text(out, "    </testcase>\n");
}

static void junit_file(struct lapse_out *out, const struct lapse_style *style,
                       const struct lapse_file_view *view) {
    if (view->diags == NULL || view->diags->count == 0) {
        return;
    }
    const struct lapse_style plain = {false, style->width, 0, 0};
    put_case(out, view->file, "mistakes in the file");
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

/* The class is the file's path without its ending; with the name it is unique. */
static void put_case(struct lapse_out *out, const char *file, const char *name) {
    size_t len = strlen(file);
    if (len > 5 && strcmp(file + len - 5, ".yaml") == 0) {
        len -= 5;
    }
    lapse_out_text(out, "    <testcase classname=\"");
    put_xml(out, file, len);
    lapse_out_text(out, "\" name=\"");
    put_xml(out, name, strlen(name));
    lapse_out_text(out, "\" time=\"0\"");
}

static void put_problem(struct lapse_out *out, const char *element, const char *type,
                        const char *message, const struct lapse_out *body) {
    lapse_out_format(out, "      <%s type=\"%s\" message=\"", element, type);
    put_xml(out, message, strlen(message));
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

/* Escapes markup; what XML 1.0 cannot carry becomes '?'. */
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
        bool none = step == 3 && (memcmp(text + i, "\xEF\xBF\xBE", 3) == 0 ||
                                  memcmp(text + i, "\xEF\xBF\xBF", 3) == 0);
        if (shown != NULL) {
            lapse_out_text(out, shown);
        } else if (plain && !none) {
            lapse_out_bytes(out, text + i, step);
        } else {
            lapse_out_text(out, "?");
        }
        i += step;
    }
}
