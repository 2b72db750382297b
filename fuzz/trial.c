/* One document, from tree to verdict. The text is what is loaded, so that places in a report name
 * lines that a person will see. */
#include "fuzz/trial.h"

#include "contracts/rule.h"

#include <string.h>

static enum lapse_status load(const struct lapse_node *document,
                              const struct lapse_trial_options *options, struct lapse_trial *trial);
static void refuse(struct lapse_trial *trial);
static enum lapse_status run(const struct lapse_trial_options *options, struct lapse_trial *trial);
static void judge(struct lapse_trial *trial);
static struct lapse_trial_signature sign(const struct lapse_trial *trial,
                                         const struct lapse_verdict *verdict);
static int verb_of(const struct lapse_history *history, const struct lapse_history_event *event);

enum lapse_status lapse_trial_run(const struct lapse_node *document,
                                  const struct lapse_trial_options *options,
                                  struct lapse_trial *ret, struct lapse_error *err) {
    *ret = (struct lapse_trial){.outcome = LAPSE_TRIAL_REFUSED};
    ret->text.alloc = ret->file.alloc = options->alloc;
    enum lapse_status status = load(document, options, ret);
    if (status == LAPSE_OK && ret->plan != NULL) {
        status = run(options, ret);
    }
    if (status == LAPSE_NOMEM) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for a run");
    }
    return LAPSE_OK;
}

void lapse_trial_free(struct lapse_trial *trial) {
    if (trial->run.history != NULL) {
        lapse_run_free(&trial->run);
    }
    lapse_file_free(&trial->file);
    lapse_emitted_free(&trial->text);
    *trial = (struct lapse_trial){.outcome = LAPSE_TRIAL_REFUSED};
}

bool lapse_trial_same(const struct lapse_trial_signature *a,
                      const struct lapse_trial_signature *b) {
    bool named = a->id != NULL && b->id != NULL;
    return named && strcmp(a->id, b->id) == 0 && a->kind == b->kind && a->verb == b->verb &&
           a->status == b->status && a->unmet == b->unmet;
}

static enum lapse_status load(const struct lapse_node *document,
                              const struct lapse_trial_options *options,
                              struct lapse_trial *trial) {
    enum lapse_status status = lapse_yaml_write(document, &trial->text, &trial->err);
    if (status != LAPSE_OK) {
        return status;
    }
    status = lapse_file_load(options->alloc, "trial.yaml", trial->text.text, trial->text.bytes,
                             &trial->file);
    if (status != LAPSE_OK) {
        refuse(trial);
        return status;
    }
    trial->plan_count = trial->file.plan_count;
    if (options->row < 0 || (size_t)options->row >= trial->plan_count) {
        return lapse_error_set(&trial->err, LAPSE_INVALID, "the document has the rows 0 to %zu",
                               trial->plan_count - 1);
    }
    struct lapse_plan *plan = trial->file.plans[options->row];
    plan->compare_model = !options->no_model;
    plan->promise_strict = plan->the_case.promise_strict = options->promise_strict;
    trial->plan = plan;
    return LAPSE_OK;
}

static void refuse(struct lapse_trial *trial) {
    if (trial->file.diags.count > 0) {
        const struct lapse_diag *diag = trial->file.diags.items[0];
        (void)lapse_error_set(&trial->err, LAPSE_INVALID, "%s, line %d: %.300s", diag->code,
                              diag->labels[0].place.line, diag->message);
    }
}

static enum lapse_status run(const struct lapse_trial_options *options,
                             struct lapse_trial *trial) {
    enum lapse_status status =
        options->orders
            ? lapse_run_orders(trial->plan, options->seed, options->arena, options->events_max,
                               &trial->run, &trial->err)
            : lapse_run_within(trial->plan, options->seed, options->arena, options->events_max,
                               &trial->run, &trial->err);
    if (status == LAPSE_OK) {
        judge(trial);
    } else {
        trial->outcome = LAPSE_TRIAL_BROKEN;
    }
    return status;
}

static void judge(struct lapse_trial *trial) {
    const struct lapse_verdict *verdict = lapse_judge_verdict(trial->run.judge);
    switch (verdict->outcome) {
    case LAPSE_OUTCOME_PASSED:
        trial->outcome = LAPSE_TRIAL_PASSED;
        break;
    case LAPSE_OUTCOME_VIOLATED:
        trial->outcome = LAPSE_TRIAL_VIOLATED;
        trial->signature = sign(trial, verdict);
        break;
    case LAPSE_OUTCOME_INCONCLUSIVE:
        trial->outcome = LAPSE_TRIAL_INCONCLUSIVE;
        break;
    }
}

static struct lapse_trial_signature sign(const struct lapse_trial *trial,
                                         const struct lapse_verdict *verdict) {
    struct lapse_trial_signature signature = {.id = verdict->id, .unmet = verdict->unmet};
    if (verdict->event < 0) {
        return signature;
    }
    const struct lapse_history_event *event =
        lapse_history_at(trial->run.history, (size_t)verdict->event);
    signature.kind = event->kind;
    signature.verb = verb_of(trial->run.history, event);
    if (event->kind == LAPSE_HISTORY_APPLY) {
        signature.status = event->u.apply.answer.status;
    } else if (event->kind == LAPSE_HISTORY_REPLY) {
        signature.status = event->u.reply.answer.status;
    } else if (event->kind == LAPSE_HISTORY_RESOURCE) {
        signature.status = event->u.resource.status;
    }
    return signature;
}

static int verb_of(const struct lapse_history *history, const struct lapse_history_event *event) {
    for (int64_t at = event->seq; event->call > 0 && at >= 0; at--) {
        const struct lapse_history_event *before = lapse_history_at(history, (size_t)at);
        if (before->kind == LAPSE_HISTORY_INVOKE && before->call == event->call) {
            return before->u.invoke.request.verb;
        }
    }
    return 0;
}
