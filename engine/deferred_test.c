/* Many deferred renewals at once: the side table grows and its chains are cut anywhere, and each
 * key's renewal is still its own. Flushes that say anything but what is deferred are refused. */
#include "testing.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { KEYS = 100 };

static const char *name_of(int i, char *buf) {
    (void)snprintf(buf, 16, "key %d", i);
    return buf;
}

static void open_keys(struct lapse_testing *t) {
    char name[16];
    lapse_testing_open(t);
    lapse_testing_bucket(t, "b", LAPSE_TERM_IDLE, S(60), 0);
    for (int i = 0; i < KEYS; i++) {
        lapse_testing_do(t, LAPSE_VERB_SET, "b", name_of(i, name), "v", 0, 0);
    }
}

/* Key i is used at its own instant, in an order that is not that of names. */
static void use_all(struct lapse_testing *t) {
    char name[16];
    for (int i = 0; i < KEYS; i++) {
        lapse_testing_at(t, S(10) + i);
        lapse_testing_do(t, LAPSE_VERB_GET, "b", name_of(i * 37 % KEYS, name), NULL, 0, 0);
        cr_assert(t->r.renewed, "%s", name);
    }
}

Test(deferred, each_of_many_renewals_is_its_key_s_own) {
    struct lapse_testing t;
    char name[16];
    open_keys(&t);
    use_all(&t);
    lapse_testing_check(&t);
    /* Every third key is written or removed, which takes its renewal away. */
    for (int i = 0; i < KEYS; i += 3) {
        lapse_testing_do(&t, i % 2 == 0 ? LAPSE_VERB_DELETE : LAPSE_VERB_SET, "b",
                         name_of(i, name), "w", 0, 0);
        cr_assert_eq(t.r.status, LAPSE_OK);
        lapse_testing_check(&t);
    }
    lapse_testing_at(&t, S(12));
    lapse_testing_step(&t, NULL);
    lapse_testing_check(&t);
    for (int i = 0; i < KEYS; i++) {
        int64_t used = S(10) + i;
        lapse_testing_do(&t, LAPSE_VERB_ENTRY, "b", name_of(i * 37 % KEYS, name), NULL, 0, 0);
        if (i * 37 % KEYS % 6 == 0) {
            cr_expect_eq(t.r.status, LAPSE_ABSENT, "%s", name);
        } else if (i * 37 % KEYS % 3 != 0) {
            cr_expect_eq(t.r.end.ns, used + S(60), "%s ends at another's renewal", name);
        }
    }
    lapse_testing_close(&t);
}

/* A fork is told of them by name and queues them by use. */
Test(deferred, a_fork_flushes_them_in_the_order_of_their_uses) {
    struct lapse_testing t;
    open_keys(&t);
    use_all(&t);
    struct lapse_testing fork;
    lapse_testing_open(&fork);
    lapse_close(fork.store);
    fork.clock = t.clock;
    cr_assert_eq(lapse_fork(t.store, &fork.alloc.vtable, fork.options.clock, &fork.store, NULL),
                 LAPSE_OK);
    for (int i = 0; i <= KEYS; i += 10) {
        struct lapse_testing *both[] = {&t, &fork};
        for (int k = 0; k < 2; k++) {
            lapse_testing_at(both[k], S(11) + i);
            lapse_testing_step(both[k], NULL);
            lapse_testing_check(both[k]);
        }
        for (int part = 0; part < 2; part++) {
            cr_assert_eq(lapse_testing_digest(t.store, (enum lapse_part)part),
                         lapse_testing_digest(fork.store, (enum lapse_part)part), "at %d", i);
        }
    }
    lapse_testing_close(&fork);
    lapse_testing_close(&t);
}

/* FLUSH is a log command that anyone may send: what does not fit changes nothing (KV-09). */
Test(deferred, a_flush_that_does_not_fit_changes_nothing) {
    static const struct {
        const char *key;
        int64_t used, revision, end;
        enum lapse_end_kind kind;
        bool taken;
    } cases[] = {
        {"none", S(20), 1, S(60), LAPSE_END_STEADY, false},
        {"key 0", S(20), 2, S(60), LAPSE_END_STEADY, false},
        {"key 0", S(20), 1, S(61), LAPSE_END_STEADY, false},
        {"key 0", S(20), 1, S(60), LAPSE_END_WALL, false},
        {"key 0", S(20), 1, S(60), LAPSE_END_NONE, false},
        {"key 0", S(60), 1, S(60), LAPSE_END_STEADY, false},
        {"key 0", 0, 1, S(60), LAPSE_END_STEADY, false},
        {"key 0", -S(5), 1, S(60), LAPSE_END_STEADY, false},
        {"key 0", INT64_MAX, 1, S(60), LAPSE_END_STEADY, false},
        {"key 0", INT64_MIN, 1, S(60), LAPSE_END_STEADY, false},
        {"plain", S(20), KEYS + 1, 0, LAPSE_END_NONE, false},
        {"plain", S(20), KEYS + 1, 0, LAPSE_END_STEADY, false},
        {"timed", S(20), KEYS + 2, S(90), LAPSE_END_STEADY, false},
        {"key 0", S(20), 1, S(60), LAPSE_END_STEADY, true},
    };
    struct lapse_testing t;
    open_keys(&t);
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "plain", "v", 0, 0);
    lapse_testing_do(&t, LAPSE_VERB_PERSIST, "b", "plain", NULL, 0, 0);
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "timed", "v", LAPSE_TERM_TTL, S(90));
    lapse_testing_at(&t, S(30));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t was = lapse_testing_digest(t.store, LAPSE_PART_DURABLE);
        struct lapse_command flush = {.verb = LAPSE_VERB_FLUSH,
                                      .bucket = lapse_bytes_of("b"),
                                      .key = lapse_bytes_of(cases[i].key)};
        flush.u.flush.used.ns = cases[i].used;
        flush.u.flush.revision = cases[i].revision;
        flush.u.flush.end = (struct lapse_end){cases[i].kind, cases[i].end};
        enum lapse_status status = lapse_apply(t.store, &flush, &t.r, &t.err);
        cr_assert(status == LAPSE_OK || (!cases[i].taken && status == LAPSE_INVALID), "%s",
                  t.err.message);
        cr_expect_eq(t.r.renewed, cases[i].taken, "case %zu", i);
        cr_expect_eq(lapse_testing_digest(t.store, LAPSE_PART_DURABLE) != was, cases[i].taken);
        lapse_testing_check(&t);
    }
    lapse_testing_close(&t);
}
