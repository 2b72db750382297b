/* Which grant a call is under, as its client sees it: nothing here looks at the store. */
#include "belief.h"
#include "member.h"

static bool carries_token(const struct lapse_world *world, const struct lapse_sim_call *call);
static struct lapse_sim_grant of_token(const struct lapse_world *world,
                                       const struct lapse_sim_call *call);
static struct lapse_sim_grant of_slot(const struct lapse_world *world, int32_t actor,
                                      const struct lapse_slot *slot);
static struct lapse_sim_grant of_operand(const struct lapse_world *world, int32_t actor,
                                         const struct lapse_operand *operand, int64_t token,
                                         bool key_lock, int32_t n);
static struct lapse_sim_grant only_one(const struct lapse_world *world, int32_t actor);

struct lapse_sim_grant lapse_sim_belief_grant(const struct lapse_world *world,
                                              const struct lapse_sim_call *call) {
    const struct lapse_plan_step *step = &world->plan->steps[call->step];
    if (step->has_under) {
        return of_slot(world, call->actor, lapse_slots_find(&world->slots, step->under, call->n));
    }
    struct lapse_sim_grant grant = of_token(world, call);
    for (size_t i = 0; !grant.ref.given && i < lapse_sim_member_count(call); i++) {
        struct lapse_sim_call member = lapse_sim_member_at(call, i);
        grant = of_token(world, &member);
    }
    return grant.ref.given || carries_token(world, call) ? grant : only_one(world, call->actor);
}

static bool carries_token(const struct lapse_world *world, const struct lapse_sim_call *call) {
    const struct lapse_plan_call *plan = lapse_sim_member_plan(world, call);
    return plan != NULL &&
           (plan->token.kind != 0 || (plan->key_lock && plan->if_version.kind != 0));
}

/* By the token that a call carries. */
static struct lapse_sim_grant of_token(const struct lapse_world *world,
                                       const struct lapse_sim_call *call) {
    const struct lapse_plan_call *plan = lapse_sim_member_plan(world, call);
    const struct lapse_request *request = &call->request;
    if (!carries_token(world, call)) {
        return (struct lapse_sim_grant){0};
    }
    if (plan->token.kind != 0) {
        int64_t number =
            request->verb == LAPSE_CALL_WRITE ? request->token : request->command.u.lease.token;
        return of_operand(world, call->actor, &plan->token, number, false, call->n);
    }
    return of_operand(world, call->actor, &plan->if_version, request->command.u.write.if_version,
                      true, call->n);
}

/* The grant saved in a slot, with the newest token told if the actor still believes in it. */
static struct lapse_sim_grant of_slot(const struct lapse_world *world, int32_t actor,
                                      const struct lapse_slot *slot) {
    if (slot == NULL) {
        return (struct lapse_sim_grant){0};
    }
    struct lapse_sim_grant grant = world->slot_grants[slot - world->slots.items];
    const struct lapse_sim_belief *belief =
        grant.ref.given ? lapse_sim_belief_find(world, actor, &grant) : NULL;
    return belief != NULL ? belief->grant : grant;
}

static struct lapse_sim_grant of_operand(const struct lapse_world *world, int32_t actor,
                                         const struct lapse_operand *operand, int64_t token,
                                         bool key_lock, int32_t n) {
    if (operand->kind == LAPSE_OPERAND_SLOT) {
        struct lapse_sim_grant grant =
            of_slot(world, actor, lapse_slots_find(&world->slots, operand->slot, n));
        if (grant.ref.given) {
            return grant;
        }
    }
    for (size_t i = 0; i < world->belief_count; i++) {
        const struct lapse_sim_belief *belief = &world->beliefs[i];
        if (belief->actor == actor && !belief->own && belief->grant.ref.token == token &&
            (!key_lock || belief->grant.ref.key_lock)) {
            return belief->grant;
        }
    }
    return (struct lapse_sim_grant){0};
}

static struct lapse_sim_grant only_one(const struct lapse_world *world, int32_t actor) {
    struct lapse_sim_grant grant = {0};
    size_t count = 0;
    for (size_t i = 0; count < 2 && i < world->belief_count; i++) {
        if (world->beliefs[i].actor == actor && !world->beliefs[i].own) {
            grant = world->beliefs[i].grant;
            count++;
        }
    }
    return count == 1 ? grant : (struct lapse_sim_grant){0};
}
