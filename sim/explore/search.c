/* The search: from the plain start, breadth first, until nothing new is found. */
#include "abstract.h"
#include "model.h"
#include "trace.h"

#include <string.h>

enum { TOLD_EVERY = 1 << 10 };
static const uint64_t bytes_default = UINT64_C(1) << 30;

struct search {
    const struct lapse_explore_options *options;
    const lapse_alloc *alloc;
    struct scope scope;
    struct mover mover;
    struct set set;
    move_code moves[MOVES_MAX];
    struct batch batch;
    struct lapse_explored *explored;
    struct lapse_error *err;
    uint64_t from; /* the abstract state that is being expanded */
    bool over;
};

static enum lapse_status begin(struct search *search);
static enum lapse_status ask_first(struct search *search);
static void finish(struct search *search);
static enum lapse_status run(struct search *search);
static enum lapse_status expand(struct search *search, size_t at);
static enum lapse_status follow(struct search *search, size_t at, const struct state *from,
                                move_code move);
static enum lapse_status keep(struct search *search, struct state *state, move_code move);
static void tell_abstract(struct search *search, const uint64_t *words);
static enum lapse_status put_batch(struct search *search);
static enum lapse_status found(struct search *search, enum lapse_explore_break what, size_t at,
                               move_code move);
static bool is_of_store(enum lapse_explore_break what);
static size_t acting(const struct scope *scope, const struct state *state);
static void count(struct search *search);
static int64_t depth_of(const struct set *set);

enum lapse_status lapse_explore_check(const struct lapse_plan_explore *protocol,
                                      const char **ret_word, struct lapse_error *err) {
    struct scope scope;
    return lapse_explore_scope(protocol, protocol->faults_max, &scope, ret_word, err);
}

enum lapse_status lapse_explore(const struct lapse_explore_options *options,
                                struct lapse_explored *ret, struct lapse_error *err) {
    const lapse_alloc *alloc = options->alloc == NULL ? lapse_alloc_libc() : options->alloc;
    *ret = (struct lapse_explored){.alloc = alloc};
    struct search *search = lapse_alloc_zero(alloc, sizeof(*search));
    if (search == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for a search");
    }
    search->options = options;
    search->alloc = alloc;
    search->explored = ret;
    search->err = err;
    enum lapse_status status = begin(search);
    if (status == LAPSE_OK) {
        status = run(search);
    }
    if (status == LAPSE_OK) {
        count(search);
        ret->counts.waiting = ret->end == LAPSE_EXPLORE_ALL ? 0 : ret->counts.waiting;
        ret->counts.depth = depth_of(&search->set);
    } else {
        lapse_explored_free(ret);
    }
    finish(search);
    lapse_alloc_free(alloc, search, sizeof(*search));
    return status;
}

void lapse_explored_free(struct lapse_explored *explored) {
    for (size_t i = 0; i < explored->found_count; i++) {
        lapse_explore_trace_free(explored->alloc, &explored->found[i]);
    }
    explored->found_count = 0;
}

static enum lapse_status begin(struct search *search) {
    const struct lapse_explore_options *options = search->options;
    struct scope *scope = &search->scope;
    enum lapse_status status =
        lapse_explore_scope(options->protocol, options->faults_max, scope, NULL, search->err);
    if (status != LAPSE_OK) {
        return status;
    }
    uint64_t bytes_max = options->bytes_max == 0 ? bytes_default : options->bytes_max;
    lapse_explore_set_init(&search->set, search->alloc, scope->words, bytes_max);
    search->mover.scope = scope;
    status = lapse_explore_store_open(search->alloc, scope, &search->mover.store, search->err);
    if (status == LAPSE_OK && !options->every_call) {
        status = lapse_explore_answers_open(search->alloc, scope, &search->mover.answers);
    }
    if (status != LAPSE_OK) {
        return status;
    }
    status = ask_first(search);
    struct state state;
    memset(&state, 0, sizeof(state));
    return status == LAPSE_OK ? keep(search, &state, 0) : status;
}

/* Whether calls with the token of a grant that is over change nothing, whatever is held: then the
 * search need not carry them along. */
static enum lapse_status ask_first(struct search *search) {
    struct scope *scope = &search->scope;
    static const enum lapse_verb verbs[] = {LAPSE_VERB_EXTEND, LAPSE_VERB_RELEASE};
    bool idle = true;
    for (int32_t owner = OWNER_NONE; owner < scope->clients; owner++) {
        int32_t most = owner == OWNER_NONE ? 1 : scope->span;
        for (int32_t left = 1; left <= most; left++) {
            struct holding before = {owner, owner == OWNER_NONE ? 0 : left, false};
            for (size_t i = 0; i < 2; i++) {
                struct question question = {.verb = verbs[i], .token = RANK_STALE};
                struct reply reply;
                enum lapse_status status = lapse_explore_store_ask(search->mover.store, before,
                                                                   &question, &reply, search->err);
                if (status != LAPSE_OK) {
                    return status;
                }
                idle = idle &&
                       lapse_explore_judge(scope, before, &question, &reply) == LAPSE_BREAK_NONE;
            }
        }
    }
    scope->stale_is_idle = idle;
    return LAPSE_OK;
}

static void finish(struct search *search) {
    lapse_explore_answers_close(search->mover.answers);
    lapse_explore_store_close(search->mover.store);
    if (search->set.alloc != NULL) {
        lapse_explore_set_finish(&search->set);
    }
}

static enum lapse_status run(struct search *search) {
    enum lapse_status status = LAPSE_OK;
    for (size_t at = 0; at < search->set.count && !search->over && status == LAPSE_OK; at++) {
        status = expand(search, at);
        if (at % TOLD_EVERY == TOLD_EVERY - 1 && search->options->progress != NULL &&
            !search->over) {
            count(search);
            search->explored->counts.waiting = search->set.count - at - 1;
            bool on =
                search->options->progress(search->options->progress_ctx, &search->explored->counts);
            search->over = !on;
            search->explored->end = on ? LAPSE_EXPLORE_ALL : LAPSE_EXPLORE_STOPPED;
        }
    }
    return status;
}

static enum lapse_status expand(struct search *search, size_t at) {
    struct state state;
    lapse_explore_unpack(&search->scope, lapse_explore_set_at(&search->set, at), &state);
    search->explored->counts.two_act += acting(&search->scope, &state) > 1;
    size_t count = lapse_explore_moves(&search->scope, &state, search->moves);
    LAPSE_ASSERT(count <= MOVES_MAX);
    enum lapse_status status = LAPSE_OK;
    search->batch.parent = (uint32_t)at;
    if (search->options->abstract != NULL) {
        search->from =
            lapse_explore_abstract(&search->scope, lapse_explore_set_at(&search->set, at));
    }
    for (size_t i = 0; i < count && status == LAPSE_OK && !search->over; i++) {
        status = follow(search, at, &state, search->moves[i]);
    }
    return status == LAPSE_OK ? put_batch(search) : status;
}

static enum lapse_status follow(struct search *search, size_t at, const struct state *from,
                                move_code move) {
    struct state state = *from;
    struct told told;
    enum lapse_explore_break broken = LAPSE_BREAK_NONE;
    enum lapse_status status =
        lapse_explore_move(&search->mover, &state, move, &broken, &told, search->err);
    if (status != LAPSE_OK) {
        return status;
    }
    search->explored->counts.transitions++;
    bool was = acting(&search->scope, from) > 1;
    if (broken == LAPSE_BREAK_NONE && !was && acting(&search->scope, &state) > 1) {
        broken = LAPSE_BREAK_TWO_ACT;
    }
    if (broken != LAPSE_BREAK_NONE) {
        status = found(search, broken, at, move);
        if (status != LAPSE_OK || search->over || is_of_store(broken)) {
            return status;
        }
    }
    return keep(search, &state, move);
}

/* Makes a state canonical and puts it with those to be looked up. */
static enum lapse_status keep(struct search *search, struct state *state, move_code move) {
    struct batch *batch = &search->batch;
    uint8_t order[LAPSE_EXPLORE_CLIENTS_MAX];
    lapse_explore_pack(&search->scope, state, batch->states[batch->count], order);
    tell_abstract(search, batch->states[batch->count]);
    lapse_explore_set_batch(&search->set, batch, move);
    return batch->count == BATCH_MAX || search->set.count == 0 ? put_batch(search) : LAPSE_OK;
}

/* The first state is told as a move to itself. */
static void tell_abstract(struct search *search, const uint64_t *words) {
    if (search->options->abstract == NULL) {
        return;
    }
    uint64_t to = lapse_explore_abstract(&search->scope, words);
    uint64_t from = search->set.count == 0 ? to : search->from;
    search->options->abstract(search->options->abstract_ctx, from, to);
}

static enum lapse_status put_batch(struct search *search) {
    enum lapse_status status = lapse_explore_set_add(&search->set, &search->batch);
    if (status == LAPSE_LIMIT) {
        search->over = true;
        search->explored->end = LAPSE_EXPLORE_MEMORY;
        return LAPSE_OK;
    }
    if (status == LAPSE_NOMEM) {
        return lapse_error_set(search->err, status, "no memory for %zu states", search->set.count);
    }
    return status;
}

/* The first of its kind is the shortest. */
static enum lapse_status found(struct search *search, enum lapse_explore_break what, size_t at,
                               move_code move) {
    struct lapse_explored *explored = search->explored;
    for (size_t i = 0; i < explored->found_count; i++) {
        if (explored->found[i].what == what) {
            return LAPSE_OK;
        }
    }
    struct lapse_explore_found *place = &explored->found[explored->found_count];
    enum lapse_status status = lapse_explore_trace(search->alloc, &search->mover, &search->set, at,
                                                   move, place, search->err);
    if (status != LAPSE_OK) {
        return status;
    }
    place->what = what;
    explored->found_count++;
    if ((search->options->listed >> what & 1) == 0) {
        search->over = true;
        explored->end = LAPSE_EXPLORE_FOUND;
    }
    return LAPSE_OK;
}

/* A state that a wrong answer has led to is none of the protocol's. */
static bool is_of_store(enum lapse_explore_break what) {
    return what != LAPSE_BREAK_TWO_ACT && what != LAPSE_BREAK_LOWER;
}

static size_t acting(const struct scope *scope, const struct state *state) {
    size_t count = 0;
    for (int32_t i = 0; i < scope->clients; i++) {
        count += lapse_explore_may_act(scope, &state->clients[i]);
    }
    return count;
}

static void count(struct search *search) {
    struct lapse_explore_counts *counts = &search->explored->counts;
    counts->states = search->set.count;
    counts->digest = search->set.digest;
    counts->calls = lapse_explore_store_calls(search->mover.store);
}

/* The last state that was found lies as deep as any. */
static int64_t depth_of(const struct set *set) {
    int64_t depth = 0;
    for (size_t at = set->count > 0 ? set->count - 1 : 0; at > 0; at = set->parents[at]) {
        depth++;
    }
    return depth;
}
