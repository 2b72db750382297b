/* A whole run in one call, and the two sides of a snapshot. */
#include "state.h"

/* Snapshots are for memory outside the arena, so they keep their own allocator. */
struct lapse_snapshot {
    const lapse_alloc *alloc;
    size_t bytes;
    struct lapse_history_mark mark;
    size_t choice_count;
    void *copy;
};

enum lapse_status lapse_world_snapshot(const struct lapse_world *world, const lapse_alloc *alloc,
                                       struct lapse_snapshot **ret) {
    if (world->plan->store == LAPSE_STORE_SQLITE) {
        return LAPSE_INVALID;
    }
    struct lapse_snapshot *snapshot = lapse_alloc_zero(alloc, sizeof(*snapshot));
    if (snapshot == NULL) {
        return LAPSE_NOMEM;
    }
    snapshot->alloc = alloc;
    snapshot->bytes = lapse_arena_used(world->arena);
    snapshot->copy = alloc->resize(alloc->ctx, NULL, 0, snapshot->bytes);
    if (snapshot->copy == NULL) {
        lapse_snapshot_free(snapshot);
        return LAPSE_NOMEM;
    }
    lapse_arena_save(world->arena, snapshot->copy);
    snapshot->mark = lapse_history_mark(world->history);
    (void)lapse_choices_list(world->choices, &snapshot->choice_count);
    *ret = snapshot;
    return LAPSE_OK;
}

enum lapse_status lapse_world_restore(struct lapse_world *world,
                                      const struct lapse_snapshot *from) {
    if (world->judge != NULL) {
        return LAPSE_INVALID;
    }
    lapse_arena_load(world->arena, from->copy, from->bytes);
    lapse_history_cut(world->history, &from->mark);
    lapse_choices_cut(world->choices, from->choice_count);
    return LAPSE_OK;
}

void lapse_snapshot_free(struct lapse_snapshot *snapshot) {
    if (snapshot == NULL) {
        return;
    }
    lapse_alloc_free(snapshot->alloc, snapshot->copy, snapshot->bytes);
    lapse_alloc_free(snapshot->alloc, snapshot, sizeof(*snapshot));
}

uint64_t lapse_plan_seed(const struct lapse_plan *plan, uint64_t seed) {
    return plan->has_seed ? (uint64_t)plan->seed : seed;
}

enum lapse_status lapse_run_plan(const struct lapse_plan *plan, uint64_t seed,
                                 struct lapse_arena *arena, struct lapse_run *ret,
                                 struct lapse_error *err) {
    return lapse_run_within(plan, seed, arena, 0, ret, err);
}

enum lapse_status lapse_run_within(const struct lapse_plan *plan, uint64_t seed,
                                   struct lapse_arena *arena, uint64_t events_max,
                                   struct lapse_run *ret, struct lapse_error *err) {
    const lapse_alloc *alloc = lapse_alloc_libc();
    struct lapse_world *world = NULL;
    struct lapse_run run = {0};
    enum lapse_status status = lapse_history_open(alloc, 0, &run.history, err);
    if (status == LAPSE_OK) {
        status = lapse_judge_open(alloc, &plan->the_case, &run.judge, err);
    }
    if (status == LAPSE_OK) {
        status = lapse_choices_open_seed(alloc, lapse_plan_seed(plan, seed), &run.choices);
    }
    if (status == LAPSE_OK) {
        struct lapse_world_options options = {.plan = plan,
                                              .choices = run.choices,
                                              .history = run.history,
                                              .judge = run.judge,
                                              .arena = arena,
                                              .events_max = events_max};
        status = lapse_world_open(&options, &world, err);
    }
    if (status == LAPSE_OK) {
        status = lapse_world_run(world, err);
        run.events = lapse_world_events(world);
    }
    if (status == LAPSE_OK && lapse_choices_broken(run.choices)) {
        status = lapse_error_set(err, LAPSE_NOMEM, "no memory for the record of choices");
    }
    lapse_world_close(world);
    if (status < 0) {
        lapse_run_free(&run);
        return status;
    }
    *ret = run;
    return LAPSE_OK;
}

void lapse_run_free(struct lapse_run *run) {
    if (run == NULL) {
        return;
    }
    lapse_judge_close(run->judge);
    lapse_history_close(run->history);
    lapse_choices_close(run->choices);
    *run = (struct lapse_run){0};
}
