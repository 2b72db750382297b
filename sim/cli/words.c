/* Help on the words of the scenario language, out of the loader's own table: what it says runs,
 * does run, and what does not yet is said to. */
#include <stdio.h>
#include <string.h>

#include "scenarios/load.h"
#include "topics.h"

static void print_word(const struct lapse_word *word);
static void print_arguments(const char *head, const char *list, bool later);
static bool runs_later(const char *argument, size_t len);

void lapse_cli_words_print(void) {
    static const char *const heads[] = {"",
                                        "Top level",
                                        "Of a bucket",
                                        "Of a resource",
                                        "Of an actor",
                                        "Verbs",
                                        "Observers",
                                        "Faults",
                                        "Of any step",
                                        "Arguments of verbs",
                                        "Answers' fields",
                                        "Patterns",
                                        "Measures",
                                        "After on_...:",
                                        "Of `store`",
                                        "Of `bounds`",
                                        "Of `clocks`",
                                        "Of `chaos`",
                                        "Of `explore`"};
    size_t count;
    const struct lapse_word *words = lapse_word_table(&count);
    for (int kind = LAPSE_WORD_TOP; kind < LAPSE_WORD_KINDS; kind++) {
        printf("%s%s\n", kind == LAPSE_WORD_TOP ? "" : "\n", heads[kind]);
        for (size_t i = 0; i < count; i++) {
            if ((int)words[i].kind == kind && words[i].stage <= LAPSE_STAGE_NOW) {
                printf("  %-12s %s\n", words[i].word, words[i].sentence);
            }
        }
    }
    printf("\nMore on one word: lapse help WORD. Examples of all: scenarios/README.md\n");
}

bool lapse_cli_word_print(const char *name, bool more) {
    size_t count;
    const struct lapse_word *words = lapse_word_table(&count);
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i].word, name) == 0) {
            printf("%s", found || more ? "\n" : "");
            print_word(&words[i]);
            found = true;
        }
    }
    return found;
}

static void print_word(const struct lapse_word *word) {
    printf("%s: %s\n", word->word, word->sentence);
    if (word->takes != NULL) {
        printf("  takes      %s\n", word->takes);
    }
    if (word->arguments != NULL && word->arguments[0] != '\0') {
        print_arguments("  arguments ", word->arguments, false);
        print_arguments("  not yet   ", word->arguments, true);
    }
    if (word->answers != NULL) {
        printf("  answers    %s\n", word->answers);
    }
    if (word->contract != NULL) {
        printf("  stands for %s\n", word->contract);
    }
    if (word->stage > LAPSE_STAGE_NOW) {
        printf("  does not run yet\n");
    }
}

/* Those of the list that run now, or those that do not yet; nothing if there are none. */
static void print_arguments(const char *head, const char *list, bool later) {
    bool any = false;
    for (const char *at = list; *at != '\0'; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        if (runs_later(at, len) == later) {
            printf("%s %.*s", any ? "" : head, (int)len, at);
            any = true;
        }
        at += len;
    }
    printf("%s", any ? "\n" : "");
}

static bool runs_later(const char *argument, size_t len) {
    size_t count;
    const struct lapse_word *words = lapse_word_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (words[i].kind == LAPSE_WORD_ARGUMENT && words[i].stage > LAPSE_STAGE_NOW &&
            strlen(words[i].word) == len && strncmp(words[i].word, argument, len) == 0) {
            return true;
        }
    }
    return false;
}
