/* The walk: every row in one fixed order. Digest, check and fork are visitors of it, so there is
 * one description of the state and no second list of what belongs to it.
 *
 * Order: mark, wall peaks, counters, sessions, buckets, records, leases, requests; then of the
 * tenure the last command's time, the deferred renewals, the last ephemeral token and the ephemeral
 * leases. Within a kind by the byte order of the keys, then by revision. */
#include "ephemeral.h"

struct walk {
    const struct lapse_state *state;
    lapse_row_visit visit;
    void *ctx;
    struct lapse_error *err;
};

static enum lapse_status walk_table(const struct walk *walk, const struct lapse_table *table);
static enum lapse_status walk_records(const struct walk *walk, enum lapse_part part);
static enum lapse_status walk_bucket(const struct walk *walk, const struct lapse_bucket *bucket,
                                     enum lapse_part part);
static enum lapse_status walk_tenure(const struct walk *walk);
static void deferred_row(const struct lapse_state *state, const struct lapse_node *node,
                         struct lapse_row *ret);
static enum lapse_status no_memory(const struct walk *walk);

enum lapse_status lapse_state_walk(const struct lapse_state *state, lapse_row_visit visit,
                                   void *ctx, struct lapse_error *err) {
    struct walk walk = {state, visit, ctx, err};
    struct lapse_row row;
    lapse_state_mark_row(state, &row);
    enum lapse_status status = visit(ctx, &row);
    for (size_t i = 0; i < state->peaks.count && status == LAPSE_OK; i++) {
        lapse_state_peak_row(&state->peaks.items[i], &row);
        status = visit(ctx, &row);
    }
    if (status == LAPSE_OK) {
        lapse_state_counter_row("session", state->session, &row);
        status = visit(ctx, &row);
    }
    if (status == LAPSE_OK && state->swept != 0) {
        lapse_state_counter_row("swept", state->swept, &row);
        status = visit(ctx, &row);
    }
    if (status == LAPSE_OK) {
        lapse_state_counter_row("token", state->token, &row);
        status = visit(ctx, &row);
    }
    if (status == LAPSE_OK) {
        status = walk_table(&walk, &state->sessions);
    }
    if (status == LAPSE_OK) {
        status = walk_table(&walk, &state->buckets);
    }
    if (status == LAPSE_OK) {
        status = walk_records(&walk, LAPSE_PART_DURABLE);
    }
    if (status == LAPSE_OK) {
        status = walk_table(&walk, &state->leases);
    }
    if (status == LAPSE_OK) {
        status = walk_table(&walk, &state->requests);
    }
    return status == LAPSE_OK ? walk_tenure(&walk) : status;
}

void lapse_state_mark_row(const struct lapse_state *state, struct lapse_row *ret) {
    *ret = (struct lapse_row){.kind = LAPSE_ROW_MARK, .part = LAPSE_PART_DURABLE};
    ret->revision = state->log_seq;
    ret->mark.store = state->mark.store;
    ret->mark.reading = state->mark.reading;
    ret->mark.ceiling_store = state->ceilings.store;
    ret->mark.ceiling_token = state->ceilings.token;
    ret->mark.policies = lapse_policies_code(&state->policies);
}

void lapse_state_peak_row(const struct lapse_peak *peak, struct lapse_row *ret) {
    *ret = (struct lapse_row){.kind = LAPSE_ROW_MARK, .part = LAPSE_PART_DURABLE};
    ret->key = lapse_bytes_of("peak");
    ret->revision = peak->seq;
    ret->mark.reading.wall = peak->wall;
}

void lapse_state_counter_row(const char *name, int64_t value, struct lapse_row *ret) {
    *ret = (struct lapse_row){.kind = LAPSE_ROW_COUNTER, .part = LAPSE_PART_DURABLE};
    ret->key = lapse_bytes_of(name);
    ret->revision = value;
}

static enum lapse_status walk_table(const struct walk *walk, const struct lapse_table *table) {
    struct lapse_node **nodes = NULL;
    if (!lapse_table_sorted(walk->state->alloc, table, &nodes)) {
        return no_memory(walk);
    }
    enum lapse_status status = LAPSE_OK;
    for (size_t i = 0; i < table->count && status == LAPSE_OK; i++) {
        struct lapse_row row;
        lapse_node_row(walk->state, nodes[i], &nodes[i]->now, &row);
        status = walk->visit(walk->ctx, &row);
    }
    lapse_alloc_free(walk->state->alloc, nodes, table->count * sizeof(struct lapse_node *));
    return status;
}

static enum lapse_status walk_records(const struct walk *walk, enum lapse_part part) {
    const struct lapse_table *buckets = &walk->state->buckets;
    struct lapse_node **nodes = NULL;
    if (!lapse_table_sorted(walk->state->alloc, buckets, &nodes)) {
        return no_memory(walk);
    }
    enum lapse_status status = LAPSE_OK;
    for (size_t i = 0; i < buckets->count && status == LAPSE_OK; i++) {
        status = walk_bucket(walk, lapse_node_bucket(walk->state, nodes[i]), part);
    }
    lapse_alloc_free(walk->state->alloc, nodes, buckets->count * sizeof(struct lapse_node *));
    return status;
}

static enum lapse_status walk_bucket(const struct walk *walk, const struct lapse_bucket *bucket,
                                     enum lapse_part part) {
    if (part == LAPSE_PART_DURABLE) {
        return walk_table(walk, &bucket->records);
    }
    struct lapse_node **nodes = NULL;
    if (!lapse_table_sorted(walk->state->alloc, &bucket->records, &nodes)) {
        return no_memory(walk);
    }
    enum lapse_status status = LAPSE_OK;
    for (size_t i = 0; i < bucket->records.count && status == LAPSE_OK; i++) {
        if (nodes[i]->deferred) {
            struct lapse_row row;
            deferred_row(walk->state, nodes[i], &row);
            status = walk->visit(walk->ctx, &row);
        }
    }
    lapse_alloc_free(walk->state->alloc, nodes,
                     bucket->records.count * sizeof(struct lapse_node *));
    return status;
}

static enum lapse_status walk_tenure(const struct walk *walk) {
    const struct lapse_state *state = walk->state;
    struct lapse_row row = {.kind = LAPSE_ROW_MARK, .part = LAPSE_PART_TENURE};
    row.key = lapse_bytes_of("now");
    row.revision = state->seq;
    row.mark.store = state->last.store;
    row.mark.reading = state->last.reading;
    enum lapse_status status = walk->visit(walk->ctx, &row);
    if (status == LAPSE_OK && state->deferred_first != NULL) {
        status = walk_records(walk, LAPSE_PART_TENURE);
    }
    if (status != LAPSE_OK) {
        return status;
    }
    bool memory = true;
    status = lapse_ephemeral_walk(state, walk->visit, walk->ctx, &memory);
    return memory ? status : no_memory(walk);
}

/* The record as it will be once the renewal is durable, and when it was put off. */
static void deferred_row(const struct lapse_state *state, const struct lapse_node *node,
                         struct lapse_row *ret) {
    const struct lapse_deferred *deferred = lapse_idle_deferred(state, node);
    lapse_node_row(state, node, &node->now, ret);
    ret->part = LAPSE_PART_TENURE;
    ret->record.last = deferred->used;
    ret->record.end = lapse_idle_end(state, node);
    ret->mark.store = deferred->queued;
}

static enum lapse_status no_memory(const struct walk *walk) {
    return lapse_error_set(walk->err, LAPSE_NOMEM, "no memory to walk the store");
}
