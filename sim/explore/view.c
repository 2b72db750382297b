/* From a history to the states that its clients and their store went through. Nothing is asked of
 * the engine here: what a state holds is what answers, beliefs, messages and clocks tell. What is
 * not told is left as it may be: a request that was lost is under way until its sender goes on.
 *
 * All instants are counted in whole grains, so a run is one of these only if what happens in it
 * happens so soon after a grain has begun that no span is changed by it. */
#include "abstract.h"
#include "contracts/history.h"

#include <string.h>

/* A request or the answer to it. */
struct under_way {
    uint8_t kind; /* enum call_kind */
    int64_t id;
    int64_t token;
    int32_t sent;  /* by its client's clock */
    int32_t whole; /* grains that it brings from then on */
    bool lost;
    bool other; /* sent by an incarnation that is gone */
};

struct seen_client {
    bool paused, believes;
    int64_t token;
    int32_t over; /* its countdown's end, by its clock */
    struct under_way call, late;
    bool writing;
    int64_t write_id, write_token;
    int32_t off;
    int64_t base_true_ns, base_ns, rate_ppb; /* its clock: what it read then, and its rate */
    bool stopped;
};

struct view {
    struct scope scope;
    const struct lapse_plan_explore *protocol;
    void (*seen)(void *ctx, uint64_t state);
    void *ctx;
    struct lapse_error *err;
    int32_t tick;
    bool live, applied, changed;
    int32_t holder; /* -1: an incarnation that is gone */
    int64_t token, highest;
    int32_t end; /* in ticks */
    int64_t at_ns, call; /* of the last event */
    enum lapse_status status;
    struct seen_client clients[LAPSE_EXPLORE_CLIENTS_MAX];
};

static void look(struct view *view, const struct lapse_history_event *event);
static void pass(struct view *view, int64_t at_ns);
static void tick(struct view *view);
static void invoke(struct view *view, const struct lapse_history_event *event);
static void apply(struct view *view, const struct lapse_history_event *event);
static void take_in(struct view *view, struct under_way *call, int32_t who,
                    const struct lapse_answer *answer);
static void reply(struct view *view, const struct lapse_history_event *event);
static void give_up(struct view *view, struct seen_client *client, int32_t who);
static void message(struct view *view, const struct lapse_history_event *event);
static void fault(struct view *view, const struct lapse_history_event *event);
static void crash(struct view *view, struct seen_client *client, int32_t who);
static void decide_write(struct view *view, const struct lapse_history_event *event);
static void set_clock(struct view *view, const struct lapse_history_event *event);
static void reown(struct view *view, struct seen_client *client, int32_t who);
static void tell(struct view *view);
static void fill(const struct view *view, struct state *state);
static void rank(const struct view *view, struct state *state);
static uint8_t countdown(const struct view *view, int32_t over, int32_t now);
static int32_t grains(const struct view *view, int64_t ns);

enum lapse_status lapse_explore_view(const struct lapse_plan_explore *protocol,
                                     const struct lapse_history *history,
                                     void (*seen)(void *ctx, uint64_t state), void *ctx,
                                     struct lapse_error *err) {
    struct view view = {.protocol = protocol, .seen = seen, .ctx = ctx, .err = err, .holder = -1};
    enum lapse_status status = lapse_explore_scope(protocol, -1, &view.scope, NULL, err);
    if (status != LAPSE_OK) {
        return status;
    }
    /* A call with the token of a grant that is over changes nothing: else the search would have
     * found a broken contract. */
    view.scope.stale_is_idle = true;
    tell(&view);
    for (size_t i = 0; i < lapse_history_count(history) && view.status == LAPSE_OK; i++) {
        look(&view, lapse_history_at(history, i));
    }
    if (view.changed && view.status == LAPSE_OK) {
        tell(&view);
    }
    return view.status;
}

/* What one call comes to at one instant is one move. */
static void look(struct view *view, const struct lapse_history_event *event) {
    bool same = event->at.ns == view->at_ns && event->call == view->call;
    if (view->changed && !same) {
        tell(view);
    }
    pass(view, event->at.ns);
    view->at_ns = event->at.ns;
    view->call = event->call;
    bool of_client = event->actor >= 0 && event->actor < view->scope.clients;
    if (event->kind == LAPSE_HISTORY_CLOCK) {
        set_clock(view, event);
    }
    if (!of_client) {
        return;
    }
    struct seen_client *client = &view->clients[event->actor];
    switch (event->kind) {
    case LAPSE_HISTORY_INVOKE:
        invoke(view, event);
        break;
    case LAPSE_HISTORY_APPLY:
        apply(view, event);
        break;
    case LAPSE_HISTORY_REPLY:
        reply(view, event);
        break;
    case LAPSE_HISTORY_MESSAGE:
        message(view, event);
        break;
    case LAPSE_HISTORY_BELIEF_BEGIN:
        client->believes = view->changed = true;
        client->token = event->u.belief.grant.token;
        break;
    case LAPSE_HISTORY_BELIEF_END:
        client->believes = false;
        view->changed = true;
        break;
    case LAPSE_HISTORY_RESOURCE:
        decide_write(view, event);
        break;
    default:
        fault(view, event);
        break;
    }
}

static void pass(struct view *view, int64_t at_ns) {
    while (at_ns / view->scope.grain_ns > view->tick) {
        view->tick++;
        tick(view);
    }
}

/* A clock that is off by less than half a grain is right. */
static void tick(struct view *view) {
    int64_t now_ns = view->tick * view->scope.grain_ns, half_ns = view->scope.grain_ns / 2;
    for (int32_t i = 0; i < view->scope.clients; i++) {
        struct seen_client *client = &view->clients[i];
        int64_t passed_ns = client->stopped ? 0 : now_ns - client->base_true_ns;
        int64_t more_ns = passed_ns / LAPSE_NS_PER_S * client->rate_ppb +
                          passed_ns % LAPSE_NS_PER_S * client->rate_ppb / LAPSE_NS_PER_S;
        int64_t off_ns = client->base_ns + passed_ns + more_ns - now_ns;
        client->off = (int32_t)((off_ns + (off_ns < 0 ? -half_ns : half_ns)) /
                                view->scope.grain_ns);
    }
    view->live = view->live && view->end > view->tick;
    tell(view);
}

static void invoke(struct view *view, const struct lapse_history_event *event) {
    struct seen_client *client = &view->clients[event->actor];
    const struct lapse_request *request = &event->u.invoke.request;
    if (request->verb == LAPSE_CALL_WRITE) {
        if (client->writing) {
            client->writing = false; /* it was lost, and now its sender goes on */
            tell(view);
        }
        client->writing = view->changed = true;
        client->write_id = event->call;
        client->write_token = request->token;
        return;
    }
    uint8_t kind = request->verb == LAPSE_VERB_ACQUIRE   ? CALL_ACQUIRE
                   : request->verb == LAPSE_VERB_EXTEND  ? CALL_EXTEND
                   : request->verb == LAPSE_VERB_RELEASE ? CALL_RELEASE
                                                         : CALL_NONE;
    if (kind == CALL_NONE || client->call.kind != CALL_NONE) {
        view->status = lapse_error_set(view->err, LAPSE_INVALID,
                                       "client %d sends %s, which no client of the protocol does "
                                       "there",
                                       (int)event->actor + 1, lapse_call_word(request->verb));
        return;
    }
    bool named = kind != CALL_ACQUIRE;
    client->call = (struct under_way){.kind = kind,
                                      .id = event->call,
                                      .token = named ? request->command.u.lease.token : 0,
                                      .sent = view->tick + client->off,
                                      .whole = view->scope.span};
    view->changed = true;
}

static void apply(struct view *view, const struct lapse_history_event *event) {
    struct seen_client *client = &view->clients[event->actor];
    const struct lapse_answer *answer = &event->u.apply.answer;
    struct under_way *call = &client->call;
    if (client->late.kind != CALL_NONE && client->late.id == event->call) {
        take_in(view, &client->late, event->actor, answer);
        client->late.kind = CALL_NONE;
        return;
    }
    if (call->id != event->call || call->kind == CALL_NONE) {
        return;
    }
    take_in(view, call, event->actor, answer);
    bool good = answer->status == LAPSE_OK;
    call->whole = grains(view, answer->left.ns);
    call->token = call->kind == CALL_ACQUIRE ? answer->token : call->token;
    call->kind = call->kind == CALL_ACQUIRE && good  ? CALL_GRANTED
                 : call->kind == CALL_EXTEND         ? (good ? CALL_EXTENDED : CALL_DENIED)
                                                     : CALL_NONE;
}

/* What the store's answer tells of the lease. */
static void take_in(struct view *view, struct under_way *call, int32_t who,
                    const struct lapse_answer *answer) {
    view->changed = true;
    if (answer->status != LAPSE_OK) {
        return;
    }
    if (call->kind == CALL_RELEASE) {
        view->live = false;
        return;
    }
    view->end = view->tick + grains(view, answer->left.ns);
    if (call->kind == CALL_ACQUIRE && !answer->renewed) {
        view->live = true;
        view->holder = call->other ? -1 : who;
        view->token = answer->token;
    }
}

static void reply(struct view *view, const struct lapse_history_event *event) {
    struct seen_client *client = &view->clients[event->actor];
    struct under_way *call = &client->call;
    if (call->id != event->call || call->kind == CALL_NONE) {
        return;
    }
    view->changed = true;
    if (event->u.reply.answer.status == LAPSE_UNKNOWN) {
        give_up(view, client, event->actor);
        return;
    }
    if (call->kind == CALL_GRANTED || call->kind == CALL_EXTENDED) {
        int32_t margin = view->scope.careful ? view->scope.margin : 0;
        client->over = call->sent + call->whole - margin;
    }
    if (call->kind == CALL_GRANTED) {
        client->believes = true;
        client->token = call->token;
    }
    call->kind = CALL_NONE;
}

/* Its client waits no longer. */
static void give_up(struct view *view, struct seen_client *client, int32_t who) {
    struct under_way *call = &client->call;
    bool release = call->kind == CALL_RELEASE;
    bool request = release || call->kind == CALL_ACQUIRE || call->kind == CALL_EXTEND;
    if (request && !call->lost) {
        if (client->late.kind != CALL_NONE && client->late.lost) {
            client->late.kind = CALL_NONE;
            tell(view);
        }
        client->late = *call;
    }
    call->kind = CALL_NONE;
    if (release && view->scope.fresh_owner) {
        reown(view, client, who);
    }
}

static void message(struct view *view, const struct lapse_history_event *event) {
    struct seen_client *client = &view->clients[event->actor];
    if (event->u.message.fate != LAPSE_MESSAGE_LOST || client->call.id != event->call) {
        return;
    }
    if (!event->u.message.reply) {
        client->call.lost = true;
    } else if (!view->scope.delay && client->call.kind != CALL_NONE) {
        give_up(view, client, event->actor); /* at once, where nothing is ever under way */
    }
}

static void fault(struct view *view, const struct lapse_history_event *event) {
    struct seen_client *client = &view->clients[event->actor];
    bool begins = event->kind == LAPSE_HISTORY_FAULT_BEGIN;
    if (!begins && event->kind != LAPSE_HISTORY_FAULT_END) {
        return;
    }
    if (event->u.fault.kind == LAPSE_FAULT_PAUSE) {
        view->changed = view->changed || client->paused != begins;
        client->paused = begins;
    } else if (event->u.fault.kind == LAPSE_FAULT_CRASH && begins) {
        crash(view, client, event->actor);
    }
}

static void crash(struct view *view, struct seen_client *client, int32_t who) {
    if (client->call.kind != CALL_NONE && client->call.lost) {
        give_up(view, client, who);
        tell(view);
    }
    give_up(view, client, who);
    reown(view, client, who);
    client->believes = client->paused = false;
    view->changed = true;
}

static void decide_write(struct view *view, const struct lapse_history_event *event) {
    struct seen_client *client = &view->clients[event->actor];
    if (event->u.resource.verb != LAPSE_CALL_WRITE || !client->writing ||
        client->write_id != event->call) {
        return;
    }
    client->writing = false;
    view->changed = true;
    if (event->u.resource.status == LAPSE_OK) {
        int64_t token = event->u.resource.token;
        view->highest = view->applied && view->highest > token ? view->highest : token;
        view->applied = true;
    }
}

static void set_clock(struct view *view, const struct lapse_history_event *event) {
    int32_t who = event->u.clock.whose.index;
    if (event->u.clock.whose.kind != LAPSE_PARTY_ACTOR || who >= view->scope.clients) {
        return;
    }
    struct seen_client *client = &view->clients[who];
    client->base_true_ns = event->at.ns;
    client->base_ns = event->u.clock.mono_after.ns;
    client->rate_ppb = event->u.clock.rate_ppb;
    client->stopped = event->u.clock.stopped;
}

/* It goes on under another owner text; what it holds and has sent is another's. */
static void reown(struct view *view, struct seen_client *client, int32_t who) {
    view->holder = view->holder == who ? -1 : view->holder;
    client->late.other = true;
}

/* Where nothing is ever under way, a state in which something is lies inside a move. */
static void tell(struct view *view) {
    struct state state;
    uint64_t words[WORDS_MAX];
    uint8_t order[LAPSE_EXPLORE_CLIENTS_MAX];
    view->changed = false;
    for (int32_t i = 0; i < view->scope.clients; i++) {
        bool inside = !view->scope.delay && view->clients[i].call.kind != CALL_NONE;
        if (inside) {
            return;
        }
    }
    fill(view, &state);
    for (int32_t i = 0; i < view->scope.clients; i++) {
        lapse_explore_settle(&view->scope, &state.clients[i]);
        view->clients[i].believes = state.clients[i].believes;
    }
    lapse_explore_pack(&view->scope, &state, words, order);
    view->seen(view->ctx, lapse_explore_abstract(&view->scope, words));
}

static void fill(const struct view *view, struct state *state) {
    memset(state, 0, sizeof(*state));
    state->live = view->live;
    state->left = (uint8_t)(view->live ? view->end - view->tick : 0);
    state->applied = view->applied;
    for (int32_t i = 0; i < view->scope.clients; i++) {
        const struct seen_client *from = &view->clients[i];
        struct client *to = &state->clients[i];
        int32_t now = view->tick + from->off;
        int32_t margin = view->scope.careful ? view->scope.margin : 0;
        to->paused = from->paused;
        to->believes = from->believes;
        to->owns = view->live && view->holder == i;
        to->rem = from->believes ? countdown(view, from->over, now) : 0;
        to->off = (int8_t)from->off;
        to->call = from->call.kind;
        to->call_rem = countdown(view, from->call.sent + from->call.whole - margin, now);
        to->late = from->late.kind;
        to->late_other = from->late.kind != CALL_NONE && from->late.other;
        to->writing = from->writing;
    }
    rank(view, state);
}

/* A token's rank is how many others are above it, from 1; that of the live grant is 0. */
static void rank(const struct view *view, struct state *state) {
    int64_t tokens[4 * LAPSE_EXPLORE_CLIENTS_MAX + 1];
    uint8_t *ranks[4 * LAPSE_EXPLORE_CLIENTS_MAX + 1];
    size_t count = 0;
    for (int32_t i = 0; i < view->scope.clients; i++) {
        const struct seen_client *from = &view->clients[i];
        struct client *to = &state->clients[i];
        const int64_t told[] = {from->token, from->call.token, from->late.token,
                                from->write_token};
        uint8_t *const places[] = {&to->token, &to->call_token, &to->late_token,
                                   &to->write_token};
        for (size_t k = 0; k < sizeof(told) / sizeof(told[0]); k++, count++) {
            tokens[count] = told[k];
            ranks[count] = places[k];
        }
    }
    tokens[count] = view->highest;
    ranks[count++] = &state->highest;
    for (size_t i = 0; i < count; i++) {
        if (view->live && tokens[i] == view->token) {
            continue;
        }
        uint8_t above = 1;
        for (size_t k = 0; k < count; k++) {
            bool first = true;
            for (size_t m = 0; m < k; m++) {
                first = first && tokens[m] != tokens[k];
            }
            above = (uint8_t)(above + (first && tokens[k] > tokens[i]));
        }
        *ranks[i] = above;
    }
}

static uint8_t countdown(const struct view *view, int32_t over, int32_t now) {
    int32_t left = over - now;
    left = left > view->scope.fresh ? view->scope.fresh : left;
    return (uint8_t)(left > view->scope.floor ? left : view->scope.floor);
}

/* Whole grains, counted up: what is less than a grain is one. */
static int32_t grains(const struct view *view, int64_t ns) {
    int64_t count = (ns + view->scope.grain_ns - 1) / view->scope.grain_ns;
    return count > view->scope.span ? view->scope.span : (int32_t)count;
}
