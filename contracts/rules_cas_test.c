/* Stories of the CAS rules. */
#include "history_builder_test.h"

static struct lapse_request update(const char *value, int64_t revision) {
    return versioned(put_call(LAPSE_VERB_UPDATE, "plain", "k", value), revision);
}

/* A conditional delete goes through on a revision that the key never had. */
static void cas_01(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    struct lapse_answer answer = answered(b, broken ? LAPSE_OK : LAPSE_CONFLICT);
    answer.revision = broken ? 2 : 1;
    decide(b, W1, versioned(key_call(LAPSE_VERB_DELETE, "plain", "k"), 7), answer);
}

/* The second of two writes on one revision succeeds too. */
static void cas_02(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    accept(b, W1, update("one", 1), wrote(b, 2, 0));
    struct lapse_answer answer = answered(b, broken ? LAPSE_OK : LAPSE_CONFLICT);
    answer.revision = broken ? 3 : 2;
    decide(b, W2, update("two", 1), answer);
}

/* Create writes over a live entry. */
static void cas_03(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    struct lapse_answer answer = answered(b, LAPSE_EXISTS);
    if (broken)
        answer = wrote(b, 2, 0);
    decide(b, W2, put_call(LAPSE_VERB_CREATE, "plain", "k", "w"), answer);
}

/* A number comes twice after a delete. */
static void cas_04(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    accept(b, W1, key_call(LAPSE_VERB_DELETE, "plain", "k"), wrote(b, 2, 0));
    decide(b, W1, put_call(LAPSE_VERB_SET, "plain", "k", "w"), wrote(b, broken ? 2 : 3, 0));
}

/* The value of an update that was refused is read afterwards. */
static void cas_05(struct builder *b, bool broken) {
    put(b, W1, "plain", "k", "v", 1, 0);
    struct lapse_answer answer = answered(b, LAPSE_CONFLICT);
    answer.revision = 1;
    decide(b, W2, update("w", 9), answer);
    decide(b, W1, key_call(LAPSE_VERB_GET, "plain", "k"), read_value(b, broken ? "w" : "v", 1, 0));
}

const struct rule_pair *cas_pairs(size_t *ret_count) {
    static const struct rule_pair pairs[] = {
        {.id = "CAS-01", .story = cas_01}, {.id = "CAS-02", .story = cas_02},
        {.id = "CAS-03", .story = cas_03}, {.id = "CAS-04", .story = cas_04},
        {.id = "CAS-05", .story = cas_05},
    };
    *ret_count = sizeof pairs / sizeof pairs[0];
    return pairs;
}
