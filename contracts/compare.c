/* Comparing one value with what a scenario asks of it, and saying so when it differs. A span never
 * equals a date: an end on store time and an end on the wall clock are different promises. */
#include "expect_parts.h"

#include "words.h"

static bool holds(enum lapse_op op, const struct lapse_value *got,
                  const struct lapse_value *wanted);
static bool order_of(enum lapse_op op, const struct lapse_value *a, const struct lapse_value *b,
                     int *ret);
static int text_order(enum lapse_op op, struct lapse_bytes a, struct lapse_bytes b);
static bool whole_number(struct lapse_bytes text, int64_t *ret);
static const char *op_words(enum lapse_op op);
static void put_field_value(struct lapse_line *line, enum lapse_field field,
                            const struct lapse_value *value);

void lapse_sides_begin(struct lapse_sides *sides, char *expected, char *got,
                       struct lapse_place place) {
    lapse_line_begin(&sides->expected, expected, LAPSE_EXPECT_TEXT_MAX);
    lapse_line_begin(&sides->got, got, LAPSE_EXPECT_TEXT_MAX);
    sides->place = place;
}

bool lapse_compare_value(const struct lapse_compare *compare, const struct lapse_value *value,
                         const char *none, const struct lapse_expect_context *context,
                         struct lapse_sides *sides) {
    char buf[LAPSE_EXPECT_VALUE_MAX];
    bool met = false;
    for (size_t i = 0; i < compare->operand_count && !met; i++) {
        struct lapse_value wanted = {0};
        met = value != NULL && lapse_expect_operand(&compare->operands[i], context, buf, &wanted) &&
              holds(compare->op, value, &wanted);
    }
    if (met) {
        return true;
    }
    const char *field = lapse_words_of_field(compare->field);
    lapse_line_add(&sides->expected, "%s%s%s", field, *field == '\0' ? "" : " ",
                   op_words(compare->op));
    for (size_t i = 0; i < compare->operand_count; i++) {
        struct lapse_value wanted = {0};
        lapse_line_add(&sides->expected, "%s", i == 0 ? "" : ", ");
        if (lapse_expect_operand(&compare->operands[i], context, buf, &wanted)) {
            put_field_value(&sides->expected, compare->field, &wanted);
        } else {
            lapse_line_add(&sides->expected, "a name that is bound");
        }
    }
    if (value == NULL) {
        lapse_line_add(&sides->got, "%s", none);
    } else {
        put_field_value(&sides->got, compare->field, value);
    }
    return false;
}

bool lapse_expect_is(const struct lapse_expect *expect, const struct lapse_value *value,
                     const char *none, const struct lapse_expect_context *context,
                     struct lapse_sides *sides) {
    for (size_t i = 0; i < expect->compare_count; i++) {
        struct lapse_compare compare = expect->compares[i];
        struct lapse_place place = compare.place;
        compare.field = LAPSE_FIELD_DEFAULT; /* the observer's own word names what is compared */
        if (!lapse_compare_value(&compare, value, none, context, sides)) {
            sides->place = place.file != NULL ? place : expect->place;
            return false;
        }
    }
    return true;
}

bool lapse_expect_operand(const struct lapse_operand *operand,
                          const struct lapse_expect_context *context, char *buf,
                          struct lapse_value *ret) {
    int32_t slot = -1;
    return lapse_operand_value(operand, context->slots, context->n, context->wall, buf,
                               LAPSE_EXPECT_VALUE_MAX, ret, &slot) == LAPSE_OK;
}

bool lapse_values_equal(const struct lapse_value *a, const struct lapse_value *b) {
    return holds(LAPSE_OP_EQ, a, b);
}

static bool holds(enum lapse_op op, const struct lapse_value *got,
                  const struct lapse_value *wanted) {
    int order = 0;
    if (!order_of(op, got, wanted, &order)) {
        return op == LAPSE_OP_NE;
    }
    switch (op) {
    case LAPSE_OP_EQ:
    case LAPSE_OP_IN:
        return order == 0;
    case LAPSE_OP_NE:
        return order != 0;
    case LAPSE_OP_LT:
        return order < 0;
    case LAPSE_OP_LE:
        return order <= 0;
    case LAPSE_OP_GT:
        return order > 0;
    case LAPSE_OP_GE:
        return order >= 0;
    }
    return false;
}

/* False: the two are of kinds that no order joins. A text meets a number as its text. */
static bool order_of(enum lapse_op op, const struct lapse_value *a, const struct lapse_value *b,
                     int *ret) {
    if (a->kind == LAPSE_OPERAND_ABSENT || b->kind == LAPSE_OPERAND_ABSENT) {
        *ret = 0;
        return a->kind == b->kind;
    }
    if (a->kind == LAPSE_OPERAND_TEXT || b->kind == LAPSE_OPERAND_TEXT) {
        char x[LAPSE_TIME_TEXT_MAX];
        char y[LAPSE_TIME_TEXT_MAX];
        *ret = text_order(op, lapse_value_bytes(a, x), lapse_value_bytes(b, y));
        return true;
    }
    *ret = (a->number > b->number) - (a->number < b->number);
    return (a->kind == LAPSE_OPERAND_DATE) == (b->kind == LAPSE_OPERAND_DATE);
}

/* Stored values are texts, but those of a counter are meant as numbers when they are ordered. */
static int text_order(enum lapse_op op, struct lapse_bytes a, struct lapse_bytes b) {
    bool ordered = op == LAPSE_OP_LT || op == LAPSE_OP_LE || op == LAPSE_OP_GT || op == LAPSE_OP_GE;
    int64_t x = 0;
    int64_t y = 0;
    if (ordered && whole_number(a, &x) && whole_number(b, &y)) {
        return (x > y) - (x < y);
    }
    return lapse_bytes_compare(a, b);
}

/* Digits, with a minus or without, of a number that fits. It is built downwards: INT64_MIN has no
 * positive twin. */
static bool whole_number(struct lapse_bytes text, int64_t *ret) {
    bool minus = text.len > 0 && text.data[0] == '-';
    int64_t number = 0;
    for (size_t i = minus ? 1 : 0; i < text.len; i++) {
        unsigned digit = (unsigned)text.data[i] - '0';
        if (digit > 9 || number < INT64_MIN / 10 ||
            !lapse_ns_sub(number * 10, (int64_t)digit, &number)) {
            return false;
        }
    }
    *ret = number;
    return text.len > (minus ? 1U : 0U) && (minus || lapse_ns_sub(0, number, ret));
}

static const char *op_words(enum lapse_op op) {
    switch (op) {
    case LAPSE_OP_NE:
        return "other than ";
    case LAPSE_OP_LT:
        return "below ";
    case LAPSE_OP_LE:
        return "at most ";
    case LAPSE_OP_GT:
        return "above ";
    case LAPSE_OP_GE:
        return "at least ";
    case LAPSE_OP_IN:
        return "one of ";
    default:
        return "";
    }
}

static void put_field_value(struct lapse_line *line, enum lapse_field field,
                            const struct lapse_value *value) {
    bool is_time = field == LAPSE_FIELD_END || field == LAPSE_FIELD_LEFT;
    if (is_time && value->kind == LAPSE_OPERAND_ABSENT) {
        lapse_line_add(line, "none");
    } else {
        lapse_line_value(line, value);
    }
}
