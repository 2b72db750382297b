/* Numbers of the language: durations with arithmetic, counts and dates. Exact, without floats. */
#include <string.h>

#include "decode.h"
#include "scenarios/span.h"

/* A text being read as a duration. */
struct reader {
    const char *text;
    size_t len, at;
    enum lapse_span_fault fault;
    size_t fault_at;
};

static bool read_sum(struct reader *r, int64_t *ret);
static bool read_product(struct reader *r, int64_t *ret);
static bool read_factor(struct reader *r, int64_t *ret, bool *ret_unit);
static size_t find_rise(const char *text, size_t len);
static bool fail(struct reader *r, enum lapse_span_fault fault, size_t at);
static void skip_spaces(struct reader *r);
static bool is_digit(char c);
static void note_fault(struct lapse_decoder *d, const struct lapse_node *node, size_t offset,
                       enum lapse_span_fault fault, size_t at);
static bool is_date(const char *text);
static void note_no_unit(struct lapse_decoder *d, const struct lapse_node *node, size_t at);
static void note_malformed(struct lapse_decoder *d, const struct lapse_node *node, size_t at);
static bool date_from(struct lapse_decoder *d, const struct lapse_node *node, size_t word,
                      int64_t base, int64_t *ret);

enum lapse_span_fault lapse_number_scan(const char *text, size_t len, int64_t *ret_ns,
                                        size_t *ret_at) {
    struct reader r = {.text = text, .len = len};
    int64_t ns = 0;
    if (read_sum(&r, &ns)) {
        *ret_ns = ns;
        return LAPSE_SPAN_FINE;
    }
    *ret_at = r.fault_at;
    return r.fault;
}

bool lapse_span_read(const char *text, size_t len, int64_t *ret_ns) {
    size_t at = 0;
    return lapse_number_scan(text, len, ret_ns, &at) == LAPSE_SPAN_FINE;
}

bool lapse_number_span(struct lapse_decoder *d, const struct lapse_node *node, int64_t min,
                       int64_t *ret_ns) {
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "a duration") ||
        !lapse_number_span_part(d, node, 0, ret_ns)) {
        return false;
    }
    if (*ret_ns >= min) {
        return true;
    }
    lapse_mistake_add(d->diags, "Y109", node->place, "",
                      min > 0 ? "this duration must be longer than 0" : "this duration is below 0");
    return false;
}

bool lapse_number_span_part(struct lapse_decoder *d, const struct lapse_node *node, size_t offset,
                            int64_t *ret_ns) {
    size_t at = 0;
    enum lapse_span_fault fault =
        lapse_number_scan(node->text + offset, node->len - offset, ret_ns, &at);
    if (fault == LAPSE_SPAN_FINE) {
        return true;
    }
    note_fault(d, node, offset, fault, offset + at);
    return false;
}

bool lapse_number_count(struct lapse_decoder *d, const struct lapse_node *node, int64_t min,
                        int64_t max, int64_t *ret) {
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "a number")) {
        return false;
    }
    bool minus = node->text[0] == '-';
    int64_t number = 0;
    bool exact = true;
    size_t digits = 0;
    for (size_t i = minus ? 1 : 0; i < node->len && is_digit(node->text[i]); i++, digits++) {
        int64_t digit = node->text[i] - '0';
        exact = exact && lapse_ns_mul(number, 10, &number) &&
                lapse_ns_add(number, minus ? -digit : digit, &number);
    }
    if (digits == 0 || digits + (minus ? 1 : 0) != node->len) {
        lapse_mistake_add(d->diags, "Y108", node->place, "", "`%.60s` is not a whole number",
                          node->text);
        return false;
    }
    if (exact && number >= min && number <= max) {
        *ret = number;
        return true;
    }
    if (max == INT64_MAX) {
        lapse_mistake_add(d->diags, "Y109", node->place, "", "this number must be %s",
                          min > 0 ? "at least 1" : "0 or more, and below 2^63");
    } else {
        lapse_mistake_add(d->diags, "Y109", node->place, "",
                          "this number must be from %lld to %lld", (long long)min, (long long)max);
    }
    return false;
}

bool lapse_number_date(struct lapse_decoder *d, const struct lapse_node *node,
                       struct lapse_operand *ret) {
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "a date")) {
        return false;
    }
    if (strncmp(node->text, "epoch", 5) == 0) {
        ret->kind = LAPSE_OPERAND_DATE;
        return date_from(d, node, 5, d->plan->setup.epoch.ns, &ret->number);
    }
    if (strncmp(node->text, "now", 3) == 0) {
        ret->kind = LAPSE_OPERAND_NOW;
        return date_from(d, node, 3, 0, &ret->number);
    }
    struct lapse_wall wall = {0};
    enum lapse_status status = lapse_wall_scan(node->text, node->len, &wall);
    if (status == LAPSE_OK) {
        ret->kind = LAPSE_OPERAND_DATE;
        ret->number = wall.ns;
        return true;
    }
    struct lapse_diag *diag =
        lapse_mistake_add(d->diags, status == LAPSE_RANGE ? "Y109" : "Y107", node->place, "",
                          status == LAPSE_RANGE ? "`%.60s` is outside of the dates that can be told"
                                                : "`%.60s` is not a date",
                          node->text);
    lapse_diag_note(d->diags, diag, "help",
                    "write 2026-01-31T00:00:00Z, epoch+1h (from the start) or now+15s");
    return false;
}

/* What follows the word `epoch` or `now`: nothing, or + or - and a duration. */
static bool date_from(struct lapse_decoder *d, const struct lapse_node *node, size_t word,
                      int64_t base, int64_t *ret) {
    *ret = base;
    if (node->len == word) {
        return true;
    }
    char sign = node->text[word];
    int64_t span = 0;
    if (sign != '+' && sign != '-') {
        lapse_mistake_add(d->diags, "Y107", node->place, "", "`%.60s` is not a date", node->text);
        return false;
    }
    /* A minus belongs to the whole arithmetic's first term, so it is read with it. */
    if (!lapse_number_span_part(d, node, sign == '+' ? word + 1 : word, &span)) {
        return false;
    }
    if (!lapse_ns_add(base, span, ret)) {
        lapse_mistake_add(d->diags, "Y109", node->place, "", "this date is out of range");
        return false;
    }
    return true;
}

/* sum := ['-'] product { ('+' | '-') product } */
static bool read_sum(struct reader *r, int64_t *ret) {
    bool minus = r->len > 0 && r->text[0] == '-';
    r->at = minus ? 1 : 0;
    int64_t total = 0;
    for (;;) {
        int64_t product = 0;
        skip_spaces(r);
        size_t start = r->at;
        if (!read_product(r, &product)) {
            return false;
        }
        bool exact =
            minus ? lapse_ns_sub(total, product, &total) : lapse_ns_add(total, product, &total);
        if (!exact) {
            return fail(r, LAPSE_SPAN_RANGE, start);
        }
        skip_spaces(r);
        if (r->at == r->len) {
            *ret = total;
            return true;
        }
        if (r->text[r->at] != '+' && r->text[r->at] != '-') {
            return fail(r, LAPSE_SPAN_MALFORMED, r->at);
        }
        minus = r->text[r->at++] == '-';
    }
}

/* product := factor { '*' factor }, at most one factor with a unit, and one needed unless it is 0
 */
static bool read_product(struct reader *r, int64_t *ret) {
    size_t start = r->at;
    int64_t product = 1;
    size_t units = 0;
    for (;;) {
        int64_t factor = 0;
        bool unit = false;
        skip_spaces(r);
        if (!read_factor(r, &factor, &unit)) {
            return false;
        }
        units += unit ? 1 : 0;
        if (units > 1) {
            return fail(r, LAPSE_SPAN_MALFORMED, start);
        }
        if (!lapse_ns_mul(product, factor, &product)) {
            return fail(r, LAPSE_SPAN_RANGE, start);
        }
        skip_spaces(r);
        if (r->at == r->len || r->text[r->at] != '*') {
            break;
        }
        r->at++;
    }
    if (units == 0 && product != 0) {
        return fail(r, LAPSE_SPAN_NO_UNIT, start);
    }
    *ret = product;
    return true;
}

/* factor := digits | span with units, as `1h30m` */
static bool read_factor(struct reader *r, int64_t *ret, bool *ret_unit) {
    size_t end = r->at;
    int64_t number = 0;
    bool exact = true;
    for (; end < r->len && is_digit(r->text[end]); end++) {
        exact = exact && lapse_ns_mul(number, 10, &number) &&
                lapse_ns_add(number, r->text[end] - '0', &number);
    }
    if (end == r->at) {
        return fail(r, LAPSE_SPAN_MALFORMED, r->at);
    }
    if (end == r->len || strchr("+-* ", (int)r->text[end]) != NULL) {
        r->at = end;
        *ret = number;
        *ret_unit = false;
        return exact || fail(r, LAPSE_SPAN_RANGE, r->at);
    }
    struct lapse_span span = {0};
    size_t used = 0;
    enum lapse_status status = lapse_span_scan(r->text + r->at, r->len - r->at, &span, &used);
    size_t at = r->at + used;
    size_t rise = status == LAPSE_OK ? find_rise(r->text + r->at, used) : used;
    if (rise < used) {
        return fail(r, LAPSE_SPAN_ORDER, r->at + rise);
    }
    if (status == LAPSE_OK) {
        r->at = at;
        *ret = span.ns;
        *ret_unit = true;
        return true;
    }
    if (status == LAPSE_RANGE) {
        return fail(r, LAPSE_SPAN_RANGE, r->at);
    }
    bool month = at < r->len && (r->text[at] == 'y' || strncmp(r->text + at, "mo", 2) == 0);
    return fail(r, month ? LAPSE_SPAN_MONTH : LAPSE_SPAN_MALFORMED, at);
}

/* Where a number with its unit stands behind a smaller or equal one, or len. The text is one that
 * was read as a span. */
static size_t find_rise(const char *text, size_t len) {
    static const char *const units[] = {"w", "d", "h", "m", "s", "ms", "us", "ns"};
    const size_t count = sizeof(units) / sizeof(units[0]);
    size_t next = 0; /* the largest unit that may follow */
    for (size_t at = 0; at < len;) {
        size_t start = at;
        at += strspn(text + at, "0123456789");
        size_t word = 0;
        while (at + word < len && !is_digit(text[at + word])) {
            word++;
        }
        size_t unit = next;
        while (unit < count &&
               (strlen(units[unit]) != word || memcmp(units[unit], text + at, word) != 0)) {
            unit++;
        }
        if (unit == count && word > 0) {
            return start;
        }
        next = unit + 1;
        at += word;
    }
    return len;
}

static bool fail(struct reader *r, enum lapse_span_fault fault, size_t at) {
    r->fault = fault;
    r->fault_at = at;
    return false;
}

static void skip_spaces(struct reader *r) {
    while (r->at < r->len && r->text[r->at] == ' ') {
        r->at++;
    }
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static void note_fault(struct lapse_decoder *d, const struct lapse_node *node, size_t offset,
                       enum lapse_span_fault fault, size_t at) {
    struct lapse_diag *diag = NULL;
    if (is_date(node->text + offset)) {
        diag = lapse_mistake_add(d->diags, "Y105", node->place, "",
                                 "`%.60s` is a date, and a duration is wanted here", node->text);
        lapse_diag_note(d->diags, diag, "help",
                        "`at` takes the time from the start, such as 30s; a date belongs to "
                        "`expires_at`");
        return;
    }
    switch (fault) {
    case LAPSE_SPAN_ORDER:
        diag = lapse_mistake_add(d->diags, "Y105", lapse_shape_part(node, at, node->len - at), "",
                                 "the units of `%.60s` do not fall", node->text);
        lapse_diag_note(d->diags, diag, "help",
                        "write each unit once, the largest first (1h30m), or a sum (30m+1h)");
        break;
    case LAPSE_SPAN_NO_UNIT:
        note_no_unit(d, node, at);
        break;
    case LAPSE_SPAN_MONTH:
        diag = lapse_mistake_add(d->diags, "Y106", lapse_shape_part(node, at, node->len - at), "",
                                 "months and years differ in length, so they are no durations");
        lapse_diag_note(d->diags, diag, "help",
                        "write days (30d), or a date where one can stand (`expires_at`)");
        break;
    case LAPSE_SPAN_RANGE:
        lapse_mistake_add(d->diags, "Y109", lapse_shape_part(node, offset, node->len - offset), "",
                          "this duration is out of range: the longest is about 292 years");
        break;
    case LAPSE_SPAN_FINE:
    case LAPSE_SPAN_MALFORMED:
        note_malformed(d, node, at);
        break;
    }
}

/* Whether the text begins as a date does: 2026-01-31, epoch or now. */
static bool is_date(const char *text) {
    static const char form[] = "dddd-dd-dd";
    size_t word = strncmp(text, "epoch", 5) == 0 ? 5 : strncmp(text, "now", 3) == 0 ? 3 : 0;
    if (word > 0) {
        return text[word] == '\0' || text[word] == '+' || text[word] == '-';
    }
    for (size_t i = 0; form[i] != '\0'; i++) {
        if (form[i] == 'd' ? !is_digit(text[i]) : text[i] != form[i]) {
            return false;
        }
    }
    return true;
}

static void note_no_unit(struct lapse_decoder *d, const struct lapse_node *node, size_t at) {
    size_t digits = strspn(node->text + at, "0123456789");
    int shown = digits > 18 ? 18 : (int)digits;
    const char *text = node->text + at;
    char label[40] = "";
    if (digits > 0) {
        memcpy(label, text, (size_t)shown);
        memcpy(label + shown, " what?", 7);
    }
    struct lapse_diag *diag = lapse_mistake_add(
        d->diags, "Y104", lapse_shape_part(node, at, digits), label, "a duration needs a unit");
    lapse_diag_note(d->diags, diag, "help",
                    "write %.*ss, %.*sm or %.*sd   (units: ns us ms s m h d w, joined as in 1h30m)",
                    shown, text, shown, text, shown, text);
}

static void note_malformed(struct lapse_decoder *d, const struct lapse_node *node, size_t at) {
    const char *help = "write 30s, 1h30m, 15m-1ns or 3*10s   (units: ns us ms s m h d w)";
    if (at < node->len && node->text[at] == '.') {
        help = "durations have no fractions: write the smaller unit, 500ms for half a second";
    }
    if (at < node->len && node->text[at] == '$') {
        help = "only names of `vary` can stand in a time that must be known before the run";
    }
    size_t from = at < node->len ? at : 0;
    struct lapse_diag *diag =
        lapse_mistake_add(d->diags, "Y105", lapse_shape_part(node, from, node->len - from), "",
                          "`%.60s` is not a duration", node->text);
    lapse_diag_note(d->diags, diag, "help", "%s", help);
}
