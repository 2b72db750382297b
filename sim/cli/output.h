/* Files that the program writes for its user: reports, certificates, findings. A path may lead to
 * anything; only a regular file is written, and only whole: it is made beside its place and then
 * put there, so that a disk that runs full leaves what was there before. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "args.h"

/* Before any work: whether `what` ("the report") can be written to path, which must be none of the
 * files that options name (NULL: it may be). Returns OK, or IO with a sentence. */
enum lapse_status lapse_cli_output_check(const struct lapse_cli_options *options, const char *what,
                                         const char *path, struct lapse_error *err);
/* Whether files can be made in a folder. Returns OK, or IO with a sentence. */
enum lapse_status lapse_cli_output_folder(const char *what, const char *path,
                                          struct lapse_error *err);
/* Returns OK, or IO with a sentence: then what was there is there. */
enum lapse_status lapse_cli_output_write(const char *what, const char *path, const char *bytes,
                                         size_t count, struct lapse_error *err);

#endif
