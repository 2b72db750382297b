/* The table of rules: the list of rules.h as data. */
#include "contracts/model.h"
#include "rules.h"

#include <string.h>

#define RULE_ROW(name, the_id, the_kinds, the_uses) \
    {                                               \
        .id = (the_id),                             \
        .kinds = (the_kinds),                       \
        .premise = lapse_rule_##name##_premise,     \
        .holds = lapse_rule_##name##_holds,         \
        .uses = (uint32_t)(the_uses),               \
    },

static const struct lapse_rule rules[] = {LAPSE_RULES(RULE_ROW)};

#undef RULE_ROW

const struct lapse_rule *lapse_rule_table(size_t *ret_count) {
    *ret_count = sizeof rules / sizeof rules[0];
    return rules;
}

bool lapse_rule_exists(const char *id) {
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (strcmp(rules[i].id, id) == 0)
            return true;
    }
    return false;
}

bool lapse_rule_needs_no_decision(const char *id) {
    static const char *const ids[] = {"FENCE-03", "BELIEF-01", "BELIEF-02", "RENEW-01",
                                       "REPL-01"};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        if (strcmp(ids[i], id) == 0)
            return true;
    }
    return false;
}

bool lapse_rule_judges(const char *id, const struct lapse_policies *policies) {
    return lapse_rule_exists(id) && (strcmp(id, "LIN-01") != 0 || lapse_model_covers(policies));
}
