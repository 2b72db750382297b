/* The decoder of calls. Tables say what a byte means; plain values stand more often than odd ones,
 * which are refused. */
#include "calls.h"

#define S(seconds) ((int64_t)(seconds) * LAPSE_NS_PER_S)
#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

static struct lapse_command some_member(struct lapse_producer *producer,
                                        const struct lapse_calls_state *state);
static struct lapse_command some_look(struct lapse_producer *producer,
                                      const struct lapse_calls_state *state);
static void fill_write(struct lapse_producer *producer, const struct lapse_calls_state *state,
                       struct lapse_command *command);
static void fill_lease(struct lapse_producer *producer, const struct lapse_calls_state *state,
                       struct lapse_command *command);
static void fill_session(struct lapse_producer *producer, struct lapse_command *command);
static struct lapse_term some_term(struct lapse_producer *producer,
                                   const struct lapse_calls_state *state);
static struct lapse_bytes some_name(struct lapse_producer *producer);
static struct lapse_bytes some_owner(struct lapse_producer *producer);
static int64_t some_span(struct lapse_producer *producer);
static int64_t some_number(struct lapse_producer *producer, int64_t last);

struct lapse_bytes lapse_calls_bucket(int index) {
    static const char *const names[LAPSE_CALLS_BUCKETS + 1] = {"b0", "b1", "kept", "unknown"};
    return lapse_bytes_of(names[index]);
}

struct lapse_bucket_config lapse_calls_words(struct lapse_producer *producer) {
    static const unsigned kinds[] = {0, LAPSE_TERM_TTL, LAPSE_TERM_IDLE};
    struct lapse_bucket_config words = {.history = (uint32_t)lapse_producer_take(producer, 5)};
    int markers = lapse_producer_take(producer, 16);
    words.markers.ns = markers < 8 ? 0 : S(markers - 7);
    words.term.given = kinds[lapse_producer_take(producer, 3)];
    int64_t span = S(1 + lapse_producer_take(producer, 9));
    words.term.ttl.ns = words.term.given == LAPSE_TERM_TTL ? span : 0;
    words.term.idle.ns = words.term.given == LAPSE_TERM_IDLE ? span : 0;
    int cap = lapse_producer_take(producer, 32);
    words.term.cap.ns = words.term.given == LAPSE_TERM_IDLE && cap > 16 ? S(cap - 16) : 0;
    return words;
}

struct lapse_command lapse_calls_next(struct lapse_producer *producer,
                                      const struct lapse_calls_state *state,
                                      struct lapse_command *members) {
    int what = lapse_producer_take(producer, 32);
    if (what < 18) {
        return some_member(producer, state);
    }
    if (what < 29) {
        return some_look(producer, state);
    }
    struct lapse_command command = {.verb = LAPSE_VERB_BATCH};
    if (what == 29) {
        command.verb = lapse_producer_take(producer, 3) == 0 ? LAPSE_VERB_OPEN : LAPSE_VERB_ALTER;
        command.bucket = lapse_calls_bucket(lapse_producer_take(producer, LAPSE_CALLS_BUCKETS));
        command.u.open.config = lapse_calls_words(producer);
        return command;
    }
    size_t wanted = 1 + (size_t)lapse_producer_take(producer, LAPSE_CALLS_BATCH_MAX);
    command.u.batch.commands = members;
    while (command.u.batch.count < wanted && lapse_producer_next(producer)) {
        lapse_producer_skip(producer, LAPSE_CALLS_HEAD_BYTES);
        members[command.u.batch.count++] = some_member(producer, state);
    }
    return command;
}

static struct lapse_command some_member(struct lapse_producer *producer,
                                        const struct lapse_calls_state *state) {
    static const enum lapse_verb verbs[] = {
        LAPSE_VERB_SET,     LAPSE_VERB_SET,    LAPSE_VERB_CREATE,  LAPSE_VERB_UPDATE,
        LAPSE_VERB_DELETE,  LAPSE_VERB_PURGE,  LAPSE_VERB_EXPIRE,  LAPSE_VERB_PERSIST,
        LAPSE_VERB_ACQUIRE, LAPSE_VERB_EXTEND, LAPSE_VERB_RELEASE, LAPSE_VERB_SESSION,
        LAPSE_VERB_CLOSE,   LAPSE_VERB_KEEPALIVE, LAPSE_VERB_ACQUIRE, LAPSE_VERB_SET};
    struct lapse_command command = {
        .verb = verbs[lapse_producer_take(producer, COUNT(verbs))]};
    switch (command.verb) {
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
        fill_lease(producer, state, &command);
        break;
    case LAPSE_VERB_SESSION:
    case LAPSE_VERB_KEEPALIVE:
    case LAPSE_VERB_CLOSE:
        fill_session(producer, &command);
        break;
    default:
        fill_write(producer, state, &command);
        break;
    }
    return command;
}

static struct lapse_command some_look(struct lapse_producer *producer,
                                      const struct lapse_calls_state *state) {
    static const enum lapse_verb looks[] = {
        LAPSE_VERB_GET,   LAPSE_VERB_ENTRY,   LAPSE_VERB_HAS,     LAPSE_VERB_LIST,
        LAPSE_VERB_ALL,   LAPSE_VERB_COUNT,   LAPSE_VERB_WATCH,   LAPSE_VERB_HISTORY,
        LAPSE_VERB_GET,   LAPSE_VERB_INSPECT};
    struct lapse_command command = {
        .verb = looks[lapse_producer_take(producer, COUNT(looks))]};
    command.bucket = lapse_calls_bucket(lapse_producer_take(producer, LAPSE_CALLS_BUCKETS));
    command.key = some_name(producer);
    switch (command.verb) {
    case LAPSE_VERB_GET:
    case LAPSE_VERB_ENTRY:
    case LAPSE_VERB_HAS:
        command.u.read.peek = lapse_producer_take(producer, 4) == 1;
        command.u.read.has_revision = lapse_producer_take(producer, 4) == 1;
        command.u.read.revision = some_number(producer, state->revision);
        break;
    case LAPSE_VERB_LIST:
    case LAPSE_VERB_ALL:
    case LAPSE_VERB_COUNT:
    case LAPSE_VERB_HISTORY:
        command.u.page.limit = (size_t)lapse_producer_take(producer, 4);
        command.u.page.has_after = lapse_producer_take(producer, 2) == 1;
        command.u.page.after = some_name(producer);
        break;
    case LAPSE_VERB_WATCH:
        command.key = lapse_producer_take(producer, 2) == 0 ? lapse_bytes_of("") : command.key;
        command.u.watch.from = (enum lapse_watch_from)lapse_producer_take(producer, 3);
        command.u.watch.revision = some_number(producer, state->revision);
        break;
    default:
        break;
    }
    return command;
}

static void fill_write(struct lapse_producer *producer, const struct lapse_calls_state *state,
                       struct lapse_command *command) {
    static const char *const values[] = {"", "x", "yy", "a longer value"};
    int bucket = lapse_producer_take(producer, 64);
    command->bucket = lapse_calls_bucket(bucket == 63 ? LAPSE_CALLS_BUCKETS
                                                      : bucket % LAPSE_CALLS_BUCKETS);
    command->key = some_name(producer);
    struct lapse_bytes value = lapse_bytes_of(values[lapse_producer_take(producer, 4)]);
    int version = lapse_producer_take(producer, 16);
    int64_t number = some_number(producer, state->revision);
    bool valued = command->verb == LAPSE_VERB_SET || command->verb == LAPSE_VERB_CREATE ||
                  command->verb == LAPSE_VERB_UPDATE;
    if (valued) {
        command->u.write.value = value;
    }
    if (valued || command->verb == LAPSE_VERB_EXPIRE) {
        command->u.write.term = some_term(producer, state);
    }
    command->u.write.has_if_version =
        command->verb == LAPSE_VERB_UPDATE ? version != 15 : version < 4 && version != 0;
    if (command->u.write.has_if_version) {
        command->u.write.if_version = number;
    }
}

static void fill_lease(struct lapse_producer *producer, const struct lapse_calls_state *state,
                       struct lapse_command *command) {
    command->key = some_name(producer);
    command->u.lease.owner = some_owner(producer);
    int64_t span = some_span(producer);
    command->u.lease.span.ns = command->verb == LAPSE_VERB_RELEASE ? 0 : span;
    int how = lapse_producer_take(producer, 8);
    if (command->verb != LAPSE_VERB_ACQUIRE) {
        command->u.lease.has_token = how >= 5;
        command->u.lease.token = how >= 5 ? some_number(producer, state->token) : 0;
    } else if (how >= 6) {
        command->u.lease.session = some_name(producer);
        command->u.lease.span.ns = 0;
    } else if (how >= 4) {
        command->u.lease.durability = LAPSE_EPHEMERAL;
    }
}

static void fill_session(struct lapse_producer *producer, struct lapse_command *command) {
    command->key = some_name(producer);
    command->u.session.owner = some_owner(producer);
    int64_t span = some_span(producer);
    bool own = lapse_producer_take(producer, 2) == 0;
    bool spans = command->verb == LAPSE_VERB_SESSION ||
                 (command->verb == LAPSE_VERB_KEEPALIVE && own);
    command->u.session.span.ns = spans ? span : 0;
}

/* One in many calls is handed two terms, and refused. */
static struct lapse_term some_term(struct lapse_producer *producer,
                                   const struct lapse_calls_state *state) {
    static const unsigned kinds[] = {0,
                                     LAPSE_TERM_TTL,
                                     LAPSE_TERM_IDLE,
                                     LAPSE_TERM_EXPIRES_AT,
                                     LAPSE_TERM_SESSION,
                                     LAPSE_TERM_KEEP,
                                     LAPSE_TERM_TTL};
    int kind = lapse_producer_take(producer, 64);
    struct lapse_term term = {.given = kinds[kind % COUNT(kinds)]};
    term.given |= kind == 63 ? (unsigned)LAPSE_TERM_TTL : 0;
    int64_t span = some_span(producer);
    int second = lapse_producer_take(producer, 16);
    term.ttl.ns = (term.given & LAPSE_TERM_TTL) != 0 ? span : 0;
    term.idle.ns = term.given == LAPSE_TERM_IDLE ? span : 0;
    term.cap.ns = term.given == LAPSE_TERM_IDLE && second > 8 ? S(second - 8) : 0;
    if ((term.given & LAPSE_TERM_EXPIRES_AT) != 0) {
        term.expires_at.ns = state->wall_ns + S(second - 3);
    }
    if ((term.given & LAPSE_TERM_SESSION) != 0) {
        term.session = some_name(producer);
    }
    return term;
}

/* One in many is empty, and refused. */
static struct lapse_bytes some_name(struct lapse_producer *producer) {
    static const char *const names[] = {"a", "ab", "b", "c"};
    int name = lapse_producer_take(producer, 64);
    return lapse_bytes_of(name == 63 ? "" : names[name % COUNT(names)]);
}

static struct lapse_bytes some_owner(struct lapse_producer *producer) {
    static const char *const owners[] = {"w1", "w2"};
    int owner = lapse_producer_take(producer, 64);
    return lapse_bytes_of(owner == 63 ? "" : owners[owner % COUNT(owners)]);
}

/* Now and then one that is refused, or that ends past the range of time. */
static int64_t some_span(struct lapse_producer *producer) {
    static const int64_t spans[] = {S(1), 1,    S(1) / 1000, S(1) / 2, S(2),
                                    S(3), S(5), S(10),       S(70)};
    static const int64_t odd[] = {0, -1, INT64_MAX, INT64_MIN};
    int span = lapse_producer_take(producer, 256);
    return span >= 252 ? odd[span - 252] : spans[span % COUNT(spans)];
}

/* A revision or token: the last one told, or any small one. */
static int64_t some_number(struct lapse_producer *producer, int64_t last) {
    int64_t number = lapse_producer_number(producer);
    return number % 2 == 0 && last > 0 ? last : 1 + number / 2 % 256;
}
