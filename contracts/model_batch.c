/* Batches: their calls one after the other at one instant, or none of them. And calls that are sent
 * again under their request id, which take effect once. */
#include "model_parts.h"

#include "feed.h"

static void refuse(struct lapse_model *model, const struct lapse_command *command, size_t last,
                   struct lapse_model_answer *ret);
static struct lapse_answer told_of(const struct lapse_answer *told, size_t index);
static uint64_t digest_of(const struct lapse_command *command);

void lapse_model_batch(struct lapse_model *model, const struct lapse_command *command,
                       const struct lapse_answer *told, struct lapse_model_answer *ret) {
    size_t count = command->u.batch.count;
    void *answers = model->answers;
    if (!lapse_model_grow(model, &answers, &model->answer_cap, count, sizeof(*model->answers))) {
        return;
    }
    model->answers = answers;
    ret->answer.answers = model->answers;
    bool open = false;
    for (size_t i = 0; i < count; i++) {
        const struct lapse_command *member = &command->u.batch.commands[i];
        struct lapse_answer its = told_of(told, i);
        struct lapse_model_answer must = {.answer = lapse_model_plain(model, LAPSE_OK), .by = -1};
        bool tenure = lapse_model_of_tenure(model, member);
        bool acquires = member->verb == LAPSE_VERB_ACQUIRE;
        if (acquires || !tenure) {
            lapse_model_run(model, member, &its, &must);
        }
        /* No durable change is about it; that it is found held by another is a refusal like any. */
        if (tenure && (!acquires || must.answer.status == LAPSE_OK)) {
            must.answer.status = LAPSE_INVALID;
        }
        open = open || must.open;
        if (must.answer.status < 0 && !open) {
            lapse_model_take_back(model);
            ret->answer = lapse_model_plain(model, must.answer.status);
            return;
        }
        model->answers[i] = (struct lapse_batch_answer){.verb = member->verb,
                                                        .status = must.answer.status,
                                                        .revision = must.answer.revision,
                                                        .token = must.answer.token,
                                                        .end = must.answer.end,
                                                        .left = must.answer.left};
        ret->answer.answer_count = i + 1;
        if (must.answer.status != LAPSE_OK && !must.open) {
            refuse(model, command, i, ret);
            break;
        }
    }
    ret->open = open;
    if (open && told->status != LAPSE_OK) {
        lapse_model_take_back(model);
    }
}

bool lapse_model_recall(struct lapse_model *model, const struct lapse_command *command,
                        const struct lapse_answer *told, struct lapse_model_answer *ret) {
    const struct lapse_model_request *request =
        lapse_model_request(model, command->request, false);
    if (request == NULL) {
        return false;
    }
    if (lapse_model_unsure(model, &request->name)) {
        ret->open = true;
        if (told->status != LAPSE_OK || told->repeated) {
            return true;
        }
        ret->open = false; /* it was not remembered, and is done now */
        return false;
    }
    if (!request->known ||
        lapse_steady_between(request->at, model->store).ns >= LAPSE_REQUEST_SPAN_NS) {
        return false;
    }
    if (request->verb != command->verb || request->digest != digest_of(command)) {
        ret->answer.status = LAPSE_INVALID;
        return true;
    }
    struct lapse_answer first = request->answer;
    ret->answer = first;
    ret->answer.at = model->store;
    ret->answer.wall = model->wall;
    ret->answer.repeated = true;
    ret->answer.renewed = false;
    ret->answer.left = lapse_model_left(model, first.end);
    void *answers = model->answers;
    if (first.answer_count == 0 ||
        !lapse_model_grow(model, &answers, &model->answer_cap, first.answer_count,
                          sizeof(*model->answers))) {
        return true;
    }
    model->answers = answers;
    for (size_t i = 0; i < first.answer_count; i++) {
        model->answers[i] = first.answers[i];
        model->answers[i].left = lapse_model_left(model, first.answers[i].end);
    }
    ret->answer.answers = model->answers;
    return true;
}

/* Only what had an effect is remembered: what it changed is on the undo list. */
void lapse_model_note(struct lapse_model *model, const struct lapse_command *command,
                      const struct lapse_model_answer *done) {
    struct lapse_model_request *request = lapse_model_request(model, command->request, true);
    if (request == NULL || done->answer.status != LAPSE_OK ||
        model->undo_count == 0) {
        return;
    }
    size_t count = done->answer.answer_count;
    struct lapse_batch_answer *kept =
        count == 0 ? NULL : lapse_model_take(model, count * sizeof(*kept));
    for (size_t i = 0; kept != NULL && i < count; i++) {
        kept[i] = done->answer.answers[i];
    }
    lapse_model_touch(model, request, sizeof(*request));
    lapse_model_sure(model, &request->name);
    request->name.unsure = done->open; /* what it was answered is not known whole */
    request->known = true;
    request->verb = command->verb;
    request->digest = digest_of(command);
    request->at = model->store;
    request->answer = done->answer;
    request->answer.answers = kept;
}

/* None took effect, so those before the refused one show nothing, and neither does a number that
 * one of them would have been given. */
static void refuse(struct lapse_model *model, const struct lapse_command *command, size_t last,
                   struct lapse_model_answer *ret) {
    lapse_model_take_back(model);
    ret->answer.status = LAPSE_CONFLICT;
    for (size_t i = 0; i < last; i++) {
        model->answers[i] = (struct lapse_batch_answer){.verb = model->answers[i].verb,
                                                        .status = model->answers[i].status};
    }
    const struct lapse_model_bucket *bucket =
        lapse_model_bucket(model, command->u.batch.commands[last].bucket, false);
    if (bucket != NULL && model->answers[last].revision > bucket->revision) {
        model->answers[last].revision = 0;
    }
}

/* What was told of one call of a batch. */
static struct lapse_answer told_of(const struct lapse_answer *told, size_t index) {
    struct lapse_answer its = {.status = told->status, .at = told->at, .wall = told->wall};
    if (index < told->answer_count) {
        const struct lapse_batch_answer *answer = &told->answers[index];
        its.status = answer->status;
        its.revision = answer->revision;
        its.token = answer->token;
        its.end = answer->end;
    }
    return its;
}

static uint64_t digest_of(const struct lapse_command *command) {
    struct lapse_digest digest;
    lapse_digest_begin(&digest);
    lapse_feed_command(&digest, command);
    return lapse_digest_value(&digest);
}
