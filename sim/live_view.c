/* Answers show a part of what a store holds. What no answer shows is compared here: a walk over the
 * rows, beside a model that has seen the same calls. */
#include "live_view.h"

void lapse_sim_live_view_compare(struct lapse_world *world) {
    const struct lapse_sim_node *node = &world->node;
    bool idle = world->judge != NULL && !world->stop && world->status == LAPSE_OK &&
                node->store != NULL && !node->trouble.dead;
    bool done = node->result.status >= LAPSE_OK || node->result.status == LAPSE_INVALID;
    if (!world->plan->compare_model || !idle || !done) {
        return;
    }
    struct lapse_model *model = lapse_judge_model(world->judge);
    struct lapse_error err = {0};
    if (model == NULL) {
        return;
    }
    lapse_model_view_begin(model);
    enum lapse_status status = lapse_walk(node->store, lapse_model_view_take, model, &err);
    if (status < 0) {
        lapse_world_fail(world, status, "a walk over the store: %s", err.message);
        return;
    }
    struct lapse_model_difference odd;
    bool stop = false;
    if (lapse_model_view_end(model, &odd)) {
        return;
    }
    status = lapse_judge_object(world->judge, &odd, &stop);
    if (status < 0) {
        lapse_world_fail(world, status, "no memory for the judge");
    }
    world->stop = world->stop || stop;
}
