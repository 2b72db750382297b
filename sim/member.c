/* A batch is one call on the wire and in the table of calls; what its members mean to beliefs and
 * locks is found by looking at each as if it were alone. */
#include "member.h"

static struct lapse_answer answer_of(const struct lapse_sim_call *call, size_t index);
static bool is_granted(const struct lapse_sim_call *call, size_t index);

size_t lapse_sim_member_count(const struct lapse_sim_call *call) {
    return call->request.verb == LAPSE_VERB_BATCH ? call->request.command.u.batch.count : 0;
}

struct lapse_sim_call lapse_sim_member_at(const struct lapse_sim_call *call, size_t index) {
    struct lapse_sim_call member = *call;
    LAPSE_ASSERT(index < lapse_sim_member_count(call));
    member.member = (int32_t)index + 1;
    member.request.command = call->request.command.u.batch.commands[index];
    member.request.verb = (int)member.request.command.verb;
    member.answer = answer_of(call, index);
    member.granted = is_granted(call, index);
    member.members_granted = NULL;
    member.member_count = 0;
    return member;
}

const struct lapse_plan_call *lapse_sim_member_plan(const struct lapse_world *world,
                                                    const struct lapse_sim_call *call) {
    const struct lapse_plan_step *step = &world->plan->steps[call->step];
    if (call->shape != NULL) {
        return call->shape;
    }
    if (step->kind != LAPSE_STEP_CALL) {
        return NULL;
    }
    return call->member == 0 ? &step->u.call : &step->u.call.batch[call->member - 1];
}

void lapse_sim_member_grant(struct lapse_world *world, struct lapse_sim_call *call, size_t index) {
    size_t count = lapse_sim_member_count(call);
    if (call->members_granted == NULL) {
        call->members_granted =
            lapse_alloc_zero(world->alloc, count * sizeof(*call->members_granted));
        call->member_count = count;
    }
    if (call->members_granted == NULL) {
        lapse_world_fail(world, LAPSE_NOMEM, "no memory for the grants of a batch");
        return;
    }
    call->members_granted[index] = true;
}

/* Of a refused batch only the last answer says something: why. */
static struct lapse_answer answer_of(const struct lapse_sim_call *call, size_t index) {
    const struct lapse_answer *batch = &call->answer;
    struct lapse_answer answer = {.status = LAPSE_UNKNOWN, .at = batch->at, .wall = batch->wall};
    bool says =
        batch->status == LAPSE_OK ? index < batch->answer_count : index + 1 == batch->answer_count;
    if (says && batch->answers != NULL) {
        const struct lapse_batch_answer *own = &batch->answers[index];
        answer.status = own->status;
        answer.revision = own->revision;
        answer.end = own->end;
        answer.left = own->left;
        answer.token = own->token;
        answer.has_token = own->status == LAPSE_OK && own->token > 0;
    }
    return answer;
}

static bool is_granted(const struct lapse_sim_call *call, size_t index) {
    return call->members_granted != NULL && call->members_granted[index];
}
