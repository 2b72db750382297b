/* Formats: what a machine reads is well formed whatever the scenario's texts are. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"

static const struct lapse_style plain = {.width = 80};

/* A scenario that failed, with hostile texts, and its history of one event. */
struct failure {
    struct lapse_setup setup;
    struct lapse_case the_case;
    struct lapse_verdict verdict;
    struct lapse_source source;
    struct lapse_result_view view;
};

static void failure_make(struct failure *failure, const char *name, const char *message) {
    memset(failure, 0, sizeof *failure);
    failure->the_case.setup = &failure->setup;
    failure->source = (struct lapse_source){"s/x.yaml", "a: 1\nb: 2\n", 10};
    lapse_diag_list_init(&failure->verdict.diags, lapse_alloc_libc());
    lapse_diag_add(&failure->verdict.diags, "KV-03", (struct lapse_place){"s/x.yaml", 2, 4, 1},
                   "here", "%s", message);
    failure->verdict.outcome = LAPSE_OUTCOME_VIOLATED;
    failure->verdict.id = "KV-03";
    failure->verdict.event = -1;
    struct lapse_history *history;
    cr_assert_eq(lapse_history_open(lapse_alloc_libc(), 0, &history, NULL), LAPSE_OK);
    failure->view = (struct lapse_result_view){.file = "s/x.yaml",
                                               .line = 2,
                                               .row = 3,
                                               .name = name,
                                               .seed = 7,
                                               .source = &failure->source,
                                               .history = history,
                                               .verdict = &failure->verdict,
                                               .the_case = &failure->the_case,
                                               .outcome = LAPSE_OUTCOME_VIOLATED};
}

static void failure_free(struct failure *failure) {
    lapse_diag_list_free(&failure->verdict.diags);
    /* The view holds it as const, as writers must not change it. */
    lapse_history_close((struct lapse_history *)(uintptr_t)failure->view.history);
}

/* One failing scenario and its file, as `run` would join them. */
static char *report(const char *format_name, struct failure *failure, const char *replay) {
    const lapse_format *format = lapse_format_find(format_name);
    const struct lapse_totals totals = {
        .files = 1, .scenarios = 1, .failed = 1, .seed = 7, .exit_code = 1};
    const struct lapse_file_view file = {.file = failure->view.file,
                                         .source = &failure->source,
                                         .scenarios = 1,
                                         .failed = 1,
                                         .expected_ids = ""};
    struct lapse_out out, bytes;
    size_t index = 0;
    lapse_out_init(&out, lapse_alloc_libc());
    lapse_out_init(&bytes, lapse_alloc_libc());
    format->begin(&out, &plain, &totals);
    if (format->file_first) {
        format->file(&bytes, &plain, &file);
    }
    format->scenario(&bytes, &plain, &failure->view);
    if (!format->file_first) {
        format->file(&bytes, &plain, &file);
    }
    lapse_format_join(&out, bytes.text, bytes.len, &index);
    format->end(&out, &plain, &totals, replay);
    cr_assert(!out.failed && out.text != NULL);
    lapse_out_free(&bytes);
    return out.text; /* from realloc: the caller frees it */
}

Test(format, failing_report_ends_with_the_replay_command) {
    struct failure failure;
    failure_make(&failure, "a name", "it was there");
    char *text = report("pretty", &failure, "lapse replay s/x.yaml:2 --row 3 --seed 7");
    const char *tail = "\n0 passed, 1 failed\n"
                       "exit     1, a contract was violated or an expectation was not met\n"
                       "replay   lapse replay s/x.yaml:2 --row 3 --seed 7\n";
    size_t len = strlen(text), tail_len = strlen(tail);
    cr_assert(len > tail_len && strcmp(text + len - tail_len, tail) == 0, "%s", text);
    cr_assert_not_null(strstr(text, "error[KV-03]: it was there\n  --> s/x.yaml:2:4\n"), "%s",
                       text);
    cr_assert_not_null(strstr(text, "    replay    lapse replay s/x.yaml:2 --row 3 --seed 7\n"));
    free(text);
    failure_free(&failure);
}

Test(format, tap_numbers_points_and_escapes_directives) {
    struct failure failure;
    failure_make(&failure, "odd # TODO \\ name", "say \"no\"\033[31m");
    char *text = report("tap", &failure, NULL);
    cr_assert_str_eq(text, "TAP version 14\n"
                           "1..1\n"
                           "not ok 1 - s/x.yaml:2: odd \\# TODO \\\\ name\n"
                           "  ---\n"
                           "  severity: fail\n"
                           "  contract: KV-03\n"
                           "  message: \"say \\\"no\\\"\\\\x1b[31m\"\n"
                           "  at:\n"
                           "    file: \"s/x.yaml\"\n"
                           "    line: 2\n"
                           "    column: 4\n"
                           "  replay: \"lapse replay s/x.yaml:2 --row 3 --seed 7\"\n"
                           "  ...\n"
                           "# 0 passed, 1 failed\n");
    free(text);
    failure_free(&failure);
}

Test(format, junit_escapes_markup_and_drops_what_xml_cannot_carry) {
    struct failure failure;
    failure_make(&failure, "<a & \"b\"> \001 \xEF\xBF\xBF \xFF", "x < y & z");
    char *text = report("junit", &failure, NULL);
    cr_assert_not_null(strstr(text, "<testsuites name=\"lapse\" tests=\"1\" failures=\"1\" "
                                    "errors=\"0\" time=\"0\">"),
                       "%s", text);
    cr_assert_not_null(strstr(text, "<testcase classname=\"s/x\" name=\"&lt;a &amp; "
                                    "&quot;b&quot;&gt; \\x01 \\xef\\xbf\\xbf \\xff\" time=\"0\">"),
                       "%s", text);
    cr_assert_not_null(strstr(text, "<failure type=\"KV-03\" message=\"x &lt; y &amp; z\">"));
    cr_assert_not_null(strstr(text, "lapse replay s/x.yaml:2 --row 3 --seed 7\n</failure>"), "%s",
                       text);
    free(text);
    failure_free(&failure);
}

Test(format, number_behind_the_letter_makes_a_code_our_own) {
    static const struct {
        const char *code, *head, *tap;
    } cases[] = {
        {"WATCH-01", "error[WATCH-01]: m\n", "  contract: WATCH-01\n"},
        {"W001", "warning[W001]: m\n", "  code: W001\n"},
        {"Y104", "error[Y104]: m\n", "  code: Y104\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct failure failure;
        failure_make(&failure, "a name", "m");
        failure.verdict.diags.items[0]->code = cases[i].code;
        char *pretty = report("pretty", &failure, NULL), *tap = report("tap", &failure, NULL);
        cr_assert_not_null(strstr(pretty, cases[i].head), "%s", pretty);
        cr_assert_not_null(strstr(tap, cases[i].tap), "%s", tap);
        free(pretty);
        free(tap);
        failure_free(&failure);
    }
}

/* Safe text: what passes, what is shown as bytes, where it is cut, and its columns. */
Test(format, utf8_passes_and_what_hides_or_turns_is_shown) {
    static const struct {
        const char *text;
        int columns_max;
        const char *shown;
        int columns;
    } cases[] = {
        {"na\xC3\xAFve \xE6\xBC\xA2\xE5\xAD\x97 \xF0\x9F\x94\x91", 80,
         "na\xC3\xAFve \xE6\xBC\xA2\xE5\xAD\x97 \xF0\x9F\x94\x91", 10},
        {"\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2", 4, "\xE6\xBC\xA2...", 4},
        {"a\033[1m", 80, "a\\x1b[1m", 8},
        {"a\tb\x7F", 80, "a\\x09b\\x7f", 10},
        {"\xC2\x9B", 80, "\\xc2\\x9b", 8},             /* a C1 control */
        {"\xE2\x80\xAEx", 80, "\\xe2\\x80\\xaex", 13}, /* turns the text */
        {"\xE2\x81\xA6", 80, "\\xe2\\x81\\xa6", 12},   /* isolates it */
        {"caf\xE9", 80, "caf\\xe9", 7},                /* not UTF-8 */
        {"\xC0\xAF", 80, "\\xc0\\xaf", 8},             /* an overlong form */
        {"\xE6\xBC", 80, "\\xe6\\xbc", 8},             /* cut off */
        {"ab\001cdef", 8, "ab...", 5},                 /* no half of a \xNN */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lapse_out out;
        lapse_out_init(&out, lapse_alloc_libc());
        int columns =
            lapse_out_safe(&out, cases[i].text, strlen(cases[i].text), cases[i].columns_max);
        cr_assert_str_eq(out.text, cases[i].shown, "case %zu", i);
        cr_assert_eq(columns, cases[i].columns, "case %zu: %d", i, columns);
        cr_assert_eq(lapse_columns_of(out.text, out.len), columns, "case %zu", i);
        lapse_out_free(&out);
    }
}

Test(format, trimmed_lines_end_in_no_blank) {
    struct lapse_out out;
    lapse_out_init(&out, lapse_alloc_libc());
    lapse_out_trim(&out);
    lapse_out_text(&out, "a  \n \n  b \nc d");
    lapse_out_trim(&out);
    cr_assert_str_eq(out.text, "a\n\n  b\nc d");
    cr_assert_eq(out.len, strlen(out.text));
    lapse_out_free(&out);
}

Test(format, junit_body_of_a_long_failure_keeps_replay_within_60_lines) {
    struct failure failure;
    failure_make(&failure, "a name", "m");
    struct lapse_diag *diag = failure.verdict.diags.items[0];
    char words[4000];
    for (size_t i = 0; i < sizeof words; i++) {
        words[i] = i % 50 == 49 ? ' ' : 'w';
    }
    words[sizeof words - 1] = '\0';
    lapse_diag_note(&failure.verdict.diags, diag, "note", "%s", words);
    char *text = report("junit", &failure, NULL);
    const char *body = strstr(text, "<failure"), *end = strstr(text, "</failure>");
    int lines = 0;
    for (const char *at = body; at < end; at++) {
        lines += *at == '\n';
    }
    cr_assert(lines > 40 && lines <= 60, "%d lines", lines);
    cr_assert_not_null(strstr(body, "replay    lapse replay s/x.yaml:2"));
    free(text);
    failure_free(&failure);
}

Test(format, replay_line_can_be_pasted_into_a_shell) {
    static const struct {
        const char *file, *line;
    } cases[] = {
        {"s/x.yaml", "lapse replay s/x.yaml:2 --seed 7"},
        {"my files/x.yaml", "lapse replay 'my files/x.yaml:2' --seed 7"},
        {"it's.yaml", "lapse replay 'it'\\''s.yaml:2' --seed 7"},
        {"$(x).yaml", "lapse replay '$(x).yaml:2' --seed 7"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct lapse_result_view view = {
            .file = cases[i].file, .line = 2, .row = -1, .seed = 7};
        struct lapse_out out;
        lapse_out_init(&out, lapse_alloc_libc());
        lapse_replay_line(&out, &view);
        cr_assert_str_eq(out.text, cases[i].line);
        lapse_out_free(&out);
    }
}

Test(format, mistaken_file_is_one_entry_in_every_format) {
    struct failure failure;
    failure_make(&failure, "n", "a duration needs a unit");
    const struct lapse_file_view file = {.file = "s/x.yaml",
                                         .source = &failure.source,
                                         .diags = &failure.verdict.diags,
                                         .expected_ids = ""};
    static const char *const wanted[] = {"FAIL  s/x.yaml", "not ok 5 - s/x.yaml: mistakes",
                                         "<error type=\"KV-03\"",
                                         "\"mistakes\": [{\"code\": \"KV-03\"",
                                         "# s/x.yaml: mistakes", "mistaken\t"};
    for (size_t i = 0; lapse_format_names()[i] != NULL; i++) {
        struct lapse_out bytes, out;
        size_t index = 4;
        lapse_out_init(&bytes, lapse_alloc_libc());
        lapse_out_init(&out, lapse_alloc_libc());
        lapse_format_find(lapse_format_names()[i])->file(&bytes, &plain, &file);
        lapse_format_join(&out, bytes.text, bytes.len, &index);
        cr_assert_not_null(strstr(out.text, wanted[i]), "%s", out.text);
        lapse_out_free(&bytes);
        lapse_out_free(&out);
    }
    failure_free(&failure);
}

/* An allocator that refuses the n-th growth and all after it. */
static void *refuse_late(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    int *left = ctx;
    if (new_bytes > 0 && (*left)-- <= 0) {
        return NULL;
    }
    const lapse_alloc *libc = lapse_alloc_libc();
    return libc->resize(libc->ctx, ptr, old_bytes, new_bytes);
}

Test(format, memory_that_runs_out_is_remembered_by_the_text) {
    struct failure failure;
    failure_make(&failure, "a name", "it was there");
    int n = 0;
    for (bool failed = true; failed && n < 100; n++) {
        int left = n;
        const lapse_alloc alloc = {refuse_late, &left};
        struct lapse_out out;
        lapse_out_init(&out, &alloc);
        lapse_format_find("pretty")->scenario(&out, &plain, &failure.view);
        failed = out.failed;
        lapse_out_free(&out);
    }
    cr_assert(n > 3 && n < 100, "%d", n);
    failure_free(&failure);
}

Test(format, names_that_are_written_alike_repeat) {
    /* A row's name beside a document named like it, a control beside its own picture, a name that
     * ends like a place; the others stay as they are. */
    static const char *const names[] = {"n [s=5s]", "n [s=6s]",   "n [s=5s]", "a\001b",
                                        "a\\x01b",  "m (line 4)", "m",        "a\002b"};
    static const bool wanted[] = {true, false, true, true, true, true, false, false};
    enum { COUNT = sizeof names / sizeof *names };
    bool repeats[COUNT];
    memset(repeats, 1, sizeof repeats);
    cr_assert_eq(lapse_names_repeat(lapse_alloc_libc(), names, COUNT, repeats), LAPSE_OK);
    for (size_t i = 0; i < COUNT; i++) {
        cr_assert_eq(repeats[i], wanted[i], "%s", names[i]);
    }
    cr_assert_eq(lapse_names_repeat(lapse_alloc_libc(), NULL, 0, NULL), LAPSE_OK);
}

Test(format, junit_tells_paths_and_rows_apart) {
    static const struct {
        const char *file, *name;
        int32_t row;
        bool repeats;
        const char *written;
    } cases[] = {
        {"d/x.yaml", "n", -1, false, "classname=\"d/x\" name=\"n\""},
        {"d/x.yml", "n", -1, false, "classname=\"d/x.yml\" name=\"n\""},
        {"d/x.yml.yaml", "n", -1, false, "classname=\"d/x.yml.yaml\" name=\"n\""},
        {"d/x", "n", -1, false, "classname=\"d/x/\" name=\"n\""},
        {"d/.yaml", "n", -1, false, "classname=\"d/.yaml\" name=\"n\""},
        {"a\001.yaml", "n", -1, false, "classname=\"a\\x01\" name=\"n\""},
        {"a\\x01.yaml", "n", -1, false, "classname=\"a\\x5cx01\" name=\"n\""},
        {"d/x.yaml", "n", -1, true, "classname=\"d/x\" name=\"n (line 2)\""},
        {"d/x.yaml", "n", 3, true, "classname=\"d/x\" name=\"n (line 2 row 3)\""},
        {"d/x.yaml", "two\nlines\tx", -1, false, "name=\"two\\x0alines\\x09x\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct lapse_result_view view = {
            .file = cases[i].file,
            .line = 2,
            .row = cases[i].row,
            .name = cases[i].name,
            .name_repeats = cases[i].repeats,
            .outcome = LAPSE_OUTCOME_PASSED,
        };
        struct lapse_out out;
        lapse_out_init(&out, lapse_alloc_libc());
        lapse_format_find("junit")->scenario(&out, &plain, &view);
        cr_assert_not_null(strstr(out.text, cases[i].written), "%s", out.text);
        lapse_out_free(&out);
    }
}

Test(format, memory_that_ran_out_is_no_bug) {
    const struct lapse_result_view view = {.file = "s/x.yaml",
                                           .row = -1,
                                           .name = "n",
                                           .why = "memory ran out",
                                           .broken = true,
                                           .starved = true};
    struct lapse_totals totals = {.scenarios = 1, .broken = 1, .starved = 1, .exit_code = 70};
    for (size_t i = 0; lapse_format_names()[i] != NULL; i++) {
        const lapse_format *format = lapse_format_find(lapse_format_names()[i]);
        struct lapse_out out;
        lapse_out_init(&out, lapse_alloc_libc());
        format->scenario(&out, &plain, &view);
        format->end(&out, &plain, &totals, NULL);
        cr_assert_not_null(strstr(out.text, "memory ran out"), "%s", out.text);
        cr_assert_null(strstr(out.text, "bug"), "%s", out.text);
        cr_assert_null(strstr(out.text, "BUG"), "%s", out.text);
        lapse_out_free(&out);
    }
    struct lapse_out out;
    lapse_out_init(&out, lapse_alloc_libc());
    totals.broken = 2; /* the other one is a bug */
    lapse_format_find("pretty")->end(&out, &plain, &totals, NULL);
    cr_assert_not_null(strstr(out.text, "exit     70, a bug in lapse itself\n"), "%s", out.text);
    lapse_out_free(&out);
}
