/* The determinism check: one straight run, then one that is snapshotted in the middle, finished,
 * restored and finished again. A store in a file is not copied: such a plan only runs straight.
 * Nothing is judged here: judges do not go back. */
#include "sim/world.h"

struct bench {
    struct lapse_history *history;
    struct lapse_choices *choices;
    struct lapse_world *world;
};

static enum lapse_status run_straight(const struct lapse_plan *plan, uint64_t seed,
                                      uint64_t *ret_digest, uint64_t *ret_events,
                                      struct lapse_error *err);
static enum lapse_status bench_open(struct bench *bench, const struct lapse_plan *plan,
                                    uint64_t seed, struct lapse_error *err);
static void bench_close(struct bench *bench);
static enum lapse_status run_to(struct lapse_world *world, uint64_t events,
                                struct lapse_error *err);
static enum lapse_status finish_twice(struct bench *bench, uint64_t ret_digests[2],
                                      struct lapse_error *err);
static void compare(const struct lapse_history *first, const struct lapse_history *second,
                    struct lapse_again *ret);

enum lapse_status lapse_run_again(const struct lapse_plan *plan, uint64_t seed,
                                  const struct lapse_run *first, struct lapse_again *ret,
                                  struct lapse_error *err) {
    bool copies = plan->store != LAPSE_STORE_SQLITE;
    struct bench bench = {0};
    struct lapse_snapshot *middle = NULL;
    *ret = (struct lapse_again){0};
    enum lapse_status status = bench_open(&bench, plan, seed, err);
    if (status == LAPSE_OK && copies) {
        status = run_to(bench.world, first->events / 2, err);
    }
    if (status == LAPSE_OK && copies) {
        status = lapse_world_snapshot(bench.world, lapse_alloc_libc(), &middle);
    }
    for (int i = 0; status == LAPSE_OK && i < (copies ? 2 : 1) && !ret->differs; i++) {
        ret->restored = i > 0;
        status = i == 0 ? LAPSE_OK : lapse_world_restore(bench.world, middle);
        if (status == LAPSE_OK) {
            status = lapse_world_run(bench.world, err);
        }
        if (status == LAPSE_OK) {
            compare(first->history, bench.history, ret);
        }
    }
    lapse_snapshot_free(middle);
    if (status == LAPSE_OK) {
        ret->history = bench.history;
        bench.history = NULL;
    }
    bench_close(&bench);
    return status;
}

void lapse_again_free(struct lapse_again *again) {
    lapse_history_close(again->history);
    *again = (struct lapse_again){0};
}

enum lapse_status lapse_run_twice(const struct lapse_plan *plan, uint64_t seed,
                                  uint64_t ret_digests[3], struct lapse_error *err) {
    bool copies = plan->store != LAPSE_STORE_SQLITE;
    uint64_t events = 0;
    enum lapse_status status = LAPSE_OK;
    for (int i = 0; i < (copies ? 1 : 3) && status == LAPSE_OK; i++) {
        status = run_straight(plan, seed, &ret_digests[i], &events, err);
    }
    if (status != LAPSE_OK || !copies) {
        return status;
    }
    struct bench bench = {0};
    status = bench_open(&bench, plan, seed, err);
    if (status == LAPSE_OK) {
        status = run_to(bench.world, events / 2, err);
    }
    if (status == LAPSE_OK) {
        status = finish_twice(&bench, &ret_digests[1], err);
    }
    bench_close(&bench);
    return status;
}

static enum lapse_status run_straight(const struct lapse_plan *plan, uint64_t seed,
                                      uint64_t *ret_digest, uint64_t *ret_events,
                                      struct lapse_error *err) {
    struct bench bench = {0};
    enum lapse_status status = bench_open(&bench, plan, seed, err);
    if (status == LAPSE_OK) {
        status = lapse_world_run(bench.world, err);
    }
    if (status == LAPSE_OK) {
        *ret_events = lapse_world_events(bench.world);
        *ret_digest = lapse_history_digest(bench.history);
    }
    bench_close(&bench);
    return status;
}

static enum lapse_status bench_open(struct bench *bench, const struct lapse_plan *plan,
                                    uint64_t seed, struct lapse_error *err) {
    const lapse_alloc *alloc = lapse_alloc_libc();
    *bench = (struct bench){0};
    enum lapse_status status = lapse_history_open(alloc, 0, &bench->history, err);
    if (status == LAPSE_OK) {
        status = lapse_choices_open_seed(alloc, lapse_plan_seed(plan, seed), &bench->choices);
    }
    if (status == LAPSE_OK) {
        struct lapse_world_options options = {
            .plan = plan, .choices = bench->choices, .history = bench->history};
        status = lapse_world_open(&options, &bench->world, err);
    }
    return status;
}

static void bench_close(struct bench *bench) {
    lapse_world_close(bench->world);
    lapse_choices_close(bench->choices);
    lapse_history_close(bench->history);
    *bench = (struct bench){0};
}

static enum lapse_status run_to(struct lapse_world *world, uint64_t events,
                                struct lapse_error *err) {
    bool over = false;
    enum lapse_status status = LAPSE_OK;
    while (status == LAPSE_OK && !over && lapse_world_events(world) < events) {
        status = lapse_world_step(world, &over, err);
    }
    return status;
}

static enum lapse_status finish_twice(struct bench *bench, uint64_t ret_digests[2],
                                      struct lapse_error *err) {
    struct lapse_snapshot *middle = NULL;
    enum lapse_status status = lapse_world_snapshot(bench->world, lapse_alloc_libc(), &middle);
    for (int i = 0; i < 2 && status == LAPSE_OK; i++) {
        status = i == 0 ? LAPSE_OK : lapse_world_restore(bench->world, middle);
        if (status == LAPSE_OK) {
            status = lapse_world_run(bench->world, err);
        }
        ret_digests[i] = lapse_history_digest(bench->history);
    }
    lapse_snapshot_free(middle);
    return status;
}

/* The END of a run that was cut says so: it has no like in one that was not. */
static void compare(const struct lapse_history *first, const struct lapse_history *second,
                    struct lapse_again *ret) {
    size_t count = lapse_history_count(first);
    const struct lapse_history_event *last = lapse_history_at(first, count - 1);
    bool cut = last->kind == LAPSE_HISTORY_END && last->u.end.cut;
    if (!cut && lapse_history_digest(first) == lapse_history_digest(second)) {
        return;
    }
    ret->at = lapse_history_part(first, second, cut ? count - 1 : SIZE_MAX);
    ret->differs = ret->at != SIZE_MAX;
}
