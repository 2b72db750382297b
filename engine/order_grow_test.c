/* An order of many keys that goes on while it is listed: chunks are split where keys come in order,
 * in reverse and anywhere, and joined where they go; each listing is that of a bucket that nobody
 * has listed before. And two keys of one hash, which stand side by side and are two keys. */
#include "handle.h"
#include "testing.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 4 * LAPSE_ORDER_CHUNK, NAME_BYTES = 16, NAMES = 250000 };

enum direction { RISING, FALLING, SCATTERED, DIRECTIONS };

/* The place in turn of key `i`; each direction visits all. 1237 shares no factor with KEYS. */
static int turn(enum direction direction, int i) {
    switch (direction) {
    case RISING:
        return i;
    case FALLING:
        return KEYS - 1 - i;
    default:
        return i * 1237 % KEYS;
    }
}

static const char *name_of(int i, char *buf) {
    (void)snprintf(buf, NAME_BYTES, "key/%06d", i);
    return buf;
}

/* Whether the listing has exactly the keys marked, in order. */
static void expect_listed(struct lapse_testing *t, const bool *there) {
    char name[NAME_BYTES];
    size_t at = 0;
    lapse_testing_do(t, LAPSE_VERB_LIST, "b", "", "", 0, 0);
    for (int i = 0; i < KEYS; i++) {
        if (there[i]) {
            cr_assert_lt(at, t->r.item_count, "%s is left out", name_of(i, name));
            cr_assert(lapse_testing_is(t->r.items[at].key, name_of(i, name)), "%s is left out",
                      name);
            at++;
        }
    }
    cr_assert_eq(at, t->r.item_count);
    lapse_testing_check(t);
}

static const struct lapse_order *order_of(const struct lapse_testing *t) {
    return &lapse_state_bucket(&t->store->state, lapse_bytes_of("b"))->order;
}

static void grow(struct lapse_testing *t, enum direction direction, bool *there) {
    char name[NAME_BYTES];
    memset(there, 0, KEYS * sizeof(*there));
    expect_listed(t, there);
    for (int i = 0; i < KEYS; i++) {
        int key = turn(direction, i);
        cr_assert_eq(lapse_testing_do(t, LAPSE_VERB_SET, "b", name_of(key, name), "v", 0, 0),
                     LAPSE_OK);
        there[key] = true;
        if (i % 307 == 0) {
            expect_listed(t, there);
        }
    }
    expect_listed(t, there);
}

static void shrink(struct lapse_testing *t, enum direction direction, bool *there) {
    char name[NAME_BYTES];
    for (int i = 0; i < KEYS; i++) {
        int key = turn(direction, i);
        cr_assert_eq(lapse_testing_do(t, LAPSE_VERB_DELETE, "b", name_of(key, name), "", 0, 0),
                     LAPSE_OK);
        there[key] = false;
        if (i % 307 == 0) {
            expect_listed(t, there);
        }
    }
    expect_listed(t, there);
}

Test(order_grow, it_grows_and_shrinks_as_keys_come_and_go_in_any_direction) {
    bool *there = calloc(KEYS, sizeof(*there));
    cr_assert_not_null(there);
    for (int up = 0; up < DIRECTIONS; up++) {
        for (int down = 0; down < DIRECTIONS; down++) {
            struct lapse_testing t;
            lapse_testing_open(&t);
            lapse_testing_bucket(&t, "b", 0, 0, 0);
            grow(&t, (enum direction)up, there);
            cr_expect(order_of(&t)->made, "it was not made anew for each listing");
            cr_expect_leq(order_of(&t)->chunk_count, 2 * KEYS / LAPSE_ORDER_CHUNK + 2);
            shrink(&t, (enum direction)down, there);
            cr_expect(order_of(&t)->made && order_of(&t)->chunk_count == 0);
            lapse_testing_close(&t);
        }
    }
    free(there);
}

/* Few keys do not hold many chunks, wherever they are. */
Test(order_grow, chunks_that_are_nearly_empty_become_one) {
    bool *there = calloc(KEYS, sizeof(*there));
    char name[NAME_BYTES];
    struct lapse_testing t;
    cr_assert_not_null(there);
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    grow(&t, SCATTERED, there);
    for (int i = 0; i < KEYS; i++) {
        if (i % 64 != 0) {
            lapse_testing_do(&t, LAPSE_VERB_DELETE, "b", name_of(i, name), "", 0, 0);
            there[i] = false;
        }
    }
    expect_listed(&t, there);
    cr_expect_leq(order_of(&t)->chunk_count, 2, "%zu chunks for %d keys",
                  order_of(&t)->chunk_count, KEYS / 64);
    lapse_testing_close(&t);
    free(there);
}

struct hashed {
    uint32_t hash;
    int name;
};

static int by_hash(const void *a, const void *b) {
    const struct hashed *one = a;
    const struct hashed *other = b;
    if (one->hash != other->hash) {
        return one->hash < other->hash ? -1 : 1;
    }
    return one->name - other->name;
}

/* Two names of one hash. */
static void find_twins(int ret[2]) {
    struct hashed *all = calloc(NAMES, sizeof(*all));
    char name[NAME_BYTES];
    cr_assert_not_null(all);
    for (int i = 0; i < NAMES; i++) {
        all[i] = (struct hashed){lapse_node_hash(lapse_bytes_of(name_of(i, name))), i};
    }
    qsort(all, NAMES, sizeof(*all), by_hash);
    int at = 1;
    while (at < NAMES && all[at].hash != all[at - 1].hash) {
        at++;
    }
    cr_assert_lt(at, NAMES, "no two of %d names have one hash", NAMES);
    ret[0] = all[at - 1].name;
    ret[1] = all[at].name;
    free(all);
}

Test(order_grow, two_keys_of_one_hash_are_two_keys) {
    struct lapse_bucket_config words = {.markers = {S(60)}, .history = 3};
    struct lapse_span span = {S(9)};
    struct lapse_testing t;
    char names[2][NAME_BYTES];
    int twins[2];
    find_twins(twins);
    lapse_testing_open(&t);
    lapse_bucket_open(t.store, lapse_bytes_of("b"), &words, &t.r, &t.err);
    for (int i = 0; i < 2; i++) {
        (void)name_of(twins[i], names[i]);
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 2; i++) {
            lapse_testing_do(&t, LAPSE_VERB_SET, "b", names[i], names[i], 0, 0);
            lapse_testing_check(&t);
        }
    }
    for (int i = 0; i < 2; i++) {
        struct lapse_bytes name = lapse_bytes_of(names[i]);
        cr_expect_eq(lapse_history(t.store, lapse_bytes_of("b"), name, &t.r, &t.err), LAPSE_OK);
        cr_expect_eq(t.r.item_count, 3);
        lapse_testing_do(&t, LAPSE_VERB_GET, "b", names[i], "", 0, 0);
        cr_expect(lapse_testing_is(t.r.value, names[i]));
        cr_expect_eq(lapse_session_open(t.store, name, name, span, &t.r, &t.err), LAPSE_OK);
        cr_expect_eq(lapse_acquire(t.store, name, name, span, &t.r, &t.err), LAPSE_OK);
        cr_expect_not(t.r.renewed, "it was taken for the other");
    }
    lapse_testing_do(&t, LAPSE_VERB_PURGE, "b", names[0], "", 0, 0);
    lapse_testing_check(&t);
    cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "b", names[0], "", 0, 0), LAPSE_ABSENT);
    cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "b", names[1], "", 0, 0), LAPSE_OK);
    lapse_testing_close(&t);
}
