/* Firings that come due in a pause, or while the body or its call still runs, become one, late;
 * then the grid goes on. So no firing is queued while the body runs: the next is worked out after.
 */
#include "loop.h"

static const struct lapse_plan_loop *loop_of(const struct lapse_world *world, int32_t strand);
static void set_firing(struct lapse_world *world, int32_t strand, int64_t due_ns);
static int64_t grid_before(int64_t from, int64_t period, int64_t now);

enum lapse_sim_flow lapse_sim_loop_begin(struct lapse_world *world, int32_t strand) {
    const struct lapse_sim_strand *outer = &world->strands[strand];
    int32_t step = lapse_sim_task_step(world, strand);
    const struct lapse_plan_loop *loop = &world->plan->steps[step].u.loop;
    int32_t inner = world->strand_of[step];
    struct lapse_sim_strand *began = &world->strands[inner];
    if (began->running) {
        return LAPSE_FLOW_ON; /* it has run beside since an outer loop's last firing */
    }
    *began = (struct lapse_sim_strand){
        .actor = outer->actor,
        .task = outer->task,
        .loop_step = step,
        .parent = loop->beside ? -1 : strand,
        .running = true,
        .gen = began->gen + 1,
        .turn = 1,
        .grid_ns = world->now.ns,
    };
    const struct lapse_sim_clock *clock = &world->actors[outer->actor].clock;
    set_firing(world, inner,
               loop->gap ? world->now.ns
                         : lapse_sim_clock_after(clock, world->now, loop->period_ns).ns);
    if (loop->beside) {
        return LAPSE_FLOW_ON;
    }
    world->strands[strand].wait = LAPSE_WAIT_LOOP;
    return LAPSE_FLOW_WAIT;
}

void lapse_sim_loop_event(struct lapse_world *world, const struct lapse_queue_item *item) {
    struct lapse_sim_strand *strand = &world->strands[item->index];
    const struct lapse_plan_loop *loop = loop_of(world, item->index);
    bool past = loop->until == LAPSE_UNTIL_INSTANT && world->now.ns >= loop->until_ns;
    if (item->kind == LAPSE_QUEUE_UNTIL || past) {
        lapse_sim_task_strand_over(world, item->index);
        return;
    }
    strand->grid_ns = item->due_ns;
    if (!loop->gap) {
        strand->grid_ns = grid_before(item->due_ns, loop->period_ns, world->now.ns);
    }
    strand->firing++;
    strand->line = 0;
    strand->turn = 1;
    lapse_sim_task_run_body(world, item->index, item->due_ns);
}

void lapse_sim_loop_body_over(struct lapse_world *world, int32_t strand) {
    const struct lapse_sim_strand *of = &world->strands[strand];
    const struct lapse_plan_loop *loop = loop_of(world, strand);
    if (loop->times > 0 && of->firing >= loop->times) {
        lapse_sim_task_strand_over(world, strand);
        return;
    }
    const struct lapse_sim_clock *clock = &world->actors[of->actor].clock;
    struct lapse_true_time from = {loop->gap ? world->now.ns : of->grid_ns};
    set_firing(world, strand, lapse_sim_clock_after(clock, from, loop->period_ns).ns);
}

static const struct lapse_plan_loop *loop_of(const struct lapse_world *world, int32_t strand) {
    return &world->plan->steps[world->strands[strand].loop_step].u.loop;
}

/* A tick of the present or later runs in file order; one that is overdue is a timer. A loop that
 * ends at an instant holds up what follows until then. */
static void set_firing(struct lapse_world *world, int32_t strand, int64_t due_ns) {
    const struct lapse_plan_loop *loop = loop_of(world, strand);
    int64_t now = world->now.ns;
    world->strands[strand].wait = LAPSE_WAIT_TIMER;
    world->strands[strand].gen++;
    if (loop->until == LAPSE_UNTIL_INSTANT && due_ns >= loop->until_ns) {
        int64_t at = loop->until_ns > now ? loop->until_ns : now;
        struct lapse_queue_item last =
            lapse_sim_task_item(world, strand, LAPSE_QUEUE_UNTIL, at, LAPSE_PHASE_UNDER_WAY);
        lapse_world_push(world, &last);
        return;
    }
    bool first_of_gap = loop->gap && world->strands[strand].firing == 0;
    enum lapse_queue_phase phase =
        due_ns < now || first_of_gap ? LAPSE_PHASE_UNDER_WAY : LAPSE_PHASE_STEPS;
    struct lapse_queue_item tick =
        lapse_sim_task_item(world, strand, LAPSE_QUEUE_TICK, due_ns < now ? now : due_ns, phase);
    tick.due_ns = due_ns;
    tick.rank = phase == LAPSE_PHASE_STEPS ? world->strands[strand].loop_step : due_ns;
    lapse_world_push(world, &tick);
}

/* The last point of the grid before now that is at or after `from`. */
static int64_t grid_before(int64_t from, int64_t period, int64_t now) {
    return from >= now ? from : from + (now - 1 - from) / period * period;
}
