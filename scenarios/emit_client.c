/* Actors with their tasks and programs, resources, clocks, and what chance may do to them. */
#include <string.h>

#include "emitter.h"

/* ---- Resources. `thing` is a struct lapse_setup_resource. */
static void emit_fenced(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                        const void *thing) {
    const struct lapse_setup_resource *resource = thing;
    lapse_emit_put(e, map, word, lapse_emit_flag(e, resource->fenced));
}

static void emit_lease(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_setup_resource *resource = thing;
    lapse_emit_put(e, map, word,
                   resource->lease.len > 0 ? lapse_emit_bytes(e, resource->lease) : NULL);
}

static void emit_bar(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                     const void *thing) {
    const struct lapse_setup_resource *resource = thing;
    lapse_emit_put(e, map, word,
                   resource->bar == LAPSE_BAR_ENDS ? lapse_emit_text(e, "ends") : NULL);
}

static void emit_not_after(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                           const void *thing) {
    const struct lapse_setup_resource *resource = thing;
    lapse_emit_put(e, map, word, lapse_emit_flag(e, resource->not_after));
}

static void emit_once(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_setup_resource *resource = thing;
    lapse_emit_put(e, map, word, lapse_emit_flag(e, resource->once));
}

/* ---- Actors. `thing` is a struct lapse_setup_actor of the plan's. */
static void emit_careful(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                         const void *thing) {
    const struct lapse_setup_actor *actor = thing;
    lapse_emit_put(e, map, word, lapse_emit_flag(e, actor->careful));
}

static void emit_margin(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                        const void *thing) {
    const struct lapse_setup_actor *actor = thing;
    if (actor->margin.ns != 0) {
        lapse_emit_put(e, map, word, lapse_emit_span(e, actor->margin.ns));
    }
}

static void emit_owner(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_setup_actor *actor = thing;
    lapse_emit_put(e, map, word, actor->owner.len > 0 ? lapse_emit_bytes(e, actor->owner) : NULL);
}

static void emit_timer(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_setup_actor *actor = thing;
    lapse_emit_put(e, map, word, actor->timer_boot ? lapse_emit_text(e, "boot") : NULL);
}

static void emit_program(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                         const void *thing) {
    const struct lapse_setup_actor *actor = thing;
    lapse_emit_put(e, map, word,
                   actor->program.len > 0 ? lapse_emit_bytes(e, actor->program) : NULL);
}

static void emit_with(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const int32_t actor =
        (int32_t)((const struct lapse_setup_actor *)thing - e->plan->setup.actors);
    const struct lapse_plan_program *program = NULL;
    for (size_t i = 0; i < e->plan->program_count; i++) {
        program = e->plan->programs[i].actor == actor ? &e->plan->programs[i] : program;
    }
    if (program == NULL || program->with_count == 0) {
        return;
    }
    struct lapse_node *with = lapse_emit_map(e);
    for (size_t i = 0; i < program->with_count; i++) {
        const struct lapse_plan_with *value = &program->with[i];
        const struct lapse_node *name = lapse_emit_bytes(e, value->name);
        if (name != NULL) {
            lapse_emit_put(e, with, name->text,
                           lapse_emit_given(&value->number)
                               ? lapse_emit_operand(e, &value->number, value->number.kind)
                               : lapse_emit_literal(e, &value->text));
        }
    }
    lapse_emit_put(e, map, word, with);
}

/* Every task but the one that lines of `steps` make; a program is a task without lines. */
static void emit_tasks(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const int32_t actor =
        (int32_t)((const struct lapse_setup_actor *)thing - e->plan->setup.actors);
    struct lapse_node *tasks = lapse_emit_map(e);
    for (size_t i = 0; i < e->plan->task_count; i++) {
        const struct lapse_plan_task *task = &e->plan->tasks[i];
        if (task->from_steps || task->actor != actor) {
            continue;
        }
        lapse_emit_take_task(e, i);
        int32_t first = task->step_count > 0 ? task->steps[0] : -1;
        if (first >= 0 && (size_t)first < e->plan->step_count &&
            e->plan->steps[first].kind == LAPSE_STEP_PROGRAM) {
            (void)lapse_emit_take_step(e, first);
            continue;
        }
        const struct lapse_node *name = lapse_emit_bytes(e, task->name);
        struct lapse_node *list = lapse_emit_seq(e);
        for (size_t k = 0; k < task->step_count; k++) {
            lapse_emit_add(e, list, lapse_emit_line(e, LAPSE_WHERE_TASK, task->steps[k]));
        }
        lapse_emit_put(e, tasks, name == NULL ? "" : name->text, list);
    }
    lapse_emit_put(e, map, word, tasks != NULL && tasks->count > 0 ? tasks : NULL);
}

/* ---- Clocks. `thing` is a struct lapse_plan_clock. */
static void emit_wall(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_plan_clock *clock = thing;
    lapse_emit_put(e, map, word, clock->has_wall ? lapse_emit_signed(e, clock->wall_ns) : NULL);
}

static void emit_to(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                    const void *thing) {
    const struct lapse_plan_clock *clock = thing;
    lapse_emit_put(e, map, word,
                   clock->has_to ? lapse_emit_operand(e, &clock->to, LAPSE_OPERAND_DATE) : NULL);
}

static void emit_rate(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_plan_clock *clock = thing;
    lapse_emit_put(e, map, word,
                   clock->has_rate ? lapse_emit_rate(e, clock->rate_ppb, true) : NULL);
}

static void emit_mono(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_plan_clock *clock = thing;
    if (clock->has_mono) {
        lapse_emit_put(e, map, word, lapse_emit_text(e, clock->mono_stop ? "stop" : "run"));
    }
}

static void emit_tick(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_plan_clock *clock = thing;
    lapse_emit_put(e, map, word, clock->has_tick ? lapse_emit_span(e, clock->tick_ns) : NULL);
}

static void emit_origin(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                        const void *thing) {
    const struct lapse_plan_clock *clock = thing;
    lapse_emit_put(e, map, word, clock->has_origin ? lapse_emit_span(e, clock->origin_ns) : NULL);
}

/* ---- Chance. `thing` is a struct lapse_plan_chaos. */
static void emit_pause(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_plan_chaos *chaos = thing;
    struct lapse_node *pause = lapse_emit_map(e);
    struct lapse_node *who = lapse_emit_seq(e);
    if (chaos->pause_ns_max == 0 && chaos->pause_ns_min == 0 && chaos->pause_count == 0) {
        return;
    }
    for (size_t i = 0; i < chaos->pause_count; i++) {
        lapse_emit_add(e, who, lapse_emit_party(e, chaos->pause_who[i]));
    }
    lapse_emit_put(e, pause, "who", chaos->pause_count > 0 ? who : NULL);
    lapse_emit_put(e, pause, "for", lapse_emit_range(e, chaos->pause_ns_min, chaos->pause_ns_max));
    lapse_emit_put(e, map, word, pause);
}

static void emit_crash(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_plan_chaos *chaos = thing;
    if (chaos->crashes > 0) {
        lapse_emit_put(e, map, word, lapse_emit_number(e, chaos->crashes));
    }
}

static void emit_span(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_plan_chaos *chaos = thing;
    const struct {
        const char *word;
        int64_t ns, usual;
    } rows[] = {
        {"stop_at", chaos->stop_at_ns, 0},
        {"down", chaos->down_ns_max, LAPSE_CHAOS_DOWN_NS},
        {"wall", chaos->wall_ns, 0},
        {"latency", chaos->latency_ns_max, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].word, word) == 0 && rows[i].ns != rows[i].usual) {
            lapse_emit_put(e, map, word, lapse_emit_span(e, rows[i].ns));
        }
    }
}

static void emit_flag(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_plan_chaos *chaos = thing;
    const struct {
        const char *word;
        bool flag;
    } rows[] = {
        {"machine", chaos->machine}, {"suspend", chaos->suspend}, {"freeze", chaos->freeze},
        {"starve", chaos->starve},   {"slow", chaos->slow},       {"cut", chaos->cuts},
        {"reorder", chaos->reorder},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].word, word) == 0) {
            lapse_emit_put(e, map, word, lapse_emit_flag(e, rows[i].flag));
        }
    }
}

static void emit_share(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_plan_chaos *chaos = thing;
    int32_t ppm = strcmp(word, "loss") == 0 ? chaos->loss_ppm : chaos->duplicate_ppm;
    lapse_emit_put(e, map, word, ppm > 0 ? lapse_emit_share(e, ppm) : NULL);
}

static void emit_drift(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_plan_chaos *chaos = thing;
    if (chaos->rate_ppb != 0) {
        lapse_emit_put(e, map, word, lapse_emit_rate(e, chaos->rate_ppb, false));
    }
}

static void emit_disk(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_plan_chaos *chaos = thing;
    struct lapse_node *list = lapse_emit_seq(e);
    for (int disk = 0; disk < 32; disk++) {
        if ((chaos->disk & UINT32_C(1) << disk) == 0) {
            continue;
        }
        const char *its = lapse_decode_chaos_disk_word((enum lapse_disk_fault)disk);
        if (its == NULL) {
            lapse_emit_refuse(e, "`chaos` has a fault %d of the disk, which there is not", disk);
        }
        lapse_emit_add(e, list, lapse_emit_text(e, its));
    }
    lapse_emit_put(e, map, word, chaos->disk != 0 ? list : NULL);
}

const struct lapse_emit_row *lapse_emit_client_rows(size_t *ret_count) {
    static const struct lapse_emit_row rows[] = {
        {LAPSE_WORD_RESOURCE, "fenced", emit_fenced},
        {LAPSE_WORD_RESOURCE, "lease", emit_lease},
        {LAPSE_WORD_RESOURCE, "bar", emit_bar},
        {LAPSE_WORD_RESOURCE, "not_after", emit_not_after},
        {LAPSE_WORD_RESOURCE, "once", emit_once},
        {LAPSE_WORD_ACTOR, "careful", emit_careful},
        {LAPSE_WORD_ACTOR, "margin", emit_margin},
        {LAPSE_WORD_ACTOR, "owner", emit_owner},
        {LAPSE_WORD_ACTOR, "timer", emit_timer},
        {LAPSE_WORD_ACTOR, "program", emit_program},
        {LAPSE_WORD_ACTOR, "with", emit_with},
        {LAPSE_WORD_ACTOR, "tasks", emit_tasks},
        {LAPSE_WORD_CLOCK, "wall", emit_wall},
        {LAPSE_WORD_CLOCK, "to", emit_to},
        {LAPSE_WORD_CLOCK, "rate", emit_rate},
        {LAPSE_WORD_CLOCK, "mono", emit_mono},
        {LAPSE_WORD_CLOCK, "tick", emit_tick},
        {LAPSE_WORD_CLOCK, "origin", emit_origin},
        {LAPSE_WORD_CHAOS, "stop_at", emit_span},
        {LAPSE_WORD_CHAOS, "pause", emit_pause},
        {LAPSE_WORD_CHAOS, "crash", emit_crash},
        {LAPSE_WORD_CHAOS, "down", emit_span},
        {LAPSE_WORD_CHAOS, "machine", emit_flag},
        {LAPSE_WORD_CHAOS, "suspend", emit_flag},
        {LAPSE_WORD_CHAOS, "wall", emit_span},
        {LAPSE_WORD_CHAOS, "rate", emit_drift},
        {LAPSE_WORD_CHAOS, "freeze", emit_flag},
        {LAPSE_WORD_CHAOS, "starve", emit_flag},
        {LAPSE_WORD_CHAOS, "slow", emit_flag},
        {LAPSE_WORD_CHAOS, "cut", emit_flag},
        {LAPSE_WORD_CHAOS, "loss", emit_share},
        {LAPSE_WORD_CHAOS, "duplicate", emit_share},
        {LAPSE_WORD_CHAOS, "latency", emit_span},
        {LAPSE_WORD_CHAOS, "reorder", emit_flag},
        {LAPSE_WORD_CHAOS, "disk", emit_disk},
    };
    *ret_count = sizeof(rows) / sizeof(rows[0]);
    return rows;
}
