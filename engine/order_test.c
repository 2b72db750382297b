/* Listings by pages: the order of keys that they build, keep in step and give up. */
#include "handle.h"
#include "testing.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { KEYS = 2000, MANY = 6000 };

static struct lapse_bytes name(int i, char *buf, size_t cap);
static enum lapse_status set(struct lapse_testing *t, int i, int64_t ttl);
static void delete (struct lapse_testing *t, int i);
static enum lapse_status page(struct lapse_testing *t, struct lapse_bytes *after, char *buf,
                              size_t limit, bool values);
static size_t keys_of(struct lapse_testing *t);
static void same_as_whole(struct lapse_testing *t, struct lapse_bytes after, size_t limit);

/* The even keys stay; the odd ones come, go and end between the pages. */
Test(order, what_is_live_throughout_a_listing_by_pages_appears_once) {
    struct lapse_testing t;
    char buf[32] = "";
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    for (int limit = 1; limit < KEYS; limit = limit * 3 + 4) {
        int seen[KEYS] = {0};
        for (int i = 0; i < KEYS; i++) {
            cr_assert_eq(set(&t, i * 7 % KEYS, 0), LAPSE_OK);
        }
        struct lapse_bytes after = {NULL, 0};
        bool more = true;
        for (int round = 0; more; round++) {
            cr_assert_eq(page(&t, &after, buf, (size_t)limit, round % 2 == 0), LAPSE_OK);
            more = t.r.more;
            cr_assert_leq(t.r.item_count, (size_t)limit);
            cr_assert(!more || t.r.item_count == (size_t)limit);
            for (size_t k = 0; k < t.r.item_count; k++) {
                int key = 0;
                cr_assert_eq(sscanf((const char *)t.r.items[k].key.data, "key/%4d", &key), 1);
                cr_assert_eq(t.r.items[k].kind, LAPSE_RECORD_VALUE);
                cr_assert_eq(t.r.items[k].value.len, round % 2 == 0 ? 1 : 0);
                seen[key]++;
            }
            int odd = (round * 37 % (KEYS / 2)) * 2 + 1;
            delete (&t, odd);
            set(&t, (odd + 100) % KEYS, S(1));
            set(&t, (odd + 502) % KEYS, 0);
            lapse_testing_at(&t, t.clock.now.raw_ns + S(1) / 8);
            lapse_testing_step(&t, NULL);
            if (round % 64 == 0) {
                lapse_testing_check(&t);
            }
        }
        for (int i = 0; i < KEYS; i++) {
            cr_assert(i % 2 == 0 ? seen[i] == 1 : seen[i] <= 1, "limit %d, key %d: %d times", limit,
                      i, seen[i]);
        }
        lapse_testing_check(&t);
    }
    lapse_testing_close(&t);
}

Test(order, a_page_says_whether_a_live_key_is_left) {
    struct lapse_testing t;
    struct lapse_bytes after = lapse_bytes_of("key/0003");
    struct lapse_command count = {.verb = LAPSE_VERB_COUNT, .bucket = lapse_bytes_of("b")};
    char buf[32];
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    for (int i = 0; i < 10; i++) {
        set(&t, i, i < 7 ? 0 : S(5));
    }
    cr_assert_eq(page(&t, &after, buf, 3, false), LAPSE_OK);
    cr_expect(t.r.item_count == 3 && t.r.more);
    count.u.page.has_after = true;
    count.u.page.after = lapse_bytes_of("key/0003");
    cr_assert_eq(lapse_apply(t.store, &count, &t.r, &t.err), LAPSE_OK);
    cr_expect_eq(t.r.item_count, 6);
    lapse_testing_at(&t, S(5));
    after = lapse_bytes_of("key/0003");
    cr_assert_eq(page(&t, &after, buf, 3, false), LAPSE_OK);
    cr_expect(t.r.item_count == 3 && !t.r.more, "what is left has ended");
    cr_assert_eq(lapse_apply(t.store, &count, &t.r, &t.err), LAPSE_OK);
    cr_expect_eq(t.r.item_count, 3);
    /* Between two keys, before all, after all; no limit. */
    static const char *const froms[] = {"key/00031", "", "z"};
    static const size_t wants[] = {3, 7, 0};
    for (int i = 0; i < 3; i++) {
        struct lapse_bytes from = lapse_bytes_of(froms[i]);
        cr_assert_eq(lapse_page(t.store, lapse_bytes_of("b"), &from, 0, true, &t.r, &t.err), 0);
        cr_expect(t.r.item_count == wants[i] && !t.r.more);
    }
    static unsigned char huge[LAPSE_KEY_BYTES_MAX + 1];
    after = (struct lapse_bytes){huge, sizeof(huge)};
    cr_expect_eq(lapse_page(t.store, lapse_bytes_of("b"), &after, 1, true, &t.r, &t.err),
                 LAPSE_INVALID);
    lapse_testing_close(&t);
}

/* Many keys: the first page makes no order, the second does. Keys come, go and are rewritten
 * between the pages, so that the table grows and a key has many records, and every page is what a
 * listing of the whole says. */
Test(order, of_many_keys_it_is_made_at_the_second_page) {
    static const size_t limits[] = {1, 37, 400};
    for (int l = 0; l < 3; l++) {
        struct lapse_testing t;
        struct lapse_bytes after = {NULL, 0};
        char buf[32] = "";
        lapse_testing_open(&t);
        struct lapse_bucket_config config = {.history = 3};
        cr_assert_eq(lapse_bucket_open(t.store, lapse_bytes_of("b"), &config, &t.r, &t.err), 0);
        const struct lapse_order *order = &t.store->state.by_index.items[0]->order;
        for (int i = 0; i < MANY; i++) {
            cr_assert_eq(set(&t, i * 7 % MANY, i % 5 == 0 ? S(2) : 0), LAPSE_OK);
        }
        for (int round = 0; round < 14; round++) {
            struct lapse_bytes from = after;
            char from_buf[32];
            memcpy(from_buf, buf, sizeof(buf));
            from.data = from.data == NULL ? NULL : (const unsigned char *)from_buf;
            cr_assert_eq(page(&t, &after, buf, limits[l], false), LAPSE_OK);
            cr_assert(t.r.item_count == limits[l] || !t.r.more);
            cr_expect_eq(order->made, round > 0);
            cr_expect_eq(order->count, round > 0 ? keys_of(&t) : 0);
            same_as_whole(&t, from, limits[l]);
            after = t.r.more ? after : (struct lapse_bytes){NULL, 0};
            for (int i = 0; i < 200; i++) {
                set(&t, (round * 331 + i * 29) % (2 * MANY), i % 3 == 0 ? S(1) : 0);
                delete (&t, (round * 577 + i * 31) % (2 * MANY));
            }
            lapse_testing_at(&t, t.clock.now.raw_ns + S(1) / 4);
            if (round % 3 == 0) {
                lapse_testing_step(&t, NULL);
            }
            lapse_testing_check(&t);
        }
        lapse_testing_close(&t);
    }
}

/* At each allocation of each page once: the page is refused and comes right the next time, or the
 * order is given up and the page is right all the same. */
Test(order, a_page_of_many_keys_does_without_memory_or_says_so) {
    struct lapse_testing t;
    int refused = 0;
    int given_up = 0;
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    const struct lapse_order *order = &t.store->state.by_index.items[0]->order;
    for (int i = 0; i < MANY; i++) {
        cr_assert_eq(set(&t, i * 7 % MANY, 0), LAPSE_OK);
    }
    for (size_t nth = 1; nth < 40; nth++) {
        for (int round = 0; round < 3; round++) {
            struct lapse_bytes after = lapse_bytes_of("key/0100");
            char buf[32];
            lapse_result_free(&t.r);
            bool asked = order->asked;
            t.alloc.calls = 0;
            t.alloc.fail_at = nth;
            enum lapse_status status = page(&t, &after, buf, 10, true);
            t.alloc.fail_at = 0;
            refused += status == LAPSE_NOMEM ? 1 : 0;
            given_up += asked && !order->asked ? 1 : 0;
            lapse_testing_check(&t);
            if (status == LAPSE_OK) {
                cr_assert(lapse_testing_is(t.r.items[0].key, "key/0101"));
                cr_assert(t.r.item_count == 10 && t.r.more);
            }
        }
    }
    cr_expect_gt(refused, 10);
    cr_expect_gt(given_up, 5);
    lapse_testing_close(&t);
}

Test(order, keys_that_begin_alike_are_told_apart) {
    static const char *const sorted[] = {"a",         "aa",        "aaaaaaaa",  "aaaaaaaaa",
                                         "aaaaaaaab", "aaaaaaab",  "ab",        "b",
                                         "b\xff",     "b\xff\xff", "b\xff\xffz"};
    enum { COUNT = sizeof(sorted) / sizeof(sorted[0]) };
    for (int from = 0; from < COUNT; from++) {
        struct lapse_testing t;
        lapse_testing_open(&t);
        lapse_testing_bucket(&t, "b", 0, 0, 0);
        for (int i = 0; i < COUNT - from; i++) {
            int at = from + i * 3 % (COUNT - from);
            at = (COUNT - from) % 3 == 0 ? from + i : at;
            lapse_testing_do(&t, LAPSE_VERB_SET, "b", sorted[at], "v", 0, 0);
        }
        cr_assert_eq(lapse_testing_do(&t, LAPSE_VERB_LIST, "b", "", NULL, 0, 0), LAPSE_OK);
        cr_assert_eq(t.r.item_count, (size_t)(COUNT - from));
        for (int i = from; i < COUNT; i++) {
            cr_expect(lapse_testing_is(t.r.items[i - from].key, sorted[i]));
        }
        lapse_testing_close(&t);
    }
}

Test(order, it_is_given_up_when_nobody_lists) {
    struct lapse_testing t;
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    for (int i = 0; i < KEYS; i++) {
        set(&t, i, 0);
    }
    lapse_result_free(&t.r);
    size_t before = t.alloc.bytes_out;
    lapse_testing_do(&t, LAPSE_VERB_LIST, "b", "", NULL, 0, 0);
    lapse_result_free(&t.r);
    cr_expect_geq(t.alloc.bytes_out, before + KEYS * sizeof(void *));
    lapse_testing_at(&t, S(60) - 1);
    lapse_testing_step(&t, NULL);
    cr_expect_geq(t.alloc.bytes_out, before + KEYS * sizeof(void *), "59 s: it is kept");
    lapse_testing_at(&t, S(60));
    lapse_testing_step(&t, NULL);
    lapse_result_free(&t.r);
    cr_expect_eq(t.alloc.bytes_out, before);
    lapse_testing_close(&t);
}

/* Every write that would split a chunk is once left without memory at each of its allocations. */
Test(order, without_memory_the_write_goes_on_and_the_order_is_given_up) {
    struct lapse_testing t;
    int refused = 0;
    int given_up = 0;
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    for (int i = 0; i < KEYS; i++) {
        cr_assert_eq(lapse_testing_do(&t, LAPSE_VERB_LIST, "b", "", NULL, 0, 0), LAPSE_OK);
        cr_assert_eq(t.r.item_count, (size_t)i);
        for (size_t nth = 1;; nth++) {
            t.alloc.calls = 0;
            t.alloc.fail_at = nth;
            enum lapse_status status = set(&t, i * 7 % KEYS, 0);
            given_up += status == LAPSE_OK && t.alloc.calls >= nth ? 1 : 0;
            refused += status == LAPSE_NOMEM ? 1 : 0;
            t.alloc.fail_at = 0;
            if (status == LAPSE_OK) {
                break;
            }
            cr_assert_eq(status, LAPSE_NOMEM);
        }
    }
    cr_expect_gt(refused, KEYS);
    cr_expect_gt(given_up, 3);
    lapse_testing_close(&t);
}

static struct lapse_bytes name(int i, char *buf, size_t cap) {
    (void)snprintf(buf, cap, "key/%04d", i);
    return lapse_bytes_of(buf);
}

static enum lapse_status set(struct lapse_testing *t, int i, int64_t ttl) {
    char buf[32];
    struct lapse_term term = {.given = ttl > 0 ? LAPSE_TERM_TTL : 0, .ttl = {ttl}};
    return lapse_set(t->store, lapse_bytes_of("b"), name(i, buf, sizeof(buf)), lapse_bytes_of("v"),
                     &term, NULL, &t->r, &t->err);
}

static void delete (struct lapse_testing *t, int i) {
    char buf[32];
    enum lapse_status status = lapse_delete(t->store, lapse_bytes_of("b"),
                                            name(i, buf, sizeof(buf)), NULL, &t->r, &t->err);
    cr_assert(status == LAPSE_OK || status == LAPSE_ABSENT);
}

/* The page above *after, which then is its last key. */
static enum lapse_status page(struct lapse_testing *t, struct lapse_bytes *after, char *buf,
                              size_t limit, bool values) {
    const struct lapse_bytes *above = after->data == NULL ? NULL : after;
    enum lapse_status status =
        lapse_page(t->store, lapse_bytes_of("b"), above, limit, values, &t->r, &t->err);
    if (status == LAPSE_OK && t->r.item_count > 0) {
        struct lapse_bytes last = t->r.items[t->r.item_count - 1].key;
        memcpy(buf, last.data, last.len);
        *after = (struct lapse_bytes){(const unsigned char *)buf, last.len};
    }
    return status;
}

/* Keys, live or not, of the bucket. */
static size_t keys_of(struct lapse_testing *t) {
    const struct lapse_table *records = &t->store->state.by_index.items[0]->records;
    size_t count = 0;
    const struct lapse_node *node = lapse_table_any(records);
    for (; node != NULL; node = lapse_table_after(records, node)) {
        count += node->now.older ? 0 : 1;
    }
    return count;
}

/* The page in t->r is what a fork, which has no order yet, says when it is asked for all. */
static void same_as_whole(struct lapse_testing *t, struct lapse_bytes after, size_t limit) {
    struct lapse *fork = NULL;
    struct lapse_result all;
    const struct lapse_bytes *above = after.data == NULL ? NULL : &after;
    lapse_result_init(&all, NULL);
    cr_assert_eq(
        lapse_fork(t->store, NULL, lapse_clock_manual_vtable(&t->clock), &fork, &t->err), LAPSE_OK);
    cr_assert_eq(lapse_page(fork, lapse_bytes_of("b"), above, 0, true, &all, &t->err), LAPSE_OK);
    cr_assert_eq(t->r.more, all.item_count > limit);
    for (size_t i = 0; i < t->r.item_count; i++) {
        cr_assert(lapse_bytes_equal(t->r.items[i].key, all.items[i].key), "item %zu", i);
        cr_assert_eq(t->r.items[i].revision, all.items[i].revision);
    }
    lapse_result_free(&all);
    lapse_close(fork);
}
