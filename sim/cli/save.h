/* Histories on their way into files: `run --save-history DIR`. */
#ifndef CLI_SAVE_H
#define CLI_SAVE_H

#include "args.h"

/* Makes the folder, or takes one that holds no recorded history yet: none is overwritten. Returns
 * OK, or IO with a sentence. */
enum lapse_status lapse_cli_save_folder(const char *folder, struct lapse_error *err);
/* Writes the history of a finished run into a new file, named for scenario, row and seed. Returns
 * OK, NOMEM, IO or INVALID; then nothing is left of the file. */
enum lapse_status lapse_cli_save(const char *folder, const struct lapse_result_view *view,
                                 struct lapse_error *err);

#endif
