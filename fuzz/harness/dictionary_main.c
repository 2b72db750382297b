/* Prints the dictionary for scenario text, made of the table of words, or compares a file with it.
 * A fuzzer that knows the words gets past the decoder's first look. */
#include <stdio.h>
#include <string.h>

#include "scenarios/load.h"

enum { LINE_MAX_BYTES = 256, TEXT_MAX_BYTES = 65536 };

struct text {
    char bytes[TEXT_MAX_BYTES];
    size_t len;
};

static void make(struct text *text);
static bool is_new(const struct lapse_word *table, size_t index);
static void add(struct text *text, const char *word, const char *behind);
static void add_list(struct text *text, const char *words);
static bool same(const struct text *text, const char *path);

int main(int argc, char **argv) {
    static struct text text;
    make(&text);
    if (argc < 2) {
        return fwrite(text.bytes, 1, text.len, stdout) == text.len ? 0 : 1;
    }
    bool current = same(&text, argv[1]);
    printf("1..1\n%sok 1 - the dictionary has the words of the language\n", current ? "" : "not ");
    if (!current) {
        printf("# fuzz_dictionary > %s\n", argv[1]);
    }
    return current ? 0 : 1;
}

/* What opens a document, durations and dates, the words as keys, and the answers. */
static void make(struct text *text) {
    static const char *const others[] = {
        "lapse: 1", "---", "- {", "{", "}", "[", "]", "$t", "15m-1ns", "2000-01-01T00:00:00Z",
        "epoch+1h", "now+15s", "0s..60s", "20%", "200ppm", "9223372036854775807ns"};
    size_t count = 0;
    const struct lapse_word *table = lapse_word_table(&count);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        add(text, others[i], "");
    }
    for (size_t i = 0; i < count; i++) {
        if (table[i].stage <= LAPSE_STAGE_NOW && is_new(table, i)) {
            add(text, table[i].word, ": ");
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (table[i].kind == LAPSE_WORD_VERB && table[i].stage <= LAPSE_STAGE_NOW) {
            add_list(text, table[i].answers);
        }
    }
}

static bool is_new(const struct lapse_word *table, size_t index) {
    for (size_t i = 0; i < index; i++) {
        if (strcmp(table[i].word, table[index].word) == 0) {
            return false;
        }
    }
    return true;
}

/* A line once, in quotes; no word has one of its own. */
static void add(struct text *text, const char *word, const char *behind) {
    char line[LINE_MAX_BYTES];
    int len = snprintf(line, sizeof(line), "\"%s%s\"\n", word, behind);
    LAPSE_ASSERT(len > 0 && (size_t)len < sizeof(line));
    LAPSE_ASSERT(strpbrk(word, "\"\\") == NULL);
    LAPSE_ASSERT(text->len + (size_t)len < sizeof(text->bytes));
    if (strstr(text->bytes, line) == NULL) {
        memcpy(text->bytes + text->len, line, (size_t)len);
        text->len += (size_t)len;
    }
}

static void add_list(struct text *text, const char *words) {
    while (words != NULL && *words != '\0') {
        char word[LINE_MAX_BYTES];
        size_t len = strcspn(words, " ");
        LAPSE_ASSERT(len < sizeof(word));
        memcpy(word, words, len);
        word[len] = '\0';
        add(text, word, "");
        words += len + (words[len] == ' ' ? 1 : 0);
    }
}

static bool same(const struct text *text, const char *path) {
    static char found[TEXT_MAX_BYTES];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    size_t len = fread(found, 1, sizeof(found), file);
    (void)fclose(file);
    return len == text->len && memcmp(found, text->bytes, len) == 0;
}
