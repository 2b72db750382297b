/* The guard. One pass over the bytes, no memory, and it stops at the first finding: what follows a
 * broken byte cannot be trusted to be what it looks like. */
#include "guard.h"

#include <string.h>

#include "mistakes.h"
#include "scenarios/load.h"

struct scan {
    const char *file;
    const unsigned char *bytes;
    size_t count, at, line_start;
    int line;
    size_t depth, nodes, documents;
    unsigned char quote; /* the quote that is open, or 0 */
    bool comment;
    struct lapse_diag_list *diags;
};

static bool check_size(const char *file, size_t byte_count, struct lapse_diag_list *diags);
static bool check_byte(struct scan *scan);
static bool check_line(struct scan *scan);
static bool check_structure(struct scan *scan);
static bool refuse_control(struct scan *scan);
static bool refuse_many(struct scan *scan, const char *what, int max);
static size_t utf8_length(const unsigned char *bytes, size_t left);
static struct lapse_place here(const struct scan *scan, int span);
static bool opens_token(const struct scan *scan);

bool lapse_guard_check(const char *file, const char *bytes, size_t byte_count,
                       struct lapse_diag_list *diags) {
    struct scan scan = {.file = file,
                        .bytes = (const unsigned char *)bytes,
                        .count = byte_count,
                        .line = 1,
                        .diags = diags};
    if (!check_size(file, byte_count, diags)) {
        return false;
    }
    while (scan.at < scan.count) {
        if (scan.at == scan.line_start && !check_line(&scan)) {
            return false;
        }
        if (!check_byte(&scan)) {
            return false;
        }
    }
    return true;
}

static bool check_size(const char *file, size_t byte_count, struct lapse_diag_list *diags) {
    if (byte_count <= (size_t)LAPSE_FILE_BYTES_MAX) {
        return true;
    }
    struct lapse_diag *diag = lapse_mistake_add(
        diags, "Y001", (struct lapse_place){file, 1, 1, 1}, "",
        "this file is too large: a scenario file has at most %d bytes", (int)LAPSE_FILE_BYTES_MAX);
    lapse_diag_note(diags, diag, "help", "split it: a suite is a folder of many files");
    return false;
}

/* What a line may begin with. */
static bool check_line(struct scan *scan) {
    const unsigned char *line = scan->bytes + scan->at;
    size_t left = scan->count - scan->at;
    scan->comment = false;
    if (line[0] == '%') {
        struct lapse_diag *diag = lapse_mistake_add(scan->diags, "Y004", here(scan, 1), "",
                                                    "a line may not begin with `%%`");
        lapse_diag_note(scan->diags, diag, "help",
                        "YAML directives are not read here: take the line out, or indent the text");
        return false;
    }
    if (left >= 3 && memcmp(line, "---", 3) == 0) {
        scan->depth = 0;
        scan->quote = 0;
        scan->documents++;
    }
    return scan->documents <= LAPSE_GUARD_DOCUMENTS_MAX ||
           refuse_many(scan, "documents", LAPSE_GUARD_DOCUMENTS_MAX);
}

static bool check_byte(struct scan *scan) {
    unsigned char c = scan->bytes[scan->at];
    size_t len = utf8_length(scan->bytes + scan->at, scan->count - scan->at);
    if (len == 0) {
        struct lapse_diag *diag = lapse_mistake_add(scan->diags, "Y002", here(scan, 1), "",
                                                    "byte 0x%02X is not UTF-8", (unsigned)c);
        lapse_diag_note(scan->diags, diag, "help", "save the file as UTF-8");
        return false;
    }
    /* U+0080 to U+009F are control characters too, two bytes long. */
    bool high_control = c == 0xC2 && scan->bytes[scan->at + 1] < 0xA0;
    if ((c < 0x20 && c != '\n') || c == 0x7F || high_control) {
        return refuse_control(scan);
    }
    if (!check_structure(scan)) {
        return false;
    }
    scan->at += len;
    if (c == '\n') {
        scan->line++;
        scan->line_start = scan->at;
    }
    return true;
}

/* Counts what makes the library work, and the brackets that are open. Quotes and comments are seen
 * roughly: only that a bound is never passed matters, not the exact count. */
static bool check_structure(struct scan *scan) {
    unsigned char c = scan->bytes[scan->at];
    bool opens = opens_token(scan);
    if (strchr(",:[]{}\n?-", (int)c) != NULL) {
        scan->nodes++;
    }
    if (scan->nodes > LAPSE_GUARD_NODES_MAX) {
        return refuse_many(scan, "entries", LAPSE_GUARD_NODES_MAX);
    }
    if (scan->comment) {
        return true;
    }
    if (scan->quote != 0) {
        scan->quote = c == scan->quote ? 0 : scan->quote;
        return true;
    }
    if (opens && (c == '\'' || c == '"')) {
        scan->quote = c;
    } else if (c == '#' && opens) {
        scan->comment = true;
    } else if (opens && (c == '[' || c == '{')) {
        scan->depth++;
    } else if ((c == ']' || c == '}') && scan->depth > 0) {
        scan->depth--;
    }
    if (scan->depth <= LAPSE_GUARD_DEPTH_MAX) {
        return true;
    }
    struct lapse_diag *diag =
        lapse_mistake_add(scan->diags, "Y005", here(scan, 1), "", "nested more than %d deep",
                          (int)LAPSE_GUARD_DEPTH_MAX);
    lapse_diag_note(scan->diags, diag, "help", "no scenario needs more than 10 levels");
    return false;
}

static bool refuse_control(struct scan *scan) {
    unsigned char c = scan->bytes[scan->at];
    unsigned shown = c == 0xC2 ? (unsigned)scan->bytes[scan->at + 1] : (unsigned)c;
    const char *help = "take it out";
    const char *name = "a control character";
    if (c == '\t') {
        name = "a tab";
        help = "indent and align with spaces";
    } else if (c == '\r') {
        name = "a carriage return";
        help = "save the file with LF line ends";
    }
    struct lapse_diag *diag =
        lapse_mistake_add(scan->diags, "Y003", here(scan, 1), "",
                          "%s (U+%04X) may not stand in a scenario file", name, shown);
    lapse_diag_note(scan->diags, diag, "help", "%s", help);
    return false;
}

static bool refuse_many(struct scan *scan, const char *what, int max) {
    struct lapse_diag *diag = lapse_mistake_add(scan->diags, "Y006", here(scan, 1), "",
                                                "a file has at most %d %s", max, what);
    lapse_diag_note(scan->diags, diag, "help", "split it: a suite is a folder of many files");
    return false;
}

/* The length of the UTF-8 sequence at bytes, or 0 if it is none: too long a form, a surrogate, past
 * U+10FFFF, or cut off. */
static size_t utf8_length(const unsigned char *bytes, size_t left) {
    unsigned char c = bytes[0];
    if (c < 0x80) {
        return 1;
    }
    size_t len = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
    if (c < 0xC2 || c > 0xF4 || left < len) {
        return 0;
    }
    for (size_t i = 1; i < len; i++) {
        if ((bytes[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (c == 0xE0 && bytes[1] < 0xA0) || (c == 0xF0 && bytes[1] < 0x90);
    bool surrogate = c == 0xED && bytes[1] >= 0xA0;
    bool beyond = c == 0xF4 && bytes[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : len;
}

static struct lapse_place here(const struct scan *scan, int span) {
    return (struct lapse_place){scan->file, scan->line, (int)(scan->at - scan->line_start) + 1,
                                span};
}

/* Whether a token may begin at this byte. */
static bool opens_token(const struct scan *scan) {
    return scan->at == scan->line_start || strchr(" ,:[{", (int)scan->bytes[scan->at - 1]) != NULL;
}
