/* `like`: a document that starts from a copy of an earlier one. */
#ifndef SCENARIOS_LIKE_H
#define SCENARIOS_LIKE_H

#include "scenarios/node.h"

/* Lays `root` upon its base and applies change and drop. `base` is NULL for a document without
 * `like`: then the root itself is returned if nothing is to be done. budget as in decode.h. The
 * result holds what is still to be sorted in under `add`. NULL: memory ran out. */
struct lapse_node *lapse_like_resolve(struct lapse_pool *pool, struct lapse_diag_list *diags,
                                      struct lapse_node *base, struct lapse_node *root,
                                      int64_t *budget);

#endif
