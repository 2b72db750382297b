/* Short histories for tests: each function appends the events of one thing that happens. */
#ifndef CONTRACTS_SKETCH_H
#define CONTRACTS_SKETCH_H

#include "contracts/history.h"

#include <criterion/criterion.h>

struct sketch {
    struct lapse_history *history;
    int64_t calls;
};

static inline struct lapse_history_event sketch_event(enum lapse_history_kind kind, int64_t at,
                                                      int32_t actor, int32_t step) {
    struct lapse_history_event event = {.kind = kind, .actor = actor, .step = step};
    event.at.ns = at;
    event.actor_steady.ns = at;
    event.incarnation = actor >= 0 ? 1 : 0;
    return event;
}

static inline void sketch_add(struct sketch *sketch, const struct lapse_history_event *event) {
    cr_assert_not_null(lapse_history_append(sketch->history, event));
}

static inline void sketch_open(struct sketch *sketch, const struct lapse_setup *setup) {
    *sketch = (struct sketch){0};
    cr_assert_eq(lapse_history_open(lapse_alloc_libc(), 0, &sketch->history, NULL), LAPSE_OK);
    struct lapse_history_event event = sketch_event(LAPSE_HISTORY_BEGIN, 0, -1, -1);
    event.u.begin = setup;
    sketch_add(sketch, &event);
}

/* An event with nothing in its body: END, STOPPED, NOT_RUN, WAITING. */
static inline void sketch_bare(struct sketch *sketch, enum lapse_history_kind kind, int64_t at,
                               int32_t actor, int32_t step) {
    struct lapse_history_event event = sketch_event(kind, at, actor, step);
    sketch_add(sketch, &event);
}

/* INVOKE at once; `due` before `at` makes it late. */
static inline void sketch_invoke(struct sketch *sketch, int64_t at, int32_t actor, int32_t step,
                                 const struct lapse_request *request, int64_t due) {
    struct lapse_history_event event = sketch_event(LAPSE_HISTORY_INVOKE, at, actor, step);
    event.call = ++sketch->calls;
    event.u.invoke.request = *request;
    event.u.invoke.loop = -1;
    event.u.invoke.due.ns = due;
    sketch_add(sketch, &event);
}

/* The last call is decided at `at`; store time is true time. */
static inline void sketch_apply(struct sketch *sketch, int64_t at, int32_t actor, int32_t step,
                                const struct lapse_answer *answer) {
    struct lapse_history_event event = sketch_event(LAPSE_HISTORY_APPLY, at, actor, step);
    event.call = sketch->calls;
    event.u.apply.answer = *answer;
    event.u.apply.answer.at.ns = at;
    sketch_add(sketch, &event);
}

static inline void sketch_reply(struct sketch *sketch, int64_t at, int32_t actor, int32_t step,
                                int verb, const struct lapse_answer *answer) {
    struct lapse_history_event event = sketch_event(LAPSE_HISTORY_REPLY, at, actor, step);
    event.call = sketch->calls;
    event.u.reply.verb = verb;
    event.u.reply.sent = true;
    event.u.reply.save_slot = -1;
    event.u.reply.answer = *answer;
    event.u.reply.answer.at.ns = at;
    sketch_add(sketch, &event);
}

/* A whole call at one instant. */
static inline void sketch_call(struct sketch *sketch, int64_t at, int32_t actor, int32_t step,
                               const struct lapse_request *request,
                               const struct lapse_answer *answer) {
    sketch_invoke(sketch, at, actor, step, request, at);
    sketch_apply(sketch, at, actor, step, answer);
    sketch_reply(sketch, at, actor, step, request->verb, answer);
}

static inline void sketch_belief(struct sketch *sketch, enum lapse_history_kind kind, int64_t at,
                                 int32_t actor, const char *name, bool key_lock) {
    struct lapse_history_event event = sketch_event(kind, at, actor, -1);
    event.u.belief.grant = (struct lapse_grant_ref){true, key_lock, lapse_bytes_of(name), 1};
    event.u.belief.why =
        kind == LAPSE_HISTORY_BELIEF_BEGIN ? LAPSE_BELIEF_GRANTED : LAPSE_BELIEF_DENIED;
    sketch_add(sketch, &event);
}

static inline void sketch_fault(struct sketch *sketch, enum lapse_history_kind kind, int64_t at,
                                int32_t actor, enum lapse_fault_kind fault) {
    struct lapse_history_event event = sketch_event(kind, at, actor, -1);
    event.u.fault.kind = fault;
    event.u.fault.node = -1;
    sketch_add(sketch, &event);
}

static inline struct lapse_request sketch_key(enum lapse_verb verb, const char *bucket,
                                              const char *key, const char *value) {
    struct lapse_request request = {.verb = (int)verb, .resource = -1};
    request.command.verb = verb;
    request.command.bucket = lapse_bytes_of(bucket);
    request.command.key = lapse_bytes_of(key);
    if (verb == LAPSE_VERB_SET || verb == LAPSE_VERB_CREATE || verb == LAPSE_VERB_UPDATE)
        request.command.u.write.value = lapse_bytes_of(value);
    return request;
}

static inline struct lapse_request sketch_lease(enum lapse_verb verb, const char *name,
                                                const char *owner, int64_t span) {
    struct lapse_request request = {.verb = (int)verb, .resource = -1};
    request.command.verb = verb;
    request.command.key = lapse_bytes_of(name);
    request.command.u.lease.owner = lapse_bytes_of(owner);
    request.command.u.lease.span.ns = span;
    return request;
}

static inline struct lapse_answer sketch_answer(enum lapse_status status, int64_t end,
                                                int64_t left) {
    struct lapse_answer answer = {.status = status};
    answer.end = (struct lapse_end){end > 0 ? LAPSE_END_STEADY : LAPSE_END_NONE, end};
    answer.left.ns = left;
    return answer;
}

#endif
