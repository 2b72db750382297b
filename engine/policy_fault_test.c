/* Memory runs out under every profile: what a policy has a call do beside what strict does is as
 * much all or nothing as the rest. Each call is failed at each of its allocations on a fork, whose
 * lists are as short as they can be, alone and behind so many writes of a batch that any one change
 * of the call is the first for which the undo list has no room. */
#include "testing.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

struct call {
    enum lapse_verb verb;
    const char *key, *text; /* text: the value or the owner */
    unsigned given;         /* bits of enum lapse_term_given, and flags below */
    int64_t span;
};

enum { REQUESTED = 64, EPHEMERAL = 128, TWO = 256 }; /* TWO: a batch of two sets */

struct scene {
    enum lapse_profile profile;
    struct lapse_bucket_config words, other; /* of bucket `b`; what ALTER gives it */
    int64_t used, at;                        /* when `k` is read, when the calls are made */
};

#define V(word) LAPSE_VERB_##word
#define TTL LAPSE_TERM_TTL

static const struct scene scenes[] = {
    {LAPSE_PROFILE_STRICT, {.history = 3}, {.history = 2, .markers = {S(9)}}, 0, S(5)},
    {LAPSE_PROFILE_STRICT,
     {.term = {.given = LAPSE_TERM_IDLE, .idle = {S(60)}}, .history = 2, .markers = {S(9)}},
     {.history = 2},
     S(10),
     S(12)},
    {LAPSE_PROFILE_NATS,
     {.term = {.given = TTL, .ttl = {S(60)}}, .history = 3, .markers = {S(1)}},
     {.history = 1},
     0,
     S(5)},
    {LAPSE_PROFILE_NATS,
     {.term = {.given = TTL, .ttl = {S(60)}}, .history = 1},
     {.history = 2},
     0,
     S(60)},
    /* Of the revisions one is left when the calls are made, or none. */
    {LAPSE_PROFILE_NATS,
     {.term = {.given = TTL, .ttl = {S(60)}}, .markers = {S(1)}, .first_revision = INT64_MAX - 12},
     {.history = 1},
     0,
     S(5)},
    {LAPSE_PROFILE_NATS,
     {.term = {.given = TTL, .ttl = {S(60)}}, .markers = {S(1)}, .first_revision = INT64_MAX - 11},
     {.history = 1},
     0,
     S(5)},
    {LAPSE_PROFILE_TINYSTORE,
     {.term = {.given = LAPSE_TERM_IDLE, .idle = {S(1800)}}},
     {.term = {.given = TTL, .ttl = {S(60)}}},
     S(100),
     S(1750)},
    {LAPSE_PROFILE_KAHUNA, {.history = 3}, {.history = 1}, 0, S(5)},
};

static const struct call setup[] = {
    {V(SET), "k", "one", 0, 0},          {V(SET), "k", "two", TTL, S(900)},
    {V(SET), "k", "three", TTL, S(4)},   {V(SET), "e", "ends", TTL, S(1)},
    {V(SET), "d", "goes", 0, 0},         {V(DELETE), "d", "", 0, 0},
    {V(SET), "i", "first", 0, 0},        {V(SET), "i", "second", 0, 0},
    {V(SET), "i", "stays", 0, 0},        {V(ACQUIRE), "held", "a", 0, S(9000)},
    {V(ACQUIRE), "ended", "a", 0, S(1)}, {V(ACQUIRE), "brief", "a", EPHEMERAL, S(9000)},
    {V(SESSION), "s", "a", 0, S(9000)},  {V(SET), "t", "of it", LAPSE_TERM_SESSION, 0},
    {V(BATCH), "", "v", REQUESTED, TWO},
};

static const struct call calls[] = {
    {V(SET), "k", "four", 0, 0},
    {V(SET), "k", "four", REQUESTED, 0},
    {V(SET), "i", "four", TTL, S(3)},
    {V(SET), "i", "four", TTL, 0},
    {V(SET), "i", "four", LAPSE_TERM_EXPIRES_AT, 1},
    {V(SET), "e", "again", 0, 0},
    {V(CREATE), "n", "new", LAPSE_TERM_SESSION, 0},
    {V(DELETE), "k", "", 0, 0},
    {V(DELETE), "e", "", 0, 0},
    {V(DELETE), "n", "", 0, 0},
    {V(PURGE), "k", "", 0, 0},
    {V(PURGE), "i", "", REQUESTED, 0},
    {V(EXPIRE), "i", "", TTL, S(3)},
    {V(EXPIRE), "i", "", TTL, 0},
    {V(PERSIST), "i", "", 0, 0},
    {V(GET), "k", "", 0, 0},
    {V(GET), "i", "", 0, 0},
    {V(LIST), "", "", 0, 0},
    {V(HISTORY), "k", "", 0, 0},
    {V(ACQUIRE), "free", "b", 0, S(9)},
    {V(ACQUIRE), "ended", "b", 0, S(9)},
    {V(ACQUIRE), "held", "b", 0, S(9)},
    {V(ACQUIRE), "free", "b", EPHEMERAL, S(9)},
    {V(EXTEND), "held", "a", 0, S(9)},
    {V(EXTEND), "brief", "a", EPHEMERAL, S(9)},
    {V(RELEASE), "held", "a", 0, 0},
    {V(RELEASE), "ended", "a", 0, 0},
    {V(SESSION), "u", "a", 0, S(9)},
    {V(SESSION), "s", "b", 0, S(9)},
    {V(KEEPALIVE), "s", "a", 0, S(9)},
    {V(CLOSE), "s", "a", 0, 0},
    {V(BATCH), "", "v", REQUESTED, TWO},
    {V(WATCH), "", "", 0, 0},
    {V(ALTER), "", "", 0, 0},
    {V(REAP), "", "", 0, 0},
};

/* More rows have ended, and more writes come before the call in its batch, by so many. */
static const size_t fillers[] = {0, 3, 4, 5, 6, 7};

enum { FILLERS_MAX = 7 };

struct trial {
    struct lapse_testing t;
    const struct scene *scene;
    struct lapse_command commands[FILLERS_MAX + 1];
    struct lapse_command two[2];
    char names[FILLERS_MAX][8];
    size_t failures;
};

static bool leases(enum lapse_verb verb) {
    return verb == V(ACQUIRE) || verb == V(EXTEND) || verb == V(RELEASE);
}

static struct lapse_command command_of(struct trial *trial, const struct call *call) {
    struct lapse_command command = {.verb = call->verb, .key = lapse_bytes_of(call->key)};
    command.request = lapse_bytes_of((call->given & REQUESTED) != 0 ? "id" : "");
    if (leases(call->verb)) {
        command.u.lease.owner = lapse_bytes_of(call->text);
        command.u.lease.span.ns = call->span;
        command.u.lease.durability =
            (call->given & EPHEMERAL) != 0 ? LAPSE_EPHEMERAL : LAPSE_PERSISTENT;
        return command;
    }
    if (call->verb == V(SESSION) || call->verb == V(KEEPALIVE) || call->verb == V(CLOSE)) {
        command.u.session.owner = lapse_bytes_of(call->text);
        command.u.session.span.ns = call->span;
        return command;
    }
    command.bucket = lapse_bytes_of("b");
    if (call->verb == V(REAP)) {
        command.u.reap.rows_max = 100;
    } else if (call->verb == V(WATCH)) {
        command.u.watch.from = LAPSE_WATCH_REVISION;
        command.u.watch.revision = 1;
    } else if (call->verb == V(ALTER)) {
        command.u.open.config = trial->scene->other;
    } else if (call->verb == V(BATCH)) {
        const struct call sets[] = {{V(SET), "x", call->text, 0, 0}, {V(SET), "y", "w", 0, 0}};
        trial->two[0] = command_of(trial, &sets[0]);
        trial->two[1] = command_of(trial, &sets[1]);
        command.u.batch.count = 2;
        command.u.batch.commands = trial->two;
    } else if (lapse_command_class(&command) == LAPSE_CLASS_LOG) {
        command.u.write.value = lapse_bytes_of(call->text);
        command.u.write.term = (struct lapse_term){.given = call->given & 63u,
                                                   .ttl = {call->span},
                                                   .expires_at = {call->span},
                                                   .session = lapse_bytes_of("s")};
    }
    return command;
}

static void set_filler(struct trial *trial, size_t i, const char *letter, unsigned given) {
    struct call set = {V(SET), trial->names[i], "filler", given, S(1)};
    (void)snprintf(trial->names[i], sizeof(trial->names[i]), "%s%zu", letter, i);
    trial->commands[i] = command_of(trial, &set);
}

static void open_scene(struct trial *trial, const struct scene *scene, size_t ended) {
    struct lapse_testing *t = &trial->t;
    struct lapse_policies policies = lapse_policies_of(scene->profile);
    trial->scene = scene;
    lapse_testing_open_policies(t, NULL, 0, &policies);
    cr_assert_eq(lapse_bucket_open(t->store, lapse_bytes_of("b"), &scene->words, &t->r, &t->err),
                 LAPSE_OK, "%s", t->err.message);
    for (size_t i = 0; i < sizeof(setup) / sizeof(setup[0]); i++) {
        struct lapse_command command = command_of(trial, &setup[i]);
        enum lapse_status status = lapse_apply(t->store, &command, &t->r, &t->err);
        /* A bucket of nats takes a term of a call's own only beside markers. */
        bool refused = status == LAPSE_INVALID && scene->profile == LAPSE_PROFILE_NATS;
        cr_assert(status >= LAPSE_OK || refused, "%s", t->err.message);
    }
    for (size_t i = 0; i < ended; i++) {
        bool refused = scene->profile == LAPSE_PROFILE_NATS && scene->words.markers.ns == 0;
        set_filler(trial, i, "g", refused ? 0 : TTL);
        (void)lapse_apply(t->store, &trial->commands[i], &t->r, &t->err);
    }
    if (scene->used > 0) {
        lapse_testing_at(t, scene->used);
        lapse_testing_do(t, V(GET), "b", "k", "", 0, 0);
        lapse_testing_do(t, V(GET), "b", "i", "", 0, 0);
    }
    lapse_testing_at(t, scene->at);
    lapse_testing_check(t);
}

static uint64_t digest(const struct lapse *store) {
    return lapse_testing_digest(store, LAPSE_PART_DURABLE) ^
           (lapse_testing_digest(store, LAPSE_PART_TENURE) << 1);
}

static struct lapse *fork_of(struct lapse_testing *t) {
    struct lapse *fork = NULL;
    cr_assert_eq(lapse_fork(t->store, NULL, t->options.clock, &fork, &t->err), LAPSE_OK, "%s",
                 t->err.message);
    return fork;
}

/* What the store may be once the call has failed: as it was, or with some of what precedes the
 * call, each a log command of its own. */
static size_t look_before(struct lapse_testing *t, const struct lapse_command *command,
                          uint64_t *ret, size_t most) {
    struct lapse *fork = fork_of(t);
    struct lapse_command before;
    size_t count = 0;
    ret[count++] = digest(fork);
    while (lapse_preceding(fork, command, &before, &t->err) == LAPSE_OK) {
        cr_assert_lt(count, most);
        cr_assert_eq(lapse_apply(fork, &before, &t->r, &t->err), LAPSE_OK);
        ret[count++] = digest(fork);
    }
    lapse_close(fork);
    return count;
}

/* Fails the nth allocation of the call on a fork; then it is called again. False: it has fewer. */
static bool fail_one(struct trial *trial, const struct lapse_command *command, size_t nth,
                     const uint64_t *before, size_t count) {
    struct lapse_testing *t = &trial->t;
    struct lapse *fork = fork_of(t);
    lapse_result_free(&t->r);
    t->alloc.calls = 0;
    t->alloc.fail_at = nth;
    enum lapse_status status = lapse_apply(fork, command, &t->r, &t->err);
    bool failed = t->alloc.calls >= nth;
    t->alloc.fail_at = 0;
    cr_assert_eq(status == LAPSE_NOMEM, failed, "%s `%.*s`, allocation %zu: %s",
                 lapse_verb_word(command->verb), (int)command->key.len,
                 (const char *)command->key.data, nth, lapse_status_word(status));
    if (failed) {
        uint64_t now = digest(fork);
        size_t at = 0;
        while (at < count && before[at] != now) {
            at++;
        }
        cr_assert_lt(at, count, "%s `%.*s`, allocation %zu changed the store",
                     lapse_verb_word(command->verb), (int)command->key.len,
                     (const char *)command->key.data, nth);
        trial->failures++;
    }
    cr_assert_eq(lapse_check(fork, &t->err), LAPSE_OK, "%s", t->err.message);
    lapse_close(fork);
    return failed;
}

static void fail_all(struct trial *trial, const struct lapse_command *command) {
    uint64_t before[8];
    size_t count = look_before(&trial->t, command, before, 8);
    size_t nth = 1;
    while (fail_one(trial, command, nth, before, count)) {
        nth++;
        cr_assert_lt(nth, 200);
    }
}

static void run_scene(struct trial *trial, const struct scene *scene, size_t more) {
    open_scene(trial, scene, more);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct lapse_command batch = {.verb = V(BATCH), .u.batch.commands = trial->commands};
        bool stands = calls[i].verb != V(BATCH) && (calls[i].given & (EPHEMERAL | REQUESTED)) == 0;
        struct lapse_command command = command_of(trial, &calls[i]);
        bool log = lapse_command_class(&command) == LAPSE_CLASS_LOG;
        bool own = calls[i].verb == V(REAP) || calls[i].verb == V(ALTER);
        if (more == 0 || !stands || !log || own) {
            fail_all(trial, &command);
            continue;
        }
        for (size_t k = 0; k < more; k++) {
            set_filler(trial, k, "f", 0);
        }
        trial->commands[more] = command;
        batch.u.batch.count = more + 1;
        fail_all(trial, &batch);
    }
    lapse_testing_close(&trial->t);
}

Test(policy_fault, a_call_that_runs_out_of_memory_changes_nothing_under_any_profile) {
    struct trial trial = {.failures = 0};
    for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
        for (size_t k = 0; k < sizeof(fillers) / sizeof(fillers[0]); k++) {
            run_scene(&trial, &scenes[i], fillers[k]);
        }
    }
    cr_expect_gt(trial.failures, 2000, "only %zu allocations were failed", trial.failures);
}
