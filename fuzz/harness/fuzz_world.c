/* Whole worlds: the bytes are all the chance that one of the worlds.yaml documents draws. Every
 * contract judges the run, store and model are compared after every call, and the run is made again
 * from the list of what was drawn: the same history must come of it.
 *
 * Bytes: one for the document; then choices (sim/choice.h), of which none needs to be there. */
#include "harness.h"

#include <stdio.h>

#include "scenarios/load.h"
#include "sim/world.h"

#include "world_text.h"

enum { EVENTS_MAX = 100000 };

/* Loaded once. */
struct worlds {
    struct lapse_file file;
    struct lapse_arena *arena;
};

static void load_worlds(struct worlds *worlds);
static uint64_t run_world(const struct worlds *worlds, const struct lapse_plan *plan,
                          struct lapse_choices *choices);
static void need_kept(const struct lapse_plan *plan, const struct lapse_judge *judge);

uint64_t lapse_harness_run(const unsigned char *data, size_t size) {
    static struct worlds worlds;
    const lapse_alloc *alloc = lapse_alloc_libc();
    struct lapse_choices *first = NULL;
    struct lapse_choices *second = NULL;
    size_t count = 0;
    if (worlds.arena == NULL) {
        load_worlds(&worlds);
    }
    if (size == 0) {
        return 0;
    }
    const struct lapse_plan *plan = worlds.file.plans[data[0] % worlds.file.plan_count];
    const struct lapse_bytes bytes = {data + 1, size - 1};
    LAPSE_ASSERT(lapse_choices_open_bytes(alloc, bytes, &first) == LAPSE_OK);
    uint64_t digest = run_world(&worlds, plan, first);
    const struct lapse_choice *drawn = lapse_choices_list(first, &count);
    LAPSE_ASSERT(lapse_choices_open_list(alloc, drawn, count, &second) == LAPSE_OK);
    LAPSE_ASSERT(run_world(&worlds, plan, second) == digest);
    lapse_choices_close(first);
    lapse_choices_close(second);
    return digest;
}

static void load_worlds(struct worlds *worlds) {
    struct lapse_bytes text = lapse_world_text();
    enum lapse_status status = lapse_file_load(lapse_alloc_libc(), "worlds.yaml",
                                               (const char *)text.data, text.len, &worlds->file);
    LAPSE_ASSERT(status == LAPSE_OK);
    for (size_t i = 0; i < worlds->file.plan_count; i++) {
        worlds->file.plans[i]->compare_model = true;
    }
    worlds->arena = lapse_arena_open();
    LAPSE_ASSERT(worlds->arena != NULL);
}

static uint64_t run_world(const struct worlds *worlds, const struct lapse_plan *plan,
                          struct lapse_choices *choices) {
    const lapse_alloc *alloc = lapse_alloc_libc();
    struct lapse_world_options options = {.plan = plan,
                                          .choices = choices,
                                          .arena = worlds->arena,
                                          .events_max = EVENTS_MAX};
    struct lapse_world *world = NULL;
    struct lapse_error err = {0};
    LAPSE_ASSERT(lapse_history_open(alloc, 0, &options.history, &err) == LAPSE_OK);
    LAPSE_ASSERT(lapse_judge_open(alloc, &plan->the_case, &options.judge, &err) == LAPSE_OK);
    LAPSE_ASSERT(lapse_world_open(&options, &world, &err) == LAPSE_OK);
    enum lapse_status status = lapse_world_run(world, &err);
    if (status != LAPSE_OK) {
        (void)fprintf(stderr, "%s: %s: %s\n", plan->name, lapse_status_word(status), err.message);
        LAPSE_ASSERT(status == LAPSE_OK);
    }
    LAPSE_ASSERT(!lapse_choices_broken(choices));
    need_kept(plan, options.judge);
    uint64_t digest = lapse_history_digest(options.history);
    lapse_world_close(world);
    lapse_judge_close(options.judge);
    lapse_history_close(options.history);
    return digest;
}

static void need_kept(const struct lapse_plan *plan, const struct lapse_judge *judge) {
    const struct lapse_verdict *verdict = lapse_judge_verdict(judge);
    if (verdict->outcome != LAPSE_OUTCOME_VIOLATED) {
        return;
    }
    const char *said = verdict->diags.count > 0 ? verdict->diags.items[0]->message : "";
    (void)fprintf(stderr, "%s: %s: event %lld: %s\n", plan->name,
                  verdict->id == NULL ? "?" : verdict->id, (long long)verdict->event, said);
    LAPSE_ASSERT(verdict->outcome != LAPSE_OUTCOME_VIOLATED);
}
