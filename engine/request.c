/* Calls sent twice: a call with a request id that changed something is remembered with its answer,
 * in the same transaction, for two minutes of store time. Sent again it has no effect and answers
 * the same (ONCE-01). A call that failed or was refused had no effect, so it is not remembered:
 * sent again it is a call like any other.
 *
 * The row is kept as its own bytes in the blob: what a call answers is read when the call comes
 * again, which is seldom, and copied into stores, which know bytes. */
#include "state.h"

enum { MESSAGE_BYTES = 80, ANSWER_BYTES = 2 + 8 + 8 + 1 + 8 };

static enum lapse_status keep(struct lapse_job *job, struct lapse_image *image);
static bool is_remembered(enum lapse_verb verb);
static enum lapse_status answer_again(struct lapse_job *job, const struct lapse_row *row);
static void fill_row(struct lapse_job *job, unsigned char *answers, struct lapse_row *ret);
static void write_answer(const struct lapse_batch_answer *answer, unsigned char *to);
static bool read_answer(const unsigned char *from, struct lapse_batch_answer *ret);
static void write_i64(int64_t value, unsigned char *to);
static int64_t read_i64(const unsigned char *from);

enum lapse_status lapse_request_check(const struct lapse_job *job) {
    const struct lapse_command *command = job->command;
    const char *word = lapse_verb_word(command->verb);
    LAPSE_ASSERT(command->request.len > 0);
    if (!is_remembered(command->verb) || lapse_command_class(command) != LAPSE_CLASS_LOG) {
        return lapse_request_unkept(job);
    }
    if (command->request.len > LAPSE_REQUEST_BYTES_MAX) {
        return lapse_error_set(job->err, LAPSE_INVALID,
                               "%s: the request id has %zu bytes; at most %d are taken", word,
                               command->request.len, (int)LAPSE_REQUEST_BYTES_MAX);
    }
    return LAPSE_OK;
}

enum lapse_status lapse_request_unkept(const struct lapse_job *job) {
    char id[MESSAGE_BYTES];
    return lapse_error_set(job->err, LAPSE_INVALID,
                           "this %s carries the request id `%s`, but it changes nothing that "
                           "is stored; send it without one",
                           lapse_verb_word(job->command->verb),
                           lapse_bytes_print(job->command->request, id, sizeof(id)));
}

bool lapse_request_recall(struct lapse_job *job, enum lapse_status *ret_status) {
    const struct lapse_command *command = job->command;
    LAPSE_ASSERT(command->request.len > 0);
    const struct lapse_node *node = lapse_table_find(&job->state->requests, command->request);
    if (node == NULL || !lapse_state_live(node, &job->now)) {
        return false;
    }
    struct lapse_row row;
    lapse_request_unpack(&node->now, &row);
    if (row.request.verb == command->verb && row.request.digest == lapse_command_digest(command)) {
        *ret_status = answer_again(job, &row);
        return true;
    }
    char id[MESSAGE_BYTES];
    *ret_status = lapse_error_set(
        job->err, LAPSE_INVALID,
        "request id `%s` was used for another call, of the verb %s, less than 2 min ago; send "
        "this %s under an id of its own",
        lapse_bytes_print(command->request, id, sizeof(id)), lapse_verb_word(row.request.verb),
        lapse_verb_word(command->verb));
    return true;
}

enum lapse_status lapse_request_note(struct lapse_job *job) {
    struct lapse_state *state = job->state;
    LAPSE_ASSERT(job->command->request.len > 0);
    if (state->txn.changes == 0) {
        return LAPSE_OK;
    }
    struct lapse_image image = {.present = true};
    struct lapse_span span = {LAPSE_REQUEST_SPAN_NS};
    enum lapse_status status = lapse_term_resolve_ttl(job, span, &image);
    if (status != LAPSE_OK) {
        return status;
    }
    if (image.span_ns != span.ns) {
        return lapse_error_set(job->err, LAPSE_RANGE,
                               "the call could not be remembered for 2 min, which end past the "
                               "range of time; send it without a request id");
    }
    size_t bytes = job->result->answer_count * ANSWER_BYTES;
    unsigned char *answers = bytes == 0 ? NULL : lapse_alloc_zero(state->alloc, bytes);
    if (bytes > 0 && answers == NULL) {
        return lapse_job_no_memory(job);
    }
    struct lapse_row row;
    fill_row(job, answers, &row);
    bool packed = lapse_request_pack(state->alloc, &row, &image);
    lapse_alloc_free(state->alloc, answers, bytes);
    return packed ? keep(job, &image) : lapse_job_no_memory(job);
}

/* Puts the answer into the row of the command's request id; takes over image->blob. */
static enum lapse_status keep(struct lapse_job *job, struct lapse_image *image) {
    struct lapse_state *state = job->state;
    struct lapse_bytes id = job->command->request;
    struct lapse_node *made = NULL;
    struct lapse_node *node = lapse_table_find(&state->requests, id);
    if (node == NULL) {
        node = made = lapse_node_make(state->alloc, LAPSE_ROW_REQUEST, id);
    }
    if (node == NULL || !lapse_txn_touch(state, node)) {
        lapse_node_free(state->alloc, made);
        lapse_alloc_free(state->alloc, image->blob, image->blob_len);
        return lapse_job_no_memory(job);
    }
    lapse_txn_set(state, node, image);
    return LAPSE_OK;
}

bool lapse_request_pack(const lapse_alloc *alloc, const struct lapse_row *row,
                        struct lapse_image *image) {
    struct lapse_row bare = *row;
    bare.key = (struct lapse_bytes){0};
    size_t len = 0;
    (void)lapse_row_encode(&bare, NULL, 0, &len);
    LAPSE_ASSERT(len <= LAPSE_VALUE_BYTES_MAX);
    image->blob = alloc->resize(alloc->ctx, NULL, 0, len);
    if (image->blob == NULL) {
        return false;
    }
    image->blob_len = (uint32_t)len;
    enum lapse_status status = lapse_row_encode(&bare, image->blob, len, &len);
    LAPSE_ASSERT(status == LAPSE_OK);
    return true;
}

void lapse_request_unpack(const struct lapse_image *image, struct lapse_row *ret) {
    enum lapse_status status = lapse_row_decode(lapse_image_blob(image), ret, NULL);
    LAPSE_ASSERT(status == LAPSE_OK);
}

bool lapse_request_answers_fit(enum lapse_verb verb, struct lapse_bytes answers) {
    size_t count = answers.len / ANSWER_BYTES;
    bool batch = verb == LAPSE_VERB_BATCH;
    if (answers.len % ANSWER_BYTES != 0 || (count > 0) != batch || count > LAPSE_BATCH_MAX) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        struct lapse_batch_answer answer;
        if (!read_answer(answers.data + i * ANSWER_BYTES, &answer)) {
            return false;
        }
    }
    return true;
}

bool lapse_request_is_kept(enum lapse_verb verb) {
    struct lapse_command command = {.verb = verb};
    return is_remembered(verb) && lapse_command_class(&command) == LAPSE_CLASS_LOG;
}

/* Log commands that the handle or its keeper makes have no client that could send them again. */
static bool is_remembered(enum lapse_verb verb) {
    return verb != LAPSE_VERB_REAP && verb != LAPSE_VERB_FLUSH && verb != LAPSE_VERB_MARK;
}

static enum lapse_status answer_again(struct lapse_job *job, const struct lapse_row *row) {
    struct lapse_result *result = job->result;
    size_t count = row->request.answers.len / ANSWER_BYTES;
    for (size_t i = 0; i < count; i++) {
        struct lapse_batch_answer answer;
        bool read = read_answer(row->request.answers.data + i * ANSWER_BYTES, &answer);
        LAPSE_ASSERT(read);
        answer.left = lapse_state_left(&job->now, answer.end);
        if (!lapse_result_answer(result, &answer)) {
            return lapse_job_no_memory(job);
        }
    }
    if (!lapse_result_owner(result, row->request.owner)) {
        return lapse_job_no_memory(job);
    }
    result->repeated = true;
    result->revision = row->request.revision;
    result->token = row->request.token;
    result->end = row->request.end;
    result->left = lapse_state_left(&job->now, result->end);
    return row->request.status;
}

/* What the call has answered, as a row that borrows from the result and from `answers`. */
static void fill_row(struct lapse_job *job, unsigned char *answers, struct lapse_row *ret) {
    const struct lapse_result *result = job->result;
    *ret = (struct lapse_row){.kind = LAPSE_ROW_REQUEST, .part = LAPSE_PART_DURABLE};
    ret->request.verb = job->command->verb;
    ret->request.digest = lapse_command_digest(job->command);
    ret->request.status = LAPSE_OK;
    ret->request.at = job->now.store;
    ret->request.revision = result->revision;
    ret->request.token = result->token;
    ret->request.end = result->end;
    ret->request.owner = result->owner;
    ret->request.answers.data = answers;
    ret->request.answers.len = result->answer_count * ANSWER_BYTES;
    for (size_t i = 0; i < result->answer_count; i++) {
        write_answer(&result->answers[i], answers + i * ANSWER_BYTES);
    }
}

/* One answer of a batch: verb, status, revision, token, kind of end, end. */
static void write_answer(const struct lapse_batch_answer *answer, unsigned char *to) {
    LAPSE_ASSERT(answer->status >= LAPSE_OK);
    to[0] = (unsigned char)answer->verb;
    to[1] = (unsigned char)answer->status;
    write_i64(answer->revision, to + 2);
    write_i64(answer->token, to + 10);
    to[18] = (unsigned char)answer->end.kind;
    write_i64(answer->end.ns, to + 19);
}

static bool read_answer(const unsigned char *from, struct lapse_batch_answer *ret) {
    ret->verb = (enum lapse_verb)from[0];
    ret->status = (enum lapse_status)from[1];
    ret->revision = read_i64(from + 2);
    ret->token = read_i64(from + 10);
    ret->end.kind = (enum lapse_end_kind)from[18];
    ret->end.ns = read_i64(from + 19);
    ret->left = (struct lapse_span){0};
    return lapse_request_is_kept(ret->verb) && ret->verb != LAPSE_VERB_BATCH &&
           from[1] == LAPSE_OK && from[18] <= LAPSE_END_WALL && ret->revision >= 0 &&
           ret->token >= 0;
}

/* Little endian, two's complement. */
static void write_i64(int64_t value, unsigned char *to) {
    uint64_t bits = (uint64_t)value;
    for (int i = 0; i < 8; i++) {
        to[i] = (unsigned char)(bits >> (8 * i));
    }
}

static int64_t read_i64(const unsigned char *from) {
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++) {
        bits |= (uint64_t)from[i] << (8 * i);
    }
    return bits <= INT64_MAX ? (int64_t)bits : -(int64_t)(UINT64_MAX - bits) - 1;
}
