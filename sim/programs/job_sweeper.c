/* The sweeper beside the workers of `job_queue`: a job that is `taken` while nobody holds its lease
 * has stalled. It is handed on as `ready`, at most `budget` times; then it is `failed`. */
#include "programs.h"

enum { SWEEP }; /* timers */
enum { TAG_LOOK = 0, TAG_HOLDER = 100, TAG_OTHER = 200 };

struct state {
    int jobs;
    int tries[LAPSE_PROGRAM_MANY_MAX + 1];
    int64_t revision[LAPSE_PROGRAM_MANY_MAX + 1];       /* of the job's record, as last seen */
    struct lapse_steady since[LAPSE_PROGRAM_MANY_MAX + 1]; /* when it was first seen so */
};

static const struct lapse_program_word words[] = {
    WITH_TEXT(BUCKET, "bucket", NULL, "holds the jobs"),
    WITH_LEASES("name", "jobs", 1, "the queue; the lease of job n is NAME/n"),
    WITH_NUMBER("jobs", 1, "how many there are, 64 at most"),
    WITH_SPAN("every", 5 * LAPSE_NS_PER_S, "between sweeps"),
    WITH_NUMBER("budget", 3, "how often a job is handed on"),
    WITH_SPAN("rescue", 60 * LAPSE_NS_PER_S, "with `elapsed`: how long a job may be taken"),
    WITH_TEXT(CARELESS, "careless", "elapsed",
              "elapsed: hands on what has been taken for `rescue`, whoever holds its lease"),
};

static void send(struct lapse_program *program, int tag, int verb, int job, const char *value,
                 int64_t revision) {
    char buf[LAPSE_PROGRAM_TEXT_MAX];
    struct lapse_program_call call = {.tag = tag, .verb = verb};
    bool lease = verb == LAPSE_VERB_INSPECT;
    call.name = lapse_program_numbered(lapse_program_text(program, lease ? "name" : "bucket"), job,
                                       buf);
    call.value = value == NULL ? call.value : lapse_bytes_of(value);
    call.has_if_version = revision > 0;
    call.if_version = revision;
    lapse_program_send(program, &call);
}

static void begin(struct lapse_program *program, void *memory) {
    struct state *state = memory;
    state->jobs = (int)lapse_program_number(program, "jobs");
    lapse_program_timer(program, SWEEP, lapse_program_span(program, "every"));
}

/* Only the record that was seen is handed on: another worker may have taken it since. */
static void hand_on(struct lapse_program *program, struct state *state, int job) {
    bool more = state->tries[job] < lapse_program_number(program, "budget");
    state->tries[job]++;
    send(program, TAG_OTHER, LAPSE_VERB_UPDATE, job, more ? "ready" : "failed",
         state->revision[job]);
}

static void looked(struct lapse_program *program, struct state *state, int job,
                   const struct lapse_answer *answer) {
    struct lapse_steady now = lapse_program_now(program);
    int64_t stood = 0;
    if (answer->revision != state->revision[job]) {
        state->revision[job] = answer->revision;
        state->since[job] = now;
    }
    if (!lapse_program_careless(program, "elapsed")) {
        send(program, TAG_HOLDER + job, LAPSE_VERB_INSPECT, job, NULL, 0);
    } else if (lapse_ns_sub(now.ns, state->since[job].ns, &stood) &&
               stood >= lapse_program_number(program, "rescue")) {
        hand_on(program, state, job);
    }
}

static void replied(struct lapse_program *program, void *memory,
                    const struct lapse_program_reply *reply) {
    struct state *state = memory;
    bool taken = reply->status == LAPSE_OK &&
                 lapse_bytes_equal(reply->answer->value, lapse_bytes_of("taken"));
    if (reply->tag < TAG_HOLDER && taken) {
        looked(program, state, reply->tag, reply->answer);
    } else if (reply->tag > TAG_HOLDER && reply->tag < TAG_OTHER &&
               reply->status == LAPSE_ABSENT) {
        hand_on(program, state, reply->tag - TAG_HOLDER);
    }
}

static void fired(struct lapse_program *program, void *memory, int timer) {
    struct state *state = memory;
    lapse_program_timer(program, timer, lapse_program_span(program, "every"));
    for (int i = 1; i <= state->jobs; i++) {
        send(program, TAG_LOOK + i, LAPSE_VERB_ENTRY, i, NULL, 0);
    }
}

const struct lapse_program_kind lapse_program_job_sweeper = {
    .name = "job_sweeper",
    .sentence = "hands stalled jobs of a `job_queue` on, within a budget",
    PROGRAM_PARTS,
    .fired = fired,
};
