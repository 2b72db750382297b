/* What a step of the reaper may cost, and what it takes: with many rows due it does a bounded piece
 * of the work of putting them in order, and the rows leave in that order all the same. */
#include "handle.h"
#include "testing.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 6000, STEP_ROWS = 10 };

/* A key as it was written; end 0: it is gone. */
struct written {
    int64_t end_ns, revision;
    int bucket, key;
};

struct scene {
    struct lapse_testing t;
    struct written rows[ROWS];
    int idle; /* steps that went well and took nothing */
};

static void fill(struct scene *scene, bool one_instant);
static void write_key(struct scene *scene, int key, int bucket, int64_t ttl);
static int compare(const void *a, const void *b);
static size_t take(struct scene *scene, size_t at, const struct lapse_result *result);
static size_t step(struct scene *scene, size_t at, size_t fail_at);
static void disturb(struct scene *scene, size_t at, int round);
static void reap_exactly(struct scene *scene, size_t at);

/* With ends all over a second, and with one for all that came in no order. Keys are rewritten while
 * the work goes on, and steps fail for want of memory. */
Test(reap, a_step_takes_fewer_rows_rather_than_more_time) {
    static struct scene scene;
    for (int one_instant = 0; one_instant < 2; one_instant++) {
        size_t at = 0;
        int round = 0;
        fill(&scene, one_instant == 1);
        while (at < ROWS && scene.rows[at].end_ns > 0) {
            struct lapse_due due;
            at = step(&scene, at, round % 3 == 0 ? (size_t)(round % 7) + 1 : 0);
            lapse_next_due(scene.t.store, &due);
            cr_assert(at == ROWS || scene.rows[at].end_ns == 0 ||
                      (due.has_steady && due.steady.ns <= S(10)));
            if (round < 40) {
                disturb(&scene, at, round);
                lapse_testing_check(&scene.t);
            }
            if (round == 2 || round == 30) {
                reap_exactly(&scene, at);
            }
            cr_assert_lt(++round, ROWS, "it does not come to an end");
        }
        cr_expect_geq(scene.idle, 2, "%d steps have only prepared", scene.idle);
        lapse_testing_close(&scene.t);
    }
}

/* All rows of one instant that came in their order are there at once. */
Test(reap, rows_that_came_in_order_cost_a_step_nothing) {
    static struct scene scene;
    lapse_testing_open(&scene.t);
    lapse_testing_bucket(&scene.t, "0", 0, 0, S(3600));
    for (int i = 0; i < ROWS; i++) {
        write_key(&scene, i, 0, S(5));
    }
    lapse_testing_at(&scene.t, S(10));
    for (size_t at = 0; at < ROWS;) {
        size_t next = step(&scene, at, 0);
        cr_assert_eq(next, at + STEP_ROWS);
        at = next;
    }
    lapse_testing_close(&scene.t);
}

/* Two buckets give their own revisions, so that the rows of one instant are in many runs. */
static void fill(struct scene *scene, bool one_instant) {
    uint64_t random = 1;
    scene->idle = 0;
    lapse_testing_open(&scene->t);
    lapse_testing_bucket(&scene->t, "0", 0, 0, S(3600));
    lapse_testing_bucket(&scene->t, "1", 0, 0, S(3600));
    for (int i = 0; i < ROWS; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        int64_t apart = one_instant ? 0 : (int64_t)(random >> 34) % LAPSE_NS_PER_S;
        write_key(scene, i, i < ROWS / 8 ? 0 : (int)(random >> 33 & 1), S(5) + apart);
    }
    qsort(scene->rows, ROWS, sizeof(scene->rows[0]), compare);
    lapse_testing_at(&scene->t, S(10));
}

static void write_key(struct scene *scene, int key, int bucket, int64_t ttl) {
    struct lapse_testing *t = &scene->t;
    char name[16];
    (void)snprintf(name, sizeof(name), "%04d", key);
    cr_assert_eq(lapse_testing_do(t, LAPSE_VERB_SET, bucket == 0 ? "0" : "1", name, "v",
                                  LAPSE_TERM_TTL, ttl),
                 LAPSE_OK);
    scene->rows[key] = (struct written){ttl, t->r.revision, bucket, key};
}

static int compare(const void *a, const void *b) {
    const struct written *x = a;
    const struct written *y = b;
    if (x->end_ns != y->end_ns) {
        return x->end_ns < y->end_ns ? -1 : 1;
    }
    if (x->revision != y->revision) {
        return x->revision < y->revision ? -1 : 1;
    }
    return x->bucket - y->bucket;
}

/* The rows told are those that are next; where the next one then is. */
static size_t take(struct scene *scene, size_t at, const struct lapse_result *result) {
    cr_assert_leq(result->item_count, STEP_ROWS);
    cr_assert_eq(result->event_count, result->item_count);
    for (size_t i = 0; i < result->event_count; i++) {
        int key = -1;
        const struct written *row = &scene->rows[at];
        cr_assert_eq(sscanf((const char *)result->events[i].key.data, "%4d", &key), 1);
        cr_assert_eq(key, row->key, "row %zu", at);
        cr_assert_eq(result->events[i].old_revision, row->revision);
        for (at++; at < ROWS && scene->rows[at].end_ns < 0; at++) {
        }
    }
    return at;
}

static size_t step(struct scene *scene, size_t at, size_t fail_at) {
    struct lapse_testing *t = &scene->t;
    t->alloc.calls = 0;
    t->alloc.fail_at = fail_at;
    enum lapse_status status = lapse_step(t->store, STEP_ROWS, &t->r, NULL, &t->err);
    t->alloc.fail_at = 0;
    cr_assert(status == LAPSE_OK || (status == LAPSE_NOMEM && fail_at > 0));
    if (status != LAPSE_OK) {
        return at;
    }
    scene->idle += t->r.item_count == 0 ? 1 : 0;
    return take(scene, at, &t->r);
}

/* Deletes and writes ended keys anew: they leave the wheel out of the midst of what is at work. */
static void disturb(struct scene *scene, size_t at, int round) {
    struct lapse_testing *t = &scene->t;
    for (size_t i = at + 1; i < ROWS; i += 997) {
        struct written *row = &scene->rows[(i + (size_t)round * 31) % ROWS];
        if (row < &scene->rows[at + 1] || row->end_ns < 0) {
            continue;
        }
        char name[16];
        (void)snprintf(name, sizeof(name), "%04d", row->key);
        cr_assert_eq(lapse_testing_do(t, LAPSE_VERB_SET, row->bucket == 0 ? "0" : "1", name, "w", 0,
                                      0),
                     LAPSE_OK);
        row->end_ns = -1;
    }
}

/* A REAP that is no step's takes as many rows as it is asked for, whatever it costs; so it does on
 * a store that has just been loaded. */
static void reap_exactly(struct scene *scene, size_t at) {
    struct lapse_command reap = {.verb = LAPSE_VERB_REAP, .u.reap.rows_max = STEP_ROWS};
    struct lapse_testing *t = &scene->t;
    struct lapse *fork = NULL;
    cr_assert_eq(lapse_fork(t->store, NULL, lapse_clock_manual_vtable(&t->clock), &fork, &t->err),
                 LAPSE_OK);
    cr_assert_eq(lapse_apply(fork, &reap, &t->r, &t->err), LAPSE_OK);
    cr_assert_eq(t->r.item_count, STEP_ROWS);
    (void)take(scene, at, &t->r);
    lapse_close(fork);
}
