/* What a move leads to. */
#include "move.h"

#include "model.h"

#include <string.h>

/* A question by what is held and what is asked: REAP, an acquire by each owner, an extend and a
 * release of each rank. */
enum { ASKED_MAX = 2 + LAPSE_EXPLORE_CLIENTS_MAX + 2 * RANKS_MAX };
struct answer {
    bool known;
    enum lapse_explore_break broken;
    struct reply reply;
};
struct answers {
    const lapse_alloc *alloc;
    size_t count;
    struct answer items[];
};

struct making {
    const struct mover *mover;
    struct state *state;
    enum lapse_explore_break broken;
    struct told *told;
    struct lapse_error *err;
};

static void befall(struct making *making, struct client *client, move_code move);
static enum lapse_status send(struct making *making, int32_t who, enum lapse_verb verb, bool loses);
static enum lapse_status decide(struct making *making, int32_t who, uint8_t call, uint8_t token,
                                bool by_other, struct reply *ret);
static enum lapse_status ask(struct making *making, struct holding before,
                             const struct question *question, struct reply *ret);
static struct answer *answer_of(const struct making *making, struct holding before,
                                const struct question *question);
static enum lapse_status arrive(struct making *making, int32_t who);
static void answered(const struct making *making, struct client *client, const struct reply *reply);
static void told_reply(const struct making *making, struct client *client);
static enum lapse_status late(struct making *making, int32_t who);
static void begin_write(struct making *making, struct client *client);
static void land(struct making *making, struct client *client);
static void lose_call(const struct scope *scope, struct client *client);
static void give_up(const struct scope *scope, struct client *client);
static void reown(struct client *client);
static void crash(const struct scope *scope, struct client *client);
static enum lapse_status tick(struct making *making, move_code move);
static uint8_t count_down(const struct scope *scope, uint8_t countdown, int32_t by);
static void take(struct making *making, const struct reply *reply);
static struct holding held(const struct scope *scope, const struct state *state);
static bool is_fault(const struct mover *mover, move_code move);
static enum lapse_verb verb_of(uint8_t call);

enum lapse_status lapse_explore_answers_open(const lapse_alloc *alloc, const struct scope *scope,
                                             struct answers **ret) {
    size_t count = ASKED_MAX * (1 + (size_t)(scope->clients + 1) * (size_t)scope->span);
    struct answers *answers =
        lapse_alloc_zero(alloc, sizeof(*answers) + count * sizeof(*answers->items));
    if (answers == NULL) {
        return LAPSE_NOMEM;
    }
    answers->alloc = alloc;
    answers->count = count;
    *ret = answers;
    return LAPSE_OK;
}

void lapse_explore_answers_close(struct answers *answers) {
    if (answers != NULL) {
        lapse_alloc_free(answers->alloc, answers,
                         sizeof(*answers) + answers->count * sizeof(*answers->items));
    }
}

enum lapse_status lapse_explore_move(const struct mover *mover, struct state *state, move_code move,
                                     enum lapse_explore_break *ret_break, struct told *ret_told,
                                     struct lapse_error *err) {
    struct making making = {.mover = mover, .state = state, .told = ret_told, .err = err};
    int32_t who = move_client(move);
    enum lapse_status status = LAPSE_OK;
    *ret_told = (struct told){0};
    if (mover->scope->faults_max >= 0 && is_fault(mover, move)) {
        state->faults++;
    }
    switch (move_kind(move)) {
    case LAPSE_MOVE_ACQUIRE:
        status = send(&making, who, LAPSE_VERB_ACQUIRE, move_loses(move));
        break;
    case LAPSE_MOVE_EXTEND:
        status = send(&making, who, LAPSE_VERB_EXTEND, move_loses(move));
        break;
    case LAPSE_MOVE_RELEASE:
        status = send(&making, who, LAPSE_VERB_RELEASE, move_loses(move));
        break;
    case LAPSE_MOVE_WRITE:
        begin_write(&making, &state->clients[who]);
        break;
    case LAPSE_MOVE_ARRIVE:
        status = arrive(&making, who);
        break;
    case LAPSE_MOVE_LATE:
        status = late(&making, who);
        break;
    case LAPSE_MOVE_TICK:
        status = tick(&making, move);
        break;
    default:
        befall(&making, &state->clients[who], move);
    }
    for (int32_t i = 0; i < mover->scope->clients; i++) {
        lapse_explore_settle(mover->scope, &state->clients[i]);
    }
    *ret_break = making.broken;
    return status;
}

/* What happens to one client and asks nobody. */
static void befall(struct making *making, struct client *client, move_code move) {
    const struct scope *scope = making->mover->scope;
    struct told *told = making->told;
    switch (move_kind(move)) {
    case LAPSE_MOVE_REPLY:
        told_reply(making, client);
        break;
    case LAPSE_MOVE_LAND:
        land(making, client);
        break;
    case LAPSE_MOVE_LOSE_CALL:
        told->verb = verb_of(client->call);
        lose_call(scope, client);
        break;
    case LAPSE_MOVE_LOSE_LATE:
        told->verb = verb_of(client->late);
        client->late = CALL_NONE;
        break;
    case LAPSE_MOVE_LOSE_WRITE:
        client->writing = false;
        break;
    case LAPSE_MOVE_GIVE_UP:
        told->verb = verb_of(client->call);
        give_up(scope, client);
        break;
    case LAPSE_MOVE_CRASH:
        crash(scope, client);
        break;
    default:
        client->paused = move_kind(move) == LAPSE_MOVE_PAUSE;
    }
}

/* A call leaves. The countdown of what it may bring runs from here, by the client's own clock. */
static enum lapse_status send(struct making *making, int32_t who, enum lapse_verb verb,
                              bool loses) {
    const struct scope *scope = making->mover->scope;
    struct client *client = &making->state->clients[who];
    making->told->verb = verb;
    client->call = verb == LAPSE_VERB_ACQUIRE  ? CALL_ACQUIRE
                   : verb == LAPSE_VERB_EXTEND ? CALL_EXTEND
                                               : CALL_RELEASE;
    client->call_rem = (uint8_t)scope->fresh;
    client->call_token = client->token;
    if (verb != LAPSE_VERB_ACQUIRE) {
        making->told->about_token = true;
        making->told->token = client->token;
    }
    if (verb == LAPSE_VERB_RELEASE) {
        client->believes = false;
    }
    if (scope->delay) {
        return LAPSE_OK;
    }
    enum lapse_status status = arrive(making, who);
    if (status == LAPSE_OK && client->call != CALL_NONE) {
        if (loses) {
            lose_call(scope, client);
        } else {
            told_reply(making, client);
        }
    }
    return status;
}

/* A request is with the store. The state becomes what the store's rows say. */
static enum lapse_status decide(struct making *making, int32_t who, uint8_t call, uint8_t token,
                                bool by_other, struct reply *ret) {
    struct question question = {.verb = verb_of(call), .owner = by_other ? OWNER_OTHER : who};
    making->told->verb = question.verb;
    making->told->asked = true;
    if (call != CALL_ACQUIRE) {
        question.token = token;
        making->told->about_token = true;
        making->told->token = token;
    }
    enum lapse_status status =
        ask(making, held(making->mover->scope, making->state), &question, ret);
    if (status == LAPSE_OK) {
        making->told->status = ret->status;
        making->told->granted = call == CALL_ACQUIRE && ret->status == LAPSE_OK && ret->token > 0;
        take(making, ret);
    }
    return status;
}

static enum lapse_status ask(struct making *making, struct holding before,
                             const struct question *question, struct reply *ret) {
    const struct mover *mover = making->mover;
    struct answer *answer = NULL;
    if (mover->answers != NULL) {
        answer = answer_of(making, before, question);
    }
    if (answer != NULL && answer->known) {
        *ret = answer->reply;
        making->broken = answer->broken;
        return LAPSE_OK;
    }
    enum lapse_status status =
        lapse_explore_store_ask(mover->store, before, question, ret, making->err);
    if (status != LAPSE_OK) {
        return status;
    }
    making->broken = lapse_explore_judge(mover->scope, before, question, ret);
    if (before.owner == OWNER_NONE && making->broken == LAPSE_BREAK_NONE) {
        /* Whether the reaper has been there makes no difference. */
        struct reply again;
        before.unreaped = true;
        status = lapse_explore_store_ask(mover->store, before, question, &again, making->err);
        if (status != LAPSE_OK) {
            return status;
        }
        making->broken = lapse_explore_judge(mover->scope, before, question, &again);
    }
    if (answer != NULL) {
        *answer = (struct answer){true, making->broken, *ret};
    }
    return LAPSE_OK;
}

static struct answer *answer_of(const struct making *making, struct holding before,
                                const struct question *question) {
    const struct scope *scope = making->mover->scope;
    size_t asked = 0;
    if (question->verb == LAPSE_VERB_ACQUIRE) {
        asked = (size_t)(2 + question->owner);
    } else if (question->verb != LAPSE_VERB_REAP) {
        size_t verb = question->verb == LAPSE_VERB_RELEASE ? RANKS_MAX : 0;
        asked = 2 + LAPSE_EXPLORE_CLIENTS_MAX + verb + question->token;
    }
    size_t row = 0;
    if (before.owner != OWNER_NONE) {
        row = 1 + (size_t)(before.owner + 1) * (size_t)scope->span + (size_t)before.left - 1;
    }
    LAPSE_ASSERT(asked < ASKED_MAX);
    return &making->mover->answers->items[row * ASKED_MAX + asked];
}

static enum lapse_status arrive(struct making *making, int32_t who) {
    struct client *client = &making->state->clients[who];
    struct reply reply;
    enum lapse_status status = decide(making, who, client->call, client->call_token, false, &reply);
    if (status == LAPSE_OK) {
        answered(making, client, &reply);
    }
    return status;
}

/* The answer is on its way. One that changes nothing at the client has no way to go. */
static void answered(const struct making *making, struct client *client,
                     const struct reply *reply) {
    const struct scope *scope = making->mover->scope;
    uint8_t call = client->call;
    client->call = CALL_NONE;
    if (reply->status != LAPSE_OK) {
        client->call = call == CALL_EXTEND ? CALL_DENIED : CALL_NONE;
        return;
    }
    if (call == CALL_RELEASE) {
        return;
    }
    /* The deadline is reckoned from the sending and from what was left. */
    int64_t missing = scope->span - reply->left_ns / scope->grain_ns;
    client->call = call == CALL_ACQUIRE ? CALL_GRANTED : CALL_EXTENDED;
    client->call_rem = count_down(scope, client->call_rem, (int32_t)missing);
    client->call_token = call == CALL_ACQUIRE ? 0 : client->call_token;
}

static void told_reply(const struct making *making, struct client *client) {
    switch (client->call) {
    case CALL_GRANTED:
        making->told->verb = LAPSE_VERB_ACQUIRE;
        making->told->about_token = true;
        making->told->token = client->call_token;
        client->believes = true;
        client->token = client->call_token;
        client->rem = client->call_rem;
        break;
    case CALL_EXTENDED:
        making->told->verb = LAPSE_VERB_EXTEND;
        client->rem = client->call_rem;
        break;
    default:
        making->told->verb = LAPSE_VERB_EXTEND;
        if (!making->told->asked) {
            making->told->status = LAPSE_LOST;
        }
        client->believes = false;
    }
    client->call = CALL_NONE;
}

static enum lapse_status late(struct making *making, int32_t who) {
    struct client *client = &making->state->clients[who];
    struct reply reply;
    uint8_t call = client->late;
    client->late = CALL_NONE;
    return decide(making, who, call, client->late_token, client->late_other, &reply);
}

static void begin_write(struct making *making, struct client *client) {
    client->writing = true;
    client->write_token = client->token;
    making->told->about_token = true;
    making->told->token = client->token;
    if (!making->mover->scope->delay) {
        land(making, client);
    }
}

/* A write reaches the resource. */
static void land(struct making *making, struct client *client) {
    const struct scope *scope = making->mover->scope;
    struct state *state = making->state;
    uint8_t token = client->write_token;
    bool lower = state->applied && token > state->highest;
    making->told->asked = true;
    making->told->about_token = true;
    making->told->token = token;
    client->writing = false;
    if (lower && scope->fenced) {
        making->told->status = LAPSE_FENCED;
        return;
    }
    if (lower) {
        making->broken = LAPSE_BREAK_LOWER;
        return;
    }
    state->applied = true;
    state->highest = token;
}

static void lose_call(const struct scope *scope, struct client *client) {
    bool release = client->call == CALL_RELEASE;
    client->call = CALL_NONE;
    if (release && scope->fresh_owner) {
        reown(client);
    }
}

/* A request that nobody waits for any more; an answer to nobody is nothing. */
static void give_up(const struct scope *scope, struct client *client) {
    bool release = client->call == CALL_RELEASE;
    if (release || client->call == CALL_ACQUIRE || client->call == CALL_EXTEND) {
        client->late = client->call;
        client->late_token = client->call_token;
        client->late_other = false;
    }
    client->call = CALL_NONE;
    if (release && scope->fresh_owner) {
        reown(client);
    }
}

/* The client goes on under another owner text. What it holds, and what it has sent and does not
 * wait for, is that of one who is gone. */
static void reown(struct client *client) {
    client->owns = false;
    client->late_other = true;
}

/* The next incarnation knows nothing. */
static void crash(const struct scope *scope, struct client *client) {
    give_up(scope, client);
    reown(client);
    client->believes = client->paused = false;
}

static enum lapse_status tick(struct making *making, move_code move) {
    const struct scope *scope = making->mover->scope;
    struct state *state = making->state;
    struct question question = {.verb = LAPSE_VERB_REAP};
    struct reply reply;
    enum lapse_status status = ask(making, held(scope, state), &question, &reply);
    if (status != LAPSE_OK) {
        return status;
    }
    take(making, &reply);
    for (int32_t i = 0; i < scope->clients; i++) {
        struct client *client = &state->clients[i];
        int32_t moved = move_clock(move, i);
        client->off = (int8_t)(client->off + moved - 1);
        client->rem = count_down(scope, client->rem, moved);
        client->call_rem = count_down(scope, client->call_rem, moved);
    }
    return LAPSE_OK;
}

static uint8_t count_down(const struct scope *scope, uint8_t countdown, int32_t by) {
    int32_t left = (int32_t)countdown - by;
    return (uint8_t)(left > scope->floor ? left : scope->floor);
}

/* The state's grant becomes what the store holds. A grant that comes or goes makes all tokens of
 * before older. */
static void take(struct making *making, const struct reply *reply) {
    struct state *state = making->state;
    bool given = reply->counter > 0;
    bool gone = state->live && reply->after.owner == OWNER_NONE;
    if (given || gone) {
        lapse_explore_age(making->mover->scope, state);
    }
    state->live = reply->after.owner != OWNER_NONE;
    state->left = (uint8_t)reply->after.left;
    for (int32_t i = 0; i < making->mover->scope->clients; i++) {
        state->clients[i].owns = state->live && reply->after.owner == i;
    }
}

static struct holding held(const struct scope *scope, const struct state *state) {
    struct holding holding = {state->live ? OWNER_OTHER : OWNER_NONE, state->left, false};
    for (int32_t i = 0; i < scope->clients && state->live; i++) {
        holding.owner = state->clients[i].owns ? i : holding.owner;
    }
    return holding;
}

static bool is_fault(const struct mover *mover, move_code move) {
    switch (move_kind(move)) {
    case LAPSE_MOVE_LOSE_CALL:
    case LAPSE_MOVE_LOSE_LATE:
    case LAPSE_MOVE_LOSE_WRITE:
    case LAPSE_MOVE_PAUSE:
    case LAPSE_MOVE_CRASH:
        return true;
    default:
        return !mover->scope->delay && move_loses(move);
    }
}

static enum lapse_verb verb_of(uint8_t call) {
    switch (call) {
    case CALL_ACQUIRE:
    case CALL_GRANTED:
        return LAPSE_VERB_ACQUIRE;
    case CALL_RELEASE:
        return LAPSE_VERB_RELEASE;
    default:
        return LAPSE_VERB_EXTEND;
    }
}
