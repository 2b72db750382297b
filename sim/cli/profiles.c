/* Help on profiles, out of the engine's own table of policies. */
#include <stdio.h>
#include <string.h>

#include "lapse/policy.h"
#include "topics.h"

static void print_cell(const char *word, size_t len, int profile);
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
        bool used = false;
        for (int profile = 0; profile < LAPSE_PROFILES; profile++) {
            used = used || lapse_policies_of((enum lapse_profile)profile).value[policy] == value;
        }
        if (!used) {
            printf("  %-17s %.*s\n", lapse_policy_word(policy), (int)strcspn(at, " "), at);
        }
    }
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
