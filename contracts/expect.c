/* Expectations of answers: words, values, keys in order, and fields with comparisons. */
#include "expect_parts.h"

static struct lapse_value shown_of(int verb, const struct lapse_item *item);
static bool meets_first(int verb, const struct lapse_answer *answer, struct lapse_sides *sides);
static bool meets_any(const struct lapse_expect *expect, int verb,
                      const struct lapse_answer *answer, const struct lapse_expect_context *context,
                      struct lapse_sides *sides);
static bool meets_word(const struct lapse_expect_word *word, int verb,
                       const struct lapse_answer *answer,
                       const struct lapse_expect_context *context);
static bool meets_keys(const struct lapse_operand *operands, size_t count, int verb,
                       const struct lapse_answer *answer,
                       const struct lapse_expect_context *context, struct lapse_sides *sides);
static bool meets_fields(const struct lapse_expect *expect, int verb,
                         const struct lapse_answer *answer,
                         const struct lapse_expect_context *context, struct lapse_sides *sides);
static bool subject_of(int verb, const struct lapse_answer *answer, struct lapse_value *ret);

bool lapse_expect_answer(const struct lapse_expect *expect, int verb,
                         const struct lapse_answer *answer,
                         const struct lapse_expect_context *context, char *ret_expected,
                         char *ret_got, struct lapse_place *ret_place) {
    struct lapse_sides sides;
    lapse_sides_begin(&sides, ret_expected, ret_got, expect->place);
    bool met = false;
    switch (expect->kind) {
    case LAPSE_EXPECT_FIRST:
        met = meets_first(verb, answer, &sides);
        break;
    case LAPSE_EXPECT_ANY:
        met = meets_any(expect, verb, answer, context, &sides);
        break;
    case LAPSE_EXPECT_KEYS:
        met = meets_keys(expect->operands, expect->operand_count, verb, answer, context, &sides);
        break;
    case LAPSE_EXPECT_FIELDS:
        met = meets_fields(expect, verb, answer, context, &sides);
        break;
    case LAPSE_EXPECT_IS: {
        struct lapse_value value = {0};
        bool known = subject_of(verb, answer, &value);
        met = lapse_expect_is(expect, known ? &value : NULL,
                              lapse_answer_word(verb, answer->status), context, &sides);
        break;
    }
    default:
        lapse_line_add(&sides.expected, "an observer's look");
        lapse_line_answer(&sides.got, verb, answer);
        break;
    }
    *ret_place = sides.place;
    return met;
}

bool lapse_expect_asks(const struct lapse_expect *expect, enum lapse_status status) {
    if (expect->kind != LAPSE_EXPECT_ANY && expect->word_count == 0) {
        return status == LAPSE_OK;
    }
    for (size_t i = 0; i < expect->word_count; i++) {
        const struct lapse_expect_word *word = &expect->words[i];
        if (status == (word->is_value ? LAPSE_OK : word->status)) {
            return true;
        }
    }
    return false;
}

void lapse_line_answer(struct lapse_line *line, int verb, const struct lapse_answer *answer) {
    struct lapse_value value = {0};
    bool lists = verb == LAPSE_VERB_LIST || verb == LAPSE_VERB_ALL || verb == LAPSE_VERB_HISTORY;
    if (answer->status == LAPSE_OK && lists) {
        lapse_line_add(line, "[");
        for (size_t i = 0; answer->items != NULL && i < answer->item_count; i++) {
            lapse_line_add(line, "%s", i == 0 ? "" : ", ");
            value = shown_of(verb, &answer->items[i]);
            lapse_line_value(line, &value);
        }
        lapse_line_add(line, answer->more ? ", and more]" : "]");
    } else if (verb == LAPSE_VERB_COUNT && answer->status == LAPSE_OK) {
        lapse_line_add(line, "%zu", answer->item_count);
    } else if (lapse_answer_field(verb, answer, LAPSE_FIELD_VALUE, &value)) {
        if (value.text.len == 0) {
            lapse_line_add(line, "the empty value");
        }
        lapse_line_value(line, &value);
    } else {
        lapse_line_add(line, "%s", lapse_answer_word(verb, answer->status));
        if (answer->status == LAPSE_HELD) {
            lapse_line_add(line, " by ");
            lapse_line_bytes(line, answer->owner);
        } else if (verb == LAPSE_VERB_INSPECT && answer->status == LAPSE_OK) {
            lapse_line_add(line, " ");
            lapse_line_bytes(line, answer->owner);
        }
    }
}

/* What a list shows of an item: its key; of a history the value, or what else the record is. */
static struct lapse_value shown_of(int verb, const struct lapse_item *item) {
    if (verb == LAPSE_VERB_HISTORY && item->kind != LAPSE_RECORD_VALUE) {
        return (struct lapse_value){.kind = LAPSE_OPERAND_RECORD, .number = item->kind};
    }
    return (struct lapse_value){.kind = LAPSE_OPERAND_TEXT,
                                .text = verb == LAPSE_VERB_HISTORY ? item->value : item->key};
}

static bool meets_first(int verb, const struct lapse_answer *answer, struct lapse_sides *sides) {
    if (answer->status == LAPSE_OK) {
        return true;
    }
    lapse_line_add(&sides->expected, "%s", lapse_answer_word(verb, LAPSE_OK));
    lapse_line_answer(&sides->got, verb, answer);
    return false;
}

static bool meets_any(const struct lapse_expect *expect, int verb,
                      const struct lapse_answer *answer, const struct lapse_expect_context *context,
                      struct lapse_sides *sides) {
    for (size_t i = 0; i < expect->word_count; i++) {
        if (meets_word(&expect->words[i], verb, answer, context)) {
            return true;
        }
    }
    for (size_t i = 0; i < expect->word_count; i++) {
        const struct lapse_expect_word *word = &expect->words[i];
        lapse_line_add(&sides->expected, "%s", i == 0 ? "" : " or ");
        char buf[LAPSE_EXPECT_VALUE_MAX];
        struct lapse_value value = {0};
        if (!word->is_value) {
            lapse_line_add(&sides->expected, "%s", lapse_answer_word(verb, word->status));
        } else if (lapse_expect_operand(&word->value, context, buf, &value)) {
            lapse_line_value(&sides->expected, &value);
        } else {
            lapse_line_add(&sides->expected, "a name that is bound");
        }
    }
    lapse_line_answer(&sides->got, verb, answer);
    return false;
}

static bool meets_word(const struct lapse_expect_word *word, int verb,
                       const struct lapse_answer *answer,
                       const struct lapse_expect_context *context) {
    if (!word->is_value) {
        return answer->status == word->status;
    }
    char buf[LAPSE_EXPECT_VALUE_MAX];
    struct lapse_value wanted = {0};
    struct lapse_value got = {0};
    return answer->status == LAPSE_OK && subject_of(verb, answer, &got) &&
           lapse_expect_operand(&word->value, context, buf, &wanted) &&
           lapse_values_equal(&got, &wanted);
}

/* What a bare value is compared with. */
static bool subject_of(int verb, const struct lapse_answer *answer, struct lapse_value *ret) {
    return lapse_answer_field(verb, answer, LAPSE_FIELD_VALUE, ret) ||
           lapse_answer_field(verb, answer, LAPSE_FIELD_DEFAULT, ret);
}

static bool meets_keys(const struct lapse_operand *operands, size_t count, int verb,
                       const struct lapse_answer *answer,
                       const struct lapse_expect_context *context, struct lapse_sides *sides) {
    bool listed = answer->status == LAPSE_OK && answer->items != NULL;
    bool met = answer->status == LAPSE_OK && count == (listed ? answer->item_count : 0);
    lapse_line_add(&sides->expected, "[");
    for (size_t i = 0; i < count; i++) {
        char buf[LAPSE_EXPECT_VALUE_MAX];
        struct lapse_value wanted = {0};
        lapse_line_add(&sides->expected, "%s", i == 0 ? "" : ", ");
        if (!lapse_expect_operand(&operands[i], context, buf, &wanted)) {
            lapse_line_add(&sides->expected, "a name that is bound");
            met = false;
            continue;
        }
        lapse_line_value(&sides->expected, &wanted);
        if (met) {
            struct lapse_value shown = shown_of(verb, &answer->items[i]);
            met = shown.kind == wanted.kind || verb != LAPSE_VERB_HISTORY;
            met = met && lapse_values_equal(&shown, &wanted);
        }
    }
    lapse_line_add(&sides->expected, "]");
    lapse_line_answer(&sides->got, verb, answer);
    return met;
}

static bool meets_fields(const struct lapse_expect *expect, int verb,
                         const struct lapse_answer *answer,
                         const struct lapse_expect_context *context, struct lapse_sides *sides) {
    enum lapse_status asked = expect->word_count == 1 ? expect->words[0].status : LAPSE_OK;
    if (answer->status != asked) {
        lapse_line_add(&sides->expected, "%s", lapse_answer_word(verb, asked));
        lapse_line_answer(&sides->got, verb, answer);
        return false;
    }
    for (size_t i = 0; i < expect->compare_count; i++) {
        const struct lapse_compare *compare = &expect->compares[i];
        bool met = false;
        lapse_line_begin(&sides->expected, sides->expected.buf, sides->expected.cap);
        lapse_line_begin(&sides->got, sides->got.buf, sides->got.cap);
        if (compare->field == LAPSE_FIELD_KEYS && compare->op != LAPSE_OP_IN) {
            met =
                meets_keys(compare->operands, compare->operand_count, verb, answer, context, sides);
        } else {
            struct lapse_value value = {0};
            bool known = lapse_answer_field(verb, answer, compare->field, &value);
            met = lapse_compare_value(compare, known ? &value : NULL,
                                      lapse_answer_word(verb, answer->status), context, sides);
        }
        if (!met) {
            sides->place = compare->place.file != NULL ? compare->place : expect->place;
            return false;
        }
    }
    return true;
}
