/* Small plans by hand, for the tests of the world: no loader, no pool. A sketch is filled line by
 * line; lines of one actor without a loop or task form its task of `steps`. */
#ifndef SIM_PLAN_BUILDER_TEST_H
#define SIM_PLAN_BUILDER_TEST_H

#include "sim/world.h"

enum { SKETCH_MAX = 48 };

#define S(seconds) ((seconds)*LAPSE_NS_PER_S)

struct sketch {
    struct lapse_plan plan;
    struct lapse_plan_step steps[SKETCH_MAX];
    struct lapse_step_check checks[SKETCH_MAX];
    struct lapse_plan_task tasks[SKETCH_MAX];
    struct lapse_text_part parts[4 * SKETCH_MAX];
    struct lapse_handler handlers[SKETCH_MAX];
    int32_t lines[SKETCH_MAX][SKETCH_MAX]; /* of tasks, then of loop bodies */
    int32_t world_steps[SKETCH_MAX], finals[SKETCH_MAX];
    struct lapse_setup_actor actors[8];
    struct lapse_setup_bucket buckets[4];
    struct lapse_setup_resource resources[2];
    struct lapse_setup_loop loops[SKETCH_MAX];
    struct lapse_bytes nodes[1];
    const char *slot_names[SKETCH_MAX];
    struct lapse_place slot_places[SKETCH_MAX];
    const char *watch_names[2];
    struct lapse_expect first;
    size_t part_count, handler_count, list_count;
};

/* Must be given a zeroed sketch. It is not to be moved afterwards. */
static inline void sketch_begin(struct sketch *sketch) {
    *sketch = (struct sketch){0};
    sketch->plan.file = "test";
    sketch->plan.name = "test";
    sketch->plan.row = -1;
    sketch->plan.steps = sketch->steps;
    sketch->plan.tasks = sketch->tasks;
    sketch->plan.world_steps = sketch->world_steps;
    sketch->plan.finals = sketch->finals;
    sketch->plan.watch_names = sketch->watch_names;
    sketch->plan.setup.scenario = lapse_bytes_of("test");
    sketch->plan.setup.sync = LAPSE_SYNC_NONE;
    sketch->plan.setup.epoch.ns = INT64_C(946684800) * LAPSE_NS_PER_S;
    sketch->plan.setup.reap_bound.ns = LAPSE_NS_PER_S;
    sketch->plan.setup.actors = sketch->actors;
    sketch->plan.setup.buckets = sketch->buckets;
    sketch->plan.setup.resources = sketch->resources;
    sketch->plan.setup.loops = sketch->loops;
    sketch->plan.setup.nodes = sketch->nodes;
    sketch->plan.setup.node_count = 1;
    sketch->nodes[0] = lapse_bytes_of("n1");
    sketch->plan.the_case.setup = &sketch->plan.setup;
    sketch->plan.the_case.checks = sketch->checks;
    sketch->plan.the_case.slot_names = sketch->slot_names;
    sketch->plan.the_case.slot_places = sketch->slot_places;
}

static inline int32_t sketch_actor(struct sketch *sketch, const char *name, bool careful) {
    size_t at = sketch->plan.setup.actor_count++;
    sketch->actors[at].name = lapse_bytes_of(name);
    sketch->actors[at].careful = careful;
    return (int32_t)at;
}

static inline int32_t sketch_bucket(struct sketch *sketch, const char *name, int64_t ttl_ns,
                                    bool locks) {
    size_t at = sketch->plan.setup.bucket_count++;
    sketch->buckets[at].name = lapse_bytes_of(name);
    sketch->buckets[at].locks = locks;
    if (ttl_ns > 0) {
        sketch->buckets[at].config.term.given = LAPSE_TERM_TTL;
        sketch->buckets[at].config.term.ttl.ns = ttl_ns;
    }
    return (int32_t)at;
}

static inline int32_t sketch_resource(struct sketch *sketch, const char *name, bool fenced) {
    size_t at = sketch->plan.setup.resource_count++;
    sketch->resources[at].name = lapse_bytes_of(name);
    sketch->resources[at].fenced = fenced;
    return (int32_t)at;
}

static inline struct lapse_text sketch_text(struct sketch *sketch, const char *text) {
    struct lapse_text_part *part = &sketch->parts[sketch->part_count++];
    part->kind = LAPSE_PART_LITERAL;
    part->literal = lapse_bytes_of(text);
    return (struct lapse_text){1, part};
}

static inline struct lapse_operand sketch_number(enum lapse_operand_kind kind, int64_t number) {
    return (struct lapse_operand){.kind = kind, .number = number};
}

static inline struct lapse_operand sketch_slot(int32_t slot) {
    struct lapse_operand operand = {.kind = LAPSE_OPERAND_SLOT};
    operand.slot.base = slot;
    return operand;
}

/* A step with its check; returns it to be filled further. */
static inline struct lapse_plan_step *sketch_step(struct sketch *sketch, enum lapse_step_kind kind,
                                                  int32_t actor) {
    size_t at = sketch->plan.step_count++;
    struct lapse_plan_step *step = &sketch->steps[at];
    sketch->plan.the_case.check_count = sketch->plan.step_count;
    sketch->checks[at].expect = &sketch->first;
    sketch->checks[at].contract = "KV-01";
    sketch->checks[at].verb = "step";
    sketch->checks[at].object = "";
    sketch->checks[at].measure = -1;
    step->kind = kind;
    step->actor = actor;
    step->loop = -1;
    return step;
}

static inline int32_t sketch_number_of(const struct sketch *sketch,
                                       const struct lapse_plan_step *step) {
    return (int32_t)(step - sketch->steps);
}

static inline struct lapse_plan_step *sketch_call(struct sketch *sketch, int32_t actor, int verb,
                                                  int32_t bucket, const char *key) {
    struct lapse_plan_step *step = sketch_step(sketch, LAPSE_STEP_CALL, actor);
    step->u.call.verb = verb;
    step->u.call.bucket = bucket;
    step->u.call.resource = -1;
    step->u.call.watch = -1;
    step->u.call.key = sketch_text(sketch, key);
    step->u.call.key_lock = bucket >= 0 && sketch->buckets[bucket].locks;
    step->u.call.value = sketch_text(sketch, "v");
    step->u.call.has_value = true;
    return step;
}

static inline struct lapse_plan_step *sketch_acquire(struct sketch *sketch, int32_t actor,
                                                     const char *name, int64_t span_ns,
                                                     int32_t save) {
    struct lapse_plan_step *step = sketch_call(sketch, actor, LAPSE_VERB_ACQUIRE, -1, name);
    step->u.call.span = sketch_number(LAPSE_OPERAND_SPAN, span_ns);
    step->has_save = save >= 0;
    step->save.base = save;
    if (save >= 0 && (size_t)save >= sketch->plan.the_case.slot_count) {
        sketch->plan.the_case.slot_count = (size_t)save + 1;
        sketch->slot_names[save] = "t";
    }
    return step;
}

static inline struct lapse_plan_step *sketch_extend(struct sketch *sketch, int32_t actor,
                                                    const char *name, int64_t span_ns,
                                                    int32_t token_slot) {
    struct lapse_plan_step *step = sketch_call(sketch, actor, LAPSE_VERB_EXTEND, -1, name);
    step->u.call.span = sketch_number(LAPSE_OPERAND_SPAN, span_ns);
    step->u.call.token = sketch_slot(token_slot);
    return step;
}

static inline struct lapse_plan_step *sketch_write(struct sketch *sketch, int32_t actor,
                                                   int32_t resource, int32_t token_slot) {
    struct lapse_plan_step *step = sketch_call(sketch, actor, LAPSE_CALL_WRITE, -1, "");
    step->u.call.resource = resource;
    step->u.call.token = sketch_slot(token_slot);
    return step;
}

static inline struct lapse_plan_step *sketch_pause(struct sketch *sketch, int32_t actor,
                                                   int64_t at_ns, int64_t for_ns) {
    struct lapse_plan_step *step = sketch_step(sketch, LAPSE_STEP_FAULT, -1);
    step->u.fault.kind = LAPSE_FAULT_PAUSE;
    step->u.fault.actor = actor;
    step->u.fault.node = actor < 0 ? 0 : -1;
    step->u.fault.has_for = for_ns > 0;
    step->u.fault.for_ns = for_ns;
    step->when = (struct lapse_when){LAPSE_WHEN_AT, at_ns, 0};
    sketch->world_steps[sketch->plan.world_step_count++] = sketch_number_of(sketch, step);
    return step;
}

/* A fault of the node that begins at an instant; for_ns 0: not by itself ended. The rows are kept
 * in the world's memory. */
static inline struct lapse_plan_step *sketch_node_fault(struct sketch *sketch,
                                                        enum lapse_fault_kind kind, int64_t at_ns,
                                                        int64_t for_ns) {
    struct lapse_plan_step *step = sketch_pause(sketch, -1, at_ns, for_ns);
    step->u.fault.kind = kind;
    sketch->plan.store = LAPSE_STORE_MEMORY;
    sketch->plan.setup.durable = true;
    sketch->plan.setup.sync = LAPSE_SYNC_FULL;
    return step;
}

static inline struct lapse_plan_step *sketch_probe(struct sketch *sketch,
                                                   enum lapse_probe_kind kind, int32_t bucket,
                                                   const char *name, int64_t at_ns) {
    struct lapse_plan_step *step = sketch_step(sketch, LAPSE_STEP_PROBE, -1);
    step->u.probe.kind = kind;
    step->u.probe.bucket = bucket;
    step->u.probe.name = sketch_text(sketch, name);
    step->u.probe.key_lock = bucket >= 0 && sketch->buckets[bucket].locks;
    step->when = (struct lapse_when){LAPSE_WHEN_AT, at_ns, 0};
    sketch->world_steps[sketch->plan.world_step_count++] = sketch_number_of(sketch, step);
    return step;
}

static inline void sketch_on(struct sketch *sketch, struct lapse_plan_step *step, uint32_t statuses,
                             enum lapse_action_kind action, int64_t again_ns) {
    LAPSE_ASSERT(step->handler_count == 0); /* one a step is all the tests need */
    struct lapse_handler *handler = &sketch->handlers[sketch->handler_count++];
    *handler = (struct lapse_handler){statuses, {action, again_ns}};
    step->handlers = handler;
    step->handler_count = 1;
    sketch->checks[sketch_number_of(sketch, step)].handled |= statuses;
}

/* A task of these steps, in order (count of them from `first` on). */
static inline int32_t sketch_task(struct sketch *sketch, int32_t actor, bool from_steps) {
    size_t at = sketch->plan.task_count++;
    sketch->tasks[at] = (struct lapse_plan_task){.actor = actor,
                                                 .name = lapse_bytes_of("main"),
                                                 .from_steps = from_steps,
                                                 .steps = sketch->lines[sketch->list_count++]};
    return (int32_t)at;
}

static inline void sketch_line(struct sketch *sketch, int32_t task,
                               const struct lapse_plan_step *step) {
    struct lapse_plan_task *to = &sketch->tasks[task];
    ((int32_t *)to->steps)[to->step_count++] = sketch_number_of(sketch, step);
}

static inline void sketch_line_at(struct sketch *sketch, int32_t task, struct lapse_plan_step *step,
                                  int64_t at_ns) {
    step->when = (struct lapse_when){LAPSE_WHEN_AT, at_ns, 0};
    sketch_line(sketch, task, step);
}

/* A loop step whose body is to be filled by sketch_body. */
static inline struct lapse_plan_step *sketch_loop(struct sketch *sketch, int32_t actor,
                                                  int64_t period_ns, bool beside) {
    struct lapse_plan_step *step = sketch_step(sketch, LAPSE_STEP_LOOP, actor);
    size_t loop = sketch->plan.setup.loop_count++;
    step->u.loop.period_ns = period_ns;
    step->u.loop.beside = beside;
    step->u.loop.body = sketch->lines[sketch->list_count++];
    step->u.loop.loop = (int32_t)loop;
    sketch->loops[loop] = (struct lapse_setup_loop){
        .actor = actor, .step = sketch_number_of(sketch, step), .period = {period_ns}};
    return step;
}

static inline void sketch_body(struct sketch *sketch, struct lapse_plan_step *loop,
                               struct lapse_plan_step *step) {
    step->loop = loop->u.loop.loop;
    ((int32_t *)loop->u.loop.body)[loop->u.loop.body_count++] = sketch_number_of(sketch, step);
}

static inline void sketch_run_for(struct sketch *sketch, int64_t ns) {
    sketch->plan.has_run_for = true;
    sketch->plan.run_for_ns = ns;
}

/* A run of a sketch without a judge, history kept. */
struct stage {
    struct lapse_history *history;
    struct lapse_choices *choices;
    struct lapse_world *world;
};

static inline struct stage stage_open(const struct sketch *sketch, uint64_t seed) {
    struct stage stage = {0};
    struct lapse_error err = {0};
    const lapse_alloc *alloc = lapse_alloc_libc();
    LAPSE_ASSERT(lapse_history_open(alloc, 0, &stage.history, &err) == LAPSE_OK);
    LAPSE_ASSERT(lapse_choices_open_seed(alloc, seed, &stage.choices) == LAPSE_OK);
    struct lapse_world_options options = {.plan = &sketch->plan,
                                          .choices = stage.choices,
                                          .history = stage.history,
                                          .check_often = true};
    LAPSE_ASSERT(lapse_world_open(&options, &stage.world, &err) == LAPSE_OK);
    return stage;
}

static inline struct stage stage_run(const struct sketch *sketch) {
    struct stage stage = stage_open(sketch, 1);
    struct lapse_error err = {0};
    LAPSE_ASSERT(lapse_world_run(stage.world, &err) == LAPSE_OK);
    return stage;
}

static inline void stage_close(struct stage *stage) {
    lapse_world_close(stage->world);
    lapse_history_close(stage->history);
    lapse_choices_close(stage->choices);
}

/* The k-th event (from 0) of a kind that plan step `step` caused (-1: any); NULL. */
static inline const struct lapse_history_event *
stage_find(const struct stage *stage, enum lapse_history_kind kind, int32_t step, size_t k) {
    for (size_t i = 0; i < lapse_history_count(stage->history); i++) {
        const struct lapse_history_event *event = lapse_history_at(stage->history, i);
        if (event->kind == kind && (step < 0 || event->step == step) && k-- == 0) {
            return event;
        }
    }
    return NULL;
}

static inline size_t stage_count(const struct stage *stage, enum lapse_history_kind kind,
                                 int32_t step) {
    size_t count = 0;
    while (stage_find(stage, kind, step, count) != NULL) {
        count++;
    }
    return count;
}

#endif
