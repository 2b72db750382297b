/* What the files of `lapse explore` share. */
#ifndef CLI_EXPLORE_H
#define CLI_EXPLORE_H

#include "runner.h"
#include "sim/explore.h"

/* One protocol, in hand. */
struct lapse_cli_explored {
    const struct lapse_cli_options *options;
    const struct lapse_plan *plan;
    struct lapse_explored found;
    int32_t faults; /* at most so many; -1: any number */
};

/* explore_run.c: explores a protocol as its document says, prints what comes of it, and returns the
 * exit code. */
int lapse_cli_explore_protocol(const struct lapse_cli_options *options,
                               const struct lapse_plan *plan);
/* One exploration, with progress on stderr where that is a terminal. Stopped by an interrupt it
 * ends as STOPPED. Returns as lapse_explore. */
enum lapse_status lapse_cli_explore_once(const struct lapse_cli_options *options,
                                         const struct lapse_plan_explore *protocol, int32_t faults,
                                         uint32_t listed, struct lapse_explored *ret,
                                         struct lapse_error *err);
/* explore.c: whether an interrupt has come; it stays so until the command ends. */
bool lapse_cli_interrupted(void);
/* explore.c: a number with commas, in buf. */
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
int lapse_cli_explore_orders(const struct lapse_cli_options *options,
                             const struct lapse_cli_file *file, size_t index);

#endif
