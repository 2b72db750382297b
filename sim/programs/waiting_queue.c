/* A queue of waiters, first come first served. Each has an entry of its own, with a term of its
 * own; the revision of an entry says who came first, and is the token under which its owner writes.
 * Who finds none before its own entry holds; who does not find its own has lost its place. */
#include "programs.h"

enum { START, LOOK, RENEW }; /* timers */
enum { TAG_WATCH, TAG_ENTER, TAG_LOOK, TAG_RENEW, TAG_OTHER };

struct state {
    char key[LAPSE_PROGRAM_TEXT_MAX];
    size_t key_len, bucket_len; /* of bucket/owner */
    int64_t revision;           /* of its entry; 0: it has none */
    bool holds, looks, again;   /* again: something has changed since the look was sent */
};

static const struct lapse_program_word words[] = {
    WITH_TEXT(BUCKET, "bucket", NULL, "holds the entries"),
    WITH_TEXT(LEASE, "name", NULL, "what the first in the queue holds"),
    WITH_SPAN_OR_0("start", 0, "before it enters"),
    WITH_SPAN("ttl", 30 * LAPSE_NS_PER_S, "the term of its entry"),
    WITH_SPAN_OR_0("every", 10 * LAPSE_NS_PER_S, "between renewals of its entry; 0: none"),
    WITH_SPAN("hold", 5 * LAPSE_NS_PER_S, "work as the first, then a write, then it leaves"),
    WITH_TEXT(RESOURCE, "resource", "", "written to under its revision"),
    WITH_TEXT(CARELESS, "careless", "blind stays",
              "blind: does not look whether its own entry is there; stays: does not leave when "
              "its work is done"),
};

static void send(struct lapse_program *program, const struct state *state, int tag, int verb) {
    struct lapse_program_call call = {.tag = tag, .verb = verb};
    bool whole = verb == LAPSE_VERB_ALL || verb == LAPSE_VERB_WATCH;
    call.name = (struct lapse_bytes){(const unsigned char *)state->key,
                                     whole ? state->bucket_len : state->key_len};
    if (verb == LAPSE_VERB_CREATE || verb == LAPSE_VERB_EXPIRE) {
        call.span = lapse_program_span(program, "ttl");
    }
    call.has_if_version = verb == LAPSE_VERB_EXPIRE || verb == LAPSE_VERB_DELETE;
    call.if_version = state->revision;
    lapse_program_send(program, &call);
}

static void look(struct lapse_program *program, struct state *state) {
    state->again = state->looks;
    if (!state->looks && !state->holds && state->revision > 0) {
        state->looks = true;
        send(program, state, TAG_LOOK, LAPSE_VERB_ALL);
    }
}

static void begin(struct lapse_program *program, void *memory) {
    struct state *state = memory;
    struct lapse_bytes parts[] = {lapse_program_text(program, "bucket"), lapse_bytes_of("/"),
                                  lapse_program_owner(program)};
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < parts[i].len && state->key_len < sizeof(state->key); k++) {
            state->key[state->key_len++] = (char)parts[i].data[k];
        }
    }
    state->bucket_len = parts[0].len;
    lapse_program_timer(program, START, lapse_program_span(program, "start"));
}

/* Whether it is the first, by what a look has found. */
static void judge(struct lapse_program *program, struct state *state,
                  const struct lapse_answer *found) {
    bool first = true, there = lapse_program_careless(program, "blind");
    for (size_t i = 0; i < found->item_count; i++) {
        there = there || found->items[i].revision == state->revision;
        first = first && found->items[i].revision >= state->revision;
    }
    if (!there) {
        lapse_program_stop(program);
    } else if (first) {
        state->holds = true;
        lapse_program_believe(program, lapse_program_text(program, "name"), state->revision);
        lapse_program_work(program, lapse_program_span(program, "hold"), false, 0);
    } else if (state->again) {
        look(program, state);
    }
}

static void replied(struct lapse_program *program, void *memory,
                    const struct lapse_program_reply *reply) {
    struct state *state = memory;
    bool blind = lapse_program_careless(program, "blind");
    if (reply->tag == TAG_ENTER && reply->status == LAPSE_OK) {
        state->revision = reply->answer->revision;
        lapse_program_timer(program, LOOK, lapse_program_span(program, "ttl"));
        if (lapse_program_number(program, "every") > 0) {
            lapse_program_timer(program, RENEW, lapse_program_span(program, "every"));
        }
        look(program, state);
    } else if (reply->tag == TAG_LOOK) {
        state->looks = false;
        judge(program, state, reply->answer);
    } else if (reply->tag == TAG_RENEW && reply->status == LAPSE_OK) {
        lapse_program_timer(program, LOOK, lapse_program_span(program, "ttl"));
    } else if (reply->tag == TAG_RENEW && !blind) {
        lapse_program_stop(program); /* its place is lost, and what it held by it */
    }
}

static void worked(struct lapse_program *program, void *memory, enum lapse_status status) {
    struct state *state = memory;
    (void)status;
    lapse_program_write(program, TAG_OTHER, state->revision);
    if (!lapse_program_careless(program, "stays")) {
        send(program, state, TAG_OTHER, LAPSE_VERB_DELETE);
        lapse_program_doubt(program, lapse_program_text(program, "name"));
        lapse_program_end(program);
    }
}

static void fired(struct lapse_program *program, void *memory, int timer) {
    struct state *state = memory;
    if (timer == START) {
        send(program, state, TAG_WATCH, LAPSE_VERB_WATCH);
        send(program, state, TAG_ENTER, LAPSE_VERB_CREATE);
    } else if (timer == RENEW) {
        send(program, state, TAG_RENEW, LAPSE_VERB_EXPIRE);
        lapse_program_timer(program, RENEW, lapse_program_span(program, "every"));
    } else {
        look(program, state); /* its own entry may have ended */
    }
}

static void told(struct lapse_program *program, void *memory, const struct lapse_event *event) {
    if (event->kind != LAPSE_EVENT_PUT) {
        look(program, memory);
    }
}

const struct lapse_program_kind lapse_program_waiting_queue = {
    .name = "waiting_queue",
    .sentence = "waits in a queue with an entry of its own; the first holds",
    PROGRAM_PARTS,
    .worked = worked,
    .fired = fired,
    .told = told,
};
