/* The test that the README teaches the language: each of its yaml blocks loads as a file, and every
 * word that runs now stands in one of them. Output is TAP; a plain main, so that leaks fail it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

enum { README_BYTES_MAX = 256 * 1024 };

struct run {
    int tests, failed;
    char *blocks; /* the text of all blocks */
    size_t used;
};

static void run_readme(struct run *run, char *text);
static void run_block(struct run *run, const char *block, size_t len, int line);
static void run_words(struct run *run);
static bool shown(const char *blocks, const char *word);
static bool is_letter(char c);
static void report(struct run *run, bool passed, const char *title);

int main(int argc, char **argv) {
    struct run run = {0};
    char *text = calloc(1, README_BYTES_MAX);
    run.blocks = calloc(1, README_BYTES_MAX);
    FILE *stream = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (text != NULL && run.blocks != NULL && stream != NULL) {
        (void)fread(text, 1, README_BYTES_MAX - 1, stream);
        run_readme(&run, text);
        run_words(&run);
    }
    if (stream != NULL) {
        (void)fclose(stream);
    }
    free(text);
    free(run.blocks);
    printf("1..%d\n", run.tests);
    return run.failed == 0 && run.tests > 0 ? 0 : 1;
}

static void run_readme(struct run *run, char *text) {
    int line = 1;
    const char *open = NULL;
    int open_line = 0;
    for (char *at = text; *at != '\0'; line++) {
        size_t len = strcspn(at, "\n");
        if (open == NULL && len == 7 && strncmp(at, "```yaml", 7) == 0) {
            open = at + 8;
            open_line = line + 1;
        } else if (open != NULL && len == 3 && strncmp(at, "```", 3) == 0) {
            run_block(run, open, (size_t)(at - open), open_line);
            open = NULL;
        }
        at += len + (at[len] == '\n' ? 1 : 0);
    }
    report(run, open == NULL, "every block is closed");
}

static void run_block(struct run *run, const char *block, size_t len, int line) {
    struct lapse_file file;
    char title[64];
    enum lapse_status status = lapse_file_load(lapse_alloc_libc(), "README.md", block, len, &file);
    for (size_t i = 0; i < file.diags.count; i++) {
        const struct lapse_diag *diag = file.diags.items[i];
        printf("# README.md:%d:%d %s %s\n", line - 1 + diag->labels[0].place.line,
               diag->labels[0].place.column, diag->code, diag->message);
    }
    (void)snprintf(title, sizeof(title), "the block at line %d loads", line);
    report(run, status == LAPSE_OK && file.plan_count > 0, title);
    lapse_file_free(&file);
    memcpy(run->blocks + run->used, block, len);
    run->used += len;
}

static void run_words(struct run *run) {
    size_t count = 0;
    const struct lapse_word *table = lapse_word_table(&count);
    bool all = true;
    for (size_t i = 0; i < count; i++) {
        if (table[i].stage <= LAPSE_STAGE_NOW && !shown(run->blocks, table[i].word)) {
            printf("# no block shows `%s` (%s)\n", table[i].word, table[i].sentence);
            all = false;
        }
    }
    report(run, all, "every word that runs stands in a block");
}

/* Whether the word stands alone somewhere, not as part of another. */
static bool shown(const char *blocks, const char *word) {
    size_t len = strlen(word);
    const char *at = blocks;
    while ((at = strstr(at, word)) != NULL) {
        bool begins = at == blocks || !is_letter(at[-1]);
        if (begins && !is_letter(at[len])) {
            return true;
        }
        at++;
    }
    return false;
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

static void report(struct run *run, bool passed, const char *title) {
    run->tests++;
    run->failed += passed ? 0 : 1;
    printf("%s %d - %s\n", passed ? "ok" : "not ok", run->tests, title);
}
