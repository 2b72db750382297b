/* The search that goes depth first: it follows one order as far as it leads, and keeps every
 * configuration that it has entered, so that none is entered twice. */
#include "linear_parts.h"

#include <string.h>

static enum lapse_linear_found enter(struct lapse_linear_deep *deep,
                                     struct lapse_linear_config *config);
static enum lapse_linear_found try_next(struct lapse_linear_deep *deep);
static enum lapse_linear_found try_branch(struct lapse_linear_deep *deep,
                                          const struct lapse_linear_frame *frame, uint32_t call,
                                          unsigned branch);
static enum lapse_linear_found pass_by(struct lapse_linear_deep *deep, uint32_t from);
static void copy_bits(struct lapse_linear_deep *deep, uint32_t config);

bool lapse_linear_deep_init(struct lapse_linear_deep *deep, const lapse_alloc *alloc, size_t limit,
                            struct lapse_linear_search *search) {
    *deep = (struct lapse_linear_deep){.search = search};
    lapse_meter_init(&deep->meter, alloc, limit);
    const lapse_alloc *own = &deep->meter.alloc;
    deep->log.alloc = own;
    lapse_linear_bag_init(&deep->seen, own, search->plan, &search->steps);
    deep->bits = lapse_alloc_zero(own, (search->plan->words + 1) * sizeof(*deep->bits));
    return deep->bits != NULL;
}

void lapse_linear_deep_free(struct lapse_linear_deep *deep) {
    const lapse_alloc *own = &deep->meter.alloc;
    lapse_alloc_free(own, deep->log.items, deep->log.cap * sizeof(*deep->log.items));
    lapse_linear_bag_free(&deep->seen);
    lapse_alloc_free(own, deep->frames, deep->frame_cap * sizeof(*deep->frames));
    lapse_alloc_free(own, deep->bits, (deep->search->plan->words + 1) * sizeof(*deep->bits));
}

enum lapse_linear_found lapse_linear_deep_run(struct lapse_linear_deep *deep, uint64_t steps) {
    uint64_t limit = deep->search->steps.taken + steps;
    enum lapse_linear_found found = LAPSE_LINEAR_RUNNING;
    if (!deep->begun) {
        deep->begun = true;
        struct lapse_linear_config first = {.state = deep->search->start, .log = LAPSE_LINEAR_NONE};
        found = enter(deep, &first);
    }
    while (found == LAPSE_LINEAR_RUNNING && deep->search->steps.taken < limit) {
        found = deep->frame_count > 0 ? try_next(deep) : LAPSE_LINEAR_NOWHERE;
    }
    return found;
}

/* Goes into the configuration that `config` and deep->bits make: passes every reply whose call has
 * taken effect, and stays there unless it has been there before. */
static enum lapse_linear_found enter(struct lapse_linear_deep *deep,
                                     struct lapse_linear_config *config) {
    const struct lapse_linear_plan *plan = deep->search->plan;
    for (;;) {
        if (config->passed == plan->return_count) {
            deep->last = config->log;
            return LAPSE_LINEAR_FOUND;
        }
        deep->furthest = config->passed > deep->furthest ? config->passed : deep->furthest;
        if (!lapse_linear_settle(deep->search, &deep->log, config, deep->bits)) {
            return LAPSE_LINEAR_SPENT;
        }
        uint32_t bit = plan->bit[plan->returns[config->passed]];
        if (!lapse_linear_bit(deep->bits, bit)) {
            break;
        }
        lapse_linear_bit_clear(deep->bits, bit);
        config->passed++;
    }
    bool taken;
    if (!lapse_linear_bag_put(&deep->seen, config, deep->bits, &taken)) {
        return LAPSE_LINEAR_SPENT;
    }
    if (!taken) {
        return LAPSE_LINEAR_RUNNING;
    }
    if (!lapse_alloc_grow(&deep->meter.alloc, (void **)&deep->frames, &deep->frame_cap,
                          deep->frame_count + 1, sizeof(*deep->frames))) {
        return LAPSE_LINEAR_SPENT;
    }
    deep->frames[deep->frame_count++] =
        (struct lapse_linear_frame){.config = (uint32_t)deep->seen.count - 1};
    return LAPSE_LINEAR_RUNNING;
}

/* One call, in one of its ways, out of the configuration that was entered last. */
static enum lapse_linear_found try_next(struct lapse_linear_deep *deep) {
    const struct lapse_linear_plan *plan = deep->search->plan;
    struct lapse_linear_frame *frame = &deep->frames[deep->frame_count - 1];
    const struct lapse_linear_config *config = &deep->seen.items[frame->config];
    /* What was entered from here and left again took these entries. */
    deep->log.count = config->log == LAPSE_LINEAR_NONE ? 0 : (size_t)config->log + 1;
    if (plan->calls[plan->returns[config->passed]].open && !frame->passed_by) {
        frame->passed_by = true;
        return pass_by(deep, frame->config);
    }
    uint32_t call = lapse_linear_candidate(plan, config->passed, frame->candidate);
    if (call == LAPSE_LINEAR_NONE) {
        deep->frame_count--;
        return LAPSE_LINEAR_RUNNING;
    }
    const uint64_t *bits = deep->seen.bits + frame->config * plan->words;
    if (frame->branch >= plan->calls[call].branches ||
        !lapse_linear_ready(plan, config->passed, bits, call)) {
        frame->candidate++;
        frame->branch = 0;
        return LAPSE_LINEAR_RUNNING;
    }
    struct lapse_linear_frame from = *frame;
    frame->branch++;
    return try_branch(deep, &from, call, from.branch);
}

/* A call that lapses need not have taken effect. */
static enum lapse_linear_found pass_by(struct lapse_linear_deep *deep, uint32_t from) {
    struct lapse_linear_config config = deep->seen.items[from];
    copy_bits(deep, from);
    config.passed++;
    return enter(deep, &config);
}

static enum lapse_linear_found try_branch(struct lapse_linear_deep *deep,
                                          const struct lapse_linear_frame *frame, uint32_t call,
                                          unsigned branch) {
    struct lapse_linear_config config = deep->seen.items[frame->config];
    uint32_t state;
    enum lapse_linear_move move =
        lapse_linear_ask(deep->search, config.state, call, branch, &state);
    if (move == LAPSE_LINEAR_FULL) {
        return LAPSE_LINEAR_SPENT;
    }
    if (move == LAPSE_LINEAR_CANNOT ||
        lapse_linear_idle(deep->search->plan, call, config.state, state)) {
        return LAPSE_LINEAR_RUNNING;
    }
    copy_bits(deep, frame->config);
    config.state = state;
    if (!lapse_linear_take(deep->search, &deep->log, &config, deep->bits, call, branch)) {
        return LAPSE_LINEAR_SPENT;
    }
    return enter(deep, &config);
}

static void copy_bits(struct lapse_linear_deep *deep, uint32_t config) {
    size_t words = deep->search->plan->words;
    memcpy(deep->bits, deep->seen.bits + config * words, words * sizeof(*deep->bits));
}
