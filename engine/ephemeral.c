/* Ephemeral leases: held in the tenure alone, gone with the handle (DUR-05).
 *
 * A name has one holder whatever the durability (LEASE-01), so a lease command looks here first: is
 * an ephemeral lease live under the name, then the tenure answers, else the log does. Nothing here
 * is on the undo list: each call reserves all that it needs, fills the answer, and only then
 * changes, which cannot fail. */
#include "ephemeral.h"

#include "decide.h"

enum { MESSAGE_BYTES = 80 };

static bool decides(const struct lapse_state *state, const struct lapse_command *command,
                    const struct lapse_now *now);
static enum lapse_status answer(struct lapse_job *job);
static void count_message(struct lapse_job *job);
static void drop_unused(struct lapse_state *state, const struct lapse_now *now);
static void over(struct lapse_state *state, struct lapse_node *node, bool owned);
static bool next_token(const struct lapse_state *state, const struct lapse_node *node,
                       int64_t *ret);
static enum lapse_status release(struct lapse_job *job, struct lapse_node *node,
                                 const struct lapse_node *live);
static enum lapse_status load_counter(struct lapse_state *state, const struct lapse_row *row);
static bool names_lease(enum lapse_verb verb);
static enum lapse_status acquire(struct lapse_job *job, struct lapse_node *live);
static enum lapse_status grant(struct lapse_job *job, struct lapse_image *image);
static enum lapse_status extend(struct lapse_job *job, struct lapse_node *live);
static enum lapse_status resolve_end(struct lapse_job *job, struct lapse_image *image);
static struct lapse_node *make(struct lapse_state *state, struct lapse_bytes name,
                               struct lapse_bytes owner, struct lapse_image *image);
static void link_node(struct lapse_state *state, struct lapse_node *node);
static void drop(struct lapse_state *state, struct lapse_node *node);

struct lapse_node *lapse_ephemeral_find(const struct lapse_state *state, struct lapse_bytes name,
                                        const struct lapse_now *now) {
    struct lapse_node *node = lapse_table_find(&state->ephemeral.names, name);
    return node != NULL && node->placed && now->due_ns < node->now.end_ns ? node : NULL;
}

enum lapse_class lapse_ephemeral_decides(const struct lapse_job *job) {
    const struct lapse_command *command = job->command;
    bool local = decides(job->state, command, &job->now);
    for (size_t i = 0; command->verb == LAPSE_VERB_BATCH && i < command->u.batch.count; i++) {
        local = local || decides(job->state, &command->u.batch.commands[i], &job->now);
    }
    return local ? LAPSE_CLASS_LOCAL : LAPSE_CLASS_LOG;
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
    if (decides(job->state, command, &job->now)) {
        return true;
    }
    if (lapse_decide_independent(job->state)) {
        return false;
    }
    /* A name that is held durably: the lease of the log answers, and nothing is granted. */
    return command->verb == LAPSE_VERB_ACQUIRE &&
           command->u.lease.durability == LAPSE_EPHEMERAL && !lapse_lease_held(job);
}

enum lapse_status lapse_ephemeral_run(struct lapse_job *job) {
    enum lapse_status status = answer(job);
    if (status >= LAPSE_OK) {
        count_message(job);
    }
    return status;
}

static enum lapse_status answer(struct lapse_job *job) {
    struct lapse_node *node = lapse_table_find(&job->state->ephemeral.names, job->command->key);
    struct lapse_node *live = lapse_ephemeral_find(job->state, job->command->key, &job->now);
    switch (job->command->verb) {
    case LAPSE_VERB_ACQUIRE:
        return acquire(job, live);
    case LAPSE_VERB_EXTEND:
        return extend(job, live);
    case LAPSE_VERB_RELEASE:
        return release(job, node, live);
    default:
        break;
    }
    if (live == NULL) {
        return LAPSE_ABSENT;
    }
    enum lapse_status status = lapse_lease_show(job, &live->now, LAPSE_OK);
    live->now.aux.used_ns = status == LAPSE_OK ? job->now.store.ns : live->now.aux.used_ns;
    return status;
}

size_t lapse_ephemeral_reap(struct lapse_state *state, const struct lapse_now *now,
                            size_t rows_max) {
    struct lapse_wheel *ends = &state->ephemeral.ends;
    struct lapse_node *first = NULL;
    size_t work = lapse_reap_work(rows_max);
    size_t count = 0;
    while (count < rows_max && lapse_wheel_first(ends, now->due_ns, &work, &first) &&
           first != NULL) {
        over(state, first, lapse_decide_releases_ended(state));
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
    if (state->ephemeral.messages > 0) {
        struct lapse_row row;
        lapse_state_counter_row("messages", state->ephemeral.messages, &row);
        row.part = LAPSE_PART_TENURE;
        status = visit(ctx, &row);
    }
    if (status == LAPSE_OK && state->ephemeral.token > 0) {
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
        row.mark.store.ns = nodes[i]->now.aux.used_ns;
        status = visit(ctx, &row);
    }
    lapse_alloc_free(state->alloc, nodes, names->count * sizeof(struct lapse_node *));
    return status;
}

enum lapse_status lapse_ephemeral_load(struct lapse_state *state, const struct lapse_row *row) {
    if (row->kind == LAPSE_ROW_COUNTER) {
        return load_counter(state, row);
    }
    int64_t last = 0;
    bool by_name = lapse_decide_token_by_name(state, LAPSE_EPHEMERAL);
    bool gone = row->lease.end.kind == LAPSE_END_NONE && row->lease.end.ns == 0 &&
                row->lease.span.ns == 0 && lapse_decide_keeps_name(state, LAPSE_EPHEMERAL);
    struct lapse_image image = {.revision = row->lease.token,
                                .end_kind = (uint8_t)row->lease.end.kind,
                                .end_ns = row->lease.end.ns,
                                .span_ns = row->lease.span.ns,
                                .source = LAPSE_SOURCE_OWN,
                                .aux.used_ns = row->mark.store.ns,
                                .present = true};
    bool begun = image.end_kind == LAPSE_END_STEADY && image.span_ns > 0 &&
                 lapse_ns_sub(image.end_ns, image.span_ns, &last) && last >= 0 &&
                 (last <= state->last.store.ns || lapse_decide_time_returns(state));
    if (row->key.len == 0 || (row->lease.owner.len == 0 && !gone) ||
        row->lease.owner.len > LAPSE_OWNER_BYTES_MAX ||
        row->lease.durability != LAPSE_EPHEMERAL || !(begun || gone) ||
        image.revision < (by_name ? 0 : 1) ||
        (image.revision > state->ephemeral.token && !by_name) ||
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
    size_t placed = 0;
    bool by_name = lapse_decide_token_by_name(state, LAPSE_EPHEMERAL);
    bool keeps = lapse_decide_keeps_name(state, LAPSE_EPHEMERAL);
    if (status == LAPSE_OK && ephemeral->names.count != ephemeral->ends.count && !keeps) {
        return lapse_error_set(err, LAPSE_BUG,
                               "%zu ephemeral leases have a name and %zu an end (S9)",
                               ephemeral->names.count, ephemeral->ends.count);
    }
    const struct lapse_node *node = lapse_table_any(&ephemeral->names);
    for (; node != NULL && status == LAPSE_OK; node = lapse_table_after(&ephemeral->names, node)) {
        bool given = by_name ? node->now.revision >= 0
                             : node->now.revision >= 1 && node->now.revision <= ephemeral->token;
        placed += node->placed ? 1 : 0;
        if (node->placed != lapse_image_timed(&node->now) || !given ||
            ((!node->placed || node->now.blob_len == 0) && !keeps)) {
            char name[MESSAGE_BYTES];
            status = lapse_error_set(
                err, LAPSE_BUG,
                "the ephemeral lease `%s` has no owner, or a token never given (S9)",
                lapse_bytes_print(lapse_node_key(node), name, sizeof(name)));
        }
    }
    if (status == LAPSE_OK && placed != ephemeral->ends.count) {
        return lapse_error_set(err, LAPSE_BUG, "%zu ephemeral leases end and %zu are in the wheel "
                               "(S9)", placed, ephemeral->ends.count);
    }
    return status;
}

void lapse_ephemeral_finish(struct lapse_state *state) {
    struct lapse_node *node = lapse_table_any(&state->ephemeral.names);
    for (; node != NULL; node = lapse_table_any(&state->ephemeral.names)) {
        drop(state, node);
    }
    lapse_wheel_finish(state->alloc, &state->ephemeral.ends);
    lapse_table_finish(state->alloc, &state->ephemeral.names);
}

/* Whether the tenure answers whatever the log holds under the name. */
static bool decides(const struct lapse_state *state, const struct lapse_command *command,
                    const struct lapse_now *now) {
    if (!names_lease(command->verb)) {
        return false;
    }
    if (lapse_decide_independent(state)) {
        return command->u.lease.durability == LAPSE_EPHEMERAL;
    }
    return lapse_ephemeral_find(state, command->key, now) != NULL;
}

/* Counts a call where unused leases are dropped, and drops them when it is time. */
static void count_message(struct lapse_job *job) {
    struct lapse_state *state = job->state;
    if (!lapse_decide_drops_unused(state)) {
        return;
    }
    state->ephemeral.messages++;
    if (lapse_decide_looks_unused(state)) {
        drop_unused(state, &job->now);
    }
}

/* All that are unused go, so it does not matter which is found first. */
static void drop_unused(struct lapse_state *state, const struct lapse_now *now) {
    struct lapse_table *names = &state->ephemeral.names;
    struct lapse_node *node = lapse_table_any(names);
    while (node != NULL) {
        struct lapse_node *next = lapse_table_after(names, node);
        if (lapse_decide_unused(now, node->now.aux.used_ns)) {
            drop(state, node);
        }
        node = next;
    }
}

/* A lease is over: it is freed, or, where its name is remembered, it stays without an end; `owned`:
 * with its owner. */
static void over(struct lapse_state *state, struct lapse_node *node, bool owned) {
    if (!lapse_decide_token_by_name(state, LAPSE_EPHEMERAL) && !owned) {
        drop(state, node);
        return;
    }
    if (node->placed) {
        lapse_wheel_remove(&state->ephemeral.ends, node);
    }
    node->now.end_kind = LAPSE_END_NONE;
    node->now.end_ns = node->now.span_ns = 0;
    if (!owned) {
        lapse_alloc_free(state->alloc, node->now.blob, node->now.blob_len);
        node->now.blob = NULL;
        node->now.blob_len = 0;
    }
}

/* The token of the next grant; false: the last one has been given. */
static bool next_token(const struct lapse_state *state, const struct lapse_node *node,
                       int64_t *ret) {
    int64_t last = lapse_ephemeral_token(state);
    /* The last one is left to the log, whose counter this one may have to be raised to (C7). */
    int64_t most = INT64_MAX - 1;
    if (lapse_decide_token_by_name(state, LAPSE_EPHEMERAL)) {
        last = node == NULL ? -1 : node->now.revision;
        most = INT64_MAX;
    }
    if (last >= most) {
        return false;
    }
    *ret = last + 1;
    return true;
}

static enum lapse_status release(struct lapse_job *job, struct lapse_node *node,
                                 const struct lapse_node *live) {
    bool ended = live == NULL && node != NULL && node->now.blob_len > 0 &&
                 lapse_decide_releases_ended(job->state);
    if (live == NULL && !ended) {
        return lapse_decide_nothing_to_release(job->state);
    }
    if (!lapse_lease_named(job, node)) {
        return LAPSE_NOT_OWNER;
    }
    if (job->command->request.len > 0) {
        return lapse_request_unkept(job);
    }
    node->now.aux.used_ns = job->now.store.ns;
    over(job->state, node, false);
    return LAPSE_OK;
}

static enum lapse_status load_counter(struct lapse_state *state, const struct lapse_row *row) {
    bool messages = lapse_bytes_equal(row->key, lapse_bytes_of("messages"));
    int64_t *counter = messages ? &state->ephemeral.messages : &state->ephemeral.token;
    bool known = messages ? lapse_decide_drops_unused(state)
                          : lapse_bytes_equal(row->key, lapse_bytes_of("token"));
    if (!known || row->revision < 1 || *counter != 0) {
        return LAPSE_CORRUPT;
    }
    *counter = row->revision;
    return LAPSE_OK;
}

static bool names_lease(enum lapse_verb verb) {
    return verb == LAPSE_VERB_ACQUIRE || verb == LAPSE_VERB_EXTEND || verb == LAPSE_VERB_RELEASE ||
           verb == LAPSE_VERB_INSPECT;
}

static enum lapse_status acquire(struct lapse_job *job, struct lapse_node *live) {
    struct lapse_image image = {.present = true};
    struct lapse_bytes session = job->command->u.lease.session;
    if (session.len > 0 && lapse_session_find(job->state, session, &job->now) == NULL) {
        return LAPSE_LOST;
    }
    enum lapse_status status = session.len > 0 ? LAPSE_OK : resolve_end(job, &image);
    if (status != LAPSE_OK) {
        return status;
    }
    /* A lease that ends with a session is granted by the log: here one is only found held. */
    LAPSE_ASSERT(session.len == 0 || live != NULL);
    if (live == NULL) {
        return grant(job, &image);
    }
    if (lapse_decide_owner_again(job->state) &&
        lapse_bytes_equal(lapse_image_blob(&live->now), job->command->u.lease.owner)) {
        job->result->renewed = true;
        return lapse_lease_show(job, &live->now, LAPSE_OK);
    }
    return lapse_lease_show(job, &live->now, LAPSE_HELD);
}

static enum lapse_status grant(struct lapse_job *job, struct lapse_image *image) {
    struct lapse_state *state = job->state;
    struct lapse_node *ended = lapse_table_find(&state->ephemeral.names, job->command->key);
    if (!next_token(state, ended, &image->revision)) {
        return lapse_error_set(job->err, LAPSE_RANGE,
                               "the store has given its last fencing token; "
                               "no lease can be granted");
    }
    image->aux.used_ns = job->now.store.ns;
    struct lapse_node *node = make(state, job->command->key, job->command->u.lease.owner, image);
    if (node == NULL) {
        return lapse_job_no_memory(job);
    }
    if (lapse_lease_show(job, &node->now, LAPSE_OK) != LAPSE_OK) {
        lapse_node_free(state->alloc, node);
        return lapse_job_no_memory(job);
    }
    if (ended != NULL) {
        drop(state, ended);
    }
    if (!lapse_decide_token_by_name(state, LAPSE_EPHEMERAL)) {
        state->ephemeral.token = image->revision;
    }
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
    if (live == NULL) {
        return LAPSE_LOST;
    }
    if (!lapse_lease_named(job, live)) {
        return LAPSE_NOT_OWNER;
    }
    if (job->command->request.len > 0) {
        return lapse_request_unkept(job);
    }
    struct lapse_image image = live->now;
    image.aux.used_ns = job->now.store.ns;
    image.end_ns = timed.end_ns;
    image.span_ns = timed.span_ns;
    status = lapse_lease_show(job, &image, LAPSE_OK);
    if (status == LAPSE_OK) {
        lapse_wheel_remove(ends, live);
        live->now = image;
        lapse_wheel_insert(ends, live);
    }
    return status;
}

/* The end of a lease asked for now: a ttl like any other. */
static enum lapse_status resolve_end(struct lapse_job *job, struct lapse_image *image) {
    return lapse_term_resolve_ttl(job, job->command->u.lease.span, image);
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
    if (lapse_image_timed(&node->now)) {
        lapse_wheel_insert(&state->ephemeral.ends, node);
    }
}

static void drop(struct lapse_state *state, struct lapse_node *node) {
    if (node->placed) {
        lapse_wheel_remove(&state->ephemeral.ends, node);
    }
    lapse_table_unlink(&state->ephemeral.names, node);
    lapse_node_free(state->alloc, node);
}
