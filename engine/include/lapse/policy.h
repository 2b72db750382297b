/* Policies: where real systems differ, as data.
 *
 * A store follows one value of each policy. A profile names a value for every one of them: `strict`
 * is what the contracts describe; the others are three systems as they really behave, so that code
 * can be tested against what it will run on. There is one table; the engine, the scenario language
 * and its help read it. */
#ifndef LAPSE_POLICY_H
#define LAPSE_POLICY_H

#include "lapse/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum lapse_profile {
    LAPSE_PROFILE_STRICT = 0,
    LAPSE_PROFILE_NATS = 1,
    LAPSE_PROFILE_TINYSTORE = 2,
    LAPSE_PROFILE_KAHUNA = 3,
    LAPSE_PROFILES
};

enum { LAPSE_POLICY_VALUES_MAX = 4 };

/* X(CONSTANT, word, values, strict, nats, tinystore, kahuna): `values` are the words of its values,
 * from 0; the last four are each profile's. 0 is always strict's. The order is never changed.
 *
 * Tokens are int64. A system whose tokens are wider (TinyStore: 128 bits, a number for the store's
 * life above a counter) is reproduced in their order alone: above every earlier one of the store,
 * whatever the name, over a restart and a wall set back; not in their width or text.
 *
 * `marker_unstored: stays`: in a bucket with markers that has given its last revision, INT64_MAX, a
 * value whose term is over is live to every call, with nothing left. It goes when the bucket is
 * altered to have no markers. What had ended before the last revision was given, and had no marker
 * yet, does not come back: the event that took that has taken it too. What ends with a session goes
 * with it. */
#define LAPSE_POLICY_TABLE(X)                                                                      \
    X(AT_END, "live_at_end", "no yes", 0, 0, 0, 1)                                                 \
    X(END_SEEN, "end_seen", "exact sweep", 0, 0, 0, 0)                                             \
    X(RESOLUTION, "resolution", "ns ms s", 0, 2, 1, 1)                                             \
    X(PLAIN_SET, "plain_set", "fresh keep call", 0, 0, 1, 2)                                       \
    X(ZERO_SPAN, "zero_span", "invalid ended never", 0, 0, 1, 2)                                   \
    X(OVERFLOW, "overflow", "range ended saturate", 0, 1, 2, 2)                                    \
    X(OWN_TERM, "own_term", "allowed refused ignored", 0, 1, 0, 0)                                 \
    X(REVISION, "revision_scope", "bucket bucket_records store key", 0, 1, 2, 3)                   \
    X(IF_VERSION, "if_version", "live last remembered", 0, 1, 0, 2)                                \
    X(OLDER, "older_value", "absent current", 0, 1, 0, 0)                                          \
    X(DELETE_ENDED, "delete_ended", "absent tombstone deleted", 0, 1, 0, 2)                        \
    X(IDLE_OWN, "own_term_in_idle", "kept lost", 0, 0, 1, 0)                                       \
    X(IDLE_LATE, "late_flush", "refused revives", 0, 0, 1, 0)                                      \
    X(IDLE_SHOWN, "renewal_shown", "new old", 0, 0, 1, 0)                                          \
    X(TOKEN, "lease_token", "store name write", 0, 2, 0, 1)                                        \
    X(RELEASE_ENDED, "release_ended", "absent released conflict", 0, 2, 0, 1)                      \
    X(EPHEMERAL_UNUSED, "ephemeral_unused", "kept dropped", 0, 0, 0, 1)                            \
    X(EPHEMERAL_TOKEN, "ephemeral_token", "rises restarts", 0, 0, 0, 1)                            \
    X(DURABILITY, "durabilities", "one independent", 0, 0, 0, 1)                                   \
    X(REQUEST, "request_again", "same conflict", 0, 0, 0, 0)                                       \
    X(PURGE_MARKER, "purge_marker", "same none", 0, 1, 0, 0)                                       \
    X(MARKERS, "markers", "bucket none", 0, 0, 1, 1)                                               \
    X(WALL_BACK, "wall_back", "unmoved moves frozen", 0, 1, 1, 2)                                  \
    X(ACQUIRE_AGAIN, "acquire_again", "same refused", 0, 1, 0, 0)                                  \
    X(OWN_BOUNDS, "own_term_bounds", "none bucket", 0, 1, 0, 0)                                    \
    X(REAPER, "reaper", "due minute", 0, 0, 1, 0)                                                  \
    X(MARKER_UNSTORED, "marker_unstored", "absent stays", 0, 1, 0, 0)

enum lapse_policy {
#define LAPSE_POLICY_ENUM(id, word, values, strict, nats, tinystore, kahuna) LAPSE_POLICY_##id,
    LAPSE_POLICY_TABLE(LAPSE_POLICY_ENUM)
#undef LAPSE_POLICY_ENUM
        LAPSE_POLICIES
};

/* One value a policy: the index among its words. All 0 is strict. */
struct lapse_policies {
    uint8_t value[LAPSE_POLICIES];
};

/* The values of a profile. */
struct lapse_policies lapse_policies_of(enum lapse_profile profile);
/* "strict" .. "kahuna", or "?". */
const char *lapse_profile_word(enum lapse_profile profile);
bool lapse_profile_find(struct lapse_bytes word, enum lapse_profile *ret);
/* "live_at_end" .., or "?". */
const char *lapse_policy_word(enum lapse_policy policy);
bool lapse_policy_find(struct lapse_bytes word, enum lapse_policy *ret);
/* The words of its values, split by spaces: "no yes". */
const char *lapse_policy_values(enum lapse_policy policy);
bool lapse_policy_value_find(enum lapse_policy policy, struct lapse_bytes word, uint8_t *ret);
/* OK, or INVALID naming the policy whose value is not one of its own. */
enum lapse_status lapse_policies_check(const struct lapse_policies *policies,
                                       struct lapse_error *err);
/* All values as one number, as a store keeps it: 0 for strict; equal iff the values are. */
uint64_t lapse_policies_code(const struct lapse_policies *policies);

#ifdef __cplusplus
}
#endif
#endif
