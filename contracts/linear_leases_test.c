/* Clients that acquire, extend, release and inspect leases of a store that is right. */
#include "linear_leases_test.h"

#include <stdio.h>

enum { CLIENTS_MAX = 64, LEASES_MAX = 64 };

static const int64_t term_ns = 2 * LAPSE_NS_PER_S;

struct lease {
    int owner; /* -1: never granted, or released */
    int64_t token, end;
};

enum phase { THINKS, ASKS, WAITS };

struct client {
    enum phase phase;
    int64_t at; /* of its next step */
    int64_t call;
    int lease;
    enum lapse_verb verb;
    bool answered;
    struct lapse_answer answer;
};

struct telling {
    const struct leases_plan *plan;
    struct lapse_history *history;
    uint64_t draws;
    int64_t tokens;
    int calls;
    bool planted;
    struct lease leases[LEASES_MAX];
    struct client clients[CLIENTS_MAX];
    char names[CLIENTS_MAX][16], lease_names[LEASES_MAX][16];
};

static const struct lapse_setup setup = {
    .durable = true, .sync = LAPSE_SYNC_FULL, .rate_ppb = 200000};

static bool step(struct telling *telling, int actor);
static bool send(struct telling *telling, int actor);
static void decide(struct telling *telling, int actor);
static bool hear(struct telling *telling, int actor);
static struct lapse_answer apply(struct telling *telling, int actor);
static int64_t below(struct telling *telling, int64_t n);
static int first_of(const struct telling *telling);

bool leases_tell(const struct leases_plan *plan, struct lapse_history *history) {
    struct telling telling = {.plan = plan, .history = history, .draws = plan->seed};
    struct lapse_history_event begin = {
        .kind = LAPSE_HISTORY_BEGIN, .actor = -1, .step = -1, .u.begin = &setup};
    for (int i = 0; i < LEASES_MAX; i++) {
        telling.leases[i].owner = -1;
        (void)snprintf(telling.lease_names[i], sizeof telling.lease_names[i], "job-%d", i);
        (void)snprintf(telling.names[i], sizeof telling.names[i], "w%d", i);
    }
    if (lapse_history_append(history, &begin) == NULL) {
        return false;
    }
    for (;;) {
        int actor = first_of(&telling);
        if (actor < 0) {
            return true;
        }
        if (!step(&telling, actor)) {
            return false;
        }
    }
}

/* The client whose next step comes first; -1: all calls have been told. */
static int first_of(const struct telling *telling) {
    int first = -1;
    for (int i = 0; i < telling->plan->clients; i++) {
        const struct client *client = &telling->clients[i];
        bool rests = client->phase == THINKS && telling->calls >= telling->plan->calls;
        if (!rests && (first < 0 || client->at < telling->clients[first].at)) {
            first = i;
        }
    }
    return first;
}

static bool step(struct telling *telling, int actor) {
    struct client *client = &telling->clients[actor];
    switch (client->phase) {
    case THINKS:
        client->phase = ASKS;
        return send(telling, actor);
    case ASKS:
        client->phase = WAITS;
        decide(telling, actor);
        return true;
    default:
        client->phase = THINKS;
        return hear(telling, actor);
    }
}

static bool send(struct telling *telling, int actor) {
    static const enum lapse_verb free_verbs[] = {LAPSE_VERB_ACQUIRE, LAPSE_VERB_ACQUIRE,
                                                 LAPSE_VERB_ACQUIRE, LAPSE_VERB_INSPECT};
    static const enum lapse_verb held_verbs[] = {LAPSE_VERB_EXTEND, LAPSE_VERB_EXTEND,
                                                 LAPSE_VERB_RELEASE, LAPSE_VERB_INSPECT};
    struct client *client = &telling->clients[actor];
    client->lease = (int)below(telling, telling->plan->leases);
    bool holds = telling->leases[client->lease].owner == actor;
    client->verb = (holds ? held_verbs : free_verbs)[below(telling, 4)];
    client->call = ++telling->calls;
    struct lapse_history_event event = {.kind = LAPSE_HISTORY_INVOKE,
                                        .at = {client->at},
                                        .actor = actor,
                                        .call = client->call,
                                        .step = -1};
    struct lapse_command *command = &event.u.invoke.request.command;
    event.u.invoke.request.verb = (int)client->verb;
    command->verb = client->verb;
    command->key = lapse_bytes_of(telling->lease_names[client->lease]);
    if (client->verb != LAPSE_VERB_INSPECT) {
        command->u.lease.owner = lapse_bytes_of(telling->names[actor]);
        command->u.lease.span.ns = term_ns;
    }
    client->at += below(telling, 40 * LAPSE_NS_PER_MS);
    return lapse_history_append(telling->history, &event) != NULL;
}

static void decide(struct telling *telling, int actor) {
    struct client *client = &telling->clients[actor];
    client->answer = apply(telling, actor);
    client->answered = below(telling, 1000) >= telling->plan->unanswered;
    client->at += below(telling, client->answered ? 40 * LAPSE_NS_PER_MS : LAPSE_NS_PER_S);
    int planted = telling->plan->planted;
    if (planted >= 0 && client->call >= planted && !telling->planted &&
        client->answer.status == LAPSE_HELD) {
        client->answer.status = LAPSE_OK;
        client->answer.owner = lapse_bytes_of(telling->names[actor]);
        client->answer.has_token = true;
        client->answer.token = telling->tokens;
        client->answered = telling->planted = true;
    }
}

static struct lapse_answer apply(struct telling *telling, int actor) {
    struct client *client = &telling->clients[actor];
    struct lease *lease = &telling->leases[client->lease];
    struct lapse_answer answer = {.status = LAPSE_OK};
    bool live = lease->owner >= 0 && client->at < lease->end;
    bool own = live && lease->owner == actor;
    if (client->verb == LAPSE_VERB_ACQUIRE && !live) {
        *lease = (struct lease){actor, ++telling->tokens, client->at + term_ns};
    } else if (client->verb == LAPSE_VERB_ACQUIRE) {
        answer.renewed = own;
        answer.status = own ? LAPSE_OK : LAPSE_HELD;
    } else if (!live) {
        answer.status = client->verb == LAPSE_VERB_EXTEND ? LAPSE_LOST : LAPSE_ABSENT;
        return answer;
    } else if (client->verb != LAPSE_VERB_INSPECT && !own) {
        answer.status = LAPSE_NOT_OWNER;
        return answer;
    } else if (client->verb == LAPSE_VERB_EXTEND) {
        lease->end = client->at + term_ns;
    } else if (client->verb == LAPSE_VERB_RELEASE) {
        lease->owner = -1;
        return answer;
    }
    answer.owner = lapse_bytes_of(telling->names[lease->owner]);
    answer.has_token = answer.status == LAPSE_OK;
    answer.token = answer.has_token ? lease->token : 0;
    return answer;
}

static bool hear(struct telling *telling, int actor) {
    struct client *client = &telling->clients[actor];
    struct lapse_history_event event = {.kind = LAPSE_HISTORY_REPLY,
                                        .at = {client->at},
                                        .actor = actor,
                                        .call = client->call,
                                        .step = -1};
    event.u.reply.verb = (int)client->verb;
    event.u.reply.sent = true;
    event.u.reply.save_slot = -1;
    event.u.reply.answer = client->answer;
    client->at += below(telling, 100 * LAPSE_NS_PER_MS);
    return !client->answered || lapse_history_append(telling->history, &event) != NULL;
}

static int64_t below(struct telling *telling, int64_t n) {
    telling->draws = telling->draws * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((telling->draws >> 30) % (uint64_t)n);
}
