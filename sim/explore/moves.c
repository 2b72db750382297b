/* Which moves a state has. A fault is possible as long as there are some left. */
#include "move.h"

struct list {
    const struct scope *scope;
    const struct state *state;
    move_code *moves;
    size_t count;
    bool faults_left;
};

static void add(struct list *list, enum lapse_explore_kind kind, int32_t client, bool loses);
static void add_calls(struct list *list, int32_t who, const struct client *client);
static void add_messages(struct list *list, int32_t who, const struct client *client);
static void add_faults(struct list *list, int32_t who, const struct client *client);
static bool overdue(const struct scope *scope, const struct client *client);
static void add_ticks(struct list *list, int32_t who, move_code so_far);
static bool is_request(uint8_t call);

size_t lapse_explore_moves(const struct scope *scope, const struct state *state,
                           move_code moves[MOVES_MAX]) {
    struct list list = {.scope = scope, .state = state, .moves = moves};
    list.faults_left = scope->faults_max < 0 || state->faults < scope->faults_max;
    bool waits = false;
    for (int32_t i = 0; i < scope->clients; i++) {
        const struct client *client = &state->clients[i];
        if (!client->paused) {
            add_calls(&list, i, client);
        }
        add_messages(&list, i, client);
        add_faults(&list, i, client);
        waits = waits || overdue(scope, client);
    }
    if (!waits) {
        add_ticks(&list, 0, (move_code)LAPSE_MOVE_TICK);
    }
    return list.count;
}

static void add(struct list *list, enum lapse_explore_kind kind, int32_t client, bool loses) {
    list->moves[list->count++] =
        (move_code)kind | (move_code)client << MOVE_CLIENT_AT | (move_code)loses << MOVE_LOST_AT;
}

/* What a running client does by itself. Where nothing is ever under way a call is decided and
 * answered at once, or the answer is lost. */
static void add_calls(struct list *list, int32_t who, const struct client *client) {
    const struct scope *scope = list->scope;
    bool lossy = !scope->delay && scope->loss && list->faults_left;
    if (client->call == CALL_NONE) {
        static const enum lapse_explore_kind calls[] = {LAPSE_MOVE_ACQUIRE, LAPSE_MOVE_EXTEND,
                                                        LAPSE_MOVE_RELEASE};
        for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
            bool possible = calls[i] == LAPSE_MOVE_ACQUIRE  ? !client->believes
                            : calls[i] == LAPSE_MOVE_EXTEND ? lapse_explore_may_act(scope, client)
                                                            : client->believes;
            if (possible) {
                add(list, calls[i], who, false);
            }
            if (possible && lossy) {
                add(list, calls[i], who, true);
            }
        }
    }
    if (scope->resource && lapse_explore_may_act(scope, client) && !client->writing) {
        add(list, LAPSE_MOVE_WRITE, who, false);
    }
}

static void add_messages(struct list *list, int32_t who, const struct client *client) {
    bool lossy_ever = list->scope->loss; /* else every call is answered, and it waits */
    bool lossy = lossy_ever && list->faults_left;
    if (client->call != CALL_NONE) {
        if (is_request(client->call)) {
            add(list, LAPSE_MOVE_ARRIVE, who, false);
        } else if (!client->paused) {
            add(list, LAPSE_MOVE_REPLY, who, false);
        }
        /* One request of each client may be under way that it has given up. An answer that it does
         * not wait for is as good as lost. */
        bool request = is_request(client->call);
        bool gives_up = lossy_ever && !client->paused && (client->late == CALL_NONE || !request);
        if (gives_up) {
            add(list, LAPSE_MOVE_GIVE_UP, who, false);
        }
        if (lossy && (request || !gives_up)) {
            add(list, LAPSE_MOVE_LOSE_CALL, who, false);
        }
    }
    if (client->late != CALL_NONE) {
        add(list, LAPSE_MOVE_LATE, who, false);
        if (lossy) {
            add(list, LAPSE_MOVE_LOSE_LATE, who, false);
        }
    }
    if (client->writing) {
        add(list, LAPSE_MOVE_LAND, who, false);
        if (lossy) {
            add(list, LAPSE_MOVE_LOSE_WRITE, who, false);
        }
    }
}

static void add_faults(struct list *list, int32_t who, const struct client *client) {
    const struct scope *scope = list->scope;
    if (client->paused) {
        add(list, LAPSE_MOVE_WAKE, who, false);
    } else if (scope->pause && list->faults_left) {
        add(list, LAPSE_MOVE_PAUSE, who, false);
    }
    bool room = client->late == CALL_NONE || !is_request(client->call);
    /* A client of which nothing is known loses nothing; but what it sent becomes another's. */
    bool fresh = !client->believes && !client->owns && client->call == CALL_NONE &&
                 (client->late != CALL_ACQUIRE || client->late_other);
    if (scope->crash && list->faults_left && room && !fresh) {
        add(list, LAPSE_MOVE_CRASH, who, false);
    }
}

/* A client that renews on time does so before time goes on, unless it stands still or waits. */
static bool overdue(const struct scope *scope, const struct client *client) {
    return scope->renew > 0 && lapse_explore_may_act(scope, client) && client->call == CALL_NONE &&
           client->rem <= scope->fresh - scope->renew;
}

/* A clock reads anything within the bound that does not lie before what it read. */
static void add_ticks(struct list *list, int32_t who, move_code so_far) {
    const struct scope *scope = list->scope;
    if (who >= scope->clients || who >= LAPSE_EXPLORE_CLIENTS_MAX) {
        list->moves[list->count++] = so_far;
        return;
    }
    int32_t off = list->state->clients[who].off;
    for (int32_t i = 0; i <= 2 * LAPSE_EXPLORE_BOUND_MAX + 1; i++) {
        /* True time first, so that a path of least moves has no more to it than it needs. */
        int32_t moved = i == 0 ? 1 : i == 1 ? 0 : i;
        int32_t then = off + moved - 1;
        if (then >= -scope->bound && then <= scope->bound) {
            add_ticks(list, who + 1,
                      so_far | (move_code)moved << (MOVE_CLOCK_AT + MOVE_CLOCK_BITS * who));
        }
    }
}

static bool is_request(uint8_t call) {
    return call == CALL_ACQUIRE || call == CALL_EXTEND || call == CALL_RELEASE;
}
