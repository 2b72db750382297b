/* One draft, one run: what is kept and what is set apart.
 *
 * A draft is kept iff it fails with the signature of the first run. Where no rule broke but a line
 * was not answered as its author wrote, the rules say nothing against a draft that is answered
 * rightly and still fails, as when the write or the fault is left out whose trace the line looks
 * for. So what happens to that line's object has to stay as it was, and all that is no call. */
#include "shrink_parts.h"

#include "contracts/rule.h"

#include <string.h>

/* What is run in a process of its own. */
struct apart {
    const struct lapse_node *document;
    const struct lapse_trial_options *how;
};

static void run_apart(void *arg);
static bool was_met(const struct lapse_shrinker *s, uint64_t digest);
static void note_met(struct lapse_shrinker *s, uint64_t digest);
static size_t slot_of(const struct lapse_shrink_seen *seen, uint64_t digest);
static bool grow_seen(const lapse_alloc *alloc, struct lapse_shrink_seen *seen);
static bool digest_of(struct lapse_shrinker *s, const struct lapse_node *tree, uint64_t *ret);
static void accept(struct lapse_shrinker *s, const struct lapse_trial *trial);
static void set_apart(struct lapse_shrinker *s, const struct lapse_trial *trial);
static bool is_met_before(const struct lapse_shrinker *s,
                          const struct lapse_trial_signature *signature);
static size_t messages_of(const struct lapse_plan_step *step);
static bool is_about(const struct lapse_shrinker *s, const struct lapse_plan *plan, int32_t step);

bool lapse_shrink_draft(struct lapse_shrinker *s) {
    s->spent = s->spent || s->tries >= s->tries_max;
    if (s->spent || s->status != LAPSE_OK) {
        return false;
    }
    lapse_pool_free(&s->draft_pool);
    lapse_pool_init(&s->draft_pool, s->options->alloc);
    s->draft = lapse_shrink_copy(&s->draft_pool, s->tree);
    if (s->draft == NULL) {
        s->status = LAPSE_NOMEM;
        return false;
    }
    return lapse_shrink_list(s, s->draft);
}

bool lapse_shrink_keep(struct lapse_shrinker *s) {
    uint64_t digest = 0;
    if (s->status != LAPSE_OK || s->spent || !digest_of(s, s->draft, &digest) ||
        digest == s->tree_digest || was_met(s, digest)) {
        return false;
    }
    struct lapse_trial trial;
    s->tries++;
    s->status = lapse_shrink_run(s, s->draft, &trial);
    bool alike = s->status == LAPSE_OK && lapse_shrink_alike(s, &trial) &&
                 lapse_shrink_rounds(trial.plan) <= s->rounds_max;
    if (alike) {
        accept(s, &trial);
    } else if (s->status == LAPSE_OK) {
        set_apart(s, &trial);
        note_met(s, digest);
    }
    lapse_trial_free(&trial);
    return alike;
}

enum lapse_status lapse_shrink_run(struct lapse_shrinker *s, const struct lapse_node *document,
                                   struct lapse_trial *ret) {
    const struct lapse_trial_options options = {.alloc = s->options->alloc,
                                                .arena = s->options->arena,
                                                .seed = s->seed,
                                                .events_max = s->events_max,
                                                .promise_strict = s->options->promise_strict,
                                                .no_model = s->options->no_model};
    *ret = (struct lapse_trial){.outcome = LAPSE_TRIAL_BROKEN};
    if (s->status == LAPSE_OK) {
        s->status = lapse_shrink_trial(s->options, document, &options, ret, s->err);
    }
    return s->status;
}

/* What is told of a run in another process is whether it lived: it is then made again here. */
enum lapse_status lapse_shrink_trial(const struct lapse_shrink_options *options,
                                     const struct lapse_node *document,
                                     const struct lapse_trial_options *how,
                                     struct lapse_trial *ret, struct lapse_error *err) {
    struct apart apart = {document, how};
    int death = options->apart == NULL ? 0 : options->apart(run_apart, &apart);
    if (death == 0) {
        return lapse_trial_run(document, how, ret, err);
    }
    *ret = (struct lapse_trial){.outcome = LAPSE_TRIAL_BROKEN, .death = death};
    ret->text.alloc = ret->file.alloc = how->alloc;
    (void)lapse_error_set(&ret->err, LAPSE_BUG, "the run died of signal %d", death);
    enum lapse_status status = lapse_yaml_write(document, &ret->text, NULL);
    return status == LAPSE_NOMEM ? lapse_error_set(err, LAPSE_NOMEM, "no memory for a run")
                                 : LAPSE_OK;
}

static void run_apart(void *arg) {
    const struct apart *apart = arg;
    struct lapse_trial trial;
    (void)lapse_trial_run(apart->document, apart->how, &trial, NULL);
    lapse_trial_free(&trial);
}

uint64_t lapse_shrink_rounds(const struct lapse_plan *plan) {
    uint64_t rounds = 0;
    for (size_t i = 0; i < plan->step_count; i++) {
        const struct lapse_plan_loop *loop = &plan->steps[i].u.loop;
        if (plan->steps[i].kind != LAPSE_STEP_LOOP) {
            continue;
        }
        int64_t end = loop->until == LAPSE_UNTIL_INSTANT ? loop->until_ns : INT64_MAX;
        end = plan->has_run_for && plan->run_for_ns < end ? plan->run_for_ns : end;
        uint64_t most = (uint64_t)(end / loop->period_ns);
        uint64_t times = (uint64_t)loop->times;
        most = times > 0 && times < most ? times : most;
        rounds = most > UINT64_MAX - rounds ? UINT64_MAX : rounds + most;
    }
    return rounds;
}

bool lapse_shrink_alike(const struct lapse_shrinker *s, const struct lapse_trial *trial) {
    return trial->outcome == LAPSE_TRIAL_VIOLATED && trial->plan_count == 1 &&
           lapse_trial_same(&trial->signature, &s->target) &&
           (!s->target.unmet || (lapse_shrink_acts(trial) == s->acts &&
                                 lapse_shrink_object(s, trial) == s->about_object));
}

struct lapse_shrink_size lapse_shrink_size_of(const struct lapse_trial *trial,
                                              const struct lapse_node *tree) {
    const struct lapse_plan *plan = trial->plan;
    struct lapse_shrink_size size = {.events = lapse_history_count(trial->run.history),
                                     .weight = lapse_node_weight(tree)};
    size.faults = plan->clock_count + (plan->chaos.on ? 1 : 0);
    for (size_t i = 0; i < plan->step_count; i++) {
        const struct lapse_plan_step *step = &plan->steps[i];
        size.steps += step->kind != LAPSE_STEP_LOOP ? 1 : 0;
        size.faults += step->kind == LAPSE_STEP_FAULT ? 1 : 0;
        size.faults += messages_of(step);
    }
    return size;
}

uint64_t lapse_shrink_object(const struct lapse_shrinker *s, const struct lapse_trial *trial) {
    struct lapse_digest digest;
    lapse_digest_begin(&digest);
    for (size_t i = 0; i < lapse_history_count(trial->run.history); i++) {
        struct lapse_history_event event = *lapse_history_at(trial->run.history, i);
        bool acts = event.kind == LAPSE_HISTORY_INVOKE || event.kind == LAPSE_HISTORY_APPLY ||
                    event.kind == LAPSE_HISTORY_REPLY || event.kind == LAPSE_HISTORY_PROBE ||
                    event.kind == LAPSE_HISTORY_RESOURCE;
        if (acts && is_about(s, trial->plan, event.step)) {
            event.seq = event.call = 0;
            event.step = 0;
            lapse_digest_u64(&digest, lapse_history_event_digest(&event));
        }
    }
    return lapse_digest_value(&digest);
}

size_t lapse_shrink_acts(const struct lapse_trial *trial) {
    size_t acts = trial->plan->clock_count + (trial->plan->chaos.on ? 1 : 0);
    for (size_t i = 0; i < trial->plan->step_count; i++) {
        const struct lapse_plan_step *step = &trial->plan->steps[i];
        acts += step->kind != LAPSE_STEP_CALL && step->kind != LAPSE_STEP_PROBE ? 1 : 0;
        acts += messages_of(step);
    }
    return acts;
}

void lapse_shrink_take(struct lapse_shrinker *s, struct lapse_pool *pool,
                       struct lapse_node *tree) {
    lapse_pool_free(&s->tree_pool);
    s->tree_pool = *pool;
    s->tree = tree;
    s->tree_digest = 0;
    (void)digest_of(s, tree, &s->tree_digest);
    lapse_pool_init(pool, s->options->alloc);
}

/* What is done to those of its call. */
static size_t messages_of(const struct lapse_plan_step *step) {
    size_t count = step->request.kind != LAPSE_MESSAGE_PLAIN ? 1 : 0;
    count += step->reply.kind != LAPSE_MESSAGE_PLAIN || step->forged ? 1 : 0;
    return count;
}

/* Lines of one bucket, or of leases whose names begin alike, count as being about one thing. */
static bool is_about(const struct lapse_shrinker *s, const struct lapse_plan *plan, int32_t step) {
    bool known = step >= 0 && (size_t)step < plan->the_case.check_count;
    const char *object = known ? plan->the_case.checks[step].object : NULL;
    if (s->object == NULL || object == NULL || object[0] == '\0') {
        return true;
    }
    size_t len = strcspn(s->object, "/$");
    return strcspn(object, "/$") == len && strncmp(object, s->object, len) == 0;
}

static bool digest_of(struct lapse_shrinker *s, const struct lapse_node *tree, uint64_t *ret) {
    struct lapse_emitted text = {.alloc = s->options->alloc};
    enum lapse_status status = lapse_yaml_write(tree, &text, NULL);
    struct lapse_digest digest;
    lapse_digest_begin(&digest);
    if (status == LAPSE_OK) {
        lapse_digest_bytes(&digest, (struct lapse_bytes){(const unsigned char *)text.text,
                                                         text.bytes});
    }
    s->status = status == LAPSE_NOMEM ? LAPSE_NOMEM : s->status;
    *ret = lapse_digest_value(&digest);
    *ret = *ret == 0 ? 1 : *ret; /* 0 marks a free place */
    lapse_emitted_free(&text);
    return status == LAPSE_OK;
}

/* Whether the text was tried before, and not kept. */
static bool was_met(const struct lapse_shrinker *s, uint64_t digest) {
    return s->seen.cap > 0 && s->seen.slots[slot_of(&s->seen, digest)] == digest;
}

static void note_met(struct lapse_shrinker *s, uint64_t digest) {
    struct lapse_shrink_seen *seen = &s->seen;
    if (2 * (seen->count + 1) > seen->cap && !grow_seen(s->options->alloc, seen)) {
        s->status = LAPSE_NOMEM;
        return;
    }
    seen->slots[slot_of(seen, digest)] = digest;
    seen->count++;
}

static size_t slot_of(const struct lapse_shrink_seen *seen, uint64_t digest) {
    size_t slot = (size_t)digest & (seen->cap - 1);
    while (seen->slots[slot] != 0 && seen->slots[slot] != digest) {
        slot = (slot + 1) & (seen->cap - 1);
    }
    return slot;
}

static bool grow_seen(const lapse_alloc *alloc, struct lapse_shrink_seen *seen) {
    struct lapse_shrink_seen grown = {NULL, seen->count, seen->cap == 0 ? 256 : 2 * seen->cap};
    grown.slots = lapse_alloc_zero(alloc, grown.cap * sizeof(*grown.slots));
    if (grown.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < seen->cap; i++) {
        if (seen->slots[i] != 0) {
            grown.slots[slot_of(&grown, seen->slots[i])] = seen->slots[i];
        }
    }
    lapse_alloc_free(alloc, seen->slots, seen->cap * sizeof(*seen->slots));
    *seen = grown;
    return true;
}

static void accept(struct lapse_shrinker *s, const struct lapse_trial *trial) {
    s->size = lapse_shrink_size_of(trial, s->draft);
    lapse_shrink_take(s, &s->draft_pool, s->draft);
    s->draft = NULL;
    s->changed = true;
    if (s->options->progress != NULL) {
        s->options->progress(s->options->ctx, &s->size, s->tries);
    }
}

/* A line that is not answered as it was written is no finding where the lines before it are not
 * those that its author wrote. */
static void set_apart(struct lapse_shrinker *s, const struct lapse_trial *trial) {
    struct lapse_shrunk *ret = s->ret;
    struct lapse_trial_signature signature = trial->signature;
    if (trial->death != 0) {
        signature = (struct lapse_trial_signature){.id = "lapse"};
    }
    bool failed = trial->death != 0 || trial->outcome == LAPSE_TRIAL_VIOLATED;
    if (!failed || signature.unmet || signature.id == NULL ||
        lapse_trial_same(&signature, &s->target) || is_met_before(s, &signature)) {
        return;
    }
    ret->other_seen++;
    if (ret->other_count == LAPSE_SHRINK_OTHERS_MAX) {
        return;
    }
    const char *message = trial->err.message;
    if (trial->death == 0) {
        const struct lapse_diag_list *diags = &lapse_judge_verdict(trial->run.judge)->diags;
        message = diags->count > 0 ? diags->items[0]->message : "";
    }
    struct lapse_shrink_other *other = &ret->others[ret->other_count];
    other->signature = signature;
    other->message = lapse_pool_text(&ret->pool, message, strlen(message));
    other->text = lapse_pool_text(&ret->pool, trial->text.text, trial->text.bytes);
    if (other->message == NULL || other->text == NULL) {
        s->status = LAPSE_NOMEM;
        return;
    }
    ret->other_count++;
}

static bool is_met_before(const struct lapse_shrinker *s,
                          const struct lapse_trial_signature *signature) {
    for (size_t i = 0; i < s->ret->other_count; i++) {
        if (lapse_trial_same(&s->ret->others[i].signature, signature)) {
            return true;
        }
    }
    return false;
}
