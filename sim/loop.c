/* Firings that come due in a pause, or while the body or its call still runs, become one, late;
 * then the grid goes on. So no firing is queued while the body runs: the next is worked out after.
 */
#include "loop.h"

#include "timer.h"

static const struct lapse_plan_loop *loop_of(const struct lapse_world *world, int32_t strand);
static void set_firing(struct lapse_world *world, int32_t strand, int64_t reading_ns);
static void make_due(const struct lapse_world *world, struct lapse_queue_item *item,
                     int64_t reading_ns);
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
        .grid_ns = lapse_sim_timer_now(world, outer->actor),
    };
    set_firing(world, inner,
               loop->gap ? began->grid_ns
                         : lapse_sim_timer_in(world, outer->actor, loop->period_ns));
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
    strand->grid_ns = item->reading_ns;
    if (!loop->gap) {
        strand->grid_ns = grid_before(item->reading_ns, loop->period_ns,
                                      lapse_sim_timer_now(world, strand->actor));
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
    int64_t next = 0;
    int64_t from = loop->gap ? lapse_sim_timer_now(world, of->actor) : of->grid_ns;
    set_firing(world, strand, lapse_ns_add(from, loop->period_ns, &next) ? next : INT64_MAX);
}

void lapse_sim_loop_reset(const struct lapse_world *world, struct lapse_queue_item *item) {
    make_due(world, item, item->reading_ns);
}

static const struct lapse_plan_loop *loop_of(const struct lapse_world *world, int32_t strand) {
    return &world->plan->steps[world->strands[strand].loop_step].u.loop;
}

static void set_firing(struct lapse_world *world, int32_t strand, int64_t reading_ns) {
    world->strands[strand].wait = LAPSE_WAIT_TIMER;
    world->strands[strand].gen++;
    struct lapse_queue_item item =
        lapse_sim_task_item(world, strand, LAPSE_QUEUE_TICK, world->now.ns, LAPSE_PHASE_STEPS);
    make_due(world, &item, reading_ns);
    lapse_world_push(world, &item);
}

/* A tick of the present or later runs in file order; one that is overdue is a timer. A loop that
 * ends at an instant holds up what follows until then: it is one of true time. */
static void make_due(const struct lapse_world *world, struct lapse_queue_item *item,
                     int64_t reading_ns) {
    const struct lapse_plan_loop *loop = loop_of(world, item->index);
    const struct lapse_sim_strand *of = &world->strands[item->index];
    int64_t now = world->now.ns;
    item->kind = LAPSE_QUEUE_TICK;
    item->phase = LAPSE_PHASE_STEPS;
    item->rank = of->loop_step;
    lapse_sim_timer_set(world, item, reading_ns);
    if (loop->gap && of->firing == 0) {
        item->phase = LAPSE_PHASE_UNDER_WAY;
        item->at_ns = item->due_ns = item->rank = now;
    }
    if (loop->until == LAPSE_UNTIL_INSTANT && item->due_ns >= loop->until_ns) {
        item->kind = LAPSE_QUEUE_UNTIL;
        item->phase = LAPSE_PHASE_UNDER_WAY;
        item->at_ns = loop->until_ns > now ? loop->until_ns : now;
        item->due_ns = item->rank = item->at_ns;
    } else if (item->due_ns < now) {
        item->phase = LAPSE_PHASE_UNDER_WAY;
        item->rank = item->due_ns;
    }
}

/* The last point of the grid before now that is at or after `from`. */
static int64_t grid_before(int64_t from, int64_t period, int64_t now) {
    return from >= now ? from : from + (now - 1 - from) / period * period;
}
