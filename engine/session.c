/* Sessions: one term that many rows share.
 *
 * A row written with a session has no end of its own: it asks its session, so a keepalive or a
 * close touches one row and moves the end of all that hangs on it at once. What points to a session
 * points to one incarnation, numbered by a counter of the store; the next one of the same name is
 * another session, whatever the old one has left for the reaper. */
#include "state.h"

static struct lapse_node *newest(const struct lapse_state *state, struct lapse_bytes name);
static bool owned(const struct lapse_job *job, const struct lapse_session *session);
static enum lapse_status open_new(struct lapse_job *job, const struct lapse_image *timed);
static enum lapse_status resolve_end(struct lapse_job *job, struct lapse_span span,
                                     struct lapse_image *ret);
static enum lapse_status retime(struct lapse_job *job, struct lapse_session *session,
                                const struct lapse_image *timed);
static void tell(struct lapse_job *job, const struct lapse_session *session);

struct lapse_session *lapse_session_make(struct lapse_state *state, struct lapse_bytes name,
                                         int64_t id) {
    const lapse_alloc *alloc = state->alloc;
    struct lapse_node *row = lapse_node_make(alloc, LAPSE_ROW_SESSION, name);
    struct lapse_session *session = lapse_alloc_zero(alloc, sizeof(*session));
    if (row == NULL || session == NULL) {
        lapse_node_free(alloc, row);
        lapse_alloc_free(alloc, session, sizeof(*session));
        return NULL;
    }
    session->row = row;
    session->id = id;
    session->members.buckets = &state->by_index;
    row->now.aux.session = session;
    return session;
}

void lapse_session_free(const lapse_alloc *alloc, struct lapse_session *session) {
    if (session == NULL) {
        return;
    }
    LAPSE_ASSERT(session->members.count == 0);
    lapse_heap_finish(alloc, &session->members);
    lapse_node_free(alloc, session->row);
    lapse_alloc_free(alloc, session, sizeof(*session));
}

struct lapse_session *lapse_session_find(const struct lapse_state *state, struct lapse_bytes name,
                                         const struct lapse_now *now) {
    struct lapse_node *node = newest(state, name);
    return node != NULL && lapse_state_live(node, now) ? node->now.aux.session : NULL;
}

struct lapse_node *lapse_session_lead(const struct lapse_session *session) {
    return session->members.count > 0 ? session->members.items[0] : session->row;
}

enum lapse_status lapse_session_join(const struct lapse_job *job, struct lapse_bytes name,
                                     struct lapse_image *image) {
    if (image->source != LAPSE_SOURCE_SESSION) {
        return LAPSE_OK;
    }
    image->aux.session = lapse_session_find(job->state, name, &job->now);
    return image->aux.session == NULL ? LAPSE_LOST : LAPSE_OK;
}

enum lapse_status lapse_session_begin(struct lapse_job *job) {
    struct lapse_image timed = {0};
    enum lapse_status status = resolve_end(job, job->command->u.session.span, &timed);
    if (status != LAPSE_OK) {
        return status;
    }
    struct lapse_session *live = lapse_session_find(job->state, job->command->key, &job->now);
    if (live == NULL) {
        return open_new(job, &timed);
    }
    bool own = owned(job, live);
    if (!own && !lapse_result_owner(job->result, lapse_image_blob(&live->row->now))) {
        return lapse_job_no_memory(job);
    }
    tell(job, live);
    job->result->renewed = own;
    /* A refusal carries no number by which the other's session could be taken for one's own. */
    job->result->token = own ? live->id : 0;
    return own ? LAPSE_OK : LAPSE_HELD;
}

enum lapse_status lapse_session_keep(struct lapse_job *job) {
    struct lapse_span span = job->command->u.session.span;
    struct lapse_session *live = lapse_session_find(job->state, job->command->key, &job->now);
    bool lost = live == NULL || !owned(job, live);
    if (span.ns == 0 && !lost) {
        span.ns = live->row->now.span_ns;
    }
    struct lapse_image timed = {0};
    if (span.ns != 0) {
        enum lapse_status status = resolve_end(job, span, &timed);
        if (status != LAPSE_OK) {
            return status;
        }
    }
    return lost ? LAPSE_LOST : retime(job, live, &timed);
}

enum lapse_status lapse_session_end(struct lapse_job *job) {
    struct lapse_session *live = lapse_session_find(job->state, job->command->key, &job->now);
    if (live == NULL || !owned(job, live)) {
        return LAPSE_LOST;
    }
    if (!lapse_txn_touch(job->state, live->row)) {
        return lapse_job_no_memory(job);
    }
    /* The row stays until the reaper has taken what hangs on it. */
    struct lapse_image image = live->row->now;
    image.end_ns = job->now.due_ns;
    lapse_txn_set(job->state, live->row, &image);
    return LAPSE_OK;
}

/* The last incarnation of a name: no other can be live. */
static struct lapse_node *newest(const struct lapse_state *state, struct lapse_bytes name) {
    struct lapse_node *found = lapse_table_find(&state->sessions, name);
    struct lapse_node *node = found;
    for (; node != NULL; node = node->next) {
        if (node->now.revision > found->now.revision &&
            lapse_bytes_equal(lapse_node_key(node), name)) {
            found = node;
        }
    }
    return found;
}

static bool owned(const struct lapse_job *job, const struct lapse_session *session) {
    return lapse_bytes_equal(lapse_image_blob(&session->row->now), job->command->u.session.owner);
}

static enum lapse_status open_new(struct lapse_job *job, const struct lapse_image *timed) {
    struct lapse_state *state = job->state;
    if (state->session == INT64_MAX) {
        return lapse_error_set(job->err, LAPSE_RANGE,
                               "the store has given its last session number; no session can be "
                               "opened");
    }
    struct lapse_session *session =
        lapse_session_make(state, job->command->key, state->session + 1);
    struct lapse_image image = *timed;
    if (session == NULL ||
        !lapse_image_copy_blob(state->alloc, &image, job->command->u.session.owner)) {
        lapse_session_free(state->alloc, session);
        return lapse_job_no_memory(job);
    }
    image.present = true;
    image.revision = session->id;
    image.aux.session = session;
    if (!lapse_txn_touch(state, session->row)) {
        lapse_alloc_free(state->alloc, image.blob, image.blob_len);
        lapse_session_free(state->alloc, session);
        return lapse_job_no_memory(job);
    }
    state->session++;
    lapse_txn_set(state, session->row, &image);
    tell(job, session);
    return LAPSE_OK;
}

/* The end of a session asked for now: a ttl like any other. */
static enum lapse_status resolve_end(struct lapse_job *job, struct lapse_span span,
                                     struct lapse_image *ret) {
    return lapse_term_resolve_ttl(job, span, ret);
}

static enum lapse_status retime(struct lapse_job *job, struct lapse_session *session,
                                const struct lapse_image *timed) {
    if (!lapse_txn_touch(job->state, session->row)) {
        return lapse_job_no_memory(job);
    }
    struct lapse_image image = session->row->now;
    image.end_ns = timed->end_ns;
    image.span_ns = timed->span_ns;
    lapse_txn_set(job->state, session->row, &image);
    tell(job, session);
    return LAPSE_OK;
}

static void tell(struct lapse_job *job, const struct lapse_session *session) {
    job->result->token = session->id;
    job->result->end = lapse_image_end(&session->row->now);
    job->result->left = lapse_state_left(&job->now, job->result->end);
}
