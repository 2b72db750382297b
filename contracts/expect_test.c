/* Expectations: what meets them, and how the two sides read when it does not. */
#include "contracts/expect.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define S LAPSE_NS_PER_S

static const struct lapse_setup_actor actors[] = {{.name = {(const unsigned char *)"w1", 2}},
                                                  {.name = {(const unsigned char *)"w2", 2}}};
static const struct lapse_setup setup = {.actor_count = 2, .actors = actors};

struct sides {
    char expected[LAPSE_EXPECT_TEXT_MAX], got[LAPSE_EXPECT_TEXT_MAX];
    struct lapse_place place;
};

static struct lapse_text text_of(struct lapse_text_part *part, const char *literal) {
    *part = (struct lapse_text_part){.literal = lapse_bytes_of(literal)};
    return (struct lapse_text){1, part};
}

static struct lapse_operand number(enum lapse_operand_kind kind, int64_t value) {
    return (struct lapse_operand){.kind = kind, .number = value};
}

static struct lapse_answer answer_of(enum lapse_status status) {
    return (struct lapse_answer){.status = status};
}

static bool ask(const struct lapse_expect *expect, int verb, const struct lapse_answer *answer,
                struct sides *ret) {
    struct lapse_slots none = {0};
    struct lapse_expect_context context = {&setup, &none, 0, {0}};
    memset(ret, 0, sizeof(*ret));
    return lapse_expect_answer(expect, verb, answer, &context, ret->expected, ret->got,
                               &ret->place);
}

static bool look(const struct lapse_expect *expect, const struct lapse_probe *probe,
                 struct sides *ret) {
    struct lapse_slots none = {0};
    struct lapse_expect_context context = {&setup, &none, 0, {0}};
    memset(ret, 0, sizeof(*ret));
    return lapse_expect_probe(expect, probe, &context, ret->expected, ret->got, &ret->place);
}

Test(expect, nothing_written_asks_for_the_first_answer) {
    struct lapse_expect first = {.kind = LAPSE_EXPECT_FIRST};
    struct sides sides;
    struct lapse_answer held = answer_of(LAPSE_HELD);
    held.owner = lapse_bytes_of("w2");
    struct lapse_answer ok = answer_of(LAPSE_OK);
    cr_assert(ask(&first, LAPSE_VERB_ACQUIRE, &ok, &sides));
    cr_assert_not(ask(&first, LAPSE_VERB_ACQUIRE, &held, &sides));
    cr_assert_str_eq(sides.expected, "granted");
    cr_assert_str_eq(sides.got, "held by w2");
    struct lapse_answer conflict = answer_of(LAPSE_CONFLICT);
    cr_assert_not(ask(&first, LAPSE_VERB_UPDATE, &conflict, &sides));
    cr_assert_str_eq(sides.expected, "ok");
    cr_assert_str_eq(sides.got, "conflict");
}

Test(expect, a_value_and_an_answer_of_one_name_are_told_apart) {
    struct lapse_text_part part;
    struct lapse_expect_word words[] = {
        {.is_value = true, .value = {.kind = LAPSE_OPERAND_TEXT, .text = text_of(&part, "absent")}},
    };
    struct lapse_expect value = {.kind = LAPSE_EXPECT_ANY, .word_count = 1, .words = words};
    struct lapse_answer got = answer_of(LAPSE_OK);
    got.value = lapse_bytes_of("absent");
    struct lapse_answer absent = answer_of(LAPSE_ABSENT);
    struct sides sides;
    cr_assert(ask(&value, LAPSE_VERB_GET, &got, &sides));
    cr_assert_not(ask(&value, LAPSE_VERB_GET, &absent, &sides));

    words[0] = (struct lapse_expect_word){.status = LAPSE_ABSENT};
    cr_assert(ask(&value, LAPSE_VERB_GET, &absent, &sides));
    got.value = lapse_bytes_of("user-42");
    cr_assert_not(ask(&value, LAPSE_VERB_GET, &got, &sides));
    cr_assert_str_eq(sides.expected, "absent");
    cr_assert_str_eq(sides.got, "user-42");
}

Test(expect, keys_are_exactly_these_in_this_order) {
    struct lapse_text_part parts[2];
    struct lapse_operand keys[] = {
        {.kind = LAPSE_OPERAND_TEXT, .text = text_of(&parts[0], "a")},
        {.kind = LAPSE_OPERAND_TEXT, .text = text_of(&parts[1], "b")},
    };
    struct lapse_expect expect = {.kind = LAPSE_EXPECT_KEYS, .operand_count = 2, .operands = keys};
    struct lapse_item items[] = {
        {.key = lapse_bytes_of("a")}, {.key = lapse_bytes_of("b")}, {.key = lapse_bytes_of("c")}};
    struct lapse_answer answer = answer_of(LAPSE_OK);
    answer.items = items;
    struct sides sides;
    const bool met[] = {false, false, true, false};
    for (size_t count = 0; count < 4; count++) {
        answer.item_count = count;
        cr_assert_eq(ask(&expect, LAPSE_VERB_LIST, &answer, &sides), met[count]);
    }
    cr_assert_str_eq(sides.expected, "[a, b]");
    cr_assert_str_eq(sides.got, "[a, b, c]");
    struct lapse_expect empty = {.kind = LAPSE_EXPECT_KEYS};
    answer.item_count = 0;
    cr_assert(ask(&empty, LAPSE_VERB_ALL, &answer, &sides));
}

Test(expect, fields_compare_by_kind_with_units_in_the_message) {
    struct lapse_operand operand = number(LAPSE_OPERAND_SPAN, 60 * S);
    struct lapse_compare compare = {.field = LAPSE_FIELD_END,
                                    .op = LAPSE_OP_EQ,
                                    .operand_count = 1,
                                    .operands = &operand,
                                    .place = {"a.yaml", 4, 9, 3}};
    struct lapse_expect expect = {
        .kind = LAPSE_EXPECT_FIELDS, .compare_count = 1, .compares = &compare};
    struct lapse_answer answer = answer_of(LAPSE_OK);
    answer.end = (struct lapse_end){LAPSE_END_STEADY, 60 * S};
    struct sides sides;
    cr_assert(ask(&expect, LAPSE_VERB_ACQUIRE, &answer, &sides));
    answer.end.ns = 59 * S;
    cr_assert_not(ask(&expect, LAPSE_VERB_ACQUIRE, &answer, &sides));
    cr_assert_str_eq(sides.expected, "end 1m");
    cr_assert_str_eq(sides.got, "59s");
    cr_assert_eq(sides.place.line, 4);

    answer.end = (struct lapse_end){LAPSE_END_WALL, 60 * S};
    cr_assert_not(ask(&expect, LAPSE_VERB_ACQUIRE, &answer, &sides), "a span is no date");
    cr_assert_str_eq(sides.got, "1970-01-01T00:01:00Z");
    operand.kind = LAPSE_OPERAND_DATE;
    cr_assert(ask(&expect, LAPSE_VERB_ACQUIRE, &answer, &sides));
    answer.end = (struct lapse_end){0};
    cr_assert_not(ask(&expect, LAPSE_VERB_ACQUIRE, &answer, &sides));
    cr_assert_str_eq(sides.got, "none");
}

Test(expect, every_comparison_holds_where_it_should) {
    static const struct {
        enum lapse_op op;
        bool below, equal, above;
    } cases[] = {
        {LAPSE_OP_EQ, false, true, false}, {LAPSE_OP_NE, true, false, true},
        {LAPSE_OP_LT, true, false, false}, {LAPSE_OP_LE, true, true, false},
        {LAPSE_OP_GT, false, false, true}, {LAPSE_OP_GE, false, true, true},
        {LAPSE_OP_IN, false, true, false},
    };
    struct lapse_operand operand = number(LAPSE_OPERAND_NUMBER, 5);
    struct lapse_compare compare = {
        .field = LAPSE_FIELD_TOKEN, .operand_count = 1, .operands = &operand};
    struct lapse_expect expect = {
        .kind = LAPSE_EXPECT_FIELDS, .compare_count = 1, .compares = &compare};
    struct sides sides;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        compare.op = cases[i].op;
        const bool met[] = {cases[i].below, cases[i].equal, cases[i].above};
        for (int64_t token = 4; token <= 6; token++) {
            struct lapse_answer answer = answer_of(LAPSE_OK);
            answer.token = token;
            cr_assert_eq(ask(&expect, LAPSE_VERB_ACQUIRE, &answer, &sides), met[token - 4]);
        }
    }
    struct lapse_answer held = answer_of(LAPSE_HELD);
    cr_assert_not(ask(&expect, LAPSE_VERB_ACQUIRE, &held, &sides), "fields imply the answer");
    struct lapse_expect_word word = {.status = LAPSE_HELD};
    expect.word_count = 1;
    expect.words = &word;
    cr_assert_not(ask(&expect, LAPSE_VERB_ACQUIRE, &held, &sides), "held shows no token");
}

Test(expect, values_are_ordered_as_numbers_where_both_are_whole) {
    static const struct {
        const char *got;
        enum lapse_op op;
        const char *wanted;
        bool met;
    } cases[] = {
        {"10", LAPSE_OP_GT, "9", true},
        {"9", LAPSE_OP_LT, "10", true},
        {"-10", LAPSE_OP_LT, "-9", true},
        {"-1", LAPSE_OP_LT, "0", true},
        {"007", LAPSE_OP_LE, "7", true},
        {"7", LAPSE_OP_GE, "007", true},
        {"007", LAPSE_OP_EQ, "7", false},
        {"007", LAPSE_OP_NE, "7", true},
        {"007", LAPSE_OP_IN, "7", false},
        {"9223372036854775807", LAPSE_OP_GT, "-9223372036854775808", true},
        {"9223372036854775808", LAPSE_OP_GT, "10", true},   /* past int64: by bytes */
        {"9223372036854775808", LAPSE_OP_LT, "95", true},   /* past int64: by bytes */
        {"-9223372036854775809", LAPSE_OP_LT, "-1", false}, /* past int64: by bytes */
        {"v10", LAPSE_OP_LT, "v9", true},
        {"10", LAPSE_OP_LT, "9a", true},
        {"+10", LAPSE_OP_LT, "9", true},
        {"10", LAPSE_OP_LT, "9.0", true},
        {"-", LAPSE_OP_LT, "0", true},
        {"", LAPSE_OP_LT, "-1", true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lapse_text_part part;
        struct lapse_operand operand = {.kind = LAPSE_OPERAND_TEXT,
                                        .text = text_of(&part, cases[i].wanted)};
        struct lapse_compare compare = {.field = LAPSE_FIELD_VALUE,
                                        .op = cases[i].op,
                                        .operand_count = 1,
                                        .operands = &operand};
        struct lapse_expect expect = {
            .kind = LAPSE_EXPECT_FIELDS, .compare_count = 1, .compares = &compare};
        struct lapse_answer answer = answer_of(LAPSE_OK);
        answer.value = lapse_bytes_of(cases[i].got);
        struct sides sides;
        cr_assert_eq(ask(&expect, LAPSE_VERB_GET, &answer, &sides), cases[i].met, "case %zu", i);
    }
    struct lapse_operand nine = number(LAPSE_OPERAND_NUMBER, 9);
    struct lapse_compare above = {
        .field = LAPSE_FIELD_VALUE, .op = LAPSE_OP_GT, .operand_count = 1, .operands = &nine};
    struct lapse_expect expect = {
        .kind = LAPSE_EXPECT_FIELDS, .compare_count = 1, .compares = &above};
    struct lapse_answer answer = answer_of(LAPSE_OK);
    struct sides sides;
    answer.value = lapse_bytes_of("10");
    cr_assert(ask(&expect, LAPSE_VERB_GET, &answer, &sides));
}

Test(expect, texts_are_shown_whole_characters_only) {
    struct lapse_expect first = {.kind = LAPSE_EXPECT_ANY};
    struct lapse_answer answer = answer_of(LAPSE_OK);
    struct sides sides;
    answer.value = lapse_bytes_of("schl\xc3\xbcssel\xe2\x80\xae");
    cr_assert_not(ask(&first, LAPSE_VERB_GET, &answer, &sides));
    cr_assert_str_eq(sides.got, "schl\xc3\xbcssel\\xe2\\x80\\xae");
    /* Longer than a side: wherever the cut falls, it falls between characters. */
    for (size_t lead = 0; lead < 3; lead++) {
        char value[3 * LAPSE_EXPECT_TEXT_MAX + 3] = "aa";
        for (size_t i = 0; i < LAPSE_EXPECT_TEXT_MAX; i++) {
            memcpy(value + lead + 3 * i, "\xe2\x82\xac", 3);
        }
        answer.value = (struct lapse_bytes){(const unsigned char *)value,
                                            lead + 3 * (size_t)LAPSE_EXPECT_TEXT_MAX};
        cr_assert_not(ask(&first, LAPSE_VERB_GET, &answer, &sides));
        size_t len = strlen(sides.got);
        cr_assert_gt(len, (size_t)LAPSE_EXPECT_TEXT_MAX - 8);
        cr_assert_str_eq(sides.got + len - 3, "...");
        cr_assert_eq((len - 3 - lead) % 3, 0, "%s", sides.got);
    }
}

Test(expect, gone_names_the_verb_that_contradicts) {
    struct lapse_probe_answer answers[] = {
        {LAPSE_VERB_GET, {.status = LAPSE_ABSENT}},
        {LAPSE_VERB_ENTRY, {.status = LAPSE_ABSENT}},
        {LAPSE_VERB_HAS, {.status = LAPSE_ABSENT}},
        {LAPSE_VERB_LIST, {.status = LAPSE_OK}},
        {LAPSE_VERB_ALL, {.status = LAPSE_OK}},
        {LAPSE_VERB_COUNT, {.status = LAPSE_OK}},
        {LAPSE_VERB_EXPIRE, {.status = LAPSE_ABSENT}},
        {LAPSE_VERB_DELETE, {.status = LAPSE_ABSENT}},
        {LAPSE_VERB_UPDATE, {.status = LAPSE_CONFLICT}},
        {LAPSE_VERB_CREATE, {.status = LAPSE_OK}},
    };
    enum { TRIED = sizeof(answers) / sizeof(answers[0]) };
    struct lapse_probe probe = {
        .kind = LAPSE_PROBE_GONE, .answer_count = TRIED, .answers = answers};
    struct lapse_expect first = {.kind = LAPSE_EXPECT_FIRST};
    struct sides sides;
    cr_assert(look(&first, &probe, &sides));
    answers[TRIED - 1].answer.status = LAPSE_RANGE;
    cr_assert(look(&first, &probe, &sides), "no revision is left for a create");
    answers[TRIED - 1].answer.status = LAPSE_OK;
    static const char *const verbs[TRIED] = {"get",   "entry",  "has",    "list",   "all",
                                             "count", "expire", "delete", "update", "create"};
    for (size_t i = 0; i < TRIED; i++) {
        struct lapse_probe_answer kept = answers[i];
        bool creates = answers[i].verb == LAPSE_VERB_CREATE;
        answers[i].answer.status = creates ? LAPSE_EXISTS : LAPSE_OK;
        answers[i].answer.item_count = 1;
        answers[i].answer.value = lapse_bytes_of("user-42");
        cr_assert_not(look(&first, &probe, &sides));
        char got[64];
        (void)snprintf(got, sizeof(got), "%s still holds it, the others do not", verbs[i]);
        cr_assert_str_eq(sides.got, got);
        answers[i] = kept;
    }
    probe.answer_count = 0;
    cr_assert_not(look(&first, &probe, &sides), "no answer is no proof");
}

Test(expect, gone_and_present_say_which_calls_disagree) {
    enum { P = LAPSE_OK, A = LAPSE_ABSENT, U = LAPSE_UNAVAILABLE };
    static const struct {
        enum lapse_probe_kind kind;
        int list, get, has;
        const char *got;
    } cases[] = {
        {LAPSE_PROBE_GONE, P, P, P, "all calls still hold it"},
        {LAPSE_PROBE_GONE, A, P, P, "get and has still hold it, list does not"},
        {LAPSE_PROBE_GONE, P, A, A, "list still holds it, get and has do not"},
        {LAPSE_PROBE_GONE, A, A, U, "unavailable from has"},
        {LAPSE_PROBE_PRESENT, A, A, A, "no call holds it"},
        {LAPSE_PROBE_PRESENT, P, A, A, "get and has do not hold it, list does"},
        {LAPSE_PROBE_PRESENT, A, P, P, "list does not hold it, get and has do"},
        {LAPSE_PROBE_PRESENT, A, U, P, "unavailable from get"},
    };
    struct lapse_expect first = {.kind = LAPSE_EXPECT_FIRST};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lapse_probe_answer answers[] = {
            {LAPSE_VERB_LIST, {.item_count = cases[i].list == P ? 1 : 0}},
            {LAPSE_VERB_GET, {.status = (enum lapse_status)cases[i].get}},
            {LAPSE_VERB_HAS, {.status = (enum lapse_status)cases[i].has}},
        };
        struct lapse_probe probe = {.kind = cases[i].kind, .answer_count = 3, .answers = answers};
        struct sides sides;
        cr_assert_not(look(&first, &probe, &sides), "case %zu", i);
        cr_assert_str_eq(sides.got, cases[i].got);
        probe.answer_count = 1;
        answers[0].answer.item_count = cases[i].kind == LAPSE_PROBE_GONE ? 1 : 0;
        cr_assert_not(look(&first, &probe, &sides));
        cr_assert_str_eq(sides.got, cases[i].kind == LAPSE_PROBE_GONE ? "list still holds it"
                                                                      : "list does not hold it");
    }
}

/* An actor whose tasks have all ended is no more stopped than one that runs. */
Test(expect, stopped_is_told_from_all_else) {
    struct lapse_probe probe = {.kind = LAPSE_PROBE_STOPPED, .flag = true};
    struct lapse_expect first = {.kind = LAPSE_EXPECT_FIRST};
    struct sides sides;
    cr_assert(look(&first, &probe, &sides));
    probe.flag = false;
    cr_assert_not(look(&first, &probe, &sides));
    cr_assert_str_eq(sides.expected, "stopped");
    cr_assert_str_eq(sides.got, "not stopped");
}

Test(expect, present_needs_every_call_to_hold_the_key) {
    struct lapse_probe_answer answers[] = {
        {LAPSE_VERB_GET, {.status = LAPSE_OK}},
        {LAPSE_VERB_LIST, {.status = LAPSE_OK, .item_count = 1}},
        {LAPSE_VERB_COUNT, {.status = LAPSE_OK, .item_count = 1}},
    };
    struct lapse_probe probe = {.kind = LAPSE_PROBE_PRESENT, .answer_count = 3, .answers = answers};
    struct lapse_expect first = {.kind = LAPSE_EXPECT_FIRST};
    struct sides sides;
    cr_assert(look(&first, &probe, &sides));
    answers[2].answer.item_count = 0;
    cr_assert_not(look(&first, &probe, &sides));
    cr_assert_str_eq(sides.got, "count does not hold it, get and list do");
}

Test(expect, holder_and_left_take_a_value_or_absent) {
    struct lapse_text_part part;
    struct lapse_operand operand = {.kind = LAPSE_OPERAND_TEXT, .text = text_of(&part, "w1")};
    struct lapse_compare compare = {.op = LAPSE_OP_EQ, .operand_count = 1, .operands = &operand};
    struct lapse_expect is = {.kind = LAPSE_EXPECT_IS, .compare_count = 1, .compares = &compare};
    struct lapse_probe_answer answer = {
        LAPSE_VERB_INSPECT,
        {.status = LAPSE_OK, .end = {LAPSE_END_STEADY, 30 * S}, .left = {5 * S}}};
    answer.answer.owner = lapse_bytes_of("w2");
    struct lapse_probe probe = {.kind = LAPSE_PROBE_HOLDER, .answer_count = 1, .answers = &answer};
    struct sides sides;
    cr_assert_not(look(&is, &probe, &sides));
    cr_assert_str_eq(sides.expected, "w1");
    cr_assert_str_eq(sides.got, "w2");
    answer.answer.owner = lapse_bytes_of("w1");
    cr_assert(look(&is, &probe, &sides));
    answer.answer.status = LAPSE_ABSENT;
    cr_assert_not(look(&is, &probe, &sides));
    cr_assert_str_eq(sides.got, "absent");
    operand = (struct lapse_operand){.kind = LAPSE_OPERAND_ABSENT};
    cr_assert(look(&is, &probe, &sides));

    answer.answer.status = LAPSE_OK;
    probe.kind = LAPSE_PROBE_LEFT;
    operand = number(LAPSE_OPERAND_SPAN, 5 * S);
    cr_assert(look(&is, &probe, &sides));
    answer.answer.left.ns = 5 * S - 1;
    cr_assert_not(look(&is, &probe, &sides));
    cr_assert_str_eq(sides.got, "4s999ms999us999ns");
}

Test(expect, believers_are_exactly_those_named) {
    int32_t who[] = {0, 1};
    struct lapse_expect expect = {.kind = LAPSE_EXPECT_WHO, .actor_count = 2, .actors = who};
    struct lapse_probe probe = {.kind = LAPSE_PROBE_BELIEVES, .who_count = 2, .who = who};
    struct sides sides;
    cr_assert(look(&expect, &probe, &sides));
    probe.who_count = 1;
    cr_assert_not(look(&expect, &probe, &sides));
    cr_assert_str_eq(sides.expected, "w1, w2");
    cr_assert_str_eq(sides.got, "w1");
    expect.actor_count = 0;
    cr_assert_not(look(&expect, &probe, &sides));
    cr_assert_str_eq(sides.expected, "nobody");
}

Test(expect, events_are_all_of_them_in_order) {
    struct lapse_text_part parts[2];
    struct lapse_event_expect wanted[] = {{.kind = LAPSE_EVENT_PUT, .place = {"a.yaml", 7, 1, 1}},
                                          {.kind = LAPSE_EVENT_EXPIRED,
                                           .has_at = true,
                                           .has_why = true,
                                           .why = LAPSE_WHY_DEFAULT,
                                           .at = {.kind = LAPSE_OPERAND_SPAN, .number = 15 * S},
                                           .place = {"a.yaml", 8, 1, 1}}};
    for (size_t i = 0; i < 2; i++) {
        wanted[i].bucket = text_of(&parts[0], "codes");
        wanted[i].key = text_of(&parts[1], "c1");
    }
    struct lapse_event events[] = {
        {.kind = LAPSE_EVENT_PUT}, {.kind = LAPSE_EVENT_EXPIRED, .why = LAPSE_WHY_DEFAULT}, {0}};
    for (size_t i = 0; i < 3; i++) {
        events[i].bucket = lapse_bytes_of("codes");
        events[i].key = lapse_bytes_of("c1");
    }
    events[1].at.ns = 15 * S;
    events[2].kind = LAPSE_EVENT_GAP;
    struct lapse_expect expect = {.kind = LAPSE_EXPECT_EVENTS, .event_count = 2, .events = wanted};
    struct lapse_probe probe = {.kind = LAPSE_PROBE_EVENTS, .event_count = 2, .events = events};
    struct sides sides;
    cr_assert(look(&expect, &probe, &sides));
    events[1].at.ns++;
    cr_assert_not(look(&expect, &probe, &sides));
    cr_assert_eq(sides.place.line, 8);
    cr_assert_str_eq(sides.expected, "put codes/c1, expired codes/c1 at 15s why default");
    cr_assert_str_eq(sides.got, "put codes/c1, expired codes/c1 at 15s1ns why default");
    events[1].at.ns--;
    probe.event_count = 3;
    cr_assert_not(look(&expect, &probe, &sides), "nothing else may come");
    probe.event_count = 1;
    cr_assert_not(look(&expect, &probe, &sides));
}

Test(expect, a_history_is_exactly_these_values_and_other_records) {
    struct lapse_text_part parts[2];
    struct lapse_item items[] = {{.key = {(const unsigned char *)"k", 1},
                                  .value = lapse_bytes_of("one"),
                                  .kind = LAPSE_RECORD_VALUE},
                                 {.key = lapse_bytes_of("k"), .kind = LAPSE_RECORD_TOMBSTONE},
                                 {.key = {(const unsigned char *)"k", 1},
                                  .value = lapse_bytes_of("purge"),
                                  .kind = LAPSE_RECORD_VALUE}};
    struct lapse_answer answer = answer_of(LAPSE_OK);
    answer.items = items;
    answer.item_count = 3;
    struct lapse_operand operands[3] = {{.kind = LAPSE_OPERAND_TEXT},
                                        number(LAPSE_OPERAND_RECORD, LAPSE_RECORD_TOMBSTONE),
                                        {.kind = LAPSE_OPERAND_TEXT}};
    operands[0].text = text_of(&parts[0], "one");
    operands[2].text = text_of(&parts[1], "purge");
    struct lapse_expect expect = {
        .kind = LAPSE_EXPECT_KEYS, .operand_count = 3, .operands = operands};
    struct sides sides;
    cr_assert(ask(&expect, LAPSE_VERB_HISTORY, &answer, &sides));
    items[2].kind = LAPSE_RECORD_PURGE;
    cr_assert_not(ask(&expect, LAPSE_VERB_HISTORY, &answer, &sides));
    items[2].kind = LAPSE_RECORD_VALUE;
    items[1].kind = LAPSE_RECORD_MARKER;
    cr_assert_not(ask(&expect, LAPSE_VERB_HISTORY, &answer, &sides));
    cr_assert_str_eq(sides.expected, "[one, delete, purge]");
    cr_assert_str_eq(sides.got, "[one, expired, purge]");
}

Test(expect, sessions_flags_and_rows_have_fields_of_their_own) {
    struct lapse_answer held = answer_of(LAPSE_HELD);
    held.owner = lapse_bytes_of("w1");
    held.end = (struct lapse_end){LAPSE_END_STEADY, 30 * S};
    struct lapse_answer ok = answer_of(LAPSE_OK);
    ok.token = 7;
    ok.repeated = true;
    struct lapse_value value = {0};
    cr_assert(lapse_answer_field(LAPSE_VERB_SESSION, &held, LAPSE_FIELD_OWNER, &value));
    cr_assert(lapse_answer_field(LAPSE_VERB_SESSION, &held, LAPSE_FIELD_END, &value));
    cr_assert_eq(value.number, 30 * S);
    cr_assert(lapse_answer_field(LAPSE_VERB_KEEPALIVE, &ok, LAPSE_FIELD_DEFAULT, &value));
    cr_assert_eq(value.number, 7);
    cr_assert_not(lapse_answer_field(LAPSE_VERB_SESSION, &ok, LAPSE_FIELD_OWNER, &value));
    cr_assert(lapse_answer_field(LAPSE_VERB_SET, &ok, LAPSE_FIELD_REPEATED, &value));
    cr_assert(lapse_bytes_equal(value.text, lapse_bytes_of("true")));
    cr_assert(lapse_answer_field(LAPSE_VERB_LIST, &ok, LAPSE_FIELD_MORE, &value));
    cr_assert(lapse_bytes_equal(value.text, lapse_bytes_of("false")));

    struct lapse_operand three = number(LAPSE_OPERAND_NUMBER, 3);
    struct lapse_compare most = {.op = LAPSE_OP_LE, .operand_count = 1, .operands = &three};
    struct lapse_expect expect = {.kind = LAPSE_EXPECT_IS, .compare_count = 1, .compares = &most};
    struct lapse_probe probe = {.kind = LAPSE_PROBE_ROWS, .row_count = 3};
    struct sides sides;
    cr_assert(look(&expect, &probe, &sides));
    probe.row_count = 4;
    cr_assert_not(look(&expect, &probe, &sides));
    cr_assert_str_eq(sides.got, "4");
}

Test(expect, slots_keep_answers_and_make_operands_of_them) {
    struct lapse_slots slots;
    cr_assert_eq(lapse_slots_init(&slots, lapse_alloc_libc(), 3), LAPSE_OK);
    char owner[] = "w1";
    struct lapse_answer grant = answer_of(LAPSE_OK);
    grant.token = 7;
    grant.end = (struct lapse_end){LAPSE_END_STEADY, 30 * S};
    grant.owner = lapse_bytes_of(owner);
    cr_assert_eq(lapse_slots_bind(&slots, 1, LAPSE_VERB_ACQUIRE, &grant), LAPSE_OK);
    owner[0] = 'x';

    struct lapse_operand operand = {.kind = LAPSE_OPERAND_SLOT, .slot = {.base = 1}};
    struct lapse_value value;
    char buf[64];
    int32_t slot = -1;
    struct lapse_wall wall = {100 * S};
#define VALUE() lapse_operand_value(&operand, &slots, 1, wall, buf, sizeof(buf), &value, &slot)
    cr_assert_eq(VALUE(), LAPSE_OK);
    cr_assert_eq(value.number, 7);
    operand.slot.field = LAPSE_FIELD_END;
    operand.number = -1;
    cr_assert_eq(VALUE(), LAPSE_OK);
    cr_assert_eq(value.kind, LAPSE_OPERAND_SPAN);
    cr_assert_eq(value.number, 30 * S - 1);
    operand.number = INT64_MAX;
    cr_assert_eq(VALUE(), LAPSE_RANGE);
    operand.number = 0;
    operand.slot.field = LAPSE_FIELD_OWNER;
    cr_assert_eq(VALUE(), LAPSE_OK);
    cr_assert(lapse_bytes_equal(value.text, lapse_bytes_of("w1")));
    operand.slot.field = LAPSE_FIELD_REV;
    cr_assert_eq(VALUE(), LAPSE_INVALID);
    operand.slot = (struct lapse_slot_ref){.base = 2};
    cr_assert_eq(VALUE(), LAPSE_ABSENT);
    cr_assert_eq(slot, 2);
    operand = number(LAPSE_OPERAND_NOW, 15 * S);
    cr_assert_eq(VALUE(), LAPSE_OK);
    cr_assert_eq(value.kind, LAPSE_OPERAND_DATE);
    cr_assert_eq(value.number, 115 * S);
#undef VALUE

    struct lapse_text_part parts[] = {
        {.kind = LAPSE_PART_LITERAL, .literal = lapse_bytes_of("k")},
        {.kind = LAPSE_PART_N},
        {.kind = LAPSE_PART_SLOT, .slot = {.base = 0, .indexed = true}}};
    struct lapse_text text = {3, parts};
    size_t len = 0;
    cr_assert_eq(lapse_text_render(&text, &slots, 2, buf, 2, &len, &slot), LAPSE_OK);
    cr_assert_eq(len, 3, "the whole length, though it was cut");
    cr_assert_eq(lapse_text_render(&text, &slots, 2, buf, sizeof(buf), &len, &slot), LAPSE_OK);
    cr_assert(
        lapse_bytes_equal((struct lapse_bytes){(unsigned char *)buf, len}, lapse_bytes_of("k27")));
    cr_assert_eq(lapse_text_render(&text, &slots, 1, buf, sizeof(buf), &len, &slot), LAPSE_ABSENT);
    cr_assert_eq(slot, 0);
    lapse_slots_free(&slots);
}
