/* Idle terms: a use renews, but not every use writes.
 *
 * A use at t renews iff t >= last + floor(S/30). The new end holds at once for every call. It is
 * made durable before the reply when little was left, else it is kept as a deferred renewal, a
 * matter of this tenure, and flushed within a second. What makes it durable is always a FLUSH, a
 * log command of its own; every write and reap of a row is preceded by its flush, so the other log
 * commands look at stored rows alone. */
#include "decide.h"

static bool outlived(const struct lapse_node *node, const struct lapse_deferred *deferred);
static bool moved_end(const struct lapse_state *state, const struct lapse_image *image,
                      int64_t used_ns, int64_t *ret);
static bool renews(const struct lapse_state *state, const struct lapse_node *node,
                   const struct lapse_deferred *deferred, const struct lapse_now *now);
static bool end_after(const struct lapse_image *image, int64_t used_ns, int64_t *ret);
static bool little_left(const struct lapse_state *state, const struct lapse_node *node,
                        const struct lapse_now *now);
static bool flush_due(const struct lapse_deferred *deferred, const struct lapse_now *now);
static bool offer(const struct lapse_state *state, const struct lapse_node *node,
                  struct lapse_command *ret);
static void tell_flush(const struct lapse_state *state, const struct lapse_node *node,
                       struct lapse_steady used, struct lapse_command *ret);
static bool reserve_slot(struct lapse_state *state);
static struct lapse_deferred **slot_of(const struct lapse_state *state,
                                       const struct lapse_node *node);
static void enqueue(struct lapse_state *state, struct lapse_deferred *deferred);

struct lapse_end lapse_idle_end_deferred(const struct lapse_state *state,
                                         const struct lapse_node *node) {
    struct lapse_end end = lapse_state_end(&node->now);
    if (!lapse_decide_shows_renewal(state)) {
        return end;
    }
    /* What is deferred says more than the row does (S5). */
    bool fits = end_after(&node->now, lapse_idle_deferred(state, node)->used.ns, &end.ns);
    LAPSE_ASSERT(fits);
    return end;
}

bool lapse_idle_moves(const struct lapse_state *state, const struct lapse_image *image,
                      int64_t used_ns) {
    int64_t end = 0;
    return moved_end(state, image, used_ns, &end);
}

bool lapse_idle_live_deferred(const struct lapse_state *state, const struct lapse_node *node,
                              const struct lapse_now *now) {
    if (lapse_decide_shows_renewal(state)) {
        return now->due_keys_ns < lapse_idle_end(state, node).ns;
    }
    return lapse_state_live(node, now);
}

enum lapse_status lapse_idle_use(struct lapse_job *job, struct lapse_node *node, bool *ret_renewed,
                                 struct lapse_end *ret_end) {
    struct lapse_steady now = job->now.store;
    *ret_renewed = job->used;
    struct lapse_deferred *deferred = lapse_idle_deferred(job->state, node);
    *ret_end = lapse_idle_end(job->state, node);
    /* A value that stays past its end is read, and no use moves an end that has come. */
    if (job->now.due_keys_ns >= ret_end->ns || !renews(job->state, node, deferred, &job->now)) {
        return LAPSE_OK;
    }
    LAPSE_ASSERT(!little_left(job->state, node, &job->now));
    if (deferred != NULL) {
        deferred->used = now;
    } else if (!lapse_idle_defer(job->state, node, now, now)) {
        return lapse_error_set(job->err, LAPSE_NOMEM, "no memory to note the renewal of a key");
    }
    *ret_renewed = true;
    *ret_end = lapse_idle_end(job->state, node);
    return LAPSE_OK;
}

bool lapse_idle_owed(const struct lapse_state *state, const struct lapse_node *newest,
                     struct lapse_command *ret) {
    if (state->deferred_first == NULL || !lapse_decide_shows_renewal(state)) {
        return false;
    }
    bool owed = offer(state, newest, ret);
    while (!owed && lapse_decide_older_lives(state) && lapse_table_older(newest) != NULL) {
        newest = lapse_table_older(newest);
        owed = offer(state, newest, ret);
    }
    return owed;
}

bool lapse_idle_owed_due(const struct lapse_state *state, const struct lapse_now *now,
                         struct lapse_command *ret) {
    const struct lapse_deferred *due = state->deferred_first;
    while (due != NULL && flush_due(due, now) && !lapse_decide_takes_flush(state, due->node, now)) {
        due = due->next;
    }
    if (due == NULL || !flush_due(due, now)) {
        /* Those of before a step back come last. */
        due = state->deferred_last;
    }
    if (due == NULL || !flush_due(due, now) || !lapse_decide_takes_flush(state, due->node, now)) {
        return false;
    }
    tell_flush(state, due->node, due->used, ret);
    return true;
}

bool lapse_idle_flush_at(const struct lapse_state *state, struct lapse_steady *ret) {
    if (state->deferred_first == NULL) {
        return false;
    }
    struct lapse_steady now = state->last.store;
    *ret = (struct lapse_steady){INT64_MAX};
    (void)lapse_steady_add(state->deferred_first->queued, (struct lapse_span){LAPSE_NS_PER_S}, ret);
    if (state->deferred_last->queued.ns > now.ns) {
        *ret = now;
    }
    return true;
}

bool lapse_idle_owed_use(const struct lapse_state *state, const struct lapse_node *node,
                         const struct lapse_now *now, struct lapse_command *ret, bool *ret_use) {
    const struct lapse_deferred *deferred = lapse_idle_deferred(state, node);
    *ret_use = false;
    LAPSE_ASSERT(node->now.idle);
    if (!lapse_idle_live(state, node, now)) {
        return false;
    }
    /* What is due goes first, whatever this use does: so a renewal that is put off never moves to a
     * use past the stored end, which no flush could carry. */
    if (deferred != NULL && flush_due(deferred, now)) {
        return offer(state, node, ret);
    }
    if (!renews(state, node, deferred, now) || !little_left(state, node, now)) {
        return false;
    }
    *ret_use = true;
    tell_flush(state, node, now->store, ret);
    return true;
}

enum lapse_status lapse_idle_flush(struct lapse_job *job) {
    const struct lapse_command *command = job->command;
    struct lapse_node *node =
        lapse_record_numbered(job->state, lapse_table_find(&job->bucket->records, command->key),
                              command->u.flush.revision);
    int64_t used = command->u.flush.used.ns;
    int64_t sum = 0;
    /* Another incarnation, another end, a use that came too late, that is older than what is stored
     * or that moves no end: such a flush is refused, and nothing has happened (KV-09). */
    if (node == NULL || command->u.flush.end.kind != LAPSE_END_STEADY ||
        node->now.end_ns != command->u.flush.end.ns ||
        !moved_end(job->state, &node->now, used, &sum) ||
        !lapse_decide_takes_flush(job->state, node, &job->now)) {
        return LAPSE_OK;
    }
    if (!lapse_txn_touch(job->state, node)) {
        return lapse_error_set(job->err, LAPSE_NOMEM, "no memory to renew a key");
    }
    struct lapse_image image = node->now;
    image.end_ns = sum;
    lapse_txn_set(job->state, node, &image);
    job->result->renewed = true;
    return LAPSE_OK;
}

void lapse_idle_settle(struct lapse_state *state, struct lapse_node *node,
                       const struct lapse_image *before) {
    if (!node->deferred) {
        return;
    }
    /* Where no flush precedes a write, a renewal is of the row that was read, and of no other. */
    bool other = !lapse_decide_shows_renewal(state) &&
                 (before->revision != node->now.revision || before->end_ns != node->now.end_ns);
    if (other || node->now.covered || outlived(node, lapse_idle_deferred(state, node))) {
        lapse_idle_forget(state, node);
    }
}

void lapse_idle_drop_late(struct lapse_state *state, const struct lapse_now *now) {
    struct lapse_deferred *deferred = state->deferred_first;
    while (deferred != NULL && !lapse_decide_shows_renewal(state)) {
        struct lapse_deferred *next = deferred->next;
        if (!lapse_decide_takes_flush(state, deferred->node, now)) {
            lapse_idle_forget(state, deferred->node);
        }
        deferred = next;
    }
}

struct lapse_deferred *lapse_idle_deferred(const struct lapse_state *state,
                                           const struct lapse_node *node) {
    if (!node->deferred) {
        return NULL;
    }
    struct lapse_deferred *deferred = *slot_of(state, node);
    while (deferred->node != node) {
        deferred = deferred->chain;
        LAPSE_ASSERT(deferred != NULL);
    }
    return deferred;
}

void lapse_idle_forget(struct lapse_state *state, struct lapse_node *node) {
    struct lapse_deferred *deferred = lapse_idle_deferred(state, node);
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
    struct lapse_deferred **link = slot_of(state, node);
    while (*link != deferred) {
        link = &(*link)->chain;
    }
    *link = deferred->chain;
    state->deferred_count--;
    node->deferred = false;
    lapse_alloc_free(state->alloc, deferred, sizeof(*deferred));
}

bool lapse_idle_defer(struct lapse_state *state, struct lapse_node *node, struct lapse_steady used,
                      struct lapse_steady queued) {
    LAPSE_ASSERT(!node->deferred);
    if (!reserve_slot(state)) {
        return false;
    }
    struct lapse_deferred *deferred = lapse_alloc_zero(state->alloc, sizeof(*deferred));
    if (deferred == NULL) {
        return false;
    }
    *deferred = (struct lapse_deferred){.node = node, .used = used, .queued = queued};
    enqueue(state, deferred);
    struct lapse_deferred **slot = slot_of(state, node);
    deferred->chain = *slot;
    *slot = deferred;
    state->deferred_count++;
    node->deferred = true;
    return true;
}

/* Renewals come by their oldest use; only a load brings one that is not the newest. */
static void enqueue(struct lapse_state *state, struct lapse_deferred *deferred) {
    struct lapse_deferred *prev = state->deferred_last;
    while (prev != NULL && prev->queued.ns > deferred->queued.ns) {
        prev = prev->prev;
    }
    struct lapse_deferred *next = prev == NULL ? state->deferred_first : prev->next;
    deferred->prev = prev;
    deferred->next = next;
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
}

/* Room in the side table for one more renewal at one a slot. */
static bool reserve_slot(struct lapse_state *state) {
    if (state->deferred_count < state->deferred_slot_count) {
        return true;
    }
    size_t old_bytes = state->deferred_slot_count * sizeof(struct lapse_deferred *);
    size_t count = state->deferred_slot_count == 0 ? 8 : state->deferred_slot_count * 2;
    /* Each renewal takes more memory than two places in the table. */
    LAPSE_ASSERT(count <= SIZE_MAX / sizeof(struct lapse_deferred *));
    struct lapse_deferred **slots =
        lapse_alloc_zero(state->alloc, count * sizeof(struct lapse_deferred *));
    if (slots == NULL) {
        return false;
    }
    lapse_alloc_free(state->alloc, state->deferred_slots, old_bytes);
    state->deferred_slots = slots;
    state->deferred_slot_count = count;
    struct lapse_deferred *deferred = state->deferred_first;
    for (; deferred != NULL; deferred = deferred->next) {
        struct lapse_deferred **slot = slot_of(state, deferred->node);
        deferred->chain = *slot;
        *slot = deferred;
    }
    return true;
}

static struct lapse_deferred **slot_of(const struct lapse_state *state,
                                       const struct lapse_node *node) {
    return &state->deferred_slots[(size_t)node->hash & (state->deferred_slot_count - 1)];
}

/* Whether the row, just written, says as much as the deferred renewal does: so once that has been
 * flushed. Of a newer incarnation the last use is its write. */
static bool outlived(const struct lapse_node *node, const struct lapse_deferred *deferred) {
    int64_t end = 0;
    return !node->now.idle || !end_after(&node->now, deferred->used.ns, &end) ||
           end <= node->now.end_ns;
}

/* The end that a use moves the stored one to; false: it came too late, or moves none. */
static bool moved_end(const struct lapse_state *state, const struct lapse_image *image,
                      int64_t used_ns, int64_t *ret) {
    return image->idle && lapse_decide_used_in_time(state, used_ns, image->end_ns) &&
           end_after(image, used_ns, ret) && *ret > image->end_ns;
}

/* Whether a use at `now` renews the live node. last + span / 30 lies below the end, so it cannot
 * leave the range; now + span can, and then the end stays what it was. */
static bool renews(const struct lapse_state *state, const struct lapse_node *node,
                   const struct lapse_deferred *deferred, const struct lapse_now *now) {
    bool deferring = deferred != NULL && lapse_decide_shows_renewal(state);
    int64_t last = deferring ? deferred->used.ns : lapse_image_last(&node->now);
    int64_t end = 0;
    return now->store.ns >= last + node->now.span_ns / 30 &&
           end_after(&node->now, now->store.ns, &end) && end > lapse_idle_end(state, node).ns;
}

/* Where a use moves the end: one span on, but never past the cap, where it stays. False, nothing
 * written, when that leaves the range. */
static bool end_after(const struct lapse_image *image, int64_t used_ns, int64_t *ret) {
    int64_t cap = lapse_image_cap(image);
    int64_t end = 0;
    bool fits = lapse_ns_add(used_ns, image->span_ns, &end);
    if (cap > 0 && (!fits || end > cap)) {
        end = cap;
        fits = true;
    }
    if (fits) {
        *ret = end;
    }
    return fits;
}

static bool little_left(const struct lapse_state *state, const struct lapse_node *node,
                        const struct lapse_now *now) {
    struct lapse_steady end = {lapse_idle_end(state, node).ns};
    int64_t bound = lapse_decide_little_ns(state, node->now.span_ns);
    return lapse_steady_between(now->store, end).ns < bound;
}

/* A second after the use. Where spans follow the wall, a use of before a step back lies ahead, and
 * nobody knows how long ago that was. */
static bool flush_due(const struct lapse_deferred *deferred, const struct lapse_now *now) {
    return lapse_steady_between(deferred->queued, now->store).ns >= LAPSE_NS_PER_S ||
           deferred->queued.ns > now->store.ns;
}

/* The FLUSH of a node's deferred renewal, if it says more than the row does. */
static bool offer(const struct lapse_state *state, const struct lapse_node *node,
                  struct lapse_command *ret) {
    const struct lapse_deferred *deferred = lapse_idle_deferred(state, node);
    if (deferred == NULL) {
        return false;
    }
    tell_flush(state, node, deferred->used, ret);
    return true;
}

static void tell_flush(const struct lapse_state *state, const struct lapse_node *node,
                       struct lapse_steady used, struct lapse_command *ret) {
    *ret = (struct lapse_command){.verb = LAPSE_VERB_FLUSH,
                                  .bucket = lapse_node_key(lapse_node_bucket(state, node)->row),
                                  .key = lapse_node_key(node)};
    ret->u.flush.used = used;
    ret->u.flush.revision = node->now.revision;
    ret->u.flush.end = lapse_image_end(&node->now);
}
