/* What a live key costs beyond its key and its value: at most 96 bytes asked of the allocator, at
 * any load of the tables, the worst of which is just after they have grown. */
#include "testing.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { KEYS = 50000, FROM = 5000, KEY_LEN = 12, VALUE_LEN = 4, BYTES_MAX = 96 };

Test(memory, a_live_key_costs_at_most_96_bytes_more_than_its_key_and_value) {
    static const unsigned terms[] = {0, LAPSE_TERM_TTL, LAPSE_TERM_IDLE};
    for (int i = 0; i < 3; i++) {
        struct lapse_testing t;
        lapse_testing_open(&t);
        lapse_testing_bucket(&t, "b", terms[i], terms[i] == 0 ? 0 : S(3600), 0);
        size_t worst = 0;
        for (size_t k = 1; k <= KEYS; k++) {
            char key[32];
            (void)snprintf(key, sizeof(key), "key-%08zu", k);
            lapse_testing_at(&t, (int64_t)k * LAPSE_NS_PER_US);
            cr_assert_eq(lapse_testing_do(&t, LAPSE_VERB_SET, "b", key, "1234", 0, 0), LAPSE_OK);
            size_t beyond = t.alloc.bytes_out - k * (KEY_LEN + VALUE_LEN);
            size_t each = (beyond + k - 1) / k;
            worst = k >= FROM && each > worst ? each : worst;
        }
        cr_expect_leq(worst, BYTES_MAX, "term %u: %zu bytes a key", terms[i], worst);
        lapse_testing_close(&t);
    }
}
