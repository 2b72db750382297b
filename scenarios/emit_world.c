/* What no client does: observers, faults, operators' acts, and what they take. */
#include <string.h>

#include "emitter.h"

static struct lapse_node *target_of(struct lapse_emitter *e, const struct lapse_plan_fault *fault);
static const struct lapse_plan_fault *fault_of(const void *thing, enum lapse_fault_kind kind);
static struct lapse_node *looked_at(struct lapse_emitter *e, const struct lapse_plan_probe *probe);

/* ---- Observers. `thing` is a struct lapse_emit_line. */
static void emit_looked(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                        const void *thing) {
    const struct lapse_emit_line *line = thing;
    lapse_emit_put(e, map, word, looked_at(e, &line->step->u.probe));
}

/* A key, or a lease. */
static struct lapse_node *looked_at(struct lapse_emitter *e, const struct lapse_plan_probe *probe) {
    if (probe->bucket >= 0 && lapse_emit_bucket(e, probe->bucket) == NULL) {
        return NULL;
    }
    return lapse_emit_name(e, probe->bucket, &probe->name);
}

static void emit_stopped(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                         const void *thing) {
    const struct lapse_emit_line *line = thing;
    lapse_emit_put(e, map, word, lapse_emit_actor(e, line->step->u.probe.actor));
}

static void emit_events(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                        const void *thing) {
    const struct lapse_emit_line *line = thing;
    int32_t watch = line->step->u.probe.watch;
    if (watch < 0 || (size_t)watch >= e->plan->watch_count) {
        lapse_emit_refuse(e, "there is no watch %d", (int)watch);
        return;
    }
    lapse_emit_put(e, map, word, lapse_emit_text(e, e->plan->watch_names[watch]));
}

static void emit_rows(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_emit_line *line = thing;
    lapse_emit_put(e, map, word, lapse_emit_bucket(e, line->step->u.probe.bucket));
}

static void emit_measured(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                          const void *thing) {
    const struct lapse_emit_line *line = thing;
    int32_t measure = line->check->measure;
    if (measure < 0 || (size_t)measure >= e->plan->the_case.measure_count) {
        lapse_emit_refuse(e, "there is no measure %d", (int)measure);
        return;
    }
    lapse_emit_put(e, map, word, lapse_emit_bytes(e, e->plan->the_case.measures[measure].name));
}

static void emit_is(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                    const void *thing) {
    const struct lapse_emit_line *line = thing;
    int32_t measure = line->check->measure;
    bool span = measure >= 0 && (size_t)measure < e->plan->the_case.measure_count &&
                e->plan->the_case.measures[measure].kind != LAPSE_MEASURE_COUNT;
    lapse_emit_put(
        e, map, word,
        lapse_emit_is(e, line->check->expect, span ? LAPSE_OPERAND_SPAN : LAPSE_OPERAND_NUMBER));
}

static void emit_who(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                     const void *thing) {
    const struct lapse_emit_line *line = thing;
    lapse_emit_put(e, map, word, lapse_emit_who(e, line->check->expect));
}

/* ---- Faults. */
static void emit_fault(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_emit_line *line = thing;
    lapse_emit_put(e, map, word, target_of(e, &line->step->u.fault));
}

static struct lapse_node *target_of(struct lapse_emitter *e, const struct lapse_plan_fault *fault) {
    if (fault->kind == LAPSE_FAULT_CUT || fault->kind == LAPSE_FAULT_LINK) {
        return fault->ends && fault->link.from.kind == 0 ? lapse_emit_text(e, "all")
                                                         : lapse_emit_ends(e, &fault->link);
    }
    if (fault->kind == LAPSE_FAULT_CLOCK) {
        return lapse_emit_party(e, fault->clock.whose);
    }
    if (fault->node >= 0) {
        return lapse_emit_text(e, "n1");
    }
    struct lapse_node *actor = lapse_emit_actor(e, fault->actor);
    if (fault->kind != LAPSE_FAULT_STARVE || fault->ends || fault->task < 0 || actor == NULL) {
        return actor;
    }
    if ((size_t)fault->task >= e->plan->task_count) {
        lapse_emit_refuse(e, "there is no task %d", (int)fault->task);
        return NULL;
    }
    const struct lapse_node *task = lapse_emit_bytes(e, e->plan->tasks[fault->task].name);
    return task == NULL ? NULL : lapse_emit_join(e, actor->text, ".", task->text);
}

static void emit_node(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    (void)thing;
    lapse_emit_put(e, map, word, lapse_emit_text(e, "n1"));
}

static void emit_revoke(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                        const void *thing) {
    const struct lapse_emit_line *line = thing;
    lapse_emit_put(e, map, word, lapse_emit_name(e, -1, &line->step->u.operator_act.lease));
}

static void emit_restored(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                          const void *thing) {
    const struct lapse_emit_line *line = thing;
    lapse_emit_put(e, map, word, lapse_emit_flag(e, line->step->u.operator_act.restored));
}

/* The line's fault if it is of this kind, else NULL. */
static const struct lapse_plan_fault *fault_of(const void *thing, enum lapse_fault_kind kind) {
    const struct lapse_emit_line *line = thing;
    return line->step->kind == LAPSE_STEP_FAULT && line->step->u.fault.kind == kind
               ? &line->step->u.fault
               : NULL;
}

static void emit_in(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                    const void *thing) {
    if (fault_of(thing, LAPSE_FAULT_STALL) != NULL) {
        lapse_emit_put(e, map, word, lapse_emit_text(e, "sync"));
    }
}

static void emit_disk(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_plan_fault *fault = fault_of(thing, LAPSE_FAULT_DISK);
    const char *value = NULL;
    const char *its = fault == NULL ? NULL : lapse_decode_disk_word(fault->disk, &value);
    if (its == NULL || strcmp(its, word) != 0) {
        return;
    }
    lapse_emit_put(e, map, word,
                   fault->disk == LAPSE_DISK_ROT
                       ? lapse_emit_number(e, fault->disk_bits)
                       : lapse_emit_text(e, value == NULL ? "true" : value));
}

static void emit_machine(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                         const void *thing) {
    const struct lapse_emit_line *line = thing;
    lapse_emit_put(e, map, word, lapse_emit_flag(e, line->step->u.fault.machine));
}

static void emit_with(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_emit_line *line = thing;
    lapse_emit_put(e, map, word, line->step->u.fault.keeps ? lapse_emit_text(e, "memory") : NULL);
}

static void emit_clock(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_plan_fault *fault = fault_of(thing, LAPSE_FAULT_CLOCK);
    if (fault != NULL) {
        lapse_emit_one(e, LAPSE_WORD_CLOCK, word, map, &fault->clock);
    }
}

static void emit_factor(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                        const void *thing) {
    const struct lapse_plan_fault *fault = fault_of(thing, LAPSE_FAULT_SLOW);
    if (fault != NULL && fault->node < 0) {
        lapse_emit_put(e, map, word, lapse_emit_number(e, fault->factor));
    }
}

/* A link that does nothing has to say so. */
static void emit_latency(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                         const void *thing) {
    const struct lapse_plan_fault *slow = fault_of(thing, LAPSE_FAULT_SLOW);
    const struct lapse_plan_fault *fault = fault_of(thing, LAPSE_FAULT_LINK);
    fault = slow != NULL && slow->node >= 0 ? slow : fault;
    if (fault == NULL) {
        return;
    }
    const struct lapse_plan_link *link = &fault->link;
    bool idle = link->loss_ppm == 0 && link->duplicate_ppm == 0 && !link->reorder;
    if (link->latency_ns_max > 0 || link->latency_ns_min > 0 || idle) {
        lapse_emit_put(e, map, word,
                       lapse_emit_range(e, link->latency_ns_min, link->latency_ns_max));
    }
}

static void emit_share(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_plan_fault *fault = fault_of(thing, LAPSE_FAULT_LINK);
    int32_t ppm = fault == NULL               ? 0
                  : strcmp(word, "loss") == 0 ? fault->link.loss_ppm
                                              : fault->link.duplicate_ppm;
    lapse_emit_put(e, map, word, ppm > 0 ? lapse_emit_share(e, ppm) : NULL);
}

static void emit_reorder(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                         const void *thing) {
    const struct lapse_plan_fault *fault = fault_of(thing, LAPSE_FAULT_LINK);
    lapse_emit_put(e, map, word, lapse_emit_flag(e, fault != NULL && fault->link.reorder));
}

const struct lapse_emit_row *lapse_emit_world_rows(size_t *ret_count) {
    static const struct lapse_emit_row rows[] = {
        {LAPSE_WORD_OBSERVER, "gone", emit_looked},
        {LAPSE_WORD_OBSERVER, "present", emit_looked},
        {LAPSE_WORD_OBSERVER, "left", emit_looked},
        {LAPSE_WORD_OBSERVER, "holder", emit_looked},
        {LAPSE_WORD_OBSERVER, "believes", emit_looked},
        {LAPSE_WORD_OBSERVER, "may", emit_looked},
        {LAPSE_WORD_OBSERVER, "stopped", emit_stopped},
        {LAPSE_WORD_OBSERVER, "events", emit_events},
        {LAPSE_WORD_OBSERVER, "rows", emit_rows},
        {LAPSE_WORD_OBSERVER, "measured", emit_measured},
        {LAPSE_WORD_FAULT, "pause", emit_fault},
        {LAPSE_WORD_FAULT, "resume", emit_fault},
        {LAPSE_WORD_FAULT, "crash", emit_fault},
        {LAPSE_WORD_FAULT, "restart", emit_fault},
        {LAPSE_WORD_FAULT, "suspend", emit_fault},
        {LAPSE_WORD_FAULT, "freeze", emit_fault},
        {LAPSE_WORD_FAULT, "starve", emit_fault},
        {LAPSE_WORD_FAULT, "stall", emit_fault},
        {LAPSE_WORD_FAULT, "slow", emit_fault},
        {LAPSE_WORD_FAULT, "cut", emit_fault},
        {LAPSE_WORD_FAULT, "heal", emit_fault},
        {LAPSE_WORD_FAULT, "link", emit_fault},
        {LAPSE_WORD_FAULT, "clock", emit_fault},
        {LAPSE_WORD_FAULT, "disk", emit_fault},
        {LAPSE_WORD_FAULT, "reap", emit_node},
        {LAPSE_WORD_FAULT, "backup", emit_node},
        {LAPSE_WORD_FAULT, "restore", emit_node},
        {LAPSE_WORD_FAULT, "revoke", emit_revoke},
        {LAPSE_WORD_ARGUMENT, "is", emit_is},
        {LAPSE_WORD_ARGUMENT, "who", emit_who},
        {LAPSE_WORD_ARGUMENT, "in", emit_in},
        {LAPSE_WORD_ARGUMENT, "sync", emit_disk},
        {LAPSE_WORD_ARGUMENT, "tear", emit_disk},
        {LAPSE_WORD_ARGUMENT, "full", emit_disk},
        {LAPSE_WORD_ARGUMENT, "rot", emit_disk},
        {LAPSE_WORD_ARGUMENT, "restored", emit_restored},
        {LAPSE_WORD_ARGUMENT, "machine", emit_machine},
        {LAPSE_WORD_ARGUMENT, "with", emit_with},
        {LAPSE_WORD_ARGUMENT, "wall", emit_clock},
        {LAPSE_WORD_ARGUMENT, "to", emit_clock},
        {LAPSE_WORD_ARGUMENT, "rate", emit_clock},
        {LAPSE_WORD_ARGUMENT, "mono", emit_clock},
        {LAPSE_WORD_ARGUMENT, "factor", emit_factor},
        {LAPSE_WORD_ARGUMENT, "latency", emit_latency},
        {LAPSE_WORD_ARGUMENT, "loss", emit_share},
        {LAPSE_WORD_ARGUMENT, "duplicate", emit_share},
        {LAPSE_WORD_ARGUMENT, "reorder", emit_reorder},
    };
    *ret_count = sizeof(rows) / sizeof(rows[0]);
    return rows;
}
