/* What can be said of calls only once all of them are known: which values are ever read, which keys
 * idle, which leases an end of a tenure concerns. */
#include "linear_split.h"

#include <string.h>

enum { UNTOLD = -1 };

/* The idle spans that a key ever had. */
struct idle {
    int64_t least, most; /* 0: it never idled */
    bool capped;
};

static bool blur_values(struct lapse_linear_split *split);
static bool finish_key(struct lapse_linear_split *split, struct lapse_linear_problem *problem);
static struct idle idle_of(const struct lapse_linear_problem *problem);
static bool finish_use(struct lapse_linear_split *split, struct lapse_linear_problem *problem,
                       size_t at, const struct idle *idle);
static bool may_be_lost(const struct lapse_linear_terms *terms,
                        const struct lapse_linear_call *call);
static bool finish_lease(struct lapse_linear_split *split, struct lapse_linear_problem *problem);

bool lapse_linear_split_finish(struct lapse_linear_split *split) {
    if (!blur_values(split)) {
        return false;
    }
    for (size_t i = 0; i < split->problems->count; i++) {
        struct lapse_linear_problem *problem = &split->problems->items[i];
        bool done = problem->kind == LAPSE_LINEAR_KEY ? finish_key(split, problem)
                                                      : finish_lease(split, problem);
        if (!done) {
            return false;
        }
    }
    return true;
}

/* Values that no read has shown cannot be told apart by one: they become one value, and writes of
 * them that were not answered become alike. */
static bool blur_values(struct lapse_linear_split *split) {
    const struct lapse_linear_problems *problems = split->problems;
    size_t bytes = problems->store->count + 1;
    bool *read = lapse_alloc_zero(split->alloc, bytes * sizeof(*read));
    if (read == NULL) {
        return false;
    }
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < problems->count; i++) {
            for (size_t k = 0; k < problems->items[i].count; k++) {
                struct lapse_linear_call *call = &problems->items[i].calls[k];
                int64_t text = call->arg[LAPSE_KEY_TEXT];
                if (problems->items[i].kind != LAPSE_LINEAR_KEY || text == UNTOLD) {
                    continue;
                }
                if (round == 0) {
                    read[text] = read[text] || call->op == LAPSE_KEY_READ;
                } else if (!read[text]) {
                    call->arg[LAPSE_KEY_TEXT] = UNTOLD;
                }
            }
        }
    }
    lapse_alloc_free(split->alloc, read, bytes * sizeof(*read));
    return true;
}

static bool finish_key(struct lapse_linear_split *split, struct lapse_linear_problem *problem) {
    struct idle idle = idle_of(problem);
    size_t count = problem->count;
    for (size_t at = 0; at < count; at++) {
        if (problem->calls[at].op == LAPSE_KEY_READ && !finish_use(split, problem, at, &idle)) {
            return false;
        }
    }
    return true;
}

static struct idle idle_of(const struct lapse_linear_problem *problem) {
    struct idle idle = {0, 0, false};
    for (size_t i = 0; i < problem->count; i++) {
        const struct lapse_linear_call *call = &problem->calls[i];
        int64_t span = call->op == LAPSE_KEY_READ ? 0 : call->arg[LAPSE_KEY_IDLE];
        if (span > 0) {
            idle.least = idle.least == 0 || span < idle.least ? span : idle.least;
            idle.most = span > idle.most ? span : idle.most;
            idle.capped = idle.capped || (call->arg[LAPSE_KEY_VERB] & LAPSE_KEY_CAPPED) != 0;
        }
    }
    return idle;
}

/* A read that may renew, and the end of the term as renewed by it. */
static bool finish_use(struct lapse_linear_split *split, struct lapse_linear_problem *problem,
                       size_t at, const struct idle *idle) {
    struct lapse_linear_call *call = &problem->calls[at];
    int64_t *use = &call->arg[LAPSE_KEY_GIVES];
    if (idle->most == 0 || *use == LAPSE_USE_NONE) {
        /* `renewed` of a key that was never known to idle would be wrong, and is kept so. */
        *use = *use == LAPSE_USE_RENEWED ? *use : (int64_t)LAPSE_USE_NONE;
        return true;
    }
    const struct lapse_linear_terms *terms = &split->terms;
    bool loose = terms->by_wall || terms->unit_ns > 1 || terms->last_ns > 0 || terms->late_ns > 0;
    if (loose || may_be_lost(terms, call) || (idle->capped && *use == LAPSE_USE_BY_RULE)) {
        *use = LAPSE_USE_ANY;
    }
    call->branches = *use == LAPSE_USE_RENEWED ? 1 : 2;
    struct lapse_linear_window window = lapse_linear_span_window(&split->terms, call, idle->most);
    window.from = idle->capped ? call->invoke_ns
                               : lapse_linear_span_window(&split->terms, call, idle->least).from;
    return lapse_linear_split_end(split, problem, (int32_t)at, LAPSE_KEY_END, LAPSE_KEY_SELF,
                                  window);
}

/* A crash may lose renewals of the last second before it. */
static bool may_be_lost(const struct lapse_linear_terms *terms,
                        const struct lapse_linear_call *call) {
    struct lapse_linear_window second = lapse_linear_span_window(terms, call, LAPSE_NS_PER_S);
    for (size_t i = 0; i < terms->restart_count; i++) {
        if (terms->restarts[i].to >= call->invoke_ns &&
            (second.to_open || terms->restarts[i].from <= second.to)) {
            return true;
        }
    }
    return false;
}

static bool finish_lease(struct lapse_linear_split *split, struct lapse_linear_problem *problem) {
    bool ephemeral = false;
    for (size_t i = 0; i < problem->count; i++) {
        const struct lapse_linear_call *call = &problem->calls[i];
        ephemeral =
            ephemeral || (call->op == LAPSE_LEASE_ACQUIRE && call->arg[LAPSE_LEASE_EPHEMERAL] != 0);
    }
    for (size_t i = 0; ephemeral && i < split->terms.restart_count; i++) {
        const struct lapse_linear_restart *restart = &split->terms.restarts[i];
        struct lapse_linear_call call = {.invoke_ns = restart->from,
                                         .return_ns = restart->to,
                                         .branches = 1,
                                         .op = LAPSE_LEASE_TENURE,
                                         .after = -1,
                                         .actor = -1};
        if (lapse_linear_split_add(split, problem, &call, LAPSE_LEASE_SELF) < 0) {
            return false;
        }
    }
    return true;
}
