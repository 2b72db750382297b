/* `lapse explore --states FILE`: all abstract states and transitions of one document, written down
 * once everything has been tried. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <string.h>

#include "explore.h"
#include "output.h"

static const char begin[] = "lapse-states ";

static int save(const struct lapse_cli_states *states, const char *path);
static bool may_write(const struct lapse_cli_options *options);

int lapse_cli_explore_with_states(const struct lapse_cli_options *options) {
    struct lapse_cli_states states = {.whole = false};
    struct lapse_error err = {0};
    struct lapse_cli_file file;
    size_t index = 0;
    if (options->has_nth || options->margin) {
        return lapse_cli_complain(LAPSE_EXIT_USAGE, "--states is of all that can happen, and goes "
                                                    "with neither --nth nor --margin");
    }
    int code = lapse_cli_only_plan(options, "--states", &file, &index);
    if (code != LAPSE_EXIT_PASSED) {
        return code;
    }
    if (!may_write(options)) {
        lapse_cli_file_close(&file);
        return LAPSE_EXIT_USAGE;
    }
    enum lapse_status status = lapse_reach_begin(&states.all, lapse_alloc_libc(),
                                                 file.loaded.plans[index], &err);
    code = status == LAPSE_OK ? lapse_cli_explore_plan(options, &file, index, &states)
                              : lapse_cli_complain(LAPSE_EXIT_MISTAKES, "%s", err.message);
    if (states.whole) {
        code = lapse_cli_exit_worse(code, save(&states, options->states));
    } else {
        (void)lapse_cli_complain(code, "%s: not written, as not all was seen", options->states);
    }
    lapse_reach_finish(&states.all);
    lapse_cli_file_close(&file);
    return code;
}

static int save(const struct lapse_cli_states *states, const char *path) {
    struct lapse_emitted text;
    if (states->all.status == LAPSE_LIMIT) {
        return lapse_cli_complain(LAPSE_EXIT_INCONCLUSIVE,
                                  "%s: not written: there are more than %d states or %d "
                                  "transitions",
                                  path, (int)LAPSE_REACH_STATES_MAX, (int)LAPSE_REACH_MOVES_MAX);
    }
    if (states->all.status == LAPSE_OK && states->all.reach.states.count == 0) {
        return lapse_cli_complain(LAPSE_EXIT_NOTHING,
                                  "%s: not written: no run shows a state that could be counted",
                                  path);
    }
    if (states->all.status != LAPSE_OK ||
        lapse_reach_write(&states->all.reach, &text) != LAPSE_OK) {
        return lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
    }
    struct lapse_error err = {0};
    enum lapse_status status =
        lapse_cli_output_write("the states", path, text.text, text.bytes, &err);
    lapse_emitted_free(&text);
    if (status != LAPSE_OK) {
        return lapse_cli_complain(LAPSE_EXIT_USAGE, "%s", err.message);
    }
    char count[32], moves[32];
    printf("  wrote %s abstract states and %s transitions to %s\n",
           lapse_cli_number(states->all.reach.states.count, count),
           lapse_cli_number(states->all.reach.moves.count, moves), path);
    return LAPSE_EXIT_PASSED;
}

/* Before anything is explored: a file of states is there, or an empty file, or one can be made. */
static bool may_write(const struct lapse_cli_options *options) {
    struct lapse_error err = {0};
    char head[sizeof begin] = "";
    if (lapse_cli_output_check(options, "the states", options->states, &err) != LAPSE_OK) {
        (void)lapse_cli_complain(0, "%s", err.message);
        return false;
    }
    FILE *file = fopen(options->states, "r");
    if (file == NULL) {
        return true; /* it is made when all is known */
    }
    bool own = fread(head, 1, sizeof begin - 1, file) == 0 || strcmp(head, begin) == 0;
    (void)fclose(file);
    if (!own) {
        (void)lapse_cli_complain(0, "%s: it is no file of states, and is not overwritten: name "
                                    "another one with --states",
                                 options->states);
    }
    return own;
}
