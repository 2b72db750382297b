/* A run told in full: what `replay` prints, and who else has one run to show. */
#ifndef CLI_STORY_H
#define CLI_STORY_H

#include "args.h"
#include "select.h"

/* Appends the whole story. `again`: it was run a second time. Returns the exit code. */
int lapse_cli_story(const struct lapse_result_view *view, bool again,
                    const struct lapse_style *style, struct lapse_out *out);
/* Tells the scenarios of a file as `lapse replay` does. Returns the exit code. */
int lapse_cli_replay_told(const struct lapse_cli_options *options, const char *path);
/* Tells a recorded history, as far as `lapse check` can read and judge it; complains of what only
 * a scenario can be asked. False: the file holds none, or cannot be read. */
bool lapse_cli_replay_recorded(const struct lapse_cli_options *options,
                               const struct lapse_cli_target *target, int *ret_code);

#endif
