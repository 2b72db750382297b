/* States: from open form to canonical bytes and back. What the canonical form forgets is decided
 * here and nowhere else, each time with the reason why nothing could tell the difference. */
#include "form.h"

#include <string.h>

/* Places of the fields in a client's word. */
enum {
    AT_PAUSED = 0,
    AT_BELIEVES = 1,
    AT_OWNS = 2,
    AT_LATE_OTHER = 3,
    AT_WRITING = 4,
    AT_REM = 5,
    AT_TOKEN = 11,
    AT_OFF = 16,
    AT_CALL = 19,
    AT_CALL_REM = 22,
    AT_CALL_TOKEN = 28,
    AT_LATE = 33,
    AT_LATE_TOKEN = 35,
    AT_WRITE_TOKEN = 40,
    BITS_COUNT = 6,
    BITS_TOKEN = 5,
    BITS_SMALL = 3,
    BITS_LATE = 2
};

static enum lapse_status in_grains(const char *word, int64_t ns, int64_t grain_ns, int32_t max,
                                   int32_t *ret, struct lapse_error *err);
static enum lapse_status fit(const struct scope *scope, const char **ret_word,
                             struct lapse_error *err);
static void forget(const struct scope *scope, struct state *state);
static void forget_belief(struct client *client);
static void forget_calls(const struct scope *scope, struct client *client);
static void rank_tokens(const struct scope *scope, struct state *state);
static void close_ranks(struct state *state, uint64_t seen, uint8_t *const *tokens, size_t count);
static uint64_t pack_client(const struct client *client);
static void unpack_client(uint64_t word, struct client *ret);
static void sort(const struct scope *scope, uint64_t *words, uint8_t *order);
static uint64_t field(uint64_t word, int at, int bits);

enum lapse_status lapse_explore_scope(const struct lapse_plan_explore *protocol, int32_t faults_max,
                                      struct scope *ret, const char **ret_word,
                                      struct lapse_error *err) {
    const char *unwanted;
    const char **word = ret_word == NULL ? &unwanted : ret_word;
    struct scope scope = {.clients = protocol->clients,
                          .careful = protocol->careful,
                          .fresh_owner = protocol->fresh_owner,
                          .delay = protocol->delay,
                          .loss = protocol->loss,
                          .crash = protocol->crash,
                          .pause = protocol->pause,
                          .resource = protocol->resource != LAPSE_EXPLORE_NO_RESOURCE,
                          .fenced = protocol->resource == LAPSE_EXPLORE_FENCED,
                          .faults_max = faults_max,
                          .grain_ns = protocol->grain_ns};
    *word = "clients";
    if (scope.clients < 1 || scope.clients > LAPSE_EXPLORE_CLIENTS_MAX) {
        return lapse_error_set(err, LAPSE_INVALID, "`clients` is %d; give 1 to %d",
                               (int)scope.clients, (int)LAPSE_EXPLORE_CLIENTS_MAX);
    }
    *word = "grain";
    if (scope.grain_ns <= 0) {
        return lapse_error_set(err, LAPSE_INVALID, "`grain` is not above 0; give a duration");
    }
    const struct {
        const char *word;
        int64_t ns;
        int32_t max;
        int32_t *ret;
    } spans[] = {{"for", protocol->span_ns, LAPSE_EXPLORE_TICKS_MAX, &scope.span},
                 {"margin", protocol->margin_ns, LAPSE_EXPLORE_TICKS_MAX, &scope.margin},
                 {"renew", protocol->renew_ns, LAPSE_EXPLORE_TICKS_MAX, &scope.renew},
                 {"clock", protocol->clock_ns, LAPSE_EXPLORE_BOUND_MAX, &scope.bound}};
    for (size_t i = 0; i < sizeof(spans) / sizeof(*spans); i++) {
        *word = spans[i].word;
        enum lapse_status status =
            in_grains(spans[i].word, spans[i].ns, scope.grain_ns, spans[i].max, spans[i].ret, err);
        if (status != LAPSE_OK) {
            return status;
        }
    }
    *word = "for";
    if (scope.span > INT64_MAX / 4 / scope.grain_ns) {
        return lapse_error_set(err, LAPSE_INVALID,
                               "`for` is past a quarter of the range of time; give less");
    }
    if (fit(&scope, word, err) != LAPSE_OK) {
        return LAPSE_INVALID;
    }
    /* A plain client's countdown is that to its next renewal; without one it has none. */
    scope.fresh = scope.careful ? scope.span - scope.margin : scope.renew > 0 ? scope.span : 0;
    scope.floor = scope.careful || scope.renew == 0 ? 0 : scope.span - scope.renew;
    scope.words = 1 + (size_t)scope.clients;
    *ret = scope;
    return LAPSE_OK;
}

bool lapse_explore_may_act(const struct scope *scope, const struct client *client) {
    return client->believes && !client->paused && (!scope->careful || client->rem > 0);
}

void lapse_explore_settle(const struct scope *scope, struct client *client) {
    bool renewing = client->call == CALL_EXTEND || client->call == CALL_EXTENDED;
    if (scope->careful && client->rem == 0 && !renewing) {
        client->believes = false;
    }
}

void lapse_explore_age(const struct scope *scope, struct state *state) {
    for (int32_t i = 0; i < scope->clients; i++) {
        struct client *client = &state->clients[i];
        client->token++;
        client->call_token++;
        client->late_token++;
        client->write_token++;
    }
    state->highest++;
}

void lapse_explore_pack(const struct scope *scope, struct state *state, uint64_t *ret,
                        uint8_t ret_order[LAPSE_EXPLORE_CLIENTS_MAX]) {
    forget(scope, state);
    rank_tokens(scope, state);
    ret[0] = (uint64_t)state->live | (uint64_t)state->left << 1 | (uint64_t)state->applied << 8 |
             (uint64_t)state->highest << 9 | (uint64_t)state->faults << 16;
    for (int32_t i = 0; i < scope->clients; i++) {
        ret[1 + i] = pack_client(&state->clients[i]);
        ret_order[i] = (uint8_t)i;
    }
    sort(scope, ret + 1, ret_order);
}

void lapse_explore_unpack(const struct scope *scope, const uint64_t *words, struct state *ret) {
    memset(ret, 0, sizeof(*ret));
    ret->live = field(words[0], 0, 1) != 0;
    ret->left = (uint8_t)field(words[0], 1, BITS_COUNT);
    ret->applied = field(words[0], 8, 1) != 0;
    ret->highest = (uint8_t)field(words[0], 9, BITS_TOKEN);
    ret->faults = (uint8_t)field(words[0], 16, 8);
    for (int32_t i = 0; i < scope->clients; i++) {
        unpack_client(words[1 + i], &ret->clients[i]);
    }
}

static enum lapse_status in_grains(const char *word, int64_t ns, int64_t grain_ns, int32_t max,
                                   int32_t *ret, struct lapse_error *err) {
    if (ns < 0 || ns % grain_ns != 0 || ns / grain_ns > max) {
        char span[LAPSE_TIME_TEXT_MAX], grain[LAPSE_TIME_TEXT_MAX];
        return lapse_error_set(err, LAPSE_INVALID,
                               "`%s` is %s; give a whole number of grains (%s), %d at most", word,
                               lapse_span_print((struct lapse_span){ns}, span),
                               lapse_span_print((struct lapse_span){grain_ns}, grain), (int)max);
    }
    *ret = (int32_t)(ns / grain_ns);
    return LAPSE_OK;
}

static enum lapse_status fit(const struct scope *scope, const char **ret_word,
                             struct lapse_error *err) {
    *ret_word = "for";
    if (scope->span < 1) {
        return lapse_error_set(err, LAPSE_INVALID, "`for` is 0; give the span of a grant");
    }
    *ret_word = "margin";
    if (scope->careful && scope->margin >= scope->span) {
        return lapse_error_set(err, LAPSE_INVALID,
                               "`margin` leaves nothing of the span of a grant, so nobody would "
                               "ever act; give less than `for`");
    }
    *ret_word = "renew";
    if (scope->renew > 0 && scope->renew >= scope->span - scope->margin) {
        return lapse_error_set(err, LAPSE_INVALID,
                               "`renew` is not below `for` less `margin`, so every grant would be "
                               "over before it is renewed; give less");
    }
    return LAPSE_OK;
}

/* Takes out what nothing reads any more. */
static void forget(const struct scope *scope, struct state *state) {
    for (int32_t i = 0; i < scope->clients; i++) {
        forget_belief(&state->clients[i]);
        forget_calls(scope, &state->clients[i]);
    }
    state->left = state->live ? state->left : 0;
    for (int32_t i = 0; i < scope->clients && scope->fenced && state->applied; i++) {
        /* A write below the bar is refused, now or later. */
        struct client *client = &state->clients[i];
        if (client->writing && client->write_token > state->highest) {
            client->writing = false;
            client->write_token = 0;
        }
    }
}

static void forget_belief(struct client *client) {
    if (client->believes) {
        return;
    }
    client->rem = client->token = 0;
    /* An answer that only prolongs or ends a belief has nothing left to change. */
    if (client->call == CALL_EXTENDED || client->call == CALL_DENIED) {
        client->call = CALL_NONE;
    }
}

static void forget_calls(const struct scope *scope, struct client *client) {
    /* A call with the token of a grant that is over is refused and changes nothing. An extend is
     * still waited for, but cannot prolong. */
    if (scope->stale_is_idle && client->late > CALL_ACQUIRE && client->late_token > 0) {
        client->late = CALL_NONE;
    }
    if (scope->stale_is_idle && client->call == CALL_RELEASE && client->call_token > 0) {
        client->call = CALL_NONE;
    }
    if (scope->stale_is_idle && client->call == CALL_EXTEND && client->call_token > 0) {
        client->call_rem = (uint8_t)scope->floor;
    }
    /* What was granted is a careful client's to act on only before its deadline. */
    if (scope->careful && client->call == CALL_GRANTED && client->call_rem == 0) {
        client->call = CALL_NONE;
    }
    if (client->call == CALL_NONE || client->call == CALL_RELEASE || client->call == CALL_DENIED) {
        client->call_rem = 0;
    }
    if (client->call != CALL_EXTEND && client->call != CALL_RELEASE &&
        client->call != CALL_GRANTED) {
        client->call_token = 0;
    }
    if (client->late == CALL_NONE || client->late == CALL_ACQUIRE) {
        client->late_token = 0;
    }
    if (client->late != CALL_ACQUIRE) {
        client->late_other = false; /* a token names its grant, whoever sends it */
    }
    client->write_token = client->writing ? client->write_token : 0;
}

/* The ranks that are in use are 0 and then 1, 2, ... from the newest. Of a call to the store only
 * whether its token is the live one counts. So it is for beliefs where there is no resource. */
static void rank_tokens(const struct scope *scope, struct state *state) {
    uint8_t *tokens[3 * LAPSE_EXPLORE_CLIENTS_MAX];
    size_t count = 0;
    uint64_t seen = 0;
    for (int32_t i = 0; i < scope->clients; i++) {
        struct client *client = &state->clients[i];
        bool granted = client->call == CALL_GRANTED;
        if (client->believes) {
            tokens[count++] = &client->token;
        }
        if (granted) {
            tokens[count++] = &client->call_token;
        }
        if (client->writing) {
            tokens[count++] = &client->write_token;
        }
        if (!granted && client->call_token > 0) {
            client->call_token = RANK_STALE;
        }
        if (client->late_token > 0) {
            client->late_token = RANK_STALE;
        }
    }
    bool lower = false;
    for (size_t i = 0; i < count; i++) {
        LAPSE_ASSERT(*tokens[i] < RANK_STALE && (state->live || *tokens[i] > 0));
        lower = lower || *tokens[i] > state->highest;
    }
    /* The resource's memory counts as long as a token is about that lies below it. */
    state->applied = state->applied && lower;
    state->highest = state->applied ? state->highest : 0;
    for (size_t i = 0; i < count; i++) {
        /* All that lie below are alike: none of them is ever to be applied. */
        if (!scope->resource) {
            *tokens[i] = *tokens[i] > 0;
        } else if (state->applied && *tokens[i] > state->highest) {
            *tokens[i] = (uint8_t)(state->highest + 1);
        }
        seen |= UINT64_C(1) << *tokens[i];
    }
    if (state->applied) {
        seen |= UINT64_C(1) << state->highest;
    }
    close_ranks(state, seen, tokens, count);
}

static void close_ranks(struct state *state, uint64_t seen, uint8_t *const *tokens, size_t count) {
    uint8_t ranks[RANKS_MAX] = {0};
    uint8_t next = 1;
    for (int rank = 1; rank < RANKS_MAX && seen >> rank != 0; rank++) {
        ranks[rank] = next;
        next = (uint8_t)(next + (seen >> rank & 1));
    }
    for (size_t i = 0; i < count; i++) {
        *tokens[i] = ranks[*tokens[i]];
    }
    state->highest = ranks[state->highest];
}

static uint64_t pack_client(const struct client *client) {
    return (uint64_t)client->paused << AT_PAUSED | (uint64_t)client->believes << AT_BELIEVES |
           (uint64_t)client->owns << AT_OWNS | (uint64_t)client->late_other << AT_LATE_OTHER |
           (uint64_t)client->writing << AT_WRITING | (uint64_t)client->rem << AT_REM |
           (uint64_t)client->token << AT_TOKEN |
           (uint64_t)(client->off + LAPSE_EXPLORE_BOUND_MAX) << AT_OFF |
           (uint64_t)client->call << AT_CALL | (uint64_t)client->call_rem << AT_CALL_REM |
           (uint64_t)client->call_token << AT_CALL_TOKEN | (uint64_t)client->late << AT_LATE |
           (uint64_t)client->late_token << AT_LATE_TOKEN |
           (uint64_t)client->write_token << AT_WRITE_TOKEN;
}

static void unpack_client(uint64_t word, struct client *ret) {
    ret->paused = field(word, AT_PAUSED, 1) != 0;
    ret->believes = field(word, AT_BELIEVES, 1) != 0;
    ret->owns = field(word, AT_OWNS, 1) != 0;
    ret->late_other = field(word, AT_LATE_OTHER, 1) != 0;
    ret->writing = field(word, AT_WRITING, 1) != 0;
    ret->rem = (uint8_t)field(word, AT_REM, BITS_COUNT);
    ret->token = (uint8_t)field(word, AT_TOKEN, BITS_TOKEN);
    ret->off = (int8_t)((int)field(word, AT_OFF, BITS_SMALL) - LAPSE_EXPLORE_BOUND_MAX);
    ret->call = (uint8_t)field(word, AT_CALL, BITS_SMALL);
    ret->call_rem = (uint8_t)field(word, AT_CALL_REM, BITS_COUNT);
    ret->call_token = (uint8_t)field(word, AT_CALL_TOKEN, BITS_TOKEN);
    ret->late = (uint8_t)field(word, AT_LATE, BITS_LATE);
    ret->late_token = (uint8_t)field(word, AT_LATE_TOKEN, BITS_TOKEN);
    ret->write_token = (uint8_t)field(word, AT_WRITE_TOKEN, BITS_TOKEN);
}

static void sort(const struct scope *scope, uint64_t *words, uint8_t *order) {
    for (int32_t i = 1; i < scope->clients; i++) {
        uint64_t word = words[i];
        uint8_t who = order[i];
        int32_t at = i;
        for (; at > 0 && words[at - 1] > word; at--) {
            words[at] = words[at - 1];
            order[at] = order[at - 1];
        }
        words[at] = word;
        order[at] = who;
    }
}

static uint64_t field(uint64_t word, int at, int bits) {
    return word >> at & ((UINT64_C(1) << bits) - 1);
}
