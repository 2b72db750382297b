/* What each policy gives up. The words are those of the engine's table of policies, read here as
 * data: the contracts call no function that knows one.
 *
 * Each entry follows from what its value says, and beside it stands why. An event that breaks
 * several contracts is charged to the most special one (rules.h), so an entry names what a first
 * break can be charged to. A value that only refuses more breaks nothing. */
#include "contracts/promise.h"

#include <string.h>

/* X(POLICY, value, ids) */
#define PROMISES(X)                                                                                \
    /* At its end a key, a date, a session, a request id and a lease are there still: reads        \
       find them with nothing left, writes join them and their history (so that end has no         \
       marker), an extend and a release are in time, another's acquire is not. */                  \
    X(AT_END, 1,                                                                                   \
      "KV-02 KV-03 KV-11 KV-13 CLOCK-02 DUR-02 ONCE-01 WATCH-03 WATCH-04 LEASE-02 LEASE-04 "       \
      "LEASE-07 LEASE-09")                                                                         \
    /* Until a sweep has run, an ended key is there, a use renews it, a write over it is no        \
       new key (so its end has no marker, and its history goes on), and a watch begins with        \
       it; a crash changes nothing of that. */                                                     \
    X(END_SEEN, 1, "KV-03 KV-08 KV-11 WATCH-03 WATCH-04 DUR-02")                                   \
    /* Terms, whoever gives them, dates and store time itself are cut down to milliseconds. */     \
    X(RESOLUTION, 1, "KV-01 KV-06 KV-07 KV-08 KV-09 LEASE-02 LEASE-06 CLOCK-02 CLOCK-04 CLOCK-06") \
    /* A key's own ttl is cut down to seconds. */                                                  \
    X(RESOLUTION, 2, "KV-01 KV-06")                                                                \
    /* The end of a live key stays, be it of the default's kind or not; for an update that is      \
       KV-01. Its expired event says by which term, and that is the one that was kept. */          \
    X(PLAIN_SET, 1, "KV-01 KV-02 KV-07 WATCH-03")                                                  \
    /* The default term is not given. */                                                           \
    X(PLAIN_SET, 2, "KV-02 KV-07")                                                                 \
    /* A span of 0 is taken. */                                                                    \
    X(ZERO_SPAN, 1, "CLOCK-05")                                                                    \
    /* A span of 0 is taken. */                                                                    \
    X(ZERO_SPAN, 2, "CLOCK-05")                                                                    \
    /* A sum past the range is taken; of a default term, the end is not the sum. */                \
    X(OVERFLOW, 1, "KV-01 KV-07 CLOCK-05")                                                         \
    /* A sum past the range is taken. */                                                           \
    X(OVERFLOW, 2, "CLOCK-05")                                                                     \
    /* A refusal. */                                                                               \
    X(OWN_TERM, 1, "")                                                                             \
    /* The call's term is not looked at, be it right or not: neither chosen nor changed to,        \
       and an idle one is not renewed, or the bucket's is, as an entry's before it was. */         \
    X(OWN_TERM, 2, "KV-02 KV-03 KV-05 KV-06 KV-08 KV-09 CLOCK-05")                                 \
    /* Tombstones age with the bucket, and a marker tells their end. */                            \
    X(REVISION, 1, "WATCH-05")                                                                     \
    /* A delete takes no revision of its own. */                                                   \
    X(REVISION, 2, "CAS-04")                                                                       \
    /* Each key counts for itself, and a key that is gone keeps its row for that; markers of one   \
       end have no order of revisions. */                                                          \
    X(REVISION, 3, "CAS-04 WATCH-03 WATCH-05 REAP-01")                                             \
    /* A tombstone or marker is matched, after a crash too, and 0 matches nothing. */              \
    X(IF_VERSION, 1, "KV-03 CAS-01 DUR-01")                                                        \
    /* What is remembered of a key is matched, and its row stays for that. */                      \
    X(IF_VERSION, 2, "KV-03 CAS-01 WATCH-05 REAP-01 DUR-01")                                       \
    /* After an end without a marker, a tombstone's too, the value before is current again, with   \
       its old revision, and stays in the history; a watch from before begins with it. */          \
    X(OLDER, 1,                                                                                    \
      "KV-03 KV-11 CLOCK-02 CAS-01 CAS-02 CAS-03 WATCH-01 WATCH-03 WATCH-06 DUR-02")               \
    /* A delete of an ended key is done, also of one that was deleted before a crash. */           \
    X(DELETE_ENDED, 1, "KV-03 DUR-01")                                                             \
    /* A delete of an ended key is done once, so its row stays until then. */                      \
    X(DELETE_ENDED, 2, "KV-03 WATCH-05 REAP-01 DUR-01")                                            \
    /* A read gives the bucket's span instead, so a date is kept as one, and a marker tells an     \
       idle end: the key outlives its own, that is what is kept, and more is left than that,       \
       unless a crash loses what the read gave. */                                                 \
    X(IDLE_OWN, 1, "KV-02 KV-03 KV-09 KV-13 KV-14 WATCH-03 DUR-01")                                \
    /* A flush past the end brings back what was found ended. */                                   \
    X(IDLE_LATE, 1, "KV-04 KV-08")                                                                 \
    /* Until its flush a use has moved nothing: the old end is shown, and counts, also of an       \
       entry whose key was renewed before. */                                                      \
    X(IDLE_SHOWN, 1, "KV-08 KV-09")                                                                \
    /* Two names have the same tokens, and a name's ephemeral ones count otherwise. */             \
    X(TOKEN, 1, "FENCE-01 FENCE-02")                                                               \
    /* An extend is a write and takes a new token. */                                              \
    X(TOKEN, 2, "FENCE-02")                                                                        \
    /* The last owner releases what is no more held. */                                            \
    X(RELEASE_ENDED, 1, "LEASE-09")                                                                \
    /* A release of what is not held says conflict. */                                             \
    X(RELEASE_ENDED, 2, "LEASE-09")                                                                \
    /* A lease goes before its end, to every call, and its name counts anew. */                    \
    X(EPHEMERAL_UNUSED, 1, "LEASE-02 LEASE-03 LEASE-05 LEASE-06 LEASE-08 FENCE-01 FENCE-02")       \
    /* Each name counts from 0, and again from 0 after a loss. */                                  \
    X(EPHEMERAL_TOKEN, 1, "FENCE-01 FENCE-02")                                                     \
    /* A name has two leases: the second is granted while the first is held, and each call         \
       asks one of them, also after a start. */                                                    \
    X(DURABILITY, 1,                                                                               \
      "LEASE-01 LEASE-02 LEASE-03 LEASE-04 LEASE-05 LEASE-06 LEASE-07 LEASE-08 LEASE-09 "          \
      "FENCE-01 FENCE-02 DUR-04 DUR-05")                                                           \
    /* A conditional write sent again conflicts with itself. */                                    \
    X(REQUEST, 1, "ONCE-01")                                                                       \
    /* What strict does too: it is a choice only where tombstones have markers. */                 \
    X(PURGE_MARKER, 1, "")                                                                         \
    /* A refusal. */                                                                               \
    X(MARKERS, 1, "")                                                                              \
    /* Store time is the wall's, back too, but not below 0, where it stands still; a key that      \
       returns meanwhile is CLOCK-03's. A marker comes when the wall has moved to its end, or      \
       past it. */                                                                                 \
    X(WALL_BACK, 1, "CLOCK-01 CLOCK-03 CLOCK-04 CLOCK-06 WATCH-03")                                \
    /* Store time is the wall's, and stands still while that is behind; a start goes on from       \
       the last mark, or from the wall. Markers as above. */                                       \
    X(WALL_BACK, 2, "CLOCK-01 CLOCK-03 CLOCK-04 CLOCK-06 WATCH-03")                                \
    /* The owner is refused what it holds. */                                                      \
    X(ACQUIRE_AGAIN, 1, "LEASE-08")                                                                \
    /* An own ttl is cut to the bucket's, or raised to the markers' span: then more is left        \
       than it. */                                                                                 \
    X(OWN_BOUNDS, 1, "KV-01 KV-02 KV-06 KV-13")                                                    \
    /* What has ended is stored for up to a minute. */                                             \
    X(REAPER, 1, "REAP-01 WATCH-03 WATCH-05")                                                      \
    /* A value past its end, or past its date, is there to every call, a watch begins with it,     \
       and its row stays. */                                                                       \
    X(MARKER_UNSTORED, 1, "KV-03 KV-08 CLOCK-02 WATCH-04 REAP-01 DUR-02")

#define PROMISE_ROW(the_policy, the_value, the_ids)                                                \
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
