/* The tracker of leases: per name every grant with its token, owner and present end. The names are
 * found by hash and kept in the order of their first grants. */
#include "contracts/tracker.h"

#include "track.h"

static struct lapse_tracked_lease *find_lease(const struct lapse_trackers *trackers,
                                              struct lapse_bytes name);
static enum lapse_status take_grant(struct lapse_trackers *trackers,
                                    const struct lapse_command *command,
                                    const struct lapse_answer *answer,
                                    const struct lapse_history_event *event);
static struct lapse_tracked_lease *add_lease(struct lapse_trackers *trackers,
                                             struct lapse_bytes name);
static uint32_t *slot_of(const struct lapse_trackers *trackers, struct lapse_bytes name);
static bool index_grow(struct lapse_trackers *trackers);
static struct lapse_tracked_grant *last_grant(struct lapse_tracked_lease *lease);
static void take_token(struct lapse_trackers *trackers, struct lapse_tracked_lease *lease,
                       struct lapse_tracked_grant *grant, const struct lapse_answer *answer);
static void raise_token(struct lapse_trackers *trackers, struct lapse_tracked_lease *lease,
                        int64_t token);
static void session_maybe(struct lapse_trackers *trackers, struct lapse_bytes session);

enum lapse_status lapse_track_lease_apply(struct lapse_trackers *trackers,
                                          const struct lapse_command *command,
                                          const struct lapse_answer *answer,
                                          const struct lapse_history_event *event) {
    if (answer->status != LAPSE_OK)
        return LAPSE_OK;
    if (command->verb == LAPSE_VERB_ACQUIRE)
        return take_grant(trackers, command, answer, event);
    if (command->verb != LAPSE_VERB_EXTEND && command->verb != LAPSE_VERB_RELEASE)
        return LAPSE_OK;
    struct lapse_tracked_lease *lease = find_lease(trackers, command->key);
    struct lapse_tracked_grant *grant = lease != NULL ? last_grant(lease) : NULL;
    if (grant == NULL)
        return LAPSE_OK;
    if (command->verb == LAPSE_VERB_RELEASE) {
        grant->released = event;
    } else {
        grant->end = answer->end;
        grant->span = command->u.lease.span;
        grant->term = event;
        grant->session = 0;
        take_token(trackers, lease, grant, answer);
    }
    return LAPSE_OK;
}

/* FENCE-02 has judged a token that changed; from then on the grant goes by the one it was told. */
static void take_token(struct lapse_trackers *trackers, struct lapse_tracked_lease *lease,
                       struct lapse_tracked_grant *grant, const struct lapse_answer *answer) {
    if (!answer->has_token)
        return;
    grant->token = answer->token;
    raise_token(trackers, lease, answer->token);
}

static void raise_token(struct lapse_trackers *trackers, struct lapse_tracked_lease *lease,
                        int64_t token) {
    if (token > lease->token_highest)
        lease->token_highest = token;
    if (token > trackers->token_highest)
        trackers->token_highest = token;
}

void lapse_track_lease_session(struct lapse_trackers *trackers, size_t session) {
    const struct lapse_tracked_session *moved = &trackers->sessions[session - 1];
    for (size_t i = 0; i < trackers->lease_count; i++) {
        struct lapse_tracked_grant *grant = last_grant(&trackers->leases[i]);
        if (grant == NULL || grant->session != session)
            continue;
        grant->end = moved->end;
        grant->span = moved->span;
    }
}

void lapse_track_lease_tenure(struct lapse_trackers *trackers,
                              const struct lapse_history_event *event, bool lost) {
    trackers->leases_unsure = trackers->leases_unsure || lost;
    for (size_t i = 0; i < trackers->lease_count; i++) {
        struct lapse_tracked_grant *grant = last_grant(&trackers->leases[i]);
        trackers->leases[i].unsure = trackers->leases[i].unsure || lost;
        if (grant != NULL && grant->ephemeral && grant->lost == NULL)
            grant->lost = event;
    }
    for (size_t i = 0; i < trackers->session_count; i++)
        trackers->sessions[i].unsure = trackers->sessions[i].unsure || lost;
}

/* An unanswered call on a lease or session may have been done. */
enum lapse_status lapse_track_lease_maybe(struct lapse_trackers *trackers,
                                          const struct lapse_command *command) {
    if (command->verb == LAPSE_VERB_BATCH) {
        enum lapse_status status = LAPSE_OK;
        for (size_t i = 0; status == LAPSE_OK && i < command->u.batch.count; i++) {
            if (command->u.batch.commands[i].verb != LAPSE_VERB_BATCH)
                status = lapse_track_lease_maybe(trackers, &command->u.batch.commands[i]);
        }
        return status;
    }
    if (lapse_verb_of_session((int)command->verb)) {
        trackers->leases_unsure = true;
        for (size_t i = 0; i < trackers->session_count; i++)
            trackers->sessions[i].unsure = true;
        if (command->verb != LAPSE_VERB_SESSION)
            session_maybe(trackers, command->key);
    }
    if (!lapse_verb_of_lease((int)command->verb) || command->verb == LAPSE_VERB_INSPECT)
        return LAPSE_OK;
    struct lapse_tracked_lease *lease = add_lease(trackers, command->key);
    if (lease == NULL)
        return LAPSE_NOMEM;
    lease->unsure = true;
    return LAPSE_OK;
}

static void session_maybe(struct lapse_trackers *trackers, struct lapse_bytes session) {
    lapse_track_kv_session_maybe(trackers, session);
    for (size_t i = 0; i < trackers->lease_count; i++) {
        const struct lapse_tracked_grant *grant = last_grant(&trackers->leases[i]);
        if (grant != NULL && grant->session > 0 &&
            lapse_bytes_equal(trackers->sessions[grant->session - 1].name, session))
            trackers->leases[i].unsure = true;
    }
}

void lapse_track_lease_free(struct lapse_trackers *trackers) {
    for (size_t i = 0; i < trackers->lease_count; i++) {
        struct lapse_tracked_lease *lease = &trackers->leases[i];
        lapse_alloc_free(trackers->alloc, lease->grants, lease->grant_cap * sizeof *lease->grants);
    }
    lapse_alloc_free(trackers->alloc, trackers->leases,
                     trackers->lease_cap * sizeof *trackers->leases);
    lapse_alloc_free(trackers->alloc, trackers->lease_index,
                     trackers->lease_index_cap * sizeof *trackers->lease_index);
}

const struct lapse_tracked_lease *lapse_tracked_lease_find(const struct lapse_trackers *trackers,
                                                           struct lapse_bytes name) {
    return find_lease(trackers, name);
}

const struct lapse_tracked_grant *
lapse_tracked_grant_last(const struct lapse_tracked_lease *lease) {
    if (lease == NULL || lease->grant_count == 0)
        return NULL;
    return &lease->grants[lease->grant_count - 1];
}

const struct lapse_tracked_grant *lapse_tracked_grant_live(const struct lapse_tracked_lease *lease,
                                                           struct lapse_steady at) {
    const struct lapse_tracked_grant *grant = lapse_tracked_grant_last(lease);
    if (grant == NULL || grant->released != NULL || grant->lost != NULL)
        return NULL;
    if (grant->end.kind == LAPSE_END_STEADY && at.ns >= grant->end.ns)
        return NULL;
    return grant;
}

/* A grant is new unless the store says that its owner held it already. */
static enum lapse_status take_grant(struct lapse_trackers *trackers,
                                    const struct lapse_command *command,
                                    const struct lapse_answer *answer,
                                    const struct lapse_history_event *event) {
    struct lapse_tracked_lease *lease = add_lease(trackers, command->key);
    if (lease == NULL)
        return LAPSE_NOMEM;
    if (answer->renewed && lapse_tracked_grant_live(lease, answer->at) != NULL)
        return LAPSE_OK;
    void *grants = lease->grants;
    if (!lapse_alloc_grow(trackers->alloc, &grants, &lease->grant_cap, lease->grant_count + 1,
                          sizeof *lease->grants))
        return LAPSE_NOMEM;
    lease->grants = grants;
    lease->unsure = false;
    const struct lapse_tracked_session *session = NULL;
    if (command->u.lease.session.len > 0)
        session = lapse_tracked_session_find(trackers, command->u.lease.session);
    /* One that a crash has brought back has the span that it had, which is not the call's. */
    struct lapse_span span = session != NULL ? session->span : command->u.lease.span;
    span.ns = answer->renewed ? 0 : span.ns;
    lease->grants[lease->grant_count++] =
        (struct lapse_tracked_grant){.token = answer->token,
                                     .owner = command->u.lease.owner,
                                     .from = answer->at,
                                     .end = answer->end,
                                     .span = span,
                                     .ephemeral = command->u.lease.durability == LAPSE_EPHEMERAL,
                                     .session = session == NULL
                                                    ? 0
                                                    : (size_t)(session - trackers->sessions) + 1,
                                     .granted = event,
                                     .term = event};
    raise_token(trackers, lease, answer->token);
    return LAPSE_OK;
}

static struct lapse_tracked_lease *add_lease(struct lapse_trackers *trackers,
                                             struct lapse_bytes name) {
    struct lapse_tracked_lease *lease = find_lease(trackers, name);
    if (lease != NULL)
        return lease;
    void *leases = trackers->leases;
    if (!index_grow(trackers) ||
        !lapse_alloc_grow(trackers->alloc, &leases, &trackers->lease_cap, trackers->lease_count + 1,
                          sizeof *trackers->leases))
        return NULL;
    trackers->leases = leases;
    lease = &trackers->leases[trackers->lease_count++];
    *lease = (struct lapse_tracked_lease){.name = name};
    *slot_of(trackers, name) = (uint32_t)trackers->lease_count;
    return lease;
}

static struct lapse_tracked_lease *find_lease(const struct lapse_trackers *trackers,
                                              struct lapse_bytes name) {
    const uint32_t *slot = trackers->lease_index_cap == 0 ? NULL : slot_of(trackers, name);
    return slot == NULL || *slot == 0 ? NULL : &trackers->leases[*slot - 1];
}

/* The slot that holds this name, or the free one where it belongs. */
static uint32_t *slot_of(const struct lapse_trackers *trackers, struct lapse_bytes name) {
    size_t mask = trackers->lease_index_cap - 1;
    size_t at = (size_t)lapse_bytes_hash(name) & mask;
    while (trackers->lease_index[at] != 0 &&
           !lapse_bytes_equal(trackers->leases[trackers->lease_index[at] - 1].name, name))
        at = (at + 1) & mask;
    return &trackers->lease_index[at];
}

/* Keeps the table at most half full, with room for one more. */
static bool index_grow(struct lapse_trackers *trackers) {
    if ((trackers->lease_count + 1) * 2 <= trackers->lease_index_cap)
        return true;
    size_t grown = trackers->lease_index_cap == 0 ? 16 : trackers->lease_index_cap * 2;
    uint32_t *index = lapse_alloc_zero(trackers->alloc, grown * sizeof *index);
    if (index == NULL)
        return false;
    lapse_alloc_free(trackers->alloc, trackers->lease_index,
                     trackers->lease_index_cap * sizeof *trackers->lease_index);
    trackers->lease_index = index;
    trackers->lease_index_cap = grown;
    for (size_t i = 0; i < trackers->lease_count; i++)
        *slot_of(trackers, trackers->leases[i].name) = (uint32_t)(i + 1);
    return true;
}

static struct lapse_tracked_grant *last_grant(struct lapse_tracked_lease *lease) {
    return lease->grant_count > 0 ? &lease->grants[lease->grant_count - 1] : NULL;
}
