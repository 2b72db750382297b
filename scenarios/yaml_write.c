/* A tree as YAML text. A value stands on the line of its key where it fits; a list of lines has one
 * line each, a line that is too long becomes a block of its words. Texts are quoted only where YAML
 * would read them as something else. */
#include "scenarios/yaml.h"

#include <stdio.h>
#include <string.h>

struct writer {
    struct lapse_emitted *out;
    struct lapse_error *err;
    enum lapse_status status;
    size_t column;
};

enum { SHORT_LIST = 2, INDENT = 2 };

static void write_map(struct writer *w, const struct lapse_node *map, size_t indent);
static void write_value(struct writer *w, const struct lapse_node *node, size_t indent, bool top);
static void write_list(struct writer *w, const struct lapse_node *list, size_t indent);
static void write_flow(struct writer *w, const struct lapse_node *node, size_t wrap);
static bool is_block(const struct lapse_node *node);
static size_t flow_width(const struct lapse_node *node, size_t most);
static void write_scalar(struct writer *w, const struct lapse_node *node, bool flow);
static size_t write_escaped(struct writer *w, const struct lapse_node *node, size_t at);
static bool is_high_control(const struct lapse_node *node, size_t at);
static bool is_plain(const struct lapse_node *node, bool flow);
static bool is_plain_char(const char *text, size_t at, size_t len, bool flow);
static bool is_writable(const struct lapse_node *node);
static size_t character_length(const unsigned char *text, size_t left);
static void put(struct writer *w, const char *text, size_t len);
static void put_line(struct writer *w, size_t indent);

enum lapse_status lapse_yaml_write(const struct lapse_node *document, struct lapse_emitted *ret,
                                   struct lapse_error *err) {
    struct writer w = {.out = ret, .err = err, .status = LAPSE_OK};
    for (size_t i = 0; i < document->count; i++) {
        write_scalar(&w, document->keys[i], false);
        put(&w, ":", 1);
        write_value(&w, document->items[i], 0, lapse_node_is(document->keys[i], "steps"));
        put(&w, "\n", 1);
    }
    return w.status;
}

bool lapse_emitted_append(struct lapse_emitted *emitted, const char *text, size_t len) {
    void *grown = emitted->text;
    if (!lapse_alloc_grow(emitted->alloc, &grown, &emitted->cap, emitted->bytes + len + 1, 1)) {
        return false;
    }
    emitted->text = grown;
    memcpy(emitted->text + emitted->bytes, text, len);
    emitted->bytes += len;
    emitted->text[emitted->bytes] = '\0';
    return true;
}

/* What follows `key:`. `top`: one line each, though they would fit. */
static void write_value(struct writer *w, const struct lapse_node *node, size_t indent, bool top) {
    if (node->kind == LAPSE_NODE_SCALAR) {
        put(w, " ", node->len == 0 && !node->quoted ? 0 : 1);
        write_scalar(w, node, false);
        return;
    }
    const size_t room = (size_t)LAPSE_YAML_WIDTH - 1;
    bool block =
        is_block(node) || (top && node->count > 0) || w->column + flow_width(node, room) > room;
    bool scalars = node->kind == LAPSE_NODE_SEQ;
    for (size_t i = 0; i < node->count; i++) {
        scalars = scalars && node->items[i]->kind == LAPSE_NODE_SCALAR;
    }
    if (!block || scalars) {
        put(w, " ", 1);
        write_flow(w, node, block ? indent + 2 * INDENT : 0);
    } else if (node->kind == LAPSE_NODE_MAP) {
        put_line(w, indent + INDENT);
        write_map(w, node, indent + INDENT);
    } else {
        write_list(w, node, indent + INDENT);
    }
}

static void write_map(struct writer *w, const struct lapse_node *map, size_t indent) {
    for (size_t i = 0; i < map->count; i++) {
        if (i > 0) {
            put_line(w, indent);
        }
        write_scalar(w, map->keys[i], false);
        put(w, ":", 1);
        write_value(w, map->items[i], indent, false);
    }
}

static void write_list(struct writer *w, const struct lapse_node *list, size_t indent) {
    for (size_t i = 0; i < list->count; i++) {
        const struct lapse_node *item = list->items[i];
        put_line(w, indent);
        put(w, "- ", 2);
        bool fits =
            !is_block(item) && w->column + flow_width(item, LAPSE_YAML_WIDTH) <= LAPSE_YAML_WIDTH;
        if (item->kind == LAPSE_NODE_SCALAR) {
            write_scalar(w, item, false);
        } else if (item->kind == LAPSE_NODE_MAP && !fits && item->count > 0) {
            write_map(w, item, indent + INDENT);
        } else {
            write_flow(w, item, 0);
        }
    }
}

/* On one line; with `wrap` a list goes on in the next line at that column. */
static void write_flow(struct writer *w, const struct lapse_node *node, size_t wrap) {
    if (node->kind == LAPSE_NODE_SCALAR) {
        write_scalar(w, node, true);
        return;
    }
    bool map = node->kind == LAPSE_NODE_MAP;
    put(w, map ? "{" : "[", 1);
    for (size_t i = 0; i < node->count; i++) {
        put(w, ",", i > 0 ? 1 : 0);
        if (i > 0 && wrap > 0 &&
            w->column + flow_width(node->items[i], LAPSE_YAML_WIDTH) + 2 > LAPSE_YAML_WIDTH) {
            put_line(w, wrap);
        } else {
            put(w, " ", i > 0 ? 1 : 0);
        }
        if (map) {
            write_scalar(w, node->keys[i], true);
            put(w, ": ", 2);
        }
        write_flow(w, node->items[i], 0);
    }
    put(w, map ? "}" : "]", 1);
}

/* Whether the node has one line for each of its items, in itself or in one that it holds. */
static bool is_block(const struct lapse_node *node) {
    size_t maps = 0;
    for (size_t i = 0; i < node->count; i++) {
        maps += node->items[i]->kind == LAPSE_NODE_MAP ? 1 : 0;
        if (is_block(node->items[i])) {
            return true;
        }
    }
    return node->kind == LAPSE_NODE_SEQ && maps > SHORT_LIST;
}

/* How wide the node is on one line, roughly above `most`. */
static size_t flow_width(const struct lapse_node *node, size_t most) {
    if (node->kind == LAPSE_NODE_SCALAR) {
        size_t quotes = 0;
        for (size_t i = 0; i < node->len; i++) {
            quotes += node->text[i] == '\'' ? 1 : 0;
        }
        return is_plain(node, true) ? node->len : node->len + quotes + 2;
    }
    size_t width = 2;
    for (size_t i = 0; i < node->count && width <= most; i++) {
        width += i > 0 ? 2 : 0;
        width += node->kind == LAPSE_NODE_MAP ? flow_width(node->keys[i], most) + 2 : 0;
        width += flow_width(node->items[i], most);
    }
    return width;
}

/* In single quotes a line end would be folded, so a text that has one is escaped in double ones. */
static void write_scalar(struct writer *w, const struct lapse_node *node, bool flow) {
    if (!is_writable(node)) {
        if (w->status == LAPSE_OK) {
            char shown[80];
            w->status = lapse_error_set(
                w->err, LAPSE_INVALID,
                "the text `%s` cannot be written: a file holds UTF-8 without control characters",
                lapse_bytes_print(lapse_node_bytes(node), shown, sizeof(shown)));
        }
        return;
    }
    if (is_plain(node, flow)) {
        put(w, node->text, node->len);
        return;
    }
    bool escaped = false;
    for (size_t i = 0; i < node->len; i++) {
        escaped = escaped || node->text[i] == '\n' || is_high_control(node, i);
    }
    put(w, escaped ? "\"" : "'", 1);
    for (size_t i = 0; i < node->len; i++) {
        if (escaped) {
            i += write_escaped(w, node, i);
            continue;
        }
        put(w, "'", node->text[i] == '\'' ? 1 : 0);
        put(w, node->text + i, 1);
    }
    put(w, escaped ? "\"" : "'", 1);
}

/* One character between double quotes. Returns how many of its bytes come behind the first. */
static size_t write_escaped(struct writer *w, const struct lapse_node *node, size_t at) {
    char c = node->text[at];
    char code[8];
    if (is_high_control(node, at)) {
        (void)snprintf(code, sizeof(code), "\\u00%02X",
                       (unsigned)(unsigned char)node->text[at + 1]);
        put(w, code, strlen(code));
        return 1;
    }
    put(w, "\\", c == '\n' || c == '"' || c == '\\' ? 1 : 0);
    put(w, c == '\n' ? "n" : &c, 1);
    return 0;
}

/* Whether one of U+0080 to U+009F stands here: a file holds them as escapes alone. */
static bool is_high_control(const struct lapse_node *node, size_t at) {
    const unsigned char *text = (const unsigned char *)node->text + at;
    return node->len - at >= 2 && text[0] == 0xC2 && text[1] >= 0x80 && text[1] < 0xA0;
}

/* Whether the text is read as itself without quotes. In doubt it is not. */
static bool is_plain(const struct lapse_node *node, bool flow) {
    const char *text = node->text;
    size_t len = node->len;
    if (node->quoted) {
        return false;
    }
    if (len == 0 || lapse_node_is_null(node)) {
        return true;
    }
    bool minus = text[0] == '-' && len > 1 && text[1] >= '0' && text[1] <= '9';
    bool begins = (text[0] >= '0' && text[0] <= '9') || (text[0] >= 'a' && text[0] <= 'z') ||
                  (text[0] >= 'A' && text[0] <= 'Z') || strchr("_/$+(", (int)text[0]) != NULL;
    if ((!begins && !minus) || text[len - 1] == ' ' || text[len - 1] == ':') {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        if (!is_plain_char(text, i, len, flow)) {
            return false;
        }
    }
    return true;
}

static bool is_plain_char(const char *text, size_t at, size_t len, bool flow) {
    char c = text[at];
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
        return true;
    }
    if (c == '#') {
        return at > 0 && text[at - 1] != ' ';
    }
    if (c == ':') {
        return at + 1 < len && text[at + 1] >= '0' && text[at + 1] <= '9';
    }
    if (c == '\0' || (unsigned char)c >= 0x80) {
        return false;
    }
    return strchr(" _-./$+*%^~=()@<>;'", (int)c) != NULL ||
           (!flow && strchr(",[]{}!?&|`\"\\", (int)c) != NULL);
}

/* What a file can hold. */
static bool is_writable(const struct lapse_node *node) {
    const unsigned char *text = (const unsigned char *)node->text;
    for (size_t at = 0; at < node->len;) {
        size_t len = character_length(text + at, node->len - at);
        bool control = (text[at] < 0x20 && text[at] != '\n') || text[at] == 0x7F;
        if (len == 0 || control) {
            return false;
        }
        at += len;
    }
    return true;
}

/* The bytes of the UTF-8 character that the text begins with, or 0. */
static size_t character_length(const unsigned char *text, size_t left) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = text[0] < 0x80             ? 1
                 : (text[0] & 0xE0) == 0xC0 ? 2
                 : (text[0] & 0xF0) == 0xE0 ? 3
                 : (text[0] & 0xF8) == 0xF0 ? 4
                                            : 0;
    if (len <= 1 || len > left) {
        return len > left ? 0 : len;
    }
    uint32_t code = text[0] & (0x7FU >> len);
    for (size_t i = 1; i < len; i++) {
        if ((text[i] & 0xC0) != 0x80) {
            return 0;
        }
        code = code << 6 | (text[i] & 0x3FU);
    }
    bool good = code >= least[len] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
    return good ? len : 0;
}

static void put(struct writer *w, const char *text, size_t len) {
    if (w->status == LAPSE_OK && !lapse_emitted_append(w->out, text, len)) {
        w->status = lapse_error_set(w->err, LAPSE_NOMEM, "memory ran out");
    }
    for (size_t i = 0; i < len; i++) {
        w->column = text[i] == '\n' ? 0 : w->column + 1;
    }
}

static void put_line(struct writer *w, size_t indent) {
    put(w, "\n", 1);
    for (size_t i = 0; i < indent; i++) {
        put(w, " ", 1);
    }
}
