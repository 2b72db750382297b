/* A walk through a protocol: moves drawn one after the other, each of those that are possible. What
 * a walk does often and what it never does is drawn first, so that walks differ by more than their
 * order. At its end all that is under way arrives, as a scenario says of each message what becomes
 * of it. */
#include "sim/choice.h"

#include "trace.h"

#include <string.h>

enum { MOST_WEIGHT = 5, TICK_WEIGHT = 4, SETTLE_MAX = 256 };

struct walk {
    struct scope scope;
    struct mover mover;
    struct path path;
    struct lapse_choices *choices;
    uint64_t weights[LAPSE_MOVES];
    move_code moves[MOVES_MAX];
    size_t move_count;
    bool unsure[LAPSE_EXPLORE_CLIENTS_MAX];  /* by name: its next acquire is by another owner */
    bool gave_up[LAPSE_EXPLORE_CLIENTS_MAX]; /* by name: since the last grain */
    bool over; /* the store has broken a contract: its state is none to go on from */
    struct lapse_explore_step *steps;
    size_t count, cap;
    struct lapse_error *err;
};

static enum lapse_status open_walk(struct walk *walk, const lapse_alloc *alloc,
                                   const struct lapse_plan_explore *protocol);
static enum lapse_status run_leg(struct walk *walk, const lapse_alloc *alloc,
                                 const struct lapse_explore_leg *leg);
static enum lapse_status settle(struct walk *walk);
static enum lapse_status go(struct walk *walk, move_code move);
static void note(struct walk *walk, const struct lapse_explore_step *step);
static void list_moves(struct walk *walk);
static bool has_words(const struct walk *walk, move_code move);
static bool clocks_have_words(const struct walk *walk, move_code move);
static move_code choose_move(struct walk *walk);
static bool is_settling(move_code move);
static enum lapse_status keep_steps(struct walk *walk, const lapse_alloc *alloc,
                                    struct lapse_explore_found *ret);

enum lapse_status lapse_explore_walk(const lapse_alloc *alloc,
                                     const struct lapse_plan_explore *protocol,
                                     const struct lapse_explore_leg *legs, size_t leg_count,
                                     struct lapse_explore_found *ret, struct lapse_error *err) {
    *ret = (struct lapse_explore_found){0};
    struct walk *walk = lapse_alloc_zero(alloc, sizeof(*walk));
    if (walk == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for a walk");
    }
    walk->err = err;
    walk->cap = SETTLE_MAX;
    for (size_t i = 0; i < leg_count; i++) {
        walk->cap += legs[i].moves;
    }
    enum lapse_status status = open_walk(walk, alloc, protocol);
    for (size_t i = 0; i < leg_count && status == LAPSE_OK; i++) {
        status = run_leg(walk, alloc, &legs[i]);
    }
    if (status == LAPSE_OK) {
        status = settle(walk);
    }
    if (status == LAPSE_OK) {
        status = keep_steps(walk, alloc, ret);
    }
    lapse_explore_answers_close(walk->mover.answers);
    lapse_explore_store_close(walk->mover.store);
    lapse_alloc_free(alloc, walk->steps, walk->cap * sizeof(*walk->steps));
    lapse_alloc_free(alloc, walk, sizeof(*walk));
    return status;
}

void lapse_explore_unwalk(const lapse_alloc *alloc, struct lapse_explore_found *walk) {
    lapse_explore_trace_free(alloc, walk);
}

static enum lapse_status open_walk(struct walk *walk, const lapse_alloc *alloc,
                                   const struct lapse_plan_explore *protocol) {
    enum lapse_status status =
        lapse_explore_scope(protocol, protocol->faults_max, &walk->scope, NULL, walk->err);
    if (status != LAPSE_OK) {
        return status;
    }
    walk->scope.stale_is_idle = true; /* as the search has found, or it did not end well */
    walk->mover.scope = &walk->scope;
    walk->steps = lapse_alloc_zero(alloc, walk->cap * sizeof(*walk->steps));
    if (walk->steps == NULL) {
        return lapse_error_set(walk->err, LAPSE_NOMEM, "no memory for a walk");
    }
    status = lapse_explore_store_open(alloc, &walk->scope, &walk->mover.store, walk->err);
    if (status == LAPSE_OK) {
        status = lapse_explore_answers_open(alloc, &walk->scope, &walk->mover.answers);
    }
    if (status == LAPSE_OK) {
        lapse_explore_path_begin(&walk->path, &walk->mover);
    }
    return status;
}

static enum lapse_status run_leg(struct walk *walk, const lapse_alloc *alloc,
                                 const struct lapse_explore_leg *leg) {
    enum lapse_status status = lapse_choices_open_seed(alloc, leg->seed, &walk->choices);
    for (size_t i = 1; status == LAPSE_OK && i < LAPSE_MOVES; i++) {
        uint64_t weight = lapse_choose(walk->choices, MOST_WEIGHT, LAPSE_CHOICE_GENERATE, 0);
        walk->weights[i] = i == LAPSE_MOVE_TICK ? weight + TICK_WEIGHT : weight * weight;
    }
    for (size_t i = 0; status == LAPSE_OK && i < leg->moves; i++) {
        list_moves(walk);
        if (walk->move_count == 0) {
            break;
        }
        status = go(walk, choose_move(walk));
    }
    lapse_choices_close(walk->choices);
    walk->choices = NULL;
    return status;
}

/* The first move that settles something, until there is none. */
static enum lapse_status settle(struct walk *walk) {
    enum lapse_status status = LAPSE_OK;
    bool more = true;
    for (int k = 0; more && k < SETTLE_MAX && status == LAPSE_OK; k++) {
        more = false;
        list_moves(walk);
        for (size_t i = 0; i < walk->move_count && !more && status == LAPSE_OK; i++) {
            if (is_settling(walk->moves[i])) {
                status = go(walk, walk->moves[i]);
                more = true;
            }
        }
    }
    return status;
}

static bool is_settling(move_code move) {
    enum lapse_explore_kind kind = move_kind(move);
    return kind == LAPSE_MOVE_ARRIVE || kind == LAPSE_MOVE_REPLY || kind == LAPSE_MOVE_LATE ||
           kind == LAPSE_MOVE_LAND || kind == LAPSE_MOVE_WAKE;
}

static enum lapse_status go(struct walk *walk, move_code move) {
    LAPSE_ASSERT(walk->count < walk->cap);
    struct lapse_explore_step *step = &walk->steps[walk->count++];
    enum lapse_status status = lapse_explore_path_follow(&walk->path, move, step, walk->err);
    enum lapse_explore_break broken = walk->path.broken;
    walk->over = broken != LAPSE_BREAK_NONE && broken != LAPSE_BREAK_LOWER;
    if (status == LAPSE_OK) {
        note(walk, step);
    }
    return status;
}

static void note(struct walk *walk, const struct lapse_explore_step *step) {
    if (step->kind == LAPSE_MOVE_TICK) {
        memset(walk->gave_up, 0, sizeof(walk->gave_up));
        return;
    }
    bool gives_up = step->kind == LAPSE_MOVE_GIVE_UP || step->kind == LAPSE_MOVE_LOSE_CALL ||
                    step->reply_lost;
    walk->gave_up[step->client] = walk->gave_up[step->client] || gives_up;
    walk->unsure[step->client] =
        step->kind != LAPSE_MOVE_CRASH &&
        (walk->unsure[step->client] || (gives_up && step->verb == LAPSE_VERB_RELEASE));
}

static void list_moves(struct walk *walk) {
    size_t kept = 0, count = 0;
    if (!walk->over) {
        count = lapse_explore_moves(&walk->scope, &walk->path.state, walk->moves);
    }
    for (size_t i = 0; i < count; i++) {
        if (has_words(walk, walk->moves[i])) {
            walk->moves[kept++] = walk->moves[i];
        }
    }
    walk->move_count = kept;
}

/* Whether a scenario can say it. */
static bool has_words(const struct walk *walk, move_code move) {
    enum lapse_explore_kind kind = move_kind(move);
    if (kind == LAPSE_MOVE_TICK) {
        return clocks_have_words(walk, move);
    }
    const struct client *client = &walk->path.state.clients[move_client(move)];
    uint8_t name = walk->path.names[move_client(move)];
    if (kind == LAPSE_MOVE_ACQUIRE) {
        return !(walk->scope.fresh_owner && walk->unsure[name]);
    }
    /* A client that is paused gives nothing up: it would know of the loss when it wakes. */
    return kind != LAPSE_MOVE_LOSE_CALL || !client->paused;
}

/* Clocks go no more than twice as fast as true time. How long a client waits for an answer goes by
 * its clock, so that of one that gives up in this grain, or may later, goes right. */
static bool clocks_have_words(const struct walk *walk, move_code move) {
    for (int32_t i = 0; i < walk->scope.clients; i++) {
        int32_t moved = move_clock(move, i);
        bool waits = walk->path.state.clients[i].call != CALL_NONE && walk->scope.loss;
        if (moved > 2 || (moved != 1 && (waits || walk->gave_up[walk->path.names[i]]))) {
            return false;
        }
    }
    return true;
}

/* First the kind, by its weight, and then one of it: clocks have many ways to go. Once in a while,
 * and where all that is possible weighs nothing, any kind will do. */
static move_code choose_move(struct walk *walk) {
    uint64_t counts[LAPSE_MOVES] = {0}, sum = 0;
    enum lapse_explore_kind kind = move_kind(walk->moves[0]);
    for (size_t i = 0; i < walk->move_count; i++) {
        counts[move_kind(walk->moves[i])]++;
    }
    for (size_t i = 1; i < LAPSE_MOVES; i++) {
        sum += counts[i] > 0 ? walk->weights[i] : 0;
    }
    uint64_t drawn = lapse_choose(walk->choices, sum + 1, LAPSE_CHOICE_GENERATE, 1);
    bool any = drawn == sum;
    for (size_t i = 1; i < LAPSE_MOVES && !any; i++) {
        uint64_t weight = counts[i] > 0 ? walk->weights[i] : 0;
        if (drawn < weight) {
            kind = (enum lapse_explore_kind)i;
            break;
        }
        drawn -= weight;
    }
    uint64_t among = any ? walk->move_count : counts[kind];
    uint64_t which = lapse_choose(walk->choices, among, LAPSE_CHOICE_GENERATE, 2);
    for (size_t i = 0; i < walk->move_count; i++) {
        bool fits = any || move_kind(walk->moves[i]) == kind;
        if (fits && which-- == 0) {
            return walk->moves[i];
        }
    }
    return walk->moves[0];
}

/* In a block of their own, as long as they are many. */
static enum lapse_status keep_steps(struct walk *walk, const lapse_alloc *alloc,
                                    struct lapse_explore_found *ret) {
    if (walk->count == 0) {
        return LAPSE_OK;
    }
    ret->steps = lapse_alloc_zero(alloc, walk->count * sizeof(*ret->steps));
    if (ret->steps == NULL) {
        return lapse_error_set(walk->err, LAPSE_NOMEM, "no memory for a walk");
    }
    memcpy(ret->steps, walk->steps, walk->count * sizeof(*ret->steps));
    ret->step_count = walk->count;
    return LAPSE_OK;
}
