/* The lease contracts as a table of what must be: by verb, and by what is live. */
#include "model.h"

/* X(CONSTANT, id, clause). In the order of enum lapse_explore_break. */
#define BREAK_TABLE(X)                                                                       \
    X(NONE, "", "")                                                                          \
    X(TWO_ACT, "BELIEF-01", "two clients may act under the lease at one instant")            \
    X(LOWER, "FENCE-03", "the resource applied a token lower than one that it had applied")  \
    X(TWO_HOLD, "LEASE-01", "the store granted the lease while another grant was live")      \
    X(SHORT, "LEASE-02", "a grant was not held for the whole of its span")                   \
    X(HELD, "LEASE-03", "an acquire of a held name was not simply refused")                  \
    X(CLOSED, "LEASE-04", "a free name was not granted")                                     \
    X(KEPT, "LEASE-05", "a release by the holder did not free the name")                     \
    X(EXTENDED, "LEASE-06", "an extend in time did not make the end now + span")             \
    X(REVIVED, "LEASE-07", "an extend or release with no live grant was not simply refused") \
    X(AGAIN, "LEASE-08", "an acquire by the live owner did not leave the grant as it was")   \
    X(FOREIGN, "LEASE-09", "a call touched a grant whose token it did not name")             \
    X(TOKEN, "FENCE-01", "a grant's token did not rise above those before")                  \
    X(UNREAPED, "REAP-01", "a row that had ended was there after the reaper's work")         \
    X(RENAMED, "FENCE-02", "a call changed the token of a grant")

static enum lapse_explore_break acquired(const struct scope *scope, struct holding before,
                                         const struct question *question,
                                         const struct reply *reply);
static enum lapse_explore_break named(const struct scope *scope, struct holding before,
                                      const struct question *question, const struct reply *reply);
static enum lapse_explore_break passed(struct holding before, const struct reply *reply);
static bool holds(const struct reply *reply, int32_t owner, int32_t left);
static bool unchanged(struct holding before, const struct reply *reply);
static bool tells(const struct scope *scope, const struct reply *reply, int32_t left);

const char *lapse_explore_break_id(enum lapse_explore_break what) {
    static const char *const ids[] = {
#define BREAK_ID(constant, id, clause) [LAPSE_BREAK_##constant] = id,
        BREAK_TABLE(BREAK_ID)
#undef BREAK_ID
    };
    return ids[what];
}

const char *lapse_explore_break_sentence(enum lapse_explore_break what) {
    static const char *const sentences[] = {
#define BREAK_SENTENCE(constant, id, clause) [LAPSE_BREAK_##constant] = clause,
        BREAK_TABLE(BREAK_SENTENCE)
#undef BREAK_SENTENCE
    };
    return sentences[what];
}

enum lapse_explore_break lapse_explore_judge(const struct scope *scope, struct holding before,
                                             const struct question *question,
                                             const struct reply *reply) {
    switch (question->verb) {
    case LAPSE_VERB_ACQUIRE:
        return acquired(scope, before, question, reply);
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
        return named(scope, before, question, reply);
    default:
        return passed(before, reply);
    }
}

static enum lapse_explore_break acquired(const struct scope *scope, struct holding before,
                                         const struct question *question,
                                         const struct reply *reply) {
    if (before.owner == OWNER_NONE) {
        if (reply->status != LAPSE_OK) {
            return LAPSE_BREAK_CLOSED;
        }
        if (!reply->has_token || reply->token <= 0 || reply->counter != reply->token) {
            return LAPSE_BREAK_TOKEN;
        }
        bool whole = holds(reply, question->owner, scope->span) &&
                     reply->named == question->owner && tells(scope, reply, scope->span);
        return whole && !reply->renewed ? LAPSE_BREAK_NONE : LAPSE_BREAK_SHORT;
    }
    if (before.owner >= 0 && before.owner == question->owner) {
        bool same = reply->status == LAPSE_OK && reply->renewed && reply->has_token &&
                    reply->token == 0 && reply->named == before.owner && unchanged(before, reply) &&
                    tells(scope, reply, before.left);
        return same ? LAPSE_BREAK_NONE : LAPSE_BREAK_AGAIN;
    }
    if (reply->status == LAPSE_OK) {
        return LAPSE_BREAK_TWO_HOLD;
    }
    bool refused = reply->status == LAPSE_HELD && !reply->has_token &&
                   reply->named == before.owner && unchanged(before, reply) &&
                   tells(scope, reply, before.left);
    return refused ? LAPSE_BREAK_NONE : LAPSE_BREAK_HELD;
}

/* An extend or a release: a token names the grant. */
static enum lapse_explore_break named(const struct scope *scope, struct holding before,
                                      const struct question *question, const struct reply *reply) {
    bool extend = question->verb == LAPSE_VERB_EXTEND;
    if (before.owner == OWNER_NONE) {
        enum lapse_status wanted = extend ? LAPSE_LOST : LAPSE_ABSENT;
        bool refused = reply->status == wanted && unchanged(before, reply);
        return refused ? LAPSE_BREAK_NONE : LAPSE_BREAK_REVIVED;
    }
    if (question->token != 0) {
        bool refused = reply->status == LAPSE_NOT_OWNER && unchanged(before, reply);
        return refused ? LAPSE_BREAK_NONE : LAPSE_BREAK_FOREIGN;
    }
    if (reply->counter != 0 || (extend && (!reply->has_token || reply->token != 0))) {
        return LAPSE_BREAK_RENAMED;
    }
    if (extend) {
        bool whole = reply->status == LAPSE_OK && holds(reply, before.owner, scope->span) &&
                     tells(scope, reply, scope->span);
        return whole ? LAPSE_BREAK_NONE : LAPSE_BREAK_EXTENDED;
    }
    bool freed = reply->status == LAPSE_OK && holds(reply, OWNER_NONE, 0);
    return freed ? LAPSE_BREAK_NONE : LAPSE_BREAK_KEPT;
}

/* A grain has passed, and what had ended was reaped. */
static enum lapse_explore_break passed(struct holding before, const struct reply *reply) {
    int32_t left = before.left > 1 ? before.left - 1 : 0;
    int32_t owner = left > 0 ? before.owner : OWNER_NONE;
    if (reply->counter != 0) {
        return LAPSE_BREAK_TOKEN;
    }
    if (reply->after.unreaped) {
        return LAPSE_BREAK_UNREAPED;
    }
    if (holds(reply, owner, left)) {
        return LAPSE_BREAK_NONE;
    }
    return left > 0 ? LAPSE_BREAK_SHORT : LAPSE_BREAK_TWO_HOLD;
}

static bool holds(const struct reply *reply, int32_t owner, int32_t left) {
    return reply->after.owner == owner && reply->after.left == left && reply->whole;
}

static bool unchanged(struct holding before, const struct reply *reply) {
    return reply->counter == 0 && holds(reply, before.owner, before.left);
}

/* The answer says that so much is left, and an end that fits. */
static bool tells(const struct scope *scope, const struct reply *reply, int32_t left) {
    return reply->left_ns == left * scope->grain_ns && reply->end_ns == reply->left_ns;
}
