/* A store against a plain model: calls drawn at random, every answer compared, over reaps, alters,
 * forks and restarts. It finds what no list of cases thinks of: two features that meet. */
#include "testing_model.h"

#include <criterion/criterion.h>
#include <string.h>

enum { SEEDS = 10, CALLS = 2000 };

struct run {
    struct lapse_testing t;
    struct lapse_testing_journal journal;
    struct model model;
    uint64_t chance;
    int seed, call;
};

static const char *const buckets[MODEL_BUCKETS] = {"b0", "b1"};
static const char *const keys[MODEL_KEYS] = {"a", "ab", "b", "c"};
static const char *const names[MODEL_NAMES] = {"n0", "n1", "n2"};
static const char *const owners[] = {"w1", "w2"};
static const char *const values[] = {"", "x", "yy", "a longer value"};

#define EXPECT(is, what) \
    cr_assert(is, "seed %d, call %d at %lld, %s: %s; it answered %s", run->seed, run->call, \
              (long long)run->model.now, lapse_verb_word(run->t.r.verb), what, \
              lapse_status_word(run->t.r.status))

static int draw(struct run *run, int n) {
    run->chance = run->chance * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (int)((run->chance >> 33) % (uint64_t)n);
}

static int64_t some_span(struct run *run) {
    static const int64_t spans[] = {1, S(1) / 1000, S(1) / 2, S(1), S(2), S(3), S(5), S(10), S(70)};
    return spans[draw(run, 9)];
}

/* Of the same markers as before: to turn them on or off is the marker tests' affair. */
static struct lapse_bucket_config some_words(struct run *run, int64_t markers) {
    static const unsigned kinds[] = {0, LAPSE_TERM_TTL, LAPSE_TERM_IDLE};
    struct lapse_bucket_config words = {.markers = {markers}};
    words.history = 1 + (uint32_t)draw(run, MODEL_HISTORY);
    words.term.given = kinds[draw(run, 3)];
    words.term.ttl.ns = words.term.given == LAPSE_TERM_TTL ? some_span(run) : 0;
    words.term.idle.ns = words.term.given == LAPSE_TERM_IDLE ? some_span(run) : 0;
    bool capped = words.term.given == LAPSE_TERM_IDLE && draw(run, 2) == 0;
    words.term.cap.ns = capped ? some_span(run) : 0;
    return words;
}

static void draw_term(struct run *run, struct model_call *call) {
    static const unsigned terms[] = {0, LAPSE_TERM_TTL, LAPSE_TERM_IDLE, LAPSE_TERM_EXPIRES_AT,
                                     LAPSE_TERM_SESSION, LAPSE_TERM_KEEP};
    call->given = terms[draw(run, 6)];
    bool keeps = call->given == LAPSE_TERM_KEEP;
    if ((keeps && call->verb == LAPSE_VERB_CREATE) ||
        ((keeps || call->given == 0) && call->verb == LAPSE_VERB_EXPIRE)) {
        call->given = LAPSE_TERM_TTL;
    }
    bool date = call->given == LAPSE_TERM_EXPIRES_AT;
    call->term = date ? run->model.wall + S(draw(run, 14) - 3) : some_span(run);
    call->cap = call->given == LAPSE_TERM_IDLE && draw(run, 3) == 0 ? some_span(run) : 0;
}

static struct model_call some_call(struct run *run) {
    static const enum lapse_verb verbs[] = {
        LAPSE_VERB_SET,     LAPSE_VERB_SET,    LAPSE_VERB_SET,     LAPSE_VERB_CREATE,
        LAPSE_VERB_UPDATE,  LAPSE_VERB_DELETE, LAPSE_VERB_PURGE,   LAPSE_VERB_EXPIRE,
        LAPSE_VERB_PERSIST, LAPSE_VERB_GET,    LAPSE_VERB_GET,     LAPSE_VERB_GET,
        LAPSE_VERB_SESSION, LAPSE_VERB_CLOSE,  LAPSE_VERB_KEEPALIVE, LAPSE_VERB_ACQUIRE,
        LAPSE_VERB_ACQUIRE, LAPSE_VERB_EXTEND, LAPSE_VERB_RELEASE};
    struct model_call call = {.verb = verbs[draw(run, (int)(sizeof(verbs) / sizeof(verbs[0])))],
                              .bucket = draw(run, MODEL_BUCKETS),
                              .value = draw(run, 4),
                              .session = draw(run, MODEL_NAMES),
                              .owner = draw(run, 2),
                              .span = some_span(run),
                              .peek = draw(run, 4) == 0};
    bool leases = call.verb == LAPSE_VERB_ACQUIRE || call.verb == LAPSE_VERB_EXTEND ||
                  call.verb == LAPSE_VERB_RELEASE;
    call.key = draw(run, leases ? MODEL_NAMES : MODEL_KEYS);
    bool writes = call.verb == LAPSE_VERB_SET || call.verb == LAPSE_VERB_CREATE ||
                  call.verb == LAPSE_VERB_UPDATE;
    if (writes || call.verb == LAPSE_VERB_EXPIRE) {
        draw_term(run, &call);
    }
    bool may = call.verb != LAPSE_VERB_CREATE && !leases;
    call.has_if_version = call.verb == LAPSE_VERB_UPDATE || (may && draw(run, 4) == 0);
    const struct model_record *live =
        lapse_testing_model_live(&run->model, call.bucket, call.key);
    call.if_version = live != NULL && draw(run, 4) > 0 ? live->revision : 1 + draw(run, 20);
    if (call.verb == LAPSE_VERB_ACQUIRE && draw(run, 3) == 0) {
        call.given = LAPSE_TERM_SESSION;
        call.span = 0;
    } else if (call.verb == LAPSE_VERB_ACQUIRE) {
        call.ephemeral = draw(run, 2) == 0;
    } else if (call.verb == LAPSE_VERB_KEEPALIVE && draw(run, 2) == 0) {
        call.span = 0;
    }
    return call;
}

static struct lapse_command command_of(const struct model_call *call) {
    struct lapse_command command = {.verb = call->verb};
    switch (call->verb) {
    case LAPSE_VERB_SESSION:
    case LAPSE_VERB_KEEPALIVE:
    case LAPSE_VERB_CLOSE:
        command.key = lapse_bytes_of(names[call->session]);
        command.u.session.owner = lapse_bytes_of(owners[call->owner]);
        command.u.session.span.ns = call->span;
        return command;
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
        command.key = lapse_bytes_of(names[call->key]);
        command.u.lease.owner = lapse_bytes_of(owners[call->owner]);
        command.u.lease.span.ns = call->span;
        command.u.lease.durability = call->ephemeral ? LAPSE_EPHEMERAL : LAPSE_PERSISTENT;
        if (call->given == LAPSE_TERM_SESSION) {
            command.u.lease.session = lapse_bytes_of(names[call->session]);
        }
        return command;
    default:
        break;
    }
    command.bucket = lapse_bytes_of(buckets[call->bucket]);
    command.key = lapse_bytes_of(keys[call->key]);
    if (call->verb == LAPSE_VERB_GET) {
        command.u.read.peek = call->peek;
        return command;
    }
    command.u.write.value = lapse_bytes_of(values[call->value]);
    command.u.write.term = (struct lapse_term){.given = call->given,
                                               .ttl = {call->term},
                                               .idle = {call->term},
                                               .expires_at = {call->term},
                                               .cap = {call->cap},
                                               .session = lapse_bytes_of(names[call->session])};
    command.u.write.has_if_version = call->has_if_version;
    command.u.write.if_version = call->if_version;
    return command;
}

static void make_call(struct run *run, const struct model_call *call) {
    struct lapse_command command = command_of(call);
    struct lapse_result *r = &run->t.r;
    enum lapse_status status = lapse_apply(run->t.store, &command, r, &run->t.err);
    EXPECT(status >= LAPSE_OK, run->t.err.message);
    struct model_answer want = lapse_testing_model_apply(&run->model, call, r);
    EXPECT(status == want.status, lapse_status_word(want.status));
    EXPECT(r->revision == want.revision && r->token == want.token, "another number");
    EXPECT(r->end.kind == want.end.kind && r->end.ns == want.end.ns, "another end");
    int64_t left = want.end.ns - (want.end.kind == LAPSE_END_WALL ? run->model.wall
                                                                   : run->model.now);
    EXPECT(r->left.ns == (want.end.kind != LAPSE_END_NONE && left > 0 ? left : 0), "another left");
    EXPECT(r->renewed == want.renewed, "renewed or not");
    if (want.owner >= 0) {
        EXPECT(lapse_testing_is(r->owner, owners[want.owner]), "another owner");
    }
    if (call->verb == LAPSE_VERB_GET && status == LAPSE_OK) {
        const struct model_record *live =
            lapse_testing_model_live(&run->model, call->bucket, call->key);
        EXPECT(lapse_testing_is(r->value, values[live->value]), "another value");
    }
}

/* Every listing and history. */
static void look_at_all(struct run *run) {
    const struct lapse_result *r = &run->t.r;
    for (int b = 0; b < MODEL_BUCKETS; b++) {
        size_t count = 0;
        lapse_testing_do(&run->t, LAPSE_VERB_ALL, buckets[b], "", NULL, 0, 0);
        for (int k = 0; k < MODEL_KEYS; k++) {
            const struct model_record *live = lapse_testing_model_live(&run->model, b, k);
            if (live != NULL) {
                EXPECT(count < r->item_count && lapse_testing_is(r->items[count].key, keys[k]) &&
                           r->items[count].revision == live->revision,
                       keys[k]);
                count++;
            }
        }
        EXPECT(count == r->item_count, "too many keys");
        for (int k = 0; k < MODEL_KEYS; k++) {
            const struct model_key *key = &run->model.buckets[b].keys[k];
            bool live = lapse_testing_model_live(&run->model, b, k) != NULL;
            lapse_testing_do(&run->t, LAPSE_VERB_HISTORY, buckets[b], keys[k], NULL, 0, 0);
            EXPECT(r->status == (live ? LAPSE_OK : LAPSE_ABSENT), keys[k]);
            count = 0;
            for (size_t i = 0; live && i < key->count; i++) {
                const struct model_record *record = &key->records[i];
                bool told = record->kind == LAPSE_RECORD_VALUE ||
                            lapse_testing_model_record_live(&run->model, record);
                EXPECT(!told || (count < r->item_count && r->items[count].kind == record->kind &&
                                 r->items[count].revision == record->revision),
                       "another history");
                count += told ? 1 : 0;
            }
            EXPECT(count == r->item_count, "too long a history");
        }
    }
}

static void pass(struct run *run, int64_t ns) {
    lapse_clock_manual_advance(&run->t.clock, (struct lapse_span){ns});
    run->model.now += ns;
    run->model.wall += ns;
}

static void move_time(struct run *run) {
    int64_t by[10] = {draw(run, 1000), draw(run, 1000) * (S(1) / 1000), draw(run, 8) * (S(1) / 2)};
    by[3] = draw(run, 20) == 0 ? S(40) : 0;
    pass(run, by[draw(run, 10)]);
    if (draw(run, 25) == 0) {
        int64_t step = S(draw(run, 12) - 6);
        lapse_clock_manual_step_wall(&run->t.clock, (struct lapse_span){step});
        run->model.wall += step;
    }
}

/* A second later all renewals are durable, so the next tenure knows what this one knew. */
static void restart(struct run *run) {
    pass(run, S(1));
    lapse_testing_model_reach(&run->model);
    lapse_testing_step(&run->t, NULL);
    lapse_close(run->t.store);
    run->journal.closed = false;
    enum lapse_status status = lapse_open(&run->t.options, &run->t.store, &run->t.err);
    EXPECT(status == LAPSE_OK, run->t.err.message);
    lapse_testing_model_restart(&run->model);
}

/* A fork is what it was taken of, and goes its own way. */
static void take_fork(struct run *run) {
    struct lapse *fork = NULL;
    enum lapse_status status =
        lapse_fork(run->t.store, NULL, run->t.options.clock, &fork, &run->t.err);
    EXPECT(status == LAPSE_OK, run->t.err.message);
    for (int part = 0; part < 2; part++) {
        EXPECT(lapse_testing_digest(fork, (enum lapse_part)part) ==
                   lapse_testing_digest(run->t.store, (enum lapse_part)part),
               "a fork differs");
    }
    struct lapse_due due;
    lapse_next_due(fork, &due);
    EXPECT(lapse_step(fork, 3, NULL, &due, &run->t.err) == LAPSE_OK, run->t.err.message);
    EXPECT(lapse_check(fork, &run->t.err) == LAPSE_OK, run->t.err.message);
    lapse_close(fork);
}

static void alter(struct run *run) {
    int b = draw(run, MODEL_BUCKETS);
    struct lapse_bucket_config *words = &run->model.buckets[b].config;
    *words = some_words(run, words->markers.ns > 0 ? some_span(run) : 0);
    enum lapse_status status = lapse_bucket_alter(run->t.store, lapse_bytes_of(buckets[b]), words,
                                                  &run->t.r, &run->t.err);
    EXPECT(status == LAPSE_OK, run->t.err.message);
}

static void go_on(struct run *run) {
    int what = draw(run, 100);
    if (what < 80) {
        struct model_call call = some_call(run);
        make_call(run, &call);
    } else if (what < 90) {
        lapse_step(run->t.store, 1 + (size_t)draw(run, 6), &run->t.r, NULL, &run->t.err);
        EXPECT(run->t.r.status == LAPSE_OK, run->t.err.message);
    } else if (what < 94) {
        look_at_all(run);
    } else if (what < 96) {
        alter(run);
    } else if (what < 98) {
        take_fork(run);
        return; /* no command has read the clock */
    } else {
        restart(run);
    }
    lapse_testing_model_reach(&run->model);
}

static void run_seed(struct run *run, int seed) {
    *run = (struct run){.seed = seed, .chance = (uint64_t)seed * 7919 + 13};
    run->model.wall = S(1000);
    lapse_testing_journal_init(&run->journal);
    lapse_testing_open_with(&run->t, &run->journal, 0);
    for (int b = 0; b < MODEL_BUCKETS; b++) {
        struct lapse_bucket_config words = some_words(run, b == 0 ? 0 : some_span(run));
        run->model.buckets[b].config = words;
        lapse_bucket_open(run->t.store, lapse_bytes_of(buckets[b]), &words, &run->t.r,
                          &run->t.err);
    }
    for (run->call = 0; run->call < CALLS; run->call++) {
        move_time(run);
        go_on(run);
        if (run->call % 16 == 0) {
            lapse_testing_check(&run->t);
        }
    }
    look_at_all(run);
    lapse_testing_close(&run->t);
    lapse_testing_journal_finish(&run->journal);
}

Test(model, a_store_answers_as_a_plain_model_does) {
    static struct run run;
    for (int seed = 0; seed < SEEDS; seed++) {
        run_seed(&run, seed);
    }
}
