/* Where systems differ from strict, as far as it is seen from outside: each policy widens a window,
 * changes what a term is, or lets a model accept more. What cannot be told so is named, and left
 * out: the keys of a history, or its leases, not both. */
#include "linear_split.h"

enum { RESOLUTION_MS = 1, RESOLUTION_S = 2 };
enum { PLAIN_SET_KEEP = 1, PLAIN_SET_CALL = 2, OWN_TERM_IGNORED = 2 };
enum { ZERO_INVALID = 0, ZERO_ENDED = 1 };
enum { REVISION_STORE = 2, REVISION_KEY = 3, IF_VERSION_LAST = 1, IF_VERSION_REMEMBERED = 2 };
enum { TOKEN_OF_NAME = 1, TOKEN_WRITE = 2, RELEASE_ENDED_RELEASED = 1, WALL_BACK_MOVES = 1 };
static const int64_t MS = 1000000, SWEEP_NS = 250 * 1000000;

static bool any_bucket(const struct lapse_linear_split *split,
                       bool (*is)(const struct lapse_bucket_config *config));
static bool keeps_history(const struct lapse_bucket_config *config);
static bool is_idle(const struct lapse_bucket_config *config);
static bool any_idle_call(const struct lapse_linear_split *split);
static bool any_ephemeral(const struct lapse_linear_split *split);

unsigned lapse_linear_policy(const struct lapse_linear_split *split, enum lapse_policy policy) {
    return split->setup->policies.value[policy];
}

const char *lapse_linear_policy_keys(const struct lapse_linear_split *split) {
    bool idle = any_bucket(split, is_idle) || any_idle_call(split);
    if (lapse_linear_policy(split, LAPSE_POLICY_OLDER) != 0 && any_bucket(split, keeps_history)) {
        return "keys, as an older value may be current again (older_value: current)";
    }
    if (idle && lapse_linear_policy(split, LAPSE_POLICY_IDLE_OWN) != 0) {
        return "keys, as a read may change which term they have (own_term_in_idle: lost)";
    }
    if (idle && lapse_linear_policy(split, LAPSE_POLICY_IDLE_LATE) != 0) {
        return "keys, as a renewal may bring back what has ended (late_flush: revives)";
    }
    if (split->terms.wall_moved &&
        lapse_linear_policy(split, LAPSE_POLICY_WALL_BACK) == WALL_BACK_MOVES) {
        return "keys, as what has ended may return with the wall clock (wall_back: moves)";
    }
    return NULL;
}

const char *lapse_linear_policy_leases(const struct lapse_linear_split *split) {
    if (lapse_linear_policy(split, LAPSE_POLICY_TOKEN) == TOKEN_WRITE) {
        return "leases, as their tokens are revisions of writes (lease_token: write)";
    }
    if (lapse_linear_policy(split, LAPSE_POLICY_ACQUIRE_AGAIN) != 0) {
        return "leases, as their holders are refused too (acquire_again: refused)";
    }
    if (lapse_linear_policy(split, LAPSE_POLICY_DURABILITY) != 0 && any_ephemeral(split)) {
        return "leases, as a name may have two holders (durabilities: independent)";
    }
    if (lapse_linear_policy(split, LAPSE_POLICY_EPHEMERAL_TOKEN) != 0 && any_ephemeral(split)) {
        return "leases, as tokens may begin anew (ephemeral_token: restarts)";
    }
    if (lapse_linear_policy(split, LAPSE_POLICY_EPHEMERAL_UNUSED) != 0 && any_ephemeral(split)) {
        return "leases, as one that is unused may be dropped (ephemeral_unused: dropped)";
    }
    return NULL;
}

void lapse_linear_policy_terms(struct lapse_linear_split *split) {
    struct lapse_linear_terms *terms = &split->terms;
    bool cut = lapse_linear_policy(split, LAPSE_POLICY_RESOLUTION) == RESOLUTION_MS;
    bool sweeps = lapse_linear_policy(split, LAPSE_POLICY_END_SEEN) != 0;
    terms->by_wall = lapse_linear_policy(split, LAPSE_POLICY_WALL_BACK) != 0;
    terms->unit_ns = cut ? MS : 1;
    terms->last_ns = lapse_linear_policy(split, LAPSE_POLICY_AT_END) != 0 ? terms->unit_ns : 0;
    if (sweeps && !lapse_ns_add(SWEEP_NS, split->setup->reap_bound.ns, &terms->late_ns)) {
        terms->late_ns = INT64_MAX;
    }
}

void lapse_linear_policy_clocks(const struct lapse_linear_split *split,
                                struct lapse_linear_clocks *ret) {
    unsigned condition = lapse_linear_policy(split, LAPSE_POLICY_IF_VERSION);
    ret->last_record = condition == IF_VERSION_LAST;
    ret->remembers = condition == IF_VERSION_REMEMBERED;
    ret->tokens_from_0 = lapse_linear_policy(split, LAPSE_POLICY_TOKEN) == TOKEN_OF_NAME;
    ret->deletes_all = lapse_linear_policy(split, LAPSE_POLICY_DELETE_ENDED) != 0;
}

bool lapse_linear_policy_marks(const struct lapse_linear_split *split, struct lapse_bytes bucket) {
    struct lapse_bucket_config words;
    if (lapse_linear_policy(split, LAPSE_POLICY_IF_VERSION) != IF_VERSION_LAST) {
        return false; /* nobody asks */
    }
    bool is_known = lapse_linear_split_words(split, bucket, &words);
    return lapse_linear_policy(split, LAPSE_POLICY_MARKERS) == 0 &&
           (!is_known || words.markers.ns > 0);
}

bool lapse_linear_policy_tells_rev(const struct lapse_linear_split *split, int op) {
    unsigned scope = lapse_linear_policy(split, LAPSE_POLICY_REVISION);
    return scope != REVISION_KEY && !(scope == REVISION_STORE && op == LAPSE_KEY_REMOVE);
}

enum lapse_linear_zero lapse_linear_policy_zero(const struct lapse_linear_split *split,
                                                int64_t span_ns) {
    unsigned zero = lapse_linear_policy(split, LAPSE_POLICY_ZERO_SPAN);
    return zero == ZERO_ENDED                         ? LAPSE_ZERO_ENDS
           : zero != ZERO_INVALID && span_ns == 0 ? LAPSE_ZERO_NEVER_ENDS
                                                      : LAPSE_ZERO_REFUSED;
}

bool lapse_linear_policy_own(const struct lapse_linear_split *split,
                             const struct lapse_bucket_config *words) {
    return lapse_linear_policy(split, LAPSE_POLICY_OWN_TERM) != OWN_TERM_IGNORED ||
           words->markers.ns > 0;
}

bool lapse_linear_policy_default(const struct lapse_linear_split *split) {
    return lapse_linear_policy(split, LAPSE_POLICY_PLAIN_SET) != PLAIN_SET_CALL;
}

bool lapse_linear_policy_keeps(const struct lapse_linear_split *split,
                               const struct lapse_bucket_config *words) {
    return lapse_linear_policy(split, LAPSE_POLICY_PLAIN_SET) == PLAIN_SET_KEEP &&
           words->term.given != LAPSE_TERM_IDLE;
}

/* Of a bucket's age no own term is longer; where a marker must outlive it, none is shorter. */
void lapse_linear_policy_span(const struct lapse_linear_split *split,
                              const struct lapse_bucket_config *words, int64_t *least,
                              int64_t *most) {
    if (lapse_linear_policy(split, LAPSE_POLICY_RESOLUTION) == RESOLUTION_S) {
        *least -= *least % LAPSE_NS_PER_S;
    }
    if (lapse_linear_policy(split, LAPSE_POLICY_OWN_BOUNDS) == 0) {
        return;
    }
    if (words->history > 1 && *most < words->markers.ns) {
        *most = words->markers.ns;
    }
    if (words->term.given == LAPSE_TERM_TTL) {
        *least = *least > words->term.ttl.ns ? words->term.ttl.ns : *least;
        *most = *most > words->term.ttl.ns ? words->term.ttl.ns : *most;
    }
}

bool lapse_linear_policy_release(const struct lapse_linear_split *split) {
    return lapse_linear_policy(split, LAPSE_POLICY_RELEASE_ENDED) == RELEASE_ENDED_RELEASED;
}

static bool any_bucket(const struct lapse_linear_split *split,
                       bool (*is)(const struct lapse_bucket_config *config)) {
    for (size_t i = 0; i < split->setup->bucket_count; i++) {
        if (is(&split->setup->buckets[i].config)) {
            return true;
        }
    }
    for (size_t i = 0; i < split->word_count; i++) {
        const struct lapse_linear_sent *sent = &split->sent[split->words[i]];
        if (is(&sent->invoke->u.invoke.request.command.u.open.config)) {
            return true;
        }
    }
    return false;
}

static bool keeps_history(const struct lapse_bucket_config *config) {
    return config->history > 1;
}

static bool is_idle(const struct lapse_bucket_config *config) {
    return (config->term.given & LAPSE_TERM_IDLE) != 0;
}

static bool any_idle_call(const struct lapse_linear_split *split) {
    for (size_t i = 0; i < split->sent_count; i++) {
        const struct lapse_command *command = &split->sent[i].invoke->u.invoke.request.command;
        size_t members = command->verb == LAPSE_VERB_BATCH ? command->u.batch.count : 1;
        for (size_t k = 0; k < members; k++) {
            const struct lapse_command *one =
                command->verb == LAPSE_VERB_BATCH ? &command->u.batch.commands[k] : command;
            bool writes = one->verb >= LAPSE_VERB_SET && one->verb <= LAPSE_VERB_PERSIST &&
                          (one->verb <= LAPSE_VERB_UPDATE || one->verb >= LAPSE_VERB_DELETE);
            if (writes && (one->u.write.term.given & LAPSE_TERM_IDLE) != 0) {
                return true;
            }
        }
    }
    return false;
}

static bool any_ephemeral(const struct lapse_linear_split *split) {
    for (size_t i = 0; i < split->sent_count; i++) {
        const struct lapse_command *command = &split->sent[i].invoke->u.invoke.request.command;
        if (command->verb == LAPSE_VERB_ACQUIRE &&
            command->u.lease.durability == LAPSE_EPHEMERAL) {
            return true;
        }
    }
    return false;
}
