/* A client's side of a call: made from its line, looked at by a careful client, sent, timed out,
 * answered, believed. */
#include "client.h"

#include "ask.h"
#include "await.h"
#include "belief.h"
#include "link.h"
#include "member.h"
#include "point.h"
#include "program_run.h"
#include "request.h"
#include "timer.h"
#include "watcher.h"
#include "world_events.h"

static enum lapse_sim_flow transmit(struct lapse_world *world, const struct lapse_sim_call *drawn,
                                    int64_t due_ns);
static enum lapse_sim_flow sent(struct lapse_world *world, const struct lapse_sim_call *call);
static void refuse_later(struct lapse_world *world, const struct lapse_sim_call *drawn);
static void push_request(struct lapse_world *world, const struct lapse_sim_call *call,
                         int32_t index);
static void push_timeout(struct lapse_world *world, const struct lapse_sim_call *call,
                         int32_t index, int64_t span_ns);
static void take_reply(struct lapse_world *world, const struct lapse_sim_call *call);
static void go_on(struct lapse_world *world, const struct lapse_sim_call *call);
static bool may_send(struct lapse_world *world, const struct lapse_sim_call *call);
static bool is_act(const struct lapse_world *world, const struct lapse_sim_call *call);
static int32_t save_slot(const struct lapse_world *world, const struct lapse_sim_call *call);

enum lapse_sim_flow lapse_sim_client_send(struct lapse_world *world, int32_t strand,
                                          int64_t due_ns) {
    const struct lapse_plan_step *step = &world->plan->steps[lapse_sim_task_step(world, strand)];
    struct lapse_sim_call call = lapse_sim_client_call(world, strand, step->u.call.verb);
    struct lapse_sim_miss miss = {0};
    if (!lapse_sim_client_under_bound(world, step, call.n, &miss)) {
        return lapse_sim_client_unbound(world, &call, &miss);
    }
    lapse_sim_ask_begin(world, strand, &step->u.call);
    return lapse_sim_client_send_made(world, &call, &step->u.call, due_ns);
}

enum lapse_sim_flow lapse_sim_client_send_made(struct lapse_world *world,
                                               struct lapse_sim_call *call,
                                               const struct lapse_plan_call *words,
                                               int64_t due_ns) {
    struct lapse_sim_miss miss = {0};
    struct lapse_sim_draft draft = {0};
    enum lapse_status status =
        lapse_sim_draft_call(world, &draft, words, call->actor, call->n, &miss);
    call->request = draft.request;
    enum lapse_sim_flow flow;
    call->grant = lapse_sim_belief_grant(world, call);
    if (status == LAPSE_ABSENT) {
        flow = lapse_sim_client_unbound(world, call, &miss);
    } else if (status != LAPSE_OK) {
        flow = lapse_sim_client_refuse(world, call, status);
    } else if (!may_send(world, call)) {
        flow = lapse_sim_client_refuse(world, call, LAPSE_TOO_LATE);
    } else {
        flow = transmit(world, call, due_ns);
    }
    lapse_sim_draft_free(world, &draft);
    return flow;
}

void lapse_sim_client_reply(struct lapse_world *world, const struct lapse_queue_item *item) {
    struct lapse_sim_call *kept = &world->calls[item->index];
    if (!kept->told) {
        kept->told = kept->answered = true;
        take_reply(world, kept);
        lapse_sim_point_reached(world, LAPSE_POINT_REPLIED, kept->step, -1);
        if (kept->id != item->id) {
            return; /* its client has crashed with the answer in hand */
        }
    }
    const struct lapse_sim_actor *actor = &world->actors[kept->actor];
    if (actor->paused && actor->incarnation == kept->incarnation) {
        lapse_world_push(world, item); /* it has the answer, and goes on when it wakes */
        return;
    }
    /* The place is free before the line goes on, which may send the next call. */
    struct lapse_sim_call call = *kept;
    *kept = (struct lapse_sim_call){0};
    go_on(world, &call);
    lapse_sim_client_forget(world, &call);
}

void lapse_sim_client_timeout(struct lapse_world *world, const struct lapse_queue_item *item) {
    struct lapse_sim_call *kept = &world->calls[item->index];
    struct lapse_sim_call call = *kept;
    kept->answered = true;
    if (kept->applied) { /* its reply waits behind this timeout, and is dropped */
        lapse_sim_watcher_abandon(world, &call);
    }
    if (kept->applied || kept->lost) {
        lapse_sim_client_forget(world, kept);
    }
    call.members_granted = NULL;
    call.answer = (struct lapse_answer){.status = LAPSE_UNKNOWN};
    take_reply(world, &call);
    go_on(world, &call);
}

void lapse_sim_client_lose(struct lapse_world *world, struct lapse_sim_call *call) {
    call->lost = true;
    if (call->applied) { /* a watch that its client is never told of */
        lapse_sim_watcher_abandon(world, call);
    }
    if (call->answered) {
        lapse_sim_client_forget(world, call);
    }
}

void lapse_sim_client_drop(struct lapse_world *world, const struct lapse_queue_item *item) {
    struct lapse_sim_call *call = &world->calls[item->index];
    if (call->id == item->id) {
        lapse_sim_client_forget(world, call);
    }
}

void lapse_sim_client_forget(struct lapse_world *world, struct lapse_sim_call *call) {
    lapse_alloc_free(world->alloc, call->members_granted,
                     call->member_count * sizeof(*call->members_granted));
    *call = (struct lapse_sim_call){0};
}

/* An answer that is on its way finds nobody, whoever bears the name by then. */
void lapse_sim_client_gone(struct lapse_world *world, int32_t actor) {
    for (size_t i = 0; i < world->call_count; i++) {
        struct lapse_sim_call *call = &world->calls[i];
        if (call->id == 0 || call->actor != actor) {
            continue;
        }
        call->answered = true;
        if (call->applied || call->lost) {
            lapse_sim_client_forget(world, call);
        }
    }
}

struct lapse_sim_call *lapse_sim_client_place(struct lapse_world *world,
                                              int32_t *ret_index) {
    for (size_t i = 0; i < world->call_count; i++) {
        if (world->calls[i].id == 0) {
            *ret_index = (int32_t)i;
            return &world->calls[i];
        }
    }
    void *calls = world->calls;
    if (!lapse_world_grow(world, &calls, &world->call_cap, world->call_count + 1,
                          sizeof(*world->calls))) {
        return NULL;
    }
    world->calls = calls;
    *ret_index = (int32_t)world->call_count;
    return &world->calls[world->call_count++];
}

struct lapse_sim_call lapse_sim_client_call(const struct lapse_world *world, int32_t strand,
                                            int verb) {
    const struct lapse_sim_strand *from = &world->strands[strand];
    struct lapse_sim_call call = {
        .step = lapse_sim_task_step(world, strand),
        .actor = from->actor,
        .incarnation = world->actors[from->actor].incarnation,
        .strand = strand,
        .strand_gen = from->gen,
        .n = lapse_sim_task_n(world, strand),
        .sent_ns = world->now.ns,
        .sent_reading = lapse_sim_clock_steady(&world->actors[from->actor].clock, world->now),
    };
    call.request.verb = verb;
    call.request.resource = -1;
    call.nowait = world->plan->steps[call.step].nowait;
    call.has_timeout = world->plan->steps[call.step].has_timeout;
    call.timeout_ns = world->plan->steps[call.step].timeout_ns;
    return call;
}

const struct lapse_history_event *lapse_sim_client_invoke(struct lapse_world *world,
                                                          const struct lapse_sim_call *call,
                                                          int64_t due_ns) {
    const struct lapse_sim_actor *actor = &world->actors[call->actor];
    struct lapse_history_event event = lapse_world_call_event(world, LAPSE_HISTORY_INVOKE, call);
    event.u.invoke.request = call->request;
    event.u.invoke.grant = call->grant.ref;
    event.u.invoke.loop = world->plan->steps[call->step].loop;
    event.u.invoke.due.ns = due_ns;
    event.u.invoke.looked = actor->has_look && world->plan->setup.actors[call->actor].careful;
    event.u.invoke.last_look = actor->last_look;
    return lapse_world_emit(world, &event);
}

void lapse_sim_client_answer(struct lapse_world *world, const struct lapse_sim_call *call,
                             bool sent) {
    struct lapse_history_event event = lapse_world_call_event(world, LAPSE_HISTORY_REPLY, call);
    int32_t slot = save_slot(world, call);
    event.u.reply.verb = call->request.verb;
    event.u.reply.sent = sent;
    event.u.reply.save_slot = slot;
    event.u.reply.grant = call->grant.ref;
    event.u.reply.answer = call->answer;
    event.u.reply.answer.took.ns = world->now.ns - lapse_sim_ask_since(world, call);
    const struct lapse_history_event *stored = lapse_world_emit(world, &event);
    if (stored == NULL || slot < 0) {
        return;
    }
    enum lapse_status status =
        lapse_slots_bind(&world->slots, slot, call->request.verb, &stored->u.reply.answer);
    if (status < 0) {
        lapse_world_fail(world, status, "no memory for a saved reply");
    }
    lapse_sim_await_bound(world);
}

enum lapse_sim_flow lapse_sim_client_refuse(struct lapse_world *world, struct lapse_sim_call *call,
                                            enum lapse_status status) {
    const struct lapse_plan_step *step = &world->plan->steps[call->step];
    if (status == LAPSE_NOMEM) {
        lapse_world_fail(world, status, "no memory for a request");
        return LAPSE_FLOW_WAIT;
    }
    call->answer = (struct lapse_answer){.status = status};
    lapse_sim_client_answer(world, call, false);
    if (call->program) {
        refuse_later(world, call);
        return LAPSE_FLOW_WAIT;
    }
    return lapse_sim_task_answered(world, call->strand, step, call->n, call->request.verb,
                                   &call->answer);
}

enum lapse_sim_flow lapse_sim_client_unbound(struct lapse_world *world,
                                             const struct lapse_sim_call *call,
                                             const struct lapse_sim_miss *miss) {
    struct lapse_history_event event = lapse_world_call_event(world, LAPSE_HISTORY_UNBOUND, call);
    lapse_world_emit_unbound(world, &event, miss);
    return LAPSE_FLOW_ON;
}

bool lapse_sim_client_under_bound(const struct lapse_world *world,
                                  const struct lapse_plan_step *step, int32_t n,
                                  struct lapse_sim_miss *ret_miss) {
    if (!step->has_under || lapse_slots_find(&world->slots, step->under, n) != NULL) {
        return true;
    }
    *ret_miss = (struct lapse_sim_miss){.slot = lapse_sim_slot_of(step->under, n),
                                        .why = LAPSE_UNBOUND_NAME};
    return false;
}

/* From here on the request's bytes are those of the stored INVOKE. */
static enum lapse_sim_flow transmit(struct lapse_world *world, const struct lapse_sim_call *drawn,
                                    int64_t due_ns) {
    const struct lapse_plan_step *step = &world->plan->steps[drawn->step];
    int32_t index = 0;
    struct lapse_sim_call *call = lapse_sim_client_place(world, &index);
    if (call == NULL) {
        return LAPSE_FLOW_WAIT;
    }
    *call = *drawn;
    call->id = ++world->next_call;
    const struct lapse_history_event *stored = lapse_sim_client_invoke(world, call, due_ns);
    if (stored == NULL) {
        call->id = 0;
        return LAPSE_FLOW_WAIT;
    }
    call->request = stored->u.invoke.request;
    if (!call->program) {
        world->strands[call->strand].wait = call->nowait ? LAPSE_WAIT_NONE : LAPSE_WAIT_CALL;
    }
    if (world->lanes == NULL && step->request.kind == LAPSE_MESSAGE_PLAIN) {
        push_request(world, call, index);
    } else {
        lapse_sim_link_request(world, index);
        call = &world->calls[index]; /* a copy may have moved the table */
    }
    if (call->has_timeout) {
        push_timeout(world, call, index, call->timeout_ns);
    }
    lapse_sim_belief_sent(world, call);
    return sent(world, drawn);
}

/* What waits for the call to be sent may end the strand that sent it. */
static enum lapse_sim_flow sent(struct lapse_world *world, const struct lapse_sim_call *call) {
    const struct lapse_sim_strand *strand = &world->strands[call->strand];
    lapse_sim_point_reached(world, LAPSE_POINT_SENT, call->step, -1);
    bool goes_on = strand->running && strand->gen == call->strand_gen;
    if (!goes_on || !call->nowait || call->program) {
        return LAPSE_FLOW_WAIT;
    }
    return lapse_sim_task_hold(world, call->strand) ? LAPSE_FLOW_WAIT : LAPSE_FLOW_ON;
}

/* A program hears of a call that was not sent as of any answer: later, at this instant. */
static void refuse_later(struct lapse_world *world, const struct lapse_sim_call *drawn) {
    int32_t index = 0;
    struct lapse_sim_call *call = lapse_sim_client_place(world, &index);
    if (call == NULL) {
        return;
    }
    *call = *drawn;
    call->id = ++world->next_call;
    call->answered = call->told = true;
    lapse_world_push(world, &(struct lapse_queue_item){.at_ns = world->now.ns,
                                                       .phase = LAPSE_PHASE_UNDER_WAY,
                                                       .kind = LAPSE_QUEUE_REPLY,
                                                       .rank = world->now.ns,
                                                       .due_ns = world->now.ns,
                                                       .actor = call->actor,
                                                       .incarnation = call->incarnation,
                                                       .index = index,
                                                       .id = call->id});
}

/* It is on its way whatever becomes of its client. */
static void push_request(struct lapse_world *world, const struct lapse_sim_call *call,
                         int32_t index) {
    lapse_world_push(world, &(struct lapse_queue_item){.at_ns = world->now.ns,
                                                       .phase = LAPSE_PHASE_UNDER_WAY,
                                                       .kind = LAPSE_QUEUE_REQUEST,
                                                       .rank = world->now.ns,
                                                       .due_ns = world->now.ns,
                                                       .actor = -1,
                                                       .incarnation = call->incarnation,
                                                       .index = index,
                                                       .id = call->id});
}

static void push_timeout(struct lapse_world *world, const struct lapse_sim_call *call,
                         int32_t index, int64_t span_ns) {
    struct lapse_queue_item item = {.phase = LAPSE_PHASE_UNDER_WAY,
                                    .kind = LAPSE_QUEUE_TIMEOUT,
                                    .actor = call->actor,
                                    .incarnation = call->incarnation,
                                    .index = index,
                                    .id = call->id};
    lapse_sim_timer_set(world, &item, lapse_sim_timer_in(world, call->actor, span_ns));
    lapse_world_push(world, &item);
}

/* Reply, save, belief. */
static void take_reply(struct lapse_world *world, const struct lapse_sim_call *call) {
    if (!lapse_sim_ask_waits(world, call)) { /* else the line has no answer yet */
        lapse_sim_client_answer(world, call, true);
    }
    lapse_sim_belief_replied(world, call);
    int32_t slot = save_slot(world, call);
    if (slot >= 0) {
        world->slot_grants[slot] = lapse_sim_belief_of_call(world, call);
    }
}

/* The client's own decision, if it lives and still waits. */
static void go_on(struct lapse_world *world, const struct lapse_sim_call *call) {
    const struct lapse_plan_step *step = &world->plan->steps[call->step];
    const struct lapse_sim_strand *strand = &world->strands[call->strand];
    bool lives = strand->running && world->actors[call->actor].incarnation == call->incarnation;
    bool waits = strand->wait == LAPSE_WAIT_CALL && strand->gen == call->strand_gen;
    if (!lives || (!waits && !call->nowait)) {
        return;
    }
    if (call->program) {
        lapse_sim_program_replied(world, call);
        return;
    }
    if (lapse_sim_ask_waits(world, call)) {
        lapse_sim_ask_again(world, call);
        return;
    }
    lapse_sim_task_go_on(world, call->strand,
                         lapse_sim_task_answered(world, call->strand, step, call->n,
                                                 call->request.verb, &call->answer));
}

/* A careful client looks at its clock before each act, also of those in a batch. */
static bool may_send(struct lapse_world *world, const struct lapse_sim_call *call) {
    if (!world->plan->setup.actors[call->actor].careful) {
        return true;
    }
    if (lapse_sim_belief_gone(world, call)) {
        return false;
    }
    bool may = !is_act(world, call) ||
               lapse_sim_belief_look(world, call->actor, &call->grant, call->step);
    for (size_t i = 0; may && i < lapse_sim_member_count(call); i++) {
        struct lapse_sim_call member = lapse_sim_member_at(call, i);
        member.grant = lapse_sim_belief_grant(world, &member);
        may = !is_act(world, &member) ||
              lapse_sim_belief_look(world, call->actor, &member.grant, call->step);
    }
    return may;
}

/* A create in a bucket of locks asks for a grant, as an acquire does; a batch itself is no act. */
static bool is_act(const struct lapse_world *world, const struct lapse_sim_call *call) {
    int verb = call->request.verb;
    bool asks = verb == LAPSE_VERB_CREATE && lapse_sim_member_plan(world, call)->key_lock;
    asks = asks || verb == LAPSE_VERB_ACQUIRE;
    return !asks && verb != LAPSE_VERB_BATCH && call->grant.ref.given &&
           verb != LAPSE_VERB_RELEASE && verb != LAPSE_VERB_INSPECT;
}

/* Only an accepted reply is kept: a refused one has nothing that a later line should act on. */
static int32_t save_slot(const struct lapse_world *world, const struct lapse_sim_call *call) {
    const struct lapse_plan_step *step = &world->plan->steps[call->step];
    if (!step->has_save || call->answer.status != LAPSE_OK) {
        return -1;
    }
    int32_t slot = lapse_sim_slot_of(step->save, call->n);
    return (size_t)slot < world->slots.count ? slot : -1;
}
