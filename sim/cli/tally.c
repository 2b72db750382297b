/* Reading the lines of `--report tally`: eight fields, apart by tabs. */
#include "tally.h"

#include <string.h>

enum { FIELDS = 7 };

static struct lapse_bytes cut(struct lapse_bytes *rest, char at);
static int64_t number_of(struct lapse_bytes digits);

bool lapse_cli_tally_read(const char *text, size_t len, size_t *at, struct lapse_cli_tally *ret) {
    if (*at >= len) {
        return false;
    }
    struct lapse_bytes rest = {(const unsigned char *)text + *at, len - *at};
    struct lapse_bytes line = cut(&rest, '\n');
    *at = len - rest.len;
    struct lapse_bytes fields[FIELDS] = {{0}};
    for (size_t i = 0; i < FIELDS; i++) {
        fields[i] = cut(&line, '\t');
    }
    struct lapse_bytes place = fields[5];
    struct lapse_bytes file = place;
    while (file.len > 0 && file.data[file.len - 1] != ':') {
        file.len--;
    }
    struct lapse_bytes number = {place.data + file.len, place.len - file.len};
    file.len -= file.len > 0 ? 1 : 0;
    *ret = (struct lapse_cli_tally){
        .outcome = fields[0],
        .id = fields[1],
        .event = number_of(fields[2]),
        .events = number_of(fields[3]),
        .rules = fields[4],
        .file = file.len > 0 ? file : place,
        .name = fields[6],
        .line = (int)number_of(number),
    };
    if (fields[6].len == 0) {
        ret->outcome = lapse_bytes_of("unread");
    }
    return true;
}

bool lapse_cli_tally_has(const struct lapse_cli_tally *tally, const char *id, int64_t *ret_event) {
    struct lapse_bytes found;
    bool has = false;
    int64_t event = 0;
    for (size_t at = 0; lapse_cli_tally_next(tally, &at, &found, &event);) {
        if (lapse_cli_tally_is(found, id)) {
            *ret_event = !has || event < *ret_event ? event : *ret_event;
            has = true;
        }
    }
    return has;
}

bool lapse_cli_tally_next(const struct lapse_cli_tally *tally, size_t *at, struct lapse_bytes *ret,
                          int64_t *ret_event) {
    struct lapse_bytes rest = {tally->rules.data + *at, tally->rules.len - *at};
    if (rest.len == 0 || lapse_cli_tally_is(tally->rules, "-")) {
        return false;
    }
    struct lapse_bytes entry = cut(&rest, ' ');
    *at = tally->rules.len - rest.len;
    *ret = cut(&entry, '=');
    (void)cut(&entry, '@');
    *ret_event = number_of(entry);
    return true;
}

bool lapse_cli_tally_named(const struct lapse_cli_tally *tally, const char *file,
                           const char *name) {
    size_t len = strlen(name);
    if (!lapse_cli_tally_is(tally->file, file) || tally->name.len < len ||
        memcmp(tally->name.data, name, len) != 0) {
        return false;
    }
    return tally->name.len == len || (tally->name.len > len + 1 && tally->name.data[len] == ' ' &&
                                      tally->name.data[len + 1] == '[');
}

bool lapse_cli_tally_is(struct lapse_bytes word, const char *text) {
    return lapse_bytes_equal(word, lapse_bytes_of(text));
}

/* What stands before the next `at`, or all; the rest begins behind it. */
static struct lapse_bytes cut(struct lapse_bytes *rest, char at) {
    const unsigned char *mark = rest->len == 0 ? NULL : memchr(rest->data, at, rest->len);
    struct lapse_bytes head = *rest;
    if (mark == NULL) {
        rest->data += rest->len;
        rest->len = 0;
        return head;
    }
    head.len = (size_t)(mark - rest->data);
    rest->data += head.len + 1;
    rest->len -= head.len + 1;
    return head;
}

/* What is no number, or below zero, is -1. */
static int64_t number_of(struct lapse_bytes digits) {
    int64_t number = digits.len == 0 ? -1 : 0;
    for (size_t i = 0; i < digits.len && number >= 0; i++) {
        bool digit = digits.data[i] >= '0' && digits.data[i] <= '9' && number < INT32_MAX;
        number = digit ? number * 10 + (digits.data[i] - '0') : -1;
    }
    return number;
}
