/* Idle terms: a use renews, but not every use writes.
 *
 * A use at t renews iff t >= last + floor(S/30). The new end holds at once for every call. It is
 * made durable before the reply when little was left, else it is kept as a deferred renewal, a
 * matter of this tenure, and flushed within a second. What makes it durable is always a FLUSH, a
 * log command of its own; every write and reap of a row is preceded by its flush, so the other log
 * commands look at stored rows alone. */
#include "state.h"

static bool pending(const struct lapse_node *node);
static bool renews(const struct lapse_node *node, const struct lapse_now *now);
static bool little_left(const struct lapse_node *node, const struct lapse_now *now);
static bool flush_due(const struct lapse_deferred *deferred, const struct lapse_now *now);
static void tell_flush(const struct lapse_node *node, struct lapse_steady used,
                       struct lapse_command *ret);

struct lapse_end lapse_idle_end(const struct lapse_node *node) {
    struct lapse_end end = lapse_image_end(&node->now);
    if (pending(node)) {
        end.ns = node->deferred->used.ns + node->now.span_ns;
    }
    return end;
}

bool lapse_idle_live(const struct lapse_node *node, const struct lapse_now *now) {
    if (node->now.present && pending(node)) {
        return now->store.ns < lapse_idle_end(node).ns;
    }
    return lapse_state_live(node, now);
}

enum lapse_status lapse_idle_use(struct lapse_job *job, struct lapse_node *node, bool *ret_renewed,
                                 struct lapse_end *ret_end) {
    struct lapse_steady now = job->now.store;
    *ret_renewed = job->used;
    *ret_end = lapse_idle_end(node);
    if (!renews(node, &job->now)) {
        return LAPSE_OK;
    }
    LAPSE_ASSERT(!little_left(node, &job->now));
    if (node->deferred != NULL) {
        node->deferred->used = now;
    } else if (!lapse_idle_defer(job->state, node, now, now)) {
        return lapse_error_set(job->err, LAPSE_NOMEM, "no memory to note the renewal of a key");
    }
    *ret_renewed = true;
    *ret_end = lapse_idle_end(node);
    return LAPSE_OK;
}

bool lapse_idle_owed(const struct lapse_node *node, struct lapse_command *ret) {
    if (!node->now.present || !pending(node)) {
        return false;
    }
    tell_flush(node, node->deferred->used, ret);
    return true;
}

bool lapse_idle_owed_due(const struct lapse_state *state, const struct lapse_now *now,
                         struct lapse_command *ret) {
    const struct lapse_deferred *first = state->deferred_first;
    return first != NULL && flush_due(first, now) && lapse_idle_owed(first->node, ret);
}

bool lapse_idle_owed_use(const struct lapse_node *node, const struct lapse_now *now,
                         struct lapse_command *ret, bool *ret_use) {
    *ret_use = false;
    if (!lapse_idle_live(node, now)) {
        return false;
    }
    /* What is due goes first, whatever this use does: so a renewal that is put off never moves to a
     * use past the stored end, which no flush could carry. */
    if (node->deferred != NULL && flush_due(node->deferred, now)) {
        return lapse_idle_owed(node, ret);
    }
    if (!renews(node, now) || !little_left(node, now)) {
        return false;
    }
    *ret_use = true;
    tell_flush(node, now->store, ret);
    return true;
}

enum lapse_status lapse_idle_flush(struct lapse_job *job) {
    const struct lapse_command *command = job->command;
    struct lapse_node *node = lapse_table_find(&job->bucket->records, command->key);
    int64_t used = command->u.flush.used.ns;
    int64_t sum = 0;
    /* Another incarnation, another end, a use that came too late or that is older than what is
     * stored: such a flush is refused, and nothing has happened (KV-09). */
    if (node == NULL || !node->now.idle || node->now.revision != command->u.flush.revision ||
        command->u.flush.end.kind != LAPSE_END_STEADY ||
        node->now.end_ns != command->u.flush.end.ns || used >= node->now.end_ns ||
        used <= node->now.last_ns || !lapse_ns_add(used, node->now.span_ns, &sum)) {
        return LAPSE_OK;
    }
    if (!lapse_txn_touch(job->state, node)) {
        return lapse_error_set(job->err, LAPSE_NOMEM, "no memory to renew a key");
    }
    struct lapse_image image = node->now;
    image.last_ns = used;
    image.end_ns = sum;
    lapse_txn_set(job->state, node, &image);
    job->result->renewed = true;
    return LAPSE_OK;
}

void lapse_idle_settle(struct lapse_state *state, struct lapse_node *node) {
    if (node->deferred != NULL && !pending(node)) {
        lapse_idle_forget(state, node);
    }
}

void lapse_idle_forget(struct lapse_state *state, struct lapse_node *node) {
    struct lapse_deferred *deferred = node->deferred;
    if (deferred == NULL) {
        return;
    }
    if (deferred->prev != NULL) {
        deferred->prev->next = deferred->next;
    } else {
        state->deferred_first = deferred->next;
    }
    if (deferred->next != NULL) {
        deferred->next->prev = deferred->prev;
    } else {
        state->deferred_last = deferred->prev;
    }
    node->deferred = NULL;
    lapse_alloc_free(state->alloc, deferred, sizeof(*deferred));
}

bool lapse_idle_defer(struct lapse_state *state, struct lapse_node *node, struct lapse_steady used,
                      struct lapse_steady queued) {
    LAPSE_ASSERT(node->deferred == NULL);
    struct lapse_deferred *deferred = lapse_alloc_zero(state->alloc, sizeof(*deferred));
    if (deferred == NULL) {
        return false;
    }
    struct lapse_deferred *prev = state->deferred_last;
    while (prev != NULL && prev->queued.ns > queued.ns) {
        prev = prev->prev;
    }
    struct lapse_deferred *next = prev == NULL ? state->deferred_first : prev->next;
    *deferred = (struct lapse_deferred){prev, next, node, used, queued};
    if (prev == NULL) {
        state->deferred_first = deferred;
    } else {
        prev->next = deferred;
    }
    if (next == NULL) {
        state->deferred_last = deferred;
    } else {
        next->prev = deferred;
    }
    node->deferred = deferred;
    return true;
}

/* Whether the deferred renewal says more than the row does: not so once it has been written, and
 * not for a newer incarnation, whose last use is its write. */
static bool pending(const struct lapse_node *node) {
    return node->deferred != NULL && node->now.idle && node->deferred->used.ns > node->now.last_ns;
}

/* Whether a use at `now` renews the live node. last + span / 30 lies below the end, so it cannot
 * leave the range; now + span can, and then the end stays what it was. */
static bool renews(const struct lapse_node *node, const struct lapse_now *now) {
    int64_t last = pending(node) ? node->deferred->used.ns : node->now.last_ns;
    struct lapse_span span = {node->now.span_ns};
    struct lapse_steady end;
    return node->now.idle && now->store.ns >= last + span.ns / 30 && now->store.ns != last &&
           lapse_steady_add(now->store, span, &end);
}

static bool little_left(const struct lapse_node *node, const struct lapse_now *now) {
    struct lapse_steady end = {lapse_idle_end(node).ns};
    int64_t bound = node->now.span_ns / 2;
    if (bound > 60 * LAPSE_NS_PER_S) {
        bound = 60 * LAPSE_NS_PER_S;
    }
    if (bound < 2 * LAPSE_NS_PER_S) {
        bound = 2 * LAPSE_NS_PER_S;
    }
    return lapse_steady_between(now->store, end).ns < bound;
}

static bool flush_due(const struct lapse_deferred *deferred, const struct lapse_now *now) {
    return lapse_steady_between(deferred->queued, now->store).ns >= LAPSE_NS_PER_S;
}

static void tell_flush(const struct lapse_node *node, struct lapse_steady used,
                       struct lapse_command *ret) {
    *ret = (struct lapse_command){.verb = LAPSE_VERB_FLUSH,
                                  .bucket = lapse_node_key(node->bucket->row),
                                  .key = lapse_node_key(node)};
    ret->u.flush.used = used;
    ret->u.flush.revision = node->now.revision;
    ret->u.flush.end = lapse_image_end(&node->now);
}
