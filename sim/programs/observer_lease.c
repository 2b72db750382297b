/* A lease that is judged by observation: a record without a term, which its holder rewrites. Who
 * has seen it unchanged for `span` by its own clock, from when it first read that revision, takes
 * it over, by a write that only that very revision lets through. The revision of the take-over is
 * the token. */
#include "programs.h"

enum { LOOK, RENEW }; /* timers */
enum { TAG_LOOK, TAG_TAKE, TAG_RENEW, TAG_OTHER };

struct state {
    int64_t seen; /* the revision it has seen last; 0: none */
    struct lapse_steady since;
    int64_t token, revision; /* of its own take-over, and of its last write */
    bool holds, working;
};

static const struct lapse_program_word words[] = {
    WITH_TEXT(KEY, "key", NULL, "the record"),
    WITH_TEXT(LEASE, "name", NULL, "what its holder holds"),
    WITH_SPAN_OR_0("start", 0, "before its first look"),
    WITH_SPAN("every", 3 * LAPSE_NS_PER_S, "between looks, and between the holder's writes"),
    WITH_SPAN("span", 10 * LAPSE_NS_PER_S, "how long the record must have stood still"),
    WITH_SPAN("work", 2 * LAPSE_NS_PER_S, "one piece of the holder's work, then a write"),
    WITH_TEXT(RESOURCE, "resource", "", "written to under the token"),
    WITH_TEXT(CARELESS, "careless", "forgetful any_version deaf",
              "forgetful: knows of no look before the latest; any_version: takes over whatever "
              "the record has become; deaf: goes on when its record is another's"),
};

static void send(struct lapse_program *program, int tag, int verb, int64_t revision) {
    struct lapse_program_call call = {.tag = tag, .verb = verb};
    call.name = lapse_program_text(program, "key");
    call.value = lapse_program_owner(program);
    call.has_if_version = revision > 0;
    call.if_version = revision;
    lapse_program_send(program, &call);
}

static void begin(struct lapse_program *program, void *memory) {
    (void)memory;
    lapse_program_timer(program, LOOK, lapse_program_span(program, "start"));
}

/* The record is there, as another wrote it. */
static void watch(struct lapse_program *program, struct state *state, int64_t revision) {
    struct lapse_steady now = lapse_program_now(program);
    int64_t stood = 0;
    if (revision != state->seen) {
        state->seen = revision;
        state->since = now;
    }
    if (lapse_program_careless(program, "forgetful")) {
        state->seen = 0;
    }
    if (lapse_ns_sub(now.ns, state->since.ns, &stood) &&
        stood >= lapse_program_number(program, "span")) {
        bool any = lapse_program_careless(program, "any_version");
        send(program, TAG_TAKE, any ? LAPSE_VERB_SET : LAPSE_VERB_UPDATE, any ? 0 : revision);
    }
}

static void hold(struct lapse_program *program, struct state *state, int64_t revision) {
    state->token = state->revision = revision;
    state->holds = true;
    lapse_program_timer_stop(program, LOOK);
    lapse_program_believe(program, lapse_program_text(program, "name"), revision);
    lapse_program_timer(program, RENEW, lapse_program_span(program, "every"));
    if (!state->working) {
        state->working = true;
        lapse_program_work(program, lapse_program_span(program, "work"), false, 0);
    }
}

static void replied(struct lapse_program *program, void *memory,
                    const struct lapse_program_reply *reply) {
    struct state *state = memory;
    bool ok = reply->status == LAPSE_OK;
    if (reply->tag == TAG_LOOK && ok) {
        watch(program, state, reply->answer->revision);
    } else if (reply->tag == TAG_LOOK) {
        send(program, TAG_TAKE, LAPSE_VERB_CREATE, 0);
    } else if (reply->tag == TAG_TAKE && ok) {
        hold(program, state, reply->answer->revision);
    } else if (reply->tag == TAG_RENEW && ok) {
        state->revision = reply->answer->revision;
    } else if ((reply->tag == TAG_RENEW || reply->status == LAPSE_FENCED) &&
               !lapse_program_careless(program, "deaf")) {
        lapse_program_stop(program);
    }
}

static void worked(struct lapse_program *program, void *memory, enum lapse_status status) {
    struct state *state = memory;
    (void)status;
    lapse_program_write(program, TAG_OTHER, state->token);
    lapse_program_work(program, lapse_program_span(program, "work"), false, 0);
}

static void fired(struct lapse_program *program, void *memory, int timer) {
    struct state *state = memory;
    lapse_program_timer(program, timer, lapse_program_span(program, "every"));
    if (timer == LOOK) {
        send(program, TAG_LOOK, LAPSE_VERB_ENTRY, 0);
    } else {
        send(program, TAG_RENEW, LAPSE_VERB_UPDATE, state->revision);
    }
}

const struct lapse_program_kind lapse_program_observer_lease = {
    .name = "observer_lease",
    .sentence = "takes over a record unchanged for a span of its clock",
    PROGRAM_PARTS,
    .worked = worked,
    .fired = fired,
};
