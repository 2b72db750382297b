/* Lines of text for messages: cut, never too long for their buffer. */
#include "line.h"

#include <stdio.h>
#include <string.h>

static void put(struct lapse_line *line, const char *text, size_t len);
static void cut(char *text, size_t cap);

void lapse_line_begin(struct lapse_line *line, char *buf, size_t cap) {
    LAPSE_ASSERT(cap >= 4);
    *line = (struct lapse_line){buf, cap, 0, false};
    buf[0] = '\0';
}

void lapse_line_add(struct lapse_line *line, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    lapse_line_format(text, sizeof(text), format, args);
    va_end(args);
    put(line, text, strlen(text));
}

void lapse_line_format(char *text, size_t cap, const char *format, va_list args) {
    LAPSE_ASSERT(cap >= 4);
    int len = vsnprintf(text, cap, format, args);
    LAPSE_ASSERT(len >= 0);
    if ((size_t)len >= cap) {
        cut(text, cap);
    }
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
    case LAPSE_OPERAND_RECORD:
        return lapse_bytes_of(value->number == LAPSE_RECORD_TOMBSTONE ? "delete"
                              : value->number == LAPSE_RECORD_MARKER  ? "expired"
                                                                      : "purge");
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
        cut(line->buf, line->cap);
        line->len = strlen(line->buf);
    }
}

/* Puts "..." at the end of a text that fills its buffer, in the place of whole characters: where
 * the byte that goes first is not a character's first, its head goes too. */
static void cut(char *text, size_t cap) {
    size_t at = cap - 4;
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80) {
        at--;
    }
    memcpy(text + at, "...", 4);
}
