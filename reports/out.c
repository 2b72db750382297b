/* A growing text: what every writer appends to. Memory that runs out is remembered, not reported at
 * each call, so that writers stay straight lines. */
#include "reports/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "draw.h"

static bool out_room(struct lapse_out *out, size_t more);

void lapse_out_init(struct lapse_out *out, const lapse_alloc *alloc) {
    LAPSE_ASSERT(alloc != NULL);
    memset(out, 0, sizeof *out);
    out->alloc = alloc;
}

void lapse_out_free(struct lapse_out *out) {
    if (out == NULL || out->alloc == NULL) {
        return;
    }
    lapse_alloc_free(out->alloc, out->text, out->cap);
    lapse_out_init(out, out->alloc);
}

void lapse_out_bytes(struct lapse_out *out, const char *bytes, size_t len) {
    if (len == 0 || !out_room(out, len)) {
        return;
    }
    memcpy(out->text + out->len, bytes, len);
    out->len += len;
    out->text[out->len] = '\0';
}

void lapse_out_text(struct lapse_out *out, const char *text) {
    lapse_out_bytes(out, text, strlen(text));
}

void lapse_out_format(struct lapse_out *out, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    LAPSE_ASSERT(len >= 0);
    if (len == 0 || !out_room(out, (size_t)len)) {
        return;
    }
    va_start(args, format);
    (void)vsnprintf(out->text + out->len, (size_t)len + 1, format, args);
    va_end(args);
    out->len += (size_t)len;
}

void lapse_out_trim(struct lapse_out *out) {
    size_t kept = 0;
    for (size_t i = 0; i < out->len; i++) {
        while (out->text[i] == '\n' && kept > 0 && out->text[kept - 1] == ' ') {
            kept--;
        }
        out->text[kept++] = out->text[i];
    }
    if (out->len > 0) {
        out->text[kept] = '\0';
        out->len = kept;
    }
}

void lapse_out_repeat(struct lapse_out *out, char character, int count) {
    for (int i = 0; i < count; i++) {
        lapse_out_bytes(out, &character, 1);
    }
}

void lapse_out_count(struct lapse_out *out, size_t count, const char *one, const char *many) {
    lapse_out_format(out, "%zu %s", count, count == 1 ? one : many);
}

void lapse_out_paint(struct lapse_out *out, const struct lapse_style *style,
                     enum lapse_paint paint) {
    static const char *const codes[] = {"\033[0m",  "\033[1;31m", "\033[32m",
                                        "\033[33m", "\033[34m",   "\033[1m"};
    if (style->color) {
        lapse_out_text(out, codes[paint]);
    }
}

/* Room for `more` bytes and a NUL. */
static bool out_room(struct lapse_out *out, size_t more) {
    if (out->failed || more > SIZE_MAX / 4 || out->len > SIZE_MAX / 4) {
        out->failed = true;
        return false;
    }
    void *array = out->text;
    if (!lapse_alloc_grow(out->alloc, &array, &out->cap, out->len + more + 1, 1)) {
        out->failed = true;
        return false;
    }
    out->text = array;
    return true;
}
