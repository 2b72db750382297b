/* The tracker of beliefs: which client believes that it holds what, since when, until when by its
 * own clock, and what has denied it. Worked out from calls and replies, apart from the client
 * programs, which keep their own; only the look at the clock that ends a careful client's belief
 * is theirs to say. */
#include "contracts/tracker.h"

#include "track.h"

static void take_invoke(struct lapse_trackers *trackers, const struct lapse_history_event *event);
static enum lapse_status take_reply(struct lapse_trackers *trackers,
                                    const struct lapse_history_event *event);
static enum lapse_status take_success(struct lapse_trackers *trackers,
                                      const struct lapse_tracked_call *call,
                                      const struct lapse_history_event *event);
static enum lapse_status begin(struct lapse_trackers *trackers, const struct lapse_request *request,
                               const struct lapse_history_event *event);
static enum lapse_status add_loop(struct lapse_trackers *trackers,
                                  struct lapse_tracked_belief *belief, int32_t loop);
static void set_deadline(const struct lapse_trackers *trackers, struct lapse_tracked_belief *belief,
                         const struct lapse_history_event *invoke,
                         const struct lapse_answer *answer);
static bool grants(const struct lapse_tracked_call *call, const struct lapse_answer *answer);
static bool denies(const struct lapse_tracked_belief *belief, const struct lapse_request *request,
                   const struct lapse_history_event *event);
static void end_belief(struct lapse_tracked_belief *belief, const struct lapse_history_event *event,
                       enum lapse_belief_why why);
static void end_all(struct lapse_trackers *trackers, const struct lapse_history_event *event,
                    enum lapse_belief_why why);
static struct lapse_tracked_belief *find_ref(const struct lapse_trackers *trackers, int32_t actor,
                                             int32_t incarnation,
                                             const struct lapse_grant_ref *grant);
static struct lapse_tracked_belief *find_about(const struct lapse_trackers *trackers, int32_t actor,
                                               int32_t incarnation,
                                               const struct lapse_request *request);
static void end_late(struct lapse_trackers *trackers, const struct lapse_history_event *event,
                     const struct lapse_grant_ref *grant);
static bool named(const struct lapse_tracked_belief *belief, const struct lapse_grant_ref *grant);

enum lapse_status lapse_track_belief_event(struct lapse_trackers *trackers,
                                           const struct lapse_history_event *event) {
    switch (event->kind) {
    case LAPSE_HISTORY_INVOKE:
        take_invoke(trackers, event);
        break;
    case LAPSE_HISTORY_REPLY:
        return take_reply(trackers, event);
    case LAPSE_HISTORY_BELIEF_END:
        if (event->u.belief.why == LAPSE_BELIEF_DEADLINE)
            end_late(trackers, event, &event->u.belief.grant);
        break;
    case LAPSE_HISTORY_STOPPED:
        end_all(trackers, event, LAPSE_BELIEF_STOPPED);
        break;
    case LAPSE_HISTORY_FAULT_BEGIN:
        if (event->u.fault.kind == LAPSE_FAULT_CRASH && event->u.fault.node < 0 &&
            !event->u.fault.keeps)
            end_all(trackers, event, LAPSE_BELIEF_CRASHED);
        break;
    default:
        break;
    }
    return LAPSE_OK;
}

void lapse_track_belief_free(struct lapse_trackers *trackers) {
    for (size_t i = 0; i < trackers->belief_count; i++) {
        struct lapse_tracked_belief *belief = &trackers->beliefs[i];
        lapse_alloc_free(trackers->alloc, belief->loops, belief->loop_cap * sizeof *belief->loops);
    }
    lapse_alloc_free(trackers->alloc, trackers->beliefs,
                     trackers->belief_cap * sizeof *trackers->beliefs);
}

const struct lapse_tracked_belief *lapse_tracked_belief_find(const struct lapse_trackers *trackers,
                                                             int32_t actor, int32_t incarnation,
                                                             const struct lapse_grant_ref *grant) {
    return find_ref(trackers, actor, incarnation, grant);
}

const struct lapse_tracked_belief *lapse_tracked_belief_about(const struct lapse_trackers *trackers,
                                                              int32_t actor, int32_t incarnation,
                                                              const struct lapse_request *request) {
    return find_about(trackers, actor, incarnation, request);
}

bool lapse_tracked_request_renews(const struct lapse_request *request) {
    int verb = request->verb;
    return verb == LAPSE_VERB_EXTEND || lapse_verb_event(verb) == LAPSE_EVENT_PUT ||
           verb == LAPSE_VERB_EXPIRE || verb == LAPSE_VERB_PERSIST;
}

/* A release counts from when it is sent: its client no longer acts, whatever the answer. */
static void take_invoke(struct lapse_trackers *trackers, const struct lapse_history_event *event) {
    const struct lapse_request *request = &event->u.invoke.request;
    struct lapse_tracked_belief *belief =
        find_about(trackers, event->actor, event->incarnation, request);
    bool gives_up = request->verb == LAPSE_VERB_DELETE || request->verb == LAPSE_VERB_PURGE;
    if (belief != NULL && request->verb == LAPSE_VERB_RELEASE)
        gives_up =
            !request->command.u.lease.has_token || request->command.u.lease.token == belief->token;
    if (gives_up)
        end_belief(belief, event, LAPSE_BELIEF_RELEASED);
}

/* A deadline that has come ends the belief in that grant, never the one in a newer grant. */
static void end_late(struct lapse_trackers *trackers, const struct lapse_history_event *event,
                     const struct lapse_grant_ref *grant) {
    struct lapse_tracked_belief *belief =
        find_ref(trackers, event->actor, event->incarnation, grant);
    if (belief != NULL && grant->token >= belief->token)
        end_belief(belief, event, LAPSE_BELIEF_DEADLINE);
}

static enum lapse_status take_reply(struct lapse_trackers *trackers,
                                    const struct lapse_history_event *event) {
    const struct lapse_answer *answer = &event->u.reply.answer;
    if (answer->status == LAPSE_TOO_LATE) {
        if (event->u.reply.grant.given)
            end_late(trackers, event, &event->u.reply.grant);
        return LAPSE_OK;
    }
    const struct lapse_tracked_call *call = lapse_tracked_call_find(trackers, event->call);
    if (call == NULL || call->invoke->incarnation != event->incarnation)
        return LAPSE_OK;
    const struct lapse_request *request = &call->invoke->u.invoke.request;
    struct lapse_tracked_belief *belief =
        find_about(trackers, event->actor, event->incarnation, request);
    if (belief != NULL && denies(belief, request, event)) {
        belief->denied = event;
        belief->denied_token = belief->token;
        end_belief(belief, event, LAPSE_BELIEF_DENIED);
    }
    return answer->status == LAPSE_OK ? take_success(trackers, call, event) : LAPSE_OK;
}

/* A grant begins a belief; a renewal moves the deadline of one that still stands, unless its reply
 * was overtaken by that of a later call. */
static enum lapse_status take_success(struct lapse_trackers *trackers,
                                      const struct lapse_tracked_call *call,
                                      const struct lapse_history_event *event) {
    const struct lapse_history_event *invoke = call->invoke;
    const struct lapse_request *request = &invoke->u.invoke.request;
    const struct lapse_answer *answer = &event->u.reply.answer;
    bool granted = grants(call, answer);
    struct lapse_tracked_belief *belief =
        find_about(trackers, event->actor, event->incarnation, request);
    bool stands = belief != NULL && belief->ended == NULL;
    bool another = stands && !belief->key_lock && belief->token != answer->token;
    if (stands && !another && event->call < belief->success->call)
        return LAPSE_OK;
    if (granted && (!stands || another)) {
        if (begin(trackers, request, event) < 0)
            return LAPSE_NOMEM;
        belief = find_about(trackers, event->actor, event->incarnation, request);
    } else if (!stands || !(granted || lapse_tracked_request_renews(request))) {
        return LAPSE_OK;
    }
    if (belief == NULL)
        return LAPSE_OK;
    if (belief->key_lock && answer->revision > belief->token)
        belief->token = answer->revision;
    belief->success = event;
    set_deadline(trackers, belief, invoke, answer);
    if (invoke->u.invoke.loop < 0 || granted)
        return LAPSE_OK;
    return add_loop(trackers, belief, invoke->u.invoke.loop);
}

static enum lapse_status begin(struct lapse_trackers *trackers, const struct lapse_request *request,
                               const struct lapse_history_event *event) {
    bool key_lock = request->verb != LAPSE_VERB_ACQUIRE;
    struct lapse_tracked_belief *belief =
        find_about(trackers, event->actor, event->incarnation, request);
    if (belief == NULL) {
        void *beliefs = trackers->beliefs;
        if (!lapse_alloc_grow(trackers->alloc, &beliefs, &trackers->belief_cap,
                              trackers->belief_count + 1, sizeof *trackers->beliefs))
            return LAPSE_NOMEM;
        trackers->beliefs = beliefs;
        belief = &trackers->beliefs[trackers->belief_count++];
        *belief = (struct lapse_tracked_belief){.actor = event->actor,
                                                .incarnation = event->incarnation,
                                                .key_lock = key_lock,
                                                .bucket = request->command.bucket,
                                                .name = request->command.key,
                                                .hash = lapse_bytes_hash(request->command.key)};
    }
    const struct lapse_answer *answer = &event->u.reply.answer;
    belief->token = key_lock ? answer->revision : answer->token;
    /* The store says anew what the denial took away; of another token the denial stays true. */
    if (key_lock || belief->token == belief->denied_token)
        belief->denied = NULL;
    belief->granted = event;
    belief->ended = NULL;
    belief->why = LAPSE_BELIEF_GRANTED;
    belief->loop_count = 0;
    return LAPSE_OK;
}

static enum lapse_status add_loop(struct lapse_trackers *trackers,
                                  struct lapse_tracked_belief *belief, int32_t loop) {
    for (size_t i = 0; i < belief->loop_count; i++) {
        if (belief->loops[i] == loop)
            return LAPSE_OK;
    }
    void *loops = belief->loops;
    if (!lapse_alloc_grow(trackers->alloc, &loops, &belief->loop_cap, belief->loop_count + 1,
                          sizeof *belief->loops))
        return LAPSE_NOMEM;
    belief->loops = loops;
    belief->loops[belief->loop_count++] = loop;
    return LAPSE_OK;
}

/* Reckoned from the sending of the call and from what was left, for clocks that may run wrong by
 * the declared rate: the client's slow, the store's fast. */
static void set_deadline(const struct lapse_trackers *trackers, struct lapse_tracked_belief *belief,
                         const struct lapse_history_event *invoke,
                         const struct lapse_answer *answer) {
    const struct lapse_setup *setup = trackers->setup;
    belief->has_deadline = false;
    if (setup == NULL || invoke->actor < 0 || (size_t)invoke->actor >= setup->actor_count)
        return;
    const struct lapse_setup_actor *actor = &setup->actors[invoke->actor];
    if (!actor->careful || answer->end.kind == LAPSE_END_NONE)
        return;
    int64_t left, deadline;
    if (!lapse_ns_scale(answer->left.ns, LAPSE_NS_PER_S - setup->rate_ppb,
                        LAPSE_NS_PER_S + setup->rate_ppb, &left) ||
        !lapse_ns_add(invoke->actor_steady.ns, left, &deadline) ||
        !lapse_ns_sub(deadline, actor->margin.ns, &deadline))
        return;
    belief->has_deadline = true;
    belief->deadline.ns = deadline;
}

static bool grants(const struct lapse_tracked_call *call, const struct lapse_answer *answer) {
    if (answer->status != LAPSE_OK)
        return false;
    return call->invoke->u.invoke.request.verb == LAPSE_VERB_ACQUIRE || call->lock_granted;
}

/* A refusal of a call sent before the grant, or under an older one, says nothing of this one. */
static bool denies(const struct lapse_tracked_belief *belief, const struct lapse_request *request,
                   const struct lapse_history_event *event) {
    const struct lapse_grant_ref *grant = &event->u.reply.grant;
    const struct lapse_answer *answer = &event->u.reply.answer;
    if ((belief->ended != NULL && belief->why != LAPSE_BELIEF_DEADLINE) ||
        event->call <= belief->granted->call)
        return false;
    if (!belief->key_lock && grant->given && grant->token < belief->token)
        return false;
    switch (answer->status) {
    case LAPSE_LOST:
    case LAPSE_NOT_OWNER:
    case LAPSE_CONFLICT:
    case LAPSE_ABSENT:
    case LAPSE_HELD:
        return true;
    case LAPSE_OK:
        return request->verb == LAPSE_VERB_INSPECT && answer->token != belief->token;
    default:
        return false;
    }
}

static void end_belief(struct lapse_tracked_belief *belief, const struct lapse_history_event *event,
                       enum lapse_belief_why why) {
    if (belief == NULL || belief->ended != NULL)
        return;
    belief->ended = event;
    belief->why = why;
}

static void end_all(struct lapse_trackers *trackers, const struct lapse_history_event *event,
                    enum lapse_belief_why why) {
    for (size_t i = 0; i < trackers->belief_count; i++) {
        struct lapse_tracked_belief *belief = &trackers->beliefs[i];
        if (belief->actor == event->actor && belief->incarnation == event->incarnation)
            end_belief(belief, event, why);
    }
}

static struct lapse_tracked_belief *find_ref(const struct lapse_trackers *trackers, int32_t actor,
                                             int32_t incarnation,
                                             const struct lapse_grant_ref *grant) {
    uint64_t hash = lapse_bytes_hash(grant->name);
    for (size_t i = 0; i < trackers->belief_count; i++) {
        struct lapse_tracked_belief *belief = &trackers->beliefs[i];
        /* A lock's grant has the bucket in its name, so its hash is another. */
        if (!grant->key_lock && belief->hash != hash)
            continue;
        if (belief->actor == actor && belief->incarnation == incarnation && named(belief, grant))
            return belief;
    }
    return NULL;
}

static struct lapse_tracked_belief *find_about(const struct lapse_trackers *trackers, int32_t actor,
                                               int32_t incarnation,
                                               const struct lapse_request *request) {
    const struct lapse_command *command = &request->command;
    bool lease = request->verb == LAPSE_VERB_ACQUIRE || request->verb == LAPSE_VERB_EXTEND ||
                 request->verb == LAPSE_VERB_RELEASE || request->verb == LAPSE_VERB_INSPECT;
    if (!lease && !lapse_verb_reads_key(request->verb) && !lapse_verb_writes_key(request->verb))
        return NULL;
    uint64_t hash = lapse_bytes_hash(command->key);
    for (size_t i = 0; i < trackers->belief_count; i++) {
        struct lapse_tracked_belief *belief = &trackers->beliefs[i];
        if (belief->hash != hash || belief->actor != actor || belief->incarnation != incarnation ||
            belief->key_lock == lease || !lapse_bytes_equal(belief->name, command->key))
            continue;
        if (lease || lapse_bytes_equal(belief->bucket, command->bucket))
            return belief;
    }
    return NULL;
}

/* A key lock's name is given as bucket/key. */
static bool named(const struct lapse_tracked_belief *belief, const struct lapse_grant_ref *grant) {
    if (belief->key_lock != grant->key_lock)
        return false;
    if (!belief->key_lock)
        return lapse_bytes_equal(belief->name, grant->name);
    size_t bucket = belief->bucket.len;
    if (grant->name.len != bucket + 1 + belief->name.len || grant->name.data[bucket] != '/')
        return false;
    struct lapse_bytes head = {grant->name.data, bucket};
    struct lapse_bytes tail = {grant->name.data + bucket + 1, belief->name.len};
    return lapse_bytes_equal(head, belief->bucket) && lapse_bytes_equal(tail, belief->name);
}
