/* The model of a lease: who holds it, under which token, by which term. */
#include "linear_models.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum word { OWNER, TOKEN, TERM, LAST_TOKEN, EPHEMERAL, WORDS };
enum { NOBODY = -1, UNTOLD = -1 };

static void start(const void *ctx, int64_t *ret_state);
static bool step(const void *ctx, const int64_t *state, const struct lapse_linear_call *call,
                 unsigned branch, int64_t *ret_state);
static bool acquire(const struct lapse_linear_call *call, int64_t *state);
static bool extend(const struct lapse_linear_call *call, int64_t *state);
static bool release(const struct lapse_linear_call *call, int64_t *state);
static bool inspect(const struct lapse_linear_call *call, int64_t *state);
static bool grant(const struct lapse_linear_call *call, int64_t *state);
static bool names(const struct lapse_linear_call *call, const int64_t *state);
static bool tells(const struct lapse_linear_call *call, int64_t *state);
static bool token_is(int64_t token, int64_t *state);
static void free_name(int64_t *ret_state);
static void clear(int64_t *state);
static bool same(const void *ctx, const struct lapse_linear_call *a,
                 const struct lapse_linear_call *b);
static bool looks(const void *ctx, const int64_t *state, const struct lapse_linear_call *call);
static bool changes(const void *ctx, const struct lapse_linear_call *call);

lapse_linear_model lapse_lease_model(const struct lapse_linear_clocks *clocks) {
    return (lapse_linear_model){.ctx = clocks,
                                .state_words = WORDS,
                                .start = start,
                                .step = step,
                                .same = same,
                                .looks = looks,
                                .changes = changes};
}

static void start(const void *ctx, int64_t *ret_state) {
    const struct lapse_linear_clocks *clocks = ctx;
    free_name(ret_state);
    ret_state[LAST_TOKEN] = clocks->tokens_from_0 ? -1 : 0;
}

/* Nobody holds it and nothing is known of a token. */
static void free_name(int64_t *ret_state) {
    memset(ret_state, 0, WORDS * sizeof(*ret_state));
    ret_state[OWNER] = NOBODY;
}

static bool step(const void *ctx, const int64_t *state, const struct lapse_linear_call *call,
                 unsigned branch, int64_t *ret_state) {
    (void)ctx;
    (void)branch;
    memcpy(ret_state, state, WORDS * sizeof(*state));
    switch (call->op) {
    case LAPSE_LEASE_ACQUIRE:
        return acquire(call, ret_state);
    case LAPSE_LEASE_EXTEND:
        return extend(call, ret_state);
    case LAPSE_LEASE_RELEASE:
        return release(call, ret_state);
    case LAPSE_LEASE_INSPECT:
        return inspect(call, ret_state);
    case LAPSE_LEASE_END:
        if (ret_state[OWNER] != NOBODY && ret_state[TERM] == call->arg[LAPSE_LEASE_SELF]) {
            clear(ret_state);
        }
        return true;
    default:
        if (ret_state[EPHEMERAL] != 0) {
            clear(ret_state);
        }
        return true;
    }
}

static bool acquire(const struct lapse_linear_call *call, int64_t *state) {
    bool held = state[OWNER] != NOBODY;
    bool own = held && state[OWNER] == call->arg[LAPSE_LEASE_OWNER];
    if (call->open) {
        return held || grant(call, state);
    }
    if (call->arg[LAPSE_LEASE_ANSWER] == LAPSE_HELD) {
        return held && !own && tells(call, state);
    }
    if (call->arg[LAPSE_LEASE_AGAIN] != UNTOLD && call->arg[LAPSE_LEASE_AGAIN] != (own ? 1 : 0)) {
        return false;
    }
    if (own) {
        return tells(call, state);
    }
    return !held && grant(call, state);
}

static bool extend(const struct lapse_linear_call *call, int64_t *state) {
    bool held = state[OWNER] != NOBODY;
    bool done = held && names(call, state);
    switch (call->open ? (int64_t)LAPSE_OK : call->arg[LAPSE_LEASE_ANSWER]) {
    case LAPSE_LOST:
        return !held;
    case LAPSE_NOT_OWNER:
        return held && (!done || state[TOKEN] == UNTOLD);
    default:
        break;
    }
    if (done && (token_is(call->arg[LAPSE_LEASE_TOKEN], state) || call->open) &&
        (call->open || tells(call, state))) {
        state[TERM] = call->arg[LAPSE_LEASE_SELF];
        return true;
    }
    return call->open;
}

static bool release(const struct lapse_linear_call *call, int64_t *state) {
    bool held = state[OWNER] != NOBODY;
    bool done = held && names(call, state);
    switch (call->open ? (int64_t)LAPSE_OK : call->arg[LAPSE_LEASE_ANSWER]) {
    case LAPSE_ABSENT:
        return !held;
    case LAPSE_NOT_OWNER:
        return held && (!done || state[TOKEN] == UNTOLD);
    default:
        break;
    }
    if (done && token_is(call->arg[LAPSE_LEASE_TOKEN], state)) {
        clear(state);
        return true;
    }
    return call->open;
}

static bool inspect(const struct lapse_linear_call *call, int64_t *state) {
    bool held = state[OWNER] != NOBODY;
    if (call->open) {
        return true;
    }
    if (call->arg[LAPSE_LEASE_ANSWER] != LAPSE_OK) {
        return !held;
    }
    return held && tells(call, state);
}

/* A new grant has a token above all that were told before. */
static bool grant(const struct lapse_linear_call *call, int64_t *state) {
    int64_t token = call->open ? (int64_t)UNTOLD : call->arg[LAPSE_LEASE_TOLD_TOKEN];
    if (token != UNTOLD && token <= state[LAST_TOKEN]) {
        return false;
    }
    state[OWNER] = call->arg[LAPSE_LEASE_OWNER];
    state[TOKEN] = token;
    state[TERM] = call->arg[LAPSE_LEASE_SELF];
    state[LAST_TOKEN] = token != UNTOLD ? token : state[LAST_TOKEN];
    state[EPHEMERAL] = call->arg[LAPSE_LEASE_EPHEMERAL];
    return true;
}

/* Whether the call names the live grant, or, where its token is not known, may name it. */
static bool names(const struct lapse_linear_call *call, const int64_t *state) {
    int64_t token = call->arg[LAPSE_LEASE_TOKEN];
    if (token == UNTOLD) {
        return call->arg[LAPSE_LEASE_OWNER] == state[OWNER];
    }
    return state[TOKEN] == UNTOLD ? token > state[LAST_TOKEN] : token == state[TOKEN];
}

/* The live grant is what the answer tells of it. */
static bool tells(const struct lapse_linear_call *call, int64_t *state) {
    int64_t owner = call->arg[LAPSE_LEASE_TOLD_OWNER];
    return (owner == UNTOLD || owner == state[OWNER]) &&
           token_is(call->arg[LAPSE_LEASE_TOLD_TOKEN], state);
}

/* An unknown token becomes known. */
static bool token_is(int64_t token, int64_t *state) {
    if (token == UNTOLD || state[TOKEN] != UNTOLD) {
        return token == UNTOLD || token == state[TOKEN];
    }
    if (token <= state[LAST_TOKEN]) {
        return false;
    }
    state[TOKEN] = state[LAST_TOKEN] = token;
    return true;
}

static void clear(int64_t *state) {
    int64_t last_token = state[LAST_TOKEN];
    free_name(state);
    state[LAST_TOKEN] = last_token;
}

static bool same(const void *ctx, const struct lapse_linear_call *a,
                 const struct lapse_linear_call *b) {
    (void)ctx;
    return a->op == LAPSE_LEASE_RELEASE && b->op == LAPSE_LEASE_RELEASE &&
           a->arg[LAPSE_LEASE_OWNER] == b->arg[LAPSE_LEASE_OWNER] &&
           a->arg[LAPSE_LEASE_TOKEN] == b->arg[LAPSE_LEASE_TOKEN];
}

static bool looks(const void *ctx, const int64_t *state, const struct lapse_linear_call *call) {
    (void)ctx;
    if (call->op == LAPSE_LEASE_END) {
        return state[OWNER] == NOBODY || state[TERM] != call->arg[LAPSE_LEASE_SELF];
    }
    return call->op == LAPSE_LEASE_INSPECT ||
           (call->op != LAPSE_LEASE_TENURE && call->arg[LAPSE_LEASE_ANSWER] != LAPSE_OK) ||
           (call->op == LAPSE_LEASE_ACQUIRE && call->arg[LAPSE_LEASE_AGAIN] == 1);
}

static bool changes(const void *ctx, const struct lapse_linear_call *call) {
    (void)ctx;
    return call->op != LAPSE_LEASE_INSPECT;
}

char *lapse_lease_print(const struct lapse_linear_store *store,
                        const struct lapse_linear_call *call, char *buf) {
    static const char *const words[] = {"acquire", "extend", "release", "inspect"};
    char owner[96] = "", token[40] = "", told[40] = "", told_owner[96] = "", text[64];
    if (call->op >= LAPSE_LEASE_END) {
        (void)snprintf(buf, LAPSE_LINEAR_CALL_TEXT_MAX, "%s",
                       call->op == LAPSE_LEASE_END ? "the end of its term" : "the end of a tenure");
        return buf;
    }
    if (call->arg[LAPSE_LEASE_OWNER] != NOBODY) {
        struct lapse_bytes name = store->texts[call->arg[LAPSE_LEASE_OWNER]];
        (void)snprintf(owner, sizeof owner, " by %s", lapse_bytes_print(name, text, sizeof text));
    }
    if (call->arg[LAPSE_LEASE_TOKEN] != UNTOLD) {
        (void)snprintf(token, sizeof token, " with token %" PRId64, call->arg[LAPSE_LEASE_TOKEN]);
    }
    if (!call->open && call->arg[LAPSE_LEASE_TOLD_OWNER] != UNTOLD) {
        struct lapse_bytes name = store->texts[call->arg[LAPSE_LEASE_TOLD_OWNER]];
        (void)snprintf(told_owner, sizeof told_owner, ", owner %s",
                       lapse_bytes_print(name, text, sizeof text));
    }
    if (!call->open && call->arg[LAPSE_LEASE_TOLD_TOKEN] != UNTOLD) {
        (void)snprintf(told, sizeof told, ", token %" PRId64, call->arg[LAPSE_LEASE_TOLD_TOKEN]);
    }
    const char *answer = call->open
                             ? "no answer"
                             : lapse_status_word((enum lapse_status)call->arg[LAPSE_LEASE_ANSWER]);
    (void)snprintf(buf, LAPSE_LINEAR_CALL_TEXT_MAX, "%s%s%s: %s%s%s", words[call->op], owner, token,
                   answer, told_owner, told);
    return buf;
}
