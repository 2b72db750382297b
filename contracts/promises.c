/* What each policy gives up. The words are those of the engine's table of policies, read here as
 * data: the contracts call no function that knows one.
 *
 * An id stands here if a rule charges it under that value alone; a few values are refusals, which
 * break nothing. Where the wall moves store time, terms still hold in store time: what breaks is
 * store time itself. */
#include "contracts/promise.h"

#include <string.h>

/* X(POLICY, value, ids) */
#define PROMISES(X)                                                                                \
    X(AT_END, 1,                                                                                   \
      "KV-02 KV-03 KV-04 CAS-01 ONCE-01 WATCH-04 LEASE-02 LEASE-04 LEASE-07 LEASE-09 CLOCK-01 "    \
      "CLOCK-02")                                                                                  \
    X(END_SEEN, 1, "KV-01 KV-03 KV-04 KV-13 CAS-01 CAS-03 WATCH-03 WATCH-04")                      \
    X(RESOLUTION, 1, "KV-01 KV-03 LEASE-02 LEASE-06 CLOCK-06")                                     \
    X(RESOLUTION, 2, "KV-01")                                                                      \
    X(PLAIN_SET, 1, "KV-01 KV-02 KV-07")                                                           \
    X(PLAIN_SET, 2, "KV-01 KV-02 KV-03 KV-07 KV-08")                                               \
    X(ZERO_SPAN, 1, "KV-01 CLOCK-05")                                                              \
    X(ZERO_SPAN, 2, "KV-01 KV-02 CLOCK-05")                                                        \
    X(OVERFLOW, 1, "KV-01 CLOCK-05")                                                               \
    X(OVERFLOW, 2, "KV-01 CLOCK-05")                                                               \
    X(OWN_TERM, 1, "")                                                                             \
    X(OWN_TERM, 2, "KV-01 KV-02 KV-03 KV-05 KV-06 KV-08 KV-09 KV-13 CLOCK-05")                     \
    X(REVISION, 1, "WATCH-03 WATCH-05")                                                            \
    X(REVISION, 2, "CAS-04")                                                                       \
    X(REVISION, 3, "CAS-04 WATCH-05")                                                              \
    X(IF_VERSION, 1, "KV-03 KV-04 CAS-01")                                                         \
    X(IF_VERSION, 2, "KV-03 KV-04 CAS-01 WATCH-05 CLOCK-02")                                       \
    X(OLDER, 1, "KV-03 KV-04 KV-11 CAS-01 WATCH-03")                                               \
    X(DELETE_ENDED, 1, "KV-03 KV-04")                                                              \
    X(DELETE_ENDED, 2, "KV-03 KV-04 WATCH-05 CLOCK-02")                                            \
    X(IDLE_OWN, 1, "KV-01 KV-02 KV-03 KV-08 KV-13")                                                \
    X(IDLE_LATE, 1, "KV-03 KV-08")                                                                 \
    X(IDLE_SHOWN, 1, "KV-08")                                                                      \
    X(TOKEN, 1, "FENCE-02")                                                                        \
    X(RELEASE_ENDED, 1, "LEASE-09")                                                                \
    X(EPHEMERAL_UNUSED, 1, "LEASE-02 FENCE-01 FENCE-02")                                           \
    X(EPHEMERAL_TOKEN, 1, "FENCE-01 FENCE-02")                                                     \
    X(DURABILITY, 1, "LEASE-02 LEASE-03 LEASE-08 FENCE-01")                                        \
    X(REQUEST, 1, "ONCE-01")                                                                       \
    X(PURGE_MARKER, 1, "WATCH-05")                                                                 \
    X(MARKERS, 1, "")                                                                              \
    X(WALL_BACK, 1, "CLOCK-03 CLOCK-06")                                                           \
    X(WALL_BACK, 2, "CLOCK-04 CLOCK-06")

#define PROMISE_ROW(the_policy, the_value, the_ids) \
    {.policy = LAPSE_POLICY_##the_policy, .value = (the_value), .ids = (the_ids)},
static const struct lapse_promise promises[] = {PROMISES(PROMISE_ROW)};
#undef PROMISE_ROW

static bool names(const char *ids, const char *id);

const struct lapse_promise *lapse_promise_table(size_t *ret_count) {
    *ret_count = sizeof promises / sizeof promises[0];
    return promises;
}

const struct lapse_promise *lapse_promise_break(const struct lapse_policies *policies,
                                                const char *id, const struct lapse_promise *after) {
    size_t from = after == NULL ? 0 : (size_t)(after - promises) + 1;
    for (size_t i = from; i < sizeof promises / sizeof promises[0]; i++) {
        const struct lapse_promise *promise = &promises[i];
        if (policies->value[promise->policy] == promise->value && names(promise->ids, id))
            return promise;
    }
    return NULL;
}

bool lapse_promised(const struct lapse_setup *setup, const char *id) {
    return setup == NULL || lapse_promise_break(&setup->policies, id, NULL) == NULL;
}

bool lapse_promise_of_profile(const struct lapse_promise *promise, struct lapse_bytes profile) {
    static const char *const words[LAPSE_PROFILES] = {"strict", "nats", "tinystore", "kahuna"};
    static const uint8_t values[][LAPSE_PROFILES] = {
#define PROMISE_PROFILES(id, word, values, strict, nats, tinystore, kahuna)                        \
    {strict, nats, tinystore, kahuna},
        LAPSE_POLICY_TABLE(PROMISE_PROFILES)
#undef PROMISE_PROFILES
    };
    for (int i = 0; i < LAPSE_PROFILES; i++) {
        if (lapse_bytes_equal(lapse_bytes_of(words[i]), profile))
            return values[promise->policy][i] == promise->value;
    }
    return false;
}

const char *lapse_promise_policy(const struct lapse_promise *promise) {
    static const char *const words[] = {
#define PROMISE_WORD(id, word, values, strict, nats, tinystore, kahuna) word,
        LAPSE_POLICY_TABLE(PROMISE_WORD)
#undef PROMISE_WORD
    };
    return (size_t)promise->policy < sizeof words / sizeof words[0] ? words[promise->policy] : "?";
}

struct lapse_bytes lapse_promise_value(const struct lapse_promise *promise) {
    static const char *const values[] = {
#define PROMISE_VALUES(id, word, values, strict, nats, tinystore, kahuna) values,
        LAPSE_POLICY_TABLE(PROMISE_VALUES)
#undef PROMISE_VALUES
    };
    const char *word = values[promise->policy];
    for (uint8_t skip = promise->value; skip > 0; skip--) {
        const char *space = strchr(word, ' ');
        if (space == NULL)
            return lapse_bytes_of("?");
        word = space + 1;
    }
    return (struct lapse_bytes){(const unsigned char *)word, strcspn(word, " ")};
}

static bool names(const char *ids, const char *id) {
    size_t len = strlen(id);
    const char *found = ids;
    while (len > 0 && (found = strstr(found, id)) != NULL) {
        bool begins = found == ids || found[-1] == ' ';
        if (begins && (found[len] == ' ' || found[len] == '\0'))
            return true;
        found += len;
    }
    return false;
}
