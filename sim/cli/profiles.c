/* Help on profiles, out of the engine's own table of policies. */
#include <stdio.h>
#include <string.h>

#include "lapse/policy.h"
#include "topics.h"

/* What each policy is about; its values are in the engine's table. */
static const char *const about[] = {
    [LAPSE_POLICY_AT_END] = "whether an entry is there at exactly its end",
    [LAPSE_POLICY_END_SEEN] = "when calls see an end: at once, or when a sweep runs",
    [LAPSE_POLICY_RESOLUTION] = "the unit that is counted in; s: for a key's own ttl alone",
    [LAPSE_POLICY_PLAIN_SET] = "the term of a live key that is set without one",
    [LAPSE_POLICY_ZERO_SPAN] = "what a span of 0 does",
    [LAPSE_POLICY_OVERFLOW] = "a term that ends past the range of time",
    [LAPSE_POLICY_OWN_TERM] = "a key's own term in a bucket without markers",
    [LAPSE_POLICY_REVISION] = "over what revisions count, and which events take one",
    [LAPSE_POLICY_IF_VERSION] = "the revision that if_version is compared with",
    [LAPSE_POLICY_OLDER] = "an older value once the newest of a history has ended",
    [LAPSE_POLICY_DELETE_ENDED] = "the answer to a delete of a key that has ended",
    [LAPSE_POLICY_IDLE_OWN] = "a key's own term in an idle bucket, once it is read",
    [LAPSE_POLICY_IDLE_LATE] = "a renewal that is written behind the end",
    [LAPSE_POLICY_IDLE_SHOWN] = "the end shown while a renewal is not yet written",
    [LAPSE_POLICY_TOKEN] = "what gives a lease its fencing token",
    [LAPSE_POLICY_RELEASE_ENDED] = "the answer to a release behind the lease's end",
    [LAPSE_POLICY_EPHEMERAL_UNUSED] = "the record of an ephemeral lease that nobody uses",
    [LAPSE_POLICY_EPHEMERAL_TOKEN] = "tokens of ephemeral leases once their tenure is over",
    [LAPSE_POLICY_DURABILITY] = "a name held as a persistent lease and as an ephemeral one",
    [LAPSE_POLICY_REQUEST] = "a call that comes again with its request id",
    [LAPSE_POLICY_PURGE_MARKER] = "whether the tombstone of a purge ends as a delete's does",
    [LAPSE_POLICY_MARKERS] = "whether ends give events: as the bucket says, or never",
    [LAPSE_POLICY_WALL_BACK] = "spans when the wall clock is set back",
    [LAPSE_POLICY_ACQUIRE_AGAIN] = "acquire by the owner that holds the lease",
    [LAPSE_POLICY_OWN_BOUNDS] = "whether a bucket's ttl and markers bound a key's own term",
    [LAPSE_POLICY_REAPER] = "when ended rows are removed",
    [LAPSE_POLICY_MARKER_UNSTORED] = "a value that has ended and whose marker is not stored",
};
_Static_assert(sizeof about / sizeof *about == LAPSE_POLICIES, "each policy is about something");

static void print_cell(const char *word, size_t len, int profile);
static bool is_used(enum lapse_policy policy, uint8_t value);
static void print_unused(enum lapse_policy policy);
static const char *value_word(enum lapse_policy policy, uint8_t value, size_t *ret_len);

void lapse_cli_profiles_print(void) {
    printf("`profile: NAME` takes all policies of one system, `policy: {WORD: VALUE}` sets\n"
           "single ones over it. What `strict` does is what the contracts describe; a break\n"
           "of what the profile does not promise is told, and fails under --promise strict\n"
           "alone.\n\n");
    printf("  %-17s", "policy");
    for (int profile = 0; profile < LAPSE_PROFILES; profile++) {
        print_cell(lapse_profile_word((enum lapse_profile)profile), SIZE_MAX, profile);
    }
    for (int policy = 0; policy < LAPSE_POLICIES; policy++) {
        printf("  %-17s", lapse_policy_word((enum lapse_policy)policy));
        for (int profile = 0; profile < LAPSE_PROFILES; profile++) {
            struct lapse_policies its = lapse_policies_of((enum lapse_profile)profile);
            size_t len = 0;
            const char *word = value_word((enum lapse_policy)policy, its.value[policy], &len);
            print_cell(word, len, profile);
        }
    }
    printf("\nValues that no profile has:\n");
    for (int policy = 0; policy < LAPSE_POLICIES; policy++) {
        print_unused((enum lapse_policy)policy);
    }
    printf("\nWhat each is about (lapse help POLICY shows one):\n");
    for (int policy = 0; policy < LAPSE_POLICIES; policy++) {
        printf("  %-17s %s\n", lapse_policy_word((enum lapse_policy)policy), about[policy]);
    }
}

bool lapse_cli_policy_print(const char *name, bool more) {
    enum lapse_policy policy = 0;
    while (policy < LAPSE_POLICIES && strcmp(lapse_policy_word(policy), name) != 0) {
        policy++;
    }
    if (policy == LAPSE_POLICIES) {
        return false;
    }
    printf("%s%s: %s\n  a word of `policy`; its values:\n", more ? "\n" : "", name, about[policy]);
    uint8_t value = 0;
    for (const char *at = lapse_policy_values(policy); at != NULL; at = strchr(at, ' '), value++) {
        at += *at == ' ' ? 1 : 0;
        printf("    %-14.*s%s", (int)strcspn(at, " "), at,
               is_used(policy, value) ? "" : " in no profile");
        for (int profile = 0; profile < LAPSE_PROFILES; profile++) {
            if (lapse_policies_of((enum lapse_profile)profile).value[policy] == value) {
                printf(" %s", lapse_profile_word((enum lapse_profile)profile));
            }
        }
        printf("\n");
    }
    return true;
}

static void print_cell(const char *word, size_t len, int profile) {
    bool last = profile == LAPSE_PROFILES - 1;
    size_t shown = len < strlen(word) ? len : strlen(word);
    printf(last ? " %.*s\n" : " %-14.*s", (int)shown, word);
}

static void print_unused(enum lapse_policy policy) {
    const char *values = lapse_policy_values(policy);
    uint8_t value = 0;
    for (const char *at = values; at != NULL; at = strchr(at, ' '), value++) {
        at += *at == ' ' ? 1 : 0;
        if (!is_used(policy, value)) {
            printf("  %-17s %.*s\n", lapse_policy_word(policy), (int)strcspn(at, " "), at);
        }
    }
}

static bool is_used(enum lapse_policy policy, uint8_t value) {
    for (int profile = 0; profile < LAPSE_PROFILES; profile++) {
        if (lapse_policies_of((enum lapse_profile)profile).value[policy] == value) {
            return true;
        }
    }
    return false;
}

/* The word of one of the policy's values, which stand in one text, split by spaces. */
static const char *value_word(enum lapse_policy policy, uint8_t value, size_t *ret_len) {
    const char *word = lapse_policy_values(policy);
    for (uint8_t i = 0; i < value && strchr(word, ' ') != NULL; i++) {
        word = strchr(word, ' ') + 1;
    }
    *ret_len = strcspn(word, " ");
    return word;
}
