/* What a worker sends to its parent: records of a fixed head and the bytes that follow it. */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include "args.h"

enum lapse_cli_record_kind {
    LAPSE_RECORD_START = 1, /* a scenario begins: line, row, name */
    LAPSE_RECORD_SCENARIO,  /* it is over: counts, replay line, each writer's bytes */
    LAPSE_RECORD_FILE       /* the file is over: its counts, tallies, each writer's bytes */
};

/* All fields are int64, so that there is no padding to send. */
struct lapse_cli_record {
    int64_t kind;
    int64_t line, row;
    int64_t scenarios, passed, failed, inconclusive, broken; /* SCENARIO: one is 1; FILE: sums */
    int64_t starved;                                         /* of those broken: memory ran out */
    int64_t parted;   /* SCENARIO, FILE: not deterministic */
    int64_t again;    /* FILE: of its runs, those made again */
    int64_t repeats;  /* START: the name repeats in its file */
    int64_t expected; /* scenarios that broke what they list */
    int64_t mistakes;
    int64_t protocols; /* FILE: documents that are explored, not run */
    int64_t runs; /* FILE: of all its scenarios, one for each seed */
    int64_t simulated_ns, events, uses;
    int64_t tally_count;
    int64_t slack_known[LAPSE_SLACKS], slack_ns[LAPSE_SLACKS]; /* FILE: of all its runs */
    int64_t text_bytes; /* START: the name; SCENARIO: the replay line if it failed;
                            FILE: what broke and is not promised */
    int64_t bytes[LAPSE_CLI_REPORTS_MAX];
};

/* Appends a record: head, tallies, text, bytes of each of `count` outs. */
void lapse_cli_record_write(struct lapse_out *out, const struct lapse_cli_record *record,
                            const struct lapse_tally *tallies, const char *text,
                            const struct lapse_out *bodies, size_t count);

/* One record as read; pointers into the bytes. */
struct lapse_cli_record_view {
    struct lapse_cli_record head;
    const char *tallies; /* tally_count of struct lapse_tally, not aligned */
    const char *text;
    const char *bodies[LAPSE_CLI_REPORTS_MAX];
};
/* Reads the record at *at and moves on. False at the end, or where a record is cut short. */
bool lapse_cli_record_read(const char *bytes, size_t len, size_t *at,
                           struct lapse_cli_record_view *ret);

#endif
