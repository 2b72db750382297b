/* An old copy of a store, opened as one. What the lost store has given out since the copy was made
 * is not known, so numbers begin again far above all that it can have reached; and a key or a lease
 * that has ended here may have lived on there, so for one longest span nobody is told of an end. */
#include "restored.h"

#include "ceiling.h"
#include "ephemeral.h"

static const int64_t shift = INT64_C(1) << 40;

static enum lapse_status longest(void *ctx, const struct lapse_row *row);
static void take_span(struct lapse_span *most, struct lapse_span span);
static enum lapse_status mark(struct lapse *store, const struct lapse_command *command,
                              struct lapse_error *err);

enum lapse_status lapse_restored_begin(struct lapse *store, struct lapse_error *err) {
    struct lapse_state *state = &store->state;
    struct lapse_span most = {0};
    struct lapse_command tokens = {.verb = LAPSE_VERB_MARK};
    enum lapse_status status = lapse_walk(store, longest, &most, err);
    if (status == LAPSE_OK && !lapse_ns_add(state->token, shift, &tokens.u.mark.token)) {
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
        status = lapse_ns_add(row->now.revision, shift, &numbers.u.mark.ceiling_revision)
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
