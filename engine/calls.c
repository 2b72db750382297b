/* The typed calls. Each builds one command and hands it over; none decides anything. */
#include "lapse/lapse.h"

static struct lapse_command write_command(enum lapse_verb verb, struct lapse_bytes bucket,
                                          struct lapse_bytes key, const struct lapse_term *term,
                                          const int64_t *if_version);
static enum lapse_status apply_key(struct lapse *store, enum lapse_verb verb,
                                   struct lapse_bytes bucket, struct lapse_bytes key,
                                   struct lapse_result *result, struct lapse_error *err);
static enum lapse_status apply_session(struct lapse *store, enum lapse_verb verb,
                                       struct lapse_bytes name, struct lapse_bytes owner,
                                       struct lapse_span span, struct lapse_result *result,
                                       struct lapse_error *err);
static struct lapse_command lease_command(enum lapse_verb verb, struct lapse_bytes name,
                                          struct lapse_bytes owner, struct lapse_span span,
                                          const int64_t *token);

enum lapse_status lapse_bucket_open(struct lapse *store, struct lapse_bytes bucket,
                                    const struct lapse_bucket_config *config,
                                    struct lapse_result *result, struct lapse_error *err) {
    struct lapse_command command = {.verb = LAPSE_VERB_OPEN, .bucket = bucket};
    command.u.open.config = *config;
    return lapse_apply(store, &command, result, err);
}

enum lapse_status lapse_set(struct lapse *store, struct lapse_bytes bucket, struct lapse_bytes key,
                            struct lapse_bytes value, const struct lapse_term *term,
                            const int64_t *if_version, struct lapse_result *result,
                            struct lapse_error *err) {
    struct lapse_command command = write_command(LAPSE_VERB_SET, bucket, key, term, if_version);
    command.u.write.value = value;
    return lapse_apply(store, &command, result, err);
}

enum lapse_status lapse_create(struct lapse *store, struct lapse_bytes bucket,
                               struct lapse_bytes key, struct lapse_bytes value,
                               const struct lapse_term *term, struct lapse_result *result,
                               struct lapse_error *err) {
    struct lapse_command command = write_command(LAPSE_VERB_CREATE, bucket, key, term, NULL);
    command.u.write.value = value;
    return lapse_apply(store, &command, result, err);
}

enum lapse_status lapse_update(struct lapse *store, struct lapse_bytes bucket,
                               struct lapse_bytes key, struct lapse_bytes value, int64_t if_version,
                               const struct lapse_term *term, struct lapse_result *result,
                               struct lapse_error *err) {
    struct lapse_command command = write_command(LAPSE_VERB_UPDATE, bucket, key, term, &if_version);
    command.u.write.value = value;
    return lapse_apply(store, &command, result, err);
}

enum lapse_status lapse_get(struct lapse *store, struct lapse_bytes bucket, struct lapse_bytes key,
                            struct lapse_result *result, struct lapse_error *err) {
    return apply_key(store, LAPSE_VERB_GET, bucket, key, result, err);
}

enum lapse_status lapse_entry(struct lapse *store, struct lapse_bytes bucket,
                              struct lapse_bytes key, struct lapse_result *result,
                              struct lapse_error *err) {
    return apply_key(store, LAPSE_VERB_ENTRY, bucket, key, result, err);
}

enum lapse_status lapse_has(struct lapse *store, struct lapse_bytes bucket, struct lapse_bytes key,
                            struct lapse_result *result, struct lapse_error *err) {
    return apply_key(store, LAPSE_VERB_HAS, bucket, key, result, err);
}

enum lapse_status lapse_peek(struct lapse *store, struct lapse_bytes bucket, struct lapse_bytes key,
                             struct lapse_result *result, struct lapse_error *err) {
    struct lapse_command command = {.verb = LAPSE_VERB_GET, .bucket = bucket, .key = key};
    command.u.read.peek = true;
    return lapse_apply(store, &command, result, err);
}

enum lapse_status lapse_get_revision(struct lapse *store, struct lapse_bytes bucket,
                                     struct lapse_bytes key, int64_t revision,
                                     struct lapse_result *result, struct lapse_error *err) {
    struct lapse_command command = {.verb = LAPSE_VERB_GET, .bucket = bucket, .key = key};
    command.u.read.has_revision = true;
    command.u.read.revision = revision;
    return lapse_apply(store, &command, result, err);
}

enum lapse_status lapse_history(struct lapse *store, struct lapse_bytes bucket,
                                struct lapse_bytes key, struct lapse_result *result,
                                struct lapse_error *err) {
    return apply_key(store, LAPSE_VERB_HISTORY, bucket, key, result, err);
}

enum lapse_status lapse_delete(struct lapse *store, struct lapse_bytes bucket,
                               struct lapse_bytes key, const int64_t *if_version,
                               struct lapse_result *result, struct lapse_error *err) {
    struct lapse_command command = write_command(LAPSE_VERB_DELETE, bucket, key, NULL, if_version);
    return lapse_apply(store, &command, result, err);
}

enum lapse_status lapse_purge(struct lapse *store, struct lapse_bytes bucket,
                              struct lapse_bytes key, const int64_t *if_version,
                              struct lapse_result *result, struct lapse_error *err) {
    struct lapse_command command = write_command(LAPSE_VERB_PURGE, bucket, key, NULL, if_version);
    return lapse_apply(store, &command, result, err);
}

enum lapse_status lapse_expire(struct lapse *store, struct lapse_bytes bucket,
                               struct lapse_bytes key, const struct lapse_term *term,
                               const int64_t *if_version, struct lapse_result *result,
                               struct lapse_error *err) {
    struct lapse_command command = write_command(LAPSE_VERB_EXPIRE, bucket, key, term, if_version);
    return lapse_apply(store, &command, result, err);
}

enum lapse_status lapse_persist(struct lapse *store, struct lapse_bytes bucket,
                                struct lapse_bytes key, const int64_t *if_version,
                                struct lapse_result *result, struct lapse_error *err) {
    struct lapse_command command = write_command(LAPSE_VERB_PERSIST, bucket, key, NULL, if_version);
    return lapse_apply(store, &command, result, err);
}

enum lapse_status lapse_list(struct lapse *store, struct lapse_bytes bucket,
                             struct lapse_result *result, struct lapse_error *err) {
    return apply_key(store, LAPSE_VERB_LIST, bucket, lapse_bytes_of(NULL), result, err);
}

enum lapse_status lapse_all(struct lapse *store, struct lapse_bytes bucket,
                            struct lapse_result *result, struct lapse_error *err) {
    return apply_key(store, LAPSE_VERB_ALL, bucket, lapse_bytes_of(NULL), result, err);
}

enum lapse_status lapse_count(struct lapse *store, struct lapse_bytes bucket,
                              struct lapse_result *result, struct lapse_error *err) {
    return apply_key(store, LAPSE_VERB_COUNT, bucket, lapse_bytes_of(NULL), result, err);
}

enum lapse_status lapse_page(struct lapse *store, struct lapse_bytes bucket,
                             const struct lapse_bytes *after, size_t limit, bool values,
                             struct lapse_result *result, struct lapse_error *err) {
    struct lapse_command command = {.verb = values ? LAPSE_VERB_ALL : LAPSE_VERB_LIST,
                                    .bucket = bucket};
    if (after != NULL) {
        command.u.page.has_after = true;
        command.u.page.after = *after;
    }
    command.u.page.limit = limit;
    return lapse_apply(store, &command, result, err);
}

enum lapse_status lapse_bucket_alter(struct lapse *store, struct lapse_bytes bucket,
                                     const struct lapse_bucket_config *config,
                                     struct lapse_result *result, struct lapse_error *err) {
    struct lapse_command command = {.verb = LAPSE_VERB_ALTER, .bucket = bucket};
    command.u.open.config = *config;
    return lapse_apply(store, &command, result, err);
}

enum lapse_status lapse_batch(struct lapse *store, const struct lapse_command *commands,
                              size_t count, struct lapse_result *result, struct lapse_error *err) {
    struct lapse_command command = {.verb = LAPSE_VERB_BATCH};
    command.u.batch.count = count;
    command.u.batch.commands = commands;
    return lapse_apply(store, &command, result, err);
}

enum lapse_status lapse_acquire(struct lapse *store, struct lapse_bytes name,
                                struct lapse_bytes owner, struct lapse_span span,
                                struct lapse_result *result, struct lapse_error *err) {
    struct lapse_command command = lease_command(LAPSE_VERB_ACQUIRE, name, owner, span, NULL);
    return lapse_apply(store, &command, result, err);
}

enum lapse_status lapse_acquire_ephemeral(struct lapse *store, struct lapse_bytes name,
                                          struct lapse_bytes owner, struct lapse_span span,
                                          struct lapse_result *result, struct lapse_error *err) {
    struct lapse_command command = lease_command(LAPSE_VERB_ACQUIRE, name, owner, span, NULL);
    command.u.lease.durability = LAPSE_EPHEMERAL;
    return lapse_apply(store, &command, result, err);
}

enum lapse_status lapse_acquire_session(struct lapse *store, struct lapse_bytes name,
                                        struct lapse_bytes owner, struct lapse_bytes session,
                                        struct lapse_result *result, struct lapse_error *err) {
    struct lapse_span none = {0};
    struct lapse_command command = lease_command(LAPSE_VERB_ACQUIRE, name, owner, none, NULL);
    command.u.lease.session = session;
    return lapse_apply(store, &command, result, err);
}

enum lapse_status lapse_session_open(struct lapse *store, struct lapse_bytes name,
                                     struct lapse_bytes owner, struct lapse_span span,
                                     struct lapse_result *result, struct lapse_error *err) {
    return apply_session(store, LAPSE_VERB_SESSION, name, owner, span, result, err);
}

enum lapse_status lapse_session_keepalive(struct lapse *store, struct lapse_bytes name,
                                          struct lapse_bytes owner, struct lapse_span span,
                                          struct lapse_result *result, struct lapse_error *err) {
    return apply_session(store, LAPSE_VERB_KEEPALIVE, name, owner, span, result, err);
}

enum lapse_status lapse_session_close(struct lapse *store, struct lapse_bytes name,
                                      struct lapse_bytes owner, struct lapse_result *result,
                                      struct lapse_error *err) {
    struct lapse_span none = {0};
    return apply_session(store, LAPSE_VERB_CLOSE, name, owner, none, result, err);
}

enum lapse_status lapse_extend(struct lapse *store, struct lapse_bytes name,
                               struct lapse_bytes owner, struct lapse_span span,
                               const int64_t *token, struct lapse_result *result,
                               struct lapse_error *err) {
    struct lapse_command command = lease_command(LAPSE_VERB_EXTEND, name, owner, span, token);
    return lapse_apply(store, &command, result, err);
}

enum lapse_status lapse_release(struct lapse *store, struct lapse_bytes name,
                                struct lapse_bytes owner, const int64_t *token,
                                struct lapse_result *result, struct lapse_error *err) {
    struct lapse_span none = {0};
    struct lapse_command command = lease_command(LAPSE_VERB_RELEASE, name, owner, none, token);
    return lapse_apply(store, &command, result, err);
}

enum lapse_status lapse_inspect(struct lapse *store, struct lapse_bytes name,
                                struct lapse_result *result, struct lapse_error *err) {
    return apply_key(store, LAPSE_VERB_INSPECT, lapse_bytes_of(NULL), name, result, err);
}

enum lapse_status lapse_watch(struct lapse *store, struct lapse_bytes bucket,
                              struct lapse_bytes key, enum lapse_watch_from from,
                              struct lapse_result *result, struct lapse_error *err) {
    struct lapse_command command = {.verb = LAPSE_VERB_WATCH, .bucket = bucket, .key = key};
    command.u.watch.from = from;
    return lapse_apply(store, &command, result, err);
}

enum lapse_status lapse_watch_revision(struct lapse *store, struct lapse_bytes bucket,
                                       struct lapse_bytes key, int64_t revision,
                                       struct lapse_result *result, struct lapse_error *err) {
    struct lapse_command command = {.verb = LAPSE_VERB_WATCH, .bucket = bucket, .key = key};
    command.u.watch.from = LAPSE_WATCH_REVISION;
    command.u.watch.revision = revision;
    return lapse_apply(store, &command, result, err);
}

enum lapse_status lapse_poll(struct lapse *store, int64_t watcher, size_t events_max,
                             struct lapse_result *result, struct lapse_error *err) {
    struct lapse_command command = {.verb = LAPSE_VERB_POLL};
    command.u.watch.watcher = watcher;
    command.u.watch.events_max = events_max;
    return lapse_apply(store, &command, result, err);
}

enum lapse_status lapse_unwatch(struct lapse *store, int64_t watcher, struct lapse_result *result,
                                struct lapse_error *err) {
    struct lapse_command command = {.verb = LAPSE_VERB_UNWATCH};
    command.u.watch.watcher = watcher;
    return lapse_apply(store, &command, result, err);
}

static struct lapse_command write_command(enum lapse_verb verb, struct lapse_bytes bucket,
                                          struct lapse_bytes key, const struct lapse_term *term,
                                          const int64_t *if_version) {
    struct lapse_command command = {.verb = verb, .bucket = bucket, .key = key};
    if (term != NULL) {
        command.u.write.term = *term;
    }
    if (if_version != NULL) {
        command.u.write.has_if_version = true;
        command.u.write.if_version = *if_version;
    }
    return command;
}

static enum lapse_status apply_key(struct lapse *store, enum lapse_verb verb,
                                   struct lapse_bytes bucket, struct lapse_bytes key,
                                   struct lapse_result *result, struct lapse_error *err) {
    struct lapse_command command = {.verb = verb, .bucket = bucket, .key = key};
    return lapse_apply(store, &command, result, err);
}

static struct lapse_command lease_command(enum lapse_verb verb, struct lapse_bytes name,
                                          struct lapse_bytes owner, struct lapse_span span,
                                          const int64_t *token) {
    struct lapse_command command = {.verb = verb, .key = name};
    command.u.lease.owner = owner;
    command.u.lease.span = span;
    if (token != NULL) {
        command.u.lease.has_token = true;
        command.u.lease.token = *token;
    }
    return command;
}

static enum lapse_status apply_session(struct lapse *store, enum lapse_verb verb,
                                       struct lapse_bytes name, struct lapse_bytes owner,
                                       struct lapse_span span, struct lapse_result *result,
                                       struct lapse_error *err) {
    struct lapse_command command = {.verb = verb, .key = name};
    command.u.session.owner = owner;
    command.u.session.span = span;
    return lapse_apply(store, &command, result, err);
}
