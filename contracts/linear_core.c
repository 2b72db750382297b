/* The core of a "no": calls whose answers cannot all be right.
 *
 * A call is let go by forgetting its answer: it then did what it did between its sending and its
 * reply, or never. What is let go only adds orders, so a call that must be kept while much is kept
 * must be kept for ever, and one walk over all calls, halves first, ends in a minimal core. */
#include "linear_parts.h"

#include <string.h>

struct carving {
    const lapse_linear_model *model;
    const struct lapse_linear_budget *budget;
    struct lapse_linear_result *result; /* steps and bytes are counted here */
    uint64_t steps_end;
    size_t count;
    struct lapse_linear_call *calls; /* as they are now */
    struct lapse_linear_call *tried; /* with some more let go */
    bool proven;                     /* no question has been left open */
    enum lapse_status status;
};

static void carve(struct carving *carving, const struct lapse_linear_call *calls);
static void carve_by(struct carving *carving, size_t size);
static bool some_kept(const struct carving *carving, size_t from, size_t to);
static void let_go(struct carving *carving, size_t from, size_t to);
static enum lapse_linear_verdict keep_if_no(struct carving *carving);
static enum lapse_linear_verdict decide(struct carving *carving);
static uint64_t steps_left(const struct carving *carving);
static bool forget(struct lapse_linear_call *call);
static void forget_followers(const struct carving *carving);
static void write_core(struct carving *carving);

enum lapse_status lapse_linear_core(const lapse_linear_model *model,
                                    const struct lapse_linear_call *calls, size_t count,
                                    const struct lapse_linear_budget *budget,
                                    struct lapse_linear_result *result) {
    const lapse_alloc *alloc = result->alloc;
    size_t bytes = count * sizeof(*calls);
    struct carving carving = {.model = model,
                              .budget = budget,
                              .result = result,
                              .count = count,
                              .steps_end = result->steps + budget->core_steps,
                              .proven = true};
    carving.calls = alloc->resize(alloc->ctx, NULL, 0, bytes);
    carving.tried = alloc->resize(alloc->ctx, NULL, 0, bytes);
    if (carving.calls == NULL || carving.tried == NULL) {
        carving.status = LAPSE_NOMEM;
    } else {
        carve(&carving, calls);
        write_core(&carving);
    }
    lapse_alloc_free(alloc, carving.calls, bytes);
    lapse_alloc_free(alloc, carving.tried, bytes);
    return carving.status;
}

/* What was sent after the reply at which the search was stuck plays no part, but for calls that
 * contradict each other by what they are after. */
static void carve(struct carving *carving, const struct lapse_linear_call *calls) {
    memcpy(carving->calls, calls, carving->count * sizeof(*calls));
    memcpy(carving->tried, calls, carving->count * sizeof(*calls));
    const struct lapse_linear_call *stuck = &calls[carving->result->stuck];
    for (size_t i = 0; i < carving->count; i++) {
        if (calls[i].invoke_ns > stuck->return_ns) {
            forget(&carving->tried[i]);
        }
    }
    forget_followers(carving);
    (void)keep_if_no(carving);
    size_t size = carving->count;
    while (size > 1 && carving->status == LAPSE_OK) {
        size = (size + 1) / 2;
        carve_by(carving, size);
    }
    if (carving->count == 1) {
        carve_by(carving, 1);
    }
}

/* From the first call on: what is far from where the search was stuck is let go first, so that what
 * stays lies close together. */
static void carve_by(struct carving *carving, size_t size) {
    for (size_t from = 0; from < carving->count && carving->status == LAPSE_OK; from += size) {
        size_t to = carving->count - from < size ? carving->count : from + size;
        if (!some_kept(carving, from, to)) {
            continue;
        }
        bool open_question = true;
        if (steps_left(carving) > 0) {
            let_go(carving, from, to);
            open_question = keep_if_no(carving) == LAPSE_LINEAR_GAVE_UP;
        }
        carving->proven = carving->proven && !(open_question && size == 1);
    }
}

/* Lets go what is being tried if there is no order without it either. */
static enum lapse_linear_verdict keep_if_no(struct carving *carving) {
    enum lapse_linear_verdict verdict = decide(carving);
    if (verdict == LAPSE_LINEAR_NO && carving->status == LAPSE_OK) {
        memcpy(carving->calls, carving->tried, carving->count * sizeof(*carving->calls));
    }
    return verdict;
}

/* Whether there is something to let go: all calls are copied only where there is. */
static bool some_kept(const struct carving *carving, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        if (!carving->calls[i].open) {
            return true;
        }
    }
    return false;
}

static void let_go(struct carving *carving, size_t from, size_t to) {
    memcpy(carving->tried, carving->calls, carving->count * sizeof(*carving->calls));
    for (size_t i = from; i < to; i++) {
        (void)forget(&carving->tried[i]);
    }
    forget_followers(carving);
}

/* Whether there was an answer to forget. */
static bool forget(struct lapse_linear_call *call) {
    if (call->open) {
        return false;
    }
    call->open = call->lapses = true;
    return true;
}

/* A call that comes after one which may never have come may never come either. */
static void forget_followers(const struct carving *carving) {
    for (size_t i = 0; i < carving->count; i++) {
        int32_t after = carving->tried[i].after;
        if (after >= 0 && carving->tried[after].open) {
            (void)forget(&carving->tried[i]);
        }
    }
}

/* Each question has a plan of all calls made for it. That takes longer than a step for each call,
 * and most when nearly all calls have been let go, so it is counted too. */
static enum lapse_linear_verdict decide(struct carving *carving) {
    struct lapse_linear_result *total = carving->result;
    uint64_t left = steps_left(carving), planning = carving->count;
    size_t own = 2 * carving->count * sizeof(*carving->calls);
    if (left <= planning || own >= carving->budget->bytes) {
        total->steps += left; /* what is left buys no answer */
        return LAPSE_LINEAR_GAVE_UP;
    }
    total->steps += planning;
    left -= planning;
    struct lapse_linear_result part = {.alloc = total->alloc};
    carving->status =
        lapse_linear_decide(total->alloc, carving->model, carving->tried, carving->count, left,
                            carving->budget->bytes - own, &part);
    enum lapse_linear_verdict verdict = part.verdict;
    total->steps += part.steps;
    total->bytes = part.bytes + own > total->bytes ? part.bytes + own : total->bytes;
    lapse_linear_result_free(&part);
    return verdict;
}

static uint64_t steps_left(const struct carving *carving) {
    uint64_t taken = carving->result->steps;
    return taken < carving->steps_end ? carving->steps_end - taken : 0;
}

static void write_core(struct carving *carving) {
    struct lapse_linear_result *result = carving->result;
    size_t count = 0;
    for (size_t i = 0; i < carving->count; i++) {
        count += carving->calls[i].open ? 0 : 1;
    }
    if (carving->status != LAPSE_OK || count == 0) {
        return;
    }
    const lapse_alloc *alloc = result->alloc;
    result->core = alloc->resize(alloc->ctx, NULL, 0, count * sizeof(*result->core));
    if (result->core == NULL) {
        carving->status = LAPSE_NOMEM;
        return;
    }
    for (uint32_t i = 0; i < carving->count; i++) {
        if (!carving->calls[i].open) {
            result->core[result->core_count++] = i;
        }
    }
    result->core_minimal = carving->proven;
}
