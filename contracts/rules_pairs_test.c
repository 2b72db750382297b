/* The stories of all families, by the contract that each is told of. */
#include <string.h>

#include "history_builder_test.h"

const struct rule_pair *find_pair(const char *id) {
    const struct rule_pair *(*const families[])(size_t *) = {
        kv_pairs, cas_pairs, watch_pairs, lease_pairs, belief_pairs, durable_pairs, time_pairs,
        live_pairs, repl_pairs, lin_pairs};
    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++) {
        size_t count;
        const struct rule_pair *pairs = families[f](&count);
        for (size_t i = 0; i < count; i++) {
            if (strcmp(pairs[i].id, id) == 0)
                return &pairs[i];
        }
    }
    return NULL;
}
