/* Work is framed by INVOKE and REPLY like a call, but nothing is sent. While a task works, a
 * careful client looks at its clock when its deadline comes; renewals beside the work move that
 * deadline, so each look asks the belief again. */
#include "work.h"

#include "belief.h"
#include "client.h"
#include "program_run.h"
#include "request.h"
#include "slow.h"
#include "timer.h"
#include "world_events.h"

static void start(struct lapse_world *world, const struct lapse_sim_call *drawn, int64_t due_ns);
static bool may_begin(struct lapse_world *world, int32_t strand,
                      const struct lapse_sim_call *call);
static bool is_careful(const struct lapse_world *world, int32_t actor);
static void arm(struct lapse_world *world, int32_t strand);
static void arm_look(struct lapse_world *world, int32_t strand);
static void finish(struct lapse_world *world, int32_t strand, enum lapse_status status);

enum lapse_sim_flow lapse_sim_work_begin(struct lapse_world *world, int32_t strand,
                                         int64_t due_ns) {
    const struct lapse_plan_step *step = &world->plan->steps[lapse_sim_task_step(world, strand)];
    struct lapse_sim_call call = lapse_sim_client_call(world, strand, LAPSE_CALL_WORK);
    struct lapse_sim_miss miss = {0};
    enum lapse_status status = LAPSE_ABSENT;
    if (lapse_sim_client_under_bound(world, step, call.n, &miss)) {
        status = lapse_sim_operand(world, &step->u.work, LAPSE_OPERAND_SPAN, call.actor, call.n,
                                   &call.request.work.ns, &miss);
    }
    if (status == LAPSE_ABSENT) {
        return lapse_sim_client_unbound(world, &call, &miss);
    }
    if (status != LAPSE_OK || call.request.work.ns < 0) {
        return lapse_sim_client_refuse(world, &call, status != LAPSE_OK ? status : LAPSE_INVALID);
    }
    call.grant = lapse_sim_belief_grant(world, &call);
    world->strands[strand].work_tied = step->has_under;
    if (!may_begin(world, strand, &call)) {
        return lapse_sim_client_refuse(world, &call, LAPSE_TOO_LATE);
    }
    start(world, &call, due_ns);
    return LAPSE_FLOW_WAIT;
}

void lapse_sim_work_spend(struct lapse_world *world, int32_t strand, struct lapse_span span,
                          bool tied, int64_t token) {
    struct lapse_sim_call call = lapse_sim_client_call(world, strand, LAPSE_CALL_WORK);
    call.request.work = span;
    call.program = true;
    for (size_t i = 0; i < world->belief_count && tied; i++) {
        const struct lapse_sim_belief *belief = &world->beliefs[i];
        if (belief->actor == call.actor && belief->grant.ref.token == token) {
            call.grant = belief->grant;
        }
    }
    world->strands[strand].work_tied = tied;
    bool may = call.grant.ref.given ? may_begin(world, strand, &call) : !tied;
    if (!may) {
        lapse_sim_client_refuse(world, &call, LAPSE_TOO_LATE);
        return;
    }
    start(world, &call, world->now.ns);
}

void lapse_sim_work_event(struct lapse_world *world, const struct lapse_queue_item *item) {
    const struct lapse_sim_strand *works = &world->strands[item->index];
    /* Work that would end exactly at the deadline is too late. */
    bool looks = works->work_grant.ref.given && is_careful(world, works->actor);
    bool may_act = item->kind != LAPSE_QUEUE_WORK_CUT;
    if (may_act && looks) {
        may_act = lapse_sim_belief_look(world, works->actor, &works->work_grant,
                                        lapse_sim_task_step(world, item->index));
    }
    if (!may_act) {
        finish(world, item->index, LAPSE_TOO_LATE);
    } else if (item->kind == LAPSE_QUEUE_WORK_END) {
        finish(world, item->index, LAPSE_OK);
    } else {
        arm_look(world, item->index);
    }
}

void lapse_sim_work_stretch(struct lapse_world *world, int32_t actor) {
    int64_t slept = lapse_sim_timer_now(world, actor) - world->actors[actor].paused_at_ns;
    for (size_t i = 0; i < world->strand_count; i++) {
        struct lapse_sim_strand *works = &world->strands[i];
        if (works->actor != actor || !works->running || works->wait != LAPSE_WAIT_WORK) {
            continue;
        }
        if (!lapse_ns_add(works->work_end_ns, slept, &works->work_end_ns)) {
            works->work_end_ns = INT64_MAX;
        }
        works->gen++;
        arm(world, (int32_t)i);
    }
}

void lapse_sim_work_pace(struct lapse_world *world, int32_t actor, int32_t factor,
                         int32_t before) {
    const struct lapse_sim_actor *who = &world->actors[actor];
    int64_t from = who->paused ? who->paused_at_ns : lapse_sim_timer_now(world, actor);
    for (size_t i = 0; i < world->strand_count; i++) {
        struct lapse_sim_strand *works = &world->strands[i];
        if (works->actor != actor || !works->running || works->wait != LAPSE_WAIT_WORK) {
            continue;
        }
        int64_t left = 0;
        if (!lapse_ns_scale(works->work_end_ns - from, factor, before, &left) ||
            !lapse_ns_add(from, left, &works->work_end_ns)) {
            works->work_end_ns = INT64_MAX;
        }
        works->gen++;
        arm(world, (int32_t)i);
    }
}

/* A careful client's work ends with the belief it is under; another's only if it is tied to it. */
void lapse_sim_work_cut(struct lapse_world *world, int32_t actor,
                        const struct lapse_sim_grant *grant) {
    for (size_t i = 0; i < world->strand_count; i++) {
        const struct lapse_sim_strand *works = &world->strands[i];
        if (works->actor != actor || !works->running || works->wait != LAPSE_WAIT_WORK) {
            continue;
        }
        bool under = works->work_grant.ref.given && works->work_grant.first == grant->first &&
                     works->work_grant.ref.key_lock == grant->ref.key_lock &&
                     lapse_bytes_equal(works->work_grant.ref.name, grant->ref.name);
        if (under && (works->work_tied || is_careful(world, actor))) {
            struct lapse_queue_item cut = lapse_sim_task_item(
                world, (int32_t)i, LAPSE_QUEUE_WORK_CUT, world->now.ns, LAPSE_PHASE_UNDER_WAY);
            lapse_world_push(world, &cut);
        }
    }
}

static void start(struct lapse_world *world, const struct lapse_sim_call *drawn, int64_t due_ns) {
    struct lapse_sim_call call = *drawn;
    struct lapse_sim_strand *works = &world->strands[call.strand];
    call.id = ++world->next_call;
    if (lapse_sim_client_invoke(world, &call, due_ns) == NULL) {
        return;
    }
    works->wait = LAPSE_WAIT_WORK;
    works->sent_ns = world->now.ns;
    works->work_call = call.id;
    works->work_grant = call.grant;
    int64_t needs = lapse_sim_slow_work(world, call.actor, call.request.work.ns);
    works->work_end_ns = lapse_sim_timer_in(world, call.actor, needs);
    arm(world, call.strand);
}

static bool may_begin(struct lapse_world *world, int32_t strand,
                      const struct lapse_sim_call *call) {
    if (!call->grant.ref.given) {
        return true;
    }
    if (is_careful(world, call->actor)) {
        return lapse_sim_belief_look(world, call->actor, &call->grant, call->step);
    }
    return !world->strands[strand].work_tied ||
           lapse_sim_belief_find(world, call->actor, &call->grant) != NULL;
}

static bool is_careful(const struct lapse_world *world, int32_t actor) {
    return world->plan->setup.actors[actor].careful;
}

static void arm(struct lapse_world *world, int32_t strand) {
    const struct lapse_sim_strand *works = &world->strands[strand];
    arm_look(world, strand);
    struct lapse_queue_item done = lapse_sim_task_item(world, strand, LAPSE_QUEUE_WORK_END,
                                                       world->now.ns, LAPSE_PHASE_UNDER_WAY);
    lapse_sim_timer_set(world, &done, works->work_end_ns);
    lapse_world_push(world, &done);
}

static void arm_look(struct lapse_world *world, int32_t strand) {
    const struct lapse_sim_strand *works = &world->strands[strand];
    const struct lapse_sim_belief *belief =
        works->work_grant.ref.given && is_careful(world, works->actor)
            ? lapse_sim_belief_find(world, works->actor, &works->work_grant)
            : NULL;
    if (belief == NULL || !belief->has_deadline) {
        return;
    }
    struct lapse_queue_item look = lapse_sim_task_item(world, strand, LAPSE_QUEUE_WORK_LOOK,
                                                       world->now.ns, LAPSE_PHASE_UNDER_WAY);
    lapse_sim_timer_set(world, &look, belief->deadline.ns);
    lapse_world_push(world, &look);
}

static void finish(struct lapse_world *world, int32_t strand, enum lapse_status status) {
    struct lapse_sim_strand *works = &world->strands[strand];
    const struct lapse_plan_step *step = &world->plan->steps[lapse_sim_task_step(world, strand)];
    struct lapse_sim_call call = lapse_sim_client_call(world, strand, LAPSE_CALL_WORK);
    call.id = works->work_call;
    call.sent_ns = works->sent_ns;
    call.grant = works->work_grant;
    call.answer.status = status;
    works->wait = LAPSE_WAIT_NONE;
    works->gen++;
    lapse_sim_client_answer(world, &call, true);
    if (lapse_sim_program_is(world, strand)) {
        lapse_sim_program_worked(world, strand, status);
        return;
    }
    lapse_sim_task_go_on(
        world, strand,
        lapse_sim_task_answered(world, strand, step, call.n, LAPSE_CALL_WORK, &call.answer));
}
