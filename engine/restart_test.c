/* Restarts: what was shown is not taken back, whatever was synced and wherever the wall stands
 * (SEMANTICS section 2): KV-04, CLOCK-01..05, CAS-04, FENCE-01, DUR-03..05. */
#include "testing_loss.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define YEAR (INT64_C(365) * 24 * 3600 * LAPSE_NS_PER_S)

enum { DOWN_S = 3 };

/* How a tenure ends and how far the wall is then from where it should be. */
struct restart {
    const char *name;
    bool machine;
    int64_t off_ns; /* beside what passed */
};

static const struct restart restarts[] = {
    {"process", false, 0},
    {"process, wall +200 s", false, S(200)},
    {"process, wall -200 s", false, -S(200)},
    {"machine, wall right", true, 0},
    {"machine, wall at 1970", true, -S(1025)},
    {"machine, wall +1 year", true, YEAR},
    {"machine, wall set back", true, -S(500)},
};

enum { RESTARTS = sizeof(restarts) / sizeof(restarts[0]) };

struct seen {
    int64_t at, revision, token;
    bool live[5];
};

static const char *const keys[] = {"short", "long", "idle", "old", "new"};

static enum lapse_status ephemeral(struct lapse_testing *t, const char *name, int64_t span) {
    struct lapse_span ns = {span};
    return lapse_acquire_ephemeral(t->store, lapse_bytes_of(name), lapse_bytes_of("w1"), ns, &t->r,
                                   &t->err);
}

/* Looks at every key; what was found ended once must not be live. */
static void look(struct lapse_testing *t, struct seen *seen, bool first, const char *when) {
    for (int i = 0; i < 5; i++) {
        enum lapse_verb verb = i == 2 ? LAPSE_VERB_GET : LAPSE_VERB_HAS;
        bool live = lapse_testing_do(t, verb, i == 2 ? "i" : "b", keys[i], NULL, 0, 0) == LAPSE_OK;
        cr_assert(first || !live || seen->live[i], "%s: `%s` came back", when, keys[i]);
        cr_assert_geq(t->r.at.ns, seen->at, "%s: store time went back", when);
        seen->live[i] = live;
        seen->at = t->r.at.ns;
    }
}

static void write_some(struct lapse_testing *t, struct seen *seen, const char *when) {
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(lapse_testing_do(t, LAPSE_VERB_SET, "b", "more", "v", 0, 0), LAPSE_OK);
        cr_assert_gt(t->r.revision, seen->revision, "%s: a revision came twice (CAS-04)", when);
        seen->revision = t->r.revision;
        for (int k = 0; k < 2; k++) {
            enum lapse_status status = k == 0 ? ephemeral(t, "e", S(1))
                                              : lapse_testing_lease(t, LAPSE_VERB_ACQUIRE, "p",
                                                                    "w1", S(1));
            cr_assert_eq(status, LAPSE_OK, "%s: %s", when, t->err.message);
            cr_assert_gt(t->r.token, seen->token, "%s: a token came twice (FENCE-01)", when);
            seen->token = t->r.token;
            lapse_testing_lease(t, LAPSE_VERB_RELEASE, k == 0 ? "e" : "p", "w1", 0);
        }
    }
    lapse_testing_check(t);
}

/* A tenure of 25.7 s: `short` and `old` are found ended, `long`, `idle` and `new` live. */
static void first_tenure(struct lapse_testing *t, struct seen *seen) {
    lapse_testing_bucket(t, "b", 0, 0, 0);
    lapse_testing_bucket(t, "i", LAPSE_TERM_IDLE, S(60), 0);
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "short", "v", LAPSE_TERM_TTL, S(10));
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "long", "v", LAPSE_TERM_TTL, S(1000));
    lapse_testing_do(t, LAPSE_VERB_SET, "i", "idle", "v", 0, 0);
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "old", "v", LAPSE_TERM_EXPIRES_AT, S(1020));
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "new", "v", LAPSE_TERM_EXPIRES_AT, S(5000));
    seen->revision = t->r.revision;
    lapse_testing_lease(t, LAPSE_VERB_ACQUIRE, "held", "w1", S(100));
    seen->token = t->r.token;
    cr_assert_eq(ephemeral(t, "tenure", S(1000)), LAPSE_OK, "%s", t->err.message);
    cr_assert_gt(t->r.token, seen->token);
    seen->token = t->r.token;
    for (int i = 1; i <= 257; i++) {
        lapse_testing_at(t, i * LAPSE_NS_PER_S / 10);
        if (i % 4 == 0) {
            lapse_testing_step(t, NULL);
        }
        if (i % 70 == 0) {
            write_some(t, seen, "first tenure");
        }
    }
    look(t, seen, true, "first tenure");
    cr_assert(!seen->live[0] && seen->live[1] && seen->live[2] && !seen->live[3] && seen->live[4]);
}

static void restart(struct lapse_testing *t, struct lapse_testing_loss *loss,
                    const struct restart *how) {
    lapse_testing_loss_crash(t, loss, how->machine);
    lapse_clock_manual_advance(&t->clock, (struct lapse_span){S(DOWN_S)});
    lapse_clock_manual_step_wall(&t->clock, (struct lapse_span){how->off_ns});
    if (how->machine) {
        lapse_clock_manual_reboot(&t->clock, t->clock.now.wall);
    }
    lapse_testing_loss_reopen(t);
    lapse_testing_check(t);
}

static void expect_bounds(const struct lapse_testing *t, const struct restart *how, int64_t before,
                          const char *when) {
    int64_t late = before + S(DOWN_S) - t->r.at.ns;
    if (!how->machine) {
        cr_expect_eq(late, 0, "%s: a process restart moved store time by %lld ns", when,
                     (long long)late);
        return;
    }
    int64_t ahead = how->off_ns > 0 ? how->off_ns : 0;
    int64_t behind = how->off_ns < 0 ? -how->off_ns : 0;
    cr_expect(late <= behind && -late <= S(1) + ahead, "%s: store time is late by %lld ns", when,
              (long long)late);
}

static void one_restart(enum lapse_sync sync, const struct restart *how,
                        const struct restart *again) {
    struct lapse_testing t;
    struct lapse_testing_loss loss;
    struct seen seen = {0};
    char when[96];
    lapse_testing_loss_open(&t, &loss, sync);
    first_tenure(&t, &seen);
    int64_t before = seen.at;
    (void)snprintf(when, sizeof(when), "sync %d, %s", (int)sync, how->name);
    restart(&t, &loss, how);
    look(&t, &seen, false, when);
    expect_bounds(&t, how, before, when);
    bool year = how->off_ns == YEAR;
    cr_expect_eq(seen.live[1], !year, "%s: `long` (KV-05)", when);
    cr_expect_eq(seen.live[2], !year, "%s: `idle` (DUR-03)", when);
    cr_expect_eq(seen.live[4], !year, "%s: `new`", when);
    cr_expect_eq(lapse_testing_lease(&t, LAPSE_VERB_INSPECT, "tenure", "", 0), LAPSE_ABSENT,
                 "%s: an ephemeral lease outlived its tenure (DUR-05)", when);
    cr_expect_eq(lapse_testing_lease(&t, LAPSE_VERB_INSPECT, "held", "", 0),
                 year ? LAPSE_ABSENT : LAPSE_OK, "%s: DUR-04", when);
    cr_expect(year || (t.r.token == 1 && t.r.end.ns == S(100)), "%s: DUR-04", when);
    write_some(&t, &seen, when);
    (void)snprintf(when, sizeof(when), "sync %d, %s, then %s", (int)sync, how->name, again->name);
    restart(&t, &loss, again);
    look(&t, &seen, false, when);
    write_some(&t, &seen, when);
    lapse_testing_close(&t);
    lapse_testing_loss_finish(&loss);
}

Test(restart, nothing_that_was_shown_is_taken_back) {
    static const enum lapse_sync syncs[] = {LAPSE_SYNC_FULL, LAPSE_SYNC_NORMAL};
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < RESTARTS; k++) {
            for (int n = 0; n < RESTARTS; n++) {
                one_restart(syncs[i], &restarts[k], &restarts[n]);
            }
        }
    }
}

struct random {
    uint64_t state;
};

static uint32_t below(struct random *random, uint32_t n) {
    random->state = random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random->state >> 33) % n;
}

enum { NAMES = 60 };

/* One command on keys that are written once; tells whether the key was found. */
static void random_call(struct lapse_testing *t, struct random *random, bool written[NAMES],
                        bool ended[NAMES]) {
    static const unsigned terms[] = {LAPSE_TERM_TTL, LAPSE_TERM_EXPIRES_AT, LAPSE_TERM_TTL};
    uint32_t name = below(random, NAMES);
    char key[16];
    (void)snprintf(key, sizeof(key), "k%u", name);
    uint32_t what = below(random, 8);
    if (what < 2 && !written[name]) {
        unsigned given = terms[below(random, 3)];
        int64_t span = S(1 + below(random, 30));
        span += given == LAPSE_TERM_EXPIRES_AT ? t->clock.now.wall.ns : 0;
        lapse_testing_do(t, LAPSE_VERB_CREATE, "b", key, "v", given, span);
        written[name] = true;
    } else if (what < 3) {
        lapse_testing_step(t, NULL);
    } else if (what < 5) {
        (void)(what == 3 ? ephemeral(t, "e", 1)
                         : lapse_testing_lease(t, LAPSE_VERB_ACQUIRE, "p", "w1", 1));
    } else {
        enum lapse_status status = lapse_testing_do(t, LAPSE_VERB_GET, "b", key, NULL, 0, 0);
        cr_assert(status != LAPSE_OK || !ended[name], "`%s` came back", key);
        ended[name] = ended[name] || (written[name] && status == LAPSE_ABSENT);
    }
    cr_assert_geq(t->r.status, LAPSE_OK, "%s", t->err.message);
}

/* Whatever is asked, what is synced covers what was shown: so a crash may come at any moment. */
static void expect_covered(const struct lapse_testing *t, const struct lapse_testing_loss *loss,
                           struct seen *seen) {
    cr_assert_geq(t->r.at.ns, seen->at, "store time went back (CLOCK-03)");
    cr_assert_leq(t->r.at.ns, lapse_testing_loss_ceiling(loss), "an instant was shown too early");
    cr_assert_leq(t->r.token, lapse_testing_loss_token(loss), "a token was shown too early");
    cr_assert_leq(t->r.revision, lapse_testing_loss_revision(loss, "b"),
                  "a revision was shown too early");
    seen->at = t->r.at.ns;
    if (t->r.token != 0 && !t->r.renewed) {
        cr_assert_gt(t->r.token, seen->token, "a token came twice (FENCE-01)");
        seen->token = t->r.token;
    }
    if (t->r.verb == LAPSE_VERB_CREATE && t->r.status == LAPSE_OK) {
        cr_assert_gt(t->r.revision, seen->revision, "a revision came twice (CAS-04)");
        seen->revision = t->r.revision;
    }
}

Test(restart, a_crash_may_come_at_any_moment) {
    int64_t unsynced = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct random random = {seed};
        struct lapse_testing t;
        struct lapse_testing_loss loss;
        struct seen seen = {0};
        bool written[NAMES] = {false};
        bool ended[NAMES] = {false};
        lapse_testing_loss_open(&t, &loss, seed % 2 == 0 ? LAPSE_SYNC_FULL : LAPSE_SYNC_NORMAL);
        lapse_testing_bucket(&t, "b", 0, 0, 0);
        (void)lapse_testing_do(&t, LAPSE_VERB_MARK, "", "", NULL, 0, 0);
        for (int i = 0; i < 150; i++) {
            struct lapse_span span = {S(below(&random, 30)) / 10};
            lapse_clock_manual_advance(&t.clock, span);
            if (below(&random, 10) == 0) {
                span.ns = S(below(&random, 80)) - S(40);
                lapse_clock_manual_step_wall(&t.clock, span);
            }
            if (below(&random, 15) == 0) {
                restart(&t, &loss, &restarts[below(&random, RESTARTS)]);
            }
            random_call(&t, &random, written, ended);
            expect_covered(&t, &loss, &seen);
            lapse_testing_check(&t);
        }
        unsynced += loss.unsynced;
        cr_expect(seed % 2 == 1 || loss.unsynced == 0);
        lapse_testing_close(&t);
        lapse_testing_loss_finish(&loss);
    }
    cr_expect_gt(unsynced, 300, "only %lld commits could be lost", (long long)unsynced);
}

Test(restart, sync_none_and_a_store_without_journal_have_no_ceiling_of_time) {
    struct lapse_testing t;
    struct lapse_testing_loss loss;
    lapse_testing_loss_open(&t, &loss, LAPSE_SYNC_NONE);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    int64_t commits = loss.journal.commits;
    lapse_testing_at(&t, S(100));
    lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", NULL, 0, 0);
    cr_expect_eq(t.r.at.ns, S(100));
    cr_expect_eq(loss.journal.commits, commits, "a read wrote");
    cr_expect_eq(loss.synced, 0, "something was synced");
    lapse_testing_close(&t);
    lapse_testing_loss_finish(&loss);
}

Test(restart, reads_are_preceded_by_one_mark_a_second) {
    struct lapse_testing t;
    struct lapse_testing_loss loss;
    lapse_testing_loss_open(&t, &loss, LAPSE_SYNC_NORMAL);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    int64_t synced = loss.synced;
    for (int i = 1; i <= 1000; i++) {
        lapse_testing_at(&t, i * LAPSE_NS_PER_S / 100);
        lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", NULL, 0, 0);
    }
    cr_expect(loss.synced >= synced + 9 && loss.synced <= synced + 11,
              "10 s of reads synced %d times", (int)(loss.synced - synced));
    for (int i = 0; i < 1000; i++) {
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", 0, 0);
    }
    cr_expect_leq(loss.synced, synced + 12, "sync normal synced each write");
    lapse_testing_close(&t);
    lapse_testing_loss_finish(&loss);
}

/* A call that fails before its instant is durable shows no instant above the ceiling. */
Test(restart, a_fault_shows_no_instant_above_the_ceiling) {
    struct lapse_testing t;
    struct lapse_testing_loss loss;
    lapse_testing_loss_open(&t, &loss, LAPSE_SYNC_FULL);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    lapse_testing_at(&t, S(50));
    cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "none", "k", NULL, 0, 0), LAPSE_INVALID);
    cr_expect_leq(t.r.at.ns, lapse_testing_loss_ceiling(&loss));
    loss.journal.calls = 0;
    loss.journal.fail_at = 1;
    loss.journal.fail_with = LAPSE_IO;
    cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", NULL, 0, 0), LAPSE_IO);
    cr_expect_leq(t.r.at.ns, lapse_testing_loss_ceiling(&loss));
    cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", NULL, 0, 0), LAPSE_ABSENT);
    cr_expect_eq(t.r.at.ns, S(50));
    lapse_testing_close(&t);
    lapse_testing_loss_finish(&loss);
}

/* C5: the reading by which a refusal showed a date reached outlives a lost tail. */
Test(restart, a_date_that_a_refusal_showed_as_reached_stays_so) {
    for (int log = 0; log < 2; log++) {
        struct lapse_testing t;
        struct lapse_testing_loss loss;
        lapse_testing_loss_open(&t, &loss, LAPSE_SYNC_NORMAL);
        lapse_testing_bucket(&t, "b", 0, 0, 0);
        int64_t date = t.clock.now.wall.ns + 50 * LAPSE_NS_PER_MS;
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "k", "v", LAPSE_TERM_EXPIRES_AT, date);
        lapse_testing_do(&t, LAPSE_VERB_MARK, "", "", NULL, 0, 0);
        lapse_testing_at(&t, 60 * LAPSE_NS_PER_MS);
        enum lapse_verb verb = log ? LAPSE_VERB_DELETE : LAPSE_VERB_GET;
        cr_expect_eq(lapse_testing_do(&t, verb, "b", "k", NULL, 0, 0), LAPSE_ABSENT);
        restart(&t, &loss, &restarts[RESTARTS - 1]);
        cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "b", "k", NULL, 0, 0), LAPSE_ABSENT,
                     "a date came back with a lost tail (KV-04)");
        lapse_testing_close(&t);
        lapse_testing_loss_finish(&loss);
    }
}

/* A step of the wall that any command saw is no passing of time, over a machine restart either. */
Test(restart, a_wall_step_that_was_seen_moves_no_span) {
    static const int64_t steps[] = {S(200), -S(200), S(1) / 5, -S(1) / 5};
    static const enum lapse_verb verbs[] = {LAPSE_VERB_GET, LAPSE_VERB_COUNT, LAPSE_VERB_DELETE};
    for (int i = 0; i < 12; i++) {
        struct lapse_testing t;
        struct lapse_testing_loss loss;
        lapse_testing_loss_open(&t, &loss, i < 6 ? LAPSE_SYNC_FULL : LAPSE_SYNC_NORMAL);
        lapse_testing_bucket(&t, "b", 0, 0, 0);
        lapse_testing_at(&t, 10);
        lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){steps[i % 4]});
        lapse_testing_do(&t, verbs[i % 3], "b", "k", NULL, 0, 0);
        int64_t before = t.r.at.ns;
        restart(&t, &loss, &restarts[3]);
        lapse_testing_do(&t, LAPSE_VERB_COUNT, "b", "", NULL, 0, 0);
        expect_bounds(&t, &restarts[3], before, "after a step");
        lapse_testing_close(&t);
        lapse_testing_loss_finish(&loss);
    }
}

/* Suspend: the raw clock counts it, so nothing lives longer (CLOCK-04); a jump of the wall and back
 * ends the dates that it passed, and only those written before (CLOCK-02). */
Test(restart, suspend_counts_and_a_jump_ends_only_older_dates) {
    struct lapse_testing t;
    struct lapse_testing_loss loss;
    lapse_testing_loss_open(&t, &loss, LAPSE_SYNC_FULL);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "span", "v", LAPSE_TERM_TTL, S(3600));
    lapse_testing_do(&t, LAPSE_VERB_SET, "b", "older", "v", LAPSE_TERM_EXPIRES_AT, S(20000));
    lapse_testing_lease(&t, LAPSE_VERB_ACQUIRE, "jobs/1", "w1", S(3600));
    lapse_testing_at(&t, S(3600) - 1);
    cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "b", "span", NULL, 0, 0), LAPSE_OK);
    lapse_testing_at(&t, S(7200));
    cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "b", "span", NULL, 0, 0), LAPSE_ABSENT);
    cr_expect_eq(lapse_testing_lease(&t, LAPSE_VERB_EXTEND, "jobs/1", "w1", S(10)), LAPSE_LOST);
    for (int k = 0; k < 2; k++) {
        lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){S(50000)});
        cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "b", "older", NULL, 0, 0), LAPSE_ABSENT);
        lapse_clock_manual_step_wall(&t.clock, (struct lapse_span){-S(50000)});
        lapse_testing_do(&t, LAPSE_VERB_SET, "b", "newer", "v", LAPSE_TERM_EXPIRES_AT, S(20000));
        for (int i = 0; i < RESTARTS; i++) {
            /* The wall is right again after each of them. */
            struct restart how = {restarts[i].name, restarts[i].machine, 0};
            restart(&t, &loss, &how);
            cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "b", "older", NULL, 0, 0),
                         LAPSE_ABSENT, "%s", how.name);
            cr_expect_eq(lapse_testing_do(&t, LAPSE_VERB_GET, "b", "newer", NULL, 0, 0), LAPSE_OK,
                         "%s", how.name);
        }
    }
    lapse_testing_close(&t);
    lapse_testing_loss_finish(&loss);
}

/* A session's number names it, so none that was shown may name another after a crash. */
Test(restart, a_session_number_is_never_given_twice) {
    for (int i = 0; i < 2; i++) {
        struct lapse_testing t;
        struct lapse_testing_loss loss;
        struct lapse_span span = {S(50)};
        struct lapse_bytes owner = lapse_bytes_of("w1");
        int64_t last = 0;
        lapse_testing_loss_open(&t, &loss, i == 0 ? LAPSE_SYNC_FULL : LAPSE_SYNC_NORMAL);
        for (int k = 0; k < 12; k++) {
            char name[] = "s-0";
            name[2] = (char)('0' + k);
            cr_assert_eq(
                lapse_session_open(t.store, lapse_bytes_of(name), owner, span, &t.r, &t.err),
                LAPSE_OK, "%s", t.err.message);
            cr_assert_gt(t.r.token, last, "number %d came twice", (int)t.r.token);
            last = t.r.token;
            int64_t synced = loss.synced;
            lapse_session_keepalive(t.store, lapse_bytes_of(name), owner, span, &t.r, &t.err);
            cr_expect_eq(loss.synced, synced + (i == 0 ? 1 : 0), "a keepalive has no new number");
            if (k % 3 == 2) {
                lapse_testing_loss_crash(&t, &loss, true);
                lapse_testing_loss_reopen(&t);
            }
        }
        lapse_testing_close(&t);
        lapse_testing_loss_finish(&loss);
    }
}
