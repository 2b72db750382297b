/* A lock made of a majority: N lease names stand for N servers that know nothing of each other. An
 * attempt asks all. It has the lock if a majority granted it and time is left of the span, counted
 * from its own start; else it gives back all it may have got, also where no answer came. A renewal
 * asks anew where a server has forgotten the lock, so that a majority stays one. */
#include "programs.h"

enum { RETRY, OVER, RENEW, TAG_ASK = 0, TAG_RENEW = 100, TAG_OTHER = 200 }; /* timers, tags */

struct state {
    struct lapse_bytes name;
    int servers, answers, yes;
    struct lapse_steady first, until; /* the first attempt began; this one gives it */
    int64_t token;                    /* the highest that was granted */
    bool holds, asking, working;
};

static const struct lapse_program_word words[] = {
    WITH_LEASES("name", "servers", 3, "the lock; its leases are NAME/1, NAME/2 and so on"),
    WITH_NUMBER("servers", 3, "how many there are"),
    WITH_SPAN("ttl", 30 * LAPSE_NS_PER_S, "the span that is asked for"),
    WITH_SPAN("retry", LAPSE_NS_PER_S, "between attempts"),
    WITH_SPAN_OR_0("drift", LAPSE_NS_PER_S / 100, "taken off the span for clocks that differ"),
    WITH_SPAN("hold", 5 * LAPSE_NS_PER_S, "work under it, then a write, then the release"),
    WITH_SPAN_OR_0("every", 0, "between renewals; 0: none"),
    WITH_SPAN("timeout", 3 * LAPSE_NS_PER_S, "how long a server is waited for"),
    WITH_TEXT(RESOURCE, "resource", "", "written to under the highest token of the majority"),
    WITH_TEXT(CARELESS, "careless", "first_attempt no_release extend_only no_validity",
              "first_attempt: counts the span from the first attempt; no_release: leaves what a "
              "failed one got; extend_only: never asks anew a server that forgot; no_validity: "
              "does not look at the time left"),
};

static void send(struct lapse_program *program, const struct state *state, int tag, int server,
                 int verb) {
    char buf[LAPSE_PROGRAM_TEXT_MAX];
    struct lapse_program_call call = {.tag = tag, .verb = verb};
    call.timeout = lapse_program_span(program, "timeout");
    call.name = lapse_program_numbered(state->name, server, buf);
    call.span.ns = verb == LAPSE_VERB_RELEASE ? 0 : lapse_program_number(program, "ttl");
    lapse_program_send(program, &call);
}

static void ask_all(struct lapse_program *program, struct state *state, int tag) {
    bool first = lapse_program_careless(program, "first_attempt");
    int64_t now = first ? state->first.ns : lapse_program_now(program).ns;
    int64_t span = lapse_program_number(program, "ttl") - lapse_program_number(program, "drift");
    state->until.ns = lapse_ns_add(now, span, &now) ? now : INT64_MAX;
    state->answers = state->yes = 0;
    state->asking = true;
    for (int i = 1; i <= state->servers; i++) {
        send(program, state, tag + i, i,
             tag == TAG_ASK ? LAPSE_VERB_ACQUIRE : LAPSE_VERB_EXTEND);
    }
}

static void give_back(struct lapse_program *program, struct state *state) {
    for (int i = 1; i <= state->servers; i++) {
        send(program, state, TAG_OTHER, i, LAPSE_VERB_RELEASE);
    }
    lapse_program_doubt(program, state->name);
    lapse_program_timer_stop(program, OVER);
    lapse_program_timer_stop(program, RENEW);
    lapse_program_timer(program, RETRY, lapse_program_span(program, "retry"));
    state->holds = state->asking = false;
}

static void begin(struct lapse_program *program, void *memory) {
    struct state *state = memory;
    state->name = lapse_program_text(program, "name");
    state->servers = (int)lapse_program_number(program, "servers");
    state->first = lapse_program_now(program);
    ask_all(program, state, TAG_ASK);
}

/* All have answered: whether the lock is had, or still had. */
static void count(struct lapse_program *program, struct state *state) {
    bool blind = lapse_program_careless(program, "no_validity");
    bool left = blind || lapse_program_now(program).ns < state->until.ns;
    bool held = state->holds;
    state->asking = false;
    state->holds = 2 * state->yes > state->servers && left;
    if (!state->holds) {
        if (held || !lapse_program_careless(program, "no_release")) {
            give_back(program, state);
        }
        lapse_program_timer(program, RETRY, lapse_program_span(program, "retry"));
        return;
    }
    if (!held) {
        lapse_program_believe(program, state->name, state->token);
    }
    if (!state->working) {
        state->working = true;
        lapse_program_work(program, lapse_program_span(program, "hold"), false, 0);
    }
    if (!blind) {
        lapse_program_timer_at(program, OVER, state->until);
    }
    if (lapse_program_number(program, "every") > 0) {
        lapse_program_timer(program, RENEW, lapse_program_span(program, "every"));
    }
}

static void replied(struct lapse_program *program, void *memory,
                    const struct lapse_program_reply *reply) {
    struct state *state = memory;
    if (reply->tag >= TAG_OTHER || !state->asking) {
        return;
    }
    if (reply->verb == LAPSE_VERB_EXTEND && reply->status == LAPSE_LOST &&
        !lapse_program_careless(program, "extend_only")) {
        send(program, state, reply->tag, reply->tag - TAG_RENEW, LAPSE_VERB_ACQUIRE);
        return;
    }
    int64_t token = reply->status == LAPSE_OK ? reply->answer->token : 0;
    state->yes += token > 0 ? 1 : 0;
    state->token = token > state->token ? token : state->token;
    if (++state->answers == state->servers) {
        count(program, state);
    }
}

static void worked(struct lapse_program *program, void *memory, enum lapse_status status) {
    struct state *state = memory;
    state->working = false;
    if (status != LAPSE_OK || !state->holds) {
        return;
    }
    lapse_program_write(program, TAG_OTHER, state->token);
    give_back(program, state);
    state->first = lapse_program_now(program);
}

static void fired(struct lapse_program *program, void *memory, int timer) {
    struct state *state = memory;
    if (timer == OVER) {
        give_back(program, state);
    } else {
        ask_all(program, state, timer == RENEW ? TAG_RENEW : TAG_ASK);
    }
}

const struct lapse_program_kind lapse_program_quorum_lock = {
    .name = "quorum_lock",
    .sentence = "holds a lock by a majority of N leases, each for a server",
    PROGRAM_PARTS,
    .worked = worked,
    .fired = fired,
};
