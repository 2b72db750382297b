/* Each fault with a point counts by itself how often its moment has come. It happens once, at the
 * nth; a point that never comes leaves its line not run, which the end of the run tells. */
#include "point.h"

#include "fault.h"

static bool waits(const struct lapse_plan_step *step);

void lapse_sim_point_reached(struct lapse_world *world, enum lapse_point_kind kind, int32_t step,
                             int32_t node) {
    if (world->point_count > 0 && lapse_sim_point_note(world, kind, step, node)) {
        lapse_sim_point_fire(world);
    }
}

bool lapse_sim_point_note(struct lapse_world *world, enum lapse_point_kind kind, int32_t step,
                          int32_t node) {
    bool due = false;
    for (size_t i = 0; i < world->point_count; i++) {
        struct lapse_sim_point *point = &world->points[i];
        const struct lapse_point *of = &world->plan->steps[point->step].u.fault.point;
        bool same = of->kind == kind && (kind <= LAPSE_POINT_REPLIED ? of->step == step
                                                                     : of->node == node);
        if (same && ++point->reached == of->nth) {
            point->due = true;
        }
        due = due || point->due;
    }
    return due;
}

/* A fault may reach a point itself, so that each is taken off before it happens. */
void lapse_sim_point_fire(struct lapse_world *world) {
    for (size_t i = 0; i < world->point_count; i++) {
        struct lapse_sim_point *point = &world->points[i];
        if (point->due && !world->stop && world->status == LAPSE_OK) {
            point->due = false;
            world->ran[point->step] = LAPSE_RAN_YES;
            lapse_sim_fault_step(world, point->step);
        }
    }
}

bool lapse_sim_point_open(struct lapse_world *world) {
    const struct lapse_plan *plan = world->plan;
    size_t count = 0;
    for (size_t i = 0; i < plan->world_step_count; i++) {
        count += waits(&plan->steps[plan->world_steps[i]]) ? 1 : 0;
    }
    if (count == 0) {
        return true;
    }
    world->points = lapse_alloc_zero(world->alloc, count * sizeof(*world->points));
    if (world->points == NULL) {
        return false;
    }
    for (size_t i = 0; i < plan->world_step_count; i++) {
        int32_t step = plan->world_steps[i];
        if (waits(&plan->steps[step])) {
            world->points[world->point_count++].step = step;
        }
    }
    return true;
}

static bool waits(const struct lapse_plan_step *step) {
    return step->kind == LAPSE_STEP_FAULT && step->when.kind == LAPSE_WHEN_POINT;
}
