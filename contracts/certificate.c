/* The verifier of witness orders. It shares nothing with the search but the calls and the model's
 * step, and does the obvious: it walks the order once. */
#include "contracts/certificate.h"

#include <stdlib.h>
#include <string.h>

/* An instant at which something is sent or answered; ends come before calls. */
struct moment {
    int64_t ns;
    int rank;
    int64_t seq;
};

struct walk {
    const lapse_linear_model *model;
    const struct lapse_linear_call *calls;
    size_t count;
    bool *placed;
    bool any;             /* something has been placed */
    struct moment latest; /* the latest sending of all that has been placed */
    uint32_t latest_call;
    int64_t state[LAPSE_LINEAR_STATE_WORDS_MAX];
};

static enum lapse_status walk_place(struct walk *walk, size_t at, struct lapse_linear_place place,
                                    struct lapse_error *err);
static enum lapse_status walk_end(const struct walk *walk, struct lapse_error *err);
static bool before(struct moment a, struct moment b);

enum lapse_status lapse_certificate_verify(const lapse_alloc *alloc,
                                           const lapse_linear_model *model,
                                           const struct lapse_linear_call *calls, size_t count,
                                           const struct lapse_linear_place *order,
                                           size_t order_count, struct lapse_error *err) {
    struct walk walk = {.model = model, .calls = calls, .count = count};
    walk.placed = lapse_alloc_zero(alloc, (count + 1) * sizeof(*walk.placed));
    if (walk.placed == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory to verify an order of %zu calls",
                               count);
    }
    model->start(model->ctx, walk.state);
    enum lapse_status status = LAPSE_OK;
    for (size_t at = 0; at < order_count && status == LAPSE_OK; at++) {
        status = walk_place(&walk, at, order[at], err);
    }
    if (status == LAPSE_OK) {
        status = walk_end(&walk, err);
    }
    lapse_alloc_free(alloc, walk.placed, (count + 1) * sizeof(*walk.placed));
    return status;
}

static enum lapse_status walk_place(struct walk *walk, size_t at, struct lapse_linear_place place,
                                    struct lapse_error *err) {
    if (place.call >= walk->count) {
        return lapse_error_set(err, LAPSE_CONFLICT, "place %zu names call %u of %zu", at,
                               place.call, walk->count);
    }
    const struct lapse_linear_call *call = &walk->calls[place.call];
    struct moment sent = {call->invoke_ns, call->end ? 0 : 1, call->invoke_seq};
    struct moment answered = {call->return_ns, sent.rank, call->return_seq};
    if (walk->placed[place.call]) {
        return lapse_error_set(err, LAPSE_CONFLICT, "place %zu: call %u stands there twice", at,
                               place.call);
    }
    if ((!call->open || call->lapses) && walk->any && before(answered, walk->latest)) {
        return lapse_error_set(err, LAPSE_CONFLICT,
                               "place %zu: call %u was answered before call %u was sent", at,
                               place.call, walk->latest_call);
    }
    if (call->after >= 0 && !walk->placed[call->after] && !walk->calls[call->after].lapses) {
        return lapse_error_set(err, LAPSE_CONFLICT, "place %zu: call %u comes before call %d", at,
                               place.call, (int)call->after);
    }
    int64_t next[LAPSE_LINEAR_STATE_WORDS_MAX];
    if (place.branch >= call->branches ||
        !walk->model->step(walk->model->ctx, walk->state, call, place.branch, next)) {
        return lapse_error_set(err, LAPSE_CONFLICT,
                               "place %zu: call %u cannot have its answer there", at, place.call);
    }
    memcpy(walk->state, next, walk->model->state_words * sizeof(*next));
    walk->placed[place.call] = true;
    if (!walk->any || before(walk->latest, sent)) {
        walk->latest = sent;
        walk->latest_call = place.call;
    }
    walk->any = true;
    return LAPSE_OK;
}

static enum lapse_status walk_end(const struct walk *walk, struct lapse_error *err) {
    for (size_t i = 0; i < walk->count; i++) {
        if (!walk->calls[i].open && !walk->placed[i]) {
            return lapse_error_set(err, LAPSE_CONFLICT, "call %zu was answered and has no place",
                                   i);
        }
    }
    return LAPSE_OK;
}

static bool before(struct moment a, struct moment b) {
    if (a.ns != b.ns) {
        return a.ns < b.ns;
    }
    return a.rank != b.rank ? a.rank < b.rank : a.seq < b.seq;
}
