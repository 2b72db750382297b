/* The wait goes by the actor's timers, so a pause makes both the next ask and the end late, and a
 * client that wakes past the end gives up without asking. At the very end nothing is asked. */
#include "ask.h"

#include "client.h"
#include "member.h"
#include "timer.h"

static void give_up(struct lapse_world *world, int32_t strand, int64_t call_id);

void lapse_sim_ask_begin(struct lapse_world *world, int32_t strand,
                         const struct lapse_plan_call *call) {
    struct lapse_sim_strand *asks = &world->strands[strand];
    if (call->has_wait && !asks->asks) {
        asks->asks = true;
        asks->ask_until = lapse_sim_timer_in(world, asks->actor, call->wait_ns);
        asks->asked_ns = world->now.ns;
    }
}

bool lapse_sim_ask_waits(const struct lapse_world *world, const struct lapse_sim_call *call) {
    const struct lapse_sim_strand *asks = &world->strands[call->strand];
    return call->answer.status == LAPSE_HELD && !call->program && asks->asks && asks->running &&
           asks->gen == call->strand_gen &&
           world->actors[call->actor].incarnation == call->incarnation &&
           lapse_sim_member_plan(world, call)->has_wait;
}

void lapse_sim_ask_again(struct lapse_world *world, const struct lapse_sim_call *call) {
    struct lapse_sim_strand *asks = &world->strands[call->strand];
    int64_t next = lapse_sim_timer_in(world, call->actor,
                                      lapse_sim_member_plan(world, call)->retry_ns);
    if (lapse_sim_timer_now(world, call->actor) >= asks->ask_until) {
        give_up(world, call->strand, call->id);
        return;
    }
    asks->wait = LAPSE_WAIT_TIMER;
    asks->work_call = call->id;
    struct lapse_queue_item item = lapse_sim_task_item(world, call->strand, LAPSE_QUEUE_ASK,
                                                       world->now.ns, LAPSE_PHASE_UNDER_WAY);
    lapse_sim_timer_set(world, &item, next < asks->ask_until ? next : asks->ask_until);
    lapse_world_push(world, &item);
}

void lapse_sim_ask_event(struct lapse_world *world, const struct lapse_queue_item *item) {
    struct lapse_sim_strand *asks = &world->strands[item->index];
    if (lapse_sim_timer_now(world, asks->actor) >= asks->ask_until) {
        give_up(world, item->index, asks->work_call);
        return;
    }
    asks->gen++;
    asks->wait = LAPSE_WAIT_NONE;
    lapse_sim_task_go_on(world, item->index,
                         lapse_sim_client_send(world, item->index, item->due_ns));
}

int64_t lapse_sim_ask_since(const struct lapse_world *world, const struct lapse_sim_call *call) {
    const struct lapse_sim_strand *asks = &world->strands[call->strand];
    bool its = asks->asks && !call->program && asks->gen == call->strand_gen &&
               call->request.verb == LAPSE_VERB_ACQUIRE;
    return its ? asks->asked_ns : call->sent_ns;
}

/* The line's answer is its client's own: the last ask was answered `held`. */
static void give_up(struct lapse_world *world, int32_t strand, int64_t call_id) {
    struct lapse_sim_call call = lapse_sim_client_call(world, strand, LAPSE_VERB_ACQUIRE);
    const struct lapse_plan_step *step = &world->plan->steps[call.step];
    call.id = call_id;
    call.answer.status = LAPSE_TIMED_OUT;
    lapse_sim_client_answer(world, &call, true);
    lapse_sim_task_go_on(world, strand,
                         lapse_sim_task_answered(world, strand, step, call.n, LAPSE_VERB_ACQUIRE,
                                                 &call.answer));
}
