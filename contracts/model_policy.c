/* Where systems differ from strict in a small named way, and how. Of what differs by more the model
 * says nothing. */
#include "model_parts.h"

/* X(POLICY, the greatest value that is modelled): all of the values up to it are. */
#define MODELLED(X)                                                                          \
    X(PLAIN_SET, 2)                                                                          \
    X(OWN_TERM, 2)                                                                           \
    X(REQUEST, 1)                                                                            \
    X(MARKERS, 1)                                                                            \
    X(ACQUIRE_AGAIN, 1)                                                                      \
    X(OWN_BOUNDS, 1)

static const uint8_t modelled[LAPSE_POLICIES] = {
#define MODELLED_ROW(policy, most) [LAPSE_POLICY_##policy] = (most),
    MODELLED(MODELLED_ROW)
#undef MODELLED_ROW
};

enum { PLAIN_SET_KEEP = 1, PLAIN_SET_CALL = 2, OWN_TERM_IGNORED = 2, RELEASE_ENDED_CONFLICT = 2 };

static const struct lapse_term none;

bool lapse_model_covers(const struct lapse_policies *policies) {
    for (size_t i = 0; i < LAPSE_POLICIES; i++) {
        bool conflicts =
            i == LAPSE_POLICY_RELEASE_ENDED && policies->value[i] == RELEASE_ENDED_CONFLICT;
        if (policies->value[i] > modelled[i] && !conflicts) {
            return false;
        }
    }
    return true;
}

unsigned lapse_model_policy(const struct lapse_model *model, enum lapse_policy policy) {
    return model->policies.value[policy];
}

/* A bucket without markers takes no term of a call's own, or looks past it. */
const struct lapse_term *lapse_model_own_term(const struct lapse_model *model,
                                              const struct lapse_model_bucket *bucket,
                                              const struct lapse_command *command) {
    const struct lapse_term *own = &command->u.write.term;
    unsigned policy = lapse_model_policy(model, LAPSE_POLICY_OWN_TERM);
    bool takes = policy == 0 || bucket == NULL || bucket->config.markers.ns > 0 ||
                 own->given == 0 || own->given == LAPSE_TERM_KEEP;
    if (command->verb == LAPSE_VERB_PERSIST || (!takes && policy == OWN_TERM_IGNORED)) {
        return &none;
    }
    return takes ? own : NULL;
}

const struct lapse_term *lapse_model_usual_term(const struct lapse_model *model,
                                                const struct lapse_model_bucket *bucket) {
    bool call = lapse_model_policy(model, LAPSE_POLICY_PLAIN_SET) == PLAIN_SET_CALL;
    return call ? &none : &bucket->config.term;
}

bool lapse_model_keeps_end(const struct lapse_model *model, const struct lapse_model_bucket *bucket,
                           const struct lapse_term *own) {
    bool plain = lapse_model_policy(model, LAPSE_POLICY_PLAIN_SET) == PLAIN_SET_KEEP &&
                 own->given == 0 && bucket->config.term.given != LAPSE_TERM_IDLE;
    return own->given == LAPSE_TERM_KEEP || plain;
}

void lapse_model_bound_term(const struct lapse_model *model,
                            const struct lapse_model_bucket *bucket,
                            struct lapse_model_term *term) {
    const struct lapse_bucket_config *config = &bucket->config;
    if (lapse_model_policy(model, LAPSE_POLICY_OWN_BOUNDS) == 0 || term->why != LAPSE_WHY_OWN ||
        term->end.kind != LAPSE_END_STEADY) {
        return;
    }
    struct lapse_span span = term->span;
    if (config->history > 1 && span.ns < config->markers.ns) {
        span = config->markers;
    }
    if (config->term.given == LAPSE_TERM_TTL && span.ns > config->term.ttl.ns) {
        span = config->term.ttl;
    }
    (void)lapse_model_span_of(model, span, term);
}

enum lapse_status lapse_model_nothing_to_release(const struct lapse_model *model) {
    bool conflict =
        lapse_model_policy(model, LAPSE_POLICY_RELEASE_ENDED) == RELEASE_ENDED_CONFLICT;
    return conflict ? LAPSE_CONFLICT : LAPSE_ABSENT;
}

/* Whether a call that was sent again is judged by its condition before it is remembered. Where it
 * is refused the wall has ended nothing for later calls, but for this one it reads what it reads.
 */
bool lapse_model_forgets(struct lapse_model *model, const struct lapse_command *command,
                         struct lapse_wall wall) {
    if (lapse_model_policy(model, LAPSE_POLICY_REQUEST) == 0) {
        return false;
    }
    bool creates = command->verb == LAPSE_VERB_CREATE;
    bool versioned = command->verb == LAPSE_VERB_SET || command->verb == LAPSE_VERB_UPDATE ||
                     command->verb == LAPSE_VERB_DELETE || command->verb == LAPSE_VERB_PURGE ||
                     command->verb == LAPSE_VERB_EXPIRE || command->verb == LAPSE_VERB_PERSIST;
    if (!creates && !(versioned && command->u.write.has_if_version)) {
        return false;
    }
    struct lapse_model_bucket *bucket = lapse_model_bucket(model, command->bucket, false);
    const struct lapse_model_key *key =
        bucket == NULL ? NULL : lapse_model_key(model, bucket, command->key, false);
    bool live = key != NULL && lapse_model_key_state(model, key) == LAPSE_MODEL_LIVE;
    if (live && key->newest->term.end.kind == LAPSE_END_WALL) {
        live = wall.ns < key->newest->term.end.ns;
    }
    return creates ? live : !live || key->newest->revision != command->u.write.if_version;
}
