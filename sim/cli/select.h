/* What is to be run: files, found by walking folders in byte order, and lines in them. */
#ifndef CLI_SELECT_H
#define CLI_SELECT_H

#include "lapse/base.h"

enum { LAPSE_CLI_DEPTH_MAX = 64, LAPSE_CLI_FILES_MAX = 100000 };

struct lapse_cli_target {
    char *path;
    bool whole; /* else only the documents that hold `lines` */
    size_t line_count, line_cap;
    int *lines;
};
struct lapse_cli_selection {
    size_t count, cap;
    struct lapse_cli_target *targets; /* each path once, in the order of first mention */
    size_t skipped_folders;           /* that hold .lapse-skip; a folder named itself is walked */
    char *skipped_first;              /* the first of them, or NULL */
};

/* Resolves paths: a file, a folder, or FILE:LINE. What is neither file nor folder becomes a target
 * all the same: reading it will say why. Returns OK, NOMEM, LIMIT, or IO (a folder cannot be
 * read; err says which). */
enum lapse_status lapse_cli_select(char *const *paths, size_t path_count,
                                   struct lapse_cli_selection *ret, struct lapse_error *err);
void lapse_cli_selection_free(struct lapse_cli_selection *selection);
/* Splits "FILE:LINE" in place. Returns the line, or 0 (path is as it was). */
int lapse_cli_address_split(char *path);

#endif
