/* `vary`: one document, several rows, each a document of its own. */
#ifndef SCENARIOS_VARY_H
#define SCENARIOS_VARY_H

#include "scenarios/node.h"

enum { LAPSE_VARY_ROWS_MAX = 1000, LAPSE_VARY_NAMES_MAX = 16 };

/* The values of one name. */
struct lapse_vary_name {
    const struct lapse_node *name;
    size_t value_count;
    const char **values;
    bool range; /* written as a..b */
    bool used;  /* $name stands somewhere in the document */
};
struct lapse_vary {
    struct lapse_pool *pool;
    struct lapse_diag_list *diags;
    int64_t budget; /* nodes that the file may still unfold to */
    size_t name_count;
    struct lapse_vary_name names[LAPSE_VARY_NAMES_MAX];
    int64_t row_count; /* 0: no `vary`; its mistakes were noted */
};

/* Reads `vary` of a document. False: memory ran out. */
bool lapse_vary_read(struct lapse_vary *vary, const struct lapse_node *root);
/* The document of row `row`, its names filled in, from `pool`; *ret_text is "[span=5s]". NULL:
 * memory ran out. */
struct lapse_node *lapse_vary_row(struct lapse_vary *vary, struct lapse_pool *pool,
                                  const struct lapse_node *root, int64_t row, char **ret_text);
/* Notes the names that no row used. */
void lapse_vary_check_used(const struct lapse_vary *vary);

#endif
