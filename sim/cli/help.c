/* `lapse help [TOPIC]`: topics, commands, and single words of the scenario language. */
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "scenarios/load.h"
#include "scenarios/nearest.h"
#include "topics.h"

static int help_all(void);
static bool help_topic(const char *name);
static void help_words(void);
static bool help_word(const char *name);
static void print_word(const struct lapse_word *word);
static const char *nearest(const char *name);

int lapse_cli_help(const struct lapse_cli_options *options) {
    if (options->path_count == 0) {
        return help_all();
    }
    const char *name = options->paths[0];
    const struct lapse_cli_command *command = lapse_cli_command_find(name);
    if (command != NULL) {
        lapse_cli_usage(command);
        return LAPSE_EXIT_PASSED;
    }
    if (help_topic(name) || help_word(name)) {
        return LAPSE_EXIT_PASSED;
    }
    const char *near = nearest(name);
    return lapse_cli_complain(LAPSE_EXIT_USAGE, "no help on '%s'%s%s%s", name,
                              near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                              near != NULL ? "'?" : "; see lapse help");
}

static int help_all(void) {
    lapse_cli_usage(NULL);
    printf("\nTopics (lapse help TOPIC):\n");
    for (const struct lapse_cli_topic *topic = lapse_cli_topics(); topic->name != NULL; topic++) {
        printf("  %-11s %s\n", topic->name, topic->sentence);
    }
    printf("  WORD        any word of the scenario language: lapse help acquire\n");
    return LAPSE_EXIT_PASSED;
}

static bool help_topic(const char *name) {
    for (const struct lapse_cli_topic *topic = lapse_cli_topics(); topic->name != NULL; topic++) {
        if (strcmp(topic->name, name) != 0) {
            continue;
        }
        if (topic->text != NULL) {
            printf("%s", topic->text);
        } else {
            help_words();
        }
        return true;
    }
    return false;
}

static void help_words(void) {
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
                                        "After on_...:"};
    size_t count;
    const struct lapse_word *words = lapse_word_table(&count);
    for (int kind = LAPSE_WORD_TOP; kind <= LAPSE_WORD_ACTION; kind++) {
        printf("%s%s\n", kind == LAPSE_WORD_TOP ? "" : "\n", heads[kind]);
        for (size_t i = 0; i < count; i++) {
            if ((int)words[i].kind == kind && words[i].stage == 1) {
                printf("  %-12s %s\n", words[i].word, words[i].sentence);
            }
        }
    }
    printf("\nMore on one word: lapse help WORD. Examples of all: scenarios/README.md\n");
}

static bool help_word(const char *name) {
    size_t count;
    const struct lapse_word *words = lapse_word_table(&count);
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i].word, name) == 0) {
            printf("%s", found ? "\n" : "");
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
        printf("  arguments  %s\n", word->arguments);
    }
    if (word->answers != NULL) {
        printf("  answers    %s\n", word->answers);
    }
    if (word->contract != NULL) {
        printf("  stands for %s\n", word->contract);
    }
    if (word->stage != 1) {
        printf("  does not run yet\n");
    }
}

static const char *nearest(const char *name) {
    size_t count;
    struct lapse_nearest near;
    lapse_nearest_begin(&near, name);
    for (const struct lapse_cli_topic *topic = lapse_cli_topics(); topic->name != NULL; topic++) {
        lapse_nearest_offer(&near, topic->name);
    }
    const struct lapse_word *words = lapse_word_table(&count);
    for (size_t i = 0; i < count; i++) {
        lapse_nearest_offer(&near, words[i].word);
    }
    return near.best;
}
