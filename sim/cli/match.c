/* -k: choosing scenarios by their names. `and` binds tighter than `or`, `not` tightest; other words
 * in a row are one phrase that must stand in the name. */
#include <string.h>

#include "args.h"

enum { PHRASE_MAX = 256, DEPTH_MAX = 32 };

struct reader {
    const char *at;
    const char *name;
    int depth;
    bool bad;
};

static bool read_or(struct reader *reader);
static bool read_and(struct reader *reader);
static bool read_not(struct reader *reader);
static bool read_phrase(struct reader *reader);
static bool next_is(struct reader *reader, const char *word);
static size_t word_len(const char *at);
static bool contains(const char *name, const char *phrase);

bool lapse_cli_match(const char *expression, const char *name) {
    struct reader reader = {expression, name, 0, false};
    bool found = read_or(&reader);
    return found && !reader.bad;
}

bool lapse_cli_match_check(const char *expression) {
    struct reader reader = {expression, "", 0, false};
    (void)read_or(&reader);
    reader.at += strspn(reader.at, " ");
    return !reader.bad && *reader.at == '\0';
}

static bool read_or(struct reader *reader) {
    bool found = read_and(reader);
    while (!reader->bad && next_is(reader, "or")) {
        bool other = read_and(reader);
        found = found || other;
    }
    return found;
}

static bool read_and(struct reader *reader) {
    bool found = read_not(reader);
    while (!reader->bad && next_is(reader, "and")) {
        bool other = read_not(reader);
        found = found && other;
    }
    return found;
}

static bool read_not(struct reader *reader) {
    bool flip = false;
    while (next_is(reader, "not")) {
        flip = !flip;
    }
    bool found;
    if (next_is(reader, "(")) {
        reader->bad = reader->bad || ++reader->depth > DEPTH_MAX;
        found = !reader->bad && read_or(reader);
        reader->bad = reader->bad || !next_is(reader, ")");
        reader->depth--;
    } else {
        found = read_phrase(reader);
    }
    return found != flip;
}

static bool read_phrase(struct reader *reader) {
    char phrase[PHRASE_MAX] = "";
    size_t len = 0;
    for (;;) {
        reader->at += strspn(reader->at, " ");
        size_t word = word_len(reader->at);
        bool operator=(word == 2 && strncmp(reader->at, "or", 2) == 0) ||
            (word == 3 &&
             (strncmp(reader->at, "and", 3) == 0 || strncmp(reader->at, "not", 3) == 0));
        bool paren = word == 1 && (*reader->at == '(' || *reader->at == ')');
        if (word == 0 || operator|| paren) {
            break;
        }
        if (len + word + 2 > sizeof phrase) {
            reader->bad = true;
            return false;
        }
        if (len > 0) {
            phrase[len++] = ' ';
        }
        memcpy(phrase + len, reader->at, word);
        len += word;
        phrase[len] = '\0';
        reader->at += word;
    }
    reader->bad = reader->bad || len == 0;
    return contains(reader->name, phrase);
}

static bool next_is(struct reader *reader, const char *word) {
    reader->at += strspn(reader->at, " ");
    size_t len = word_len(reader->at);
    if (len != strlen(word) || strncmp(reader->at, word, len) != 0) {
        return false;
    }
    reader->at += len;
    return true;
}

/* A parenthesis is a word of its own. */
static size_t word_len(const char *at) {
    if (*at == '(' || *at == ')') {
        return 1;
    }
    return strcspn(at, " ()");
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool contains(const char *name, const char *phrase) {
    for (; *name != '\0'; name++) {
        size_t i = 0;
        while (phrase[i] != '\0' && lower(name[i]) == lower(phrase[i])) {
            i++;
        }
        if (phrase[i] == '\0') {
            return true;
        }
    }
    return false;
}
