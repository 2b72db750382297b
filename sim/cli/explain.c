/* `lapse explain CODE`: a contract, a mistake of a file, or one of the program's own messages. */
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "scenarios/load.h"
#include "scenarios/nearest.h"

/* Codes that the program itself gives; the rest are the loader's. */
static const struct lapse_mistake own[] = {
    {"Y000", "a file cannot be read",
     "The path does not lead to a file that this user may read. Look for a typing error in it."},
    {"W001", "a pattern of `sometimes` never came true",
     "The scenario ran and nothing broke, but the moment that it is about did not come. Over all "
     "rows of a document each pattern must come true once; else the document is inconclusive."},
    {"W002", "a call may wait for ever",
     "A call has no timeout unless it says so, and a paused store answers when it wakes. Write "
     "`timeout: 1s`; the answer is then `unknown`, which may mean that the call took effect."},
};

static int explain_contract(const struct lapse_contract *contract);
static bool explain_mistake(const struct lapse_mistake *table, size_t count, const char *code);
static const char *nearest(const char *code);
static void wrap(const char *text);

int lapse_cli_explain(const struct lapse_cli_options *options) {
    const char *code = options->paths[0];
    const struct lapse_contract *contract = lapse_contract_find(code);
    if (contract != NULL) {
        return explain_contract(contract);
    }
    size_t count;
    const struct lapse_mistake *table = lapse_mistake_table(&count);
    if (explain_mistake(table, count, code) ||
        explain_mistake(own, sizeof own / sizeof *own, code)) {
        return LAPSE_EXIT_PASSED;
    }
    const char *near = nearest(code);
    return lapse_cli_complain(LAPSE_EXIT_USAGE, "nothing is called '%s'%s%s%s", code,
                              near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                              near != NULL ? "'?" : "; see lapse contracts");
}

static int explain_contract(const struct lapse_contract *contract) {
    printf("%s\n\n", contract->id);
    wrap(contract->sentence);
    if (contract->why != NULL && contract->why[0] != '\0') {
        printf("\n");
        wrap(contract->why);
    }
    printf("\nFrom: %s\n", contract->source);
    return LAPSE_EXIT_PASSED;
}

static bool explain_mistake(const struct lapse_mistake *table, size_t count, const char *code) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(table[i].code, code) == 0) {
            printf("%s: %s\n\n", table[i].code, table[i].title);
            wrap(table[i].more);
            return true;
        }
    }
    return false;
}

static const char *nearest(const char *code) {
    size_t count;
    struct lapse_nearest near;
    lapse_nearest_begin(&near, code);
    const struct lapse_contract *contracts = lapse_contract_table(&count);
    for (size_t i = 0; i < count; i++) {
        lapse_nearest_offer(&near, contracts[i].id);
    }
    const struct lapse_mistake *table = lapse_mistake_table(&count);
    for (size_t i = 0; i < count; i++) {
        lapse_nearest_offer(&near, table[i].code);
    }
    return near.best;
}

/* At 80 columns, indented by two. */
static void wrap(const char *text) {
    int at = 0;
    while (*text != '\0') {
        int word = (int)strcspn(text, " \n");
        if (at == 0 || at + 1 + word > 80) {
            printf("%s  %.*s", at == 0 ? "" : "\n", word, text);
            at = 2 + word;
        } else {
            printf(" %.*s", word, text);
            at += 1 + word;
        }
        text += word;
        text += strspn(text, " \n");
    }
    printf("\n");
}
