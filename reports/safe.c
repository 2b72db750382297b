/* Hostile text made fit to print: UTF-8 passes; control characters, broken bytes and direction
 * overrides are shown byte by byte as \xNN, as lapse_bytes_print does, so that a reader sees them,
 * columns can be counted and a terminal cannot be driven. */
#include <string.h>

#include "draw.h"

enum { ELLIPSIS = 3, HEX_COLUMNS = 4 };

static void put_hex(struct lapse_out *out, const char *bytes, size_t len);
static bool code_plain(unsigned long code);

size_t lapse_character_bytes(const char *bytes, size_t len, bool *ret_plain) {
    LAPSE_ASSERT(len > 0);
    unsigned char lead = (unsigned char)bytes[0];
    size_t need = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    *ret_plain = false;
    if (need == 0 || lead > 0xF4 || need > len) {
        return 1;
    }
    unsigned long code = need == 1 ? lead : lead & (0xFFUL >> (need + 1));
    for (size_t i = 1; i < need; i++) {
        unsigned char next = (unsigned char)bytes[i];
        if ((next & 0xC0) != 0x80) {
            return 1;
        }
        code = (code << 6) | (next & 0x3FUL);
    }
    static const unsigned long least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[need] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
        return 1;
    }
    *ret_plain = code_plain(code);
    return need;
}

int lapse_columns_of(const char *bytes, size_t len) {
    int columns = 0;
    for (size_t i = 0; i < len;) {
        bool plain;
        size_t step = lapse_character_bytes(bytes + i, len - i, &plain);
        columns += plain ? 1 : HEX_COLUMNS * (int)step;
        i += step;
    }
    return columns;
}

int lapse_out_safe(struct lapse_out *out, const char *bytes, size_t len, int columns_max) {
    int columns = lapse_columns_of(bytes, len);
    bool cut = columns > columns_max;
    int room = cut ? columns_max - ELLIPSIS : columns;
    int done = 0;
    for (size_t i = 0; i < len;) {
        bool plain;
        size_t step = lapse_character_bytes(bytes + i, len - i, &plain);
        int wide = plain ? 1 : HEX_COLUMNS * (int)step;
        if (wide > room - done) {
            break;
        }
        if (plain) {
            lapse_out_bytes(out, bytes + i, step);
        } else {
            put_hex(out, bytes + i, step);
        }
        done += wide;
        i += step;
    }
    if (cut) {
        lapse_out_text(out, "...");
        done += ELLIPSIS;
    }
    return done;
}

int lapse_out_safe_text(struct lapse_out *out, const char *text) {
    return lapse_out_safe(out, text, strlen(text), INT32_MAX);
}

void lapse_out_wrap(struct lapse_out *out, const char *text, int at, int indent, int width) {
    bool first = true;
    while (*text != '\0') {
        size_t word = strcspn(text, " \n");
        int columns = lapse_columns_of(text, word);
        if (!first && at + 1 + columns > width) {
            lapse_out_text(out, "\n");
            lapse_out_repeat(out, ' ', indent);
            at = indent;
        } else if (!first) {
            lapse_out_text(out, " ");
            at++;
        }
        at += lapse_out_safe(out, text, word, INT32_MAX);
        first = false;
        text += word;
        text += strspn(text, " \n");
    }
}

bool lapse_code_numbered(const char *code, char letter) {
    return code[0] == letter && code[1] >= '0' && code[1] <= '9';
}

/* Made safe first: a \xNN must be read back as it is shown, not as the byte that it stands for. */
void lapse_out_escaped(struct lapse_out *out, const char *text, const char *special) {
    struct lapse_out safe;
    lapse_out_init(&safe, out->alloc);
    (void)lapse_out_safe_text(&safe, text);
    for (const char *at = safe.text != NULL ? safe.text : ""; *at != '\0'; at++) {
        if (*at == '\\' || strchr(special, *at) != NULL) {
            lapse_out_bytes(out, "\\", 1);
        }
        lapse_out_bytes(out, at, 1);
    }
    out->failed = out->failed || safe.failed;
    lapse_out_free(&safe);
}

static void put_hex(struct lapse_out *out, const char *bytes, size_t len) {
    for (size_t i = 0; i < len; i++) {
        lapse_out_format(out, "\\x%02x", (unsigned)(unsigned char)bytes[i]);
    }
}

/* Controls, marks that hide or turn what follows, and what is no character (XML cannot carry it):
 * as in lapse_bytes_print, but for the backslash, which source lines may hold. */
static bool code_plain(unsigned long code) {
    if (code < 0x20 || (code >= 0x7F && code < 0xA0)) {
        return false;
    }
    bool turns = code == 0x061C || (code >= 0x200B && code <= 0x200F) ||
                 (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
    return !turns && code != 0xFEFF && (code & 0xFFFE) != 0xFFFE;
}
