/* Keeps a session alive in a renewal timer apart from its work, and writes under the lease that
 * ends with it. Once the session is lost, it stops: whatever was taken with it is gone too. */
#include "programs.h"

enum { RENEW, RETRY }; /* timers */
enum { TAG_OPEN, TAG_TAKE, TAG_RENEW, TAG_WRITE };

struct state {
    struct lapse_bytes name, lease;
    struct lapse_span ttl, every, work;
    int64_t token;
    bool works, due;
    bool deaf, reopens, one_thread; /* its mistakes */
};

static void open_session(struct lapse_program *program, const struct state *state);
static void take_lease(struct lapse_program *program, const struct state *state);
static void renew(struct lapse_program *program, const struct state *state);
static void lost(struct lapse_program *program, struct state *state);

static const struct lapse_program_word words[] = {
    WITH_TEXT(NAME, "name", NULL, "the session"),
    WITH_TEXT(LEASE, "lease", NULL, "a lease that ends with it"),
    WITH_SPAN("ttl", 30 * LAPSE_NS_PER_S, "how long it lives unrenewed"),
    WITH_SPAN("every", 10 * LAPSE_NS_PER_S, "between renewals, and between tries"),
    WITH_SPAN("work", 5 * LAPSE_NS_PER_S, "one piece of work"),
    WITH_TEXT(RESOURCE, "resource", "", "written to after each piece"),
    WITH_TEXT(CARELESS, "careless", "deaf reopens one_thread",
              "deaf: goes on once it is lost; reopens: opens it again and goes on with the old "
              "token; one_thread: renews between pieces of work alone"),
};

static void begin(struct lapse_program *program, void *memory) {
    struct state *state = memory;
    state->name = lapse_program_text(program, "name");
    state->lease = lapse_program_text(program, "lease");
    state->ttl.ns = lapse_program_number(program, "ttl");
    state->every.ns = lapse_program_number(program, "every");
    state->work.ns = lapse_program_number(program, "work");
    state->deaf = lapse_program_careless(program, "deaf");
    state->reopens = lapse_program_careless(program, "reopens");
    state->one_thread = lapse_program_careless(program, "one_thread");
    open_session(program, state);
}

static void replied(struct lapse_program *program, void *memory,
                    const struct lapse_program_reply *reply) {
    struct state *state = memory;
    bool ok = reply->status == LAPSE_OK;
    if (reply->tag == TAG_OPEN && ok) {
        lapse_program_timer(program, RENEW, state->every);
        if (!state->works) {
            take_lease(program, state);
        }
    } else if (reply->tag == TAG_TAKE && ok) {
        state->token = reply->answer->token;
        state->works = true;
        lapse_program_work(program, state->work, !state->deaf && !state->reopens, state->token);
    } else if (reply->tag == TAG_OPEN || reply->tag == TAG_TAKE) {
        lapse_program_timer(program, RETRY, state->every);
    } else if (reply->status == LAPSE_LOST || reply->status == LAPSE_FENCED ||
               reply->status == LAPSE_TOO_LATE) {
        lost(program, state);
    }
}

static void worked(struct lapse_program *program, void *memory, enum lapse_status status) {
    struct state *state = memory;
    if (status != LAPSE_OK) {
        lost(program, state);
        return;
    }
    if (state->due) {
        state->due = false;
        renew(program, state);
    }
    lapse_program_write(program, TAG_WRITE, state->token);
    lapse_program_work(program, state->work, !state->deaf && !state->reopens, state->token);
}

static void fired(struct lapse_program *program, void *memory, int timer) {
    struct state *state = memory;
    if (timer == RETRY) {
        open_session(program, state); /* the same one, if it still lives */
        return;
    }
    lapse_program_timer(program, RENEW, state->every);
    state->due = state->one_thread && state->works;
    if (!state->due) {
        renew(program, state);
    }
}

static void open_session(struct lapse_program *program, const struct state *state) {
    lapse_program_send(program, &(struct lapse_program_call){.tag = TAG_OPEN,
                                                             .verb = LAPSE_VERB_SESSION,
                                                             .name = state->name,
                                                             .span = state->ttl});
}

static void take_lease(struct lapse_program *program, const struct state *state) {
    lapse_program_send(program, &(struct lapse_program_call){.tag = TAG_TAKE,
                                                             .verb = LAPSE_VERB_ACQUIRE,
                                                             .name = state->lease,
                                                             .session = state->name});
}

static void renew(struct lapse_program *program, const struct state *state) {
    lapse_program_send(program, &(struct lapse_program_call){.tag = TAG_RENEW,
                                                             .verb = LAPSE_VERB_KEEPALIVE,
                                                             .name = state->name});
}

static void lost(struct lapse_program *program, struct state *state) {
    if (state->reopens) {
        open_session(program, state);
    } else if (!state->deaf) {
        lapse_program_stop(program);
    }
}

const struct lapse_program_kind lapse_program_session = {
    .name = "session",
    .sentence = "keeps a session alive apart from its work, and stops once it is lost",
    PROGRAM_PARTS,
    .worked = worked,
    .fired = fired,
};
