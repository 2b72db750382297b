/* Whose store a document runs on: a profile, and now and then single policies over it. What a
 * profile does not promise is told and is no finding, so all that is drawn may be drawn of each. */
#include "generator.h"

#include <string.h>

/* Of the values of `revision_scope` and `lease_token`. */
enum { REVISION_STORE = 2, REVISION_KEY = 3, TOKEN_NAME = 1, TOKEN_WRITE = 2 };

static void draw_policies(struct lapse_generator *g, struct lapse_node *policies);
static void say_policy(struct lapse_generator *g, struct lapse_node *policies,
                       enum lapse_policy policy, size_t value);
static size_t count_values(enum lapse_policy policy);

void lapse_gen_policies(struct lapse_generator *g, const char *profile) {
    struct lapse_node *policies = lapse_tree_map(g->pool);
    const char *word = lapse_gen_word(g, LAPSE_TRAIT_PROFILE);
    bool sweeps = strcmp(word, "nats that sweeps") == 0;
    word = profile != NULL ? profile : sweeps ? "nats" : word;
    enum lapse_profile known = LAPSE_PROFILE_STRICT;
    (void)lapse_profile_find(lapse_bytes_of(word), &known);
    g->policies = lapse_policies_of(known);
    if (known != LAPSE_PROFILE_STRICT) {
        lapse_gen_say(g, g->document, "profile", word);
    }
    if (sweeps) {
        say_policy(g, policies, LAPSE_POLICY_END_SEEN, 1);
    }
    if (lapse_gen_is(g, LAPSE_TRAIT_REAPER, "minute")) {
        say_policy(g, policies, LAPSE_POLICY_REAPER, 1);
    }
    draw_policies(g, policies);
    if (policies->count > 0) {
        lapse_tree_put(g->pool, g->document, "policy", policies);
    }
}

bool lapse_gen_counts_alone(const struct lapse_generator *g) {
    return g->policies.value[LAPSE_POLICY_REVISION] < REVISION_STORE;
}

bool lapse_gen_counts_keys(const struct lapse_generator *g) {
    return g->policies.value[LAPSE_POLICY_REVISION] == REVISION_KEY;
}

int64_t lapse_gen_token(struct lapse_generator *g, struct lapse_gen_thing *lease) {
    bool by_name = g->policies.value[LAPSE_POLICY_TOKEN] == TOKEN_NAME;
    return by_name ? lease->counted++ : ++g->token;
}

bool lapse_gen_extend_counts(const struct lapse_generator *g) {
    return g->policies.value[LAPSE_POLICY_TOKEN] == TOKEN_WRITE;
}

static void draw_policies(struct lapse_generator *g, struct lapse_node *policies) {
    for (size_t left = lapse_gen_pick(g, LAPSE_TRAIT_POLICIES); left > 0; left--) {
        const char *word = lapse_gen_word(g, LAPSE_TRAIT_POLICY);
        size_t value = lapse_gen_pick(g, LAPSE_TRAIT_POLICY_VALUE);
        enum lapse_policy policy = LAPSE_POLICY_REAPER;
        bool found = lapse_policy_find(lapse_bytes_of(word), &policy);
        LAPSE_ASSERT(found);
        size_t last = count_values(policy) - 1;
        say_policy(g, policies, policy, value < last ? value : last);
    }
}

static void say_policy(struct lapse_generator *g, struct lapse_node *policies,
                       enum lapse_policy policy, size_t value) {
    const char *at = lapse_policy_values(policy);
    for (size_t skip = value; skip > 0; skip--) {
        at = strchr(at, ' ') + 1;
    }
    lapse_tree_put(g->pool, policies, lapse_policy_word(policy),
                   lapse_tree_text(g->pool, "%.*s", (int)strcspn(at, " "), at));
    g->policies.value[policy] = (uint8_t)value;
}

static size_t count_values(enum lapse_policy policy) {
    size_t count = 1;
    for (const char *at = lapse_policy_values(policy); *at != '\0'; at++) {
        count += *at == ' ';
    }
    return count;
}
