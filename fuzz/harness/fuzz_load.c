/* The loader under any bytes: it must end, stay inside its memory, and say the same twice. */
#include "harness.h"

#include <string.h>

#include "scenarios/load.h"
#include "sim/program.h"

static uint64_t digest_of(const struct lapse_file *file);
static void digest_diag(struct lapse_digest *digest, const struct lapse_diag *diag);
static void digest_plan(struct lapse_digest *digest, const struct lapse_plan *plan);
static void check_plan(const struct lapse_plan *plan);
static void check_step(const struct lapse_plan *plan, const struct lapse_plan_step *step);
static void check_point(const struct lapse_plan *plan, const struct lapse_plan_step *step);
static void check_program(const struct lapse_plan *plan, const struct lapse_plan_step *step);
static void check_link(const struct lapse_plan *plan, const struct lapse_plan_fault *fault);
static void check_shape(enum lapse_status status, const struct lapse_file *file);

uint64_t lapse_harness_run(const unsigned char *data, size_t size) {
    const char *bytes = data == NULL ? "" : (const char *)data;
    uint64_t digests[2];
    for (int i = 0; i < 2; i++) {
        struct lapse_file file;
        enum lapse_status status =
            lapse_file_load(lapse_alloc_libc(), "fuzz.yaml", bytes, size, &file);
        check_shape(status, &file);
        digests[i] = digest_of(&file);
        lapse_file_free(&file);
    }
    LAPSE_ASSERT(digests[0] == digests[1]);
    return digests[0];
}

/* Plans without mistakes, or mistakes without plans; each mistake at a place of the file. */
static void check_shape(enum lapse_status status, const struct lapse_file *file) {
    LAPSE_ASSERT(status == LAPSE_OK || status == LAPSE_INVALID);
    LAPSE_ASSERT((status == LAPSE_OK) == (file->diags.count == 0));
    LAPSE_ASSERT((status == LAPSE_OK) == (file->plan_count > 0));
    for (size_t i = 0; i < file->diags.count; i++) {
        const struct lapse_diag *diag = file->diags.items[i];
        LAPSE_ASSERT(diag->label_count > 0);
        const struct lapse_place *place = &diag->labels[0].place;
        LAPSE_ASSERT(place->file == file->name);
        LAPSE_ASSERT(place->line > 0);
        LAPSE_ASSERT(place->column > 0);
        LAPSE_ASSERT(place->span > 0);
        LAPSE_ASSERT(diag->message[0] != '\0');
    }
    for (size_t i = 0; i < file->plan_count; i++) {
        check_plan(file->plans[i]);
    }
}

/* Every number of a plan points into the plan. */
static void check_plan(const struct lapse_plan *plan) {
    int32_t steps = (int32_t)plan->step_count;
    int32_t actors = (int32_t)plan->setup.actor_count;
    LAPSE_ASSERT(plan->the_case.check_count == plan->step_count);
    LAPSE_ASSERT(plan->line_begin >= 1);
    LAPSE_ASSERT(plan->line_begin <= plan->line_first);
    LAPSE_ASSERT(plan->line_first <= plan->line_last);
    LAPSE_ASSERT(lapse_policies_check(&plan->setup.policies, NULL) == LAPSE_OK);
    LAPSE_ASSERT(plan->setup.durable == (plan->store != LAPSE_STORE_NONE));
    for (size_t i = 0; i < plan->step_count; i++) {
        const struct lapse_plan_step *step = &plan->steps[i];
        LAPSE_ASSERT(plan->the_case.checks[i].expect != NULL);
        LAPSE_ASSERT(step->kind >= LAPSE_STEP_CALL && step->kind <= LAPSE_STEP_PROGRAM);
        LAPSE_ASSERT(step->actor >= -1 && step->actor < actors);
        LAPSE_ASSERT(step->loop >= -1 && step->loop < (int32_t)plan->setup.loop_count);
        LAPSE_ASSERT(step->when.kind != LAPSE_WHEN_AT || step->when.ns >= 0);
        check_step(plan, step);
        for (size_t j = 0; step->kind == LAPSE_STEP_LOOP && j < step->u.loop.body_count; j++) {
            LAPSE_ASSERT(step->u.loop.body[j] >= 0 && step->u.loop.body[j] < steps);
        }
    }
    for (size_t i = 0; i < plan->task_count; i++) {
        LAPSE_ASSERT(plan->tasks[i].actor >= 0 && plan->tasks[i].actor < actors);
        for (size_t j = 0; j < plan->tasks[i].step_count; j++) {
            LAPSE_ASSERT(plan->tasks[i].steps[j] >= 0 && plan->tasks[i].steps[j] < steps);
        }
    }
}

/* What the engine's stage added: acts of no actor, faults of one of the two, flat batches. */
static void check_step(const struct lapse_plan *plan, const struct lapse_plan_step *step) {
    bool call = step->kind == LAPSE_STEP_CALL;
    if (step->kind == LAPSE_STEP_PROGRAM) {
        check_program(plan, step);
    }
    LAPSE_ASSERT(step->kind != LAPSE_STEP_OPERATOR || step->actor == -1);
    if (step->kind == LAPSE_STEP_FAULT) {
        const struct lapse_plan_fault *fault = &step->u.fault;
        bool network = fault->kind == LAPSE_FAULT_CUT || fault->kind == LAPSE_FAULT_LINK;
        bool resource = fault->clock.whose.kind == LAPSE_PARTY_RESOURCE;
        LAPSE_ASSERT(network || resource || (fault->actor >= 0) != (fault->node == 0));
        LAPSE_ASSERT(fault->kind != LAPSE_FAULT_CLOCK || fault->clock.whose.kind != 0);
        LAPSE_ASSERT(fault->clock.rate_ppb > -1000000000 && fault->clock.rate_ppb < 1000000000);
        check_link(plan, fault);
        LAPSE_ASSERT(fault->actor < (int32_t)plan->setup.actor_count);
        LAPSE_ASSERT(!fault->clock.has_to || fault->clock.to.kind == LAPSE_OPERAND_DATE);
        bool disk = fault->kind == LAPSE_FAULT_DISK;
        LAPSE_ASSERT((disk && !fault->ends) == (fault->disk != 0));
        LAPSE_ASSERT(!disk || plan->store != LAPSE_STORE_NONE);
        LAPSE_ASSERT(fault->disk <= LAPSE_DISK_SYNC_STALLS || plan->store == LAPSE_STORE_SQLITE);
        check_point(plan, step);
    }
    LAPSE_ASSERT(!call ||
                 (step->u.call.verb == LAPSE_VERB_BATCH) == (step->u.call.batch_count > 0));
    for (size_t i = 0; call && i < step->u.call.batch_count; i++) {
        const struct lapse_plan_call *member = &step->u.call.batch[i];
        LAPSE_ASSERT(member->verb > 0 && member->batch_count == 0);
        LAPSE_ASSERT(member->request.part_count == 0);
        LAPSE_ASSERT(member->bucket < (int32_t)plan->setup.bucket_count);
    }
}

/* A link has an actor at one end, and chances are shares; who is late is late by something. */
static void check_link(const struct lapse_plan *plan, const struct lapse_plan_fault *fault) {
    const struct lapse_plan_link *link = &fault->link;
    bool one = (link->from.kind == LAPSE_PARTY_ACTOR) != (link->to.kind == LAPSE_PARTY_ACTOR);
    bool network = fault->kind == LAPSE_FAULT_CUT || fault->kind == LAPSE_FAULT_LINK;
    LAPSE_ASSERT(!network || one || (fault->ends && link->from.kind == 0));
    LAPSE_ASSERT(link->loss_ppm >= 0 && link->loss_ppm <= 1000000);
    LAPSE_ASSERT(link->duplicate_ppm >= 0 && link->duplicate_ppm <= 1000000);
    LAPSE_ASSERT(link->latency_ns_min >= 0 && link->latency_ns_min <= link->latency_ns_max);
    LAPSE_ASSERT(fault->kind != LAPSE_FAULT_SLOW || fault->ends || fault->actor < 0 ||
                 fault->factor >= 1);
    LAPSE_ASSERT(fault->kind != LAPSE_FAULT_STARVE || fault->task < (int32_t)plan->task_count);
}

/* A program is there, its words are its own, and the run has an end. */
static void check_program(const struct lapse_plan *plan, const struct lapse_plan_step *step) {
    LAPSE_ASSERT(step->u.program >= 0 && (size_t)step->u.program < plan->program_count);
    const struct lapse_plan_program *program = &plan->programs[step->u.program];
    const struct lapse_program_kind *kind =
        lapse_program_find((const char *)program->name.data, program->name.len);
    LAPSE_ASSERT(program->actor == step->actor && plan->has_run_for);
    LAPSE_ASSERT(kind != NULL);
    for (size_t i = 0; i < program->with_count; i++) {
        struct lapse_bytes name = program->with[i].name;
        LAPSE_ASSERT(lapse_program_word_find(kind, (const char *)name.data, name.len) != NULL);
    }
}

/* A fault that waits for a moment waits for that of a call, or of the node, from the first on. */
static void check_point(const struct lapse_plan *plan, const struct lapse_plan_step *step) {
    const struct lapse_point *point = &step->u.fault.point;
    if (step->when.kind != LAPSE_WHEN_POINT) {
        return;
    }
    LAPSE_ASSERT(point->kind >= LAPSE_POINT_SENT && point->kind <= LAPSE_POINT_EXPIRE);
    LAPSE_ASSERT(point->nth >= 1);
    if (point->kind > LAPSE_POINT_REPLIED) {
        LAPSE_ASSERT(point->node == 0);
        return;
    }
    LAPSE_ASSERT(point->step >= 0 && point->step < (int32_t)plan->step_count);
    LAPSE_ASSERT(plan->steps[point->step].kind == LAPSE_STEP_CALL);
}

static uint64_t digest_of(const struct lapse_file *file) {
    struct lapse_digest digest;
    lapse_digest_begin(&digest);
    lapse_digest_u64(&digest, file->diags.count);
    for (size_t i = 0; i < file->diags.count; i++) {
        digest_diag(&digest, file->diags.items[i]);
    }
    lapse_digest_u64(&digest, file->plan_count);
    for (size_t i = 0; i < file->plan_count; i++) {
        digest_plan(&digest, file->plans[i]);
    }
    return lapse_digest_value(&digest);
}

static void digest_diag(struct lapse_digest *digest, const struct lapse_diag *diag) {
    lapse_digest_bytes(digest, lapse_bytes_of(diag->code));
    lapse_digest_bytes(digest, lapse_bytes_of(diag->message));
    for (size_t i = 0; i < diag->label_count; i++) {
        lapse_digest_i64(digest, diag->labels[i].place.line);
        lapse_digest_i64(digest, diag->labels[i].place.column);
        lapse_digest_i64(digest, diag->labels[i].place.span);
        lapse_digest_bytes(digest, lapse_bytes_of(diag->labels[i].text));
    }
    for (size_t i = 0; i < diag->note_count; i++) {
        lapse_digest_bytes(digest, lapse_bytes_of(diag->notes[i].text));
    }
}

static void digest_plan(struct lapse_digest *digest, const struct lapse_plan *plan) {
    lapse_digest_bytes(digest, lapse_bytes_of(plan->name));
    lapse_digest_i64(digest, plan->line_begin);
    lapse_digest_i64(digest, plan->line_first);
    lapse_digest_i64(digest, plan->line_last);
    lapse_digest_i64(digest, plan->run_for_ns);
    lapse_digest_u64(digest, (uint64_t)plan->store);
    lapse_digest_u64(digest, lapse_policies_code(&plan->setup.policies));
    lapse_digest_u64(digest, plan->task_count);
    for (size_t i = 0; i < plan->step_count; i++) {
        const struct lapse_plan_step *step = &plan->steps[i];
        const struct lapse_step_check *check = &plan->the_case.checks[i];
        lapse_digest_u64(digest, (uint64_t)step->kind);
        lapse_digest_u64(digest, (uint64_t)step->when.kind);
        lapse_digest_i64(digest, step->when.ns);
        lapse_digest_i64(digest, step->actor);
        lapse_digest_i64(digest, step->times);
        lapse_digest_bytes(digest, lapse_bytes_of(check->verb));
        lapse_digest_bytes(digest, lapse_bytes_of(check->object));
        lapse_digest_u64(digest, check->handled);
        lapse_digest_u64(digest, (uint64_t)check->expect->kind);
    }
    for (size_t i = 0; i < plan->the_case.slot_count; i++) {
        lapse_digest_bytes(digest, lapse_bytes_of(plan->the_case.slot_names[i]));
    }
}
