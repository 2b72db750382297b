/* Excerpts: what a reader sees of a source line, and that no input breaks the picture. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"

static const struct lapse_style plain = {.width = 80};

/* The drawing of one diagnostic over `text`; labels are (line, column, span, text). */
struct label {
    int line, column, span;
    const char *text;
};

static char *drawn(const char *text, const struct label *labels, size_t count,
                   const struct lapse_style *style, const char *note) {
    struct lapse_diag_list list;
    lapse_diag_list_init(&list, lapse_alloc_libc());
    struct lapse_place place = {"x.yaml", labels[0].line, labels[0].column, labels[0].span};
    struct lapse_diag *diag =
        lapse_diag_add(&list, "Y104", place, labels[0].text, "a duration needs a unit");
    for (size_t i = 1; i < count; i++) {
        place = (struct lapse_place){"x.yaml", labels[i].line, labels[i].column, labels[i].span};
        lapse_diag_label(&list, diag, place, "%s", labels[i].text);
    }
    if (note != NULL) {
        lapse_diag_note(&list, diag, "help", "%s", note);
    }
    const struct lapse_source source = {"x.yaml", text, strlen(text)};
    struct lapse_out out;
    lapse_out_init(&out, lapse_alloc_libc());
    lapse_excerpt_draw(&out, &source, diag, style);
    cr_assert(!out.failed && out.text != NULL);
    lapse_diag_list_free(&list);
    return out.text; /* from realloc: the caller frees it */
}

Test(excerpt, mistake_is_drawn_like_a_compilers) {
    const struct label labels[] = {{2, 8, 2, "30 what?"}};
    char *text = drawn("a: 1\nb: {c: 30}\n", labels, 1, &plain, "write 30s");
    cr_assert_str_eq(text, "error[Y104]: a duration needs a unit\n"
                           "  --> x.yaml:2:8\n"
                           "   |\n"
                           " 2 | b: {c: 30}\n"
                           "   |        ^^ 30 what?\n"
                           "   = help: write 30s\n");
    free(text);
}

Test(excerpt, labels_come_in_line_order_and_gaps_are_shown) {
    const struct label labels[] = {{3, 1, 1, "here"}, {1, 1, 1, "set up"}, {12, 1, 2, "later"}};
    char *text = drawn("a\nb\nc\n\n\n\n\n\n\n\n\nll\n", labels, 3, &plain, NULL);
    cr_assert_str_eq(text, "error[Y104]: a duration needs a unit\n"
                           "   --> x.yaml:3:1\n"
                           "    |\n"
                           "  1 | a\n"
                           "    | - set up\n"
                           "  2 | b\n"
                           "  3 | c\n"
                           "    | ^ here\n"
                           " ...\n"
                           " 12 | ll\n"
                           "    | -- later\n");
    free(text);
}

/* In every row with an underline the first caret stands under the 'X' that was pointed at. */
static void check_caret(const char *source, int column, int width) {
    const struct lapse_style style = {.width = width};
    const struct label labels[] = {{1, column, 1, "it"}};
    char *text = drawn(source, labels, 1, &style, NULL);
    const char *line = strstr(text, " 1 | ");
    cr_assert_not_null(line, "%s", text);
    const char *caret_line = strchr(line, '\n') + 1;
    const char *x = strchr(line, 'X');
    const char *caret = strchr(caret_line, '^');
    cr_assert_not_null(x, "the place is out of view: %s", text);
    cr_assert_not_null(caret, "%s", text);
    cr_assert_eq(lapse_columns_of(line, (size_t)(x - line)),
                 lapse_columns_of(caret_line, (size_t)(caret - caret_line)), "%s", text);
    for (const char *at = text; *at != '\0';) {
        size_t len = strcspn(at, "\n");
        cr_assert_leq(lapse_columns_of(at, len), width, "%s", text);
        at += len + 1;
    }
    free(text);
}

Test(excerpt, caret_stands_under_the_place_in_long_and_odd_lines) {
    char line[2000];
    for (int column = 1; column < 1990; column += 97) {
        memset(line, 'a', sizeof line);
        line[column - 1] = 'X';
        line[sizeof line - 1] = '\0';
        for (int width = 60; width <= 120; width += 30) {
            check_caret(line, column, width);
        }
    }
    check_caret("\xC3\xA9\xE2\x82\xAC X", 7, 80);
    check_caret("\t\tX", 3, 80);
    check_caret("\xFF\x80X", 3, 80);
}

Test(excerpt, hostile_bytes_do_not_reach_the_output) {
    const char *const sources[] = {
        "a\033[31mb",           "a\xE2\x80\xAEz", "a\xC2\x9Bm",   "a\rb\x7F",
        "\xF8\x88\x80\x80\x80", "\xC0\xAF",       "\xED\xA0\x80", "a\tb"};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        const struct label labels[] = {{1, 1, 400, sources[i]}};
        char *text = drawn(sources[i], labels, 1, &plain, sources[i]);
        for (const char *at = text; *at != '\0';) {
            bool good;
            size_t step = lapse_character_bytes(at, strlen(at), &good);
            cr_assert(good || *at == '\n', "source %zu: byte %02x", i, (unsigned char)*at);
            at += step;
        }
        free(text);
    }
}

Test(excerpt, places_outside_of_the_text_are_harmless) {
    const struct label places[] = {{9, 1, 1, "no such line"}, {1, 99, 5, "past the end"},
                                   {1, 1, 0, "no span"},      {2, 1, 1, "after the last newline"},
                                   {0, 0, 0, "no place"},     {1, 0, -3, "negative"}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *text = drawn("abc\n", &places[i], 1, &plain, NULL);
        cr_assert_not_null(strstr(text, places[i].text), "%s", text);
        free(text);
    }
}

Test(excerpt, colour_is_only_added) {
    const struct lapse_style color = {.color = true, .width = 80};
    const struct label labels[] = {{1, 1, 1, "here"}};
    char *with = drawn("abc\n", labels, 1, &color, "note"),
         *without = drawn("abc\n", labels, 1, &plain, "note");
    cr_assert_not_null(strchr(with, '\033'));
    char *to = with;
    for (const char *from = with; *from != '\0'; from++) {
        if (*from == '\033') {
            from = strchr(from, 'm');
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
    cr_assert_str_eq(with, without);
    free(with);
    free(without);
}
