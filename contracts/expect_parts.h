/* What the parts of the evaluation of expectations share. Private to contracts. */
#ifndef CONTRACTS_EXPECT_PARTS_H
#define CONTRACTS_EXPECT_PARTS_H

#include "contracts/expect.h"
#include "line.h"

/* Rendered texts of a scenario are compared up to here; those in files are far shorter. */
enum { LAPSE_EXPECT_VALUE_MAX = 8192 };

/* The two sides of an unmet expectation, and the narrowest place that asked for it. */
struct lapse_sides {
    struct lapse_line expected, got;
    struct lapse_place place;
};
void lapse_sides_begin(struct lapse_sides *sides, char *expected, char *got,
                       struct lapse_place place);

/* Whether a value meets one comparison; if not, the sides say so. value NULL: there is none, and
 * `none` says it ("held", "never came true"). */
bool lapse_compare_value(const struct lapse_compare *compare, const struct lapse_value *value,
                         const char *none, const struct lapse_expect_context *context,
                         struct lapse_sides *sides);
/* The same for an `is:`, all its comparisons. */
bool lapse_expect_is(const struct lapse_expect *expect, const struct lapse_value *value,
                     const char *none, const struct lapse_expect_context *context,
                     struct lapse_sides *sides);
/* An operand's value, text in buf (LAPSE_EXPECT_VALUE_MAX bytes); false: it has none. */
bool lapse_expect_operand(const struct lapse_operand *operand,
                          const struct lapse_expect_context *context, char *buf,
                          struct lapse_value *ret);
bool lapse_values_equal(const struct lapse_value *a, const struct lapse_value *b);
/* An answer in a user's words: the value itself, `held by w1`, `[k1, k2]`, or its word. */
void lapse_line_answer(struct lapse_line *line, int verb, const struct lapse_answer *answer);
/* Whether the expectation asks for an answer of this status, whatever it says of its fields. */
bool lapse_expect_asks(const struct lapse_expect *expect, enum lapse_status status);

#endif
