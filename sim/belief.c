/* What clients believe. The names of grants lie in the history, in the event that began each. */
#include "belief.h"

#include "member.h"
#include "work.h"
#include "world_events.h"

#include <string.h>

static struct lapse_sim_belief *about(const struct lapse_world *world,
                                      const struct lapse_sim_call *call);
static bool is_session_verb(int verb);
static void session_replied(struct lapse_world *world, const struct lapse_sim_call *call);
static void session_over(struct lapse_world *world, const struct lapse_sim_call *call,
                         enum lapse_belief_why why);
static bool of_session(const struct lapse_sim_belief *belief, const struct lapse_sim_call *call);
static void note_session(struct lapse_sim_belief *belief, const struct lapse_sim_call *call);
static bool is_lease_verb(int verb);
static bool names(const struct lapse_grant_ref *ref, bool key_lock, struct lapse_bytes bucket,
                  struct lapse_bytes name);
static bool denies(const struct lapse_world *world, const struct lapse_sim_belief *belief,
                   const struct lapse_sim_call *call);
static void begin(struct lapse_world *world, const struct lapse_sim_call *call);
static void keep(struct lapse_world *world, struct lapse_sim_belief *belief, int32_t step,
                 int64_t call);
static struct lapse_bytes lock_name(struct lapse_world *world, const struct lapse_command *command);
static void renew(struct lapse_world *world, struct lapse_sim_belief *belief,
                  const struct lapse_sim_call *call);
static uint64_t renewed_hash(const struct lapse_request *request);
static bool renews(int verb);
static void end(struct lapse_world *world, struct lapse_sim_belief *belief,
                enum lapse_belief_why why, int32_t step, int64_t call);
static struct lapse_history_event belief_event(const struct lapse_world *world,
                                               enum lapse_history_kind kind,
                                               const struct lapse_sim_belief *belief, int32_t step,
                                               int64_t call);
static bool past_deadline(const struct lapse_world *world, const struct lapse_sim_belief *belief);
static const struct lapse_setup_actor *setup_of(const struct lapse_world *world, int32_t actor);

struct lapse_sim_belief *lapse_sim_belief_find(const struct lapse_world *world, int32_t actor,
                                               const struct lapse_sim_grant *grant) {
    uint64_t hash = lapse_bytes_hash(grant->ref.name);
    for (size_t i = 0; i < world->belief_count; i++) {
        struct lapse_sim_belief *belief = &world->beliefs[i];
        if (belief->hash == hash && belief->actor == actor && belief->grant.first == grant->first &&
            belief->grant.ref.key_lock == grant->ref.key_lock &&
            lapse_bytes_equal(belief->grant.ref.name, grant->ref.name)) {
            return belief;
        }
    }
    return NULL;
}

bool lapse_sim_belief_look(struct lapse_world *world, int32_t actor,
                           const struct lapse_sim_grant *grant, int32_t step) {
    struct lapse_sim_actor *who = &world->actors[actor];
    who->has_look = true;
    who->last_look = lapse_sim_clock_steady(&who->clock, world->now);
    struct lapse_sim_belief *belief = lapse_sim_belief_find(world, actor, grant);
    if (belief == NULL) {
        return false;
    }
    if (past_deadline(world, belief)) {
        end(world, belief, LAPSE_BELIEF_DEADLINE, step, 0);
        return false;
    }
    return true;
}

bool lapse_sim_belief_gone(const struct lapse_world *world, const struct lapse_sim_call *call) {
    int32_t loop = world->plan->steps[call->step].loop;
    int verb = call->request.verb;
    bool renewal = renews(verb) && verb != LAPSE_VERB_ACQUIRE && verb != LAPSE_VERB_CREATE &&
                   verb != LAPSE_VERB_KEEPALIVE;
    bool gone = loop >= 0 && renewal && world->loop_renews[loop] == renewed_hash(&call->request) &&
                about(world, call) == NULL;
    for (size_t i = 0; !gone && i < lapse_sim_member_count(call); i++) {
        struct lapse_sim_call member = lapse_sim_member_at(call, i);
        gone = lapse_sim_belief_gone(world, &member);
    }
    return gone;
}

void lapse_sim_belief_sent(struct lapse_world *world, const struct lapse_sim_call *call) {
    int verb = call->request.verb;
    struct lapse_sim_belief *belief = about(world, call);
    bool gives_up = verb == LAPSE_VERB_DELETE || verb == LAPSE_VERB_PURGE;
    if (verb == LAPSE_VERB_CLOSE) {
        session_over(world, call, LAPSE_BELIEF_RELEASED);
    }
    if (belief != NULL && verb == LAPSE_VERB_RELEASE) {
        gives_up = !call->request.command.u.lease.has_token ||
                   call->request.command.u.lease.token == belief->grant.ref.token;
    }
    if (belief != NULL && gives_up) {
        end(world, belief, LAPSE_BELIEF_RELEASED, call->step, call->id);
    }
    for (size_t i = 0; i < lapse_sim_member_count(call); i++) {
        struct lapse_sim_call member = lapse_sim_member_at(call, i);
        lapse_sim_belief_sent(world, &member);
    }
}

void lapse_sim_belief_replied(struct lapse_world *world, const struct lapse_sim_call *call) {
    for (size_t i = 0; i < lapse_sim_member_count(call); i++) {
        struct lapse_sim_call member = lapse_sim_member_at(call, i);
        lapse_sim_belief_replied(world, &member);
    }
    if (is_session_verb(call->request.verb)) {
        session_replied(world, call);
        return;
    }
    struct lapse_sim_belief *belief = about(world, call);
    if (belief != NULL && denies(world, belief, call)) {
        end(world, belief, LAPSE_BELIEF_DENIED, call->step, call->id);
        belief = NULL;
    }
    if (call->answer.status != LAPSE_OK || world->actors[call->actor].stopped) {
        return;
    }
    bool acquired = call->request.verb == LAPSE_VERB_ACQUIRE;
    if (belief != NULL && acquired && belief->grant.ref.token != call->answer.token) {
        end(world, belief, LAPSE_BELIEF_DENIED, call->step, call->id);
        belief = NULL;
    }
    if (belief != NULL) {
        renew(world, belief, call);
    } else if (acquired || call->granted) {
        begin(world, call);
    }
}

struct lapse_sim_grant lapse_sim_belief_of_call(const struct lapse_world *world,
                                                const struct lapse_sim_call *call) {
    const struct lapse_sim_belief *belief = about(world, call);
    bool told = call->answer.has_token || call->answer.revision > 0;
    if (belief == NULL || !told || call->request.verb == LAPSE_VERB_INSPECT) {
        return (struct lapse_sim_grant){0};
    }
    return belief->grant;
}

void lapse_sim_belief_own_begin(struct lapse_world *world, int32_t actor, struct lapse_bytes name,
                                int64_t token, int32_t step) {
    struct lapse_sim_belief belief = {.actor = actor, .own = true, .sent_ns = world->now.ns};
    belief.grant.ref = (struct lapse_grant_ref){.given = true, .name = name, .token = token};
    belief.grant.first = token;
    keep(world, &belief, step, 0);
}

void lapse_sim_belief_own_end(struct lapse_world *world, int32_t actor, struct lapse_bytes name,
                              int32_t step) {
    for (size_t i = 0; i < world->belief_count; i++) {
        struct lapse_sim_belief *belief = &world->beliefs[i];
        if (belief->own && belief->actor == actor &&
            lapse_bytes_equal(belief->grant.ref.name, name)) {
            end(world, belief, LAPSE_BELIEF_RELEASED, step, 0);
            return;
        }
    }
}

void lapse_sim_belief_end_all(struct lapse_world *world, int32_t actor, enum lapse_belief_why why,
                              int32_t step) {
    for (size_t i = world->belief_count; i > 0; i--) {
        if (world->beliefs[i - 1].actor == actor) {
            end(world, &world->beliefs[i - 1], why, step, 0);
        }
    }
    for (size_t i = 0; i < world->plan->setup.loop_count; i++) {
        if (world->plan->setup.loops[i].actor == actor) {
            world->loop_renews[i] = 0; /* the next incarnation has renewed nothing */
        }
    }
}

size_t lapse_sim_belief_who(const struct lapse_world *world, bool key_lock,
                            struct lapse_bytes bucket, struct lapse_bytes name, bool may_act,
                            int32_t *who) {
    size_t count = 0;
    for (size_t a = 0; a < world->plan->setup.actor_count; a++) {
        const struct lapse_sim_actor *actor = &world->actors[a];
        bool found = false;
        for (size_t i = 0; i < world->belief_count; i++) {
            const struct lapse_sim_belief *belief = &world->beliefs[i];
            bool runs = actor->up && !actor->paused && !actor->stopped;
            found = found || (belief->actor == (int32_t)a &&
                              names(&belief->grant.ref, key_lock, bucket, name) &&
                              (!may_act || (runs && !past_deadline(world, belief))));
        }
        if (found) {
            who[count++] = (int32_t)a;
        }
    }
    return count;
}

/* The actor's belief in the name that the call is about; a look at an older record has none. */
static struct lapse_sim_belief *about(const struct lapse_world *world,
                                      const struct lapse_sim_call *call) {
    const struct lapse_plan_call *plan = lapse_sim_member_plan(world, call);
    const struct lapse_command *command = &call->request.command;
    int verb = call->request.verb;
    bool lease = is_lease_verb(verb);
    bool read = verb == LAPSE_VERB_GET || verb == LAPSE_VERB_ENTRY || verb == LAPSE_VERB_HAS;
    if ((!lease && (plan == NULL || !plan->key_lock)) || (read && command->u.read.has_revision)) {
        return NULL;
    }
    uint64_t hash = lapse_bytes_hash(command->key);
    for (size_t i = 0; i < world->belief_count; i++) {
        struct lapse_sim_belief *belief = &world->beliefs[i];
        /* A lock's name has the bucket in it, so its hash is another. */
        if (belief->actor == call->actor && !belief->own && (!lease || belief->hash == hash) &&
            names(&belief->grant.ref, !lease, command->bucket, command->key)) {
            return belief;
        }
    }
    return NULL;
}

static bool is_session_verb(int verb) {
    return verb == LAPSE_VERB_SESSION || verb == LAPSE_VERB_KEEPALIVE || verb == LAPSE_VERB_CLOSE;
}

/* What is granted with a session ends with it: a keepalive renews all of it, and a reply that
 * denies the session denies all of it. So does one that tells of a fresh session of that name. */
static void session_replied(struct lapse_world *world, const struct lapse_sim_call *call) {
    const struct lapse_answer *answer = &call->answer;
    bool fresh = call->request.verb == LAPSE_VERB_SESSION && answer->status == LAPSE_OK &&
                 !answer->renewed && !answer->repeated;
    if (answer->status == LAPSE_LOST || answer->status == LAPSE_HELD || fresh) {
        session_over(world, call, LAPSE_BELIEF_DENIED);
        return;
    }
    for (size_t i = 0; i < world->belief_count; i++) {
        struct lapse_sim_belief *belief = &world->beliefs[i];
        if (answer->status == LAPSE_OK && of_session(belief, call)) {
            renew(world, belief, call);
        }
    }
}

static void session_over(struct lapse_world *world, const struct lapse_sim_call *call,
                         enum lapse_belief_why why) {
    for (size_t i = world->belief_count; i > 0; i--) {
        if (of_session(&world->beliefs[i - 1], call)) {
            end(world, &world->beliefs[i - 1], why, call->step, call->id);
        }
    }
}

/* Whether the session that a call is about is that of a grant which its actor had then. */
static bool of_session(const struct lapse_sim_belief *belief, const struct lapse_sim_call *call) {
    return belief->actor == call->actor && belief->session.len > 0 &&
           call->id > belief->since_call &&
           lapse_bytes_equal(belief->session, call->request.command.key);
}

static bool is_lease_verb(int verb) {
    return verb == LAPSE_VERB_ACQUIRE || verb == LAPSE_VERB_EXTEND || verb == LAPSE_VERB_RELEASE ||
           verb == LAPSE_VERB_INSPECT;
}

/* The name of a lock made of a key is "bucket/key". */
static bool names(const struct lapse_grant_ref *ref, bool key_lock, struct lapse_bytes bucket,
                  struct lapse_bytes name) {
    if (ref->key_lock != key_lock) {
        return false;
    }
    if (!key_lock) {
        return lapse_bytes_equal(ref->name, name);
    }
    if (ref->name.len != bucket.len + 1 + name.len || ref->name.data[bucket.len] != '/') {
        return false;
    }
    struct lapse_bytes head = {ref->name.data, bucket.len};
    struct lapse_bytes tail = {ref->name.data + bucket.len + 1, name.len};
    return lapse_bytes_equal(head, bucket) && lapse_bytes_equal(tail, name);
}

/* A refusal of a call sent before the grant, or under an older one, says nothing of this one. */
static bool denies(const struct lapse_world *world, const struct lapse_sim_belief *belief,
                   const struct lapse_sim_call *call) {
    const struct lapse_grant_ref *under = &call->grant.ref;
    bool older = under->given && under->key_lock == belief->grant.ref.key_lock &&
                 lapse_bytes_equal(under->name, belief->grant.ref.name) &&
                 call->grant.first != belief->grant.first;
    if (older || call->id <= belief->since_call) {
        return false;
    }
    switch (call->answer.status) {
    case LAPSE_LOST:
    case LAPSE_NOT_OWNER:
    case LAPSE_CONFLICT:
    case LAPSE_ABSENT:
    case LAPSE_HELD:
        return true;
    case LAPSE_OK:
        return call->request.verb == LAPSE_VERB_INSPECT &&
               (call->answer.token != belief->grant.ref.token ||
                !lapse_bytes_equal(call->answer.owner, world->actors[call->actor].owner));
    default:
        return false;
    }
}

static void begin(struct lapse_world *world, const struct lapse_sim_call *call) {
    const struct lapse_command *command = &call->request.command;
    bool key_lock = call->request.verb != LAPSE_VERB_ACQUIRE;
    struct lapse_sim_belief belief = {.actor = call->actor, .since_call = call->id};
    belief.grant.ref = (struct lapse_grant_ref){.given = true, .name = command->key};
    belief.grant.ref.token = key_lock ? call->answer.revision : call->answer.token;
    belief.grant.first = belief.grant.ref.token;
    if (key_lock) {
        belief.grant.ref.key_lock = true;
        belief.grant.ref.name = lock_name(world, command);
    }
    struct lapse_bytes made = belief.grant.ref.name;
    renew(world, &belief, call);
    keep(world, &belief, call->step, call->id);
    if (key_lock) {
        lapse_alloc_free(world->alloc, (void *)made.data, made.len);
    }
}

/* Its name is the history's from here on. */
static void keep(struct lapse_world *world, struct lapse_sim_belief *belief, int32_t step,
                 int64_t call) {
    void *beliefs = world->beliefs;
    if (!lapse_world_grow(world, &beliefs, &world->belief_cap, world->belief_count + 1,
                          sizeof(*world->beliefs))) {
        return;
    }
    world->beliefs = beliefs;
    struct lapse_history_event event =
        belief_event(world, LAPSE_HISTORY_BELIEF_BEGIN, belief, step, call);
    const struct lapse_history_event *stored = lapse_world_emit(world, &event);
    if (stored != NULL) {
        belief->grant.ref.name = stored->u.belief.grant.name;
        belief->hash = lapse_bytes_hash(belief->grant.ref.name);
        world->beliefs[world->belief_count++] = *belief;
    }
}

/* "bucket/key", in memory of the world until the history has a copy. */
static struct lapse_bytes lock_name(struct lapse_world *world,
                                    const struct lapse_command *command) {
    size_t bytes = command->bucket.len + 1 + command->key.len;
    unsigned char *name = lapse_alloc_zero(world->alloc, bytes);
    if (name == NULL) {
        lapse_world_fail(world, LAPSE_NOMEM, "no memory for a belief");
        return (struct lapse_bytes){NULL, 0};
    }
    memcpy(name, command->bucket.data, command->bucket.len);
    name[command->bucket.len] = '/';
    if (command->key.len > 0) {
        memcpy(name + command->bucket.len + 1, command->key.data, command->key.len);
    }
    return (struct lapse_bytes){name, bytes};
}

/* The deadline is reckoned from the sending and from what was left, for clocks that may run wrong
 * by the declared rate. */
static void renew(struct lapse_world *world, struct lapse_sim_belief *belief,
                  const struct lapse_sim_call *call) {
    const struct lapse_setup_actor *actor = setup_of(world, call->actor);
    int64_t rho = world->plan->setup.rate_ppb;
    if (call->sent_ns < belief->sent_ns || !renews(call->request.verb)) {
        return;
    }
    if (belief->grant.ref.key_lock && call->answer.revision > belief->grant.ref.token) {
        belief->grant.ref.token = call->answer.revision;
    }
    int32_t loop = world->plan->steps[call->step].loop;
    if (loop >= 0 && call->request.verb != LAPSE_VERB_KEEPALIVE) {
        world->loop_renews[loop] = renewed_hash(&call->request);
    }
    note_session(belief, call);
    belief->sent_ns = call->sent_ns;
    belief->has_deadline = false;
    if (!actor->careful || call->answer.end.kind == LAPSE_END_NONE) {
        return;
    }
    int64_t left = 0, deadline = 0;
    if (lapse_ns_scale(call->answer.left.ns, LAPSE_NS_PER_S - rho, LAPSE_NS_PER_S + rho, &left) &&
        lapse_ns_add(call->sent_reading.ns, left, &deadline) &&
        lapse_ns_sub(deadline, actor->margin.ns, &deadline)) {
        belief->has_deadline = true;
        belief->deadline.ns = deadline;
    }
}

/* The session that the grant ends with from now on. */
static void note_session(struct lapse_sim_belief *belief, const struct lapse_sim_call *call) {
    const struct lapse_command *command = &call->request.command;
    switch (call->request.verb) {
    case LAPSE_VERB_ACQUIRE:
        if (belief->since_call == call->id) { /* asked again, it is what it was */
            belief->session = command->u.lease.session;
        }
        break;
    case LAPSE_VERB_SET:
    case LAPSE_VERB_CREATE:
    case LAPSE_VERB_UPDATE:
    case LAPSE_VERB_EXPIRE:
    case LAPSE_VERB_PERSIST:
        if ((command->u.write.term.given & LAPSE_TERM_KEEP) == 0) {
            belief->session = command->u.write.term.session;
        }
        break;
    default:
        break;
    }
}

/* Of the name that a call renews; never 0. */
static uint64_t renewed_hash(const struct lapse_request *request) {
    struct lapse_digest digest;
    lapse_digest_begin(&digest);
    lapse_digest_bytes(&digest, request->command.bucket);
    lapse_digest_bytes(&digest, request->command.key);
    return lapse_digest_value(&digest) | 1;
}

/* Calls whose success tells a holder a new end. */
static bool renews(int verb) {
    switch (verb) {
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_SET:
    case LAPSE_VERB_CREATE:
    case LAPSE_VERB_UPDATE:
    case LAPSE_VERB_EXPIRE:
    case LAPSE_VERB_PERSIST:
    case LAPSE_VERB_KEEPALIVE: /* of all grants of the session */
        return true;
    default:
        return false;
    }
}

static void end(struct lapse_world *world, struct lapse_sim_belief *belief,
                enum lapse_belief_why why, int32_t step, int64_t call) {
    struct lapse_sim_belief ended = *belief;
    size_t at = (size_t)(belief - world->beliefs);
    world->belief_count--;
    for (size_t i = at; i < world->belief_count; i++) {
        world->beliefs[i] = world->beliefs[i + 1];
    }
    struct lapse_history_event event =
        belief_event(world, LAPSE_HISTORY_BELIEF_END, &ended, step, call);
    event.u.belief.why = why;
    (void)lapse_world_emit(world, &event);
    lapse_sim_work_cut(world, ended.actor, &ended.grant);
}

static struct lapse_history_event belief_event(const struct lapse_world *world,
                                               enum lapse_history_kind kind,
                                               const struct lapse_sim_belief *belief, int32_t step,
                                               int64_t call) {
    struct lapse_history_event event = lapse_world_event(world, kind, belief->actor, step);
    event.call = call;
    event.u.belief.grant = belief->grant.ref;
    event.u.belief.why = LAPSE_BELIEF_GRANTED;
    event.u.belief.has_deadline = belief->has_deadline;
    event.u.belief.deadline = belief->deadline;
    return event;
}

static bool past_deadline(const struct lapse_world *world, const struct lapse_sim_belief *belief) {
    const struct lapse_sim_actor *actor = &world->actors[belief->actor];
    return belief->has_deadline &&
           lapse_sim_clock_steady(&actor->clock, world->now).ns >= belief->deadline.ns;
}

static const struct lapse_setup_actor *setup_of(const struct lapse_world *world, int32_t actor) {
    return &world->plan->setup.actors[actor];
}
