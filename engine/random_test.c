/* Random calls, checked after each one. A twin that is never stepped must answer alike (REAP-01), a
 * fork must have the same digests and go on alike, the journal must hold the state's rows and load
 * back to them, and a call that ran out of memory must answer then as if for the first time. */
#include "testing.h"

#include <criterion/criterion.h>

enum { BATCH_MAX = 4 };

struct random {
    uint64_t state;
    struct lapse_command sent[3]; /* the last with each request id */
    bool marked; /* ends make events too: then a twin without a reaper counts otherwise */
    bool odd;    /* words that strict refuses */
    bool both;   /* ephemeral leases too: then a reopened store counts from its ceilings */
    struct lapse_command batch[BATCH_MAX];
};

static void run(uint64_t seed, struct lapse_policies policies, int calls);
static bool reaper_unseen(const struct lapse_policies *policies);
static uint32_t below(struct random *random, uint32_t n);
static struct lapse_command draw(struct random *random);
static void draw_write(struct random *random, struct lapse_command *command);
static void draw_request(struct random *random, struct lapse_command *command);
static void draw_batch(struct random *random, struct lapse_command *command);
static void draw_look(struct random *random, struct lapse_command *command);
static uint64_t answer(struct lapse_testing *t, const struct lapse_command *command);
static uint64_t answer_failing(struct lapse_testing *t, const struct lapse_command *command,
                               size_t nth);
static void same_again(struct lapse_testing *t, struct lapse_testing_journal *journal, bool both);
static void follow_fork(struct lapse_testing *t, struct random random);

static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
static const char *const buckets[] = {"ttl", "idle", "plain", "kept", "marked"};

static void open_buckets(struct lapse_testing *t) {
    bool bare = t->options.policies.value[LAPSE_POLICY_MARKERS] != 0;
    struct lapse_bucket_config configs[] = {
        {.term = {.given = LAPSE_TERM_TTL, .ttl = {S(3)}}},
        {.term = {.given = LAPSE_TERM_IDLE, .idle = {S(4)}, .cap = {S(9)}}, .history = 2},
        {.history = 3},
        {.markers = {S(5)}, .history = 4}, /* only calls without a term come here: no ends */
        {.term = {.given = LAPSE_TERM_TTL, .ttl = {S(3)}}, .markers = {S(5)}, .history = 2}};
    for (int i = 0; i < 5; i++) {
        configs[i].markers.ns = bare ? 0 : configs[i].markers.ns;
        cr_assert_eq(lapse_bucket_open(t->store, lapse_bytes_of(buckets[i]), &configs[i], &t->r,
                                       &t->err),
                     LAPSE_OK, "%s", t->err.message);
    }
}

Test(random, any_calls_keep_every_promise_that_is_checked) {
    for (uint64_t seed = 1; seed <= 16; seed++) {
        run(seed, lapse_policies_of(LAPSE_PROFILE_STRICT), 400);
    }
}

Test(random, every_profile_and_any_mix_of_policies_is_a_store_like_another) {
    for (uint64_t seed = 100; seed < 112; seed++) {
        run(seed, lapse_policies_of((enum lapse_profile)(1 + seed / 4 % 3)), 250);
    }
    for (uint64_t seed = 200; seed < 230; seed++) {
        struct random random = {.state = seed};
        struct lapse_policies policies = {{0}};
        for (int i = 0; i < LAPSE_POLICIES; i++) {
            uint8_t value = (uint8_t)below(&random, LAPSE_POLICY_VALUES_MAX);
            policies.value[i] = below(&random, 2) == 0 ? 0 : value;
            if (lapse_policies_check(&policies, NULL) != LAPSE_OK) {
                policies.value[i] = 1;
            }
        }
        run(seed, policies, 150);
    }
}

/* `calls` random calls on a store of these policies, its twin and its forks. */
static void run(uint64_t seed, struct lapse_policies policies, int calls) {
    struct random random = {
        .state = seed, .marked = seed % 4 == 0, .odd = lapse_policies_code(&policies) != 0};
    struct lapse_testing_journal journal;
    struct lapse_testing t;
    struct lapse_testing twin;
    random.both = random.odd && seed % 3 != 0;
    bool alike = !random.marked && reaper_unseen(&policies);
    lapse_testing_journal_init(&journal);
    lapse_testing_open_policies(&t, &journal, 4, &policies);
    lapse_testing_open_policies(&twin, NULL, 4, &policies);
    open_buckets(&t);
    open_buckets(&twin);
    for (int i = 0; i < calls; i++) {
        int64_t jump = below(&random, 4) == 0 ? S(below(&random, 3)) : below(&random, 3);
        lapse_testing_at(&t, t.clock.now.raw_ns + jump);
        if (below(&random, 30) == 0) {
            struct lapse_span step = {S(below(&random, 9)) - S(4)};
            lapse_clock_manual_step_wall(&t.clock, step);
        }
        twin.clock = t.clock;
        struct lapse_command command = draw(&random);
        uint64_t told = answer_failing(&t, &command, 1 + below(&random, 12));
        uint64_t twin_told = answer(&twin, &command);
        cr_assert(!alike || told == twin_told,
                  "seed %d, call %d: %s is answered otherwise without a reaper", (int)seed, i,
                  lapse_verb_word(command.verb));
        if (below(&random, 2) == 0) {
            lapse_testing_step(&t, NULL);
        }
        lapse_testing_check(&t);
        lapse_testing_check(&twin);
        lapse_testing_journal_same(&journal, t.store);
        if (below(&random, 4) == 0) {
            same_again(&t, &journal, random.both);
        }
        if (below(&random, 20) == 0) {
            follow_fork(&t, random);
        }
    }
    lapse_testing_close(&t);
    lapse_testing_close(&twin);
    lapse_testing_journal_finish(&journal);
}

/* Whether no answer depends on the reaper: not so where an end is seen by it alone, where a flush,
 * which is its too, shows, and where what has ended may return if it is still there. */
static bool reaper_unseen(const struct lapse_policies *policies) {
    return policies->value[LAPSE_POLICY_END_SEEN] == 0 &&
           policies->value[LAPSE_POLICY_IDLE_SHOWN] == 0 &&
           policies->value[LAPSE_POLICY_WALL_BACK] != 1;
}

/* A small generator of its own: the engine has no chance in it. */
static uint32_t below(struct random *random, uint32_t n) {
    random->state = random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random->state >> 33) % n;
}

static struct lapse_command draw(struct random *random) {
    static const enum lapse_verb verbs[] = {
        LAPSE_VERB_SET,     LAPSE_VERB_SET,     LAPSE_VERB_CREATE,  LAPSE_VERB_UPDATE,
        LAPSE_VERB_GET,     LAPSE_VERB_GET,     LAPSE_VERB_ENTRY,   LAPSE_VERB_HAS,
        LAPSE_VERB_DELETE,  LAPSE_VERB_PURGE,   LAPSE_VERB_EXPIRE,  LAPSE_VERB_PERSIST,
        LAPSE_VERB_LIST,    LAPSE_VERB_ALL,     LAPSE_VERB_COUNT,   LAPSE_VERB_ACQUIRE,
        LAPSE_VERB_EXTEND,  LAPSE_VERB_RELEASE, LAPSE_VERB_INSPECT, LAPSE_VERB_HISTORY,
        LAPSE_VERB_HISTORY, LAPSE_VERB_BATCH,   LAPSE_VERB_BATCH,   LAPSE_VERB_WATCH,
        LAPSE_VERB_POLL,    LAPSE_VERB_POLL,    LAPSE_VERB_ALTER,   LAPSE_VERB_SET,
        LAPSE_VERB_DELETE,  LAPSE_VERB_SESSION, LAPSE_VERB_SESSION, LAPSE_VERB_KEEPALIVE,
        LAPSE_VERB_CLOSE,   LAPSE_VERB_ACQUIRE};
    struct lapse_command command = {
        .verb = verbs[below(random, sizeof(verbs) / sizeof(verbs[0]))],
        .bucket = lapse_bytes_of(buckets[below(random, random->marked ? 5 : 4)]),
        .key = lapse_bytes_of(names[below(random, 6)])};
    switch (command.verb) {
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
        command.u.lease.owner = lapse_bytes_of(names[below(random, 3)]);
        command.u.lease.span.ns = S(1 + below(random, 4));
        command.u.lease.has_token = below(random, 3) == 0;
        command.u.lease.token = 1 + below(random, 20);
        if (random->odd) {
            command.u.lease.token = below(random, 4);
        }
        if (random->both) {
            command.u.lease.durability = (enum lapse_durability)below(random, 2);
        }
        if (command.verb == LAPSE_VERB_ACQUIRE && below(random, 2) == 0 &&
            command.u.lease.durability == LAPSE_PERSISTENT) {
            command.u.lease.span.ns = 0;
            command.u.lease.session = lapse_bytes_of(names[below(random, 3)]);
        }
        break;
    case LAPSE_VERB_SESSION:
    case LAPSE_VERB_KEEPALIVE:
    case LAPSE_VERB_CLOSE:
        command.key = lapse_bytes_of(names[below(random, 3)]);
        command.u.session.owner = lapse_bytes_of(names[below(random, 2)]);
        command.u.session.span.ns = S(1 + below(random, 5));
        break;
    case LAPSE_VERB_BATCH:
        draw_batch(random, &command);
        break;
    case LAPSE_VERB_ALTER:
        command.bucket = lapse_bytes_of(random->marked ? "marked" : "ttl");
        command.u.open.config.term = (struct lapse_term){
            .given = LAPSE_TERM_TTL, .ttl = {S(2 + below(random, 3))}};
        command.u.open.config.history = below(random, 4);
        command.u.open.config.markers.ns = random->marked ? S(2 * below(random, 3)) : 0;
        break;
    default:
        if (lapse_command_class(&command) == LAPSE_CLASS_LOG) {
            draw_write(random, &command);
        } else {
            draw_look(random, &command);
        }
        break;
    }
    if (lapse_command_class(&command) == LAPSE_CLASS_LOG && below(random, 4) == 0) {
        draw_request(random, &command);
    }
    return command;
}

/* A request id: with the call that was sent under it before, or with this one. */
static void draw_request(struct random *random, struct lapse_command *command) {
    static const char *const ids[] = {"r1", "r2", "r3"};
    uint32_t id = below(random, 3);
    if (random->sent[id].verb != LAPSE_VERB_NONE && below(random, 4) != 0) {
        *command = random->sent[id];
        return;
    }
    command->request = lapse_bytes_of(ids[id]);
    random->sent[id] = *command;
}

static void draw_write(struct random *random, struct lapse_command *command) {
    static const unsigned terms[] = {0,
                                     0,
                                     LAPSE_TERM_TTL,
                                     LAPSE_TERM_IDLE,
                                     LAPSE_TERM_EXPIRES_AT,
                                     LAPSE_TERM_KEEP,
                                     LAPSE_TERM_SESSION,
                                     LAPSE_TERM_SESSION};
    int64_t span = S(1 + below(random, 5));
    int64_t date = S(998) + S(below(random, 120));
    if (random->odd && below(random, 8) == 0) {
        span = below(random, 2) == 0 ? 0 : INT64_MAX;
    }
    command->u.write.value = lapse_bytes_of(names[below(random, 6)]);
    command->u.write.term = (struct lapse_term){
        .given = terms[below(random, 8)], .ttl = {span}, .idle = {span}, .expires_at = {date}};
    command->u.write.term.session = lapse_bytes_of(names[below(random, 3)]);
    if (command->u.write.term.given == LAPSE_TERM_IDLE) {
        command->u.write.term.cap.ns = S(3 * below(random, 4));
    }
    if (lapse_testing_is(command->bucket, "kept")) {
        command->u.write.term = (struct lapse_term){.given = 0};
        if (command->verb == LAPSE_VERB_EXPIRE) {
            command->verb = LAPSE_VERB_PERSIST;
        }
    }
    command->u.write.has_if_version = command->verb == LAPSE_VERB_UPDATE ||
                                      (command->verb != LAPSE_VERB_CREATE && below(random, 4) == 0);
    command->u.write.if_version = 1 + below(random, 60);
    if (random->odd && below(random, 2) == 0) {
        command->u.write.if_version = (int64_t)below(random, 8) - 1;
    }
}

static void draw_batch(struct random *random, struct lapse_command *command) {
    static const enum lapse_verb verbs[] = {LAPSE_VERB_SET, LAPSE_VERB_SET, LAPSE_VERB_SET,
                                            LAPSE_VERB_CREATE, LAPSE_VERB_DELETE,
                                            LAPSE_VERB_PURGE, LAPSE_VERB_PERSIST};
    command->u.batch.commands = random->batch;
    command->u.batch.count = 1 + below(random, BATCH_MAX);
    for (size_t i = 0; i < command->u.batch.count; i++) {
        struct lapse_command *one = &random->batch[i];
        *one = (struct lapse_command){
            .verb = verbs[below(random, 7)],
            .bucket = lapse_bytes_of(buckets[below(random, random->marked ? 5 : 4)]),
            .key = lapse_bytes_of(names[below(random, 6)])};
        draw_write(random, one);
        one->u.write.has_if_version = one->verb == LAPSE_VERB_UPDATE;
    }
    if (below(random, 4) == 0) {
        random->batch[0] = (struct lapse_command){.verb = LAPSE_VERB_ACQUIRE};
        random->batch[0].key = lapse_bytes_of(names[below(random, 6)]);
        random->batch[0].u.lease.owner = lapse_bytes_of(names[below(random, 3)]);
        random->batch[0].u.lease.span.ns = S(2);
    }
}

/* What does not write. */
static void draw_look(struct random *random, struct lapse_command *command) {
    switch (command->verb) {
    case LAPSE_VERB_GET:
    case LAPSE_VERB_ENTRY:
    case LAPSE_VERB_HAS:
        command->u.read.peek = below(random, 4) == 0;
        command->u.read.has_revision = below(random, 4) == 0;
        command->u.read.revision = 1 + below(random, 80);
        break;
    case LAPSE_VERB_LIST:
    case LAPSE_VERB_ALL:
    case LAPSE_VERB_COUNT:
    case LAPSE_VERB_HISTORY:
        command->u.page.limit = below(random, 4);
        command->u.page.has_after = below(random, 2) == 0;
        command->u.page.after = lapse_bytes_of(names[below(random, 6)]);
        break;
    case LAPSE_VERB_WATCH:
        command->key = below(random, 2) == 0 ? lapse_bytes_of("") : command->key;
        command->u.watch.from = (enum lapse_watch_from)below(random, 3);
        command->u.watch.from =
            below(random, 2) == 0 ? LAPSE_WATCH_REVISION : command->u.watch.from;
        command->u.watch.revision = 1 + below(random, 100);
        break;
    case LAPSE_VERB_POLL:
        command->u.watch.watcher = 1 + below(random, 12);
        command->u.watch.events_max = 1 + below(random, 5);
        break;
    default:
        break;
    }
}

static uint64_t answer(struct lapse_testing *t, const struct lapse_command *command) {
    struct lapse_digest digest;
    lapse_digest_begin(&digest);
    (void)lapse_apply(t->store, command, &t->r, &t->err);
    lapse_testing_answer(&digest, &t->r);
    return lapse_digest_value(&digest);
}

/* The same of a call whose nth allocation fails, and that is then made again. */
static uint64_t answer_failing(struct lapse_testing *t, const struct lapse_command *command,
                               size_t nth) {
    uint64_t tenure = lapse_testing_digest(t->store, LAPSE_PART_TENURE);
    uint64_t durable = lapse_testing_digest(t->store, LAPSE_PART_DURABLE);
    int64_t seq = t->r.command_seq;
    lapse_result_free(&t->r);
    t->alloc.calls = 0;
    t->alloc.fail_at = nth;
    uint64_t told = answer(t, command);
    bool failed = t->r.status == LAPSE_NOMEM;
    t->alloc.fail_at = 0;
    lapse_testing_check(t);
    if (!failed) {
        return told;
    }
    bool alone = t->r.command_seq == seq + 1;
    cr_assert(!alone || (lapse_testing_digest(t->store, LAPSE_PART_TENURE) == tenure &&
                         lapse_testing_digest(t->store, LAPSE_PART_DURABLE) == durable),
              "%s ran out of memory and changed something", lapse_verb_word(command->verb));
    return answer(t, command);
}

/* A fork and a store opened from the journal are the same store. */
static void same_again(struct lapse_testing *t, struct lapse_testing_journal *journal, bool both) {
    struct lapse *other = NULL;
    cr_assert_eq(lapse_fork(t->store, NULL, t->options.clock, &other, &t->err), LAPSE_OK, "%s",
                 t->err.message);
    for (int part = 0; part < 2; part++) {
        cr_assert_eq(lapse_testing_digest(t->store, (enum lapse_part)part),
                     lapse_testing_digest(other, (enum lapse_part)part), "a fork differs");
    }
    lapse_close(other);
    cr_assert_eq(lapse_open(&t->options, &other, &t->err), LAPSE_OK, "%s", t->err.message);
    cr_assert_eq(lapse_check(other, &t->err), LAPSE_OK, "%s", t->err.message);
    cr_assert(both || lapse_testing_digest(t->store, LAPSE_PART_DURABLE) ==
                          lapse_testing_digest(other, LAPSE_PART_DURABLE),
              "the journal loads otherwise");
    lapse_close(other);
    journal->closed = false;
}

/* Forks, lets ten calls pass on fork and a second fork, and compares. */
static void follow_fork(struct lapse_testing *t, struct random random) {
    struct lapse_testing pair[2];
    for (int k = 0; k < 2; k++) {
        pair[k] = *t;
        lapse_result_init(&pair[k].r, &t->alloc.vtable);
        lapse_clock clock = lapse_clock_manual_vtable(&pair[k].clock);
        const struct lapse *from = k == 0 ? t->store : pair[0].store;
        cr_assert_eq(lapse_fork(from, NULL, clock, &pair[k].store, &t->err), LAPSE_OK, "%s",
                     t->err.message);
    }
    for (int i = 0; i < 10; i++) {
        struct lapse_command command = draw(&random);
        lapse_testing_at(&pair[0], pair[0].clock.now.raw_ns + S(below(&random, 2)));
        pair[1].clock = pair[0].clock;
        cr_assert_eq(answer(&pair[0], &command), answer(&pair[1], &command));
        cr_assert_eq(lapse_check(pair[0].store, &t->err), LAPSE_OK, "%s", t->err.message);
    }
    for (int part = 0; part < 2; part++) {
        cr_assert_eq(lapse_testing_digest(pair[0].store, (enum lapse_part)part),
                     lapse_testing_digest(pair[1].store, (enum lapse_part)part));
    }
    for (int k = 0; k < 2; k++) {
        lapse_close(pair[k].store);
        lapse_result_free(&pair[k].r);
    }
}
