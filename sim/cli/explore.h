/* What the files of `lapse explore` share. */
#ifndef CLI_EXPLORE_H
#define CLI_EXPLORE_H

#include "fuzz/reach.h"
#include "runner.h"
#include "sim/explore.h"

/* One protocol, in hand. */
struct lapse_cli_explored {
    const struct lapse_cli_options *options;
    const struct lapse_plan *plan;
    struct lapse_explored found;
    int32_t faults; /* at most so many; -1: any number */
};

/* explore_states.c: what --states collects. */
struct lapse_cli_states {
    struct lapse_reach_builder all;
    bool whole; /* everything was tried */
};
int lapse_cli_explore_with_states(const struct lapse_cli_options *options);
/* only.c: opens the one file that is named and finds the one document of it that is chosen, for
 * `option`. Returns PASSED, with *ret to be closed; or complains. */
int lapse_cli_only_plan(const struct lapse_cli_options *options, const char *option,
                        struct lapse_cli_file *ret, size_t *ret_index);
/* explore.c: explores one plan of a file; `states` may be NULL. Returns an exit code. */
int lapse_cli_explore_plan(const struct lapse_cli_options *options,
                           const struct lapse_cli_file *file, size_t index,
                           struct lapse_cli_states *states);

/* explore_run.c: explores a protocol as its document says, prints what comes of it, and returns the
 * exit code. */
int lapse_cli_explore_protocol(const struct lapse_cli_options *options,
                               const struct lapse_plan *plan, struct lapse_cli_states *states);
/* explore_once.c: one exploration, with progress on stderr where that is a terminal, or with -v.
 * Stopped by a signal it ends as STOPPED. Returns as lapse_explore. */
enum lapse_status lapse_cli_explore_once(const struct lapse_cli_options *options,
                                         const struct lapse_plan_explore *protocol, int32_t faults,
                                         uint32_t listed, struct lapse_cli_states *states,
                                         struct lapse_explored *ret,
                                         struct lapse_error *err);
/* signals.c: holds back an interrupt and a request to end, or takes those that have come. */
void lapse_cli_hold_signals(bool hold);
/* Whether one has come while they are held: the signal, or 0. */
int lapse_cli_interrupted(void);
/* explore_once.c: a number with commas, in buf. */
const char *lapse_cli_number(uint64_t number, char buf[32]);
/* explore_margin.c: the table of margins. */
int lapse_cli_explore_margins(const struct lapse_cli_options *options,
                              const struct lapse_plan *plan);
/* explore_scene.c: the moves of a path; the path as a scenario, run and told as any other. */
void lapse_cli_explore_moves(struct lapse_out *out, const struct lapse_plan_explore *protocol,
                             const struct lapse_explore_found *found);
void lapse_cli_explore_scene(struct lapse_out *out, const struct lapse_cli_options *options,
                             const struct lapse_plan *plan,
                             const struct lapse_explore_found *found);
/* explore_orders.c: a scenario, with every order and every choice. */
int lapse_cli_explore_orders(struct lapse_cli_choice choice, const struct lapse_cli_file *file,
                             size_t index, struct lapse_cli_document *document,
                             struct lapse_cli_states *states);

#endif
