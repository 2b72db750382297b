/* The world's side of client programs: begins them, hands them answers, timers and events, and
 * sends what they ask for as any client's call is sent.
 *
 * A call of a program is one of its strand's line that nothing waits for, so that several can be on
 * their way. What stays of a call's words once it is sent is its shape, kept by the program; there
 * are few, and they live as long as the world. */
#include "program_run.h"

#include "belief.h"
#include "client.h"
#include "timer.h"
#include "work.h"

#include <stdio.h>
#include <string.h>

/* The words of a call that beliefs and locks ask for after it was sent. */
struct shape {
    struct shape *next;
    struct lapse_plan_call call;
};

struct lapse_program {
    struct lapse_world *world;
    const struct lapse_plan_program *plan;
    const struct lapse_program_kind *kind;
    int32_t strand, incarnation;
    void *state;
    int64_t timers[LAPSE_PROGRAM_TIMERS_MAX]; /* what was set last; 0: stopped */
    int64_t next_timer;
    struct shape *shapes;
};

static struct lapse_program *of_strand(const struct lapse_world *world, int32_t strand);
static bool lives(const struct lapse_program *program);
static const struct lapse_plan_with *given(const struct lapse_program *program, const char *name);
static const struct lapse_program_word *word_of(const struct lapse_program *program,
                                                const char *name);
static struct lapse_plan_call words_of(const struct lapse_program *program,
                                       const struct lapse_program_call *call,
                                       struct lapse_text_part parts[3]);
static bool is_lease_verb(int verb);
static void name_key(const struct lapse_program *program, struct lapse_bytes name,
                     struct lapse_plan_call *ret, struct lapse_text_part *part);
static struct lapse_text text_of(struct lapse_bytes bytes, struct lapse_text_part *part);
static const struct lapse_plan_call *keep_shape(struct lapse_program *program,
                                                const struct lapse_plan_call *words);

bool lapse_sim_program_open(struct lapse_world *world) {
    const struct lapse_plan *plan = world->plan;
    if (plan->program_count == 0) {
        return true;
    }
    world->programs =
        lapse_alloc_zero(world->alloc, plan->program_count * sizeof(*world->programs));
    for (size_t i = 0; world->programs != NULL && i < plan->program_count; i++) {
        struct lapse_program *program = &world->programs[i];
        program->world = world;
        program->plan = &plan->programs[i];
        program->strand = -1;
        program->kind = lapse_program_find((const char *)plan->programs[i].name.data,
                                           plan->programs[i].name.len);
        program->state = program->kind == NULL
                             ? NULL
                             : lapse_alloc_zero(world->alloc, program->kind->state_bytes);
        if (program->state == NULL) {
            return false;
        }
    }
    return world->programs != NULL;
}

enum lapse_sim_flow lapse_sim_program_begin(struct lapse_world *world, int32_t strand) {
    struct lapse_program *program = of_strand(world, strand);
    LAPSE_ASSERT(program != NULL);
    program->strand = strand;
    program->incarnation = world->actors[world->strands[strand].actor].incarnation;
    memset(program->state, 0, program->kind->state_bytes);
    memset(program->timers, 0, sizeof(program->timers));
    world->strands[strand].wait = LAPSE_WAIT_PROGRAM;
    program->kind->begin(program, program->state);
    return LAPSE_FLOW_WAIT;
}

void lapse_sim_program_replied(struct lapse_world *world, const struct lapse_sim_call *call) {
    struct lapse_program *program = of_strand(world, call->strand);
    struct lapse_program_reply reply = {.tag = call->tag,
                                        .verb = call->request.verb,
                                        .status = call->answer.status,
                                        .answer = &call->answer,
                                        .sent = call->sent_reading};
    if (reply.verb == LAPSE_CALL_WORK) { /* it could not begin */
        lapse_sim_program_worked(world, call->strand, reply.status);
    } else if (lives(program) && program->kind->replied != NULL) {
        program->kind->replied(program, program->state, &reply);
    }
}

void lapse_sim_program_worked(struct lapse_world *world, int32_t strand,
                              enum lapse_status status) {
    struct lapse_program *program = of_strand(world, strand);
    world->strands[strand].wait = LAPSE_WAIT_PROGRAM;
    if (lives(program) && program->kind->worked != NULL) {
        program->kind->worked(program, program->state, status);
    }
}

void lapse_sim_program_fired(struct lapse_world *world, const struct lapse_queue_item *item) {
    struct lapse_program *program = of_strand(world, item->index);
    for (int i = 0; i < LAPSE_PROGRAM_TIMERS_MAX; i++) {
        if (program->timers[i] == item->id && program->kind->fired != NULL) {
            program->timers[i] = 0;
            program->kind->fired(program, program->state, i);
            return;
        }
    }
}

bool lapse_sim_program_stale(const struct lapse_world *world, const struct lapse_queue_item *item) {
    const struct lapse_program *program = of_strand(world, item->index);
    bool set = false;
    for (int i = 0; i < LAPSE_PROGRAM_TIMERS_MAX; i++) {
        set = set || program->timers[i] == item->id;
    }
    return !set || !lives(program);
}

void lapse_sim_program_told(struct lapse_world *world, int32_t actor,
                            const struct lapse_event *event) {
    for (size_t i = 0; i < world->plan->program_count; i++) {
        struct lapse_program *program = &world->programs[i];
        if (program->plan->actor == actor && lives(program) && program->kind->told != NULL) {
            program->kind->told(program, program->state, event);
        }
    }
}

bool lapse_sim_program_is(const struct lapse_world *world, int32_t strand) {
    return of_strand(world, strand) != NULL;
}

/* ---- What programs call. */

int64_t lapse_program_number(const struct lapse_program *program, const char *name) {
    const struct lapse_plan_with *with = given(program, name);
    return with != NULL ? with->number.number : word_of(program, name)->number;
}

struct lapse_span lapse_program_span(const struct lapse_program *program, const char *name) {
    return (struct lapse_span){lapse_program_number(program, name)};
}

struct lapse_bytes lapse_program_text(const struct lapse_program *program, const char *name) {
    const struct lapse_plan_with *with = given(program, name);
    if (with != NULL && with->text.part_count > 0) {
        return with->text.parts[0].literal;
    }
    const struct lapse_program_word *word = word_of(program, name);
    bool none = with != NULL || word->text == NULL || word->takes == LAPSE_PROGRAM_CARELESS;
    return none ? (struct lapse_bytes){NULL, 0} : lapse_bytes_of(word->text);
}

bool lapse_program_careless(const struct lapse_program *program, const char *word) {
    return lapse_bytes_equal(lapse_program_text(program, "careless"), lapse_bytes_of(word));
}

int32_t lapse_program_resource(const struct lapse_program *program, const char *name) {
    const struct lapse_setup *setup = &program->world->plan->setup;
    struct lapse_bytes text = lapse_program_text(program, name);
    for (size_t i = 0; i < setup->resource_count; i++) {
        if (lapse_bytes_equal(setup->resources[i].name, text)) {
            return (int32_t)i;
        }
    }
    return -1;
}

struct lapse_bytes lapse_program_owner(const struct lapse_program *program) {
    return program->world->actors[program->plan->actor].owner;
}

void lapse_program_send(struct lapse_program *program, const struct lapse_program_call *call) {
    if (!lives(program)) {
        return;
    }
    struct lapse_text_part parts[3];
    struct lapse_plan_call words = words_of(program, call, parts);
    struct lapse_sim_call made = lapse_sim_client_call(program->world, program->strand, call->verb);
    made.program = made.nowait = true;
    made.tag = call->tag;
    made.has_timeout = call->timeout.ns > 0;
    made.timeout_ns = call->timeout.ns;
    made.shape = keep_shape(program, &words);
    if (made.shape != NULL) {
        (void)lapse_sim_client_send_made(program->world, &made, &words, program->world->now.ns);
    }
}

void lapse_program_write(struct lapse_program *program, int tag, int64_t token) {
    struct lapse_program_call call = {.tag = tag,
                                      .verb = LAPSE_CALL_WRITE,
                                      .resource = lapse_program_resource(program, "resource"),
                                      .value = lapse_program_owner(program),
                                      .has_token = true,
                                      .token = token};
    if (call.resource >= 0) {
        lapse_program_send(program, &call);
    }
}

void lapse_program_work(struct lapse_program *program, struct lapse_span span, bool tied,
                        int64_t token) {
    if (lives(program)) {
        LAPSE_ASSERT(program->world->strands[program->strand].wait == LAPSE_WAIT_PROGRAM);
        lapse_sim_work_spend(program->world, program->strand, span, tied, token);
    }
}

struct lapse_steady lapse_program_now(const struct lapse_program *program) {
    int32_t actor = program->plan->actor;
    return (struct lapse_steady){lapse_sim_timer_now(program->world, actor)};
}

void lapse_program_timer_at(struct lapse_program *program, int timer, struct lapse_steady at) {
    LAPSE_ASSERT(timer >= 0 && timer < LAPSE_PROGRAM_TIMERS_MAX);
    if (!lives(program)) {
        return;
    }
    program->timers[timer] = ++program->next_timer;
    struct lapse_queue_item item =
        lapse_sim_task_item(program->world, program->strand, LAPSE_QUEUE_PROGRAM,
                            program->world->now.ns, LAPSE_PHASE_UNDER_WAY);
    item.id = program->timers[timer];
    lapse_sim_timer_set(program->world, &item, at.ns);
    lapse_world_push(program->world, &item);
}

void lapse_program_timer(struct lapse_program *program, int timer, struct lapse_span in) {
    int64_t at = lapse_sim_timer_in(program->world, program->plan->actor, in.ns);
    lapse_program_timer_at(program, timer, (struct lapse_steady){at});
}

void lapse_program_timer_stop(struct lapse_program *program, int timer) {
    LAPSE_ASSERT(timer >= 0 && timer < LAPSE_PROGRAM_TIMERS_MAX);
    program->timers[timer] = 0;
}

void lapse_program_believe(struct lapse_program *program, struct lapse_bytes name, int64_t token) {
    if (lives(program)) {
        lapse_sim_belief_own_begin(program->world, program->plan->actor, name, token,
                                   lapse_sim_task_step(program->world, program->strand));
    }
}

void lapse_program_doubt(struct lapse_program *program, struct lapse_bytes name) {
    if (lives(program)) {
        lapse_sim_belief_own_end(program->world, program->plan->actor, name,
                                 lapse_sim_task_step(program->world, program->strand));
    }
}

void lapse_program_stop(struct lapse_program *program) {
    if (lives(program)) {
        lapse_sim_task_stop(program->world, program->plan->actor,
                            program->world->strands[program->strand].task);
    }
}

void lapse_program_end(struct lapse_program *program) {
    if (lives(program)) {
        lapse_sim_task_strand_over(program->world, program->strand);
    }
}

struct lapse_bytes lapse_program_numbered(struct lapse_bytes name, int number,
                                          char buf[LAPSE_PROGRAM_TEXT_MAX]) {
    enum { ROOM = 12 };
    int len = name.len > LAPSE_PROGRAM_TEXT_MAX - ROOM ? LAPSE_PROGRAM_TEXT_MAX - ROOM
                                                       : (int)name.len;
    int written = snprintf(buf, LAPSE_PROGRAM_TEXT_MAX, "%.*s/%d", len, (const char *)name.data,
                           number);
    LAPSE_ASSERT(written > 0 && written < LAPSE_PROGRAM_TEXT_MAX);
    return (struct lapse_bytes){(const unsigned char *)buf, (size_t)written};
}

/* NULL: the strand runs lines. */
static struct lapse_program *of_strand(const struct lapse_world *world, int32_t strand) {
    if (world->programs == NULL || world->strands[strand].loop_step >= 0) {
        return NULL;
    }
    const struct lapse_plan_task *task = &world->plan->tasks[world->strands[strand].task];
    const struct lapse_plan_step *step =
        task->step_count == 1 ? &world->plan->steps[task->steps[0]] : NULL;
    return step != NULL && step->kind == LAPSE_STEP_PROGRAM ? &world->programs[step->u.program]
                                                            : NULL;
}

static bool lives(const struct lapse_program *program) {
    const struct lapse_world *world = program->world;
    return program->strand >= 0 && world->strands[program->strand].running &&
           world->actors[program->plan->actor].incarnation == program->incarnation &&
           !world->stop && world->status == LAPSE_OK;
}

static const struct lapse_plan_with *given(const struct lapse_program *program, const char *name) {
    for (size_t i = 0; i < program->plan->with_count; i++) {
        if (lapse_bytes_equal(program->plan->with[i].name, lapse_bytes_of(name))) {
            return &program->plan->with[i];
        }
    }
    return NULL;
}

static const struct lapse_program_word *word_of(const struct lapse_program *program,
                                                const char *name) {
    const struct lapse_program_word *word =
        lapse_program_word_find(program->kind, name, strlen(name));
    LAPSE_ASSERT(word != NULL);
    return word;
}

/* The call as a line would have it. */
static struct lapse_plan_call words_of(const struct lapse_program *program,
                                       const struct lapse_program_call *call,
                                       struct lapse_text_part parts[3]) {
    struct lapse_plan_call words = {.verb = call->verb, .bucket = -1, .watch = -1, .resource = -1};
    struct lapse_operand span = {.kind = LAPSE_OPERAND_SPAN, .number = call->span.ns};
    bool resource = call->verb == LAPSE_CALL_WRITE || call->verb == LAPSE_CALL_READ;
    if (resource) {
        words.resource = call->resource;
    } else if (is_lease_verb(call->verb)) {
        words.key = text_of(call->name, &parts[0]);
    } else {
        name_key(program, call->name, &words, &parts[0]);
    }
    if (call->span.ns != 0 && is_lease_verb(call->verb)) {
        words.span = span;
    } else if (call->span.ns != 0) {
        words.ttl = span;
    }
    words.has_value = call->value.data != NULL;
    words.value = text_of(call->value, &parts[1]);
    words.session = text_of(call->session, &parts[2]);
    if (call->has_token) {
        words.token = (struct lapse_operand){.kind = LAPSE_OPERAND_NUMBER, .number = call->token};
    }
    if (call->has_if_version) {
        words.if_version =
            (struct lapse_operand){.kind = LAPSE_OPERAND_NUMBER, .number = call->if_version};
    }
    return words;
}

/* Of a session too: their names stand for themselves. */
static bool is_lease_verb(int verb) {
    switch (verb) {
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
    case LAPSE_VERB_INSPECT:
    case LAPSE_VERB_SESSION:
    case LAPSE_VERB_KEEPALIVE:
    case LAPSE_VERB_CLOSE:
        return true;
    default:
        return false;
    }
}

static void name_key(const struct lapse_program *program, struct lapse_bytes name,
                     struct lapse_plan_call *ret, struct lapse_text_part *part) {
    const struct lapse_setup *setup = &program->world->plan->setup;
    bool found = false; /* the loader has seen to it that it is declared */
    for (size_t i = 0; i < setup->bucket_count && !found; i++) {
        struct lapse_bytes bucket = setup->buckets[i].name;
        bool whole = lapse_bytes_equal(bucket, name);
        if (!whole && (name.len <= bucket.len || name.data[bucket.len] != '/' ||
                       memcmp(bucket.data, name.data, bucket.len) != 0)) {
            continue;
        }
        size_t head = whole ? bucket.len : bucket.len + 1;
        struct lapse_bytes key = {name.data + head, name.len - head};
        ret->bucket = (int32_t)i;
        ret->key_lock = setup->buckets[i].locks;
        ret->key = text_of(key, part);
        found = true;
    }
    LAPSE_ASSERT(found);
}

static struct lapse_text text_of(struct lapse_bytes bytes, struct lapse_text_part *part) {
    *part = (struct lapse_text_part){.kind = LAPSE_PART_LITERAL, .literal = bytes};
    return (struct lapse_text){.part_count = bytes.len > 0 ? 1 : 0, .parts = part};
}

static const struct lapse_plan_call *keep_shape(struct lapse_program *program,
                                                const struct lapse_plan_call *words) {
    struct shape *shape = program->shapes;
    while (shape != NULL &&
           (shape->call.verb != words->verb || shape->call.bucket != words->bucket ||
            shape->call.token.kind != words->token.kind ||
            shape->call.if_version.kind != words->if_version.kind)) {
        shape = shape->next;
    }
    if (shape != NULL) {
        return &shape->call;
    }
    shape = lapse_alloc_zero(program->world->alloc, sizeof(*shape));
    if (shape == NULL) {
        lapse_world_fail(program->world, LAPSE_NOMEM, "no memory for a program's call");
        return NULL;
    }
    shape->next = program->shapes;
    shape->call = (struct lapse_plan_call){.verb = words->verb,
                                           .bucket = words->bucket,
                                           .key_lock = words->key_lock,
                                           .resource = words->resource,
                                           .watch = -1};
    shape->call.token.kind = words->token.kind;
    shape->call.if_version.kind = words->if_version.kind;
    program->shapes = shape;
    return &shape->call;
}
