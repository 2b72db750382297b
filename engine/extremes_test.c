/* Clocks at the edges of what they can say: a call is right or answers `range`, and nothing wraps
 * (CLOCK-05). */
#include "testing_loss.h"

#include <criterion/criterion.h>

static const int64_t edges[] = {
    INT64_MIN,     INT64_MIN + 1,         -S(1),           -1,        0, 1, S(1),
    S(2147483647), S(2147483647) + S(1), INT64_MAX - S(1), INT64_MAX - 1, INT64_MAX,
};

enum { EDGES = sizeof(edges) / sizeof(edges[0]) };

/* Verbs over keys with every kind of end. */
static void call_all(struct lapse_testing *t, int64_t *at) {
    static const enum lapse_verb verbs[] = {
        LAPSE_VERB_SET,   LAPSE_VERB_GET,    LAPSE_VERB_ENTRY,   LAPSE_VERB_EXPIRE,
        LAPSE_VERB_COUNT, LAPSE_VERB_DELETE, LAPSE_VERB_PERSIST, LAPSE_VERB_CREATE,
        LAPSE_VERB_MARK};
    static const unsigned terms[] = {LAPSE_TERM_TTL, LAPSE_TERM_EXPIRES_AT, LAPSE_TERM_IDLE};
    for (int i = 0; i < 30; i++) {
        const char *key = i % 2 == 0 ? "k" : "l";
        int64_t term = i % 5 == 0 ? INT64_MAX : S(5);
        enum lapse_verb verb = verbs[i % 9];
        bool bare = verb == LAPSE_VERB_MARK || verb == LAPSE_VERB_COUNT;
        enum lapse_status status =
            lapse_testing_do(t, verb, "b", bare ? "" : key, bare ? NULL : "v",
                             verb == LAPSE_VERB_SET ? terms[i % 3] : LAPSE_TERM_TTL, term);
        cr_assert(status >= LAPSE_OK || status == LAPSE_RANGE || status == LAPSE_INVALID, "%s: %s",
                  lapse_verb_word(verb), t->err.message);
        cr_assert_geq(t->r.at.ns, *at, "store time went back");
        cr_assert_geq(t->r.left.ns, 0);
        *at = t->r.at.ns;
    }
    (void)lapse_testing_lease(t, LAPSE_VERB_ACQUIRE, "p", "w1", S(5));
    (void)lapse_step(t->store, 10, &t->r, NULL, &t->err);
    lapse_testing_check(t);
}

Test(extremes, a_clock_at_its_edge_is_right_or_out_of_range) {
    int ranges = 0;
    for (int i = 0; i < EDGES * EDGES * 2; i++) {
        struct lapse_testing t;
        struct lapse_testing_loss loss;
        int64_t at = 0;
        lapse_testing_loss_open(&t, &loss, i % 2 == 0 ? LAPSE_SYNC_FULL : LAPSE_SYNC_NORMAL);
        lapse_testing_bucket(&t, "b", 0, 0, S(60));
        /* Raw and wall jump there and back, on the same boot, then on another. */
        struct lapse_reading was = t.clock.now;
        for (int k = 0; k < 4; k++) {
            t.clock.now = was;
            if (k % 2 == 0) {
                t.clock.now.raw_ns = edges[i / 2 / EDGES];
                t.clock.now.wall.ns = edges[i / 2 % EDGES];
            }
            call_all(&t, &at);
        }
        lapse_testing_loss_crash(&t, &loss, true);
        t.clock.now = (struct lapse_reading){9, edges[i / 2 / EDGES], {edges[i / 2 % EDGES]}};
        enum lapse_status status = lapse_open(&t.options, &t.store, &t.err);
        if (status == LAPSE_OK) {
            call_all(&t, &at);
            lapse_testing_loss_crash(&t, &loss, true);
            t.clock.now = was;
            status = lapse_open(&t.options, &t.store, &t.err);
        }
        cr_assert(status == LAPSE_OK || status == LAPSE_RANGE, "%s", t.err.message);
        ranges += status == LAPSE_RANGE ? 1 : 0;
        if (status == LAPSE_OK) {
            call_all(&t, &at);
        } else {
            /* A wall below every other passes nothing. */
            t.clock.now = (struct lapse_reading){10, 0, {INT64_MIN}};
            lapse_testing_loss_reopen(&t);
        }
        lapse_testing_close(&t);
        lapse_testing_loss_finish(&loss);
    }
    cr_expect_gt(ranges, 0);
}

/* A raw clock that goes back on its boot stands still; so does a span. */
Test(extremes, a_raw_clock_that_goes_back_stands_still) {
    struct lapse_testing t;
    struct lapse_testing_loss loss;
    lapse_testing_loss_open(&t, &loss, LAPSE_SYNC_FULL);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    lapse_testing_at(&t, S(100));
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", LAPSE_TERM_TTL, S(10));
    lapse_testing_at(&t, S(100) + S(1) / 2);
    lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", NULL, 0, 0);
    int64_t at = t.r.at.ns;
    for (int reopened = 0; reopened < 2; reopened++) {
        t.clock.now.raw_ns = S(20);
        if (reopened == 1) {
            lapse_testing_loss_crash(&t, &loss, false);
            lapse_testing_loss_reopen(&t);
        }
        cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", NULL, 0, 0), LAPSE_OK);
        cr_expect_geq(t.r.at.ns, at, "store time went back over a restart (CLOCK-03)");
        cr_expect_leq(t.r.at.ns, at + S(1));
        at = t.r.at.ns;
    }
    lapse_testing_close(&t);
    lapse_testing_loss_finish(&loss);
}

Test(extremes, the_system_clock_tells_boot_raw_and_wall) {
    lapse_clock clock = lapse_clock_system();
    struct lapse_reading a = {0};
    struct lapse_reading b = {0};
    cr_assert_eq(clock.read(clock.ctx, &a), LAPSE_OK);
    clock = lapse_clock_system();
    cr_assert_eq(clock.read(clock.ctx, &b), LAPSE_OK);
    cr_expect_neq(a.boot, 0);
    cr_expect_eq(a.boot, b.boot);
    cr_expect(a.raw_ns > 0 && b.raw_ns >= a.raw_ns);
    cr_expect_gt(a.wall.ns, S(1600000000));
    clock.ctx = NULL;
    cr_expect_eq(clock.read(clock.ctx, &a), LAPSE_IO, "a machine that tells no boot");
}
