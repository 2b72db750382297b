/* Reading the command line by the tables. Options may stand anywhere; `--` ends them. */
#include "args.h"
#include "contracts/nearest.h"

#include <stdio.h>
#include <string.h>

struct cursor {
    int argc;
    char **argv;
    int at;
    bool ended;  /* behind `--` */
    int command; /* where it stands; 0: not known yet */
    struct lapse_cli_options *options;
    struct lapse_error *err;
};

static bool find_command(struct cursor *cursor, struct lapse_cli_options *ret);
static bool parse_one(struct cursor *cursor, char **paths);
static bool parse_word(struct cursor *cursor, char *word, char **paths);
static bool parse_long(struct cursor *cursor, const char *word);
static bool parse_short(struct cursor *cursor, const char *word);
static bool value_of(struct cursor *cursor, const struct lapse_cli_option *option,
                     const char *attached, const char **ret);
static bool is_option(const char *word);
static bool option_apply(struct cursor *cursor, const struct lapse_cli_option *option,
                         const char *value);
static bool apply_flag(struct lapse_cli_options *options, const char *name);
static bool apply_text(struct lapse_cli_options *options, const char *name, const char *value);
static bool apply_number(struct cursor *cursor, const char *name, const char *value);
static bool apply_size(struct cursor *cursor, const char *value);
static bool apply_report(struct cursor *cursor, const char *value);
static bool apply_color(struct cursor *cursor, const char *value);
static bool apply_promise(struct cursor *cursor, const char *value);
static bool taken_by(const struct cursor *cursor, const struct lapse_cli_option *option);
static bool unknown_option(struct cursor *cursor, const char *word);
static bool unknown_command(struct cursor *cursor, const char *word);
static bool counts_fit(struct cursor *cursor);

static const struct lapse_cli_command commands[] = {
    {"run", "Run scenarios and check every contract.", "[PATH...]", 0, SIZE_MAX,
     "  lapse run                          all scenarios under ./scenarios\n"
     "  lapse run scenarios/x.yaml:12      the scenario at line 12\n"
     "  lapse run -k 'fence and not idle'  by words of the name\n"
     "  lapse run --report junit=out.xml   for a CI system\n"
     "  lapse run --runs 1000 chaos.yaml   with the seeds 1 to 1000\n",
     "Exit: 0 passed, 1 violated, 3 file mistakes, 4 inconclusive, 5 nothing selected,\n"
     "      7 not deterministic\n",
     lapse_cli_run},
    {"replay", "Tell one scenario, or a recorded history, in full.", "FILE:LINE|HISTORY", 1, 1,
     "  lapse replay scenarios/x.yaml:12 --seed 1\n"
     "  lapse replay history/a-lock-seed1.jsonl        what was recorded, judged again\n"
     "  lapse replay scenarios/x.yaml:12 --row 2 -v    every event\n",
     "Exit: 0 passed, 1 violated, 3 file mistakes, 4 inconclusive, 7 not deterministic\n",
     lapse_cli_replay},
    {"explore", "All orders, faults and states, not one run of them.", "FILE...", 1, SIZE_MAX,
     "  lapse explore protocol.yaml        a lease protocol: all its states\n"
     "  lapse explore --margin p.yaml      the smallest margin that is safe\n"
     "  lapse explore scenarios/x.yaml:12  a scenario: every order and choice\n"
     "  lapse explore p.yaml --states all.states   what can be reached, for lapse fuzz\n"
     "Ctrl-C tells what is known by then.\n",
     "Exit: 0 nothing unlisted is broken, 1 violated, 3 file mistakes,\n"
     "      4 not all was seen, 5 nothing selected, 130 interrupted\n",
     lapse_cli_explore},
    {"shrink", "Make a failing scenario as small as it can be.", "FILE[:LINE]", 1, 1,
     "  lapse shrink scenarios/x.yaml:12           to findings/ID-....yaml\n"
     "  lapse shrink chaos.yaml:1 --seed 7 -o small.yaml\n"
     "It says whether the failure needs a fault, and at which value of each number it\n"
     "comes and goes. What is written is a scenario that fails until the fault is mended.\n",
     "Exit: 0 nothing fails, 1 it fails and was shrunk, 3 file mistakes\n", lapse_cli_shrink},
    {"check", "Judge recorded histories of any system.", "FILE...", 1, SIZE_MAX,
     "  lapse check lock.jsonl             by the format of its first line\n"
     "  lapse check --format etcd run.log  a log of Jepsen's\n"
     "  lapse run --save-history h && lapse check h/*.jsonl\n",
     "Exit: 0 passed, 1 violated, 3 file mistakes, 4 gave up\n", lapse_cli_check},
    {"lint", "Check scenario files without running them.", "[PATH...]", 0, SIZE_MAX,
     "  lapse lint scenarios/\n", "Exit: 0 no mistakes, 3 mistakes\n", lapse_cli_lint},
    {"emit", "Write scenarios out as they run, `like` and `vary` resolved.", "FILE[:LINE]", 1, 1,
     "  lapse emit scenarios/x.yaml:12 --row 2 > row.yaml   one row as a file of its own\n"
     "  lapse emit scenarios/x.yaml                         all documents, all rows\n"
     "Comments, `about` and `tags` are the file's, and are not there. What is written\n"
     "is loaded again and compared before it is printed.\n",
     "Exit: 0 written, 3 file mistakes, or nothing in the language says it,\n"
     "      5 nothing selected\n",
     lapse_cli_emit},
    {"contracts", "List the contracts, or show one.", "[ID|PATH]", 0, 1,
     "  lapse contracts\n  lapse contracts FENCE-03\n"
     "  lapse contracts --profile nats     kept, or broken by which policy, with a scenario\n",
     NULL, lapse_cli_contracts},
    {"fuzz", "Draw scenarios, or shake one, until a contract breaks.", "[PATH...]", 0, SIZE_MAX,
     "  lapse fuzz --time 60s              documents drawn from the seed\n"
     "  lapse fuzz --runs 10000 --seed 7   the same each time, whatever -j is\n"
     "  lapse fuzz scenarios/x.yaml:12     faults are added to that one's shape\n"
     "  lapse fuzz --mode batch --until-done=5m --shard 2/8\n"
     "  lapse fuzz p.yaml --against all.states --runs 10000\n"
     "A finding is shrunk and saved as a scenario that `lapse run` keeps checking.\n",
     "Exit: 0 nothing found, 1 violated, 3 file mistakes, 5 nothing selected, 70 lapse\n"
     "      itself failed\n",
     lapse_cli_fuzz},
    {"self-test", "Show that every check can fail: plant bugs, catch them.", "", 0, 0,
     "  lapse self-test             each planted bug, and what catches it\n"
     "  lapse self-test --matrix    every bug by every rule, over all suites\n",
     "Exit: 0 all caught, 1 a bug survived or a rule is idle\n", lapse_cli_self_test},
    {"explain", "The long form of a contract or of a mistake.", "CODE", 1, 1,
     "  lapse explain Y104\n  lapse explain LEASE-07\n", NULL, lapse_cli_explain},
    {"help", "The scenario language, exit codes, and more.", "[TOPIC]", 0, 1,
     "  lapse help\n  lapse help scenarios\n  lapse help exit-codes\n", NULL, lapse_cli_help},
    {"version", "Print the version.", "", 0, 0, "  lapse version\n", NULL, lapse_cli_version},
    {NULL, NULL, NULL, 0, 0, NULL, NULL, NULL},
};

#define EVERY                                                                                      \
    " run replay explore fuzz shrink check lint emit contracts self-test explain help version "

static const struct lapse_cli_option options_table[] = {
    {'k', NULL, "EXPR", "names that match: words, and, or, not, ( )", " run explore emit fuzz "},
    {'x', NULL, NULL, "stop at the first failure", " run "},
    {'j', "jobs", "N", "scenario files at a time (0: one for each core)", " run self-test "},
    {'j', "jobs", "N", "processes (0: one for each core)", " fuzz "},
    {0, "runs", "N", "so many documents, and no more", " fuzz "},
    {0, "time", "60s", "no round of runs begins after this", " fuzz "},
    {0, "until-done", "[=30s]", "until so long has shown no new state", " fuzz "},
    {0, "seed", "N|commit", "the seed of all that is drawn (1)", " fuzz "},
    {0, "shard", "I/N", "the I-th of N campaigns that share the runs", " fuzz "},
    {0, "mode", "MODE", "change: the first finding ends it; batch: it groups them", " fuzz "},
    {0, "findings", "DIR", "where findings and stats.json go (findings)", " fuzz "},
    {0, "against", "STATES", "of all that `lapse explore --states` wrote: the share seen",
     " fuzz "},
    {0, "seed", "N", "the seed of all chance (1)", " run replay shrink "},
    {0, "runs", "N", "N seeds from --seed on; once where no chance is drawn", " run "},
    {0, "runs", "N", "of a scenario: at most so many orders and choices (100000)", " explore "},
    {0, "check-determinism", NULL, "make each run again; another history: exit 7", " run replay "},
    {0, "model", NULL, "compare store and model after every call", " run replay shrink "},
    {0, "coverage", NULL, "at the end each contract, with how often it was judged", " run "},
    {0, "row", "N", "only row N of `vary`, from 0", " run replay explore shrink emit "},
    {0, "nth", "N", "of a scenario: tell the N-th order alone", " explore "},
    {0, "margin", NULL, "try margins, until no two clients may act at once", " explore "},
    {0, "memory", "SIZE", "of the states seen, as 500MB (1GB)", " explore "},
    {0, "states", "FILE", "write all abstract states there, for `lapse fuzz --against`",
     " explore "},
    {0, "promise", "strict", "a break of what the profile does not promise fails too",
     " run replay fuzz shrink "},
    {0, "tally", NULL, "nothing ends a run: what each rule alone would find", " run check "},
    {0, "matrix", NULL, "every bug in every scenario, judged by each rule alone", " self-test "},
    {0, "profile", "NAME", "of all that is drawn (each now and then, strict mostly)", " fuzz "},
    {0, "profile", "NAME", "what it keeps and breaks; scenarios are looked for in PATH",
     " contracts "},
    {0, "as-written", NULL, "leave its numbers and names as they are", " shrink "},
    {'o', NULL, "FILE", "where the shrunk scenario goes (findings/ID-....yaml)", " shrink "},
    {0, "report", "FORMAT[=PATH]", "pretty, tap, junit, jsonl, digests or tally; repeatable",
     " run check "},
    {0, "save-history", "DIR", "one recorded history a scenario, for `lapse check`", " run "},
    {0, "certificate", "FILE", "the witness orders or minimal cores, as JSON lines", " check "},
    {0, "format", "NAME", "lapse, etcd or kv; else the content tells", " check "},
    {'q', NULL, NULL, "failures only", " run check fuzz "},
    {'v', NULL, NULL, "how often each option was drawn; or states not seen", " fuzz "},
    {'v', NULL, NULL, "each scenario's steps; -vv: every event", " run check "},
    {'v', NULL, NULL, "every event (without: the steps)", " replay "},
    {'v', NULL, NULL, "counts, and the ways to what is listed", " explore "},
    {0, "color", "WHEN", "auto, always or never", " run replay explore shrink check lint "},
    {'h', "help", NULL, "this help", EVERY},
    {0, NULL, NULL, NULL, NULL},
};

const struct lapse_cli_command *lapse_cli_commands(void) {
    return commands;
}

const struct lapse_cli_option *lapse_cli_options_table(void) {
    return options_table;
}

const struct lapse_cli_command *lapse_cli_command_find(const char *name) {
    for (const struct lapse_cli_command *command = commands; command->name != NULL; command++) {
        if (strcmp(command->name, name) == 0) {
            return command;
        }
    }
    return NULL;
}

bool lapse_cli_parse(int argc, char **argv, char **paths, struct lapse_cli_options *ret,
                     struct lapse_error *err) {
    struct cursor cursor = {.argc = argc, .argv = argv, .options = ret, .err = err};
    ret->paths = paths;
    ret->seed = 1;
    ret->runs = 1;
    ret->findings = "findings";
    if (!find_command(&cursor, ret)) {
        return false;
    }
    cursor.options = ret;
    cursor.ended = false;
    for (cursor.at = 1; cursor.at < argc; cursor.at++) {
        if (cursor.at != cursor.command && !parse_one(&cursor, paths)) {
            return false;
        }
    }
    return ret->help || ret->version || ret->command == NULL || counts_fit(&cursor);
}

/* What stands before the command is read twice: first to find the command, then as its options, so
 * that none is taken that another command has. */
static bool find_command(struct cursor *cursor, struct lapse_cli_options *ret) {
    struct lapse_cli_options ahead = *ret;
    cursor->options = &ahead;
    for (cursor->at = 1; cursor->at < cursor->argc; cursor->at++) {
        int at = cursor->at;
        if (!parse_one(cursor, ret->paths)) {
            return false;
        }
        if (ahead.command != NULL) {
            cursor->command = at;
            ret->command = ahead.command;
            return true;
        }
    }
    return true;
}

static bool parse_one(struct cursor *cursor, char **paths) {
    char *word = cursor->argv[cursor->at];
    if (cursor->ended || word[0] != '-' || word[1] == '\0') {
        return parse_word(cursor, word, paths);
    }
    if (strcmp(word, "--") == 0) {
        cursor->ended = true;
        return true;
    }
    return word[1] == '-' ? parse_long(cursor, word) : parse_short(cursor, word);
}

static bool parse_word(struct cursor *cursor, char *word, char **paths) {
    struct lapse_cli_options *options = cursor->options;
    if (options->command == NULL) {
        options->command = lapse_cli_command_find(word);
        return options->command != NULL || unknown_command(cursor, word);
    }
    paths[options->path_count++] = word;
    return true;
}

static bool parse_long(struct cursor *cursor, const char *word) {
    const char *equals = strchr(word, '=');
    size_t len = equals == NULL ? strlen(word) - 2 : (size_t)(equals - word) - 2;
    if (strcmp(word, "--version") == 0 && cursor->options->command == NULL) {
        cursor->options->version = true;
        return true;
    }
    for (const struct lapse_cli_option *option = options_table; option->sentence != NULL;
         option++) {
        if (option->name == NULL || strlen(option->name) != len ||
            strncmp(option->name, word + 2, len) != 0 || !taken_by(cursor, option)) {
            continue;
        }
        const char *value = NULL;
        if (option->value == NULL && equals != NULL) {
            lapse_error_set(cursor->err, LAPSE_INVALID, "--%s takes no value", option->name);
            return false;
        }
        return value_of(cursor, option, equals == NULL ? NULL : equals + 1, &value) &&
               option_apply(cursor, option, value);
    }
    return unknown_option(cursor, word);
}

/* `-xv`, `-j4`, `-j 4`: letters may be joined, the last with its value. */
static bool parse_short(struct cursor *cursor, const char *word) {
    if (strcmp(word, "-V") == 0 && cursor->options->command == NULL) {
        cursor->options->version = true;
        return true;
    }
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
        const struct lapse_cli_option *option = options_table;
        while (option->sentence != NULL &&
               (option->letter != *letter || !taken_by(cursor, option))) {
            option++;
        }
        if (option->sentence == NULL) {
            return unknown_option(cursor, word);
        }
        const char *value = NULL;
        const char *attached = letter[1] != '\0' ? letter + 1 : NULL;
        if (option->value != NULL && attached != NULL && *attached == '=') {
            attached++;
        }
        if (!value_of(cursor, option, attached, &value) || !option_apply(cursor, option, value)) {
            return false;
        }
        if (option->value != NULL) {
            return true;
        }
    }
    return true;
}

static bool value_of(struct cursor *cursor, const struct lapse_cli_option *option,
                     const char *attached, const char **ret) {
    *ret = NULL;
    if (option->value == NULL) {
        return true;
    }
    if (attached == NULL && option->value[0] == '[') {
        *ret = ""; /* it may be left out */
        return true;
    }
    const char *next = cursor->at + 1 < cursor->argc ? cursor->argv[cursor->at + 1] : NULL;
    const char letter[] = {option->letter, '\0'}, *dashes = option->name != NULL ? "--" : "-";
    const char *name = option->name != NULL ? option->name : letter;
    bool maybe = option->value[0] == '['; /* [=30s] */
    const char *value = option->value + (maybe ? 2 : 0);
    int len = (int)(maybe ? strcspn(value, "]") : strlen(value));
    if (attached == NULL && next != NULL && is_option(next)) {
        lapse_error_set(cursor->err, LAPSE_INVALID,
                        "%s%s needs a value: %.*s; the next word, '%s', is an option. If it is "
                        "the value, write %s%s=%s",
                        dashes, name, len, value, next, dashes, name, next);
        return false;
    }
    if (attached == NULL && next != NULL) {
        attached = next;
        cursor->at++;
    }
    if (attached == NULL || *attached == '\0') {
        lapse_error_set(cursor->err, LAPSE_INVALID, "%s%s needs a value: %.*s%s", dashes, name,
                        len, value, attached == NULL ? "" : ", and this one is empty");
        return false;
    }
    *ret = attached;
    return true;
}

/* As it stands: a number may be negative, which is for the option to say. */
static bool is_option(const char *word) {
    return word[0] == '-' && word[1] != '\0' && (word[1] < '0' || word[1] > '9');
}

static bool option_apply(struct cursor *cursor, const struct lapse_cli_option *option,
                         const char *value) {
    struct lapse_cli_options *options = cursor->options;
    switch (option->letter) {
    case 'k':
        options->match = value;
        if (!lapse_cli_match_check(value)) {
            lapse_error_set(cursor->err, LAPSE_INVALID,
                            "-k cannot read '%s': write words, and, or, not, ( )", value);
            return false;
        }
        return true;
    case 'o':
        options->output = value;
        return true;
    case 'x':
        options->exit_first = true;
        return true;
    case 'j':
        return apply_number(cursor, "j", value);
    case 'q':
        options->verbose = -1;
        return true;
    case 'v':
        options->verbose = options->verbose < 0 ? 1 : options->verbose + 1;
        return true;
    case 'h':
        options->help = true;
        return true;
    default:
        break;
    }
    if (apply_flag(options, option->name)) {
        return true;
    }
    bool known = false;
    if (strcmp(option->commands, " fuzz ") == 0) {
        bool good = lapse_cli_fuzz_option(options, option->name, value, &known, cursor->err);
        if (known) {
            return good;
        }
    }
    if (strcmp(option->name, "report") == 0) {
        return apply_report(cursor, value);
    }
    if (strcmp(option->name, "promise") == 0) {
        return apply_promise(cursor, value);
    }
    if (strcmp(option->name, "memory") == 0) {
        return apply_size(cursor, value);
    }
    if (apply_text(options, option->name, value)) {
        return true;
    }
    return strcmp(option->name, "color") == 0 ? apply_color(cursor, value)
                                              : apply_number(cursor, option->name, value);
}

/* Whether it is one of those that take any text; it is set then. */
static bool apply_text(struct lapse_cli_options *options, const char *name, const char *value) {
    const struct {
        const char *name;
        const char **text;
    } texts[] = {
        {"certificate", &options->certificate}, {"format", &options->form},
        {"profile", &options->profile},         {"save-history", &options->save_folder},
        {"states", &options->states},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(texts[i].name, name) == 0) {
            *texts[i].text = value;
            return true;
        }
    }
    return false;
}

/* Whether it is one of those that take no value; they are set then. */
static bool apply_flag(struct lapse_cli_options *options, const char *name) {
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {
        {"as-written", &options->as_written},
        {"check-determinism", &options->check_determinism},
        {"coverage", &options->coverage},
        {"margin", &options->margin},
        {"matrix", &options->matrix},
        {"model", &options->compare_model},
        {"tally", &options->tally},
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (strcmp(flags[i].name, name) == 0) {
            *flags[i].flag = true;
            return true;
        }
    }
    return false;
}

static bool apply_number(struct cursor *cursor, const char *name, const char *value) {
    struct lapse_cli_options *options = cursor->options;
    bool jobs = strcmp(name, "j") == 0, row = strcmp(name, "row") == 0;
    bool runs = strcmp(name, "runs") == 0, nth = strcmp(name, "nth") == 0;
    uint64_t least = runs || nth ? 1 : 0;
    const struct lapse_cli_command *command = options->command;
    bool commit = !jobs && !row && !runs && !nth && command != NULL &&
                  strcmp(command->name, "fuzz") == 0;
    uint64_t most = jobs   ? LAPSE_CLI_JOBS_MAX
                    : runs || nth ? LAPSE_CLI_RUNS_MAX
                    : row  ? INT32_MAX
                           : UINT64_MAX;
    uint64_t number;
    if (!lapse_cli_number_read(value, most, &number) || number < least) {
        lapse_error_set(cursor->err, LAPSE_INVALID,
                        "%s%s takes a whole number from %llu to %llu%s, not '%s'",
                        jobs ? "-" : "--", name, (unsigned long long)least,
                        (unsigned long long)most, commit ? ", or commit" : "", value);
        return false;
    }
    if (jobs) {
        options->jobs = (int)number;
    } else if (runs) {
        options->runs = number;
        options->runs_given = true;
    } else if (nth) {
        options->has_nth = true;
        options->nth = number;
    } else if (row) {
        options->has_row = true;
        options->row = (int32_t)number;
    } else {
        options->seed = number;
        options->seed_given = true;
    }
    return true;
}

/* A whole number of kB, MB or GB. */
static bool apply_size(struct cursor *cursor, const char *value) {
    static const char *const units[] = {"kB", "MB", "GB"};
    const uint64_t most = 1000000ULL * 1000000000ULL;
    size_t len = strlen(value);
    uint64_t number = 0, bytes = 1000;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++, bytes *= 1000) {
        char digits[16] = "";
        if (len > 2 && len - 2 < sizeof digits && strcmp(value + len - 2, units[i]) == 0) {
            memcpy(digits, value, len - 2);
            if (lapse_cli_number_read(digits, most / bytes, &number) && number > 0) {
                cursor->options->memory_bytes = number * bytes;
                return true;
            }
        }
    }
    lapse_error_set(cursor->err, LAPSE_INVALID,
                    "--memory takes a size from 1kB to 1000000GB, in whole kB, MB or GB, such as "
                    "500MB, not '%s'",
                    value);
    return false;
}

static bool apply_report(struct cursor *cursor, const char *value) {
    struct lapse_cli_options *options = cursor->options;
    const char *equals = strchr(value, '=');
    char name[16] = "";
    size_t len = equals == NULL ? strlen(value) : (size_t)(equals - value);
    if (len < sizeof name) {
        memcpy(name, value, len);
    }
    const lapse_format *format = lapse_format_find(name);
    if (format == NULL || (equals != NULL && equals[1] == '\0')) {
        lapse_error_set(cursor->err, LAPSE_INVALID,
                        "--report takes pretty, tap, junit, jsonl, digests or tally, and =PATH if "
                        "it goes to a file, not '%s'",
                        value);
        return false;
    }
    if (options->report_count == LAPSE_CLI_REPORTS_MAX) {
        lapse_error_set(cursor->err, LAPSE_INVALID,
                        "--report stands at most %d times, and '%s' is one more; leave one out",
                        LAPSE_CLI_REPORTS_MAX, value);
        return false;
    }
    for (size_t i = 0; i < options->report_count; i++) {
        if (equals == NULL && options->reports[i].path == NULL) {
            lapse_error_set(cursor->err, LAPSE_INVALID,
                            "two reports cannot both go to stdout: give one a path, as in "
                            "--report %s=PATH",
                            name);
            return false;
        }
        if (equals != NULL && options->reports[i].path != NULL &&
            strcmp(equals + 1, options->reports[i].path) == 0) {
            lapse_error_set(cursor->err, LAPSE_INVALID,
                            "two reports cannot both go to %s: give one another path", equals + 1);
            return false;
        }
    }
    options->reports[options->report_count++] =
        (struct lapse_cli_report){format, equals == NULL ? NULL : equals + 1};
    return true;
}

static bool apply_color(struct cursor *cursor, const char *value) {
    static const char *const when[] = {"auto", "always", "never"};
    for (size_t i = 0; i < sizeof when / sizeof *when; i++) {
        if (strcmp(when[i], value) == 0) {
            cursor->options->color = (enum lapse_cli_color)i;
            return true;
        }
    }
    lapse_error_set(cursor->err, LAPSE_INVALID, "--color takes auto, always or never, not '%s'",
                    value);
    return false;
}

static bool apply_promise(struct cursor *cursor, const char *value) {
    cursor->options->promise_strict = strcmp(value, "strict") == 0;
    if (!cursor->options->promise_strict) {
        lapse_error_set(cursor->err, LAPSE_INVALID,
                        "--promise takes strict, not '%s': without it each scenario's profile says "
                        "what is promised",
                        value);
    }
    return cursor->options->promise_strict;
}

bool lapse_cli_number_read(const char *text, uint64_t most, uint64_t *ret) {
    uint64_t number = 0;
    if (*text == '\0') {
        return false;
    }
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9') {
            return false;
        }
        uint64_t digit = (uint64_t)(*text - '0');
        if (digit > most || number > (most - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    *ret = number;
    return true;
}

/* Before the command is known any command's option will do. */
static bool taken_by(const struct cursor *cursor, const struct lapse_cli_option *option) {
    const struct lapse_cli_command *command = cursor->options->command;
    if (command == NULL) {
        return true;
    }
    size_t len = strlen(command->name);
    for (const char *at = option->commands; (at = strchr(at, ' ')) != NULL; at++) {
        if (strncmp(at + 1, command->name, len) == 0 && at[1 + len] == ' ') {
            return true;
        }
    }
    return false;
}

static bool unknown_option(struct cursor *cursor, const char *word) {
    struct lapse_nearest nearest;
    lapse_nearest_begin(&nearest, word + strspn(word, "-"));
    for (const struct lapse_cli_option *option = options_table; option->sentence != NULL;
         option++) {
        if (option->name != NULL && taken_by(cursor, option)) {
            lapse_nearest_offer(&nearest, option->name);
        }
    }
    const char *best = nearest.best;
    const struct lapse_cli_command *command = cursor->options->command;
    lapse_error_set(cursor->err, LAPSE_INVALID, "unknown option '%s'%s%s%s; see lapse %s%s-h", word,
                    best != NULL ? ", did you mean '--" : "", best != NULL ? best : "",
                    best != NULL ? "'?" : "", command != NULL ? command->name : "",
                    command != NULL ? " " : "");
    return false;
}

static bool unknown_command(struct cursor *cursor, const char *word) {
    struct lapse_nearest nearest;
    lapse_nearest_begin(&nearest, word);
    for (const struct lapse_cli_command *command = commands; command->name != NULL; command++) {
        lapse_nearest_offer(&nearest, command->name);
    }
    const char *best = nearest.best;
    if (strchr(word, '/') != NULL || strstr(word, ".yaml") != NULL) {
        lapse_error_set(cursor->err, LAPSE_INVALID, "'%s' is not a command: write lapse run %s",
                        word, word);
    } else {
        lapse_error_set(cursor->err, LAPSE_INVALID, "unknown command '%s'%s%s%s; see lapse help",
                        word, best != NULL ? ", did you mean '" : "", best != NULL ? best : "",
                        best != NULL ? "'?" : "");
    }
    return false;
}

static bool counts_fit(struct cursor *cursor) {
    const struct lapse_cli_options *options = cursor->options;
    const struct lapse_cli_command *command = options->command;
    if (options->path_count < command->arguments_min) {
        lapse_error_set(cursor->err, LAPSE_INVALID, "lapse %s needs %s", command->name,
                        command->arguments);
        return false;
    }
    if (options->path_count > command->arguments_max) {
        lapse_error_set(cursor->err, LAPSE_INVALID, "lapse %s takes %s%s, not also '%s'",
                        command->name, command->arguments[0] != '\0' ? "one " : "nothing",
                        command->arguments, options->paths[command->arguments_max]);
        return false;
    }
    if (strcmp(command->name, "fuzz") == 0 && options->match != NULL && options->path_count == 0) {
        lapse_error_set(cursor->err, LAPSE_INVALID,
                        "-k %s chooses among scenarios, and none are named; add a PATH, or leave "
                        "-k out",
                        options->match);
        return false;
    }
    return true;
}
