/* The recovery path of sessions, of what ends with them, and of remembered requests. As in load.c
 * no row is trusted: what no store writes is `corrupt`. */
#include "decide.h"

static const char *session_fault(const struct lapse_load *load, const struct lapse_row *row);
static bool incarnation_fits(const struct lapse_state *state, const struct lapse_row *row);
static const char *request_fault(const struct lapse_load *load, const struct lapse_row *row);

enum lapse_status lapse_load_session(struct lapse_load *load, const struct lapse_row *row) {
    struct lapse_state *state = load->state;
    load->fault = session_fault(load, row);
    if (load->fault != NULL) {
        return LAPSE_CORRUPT;
    }
    struct lapse_session *session = lapse_session_make(state, row->key, row->revision);
    struct lapse_image image = {.revision = row->revision,
                                .end_kind = (uint8_t)row->session.end.kind,
                                .end_ns = row->session.end.ns,
                                .span_ns = row->session.span.ns,
                                .source = LAPSE_SOURCE_OWN,
                                .aux.session = session,
                                .present = true};
    if (session == NULL || !lapse_state_reserve(state, session->row) ||
        !lapse_image_copy_blob(state->alloc, &image, row->session.owner)) {
        lapse_session_free(state->alloc, session);
        return LAPSE_NOMEM;
    }
    lapse_state_place(state, session->row, &image);
    return LAPSE_OK;
}

enum lapse_status lapse_load_request(struct lapse_load *load, const struct lapse_row *row) {
    struct lapse_state *state = load->state;
    load->fault = request_fault(load, row);
    if (load->fault != NULL) {
        return LAPSE_CORRUPT;
    }
    struct lapse_image image = {.end_kind = LAPSE_END_STEADY,
                                .end_ns = row->request.at.ns + LAPSE_REQUEST_SPAN_NS,
                                .span_ns = LAPSE_REQUEST_SPAN_NS,
                                .source = LAPSE_SOURCE_OWN,
                                .present = true};
    struct lapse_node *node = lapse_node_make(state->alloc, LAPSE_ROW_REQUEST, row->key);
    if (node == NULL || !lapse_state_reserve(state, node) ||
        !lapse_request_pack(state->alloc, row, &image)) {
        lapse_node_free(state->alloc, node);
        return LAPSE_NOMEM;
    }
    lapse_state_place(state, node, &image);
    return LAPSE_OK;
}

enum lapse_status lapse_load_join(struct lapse_load *load, int64_t id, struct lapse_image *image) {
    const struct lapse_table *table = &load->state->sessions;
    if ((image->source == LAPSE_SOURCE_SESSION) != (id != 0)) {
        load->fault = "its source and its session do not fit each other";
        return LAPSE_CORRUPT;
    }
    if (id == 0) {
        return LAPSE_OK;
    }
    if (load->sessions == NULL &&
        !lapse_table_by_revision(load->state->alloc, table, &load->sessions)) {
        return LAPSE_NOMEM;
    }
    size_t low = 0;
    size_t high = load->session_count = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (load->sessions[middle]->now.revision < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == table->count || load->sessions[low]->now.revision != id) {
        load->fault = "the session that it ends with is not stored";
        return LAPSE_CORRUPT;
    }
    image->aux.session = load->sessions[low]->now.aux.session;
    return LAPSE_OK;
}

/* What is wrong with a session, or NULL. */
static const char *session_fault(const struct lapse_load *load, const struct lapse_row *row) {
    const struct lapse_state *state = load->state;
    int64_t begun = 0;
    if (state->buckets.count > 0 || state->leases.count > 0 || state->requests.count > 0) {
        return "a session comes before all that can end with it";
    }
    if (row->key.len == 0 || row->bucket.len != 0 || row->session.owner.len == 0 ||
        row->session.owner.len > LAPSE_OWNER_BYTES_MAX) {
        return "no session has such a name or owner";
    }
    if (row->revision < 1 || row->revision > state->session) {
        return "the counter has not given its number";
    }
    /* A close cuts the end short, so the end says no more than that it was not begun after the
     * mark. */
    int64_t least = lapse_policy(state, LAPSE_POLICY_AT_END) == 0 ? 0 : -1;
    bool spans = row->session.end.kind == LAPSE_END_STEADY && row->session.end.ns >= least &&
                 row->session.span.ns > 0;
    if (spans) {
        bool fits = lapse_ns_sub(row->session.end.ns, row->session.span.ns, &begun);
        LAPSE_ASSERT(fits);
    }
    if (!spans || (begun > state->mark.store.ns && !lapse_decide_time_returns(state))) {
        return "its end and span do not fit each other, or lie after the mark";
    }
    return incarnation_fits(state, row) ? NULL : "its name has another that is live, or newer";
}

/* The next session of a name is opened when the last one has ended. */
static bool incarnation_fits(const struct lapse_state *state, const struct lapse_row *row) {
    const struct lapse_node *node = lapse_table_find(&state->sessions, row->key);
    bool returns = lapse_decide_time_returns(state);
    for (; node != NULL; node = node->next) {
        if (lapse_bytes_equal(lapse_node_key(node), row->key) &&
            (node->now.revision >= row->revision ||
             (node->now.end_ns > state->mark.store.ns && !returns))) {
            return false;
        }
    }
    return true;
}

/* What is wrong with a remembered request, or NULL. */
static const char *request_fault(const struct lapse_load *load, const struct lapse_row *row) {
    const struct lapse_state *state = load->state;
    struct lapse_steady end;
    if (row->key.len == 0 || row->key.len > LAPSE_REQUEST_BYTES_MAX || row->bucket.len != 0 ||
        row->revision != 0) {
        return "no request has such an id";
    }
    if (!lapse_request_is_kept(row->request.verb) || row->request.status != LAPSE_OK) {
        return "no call of such a verb and outcome is remembered";
    }
    bool after = row->request.at.ns > state->mark.store.ns && !lapse_decide_time_returns(state);
    if (row->request.at.ns < 0 || after ||
        !lapse_steady_add(row->request.at, (struct lapse_span){LAPSE_REQUEST_SPAN_NS}, &end)) {
        return "it was answered before store time, or after the mark";
    }
    bool ended =
        row->request.end.kind == LAPSE_END_STEADY || row->request.end.kind == LAPSE_END_WALL;
    if ((!ended && (row->request.end.kind != LAPSE_END_NONE || row->request.end.ns != 0)) ||
        row->request.revision < 0 || row->request.token < 0 ||
        row->request.owner.len > LAPSE_OWNER_BYTES_MAX ||
        !lapse_request_answers_fit(row->request.verb, row->request.answers)) {
        return "its answer is not one that a call gives";
    }
    if (lapse_table_find(&state->requests, row->key) != NULL) {
        return "the request is stored twice";
    }
    return NULL;
}
