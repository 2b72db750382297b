/* Timers are set again where they lie in the queue, and keep their sequence numbers: among timers
 * that come due at one instant the one that was set first still comes first. */
#include "timer.h"

#include "loop.h"

int64_t lapse_sim_timer_now(const struct lapse_world *world, int32_t actor) {
    return lapse_sim_clock_steady(&world->actors[actor].clock, world->now).ns;
}

int64_t lapse_sim_timer_in(const struct lapse_world *world, int32_t actor, int64_t span_ns) {
    int64_t reading = 0;
    bool fits = lapse_ns_add(lapse_sim_timer_now(world, actor), span_ns, &reading);
    return fits ? reading : INT64_MAX;
}

void lapse_sim_timer_set(const struct lapse_world *world, struct lapse_queue_item *item,
                         int64_t reading_ns) {
    int64_t due = INT64_MAX;
    if (reading_ns < INT64_MAX) {
        due = lapse_sim_clock_at_steady(&world->actors[item->actor].clock,
                                        (struct lapse_steady){reading_ns})
                  .ns;
    }
    item->timed = true;
    item->reading_ns = reading_ns;
    item->due_ns = due;
    item->at_ns = due < world->now.ns ? world->now.ns : due;
    if (item->phase == LAPSE_PHASE_UNDER_WAY) {
        item->rank = due;
    }
}

/* What has come due already stays due. */
void lapse_sim_timer_reset_all(struct lapse_world *world, int32_t actor) {
    for (size_t i = 0; i < world->queue.heap.count; i++) {
        struct lapse_queue_item *item = &world->queue.heap.items[i];
        if (!item->timed || item->actor != actor || item->at_ns <= world->now.ns) {
            continue;
        }
        if (item->kind == LAPSE_QUEUE_TICK || item->kind == LAPSE_QUEUE_UNTIL) {
            lapse_sim_loop_reset(world, item);
        } else {
            lapse_sim_timer_set(world, item, item->reading_ns);
        }
    }
    lapse_queue_restore(&world->queue);
}
