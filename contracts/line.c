/* Lines of text for messages: cut, never too long for their buffer. */
#include "line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put(struct lapse_line *line, const char *text, size_t len);

void lapse_line_begin(struct lapse_line *line, char *buf, size_t cap) {
    LAPSE_ASSERT(cap >= 4);
    *line = (struct lapse_line){buf, cap, 0, false};
    buf[0] = '\0';
}

void lapse_line_add(struct lapse_line *line, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    LAPSE_ASSERT(len >= 0);
    put(line, text, (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
}

void lapse_line_bytes(struct lapse_line *line, struct lapse_bytes bytes) {
    char text[1024];
    (void)lapse_bytes_print(bytes, text, sizeof(text));
    put(line, text, strlen(text));
}

void lapse_line_span(struct lapse_line *line, int64_t ns) {
    char text[LAPSE_TIME_TEXT_MAX];
    (void)lapse_span_print((struct lapse_span){ns}, text);
    put(line, text, strlen(text));
}

void lapse_line_value(struct lapse_line *line, const struct lapse_value *value) {
    char scratch[LAPSE_TIME_TEXT_MAX];
    lapse_line_bytes(line, lapse_value_bytes(value, scratch));
}

struct lapse_bytes lapse_value_bytes(const struct lapse_value *value, char *scratch) {
    switch (value->kind) {
    case LAPSE_OPERAND_TEXT:
        return value->text;
    case LAPSE_OPERAND_SPAN:
        return lapse_bytes_of(lapse_span_print((struct lapse_span){value->number}, scratch));
    case LAPSE_OPERAND_DATE:
        return lapse_bytes_of(lapse_wall_print((struct lapse_wall){value->number}, scratch));
    case LAPSE_OPERAND_ABSENT:
        return lapse_bytes_of("absent");
    default:
        (void)snprintf(scratch, LAPSE_TIME_TEXT_MAX, "%lld", (long long)value->number);
        return lapse_bytes_of(scratch);
    }
}

static void put(struct lapse_line *line, const char *text, size_t len) {
    if (line->cut) {
        return;
    }
    size_t room = line->cap - 1 - line->len;
    size_t fits = len < room ? len : room;
    memcpy(line->buf + line->len, text, fits);
    line->len += fits;
    line->buf[line->len] = '\0';
    if (fits < len) {
        line->cut = true;
        memcpy(line->buf + line->cap - 4, "...", 4);
    }
}
