/* A path, made again from the start: canonical states have sorted clients and ranked tokens, so the
 * moves are made once more and clients and tokens are followed by name. */
#include "trace.h"

#include <string.h>

static void follow_token(struct path *path, const struct told *told,
                         struct lapse_explore_step *step);
static void rename_clients(struct path *path);

enum lapse_status lapse_explore_trace(const lapse_alloc *alloc, const struct mover *mover,
                                      const struct set *set, size_t at, move_code last,
                                      struct lapse_explore_found *ret, struct lapse_error *err) {
    size_t count = 1;
    for (size_t i = at; i > 0; i = set->parents[i]) {
        count++;
    }
    struct lapse_explore_step *steps = lapse_alloc_zero(alloc, count * sizeof(*steps));
    move_code *moves = lapse_alloc_zero(alloc, count * sizeof(*moves));
    enum lapse_status status = LAPSE_OK;
    if (steps == NULL || moves == NULL) {
        status = lapse_error_set(err, LAPSE_NOMEM, "no memory for a path of %zu moves", count);
    } else {
        moves[count - 1] = last;
        for (size_t i = at, place = count - 1; i > 0; i = set->parents[i]) {
            moves[--place] = set->moves[i];
        }
    }
    struct path path;
    lapse_explore_path_begin(&path, mover);
    for (size_t i = 0; i < count && status == LAPSE_OK; i++) {
        status = lapse_explore_path_follow(&path, moves[i], &steps[i], err);
    }
    lapse_alloc_free(alloc, moves, count * sizeof(*moves));
    ret->step_count = count;
    ret->steps = steps;
    if (status != LAPSE_OK) {
        lapse_explore_trace_free(alloc, ret);
    }
    return status;
}

void lapse_explore_trace_free(const lapse_alloc *alloc, struct lapse_explore_found *found) {
    lapse_alloc_free(alloc, found->steps, found->step_count * sizeof(*found->steps));
    *found = (struct lapse_explore_found){0};
}

void lapse_explore_path_begin(struct path *path, const struct mover *mover) {
    *path = (struct path){.mover = mover};
    for (uint8_t i = 0; i < LAPSE_EXPLORE_CLIENTS_MAX; i++) {
        path->names[i] = i;
    }
    rename_clients(path);
}

enum lapse_status lapse_explore_path_follow(struct path *path, move_code move,
                                            struct lapse_explore_step *ret,
                                            struct lapse_error *err) {
    const struct scope *scope = path->mover->scope;
    bool ticks = move_kind(move) == LAPSE_MOVE_TICK;
    *ret = (struct lapse_explore_step){.kind = move_kind(move), .client = -1};
    if (!ticks) {
        ret->client = path->names[move_client(move)];
    }
    for (int32_t i = 0; i < scope->clients && ticks; i++) {
        ret->clock[path->names[i]] = (int8_t)move_clock(move, i);
    }
    path->tick += ticks;
    ret->tick = path->tick;
    struct told told;
    enum lapse_status status =
        lapse_explore_move(path->mover, &path->state, move, &path->broken, &told, err);
    if (status != LAPSE_OK) {
        return status;
    }
    ret->verb = told.verb;
    ret->asked = told.asked;
    ret->status = told.status;
    ret->reply_lost = !ticks && move_loses(move);
    if (!ticks) {
        follow_token(path, &told, ret);
    }
    rename_clients(path);
    return LAPSE_OK;
}

/* Which grant a move is about, by the number that it was given. */
static void follow_token(struct path *path, const struct told *told,
                         struct lapse_explore_step *step) {
    int32_t who = step->client;
    path->token += told->granted;
    switch (step->kind) {
    case LAPSE_MOVE_ACQUIRE:
    case LAPSE_MOVE_EXTEND:
    case LAPSE_MOVE_RELEASE:
        path->asked[who] = step->kind == LAPSE_MOVE_ACQUIRE ? 0 : path->tokens[who];
        break;
    case LAPSE_MOVE_WRITE:
        path->written[who] = path->tokens[who];
        break;
    case LAPSE_MOVE_CRASH:
    case LAPSE_MOVE_GIVE_UP:
        path->late[who] = path->asked[who];
        break;
    default:
        break;
    }
    bool written = step->kind == LAPSE_MOVE_WRITE || step->kind == LAPSE_MOVE_LAND ||
                   step->kind == LAPSE_MOVE_LOSE_WRITE;
    bool late = step->kind == LAPSE_MOVE_LATE || step->kind == LAPSE_MOVE_LOSE_LATE;
    if (told->asked && told->verb == LAPSE_VERB_ACQUIRE && told->status == LAPSE_OK && !late) {
        path->asked[who] = path->token; /* given now, or held already: the last one */
    }
    bool answered = step->kind == LAPSE_MOVE_REPLY || (told->asked && !step->reply_lost);
    if (answered && told->verb == LAPSE_VERB_ACQUIRE && told->status == LAPSE_OK && !late) {
        path->tokens[who] = path->asked[who];
    }
    step->token = written ? path->written[who] : late ? path->late[who] : path->asked[who];
    if (late && told->granted) {
        step->token = path->token;
    }
}

/* The state becomes canonical; names go with their clients. */
static void rename_clients(struct path *path) {
    uint64_t words[WORDS_MAX];
    uint8_t order[LAPSE_EXPLORE_CLIENTS_MAX], names[LAPSE_EXPLORE_CLIENTS_MAX];
    const struct scope *scope = path->mover->scope;
    lapse_explore_pack(scope, &path->state, words, order);
    lapse_explore_unpack(scope, words, &path->state);
    memcpy(names, path->names, sizeof(names));
    for (int32_t i = 0; i < scope->clients; i++) {
        path->names[i] = names[order[i]];
    }
}
