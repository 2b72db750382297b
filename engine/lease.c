/* Leases: locks with a term, and the fencing tokens of their grants.
 *
 * Every grant takes the next number of the store's one counter, so no name need be remembered for
 * its tokens to rise (FENCE-01). Extend and release look at what is live at that instant and touch
 * only the grant that their token, or without one their owner, names (LEASE-09). */
#include "decide.h"

static struct lapse_node *find_live(const struct lapse_job *job);
static enum lapse_status release_ended(struct lapse_job *job);
static enum lapse_status free_name(struct lapse_job *job, struct lapse_node *node);
static bool next_token(struct lapse_job *job, const struct lapse_node *node, int64_t *ret);
static void take_token(struct lapse_state *state, int64_t token);
static enum lapse_status no_token(const struct lapse_job *job);
static enum lapse_status resolve_end(struct lapse_job *job, struct lapse_image *image);
static enum lapse_status grant(struct lapse_job *job, struct lapse_image *image);

enum lapse_status lapse_lease_acquire(struct lapse_job *job) {
    const struct lapse_command *command = job->command;
    struct lapse_image image = {.present = true};
    enum lapse_status status = resolve_end(job, &image);
    if (status == LAPSE_OK) {
        status = lapse_session_join(job, command->u.lease.session, &image);
    }
    if (status != LAPSE_OK) {
        return status;
    }
    struct lapse_node *live = find_live(job);
    if (live == NULL) {
        return grant(job, &image);
    }
    if (lapse_decide_owner_again(job->state) &&
        lapse_bytes_equal(lapse_image_blob(&live->now), command->u.lease.owner)) {
        /* The live owner asks again: the same token, what is left, and no change (LEASE-08). */
        job->result->renewed = true;
        return lapse_lease_show(job, &live->now, LAPSE_OK);
    }
    return lapse_lease_show(job, &live->now, LAPSE_HELD);
}

enum lapse_status lapse_lease_extend(struct lapse_job *job) {
    struct lapse_image timed = {0};
    enum lapse_status status = resolve_end(job, &timed);
    if (status != LAPSE_OK) {
        return status;
    }
    struct lapse_node *live = find_live(job);
    if (live == NULL) {
        return LAPSE_LOST;
    }
    if (!lapse_lease_named(job, live)) {
        return LAPSE_NOT_OWNER;
    }
    int64_t token = live->now.revision;
    if (lapse_decide_extend_takes_token(job->state) && !next_token(job, live, &token)) {
        return no_token(job);
    }
    if (!lapse_txn_touch(job->state, live)) {
        return lapse_job_no_memory(job);
    }
    /* Owner and token stay (FENCE-02), unless each write of a name takes a token of its own. A
     * lease of a session gets a term of its own and leaves the session, as a key does that is given
     * one: the end is what this call says (LEASE-06). */
    struct lapse_image image = timed;
    image.present = true;
    image.revision = token;
    image.blob = live->now.blob;
    image.blob_len = live->now.blob_len;
    take_token(job->state, token);
    lapse_txn_set(job->state, live, &image);
    return lapse_lease_show(job, &image, LAPSE_OK);
}

enum lapse_status lapse_lease_release(struct lapse_job *job) {
    struct lapse_node *live = find_live(job);
    if (live == NULL) {
        return release_ended(job);
    }
    return lapse_lease_named(job, live) ? free_name(job, live) : LAPSE_NOT_OWNER;
}

enum lapse_status lapse_lease_inspect(struct lapse_job *job) {
    struct lapse_node *live = find_live(job);
    return live == NULL ? LAPSE_ABSENT : lapse_lease_show(job, &live->now, LAPSE_OK);
}

enum lapse_status lapse_lease_over(struct lapse_job *job, struct lapse_node *node) {
    struct lapse_image over = {.revision = node->now.revision, .present = true};
    if (!lapse_txn_touch(job->state, node)) {
        return lapse_job_no_memory(job);
    }
    if (lapse_decide_releases_ended(job->state)) {
        over.blob = node->now.blob;
        over.blob_len = node->now.blob_len;
    }
    lapse_txn_set(job->state, node, &over);
    return LAPSE_OK;
}

bool lapse_lease_held(const struct lapse_job *job) {
    return find_live(job) != NULL;
}

bool lapse_lease_named(const struct lapse_job *job, const struct lapse_node *node) {
    const struct lapse_command *command = job->command;
    if (command->u.lease.has_token) {
        return node->now.revision == command->u.lease.token;
    }
    return lapse_bytes_equal(lapse_image_blob(&node->now), command->u.lease.owner);
}

enum lapse_status lapse_lease_show(struct lapse_job *job, const struct lapse_image *image,
                                   enum lapse_status status) {
    struct lapse_result *result = job->result;
    if (!lapse_result_owner(result, lapse_image_blob(image))) {
        return lapse_job_no_memory(job);
    }
    result->token = status == LAPSE_HELD ? 0 : image->revision;
    result->end = lapse_state_end(image);
    result->left = lapse_state_left(&job->now, result->end);
    return status;
}

static struct lapse_node *find_live(const struct lapse_job *job) {
    struct lapse_node *node = lapse_table_find(&job->state->leases, job->command->key);
    bool granted = node != NULL && lapse_image_timed(&node->now);
    return granted && lapse_state_live(node, &job->now) ? node : NULL;
}

/* Nothing is live under the name. */
static enum lapse_status release_ended(struct lapse_job *job) {
    struct lapse_node *node = lapse_table_find(&job->state->leases, job->command->key);
    if (!lapse_decide_releases_ended(job->state) || node == NULL || node->now.blob_len == 0) {
        return lapse_decide_nothing_to_release(job->state);
    }
    return lapse_lease_named(job, node) ? free_name(job, node) : LAPSE_NOT_OWNER;
}

/* Nobody holds the name any more; where tokens are counted by name, the last one stays. */
static enum lapse_status free_name(struct lapse_job *job, struct lapse_node *node) {
    if (!lapse_txn_touch(job->state, node)) {
        return lapse_job_no_memory(job);
    }
    if (!lapse_decide_token_by_name(job->state, LAPSE_PERSISTENT)) {
        lapse_txn_remove(job->state, node);
        return LAPSE_OK;
    }
    struct lapse_image unowned = {.revision = node->now.revision, .present = true};
    lapse_txn_set(job->state, node, &unowned);
    return LAPSE_OK;
}

/* The token of the next grant; false: the last one has been given. */
static bool next_token(struct lapse_job *job, const struct lapse_node *node, int64_t *ret) {
    int64_t last = job->state->token;
    if (lapse_decide_token_by_name(job->state, LAPSE_PERSISTENT)) {
        last = node == NULL ? -1 : node->now.revision;
    }
    if (last == INT64_MAX) {
        return false;
    }
    *ret = last + 1;
    return true;
}

/* The end of a lease asked for now: a ttl like any other, or a session's. */
static enum lapse_status resolve_end(struct lapse_job *job, struct lapse_image *image) {
    static const struct lapse_term none = {0};
    const struct lapse_command *command = job->command;
    if (command->verb == LAPSE_VERB_ACQUIRE && command->u.lease.session.len > 0) {
        struct lapse_term term = {.given = LAPSE_TERM_SESSION,
                                  .session = command->u.lease.session};
        return lapse_term_resolve(job, &term, &none, image);
    }
    return lapse_term_resolve_ttl(job, command->u.lease.span, image);
}

/* A new holder: the name is free or its last grant has ended. */
static enum lapse_status grant(struct lapse_job *job, struct lapse_image *image) {
    struct lapse_state *state = job->state;
    struct lapse_node *made = NULL;
    struct lapse_node *node = lapse_table_find(&state->leases, job->command->key);
    if (!next_token(job, node, &image->revision)) {
        return no_token(job);
    }
    if (!lapse_image_copy_blob(state->alloc, image, job->command->u.lease.owner)) {
        return lapse_job_no_memory(job);
    }
    if (node == NULL) {
        made = node = lapse_node_make(state->alloc, LAPSE_ROW_LEASE, job->command->key);
    }
    if (node == NULL || lapse_lease_show(job, image, LAPSE_OK) != LAPSE_OK ||
        !lapse_state_reserve_end(state, image) || !lapse_txn_touch(state, node)) {
        lapse_node_free(state->alloc, made);
        lapse_alloc_free(state->alloc, image->blob, image->blob_len);
        return lapse_job_no_memory(job);
    }
    take_token(state, image->revision);
    lapse_txn_set(state, node, image);
    return LAPSE_OK;
}

/* The store's counter stands at the last token given, where it counts them. */
static void take_token(struct lapse_state *state, int64_t token) {
    if (!lapse_decide_token_by_name(state, LAPSE_PERSISTENT) && token > state->token) {
        state->token = token;
    }
}

static enum lapse_status no_token(const struct lapse_job *job) {
    return lapse_error_set(job->err, LAPSE_RANGE,
                           "the store has given its last fencing token; no lease can be %s",
                           job->command->verb == LAPSE_VERB_EXTEND ? "extended" : "granted");
}
