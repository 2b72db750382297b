/* Drawing whose store it is: any profile, and now and then single policies over it. */
#include "random.h"

#include "lapse/policy.h"

#include <string.h>

static const char *draw_value(struct lapse_draw *d, const char *values);

struct lapse_node *lapse_draw_policies(struct lapse_draw *d) {
    struct lapse_node *policies = lapse_emit_map(&d->e);
    for (size_t left = 1 + lapse_draw_pick(d, 3); left > 0; left--) {
        enum lapse_policy policy = (enum lapse_policy)lapse_draw_pick(d, LAPSE_POLICIES);
        const char *word = lapse_policy_word(policy);
        if (lapse_node_get(policies, word) == NULL) {
            const char *value = draw_value(d, lapse_policy_values(policy));
            lapse_emit_put(&d->e, policies, word, lapse_emit_text(&d->e, value));
        }
    }
    return policies;
}

/* One of the words between blanks. */
static const char *draw_value(struct lapse_draw *d, const char *values) {
    size_t count = 1;
    for (const char *at = values; *at != '\0'; at++) {
        count += *at == ' ';
    }
    const char *from = values;
    for (size_t left = lapse_draw_pick(d, count); left > 0; left--) {
        from = strchr(from, ' ') + 1;
    }
    const char *kept = lapse_pool_text(d->e.pool, from, strcspn(from, " "));
    return kept == NULL ? "" : kept;
}
