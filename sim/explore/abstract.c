/* Abstract states: few enough to be told, and to be counted by who runs a protocol instead of
 * searching it. Durations become nothing, the last grain, some or the whole; tokens become new or
 * old; clocks become behind, true or ahead. The number of an abstract state is its parts side by
 * side, so that its words can be read off it. */
#include "abstract.h"

enum {
    AT_BELIEVES = 0,
    AT_PAUSED = 1,
    AT_OWNS = 2,
    AT_REM = 3,
    AT_OLD = 5, /* it believes in a grant that is over */
    AT_CALL = 6,
    AT_LATE = 9,
    AT_WRITING = 11,
    AT_WRITES_OLD = 12,
    AT_OFF = 13,
    CLIENT_BITS = 15,
    AT_LEFT = CLIENT_BITS * LAPSE_EXPLORE_CLIENTS_MAX,
    AT_APPLIED = AT_LEFT + 2,
    AT_APPLIED_OLD = AT_LEFT + 3
};

enum { PART_NONE = 0, PART_LAST, PART_SOME, PART_WHOLE };

static uint64_t client_of(const struct scope *scope, const struct client *client);
static uint64_t part_of(int32_t left, int32_t none, int32_t whole);
static uint64_t bits(uint64_t word, int at, int count);
static void put_client(lapse_explore_put put, void *ctx, const struct lapse_plan_explore *protocol,
                       uint64_t client);

uint64_t lapse_explore_abstract(const struct scope *scope, const uint64_t *words) {
    struct state state;
    uint64_t clients[LAPSE_EXPLORE_CLIENTS_MAX] = {0};
    lapse_explore_unpack(scope, words, &state);
    for (int32_t i = 0; i < scope->clients; i++) {
        uint64_t client = client_of(scope, &state.clients[i]);
        int32_t at = i;
        for (; at > 0 && clients[at - 1] > client; at--) {
            clients[at] = clients[at - 1];
        }
        clients[at] = client;
    }
    uint64_t left = state.live ? part_of(state.left, 0, scope->span) : PART_NONE;
    uint64_t whole = left << AT_LEFT | (uint64_t)state.applied << AT_APPLIED |
                     (uint64_t)(state.applied && state.highest > 0) << AT_APPLIED_OLD;
    for (int32_t i = 0; i < scope->clients; i++) {
        whole |= clients[i] << (CLIENT_BITS * i);
    }
    return whole;
}

static uint64_t client_of(const struct scope *scope, const struct client *client) {
    uint64_t rem = client->believes ? part_of(client->rem, scope->floor, scope->fresh) : PART_NONE;
    uint64_t off = client->off < 0 ? 1 : client->off > 0 ? 2 : 0;
    return (uint64_t)client->believes << AT_BELIEVES | (uint64_t)client->paused << AT_PAUSED |
           (uint64_t)client->owns << AT_OWNS | rem << AT_REM |
           (uint64_t)(client->believes && client->token > 0) << AT_OLD |
           (uint64_t)client->call << AT_CALL | (uint64_t)client->late << AT_LATE |
           (uint64_t)client->writing << AT_WRITING |
           (uint64_t)(client->writing && client->write_token > 0) << AT_WRITES_OLD |
           off << AT_OFF;
}

/* The last grain is told first: of a span of one there is no other. */
static uint64_t part_of(int32_t left, int32_t none, int32_t whole) {
    return left <= none       ? PART_NONE
           : left == none + 1 ? PART_LAST
           : left == whole    ? PART_WHOLE
                              : PART_SOME;
}

static uint64_t bits(uint64_t word, int at, int count) {
    return word >> at & ((UINT64_C(1) << count) - 1);
}

void lapse_explore_abstract_tell(const struct lapse_plan_explore *protocol, uint64_t state,
                                 lapse_explore_put put, void *ctx) {
    static const char *const lease[] = {[PART_NONE] = "the lease is free",
                                        [PART_LAST] = "the lease is in its last grain",
                                        [PART_SOME] = "the lease is held",
                                        [PART_WHOLE] = "the lease is held, all of it left"};
    put(ctx, lease[bits(state, AT_LEFT, 2)]);
    if (bits(state, AT_APPLIED, 1) != 0) {
        bool old = bits(state, AT_APPLIED_OLD, 1) != 0;
        put(ctx, old ? ", an ended grant's write is the last applied"
                     : ", its holder's write is the last applied");
    }
    for (int32_t i = 0; i < protocol->clients; i++) {
        put(ctx, "; a client ");
        put_client(put, ctx, protocol, bits(state, CLIENT_BITS * i, CLIENT_BITS));
    }
}

static void put_client(lapse_explore_put put, void *ctx, const struct lapse_plan_explore *protocol,
                       uint64_t client) {
    static const char *const calls[] = {"",
                                        ", its acquire under way",
                                        ", its extend under way",
                                        ", its release under way",
                                        ", a grant under way to it",
                                        ", an extension under way to it",
                                        ", a denial under way to it"};
    static const char *const lates[] = {"", ", an acquire of it late", ", an extend of it late",
                                        ", a release of it late"};
    static const char *const careful[] = {
        " past its deadline", " in the last grain before its deadline", "",
        " with all of its time left"};
    static const char *const renews[] = {" and is to renew", " and is nearly to renew", "",
                                         " and has just renewed"};
    bool believes = bits(client, AT_BELIEVES, 1) != 0;
    put(ctx, believes ? "believes" : "waits");
    if (believes && protocol->careful) {
        put(ctx, careful[bits(client, AT_REM, 2)]);
    } else if (believes && protocol->renew_ns > 0) {
        put(ctx, renews[bits(client, AT_REM, 2)]);
    }
    put(ctx, bits(client, AT_OLD, 1) != 0 ? ", of a grant that is over" : "");
    put(ctx, bits(client, AT_OWNS, 1) != 0 ? ", owns the lease" : "");
    put(ctx, bits(client, AT_PAUSED, 1) != 0 ? ", is paused" : "");
    put(ctx, calls[bits(client, AT_CALL, 3) % 7]);
    put(ctx, lates[bits(client, AT_LATE, 2)]);
    if (bits(client, AT_WRITING, 1) != 0) {
        put(ctx, bits(client, AT_WRITES_OLD, 1) != 0 ? ", a write of an ended grant under way"
                                                     : ", a write under way");
    }
    uint64_t off = bits(client, AT_OFF, 2);
    put(ctx, off == 1 ? ", its clock behind" : off == 2 ? ", its clock ahead" : "");
}
