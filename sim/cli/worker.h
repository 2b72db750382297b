/* A worker: a file, run in a process apart, so that a crash takes no other file along. */
#ifndef CLI_WORKER_H
#define CLI_WORKER_H

#include "record.h"
#include "runner.h"
#include "sinks.h"
#include "unpromised.h"

enum { LAPSE_CLI_WORKER_STARVED = 71 }; /* exit code of a worker whose memory ran out */
/* Loads and runs what is chosen of the target, and writes records to fd. *ret_seed is always that
 * of the run in hand, for who finds the process dead. Returns the exit code: 0, STARVED, or
 * LAPSE_EXIT_BUG when nothing more can be sent. */
int lapse_cli_worker(const struct lapse_cli_options *options, const struct lapse_cli_target *target,
                     const struct lapse_cli_sinks *sinks, int fd, uint64_t *ret_seed);

/* ---- The workers' parent. */
struct lapse_cli_slot {
    struct lapse_out records; /* all that the worker sent */
    bool done; /* it ran to its end, or died */
    int death; /* the signal that ended it, or 256 + exit code; 0: it ended well */
};
struct lapse_cli_pool {
    const struct lapse_cli_options *options;
    const struct lapse_cli_selection *selection;
    const struct lapse_cli_sinks *sinks;
    struct lapse_cli_slot *slots; /* one a target */
    uint64_t *seeds;              /* one a target, in memory that its worker shares */
    size_t usable;                /* results of slots [0, usable) are to be shown */
    int interrupted;              /* the signal that ended the run early, or 0 */
};
/* Runs all targets. `usable` is less than the number of targets when -x stopped at a failure, or
 * the run was interrupted. Returns OK, NOMEM, or IO (no worker could be made). */
enum lapse_status lapse_cli_pool_run(const struct lapse_cli_options *options,
                                     const struct lapse_cli_selection *selection,
                                     const struct lapse_cli_sinks *sinks,
                                     struct lapse_cli_pool *ret, struct lapse_error *err);
void lapse_cli_pool_free(struct lapse_cli_pool *pool);

/* Reads the slots' records in order: joins bytes into the sinks and sums up. */
struct lapse_cli_summary {
    struct lapse_totals totals;
    struct lapse_tally *tallies;
    struct lapse_cli_unpromised unpromised;
    struct lapse_out replay; /* of the first failure; empty: none */
};
void lapse_cli_summary_make(const struct lapse_cli_pool *pool, struct lapse_cli_sinks *sinks,
                            struct lapse_cli_summary *ret);
void lapse_cli_summary_free(struct lapse_cli_summary *summary);

#endif
