/* A whole run in one call, and the two sides of a snapshot. */
#include "state.h"

static enum lapse_status run_under(struct lapse_world_options *how, struct lapse_run *ret,
                                   struct lapse_error *err);

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

/* One that finds no memory is missing, and the run says so at its end. */
static void note_drawn(void *ctx, struct lapse_true_time at, const struct lapse_plan_fault *fault) {
    struct lapse_run *run = ctx;
    if (lapse_alloc_grow(lapse_alloc_libc(), (void **)&run->drawn, &run->drawn_cap,
                         run->drawn_count + 1, sizeof(*run->drawn))) {
        run->drawn[run->drawn_count++] = (struct lapse_drawn){at, *fault};
    } else {
        run->drawn_lost = true;
    }
}

enum lapse_status lapse_run_plan(const struct lapse_plan *plan, uint64_t seed,
                                 struct lapse_arena *arena, struct lapse_run *ret,
                                 struct lapse_error *err) {
    return lapse_run_within(plan, seed, arena, 0, ret, err);
}

enum lapse_status lapse_run_within(const struct lapse_plan *plan, uint64_t seed,
                                   struct lapse_arena *arena, uint64_t events_max,
                                   struct lapse_run *ret, struct lapse_error *err) {
    struct lapse_world_options how = {.plan = plan, .arena = arena, .events_max = events_max};
    enum lapse_status status = lapse_choices_open_seed(
        lapse_alloc_libc(), lapse_plan_seed(plan, seed), &how.choices);
    return status == LAPSE_OK ? run_under(&how, ret, err) : status;
}

enum lapse_status lapse_run_orders(const struct lapse_plan *plan, uint64_t seed,
                                   struct lapse_arena *arena, uint64_t events_max,
                                   struct lapse_run *ret, struct lapse_error *err) {
    struct lapse_world_options how = {
        .plan = plan, .arena = arena, .events_max = events_max, .orders = true};
    enum lapse_status status = lapse_choices_open_seed(
        lapse_alloc_libc(), lapse_plan_seed(plan, seed), &how.choices);
    return status == LAPSE_OK ? run_under(&how, ret, err) : status;
}

enum lapse_status lapse_run_choices(const struct lapse_plan *plan, const struct lapse_choice *list,
                                    size_t count, struct lapse_arena *arena, struct lapse_run *ret,
                                    struct lapse_error *err) {
    struct lapse_world_options how = {.plan = plan, .arena = arena, .orders = true};
    enum lapse_status status =
        lapse_choices_open_list(lapse_alloc_libc(), list, count, &how.choices);
    return status == LAPSE_OK ? run_under(&how, ret, err) : status;
}

/* A run of a plan as the options say; history and judge are made here. Takes the choices. */
static enum lapse_status run_under(struct lapse_world_options *how, struct lapse_run *ret,
                                   struct lapse_error *err) {
    const lapse_alloc *alloc = lapse_alloc_libc();
    struct lapse_world *world = NULL;
    struct lapse_run run = {.choices = how->choices};
    enum lapse_status status = lapse_history_open(alloc, 0, &run.history, err);
    if (status == LAPSE_OK) {
        status = lapse_judge_open(alloc, &how->plan->the_case, &run.judge, err);
    }
    if (status == LAPSE_OK) {
        how->history = run.history;
        how->judge = run.judge;
        how->drawn = note_drawn;
        how->drawn_ctx = &run;
        status = lapse_world_open(how, &world, err);
    }
    if (status == LAPSE_OK) {
        status = lapse_world_run(world, err);
        run.events = lapse_world_events(world);
    }
    if (status == LAPSE_OK && (run.drawn_lost || lapse_choices_broken(run.choices))) {
        status = lapse_error_set(err, LAPSE_NOMEM, "no memory for the record of chance");
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
    lapse_alloc_free(lapse_alloc_libc(), run->drawn, run->drawn_cap * sizeof(*run->drawn));
    *run = (struct lapse_run){0};
}
