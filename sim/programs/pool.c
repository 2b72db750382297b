/* A pool of sessions between clients and the store. A client is handed a session, takes a lease
 * with it, works, writes and gives the session back. The pool keeps its sessions alive; it opens
 * anew one that was lost before a client acts with it, and closes one whose client has died or is
 * done, so that nothing stays locked in the pool. */
#include "programs.h"

enum { NEXT, KEEP, DIE }; /* timers */
enum { SESSIONS_MAX = 8, TAG_OPEN = 0, TAG_TAKE, TAG_OTHER, TAG_KEEP };

struct state {
    int now, sessions; /* the session that is handed out, from 1 */
    bool open[SESSIONS_MAX + 1];
    bool died, working;
    int64_t token;
};

static const struct lapse_program_word words[] = {
    WITH_TEXT(NAME, "name", NULL, "the pool; its sessions are NAME/1, NAME/2 ..."),
    WITH_TEXT(LEASE, "lease", NULL, "what its clients take"),
    WITH_NUMBER("sessions", 2, "how many it has, 8 at most"),
    WITH_SPAN("ttl", 30 * LAPSE_NS_PER_S, "how long a session lives unrenewed"),
    WITH_SPAN_OR_0("keep", 10 * LAPSE_NS_PER_S, "between renewals of all; 0: none"),
    WITH_SPAN("every", 5 * LAPSE_NS_PER_S, "between clients, and between tries"),
    WITH_SPAN("hold", 5 * LAPSE_NS_PER_S, "a client's work"),
    WITH_SPAN_OR_0("dies", 0, "a client dies after this much of it; 0: it lives"),
    WITH_TEXT(RESOURCE, "resource", "", "written to when the work is done"),
    WITH_TEXT(CARELESS, "careless", "hands_dead keeps_locks other_session",
              "hands_dead: a client goes on with a session that was lost; keeps_locks: takes a "
              "dead client's session back as it is; other_session: unlocks by closing the next "
              "session instead of the lock's own"),
};

static void send(struct lapse_program *program, int tag, int verb, int session) {
    char buf[LAPSE_PROGRAM_TEXT_MAX];
    struct lapse_program_call call = {.tag = tag, .verb = verb};
    struct lapse_bytes name =
        lapse_program_numbered(lapse_program_text(program, "name"), session, buf);
    call.name = verb == LAPSE_VERB_ACQUIRE ? lapse_program_text(program, "lease") : name;
    call.session = verb == LAPSE_VERB_ACQUIRE ? name : call.session;
    call.span.ns = verb == LAPSE_VERB_SESSION ? lapse_program_number(program, "ttl") : 0;
    lapse_program_send(program, &call);
}

static void hand_out(struct lapse_program *program, struct state *state) {
    bool open = state->open[state->now];
    send(program, open ? TAG_TAKE : TAG_OPEN, open ? LAPSE_VERB_ACQUIRE : LAPSE_VERB_SESSION,
         state->now);
}

static void begin(struct lapse_program *program, void *memory) {
    struct state *state = memory;
    int64_t sessions = lapse_program_number(program, "sessions");
    state->sessions = sessions < 1 ? 1 : sessions > SESSIONS_MAX ? SESSIONS_MAX : (int)sessions;
    state->now = 1;
    for (int i = 2; i <= state->sessions; i++) {
        send(program, TAG_KEEP + i, LAPSE_VERB_SESSION, i);
    }
    if (lapse_program_number(program, "keep") > 0) {
        lapse_program_timer(program, KEEP, lapse_program_span(program, "keep"));
    }
    hand_out(program, state);
}

static void start(struct lapse_program *program, struct state *state) {
    state->died = false;
    state->working = true;
    lapse_program_work(program, lapse_program_span(program, "hold"), false, 0);
    if (lapse_program_number(program, "dies") > 0) {
        lapse_program_timer(program, DIE, lapse_program_span(program, "dies"));
    }
}

static void replied(struct lapse_program *program, void *memory,
                    const struct lapse_program_reply *reply) {
    struct state *state = memory;
    bool ok = reply->status == LAPSE_OK;
    bool dead = lapse_program_careless(program, "hands_dead") && state->token > 0;
    if (reply->tag > TAG_KEEP) {
        bool *open = &state->open[reply->tag - TAG_KEEP];
        *open = reply->verb == LAPSE_VERB_SESSION ? ok : *open && reply->status != LAPSE_LOST;
    } else if (reply->tag == TAG_OPEN && ok) {
        state->open[state->now] = true;
        hand_out(program, state);
    } else if (reply->tag == TAG_TAKE && (ok || (dead && reply->status == LAPSE_LOST))) {
        state->token = ok ? reply->answer->token : state->token;
        start(program, state);
    } else if (reply->tag == TAG_TAKE && reply->status == LAPSE_LOST) {
        state->open[state->now] = false;
        hand_out(program, state);
    } else if (reply->tag < TAG_OTHER) {
        lapse_program_timer(program, NEXT, lapse_program_span(program, "every"));
    }
}

/* The client is done, or dead: its session goes back. */
static void take_back(struct lapse_program *program, struct state *state) {
    int next = state->now % state->sessions + 1;
    int closed = lapse_program_careless(program, "other_session") ? next : state->now;
    if (!state->died || !lapse_program_careless(program, "keeps_locks")) {
        send(program, TAG_OTHER, LAPSE_VERB_CLOSE, closed);
        state->open[closed] = false;
    }
    state->now = next;
    lapse_program_timer_stop(program, DIE);
    if (!state->working) {
        lapse_program_timer(program, NEXT, lapse_program_span(program, "every"));
    }
}

static void worked(struct lapse_program *program, void *memory, enum lapse_status status) {
    struct state *state = memory;
    state->working = false;
    if (state->died) { /* it did not come so far */
        lapse_program_timer(program, NEXT, lapse_program_span(program, "every"));
        return;
    }
    if (status == LAPSE_OK) {
        lapse_program_write(program, TAG_OTHER, state->token);
    }
    take_back(program, state);
}

static void fired(struct lapse_program *program, void *memory, int timer) {
    struct state *state = memory;
    if (timer == NEXT) {
        hand_out(program, state);
    } else if (timer == DIE) {
        state->died = true;
        take_back(program, state);
    } else {
        lapse_program_timer(program, KEEP, lapse_program_span(program, "keep"));
        for (int i = 1; i <= state->sessions; i++) {
            if (state->open[i]) {
                send(program, TAG_KEEP + i, LAPSE_VERB_KEEPALIVE, i);
            }
        }
    }
}

const struct lapse_program_kind lapse_program_pool = {
    .name = "pool",
    .sentence = "a pool of sessions between clients and the store",
    PROGRAM_PARTS,
    .worked = worked,
    .fired = fired,
};
