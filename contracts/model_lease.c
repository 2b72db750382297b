/* Leases: a name has one holder, whatever the durability of its grant, and each grant takes the
 * next token of the store. */
#include "model_parts.h"

static void acquire(struct lapse_model *model, const struct lapse_command *command,
                    const struct lapse_answer *told, struct lapse_model_lease *lease,
                    struct lapse_model_answer *ret);
static void extend(struct lapse_model *model, const struct lapse_command *command,
                   const struct lapse_answer *told, struct lapse_model_lease *lease,
                   struct lapse_model_answer *ret);
static void release(struct lapse_model *model, const struct lapse_command *command,
                    const struct lapse_answer *told, struct lapse_model_lease *lease,
                    struct lapse_model_answer *ret);
static bool next_token(struct lapse_model *model, int64_t told, int64_t *ret);
static bool named(const struct lapse_command *command, const struct lapse_model_lease *lease);
static void show(const struct lapse_model *model, const struct lapse_model_lease *lease,
                 enum lapse_status status, struct lapse_model_answer *ret);

void lapse_model_lease_call(struct lapse_model *model, const struct lapse_command *command,
                            const struct lapse_answer *told, struct lapse_model_answer *ret) {
    struct lapse_model_lease *lease = lapse_model_lease(model, command->key, true);
    if (lease == NULL) {
        return;
    }
    ret->open = lapse_model_lease_state(model, lease) == LAPSE_MODEL_UNSURE;
    switch (command->verb) {
    case LAPSE_VERB_ACQUIRE:
        acquire(model, command, told, lease, ret);
        return;
    case LAPSE_VERB_EXTEND:
        extend(model, command, told, lease, ret);
        return;
    case LAPSE_VERB_RELEASE:
        release(model, command, told, lease, ret);
        return;
    default:
        break;
    }
    if (lapse_model_lease_state(model, lease) == LAPSE_MODEL_LIVE) {
        show(model, lease, LAPSE_OK, ret);
    } else {
        ret->answer.status = LAPSE_ABSENT;
    }
}

bool lapse_model_of_tenure(struct lapse_model *model, const struct lapse_command *command) {
    if (command->verb != LAPSE_VERB_ACQUIRE && command->verb != LAPSE_VERB_EXTEND &&
        command->verb != LAPSE_VERB_RELEASE) {
        return false;
    }
    const struct lapse_model_lease *lease = lapse_model_lease(model, command->key, false);
    return lease != NULL && lease->ephemeral &&
           lapse_model_lease_state(model, lease) == LAPSE_MODEL_LIVE;
}

/* An ephemeral one is gone with its tenure. */
enum lapse_model_state lapse_model_lease_state(const struct lapse_model *model,
                                               const struct lapse_model_lease *lease) {
    if (lapse_model_unsure(model, &lease->name)) {
        return LAPSE_MODEL_UNSURE;
    }
    if (!lease->held || (lease->ephemeral && lease->name.tenure < model->tenure)) {
        return LAPSE_MODEL_ABSENT;
    }
    return lapse_model_term_state(model, &lease->term);
}

static void acquire(struct lapse_model *model, const struct lapse_command *command,
                    const struct lapse_answer *told, struct lapse_model_lease *lease,
                    struct lapse_model_answer *ret) {
    struct lapse_model_term term = {.why = LAPSE_WHY_SESSION};
    if (command->u.lease.session.len > 0) {
        term.session = lapse_model_opening(model, command->u.lease.session);
        ret->answer.status = term.session == NULL ? LAPSE_LOST : LAPSE_OK;
        ret->open = ret->open || (term.session != NULL && term.session->unsure);
    } else {
        ret->answer.status = lapse_model_span_of(model, command->u.lease.span, &term);
    }
    bool granted = told->status == LAPSE_OK && !told->renewed;
    if (ret->answer.status != LAPSE_OK || (ret->open && !granted)) {
        return;
    }
    if (!ret->open && lapse_model_lease_state(model, lease) == LAPSE_MODEL_LIVE) {
        bool own = lapse_bytes_equal(lease->owner, command->u.lease.owner) &&
                   lapse_model_policy(model, LAPSE_POLICY_ACQUIRE_AGAIN) == 0;
        ret->answer.renewed = own;
        show(model, lease, own ? LAPSE_OK : LAPSE_HELD, ret);
        return;
    }
    int64_t token = 0;
    if (!next_token(model, told->token, &token)) {
        ret->answer.status = LAPSE_RANGE;
        return;
    }
    lapse_model_touch(model, lease, sizeof(*lease));
    lapse_model_sure(model, &lease->name);
    lease->held = true;
    lease->ephemeral = command->u.lease.durability == LAPSE_EPHEMERAL;
    lease->owner = command->u.lease.owner;
    lease->token = token;
    lease->term = term;
    lease->by = model->by;
    show(model, lease, LAPSE_OK, ret);
    ret->by = -1;
}

/* A lease that ended with a session has an end of its own from now on. */
static void extend(struct lapse_model *model, const struct lapse_command *command,
                   const struct lapse_answer *told, struct lapse_model_lease *lease,
                   struct lapse_model_answer *ret) {
    struct lapse_model_term term;
    ret->answer.status = lapse_model_span_of(model, command->u.lease.span, &term);
    if (ret->answer.status != LAPSE_OK || (ret->open && told->status != LAPSE_OK)) {
        return;
    }
    if (!ret->open && lapse_model_lease_state(model, lease) == LAPSE_MODEL_ABSENT) {
        ret->answer.status = LAPSE_LOST;
        return;
    }
    if (!ret->open && !named(command, lease)) {
        ret->answer.status = LAPSE_NOT_OWNER;
        ret->by = lease->by;
        return;
    }
    if (!ret->open && lease->ephemeral && command->request.len > 0) {
        ret->answer.status = LAPSE_INVALID; /* it would have to be remembered durably */
        return;
    }
    lapse_model_touch(model, lease, sizeof(*lease));
    if (ret->open) {
        lease->held = true;
        lease->owner = told->owner;
        lease->token = told->token;
        lease->ephemeral = false;
        lease->name.unsure = true; /* ephemeral or not: its answer does not say */
    }
    lease->term = term;
    lease->by = model->by;
    lease->name.tenure = model->tenure;
    show(model, lease, LAPSE_OK, ret);
    ret->by = -1;
}

static void release(struct lapse_model *model, const struct lapse_command *command,
                    const struct lapse_answer *told, struct lapse_model_lease *lease,
                    struct lapse_model_answer *ret) {
    if (ret->open && told->status != LAPSE_OK && told->status != LAPSE_ABSENT) {
        return;
    }
    if (!ret->open && lapse_model_lease_state(model, lease) == LAPSE_MODEL_ABSENT) {
        ret->answer.status = lapse_model_nothing_to_release(model);
        return;
    }
    if (!ret->open && !named(command, lease)) {
        ret->answer.status = LAPSE_NOT_OWNER;
        ret->by = lease->by;
        return;
    }
    if (!ret->open && lease->ephemeral && command->request.len > 0) {
        ret->answer.status = LAPSE_INVALID;
        return;
    }
    lapse_model_touch(model, lease, sizeof(*lease));
    lapse_model_sure(model, &lease->name);
    lease->held = false;
}

/* One counter for all names; after a start it may have jumped ahead. */
static bool next_token(struct lapse_model *model, int64_t told, int64_t *ret) {
    struct lapse_model_counters *counters = &model->counters;
    int64_t next = 0;
    if (!lapse_ns_add(counters->token, 1, &next)) {
        return false;
    }
    lapse_model_touch(model, counters, sizeof(*counters));
    counters->token = counters->token_loose && told > next ? told : next;
    counters->token_loose = false;
    *ret = counters->token;
    return true;
}

/* A token alone names its grant, whoever sends it. */
static bool named(const struct lapse_command *command, const struct lapse_model_lease *lease) {
    return command->u.lease.has_token ? command->u.lease.token == lease->token
                                      : lapse_bytes_equal(command->u.lease.owner, lease->owner);
}

static void show(const struct lapse_model *model, const struct lapse_model_lease *lease,
                 enum lapse_status status, struct lapse_model_answer *ret) {
    ret->answer.status = status;
    ret->answer.owner = lease->owner;
    ret->answer.has_token = status == LAPSE_OK;
    ret->answer.token = status == LAPSE_OK ? lease->token : 0;
    ret->by = lease->by;
    lapse_model_show_end(model, &lease->term, &ret->answer);
}
