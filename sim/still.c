/* What has ended leaves no event, so the end of the key that was last seen is looked at when it
 * comes, beside the end of the span. A look is made on a fork, and finds nothing out while the
 * store is down: what was last seen then still stands. */
#include "still.h"

#include "client.h"
#include "node.h"
#include "request.h"
#include "tenure.h"
#include "timer.h"

/* What a look has found. */
struct sight {
    bool seen;
    int64_t revision; /* 0: absent */
    struct lapse_due end;
};

static const struct lapse_plan_await *awaited_by(const struct lapse_world *world, int32_t strand);
static bool span_of(struct lapse_world *world, int32_t strand, int64_t *ret);
static struct sight look(struct lapse_world *world, int32_t strand);
static void take(struct lapse_world *world, int32_t strand, const struct sight *sight);

enum lapse_sim_flow lapse_sim_still_begin(struct lapse_world *world, int32_t strand) {
    struct lapse_sim_strand *waits = &world->strands[strand];
    struct lapse_sim_call call = lapse_sim_client_call(world, strand, 0);
    struct lapse_sim_miss miss = {0};
    int64_t span = 0;
    const struct lapse_plan_await *awaited =
        &world->plan->steps[lapse_sim_task_step(world, strand)].u.await;
    if (!lapse_sim_text_fits(world, &awaited->key, call.n, &miss) ||
        lapse_sim_operand(world, &awaited->still, LAPSE_OPERAND_SPAN, call.actor, call.n, &span,
                          &miss) != LAPSE_OK) {
        return lapse_sim_client_unbound(world, &call, &miss);
    }
    struct sight sight = look(world, strand);
    waits->wait = LAPSE_WAIT_AWAIT;
    waits->still_since = lapse_sim_timer_now(world, waits->actor);
    waits->still_revision = sight.revision;
    take(world, strand, &sight);
    return LAPSE_FLOW_WAIT;
}

void lapse_sim_still_event(struct lapse_world *world, int32_t strand) {
    struct lapse_sim_strand *waits = &world->strands[strand];
    int64_t span = 0, over = 0;
    struct sight sight = look(world, strand);
    bool moved = sight.seen && sight.revision != waits->still_revision;
    bool fits = span_of(world, strand, &span) && lapse_ns_add(waits->still_since, span, &over);
    if (!moved && fits && lapse_sim_timer_now(world, waits->actor) >= over) {
        waits->gen++;
        lapse_sim_task_go_on(world, strand, LAPSE_FLOW_ON);
        return;
    }
    take(world, strand, &sight);
}

void lapse_sim_still_look(struct lapse_world *world) {
    for (size_t i = 0; world->has_still && i < world->strand_count; i++) {
        const struct lapse_sim_strand *waits = &world->strands[i];
        if (awaited_by(world, (int32_t)i) != NULL && !world->actors[waits->actor].paused) {
            struct sight sight = look(world, (int32_t)i);
            take(world, (int32_t)i, &sight);
        }
    }
}

/* NULL: it waits for no key to stand still. */
static const struct lapse_plan_await *awaited_by(const struct lapse_world *world, int32_t strand) {
    const struct lapse_sim_strand *of = &world->strands[strand];
    if (!of->running || of->wait != LAPSE_WAIT_AWAIT) {
        return NULL;
    }
    const struct lapse_plan_step *step = &world->plan->steps[lapse_sim_task_step(world, strand)];
    return step->u.await.kind == LAPSE_AWAIT_UNCHANGED ? &step->u.await : NULL;
}

static bool span_of(struct lapse_world *world, int32_t strand, int64_t *ret) {
    struct lapse_sim_miss miss = {0};
    const struct lapse_plan_await *awaited = awaited_by(world, strand);
    return lapse_sim_operand(world, &awaited->still, LAPSE_OPERAND_SPAN,
                             world->strands[strand].actor, lapse_sim_task_n(world, strand), ret,
                             &miss) == LAPSE_OK;
}

static struct sight look(struct lapse_world *world, int32_t strand) {
    const struct lapse_plan_await *awaited =
        &world->plan->steps[lapse_sim_task_step(world, strand)].u.await;
    struct sight sight = {0};
    struct lapse_sim_draft draft = {0};
    struct lapse_sim_miss miss = {0};
    struct lapse_command command = {.verb = LAPSE_VERB_ENTRY};
    struct lapse_result result = {0};
    struct lapse *fork = lapse_sim_tenure_fork(world);
    if (fork == NULL) {
        return sight;
    }
    command.bucket = world->plan->setup.buckets[awaited->bucket].name;
    command.u.read.peek = true;
    enum lapse_status status =
        lapse_sim_draft_text(world, &draft, &awaited->key, lapse_sim_task_n(world, strand),
                             &command.key, &miss);
    lapse_result_init(&result, world->alloc);
    if (status == LAPSE_OK) {
        status = lapse_apply(fork, &command, &result, NULL);
    }
    if (status == LAPSE_NOMEM) { /* a store that has given up shows nothing */
        lapse_world_fail(world, status, "no memory for a look at a key");
    }
    sight.seen = status >= 0;
    sight.revision = status == LAPSE_OK ? result.revision : 0;
    sight.end.has_steady = status == LAPSE_OK && result.end.kind == LAPSE_END_STEADY;
    sight.end.steady.ns = result.end.ns;
    sight.end.has_wall = status == LAPSE_OK && result.end.kind == LAPSE_END_WALL;
    sight.end.wall.ns = result.end.ns;
    lapse_result_free(&result);
    lapse_sim_draft_free(world, &draft);
    lapse_close(fork);
    return sight;
}

/* A change begins the span anew. The next look is at its end, or at the end of the key. */
static void take(struct lapse_world *world, int32_t strand, const struct sight *sight) {
    struct lapse_sim_strand *waits = &world->strands[strand];
    int64_t span = 0, over = 0;
    if (sight->seen && sight->revision != waits->still_revision) {
        waits->still_revision = sight->revision;
        waits->still_since = lapse_sim_timer_now(world, waits->actor);
    }
    bool fits = span_of(world, strand, &span) && lapse_ns_add(waits->still_since, span, &over);
    waits->gen++;
    struct lapse_queue_item item = lapse_sim_task_item(world, strand, LAPSE_QUEUE_STILL,
                                                       world->now.ns, LAPSE_PHASE_UNDER_WAY);
    if (fits) {
        lapse_sim_timer_set(world, &item, over);
        lapse_world_push(world, &item);
    }
    if (sight->end.has_steady || sight->end.has_wall) {
        struct lapse_queue_item ended = lapse_sim_task_item(
            world, strand, LAPSE_QUEUE_STILL, lapse_sim_node_due(world, &sight->end),
            LAPSE_PHASE_UNDER_WAY);
        lapse_world_push(world, &ended);
    }
}
