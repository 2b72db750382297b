/* Ephemeral leases: held in the tenure alone, gone with the handle (DUR-05).
 *
 * A name has one holder whatever the durability (LEASE-01), so a lease command looks here first: is
 * an ephemeral lease live under the name, then the tenure answers, else the log does. Nothing here
 * is on the undo list: each call reserves all that it needs, fills the answer, and only then
 * changes, which cannot fail. */
#include "ephemeral.h"

enum { MESSAGE_BYTES = 80 };

static bool names_lease(enum lapse_verb verb);
static bool names_grant(const struct lapse_job *job, const struct lapse_node *node);
static enum lapse_status acquire(struct lapse_job *job, struct lapse_node *live);
static enum lapse_status grant(struct lapse_job *job, struct lapse_image *image);
static enum lapse_status extend(struct lapse_job *job, struct lapse_node *live);
static enum lapse_status resolve_end(struct lapse_job *job, struct lapse_image *image);
static struct lapse_node *make(struct lapse_state *state, struct lapse_bytes name,
                               struct lapse_bytes owner, struct lapse_image *image);
static void link_node(struct lapse_state *state, struct lapse_node *node);
static void drop(struct lapse_state *state, struct lapse_node *node);
static enum lapse_status show(struct lapse_job *job, const struct lapse_image *image,
                              enum lapse_status status);
static enum lapse_status no_memory(struct lapse_job *job);

struct lapse_node *lapse_ephemeral_find(const struct lapse_state *state, struct lapse_bytes name,
                                        const struct lapse_now *now) {
    struct lapse_node *node = lapse_table_find(&state->ephemeral.names, name);
    return node != NULL && now->store.ns < node->now.end_ns ? node : NULL;
}

enum lapse_class lapse_ephemeral_class(const struct lapse_job *job) {
    const struct lapse_command *command = job->command;
    enum lapse_class klass = lapse_command_class(command);
    if (klass != LAPSE_CLASS_LOG) {
        return klass;
    }
    bool decides = names_lease(command->verb) &&
                   lapse_ephemeral_find(job->state, command->key, &job->now) != NULL;
    for (size_t i = 0; command->verb == LAPSE_VERB_BATCH && i < command->u.batch.count; i++) {
        const struct lapse_command *call = &command->u.batch.commands[i];
        decides = decides || (names_lease(call->verb) &&
                              lapse_ephemeral_find(job->state, call->key, &job->now) != NULL);
    }
    return decides ? LAPSE_CLASS_LOCAL : LAPSE_CLASS_LOG;
}

int64_t lapse_ephemeral_token(const struct lapse_state *state) {
    return state->ephemeral.token > state->token ? state->ephemeral.token : state->token;
}

bool lapse_ephemeral_grants(const struct lapse_job *job) {
    return job->command->verb == LAPSE_VERB_ACQUIRE && lapse_ephemeral_takes(job) &&
           lapse_ephemeral_find(job->state, job->command->key, &job->now) == NULL;
}

bool lapse_ephemeral_takes(const struct lapse_job *job) {
    const struct lapse_command *command = job->command;
    if (!names_lease(command->verb)) {
        return false;
    }
    if (lapse_ephemeral_find(job->state, command->key, &job->now) != NULL) {
        return true;
    }
    /* A name that is held durably: the lease of the log answers, and nothing is granted. */
    return command->verb == LAPSE_VERB_ACQUIRE &&
           command->u.lease.durability == LAPSE_EPHEMERAL && !lapse_lease_held(job);
}

enum lapse_status lapse_ephemeral_run(struct lapse_job *job) {
    struct lapse_node *live = lapse_ephemeral_find(job->state, job->command->key, &job->now);
    if (job->command->verb == LAPSE_VERB_ACQUIRE) {
        return acquire(job, live);
    }
    LAPSE_ASSERT(live != NULL);
    if (job->command->verb == LAPSE_VERB_INSPECT) {
        return show(job, &live->now, LAPSE_OK);
    }
    if (job->command->verb == LAPSE_VERB_EXTEND) {
        return extend(job, live);
    }
    if (!names_grant(job, live)) {
        return LAPSE_NOT_OWNER;
    }
    drop(job->state, live);
    return LAPSE_OK;
}

size_t lapse_ephemeral_reap(struct lapse_state *state, const struct lapse_now *now,
                            size_t rows_max) {
    struct lapse_wheel *ends = &state->ephemeral.ends;
    size_t count = 0;
    int64_t end = 0;
    while (count < rows_max && lapse_wheel_min(ends, &end) && end <= now->store.ns) {
        drop(state, lapse_wheel_first(ends));
        count++;
    }
    return count;
}

enum lapse_status lapse_ephemeral_walk(const struct lapse_state *state, lapse_row_visit visit,
                                       void *ctx, bool *ret_memory) {
    const struct lapse_table *names = &state->ephemeral.names;
    enum lapse_status status = LAPSE_OK;
    struct lapse_node **nodes = NULL;
    *ret_memory = true;
    if (state->ephemeral.token > 0) {
        struct lapse_row row = {.kind = LAPSE_ROW_COUNTER, .part = LAPSE_PART_TENURE};
        row.key = lapse_bytes_of("token");
        row.revision = state->ephemeral.token;
        status = visit(ctx, &row);
    }
    if (status == LAPSE_OK && !lapse_table_sorted(state->alloc, names, &nodes)) {
        *ret_memory = false;
        return LAPSE_NOMEM;
    }
    for (size_t i = 0; status == LAPSE_OK && i < names->count; i++) {
        struct lapse_row row;
        lapse_node_row(state, nodes[i], &nodes[i]->now, &row);
        row.part = LAPSE_PART_TENURE;
        row.lease.durability = LAPSE_EPHEMERAL;
        status = visit(ctx, &row);
    }
    lapse_alloc_free(state->alloc, nodes, names->count * sizeof(struct lapse_node *));
    return status;
}

enum lapse_status lapse_ephemeral_load(struct lapse_state *state, const struct lapse_row *row) {
    if (row->kind == LAPSE_ROW_COUNTER) {
        if (!lapse_bytes_equal(row->key, lapse_bytes_of("token")) || row->revision < 1 ||
            state->ephemeral.token != 0) {
            return LAPSE_CORRUPT;
        }
        state->ephemeral.token = row->revision;
        return LAPSE_OK;
    }
    int64_t last = 0;
    struct lapse_image image = {.revision = row->lease.token,
                                .end_kind = LAPSE_END_STEADY,
                                .end_ns = row->lease.end.ns,
                                .span_ns = row->lease.span.ns,
                                .source = LAPSE_SOURCE_OWN,
                                .present = true};
    if (row->key.len == 0 || row->lease.owner.len == 0 ||
        row->lease.owner.len > LAPSE_OWNER_BYTES_MAX ||
        row->lease.durability != LAPSE_EPHEMERAL || row->lease.end.kind != LAPSE_END_STEADY ||
        image.revision < 1 || image.revision > state->ephemeral.token || image.span_ns <= 0 ||
        !lapse_ns_sub(image.end_ns, image.span_ns, &last) || last < 0 ||
        last > state->last.store.ns ||
        lapse_table_find(&state->ephemeral.names, row->key) != NULL) {
        return LAPSE_CORRUPT;
    }
    struct lapse_node *node = make(state, row->key, row->lease.owner, &image);
    if (node == NULL) {
        return LAPSE_NOMEM;
    }
    link_node(state, node);
    return LAPSE_OK;
}

enum lapse_status lapse_ephemeral_check(const struct lapse_state *state, struct lapse_error *err) {
    const struct lapse_ephemeral *ephemeral = &state->ephemeral;
    enum lapse_status status = lapse_table_check(&ephemeral->names, err);
    if (status == LAPSE_OK) {
        status = lapse_wheel_check(&ephemeral->ends, err);
    }
    if (status == LAPSE_OK && ephemeral->names.count != ephemeral->ends.count) {
        return lapse_error_set(err, LAPSE_BUG,
                               "%zu ephemeral leases have a name and %zu an end (S9)",
                               ephemeral->names.count, ephemeral->ends.count);
    }
    const struct lapse_node *node = lapse_table_any(&ephemeral->names);
    for (; node != NULL && status == LAPSE_OK; node = lapse_table_after(&ephemeral->names, node)) {
        if (!node->placed || node->now.revision < 1 || node->now.revision > ephemeral->token ||
            node->now.blob_len == 0) {
            char name[MESSAGE_BYTES];
            status = lapse_error_set(
                err, LAPSE_BUG,
                "the ephemeral lease `%s` has no owner, or a token never given (S9)",
                lapse_bytes_print(lapse_node_key(node), name, sizeof(name)));
        }
    }
    return status;
}

void lapse_ephemeral_finish(struct lapse_state *state) {
    struct lapse_node *node = lapse_wheel_first(&state->ephemeral.ends);
    for (; node != NULL; node = lapse_wheel_first(&state->ephemeral.ends)) {
        drop(state, node);
    }
    lapse_wheel_finish(state->alloc, &state->ephemeral.ends);
    lapse_table_finish(state->alloc, &state->ephemeral.names);
}

static bool names_lease(enum lapse_verb verb) {
    return verb == LAPSE_VERB_ACQUIRE || verb == LAPSE_VERB_EXTEND || verb == LAPSE_VERB_RELEASE ||
           verb == LAPSE_VERB_INSPECT;
}

static bool names_grant(const struct lapse_job *job, const struct lapse_node *node) {
    const struct lapse_command *command = job->command;
    if (command->u.lease.has_token) {
        return node->now.revision == command->u.lease.token;
    }
    return lapse_bytes_equal(lapse_image_blob(&node->now), command->u.lease.owner);
}

static enum lapse_status acquire(struct lapse_job *job, struct lapse_node *live) {
    struct lapse_image image = {.present = true};
    enum lapse_status status = resolve_end(job, &image);
    if (status != LAPSE_OK) {
        return status;
    }
    if (live == NULL) {
        return grant(job, &image);
    }
    if (lapse_bytes_equal(lapse_image_blob(&live->now), job->command->u.lease.owner)) {
        job->result->renewed = true;
        return show(job, &live->now, LAPSE_OK);
    }
    return show(job, &live->now, LAPSE_HELD);
}

static enum lapse_status grant(struct lapse_job *job, struct lapse_image *image) {
    struct lapse_state *state = job->state;
    int64_t token = lapse_ephemeral_token(state);
    if (token == INT64_MAX) {
        return lapse_error_set(job->err, LAPSE_RANGE,
                               "the store has given its last fencing token; "
                               "no lease can be granted");
    }
    image->revision = token + 1;
    struct lapse_node *node = make(state, job->command->key, job->command->u.lease.owner, image);
    if (node == NULL) {
        return no_memory(job);
    }
    if (show(job, &node->now, LAPSE_OK) != LAPSE_OK) {
        lapse_node_free(state->alloc, node);
        return no_memory(job);
    }
    struct lapse_node *ended = lapse_table_find(&state->ephemeral.names, job->command->key);
    if (ended != NULL) {
        drop(state, ended);
    }
    state->ephemeral.token = image->revision;
    link_node(state, node);
    return LAPSE_OK;
}

static enum lapse_status extend(struct lapse_job *job, struct lapse_node *live) {
    struct lapse_wheel *ends = &job->state->ephemeral.ends;
    struct lapse_image timed = {0};
    enum lapse_status status = resolve_end(job, &timed);
    if (status != LAPSE_OK) {
        return status;
    }
    if (!names_grant(job, live)) {
        return LAPSE_NOT_OWNER;
    }
    struct lapse_image image = live->now;
    image.end_ns = timed.end_ns;
    image.span_ns = timed.span_ns;
    status = show(job, &image, LAPSE_OK);
    if (status == LAPSE_OK) {
        lapse_wheel_remove(ends, live);
        live->now = image;
        lapse_wheel_insert(ends, live);
        lapse_wheel_settle(ends);
    }
    return status;
}

/* The end of a lease asked for now: a ttl like any other. */
static enum lapse_status resolve_end(struct lapse_job *job, struct lapse_image *image) {
    static const struct lapse_term none = {0};
    struct lapse_term term = {.given = LAPSE_TERM_TTL, .ttl = job->command->u.lease.span};
    return lapse_term_resolve(&term, &none, &job->now, image, job->err);
}

/* A node outside the table with room kept for it, or NULL when memory runs out. */
static struct lapse_node *make(struct lapse_state *state, struct lapse_bytes name,
                               struct lapse_bytes owner, struct lapse_image *image) {
    if (!lapse_table_reserve(state->alloc, &state->ephemeral.names) ||
        !lapse_wheel_reserve(state->alloc, &state->ephemeral.ends)) {
        return NULL;
    }
    struct lapse_node *node = lapse_node_make(state->alloc, LAPSE_ROW_LEASE, name);
    if (node != NULL && !lapse_image_copy_blob(state->alloc, image, owner)) {
        lapse_node_free(state->alloc, node);
        return NULL;
    }
    if (node != NULL) {
        node->now = *image;
    }
    return node;
}

static void link_node(struct lapse_state *state, struct lapse_node *node) {
    lapse_table_link(&state->ephemeral.names, node);
    lapse_wheel_insert(&state->ephemeral.ends, node);
}

static void drop(struct lapse_state *state, struct lapse_node *node) {
    lapse_wheel_remove(&state->ephemeral.ends, node);
    lapse_wheel_settle(&state->ephemeral.ends);
    lapse_table_unlink(&state->ephemeral.names, node);
    lapse_node_free(state->alloc, node);
}

/* Fills owner, end and left, and the token unless another holds the name. */
static enum lapse_status show(struct lapse_job *job, const struct lapse_image *image,
                              enum lapse_status status) {
    struct lapse_result *result = job->result;
    if (!lapse_result_owner(result, lapse_image_blob(image))) {
        return no_memory(job);
    }
    result->token = status == LAPSE_HELD ? 0 : image->revision;
    result->end = lapse_image_end(image);
    result->left = lapse_state_left(&job->now, result->end);
    return status;
}

static enum lapse_status no_memory(struct lapse_job *job) {
    return lapse_error_set(job->err, LAPSE_NOMEM, "%s: memory ran out; nothing was changed",
                           lapse_verb_word(job->command->verb));
}
