/* The story: one list of calls that the tests of undo, fork and journal share, so that a verb added
 * here is at once failed, forked and recovered at each of its steps. */
#include "testing.h"

#include <criterion/criterion.h>

struct call {
    int64_t at;
    enum lapse_verb verb;
    const char *bucket, *key, *value; /* value: or the owner */
    unsigned given;
    int64_t number; /* the term, a span, a version, a watcher, a count */
    int64_t wall_step;
};

/* In `given`: the number is an if_version, or the revision to read; the lease is ephemeral; the
 * value is also the request id; the idle term has a cap of twice its span. A session term is that
 * of the session `s`, and an acquire without a span takes it too. */
enum { VERSIONED = 64, EPHEMERAL = 128, REQUESTED = 256, CAPPED = 512 };

static struct lapse_command command_of(const struct call *call);
static void fill_words(const struct call *call, struct lapse_command *command);
static void fill_watch(const struct call *call, struct lapse_command *command);
static void fill_lease(const struct call *call, struct lapse_command *command);
static void fill_read(const struct call *call, struct lapse_command *command);
static void fill_batch(const struct call *call, struct lapse_command *command);
static void answer_event(struct lapse_digest *digest, const struct lapse_event *event);

static const struct call calls[] = {
    {0, LAPSE_VERB_OPEN, "ttl", "", "", LAPSE_TERM_TTL, S(20), 0},
    {0, LAPSE_VERB_OPEN, "idle", "", "", LAPSE_TERM_IDLE, S(60), 0},
    {0, LAPSE_VERB_OPEN, "ttl", "", "", LAPSE_TERM_TTL, S(20), 0},
    {0, LAPSE_VERB_WATCH, "ttl", "", "", 0, LAPSE_WATCH_NOW, 0},
    {0, LAPSE_VERB_SET, "ttl", "a", "one", 0, 0, 0},
    {1, LAPSE_VERB_SET, "ttl", "b", "a value that is long enough to move a buffer about", 0, 0, 0},
    {1, LAPSE_VERB_SET, "ttl", "own", "x", LAPSE_TERM_TTL, S(5), 0},
    {1, LAPSE_VERB_SET, "ttl", "dated", "x", LAPSE_TERM_EXPIRES_AT, S(1008), 0},
    {1, LAPSE_VERB_SET, "ttl", "past", "x", LAPSE_TERM_EXPIRES_AT, S(1), 0},
    {1, LAPSE_VERB_SET, "idle", "i", "used", 0, 0, 0},
    {1, LAPSE_VERB_SET, "idle", "j", "used", 0, 0, 0},
    {1, LAPSE_VERB_ACQUIRE, "", "jobs/1", "w1", 0, S(10), 0},
    {1, LAPSE_VERB_ACQUIRE, "", "jobs/1", "w2", 0, S(10), 0},
    {1, LAPSE_VERB_ACQUIRE, "", "jobs/2", "w2", 0, S(50), 0},
    {S(1), LAPSE_VERB_EXTEND, "", "jobs/1", "w1", 0, S(12), 0},
    {S(1), LAPSE_VERB_CREATE, "ttl", "a", "no", 0, 0, 0},
    {S(1), LAPSE_VERB_UPDATE, "ttl", "a", "two", VERSIONED, 1, 0},
    {S(1), LAPSE_VERB_UPDATE, "ttl", "a", "no", VERSIONED, 1, 0},
    {S(1), LAPSE_VERB_SET, "ttl", "", "invalid", 0, 0, 0},
    {S(2), LAPSE_VERB_EXPIRE, "ttl", "b", "", LAPSE_TERM_EXPIRES_AT, S(1007), 0},
    {S(2), LAPSE_VERB_GET, "ttl", "b", "", 0, 0, S(5)},
    {S(2), LAPSE_VERB_GET, "ttl", "b", "", 0, 0, -S(5)},
    {S(2), LAPSE_VERB_WATCH, "idle", "", "", 0, LAPSE_WATCH_LIVE, 0},
    {S(3), LAPSE_VERB_POLL, "", "", "", 0, 1, 0},
    {S(3), LAPSE_VERB_SET, "ttl", "t", "early", LAPSE_TERM_SESSION, 0, 0},
    {S(3), LAPSE_VERB_SESSION, "", "s", "w1", REQUESTED, S(4), 0},
    {S(3), LAPSE_VERB_SESSION, "", "s", "w1", REQUESTED, S(4), 0},
    {S(3), LAPSE_VERB_SESSION, "", "s", "w2", 0, S(4), 0},
    {S(3), LAPSE_VERB_SET, "ttl", "t", "r1", LAPSE_TERM_SESSION | REQUESTED, 0, 0},
    {S(3), LAPSE_VERB_SET, "ttl", "t", "r1", LAPSE_TERM_SESSION | REQUESTED, 0, 0},
    {S(3), LAPSE_VERB_CREATE, "ttl", "u", "r1", REQUESTED, 0, 0},
    {S(3), LAPSE_VERB_CREATE, "ttl", "u", "x", LAPSE_TERM_SESSION, 0, 0},
    {S(3), LAPSE_VERB_EXPIRE, "ttl", "dated", "", LAPSE_TERM_SESSION, 0, 0},
    {S(3), LAPSE_VERB_ACQUIRE, "", "jobs/3", "w1", REQUESTED, 0, 0},
    {S(3), LAPSE_VERB_ACQUIRE, "", "jobs/4", "w4", REQUESTED, 0, 0},
    {S(4), LAPSE_VERB_KEEPALIVE, "", "s", "w1", 0, S(5), 0},
    {S(4), LAPSE_VERB_EXTEND, "", "jobs/4", "w4", 0, S(20), 0},
    {S(4), LAPSE_VERB_SET, "ttl", "u", "off", 0, 0, 0},
    {S(4), LAPSE_VERB_CLOSE, "", "s", "w2", 0, 0, 0},
    {S(4), LAPSE_VERB_CLOSE, "", "s", "w1", 0, 0, 0},
    {S(4), LAPSE_VERB_KEEPALIVE, "", "s", "w1", 0, 0, 0},
    {S(4), LAPSE_VERB_SESSION, "", "s", "w1", 0, S(9), 0},
    {S(4), LAPSE_VERB_CREATE, "ttl", "t", "next", LAPSE_TERM_SESSION, 0, 0},
    {S(5), LAPSE_VERB_GET, "idle", "i", "", 0, 0, 0},
    {S(5), LAPSE_VERB_HAS, "idle", "j", "", 0, 0, 0},
    {S(6), LAPSE_VERB_REAP, "", "", "", 0, 1, 0},
    {S(6), LAPSE_VERB_SET, "ttl", "own", "again", 0, 0, 0},
    {S(10), LAPSE_VERB_GET, "idle", "i", "", 0, 0, 0},
    {S(10), LAPSE_VERB_SET, "idle", "i", "written", 0, 0, 0},
    {S(11), LAPSE_VERB_ENTRY, "idle", "j", "", 0, 0, 0},
    {S(11), LAPSE_VERB_DELETE, "idle", "j", "", VERSIONED, 7, 0},
    {S(12), LAPSE_VERB_REAP, "", "", "", 0, 100, 0},
    {S(13), LAPSE_VERB_INSPECT, "", "jobs/1", "", 0, 0, 0},
    {S(13), LAPSE_VERB_ACQUIRE, "", "jobs/1", "w3", 0, S(10), 0},
    {S(13), LAPSE_VERB_RELEASE, "", "jobs/2", "w2", 0, 0, 0},
    {S(13), LAPSE_VERB_ACQUIRE, "", "jobs/3", "w4", EPHEMERAL, S(10), 0},
    {S(13), LAPSE_VERB_ACQUIRE, "", "jobs/3", "w5", 0, S(10), 0},
    {S(13), LAPSE_VERB_ACQUIRE, "", "jobs/4", "w5", EPHEMERAL, S(20), 0},
    {S(13), LAPSE_VERB_ACQUIRE, "", "jobs/5", "w5", 0, S(10), 0},
    {S(13), LAPSE_VERB_EXTEND, "", "jobs/3", "w4", 0, S(30), 0},
    {S(13), LAPSE_VERB_RELEASE, "", "jobs/3", "w4", 0, 0, 0},
    {S(13), LAPSE_VERB_PERSIST, "ttl", "a", "", 0, 0, 0},
    {S(13), LAPSE_VERB_LIST, "ttl", "", "", 0, 0, 0},
    {S(13), LAPSE_VERB_ALL, "idle", "", "", 0, 0, 0},
    {S(13), LAPSE_VERB_COUNT, "idle", "", "", 0, 0, 0},
    {S(14), LAPSE_VERB_PURGE, "ttl", "a", "", 0, 0, 0},
    {S(14), LAPSE_VERB_DELETE, "ttl", "a", "", 0, 0, 0},
    {S(15), LAPSE_VERB_MARK, "", "", "", 0, 0, 0},
    {S(26), LAPSE_VERB_CREATE, "ttl", "own", "third", 0, 0, 0},
    {S(45), LAPSE_VERB_GET, "idle", "i", "", 0, 0, 0},
    {S(60), LAPSE_VERB_FLUSH, "idle", "i", "", 0, S(46), 0},
    {S(80), LAPSE_VERB_POLL, "", "", "", 0, 1, 0},
    {S(80), LAPSE_VERB_POLL, "", "", "", 0, 2, 0},
    {S(80), LAPSE_VERB_UNWATCH, "", "", "", 0, 1, 0},
    {S(102), LAPSE_VERB_GET, "idle", "i", "", 0, 0, 0},
    {S(500), LAPSE_VERB_REAP, "", "", "", 0, 100, 0},
    {S(500), LAPSE_VERB_POLL, "", "", "", 0, 2, 0},
    {S(501), LAPSE_VERB_OPEN, "kept", "", "3", LAPSE_TERM_TTL, S(100), 0},
    {S(501), LAPSE_VERB_OPEN, "bare", "", "0", LAPSE_TERM_IDLE | CAPPED, S(30), 0},
    {S(501), LAPSE_VERB_SET, "kept", "k", "first", 0, 0, 0},
    {S(501), LAPSE_VERB_SET, "kept", "k", "second", LAPSE_TERM_EXPIRES_AT, S(1600), 0},
    {S(502), LAPSE_VERB_SET, "kept", "k", "third", LAPSE_TERM_KEEP, 0, 0},
    {S(502), LAPSE_VERB_SET, "kept", "k", "fourth", 0, 0, 0},
    {S(502), LAPSE_VERB_HISTORY, "kept", "k", "", 0, 2, 0},
    {S(502), LAPSE_VERB_GET, "kept", "k", "", VERSIONED, 3, 0},
    {S(503), LAPSE_VERB_DELETE, "kept", "k", "", 0, 0, 0},
    {S(503), LAPSE_VERB_WATCH, "kept", "", "", LAPSE_WATCH_REVISION, 1, 0},
    {S(503), LAPSE_VERB_WATCH, "kept", "k", "", LAPSE_WATCH_REVISION, 1, 0},
    {S(504), LAPSE_VERB_CREATE, "kept", "k", "again", LAPSE_TERM_TTL, S(2), 0},
    {S(504), LAPSE_VERB_SET, "kept", "l", "left", LAPSE_TERM_TTL, S(2), 0},
    {S(504), LAPSE_VERB_SET, "bare", "c", "capped", 0, 0, 0},
    {S(504), LAPSE_VERB_SET, "bare", "s", "spanned", LAPSE_TERM_TTL, S(1), 0},
    {S(504), LAPSE_VERB_POLL, "", "", "", 0, 3, 0},
    {S(505), LAPSE_VERB_BATCH, "", "", "", 0, 0, 0},
    {S(505), LAPSE_VERB_BATCH, "", "", "", 0, 1, 0},
    {S(505), LAPSE_VERB_BATCH, "", "", "", 0, 2, 0},
    {S(506), LAPSE_VERB_REAP, "", "", "", 0, 2, 0},
    {S(506), LAPSE_VERB_SET, "kept", "l", "over an end", 0, 0, 0},
    {S(508), LAPSE_VERB_ALTER, "bare", "", "3", LAPSE_TERM_IDLE | CAPPED, S(30), 0},
    {S(508), LAPSE_VERB_ALTER, "kept", "", "1", LAPSE_TERM_TTL, S(50), 0},
    {S(508), LAPSE_VERB_SET, "kept", "k", "trimmed", 0, 0, 0},
    {S(509), LAPSE_VERB_PURGE, "kept", "k", "", 0, 0, 0},
    {S(515), LAPSE_VERB_GET, "bare", "c", "peek", 0, 0, 0},
    {S(515), LAPSE_VERB_GET, "bare", "c", "", 0, 0, 0},
    {S(516), LAPSE_VERB_SET, "bare", "c", "kept end", LAPSE_TERM_KEEP, 0, 0},
    {S(543), LAPSE_VERB_GET, "bare", "c", "", 0, 0, 0},
    {S(543), LAPSE_VERB_BATCH, "", "", "", 0, 3, 0},
    {S(543), LAPSE_VERB_ALL, "kept", "", "", 0, 1, 0},
    {S(600), LAPSE_VERB_POLL, "", "", "", 0, 4, 0},
    {S(600), LAPSE_VERB_REAP, "", "", "", 0, 100, 0},
    {S(600), LAPSE_VERB_WATCH, "kept", "", "", LAPSE_WATCH_REVISION, 1, 0},
    {S(600), LAPSE_VERB_POLL, "", "", "", 0, 5, 0},
    {S(600), LAPSE_VERB_SET, "kept", "own", "idle", LAPSE_TERM_IDLE | CAPPED, S(30), 0},
    {S(600), LAPSE_VERB_SET, "kept", "p", "one", 0, 0, 0},
    {S(600), LAPSE_VERB_SET, "kept", "q", "two", 0, 0, 0},
    {S(605), LAPSE_VERB_LIST, "kept", "", "own", 0, 1, 0},
    {S(605), LAPSE_VERB_ALL, "kept", "", "p", 0, 1, 0},
    {S(605), LAPSE_VERB_COUNT, "kept", "", "own", 0, 0, 0},
    {S(605), LAPSE_VERB_EXPIRE, "kept", "q", "", LAPSE_TERM_IDLE, S(40), 0},
    {S(610), LAPSE_VERB_GET, "kept", "q", "", 0, 0, 0},
    {S(610), LAPSE_VERB_ACQUIRE, "", "jobs/9", "w9", 0, S(30), 0},
    {S(610), LAPSE_VERB_INSPECT, "", "jobs/9", "", 0, 0, 0},
    {S(610), LAPSE_VERB_EXTEND, "", "jobs/9", "w1", 0, S(30), 0},
    {S(610), LAPSE_VERB_ACQUIRE, "", "jobs/8", "w8", EPHEMERAL, S(30), 0},
    {S(610), LAPSE_VERB_INSPECT, "", "jobs/8", "", 0, 0, 0},
    {S(610), LAPSE_VERB_RELEASE, "", "jobs/8", "w9", 0, 0, 0},
    {S(640), LAPSE_VERB_SESSION, "", "last", "w", 0, S(1), 0},
    {S(650), LAPSE_VERB_REAP, "", "", "", 0, 100, 0},
};

/* The batches, by the number of the call: the first is done, the second refused at its end, the
 * third holds a fault, the fourth is preceded by a renewal. */
#define WRITE(verb, bucket_name, name, text)                                                       \
    {                                                                                              \
        LAPSE_VERB_##verb, {(const unsigned char *)(bucket_name), sizeof(bucket_name) - 1},        \
            {(const unsigned char *)(name), sizeof(name) - 1}, {NULL, 0}, {                        \
            .write = {.value = {(const unsigned char *)(text), sizeof(text) - 1}}                  \
        }                                                                                          \
    }
static const struct lapse_command batches[][4] = {
    {WRITE(SET, "kept", "m", "one"), WRITE(SET, "kept", "m", "two"),
     WRITE(DELETE, "kept", "m", ""), WRITE(CREATE, "bare", "n", "three")},
    {WRITE(SET, "kept", "m", "no"), WRITE(PURGE, "kept", "k", ""), WRITE(DELETE, "kept", "l", ""),
     WRITE(CREATE, "bare", "n", "exists")},
    {WRITE(SET, "kept", "m", "no"), WRITE(SET, "bare", "s", "no"), WRITE(DELETE, "bare", "n", ""),
     WRITE(EXPIRE, "bare", "c", "")},
    {WRITE(SET, "bare", "c", "renewed"), WRITE(PERSIST, "bare", "c", ""),
     WRITE(DELETE, "bare", "c", ""), WRITE(CREATE, "bare", "c", "another")},
};

size_t lapse_testing_story_length(void) {
    return sizeof(calls) / sizeof(calls[0]);
}

struct lapse_command lapse_testing_story_command(size_t i) {
    return command_of(&calls[i]);
}

enum lapse_status lapse_testing_story(struct lapse_testing *t, size_t i) {
    lapse_testing_story_enter(t, i);
    return lapse_testing_story_call(t, i);
}

void lapse_testing_story_enter(struct lapse_testing *t, size_t i) {
    lapse_testing_at(t, calls[i].at);
    (void)lapse_clock_manual_step_wall(&t->clock, (struct lapse_span){calls[i].wall_step});
}

enum lapse_status lapse_testing_story_call(struct lapse_testing *t, size_t i) {
    struct lapse_command command = command_of(&calls[i]);
    return lapse_apply(t->store, &command, &t->r, &t->err);
}

size_t lapse_testing_story_precede(struct lapse_testing *t, size_t i, size_t most) {
    struct lapse_command command = command_of(&calls[i]);
    struct lapse_command before;
    size_t count = 0;
    while (count < most && lapse_preceding(t->store, &command, &before, &t->err) == LAPSE_OK) {
        cr_assert_eq(lapse_apply(t->store, &before, &t->r, &t->err), LAPSE_OK);
        count++;
    }
    return count;
}

void lapse_testing_answer(struct lapse_digest *digest, const struct lapse_result *result) {
    lapse_digest_i64(digest, (int64_t)result->status);
    lapse_digest_i64(digest, result->at.ns);
    lapse_digest_i64(digest, result->revision);
    lapse_digest_u64(digest, (uint64_t)result->end.kind);
    lapse_digest_i64(digest, result->end.ns);
    lapse_digest_i64(digest, result->left.ns);
    lapse_digest_u64(digest, result->renewed ? 1 : 0);
    lapse_digest_u64(digest, result->repeated ? 1 : 0);
    lapse_digest_i64(digest, result->token);
    lapse_digest_i64(digest, result->watcher);
    lapse_digest_bytes(digest, result->value);
    lapse_digest_bytes(digest, result->owner);
    lapse_digest_u64(digest, result->item_count);
    for (size_t i = 0; result->items != NULL && i < result->item_count; i++) {
        lapse_digest_bytes(digest, result->items[i].key);
        lapse_digest_bytes(digest, result->items[i].value);
        lapse_digest_i64(digest, result->items[i].revision);
        lapse_digest_u64(digest, (uint64_t)result->items[i].kind);
    }
    lapse_digest_u64(digest, result->more ? 1 : 0);
    for (size_t i = 0; i < result->answer_count; i++) {
        const struct lapse_batch_answer *answer = &result->answers[i];
        lapse_digest_i64(digest, (int64_t)answer->status);
        lapse_digest_i64(digest, answer->revision);
        lapse_digest_i64(digest, answer->token);
        lapse_digest_i64(digest, answer->end.ns);
        lapse_digest_i64(digest, answer->left.ns);
    }
    for (size_t i = 0; i < result->event_count; i++) {
        answer_event(digest, &result->events[i]);
    }
    for (size_t i = 0; i < result->delivery_count; i++) {
        answer_event(digest, &result->deliveries[i]);
    }
}

static struct lapse_command command_of(const struct call *call) {
    struct lapse_command command = {.verb = call->verb,
                                    .bucket = lapse_bytes_of(call->bucket),
                                    .key = lapse_bytes_of(call->key)};
    unsigned given = call->given & ~(unsigned)(VERSIONED | REQUESTED | CAPPED);
    struct lapse_term term = {.given = given,
                              .ttl = {call->number},
                              .idle = {call->number},
                              .expires_at = {call->number},
                              .session = lapse_bytes_of("s")};
    if ((call->given & REQUESTED) != 0) {
        command.request = lapse_bytes_of(call->value);
    }
    if ((call->given & CAPPED) != 0) {
        term.cap.ns = 2 * call->number;
    }
    switch (call->verb) {
    case LAPSE_VERB_OPEN:
    case LAPSE_VERB_ALTER:
        command.u.open.config = (struct lapse_bucket_config){.term = term, .markers = {S(60)}};
        fill_words(call, &command);
        break;
    case LAPSE_VERB_BATCH:
        fill_batch(call, &command);
        break;
    case LAPSE_VERB_WATCH:
        fill_watch(call, &command);
        break;
    case LAPSE_VERB_POLL:
    case LAPSE_VERB_UNWATCH:
        command.u.watch.watcher = call->number;
        command.u.watch.events_max = 8;
        break;
    case LAPSE_VERB_REAP:
        command.u.reap.rows_max = (size_t)call->number;
        break;
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
        fill_lease(call, &command);
        break;
    case LAPSE_VERB_SESSION:
    case LAPSE_VERB_KEEPALIVE:
    case LAPSE_VERB_CLOSE:
        command.u.session.owner = lapse_bytes_of(call->value);
        command.u.session.span.ns = call->number;
        break;
    case LAPSE_VERB_FLUSH:
        command.u.flush.used.ns = call->number;
        command.u.flush.revision = 3;
        command.u.flush.end = (struct lapse_end){LAPSE_END_STEADY, S(70)};
        break;
    case LAPSE_VERB_MARK:
        break;
    default:
        if (lapse_command_class(&command) != LAPSE_CLASS_LOG) {
            fill_read(call, &command);
            break;
        }
        command.u.write.value = lapse_bytes_of(call->value);
        command.u.write.term = term;
        command.u.write.has_if_version = (call->given & VERSIONED) != 0;
        command.u.write.if_version = call->number;
        break;
    }
    return command;
}

/* The value's first character: 0, no markers; another number, so many records are kept. */
static void fill_words(const struct call *call, struct lapse_command *command) {
    if (call->value[0] == '0') {
        command->u.open.config.markers.ns = 0;
    } else if (call->value[0] != '\0') {
        command->u.open.config.history = (uint32_t)(call->value[0] - '0');
    }
}

static void fill_lease(const struct call *call, struct lapse_command *command) {
    command->u.lease.owner = lapse_bytes_of(call->value);
    command->u.lease.span.ns = call->number;
    command->u.lease.durability =
        (call->given & EPHEMERAL) != 0 ? LAPSE_EPHEMERAL : LAPSE_PERSISTENT;
    if (call->verb == LAPSE_VERB_ACQUIRE && call->number == 0) {
        command->u.lease.session = lapse_bytes_of("s");
    }
}

static void fill_watch(const struct call *call, struct lapse_command *command) {
    if (call->given == LAPSE_WATCH_REVISION) {
        command->u.watch.from = LAPSE_WATCH_REVISION;
        command->u.watch.revision = call->number;
        return;
    }
    command->u.watch.from = call->number == LAPSE_WATCH_LIVE ? LAPSE_WATCH_LIVE : LAPSE_WATCH_NOW;
}

static void fill_read(const struct call *call, struct lapse_command *command) {
    switch (command->verb) {
    case LAPSE_VERB_GET:
        command->u.read.peek = call->value[0] == 'p';
        command->u.read.has_revision = (call->given & VERSIONED) != 0;
        command->u.read.revision = call->number;
        break;
    case LAPSE_VERB_LIST:
    case LAPSE_VERB_ALL:
    case LAPSE_VERB_COUNT:
    case LAPSE_VERB_HISTORY:
        command->u.page.has_after = call->value[0] != '\0';
        command->u.page.after = lapse_bytes_of(call->value);
        command->u.page.limit = (size_t)call->number;
        break;
    default:
        break;
    }
}

static void fill_batch(const struct call *call, struct lapse_command *command) {
    command->u.batch.commands = batches[call->number];
    command->u.batch.count = sizeof(batches[0]) / sizeof(batches[0][0]);
}

static void answer_event(struct lapse_digest *digest, const struct lapse_event *event) {
    lapse_digest_u64(digest, (uint64_t)event->kind);
    lapse_digest_u64(digest, (uint64_t)event->why);
    lapse_digest_bytes(digest, event->bucket);
    lapse_digest_bytes(digest, event->key);
    lapse_digest_bytes(digest, event->value);
    lapse_digest_i64(digest, event->revision);
    lapse_digest_i64(digest, event->old_revision);
    lapse_digest_i64(digest, event->at.ns);
}
