/* Reports: what a run looks like to a person or to a CI system. One writer a format.
 *
 * A writer turns histories and verdicts into bytes; it never decides anything and never prints.
 * Equal input gives equal bytes: no time stamps, no addresses, no real durations. */
#ifndef REPORTS_REPORT_H
#define REPORTS_REPORT_H

#include "contracts/judge.h"

/* ---- A growing text that a writer appends to. */
struct lapse_out {
    const lapse_alloc *alloc;
    char *text; /* NUL-terminated when len > 0 */
    size_t len, cap;
    bool failed; /* memory ran out; what is there is a prefix */
};
void lapse_out_init(struct lapse_out *out, const lapse_alloc *alloc);
void lapse_out_free(struct lapse_out *out);
void lapse_out_bytes(struct lapse_out *out, const char *bytes, size_t len);
void lapse_out_text(struct lapse_out *out, const char *text);
void lapse_out_format(struct lapse_out *out, const char *format, ...) LAPSE_PRINTF(2, 3);
/* Text of a scenario, or a path, made fit to print: what controls a terminal or turns the direction
 * is shown as \xNN. Returns the columns written. */
int lapse_out_safe_text(struct lapse_out *out, const char *text);
/* Takes the blanks off the ends of all lines: names of a scenario may end in one. */
void lapse_out_trim(struct lapse_out *out);

/* ---- Looks. */
struct lapse_style {
    bool color;       /* ANSI colours; never the only carrier of meaning */
    int width;        /* columns, at least 60; excerpts keep the caret in view */
    int file_columns; /* of the names of files in lists; 0: as each needs */
    int verbose;      /* -1 quiet, 0, 1: steps and untouched contracts, 2: every event */
    bool coverage;    /* at the end each contract, with how often it was judged */
};

/* ---- Source excerpts: the only drawer of source lines with carets. */
struct lapse_source {
    const char *name; /* as in places */
    const char *text; /* whole file */
    size_t bytes;
};
/* Draws one diagnostic in the manner of a compiler: error[CODE], place, lines with underlines for
 * every label, notes. A place whose file is not `source` is shown without lines. */
void lapse_excerpt_draw(struct lapse_out *out, const struct lapse_source *source,
                        const struct lapse_diag *diag, const struct lapse_style *style);

/* ---- Where two runs of one scenario under one seed part: lapse is not deterministic there. */
struct lapse_parting {
    size_t at;                         /* the first event that differs, or that one lacks */
    const struct lapse_history *again; /* of the second run */
    bool restored;                     /* which went on from a copy of its middle */
};

/* ---- One scenario as finished. */
struct lapse_result_view {
    const char *file; /* as given on the command line */
    int line;         /* the document's first line */
    int32_t row;      /* -1: no rows */
    const char *name; /* with its row */
    uint64_t seed;
    const struct lapse_source *source;
    const struct lapse_history *history;
    const struct lapse_verdict *verdict;
    const struct lapse_case *the_case;
    enum lapse_outcome outcome; /* verdict's; the runner may lower it (unmet `sometimes`) */
    const char *why;            /* INCONCLUSIVE, or broken: a sentence; else NULL */
    bool broken;                /* lapse itself failed: source, history, verdict and the_case may be
                                   NULL */
    bool starved;               /* broken only because memory ran out */
    bool name_repeats;          /* lapse_names_repeat says so */
    bool compare_model;         /* run with --model: as well */
    bool promise_strict;        /* run with --promise strict: the replay line says so */
    const char *note;           /* a sentence on a run that passed, or NULL */
    const char *replay;         /* the command that shows it again; NULL: `lapse replay` does */
    bool recorded;              /* no run: a history that was read; it is shown again by `check` */
    size_t log_calls;           /* of a log: its calls, for the history has no events; else 0 */
    const char *judged;         /* lines on what was judged and what not, or NULL */
    const char *certificates;   /* JSON maps, a line each: the order that was found for each name,
                                   or the core of calls that have none; or NULL */
    const struct lapse_slack *slacks; /* LAPSE_SLACKS of them, over all seeds; NULL: no run */
    const struct lapse_parting *parting; /* the second run was another; NULL: none was made, or it
                                            was the same */
};
/* Whether a finished scenario passed; and whether it is told as not deterministic: a violation
 * outranks that. */
bool lapse_view_passed(const struct lapse_result_view *view);
bool lapse_view_parted(const struct lapse_result_view *view);

/* ---- What broke and is not promised: the run's policies give the contract up. */
struct lapse_unpromised {
    const char *id;
    int64_t times;
    int64_t event; /* the first that broke it */
};
/* The next contract at or after *at, which begins at 0; false: no more. */
bool lapse_unpromised_next(const struct lapse_verdict *verdict, size_t *at,
                           struct lapse_unpromised *ret);
/* Appends "not promised by nats: CAS-01 (if_version: last)", the same in each run that has these
 * policies. */
void lapse_unpromised_draw(struct lapse_out *out, const struct lapse_setup *setup, const char *id);

/* The text timeline of a run: axis, a lane for each lease, lock or key that matters, each actor,
 * each resource, and a legend. `event` >= 0 marks the event that failed the run. */
void lapse_timeline_draw(struct lapse_out *out, const struct lapse_result_view *view, int64_t event,
                         const struct lapse_style *style);

/* Every step of the run, a line each: calls with their answers, faults, what observers saw. */
void lapse_steps_draw(struct lapse_out *out, const struct lapse_result_view *view);

/* Every event of the history, a line each. */
void lapse_events_draw(struct lapse_out *out, const struct lapse_result_view *view);

/* The replay command, without newline: "lapse replay scenarios/x.yaml:12 --seed 1". */
void lapse_replay_line(struct lapse_out *out, const struct lapse_result_view *view);

/* ---- Formats. The runner calls `scenario` for each one finished and `file` once a file, in any
 * process, keeps the bytes, and joins them in file order between `begin` and `end`. Whoever renders
 * a scenario does not know how many came before it: where a format numbers its entries it writes
 * LAPSE_FORMAT_INDEX, and lapse_format_join puts the number in. */
#define LAPSE_FORMAT_INDEX "\001"

/* How a contract's rule fared over all runs. */
struct lapse_tally {
    int64_t premises; /* how often its premise came true */
    int64_t runs;     /* in so many of the runs */
    int64_t breaks;   /* listed in `violates:`, or not promised by the profile */
};
struct lapse_total_unpromised {
    const char *text; /* as lapse_unpromised_draw says it */
    int64_t times;
};
struct lapse_totals {
    const char *program; /* "lapse 0.1.0, strict engine"; NULL: not said */
    bool recorded;       /* no runs: histories that were read */
    size_t files, scenarios, passed, failed, inconclusive;
    size_t parted;         /* scenarios that gave another history when they ran again */
    size_t broken;         /* scenarios or files at which lapse itself failed */
    size_t starved;        /* those of them at which memory ran out */
    size_t mistaken_files; /* files with mistakes: not run */
    size_t mistakes;
    size_t skipped_folders;
    size_t protocols; /* documents that are explored, not run */
    size_t expected_violations; /* scenarios that broke what they list */
    uint64_t seed;
    uint64_t runs;        /* one for each seed of a scenario */
    uint64_t again;       /* of them: so many were made again and compared */
    int64_t simulated_ns; /* sum of true time */
    uint64_t events;
    size_t rule_count;
    const struct lapse_tally *tallies; /* by rule */
    struct lapse_slack slacks[LAPSE_SLACKS];
    uint32_t uses;           /* of enum lapse_use, or-ed */
    size_t unpromised_count;
    const struct lapse_total_unpromised *unpromised; /* over all runs */
    int exit_code;
};
struct lapse_file_view { /* one file's turn, for `file` */
    const char *file;
    const struct lapse_source *source;
    const struct lapse_diag_list *diags; /* mistakes; empty or NULL: it ran */
    bool recorded;                       /* it is a recorded history */
    size_t scenarios, passed, failed, inconclusive, parted, broken;
    size_t expected_violations;
    const char *expected_ids; /* "FENCE-03, LEASE-10": those that came, as listed; "" if none */
};
typedef struct lapse_format {
    const char *name; /* "pretty", "tap", "junit", "jsonl", "digests" */
    /* `totals` are the final ones: the runner joins after the last scenario. */
    void (*begin)(struct lapse_out *out, const struct lapse_style *style,
                  const struct lapse_totals *totals);
    /* One scenario. May write nothing. */
    void (*scenario)(struct lapse_out *out, const struct lapse_style *style,
                     const struct lapse_result_view *view);
    /* A file. Written for each, also for one that did not run. */
    void (*file)(struct lapse_out *out, const struct lapse_style *style,
                 const struct lapse_file_view *view);
    /* `replay`: the replay line of the first failure, or NULL. */
    void (*end)(struct lapse_out *out, const struct lapse_style *style,
                const struct lapse_totals *totals, const char *replay);
    bool file_first; /* `file` goes before its scenarios' bytes (pretty), else after */
} lapse_format;

/* Marks each name of a file's scenarios (rows included) that alone does not tell its scenario apart
 * once it is written: others are written alike, or it ends like the place that a writer then adds.
 * Returns OK or NOMEM. */
enum lapse_status lapse_names_repeat(const lapse_alloc *alloc, const char *const *names,
                                     size_t count, bool *ret_repeats);
/* Appends bytes that a format's `scenario` or `file` wrote, with each LAPSE_FORMAT_INDEX replaced
 * by the next number; *index counts on from it. */
void lapse_format_join(struct lapse_out *out, const char *bytes, size_t len, size_t *index);
/* The format called `name`, or NULL. */
const lapse_format *lapse_format_find(const char *name);
/* The names, for help: NULL-terminated. */
const char *const *lapse_format_names(void);
/* What an exit code stands for: "1, a contract was violated or an expectation was not met". */
const char *lapse_exit_sentence(int exit_code);

#endif
