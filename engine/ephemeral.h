/* Private: leases of one tenure. They share the name space of persistent leases and the order of
 * tokens, and nothing else: no row of theirs is stored and no log command looks at them. */
#ifndef ENGINE_EPHEMERAL_H
#define ENGINE_EPHEMERAL_H

#include "state.h"

/* The live ephemeral lease of that name, or NULL. */
struct lapse_node *lapse_ephemeral_find(const struct lapse_state *state, struct lapse_bytes name,
                                        const struct lapse_now *now);
/* The class of a checked log command by what is live at its instant: the tenure may decide it. */
enum lapse_class lapse_ephemeral_decides(const struct lapse_job *job);
/* The class of any checked command; `klass` is that of its verb. */
static inline enum lapse_class lapse_ephemeral_class(const struct lapse_job *job,
                                                     enum lapse_class klass) {
    bool never = klass != LAPSE_CLASS_LOG || job->state->ephemeral.names.count == 0;
    return never ? klass : lapse_ephemeral_decides(job);
}
/* The greatest token given so far, of either durability. */
int64_t lapse_ephemeral_token(const struct lapse_state *state);
/* Whether the checked command would grant an ephemeral lease now. */
bool lapse_ephemeral_grants(const struct lapse_job *job);
/* Whether the tenure answers this lease command, which lapse_ephemeral_run then does. */
bool lapse_ephemeral_takes(const struct lapse_job *job);
enum lapse_status lapse_ephemeral_run(struct lapse_job *job);
/* Frees at most rows_max that have ended, or leaves of them what their names are remembered by; how
 * many there were. */
size_t lapse_ephemeral_reap(struct lapse_state *state, const struct lapse_now *now,
                            size_t rows_max);
/* The rows of the tenure, by name; false in *ret_memory when memory ran out. */
enum lapse_status lapse_ephemeral_walk(const struct lapse_state *state, lapse_row_visit visit,
                                       void *ctx, bool *ret_memory);
/* Used by load: takes in one row. CORRUPT: no tenure holds it. */
enum lapse_status lapse_ephemeral_load(struct lapse_state *state, const struct lapse_row *row);
enum lapse_status lapse_ephemeral_check(const struct lapse_state *state, struct lapse_error *err);
void lapse_ephemeral_finish(struct lapse_state *state);

#endif
