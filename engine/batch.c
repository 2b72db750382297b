/* Batches: several writes as one. They are carried out one after the other at one instant, each
 * seeing what those before it did, in one transaction; one that is refused refuses them all
 * (CAS-02). Each goes by the same function as alone, so a batch has no meaning of its own. */
#include "state.h"

static bool may_stand(enum lapse_verb verb);
static struct lapse_job job_of(const struct lapse_job *job, size_t index);
static enum lapse_status refuse(struct lapse_job *job, size_t index, const char *why);
static void take_back(struct lapse_job *job);
static enum lapse_status run_one(struct lapse_job *job, size_t index,
                                 enum lapse_status *ret_answer);

enum lapse_status lapse_batch_check(struct lapse_job *job) {
    const struct lapse_command *command = job->command;
    size_t count = command->u.batch.count;
    if (count == 0 || count > LAPSE_BATCH_MAX || command->u.batch.commands == NULL) {
        return lapse_error_set(job->err, LAPSE_INVALID,
                               "a batch of %zu calls is not taken; give 1 to %d", count,
                               (int)LAPSE_BATCH_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        const struct lapse_command *one = &command->u.batch.commands[i];
        if (!may_stand(one->verb)) {
            return refuse(job, i, "only writes of keys, leases and sessions stand in a batch");
        }
        if (one->request.len > 0) {
            return refuse(job, i, "a request id is the whole batch's; give it there");
        }
        if (one->verb == LAPSE_VERB_ACQUIRE && one->u.lease.durability != LAPSE_PERSISTENT) {
            return refuse(job, i, "an ephemeral lease is no durable change; acquire it alone");
        }
        struct lapse_job own = job_of(job, i);
        enum lapse_status status = lapse_job_check(&own);
        if (status != LAPSE_OK) {
            lapse_error_context(job->err, "call %zu of the batch", i);
            return status;
        }
    }
    return LAPSE_OK;
}

bool lapse_batch_owed(const struct lapse_job *job, struct lapse_command *ret) {
    for (size_t i = 0; i < job->command->u.batch.count; i++) {
        const struct lapse_command *one = &job->command->u.batch.commands[i];
        const struct lapse_bucket *bucket = lapse_state_bucket(job->state, one->bucket);
        const struct lapse_node *node =
            bucket == NULL ? NULL : lapse_table_find(&bucket->records, one->key);
        if (node != NULL && lapse_idle_owed(job->state, node, ret)) {
            return true;
        }
    }
    return false;
}

enum lapse_status lapse_batch_run(struct lapse_job *job) {
    size_t count = job->command->u.batch.count;
    enum lapse_status answer = LAPSE_OK;
    for (size_t i = 0; i < count && answer == LAPSE_OK; i++) {
        enum lapse_status status = run_one(job, i, &answer);
        if (status != LAPSE_OK) {
            return status;
        }
    }
    if (answer == LAPSE_OK) {
        return LAPSE_OK;
    }
    /* The calls before it were not made either. */
    lapse_txn_rollback(job->state);
    job->result->event_count = 0;
    take_back(job);
    return LAPSE_CONFLICT;
}

/* What the calls before the refused one were given will be given again: it must not be shown. The
 * refused one may name a revision that one of them wrote. */
static void take_back(struct lapse_job *job) {
    struct lapse_result *result = job->result;
    for (size_t i = 0; i + 1 < result->answer_count; i++) {
        result->answers[i] = (struct lapse_batch_answer){.verb = result->answers[i].verb,
                                                         .status = result->answers[i].status};
    }
    size_t last = result->answer_count - 1;
    const struct lapse_command *refused = &job->command->u.batch.commands[last];
    const struct lapse_bucket *bucket = lapse_state_bucket(job->state, refused->bucket);
    if (bucket != NULL && result->answers[last].revision > bucket->row->now.revision) {
        result->answers[last].revision = 0;
    }
}

/* Carries out one call and notes its answer; what the status tells is a fault alone. */
static enum lapse_status run_one(struct lapse_job *job, size_t index,
                                 enum lapse_status *ret_answer) {
    struct lapse_job own = job_of(job, index);
    struct lapse_result *result = job->result;
    enum lapse_status status = lapse_job_check(&own);
    /* A name that is held for the tenure may be found held, but it is no durable change. */
    bool local = status == LAPSE_OK && own.klass != LAPSE_CLASS_LOG;
    bool found = own.command->verb == LAPSE_VERB_ACQUIRE;
    if (status == LAPSE_OK && (!local || found)) {
        status = lapse_job_apply(&own);
    }
    if (status == LAPSE_OK && local) {
        return refuse(job, index, "the lease is ephemeral and no part of a batch; send it alone");
    }
    if (status < LAPSE_OK) {
        lapse_error_context(job->err, "call %zu of the batch", index);
        return status;
    }
    struct lapse_batch_answer answer = {.verb = own.command->verb,
                                        .status = status,
                                        .revision = result->revision,
                                        .token = result->token,
                                        .end = result->end,
                                        .left = result->left};
    lapse_result_next(result);
    *ret_answer = status;
    if (!lapse_result_answer(result, &answer)) {
        return lapse_error_set(job->err, LAPSE_NOMEM, "batch: no memory for the answers");
    }
    return LAPSE_OK;
}

static bool may_stand(enum lapse_verb verb) {
    switch (verb) {
    case LAPSE_VERB_SET:
    case LAPSE_VERB_CREATE:
    case LAPSE_VERB_UPDATE:
    case LAPSE_VERB_DELETE:
    case LAPSE_VERB_PURGE:
    case LAPSE_VERB_EXPIRE:
    case LAPSE_VERB_PERSIST:
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
    case LAPSE_VERB_SESSION:
    case LAPSE_VERB_KEEPALIVE:
    case LAPSE_VERB_CLOSE:
        return true;
    default:
        return false;
    }
}

static struct lapse_job job_of(const struct lapse_job *job, size_t index) {
    struct lapse_job own = {.state = job->state,
                            .command = &job->command->u.batch.commands[index],
                            .now = job->now,
                            .result = job->result,
                            .err = job->err};
    return own;
}

static enum lapse_status refuse(struct lapse_job *job, size_t index, const char *why) {
    return lapse_error_set(job->err, LAPSE_INVALID, "call %zu of the batch, %s: %s", index,
                           lapse_verb_word(job->command->u.batch.commands[index].verb), why);
}
