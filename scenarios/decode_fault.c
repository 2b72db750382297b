/* Faults: which actor or node stands still, dies or begins again. */
#include <string.h>

#include "decode.h"

static void read_target(struct lapse_decoder *d, const struct lapse_word *row,
                        const struct lapse_node *node, struct lapse_plan_fault *fault);

void lapse_decode_fault(struct lapse_decoder *d, const struct lapse_word *row,
                        const struct lapse_node *map, struct lapse_plan_step *step) {
    step->kind = LAPSE_STEP_FAULT;
    struct lapse_plan_fault *fault = &step->u.fault;
    fault->actor = fault->node = -1;
    if (strcmp(row->word, "crash") == 0) {
        fault->kind = LAPSE_FAULT_CRASH;
    } else if (strcmp(row->word, "restart") == 0) {
        fault->kind = LAPSE_FAULT_RESTART;
    } else {
        fault->kind = LAPSE_FAULT_PAUSE;
        fault->ends = strcmp(row->word, "resume") == 0;
    }
    read_target(d, row, lapse_node_get(map, row->word), fault);
    const struct lapse_node *span = lapse_node_get(map, "for");
    if (span != NULL) {
        fault->has_for = lapse_number_span(d, span, 0, &fault->for_ns);
    }
}

static void read_target(struct lapse_decoder *d, const struct lapse_word *row,
                        const struct lapse_node *node, struct lapse_plan_fault *fault) {
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "an actor, or n1 (the store's node)")) {
        return;
    }
    if (!lapse_node_is(node, "n1")) {
        fault->actor = lapse_resolve_name(d, node, LAPSE_SPACE_ACTOR);
        return;
    }
    fault->node = 0;
    if (fault->kind == LAPSE_FAULT_PAUSE) {
        return;
    }
    struct lapse_diag *diag = lapse_mistake_add(
        d->diags, "Y102", node->place, "", "`%s` of the store's node does not run yet", row->word);
    lapse_diag_note(d->diags, diag, "note",
                    "it belongs to the language, and a later version of this program runs it; "
                    "`pause: n1` runs now");
}
