/* Policies and profiles as data: every word finds what it names and nothing else does, and the code
 * of a store's policies tells any two sets apart. */
#include "testing.h"

#include <criterion/criterion.h>
#include <string.h>

static struct lapse_bytes bytes(const char *text) {
    return lapse_bytes_of(text);
}

/* Word `index` of a list split by spaces; empty: it has fewer. */
static struct lapse_bytes word_at(const char *list, unsigned index) {
    const char *at = list;
    for (unsigned i = 0; i < index && at != NULL; i++) {
        at = strchr(at, ' ');
        at = at == NULL ? NULL : at + 1;
    }
    if (at == NULL) {
        return (struct lapse_bytes){NULL, 0};
    }
    const char *end = strchr(at, ' ');
    return (struct lapse_bytes){(const unsigned char *)at,
                                end == NULL ? strlen(at) : (size_t)(end - at)};
}

Test(policy, each_word_names_one_profile) {
    static const char *const words[] = {"strict", "nats", "tinystore", "kahuna"};
    enum lapse_profile found = LAPSE_PROFILE_STRICT;
    for (int i = 0; i < LAPSE_PROFILES; i++) {
        cr_expect_str_eq(lapse_profile_word((enum lapse_profile)i), words[i]);
        cr_expect(lapse_profile_find(bytes(words[i]), &found) && (int)found == i);
    }
    cr_expect_str_eq(lapse_profile_word(LAPSE_PROFILES), "?");
    cr_expect_not(lapse_profile_find(bytes("redis"), &found));
    cr_expect_not(lapse_profile_find(bytes("nat"), &found));
    cr_expect_not(lapse_profile_find(bytes(""), &found));
}

Test(policy, each_word_names_one_policy_and_each_value_has_one) {
    enum lapse_policy found = LAPSE_POLICY_AT_END;
    uint8_t value = 0;
    for (int i = 0; i < LAPSE_POLICIES; i++) {
        enum lapse_policy policy = (enum lapse_policy)i;
        const char *values = lapse_policy_values(policy);
        cr_expect(lapse_policy_find(bytes(lapse_policy_word(policy)), &found) && found == policy);
        unsigned count = 0;
        for (; word_at(values, count).len > 0; count++) {
            cr_expect(lapse_policy_value_find(policy, word_at(values, count), &value));
            cr_expect_eq(value, count, "%s of %s", values, lapse_policy_word(policy));
        }
        cr_expect(count >= 2 && count <= LAPSE_POLICY_VALUES_MAX, "%s", values);
        cr_expect_not(lapse_policy_value_find(policy, bytes("sometimes"), &value));
        cr_expect_not(lapse_policy_value_find(policy, bytes(""), &value));
    }
    cr_expect_str_eq(lapse_policy_word(LAPSE_POLICIES), "?");
    cr_expect_str_eq(lapse_policy_values(LAPSE_POLICIES), "");
    cr_expect_not(lapse_policy_find(bytes("live"), &found));
}

Test(policy, a_value_that_a_policy_has_not_is_named) {
    struct lapse_error err;
    for (int p = 0; p < LAPSE_PROFILES; p++) {
        struct lapse_policies policies = lapse_policies_of((enum lapse_profile)p);
        cr_expect_eq(lapse_policies_check(&policies, &err), LAPSE_OK, "%s", err.message);
        for (int i = 0; i < LAPSE_POLICIES; i++) {
            struct lapse_policies wrong = policies;
            wrong.value[i] = LAPSE_POLICY_VALUES_MAX;
            cr_expect_eq(lapse_policies_check(&wrong, &err), LAPSE_INVALID);
            cr_expect_not_null(strstr(err.message, lapse_policy_word((enum lapse_policy)i)));
            cr_expect_not_null(strstr(err.message, "no value 4"), "%s", err.message);
            cr_expect_not_null(strstr(err.message, lapse_policy_values((enum lapse_policy)i)));
        }
    }
}

/* 0 is strict's; one policy changed is another code, and no two changes give the same. */
Test(policy, the_code_tells_any_two_sets_apart) {
    struct lapse_policies strict = lapse_policies_of(LAPSE_PROFILE_STRICT);
    uint64_t seen = 0;
    cr_expect_eq(lapse_policies_code(&strict), 0);
    for (int i = 0; i < LAPSE_POLICIES; i++) {
        struct lapse_policies other = strict;
        other.value[i] = LAPSE_POLICY_VALUES_MAX - 1;
        uint64_t code = lapse_policies_code(&other);
        cr_expect(code != 0 && (seen & code) == 0, "policy %d shares its bits with another", i);
        seen |= code;
    }
    for (int a = 0; a < LAPSE_PROFILES; a++) {
        for (int b = 0; b < a; b++) {
            struct lapse_policies one = lapse_policies_of((enum lapse_profile)a);
            struct lapse_policies two = lapse_policies_of((enum lapse_profile)b);
            cr_expect_neq(lapse_policies_code(&one), lapse_policies_code(&two));
        }
    }
}
