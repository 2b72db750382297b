/* The table of policies, and finding things in it. */
#include "lapse/policy.h"

#include <string.h>

struct row {
    const char *word;
    const char *values;
    uint8_t of[LAPSE_PROFILES];
};

static bool value_word(const struct row *row, uint8_t value, struct lapse_bytes *ret);

static const struct row rows[LAPSE_POLICIES] = {
#define POLICY_ROW(id, word, values, strict, nats, tinystore, kahuna) \
    {word, values, {strict, nats, tinystore, kahuna}},
    LAPSE_POLICY_TABLE(POLICY_ROW)
#undef POLICY_ROW
};

static const char *const profile_words[LAPSE_PROFILES] = {"strict", "nats", "tinystore", "kahuna"};

/* Two bits a policy make the code. */
_Static_assert(LAPSE_POLICIES <= 32, "the policies of a store fit into one number");
_Static_assert(LAPSE_POLICY_VALUES_MAX <= 4, "each value of a policy fits into two bits");

struct lapse_policies lapse_policies_of(enum lapse_profile profile) {
    struct lapse_policies policies = {{0}};
    LAPSE_ASSERT((unsigned)profile < LAPSE_PROFILES);
    for (size_t i = 0; i < LAPSE_POLICIES; i++) {
        policies.value[i] = rows[i].of[profile];
    }
    return policies;
}

const char *lapse_profile_word(enum lapse_profile profile) {
    return (unsigned)profile < LAPSE_PROFILES ? profile_words[profile] : "?";
}

bool lapse_profile_find(struct lapse_bytes word, enum lapse_profile *ret) {
    for (int i = 0; i < LAPSE_PROFILES; i++) {
        if (lapse_bytes_equal(word, lapse_bytes_of(profile_words[i]))) {
            *ret = (enum lapse_profile)i;
            return true;
        }
    }
    return false;
}

const char *lapse_policy_word(enum lapse_policy policy) {
    return (unsigned)policy < LAPSE_POLICIES ? rows[policy].word : "?";
}

bool lapse_policy_find(struct lapse_bytes word, enum lapse_policy *ret) {
    for (int i = 0; i < LAPSE_POLICIES; i++) {
        if (lapse_bytes_equal(word, lapse_bytes_of(rows[i].word))) {
            *ret = (enum lapse_policy)i;
            return true;
        }
    }
    return false;
}

const char *lapse_policy_values(enum lapse_policy policy) {
    return (unsigned)policy < LAPSE_POLICIES ? rows[policy].values : "";
}

bool lapse_policy_value_find(enum lapse_policy policy, struct lapse_bytes word, uint8_t *ret) {
    struct lapse_bytes known;
    LAPSE_ASSERT((unsigned)policy < LAPSE_POLICIES);
    for (uint8_t i = 0; value_word(&rows[policy], i, &known); i++) {
        if (lapse_bytes_equal(word, known)) {
            *ret = i;
            return true;
        }
    }
    return false;
}

enum lapse_status lapse_policies_check(const struct lapse_policies *policies,
                                       struct lapse_error *err) {
    for (size_t i = 0; i < LAPSE_POLICIES; i++) {
        struct lapse_bytes known;
        if (!value_word(&rows[i], policies->value[i], &known)) {
            return lapse_error_set(err, LAPSE_INVALID,
                                   "policy %s has no value %u; it has, from 0: %s", rows[i].word,
                                   (unsigned)policies->value[i], rows[i].values);
        }
    }
    return LAPSE_OK;
}

uint64_t lapse_policies_code(const struct lapse_policies *policies) {
    uint64_t code = 0;
    for (size_t i = 0; i < LAPSE_POLICIES; i++) {
        LAPSE_ASSERT(policies->value[i] < LAPSE_POLICY_VALUES_MAX);
        code |= (uint64_t)policies->value[i] << (2 * i);
    }
    return code;
}

/* The word of a value, cut out of the row's; false: the policy has fewer values. */
static bool value_word(const struct row *row, uint8_t value, struct lapse_bytes *ret) {
    const char *at = row->values;
    for (uint8_t i = 0; i < value && at != NULL; i++) {
        at = strchr(at, ' ');
        at = at == NULL ? NULL : at + 1;
    }
    if (at == NULL) {
        return false;
    }
    const char *end = strchr(at, ' ');
    *ret = (struct lapse_bytes){(const unsigned char *)at,
                                end == NULL ? strlen(at) : (size_t)(end - at)};
    return true;
}
