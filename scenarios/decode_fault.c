/* Faults and operators' acts: which actor or node stands still, sleeps, dies or begins again, and
 * whose clock is moved. */
#include <string.h>

#include "decode.h"

/* What a fault's word is. */
struct fault_row {
    const char *word;
    enum lapse_fault_kind kind;
    bool ends;
};
static const struct fault_row fault_rows[] = {
    {"pause", LAPSE_FAULT_PAUSE, false},     {"resume", LAPSE_FAULT_PAUSE, true},
    {"crash", LAPSE_FAULT_CRASH, false},     {"restart", LAPSE_FAULT_RESTART, false},
    {"suspend", LAPSE_FAULT_SUSPEND, false}, {"freeze", LAPSE_FAULT_FREEZE, false},
    {"starve", LAPSE_FAULT_STARVE, false},   {"slow", LAPSE_FAULT_SLOW, false},
    {"cut", LAPSE_FAULT_CUT, false},         {"heal", LAPSE_FAULT_CUT, true},
    {"link", LAPSE_FAULT_LINK, false},       {"clock", LAPSE_FAULT_CLOCK, false},
    {"disk", LAPSE_FAULT_DISK, false},       {"stall", LAPSE_FAULT_STALL, false},
};

static bool is_of_link(const struct lapse_plan_fault *fault);
static const struct fault_row *find_row(const char *word);
static void read_target(struct lapse_decoder *d, const struct lapse_node *node,
                        struct lapse_plan_fault *fault);
static void read_words(struct lapse_decoder *d, const struct lapse_node *map,
                       struct lapse_plan_fault *fault);
static void read_memory(struct lapse_decoder *d, const struct lapse_node *map,
                        struct lapse_plan_fault *fault);
static void read_act(struct lapse_decoder *d, const struct lapse_word *row,
                     const struct lapse_node *map, struct lapse_plan_step *step);
static void read_reap(struct lapse_decoder *d, const struct lapse_node *node,
                      struct lapse_plan_step *step);
static void keep_fault(struct lapse_decoder *d, const struct lapse_node *map,
                       const struct lapse_node *target, const struct lapse_plan_step *step);
static void choose_end(struct lapse_decoder *d, struct lapse_fault_decl *end);
static bool heals(const struct lapse_fault_decl *end, enum lapse_fault_kind kind);
static bool has_begun(const struct lapse_decoder *d, const struct lapse_fault_decl *end);

void lapse_decode_fault(struct lapse_decoder *d, const struct lapse_word *row,
                        const struct lapse_node *map, struct lapse_plan_step *step) {
    const struct lapse_node *target = lapse_node_get(map, row->word);
    const struct fault_row *its = find_row(row->word);
    if (its == NULL) {
        read_act(d, row, map, step);
        return;
    }
    step->kind = LAPSE_STEP_FAULT;
    struct lapse_plan_fault *fault = &step->u.fault;
    fault->actor = fault->node = -1;
    fault->kind = its->kind;
    fault->ends = its->ends;
    if (is_of_link(fault)) {
        lapse_decode_link(d, map, target, fault);
    } else if (fault->kind == LAPSE_FAULT_CLOCK) {
        lapse_decode_clock(d, map, fault);
    } else if (its->kind == LAPSE_FAULT_DISK) {
        lapse_decode_disk(d, map, fault);
    } else if (its->kind == LAPSE_FAULT_STALL) {
        lapse_decode_stall(d, map, fault);
    } else {
        read_target(d, target, fault);
    }
    read_words(d, map, fault);
    keep_fault(d, map, target, step);
}

const char *lapse_decode_fault_word(enum lapse_fault_kind kind, bool ends) {
    for (size_t i = 0; i < sizeof(fault_rows) / sizeof(fault_rows[0]); i++) {
        if (fault_rows[i].kind == kind && fault_rows[i].ends == ends) {
            return fault_rows[i].word;
        }
    }
    return NULL;
}

void lapse_decode_fault_ends(struct lapse_decoder *d) {
    for (size_t i = 0; i < d->faults.count && d->diags->count <= LAPSE_MISTAKES_MAX; i++) {
        struct lapse_fault_decl *end = lapse_list_at(&d->faults, i);
        if (end->ends) {
            choose_end(d, end);
        }
        if (!end->ends || has_begun(d, end)) {
            continue;
        }
        if (end->kind == LAPSE_FAULT_CUT || end->kind == LAPSE_FAULT_DISK) {
            lapse_mistake_add(d->diags, "Y135", end->place, "",
                              end->all ? "no earlier line cuts a link or is a fault of a disk"
                              : end->kind == LAPSE_FAULT_CUT
                                  ? "no earlier line cuts a link"
                                  : "no earlier line is a fault of a disk that lasts");
            continue;
        }
        bool pause = end->kind != LAPSE_FAULT_CRASH;
        const char *name = "n1";
        if (end->actor >= 0) {
            const struct lapse_setup_actor *actor = lapse_list_at(&d->actors, (size_t)end->actor);
            name = (const char *)actor->name.data;
        }
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y135", end->place, "", "no earlier line %s `%.60s`",
                              pause ? "pauses" : "crashes", name);
        lapse_diag_note(d->diags, diag, "help",
                        pause ? "`resume` ends a `pause`, `suspend`, `freeze`, `starve` or `slow` "
                                "of an earlier instant"
                              : "`restart` ends a `crash` of an earlier instant");
    }
}

static bool is_of_link(const struct lapse_plan_fault *fault) {
    return fault->kind == LAPSE_FAULT_CUT || fault->kind == LAPSE_FAULT_LINK;
}

static const struct fault_row *find_row(const char *word) {
    for (size_t i = 0; i < sizeof(fault_rows) / sizeof(fault_rows[0]); i++) {
        if (strcmp(fault_rows[i].word, word) == 0) {
            return &fault_rows[i];
        }
    }
    return NULL;
}

static void read_target(struct lapse_decoder *d, const struct lapse_node *node,
                        struct lapse_plan_fault *fault) {
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "an actor, or n1 (the store's node)")) {
        return;
    }
    if (fault->kind == LAPSE_FAULT_STARVE) {
        lapse_decode_starved(d, node, fault);
        return;
    }
    if (lapse_node_is(node, "n1")) {
        fault->node = 0;
        bool falls = fault->kind == LAPSE_FAULT_CRASH || fault->kind == LAPSE_FAULT_RESTART;
        d->node_falls = d->node_falls || falls;
        return;
    }
    fault->actor = lapse_resolve_name(d, node, LAPSE_SPACE_ACTOR);
}

static void read_words(struct lapse_decoder *d, const struct lapse_node *map,
                       struct lapse_plan_fault *fault) {
    const struct lapse_node *span = lapse_node_get(map, "for");
    int64_t machine = lapse_node_index(map, "machine");
    if (span != NULL) {
        fault->has_for = lapse_number_span(d, span, 0, &fault->for_ns);
    }
    if (machine >= 0) {
        (void)lapse_shape_flag(d, map->items[machine], &fault->machine);
    }
    if (machine >= 0 && fault->actor >= 0) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y120", map->keys[machine]->place, "",
                              "`machine` goes with n1: an actor has no machine of its own");
        lapse_diag_note(d->diags, diag, "help", "leave `machine` out");
    }
    if (fault->kind == LAPSE_FAULT_SLOW) {
        lapse_decode_slow(d, map, fault);
    } else if (fault->kind == LAPSE_FAULT_CRASH) {
        read_memory(d, map, fault);
    }
}

/* `with: memory`: what an actor knows outlives it. */
static void read_memory(struct lapse_decoder *d, const struct lapse_node *map,
                        struct lapse_plan_fault *fault) {
    const struct lapse_node *with = lapse_node_get(map, "with");
    if (with == NULL) {
        return;
    }
    if (fault->node >= 0) {
        lapse_mistake_add(d->diags, "Y120", with->place, "",
                          "`with` goes with an actor: n1 keeps what its store says");
        return;
    }
    fault->keeps = lapse_node_is(with, "memory");
    if (!fault->keeps) {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y127", with->place, "",
                                                    "a crash leaves nothing, or `memory`");
        lapse_diag_note(d->diags, diag, "help", "write `with: memory`, or leave `with` out");
    }
}

/* What an operator does is done, or the line has not run. */
static void read_act(struct lapse_decoder *d, const struct lapse_word *row,
                     const struct lapse_node *map, struct lapse_plan_step *step) {
    const struct lapse_node *target = lapse_node_get(map, row->word);
    const struct lapse_node *expect = lapse_node_get(map, "expect");
    if (strcmp(row->word, "revoke") == 0) {
        lapse_decode_revoke(d, target, step);
    } else if (!lapse_decode_copy(d, row, map, step)) {
        read_reap(d, target, step);
    }
    if (expect != NULL && lapse_shape_is(d, expect, LAPSE_NODE_SCALAR, "ok") &&
        !lapse_node_is(expect, "ok")) {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y114", expect->place, "",
                                                    "`%.60s` is not an answer of `%s`",
                                                    expect->text, row->word);
        lapse_diag_note(d->diags, diag, "help", "an operator's act answers `ok`");
    }
}

static void read_reap(struct lapse_decoder *d, const struct lapse_node *node,
                      struct lapse_plan_step *step) {
    step->kind = LAPSE_STEP_OPERATOR;
    step->u.operator_act = (struct lapse_plan_operator){.verb = LAPSE_OPERATOR_REAP};
    if (lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "n1 (the store's node)") &&
        !lapse_node_is(node, "n1")) {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y127", node->place, "",
                                                    "`%.60s` is not the store's node", node->text);
        lapse_diag_note(d->diags, diag, "help", "write `reap: n1`");
    }
}

static void keep_fault(struct lapse_decoder *d, const struct lapse_node *map,
                       const struct lapse_node *target, const struct lapse_plan_step *step) {
    const struct lapse_plan_fault *fault = &step->u.fault;
    /* A store that runs can be restarted, as its operator likes. */
    bool restarts = fault->kind == LAPSE_FAULT_RESTART;
    bool rots = fault->kind == LAPSE_FAULT_DISK && fault->disk == LAPSE_DISK_ROT;
    if (fault->kind == LAPSE_FAULT_CLOCK || rots || (restarts && fault->node >= 0)) {
        return;
    }
    struct lapse_fault_decl *decl = lapse_decoder_add(d, &d->faults);
    if (decl == NULL) {
        return;
    }
    const struct lapse_node *at = lapse_node_get(map, "at");
    enum lapse_fault_kind kind = restarts ? LAPSE_FAULT_CRASH : fault->kind;
    kind = kind == LAPSE_FAULT_LINK ? LAPSE_FAULT_CUT : kind; /* both are healed */
    *decl = (struct lapse_fault_decl){.kind = kind,
                                      .ends = fault->ends || restarts,
                                      .all = lapse_node_is(target, "all"),
                                      .varied = target->varied || at == NULL || at->varied,
                                      .step = (int32_t)d->steps.count - 1,
                                      .actor = fault->actor,
                                      .node = fault->node,
                                      .at_run = lapse_node_get(map, "when") != NULL,
                                      .at_ns = step->when.ns,
                                      .place = target->place};
}

/* `resume` ends what began last: a suspend or a freeze instead of a pause. */
static void choose_end(struct lapse_decoder *d, struct lapse_fault_decl *end) {
    int64_t last = INT64_MIN;
    if (end->kind == LAPSE_FAULT_CUT || end->kind == LAPSE_FAULT_DISK) {
        return;
    }
    for (size_t i = 0; end->kind != LAPSE_FAULT_CRASH && i < d->faults.count; i++) {
        const struct lapse_fault_decl *begin = lapse_list_at(&d->faults, i);
        bool same = begin->actor == end->actor && begin->node == end->node;
        bool stands = begin->kind == LAPSE_FAULT_PAUSE || begin->kind == LAPSE_FAULT_SUSPEND ||
                      begin->kind == LAPSE_FAULT_STALL || begin->kind == LAPSE_FAULT_FREEZE ||
                      begin->kind == LAPSE_FAULT_STARVE || begin->kind == LAPSE_FAULT_SLOW;
        bool before = begin->at_run || end->at_run || begin->at_ns < end->at_ns;
        if (same && stands && !begin->ends && before && begin->at_ns >= last) {
            last = begin->at_ns;
            end->kind = begin->kind;
        }
    }
    struct lapse_plan_fault *fault = &lapse_decode_step_at(d, end->step)->u.fault;
    fault->kind = end->kind == LAPSE_FAULT_CRASH ? LAPSE_FAULT_RESTART : end->kind;
    fault->task = -1;
}

/* Of a disk: by its own line, or by the one that heals all. A stall is one of its syncs. */
static bool heals(const struct lapse_fault_decl *end, enum lapse_fault_kind kind) {
    bool disk = end->kind == LAPSE_FAULT_DISK || end->all;
    return disk && (kind == LAPSE_FAULT_DISK || kind == LAPSE_FAULT_STALL);
}

/* Whether an earlier fault is what this one ends. At one instant the ends of faults come before
 * their beginnings. Where `vary` moves one of the two, or a line of `steps` counts from another
 * that it may move, only that there is one is looked at. */
static bool has_begun(const struct lapse_decoder *d, const struct lapse_fault_decl *end) {
    if (end->actor < 0 && end->node < 0 && end->kind != LAPSE_FAULT_CUT) {
        return true; /* the name was a mistake */
    }
    const bool varies = d->plan->row >= 0;
    for (size_t i = 0; i < d->faults.count; i++) {
        const struct lapse_fault_decl *begin = lapse_list_at(&d->faults, i);
        bool moved = varies && (begin->varied || end->varied);
        bool same = begin->actor == end->actor && begin->node == end->node;
        moved = moved || (same && (begin->at_run || end->at_run));
        bool ended = begin->kind == end->kind || heals(end, begin->kind);
        same = same || heals(end, begin->kind);
        if (!begin->ends && ended && (moved || same) && (moved || begin->at_ns < end->at_ns)) {
            return true;
        }
    }
    return false;
}
