/* Any mixture of policies is a store. Policies are drawn one by one, not by profile, and calls and
 * steps of the wall at random: after each call every invariant holds; a fork and a reopened store
 * are sound and say of all rows what the store says. */
#include "testing.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { STORES = 300, CALLS = 120, NAMES = 4 };

struct chance {
    uint64_t state;
};

struct run {
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    struct chance chance;
    struct lapse_command batch[3];
    char names[4][8];
    int seed, call;
};

static uint64_t draw(struct run *run, uint64_t n) {
    run->chance.state = run->chance.state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (run->chance.state >> 33) % n;
}

static int64_t some_span(struct run *run) {
    static const int64_t spans[] = {S(1),   S(2),        S(5),       S(70),     S(130),
                                    S(900), LAPSE_NS_PER_MS, S(1) / 3, INT64_MAX, 0};
    return spans[draw(run, sizeof(spans) / sizeof(spans[0]))];
}

static const char *some_name(struct run *run, int at) {
    (void)snprintf(run->names[at], sizeof(run->names[at]), "n%d", (int)draw(run, NAMES));
    return run->names[at];
}

static struct lapse_policies some_policies(struct run *run) {
    struct lapse_policies policies = {{0}};
    for (int i = 0; i < LAPSE_POLICIES; i++) {
        const char *values = lapse_policy_values((enum lapse_policy)i);
        uint64_t count = 1;
        for (const char *at = values; *at != '\0'; at++) {
            count += *at == ' ' ? 1 : 0;
        }
        policies.value[i] = draw(run, 2) == 0 ? 0 : (uint8_t)draw(run, count);
    }
    return policies;
}

static struct lapse_bucket_config some_words(struct run *run) {
    struct lapse_bucket_config words = {.history = (uint32_t)draw(run, 4)};
    unsigned kind = (unsigned)draw(run, 3);
    words.term.given = kind == 0 ? 0 : kind == 1 ? LAPSE_TERM_TTL : LAPSE_TERM_IDLE;
    words.term.ttl.ns = words.term.idle.ns = S(1 + (int64_t)draw(run, 200));
    words.markers.ns = draw(run, 2) == 0 ? 0 : S(1 + (int64_t)draw(run, 9));
    if (kind == 2 && draw(run, 3) == 0) {
        words.term.cap.ns = words.term.idle.ns * 2;
    }
    return words;
}

static void fill_term(struct run *run, struct lapse_term *term) {
    static const unsigned kinds[] = {0, 0, LAPSE_TERM_TTL, LAPSE_TERM_IDLE, LAPSE_TERM_EXPIRES_AT,
                                     LAPSE_TERM_SESSION, LAPSE_TERM_KEEP};
    term->given = kinds[draw(run, sizeof(kinds) / sizeof(kinds[0]))];
    term->ttl.ns = term->idle.ns = some_span(run);
    term->expires_at.ns = run->t.clock.now.wall.ns + S((int64_t)draw(run, 40) - 9);
    term->session = lapse_bytes_of("n0");
}

static struct lapse_command some_write(struct run *run, int at) {
    static const enum lapse_verb verbs[] = {
        LAPSE_VERB_SET,     LAPSE_VERB_SET,     LAPSE_VERB_CREATE,  LAPSE_VERB_DELETE,
        LAPSE_VERB_PURGE,   LAPSE_VERB_EXPIRE,  LAPSE_VERB_PERSIST, LAPSE_VERB_ACQUIRE,
        LAPSE_VERB_EXTEND,  LAPSE_VERB_RELEASE, LAPSE_VERB_SESSION, LAPSE_VERB_KEEPALIVE,
        LAPSE_VERB_CLOSE,   LAPSE_VERB_UPDATE};
    struct lapse_command command = {.verb = verbs[draw(run, sizeof(verbs) / sizeof(verbs[0]))]};
    command.key = lapse_bytes_of(some_name(run, at));
    switch (command.verb) {
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
        command.u.lease.owner = lapse_bytes_of(draw(run, 2) == 0 ? "a" : "b");
        command.u.lease.span.ns = some_span(run);
        command.u.lease.durability =
            at == 0 && draw(run, 3) == 0 ? LAPSE_EPHEMERAL : LAPSE_PERSISTENT;
        return command;
    case LAPSE_VERB_SESSION:
    case LAPSE_VERB_KEEPALIVE:
    case LAPSE_VERB_CLOSE:
        command.u.session.owner = lapse_bytes_of("a");
        command.u.session.span.ns = some_span(run);
        return command;
    default:
        break;
    }
    command.bucket = lapse_bytes_of("b");
    command.u.write.value = lapse_bytes_of("value");
    fill_term(run, &command.u.write.term);
    command.u.write.has_if_version = command.verb == LAPSE_VERB_UPDATE ||
                                     (command.verb != LAPSE_VERB_CREATE && draw(run, 5) == 0);
    command.u.write.if_version = (int64_t)draw(run, 9) - 1;
    return command;
}

static struct lapse_command some_call(struct run *run) {
    static const enum lapse_verb reads[] = {LAPSE_VERB_GET, LAPSE_VERB_ENTRY, LAPSE_VERB_HAS,
                                            LAPSE_VERB_HISTORY, LAPSE_VERB_LIST,
                                            LAPSE_VERB_COUNT, LAPSE_VERB_INSPECT};
    struct lapse_command command = {.verb = LAPSE_VERB_REAP};
    uint64_t kind = draw(run, 10);
    if (kind < 4) {
        command.verb = reads[draw(run, sizeof(reads) / sizeof(reads[0]))];
        command.bucket = lapse_bytes_of(command.verb == LAPSE_VERB_INSPECT ? "" : "b");
        command.key = lapse_bytes_of(some_name(run, 0));
        return command;
    }
    if (kind < 8) {
        command = some_write(run, 0);
        command.request = lapse_bytes_of(draw(run, 6) == 0 ? some_name(run, 3) : "");
        return command;
    }
    if (kind == 8) {
        command.u.reap.rows_max = 1 + (size_t)draw(run, 5);
        return command;
    }
    command.verb = draw(run, 6) == 0 ? LAPSE_VERB_ALTER : LAPSE_VERB_BATCH;
    if (command.verb == LAPSE_VERB_ALTER) {
        command.bucket = lapse_bytes_of("b");
        command.u.open.config = some_words(run);
        return command;
    }
    command.u.batch.count = 1 + (size_t)draw(run, 3);
    command.u.batch.commands = run->batch;
    for (size_t i = 0; i < command.u.batch.count; i++) {
        run->batch[i] = some_write(run, (int)i + 1);
    }
    return command;
}

static void move_clock(struct run *run) {
    static const int64_t steps[] = {0,        0,    0,    1,     LAPSE_NS_PER_MS,
                                    S(1) / 2, S(1), S(3), S(31), S(100)};
    int64_t by = steps[draw(run, sizeof(steps) / sizeof(steps[0]))];
    cr_assert_eq(lapse_clock_manual_advance(&run->t.clock, (struct lapse_span){by}), LAPSE_OK);
    if (draw(run, 12) == 0) {
        int64_t back = S((int64_t)draw(run, 60) - 40);
        cr_assert_eq(lapse_clock_manual_step_wall(&run->t.clock, (struct lapse_span){back}),
                     LAPSE_OK);
    }
}

/* Says which call of which store it is about. */
static void expect_sound(struct run *run, const struct lapse *store, const char *what) {
    cr_assert_eq(lapse_check(store, &run->t.err), LAPSE_OK, "store %d, call %d, %s: %s", run->seed,
                 run->call, what, run->t.err.message);
}

static void expect_fork(struct run *run) {
    struct lapse *fork = NULL;
    cr_assert_eq(lapse_fork(run->t.store, NULL, run->t.options.clock, &fork, &run->t.err),
                 LAPSE_OK, "store %d, call %d: %s", run->seed, run->call, run->t.err.message);
    expect_sound(run, fork, "a fork");
    for (int part = LAPSE_PART_DURABLE; part <= LAPSE_PART_TENURE; part++) {
        cr_assert_eq(lapse_testing_digest(fork, (enum lapse_part)part),
                     lapse_testing_digest(run->t.store, (enum lapse_part)part),
                     "store %d, call %d: the fork's part %d is another", run->seed, run->call,
                     part);
    }
    lapse_close(fork);
}

static void expect_reopened(struct run *run) {
    struct lapse *other = NULL;
    lapse_testing_journal_same(&run->journal, run->t.store);
    cr_assert_eq(lapse_open(&run->t.options, &other, &run->t.err), LAPSE_OK,
                 "store %d, call %d: %s", run->seed, run->call, run->t.err.message);
    expect_sound(run, other, "reopened");
    lapse_close(other);
    run->journal.closed = false;
}

static void run_store(struct run *run, int seed) {
    *run = (struct run){.seed = seed, .chance = {(uint64_t)seed * 77 + 5}};
    struct lapse_policies policies = some_policies(run);
    struct lapse_bucket_config words = some_words(run);
    lapse_testing_journal_init(&run->journal);
    lapse_testing_open_policies(&run->t, &run->journal, 0, &policies);
    words.markers.ns = policies.value[LAPSE_POLICY_MARKERS] == 0 ? words.markers.ns : 0;
    cr_assert_eq(lapse_bucket_open(run->t.store, lapse_bytes_of("b"), &words, &run->t.r,
                                   &run->t.err),
                 LAPSE_OK, "%s", run->t.err.message);
    for (run->call = 0; run->call < CALLS; run->call++) {
        move_clock(run);
        struct lapse_command command = some_call(run);
        enum lapse_status status =
            draw(run, 8) == 0
                ? lapse_step(run->t.store, 1 + (size_t)draw(run, 9), &run->t.r, NULL, &run->t.err)
                : lapse_apply(run->t.store, &command, &run->t.r, &run->t.err);
        cr_assert(status >= LAPSE_OK || status == LAPSE_INVALID || status == LAPSE_RANGE,
                  "store %d, call %d: %s", seed, run->call, run->t.err.message);
        expect_sound(run, run->t.store, "a call");
        if (run->call % 5 == 0) {
            expect_fork(run);
        }
        if (run->call % 20 == 19) {
            expect_reopened(run);
        }
    }
    lapse_testing_close(&run->t);
    lapse_testing_journal_finish(&run->journal);
}

Test(policy_random, any_mixture_of_policies_is_sound) {
    static struct run run;
    for (int seed = 0; seed < STORES; seed++) {
        run_store(&run, seed);
    }
}
