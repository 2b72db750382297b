/* Programs that we start and listen to: a few at a time, each with a bound on processor time. */
#ifndef CLI_CHILDREN_H
#define CLI_CHILDREN_H

#include "args.h"

enum { LAPSE_CLI_CHILD_ARGUMENTS_MAX = 15, LAPSE_CLI_CHILD_SECONDS_MAX = 30 };

struct lapse_cli_child {
    /* argv[0] is the program's path; NULL ends the list. Borrowed. */
    const char *argv[LAPSE_CLI_CHILD_ARGUMENTS_MAX + 1];
    struct lapse_out told; /* its stdout */
    long pid;              /* 0: not running */
    int fd;
    int code;  /* its exit code, if it ended by itself */
    int death; /* the signal that ended it, or 0 */
};

/* Starts all, at most `jobs` at a time, in their order, and waits for the last. What a child writes
 * to stderr is dropped; the caller frees `told` of each. Returns OK; NOMEM; IO: one could not be
 * started or listened to (err says why); those that ran have been ended. */
enum lapse_status lapse_cli_children_run(struct lapse_cli_child *children, size_t count, int jobs,
                                         struct lapse_error *err);

/* Writes all of the bytes to a pipe or a file. False: they could not be, and errno says why. */
bool lapse_cli_send_all(int fd, const void *bytes, size_t count);

#endif
