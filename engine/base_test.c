/* The base library: bytes, errors, allocation, digest, statuses. */
#include "lapse/base.h"

#include <criterion/criterion.h>
#include <string.h>

Test(base, bytes_compare_by_byte_and_a_prefix_sorts_first) {
    static const char *const sorted[] = {"", "a", "aa", "ab", "b", "\xff"};
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) {
            struct lapse_bytes a = lapse_bytes_of(sorted[i]);
            struct lapse_bytes b = lapse_bytes_of(sorted[k]);
            int order = lapse_bytes_compare(a, b);
            cr_expect_eq((order > 0) - (order < 0), (i > k) - (i < k));
            cr_expect_eq(lapse_bytes_equal(a, b), i == k);
            cr_expect_eq(lapse_bytes_hash(a) == lapse_bytes_hash(b), i == k);
        }
    }
    cr_expect_eq(lapse_bytes_of(NULL).len, 0);
}

Test(base, bytes_print_escapes_and_cuts) {
    char buf[32];
    cr_expect_str_eq(lapse_bytes_print(lapse_bytes_of("a\x01\\z"), buf, 32), "a\\x01\\x5cz");
    cr_expect_str_eq(lapse_bytes_print(lapse_bytes_of("abcdef"), buf, 7), "abcdef");
    cr_expect_str_eq(lapse_bytes_print(lapse_bytes_of("abcdef"), buf, 6), "ab...");
    cr_expect_str_eq(lapse_bytes_print(lapse_bytes_of("ab\x01"
                                                      "cd"),
                                       buf, 8),
                     "ab...");
    cr_expect_str_eq(lapse_bytes_print(lapse_bytes_of("abc"), buf, 1), "");
}

Test(base, bytes_print_passes_printable_utf8_and_nothing_else) {
    static const struct {
        const char *bytes, *printed;
    } cases[] = {
        {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
        {"\xe2\x82\xac", "\xe2\x82\xac"},
        {"\xf0\x9f\x94\x91", "\xf0\x9f\x94\x91"},
        {"\xc2\xa0", "\xc2\xa0"},
        {"\xf4\x8f\xbf\xbd", "\xf4\x8f\xbf\xbd"},
        {"\x1b\x7f", "\\x1b\\x7f"},
        {"\xc2\x80", "\\xc2\\x80"},                   /* the first C1 control ... */
        {"\xc2\x9f", "\\xc2\\x9f"},                   /* ... and the last */
        {"\xe2\x80\xae", "\\xe2\\x80\\xae"},          /* right-to-left override */
        {"\xe2\x81\xa9", "\\xe2\\x81\\xa9"},          /* pop direction isolate */
        {"\xe2\x80\x8b", "\\xe2\\x80\\x8b"},          /* zero width space */
        {"\xef\xbb\xbf", "\\xef\\xbb\\xbf"},          /* byte order mark */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},          /* a surrogate */
        {"\xc0\xaf", "\\xc0\\xaf"},                   /* too long a form */
        {"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},          /* too long a form */
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* past the last code point */
        {"\xf8\xff", "\\xf8\\xff"},                   /* no lead byte */
        {"\xbf", "\\xbf"},                            /* a tail alone */
        {"a\xe2\x82", "a\\xe2\\x82"},                 /* cut short */
        {"\xc3(", "\\xc3("},
    };
    char buf[32];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_expect_str_eq(lapse_bytes_print(lapse_bytes_of(cases[i].bytes), buf, 32),
                         cases[i].printed, "case %zu: %s", i, buf);
    }
    /* Where it does not fit, no character is split, nor an escape. */
    struct lapse_bytes euros = lapse_bytes_of("\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac");
    cr_expect_str_eq(lapse_bytes_print(euros, buf, 10), "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac");
    cr_expect_str_eq(lapse_bytes_print(euros, buf, 9), "\xe2\x82\xac...");
    cr_expect_str_eq(lapse_bytes_print(euros, buf, 7), "\xe2\x82\xac...");
    cr_expect_str_eq(lapse_bytes_print(euros, buf, 6), "...");
}

Test(base, an_error_takes_context_in_front_and_never_overflows) {
    struct lapse_error err;
    cr_expect_eq(lapse_error_set(&err, LAPSE_RANGE, "got %d", 7), LAPSE_RANGE);
    lapse_error_context(&err, "step %s", "two");
    cr_expect_str_eq(err.message, "step two: got 7");
    cr_expect_eq(err.line, 0);
    char longer[2 * LAPSE_ERROR_MESSAGE_MAX];
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    lapse_error_context(&err, "%s", longer);
    cr_expect_eq(strlen(err.message), LAPSE_ERROR_MESSAGE_MAX - 1);
    cr_expect_eq(lapse_error_set(NULL, LAPSE_IO, "nowhere"), LAPSE_IO);
    lapse_error_context(NULL, "nowhere");
}

Test(base, arrays_grow_by_doubling_from_eight) {
    void *array = NULL;
    size_t cap = 0;
    const lapse_alloc *alloc = lapse_alloc_libc();
    static const size_t wanted[] = {1, 8, 9, 100};
    static const size_t caps[] = {8, 8, 16, 128};
    for (int i = 0; i < 4; i++) {
        cr_assert(lapse_alloc_grow(alloc, &array, &cap, wanted[i], 4));
        cr_expect_eq(cap, caps[i]);
    }
    cr_expect_not(lapse_alloc_grow(alloc, &array, &cap, SIZE_MAX, 4));
    cr_expect_eq(cap, 128);
    lapse_alloc_free(alloc, array, cap * 4);
}

Test(base, the_digest_tells_fields_apart) {
    struct lapse_digest one;
    struct lapse_digest two;
    lapse_digest_begin(&one);
    lapse_digest_begin(&two);
    lapse_digest_bytes(&one, lapse_bytes_of("ab"));
    lapse_digest_bytes(&one, lapse_bytes_of("c"));
    lapse_digest_bytes(&two, lapse_bytes_of("a"));
    lapse_digest_bytes(&two, lapse_bytes_of("bc"));
    cr_expect_neq(lapse_digest_value(&one), lapse_digest_value(&two));
    lapse_digest_begin(&two);
    lapse_digest_bytes(&two, lapse_bytes_of("ab"));
    lapse_digest_bytes(&two, lapse_bytes_of("c"));
    cr_expect_eq(lapse_digest_value(&one), lapse_digest_value(&two));
    lapse_digest_u64(&two, 0);
    cr_expect_neq(lapse_digest_value(&one), lapse_digest_value(&two));
    lapse_digest_begin(&one);
    lapse_digest_i64(&one, -1);
    lapse_digest_bytes(&one, lapse_bytes_of("the same on every machine"));
    cr_expect_eq(lapse_digest_value(&one), UINT64_C(0xc4d446a5ee7adea5));
}

Test(base, every_status_is_found_by_its_word) {
    static const char *const words[] = {"ok", "not_owner", "unknown", "bug"};
    static const enum lapse_status statuses[] = {LAPSE_OK, LAPSE_NOT_OWNER, LAPSE_UNKNOWN,
                                                 LAPSE_BUG};
    enum lapse_status found = LAPSE_IO;
    for (int i = 0; i < 4; i++) {
        cr_expect_eq(lapse_status_find(words[i], &found), 1);
        cr_expect_eq(found, statuses[i]);
        cr_expect_str_eq(lapse_status_word(found), words[i]);
        cr_expect_gt(strlen(lapse_status_sentence(found)), 10);
    }
    cr_expect_eq(lapse_status_find("okay", &found), 0);
    cr_expect_str_eq(lapse_status_word((enum lapse_status)99), "?");
}
