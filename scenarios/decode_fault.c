/* Faults: which actor or node stands still, dies or begins again. */
#include <string.h>

#include "decode.h"

static void read_target(struct lapse_decoder *d, const struct lapse_word *row,
                        const struct lapse_node *node, struct lapse_plan_fault *fault);
static void keep_fault(struct lapse_decoder *d, const struct lapse_node *map,
                       const struct lapse_node *target, const struct lapse_plan_step *step);
static bool has_begun(const struct lapse_decoder *d, const struct lapse_fault_decl *end);

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
    keep_fault(d, map, lapse_node_get(map, row->word), step);
}

void lapse_decode_fault_ends(struct lapse_decoder *d) {
    for (size_t i = 0; i < d->faults.count && d->diags->count <= LAPSE_MISTAKES_MAX; i++) {
        const struct lapse_fault_decl *end = lapse_list_at(&d->faults, i);
        if (!end->ends || has_begun(d, end)) {
            continue;
        }
        bool pause = end->kind == LAPSE_FAULT_PAUSE;
        const char *name = "n1";
        if (end->actor >= 0) {
            const struct lapse_setup_actor *actor = lapse_list_at(&d->actors, (size_t)end->actor);
            name = (const char *)actor->name.data;
        }
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y135", end->place, "", "no earlier line %s `%.60s`",
                              pause ? "pauses" : "crashes", name);
        lapse_diag_note(d->diags, diag, "help",
                        pause ? "`resume` ends a `pause` that began at an earlier instant"
                              : "`restart` ends a `crash` of an earlier instant");
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

static void keep_fault(struct lapse_decoder *d, const struct lapse_node *map,
                       const struct lapse_node *target, const struct lapse_plan_step *step) {
    const struct lapse_plan_fault *fault = &step->u.fault;
    struct lapse_fault_decl *decl = lapse_decoder_add(d, &d->faults);
    if (decl == NULL) {
        return;
    }
    const struct lapse_node *at = lapse_node_get(map, "at");
    bool restarts = fault->kind == LAPSE_FAULT_RESTART;
    *decl = (struct lapse_fault_decl){.kind = restarts ? LAPSE_FAULT_CRASH : fault->kind,
                                      .ends = fault->ends || restarts,
                                      .varied = target->varied || at == NULL || at->varied,
                                      .actor = fault->actor,
                                      .node = fault->node,
                                      .at_ns = step->when.ns,
                                      .place = target->place};
}

/* Whether an earlier fault is what this one ends. At one instant the ends of faults come before
 * their beginnings. Where `vary` moves one of the two, or a line of `steps` counts from another
 * that it may move, only that there is one is looked at. */
static bool has_begun(const struct lapse_decoder *d, const struct lapse_fault_decl *end) {
    if (end->actor < 0 && end->node < 0) {
        return true; /* the name was a mistake */
    }
    const bool varies = d->plan->row >= 0;
    for (size_t i = 0; i < d->faults.count; i++) {
        const struct lapse_fault_decl *begin = lapse_list_at(&d->faults, i);
        bool moved = varies && (begin->varied || end->varied);
        bool same = begin->actor == end->actor && begin->node == end->node;
        if (!begin->ends && begin->kind == end->kind && (moved || same) &&
            (moved || begin->at_ns < end->at_ns)) {
            return true;
        }
    }
    return false;
}
