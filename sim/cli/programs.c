/* Help on client programs, out of their own table. */
#include <stdio.h>
#include <string.h>

#include "sim/program.h"
#include "topics.h"

static void print_word(const struct lapse_program_word *word);
static void print_default(const struct lapse_program_word *word);

void lapse_cli_programs_print(void) {
    size_t count = 0;
    const struct lapse_program_kind *const *table = lapse_program_table(&count);
    printf("What a list of steps cannot say, a client in C does by ordinary calls:\n"
           "  actors: {a: {program: NAME, with: {WORD: VALUE}}}\n"
           "`careless` makes it make a well-known mistake.\n");
    for (size_t i = 0; i < count; i++) {
        printf("\n%s: %s\n", table[i]->name, table[i]->sentence);
        for (size_t k = 0; k < table[i]->word_count; k++) {
            print_word(&table[i]->words[k]);
        }
    }
}

static void print_word(const struct lapse_program_word *word) {
    enum { LEFT = 16, WIDTH = 80 };
    int column = LEFT;
    printf("  %-13s", word->name);
    for (const char *at = word->sentence; *at != '\0';) {
        int len = (int)strcspn(at, " ");
        if (column + len + 1 > WIDTH) {
            printf("\n%*s", LEFT - 1, "");
            column = LEFT;
        }
        printf(" %.*s", len, at);
        column += len + 1;
        at += len + (at[len] == ' ' ? 1 : 0);
    }
    print_default(word);
}

static void print_default(const struct lapse_program_word *word) {
    char text[LAPSE_TIME_TEXT_MAX];
    bool must = word->text == NULL && word->takes > LAPSE_PROGRAM_NUMBER;
    if (word->takes == LAPSE_PROGRAM_SPAN) {
        printf(" (%s)", lapse_span_print((struct lapse_span){word->number}, text));
    } else if (word->takes == LAPSE_PROGRAM_NUMBER) {
        printf(" (%lld)", (long long)word->number);
    }
    printf(must ? "; must be given\n" : "\n");
}
