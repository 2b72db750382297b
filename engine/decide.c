/* The policies, asked for in one place. Each function answers one question that systems answer
 * differently; strict's answer comes first. */
#include "decide.h"

enum {
    UNUSED_RECORDS_MIN = 200, /* with fewer ephemeral leases none is dropped */
    UNUSED_MESSAGES = 500,    /* they are looked at once in so many calls */
    UNUSED_S = 1800
};

#define SWEEP_APART_NS (250 * LAPSE_NS_PER_MS)
#define REAP_APART_NS (60 * LAPSE_NS_PER_S)
#define RENEW_AT_ONCE_NS (60 * LAPSE_NS_PER_S)

static bool ends_last(const struct lapse_state *state, const struct lapse_node *node,
                      const struct lapse_now *now);
static int64_t at_end(const struct lapse_state *state);
static int64_t apart_ns(const struct lapse_state *state);
static int64_t cut(const struct lapse_state *state, int64_t ns);
static int64_t plus(int64_t ns, int64_t more);
static int64_t least_above(const struct lapse_state *state, int64_t end_ns);
static struct lapse_policies policies_of_code(uint64_t code);
static const char *profile_of(uint64_t code);
static struct lapse_bytes value_word(enum lapse_policy policy, uint8_t value);

struct lapse_now lapse_decide_now_by_policy(const struct lapse_state *state,
                                            struct lapse_steady store, struct lapse_wall wall,
                                            int64_t log_seq) {
    struct lapse_now now = {.store = {cut(state, store.ns)},
                            .wall = {cut(state, wall.ns)},
                            .log_seq = log_seq};
    now.due_ns = now.store.ns - at_end(state);
    now.due_keys_ns = now.due_ns;
    if (lapse_decide_sees_late(state)) {
        now.due_keys_ns = state->swept - at_end(state);
    }
    now.due_wall_ns = lapse_decide_wall_due(state, wall);
    return now;
}

int64_t lapse_decide_wall_due(const struct lapse_state *state, struct lapse_wall wall) {
    int64_t ns = cut(state, wall.ns);
    return ns == INT64_MIN ? ns : ns - at_end(state);
}

bool lapse_decide_sees_late(const struct lapse_state *state) {
    return lapse_policy(state, LAPSE_POLICY_END_SEEN) != 0;
}

bool lapse_decide_sweeps(const struct lapse_state *state, const struct lapse_now *now) {
    if (state->swept == 0 || now->store.ns < state->swept) {
        return true;
    }
    return now->store.ns - state->swept >= apart_ns(state);
}

bool lapse_decide_notes_sweeps(const struct lapse_state *state) {
    return apart_ns(state) > 0;
}

struct lapse_now lapse_decide_sweep(const struct lapse_now *now) {
    struct lapse_now sweep = *now;
    sweep.due_keys_ns = sweep.due_ns;
    return sweep;
}

int64_t lapse_decide_reap_at(const struct lapse_state *state, int64_t end_ns) {
    int64_t at = least_above(state, end_ns);
    if (state->swept > 0) {
        int64_t next = plus(state->swept, apart_ns(state));
        return at < next ? next : at;
    }
    return at;
}

int64_t lapse_decide_come_at(const struct lapse_state *state, int64_t end_ns) {
    return least_above(state, end_ns);
}

bool lapse_decide_advance_by_policy(const struct lapse_state *state, const struct lapse_mark *from,
                                    const struct lapse_reading *reading, struct lapse_mark *ret) {
    unsigned back = lapse_policy(state, LAPSE_POLICY_WALL_BACK);
    if (back == 0) {
        return lapse_mark_advance(from, reading, ret);
    }
    /* Store time is the wall's: its steps move every span. */
    struct lapse_reading shown = *reading;
    if (back == LAPSE_WALL_BACK_FROZEN && shown.wall.ns < from->reading.wall.ns) {
        shown.wall = from->reading.wall;
    }
    int64_t passed = 0;
    int64_t store = 0;
    if (!lapse_ns_sub(shown.wall.ns, from->reading.wall.ns, &passed) ||
        !lapse_ns_add(from->store.ns, passed, &store)) {
        return false;
    }
    if (store < 0) {
        /* A wall from before the store's beginning counts as its beginning. */
        store = 0;
        shown.wall.ns = from->reading.wall.ns - from->store.ns;
    }
    *ret = (struct lapse_mark){{store}, shown};
    return true;
}

bool lapse_decide_time_known(const struct lapse_state *state, const struct lapse_reading *reading) {
    const struct lapse_reading *from = &state->mark.reading;
    bool follows_wall = lapse_policy(state, LAPSE_POLICY_WALL_BACK) != 0;
    return follows_wall || (from->boot == reading->boot && from->raw_ns <= reading->raw_ns);
}

bool lapse_decide_time_returns(const struct lapse_state *state) {
    return lapse_policy(state, LAPSE_POLICY_WALL_BACK) == LAPSE_WALL_BACK_MOVES;
}

enum lapse_status lapse_decide_span(const struct lapse_state *state, bool own,
                                    struct lapse_span *span, struct lapse_error *err) {
    unsigned resolution = lapse_policy(state, LAPSE_POLICY_RESOLUTION);
    if (resolution == 0 || (resolution == LAPSE_RESOLUTION_S && !own)) {
        return LAPSE_OK;
    }
    bool ms = resolution == LAPSE_RESOLUTION_MS;
    int64_t unit = ms ? LAPSE_NS_PER_MS : LAPSE_NS_PER_S;
    if (span->ns < unit) {
        char text[LAPSE_TIME_TEXT_MAX];
        return lapse_error_set(err, LAPSE_INVALID,
                               "a term of %s is shorter than 1 %s, which this store counts terms "
                               "in; give at least that",
                               lapse_span_print(*span, text), ms ? "ms" : "s");
    }
    span->ns -= span->ns % unit;
    return LAPSE_OK;
}

struct lapse_wall lapse_decide_date(const struct lapse_state *state, struct lapse_wall date) {
    return (struct lapse_wall){cut(state, date.ns)};
}

enum lapse_status lapse_decide_own_term_by_policy(const struct lapse_state *state,
                                                  const struct lapse_bucket *bucket,
                                                  const struct lapse_term *given,
                                                  const struct lapse_term **ret,
                                                  struct lapse_error *err) {
    static const struct lapse_term none = {0};
    unsigned policy = lapse_policy(state, LAPSE_POLICY_OWN_TERM);
    *ret = given;
    if (policy == 0 || bucket->config.markers.ns > 0 || given->given == 0 ||
        given->given == LAPSE_TERM_KEEP) {
        return LAPSE_OK;
    }
    if (policy == LAPSE_OWN_TERM_IGNORED) {
        *ret = &none;
        return LAPSE_OK;
    }
    char name[80];
    return lapse_error_set(
        err, LAPSE_INVALID,
        "the call gives a term of its own and bucket `%s` has no markers, without which this store "
        "takes none; open it with markers, or leave the term to the bucket",
        lapse_bytes_print(lapse_node_key(bucket->row), name, sizeof(name)));
}

const struct lapse_term *lapse_decide_default_by_policy(const struct lapse_state *state,
                                                        const struct lapse_bucket *bucket) {
    static const struct lapse_term none = {0};
    bool call = lapse_policy(state, LAPSE_POLICY_PLAIN_SET) == LAPSE_PLAIN_SET_CALL;
    return call ? &none : &bucket->config.term;
}

bool lapse_decide_keeps_end_by_policy(const struct lapse_state *state,
                                      const struct lapse_bucket *bucket,
                                      const struct lapse_term *own) {
    return lapse_policy(state, LAPSE_POLICY_PLAIN_SET) == LAPSE_PLAIN_SET_KEEP && own->given == 0 &&
           bucket->config.term.given != LAPSE_TERM_IDLE;
}

void lapse_decide_bounds_by_policy(const struct lapse_state *state,
                                   const struct lapse_bucket *bucket, const struct lapse_now *now,
                                   struct lapse_image *image) {
    const struct lapse_bucket_config *config = &bucket->config;
    if (lapse_policy(state, LAPSE_POLICY_OWN_BOUNDS) == 0 || image->source != LAPSE_SOURCE_OWN ||
        image->end_kind != LAPSE_END_STEADY || image->idle || image->span_ns <= 0) {
        return;
    }
    int64_t span = image->span_ns;
    int64_t end = 0;
    if (config->history > 1 && span < config->markers.ns) {
        span = config->markers.ns;
    }
    if (config->term.given == LAPSE_TERM_TTL && span > config->term.ttl.ns) {
        span = config->term.ttl.ns;
    }
    if (lapse_ns_add(now->store.ns, span, &end)) {
        image->span_ns = span;
        image->end_ns = end;
    }
}

void lapse_decide_idle_own_by_policy(const struct lapse_state *state,
                                     const struct lapse_bucket *bucket,
                                     const struct lapse_now *now, struct lapse_image *image) {
    if (lapse_policy(state, LAPSE_POLICY_IDLE_OWN) == 0 ||
        bucket->config.term.given != LAPSE_TERM_IDLE || image->source != LAPSE_SOURCE_OWN ||
        image->idle || lapse_term_past(image, now)) {
        return;
    }
    if (image->end_kind == LAPSE_END_WALL) {
        int64_t left = 0;
        int64_t end = 0;
        if (!lapse_ns_sub(image->end_ns, now->wall.ns, &left) ||
            !lapse_ns_add(now->store.ns, left, &end)) {
            return;
        }
        image->end_ns = end;
        image->end_kind = LAPSE_END_STEADY;
    }
    image->idle = true;
    image->span_ns = bucket->config.term.idle.ns;
    image->aux.cap_ns = 0;
}

enum lapse_status lapse_decide_words(const struct lapse_state *state,
                                     const struct lapse_bucket_config *config,
                                     struct lapse_error *err) {
    if (lapse_policy(state, LAPSE_POLICY_MARKERS) != 0 && config->markers.ns > 0) {
        char text[LAPSE_TIME_TEXT_MAX];
        return lapse_error_set(err, LAPSE_INVALID,
                               "markers of %s are asked for and this store follows `markers: "
                               "none`; open the bucket without",
                               lapse_span_print(config->markers, text));
    }
    if (config->first_revision > 1 && !lapse_decide_by_bucket(state)) {
        return lapse_error_set(err, LAPSE_INVALID,
                               "a first revision of %lld is asked for and this store does not "
                               "count revisions by bucket; open the bucket without",
                               (long long)config->first_revision);
    }
    struct lapse_span span =
        config->term.given == LAPSE_TERM_IDLE ? config->term.idle : config->term.ttl;
    return config->term.given == 0 ? LAPSE_OK : lapse_decide_span(state, false, &span, err);
}

int64_t lapse_decide_first_revision(const struct lapse_state *state) {
    return lapse_policy(state, LAPSE_POLICY_REVISION) == LAPSE_REVISION_KEY ? 0 : 1;
}

bool lapse_decide_tells(const struct lapse_state *state, int64_t revision, int64_t old_revision) {
    int64_t first = lapse_decide_first_revision(state);
    if (old_revision >= first) {
        /* A key that never was is deleted by the first of its revisions. */
        return old_revision < revision || (first == 0 && revision == 0);
    }
    return old_revision == 0 && lapse_policy(state, LAPSE_POLICY_DELETE_ENDED) != 0;
}

bool lapse_decide_next_revision_by_policy(const struct lapse_state *state,
                                          const struct lapse_bucket *bucket,
                                          struct lapse_bytes key, int64_t *ret) {
    int64_t last = bucket->row->now.revision;
    if (lapse_policy(state, LAPSE_POLICY_REVISION) == LAPSE_REVISION_STORE) {
        last = state->revision;
    } else if (lapse_policy(state, LAPSE_POLICY_REVISION) == LAPSE_REVISION_KEY) {
        const struct lapse_node *newest = lapse_table_find(&bucket->records, key);
        last = newest == NULL ? -1 : newest->now.revision;
    }
    *ret = last == INT64_MAX ? last : last + 1;
    return last != INT64_MAX;
}

bool lapse_decide_takes_revision_by_policy(const struct lapse_state *state,
                                           const struct lapse_bucket *bucket,
                                           enum lapse_event_kind kind) {
    bool removes = kind == LAPSE_EVENT_DELETE || kind == LAPSE_EVENT_PURGE;
    return lapse_policy(state, LAPSE_POLICY_REVISION) != LAPSE_REVISION_STORE || !removes ||
           lapse_decide_leaves_trace(state, bucket);
}

bool lapse_decide_leaves_trace(const struct lapse_state *state, const struct lapse_bucket *bucket) {
    return bucket->config.markers.ns > 0 ||
           lapse_policy(state, LAPSE_POLICY_REVISION) == LAPSE_REVISION_RECORDS;
}

int64_t lapse_decide_trace_ns(const struct lapse_state *state, const struct lapse_bucket *bucket,
                              enum lapse_record_kind kind) {
    const struct lapse_bucket_config *config = &bucket->config;
    if (lapse_policy(state, LAPSE_POLICY_REVISION) != LAPSE_REVISION_RECORDS) {
        return config->markers.ns;
    }
    /* They age as values do, a marker at most as long as it was given. */
    int64_t age = config->term.given == LAPSE_TERM_TTL ? config->term.ttl.ns : 0;
    bool shorter = age == 0 || config->markers.ns < age;
    return kind == LAPSE_RECORD_MARKER && shorter ? config->markers.ns : age;
}

bool lapse_decide_marks_end(const struct lapse_state *state, const struct lapse_bucket *bucket,
                            enum lapse_record_kind kind) {
    if (bucket->config.markers.ns <= 0) {
        return false;
    }
    bool ages = lapse_policy(state, LAPSE_POLICY_REVISION) == LAPSE_REVISION_RECORDS;
    bool purged = ages && lapse_policy(state, LAPSE_POLICY_PURGE_MARKER) == 0;
    return kind == LAPSE_RECORD_VALUE || (kind == LAPSE_RECORD_TOMBSTONE && ages) ||
           (kind == LAPSE_RECORD_PURGE && purged);
}

bool lapse_decide_stays_by_policy(const struct lapse_state *state, const struct lapse_node *node,
                                  const struct lapse_now *now) {
    if (!lapse_decide_may_stay(state, node)) {
        return false;
    }
    return lapse_decide_older_lives(state) ? ends_last(state, node, now) : !node->now.older;
}

bool lapse_decide_may_stay(const struct lapse_state *state, const struct lapse_node *node) {
    const struct lapse_image *image = &node->now;
    if (!lapse_decide_keeps_unmarked(state) || !lapse_decide_by_bucket(state) ||
        image->record != LAPSE_RECORD_VALUE || image->source == LAPSE_SOURCE_SESSION ||
        (image->end_kind == LAPSE_END_STEADY && image->span_ns == 0)) {
        return false;
    }
    const struct lapse_bucket *bucket = lapse_node_bucket(state, node);
    return lapse_decide_marks_end(state, bucket, LAPSE_RECORD_VALUE) &&
           bucket->row->now.revision == INT64_MAX;
}

bool lapse_decide_version(const struct lapse_job *job, const struct lapse_node *live,
                          struct lapse_node *newest, int64_t *ret_found) {
    const struct lapse_state *state = job->state;
    const struct lapse_node *node = live;
    int64_t none = 0;
    bool may_be_none = false;
    switch (lapse_policy(state, LAPSE_POLICY_IF_VERSION)) {
    case LAPSE_IF_VERSION_LAST:
        node = lapse_record_current(state, newest, &job->now, false);
        if (node != NULL &&
            (node->now.record == LAPSE_RECORD_GONE || !lapse_state_live(node, &job->now)) &&
            !lapse_decide_stays(state, node, &job->now)) {
            node = NULL;
        }
        may_be_none = true;
        break;
    case LAPSE_IF_VERSION_REMEMBERED:
        node = newest;
        none = -1;
        may_be_none = true;
        break;
    default:
        break;
    }
    *ret_found = node == NULL ? none : node->now.revision;
    return (node != NULL || may_be_none) && *ret_found == job->command->u.write.if_version;
}

bool lapse_decide_deletes_ended(const struct lapse_state *state, const struct lapse_node *newest) {
    switch (lapse_policy(state, LAPSE_POLICY_DELETE_ENDED)) {
    case LAPSE_DELETE_ENDED_TOMBSTONE:
        return true;
    case LAPSE_DELETE_ENDED_DELETED:
        return newest != NULL && (newest->now.record == LAPSE_RECORD_VALUE ||
                                  newest->now.why != LAPSE_WHY_NONE);
    default:
        return false;
    }
}

bool lapse_decide_condition_first(const struct lapse_state *state) {
    return lapse_policy(state, LAPSE_POLICY_REQUEST) != 0;
}

bool lapse_decide_used_in_time(const struct lapse_state *state, int64_t used_ns, int64_t end_ns) {
    return lapse_decide_sees_late(state) || used_ns - at_end(state) < end_ns;
}

bool lapse_decide_takes_flush(const struct lapse_state *state, const struct lapse_node *node,
                              const struct lapse_now *now) {
    return lapse_decide_shows_renewal(state) || lapse_policy(state, LAPSE_POLICY_IDLE_LATE) != 0 ||
           lapse_state_live(node, now);
}

int64_t lapse_decide_little_ns(const struct lapse_state *state, int64_t span_ns) {
    int64_t half = span_ns / 2;
    if (half > RENEW_AT_ONCE_NS || !lapse_decide_shows_renewal(state)) {
        return RENEW_AT_ONCE_NS;
    }
    return half < 2 * LAPSE_NS_PER_S ? 2 * LAPSE_NS_PER_S : half;
}

bool lapse_decide_looks_unused(const struct lapse_state *state) {
    return state->ephemeral.messages % UNUSED_MESSAGES == 0 &&
           state->ephemeral.names.count >= UNUSED_RECORDS_MIN;
}

bool lapse_decide_unused(const struct lapse_now *now, int64_t used_ns) {
    return now->store.ns - used_ns >= UNUSED_S * LAPSE_NS_PER_S;
}

enum lapse_status lapse_decide_same_policies(const struct lapse_state *state, uint64_t code,
                                             struct lapse_error *err) {
    struct lapse_policies stored = policies_of_code(code);
    if (lapse_policies_check(&stored, NULL) != LAPSE_OK || lapse_policies_code(&stored) != code) {
        return lapse_error_set(err, LAPSE_CORRUPT,
                               "the mark names policies that no store has (code %llx)",
                               (unsigned long long)code);
    }
    uint64_t asked = lapse_policies_code(&state->policies);
    if (asked == code) {
        return LAPSE_OK;
    }
    int policy = 0;
    while (stored.value[policy] == state->policies.value[policy]) {
        policy++;
    }
    struct lapse_bytes has = value_word((enum lapse_policy)policy, stored.value[policy]);
    struct lapse_bytes want =
        value_word((enum lapse_policy)policy, state->policies.value[policy]);
    return lapse_error_set(
        err, LAPSE_INVALID,
        "the store was made with profile `%s` and is opened with `%s` (policy %s: it has `%.*s`, "
        "asked for is `%.*s`); open it with the policies that it was made with, or make another",
        profile_of(code), profile_of(asked), lapse_policy_word((enum lapse_policy)policy),
        (int)has.len, (const char *)has.data, (int)want.len, (const char *)want.data);
}

/* Whether all records of the node's key have ended, and it as the last, in the reaper's order. */
static bool ends_last(const struct lapse_state *state, const struct lapse_node *node,
                      const struct lapse_now *now) {
    const struct lapse_table *records = &lapse_node_bucket(state, node)->records;
    const struct lapse_node *other = lapse_table_find(records, lapse_node_key(node));
    for (; other != NULL; other = lapse_table_older(other)) {
        if (other != node &&
            (lapse_idle_live(state, other, now) || lapse_reap_before(state, node, other, now))) {
            return false;
        }
    }
    return true;
}

/* How far below the instant an end must lie to have come. */
static int64_t at_end(const struct lapse_state *state) {
    return lapse_policy(state, LAPSE_POLICY_AT_END) == 0 ? 0 : 1;
}

/* How far apart two sweeps of the reaper lie at least. */
static int64_t apart_ns(const struct lapse_state *state) {
    if (lapse_policy(state, LAPSE_POLICY_REAPER) != 0) {
        return REAP_APART_NS;
    }
    return lapse_decide_sees_late(state) ? SWEEP_APART_NS : 0;
}

/* An instant at the resolution of the store. */
static int64_t cut(const struct lapse_state *state, int64_t ns) {
    if (lapse_policy(state, LAPSE_POLICY_RESOLUTION) != LAPSE_RESOLUTION_MS) {
        return ns;
    }
    int64_t over = ns % LAPSE_NS_PER_MS;
    over += over < 0 ? LAPSE_NS_PER_MS : 0;
    return ns < INT64_MIN + over ? ns : ns - over;
}

/* The sum, or the end of the range. */
static int64_t plus(int64_t ns, int64_t more) {
    int64_t sum = INT64_MAX;
    (void)lapse_ns_add(ns, more, &sum);
    return sum;
}

/* The first instant at which an end has come. */
static int64_t least_above(const struct lapse_state *state, int64_t end_ns) {
    bool ms = lapse_policy(state, LAPSE_POLICY_RESOLUTION) == LAPSE_RESOLUTION_MS;
    return at_end(state) == 0 ? end_ns : plus(end_ns, ms ? LAPSE_NS_PER_MS : 1);
}

static struct lapse_policies policies_of_code(uint64_t code) {
    struct lapse_policies policies = {{0}};
    for (size_t i = 0; i < LAPSE_POLICIES; i++) {
        policies.value[i] = (uint8_t)(code >> (2 * i) & 3u);
    }
    return policies;
}

/* The profile of a code, or what says that it is none. */
static const char *profile_of(uint64_t code) {
    for (int i = 0; i < LAPSE_PROFILES; i++) {
        struct lapse_policies policies = lapse_policies_of((enum lapse_profile)i);
        if (lapse_policies_code(&policies) == code) {
            return lapse_profile_word((enum lapse_profile)i);
        }
    }
    return "policies of its own";
}

static struct lapse_bytes value_word(enum lapse_policy policy, uint8_t value) {
    const char *at = lapse_policy_values(policy);
    struct lapse_bytes word = {(const unsigned char *)at, 0};
    for (; *at != '\0'; at++) {
        if (*at == ' ' && value == 0) {
            break;
        }
        if (*at == ' ') {
            value--;
            word = (struct lapse_bytes){(const unsigned char *)at + 1, 0};
        } else {
            word.len++;
        }
    }
    return word;
}
