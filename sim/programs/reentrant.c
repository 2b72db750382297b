/* A lock that one owner enters several times: the first entry takes it, each later one renews it,
 * the last leave gives it back. While a stop callback runs after a loss, it is not taken again. */
#include "programs.h"

enum { ENTER, STOPPED, LEAVE }; /* timers; LEAVE + i: that entry leaves */
enum { ENTRIES_MAX = 8, TAG_TAKE = 0, TAG_RENEW, TAG_OTHER };

struct state {
    int entered, inside; /* how many entries there were, and are */
    int64_t token;       /* 0: it is not held */
};

static const struct lapse_program_word words[] = {
    WITH_TEXT(LEASE, "name", NULL, "the lease"),
    WITH_SPAN_OR_0("start", 0, "before the first entry"),
    WITH_NUMBER("entries", 2, "how many there are, 8 at most"),
    WITH_SPAN("gap", 2 * LAPSE_NS_PER_S, "between entries, and between tries"),
    WITH_SPAN("hold", 10 * LAPSE_NS_PER_S, "from an entry to its leave, which writes first"),
    WITH_SPAN("ttl", 30 * LAPSE_NS_PER_S, "the span of the lease"),
    WITH_SPAN_OR_0("stop", 0, "how long a stop callback runs once the lease is lost"),
    WITH_TEXT(RESOURCE, "resource", "", "written to at each leave"),
    WITH_TEXT(CARELESS, "careless", "release_each by_owner retake",
              "release_each: each leave gives the lease back; by_owner: a later entry asks again "
              "and takes the answer for a fresh span; retake: takes it again while the stop "
              "callback still runs"),
};

static void send(struct lapse_program *program, const struct state *state, int tag, int verb) {
    struct lapse_program_call call = {.tag = tag, .verb = verb};
    bool asks = verb == LAPSE_VERB_ACQUIRE || verb == LAPSE_VERB_EXTEND;
    call.name = lapse_program_text(program, "name");
    call.span.ns = asks ? lapse_program_number(program, "ttl") : 0;
    call.has_token = verb != LAPSE_VERB_ACQUIRE;
    call.token = state->token;
    lapse_program_send(program, &call);
}

static void begin(struct lapse_program *program, void *memory) {
    (void)memory;
    lapse_program_timer(program, ENTER, lapse_program_span(program, "start"));
}

static void enter(struct lapse_program *program, struct state *state) {
    int64_t entries = lapse_program_number(program, "entries");
    state->inside++;
    lapse_program_timer(program, LEAVE + state->entered, lapse_program_span(program, "hold"));
    state->entered++;
    if (state->entered < entries && state->entered < ENTRIES_MAX) {
        lapse_program_timer(program, ENTER, lapse_program_span(program, "gap"));
    }
}

/* All its entries end with the lease, once they have been told to stop. */
static void lose(struct lapse_program *program, struct state *state) {
    bool retakes = lapse_program_careless(program, "retake");
    state->token = 0;
    if (!retakes) {
        for (int i = 0; i < state->entered; i++) {
            lapse_program_timer_stop(program, LEAVE + i);
        }
        state->inside = state->entered = 0;
    }
    lapse_program_timer(program, retakes ? ENTER : STOPPED,
                        retakes ? (struct lapse_span){0} : lapse_program_span(program, "stop"));
}

static void replied(struct lapse_program *program, void *memory,
                    const struct lapse_program_reply *reply) {
    struct state *state = memory;
    if (reply->tag == TAG_OTHER) {
        return;
    }
    if (reply->status == LAPSE_OK) {
        bool held = state->token > 0;
        state->token = reply->answer->token;
        if (reply->tag == TAG_RENEW || !held || lapse_program_careless(program, "by_owner")) {
            enter(program, state);
        }
    } else if (reply->tag == TAG_TAKE && state->token == 0) {
        lapse_program_timer(program, ENTER, lapse_program_span(program, "gap"));
    } else if (state->token > 0) {
        lose(program, state);
    }
}

static void leave(struct lapse_program *program, struct state *state) {
    state->inside -= state->inside > 0 ? 1 : 0;
    if (state->token > 0) {
        lapse_program_write(program, TAG_OTHER, state->token);
    }
    if (state->inside == 0 || lapse_program_careless(program, "release_each")) {
        send(program, state, TAG_OTHER, LAPSE_VERB_RELEASE);
    }
    if (state->inside == 0 && state->entered >= lapse_program_number(program, "entries")) {
        lapse_program_end(program);
    } else if (state->inside == 0) {
        state->token = 0; /* the next entry takes it anew */
    }
}

static void fired(struct lapse_program *program, void *memory, int timer) {
    struct state *state = memory;
    bool again = state->token == 0 || lapse_program_careless(program, "by_owner");
    if (timer >= LEAVE) {
        leave(program, state);
    } else if (timer == STOPPED) {
        lapse_program_timer(program, ENTER, lapse_program_span(program, "gap"));
    } else if (again) {
        send(program, state, TAG_TAKE, LAPSE_VERB_ACQUIRE);
    } else {
        send(program, state, TAG_RENEW, LAPSE_VERB_EXTEND);
    }
}

const struct lapse_program_kind lapse_program_reentrant = {
    .name = "reentrant",
    .sentence = "enters one lease several times, and gives it back at the last leave",
    PROGRAM_PARTS,
    .fired = fired,
};
