/* An old copy of a store, opened as one. What the lost store has given out since the copy was made
 * is not known, so numbers begin again far above all that it can have reached; and a key or a lease
 * that has ended here may have lived on there, so for one longest span nobody is told of an end. */
#include "restored.h"

#include "ceiling.h"
#include "ephemeral.h"

static const int64_t shift = INT64_C(1) << 40;

static int64_t greater(int64_t a, int64_t b);
static enum lapse_status highest(void *ctx, const struct lapse_row *row);
static enum lapse_status longest(void *ctx, const struct lapse_row *row);
static void take_span(struct lapse_span *most, struct lapse_span span);
static enum lapse_status mark(struct lapse *store, const struct lapse_command *command,
                              struct lapse_error *err);

enum lapse_status lapse_restored_begin(struct lapse *store, int64_t above,
                                       struct lapse_error *err) {
    struct lapse_state *state = &store->state;
    struct lapse_span most = {0};
    struct lapse_command tokens = {.verb = LAPSE_VERB_MARK};
    if (above < 0) {
        return lapse_error_set(err, LAPSE_INVALID,
                               "restored_above is %lld, which is no number that a store gives; "
                               "give what lapse_numbers_highest tells, or 0",
                               (long long)above);
    }
    enum lapse_status status = lapse_walk(store, longest, &most, err);
    int64_t token = greater(state->token, above);
    if (status == LAPSE_OK && !lapse_ns_add(token, shift, &tokens.u.mark.token)) {
        status = lapse_error_set(err, LAPSE_RANGE, "the store's tokens would leave their range");
    }
    if (status == LAPSE_OK) {
        tokens.u.mark.ceiling_token = tokens.u.mark.token;
        status = mark(store, &tokens, err);
    }
    struct lapse_node *row = lapse_table_any(&state->buckets);
    for (; status == LAPSE_OK && row != NULL; row = lapse_table_after(&state->buckets, row)) {
        struct lapse_command numbers = {.verb = LAPSE_VERB_MARK,
                                        .bucket = lapse_node_key(row)};
        int64_t revision = greater(row->now.revision, above);
        status = lapse_ns_add(revision, shift, &numbers.u.mark.ceiling_revision)
                     ? mark(store, &numbers, err)
                     : lapse_error_set(err, LAPSE_RANGE, "a bucket's revisions would leave their "
                                                         "range");
    }
    if (status == LAPSE_OK) {
        lapse_ceiling_numbers(state);
        state->held_until = (struct lapse_steady){INT64_MAX};
        (void)lapse_steady_add(state->last.store, most, &state->held_until);
    }
    return status;
}

/* The counter of tokens has moved up with all others and never falls: what it has passed of whole
 * shifts tells how far that was, and lies above all that was known to be given. */
int64_t lapse_restored_floor(const struct lapse_state *state) {
    return state->token - state->token % shift;
}

enum lapse_status lapse_numbers_highest(const struct lapse *store, int64_t *ret,
                                        struct lapse_error *err) {
    int64_t most = greater(store->state.token, store->state.ephemeral.token);
    enum lapse_status status = lapse_walk(store, highest, &most, err);
    if (status == LAPSE_OK) {
        *ret = most;
    }
    return status;
}

static int64_t greater(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static enum lapse_status highest(void *ctx, const struct lapse_row *row) {
    int64_t *most = ctx;
    *most = greater(*most, row->mark.ceiling_token);
    *most = greater(*most, row->bucket_row.ceiling_revision);
    if (row->kind == LAPSE_ROW_BUCKET || row->kind == LAPSE_ROW_COUNTER) {
        *most = greater(*most, row->revision);
    }
    return LAPSE_OK;
}

static enum lapse_status longest(void *ctx, const struct lapse_row *row) {
    take_span(ctx, row->bucket_row.config.term.ttl);
    take_span(ctx, row->bucket_row.config.term.idle);
    take_span(ctx, row->record.span);
    take_span(ctx, row->lease.span);
    take_span(ctx, row->session.span);
    return LAPSE_OK;
}

static void take_span(struct lapse_span *most, struct lapse_span span) {
    most->ns = span.ns > most->ns ? span.ns : most->ns;
}

static enum lapse_status mark(struct lapse *store, const struct lapse_command *command,
                              struct lapse_error *err) {
    struct lapse_result result;
    lapse_result_init(&result, store->state.alloc);
    enum lapse_status status = lapse_apply(store, command, &result, err);
    lapse_result_free(&result);
    return status;
}
