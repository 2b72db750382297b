/* The runs of `lapse self-test`: lapse-planted, once for each planted bug, and what they show. */
#ifndef CLI_SELF_H
#define CLI_SELF_H

#include "children.h"
#include "fuzz/bugs.h"
#include "tally.h"

enum { LAPSE_CLI_SELF_WHY_MAX = 160, LAPSE_CLI_SEED_TEXT_MAX = 24 };

/* A bug with what its runs have shown. */
struct lapse_cli_catch {
    const struct lapse_bug *bug;
    bool caught;
    struct lapse_bytes id;            /* what was charged */
    int64_t events;                   /* of the history, until it was */
    char why[LAPSE_CLI_SELF_WHY_MAX]; /* if it was not caught */
    struct lapse_cli_child *charged;  /* its scenario's file, as it always runs */
    struct lapse_cli_child *alone;    /* the same with --tally */
    struct lapse_cli_child *clean;    /* the same with no bug */
    char seed[LAPSE_CLI_SEED_TEXT_MAX];
};

struct lapse_cli_self {
    size_t count;
    struct lapse_cli_catch *catches;
    struct lapse_cli_child *children; /* the first runs all scenarios with no bug */
    size_t child_count;
    size_t clean;                   /* scenarios that ran there */
    size_t clean_bad;               /* of them: did not pass */
    struct lapse_bytes clean_first; /* the first of those, its file */
};

/* Whether a recorded history shows the bug, which `lapse check` judges, and not a scenario. */
bool lapse_cli_self_recorded(const struct lapse_bug *bug);
/* Runs all that is needed with the program at `planted` and fills *ret, which the caller frees
 * whatever comes back. OK, NOMEM or IO. */
enum lapse_status lapse_cli_self_run(const char *planted, int jobs, struct lapse_cli_self *ret,
                                     struct lapse_error *err);
void lapse_cli_self_free(struct lapse_cli_self *self);
/* Whether a rule of this contract alone finds the bug; *ret_events is how many events it takes. */
bool lapse_cli_self_alone(const struct lapse_cli_catch *each, const char *id, int64_t *ret_events);

/* self_show.c: a line for each bug; a line for each contract, which returns how many have a rule
 * and no bug that it finds alone; the sums. */
void lapse_cli_self_show_bugs(const struct lapse_cli_self *self, struct lapse_out *out);
size_t lapse_cli_self_show_rules(const struct lapse_cli_self *self, struct lapse_out *out);
void lapse_cli_self_show_sums(const struct lapse_cli_self *self, size_t idle,
                              struct lapse_out *out);
size_t lapse_cli_self_caught(const struct lapse_cli_self *self);

/* canary.c: runs the program at `canary` and shows a line for each contract; *ret_silent is how
 * many alarms did not ring. OK, NOMEM or IO. */
enum lapse_status lapse_cli_canary_show(const char *canary, struct lapse_out *out,
                                        size_t *ret_silent, struct lapse_error *err);

/* matrix.c: `lapse self-test --matrix`. Returns an exit code. */
int lapse_cli_matrix(const struct lapse_cli_options *options, const char *planted);

#endif
