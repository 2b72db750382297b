/* Source excerpts in the manner of a compiler: the only drawer of source lines with carets. A
 * reader must see the place without opening the file. */
#include <string.h>

#include "draw.h"

/* One source line as it will be shown: bytes [from, to) of the text, cut to a window. */
struct line_view {
    const char *bytes;
    size_t len;
    int columns;
    int window_from, window_to; /* columns shown; "..." stands in for what is left out */
};

enum { ELLIPSIS = 3, LEAD_IN = 24, TEXT_COLUMNS_MIN = 24 };

struct excerpt {
    struct lapse_out *out;
    const struct lapse_source *source;
    const struct lapse_diag *diag;
    const struct lapse_style *style;
    int gutter; /* digits of the largest line number */
    int room;   /* columns for source text */
};

static void draw_head(struct excerpt *excerpt);
static void draw_lines(struct excerpt *excerpt);
static void draw_line(struct excerpt *excerpt, int line);
static void draw_window(struct excerpt *excerpt, const struct line_view *view);
static void draw_label(struct excerpt *excerpt, const struct line_view *view, size_t index);
static void draw_label_text(struct excerpt *excerpt, const char *text, int at, int column);
static void draw_elsewhere(struct excerpt *excerpt);
static void draw_notes(struct excerpt *excerpt);
static void gutter_blank(struct excerpt *excerpt);
static bool label_here(const struct excerpt *excerpt, size_t index);
static int line_next(const struct excerpt *excerpt, int after);
static int gutter_width(const struct excerpt *excerpt);
static struct line_view line_find(const struct excerpt *excerpt, int line);
static void line_window(const struct excerpt *excerpt, int line, struct line_view *view);
static int column_of(const struct line_view *view, int byte_column);
static void label_columns(const struct line_view *view, const struct lapse_place *place,
                          int *ret_from, int *ret_to);

void lapse_excerpt_draw(struct lapse_out *out, const struct lapse_source *source,
                        const struct lapse_diag *diag, const struct lapse_style *style) {
    LAPSE_ASSERT(diag != NULL);
    struct excerpt excerpt = {out, source, diag, style, 1, 0};
    excerpt.gutter = gutter_width(&excerpt);
    excerpt.room = style->width - excerpt.gutter - 4;
    LAPSE_ASSERT(excerpt.room > TEXT_COLUMNS_MIN);
    draw_head(&excerpt);
    if (line_next(&excerpt, 0) > 0) {
        draw_lines(&excerpt);
    }
    draw_elsewhere(&excerpt);
    draw_notes(&excerpt);
}

/* W and a number is a warning: nothing fails by it. */
static void draw_head(struct excerpt *excerpt) {
    struct lapse_out *out = excerpt->out;
    const struct lapse_diag *diag = excerpt->diag;
    bool warning = lapse_code_numbered(diag->code, 'W');
    lapse_out_paint(out, excerpt->style, warning ? LAPSE_PAINT_WARN : LAPSE_PAINT_ERROR);
    lapse_out_format(out, "%s[%s]", warning ? "warning" : "error", diag->code);
    lapse_out_paint(out, excerpt->style, LAPSE_PAINT_RESET);
    lapse_out_text(out, ": ");
    int at = (int)strlen(diag->code) + (warning ? 11 : 9);
    lapse_out_wrap(out, diag->message, at, 4, excerpt->style->width);
    lapse_out_text(out, "\n");
    if (diag->label_count == 0 || diag->labels[0].place.file == NULL) {
        return;
    }
    const struct lapse_place *place = &diag->labels[0].place;
    lapse_out_repeat(out, ' ', excerpt->gutter + 1);
    lapse_out_paint(out, excerpt->style, LAPSE_PAINT_FRAME);
    lapse_out_text(out, "--> ");
    lapse_out_paint(out, excerpt->style, LAPSE_PAINT_RESET);
    lapse_out_safe_text(out, place->file);
    if (place->line > 0) {
        lapse_out_format(out, ":%d:%d", place->line, place->column);
    }
    lapse_out_text(out, "\n");
}

/* Lines with labels in rising order; a single line between two of them is shown, more become an
 * ellipsis. */
static void draw_lines(struct excerpt *excerpt) {
    struct lapse_out *out = excerpt->out;
    gutter_blank(excerpt);
    lapse_out_text(out, "\n");
    int before = 0;
    for (int line = line_next(excerpt, 0); line > 0; line = line_next(excerpt, line)) {
        if (before > 0 && line == before + 2) {
            draw_line(excerpt, before + 1);
        } else if (before > 0 && line > before + 2) {
            lapse_out_text(out, " ...\n");
        }
        draw_line(excerpt, line);
        before = line;
    }
}

static void draw_line(struct excerpt *excerpt, int line) {
    struct lapse_out *out = excerpt->out;
    struct line_view view = line_find(excerpt, line);
    line_window(excerpt, line, &view);
    lapse_out_paint(out, excerpt->style, LAPSE_PAINT_FRAME);
    lapse_out_format(out, " %*d |", excerpt->gutter, line);
    lapse_out_paint(out, excerpt->style, LAPSE_PAINT_RESET);
    lapse_out_text(out, view.columns > 0 ? " " : "");
    if (view.window_from > 0) {
        lapse_out_text(out, "...");
    }
    draw_window(excerpt, &view);
    lapse_out_text(out, view.window_to < view.columns ? "...\n" : "\n");
    for (size_t i = 0; i < excerpt->diag->label_count; i++) {
        if (label_here(excerpt, i) && excerpt->diag->labels[i].place.line == line) {
            draw_label(excerpt, &view, i);
        }
    }
}

/* What is shown of the line. A \xNN that the window cuts leaves blanks, so that columns stay. */
static void draw_window(struct excerpt *excerpt, const struct line_view *view) {
    int column = 0;
    for (size_t i = 0; i < view->len && column < view->window_to;) {
        bool plain;
        size_t step = lapse_character_bytes(view->bytes + i, view->len - i, &plain);
        int to = column + lapse_columns_of(view->bytes + i, step);
        if (column >= view->window_from && to <= view->window_to) {
            (void)lapse_out_safe(excerpt->out, view->bytes + i, step, INT32_MAX);
        } else {
            int from = column > view->window_from ? column : view->window_from;
            int end = to < view->window_to ? to : view->window_to;
            lapse_out_repeat(excerpt->out, ' ', end - from);
        }
        column = to;
        i += step;
    }
}

/* The underline: ^ under the primary place, - under the others; clipped to the window. */
static void draw_label(struct excerpt *excerpt, const struct line_view *view, size_t index) {
    struct lapse_out *out = excerpt->out;
    const struct lapse_diag_label *label = &excerpt->diag->labels[index];
    int from, to;
    label_columns(view, &label->place, &from, &to);
    int lead = view->window_from > 0 ? ELLIPSIS : 0;
    gutter_blank(excerpt);
    lapse_out_repeat(out, ' ', from - view->window_from + lead + 1);
    lapse_out_paint(out, excerpt->style, index == 0 ? LAPSE_PAINT_ERROR : LAPSE_PAINT_FRAME);
    lapse_out_repeat(out, index == 0 ? '^' : '-', to - from);
    int column = from - view->window_from + lead;
    if (label->text[0] != '\0') {
        draw_label_text(excerpt, label->text, column + to - from, column);
    }
    lapse_out_paint(out, excerpt->style, LAPSE_PAINT_RESET);
    lapse_out_text(out, "\n");
}

/* Beside the underline if it fits, else on lines of its own below. */
static void draw_label_text(struct excerpt *excerpt, const char *text, int at, int column) {
    struct lapse_out *out = excerpt->out;
    int columns = lapse_columns_of(text, strlen(text));
    if (at + 1 + columns <= excerpt->room) {
        lapse_out_text(out, " ");
        lapse_out_safe_text(out, text);
        return;
    }
    int latest = excerpt->room - TEXT_COLUMNS_MIN;
    if (columns < excerpt->room && latest < excerpt->room - columns) {
        latest = excerpt->room - columns;
    }
    int indent = column < latest ? column : latest;
    while (*text != '\0') {
        size_t len = 0;
        size_t next = strcspn(text, " ");
        while (len == 0 || (text[len] != '\0' && (int)next <= excerpt->room - indent)) {
            len = next;
            next = len + strspn(text + len, " ");
            next += strcspn(text + next, " ");
        }
        lapse_out_text(out, "\n");
        gutter_blank(excerpt);
        lapse_out_repeat(out, ' ', indent + 1);
        lapse_out_safe(out, text, len, INT32_MAX);
        text += len;
        text += strspn(text, " ");
    }
}

/* Labels whose file is not at hand, or that name a file without a line. */
static void draw_elsewhere(struct excerpt *excerpt) {
    struct lapse_out *out = excerpt->out;
    for (size_t i = 0; i < excerpt->diag->label_count; i++) {
        const struct lapse_diag_label *label = &excerpt->diag->labels[i];
        if (label_here(excerpt, i) || label->text[0] == '\0') {
            continue;
        }
        lapse_out_repeat(out, ' ', excerpt->gutter + 1);
        lapse_out_text(out, "::: ");
        if (label->place.file != NULL && i > 0) {
            lapse_out_safe_text(out, label->place.file);
            lapse_out_format(out, ":%d:%d: ", label->place.line, label->place.column);
        }
        lapse_out_safe_text(out, label->text);
        lapse_out_text(out, "\n");
    }
}

static void draw_notes(struct excerpt *excerpt) {
    struct lapse_out *out = excerpt->out;
    const struct lapse_diag *diag = excerpt->diag;
    for (size_t i = 0; i < diag->note_count; i++) {
        const char *head = diag->notes[i].head;
        bool column = strcmp(head, "contract") == 0 || strcmp(head, "state") == 0;
        lapse_out_repeat(out, ' ', excerpt->gutter + 2);
        lapse_out_paint(out, excerpt->style, LAPSE_PAINT_FRAME);
        lapse_out_text(out, "= ");
        lapse_out_paint(out, excerpt->style, LAPSE_PAINT_RESET);
        int at = excerpt->gutter + 4;
        if (column) {
            lapse_out_format(out, "%-8s  ", head);
            at += 10;
        } else {
            lapse_out_format(out, "%s: ", head);
            at += (int)strlen(head) + 2;
        }
        lapse_out_wrap(out, diag->notes[i].text, at, at, excerpt->style->width);
        lapse_out_text(out, "\n");
    }
}

static void gutter_blank(struct excerpt *excerpt) {
    lapse_out_repeat(excerpt->out, ' ', excerpt->gutter + 2);
    lapse_out_paint(excerpt->out, excerpt->style, LAPSE_PAINT_FRAME);
    lapse_out_text(excerpt->out, "|");
    lapse_out_paint(excerpt->out, excerpt->style, LAPSE_PAINT_RESET);
}

static bool label_here(const struct excerpt *excerpt, size_t index) {
    const struct lapse_place *place = &excerpt->diag->labels[index].place;
    return excerpt->source != NULL && place->file != NULL && place->line > 0 &&
           strcmp(place->file, excerpt->source->name) == 0;
}

/* The first labelled line after `after`, or 0. */
static int line_next(const struct excerpt *excerpt, int after) {
    int next = 0;
    for (size_t i = 0; i < excerpt->diag->label_count; i++) {
        int line = excerpt->diag->labels[i].place.line;
        if (label_here(excerpt, i) && line > after && (next == 0 || line < next)) {
            next = line;
        }
    }
    return next;
}

static int gutter_width(const struct excerpt *excerpt) {
    int largest = 0;
    for (int line = line_next(excerpt, 0); line > 0; line = line_next(excerpt, line)) {
        largest = line;
    }
    int digits = 1;
    for (; largest >= 10; largest /= 10) {
        digits++;
    }
    return digits;
}

static struct line_view line_find(const struct excerpt *excerpt, int line) {
    const char *at = excerpt->source->text;
    const char *end = at + excerpt->source->bytes;
    for (int i = 1; i < line && at < end; i++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline == NULL ? end : newline + 1;
    }
    struct line_view view = {at, 0, 0, 0, 0};
    if (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        view.len = newline == NULL ? (size_t)(end - at) : (size_t)(newline - at);
    }
    while (view.len > 0 && (at[view.len - 1] == '\r' || at[view.len - 1] == ' ')) {
        view.len--;
    }
    view.columns = lapse_columns_of(at, view.len);
    view.window_to = view.columns;
    return view;
}

/* A line that is too long is shown around the leftmost label of the line's first labelled place,
 * which is the primary one if it is there. */
static void line_window(const struct excerpt *excerpt, int line, struct line_view *view) {
    if (view->columns <= excerpt->room) {
        return;
    }
    int from = 0, to = 0;
    for (size_t i = excerpt->diag->label_count; i-- > 0;) {
        const struct lapse_place *place = &excerpt->diag->labels[i].place;
        if (label_here(excerpt, i) && place->line == line) {
            from = column_of(view, place->column);
            to = column_of(view, place->column + (place->span > 0 ? place->span : 1));
        }
    }
    int room = excerpt->room - ELLIPSIS;
    if (to <= room) {
        view->window_to = room;
        return;
    }
    room -= ELLIPSIS;
    view->window_from = from > LEAD_IN ? from - LEAD_IN : 0;
    if (view->window_from + room > view->columns) {
        view->window_from = view->columns - room;
    }
    view->window_to = view->window_from + room;
}

/* The 0-based character column of a 1-based byte column; one past the end at most. */
static int column_of(const struct line_view *view, int byte_column) {
    size_t bytes = byte_column > 1 ? (size_t)byte_column - 1 : 0;
    if (bytes > view->len) {
        return view->columns;
    }
    return lapse_columns_of(view->bytes, bytes);
}

/* The columns of a label's underline, at least one, inside the window. */
static void label_columns(const struct line_view *view, const struct lapse_place *place,
                          int *ret_from, int *ret_to) {
    int from = column_of(view, place->column);
    int to = column_of(view, place->column + (place->span > 0 ? place->span : 1));
    int end = view->window_to > view->window_from ? view->window_to : view->window_from + 1;
    from = from < view->window_from ? view->window_from : from;
    from = from > end ? end : from;
    to = to > end ? end : to;
    *ret_from = from;
    *ret_to = to > from ? to : from + 1;
}
