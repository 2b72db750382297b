/* The command line as data: one table of commands, one of options. Parsing, -h and "did you mean"
 * read the same tables, so that no help text can go stale. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include "lapse/base.h"
#include "reports/report.h"

#define LAPSE_CLI_VERSION "0.1.0"

enum {
    LAPSE_CLI_REPORTS_MAX = 8,
    LAPSE_CLI_JOBS_MAX = 256,
    LAPSE_CLI_RUNS_MAX = 100000000,
    LAPSE_CLI_PATH_MAX = 4096,
    LAPSE_CLI_WIDTH = 100, /* where the output is no terminal */
    LAPSE_CLI_WIDTH_MAX = 160
};

/* Exit codes (DESIGN section 7). */
enum lapse_cli_exit {
    LAPSE_EXIT_PASSED = 0,
    LAPSE_EXIT_VIOLATED = 1,
    LAPSE_EXIT_USAGE = 2,
    LAPSE_EXIT_MISTAKES = 3,
    LAPSE_EXIT_INCONCLUSIVE = 4,
    LAPSE_EXIT_NOTHING = 5,
    LAPSE_EXIT_PARTED = 7, /* not deterministic */
    LAPSE_EXIT_BUG = 70
};

enum lapse_cli_color { LAPSE_COLOR_AUTO = 0, LAPSE_COLOR_ALWAYS, LAPSE_COLOR_NEVER };

struct lapse_cli_report {
    const lapse_format *format;
    const char *path; /* NULL: stdout */
};

struct lapse_cli_command;

/* What a command line asks for. Texts point into argv. */
struct lapse_cli_options {
    const struct lapse_cli_command *command; /* NULL: none was named */
    size_t path_count;
    char **paths;
    bool help;
    bool version;
    const char *match;
    bool exit_first;
    int jobs; /* 0: as many as there are cores */
    uint64_t seed;
    bool seed_given;
    uint64_t runs;          /* --runs N: with so many seeds, from `seed` on */
    bool compare_model;     /* --model: rows are compared with the model's after every call */
    bool check_determinism; /* each run is made again and compared */
    bool coverage;          /* at the end each contract, with how often it was judged */
    bool promise_strict;    /* --promise strict: also what the profile does not promise is judged */
    bool tally;             /* --tally: nothing ends a run, breaks are counted by rule */
    bool matrix;            /* --matrix */
    bool has_nth;           /* --nth N: which run of an exploration is told, from 1 */
    uint64_t nth;
    bool margin;            /* --margin */
    uint64_t memory_bytes;  /* --memory SIZE; 0: as it is */
    const char *profile;    /* --profile NAME */
    const char *save_folder; /* --save-history DIR */
    const char *certificate; /* --certificate FILE */
    const char *form;        /* --format NAME; NULL: by the content */
    bool as_written;         /* --as-written: no number or name is changed */
    bool runs_given;         /* --runs */
    int64_t time_ns;         /* --time; 0: none */
    int64_t until_done_ns;   /* --until-done; 0: none */
    uint64_t shard, shard_count; /* --shard 2/8; 0: not shared */
    bool batch;              /* --mode batch */
    const char *findings;    /* --findings DIR */
    const char *states;      /* --states FILE */
    const char *against;     /* --against STATES */
    const char *output;      /* -o FILE */
    bool has_row;
    int32_t row;
    size_t report_count;
    struct lapse_cli_report reports[LAPSE_CLI_REPORTS_MAX];
    int verbose;
    enum lapse_cli_color color;
    struct { /* what main found out about the surroundings */
        bool no_color;
        bool out_terminal;
        int out_width;
        char self[LAPSE_CLI_PATH_MAX]; /* the program's own path */
        const char *commit;            /* that a CI system says it works on; NULL: none */
    } around;
};

struct lapse_cli_command {
    const char *name;
    const char *sentence;
    const char *arguments; /* as in the usage line */
    size_t arguments_min, arguments_max;
    const char *examples; /* lines */
    const char *exits;    /* the line on exit codes; NULL */
    int (*run)(const struct lapse_cli_options *options);
};

struct lapse_cli_option {
    char letter;       /* 0: none */
    const char *name;  /* without dashes; NULL: none */
    const char *value; /* what it takes; NULL: nothing */
    const char *sentence;
    const char *commands; /* " run replay " */
};

/* Both tables end with an entry without name and letter. */
const struct lapse_cli_command *lapse_cli_commands(void);
const struct lapse_cli_option *lapse_cli_options_table(void);
/* The command called `name`, or NULL. */
const struct lapse_cli_command *lapse_cli_command_find(const char *name);

/* Reads argv[1..argc) into *ret (its `around` is left alone). paths is argc pointers of the caller.
 * Returns true, or false with a sentence in *err. */
bool lapse_cli_parse(int argc, char **argv, char **paths, struct lapse_cli_options *ret,
                     struct lapse_error *err);

/* A whole number up to `most`, in digits alone. False: the text is none. */
bool lapse_cli_number_read(const char *text, uint64_t most, uint64_t *ret);

/* args_fuzz.c: an option of `lapse fuzz`. *ret_known: it is one. False: its value is wrong
 * (err). */
bool lapse_cli_fuzz_option(struct lapse_cli_options *options, const char *name, const char *value,
                           bool *ret_known, struct lapse_error *err);

/* usage.c: the short help of the program, or of a command; the line after a usage error. */
void lapse_cli_usage(const struct lapse_cli_command *command);
/* Prints "lapse: message" on stderr. Returns code. */
int lapse_cli_complain(int code, const char *format, ...) LAPSE_PRINTF(2, 3);

/* print.c: to stdout, without blanks at ends of lines. */
void lapse_cli_print(struct lapse_out *out);
/* Appends our own (ASCII) text as a paragraph with a newline, within 80 columns: the first line
 * begins at column `at`, the others are indented. */
void lapse_cli_wrap(struct lapse_out *out, const char *text, int at, int indent);

struct lapse_bug;
/* caught.c: how many planted bugs from the *at-th of the table on must break a contract. The first
 * goes to *ret (NULL: none), and *at behind it. */
size_t lapse_cli_caught(const char *id, size_t *at, const struct lapse_bug **ret);
/* Appends where a contract comes from, whether a rule judges it, and the first such bug with its
 * scenario: lines behind its sentence. */
void lapse_cli_caught_line(struct lapse_out *out, const struct lapse_contract *contract);

/* match.c: -k. An expression of and, or, not, parentheses and phrases; a phrase is in the name, in
 * any case of letters. */
bool lapse_cli_match(const char *expression, const char *name);
/* Whether the expression can be read. */
bool lapse_cli_match_check(const char *expression);

/* The style of what goes to stdout. */
struct lapse_style lapse_cli_style(const struct lapse_cli_options *options);

/* The commands. Each returns an exit code. */
int lapse_cli_run(const struct lapse_cli_options *options);
int lapse_cli_replay(const struct lapse_cli_options *options);
int lapse_cli_explore(const struct lapse_cli_options *options);
int lapse_cli_shrink(const struct lapse_cli_options *options);
int lapse_cli_lint(const struct lapse_cli_options *options);
int lapse_cli_check(const struct lapse_cli_options *options);
int lapse_cli_emit(const struct lapse_cli_options *options);
int lapse_cli_contracts(const struct lapse_cli_options *options);
int lapse_cli_breaks(const struct lapse_cli_options *options); /* contracts --profile NAME */
int lapse_cli_fuzz(const struct lapse_cli_options *options);
int lapse_cli_self_test(const struct lapse_cli_options *options);
int lapse_cli_explain(const struct lapse_cli_options *options);
int lapse_cli_help(const struct lapse_cli_options *options);
int lapse_cli_version(const struct lapse_cli_options *options);

#endif
