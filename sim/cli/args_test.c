/* The command line, option by option out of the table: whatever stands where a value is wanted,
 * the sentence names the option, what was seen and what is wanted. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "args.h"

enum { WORDS_MAX = 12 };

/* The commands are not linked: nothing is run here. */
#define NO_COMMAND(name)                                                                           \
    int lapse_cli_##name(const struct lapse_cli_options *options) {                                \
        return options->jobs;                                                                      \
    }
NO_COMMAND(run)
NO_COMMAND(replay)
NO_COMMAND(explore)
NO_COMMAND(shrink)
NO_COMMAND(lint)
NO_COMMAND(check)
NO_COMMAND(emit)
NO_COMMAND(contracts)
NO_COMMAND(fuzz)
NO_COMMAND(self_test)
NO_COMMAND(explain)
NO_COMMAND(help)
NO_COMMAND(version)

/* Reads the words of `line`, which blanks part; `''` is an empty one. */
static bool parse(const char *line, struct lapse_cli_options *ret, struct lapse_error *err) {
    static char text[512];
    static char *argv[WORDS_MAX + 1], *paths[WORDS_MAX + 1];
    int argc = 1;
    (void)snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        cr_assert_lt(argc, WORDS_MAX);
        argv[argc++] = strcmp(word, "''") == 0 ? word + 2 : word;
    }
    memset(ret, 0, sizeof *ret);
    memset(err, 0, sizeof *err);
    return lapse_cli_parse(argc, argv, paths, ret, err);
}

static void refused(const char *line, const char *first, const char *second) {
    struct lapse_cli_options options;
    struct lapse_error err;
    cr_assert_not(parse(line, &options, &err), "%s", line);
    cr_assert(strstr(err.message, first) != NULL && strstr(err.message, second) != NULL,
              "%s: %s, without %s or %s", line, err.message, first, second);
}

/* The first command that takes the option, with as many paths as it needs. */
static void begin(const struct lapse_cli_option *option, char *buf, size_t cap) {
    const char *name = option->commands + 1;
    char word[32];
    (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(name, " "), name);
    const struct lapse_cli_command *command = lapse_cli_command_find(word);
    cr_assert_not_null(command, "%s", word);
    (void)snprintf(buf, cap, "%s%s", word, command->arguments_min > 0 ? " x" : "");
}

static void name_of(const struct lapse_cli_option *option, char *buf, size_t cap) {
    (void)snprintf(buf, cap, "%s%s%c", option->name != NULL ? "--" : "-",
                   option->name != NULL ? option->name : "", option->name != NULL ? 0
                                                                                  : option->letter);
}

Test(args, every_value_that_is_missing_or_empty_is_asked_for) {
    for (const struct lapse_cli_option *option = lapse_cli_options_table();
         option->sentence != NULL; option++) {
        char head[64], name[32], line[160];
        if (option->value == NULL) {
            continue;
        }
        begin(option, head, sizeof head);
        name_of(option, name, sizeof name);
        (void)snprintf(line, sizeof line, "%s %s=''", head, name);
        line[strlen(line) - 2] = '\0'; /* attached, and empty */
        refused(line, name, "needs a value");
        if (option->value[0] == '[') {
            continue; /* it may be left out */
        }
        (void)snprintf(line, sizeof line, "%s %s", head, name);
        refused(line, name, option->value);
        (void)snprintf(line, sizeof line, "%s %s ''", head, name);
        refused(line, name, "this one is empty");
        (void)snprintf(line, sizeof line, "%s %s --help", head, name);
        refused(line, name, "the next word, '--help', is an option");
    }
}

Test(args, every_flag_refuses_a_value) {
    for (const struct lapse_cli_option *option = lapse_cli_options_table();
         option->sentence != NULL; option++) {
        char head[64], line[160];
        if (option->value != NULL || option->name == NULL) {
            continue;
        }
        begin(option, head, sizeof head);
        (void)snprintf(line, sizeof line, "%s --%s=1", head, option->name);
        refused(line, option->name, "takes no value");
    }
}

/* Each option of fixed form: its range as it is told, a few that are in it, and what no option
 * takes besides. */
static const struct {
    const char *head, *range;
    const char *good[4], *bad[4];
} forms[] = {
    {"run -j", "-j takes a whole number from 0 to 256", {"0", "256"}, {"257"}},
    {"fuzz --jobs", "-j takes a whole number from 0 to 256", {"0", "256"}, {"257", "1000"}},
    {"run --seed",
     "--seed takes a whole number from 0 to 18446744073709551615, not",
     {"0", "18446744073709551615"},
     {"18446744073709551616", "commit"}},
    {"fuzz --seed",
     "--seed takes a whole number from 0 to 18446744073709551615, or commit, not",
     {"0", "18446744073709551615"},
     {"18446744073709551616", "commits"}},
    {"run --runs",
     "--runs takes a whole number from 1 to 100000000",
     {"1", "100000000"},
     {"0", "100000001"}},
    {"fuzz --runs", "--runs takes a whole number from 1 to 100000000", {"1"}, {"0"}},
    {"explore x --runs", "--runs takes a whole number from 1 to 100000000", {"1"}, {"0"}},
    {"explore x --nth",
     "--nth takes a whole number from 1 to 100000000",
     {"1", "100000000"},
     {"0", "100000001"}},
    {"replay x --row",
     "--row takes a whole number from 0 to 2147483647",
     {"0", "2147483647"},
     {"2147483648"}},
    {"explore x --memory",
     "--memory takes a size from 1kB to 1000000GB, in whole kB, MB or GB, such as 500MB",
     {"1kB", "1000000GB", "1000000000MB"},
     {"0kB", "1000001GB", "500", "kB"}},
    {"fuzz --time",
     "--time takes a duration above 0 and below 106751d, such as 60s",
     {"1ns", "106750d", "1h30m"},
     {"0s", "0", "106751d", "9999999999999d"}},
    {"fuzz --until-done=",
     "--until-done takes a duration above 0 and below 106751d, such as 60s",
     {"1s", "106750d"},
     {"0s", "106751d"}},
    {"fuzz --shard",
     "--shard takes I/N with N from 1 to 100000 and I from 1 to N",
     {"1/1", "100000/100000", "2/8"},
     {"0/3", "4/3", "1/0", "1/100001"}},
    {"fuzz --shard", "from 1 to N", {"1/2"}, {"/3", "3/", "1/2/3", "+1/2"}},
    {"fuzz --shard", "from 1 to N", {"1/2"}, {"1000000/2", "1/-2"}},
    {"fuzz --mode", "--mode takes change or batch", {"change", "batch"}, {"all"}},
    {"run --color", "--color takes auto, always or never", {"auto", "always", "never"}, {"blue"}},
    {"run --promise", "--promise takes strict", {"strict"}, {"lax"}},
    {"run --report", "--report takes pretty, tap, junit", {"tap", "junit=x"}, {"xml", "tap="}},
};

Test(args, what_is_out_of_range_is_told_the_range) {
    static const char *const never[] = {"-1", "x", "1x", "1.5", "99999999999999999999999999"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const char *gap = forms[i].head[strlen(forms[i].head) - 1] == '=' ? "" : " ";
        char line[128], seen[64];
        struct lapse_cli_options options;
        struct lapse_error err;
        for (size_t k = 0; k < 4 && forms[i].good[k] != NULL; k++) {
            (void)snprintf(line, sizeof line, "%s%s%s", forms[i].head, gap, forms[i].good[k]);
            cr_assert(parse(line, &options, &err), "%s: %s", line, err.message);
        }
        for (size_t k = 0; k < sizeof never / sizeof *never; k++) {
            (void)snprintf(line, sizeof line, "%s%s%s", forms[i].head, gap, never[k]);
            (void)snprintf(seen, sizeof seen, "not '%s'", never[k]);
            refused(line, forms[i].range, seen);
        }
        for (size_t k = 0; k < 4 && forms[i].bad[k] != NULL; k++) {
            (void)snprintf(line, sizeof line, "%s%s%s", forms[i].head, gap, forms[i].bad[k]);
            (void)snprintf(seen, sizeof seen, "not '%s'", forms[i].bad[k]);
            refused(line, forms[i].range, seen);
        }
    }
}

Test(args, words_that_do_not_go_together_are_refused) {
    static const struct {
        const char *line, *first, *second;
    } rows[] = {
        {"run --report tap --report junit", "two reports cannot both go to stdout", "junit=PATH"},
        {"run --report tap=x --report junit=x", "two reports cannot both go to x", "another path"},
        {"fuzz -k keys", "-k keys chooses among scenarios", "add a PATH"},
        {"--matrix run", "unknown option '--matrix'", "lapse run -h"},
        {"--seed=x run", "--seed takes a whole number from 0", "not 'x'"},
        {"emit a b", "takes one FILE[:LINE]", "not also 'b'"},
        {"replay", "lapse replay needs FILE:LINE|HISTORY", ""},
        {"run --sed 3", "unknown option '--sed'", "did you mean '--seed'"},
        {"rnu", "unknown command 'rnu'", "did you mean 'run'"},
        {"a/b.yaml", "'a/b.yaml' is not a command", "write lapse run a/b.yaml"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        refused(rows[i].line, rows[i].first, rows[i].second);
    }
}

/* Options stand anywhere, the last of two of one name counts, and what looks like one is a path
 * behind `--`. */
Test(args, options_stand_anywhere_and_the_last_counts) {
    static const struct {
        const char *line, *path;
        uint64_t seed;
        int jobs;
    } rows[] = {
        {"--seed 7 -j3 run x", "x", 7, 3},      {"run --seed=7 x -j 3", "x", 7, 3},
        {"run --seed 1 -j1 --seed 7 -j3 x", "x", 7, 3}, {"run --seed 7 -j=3 -- --x", "--x", 7, 3},
        {"-- run x", "x", 1, 0},                {"run -", "-", 1, 0},
        {"-xj 3 --seed 7 run x", "x", 7, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lapse_cli_options options;
        struct lapse_error err;
        cr_assert(parse(rows[i].line, &options, &err), "%s: %s", rows[i].line, err.message);
        cr_assert_str_eq(options.command->name, "run");
        cr_assert_eq(options.path_count, 1, "%s", rows[i].line);
        cr_assert_str_eq(options.paths[0], rows[i].path, "%s", rows[i].line);
        cr_assert_eq(options.seed, rows[i].seed, "%s", rows[i].line);
        cr_assert_eq(options.jobs, rows[i].jobs, "%s", rows[i].line);
    }
}
