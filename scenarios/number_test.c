/* Tests of durations and of words: what is read, where a fault is seen, which word is nearest. */
#include <criterion/criterion.h>
#include <string.h>

#include "scenarios/span.h"

#include "decode.h"

#define S LAPSE_NS_PER_S

Test(number, spans_are_read_exactly_with_arithmetic) {
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        {"0", 0},
        {"30s", 30 * S},
        {"1h30m", 5400 * S},
        {"2w", 14 * 86400 * S},
        {"1ns", 1},
        {"15m-1ns", 900 * S - 1},
        {"3*10s", 30 * S},
        {"10s*3", 30 * S},
        {"2*3*1s+5ms", 6 * S + 5000000},
        {"1h - 30m + 1us", 1800 * S + 1000},
        {"-5s", -5 * S},
        {"0s-1ns", -1},
        {"1w2d3h4m5s6ms7us8ns", (((9 * 24 + 3) * 60 + 4) * 60 + 5) * S + 6007008},
        {"30m+1h", 5400 * S},
        {"9223372036854775807ns", INT64_MAX},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t ns = 99;
        size_t at = 0;
        enum lapse_span_fault fault =
            lapse_number_scan(cases[i].text, strlen(cases[i].text), &ns, &at);
        cr_expect_eq(fault, LAPSE_SPAN_FINE, "%s", cases[i].text);
        cr_expect_eq(ns, cases[i].ns, "%s gave %lld", cases[i].text, (long long)ns);
    }
}

Test(number, a_fault_of_a_span_is_named_at_its_place) {
    static const struct {
        const char *text;
        enum lapse_span_fault fault;
        size_t at;
    } cases[] = {
        {"30", LAPSE_SPAN_NO_UNIT, 0},
        {"1h-5", LAPSE_SPAN_NO_UNIT, 3},
        {"3*10", LAPSE_SPAN_NO_UNIT, 0},
        {"1mo", LAPSE_SPAN_MONTH, 1},
        {"1d2y", LAPSE_SPAN_MONTH, 3},
        {"1.5s", LAPSE_SPAN_MALFORMED, 1},
        {"", LAPSE_SPAN_MALFORMED, 0},
        {"1s+", LAPSE_SPAN_MALFORMED, 3},
        {"1s 2s", LAPSE_SPAN_MALFORMED, 3},
        {"3s*2s", LAPSE_SPAN_MALFORMED, 0},
        {"soon", LAPSE_SPAN_MALFORMED, 0},
        {"9223372036854775808ns", LAPSE_SPAN_RANGE, 0},
        {"1ns+9223372036854775807ns", LAPSE_SPAN_RANGE, 4},
        {"9999999999*9999999999*1s", LAPSE_SPAN_RANGE, 0},
        {"1m1h", LAPSE_SPAN_ORDER, 2},
        {"1s1s", LAPSE_SPAN_ORDER, 2},
        {"2h+1ms5m3s", LAPSE_SPAN_ORDER, 6},
        {"3*5ns1us", LAPSE_SPAN_ORDER, 5},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t ns = 0;
        size_t at = 77;
        enum lapse_span_fault fault =
            lapse_number_scan(cases[i].text, strlen(cases[i].text), &ns, &at);
        cr_expect_eq(fault, cases[i].fault, "%s gave fault %d", cases[i].text, (int)fault);
        cr_expect_eq(at, cases[i].at, "%s failed at %zu", cases[i].text, at);
    }
}

Test(number, a_span_is_written_short_and_read_back) {
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        {0, "0s"},
        {900 * S - 1, "15m-1ns"},
        {5 * S - 2, "5s-2ns"},
        {5 * S - 20000, "5s-20us"},
        {5 * S + 2, "5s2ns"},
        {30 * S - 1002, "30s-1us2ns"},
        {-5 * S - 2, "-5s2ns"},
        {2 - 5 * S, "-5s+2ns"},
        {999, "999ns"},
    };
    static const int64_t edges[] = {INT64_MAX, INT64_MAX - 1, INT64_MIN + 1, 1, -1, 999999999};
    char text[LAPSE_SPAN_TEXT_MAX];
    int64_t back = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        lapse_span_write(cases[i].ns, text);
        cr_expect_str_eq(text, cases[i].text);
        cr_expect(lapse_span_read(text, strlen(text), &back) && back == cases[i].ns, "%s", text);
    }
    for (size_t i = 0; i < 3000; i++) {
        int64_t beside = ((int64_t)(i / 6) - 250) * ((int64_t)i + 1);
        int64_t ns = edges[i % 6];
        (void)lapse_ns_add(ns, ns > 0 ? -beside * beside : beside * beside, &ns);
        lapse_span_write(ns, text);
        cr_expect(lapse_span_read(text, strlen(text), &back) && back == ns, "%s", text);
    }
}

Test(words, the_nearest_word_is_at_most_two_letters_away) {
    static const struct {
        const char *seen, *best;
    } cases[] = {
        {"expects", "expect"}, {"aquire", "acquire"}, {"relaese", "release"}, {"gte", "get"},
        {"zzz", NULL},         {"x", NULL},           {"acquisition", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lapse_nearest nearest;
        lapse_nearest_begin(&nearest, cases[i].seen);
        lapse_nearest_offer_kind(&nearest, LAPSE_WORD_STEP);
        lapse_nearest_offer_kind(&nearest, LAPSE_WORD_VERB);
        if (cases[i].best == NULL) {
            cr_expect_null(nearest.best, "%s gave %s", cases[i].seen, nearest.best);
        } else {
            cr_expect_str_eq(nearest.best, cases[i].best);
        }
    }
}

Test(words, each_word_stands_once_and_its_lists_name_words) {
    size_t count = 0;
    const struct lapse_word *table = lapse_word_table(&count);
    for (size_t i = 0; i < count; i++) {
        cr_expect_eq(lapse_word_find(table[i].kind, table[i].word), &table[i], "%s stands twice",
                     table[i].word);
        cr_expect(table[i].stage >= 1 && table[i].stage <= 6 && table[i].stage != 5);
        char word[32];
        const char *rest = table[i].stage <= LAPSE_STAGE_NOW ? table[i].arguments : NULL;
        while ((rest = lapse_words_next(rest, word, sizeof(word))) != NULL) {
            cr_expect(lapse_word_find(LAPSE_WORD_ARGUMENT, word) != NULL ||
                          lapse_word_find(LAPSE_WORD_STEP, word) != NULL,
                      "`%s` of `%s` is no word", word, table[i].word);
        }
        rest = table[i].answers;
        while ((rest = lapse_words_next(rest, word, sizeof(word))) != NULL) {
            enum lapse_status status = LAPSE_BUG;
            cr_expect(lapse_decode_answer(&table[i], word, &status), "`%s` of `%s` is no answer",
                      word, table[i].word);
        }
    }
}

Test(mistakes, codes_rise_and_each_is_explained) {
    size_t count = 0;
    const struct lapse_mistake *table = lapse_mistake_table(&count);
    for (size_t i = 0; i < count; i++) {
        cr_expect(strlen(table[i].title) > 4 && strlen(table[i].more) > 10);
        cr_expect(i == 0 || strcmp(table[i - 1].code, table[i].code) < 0, "%s", table[i].code);
    }
}
