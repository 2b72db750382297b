/* Idle terms: a use renews, but not every use writes.
 *
 * A use at t renews iff t >= last + floor(S/30). The new end holds at once for every call. It is
 * made durable before the reply when little was left, else it is kept as a deferred renewal, a
 * matter of this tenure, and flushed within a second. Every write and reap of a row is preceded by
 * its flush, so the log commands look at stored rows alone. */
#include "state.h"

static bool pending(const struct lapse_node *node);
static bool little_left(struct lapse_span span, struct lapse_span left);
static enum lapse_status renew_now(struct lapse_job *job, struct lapse_node *node,
                                   struct lapse_steady used);

struct lapse_end lapse_idle_end(const struct lapse_node *node) {
    struct lapse_end end = lapse_image_end(&node->now);
    if (pending(node)) {
        end.ns = node->deferred->used.ns + node->now.span_ns;
    }
    return end;
}

bool lapse_idle_live(const struct lapse_state *state, const struct lapse_node *node,
                     const struct lapse_now *now) {
    if (node->now.present && pending(node)) {
        return now->store.ns < lapse_idle_end(node).ns;
    }
    return lapse_state_live(state, node, now);
}

enum lapse_status lapse_idle_use(struct lapse_job *job, struct lapse_node *node, bool *ret_renewed,
                                 struct lapse_end *ret_end) {
    struct lapse_steady now = job->now.store;
    struct lapse_end end = lapse_idle_end(node);
    struct lapse_span span = {node->now.span_ns};
    struct lapse_steady renewed;
    *ret_renewed = false;
    *ret_end = end;
    int64_t last = pending(node) ? node->deferred->used.ns : node->now.last_ns;
    /* last + span / 30 lies below the end, so it cannot leave the range; now + span can, and then
     * the end stays what it was. */
    if (!node->now.idle || now.ns < last + span.ns / 30 || now.ns == last ||
        !lapse_steady_add(now, span, &renewed)) {
        return LAPSE_OK;
    }
    struct lapse_span left = lapse_steady_between(now, (struct lapse_steady){end.ns});
    if (little_left(span, left)) {
        enum lapse_status status = renew_now(job, node, now);
        if (status != LAPSE_OK) {
            return status;
        }
    } else if (node->deferred != NULL) {
        node->deferred->used = now;
    } else if (!lapse_idle_defer(job->state, node, now, now)) {
        return lapse_error_set(job->err, LAPSE_NOMEM, "no memory to note the renewal of a key");
    }
    *ret_renewed = true;
    ret_end->ns = renewed.ns;
    return LAPSE_OK;
}

enum lapse_status lapse_idle_flush_node(struct lapse_job *job, struct lapse_node *node) {
    if (!node->now.present || !pending(node)) {
        return LAPSE_OK;
    }
    return renew_now(job, node, node->deferred->used);
}

enum lapse_status lapse_idle_flush_due(struct lapse_job *job) {
    struct lapse_deferred *deferred = job->state->deferred_first;
    for (; deferred != NULL; deferred = deferred->next) {
        if (lapse_steady_between(deferred->queued, job->now.store).ns < LAPSE_NS_PER_S) {
            return LAPSE_OK;
        }
        enum lapse_status status = lapse_idle_flush_node(job, deferred->node);
        if (status != LAPSE_OK) {
            return status;
        }
    }
    return LAPSE_OK;
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
    enum lapse_status status = renew_now(job, node, command->u.flush.used);
    job->result->renewed = status == LAPSE_OK;
    return status;
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

static bool little_left(struct lapse_span span, struct lapse_span left) {
    int64_t bound = span.ns / 2;
    if (bound > 60 * LAPSE_NS_PER_S) {
        bound = 60 * LAPSE_NS_PER_S;
    }
    if (bound < 2 * LAPSE_NS_PER_S) {
        bound = 2 * LAPSE_NS_PER_S;
    }
    return left.ns < bound;
}

static enum lapse_status renew_now(struct lapse_job *job, struct lapse_node *node,
                                   struct lapse_steady used) {
    struct lapse_image image = node->now;
    LAPSE_ASSERT(used.ns < INT64_MAX - image.span_ns + 1);
    image.last_ns = used.ns;
    image.end_ns = used.ns + image.span_ns;
    if (!lapse_txn_touch(job->state, node)) {
        return lapse_error_set(job->err, LAPSE_NOMEM, "no memory to renew a key");
    }
    lapse_txn_set(job->state, node, &image);
    return LAPSE_OK;
}
