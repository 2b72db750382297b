/* Lines of Jepsen logs: of the few words that are needed, and of as much of EDN as stands in maps
 * of calls: keywords, numbers, texts, nil, vectors. What is not needed is passed over. */
#include "jepsen_line.h"

#include <string.h>

struct cursor {
    struct lapse_bytes line;
    size_t at;
};

/* One form: a keyword, a number, a text, nil or another symbol, a vector. */
struct form {
    enum lapse_jepsen_value kind;
    size_t from;             /* its first byte */
    struct lapse_bytes text; /* TEXT, WORD */
    int64_t a, b;
};

static const char *const types[LAPSE_JEPSEN_TYPES] = {":invoke", ":ok", ":fail", ":info"};
static const char *const fs[LAPSE_JEPSEN_FS] = {":read", ":write", ":cas",
                                                ":get",  ":put",   ":append"};

static void skip_blanks(struct cursor *cursor);
static bool one_of(unsigned char byte, const char *set);
static bool peek(const struct cursor *cursor, unsigned char byte);
static bool scan_form(struct cursor *cursor, struct form *ret);
static bool scan_text(struct cursor *cursor, struct form *ret);
static bool scan_pair(struct cursor *cursor, struct form *ret);
static bool scan_word(struct cursor *cursor, struct form *ret);
static bool number_of(struct lapse_bytes word, int64_t *ret);
static int word_index(const struct form *form, const char *const *words, int count);
static enum lapse_status field(const struct form *name, const struct form *value,
                               struct lapse_jepsen_line *ret, unsigned *seen,
                               struct lapse_error *err);
static void set_value(const struct form *value, struct lapse_jepsen_line *ret);
static enum lapse_status mistake(struct lapse_error *err, size_t from, size_t to, const char *what);
static enum lapse_status mistake_in(struct lapse_error *err, const struct form *form,
                                    const char *what);

enum { SEEN_PROCESS = 1, SEEN_TYPE = 2, SEEN_F = 4, SEEN_VALUE = 8 };

enum lapse_status lapse_jepsen_log_line(struct lapse_bytes line, struct lapse_jepsen_line *ret,
                                        struct lapse_error *err) {
    struct cursor cursor = {line, 0};
    struct form form = {0}, before = {0};
    *ret = (struct lapse_jepsen_line){.skip = true};
    int type = -1;
    size_t words = 0;
    for (skip_blanks(&cursor); cursor.at < line.len && type < 0; words++, skip_blanks(&cursor)) {
        before = form;
        if (!scan_word(&cursor, &form)) {
            return mistake(err, cursor.at, line.len, "is no word");
        }
        type = word_index(&form, types, LAPSE_JEPSEN_TYPES);
    }
    if (words == 0) {
        return LAPSE_OK;
    }
    if (type < 0) {
        return mistake(err, 0, line.len, "has no :invoke, :ok, :fail or :info");
    }
    if (before.kind != LAPSE_JEPSEN_NUMBER) {
        bool nemesis = before.kind == LAPSE_JEPSEN_WORD && before.text.data[0] == ':';
        return nemesis ? LAPSE_OK : mistake_in(err, &form, "has no number of a process before it");
    }
    ret->skip = false;
    ret->process = before.a;
    ret->type = (enum lapse_jepsen_type)type;
    skip_blanks(&cursor);
    int f = scan_word(&cursor, &form) ? word_index(&form, fs, LAPSE_JEPSEN_FS) : -1;
    if (f < 0) {
        return mistake_in(err, &form, "is none of :read, :write, :cas, :get, :put, :append");
    }
    ret->f = (enum lapse_jepsen_f)f;
    skip_blanks(&cursor);
    if (!scan_form(&cursor, &form)) {
        return mistake(err, cursor.at, line.len, "is no value: nil, a number or a pair");
    }
    set_value(&form, ret);
    return LAPSE_OK;
}

enum lapse_status lapse_jepsen_map_line(struct lapse_bytes line, struct lapse_jepsen_line *ret,
                                        struct lapse_error *err) {
    struct cursor cursor = {line, 0};
    *ret = (struct lapse_jepsen_line){.skip = true};
    skip_blanks(&cursor);
    if (cursor.at == line.len) {
        return LAPSE_OK;
    }
    if (!peek(&cursor, '{')) {
        return mistake(err, cursor.at, line.len, "begins no map; each line is one {..}");
    }
    cursor.at++;
    unsigned seen = 0;
    ret->skip = false;
    for (skip_blanks(&cursor); !peek(&cursor, '}'); skip_blanks(&cursor)) {
        struct form name, value;
        if (!scan_form(&cursor, &name)) {
            return mistake(err, cursor.at, line.len, "is no keyword; a map ends with }");
        }
        skip_blanks(&cursor);
        if (!scan_form(&cursor, &value)) {
            return mistake(err, cursor.at, line.len, "is no value that is understood");
        }
        if (field(&name, &value, ret, &seen, err) != LAPSE_OK) {
            return LAPSE_INVALID;
        }
    }
    unsigned needed = ret->skip ? 0 : (unsigned)SEEN_PROCESS | SEEN_TYPE | SEEN_F | SEEN_VALUE;
    if ((seen & needed) != needed) {
        return mistake(err, 0, line.len, "lacks one of :process, :type, :f, :value");
    }
    return LAPSE_OK;
}

static void skip_blanks(struct cursor *cursor) {
    while (cursor->at < cursor->line.len && one_of(cursor->line.data[cursor->at], " \t\r,")) {
        cursor->at++;
    }
}

static bool one_of(unsigned char byte, const char *set) {
    return byte != 0 && strchr(set, byte) != NULL;
}

static bool peek(const struct cursor *cursor, unsigned char byte) {
    return cursor->at < cursor->line.len && cursor->line.data[cursor->at] == byte;
}

static bool scan_form(struct cursor *cursor, struct form *ret) {
    if (peek(cursor, '"')) {
        return scan_text(cursor, ret);
    }
    return peek(cursor, '[') ? scan_pair(cursor, ret) : scan_word(cursor, ret);
}

/* What is escaped stays so: equal texts are written equally. */
static bool scan_text(struct cursor *cursor, struct form *ret) {
    const unsigned char *data = cursor->line.data;
    size_t from = cursor->at;
    *ret = (struct form){.kind = LAPSE_JEPSEN_TEXT, .from = from};
    size_t at = from + 1;
    while (at < cursor->line.len && data[at] != '"') {
        at += data[at] == '\\' ? 2 : 1;
    }
    if (at >= cursor->line.len) {
        return false;
    }
    ret->text = (struct lapse_bytes){data + from + 1, at - from - 1};
    cursor->at = at + 1;
    return true;
}

static bool scan_pair(struct cursor *cursor, struct form *ret) {
    struct form a, b;
    struct cursor inside = {cursor->line, cursor->at + 1};
    *ret = (struct form){.kind = LAPSE_JEPSEN_PAIR, .from = cursor->at};
    skip_blanks(&inside);
    if (!scan_word(&inside, &a)) {
        return false;
    }
    skip_blanks(&inside);
    if (!scan_word(&inside, &b)) {
        return false;
    }
    skip_blanks(&inside);
    if (a.kind != LAPSE_JEPSEN_NUMBER || b.kind != LAPSE_JEPSEN_NUMBER || !peek(&inside, ']')) {
        return false;
    }
    ret->a = a.a;
    ret->b = b.a;
    cursor->at = inside.at + 1;
    return true;
}

static bool scan_word(struct cursor *cursor, struct form *ret) {
    size_t from = cursor->at;
    *ret = (struct form){.kind = LAPSE_JEPSEN_WORD, .from = from};
    while (cursor->at < cursor->line.len &&
           !one_of(cursor->line.data[cursor->at], " \t\r,{}[]\"")) {
        cursor->at++;
    }
    ret->text = (struct lapse_bytes){cursor->line.data + from, cursor->at - from};
    if (number_of(ret->text, &ret->a)) {
        ret->kind = LAPSE_JEPSEN_NUMBER;
    } else if (lapse_bytes_equal(ret->text, lapse_bytes_of("nil"))) {
        ret->kind = LAPSE_JEPSEN_NIL;
    }
    return ret->text.len > 0;
}

/* A number of at most 18 digits: no sum of its digits leaves the range. */
static bool number_of(struct lapse_bytes word, int64_t *ret) {
    bool negative = word.len > 0 && word.data[0] == '-';
    size_t at = negative ? 1 : 0;
    if (word.len == at || word.len - at > 18) {
        return false;
    }
    *ret = 0;
    for (; at < word.len; at++) {
        if (word.data[at] < '0' || word.data[at] > '9') {
            return false;
        }
        *ret = *ret * 10 + (word.data[at] - '0');
    }
    *ret = negative ? -*ret : *ret;
    return true;
}

static int word_index(const struct form *form, const char *const *words, int count) {
    for (int i = 0; i < count; i++) {
        if (form->kind == LAPSE_JEPSEN_WORD &&
            lapse_bytes_equal(form->text, lapse_bytes_of(words[i]))) {
            return i;
        }
    }
    return -1;
}

static enum lapse_status field(const struct form *name, const struct form *value,
                               struct lapse_jepsen_line *ret, unsigned *seen,
                               struct lapse_error *err) {
    static const char *const names[] = {":process", ":type", ":f", ":value", ":key"};
    int at;
    switch (word_index(name, names, 5)) {
    case 0:
        *seen |= SEEN_PROCESS;
        ret->skip = value->kind == LAPSE_JEPSEN_WORD; /* :nemesis */
        ret->process = value->a;
        return value->kind == LAPSE_JEPSEN_NUMBER || ret->skip
                   ? LAPSE_OK
                   : mistake_in(err, value, "is no number of a process");
    case 1:
        *seen |= SEEN_TYPE;
        at = word_index(value, types, LAPSE_JEPSEN_TYPES);
        ret->type = (enum lapse_jepsen_type)(at < 0 ? 0 : at);
        return at >= 0 ? LAPSE_OK : mistake_in(err, value, "is none of :invoke, :ok, :fail, :info");
    case 2:
        *seen |= SEEN_F;
        at = word_index(value, fs, LAPSE_JEPSEN_FS);
        ret->f = (enum lapse_jepsen_f)(at < 0 ? 0 : at);
        return at >= 0 || ret->skip
                   ? LAPSE_OK
                   : mistake_in(err, value, "is none of :read, :write, :cas, :get, :put, :append");
    case 3:
        *seen |= SEEN_VALUE;
        set_value(value, ret);
        return LAPSE_OK;
    case 4:
        ret->key = value->text;
        return LAPSE_OK;
    default:
        return LAPSE_OK;
    }
}

static void set_value(const struct form *value, struct lapse_jepsen_line *ret) {
    ret->value = value->kind;
    ret->a = value->a;
    ret->b = value->b;
    ret->text = value->text;
    ret->column = value->from + 1;
}

static enum lapse_status mistake(struct lapse_error *err, size_t from, size_t to,
                                 const char *what) {
    (void)lapse_error_set(err, LAPSE_INVALID, "what stands here %s", what);
    if (err != NULL) {
        err->column = (int)from + 1;
        err->span = to > from ? (int)(to - from) : 1;
    }
    return LAPSE_INVALID;
}

static enum lapse_status mistake_in(struct lapse_error *err, const struct form *form,
                                    const char *what) {
    char text[64];
    (void)lapse_error_set(err, LAPSE_INVALID, "\"%s\" %s",
                          lapse_bytes_print(form->text, text, sizeof text), what);
    if (err != NULL) {
        err->column = (int)form->from + 1;
        err->span = form->text.len > 0 ? (int)form->text.len : 1;
    }
    return LAPSE_INVALID;
}
