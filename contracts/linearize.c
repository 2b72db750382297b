/* The verdict: two searches by turns, then the witness of a "yes" or the core of a "no". */
#include "linear_parts.h"

#include <string.h>

/* The first turn is short: most histories are small. Each later one is twice as long. */
enum { FIRST_TURN = 512, TURN_DOUBLINGS_MAX = 14 };

struct race {
    struct lapse_meter meter;
    struct lapse_linear_plan plan;
    struct lapse_linear_search search;
    struct lapse_linear_wide wide;
    struct lapse_linear_deep deep;
    bool wide_on, deep_on; /* has memory to free */
    enum lapse_linear_found found;
    const struct lapse_linear_log *log; /* FOUND: of the search that did */
    uint32_t last, furthest;
};

static enum lapse_status check_calls(const struct lapse_linear_call *calls, size_t count,
                                     struct lapse_error *err);
static const char *call_fault(const struct lapse_linear_call *calls, size_t at);
static bool precedes(const struct lapse_linear_call *a, const struct lapse_linear_call *b);
static bool race_init(struct race *race, const lapse_alloc *alloc, size_t bytes,
                      const lapse_linear_model *model, const struct lapse_linear_call *calls,
                      size_t count);
static void race_run(struct race *race, uint64_t steps);
static void race_turn(struct race *race, uint64_t steps);
static bool write_witness(struct race *race, struct lapse_linear_result *result);
static void race_free(struct race *race);

enum lapse_status lapse_linear_check(const lapse_alloc *alloc, const lapse_linear_model *model,
                                     const struct lapse_linear_call *calls, size_t count,
                                     const struct lapse_linear_budget *budget,
                                     struct lapse_linear_result *ret, struct lapse_error *err) {
    LAPSE_ASSERT(model->state_words > 0);
    LAPSE_ASSERT(model->state_words <= LAPSE_LINEAR_STATE_WORDS_MAX);
    *ret = (struct lapse_linear_result){.alloc = alloc};
    enum lapse_status status = check_calls(calls, count, err);
    if (status != LAPSE_OK) {
        return status;
    }
    status = lapse_linear_decide(alloc, model, calls, count, budget->steps, budget->bytes, ret);
    if (status == LAPSE_OK && ret->verdict == LAPSE_LINEAR_NO && budget->core_steps > 0) {
        status = lapse_linear_core(model, calls, count, budget, ret);
    }
    if (status != LAPSE_OK) {
        lapse_linear_result_free(ret);
        return lapse_error_set(err, status, "no memory to judge %zu calls", count);
    }
    return LAPSE_OK;
}

void lapse_linear_result_free(struct lapse_linear_result *result) {
    if (result == NULL || result->alloc == NULL) {
        return;
    }
    lapse_alloc_free(result->alloc, result->witness,
                     result->witness_count * sizeof(*result->witness));
    lapse_alloc_free(result->alloc, result->core, result->core_count * sizeof(*result->core));
    *result = (struct lapse_linear_result){.alloc = result->alloc};
}

const char *lapse_linear_verdict_word(enum lapse_linear_verdict verdict) {
    static const char *const words[] = {"yes", "no", "gave up"};
    return (size_t)verdict < sizeof words / sizeof *words ? words[verdict] : "?";
}

struct lapse_linear_budget lapse_linear_budget_default(void) {
    return (struct lapse_linear_budget){LAPSE_LINEAR_STEPS, LAPSE_LINEAR_BYTES,
                                        LAPSE_LINEAR_CORE_STEPS};
}

enum lapse_status lapse_linear_decide(const lapse_alloc *alloc, const lapse_linear_model *model,
                                      const struct lapse_linear_call *calls, size_t count,
                                      uint64_t steps, size_t bytes,
                                      struct lapse_linear_result *result) {
    struct race race;
    bool ready = race_init(&race, alloc, bytes, model, calls, count);
    if (ready) {
        race_run(&race, steps);
    }
    result->verdict = LAPSE_LINEAR_GAVE_UP;
    if (race.found == LAPSE_LINEAR_NOWHERE) {
        result->verdict = LAPSE_LINEAR_NO;
        result->stuck = race.plan.returns[race.furthest];
    } else if (race.found == LAPSE_LINEAR_FOUND && write_witness(&race, result)) {
        result->verdict = LAPSE_LINEAR_YES;
    }
    enum lapse_status status = LAPSE_OK;
    if (result->verdict == LAPSE_LINEAR_GAVE_UP && race.meter.nomem) {
        status = LAPSE_NOMEM;
    }
    result->steps += race.search.steps.taken;
    result->bytes = race.meter.peak > result->bytes ? race.meter.peak : result->bytes;
    race_free(&race);
    return status;
}

static enum lapse_status check_calls(const struct lapse_linear_call *calls, size_t count,
                                     struct lapse_error *err) {
    if (count > LAPSE_LINEAR_CALLS_MAX) {
        return lapse_error_set(err, LAPSE_INVALID,
                               "%zu calls are more than the %d that one search"
                               " takes; cut the history",
                               count, (int)LAPSE_LINEAR_CALLS_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        const char *fault = call_fault(calls, i);
        if (fault != NULL) {
            return lapse_error_set(err, LAPSE_INVALID, "call %zu (source %lld): %s", i,
                                   (long long)calls[i].source, fault);
        }
    }
    return LAPSE_OK;
}

static const char *call_fault(const struct lapse_linear_call *calls, size_t at) {
    const struct lapse_linear_call *call = &calls[at];
    if ((!call->open || call->lapses) &&
        (call->return_ns < call->invoke_ns || precedes(call, call))) {
        return "its reply lies before its sending; swap the two times";
    }
    if (call->branches < 1 || call->branches > LAPSE_LINEAR_BRANCHES_MAX) {
        return "its number of branches is not one of 1 to 4";
    }
    if (call->after < -1 || call->after >= (int64_t)at) {
        return "it is to come after a call that does not stand before it in the list";
    }
    if (call->after >= 0 && calls[call->after].open && !call->open) {
        return "it was answered, and is to come after an open call, which may never come";
    }
    if (call->after >= 0 && !call->open && precedes(call, &calls[call->after])) {
        return "it was answered before the call that it is to come after was sent";
    }
    return NULL;
}

static bool precedes(const struct lapse_linear_call *a, const struct lapse_linear_call *b) {
    if (a->return_ns != b->invoke_ns) {
        return a->return_ns < b->invoke_ns;
    }
    return a->end != b->end ? a->end : a->return_seq < b->invoke_seq;
}

/* Half of the memory that the plan leaves goes to each search, until one of them ends. */
static bool race_init(struct race *race, const lapse_alloc *alloc, size_t bytes,
                      const lapse_linear_model *model, const struct lapse_linear_call *calls,
                      size_t count) {
    *race = (struct race){.found = LAPSE_LINEAR_RUNNING};
    lapse_meter_init(&race->meter, alloc, bytes);
    const lapse_alloc *own = &race->meter.alloc;
    race->search.plan = &race->plan;
    lapse_linear_states_init(&race->search.states, own, model->state_words);
    if (!lapse_linear_plan_make(&race->plan, own, model, calls, count)) {
        return false;
    }
    int64_t start[LAPSE_LINEAR_STATE_WORDS_MAX];
    model->start(model->ctx, start);
    race->search.start = lapse_linear_states_find(&race->search.states, start);
    if (race->search.start == LAPSE_LINEAR_NONE) {
        return false;
    }
    size_t each = (bytes - race->meter.used) / 2;
    race->wide_on = race->deep_on = true;
    bool wide = lapse_linear_wide_init(&race->wide, own, each, &race->search);
    bool deep = lapse_linear_deep_init(&race->deep, own, each, &race->search);
    return wide && deep;
}

static void race_run(struct race *race, uint64_t steps) {
    uint64_t turn = FIRST_TURN;
    race->search.steps.max = steps;
    for (int n = 0; race->found == LAPSE_LINEAR_RUNNING; n++) {
        if (!race->wide_on && !race->deep_on) {
            return;
        }
        race_turn(race, turn);
        turn *= n < TURN_DOUBLINGS_MAX ? 2 : 1;
    }
}

static void race_turn(struct race *race, uint64_t steps) {
    if (race->wide_on) {
        race->found = lapse_linear_wide_run(&race->wide, steps);
        race->log = &race->wide.log;
        race->last = race->wide.last;
        race->furthest = race->wide.furthest;
    }
    if (race->found == LAPSE_LINEAR_SPENT) {
        lapse_linear_wide_free(&race->wide);
        race->wide_on = false;
        race->deep.meter.limit = SIZE_MAX; /* the race's own bound still holds */
        race->found = LAPSE_LINEAR_RUNNING;
    }
    if (race->found != LAPSE_LINEAR_RUNNING || !race->deep_on) {
        return;
    }
    race->found = lapse_linear_deep_run(&race->deep, steps);
    race->log = &race->deep.log;
    race->last = race->deep.last;
    race->furthest = race->deep.furthest;
    if (race->found == LAPSE_LINEAR_SPENT) {
        lapse_linear_deep_free(&race->deep);
        race->deep_on = false;
        race->wide.meter.limit = SIZE_MAX;
        race->found = LAPSE_LINEAR_RUNNING;
    }
}

/* Not by the meter, which it outlives, but within its bound. */
static bool write_witness(struct race *race, struct lapse_linear_result *result) {
    size_t count = 0;
    for (uint32_t at = race->last; at != LAPSE_LINEAR_NONE; at = race->log->items[at].parent) {
        count++;
    }
    if (count == 0) {
        return true;
    }
    const lapse_alloc *alloc = result->alloc;
    size_t bytes = count * sizeof(*result->witness);
    if (bytes > race->meter.limit - race->meter.used) {
        return false;
    }
    result->witness = alloc->resize(alloc->ctx, NULL, 0, bytes);
    if (result->witness == NULL) {
        race->meter.nomem = true;
        return false;
    }
    size_t held = race->meter.used + bytes;
    race->meter.peak = held > race->meter.peak ? held : race->meter.peak;
    result->witness_count = count;
    for (uint32_t at = race->last; at != LAPSE_LINEAR_NONE; at = race->log->items[at].parent) {
        result->witness[--count] =
            (struct lapse_linear_place){race->log->items[at].call, race->log->items[at].branch};
    }
    return true;
}

static void race_free(struct race *race) {
    if (race->wide_on) {
        lapse_linear_wide_free(&race->wide);
    }
    if (race->deep_on) {
        lapse_linear_deep_free(&race->deep);
    }
    lapse_linear_states_free(&race->search.states);
    lapse_linear_plan_free(&race->plan);
    LAPSE_ASSERT(race->meter.used == 0);
}
