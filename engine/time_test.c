/* Time arithmetic never wraps (CLOCK-05), and the text of spans and dates is exact both ways. */
#include "lapse/time.h"

#include <criterion/criterion.h>
#include <string.h>

Test(time, sums_and_differences_are_exact_or_refused) {
    static const struct {
        int64_t a, b;
        bool add, sub;
    } cases[] = {
        {INT64_MAX, 0, true, true},
        {INT64_MAX, 1, false, true},
        {INT64_MAX, -1, true, false},
        {INT64_MIN, 0, true, true},
        {INT64_MIN, 1, true, false},
        {INT64_MIN, -1, false, true},
        {0, INT64_MIN, true, false},
        {-1, INT64_MIN, false, true},
        {INT64_MAX, INT64_MIN, true, false},
        {INT64_MIN, INT64_MIN, false, true},
        {5, 7, true, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t ret = 42;
        cr_expect_eq(lapse_ns_add(cases[i].a, cases[i].b, &ret), cases[i].add, "sum %zu", i);
        cr_expect(cases[i].add || ret == 42, "a refused sum wrote its result");
        ret = 42;
        cr_expect_eq(lapse_ns_sub(cases[i].a, cases[i].b, &ret), cases[i].sub, "difference %zu", i);
        cr_expect(cases[i].sub || ret == 42, "a refused difference wrote its result");
    }
    struct lapse_steady low = {INT64_MIN};
    struct lapse_steady high = {INT64_MAX};
    cr_expect_eq(lapse_steady_between(low, high).ns, INT64_MAX);
    cr_expect_eq(lapse_steady_between(high, low).ns, INT64_MIN);
    cr_expect_eq(lapse_wall_between((struct lapse_wall){3}, (struct lapse_wall){10}).ns, 7);
    cr_expect_not(lapse_wall_add((struct lapse_wall){INT64_MAX}, (struct lapse_span){1},
                                 &(struct lapse_wall){0}));
}

Test(time, products_and_ratios_are_exact_or_refused) {
    static const struct {
        int64_t a, b, want;
        bool fits;
    } products[] = {
        {INT64_MIN, 1, INT64_MIN, true},
        {INT64_MIN, -1, 0, false},
        {INT64_MAX, -1, -INT64_MAX, true},
        {INT64_C(1) << 32, INT64_C(1) << 31, 0, false},
        {-(INT64_C(1) << 32), INT64_C(1) << 31, INT64_MIN, true},
        {0, -5, 0, true},
        {-3, -4, 12, true},
    };
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
        int64_t ret = 0;
        bool fits = lapse_ns_mul(products[i].a, products[i].b, &ret);
        cr_expect_eq(fits, products[i].fits, "product %zu", i);
        cr_expect(!fits || ret == products[i].want, "product %zu", i);
    }
    int64_t ret = 0;
    cr_expect(lapse_ns_scale(INT64_MAX, INT64_MAX, INT64_MAX, &ret) && ret == INT64_MAX);
    cr_expect(lapse_ns_scale(INT64_MAX, 2, 3, &ret) && ret == INT64_C(6148914691236517204));
    cr_expect(lapse_ns_scale(7, 1, 2, &ret) && ret == 3);
    cr_expect_not(lapse_ns_scale(INT64_MAX, 2, 1, &ret));
}

Test(time, spans_print_and_scan_to_the_same_number) {
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        {"0s", 0},
        {"1ns", 1},
        {"999ns", 999},
        {"30s", 30 * LAPSE_NS_PER_S},
        {"1h30m", 5400 * LAPSE_NS_PER_S},
        {"14m59s999ms999us999ns", 900 * LAPSE_NS_PER_S - 1},
        {"30d", 30 * 86400 * LAPSE_NS_PER_S},
        {"106751d23h47m16s854ms775us807ns", INT64_MAX},
    };
    char buf[LAPSE_TIME_TEXT_MAX];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lapse_span span = {-1};
        size_t used = 0;
        cr_expect_str_eq(lapse_span_print((struct lapse_span){cases[i].ns}, buf), cases[i].text);
        size_t len = strlen(cases[i].text);
        cr_expect_eq(lapse_span_scan(cases[i].text, len, &span, &used), LAPSE_OK);
        cr_expect_eq(span.ns, cases[i].ns);
        cr_expect_eq(used, len);
    }
    cr_expect_str_eq(lapse_span_print((struct lapse_span){INT64_MIN}, buf),
                     "-106751d23h47m16s854ms775us808ns");
    cr_expect_str_eq(lapse_span_print((struct lapse_span){-1500000000}, buf), "-1s500ms");
}

Test(time, a_span_that_is_none_is_refused_at_its_place) {
    static const struct {
        const char *text;
        enum lapse_status status;
        size_t used;
        int64_t ns;
    } cases[] = {
        {"2w", LAPSE_OK, 2, 14 * 86400 * LAPSE_NS_PER_S},
        {"15m-1ns", LAPSE_OK, 3, 900 * LAPSE_NS_PER_S},
        {"0", LAPSE_OK, 1, 0},
        {"0-1", LAPSE_OK, 1, 0},
        {"", LAPSE_INVALID, 0, 0},
        {"s", LAPSE_INVALID, 0, 0},
        {"-5s", LAPSE_INVALID, 0, 0},
        {"5", LAPSE_INVALID, 1, 0},
        {"1.5s", LAPSE_INVALID, 1, 0},
        {"3mo", LAPSE_INVALID, 1, 0},
        {"1h30", LAPSE_INVALID, 4, 0},
        {"5S", LAPSE_INVALID, 1, 0},
        {"1h0", LAPSE_INVALID, 3, 0},
        {"99999999999999999999ns", LAPSE_RANGE, 22, 0},
        {"9223372036854775807s", LAPSE_RANGE, 20, 0},
        {"106751d23h47m16s854ms775us808ns", LAPSE_RANGE, 31, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lapse_span span = {0};
        size_t used = 77;
        enum lapse_status status =
            lapse_span_scan(cases[i].text, strlen(cases[i].text), &span, &used);
        cr_expect_eq(status, cases[i].status, "`%s`", cases[i].text);
        cr_expect_eq(used, cases[i].used, "`%s` used %zu", cases[i].text, used);
        cr_expect(status != LAPSE_OK || span.ns == cases[i].ns, "`%s`", cases[i].text);
    }
}

Test(time, dates_print_and_scan_to_the_same_instant) {
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1969-12-31T23:59:59.999999999Z", -1},
        {"2000-01-01T00:00:00Z", 946684800 * LAPSE_NS_PER_S},
        {"2000-02-29T12:00:00.5Z", 951825600 * LAPSE_NS_PER_S + 500000000},
        {"2100-03-01T00:00:00Z", INT64_C(4107542400) * LAPSE_NS_PER_S},
        {"2262-04-11T23:47:16.854775807Z", INT64_MAX},
        {"1677-09-21T00:12:43.145224192Z", INT64_MIN},
    };
    char buf[LAPSE_TIME_TEXT_MAX];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lapse_wall wall = {42};
        cr_expect_str_eq(lapse_wall_print((struct lapse_wall){cases[i].ns}, buf), cases[i].text);
        size_t len = strlen(cases[i].text);
        cr_expect_eq(lapse_wall_scan(cases[i].text, len, &wall), LAPSE_OK, "%s", cases[i].text);
        cr_expect_eq(wall.ns, cases[i].ns, "%s", cases[i].text);
    }
    for (int64_t day = -100000; day < 100000; day += 271) {
        struct lapse_wall wall = {0};
        struct lapse_wall want = {day * 86400 * LAPSE_NS_PER_S + 1};
        lapse_wall_print(want, buf);
        cr_assert_eq(lapse_wall_scan(buf, strlen(buf), &wall), LAPSE_OK, "%s", buf);
        cr_assert_eq(wall.ns, want.ns, "%s", buf);
    }
}

Test(time, what_is_no_date_is_refused) {
    static const char *const bad[] = {
        "",
        "2026-01-31",
        "2026-01-31T00:00:00",
        "2026-01-31T00:00:00z",
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-31T24:00:00Z",
        "2026-01-31T00:60:00Z",
        "2026-01-31T00:00:60Z",
        "2026-01-31T00:00:00.Z",
        "2026-01-31T00:00:00.0000000001Z",
        "2026-01-31T00:00:00+01:00",
        "2026-01-31T00:00:00ZZ",
        "26-01-31T00:00:00Z",
    };
    struct lapse_wall wall = {42};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_expect_eq(lapse_wall_scan(bad[i], strlen(bad[i]), &wall), LAPSE_INVALID, "%s", bad[i]);
    }
    static const char *const far[] = {"2262-04-11T23:47:16.854775808Z",
                                      "1677-09-21T00:12:43.145224191Z", "9999-12-31T00:00:00Z",
                                      "0000-01-01T00:00:00Z"};
    for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
        cr_expect_eq(lapse_wall_scan(far[i], strlen(far[i]), &wall), LAPSE_RANGE, "%s", far[i]);
    }
    cr_expect_eq(wall.ns, 42, "a refused date wrote its result");
}
