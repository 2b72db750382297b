/* A worker of a job queue: looks for a job that is ready, takes its lease, works, and completes it
 * under the token of that grant. What its lease says goes: once it is lost, the job is another's.
 * Job n is the key BUCKET/n: `ready`, `taken`, `done` or `failed`; absent is ready too. */
#include "programs.h"

enum { NEXT, RENEW }; /* timers */
enum { TAG_LOOK, TAG_TAKE, TAG_MARK, TAG_RENEW, TAG_COMPLETE, TAG_OTHER };

struct state {
    int job;       /* from 1 */
    int64_t token; /* of its grant; 0: it has none */
    int64_t first; /* of its first grant */
    bool working;
};

static const struct lapse_program_word words[] = {
    WITH_TEXT(BUCKET, "bucket", NULL, "holds the jobs"),
    WITH_LEASES("name", "jobs", 1, "the queue; the lease of job n is NAME/n"),
    WITH_NUMBER("jobs", 1, "how many there are"),
    WITH_SPAN_OR_0("start", 0, "before it begins"),
    WITH_SPAN("ttl", 30 * LAPSE_NS_PER_S, "the span of a job's lease"),
    WITH_SPAN_OR_0("every", 10 * LAPSE_NS_PER_S, "between renewals; 0: none"),
    WITH_SPAN("retry", LAPSE_NS_PER_S, "between looks at jobs"),
    WITH_SPAN("work", 20 * LAPSE_NS_PER_S, "how long a job takes"),
    WITH_TEXT(RESOURCE, "resource", NULL, "where jobs are completed"),
    WITH_TEXT(CARELESS, "careless", "one_token deaf",
              "one_token: completes every job with the token of its first grant; deaf: completes "
              "a job whose lease it has lost"),
};

static void send(struct lapse_program *program, const struct state *state, int tag, int verb,
                 const char *value) {
    char buf[LAPSE_PROGRAM_TEXT_MAX];
    bool lease = verb == LAPSE_VERB_ACQUIRE || verb == LAPSE_VERB_EXTEND ||
                 verb == LAPSE_VERB_RELEASE;
    struct lapse_program_call call = {.tag = tag, .verb = verb};
    call.name = lapse_program_numbered(lapse_program_text(program, lease ? "name" : "bucket"),
                                       state->job, buf);
    call.span.ns = lease && verb != LAPSE_VERB_RELEASE ? lapse_program_number(program, "ttl") : 0;
    call.has_token = verb == LAPSE_VERB_EXTEND || verb == LAPSE_VERB_RELEASE;
    call.token = state->token;
    call.value = value == NULL ? call.value : lapse_bytes_of(value);
    lapse_program_send(program, &call);
}

static void next(struct lapse_program *program, struct state *state) {
    state->job = state->job < lapse_program_number(program, "jobs") ? state->job + 1 : 1;
    state->token = 0;
    lapse_program_timer_stop(program, RENEW);
    lapse_program_timer(program, NEXT, lapse_program_span(program, "retry"));
}

static void begin(struct lapse_program *program, void *memory) {
    struct state *state = memory;
    state->job = 1;
    lapse_program_timer(program, NEXT, lapse_program_span(program, "start"));
}

static void taken(struct lapse_program *program, struct state *state, int64_t token) {
    state->token = token;
    state->first = state->first > 0 ? state->first : token;
    send(program, state, TAG_MARK, LAPSE_VERB_SET, "taken");
    if (lapse_program_number(program, "every") > 0) {
        lapse_program_timer(program, RENEW, lapse_program_span(program, "every"));
    }
    if (!state->working) {
        state->working = true;
        lapse_program_work(program, lapse_program_span(program, "work"),
                           !lapse_program_careless(program, "deaf"), token);
    }
}

static void replied(struct lapse_program *program, void *memory,
                    const struct lapse_program_reply *reply) {
    struct state *state = memory;
    bool ok = reply->status == LAPSE_OK;
    bool ready = reply->status == LAPSE_ABSENT ||
                 (ok && lapse_bytes_equal(reply->answer->value, lapse_bytes_of("ready")));
    if (reply->tag == TAG_LOOK && ready) {
        send(program, state, TAG_TAKE, LAPSE_VERB_ACQUIRE, NULL);
    } else if (reply->tag == TAG_TAKE && ok) {
        taken(program, state, reply->answer->token);
    } else if (reply->tag == TAG_LOOK || reply->tag == TAG_TAKE) {
        next(program, state);
    } else if (reply->tag == TAG_COMPLETE) {
        if (ok) {
            send(program, state, TAG_OTHER, LAPSE_VERB_SET, "done");
        }
        send(program, state, TAG_OTHER, LAPSE_VERB_RELEASE, NULL);
        next(program, state);
    } else if (reply->tag == TAG_RENEW && (reply->status == LAPSE_LOST ||
                                           reply->status == LAPSE_NOT_OWNER) &&
               !lapse_program_careless(program, "deaf")) {
        state->token = 0; /* its work has ended with it */
        lapse_program_timer_stop(program, RENEW);
    }
}

static void worked(struct lapse_program *program, void *memory, enum lapse_status status) {
    struct state *state = memory;
    state->working = false;
    if (status != LAPSE_OK || state->token == 0) {
        next(program, state);
        return;
    }
    bool one = lapse_program_careless(program, "one_token");
    lapse_program_write(program, TAG_COMPLETE, one ? state->first : state->token);
}

static void fired(struct lapse_program *program, void *memory, int timer) {
    struct state *state = memory;
    if (timer == NEXT) {
        send(program, state, TAG_LOOK, LAPSE_VERB_GET, NULL);
    } else {
        send(program, state, TAG_RENEW, LAPSE_VERB_EXTEND, NULL);
        lapse_program_timer(program, RENEW, lapse_program_span(program, "every"));
    }
}

const struct lapse_program_kind lapse_program_job_queue = {
    .name = "job_queue",
    .sentence = "takes jobs under a lease each, and completes them with its token",
    PROGRAM_PARTS,
    .worked = worked,
    .fired = fired,
};
