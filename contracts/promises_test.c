/* The table of promises: every value that is not strict's stands in it once, gives up contracts
 * that exist, and is found by them. */
#include "contracts/promise.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *const values_of[] = {
#define VALUES(id, word, values, strict, nats, tinystore, kahuna) values,
    LAPSE_POLICY_TABLE(VALUES)
#undef VALUES
};
static const char *const words[] = {
#define WORD(id, word, values, strict, nats, tinystore, kahuna) word,
    LAPSE_POLICY_TABLE(WORD)
#undef WORD
};
static const uint8_t profiles[][LAPSE_PROFILES] = {
#define PROFILE(id, word, values, strict, nats, tinystore, kahuna) \
    {strict, nats, tinystore, kahuna},
    LAPSE_POLICY_TABLE(PROFILE)
#undef PROFILE
};
static const char *const names[] = {"strict", "nats", "tinystore", "kahuna"};

/* The id at `text`, of which *ret_len bytes are its own. */
static const struct lapse_contract *contract_at(const char *text, size_t *ret_len) {
    char id[16] = "";
    *ret_len = strcspn(text, " ");
    cr_assert_lt(*ret_len, sizeof id);
    memcpy(id, text, *ret_len);
    return lapse_contract_find(id);
}

Test(promises, name_every_value_but_stricts_once_and_in_order) {
    size_t count, at = 0;
    const struct lapse_promise *table = lapse_promise_table(&count);
    for (int policy = 0; policy < LAPSE_POLICIES; policy++) {
        const char *word = strchr(values_of[policy], ' ');
        for (uint8_t value = 1; word != NULL; value++) {
            const char *next = strchr(++word, ' ');
            struct lapse_bytes wanted = {(const unsigned char *)word, strcspn(word, " ")};
            cr_assert_lt(at, count, "nothing stands for %s: %s", words[policy], word);
            cr_assert_eq((int)table[at].policy, policy, "%s: %s", words[policy], word);
            cr_assert_eq(table[at].value, value, "%s: %s", words[policy], word);
            cr_assert_str_eq(lapse_promise_policy(&table[at]), words[policy]);
            cr_assert(lapse_bytes_equal(lapse_promise_value(&table[at]), wanted), "%s", word);
            at++;
            word = next;
        }
    }
    cr_assert_eq(at, count);
}

/* A value that gives up nothing only refuses more than strict's: its ids are empty. */
Test(promises, give_up_contracts_that_rules_judge_each_once) {
    size_t count, len, silent = 0;
    const struct lapse_promise *table = lapse_promise_table(&count);
    for (size_t i = 0; i < count; i++) {
        silent += table[i].ids[0] == '\0';
        for (const char *at = table[i].ids; *at != '\0'; at += at[len] == ' ' ? len + 1 : len) {
            const struct lapse_contract *contract = contract_at(at, &len);
            cr_assert_not_null(contract, "%s gives up %s", lapse_promise_policy(&table[i]), at);
            cr_assert(lapse_rule_exists(contract->id), "%s", contract->id);
            const char *again = strstr(at + len, contract->id);
            cr_assert_null(again, "%s gives up %s twice", lapse_promise_policy(&table[i]),
                           contract->id);
            struct lapse_setup setup = {0};
            cr_assert(lapse_promised(&setup, contract->id));
            setup.policies.value[table[i].policy] = table[i].value;
            cr_assert_not(lapse_promised(&setup, contract->id));
            const struct lapse_promise *found =
                lapse_promise_break(&setup.policies, contract->id, NULL);
            cr_assert_eq(found, &table[i]);
            cr_assert_null(lapse_promise_break(&setup.policies, contract->id, found));
        }
    }
    cr_assert_eq(silent, 3, "own_term: refused, purge_marker: none and markers: none alone");
}

Test(promises, are_broken_by_a_profile_where_it_has_the_value) {
    size_t count;
    const struct lapse_promise *table = lapse_promise_table(&count);
    for (size_t i = 0; i < count; i++) {
        for (int profile = 0; profile < LAPSE_PROFILES; profile++) {
            bool has = profiles[table[i].policy][profile] == table[i].value;
            cr_assert_eq(lapse_promise_of_profile(&table[i], lapse_bytes_of(names[profile])), has,
                         "%s, %s", lapse_promise_policy(&table[i]), names[profile]);
        }
        cr_assert_not(lapse_promise_of_profile(&table[i], lapse_bytes_of("redis")));
    }
}

/* Several policies may break one contract, and an id is no part of another. */
Test(promises, tell_all_that_break_a_contract) {
    struct lapse_setup setup = {0};
    setup.policies.value[LAPSE_POLICY_IF_VERSION] = 1;
    setup.policies.value[LAPSE_POLICY_OLDER] = 1;
    const struct lapse_promise *first = lapse_promise_break(&setup.policies, "CAS-01", NULL);
    cr_assert_not_null(first);
    cr_assert_str_eq(lapse_promise_policy(first), "if_version");
    const struct lapse_promise *second = lapse_promise_break(&setup.policies, "CAS-01", first);
    cr_assert_not_null(second);
    cr_assert_str_eq(lapse_promise_policy(second), "older_value");
    cr_assert_null(lapse_promise_break(&setup.policies, "CAS-01", second));
    static const char *const kept[] = {"CAS-0", "AS-01", "", "KV-01", "LEASE-01"};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        cr_assert(lapse_promised(&setup, kept[i]), "%s", kept[i]);
    cr_assert(lapse_promised(NULL, "CAS-01"));
}
